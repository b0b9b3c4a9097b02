"""What client tests use beside fixtures: databases, roles, cancelling, memory, data files."""

import os
import pwd
import re
import shutil
import subprocess
import tempfile
import threading
import time
from bisect import bisect
from collections import Counter
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("PG_SANITIZE_DATA") or ROOT.parent / "shared" / "data")
# Set by `make soak`: bounds on time are those of a machine that does nothing else, and tests that depend on the clock run.
SOAK = "PG_SANITIZE_SOAK" in os.environ

_numbers = count(1)


def fresh_name(stem):
    """A name that no other test run on the same server uses."""
    return f"{stem}_{os.getpid()}_{next(_numbers)}"


class Database:
    """A fresh database, with the extension in it unless told otherwise, and connections to it."""

    def __init__(self, name, extension=True, encoding=None):
        self.name = name
        self._open = []
        self._roles = []
        with psycopg.connect(dbname="postgres", autocommit=True) as server:
            options = f" ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0" if encoding else ""
            create = sql.SQL("CREATE DATABASE {}" + options).format(sql.Identifier(name))
            server.execute(create)
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


def wait_until(condition, seconds, what):
    """Waits until the condition holds; what is said if it never does."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


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


def patience(seconds):
    """A bound on time: as it is in `make soak`, on a machine that does nothing else; ten times as long in `make test`,
    where it only keeps what has ended from what has not."""
    return seconds if SOAK else 10 * seconds


def assert_stops(database, phase, query, how="cancel"):
    """The first progress line of the phase triggers the request (how: cancel or terminate); the
    answer must come in a second."""
    connection = database.connect()
    reached = threading.Event()
    asked = []

    def ask():
        reached.wait(patience(60))
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
    assert reached.is_set()
    assert ended - asked[0] < patience(1)
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


def read_lucs(path, incomplete=False):
    """The rows of a LUCS-KDD .num file that have the most common length: position = column.

    With `incomplete` also the shorter ones, None where a column has no item. Items are numbered
    column by column, so an item that only such rows have lies in the column of its neighbours.
    """
    rows = [line.split() for line in data_file(path).read_text().splitlines() if line.strip()]
    width, _ = Counter(map(len, rows)).most_common(1)[0]
    if not incomplete:
        return [row for row in rows if len(row) == width]
    columns = {item: i for row in rows if len(row) == width for i, item in enumerate(row)}
    known = sorted(map(int, columns))
    placed = []
    for row in rows:
        cells = [None] * width
        strange = []
        for item in row:
            if item in columns:
                cells[columns[item]] = item
            else:
                strange.append(item)
        for item in strange:
            around = bisect(known, int(item))
            near = [columns[str(n)] for n in known[max(around - 1, 0) : around + 1]]
            cells[next(column for column in near if cells[column] is None)] = item
        placed.append(cells)
    return placed


def load_lucs(connection, path, table, repeat=1, incomplete=False):
    """Makes a table with text columns c1, c2, … of such a file; returns its rows and columns."""
    rows = read_lucs(path, incomplete)
    width = len(rows[0])
    columns = sql.SQL(", ").join(sql.SQL(f"c{i} text") for i in range(1, width + 1))
    connection.execute(sql.SQL("CREATE TABLE {} ({})").format(sql.Identifier(table), columns))
    text = "".join("\t".join(cell or r"\N" for cell in row) + "\n" for row in rows)
    copy = sql.SQL("COPY {} FROM STDIN").format(sql.Identifier(table))
    with connection.cursor().copy(copy) as stream:
        for _ in range(repeat):
            stream.write(text)
    connection.execute(sql.SQL("ANALYZE {}").format(sql.Identifier(table)))
    return len(rows) * repeat, width


def load_items(connection, path, table):
    """Makes a table with a column per item of such a file, the most frequent first, that is '1' or
    NULL: the order in which the authors' program of Krimp knows items."""
    rows = [line.split() for line in data_file(path).read_text().splitlines() if line.strip()]
    supports = Counter(item for row in rows for item in row)
    items = sorted(supports, key=lambda item: (-supports[item], int(item)))
    columns = sql.SQL(", ").join(sql.SQL(f"i{item} text") for item in items)
    connection.execute(sql.SQL("CREATE TABLE {} ({})").format(sql.Identifier(table), columns))
    with connection.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(sql.Identifier(table))) as s:
        for row in map(set, rows):
            s.write("\t".join("1" if item in row else r"\N" for item in items) + "\n")


def program(name):
    """A program of the server's own version: it lies beside the one that runs."""
    with psycopg.connect(dbname="postgres") as server:
        executable = os.readlink(f"/proc/{server.info.backend_pid}/exe")
    return os.path.join(os.path.dirname(executable), name)


def server_owner():
    """Whose process the server under test is."""
    with psycopg.connect(dbname="postgres") as server:
        return pwd.getpwuid(os.stat(f"/proc/{server.info.backend_pid}").st_uid)


def server_folder():
    """A new folder with a short path, of the user who runs the server under test."""
    folder = tempfile.mkdtemp(dir="/tmp", prefix="server")
    shutil.chown(folder, server_owner().pw_uid)
    return folder


class OwnServer:
    """A folder for a server beside the one under test, of the same version and under the same user.
    Its programs are those of the one under test, unless a folder with others is named."""

    def __init__(self, port, listen="", programs=None):
        self.port, self.listen = port, listen
        self._programs = programs or os.path.dirname(program("postgres"))
        # PostgreSQL does not run as root, and only the owner of its files may start it.
        owner = server_owner()
        same = os.geteuid() == owner.pw_uid
        self._user = [] if same else ["runuser", "-u", owner.pw_name, "--"]
        self.folder = server_folder()
        self.data = os.path.join(self.folder, "data")

    def run(self, name, *arguments, **environment):
        """Runs a program of the server."""
        command = [*self._user, os.path.join(self._programs, name), *arguments]
        environment = {**os.environ, **environment}
        done = subprocess.run(
            command, cwd="/", capture_output=True, text=True, timeout=120, env=environment
        )
        assert done.returncode == 0, done.stderr + done.stdout

    def initialise(self, *settings):
        """A new cluster with these lines in its configuration. Only who comes by TCP needs a password."""
        self.run(
            "initdb",
            f"--pgdata={self.data}",
            "--username=postgres",
            "--auth-local=trust",
            "--auth-host=scram-sha-256",
            "--encoding=UTF8",
            "--no-locale",
            "--no-sync",
        )
        with open(os.path.join(self.data, "postgresql.conf"), "a") as file:
            file.writelines(f"{line}\n" for line in ("fsync = off", *settings))

    def start(self, **environment):
        options = f"-c port={self.port} -c unix_socket_directories={self.folder} -c listen_addresses='{self.listen}'"
        log = os.path.join(self.folder, "log")
        self.run(
            "pg_ctl",
            "start",
            "--wait",
            f"--pgdata={self.data}",
            f"--log={log}",
            f"--options={options}",
            **environment,
        )

    def connect(self, **options):
        return psycopg.connect(host=self.folder, port=self.port, autocommit=True, **options)

    def stop(self, mode):
        self.run("pg_ctl", "stop", f"--mode={mode}", f"--pgdata={self.data}")

    def drop(self):
        self.stop("immediate")
        shutil.rmtree(self.folder)


def array_table(connection, name, columns, levels, strength):
    """A table of an orthogonal array's rows."""
    cells = sql.SQL(", ").join(sql.SQL(f"r[{i}] AS c{i}") for i in range(1, columns + 1))
    query = "CREATE TABLE {} AS SELECT {} FROM sanitize.orthogonal_array({}, {}, {}) AS r"
    connection.execute(
        sql.SQL(query).format(sql.Identifier(name), cells, columns, levels, strength)
    )


def chi_square(law, seen, draws):
    """How far counts are from a law, in standard deviations (Wilson and Hilferty)."""
    statistic = sum((seen[x] - p * draws) ** 2 / (p * draws) for x, p in law.items())
    freedom = len(law) - 1
    spread = 2 / (9 * freedom)
    return ((statistic / freedom) ** (1 / 3) - (1 - spread)) / spread**0.5
