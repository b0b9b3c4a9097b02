"""Tables of many columns: mining up to a length, models within a time, and growth with the columns.

Writes docs/figures/wide.md and wide.svg. Mining is measured alone, by the crates' own examples and in processor time,
which other work on the machine does not lengthen. The peer is pyfim's eclat; where it is not installed, it is left out
by name.
"""

import re
import tempfile
import time
from pathlib import Path

import numpy
from _bench import ROOT, children_time, example
from _growth import drawn
from _page import Page

try:
    from fim import eclat
except ImportError as missing:
    eclat = None
    print(f"pyfim left out: {missing}")

ROWS, COLUMNS = 100_000, 100
WIDTHS = (10, 20, 50, 100, 150, 200)


def cells(rows, columns):
    """Columns of 2 to 10 values, low ones the more frequent, independent of each other."""
    values = 2 + numpy.arange(columns) % 9
    return (numpy.random.default_rng(1).random((rows, columns)) ** 2 * values).astype(int)


def written(path, table):
    """A file of these rows; a cell is a number that no other column has."""
    numpy.savetxt(path, table + 16 * numpy.arange(table.shape[1]), fmt="%d")
    return path


def mine(path, what, threshold, length=None):
    """Processor time of mining alone with one thread, and the number of itemsets."""

    def whole(runs):
        limit = [] if length is None else [length]
        began = children_time()
        line = example("mining", "mine", path, what, threshold, 1, runs, *limit)
        return children_time() - began, int(re.search(r": (\d+) itemsets", line)[1])

    (once, found), (twice, _) = whole(1), whole(2)
    return max(twice - once, 0.001), found


def coding(path):
    """Processor time of reading a file and coding its rows: mining of nothing."""
    began = children_time()
    example("mining", "mine", path, "miis", 0, 1, 1)
    return children_time() - began


def clock(path, what, threshold, length, threads):
    """Seconds by the clock of mining alone."""
    line = example("mining", "mine", path, what, threshold, threads, 2, length)
    return float(re.search(r"in ([0-9.]+) ms", line)[1]) / 1000


def mining(page, path):
    coding(path)  # builds the example, which is no part of reading
    reading = coding(path)
    lines = []
    for what, threshold, length, bar in (
        ("miis", 1, 2, 3 * reading),
        ("miis", 1, 3, 8),
        ("miis", 50, 3, 20),
        ("frequent", 1000, 2, None),
        ("frequent", 5000, 3, None),
        ("frequent", 10000, None, None),
        ("closed", 5000, 3, None),
    ):
        seconds, found = mine(path, what, threshold, length)
        shown = f"{bar:.1f}" if bar else ""
        ratio = ""
        if length is not None:
            one, two = (clock(path, what, threshold, length, threads) for threads in (1, 2))
            ratio = f"{two / one:.2f}"
        lines.append((what, threshold, length or "", f"{found:,}", f"{seconds:.2f}", shown, ratio))
    page.tell(
        "Mining up to a length",
        f"""
{ROWS:,} rows of {COLUMNS} columns. Seconds of processor time with one thread, without reading; reading the file and
coding its rows took {reading:.2f}. The bar for pairs is three times the reading. The last column is the
elapsed time with two threads, as a share of that with one.
""",
        ["what", "theta or min_support", "max_length", "itemsets", "seconds", "bar", "two threads"],
        lines,
    )


def peer(page, path, table):
    if eclat is None:
        page.say("pyfim was not installed, so there is no peer in this run.")
        return
    rows = (table + 16 * numpy.arange(table.shape[1])).tolist()
    lines = []
    for support, length in ((5000, 2), (5000, 3), (20000, 100)):
        began = time.process_time()
        theirs = len(eclat(rows, supp=-support, zmin=1, zmax=length))
        seconds = time.process_time() - began
        ours, found = mine(path, "frequent", support, length)
        assert found == theirs, (found, theirs)
        lines.append((support, length, f"{found:,}", f"{ours:.2f}", f"{seconds:.2f}"))
    page.tell(
        "Frequent itemsets beside pyfim's eclat",
        "Seconds of processor time with one thread; both have the rows in memory, eclat as lists of numbers.",
        ["min_support", "max_length", "itemsets", "ours", "eclat"],
        lines,
    )


def models(page, path):
    lines = []
    for seconds in (2, 5, 10, 20):
        line = example("krimp", "krimp", path, "pairs", 100, "keep", 1, 1, 1 << 20, seconds)
        found = re.search(r"(\d+) sets, .*?([0-9.]+) %, ([0-9.]+) s", line)
        lines.append((f"{seconds} s", found[3], found[1], f"{found[2]} %"))
    page.tell(
        "Models within a time",
        """
Krimp with candidates 'pairs' on the same table, one thread: the time limit, the elapsed seconds, the patterns
found and the size of the table encoded with them, as a share of its size with single values only. Other work
on the machine makes the model found within the same time worse.
""",
        ["max_time", "seconds", "patterns", "size"],
        lines,
    )


def growth(page, folder):
    asked = {
        "MIIs, length 2": ("miis", 1, 2),
        "MIIs, length 3": ("miis", 1, 3),
        "frequent, length 2": ("frequent", 1000, 2),
    }
    lines = {name: [] for name in ["reading", *asked]}
    for columns in WIDTHS:
        path = written(folder / "grown.dat", cells(ROWS, columns))
        lines["reading"].append(coding(path))
        for name, (what, threshold, length) in asked.items():
            lines[name].append(mine(path, what, threshold, length)[0])
    (ROOT / "docs" / "figures" / "wide.svg").write_text(drawn(WIDTHS, lines, "columns", "seconds"))
    page.tell(
        "Growth with the columns",
        f"""
{ROWS:,} rows, seconds of processor time with one thread: reading a file, MIIs at theta 1 and itemsets that 1000 rows
share, without reading. Both axes of the picture are logarithmic.
""",
        ["columns", *lines],
        [(n, *(f"{line[i]:.2f}" for line in lines.values())) for i, n in enumerate(WIDTHS)],
    )
    page.say("![seconds against columns](wide.svg)")


def main():
    page = Page(
        "Wide tables",
        """
What tables of many columns cost, measured by `scripts/bench wide`. The tables are generated: columns of 2 to
10 values, lower values more frequent, independent of each other, all rows distinct.
""",
    )
    folder = Path(tempfile.mkdtemp())
    table = cells(ROWS, COLUMNS)
    path = written(folder / "wide.dat", table)
    mining(page, path)
    peer(page, path, table)
    models(page, path)

    widest = written(folder / "widest.dat", cells(10_000, 1000))
    seconds, found = mine(widest, "miis", 1, 2)
    page.tell(
        "A thousand columns",
        "10,000 rows of 1000 columns, MIIs of up to two items at theta 1, one thread, processor time. Bar: 10 s.",
        ["MIIs", "reading", "mining"],
        [(f"{found:,}", f"{coding(widest):.2f}", f"{seconds:.2f}")],
    )
    growth(page, folder)
    page.write("wide.md")


main()
