"""Codes of single rows, classes, rejected itemsets and shuffled groups on tables of real size."""

import json

import psycopg
import pytest
from helpers import assert_stops, load_lucs

CLASSES = """
SELECT jsonb_object_agg(class, model) FROM (
    SELECT class, sanitize.krimp_model(('led7_' || class)::regclass, 1, columns => '{c1,c2,c3,c4,c5,c6,c7}') AS model
    FROM (SELECT DISTINCT c8 AS class FROM led7) AS c) AS m
"""


@pytest.fixture(scope="module")
def led7(database):
    """led7, numbered; the classes of all rows but every tenth as views; the rest as a table."""
    with database.connect() as connection:
        load_lucs(connection, "lucs/led7.D24.N3200.C10.num", "led7")
        connection.execute("ALTER TABLE led7 ADD id serial")
        connection.execute("CREATE TABLE test AS SELECT * FROM led7 WHERE id % 10 = 0")
        for (name,) in connection.execute("SELECT DISTINCT c8 FROM led7").fetchall():
            connection.execute(
                f"CREATE VIEW led7_{name} AS SELECT * FROM led7 WHERE id % 10 > 0 AND c8 = '{name}'"
            )
        connection.execute(f"CREATE TABLE classes AS {CLASSES}")


def test_digits_are_told_from_their_bars(connection, led7):
    """The classifier's authors report 75 % on this set."""
    query = """
        SELECT avg((class = c8)::int), count(*)
        FROM classes AS m, sanitize.krimp_classify(m.jsonb_object_agg, 'test') AS c
        JOIN test ON items = jsonb_build_object('c1', c1, 'c2', c2, 'c3', c3, 'c4', c4, 'c5', c5, 'c6', c6, 'c7', c7)
    """
    right, rows = connection.execute(query).fetchone()
    assert rows == 320
    assert 0.68 < right < 0.82


def test_classes_do_not_depend_on_threads_or_on_other_rows(connection, led7):
    query = "SELECT c.* FROM classes AS m, sanitize.krimp_classify(m.jsonb_object_agg, '{}') AS c"
    whole = {json.dumps(items): told for items, *told in connection.execute(query.format("led7"))}
    connection.execute("SET pg_sanitize.threads = 3")
    for items, _, *told in connection.execute(query.format("test")).fetchall():
        assert whole[json.dumps(items)][1:] == told
    connection.execute("RESET pg_sanitize.threads")


def test_rows_add_up_to_the_size(connection, led7):
    query = """
        SELECT sum(r.rows * r.bits), min(s.data_bits), sum(r.rows), bool_and(r.bits >= r.before)
        FROM (SELECT sanitize.krimp_model('test', 1, columns => '{c1,c2,c3,c4,c5,c6,c7,c8}') AS model) AS m,
             LATERAL (SELECT *, lag(bits, 1, 0) OVER (ORDER BY ordinality) AS before
                      FROM sanitize.krimp_row_bits(model, 'led7') WITH ORDINALITY) AS r,
             sanitize.krimp_size(model, 'led7') AS s
    """
    bits, size, rows, sorted_by_bits = connection.execute(query).fetchone()
    assert (rows, sorted_by_bits) == (3200, True)
    assert bits == pytest.approx(size)


def test_rejected_rows_are_drawn_again(connection, led7):
    """What a single row of the source has, 147 itemsets of all lengths, comes out in no row."""
    query = """
        WITH rare AS (SELECT items FROM sanitize.mine_miis('test', 1, columns => '{c1,c2,c3,c4,c5,c6,c7,c8}')),
             made AS (SELECT to_jsonb(g) AS row FROM sanitize.krimp_generate(NULL::test, 5000, 1,
                 columns => '{c1,c2,c3,c4,c5,c6,c7,c8}', laplace => 1, seed => 1,
                 reject => (SELECT jsonb_agg(items) FROM rare)) AS g)
        SELECT (SELECT count(*) FROM rare), count(DISTINCT row),
               count(*) FILTER (WHERE EXISTS (SELECT FROM rare WHERE row @> items)) FROM made
    """
    rare, made, found = connection.execute(query).fetchone()
    assert rare == 147 and made > 20 and found == 0


def test_shuffled_groups_are_independent(connection, database):
    """A column and its copy in two groups: afterwards each of their 16 pairs is as likely as chance
    makes it."""
    connection.execute(
        "CREATE TABLE copied AS SELECT i % 4 AS a, i % 4 AS b FROM generate_series(1, 40000) AS i"
    )
    query = 'SELECT a, b, count(*) FROM sanitize.shuffle_groups(NULL::copied, \'[["a"], ["b"]]\') GROUP BY 1, 2'
    counts = [n for *_, n in connection.execute(query).fetchall()]
    # With fixed margins the statistic has 9 degrees of freedom: one draw in 10^10 is above 66.
    chi_square = sum((n - 2500) ** 2 / 2500 for n in counts)
    assert len(counts) == 16 and chi_square < 66
    connection.execute("DROP TABLE copied")


@pytest.fixture(scope="module")
def long(database):
    with database.connect() as connection:
        connection.execute(
            "CREATE UNLOGGED TABLE long AS SELECT i % 1000 AS a, i % 777 AS b, i AS c FROM generate_series(1, 1000000) AS i"
        )


def test_a_shuffle_stops_within_a_second(database, long):
    source = 'sanitize.shuffle_groups(NULL::long, \'[["a"], ["b", "c"]]\')'
    assert_stops(database, "returning", f"SELECT count(*) FROM {source}")


def test_a_shuffle_is_limited_in_memory(connection, long):
    connection.execute("SET pg_sanitize.max_memory = '32MB'")
    with pytest.raises(psycopg.errors.ConfigurationLimitExceeded):
        connection.execute(
            "SELECT count(*) FROM sanitize.shuffle_groups(NULL::long, '[[\"a\"], [\"b\"]]', keep => '{c}')"
        )
    connection.execute("RESET pg_sanitize.max_memory")
