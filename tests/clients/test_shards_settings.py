"""Values that come from a server whose settings differ: dates are the same dates, and floats keep their last digits."""

import re

import pytest
from citus import imitated
from helpers import Database, fresh_name

# A type for each setting that changes how values are written, and some that no setting changes.
COLUMNS = {
    "day": "DATE '2024-01-02' + i % 3",
    "at": "TIMESTAMP '2024-03-04 05:06:07.125' + i % 3 * INTERVAL '1 day'",
    "seen": "TIMESTAMPTZ '2024-03-04 05:06:07+00' + i % 3 * INTERVAL '1 day'",
    "long": "INTERVAL '-1 year 2 mons -3 days 04:05:06' * (i % 3)",
    "height": "(0.1::float8 + 0.2 * (i % 3)) * 1.000000000000001 ^ (i % 2)",
    "short": "(i % 3)::float4 / 3",
    "raw": r"decode(lpad(to_hex(i % 3), 2, '0') || '5c27', 'hex')",
    "paid": "(i % 3 * 1234.5)::numeric::money",
    "days": "ARRAY[DATE '2024-01-02' + i % 3, NULL]",
    "during": "daterange(DATE '2024-01-02', DATE '2024-05-06' + i % 3)",
    "place": "point(i % 3, 0.1 + 0.2 * (i % 2))::text::point",
    "name": "CASE WHEN i % 4 > 0 THEN 'n' || i % 3 END",
    "price": "(i % 3)::numeric(6, 2)",
    "born": "(DATE '2024-01-02' + i % 3)::birthday",
    "moment": "TIMESTAMPTZ '2024-03-04 05:06:07+00' + i * INTERVAL '1 hour'",
}
ROWS = ", ".join(f"{value} AS {name}" for name, value in COLUMNS.items())
OTHER = {
    "DateStyle": "'SQL, DMY'",
    "IntervalStyle": "sql_standard",
    "extra_float_digits": "-10",
    "TimeZone": "'Asia/Tokyo'",
    "bytea_output": "escape",
}
# A point has no equality, but every value has a text.
ANSWERS = [
    "SELECT items::text, support FROM sanitize.frequent_itemsets('%s', 30, max_length => 2)",
    "SELECT items::text FROM sanitize.mine_miis('%s', 40, '{day,seen,long,height,paid}', max_length => 2)",
    """SELECT unit, determined, low, high FROM sanitize.audit_answers('%s', '{"unit": "moment", "low": 0, "high": 2,
        "answers": [{"sum": "price", "filter": {"day": "2024-01-02"}}]}')""",
]


def make(connection, name):
    connection.execute("CREATE DOMAIN birthday AS date CHECK (VALUE > '1900-01-01')")
    connection.execute(f"CREATE TABLE {name} AS SELECT {ROWS} FROM generate_series(1, 240) AS i")


@pytest.fixture(scope="module")
def shard():
    """A database in which sessions have settings of their own."""
    made = Database(fresh_name("settings"))
    with made.connect() as connection:
        make(connection, "shown")
        for name, value in OTHER.items():
            connection.execute(f'ALTER DATABASE "{made.name}" SET {name} = {value}')
    yield made
    made.drop()


@pytest.fixture(scope="module")
def here(database, shard):
    with database.connect() as connection:
        make(connection, "here")
        connection.execute("CREATE EXTENSION postgres_fdw")
        at = connection.info
        for name, extensions in {"bags": ", extensions 'pg_sanitize'", "rows": ""}.items():
            connection.execute(
                f"""CREATE SERVER {name} FOREIGN DATA WRAPPER postgres_fdw OPTIONS (
                        host '{at.host}', port '{at.port}', dbname '{shard.name}'{extensions});
                    CREATE USER MAPPING FOR PUBLIC SERVER {name}
                        OPTIONS (user '{at.user}', password_required 'false')"""
            )
        # Without the domain, which postgres_fdw does not send.
        shape = connection.execute(
            """SELECT string_agg(format('%I %s', attname, format_type(atttypid, atttypmod)), ', ' ORDER BY attnum)
                 FROM pg_attribute WHERE attrelid = 'here'::regclass AND attnum > 0 AND attname <> 'born'"""
        ).fetchone()[0]
        connection.execute("CREATE TABLE plain AS SELECT * FROM here")
        connection.execute("ALTER TABLE plain DROP born")
        for name in ("bags", "rows"):
            connection.execute(
                f"CREATE FOREIGN TABLE {name} ({shape}) SERVER {name} OPTIONS (table_name 'shown')"
            )
        yield connection


@pytest.mark.parametrize("mine", [{}, OTHER])
@pytest.mark.parametrize("name", ["bags", "rows"])
@pytest.mark.parametrize("query", ANSWERS)
def test_values_of_a_foreign_server(here, query, name, mine):
    for setting, value in mine.items():
        here.execute(f"SET {setting} = {value}")
    told = here.execute(query % name).fetchall()
    wanted = here.execute(query % "plain").fetchall()
    here.execute("RESET ALL")
    # Under the other settings floats that differ are shown alike, and nothing is rare any more.
    assert (wanted or mine) and sorted(told) == sorted(wanted)


def sent_to_citus(connection, query):
    """The query that Citus would split over its workers."""
    told = []

    def hear(notice):
        told.append(notice.message_primary)

    connection.add_notice_handler(hear)
    connection.execute("SET client_min_messages = notice; SET auto_explain.log_level = notice")
    connection.execute(
        "SET auto_explain.log_min_duration = 0; SET auto_explain.log_nested_statements = on"
    )
    answers = connection.execute(query).fetchall()
    connection.execute("RESET ALL")
    connection.remove_notice_handler(hear)
    sent = [
        re.search(r"Query Text: (SELECT (?:0, sanitize_internal.bag_packed|.* AS unit, ).*)", text)
        for text in told
    ]
    (found,) = {match[1] for match in sent if match}
    return answers, found


@pytest.fixture
def spread(here):
    with imitated(here):
        here.execute("INSERT INTO pg_dist_partition VALUES ('here', 'h')")
        here.execute("LOAD 'auto_explain'")
        yield here


@pytest.mark.parametrize("query", ANSWERS)
def test_a_worker_of_citus_sends_the_same_under_other_settings(spread, database, query):
    """The very query, run in a session with the settings of another node, gives the same bag, or the same rows in
    binary form."""
    answers, sent = sent_to_citus(spread, query % "here")
    rows = spread.execute(sent, binary=True).fetchall()
    for setting, value in OTHER.items():
        with database.connect() as worker:
            worker.execute(f"SET {setting} = {value}")
            assert worker.execute(sent, binary=True).fetchall() == rows, setting
    spread.execute("DELETE FROM pg_dist_partition")
    assert sorted(answers) == sorted(spread.execute(query % "here").fetchall())


def test_types_of_users_come_as_rows_from_citus(spread):
    spread.execute("CREATE TYPE stay AS (day date, ward text)")
    spread.execute("CREATE TABLE stays AS SELECT ROW(DATE '2024-01-02', 'w')::stay AS stay")
    spread.execute("INSERT INTO pg_dist_partition VALUES ('stays', 'h')")
    with pytest.raises(ValueError):
        sent_to_citus(spread, "SELECT sanitize.k_anonymity('stays')")
    assert spread.execute("SELECT sanitize.k_anonymity('stays')").fetchone() == (1,)
    spread.execute("DROP TABLE stays; DROP TYPE stay")
