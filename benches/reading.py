"""Reading and coding, beside SELECT DISTINCT over the same columns.

The table is LUCS adult repeated with some cells changed: 5 million rows of 15 text columns. A call
with max_length 1 mines nothing worth mentioning, so its time is that of reading and coding.
"""

from _bench import best, connect, data_file, fill, peak_memory, rows_of, show

ADULT = rows_of(data_file("lucs/adult.D97.N48842.C2.num"))

connection = connect("bench_reading")
fill(connection, "adult", ADULT)


def changed(column, share):
    """The column with a share of its cells replaced by one of nine values."""
    hash_of = f"hashint8(n * 1000 + g + {column})"
    return (
        f"CASE WHEN abs({hash_of}::bigint) % 1000 < {share} "
        f"THEN (abs({hash_of}::bigint) / 1000 % 9)::text ELSE c{column} END AS c{column}"
    )


def make(table, copies, share):
    columns = ", ".join(changed(i, share) if i % 5 == 1 else f"c{i}" for i in range(1, 16))
    connection.execute(
        f"CREATE UNLOGGED TABLE {table} AS SELECT {columns}"
        " FROM (SELECT row_number() OVER () AS n, adult.* FROM adult) AS rows,"
        f" generate_series(1, {copies}) AS g"
    )
    connection.execute(f"VACUUM ANALYZE {table}")


def peak_of(query):
    """The result of a query and the peak memory of a fresh backend that runs it."""
    import psycopg

    with psycopg.connect(dbname="bench_reading", autocommit=True) as fresh:
        fresh.execute("SET pg_sanitize.progress = 0")
        fresh.execute(query).fetchall()
        return peak_memory(fresh)


rows = []
for label, copies, share in [
    ("1/10 of the rows, few cells changed", 11, 20),
    ("few cells changed", 111, 20),
    ("many cells changed", 111, 300),
]:
    make("big", copies, share)
    total, distinct = connection.execute(
        "SELECT (SELECT count(*) FROM big), (SELECT count(*) FROM (SELECT DISTINCT * FROM big) AS d)"
    ).fetchone()
    plain = "SELECT count(*) FROM (SELECT DISTINCT * FROM big) AS d"
    ours = "SELECT count(*) FROM sanitize.mine_miis('big', 1, max_length => 1)"
    bag = "SELECT octet_length(sanitize_internal.bag_send(sanitize.row_bag(big))) FROM big"
    scan, _ = best(3, lambda: connection.execute("SELECT count(c15) FROM big").fetchone())
    distinct_time, _ = best(3, lambda: connection.execute(plain).fetchone())
    reading, _ = best(3, lambda: connection.execute(ours).fetchone())
    aggregate, _ = best(3, lambda: connection.execute(bag).fetchone())
    rows.append(
        [
            label,
            f"{total:,}",
            f"{distinct:,}",
            f"{scan:.2f} s",
            f"{distinct_time:.2f} s",
            f"{reading:.2f} s",
            f"{reading / distinct_time:.2f}",
            f"{aggregate:.2f} s",
            f"{peak_of(ours):.0f} MB",
        ]
    )
    connection.execute("DROP TABLE big")

show(
    "Reading and coding (bar: at most 1.5 times DISTINCT, below 1 GB)",
    ["15 columns", "rows", "distinct", "scan", "DISTINCT", "reading", "ratio", "row_bag", "peak"],
    rows,
)
