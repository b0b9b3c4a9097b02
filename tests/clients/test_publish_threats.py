"""Who can have what run with whose rights by publishing: nothing may run with rights that its author does not
have. Threats are named in the tests."""

import psycopg
import pytest
from helpers import fresh_name
from psycopg import sql
from psycopg.types.json import Jsonb
from publishing import (
    K5,
    ROWS,
    WAITS,
    Background,
    WithIsolation,
    make_source,
    make_visits,
    publish,
    record,
    refresh,
    wait_for,
)


@pytest.fixture
def source(connection):
    return make_visits(connection)


@pytest.fixture
def target():
    return fresh_name("release")


HOSTILE = [
    """x"; DROP TABLE safe; --""",
    """x'; DROP TABLE safe; --""",
    "$1",
    "a.b.c",
    'pg_temp"."x',
    "select",
    "☃ ä",
    "%s%n",
    " ",
]


@pytest.fixture(params=["superuser", "plain role"])
def anybody(request, database):
    """A connection of a superuser, and of a role that may make tables."""
    user = None
    if request.param == "plain role":
        user = database.regular_user(
            "CREATE ON SCHEMA public", f"CREATE ON DATABASE {database.name}"
        )
    with database.connect(user) as made:
        yield made


@pytest.mark.parametrize("hostile", HOSTILE)
def test_injection_through_names_options_and_comments(anybody, hostile):
    anybody.execute("DROP TABLE IF EXISTS safe")
    anybody.execute("CREATE TABLE safe (i int)")
    source = make_source(anybody, (hostile, "other"))
    target = sql.Identifier(fresh_name(hostile)).as_string(anybody)
    options = Jsonb({"k": 5, "columns": [hostile], "keep": ["other"]})
    label = anybody.execute(
        "SELECT sanitize.publish(%s, %s::pg_catalog.text::pg_catalog.regclass, 'k_mii', %s, %s)",
        [target, source, options, hostile],
    ).fetchone()[0]
    assert label["rows"] == 100
    assert refresh(anybody, target)["rows"] == 100
    comment = anybody.execute(
        "SELECT obj_description(%s::pg_catalog.text::pg_catalog.regclass)", [target]
    ).fetchone()[0]
    assert comment.startswith(hostile + "\n")
    for call, arguments in [
        (
            "sanitize.publish(%s, %s::pg_catalog.text::pg_catalog.regclass, 'k_mii', %s)",
            ['"' + hostile, source, options],
        ),
        (
            "sanitize.publish(%s, %s::pg_catalog.text::pg_catalog.regclass, %s, %s)",
            ["x", source, hostile, options],
        ),
        (
            "sanitize.publish('x', %s::pg_catalog.text::pg_catalog.regclass, 'k_mii', %s)",
            [source, Jsonb({hostile: 1, "k": 5})],
        ),
        (
            "sanitize.publish('x', %s::pg_catalog.text::pg_catalog.regclass, 'dp_mii_sample', %s)",
            [
                source,
                Jsonb({"epsilon": 1, "delta": 0.1, "k": 5, "public_source": hostile}),
            ],
        ),
    ]:
        with pytest.raises(psycopg.Error) as error:
            anybody.execute(f"SELECT {call}", arguments)
        assert error.value.sqlstate[:2] in ("22", "42", "0A", "3F"), error.value
    anybody.execute("SELECT sanitize.retire(%s::pg_catalog.text::pg_catalog.regclass)", [target])
    assert anybody.execute("SELECT count(*) FROM safe").fetchone() == (0,)
    anybody.execute("DROP TABLE safe")


def test_hostile_objects_in_the_search_path_and_in_temp(anybody):
    source = make_source(anybody)
    evil, target = fresh_name("evil"), fresh_name("release")
    anybody.execute(f"""
        CREATE SCHEMA {evil};
        CREATE DOMAIN {evil}.int4 AS text CHECK (false);
        CREATE DOMAIN {evil}.text AS int CHECK (false);
        CREATE FUNCTION {evil}.num_nulls(int, int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS
            'BEGIN RAISE EXCEPTION ''ran''; END';
        CREATE FUNCTION {evil}.k_mii(int, int) RETURNS int LANGUAGE plpgsql AS
            'BEGIN RAISE EXCEPTION ''ran''; END';
        CREATE FUNCTION {evil}.equal(oid, oid) RETURNS bool LANGUAGE plpgsql AS
            'BEGIN RAISE EXCEPTION ''ran''; END';
        CREATE OPERATOR {evil}.= (LEFTARG = oid, RIGHTARG = oid, FUNCTION = {evil}.equal);
        CREATE TEMP TABLE pg_class (oid oid);
        CREATE TEMP TABLE {target} (ward int, day int);
        SET search_path = public, {evil}, pg_temp, pg_catalog""")
    try:
        assert publish(anybody, target, f"public.{source}")["rows"] == 100
        assert refresh(anybody, f"public.{target}")["rows"] == 100
        assert anybody.execute(f"SELECT count(*) FROM pg_temp.{target}").fetchone() == (0,)
        # A session whose first schema is the temporary one would make a table that nobody else sees.
        anybody.execute("SET search_path = pg_temp, public")
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            publish(anybody, target + "_2", f"public.{source}")
        anybody.execute(f"SELECT sanitize.retire('public.{target}')")
    finally:
        anybody.execute("RESET search_path")
        anybody.execute("DROP TABLE pg_temp.pg_class")


def test_a_target_of_somebody_else(database, connection, source, target):
    mallory = database.regular_user(
        f"SELECT ON {source}", f"UPDATE ON {source}", "CREATE ON SCHEMA public"
    )
    publish(connection, target, source)
    connection.execute(f"GRANT ALL ON {target} TO {mallory}")
    before = record(connection, target)
    with database.connect(mallory) as other:
        for call in (
            f"sanitize.publish('{target}', '{source}', 'k_mii', '{K5}')",
            f"sanitize.refresh('{target}')",
            f"sanitize.retire('{target}')",
            f"sanitize.publish('{source}', '{target}', 'k_mii', '{K5}')",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match="must be owner"):
                other.execute(f"SELECT {call}")
        # Nor can others be made to wait for a lock.
        with connection.transaction():
            connection.execute(f"LOCK {target} IN ROW EXCLUSIVE MODE")
            other.execute("SET lock_timeout = '1s'")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                other.execute(f"SELECT sanitize.refresh('{target}')")
    assert record(connection, target) == before


def test_what_the_owner_put_on_a_target_or_source_runs_with_the_owners_rights(
    database, connection, source
):
    """A superuser refreshes a release whose owner has put functions in the way."""
    mallory = database.regular_user(f"SELECT ON {source}", "CREATE ON SCHEMA public")
    indexed, viewed = fresh_name("indexed"), fresh_name("viewed")
    with database.connect(mallory) as other:
        other.execute(f"""
            CREATE FUNCTION {indexed}_who(x int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
            BEGIN
                IF current_setting('role') <> 'none' OR current_user <> '{mallory}' THEN
                    RAISE EXCEPTION 'ran as %', current_user;
                END IF;
                RETURN x;
            END $$;
            CREATE VIEW {viewed} AS SELECT {indexed}_who(ward) AS ward, day FROM {source}""")
        publish(other, indexed, source)
        publish(other, viewed + "_release", viewed)
        other.execute(f"CREATE INDEX ON {indexed} ({indexed}_who(ward))")
        other.execute(f"ALTER TABLE {indexed} ADD CHECK ({indexed}_who(day) IS NOT NULL)")
    assert refresh(connection, indexed)["rows"] == ROWS
    assert refresh(connection, viewed + "_release")["rows"] == ROWS
    # What the owner may not read is not published for the owner.
    secret = fresh_name("secret")
    connection.execute(f"CREATE TABLE {secret} AS SELECT * FROM {source}")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        publish(connection, indexed, secret)


def test_a_trigger_made_while_a_refresh_waits(database, connection, source, target):
    publish(connection, target, source)
    connection.execute("""CREATE OR REPLACE FUNCTION surprise() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'ran'; END $$""")
    for isolation in ("READ COMMITTED", "REPEATABLE READ"):
        with database.connect() as other:
            with other.transaction():
                other.execute(
                    f"CREATE TRIGGER t AFTER INSERT ON {target} EXECUTE FUNCTION surprise()"
                )
                waiting = Background(
                    WithIsolation(database, isolation), f"SELECT sanitize.refresh('{target}')"
                )
                wait_for(connection, WAITS, [waiting.connection.info.backend_pid])
            waiting.join()
        assert isinstance(waiting.error, psycopg.errors.ObjectNotInPrerequisiteState), waiting.error
        assert "trigger t" in str(waiting.error)
        connection.execute(f"DROP TRIGGER t ON {target}")


def test_a_target_swapped_while_a_refresh_waits(database, connection, source):
    """The schema's owner puts another table with a trigger under the target's name."""
    schema = fresh_name("swapped")
    connection.execute(f"CREATE SCHEMA {schema}")
    publish(connection, f"{schema}.release", source)
    with database.connect() as other:
        with other.transaction():
            other.execute(f"LOCK {schema}.release IN SHARE ROW EXCLUSIVE MODE")
            waiting = Background(database, f"SELECT sanitize.refresh('{schema}.release')")
            wait_for(connection, WAITS, [waiting.connection.info.backend_pid])
            connection.execute(f"""
                ALTER SCHEMA {schema} RENAME TO {schema}_old;
                CREATE SCHEMA {schema};
                CREATE TABLE {schema}.release (LIKE {schema}_old.release);
                CREATE FUNCTION {schema}.surprise() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN RAISE EXCEPTION 'ran'; END $$;
                CREATE TRIGGER t BEFORE INSERT ON {schema}.release
                    FOR EACH ROW EXECUTE FUNCTION {schema}.surprise()""")
        waiting.join()
    assert waiting.error is None
    assert connection.execute(f"SELECT count(*) FROM {schema}.release").fetchone() == (0,)
    assert record(connection, f"{schema}_old.release")[0] == ROWS


def test_row_security_of_the_source_holds_for_the_publisher(database, connection, target):
    source = fresh_name("rows")
    connection.execute(f"""
        CREATE TABLE {source} AS SELECT i % 2 AS mine, i % 5 AS x FROM generate_series(1, 100) AS i;
        ALTER TABLE {source} ENABLE ROW LEVEL SECURITY;
        CREATE POLICY half ON {source} USING (mine = 1)""")
    user = database.regular_user(f"SELECT ON {source}", "CREATE ON SCHEMA public")
    with database.connect(user) as other:
        assert publish(other, target, source)["rows"] == 50
        assert other.execute(f"SELECT DISTINCT mine FROM {target}").fetchall() == [(1,)]
    # Who refreshes it does not matter.
    assert refresh(connection, target)["rows"] == 50


def test_an_analyst_publishes_answers_about_what_only_the_owner_may_read(
    database, connection, source, target
):
    analyst = database.regular_user("CREATE ON SCHEMA public")
    connection.execute(f"ALTER TABLE {source} ADD COLUMN person serial PRIMARY KEY")
    connection.execute(f"SELECT sanitize.protect('{source}', 'person', 1, max_rows_per_unit => 1)")
    asked = '{"measures": {"n": "count"}, "epsilon": 0.4}'
    with database.connect(analyst) as other:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            publish(other, target, source, "dp_aggregate", asked)
        connection.execute(f"SELECT sanitize.allow('{source}', '{analyst}')")
        assert publish(other, target, source, "dp_aggregate", asked)["unit"] == "person"
        assert abs(other.execute(f"SELECT value FROM {target}").fetchone()[0] - ROWS) < 200
        # A refresh charges again, until nothing is left; a rollback does not give it back.
        with other.transaction(force_rollback=True):
            refresh(other, target)
        with pytest.raises(psycopg.Error, match="exhausted"):
            refresh(other, target)
        assert other.execute(f"SELECT count(*) FROM {target}").fetchone() == (1,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            publish(other, target + "_2", source)


@pytest.mark.parametrize("call", ["publish", "refresh", "sanitize_in_place"])
def test_a_method_that_the_publisher_may_not_call(database, connection, target, call):
    """Threat: a method is run for a role that was denied its function."""
    role = database.regular_user("CREATE ON SCHEMA public")
    with database.connect(role) as own:
        source = make_source(own)
        publish(own, target, source)
    statement = {
        "publish": f"SELECT sanitize.publish('{target}', '{source}', 'k_mii', '{{\"k\": 5}}')",
        "refresh": f"SELECT sanitize.refresh('{target}')",
        "sanitize_in_place": f"SELECT sanitize.sanitize_in_place('{source}', 'k_mii', '{{\"k\": 5}}', '{source}')",
    }[call]
    denied = pytest.raises(psycopg.errors.InsufficientPrivilege, match="for function k_mii")
    with denied, connection.transaction():
        (function,) = connection.execute("""
            SELECT oid::regprocedure::text FROM pg_proc
             WHERE pronamespace = 'sanitize'::regnamespace AND proname = 'k_mii'""").fetchone()
        connection.execute(f"REVOKE EXECUTE ON FUNCTION {function} FROM PUBLIC")
        connection.execute(f"SET LOCAL ROLE {role}")
        connection.execute(statement)
