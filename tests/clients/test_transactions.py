"""Randomised transactions through a real client: laws, seeds read by another program, threads, cancelling, limits."""

import math
import random

import psycopg
import pytest
from helpers import assert_stops

KEEP = "sanitize.select_a_size_keep(5, 0.5, 19, 4)"


@pytest.fixture(scope="module")
def baskets(database):
    """Two hundred thousand transactions of at most five of 200 items; a tenth has {7, 11, 13}."""
    with database.connect() as connection:
        connection.execute(
            """CREATE TABLE baskets AS
               SELECT i, CASE WHEN i % 10 = 0 THEN ARRAY[7, 11, 13, 1 + i % 199]
                              ELSE ARRAY[1 + i % 193, 1 + i % 197, 1 + i % 199, 1 + i % 191] END AS items
                 FROM generate_series(1, 200000) AS i"""
        )
        connection.execute(
            f"""CREATE TABLE randomised AS
                SELECT sanitize.select_a_size(items, 200, 0.5, keep, seed => i) AS items,
                       sanitize.randomize_to_seed(items, 200, 3, 1, 1, keep, seed => i) AS seed
                  FROM baskets, {KEEP} AS keep"""
        )


def mined(connection, column, more=""):
    return connection.execute(
        f"""SELECT items, support, stddev
              FROM sanitize.randomized_itemsets('randomised', '{column}', 5, 0.5, {KEEP}, 0.07 {more})"""
    ).fetchall()


@pytest.mark.parametrize("column, more", [("items", ""), ("seed", ", universe => 200")])
def test_planted_itemsets_are_found_whatever_the_threads(database, baskets, column, more):
    with database.connect() as connection:
        found = None
        for threads in [1, 2, 4]:
            connection.execute(f"SET pg_sanitize.threads = {threads}")
            again = mined(connection, column, more)
            assert found in (None, again)
            found = again
    by_items = {tuple(items): (support, stddev) for items, support, stddev in found}
    for itemset in [(7, 11), (7, 13), (11, 13), (7, 11, 13)]:
        support, stddev = by_items[itemset]
        assert abs(support - 0.1) < 5 * stddev + 0.002 and stddev < 0.01
    assert all(support >= 0.07 for support, _ in by_items.values())


def test_estimates_agree_with_counts_by_hand(database, baskets):
    """randomized_itemsets and estimate_support on counts that Postgres made say the same."""
    with database.connect() as connection:
        found = {
            tuple(items): (support, stddev) for items, support, stddev in mined(connection, "items")
        }
        by_hand = connection.execute(
            f"""WITH shared AS (
                    SELECT cardinality(ARRAY(SELECT unnest(items) INTERSECT SELECT unnest('{{7,11,13}}'::int[]))) AS l
                      FROM randomised)
                SELECT s.* FROM sanitize.estimate_support(ARRAY(
                    SELECT count(*) FILTER (WHERE l = n) FROM shared, generate_series(0, 3) AS n GROUP BY n ORDER BY n),
                    5, 0.5, {KEEP}) AS s"""
        ).fetchone()
    assert by_hand == pytest.approx(found[7, 11, 13], rel=1e-9)


POLYNOMIALS = {4: 0x13, 8: 0x11D}


def another_reader(seed, universe, size, itemset, a, b):
    """The items of a seed by the documented layout alone, written without a look at the extension."""
    powers = math.ceil(b * (size + itemset) / 2)
    r = next(r for r in range(3, 21) if 2**r - 1 >= b * universe and powers <= 2 ** (r - 1) - 1)
    bits = int.from_bytes(seed, "little")

    def times(x, y):
        product = 0
        while y:
            if y & 1:
                product ^= x
            y >>= 1
            x <<= 1
            if x >> r:
                x ^= POLYNOMIALS[r]
        return product

    def power(exponent):
        result, base = 1, 2
        while exponent:
            if exponent & 1:
                result = times(result, base)
            base = times(base, base)
            exponent >>= 1
        return result

    def bit(c):
        column = sum(power((2 * i + 1) * c) << (r * i) for i in range(powers))
        return (column & bits).bit_count() & 1

    def value(item):
        return sum(bit(b * (item - 1) + j) << j for j in range(b))

    return [item for item in range(1, universe + 1) if value(item) < a]


@pytest.mark.parametrize(
    "universe, size, itemset, a, b", [(15, 3, 1, 1, 1), (100, 4, 2, 3, 2), (60, 4, 2, 5, 4)]
)
def test_another_program_reads_seeds(connection, universe, size, itemset, a, b):
    keep = [1 / (size + 1)] * (size + 1)
    coins = random.Random(universe)
    for number in range(5):
        items = coins.sample(range(1, universe + 1), size)
        seed, read = connection.execute(
            """SELECT seed, sanitize.seed_items(seed, %(n)s, %(m)s, %(s)s, %(a)s, %(b)s)
                 FROM sanitize.randomize_to_seed(%(items)s::int[], %(n)s, %(s)s, %(a)s, %(b)s, %(keep)s::float8[], %(seed)s)
                      AS seed""",
            dict(items=items, n=universe, m=size, s=itemset, a=a, b=b, keep=keep, seed=number),
        ).fetchone()
        assert another_reader(seed, universe, size, itemset, a, b) == read


def test_the_posterior_never_passes_the_breach_bound(connection):
    """Twenty thousand transactions of size 2 over 4 items; the rarest pair has a prior of 5 %."""
    connection.execute(
        """CREATE TEMP TABLE pairs AS SELECT i, CASE WHEN i % 20 = 0 THEN '{1,2}' WHEN i % 2 = 0 THEN '{3,4}' ELSE '{2,3}' END::int[]
               AS items FROM generate_series(1, 20000) AS i"""
    )
    rows = connection.execute(
        """WITH operator AS (SELECT * FROM sanitize.select_a_size_design(2, 0.05, 0.5)),
                drawn AS (SELECT items = '{1,2}' AS is_rare, sanitize.select_a_size(items, 4, rho, keep, seed => i) AS y FROM pairs, operator)
           SELECT y, avg(is_rare::int), count(*) FROM drawn GROUP BY y"""
    ).fetchall()
    assert sum(n for _, _, n in rows) == 20000
    for _, posterior, n in rows:
        # The prior is 5 %, the limit 50 %; four deviations of a share of n rows.
        assert float(posterior) < 0.5 + 4 * math.sqrt(0.25 / n)


def test_without_a_seed_coins_differ(connection):
    ask = f"SELECT sanitize.select_a_size('{{1,2,3}}', 1000, 0.5, {KEEP})"
    assert connection.execute(ask).fetchone() != connection.execute(ask).fetchone()


def test_mining_stops_on_cancel(database, baskets):
    with database.connect() as connection:
        connection.execute(
            "CREATE TABLE wide AS SELECT items FROM randomised, generate_series(1, 3)"
        )
    ask = (
        "SELECT count(*) FROM sanitize.randomized_itemsets('wide', 'items', 5, 0.5, "
        f"{KEEP}, 0.0001, margin => 100)"
    )
    with database.connect() as connection:
        connection.execute("SET pg_sanitize.max_itemsets = 2000000000")
        connection.execute("SET statement_timeout = '2s'")
        with pytest.raises(psycopg.errors.QueryCanceled):
            connection.execute(ask)
    assert_stops(database, "mining", ask)


def test_memory_is_bounded(database, baskets):
    with database.connect() as connection:
        connection.execute("SET pg_sanitize.max_memory = '4MB'")
        with pytest.raises(psycopg.errors.ConfigurationLimitExceeded):
            mined(connection, "items")
        # Seeds of 40 bits take a twentieth of the bitmaps of 200 items.
        assert mined(connection, "seed", ", universe => 200")
        connection.execute("SET pg_sanitize.max_itemsets = 2")
        with pytest.raises(psycopg.errors.ConfigurationLimitExceeded):
            mined(connection, "seed", ", universe => 200")
