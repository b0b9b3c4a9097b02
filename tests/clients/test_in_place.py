"""Tables sanitized in place: random schemas keep their joins, nobody else's code runs with the caller's rights,
and what fails or is cancelled changes nothing."""

import random
from collections import Counter

import psycopg
import pytest
from helpers import assert_stops, fresh_name
from psycopg.types.json import Jsonb
from publishing import WAITS, Background, wait_for

TYPES = {
    "int4": "(7 * {i})::int4",
    "int2": "(7 * {i})::int2",
    "int8": "(1000000007 * {i}::int8)",
    "numeric": "(3 * {i})::numeric",
    "uuid": "md5({i}::text)::uuid",
    "text": "'key ' || {i}",
    "varchar": "('k' || {i})::varchar(9)",
}
ACTIONS = ["NO ACTION", "CASCADE", "RESTRICT", "SET NULL"]
DEFERRED = ["", "DEFERRABLE", "DEFERRABLE INITIALLY DEFERRED"]


def in_place(connection, table, method="mii_suppress", confirm=None, **options):
    return connection.execute(
        "SELECT sanitize.sanitize_in_place(%s::pg_catalog.text::pg_catalog.regclass, %s, %s, %s)",
        [table, method, Jsonb(options or {"theta": 2}), confirm or table],
    ).fetchone()[0]


class Schema:
    """A random parent with a key of one to three columns, children and grandchildren that refer to it."""

    def __init__(self, connection, random):
        self.connection = connection
        self.connection.execute("SELECT setseed(%s)", [random.random()])
        self.parent = fresh_name("parent")
        self.width = random.randint(1, 3)
        types = [random.choice(list(TYPES)) for _ in range(self.width)]
        rows = random.randint(3, 60)
        keys = [f"k{i}" for i in range(self.width)]
        listed = ", ".join(keys)
        primary = self.width > 1 or random.random() < 0.5
        columns = ", ".join(f"{k} {t} NOT NULL" for k, t in zip(keys, types, strict=True))
        # The first column tells rows apart; the others repeat.
        values = [TYPES[types[0]].format(i="i")]
        values += [TYPES[t].format(i="(i % 5)") for t in types[1:]]
        connection.execute(f"""
            CREATE TABLE {self.parent} ({columns}, name text, a int, b text,
                {"PRIMARY KEY" if primary else "UNIQUE"} ({listed}));
            INSERT INTO {self.parent} SELECT {", ".join(values)}, 'name ' || i, i % 3, 'b' || i % 7
                FROM generate_series(1, {rows}) AS i""")
        self.keys, self.tables = keys, [self.parent]
        if random.random() < 0.5:
            self.refer(random, self.parent, self.parent, "mother")
        for number in range(random.randint(0, 3)):
            child = fresh_name("child")
            connection.execute(f"CREATE TABLE {child} (tag serial UNIQUE, note text)")
            connection.execute(
                f"INSERT INTO {child} (note) SELECT 'note' FROM generate_series(1, {random.randint(0, 80)})"
            )
            self.refer(random, child, self.parent, f"r{number}_")
            self.tables.append(child)
        # One to one with the parent, and referred to itself: a chain of keys.
        if random.random() < 0.6:
            twin, grandchild = fresh_name("twin"), fresh_name("grandchild")
            connection.execute(f"""
                CREATE TABLE {twin} AS SELECT {listed}, 'twin of ' || name AS twin_of FROM {self.parent};
                ALTER TABLE {twin} ADD PRIMARY KEY ({listed}),
                    ADD FOREIGN KEY ({listed}) REFERENCES {self.parent} ({listed}) {self.action(random)};
                CREATE TABLE {grandchild} AS SELECT row_number() OVER () AS tag, {listed} FROM {twin};
                ALTER TABLE {grandchild} ADD FOREIGN KEY ({listed}) REFERENCES {twin} ({listed}) {self.action(random)}""")
            self.tables += [twin, grandchild]

    def action(self, random):
        update, delete = random.choice(ACTIONS), random.choice(ACTIONS)
        return f"ON UPDATE {update} ON DELETE {delete} {random.choice(DEFERRED)}"

    def refer(self, random, child, parent, stem):
        """Gives the child columns that refer to rows of the parent by chance, or to none."""
        types = dict(
            self.connection.execute(
                "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0",
                [parent],
            ).fetchall()
        )
        named = [(f"{stem}{key}", key) for key in self.keys]
        for column, key in named:
            self.connection.execute(f"ALTER TABLE {child} ADD COLUMN {column} {types[key]}")
        columns = ", ".join(column for column, _ in named)
        keys = ", ".join(self.keys)
        picked = ", ".join(f"p.{key}" for key in self.keys)
        self.connection.execute(f"""
            UPDATE {child} AS c SET ({columns}) = (SELECT {picked} FROM {parent} AS p
                WHERE random() < 0.8 AND c.ctid IS NOT NULL ORDER BY random() LIMIT 1);
            ALTER TABLE {child} ADD FOREIGN KEY ({columns}) REFERENCES {parent} ({keys}) {self.action(random)}""")

    def references(self):
        return self.connection.execute(
            """SELECT conname, conrelid::regclass::text, confrelid::regclass::text,
                      (SELECT array_agg(attname::text ORDER BY n) FROM unnest(conkey) WITH ORDINALITY AS k(a, n)
                         JOIN pg_attribute ON attrelid = conrelid AND attnum = a),
                      (SELECT array_agg(attname::text ORDER BY n) FROM unnest(confkey) WITH ORDINALITY AS k(a, n)
                         JOIN pg_attribute ON attrelid = confrelid AND attnum = a)
                 FROM pg_constraint WHERE contype = 'f' AND conrelid = ANY (%s::regclass[])""",
            [self.tables],
        ).fetchall()

    def orphans(self):
        """How many rows break a foreign key, each counted by a query of its own."""
        total = 0
        for _, child, parent, own, other in self.references():
            matched = " AND ".join(f"p.{b} = c.{a}" for a, b in zip(own, other, strict=True))
            whole = " AND ".join(f"c.{a} IS NOT NULL" for a in own)
            total += self.connection.execute(
                f"SELECT count(*) FROM {child} AS c WHERE {whole} AND NOT EXISTS (SELECT FROM {parent} AS p WHERE {matched})"
            ).fetchone()[0]
        return total

    def joined(self):
        """For each foreign key, which row meets which, by columns that are no keys."""
        found = {}
        for name, child, parent, own, other in self.references():
            tags = [self.tag(table) for table in (child, parent)]
            matched = " AND ".join(f"p.{b} = c.{a}" for a, b in zip(own, other, strict=True))
            found[name] = Counter(
                self.connection.execute(
                    f"SELECT {tags[0].format('c')}, {tags[1].format('p')} FROM {child} AS c LEFT JOIN {parent} AS p ON {matched}"
                ).fetchall()
            )
        return found

    def tag(self, table):
        if table == self.parent:
            return "{0}.name"
        return "{0}.twin_of" if table.startswith("twin") else "{0}.tag::text"

    def values(self):
        listed = ", ".join(f"{key}::text" for key in self.keys)
        return self.connection.execute(f"SELECT {listed} FROM {self.parent}").fetchall()


@pytest.mark.parametrize("seed", range(40))
def test_random_schemas_keep_their_joins_and_no_key(connection, seed):
    schema = Schema(connection, random.Random(seed))
    joined, values = schema.joined(), schema.values()
    label = in_place(connection, schema.parent, keep=["name"], theta=2)
    assert schema.joined() == joined
    assert schema.orphans() == 0
    assert {name.split(".")[1] for name in (k["column"] for k in label["keys_replaced"])} == set(
        schema.keys
    )
    after = schema.values()
    for column in range(schema.width):
        old, new = ({row[column] for row in rows} for rows in (values, after))
        assert not old & new
        assert len(old) == len(new)
        # Rows share a value exactly if they shared one before: sizes of groups say so together with the joins.
        sizes = [sorted(Counter(row[column] for row in rows).values()) for rows in (values, after)]
        assert sizes[0] == sizes[1]
    # What Postgres itself says of the constraints, once more from the start.
    for name, child, _, _, _ in schema.references():
        definition = connection.execute(
            "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = %s AND conrelid = %s::regclass",
            [name, child],
        ).fetchone()[0]
        connection.execute(f"ALTER TABLE {child} ADD CONSTRAINT again {definition}")


def test_new_keys_are_in_no_order_of_the_old_ones(connection):
    """Ranks of old and new keys, and of the places of rows, have nothing to do with each other."""
    table = fresh_name("ranks")
    connection.execute(
        f"CREATE TABLE {table} AS SELECT i AS id, i AS was, 1 AS a FROM generate_series(1, 2000) AS i;"
        f"ALTER TABLE {table} ADD PRIMARY KEY (id)"
    )
    in_place(connection, table, keep=["was"], theta=2)
    by_key, by_place = connection.execute(
        f"""SELECT corr(was, key), corr(was, place) FROM (SELECT was, rank() OVER (ORDER BY id) AS key,
               rank() OVER (ORDER BY ctid) AS place FROM {table}) AS ranked"""
    ).fetchone()
    # 2000 ranks in a random order: the deviation is 1 / sqrt(1999), about 0.022, and this is 7 of them.
    assert abs(by_key) < 0.16
    assert abs(by_place) < 0.16


@pytest.fixture
def family(connection):
    """A parent with a child, each as (name, rows)."""
    parent, child = fresh_name("parent"), fresh_name("child")
    connection.execute(f"""
        CREATE TABLE {parent} (id serial PRIMARY KEY, a int, b text);
        INSERT INTO {parent} (a, b) SELECT i % 3, 'b' || i % 4 FROM generate_series(1, 300) AS i;
        INSERT INTO {parent} (a, b) VALUES (99, 'the only one');
        CREATE TABLE {child} AS SELECT id AS parent, 'child of ' || id AS note FROM {parent};
        ALTER TABLE {child} ADD FOREIGN KEY (parent) REFERENCES {parent} ON DELETE CASCADE;
        ANALYZE {parent}, {child}""")
    return parent, child


def contents(connection, *tables):
    return [
        sorted(map(str, connection.execute(f"SELECT * FROM {table}").fetchall()))
        for table in tables
    ]


def test_a_rollback_brings_everything_back(connection, family):
    parent, child = family
    before = contents(connection, parent, child, f"{parent}_id_seq", "pg_stats")
    with connection.transaction(force_rollback=True):
        assert in_place(connection, parent, "k_mii", k=5)["rows"] == 300
        assert contents(connection, parent, child) != before[:2]
    assert contents(connection, parent, child, f"{parent}_id_seq", "pg_stats") == before


def test_a_cancelled_call_changes_nothing(database, connection):
    table = fresh_name("large")
    connection.execute(f"""
        SELECT setseed(0.5);
        CREATE TABLE {table} AS SELECT i AS id, (random() * 300)::int AS a, (random() * 300)::int AS b,
            (random() * 300)::int AS c, (random() * 300)::int AS d FROM generate_series(1, 300000) AS i;
        ALTER TABLE {table} ADD PRIMARY KEY (id)""")
    before = connection.execute(f"SELECT sum(hashtext(x::text)::int8) FROM {table} AS x").fetchone()
    for phase in ("suppressing", "reading"):
        assert_stops(
            database,
            phase,
            f"""SELECT sanitize.sanitize_in_place('{table}', 'mii_suppress', '{{"theta": 3}}', '{table}')""",
        )
    after = connection.execute(f"SELECT sum(hashtext(x::text)::int8) FROM {table} AS x").fetchone()
    assert after == before


def test_statistics_hold_nothing_of_the_originals(connection, family):
    parent, child = family
    label = in_place(connection, parent, "k_mii", k=5)
    assert any("old row versions" in line for line in label["not_covered"])
    remembered = "SELECT attname, most_common_vals::text, histogram_bounds::text FROM pg_stats WHERE tablename = %s"
    assert connection.execute(remembered, [parent]).fetchall() == []
    assert [row[0] for row in connection.execute(remembered, [child])] == ["note"]


def test_rows_that_came_while_it_waited_are_sanitized_too(database, connection, family):
    parent, child = family
    with database.connect() as other, other.transaction():
        other.execute(f"INSERT INTO {child} VALUES (1, 'late')")
        waiting = Background(
            database,
            f"""SELECT sanitize.sanitize_in_place('{parent}', 'k_mii', '{{"k": 5}}', '{parent}')""",
        )
        wait_for(connection, WAITS, [waiting.connection.info.backend_pid])
    waiting.join()
    assert waiting.error is None
    found = f"SELECT count(*), count(p.id) FROM {child} LEFT JOIN {parent} AS p ON p.id = parent"
    assert connection.execute(found).fetchone() == (301, 301)


def test_a_foreign_key_made_while_it_waited(database, connection, family):
    parent, _ = family
    later = fresh_name("later")
    with database.connect() as other, other.transaction():
        other.execute(f"""
            CREATE TABLE {later} AS SELECT id AS parent FROM {parent} WHERE b <> 'the only one';
            ALTER TABLE {later} ADD FOREIGN KEY (parent) REFERENCES {parent}""")
        waiting = Background(
            database,
            f"""SELECT sanitize.sanitize_in_place('{parent}', 'k_mii', '{{"k": 5}}', '{parent}')""",
        )
        wait_for(connection, WAITS, [waiting.connection.info.backend_pid])
    waiting.join()
    assert waiting.error is None
    found = f"SELECT count(*), count(p.id) FROM {later} LEFT JOIN {parent} AS p ON p.id = parent"
    assert connection.execute(found).fetchone() == (300, 300)


def test_only_owners_of_the_table_and_of_what_refers_to_it(database, connection, family):
    parent, child = family
    user = database.regular_user(
        f"ALL ON {parent}", f"ALL ON {child}", f"ALL ON {parent}_id_seq", "CREATE ON SCHEMA public"
    )
    with database.connect(user) as other:
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match=f"owner of {parent}"):
            in_place(other, parent, "k_mii", k=5)
        connection.execute(f"ALTER TABLE {parent} OWNER TO {user}")
        before = contents(connection, parent, child)
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match=f"owner of {child}"):
            in_place(other, parent, "k_mii", k=5)
        assert contents(connection, parent, child) == before
        connection.execute(f"ALTER TABLE {child} OWNER TO {user}")
        assert in_place(other, parent, "k_mii", k=5)["rows"] == 300


def test_code_of_the_owners_runs_with_their_rights(database, connection, family):
    """A superuser's call meets a CHECK and an index that others have put on table and child."""
    parent, child = family
    owners = [database.regular_user("CREATE ON SCHEMA public") for _ in range(2)]
    for table, owner, column in zip(family, owners, ("a", "parent"), strict=True):
        connection.execute(f"ALTER TABLE {table} OWNER TO {owner}")
        with database.connect(owner) as other:
            other.execute(f"""
                CREATE FUNCTION {table}_who(x int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
                BEGIN
                    IF current_user <> '{owner}' THEN RAISE EXCEPTION 'ran as %', current_user; END IF;
                    RETURN x;
                END $$;
                CREATE INDEX ON {table} ({table}_who({column}));
                ALTER TABLE {table} ADD CHECK ({table}_who({column}) IS NOT NULL OR true)""")
    assert in_place(connection, parent, "k_mii", k=5)["rows"] == 300
    connection.execute(f"DROP TABLE {child}, {parent}")


def test_foreign_keys_of_other_tables_are_checked_meanwhile(connection):
    """Code that a CHECK runs during the call cannot write what a foreign key forbids."""
    target, other, others_child = (fresh_name(stem) for stem in ("target", "other", "others_child"))
    connection.execute(f"""
        CREATE TABLE {other} (id int PRIMARY KEY);
        CREATE TABLE {others_child} (other int REFERENCES {other});
        CREATE FUNCTION {target}_writes(x int) RETURNS bool LANGUAGE plpgsql AS $$
            BEGIN INSERT INTO {others_child} VALUES (-1); RETURN true; END $$;
        CREATE TABLE {target} (id int PRIMARY KEY, a int);
        INSERT INTO {target} SELECT i, 1 FROM generate_series(1, 9) AS i;
        ALTER TABLE {target} ADD CHECK ({target}_writes(a)) NOT VALID""")
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        in_place(connection, target)


def test_hostile_objects_in_the_search_path(database, connection, family):
    parent, child = family
    schema = fresh_name("hostile")
    connection.execute(f"""
        CREATE SCHEMA {schema};
        CREATE FUNCTION {schema}.trap(a int, b int) RETURNS bool LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'trapped'; END $$;
        CREATE OPERATOR {schema}.= (LEFTARG = int, RIGHTARG = int, FUNCTION = {schema}.trap);
        CREATE FUNCTION {schema}.gen_random_uuid() RETURNS uuid LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'trapped'; END $$;
        CREATE TABLE {schema}.made (id int, a int, b text);
        CREATE TABLE {schema}.keys_0 (old int, fresh int, number int8);
        INSERT INTO {schema}.keys_0 VALUES (1, 1, 1);
        CREATE TABLE {schema}.pg_constraint (conrelid oid)""")
    connection.execute(f"SET search_path = {schema}, pg_catalog, public")
    in_place(connection, f"public.{parent}", "k_mii", k=5)
    connection.execute("RESET search_path")
    found = f"SELECT count(*), count(p.id), min(p.id) FROM {child} LEFT JOIN {parent} AS p ON p.id = parent"
    assert connection.execute(found).fetchone()[:2] == (300, 300)


@pytest.mark.parametrize("name", ['a"b', "x'; DROP TABLE safe; --", "Größe ☃", "select", "made"])
def test_names_that_need_quotes(connection, name):
    quoted = '"' + name.replace('"', '""') + '"'
    schema = fresh_name("named")
    connection.execute(f"""
        CREATE SCHEMA {schema};
        CREATE TABLE {schema}.{quoted} ({quoted} int PRIMARY KEY, old int, number int, fresh int);
        INSERT INTO {schema}.{quoted} SELECT i, i % 2, 3, 4 FROM generate_series(1, 40) AS i""")
    label = connection.execute(
        "SELECT sanitize.sanitize_in_place(%s::text::regclass, 'k_mii', %s, %s)",
        [f"{schema}.{quoted}", Jsonb({"k": 5}), name],
    ).fetchone()[0]
    assert label["rows"] == 40
    found = connection.execute(
        f"SELECT count(*), sum(old), min(number), min(fresh) FROM {schema}.{quoted}"
    )
    assert found.fetchone() == (40, 20, 3, 4)
