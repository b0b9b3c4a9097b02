"""Fixtures of the client tests.

The server is the one that PGHOST, PGPORT and PGUSER name (scripts/clients sets them); the tests
make databases and roles of their own there and drop them again.
"""

import random

import pytest
from helpers import SOAK, Database, fresh_name
from shards import Cluster


def pytest_configure(config):
    config.addinivalue_line("markers", "soak: depends on the clock, and runs in `make soak` only")


def pytest_collection_modifyitems(config, items):
    if not SOAK:
        config.hook.pytest_deselected(
            items=[item for item in items if item.get_closest_marker("soak")]
        )
        items[:] = [item for item in items if not item.get_closest_marker("soak")]


@pytest.fixture(autouse=True)
def same_draws(request):
    """What a test draws is the same with every run."""
    random.seed(request.node.nodeid)


@pytest.fixture(scope="module")
def database(request):
    """A fresh database with the extension for the tests of one file."""
    made = Database(fresh_name(request.module.__name__))
    yield made
    made.drop()


@pytest.fixture(scope="session")
def cluster():
    """A coordinator and three shards."""
    made = Cluster()
    yield made
    made.drop()


@pytest.fixture
def coordinator(sharded):
    """A superuser's connection to the coordinator; what is sharded, the modules say."""
    with sharded.connect() as made:
        yield made


@pytest.fixture
def connection(database):
    """A superuser's connection in autocommit mode."""
    with database.connect() as made:
        yield made


@pytest.fixture
def regular_user(database):
    """The function that makes an unprivileged role: regular_user("SELECT ON patients")."""
    return database.regular_user
