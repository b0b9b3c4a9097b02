"""What releases cost, beside what they are made of and beside anjana and anonypy (PyPI).

Times are seconds of processor time with one thread: waiting for other work is not counted.
"""

import contextlib
import io
import math
import time
import warnings

import anonypy
import pandas
import psycopg
from _bench import (
    arx_adult,
    backend_time,
    best,
    children_time,
    connect,
    data_file,
    example,
    fill,
    peak_memory,
    processor_time,
    rows_of,
    show,
)
from anjana.anonymity import k_anonymity

ADULT = data_file("lucs/adult.D97.N48842.C2.num")
ARX_COLUMNS = data_file("arx-adult/adult.csv").open().readline().strip().split(";")
K = 6

connection = connect("bench_releases")


def one_thread(connection):
    connection.execute("SET pg_sanitize.threads = 1")
    connection.execute("SET max_parallel_workers_per_gather = 0")


def measure(query, connection=connection, **runs):
    """Processor time of a query that counts its rows, and the count."""
    one_thread(connection)
    call = lambda: connection.execute(query).fetchone()[0]  # noqa: E731
    return processor_time(lambda: backend_time(connection), call, **runs)


def mining_alone(path, theta, runs=10):
    """Processor time of listing the MIIs of a file, without reading it."""

    def whole(runs):
        began = children_time()
        example("mining", "mine", path, "miis", theta, 1, runs)
        return children_time() - began

    whole(1)  # builds the program
    return min((whole(1 + runs) - whole(1)) / runs for _ in range(3))


# k_mii beside mining and reading.
adult = rows_of(ADULT)
fill(connection, "adult", adult)
mining = mining_alone(ADULT, 1)
reading, _ = measure("SELECT count(*) FROM sanitize.mine_miis('adult', 0)", runs=20)
whole, kept = measure("SELECT count(*) FROM sanitize.k_mii(NULL::adult, 2)", runs=10)
show(
    "k_mii on adult (45,222 x 15), theta 1, that is k = 2 (bar: ratio at most 1.2)",
    ["mining alone", "reading alone", "k_mii", "ratio to both", "rows released"],
    [
        [
            f"{mining:.3f}",
            f"{reading:.3f}",
            f"{whole:.3f}",
            f"{whole / (mining + reading):.2f}",
            f"{kept:,}",
        ]
    ],
)

fill(connection, "repeated", adult, repeat=100)
reading, _ = measure("SELECT count(*) FROM sanitize.mine_miis('repeated', 0)")
whole, kept = measure("SELECT count(*) FROM sanitize.k_mii(NULL::repeated, 101)")
connection.execute("DROP TABLE repeated")
show(
    "k_mii on adult repeated 100 times (4,522,200 rows), theta 100, that is k = 101 (bar: ratio at most 1.3)",
    ["reading alone", "k_mii", "ratio", "rows released"],
    [[f"{reading:.2f}", f"{whole:.2f}", f"{whole / reading:.2f}", f"{kept:,}"]],
)

# k_anonymize beside Python libraries. anjana generalises whole columns by ARX's hierarchies and
# drops rows; anonypy (Mondrian) merges values row by row, and wants a sensitive column.
rows = arx_adult()
fill(connection, "arx", rows)
ours, kept = measure(f"SELECT count(*) FROM sanitize.k_anonymize(NULL::arx, {K})", runs=10)

frame = pandas.DataFrame(rows, columns=ARX_COLUMNS)
hierarchies = {}
for column in ARX_COLUMNS:
    path = data_file(f"arx-adult/adult_hierarchy_{column}.csv")
    levels = pandas.read_csv(path, sep=";", header=None, dtype=str)
    hierarchies[column] = {level: levels[level].values for level in levels}


def anjana(dropped):
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return k_anonymity(frame.copy(), [], ARX_COLUMNS, K, dropped, hierarchies)


def mondrian():
    typed = frame.astype({name: "category" for name in ARX_COLUMNS if name != "age"} | {"age": int})
    typed["sensitive"] = pandas.Categorical(["x"] * len(typed))
    return anonypy.Preserver(typed, ARX_COLUMNS, "sensitive").anonymize_k_anonymity(k=K)


table = [["k_anonymize", f"{ours:.3f}", "1", f"{kept:,}"]]
for dropped in (50, 5):
    taken, released = best(1, lambda: anjana(dropped), clock=time.process_time)
    table.append(
        [
            f"anjana, up to {dropped} % of rows dropped",
            f"{taken:.2f}",
            f"{taken / ours:.0f}",
            f"{len(released):,}",
        ]
    )
taken, released = best(1, mondrian, clock=time.process_time)
kept = sum(row["count"] for row in released)
table.append(["anonypy", f"{taken:.2f}", f"{taken / ours:.0f}", f"{kept:,}"])
show(
    f"arx-adult (30,162 x 9), k = {K} (bar: the faster of the others takes at least 10 times as long)",
    ["program", "seconds", "times ours", "rows released"],
    table,
)

# Growth with the number of distinct rows: columns as many and as wide as arx-adult's, skewed.
SIZES = (30_000, 100_000, 300_000, 1_000_000)
WIDTHS = (2, 72, 5, 7, 16, 41, 7, 14, 2)
connection.execute("SELECT setseed(0.5)")
columns = ", ".join(
    f"floor({width} * random() ^ 3)::int AS c{i}" for i, width in enumerate(WIDTHS, 1)
)
connection.execute(
    f"CREATE UNLOGGED TABLE generated AS SELECT row_number() OVER () AS n, d.* FROM (SELECT DISTINCT *"
    f" FROM (SELECT {columns} FROM generate_series(1, 10000000)) AS g) AS d"
)
names = ", ".join(f"c{i}" for i in range(1, len(WIDTHS) + 1))
table = []
for size in SIZES:
    name = f"generated_{size}"
    connection.execute(
        f"CREATE UNLOGGED TABLE {name} AS SELECT {names} FROM generated ORDER BY hashint8(n) LIMIT {size}"
    )
    connection.execute(f"VACUUM ANALYZE {name}")
    with psycopg.connect(dbname="bench_releases", autocommit=True) as fresh:
        fresh.execute("SET pg_sanitize.progress = 0")
        query = f"SELECT count(*) FROM sanitize.k_anonymize(NULL::{name}, {K})"
        taken, kept = measure(query, fresh, batches=2, runs=max(1, 100_000 // size))
        peak = peak_memory(fresh)
    cells, blank = connection.execute(
        f"SELECT count(*) * {len(WIDTHS)}, sum(num_nulls({names})) FROM sanitize.k_anonymize(NULL::{name}, {K})"
    ).fetchone()
    table.append((size, taken, kept, 100 * blank / cells, peak))
first = table[0][1] / (SIZES[0] * math.log2(SIZES[0]))
show(
    f"k_anonymize on generated tables of 9 columns, k = {K} (bar: n log n or better: the last column stays near 1)",
    [
        "distinct rows",
        "rows released",
        "% of cells blank",
        "seconds",
        "peak",
        "seconds / (n log n)",
    ],
    [
        [
            f"{n:,}",
            f"{kept:,}",
            f"{blank:.1f}",
            f"{t:.2f}",
            f"{peak:.0f} MB",
            f"{t / (n * math.log2(n)) / first:.2f}",
        ]
        for n, t, kept, blank, peak in table
    ],
)
