"""Populations: charges of relations about the same people add up in one account, whoever asks how, at the same time, and
whatever is rolled back, dropped, replaced, dumped or updated meanwhile."""

import os
import random
import signal
import threading
import time
from decimal import Decimal

import psycopg
import pytest
from helpers import Database, fresh_name, wait_until
from ledger import charge
from operations import dumped, restored


def run(connection, statements):
    for statement in statements.split(";\n"):
        connection.execute(statement)


def account(connection, name):
    """(epsilon, what is spent of it, the names of the relations) of a population."""
    return connection.execute(
        """SELECT epsilon, epsilon_spent, relations::text[] FROM sanitize.populations WHERE name = %s""",
        [name],
    ).fetchone()


def charged(connection, *relations):
    """What the ledger has of these relations, and of all that were dropped."""
    return connection.execute(
        """SELECT coalesce(sum(epsilon), 0) FROM sanitize.ledger_entry
            WHERE source = ANY (%s::regclass[]) OR sanitize_internal.row_type(source) IS NULL""",
        [list(relations)],
    ).fetchone()[0]


def refused(connection, statement, match, state=None):
    with pytest.raises(psycopg.Error, match=match) as error:
        connection.execute(statement)
    assert state is None or error.value.sqlstate == state
    return error.value.diag


@pytest.fixture
def people(connection):
    """A population of two tables and a view, with a budget of 1; the stem of their names."""
    stem = fresh_name("p")
    run(
        connection,
        f"""
        CREATE TABLE {stem}_patients AS SELECT i AS id, i % 5 AS x FROM generate_series(1, 300) AS i;
        CREATE TABLE {stem}_stays AS SELECT i % 300 + 1 AS patient, i % 7 AS ward FROM generate_series(1, 600) AS i;
        CREATE VIEW {stem}_view AS SELECT patient, ward FROM {stem}_stays;
        SELECT sanitize.population('{stem}', 1);
        SELECT sanitize.protect('{stem}_patients', 'id', max_rows_per_unit => 1, population => '{stem}');
        SELECT sanitize.protect('{stem}_stays', 'patient', max_rows_per_unit => 2, population => '{stem}');
        SELECT sanitize.protect('{stem}_view', 'patient', max_rows_per_unit => 2)""",
    )
    return stem


def relations_of(stem):
    return [f"{stem}_patients", f"{stem}_stays", f"{stem}_view"]


# Concurrent clients.


def test_concurrent_charges_of_all_relations_never_pass_the_budget(database, connection, people):
    """Clients spend at random from every relation, with shares and without, until nothing is left."""
    analyst = database.regular_user()
    for relation in relations_of(people):
        connection.execute(f"SELECT sanitize.allow('{relation}', '{analyst}', 0.5)")
    made, failures = [], []

    def spend(user, seed):
        chance = random.Random(seed)
        with database.connect(user) as client:
            left = 12
            while left:
                amount = chance.choice([Decimal("0.004"), Decimal("0.02"), Decimal("0.05")])
                try:
                    charge(client, chance.choice(relations_of(people)), amount)
                    made.append((user, amount))
                except psycopg.Error as error:
                    if error.sqlstate != "PS001":
                        failures.append(error)
                    left -= 1

    threads = [
        threading.Thread(target=spend, args=[user, seed])
        for seed, user in enumerate([None, None, None, analyst, analyst, analyst])
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    total = sum(amount for _, amount in made)
    assert total == charged(connection, *relations_of(people)) <= 1
    assert float(total) == pytest.approx(account(connection, people)[1]) and total > Decimal("0.9")
    theirs = sum(amount for user, amount in made if user)
    assert theirs <= Decimal("0.5")
    shares = connection.execute(
        "SELECT DISTINCT epsilon_spent FROM sanitize.allowance WHERE source = ANY (%s::regclass[])",
        [relations_of(people)],
    ).fetchall()
    assert shares == [(theirs,)]


def test_two_charges_that_fit_alone_do_not_pass_both(database, connection, people):
    """Of two questions at the same time, about two relations, that cost more together than there is, one is answered."""
    for _ in range(8):
        outcomes = []
        barrier = threading.Barrier(2)

        def spend(relation, outcomes=outcomes, barrier=barrier):
            with database.connect() as client:
                barrier.wait()
                try:
                    charge(client, relation, 0.6)
                    outcomes.append(None)
                except psycopg.Error as error:
                    outcomes.append(error.sqlstate)

        threads = [threading.Thread(target=spend, args=[r]) for r in relations_of(people)[:2]]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(outcomes, key=str) == [None, "PS001"]
        connection.execute("DELETE FROM sanitize.ledger_entry")
        connection.execute(
            "UPDATE sanitize.population SET epsilon_spent = 0, rest_epsilon = 0, rho_spent = 0"
        )


def test_charges_while_relations_join_and_leave(database, connection, people):
    """Owners protect, unprotect and rename, in orders that wait for each other, while others ask: nothing is lost."""
    stop, made, failures = threading.Event(), [], []
    connection.execute(f"SELECT sanitize.population('{people}', 1000)")

    def spend(seed):
        chance = random.Random(seed)
        with database.connect() as client:
            while not stop.is_set():
                try:
                    charge(client, chance.choice(relations_of(people)), Decimal("0.001"))
                    made.append(1)
                except psycopg.errors.ObjectNotInPrerequisiteState:
                    pass  # it is not protected at the moment
                except psycopg.Error as error:
                    failures.append(error)

    def own(seed):
        chance = random.Random(seed)
        with database.connect() as owner:
            for _ in range(40):
                relation = chance.choice(relations_of(people)[1:])
                name = f", population => '{people}'" if relation.endswith("stays") else ""
                try:
                    with owner.transaction():
                        if chance.random() < 0.5:
                            owner.execute(f"SELECT sanitize.unprotect('{relation}')")
                        owner.execute(
                            f"SELECT sanitize.protect('{relation}', 'patient', max_rows_per_unit => 2{name})"
                        )
                        if chance.random() < 0.3:
                            raise psycopg.Rollback
                except (
                    psycopg.errors.ObjectNotInPrerequisiteState,
                    psycopg.errors.DeadlockDetected,
                ):
                    pass
                except psycopg.Error as error:
                    failures.append(error)

    spenders = [threading.Thread(target=spend, args=[seed]) for seed in range(3)]
    owners = [threading.Thread(target=own, args=[seed]) for seed in range(2)]
    for thread in spenders + owners:
        thread.start()
    for thread in owners:
        thread.join()
    stop.set()
    for thread in spenders:
        thread.join()
    assert not failures, failures
    assert made
    (spent,) = connection.execute(
        "SELECT epsilon_spent FROM sanitize.population WHERE name = %s", [people]
    ).fetchone()
    assert spent == len(made) * Decimal("0.001") == charged(connection, *relations_of(people))


# What is rolled back, killed, or done as somebody else.


def test_a_rollback_takes_back_no_charge_of_any_relation(database, connection, people):
    with database.connect(autocommit=False) as client:
        charge(client, f"{people}_patients", 0.25)
        client.rollback()
        charge(client, f"{people}_view", 0.25)
        client.rollback()
    assert account(connection, people)[1] == 0.5


def test_a_killed_client_is_charged(database, connection, people):
    with database.connect() as client:
        pid = client.info.backend_pid
        charge(client, f"{people}_stays", 0.25)
        os.kill(pid, signal.SIGTERM)
    assert account(connection, people)[1] == 0.25


def test_a_killed_ledger_counts_each_charge_at_most_once(database, connection, people):
    """The worker is killed while it decides: the sums of the account and the entries stay the same."""
    stop = threading.Event()

    def spend():
        while not stop.is_set():
            try:
                with database.connect() as client:
                    charge(client, random.choice(relations_of(people)), 0.001)
            except psycopg.Error:
                time.sleep(0.05)

    threads = [threading.Thread(target=spend) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        time.sleep(0.3)
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type LIKE 'pg_sanitize ledger%'"
        )
    stop.set()
    for thread in threads:
        thread.join()
    spent = connection.execute(
        "SELECT epsilon_spent FROM sanitize.population WHERE name = %s", [people]
    ).fetchone()
    assert spent == (charged(connection, *relations_of(people)),)


def test_changing_roles_gives_no_second_share(database, connection, people):
    one, group = database.regular_user(), database.regular_user()
    connection.execute(f"GRANT {group} TO {one}")
    connection.execute(f"SELECT sanitize.allow('{people}_patients', '{one}', 0.2)")
    connection.execute(f"SELECT sanitize.allow('{people}_stays', '{group}', 0.4)")
    with database.connect(one) as client:
        charge(client, f"{people}_patients", 0.15)
        client.execute(f"SET ROLE {group}")
        # As the group it may not ask about the patients; about stays it may, and both shares are charged.
        refused(client, f"SELECT sanitize.charge('{people}_patients', 'x', 0.01)", "may not ask")
        refused(client, f"SELECT sanitize.charge('{people}_stays', 'x', 0.1)", "exhausted", "PS001")
        charge(client, f"{people}_stays", 0.05)


def test_a_protection_in_an_open_transaction_stops_nobody_but_its_own_charges(
    database, connection, people
):
    connection.execute(f"CREATE TABLE {people}_late AS SELECT 1 AS id")
    with database.connect(autocommit=False) as owner:
        owner.execute(
            f"SELECT sanitize.protect('{people}_late', 'id', max_rows_per_unit => 1, population => '{people}')"
        )
        timer = threading.Timer(0.5, owner.commit)
        timer.start()
        begin = time.monotonic()
        charge(connection, f"{people}_patients", 0.1)
        # What is spent is being taken over: a charge waits for that.
        assert time.monotonic() - begin > 0.2
        timer.join()
    charge(connection, f"{people}_late", 0.1)
    assert account(connection, people)[1] == pytest.approx(0.2)


# Who may do it.


def test_a_stranger_learns_nothing_and_holds_nobody_up(database, connection, people):
    """Who owns no population cannot change, drop, join or lock it, and a copy of one's own does not stop the owner."""
    stranger = database.regular_user()
    connection.execute(f"GRANT CREATE ON SCHEMA public TO {stranger}")
    connection.execute(f"GRANT SELECT ON {people}_stays TO {stranger}")
    with database.connect(stranger, autocommit=False) as their:
        their.execute(f"CREATE TABLE {people}_theirs AS SELECT 1 AS id")
        their.execute(
            f"CREATE MATERIALIZED VIEW {people}_copy AS SELECT patient FROM {people}_stays"
        )
        their.execute(f"CREATE VIEW {people}_seen AS SELECT patient FROM {people}_stays")
        their.commit()
        for statement in (
            f"SELECT sanitize.population('{people}', 1000)",
            f"SELECT sanitize.drop_population('{people}')",
            f"SELECT sanitize.protect('{people}_theirs', 'id', max_rows_per_unit => 1, population => '{people}')",
        ):
            refused(their, statement, "must be owner of population", "42501")
            their.rollback()
        for statement in (
            f"SELECT sanitize.protect('{people}_copy', 'patient', max_rows_per_unit => 1)",
            f"SELECT sanitize.protect('{people}_copy', 'patient', 1, max_rows_per_unit => 1)",
            f"SELECT sanitize.protect('{people}_seen', 'patient', 1, max_rows_per_unit => 1)",
        ):
            refused(their, statement, "budget", "22023")
            their.rollback()
        assert their.execute("SELECT * FROM sanitize.populations").fetchall() == []
        # In a transaction that has been refused and goes on, nothing is locked.
        their.execute("SAVEPOINT s")
        refused(their, f"SELECT sanitize.population('{people}', 1000)", "must be owner")
        their.execute("ROLLBACK TO s")
        charge(connection, f"{people}_stays", 0.1)


def test_a_strangers_copy_that_was_there_first_is_the_one_that_is_refused(database, connection):
    """A role protects a materialized view of a table that nobody protected; then its owner does."""
    stem, stranger = fresh_name("first"), database.regular_user()
    connection.execute(f"CREATE TABLE {stem} AS SELECT i AS id FROM generate_series(1, 9) AS i")
    connection.execute(
        f"GRANT CREATE ON SCHEMA public TO {stranger}; GRANT SELECT ON {stem} TO {stranger}"
    )
    with database.connect(stranger) as their:
        their.execute(f"CREATE MATERIALIZED VIEW {stem}_copy AS SELECT id FROM {stem}")
        their.execute(f"SELECT sanitize.protect('{stem}_copy', 'id', 1, max_rows_per_unit => 1)")
        charge(their, f"{stem}_copy", 0.1)
        connection.execute(f"SELECT sanitize.protect('{stem}', 'id', 1, max_rows_per_unit => 1)")
        charge(connection, stem, 0.1)
        refused(their, f"SELECT sanitize.charge('{stem}_copy', 'x', 0.1)", "two budgets", "55000")


# What happens to relations.


ATTACKS = {
    "unprotect and protect anew": """
        SELECT sanitize.unprotect('{0}_stays');
        SELECT sanitize.protect('{0}_stays', 'patient', max_rows_per_unit => 2, population => '{0}')""",
    "a view made again": """
        DROP VIEW {0}_view;
        CREATE VIEW {0}_view AS SELECT patient, ward FROM {0}_stays;
        SELECT sanitize.protect('{0}_view', 'patient', max_rows_per_unit => 2)""",
    "a table made again": """
        DROP TABLE {0}_patients;
        CREATE TABLE {0}_patients AS SELECT i AS id, i % 5 AS x FROM generate_series(1, 300) AS i;
        SELECT sanitize.protect('{0}_patients', 'id', max_rows_per_unit => 1, population => '{0}')""",
    "the population made again": """
        SELECT sanitize.unprotect('{0}_stays');
        SELECT sanitize.unprotect('{0}_view');
        SELECT sanitize.unprotect('{0}_patients');
        SELECT sanitize.drop_population('{0}');
        SELECT sanitize.population('{0}', 1);
        SELECT sanitize.protect('{0}_patients', 'id', max_rows_per_unit => 1, population => '{0}')""",
    "everything made again": """
        DROP TABLE {0}_patients, {0}_stays CASCADE;
        SELECT sanitize.drop_population('{0}');
        SELECT sanitize.population('{0}', 1);
        CREATE TABLE {0}_patients AS SELECT i AS id FROM generate_series(1, 300) AS i;
        SELECT sanitize.protect('{0}_patients', 'id', max_rows_per_unit => 1, population => '{0}')""",
    "another name": """
        SELECT sanitize.unprotect('{0}_stays');
        SELECT sanitize.unprotect('{0}_view');
        SELECT sanitize.unprotect('{0}_patients');
        SELECT sanitize.drop_population('{0}');
        SELECT sanitize.population('{0}_b', 1);
        SELECT sanitize.protect('{0}_patients', 'id', max_rows_per_unit => 1, population => '{0}_b')""",
    "no name": """
        SELECT sanitize.unprotect('{0}_stays');
        SELECT sanitize.unprotect('{0}_view');
        SELECT sanitize.unprotect('{0}_patients');
        SELECT sanitize.drop_population('{0}');
        SELECT sanitize.protect('{0}_stays', 'patient', 1, 0, max_rows_per_unit => 1)""",
    "other limits": "SELECT sanitize.population('{0}', 1, 0, min_epsilon => 0)",
    "windows": """
        SELECT sanitize.population('{0}', 1, 0, '1 day');
        SELECT sanitize.population('{0}', 1, 0, '2 days');
        SELECT sanitize.population('{0}', 1)""",
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_gives_spent_budget_back(connection, people, attack):
    for relation in relations_of(people):
        charge(connection, relation, 0.25)
    run(connection, ATTACKS[attack].format(people))
    (spent, last) = connection.execute(
        """SELECT epsilon_spent, relations[1]::text FROM sanitize.populations WHERE epsilon_spent > 0
            AND relations::text[] && %s""",
        [relations_of(people)],
    ).fetchone()
    assert spent == pytest.approx(0.75)
    refused(connection, f"SELECT sanitize.charge('{last}', 'x', 0.3)", "exhausted", "PS001")


def test_the_ways_around_a_view_that_are_refused_at_the_next_charge(database, connection, people):
    """A view over another table, replaced; a child made of a table; a view of a view; security_invoker."""
    owner = people
    run(
        connection,
        f"""
        CREATE TABLE {owner}_other AS SELECT 1 AS patient, 1 AS ward;
        CREATE VIEW {owner}_inner AS SELECT * FROM {owner}_other;
        CREATE VIEW {owner}_outer AS SELECT patient FROM {owner}_inner;
        SELECT sanitize.protect('{owner}_outer', 'patient', 1, max_rows_per_unit => 1)""",
    )
    charge(connection, f"{owner}_outer", 0.1)
    run(
        connection,
        f"CREATE OR REPLACE VIEW {owner}_inner AS SELECT * FROM {owner}_stays",
    )
    diag = refused(
        connection, f"SELECT sanitize.charge('{owner}_outer', 'x', 0.1)", "two budgets", "55000"
    )
    assert f"{owner}_outer reads" in diag.message_detail
    # Where it is asked by a question, nothing is charged either.
    before = charged(connection, f"{owner}_outer")
    refused(
        connection,
        f"""SELECT * FROM sanitize.dp_aggregate('{owner}_outer', '{{"n": "count"}}', 0.1)""",
        "two budgets",
    )
    assert charged(connection, f"{owner}_outer") == before
    connection.execute(f"CREATE OR REPLACE VIEW {owner}_inner AS SELECT * FROM {owner}_other")
    charge(connection, f"{owner}_outer", 0.1)
    connection.execute(f"ALTER TABLE {owner}_other INHERIT {owner}_stays")
    refused(
        connection, f"SELECT sanitize.charge('{owner}_outer', 'x', 0.1)", "two budgets", "55000"
    )
    refused(
        connection, f"SELECT sanitize.charge('{owner}_stays', 'x', 0.1)", "two budgets", "55000"
    )
    connection.execute(
        f"SELECT sanitize.protect('{owner}_outer', 'patient', max_rows_per_unit => 1, population => '{owner}')"
    )
    charge(connection, f"{owner}_outer", 0.1)
    assert account(connection, owner)[1] == pytest.approx(0.3)
    if connection.info.server_version >= 150000:
        connection.execute(f"ALTER VIEW {owner}_view SET (security_invoker = true)")
        charge(connection, f"{owner}_view", 0.1)
        assert account(connection, owner)[1] == pytest.approx(0.4)


def test_a_release_of_a_protected_table_shares_its_budget(connection, people):
    """A k-anonymous copy shows the same people: its record says so."""
    run(
        connection,
        f"""SELECT sanitize.publish('{people}_shown', '{people}_stays', 'k_anonymize', '{{"k": 3, "keep": ["patient"]}}')""",
    )
    refused(
        connection,
        f"SELECT sanitize.protect('{people}_shown', 'patient', 1, max_rows_per_unit => 1)",
        f"has the budget of population {people}",
    )
    connection.execute(
        f"SELECT sanitize.protect('{people}_shown', 'patient', max_rows_per_unit => 1)"
    )
    charge(connection, f"{people}_shown", 0.5)
    assert account(connection, people)[1] == 0.5


def test_a_foreign_table_of_the_same_rows_has_no_second_budget(database, connection, people):
    """Neither a second foreign table of it nor a view: it is another server that knows what rows there are."""
    stem = f"{people}_far"
    run(
        connection,
        f"""
        CREATE EXTENSION IF NOT EXISTS postgres_fdw;
        CREATE SERVER {stem} FOREIGN DATA WRAPPER postgres_fdw OPTIONS (dbname 'nowhere');
        CREATE FOREIGN TABLE {stem}_1 (id int) SERVER {stem} OPTIONS (table_name 'there');
        CREATE FOREIGN TABLE {stem}_2 (id int) SERVER {stem} OPTIONS (table_name 'there');
        CREATE VIEW {stem}_view AS SELECT id FROM {stem}_1;
        SELECT sanitize.protect('{stem}_1', 'id', max_rows_per_unit => 1, population => '{people}')""",
    )
    for name in (f"{stem}_2", f"{stem}_view"):
        for how in ("1, ", "", f"population => '{people}', "):
            refused(
                connection,
                f"SELECT sanitize.protect('{name}', 'id', {how}max_rows_per_unit => 1)",
                "no budget is kept",
                "55000",
            )


# Windows, joins, epsilon_total, answers.


def test_windows_renew_for_all_relations_at_once(connection, people):
    connection.execute(f"SELECT sanitize.population('{people}', 1, 0, '2 s')")
    charge(connection, f"{people}_patients", 0.75)
    refused(connection, f"SELECT sanitize.charge('{people}_view', 'x', 0.5)", "exhausted", "PS001")
    wait_until(lambda: account(connection, people)[1] == 0, 10, "the window does not end")
    charge(connection, f"{people}_view", 0.5)
    assert account(connection, people)[1] == 0.5


def test_who_joins_brings_along_what_was_spent(database, connection, people):
    """A table with a budget and shares of its own: both add up, and the smaller share counts."""
    analyst = database.regular_user()
    run(
        connection,
        f"""
        CREATE TABLE {people}_own AS SELECT 1 AS id;
        SELECT sanitize.protect('{people}_own', 'id', 5, max_rows_per_unit => 1);
        SELECT sanitize.allow('{people}_own', '{analyst}', 0.3);
        SELECT sanitize.allow('{people}_stays', '{analyst}', 0.9)""",
    )
    with database.connect(analyst) as their:
        charge(their, f"{people}_own", 0.125)
        charge(their, f"{people}_stays", 0.125)
    charge(connection, f"{people}_own", 0.25)
    connection.execute(
        f"SELECT sanitize.protect('{people}_own', 'id', max_rows_per_unit => 1, population => '{people}')"
    )
    assert account(connection, people)[1] == 0.5
    assert connection.execute(
        "SELECT DISTINCT epsilon, epsilon_spent FROM sanitize.budget WHERE grantee = %s::regrole",
        [analyst],
    ).fetchall() == [(0.3, 0.25)]
    with database.connect(analyst) as their:
        refused(their, f"SELECT sanitize.charge('{people}_stays', 'x', 0.1)", "exhausted", "PS001")
    # Once more changes nothing.
    connection.execute(f"SELECT sanitize.protect('{people}_own', 'id', max_rows_per_unit => 1)")
    assert account(connection, people)[1] == 0.5


def test_releases_of_all_relations_add_up(connection, people):
    options = """{"measures": {"n": "count"}, "epsilon": %s}"""
    for relation, epsilon in zip(relations_of(people), ["0.125", "0.25", "0.0625"]):
        connection.execute(
            f"SELECT sanitize.publish('{relation}_counts', '{relation}', 'dp_aggregate', %s)",
            [options % epsilon],
        )
    totals = connection.execute(
        "SELECT DISTINCT epsilon_total FROM sanitize.releases WHERE source = ANY (%s::regclass[])",
        [relations_of(people)],
    ).fetchall()
    assert totals == [(0.4375,)]
    assert account(connection, people)[1] == 0.4375


def test_an_answer_that_was_paid_for_is_free_in_its_own_relation_only(connection, people):
    ask = """SELECT value FROM sanitize.dp_aggregate('%s', '{"n": "count"}', 0.25, reuse => '1 day')"""
    first = connection.execute(ask % f"{people}_stays").fetchall()
    assert connection.execute(ask % f"{people}_stays").fetchall() == first
    assert account(connection, people)[1] == 0.25
    connection.execute(ask % f"{people}_view")
    assert account(connection, people)[1] == 0.5


# Every method that charges.


CALLS = {
    "dp_aggregate": """SELECT * FROM sanitize.dp_aggregate('{0}', '{{"n": "count"}}', 0.01)""",
    "dp_mii_sample": "SELECT * FROM sanitize.dp_mii_sample(NULL::{0}, 0.01, 1e-9, 20, columns => '{{ward}}', scheme => 'dp_split', max_length => 1)",
    "dp_itemsets": "SELECT * FROM sanitize.dp_itemsets('{0}', 0.01, 5, columns => '{{ward}}')",
    "dp_frequent_itemsets": "SELECT * FROM sanitize.dp_frequent_itemsets('{0}', 2, 0.01, columns => '{{ward}}')",
    "dp_synthesize": "SELECT * FROM sanitize.dp_synthesize(NULL::{0}, 0.01, 1e-9, columns => '{{ward}}')",
    "dp_synthesizer": "SELECT * FROM sanitize.dp_synthesizer('{0}', 0.01, 1e-9, columns => '{{ward}}')",
    "randomize_cells": "SELECT * FROM sanitize.randomize_cells(NULL::{0}, epsilon => 0.01, columns => '{{ward}}')",
    "private_krimp_generate": "SELECT * FROM sanitize.private_krimp_generate(NULL::{0}, 0.01, 5, columns => '{{ward}}')",
    "charge": "SELECT sanitize.charge('{0}', 'x', 0.01)",
}


def test_every_method_that_charges_charges_the_population(connection, people):
    """The list is that of the registry: methods with a price, which guarantee the source's terms, and charge()."""
    view = f"{people}_view"
    run(
        connection,
        f"""
        SELECT sanitize.population('{people}', 1000, 0.5, min_epsilon => 0);
        SELECT sanitize.declare_domain('{view}', 'ward', '{{0,1,2,3,4,5,6}}');
        SELECT sanitize.protect('{view}', 'patient', max_rows_per_unit => 2, row_count_public => true)""",
    )
    priced = {
        name
        for (name,) in connection.execute("""
            SELECT DISTINCT method FROM sanitize.methods() WHERE family IN ('private', 'randomize', 'krimp')
               AND argument = 'epsilon' AND method NOT IN ('protect', 'allow', 'population', 'dp_cost', 'dp_noise',
                   'zcdp_rho', 'dp_mii_parameters', 'rr_keep_probability', 'rr_support', 'zcdp_epsilon')""")
    }
    takes_a_source = {
        name
        for (name,) in connection.execute(
            "SELECT DISTINCT method FROM sanitize.methods() WHERE argument IN ('source', 'relation') AND position = 1"
        )
    }
    assert priced & takes_a_source <= CALLS.keys(), sorted(priced & takes_a_source - CALLS.keys())
    added_up = f"SELECT epsilon_spent FROM sanitize.population WHERE name = '{people}'"
    for name, call in CALLS.items():
        before = connection.execute(added_up).fetchone()
        entries = connection.execute("SELECT max(id) FROM sanitize.ledger").fetchone()[0] or 0
        connection.execute(call.format(view)).fetchall()
        new = connection.execute(
            "SELECT source::text, population FROM sanitize.ledger WHERE id > %s", [entries]
        ).fetchall()
        assert new == [(view, people)], name
        assert connection.execute(added_up).fetchone() > before, name
        own = connection.execute(
            "SELECT epsilon_spent FROM sanitize.protection WHERE source = %s::regclass", [view]
        ).fetchone()
        assert own == (None,), name


# An exact audit: the answers of neighbours.


def test_a_person_in_all_tables_is_covered_by_one_budget(connection, people):
    """Without noise, the counts of two neighbours differ by no more than what was charged allows: |change| times
    epsilon, added up over all answers, is at most the budget of the population."""
    bounds = {"patients": 1, "stays": 2, "view": 2}
    exact = {
        name: connection.execute(f"SELECT count(*) FROM {people}_{name}").fetchone()[0]
        for name in bounds
    }
    unit = {"patients": "id", "stays": "patient", "view": "patient"}
    changes, charged_for = {}, {}
    answered = []
    chance = random.Random(3)
    while True:
        name = chance.choice(list(bounds))
        epsilon = Decimal(chance.choice(["0.05", "0.1", "0.125"]))
        try:
            connection.execute(
                f"""SELECT * FROM sanitize.dp_aggregate('{people}_{name}', '{{"n": "count"}}', {epsilon})"""
            )
        except psycopg.Error as error:
            assert error.sqlstate == "PS001"
            break
        answered.append((name, epsilon))
    person = 7
    for name, most in bounds.items():
        (rows,) = connection.execute(
            f"SELECT count(*) FROM {people}_{name} WHERE {unit[name]} = {person}"
        ).fetchone()
        changes[name] = min(rows, most)
        charged_for[name] = most
        assert 0 < rows <= exact[name]
    # The scale of the noise of a count is bound / epsilon.
    loss = sum(Decimal(changes[name]) / charged_for[name] * epsilon for name, epsilon in answered)
    assert Decimal("0.8") < loss <= 1
    assert len({name for name, _ in answered}) == 3


# Random sequences of what owners and analysts do, beside a model of what must be counted.


@pytest.mark.parametrize("seed", range(4))
def test_random_sequences(connection, seed):
    """One table, views over it and a second table, protected and unprotected in any order, with a population and
    without. All that is charged while they share is of one account, which never has less than that, nor more than its
    epsilon."""
    chance = random.Random(seed)
    stem = fresh_name("s")
    run(
        connection,
        f"""
        CREATE TABLE {stem}_t AS SELECT i AS id FROM generate_series(1, 50) AS i;
        CREATE TABLE {stem}_u AS SELECT i AS id FROM generate_series(1, 50) AS i;
        SELECT sanitize.population('{stem}', 3);
        SELECT sanitize.protect('{stem}_u', 'id', max_rows_per_unit => 1, population => '{stem}');
        SELECT sanitize.protect('{stem}_t', 'id', max_rows_per_unit => 1, population => '{stem}')""",
    )
    names = [f"{stem}_t", f"{stem}_u", f"{stem}_v1", f"{stem}_v2", f"{stem}_v3"]
    told = Decimal(0)
    for _ in range(150):
        name = chance.choice(names)
        is_view = "_v" in name
        what = chance.choice(
            ["charge"] * 6 + ["protect", "protect", "own", "unprotect", "make", "drop"]
        )
        statement = {
            "charge": f"SELECT sanitize.charge('{name}', 'x', 0.0625)",
            "protect": f"SELECT sanitize.protect('{name}', 'id', max_rows_per_unit => 1, population => '{stem}')",
            "own": f"SELECT sanitize.protect('{name}', 'id', 3, max_rows_per_unit => 1)",
            "unprotect": f"SELECT sanitize.unprotect('{name}')",
            "make": f"CREATE OR REPLACE VIEW {name} AS SELECT id FROM {chance.choice([names[0], names[2]])}",
            "drop": f"DROP VIEW {name} CASCADE",
        }[what]
        if what in ("make", "drop") and (
            not is_view or name == names[2] and "v1" in statement[25:]
        ):
            continue
        try:
            connection.execute(statement)
        except psycopg.Error as error:
            assert error.sqlstate in ("PS001", "55000", "22023", "42P01", "42P17"), error
            continue
        if what == "charge":
            told += Decimal("0.0625")
            accounts = connection.execute(
                "SELECT name, epsilon, epsilon_spent FROM sanitize.populations WHERE %s = ANY (relations::text[])",
                [name],
            ).fetchall()
            (held,) = accounts
            assert Decimal(held[2]) <= Decimal(held[1])
    # However it was spread, the population counts all that was told while its tables were in it.
    for name in names[:2]:
        connection.execute(
            f"SELECT sanitize.protect('{name}', 'id', max_rows_per_unit => 1, population => '{stem}')"
        )
    assert Decimal(account(connection, stem)[1]) == told <= 3


# Dumps and updates.


def test_a_dump_brings_populations_back(database, people):
    owner = database.regular_user()
    with database.admin() as admin:
        run(
            admin,
            f"""
            CREATE TABLE {people}_gone AS SELECT 1 AS id;
            SELECT sanitize.protect('{people}_gone', 'id', max_rows_per_unit => 1, population => '{people}')""",
        )
        for relation in [*relations_of(people), f"{people}_gone"]:
            charge(admin, relation, 0.125)
        admin.execute(f"DROP TABLE {people}_gone")
    with database.connect(owner) as their:
        their.execute(f"SELECT sanitize.population('{people}_theirs', 7)")
    copy = restored(dumped(database))
    try:
        with copy.admin() as admin:
            shown = "SELECT name, relations::text[], epsilon, epsilon_spent, delta FROM sanitize.populations ORDER BY 1, 2"
            with database.admin() as before:
                assert admin.execute(shown).fetchall() == before.execute(shown).fetchall()
            assert account(admin, people)[:2] == (1, 0.5)
            refused(admin, f"SELECT sanitize.charge('{people}_view', 'x', 0.1)", "whole")
            admin.execute("SELECT sanitize.confirm_ledger()")
            charge(admin, f"{people}_view", 0.125)
            # The entry of what was dropped is not in the dump, and still is spent.
            admin.execute(f"SELECT sanitize.population('{people}', 2)")
            assert account(admin, people)[:2] == (2, 0.625)
            admin.execute(f"SELECT sanitize.population('{people}_more', 2)")
            assert account(admin, f"{people}_more")[1] == 0
        with copy.connect(owner) as their:
            their.execute(f"SELECT sanitize.population('{people}_theirs', 8)")
            assert their.execute("SELECT name, epsilon FROM sanitize.populations").fetchall() == [
                (f"{people}_theirs", 8)
            ]
    finally:
        copy.drop()


def test_a_role_that_is_gone_owns_no_population_after_a_restore(database):
    """Its number is in the dump; another role that has it there owns nothing by that."""
    with database.admin() as admin:
        admin.execute("CREATE ROLE for_a_moment")
        admin.execute("SET ROLE for_a_moment")
        admin.execute("SELECT sanitize.population('orphan', 1)")
        admin.execute("RESET ROLE")
        admin.execute("DROP ROLE for_a_moment")
        (number,) = admin.execute(
            "SELECT owner::oid FROM sanitize.population WHERE name = 'orphan'"
        ).fetchone()
    other = database.regular_user()
    with database.admin() as admin:
        (oid,) = admin.execute("SELECT %s::regrole::oid", [other]).fetchone()
        # As if the numbers had gone round.
        admin.execute("UPDATE sanitize.population SET owner = %s::oid WHERE name = 'orphan'", [oid])
    assert number != oid
    with database.connect(other) as their:
        refused(their, "SELECT sanitize.drop_population('orphan')", "must be owner", "42501")
        assert their.execute("SELECT * FROM sanitize.populations").fetchall() == []
    with database.admin() as admin:
        admin.execute("SELECT sanitize.drop_population('orphan')")


def test_an_update_keeps_what_is_spent_and_three_views_are_put_together():
    """A database of 0.2.0 with three budgets for the people of one table."""
    database = Database(fresh_name("previous"), extension=False)
    try:
        with database.admin() as admin:
            admin.execute("CREATE EXTENSION pg_sanitize VERSION '0.2.0'")
            run(
                admin,
                """
                CREATE TABLE visits AS SELECT i AS person FROM generate_series(1, 9) AS i;
                CREATE VIEW v1 AS SELECT person FROM visits;
                CREATE VIEW v2 AS SELECT person FROM visits;
                CREATE VIEW v3 AS SELECT person FROM v2;
                CREATE TABLE alone AS SELECT 1 AS id""",
            )
            for name, spent in (("v1", 0.5), ("v2", 0.25), ("v3", 0.125), ("alone", 1)):
                admin.execute(
                    """INSERT INTO sanitize.protection (source, unit, max_rows_per_unit, epsilon, epsilon_spent, delta,
                           delta_spent, window_start, rest_epsilon, rest_delta)
                       VALUES (%s::regclass, %s, 1, 2, %s, 0, 0, now(), %s, 0)""",
                    [name, "id" if name == "alone" else "person", spent, spent],
                )
                admin.execute(
                    """INSERT INTO sanitize.ledger_entry (charged_at, source, who, login, what, epsilon, delta)
                       VALUES (now(), %s::regclass, 'x', 'x', 'x', %s, 0)""",
                    [name, spent],
                )
            admin.execute(
                "INSERT INTO sanitize.ledger_home VALUES (true, sanitize.ledger_place(), now(), current_user)"
            )
            admin.execute("ALTER EXTENSION pg_sanitize UPDATE")
            rows = "SELECT name, relations::text[], epsilon, epsilon_spent FROM sanitize.populations ORDER BY 2"
            assert admin.execute(rows).fetchall() == [
                (None, ["alone"], 2, 1),
                (None, ["v1"], 2, 0.5),
                (None, ["v2"], 2, 0.25),
                (None, ["v3"], 2, 0.125),
            ]
            charge(admin, "alone", 0.5)
            for view in ("v1", "v2", "v3"):
                diag = refused(
                    admin, f"SELECT sanitize.charge('{view}', 'x', 0.1)", "two budgets", "55000"
                )
                assert "population" in diag.message_hint
            run(
                admin,
                """
                SELECT sanitize.population('visitors', 2);
                SELECT sanitize.protect('v1', 'person', max_rows_per_unit => 1, population => 'visitors')""",
            )
            assert admin.execute(rows).fetchall() == [
                (None, ["alone"], 2, 1.5),
                ("visitors", ["v1", "v2", "v3"], 2, 0.875),
            ]
            for view in ("v1", "v2", "v3"):
                charge(admin, view, 0.25)
            refused(admin, "SELECT sanitize.charge('v1', 'x', 0.5)", "exhausted", "PS001")
    finally:
        database.drop()
