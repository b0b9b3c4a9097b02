"""A real standby: it charges nothing, and after a promotion nothing until somebody has confirmed."""

import os
import pwd
import shutil
import subprocess
import tempfile
import time

import psycopg
import pytest
from helpers import program

PORT = "55999"


@pytest.fixture(scope="module")
def charged(database):
    """A protected table of which something is spent."""
    with database.connect() as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT i AS id FROM generate_series(1, 100) AS i"
        )
        connection.execute("SELECT sanitize.protect('people', 'id', 10)")
        connection.execute("SELECT sanitize.charge('people', 'test', 2)")


@pytest.fixture(scope="module")
def standby(database, charged):
    """A running standby of the server under test: its socket folder and a function that promotes."""
    with database.connect() as connection:
        owner = os.stat(f"/proc/{connection.info.backend_pid}").st_uid
    # PostgreSQL does not run as root, and only the owner of its files may start it.
    user = [] if os.geteuid() == owner else ["runuser", "-u", pwd.getpwuid(owner).pw_name, "--"]
    folder = tempfile.mkdtemp(dir="/tmp", prefix="standby")
    shutil.chown(folder, owner)
    data = os.path.join(folder, "data")

    def run(name, *arguments):
        command = [*user, program(name), *arguments]
        done = subprocess.run(command, cwd="/", capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr + done.stdout

    server = {key: os.environ[key] for key in ("PGHOST", "PGPORT", "PGUSER") if key in os.environ}
    flags = {"PGHOST": "--host", "PGPORT": "--port", "PGUSER": "--username"}
    connect = [f"{flags[key]}={value}" for key, value in server.items()]
    run(
        "pg_basebackup",
        *connect,
        f"--pgdata={data}",
        "--write-recovery-conf",
        "--checkpoint=fast",
        "--no-sync",
    )
    options = f"-c port={PORT} -c unix_socket_directories={folder} -c listen_addresses=''"
    log = os.path.join(folder, "log")
    run("pg_ctl", "start", "--wait", f"--pgdata={data}", f"--log={log}", f"--options={options}")
    try:
        yield folder, lambda: run("pg_ctl", "promote", "--wait", f"--pgdata={data}")
    finally:
        run("pg_ctl", "stop", "--mode=immediate", f"--pgdata={data}")
        shutil.rmtree(folder)


def test_a_standby_charges_nothing_until_it_is_promoted_and_confirmed(database, standby):
    folder, promote = standby
    charge = "SELECT sanitize.charge('people', 'test', 1)"
    ask = """SELECT value FROM sanitize.dp_aggregate('people', '{"n": "count"}', 1)"""
    budget = "SELECT epsilon, epsilon_spent FROM sanitize.budget"
    with psycopg.connect(host=folder, port=PORT, dbname=database.name, autocommit=True) as replica:
        # The ledger can be read there, but not written.
        assert replica.execute(budget).fetchone() == (10, 2)
        for query in (charge, ask):
            with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
                replica.execute(query)
        promote()
        deadline = time.monotonic() + 30
        while replica.execute("SELECT pg_is_in_recovery()").fetchone()[0]:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        # The old primary may have spent since: somebody has to know that it has not.
        for query in (charge, ask):
            with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState) as error:
                replica.execute(query)
            assert "confirm_ledger" in error.value.diag.message_hint
        replica.execute("SELECT sanitize.confirm_ledger()")
        replica.execute(charge)
        assert replica.execute(budget).fetchone() == (10, 3)
    # The primary goes on by itself, with its own count.
    with database.connect() as primary:
        assert primary.execute(budget).fetchone() == (10, 2)
        primary.execute(charge)
