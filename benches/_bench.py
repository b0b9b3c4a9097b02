"""What the benchmarks share: timing, a connection, data files, the mining example, tables of text."""

import csv
import io
import os
import re
import resource
import subprocess
import sys
import time
import zipfile
from collections import Counter
from pathlib import Path

import psycopg

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("PG_SANITIZE_DATA") or ROOT.parent / "shared" / "data")


def data_file(path):
    """A data file; the benchmark ends by name where there is none."""
    found = DATA / path
    if not found.exists():
        sys.exit(f"skipped: no {path} in {DATA} (PG_SANITIZE_DATA names the folder)")
    return found


def rows_of(path):
    """The rows of a .num or .dat file that have the most common length."""
    rows = [line.split() for line in path.read_text().splitlines() if line.strip()]
    width, _ = Counter(map(len, rows)).most_common(1)[0]
    return [row for row in rows if len(row) == width]


DIABETES = (
    "race gender age admission_type_id discharge_disposition_id admission_source_id"
    " medical_specialty max_glu_serum A1Cresult change diabetesMed readmitted"
).split()


def diabetes():
    """Twelve columns of the hospital stays, one word per cell."""
    with zipfile.ZipFile(data_file("medical/dataset_diabetes.zip")) as archive:
        name = next(n for n in archive.namelist() if n.endswith("diabetic_data.csv"))
        table = csv.DictReader(io.StringIO(archive.read(name).decode()))
        return [[re.sub(r"\s", "_", row[c]) for c in DIABETES] for row in table]


def arx_adult():
    """The rows of Adult as ARX ships it."""
    with data_file("arx-adult/adult.csv").open() as file:
        return list(csv.reader(file, delimiter=";"))[1:]


def connect(database):
    """A fresh database with the extension."""
    with psycopg.connect(dbname="postgres", autocommit=True) as server:
        server.execute(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")
        server.execute(f"CREATE DATABASE {database}")
    connection = psycopg.connect(dbname=database, autocommit=True)
    connection.execute("CREATE EXTENSION pg_sanitize")
    connection.execute("SET pg_sanitize.progress = 0")
    return connection


def fill(connection, table, rows, repeat=1):
    """Makes a table with text columns c1, c2, … of these rows."""
    columns = ", ".join(f"c{i} text" for i in range(1, len(rows[0]) + 1))
    connection.execute(f"CREATE UNLOGGED TABLE {table} ({columns})")
    text = "".join("\t".join(row) + "\n" for row in rows)
    with connection.cursor().copy(f"COPY {table} FROM STDIN") as stream:
        for _ in range(repeat):
            stream.write(text)
    connection.execute(f"VACUUM ANALYZE {table}")


def best(runs, call, clock=time.perf_counter):
    """The shortest time of several runs in seconds, and the last result."""
    times = []
    for _ in range(runs):
        began = clock()
        result = call()
        times.append(clock() - began)
    return min(times), result


def backend_time(connection):
    """The processor time that the connection's backend has taken so far, in seconds."""
    fields = (
        Path(f"/proc/{connection.info.backend_pid}/stat").read_text().rpartition(")")[2].split()
    )
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def children_time():
    """The processor time that the programs started here have taken so far, in seconds."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def processor_time(clock, call, batches=3, runs=1):
    """The processor time of a call by this clock in seconds, and the last result.

    Other work on the machine makes a call wait, which this does not count. Clocks tick slowly: a
    batch has several runs, and the best batch counts.
    """
    times = []
    for _ in range(batches):
        began = clock()
        for _ in range(runs):
            result = call()
        times.append((clock() - began) / runs)
    return min(times), result


def example(crate, name, *arguments):
    """The output of a crate's example program."""
    command = ["cargo", "run", "--quiet", "--release", "-p", f"pg_sanitize_{crate}"]
    command += ["--example", name, "--", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def peak_memory(connection):
    """The most resident memory that the connection's backend has ever had, in MB."""
    status = Path(f"/proc/{connection.info.backend_pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def show(title, header, rows):
    """Prints a table."""
    print(f"\n{title}")
    cells = [header] + [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    for number, row in enumerate(cells):
        print("  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths)))
        if number == 0:
            print("  " + "  ".join("-" * width for width in widths))
    sys.stdout.flush()
