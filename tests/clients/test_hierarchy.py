"""Hierarchies of columns: dumped and restored, inert whatever their texts are, and read with the caller's
rights."""

import json
import subprocess
import time

import psycopg
import pytest
from helpers import Database, cancel_after, fresh_name, patience, program

HOSTILE = [
    "'; DROP TABLE victim; --",
    '"; DROP TABLE victim; --',
    "$$; DROP TABLE victim; $$",
    "\\",
]


def levels(connection, table, column):
    """What each value is shown as, level by level."""
    rows = connection.execute(
        """SELECT value, array_agg(general ORDER BY level) FROM sanitize.hierarchy(%s::regclass, %s)
           GROUP BY value""",
        [table, column],
    )
    return dict(rows.fetchall())


def declare(connection, table, column, spec):
    connection.execute(
        "SELECT sanitize.declare_hierarchy(%s::regclass, %s, %s)", [table, column, json.dumps(spec)]
    )


def test_hierarchies_are_dumped_and_restored(database, connection):
    connection.execute("""
        CREATE SCHEMA "odd one";
        CREATE TABLE "odd one"."peo'ple" (gone int, age int, born date, zip text, "ci ty" text, old text);
        ALTER TABLE "odd one"."peo'ple" DROP gone;
        INSERT INTO "odd one"."peo'ple" VALUES (35, '1987-04-12', '1017', 'Paris', 'x');
        CREATE TABLE "odd one"."zz maps" (level0 text, level1 text);
        INSERT INTO "odd one"."zz maps" VALUES ('Paris', 'France'), ('Rome', 'Italy');
    """)
    table = '"odd one"."peo\'ple"'
    specs = {
        "age": {"ranges": [5, 10], "from": 1, "show": "middle"},
        "born": {"dates": ["month", "year"]},
        "zip": {"prefix": [2], "mask": "'"},
        "ci ty": {"table": '"odd one"."zz maps"'},
        "old": {"tree": [{"x": "y\\'"}]},
    }
    for column, spec in specs.items():
        declare(connection, table, column, spec)
    before = {column: levels(connection, table, column) for column in specs}
    assert before["age"] == {"35": ["35", "33", "35"]}
    assert before["ci ty"] == {"Paris": ["Paris", "France"]}
    listed = "SELECT source::text, column_name, levels, height FROM sanitize.hierarchies ORDER BY 2"
    rows = connection.execute(listed).fetchall()
    assert len(rows) == len(specs)
    dump = subprocess.run(
        [program("pg_dump"), "--dbname", database.name], capture_output=True, text=True, check=True
    ).stdout
    copy = Database(fresh_name("restored"))
    try:
        with copy.admin() as admin:
            admin.execute("DROP EXTENSION pg_sanitize; DROP SCHEMA sanitize")
        psql = ["--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", "--dbname", copy.name]
        subprocess.run(
            [program("psql"), *psql], input=dump, text=True, check=True, stdout=subprocess.DEVNULL
        )
        with copy.admin() as admin:
            assert admin.execute(listed).fetchall() == rows
            assert {column: levels(admin, table, column) for column in specs} == before
    finally:
        copy.drop()


@pytest.fixture
def victim(connection):
    connection.execute("DROP TABLE IF EXISTS victim, target, names")
    connection.execute("CREATE TABLE victim (a int)")
    connection.execute(
        "CREATE TABLE target AS SELECT 7 AS n, date '2024-05-06' AS d, 'abc'::text AS t"
    )
    yield connection
    assert connection.execute("SELECT count(*) FROM victim").fetchone() == (0,)
    connection.execute("DROP TABLE IF EXISTS victim, target, names")


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize(
    "column, spec",
    [
        ("n", lambda text: {text: [5]}),
        ("n", lambda text: {"ranges": [5], text: 1}),
        ("n", lambda text: {"ranges": [text]}),
        ("n", lambda text: {"ranges": [5], "from": text}),
        ("n", lambda text: {"ranges": [5], "show": text}),
        ("d", lambda text: {"dates": [text]}),
        ("d", lambda text: {"dates": ["5 " + text]}),
        ("t", lambda text: {"prefix": [text]}),
        ("t", lambda text: {"prefix": [1], "mask": text + "x"}),
        ("n", lambda text: {"tree": [{"7": text}]}),
        ("n", lambda text: {"tree": [{text: "7"}]}),
        ("d", lambda text: {"tree": [{"2024-05-06": text}]}),
        ("t", lambda text: {"table": text}),
        ("t", lambda text: {"table": f"names, {text}"}),
    ],
)
def test_texts_that_look_like_sql_are_refused(victim, column, spec, text):
    refusals = (
        psycopg.errors.InvalidParameterValue,
        psycopg.errors.UndefinedTable,
        psycopg.errors.InvalidName,
        psycopg.errors.SyntaxError,
    )
    with pytest.raises(refusals) as error:
        declare(victim, "target", column, spec(text))
    # A name that is no name is refused by Postgres itself.
    if "table" not in spec(text):
        assert error.value.diag.message_hint


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_that_look_like_sql_are_shown_as_they_are(victim, text):
    declare(victim, "target", "t", {"tree": [{"abc": text, text: "abc"}, {text: text + "2"}]})
    assert levels(victim, "target", "t") == {"abc": ["abc", text, text + "2"]}
    declare(victim, "target", "t", {"prefix": [1], "mask": text[0]})
    assert levels(victim, "target", "t") == {"abc": ["abc", "a" + 2 * text[0]]}
    victim.execute("CREATE TABLE names (level0 text, level1 text)")
    victim.execute("INSERT INTO names VALUES ('abc', %s)", [text])
    declare(victim, "target", "t", {"table": "names"})
    assert levels(victim, "target", "t") == {"abc": ["abc", text]}
    with pytest.raises(psycopg.errors.UndefinedColumn):
        declare(victim, "target", text, {"prefix": [1]})
    name = text.replace('"', '""')
    victim.execute(f'ALTER TABLE target RENAME t TO "{name}"')
    declare(victim, "target", text, {"prefix": [2]})
    assert levels(victim, "target", text) == {"abc": ["abc", "ab*"]}


def test_a_schema_in_front_changes_nothing(database):
    with database.connect() as client:
        client.execute("""
            CREATE TABLE sane (n int, d date, z timestamptz, t text, c text);
            INSERT INTO sane VALUES (7, '2024-05-06', '2024-05-06 07:08:09+00', 'abc', 'Paris');
            CREATE TABLE sane_names AS SELECT 'Paris'::text AS level0, 'France'::text AS level1;
            CREATE TABLE sprung (what text);
            CREATE SCHEMA front;
            CREATE FUNCTION front.trap(text) RETURNS bool LANGUAGE sql AS
                'INSERT INTO public.sprung VALUES ($1); SELECT true';
            CREATE FUNCTION front.unnest(text[]) RETURNS SETOF text LANGUAGE sql AS
                $$SELECT front.trap('unnest')::text$$;
            CREATE FUNCTION front.mod(numeric, numeric) RETURNS numeric LANGUAGE sql AS
                $$SELECT front.trap('mod')::int::numeric$$;
            CREATE FUNCTION front.date_part(text, timestamp) RETURNS float8 LANGUAGE sql AS
                $$SELECT front.trap('date_part')::int::float8$$;
            CREATE FUNCTION front.minus(numeric, numeric) RETURNS numeric LANGUAGE sql AS
                $$SELECT front.trap('-')::int::numeric$$;
            CREATE OPERATOR front.- (LEFTARG = numeric, RIGHTARG = numeric, FUNCTION = front.minus);
            CREATE FUNCTION front.less(timestamp, timestamp) RETURNS bool LANGUAGE sql AS
                $$SELECT front.trap('<')$$;
            CREATE OPERATOR front.< (LEFTARG = timestamp, RIGHTARG = timestamp, FUNCTION = front.less);
            CREATE TABLE front.declared_hierarchy (source regclass);
            SET search_path = front, public, pg_catalog;
            SET TimeZone = 'UTC';
        """)
        declare(client, "sane", "n", {"ranges": [5]})
        declare(client, "sane", "d", {"dates": ["month"]})
        declare(client, "sane", "z", {"dates": ["hour", "month"]})
        declare(client, "sane", "t", {"prefix": [1]})
        declare(client, "sane", "c", {"table": "sane_names"})
        assert levels(client, "sane", "n") == {"7": ["7", "5"]}
        assert levels(client, "sane", "d") == {"2024-05-06": ["2024-05-06", "2024-05-01"]}
        shown = ["2024-05-06 07:08:09+00", "2024-05-06 07:00:00+00", "2024-05-01 00:00:00+00"]
        assert levels(client, "sane", "z") == {shown[0]: shown}
        assert levels(client, "sane", "c") == {"Paris": ["Paris", "France"]}
        for column in "ndztc":
            client.execute("SELECT sanitize.suggest_hierarchy('sane', %s)", [column])
        client.execute("SELECT * FROM sanitize.hierarchies")
        assert client.execute("SELECT count(*) FROM sprung").fetchone() == (0,)


def test_who_may_read_may_look_but_not_declare(database, connection):
    regular_user = database.regular_user()
    connection.execute("""
        CREATE TABLE seen AS SELECT 7 AS n;
        CREATE TABLE hidden_names AS SELECT 7 AS level0, 0 AS level1;
    """)
    declare(connection, "seen", "n", {"ranges": [5]})
    with database.connect(user=regular_user) as reader:
        for call in ["hierarchy('seen', 'n')", "suggest_hierarchy('seen', 'n')"]:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                reader.execute(f"SELECT * FROM sanitize.{call}")
        listed = "SELECT count(*) FROM sanitize.hierarchies WHERE source = 'seen'::regclass"
        assert reader.execute(listed).fetchone() == (0,)
        connection.execute(f"GRANT SELECT ON seen TO {regular_user}")
        assert levels(reader, "seen", "n") == {"7": ["7", "5"]}
        assert reader.execute(listed).fetchone() == (1,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege) as error:
            declare(reader, "seen", "n", {"ranges": [2]})
        assert "owner" in error.value.diag.message_primary
        declare(connection, "seen", "n", {"table": "hidden_names"})
        with pytest.raises(psycopg.errors.InsufficientPrivilege) as error:
            levels(reader, "seen", "n")
        assert "hidden_names" in error.value.diag.message_primary


def test_a_domain_of_someone_else_may_end_the_call_but_not_more(connection):
    """A constraint that raises whatever it likes is told, and the session goes on."""
    connection.execute("""
        CREATE FUNCTION moody(int) RETURNS bool LANGUAGE plpgsql AS
            $$BEGIN IF $1 = 0 THEN RAISE 'division of opinion'; END IF; RETURN true; END$$;
        CREATE DOMAIN mood AS int CHECK (moody(VALUE));
        CREATE TABLE moods AS SELECT i::mood AS n FROM generate_series(1, 9) AS i;
    """)
    with pytest.raises(psycopg.errors.InvalidParameterValue, match='"0" .* division of opinion'):
        declare(connection, "moods", "n", {"ranges": [5]})
    declare(connection, "moods", "n", {"ranges": [5], "from": 1})
    assert levels(connection, "moods", "n")["9"] == ["9", "6"]


def test_many_values_can_be_cancelled(connection):
    connection.execute(
        "CREATE TABLE crowd AS SELECT timestamp '2000-01-01' + i * interval '61 s' AS t"
        " FROM generate_series(1, 400000) AS i"
    )
    begin = time.monotonic()
    with cancel_after(connection, 0.5), pytest.raises(psycopg.errors.QueryCanceled):
        declare(connection, "crowd", "t", {"dates": ["hour", "day", "month"]})
    assert time.monotonic() - begin < patience(1.5)


def test_a_hierarchy_has_at_most_254_levels(connection):
    """More were taken, and k_anonymize then dropped all rows."""
    connection.execute("CREATE TABLE deep AS SELECT i::text AS a FROM generate_series(10, 99) AS i")

    def tree(height):
        """Values of their own up to the last level, which has their tens."""
        below, written = [str(i) for i in range(10, 100)], []
        for level in range(1, height + 1):
            above = [f"{v if level < height else v // 10}_{level}" for v in range(10, 100)]
            written.append(dict(zip(below, above, strict=True)))
            below = above
        return {"tree": written}

    with pytest.raises(psycopg.errors.InvalidParameterValue, match='"a" has 255 levels') as error:
        declare(connection, "deep", "a", tree(255))
    assert error.value.diag.message_hint == "A hierarchy has at most 254 levels."
    declare(connection, "deep", "a", tree(254))
    released = connection.execute(
        "SELECT a, count(*) FROM sanitize.k_anonymize(NULL::deep, 5, generalize => true) GROUP BY a"
    )
    assert sorted(released) == [(f"{i}_254", 10) for i in range(1, 10)]
