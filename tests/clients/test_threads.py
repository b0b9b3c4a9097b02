"""The threads of a call: its phases share one pool, and none outlives the call."""

import threading
import time
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from helpers import cancel_after

THREADS = 3


@pytest.fixture
def many(connection):
    connection.execute(
        """CREATE TABLE IF NOT EXISTS many AS
        SELECT i % 7 AS a, i % 11 AS b, i::bigint * 7919 % 101 AS c, i::bigint * 104729 % 1009 AS d, i % 13 AS kept
        FROM generate_series(1, 200000) AS i"""
    )
    connection.execute(f"SET pg_sanitize.threads = {THREADS}")
    return connection


def tasks(connection):
    return {task.name for task in Path(f"/proc/{connection.info.backend_pid}/task").iterdir()}


@contextmanager
def threads_seen(connection):
    """All threads that the backend has at some time in this block, its own included."""
    seen, stop = set(), threading.Event()

    def watch():
        while not stop.wait(0.0005):
            seen.update(tasks(connection))

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield seen
    finally:
        stop.set()
        watching.join()


def assert_alone(connection):
    """Threads that were told to end are gone soon."""
    until = time.monotonic() + 5
    while len(tasks(connection)) > 1 and time.monotonic() < until:
        time.sleep(0.01)
    assert len(tasks(connection)) == 1


def test_the_phases_of_a_call_share_their_threads(many):
    """Reading, choosing columns, suppressing and releasing."""
    query = "SELECT count(*) FROM sanitize.k_anonymize(NULL::many, 5, keep => '{kept}')"
    with threads_seen(many) as seen:
        many.execute(query)
    assert len(seen) == 1 + THREADS
    assert_alone(many)
    # The setting counts for each call anew.
    many.execute("SET pg_sanitize.threads = 1")
    with threads_seen(many) as seen:
        many.execute(query)
    assert len(seen) == 2
    assert_alone(many)


def test_no_thread_outlives_an_error(many):
    with cancel_after(many, 0.2), pytest.raises(psycopg.errors.QueryCanceled):
        many.execute("SELECT count(*) FROM sanitize.k_anonymize(NULL::many, 5, generalize => true)")
        many.execute("SELECT pg_sleep(5)")
    assert_alone(many)
    many.execute("SET pg_sanitize.max_memory = '1MB'")
    with pytest.raises(psycopg.errors.ConfigurationLimitExceeded):
        many.execute("SELECT count(*) FROM sanitize.k_anonymize(NULL::many, 5)")
    assert_alone(many)
