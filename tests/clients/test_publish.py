"""Releases as tables, through several connections: what readers see during a refresh, what is left when a
publish ends early, and who can have what run with whose rights. Threats are named in the tests."""

import json
import os
import random
import signal
import subprocess
import threading
import time

import psycopg
import pytest
from helpers import Database, fresh_name, program
from psycopg import sql
from psycopg.types.json import Jsonb

ROWS = 20000
K5 = '{"k": 5}'


@pytest.fixture
def source(connection):
    """A table whose rows all have the same version."""
    name = fresh_name("visits")
    connection.execute(f"""
        CREATE TABLE {name} AS SELECT i % 50 AS ward, i % 7 AS day, 0 AS version
            FROM generate_series(1, {ROWS}) AS i""")
    return name


@pytest.fixture
def target():
    return fresh_name("release")


def publish(connection, target, source, method="k_mii", options=K5):
    return connection.execute(
        "SELECT sanitize.publish(%s, %s::pg_catalog.text::pg_catalog.regclass, %s, %s)",
        [target, source, method, options],
    ).fetchone()[0]


def refresh(connection, target):
    return connection.execute(
        "SELECT sanitize.refresh(%s::pg_catalog.text::pg_catalog.regclass)", [target]
    ).fetchone()[0]


def record(connection, target):
    """(rows, how many publishes and refreshes there were)"""
    rows = connection.execute(
        "SELECT rows FROM sanitize.releases WHERE target = to_regclass(%s)", [target]
    ).fetchone()
    entries = connection.execute(
        "SELECT count(*) FROM sanitize.release_entry WHERE target IN (%s, 'public.' || %s)",
        [target, target],
    ).fetchone()[0]
    return rows and rows[0], entries


def wait_for(connection, condition, parameters=()):
    """Waits until a query returns true."""
    deadline = time.monotonic() + 30
    while not connection.execute(condition, parameters).fetchone()[0]:
        assert time.monotonic() < deadline, condition
        time.sleep(0.01)


WAITS = """SELECT coalesce(bool_or(wait_event_type = 'Lock'), false) FROM pg_stat_activity WHERE pid = %s"""


class Background(threading.Thread):
    """Runs a statement on a connection of its own and keeps what came of it."""

    def __init__(self, database, statement, user=None):
        super().__init__()
        self.connection = database.connect(user)
        self.statement, self.result, self.error = statement, None, None
        self.start()

    def run(self):
        try:
            self.result = self.connection.execute(self.statement).fetchone()[0]
        except psycopg.Error as error:
            self.error = error


class WithIsolation:
    """Connections whose transactions have that isolation."""

    def __init__(self, database, isolation):
        self.database, self.isolation = database, isolation

    def connect(self, user=None):
        connection = self.database.connect(user)
        connection.execute(f"SET default_transaction_isolation = '{self.isolation}'")
        return connection


def slow_view(connection, source, seconds=10):
    """A view of the source that takes that long to read."""
    name = fresh_name("slow")
    connection.execute(f"""
        CREATE VIEW {name} AS SELECT * FROM (SELECT * FROM {source} LIMIT 1000) AS few
            WHERE pg_sleep({seconds / 1000}) IS NOT NULL""")
    return name


def test_readers_see_one_release_and_do_not_wait(database, connection, source, target):
    publish(connection, target, source)
    connection.execute(
        f"CREATE VIEW {target}_seen AS SELECT count(*), min(version), max(version) FROM {target}"
    )
    stop, failures, longest, reads = threading.Event(), [], [0.0], [0]

    def read(query):
        with database.connect() as reader:
            while not stop.is_set():
                began = time.monotonic()
                count, low, high = reader.execute(query).fetchone()
                longest[0] = max(longest[0], time.monotonic() - began)
                reads[0] += 1
                if count != ROWS or low != high:
                    failures.append((count, low, high))

    queries = [
        f"SELECT * FROM {target}_seen",
        f"SELECT count(*), min(version), max(version) FROM {target}",
    ]
    readers = [threading.Thread(target=read, args=[queries[i % 2]]) for i in range(8)]
    for reader in readers:
        reader.start()
    try:
        for version in range(1, 5):
            connection.execute(f"UPDATE {source} SET version = {version}")
            assert refresh(connection, target)["rows"] == ROWS
    finally:
        stop.set()
        for reader in readers:
            reader.join()
    assert not failures
    assert reads[0] > 20
    assert longest[0] < 1.0
    assert connection.execute(f"SELECT * FROM {target}_seen").fetchone() == (ROWS, 4, 4)


def test_a_cancelled_publish_leaves_everything_as_it_was(database, connection, source, target):
    publish(connection, target, source)
    before = record(connection, target)
    slow = slow_view(connection, source)
    for name in (target, target + "_new"):
        running = Background(
            database, f"SELECT sanitize.publish('{name}', '{slow}', 'k_mii', '{K5}')"
        )
        wait_for(connection, "SELECT count(*) > 0 FROM sanitize.progress WHERE phase <> 'starting'")
        asked = time.monotonic()
        running.connection.cancel()
        running.join()
        assert time.monotonic() - asked < 1.0
        assert isinstance(running.error, psycopg.errors.QueryCanceled)
        assert running.connection.execute("SELECT 1").fetchone() == (1,)
    assert record(connection, target) == before
    assert connection.execute(f"SELECT count(*) FROM {target}").fetchone() == (ROWS,)
    assert connection.execute("SELECT to_regclass(%s)", [target + "_new"]).fetchone() == (None,)
    assert connection.execute("SELECT count(*) FROM sanitize.progress").fetchone() == (0,)


def test_progress_is_seen_by_other_connections_with_the_same_rights(
    database, connection, source, target
):
    slow = slow_view(connection, source, 3)
    publisher = database.regular_user(f"SELECT ON {slow}", "CREATE ON SCHEMA public")
    stranger = database.regular_user()
    running = Background(
        database, f"SELECT sanitize.publish('{target}', '{slow}', 'k_mii', '{K5}')", publisher
    )
    seen = "SELECT target, source::text, method, phase, seconds >= 0 FROM sanitize.progress"
    wait_for(connection, "SELECT count(*) > 0 FROM sanitize.progress WHERE phase <> 'starting'")
    for user in (None, publisher):
        with database.connect(user) as other:
            assert other.execute(seen).fetchall() == [
                (f"public.{target}", slow, "k_mii", "reading", True)
            ]
    with database.connect(stranger) as other:
        assert other.execute(seen).fetchall() == []
    running.join()
    assert running.result["rows"] == 1000
    assert connection.execute(seen).fetchall() == []


def test_two_who_publish_under_one_new_name(database, connection, source, target):
    both = [
        Background(database, f"SELECT sanitize.publish('{target}', '{source}', 'k_mii', '{K5}')")
        for _ in range(2)
    ]
    for one in both:
        one.join()
        assert one.error is None
        assert one.result["rows"] == ROWS
    assert record(connection, target) == (ROWS, 2)
    assert connection.execute(f"SELECT count(*) FROM {target}").fetchone() == (ROWS,)


def test_the_source_cannot_change_its_columns_meanwhile(database, connection, source, target):
    slow = slow_view(connection, source, 3)
    running = Background(
        database, f"SELECT sanitize.publish('{target}', '{slow}', 'k_mii', '{K5}')"
    )
    wait_for(connection, "SELECT count(*) > 0 FROM sanitize.progress WHERE phase <> 'starting'")
    with database.connect() as other:
        other.execute("SET lock_timeout = '100ms'")
        for change in (
            f"ALTER TABLE {source} ALTER COLUMN ward TYPE text",
            f"DROP VIEW {slow}",
            f"ALTER TABLE {source} RENAME COLUMN day TO other",
        ):
            with pytest.raises(
                (psycopg.errors.LockNotAvailable, psycopg.errors.FeatureNotSupported)
            ):
                other.execute(change)
    running.join()
    assert running.error is None


def test_kill_9_of_the_publisher(database, connection, source, target):
    publish(connection, target, source)
    before = record(connection, target)
    slow = slow_view(connection, source)
    running = Background(
        database, f"SELECT sanitize.publish('{target}', '{slow}', 'k_mii', '{K5}')"
    )
    wait_for(connection, "SELECT count(*) > 0 FROM sanitize.progress WHERE phase <> 'starting'")
    os.kill(running.connection.info.backend_pid, signal.SIGKILL)
    running.join()
    deadline = time.monotonic() + 60
    while True:
        try:
            with database.admin() as admin:
                assert record(admin, target) == before
                assert admin.execute(f"SELECT count(*) FROM {target}").fetchone() == (ROWS,)
                assert admin.execute("SELECT count(*) FROM sanitize.progress").fetchone() == (0,)
                assert refresh(admin, target)["rows"] == ROWS
                break
        except psycopg.OperationalError:
            assert time.monotonic() < deadline, "the server did not come back"
            time.sleep(0.2)


def test_a_dump_carries_releases_and_their_records(database, connection, source):
    target = fresh_name("Dumped 'release'")
    quoted = f'"{target}"'
    publish(connection, quoted, source)
    refresh(connection, quoted)
    gone = fresh_name("gone")
    publish(connection, gone, source)
    connection.execute(f"DROP TABLE {gone}")
    dump = subprocess.run(
        [program("pg_dump"), "--dbname", database.name], capture_output=True, text=True, check=True
    ).stdout
    copy = Database(fresh_name("restored"), extension=False)
    try:
        command = [program("psql"), "-q", "-X", "--set=ON_ERROR_STOP=1", "--dbname", copy.name]
        subprocess.run(command, input=dump, text=True, check=True, stdout=subprocess.DEVNULL)
        with copy.admin() as admin:
            query = "SELECT target::text, source::text, method, options, guarantee, rows FROM sanitize.releases ORDER BY 1"
            assert admin.execute(query).fetchall() == connection.execute(query).fetchall()
            entries = "SELECT count(*), max(id) FROM sanitize.release_entry"
            assert admin.execute(entries).fetchone() == connection.execute(entries).fetchone()
            assert admin.execute(f"SELECT count(*) FROM {quoted}").fetchone() == (ROWS,)
            label = refresh(admin, quoted)
            assert label["rows"] == ROWS
            assert any(line.startswith("composition: 3 earlier") for line in label["not_covered"])
            # Without the extension the table is a table.
            admin.execute("DROP EXTENSION pg_sanitize CASCADE")
            assert admin.execute(f"SELECT count(*) FROM {quoted}").fetchone() == (ROWS,)
    finally:
        copy.drop()


# Threats. Nothing may run with rights that its author does not have.

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


def make_source(connection, columns=("ward", "day")):
    name = fresh_name("own")
    defined = sql.SQL(", ").join(
        sql.SQL("i % {} AS {}").format(sql.Literal(n), sql.Identifier(column))
        for n, column in enumerate(columns, 2)
    )
    connection.execute(
        sql.SQL("CREATE TABLE {} AS SELECT {} FROM generate_series(1, 100) AS i").format(
            sql.Identifier(name), defined
        )
    )
    return name


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
    connection.execute(f"SELECT sanitize.protect('{source}', 'person', 1)")
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


def test_logical_replication_of_a_release_can_delete(connection, source, target):
    """A publication for tables that delete needs to know rows: a release has no key."""
    publish(connection, target, source)
    connection.execute(f"CREATE PUBLICATION {target}_p FOR TABLE {target}")
    assert refresh(connection, target)["rows"] == ROWS
    assert connection.execute(
        "SELECT count(*) FROM pg_publication_tables WHERE tablename = %s", [target]
    ).fetchone() == (1,)


def test_planner_statistics_hold_released_values_only(connection, target):
    source = fresh_name("rare")
    connection.execute(f"""
        CREATE TABLE {source} AS SELECT CASE WHEN i = 1 THEN 'the only one' ELSE 'w' || i % 3 END AS ward
            FROM generate_series(1, 300) AS i""")
    publish(connection, target, source)
    connection.execute(f"ANALYZE {target}")
    seen = connection.execute(
        "SELECT most_common_vals::text || coalesce(histogram_bounds::text, '') FROM pg_stats WHERE tablename = %s",
        [target],
    ).fetchone()[0]
    assert "only" not in seen


@pytest.mark.parametrize("seed", range(50))
def test_random_operations_keep_the_record_and_the_tables_together(database, connection, seed):
    draw = random.Random(seed)
    source = make_source(connection)
    user = database.regular_user(f"SELECT ON {source}", "CREATE ON SCHEMA public")
    names = [fresh_name("random") for _ in range(2)]
    sleepy = fresh_name("sleepy")
    connection.execute(
        f"CREATE VIEW {sleepy} AS SELECT * FROM {source} WHERE pg_sleep(0.01) IS NOT NULL"
    )
    connection.execute(f"GRANT SELECT ON {sleepy} TO {user}")
    there, entries = {}, 0
    with database.connect(user) as own:
        for _ in range(8):
            name = draw.choice(names)
            what = draw.choice(
                ["publish", "publish", "refresh", "retire", "drop", "cancel", "rollback"]
            )
            options = draw.choice([K5, '{"k": 5, "columns": ["ward"]}', '{"k": 500}'])
            fails = options == '{"k": 500}'
            if what in ("publish", "rollback"):
                try:
                    with own.transaction(force_rollback=what == "rollback"):
                        publish(own, name, source, options=options)
                    assert not fails
                    if what == "publish":
                        there[name], entries = options, entries + 1
                except psycopg.errors.InvalidParameterValue:
                    assert fails
            elif what == "cancel":
                own.execute("SET statement_timeout = '100ms'")
                with pytest.raises(psycopg.errors.QueryCanceled):
                    publish(own, name, sleepy)
                own.execute("RESET statement_timeout")
            elif what == "drop":
                own.execute(f"DROP TABLE IF EXISTS {name}")
                there.pop(name, None)
            elif name not in there:
                with pytest.raises(psycopg.errors.UndefinedTable):
                    own.execute(f"SELECT sanitize.{what}('{name}')")
            elif what == "refresh":
                refresh(own, name)
                entries += 1
            else:
                own.execute(f"SELECT sanitize.retire('{name}')")
                there.pop(name)
            found = own.execute(
                "SELECT target::text, options FROM sanitize.releases WHERE target::text = ANY (%s)",
                [names],
            ).fetchall()
            assert dict(found) == {name: json.loads(o) for name, o in there.items()}
            for name in names:
                exists = own.execute("SELECT to_regclass(%s) IS NOT NULL", [name]).fetchone()[0]
                assert exists == (name in there)
                if exists:
                    assert own.execute(f"SELECT count(*) FROM {name}").fetchone() == (100,)
            counted = connection.execute(
                "SELECT count(*) FROM sanitize.release_entry WHERE source = %s::pg_catalog.text::pg_catalog.regclass",
                [source],
            ).fetchone()[0]
            assert counted == entries
