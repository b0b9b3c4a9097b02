"""Reading a table on three other servers: bags beside rows, bytes over the wire and time.

Starts a coordinator and three shards on this machine and writes docs/figures/shards.md. PG_SANITIZE_ROWS names the
number of rows, 2 million otherwise.
"""

import datetime
import os
import sys

from _bench import ROOT, best
from _page import Page
from _proxy import Proxy

sys.path.insert(0, str(ROOT / "tests" / "clients"))

from shards import SHARDS, Cluster, ShardedDatabase  # noqa: E402

MEANT = {
    "few distinct rows": "sex,age,zip,work,since,height,paid,smokes",
    "one column": "zip",
    "a key": "id",
}
# Bytes of bags beside which the messages of the protocol do not count.
LARGE = 10_000
rows = int(os.environ.get("PG_SANITIZE_ROWS") or 2_000_000)
cluster = Cluster()
database = ShardedDatabase(cluster)
database.make_people(rows)
coordinator = database.connect()
version = coordinator.execute("SHOW server_version").fetchone()[0].split()[0]
coordinator.execute("SET pg_sanitize.threads = 1")


def through(hosts):
    """Lets the coordinator reach the shards by these folders, in a session that has not reached them yet."""
    for number, host in enumerate(hosts):
        coordinator.execute(f"ALTER SERVER s{number} OPTIONS (SET host '{host}')")
    coordinator.execute("SELECT postgres_fdw_disconnect_all()")


def measured(query):
    """Bytes that come from the shards for a query, and its time in seconds without the proxies."""
    through(proxy.folder for proxy in proxies)
    # Connects, which is not counted.
    coordinator.execute(query)
    before = sum(proxy.received for proxy in proxies)
    coordinator.execute(query)
    received = sum(proxy.received for proxy in proxies) - before
    through(shard.folder for shard in cluster.shards)
    seconds, _ = best(2, lambda: coordinator.execute(query).fetchone())
    return received, seconds


def bags(columns):
    """The bytes of the shards' bags, and of the text in which they travel."""
    names = ",".join(f"f{i + 1}" for i in range(len(columns.split(","))))
    query = f"""SELECT octet_length(sanitize_internal.bag_send(bag)), octet_length(sanitize_internal.bag_packed(bag))
        FROM (SELECT sanitize.row_bag('{{{names}}}'::cstring[], {columns}) AS bag FROM people_part) AS made"""
    sizes = []
    for number in range(SHARDS):
        with database.shard(number) as shard:
            sizes.append(shard.execute(query).fetchone())
    return [sum(size) for size in zip(*sizes, strict=True)]


proxies = [Proxy(shard) for shard in cluster.shards]
lines, worst = [], 0
try:
    for name, columns in MEANT.items():
        query = f"SELECT sanitize.k_anonymity('people', '{{{columns}}}')"
        binary, packed = bags(columns)
        received, seconds = measured(query)
        with database.pulling_rows():
            pulled, pulling = measured(query)
        here, _ = best(2, lambda: coordinator.execute(query.replace("people", "people_here")))
        if binary > LARGE:
            worst = max(worst, received / binary)
        lines.append(
            [
                name,
                f"{binary:,}",
                f"{packed:,}",
                f"{received:,}",
                f"{received / binary:.3f}",
                f"{pulled:,}",
                f"{seconds:.2f}",
                f"{pulling:.2f}",
                f"{here:.2f}",
            ]
        )
finally:
    for proxy in proxies:
        proxy.close()
    coordinator.close()
    database.drop()
    cluster.drop()

page = Page(
    "Shards in figures",
    f"""
Made by `scripts/bench shards`, which writes this page, in {datetime.date.today():%B %Y}, PostgreSQL {version}, on a
machine with {os.cpu_count()} cores and a load of {os.getloadavg()[0]:.1f} at the end. A coordinator and three shards
run on it, so the four of them share its cores, and nothing waits for a network: with a real network bags gain
more.
""",
)
page.tell(
    "Bags beside rows",
    f"""
`sanitize.k_anonymity` of a table of {rows:,} rows in three hash partitions, with and without the option `extensions`
of the foreign servers. A proxy before each shard counts all bytes that the shards send, protocol messages
included, in a session that is already connected. A bag is sent as text of seven bits a character, because
postgres_fdw transfers every value as text: at
most {worst:.3f} bytes came for each byte of the shards' bags in their binary form. Bags of less than {LARGE:,} bytes are
not counted there, because most of what arrives with them is other protocol messages. Times are the better of two, in seconds; "one server" reads the same rows from a table of the coordinator.
""",
    [
        "columns",
        "bags: bytes",
        "as text",
        "received",
        "received / bags",
        "rows: bytes received",
        "bags: s",
        "rows: s",
        "one server: s",
    ],
    lines,
)
page.write("shards.md")
