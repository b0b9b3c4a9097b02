"""The script that docs/jobs.md gives to cron and systemd."""

import fcntl
import os
import re
import subprocess

import psycopg
import pytest
from helpers import ROOT, fresh_name
from publishing import make_visits, publish, record, refresh

SCRIPT = re.search(r"^```sh\n(.*?)^```$", (ROOT / "docs" / "jobs.md").read_text(), re.M | re.S)[1]


@pytest.fixture
def job(database, connection, tmp_path):
    """The function that runs the script as a plain role, and a release of that role."""
    file = tmp_path / "refresh-releases"
    file.write_text(SCRIPT)
    file.chmod(0o755)
    source, target = make_visits(connection), f'"{fresh_name("Release of wards")}"'
    user = database.regular_user(f"SELECT ON {source}", "CREATE ON SCHEMA public")
    with database.connect(user) as own:
        publish(own, target, source)

    def run(*releases):
        environment = {"HOME": str(tmp_path), "PGDATABASE": database.name, "PGUSER": user}
        return subprocess.run(
            [file, *releases], env={**os.environ, **environment}, capture_output=True, text=True
        )

    return run, target


def test_each_release_is_refreshed_by_itself(connection, job):
    run, target = job
    done = run(target)
    assert (done.returncode, done.stdout) == (0, "")
    assert "ERROR" not in done.stderr and "composition" in done.stderr
    assert record(connection, target)[0] == 20000
    entries = "SELECT count(*) FROM sanitize.release_entry"
    before = connection.execute(entries).fetchone()[0]
    failed = run("nowhere", "visits'); DROP TABLE x; --", target)
    assert (failed.returncode, failed.stdout) == (1, "")
    assert failed.stderr.count("ERROR") == 2 and '"nowhere" does not exist' in failed.stderr
    assert connection.execute(entries).fetchone()[0] == before + 1


def test_runs_do_not_overlap(job, tmp_path):
    run, target = job
    with open(tmp_path / ".refresh-releases.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = run(target)
    assert waiting.returncode == 75 and "earlier run" in waiting.stderr
    assert run(target).returncode == 0


def test_a_spent_budget_has_its_own_sqlstate(connection):
    """So that a job can tell it from a fault, whichever function has called the one that charges."""
    source, target = make_visits(connection), fresh_name("spent")
    connection.execute(f"ALTER TABLE {source} ADD COLUMN id int GENERATED ALWAYS AS IDENTITY")
    connection.execute(f"SELECT sanitize.protect('{source}', 'id', 1, max_rows_per_unit => 1)")
    options = '{"measures": {"n": "count"}, "epsilon": 1}'
    publish(connection, target, source, "dp_aggregate", options)
    before = connection.execute(f"SELECT * FROM {target}").fetchall()
    for call in (
        lambda: refresh(connection, target),
        lambda: publish(connection, fresh_name("never"), source, "dp_aggregate", options),
    ):
        with pytest.raises(psycopg.Error) as error:
            call()
        assert error.value.sqlstate == "PS001"
        assert error.value.diag.message_detail.startswith("Left: epsilon 0")
        assert "dp_cost" in error.value.diag.message_hint
    # Another error afterwards is what it is.
    with pytest.raises(psycopg.errors.UndefinedTable):
        refresh(connection, "nowhere")
    assert connection.execute(f"SELECT * FROM {target}").fetchall() == before
    caught = connection.execute(f"""
        DO $$ BEGIN PERFORM sanitize.refresh('{target}');
        EXCEPTION WHEN SQLSTATE 'PS001' THEN NULL; END $$""")
    assert caught.statusmessage == "DO"
    assert connection.execute(f"SELECT * FROM {target}").fetchall() == before
