"""Itemsets that are drawn privately: their law through SQL, real tables, cancelling, memory."""

import math
from collections import Counter

import psycopg
import pytest
from helpers import assert_stops, chi_square, load_lucs


def declare_all(connection, table, columns):
    """Declares what a table of text columns has as its public domains."""
    for column in columns:
        connection.execute(
            f"SELECT sanitize.declare_domain('{table}', '{column}', array_agg(DISTINCT {column}))"
            f" FROM {table} WHERE {column} IS NOT NULL"
        )


@pytest.fixture(scope="module")
def loaded(database):
    with database.connect() as connection:
        _, width = load_lucs(connection, "lucs/adult.D97.N48842.C2.num", "adult", incomplete=True)
        declare_all(connection, "adult", [f"c{i}" for i in range(1, width + 1)])


@pytest.fixture
def adult(connection, loaded):
    return connection


@pytest.mark.parametrize(
    ("neighbours", "constants", "c"),
    [("replace", "tight", 1), ("add_remove", "tight", 2), ("replace", "paper", 0.5)],
)
def test_draws_have_their_law(connection, neighbours, constants, c):
    """The table of the public vectors 000-itemset-A and 000-itemset-C."""
    connection.execute("DROP TABLE IF EXISTS few")
    connection.execute("CREATE TABLE few (a int CHECK (a IN (0, 1)), b int CHECK (b IN (0, 1, 2)))")
    connection.execute("INSERT INTO few VALUES (0,0), (0,0), (0,1), (0,2), (1,0), (0,0)")
    rows = connection.execute("SELECT a, b FROM few").fetchall()
    weights = {}
    for a in (None, 0, 1):
        for b in (None, 0, 1, 2):
            if (a, b) != (None, None):
                support = sum(a in (None, x) and b in (None, y) for x, y in rows)
                weights[a, b] = math.exp(c * min(4, support))
    total = sum(weights.values())
    law = {items: weight / total for items, weight in weights.items()}
    drawn = connection.execute(
        "SELECT (items ->> 'a')::int, (items ->> 'b')::int FROM sanitize.dp_itemsets("
        "'few', 2, 4, 20000, neighbours => %s, constants => %s, seed => 5)",
        (neighbours, constants),
    )
    assert chi_square(law, Counter(drawn.fetchall()), 20000) < 4


def test_draws_from_a_real_table_are_frequent(adult):
    rows = adult.execute("SELECT count(*) FROM adult").fetchone()[0]
    drawn = adult.execute(
        "SELECT items FROM sanitize.dp_itemsets('adult', 1, %s, 20, seed => 1)", (rows // 10,)
    ).fetchall()
    frequent = adult.execute(
        "SELECT items FROM sanitize.frequent_itemsets('adult', %s, max_length => 4)",
        (rows // 10 - 100,),
    ).fetchall()
    known = {str(items) for (items,) in frequent}
    assert all(str(items) in known for (items,) in drawn)


def test_the_top_of_a_real_table_is_found(adult):
    true = adult.execute(
        "SELECT items FROM sanitize.frequent_itemsets('adult', 20000, max_length => 4)"
        " ORDER BY support DESC LIMIT 20"
    ).fetchall()
    found = adult.execute(
        "SELECT items FROM sanitize.dp_frequent_itemsets('adult', 20, 10, seed => 1)"
    )
    assert len({str(x) for x in true} & {str(x) for x in found.fetchall()}) >= 18


def test_many_columns_and_no_limit_of_length(connection):
    columns = ", ".join(f"c{i} bool" for i in range(60))
    values = ", ".join(f"i % {i % 7 + 2} = 0" for i in range(60))
    connection.execute(f"CREATE TABLE wide ({columns})")
    connection.execute(f"INSERT INTO wide SELECT {values} FROM generate_series(1, 2000) AS i")
    for epsilon in (0.001, 0.1, 1, 1000):
        for length in (1, 4, 1000):
            query = (
                "SELECT count(*) FROM sanitize.dp_itemsets('wide', %s, 200, 3, max_length => %s)"
            )
            assert connection.execute(query, (epsilon, length)).fetchone() == (3,)


def test_memory_is_no_error_that_depends_on_rows(adult):
    """Where little may be mined, more draws are rejected."""
    adult.execute("SET pg_sanitize.max_memory = '64MB'")
    query = "SELECT count(*) FROM sanitize.dp_itemsets('adult', 0.1, 4000, 100)"
    assert adult.execute(query).fetchone() == (100,)
    query = "SELECT count(*) FROM sanitize.dp_frequent_itemsets('adult', 50, 0.1)"
    assert adult.execute(query).fetchone() == (50,)


@pytest.mark.parametrize("how", ["cancel", "terminate"])
def test_draws_stop(database, adult, how):
    query = "SELECT count(*) FROM sanitize.dp_itemsets('adult', 0.1, 4000, 2000000000)"
    assert_stops(database, "drawing itemsets", query, how)


def test_a_protected_relation_needs_a_role_that_may_ask(database, connection):
    connection.execute("CREATE TABLE stays (id int PRIMARY KEY, sex bool)")
    connection.execute("INSERT INTO stays SELECT i, i % 3 = 0 FROM generate_series(1, 300) AS i")
    connection.execute("SELECT sanitize.protect('stays', 'id', 1)")
    name = database.regular_user("SELECT ON stays")
    reader = database.connect(user=name)
    query = "SELECT items FROM sanitize.dp_itemsets('stays', 0.5, 10, columns => '{sex}')"
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        reader.execute(query)
    connection.execute(f"SELECT sanitize.allow('stays', '{name}')")
    assert len(reader.execute(query).fetchall()) == 1
    spent = connection.execute("SELECT epsilon_spent FROM sanitize.budget WHERE grantee IS NULL")
    assert spent.fetchone() == (0.5,)
