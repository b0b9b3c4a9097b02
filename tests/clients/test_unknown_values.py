"""Values that the public domain of their column does not have: what becomes of one depends on nothing but itself."""

# Four hundred rows of a value of the domain, and forty values that it does not have, five rows each.
ROWS = """SELECT 'a' AS x FROM generate_series(1, 400)
    UNION ALL SELECT 'unknown ' || i % 40 FROM generate_series(1, 200) i"""


def synthesized(connection, name, null):
    connection.execute(f"""
        CREATE TABLE {name} (x text {null});
        INSERT INTO {name} {ROWS};
        SELECT sanitize.declare_domain('{name}', 'x', '{{a,b}}');
    """)
    query = f"SELECT x, count(*) FROM sanitize.dp_synthesize(NULL::{name}, 1000) GROUP BY x"
    return dict(connection.execute(query).fetchall())


def test_where_null_is_a_value_it_is_null(connection):
    counts = synthesized(connection, "nullable", "NULL")
    assert abs(counts["a"] - 400) < 10 and abs(counts[None] - 200) < 10
    assert counts.get("b", 0) < 10


def test_elsewhere_it_is_drawn_from_the_domain_whatever_is_frequent(connection):
    """Forty fair coins: fewer than two heads or tails come once in 10^10 times."""
    counts = synthesized(connection, "complete", "NOT NULL")
    assert None not in counts and abs(sum(counts.values()) - 600) < 10
    assert 8 <= counts.get("b", 0) <= 192, counts
