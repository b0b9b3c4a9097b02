"""What releases cost, beside what they are made of and beside anjana and anonypy (PyPI).

Times are seconds of processor time with one thread: waiting for other work is not counted.
"""

import contextlib
import io
import math
import sys
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
    data_file,
    diabetes,
    example,
    fill,
    peak_memory,
    processor_time,
    rows_of,
)
from anjana.anonymity import k_anonymity

K = 6
# Distinct rows of generated tables, and values per column: as many and as wide as arx-adult's.
SIZES = (30_000, 100_000, 300_000, 1_000_000)
WIDTHS = (2, 72, 5, 7, 16, 41, 7, 14, 2)
DATABASE = "bench_releases"


def measure(connection, query, **runs):
    """Processor time of a query that counts its rows, and the count."""
    connection.execute("SET pg_sanitize.threads = 1")
    connection.execute("SET max_parallel_workers_per_gather = 0")
    call = lambda: connection.execute(query).fetchone()[0]  # noqa: E731
    return processor_time(lambda: backend_time(connection), call, **runs)


def blank_share(connection, release, names):
    """The rows of a release, and the share of their cells that is blank in %."""
    blank = f"sum(num_nulls({', '.join(names)}))"
    rows, blank = connection.execute(f"SELECT count(*), {blank} FROM {release}").fetchone()
    return rows, 100 * float(blank) / (rows * len(names))


def names_of(connection, table):
    query = "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0"
    return [name for (name,) in connection.execute(query, [table])]


def mining_alone(path, theta, runs=10):
    """Processor time of listing the MIIs of a file, without reading it."""

    def whole(runs):
        began = children_time()
        example("mining", "mine", path, "miis", theta, 1, runs)
        return children_time() - began

    whole(1)  # builds the program
    return min((whole(1 + runs) - whole(1)) / runs for _ in range(3))


def k_mii_beside_its_parts(page, connection):
    path = data_file("lucs/adult.D97.N48842.C2.num")
    mining = mining_alone(path, 1)
    count = lambda source: f"SELECT count(*) FROM sanitize.{source}"  # noqa: E731
    reading, _ = measure(connection, count("mine_miis('adult', 0)"), runs=20)
    whole, kept = measure(connection, count("k_mii(NULL::adult, 2)"), runs=10)
    table = [["adult", "45,222", 1, f"{mining:.3f}", f"{reading:.3f}", f"{whole:.3f}"]]
    table[0] += [f"{whole / (mining + reading):.2f}", "1.2", f"{kept:,}"]

    fill(connection, "repeated", rows_of(path), repeat=100)
    reading, _ = measure(connection, count("mine_miis('repeated', 0)"))
    whole, kept = measure(connection, count("k_mii(NULL::repeated, 101)"))
    connection.execute("DROP TABLE repeated")
    table.append(["adult 100 times", "4,522,200", 100, "", f"{reading:.2f}", f"{whole:.2f}"])
    table[1] += [f"{whole / reading:.2f}", "1.3", f"{kept:,}"]
    page.tell(
        "What k_mii costs",
        """
Seconds of mining the minimal infrequent itemsets alone, of reading the table alone (`mine_miis` with theta 0, which
finds none), and of `k_mii` with k = theta + 1; its ratio to the sum of the other two, and the bar: the
largest ratio allowed.
""",
        "set, rows, theta, mining, reading, k_mii, ratio, bar, rows released".split(", "),
        table,
    )


def k_anonymize_beside_k_mii(page, connection):
    fill(connection, "nursery", rows_of(data_file("lucs/nursery.D32.N12960.C5.num")))
    fill(connection, "arx", arx_adult())
    fill(connection, "diabetes", diabetes())
    table = []
    for name in ("arx", "adult", "nursery", "diabetes"):
        names = names_of(connection, name)
        total = connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]
        for k in (2, 6, 11):
            line = [name, k]
            for function in ("k_mii", "k_anonymize"):
                release = f"sanitize.{function}(NULL::{name}, {k})"
                rows, blank = blank_share(connection, release, names)
                seconds, _ = measure(connection, f"SELECT count(*) FROM {release}", runs=2)
                line += [f"{100 * rows / total:.2f}", f"{blank:.1f}", f"{seconds:.2f}"]
            connection.execute(f"CREATE TEMP TABLE release AS SELECT * FROM {release}")
            smallest = connection.execute("SELECT sanitize.k_anonymity('release')").fetchone()[0]
            if smallest < k:
                sys.exit(f"k_anonymize on {name} with k = {k}: a class of {smallest} rows")
            connection.execute("DROP TABLE release")
            table.append(line)
    page.tell(
        "k_anonymize beside k_mii",
        """
The share of the rows that are released in %, the share of their cells that is blank in %, and the seconds of the whole
call. arx is ARX's Adult table (30,162 rows of 9 columns), adult the LUCS version (45,222 x 15), nursery 12,960 x 9,
diabetes twelve columns of 101,766 hospital stays. Every release of `k_anonymize` was checked with `k_anonymity`.
""",
        "set, k, k_mii: rows, blank, s, k_anonymize: rows, blank, s".split(", "),
        table,
    )


def changed(released, original):
    """The share in % of the cells of a frame that are no value of their column any more."""
    known = [released[name].astype(str).isin(set(original[name])) for name in original]
    return 100 * (1 - pandas.concat(known, axis=1).to_numpy().mean())


def k_anonymize_beside_others(page, connection):
    rows = arx_adult()
    columns = data_file("arx-adult/adult.csv").open().readline().strip().split(";")
    frame = pandas.DataFrame(rows, columns=columns)
    hierarchies = {}
    for column in columns:
        path = data_file(f"arx-adult/adult_hierarchy_{column}.csv")
        levels = pandas.read_csv(path, sep=";", header=None, dtype=str)
        hierarchies[column] = {level: levels[level].values for level in levels}

    def anjana(dropped):
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return k_anonymity(frame.copy(), [], columns, K, dropped, hierarchies)

    def mondrian():
        types = {name: "category" for name in columns if name != "age"} | {"age": int}
        typed = frame.astype(types)
        # It wants a sensitive column.
        typed["sensitive"] = pandas.Categorical(["x"] * len(typed))
        return anonypy.Preserver(typed, columns, "sensitive").anonymize_k_anonymity(k=K)

    release = f"sanitize.k_anonymize(NULL::arx, {K})"
    ours, kept = measure(connection, f"SELECT count(*) FROM {release}", runs=10)
    _, blank = blank_share(connection, release, names_of(connection, "arx"))
    table = [["k_anonymize", f"{ours:.3f}", "1", f"{kept:,}", f"{blank:.1f}"]]

    def add(name, taken, released):
        share = f"{changed(released, frame):.1f}"
        table.append([name, f"{taken:.2f}", f"{taken / ours:.0f}", f"{len(released):,}", share])

    for dropped in (50, 5):
        taken, released = best(1, lambda: anjana(dropped), clock=time.process_time)
        add(f"anjana, up to {dropped} % of rows dropped", taken, released)
    taken, classes = best(1, mondrian, clock=time.process_time)
    cells = [[group[name][0] for name in columns] for group in classes]
    copies = [group["count"] for group in classes]
    released = pandas.DataFrame(cells, columns=columns)
    add("anonypy", taken, released.loc[released.index.repeat(copies)])
    page.tell(
        "k_anonymize beside other programs",
        f"""
ARX's Adult table (30,162 x 9), k = {K}, in one run, one thread: seconds, and the share of the released cells in % that are
not a value of their column any more: blank for `k_anonymize`; anjana puts whole columns at a level of ARX's hierarchies
and drops rows, anonypy (Mondrian) puts a list or range of values. Bar: the fastest of the others takes at least 10 times
as long as `k_anonymize`.

A blank loses more than a coarser value. ARX's local recoding at its best (not run here) changes .102, .197 and .242 of
the cells at k = 2, 6 and 11, where blanking alone changes .072, .137 and .166. These are fewer cells, but a
blank cell counts 1 in the loss, and a coarser one only by how much coarser it is: the loss is .028, .067 and
.092 for ARX and .072, .137 and .166 for blanking. What `k_anonymize` loses with general values is in [Generalisation in figures](generalisation.md).
""",
        ["program", "seconds", "times ours", "rows released", "% of cells changed"],
        table,
    )


def growth(page, connection):
    connection.execute("SELECT setseed(0.5)")
    columns = ", ".join(
        f"floor({width} * random() ^ 3)::int AS c{i}" for i, width in enumerate(WIDTHS, 1)
    )
    connection.execute(
        f"CREATE UNLOGGED TABLE generated AS SELECT row_number() OVER () AS n, d.* FROM (SELECT DISTINCT *"
        f" FROM (SELECT {columns} FROM generate_series(1, 10000000)) AS g) AS d"
    )
    names = [f"c{i}" for i in range(1, len(WIDTHS) + 1)]
    table = []
    for size in SIZES:
        name = f"generated_{size}"
        connection.execute(
            f"CREATE UNLOGGED TABLE {name} AS SELECT {', '.join(names)} FROM generated ORDER BY hashint8(n) LIMIT {size}"
        )
        connection.execute(f"VACUUM ANALYZE {name}")
        release = f"sanitize.k_anonymize(NULL::{name}, {K})"
        with psycopg.connect(dbname=DATABASE, autocommit=True) as fresh:
            fresh.execute("SET pg_sanitize.progress = 0")
            runs = max(1, 100_000 // size)
            query = f"SELECT count(*) FROM {release}"
            taken, kept = measure(fresh, query, batches=2, runs=runs)
            peak = peak_memory(fresh)
        _, blank = blank_share(connection, release, names)
        table.append([size, kept, blank, taken, peak, taken / (size * math.log2(size))])
    first = table[0][-1]
    page.tell(
        "k_anonymize: growth with distinct rows",
        f"""
Generated tables of 9 skewed columns with as many values as those of ARX's Adult table, k = {K}, one thread. Bar: n log n or
better, so that the last column stays near 1.
""",
        "distinct rows, rows released, % blank, seconds, peak, seconds / (n log n)".split(", "),
        [
            [f"{n:,}", f"{kept:,}", f"{b:.1f}", f"{t:.2f}", f"{peak:.0f} MB", f"{s / first:.2f}"]
            for n, kept, b, t, peak, s in table
        ],
    )
