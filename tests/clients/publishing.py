"""What the tests of publishing share: calls, what is recorded, statements that run meanwhile."""

import threading
import time

import psycopg
from helpers import fresh_name
from psycopg import sql

ROWS = 20000
K5 = '{"k": 5}'


def make_visits(connection):
    """A table whose rows all have the same version."""
    name = fresh_name("visits")
    connection.execute(f"""
        CREATE TABLE {name} AS SELECT i % 50 AS ward, i % 7 AS day, 0 AS version
            FROM generate_series(1, {ROWS}) AS i""")
    return name


def make_source(connection, columns=("ward", "day")):
    """A small table with columns of these names."""
    name = fresh_name("own")
    defined = sql.SQL(", ").join(
        sql.SQL("i % {} AS {}").format(sql.Literal(n), sql.Identifier(column))
        for n, column in enumerate(columns, 2)
    )
    connection.execute(
        sql.SQL("CREATE TABLE {} AS SELECT {} FROM generate_series(1, 100) AS i").format(
            sql.Identifier(name), defined
        )
    )
    return name


def publish(connection, target, source, method="k_mii", options=K5):
    return connection.execute(
        "SELECT sanitize.publish(%s, %s::pg_catalog.text::pg_catalog.regclass, %s, %s)",
        [target, source, method, options],
    ).fetchone()[0]


def refresh(connection, target):
    return connection.execute(
        "SELECT sanitize.refresh(%s::pg_catalog.text::pg_catalog.regclass)", [target]
    ).fetchone()[0]


def record(connection, target):
    """(rows, how many publishes and refreshes there were)"""
    rows = connection.execute(
        "SELECT rows FROM sanitize.releases WHERE target = to_regclass(%s)", [target]
    ).fetchone()
    entries = connection.execute(
        "SELECT count(*) FROM sanitize.release_entry WHERE target IN (%s, 'public.' || %s)",
        [target, target],
    ).fetchone()[0]
    return rows and rows[0], entries


def wait_for(connection, condition, parameters=()):
    """Waits until a query returns true."""
    deadline = time.monotonic() + 30
    while not connection.execute(condition, parameters).fetchone()[0]:
        assert time.monotonic() < deadline, condition
        time.sleep(0.01)


WAITS = """SELECT coalesce(bool_or(wait_event_type = 'Lock'), false) FROM pg_stat_activity WHERE pid = %s"""


class Background(threading.Thread):
    """Runs a statement on a connection of its own and keeps what came of it."""

    def __init__(self, database, statement, user=None):
        super().__init__()
        self.connection = database.connect(user)
        self.statement, self.result, self.error = statement, None, None
        self.start()

    def run(self):
        try:
            self.result = self.connection.execute(self.statement).fetchone()[0]
        except psycopg.Error as error:
            self.error = error


class WithIsolation:
    """Connections whose transactions have that isolation."""

    def __init__(self, database, isolation):
        self.database, self.isolation = database, isolation

    def connect(self, user=None):
        connection = self.database.connect(user)
        connection.execute(f"SET default_transaction_isolation = '{self.isolation}'")
        return connection


def slow_view(connection, source, seconds=10):
    """A view of the source that takes that long to read."""
    name = fresh_name("slow")
    connection.execute(f"""
        CREATE VIEW {name} AS SELECT * FROM (SELECT * FROM {source} LIMIT 1000) AS few
            WHERE pg_sleep({seconds / 1000}) IS NOT NULL""")
    return name
