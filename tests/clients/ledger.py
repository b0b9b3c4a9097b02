"""What the tests of the ledger share: charging, and looking at what is added up."""

SUMS = "epsilon_spent, delta_spent, rho_spent, rest_epsilon, rest_delta"


def charge(connection, source, epsilon=0.001):
    connection.execute("SELECT sanitize.charge(%s::regclass, 'test', %s)", [source, epsilon])


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
