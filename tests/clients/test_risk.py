"""Risk measures and hidden itemsets through a real client: cancelling, a large table, other programs'
figures."""

import math
from fractions import Fraction

import pytest
from helpers import assert_stops


@pytest.fixture(scope="module")
def large(database):
    """A table on which all of them take several seconds, and more itemsets than anybody lists."""
    with database.connect() as connection:
        connection.execute("SET client_min_messages = warning")
        connection.execute("SELECT setseed(0.5)")
        cells = ", ".join(f"floor(30 * random() ^ 2)::int AS c{i}" for i in range(1, 13))
        connection.execute(f"CREATE TABLE crowd AS SELECT {cells} FROM generate_series(1, 300000)")
        connection.execute("CREATE TABLE few_rows AS SELECT * FROM crowd LIMIT 20000")
        pairs = " UNION ALL ".join(
            f"SELECT DISTINCT jsonb_build_object('c{i}', c{i}::text, 'c{j}', c{j}::text) AS items FROM few_rows"
            for i in range(1, 13)
            for j in range(1, i)
        )
        connection.execute(
            f"CREATE TABLE pairs AS SELECT jsonb_agg(items) AS p FROM ({pairs}) AS s"
        )


LONG = [
    ("measuring", "sanitize.unicity('crowd', 6, samples => 200000)"),
    ("measuring", "sanitize.unicity('crowd', 6, samples => 2000000)"),
    ("suppressing", "sanitize.hide_itemsets(NULL::few_rows, (SELECT p FROM pairs), 1)"),
]


@pytest.mark.parametrize("phase, call", LONG, ids=["sampled", "counted", "hidden"])
def test_every_phase_stops_within_a_second(database, large, phase, call):
    assert_stops(database, phase, f"SELECT count(*) FROM {call}")


def clopper_pearson(hits, runs, tail=0.025):
    """The limits by their definition, in exact arithmetic."""

    def at_least(k, p):
        return sum(math.comb(runs, i) * p**i * (1 - p) ** (runs - i) for i in range(k, runs + 1))

    def solve(reached):
        low, high = Fraction(0), Fraction(1)
        for _ in range(30):
            middle = (low + high) / 2
            low, high = (low, middle) if reached(middle) else (middle, high)
        return float(low)

    lower = solve(lambda p: at_least(hits, p) > tail) if hits else 0.0
    upper = solve(lambda p: 1 - at_least(hits + 1, p) < tail) if hits < runs else 1.0
    return lower, upper


def test_intervals_are_those_of_clopper_and_pearson(connection, large):
    for seed in range(3):
        share, low, high = connection.execute(
            "SELECT * FROM sanitize.unicity('few_rows', 4, samples => 20, seed => %s)", [seed]
        ).fetchone()
        assert (low, high) == pytest.approx(clopper_pearson(round(share * 20), 20), abs=1e-6)


def test_a_seed_draws_the_same_and_coins_do_not(connection, large):
    call = "SELECT * FROM sanitize.unicity('few_rows', 4, samples => 900{})"
    seeded = {connection.execute(call.format(", seed => 1")).fetchone() for _ in range(3)}
    assert len(seeded) == 1
    drawn = {connection.execute(call.format("")).fetchone() for _ in range(8)}
    assert len(drawn) > 1


def test_counted_and_sampled_agree(connection, large):
    counted = connection.execute("SELECT * FROM sanitize.unicity('few_rows', 3, samples => 10000)")
    share, low, high = counted.fetchone()
    assert low == share == high
    _, low, high = connection.execute(
        "SELECT * FROM sanitize.unicity('few_rows', 3, samples => 4000, seed => 2)"
    ).fetchone()
    assert low < share < high
