"""Speed of private generation: randomised cells beside CREATE TABLE AS, and rows drawn from models.

The table is LUCS adult repeated to five million rows with some cells changed. Each statement writes a table,
as users do; one thread, no parallel workers, the best of some runs.
"""

import zipfile

from _bench import (
    backend_time,
    best,
    connect,
    data_file,
    fill,
    peak_memory,
    processor_time,
    rows_of,
    show,
)

ROWS = 5_000_000
ADULT = rows_of(data_file("lucs/adult.D97.N48842.C2.num"))

connection = connect("bench_generation")
connection.execute("SET max_parallel_workers_per_gather = 0")
connection.execute("SET pg_sanitize.threads = 1")
connection.execute("SET pg_sanitize.max_memory = '4GB'")
fill(connection, "adult", ADULT)
columns = [f"c{i}" for i in range(1, len(ADULT[0]) + 1)]


def declare(table):
    """The values that there are, as if they were public: for measuring only."""
    for column in columns:
        connection.execute(f"ALTER TABLE {table} ALTER {column} SET NOT NULL")
        values = f"SELECT array_agg(DISTINCT {column}) FROM adult"
        connection.execute(f"SELECT sanitize.declare_domain('{table}', '{column}', ({values}))")


def written(query):
    """The seconds to write what a query returns into a table, and its rows."""

    def write():
        connection.execute("DROP TABLE IF EXISTS written")
        connection.execute(f"CREATE TABLE written AS {query}")

    seconds, _ = best(3, write)
    return seconds, connection.execute("SELECT count(*) FROM written").fetchone()[0]


changed = ", ".join(
    f"CASE WHEN hashint8(n * 100 + g + {i}) % 50 = 0 THEN (SELECT min(c{i}) FROM adult) ELSE c{i} END AS c{i}"
    for i in range(1, len(columns) + 1)
)
connection.execute(
    f"CREATE UNLOGGED TABLE big AS SELECT {changed}"
    " FROM (SELECT row_number() OVER () AS n, adult.* FROM adult) AS rows,"
    f" generate_series(1, {ROWS // len(ADULT) + 1}) AS g LIMIT {ROWS}"
)
connection.execute("VACUUM ANALYZE big")
declare("big")
declare("adult")

plain, rows = written("SELECT * FROM big")
randomised, _ = written("SELECT * FROM sanitize.randomize_cells(NULL::big, 3)")
show(
    f"{rows} rows of {len(columns)} columns, written by one process",
    ["statement", "seconds", "ratio", "rows a second"],
    [
        ["CREATE TABLE AS SELECT", f"{plain:.2f}", "1.00", f"{rows / plain:,.0f}"],
        [
            "randomize_cells",
            f"{randomised:.2f}",
            f"{randomised / plain:.2f}",
            f"{rows / randomised:,.0f}",
        ],
    ],
)
print(f"peak memory of the backend: {peak_memory(connection):.0f} MB")

connection.execute("CREATE TABLE models AS SELECT sanitize.dp_synthesizer('adult', 1) AS model")
drawn = []
for label, query in [
    (
        "dp_synthesize from a model",
        "SELECT * FROM sanitize.dp_synthesize(NULL::adult, (SELECT model FROM models), {})",
    ),
    ("code_tree_generate", "SELECT * FROM sanitize.code_tree_generate(NULL::adult, {}, 0.1)"),
    ("krimp_generate", "SELECT * FROM sanitize.krimp_generate(NULL::adult, {}, 4000)"),
]:
    # What is done before the first row is drawn is taken off.
    empty, _ = written(query.format(1))
    seconds, rows = written(query.format(2_000_000))
    drawn.append(
        [label, f"{empty:.2f}", f"{seconds - empty:.2f}", f"{rows / (seconds - empty):,.0f}"]
    )
show(
    "drawing 2,000,000 rows of 15 columns",
    ["function", "fitting, s", "drawing, s", "rows a second"],
    drawn,
)

with zipfile.ZipFile(data_file("uci/msnbc990928.zip")) as archive:
    lines = archive.read(archive.namelist()[0]).decode().splitlines()
visits = [set(map(int, line.split())) for line in lines if line[:1].isdigit() and line.strip()]
pages = ", ".join(f"p{page} bool" for page in range(1, 18))
connection.execute(f"CREATE UNLOGGED TABLE msnbc ({pages})")
with connection.cursor().copy("COPY msnbc FROM STDIN") as stream:
    for visit in visits:
        stream.write("\t".join("t" if page in visit else r"\N" for page in range(1, 18)) + "\n")
connection.execute("VACUUM ANALYZE msnbc")
query = (
    f"SELECT count(*) FROM sanitize.code_tree_generate(NULL::msnbc, {len(visits)}, 0.01,"
    " nulls => 'missing')"
)
seconds, _ = processor_time(
    lambda: backend_time(connection), lambda: connection.execute(query).fetchone(), batches=1
)
print(
    f"\nmsnbc, {len(visits)} rows, from reading to the last generated row: {seconds:.1f} s of one core"
)
