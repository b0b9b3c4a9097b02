"""Threat: what comes first in the search path, or lies in a temporary schema, is called in place of Postgres' own.
All functions, operators, types and tables of pg_catalog have a hostile twin here."""

import pytest
from helpers import fresh_name
from threats import FUNCTIONS, Wire, World, outcome

# A twin of everything that a plain role can make one of; each pulls the wire.
TWINS = """
DO $$
DECLARE
    one record;
    made int := 0;
BEGIN
    FOR one IN
        SELECT p.oid, p.proname, pg_get_function_identity_arguments(p.oid) AS arguments,
               format_type(p.prorettype, NULL) AS result
          FROM pg_proc AS p JOIN pg_type AS r ON r.oid = p.prorettype
         WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f' AND NOT p.proretset
           AND r.typtype <> 'p' AND p.pronargs > 0
           AND NOT EXISTS (SELECT FROM unnest(coalesce(p.proallargtypes, p.proargtypes)) AS a
                             JOIN pg_type AS t ON t.oid = a WHERE t.typtype = 'p')
           AND p.proname !~ '^(pg_stat|pg_log|pg_wal|binary_upgrade|pg_replication|pg_ls|.*_(send|out))'
    LOOP
        BEGIN
            EXECUTE format('CREATE FUNCTION @evil@.%I(%s) RETURNS %s LANGUAGE plpgsql AS
                ''BEGIN PERFORM pg_catalog.nextval(''''public.wire''''); RETURN NULL; END''',
                one.proname, one.arguments, one.result);
            made := made + 1;
        EXCEPTION WHEN OTHERS THEN NULL;
        END;
    END LOOP;
    FOR one IN
        SELECT o.oprname, o.oprleft, o.oprright, p.proname
          FROM pg_operator AS o JOIN pg_proc AS p ON p.oid = o.oprcode
         WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND o.oprleft <> 0
           AND p.pronamespace = 'pg_catalog'::regnamespace
           AND to_regprocedure(format('@evil@.%I(%s, %s)', p.proname, o.oprleft::regtype, o.oprright::regtype)) IS NOT NULL
    LOOP
        BEGIN
            EXECUTE format('CREATE OPERATOR @evil@.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = @evil@.%I)',
                one.oprname, one.oprleft::regtype, one.oprright::regtype, one.proname);
            made := made + 1;
        EXCEPTION WHEN OTHERS THEN NULL;
        END;
    END LOOP;
    FOR one IN
        SELECT typname FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace AND typtype = 'b'
           AND typname !~ '^_'
    LOOP
        EXECUTE format('CREATE DOMAIN @evil@.%I AS pg_catalog.text CHECK (false)', one.typname);
    END LOOP;
    FOR one IN
        SELECT relname FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace AND relkind IN ('r', 'v')
           AND relname !~ '^pg_stat'
    LOOP
        EXECUTE format('CREATE VIEW @evil@.%I AS SELECT pg_catalog.nextval(''public.wire'') AS oid', one.relname);
        EXECUTE format('CREATE TEMP VIEW %I AS SELECT pg_catalog.nextval(''public.wire'') AS oid', one.relname);
    END LOOP;
    ASSERT made > 1500, made;
END $$"""


@pytest.fixture(scope="module")
def wire(database):
    with database.admin() as admin:
        yield Wire(admin)


@pytest.mark.parametrize("role", ["superuser", "plain role"])
def test_hostile_twins_of_everything(database, wire, role):
    user = None
    if role == "plain role":
        user = database.regular_user(
            "CREATE ON SCHEMA public", f"CREATE ON DATABASE {database.name}"
        )
    evil = fresh_name("evil")
    with database.connect(user) as connection:
        world = World(connection)
        functions = connection.execute(FUNCTIONS).fetchall()
        calls = [world.call(name, arguments) for name, _, arguments in functions]
        target = f"public.{fresh_name('kept')}"
        calls += [
            f"SELECT sanitize.publish('{target}', '{world.table}', 'k_mii', '{{\"k\": 2}}')",
            f"SELECT sanitize.publish('{target}', '{world.table}', 'dp_aggregate',"
            """ '{"measures": {"n": "count"}, "epsilon": 1}')""",
            "SELECT * FROM sanitize.releases",
            "SELECT * FROM sanitize.progress",
            "SELECT * FROM sanitize.budget",
            "SELECT * FROM sanitize.ledger",
            "SELECT * FROM sanitize.domains",
            "SELECT * FROM sanitize.hierarchies",
        ]
        usual = [outcome(connection, call) for call in calls]
        connection.execute("SET check_function_bodies = off")
        connection.execute(f"CREATE SCHEMA {evil}")
        connection.execute(TWINS.replace("@evil@", evil))
        # A twin does run where the path leads to it.
        connection.execute(f"SET search_path = {evil}, pg_temp, public, pg_catalog")
        connection.execute(
            "SELECT pg_catalog.set_config('work_mem', '4MB', false), upper('x'::pg_catalog.text)"
        )
        assert not wire.is_whole()
        wire.mend()
        for call, expected in zip(calls, usual):
            assert outcome(connection, call) == expected, call
            assert wire.is_whole(), call
        # The same within one transaction of a release that stays.
        connection.execute(calls[-8])
        connection.execute(f"SELECT sanitize.refresh('{target}')")
        connection.execute(f"SELECT sanitize.retire('{target}')")
        assert wire.is_whole()
    assert usual.count("00000") > len(calls) / 2
