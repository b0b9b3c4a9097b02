"""What costs nothing is bounded: questions as large as a message can be, numbers that are short in jsonb and long as
text, settings, readers that a view keeps busy, locks."""

import re
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from helpers import patience, peak_memory, wait_until
from readers import at_work, readers

MB = 1 << 20
# What a call takes that needs hardly any memory: see test_memory.py.
ALLOWANCE = 16 * MB
COUNT = """SELECT count(*) FROM sanitize.dp_aggregate('{}', '{{"n": "count"}}', 0.1)"""


@pytest.fixture(scope="module")
def world(database):
    with database.admin() as admin:
        admin.execute("""
            CREATE TABLE visits AS SELECT i AS person, i::numeric AS cost, 'ward ' || i % 4 AS ward, 'x' AS town
                FROM generate_series(1, 1000) AS i;
            SELECT sanitize.protect('visits', 'person', 1e6, 0.1, max_rows_per_unit => 1);
            GRANT CREATE ON SCHEMA public TO PUBLIC""")
    return database


@pytest.fixture
def analyst(world):
    name = world.regular_user()
    with world.admin() as admin:
        admin.execute("SELECT sanitize.allow('visits', %s::regrole)", [name])
    return name


def refused(connection, query, state, seconds=2, memory=None):
    """The error, which comes soon and without much memory."""
    connection.execute("SELECT sanitize.zcdp_rho(1, 0.1)")
    before, began = peak_memory(connection), time.monotonic()
    with pytest.raises(psycopg.Error) as error:
        connection.execute(query)
    took, more = time.monotonic() - began, peak_memory(connection) - before
    assert error.value.sqlstate == state, error.value
    assert took < patience(seconds), f"{took} s"
    assert memory is None or more < memory, f"{more / MB} MB"
    return error.value


LONG = ", ".join(["1e131071"] * 16000)
LISTS = {
    # 16 thousand numbers of 131072 digits, each a few bytes long in jsonb.
    "long numbers": ("cost", LONG, "53400"),
    "long numbers as texts": ("cost", ", ".join(['"1e131071"'] * 9000), "22023"),
    "many texts": ("town", ", ".join(f'"a text {i}"' for i in range(900000)), "22023"),
    "many numbers": ("person", ", ".join(str(i) for i in range(300000)), "22023"),
    "long texts": ("town", ", ".join(f'"{i:03}{"x" * 3000}"' for i in range(900)), "22023"),
    "nothing at all": ("town", ", ".join(["null"] * 50000), "22023"),
}


def given(connection, text):
    """Keeps a JSON value: to make it is the asker's own work."""
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS given (value jsonb)")
    connection.execute("TRUNCATE given")
    connection.execute("INSERT INTO given VALUES (%s::jsonb)", [text])


@pytest.mark.parametrize("function", ["dp_cost", "dp_aggregate"])
@pytest.mark.parametrize("what", LISTS)
def test_long_filters(world, analyst, function, what):
    column, values, state = LISTS[what]
    with world.connect(analyst) as connection:
        given(connection, f'{{"{column}": [{values}]}}')
        limit = 1024 if what == "many texts" else 64
        connection.execute(f"SET pg_sanitize.max_memory = '{limit}MB'")
        query = f"""SELECT * FROM sanitize.{function}('visits', '{{"n": "count"}}', 0.1,
            filter => (SELECT value FROM given))"""
        refused(connection, query, state, memory=64 * MB + ALLOWANCE)


def test_long_numbers_elsewhere(world, analyst):
    """Every function that reads jsonb reads it in the same way."""
    with world.connect(analyst) as connection:
        connection.execute("SET pg_sanitize.max_memory = '64MB'")
        connection.execute("CREATE TABLE own AS SELECT 1 AS a")
        given(connection, f'{{"k": [{LONG}]}}')
        long = "(SELECT value FROM given)"
        for query in (
            f"SELECT * FROM sanitize.dp_cost('visits', {long}, 0.1)",
            f"SELECT * FROM sanitize.dp_cost('visits', '{{\"n\": \"count\"}}', 0.1, group_by => '{{ward}}', groups => {long})",
            f"SELECT sanitize.guarantee('k_mii', {long})",
            f"SELECT sanitize.publish('made', 'own', 'k_mii', {long})",
            f"SELECT sanitize.declare_hierarchy('own', 'a', {long})",
        ):
            refused(connection, query, "53400", memory=64 * MB + ALLOWANCE)
        connection.execute("DROP TABLE own")


def test_groups_repeat_long_texts(world, analyst):
    """One long text times many short ones."""
    with world.connect(analyst) as connection:
        query = """SELECT * FROM sanitize.dp_cost('visits', '{"n": "count"}', 0.1, group_by => '{ward,person}',
            groups => (SELECT jsonb_build_object('ward', jsonb_build_array(repeat('x', 1000000)), 'person',
                jsonb_agg(i)) FROM generate_series(1, 50000) AS i))"""
        refused(connection, query, "22023", memory=128 * MB)


def test_the_longest_filter_is_answered(world, analyst):
    """As many values as a filter may have; the reader hardly grows."""
    query = """SELECT count(*) FROM sanitize.dp_aggregate('visits', '{"n": "count"}', 0.1, filter =>
        (SELECT jsonb_build_object('town', jsonb_agg('a text ' || i)) FROM generate_series(1, 10000) AS i))"""
    with world.connect(analyst) as connection, world.admin() as admin:
        connection.execute(COUNT.format("visits"))
        began = time.monotonic()
        assert connection.execute(query).fetchone() == (1,)
        assert time.monotonic() - began < patience(5)
        for pid in readers(admin):
            status = Path(f"/proc/{pid}/status").read_text()
            peak = int(re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)[1]) * 1024
            assert peak < 200 * MB, f"{peak / MB} MB"


def test_a_long_question_is_not_stored(world, analyst):
    query = """SELECT count(*) FROM sanitize.dp_aggregate('visits', '{"n": "count"}', 0.1, group_by => '{town}',
        groups => (SELECT jsonb_agg(repeat('x', 100000) || i) FROM generate_series(1, %s) AS i), reuse => '1 day')"""
    stored = "SELECT coalesce(max(pg_column_size(question::text)), 0) FROM sanitize.answer"
    with world.connect(analyst) as connection, world.admin() as admin:
        assert connection.execute(query % 30).fetchone() == (30,)
        assert admin.execute(stored).fetchone()[0] < MB
        refused(connection, query % 60, "22023")


def test_declarations_are_bounded(world):
    with world.connect(world.regular_user()) as connection:
        connection.execute("CREATE TABLE said (a text)")
        values = "(SELECT array_agg(repeat('x', 1000) || i) FROM generate_series(1, 20000) AS i)"
        refused(connection, f"SELECT sanitize.declare_domain('said', 'a', {values})", "22023", 10)
        tree = "(SELECT jsonb_object_agg(repeat('x', 1000) || i, 'y') FROM generate_series(1, 20000) AS i)"
        refused(
            connection,
            f"SELECT sanitize.declare_hierarchy('said', 'a', jsonb_build_object('tree', jsonb_build_array({tree})))",
            "22023",
            20,
        )


def test_ceilings_of_the_administrator(world):
    """A session sets what it likes; what counts is at most what the administrator lets it."""
    name = world.regular_user()
    heavy = "SELECT count(*) FROM sanitize.mine_miis('wide', 1)"
    with world.admin() as admin:
        admin.execute("""CREATE TABLE wide AS SELECT i AS a, i % 1009 AS b, i % 2003 AS c, i % 3001 AS d
            FROM generate_series(1, 60000) AS i; GRANT SELECT ON wide TO PUBLIC""")
        admin.execute(f"ALTER ROLE {name} SET pg_sanitize.max_memory_limit = '2MB'")
        admin.execute(f"ALTER ROLE {name} SET pg_sanitize.threads_limit = 1")
    with world.connect(name) as connection:
        connection.execute("SET pg_sanitize.max_memory = '8GB'")
        connection.execute("SET pg_sanitize.threads = 8")
        error = refused(connection, heavy, "53400", 30)
        assert "2 MB" in error.diag.message_detail
        for setting in "max_memory_limit = 0", "threads_limit = 64":
            refused(connection, f"SET pg_sanitize.{setting}", "42501")
    with world.admin() as admin:
        admin.execute(f"ALTER ROLE {name} RESET pg_sanitize.max_memory_limit")

    def most_threads(role):
        """The most threads that the backend of a call has at a time."""
        with world.connect(role) as connection:
            connection.execute("SET pg_sanitize.threads = 8")
            tasks, seen, stop = (
                Path(f"/proc/{connection.info.backend_pid}/task"),
                [],
                threading.Event(),
            )

            def watch():
                while not stop.is_set():
                    seen.append(len(list(tasks.iterdir())))
                    time.sleep(0.001)

            watcher = threading.Thread(target=watch)
            watcher.start()
            connection.execute(heavy)
            stop.set()
            watcher.join()
            return max(seen)

    # The backend's own, one that works, and one that waits for it.
    assert most_threads(name) <= 3
    assert most_threads(world.regular_user()) > 3


# A function of a view that goes on whatever is asked of it: it catches cancels.
STUBBORN = """
    CREATE FUNCTION {0}_wait(seconds float8) RETURNS bool VOLATILE LANGUAGE plpgsql AS $$
    BEGIN
        FOR i IN 1..1000 LOOP
            BEGIN
                PERFORM pg_sleep(seconds);
            EXCEPTION WHEN query_canceled THEN NULL;
            END;
        END LOOP;
        RETURN true;
    END $$;
    CREATE VIEW {0} AS SELECT i AS person FROM generate_series(1, 3) AS i WHERE {0}_wait(10);
    SELECT sanitize.protect('{0}', 'person', 1e6, max_rows_per_unit => 1, assume_stable => true)"""
PATIENT = """
    CREATE VIEW {0} AS SELECT i AS person FROM generate_series(1, 3) AS i WHERE pg_sleep(60) IS NOT NULL;
    SELECT sanitize.protect('{0}', 'person', 1e6, max_rows_per_unit => 1, assume_stable => true)"""


@contextmanager
def asking(world, role, source, times):
    """So many connections of the role ask at the same time; the errors that they meet."""
    connections = [world.connect(role) for _ in range(times)]
    errors = []

    def ask(connection):
        try:
            connection.execute(COUNT.format(source))
        except psycopg.Error as error:
            errors.append(error)

    threads = [threading.Thread(target=ask, args=[c]) for c in connections]
    for thread in threads:
        thread.start()
    try:
        yield connections, errors
    finally:
        for connection in connections:
            connection.cancel_safe()
        for thread in threads:
            thread.join()
        for connection in connections:
            connection.close()


def test_one_role_leaves_a_reader_to_others(world, analyst):
    mallory = world.regular_user()
    with world.connect(mallory) as owner:
        owner.execute(PATIENT.format("sleepy"))
    with world.admin() as admin, world.connect(analyst) as connection:
        with asking(world, mallory, "sleepy", 6):
            wait_until(lambda: at_work(admin, "sleepy") >= 3, 20, "nobody reads")
            for _ in range(3):
                connection.execute("SET statement_timeout = '5s'")
                assert connection.execute(COUNT.format("visits")).fetchone() == (1,)
            assert at_work(admin, "sleepy") == 3
        wait_until(lambda: at_work(admin, "sleepy") == 0, 3, "they read on")


def test_set_role_gives_no_more_readers(world):
    mallory, other = world.regular_user(), world.regular_user()
    with world.connect(mallory) as owner, world.admin() as admin:
        owner.execute(PATIENT.format("dozing"))
        admin.execute(f"GRANT {other} TO {mallory}")
        owner.execute(f"SELECT sanitize.allow('dozing', '{other}')")
        admin.execute(f"ALTER ROLE {mallory} SET role = '{other}'")
        with asking(world, mallory, "dozing", 5):
            wait_until(lambda: at_work(admin, "dozing") >= 3, 20, "nobody reads")
            time.sleep(1)
            assert at_work(admin, "dozing") == 3


def test_a_caller_who_goes_ends_a_stubborn_read(world):
    mallory = world.regular_user()
    with world.connect(mallory) as owner, world.admin() as admin:
        owner.execute(STUBBORN.format("stubborn"))
        with asking(world, mallory, "stubborn", 1) as (connections, _):
            wait_until(lambda: at_work(admin, "stubborn") == 1, 20, "nobody reads")
            connections[0].cancel_safe()
            wait_until(lambda: at_work(admin, "stubborn") == 0, patience(4), "it reads on")


@contextmanager
def reader_timeout(world, seconds):
    with world.admin() as admin:
        admin.execute("LOAD 'pg_sanitize'")
        admin.execute(f"ALTER SYSTEM SET pg_sanitize.reader_timeout = '{seconds}s'")
        admin.execute("SELECT pg_reload_conf()")
        try:
            wait_until(lambda: not readers(admin), 10, "the readers do not leave")
            yield
        finally:
            admin.execute("ALTER SYSTEM RESET pg_sanitize.reader_timeout")
            admin.execute("SELECT pg_reload_conf()")


@pytest.mark.parametrize("name, view", [("endless", PATIENT), ("deaf", STUBBORN)])
def test_a_read_has_an_end(world, analyst, name, view):
    mallory = world.regular_user()
    with world.connect(mallory) as owner:
        owner.execute(view.format(name))
        with reader_timeout(world, 1):
            began = time.monotonic()
            with pytest.raises(psycopg.errors.QueryCanceled) as error:
                owner.execute(COUNT.format(name))
            assert 1 <= time.monotonic() - began < patience(8)
            assert "reader_timeout" in error.value.diag.message_primary
            assert "charge stands" in error.value.diag.message_detail
            # The next question has its own time.
            with world.connect(analyst) as connection:
                assert connection.execute(COUNT.format("visits")).fetchone() == (1,)


def test_locks_of_a_view_s_functions_are_given_back(world):
    """A session keeps advisory locks beyond its transactions: the reader's would keep others waiting."""
    mallory = world.regular_user()
    with world.connect(mallory) as owner, world.admin() as admin:
        owner.execute("""
            CREATE VIEW locking AS SELECT i AS person FROM generate_series(1, 3) AS i
                WHERE pg_advisory_lock(42) IS NOT NULL AND pg_advisory_lock_shared(43, i) IS NOT NULL;
            SELECT sanitize.protect('locking', 'person', 1e6, max_rows_per_unit => 1, assume_stable => true);
            CREATE VIEW failing AS SELECT i AS person FROM generate_series(1, 3) AS i
                WHERE pg_advisory_lock(44) IS NOT NULL AND 1 / (i - 2) < 10;
            SELECT sanitize.protect('failing', 'person', 1e6, max_rows_per_unit => 1, assume_stable => true)""")
        owner.execute(COUNT.format("locking"))
        with pytest.raises(psycopg.Error):
            owner.execute(COUNT.format("failing"))
        held = """SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid)
            WHERE locktype = 'advisory' AND backend_type = 'pg_sanitize reader'"""
        assert readers(admin)
        assert admin.execute(held).fetchone() == (0,)
        # It is still known, and works on.
        owner.execute(COUNT.format("locking"))


def test_the_lock_of_a_question_names_its_source(world):
    """Whoever may not ask about a relation cannot keep those waiting who do: their locks differ."""
    mallory = world.regular_user()
    with world.connect(mallory) as owner, world.admin() as admin:
        owner.execute(PATIENT.format("waiting"))
        query = COUNT.format("waiting").replace("0.1)", "0.1, reuse => '1 day')")
        connection = world.connect(mallory)

        def ask():
            with pytest.raises(psycopg.errors.QueryCanceled):
                connection.execute(query)

        thread = threading.Thread(target=ask)
        thread.start()
        try:
            wait_until(lambda: at_work(admin, "waiting") == 1, 20, "nobody reads")
            found = admin.execute(
                """SELECT objid FROM pg_locks WHERE locktype = 'userlock' AND objsubid = 6 AND pid = %s""",
                [connection.info.backend_pid],
            ).fetchall()
            assert found == admin.execute("SELECT 'waiting'::regclass::oid").fetchall()
        finally:
            connection.cancel_safe()
            thread.join()
            connection.close()


MODES = (
    "ACCESS SHARE",
    "ROW SHARE",
    "ROW EXCLUSIVE",
    "SHARE UPDATE EXCLUSIVE",
    "SHARE",
    "SHARE ROW EXCLUSIVE",
    "EXCLUSIVE",
    "ACCESS EXCLUSIVE",
)


def test_nobody_locks_our_tables(world):
    """A plain role gets no lock on a table or view of ours that keeps others from reading or writing it."""
    with world.connect(world.regular_user()) as connection:
        names = connection.execute("""SELECT oid::regclass::text FROM pg_class
            WHERE relnamespace = 'sanitize'::regnamespace AND relkind IN ('r', 'v')""").fetchall()
        assert len(names) > 15
        granted = set()
        for (name,) in names:
            for mode in MODES:
                try:
                    with connection.transaction():
                        connection.execute(f"LOCK TABLE {name} IN {mode} MODE NOWAIT")
                        granted.add((name, mode))
                except psycopg.errors.InsufficientPrivilege:
                    pass
                with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
                    connection.execute(f"SELECT FROM {name} FOR KEY SHARE")
        # Neither conflicts with what our functions do, nor with what others may do here.
        allowed = {("sanitize_internal.shard_work", "ROW EXCLUSIVE")}
        if connection.info.server_version >= 160000:
            # Whoever may write may also lock for reading.
            allowed |= {("sanitize_internal.shard_work", mode) for mode in MODES[:2]}
        assert {lock for lock in granted if lock[1] != "ACCESS SHARE"} <= allowed
