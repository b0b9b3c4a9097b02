"""Comparing a released table with its original through a real client: real sets, threads, limits."""

import psycopg
import pytest
from helpers import array_table, assert_stops, load_lucs, peak_memory

LEAK = "SELECT * FROM sanitize.rare_itemset_leak('adult', 'mixed', seed => 1)"
COMPARE = "SELECT * FROM sanitize.compare_itemsets('adult', 'mixed', 0.02)"


@pytest.fixture(scope="module")
def adult(database):
    """Adult, and a table with the same columns whose two halves come from different rows."""
    with database.connect() as connection:
        load_lucs(connection, "lucs/adult.D97.N48842.C2.num", "adult")
        left, right = (", ".join(f"c{i}" for i in half) for half in (range(1, 8), range(8, 16)))
        numbered = "SELECT {}, row_number() OVER (ORDER BY md5({}), {}) AS n FROM adult"
        connection.execute(
            f"CREATE TABLE mixed AS SELECT {left}, {right} FROM"
            f" ({numbered.format(left, 'c1', left)}) AS l"
            f" JOIN ({numbered.format(right, 'c9', right)}) AS r USING (n)"
        )


def test_results_do_not_depend_on_the_threads(connection, adult):
    results = []
    for threads in [1, 2, 4]:
        connection.execute(f"SET pg_sanitize.threads = {threads}")
        results.append([connection.execute(query).fetchall() for query in (LEAK, COMPARE)])
    assert results[0] == results[1] == results[2]
    leak, ((original, released, common, missing, added, *_),) = results[0]
    assert original == common + missing and released == common + added
    assert min(common, missing, added) > 0
    # Of the shortest two lengths there are few, and all are tried; the others are samples.
    assert [tried for _, tried, _ in leak] == [2, 312] + [667] * 8 + [666] * 5
    assert all(leaked <= tried for _, tried, leaked in leak)


def test_samples_of_the_leak_are_near_the_whole(connection, adult):
    """Every rare itemset of five of six columns, by SQL, all at once, and a sample of them."""
    columns = ["c2", "c4", "c7", "c9", "c12", "c14"]
    for table in ("adult", "mixed"):
        connection.execute(f"CREATE VIEW few_{table} AS SELECT {', '.join(columns)} FROM {table}")
    sets = ", ".join(f"({', '.join(c for c in columns if c != out)})" for out in columns)
    rare, leaked = connection.execute(
        "SELECT count(*), count(*) FILTER (WHERE leaked) FROM (SELECT bool_or(released) AS leaked"
        " FROM (SELECT *, false AS released FROM few_adult"
        "  UNION ALL SELECT *, true FROM few_mixed) AS both_tables"
        f" GROUP BY GROUPING SETS ({sets}) HAVING count(*) FILTER (WHERE NOT released) = 1) AS s"
    ).fetchone()
    query = (
        "SELECT tried, leaked FROM sanitize.rare_itemset_leak('few_adult', 'few_mixed', %s, 1)"
        " WHERE length = 5"
    )
    assert connection.execute(query, [10_000_000]).fetchone() == (rare, leaked)
    assert rare > 1000 and 0.1 < leaked / rare < 0.9
    tried, sampled = connection.execute(query, [1200]).fetchone()
    assert tried == 200
    share = leaked / rare
    assert abs(sampled - share * tried) < 4 * (share * (1 - share) * tried) ** 0.5


@pytest.mark.parametrize(
    "path, itemsets",
    [
        ("lucs/led7.D24.N3200.C10.num", 411),
        ("lucs/nursery.D32.N12960.C5.num", 179),
    ],
)
def test_as_many_itemsets_as_in_print(connection, path, itemsets):
    """Dorrestijn, table 2: frequent itemsets at 10 %, single items included."""
    connection.execute("DROP TABLE IF EXISTS printed")
    load_lucs(connection, path, "printed")
    row = connection.execute(
        "SELECT original_count, common, nfd_common, equal_share"
        " FROM sanitize.compare_itemsets('printed', 'printed', 0.1)"
    ).fetchone()
    assert row == (itemsets, itemsets, 0, 1)


@pytest.fixture(scope="module")
def large(database):
    """Tables on which both take long: every five columns are nearly a key, or every value is one."""
    with database.connect() as connection:
        array_table(connection, "worst", 10, 9, 5)
        connection.execute("CREATE TABLE shifted AS SELECT * FROM worst")
        connection.execute("UPDATE shifted SET c1 = c1 + 1")
        connection.execute(
            "CREATE TABLE many_values AS SELECT md5(i::text) AS a, md5((-i)::text) AS b"
            " FROM generate_series(1, 300000) AS i"
        )


LONG = [
    ("sampling", "SELECT * FROM sanitize.rare_itemset_leak('worst', 'shifted', 200000000)"),
    ("comparing", "SELECT * FROM sanitize.compare_itemsets('worst', 'shifted', 0.00001)"),
]


@pytest.mark.parametrize("how", ["cancel", "terminate"])
@pytest.mark.parametrize("phase, query", LONG)
def test_long_comparisons_stop_within_a_second(database, large, phase, query, how):
    assert_stops(database, phase, query, how)


@pytest.mark.parametrize(
    "memory, query",
    [
        ("200MB", "SELECT * FROM sanitize.compare_itemsets('worst', 'shifted', 0.00001)"),
        # Both tables fit, what is needed beside them does not.
        ("80MB", "SELECT * FROM sanitize.rare_itemset_leak('many_values', 'many_values')"),
        ("12MB", "SELECT * FROM sanitize.rare_itemset_leak('worst', 'worst')"),
    ],
)
def test_memory_is_limited(connection, large, memory, query):
    connection.execute(f"SET pg_sanitize.max_memory = '{memory}'")
    with pytest.raises(psycopg.errors.ConfigurationLimitExceeded):
        connection.execute(query)
    assert peak_memory(connection) < 350 << 20
    connection.execute("RESET pg_sanitize.max_memory")
    if "compare_itemsets" not in query:
        assert connection.execute(query).fetchall()


def test_memory_is_limited_for_both_tables_together(connection, large):
    connection.execute("SET pg_sanitize.max_memory = '60MB'")
    assert connection.execute("SELECT sanitize.k_anonymity('many_values')").fetchone() == (1,)
    query = "SELECT * FROM sanitize.anonymity_score('many_values', 'many_values')"
    with pytest.raises(psycopg.errors.ConfigurationLimitExceeded):
        connection.execute(query)
    assert peak_memory(connection) < 200 << 20
    connection.execute("SET pg_sanitize.max_memory = '100MB'")
    assert connection.execute(query).fetchone() == (1, 1)
