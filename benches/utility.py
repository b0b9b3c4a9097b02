"""What is left to learn from a release: rows, cells, and a random forest trained on it.

The printed values are those of W.M. ten Tusscher's thesis (2024), which defines k-MII and the
scheme 'paper'. Forests are scikit-learn's with 100 trees, the last column being the class; a blank
is a value of its own. They are always tested on original rows that they were not trained on.
"""

import sys
from fractions import Fraction
from statistics import fmean

import numpy
from _bench import (
    arx_adult,
    backend_time,
    connect,
    data_file,
    diabetes,
    fill,
    processor_time,
    rows_of,
    show,
)
from sklearn.ensemble import RandomForestClassifier

LUCS = {
    "adult": "adult.D97.N48842.C2",
    "breast": "breast.D20.N699.C2",
    "chessKRvK": "chessKRvK.D58.N28056.C18",
    "iris": "iris.D19.N150.C3",
    "pageBlocks": "pageBlocks.D46.N5473.C5",
    "nursery": "nursery.D32.N12960.C5",
}
PAPER_SETS = list(LUCS)[:5]
THETAS = (1, 5, 10)
# Table 4.4: rows, % of cells; table 4.5: accuracy of k-MII; table 4.2: accuracy of the original.
PRINTED = {
    ("adult", 1): (44367, 6.66),
    ("adult", 5): (44271, 16.71),
    ("adult", 10): (44038, 23.23),
    ("breast", 1): (680, 0.29),
    ("breast", 5): (668, 2.94),
    ("breast", 10): (666, 6.18),
    ("chessKRvK", 1): (28045, 94.21),
    ("iris", 1): (145, 8.13),
    ("iris", 5): (145, 41.24),
    ("iris", 10): (139, 50.79),
    ("pageBlocks", 1): (5456, 0.11),
    ("pageBlocks", 5): (5430, 0.17),
    ("pageBlocks", 10): (5408, 0.28),
}
PRINTED_ACCURACY = {
    "adult": (84.51, 85.18, 84.80, 84.51),
    "breast": (94.46, 94.93, 93.78, 91.18),
    "chessKRvK": (82.69, 12.03, None, None),
    "iris": (93.56, 95.80, 95.17, 95.13),
    "pageBlocks": (92.73, 92.72, 92.43, 92.27),
}
RUNS = {"adult": 5, "chessKRvK": 5}

connection = connect("bench_utility")
connection.execute("SET pg_sanitize.threads = 1")
sets = {name: rows_of(data_file(f"lucs/{file}.num")) for name, file in LUCS.items()}
for name, rows in sets.items():
    fill(connection, name, rows)


def names_of(width):
    return [f"c{i}" for i in range(1, width + 1)]


def counts(release, width):
    """The rows that a release has, and the share of their cells that is blank in %."""
    blank = f"coalesce(sum(num_nulls({', '.join(names_of(width))})), 0)"
    rows, blank = connection.execute(f"SELECT count(*), {blank} FROM {release}").fetchone()
    return rows, 100 * Fraction(int(blank), rows * width) if rows else Fraction(0)


def percent(value):
    return "" if value is None else f"{float(value):.2f}"


# The deterministic table.
table = []
for name in PAPER_SETS:
    for theta in THETAS:
        width = len(sets[name][0])
        rows, blank = counts(f"sanitize.k_mii(NULL::{name}, {theta + 1})", width)
        printed = PRINTED.get((name, theta))
        # The printed percentages are cut off, not rounded.
        cut = (rows, float(Fraction(int(100 * blank), 100)))
        same = "" if printed is None else "yes" if cut == printed else "no"
        printed = ("", "") if printed is None else (f"{printed[0]:,}", percent(printed[1]))
        table.append([name, theta, f"{rows:,}", f"{float(blank):.3f}", *printed, same])
show(
    "k_mii beside the printed table 4.4",
    ["set", "theta", "rows", "% blank", "printed rows", "printed %", "same"],
    table,
)


# Forests.
def coded(rows):
    """Cells as numbers, blank as 0: items are numbers in LUCS sets."""
    return numpy.array([[0 if cell is None else int(cell) for cell in row] for row in rows])


def accuracy(train, test, seed):
    """% of test rows whose class a forest predicts; nothing if there is no class to learn."""
    train = train[train[:, -1] != 0]
    if not len(train):
        return None
    forest = RandomForestClassifier(n_estimators=100, random_state=seed)
    forest.fit(train[:, :-1], train[:, -1])
    return 100 * forest.score(test[:, :-1], test[:, -1])


def mean(values):
    values = list(values)
    return None if None in values else fmean(values)


def released(name, function, argument):
    """The rows of a release by the number of the row that they come from.

    The number is kept only to know which released rows belong to the rows that are tested on.
    """
    width = len(sets[name][0])
    columns = names_of(width)
    query = f"SELECT id, {', '.join(columns)} FROM sanitize.{function}(NULL::{name}_id, {argument}, keep => '{{id}}')"
    rows = connection.execute(query).fetchall()
    return numpy.array([row[0] for row in rows]), coded([row[1:] for row in rows])


def trained(name, original, ids, rows):
    """Mean accuracy over random splits: trained on released rows of 80 %, tested on the originals of 20 %."""
    scores = []
    for seed in range(RUNS.get(name, 20)):
        test = numpy.random.default_rng(seed).random(len(original)) < 0.2
        scores.append(accuracy(rows[~test[ids]], original[test], seed))
    return mean(scores)


table = []
for name in PAPER_SETS:
    columns = ", ".join(names_of(len(sets[name][0])))
    connection.execute(
        f"CREATE TABLE {name}_id AS SELECT (row_number() OVER () - 1)::int AS id, {columns} FROM {name}"
    )
    original = coded(connection.execute(f"SELECT {columns} FROM {name}_id ORDER BY id").fetchall())
    base = trained(name, original, numpy.arange(len(original)), original)
    printed = PRINTED_ACCURACY[name]
    for theta, of_paper in zip(THETAS, printed[1:]):
        if of_paper is None:
            continue
        line = [name, theta, percent(base)]
        for function in ("k_mii", "k_anonymize"):
            score = trained(name, original, *released(name, function, theta + 1))
            line += [percent(score), f"{score - base:+.2f}"]
        table.append([*line, percent(printed[0]), percent(of_paper)])
show(
    "Accuracy of a random forest in % (bar: k_mii on adult, theta 1, at most 0.5 below the original)",
    [
        "set",
        "theta",
        "original",
        "k_mii",
        "change",
        "k_anonymize",
        "change",
        "printed original",
        "printed k-MII",
    ],
    table,
)

# Differentially private samples of 80 % of adult. The other rows are the public table of scheme
# 'public' and what forests are tested on; split is the share of rows that the public table has.
adult = sets["adult"]
columns = names_of(len(adult[0]))
apart = numpy.random.default_rng(1).random(len(adult)) < 0.2
private = [row for row, other in zip(adult, apart) if not other]
public = [row for row, other in zip(adult, apart) if other]
fill(connection, "private", private)
fill(connection, "public_rows", public)
for i, column in enumerate(columns):
    values = sorted({row[i] for row in adult})
    connection.execute("SELECT sanitize.declare_domain('private', %s, %s)", [column, values])
original = coded(public)
base = fmean(accuracy(coded(private), original, seed) for seed in range(2))
majority = 100 * max(fmean(original[:, -1] == label) for label in set(original[:, -1]))
SCHEMES = {
    "public": ", public_source => 'public_rows', split => 0.2",
    "dp_counts": "",
    "dp_split": "",
    "paper": ", max_length => NULL",
}
SAMPLES = 5
table = []
for epsilon, delta in ((0.1, 1e-3), (0.1, 1e-6), (1, 1e-3), (1, 1e-6)):
    k = 20
    for scheme, options in SCHEMES.items():
        drawn = []
        for seed in range(1, SAMPLES + 1):
            arguments = f"{epsilon}, {delta}, {k}, '{scheme}'{options}, seed => {seed}"
            query = f"SELECT {', '.join(columns)} FROM sanitize.dp_mii_sample(NULL::private, {arguments})"
            drawn.append(coded(connection.execute(query).fetchall()))
        rows = fmean(len(sample) for sample in drawn)
        labelled = fmean((sample[:, -1] != 0).sum() for sample in drawn)
        blank = 100 * fmean((sample == 0).mean() for sample in drawn)
        score = mean(accuracy(sample, original, seed) for seed, sample in enumerate(drawn))
        name = scheme + (" (not private)" if scheme == "paper" else "")
        table.append(
            [
                epsilon,
                f"{delta:.0e}",
                k,
                name,
                f"{rows:,.0f}",
                f"{blank:.1f}",
                f"{labelled:,.0f}",
                percent(score),
            ]
        )
show(
    f"dp_mii_sample on {len(private):,} rows of adult, mean of {SAMPLES} samples; accuracy without protection"
    f" {base:.2f} %, of always the same answer {majority:.2f} %; empty where a sample has no class left",
    ["epsilon", "delta", "k", "scheme", "rows", "% blank", "with class", "accuracy"],
    table,
)

# k_anonymize beside k_mii.
fill(connection, "arx_adult", arx_adult())
fill(connection, "diabetes", diabetes())
table = []
for name in ("arx_adult", "adult", "diabetes", "nursery"):
    total, width = connection.execute(
        f"SELECT (SELECT count(*) FROM {name}), count(*) FROM pg_attribute WHERE attrelid = '{name}'::regclass AND attnum > 0"
    ).fetchone()
    for k in (2, 6, 11):
        line = [f"{name} ({total:,} x {width})", k]
        for function in ("k_mii", "k_anonymize"):
            release = f"sanitize.{function}(NULL::{name}, {k})"
            rows, blank = counts(release, width)
            call = lambda: connection.execute(f"SELECT count(*) FROM {release}").fetchone()  # noqa: B023, E731
            seconds, _ = processor_time(lambda: backend_time(connection), call, runs=2)
            line += [f"{100 * rows / total:.2f}", percent(blank), f"{seconds:.2f}"]
        connection.execute(f"CREATE TEMP TABLE release AS SELECT * FROM {release}")
        smallest = connection.execute("SELECT sanitize.k_anonymity('release')").fetchone()[0]
        if smallest < k:
            sys.exit(f"k_anonymize on {name} with k = {k}: a class of {smallest} rows")
        connection.execute("DROP TABLE release")
        table.append(line)
show(
    "k_anonymize beside k_mii: rows released in %, blank cells of these in %, seconds of processor time",
    ["set", "k", "k_mii: rows", "blank", "seconds", "k_anonymize: rows", "blank", "seconds"],
    table,
)
