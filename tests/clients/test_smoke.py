"""What the catalog must say of the extension, whatever it contains."""

import re

import psycopg
import pytest
from helpers import ROOT, cancel_after, load_lucs, peak_memory

FUNCTIONS = """
    SELECT p.oid::regprocedure::text
    FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
    JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
    WHERE d.deptype = 'e' AND e.extname = 'pg_sanitize'
"""


def names(connection, query):
    return [name for (name,) in connection.execute(query)]


def test_version(connection):
    manifest = (ROOT / "Cargo.toml").read_text()
    (version,) = connection.execute(
        "SELECT extversion FROM pg_extension WHERE extname = 'pg_sanitize'"
    ).fetchone()
    assert version == re.search(r'^version = "(.+)"', manifest, re.MULTILINE)[1]


def test_there_are_functions(connection):
    assert names(connection, FUNCTIONS)


def test_all_lies_in_one_schema(connection):
    outside = f"{FUNCTIONS} AND p.pronamespace::regnamespace::text !~ '^sanitize'"
    assert names(connection, outside) == []


def test_every_object_has_a_comment(connection):
    described = """
        SELECT pg_describe_object(d.classid, d.objid, d.objsubid)
        FROM pg_depend d JOIN pg_extension e
            ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
        WHERE d.deptype = 'e' AND e.extname = 'pg_sanitize'
          AND obj_description(d.objid, d.classid::regclass::text) IS NULL
          -- The array type of a type and the row type of a table have no life of their own.
          AND NOT (d.classid = 'pg_type'::regclass
                   AND d.objid IN (SELECT typarray FROM pg_type
                                   UNION ALL SELECT oid FROM pg_type WHERE typrelid <> 0))
    """
    assert names(connection, described) == []


def test_no_function_is_leakproof(connection):
    assert names(connection, f"{FUNCTIONS} AND p.proleakproof") == []


def test_definer_functions_are_closed(connection):
    """SECURITY DEFINER wants a fixed search_path and nobody but those it was granted to."""
    open_path = """AND p.prosecdef
        AND NOT EXISTS (SELECT FROM unnest(p.proconfig) c WHERE c LIKE 'search_path=%')"""
    open_to_all = """AND p.prosecdef
        AND EXISTS (SELECT FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
                    WHERE a.grantee = 0 AND a.privilege_type = 'EXECUTE')"""
    assert names(connection, f"{FUNCTIONS} {open_path}") == []
    assert names(connection, f"{FUNCTIONS} {open_to_all}") == []


def test_random_functions_are_volatile(connection):
    """Whatever takes a seed draws random numbers: its calls must not be folded or shared."""
    wrong = "AND 'seed' = ANY (p.proargnames) AND (p.provolatile <> 'v' OR p.proparallel = 's')"
    assert names(connection, f"{FUNCTIONS} {wrong}") == []


def test_what_looks_into_the_catalog_is_not_immutable(connection):
    """`guarantee` looks up the terms of a source; what must not change in the rows that row_type and relation_owner are
    written into is declared so on purpose."""
    wrong = """AND p.provolatile = 'i' AND p.proname NOT IN ('row_type', 'relation_owner')
        AND (p.proname = 'guarantee' OR 'regclass'::regtype = ANY (p.proargtypes))"""
    assert names(connection, f"{FUNCTIONS} {wrong}") == []


def test_schema_is_open_to_use_only(connection, regular_user):
    user = regular_user()
    usage, create = connection.execute(
        "SELECT has_schema_privilege(%s, 'sanitize', 'USAGE'),"
        " has_schema_privilege(%s, 'sanitize', 'CREATE')",
        [user, user],
    ).fetchone()
    assert usage
    assert not create


def test_settings_are_reserved(connection):
    connection.execute("LOAD 'pg_sanitize'")
    with pytest.raises(psycopg.Error):
        connection.execute("SET pg_sanitize.no_such_setting = 1")


def test_extension_can_be_dropped_and_made_again(database):
    with database.connect() as connection:
        connection.execute("DROP EXTENSION pg_sanitize")
        connection.execute("CREATE EXTENSION pg_sanitize")


def test_cancel_reaches_a_statement(connection):
    with pytest.raises(psycopg.errors.QueryCanceled), cancel_after(connection, 0.1):
        connection.execute("SELECT pg_sleep(20)")


def test_regular_users_read_only_what_they_may(database, connection, regular_user):
    connection.execute("CREATE TABLE private_one (a int); CREATE TABLE shared_one (a int)")
    with database.connect(regular_user("SELECT ON shared_one")) as stranger:
        stranger.execute("SELECT FROM shared_one")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            stranger.execute("SELECT FROM private_one")


def test_a_real_table_is_loaded(connection):
    before = peak_memory(connection)
    rows, width = load_lucs(connection, "lucs/breast.D20.N699.C2.num", "breast", repeat=2)
    assert (rows, width) == (2 * 683, 10)
    assert connection.execute("SELECT count(*) FROM breast").fetchone() == (rows,)
    assert peak_memory(connection) >= before
