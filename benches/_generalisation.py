"""A million people, what a forest still learns, and k against loss."""

import json
import sys
from statistics import fmean, stdev

import numpy
import psycopg
from _bench import DIABETES, ROOT, backend_time, fill, peak_memory
from _forest import accuracy

sys.path.append(str(ROOT / "docs" / "figures"))
from loss_curve import drawn

RUNS = 10

PEOPLE = """
CREATE TABLE people AS
SELECT i AS id,
       date '1930-01-01' + floor(34000 * (1 - abs(random() + random() - 1)))::int % 34000 AS birth_date,
       lpad((1000 + floor(3000 * power(random(), 2)))::int::text, 4, '0') AS postcode,
       CASE WHEN random() < 0.5 THEN 'f' ELSE 'm' END AS sex
  FROM generate_series(1, 1000000) AS i
"""


def people(page, connection):
    """A million people with a birth date, a postcode and a sex."""
    connection.execute("SELECT setseed(0.5)")
    connection.execute(PEOPLE)
    connection.execute("VACUUM ANALYZE people")
    for column, levels in (
        ("birth_date", '{"dates": ["month", "quarter", "year", "5 years"]}'),
        ("postcode", '{"prefix": [3, 2, 1]}'),
    ):
        connection.execute("SELECT sanitize.declare_hierarchy('people', %s, %s)", (column, levels))
    columns = "ARRAY['birth_date', 'postcode', 'sex']"
    table = []
    for generalize in ("false", "true"):
        with connect_again(connection) as fresh:
            began = backend_time(fresh)
            fresh.execute(
                f"""CREATE TABLE released AS SELECT birth_date, postcode, sex
                      FROM sanitize.k_anonymize(NULL::people, 5, {columns}, generalize => {generalize})"""
            )
            seconds, memory = backend_time(fresh) - began, peak_memory(fresh)
            losses = dict(
                fresh.execute(
                    f"""SELECT coalesce(column_name, 'all'), loss
                          FROM sanitize.information_loss('people', 'released', {columns})"""
                ).fetchall()
            )
            fresh.execute("DROP TABLE released")
        names = ("birth_date", "postcode", "sex", "all")
        table.append(
            ("yes" if generalize == "true" else "no",)
            + tuple(f"{losses[name]:.4f}" for name in names)
            + (f"{seconds:.1f}", f"{memory:.0f}")
        )
    page.tell(
        "A million people",
        """
Birth dates of 93 years, 3000 postcodes of unequal size, sex; k = 5. Hierarchies: month, quarter, year, five years;
prefixes of 3, 2 and 1 digits. Loss by `information_loss`. Bars: below 0.12 in 10 s of one core and 1 GB.
""",
        ["generalize", "birth date", "postcode", "sex", "all", "seconds", "MB"],
        table,
    )


def connect_again(connection):
    """Another backend on the same database, so that its peak memory is that of one call."""
    fresh = psycopg.connect(dbname=connection.info.dbname, autocommit=True)
    fresh.execute("SET pg_sanitize.progress = 0")
    fresh.execute("SET pg_sanitize.threads = 1")
    return fresh


AGES = [f"[{low}-{low + 10})" for low in range(0, 100, 10)]


def diabetes_trees(rows):
    """Hierarchies of the hospital stays: ages by 20 years and by halves of a life, codes by what they are."""
    by_twenty = {age: AGES[place // 2 * 2] for place, age in enumerate(AGES)}
    halves = {by_twenty[age]: AGES[0] if place < 5 else AGES[5] for place, age in enumerate(AGES)}
    halves[AGES[4]] = AGES[0]

    def first(name, groups):
        place = DIABETES.index(name)
        values = {row[place] for row in rows}
        return {
            value: next((g[0] for g in groups if value in g), groups[-1][0]) for value in values
        }

    admission = first("admission_type_id", [["1", "2", "7"], ["3", "4"], ["5", "6", "8"]])
    home = ["1", "6", "8", "13"]
    facility = [
        "3",
        "2",
        "4",
        "5",
        "9",
        "10",
        "12",
        "15",
        "16",
        "17",
        "22",
        "23",
        "24",
        "27",
        "28",
        "29",
    ]
    discharge = first(
        "discharge_disposition_id",
        [home, facility, ["18", "7", "11", "14", "19", "20", "25", "26"]],
    )
    source = first(
        "admission_source_id",
        [["1", "2", "3"], ["7"], ["4", "5", "6", "10", "18", "22", "25"], ["17"]],
    )
    return {
        "age": [by_twenty, halves],
        "admission_type_id": [admission],
        "discharge_disposition_id": [discharge],
        "admission_source_id": [source],
    }


def diabetes_accuracy(page, connection, rows):
    """What a forest learns of readmission from a generalised release."""
    fill(connection, "stays", rows)
    connection.execute("ALTER TABLE stays ADD id serial")
    for name, maps in diabetes_trees(rows).items():
        place = DIABETES.index(name) + 1
        connection.execute(
            "SELECT sanitize.declare_hierarchy('stays', %s, %s)",
            (f"c{place}", json.dumps({"tree": maps})),
        )
    names = [f"c{i}" for i in range(1, len(DIABETES) + 1)]
    chosen = ", ".join(names)
    calls = {
        "original": "stays",
        "k_anonymize": "sanitize.k_anonymize(NULL::stays, 5, keep => '{id}')",
        "k_anonymize with generalize": "sanitize.k_anonymize(NULL::stays, 5, keep => '{id}', generalize => true)",
    }
    tables = {}
    for name, source in calls.items():
        found = connection.execute(f"SELECT id, {chosen} FROM {source} ORDER BY id").fetchall()
        tables[name] = {row[0]: row[1:] for row in found}
    codes = [{} for _ in names]

    def coded(row):
        return [
            0 if cell is None else code.setdefault(cell, len(code) + 1)
            for code, cell in zip(codes, row)
        ]

    numbers = {name: {i: coded(row) for i, row in table.items()} for name, table in tables.items()}
    scores = {name: [] for name in calls}
    ids = numpy.array(sorted(numbers["original"]))
    for run in range(RUNS):
        rng = numpy.random.default_rng(run)
        shuffled = rng.permutation(ids)
        test, train = shuffled[: len(ids) // 5], shuffled[len(ids) // 5 :]
        asked = numpy.array([numbers["original"][i] for i in test])
        for name, table in numbers.items():
            usable = [table[i] for i in train if i in table and table[i][-1] != 0]
            scores[name].append(accuracy(numpy.array(usable), asked, rng))
    page.tell(
        "What a forest still learns",
        f"""
Readmission (three classes) from eleven other columns of 101,766 hospital stays, k = 5: accuracy in % of a random forest
trained on four fifths of a release and tested on the original rows of the other fifth, {RUNS} splits. Hierarchies: ages
by 20 years and halves, codes of admission and discharge by kind. Bar: less than a point below the original.
""",
        ["trained on", "accuracy", "standard error"],
        [
            (name, f"{fmean(values):.2f}", f"{stdev(values) / len(values) ** 0.5:.2f}")
            for name, values in scores.items()
        ],
    )


def tradeoff(page, connection):
    """k against loss, with and without general values, as a picture."""
    ks = (2, 3, 5, 10, 20, 50, 100)
    lines = {}
    for name, generalize in (("blanking only", False), ("general values", True)):
        rows = connection.execute(
            "SELECT loss FROM sanitize.loss_curve('adult', %s, generalize => %s)",
            (list(ks), generalize),
        ).fetchall()
        lines[name] = [loss for (loss,) in rows]
    path = ROOT / "docs" / "figures" / "generalisation.svg"
    path.write_text(drawn(ks, lines))
    page.tell(
        "k against loss",
        "ARX's Adult again, by `loss_curve`, for which ages are leaves of a tree like all other columns.",
        ["k", *lines],
        [(k, *(f"{points[i]:.4f}" for points in lines.values())) for i, k in enumerate(ks)],
    )
    page.say("![k against loss, with and without general values](generalisation.svg)")
