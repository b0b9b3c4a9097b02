"""Sharded releases: what the shards hold beside what one server would, and what readers see when servers are killed
while a release is written."""

import random
import threading
import time
from contextlib import contextmanager

import psycopg
import pytest
from helpers import fresh_name, patience
from psycopg.types.json import Jsonb
from publishing import publish, refresh
from shards import SHARDS, ShardedDatabase

PARTS = ["sex", "age", "zip", "work", "since"]
ROWS = 3000
# Everything of a release in two numbers.
SEEN = "SELECT count(*), coalesce(sum(hashtextextended(r::text, 0)), 0)::text FROM {} AS r"
GENERATIONS = """SELECT relname, relowner::regrole::text FROM pg_class
    WHERE obj_description(oid, 'pg_class') LIKE 'generation % of the sharded release %' ORDER BY 1"""


@pytest.fixture(scope="module")
def sharded(cluster):
    made = ShardedDatabase(cluster)
    made.make_people(ROWS)
    yield made
    made.drop()


@pytest.fixture
def admin(sharded):
    with sharded.connect() as connection:
        connection.execute("SET client_min_messages = warning")
        yield connection


@pytest.fixture
def target():
    return fresh_name("release")


@pytest.fixture
def visits(sharded):
    """A sharded table whose rows all have the same version."""
    name = fresh_name("visits")
    parts = [f"SELECT {i}, v % 5, 0 FROM generate_series(1, {200 + i}) AS v" for i in range(SHARDS)]
    sharded.make_table(name, "ward integer, version integer", parts)
    return name


VISITS = sum(200 + i for i in range(SHARDS))


def next_version(sharded, visits):
    for number in range(SHARDS):
        with sharded.shard(number) as shard:
            shard.execute(f"UPDATE {visits} SET version = version + 1")


def publish_sharded(connection, target, source, method="k_mii", **options):
    options = Jsonb({"target": "sharded", **options})
    return publish(connection, target, source, method, options)


def seen(connection, relation):
    return connection.execute(SEEN.format(relation)).fetchone()


def generations(sharded, number, stem):
    with sharded.shard(number) as shard:
        return [name for name, _ in shard.execute(GENERATIONS) if name.startswith(stem + "_g")]


@pytest.mark.parametrize(
    "method, options",
    [
        ("k_mii", {"k": 5, "columns": PARTS, "keep": ["id"]}),
        ("mii_suppress", {"theta": 20, "columns": PARTS}),
        ("k_anonymize", {"k": 5, "columns": PARTS}),
        ("k_anonymize", {"k": 3, "columns": ["sex", "age", "work"], "keep": ["id"], "unit": "zip"}),
        ("k_mii", {"k": 3, "columns": ["sex", "age", "work"], "unit": "zip"}),
        (
            "k_anonymize",
            {"k": 5, "columns": ["age", "since"], "generalize": True, "ranges": "range"},
        ),
        ("generalize", {"levels": {"age": 1}, "columns": ["age", "sex"], "keep": ["id"]}),
        ("hide_itemsets", {"itemsets": [{"work": "miner"}], "min_support": 100, "keep": ["id"]}),
    ],
)
def test_a_sharded_release_has_the_rows_of_an_unsharded_one(
    sharded, admin, target, method, options
):
    if method == "generalize":
        for source in ("people", "people_here"):
            admin.execute(
                """SELECT sanitize.declare_hierarchy(%s::text::regclass, 'age',
                    sanitize.suggest_hierarchy(%s::text::regclass, 'age'))""",
                [source, source],
            )
    label = publish_sharded(admin, target, "people", method, **options)
    here = publish(admin, target + "_here", "people_here", method, Jsonb(options))
    assert seen(admin, target) == seen(admin, target + "_here")
    assert label["shards"] == ["s0", "s1", "s2"]
    assert label["read"] == "bags of 3 shards"
    for key in ("rows", "suppressed_share", "kind"):
        assert label.get(key) == here.get(key)
    assert any(line.startswith("the shard of a row") for line in label["not_covered"])
    # Each part is on its shard, and a row on that of its own row of the source.
    counted = []
    for number in range(SHARDS):
        assert generations(sharded, number, target) == [f"{target}_g1"]
        with sharded.shard(number) as shard:
            counted += shard.execute(f"SELECT count(*) FROM {target}_g1").fetchone()
            if "keep" in options:
                strange = (
                    f"SELECT count(*) FROM {target}_g1 WHERE id NOT IN (SELECT id FROM people_part)"
                )
                assert shard.execute(strange).fetchone() == (0,)
    assert sum(counted) == label["rows"]
    assert min(counted) > ROWS / SHARDS / 2
    assert admin.execute(f"SELECT count(*) FROM ONLY {target}").fetchone() == (0,)
    # The same again, and then nothing is left of it.
    assert refresh(admin, target)["rows"] == label["rows"]
    assert seen(admin, target) == seen(admin, target + "_here")
    recorded = admin.execute(
        "SELECT rows, options ->> 'target' FROM sanitize.releases WHERE target = %s::text::regclass",
        [target],
    ).fetchone()
    assert recorded == (label["rows"], "sharded")
    admin.execute(f"SELECT sanitize.retire('{target}')")
    assert admin.execute("SELECT to_regclass(%s)", [target]).fetchone() == (None,)
    for number in range(SHARDS):
        assert generations(sharded, number, target) == []
    left = "SELECT count(*) FROM pg_class WHERE relname LIKE %s OR relname LIKE 'pg_sanitize%%'"
    assert admin.execute(left, [target + "\\_s%"]).fetchone() == (0,)


@pytest.mark.parametrize(
    "method, options, rows",
    [
        ("krimp_generate", {"n": 300, "min_support": 100, "columns": ["sex", "work"]}, 300),
        ("dp_synthesize", {"n": 301, "epsilon": 2, "columns": ["sex", "smokes"]}, 301),
        (
            "dp_mii_sample",
            {"epsilon": 3, "delta": 1e-2, "k": 2, "columns": ["sex", "smokes"]},
            None,
        ),
        ("randomize_cells", {"epsilon": 2, "columns": ["sex", "smokes"]}, ROWS),
    ],
)
def test_new_rows_are_dealt_out(sharded, admin, target, method, options, rows):
    admin.execute("SELECT sanitize.declare_domain('people', 'sex', '{f,m}')")
    label = publish_sharded(admin, target, "people", method, **options)
    assert rows in (None, label["rows"])
    assert seen(admin, target)[0] == label["rows"] > 0
    counted = []
    for number in range(SHARDS):
        with sharded.shard(number) as shard:
            counted += shard.execute(f"SELECT count(*) FROM {target}_g1").fetchone()
    assert sum(counted) == label["rows"]
    assert max(counted) - min(counted) <= 1
    assert not any(line.startswith("the shard of a row") for line in label["not_covered"])


def test_types_names_and_settings(sharded, admin):
    """Whatever the session shows dates and numbers as, and whatever things are called."""
    schema, source = '"sche""ma \'%s"', fresh_name("odd")
    for number in range(SHARDS):
        with sharded.shard(number) as shard:
            shard.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    admin.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    columns = """"a""b'c" text, place integer, leaf integer, at timestamptz, "on" date, x float8, n numeric(9, 3),
        c char(3), many int[], j jsonb, f interval"""
    row = """'it''s "x" \\ ' || i % 2, 1, i % 2, timestamptz '2024-03-31 02:30+02' + i % 2 * interval '1 s',
        date '2024-01-31' - i % 2, 0.1::float8 + i % 2, 1.5, 'a', ARRAY[1, NULL], '{"a": [1]}', '1 day 2 h'"""
    sharded.make_table(
        source,
        columns,
        [f"SELECT {n}, {row} FROM generate_series(1, {10 + n}) AS i" for n in range(SHARDS)],
    )
    target = f'{schema}."tar\'get"""'
    for setting in (
        "DateStyle = 'SQL, DMY'",
        "TimeZone = 'Asia/Kolkata'",
        "IntervalStyle = 'iso_8601'",
        "extra_float_digits = -5",
        f"search_path = {schema}, public",
    ):
        admin.execute(f"SET {setting}")
    for call in (
        lambda: publish_sharded(admin, target, f"public.{source}", k=2),
        lambda: refresh(admin, target),
    ):
        assert call()["rows"] == 33
        assert seen(admin, target) == seen(admin, f"public.{source}")
    admin.execute("SELECT sanitize.retire(%s::text::regclass)", [target])


def test_what_is_refused(sharded, admin, visits, target):
    refused = psycopg.errors.InvalidParameterValue
    with pytest.raises(refused, match="people_here has no shards"):
        publish_sharded(admin, target, "people_here", k=5)
    with pytest.raises(refused, match='option target is "there"'):
        publish(admin, target, visits, "k_mii", Jsonb({"k": 5, "target": "there"}))
    with pytest.raises(refused, match="too long"):
        publish_sharded(admin, "x" * 41, visits, k=5)
    state = psycopg.errors.ObjectNotInPrerequisiteState
    publish(admin, target, visits)
    with pytest.raises(state, match="its rows are on this server"):
        publish_sharded(admin, target, visits, k=5)
    publish_sharded(admin, target + "_2", visits, k=5)
    with pytest.raises(state, match="tables inherit from it"):
        publish(admin, target + "_2", visits)
    admin.execute(f"CREATE TABLE {target}_child () INHERITS ({target}_2)")
    with pytest.raises(state, match="is no part of it"):
        refresh(admin, target + "_2")
    with pytest.raises(psycopg.errors.WrongObjectType, match="is no release"):
        admin.execute(f"SELECT sanitize.drop_leftovers('{visits}')")
    assert admin.execute("SELECT to_regclass(%s)", ["x" * 41]).fetchone() == (None,)


def test_names_that_are_taken_on_a_shard(sharded, admin, visits, target):
    """Somebody else's table is neither written nor dropped."""
    with sharded.shard(1) as shard:
        shard.execute(f"CREATE TABLE {target}_g1 AS SELECT 'mine' AS x")
    with pytest.raises(psycopg.errors.DuplicateTable, match='shard "s1".*already exists'):
        publish_sharded(admin, target, visits, k=5)
    with sharded.shard(1) as shard:
        assert shard.execute(f"SELECT x FROM {target}_g1").fetchall() == [("mine",)]
    assert generations(sharded, 0, target) == []


def test_a_rolled_back_publish_leaves_nothing(sharded, admin, visits, target):
    with admin.transaction(force_rollback=True):
        publish_sharded(admin, target, visits, k=5)
        assert seen(admin, target)[0] == VISITS
    assert admin.execute("SELECT to_regclass(%s)", [target]).fetchone() == (None,)
    assert all(generations(sharded, number, target) == [] for number in range(SHARDS))
    # In a savepoint as well.
    with admin.transaction():
        with admin.transaction(force_rollback=True):
            publish_sharded(admin, target, visits, k=5)
        publish_sharded(admin, target, visits, k=5)
    assert seen(admin, target)[0] == VISITS


def test_readers_see_one_release(sharded, admin, visits, target):
    publish_sharded(admin, target, visits, k=5, keep=["version"])
    stop, failures, reads = threading.Event(), [], [0]

    def read():
        with sharded.connect() as reader:
            while not stop.is_set():
                found = reader.execute(f"SELECT count(*), min(version), max(version) FROM {target}")
                count, low, high = found.fetchone()
                reads[0] += 1
                if count != VISITS or low != high:
                    failures.append((count, low, high))

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    try:
        for _ in range(6):
            next_version(sharded, visits)
            assert refresh(admin, target)["rows"] == VISITS
    finally:
        stop.set()
        for reader in readers:
            reader.join()
    assert not failures
    assert reads[0] > 10
    # What is left is the release and the one before it.
    for number in range(SHARDS):
        assert len(generations(sharded, number, target)) == 2
    admin.execute(f"SELECT sanitize.drop_leftovers('{target}')")
    for number in range(SHARDS):
        assert generations(sharded, number, target) == [f"{target}_g7"]


def test_a_snapshot_that_is_older_than_the_release(sharded, admin, visits, target):
    """A reader whose transactions on the shards began before the refresh finds its rows all the same."""
    publish_sharded(admin, target, visits, k=5, keep=["version"])
    with sharded.connect() as reader:
        reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        reader.execute(f"SELECT count(*) FROM {visits}")
        next_version(sharded, visits)
        refresh(admin, target)
        found = reader.execute(f"SELECT count(*), min(version), max(version) FROM {target}")
        assert found.fetchone() == (VISITS, 1, 1)


def test_what_readers_see_is_not_dropped(sharded, admin, visits, target):
    """By a transaction that has made the next generation, or that does not know the last one."""
    publish_sharded(admin, target, visits, k=5)
    state = psycopg.errors.ObjectNotInPrerequisiteState
    for call in ("refresh", "drop_leftovers", "retire"):
        with admin.transaction(force_rollback=True):
            refresh(admin, target)
            with pytest.raises(state, match="written it on the shards already"):
                admin.execute(f"SELECT sanitize.{call}('{target}')")
    for call in ("refresh", "drop_leftovers"):
        with sharded.connect() as old:
            old.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            old.execute("SELECT 1 FROM pg_class LIMIT 1")
            refresh(admin, target)
            with pytest.raises(psycopg.errors.SerializationFailure):
                old.execute(f"SELECT sanitize.{call}('{target}')")
    assert seen(admin, target)[0] == VISITS


def test_grants_survive(sharded, admin, visits, target):
    role = fresh_name("analyst")
    for server in sharded.cluster.servers:
        with server.connect(dbname=sharded.name, user="postgres") as connection:
            connection.execute(f"CREATE ROLE {role} LOGIN")
    for number in range(SHARDS):
        admin.execute(
            f"""CREATE USER MAPPING FOR {role} SERVER s{number} OPTIONS (user '{role}', password_required 'false')"""
        )
    publish_sharded(admin, target, visits, k=5)
    admin.execute(f"GRANT SELECT ON {target} TO {role}")
    for number in range(SHARDS):
        with sharded.shard(number) as shard:
            shard.execute(f"GRANT SELECT ON {target}_g1 TO {role}")
    for _ in range(3):
        with sharded.connect(user=role) as reader:
            assert seen(reader, target)[0] == VISITS
        refresh(admin, target)
    # Nor can the reader do more than read.
    with sharded.connect(user=role) as reader:
        for call in ("refresh", "retire", "drop_leftovers"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match="must be owner"):
                reader.execute(f"SELECT sanitize.{call}('{target}')")


def test_a_role_without_rights_on_a_shard(sharded, admin, visits, target):
    role = fresh_name("poor")
    for server in sharded.cluster.servers:
        with server.connect(dbname=sharded.name, user="postgres") as connection:
            connection.execute(f"CREATE ROLE {role} LOGIN")
            connection.execute(f"GRANT SELECT ON {visits} TO {role}")
    admin.execute(f"GRANT CREATE ON SCHEMA public TO {role}")
    for number in range(SHARDS):
        admin.execute(f"GRANT USAGE ON FOREIGN SERVER s{number} TO {role}")
        admin.execute(f"GRANT SELECT ON {visits}_{number} TO {role}")
        admin.execute(
            f"""CREATE USER MAPPING FOR {role} SERVER s{number} OPTIONS (user '{role}', password_required 'false')"""
        )
    with sharded.connect(user=role) as poor:
        for number in range(SHARDS):
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match=f'shard "s{number}"'):
                publish_sharded(poor, target, visits, k=5)
            with sharded.shard(number) as shard:
                shard.execute(f"GRANT CREATE, USAGE ON SCHEMA public TO {role}")
        assert publish_sharded(poor, target, visits, k=5)["rows"] == VISITS
        # A superuser refreshes with the rights of the owner, there too.
        assert refresh(admin, target)["rows"] == VISITS
    with sharded.shard(0) as shard:
        owners = {owner for name, owner in shard.execute(GENERATIONS) if name.startswith(target)}
    assert owners == {role}


def test_a_shard_without_the_extension(cluster, target):
    made = ShardedDatabase(cluster, absent=[1])
    try:
        made.make_table(
            "few", "x integer", [f"SELECT {n}, 1 FROM generate_series(1, 9)" for n in range(SHARDS)]
        )
        with made.connect() as admin:
            with pytest.raises(psycopg.Error, match='shard "s1') as error:
                publish_sharded(admin, target, "few", k=2)
            assert "Install the same version" in error.value.diag.message_hint
            assert admin.execute("SELECT to_regclass(%s)", [target]).fetchone() == (None,)
        # Known only when it is written to.
        with made.shard(1) as shard:
            shard.execute("CREATE EXTENSION pg_sanitize; DROP TABLE few")
            shard.execute("CREATE TABLE few (part integer, x integer)")
            shard.execute("ALTER EXTENSION pg_sanitize DROP TABLE sanitize_internal.shard_work")
            shard.execute("DROP TABLE sanitize_internal.shard_work")
        with made.connect() as admin:
            with pytest.raises(psycopg.errors.UndefinedTable, match='shard "s1"') as error:
                publish_sharded(admin, target, "few", k=2)
            assert "Install the same version" in error.value.diag.message_hint
        assert generations(made, 0, target) == []
    finally:
        made.drop()


def kill(server):
    server.stop("immediate")


def within_a_minute(work):
    """What it returns once the servers are there again."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return work()
        except psycopg.OperationalError:
            assert time.monotonic() < deadline
            time.sleep(0.2)


def look(sharded, target):
    """What a new connection sees of a release: how many rows, and their versions."""

    def read():
        with sharded.connect() as reader:
            return reader.execute(
                f"SELECT count(*), min(version), max(version) FROM {target}"
            ).fetchone()

    return within_a_minute(read)


def recovers(sharded, visits, target, version):
    """A refresh works again, and nothing is left but two generations."""

    def again():
        with sharded.connect() as admin:
            admin.execute("SET client_min_messages = warning")
            return refresh(admin, target)["rows"]

    next_version(sharded, visits)
    assert within_a_minute(again) == VISITS
    assert look(sharded, target) == (VISITS, version + 1, version + 1)
    for number in range(SHARDS):
        assert len(generations(sharded, number, target)) <= 2


@contextmanager
def stuck(sharded, admin, target, number):
    """A refresh that waits in the middle of its writing: the shard cannot drop the generation before the last one,
    which is locked there. Ends when the refresh does, with the list of its errors."""
    failures = []

    def write():
        try:
            refresh(admin, target)
        except psycopg.Error as error:
            failures.append(error)

    locking = sharded.shard(number)
    locking.execute("BEGIN")
    locking.execute(f"LOCK {target}_g1")
    writing = threading.Thread(target=write)
    writing.start()
    with sharded.shard(number) as watching:
        while watching.execute(WAITING).fetchone() == (0,):
            assert writing.is_alive()
            time.sleep(0.02)
    yield failures
    writing.join()
    locking.close()


WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"


@pytest.mark.parametrize("number", range(SHARDS))
def test_a_cancel_reaches_the_shard(sharded, admin, visits, target, number):
    publish_sharded(admin, target, visits, k=5, keep=["version"])
    refresh(admin, target)
    with stuck(sharded, admin, target, number) as failures:
        asked = time.monotonic()
        admin.cancel()
    assert time.monotonic() - asked < patience(1)
    assert isinstance(failures[0], psycopg.errors.QueryCanceled)
    with sharded.shard(number) as shard:
        assert shard.execute(WAITING).fetchone() == (0,)
    assert look(sharded, target) == (VISITS, 0, 0)
    recovers(sharded, visits, target, 0)


@pytest.mark.parametrize(
    "phase, killed",
    [
        *[("before", 0), ("before", 2), ("writing", 0), ("writing", 1)],
        *[("committing", number) for number in range(SHARDS)],
        *[("after", number) for number in range(SHARDS)],
    ],
)
def test_a_shard_is_killed(sharded, visits, target, phase, killed):
    server = sharded.cluster.shards[killed]
    with sharded.connect() as admin:
        admin.execute("SET client_min_messages = warning")
        publish_sharded(admin, target, visits, k=5, keep=["version"])
        refresh(admin, target)
        next_version(sharded, visits)
        if phase == "before":
            kill(server)
            with pytest.raises(psycopg.Error, match=f"s{killed}"):
                refresh(admin, target)
        elif phase == "writing":
            with stuck(sharded, admin, target, killed) as failures:
                kill(server)
            assert f'shard "s{killed}"' in str(failures[0])
        elif phase == "committing":
            admin.execute("BEGIN")
            refresh(admin, target)
            kill(server)
            # Those before it in the list have committed by then.
            with pytest.raises(psycopg.Error):
                admin.execute("COMMIT")
        else:
            refresh(admin, target)
            kill(server)
    server.start()
    version = 1 if phase == "after" else 0
    assert look(sharded, target) == (VISITS, version, version)
    recovers(sharded, visits, target, 1)


def test_shards_that_committed_before_another_failed_have_leftovers(sharded, visits, target):
    """Without this the tests above would not try what they are for."""
    with sharded.connect() as admin:
        publish_sharded(admin, target, visits, k=5)
    # postgres_fdw commits in an order of its own: of two shards, one at least is not the first.
    for victim in sharded.cluster.shards[2], sharded.cluster.shards[1]:
        with sharded.connect() as admin:
            admin.execute("BEGIN")
            refresh(admin, target)
            kill(victim)
            with pytest.raises(psycopg.Error):
                admin.execute("COMMIT")
        victim.start()
        left = [len(generations(sharded, number, target)) for number in range(SHARDS)]
        if sum(left) > SHARDS:
            break
    assert sum(left) > SHARDS
    with sharded.connect() as admin:
        within_a_minute(lambda: admin.execute(f"SELECT sanitize.drop_leftovers('{target}')"))
    assert all(generations(sharded, number, target) == [f"{target}_g1"] for number in range(SHARDS))


@pytest.mark.parametrize("moment", ["written", "anywhere", "anywhere", "anywhere"])
def test_the_coordinator_is_killed(sharded, visits, target, moment):
    coordinator = sharded.cluster.coordinator
    with sharded.connect() as admin:
        admin.execute("SET client_min_messages = warning")
        publish_sharded(admin, target, visits, k=5, keep=["version"])
        next_version(sharded, visits)
        if moment == "written":
            admin.execute("BEGIN")
            refresh(admin, target)
            kill(coordinator)
            admin.close()
            possible = {0}
        else:
            stop = threading.Timer(random.uniform(0.01, 0.3), kill, [coordinator])
            stop.start()
            with pytest.raises(psycopg.Error):
                while True:
                    refresh(admin, target)
            stop.join()
            possible = {0, 1}
    coordinator.start()
    count, low, high = look(sharded, target)
    assert (count, low) == (VISITS, high)
    assert low in possible
    recovers(sharded, visits, target, 1)
