"""Lets sqlsmith write queries around the functions that are no sets, and looks for crashes and faults.

sqlsmith chooses among all functions of a server, thousands. It is shown a catalog of its own that has
all of ours and every tenth of the others, so that ours are called inside joins, subqueries, CASE and
aggregates of all kinds.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import psycopg
from log import Log

NAME = "pg_sanitize_smith"
ROLE = "sanitize_smith"

STATEMENTS = f"""
CREATE EXTENSION pg_sanitize;
CREATE TABLE people AS SELECT i AS id, chr(65 + i % 4) AS ward, i % 90 AS age, i * 1.5 AS cost, i % 2 = 0 AS smoker FROM generate_series(1, 100) AS i;
CREATE TABLE models AS SELECT 'people'::regclass AS source, sanitize.krimp_model('people', 5) AS model, ARRAY['ward', 'age'] AS columns, interval '1 day' AS age, 0.1::float8 AS share;
CREATE TABLE bags AS SELECT sanitize.row_bag(p) AS bag, 'krimp_generate'::text AS method FROM people AS p;
ALTER TABLE people OWNER TO {ROLE};
ALTER TABLE models OWNER TO {ROLE};
ALTER TABLE bags OWNER TO {ROLE};
CREATE SCHEMA shown;
GRANT USAGE ON SCHEMA shown TO {ROLE};
CREATE VIEW shown.pg_proc AS SELECT * FROM pg_catalog.pg_proc WHERE pronamespace = 'sanitize'::regnamespace OR oid::int % 10 = 0;
GRANT SELECT ON shown.pg_proc TO {ROLE};
ALTER ROLE {ROLE} SET search_path = shown, pg_catalog, public;
ALTER ROLE {ROLE} SET statement_timeout = '500ms';
ALTER ROLE {ROLE} SET pg_sanitize.max_memory = '256MB';
ALTER ROLE {ROLE} SET temp_file_limit = '256MB';
ALTER DATABASE {NAME} SET log_error_verbosity = verbose;
"""


def build():
    drop()
    with psycopg.connect(dbname="postgres", autocommit=True) as server:
        server.execute(f"CREATE ROLE {ROLE} LOGIN")
        server.execute(f"CREATE DATABASE {NAME}")
    with psycopg.connect(dbname=NAME, autocommit=True) as admin:
        for statement in STATEMENTS.strip().rstrip(";").split(";\n"):
            admin.execute(statement)


def drop():
    with psycopg.connect(dbname="postgres", autocommit=True) as server:
        server.execute(f"DROP DATABASE IF EXISTS {NAME} WITH (FORCE)")
        server.execute(f"DROP ROLE IF EXISTS {ROLE}")


def main():
    parser = argparse.ArgumentParser(prog="scripts/sqlsmith MAJOR")
    parser.add_argument("queries", type=int, nargs="?", default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", type=Path, required=True, help="the server's log")
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    log = Log(given.log)
    build()
    target = f"host={os.environ['PGHOST']} port={os.environ['PGPORT']} dbname={NAME} user={ROLE}"
    options = [f"--target={target}", f"--seed={given.seed}", f"--max-queries={given.queries}"]
    called = Counter()
    started = time.monotonic()
    with subprocess.Popen(
        ["sqlsmith", *options, "--dump-all-queries"],
        stdout=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as smith:
        for line in smith.stdout:
            called.update(re.findall(r"sanitize\.(\w+)\(", line))
    seconds = time.monotonic() - started
    print(f"{given.queries} queries in {seconds:.0f} s with {called.total()} calls of", end=" ")
    print(", ".join(f"{name} {count}" for name, count in called.most_common()))
    # The server's own functions have faults too, and name their place in its C files. Ours have none
    # there, or lie in a query that we run.
    theirs = re.compile(r" LOCATION: .*\.c:\d")
    within = re.compile(r" CONTEXT: +SQL statement")
    faults = [e for e in log.noted() if not theirs.search(e) or within.search(e)]
    for entry in faults[:20]:
        print(f"in the server's log: {entry}")
    drop()
    sys.exit(bool(faults) or smith.returncode)


if __name__ == "__main__":
    main()
