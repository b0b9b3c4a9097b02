"""Threat: text becomes SQL. Every text, list of texts and jsonb that a function takes is hostile once, and every
name that it meets in the catalog, called by a superuser and by a plain role."""

import json

import psycopg
import pytest
from helpers import fresh_name
from psycopg import sql
from threats import FUNCTIONS, HOSTILE, LONG, Wire, World, names

# What a text that is no SQL ends in: a refusal of the value (22, 23), a name that is not there or not allowed
# (3F, 42), something that is not so here (0A, 55), a budget (PS), a limit (54). 42601 is none of them: a syntax
# error would be one of ours.
REFUSED = ("0A", "22", "23", "3F", "42", "53", "54", "55", "PS")


@pytest.fixture(scope="module")
def wire(database):
    with database.admin() as admin:
        yield Wire(admin)


@pytest.fixture(scope="module")
def functions(database):
    with database.admin() as admin:
        return admin.execute(FUNCTIONS).fetchall()


@pytest.fixture(params=["superuser", "plain role"])
def anybody(request, database, wire):
    user = None
    if request.param == "plain role":
        user = database.regular_user(
            "CREATE ON SCHEMA public", f"CREATE ON DATABASE {database.name}"
        )
    with database.connect(user) as made:
        made.execute("SET statement_timeout = '5s'")
        made.execute("SET pg_sanitize.threads = 1")
        yield made


def outcome(connection, statement):
    """The SQLSTATE of a statement, '00000' if it goes through; what it did is taken back."""
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(statement.encode())
        return "00000"
    except psycopg.Error as error:
        code = error.sqlstate or "gone"
        assert code == "57014" or (code[:2] in REFUSED and code != "42601"), f"{statement}\n{error}"
        return code


def forms(world, of, hostile):
    """The hostile text as a value of the type, in the places that it can have."""
    if of == "text":
        yield world.literal(hostile)
    elif of == "text[]":
        yield world.literal([hostile]) + "::text[]"
    else:
        column = world.columns[0]
        for value in (
            hostile,
            [hostile],
            {hostile: 1},
            {column: hostile},
            [{column: hostile}],
            {"n": {"sum": hostile, "low": hostile, "high": 1}},
            {column: {"<": hostile}, hostile: {hostile: hostile}},
        ):
            yield world.literal(json.dumps(value)) + "::jsonb"


def test_every_argument_of_every_function(anybody, wire, functions):
    world = World(anybody)
    tried = 0
    for function, _, arguments in functions:
        for argument, of, _ in arguments:
            # What is no name of a relation Postgres itself refuses.
            if of not in ("text", "text[]", "jsonb"):
                continue
            # jsonb has many places for a text: one hostile text, which has something of all others.
            for hostile in HOSTILE[-2:-1] if of == "jsonb" else HOSTILE:
                for value in forms(world, of, hostile):
                    outcome(anybody, world.call(function, arguments, argument, value))
                    tried += 1
    assert wire.is_whole()
    assert tried > 1000


def test_very_long_texts(anybody, wire, functions):
    world = World(anybody)
    for function, _, arguments in functions:
        for argument, of, _ in arguments:
            if of in ("text", "text[]"):
                (value,) = forms(world, of, LONG)
                outcome(anybody, world.call(function, arguments, argument, value))
    assert wire.is_whole()


def calls_of(world, functions):
    """A call of every function, and one for each of some arguments that name columns."""
    for function, _, arguments in functions:
        yield world.call(function, arguments)
        for argument, of, _ in arguments:
            if argument in ("columns", "keep", "sensitive", "group_by", "filter", "weights"):
                value = world.value(function, argument, of)
                yield world.call(function, arguments, argument, value)


def test_names_of_schemas_tables_and_columns(anybody, wire, functions):
    """A table does what it does, whatever it is called."""
    usual = [outcome(anybody, call) for call in calls_of(World(anybody), functions)]
    hostile = next(names())
    quoted = sql.Identifier(hostile).as_string(anybody)
    anybody.execute(f"CREATE SCHEMA {quoted}".encode())
    columns = [hostile, "'); SELECT nextval('wire'); --", 'i"d;']
    named = World(anybody, f"{quoted}.{quoted}", columns)
    for call, expected in zip(calls_of(named, functions), usual):
        assert outcome(anybody, call) == expected, call
    assert wire.is_whole()
    # The values take most functions past their checks.
    assert usual.count("00000") > len(usual) / 2


def test_names_of_types_and_values(anybody, wire):
    """Enums, domains and values of hostile names, through hierarchies, releases, models and publish."""
    for hostile in names():
        type_name = sql.Identifier(fresh_name("t" + hostile[:30])).as_string(anybody)
        domain = sql.Identifier(fresh_name("d" + hostile[:30])).as_string(anybody)
        value = sql.Literal(hostile).as_string(anybody)
        table, target = fresh_name("typed"), fresh_name("typed_release")
        anybody.execute(
            f"""CREATE TYPE {type_name} AS ENUM ({value}, 'other');
                CREATE DOMAIN {domain} AS text CHECK (VALUE IN ({value}, 'other'));
                CREATE TABLE {table} AS SELECT CASE i % 2 WHEN 0 THEN {value} ELSE 'other' END::{type_name} AS e,
                    CASE i % 3 WHEN 0 THEN {value} ELSE 'other' END::{domain} AS d, i % 4 AS n
                    FROM generate_series(1, 48) AS i;
                SELECT sanitize.publish('{target}', '{table}', 'k_mii', '{{"k": 2}}');
                SELECT sanitize.refresh('{target}');
                SELECT sanitize.declare_hierarchy('{table}', 'e',
                    jsonb_build_object('tree', jsonb_build_array(jsonb_build_object({value}, 'other'))));
                SELECT count(*) FROM sanitize.krimp_generate(NULL::{table}, 20, 5);
                SELECT count(*) FROM sanitize.randomize_cells(NULL::{table}, 1, columns => '{{e,d}}');
                SELECT sanitize.privacy_report_html('{table}', '{target}')""".encode()
        )
        found = anybody.execute(f"SELECT DISTINCT e::text FROM {target} ORDER BY 1").fetchall()
        assert sorted(found) == sorted([(hostile,), ("other",)])
    assert wire.is_whole()
