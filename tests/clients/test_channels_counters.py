"""Counters of the server: what they tell about a question to somebody who may not read.

The probe sees no difference between filters that match somebody or nobody, many or none; its twin
shows that it does when somebody reads the table directly.
"""

import pytest
from channels import MANY, NONE, Asker, Reader, World, differences_by_table, outcome


@pytest.fixture(scope="module")
def world(database):
    made = World(database)
    made.admin.execute(f"""
        CREATE EXTENSION pg_stat_statements;
        ALTER DATABASE "{database.name}" SET track_functions = 'all';
        CREATE FUNCTION noted(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS
            'BEGIN RETURN i; END';
        CREATE VIEW viewed AS SELECT person, age, ward, noted(days) AS days, born FROM several;
        CREATE TABLE locked (LIKE single INCLUDING ALL) WITH (autovacuum_enabled = off);
        INSERT INTO locked SELECT * FROM single;
    """)
    made.admin.execute("VACUUM (FREEZE, ANALYZE) locked")
    made.protect("viewed", rows=4)
    return made


@pytest.fixture(scope="module")
def asker(world):
    return Asker(world.analyst())


@pytest.fixture(scope="module")
def reader(world):
    return Reader(world.reader())


# Counters of the server. The columns by which rows of a view are told apart; the rest is compared,
# but for how long things took.
IDENTITY = (
    "schemaname relname indexrelname funcname datname backend_type object context name query"
    " userid dbid toplevel source grantee what who"
).split()
NOT_A_COUNTER = ("queryid", "stats_reset", "stats_since", "minmax_stats_since", "id", "when")
# The answer that is kept has as many bytes as its noisy digits: what can be seen of it is itself.
NOT_A_COUNTER += ("wal_bytes",)
# Of the views of relations, those named user_* and sys_* are the rows of all_*.
VIEWS = {
    "pg_stat_tables": "pg_stat_all_tables",
    "pg_stat_indexes": "pg_stat_all_indexes",
    "pg_statio": "pg_statio_all_tables pg_statio_all_indexes pg_statio_all_sequences",
    "pg_stat_user_functions": "pg_stat_user_functions",
    "pg_stat_database": "pg_stat_database pg_stat_database_conflicts",
    "pg_stat_io": "pg_stat_io",
    "pg_stat_statements": "pg_stat_statements pg_stat_statements_info",
    "cluster_counters": "pg_stat_wal pg_stat_bgwriter pg_stat_checkpointer pg_stat_slru"
    " pg_stat_archiver",
    "budget_and_ledger": "sanitize.budget",
}
# What a read leaves no trace in.
ONLY_WRITES = ("cluster_counters", "budget_and_ledger")


MINE = {
    "schemaname": "v.schemaname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')",
    "datname": "v.datname = current_database()",
    "dbid": "v.dbid = (SELECT oid FROM pg_database WHERE datname = current_database())",
}


def snapshot_query(connection):
    """One query of all the views that are there, for the rows that this database is about."""
    parts = []
    for view in " ".join(VIEWS.values()).split():
        if outcome(connection, f"TABLE {view}") is not None:
            continue
        columns = {c.name for c in connection.execute(f"TABLE {view} LIMIT 0").description}
        mine = " AND ".join(mine for column, mine in MINE.items() if column in columns) or "true"
        parts.append(f"SELECT '{view}', to_jsonb(v) FROM {view} v WHERE {mine}")
    parts.append("""SELECT 'sanitize.ledger', jsonb_build_object('what', what, 'entries', count(*),
        'epsilon', sum(epsilon), 'delta', sum(delta)) FROM sanitize.ledger GROUP BY what""")
    return " UNION ALL ".join(parts)


def snapshot(connection, text):
    """All counters that the connection's role may see, by view, row and column."""
    counters = {}
    for view, row in connection.execute(text):
        identity = tuple(str(row.pop(name)) for name in IDENTITY if name in row)
        for column, value in row.items():
            if value is None or "time" in column or column in NOT_A_COUNTER:
                continue
            place = view, identity, column
            number = isinstance(value, int | float)
            counters[place] = counters.get(place, 0) + value if number else value
    connection.execute("SELECT pg_stat_force_next_flush()")
    return counters


class Counters:
    """The probe of all counters at once, as waiting for them takes most of the time. It looks from
    other sessions: of the analyst and, more strictly, of a member of pg_read_all_stats."""

    def __init__(self, world, analyst):
        self.world = world
        self.watchers = {
            "analyst": world.database.connect(analyst),
            "pg_read_all_stats": world.database.connect(world.role("pg_read_all_stats")),
        }
        self.text = snapshot_query(self.watchers["analyst"])

    def snapshot(self):
        self.world.settle()
        return {who: snapshot(connection, self.text) for who, connection in self.watchers.items()}

    def __call__(self, asker, table, chosen):
        before = self.snapshot()
        for _ in range(2):
            asker(table, chosen)
        asker.connection.execute("SELECT pg_stat_force_next_flush()")
        after = self.snapshot()
        seen = {}
        for who, counters in after.items():
            for place, now in counters.items():
                then = before[who].get(place, 0)
                number = isinstance(now, int | float) and isinstance(then, int | float)
                seen[who, *place] = now - then if number else int(now != then)
        return seen


@pytest.fixture(scope="module")
def counters(world, asker):
    """The probe, on a server where nothing else happens."""
    world.admin.execute("ALTER SYSTEM SET autovacuum = off")
    world.admin.execute("SELECT pg_reload_conf()")
    world.admin.execute("CHECKPOINT")
    world.admin.execute("SELECT pg_stat_statements_reset()")
    try:
        yield Counters(world, asker.connection.info.user)
    finally:
        world.admin.execute("ALTER SYSTEM RESET autovacuum")
        world.admin.execute("SELECT pg_reload_conf()")


def all_differences(counters, asker):
    return {
        **differences_by_table(counters, asker),
        **differences_by_table(counters, asker, {"many people": (MANY, NONE)}, ["viewed"]),
    }


@pytest.fixture(scope="module")
def asked(counters, asker):
    return all_differences(counters, asker)


@pytest.fixture(scope="module")
def read(counters, reader):
    return all_differences(counters, reader)


def in_channel(found, channel):
    views = VIEWS[channel].split() + ["sanitize.ledger"] * (channel == "budget_and_ledger")
    return {
        (*place, *name): ranges
        for place, names in found.items()
        for name, ranges in names.items()
        if name[1] in views
    }


def need_view(world, channel):
    if channel == "pg_stat_io" and world.admin.info.server_version < 160000:
        pytest.skip("pg_stat_io came with PostgreSQL 16")


@pytest.mark.parametrize("channel", VIEWS)
def test_counters(channel, world, asked):
    need_view(world, channel)
    assert in_channel(asked, channel) == {}


@pytest.mark.parametrize("channel", [name for name in VIEWS if name not in ONLY_WRITES])
def test_counters_see_a_direct_read(channel, world, read):
    need_view(world, channel)
    for who in ("analyst", "pg_read_all_stats"):
        assert who in {name[2] for name in in_channel(read, channel)}


def test_cluster_counters_see_a_direct_read(world, counters):
    """A read that locks the rows writes to the log."""
    writer = Reader(world.database.connect(world.role("SELECT, UPDATE ON locked")), " FOR UPDATE")
    pair = {"many people": (MANY, NONE)}
    found = differences_by_table(counters, writer, pair, ["locked"])
    assert in_channel(found, "cluster_counters")
