"""Mining through a real client: the real sets, threads, cancelling, limits, worst cases."""

import random
import threading
import time

import psycopg
import pytest
from helpers import array_table, assert_stops, load_lucs, patience, peak_memory
from psycopg import sql

BY_LENGTH = "SELECT length, count(*) FROM sanitize.mine_miis({}, %s) GROUP BY 1 ORDER BY 1"


def by_length(connection, table, theta):
    return connection.execute(BY_LENGTH.format(f"'{table}'"), [theta]).fetchall()


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_adult_theta_1_whatever_the_threads(connection, threads):
    connection.execute("DROP TABLE IF EXISTS adult")
    assert load_lucs(connection, "lucs/adult.D97.N48842.C2.num", "adult") == (45222, 15)
    connection.execute(f"SET pg_sanitize.threads = {threads}")
    counts = [2, 284, 4127, 13204, 13276, 6386, 1769, 350, 59, 7]
    assert by_length(connection, "adult", 1) == list(enumerate(counts, start=1))


@pytest.mark.parametrize(
    "path, theta, miis",
    [
        ("lucs/breast.D20.N699.C2.num", 5, 18),
        ("lucs/chessKRvK.D58.N28056.C18.num", 1, 63956),
    ],
)
def test_real_sets(connection, path, theta, miis):
    connection.execute("DROP TABLE IF EXISTS real_set")
    load_lucs(connection, path, "real_set")
    assert sum(n for _, n in by_length(connection, "real_set", theta)) == miis


def test_repeated_rows_change_the_supports_only(connection):
    connection.execute("DROP TABLE IF EXISTS once, thrice")
    load_lucs(connection, "lucs/breast.D20.N699.C2.num", "once")
    load_lucs(connection, "lucs/breast.D20.N699.C2.num", "thrice", repeat=3)
    once = connection.execute(
        "SELECT items::text, support FROM sanitize.mine_miis('once', 5) ORDER BY 1"
    ).fetchall()
    thrice = connection.execute(
        "SELECT items::text, support / 3 FROM sanitize.mine_miis('thrice', 15) ORDER BY 1"
    ).fetchall()
    assert once == thrice


@pytest.fixture(scope="module")
def tables(database):
    """Tables that keep each phase busy for several seconds."""
    with database.connect() as connection:
        connection.execute("SET client_min_messages = warning")
        connection.execute(
            "CREATE TABLE many_rows AS SELECT i % 7 AS a, i % 11 AS b, (i % 13)::text AS c"
            " FROM generate_series(1, 2000000) AS i"
        )
        connection.execute(
            "CREATE TABLE many_values AS SELECT md5(i::text) AS a, md5((-i)::text) AS b"
            " FROM generate_series(1, 500000) AS i"
        )
        array_table(connection, "worst", 10, 9, 5)
        array_table(connection, "bad", 10, 9, 4)
        connection.execute("ANALYZE")


PHASES = [
    ("reading", "SELECT count(*) FROM sanitize.mine_miis('many_rows', 1)"),
    ("reading", "SELECT sanitize.row_bag(m) IS NULL FROM many_rows m"),
    ("coding", "SELECT count(*) FROM sanitize.mine_miis('many_values', 1)"),
    ("mining", "SELECT count(*) FROM sanitize.mine_miis('worst', 1)"),
    ("mining", "SELECT count(*) FROM sanitize.frequent_itemsets('worst', 1)"),
    ("mining", "SELECT count(*) FROM sanitize.mii_risk('worst', 1)"),
    ("returning", "SELECT count(*) FROM sanitize.mine_miis('bad', 1)"),
    ("returning", "SELECT count(*) FROM sanitize.orthogonal_array(10, 9, 6)"),
]


@pytest.mark.parametrize("how", ["cancel", "terminate"])
@pytest.mark.parametrize("phase, query", PHASES)
def test_every_phase_stops_within_a_second(database, tables, phase, query, how):
    assert_stops(database, phase, query, how)


def test_statement_timeout_is_obeyed(connection, tables):
    connection.execute("SET statement_timeout = '500ms'")
    began = time.monotonic()
    with pytest.raises(psycopg.errors.QueryCanceled):
        connection.execute("SELECT count(*) FROM sanitize.mine_miis('worst', 1)")
    assert time.monotonic() - began < patience(1.5)


def test_worst_case_ends_in_the_memory_error_and_nobody_else_notices(database, connection, tables):
    """59,049 rows of 10 columns with 14,880,348 MIIs in 200 MB."""
    connection.execute("SET pg_sanitize.max_memory = '200MB'")
    with database.connect() as other:
        with pytest.raises(psycopg.errors.ConfigurationLimitExceeded) as error:
            connection.execute("SELECT count(*) FROM sanitize.mine_miis('worst', 1)")
        assert other.execute("SELECT 1").fetchone() == (1,)
    assert "max_length" in error.value.diag.message_hint
    assert peak_memory(connection) < 400 << 20
    assert connection.execute("SELECT 1").fetchone() == (1,)
    # With what the hint says it works.
    shorter = "SELECT count(*) FROM sanitize.mine_miis('worst', 1, max_length => 3)"
    assert connection.execute(shorter).fetchone() == (0,)


def test_millions_of_results_come_whole(connection, tables):
    """6,561 rows of 10 columns: 9^4 * C(10, 4) MIIs, all of length 4."""
    assert by_length(connection, "bad", 1) == [(4, 9**4 * 210)]


def test_many_distinct_rows_stay_within_the_budget(connection, tables):
    connection.execute("SET pg_sanitize.max_memory = '64MB'")
    with pytest.raises(psycopg.errors.ConfigurationLimitExceeded):
        connection.execute("SELECT count(*) FROM sanitize.mine_miis('many_values', 1)")
    assert peak_memory(connection) < 250 << 20


def test_four_connections_at_once(database, tables):
    results = []

    def mine():
        with database.connect() as connection:
            results.append(by_length(connection, "many_rows", 2000))

    workers = [threading.Thread(target=mine) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(results) == 4
    assert all(result == results[0] for result in results)


def test_any_column_name_is_only_a_name(connection):
    """Random names of every kind of character, read back unchanged."""
    chance = random.Random(2024)
    alphabet = "\"'`;,.()[]{}$%&|\\/-+*= \t\nabcXYZ09_äß日😀\x01\x7f"
    names = {"".join(chance.choices(alphabet, k=chance.randint(1, 12))) for _ in range(200)}
    names = sorted(name for name in names if len(name.encode()) <= 63)
    table = sql.Identifier('x"; SELECT pg_sleep(9); --')
    columns = sql.SQL(", ").join(sql.SQL("{} text").format(sql.Identifier(n)) for n in names)
    connection.execute(sql.SQL("CREATE TABLE {} ({})").format(table, columns))
    connection.execute(sql.SQL("INSERT INTO {} DEFAULT VALUES").format(table))
    connection.execute(sql.SQL("UPDATE {} SET {} = 'v'").format(table, sql.Identifier(names[0])))
    found = connection.execute(
        "SELECT column_name FROM sanitize.mii_risk(%s::text, 1, %s) WHERE value IS NULL",
        [table.as_string(connection), names],
    ).fetchall()
    assert [name for (name,) in found] == names
    connection.execute(sql.SQL("DROP TABLE {}").format(table))


def test_random_bytes_are_never_a_bag_and_never_a_crash(connection):
    chance = random.Random(7)
    good = connection.execute(
        "SELECT sanitize_internal.bag_send(sanitize.row_bag(r)) FROM"
        " (SELECT i % 3 AS a, 'v' || i AS b FROM generate_series(1, 20) AS i) AS r"
    ).fetchone()[0]
    accepted = 0
    for _ in range(500):
        damaged = bytearray(good)
        for _ in range(chance.randint(1, 4)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        try:
            connection.execute(
                "SELECT count(*) FROM sanitize.mine_miis(%s::sanitize.bag, 1)",
                ["\\x" + bytes(damaged).hex()],
            )
            accepted += 1
        except (psycopg.errors.DataException, psycopg.errors.DataError):
            pass
    assert accepted < 500
    assert connection.execute("SELECT 1").fetchone() == (1,)


def test_memory_returns_after_a_call(connection, tables):
    """A connection that mines again and again does not grow."""
    query = "SELECT count(*) FROM sanitize.mine_miis('many_rows', 1)"
    connection.execute(query)
    before = peak_memory(connection)
    for _ in range(5):
        connection.execute(query)
    assert peak_memory(connection) < before + (32 << 20)
