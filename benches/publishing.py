"""Publishing beside CREATE TABLE AS of the same rows: 15 columns, k_mii with k = 5.

Prints the times and the ratio of publish to CREATE TABLE AS, of the rows as the method makes them and as they
are stored already. PG_SANITIZE_ROWS names the number of rows,
5 million otherwise.
"""

import os
import time

from _bench import connect

rows = int(os.environ.get("PG_SANITIZE_ROWS") or 5_000_000)
connection = connect("pg_sanitize_publishing")
columns = ", ".join(f"(hashint8(i * {n}) & 2147483647) % {2 + n % 4} AS c{n}" for n in range(1, 16))
connection.execute("DROP TABLE IF EXISTS source, published, plain, copy")
connection.execute(
    f"CREATE TABLE source AS SELECT {columns} FROM generate_series(1::bigint, {rows} / 50) AS i,"
    " generate_series(1, 50)"
)
connection.execute("VACUUM ANALYZE source")


def seconds(statement):
    began = time.monotonic()
    connection.execute(statement)
    return time.monotonic() - began


made = seconds("CREATE TABLE plain AS SELECT * FROM sanitize.k_mii(NULL::source, 5)")
copied = seconds("CREATE TABLE copy AS SELECT * FROM plain")
published = seconds("SELECT sanitize.publish('published', 'source', 'k_mii', '{\"k\": 5}')")
refreshed = seconds("SELECT sanitize.refresh('published')")
print(
    f"{rows} rows: CREATE TABLE AS of the method's rows {made:.1f} s, of stored rows {copied:.1f} s,"
    f" publish {published:.1f} s, refresh {refreshed:.1f} s"
)
print(f"publish / CREATE TABLE AS = {published / made:.2f} and {published / copied:.2f}")
