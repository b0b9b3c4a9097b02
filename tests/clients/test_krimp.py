"""Krimp through a real client: the authors' figures, the generator's law, limits, damaged models."""

import json
import math
import random
import re

import psycopg
import pytest
from helpers import assert_stops, cancel_after, load_items, load_lucs, peak_memory


def fitted(connection, min_support, candidates):
    """The patterns, their bits and all bits of real_set with pruning, and the share of them."""
    query = (
        "SELECT jsonb_array_length(m -> 'patterns'), model_bits, total_bits, ratio"
        " FROM sanitize.krimp_model('real_set', %s, candidates => %s, prune => true) AS m,"
        " sanitize.krimp_size(m, 'real_set')"
    )
    return connection.execute(query, [min_support, candidates]).fetchone()


@pytest.mark.parametrize(
    "path, min_support, candidates, patterns, model_bits, total_bits",
    [
        ("lucs/mushroom.D90.N8124.C2.num", 1, "closed", 211, 25990, 245101),
        ("lucs/mushroom.D90.N8124.C2.num", 1625, "all", 91, 4430, 513177),
        ("fimi/mushroom.dat", 1, "closed", 206, 25935, 274220),
        ("fimi/mushroom.dat", 1625, "all", 87, 5040, 552325),
    ],
)
def test_the_same_bits_as_the_authors_program(
    connection, path, min_support, candidates, patterns, model_bits, total_bits
):
    """Where items are in the same order, and so ties between candidates are broken alike."""
    connection.execute("DROP TABLE IF EXISTS real_set")
    load_items(connection, path, "real_set")
    found, model, total, _ = fitted(connection, min_support, candidates)
    assert (found, round(model), round(total)) == (patterns, model_bits, total_bits)


@pytest.mark.parametrize(
    "path, min_support, percent, patterns",
    [
        ("lucs/adult.D97.N48842.C2.num", 20, 24.62, 1223),
        ("lucs/mushroom.D90.N8124.C2.num", 1625, 47.70, 91),
    ],
)
def test_nearly_so_with_a_column_per_attribute(connection, path, min_support, percent, patterns):
    """All rows, incomplete ones too; adult has 6.2 million candidates."""
    connection.execute("DROP TABLE IF EXISTS real_set")
    load_lucs(connection, path, "real_set", incomplete=True)
    connection.execute("SET pg_sanitize.threads = 2")
    found, _, _, ratio = fitted(connection, min_support, "all")
    assert abs(ratio * 100 - percent) <= 0.1
    assert abs(found - patterns) <= 0.02 * patterns
    assert peak_memory(connection) < 1 << 30


def figure_model():
    """The code table of figure 1 of Vreeken, van Leeuwen and Siebes (2007), as a model."""
    usages = {"AC": 3, "BD": 3, "CF": 2, "A": 1, "B": 2, "C": 1, "D": 1, "E": 1, "F": 1}
    place = {"A": (0, 0), "B": (0, 1), "C": (1, 0), "D": (1, 1), "E": (2, 0), "F": (2, 1)}
    columns = [
        {
            "name": n,
            "values": list(v),
            "supports": [9, 9],
            "usages": [usages[i] for i in v],
            "nulls": 0,
        }
        for n, v in [("x", "AB"), ("y", "CD"), ("z", "EF")]
    ]
    patterns = [
        {"items": [place[i] for i in name], "support": 10 - rank, "usage": usages[name]}
        for rank, name in enumerate(["AC", "BD", "CF"])
    ]
    options = {
        "min_support": 1,
        "max_length": None,
        "candidates": "all",
        "prune": False,
        "nulls": "missing",
    }
    return {
        "format": "pg_sanitize.krimp",
        "version": 1,
        "rows": 18,
        "options": options,
        "columns": columns,
        "patterns": patterns,
    }


FIGURE_LAW = {
    "ACE": 43 / 288,
    "ACF": 1061 / 4320,
    "ADE": 41 / 2880,
    "ADF": 41 / 2880,
    "BCE": 41 / 1440,
    "BCF": 191 / 864,
    "BDE": 157 / 960,
    "BDF": 157 / 960,
}


def chi_square(law, counts):
    n = sum(counts.values())
    assert set(counts) <= set(law)
    return sum((counts.get(key, 0) - n * p) ** 2 / (n * p) for key, p in law.items())


def chi_square_bound(degrees):
    """The quantile that one run in 10^10 passes (Wilson and Hilferty)."""
    return degrees * (1 - 2 / (9 * degrees) + 6.4 * math.sqrt(2 / (9 * degrees))) ** 3


@pytest.mark.parametrize("seed", [1, 2, None])
def test_rows_follow_the_law_of_figure_1(connection, seed):
    connection.execute("CREATE TYPE figure AS (x text, y text, z text)")
    query = (
        "SELECT x || y || z, count(*) FROM sanitize.krimp_generate(NULL::figure, %s::jsonb, 200000,"
        " laplace => 0, seed => %s) GROUP BY 1"
    )
    counts = dict(connection.execute(query, [json.dumps(figure_model()), seed]).fetchall())
    connection.execute("DROP TYPE figure")
    assert chi_square(FIGURE_LAW, counts) < chi_square_bound(len(FIGURE_LAW) - 1)


@pytest.fixture(scope="module")
def visits(database):
    """Two columns that belong together, one that does not, one with NULLs."""
    with database.connect() as connection:
        connection.execute(
            "CREATE TABLE visits AS SELECT ward, ward || CASE WHEN i % 10 = 0 THEN '*' ELSE '' END AS bed,"
            " i % 5 AS age, CASE WHEN i % 4 > 0 THEN i % 3 END AS note"
            " FROM (SELECT i, chr(65 + (i * i) % 7) AS ward FROM generate_series(1, 3000) AS i) AS v"
        )


def test_frequencies_converge(connection, visits):
    """Without patterns the values of a column come out as often as they are in the source, exactly;
    with them nearly so."""
    law = "SELECT {0}::text, count(*)::float / 3000 FROM visits GROUP BY 1"
    drawn = "SELECT {0}::text, count(*) FROM sanitize.krimp_generate(NULL::visits, 200000, 2, seed => 3{1}) GROUP BY 1"
    for column in ["ward", "bed", "age", "note"]:
        expected = dict(connection.execute(law.format(column)).fetchall())
        alone = dict(connection.execute(drawn.format(column, ", max_length => 1")).fetchall())
        # The Laplace correction of 0.001 moves a share by less than a millionth.
        assert chi_square(expected, alone) < chi_square_bound(len(expected) - 1)
        together = dict(connection.execute(drawn.format(column, "")).fetchall())
        assert all(abs(together[value] / 200000 - p) < 0.02 for value, p in expected.items())


def test_patterns_keep_what_belongs_together(connection, visits):
    share = "SELECT avg((left(bed, 1) = ward)::int) FROM sanitize.krimp_generate(NULL::visits, 20000, 2, max_length => %s, seed => 1)"
    assert connection.execute(share, [4]).fetchone()[0] > 0.95
    assert connection.execute(share, [1]).fetchone()[0] < 0.3


def test_no_epsilon_holds_for_generated_rows(connection, visits):
    """Why the label says none: what one row alone has comes out, and without that row never."""
    connection.execute("CREATE TABLE neighbour (LIKE visits)")
    connection.execute("INSERT INTO neighbour SELECT * FROM visits")
    connection.execute("INSERT INTO neighbour VALUES ('A', 'A', 1, 77)")
    found = "SELECT count(*) FROM sanitize.krimp_generate(NULL::{}, 200000, 20) WHERE note = 77"
    assert connection.execute(found.format("neighbour")).fetchone()[0] > 0
    assert connection.execute(found.format("visits")).fetchone()[0] == 0
    connection.execute("DROP TABLE neighbour")


def test_a_model_needs_no_source(database, connection, visits):
    """A model goes through a client as text and gives the same rows where its source is not."""
    model = connection.execute("SELECT sanitize.krimp_model('visits', 5)::text").fetchone()[0]
    rows = "SELECT * FROM sanitize.krimp_generate(NULL::visits, %s::jsonb, 500, seed => 8)"
    here = connection.execute(rows, [model]).fetchall()
    with database.connect() as other:
        other.execute("CREATE SCHEMA elsewhere")
        other.execute("CREATE TABLE elsewhere.visits (LIKE public.visits)")
        other.execute("SET search_path = elsewhere")
        assert other.execute(rows, [model]).fetchall() == here


@pytest.fixture(scope="module")
def dense(database):
    """A table with more frequent itemsets than anyone can try, and its model."""
    with database.connect() as connection:
        connection.execute("SELECT setseed(0.5)")
        cells = ", ".join(
            f"CASE WHEN random() < 0.85 THEN 0 ELSE floor(4 * random())::int END AS c{i}"
            for i in range(1, 31)
        )
        connection.execute(f"CREATE TABLE dense AS SELECT {cells} FROM generate_series(1, 4000)")
        connection.execute(
            "CREATE TABLE model AS SELECT sanitize.krimp_model('dense', 2, max_length => 2) AS model"
        )


PHASES = [
    ("fitting", "sanitize.krimp_codetable('dense', 2)"),
    ("fitting", "sanitize.krimp_codetable('dense', 200)"),
    ("fitting", "sanitize.krimp_codetable('dense', 2, candidates => 'pairs', prune => true)"),
    ("fitting", "sanitize.krimp_generate(NULL::dense, 10, 200)"),
    ("fitting", "sanitize.krimp_dissimilarity('dense', 'dense', 2, candidates => 'closed')"),
    ("returning", "model, sanitize.krimp_generate(NULL::dense, model, 1000000000)"),
    (
        "returning",
        'model, sanitize.krimp_generate(NULL::dense, model, 1000000000, reject => \'[{"c1": "0"}]\')',
    ),
]


@pytest.mark.parametrize("phase, source", PHASES)
def test_every_phase_stops_within_a_second(database, dense, phase, source):
    assert_stops(database, phase, f"SELECT count(*) FROM {source}")


def test_a_cancel_in_the_middle_of_a_notice_waits_for_the_threads(database, dense):
    """Postgres answers a cancel request after each NOTICE. Threads that were still at work then
    would crash the server."""
    connection = database.connect()
    connection.execute("SET pg_sanitize.progress = 1")
    queries = [
        "SELECT count(*) FROM model, sanitize.krimp_generate(NULL::dense, model, 1000000000)",
        "SELECT count(*) FROM sanitize.krimp_codetable('dense', 200)",
    ]
    for run in range(20):
        cancelled = pytest.raises(psycopg.errors.QueryCanceled)
        with cancel_after(connection, 0.05 + 0.01 * run), cancelled:
            connection.execute(queries[run % 2])
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_progress_tells_candidates_and_ratio(database, dense):
    connection = database.connect()
    told = []
    connection.add_notice_handler(lambda notice: told.append(notice.message_primary))
    connection.execute("SET pg_sanitize.progress = 1")
    connection.execute(
        "SELECT count(*) FROM sanitize.krimp_codetable('dense', 20, max_length => 4, prune => true)"
    )
    pattern = r"pg_sanitize: fitting,.* (\d+) candidates seen, (\d+) accepted, (\d+\.\d) % of the size, \d+ s"
    lines = [re.fullmatch(pattern, line) for line in told if "fitting" in line]
    assert all(lines) and len(lines) > 2
    seen = [int(line[1]) for line in lines]
    ratios = [float(line[3]) for line in lines]
    assert seen == sorted(seen) and ratios == sorted(ratios, reverse=True)
    assert ratios[-1] < ratios[0]


def test_max_time_ends_with_what_there_is(connection, dense):
    told = []
    connection.add_notice_handler(lambda notice: told.append(notice.message_primary))
    query = "SELECT count(*) FROM sanitize.krimp_codetable('dense', 1, candidates => 'pairs', max_time => %s)"
    values = connection.execute(query, ["1 microsecond"]).fetchone()[0]
    assert told == [
        "pg_sanitize: fitting ended by max_time, 0 candidates seen, 0 accepted, 100.0 % of the size"
    ]
    # Without a limit, or with one beyond all clocks, more is found and nothing told.
    told.clear()
    assert connection.execute(query, ["100000 years"]).fetchone()[0] > values
    assert not told


def test_too_many_candidates_end_in_the_memory_error(database, dense):
    connection = database.connect()
    connection.execute("SET pg_sanitize.max_memory = '100MB'")
    with pytest.raises(psycopg.errors.ConfigurationLimitExceeded) as error:
        connection.execute("SELECT count(*) FROM sanitize.krimp_codetable('dense', 2)")
    assert "min_support" in error.value.diag.message_hint
    assert "pairs" in error.value.diag.message_hint
    assert peak_memory(connection) < 300 << 20
    # What the hint advises helps.
    query = "SELECT count(*) FILTER (WHERE length > 1) FROM sanitize.krimp_codetable('dense', 2, candidates => 'pairs', max_time => '1 s')"
    assert connection.execute(query).fetchone()[0] > 5


def test_a_damaged_model_is_refused_and_never_a_crash(connection, visits):
    """Random changes to a model: it is refused as damaged, or it is still a model."""
    source = connection.execute("SELECT sanitize.krimp_model('visits', 5)").fetchone()[0]
    dice = random.Random(4)
    junk = [None, -1, 0, 1, 3000, 2**63, 1e300, 0.5, "", "x", [], {}, [[0, 0]], [None], True]

    def change(value):
        """Replaces, removes or doubles something somewhere inside."""
        if isinstance(value, dict) and value and dice.random() < 0.95:
            key = dice.choice(list(value))
            if dice.random() < 0.05:
                del value[key]
            else:
                value[key] = change(value[key])
            return value
        if isinstance(value, list) and value and dice.random() < 0.95:
            i = dice.randrange(len(value))
            if dice.random() < 0.1:
                value.insert(i, value[i])
            elif dice.random() < 0.1:
                del value[i]
            else:
                value[i] = change(value[i])
            return value
        return dice.choice(junk)

    outcomes = {"refused": 0, "drawn": 0}
    for _ in range(400):
        damaged = json.dumps(change(json.loads(json.dumps(source))))
        try:
            connection.execute(
                "SELECT count(*) FROM sanitize.krimp_generate(NULL::visits, %s::jsonb, 20)",
                [damaged],
            )
            connection.execute("SELECT * FROM sanitize.krimp_size(%s::jsonb, 'visits')", [damaged])
            outcomes["drawn"] += 1
        except psycopg.Error as error:
            assert error.sqlstate in ("22023", "22P02", "22003", "42703"), (error, damaged)
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 20, outcomes
