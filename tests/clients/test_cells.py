"""Cell suppression beside an independent audit: linear programs of scipy for a thousand random tables."""

import random
import time

import psycopg
import pytest
from helpers import patience
from scipy.optimize import linprog


def fill(connection, counts):
    """The table t with so many rows for each cell of {(row, column): count}."""
    connection.execute("CREATE TABLE IF NOT EXISTS t (r text, c text)")
    connection.execute("TRUNCATE t")
    rows = [f"('{r}', '{c}', {n})" for (r, c), n in counts.items() if n > 0]
    if rows:
        connection.execute(
            f"INSERT INTO t SELECT r, c FROM (VALUES {', '.join(rows)}) AS v (r, c, n),"
            " generate_series(1, n)"
        )


def interval(cells, place):
    """What the shown cells tell of one: the least and the largest real number, by linear programming."""
    places = list(cells)
    number = {place: i for i, place in enumerate(places)}
    rows = sorted({r for r, _ in places if r is not None})
    columns = sorted({c for _, c in places if c is not None})
    sums = []
    for r in [*rows, None]:
        sums.append([(number[r, c], 1) for c in columns] + [(number[r, None], -1)])
    for c in [*columns, None]:
        sums.append([(number[r, c], 1) for r in rows] + [(number[None, c], -1)])
    matrix = [[0.0] * len(places) for _ in sums]
    for row, terms in zip(matrix, sums, strict=True):
        for i, sign in terms:
            row[i] = sign
    bounds = [(0, None) if cells[p] is None else (cells[p], cells[p]) for p in places]
    ends = []
    for sign in [1, -1]:
        cost = [0.0] * len(places)
        cost[number[place]] = sign
        found = linprog(cost, A_eq=matrix, b_eq=[0.0] * len(sums), bounds=bounds)
        # Status 3: without limit.
        assert found.status in (0, 3), found.message
        ends.append(sign * found.fun if found.status == 0 else float("inf"))
    return ends


def test_no_small_cell_of_a_thousand_tables_is_narrowed(connection):
    draw = random.Random(12)
    small_cells = 0
    for _ in range(1000):
        rows, columns = draw.randint(1, 4), draw.randint(1, 4)
        threshold, protection = draw.randint(2, 6), draw.choice([None, 0, 3, 8])
        largest = draw.choice([4, 10, 40])
        counts = {(r, c): draw.randint(0, largest) for r in range(rows) for c in range(columns)}
        fill(connection, counts)
        published = connection.execute(
            "SELECT row_value, column_value, cell, status"
            " FROM sanitize.suppress_cells('t', 'r', 'c', %s, %s)",
            [threshold, protection],
        ).fetchall()
        cells = {(r, c): cell for r, c, cell, _ in published}
        limit = max(threshold - 1, threshold if protection is None else protection)
        for r, c, cell, status in published:
            assert (cell is None) == (status != "shown")
            if cell is not None:
                assert cell == 0 or cell >= threshold
            if status != "primary":
                continue
            low, high = interval(cells, (r, c))
            assert low < 1e-6 and high > limit - 1e-6, (counts, published)
            small_cells += 1
    assert small_cells > 1000


def test_the_audit_agrees_with_linear_programs(connection):
    draw = random.Random(4)
    for _ in range(100):
        rows, columns = draw.randint(1, 3), draw.randint(1, 3)
        counts = {(str(r), str(c)): draw.randint(0, 6) for r in range(rows) for c in range(columns)}
        sums = {}
        for (r, c), n in counts.items():
            for place in [(r, c), (r, None), (None, c), (None, None)]:
                sums[place] = sums.get(place, 0) + n
        cells = {place: None if draw.random() < 0.6 else n for place, n in sums.items()}
        listed = [
            {"row_value": r, "column_value": c, "cell": cell} for (r, c), cell in cells.items()
        ]
        found = connection.execute(
            "SELECT row_value, column_value, low, high FROM sanitize.audit_cells(%s)",
            [psycopg.types.json.Jsonb(listed)],
        ).fetchall()
        assert len(found) == sum(cell is None for cell in cells.values())
        for r, c, low, high in found:
            expected = interval(cells, (r, c))
            assert low == pytest.approx(expected[0], abs=1e-6)
            assert (float("inf") if high is None else high) == pytest.approx(expected[1], abs=1e-6)


@pytest.mark.parametrize("scale", [3, 60])
def test_a_table_of_200_by_200_takes_seconds(connection, scale):
    draw = random.Random(scale)
    sizes = [[draw.uniform(0.2, 3) for _ in range(200)] for _ in range(2)]
    counts = {
        (r, c): int(draw.expovariate(1) * scale * sizes[0][r] * sizes[1][c])
        for r in range(200)
        for c in range(200)
    }
    connection.execute("CREATE TABLE IF NOT EXISTS large (r int, c int)")
    connection.execute("TRUNCATE large")
    with connection.cursor().copy("COPY large FROM STDIN") as copy:
        for (r, c), n in counts.items():
            copy.write(f"{r}\t{c}\n" * n)
    start = time.monotonic()
    statuses = dict(
        connection.execute(
            "SELECT status, count(*) FROM sanitize.suppress_cells('large', 'r', 'c') GROUP BY 1"
        ).fetchall()
    )
    assert time.monotonic() - start < patience(60)
    assert statuses["primary"] == sum(0 < n < 5 for n in counts.values())
    assert sum(statuses.values()) == 201 * 201


def test_a_view_shows_the_table_as_it_is_now(connection):
    fill(connection, {("a", "x"): 9, ("a", "y"): 8, ("b", "x"): 7, ("b", "y"): 6})
    connection.execute("CREATE VIEW v AS SELECT * FROM sanitize.suppress_cells('t', 'r', 'c')")
    assert connection.execute("SELECT count(*) FROM v WHERE status = 'shown'").fetchone() == (9,)
    connection.execute("INSERT INTO t VALUES ('c', 'x')")
    assert connection.execute(
        "SELECT count(*) FROM v WHERE cell IS NOT NULL AND row_value = 'c' AND column_value = 'x'"
    ).fetchone() == (0,)


def test_answers_about_many_units(connection):
    """A tracker among a thousand units: sums over everybody, and over everybody but one."""
    connection.execute(
        "CREATE TABLE staff AS SELECT 'n' || i AS name, i % 7 AS ward, i AS number, i * 13 % 101 AS salary"
        " FROM generate_series(1, 1000) AS i"
    )
    found = connection.execute(
        """SELECT unit, low::int FROM sanitize.audit_answers('staff', '{"unit": "name", "low": 0,
        "high": 100, "answers": [{"sum": "salary"}, {"sum": "salary", "filter": {"number": {"<>": 77}}},
        {"sum": "salary", "filter": {"ward": 3}}, {"sum": "salary", "filter": {"number": {"<": 500}}}]}')
        WHERE determined"""
    ).fetchall()
    assert found == [("n77", 77 * 13 % 101)]
