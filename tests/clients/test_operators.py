"""Randomisation operators through SQL: laws of draws, matrices of a million numbers, cancelling."""

import math
import os
from pathlib import Path

import pytest
from helpers import assert_stops, patience

PRIOR = "(SELECT array_agg(CASE x WHEN 0 THEN 0.01 ELSE 0.00099 END::float8 ORDER BY x) FROM generate_series(0, 1000) AS x)"


def one(connection, query):
    (value,) = connection.execute(query).fetchone()
    return value


def processor_time(connection):
    """The seconds that the connection's backend has worked, whatever else the machine does."""
    fields = (
        Path(f"/proc/{connection.info.backend_pid}/stat").read_text().rpartition(")")[2].split()
    )
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def chi_square(law, counts):
    """How far counts are from a law, as a standard normal deviate (Wilson and Hilferty)."""
    total = sum(counts)
    assert all(p > 0 or n == 0 for p, n in zip(law, counts))
    possible = [(p * total, n) for p, n in zip(law, counts) if p > 0]
    statistic = sum((n - expected) ** 2 / expected for expected, n in possible)
    freedom = len(possible) - 1
    spread = 2 / (9 * freedom)
    return ((statistic / freedom) ** (1 / 3) - (1 - spread)) / math.sqrt(spread)


@pytest.mark.parametrize(
    ("low", "high", "window", "mix", "value"),
    [
        (0, 9, 1, 0.5, 0),
        (-5, 5, 2, 0.1, 5),
        (0, 20, 3, 0.0, 10),
        (0, 6, 5, 0.25, 3),
        (0, 9, 1, 0.5, -7),
    ],
)
def test_numbers_are_drawn_by_their_operator(connection, low, high, window, mix, value):
    """Seeds are given, so that the test always passes or always fails."""
    drawn = connection.execute(
        f"""SELECT y, count(drawn) FROM generate_series({low}, {high}) AS y LEFT JOIN
                   (SELECT sanitize.randomize_number({value}, {low}, {high}, {window}, {mix}, seed => i) AS drawn
                      FROM generate_series(1, 20000) AS i) AS d
                ON drawn = y GROUP BY y ORDER BY y"""
    ).fetchall()
    matrix = one(connection, f"SELECT sanitize.number_operator({low}, {high}, {window}, {mix})")
    row = matrix[min(max(value, low), high) - low]
    assert sum(n for _, n in drawn) == 20000
    assert chi_square(row, [n for _, n in drawn]) < 4


def test_draws_of_the_operating_system_differ(connection):
    draw = "SELECT array_agg(sanitize.randomize_number(i, 0, 1000000, 1000, 0.5)) FROM generate_series(1, 50) AS i"
    assert one(connection, draw) != one(connection, draw)


def test_tables_of_the_paper_take_no_time(connection):
    """A matrix argument has a million numbers."""
    operators = {
        "R1": "sanitize.rr_operator(1001, 0.2)",
        "R2": "sanitize.number_operator(0, 1000, 100, 0)",
        "R3": "sanitize.number_operator(0, 1000, 100, 0.5)",
    }
    before = processor_time(connection)
    found = {
        name: connection.execute(
            f"""SELECT law[1], (SELECT sum(p) FROM unnest(law) WITH ORDINALITY AS u(p, x) WHERE x - 1 NOT BETWEEN 200 AND 800),
                       mutual, worst_case, inverse_worst_case, sanitize.amplification(operator)
                  FROM (SELECT {operator} AS operator, {PRIOR} AS prior) AS o,
                       sanitize.posterior(operator, prior, 1) AS law, sanitize.information(operator, prior)"""
        ).fetchone()
        for name, operator in operators.items()
    }
    took = processor_time(connection) - before
    rounded = {
        name: (round(100 * zero, 1), round(100 * outside, 1), round(i, 2), round(w, 2), round(j, 2))
        for name, (zero, outside, i, w, j, _) in found.items()
    }
    assert rounded == {
        "R1": (71.6, 83.0, 1.27, 3.90, 1.72),
        "R2": (4.8, 100.0, 2.32, 2.33, math.inf),
        "R3": (2.9, 70.8, 0.55, 0.55, 0.49),
    }
    assert [round(found[name][5], 2) for name in operators] == [250.0, math.inf, 5.98]
    assert took < patience(1), took


def test_gamma_of_the_label_is_that_of_the_matrix(connection):
    for low, high, window, mix in [(0, 1000, 100, 0.5), (0, 99, 10, 0.3), (-3, 3, 9, 0.01)]:
        label, gamma = connection.execute(
            f"""SELECT sanitize.guarantee('randomize_number', jsonb_build_object('low', l, 'high', h, 'window_size', w, 'mix', m)),
                       sanitize.amplification(sanitize.number_operator(l, h, w, m))
                  FROM (VALUES ({low}, {high}, {window}, {mix}::float8)) AS v(l, h, w, m)"""
        ).fetchone()
        assert math.isclose(label["gamma"], gamma, rel_tol=1e-12)
        assert math.exp(label["epsilon"]) >= label["gamma"] * (1 - 1e-15)


def test_no_counted_belief_passes_the_bound(connection):
    """What is counted among draws stays within the bounds of gamma, but for the noise of counting."""
    rows = connection.execute(
        """SELECT y, count(*) AS seen, count(*) FILTER (WHERE x = 0) AS zero
             FROM (SELECT x, sanitize.randomize_number(x, 0, 9, 1, 0.4, seed => i) AS y
                     FROM (SELECT i, CASE WHEN i % 5 = 0 THEN 0 ELSE i % 9 + 1 END AS x FROM generate_series(1, 60000) AS i) AS v) AS d
            GROUP BY y"""
    ).fetchall()
    low, high = connection.execute(
        "SELECT * FROM sanitize.breach_posterior(sanitize.amplification(sanitize.number_operator(0, 9, 1, 0.4)), 0.2)"
    ).fetchone()
    assert len(rows) == 10
    for _, seen, zero in rows:
        noise = 4 * math.sqrt(0.25 / seen)
        assert low - noise <= zero / seen <= high + noise


@pytest.mark.parametrize("method", ["em", "inverse"])
def test_reconstruction_stops_within_a_second(database, method):
    query = f"""SELECT count(*) FROM sanitize.reconstruct_distribution(sanitize.number_operator(0, 1499, 100, 0.1),
        (SELECT array_agg((i * 7919) % 1000 ORDER BY i) FROM generate_series(1, 1500) AS i), '{method}')"""
    assert_stops(database, "reconstructing", query)


def test_reconstruction_finds_what_was_randomised(connection):
    """Within four standard deviations, by both methods."""
    for method in ["em", "inverse"]:
        rows = connection.execute(
            f"""WITH truth AS (SELECT i, CASE WHEN i % 4 = 0 THEN 0 ELSE i % 7 END AS x FROM generate_series(1, 20000) AS i),
                    seen AS (SELECT array_agg(n ORDER BY y) AS observed FROM (
                        SELECT y, count(z) AS n FROM generate_series(0, 6) AS y LEFT JOIN
                               (SELECT sanitize.randomize_number(x, 0, 6, 1, 0.3, seed => i) AS z FROM truth) AS r ON z = y
                         GROUP BY y) AS c)
               SELECT probability, stddev_of_share, (SELECT count(*) FROM truth WHERE truth.x = r.x - 1) / 20000.0
                 FROM seen, sanitize.reconstruct_distribution(sanitize.number_operator(0, 6, 1, 0.3), observed, '{method}') AS r"""
        ).fetchall()
        assert len(rows) == 7
        for probability, deviation, truth in rows:
            assert abs(probability - float(truth)) < 4 * deviation


def test_arrays_come_back_as_they_are(connection):
    """The matrix is laid out by hand: Postgres must read it like one of its own."""
    same = """SELECT a = b, array_dims(a), array_length(a, 2), a[2][3] FROM (SELECT sanitize.rr_operator(3, 0.5) AS a,
                  ARRAY[[0.5,0.25,0.25],[0.25,0.5,0.25],[0.25,0.25,0.5]]::float8[] AS b) AS v"""
    assert connection.execute(same).fetchone() == (True, "[1:3][1:3]", 3, 0.25)
    connection.execute("CREATE TABLE kept AS SELECT sanitize.rr_operator(200, 0.5) AS a")
    assert one(connection, "SELECT a = sanitize.rr_operator(200, 0.5) FROM kept")
    law = "SELECT sanitize.posterior(sanitize.rr_operator(3, 0.5), '{0.5,0.25,0.25}', 1) || 1.0::float8"
    assert one(connection, law) == [2 / 3, 1 / 6, 1 / 6, 1.0]
