"""Tables that Citus distributes, as far as that can be tried without it: with its catalog, and a table that is said
to be distributed. Whatever Citus makes of the query, the answers are those of rows.

The steps that Citus itself takes (states as text, combined by the coordinator) are in the SQL case `citus`.
"""

from collections import Counter

import psycopg
import pytest

QUERIES = [
    "SELECT * FROM sanitize.mine_miis('%s', 2)",
    "SELECT * FROM sanitize.mii_risk('%s', 2, '{b,f,n,c}')",
    "SELECT * FROM sanitize.frequent_itemsets('%s', 5)",
    "SELECT * FROM sanitize.k_anonymize(NULL::%s, 4, '{b,i,c}')",
    "SELECT * FROM sanitize.k_mii(NULL::%s, 3, keep => '{id}')",
    "SELECT sanitize.k_anonymity('%s', '{b,i}')",
]


@pytest.fixture
def said(connection):
    """A table that the catalog of Citus lists, and one with the same rows that it does not."""
    connection.execute("SET allow_system_table_mods = on")
    connection.execute(
        'CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass, partmethod "char")'
    )
    connection.execute("GRANT SELECT ON pg_catalog.pg_dist_partition TO PUBLIC")
    connection.execute("RESET allow_system_table_mods")
    connection.execute("CREATE DOMAIN grade AS int CHECK (VALUE < 10)")
    for name in ("here", "spread"):
        connection.execute(
            f"""CREATE TABLE {name} AS SELECT i AS id, i % 2 = 0 AS b, (i % 5)::float8 / 3 AS f,
                   CASE WHEN i % 7 > 0 THEN (i % 3)::numeric(6, 2) END AS n, ('x' || i % 4)::char(5) AS c,
                   ('10.0.0.' || i % 3)::inet AS i, '2026-01-01 12:00+00'::timestamptz + i % 3 * '1 h'::interval AS t,
                   (i % 4)::grade AS g, decode(lpad(to_hex(i % 5), 2, '0'), 'hex') AS y
              FROM generate_series(1, 200) AS i"""
        )
    connection.execute("INSERT INTO pg_dist_partition VALUES ('spread', 'h'), ('here', 'n')")
    yield connection
    connection.execute("DROP TABLE here, spread; DROP DOMAIN grade")
    connection.execute("SET allow_system_table_mods = on; DROP TABLE pg_dist_partition")


def told_by(connection, query):
    """The rows of a query, and whether a progress line names Citus."""
    told = []

    def hear(notice):
        told.append(notice.message_primary)

    connection.add_notice_handler(hear)
    connection.execute("SET pg_sanitize.progress = 1000")
    rows = connection.execute(query).fetchall()
    connection.execute("RESET pg_sanitize.progress")
    connection.remove_notice_handler(hear)
    return Counter(map(repr, rows)), "pg_sanitize: reading a bag that Citus combines" in told


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
@pytest.mark.parametrize("query", QUERIES)
def test_answers_are_those_of_rows(said, query, zone):
    said.execute(f"SET TimeZone = '{zone}'; SET bytea_output = escape")
    rows, by_citus = told_by(said, query % "spread")
    assert by_citus and rows
    assert told_by(said, query % "here") == (rows, False)


def test_rights_are_those_of_the_table(said, database):
    user = database.regular_user("SELECT (b) ON spread")
    with database.connect(user=user) as regular:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            regular.execute("SELECT * FROM sanitize.mine_miis('spread', 2)")
        mined = "SELECT * FROM sanitize.mine_miis('spread', 2, '{b}')"
        assert regular.execute(mined).fetchall() == []


def test_policies_hold(said, database):
    user = database.regular_user("SELECT ON spread")
    said.execute("ALTER TABLE spread ENABLE ROW LEVEL SECURITY")
    said.execute("CREATE POLICY few ON spread USING (id <= 10)")
    query = "SELECT sum(support) FROM sanitize.frequent_itemsets('spread', 1, '{b}')"
    with database.connect(user=user) as regular:
        assert regular.execute(query).fetchone() == (10,)


def test_an_empty_table_is_told(said):
    said.execute("TRUNCATE spread")
    with pytest.raises(psycopg.Error, match="no rows"):
        said.execute("SELECT * FROM sanitize.mine_miis('spread', 2)")
