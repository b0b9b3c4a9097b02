"""Tables 4.4 and 4.5 of ten Tusscher (2024): what k-MII blanks, and what can be learned from it."""

from collections import Counter
from fractions import Fraction
from itertools import repeat
from statistics import fmean

import numpy
from _bench import data_file, fill, rows_of
from _forest import FAR, coded, far_from, learned, told
from _page import listed

LUCS = {
    "adult": "adult.D97.N48842.C2",
    "breast": "breast.D20.N699.C2",
    "chessKRvK": "chessKRvK.D58.N28056.C18",
    "iris": "iris.D19.N150.C3",
    "pageBlocks": "pageBlocks.D46.N5473.C5",
}
THETAS = (1, 5, 10, 50)

# Table 4.4: rows and % of cells of k-MII. The 100 % of iris are in the text.
PRINTED = {
    "adult": ((44367, 6.66), (44271, 16.71), (44038, 23.23), (42196, 45.95)),
    "breast": ((680, 0.29), (668, 2.94), (666, 6.18), (655, None)),
    "chessKRvK": ((28045, 94.21), None, None, None),
    "iris": ((145, 8.13), (145, 41.24), (139, 50.79), (150, 100.0)),
    "pageBlocks": ((5456, 0.11), (5430, 0.17), (5408, 0.28), (5229, 0.67)),
}
# Table 4.5: accuracy on the original, of MII-suppress and of k-MII; x where nothing can be trained.
PRINTED_ORIGINAL = {
    "adult": 84.51,
    "breast": 94.46,
    "chessKRvK": 82.69,
    "iris": 93.56,
    "pageBlocks": 92.73,
}
PRINTED_ACCURACY = {
    "mii_suppress": {
        "adult": (85.16, 84.74, 84.50, 81.58),
        "breast": (94.67, 93.43, 90.97, 90.68),
        "chessKRvK": (12.10, None, None, None),
        "iris": (96.77, 94.87, 95.10, 95.03),
        "pageBlocks": (92.83, 92.60, 92.53, 91.43),
    },
    "k_mii": {
        "adult": (85.18, 84.80, 84.51, 81.61),
        "breast": (94.93, 93.78, 91.18, 90.30),
        "chessKRvK": (12.03, None, None, None),
        "iris": (95.80, 95.17, 95.13, "×"),
        "pageBlocks": (92.72, 92.43, 92.27, 90.52),
    },
}


class Sets:
    """The sets in the database; in NAME_id each row has a number to find its original by."""

    def __init__(self, connection):
        self.connection = connection
        self.columns, self.original = {}, {}
        for name, file in LUCS.items():
            rows = rows_of(data_file(f"lucs/{file}.num"))
            self.columns[name] = [f"c{i}" for i in range(1, len(rows[0]) + 1)]
            fill(connection, name, rows)
            connection.execute(
                f"CREATE TABLE {name}_id AS SELECT (row_number() OVER () - 1)::int AS id, * FROM {name}"
            )
            query = f"SELECT {', '.join(self.columns[name])} FROM {name}_id ORDER BY id"
            self.original[name] = coded(connection.execute(query).fetchall())

    def forms(self, name, call):
        """How often each form is in a release."""
        query = f"SELECT {', '.join(self.columns[name])} FROM sanitize.{call}"
        return Counter(self.connection.execute(query).fetchall())

    def released(self, name, call):
        """The numbers of the rows that the rows of a release come from, and the rows."""
        columns = ", ".join(["id", *self.columns[name]])
        rows = coded(self.connection.execute(f"SELECT {columns} FROM sanitize.{call}").fetchall())
        rows = rows.reshape(-1, 1 + len(self.columns[name]))
        return rows[:, 0], rows[:, 1:]


def size(forms):
    """The rows of a release, and the share of their cells that is blank in %."""
    rows = forms.total()
    blank = sum(form.count(None) * copies for form, copies in forms.items())
    return rows, 100 * Fraction(blank, rows * len(next(iter(forms)))) if rows else Fraction(0)


def equal(found, printed):
    """Whether rows and percentage are those printed; the printed percentages are cut off."""
    rows, blank = found
    cut = float(Fraction(int(100 * blank), 100))
    return rows == printed[0] and printed[1] in (None, cut)


def shown(rows, blank):
    return [f"{rows:,}", "" if blank is None else f"{float(blank):.2f}"]


def at(name, theta):
    return f"{name} at {theta}"


def table_4_4(page, sets):
    table, same, other, nearly = [], [], [], []
    for name in LUCS:
        for theta, printed in zip(THETAS, PRINTED[name]):
            left = sets.forms(name, f"mii_suppress(NULL::{name}, {theta})")
            ours = size(sets.forms(name, f"k_mii(NULL::{name}, {theta + 1})"))
            # As if k were theta.
            lower = size(Counter({f: n for f, n in left.items() if n >= theta}))
            if printed:
                (same if equal(ours, printed) else other).append(at(name, theta))
                if not equal(ours, printed) and equal(lower, printed):
                    nearly.append(at(name, theta))
            table.append(
                [name, theta, f"{float(size(left)[1]):.2f}", *shown(*ours)]
                + (shown(*printed) if printed else ["", ""])
                + [("yes" if equal(ours, printed) else "no") if printed else "", *shown(*lower)]
            )
    page.tell(
        "What MII-suppress and k-MII blank (table 4.4)",
        f"""
The share of all cells that `mii_suppress` blanks at theta; the rows that `k_mii` leaves with k = theta + 1, and the
share of their cells that is blank, by the definition: forms are counted in the release, and stay if more than theta rows
have them. Printed: ten Tusscher (2024), table 4.4, whose percentages are truncated where ours are rounded;
"same" compares both truncated. For an empty cell no printed value is available. These figures do not depend
on chance.

{len(same)} of {len(same) + len(other)} printed results follow from the definition; not so {listed(other)}. The last two
columns show what stays if forms of exactly theta rows stay too, which is k = theta: it gives what is printed for
{listed(nearly)}, and no other of those that differ.
""",
        "set, theta, mii_suppress: %, k_mii: rows, %, printed: rows, %, same, k = theta: rows, %".split(
            ", "
        ),
        table,
    )


def table_4_5(page, sets, runs):
    table, far, scores = [], [], {}
    for name in LUCS:
        original = sets.original[name]
        whole = learned(original, repeat((numpy.arange(len(original)), original), runs))
        for number, theta in enumerate(THETAS):
            if PRINTED_ACCURACY["k_mii"][name][number] is None:
                continue
            line = [name, theta, told(whole), f"{PRINTED_ORIGINAL[name]:.2f}"]
            for function, argument in (
                ("mii_suppress", theta),
                ("k_mii", theta + 1),
                ("k_anonymize", theta + 1),
            ):
                release = sets.released(
                    name, f"{function}(NULL::{name}_id, {argument}, keep => '{{id}}')"
                )
                found = scores[function, name, theta] = learned(original, repeat(release, runs))
                line.append(told(found))
                if function not in PRINTED_ACCURACY:
                    continue
                printed = PRINTED_ACCURACY[function][name][number]
                line.append(printed if printed == "×" else f"{printed:.2f}")
                if None in found or printed == "×":
                    if not (None in found and printed == "×"):
                        far.append(f"{function} on {at(name, theta)} (×)")
                elif far_from(printed, found):
                    away = fmean(found) - printed
                    far.append(f"{function} on {at(name, theta)} ({away:+.2f})")
            print(*line, flush=True)
            table.append(line)
        if name == "iris":
            per_class = set(Counter(original[:, -1].tolist()).values())
            assert per_class == {50}, per_class
        scores[name] = whole
    # What a blank is to the forest matters where little else is left.
    ids, rows = sets.released("chessKRvK", "mii_suppress(NULL::chessKRvK_id, 1, keep => '{id}')")
    chess = sets.original["chessKRvK"]
    above = numpy.where(rows == 0, chess.max() + 1, rows)
    above[:, -1] = rows[:, -1]
    blank = 100 * (rows[rows[:, -1] != 0, :-1] == 0).mean()
    assert len(numpy.unique(chess, axis=0)) == len(chess)
    blank_above = told(learned(chess, repeat((ids, above), runs)))
    gain = fmean(scores["k_mii", "adult", 1]) - fmean(scores["adult"])
    left = [fmean(scores[f, "chessKRvK", 1]) for f in ("k_mii", "k_anonymize")]
    page.tell(
        "What a model can still learn (table 4.5)",
        f"""
Accuracy in % of a random forest that is trained on a release and tested on original rows, by the paper's protocol:
released rows that have their class are usable; a random fifth of them and a random fifth of all other rows
(without class, or not released) are used for testing in their original form, and the forest is trained on
what is released of the other usable rows. This is done {runs} times (the paper: 100 times); ± is the standard error of the mean over these
random choices. The forest is grown as scikit-learn's is by default (100 trees on bootstrap samples, Gini impurity); cells are
the numbers that items have in the LUCS files, the last column is the class, and a blank is a value of its own, 0.
The paper does not say how it codes cells. The original is split into a fifth and four fifths in the same way.

×: no released row has its class, so there is nothing to train on. On iris at theta 50 this must be so: each
of its three classes has 50 rows, is therefore rare itself and blanked everywhere. The 95.03 printed for
MII-suppress there cannot follow from its definition.

More than {FAR} standard errors of the difference from print (taking the paper's standard error to be ours):
{listed(far) if far else "nothing"}. On adult at theta 1 the forest trained on the release of `k_mii` is
{gain:+.2f} points from the one trained on the original (bar: at most 0.5 below). No two rows of chessKRvK are equal: what
`k_mii` leaves of it at theta 1 is good for {left[0]:.0f} %, what `k_anonymize` leaves for {left[1]:.0f} %. The forest learns
there from rows with {blank:.0f} % blank cells beside the class how to classify rows without blanks, so the
code of a blank matters: with a code above all items instead of 0, `mii_suppress` gives {blank_above}.
""",
        "set, theta, original, printed, mii_suppress, printed, k_mii, printed, k_anonymize".split(
            ", "
        ),
        table,
    )
    return fmean(scores["adult"])
