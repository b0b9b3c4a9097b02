"""What the server keeps of the rows of a unit, against the exact law of a uniform choice.

With an epsilon of 1000 the noise rounds away, and a thousand units with groups of their own show what was kept
of each of them in one answer.
"""

import json
from collections import Counter
from fractions import Fraction
from itertools import permutations

import pytest
from helpers import Database, chi_square, fresh_name

# Every unit has so many rows of each kind.
KINDS = {"a": 3, "b": 2, "c": 1}
UNITS = 1000
# Noise of a thousandth is rounded away; a law is missed by chance once in 10^11 times.
FAR = 7


def kept_rows(rows, groups):
    """The law of the rows that count: `rows` of a unit's rows in a random order, and of these the ones in the
    first `groups` kinds that appear."""
    all_rows = [kind for kind, count in KINDS.items() for _ in range(count)]
    law = Counter()
    orders = list(permutations(range(len(all_rows)), rows))
    share = Fraction(1, len(orders))
    for order in orders:
        kept = [all_rows[row] for row in order]
        shown = list(dict.fromkeys(kept))[:groups]
        law[tuple(kept.count(kind) if kind in shown else 0 for kind in KINDS)] += share
    return law


def kept_groups(groups):
    """The law of the kinds whose totals count: any `groups` of them."""
    law = Counter()
    orders = list(permutations(KINDS, groups))
    for order in orders:
        kept = tuple(KINDS[kind] if kind in order else 0 for kind in KINDS)
        law[kept] += Fraction(1, len(orders))
    return law


@pytest.fixture(scope="module", params=["in memory", "sorted"])
def world(request):
    """The same rows, in a database whose readers have room for them and in one whose readers have not."""
    made = Database(fresh_name("bounding"))
    with made.admin() as admin:
        if request.param == "sorted":
            admin.execute(f"ALTER DATABASE {made.name} SET pg_sanitize.max_memory = '1MB'")
        values = ", ".join(f"('{kind}')" for kind, count in KINDS.items() for _ in range(count))
        admin.execute(f"""
            CREATE TABLE kept AS
                SELECT 'u' || u AS person, 'u' || u AS place, kind, 1 AS one
                  FROM generate_series(1, {UNITS}) u, (VALUES {values}) AS v(kind);
            INSERT INTO kept SELECT 'v' || u, 'elsewhere' || u, 'a', 1 FROM generate_series(1, 50000) u;
        """)
    yield made
    made.drop()


def seen(world, measure, rows, groups):
    """How often each combination of totals was kept."""
    keys = json.dumps({"place": [f"u{u}" for u in range(1, UNITS + 1)], "kind": list(KINDS)})
    totals = {}
    with world.connect() as connection:
        connection.execute(
            "SELECT sanitize.protect('kept', 'person', 1e6, 0, %s, max_groups_per_unit => %s)",
            [rows, groups],
        )
        answers = connection.execute(
            """SELECT groups ->> 'place', groups ->> 'kind', round(value)::int
                 FROM sanitize.dp_aggregate('kept', %s, 1000, group_by => '{place,kind}', groups => %s)""",
            [json.dumps({"n": measure}), keys],
        )
        for place, kind, value in answers:
            totals.setdefault(place, {})[kind] = value
    assert len(totals) == UNITS
    return Counter(tuple(total[kind] for kind in KINDS) for total in totals.values())


def assert_law(law, counted):
    assert set(counted) <= set(law), set(counted) - set(law)
    assert chi_square({x: float(p) for x, p in law.items()}, counted, UNITS) < FAR, (law, counted)


@pytest.mark.parametrize(("rows", "groups"), [(1, 1), (2, 2), (2, 1), (4, 2)])
def test_rows_are_kept_by_a_uniform_choice(world, rows, groups):
    assert_law(kept_rows(rows, groups), seen(world, "count", rows, groups))


@pytest.mark.parametrize("groups", [1, 2])
def test_groups_of_units_are_kept_by_a_uniform_choice(world, groups):
    measure = {"sum": "one", "per": "unit", "low": 0, "high": 5}
    assert_law(kept_groups(groups), seen(world, measure, 6, groups))
