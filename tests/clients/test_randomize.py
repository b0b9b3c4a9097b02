"""Randomised cells through a real client: the law of what comes back, cancelling, memory."""

import math

import psycopg
import pytest
from helpers import assert_stops, peak_memory


def chi_square_is_small(seen, law, n):
    """Wilson and Hilferty's normal form of the statistic stays below 4.5."""
    statistic = sum((seen.get(value, 0) - n * p) ** 2 / (n * p) for value, p in law.items())
    freedom = len(law) - 1
    spread = 2 / (9 * freedom)
    return ((statistic / freedom) ** (1 / 3) - (1 - spread)) / math.sqrt(spread) < 4.5


@pytest.mark.parametrize("epsilon", [0.4, 3])
def test_cells_of_a_released_row_follow_their_law(connection, epsilon):
    """Rows that are all alike: pairs of cells come back as the product of both laws says, NULL too."""
    connection.execute("DROP TABLE IF EXISTS alike")
    connection.execute("CREATE TABLE alike (a bool, b int NOT NULL CHECK (b IN (1, 2, 3)))")
    n = 40000
    connection.execute("INSERT INTO alike SELECT true, 2 FROM generate_series(1, %s)", [n])
    query = "SELECT a, b, count(*) FROM sanitize.randomize_cells(NULL::alike, %s, '{\"a\": 3}', seed => 5) GROUP BY a, b"
    seen = {(a, b): rows for a, b, rows in connection.execute(query, [epsilon])}
    assert sum(seen.values()) == n
    growth = {"a": math.exp(epsilon * 3 / 4), "b": math.exp(epsilon / 4)}
    law = {
        (a, b): (growth["a"] if a else 1)
        / (growth["a"] + 2)
        * (growth["b"] if b == 2 else 1)
        / (growth["b"] + 2)
        for a in (True, False, None)
        for b in (1, 2, 3)
    }
    assert chi_square_is_small(seen, law, n)


def test_supports_come_back(connection):
    """Estimates lie near the truth, and their deviations are right: over 40 releases, whose seeds are
    fixed, the errors spread as the deviations say."""
    connection.execute("DROP TABLE IF EXISTS people")
    connection.execute(
        "CREATE TABLE people (a bool NOT NULL, b int NOT NULL CHECK (b IN (1, 2, 3)), c bool)"
    )
    connection.execute(
        "INSERT INTO people SELECT i % 2 = 0, 1 + i % 3, CASE WHEN i % 5 > 0 THEN i % 7 = 0 END FROM generate_series(1, 6000) AS i"
    )
    errors = {"pair": [], "null": []}
    for seed in range(40):
        connection.execute("DROP TABLE IF EXISTS shown")
        connection.execute(
            f"CREATE TABLE shown AS SELECT * FROM sanitize.randomize_cells(NULL::people, 4, seed => {seed})"
        )
        for name, items, condition in [
            ("pair", '{"a": "t", "b": "2"}', "a AND b = 2"),
            ("null", '{"c": null}', "c IS NULL"),
        ]:
            estimate, stddev, rows = connection.execute(
                "SELECT * FROM sanitize.rr_support('shown', %s, 4, domains_of => 'people')", [items]
            ).fetchone()
            query = f"SELECT avg(({condition})::int)::float8 FROM people"
            (truth,) = connection.execute(query).fetchone()
            assert rows == 6000
            errors[name].append((estimate - truth) / stddev)
    for found in errors.values():
        assert all(abs(error) < 4.5 for error in found)
        assert abs(sum(found) / 40) < 4 / math.sqrt(40)
        assert 0.5 < sum(error**2 for error in found) / 40 < 1.8


@pytest.fixture(scope="module")
def large(database):
    """A table that keeps every phase busy for a while."""
    with database.connect() as connection:
        columns = ", ".join(f"c{i} int NOT NULL CHECK (c{i} BETWEEN 0 AND 9)" for i in range(10))
        connection.execute(f"CREATE TABLE large ({columns})")
        connection.execute("SELECT setseed(0.5)")
        values = ", ".join("(random() * 9)::int" for _ in range(10))
        connection.execute(f"INSERT INTO large SELECT {values} FROM generate_series(1, 1500000)")
        connection.execute("VACUUM ANALYZE large")


@pytest.mark.parametrize("phase", ["reading", "returning"])
def test_every_phase_stops_within_a_second(database, large, phase):
    assert_stops(database, phase, "SELECT count(*) FROM sanitize.randomize_cells(NULL::large, 1)")


def test_the_limit_is_kept(connection, large):
    connection.execute("SET pg_sanitize.max_memory = '16MB'")
    with pytest.raises(psycopg.errors.ConfigurationLimitExceeded):
        connection.execute("SELECT count(*) FROM sanitize.randomize_cells(NULL::large, 1)")
    assert peak_memory(connection) < 250 << 20
    connection.execute("RESET pg_sanitize.max_memory")


def test_nothing_is_said_beside_the_rows(database, large):
    """A notice with a number of rows or values would be an answer that nobody has accounted for."""
    connection = database.connect()
    connection.execute("SET pg_sanitize.progress = 0")
    connection.execute("CREATE TABLE few AS SELECT * FROM large LIMIT 10")
    for i in range(10):
        connection.execute("SELECT sanitize.declare_domain('few', %s, '{1,2,3}')", [f"c{i}"])
    told = []
    connection.add_notice_handler(lambda notice: told.append(notice.message_primary))
    connection.execute("SELECT count(*) FROM sanitize.randomize_cells(NULL::few, 1)")
    assert told == []


def test_a_refused_value_is_an_error_whether_it_is_drawn_or_not(connection):
    """A declared value that the column's type refuses: the error must not depend on the rows."""
    connection.execute("DROP TABLE IF EXISTS typed")
    connection.execute("CREATE TABLE typed (a int)")
    connection.execute("SELECT sanitize.declare_domain('typed', 'a', '{1,2}')")
    connection.execute("ALTER TABLE typed ALTER a TYPE bool USING a > 0")
    with pytest.raises(psycopg.Error) as error:
        connection.execute("SELECT * FROM sanitize.randomize_cells(NULL::typed, 1)")
    connection.execute("INSERT INTO typed VALUES (true)")
    with pytest.raises(psycopg.Error) as again:
        connection.execute("SELECT * FROM sanitize.randomize_cells(NULL::typed, 1)")
    assert str(error.value) == str(again.value)


def test_a_charge_stands_before_a_row_is_read(database, connection):
    """Reading this view fails; the charge for it has been made."""
    connection.execute("CREATE TABLE ledgered (id int PRIMARY KEY, a bool)")
    connection.execute("INSERT INTO ledgered VALUES (1, true)")
    connection.execute("CREATE VIEW broken AS SELECT id, (1 / (id - id)) = 0 AS a FROM ledgered")
    connection.execute(
        "SELECT sanitize.protect('broken', 'id', 10, max_rows_per_unit => 1, row_count_public => true)"
    )
    with pytest.raises(psycopg.errors.DivisionByZero):
        connection.execute(
            "SELECT * FROM sanitize.randomize_cells(NULL::broken, 2, columns => '{a}')"
        )
    query = "SELECT epsilon_spent FROM sanitize.budget WHERE source = 'broken'::regclass"
    assert float(connection.execute(query).fetchone()[0]) == 2
