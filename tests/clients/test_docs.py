"""The documentation's examples: every ```sql block runs, and shows the ```text block after it."""

import re
import subprocess

import pytest
from helpers import ROOT, Database, fresh_name

BLOCK = re.compile(r"^```sql\n(.*?)^```\n(?:```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)

PAGES = [page for page in sorted((ROOT / "docs").rglob("*.md")) if BLOCK.search(page.read_text())]


def lines(text):
    """The lines of psql's output without trailing blanks, which editors remove."""
    return [line.rstrip() for line in text.strip("\n").splitlines()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_run_as_shown(page):
    blocks = BLOCK.findall(page.read_text())
    database = Database(fresh_name("docs"))
    try:
        for block, expected in blocks:
            command = ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", database.name]
            ran = subprocess.run(command, input=block, capture_output=True, text=True)
            assert ran.returncode == 0, f"{block}\n{ran.stderr}"
            if expected:
                assert lines(ran.stdout) == lines(expected), block
    finally:
        database.drop()
