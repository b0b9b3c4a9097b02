"""What a shard's own counters, plans and logs tell of a question about a protected relation: the same, whichever
rows match."""

import os
import re
from contextlib import contextmanager

import psycopg
import pytest
from helpers import OwnServer, fresh_name

SETTINGS = [
    "shared_preload_libraries = 'pg_stat_statements, auto_explain'",
    "pg_stat_statements.track = all",
    "pg_stat_statements.track_utility = on",
    "track_functions = all",
    "compute_query_id = on",
    "autovacuum = off",
    "pg_sanitize.max_readers = 1",
    "jit = off",
    "shared_buffers = 64MB",
]
# Long values lie in a table of their own, whose pages are read only if they are looked at.
ROWS = """SELECT i % 80, 'w' || i % 4, i % 90, repeat(md5(i::text), 200) FROM generate_series(1, 400) AS i"""
# So many that those of a ward do not fit into a megabyte.
CROWD = """SELECT i, CASE WHEN i % 5000 = 0 THEN 'few' ELSE 'most' END, i % 90 FROM generate_series(1, 20000) AS i"""

# Filters of one form: nobody matches the first of each, many match the last.
MATCHES = [
    ['{"ward": "none"}', '{"ward": "w0"}', '{"ward": "w2"}'],
    [
        '{"ward": "none", "notes": "x"}',
        '{"ward": "w1", "notes": "y"}',
        '{"ward": "w2", "notes": "z"}',
    ],
    [
        '{"notes": ["x", null], "ward": ["none", "no"]}',
        '{"notes": ["y", null], "ward": ["w1", "w2"]}',
    ],
]
# Measures, group_by and groups.
QUESTIONS = [
    ('{"n": "count"}', "NULL", "NULL"),
    ('{"n": {"distinct": "notes"}, "s": {"sum": "age"}}', "NULL", "NULL"),
    ('{"n": "units"}', "'{ward}'", "NULL"),
    ('{"n": "count"}', "'{ward}'", """'["w1", "w2"]'"""),
]


class Pair:
    """A server with two databases, of which one is a shard of the other."""

    def __init__(self):
        self.server = OwnServer(port=55995)
        self.server.initialise(*SETTINGS)
        self.server.start()
        self.shard = fresh_name("shard")
        self.admin = self.server.connect(dbname="postgres", user="postgres")
        self.admin.execute("CREATE EXTENSION pg_stat_statements")
        self.admin.execute(f"CREATE DATABASE {self.shard}")
        with self.server.connect(dbname=self.shard, user="postgres") as shard:
            shard.execute("CREATE EXTENSION pg_sanitize")
            shard.execute(
                "CREATE TABLE visits (person integer, ward text, age integer, notes text)"
            )
            shard.execute("ALTER TABLE visits ALTER notes SET STORAGE EXTERNAL")
            shard.execute(f"INSERT INTO visits {ROWS}")
            shard.execute("CREATE INDEX ON visits (ward); CREATE INDEX ON visits (age)")
            shard.execute("VACUUM ANALYZE visits")
            shard.execute("CREATE TABLE crowd (person integer, ward text, age integer)")
            shard.execute(f"INSERT INTO crowd {CROWD}")
            shard.execute("VACUUM ANALYZE crowd")
            shard.execute("CREATE TABLE parts AS SELECT person, ward FROM visits")
            for name, value in {
                "log_min_duration": 0,
                "log_analyze": "on",
                "log_timing": "off",
                "log_buffers": "on",
                "log_nested_statements": "on",
            }.items():
                shard.execute(f"ALTER DATABASE {self.shard} SET auto_explain.{name} = {value}")
        self.admin.execute("CREATE EXTENSION pg_sanitize; CREATE EXTENSION postgres_fdw")
        for name, extensions in {"bags": ", extensions 'pg_sanitize'", "rows": ""}.items():
            self.admin.execute(
                f"""CREATE SERVER {name} FOREIGN DATA WRAPPER postgres_fdw OPTIONS (
                        host '{self.server.folder}', port '55995', dbname '{self.shard}'{extensions});
                    CREATE USER MAPPING FOR PUBLIC SERVER {name} OPTIONS (user 'postgres', password_required 'false');
                    CREATE FOREIGN TABLE {name} (person integer, ward text, age integer, notes text)
                        SERVER {name} OPTIONS (table_name 'visits');
                    CREATE FOREIGN TABLE {name}_of_crowd (person integer, ward text, age integer)
                        SERVER {name} OPTIONS (table_name 'crowd')"""
            )
            for table in (name, f"{name}_of_crowd"):
                self.admin.execute(
                    f"""SELECT sanitize.declare_bounds('{table}', 'age', '0', '90');
                        SELECT sanitize.protect('{table}', 'person', 1e6, 0.5, 5)"""
                )

    def ask(self, *question):
        """What the shard's counters and plans have after a question, by a connection that is there already: one that
        is new looks things up once."""
        while True:
            counted, plans = self._ask(*question)
            if not any(query.startswith("SET") for query, *_ in counted):
                return counted, plans

    def _ask(self, name, measures, group_by, groups, matches):
        self.admin.execute("SELECT pg_stat_statements_reset()")
        log = os.path.join(self.server.folder, "log")
        began = os.path.getsize(log)
        self.admin.execute(
            f"""SELECT * FROM sanitize.dp_aggregate('{name}', '{measures}', 10, 1e-4, {group_by},
                    '{matches}', {groups})"""
        )
        counted = self.admin.execute(
            f"""SELECT query, calls, rows, shared_blks_hit + shared_blks_read, temp_blks_written
                 FROM pg_stat_statements AS s JOIN pg_database AS d ON d.oid = s.dbid
                WHERE d.datname = '{self.shard}' ORDER BY 1"""
        ).fetchall()
        # The text of a question tells nothing of its answer.
        counted = [(re.sub(r"'(?:[^']|'')*'", "?", query), *rest) for query, *rest in counted]
        with open(log) as file:
            file.seek(began)
            plans = file.read()
        # The numbers of executed plans, without the texts of the questions.
        shown = r"(actual rows=\S+ loops=\d+|Rows Removed.*|Buffers: shared.*|Index .*|Heap Blocks.*|Filter:)"
        plans = [re.sub(r"(hit|read)=", "=", line) for line in re.findall(shown, plans)]
        return counted, plans


@pytest.fixture(scope="module")
def pair():
    made = Pair()
    yield made
    made.admin.close()
    made.server.drop()


@pytest.mark.parametrize("name", ["bags", "rows"])
@pytest.mark.parametrize("measures, group_by, groups", QUESTIONS)
@pytest.mark.parametrize("matches", MATCHES)
def test_counters_and_plans_are_the_same(pair, name, measures, group_by, groups, matches):
    # What is looked up once in a connection is looked up now.
    pair.ask(name, measures, group_by, groups, matches[0])
    (counted, plans), *others = [pair.ask(name, measures, group_by, groups, m) for m in matches]
    reads = [line for line in counted if "visits" in line[0]]
    assert reads and all(("sanitize" in query) == (name == "bags") for query, *_ in reads)
    assert plans
    for other in others:
        assert other == (counted, plans)


@contextmanager
def a_megabyte(pair, database):
    """Meanwhile new sessions of a database, if one is given, have no more memory than that; those of readers are
    new."""
    readers = """SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
        WHERE backend_type LIKE 'pg_sanitize reader%'"""
    if database is None:
        yield
        return
    try:
        pair.admin.execute(f"ALTER DATABASE {database} SET pg_sanitize.max_memory = '1MB'")
        pair.admin.execute(readers)
        yield
    finally:
        pair.admin.execute(f"ALTER DATABASE {database} RESET pg_sanitize.max_memory")
        pair.admin.execute(readers)


# Measures, group_by and groups.
CROWDED = [
    ('{"s": {"sum": "age", "bounds": "private"}}', "NULL", "NULL"),
    ('{"n": "count", "s": {"sum": "age", "per": "unit", "low": 0, "high": 90}}', "NULL", "NULL"),
    ('{"n": "units"}', "'{age}'", "NULL"),
]


@pytest.mark.parametrize(
    "name, short_of_memory",
    [("bags", "nobody"), ("bags", "coordinator"), ("bags", "shard"), ("rows", "coordinator")],
)
def test_rows_that_do_not_fit_are_asked_for_no_other_way(pair, name, short_of_memory):
    """However many match: who sees what the shard is asked would see from a second request that the first was too
    much."""
    databases = {"coordinator": "postgres", "shard": pair.shard}
    with a_megabyte(pair, databases.get(short_of_memory)):
        for question in CROWDED:
            # What is looked up once in a connection is looked up with the first of them.
            _, few, most = (
                pair.ask(f"{name}_of_crowd", *question, f'{{"ward": "{ward}"}}')[0]
                for ward in ("few", "few", "most")
            )
            assert few == most, question
            # PostgreSQL 18 has an entry for the query of a cursor, too, under the text of its DECLARE.
            reads = {(query, calls) for query, calls, *_ in few if "crowd" in query}
            rows = sum(calls for query, calls in reads if "sanitize" not in query)
            in_bags = name == "bags" and short_of_memory == "nobody" and '"per"' not in question[0]
            assert reads and rows == (0 if in_bags else 1)


def test_these_counters_tell_which_rows_match(pair):
    """Or the test above would say nothing: a condition shows in the rows that are sent, and a value that is looked at
    in the pages that are read."""

    def counted(connection, query):
        pair.admin.execute("SELECT pg_stat_statements_reset()")
        connection.execute(query)
        return pair.admin.execute(
            f"""SELECT sum(rows), sum(shared_blks_hit + shared_blks_read) FROM pg_stat_statements AS s
                  JOIN pg_database AS d ON d.oid = s.dbid WHERE d.datname = '{pair.shard}'"""
        ).fetchone()

    few, many = (
        counted(pair.admin, f"SELECT person FROM rows WHERE ward = '{w}'") for w in ("no", "w1")
    )
    assert few[0] < many[0]
    with pair.server.connect(dbname=pair.shard, user="postgres") as shard:
        query = "SELECT count(DISTINCT md5(notes)) FILTER (WHERE ward = '{}') FROM visits"
        few, many = (counted(shard, query.format(w)) for w in ("no", "w1"))
        assert few[1] < many[1]


def test_a_missing_user_mapping_is_told_before_the_charge(pair):
    pair.admin.execute("CREATE ROLE stranger LOGIN")
    pair.admin.execute(
        """CREATE SERVER alone FOREIGN DATA WRAPPER postgres_fdw OPTIONS (extensions 'pg_sanitize');
           CREATE FOREIGN TABLE alone (person integer) SERVER alone;
           ALTER FOREIGN TABLE alone OWNER TO stranger;
           SELECT sanitize.protect('alone', 'person', 10, 0, 1)"""
    )
    count = "SELECT count(*) FROM sanitize.ledger_entry WHERE source = 'alone'::regclass"
    with pytest.raises(Exception, match='no user mapping for role "stranger"') as refused:
        pair.admin.execute("""SELECT sanitize.dp_aggregate('alone', '{"n": "count"}', 1)""")
    assert refused.value.sqlstate == "55000"
    assert pair.admin.execute(count).fetchone() == (0,)


UNREADABLE = {
    "a view whose owner has no user mapping": """CREATE FOREIGN TABLE far (person integer) SERVER rows_apart
        OPTIONS (table_name 'visits'); GRANT SELECT ON far TO {role}; CREATE VIEW seen AS SELECT person FROM far;
        ALTER VIEW seen OWNER TO {role}""",
    "a user mapping without a password": """CREATE USER MAPPING FOR {role} SERVER rows_apart OPTIONS (user 'postgres');
        CREATE FOREIGN TABLE seen (person integer) SERVER rows_apart OPTIONS (table_name 'visits');
        ALTER FOREIGN TABLE seen OWNER TO {role}""",
    "a view whose owner may not read its table": """CREATE TABLE secret AS SELECT 1 AS person;
        CREATE VIEW seen AS SELECT person FROM secret; ALTER VIEW seen OWNER TO {role}""",
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_what_cannot_be_read_is_told_before_the_charge(pair, what):
    role = fresh_name("owner")
    admin = pair.admin
    admin.execute(f"CREATE ROLE {role} LOGIN")
    admin.execute(
        f"""CREATE SERVER rows_apart FOREIGN DATA WRAPPER postgres_fdw OPTIONS (
                host '{pair.server.folder}', port '55995', dbname '{pair.shard}');
            {UNREADABLE[what].format(role=role)};
            SELECT sanitize.protect('seen', 'person', 10, 0, 1)"""
    )
    with pytest.raises(
        psycopg.errors.ObjectNotInPrerequisiteState,
        match="seen cannot be read with its owner's rights",
    ) as refused:
        admin.execute("""SELECT sanitize.dp_aggregate('seen', '{"n": "count"}', 1)""")
    assert refused.value.diag.message_detail == "Nothing was charged."
    count = "SELECT count(*) FROM sanitize.ledger_entry WHERE source = 'seen'::regclass"
    assert admin.execute(count).fetchone() == (0,)
    admin.execute("DROP SERVER rows_apart CASCADE; DROP TABLE IF EXISTS secret CASCADE")
    admin.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")


def test_a_foreign_partition_has_no_budget_of_its_own(pair):
    """Or the rows of a person could be asked for twice, of the whole and of its part."""
    admin = pair.admin
    admin.execute(
        """CREATE TABLE whole (person integer, ward text) PARTITION BY LIST (ward);
           CREATE FOREIGN TABLE part PARTITION OF whole DEFAULT SERVER rows OPTIONS (table_name 'parts');
           SELECT sanitize.declare_domain('part', 'ward', '{w0,w1,w2,w3}');
           SELECT sanitize.declare_bounds('part', 'person', '0', '79')"""
    )
    admin.execute(
        """CREATE VIEW part_seen AS SELECT person, ward FROM part;
           CREATE FOREIGN TABLE again (person integer, ward text) SERVER rows OPTIONS (table_name 'parts');
           CREATE TABLE twice (person integer, ward text) PARTITION BY LIST (ward);
           CREATE FOREIGN TABLE twice_part PARTITION OF twice DEFAULT
               SERVER rows OPTIONS (schema_name 'public', table_name 'parts');
           CREATE VIEW whole_seen AS SELECT person, ward FROM whole"""
    )
    private = ["sanitize.randomize_cells(NULL::part, 1)", "sanitize.dp_synthesize(NULL::part, 1)"]
    for call in private:
        admin.execute(f"SELECT {call}")
    admin.execute("SELECT sanitize.protect('whole', 'person', 10, 0, 5)")

    def refused(call, one, other):
        with pytest.raises(Exception, match=f"{one} shares rows on other servers with {other}:"):
            admin.execute(f"SELECT {call}")

    for call in private:
        refused(call, "part", "public.whole")
    for other in ("part", "part_seen", "again", "twice"):
        refused(f"sanitize.protect('{other}', 'person', 10, 0, 5)", other, "public.whole")
    # A view of all of it is a view like any other: it shares the budget.
    admin.execute(
        "SELECT sanitize.protect('whole_seen', 'person', max_rows_per_unit => 5); SELECT sanitize.unprotect('whole_seen')"
    )
    admin.execute("SELECT sanitize.unprotect('whole')")
    for part in ("part", "part_seen", "again", "twice"):
        admin.execute(f"SELECT sanitize.protect('{part}', 'person', 10, 0, 5)")
        refused("sanitize.protect('whole', 'person', 10, 0, 5)", "whole", f"public.{part}")
        admin.execute(f"SELECT sanitize.unprotect('{part}')")
