"""Damaged rows of the extension's own tables: what cannot be read is refused, nothing is charged and
nothing is released. Constraints would keep most of it away; here they are gone, as after a bad restore."""

import psycopg
import pytest
from helpers import fresh_name

ASK = """SELECT * FROM sanitize.dp_aggregate('{source}', '{{"n": "count"}}', 0.1)"""
CHARGE = "SELECT sanitize.charge('{source}', 'test', 0.1)"
# Amounts that are none, and numbers that no function of ours writes.
AMOUNTS = ["NULL", "'NaN'", "'Infinity'", "'-Infinity'", "-1"]
COUNTS = ["NULL", "0", "-1"]


@pytest.fixture(scope="module")
def bare(database):
    """The tables without constraints that would keep damage away."""
    with database.admin() as admin:
        constraints = admin.execute("""
            SELECT conrelid::regclass::text, conname FROM pg_constraint
            WHERE connamespace::regnamespace::text ~ '^sanitize' AND contype = 'c'""").fetchall()
        for table, name in constraints:
            admin.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')
        keys = admin.execute("""
            SELECT attrelid::regclass::text, attname FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
            WHERE relnamespace::regnamespace::text ~ '^sanitize' AND relkind = 'r' AND attnum > 0
              AND attnotnull AND attidentity = ''
              AND NOT EXISTS (SELECT FROM pg_index
                              WHERE indrelid = attrelid AND indisprimary AND attnum = ANY (indkey))
            """).fetchall()
        for table, column in keys:
            admin.execute(f"ALTER TABLE {table} ALTER {column} DROP NOT NULL")
    return database


@pytest.fixture
def source(bare, connection):
    """A protected table with bounds and a domain, one charge, and somebody who may ask."""
    name = fresh_name("people")
    connection.execute(f"""
        CREATE TABLE {name} AS
            SELECT i AS id, i % 7 AS x, 'w' || i % 3 AS ward FROM generate_series(1, 70) i;
        SELECT sanitize.protect('{name}', 'id', 10, 1e-4, window_length => '1 month', max_rows_per_unit => 1);
        SELECT sanitize.declare_bounds('{name}', 'x', '0', '6');
        SELECT sanitize.declare_domain('{name}', 'ward', '{{w0,w1,w2}}');
    """)
    connection.execute(CHARGE.format(source=name))
    return name


@pytest.fixture
def analyst(bare, connection, source):
    role = bare.regular_user()
    connection.execute(f"SELECT sanitize.allow('{source}', '{role}', 5, 1e-5)")
    with bare.connect(user=role) as made:
        made.execute(ASK.format(source=source))
        yield made


def entries(connection):
    return connection.execute(
        """SELECT count(*), coalesce(max(id), 0) FROM sanitize.ledger_entry"""
    ).fetchone()


def refused(connection, asker, statement):
    """The error of the statement, which charged nothing."""
    before = entries(connection)
    with pytest.raises(psycopg.Error) as error:
        asker.execute(statement).fetchall()
    assert entries(connection) == before
    assert error.value.sqlstate[:2] not in ("XX", "58"), error.value
    return error.value


def damage(connection, table, source, column, value):
    connection.execute(
        f"UPDATE sanitize.{table} SET {column} = {value} WHERE source = '{source}'::regclass"
    )


PROTECTION = [
    *[("unit", value) for value in ["NULL", "'nobody'", "''"]],
    *[("max_rows_per_unit", value) for value in COUNTS],
    *[("max_groups_per_unit", value) for value in COUNTS[1:]],
    *[("min_query_set", value) for value in COUNTS[1:]],
    *[("epsilon", value) for value in [*AMOUNTS, "0", "1e300"]],
    *[("delta", value) for value in [*AMOUNTS, "1", "1e300"]],
    *[("min_epsilon", value) for value in [*AMOUNTS, "1e300"]],
    *[("epsilon_spent", value) for value in AMOUNTS],
    *[("delta_spent", value) for value in AMOUNTS],
    *[("rho_spent", value) for value in AMOUNTS],
    *[("rest_epsilon", value) for value in AMOUNTS[1:]],
    *[("rest_delta", value) for value in AMOUNTS[1:]],
    *[("window_start", value) for value in ["NULL", "'infinity'", "'-infinity'"]],
    *[("window_length", value) for value in ["'0'", "'-1 day'", "'-1 month 29 days'"]],
    ("assume_stable", "NULL"),
    ("row_count_public", "NULL"),
]


@pytest.mark.parametrize("column, value", PROTECTION)
def test_protection(connection, source, analyst, column, value):
    damage(connection, "protection", source, column, value)
    for asker in [connection, analyst]:
        for statement in [ASK, CHARGE]:
            if statement == CHARGE and column == "unit" and value != "NULL":
                # Whoever names the price knows the unit: no column is looked at.
                continue
            error = refused(connection, asker, statement.format(source=source))
            assert error.sqlstate in ("55000", "42703", "PS001"), error
    cost = "SELECT * FROM sanitize.dp_cost('{source}', '{{\"n\": \"count\"}}', 0.1)"
    refused(connection, analyst, cost.format(source=source))
    # The owner lays it down anew, and what was spent comes out of the ledger.
    if not column.startswith("window"):
        connection.execute(
            f"SELECT sanitize.protect('{source}', 'id', 10, 1e-4, window_length => '1 month', max_rows_per_unit => 1)"
        )
        analyst.execute(ASK.format(source=source))
        (spent,) = connection.execute(
            f"SELECT epsilon_spent FROM sanitize.protection WHERE source = '{source}'::regclass"
        ).fetchone()
        assert float(spent) == pytest.approx(0.3)


def test_a_relation_whose_row_is_lost_is_not_protected(connection, source, analyst):
    connection.execute(f"DELETE FROM sanitize.protection WHERE source = '{source}'::regclass")
    for statement in [ASK, CHARGE]:
        assert refused(connection, analyst, statement.format(source=source)).sqlstate == "55000"


ALLOWANCE = [
    *[("epsilon", value) for value in [*AMOUNTS[1:], "0", "1e300"]],
    *[("delta", value) for value in [*AMOUNTS[1:], "1"]],
    *[("epsilon_spent", value) for value in AMOUNTS],
    *[("delta_spent", value) for value in AMOUNTS],
    *[("rho_spent", value) for value in AMOUNTS],
    *[("rest_epsilon", value) for value in AMOUNTS[1:]],
    *[("rest_delta", value) for value in AMOUNTS[1:]],
]


@pytest.mark.parametrize("column, value", ALLOWANCE)
def test_allowance(connection, source, analyst, column, value):
    damage(connection, "allowance", source, column, value)
    for statement in [ASK, CHARGE]:
        error = refused(connection, analyst, statement.format(source=source))
        assert error.sqlstate in ("55000", "PS001"), error


def test_an_allowance_without_a_grantee_is_not_the_relation_s(connection, source, analyst):
    connection.execute("ALTER TABLE sanitize.allowance DROP CONSTRAINT allowance_pkey")
    connection.execute("ALTER TABLE sanitize.allowance ALTER grantee DROP NOT NULL")
    try:
        connection.execute(f"""
            INSERT INTO sanitize.allowance (source, epsilon, epsilon_spent, delta_spent)
            VALUES ('{source}', 1e5, 0, 0)""")
        for asker in [connection, analyst]:
            for statement in [ASK, CHARGE]:
                error = refused(connection, asker, statement.format(source=source))
                assert error.sqlstate == "55000", error
    finally:
        connection.execute("DELETE FROM sanitize.allowance WHERE grantee IS NULL")
        connection.execute("ALTER TABLE sanitize.allowance ADD PRIMARY KEY (source, grantee)")


ENTRY = [
    *[("epsilon", value) for value in AMOUNTS],
    *[("delta", value) for value in AMOUNTS],
    *[("rho", value) for value in AMOUNTS[1:]],
    *[("rest_epsilon", value) for value in AMOUNTS[1:]],
    *[("rest_delta", value) for value in AMOUNTS[1:]],
    *[("charged_at", value) for value in ["NULL", "'infinity'", "'-infinity'"]],
    ("source", "NULL"),
]


@pytest.mark.parametrize("column, value", ENTRY)
def test_ledger_entry(connection, source, column, value):
    """Whoever protects again would pass over an entry that no sum has."""
    damage(connection, "ledger_entry", source, column, value)
    protect = f"SELECT sanitize.protect('{source}', 'id', 20, 1e-4, window_length => '2 months', max_rows_per_unit => 1)"
    try:
        assert refused(connection, connection, protect).sqlstate == "55000"
        (epsilon,) = connection.execute(
            f"SELECT epsilon FROM sanitize.protection WHERE source = '{source}'::regclass"
        ).fetchone()
        assert epsilon == 10
    finally:
        connection.execute("DELETE FROM sanitize.ledger_entry WHERE source IS NULL")
    if column != "source":
        mended = "now()" if column == "charged_at" else "0.2"
        damage(connection, "ledger_entry", source, column, mended)
    connection.execute(protect)


@pytest.mark.parametrize("change", ["SET place = NULL", "SET place = 'elsewhere'", None])
def test_ledger_home(connection, source, analyst, change):
    if change:
        connection.execute(f"UPDATE sanitize.ledger_home {change}")
    else:
        connection.execute("DELETE FROM sanitize.ledger_home")
    try:
        for asker in [connection, analyst]:
            for statement in [ASK, CHARGE]:
                error = refused(connection, asker, statement.format(source=source))
                assert error.sqlstate == "55000"
                assert "confirm_ledger" in error.diag.message_hint
        # Protecting something does not confirm it in passing.
        connection.execute(
            f"SELECT sanitize.protect('{source}', 'id', 10, 1e-4, max_rows_per_unit => 1)"
        )
        refused(connection, analyst, CHARGE.format(source=source))
    finally:
        connection.execute("SELECT sanitize.confirm_ledger()")
    analyst.execute(CHARGE.format(source=source))


BOUNDS = [
    *[
        ("low", value)
        for value in ["NULL", "'NaN'", "'-Infinity'", "'7'", "'low'", "''", "'1e9999'"]
    ],
    *[("high", value) for value in ["NULL", "'NaN'", "'Infinity'", "'-1'", "'high'", "'ten'"]],
    *[("bins", value) for value in COUNTS],
]


@pytest.mark.parametrize("column, value", BOUNDS)
def test_declared_bounds(connection, source, analyst, column, value):
    damage(connection, "declared_bounds", source, column, value)
    ask = f"""SELECT * FROM sanitize.dp_aggregate('{source}', '{{"s": {{"sum": "x"}}}}', 0.1)"""
    known = f"SELECT * FROM sanitize.column_bounds('{source}', 'x')"
    for asker in [connection, analyst]:
        for statement in [ask, known]:
            error = refused(connection, asker, statement)
            assert error.sqlstate in ("55000", "22P02"), error
    # Whoever gives bounds does not need them.
    given = """{"s": {"sum": "x", "low": 0, "high": 6}}"""
    analyst.execute(f"SELECT * FROM sanitize.dp_aggregate('{source}', '{given}', 0.1)")


DOMAINS = ["NULL", "'{}'", "'{w0,NULL,w2}'", "'{{NULL}}'"]


@pytest.mark.parametrize("column, values", [("ward", v) for v in DOMAINS] + [("x", "'{1,one}'")])
def test_declared_domain(connection, source, analyst, column, values):
    connection.execute(f"SELECT sanitize.declare_domain('{source}', '{column}', '{{1,2}}')")
    connection.execute(f"""
        UPDATE sanitize.declared_domain SET domain_values = {values}
        WHERE source = '{source}'::regclass AND column_name = '{column}'""")
    known = f"SELECT * FROM sanitize.column_domain('{source}', '{column}')"
    for asker in [connection, analyst]:
        assert refused(connection, asker, known).sqlstate in ("55000", "22P02")
    view = fresh_name("one_column")
    connection.execute(f"CREATE VIEW {view} AS SELECT {column} FROM {source}")
    connection.execute(f"""
        UPDATE sanitize.declared_domain SET source = '{view}'
        WHERE source = '{source}'::regclass AND column_name = '{column}'""")
    sample = f"SELECT * FROM sanitize.dp_mii_sample(NULL::{view}, 1, 1e-5, 20)"
    assert refused(connection, connection, sample).sqlstate in ("55000", "22P02")


ANSWER = [
    *[("answered_at", value) for value in ["NULL", "'infinity'", "'-infinity'"]],
    *[("entry", value) for value in COUNTS],
    *[("question", value) for value in ["NULL", "'{}'", "'null'"]],
    *[
        ("answer", value)
        for value in [
            "NULL",
            "'null'",
            "'\"x\"'",
            "'[1]'",
            "'[{}]'",
            """'[{"groups": 1, "measure": "n", "value": "1"}]'""",
            """'[{"groups": {}, "measure": 7, "value": "1"}]'""",
            """'[{"groups": {}, "measure": "n", "value": "many"}]'""",
            """'[{"groups": {}, "measure": "n", "value": "NaN"}]'""",
            """'[{"groups": {}, "measure": "n", "value": 1}]'""",
            """'[{"groups": {}, "measure": "n", "value": "1", "low": "x"}]'""",
        ]
    ],
]


@pytest.mark.parametrize("column, value", ANSWER)
def test_answer(connection, source, analyst, column, value):
    again = f"""SELECT * FROM sanitize.dp_aggregate('{source}', '{{"n": "count"}}', 0.1, reuse => '1 day')"""
    first = analyst.execute(again).fetchall()
    before = entries(connection)
    assert analyst.execute(again).fetchall() == first
    assert entries(connection) == before
    damage(connection, "answer", source, column, value)
    error = refused(connection, analyst, again)
    assert error.sqlstate == "55000", error
    # Whoever takes no stored answer does not look at it.
    analyst.execute(ASK.format(source=source))


def test_functions_of_a_domain_type_do_not_run_with_the_caller_s_rights(bare, connection):
    """The values of CHECK (VALUE IN …) are read without the type's other constraints."""
    owner = bare.regular_user("CREATE ON SCHEMA public")
    name = fresh_name("trap")
    with bare.connect(user=owner) as own:
        own.execute(f"""
            CREATE TABLE {name}_seen (who text);
            GRANT INSERT ON {name}_seen TO PUBLIC;
            CREATE FUNCTION {name}(text) RETURNS boolean LANGUAGE plpgsql AS
                $$ BEGIN INSERT INTO {name}_seen VALUES (current_user); RETURN true; END $$;
            CREATE DOMAIN {name}_type AS text CHECK (VALUE IN ('a', 'b')) CHECK ({name}(VALUE));
            CREATE TABLE {name}_table (x {name}_type);
            GRANT SELECT ON {name}_table TO PUBLIC;
        """)
    found = connection.execute(f"SELECT * FROM sanitize.column_domain('{name}_table', 'x')")
    assert found.fetchone() == (["a", "b"], "check")
    assert connection.execute(f"SELECT * FROM {name}_seen").fetchall() == []
