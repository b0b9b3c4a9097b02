"""Logical replication of a release to a server that has no pg_sanitize: refreshes arrive whole, the source's
values never."""

import os
import subprocess
import threading

import psycopg
import pytest
from helpers import OwnServer, program
from publishing import publish, refresh, wait_for

ROWS = 2000
SYNCHRONISED = "SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel"
# What the job of a replicated release runs: the label travels as a row, as comments do not.
JOB = """
    WITH refreshed AS (SELECT sanitize.refresh('visits_public') AS label)
    INSERT INTO labels SELECT 'visits_public', label FROM refreshed
    ON CONFLICT (release) DO UPDATE SET label = EXCLUDED.label"""


@pytest.fixture(scope="module")
def publisher():
    """A server with a table of visits and a release of it."""
    server = OwnServer(port=55996)
    server.initialise("wal_level = logical")
    server.start()
    with connect(server) as admin:
        admin.execute("CREATE EXTENSION pg_sanitize")
        admin.execute("CREATE ROLE replicator REPLICATION LOGIN")
        admin.execute(f"""CREATE TABLE visits AS
            SELECT 'secret ' || i AS name, 'ward ' || i % 5 AS ward, 0 AS version
              FROM generate_series(1, {ROWS}) AS i""")
        admin.execute("INSERT INTO visits VALUES ('secret 0', 'secret ward', 0)")
        publish(
            admin, "visits_public", "visits", "k_mii", '{"k": 5, "columns": ["ward", "version"]}'
        )
        admin.execute("CREATE TABLE labels (release text PRIMARY KEY, label jsonb)")
        admin.execute("GRANT SELECT ON visits_public, labels TO replicator")
        admin.execute("CREATE PUBLICATION releases FOR TABLE visits_public, labels")
    yield server
    server.drop()


@pytest.fixture(scope="module")
def subscriber(publisher):
    """A server that has the release's table and subscribes to it as a role that may read no other."""
    server = OwnServer(port=55995)
    server.initialise()
    server.start()
    tables = ["--table=visits_public", "--table=labels"]
    dump = subprocess.run(
        [
            program("pg_dump"),
            *at(publisher),
            "--schema-only",
            "--no-owner",
            "--no-acl",
            *tables,
            "postgres",
        ],
        capture_output=True,
        check=True,
    ).stdout
    load = [program("psql"), *at(server), "-X", "-q", "-v", "ON_ERROR_STOP=1", "postgres"]
    subprocess.run(load, input=dump, check=True, stdout=subprocess.DEVNULL)
    with connect(server) as admin:
        admin.execute(f"""CREATE SUBSCRIPTION releases CONNECTION
            'host={publisher.folder} port={publisher.port} user=replicator dbname=postgres'
            PUBLICATION releases""")
        wait_for(admin, SYNCHRONISED)
    yield server
    with connect(server) as admin:
        admin.execute("DROP SUBSCRIPTION releases")
    server.drop()


def connect(server, user="postgres"):
    return server.connect(dbname="postgres", user=user)


def at(server):
    return [f"--host={server.folder}", f"--port={server.port}", "--username=postgres"]


def rows(connection):
    return sorted(connection.execute("SELECT * FROM visits_public").fetchall(), key=str)


def change(connection, version):
    connection.execute("UPDATE visits SET version = %s", [version])
    connection.execute("UPDATE visits SET name = 'secret ' || name WHERE name LIKE '%%7'", [])


def test_the_subscriber_has_the_release_and_its_label(publisher, subscriber):
    with connect(publisher) as sender, connect(subscriber) as receiver:
        assert rows(receiver) == rows(sender)
        comment = "SELECT obj_description('visits_public'::regclass)"
        assert receiver.execute(comment).fetchone() == sender.execute(comment).fetchone()
        assert "k-anonymous" in receiver.execute(comment).fetchone()[0]
    with (
        connect(publisher, "replicator") as replicator,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        replicator.execute("SELECT * FROM visits")


def test_a_refresh_arrives_whole(publisher, subscriber):
    query = "SELECT count(*), min(version), max(version) FROM visits_public"
    stop, failures, versions = threading.Event(), [], set()

    def read():
        with connect(subscriber) as reader:
            while not stop.is_set():
                count, low, high = reader.execute(query).fetchone()
                versions.add(high)
                if count != ROWS or low != high:
                    failures.append((count, low, high))

    with connect(publisher) as sender, connect(subscriber) as receiver:
        readers = [threading.Thread(target=read) for _ in range(2)]
        for reader in readers:
            reader.start()
        try:
            for version in (1, 2, 3):
                change(sender, version)
                sender.execute(JOB)
                wait_for(receiver, f"SELECT min(version) = {version} FROM visits_public")
                # The label came in the same transaction.
                label = "SELECT label FROM labels"
                assert receiver.execute(label).fetchone() == sender.execute(label).fetchone()
        finally:
            stop.set()
            for reader in readers:
                reader.join()
        assert not failures
        assert versions >= {1, 2, 3}
        assert rows(receiver) == rows(sender)


def test_values_of_the_source_do_not_travel(publisher, subscriber):
    with connect(publisher) as sender, connect(subscriber) as receiver:
        sender.execute("SELECT pg_create_logical_replication_slot('watch', 'pgoutput')")
        change(sender, 4)
        sender.execute("INSERT INTO visits VALUES ('secret 1', 'secret ward', 4)")
        sender.execute(JOB)
        wait_for(receiver, "SELECT min(version) = 4 FROM visits_public")
        stream = b"".join(
            data
            for (data,) in sender.execute(
                """SELECT data FROM pg_logical_slot_get_binary_changes('watch', NULL, NULL,
                    'proto_version', '1', 'publication_names', 'releases')"""
            )
        )
        sender.execute("SELECT pg_drop_replication_slot('watch')")
        # All new rows and the label are in the stream, nothing that begins with secret.
        assert stream.count(b"ward 3") >= ROWS // 5 and b"k-anonymity" in stream
        assert b"secret" not in stream
        receiver.execute("CHECKPOINT")
    # Nor is it anywhere on the subscriber's disk: tables, WAL, log.
    assert holds(publisher, b"secret 77") and not holds(subscriber, b"secret")
    assert holds(subscriber, b"ward 3")


def holds(server, word):
    """Whether a file of the server has these bytes."""
    files = (
        os.path.join(folder, name) for folder, _, names in os.walk(server.folder) for name in names
    )
    return any(word in open(file, "rb").read() for file in files if os.path.isfile(file))


def test_who_may_replicate_can_decode_every_change(publisher):
    """A limit of PostgreSQL that the documentation tells: REPLICATION is a right to read all that changes."""
    with connect(publisher) as sender, connect(publisher, "replicator") as replicator:
        replicator.execute("SELECT pg_create_logical_replication_slot('spy', 'test_decoding')")
        sender.execute("INSERT INTO visits VALUES ('secret 2', 'ward 1', 4)")
        changes = replicator.execute(
            "SELECT data FROM pg_logical_slot_get_changes('spy', NULL, NULL)"
        )
        assert any("secret 2" in change for (change,) in changes)
        replicator.execute("SELECT pg_drop_replication_slot('spy')")


def test_refresh_of_a_release_that_is_replicated_survives_a_lost_subscriber(publisher, subscriber):
    """While the subscriber is down the publisher refreshes as ever; it catches up afterwards."""
    with connect(publisher) as sender:
        subscriber.stop("immediate")
        for version in (5, 6):
            change(sender, version)
            assert refresh(sender, "visits_public")["rows"] >= ROWS
        subscriber.start()
        with connect(subscriber) as receiver:
            wait_for(receiver, "SELECT min(version) = 6 FROM visits_public")
            assert rows(receiver) == rows(sender)
