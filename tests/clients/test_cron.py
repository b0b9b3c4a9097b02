"""Releases refreshed by pg_cron, on a server that preloads it.

Debian's pg_cron counts in minutes, so the jobs here are those of a start (@reboot): each start of the
server is one run of them.
"""

import pytest
from helpers import OwnServer
from publishing import publish, wait_for

COUNT = '{"measures": {"n": "count"}, "epsilon": 1}'
RUNS = """SELECT status, return_message FROM cron.job_run_details JOIN cron.job USING (jobid)
    WHERE jobname = %s ORDER BY runid"""
ENDED = f"SELECT count(*) = %s FROM ({RUNS}) AS runs WHERE status IN ('succeeded', 'failed')"


@pytest.fixture(params=["connections", "background workers"])
def server(request, connection):
    """A server with pg_cron, whose jobs have connections of their own or run in background workers."""
    query = "SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_cron'"
    if connection.execute(query).fetchone() == (0,):
        pytest.skip("no pg_cron: Debian has it for PostgreSQL 15 only")
    made = OwnServer(port=55997)
    made.initialise(
        "shared_preload_libraries = 'pg_cron'",
        f"cron.host = '{made.folder}'",
        f"cron.use_background_workers = {'on' if request.param == 'background workers' else 'off'}",
    )
    made.start()
    yield made
    made.drop()


def connect(server, user="postgres"):
    return server.connect(dbname="postgres", user=user)


def schedule_refreshes(server):
    """A role without special rights owns two releases, one of them with a budget for a publish and one
    refresh, and schedules their refreshes itself."""
    with connect(server) as admin:
        admin.execute("CREATE EXTENSION pg_sanitize")
        admin.execute("CREATE EXTENSION pg_cron")
        admin.execute("CREATE ROLE curator LOGIN")
        admin.execute("GRANT USAGE ON SCHEMA cron TO curator")
        admin.execute("GRANT CREATE ON SCHEMA public TO curator")
        admin.execute("""CREATE TABLE visits AS
            SELECT i AS patient, i % 5 AS ward FROM generate_series(1, 1000) AS i""")
        admin.execute("SELECT sanitize.protect('visits', 'patient', 2, max_rows_per_unit => 1)")
        admin.execute("SELECT sanitize.allow('visits', 'curator')")
        admin.execute("GRANT SELECT ON visits TO curator")
    with connect(server, "curator") as curator:
        publish(curator, "noisy", "visits", "dp_aggregate", COUNT)
        publish(curator, "wards", "visits", "k_mii", '{"k": 5, "columns": ["ward"]}')
        for name in ("noisy", "wards"):
            call = f"SELECT sanitize.refresh('public.{name}')"
            curator.execute("SELECT cron.schedule(%s, '@reboot', %s)", [name, call])


def run_jobs(server, number):
    """Starts the server anew, and with it the jobs; returns when both have run for that time."""
    server.stop("fast")
    server.start()
    with connect(server) as admin:
        for name in ("noisy", "wards"):
            wait_for(admin, ENDED, [number, name])


def seen(server):
    """What the curator reads: the noisy count, the number of wards' rows, and how the jobs ended."""
    with connect(server, "curator") as curator:
        noisy = curator.execute("SELECT value FROM noisy").fetchone()[0]
        wards = curator.execute("SELECT count(*) FROM wards").fetchone()[0]
        jobs = [curator.execute(RUNS, [name]).fetchall() for name in ("noisy", "wards")]
        return noisy, wards, *jobs


def statuses(runs):
    return [status for status, _ in runs]


def test_a_job_refreshes_until_the_budget_is_spent(server):
    schedule_refreshes(server)
    first, wards, *_ = seen(server)
    assert wards == 1000
    with connect(server) as admin:
        admin.execute("INSERT INTO visits SELECT i, 1 FROM generate_series(2001, 2500) AS i")
    run_jobs(server, 1)
    second, wards, noisy_runs, wards_runs = seen(server)
    assert (second - first > 300, wards) == (True, 1500)
    assert statuses(noisy_runs) == statuses(wards_runs) == ["succeeded"]

    # The second refresh is refused, and so is the next: the release stays, and the job beside it runs.
    with connect(server) as admin:
        admin.execute("INSERT INTO visits SELECT i, 1 FROM generate_series(3001, 3500) AS i")
    for number in (2, 3):
        run_jobs(server, number)
        noisy, wards, noisy_runs, wards_runs = seen(server)
        assert (noisy, wards) == (second, 2000)
        assert statuses(wards_runs) == ["succeeded"] * number
        assert statuses(noisy_runs) == ["succeeded"] + ["failed"] * (number - 1)
        assert "budget" in noisy_runs[-1][1], noisy_runs

    # With a larger budget the same job goes on.
    with connect(server) as admin:
        admin.execute("SELECT sanitize.protect('visits', 'patient', 3, max_rows_per_unit => 1)")
        spent = admin.execute("SELECT epsilon_spent FROM sanitize.budget WHERE grantee IS NULL")
        assert spent.fetchone() == (2,)
    run_jobs(server, 4)
    noisy, _, noisy_runs, _ = seen(server)
    assert noisy - second > 300
    assert statuses(noisy_runs)[-1] == "succeeded"
