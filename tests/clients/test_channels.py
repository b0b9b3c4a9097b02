"""What an analyst who may not read sees beside the noisy answer, channel by channel.

Each channel has a probe. It sees no difference between questions whose filters match somebody or
nobody, many or none; its twin shows that it does when somebody reads the table directly.
"""

import re

import pytest
from channels import (
    MANY,
    NONE,
    PAIRS,
    ROWS,
    TABLES,
    Asker,
    Reader,
    World,
    differences_by_table,
    explain,
    messages,
    numbers_in,
    outcome,
    polled,
    question,
)


@pytest.fixture(scope="module")
def world(database):
    return World(database)


@pytest.fixture(scope="module")
def asker(world):
    return Asker(world.analyst())


@pytest.fixture(scope="module")
def reader(world):
    return Reader(world.reader())


# Plans. The options of later versions are tried where they are known.
EXPLAINS = {
    "explain": "COSTS",
    "explain_analyze": "ANALYZE",
    "explain_buffers": "ANALYZE, BUFFERS",
    "explain_wal": "ANALYZE, WAL",
    "explain_verbose": "ANALYZE, VERBOSE, BUFFERS",
    "explain_settings": "ANALYZE, SETTINGS, BUFFERS",
    "explain_timing_off": "ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS",
    "explain_json": "ANALYZE, BUFFERS, WAL, VERBOSE, FORMAT JSON",
    "explain_xml": "ANALYZE, BUFFERS, WAL, VERBOSE, FORMAT XML",
    "explain_yaml": "ANALYZE, BUFFERS, WAL, VERBOSE, FORMAT YAML",
    "explain_memory": "ANALYZE, BUFFERS, MEMORY",
    "explain_serialize": "ANALYZE, BUFFERS, SERIALIZE",
}


def explain_prepared(asker, table, chosen):
    """EXPLAIN of a statement that SQL has prepared."""
    asker.connection.execute("PREPARE asked AS " + asker.literal(table, chosen))
    asker.connection.execute("EXECUTE asked")
    lines = asker.connection.execute("EXPLAIN (ANALYZE, BUFFERS) EXECUTE asked").fetchall()
    asker.connection.execute("DEALLOCATE asked")
    return numbers_in("\n".join(line for (line,) in lines))


def explain_own_view(asker, table, chosen):
    """EXPLAIN of a view of the analyst's own."""
    asker.connection.execute("CREATE OR REPLACE TEMP VIEW own AS " + asker.literal(table, chosen))
    asker.connection.execute("SELECT * FROM own")
    lines = asker.connection.execute("EXPLAIN (ANALYZE, BUFFERS) SELECT * FROM own").fetchall()
    return numbers_in("\n".join(line for (line,) in lines))


XACT = """
    SELECT oid::regclass::text, pg_stat_get_xact_numscans(oid), pg_stat_get_xact_tuples_returned(oid),
        pg_stat_get_xact_tuples_fetched(oid), pg_stat_get_xact_blocks_fetched(oid),
        pg_stat_get_xact_blocks_hit(oid)
    FROM pg_class WHERE relkind IN ('r', 'i', 'm', 't')
"""
XACT_VIEWS = {
    "pg_stat_xact_all_tables": ("relname", "seq_scan, seq_tup_read, idx_scan, idx_tup_fetch"),
    "pg_stat_xact_user_tables": ("relname", "seq_scan, seq_tup_read, idx_scan, idx_tup_fetch"),
    "pg_stat_xact_user_functions": ("funcname", "calls"),
}


def pg_stat_xact(asker, table, chosen):
    """What the session counts in its own transaction, by functions and by views."""

    def look():
        seen = {("functions", name): numbers for name, *numbers in asker.connection.execute(XACT)}
        for view, (name, columns) in XACT_VIEWS.items():
            rows = asker.connection.execute(f"SELECT {name}, {columns} FROM {view}").fetchall()
            seen.update(((view, name), numbers) for name, *numbers in rows)
        return {
            (*name, place): number or 0
            for name, numbers in seen.items()
            for place, number in enumerate(numbers)
        }

    with asker.connection.transaction():
        # Numbers that have not been reported yet are counted among those of the transaction.
        before = look()
        asker(table, chosen)
        return {name: number - before.get(name, 0) for name, number in look().items()}


def pg_locks(asker, table, chosen):
    """Locks held after the question, of a transaction that remembers what it has read."""
    locks = """SELECT locktype, coalesce(relation::regclass::text, ''), mode, count(*)
        FROM pg_locks WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database())
        GROUP BY 1, 2, 3"""
    asker.connection.execute("BEGIN ISOLATION LEVEL SERIALIZABLE")
    try:
        asker(table, chosen)
        return {tuple(lock): held for *lock, held in asker.connection.execute(locks)}
    finally:
        asker.connection.execute("ROLLBACK")


def row_counts(asker, table, chosen):
    """Rows and command tags: of the statement, of a cursor, of PL/pgSQL's diagnostics."""
    connection = asker.connection
    seen = {"rows": asker(table, chosen).rowcount}
    literal = asker.literal(table, chosen)
    with connection.transaction():
        connection.execute("DECLARE counted SCROLL CURSOR FOR " + literal)
        seen["cursor"] = connection.execute("MOVE ALL FROM counted").rowcount
        seen["cursors"] = len(connection.execute("SELECT * FROM pg_cursors").fetchall())
    connection.execute(f"""
        CREATE OR REPLACE FUNCTION pg_temp.counted() RETURNS int LANGUAGE plpgsql AS $$
        DECLARE rows int;
        BEGIN
            PERFORM * FROM ({literal}) AS asked;
            GET DIAGNOSTICS rows = ROW_COUNT;
            RETURN rows;
        END $$
    """)
    (seen["diagnostics"],) = connection.execute("SELECT pg_temp.counted()").fetchone()
    made = connection.execute("CREATE TEMP TABLE counted AS " + literal)
    seen["table"] = made.rowcount
    connection.execute("DROP TABLE counted")
    return seen


PROBES = {
    **{name: explain(options) for name, options in EXPLAINS.items()},
    "explain_prepared": explain_prepared,
    "explain_own_view": explain_own_view,
    "pg_stat_xact": pg_stat_xact,
    "pg_locks": pg_locks,
    "row_counts": row_counts,
}


def need(asker, channel):
    """Skips forms of EXPLAIN that this server does not know."""
    if channel in EXPLAINS:
        refused = outcome(asker.connection, f"EXPLAIN ({EXPLAINS[channel]}) SELECT 1")
        if refused and "unrecognized EXPLAIN option" in refused[1]:
            pytest.skip(refused[1])


@pytest.mark.parametrize("channel", PROBES)
def test_session(channel, asker):
    need(asker, channel)
    assert differences_by_table(PROBES[channel], asker) == {}


@pytest.mark.parametrize("channel", PROBES)
def test_session_sees_a_direct_read(channel, reader):
    need(reader, channel)
    found = differences_by_table(PROBES[channel], reader)
    assert set(found) == {(table, name) for table in TABLES for name in PAIRS}


def test_public_groups_make_the_rows(asker):
    """With public groups there is a row for each, whoever is in them."""
    text = question("single", more=""", group_by => '{ward}', groups => '["A", "B", "X", null]'""")
    for chosen in (MANY, NONE):
        rows = asker.connection.execute(text, [chosen.json]).fetchall()
        assert [(row[0], row[1]) for row in rows] == [
            ({"ward": ward}, measure) for ward in ("A", "B", "X", None) for measure in ("d", "n")
        ]


def test_public_groups_make_the_rows_sees_a_direct_read(reader):
    text = "SELECT ward FROM single WHERE {} GROUP BY ward"
    seen = [reader.connection.execute(text.format(f.sql)).rowcount for f in (MANY, NONE)]
    assert seen == [4, 0]


# What other sessions see while somebody asks.
ACTIVITY = """
    SELECT 'activity', backend_type, coalesce(query, '') FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()
    UNION ALL
    SELECT 'backend', coalesce(pg_stat_get_backend_activity(id), ''),
        coalesce(pg_stat_get_backend_wait_event_type(id), '')
        FROM pg_stat_get_backend_idset() AS id
        WHERE pg_stat_get_backend_pid(id) <> pg_backend_pid()
            AND pg_stat_get_backend_dbid(id) =
                (SELECT oid FROM pg_database WHERE datname = current_database())
    UNION ALL SELECT 'analyze', relid::regclass::text, '' FROM pg_stat_progress_analyze
    UNION ALL SELECT 'cluster', relid::regclass::text, '' FROM pg_stat_progress_cluster
    UNION ALL SELECT 'copy', relid::regclass::text, '' FROM pg_stat_progress_copy
    UNION ALL SELECT 'index', relid::regclass::text, '' FROM pg_stat_progress_create_index
    UNION ALL SELECT 'vacuum', relid::regclass::text, '' FROM pg_stat_progress_vacuum
    UNION ALL SELECT 'prepared', gid, '' FROM pg_prepared_xacts
"""
LOCKS = """
    SELECT locktype, coalesce(relation::regclass::text, ''), mode FROM pg_locks
    WHERE pid <> pg_backend_pid()
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


def seen_meanwhile(watcher, text):
    """The probe that looks at a view from another session while a question is asked five times."""

    def probe(asker, table, chosen):
        # Else the last question before is seen first.
        asker.connection.execute("SELECT")
        with polled(watcher, text) as seen:
            for _ in range(5):
                asker(table, chosen)
        return dict.fromkeys(seen, 1)

    return probe


@pytest.fixture(params=["analyst", "pg_read_all_stats"])
def watcher(request, world, asker):
    """Another session, of the analyst and, more strictly, of somebody who sees all sessions."""
    analyst = asker.connection.info.user
    role = analyst if request.param == "analyst" else world.role("pg_read_all_stats")
    with world.database.connect(role) as connection:
        yield connection


@pytest.mark.parametrize("text", [ACTIVITY, LOCKS], ids=["pg_stat_activity", "pg_locks"])
def test_meanwhile(text, watcher, asker):
    assert differences_by_table(seen_meanwhile(watcher, text), asker) == {}


def test_pg_stat_activity_sees_a_direct_read(world, reader):
    watcher = world.database.connect(world.role("pg_read_all_stats"))
    found = differences_by_table(seen_meanwhile(watcher, ACTIVITY), reader)
    assert set(found) == {(table, name) for table in TABLES for name in PAIRS}


def test_pg_locks_see_a_direct_read(watcher, reader):
    """Locks do not depend on the filter of a plain read: those of the relation are seen."""
    with polled(watcher, LOCKS) as seen:
        for _ in range(5):
            reader("single", MANY)
    assert ("relation", "single", "AccessShareLock") in seen


def test_query_texts_of_workers(watcher, asker):
    """No text of a worker names the relation or a column of it."""
    with polled(watcher, ACTIVITY) as seen:
        for table in TABLES:
            asker(table, MANY)
    texts = [text for kind, who, text in seen if kind == "activity" and who != "client backend"]
    assert not [text for text in texts if re.search("single|several|days|age", text)]


def test_query_texts_of_workers_sees_a_direct_read(world, reader):
    watcher = world.database.connect(world.role("pg_read_all_stats"))
    with polled(watcher, ACTIVITY) as seen:
        reader("single", MANY)
    assert [text for _, _, text in seen if re.search("single.*age", text)]


AUTO_EXPLAIN = {
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_analyze": "on",
    "auto_explain.log_buffers": "on",
    "auto_explain.log_timing": "off",
    "auto_explain.log_nested_statements": "on",
    "client_min_messages": "log",
}


def auto_explain(asker, table, chosen):
    """What auto_explain tells the client, which a superuser has turned on for him."""
    with messages(asker.connection) as said:
        asker(table, chosen)
    return numbers_in("\n".join(said).replace(chosen.json, ""))


def test_auto_explain(world):
    asker = Asker(world.analyst(settings=AUTO_EXPLAIN))
    with messages(asker.connection) as said:
        asker("single", MANY)
    assert "Function Scan on dp_aggregate" in "\n".join(said)
    # Whether the unit is a key is looked up in the catalog, by the caller's process.
    plans = "\n".join(plan for plan in said if "FROM pg_catalog.pg_index" not in plan)
    assert not re.search(r"(Seq|Index|Bitmap|Foreign) (Only )?Scan|Aggregate|Sort", plans)
    assert differences_by_table(auto_explain, asker) == {}


def test_auto_explain_sees_a_direct_read(world):
    reader = Reader(world.reader(settings=AUTO_EXPLAIN))
    found = differences_by_table(auto_explain, reader)
    assert set(found) == {(table, name) for table in TABLES for name in PAIRS}


STATISTICS = [
    "SELECT count(*) FROM pg_stats WHERE tablename IN ('single', 'several')",
    "SELECT count(*) FROM pg_stats_ext WHERE tablename IN ('single', 'several')",
    "SELECT count(*) FROM pg_statistic",
    "SELECT sum(total_bytes) FROM pg_backend_memory_contexts",
    "SELECT pg_log_backend_memory_contexts(pg_backend_pid())",
    "SELECT count(*) FROM pg_get_shmem_allocations()",
]


def test_planner_statistics_and_memory(asker):
    """Either nothing is there for the analyst, or he may not look."""
    for text in STATISTICS:
        refused = outcome(asker.connection, text)
        if refused is None:
            assert asker.connection.execute(text).fetchone() == (0,), text
        else:
            assert refused[0] == "42501", text


def test_planner_statistics_and_memory_sees_a_direct_read(world, reader):
    (count,) = reader.connection.execute(STATISTICS[0]).fetchone()
    assert count > 0
    for text in STATISTICS[2:]:
        assert world.admin.execute(text).fetchone() != (0,)


def test_temporary_objects_in_front(world, asker):
    """Temporary tables, functions and operators with the names of those that a read uses."""
    with world.database.connect(asker.connection.info.user) as connection:
        connection.execute("""
            CREATE TEMP TABLE heard (what text);
            CREATE TEMP TABLE single (person int, age int, days int);
            CREATE TEMP TABLE protection AS SELECT 1 AS source;
            CREATE FUNCTION pg_temp.hear(text) RETURNS void LANGUAGE sql AS
                'INSERT INTO pg_temp.heard VALUES ($1)';
            CREATE FUNCTION pg_temp.int4gt(int, int) RETURNS bool LANGUAGE plpgsql AS
                $$ BEGIN PERFORM pg_temp.hear($1::text); RETURN true; END $$;
            CREATE OPERATOR pg_temp.> (LEFTARG = int, RIGHTARG = int, FUNCTION = pg_temp.int4gt);
            CREATE FUNCTION pg_temp.round(numeric) RETURNS numeric LANGUAGE plpgsql AS
                $$ BEGIN PERFORM pg_temp.hear($1::text); RETURN 0; END $$;
            CREATE FUNCTION pg_temp.count() RETURNS bigint LANGUAGE sql AS 'SELECT 0::bigint';
            SET search_path = pg_temp, public, pg_catalog
        """)
        text = question("public.single", 100, '{"n": "count"}')
        (row,) = connection.execute(text, [MANY.json]).fetchall()
        assert abs(row[2] - ROWS * 49 // 100) < 10
        assert connection.execute("SELECT * FROM pg_temp.heard").fetchall() == []


def test_temporary_objects_in_front_sees_a_direct_read(reader):
    """The names do come first for a query of one's own."""
    connection = reader.connection
    connection.execute("CREATE TEMP TABLE single AS SELECT 1 AS person, 60 AS age")
    assert connection.execute(f"SELECT 1 FROM single WHERE {MANY.sql}").rowcount == 1
    connection.execute("DROP TABLE pg_temp.single")
