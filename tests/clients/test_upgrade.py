"""From one version to the next: a database of 0.1.0 is filled, updated, and then like a fresh one.

sql/pg_sanitize--OLD--NEW.sql is the script of the update. Where these tests fail after a change in sql/, it lacks that
change; scripts/upgrade drafts it."""

import re
import subprocess

import psycopg
import pytest
from helpers import ROOT, Database, fresh_name
from operations import (
    ask,
    assert_same_catalog,
    catalog,
    contents,
    dumped,
    fill,
    fill_earlier,
    fill_more,
    restored,
)

OLD = "0.1.0"
NEW = "0.3.0"
UPDATE = f"ALTER EXTENSION pg_sanitize UPDATE TO '{NEW}'"


@pytest.fixture
def earlier():
    """A database of the earlier version."""
    database = Database(fresh_name("earlier"), extension=False)
    with database.admin() as admin:
        admin.execute(f"CREATE EXTENSION pg_sanitize VERSION '{OLD}'")
    yield database
    database.drop()


@pytest.fixture
def previous():
    """A database of the version before this one."""
    database = Database(fresh_name("previous"), extension=False)
    with database.admin() as admin:
        admin.execute("CREATE EXTENSION pg_sanitize VERSION '0.2.0'")
    yield database
    database.drop()


@pytest.fixture
def filled(earlier):
    """One that somebody has worked with, and the analyst's name."""
    analyst = earlier.regular_user()
    later = Database(fresh_name("later"))
    try:
        with earlier.admin() as admin, later.admin() as other:
            fill(other, analyst)
            fill_earlier(admin, other)
            earlier.answer = ask(other)
    finally:
        later.drop()
    return earlier, analyst


def grown(rows):
    """Rows as texts, with the defaults of columns that came since."""
    since = {"sanitize.protection": ",f)", "sanitize.ledger_entry": ",)"}
    return {
        table: [(row[:-1] + since[table] if table in since else row,) for (row,) in of_table]
        for table, of_table in rows.items()
    }


def version(connection):
    query = "SELECT extversion FROM pg_extension WHERE extname = 'pg_sanitize'"
    return connection.execute(query).fetchone()[0]


def test_an_updated_catalog_is_that_of_a_fresh_install(earlier, previous, connection):
    for database in (earlier, previous):
        with database.admin() as admin:
            assert catalog(admin) != catalog(connection)
            admin.execute(UPDATE)
            assert_same_catalog(catalog(admin), catalog(connection))


def test_objects_on_changed_functions_stop_the_update_which_lists_them(previous):
    with previous.admin() as admin:
        admin.execute("""
            CREATE TABLE a (x int);
            CREATE VIEW shares AS SELECT * FROM sanitize.common_records('a', 'a');
            CREATE MATERIALIZED VIEW kept AS SELECT * FROM sanitize.information_loss('a', 'a') WITH NO DATA;
            CREATE TABLE listed (n bigint DEFAULT (sanitize.exact_count_epsilon(10, 0.5, 2)));
            CREATE FUNCTION mine() RETURNS float8 BEGIN ATOMIC
                SELECT epsilon FROM sanitize.exact_count_epsilon(10, 0.5, 2, 7); END""")
        before = catalog(admin)
        with pytest.raises(psycopg.errors.DependentObjectsStillExist) as error:
            admin.execute(UPDATE)
        assert sorted(
            line.split(" depends")[0] for line in error.value.diag.message_detail.split("\n")
        ) == [
            "function public.mine()",
            "materialized view public.kept",
            "view public.shares",
        ]
        assert "create them again" in error.value.diag.message_hint
        assert_same_catalog(catalog(admin), before)
        admin.execute("DROP VIEW shares; DROP MATERIALIZED VIEW kept; DROP FUNCTION mine()")
        told = []
        admin.add_notice_handler(lambda notice: told.append(notice.message_detail))
        admin.execute(UPDATE)
        (listed,) = told
        assert listed.count("sanitize.") == 27
        assert "sanitize.compare_itemsets: min_share in place of min_support" in listed


def test_a_release_keeps_its_share_under_the_new_name(previous):
    """The record of a release made before the update, as 0.2.0 wrote it."""
    with previous.admin() as admin:
        admin.execute("""
            CREATE TABLE people (a bool); INSERT INTO people SELECT i % 2 = 0 FROM generate_series(1, 100) AS i;
            CREATE TABLE shown (LIKE people);
            INSERT INTO sanitize.published (target, row_type, source, method, options, guarantee, rows, published_at,
                    published_by)
                SELECT 'shown', reltype, 'people', 'private_krimp_generate',
                       '{"epsilon": 1, "n": 5, "min_support": 0.3}', '{}', 5, now(), current_user
                  FROM pg_class WHERE oid = 'shown'::regclass""")
        admin.execute(UPDATE)
        (options,) = admin.execute("SELECT options FROM sanitize.releases").fetchone()
        assert options == {"epsilon": 1, "n": 5, "min_share": 0.3}
        admin.execute("SELECT sanitize.refresh('shown')")
        assert admin.execute("SELECT count(*) FROM shown").fetchone() == (5,)


def test_a_filled_database_is_updated(filled, connection):
    database, analyst = filled
    with database.admin() as admin:
        before = grown(contents(admin))
        shown = admin.execute("SELECT count(*), sum(cells) FROM shared").fetchone()
        admin.execute(UPDATE)
        assert version(admin) == NEW
        after = contents(admin)
        assert {name: after[name] for name in before} == before
        assert sum(map(len, before.values())) >= 9
        assert_same_catalog(catalog(admin), catalog(connection))
        # What was kept is used: stored answer, domain, bounds, model, bag, view, budget, ledger.
        assert ask(admin) == database.answer
        assert admin.execute("SELECT count(*), sum(cells) FROM shared").fetchone() == shown
        assert admin.execute(
            "SELECT domain_values, origin FROM sanitize.column_domain('people', 'sex')"
        ).fetchone() == (["f", "it's", "m"], "declared")
        rows = "SELECT count(*) FROM models, sanitize.krimp_generate(NULL::people, model, 10, seed => 1)"
        assert admin.execute(rows).fetchone() == (10,)
        assert admin.execute("SELECT k FROM bags, sanitize.k_anonymity(bag) AS k").fetchone() == (
            1,
        )
        spent = "SELECT epsilon_spent FROM sanitize.budget WHERE grantee IS NULL"
        sums = admin.execute(spent).fetchone()
        admin.execute("SELECT sanitize.charge('people', 'after', 1)")
        assert admin.execute(spent).fetchone() > sums
        with database.connect(analyst) as their:
            assert len(ask(their)) == 2
        # What is new works on it.
        fill_more(admin)
        assert admin.execute("SELECT min(count) >= 5 FROM homes_shown").fetchone() == (True,)
        assert admin.execute("SELECT count(*) FROM sanitize.releases").fetchone() == (2,)


def test_before_the_update_changed_functions_are_refused_and_others_work(filled):
    database, _ = filled
    with database.connect() as connection:
        for call in (
            "sanitize.mine_miis('people', 5, max_length => 2)",
            "sanitize.mii_risk('people', 5)",
            "sanitize.k_anonymize(NULL::people, 5)",
            "sanitize.k_anonymity('people')",
            # Their tables lack columns.
            "sanitize.protect('people', 'id', 1, max_rows_per_unit => 1)",
            "sanitize.column_domain('people', 'sex')",
        ):
            with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState) as error:
                connection.execute(f"SELECT * FROM {call} AS r LIMIT 1")
            diag = error.value.diag
            assert "does not fit the library" in diag.message_primary
            assert OLD in diag.message_detail and NEW in diag.message_detail
            assert "ALTER EXTENSION pg_sanitize UPDATE" in diag.message_hint
        with pytest.raises(psycopg.errors.UndefinedFunction):
            connection.execute("SELECT sanitize.publish('x', 'people', 'k_mii', '{\"k\": 5}')")
        # A session that was there before needs no new connection.
        with database.admin() as admin:
            admin.execute(UPDATE)
        assert connection.execute(
            "SELECT count(*) > 0 FROM sanitize.mine_miis('people', 5, max_length => 2)"
        ).fetchone() == (True,)


def test_every_function_of_the_earlier_version_is_still_in_the_library(earlier):
    """CREATE FUNCTION looks for the symbol, so that version could not have been made else; pg_upgrade
    makes each function again in the same way."""
    with earlier.admin() as admin:
        symbols = "SELECT count(DISTINCT prosrc) FROM pg_proc WHERE probin LIKE '%pg_sanitize'"
        assert admin.execute(symbols).fetchone()[0] > 90


def test_rights_that_were_changed_stay_changed(earlier):
    role = earlier.regular_user()
    with earlier.admin() as admin:
        admin.execute(f"""
            REVOKE EXECUTE ON FUNCTION sanitize.suppression(regclass, text[]) FROM PUBLIC;
            GRANT EXECUTE ON FUNCTION sanitize.suppression(regclass, text[]) TO {role};
            REVOKE SELECT ON sanitize.domains FROM PUBLIC;""")
        rights = """SELECT proacl::text FROM pg_proc WHERE oid = 'sanitize.suppression(regclass, text[])'::regprocedure
                    UNION ALL SELECT relacl::text FROM pg_class WHERE oid = 'sanitize.domains'::regclass"""
        before = admin.execute(rights).fetchall()
        admin.execute(UPDATE)
        assert admin.execute(rights).fetchall() == before


def test_a_view_on_a_changed_function_stops_the_update_which_names_it(filled):
    database, _ = filled
    with database.admin() as admin:
        before = catalog(admin)
        refused = "SELECT * FROM sanitize.mine_miis('people', 5)"
        admin.execute(f"CREATE VIEW my_risks AS {refused}")
        with pytest.raises(psycopg.errors.DependentObjectsStillExist) as error:
            admin.execute(UPDATE)
        assert "my_risks" in error.value.diag.message_detail
        assert_same_catalog(catalog(admin), before)
        admin.execute("DROP VIEW my_risks")
        admin.execute(UPDATE)
        admin.execute(f"CREATE VIEW my_risks AS {refused}")


@pytest.mark.parametrize("updated", [True, False], ids=["updated", "as it was"])
def test_a_dump_of_the_earlier_version_is_restored_into_this_one(filled, connection, updated):
    """pg_dump writes CREATE EXTENSION without a version: a restore is an update too."""
    database, _ = filled
    with database.admin() as admin:
        if updated:
            admin.execute(UPDATE)
            fill_more(admin)
        before = contents(admin) if updated else grown(contents(admin))
        copy = restored(dumped(database))
        try:
            with copy.admin() as other:
                assert version(other) == NEW
                after = contents(other)
                assert {name: after[name] for name in before} == before
                assert_same_catalog(catalog(other), catalog(connection))
                other.execute("SELECT sanitize.confirm_ledger()")
                if updated:
                    other.execute("SELECT sanitize.refresh('people_general')")
                else:
                    fill_more(other)
        finally:
            copy.drop()


# The program that compares two versions, on statements of its own.

EARLIER = """
-- a comment; with a semicolon
CREATE TABLE s.kept (a pg_catalog.int4);
CREATE FUNCTION s.same(x pg_catalog.text DEFAULT 'a, b)') RETURNS pg_catalog.int4
    LANGUAGE c AS 'm', 'same';
COMMENT ON FUNCTION s.same(pg_catalog.text) IS 'it''s;
the same';
CREATE FUNCTION s.body() RETURNS pg_catalog.int4 LANGUAGE sql AS $$
    SELECT 1;
$$;
CREATE FUNCTION s.longer(a pg_catalog.int4, OUT b pg_catalog.int4) LANGUAGE c AS 'm', 'longer';
COMMENT ON FUNCTION s.longer(pg_catalog.int4) IS 'one';
CREATE FUNCTION s.result() RETURNS pg_catalog.int4 LANGUAGE c AS 'm', 'result';
REVOKE ALL ON FUNCTION s.result() FROM PUBLIC;
COMMENT ON FUNCTION s.result() IS 'as before';
CREATE VIEW s.v AS SELECT 1 AS a;
GRANT SELECT ON s.v TO PUBLIC;
"""

LATER = (
    EARLIER.replace("SELECT 1;", "SELECT 2;")
    .replace("a pg_catalog.int4, OUT", "a pg_catalog.int4, c pg_catalog.bool, OUT")
    .replace("s.longer(pg_catalog.int4)", "s.longer(pg_catalog.int4, pg_catalog.bool)")
    .replace("s.result() RETURNS pg_catalog.int4", "s.result() RETURNS pg_catalog.text")
    .replace("1 AS a;", "1 AS a, 2 AS b;")
    + "CREATE TABLE s.new (a pg_catalog.int4);\nCOMMENT ON TABLE s.new IS 'new';\n"
)


def compare(folder, earlier, later, told=None):
    """What scripts/upgrade.awk prints, as statements in one line each, and its errors."""
    (folder / "earlier.sql").write_text(earlier)
    (folder / "later.sql").write_text(later)
    if told:
        (folder / "told.sql").write_text(told)
    command = ["awk", "-v", f"told={folder / 'told.sql'}", "-f", str(ROOT / "scripts/upgrade.awk")]
    ran = subprocess.run(
        [*command, str(folder / "earlier.sql"), str(folder / "later.sql")],
        capture_output=True,
        text=True,
    )
    statements = re.split(r"\n\n+|(?<=;)\n(?=[A-Z])", ran.stdout.strip())
    return [" ".join(s.split()) for s in statements if s], ran.stderr


def test_what_is_new_is_made_and_what_changed_is_replaced(tmp_path):
    assert compare(tmp_path, EARLIER, EARLIER) == ([], "")
    statements, errors = compare(tmp_path, EARLIER, LATER)
    assert errors == ""
    assert [
        re.match(r"[^(;]*(\([^)]*\))?", s)[0].removesuffix(" AS SELECT 1") for s in statements
    ] == [
        "DROP FUNCTION s.longer(pg_catalog.int4)",
        "DROP FUNCTION s.result()",
        "CREATE OR REPLACE FUNCTION s.body()",
        "CREATE FUNCTION s.longer(a pg_catalog.int4, c pg_catalog.bool, OUT b pg_catalog.int4)",
        "COMMENT ON FUNCTION s.longer(pg_catalog.int4, pg_catalog.bool)",
        "CREATE FUNCTION s.result()",
        "REVOKE ALL ON FUNCTION s.result()",
        "COMMENT ON FUNCTION s.result()",
        "CREATE OR REPLACE VIEW s.v AS SELECT 1 AS a, 2 AS b",
        "CREATE TABLE s.new (a pg_catalog.int4)",
        "COMMENT ON TABLE s.new IS 'new'",
    ]


@pytest.mark.parametrize(
    "later, what",
    [
        (EARLIER.replace("kept (a", "kept (b text, a"), "TABLE s.kept has changed"),
        (EARLIER.replace("CREATE TABLE s.kept (a pg_catalog.int4);", ""), "TABLE s.kept is gone"),
    ],
)
def test_a_table_that_changed_is_told_by_hand(tmp_path, later, what):
    assert what in compare(tmp_path, EARLIER, later)[1]
    told = "ALTER TABLE s.kept ADD b text;"
    assert compare(tmp_path, EARLIER, later, told) == ([told], "")
