"""The ledger: how fast it is, what it survives, and what it refuses."""

import random
import subprocess
import threading
import time
from decimal import Decimal, getcontext

import psycopg
import pytest
from helpers import Database, fresh_name, program


@pytest.fixture
def source(connection):
    """A protected table of its own for each test."""
    name = fresh_name("people")
    connection.execute(
        f"CREATE TABLE {name} AS SELECT i AS id, i % 7 AS x FROM generate_series(1, 700) i"
    )
    connection.execute(f"SELECT sanitize.protect('{name}', 'id', 1000, 0.01)")
    return name


def charge(connection, source, epsilon=0.001):
    connection.execute("SELECT sanitize.charge(%s::regclass, 'test', %s)", [source, epsilon])


def test_no_charge_is_lost_or_doubled_among_sixteen_clients(database, connection, source):
    made, times = [], []
    stop = time.monotonic() + 3

    def spend():
        with database.connect() as client:
            count = 0
            while time.monotonic() < stop:
                begin = time.monotonic()
                charge(client, source)
                times.append(time.monotonic() - begin)
                count += 1
            made.append(count)

    threads = [threading.Thread(target=spend) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (entries,) = connection.execute(
        "SELECT count(*) FROM sanitize.ledger WHERE source = %s::regclass", [source]
    ).fetchone()
    (spent,) = connection.execute(
        "SELECT epsilon_spent FROM sanitize.protection WHERE source = %s::regclass", [source]
    ).fetchone()
    assert entries == sum(made)
    assert float(spent) == pytest.approx(0.001 * entries)
    print(f"{sum(made) / 3:.0f} charges/s, median {sorted(times)[len(times) // 2] * 1e3:.1f} ms")
    # benches/aggregates.py has the real bar; here, whatever else the machine does.
    assert sum(made) / 3 > 50


def test_one_call_takes_milliseconds(connection, source):
    charge(connection, source)
    times = []
    for _ in range(50):
        begin = time.monotonic()
        charge(connection, source)
        times.append(time.monotonic() - begin)
    assert sorted(times)[25] < 0.025


def test_no_worker_is_free(database, connection, source):
    """A parallel query holds every slot for workers: charging waits for one, and is not skipped."""
    connection.execute("CREATE TABLE busy AS SELECT i FROM generate_series(1, 4000) i")
    connection.execute("ALTER TABLE busy SET (parallel_workers = 32)")
    time.sleep(2.5)  # until the ledger's worker of the test before has left
    with database.connect() as other:
        other.execute("""
            SET max_parallel_workers_per_gather = 32; SET max_parallel_workers = 32;
            SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
            SET min_parallel_table_scan_size = 0;
        """)
        query = threading.Thread(
            target=other.execute,
            args=["SELECT count(*) FROM busy WHERE pg_sleep(0.004) IS NOT NULL"],
        )
        query.start()
        time.sleep(0.5)
        begin = time.monotonic()
        charge(connection, source)
        waited = time.monotonic() - begin
        query.join()
    assert 0.3 < waited < 10
    row = connection.execute(
        "SELECT count(*) FROM sanitize.ledger WHERE source = %s::regclass", [source]
    )
    assert row.fetchone() == (1,)


def test_a_locked_budget_fails_closed(database, connection, source):
    """The owner changes the budget and does not commit: charges wait and go through afterwards."""
    with database.connect(autocommit=False) as owner:
        owner.execute(f"SELECT sanitize.protect('{source}', 'id', 500)")
        release = threading.Timer(0.5, owner.commit)
        release.start()
        begin = time.monotonic()
        charge(connection, source)
        assert time.monotonic() - begin > 0.3
        release.join()


def test_protection_in_the_same_transaction_is_not_yet_there(database, connection):
    connection.execute("CREATE TABLE fresh (id int)")
    with database.connect(autocommit=False) as owner:
        owner.execute("SELECT sanitize.protect('fresh', 'id', 1)")
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
            charge(owner, "fresh")


def test_windows_renew_by_the_clock(connection):
    connection.execute("CREATE TABLE weekly AS SELECT 1 AS id")
    connection.execute("SELECT sanitize.protect('weekly', 'id', 1, window_length => '1.5 s')")
    charge(connection, "weekly", 1)
    with pytest.raises(psycopg.Error) as error:
        charge(connection, "weekly", 0.5)
    assert error.value.sqlstate == "PS001"
    assert "renews at 2" in error.value.diag.message_detail
    time.sleep(1.6)
    row = connection.execute(
        "SELECT epsilon_spent FROM sanitize.budget WHERE source = 'weekly'::regclass"
    )
    assert row.fetchone() == (0,)
    charge(connection, "weekly", 0.5)
    row = connection.execute(
        "SELECT epsilon_spent FROM sanitize.budget WHERE source = 'weekly'::regclass"
    )
    assert row.fetchone() == (0.5,)


def test_ten_tenths_are_one(connection):
    connection.execute("CREATE TABLE tenths AS SELECT 1 AS id")
    connection.execute("SELECT sanitize.protect('tenths', 'id', 1)")
    for _ in range(10):
        charge(connection, "tenths", 0.1)
    with pytest.raises(psycopg.Error) as error:
        charge(connection, "tenths")
    assert error.value.sqlstate == "PS001"


def test_protecting_again_gives_nothing_back(connection, source):
    charge(connection, source, 3)
    connection.execute(f"SELECT sanitize.protect('{source}', 'id', 5)")
    budget = (
        f"SELECT epsilon, epsilon_spent FROM sanitize.budget WHERE source = '{source}'::regclass"
    )
    assert connection.execute(budget).fetchone() == (5, 3)
    connection.execute(f"SELECT sanitize.unprotect('{source}')")
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
        charge(connection, source)
    connection.execute(f"SELECT sanitize.protect('{source}', 'id', 4)")
    assert connection.execute(budget).fetchone() == (4, 3)


SUMS = "epsilon_spent, delta_spent, rho_spent, rest_epsilon, rest_delta"


def sums(connection, source, table="protection"):
    """The exact sums of a budget, as the tables have them."""
    return connection.execute(
        f"SELECT {SUMS} FROM sanitize.{table} WHERE source = %s::regclass", [source]
    ).fetchone()


def spent(connection, source):
    """What the view shows of the relation's own budget."""
    return connection.execute(
        """SELECT epsilon, epsilon_spent, delta, delta_spent, rho_spent FROM sanitize.budget
           WHERE source = %s::regclass AND grantee IS NULL""",
        [source],
    ).fetchone()


def test_a_hundred_gaussian_charges_leave_nine_tenths(connection):
    connection.execute("CREATE TABLE hundred AS SELECT 1 AS id")
    connection.execute("SELECT sanitize.protect('hundred', 'id', 10, 1e-6)")
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
    connection.execute("SELECT sanitize.protect('mixed', 'id', 3, 1e-5)")
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
        connection.execute(f"SELECT sanitize.protect('{name}', 'id', {budget})")
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
            f"SELECT sanitize.protect('{name}', 'id', 10, 1e-4, window_length => {window})"
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
    connection.execute("SELECT sanitize.protect('short', 'id', 1, 1e-4, window_length => '1.5 s')")
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
    connection.execute("SELECT sanitize.protect('shared', 'id', 10, 1e-6)")
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
    connection.execute("SELECT sanitize.protect('least', 'id', 1, min_epsilon => 0.01)")
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="at least 0.01"):
        charge(connection, "least", 0.009)
    charge(connection, "least", 0.01)
    # A budget below the least can be spent all the same, at once.
    connection.execute("SELECT sanitize.protect('least', 'id', 0.0105, min_epsilon => 0.5)")
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        charge(connection, "least", 0.0104)
    connection.execute("SELECT sanitize.protect('least', 'id', 0.02, min_epsilon => 0)")
    charge(connection, "least", 1e-9)


def test_a_transaction_of_one_snapshot_charges_what_is_there_now(database, connection, source):
    """REPEATABLE READ shows an old ledger and changes nothing about what is charged."""
    with database.connect(autocommit=False) as old:
        old.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        old.execute("SELECT count(*) FROM sanitize.ledger")
        connection.execute(f"SELECT sanitize.protect('{source}', 'id', 5, 0.01)")
        charge(connection, source, 4)
        with pytest.raises(psycopg.Error) as error:
            charge(old, source, 2)
        assert error.value.sqlstate == "PS001"
        old.rollback()
        old.execute("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")
        # What is spent is taken over from the ledger, so protect must see all of it.
        with pytest.raises(psycopg.errors.ActiveSqlTransaction):
            old.execute(f"SELECT sanitize.protect('{source}', 'id', 5, 0.01)")


def test_protecting_again_while_others_charge(database, connection, source):
    """No charge is lost between the reading of the ledger and the new terms."""
    stop, made = threading.Event(), []

    def spend():
        with database.connect() as client:
            count = 0
            while not stop.is_set():
                charge(client, source)
                count += 1
            made.append(count)

    threads = [threading.Thread(target=spend) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(50):
        connection.execute(f"SELECT sanitize.protect('{source}', 'id', 1000, 0.01)")
        time.sleep(0.01)
    stop.set()
    for thread in threads:
        thread.join()
    assert sums(connection, source)[0] == sum(made) * Decimal("0.001")


def test_a_dump_of_an_older_version_can_be_restored(database, connection, source):
    """Rows without the columns that came later: everything counts as rest."""
    role = database.regular_user()
    name = fresh_name("older")
    connection.execute(f"CREATE TABLE {name} AS SELECT 1 AS id")
    connection.execute(f"""
        INSERT INTO sanitize.protection
            (source, unit, max_rows_per_unit, epsilon, epsilon_spent, delta, delta_spent, window_start)
            VALUES ('{name}', 'id', 1, 10, 2, 1e-4, 1e-6, now());
        INSERT INTO sanitize.allowance (source, grantee, epsilon, epsilon_spent, delta, delta_spent)
            VALUES ('{name}', '{role}', 3, 2, NULL, 1e-6);
        INSERT INTO sanitize.ledger_entry (charged_at, source, who, login, what, epsilon, delta)
            VALUES (now(), '{name}', '{role}', '{role}', 'x', 2, 1e-6);
    """)
    assert spent(connection, name) == (10, 2, 1e-4, 1e-6, 0)
    connection.execute(f"SELECT sanitize.charge('{name}', 'x', 0.5, 1e-6)")
    expected = (Decimal("2.5"), Decimal("0.000002"), 0, Decimal("2.5"), Decimal("0.000002"))
    assert sums(connection, name) == expected
    connection.execute(f"SELECT sanitize.protect('{name}', 'id', 10, 1e-4)")
    assert sums(connection, name) == expected


def test_what_cannot_be_protected(connection):
    connection.execute("CREATE TEMP TABLE mine (id int)")
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="is temporary"):
        connection.execute("SELECT sanitize.protect('mine', 'id', 1)")


def test_a_unit_is_compared_by_its_bytes(connection):
    loose = """CREATE COLLATION loose
        (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"""
    try:
        connection.execute(loose)
    except psycopg.errors.FeatureNotSupported as error:
        pytest.skip(f"no nondeterministic collation: {error}")
    connection.execute("CREATE TABLE named (name text COLLATE loose, code char(4))")
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="nondeterministic"):
        connection.execute("SELECT sanitize.protect('named', 'name', 1)")
    connection.execute("SELECT sanitize.protect('named', 'code', 1)")
    connection.execute('CREATE VIEW exact AS SELECT name COLLATE "C" AS name FROM named')
    connection.execute("SELECT sanitize.protect('exact', 'name', 1)")
    connection.execute("CREATE VIEW merged AS SELECT DISTINCT name FROM named")
    connection.execute('CREATE VIEW hidden AS SELECT name COLLATE "C" AS name FROM merged')
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="other units"):
        connection.execute("SELECT sanitize.protect('hidden', 'name', 1)")


@pytest.mark.parametrize("rho", ["0", "-1", "'NaN'", "'infinity'"])
def test_rho_makes_sense(connection, source, rho):
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="rho is"):
        connection.execute(f"SELECT sanitize.charge('{source}', 'x', 1, 1e-6, {rho})")


def test_a_pure_charge_has_no_rho_above_its_own(connection, source):
    connection.execute(f"SELECT sanitize.charge('{source}', 'x', 0.5, 0, 100)")
    row = connection.execute("SELECT rho FROM sanitize.ledger ORDER BY id DESC LIMIT 1").fetchone()
    assert row[0] == pytest.approx(0.125)


def test_cost_says_what_is_charged(connection, source):
    arguments = [
        """'{"n": "count"}', 0.25""",
        """'{"n": "count", "m": {"avg": "x", "low": 0, "high": 6}}', 0.5, 1e-6""",
        """'{"n": "count"}', 0.125, 1e-5, '{x}'""",
        """'{"n": "count"}', 0.125, NULL, '{x}'""",
        """'{"n": "count"}', 0.125, 1e-5, '{x}', groups => '[1, 2]'""",
        f"""'{{{", ".join(f'"n{i}": "count"' for i in range(40))}}}', 0.1, 1e-6""",
    ]
    columns = "epsilon, delta, remaining_epsilon, remaining_delta"
    for text in arguments:
        cost = connection.execute(
            f"SELECT {columns} FROM sanitize.dp_cost('{source}', {text})"
        ).fetchone()
        connection.execute(f"SELECT * FROM sanitize.dp_aggregate('{source}', {text})").fetchall()
        charged = connection.execute(
            "SELECT epsilon, delta FROM sanitize.ledger ORDER BY id DESC LIMIT 1"
        ).fetchone()
        assert charged == cost[:2], text
        after = connection.execute(
            f"SELECT remaining_epsilon, remaining_delta FROM sanitize.dp_cost('{source}', {text})"
        ).fetchone()
        # By concentration it takes less of epsilon, and nothing of delta but for choosing groups.
        assert after[0] >= cost[2] - cost[0] - 1e-9, text


def test_a_restored_dump_charges_nothing_until_confirmed(database, connection, source):
    charge(connection, source, 2)
    role = database.regular_user()
    connection.execute(f"SELECT sanitize.allow('{source}', '{role}', 7)")
    dump = subprocess.run(
        [program("pg_dump"), "--dbname", database.name], capture_output=True, text=True, check=True
    ).stdout
    copy = Database(fresh_name("restored"))
    try:
        with copy.admin() as admin:
            admin.execute("DROP EXTENSION pg_sanitize; DROP SCHEMA sanitize")
        subprocess.run(
            [
                program("psql"),
                "--quiet",
                "--no-psqlrc",
                "--set=ON_ERROR_STOP=1",
                "--dbname",
                copy.name,
            ],
            input=dump,
            text=True,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        with copy.admin() as admin:
            budget = f"""SELECT grantee::text, epsilon, epsilon_spent FROM sanitize.budget
                         WHERE source = '{source}'::regclass ORDER BY 1"""
            assert sorted(admin.execute(budget).fetchall(), key=str) == sorted(
                [(role, 7, 0), (None, 1000, 2)], key=str
            )
            with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState) as error:
                charge(admin, source)
            assert "confirm_ledger" in error.value.diag.message_hint
            admin.execute("SELECT sanitize.confirm_ledger()")
            charge(admin, source)
            ids = admin.execute(
                "SELECT count(*), count(DISTINCT id) FROM sanitize.ledger"
            ).fetchone()
            assert ids[0] == ids[1]
            # The terms and every sum came along.
            terms = f"""SELECT unit, min_epsilon, max_groups_per_unit, rho_spent > 0, assume_stable
                        FROM sanitize.protection WHERE source = '{source}'::regclass"""
            assert admin.execute(terms).fetchone() == connection.execute(terms).fetchone()
            rhos = (
                "SELECT array_agg(rho ORDER BY id) FROM sanitize.ledger WHERE source = %s::regclass"
            )
            before = connection.execute(rhos, [source]).fetchone()[0]
            assert admin.execute(rhos, [source]).fetchone()[0][:-1] == before
    finally:
        copy.drop()


def test_empirical_epsilon_through_sql(connection):
    """Two tables that differ in one person with fifty rows: no answer is far likelier in one."""
    connection.execute("""
        CREATE TABLE without AS SELECT i AS id FROM generate_series(1, 5) i;
        CREATE TABLE with_one AS TABLE without;
        INSERT INTO with_one SELECT 99 FROM generate_series(1, 50);
    """)
    runs, answers = 600, {}
    for name in ["without", "with_one"]:
        connection.execute(f"SELECT sanitize.protect('{name}', 'id', 100000, 0, 2)")
        with connection.pipeline():
            cursors = [
                connection.execute(
                    f"""SELECT value FROM sanitize.dp_aggregate('{name}', '{{"n": "count"}}', 2)"""
                )
                for _ in range(runs)
            ]
            answers[name] = [float(cursor.fetchone()[0]) for cursor in cursors]
    mean = {name: sum(values) / runs for name, values in answers.items()}
    # At most two rows of the person count, whatever the table holds.
    assert mean["without"] == pytest.approx(5, abs=0.3)
    assert mean["with_one"] == pytest.approx(7, abs=0.3)
    share = {name: sum(v >= 7 for v in values) / runs for name, values in answers.items()}
    assert share["with_one"] <= share["without"] * 7.39 * 1.5
