"""Code trees through a real client: laws, what is read how often, real tables, cancel and memory."""

import itertools
import math
import time
import zipfile

import psycopg
import pytest
from helpers import assert_stops, data_file, load_lucs, patience, peak_memory
from psycopg import sql

LETTERS = "ace ace ace ace ace acf acf acf bde bde bde bde bdf bdf ade bcf".split()


@pytest.fixture
def letters(connection):
    """The table of the vector 000-dct_acbd, each row three times."""
    connection.execute("DROP TABLE IF EXISTS letters")
    connection.execute("CREATE TABLE letters (x text, y text, z text)")
    with connection.cursor().copy("COPY letters FROM STDIN") as stream:
        for row in LETTERS * 3:
            stream.write("\t".join(row) + "\n")


def chi_square(counts, law):
    rows = sum(counts.values())
    assert set(counts) <= set(law)
    return sum((counts.get(row, 0) - p * rows) ** 2 / (p * rows) for row, p in law.items())


def test_rows_follow_the_law_of_the_vector(connection, letters):
    """Elements of two items only, as the vector has them: with max_length 2 and columns x and y."""
    query = (
        "SELECT x || y, count(*) FROM sanitize.code_tree_generate(NULL::letters, 40000, 0.1,"
        " columns => '{x,y}', seed => 1) GROUP BY 1"
    )
    counts = dict(connection.execute(query).fetchall())
    law = {"ac": 1 / 2, "ad": 1 / 16, "bd": 3 / 8, "bc": 1 / 16}
    freedom = len(law) - 1
    assert chi_square(counts, law) < freedom + 6 * math.sqrt(2 * freedom)


def test_the_tree_adds_up(connection, letters):
    """Each node's probability is the share of the rows that contain its path."""
    nodes = connection.execute(
        "SELECT node, parent, item, probability FROM sanitize.code_tree('letters', 0.05, 0)"
    ).fetchall()
    paths = {0: {}}
    for node, parent, item, probability in nodes[1:]:
        paths[node] = {**paths[parent], **item}
        columns = dict(zip("xyz", range(3), strict=True))
        share = sum(
            all(row[columns[name]] == value for name, value in paths[node].items())
            for row in LETTERS
        ) / len(LETTERS)
        assert probability == share
    assert nodes[0] == (0, None, None, 1.0)
    singles = {tuple(path.items())[0] for path in paths.values() if len(path) == 1}
    assert singles == {("x", "a"), ("x", "b"), ("y", "c"), ("y", "d"), ("z", "e"), ("z", "f")}


def test_randomised_rows_are_read_once(connection):
    """The source is a view that counts how often a row is read: once each, whatever comes after."""
    connection.execute("DROP TABLE IF EXISTS read_rows CASCADE")
    connection.execute("DROP SEQUENCE IF EXISTS reads CASCADE")
    connection.execute("CREATE SEQUENCE reads")
    connection.execute("CREATE TABLE read_rows (a int, b int, c int)")
    connection.execute(
        "INSERT INTO read_rows SELECT i % 2, i % 2, i % 3 FROM generate_series(1, 500) AS i"
    )
    connection.execute(
        "CREATE VIEW counted_rows AS SELECT * FROM read_rows WHERE nextval('reads') > 0"
    )
    for column, values in [("a", "{0,1}"), ("b", "{0,1}"), ("c", "{0,1,2}")]:
        connection.execute(
            "SELECT sanitize.declare_domain('counted_rows', %s, %s)", [column, values]
        )
    # The declarations have looked which values they miss.
    connection.execute("SELECT setval('reads', 1, false)")
    query = "SELECT count(*) FROM sanitize.private_krimp_generate(NULL::counted_rows, 20, 2000, {})"
    for times, options in enumerate(["seed => 1", "class => 'a'", "generator => 'literal'"], 1):
        assert connection.execute(query.format(options)).fetchone() == (2000,)
        assert connection.execute("SELECT last_value FROM reads").fetchone() == (500 * times,)


def two_way(connection, table, columns):
    """The shares of all pairs of values."""
    shares = {}
    for a, b in itertools.combinations(columns, 2):
        query = sql.SQL("SELECT {0}, {1}, count(*) FROM {2} GROUP BY 1, 2").format(
            sql.Identifier(a), sql.Identifier(b), sql.Identifier(table)
        )
        counts = connection.execute(query).fetchall()
        rows = sum(n for _, _, n in counts)
        shares[a, b] = {(x, y): n / rows for x, y, n in counts}
    return shares


def distance(one, other):
    """The mean total variation over all pairs of columns."""
    pairs = [
        sum(abs(one[p].get(v, 0) - other[p].get(v, 0)) for v in {*one[p], *other[p]}) / 2
        for p in one
    ]
    return sum(pairs) / len(pairs)


def test_a_tree_keeps_what_independent_columns_lose(connection):
    """led7: the tree's rows are nearer to the table than rows with independent columns."""
    connection.execute("DROP TABLE IF EXISTS digits, from_tree, independent, private_rows")
    _, width = load_lucs(connection, "lucs/led7.D24.N3200.C10.num", "digits")
    columns = [f"c{i}" for i in range(1, width + 1)]
    connection.execute(
        "CREATE TABLE from_tree AS"
        " SELECT * FROM sanitize.code_tree_generate(NULL::digits, 20000, 0.02, seed => 1)"
    )
    connection.execute(
        "CREATE TABLE independent AS SELECT * FROM"
        " sanitize.code_tree_generate(NULL::digits, 20000, 0.02, max_length => 1, seed => 1)"
    )
    for column in columns:
        connection.execute(
            f"SELECT sanitize.declare_domain('digits', '{column}', array_agg(DISTINCT {column}))"
            " FROM digits"
        )
    connection.execute(
        "CREATE TABLE private_rows AS"
        " SELECT * FROM sanitize.private_krimp_generate(NULL::digits, 60, 20000, 0.02, seed => 1)"
    )
    original = two_way(connection, "digits", columns)
    tree, independent, private = (
        distance(original, two_way(connection, table, columns))
        for table in ["from_tree", "independent", "private_rows"]
    )
    assert tree < 0.5 * independent
    assert private < 0.8 * independent


def load_msnbc(connection):
    """A column per page category, 't' where a visit has it and NULL where not."""
    connection.execute("DROP TABLE IF EXISTS msnbc")
    columns = ", ".join(f"p{i} bool" for i in range(1, 18))
    connection.execute(f"CREATE TABLE msnbc ({columns})")
    with zipfile.ZipFile(data_file("uci/msnbc990928.zip")) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".seq"))
        lines = archive.read(name).decode().splitlines()
    rows = 0
    with connection.cursor().copy("COPY msnbc FROM STDIN") as stream:
        for line in lines:
            numbers = line.split()
            if not numbers or not all(number.isdigit() for number in numbers):
                continue
            pages = {int(number) for number in numbers}
            stream.write("\t".join("t" if i in pages else r"\N" for i in range(1, 18)) + "\n")
            rows += 1
    return rows


def test_a_million_visits_in_under_a_minute(connection):
    """msnbc from the table to as many drawn rows, by one thread."""
    rows = load_msnbc(connection)
    assert rows == 989818
    connection.execute("SET pg_sanitize.threads = 1")
    begin = time.monotonic()
    drawn = connection.execute(
        "SELECT count(*), count(p1)::float8 / count(*) FROM"
        " sanitize.code_tree_generate(NULL::msnbc, 989818, 0.01, nulls => 'missing', seed => 1)"
    ).fetchone()
    assert time.monotonic() - begin < patience(60)
    share = connection.execute("SELECT count(p1)::float8 / count(*) FROM msnbc").fetchone()[0]
    assert drawn[0] == 989818
    assert abs(drawn[1] - share) < 0.01
    connection.execute("DROP TABLE msnbc")


@pytest.fixture(scope="module")
def wide(database):
    """A table with many rows and patterns, and public domains."""
    connection = database.connect()
    connection.execute("DROP TABLE IF EXISTS wide")
    columns = ", ".join(f"c{i} int" for i in range(12))
    connection.execute(f"CREATE TABLE wide ({columns})")
    values = ", ".join(f"(i % 3 + (random() < 0.{i % 5 + 1})::int + {i}) % 4" for i in range(12))
    connection.execute("SELECT setseed(0.5)")
    connection.execute(f"INSERT INTO wide SELECT {values} FROM generate_series(1, 200000) AS i")
    for i in range(12):
        connection.execute(f"SELECT sanitize.declare_domain('wide', 'c{i}', '{{0,1,2,3}}')")
    connection.close()


PHASES = [
    ("fitting", "sanitize.code_tree('wide', 0.002)"),
    ("building the tree", "sanitize.code_tree('wide', 0.05, 0.0001)"),
    ("generating", "sanitize.code_tree_generate(NULL::wide, 100000000, 0.1)"),
    ("generating", "sanitize.code_tree_generate(NULL::wide, 100000000, generator => 'literal')"),
    ("randomising", "sanitize.private_krimp_generate(NULL::wide, 50, 10)"),
    ("fitting", "sanitize.private_krimp_generate(NULL::wide, 200, 10, 0.001)"),
]


@pytest.mark.parametrize("phase, source", PHASES)
def test_every_phase_stops_within_a_second(database, wide, phase, source):
    assert_stops(database, phase, f"SELECT count(*) FROM {source}")


def test_the_limit_of_itemsets_is_one_of_nodes(database, wide):
    connection = database.connect()
    connection.execute("SET pg_sanitize.max_itemsets = 3000")
    query = "SELECT count(*) FROM sanitize.code_tree('wide', 0.1, 0.0001)"
    with pytest.raises(psycopg.errors.ConfigurationLimitExceeded, match="3000 itemsets"):
        connection.execute(query)


def test_memory_is_that_of_the_source_and_a_few_rows(database, wide):
    connection = database.connect()
    for call in ["code_tree_generate(NULL::wide,", "private_krimp_generate(NULL::wide, 20,"]:
        query = f"SELECT count(*) FROM sanitize.{call} 300000)"
        assert connection.execute(query).fetchone() == (300000,)
    assert peak_memory(connection) < 400 << 20
