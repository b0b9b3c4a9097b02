"""What client tests use beside fixtures: databases, roles, cancelling, memory, data files."""

import os
import re
import threading
import time
from collections import Counter
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("PG_SANITIZE_DATA") or ROOT.parent / "shared" / "data")

_numbers = count(1)


def fresh_name(stem):
    """A name that no other test run on the same server uses."""
    return f"{stem}_{os.getpid()}_{next(_numbers)}"


class Database:
    """A fresh database, with the extension in it unless told otherwise, and connections to it."""

    def __init__(self, name, extension=True):
        self.name = name
        self._open = []
        self._roles = []
        with psycopg.connect(dbname="postgres", autocommit=True) as server:
            server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        if extension:
            with self.admin() as admin:
                admin.execute("CREATE EXTENSION pg_sanitize")

    def connect(self, user=None, **options):
        """A connection in autocommit mode, closed with the database at the latest."""
        options = {"autocommit": True, **({"user": user} if user else {}), **options}
        connection = psycopg.connect(dbname=self.name, **options)
        self._open.append(connection)
        return connection

    def regular_user(self, *grants):
        """The name of a new role that may log in and has no rights but what PUBLIC has and these
        GRANT clauses say: regular_user("SELECT ON patients")."""
        name = fresh_name("regular")
        with self.admin() as admin:
            admin.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(name)))
            self._roles.append(name)
            for clause in grants:
                admin.execute(f'GRANT {clause} TO "{name}"')
        return name

    @contextmanager
    def admin(self):
        with psycopg.connect(dbname=self.name, autocommit=True) as connection:
            yield connection

    def drop(self):
        for connection in self._open:
            connection.close()
        with self.admin() as admin:
            for name in self._roles:
                admin.execute(sql.SQL("DROP OWNED BY {}").format(sql.Identifier(name)))
        with psycopg.connect(dbname="postgres", autocommit=True) as server:
            server.execute(
                sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(self.name))
            )
            for name in self._roles:
                server.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))


@contextmanager
def cancel_after(connection, seconds):
    """Sends a cancel request to what the connection runs in this block when the time is up."""
    timer = threading.Timer(seconds, connection.cancel_safe)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


def assert_stops(database, phase, query, how):
    """The first progress line of the phase triggers the request (how: cancel or terminate); the
    answer must come in 1 s."""
    connection = database.connect()
    reached = threading.Event()
    asked = []

    def ask():
        if not reached.wait(60):
            return
        with database.connect() as other:
            pid = connection.info.backend_pid
            function = {"cancel": "pg_cancel_backend", "terminate": "pg_terminate_backend"}[how]
            asked.append(time.monotonic())
            other.execute(f"SELECT {function}(%s)", [pid])

    connection.add_notice_handler(
        lambda notice: reached.set() if f"pg_sanitize: {phase}," in notice.message_primary else None
    )
    connection.execute("SET pg_sanitize.progress = 1")
    connection.execute("SET max_parallel_workers_per_gather = 0")
    asker = threading.Thread(target=ask)
    asker.start()
    expected = {
        "cancel": psycopg.errors.QueryCanceled,
        "terminate": psycopg.errors.AdminShutdown,
    }[how]
    with pytest.raises(expected):
        connection.execute(query)
    ended = time.monotonic()
    asker.join()
    assert ended - asked[0] < 1.0
    if how == "cancel":
        assert connection.execute("SELECT 1").fetchone() == (1,)


def peak_memory(connection):
    """The most resident memory that the connection's backend has ever had, in bytes."""
    status = Path(f"/proc/{connection.info.backend_pid}/status").read_text()
    return int(re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)[1]) * 1024


def data_file(path):
    """A file of the data folder; the test is skipped by name where there is none."""
    found = DATA / path
    if not found.exists():
        pytest.skip(f"no {path} in {DATA} (PG_SANITIZE_DATA names the folder)")
    return found


def read_lucs(path):
    """The rows of a LUCS-KDD .num file that have the most common length: position = column."""
    rows = [line.split() for line in data_file(path).read_text().splitlines() if line.strip()]
    width, _ = Counter(map(len, rows)).most_common(1)[0]
    return [row for row in rows if len(row) == width]


def load_lucs(connection, path, table, repeat=1):
    """Makes a table with text columns c1, c2, … of such a file; returns its rows and columns."""
    rows = read_lucs(path)
    width = len(rows[0])
    columns = sql.SQL(", ").join(sql.SQL(f"c{i} text") for i in range(1, width + 1))
    connection.execute(sql.SQL("CREATE TABLE {} ({})").format(sql.Identifier(table), columns))
    text = "".join("\t".join(row) + "\n" for row in rows)
    copy = sql.SQL("COPY {} FROM STDIN").format(sql.Identifier(table))
    with connection.cursor().copy(copy) as stream:
        for _ in range(repeat):
            stream.write(text)
    connection.execute(sql.SQL("ANALYZE {}").format(sql.Identifier(table)))
    return len(rows) * repeat, width


def array_table(connection, name, columns, levels, strength):
    """A table of an orthogonal array's rows."""
    cells = sql.SQL(", ").join(sql.SQL(f"r[{i}] AS c{i}") for i in range(1, columns + 1))
    query = "CREATE TABLE {} AS SELECT {} FROM sanitize.orthogonal_array({}, {}, {}) AS r"
    connection.execute(
        sql.SQL(query).format(sql.Identifier(name), cells, columns, levels, strength)
    )
