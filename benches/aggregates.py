"""Noisy aggregates beside plain GROUP BY, and the ledger: charges a second, time of a call.

Bars: 1.5 times the plain query with one row per unit, 4 times with unit bounding; 25 ms a charge,
200 charges a second from 16 clients, none lost or doubled.
"""

import os
import threading
import time

import psycopg

ROWS = int(os.environ.get("PG_SANITIZE_BENCH_ROWS", 5_000_000))
DATABASE = "pg_sanitize_bench_aggregates"
GROUPS = "(SELECT jsonb_agg(i) FROM generate_series(0, 99) i)"
MEASURES = '{"n": "count", "s": {"sum": "x", "low": 0, "high": 50}}'


def best(connection, query, results, runs=5):
    """The shortest of several runs, in seconds."""
    times = []
    for _ in range(runs):
        begin = time.monotonic()
        rows = connection.execute(query).fetchall()
        times.append(time.monotonic() - begin)
        assert len(rows) == results
    return min(times)


def aggregates(connection):
    connection.execute(f"""
        CREATE TABLE one_each (unit int PRIMARY KEY, g int NOT NULL, x int NOT NULL);
        INSERT INTO one_each SELECT i, i % 100, i % 60 FROM generate_series(1, {ROWS}) i;
        CREATE TABLE many_each (unit int NOT NULL, g int NOT NULL, x int NOT NULL);
        INSERT INTO many_each SELECT i % {ROWS // 5}, i % 100, i % 60
            FROM generate_series(1, {ROWS}) i;
    """)
    connection.execute("VACUUM ANALYZE one_each")
    connection.execute("VACUUM ANALYZE many_each")
    print(f"count and sum over 100 groups of {ROWS} rows")
    cases = [
        (workers, *case) for workers in (0, 2) for case in [("one_each", 1.5), ("many_each", 4)]
    ]
    for workers, table, bar in cases:
        connection.execute(f"SET max_parallel_workers_per_gather = {workers}")
        connection.execute(f"SELECT sanitize.protect('{table}', 'unit', 1000000, 0, 3)")
        plain = best(connection, f"SELECT g, count(*), sum(x) FROM {table} GROUP BY g", 100)
        call = f"""SELECT * FROM sanitize.dp_aggregate('{table}', '{MEASURES}', 1,
                   group_by => '{{g}}', groups => {GROUPS})"""
        noisy = best(connection, call, 200)
        print(
            f"  {table:10} {workers} workers   GROUP BY {plain:6.2f} s   "
            f"dp_aggregate {noisy:6.2f} s   "
            f"{noisy / plain:.2f} times (bar {bar})"
        )


def ledger(connection):
    connection.execute("CREATE TABLE charged AS SELECT 1 AS unit")
    connection.execute("SELECT sanitize.protect('charged', 'unit', 1000000)")
    charge = "SELECT sanitize.charge('charged', 'bench', 0.001)"
    connection.execute(charge)
    one = best(connection, charge, 1, runs=200)
    seconds, counts = 5, []
    stop = time.monotonic() + seconds

    def spend():
        made = 0
        with psycopg.connect(dbname=DATABASE, autocommit=True) as client:
            while time.monotonic() < stop:
                client.execute(charge)
                made += 1
        counts.append(made)

    before = entries(connection)
    threads = [threading.Thread(target=spend) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert entries(connection) - before == sum(counts), "a charge was lost or doubled"
    print(
        f"ledger: {one * 1e3:.1f} ms a call (bar 25), "
        f"{sum(counts) / seconds:.0f} charges a second from 16 clients (bar 200)"
    )


def entries(connection):
    return connection.execute("SELECT count(*) FROM sanitize.ledger_entry").fetchone()[0]


def main():
    with psycopg.connect(dbname="postgres", autocommit=True) as server:
        server.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
        server.execute(f"CREATE DATABASE {DATABASE}")
    try:
        with psycopg.connect(dbname=DATABASE, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION pg_sanitize")
            aggregates(connection)
            ledger(connection)
    finally:
        with psycopg.connect(dbname="postgres", autocommit=True) as server:
            server.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)")


main()
