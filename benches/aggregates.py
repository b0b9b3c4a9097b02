"""Noisy aggregates beside plain GROUP BY; what isolation costs; the ledger.

Bars: 1.5 times the plain query with one row per unit, 3 times with unit bounding; a call on a small
table at most 5 ms above a charge alone once the reader is warm, 40 ms cold; 200 answers a second
from 16 clients, none lost or doubled; 25 ms a charge, 200 charges a second.
"""

import os
import threading
import time

import psycopg

ROWS = int(os.environ.get("PG_SANITIZE_BENCH_ROWS", 5_000_000))
DATABASE = "pg_sanitize_bench_aggregates"
GROUPS = "(SELECT jsonb_agg(i) FROM generate_series(0, 99) i)"
# Readers stay for two seconds after their last question.
READERS_LEAVE = 3
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
    for workers in (0, 2):
        # A reader takes the settings of its database, not those of the caller.
        connection.execute(
            f"ALTER DATABASE {DATABASE} SET max_parallel_workers_per_gather = {workers}"
        )
        time.sleep(READERS_LEAVE)
        for table, bar in [("one_each", 1.5), ("many_each", 3)]:
            with psycopg.connect(dbname=DATABASE, autocommit=True) as client:
                client.execute(f"SELECT sanitize.protect('{table}', 'unit', 1000000, 0, 3)")
                plain = best(client, f"SELECT g, count(*), sum(x) FROM {table} GROUP BY g", 100)
                call = f"""SELECT * FROM sanitize.dp_aggregate('{table}', '{MEASURES}', 1,
                           group_by => '{{g}}', groups => {GROUPS})"""
                noisy = best(client, call, 200)
            print(
                f"  {table:10} {workers} workers   GROUP BY {plain:6.2f} s   "
                f"dp_aggregate {noisy:6.2f} s   "
                f"{noisy / plain:.2f} times (bar {bar})"
            )
    connection.execute(f"ALTER DATABASE {DATABASE} RESET max_parallel_workers_per_gather")


def small_calls(connection):
    """What a call on a small table takes, warm and cold, beside a charge alone."""
    connection.execute("CREATE TABLE small AS SELECT i AS unit FROM generate_series(1, 1000) i")
    connection.execute("SELECT sanitize.protect('small', 'unit', 1000000, max_rows_per_unit => 1)")
    charge = "SELECT sanitize.charge('small', 'bench', 0.001)"
    call = """SELECT * FROM sanitize.dp_aggregate('small', '{"n": "count"}', 0.001)"""
    connection.execute(call)
    alone, warm = (median(connection, query, 300) for query in (charge, call))
    cold_charge, cold = [], []
    for _ in range(5):
        for query, times in [(charge, cold_charge), (call, cold)]:
            time.sleep(READERS_LEAVE)
            times.append(median(connection, query, 1))
    print(
        f"a call on 1000 rows: {warm * 1e3:.1f} ms warm, a charge alone {alone * 1e3:.1f} ms, "
        f"{(warm - alone) * 1e3:.1f} more (bar 5); cold {min(cold) * 1e3:.0f} to "
        f"{max(cold) * 1e3:.0f} ms, a charge {min(cold_charge) * 1e3:.0f} to "
        f"{max(cold_charge) * 1e3:.0f} (bar 40 more)"
    )
    many_clients(connection, call, "answers")


def median(connection, query, runs):
    """The median time of a statement, in seconds."""
    times = []
    for _ in range(runs):
        begin = time.monotonic()
        connection.execute(query).fetchall()
        times.append(time.monotonic() - begin)
    return sorted(times)[runs // 2]


def ledger(connection):
    connection.execute("CREATE TABLE charged AS SELECT 1 AS unit")
    connection.execute(
        "SELECT sanitize.protect('charged', 'unit', 1000000, max_rows_per_unit => 1)"
    )
    charge = "SELECT sanitize.charge('charged', 'bench', 0.001)"
    connection.execute(charge)
    one = best(connection, charge, 1, runs=200)
    print(f"ledger: {one * 1e3:.1f} ms a call (bar 25)")
    many_clients(connection, charge, "charges")


def many_clients(connection, query, what):
    """How often 16 clients together get an answer in five seconds, and that each was charged once."""
    seconds, counts = 5, []
    stop = time.monotonic() + seconds

    def spend():
        made = 0
        with psycopg.connect(dbname=DATABASE, autocommit=True) as client:
            while time.monotonic() < stop:
                client.execute(query)
                made += 1
        counts.append(made)

    before = entries(connection)
    threads = [threading.Thread(target=spend) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert entries(connection) - before == sum(counts), "a charge was lost or doubled"
    print(f"{sum(counts) / seconds:.0f} {what} a second from 16 clients (bar 200)")


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
            small_calls(connection)
            ledger(connection)
    finally:
        with psycopg.connect(dbname="postgres", autocommit=True) as server:
            server.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)")


main()
