"""A coordinator and three shards: four servers on this machine, tables whose partitions lie on the shards."""

import threading
from contextlib import contextmanager

from helpers import OwnServer, fresh_name
from psycopg import sql

SHARDS = 3
# How the coordinator knows a shard that makes bags.
BAGS = {"extensions": "pg_sanitize", "async_capable": "true"}
ROWS = 2_000_000

COLUMNS = """id bigint, sex text, age integer, zip text, work text, since date, height float8,
    paid numeric, smokes boolean"""
# Some 5000 distinct rows, some of them rare, and NULL.
PERSON = """i, CASE i % 2 WHEN 0 THEN 'f' ELSE 'm' END, 20 + 10 * (h % 6), 'zip ' || h / 7 % 8,
    CASE WHEN h % 997 < 3 THEN 'miner' ELSE 'job ' || h / 11 % 4 END, DATE '2024-01-01' + h / 3 % 3,
    1.5 + (i % 2) * 0.25, 1000.00 * (1 + h % 2), CASE WHEN h % 5 < 4 THEN h % 3 = 0 END"""
PEOPLE = f"""SELECT {PERSON} FROM (SELECT i, abs(hashint8(i) % 100000) AS h
    FROM generate_series(1::bigint, {{rows}}) AS i WHERE {{where}}) AS drawn"""


class Cluster:
    """Four running servers, without anything in them."""

    def __init__(self):
        self.servers = [OwnServer(port=55981 + i) for i in range(SHARDS + 1)]
        at_once(self._start, self.servers)
        self.coordinator, *self.shards = self.servers

    def _start(self, server):
        server.initialise("max_connections = 40", "shared_buffers = 64MB", "timezone = 'UTC'")
        server.start()

    def drop(self):
        at_once(OwnServer.drop, self.servers)


def at_once(work, items):
    """Does the same with all of them at the same time."""
    failures = []

    def attempt(item):
        try:
            work(item)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=attempt, args=[item]) for item in items]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


class ShardedDatabase:
    """A database of the same name on the four servers, with the extension, and on the coordinator the shards as
    foreign servers s0, s1, s2."""

    def __init__(self, cluster, encodings=("UTF8",) * (SHARDS + 1), absent=()):
        self.cluster, self.name = cluster, fresh_name("sharded")
        for server, encoding in zip(cluster.servers, encodings, strict=True):
            with server.connect(dbname="postgres", user="postgres") as admin:
                create = "CREATE DATABASE {} ENCODING {} LOCALE 'C' TEMPLATE template0"
                admin.execute(sql.SQL(create).format(sql.Identifier(self.name), encoding))
        for number in set(range(SHARDS)) - set(absent):
            with self.shard(number) as shard:
                shard.execute("CREATE EXTENSION pg_sanitize")
        with self.connect() as admin:
            admin.execute("CREATE EXTENSION pg_sanitize")
            admin.execute("CREATE EXTENSION postgres_fdw")
            for number in range(SHARDS):
                self.add_server(admin, f"s{number}", number, **BAGS)

    def connect(self, user="postgres", **options):
        """A connection to the coordinator."""
        return self.cluster.coordinator.connect(dbname=self.name, user=user, **options)

    def shard(self, number):
        """A connection to a shard."""
        return self.cluster.shards[number].connect(dbname=self.name, user="postgres")

    def add_server(self, admin, name, number, **options):
        """Lets the coordinator know a shard under a name."""
        at = self.cluster.shards[number]
        options = {"host": at.folder, "port": str(at.port), "dbname": self.name, **options}
        listed = sql.SQL(", ").join(
            sql.SQL("{} {}").format(sql.Identifier(key), value) for key, value in options.items()
        )
        create = "CREATE SERVER {} FOREIGN DATA WRAPPER postgres_fdw OPTIONS ({})"
        admin.execute(sql.SQL(create).format(sql.Identifier(name), listed))
        mapping = "CREATE USER MAPPING FOR PUBLIC SERVER {} OPTIONS (user 'postgres', password_required 'false')"
        admin.execute(sql.SQL(mapping).format(sql.Identifier(name)))

    def make_people(self, rows=ROWS):
        """The partitioned table people, its rows on the shards, and people_here, the same rows in one table."""

        def fill(number):
            if number == SHARDS:
                with self.connect() as admin:
                    admin.execute(f"CREATE TABLE people_here ({COLUMNS})")
                    admin.execute(f"INSERT INTO people_here {PEOPLE.format(rows=rows, where=True)}")
                    admin.execute("ANALYZE people_here")
                return
            with self.shard(number) as shard:
                shard.execute(f"CREATE TABLE people ({COLUMNS}) PARTITION BY HASH (id)")
                shard.execute(f"CREATE TABLE people_part ({COLUMNS})")
                where = f"satisfies_hash_partition('people'::regclass, {SHARDS}, {number}, i)"
                shard.execute(f"INSERT INTO people_part {PEOPLE.format(rows=rows, where=where)}")
                shard.execute("ANALYZE people_part")

        at_once(fill, range(SHARDS + 1))
        with self.connect() as admin:
            admin.execute(f"CREATE TABLE people ({COLUMNS}) PARTITION BY HASH (id)")
            for number in range(SHARDS):
                admin.execute(
                    f"""CREATE FOREIGN TABLE people_{number} PARTITION OF people
                        FOR VALUES WITH (MODULUS {SHARDS}, REMAINDER {number})
                        SERVER s{number} OPTIONS (table_name 'people_part')"""
                )

    def make_table(self, name, columns, parts):
        """A table that the coordinator knows as partitioned by its column part: parts has, for each shard, the
        SELECT of its rows."""
        for number, rows in enumerate(parts):
            with self.shard(number) as shard:
                shard.execute(f"CREATE TABLE {name} (part integer, {columns})")
                shard.execute(f"INSERT INTO {name} {rows}")
        with self.connect() as admin:
            admin.execute(f"CREATE TABLE {name} (part integer, {columns}) PARTITION BY LIST (part)")
            for number in range(len(parts)):
                admin.execute(
                    f"""CREATE FOREIGN TABLE {name}_{number} PARTITION OF {name}
                        FOR VALUES IN ({number}) SERVER s{number} OPTIONS (table_name '{name}')"""
                )

    @contextmanager
    def pulling_rows(self):
        """Meanwhile the shards are asked for rows."""
        self._set_extensions("DROP extensions")
        try:
            yield
        finally:
            self._set_extensions("ADD extensions 'pg_sanitize'")

    def _set_extensions(self, change):
        with self.connect() as admin:
            for number in range(SHARDS):
                admin.execute(f"ALTER SERVER s{number} OPTIONS ({change})")

    def drop(self):
        for server in self.cluster.servers:
            with server.connect(dbname="postgres", user="postgres") as admin:
                admin.execute(
                    sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(self.name))
                )
