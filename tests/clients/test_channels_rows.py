"""Which rows count, in which groups and under which terms: what a caller can do about it is nothing.

Answers are asked at an epsilon of 100, where noise is less than one.
"""

import json
import time

import psycopg
import pytest
from channels import MANY, ROWS, UNITS, Filter, World, outcome, question
from helpers import fresh_name, patience

COUNT = '{"n": "count"}'
EVERYBODY = Filter("person", ">=", 0)


@pytest.fixture(scope="module")
def world(database):
    return World(database)


def near(value, wanted):
    return abs(float(value) - wanted) < 5


def count(connection, table, measures=COUNT):
    """The number of rows, as good as exact."""
    (row,) = connection.execute(question(table, 100, measures), [EVERYBODY.json]).fetchall()
    return row[2]


def groups(connection, table, column, listed=None, delta=1e-6):
    """Groups and their counts, as good as exact."""
    more = f", group_by => '{{{column}}}', delta => {delta}"
    if listed is not None:
        more = f", group_by => '{{{column}}}', groups => '{json.dumps(listed)}'"
    rows = connection.execute(question(table, 100, COUNT, more), ["{}"]).fetchall()
    assert all(column in row[0] for row in rows), rows
    assert len({row[0][column] for row in rows}) == len(rows)
    return {row[0][column]: round(row[2]) for row in rows}


# Terms.
@pytest.fixture
def visits(world):
    """A table of which the terms change: 4 rows of a person, 8 of a household."""
    name = fresh_name("visits")
    world.admin.execute(f"""
        CREATE TABLE {name} AS
            SELECT i % 1000 AS person, i % 500 AS household FROM generate_series(1, 4000) i
    """)
    world.protect(name, rows=4)
    yield name
    world.protected.remove(name)


@pytest.mark.parametrize("isolation", ["REPEATABLE READ", "SERIALIZABLE"])
@pytest.mark.parametrize(
    "unit, rows, rows_before, counted",
    [("person", 1, 4, 1000), ("person", 4, 1, 4000), ("household", 1, 4, 500)],
    ids=["fewer_rows", "more_rows", "another_unit"],
)
def test_changed_terms(world, visits, isolation, unit, rows, rows_before, counted):
    """A caller with an old snapshot is answered under the terms that he is charged under."""
    world.protect(visits, rows=rows_before)
    with world.analyst() as connection:
        connection.execute(f"BEGIN ISOLATION LEVEL {isolation}")
        connection.execute("SELECT count(*) FROM pg_class")
        world.protect(visits, unit=unit, rows=rows)
        assert near(count(connection, visits), counted)


def test_changed_terms_sees_a_direct_read(world, visits):
    """The terms do change the answer, and an old snapshot does show old rows."""
    with world.analyst() as connection:
        assert near(count(connection, visits), 4000)
        world.protect(visits, unit="household")
        assert near(count(connection, visits), 500)
    with world.reader() as connection:
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        connection.execute("SELECT count(*) FROM pg_class")
        world.admin.execute(f"DELETE FROM {visits}")
        assert connection.execute(f"SELECT 1 FROM {visits}").rowcount == 4000


# Rows of the caller.
INSERT = """INSERT INTO several SELECT 100000 + i, 1, 'A', 1, '2000-01-01'
    FROM generate_series(1, 5000) i"""


def test_uncommitted_rows(world):
    """A caller who may add rows cannot make them count and take them back again."""
    role = world.role("INSERT ON several")
    for isolation in ["READ COMMITTED", "SERIALIZABLE"]:
        with world.database.connect(role) as connection:
            connection.execute(f"BEGIN ISOLATION LEVEL {isolation}")
            connection.execute(INSERT)
            assert near(count(connection, "several"), ROWS)
            connection.execute("ROLLBACK")


def test_uncommitted_rows_sees_a_direct_read(world):
    with world.database.connect(world.role("SELECT, INSERT ON several")) as connection:
        connection.execute("BEGIN")
        connection.execute(INSERT)
        assert connection.execute("SELECT 1 FROM several").rowcount == ROWS + 5000
        connection.execute("ROLLBACK")


def test_rows_of_an_old_snapshot(world, visits):
    """The answer is about the rows of today, not of the caller's first statement."""
    with world.analyst() as connection:
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        connection.execute("SELECT count(*) FROM pg_class")
        world.admin.execute(f"DELETE FROM {visits} WHERE person < 500")
        assert near(count(connection, visits), 2000)


def test_lock_of_the_caller(world, visits):
    """A caller who locks the relation does not wait for himself for ever."""
    with world.database.connect(world.role(f"TRUNCATE ON {visits}")) as connection:
        connection.execute("SET statement_timeout = '30s'")
        connection.execute("BEGIN")
        connection.execute(f"LOCK TABLE {visits} IN ACCESS EXCLUSIVE MODE")
        began = time.monotonic()
        said = outcome(connection, question(visits), EVERYBODY.json)
        assert time.monotonic() - began < patience(20)
        assert said is None or said[0] != "57014"
        connection.execute("ROLLBACK")
        assert near(count(connection, visits), 4000)


# Collations.
@pytest.fixture(scope="module")
def names(world):
    """Names under a collation that takes A for a; one of each hundred in capitals."""
    try:
        world.admin.execute(
            "CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
        )
    except psycopg.errors.FeatureNotSupported as error:
        pytest.skip(f"this server has no ICU: {error}")
    world.admin.execute("""
        CREATE TABLE names (person int NOT NULL UNIQUE, name text COLLATE caseless, padded char(5));
        CREATE TABLE calls (person int NOT NULL, name text COLLATE caseless);
        INSERT INTO names SELECT i, CASE i % 4 WHEN 0 THEN 'ANNA' ELSE 'anna' END, 'anna'
            FROM generate_series(1, 400) i;
        INSERT INTO calls SELECT person, name FROM names;
    """)
    world.protect("names")
    world.protect("calls")
    return ["names", "calls"]


@pytest.mark.parametrize("table", ["names", "calls"])
def test_nondeterministic_collation(world, names, table):
    """Groups are told apart by their bytes."""
    with world.analyst() as connection:
        assert groups(connection, table, "name") == {"ANNA": 100, "anna": 300}
        listed = groups(connection, table, "name", ["ANNA", "anna", "Anna"])
        assert listed == {"ANNA": 100, "anna": 300, "Anna": 0}


def test_nondeterministic_collation_of_the_unit(world, names):
    """Whom a row is about is not told by such a column."""
    world.admin.execute("CREATE TABLE about AS TABLE names")
    with pytest.raises(psycopg.Error) as error:
        world.admin.execute("SELECT sanitize.protect('about', 'name', 10, max_rows_per_unit => 1)")
        world.admin.execute("SELECT * FROM sanitize.dp_aggregate('about', %s, 1)", [COUNT])
    assert error.value.sqlstate in ("22023", "0A000")


def test_nondeterministic_collation_sees_a_direct_read(world, names):
    with world.reader() as connection:
        assert connection.execute("SELECT name FROM names GROUP BY name").rowcount == 1
        text = "SELECT padded FROM names WHERE padded = 'anna' GROUP BY padded"
        assert connection.execute(text).fetchall() == [("anna ",)]


def test_padded_groups(world, names):
    with world.analyst() as connection:
        assert groups(connection, "names", "padded") == {"anna": 400}
        listed = groups(connection, "names", "padded", ["anna", "a"])
        assert listed == {"anna": 400, "a": 0}


# Dates and times. In 2014 Moscow set its clocks back and kept the zone's abbreviation: in most styles
# two instants of that night have one text.
NIGHT = ["2014-10-25 21:30+00", "2014-10-25 22:30+00"]
STYLES = [
    {},
    {"datestyle": "SQL, DMY", "timezone": "Europe/Moscow"},
    {"datestyle": "Postgres, MDY", "timezone": "Europe/Moscow"},
    {"datestyle": "German, DMY", "timezone": "Europe/Moscow"},
    {"datestyle": "ISO, MDY", "timezone": "America/New_York", "intervalstyle": "sql_standard"},
]


@pytest.fixture(scope="module")
def times(world):
    world.admin.execute("""
        CREATE TABLE times (person int NOT NULL UNIQUE, at timestamptz, day date);
        CREATE TABLE more_times (person int NOT NULL, at timestamptz, day date);
    """)
    for turn, instant in enumerate(NIGHT):
        world.admin.execute(
            """INSERT INTO times SELECT i * 2 + %s, %s, make_date(2014, 1 + %s, 2 - %s)
               FROM generate_series(1, %s) i""",
            [turn, instant, turn, turn, 100 + 100 * turn],
        )
    world.admin.execute("INSERT INTO more_times TABLE times")
    world.protect("times")
    world.protect("more_times")
    return ["times", "more_times"]


def with_style(connection, style):
    for name, value in style.items():
        connection.execute(f"SET {name} = '{value}'")


@pytest.mark.parametrize("table", ["times", "more_times"])
def test_datestyle_and_timezone(world, times, table):
    """Groups by time are the same whatever style and zone the caller has, and none swallows another.
    The second of January and the first of February are one text in two styles."""
    seen = []
    for style in STYLES:
        with world.analyst() as connection:
            with_style(connection, style)
            listed = ["2014-01-02", "2014-02-01"]
            seen.append(
                [
                    groups(connection, table, "at"),
                    groups(connection, table, "at", NIGHT),
                    groups(connection, table, "day"),
                    groups(connection, table, "day", listed),
                    filtered(connection, table, {"day": "01/02/2014"}),
                    filtered(connection, table, {"at": {"<": "2014-10-25 22:00"}}),
                ]
            )
    assert [sorted(found.values()) for found in seen[0][:4]] == [[100, 200]] * 4
    assert seen == [seen[0]] * len(STYLES)


def filtered(connection, table, wanted):
    (row,) = connection.execute(question(table, 100, COUNT), [json.dumps(wanted)]).fetchall()
    return round(row[2])


def test_datestyle_and_timezone_sees_a_direct_read(world, times):
    texts, counts = set(), set()
    with world.reader() as connection:
        for style in STYLES:
            with_style(connection, style)
            found = connection.execute("SELECT DISTINCT at::text FROM times ORDER BY 1").fetchall()
            texts.add(tuple(found))
            text = "SELECT 1 FROM times WHERE day = '01/02/2014'"
            counts.add(connection.execute(text).rowcount)
    assert {len(found) for found in texts} == {1, 2}
    assert counts == {100, 200}


# Groups without end.
QUANTILES = json.dumps(
    {
        f"q{i}": {"quantile": i / 11, "of": "days", "low": 0, "high": 1000, "step": 0.001}
        for i in range(1, 11)
    }
)


def test_groups_times_quantiles(world):
    """What is too large is refused from the arguments alone, before the charge."""
    world.admin.execute("CREATE TABLE empty (LIKE several)")
    world.protect("empty", rows=4)
    more = f", group_by => '{{person}}', groups => '{json.dumps(list(range(100_000)))}'"
    said = []
    with world.analyst() as connection:
        connection.execute("SET statement_timeout = '10s'")
        for table in ["several", "empty"]:
            text = question(table, 1, QUANTILES, more)
            said.append(outcome(connection, text, EVERYBODY.json))
        assert connection.execute("SELECT * FROM sanitize.ledger").fetchall() == []
    assert said[0] is not None and said[0][0] != "57014"
    assert said[0] == said[1]


def test_private_groups_times_quantiles(world):
    """Groups that the data makes cannot be refused by their number: as many as there are."""
    world.admin.execute("""
        CREATE TABLE scattered AS
            SELECT i / 2 AS person, i AS place, i % 100 AS days FROM generate_series(1, 100000) i
    """)
    world.protect("scattered", rows=2)
    more = ", delta => 1e-9, group_by => '{place}'"
    with world.analyst() as connection:
        connection.execute("SET pg_sanitize.max_memory = '1MB'")
        connection.execute("SET statement_timeout = '20s'")
        text = question("scattered", 1, QUANTILES, more)
        said = [
            outcome(connection, text, json.dumps({"person": {operator: 0}}))
            for operator in (">=", "<")
        ]
    assert said[0] == said[1]


def test_groups_times_quantiles_sees_a_direct_read(world):
    """Somebody who reads the rows is not refused, and sees how many groups there are."""
    with world.reader() as connection:
        for filter_, rows in [("person >= 0", UNITS), ("person < 0", 0)]:
            text = f"SELECT person FROM several WHERE {filter_} GROUP BY person"
            assert connection.execute(text).rowcount == rows


# Errors.
@pytest.fixture(scope="module")
def failing(world):
    world.admin.execute("""
        CREATE VIEW divides AS SELECT person, age, 1 / (days - 5) AS days FROM several;
        CREATE VIEW casts AS SELECT person, age, (ward || days)::int AS days FROM several;
        CREATE VIEW overflows AS SELECT person, age, (age + 1) * 2147483647 AS days FROM several;
    """)
    views = ["divides", "casts", "overflows"]
    for view in views:
        world.protect(view, rows=4)
    return views


def test_errors(world, failing):
    """A read that fails says the same whatever failed, for whom, and however many rows there were."""
    said = set()
    with world.analyst() as connection:
        for view in failing:
            for chosen in [MANY, EVERYBODY, Filter("person", "=", 5), Filter("person", "=", 35)]:
                said.add(outcome(connection, question(view), chosen.json))
    assert len(said) == 1
    (error,) = said
    assert error[0] == "22000"
    assert error[2] is None and error[4] is None


def test_errors_see_a_direct_read(world, failing):
    said = set()
    with world.reader() as connection:
        for view in failing:
            for person in (5, 35):
                text = f"SELECT days FROM {view} WHERE person = {person}"
                said.add(outcome(connection, text))
    assert len(said) >= 3
