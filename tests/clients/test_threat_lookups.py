"""Threat: Postgres lets the owner of a table keep functions in many places. Some of them run when the table is merely
looked at: planning a query evaluates what it can of index conditions, statistics and constraints. A superuser, or who
may read everything, calls our functions on a table whose author is a plain role, or on one that refers to such a table.

What counts: no function of the author's runs with the rights of anybody but its author, except where the caller names
the author's relation for a function that reads it with the caller's rights. A plain SELECT of it runs the same then."""

import psycopg
import pytest
from helpers import fresh_name
from threats import FUNCTIONS, World

# Where functions are kept: what puts one there, and what makes it run, by the author's own rights or another's.
PLACES = {
    "index condition": (
        "CREATE INDEX ON {t} (n) WHERE {f}(1) = 1 AND n > 0",
        "SELECT n FROM {t}",
    ),
    "condition of a unique index": (
        "CREATE UNIQUE INDEX ON {t} ({key}) WHERE {f}(1) = 1 AND n < 0",
        "SELECT n FROM {t}",
    ),
    "index expression": ("CREATE INDEX ON {t} ((n + {f}(1)))", "SELECT n FROM {t}"),
    "statistics": (
        "CREATE STATISTICS {t}_s ON (n + {f}(1)), (n + 1) FROM {t}",
        "ANALYZE {t}; SELECT n FROM {t}",
    ),
    "check": (
        "ALTER TABLE {t} ADD CHECK (n + {f}(1) > -99)",
        "SET constraint_exclusion = on; SELECT n FROM {t} WHERE n > 7",
    ),
    "default": (
        "ALTER TABLE {t} ALTER n SET DEFAULT {f}(1)",
        "INSERT INTO {t} VALUES ('x', 99)",
    ),
    "generated column": (
        "ALTER TABLE {t} ADD g int GENERATED ALWAYS AS ({f}(n)) STORED",
        "INSERT INTO {t} VALUES ('x', 99)",
    ),
    "rule": (
        "CREATE RULE r AS ON UPDATE TO {t} DO ALSO SELECT {f}(1)",
        "UPDATE {t} SET n = n",
    ),
    "trigger": (
        """CREATE FUNCTION {f}() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN PERFORM {f}(1); RETURN NEW; END $$;
        CREATE TRIGGER t BEFORE INSERT OR UPDATE OR DELETE ON {t} FOR EACH ROW EXECUTE FUNCTION {f}()""",
        "INSERT INTO {t} VALUES ('x', 99)",
    ),
    "domain": (
        """CREATE DOMAIN {t}_d AS int CHECK ({f}(VALUE) IS DISTINCT FROM -1);
        ALTER TABLE {t} ADD d {t}_d""",
        "SELECT 1::{t}_d",
    ),
    "cast": (
        """CREATE TYPE {t}_e AS ENUM ('a', 'b');
        CREATE FUNCTION {f}({t}_e) RETURNS text LANGUAGE plpgsql AS
            $$ BEGIN PERFORM {f}(1); RETURN 'a'; END $$;
        CREATE FUNCTION {f}(text) RETURNS {t}_e LANGUAGE plpgsql AS
            $$ BEGIN PERFORM {f}(1); RETURN 'a'::cstring; END $$;
        CREATE CAST ({t}_e AS text) WITH FUNCTION {f}({t}_e) AS IMPLICIT;
        CREATE CAST (text AS {t}_e) WITH FUNCTION {f}(text) AS IMPLICIT;
        ALTER TABLE {t} ADD e {t}_e DEFAULT 'a'""",
        "SELECT e::text FROM {t}",
    ),
    "policy": (
        """CREATE POLICY p ON {t} USING ({f}(n) IS NOT NULL);
        ALTER TABLE {t} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY""",
        "SELECT n FROM {t}",
    ),
}
# Those that forbid what is looked for elsewhere come last, and only where they are asked for.
EXTRA = {"policy", "rule", "trigger"}

# Owners' functions that read the relation they name.
READ_AS_OWNER = {"publish", "sanitize_in_place", "dp_synthesizer"}

# Those whose functions may run when a query is planned.
PLANNED = {
    "index condition",
    "condition of a unique index",
    "index expression",
    "statistics",
    "check",
}

HIDDEN_BY_SUPERUSERS_ONLY = {
    "operator class": "CREATE OPERATOR CLASS o FOR TYPE int USING btree AS OPERATOR 1 <, FUNCTION 1 btint4cmp(int, int)",
    "support function": "CREATE FUNCTION s(int) RETURNS int LANGUAGE sql SUPPORT pg_catalog.generate_series_int4_support AS 'SELECT 1'",
    "estimator": "CREATE FUNCTION e(internal, oid, internal, int) RETURNS float8 LANGUAGE internal AS 'eqsel'",
    "base type": "CREATE TYPE b (INPUT = textin, OUTPUT = textout)",
    "canonical function of a range, which needs this first": "CREATE TYPE r",
}


class Traps:
    """Functions of one author, each with a sequence that is drawn from when it runs for anybody else."""

    def __init__(self, database, connection):
        self.author = database.regular_user(
            "CREATE ON SCHEMA public", f"CREATE ON DATABASE {database.name}"
        )
        self.own = database.connect(self.author)
        self.admin = connection
        self.wires = {}

    def function(self, place):
        name = fresh_name("trap")
        self.admin.execute(f"CREATE SEQUENCE {name}_w; GRANT ALL ON SEQUENCE {name}_w TO PUBLIC")
        self.wires[name] = place
        self.own.execute(f"""
            CREATE FUNCTION {name}(anyelement) RETURNS anyelement LANGUAGE plpgsql IMMUTABLE AS $$
            BEGIN
                IF current_user <> '{self.author}' THEN
                    PERFORM pg_catalog.nextval('public.{name}_w');
                END IF;
                RETURN $1;
            END $$""")
        return name

    def pulled(self):
        """The places whose functions ran with another's rights; forgets it."""
        called = "SELECT sequencename FROM pg_sequences WHERE last_value IS NOT NULL"
        names = [name.removesuffix("_w") for (name,) in self.admin.execute(called).fetchall()]
        found = [name for name in names if name in self.wires]
        for name in found:
            self.admin.execute(f"SELECT setval('{name}_w', 1, false)")
        return sorted(self.wires[name] for name in found)

    def table(self, places):
        """A table of the author's with functions in these places, which everybody may read and refer to."""
        name = fresh_name("hiding")
        self.own.execute(f"""
            CREATE TABLE {name} (ward text UNIQUE, day int UNIQUE, n int);
            INSERT INTO {name} SELECT 'w' || i, i, i FROM generate_series(0, 9) AS i;
            GRANT SELECT, REFERENCES ON {name} TO PUBLIC""")
        self.hide(name, places)
        return name

    def hide(self, table, places):
        """Puts functions in these places of a table of the author's."""
        for place in places:
            self.own.execute(PLACES[place][0].format(t=table, key="day", f=self.function(place)))


@pytest.fixture(scope="module")
def readers(database):
    """Connections are made for each call: what a session has planned once, it does not plan again."""
    everything = database.regular_user()
    with database.connect() as admin:
        admin.execute(f"GRANT pg_read_all_data TO {everything}")
    return {"superuser": None, "may read everything": everything}


@pytest.fixture
def traps(database, connection):
    made = Traps(database, connection)
    yield made
    made.own.close()
    # Casts have no owner, and keep the functions of theirs from being dropped with the role.
    connection.execute(f"DROP OWNED BY {made.author} CASCADE")


def ask(database, user, statement):
    """The SQLSTATE with which a statement of a new session ends; it is rolled back."""
    with database.connect(*([user] if user else [])) as made:
        try:
            with made.transaction(force_rollback=True):
                made.execute(statement)
            return "00000"
        except psycopg.Error as error:
            assert error.sqlstate[:2] not in ("XX", "57"), (statement, error)
            return error.sqlstate


RELATIONS = {"regclass", "anyelement", "sanitize.bag", "text"}


def calls(connection, world):
    """Every function of ours that takes a relation, as it would be called for the world, and what looks at all
    relations."""
    functions = connection.execute(FUNCTIONS).fetchall()
    made = [
        (function, world.call(function, arguments))
        for function, _, arguments in functions
        if RELATIONS & {of for _, of, optional in arguments if not optional}
    ]
    table = world.table
    return made + [
        ("domains", "SELECT * FROM sanitize.domains"),
        (
            "k_anonymize",
            f"SELECT * FROM sanitize.k_anonymize(NULL::{table}, 2, generalize => true)",
        ),
        (
            "dp_aggregate",
            f"""SELECT * FROM sanitize.dp_aggregate('{table}', '{{"d": {{"distinct": "ward"}},
                "s": {{"sum": "day"}}}}', 0.1, group_by => '{{ward}}')""",
        ),
        ("dp_synthesize", f"SELECT * FROM sanitize.dp_synthesize(NULL::{table}, 0.1)"),
        ("column_bounds", f"SELECT * FROM sanitize.column_bounds('{table}', 'day')"),
        ("column_domain", f"SELECT * FROM sanitize.column_domain('{table}', 'day')"),
        ("report", f"SELECT sanitize.privacy_report('{table}')"),
    ]


@pytest.mark.parametrize("place", PLACES)
def test_every_trap_works(database, connection, traps, place):
    """Or nothing would be shown by one that does not spring."""
    table = traps.table([place])
    traps.pulled()
    user = None
    if place == "policy":
        user = database.regular_user()
    ask(database, user, PLACES[place][1].format(t=table))
    assert traps.pulled() == [place]


@pytest.mark.parametrize("what", HIDDEN_BY_SUPERUSERS_ONLY)
def test_what_plain_roles_cannot_make(traps, what):
    """Places that would run as well: Postgres keeps them for superusers."""
    with pytest.raises(psycopg.errors.Error) as refused:
        traps.own.execute(HIDDEN_BY_SUPERUSERS_ONLY[what])
    assert refused.value.sqlstate in ("42501", "42883", "42704", "42809", "42P17", "42P13")


@pytest.mark.parametrize("places", [set(PLACES) - EXTRA, set(PLACES)], ids=["table", "policed"])
def test_tables_that_foreign_keys_refer_to(database, connection, traps, readers, places):
    """The caller names a table of somebody's, whose foreign keys refer to the author's."""
    lists = traps.table([place for place in PLACES if place in places])
    world = World(connection)
    connection.execute(f"""
        DELETE FROM sanitize.declared_domain WHERE source = '{world.table}'::regclass;
        ALTER TABLE {world.table} ADD FOREIGN KEY (ward) REFERENCES {lists} (ward),
            ADD FOREIGN KEY (day) REFERENCES {lists} (day);
        GRANT SELECT ON {world.table} TO PUBLIC""")
    known = f"SELECT count(*) FROM sanitize.column_domain('{world.table}', 'day')"
    assert connection.execute(known).fetchone()[0] == ("policy" not in places)
    traps.pulled()
    went = 0
    made = calls(connection, world)
    for function, statement in made:
        for user in readers.values():
            went += ask(database, user, statement) == "00000"
        assert traps.pulled() == [], function
    assert went > len(made) / 2


@pytest.mark.parametrize("kind", ["table", "policed", "partitioned", "view", "given away"])
def test_tables_of_hierarchies(database, connection, traps, readers, kind):
    """The caller names a table of somebody's, one of whose hierarchies is kept in the author's."""
    places = set(PLACES) - EXTRA if kind != "policed" else set(PLACES)
    table = traps.table([place for place in PLACES if place in places])
    function = traps.function(kind)
    levels = "SELECT i AS level0, i / 2 AS level1 FROM generate_series(0, 9) AS i"
    made = {
        "partitioned": f"""
            CREATE TABLE {table}_h (level0 int, level1 int) PARTITION BY RANGE ((level0 + {function}(1)));
            CREATE TABLE {table}_p PARTITION OF {table}_h FOR VALUES FROM (0) TO (99);
            INSERT INTO {table}_h {levels}""",
        "view": f"CREATE VIEW {table}_h AS SELECT {function}(day) AS level0, n / 2 AS level1 FROM {table}",
    }.get(
        kind,
        f"""
            ALTER TABLE {table} RENAME day TO level0;
            ALTER TABLE {table} ADD level1 int;
            UPDATE {table} SET level1 = level0 / 2""",
    )
    traps.own.execute(made)
    hierarchy = table + ("_h" if kind in ("partitioned", "view") else "")
    if kind == "given away":
        # A superuser's table, one part of which is the author's.
        connection.execute(f"""
            CREATE TABLE {table}_h (level0 int, level1 int);
            INSERT INTO {table}_h {levels};
            ALTER TABLE {table} INHERIT {table}_h""")
        hierarchy = f"{table}_h"
    connection.execute(f"GRANT SELECT ON {hierarchy} TO PUBLIC")
    world = World(connection)
    declared = f'{{"table": "public.{hierarchy}"}}'
    # As it was before row security was switched on, or as an owner might write it down.
    connection.execute(
        """INSERT INTO sanitize.declared_hierarchy (source, column_name, levels, lookup)
           VALUES (%s::regclass, 'day', %s, %s::regclass)
           ON CONFLICT (source, column_name) DO UPDATE SET levels = excluded.levels, lookup = excluded.lookup""",
        [world.table, declared, hierarchy],
    )
    connection.execute(f"GRANT SELECT ON {world.table} TO PUBLIC")
    traps.pulled()
    for user in readers.values():
        went = ask(database, user, f"SELECT * FROM sanitize.hierarchy('{world.table}', 'day')")
        assert went == ("00000" if kind in ("table", "partitioned") else "22023")
        assert traps.pulled() == []
    for function, statement in calls(connection, world):
        ask(database, None, statement)
        assert traps.pulled() == [], function


@pytest.mark.parametrize("places", [set(PLACES) - EXTRA, set(PLACES)], ids=["table", "policed"])
def test_functions_that_do_not_read(database, connection, traps, readers, places):
    """The caller names the author's table. Functions that work for somebody who may not read it do not read it with
    the caller's rights: nothing of the author's runs with these."""
    world = World(traps.own)
    traps.own.execute(f"ALTER TABLE {world.table} ADD n int; UPDATE {world.table} SET n = id")
    for place in (place for place in PLACES if place in places):
        hidden = PLACES[place][0].format(t=world.table, key="id", f=traps.function(place))
        traps.own.execute(hidden)
    stranger = database.regular_user()
    traps.own.execute(f"SELECT sanitize.allow('{world.table}', '{stranger}')")
    traps.pulled()
    silent = 0
    for function, statement in calls(connection, world):
        state = ask(database, stranger, statement)
        # Whoever may not read is told so after the query is planned.
        assert traps.pulled() == [] or state == "42501", function
        owners = state == "42501" and function not in READ_AS_OWNER and is_owners(function)
        if function != "domains" and state != "00000" and not owners:
            continue
        silent += 1
        for user in readers.values():
            ask(database, user, statement)
            assert traps.pulled() == [], function
    assert silent > 12


# What lies below a relation: how it is made of a table, and what of it the author gets.
BELOW = {
    "view of a table": ("CREATE VIEW {v} AS SELECT * FROM {t}", ["{t}"]),
    "view of a view of a table": (
        "CREATE VIEW {t}_v AS SELECT * FROM {t}; CREATE VIEW {v} AS SELECT * FROM {t}_v",
        ["{t}"],
    ),
    "view of a view": (
        "CREATE VIEW {t}_v AS SELECT * FROM {t}; CREATE VIEW {v} AS SELECT * FROM {t}_v",
        ["{t}", "{t}_v"],
    ),
    "partition": (
        """CREATE TABLE {v} (ward text, day int, n int) PARTITION BY LIST (n);
        ALTER TABLE {v} ATTACH PARTITION {t} DEFAULT""",
        ["{t}"],
    ),
    "view of a partition": (
        """CREATE TABLE {t}_p (ward text, day int, n int) PARTITION BY LIST (n);
        ALTER TABLE {t}_p ATTACH PARTITION {t} DEFAULT;
        CREATE VIEW {v} AS SELECT * FROM {t}_p""",
        ["{t}"],
    ),
}


@pytest.mark.parametrize("owner", ["superuser", "plain role"])
@pytest.mark.parametrize("kind", BELOW)
def test_what_lies_below_a_protected_relation(database, connection, traps, kind, owner):
    """A relation is protected, and afterwards something below it is given to the author, who may ask about it."""
    name, table = fresh_name("over"), fresh_name("under")
    made, given = BELOW[kind]
    connection.execute(f"""
        CREATE TABLE {table} (ward text UNIQUE, day int, n int);
        INSERT INTO {table} SELECT 'w' || i, i, i FROM generate_series(0, 9) AS i;
        GRANT SELECT ON {table} TO PUBLIC;
        {made.format(v=name, t=table)}""")
    user = None
    if owner == "plain role":
        user = database.regular_user("CREATE ON SCHEMA public")
        connection.execute(f"ALTER TABLE {name} OWNER TO {user}")
        if "view of a view" in kind:
            connection.execute(f"GRANT SELECT ON {table}_v TO PUBLIC")
        if kind == "view of a partition":
            connection.execute(f"GRANT SELECT ON {table}_p TO PUBLIC")
    protect = f"SELECT sanitize.protect('{name}', 'day', 100, 0.1, max_rows_per_unit => 1)"
    with database.connect(*([user] if user else [])) as own:
        own.execute(protect)
        own.execute(f"SELECT sanitize.allow('{name}', '{traps.author}')")
    question = f"SELECT * FROM sanitize.dp_aggregate('{name}', '{{\"n\": \"count\"}}', 0.1)"
    assert ask(database, traps.author, question) == "00000"
    for one in given:
        connection.execute(f"ALTER TABLE {one.format(t=table)} OWNER TO {traps.author}")
    traps.hide(table, [place for place in PLACES if place in PLANNED])
    if kind == "view of a view":
        function = traps.function("view")
        traps.own.execute(
            f"CREATE OR REPLACE VIEW {table}_v AS SELECT ward, day, {function}(n) AS n FROM {table}"
        )
    traps.own.execute(f"ANALYZE {table}")
    traps.pulled()
    ask(database, user, f"SELECT n FROM {name}")
    assert len(traps.pulled()) >= len(PLANNED) - 1
    spent = "SELECT max(epsilon_spent) FROM sanitize.budget WHERE source = %s::regclass"
    before = connection.execute(spent, [name]).fetchone()
    for asker, statement, state in [
        (traps.author, question, "55000"),
        (user, question, "55000"),
        (user, protect, "55000"),
        (None, protect, "55000"),
        (None, f"SELECT sanitize.protect('{name}', 'ward', 100, 0.1)", "55000"),
        (None, f"SELECT sanitize.declare_domain('{name}', 'n', '{{1}}')", "00000"),
        (user, f"SELECT sanitize.declare_domain('{name}', 'n', '{{1}}')", "00000"),
        (
            None,
            f"SELECT sanitize.declare_hierarchy('{name}', 'n', '{{\"ranges\": [2]}}')",
            "00000",
        ),
    ]:
        assert ask(database, asker, statement) == state, statement
        assert traps.pulled() == [], statement
    assert connection.execute(spent, [name]).fetchone() == before


@pytest.mark.parametrize("kind", ["table", "referring"])
def test_partitions_that_are_written(database, connection, traps, kind):
    """A superuser's table whose rows, or references, are replaced has a partition of the author's."""
    table, part = fresh_name("written"), fresh_name("part")
    connection.execute(f"""
        CREATE TABLE {table}_k (id int PRIMARY KEY, n int);
        INSERT INTO {table}_k SELECT i, i % 2 FROM generate_series(1, 9) AS i;
        CREATE TABLE {table} (id int REFERENCES {table}_k, n int) PARTITION BY LIST (n);
        CREATE TABLE {part} PARTITION OF {table} DEFAULT;
        INSERT INTO {table} SELECT i, i % 2 FROM generate_series(1, 9) AS i;
        ALTER TABLE {part} OWNER TO {traps.author}""")
    for place in ("index condition", "index expression", "check"):
        traps.own.execute(PLACES[place][0].format(t=part, f=traps.function(place)))
    target = table if kind == "table" else f"{table}_k"
    statement = f"""SELECT sanitize.sanitize_in_place('{target}', 'k_mii', '{{"k": 2, "columns": ["n"]}}',
        confirm => '{target}')"""
    traps.pulled()
    assert ask(database, None, statement) == "55000"
    assert traps.pulled() == []
    connection.execute(f"ALTER TABLE {part} OWNER TO CURRENT_USER")
    assert ask(database, None, statement) == "00000"


def test_types_that_are_written(database, connection, traps):
    """Tables of a superuser's with columns of the author's domain: their rows, or references, are not replaced."""
    kind = traps.table(["domain"])
    table = fresh_name("written")
    connection.execute(f"""
        CREATE TABLE {table} (id int PRIMARY KEY, d {kind}_d, k int);
        INSERT INTO {table} SELECT i, i % 2, i % 2 FROM generate_series(1, 9) AS i;
        CREATE TABLE {table}_k (id int PRIMARY KEY, k int);
        INSERT INTO {table}_k SELECT i, i % 2 FROM generate_series(1, 9) AS i;
        CREATE TABLE {table}_r (id {kind}_d REFERENCES {table}_k, k int);
        INSERT INTO {table}_r SELECT i, i FROM generate_series(1, 9) AS i""")
    traps.pulled()
    for target, columns in ((table, '["d", "k"]'), (f"{table}_k", '["k"]')):
        statement = f"""SELECT sanitize.sanitize_in_place('{target}', 'k_mii', '{{"k": 2, "columns": {columns}}}',
            confirm => '{target}')"""
        assert ask(database, None, statement) == "55000"
        assert traps.pulled() == []


def test_domains_of_two_authors(database, connection, traps):
    """Whoever builds a domain over another's, and calls, gets nothing run with the other's rights."""
    other = Traps(database, connection)
    kind = other.table(["domain"])
    function = traps.function("domain over another's")
    traps.own.execute(f"""
        CREATE DOMAIN {kind}_o AS {kind}_d CHECK ({function}(VALUE::int) IS DISTINCT FROM -1);
        CREATE TABLE {kind}_t (o {kind}_o)""")
    traps.pulled()
    for user in (traps.author, None):
        statement = f"SELECT sanitize.declare_domain('{kind}_t', 'o', '{{1}}')"
        assert ask(database, user, statement) == "55000"
        assert traps.pulled() == [] and other.pulled() == []
    connection.execute(f"ALTER DOMAIN {kind}_d OWNER TO {traps.author}")
    assert ask(database, None, statement) == "00000"
    assert traps.pulled() == []
    other.own.close()
    connection.execute(f"DROP OWNED BY {other.author} CASCADE")


def test_types_of_the_author(database, connection, traps, readers):
    """The caller names a table of a superuser's with columns of the author's types, or with types that are made of
    them. A reader reads it with the rights of its owner."""
    kind = traps.table(["domain", "cast"])
    world = World(connection)
    connection.execute(f"""
        CREATE DOMAIN {kind}_s AS {kind}_d;
        CREATE TYPE {kind}_c AS (x {kind}_s, y int);
        ALTER TABLE {world.table} ADD e {kind}_e DEFAULT 'a', ADD d {kind}_d, ADD s {kind}_s, ADD c {kind}_c,
            ADD a {kind}_d[];
        UPDATE {world.table} SET e = 'b' WHERE day = 1;
        UPDATE {world.table} SET d = day, s = day, c = row(day, 1)::{kind}_c, a = ARRAY[day]::{kind}_d[];
        GRANT SELECT ON {world.table} TO PUBLIC""")
    ask_about = f"SELECT * FROM sanitize.dp_aggregate('{world.table}', "
    # What others below need comes last.
    declared = [
        """hierarchy('{t}', 'c', '{"tree": [{"(0,1)": "(1,1)"}]}')""",
        """hierarchy('{t}', 's', '{"tree": [{"0": "1", "1": "1"}]}')""",
        """hierarchy('{t}', 's', '{"ranges": [2]}')""",
        """bounds('{t}', 's', '0', '9')""",
        """domain('{t}', 'd', '{0,1,2,3,4}')""",
        """domain('{t}', 's', '{0,1,2,3,4}')""",
        """domain('{t}', 'c', '{"(0,1)","(1,1)","(2,1)"}')""",
        """domain('{t}', 'a', '{"{0}","{1}"}')""",
    ]
    traps.pulled()
    for one in declared:
        connection.execute(f"SELECT sanitize.declare_{one}".replace("{t}", world.table))
        assert traps.pulled() == [], one
    made = [
        "dp_synthesize(NULL::{t}, 0.1, columns => '{d,s}')",
        "dp_synthesize(NULL::{t}, 0.1, columns => '{c,a}')",
        "randomize_cells(NULL::{t}, 1, columns => '{d,s}')",
        "k_mii(NULL::{t}, 2, columns => '{d,s,c,a}')",
        "k_anonymize(NULL::{t}, 2, columns => '{s}', generalize => true)",
        "generalize(NULL::{t}, '{\"s\": 1}')",
        "krimp_generate(NULL::{t}, n => 9, min_support => 9, columns => '{s,c}')",
    ]
    more = [(one, f"SELECT * FROM sanitize.{one}".replace("{t}", world.table)) for one in made]
    more += [
        (
            "publish",
            f"""SELECT sanitize.publish('{world.table}', '{fresh_name("kept")}', 'k_mii',
                '{{"k": 2, "columns": ["d", "s", "c", "a"]}}')""",
        ),
        (
            "privacy_report",
            f"SELECT sanitize.privacy_report('{world.table}')",
        ),
        ("dp_aggregate", ask_about + """'{"n": {"distinct": "e"}}', 0.1, group_by => '{e}')"""),
        (
            "dp_aggregate",
            ask_about
            + """'{"n": "count"}', 0.1, '{"e": "a"}', group_by => '{e}', groups => '[{"e": "a"}, {"e": null}]')""",
        ),
        (
            "audit_answers",
            f"""SELECT * FROM sanitize.audit_answers('{world.table}',
                '{{"unit": "e", "low": 0, "high": 9, "answers": [{{"sum": "day", "filter": {{"e": "a"}}}}]}}')""",
        ),
        (
            "dp_synthesize",
            f"SELECT * FROM sanitize.dp_synthesize(NULL::{world.table}, 0.1, columns => '{{e}}')",
        ),
        ("k_mii", f"SELECT * FROM sanitize.k_mii(NULL::{world.table}, 2, columns => '{{e,d}}')"),
        (
            "randomize_cells",
            f"SELECT * FROM sanitize.randomize_cells(NULL::{world.table}, 1, columns => '{{e}}')",
        ),
    ]
    for function, statement in more + calls(connection, world):
        for user in readers.values():
            state = ask(database, user, statement)
            # Only a superuser owns the table.
            assert state == "00000" or user or function not in made, function
        assert traps.pulled() == [], function


def is_owners(function):
    return function.startswith(("protect", "unprotect", "allow", "disallow", "declare", "drop_h"))
