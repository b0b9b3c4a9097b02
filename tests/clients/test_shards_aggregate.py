"""Noisy aggregates of a table whose rows lie on other servers: the answers are those of one server, each unit
counts as often as it may and no more, and nothing but noisy answers comes out, whatever a shard holds or does."""

import json
import os
import re
import threading
import time
from contextlib import contextmanager
from datetime import date, timedelta

import psycopg
import pytest
from shards import SHARDS, ShardedDatabase

COLUMNS = "person integer, ward text, age integer, cost numeric(8, 2), day date, seen timestamptz"
# Units of 1 to 5 rows in up to 3 wards, with NULLs in every column that may have them.
ROWS = """SELECT u, CASE WHEN u % 50 = 0 THEN NULL ELSE chr(65 + (u + r % 3) % 7) END,
       NULLIF((u * 7 + r) % 90, 13), ((u * 31 + r) % 977) / 3.0, DATE '2024-01-01' + (u + r) % 40,
       TIMESTAMPTZ '2024-01-01 00:00:00+00' + (u % 100) * INTERVAL '1 hour'
  FROM generate_series(1, 1200) AS u, generate_series(1, 5) AS r WHERE r <= 1 + u % 5"""

# So much that noise is next to nothing.
EPSILON = 1000


@pytest.fixture(scope="module")
def sharded(cluster):
    made = ShardedDatabase(cluster)
    for number in range(SHARDS):
        with made.shard(number) as shard:
            shard.execute(f"""ALTER DATABASE "{made.name}" SET log_statement = 'all'""")
    make_parts(made, "visits", COLUMNS, "HASH (person)")
    with made.connect() as admin:
        admin.execute(f"INSERT INTO visits {ROWS}")
        admin.execute(f"CREATE TABLE visits_here ({COLUMNS})")
        admin.execute(f"INSERT INTO visits_here {ROWS}")
        for name in ("visits", "visits_here"):
            protect(admin, name, "person", 5)
    yield made
    made.drop()


@pytest.fixture
def admin(sharded):
    with sharded.connect() as connection:
        yield connection


def make_parts(sharded, name, columns, key, bounds=None, remote=None):
    """A partitioned table with a partition on each shard; `remote` are its columns there, if they differ."""
    for number in range(SHARDS):
        with sharded.shard(number) as shard:
            shard.execute(f"CREATE TABLE {name}_{number} ({remote or columns})")
    with sharded.connect() as admin:
        admin.execute(f"CREATE TABLE {name} ({columns}) PARTITION BY {key}")
        for number in range(SHARDS):
            bound = (
                bounds[number]
                if bounds
                else f"FOR VALUES WITH (MODULUS {SHARDS}, REMAINDER {number})"
            )
            admin.execute(
                f"CREATE FOREIGN TABLE {name}_{number} PARTITION OF {name} {bound} SERVER s{number}"
            )


def protect(admin, name, unit, rows, groups=None):
    admin.execute(
        "SELECT sanitize.protect(%s, %s, 100000, 0.5, %s, NULL, %s)", [name, unit, rows, groups]
    )


def ask(connection, name, measures, **options):
    """The answers by group and measure, with the standard deviations of their noise."""
    given = {"delta": 1e-4, "group_by": None, "filter": None, "groups": None, **options}
    query = """SELECT groups::text, measure, value::float8, stddev FROM sanitize.dp_aggregate(
        %(name)s, %(measures)s, %(epsilon)s, %(delta)s, %(group_by)s, %(filter)s, %(groups)s)"""
    given |= {"name": name, "measures": measures, "epsilon": EPSILON}
    return {(g, m): (v, s) for g, m, v, s in connection.execute(query, given).fetchall()}


def whole(connection, name, what="count", **options):
    """The one answer, a whole number."""
    ((value, _),) = ask(connection, name, f'{{"n": "{what}"}}', delta=None, **options).values()
    return round(value)


ASKED = "SELECT sanitize_internal.bag_packed(sanitize_internal.bounded_rows("


class Watched:
    """What the shards were asked meanwhile."""

    def __init__(self, sharded):
        self._logs = [os.path.join(shard.folder, "log") for shard in sharded.cluster.shards]

    def __enter__(self):
        self._from = [os.path.getsize(log) for log in self._logs]
        return self

    def __exit__(self, *_):
        self.queries = []
        for log, start in zip(self._logs, self._from, strict=True):
            with open(log, errors="replace") as file:
                file.seek(start)
                text = file.read()
            self.queries.append(re.findall(r"DECLARE c\d+ CURSOR FOR\s+(.*)", text))

    def kept_there(self):
        """True if every shard was asked, and only for rows that it has bounded itself."""
        return all(
            queries and all(q.startswith(ASKED) for q in queries) for queries in self.queries
        )

    def rows_here(self):
        """True if rows were read."""
        asked = [query for queries in self.queries for query in queries]
        return any("sanitize" not in query for query in asked)


QUESTIONS = {
    "count": ('{"n": "count"}', {"delta": None}),
    "units": ('{"n": "units", "m": "count"}', {"delta": None}),
    "values": (
        '{"n": {"count": "age"}, "d": {"distinct": "day"}, "w": {"distinct": "ward"}}',
        {"delta": None},
    ),
    "sum": ('{"s": {"sum": "cost", "low": 20, "high": 250}}', {}),
    "mean": (
        '{"a": {"avg": "age", "low": 0, "high": 60}, "c": {"avg": "cost", "low": 0, "high": 400}}',
        {},
    ),
    "variance": ('{"v": {"variance": "age", "low": 0, "high": 90}}', {}),
    "quantile": ('{"q": {"quantile": 0.5, "of": "age", "low": 0, "high": 90}}', {}),
    "histogram": ('{"h": {"histogram": "cost", "low": 0, "high": 400, "bins": 7}}', {}),
    "groups": (
        '{"n": "count", "u": "units", "s": {"sum": "age", "low": 0, "high": 90}}',
        {"group_by": ["ward"]},
    ),
    "two columns": (
        '{"n": "count"}',
        {"group_by": ["ward", "seen"], "filter": '{"ward": ["A", "B"]}'},
    ),
    "listed": (
        '{"n": "count", "u": "units"}',
        {"group_by": ["ward"], "groups": '["A", "C", null, "no such ward"]'},
    ),
    "listed times": (
        '{"n": "count"}',
        {"group_by": ["seen"], "groups": '["2024-01-01 05:00:00+00", "2024-01-03 01:00+02"]'},
    ),
    "filter": (
        '{"n": "count", "u": "units"}',
        {"filter": '{"age": {">": 30}, "ward": "B", "day": {"<": "2024-01-20"}}', "delta": None},
    ),
    "unit totals": (
        '{"s": {"sum": "age", "low": 0, "high": 200, "per": "unit"}, "n": "count"}',
        {"group_by": ["ward"]},
    ),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_answers_are_those_of_one_server(sharded, admin, question):
    measures, options = QUESTIONS[question]
    with Watched(sharded) as watched:
        there = ask(admin, "visits", measures, **options)
    here = ask(admin, "visits_here", measures, **options)
    assert there.keys() == here.keys()
    for key, (value, stddev) in here.items():
        assert stddev is None or there[key][1] == pytest.approx(stddev, rel=0.05), key
        # A quantile is a place in a histogram: noise moves it by no more than a step or two.
        slack = 0.1 if stddev is None else 20 * stddev
        assert there[key][0] == pytest.approx(value, abs=max(slack, 1e-6), rel=1e-3), key
    if question != "unit totals":
        assert watched.kept_there(), watched.queries


def test_private_bounds_are_found_on_the_shards(sharded, admin):
    measure = '{"s": {"sum": "age", "bounds": "private"}}'
    with Watched(sharded) as watched:
        ((there, stddev),) = ask(admin, "visits", measure, delta=None).values()
    ((here, _),) = ask(admin, "visits_here", measure, delta=None).values()
    assert there == pytest.approx(here, abs=20 * stddev)
    assert watched.kept_there()


def test_the_shards_see_no_condition(sharded, admin):
    """Neither one that an index could serve, nor one that would keep rows from the aggregate."""
    with Watched(sharded) as watched:
        whole(admin, "visits", filter='{"age": 30}')
    for query in (query for queries in watched.queries for query in queries):
        assert "ARRAY[(person IS NOT NULL), (age = 30)]" in query
        assert "WHERE" not in query and query.rstrip().endswith(tuple("012"))


@pytest.mark.parametrize(("rows", "groups"), [(1, 1), (2, 1), (2, 2), (4, 2)])
def test_a_unit_counts_as_often_as_it_may(admin, sharded, rows, groups):
    for name in ("visits", "visits_here"):
        protect(admin, name, "person", rows, groups)
    try:
        truth = "SELECT sum(least(n, %s)) FROM (SELECT count(*) AS n FROM visits_here GROUP BY person) AS x"
        kept = admin.execute(truth, [rows]).fetchone()[0]
        assert whole(admin, "visits") == kept
        assert whole(admin, "visits", "units") == 1200
        # In groups, at most so many of them: the number of units over all groups is exact where every unit
        # fills what it may.
        by_ward = ask(admin, "visits", '{"n": "count", "u": "units"}', group_by=["ward"])
        here = ask(admin, "visits_here", '{"n": "count", "u": "units"}', group_by=["ward"])
        for measure in ("n", "u"):
            totals = [
                sum(v for (_, m), (v, _) in a.items() if m == measure) for a in (by_ward, here)
            ]
            # Which rows of a unit are kept is chance: the totals differ by that, by less than 7 deviations.
            assert totals[0] == pytest.approx(totals[1], rel=0.1)
            assert totals[0] <= 1200 * (rows if measure == "n" else min(rows, groups)) + 1
    finally:
        for name in ("visits", "visits_here"):
            protect(admin, name, "person", 5)


def test_rows_in_the_wrong_place_count_nowhere(sharded, admin):
    """Postgres does not look where the rows of a foreign table belong: a unit with rows on all shards would count
    once on each."""
    make_parts(sharded, "strays", "person integer, ward text", "HASH (person)")
    admin.execute(
        "INSERT INTO strays SELECT u, 'A' FROM generate_series(1, 300) AS u, generate_series(1, 4)"
    )
    protect(admin, "strays", "person", 2)
    for number in range(SHARDS):
        with sharded.shard(number) as shard:
            shard.execute(
                f"INSERT INTO strays_{number} SELECT u, 'A' FROM generate_series(1, 300) AS u, generate_series(1, 4)"
            )
    assert admin.execute("SELECT count(*) FROM strays").fetchone()[0] == 4800
    with Watched(sharded) as watched:
        assert whole(admin, "strays") == 600
        assert whole(admin, "strays", "units") == 300
        answers = ask(admin, "strays", '{"n": "count", "u": "units"}', group_by=["ward"])
    assert {m: round(v) for (_, m), (v, _) in answers.items()} == {"n": 600, "u": 300}
    assert watched.kept_there()


def test_a_table_that_all_partitions_share_counts_once(sharded, admin):
    with sharded.shard(0) as shard:
        shard.execute("CREATE TABLE shared (person integer)")
        shard.execute("INSERT INTO shared SELECT generate_series(1, 300)")
    admin.execute("CREATE TABLE thrice (person integer) PARTITION BY HASH (person)")
    for number in range(SHARDS):
        admin.execute(
            f"""CREATE FOREIGN TABLE thrice_{number} PARTITION OF thrice FOR VALUES
                WITH (MODULUS {SHARDS}, REMAINDER {number}) SERVER s0 OPTIONS (table_name 'shared')"""
        )
    protect(admin, "thrice", "person", 10)
    assert admin.execute("SELECT count(*) FROM thrice").fetchone()[0] == 900
    assert whole(admin, "thrice") == 300


def test_a_foreign_table_alone(sharded, admin):
    with sharded.shard(0) as shard:
        shard.execute("CREATE TABLE alone AS SELECT i / 2 AS person FROM generate_series(2, 601) i")
    admin.execute("CREATE FOREIGN TABLE alone (person integer) SERVER s0")
    protect(admin, "alone", "person", 1)
    with Watched(sharded) as watched:
        assert whole(admin, "alone") == 300
    assert watched.queries[0] and not watched.rows_here()


@pytest.mark.parametrize(
    ("of", "unit"),
    {
        "smallint": "(u % 30000)::smallint",
        "bigint": "u * 10000000000",
        "text": "'Ümläut ' || u",
        "varchar(20)": "'v' || u",
        "name": "('n' || u)::name",
        "uuid": "md5(u::text)::uuid",
        "date": "DATE '2000-01-01' + u",
        "time": "TIME '00:00' + u * INTERVAL '1 second'",
        "timestamp": "TIMESTAMP '2000-01-01' + u * INTERVAL '1 hour'",
        "timestamptz": "TIMESTAMPTZ '2000-01-01' + u * INTERVAL '1 hour'",
        "oid": "u::oid",
        "boolean": "u % 2 = 0",
    }.items(),
)
def test_units_of_every_type_are_found_where_postgres_has_put_them(sharded, admin, of, unit):
    name = "of_" + re.sub(r"\W", "_", of)
    make_parts(sharded, name, f"unit {of}, x integer", "HASH (unit)")
    admin.execute(
        f"INSERT INTO {name} SELECT {unit}, u FROM generate_series(1, 400) AS u, generate_series(1, 2)"
    )
    protect(admin, name, "unit", 2)
    with Watched(sharded) as watched:
        units = admin.execute(f"SELECT count(DISTINCT unit) FROM {name}").fetchone()[0]
    with Watched(sharded) as watched:
        assert whole(admin, name) == 2 * units
        assert whole(admin, name, "units") == units
    assert watched.kept_there()


@pytest.mark.parametrize(
    ("key", "bounds"),
    [
        ("RANGE (person)", [f"FOR VALUES FROM ({100 * i}) TO ({100 * i + 100})" for i in range(3)]),
        ("LIST (person)", ["FOR VALUES IN (0, 1)", "FOR VALUES IN (2, 3)", "DEFAULT"]),
    ],
)
def test_ranges_and_lists_of_units(sharded, admin, key, bounds):
    name = key.split()[0].lower() + "_parts"
    make_parts(sharded, name, "person integer, x integer", key, bounds)
    admin.execute(
        f"INSERT INTO {name} SELECT u, u FROM generate_series(0, 299) AS u, generate_series(1, 3)"
    )
    for number in range(SHARDS):
        with sharded.shard(number) as shard:
            shard.execute(
                f"INSERT INTO {name}_{number} SELECT u, u FROM generate_series(0, 299) AS u"
            )
    protect(admin, name, "person", 2)
    with Watched(sharded) as watched:
        assert whole(admin, name) == 600
        assert whole(admin, name, "units") == 300
    assert watched.kept_there()


def test_one_partition_may_lie_here(sharded, admin):
    make_parts(sharded, "mixed", "person integer", "HASH (person)")
    admin.execute("DROP FOREIGN TABLE mixed_1")
    admin.execute(
        "CREATE TABLE mixed_1 PARTITION OF mixed FOR VALUES WITH (MODULUS 3, REMAINDER 1)"
    )
    admin.execute(
        "INSERT INTO mixed SELECT u FROM generate_series(1, 300) AS u, generate_series(1, 3)"
    )
    protect(admin, "mixed", "person", 2)
    with Watched(sharded) as watched:
        assert whole(admin, "mixed") == 600
    assert not watched.rows_here()


def test_units_that_are_not_the_key_are_bounded_here(sharded, admin):
    make_parts(sharded, "scattered", "person integer, visit integer", "HASH (visit)")
    admin.execute(
        "INSERT INTO scattered SELECT u, 10 * u + r FROM generate_series(1, 200) AS u, generate_series(1, 6) AS r"
    )
    protect(admin, "scattered", "person", 2)
    with Watched(sharded) as watched:
        assert whole(admin, "scattered") == 400
    assert watched.rows_here()
    # Two keys are no better: Postgres knows the unit's place only with the other value.
    make_parts(sharded, "doubly", "person integer, visit integer", "HASH (person, visit)")
    admin.execute("INSERT INTO doubly SELECT * FROM scattered")
    protect(admin, "doubly", "person", 2)
    assert whole(admin, "doubly") == 400


def test_other_types_on_a_shard_bound_nothing_there(sharded, admin):
    """What are many units, or many groups, on the shard is one here."""
    make_parts(
        sharded, "days", "day date, slot date", "HASH (day)", remote="day timestamp, slot timestamp"
    )
    admin.execute("CREATE TABLE rows_of_days (day date) PARTITION BY HASH (day)")
    for number in range(SHARDS):
        admin.execute(
            f"CREATE TABLE rows_of_days_{number} PARTITION OF rows_of_days FOR VALUES WITH (MODULUS 3, REMAINDER {number})"
        )
    admin.execute(
        "INSERT INTO rows_of_days SELECT DATE '2024-01-01' + i FROM generate_series(1, 60) AS i"
    )
    for number in range(SHARDS):
        days = [d for (d,) in admin.execute(f"SELECT day FROM rows_of_days_{number}").fetchall()]
        with sharded.shard(number) as shard:
            shard.execute(
                f"""INSERT INTO days_{number} SELECT d + h * INTERVAL '1 hour', d + h * INTERVAL '1 minute'
                      FROM unnest(%s::date[]) AS d, generate_series(0, 9) AS h""",
                [days],
            )
    protect(admin, "days", "day", 3)
    assert whole(admin, "days") == 180
    assert whole(admin, "days", "units") == 60
    admin.execute("SELECT sanitize.unprotect('days')")
    for number in range(SHARDS):
        with sharded.shard(number) as shard:
            shard.execute(f"ALTER TABLE days_{number} ALTER day TYPE date")
    protect(admin, "days", "day", 10, 10)
    # Ten texts of the shard are one group here, in which the unit counts once.
    slots = json.dumps([str(date(2024, 1, 1) + timedelta(days=i)) for i in range(1, 61)])
    by_slot = ask(admin, "days", '{"u": "units"}', group_by=["slot"], groups=slots)
    assert sum(round(value) for value, _ in by_slot.values()) == 60


def test_texts_that_are_told_alike_are_one_group(cluster):
    """In SQL_ASCII two different texts may be shown as the same: a unit in both counts once in it."""
    made = ShardedDatabase(cluster, encodings=("SQL_ASCII",) * (SHARDS + 1))
    try:
        make_parts(made, "odd", "person integer, ward text", "HASH (person)")
        with made.connect() as admin:
            # libpq and psycopg know the encoding by the connection.
            admin.execute("SET client_encoding = 'SQL_ASCII'")
            admin.execute(
                """INSERT INTO odd SELECT u, convert_from(decode(byte, 'hex'), 'SQL_ASCII')
                     FROM generate_series(1, 500) AS u, unnest('{ff,fe,fd}'::text[]) AS byte"""
            )
            protect(admin, "odd", "person", 3, 3)
            query = """SELECT measure, value::float8 FROM sanitize.dp_aggregate('odd',
                '{"n": "count", "u": "units"}', 1000, 0.0001, '{ward}')"""
            assert {
                m.decode() if isinstance(m, bytes) else m: round(v)
                for m, v in admin.execute(query).fetchall()
            } == {"n": 1500, "u": 500}
    finally:
        made.drop()


def test_a_shard_without_room_sends_rows(sharded, admin):
    make_parts(sharded, "large", "person integer, note text", "HASH (person)")
    admin.execute("ALTER SERVER s1 OPTIONS (ADD options '-c pg_sanitize.max_memory=1MB')")
    try:
        with sharded.shard(1) as shard:
            shard.execute("CREATE TABLE place (person integer) PARTITION BY HASH (person)")
            shard.execute(
                """INSERT INTO large_1 SELECT u, md5(u::text) FROM generate_series(1, 60000) AS u
                    WHERE satisfies_hash_partition('place'::regclass, 3, 1, u)"""
            )
            truth = shard.execute("SELECT count(*) FROM large_1").fetchone()[0]
        protect(admin, "large", "person", 1)
        with Watched(sharded) as watched:
            ((notes, _),) = ask(admin, "large", '{"d": {"distinct": "note"}}', delta=None).values()
        assert round(notes) == truth
        assert watched.rows_here()
    finally:
        admin.execute("ALTER SERVER s1 OPTIONS (DROP options)")


@pytest.mark.parametrize("guarded", ["secured", "secured_2"])
def test_row_security_is_not_gone_around(sharded, admin, guarded):
    admin.execute("DROP TABLE IF EXISTS secured CASCADE")
    for number in range(SHARDS):
        with sharded.shard(number) as shard:
            shard.execute(f"DROP TABLE IF EXISTS secured_{number}")
    make_parts(sharded, "secured", "person integer", "HASH (person)")
    if guarded == "secured_2":
        admin.execute("DROP FOREIGN TABLE secured_2")
        admin.execute(
            "CREATE TABLE secured_2 PARTITION OF secured FOR VALUES WITH (MODULUS 3, REMAINDER 2)"
        )
    admin.execute("INSERT INTO secured SELECT u FROM generate_series(1, 300) AS u")
    admin.execute(f"ALTER TABLE {guarded} ENABLE ROW LEVEL SECURITY")
    protect(admin, "secured", "person", 1)
    with Watched(sharded) as watched:
        assert whole(admin, "secured") == 300
    assert watched.rows_here()


def test_a_foreign_partition_has_no_key(sharded, admin):
    """One row for each unit is never assumed where Postgres cannot enforce it."""
    make_parts(sharded, "keyless", "person integer NOT NULL", "HASH (person)")
    with pytest.raises(psycopg.errors.WrongObjectType):
        admin.execute("ALTER TABLE keyless ADD PRIMARY KEY (person)")


def unreadable(error):
    """What an analyst is told if a read fails, whatever the reason."""
    assert error.sqlstate == "22000"
    assert error.diag.message_primary == "the protected relation could not be read"
    assert error.diag.message_detail is None and error.diag.context is None
    return True


def spent(admin, name):
    query = "SELECT epsilon_spent FROM sanitize.budget WHERE source = %s::regclass"
    return admin.execute(query, [name]).fetchone()[0]


def test_a_shard_that_fails_tells_nothing_and_the_charge_stands(sharded, admin, cluster):
    before = spent(admin, "visits")
    # In the middle: the read waits for a lock on a shard when its session there is ended.
    failed = []

    def ask_and_fail():
        with sharded.connect() as analyst, pytest.raises(psycopg.Error) as error:
            whole(analyst, "visits")
        failed.append(unreadable(error.value))

    with locked(sharded, 1) as shard:
        asking = threading.Thread(target=ask_and_fail)
        asking.start()
        wait_for(lambda: waiting(shard))
        shard.execute("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE NOT granted")
        asking.join(30)
    assert failed == [True]
    once = spent(admin, "visits")
    assert once > before
    # Down, which is seen before the charge.
    cluster.shards[2].stop("immediate")
    try:
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState) as error:
            whole(admin, "visits")
        assert error.value.diag.message_detail == "Nothing was charged."
    finally:
        cluster.shards[2].start()
    assert spent(admin, "visits") == once
    # And back.
    assert whole(admin, "visits") == admin.execute("SELECT count(*) FROM visits_here").fetchone()[0]


@contextmanager
def locked(sharded, number):
    """Meanwhile nobody reads the visits of a shard; gives another connection to it."""
    with sharded.shard(number) as holder, sharded.shard(number) as shard, holder.transaction():
        holder.execute(f"LOCK TABLE visits_{number} IN ACCESS EXCLUSIVE MODE")
        yield shard


def waiting(shard):
    return shard.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone()[0]


def wait_for(condition):
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_cancel_reaches_the_shards(sharded):
    cancelled = []

    def ask_and_fail(analyst):
        with pytest.raises(psycopg.errors.QueryCanceled):
            whole(analyst, "visits")
        cancelled.append(True)

    with locked(sharded, 0) as shard, sharded.connect() as analyst:
        asking = threading.Thread(target=ask_and_fail, args=[analyst])
        asking.start()
        wait_for(lambda: waiting(shard))
        analyst.cancel()
        asking.join(10)
        assert cancelled == [True]
        wait_for(lambda: not waiting(shard))


def test_a_shard_without_the_extension_tells_nothing(cluster):
    made = ShardedDatabase(cluster, absent=[2])
    try:
        make_parts(made, "visits", COLUMNS, "HASH (person)")
        with made.connect() as admin:
            protect(admin, "visits", "person", 1)
            with pytest.raises(psycopg.Error) as error:
                whole(admin, "visits")
            assert unreadable(error.value)
            with made.pulling_rows():
                assert whole(admin, "visits") == 0
    finally:
        made.drop()


def test_the_owner_reads_and_the_analyst_asks(sharded, admin):
    """Neither needs rights on what is not theirs: the owner's user mapping is used, and the analyst has none."""
    admin.execute("CREATE ROLE owning LOGIN")
    admin.execute("CREATE ROLE asking LOGIN")
    try:
        admin.execute("GRANT CREATE ON SCHEMA public TO owning")
        for number in range(SHARDS):
            sharded.add_server(admin, f"own{number}", number, extensions="pg_sanitize")
            admin.execute(f"DROP USER MAPPING FOR PUBLIC SERVER own{number}")
            admin.execute(
                f"""CREATE USER MAPPING FOR owning SERVER own{number}
                    OPTIONS (user 'postgres', password_required 'false')"""
            )
            admin.execute(f"GRANT USAGE ON FOREIGN SERVER own{number} TO owning")
        with sharded.connect(user="owning") as owner:
            owner.execute(f"CREATE TABLE owned ({COLUMNS}) PARTITION BY HASH (person)")
            for number in range(SHARDS):
                owner.execute(
                    f"""CREATE FOREIGN TABLE owned_{number} PARTITION OF owned FOR VALUES
                        WITH (MODULUS {SHARDS}, REMAINDER {number}) SERVER own{number}
                        OPTIONS (table_name 'visits_{number}')"""
                )
            protect(owner, "owned", "person", 5)
            owner.execute("SELECT sanitize.allow('owned', 'asking')")
        truth = admin.execute("SELECT count(*) FROM visits_here").fetchone()[0]
        with sharded.connect(user="asking") as analyst:
            for table in ("owned", "owned_0"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    analyst.execute(f"SELECT * FROM {table}")
            with Watched(sharded) as watched:
                assert whole(analyst, "owned") == truth
            assert watched.kept_there()
        # A partition that the owner may not read on its own is read as a part of the whole.
        admin.execute("ALTER FOREIGN TABLE owned_1 OWNER TO postgres")
        with sharded.connect(user="asking") as analyst, Watched(sharded) as watched:
            assert whole(analyst, "owned") == truth
        assert watched.rows_here()
    finally:
        admin.execute("DROP TABLE IF EXISTS owned CASCADE")
        for number in range(SHARDS):
            admin.execute(f"DROP SERVER IF EXISTS own{number} CASCADE")
        for role in ("owning", "asking"):
            admin.execute(f"DROP OWNED BY {role}")
            admin.execute(f"DROP ROLE {role}")


@pytest.fixture(scope="module")
def people(cluster):
    """Two million people, each a unit."""
    made = ShardedDatabase(cluster)
    made.make_people()
    with made.connect() as admin:
        for name in ("people", "people_here"):
            protect(admin, name, "id", 1)
    yield made
    made.drop()


def test_two_million_people(people):
    measures = """{"n": "count", "u": "units", "a": {"avg": "age", "low": 0, "high": 100},
        "p": {"sum": "paid", "low": 0, "high": 5000}, "z": {"distinct": "zip"}}"""
    options = {"group_by": ["work", "smokes"], "filter": '{"age": {">": 25}}'}
    with people.connect() as admin:
        there, here = (ask(admin, name, measures, **options) for name in ("people", "people_here"))
    assert there.keys() == here.keys() and len(here) == 75
    for key, (value, stddev) in here.items():
        assert there[key][0] == pytest.approx(value, abs=20 * stddev), key


def test_a_shard_that_is_ended_at_any_time(people):
    """Ten times, somewhere in a question: the answer, or nothing; and the charge."""
    entries = "SELECT count(*) FROM sanitize.ledger WHERE source = 'people'::regclass"
    others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
    ended = 0
    with people.connect() as admin, people.connect() as analyst:
        truth = 2_000_000
        began = time.monotonic()
        assert whole(analyst, "people") == truth
        takes = time.monotonic() - began
        before = admin.execute(entries).fetchone()[0]
        for attempt in range(10):
            with people.shard(attempt % SHARDS) as shard:
                timer = threading.Timer(takes * attempt / 10, shard.execute, [others])
                timer.start()
                try:
                    assert whole(analyst, "people") == truth
                except psycopg.errors.DataException as error:
                    assert unreadable(error)
                    ended += 1
                timer.join()
            assert admin.execute(entries).fetchone()[0] == before + attempt + 1
    assert ended > 0
