"""Mining alone, beside pyfim's sam (frequent itemsets) and suda (MIIs of theta 1).

pyfim's eclat and fpgrowth leave out items that every row has, so its sam is the contender.
"""

import re
import tempfile
import time
from pathlib import Path

from _bench import best, connect, data_file, diabetes, example, fill, peak_memory, rows_of, show
from fim import sam

LUCS = {
    "adult": "lucs/adult.D97.N48842.C2.num",
    "nursery": "lucs/nursery.D32.N12960.C5.num",
    "mushroom": "lucs/mushroom.D90.N8124.C2.num",
    "chessKRvK": "lucs/chessKRvK.D58.N28056.C18.num",
}


def parsed(output):
    """Seconds and number of itemsets of the example's line."""
    found = re.search(r": (\d+) itemsets .* in ([0-9.]+) ms", output)
    return float(found[2]) / 1000, int(found[1])


def mine(path, what, threshold, threads=1, runs=3):
    """Seconds and number of itemsets of the crate's own example: mining without reading."""
    return parsed(example("mining", "mine", path, what, threshold, threads, runs))


folder = Path(tempfile.mkdtemp())
files = {name: data_file(path) for name, path in LUCS.items()}
files["diabetes"] = folder / "diabetes.num"
files["diabetes"].write_text("\n".join(" ".join(row) for row in diabetes()) + "\n")

# The bar: adult theta 1 in at most 1.2 times sam's listing.
adult = rows_of(files["adult"])
transactions = [[f"{i}={cell}" for i, cell in enumerate(row)] for row in adult]
listing, found = best(3, lambda: sam(transactions, supp=-488, zmin=1))
seconds, miis = mine(files["adult"], "miis", 1, runs=5)
show(
    "adult (45,222 x 15), one thread, mining alone (bar: ratio at most 1.2)",
    ["what", "itemsets", "seconds", "ratio"],
    [
        ["pyfim sam, support 488", f"{len(found):,}", f"{listing:.3f}", "1.00"],
        ["MIIs, theta 1", f"{miis:,}", f"{seconds:.3f}", f"{seconds / listing:.2f}"],
    ],
)

rows = []
for name, path in files.items():
    for theta in (1, 10, 100):
        one, miis = mine(path, "miis", theta)
        two, again = mine(path, "miis", theta, threads=2)
        assert miis == again
        rows.append([name, theta, f"{miis:,}", f"{one:.3f}", f"{two:.3f}", f"{two / one:.2f}"])
show("MIIs", ["set", "theta", "MIIs", "1 thread", "2 threads", "ratio"], rows)

rows = []
for name, support in [("adult", 488), ("adult", 20), ("mushroom", 1625), ("nursery", 20)]:
    data = [[f"{i}={cell}" for i, cell in enumerate(row)] for row in rows_of(files[name])]
    one, sets = mine(files[name], "frequent", support)
    peer, found = best(1, lambda: sam(data, supp=-support, zmin=1))
    assert len(found) == sets, (len(found), sets)
    rows.append([name, support, f"{sets:,}", f"{one:.3f}", f"{peer:.3f}", f"{one / peer:.2f}"])
    del found
show("Frequent itemsets", ["set", "support", "itemsets", "ours", "pyfim sam", "ratio"], rows)

# suda is a Python program: a tenth of adult is what it can do in reasonable time.
try:
    import pandas
    from suda import suda
except ImportError as error:
    print(f"suda left out: {error}")
else:
    sample = adult[::20]
    frame = pandas.DataFrame(sample, columns=[f"c{i}" for i in range(15)])
    began = time.perf_counter()
    suda(frame, max_msu=3)
    peer = time.perf_counter() - began
    (folder / "sample.num").write_text("\n".join(" ".join(row) for row in sample) + "\n")
    output = example("mining", "mine", folder / "sample.num", "miis", 1, 1, 3, 3)
    ours, _ = parsed(output)
    show(
        f"Sample uniques of up to 3 values, {len(sample):,} rows of adult",
        ["program", "seconds"],
        [["suda", f"{peer:.2f}"], ["pg_sanitize", f"{ours:.4f}"]],
    )

# In the server: growth with repeated rows, memory.
connection = connect("bench_mining")
connection.execute("SET pg_sanitize.threads = 1")
rows = []
for repeat in (1, 10, 100):
    fill(connection, "repeated", adult, repeat)
    query = f"SELECT count(*) FROM sanitize.mine_miis('repeated', {repeat})"
    read = "SELECT count(*) FROM sanitize.mine_miis('repeated', 0)"
    whole, (miis,) = best(2, lambda: connection.execute(query).fetchone())
    reading, _ = best(2, lambda: connection.execute(read).fetchone())
    rows.append(
        [
            f"{repeat * len(adult):,}",
            f"{miis:,}",
            f"{reading:.2f}",
            f"{whole:.2f}",
            f"{peak_memory(connection):.0f} MB",
        ]
    )
    connection.execute("DROP TABLE repeated")
show(
    "adult repeated, theta as often, in the server with one thread",
    ["rows", "MIIs", "reading", "whole call", "peak so far"],
    rows,
)
