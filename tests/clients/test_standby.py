"""A real standby: it charges nothing, and after a promotion nothing until somebody has confirmed."""

import os
import time

import psycopg
import pytest
from helpers import OwnServer


@pytest.fixture(scope="module")
def charged(database):
    """A protected table of which something is spent."""
    with database.connect() as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT i AS id FROM generate_series(1, 100) AS i"
        )
        connection.execute("SELECT sanitize.protect('people', 'id', 10, max_rows_per_unit => 1)")
        connection.execute("SELECT sanitize.charge('people', 'test', 2)")


@pytest.fixture(scope="module")
def standby(database, charged):
    """A running standby of the server under test."""
    server = OwnServer(port=55999)
    flags = {"PGHOST": "--host", "PGPORT": "--port", "PGUSER": "--username"}
    connect = [f"{flag}={os.environ[key]}" for key, flag in flags.items() if key in os.environ]
    server.run(
        "pg_basebackup",
        *connect,
        f"--pgdata={server.data}",
        "--write-recovery-conf",
        "--checkpoint=fast",
        "--no-sync",
    )
    server.start()
    yield server
    server.drop()


def test_a_standby_charges_nothing_until_it_is_promoted_and_confirmed(database, standby):
    charge = "SELECT sanitize.charge('people', 'test', 1)"
    ask = """SELECT value FROM sanitize.dp_aggregate('people', '{"n": "count"}', 1)"""
    budget = "SELECT epsilon, epsilon_spent FROM sanitize.budget"
    with standby.connect(dbname=database.name) as replica:
        # The ledger can be read there, but not written.
        assert replica.execute(budget).fetchone() == (10, 2)
        for query in (charge, ask):
            with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
                replica.execute(query)
        standby.run("pg_ctl", "promote", "--wait", f"--pgdata={standby.data}")
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
