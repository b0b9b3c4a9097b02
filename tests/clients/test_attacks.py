"""Attacks on the budget and on what a grantee can see, each test named after its attack.

In none may more epsilon be released than the ledger shows, and none returns exact data.
"""

import os
import re
import signal
import threading
import time

import psycopg
import pytest
from helpers import Database, fresh_name
from psycopg import sql

COUNT = """SELECT value FROM sanitize.dp_aggregate('{source}', '{{"n": "count"}}', {epsilon})"""


def ask(connection, epsilon=0.1, source="stays"):
    return connection.execute(COUNT.format(source=source, epsilon=epsilon)).fetchone()[0]


@pytest.fixture(scope="module")
def world(database):
    """A protected table of 1000 people with three rows each."""
    with database.admin() as admin:
        admin.execute("""
            CREATE TABLE stays (person int, ward text, days int, weight float8);
            INSERT INTO stays SELECT i % 1000, chr(65 + i % 4), i % 30, 50 + i % 40
                FROM generate_series(1, 3000) i;
        """)
    return database


@pytest.fixture
def owner(world):
    with world.connect() as connection:
        connection.execute(
            "SELECT sanitize.protect('stays', 'person', 1000, max_rows_per_unit => 1)"
        )
        yield connection


@pytest.fixture
def analyst(world, owner):
    """The name of a role that may ask and may not read."""
    name = world.regular_user()
    owner.execute("SELECT sanitize.allow('stays', %s::regrole)", [name])
    yield name
    owner.execute("SELECT sanitize.disallow('stays', %s::regrole)", [name])


@pytest.fixture
def slow(owner, analyst):
    """A protected view that takes half a minute to read."""
    owner.execute("CREATE TABLE IF NOT EXISTS slow_rows AS TABLE stays")
    owner.execute(
        "CREATE OR REPLACE VIEW slow AS SELECT * FROM slow_rows WHERE pg_sleep(0.01) IS NOT NULL"
    )
    owner.execute(
        "SELECT sanitize.protect('slow', 'person', 10, assume_stable => true, max_rows_per_unit => 1)"
    )
    owner.execute("SELECT sanitize.allow('slow', %s::regrole)", [analyst])
    return "slow"


def spent(connection, source="stays"):
    """What the ledger shows, and that the totals agree with it."""
    total, kept = connection.execute(
        """SELECT (SELECT coalesce(sum(epsilon), 0) FROM sanitize.ledger_entry e
                   WHERE e.source = p.source), epsilon_spent
           FROM sanitize.protection p WHERE source = %s::regclass""",
        [source],
    ).fetchone()
    assert total == kept
    return float(total)


def test_rollback(world, owner, analyst):
    before = spent(owner)
    with world.connect(analyst, autocommit=False) as connection:
        ask(connection)
        connection.rollback()
    assert spent(owner) == pytest.approx(before + 0.1)


def test_savepoint_and_rollback_to(world, owner, analyst):
    before = spent(owner)
    with world.connect(analyst) as connection, connection.transaction():
        for _ in range(3):
            connection.execute("SAVEPOINT s")
            ask(connection)
            connection.execute("ROLLBACK TO s")
    assert spent(owner) == pytest.approx(before + 0.3)


def test_cursor_fetch_then_abort(world, owner, analyst):
    before = spent(owner)
    with world.connect(analyst, autocommit=False) as connection:
        connection.execute("DECLARE c CURSOR FOR " + COUNT.format(source="stays", epsilon=0.1))
        assert connection.execute("FETCH 1 FROM c").fetchone()
        connection.rollback()
    assert spent(owner) == pytest.approx(before + 0.1)


def test_exception_block_that_swallows_the_result(world, owner, analyst):
    before = spent(owner)
    with world.connect(analyst) as connection:
        connection.execute("""
            DO $$
            BEGIN
                PERFORM * FROM sanitize.dp_aggregate('stays', '{"n": "count"}', 0.1);
                RAISE EXCEPTION 'undo';
            EXCEPTION WHEN OTHERS THEN NULL;
            END $$
        """)
    assert spent(owner) == pytest.approx(before + 0.1)


def test_cancel_in_the_middle(world, owner, analyst, slow):
    """Cancelled while it reads: the charge was before that."""
    before = spent(owner, slow)
    with world.connect(analyst) as connection:
        timer = threading.Timer(0.3, connection.cancel_safe)
        timer.start()
        with pytest.raises(psycopg.errors.QueryCanceled):
            ask(connection, source=slow)
        timer.join()
    assert spent(owner, slow) == pytest.approx(before + 0.1)


def test_statement_timeout_as_an_oracle(world, owner, analyst, slow):
    """A timeout tells about the time a query takes; it is paid for each time."""
    with world.connect(analyst) as connection:
        before = spent(owner, slow)
        connection.execute("SET statement_timeout = '200ms'")
        for _ in range(2):
            with pytest.raises(psycopg.errors.QueryCanceled) as error:
                ask(connection, source=slow)
            assert error.value.diag.message_detail is None
    assert spent(owner, slow) == pytest.approx(before + 0.2)


def test_terminated_backend(world, owner, analyst, slow):
    before = spent(owner, slow)
    with world.connect(analyst) as connection:
        pid = connection.info.backend_pid
        timer = threading.Timer(
            0.3, lambda: owner.execute("SELECT pg_terminate_backend(%s)", [pid])
        )
        timer.start()
        with pytest.raises(psycopg.OperationalError):
            ask(connection, source=slow)
        timer.join()
    assert spent(owner, slow) == pytest.approx(before + 0.1)


def test_lost_connection(world, owner, analyst, slow):
    before = spent(owner, slow)
    connection = world.connect(analyst)
    connection.pgconn.send_query(COUNT.format(source=slow, epsilon=0.1).encode())
    deadline = time.monotonic() + 5
    while spent(owner, slow) == before and time.monotonic() < deadline:
        time.sleep(0.01)
    connection.pgconn.finish()
    assert spent(owner, slow) == pytest.approx(before + 0.1)


def test_terminated_ledger_worker(world, owner, analyst):
    """Without its worker nothing is released; the next call starts another."""
    with world.connect(analyst) as connection:
        ask(connection)
        before = spent(owner)
        owner.execute("""
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE backend_type = 'pg_sanitize ledger' AND datname = current_database()
        """)
        ask(connection)
    assert spent(owner) == pytest.approx(before + 0.1)


def test_prepared_transaction(world, owner, analyst):
    before = spent(owner)
    with world.connect(analyst) as connection:
        connection.execute("BEGIN")
        ask(connection)
        connection.execute("PREPARE TRANSACTION 'attack'")
        connection.execute("ROLLBACK PREPARED 'attack'")
    assert spent(owner) == pytest.approx(before + 0.1)


def test_sixteen_clients_race_for_the_last_epsilon(world, owner, analyst):
    owner.execute("CREATE TABLE raced AS TABLE stays")
    owner.execute("SELECT sanitize.protect('raced', 'person', 1, max_rows_per_unit => 1)")
    owner.execute("SELECT sanitize.allow('raced', %s::regrole)", [analyst])
    outcomes = []

    def race():
        with world.connect(analyst) as connection:
            for _ in range(3):
                try:
                    outcomes.append(ask(connection, source="raced") is not None)
                except psycopg.Error as error:
                    assert error.sqlstate == "PS001", error
                    outcomes.append(False)

    threads = [threading.Thread(target=race) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 48
    assert sum(outcomes) == 10
    assert spent(owner, "raced") == pytest.approx(1)


def test_no_allowance(world, owner):
    before = spent(owner)
    with world.connect(world.regular_user()) as stranger:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            ask(stranger)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            stranger.execute("SELECT sanitize.charge('stays', 'spite', 1)")
        assert stranger.execute("SELECT * FROM sanitize.budget").fetchall() == []
        assert stranger.execute("SELECT * FROM sanitize.ledger").fetchall() == []
    assert spent(owner) == before


def test_the_right_to_read_is_no_allowance(world, owner):
    with world.connect(world.regular_user("SELECT ON stays")) as reader:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            ask(reader)
        for call in [
            "protect('stays', 'person', 1e6, max_rows_per_unit => 1)",
            "unprotect('stays')",
            "allow('stays', current_user::regrole)",
            "disallow('stays', current_user::regrole)",
            "confirm_ledger()",
        ]:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                reader.execute(f"SELECT sanitize.{call}")


def test_role_without_execute(world, owner, analyst):
    signature = (
        "sanitize.dp_aggregate(regclass, jsonb, float8, float8, text[], jsonb, jsonb, interval)"
    )
    before = spent(owner)
    owner.execute(f"REVOKE EXECUTE ON FUNCTION {signature} FROM PUBLIC")
    try:
        denied = pytest.raises(psycopg.errors.InsufficientPrivilege)
        with world.connect(analyst) as connection, denied:
            ask(connection)
    finally:
        owner.execute(f"GRANT EXECUTE ON FUNCTION {signature} TO PUBLIC")
    assert spent(owner) == before


def test_the_tables_behind_the_views(world, owner, analyst):
    with world.connect(analyst) as connection:
        ask(connection)
        for statement in [
            "SELECT * FROM sanitize.protection",
            "SELECT * FROM sanitize.allowance",
            "SELECT * FROM sanitize.ledger_entry",
            "UPDATE sanitize.protection SET epsilon_spent = 0",
            "DELETE FROM sanitize.ledger_entry",
            "DELETE FROM sanitize.ledger",
            "UPDATE sanitize.budget SET epsilon = 1e9",
            "SELECT nextval('sanitize.ledger_entry_id_seq')",
        ]:
            with pytest.raises(psycopg.Error) as error:
                connection.execute(statement)
            assert error.value.sqlstate in ("42501", "55000"), statement
        rows = connection.execute("SELECT who FROM sanitize.ledger").fetchall()
        assert rows == [(analyst,)]


def test_redefined_functions_and_operators(world, owner, analyst):
    """What a grantee puts in front of pg_catalog is never called with the owner's rights."""
    owner.execute(sql.SQL("CREATE SCHEMA evil AUTHORIZATION {}").format(sql.Identifier(analyst)))
    owner.execute("CREATE TABLE evil_log (who text); GRANT INSERT ON evil_log TO PUBLIC")
    with world.connect(analyst) as connection:
        connection.execute("""
            CREATE FUNCTION evil.log(text) RETURNS void LANGUAGE sql AS
                'INSERT INTO public.evil_log VALUES (current_user)';
            CREATE FUNCTION evil.same(a text, b text) RETURNS bool LANGUAGE plpgsql AS
                $$ BEGIN PERFORM evil.log('x'); RETURN true; END $$;
            CREATE FUNCTION evil.same(a int, b int) RETURNS bool LANGUAGE plpgsql AS
                $$ BEGIN PERFORM evil.log('x'); RETURN true; END $$;
            CREATE OPERATOR evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.same);
            CREATE OPERATOR evil.= (LEFTARG = int, RIGHTARG = int, FUNCTION = evil.same);
            CREATE OPERATOR evil.< (LEFTARG = int, RIGHTARG = int, FUNCTION = evil.same);
            CREATE FUNCTION evil.count() RETURNS bigint LANGUAGE sql AS 'SELECT 0::bigint';
            CREATE FUNCTION evil.round(numeric) RETURNS numeric LANGUAGE plpgsql AS
                $$ BEGIN PERFORM evil.log('x'); RETURN 0; END $$;
            CREATE TABLE evil.stays (person int);
            CREATE DOMAIN evil.int4 AS int CHECK (evil.same(VALUE, 1));
            SET search_path = evil, public, pg_catalog;
        """)
        rows = connection.execute("""
            SELECT measure, value FROM sanitize.dp_aggregate('public.stays',
                '{"n": "count", "w": {"avg": "weight", "low": 0, "high": 200},
                  "d": {"sum": "days", "low": 0, "high": 30}}',
                30, filter => '{"ward": "A", "days": {"<": 29}}')
        """).fetchall()
        assert len(rows) == 3
        ask(connection, source="public.stays")
    assert owner.execute("SELECT * FROM evil_log").fetchall() == []
    (who,) = owner.execute("SELECT who FROM sanitize.ledger ORDER BY id DESC LIMIT 1").fetchone()
    assert who == analyst


def test_set_role(world, owner):
    """A share that is used up stays so whatever role its holder takes."""
    alice, group = world.regular_user(), world.regular_user()
    owner.execute(f'GRANT "{group}" TO "{alice}"')
    owner.execute("SELECT sanitize.allow('stays', %s::regrole, 0.2)", [alice])
    owner.execute("SELECT sanitize.allow('stays', %s::regrole, 50)", [group])
    before = spent(owner)
    with world.connect(alice) as connection:
        ask(connection)
        connection.execute(f'SET ROLE "{group}"')
        ask(connection)
        for _ in range(2):
            with pytest.raises(psycopg.Error) as error:
                ask(connection)
            assert error.value.sqlstate == "PS001"
            connection.execute("RESET ROLE")
    assert spent(owner) == pytest.approx(before + 0.2)
    row = owner.execute("SELECT who, login FROM sanitize.ledger ORDER BY id DESC LIMIT 1")
    assert row.fetchone() == (group, alice)
    owner.execute(f'REVOKE "{group}" FROM "{alice}"')


def test_view_or_partition_as_source(world, owner, analyst):
    """What reads a protected table is not protected by that: it has its own owner, who may give it the table's budget."""
    owner.execute("""
        CREATE TABLE parted (person int, days int) PARTITION BY LIST (days);
        CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
        CREATE TABLE parted_2 PARTITION OF parted DEFAULT;
        INSERT INTO parted SELECT i, i % 2 FROM generate_series(1, 500) i;
        CREATE VIEW parted_view AS SELECT * FROM parted;
    """)
    owner.execute("SELECT sanitize.protect('parted', 'person', 100, max_rows_per_unit => 1)")
    owner.execute("SELECT sanitize.allow('parted', %s::regrole)", [analyst])
    with world.connect(analyst) as connection:
        assert abs(ask(connection, 20, "parted") - 500) < 5
        for source in ["parted_1", "parted_view"]:
            with pytest.raises(psycopg.Error) as error:
                ask(connection, source=source)
            assert error.value.sqlstate == "55000"
        connection.execute("CREATE TEMP VIEW mine AS SELECT * FROM parted")
        with pytest.raises(psycopg.Error):
            connection.execute(
                "SELECT sanitize.protect('mine', 'person', 100, max_rows_per_unit => 1)"
            )
            connection.execute(COUNT.format(source="mine", epsilon=1))
    owner.execute("SELECT sanitize.protect('parted_view', 'person', max_rows_per_unit => 1)")
    owner.execute("SELECT sanitize.allow('parted_view', %s::regrole)", [analyst])
    with world.connect(analyst) as connection:
        assert abs(ask(connection, 20, "parted_view") - 500) < 5


def test_differencing_within_the_budget(world, owner, analyst):
    """With and without one person: the difference drowns in noise, and both are paid."""
    before = spent(owner)
    with world.connect(analyst) as connection:
        query = """SELECT value FROM sanitize.dp_aggregate('stays',
            '{"s": {"sum": "days", "low": 0, "high": 30}}', 0.05, filter => %s)"""
        differences = []
        for _ in range(10):
            everybody = connection.execute(query, ["{}"]).fetchone()[0]
            but_one = connection.execute(query, ['{"person": {"<>": 7}}']).fetchone()[0]
            differences.append(float(everybody - but_one))
    assert spent(owner) == pytest.approx(before + 1)
    # Noise of scale 600: ten differences within 30 of each other would be a miracle.
    assert max(differences) - min(differences) > 100


def test_averaging_within_the_budget(world, owner, analyst):
    """Asking again costs again: the budget ends before the mean gets better than its epsilon."""
    owner.execute("CREATE TABLE averaged AS TABLE stays")
    owner.execute("SELECT sanitize.protect('averaged', 'person', 1, max_rows_per_unit => 1)")
    owner.execute("SELECT sanitize.allow('averaged', %s::regrole)", [analyst])
    answers = []
    with world.connect(analyst) as connection, pytest.raises(psycopg.Error) as error:
        for _ in range(100):
            answers.append(ask(connection, 0.05, "averaged"))
    assert error.value.sqlstate == "PS001"
    assert "epsilon 0," in error.value.diag.message_detail
    assert len(answers) == 20
    assert len(set(answers)) > 5


def test_huge_and_not_a_number(world, owner, analyst):
    """Values at the ends of their types are clamped: no overflow, no error, no infinite answer."""
    owner.execute("""
        CREATE TABLE wild (person int, i bigint, n numeric, f float8, s smallint);
        INSERT INTO wild SELECT p, 9223372036854775807, 1e300, 'NaN', 32767
            FROM generate_series(1, 100) p;
        INSERT INTO wild SELECT p, -9223372036854775808, 'NaN', 'Infinity', -32768
            FROM generate_series(101, 200) p;
        INSERT INTO wild SELECT p, NULL, NULL, '-Infinity', NULL FROM generate_series(201, 300) p;
    """)
    owner.execute("SELECT sanitize.protect('wild', 'person', 10000, max_rows_per_unit => 1)")
    owner.execute("SELECT sanitize.allow('wild', %s::regrole)", [analyst])
    measures = ", ".join(
        f'"{kind}_{column}": {{"{kind}": "{column}", "low": -10, "high": 20}}'
        for kind in ["sum", "avg", "variance"]
        for column in "infs"
    )
    with world.connect(analyst) as connection:
        rows = connection.execute(
            "SELECT measure, value, low, high FROM sanitize.dp_aggregate('wild', %s, 5000)",
            [f"{{{measures}}}"],
        ).fetchall()
    values = {measure: float(value) for measure, value, _, _ in rows}
    # NaN counts as larger than everything, as Postgres sorts it; NULL does not count.
    assert values["sum_i"] == pytest.approx(1000, abs=50)
    assert values["sum_n"] == pytest.approx(4000, abs=50)
    assert values["sum_f"] == pytest.approx(3000, abs=50)
    assert values["avg_s"] == pytest.approx(5, abs=1)


def test_sums_that_would_overflow(world, owner, analyst):
    """One person's values at the end of their type: their sum is no error that tells of them."""
    owner.execute("""
        CREATE TABLE huge (person int, n numeric, f float8);
        INSERT INTO huge SELECT p, repeat('9', 131000)::numeric, 1.7e308
            FROM generate_series(1, 2) p, generate_series(1, 30);
        INSERT INTO huge SELECT p, 1, 1 FROM generate_series(3, 50) p;
        UPDATE huge SET n = repeat('9', 131072)::numeric WHERE person = 1;
    """)
    owner.execute("SELECT sanitize.protect('huge', 'person', 10000, 0, 50)")
    owner.execute("SELECT sanitize.allow('huge', %s::regrole)", [analyst])
    query = """SELECT measure, value FROM sanitize.dp_aggregate('huge', '{
        "n": {"sum": "n", "per": "unit", "low": 0, "high": 5},
        "f": {"sum": "f", "per": "unit", "low": 0, "high": 5},
        "m": {"avg": "n", "per": "unit", "bounds": "private"},
        "d": {"distinct": "n"}}', 1000, filter => %s)"""
    with world.connect(analyst) as connection:
        for person, sum_ in [(1, 5), (2, 5), (3, 1), (99, 0)]:
            rows = dict(connection.execute(query, [f'{{"person": {person}}}']).fetchall())
            assert abs(rows["n"] - sum_) < 1 and abs(rows["f"] - sum_) < 1


def test_groups_whose_bytes_are_no_text():
    """In SQL_ASCII a text may hold anything: the one who has such a value makes no question fail."""
    made = Database(fresh_name("ascii"), encoding="SQL_ASCII")
    try:
        with made.admin() as admin:
            admin.execute("CREATE TABLE odd (person int, ward text)")
            admin.execute("INSERT INTO odd SELECT i, 'A' FROM generate_series(1, 200) i")
            admin.execute(r"INSERT INTO odd SELECT i, E'\xff\xfe' FROM generate_series(201, 300) i")
            admin.execute(
                "SELECT sanitize.protect('odd', 'person', 10000, 0.1, max_rows_per_unit => 1)"
            )
            query = """SELECT groups->>'ward', round(value) FROM sanitize.dp_aggregate('odd',
                '{"n": "count"}', 1000, 1e-6, group_by => '{ward}', filter => %s)"""
            for person, groups in [(1, 2), (250, 1)]:
                found = admin.execute(query, [f'{{"person": {{">=": {person}}}}}']).fetchall()
                assert len(found) == groups
    finally:
        made.drop()


def test_filter_values_with_quotes(world, owner, analyst):
    """Text in filters, groups and names is a value and nothing else."""
    owner.execute("""
        CREATE TABLE "quo""ted" ("per son" int, "wa'rd" text);
        INSERT INTO "quo""ted" SELECT i, 'a''b\\"; DROP TABLE stays; --'
            FROM generate_series(1, 300) i;
    """)
    owner.execute(
        """SELECT sanitize.protect('"quo""ted"', 'per son', 1000, max_rows_per_unit => 1)"""
    )
    owner.execute("""SELECT sanitize.allow('"quo""ted"', %s::regrole)""", [analyst])
    query = """SELECT sum(value) FROM sanitize.dp_aggregate('"quo""ted"', '{"n": "count"}', 20,
        filter => jsonb_build_object('wa''rd', %s::text))"""
    with world.connect(analyst) as connection:
        for setting in ["on", "off"]:
            connection.execute(f"SET standard_conforming_strings = {setting}")
            connection.execute("SET backslash_quote = on")
            for value, rows in [
                ("a'b\\\"; DROP TABLE stays; --", 300),
                ("' OR true --", 0),
                ("\\' OR true --", 0),
                ("$$ OR true --", 0),
            ]:
                (count,) = connection.execute(query, [value]).fetchone()
                assert abs(count - rows) < 5, value
        with pytest.raises(psycopg.errors.UndefinedColumn):
            connection.execute(
                """SELECT * FROM sanitize.dp_aggregate('stays', '{"n": "count"}', 1,
                   filter => '{"1=1 OR ward": "A"}')"""
            )
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            connection.execute(
                """SELECT * FROM sanitize.dp_aggregate('stays', '{"n": "count"}', 1,
                   filter => '{"days": {"= 1 OR 1 =": 1}}')"""
            )


def test_errors_that_depend_on_the_data(world, owner, analyst):
    """A view that fails on some rows says so in one constant sentence, and the charge stands."""
    owner.execute("""
        CREATE FUNCTION gossip(i int) RETURNS int LANGUAGE plpgsql AS
            $$ BEGIN RAISE NOTICE 'row %', i; RAISE WARNING 'row %', i; RETURN i; END $$;
        CREATE TABLE stays_1 AS TABLE stays;
        CREATE TABLE stays_2 AS TABLE stays;
        CREATE TABLE stays_3 AS TABLE stays;
        CREATE TABLE stays_4 AS TABLE stays;
        CREATE VIEW divides AS SELECT person, 1 / (days - 7) AS x, ward FROM stays_1;
        CREATE VIEW casts AS SELECT person, (ward || days)::int AS x, ward FROM stays_2;
        CREATE VIEW overflows AS SELECT person, days * 2147483647 AS x, ward FROM stays_3;
        CREATE VIEW gossips AS SELECT person, gossip(days) AS x, ward FROM stays_4;
    """)
    said = set()
    with world.connect(analyst) as connection:
        notices = []
        connection.add_notice_handler(lambda notice: notices.append(notice.message_primary))
        connection.execute("SET client_min_messages = debug1")
        for view in ["divides", "casts", "overflows"]:
            owner.execute(f"SELECT sanitize.protect('{view}', 'person', 1, max_rows_per_unit => 1)")
            owner.execute(f"SELECT sanitize.allow('{view}', %s::regrole)", [analyst])
            with pytest.raises(psycopg.Error) as error:
                connection.execute(
                    f"SELECT * FROM sanitize.dp_aggregate('{view}',"
                    """ '{"s": {"sum": "x", "low": 0, "high": 1}}', 0.1)"""
                )
            diag = error.value.diag
            said.add((diag.sqlstate, diag.message_primary, diag.message_detail, diag.context))
            assert spent(owner, view) == pytest.approx(0.1)
        owner.execute(
            "SELECT sanitize.protect('gossips', 'person', 1, assume_stable => true, max_rows_per_unit => 1)"
        )
        owner.execute("SELECT sanitize.allow('gossips', %s::regrole)", [analyst])
        connection.execute(
            "SELECT * FROM sanitize.dp_aggregate('gossips',"
            """ '{"s": {"sum": "x", "low": 0, "high": 1}}', 0.1)"""
        )
        assert not [notice for notice in notices if "row" in notice]
    assert said == {("22000", "the protected relation could not be read", None, None)}


def test_explain(world, owner, analyst):
    """EXPLAIN ANALYZE shows the call and nothing of what it does inside."""
    with world.connect(analyst) as connection:
        plan = connection.execute(
            "EXPLAIN (ANALYZE, VERBOSE, BUFFERS) " + COUNT.format(source="stays", epsilon=0.1)
        )
        text = "\n".join(line for (line,) in plan)
    assert "Function Scan" in text
    assert not re.search(r"Seq Scan|stays\.|Aggregate", text)


def test_owner_rights_stay_with_the_owner(world, owner, analyst):
    """Functions of a view run as the view's owner, restricted, and never as the caller."""
    owner.execute("""
        CREATE FUNCTION note(i int) RETURNS int LANGUAGE plpgsql AS
            $$ BEGIN PERFORM set_config('work_mem', '1MB', false); RETURN i; END $$;
        CREATE TABLE noted AS TABLE stays;
        CREATE VIEW noting AS SELECT note(person) AS person FROM noted;
    """)
    owner.execute(
        "SELECT sanitize.protect('noting', 'person', 10, assume_stable => true, max_rows_per_unit => 1)"
    )
    owner.execute("SELECT sanitize.allow('noting', %s::regrole)", [analyst])
    with world.connect(analyst) as connection:
        connection.execute("SET work_mem = '7MB'")
        ask(connection, source="noting")
        assert connection.execute("SHOW work_mem").fetchone() == ("7MB",)
        assert connection.execute("SELECT current_user").fetchone() == (analyst,)
        assert connection.execute("SHOW search_path").fetchone() == ('"$user", public',)


def test_kill_9_and_crash_recovery(world):
    """The server crashes right after an answer: its charge is there when it comes back."""
    analyst = world.regular_user()
    with world.admin() as admin:
        admin.execute("SELECT sanitize.allow('stays', %s::regrole)", [analyst])
        before = spent(admin)
    connection = world.connect(analyst)
    ask(connection)
    os.kill(connection.info.backend_pid, signal.SIGKILL)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        time.sleep(0.2)
        try:
            with world.admin() as admin:
                assert spent(admin) == pytest.approx(before + 0.1)
                break
        except psycopg.OperationalError:
            continue
    else:
        pytest.fail("the server did not come back")
    with world.connect(analyst) as connection:
        ask(connection)
    with world.admin() as admin:
        assert spent(admin) == pytest.approx(before + 0.2)
