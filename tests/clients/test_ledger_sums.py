"""How charges add up: in sums and by concentration, against exact arithmetic."""

import random
import time
from decimal import Decimal, getcontext

import psycopg
import pytest
from helpers import fresh_name
from ledger import charge, spent, sums


def test_a_hundred_gaussian_charges_leave_nine_tenths(connection):
    connection.execute("CREATE TABLE hundred AS SELECT 1 AS id")
    connection.execute("SELECT sanitize.protect('hundred', 'id', 10, 1e-6, max_rows_per_unit => 1)")
    statement = """SELECT sanitize.charge('hundred', 'noise', 0.1, 1e-8,
                                          sanitize.zcdp_rho(0.1, 1e-8))"""
    for _ in range(100):
        connection.execute(statement)
    epsilon, epsilon_spent, _, delta_spent, rho = spent(connection, "hundred")
    assert epsilon - epsilon_spent > 9
    # Nothing but noise: no delta adds up, and rho is what rho says.
    assert delta_spent < 1e-15
    assert epsilon_spent == pytest.approx(
        connection.execute("SELECT sanitize.zcdp_epsilon(%s, 2.5e-7)", [rho]).fetchone()[0],
        rel=1e-6,
    )
    cost = """SELECT remaining_epsilon, remaining_delta
              FROM sanitize.dp_cost('hundred', '{"n": "count"}', 1)"""
    remaining, remaining_delta = connection.execute(cost).fetchone()
    assert remaining > 9 and remaining_delta == pytest.approx(3e-6 / 16)
    # A charge without a rho needs a little more room than its epsilon.
    with pytest.raises(psycopg.Error) as error:
        charge(connection, "hundred", remaining)
    assert error.value.sqlstate == "PS001"
    charge(connection, "hundred", remaining - 0.25)
    assert 0 < connection.execute(cost).fetchone()[0] < 0.25


def at_order(a, rho, epsilon):
    """The logarithm of the delta of rho-zCDP at epsilon, in decimals, by one order: proposition 12 of
    Canonne, Kamath and Steinke."""
    return (a - 1) * (a * rho - epsilon) + (a - 1) * (1 - 1 / a).ln() - a.ln()


def concentrated(total, epsilon, delta):
    """Whether charges with these sums fit in by concentration: the rule of crates/guarantee/src/ledger.md."""
    _, _, rho, rest_epsilon, rest_delta = total
    if 16 * rest_delta > 3 * delta:
        return False
    if not rest_epsilon:
        return not rho or zcdp_delta(rho, epsilon) <= (delta / 4).ln()
    orders = (1 + Decimal(2) ** i for i in range(-3, 13))
    tail = (delta / 256).ln()
    return any(at_order(order, rho, epsilon - rest_epsilon) <= tail for order in orders)


def zcdp_delta(rho, epsilon):
    """The same, minimised over the order."""

    def at(a):
        return at_order(a, rho, epsilon)

    # Around the best order, (epsilon + rho) / (2 rho), the exponent is convex.
    best = max((epsilon + rho) / (2 * rho), Decimal("1.01"))
    low, high = max(best / 2, Decimal("1.000001")), best * 2
    for _ in range(60):
        third = (high - low) / 3
        if at(low + third) < at(high - third):
            high -= third
        else:
            low += third
    return at((low + high) / 2)


def test_mixed_charges_against_exact_arithmetic(connection):
    """An analyst mixes plain, pure and Gaussian charges and goes on after refusals. Everything is
    added up here again, and what the ledger lets pass must be within one of the two ways."""
    getcontext().prec = 50
    chance = random.Random(7)
    epsilon, delta = Decimal(3), Decimal("1e-5")
    connection.execute("CREATE TABLE mixed AS SELECT 1 AS id")
    connection.execute("SELECT sanitize.protect('mixed', 'id', 3, 1e-5, max_rows_per_unit => 1)")
    made, refused, by_concentration = 0, 0, 0
    for _ in range(150):
        e = round(chance.choice([0.01, 0.05, 0.2, 0.7]) * chance.random() + 0.001, 6)
        d, rho = 0.0, None
        kind = chance.choice(["pure", "plain", "gaussian", "gaussian", "gaussian", "both"])
        if kind != "pure":
            d = chance.choice([1e-9, 1e-8, 3e-7])
        if kind in ("gaussian", "both"):
            row = connection.execute("SELECT sanitize.zcdp_rho(%s, %s)", [e, d])
            rho = row.fetchone()[0]
            if kind == "both":  # a part of delta that is not the noise's
                d += 1e-8
        try:
            connection.execute("SELECT sanitize.charge('mixed', %s, %s, %s, %s)", [kind, e, d, rho])
            made += 1
        except psycopg.Error as error:
            assert error.sqlstate == "PS001"
            refused += 1
            continue
        entries = connection.execute(
            """SELECT epsilon, delta, coalesce(rho, 0), rest_epsilon, rest_delta
               FROM sanitize.ledger_entry WHERE source = 'mixed'::regclass"""
        ).fetchall()
        total = tuple(sum(column, Decimal(0)) for column in zip(*entries, strict=True))
        assert total == sums(connection, "mixed")
        all_epsilon, all_delta, _, _, rest_delta = total
        by_sums = all_epsilon <= epsilon and all_delta <= delta / 2
        assert by_sums or concentrated(total, epsilon, delta)
        by_concentration += not by_sums
        # The smaller of the two, and the delta that belongs to it.
        shown, shown_delta = map(Decimal, spent(connection, "mixed")[1:4:2])
        if 2 * all_delta <= delta and abs(shown - all_epsilon) < Decimal("1e-12"):
            assert abs(shown_delta - all_delta) < Decimal("1e-18")
        else:
            assert shown < all_epsilon or 2 * all_delta > delta
            assert abs(shown_delta - rest_delta) < Decimal("1e-18")
            tight = Decimal("1e-9")
            assert concentrated(total, shown + tight, delta)
            assert not concentrated(total, shown - tight, delta)
        # What an entry says of itself is no less than what was asked for.
        last = entries[-1]
        if kind == "plain":
            assert last == (Decimal(str(e)), last[1], 0, last[0], last[1])
        if kind == "both" and last[2]:
            assert last[4] >= Decimal("1e-8") * Decimal("0.9")
    assert made > 20 and refused > 5 and by_concentration > 5


def test_what_is_left_by_sums_can_be_spent_to_the_last_digit(connection):
    chance = random.Random(3)
    for i in range(12):
        name = fresh_name("rest")
        budget = round(10 ** chance.uniform(-1, 1), 3)
        connection.execute(f"CREATE TABLE {name} AS SELECT 1 AS id")
        connection.execute(
            f"SELECT sanitize.protect('{name}', 'id', {budget}, max_rows_per_unit => 1)"
        )
        for _ in range(i):
            charge(connection, name, budget / 30 * chance.random() + 0.001)
        cost = (
            f"""SELECT remaining_epsilon FROM sanitize.dp_cost('{name}', '{{"n": "count"}}', 0.1)"""
        )
        (remaining,) = connection.execute(cost).fetchone()
        charge(connection, name, remaining)
        assert connection.execute(cost).fetchone()[0] <= 1e-12 * budget


def test_protecting_again_counts_the_ledger_anew(connection):
    name = fresh_name("again")
    connection.execute(f"CREATE TABLE {name} AS SELECT 1 AS id")

    def protect(length):
        window = f"'{length}'" if length else "NULL"
        connection.execute(
            f"SELECT sanitize.protect('{name}', 'id', 10, 1e-4, window_length => {window}, max_rows_per_unit => 1)"
        )

    protect(None)
    for rho in ("NULL", "0.001"):
        connection.execute(f"SELECT sanitize.charge('{name}', 'x', 0.25, 1e-6, {rho})")
    connection.execute(
        f"UPDATE sanitize.ledger_entry SET charged_at = now() - interval '3 h' WHERE source = '{name}'::regclass"
    )
    connection.execute(f"SELECT sanitize.charge('{name}', 'x', 0.5)")
    everything = sums(connection, name)
    assert everything[0] == 1 and everything[1] == Decimal("0.000002")
    # A new length: what was charged within it.
    protect("1 h")
    assert sums(connection, name) == (Decimal("0.5"), 0, Decimal("0.125") + EPS, 0, 0)
    (start,) = connection.execute(
        f"SELECT window_start FROM sanitize.budget WHERE source = '{name}'::regclass"
    ).fetchone()
    # The same length: what was charged in the window, which goes on.
    connection.execute(f"SELECT sanitize.charge('{name}', 'x', 1, 1e-6)")
    protect("1 h")
    assert sums(connection, name)[:2] == (1, Decimal("0.000001"))
    row = connection.execute(
        f"SELECT window_start FROM sanitize.budget WHERE source = '{name}'::regclass"
    )
    assert row.fetchone() == (start,)
    # No window: everything there ever was.
    protect(None)
    assert sums(connection, name)[:2] == (2, Decimal("0.000003"))
    connection.execute(f"SELECT sanitize.unprotect('{name}')")
    protect(None)
    assert sums(connection, name)[:2] == (2, Decimal("0.000003"))


# The rho of a pure charge is rounded up.
EPS = Decimal("0.00000000000000003")


def test_a_window_renews_every_sum(database, connection):
    role = database.regular_user()
    connection.execute("CREATE TABLE short AS SELECT 1 AS id")
    connection.execute(
        "SELECT sanitize.protect('short', 'id', 1, 1e-4, window_length => '1.5 s', max_rows_per_unit => 1)"
    )
    connection.execute(f"SELECT sanitize.allow('short', '{role}', 1)")
    charging = "SELECT sanitize.charge('short', 'x', 0.5, 1e-6, {})"
    with database.connect(role) as analyst:
        for rho in ("0.01", "NULL"):
            analyst.execute(charging.format(rho))
        for table in ("protection", "allowance"):
            assert all(amount > 0 for amount in sums(connection, "short", table))
        time.sleep(1.6)
        view = "SELECT epsilon_spent, delta_spent, rho_spent FROM sanitize.budget"
        assert set(analyst.execute(view).fetchall()) == {(0, 0, 0)}
        analyst.execute(charging.format("0.01"))
    for table in ("protection", "allowance"):
        assert sums(connection, "short", table)[0] == Decimal("0.5")
        assert sums(connection, "short", table)[3] == 0


def test_shares_obey_the_same_rule(database, connection):
    """A share of epsilon lasts for many Gaussian charges, with the relation's delta or its own."""
    connection.execute("CREATE TABLE shared AS SELECT 1 AS id")
    connection.execute("SELECT sanitize.protect('shared', 'id', 10, 1e-6, max_rows_per_unit => 1)")
    gaussian = """SELECT sanitize.charge('shared', 'x', 0.1, 1e-8, sanitize.zcdp_rho(0.1, 1e-8))"""
    for own_delta, most in [("NULL", 200), ("1e-7", 200), ("0", 0)]:
        role = database.regular_user()
        connection.execute(f"SELECT sanitize.allow('shared', '{role}', 1, {own_delta})")
        made = 0
        with database.connect(role) as analyst:
            try:
                for _ in range(200):
                    analyst.execute(gaussian)
                    made += 1
            except psycopg.Error as error:
                assert error.sqlstate == "PS001" and role in error.diag.message_primary
            row = analyst.execute("SELECT epsilon, epsilon_spent FROM sanitize.budget").fetchone()
            assert row[1] <= row[0] == 1
        assert made == 0 if most == 0 else 50 < made < most, made
    # An allowance without a share has only the relation's limit.
    role = database.regular_user()
    connection.execute(f"SELECT sanitize.allow('shared', '{role}')")
    with database.connect(role) as analyst:
        charge(analyst, "shared", 2)
        with pytest.raises(psycopg.Error) as error:
            charge(analyst, "shared", 9)
        assert "budget of shared" in error.value.diag.message_primary.replace("public.", "")


def test_no_charge_is_below_the_least(connection):
    connection.execute("CREATE TABLE least AS SELECT 1 AS id")
    connection.execute(
        "SELECT sanitize.protect('least', 'id', 1, min_epsilon => 0.01, max_rows_per_unit => 1)"
    )
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="at least 0.01"):
        charge(connection, "least", 0.009)
    charge(connection, "least", 0.01)
    # A budget below the least can be spent all the same, at once.
    connection.execute(
        "SELECT sanitize.protect('least', 'id', 0.0105, min_epsilon => 0.5, max_rows_per_unit => 1)"
    )
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        charge(connection, "least", 0.0104)
    connection.execute(
        "SELECT sanitize.protect('least', 'id', 0.02, min_epsilon => 0, max_rows_per_unit => 1)"
    )
    charge(connection, "least", 1e-9)
