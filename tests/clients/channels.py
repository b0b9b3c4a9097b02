"""What the tests of channels share: protected tables, pairs of questions, and how to compare them.

An analyst may ask and may not read. The two filters of a pair differ in how many rows they match and
in nothing else that matters; whatever a probe sees while one or the other is asked must be equal. A
probe is a function that asks and returns what it saw, as numbers by name. Counters also move for
other reasons (a page of the ledger that fills up, an entry of a cache that is gone), so the two
filters take turns, and a difference is a number that separates them: with one filter it is always
higher than it ever is with the other, in two series of questions.
"""

import json
import re
import threading
import time
from collections import Counter
from contextlib import contextmanager
from typing import NamedTuple

import psycopg


class Filter(NamedTuple):
    column: str
    operator: str
    value: int

    @property
    def json(self):
        return json.dumps({self.column: {self.operator: self.value}})

    @property
    def sql(self):
        return f"{self.column} {self.operator} {self.value}"


SOMEBODY, NOBODY = Filter("person", "=", 17), Filter("person", "=", 99999999)
MANY, NONE = Filter("age", ">", 50), Filter("age", ">", 500)
PAIRS = {"one person": (SOMEBODY, NOBODY), "many people": (MANY, NONE)}

# One row per unit is added up by Postgres, several are bounded first: two ways to read.
TABLES = ("single", "several")
ROWS = 20_000
UNITS = ROWS // 4

MEASURES = '{"n": "count", "d": {"avg": "days", "low": 0, "high": 30}}'


def question(table, epsilon=0.01, measures=MEASURES, more=""):
    """A question with its filter as the parameter."""
    return (
        f"SELECT * FROM sanitize.dp_aggregate('{table}', '{measures}', {epsilon},"
        f" filter => %s::jsonb{more})"
    )


class World:
    """The protected tables, and roles made for one purpose each."""

    def __init__(self, database):
        self.database = database
        self.protected = []
        self.admin = database.connect()
        # Views are of the tables: all are about the same people.
        self.admin.execute("SELECT sanitize.population('everybody', 1e6, 0.5)")
        columns = "age int NOT NULL, ward text NOT NULL, days int NOT NULL, born date NOT NULL"
        values = "i % 100, chr(65 + i % 4), i % 30, date '1990-01-01' + i % 1000"
        for table, person in [("single", "i"), ("several", f"i % {UNITS}")]:
            unique = "UNIQUE" if table == "single" else ""
            self.admin.execute(f"""
                CREATE TABLE {table} (person int NOT NULL, {columns})
                    WITH (autovacuum_enabled = off);
                INSERT INTO {table} SELECT {person}, {values} FROM generate_series(0, {ROWS - 1}) i;
                CREATE {unique} INDEX ON {table} (person);
                CREATE INDEX ON {table} (age);
            """)
            self.admin.execute(f"VACUUM (FREEZE, ANALYZE) {table}")
            self.protect(table, rows=4)

    def protect(self, relation, unit="person", rows=1):
        # Some of the views call functions, which the owner has to vouch for.
        self.admin.execute(
            """SELECT sanitize.protect(%s, %s, max_rows_per_unit => %s, assume_stable => true,
                   population => 'everybody')""",
            [relation, unit, rows],
        )
        if relation not in self.protected:
            self.protected.append(relation)

    def role(self, *grants, reads=False, settings=()):
        """A new role, with settings that only a superuser can give. It may ask, or it may read."""
        role = self.database.regular_user(*grants)
        for relation in self.protected:
            if reads:
                self.admin.execute(f'GRANT SELECT ON {relation} TO "{role}"')
            else:
                self.admin.execute("SELECT sanitize.allow(%s, %s::regrole)", [relation, role])
        for name, value in dict(settings).items():
            self.admin.execute(f"ALTER ROLE \"{role}\" SET {name} = '{value}'")
        return role

    def analyst(self, **options):
        """A connection of somebody who may ask and may not read."""
        return self.database.connect(self.role(**options))

    def reader(self, **options):
        """A connection of somebody who may read."""
        return self.database.connect(self.role(reads=True, **options))

    def settle(self):
        """Ends the workers of the database: what they have counted is visible then."""
        workers = """SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE backend_type LIKE 'pg_sanitize%' AND datname = current_database()"""
        wait_until(lambda: self.admin.execute(workers).fetchone() == (0,))


def wait_until(condition, seconds=10):
    """How long it took until the condition held."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < seconds, "waited in vain"
        time.sleep(0.005)
    return time.monotonic() - began


class Asker:
    """Asks the extension. With a generic plan no argument becomes part of the plan that is shown."""

    def __init__(self, connection):
        self.connection = connection
        connection.execute("SET plan_cache_mode = force_generic_plan")

    def text(self, table):
        return question(table)

    def __call__(self, table, chosen, before=""):
        text = before + self.text(table)
        return self.connection.execute(text, [chosen.json], prepare=not before)

    def literal(self, table, chosen):
        """The question with the filter in it, for statements that take no parameter."""
        return self.text(table).replace("%s", f"'{chosen.json}'")


class Reader:
    """Asks the same of the table itself."""

    def __init__(self, connection, suffix=""):
        self.connection = connection
        self.suffix = suffix

    def __call__(self, table, chosen, before=""):
        return self.connection.execute(before + self.literal(table, chosen))

    def literal(self, table, chosen):
        return f"SELECT * FROM {table} WHERE {chosen.sql} ORDER BY days, born{self.suffix}"


def separated(left, right):
    """The names whose numbers lie apart in two lists of observations, with the two ranges."""
    found = {}
    for name in set().union(*left, *right):
        low, high = sorted(
            (min(numbers), max(numbers), side)
            for side, numbers in enumerate(
                [seen.get(name, 0) for seen in side] for side in (left, right)
            )
        )
        if low[1] < high[0]:
            found[name] = low, high
    return found


def differences(observe, pair, rounds=(4, 6)):
    """What tells the filters of a pair apart: `observe` asks with one and returns what it saw."""
    for chosen in pair:
        observe(chosen)
    found = None
    for number in rounds:
        seen = {chosen: [] for chosen in pair}
        for turn in range(number):
            for chosen in pair if turn % 2 == 0 else reversed(pair):
                seen[chosen].append(observe(chosen))
        apart = separated(*seen.values())
        found = {
            name: ranges
            for name, ranges in apart.items()
            if found is None or name in found and found[name][0][2] == ranges[0][2]
        }
        if not found:
            break
    return found


def differences_by_table(probe, asker, pairs=PAIRS, tables=TABLES):
    """The same for all pairs and tables, those with differences only."""
    found = {
        (table, name): differences(lambda chosen: probe(asker, table, chosen), pair)
        for table in tables
        for name, pair in pairs.items()
    }
    return {place: names for place, names in found.items() if names}


NUMBER = re.compile(r"\d+(?:\.\d+)?")
# How long something takes may depend on the data. Arguments and the text of the question are shown.
NOT_COMPARED = re.compile(
    r"duration: |Tim(e|ing)s?\W*[\d\s:]|[a-z]+=[\d.]+ ms|Function.Call|Query (Text|Para)"
)


def numbers_in(text):
    """How often each line is there, digits aside, and the numbers in it."""
    seen = Counter()
    for line in re.sub(r"time=[\d.]+\.\.[\d.]+ ?", "", text).splitlines():
        if NOT_COMPARED.search(line):
            continue
        shape = NUMBER.sub("#", line.strip())
        seen[shape] += 1
        for place, number in enumerate(NUMBER.findall(line)):
            seen[shape, place] += float(number)
    return dict(seen)


def explain(options):
    """The probe that looks at a plan in one of its forms."""

    def probe(asker, table, chosen):
        lines = [row[0] for row in asker(table, chosen, f"EXPLAIN ({options}) ")]
        if "JSON" in options:
            lines = [json.dumps(lines, indent=1)]
        return numbers_in("\n".join(lines))

    return probe


def outcome(connection, text, *parameters):
    """What comes of a statement, answers aside: None, or the error with all that it says. Parameters
    may be quoted there; they are the caller's own."""
    try:
        connection.execute(text, parameters)
    except psycopg.Error as error:
        diag = error.diag
        said = (diag.message_primary, diag.message_detail, diag.message_hint, diag.context)
        for parameter in parameters:
            said = [part and part.replace(parameter, "?") for part in said]
        return error.sqlstate, *said
    return None


@contextmanager
def messages(connection):
    """The list that everything which the server says in this block is added to."""
    said = []

    def add(notice):
        said.append("\n".join(filter(None, (notice.message_primary, notice.message_detail))))

    connection.add_notice_handler(add)
    try:
        yield said
    finally:
        connection.remove_notice_handler(add)


@contextmanager
def polled(connection, text):
    """The set of rows that another session sees while the block runs and right after it."""
    seen = set()
    done = threading.Event()

    def poll():
        last = False
        while not last:
            last = done.is_set()
            seen.update(connection.execute(text).fetchall())

    poller = threading.Thread(target=poll)
    poller.start()
    try:
        yield seen
    finally:
        done.set()
        poller.join()
