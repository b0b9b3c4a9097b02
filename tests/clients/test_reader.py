"""The reader process behind dp_aggregate: how it is found, shared, cancelled and limited."""

import json
import threading
import time
from contextlib import contextmanager

import psycopg
import pytest
from helpers import patience, wait_until
from readers import at_work, readers

COUNT = """SELECT value FROM sanitize.dp_aggregate('{source}', '{{"n": "count"}}', {epsilon})"""


@pytest.fixture(scope="module")
def world(database):
    """Protected tables, and a protected view that takes a minute to read."""
    with database.admin() as admin:
        admin.execute("""
            CREATE TABLE visits (person int, ward text, days int);
            INSERT INTO visits SELECT i % 20000, chr(65 + i % 4), i % 30
                FROM generate_series(1, 60000) i;
            SELECT sanitize.protect('visits', 'person', 1e6, 0.1, 3);
            CREATE VIEW slow AS SELECT * FROM visits WHERE pg_sleep(0.001) IS NOT NULL;
            SELECT sanitize.protect('slow', 'person', assume_stable => true, max_rows_per_unit => 1);
        """)
    return database


@pytest.fixture
def analyst(world):
    name = world.regular_user()
    with world.admin() as admin:
        for source in ["visits", "slow"]:
            admin.execute("SELECT sanitize.allow(%s, %s::regrole)", [source, name])
    return name


def readers_at_work(world, source="slow"):
    with world.admin() as admin:
        return at_work(admin, source)


def entries(world, source):
    with world.admin() as admin:
        query = "SELECT count(*) FROM sanitize.ledger_entry WHERE source = %s::regclass"
        return admin.execute(query, [source]).fetchone()[0]


@contextmanager
def asking(world, analyst, query):
    """Runs the query in another thread; gives its connection and the errors that it met."""
    connection, errors = world.connect(analyst), []

    def run():
        try:
            connection.execute(query)
        except psycopg.Error as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    yield connection, errors
    thread.join()


@contextmanager
def server_setting(world, name, value):
    """Sets a setting of the database for sessions to come: readers that are there leave first."""
    with world.admin() as admin:
        admin.execute(f"ALTER DATABASE {world.name} SET {name} = '{value}'")
        wait_until(lambda: not readers(admin), 10, "the readers do not leave")
        yield
        admin.execute(f"ALTER DATABASE {world.name} RESET {name}")
        wait_until(lambda: not readers(admin), 10, "the readers do not leave")


@pytest.mark.parametrize("how", ["cancel", "statement_timeout", "terminate"])
def test_a_caller_who_goes_ends_the_read(world, analyst, how):
    before = entries(world, "slow")
    query = COUNT.format(source="slow", epsilon=0.1)
    if how == "statement_timeout":
        query = f"SET statement_timeout = '700ms'; {query}"
    with asking(world, analyst, query) as (connection, errors):
        wait_until(lambda: entries(world, "slow") == before + 1, 10, "nobody reads")
        assert readers_at_work(world) == 1
        with world.admin() as admin:
            pid = connection.info.backend_pid
            if how == "cancel":
                admin.execute("SELECT pg_cancel_backend(%s)", [pid])
            elif how == "terminate":
                admin.execute("SELECT pg_terminate_backend(%s)", [pid])
            else:
                time.sleep(0.7)
        wait_until(lambda: readers_at_work(world) == 0, patience(1), "the reader reads on")
    assert errors[0].sqlstate == {"terminate": "57P01"}.get(how, "57014")
    assert entries(world, "slow") == before + 1


def test_a_cancelled_read_ends_no_other(world, analyst):
    """The signal of a caller who goes reaches nobody else's read."""
    with world.connect(analyst) as steady:
        for _ in range(10):
            with asking(world, analyst, COUNT.format(source="slow", epsilon=0.1)) as (other, _):
                wait_until(lambda: readers_at_work(world) == 1, 10, "nobody reads")
                other.cancel_safe()
                for _ in range(3):
                    assert steady.execute(COUNT.format(source="visits", epsilon=0.1)).fetchone()


def test_a_reader_that_is_terminated(world, analyst):
    """It takes nothing with it: its caller's farewell meets a process on its way out."""
    query = COUNT.format(source="slow", epsilon=0.1)
    with world.admin() as admin:
        started = admin.execute("SELECT pg_postmaster_start_time()").fetchone()
        for _ in range(10):
            with asking(world, analyst, query) as (_, errors):
                wait_until(lambda: readers_at_work(world) == 1, 10, "nobody reads")
                admin.execute("""SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE backend_type = 'pg_sanitize reader' AND datname = current_database()""")
            assert errors[0].sqlstate == "53000"
        assert admin.execute("SELECT pg_postmaster_start_time()").fetchone() == started
    with world.connect(analyst) as connection:
        assert connection.execute(COUNT.format(source="visits", epsilon=0.1)).fetchone()


def test_sixteen_clients(world, analyst):
    """None lost, none double, and no more readers than allowed."""
    before, answers, most = entries(world, "visits"), [], []

    def ask():
        with world.connect(analyst) as connection:
            for _ in range(20):
                answers.extend(connection.execute(COUNT.format(source="visits", epsilon=0.1)))

    threads = [threading.Thread(target=ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    with world.admin() as admin:
        while any(thread.is_alive() for thread in threads):
            most.append(len(readers(admin)))
            time.sleep(0.01)
    for thread in threads:
        thread.join()
    assert len(answers) == 16 * 20
    assert entries(world, "visits") == before + 16 * 20
    # One that starts while the others are there already leaves at once, but is seen.
    assert 1 <= max(most) <= 6


def test_a_dashboard_costs_what_its_questions_cost(world, analyst):
    """Ten questions, asked a thousand times by eight clients, in every order of their parts."""
    wards = ["A", "B", "C", "D", "E"]

    def question(number, turn):
        measures = {"n": "count", "s": {"sum": "days", "low": 0, "high": 30 + number}}
        parts = list(measures.items())
        lists = wards[turn % 5 :] + wards[: turn % 5]
        return json.dumps(dict(parts[:: 1 if turn % 2 else -1])), json.dumps(lists)

    before, seen = entries(world, "visits"), [set() for _ in range(10)]

    def ask(client):
        with world.connect(analyst) as connection:
            for turn in range(125):
                number = (turn + client) % 10
                measures, groups = question(number, turn)
                rows = connection.execute(
                    """SELECT groups->>'ward', measure, value FROM sanitize.dp_aggregate('visits',
                       %s, 0.1, group_by => '{ward}', groups => %s, reuse => '1 day')""",
                    [measures, groups],
                ).fetchall()
                seen[number].add(tuple(sorted(rows)))

    threads = [threading.Thread(target=ask, args=[i]) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert entries(world, "visits") == before + 10
    assert [len(answers) for answers in seen] == [1] * 10
    with world.connect(analyst) as connection:
        stored = connection.execute("SELECT count(DISTINCT question) FROM sanitize.answers")
        assert stored.fetchone()[0] >= 10
    with world.connect(world.regular_user()) as stranger:
        assert stranger.execute("SELECT count(*) FROM sanitize.answers").fetchone() == (0,)


def test_reuse_follows_age_and_terms(world, analyst):
    query = """SELECT value FROM sanitize.dp_aggregate('visits', '{"n": "count"}', 0.25,
        reuse => %s)"""
    cost = """SELECT epsilon FROM sanitize.dp_cost('visits', '{"n": "count"}', 0.25,
        reuse => '1 hour')"""
    with world.connect(analyst) as connection, world.admin() as admin:
        assert connection.execute(cost).fetchone() == (0.25,)
        first = connection.execute(query, ["1 hour"]).fetchone()
        assert connection.execute(cost).fetchone() == (0.0,)
        before = entries(world, "visits")
        assert connection.execute(query, ["1 hour"]).fetchone() == first
        assert entries(world, "visits") == before
        connection.execute(query, ["0 seconds"])
        assert entries(world, "visits") == before + 1
        admin.execute("SELECT sanitize.protect('visits', 'person', 1e6, 0.1, 2)")
        connection.execute(query, ["1 hour"])
        assert entries(world, "visits") == before + 2
        admin.execute("SELECT sanitize.protect('visits', 'person', 1e6, 0.1, 3)")
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            connection.execute(query, ["-1 hour"])


MEASURES = json.dumps(
    {
        "rows": "count",
        "people": "units",
        "days": {"count": "days"},
        "kinds": {"distinct": "days"},
        "sum": {"sum": "days", "low": 0, "high": 20},
        "mean": {"avg": "days", "low": 0, "high": 30},
        "variance": {"variance": "days", "low": 0, "high": 30},
        "median": {"quantile": 0.5, "of": "days", "low": 0, "high": 30},
        "bins": {"histogram": "days", "low": 0, "high": 30, "bins": 3},
        "each": {"sum": "days", "per": "unit", "low": 0, "high": 45},
        "visits": {"count": "days", "per": "unit", "low": 0, "high": 2},
        "found": {"sum": "days", "bounds": "private"},
    }
)
GROUPED = """SELECT groups->>'ward', measure, round(value, 1) FROM sanitize.dp_aggregate('copied',
    %s, 240000, 1e-3, group_by => '{ward}', groups => %s)
    WHERE groups->>'ward' <> 'nowhere' OR measure NOT IN ('mean', 'variance', 'median')
    ORDER BY 1, 2"""


def test_more_than_fits_into_memory_is_sorted(world, analyst):
    """Without noise to speak of, the answers are the same to the digit."""
    with world.admin() as admin:
        admin.execute("CREATE TABLE copied AS TABLE visits")
        admin.execute("SELECT sanitize.protect('copied', 'person', 1e6, 0.1, 3)")
        admin.execute("SELECT sanitize.allow('copied', %s::regrole)", [analyst])
    with world.connect(analyst) as connection:
        listed = [MEASURES, '["A", "D", "nowhere"]']
        in_memory = [connection.execute(GROUPED, p).fetchall() for p in (listed, [MEASURES, None])]
    with server_setting(world, "pg_sanitize.max_memory", "1MB"), world.connect(analyst) as c:
        on_disk = [c.execute(GROUPED, p).fetchall() for p in (listed, [MEASURES, None])]
    assert on_disk == in_memory
    assert len(in_memory[0]) == 3 * 14 - 3 and len(in_memory[1]) == 4 * 14


def test_answer_grid(world, analyst):
    with world.admin() as admin, world.connect(analyst) as connection:
        ask = COUNT.format(source="visits", epsilon=0.1)
        connection.execute(ask)
        admin.execute("LOAD 'pg_sanitize'")
        admin.execute("ALTER SYSTEM SET pg_sanitize.answer_grid = '400ms'")
        admin.execute("SELECT pg_reload_conf()")
        try:
            time.sleep(0.5)
            for _ in range(3):
                began = time.monotonic()
                connection.execute(ask)
                assert 0.4 <= time.monotonic() - began < patience(2)
            with pytest.raises(psycopg.Error):
                connection.execute("SET pg_sanitize.answer_grid = 0")
        finally:
            admin.execute("ALTER SYSTEM RESET pg_sanitize.answer_grid")
            admin.execute("SELECT pg_reload_conf()")


def test_a_locked_relation(world, analyst):
    before = entries(world, "visits")
    with world.connect(autocommit=False) as owner, world.connect(analyst) as connection:
        owner.execute("LOCK TABLE visits IN ACCESS EXCLUSIVE MODE")
        connection.execute("SET lock_timeout = '5s'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            connection.execute(COUNT.format(source="visits", epsilon=0.1))
        owner.rollback()
    assert entries(world, "visits") == before


def test_a_caller_who_holds_the_lock(world):
    """Waiting for oneself, unseen by the deadlock detector, ends after a second."""
    with world.connect(autocommit=False) as owner:
        owner.execute("LOCK TABLE visits IN ACCESS EXCLUSIVE MODE")
        began = time.monotonic()
        with pytest.raises(psycopg.errors.LockNotAvailable):
            owner.execute(COUNT.format(source="visits", epsilon=0.1))
        assert time.monotonic() - began < patience(5)
        owner.rollback()


def test_temporary_relations_are_refused(world):
    with world.connect() as owner:
        owner.execute("CREATE TEMP TABLE mine (person int)")
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            owner.execute("SELECT sanitize.protect('mine', 'person', 1, max_rows_per_unit => 1)")
