"""pgBouncer in transaction mode: clients share connections, and budgets, settings and releases hold."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from helpers import cancel_after, fresh_name, patience
from pooler import Pooler
from publishing import K5, ROWS, Background, make_visits, publish, refresh, slow_view, wait_for

CONNECTIONS = 3
COUNT = """SELECT value FROM sanitize.dp_aggregate('people', '{"n": "count"}', %s)"""


@pytest.fixture(scope="module")
def roles(database):
    """Two roles without special rights: one asks, one publishes."""
    return database.regular_user(), database.regular_user("CREATE ON SCHEMA public")


class Pooled:
    """The tests' database through a pooler."""

    def __init__(self, database, *users):
        self.name = database.name
        server = f"host={os.environ['PGHOST']} port={os.environ['PGPORT']}"
        passwords = dict.fromkeys([os.environ["PGUSER"], *users], "")
        self.pooler = Pooler(server, passwords, port=55994, connections=CONNECTIONS)

    def connect(self, user=None):
        return self.pooler.connect(self.name, user or os.environ["PGUSER"])


@pytest.fixture(scope="module")
def pooled(database, roles):
    made = Pooled(database, *roles)
    yield made
    made.pooler.drop()


@pytest.fixture
def release(connection, pooled, roles):
    """A release that the publishing role made through the pooler, and its source."""
    source, target = make_visits(connection), fresh_name("pooled")
    connection.execute(f"GRANT SELECT ON {source} TO {roles[1]}")
    with pooled.connect(roles[1]) as publisher:
        publish(publisher, target, source)
    return source, target


def test_clients_share_connections(pooled):
    """Else nothing here would be tried."""
    clients = [pooled.connect() for _ in range(3 * CONNECTIONS)]
    pids = {client.execute("SELECT pg_backend_pid()").fetchone()[0] for client in clients}
    assert len(pids) <= CONNECTIONS
    for client in clients:
        client.close()


def test_the_budget_is_charged_exactly_and_to_the_role_that_asked(connection, pooled, roles):
    asker, _ = roles
    connection.execute("CREATE TABLE people AS SELECT i AS id FROM generate_series(1, 1000) AS i")
    connection.execute("SELECT sanitize.protect('people', 'id', 10, max_rows_per_unit => 1)")
    connection.execute("SELECT sanitize.allow('people', %s, 1)", [asker])

    def ask(_):
        with pooled.connect(asker) as client:
            try:
                return client.execute(COUNT, [0.1]).fetchone()[0]
            except psycopg.Error as error:
                return error.sqlstate

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(ask, range(20)))
    assert answers.count("PS001") == 10
    assert len(set(answers)) > 5, "noise is drawn anew in each call"
    spent = connection.execute(
        "SELECT who::text, count(*), sum(epsilon::numeric) FROM sanitize.ledger GROUP BY who"
    ).fetchall()
    assert spent == [(asker, 10, 1)]
    # The other role shares the pooler and no allowance.
    with pooled.connect(roles[1]) as other, pytest.raises(psycopg.errors.InsufficientPrivilege):
        other.execute(COUNT, [0.1])
    # An answer that is there already is free, whichever connection made it.
    reuse = COUNT.replace("%s)", "1, reuse => '1 hour')")
    owner = [pooled.connect() for _ in range(4)]
    assert len({client.execute(reuse).fetchone()[0] for client in owner}) == 1
    for client in owner:
        client.close()


def test_a_rollback_gives_nothing_back(connection, pooled, roles):
    spent = "SELECT epsilon_spent FROM sanitize.budget WHERE source = 'people'::regclass AND grantee IS NULL"
    before = connection.execute(spent).fetchone()[0]
    with pooled.connect() as client, client.transaction(force_rollback=True):
        client.execute(COUNT, [0.5])
    assert float(connection.execute(spent).fetchone()[0] - before) == 0.5


def test_a_setting_of_one_transaction_ends_with_it(pooled, roles, release):
    source, _ = release
    _, publisher = roles
    show = "SHOW pg_sanitize.max_itemsets"
    with pooled.connect(publisher) as client:
        usual = client.execute(show).fetchone()
        with client.transaction(force_rollback=True):
            client.execute("SET LOCAL pg_sanitize.max_itemsets = 1")
            with pytest.raises(psycopg.errors.ConfigurationLimitExceeded):
                client.execute(f"SELECT * FROM sanitize.mine_miis('{source}', 100)")
        others = [pooled.connect(publisher) for _ in range(2 * CONNECTIONS)]
        for other in others:
            assert other.execute(show).fetchone() == usual
            other.close()


def test_a_fixed_snapshot_is_refused_as_without_a_pooler(database, connection, pooled):
    refused = []
    for client in (database.connect(), pooled.connect()):
        with client, client.transaction(force_rollback=True):
            client.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            client.execute("SELECT 1")
            with pytest.raises(psycopg.Error) as error:
                client.execute(
                    "SELECT sanitize.protect('people', 'id', 20, max_rows_per_unit => 1)"
                )
            refused.append((error.value.sqlstate, error.value.diag.message_primary))
    assert refused[0] == refused[1]


def test_readers_see_one_release(connection, pooled, roles, release):
    source, target = release
    _, publisher = roles
    query = f"SELECT count(*), min(version), max(version) FROM {target}"
    stop, failures, versions = threading.Event(), [], set()

    def read():
        while not stop.is_set():
            with pooled.connect(publisher) as reader:
                count, low, high = reader.execute(query).fetchone()
                versions.add(high)
                if count != ROWS or low != high:
                    failures.append((count, low, high))

    readers = [threading.Thread(target=read) for _ in range(6)]
    for reader in readers:
        reader.start()
    try:
        for version in (1, 2, 3):
            connection.execute(f"UPDATE {source} SET version = {version}")
            with pooled.connect(publisher) as client:
                refresh(client, target)
            time.sleep(0.1)
    finally:
        stop.set()
        for reader in readers:
            reader.join()
    assert not failures and versions >= {1, 2, 3}


def test_progress_is_seen_and_a_cancel_arrives(connection, pooled, roles, release):
    source, _ = release
    _, publisher = roles
    slow, target = slow_view(connection, source), fresh_name("slow")
    connection.execute(f"GRANT SELECT ON {slow} TO {publisher}")
    running = Background(
        pooled, f"SELECT sanitize.publish('{target}', '{slow}', 'k_mii', '{K5}')", publisher
    )
    with pooled.connect(publisher) as watcher:
        wait_for(
            watcher,
            "SELECT count(*) = 1 FROM sanitize.progress WHERE target = %s",
            [f"public.{target}"],
        )
        began = time.monotonic()
        with cancel_after(running.connection, 0):
            running.join()
        assert time.monotonic() - began < patience(2)
        assert isinstance(running.error, psycopg.errors.QueryCanceled)
        gone = "SELECT count(*) FROM sanitize.progress WHERE target = %s"
        assert watcher.execute(gone, [target]).fetchone() == (0,)
    running.connection.close()


def test_cursors_live_in_a_transaction(pooled, roles, release):
    _, target = release
    with pooled.connect(roles[1]) as client, client.transaction():
        cursor = client.cursor("export")
        cursor.execute(f"SELECT * FROM {target}")
        assert sum(1 for _ in cursor) == ROWS
