"""Entropy loss through a real client: a million rows, and long calls that stop."""

import time

import psycopg
import pytest
from helpers import assert_stops, patience

MILLION = "CREATE TABLE IF NOT EXISTS million AS SELECT (i::int8 * 7919 % 97)::int AS age FROM generate_series(1, 1000000) AS i"
AGES = "SELECT jsonb_agg(i) FROM generate_series(0, 120) AS i"


def test_a_million_rows_of_a_small_domain_take_seconds(connection):
    connection.execute(MILLION)
    start = time.monotonic()
    for statistic in ["sum", "mean", "count", "min", "max"]:
        loss, kl, ratio = connection.execute(
            "SELECT loss, kl, max_log_ratio"
            f" FROM sanitize.entropy_loss_of('million', 'age', '{statistic}', ({AGES}))"
        ).fetchone()
        assert kl >= -1e-15 and ratio >= 0
        assert abs(loss - kl) < 1e-9  # the prior is uniform
        if statistic == "sum":
            # Of such a mean, 48 of 0..120, each age is likely as under the tilted prior.
            assert 0.03 < kl < 0.2
    assert time.monotonic() - start < patience(60)


def test_no_result_depends_on_the_threads(connection):
    connection.execute(MILLION)
    results = []
    for threads in [1, 2, 4]:
        connection.execute(f"SET pg_sanitize.threads = {threads}")
        results.append(
            connection.execute(
                f"SELECT * FROM sanitize.entropy_loss_of('million', 'age', 'mean', ({AGES}), 2)"
            ).fetchone()
        )
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("how", ["cancel", "terminate"])
def test_a_long_call_stops(database, how):
    """A thousand values far apart: a minute, if nobody stopped it."""
    query = """SELECT * FROM sanitize.entropy_loss(
        (SELECT array_agg(i * i) FROM generate_series(0, 999) AS i),
        (SELECT array_agg(0.001) FROM generate_series(0, 999)), 8, 3000000)"""
    assert_stops(database, "measuring", query, how)


def test_whoever_may_not_read_learns_nothing(database, connection, regular_user):
    connection.execute("CREATE TABLE hidden AS SELECT 1 AS x")
    with (
        database.connect(user=regular_user()) as user,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        user.execute("SELECT * FROM sanitize.entropy_loss_of('hidden', 'x', prior => '[0, 1]')")
