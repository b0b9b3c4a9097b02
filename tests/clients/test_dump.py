"""Dumps: everything that the extension keeps comes back, in another database, and goes on working; and
what is left when the extension is dropped."""

import psycopg
import pytest
from operations import (
    assert_same_catalog,
    catalog,
    contents,
    dumped,
    fill,
    fill_more,
    restored,
    run,
)

RELEASES = """SELECT target::text, source::text, method, options, guarantee, rows, suppressed_share,
                     published_at, published_by, epsilon_total, delta_total FROM sanitize.releases ORDER BY 1"""
SHOWN = """SELECT (SELECT array_agg(r::text ORDER BY r::text) FROM people_general AS r),
                  obj_description('people_general'::regclass), (SELECT count(*) FROM homes_shown)"""


@pytest.fixture(scope="module")
def filled(database):
    """The database with everything in it."""
    analyst = database.regular_user()
    with database.connect() as connection:
        fill(connection, analyst)
        fill_more(connection)
    return database


@pytest.fixture(scope="module")
def copy(filled):
    """A new database, made of a dump of it."""
    made = restored(dumped(filled))
    yield made
    made.drop()


def test_every_row_that_is_kept_comes_back(filled, copy, connection):
    before = contents(connection)
    # Nothing is compared that is empty.
    assert all(before.values()), before
    assert set(before) >= {
        f"sanitize.{name}"
        for name in "protection population member allowance ledger_entry ledger_home answer declared_domain declared_bounds "
        "declared_hierarchy published release_entry sharded_release".split()
    }
    with copy.admin() as admin:
        assert contents(admin) == before
        assert_same_catalog(catalog(admin), catalog(connection))


def test_views_show_the_same(filled, copy, connection):
    with copy.admin() as admin:
        for query in (
            RELEASES,
            SHOWN,
            "SELECT source::text, grantee::text, epsilon, epsilon_spent, delta, rho_spent FROM sanitize.budget ORDER BY 1, 2",
            'SELECT "when", who, what, epsilon, delta, rho, source::text FROM sanitize.ledger ORDER BY id',
            "SELECT source::text, column_name, levels, height FROM sanitize.hierarchies ORDER BY 2",
            "SELECT column_name, domain_values, origin FROM sanitize.domains WHERE source = 'people'::regclass ORDER BY 1",
            "SELECT * FROM sanitize.hierarchy('people', 'home') ORDER BY 1, 2",
            "SELECT source::text, question, value FROM sanitize.answers ORDER BY 1, 2, 3",
        ):
            rows = connection.execute(query).fetchall()
            assert rows and admin.execute(query).fetchall() == rows, query


def test_a_release_is_refreshed_after_the_restore(filled, copy):
    with copy.admin() as admin:
        label = admin.execute("SELECT sanitize.refresh('people_general')").fetchone()[0]
        # Two k-anonymous releases went before, one of them retired.
        assert any(line.startswith("composition: 2 earlier") for line in label["not_covered"])
        assert (
            admin.execute("SELECT obj_description('people_general'::regclass)")
            .fetchone()[0]
            .startswith("For the town.")
        )
        # A private one waits until somebody says that the ledger is whole; the old rows stay.
        counts = "SELECT array_agg(r::text ORDER BY r::text) FROM people_counts AS r"
        before = admin.execute(counts).fetchone()
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState) as error:
            admin.execute("SELECT sanitize.refresh('people_counts')")
        assert "confirm_ledger" in error.value.diag.message_hint
        assert admin.execute(counts).fetchone() == before
        admin.execute("SELECT sanitize.confirm_ledger()")
        admin.execute("SELECT sanitize.refresh('people_counts')")
        last = "SELECT what, epsilon FROM sanitize.ledger ORDER BY id DESC LIMIT 1"
        assert admin.execute(last).fetchone()[1] == 0.25


def test_a_dump_of_one_release_carries_the_table_alone(filled):
    """Without the extension a release is a table, and its comment still says what it promises."""
    made = restored(dumped(filled, "--table=people_general"))
    try:
        with made.admin() as admin:
            assert admin.execute("SELECT count(*) FROM people_general").fetchone() == (2000,)
            comment = admin.execute("SELECT obj_description('people_general'::regclass)")
            assert "is k-anonymous" in comment.fetchone()[0]
    finally:
        made.drop()


def test_dropping_the_extension_leaves_tables_as_they_are(filled):
    """No CASCADE is needed as long as nothing of the user's calls a function of ours."""
    made = restored(dumped(filled))
    try:
        with made.admin() as admin:
            before = admin.execute(SHOWN).fetchone()
            with pytest.raises(psycopg.errors.DependentObjectsStillExist) as error:
                admin.execute("DROP EXTENSION pg_sanitize")
            # What does: a view on a function, a column of our type.
            named = error.value.diag.message_detail
            assert "shared" in named and "bags" in named
            assert "people_general" not in named and "people_counts" not in named
            run(admin, "DROP VIEW shared;\nDROP TABLE bags;\nDROP EXTENSION pg_sanitize")
            assert admin.execute(SHOWN).fetchone() == before
            assert admin.execute("SELECT count(*) FROM people_counts").fetchone() == (2,)
            run(
                admin,
                "INSERT INTO people_general (home) VALUES ('x');\nDROP TABLE people_counts;\nDROP SCHEMA sanitize",
            )
            left = "SELECT count(*) FROM pg_proc WHERE probin LIKE '%pg_sanitize'"
            assert admin.execute(left).fetchone() == (0,)
    finally:
        made.drop()
