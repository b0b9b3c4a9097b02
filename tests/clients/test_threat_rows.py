"""Threat: rows, columns or numbers reach somebody who may not read them: by any function, by row security that is
passed by, by what is told of publishing, by locks."""

import psycopg
import pytest
from helpers import fresh_name
from publishing import WAITS, Background, make_source, publish, refresh, slow_view, wait_for
from threats import FUNCTIONS, World, outcome

# Functions that whoever may not read a relation can call: they tell what was declared of it, which is public, or
# draw from a model that the caller has.
PUBLIC = {"column_bounds", "column_domain", "transaction_items"}
FROM_MODELS = {"krimp_generate", "dp_synthesize"}
# Functions that the values of World do not get past the checks of arguments, which are before everything else.
NOT_REACHED = {"krimp_classify", "randomized_itemsets"}
READS = ("regclass", "anyelement", "sanitize.bag")


@pytest.fixture(scope="module")
def world(database):
    with database.admin() as admin:
        made = World(admin)
        made.functions = [
            (name, arguments)
            for name, _, arguments in admin.execute(FUNCTIONS).fetchall()
            if any(
                of in READS
                or (name != "publish" and argument in ("source", "released", "original"))
                for argument, of, _ in arguments
            )
        ]
        publish(admin, made.target, made.table)
        yield made


def test_a_role_without_any_right(database, world):
    """No function reads for somebody who may not read, and none says more than that."""
    told = set()
    with database.connect(database.regular_user("CREATE ON SCHEMA public")) as stranger:
        for name, arguments in world.functions:
            call = world.call(name, arguments)
            try:
                with stranger.transaction(force_rollback=True):
                    stranger.execute(call)
                told.add(name)
                assert name not in FROM_MODELS or "model" in [a for a, _, _ in arguments]
            except psycopg.Error as error:
                refused = "22023" if name in NOT_REACHED else "42501"
                assert error.sqlstate == refused, f"{call}\n{error}"
                assert error.diag.message_detail is None, error
    assert told == PUBLIC | FROM_MODELS


def test_a_role_that_may_read_some_columns(database, connection, world):
    """With the columns that it may read named, each function does what it does; with others none does."""
    user = database.regular_user("CREATE ON SCHEMA public", f"SELECT (ward, day) ON {world.table}")
    went = 0
    with database.connect(user) as reader:
        for name, arguments in world.functions:
            if "columns" not in [argument for argument, _, _ in arguments] or name.startswith(
                "dp_"
            ):
                continue
            call = world.call(name, arguments, "columns", "'{ward,id}'")
            # The number of columns is all that the first one wants of them; the other tells what was declared.
            if name not in ("rr_support", "transaction_items"):
                assert outcome(reader, call) in ("42501", "22023"), call
            call = world.call(name, arguments, "columns", "'{ward,day}'")
            if "sanitize.bag" not in [of for _, of, _ in arguments]:
                allowed = outcome(reader, call) == outcome(connection, call)
                went += allowed
        # Models, bags and reports of all columns.
        for call in (
            f"SELECT sanitize.row_bag(t) FROM {world.table} AS t",
            f"SELECT sanitize.privacy_report('{world.table}', '{world.table}')",
            f"SELECT sanitize.privacy_report_html('{world.table}', '{world.table}')",
            f"SELECT sanitize.publish('mine', '{world.table}', 'k_mii', '{{\"k\": 2}}')",
        ):
            assert outcome(reader, call) == "42501", call
        # The table is protected, so that people are counted by a column that the role may not read.
        call = f"""SELECT sanitize.publish('{fresh_name("mine")}', '{world.table}', 'k_mii', '{{"k": 2, "columns": ["ward"]}}')"""
        assert outcome(reader, call) == "42501", call
        by_rows = '{"k": 2, "columns": ["ward"], "unit": ""}'
        publish(reader, fresh_name("mine"), world.table, options=by_rows)
    assert went > 20


def test_comparing_with_what_one_may_not_read(database, world):
    """Functions of two relations, of which the caller may read one, whichever that is."""
    with database.connect(database.regular_user("CREATE ON SCHEMA public")) as stranger:
        own = fresh_name("own")
        stranger.execute(
            f"CREATE TABLE {own} AS SELECT 'w1' AS ward, 1 AS day, i AS id FROM generate_series(1, 9) AS i"
        )
        tried = 0
        for name, arguments in world.functions:
            relations = [argument for argument, of, _ in arguments if of == "regclass"]
            for relation in relations if len(relations) > 1 else ():
                call = world.call(name, arguments, relation, f"'{own}'::regclass")
                # Domains are public.
                if name != "rr_support":
                    assert outcome(stranger, call) == "42501", call
                    tried += 1
    assert tried > 10


SECURED = """
    CREATE TABLE {t} AS SELECT (ARRAY['mine', 'theirs'])[1 + i % 2] AS ward, i % 5 AS day FROM generate_series(1, 60) AS i;
    ALTER TABLE {t} ENABLE ROW LEVEL SECURITY;
    CREATE POLICY own_rows ON {t} USING (ward = 'mine')"""


def test_functions_see_the_rows_that_a_select_sees(database, connection):
    """Row security, with every function that tells of values."""
    table = fresh_name("secured")
    connection.execute(SECURED.format(t=table))
    with database.connect(database.regular_user(f"SELECT ON {table}")) as reader:
        for call in (
            f"SELECT * FROM sanitize.mine_miis('{table}', 7)",
            f"SELECT * FROM sanitize.mii_risk('{table}', 7)",
            f"SELECT * FROM sanitize.frequent_itemsets('{table}', 1)",
            f"SELECT * FROM sanitize.class_risk('{table}', 'day')",
            f"SELECT sanitize.krimp_model('{table}', 2)",
            f"SELECT * FROM sanitize.krimp_codetable('{table}', 2)",
            f"SELECT * FROM sanitize.krimp_generate(NULL::{table}, 50, 2)",
            f"SELECT * FROM sanitize.code_tree_generate(NULL::{table}, 50)",
            f"SELECT * FROM sanitize.k_mii(NULL::{table}, 2)",
            f"SELECT * FROM sanitize.k_anonymize(NULL::{table}, 2)",
            f"SELECT * FROM sanitize.mii_suppress(NULL::{table}, 1)",
            f'SELECT * FROM sanitize.hide_itemsets(NULL::{table}, \'[{{"day": "1"}}]\', 1)',
            f'SELECT * FROM sanitize.shuffle_groups(NULL::{table}, \'[["ward"], ["day"]]\')',
            f"SELECT * FROM sanitize.suppress_cells('{table}', 'ward', 'day')",
            f"SELECT sanitize.suggest_hierarchy('{table}', 'ward')",
            f"SELECT sanitize.privacy_report('{table}', '{table}')",
            f"SELECT sanitize.privacy_report_html('{table}', '{table}')",
        ):
            found = str(reader.execute(call).fetchall())
            assert "theirs" not in found, call
            assert "theirs" in str(connection.execute(call).fetchall()) or "suggest" in call, call
        assert reader.execute(f"SELECT sanitize.k_anonymity('{table}', '{{ward}}')").fetchone() == (
            30,
        )
        reader.execute("SET row_security = off")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            reader.execute(f"SELECT sanitize.k_anonymity('{table}')")


@pytest.mark.parametrize(
    "who, rows",
    [("reader", 30), ("owner", 60), ("owner under FORCE", 30), ("BYPASSRLS", 60)],
)
def test_a_release_has_the_rows_that_its_owner_sees(database, connection, who, rows):
    """Whoever refreshes it, and whatever row_security is in their session."""
    table, target = fresh_name("secured"), fresh_name("release")
    connection.execute(SECURED.format(t=table))
    user = database.regular_user(f"SELECT ON {table}", "CREATE ON SCHEMA public")
    if "owner" in who:
        connection.execute(f"ALTER TABLE {table} OWNER TO {user}")
    if "FORCE" in who:
        connection.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    if who == "BYPASSRLS":
        connection.execute(f"ALTER ROLE {user} BYPASSRLS")
    shown = f"SELECT count(*) FROM {target}"
    with database.connect(user) as own:
        assert publish(own, target, table)["rows"] == rows
        assert refresh(own, target)["rows"] == rows
    connection.execute("SET row_security = off")
    try:
        assert refresh(connection, target)["rows"] == rows
        assert connection.execute(shown).fetchone() == (rows,)
        # The policy of today holds, not that of the publish.
        connection.execute(f"ALTER POLICY own_rows ON {table} USING (ward = 'theirs')")
        assert refresh(connection, target)["rows"] == rows
        found = connection.execute(f"SELECT DISTINCT ward FROM {target} ORDER BY 1").fetchall()
        assert found == ([("mine",), ("theirs",)] if rows == 60 else [("theirs",)])
        # So do today's rights.
        if who == "reader":
            connection.execute(f"REVOKE SELECT ON {table} FROM {user}")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                refresh(connection, target)
    finally:
        connection.execute("RESET row_security")


def test_a_lock_on_what_one_may_not_read(database, connection):
    """Whoever waits for a table of their own does not keep others from changing the source."""
    secret = make_source(connection)
    mallory = database.regular_user("CREATE ON SCHEMA public")
    with database.connect(mallory) as own, database.connect(mallory) as second:
        source, target = make_source(own), fresh_name("release")
        publish(own, target, source)
        with own.transaction():
            own.execute(f"LOCK {target} IN SHARE MODE")
            calls = [
                f"SELECT sanitize.publish('{target}', '{secret}', 'k_mii', '{{\"k\": 5}}')",
                f"SELECT sanitize.publish('{target}', '{source}', 'dp_mii_sample', '{{\"epsilon\": 1,"
                f' "delta": 0.1, "k": 5, "public_source": "{secret}"}}\')',
            ]
            waiting = [Background(database, call, mallory) for call in calls]
            for one in waiting:
                wait_for(connection, WAITS, [one.connection.info.backend_pid])
            connection.execute("SET lock_timeout = '300ms'")
            connection.execute(f"ALTER TABLE {secret} ADD COLUMN more int")
            connection.execute("RESET lock_timeout")
        for one in waiting:
            one.join()
            assert one.error is not None
        assert second.execute("SELECT 1").fetchone() == (1,)


def test_what_is_told_of_a_release(database, connection):
    """Progress, the record, comments, activity, statistics: for somebody who may read neither source nor target,
    who may read the target, who may read the source."""
    source = fresh_name("visits")
    connection.execute(f"""
        CREATE TABLE {source} AS SELECT CASE i WHEN 1 THEN 'rare' ELSE 'w' || i % 3 END AS ward, i % 4 AS day
            FROM generate_series(1, 1000) AS i""")
    slow, target = slow_view(connection, source, 1), fresh_name("release")
    publish(connection, target, source, options='{"k": 7}')
    roles = {
        "stranger": database.regular_user(),
        "of the target": database.regular_user(f"SELECT ON {target}"),
        "of the source": database.regular_user(f"SELECT ON {source}"),
    }
    running = Background(
        database, f"SELECT sanitize.publish('{target}_2', '{slow}', 'k_mii', '{{\"k\": 7}}')"
    )
    wait_for(connection, "SELECT count(*) > 0 FROM sanitize.progress WHERE phase <> 'starting'")
    seen = {}
    for who, user in roles.items():
        with database.connect(user) as other:
            assert other.execute("SELECT * FROM sanitize.progress").fetchall() == []
            assert other.execute("SELECT * FROM sanitize_internal.publishing()").fetchall() == []
            activity = other.execute(
                "SELECT query FROM pg_stat_activity WHERE pid = %s",
                [running.connection.info.backend_pid],
            ).fetchone()
            assert activity == ("<insufficient privilege>",)
            record = ("published", "release_entry", "sharded_release")
            for table in (*(f"sanitize.{name}" for name in record), "sanitize_internal.shard_work"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    other.execute(f"SELECT * FROM {table}")
            seen[who] = other.execute(
                "SELECT options, rows, suppressed_share, guarantee ? 'rows' FROM sanitize.releases"
            ).fetchall()
            # Of functions with side effects in a condition, none sees rows that the view holds back.
            other.execute("""CREATE FUNCTION pg_temp.look(jsonb) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS
                $$ BEGIN RAISE NOTICE '%', $1; RETURN true; END $$""")
            notices = []
            other.add_notice_handler(lambda notice: notices.append(notice.message_primary))
            other.execute("SELECT count(*) FROM sanitize.releases WHERE pg_temp.look(options)")
            assert not [said for said in notices if '"k"' in said]
            comment = other.execute(
                "SELECT obj_description(to_regclass(%s))", [f"public.{target}"]
            ).fetchone()[0]
            assert "rare" not in comment and "1000" not in comment
    running.connection.cancel()
    running.join()
    assert seen["stranger"] == []
    assert seen["of the source"] == [(None, None, None, False)]
    ((options, rows, share, has_rows),) = seen["of the target"]
    assert (options, rows, has_rows) == (None, 999, True) and share >= 0


@pytest.mark.parametrize("table", ["published", "release_entry", "sharded_release"])
def test_nobody_writes_the_record_of_releases(database, connection, table):
    """Not even whoever made the release."""
    source, target = make_source(connection), fresh_name("released")
    user = database.regular_user(f"SELECT ON {source}", "CREATE ON SCHEMA public")
    with database.connect(user) as owner:
        publish(owner, target, source)
        for statement in [
            f"INSERT INTO sanitize.{table} (target) VALUES (NULL)",
            f"UPDATE sanitize.{table} SET target = target",
            f"DELETE FROM sanitize.{table}",
            f"TRUNCATE sanitize.{table}",
        ]:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                owner.execute(statement)


def test_errors_of_a_refresh_show_rows_to_the_owner_only(database, connection):
    """Who is not allowed to refresh is told so before anything is read; a row that breaks a constraint of the
    target is shown to those who may read the target."""
    mallory = database.regular_user("CREATE ON SCHEMA public")
    source, target = make_source(connection), fresh_name("release")
    publish(connection, target, source)
    connection.execute(f"ALTER TABLE {target} ADD CHECK (ward IS NULL) NOT VALID")
    with database.connect(mallory) as other:
        with pytest.raises(psycopg.errors.InsufficientPrivilege) as refused:
            refresh(other, target)
        assert refused.value.diag.message_detail is None
    with pytest.raises(psycopg.errors.CheckViolation):
        refresh(connection, target)
