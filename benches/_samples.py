"""Table 4.6 of ten Tusscher (2024): private samples of adult, as published and repaired."""

from statistics import fmean

from _forest import FAR, far_from, learned, told
from _page import listed

# The schemes and what they need besides epsilon, delta and k. 'paper' and 'public' judge
# combinations of any length.
SCHEMES = {
    "paper": ("adult_id", ", max_length => NULL"),
    "public": ("private_part", ", public_source => 'public_part', max_length => NULL"),
    "dp_counts": ("adult_id", ""),
    "dp_split": ("adult_id", ""),
    "dp_select": ("adult_id", ""),
}
SPLIT = 0.1
# delta, theta2: beta, theta1, largest number of rows, rows, % blank among rows with a class, % blank,
# accuracy. Epsilon is 0.1.
PRINTED = {
    (0.1, 4): (0.093, 6, 3785, 3422, 13.44, 43.53, 81.69),
    (0.01, 4): (0.034, 17, 1383, 1214, 14.78, 60.95, 76.10),
    (0.001, 4): (0.017, 33, 691, 609, 35.60, 78.01, 75.03),
    (0.033, 9): (0.095, 12, 3866, 3405, 20.08, 55.15, 80.42),
    (0.01, 9): (0.068, 17, 2767, 2525, 24.73, 61.26, 77.56),
    (0.001, 9): (0.041, 27, 1668, 1477, 26.29, 70.29, 76.69),
}
# Epsilon and delta of the second table, and its k.
BUDGETS = [(0.1, 1e-3), (0.1, 1e-6), (1, 1e-3), (1, 1e-6)]
K = 20


class Sampler:
    """Draws samples of adult and learns from them."""

    def __init__(self, sets):
        self.sets = sets
        self.original = sets.original["adult"]
        classes = self.original[:, -1].tolist()
        self.majority = 100 * max(map(classes.count, set(classes))) / len(classes)
        for column in sets.columns["adult"]:
            sets.connection.execute(
                f"SELECT sanitize.declare_domain('adult_id', '{column}', array_agg(DISTINCT {column})) FROM adult"
            )

    def sample(self, scheme, epsilon, delta, k, run):
        """The sample of a run. Its seed is the run's number: the figures can be had again."""
        source, options = SCHEMES[scheme]
        if scheme == "public":
            # Tables: two views of one table are not public for each other.
            for part, compared in (("public_part", "="), ("private_part", "<>")):
                self.sets.connection.execute(
                    f"DROP TABLE IF EXISTS {part}; CREATE TABLE {part} AS"
                    f" SELECT * FROM adult_id WHERE hashint4extended(id, {run}) % 10 {compared} 0"
                )
        arguments = f"{epsilon}, {delta}, {k}, '{scheme}', split => {SPLIT}{options}"
        return self.sets.released(
            "adult",
            f"dp_mii_sample(NULL::{source}, {arguments}, keep => '{{id}}', seed => {run})",
        )

    def figures(self, scheme, epsilon, delta, k, runs):
        """What each run gave: by column of the header, a list."""
        drawn = [self.sample(scheme, epsilon, delta, k, run) for run in range(runs)]
        samples = [rows for _, rows in drawn]
        labelled = [rows[rows[:, -1] != 0] for rows in samples]
        blank = lambda rows: 100 * (rows == 0).mean() if len(rows) else None  # noqa: E731
        return {
            "rows": [len(rows) for rows in samples],
            "with class": [len(rows) for rows in labelled],
            "% blank": [blank(rows) for rows in samples],
            "of these": [blank(rows) for rows in labelled],
            "accuracy": learned(self.original, drawn),
        }

    def rate(self, scheme, delta, k):
        """beta and theta1 of the schemes that have them without noise, and rows at most."""
        if scheme not in ("paper", "public"):
            return ["", "", ""]
        method = "li" if scheme == "paper" else "exact"
        query = "SELECT beta, theta1 FROM sanitize.dp_mii_parameters(0.1, %s, %s, %s, %s)"
        beta, theta1 = self.sets.connection.execute(query, [delta, k, SPLIT, method]).fetchone()
        most = f"{int(len(self.original) * (1 - SPLIT) * beta):,}" if scheme == "paper" else ""
        return [f"{beta:.3f}", theta1, most]


def label(scheme):
    return f"{scheme} (not private)" if scheme == "paper" else scheme


def cells(found):
    return [
        told(values, 0 if column in ("rows", "with class") else 2)
        for column, values in found.items()
    ]


class Best:
    """The private scheme of the highest mean accuracy in each setting, of those with one in each run."""

    def __init__(self, majority):
        self.majority = majority
        self.means = {}

    def add(self, setting, scheme, found):
        if scheme != "paper" and None not in found["accuracy"]:
            self.means.setdefault(setting, {})[scheme] = fmean(found["accuracy"])

    def __str__(self):
        lines = []
        for setting, means in self.means.items():
            scheme, mean = max(means.items(), key=lambda entry: entry[1])
            useless = ", no better than always the same answer," if mean <= self.majority else ""
            lines.append(f"`{scheme}` with {mean:.2f} %{useless} at {setting}")
        return "; ".join(lines)


def table_4_6(page, sampler, runs, unprotected):
    table, far = [], []
    best = Best(sampler.majority)
    for (delta, theta2), (beta, theta1, most, *printed) in PRINTED.items():
        rows, of_these, blank, accuracy = printed
        line = [f"{rows:,}", "", f"{blank:.2f}", f"{of_these:.2f}", f"{accuracy:.2f}"]
        table.append([delta, theta2, "printed", f"{beta:.3f}", theta1, f"{most:,}", *line])
        for scheme in SCHEMES:
            found = sampler.figures(scheme, 0.1, delta, theta2 + 1, runs)
            rate = sampler.rate(scheme, delta, theta2 + 1)
            table.append([delta, theta2, label(scheme), *rate, *cells(found)])
            print(*table[-1], flush=True)
            best.add((delta, theta2), scheme, found)
            if scheme == "paper":
                far += [
                    f"{column} at {delta, theta2}"
                    for column, value in zip(("rows", "of these", "% blank", "accuracy"), printed)
                    if far_from(value, found[column])
                ]
    page.tell(
        "Differentially private samples (table 4.6)",
        f"""
`dp_mii_sample` on LUCS adult ({len(sampler.original):,} rows, 15 columns), epsilon 0.1, k = theta2 + 1, split {SPLIT}: printed
values of ten Tusscher (2024), table 4.6, then the scheme `paper`, which is the published algorithm, then the schemes
that keep what they promise, at the same epsilon and delta. {runs} samples of each (the paper: 100 runs), each with
its own split into training and test rows as for table 4.5: the test rows are the originals of a fifth of the
rows whose class is released and of a fifth of all others. ± is the standard error of the mean. A number in
brackets says how many samples had a row with a class left to train on, if not all had; only these samples
count in figures about such rows. "of these": the share of blank cells in rows with a class. To know which
rows to test on, and to make the figures repeatable, samples are drawn with `keep` and `seed`, with which no
scheme promises anything; the other columns of the samples have the same distribution. Without protection the forest reaches {unprotected:.2f} %, and always giving the more common answer {sampler.majority:.2f} %.

**Scheme `paper` is not differentially private**, whatever epsilon and delta are claimed: rows in the part
that gives the rare combinations have no protection, and the number of rows drawn reveals how many were left (see
[private samples](../reference/private.md#dp_mii_sample)). It judges combinations of any length, as published. "rows at
most" is the number of all rows times 1 - split times beta; the paper computes it with the rounded beta.

For `public` a random tenth of the rows, another one in every run, is taken as the public table. These rows
are not released and have no protection: this shows what a public table of the same kind is worth; it is not a
way to make one. `dp_counts`
and `dp_split` take the values that a column has in this set for its public domain and judge combinations of up to two
values; `dp_select` chooses some of the columns and blanks the others. `dp_counts` and `dp_select` spend the share split
of epsilon on that, `dp_split` that share of the rows. The sampling rate of `paper` comes from the paper's bound on
delta, that of the others from the exact delta, which is smaller: so beta of `public` is larger. Where a line
is the same as for another delta, the rate is the largest that epsilon allows for any delta, and the same rows
are drawn.

Of scheme `paper`, more than {FAR} standard errors of the difference from print (taking the paper's to be ours), at (delta,
theta2): {listed(far) if far else "nothing"}. The paper does not say whether its rows and percentages are
means or come from one run; between runs the standard deviation is {runs**0.5:.1f} times the standard error.

Best by mean accuracy of the schemes that keep their promise and left something to train on in every sample, at (delta,
theta2): {best}.
""",
        ["delta", "theta2", "scheme", "beta", "theta1", "rows at most", *found],
        table,
    )


def smaller_deltas(page, sampler, runs):
    table = []
    best = Best(sampler.majority)
    for epsilon, delta in BUDGETS:
        for scheme in SCHEMES:
            found = sampler.figures(scheme, epsilon, delta, K, runs)
            table.append([epsilon, f"{delta:.0e}", label(scheme), *cells(found)])
            print(*table[-1], flush=True)
            best.add((epsilon, delta), scheme, found)
    page.tell(
        "Samples at smaller deltas",
        f"""
A delta of 0.01 would allow publishing one row in a hundred as it is. So this section has smaller deltas, and
a larger epsilon, with
k = {K}; means of {runs} samples, everything else as above. Best by mean accuracy of the schemes
that keep their promise and left something to train on in every sample, at (epsilon, delta): {best}.
""",
        ["epsilon", "delta", "scheme", *found],
        table,
    )
