"""What a bag costs where the rows are, on the wire and where bags meet, and what follows for larger tables.

The costs are measured on one server: per row and cell read, per distinct row and cell written, sent, read
again and merged, and beside them those of rows that travel. The rest is arithmetic: a model of a source on
many shards, up to a billion rows on a hundred of them. Nothing of that size was run.
"""

import math

import numpy
from _bench import ROOT, backend_time, connect, processor_time
from _growth import drawn
from _page import Page

# Per second. A network between servers of one data centre; said on the page, as it decides much.
NETWORK = 1e9 / 8
COLUMNS = (4, 8, 16)
ROWS = 400_000

connection = connect("bench_scale")
connection.execute("SET max_parallel_workers_per_gather = 0")
connection.execute("SET pg_sanitize.max_memory = '4GB'")
connection.execute(
    "CREATE AGGREGATE merged(sanitize.bag) (SFUNC = sanitize_internal.row_bag_combine, STYPE = sanitize.bag)"
)
connection.execute("CREATE EXTENSION postgres_fdw")
connection.execute(
    "DO $$ BEGIN EXECUTE format('CREATE SERVER here FOREIGN DATA WRAPPER postgres_fdw"
    " OPTIONS (host %L, port %L, dbname ''bench_scale'', fetch_size ''10000'')',"
    " split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port')); END $$"
)
connection.execute("CREATE USER MAPPING FOR CURRENT_USER SERVER here")


def table(columns, distinct):
    """Makes a table of so many rows, of which so many differ; values are texts of up to three digits."""
    cells = ", ".join(f"(hashint4extended(d, {c}) & 127)::text AS c{c}" for c in range(columns))
    connection.execute("DROP FOREIGN TABLE IF EXISTS far")
    connection.execute("DROP TABLE IF EXISTS near")
    connection.execute(
        f"CREATE UNLOGGED TABLE near AS SELECT {cells} FROM"
        f" (SELECT (g % {distinct})::int AS d FROM generate_series(1, {ROWS}) AS g) AS made"
    )
    connection.execute("VACUUM ANALYZE near")
    types = ", ".join(f"c{c} text" for c in range(columns))
    connection.execute(
        f"CREATE FOREIGN TABLE far ({types}) SERVER here OPTIONS (table_name 'near')"
    )


def seconds(query):
    """The processor time of a query in its own backend."""

    def clock():
        return backend_time(connection)

    return processor_time(clock, lambda: connection.execute(query).fetchone())[0]


measured = []
for columns in COLUMNS:
    for distinct in (1000, ROWS // 4, ROWS):
        table(columns, distinct)
        connection.execute("DROP TABLE IF EXISTS bags")
        making = seconds("SELECT sanitize.row_bag(near) IS NULL FROM near")
        connection.execute("CREATE TABLE bags AS SELECT sanitize.row_bag(near) AS bag FROM near")
        size = connection.execute(
            "SELECT octet_length(sanitize_internal.bag_packed(bag)) FROM bags"
        ).fetchone()[0]
        merging = seconds("SELECT merged(bag) IS NULL FROM bags")
        pulling = seconds("SELECT sanitize.row_bag(far) IS NULL FROM far")
        measured.append((columns, distinct, making, size, merging, pulling))


def fitted(values, *terms):
    """Costs of the terms, none below zero, by least squares."""
    matrix = numpy.array(list(zip(*terms)), dtype=float)
    costs, *_ = numpy.linalg.lstsq(matrix, numpy.array(values, dtype=float), rcond=None)
    return [max(cost, 0.0) for cost in costs]


width = [row[0] for row in measured]
kinds = [row[1] for row in measured]
cells = [ROWS * columns for columns in width]
kept = [distinct * columns for distinct, columns in zip(kinds, width)]
reading = fitted([row[2] for row in measured], [ROWS] * len(measured), cells, kept)
bytes_per_cell = fitted([row[3] for row in measured], kept)[0]
merging = fitted([row[4] for row in measured], kept)[0]
pulling = fitted([row[5] for row in measured], [ROWS] * len(measured), cells, kept)
ROW_BYTES, CELL_BYTES = 7, 4 + 2.6  # of a row message: its head, a cell's length and text
# What a distinct row takes while bags are merged: codes, count, and its place in the index.
ROW_MEMORY, CELL_MEMORY = 8 + 16, 4


def different(rows, kinds):
    """How many of so many equally likely kinds of rows are expected among so many rows."""
    return kinds * -math.expm1(-rows / kinds)


def simulated(rows, columns, shards, kinds):
    """Seconds with bags and with rows, bytes of all bags, bytes of memory where they meet."""
    part = rows / shards
    kept = different(part, kinds) * columns
    made = part * (reading[0] + reading[1] * columns) + kept * reading[2]
    sent = shards * kept * bytes_per_cell
    with_bags = made + sent / NETWORK + shards * kept * merging
    of_rows = rows * (ROW_BYTES + CELL_BYTES * columns)
    apart = different(rows, kinds)
    with_rows = max(
        of_rows / NETWORK, rows * (pulling[0] + pulling[1] * columns) + apart * columns * pulling[2]
    )
    return with_bags, with_rows, sent, apart * (ROW_MEMORY + CELL_MEMORY * columns)


def amount(number):
    for size, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number:.0f} B"


def duration(seconds):
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.2g} s"


page = Page(
    "A billion rows on a hundred servers, simulated",
    f"""Made by `scripts/bench scale`, which writes this page. The costs were measured on one machine with one
    thread, as processor time ({ROWS:,} rows of {", ".join(map(str, COLUMNS))} text columns, 1,000 to {ROWS:,} of
    them distinct); everything after the first table is computed from them: no test of that size was run. The
    page shows what grows with rows, what grows with distinct rows, and where a bag is no longer faster.
    [Tables on other servers](../reference/shards.md) describes how shards are asked for bags.""",
)
page.tell(
    "Measured costs",
    """Least squares over the measured tables. The cost of a row that is pulled includes the coordinator's own
    work only.""",
    ["what", "cost"],
    [
        ["reading a row on its shard", f"{reading[0] * 1e9:.0f} ns"],
        ["reading a cell on its shard", f"{reading[1] * 1e9:.0f} ns"],
        ["keeping and writing a cell of a distinct row", f"{reading[2] * 1e9:.0f} ns"],
        ["a cell of a distinct row on the wire", f"{bytes_per_cell:.2f} bytes"],
        ["reading and merging a cell of a distinct row", f"{merging * 1e9:.0f} ns"],
        ["pulling a row through postgres_fdw", f"{pulling[0] * 1e9:.0f} ns"],
        ["pulling a cell through postgres_fdw", f"{pulling[1] * 1e9:.0f} ns"],
    ],
)
WIDE = 8
rows = []
for kinds in (1e4, 1e6, 1e8):
    for total, shards in ((1e6, 1), (1e7, 4), (1e8, 10), (1e9, 10), (1e9, 100)):
        bags, pulled, sent, memory = simulated(total, WIDE, shards, kinds)
        rows.append(
            [
                f"{kinds:.0e}".replace("e+0", "e"),
                f"{total:.0e}".replace("e+0", "e"),
                shards,
                duration(bags),
                duration(pulled),
                f"{pulled / bags:.3g}",
                amount(sent),
                amount(total * (ROW_BYTES + CELL_BYTES * WIDE)),
                amount(memory),
            ]
        )
page.tell(
    f"A table of {WIDE} columns",
    f"""Kinds is the number of possible distinct rows, all equally likely, which is the worst case for a bag. Seconds
    until the coordinator has all rows as one bag: shards work at the same time, the network transfers {amount(NETWORK)} a
    second, and the coordinator merges with one thread. Memory is that of the merged bag; a bag above
    `pg_sanitize.max_memory` is refused.""",
    [
        "kinds",
        "rows",
        "shards",
        "bags",
        "rows pulled",
        "times faster",
        "sent as bags",
        "sent as rows",
        "memory",
    ],
    rows,
)
points = [10**6, 10**7, 10**8, 10**9]
lines = {
    f"bags, {kinds:.0e} kinds".replace("e+0", "e"): [
        simulated(total, WIDE, 100, kinds)[0] for total in points
    ]
    for kinds in (1e4, 1e6, 1e8)
}
lines["rows pulled"] = [simulated(total, WIDE, 100, 1e6)[1] for total in points]
picture = drawn(points, lines, "rows", f"seconds, 100 shards, {WIDE} columns")
(ROOT / "docs" / "figures" / "scale.svg").write_text(picture)
page.say("![Seconds by rows on a hundred shards, simulated](scale.svg)")
page.write("scale.md")
