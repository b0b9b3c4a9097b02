"""A relation or a role is dropped, and another one gets its number: nothing that was said of the first holds for
the second. Postgres hands out numbers from a counter that goes round; pg_resetwal turns it back here."""

import psycopg
import pytest
from helpers import OwnServer

COST = """SELECT epsilon FROM sanitize.dp_cost('{}', '{{"n": "count"}}', 0.1)"""
ASK = """SELECT count(*) FROM sanitize.dp_aggregate('{}', '{{"n": "count"}}', 0.1, reuse => '1 day')"""
ROWS = "SELECT i AS id, i % 2 AS sex, i % 50 AS age FROM generate_series(1, 100) AS i"


class Server(OwnServer):
    """A server whose counter can be turned back."""

    def admin(self):
        return self.connect(user="postgres", dbname="postgres")

    def as_role(self, role):
        return self.connect(user=role, dbname="postgres")

    def turn_back(self, number):
        """The next object that is made gets this number, if it is free."""
        # Rows that are deleted and still there keep their numbers.
        with self.admin() as admin:
            for catalog in "pg_class", "pg_type", "pg_authid":
                admin.execute(f"VACUUM {catalog}")
        self.stop("fast")
        self.run("pg_resetwal", f"--next-oid={number}", f"--pgdata={self.data}")
        self.start()


@pytest.fixture(scope="module")
def server():
    server = Server(5499)
    server.initialise("autovacuum = off")
    server.start()
    with server.admin() as admin:
        admin.execute("""
            CREATE EXTENSION pg_sanitize;
            CREATE ROLE mallory LOGIN; CREATE ROLE accomplice LOGIN; CREATE ROLE victim LOGIN;
            GRANT CREATE ON SCHEMA public TO PUBLIC""")
    yield server
    server.drop()


def numbers(connection, name):
    query = "SELECT oid, reltype FROM pg_class WHERE oid = %s::regclass"
    return connection.execute(query, [name]).fetchone()


@pytest.fixture
def dropped(server):
    """A relation of which everything was said that can be, and its numbers once it is gone."""
    with server.as_role("mallory") as mallory:
        mallory.execute(f"CREATE TABLE bait AS {ROWS}")
        mallory.execute("SELECT sanitize.protect('bait', 'id', 10, max_rows_per_unit => 1)")
        mallory.execute("SELECT sanitize.allow('bait', 'accomplice')")
        mallory.execute("SELECT sanitize.declare_domain('bait', 'sex', '{0,1}')")
        mallory.execute("SELECT sanitize.declare_bounds('bait', 'age', '0', '99')")
        mallory.execute("SELECT sanitize.declare_hierarchy('bait', 'age', '{\"ranges\": [10]}')")
        mallory.execute("DROP TABLE IF EXISTS shown")
        mallory.execute(
            "SELECT sanitize.publish('shown', 'bait', 'k_mii', '{\"k\": 2, \"columns\": [\"sex\"]}')"
        )
        with server.as_role("accomplice") as accomplice:
            accomplice.execute(ASK.format("bait"))
        seen = numbers(mallory, "bait")
        mallory.execute("DROP TABLE bait")
    yield seen
    with server.admin() as admin:
        admin.execute("DROP TABLE IF EXISTS secret; DROP TYPE IF EXISTS wedge")


def refused(connection, query, state):
    with pytest.raises(psycopg.Error) as error:
        connection.execute(query)
    assert error.value.sqlstate == state, error.value
    return error.value


def test_another_table_with_the_number(server, dropped):
    number, row_type = dropped
    # What is made in between takes the row type's number.
    server.turn_back(number + 1)
    with server.admin() as admin:
        admin.execute("CREATE TYPE wedge AS ENUM ('a')")
    server.turn_back(number)
    with (
        server.as_role("victim") as victim,
        server.as_role("accomplice") as accomplice,
        server.as_role("mallory") as mallory,
    ):
        victim.execute(f"CREATE TABLE secret AS {ROWS}")
        found = numbers(victim, "secret")
        assert found[0] == number and found[1] != row_type
        # Nobody opened it.
        for query in COST, ASK:
            refused(accomplice, query.format("secret"), "55000")
        for view in "budget", "ledger", "answers":
            shown = victim.execute(f"SELECT * FROM sanitize.{view}").fetchall()
            assert shown == [], view
        assert accomplice.execute("SELECT * FROM sanitize.answers").fetchall() == []
        # Its former owner and those who asked still see their charges, under no other table's name.
        charged = accomplice.execute("SELECT source, epsilon FROM sanitize.ledger").fetchall()
        assert charged == [(None, 0.1)]
        for query in (
            "SELECT * FROM sanitize.column_domain('secret', 'sex')",
            "SELECT * FROM sanitize.column_bounds('secret', 'age')",
            "SELECT * FROM sanitize.hierarchies",
        ):
            assert victim.execute(query).fetchall() == [], query
        # The release of the first is not one of the second.
        assert mallory.execute("SELECT source FROM sanitize.releases").fetchall() == [(None,)]
        refused(mallory, "SELECT sanitize.refresh('shown')", "42P01")
        label = victim.execute(
            "SELECT sanitize.publish('mine', 'secret', 'k_mii', '{\"k\": 2, \"columns\": [\"sex\"]}')"
        ).fetchone()[0]
        assert not any("earlier" in line for line in label["not_covered"])
        victim.execute("DROP TABLE mine")
        # What its own owner says holds, and begins anew.
        victim.execute("SELECT sanitize.protect('secret', 'id', 5, max_rows_per_unit => 1)")
        victim.execute("SELECT sanitize.declare_domain('secret', 'sex', '{0,1,2}')")
        spent = "SELECT epsilon, epsilon_spent, grantee FROM sanitize.budget"
        assert victim.execute(spent).fetchall() == [(5, 0, None)]
        refused(accomplice, ASK.format("secret"), "42501")
        victim.execute("SELECT sanitize.allow('secret', 'accomplice')")
        assert accomplice.execute(ASK.format("secret")).fetchone() == (1,)
        domain = "SELECT domain_values FROM sanitize.column_domain('secret', 'sex')"
        assert victim.execute(domain).fetchone() == (["0", "1", "2"],)
        victim.execute("DROP TABLE secret")


def test_another_table_with_both_numbers(server, dropped):
    """Whoever can place the counter gets both: then the owner tells the tables apart."""
    server.turn_back(dropped[0])
    with server.as_role("victim") as victim, server.as_role("accomplice") as accomplice:
        victim.execute(f"CREATE TABLE secret AS {ROWS}")
        assert numbers(victim, "secret") == dropped
        for query in COST, ASK:
            error = refused(accomplice, query.format("secret"), "55000")
            assert "another owner" in error.diag.message_primary
        # Nor does a private mechanism run uncharged.
        refused(
            victim,
            "SELECT count(*) FROM sanitize.dp_mii_sample(NULL::secret, 1, 1e-6, 20, columns => '{sex}')",
            "55000",
        )
        victim.execute("SELECT sanitize.unprotect('secret')")
        refused(accomplice, COST.format("secret"), "55000")
        victim.execute("SELECT sanitize.protect('secret', 'id', 5, max_rows_per_unit => 1)")
        refused(accomplice, ASK.format("secret"), "42501")


def test_another_role_with_the_number(server):
    with server.admin() as admin:
        admin.execute(f"CREATE TABLE kept AS {ROWS}")
        admin.execute("SELECT sanitize.protect('kept', 'id', 10, max_rows_per_unit => 1)")
        admin.execute("CREATE ROLE former LOGIN")
        admin.execute("SELECT sanitize.allow('kept', 'former', 4)")
        number = admin.execute("SELECT 'former'::regrole::oid").fetchone()[0]
        with server.as_role("former") as former:
            former.execute(ASK.format("kept"))
        admin.execute("DROP ROLE former")
    server.turn_back(number)
    with server.admin() as admin:
        admin.execute("CREATE ROLE newcomer LOGIN")
        assert admin.execute("SELECT 'newcomer'::regrole::oid").fetchone() == (number,)
        with server.as_role("newcomer") as newcomer:
            refused(newcomer, COST.format("kept"), "42501")
            refused(newcomer, ASK.format("kept"), "42501")
            for view in "budget", "answers":
                assert newcomer.execute(f"SELECT * FROM sanitize.{view}").fetchall() == [], view
            admin.execute("SELECT sanitize.allow('kept', 'newcomer', 4)")
            newcomer.execute(ASK.format("kept"))
        # A role that is renamed is allowed again by its owner, and what it has spent stays.
        admin.execute("ALTER ROLE newcomer RENAME TO renamed")
        with server.as_role("renamed") as renamed:
            refused(renamed, COST.format("kept"), "42501")
            admin.execute("SELECT sanitize.charge('kept', 'x', 1)")
            admin.execute("SELECT sanitize.allow('kept', 'renamed', 4)")
            renamed.execute("SELECT sanitize.charge('kept', 'x', 1)")
            spent = "SELECT epsilon_spent FROM sanitize.budget WHERE grantee = 'renamed'::regrole"
            assert admin.execute(spent).fetchone() == (1.1,)


def test_a_table_that_changes_hands(server):
    """The new owner has allowed nobody: questions wait until the table is protected again."""
    with server.admin() as admin, server.as_role("accomplice") as accomplice:
        admin.execute(f"CREATE TABLE given AS {ROWS}")
        admin.execute("SELECT sanitize.protect('given', 'id', 10, max_rows_per_unit => 1)")
        admin.execute("SELECT sanitize.allow('given', 'accomplice')")
        accomplice.execute(ASK.format("given"))
        admin.execute("ALTER TABLE given OWNER TO victim")
        error = refused(accomplice, ASK.format("given"), "55000")
        assert "sanitize.protect" in error.diag.message_hint
        refused(admin, "SELECT sanitize.charge('given', 'x', 1)", "55000")
        with server.as_role("victim") as victim:
            victim.execute("SELECT sanitize.protect('given', 'id', 10, max_rows_per_unit => 1)")
        assert accomplice.execute(ASK.format("given")).fetchone() == (1,)
        spent = "SELECT epsilon_spent FROM sanitize.budget WHERE source = 'given'::regclass AND grantee IS NULL"
        assert admin.execute(spent).fetchone() == (0.1,)
