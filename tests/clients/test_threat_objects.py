"""Threat: functions that somebody put into a domain, a cast, an operator, an index, a constraint, a view or an event
trigger run with the rights of whoever calls ours. The author of each is a plain role, the caller a superuser."""

import psycopg
import pytest
from helpers import fresh_name
from publishing import make_source, publish, refresh
from threats import FUNCTIONS, Wire, World, trap


@pytest.fixture(scope="module")
def wire(database):
    with database.admin() as admin:
        yield Wire(admin)


@pytest.fixture
def mallory(database, wire):
    """(name, connection) of the author."""
    name = database.regular_user("CREATE ON SCHEMA public", f"CREATE ON DATABASE {database.name}")
    with database.connect(name) as made:
        yield name, made
    assert wire.is_whole()


def ran(connection, statement):
    """True if the statement goes through; what it did is taken back."""
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(statement)
        return True
    except psycopg.Error as error:
        assert error.sqlstate[:2] not in ("XX", "57"), error
        return False


def test_domains_casts_and_operators_of_the_source(connection, wire, mallory):
    """Every function reads a table whose types are the author's."""
    name, own = mallory
    world = World(own)
    function = trap(own, wire, name)
    kind = fresh_name("kind")
    own.execute(f"""
        CREATE DOMAIN {kind}_text AS text CHECK ({function}(VALUE) IS DISTINCT FROM 'never');
        CREATE DOMAIN {kind}_int AS int CHECK ({function}(VALUE) IS DISTINCT FROM -1);
        CREATE TYPE {kind}_enum AS ENUM ('a', 'b');
        CREATE TYPE {kind}_pair AS (a {kind}_text, b {kind}_int);
        CREATE FUNCTION {kind}_to_text({kind}_enum) RETURNS text LANGUAGE plpgsql AS
            $$ BEGIN PERFORM {function}(1); RETURN 'a'; END $$;
        CREATE FUNCTION {kind}_to_json({kind}_enum) RETURNS json LANGUAGE plpgsql AS
            $$ BEGIN PERFORM {function}(1); RETURN '1'; END $$;
        CREATE CAST ({kind}_enum AS text) WITH FUNCTION {kind}_to_text({kind}_enum) AS IMPLICIT;
        CREATE CAST ({kind}_enum AS json) WITH FUNCTION {kind}_to_json({kind}_enum) AS IMPLICIT;
        CREATE FUNCTION {kind}_equal({kind}_enum, {kind}_enum) RETURNS bool LANGUAGE plpgsql AS
            $$ BEGIN PERFORM {function}(1); RETURN true; END $$;
        CREATE OPERATOR = (LEFTARG = {kind}_enum, RIGHTARG = {kind}_enum, FUNCTION = {kind}_equal);
        ALTER TABLE {world.table} ALTER COLUMN ward TYPE {kind}_text, ALTER COLUMN day TYPE {kind}_int;
        CREATE TABLE {kind} AS SELECT w.*, (ARRAY['a', 'b'])[1 + id % 2]::{kind}_enum AS e,
            ROW(ward, day)::{kind}_pair AS p, ARRAY[ward] AS l FROM {world.table} AS w;
        SELECT sanitize.declare_hierarchy('{world.table}', 'day', '{{"ranges": [2, 4]}}');
        SELECT sanitize.declare_domain('{kind}', 'ward', '{{w0,w1,w2}}');
        SELECT sanitize.declare_bounds('{kind}', 'day', '0', '9')""")
    # The trap works.
    assert ran(connection, f"SELECT 'w'::{kind}_text")
    assert not wire.is_whole()
    wire.mend()
    went = 0
    functions = connection.execute(FUNCTIONS).fetchall()
    for function, _, arguments in functions:
        went += ran(connection, world.call(function, arguments))
        assert wire.is_whole(), function
    assert went > len(functions) / 2
    for call in (
        f"SELECT count(*) FROM sanitize.k_mii(NULL::{kind}, 7)",
        f"SELECT count(*) FROM sanitize.mii_suppress(NULL::{kind}, 1, keep => '{{ward}}')",
        f"SELECT count(*) FROM sanitize.k_anonymize(NULL::{world.table}, 7, generalize => true)",
        f"SELECT count(*) FROM sanitize.generalize(NULL::{world.table}, '{{\"day\": 1}}')",
        f"SELECT count(*) FROM sanitize.krimp_generate(NULL::{kind}, 20, 5)",
        f"SELECT count(*) FROM sanitize.code_tree_generate(NULL::{kind}, 20)",
        f"SELECT count(*) FROM sanitize.impute(NULL::{kind})",
        f"SELECT count(*) FROM sanitize.randomize_cells(NULL::{kind}, 1, columns => '{{ward,day,e}}')",
        f"SELECT count(*) FROM sanitize.dp_synthesize(NULL::{kind}, 1, n => 9, columns => '{{ward,day,e}}')",
        f"SELECT sanitize.declare_domain('{kind}', 'e', '{{a,b}}')",
        f"SELECT sanitize.declare_hierarchy('{kind}', 'ward', '{{\"tree\": {{\"w0\": \"w1\"}}}}')",
        f"SELECT sanitize.privacy_report('{kind}', '{kind}')",
        f"SELECT count(*) FROM sanitize.utility('{kind}', '{kind}')",
        f"SELECT count(*) FROM sanitize.class_risk('{kind}', 'e')",
        f"SELECT sanitize.publish('{kind}_out', '{kind}', 'k_mii', '{{\"k\": 7}}')",
    ):
        ran(connection, call)
        assert wire.is_whole(), call
    own.execute(f"DROP TYPE {kind}_enum CASCADE")


def test_values_that_a_domain_refuses_are_still_refused(connection, wire, mallory):
    """With the rights of its owner a domain says the same."""
    name, own = mallory
    kind = fresh_name("kind")
    own.execute(f"""
        CREATE FUNCTION {kind}_ok(int) RETURNS bool LANGUAGE sql AS 'SELECT $1 IS NOT NULL';
        CREATE DOMAIN {kind}_known AS int CHECK ({kind}_ok(VALUE));
        CREATE TABLE {kind} AS SELECT i::{kind}_known AS i, i % 2 AS j FROM generate_series(1, 20) AS i""")
    for asker in (connection, own):
        with pytest.raises(psycopg.errors.CheckViolation):
            asker.execute(f"SELECT count(*) FROM sanitize.k_mii(NULL::{kind}, 5)")
        assert asker.execute("SELECT current_user").fetchone() == (asker.info.user,)
        assert asker.execute("SHOW search_path").fetchone() == ('"$user", public',)


def test_what_runs_when_rows_are_written(connection, wire, mallory):
    """Indexes, checks, exclusions and statistics of the target, refreshed by somebody else."""
    name, own = mallory
    function = trap(own, wire, name)
    source, target = make_source(own), fresh_name("release")
    publish(own, target, source)
    own.execute(f"""
        CREATE INDEX ON {target} ({function}(ward));
        CREATE INDEX ON {target} (day) WHERE {function}(day) > 0;
        CREATE STATISTICS {target}_s ON ({function}(ward)), day FROM {target};
        ALTER TABLE {target} ADD CHECK ({function}(day) IS DISTINCT FROM -1),
            ADD EXCLUDE USING btree (({function}(ward)) WITH =) WHERE ({function}(day) < -1)""")
    assert refresh(connection, target)["rows"] == 100
    assert publish(connection, target, source, options='{"k": 7}')["rows"] == 100
    connection.execute(f"SELECT sanitize.retire('{target}')")


LATER = {
    "a foreign key refers to it": """
        ALTER TABLE {target} ADD UNIQUE (key);
        CREATE TABLE {target}_child AS SELECT key FROM {target};
        ALTER TABLE {target}_child ADD FOREIGN KEY (key) REFERENCES {target} (key)
            ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
        CREATE FUNCTION {target}_f() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN PERFORM {trap}(1); RETURN NULL; END $$;
        CREATE TRIGGER t AFTER DELETE ON {target}_child FOR EACH ROW EXECUTE FUNCTION {target}_f()""",
    "it has a deferrable constraint": """
        ALTER TABLE {target} ADD EXCLUDE USING btree (({trap}(key)) WITH =)
            DEFERRABLE INITIALLY DEFERRED""",
}


@pytest.mark.parametrize("reason", LATER)
def test_what_runs_after_rows_are_written(connection, wire, mallory, reason):
    """A constraint that waits for the commit, and rows elsewhere that a foreign key deletes, with a trigger: the
    author would have functions run by whoever refreshes, or commits."""
    name, own = mallory
    function = trap(own, wire, name)
    source, target = fresh_name("keyed"), fresh_name("release")
    own.execute(
        f"CREATE TABLE {source} AS SELECT 1 AS ward, i AS key FROM generate_series(1, 9) AS i"
    )
    publish(own, target, source, options='{"k": 2, "columns": ["ward"], "keep": ["key"]}')
    own.execute(LATER[reason].format(target=target, trap=function))
    for one in (connection, own):
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match=reason):
            refresh(one, target)
    assert own.execute(f"SELECT count(*) FROM {target}").fetchone() == (9,)


def test_event_triggers_see_the_publisher(database, connection, wire, mallory):
    """Only a superuser can make one; it runs with the rights of whoever publishes, and can refuse."""
    name, own = mallory
    source, target = make_source(own), fresh_name("release")
    connection.execute("""
        CREATE TABLE seen (who text, tag text);
        GRANT INSERT ON seen TO PUBLIC;
        CREATE FUNCTION look() RETURNS event_trigger LANGUAGE plpgsql AS
            $$ BEGIN INSERT INTO public.seen VALUES (current_user, tg_tag); END $$;
        CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'not now'; END $$;
        CREATE EVENT TRIGGER looking ON ddl_command_end EXECUTE FUNCTION look()""")
    try:
        publish(own, target, source)
        refresh(connection, target)
        assert set(connection.execute("SELECT who, tag FROM seen").fetchall()) == {
            (name, "CREATE TABLE"),
            (name, "ALTER TABLE"),
        }
        connection.execute("CREATE EVENT TRIGGER refusing ON sql_drop EXECUTE FUNCTION refuse()")
        with pytest.raises(psycopg.errors.RaiseException, match="not now"):
            own.execute(f"SELECT sanitize.retire('{target}')")
        assert refresh(own, target)["rows"] == 100
        connection.execute("""
            DROP EVENT TRIGGER refusing;
            CREATE EVENT TRIGGER refusing ON ddl_command_start EXECUTE FUNCTION refuse()""")
        with pytest.raises(psycopg.errors.RaiseException, match="not now"):
            publish(own, target + "_2", source)
    finally:
        connection.execute("DROP EVENT TRIGGER IF EXISTS refusing; DROP EVENT TRIGGER looking")
    assert own.execute("SELECT to_regclass(%s)", [target + "_2"]).fetchone() == (None,)
    found = own.execute("SELECT target::text FROM sanitize.releases").fetchall()
    assert found == [(target,)]


def test_owner_rights_end_with_the_call(connection, wire, mallory):
    """After a refresh as somebody else, done or failed, in a savepoint or not, the caller is the caller again."""
    name, own = mallory
    source, target = make_source(own), fresh_name("release")
    publish(own, target, source)
    who = "SELECT current_user, current_setting('search_path'), current_setting('row_security')"
    before = connection.execute(who).fetchone()
    refresh(connection, target)
    assert connection.execute(who).fetchone() == before
    own.execute(f"ALTER TABLE {target} ADD CHECK (1 / (day - 1) < 9) NOT VALID")
    with connection.transaction():
        for _ in range(2):
            with pytest.raises(psycopg.errors.DivisionByZero), connection.transaction():
                refresh(connection, target)
            assert connection.execute(who).fetchone() == before
    connection.execute(
        f"""DO $$ BEGIN PERFORM sanitize.refresh('{target}'); EXCEPTION WHEN OTHERS THEN
            IF current_user <> 'postgres' THEN RAISE; END IF; END $$"""
    )
    assert connection.execute(who).fetchone() == before


# Ways out of the rights of the owner, tried by a function that a refresh by somebody else runs.
ESCAPES = {
    "the role": "RESET ROLE; PERFORM {trap}(1)",
    "the session": "SET SESSION AUTHORIZATION DEFAULT; PERFORM {trap}(1)",
    "a cursor that outlives the transaction": "EXECUTE 'DECLARE out CURSOR WITH HOLD FOR SELECT {trap}(1)'",
    "a trigger at commit": "INSERT INTO {name}_late VALUES (1)",
    "a temporary function": "CREATE TEMP TABLE {name}_t (i int)",
    "a setting that stays": "PERFORM set_config('session_preload_libraries', 'x', false)",
    "a listener": "EXECUTE 'LISTEN out'",
}


@pytest.mark.parametrize("way", ESCAPES)
def test_ways_out_of_the_owner_s_rights(connection, wire, mallory, way):
    """Whatever of it is allowed is over when the call is over."""
    name, own = mallory
    function = trap(own, wire, name)
    source, target, escape = make_source(own), fresh_name("release"), fresh_name("escape")
    own.execute(f"""
        CREATE TABLE {escape}_late (i int);
        CREATE FUNCTION {escape}_trigger() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN PERFORM {function}(1); RETURN NULL; END $$;
        CREATE CONSTRAINT TRIGGER late AFTER INSERT ON {escape}_late DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION {escape}_trigger();
        CREATE FUNCTION {escape}(i int) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN i; END';
        CREATE VIEW {escape}_v AS SELECT {escape}(ward) AS ward, day FROM {source}""")
    publish(own, target, f"{escape}_v")
    refresh(connection, target)
    body = ESCAPES[way].format(trap=function, name=escape)
    own.execute(f"""
        CREATE OR REPLACE FUNCTION {escape}(i int) RETURNS int LANGUAGE plpgsql AS $$
        BEGIN
            BEGIN
                {body};
            EXCEPTION WHEN insufficient_privilege OR invalid_transaction_state OR feature_not_supported
                OR duplicate_table OR duplicate_cursor THEN NULL;
            END;
            RETURN i;
        END $$""")
    settings = "SELECT name, setting FROM pg_settings"
    before = connection.execute(settings).fetchall()
    try:
        refresh(connection, target)
    except psycopg.Error as error:
        assert error.sqlstate[:2] in ("0A", "42", "25", "55"), error
    assert wire.is_whole()
    assert connection.execute("SELECT current_user, session_user").fetchone() == ("postgres",) * 2
    assert connection.execute(settings).fetchall() == before
    for left in ("pg_cursors", "pg_listening_channels()"):
        found = connection.execute(f"SELECT count(*) FROM {left} AS c WHERE c::text LIKE '%out%'")
        assert found.fetchone() == (0,)


def test_a_security_definer_function_publishes_for_its_owner(database, wire, mallory):
    """Whoever may call it gets what it returns, and no table."""
    name, own = mallory
    source, target = make_source(own), fresh_name("release")
    own.execute(f"""CREATE FUNCTION {target}_f() RETURNS jsonb LANGUAGE sql SECURITY DEFINER AS
        $$SELECT sanitize.publish('public.{target}', 'public.{source}', 'k_mii', '{{"k": 5}}')$$""")
    with database.connect(database.regular_user()) as other:
        assert other.execute(f"SELECT {target}_f()->>'rows'").fetchone() == ("100",)
        for statement in (
            f"SELECT * FROM {target}",
            f"SELECT sanitize.refresh('{target}')",
            f"SELECT sanitize.retire('{target}')",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                other.execute(statement)
        assert other.execute("SELECT current_user").fetchone() == (other.info.user,)
    found = "SELECT tableowner, published_by FROM pg_tables, sanitize.releases WHERE tablename = %s AND target = to_regclass(%s)"
    assert own.execute(found, [target, target]).fetchone() == (name, name)
