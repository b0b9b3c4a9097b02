"""SECURITY.md: each promise names the tests that would fail if it were broken, and these exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "SECURITY.md").read_text()
PROMISES = re.search(r"## What is promised\n(.*?)\n## ", PAGE, re.S)[1]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PROMISES.splitlines()
    if line.startswith("|") and not line.startswith(("|---", "| promise"))
]


# Promises that stand among what is not promised.
FURTHER = re.findall(r"[Tt]ests:\s+((?:`[^`]+`,?\s*)+)", PAGE)


def exists(name):
    """`test_x` is a file of client tests, `test_x::test_y` one of its tests, `case x` a SQL case, and anything with a
    slash a file of a crate's tests."""
    file, _, test = name.partition("::")
    if name.startswith("case "):
        return (ROOT / "tests/pg_regress/sql" / f"{name[5:]}.sql").exists()
    if "/" in name:
        return (ROOT / name).exists()
    path = ROOT / "tests/clients" / f"{file}.py"
    return path.exists() and (not test or f"\ndef {test}(" in path.read_text())


def test_there_are_promises():
    assert len(ROWS) > 20


@pytest.mark.parametrize("row", ROWS, ids=[row[0][:40] for row in ROWS])
def test_a_promise_names_tests_that_exist(row):
    promise, tests = row
    names = re.findall(r"`([^`]+)`", tests)
    assert promise and names, f"no test is named: {row}"
    assert [name for name in names if not exists(name)] == []


def test_further_promises_name_tests_that_exist():
    names = re.findall(r"`([^`]+)`", " ".join(FURTHER))
    assert len(FURTHER) >= 4
    assert [name for name in names if not exists(name)] == []
