"""Fixtures of the tests that look at releases through BI tools.

scripts/bi runs them. The server that PGHOST and PGPORT name tells which version is tried.
"""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "clients"))

from clinic import Clinic  # noqa: E402


@pytest.fixture(scope="session")
def clinic():
    made = Clinic()
    yield made
    made.server.drop()
