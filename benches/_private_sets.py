"""The sets of Dorrestijn's thesis (2018), and the tables that are made of them."""

import io
import zipfile

from _bench import data_file, fill
from _items import as_table, lines_of

# Set: file, the share of rows from which an itemset is frequent, and how the code tables of the
# compression are looked for: candidates and min_support.
LUCS = {
    "adult": ("adult.D97.N48842.C2", 0.1, ("pairs", 20)),
    "led7": ("led7.D24.N3200.C10", 0.1, ("all", 1)),
    "nursery": ("nursery.D32.N12960.C5", 0.1, ("all", 1)),
    "mushroom": ("mushroom.D90.N8124.C2", 0.1, ("pairs", 1)),
}
MSNBC = ("msnbc", 0.01, ("all", 9898))
# The unions of patterns above a tenth of mushroom's rows are too many for a tree, and so are those of
# the pages that a visitor of msnbc has not seen.
FURTHER = {
    ("mushroom", "plain tree"): ", tree_threshold => 0.3, candidates => 'closed'",
    ("mushroom", "cells"): ", tree_threshold => 0.3, max_length => 2",
    ("msnbc", "plain tree"): ", nulls => 'missing'",
    ("msnbc", "cells"): ", tree_threshold => 0.3, max_length => 2",
}
EPSILONS = (0.1, 1, 3)
DELTA = "1e-9"

# What a table is made by: {t} is the source, {n} the rows, {further} a class to go by and what else is
# needed, {s} the seed.
METHODS = (
    {"plain tree": "code_tree_generate(NULL::{t}, {n}, {support}{further}, seed => {s})"}
    | {
        f"cells, epsilon {epsilon}": f"private_krimp_generate(NULL::{{t}}, {epsilon}, {{n}}, {{support}}{{further}}, seed => {{s}})"
        for epsilon in EPSILONS
    }
    | {
        f"dp_synthesize, epsilon {epsilon}": f"dp_synthesize(NULL::{{t}}, {epsilon}, {DELTA}, {{n}}, seed => {{s}})"
        for epsilon in EPSILONS
    }
)


class Set:
    """A set as a table of the database, with its public domains declared."""

    def __init__(self, connection, name, rows, support, code_table):
        self.connection, self.name, self.support, self.code_table = (
            connection,
            name,
            support,
            code_table,
        )
        self.rows, self.width = rows, len(rows[0])
        self.columns = [f"c{i}" for i in range(1, self.width + 1)]
        fill(connection, name, rows)
        self.declare(name)

    def declare(self, table):
        """Says which values the columns may have, and where NULL is none."""
        for i, column in enumerate(self.columns):
            values = {row[i] for row in self.rows}
            if r"\N" not in values:
                self.connection.execute(f"ALTER TABLE {table} ALTER {column} SET NOT NULL")
            self.connection.execute(
                "SELECT sanitize.declare_domain(%s, %s, %s)",
                [table, column, sorted(values - {r"\N"})],
            )

    def make(self, method, seed, source=None, rows=None, of_class=None):
        """Fills the table "made" with what a method makes of the set, or of another table like it."""
        further = FURTHER.get((self.name, method.split(",")[0]), "")
        if of_class:
            further += f", class => '{of_class}'"
        call = METHODS[method].format(
            t=source or self.name,
            n=rows or len(self.rows),
            support=self.support,
            further=further,
            s=seed,
        )
        self.connection.execute("DROP TABLE IF EXISTS made CASCADE")
        self.connection.execute(f"CREATE UNLOGGED TABLE made AS SELECT * FROM sanitize.{call}")
        self.connection.execute("ANALYZE made")


def msnbc():
    """Which of the 17 kinds of pages a visitor has seen: a column for each, NULL where it is none."""
    with zipfile.ZipFile(data_file("uci/msnbc990928.zip")) as archive:
        text = io.TextIOWrapper(archive.open("msnbc990928.seq"))
        visits = [set(line.split()) for line in text if line.split() and line[0].isdigit()]
    pages = [str(page) for page in range(1, 18)]
    return [[page if page in visit else r"\N" for page in pages] for visit in visits]


def sets(connection):
    for name, (file, support, code_table) in LUCS.items():
        rows = as_table(lines_of(data_file(f"lucs/{file}.num")))
        yield Set(connection, name, rows, support, code_table)
    name, support, code_table = MSNBC
    yield Set(connection, name, msnbc(), support, code_table)
