"""How well a random forest learns from a release."""

import math
from statistics import fmean, stdev

import numpy
from sklearn.tree import DecisionTreeClassifier

TREES = 100
# Standard errors of a difference that a printed mean may be away from ours without being named.
FAR = 4


def coded(rows):
    """Cells as numbers, blank as 0: cells of LUCS sets are numbers from 1 on."""
    return numpy.array([[0 if cell is None else int(cell) for cell in row] for row in rows])


def accuracy(train, test, rng):
    """% of the test rows whose class, the last column, a forest trained on other rows predicts.

    It is scikit-learn's RandomForestClassifier as it comes (Gini impurity, bootstrap samples, the
    square root of the columns tried at a split, mean of the trees' probabilities) on equal rows kept
    once: how often each is in a bootstrap sample is its weight. The law of the trees is the same, and
    they grow several times as fast.
    """
    rows, copies = numpy.unique(train, axis=0, return_counts=True)
    tested, weights = numpy.unique(test, axis=0, return_counts=True)
    classes, labels = numpy.unique(rows[:, -1], return_inverse=True)
    features, asked = (part[:, :-1].astype(numpy.float32) for part in (rows, tested))
    chances = numpy.zeros((len(tested), len(classes)))
    for _ in range(TREES):
        tree = DecisionTreeClassifier(max_features="sqrt", random_state=int(rng.integers(2**31)))
        sample = rng.multinomial(len(train), copies / len(train))
        tree.fit(features, labels, sample_weight=sample)
        chances += tree.predict_proba(asked)
    right = classes[chances.argmax(axis=1)] == tested[:, -1]
    return 100 * numpy.average(right, weights=weights)


def learned(original, releases):
    """The accuracy for each release, by the protocol of ten Tusscher (2024).

    A release is the numbers of the original rows that its rows come from, and its rows. Those with a
    class are usable. Tested are the originals of a fifth of the usable rows and of a fifth of all
    others; the forest is trained on what is released of the other usable rows. None if there is none.
    """
    scores = []
    for run, (ids, rows) in enumerate(releases):
        rng = numpy.random.default_rng(run)
        labelled = rows[:, -1] != 0
        usable = numpy.zeros(len(original), dtype=bool)
        usable[ids[labelled]] = True
        test = numpy.zeros(len(original), dtype=bool)
        for part in (numpy.flatnonzero(usable), numpy.flatnonzero(~usable)):
            test[rng.permutation(part)[: round(len(part) / 5)]] = True
        train = rows[labelled & ~test[ids]]
        scores.append(accuracy(train, original[test], rng) if len(train) else None)
    return scores


def standard_error(values):
    return stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0


def far_from(printed, values):
    """Whether a printed mean is far from ours, if its standard error is as ours."""
    given = [value for value in values if value is not None]
    return abs(fmean(given) - printed) > FAR * math.sqrt(2) * standard_error(given)


def told(values, digits=2):
    """Mean and standard error of what runs gave; in brackets how many gave something if not all."""
    given = [value for value in values if value is not None]
    if not given:
        return "×"
    text = f"{fmean(given):,.{digits}f} ± {standard_error(given):.{digits}f}"
    return text if len(given) == len(values) else f"{text} ({len(given)})"
