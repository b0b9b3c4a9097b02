"""Releases as tables, through several connections: what readers see during a refresh, and what is left when a
publish ends early."""

import os
import signal
import subprocess
import threading
import time

import psycopg
import pytest
from helpers import Database, fresh_name, patience, program
from publishing import (
    K5,
    ROWS,
    Background,
    make_visits,
    publish,
    record,
    refresh,
    slow_view,
    wait_for,
)


@pytest.fixture
def source(connection):
    return make_visits(connection)


@pytest.fixture
def target():
    return fresh_name("release")


def test_readers_see_one_release_and_do_not_wait(database, connection, source, target):
    publish(connection, target, source)
    connection.execute(
        f"CREATE VIEW {target}_seen AS SELECT count(*), min(version), max(version) FROM {target}"
    )
    stop, failures, longest, reads = threading.Event(), [], [0.0], [0]

    def read(query):
        with database.connect() as reader:
            while not stop.is_set():
                began = time.monotonic()
                count, low, high = reader.execute(query).fetchone()
                longest[0] = max(longest[0], time.monotonic() - began)
                reads[0] += 1
                if count != ROWS or low != high:
                    failures.append((count, low, high))

    queries = [
        f"SELECT * FROM {target}_seen",
        f"SELECT count(*), min(version), max(version) FROM {target}",
    ]
    readers = [threading.Thread(target=read, args=[queries[i % 2]]) for i in range(8)]
    for reader in readers:
        reader.start()
    try:
        for version in range(1, 5):
            connection.execute(f"UPDATE {source} SET version = {version}")
            assert refresh(connection, target)["rows"] == ROWS
    finally:
        stop.set()
        for reader in readers:
            reader.join()
    assert not failures
    assert reads[0] > 20
    assert longest[0] < patience(1)
    assert connection.execute(f"SELECT * FROM {target}_seen").fetchone() == (ROWS, 4, 4)


def test_a_cancelled_publish_leaves_everything_as_it_was(database, connection, source, target):
    publish(connection, target, source)
    before = record(connection, target)
    slow = slow_view(connection, source)
    for name in (target, target + "_new"):
        running = Background(
            database, f"SELECT sanitize.publish('{name}', '{slow}', 'k_mii', '{K5}')"
        )
        wait_for(connection, "SELECT count(*) > 0 FROM sanitize.progress WHERE phase <> 'starting'")
        asked = time.monotonic()
        running.connection.cancel()
        running.join()
        assert time.monotonic() - asked < patience(1)
        assert isinstance(running.error, psycopg.errors.QueryCanceled)
        assert running.connection.execute("SELECT 1").fetchone() == (1,)
    assert record(connection, target) == before
    assert connection.execute(f"SELECT count(*) FROM {target}").fetchone() == (ROWS,)
    assert connection.execute("SELECT to_regclass(%s)", [target + "_new"]).fetchone() == (None,)
    assert connection.execute("SELECT count(*) FROM sanitize.progress").fetchone() == (0,)


def test_progress_is_seen_by_other_connections_with_the_same_rights(
    database, connection, source, target
):
    slow = slow_view(connection, source, 3)
    publisher = database.regular_user(f"SELECT ON {slow}", "CREATE ON SCHEMA public")
    stranger = database.regular_user()
    running = Background(
        database, f"SELECT sanitize.publish('{target}', '{slow}', 'k_mii', '{K5}')", publisher
    )
    seen = "SELECT target, source::text, method, phase, seconds >= 0 FROM sanitize.progress"
    wait_for(connection, "SELECT count(*) > 0 FROM sanitize.progress WHERE phase <> 'starting'")
    for user in (None, publisher):
        with database.connect(user) as other:
            assert other.execute(seen).fetchall() == [
                (f"public.{target}", slow, "k_mii", "reading", True)
            ]
    with database.connect(stranger) as other:
        assert other.execute(seen).fetchall() == []
    running.join()
    assert running.result["rows"] == 1000
    assert connection.execute(seen).fetchall() == []


def test_two_who_publish_under_one_new_name(database, connection, source, target):
    both = [
        Background(database, f"SELECT sanitize.publish('{target}', '{source}', 'k_mii', '{K5}')")
        for _ in range(2)
    ]
    for one in both:
        one.join()
        assert one.error is None
        assert one.result["rows"] == ROWS
    assert record(connection, target) == (ROWS, 2)
    assert connection.execute(f"SELECT count(*) FROM {target}").fetchone() == (ROWS,)


def test_the_source_cannot_change_its_columns_meanwhile(database, connection, source, target):
    slow = slow_view(connection, source, 3)
    running = Background(
        database, f"SELECT sanitize.publish('{target}', '{slow}', 'k_mii', '{K5}')"
    )
    wait_for(connection, "SELECT count(*) > 0 FROM sanitize.progress WHERE phase <> 'starting'")
    with database.connect() as other:
        other.execute("SET lock_timeout = '100ms'")
        for change in (
            f"ALTER TABLE {source} ALTER COLUMN ward TYPE text",
            f"DROP VIEW {slow}",
            f"ALTER TABLE {source} RENAME COLUMN day TO other",
        ):
            with pytest.raises(
                (psycopg.errors.LockNotAvailable, psycopg.errors.FeatureNotSupported)
            ):
                other.execute(change)
    running.join()
    assert running.error is None


def test_kill_9_of_the_publisher(database, connection, source, target):
    publish(connection, target, source)
    before = record(connection, target)
    slow = slow_view(connection, source)
    running = Background(
        database, f"SELECT sanitize.publish('{target}', '{slow}', 'k_mii', '{K5}')"
    )
    wait_for(connection, "SELECT count(*) > 0 FROM sanitize.progress WHERE phase <> 'starting'")
    os.kill(running.connection.info.backend_pid, signal.SIGKILL)
    running.join()
    deadline = time.monotonic() + 60
    while True:
        try:
            with database.admin() as admin:
                assert record(admin, target) == before
                assert admin.execute(f"SELECT count(*) FROM {target}").fetchone() == (ROWS,)
                assert admin.execute("SELECT count(*) FROM sanitize.progress").fetchone() == (0,)
                assert refresh(admin, target)["rows"] == ROWS
                break
        except psycopg.OperationalError:
            assert time.monotonic() < deadline, "the server did not come back"
            time.sleep(0.2)


def test_a_dump_carries_releases_and_their_records(database, connection, source):
    target = fresh_name("Dumped 'release'")
    quoted = f'"{target}"'
    publish(connection, quoted, source)
    refresh(connection, quoted)
    gone = fresh_name("gone")
    publish(connection, gone, source)
    connection.execute(f"DROP TABLE {gone}")
    dump = subprocess.run(
        [program("pg_dump"), "--dbname", database.name], capture_output=True, text=True, check=True
    ).stdout
    copy = Database(fresh_name("restored"), extension=False)
    try:
        command = [program("psql"), "-q", "-X", "--set=ON_ERROR_STOP=1", "--dbname", copy.name]
        subprocess.run(command, input=dump, text=True, check=True, stdout=subprocess.DEVNULL)
        with copy.admin() as admin:
            query = "SELECT target::text, source::text, method, options, guarantee, rows FROM sanitize.releases ORDER BY 1"
            assert admin.execute(query).fetchall() == connection.execute(query).fetchall()
            entries = "SELECT count(*), max(id) FROM sanitize.release_entry"
            assert admin.execute(entries).fetchone() == connection.execute(entries).fetchone()
            assert admin.execute(f"SELECT count(*) FROM {quoted}").fetchone() == (ROWS,)
            label = refresh(admin, quoted)
            assert label["rows"] == ROWS
            assert any(line.startswith("composition: 3 earlier") for line in label["not_covered"])
            # Without the extension the table is a table.
            admin.execute("DROP EXTENSION pg_sanitize CASCADE")
            assert admin.execute(f"SELECT count(*) FROM {quoted}").fetchone() == (ROWS,)
    finally:
        copy.drop()


def test_logical_replication_of_a_release_can_delete(connection, source, target):
    """A publication for tables that delete needs to know rows: a release has no key."""
    publish(connection, target, source)
    connection.execute(f"CREATE PUBLICATION {target}_p FOR TABLE {target}")
    assert refresh(connection, target)["rows"] == ROWS
    assert connection.execute(
        "SELECT count(*) FROM pg_publication_tables WHERE tablename = %s", [target]
    ).fetchone() == (1,)


def test_a_source_without_columns_is_refused(connection, target):
    connection.execute(f"CREATE TABLE {target}_bare ()")
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="has no columns"):
        publish(connection, target, f"{target}_bare")
