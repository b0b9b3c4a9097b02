"""dp_synthesize beside OpenDP's MST and AIM on adult: how far marginals are from the truth, time, memory.

AIM takes minutes for each table: one table each, or PG_SANITIZE_RUNS of them; dp_synthesize ten.
"""

import csv
import math
import os
import subprocess
import sys
import tempfile
import time
from itertools import combinations
from pathlib import Path
from statistics import fmean

import numpy
import psycopg
from _bench import backend_time, connect, data_file, fill, peak_memory, show
from _items import as_table, lines_of

EPSILONS = (0.1, 1, 3, 10)
DELTA = 1e-9
OURS = 10
theirs = int(os.environ.get("PG_SANITIZE_RUNS") or 1)
DATABASE = "bench_synthesize"


def rho_of(epsilon, delta):
    """The largest rho of zCDP that is (epsilon, delta)-DP (Canonne, Kamath and Steinke, proposition 7)."""

    def least_delta(rho):
        orders = (1 + 10 ** (place / 200) for place in range(-600, 1200))
        return min(
            math.exp(min(700, (a - 1) * (a * rho - epsilon) + a * math.log1p(-1 / a))) / (a - 1)
            for a in orders
        )

    low, high = 0.0, epsilon
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if least_delta(middle) <= delta else (low, middle)
    return low


class Truth:
    """The marginals of a table."""

    def __init__(self, rows):
        self.codes = [{v: i for i, v in enumerate(sorted(set(column)))} for column in zip(*rows)]
        self.sizes = [len(codes) for codes in self.codes]
        self.table = self.coded(rows)

    def coded(self, rows):
        return numpy.array([[codes[v] for codes, v in zip(self.codes, row)] for row in rows]).T

    def marginal(self, table, columns):
        places = numpy.ravel_multi_index(table[list(columns)], [self.sizes[c] for c in columns])
        counts = numpy.bincount(places, minlength=math.prod(self.sizes[c] for c in columns))
        return counts / table.shape[1]

    def distances(self, rows, ways):
        """The total variations between all marginals of so many columns."""
        made = self.coded(rows)
        return [
            abs(self.marginal(self.table, c) - self.marginal(made, c)).sum() / 2
            for c in combinations(range(len(self.sizes)), ways)
        ]


rows = as_table(lines_of(data_file("lucs/adult.D97.N48842.C2.num")))
connection = connect(DATABASE)
fill(connection, "adult", rows)
columns = [f"c{i + 1}" for i in range(len(rows[0]))]
for i, column in enumerate(columns):
    values = {row[i] for row in rows}
    if r"\N" not in values:
        connection.execute(f"ALTER TABLE adult ALTER {column} SET NOT NULL")
    connection.execute(
        "SELECT sanitize.declare_domain('adult', %s, %s)", [column, sorted(values - {r"\N"})]
    )
truth = Truth(rows)
shown = ", ".join(f"coalesce({column}, '\\N')" for column in columns)


def ours(epsilon, run):
    """The table, processor time and peak memory of a call, in a session of its own and one thread."""
    with psycopg.connect(dbname=DATABASE, autocommit=True) as session:
        session.execute("SET pg_sanitize.threads = 1; SET client_min_messages = warning")
        before = backend_time(session)
        made = session.execute(
            f"SELECT {shown} FROM sanitize.dp_synthesize(NULL::adult, %s, %s, %s, seed => %s)",
            [epsilon, DELTA, len(rows), run],
        ).fetchall()
        return made, backend_time(session) - before, peak_memory(session)


def opendp(algorithm, epsilon):
    """The same of a program of its own; memory as the system measured it."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "adult.csv"), Path(folder, "made.csv")
        with source.open("w") as file:
            csv.writer(file).writerows([columns, *rows])
        program = [sys.executable, Path(__file__).with_name("_opendp.py"), algorithm]
        command = [*program, str(rho_of(epsilon, DELTA)), source, target]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        seconds = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        if status:
            sys.exit(f"{algorithm} failed")
        with target.open() as file:
            # A value that no row has is made only where a column has room for one: NULL.
            made = [[cell or r"\N" for cell in row] for row in list(csv.reader(file))[1:]]
    known = [row for row in made if all(v in c for v, c in zip(row, truth.codes))]
    return known, float(seconds), usage.ru_maxrss / 1024


table = []
for epsilon in EPSILONS:
    programs = {"dp_synthesize": [ours(epsilon, run) for run in range(1, OURS + 1)]}
    for algorithm in ("MST", "AIM"):
        programs[f"OpenDP's {algorithm}"] = [opendp(algorithm, epsilon) for _ in range(theirs)]
    for program, made in programs.items():
        pairs = [truth.distances(rows, 2) for rows, _, _ in made]
        triples = [truth.distances(rows, 3) for rows, _, _ in made[:3]]
        table.append(
            [epsilon, program, len(made)]
            + [f"{fmean(map(fmean, pairs)):.4f}", f"{fmean(map(max, pairs)):.4f}"]
            + [f"{fmean(map(fmean, triples)):.4f}"]
            + [f"{min(seconds for _, seconds, _ in made):.2f}"]
            + [f"{max(memory for _, _, memory in made):.0f} MB"]
        )
        print(*table[-1], time.strftime("%H:%M:%S"), flush=True)
show(
    f"adult, {len(rows):,} rows x {len(columns)}, delta {DELTA}: total variation of marginals, processor seconds, memory",
    "epsilon, program, tables, pairs: mean, largest, triples: mean, s, peak".split(", "),
    table,
)
