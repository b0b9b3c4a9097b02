"""How many instructions the main jobs take, each in a backend of its own under callgrind.

With one argument, run by scripts/compare: runs the jobs; callgrind writes a file for each process. With
two: prints the counts of two runs beside each other.
"""

import os
import re
import sys
import time
from pathlib import Path

import psycopg
from _items import as_table, lines_of

JOBS = {
    "mining": "SELECT count(*) FROM sanitize.mine_miis('adult', 10, max_length => 4)",
    "k_anonymize": "SELECT count(*) FROM sanitize.k_anonymize(NULL::adult, 5)",
    "krimp": "SELECT count(*) FROM sanitize.krimp_codetable('adult', 6000)",
    "generating": "SELECT count(*) FROM sanitize.krimp_generate(NULL::adult, 100000, 12000, seed => 1)",
    "row_bag": "SELECT md5(sanitize.row_bag(x)::text) FROM adult x",
    "clamped_sum": "SELECT sanitize.clamped_sum(i, 0, 50000) FROM generate_series(1, 500000) i",
    "dp_aggregate": """SELECT count(*) FROM sanitize.dp_aggregate('visits',
        '{"n": "count", "s": {"sum": "x", "low": 0, "high": 50}}', 1, group_by => '{g}',
        groups => (SELECT jsonb_agg(i) FROM generate_series(0, 99) i))""",
}


def run(stem):
    data = Path(os.environ["PG_SANITIZE_DATA"])
    with psycopg.connect(dbname="postgres", autocommit=True) as connection:
        connection.execute("CREATE EXTENSION pg_sanitize")
        rows = as_table(lines_of(next(data.glob("lucs/adult*.num"))))
        columns = ", ".join(f"c{i} text" for i in range(len(rows[0])))
        connection.execute(f"CREATE TABLE adult ({columns})")
        with connection.cursor().copy("COPY adult FROM STDIN") as copy:
            for row in rows[:10000]:
                copy.write("\t".join(row) + "\n")
        connection.execute(
            """CREATE TABLE visits AS SELECT i % 40000 AS unit, i % 100 AS g, i % 60 AS x
               FROM generate_series(1, 200000) i"""
        )
        connection.execute("SELECT sanitize.protect('visits', 'unit', 1000000, 0, 3)")
        connection.execute("VACUUM ANALYZE")
    pids = {}
    for name, job in JOBS.items():
        with psycopg.connect(dbname="postgres", autocommit=True) as connection:
            connection.execute("SET client_min_messages = error")
            connection.execute("SET max_parallel_workers_per_gather = 0")
            connection.execute("SET pg_sanitize.threads = 1")
            pids[name] = [connection.info.backend_pid]
            connection.execute(job).fetchall()
            if name == "dp_aggregate":
                found = connection.execute(
                    "SELECT pid FROM pg_stat_activity WHERE backend_type LIKE '%reader%'"
                ).fetchall()
                pids[name] += [pid for (pid,) in found]
        time.sleep(5)
    for name, found in pids.items():
        print(name, *found)


def counts(stem):
    """Instructions of each job of a run."""
    found = {}
    for line in Path(f"{stem}.txt").read_text().splitlines():
        name, *pids = line.split()
        files = [Path(f"{stem}.{pid}.out").read_text() for pid in pids]
        found[name] = sum(int(re.search(r"^(?:summary|totals): (\d+)", f, re.M)[1]) for f in files)
    return found


def main():
    if len(sys.argv) == 2:
        return run(sys.argv[1])
    before, after = map(counts, sys.argv[1:])
    for name in before:
        ratio = after[name] / before[name]
        print(f"{name:12} {before[name]:15,} {after[name]:15,}   {ratio:.3f} times")


main()
