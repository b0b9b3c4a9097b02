"""Releases through a real client: the real sets, views, cancelling, memory, the law of a sample."""

import math

import psycopg
import pytest
from helpers import assert_stops, data_file, load_lucs, peak_memory

LUCS = {
    "adult": "lucs/adult.D97.N48842.C2.num",
    "breast": "lucs/breast.D20.N699.C2.num",
    "chess": "lucs/chessKRvK.D58.N28056.C18.num",
}


def counts(connection, release):
    """The rows of a release and the share of its cells that is NULL."""
    connection.execute("DROP TABLE IF EXISTS release")
    connection.execute(f"CREATE TABLE release AS SELECT * FROM {release}")
    rows = connection.execute("SELECT count(*) FROM release").fetchone()[0]
    share = "SELECT sum(suppressed) / sum(cells) FROM sanitize.suppression('release')"
    return rows, connection.execute(share).fetchone()[0]


def smallest_class(connection):
    """The rows of the smallest class of what counts() made, by Postgres' own GROUP BY."""
    columns = connection.execute(
        "SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute"
        " WHERE attrelid = 'release'::regclass AND attnum > 0"
    ).fetchone()[0]
    query = f"SELECT min(n) FROM (SELECT count(*) AS n FROM release GROUP BY {columns}) AS c"
    return connection.execute(query).fetchone()[0]


@pytest.fixture(scope="module")
def real_sets(database):
    with database.connect() as connection:
        connection.execute("SET client_min_messages = warning")
        for name, path in LUCS.items():
            load_lucs(connection, path, name)


@pytest.mark.parametrize(
    "name, theta, rows, percent",
    [
        ("adult", 1, 44367, "6.66"),
        ("breast", 1, 680, "0.29"),
        ("breast", 5, 668, "2.94"),
        ("breast", 10, 666, "6.18"),
        ("chess", 1, 28045, "94.21"),
    ],
)
def test_k_mii_as_published(connection, real_sets, name, theta, rows, percent):
    """Table 4.4 of ten Tusscher (2024), whose percentages are cut off after two digits."""
    kept, share = counts(connection, f"sanitize.k_mii(NULL::{name}, {theta + 1})")
    assert (kept, f"{math.floor(share * 10000) / 100:.2f}") == (rows, percent)
    assert smallest_class(connection) > theta
    assert connection.execute("SELECT sanitize.k_anonymity('release') > %s", [theta]).fetchone()[0]


@pytest.mark.parametrize("k, kept, blank", [(2, 99.9, 7.9), (6, 98.8, 14.0), (11, 98.1, 16.8)])
def test_k_anonymize_keeps_most_of_arx_adult(connection, k, kept, blank):
    connection.execute("DROP TABLE IF EXISTS arx")
    names = "sex age race marital education country workclass occupation salary".split()
    connection.execute(f"CREATE TABLE arx ({', '.join(f'{name} text' for name in names)})")
    file = data_file("arx-adult/adult.csv")
    copy = "COPY arx FROM STDIN (FORMAT csv, DELIMITER ';', HEADER)"
    with connection.cursor().copy(copy) as stream:
        stream.write(file.read_bytes())
    rows, share = counts(connection, f"sanitize.k_anonymize(NULL::arx, {k})")
    assert rows / 30162 >= kept / 100
    assert share <= blank / 100
    assert smallest_class(connection) >= k
    # Nothing is invented: what is left of a row is there in the source.
    query = "SELECT count(*) FROM (SELECT DISTINCT age, salary FROM release WHERE num_nulls(age, salary) = 0"
    assert connection.execute(query + " EXCEPT SELECT age, salary FROM arx) AS e").fetchone() == (
        0,
    )


@pytest.mark.parametrize("function", ["mii_suppress", "k_mii", "k_anonymize"])
def test_threads_change_nothing(connection, real_sets, function):
    found = []
    for threads in (1, 3):
        connection.execute(f"SET pg_sanitize.threads = {threads}")
        found.append(
            connection.execute(
                f"SELECT md5(string_agg(r::text, ',')) FROM sanitize.{function}(NULL::breast, 6) AS r"
            ).fetchone()
        )
    assert found[0] == found[1]


def test_a_release_lives_in_views_and_tables(connection, real_sets):
    connection.execute("DROP VIEW IF EXISTS shown CASCADE")
    connection.execute("CREATE VIEW shown AS SELECT * FROM sanitize.k_mii(NULL::breast, 6)")
    connection.execute("CREATE MATERIALIZED VIEW stored AS SELECT * FROM shown")
    connection.execute("CREATE TABLE copied (LIKE breast)")
    connection.execute("INSERT INTO copied SELECT * FROM shown WHERE c1 IS NOT NULL")
    query = "SELECT (SELECT count(*) FROM shown), (SELECT count(*) FROM stored)"
    assert connection.execute(query).fetchone() == (668, 668)
    assert connection.execute("SELECT count(*) FROM copied").fetchone()[0] <= 668
    # A view is as fresh as its source; a stored release is not.
    connection.execute("BEGIN")
    connection.execute("INSERT INTO breast SELECT * FROM breast")
    assert connection.execute(query).fetchone()[0] > 2 * 668
    assert connection.execute(query).fetchone()[1] == 668
    connection.execute("ROLLBACK")
    connection.execute("DROP VIEW shown CASCADE")
    connection.execute("DROP TABLE copied")


@pytest.fixture(scope="module")
def large(database):
    """Tables that keep a phase busy for several seconds."""
    with database.connect() as connection:
        connection.execute("SET client_min_messages = warning")
        connection.execute("SELECT setseed(0.5)")
        cells = ", ".join(f"floor(30 * random())::int AS c{i}" for i in range(1, 13))
        connection.execute(f"CREATE TABLE wide AS SELECT {cells} FROM generate_series(1, 40000)")
        connection.execute(
            "CREATE TABLE numbered AS SELECT i AS id, i % 7 AS a, i % 11 AS b, i % 2 AS c"
            " FROM generate_series(1, 300000) AS i"
        )
        connection.execute("ANALYZE")


PHASES = [
    ("suppressing", "sanitize.mii_suppress(NULL::wide, 1)"),
    ("suppressing", "sanitize.k_mii(NULL::wide, 2)"),
    ("suppressing", "sanitize.k_anonymize(NULL::wide, 2)"),
    ("releasing", "sanitize.k_mii(NULL::numbered, 2, keep => '{id}')"),
    ("returning", "sanitize.k_anonymize(NULL::numbered, 2, keep => '{id}')"),
]


@pytest.mark.parametrize("phase, release", PHASES)
def test_every_phase_stops_within_a_second(database, large, phase, release):
    assert_stops(database, phase, f"SELECT count(*) FROM {release}")


@pytest.mark.parametrize("function", ["mii_suppress", "k_mii", "k_anonymize"])
def test_releases_stay_within_the_budget(connection, large, function):
    connection.execute("SET pg_sanitize.max_memory = '8MB'")
    with pytest.raises(psycopg.errors.ConfigurationLimitExceeded):
        connection.execute(f"SELECT count(*) FROM sanitize.{function}(NULL::wide, 2)")
    assert peak_memory(connection) < 200 << 20
    assert connection.execute("SELECT 1").fetchone() == (1,)


def binomial(n, p):
    """The probabilities of 0 … n successes."""
    return [math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(n + 1)]


PUBLIC = ["public_source => 'public_rows'", 'rules => \'[{"a": "f"}]\'']


@pytest.mark.parametrize("public", PUBLIC, ids=["table", "rules"])
@pytest.mark.parametrize("rows, k", [(60, 20), (48, 20)])
def test_a_sample_of_equal_rows_follows_its_law(connection, rows, k, public):
    """Equal rows are all sampled or not by their own coins: Binomial(n, beta), 0 if below k."""
    connection.execute("DROP TABLE IF EXISTS equal_rows, public_rows")
    connection.execute(
        f"CREATE TABLE equal_rows AS SELECT true AS a FROM generate_series(1, {rows})"
    )
    connection.execute("CREATE TABLE public_rows AS SELECT true AS a FROM generate_series(1, 1000)")
    beta = connection.execute(
        "SELECT beta FROM sanitize.dp_mii_parameters(1, 1e-6, %s)", [k]
    ).fetchone()[0]
    law = [p if size >= k else 0 for size, p in enumerate(binomial(rows, beta))]
    mean = sum(size * p for size, p in enumerate(law))
    variance = sum(size * size * p for size, p in enumerate(law)) - mean**2
    runs = 400
    query = f"SELECT count(a) FROM sanitize.dp_mii_sample(NULL::equal_rows, 1, 1e-6, %s, {public})"
    sizes = [connection.execute(query, [k]).fetchone()[0] for _ in range(runs)]
    assert min(size for size in sizes if size) >= k
    assert abs(sum(sizes) / runs - mean) < 7 * math.sqrt(variance / runs)
    shown = sum(law)
    expected = 7 * math.sqrt(shown * (1 - shown) / runs)
    assert abs(sum(size > 0 for size in sizes) / runs - shown) < expected


def test_columns_are_chosen_by_their_law(connection):
    """Two columns of frequent values whose pairs are rare: each is chosen with the weight of its cells."""
    connection.execute("DROP TABLE IF EXISTS latin")
    connection.execute(
        "CREATE TABLE latin AS SELECT i / 40 % 5 AS a, CASE WHEN i % 40 < 36 THEN i % 40 END AS b"
        " FROM generate_series(0, 1999) AS i"
    )
    # Rows count in classes of more than 45: all 2000 of a; of b the 200 of NULL have no value, and
    # the 36 values have 50 rows each; of pairs the five with NULL have 40 rows.
    epsilon, split, theta1 = 4.0, 0.005, 45
    scores = {(True, False): 2000, (False, True): 1800, (True, True): 0}
    weight = {
        shown: math.exp(epsilon * split * score / (2 * (theta1 + 1)))
        for shown, score in scores.items()
    }
    query = (
        "SELECT count(a) > 0, count(b) > 0 FROM sanitize.dp_mii_sample(NULL::latin, %s, 1e-3, 2,"
        " 'dp_select', split => %s, theta1 => %s)"
    )
    runs = 1200
    seen = [connection.execute(query, [epsilon, split, theta1]).fetchone() for _ in range(runs)]
    for shown, one in weight.items():
        share = one / sum(weight.values())
        found = seen.count(shown) / runs
        assert abs(found - share) < 7 * math.sqrt(share * (1 - share) / runs), (shown, found, share)
