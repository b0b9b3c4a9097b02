"""Citus' tables as targets, and its nodes: what is refused by name, and before anything is charged. Tried without
Citus, with its catalog."""

import pathlib
import re

import psycopg
import pytest
from citus import imitated
from helpers import fresh_name

SOURCES = pathlib.Path(__file__).parents[2] / "src" / "api"


@pytest.fixture
def node(connection):
    """A coordinator."""
    with imitated(connection):
        yield connection


@pytest.fixture
def worker(connection):
    with imitated(connection, group=3):
        yield connection


def private_methods():
    """The functions that take from a budget, by their declarations."""
    found = set()
    for file in SOURCES.rglob("*.rs"):
        for declared in re.split(r"\n\n", file.read_text()):
            if ": Method =" in declared and ".priced(" in declared:
                found.add(re.search(r'"(\w+)"', declared[declared.index(": Method =") :])[1])
    return found


@pytest.mark.parametrize("method", ["n", "h", "a"])
def test_tables_that_citus_keeps_are_no_targets(node, method):
    node.execute(
        "CREATE TABLE people AS SELECT i % 3 AS ward, i % 2 AS sex FROM generate_series(1, 60) AS i"
    )
    node.execute("""SELECT sanitize.publish('shown', 'people', 'k_anonymize', '{"k": 2}')""")
    before = node.execute("SELECT * FROM shown ORDER BY 1, 2").fetchall()
    node.execute("INSERT INTO pg_dist_partition VALUES ('shown', %s), ('people', %s)", [method] * 2)
    calls = [
        "sanitize.refresh('shown')",
        """sanitize.publish('shown', 'people', 'k_anonymize', '{"k": 3}')""",
        """sanitize.sanitize_in_place('people', 'k_anonymize', '{"k": 2}', 'people')""",
    ]
    for call in calls:
        with pytest.raises(
            psycopg.errors.ObjectNotInPrerequisiteState, match="Citus keeps its rows"
        ):
            node.execute(f"SELECT {call}")
    assert node.execute("SELECT * FROM shown ORDER BY 1, 2").fetchall() == before
    node.execute("DELETE FROM pg_dist_partition")
    node.execute("SELECT sanitize.refresh('shown')")
    node.execute("SELECT sanitize.retire('shown'); DROP TABLE people")


def test_tables_that_refer_to_one_in_place_are_looked_at_too(node):
    node.execute("CREATE TABLE wards (id integer PRIMARY KEY, name text)")
    node.execute("CREATE TABLE stays (ward integer REFERENCES wards, day date)")
    node.execute("INSERT INTO wards SELECT i, 'w' FROM generate_series(1, 9) AS i")
    node.execute("INSERT INTO pg_dist_partition VALUES ('stays', 'h')")
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="stays .*Citus keeps"):
        node.execute(
            """SELECT sanitize.sanitize_in_place('wards', 'k_anonymize', '{"k": 2}', 'wards')"""
        )
    node.execute("DROP TABLE stays, wards")


def test_nothing_private_is_done_on_a_worker(worker):
    """Whatever the arguments are: a worker has no budget that they could be charged to."""
    names = private_methods()
    assert {"dp_aggregate", "dp_synthesize", "randomize_cells", "dp_mii_sample"} <= names
    found = worker.execute(
        """SELECT p.proname, array_to_string(array(SELECT 'NULL::' || format_type(t, NULL)
                      FROM unnest(p.proargtypes) WITH ORDINALITY AS a(t, n) ORDER BY n), ', ')
             FROM pg_proc AS p WHERE p.pronamespace = 'sanitize'::regnamespace
              AND p.proname = ANY (%s)
              -- What draws from a model has no budget.
              AND ('epsilon' = ANY (p.proargnames) OR p.proname IN ('publish', 'refresh'))""",
        [[*names, "protect", "publish", "refresh"]],
    ).fetchall()
    assert {name for name, _ in found} == names | {"protect", "publish", "refresh"}
    for name, arguments in found:
        arguments = arguments.replace("NULL::anyelement", "NULL::pg_class")
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="worker of Citus"):
            worker.execute(f"SELECT * FROM sanitize.{name}({arguments})")
    worker.execute("CREATE TABLE people AS SELECT 1 AS id")
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="worker of Citus"):
        worker.execute("SELECT sanitize.charge('people', 'by hand', 1)")
    # What is not counted is asked anywhere.
    assert worker.execute("SELECT sanitize.k_anonymity('people')").fetchone() == (1,)
    worker.execute("DROP TABLE people")


def test_the_coordinator_keeps_budgets(node):
    node.execute("CREATE TABLE people AS SELECT i AS id FROM generate_series(1, 50) AS i")
    node.execute("SELECT sanitize.protect('people', 'id', 10, 0, 1)")
    ask = """SELECT count(*) FROM sanitize.dp_aggregate('people', '{"n": "count"}', 1)"""
    assert node.execute(ask).fetchone() == (1,)
    node.execute("SELECT sanitize.unprotect('people'); DROP TABLE people")


def test_a_shard_has_no_budget_of_its_own(node):
    node.execute("CREATE TABLE people (id integer, sex text)")
    node.execute("CREATE TABLE people_102008 AS SELECT 1 AS id, 'f' AS sex")
    node.execute("CREATE TABLE people_102009 AS SELECT 1 AS id, 'f' AS sex")
    node.execute("INSERT INTO pg_dist_shard VALUES ('people', 102008)")
    node.execute("CREATE VIEW seen AS SELECT id, sex FROM people_102008")
    for part in ("people_102008", "seen"):
        node.execute(f"SELECT sanitize.declare_domain('{part}', 'sex', '{{f,m}}')")
        node.execute(f"SELECT sanitize.declare_bounds('{part}', 'id', '1', '9')")
        for call in (
            f"sanitize.protect('{part}', 'id', 1, 0, 1)",
            f"sanitize.randomize_cells(NULL::{part}, 1)",
            f"""sanitize.publish('shown', '{part}', 'k_anonymize', '{{"k": 2}}')""",
        ):
            with pytest.raises(
                psycopg.errors.ObjectNotInPrerequisiteState, match="a shard of a table"
            ):
                node.execute(f"SELECT {call}")
    # One that was protected before Citus knew the table.
    node.execute("DELETE FROM pg_dist_shard")
    node.execute("SELECT sanitize.protect('seen', 'id', 1, 0, 1)")
    node.execute("INSERT INTO pg_dist_shard VALUES ('people', 102008)")
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="a shard of a table"):
        node.execute("""SELECT sanitize.dp_aggregate('seen', '{"n": "count"}', 1)""")
    node.execute("SELECT sanitize.protect('people_102009', 'id', 1, 0, 1)")
    node.execute("DROP VIEW seen; DROP TABLE people, people_102008, people_102009")


def test_an_error_names_the_node(node):
    """As Citus tells which one it was."""
    node.execute("CREATE TABLE spread AS SELECT i % 3 AS ward FROM generate_series(1, 9) AS i")
    node.execute(
        """CREATE FUNCTION lost(integer) RETURNS integer LANGUAGE plpgsql AS $$ BEGIN
               RAISE EXCEPTION 'connection to the remote node postgres@w1:9702 failed with the following error: gone'
                   USING ERRCODE = '08006'; END $$"""
    )
    node.execute("CREATE VIEW far AS SELECT lost(ward) AS ward FROM spread")
    node.execute("INSERT INTO pg_dist_partition VALUES ('far', 'h')")
    with pytest.raises(
        psycopg.errors.ConnectionFailure, match="^node w1:9702 of Citus: connection to the remote"
    ):
        node.execute("SELECT * FROM sanitize.mine_miis('far', 2)")
    node.execute("DROP VIEW far; DROP FUNCTION lost; DROP TABLE spread")


def entries(connection):
    return connection.execute("SELECT count(*) FROM sanitize.ledger_entry").fetchone()[0]


@pytest.mark.parametrize("through", ["table", "view", "partition"])
def test_an_owner_who_cannot_log_in_is_told_before_the_charge(node, through):
    owner = fresh_name("owner")
    node.execute(f"CREATE ROLE {owner} NOLOGIN")
    node.execute("CREATE TABLE people (id integer) PARTITION BY LIST (id)")
    node.execute("CREATE TABLE part PARTITION OF people DEFAULT")
    node.execute("CREATE VIEW seen AS SELECT id FROM people")
    name = {"table": "part", "view": "seen", "partition": "people"}[through]
    for relation in ("people", "part", "seen"):
        node.execute(f"ALTER TABLE {relation} OWNER TO {owner}")
    node.execute("SELECT sanitize.protect(%s, 'id', 10, 0, 1)", [name])
    ask = f"""SELECT * FROM sanitize.dp_aggregate('{name}', '{{"n": "count"}}', 1)"""
    node.execute(ask)
    node.execute("INSERT INTO pg_dist_partition VALUES ('part', 'h')")
    before = entries(node)
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="NOLOGIN") as refused:
        node.execute(ask)
    assert refused.value.diag.message_detail == "Nothing was charged."
    assert entries(node) == before
    node.execute(f"ALTER ROLE {owner} LOGIN")
    node.execute(ask)
    assert entries(node) == before + 1
    node.execute(f"DROP VIEW seen; DROP TABLE people; DROP ROLE {owner}")


QUESTIONS = [
    ({"filter": '{"ward": "w1"}'}, '{"n": "count", "s": {"sum": "age"}, "d": {"distinct": "day"}}'),
    ({"group_by": ["ward"], "filter": '{"age": {"<": 40}}'}, '{"n": "count", "a": {"avg": "age"}}'),
    ({"group_by": ["day"], "groups": '["2024-01-02", "2024-01-03"]'}, '{"n": "count"}'),
    (
        {"filter": '{"ward": ["w1", "w2"], "age": {">=": 30}}'},
        '{"n": "units", "s": {"sum": "age", "per": "unit", "low": 0, "high": 500}}',
    ),
]


def answered(connection, name, options, measures):
    given = {"filter": None, "group_by": None, "groups": None, **options}
    query = """SELECT groups::text, measure, round(value) FROM sanitize.dp_aggregate(
        %(name)s, %(measures)s, 90000, 1e-9, %(group_by)s, %(filter)s, %(groups)s) ORDER BY 1, 2"""
    return connection.execute(query, {**given, "name": name, "measures": measures}).fetchall()


@pytest.fixture
def visits(node):
    """The same rows in a table that Citus is said to keep, and in one of which it knows nothing. Units and groups are
    of domains."""
    node.execute(
        "CREATE DOMAIN called AS text; CREATE DOMAIN place AS varchar(9) CHECK (VALUE <> 'x')"
    )
    for table in ("here", "spread"):
        node.execute(
            f"""CREATE TABLE {table} AS SELECT ('p' || i % 60)::called AS person, ('w' || i % 4)::place AS ward,
                   i % 50 AS age, DATE '2024-01-01' + i % 5 AS day FROM generate_series(1, 300) AS i"""
        )
        node.execute(f"SELECT sanitize.declare_bounds('{table}', 'age', '0', '50')")
        node.execute(f"SELECT sanitize.protect('{table}', 'person', 1e6, 0.1, 9)")
    node.execute("INSERT INTO pg_dist_partition VALUES ('spread', 'h')")
    yield node
    node.execute("DROP TABLE here, spread CASCADE; DROP DOMAIN called, place")


@pytest.mark.parametrize("options, measures", QUESTIONS)
def test_noisy_answers_are_those_of_rows(visits, options, measures):
    there = answered(visits, "spread", options, measures)
    assert there and there == answered(visits, "here", options, measures)


@pytest.mark.parametrize("options, measures", QUESTIONS)
def test_nothing_but_columns_is_asked_of_citus(visits, options, measures):
    """A function of a view sees the statement that reads it, which is what Citus would send to its workers."""
    visits.execute("CREATE TABLE told (statement text)")
    visits.execute(
        """CREATE FUNCTION listen(text) RETURNS text LANGUAGE plpgsql AS $$
               DECLARE said text;
               BEGIN GET DIAGNOSTICS said = PG_CONTEXT; INSERT INTO public.told VALUES (said); RETURN $1; END $$"""
    )
    visits.execute(
        "CREATE VIEW heard AS SELECT public.listen(person) AS person, ward, age, day FROM spread"
    )
    visits.execute("SELECT sanitize.declare_bounds('heard', 'age', '0', '50')")
    visits.execute(
        "SELECT sanitize.protect('heard', 'person', max_rows_per_unit => 9, assume_stable => true)"
    )
    # What is told to the owner by these is read as well.
    visits.execute("TRUNCATE told")
    answered(visits, "heard", options, measures)
    said = visits.execute("SELECT statement, count(*) FROM told GROUP BY 1").fetchall()
    assert len(said) == 1
    ((statement, rows),) = said
    assert rows == 300
    asked = re.search(r'SQL statement "(.*)"', statement, re.DOTALL)[1]
    assert re.fullmatch(r"SELECT [\w\", .():]+ FROM public\.heard", asked), asked
    visits.execute("SELECT sanitize.unprotect('heard')")
    visits.execute("DROP VIEW heard; DROP FUNCTION listen; DROP TABLE told")
