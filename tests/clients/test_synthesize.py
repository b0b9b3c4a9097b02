"""Synthetic tables through a real client: accuracy on a real set, bins, wide and long tables, people with many
rows, cancelling, memory, and what somebody who may not look could try."""

import random
from itertools import combinations

import psycopg
import pytest
from helpers import assert_stops, load_lucs

ADULT = "lucs/adult.D97.N48842.C2.num"


def distance(connection, one, two, columns):
    """The total variation between two tables' marginals of some columns."""
    share = "SELECT {0}, {1}1.0::float8 / (SELECT count(*) FROM {2}) AS p FROM {2}"
    both = f"{share.format(columns, '', one)} UNION ALL {share.format(columns, '-', two)}"
    cells = f"SELECT abs(sum(p)) AS p FROM ({both}) AS b GROUP BY {columns}"
    return connection.execute(f"SELECT sum(p) / 2 FROM ({cells}) AS c").fetchone()[0]


def declare_found(connection, table):
    """Declares the values that there are as domains: for measuring only, as they are not public."""
    names = connection.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0", [table]
    ).fetchall()
    for (name,) in names:
        values = f"SELECT array_agg(DISTINCT {name}::text) FROM {table} WHERE {name} IS NOT NULL"
        connection.execute(f"SELECT sanitize.declare_domain('{table}', '{name}', ({values}))")


@pytest.fixture(scope="module")
def adult(database):
    with database.connect() as connection:
        connection.execute("SET client_min_messages = warning")
        load_lucs(connection, ADULT, "adult", incomplete=True)
        declare_found(connection, "adult")


def test_pairs_of_adult_are_kept(connection, adult):
    """Two-way marginals at epsilon 1: within the bar of the figures."""
    connection.execute("DROP TABLE IF EXISTS synthetic")
    connection.execute(
        "CREATE TABLE synthetic AS SELECT * FROM sanitize.dp_synthesize(NULL::adult, 1, seed => 1)"
    )
    names = [
        name
        for (name,) in connection.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = 'adult'::regclass AND attnum > 0"
        )
    ]
    pairs = random.Random(1).sample(list(combinations(names, 2)), 30)
    found = [distance(connection, "adult", "synthetic", f"{a}, {b}") for a, b in pairs]
    assert sum(found) / len(found) < 0.0095 and max(found) < 0.06, found


def test_bins_keep_the_histogram(connection):
    """With much epsilon the bins of every scale come back as they were, values beyond the ends in the last."""
    connection.execute(
        """CREATE TABLE scales AS SELECT i % 97 AS whole, ((i * 7) % 1000)::numeric(6, 1) / 10 AS exact,
                  (i % 50)::float8 / 49 AS real, '2020-01-01'::date + i % 400 AS day,
                  '2020-01-01'::timestamp + (i % 100) * interval '1 day 1 second' AS moment,
                  (i * 12345678901)::int8 AS long
             FROM generate_series(0, 19999) AS i"""
    )
    for column, low, high, bins in [
        ("whole", "10", "89", 10),
        ("exact", "0", "99.9", 7),
        ("real", "0", "1", 16),
        ("day", "2020-01-01", "2020-12-31", 12),
        ("moment", "2020-01-01", "2020-04-01", 9),
        ("long", "0", "9000000000000000000", 8),
    ]:
        connection.execute(
            "SELECT sanitize.declare_bounds('scales', %s, %s, %s, %s)", [column, low, high, bins]
        )
        connection.execute("DROP TABLE IF EXISTS drawn")
        connection.execute(
            "CREATE TABLE drawn AS SELECT * FROM"
            " sanitize.dp_synthesize(NULL::scales, 10000, columns => %s)",
            [[column]],
        )
        # Postgres' own buckets, which have their ends where ours have them (within one step).
        bucket = f"width_bucket({{}}::numeric, 0, 1, {bins})"
        kind = {"day": "date", "moment": "timestamp"}.get(column)
        span = f"extract(epoch FROM least(greatest({column}, '{low}'), '{high}') - '{low}'::{kind})"
        if column == "day":
            span = f"(least(greatest(day, '{low}'), '{high}') - '{low}'::date)"
            share = f"{span} / (('{high}'::date - '{low}'::date) + 1)::numeric"
        elif column == "moment":
            share = f"{span} / extract(epoch FROM '{high}'::timestamp - '{low}'::timestamp)"
        else:
            step = 1 if column in ("whole", "long") else 0
            share = (
                f"(least(greatest({column}::numeric, {low}), {high}) - {low})"
                f" / (({high} - {low} + {step})::numeric)"
            )
        histogram = (
            f"SELECT least({bucket.format(share)}, {bins}) AS b, count(*) FROM {{}} GROUP BY 1"
        )
        before = dict(connection.execute(histogram.format("scales")).fetchall())
        after = dict(connection.execute(histogram.format("drawn")).fetchall())
        difference = sum(
            abs(before.get(b, 0) - after.get(b, 0)) for b in before.keys() | after.keys()
        )
        assert difference < 200, (column, before, after)


def test_a_hundred_columns(connection):
    columns = ", ".join(f"(i * {7 * c + 3} % 1009 % {2 + c % 6})::text AS c{c}" for c in range(100))
    connection.execute(f"CREATE TABLE wide AS SELECT {columns} FROM generate_series(1, 3000) AS i")
    declare_found(connection, "wide")
    n, width = connection.execute(
        "SELECT count(*), count(c99) FROM sanitize.dp_synthesize(NULL::wide, 1, n => 2000)"
    ).fetchone()
    assert n == 2000 and width > 1500


def test_a_million_rows(connection):
    connection.execute(
        "CREATE TABLE long AS SELECT (i % 5)::text AS a, (i / 3 % 7)::text AS b,"
        " CASE WHEN i % 10 > 0 THEN (i % 5)::text ELSE '0' END AS c, i % 1000 AS d"
        " FROM generate_series(1, 1000000) AS i"
    )
    declare_found(connection, "long")
    connection.execute("SELECT sanitize.declare_bounds('long', 'd', '0', '999')")
    connection.execute(
        "CREATE TABLE drawn_long AS SELECT * FROM sanitize.dp_synthesize(NULL::long, 1, seed => 1)"
    )
    assert abs(connection.execute("SELECT count(*) FROM drawn_long").fetchone()[0] - 1e6) < 1000
    assert distance(connection, "long", "drawn_long", "a, c") < 0.005


def test_of_a_person_so_many_rows_count(connection):
    """Somebody with a thousand rows is worth as many as anybody else."""
    connection.execute(
        "CREATE TABLE visits AS SELECT u AS patient, 'often'::text AS kind"
        " FROM generate_series(1, 10) AS u, generate_series(1, 1000)"
        " UNION ALL SELECT u, 'once' FROM generate_series(11, 1010) AS u"
        " UNION ALL SELECT NULL, 'nobody' FROM generate_series(1, 5000)"
    )
    connection.execute("SELECT sanitize.declare_domain('visits', 'kind', '{often,once,nobody}')")
    connection.execute(
        "SELECT sanitize.protect('visits', 'patient', 1000, 1e-6, max_rows_per_unit => 2)"
    )
    drawn = dict(
        connection.execute(
            "SELECT kind, count(*) FROM sanitize.dp_synthesize(NULL::visits, 100) GROUP BY 1"
        ).fetchall()
    )
    # Ten people with two rows each, a thousand with one, and none without a name.
    assert abs(drawn.get("often", 0) - 20) < 15 and abs(drawn["once"] - 1000) < 25, drawn
    assert drawn.get("nobody", 0) < 15, drawn


@pytest.mark.parametrize("phase, n", [("fitting", 1), ("generating", 2_000_000_000)])
def test_it_stops_when_told(database, adult, phase, n):
    query = f"SELECT count(*) FROM sanitize.dp_synthesize(NULL::adult, 1000, n => {n})"
    assert_stops(database, phase, query)


def test_who_may_not_read_gets_nothing(database, adult, regular_user):
    with database.connect(regular_user()) as outsider:
        for call in (
            "SELECT count(*) FROM sanitize.dp_synthesize(NULL::adult, 1, seed => 1)",
            "SELECT sanitize.dp_synthesizer('adult', 1)",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                outsider.execute(call)


def test_a_charge_outlives_a_rollback(connection):
    connection.execute(
        "CREATE TABLE held AS SELECT i AS id, i % 2 = 0 AS even FROM generate_series(1, 100) AS i"
    )
    connection.execute("SELECT sanitize.protect('held', 'id', 2, 1e-6, max_rows_per_unit => 1)")
    for _ in range(2):
        connection.execute("BEGIN")
        connection.execute("SELECT sanitize.dp_synthesizer('held', 1)")
        connection.execute("ROLLBACK")
    spent = "SELECT sum(epsilon) FROM sanitize.ledger WHERE source = 'held'::regclass"
    assert connection.execute(spent).fetchone()[0] == 2
    with pytest.raises(psycopg.errors.Error, match="budget"):
        connection.execute("SELECT sanitize.dp_synthesizer('held', 2)")


def test_nothing_but_rows_comes_out(connection, adult):
    """No notice, and the number of rows is noisy."""
    told = []
    connection.add_notice_handler(lambda notice: told.append(notice.message_primary))
    rows = {
        connection.execute(
            "SELECT count(*) FROM sanitize.dp_synthesize(NULL::adult, 0.1)"
        ).fetchone()[0]
        for _ in range(3)
    }
    assert not told and len(rows) > 1 and all(abs(n - 48842) < 2000 for n in rows), (told, rows)
