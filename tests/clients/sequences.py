"""Random sequences of what can happen to releases, beside a model that says what must be there afterwards.

A step is one operation, or two at the same time. The model knows what an operation does and whether it must
fail; where two orders are possible, or a kill leaves open whether the operation had committed, it has several
states, of which the database must be in one.
"""

import copy
import json
import random
from dataclasses import dataclass, field

# Errors that end an operation without a verdict on it: cancelled, a deadlock.
STOPPED = ("57014", "40P01")
ROLES = ("ann", "bob", None)
BUDGET = 0.7
PRICE = 0.25
# What a column that is added to a table holds.
ADDED = 7
DP = {"measures": {"n": "count"}, "epsilon": PRICE}


class Refused(Exception):
    """The model says that an operation must fail."""


@dataclass
class Table:
    """A table, or a view whose columns are never changed."""

    name: str
    owner: str | None
    # In the model only: {name: type}
    columns: dict[str, str]
    rows: int = 60
    version: int = 0
    number: int = 0
    # Whether the column of that name says so.
    shows_version: bool = True


@dataclass
class Release(Table):
    source: int = 0
    method: str = "k_mii"
    options: dict = field(default_factory=dict)
    comment: str | None = None
    # The columns that are not NULL.
    filled: frozenset = frozenset()


class Model:
    """What must be there: sources and releases by a number that outlives their names."""

    def __init__(self, schema):
        self.schema = schema
        columns = {"ward": "integer", "day": "integer", "version": "integer"}
        self.sources = {
            1: Table("a", None, dict(columns), number=1),
            2: Table("paced", None, dict(columns), number=2),
            3: Table("people", None, {**columns, "id": "integer"}, number=3),
        }
        self.releases = {}
        # Tables that are neither.
        self.plain = {}
        self.entries = {1: 0, 2: 0, 3: 0}
        self.spent = 0
        self.numbers = 3

    def copy(self):
        return copy.deepcopy(self)

    def new_number(self):
        self.numbers += 1
        return self.numbers

    def named(self, name):
        """The table of a name, a source or a target; None if there is none."""
        return next((table for table in self.tables() if table.name == name), None)

    def tables(self):
        return [*self.sources.values(), *self.releases.values(), *self.plain.values()]

    def found(self, name):
        table = self.named(name)
        if table is None:
            raise Refused(f"no {name}")
        return table

    # Operations: each changes the model, or raises Refused and changes nothing that counts.

    def publish(self, by, target, source, method, options, comment):
        of = self.found(source)
        there = self.named(target)
        if there is not None and by not in (None, there.owner):
            raise Refused("not the owner")
        if there is not None and there.number not in self.releases:
            raise Refused("not a release")
        made = there or Release(target, by, {}, number=self.new_number())
        made = copy.copy(made)
        made.method, made.options, made.comment = method, options, comment
        made.source = of.number
        self.fill(made, of, replaces=True)

    def refresh(self, by, target):
        made = self.found(target)
        if by not in (None, made.owner):
            raise Refused("not the owner")
        if made.number not in self.releases:
            raise Refused("not a release")
        of = self.sources.get(made.source)
        if of is None:
            raise Refused("no source")
        self.fill(copy.copy(made), of)

    def fill(self, made, of, replaces=False):
        """Columns that show nothing may differ from the source's; publish changes those of a release that is there."""
        if made.method == "dp_aggregate":
            columns = {
                "groups": "jsonb",
                "measure": "text",
                "value": "numeric",
                "stddev": "double precision",
                "low": "double precision",
                "high": "double precision",
            }
        else:
            columns = dict(of.columns)
        named = made.options.get("columns", [])
        # The unit of people takes no part.
        unit = {"id"} if of.number == 3 and made.method == "k_mii" else set()
        shown = set(named) if named else {*columns, *made.columns} - unit
        differs = any(columns.get(name) != made.columns.get(name) for name in shown)
        if replaces and (differs or made.filled - columns.keys()):
            made.columns = columns
        elif differs or made.filled - columns.keys():
            raise Refused("other columns")
        # The ids of people are their unit, which no release shows.
        made.filled = frozenset(named or columns) - {"id"}
        if made.method == "dp_aggregate":
            if of.number != 3:
                raise Refused("not protected")
            if self.spent + PRICE > BUDGET:
                raise Refused("exhausted")
            self.spent += PRICE
            made.rows, made.shows_version = 1, False
        else:
            if made.options["k"] > of.rows or any(name not in of.columns for name in named):
                raise Refused("k or columns")
            made.rows = of.rows
            made.shows_version = "version" in made.filled
        made.version = of.version
        self.releases[made.number] = made
        self.entries[of.number] = self.entries.get(of.number, 0) + 1

    def retire(self, by, target):
        made = self.found(target)
        if by not in (None, made.owner):
            raise Refused("not the owner")
        if made.number not in self.releases:
            raise Refused("not a release")
        del self.releases[made.number]

    def drop(self, name):
        table = self.found(name)
        for tables in (self.releases, self.sources, self.plain):
            tables.pop(table.number, None)

    def rename(self, name, to):
        if self.named(to):
            raise Refused("the name is taken")
        self.found(name).name = to

    def add_column(self, name, column):
        table = self.found(name)
        if column in table.columns:
            raise Refused("the column is there")
        table.columns = {**table.columns, column: "integer"}
        if column == "version":
            table.version, table.shows_version = ADDED, True
        if isinstance(table, Release):
            table.filled |= {column}

    def drop_column(self, name, column):
        table = self.found(name)
        if column not in table.columns:
            raise Refused("no column")
        table.columns = {c: of for c, of in table.columns.items() if c != column}
        self.loses(table, column)

    def rename_column(self, name, column, to):
        table = self.found(name)
        if column not in table.columns or to in table.columns:
            raise Refused("no column, or the name is taken")
        table.columns = {to if c == column else c: of for c, of in table.columns.items()}
        if isinstance(table, Release) and column in table.filled:
            table.filled |= {to}
        self.loses(table, column)

    def alter_type(self, name, column, to):
        table = self.found(name)
        if column not in table.columns:
            raise Refused("no column")
        table.columns = {**table.columns, column: to}

    def alter_owner(self, name, to):
        self.found(name).owner = to

    def rename_schema(self, to):
        self.schema = to

    def update(self, name):
        table = self.found(name)
        if table.columns.get("version", "text") == "text":
            raise Refused("no number")
        table.version += 1

    def add_rows(self, name, count):
        self.found(name).rows += count

    def recreate(self, name):
        if self.named(name):
            raise Refused("the name is taken")
        columns = {"ward": "integer", "day": "integer", "version": "integer"}
        number = self.new_number()
        self.sources[number] = Table(name, None, columns, number=number)
        self.entries[number] = 0

    def restore(self):
        """A dump has no record of a release whose source is gone: there is no name for it."""
        for number in [n for n, r in self.releases.items() if r.source not in self.sources]:
            self.plain[number] = self.releases.pop(number)

    @staticmethod
    def loses(table, column):
        if isinstance(table, Release):
            table.filled -= {column}
            table.shows_version = table.shows_version and column != "version"

    def state(self):
        """What can be compared with the database."""
        return {
            "schema": self.schema,
            "tables": sorted(
                [t.name, t.owner, sorted(t.columns.items())] for t in self.tables() if t.number != 2
            ),
            "releases": {
                r.name: [
                    self.sources[r.source].name,
                    r.method,
                    r.options,
                    r.comment,
                    r.rows,
                    r.version if r.shows_version else None,
                ]
                for r in self.releases.values()
                if r.source in self.sources
            },
            "orphans": sorted(
                r.name for r in self.releases.values() if r.source not in self.sources
            ),
            "entries": {
                table.name: self.entries.get(table.number, 0)
                for table in [*self.sources.values(), *self.plain.values()]
            },
        }


@dataclass
class Operation:
    """One operation: who does it, its name in the model and what the model needs."""

    by: str | None
    what: str
    given: tuple

    def sql(self, model):
        """The statement; names are those of a schema that the search path has first."""
        given = self.given
        match self.what:
            case "publish":
                target, source, method, options, comment = given
                said = "NULL" if comment is None else f"'{comment}'"
                return (
                    f"SELECT sanitize.publish('{target}', '{source}', '{method}',"
                    f" '{json.dumps(options)}', {said})"
                )
            case "refresh" | "retire":
                return f"SELECT sanitize.{self.what}('{given[0]}')"
            case "drop":
                return f"DROP TABLE {given[0]}"
            case "rename":
                return f"ALTER TABLE {given[0]} RENAME TO {given[1]}"
            case "add_column":
                return f"ALTER TABLE {given[0]} ADD COLUMN {given[1]} integer DEFAULT {ADDED}"
            case "drop_column":
                return f"ALTER TABLE {given[0]} DROP COLUMN {given[1]}"
            case "rename_column":
                return f"ALTER TABLE {given[0]} RENAME COLUMN {given[1]} TO {given[2]}"
            case "alter_type":
                return (
                    f"ALTER TABLE {given[0]} ALTER COLUMN {given[1]} TYPE {given[2]}"
                    f" USING {given[1]}::text::{given[2]}"
                )
            case "alter_owner":
                return f"ALTER TABLE {given[0]} OWNER TO {given[1] or 'postgres'}"
            case "rename_schema":
                return f"ALTER SCHEMA {model.schema} RENAME TO {given[0]}"
            case "update":
                return f"UPDATE {given[0]} SET version = version + 1"
            case "add_rows":
                return (
                    f"INSERT INTO {given[0]} SELECT * FROM {given[0]}"
                    f" ORDER BY ctid LIMIT {given[1]}"
                )
            case "recreate":
                return (
                    f"CREATE TABLE {given[0]} AS SELECT i % 3 AS ward, i % 4 AS day, 0 AS version"
                    f" FROM generate_series(1, 60) AS i; GRANT SELECT ON {given[0]} TO PUBLIC"
                )
        raise AssertionError(self.what)

    def apply(self, model):
        """Whether it goes through, and the model afterwards."""
        after = model.copy()
        given = (self.by, *self.given) if self.what in OWN else self.given
        try:
            getattr(after, self.what)(*given)
        except Refused:
            return False, model.copy()
        return True, after


# What is done with the rights of some role; everything else is done by a superuser.
OWN = ("publish", "refresh", "retire")


class Draws:
    """Operations drawn for a model."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.fresh = 0

    def pick(self, *choices):
        return self.random.choice(choices)

    def target(self, model):
        return self.pick("t1", "t2", *(r.name for r in model.releases.values()))

    def of_release(self, model, source=None):
        """Publish, refresh or retire; publish if a source is given."""
        by = self.pick(*ROLES)
        target = self.target(model)
        there = model.named(target)
        # Most often by somebody who may, and of something that is there.
        if there is not None and self.random.random() < 0.8:
            by = self.pick(there.owner, there.owner, None)
        often = ("publish",) * 8 if there is None else ("publish", "refresh", "refresh")
        what = self.pick("publish", "publish", "refresh", "retire", *often)
        if what != "publish" and source is None:
            return Operation(by, what, (target,))
        sources = [table.name for table in model.sources.values()]
        source = source or self.pick("a", *sources, *sources)
        if source == "people" and self.random.random() < 0.7:
            return Operation(by, "publish", (target, source, "dp_aggregate", DP, None))
        options = self.pick(
            {"k": 2}, {"k": 2}, {"k": 3}, {"k": 3, "columns": ["ward"]}, {"k": 5000}
        )
        comment = self.pick(None, None, "for the ward")
        return Operation(by, "publish", (target, source, "k_mii", options, comment))

    def column(self, model, name):
        table = model.named(name)
        return self.pick("ward", "day", "version", *(table.columns if table else ()))

    def of_source(self, model):
        name = self.pick("a", *(s.name for s in model.sources.values() if s.number not in (2, 3)))
        return self.change(model, name)

    def of_target(self, model):
        return self.change(model, self.target(model))

    def change(self, model, name):
        self.fresh += 1
        new = f"n{self.fresh}"
        what = self.pick(
            *("rename", "add_column", "drop_column", "rename_column", "alter_type"),
            *("alter_owner", "alter_owner", "drop", "rename_schema"),
        )
        column = self.column(model, name)
        table = model.named(name)
        is_number = table is None or table.columns.get(column) in ("integer", "bigint", None)
        if what == "drop_column" and table is not None and len(table.columns) < 2:
            what = "add_column"
        given = {
            "rename": (name, new),
            "add_column": (name, self.pick(new, "more", column)),
            "drop_column": (name, column),
            "rename_column": (name, column, self.pick(new, "day")),
            "alter_type": (name, column, self.pick("bigint", "text") if is_number else "text"),
            "alter_owner": (name, self.pick(*ROLES)),
            "drop": (name,),
            "rename_schema": (f"{model.schema.split('_of_')[0]}_of_{new}",),
        }[what]
        return Operation(None, what, given)

    def of_rows(self, model):
        if model.named("a") is None:
            return Operation(None, "recreate", ("a",))
        return self.pick(
            Operation(None, "update", ("a",)),
            Operation(None, "add_rows", ("a", self.random.randint(1, 5))),
        )

    def operation(self, model):
        kind = self.random.random()
        if kind < 0.6:
            return self.of_release(model)
        if kind < 0.75:
            return self.of_source(model)
        if kind < 0.88:
            return self.of_target(model)
        return self.of_rows(model)


def states_after(model, ended):
    """The states that the model may be in after operations at the same time: [(operation, how it ended), …]"""
    states = []
    for order in (ended, ended[::-1]):
        possible = [model]
        for operation, outcome in order:
            following = []
            for state in possible:
                ok, after = operation.apply(state)
                if outcome in ("done", "unknown") and ok:
                    following.append(after)
                if outcome in ("stopped", "unknown") or (outcome == "failed" and not ok):
                    following.append(state.copy())
            possible = following
        states += possible
    return states


def outcome_of(error):
    """How an operation ended: done, failed, stopped on its way, or unknown, as the connection is gone."""
    if error is None:
        return "done"
    if error.sqlstate in (None, "57P01", "57P02"):
        return "unknown"
    return "stopped" if error.sqlstate in STOPPED else "failed"
