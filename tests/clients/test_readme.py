"""The README's sessions show what psql shows on the demo's table, and its tasks run there."""

import re
import subprocess

import pytest
from helpers import ROOT, Database, fresh_name

TASK = re.compile(r"^```sql\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SESSION = re.compile(r"^```\n(=# .*?)^```$", re.MULTILINE | re.DOTALL)


def sessions():
    """(statement, output) of each session in the README: prompted lines, then what came."""
    for text in SESSION.findall((ROOT / "README.md").read_text()):
        lines = text.splitlines()
        prompted = [line[3:] for line in lines if re.match("[=-]# ", line)]
        yield "\n".join(prompted), lines[len(prompted) :]


def psql(database, *arguments, statements=None):
    command = ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-P", "footer=off", "-d", database]
    ran = subprocess.run([*command, *arguments], capture_output=True, text=True, input=statements)
    assert ran.returncode == 0, ran.stderr
    return [line.rstrip() for line in ran.stdout.strip("\n").splitlines()]


@pytest.fixture(scope="module")
def demo():
    database = Database(fresh_name("readme"), extension=False)
    psql(database.name, "-f", str(ROOT / "demo" / "01_data.sql"))
    yield database.name
    database.drop()


def test_there_are_sessions():
    assert len(list(sessions())) >= 3


@pytest.mark.parametrize("statement, output", list(sessions()))
def test_session_shows_what_it_says(demo, statement, output):
    assert psql(demo, "-c", statement) == output


def test_tasks_run(demo):
    for statements in TASK.findall((ROOT / "README.md").read_text()):
        if "CREATE EXTENSION" not in statements:
            psql(demo, statements=statements)
