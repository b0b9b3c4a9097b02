"""Private generation: the experiments of Dorrestijn's thesis (2018), and dp_synthesize at the same epsilons.

Writes docs/figures/private.md. The thesis averages 100 runs; this makes PG_SANITIZE_RUNS of them (3 if
nothing is said) on led7 and nursery and one on the larger sets.
"""

import datetime
import os

import _private_classes
import _private_tables
from _bench import connect
from _page import Page
from _private_sets import sets

runs = int(os.environ.get("PG_SANITIZE_RUNS") or 3)
LARGE = ("adult", "mushroom", "msnbc")
connection = connect("bench_private")
connection.execute("SET client_min_messages = warning")
version = connection.execute("SHOW server_version").fetchone()[0].split()[0]
page = Page(
    "Private generation in figures",
    f"""
Made by `scripts/bench private`, which writes this page, in {datetime.date.today():%B %Y}, PostgreSQL {version}. The sets
are the LUCS-KDD versions of UCI sets, all rows, and the visits of msnbc.com (UCI), a column for each kind of page. Each
figure is the mean of {runs} generated tables with as many rows as the original (adult, mushroom and msnbc: one table);
Dorrestijn (2018) prints means of 100.

Tables are made by `code_tree_generate` (plain tree: no guarantee), by `private_krimp_generate` (cells: every cell is
randomised once, and all else follows from that) and by `dp_synthesize` with delta 1e-9. Epsilon is that of a row:
for cells under replacement of a row and without a trusted party, for `dp_synthesize` for a row that is added
or removed. min_share is 0.1 (msnbc: 0.01), and the tree's threshold the same (mushroom, and cells on msnbc: 0.3, with
patterns of two values for cells). All domains are declared. Seeds make the figures repeatable; with a seed
nothing is guaranteed, but the distribution of the tables is the same.

**Printed figures that cannot be reached.** The thesis says "epsilon = 0.1" but not whether of a cell or of a
row. If it is of a cell, a row of adult has 1.5; if it is of a row, a cell of adult has 0.0067. The next
section shows how precisely supports can then be estimated from randomised response. Even with 0.1 for each cell of two values, the standard deviation of one value's share is 0.045
on adult and 0.18 on led7, and that of two values together 0.45 and 1.8, where 0.1 is frequent: each further value
multiplies the variance by about 100. The 20,231 common itemsets of adult, with supports right to 9 %, cannot
come from cells that were randomised in this way, whatever is mined afterwards. The printed figures are near
those of a tree without any noise on nursery, and near those of cells at epsilon 3 on led7. On adult and msnbc
not even the tree without noise reaches them.

Two sets differ from print before anything is generated: this adult has 26,573 frequent itemsets, not 21,519, and the
visits of msnbc, taken as sets of the 17 kinds of pages, have 74, not 99 (the thesis counts 18 items). led7 and
nursery agree.
""",
)
all_sets = list(sets(connection))
_private_tables.noise(page, all_sets)
figures = [_private_tables.Figures(of, 1 if of.name in LARGE else runs) for of in all_sets]
_private_tables.itemsets(page, figures)
_private_tables.privacy(page, figures)
_private_tables.compression(page, figures)
with_class = {of: 1 if of.name in LARGE else runs for of in all_sets if of.name != "msnbc"}
_private_classes.classification(page, with_class)
page.write("private.md")
