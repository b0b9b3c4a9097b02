"""What is public, over random schemas: tables that refer to each other and to themselves, children, views, protected
relations and row security. Beside it the definition, by searching for a path from what is asked to those who are
protected."""

import random

import psycopg
import pytest

COLUMNS = ["id", "a", "b"]


class Schema:
    """Random relations r0, r1, …; each has the columns id, a and b."""

    def __init__(self, seed):
        self.rng = rng = random.Random(seed)
        self.tables, self.views, self.keys, self.parent = [], {}, {}, {}
        self.statements = []
        for i in range(rng.randint(4, 8)):
            name = f"r{i}"
            if self.tables and rng.random() < 0.3:
                self.view(name)
            else:
                self.table(name)
        names = self.tables + list(self.views)
        self.protected = {}
        for name in rng.sample(names, rng.randint(0, 2)):
            self.protected[name] = rng.choice(COLUMNS)
        self.secured = {name for name in self.tables if rng.random() < 0.1}
        for name in self.secured:
            self.statements.append(f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY")

    def table(self, name):
        rng = self.rng
        inherits = ""
        if self.tables and rng.random() < 0.2:
            self.parent[name] = rng.choice(self.tables)
            inherits = f" INHERITS ({self.parent[name]})"
        self.statements.append(f"CREATE TABLE {name} (id int PRIMARY KEY, a int, b int){inherits}")
        self.tables.append(name)
        for column in ("a", "b"):
            if rng.random() < 0.5:
                self.keys[name, column] = rng.choice(self.tables)
                self.statements.append(
                    f"ALTER TABLE {name} ADD FOREIGN KEY ({column}) REFERENCES {self.keys[name, column]} (id)"
                )

    def view(self, name):
        """Columns of one relation, and of another one that is joined."""
        rng = self.rng
        first = rng.choice(self.tables + list(self.views))
        second = rng.choice(self.tables + list(self.views)) if rng.random() < 0.5 else None
        self.views[name] = (first, second)
        joined = f" CROSS JOIN {second} AS y" if second else ""
        last = "y.b" if second else "x.b"
        self.statements.append(
            f"CREATE VIEW {name} AS SELECT x.id, x.a, {last} AS b FROM {first} AS x{joined}"
        )

    # The definition.
    def kin(self, name):
        """The relation with all that it inherits from, or that inherits from it, and so on."""
        found, new = set(), {name}
        while new:
            found |= new
            new = {self.parent[one] for one in found if one in self.parent}
            new |= {child for child, parent in self.parent.items() if parent in found}
            new -= found
        return found

    def read(self, name):
        """The relation, and what it reads if it is a view."""
        found = {name}
        for part in self.views.get(name, ()):
            found |= self.read(part) if part else set()
        return found

    def origins(self, name, column):
        """(relation, column) on the way from a view's column to the tables; None if rows of others matter."""
        if name not in self.views:
            return [(name, column)]
        first, second = self.views[name]
        if second and column == "b":
            # The unit comes from the other one.
            first, second = second, first
        inner = self.origins(first, column)
        if inner is None:
            return None
        if second:
            there = set().union(*(self.kin(one) for one in self.read(second)))
            here = set().union(*(self.kin(one) for one, _ in inner))
            if there & (here | set(self.protected)):
                return None
        return [(name, column)] + inner

    def units(self, name):
        """The relations that are about the units of this one, before anything refers to them."""
        if name not in self.protected:
            return self.read(name)
        places = self.origins(name, self.protected[name])
        if places is None:
            places = [(one, column) for one in self.read(name) for column in COLUMNS]
        found, new = set(), set(places)
        while new:
            found |= new
            new = {(one, column) for name, column in found for one in self.kin(name)}
            new |= {(self.keys[place], "id") for place in found if place in self.keys}
            new -= found
        return {one for one, _ in found} | {name}

    def leads_to(self, name, goal, seen):
        """True if a path of foreign keys leads from the relation, or from what it reads, to one of the goal."""
        if name in seen:
            return False
        seen.add(name)
        if name in goal:
            return True
        following = self.kin(name) | self.read(name)
        following |= {target for (table, _), target in self.keys.items() if table == name}
        return any(self.leads_to(one, goal, seen) for one in following)

    def is_public(self, source, other):
        for private in [source, *self.protected]:
            if self.leads_to(other, self.units(private), set()):
                return False
        return not any(kin in self.secured for one in self.read(other) for kin in self.kin(one))


@pytest.mark.parametrize("part", range(4))
def test_public_relations_of_random_schemas(connection, part):
    tried = {True: 0, False: 0}
    for seed in range(part * 10, part * 10 + 10):
        schema = Schema(seed)
        with connection.transaction(force_rollback=True):
            for statement in schema.statements:
                connection.execute(statement)
            # Some are views of others: all have one budget.
            connection.execute("SELECT sanitize.population('all', 1)")
            for name, unit in schema.protected.items():
                connection.execute(
                    f"""SELECT sanitize.protect('{name}', '{unit}', max_rows_per_unit => 3, assume_stable => true,
                            population => 'all')"""
                )
            for (name, column), target in schema.keys.items():
                found = connection.execute(
                    f"SELECT origin FROM sanitize.column_domain('{name}', '{column}')"
                ).fetchall()
                expected = schema.is_public(name, target)
                tried[expected] += 1
                assert (found == [("foreign key",)]) == expected, (
                    seed,
                    name,
                    column,
                    schema.statements,
                )
            named = schema.tables + list(schema.views)
            for _ in range(4):
                source, other = schema.rng.choice(named), schema.rng.choice(named)
                expected = schema.is_public(source, other)
                tried[expected] += 1
                assert is_taken(connection, source, other) == expected, (
                    seed,
                    source,
                    other,
                    schema.statements,
                )
    assert min(tried.values()) > 8


def is_taken(connection, source, other):
    """Whether a relation is taken for public by a private sample of another one."""
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(
                f"""SELECT * FROM sanitize.dp_mii_sample(NULL::{source}, 1, 0.1, 2, columns => '{{a}}',
                        public_source => '{other}', theta1 => 1)"""
            )
    except psycopg.Error as error:
        return "is not public" not in str(error)
    return True


def test_a_view_is_what_it_reads_now(database, connection):
    """A transaction with a fixed snapshot sees the dependencies of before, and reads by the definition of now."""
    connection.execute("""
        CREATE TABLE folk (id int, a int);
        CREATE TABLE listed (id int, a int);
        CREATE VIEW shown AS SELECT id, a FROM listed;
    """)
    assert is_taken(connection, "folk", "shown")
    with database.connect(autocommit=False) as early:
        early.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        early.execute("SELECT 1 FROM pg_class LIMIT 1")
        connection.execute("CREATE OR REPLACE VIEW shown AS SELECT id, a FROM folk")
        assert not is_taken(early, "folk", "shown")
