"""Fixtures of the client tests.

The server is the one that PGHOST, PGPORT and PGUSER name (scripts/clients sets them); the tests
make databases and roles of their own there and drop them again.
"""

import random

import pytest
from helpers import SOAK, Database, fresh_name
from shards import Cluster

# Files whose tests ask what the extension computes or says, which is the same on every server. The others depend on what
# the server does too: its catalogs, locks, plans, processes and rights.
SAME_ON_EVERY_SERVER = """
    answer_keys bounding_law cells channels_long classify code_trees compare docs entropy generalisation
    hierarchy hints krimp labels ledger_sums memory mining officer operators package private_itemsets
    progress_lines public randomize readme releases report risk security_page sequences signatures synthesize
    transactions unknown_values upgrade
""".split()


def pytest_addoption(parser):
    parser.addoption(
        "--second-server",
        action="store_true",
        help="leave out what is the same on every server",
    )


def pytest_configure(config):
    config.addinivalue_line("markers", "soak: depends on the clock, and runs in `make soak` only")


def pytest_collection_modifyitems(config, items):
    second = config.getoption("--second-server")

    def is_left_out(item):
        return (not SOAK and item.get_closest_marker("soak")) or (
            second and item.path.stem.removeprefix("test_") in SAME_ON_EVERY_SERVER
        )

    config.hook.pytest_deselected(items=[item for item in items if is_left_out(item)])
    items[:] = [item for item in items if not is_left_out(item)]


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
