"""One identity of a unit, and one check of what can be a unit, in every mechanism and with every call."""

import psycopg
import pytest
import test_labels

COLUMNS = "columns => '{{sex,smoker}}'"

# Keep at most so many rows of each unit: how many rows they count, with noise that rounds away.
BOUNDING = {
    "dp_aggregate": """SELECT round(value) FROM sanitize.dp_aggregate('{0}', '{{"n": "count"}}', 50)""",
    "dp_aggregate in groups": """SELECT round(sum(value)) FROM sanitize.dp_aggregate('{0}', '{{"n": "count"}}', 50,
        group_by => '{{sex}}', groups => '["f", "m"]')""",
    "dp_aggregate per unit": """SELECT round(value) FROM sanitize.dp_aggregate('{0}',
        '{{"n": {{"count": "sex", "per": "unit", "low": 0, "high": 1}}}}', 50)""",
    "dp_synthesize": f"SELECT count(*) FROM sanitize.dp_synthesize(NULL::{{0}}, 5000, {COLUMNS})",
    "dp_synthesizer": f"""SELECT (m #>> '{{{{model,total}}}}')::int FROM
        sanitize.dp_synthesizer('{{0}}', 5000, {COLUMNS}) AS m""",
}
# Are charged by the row, and refuse a unit that has more rows than the owner says.
BY_ROW = {
    "dp_mii_sample": f"SELECT count(*) FROM sanitize.dp_mii_sample(NULL::{{0}}, 1, 1e-6, 2, {COLUMNS})",
    "dp_itemsets": f"SELECT count(*) FROM sanitize.dp_itemsets('{{0}}', 1, 10, {COLUMNS})",
    "dp_frequent_itemsets": f"SELECT count(*) FROM sanitize.dp_frequent_itemsets('{{0}}', 2, 1, {COLUMNS})",
    "randomize_cells": f"SELECT count(*) FROM sanitize.randomize_cells(NULL::{{0}}, 1, {COLUMNS})",
    "private_krimp_generate": f"""SELECT count(*) FROM
        sanitize.private_krimp_generate(NULL::{{0}}, 1, 5, {COLUMNS})""",
}
# Cost nothing, or call one of the others.
FURTHER = {
    "dp_cost": """SELECT * FROM sanitize.dp_cost('{0}', '{{"n": "count"}}', 1)""",
    "publish dp_synthesize": """SELECT sanitize.publish('{0}_out', '{0}', 'dp_synthesize',
        '{{"epsilon": 1, "columns": ["sex", "smoker"]}}')""",
    "publish dp_mii_sample": """SELECT sanitize.publish('{0}_out', '{0}', 'dp_mii_sample',
        '{{"epsilon": 1, "delta": 1e-6, "k": 2, "columns": ["sex", "smoker"]}}')""",
}
ALL = {**BOUNDING, **BY_ROW, **FURTHER}

# Spellings of one unit, and another unit, of every type that can be one.
ACCEPTED = {
    "smallint": (["1", "01", "+1"], "2"),
    "integer": (["1", "01", "+1"], "2"),
    "bigint": (["1", "01", "+1"], "2"),
    "text": (["ann", "ann", "ann"], "ann "),
    "varchar(9)": (["ann", "ann", "ann"], "ann "),
    "char(9)": (["ann", "ann ", "ann  "], "bob"),
    "bpchar": (["ann", "ann ", "ann  "], "bob"),
    "name": (["ann", "ann", "ann"], "bob"),
    "boolean": (["t", "yes", "1"], "f"),
    "date": (["2020-01-02", "20200102", "January 2, 2020"], "2020-01-03"),
    "time": (["12:00", "12:00:00.0", "12:00 PM"], "00:00"),
    "timestamp": (["2020-01-02 12:00", "20200102T120000", "Jan 2 2020 12:00"], "2020-01-02"),
    "timestamptz": (
        ["2020-01-02 12:00+00", "2020-01-02 13:00+01", "2020-01-02 00:00-12"],
        "-infinity",
    ),
    "uuid": (
        ["a0eebc999c0b4ef8bb6d6bb9bd380a11"] * 2 + ["{A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11}"],
        "a0eebc999c0b4ef8bb6d6bb9bd380a12",
    ),
    "oid": (["1", "01", " 1"], "2"),
    "mood": (["glad"] * 3, "sad"),
    "code": (["ann", "ann ", "ann  "], "bob"),
}
REFUSED_TYPES = ["numeric", "double precision", "interval", "jsonb", "text[]", "amount", '"char"']


@pytest.fixture(scope="module")
def made(database):
    with database.connect() as connection:
        connection.execute("""
            CREATE TYPE mood AS ENUM ('sad', 'glad');
            CREATE DOMAIN code AS bpchar;
            CREATE DOMAIN amount AS numeric;
            CREATE TYPE pair AS (a int, b text);
        """)
    return database


def test_no_private_method_is_left_out():
    """The methods that have a label of differential privacy, which test_labels compares with the registry."""
    tried = {mechanism.partition(" ")[0] for mechanism in [*BOUNDING, *BY_ROW]}
    assert tried == {method for method, _ in test_labels.PRIVATE}
    assert {mechanism.partition(" ")[0] for mechanism in BOUNDING} == test_labels.OF_UNITS


def people(connection, name, of="text"):
    """A protected table of people, of whom one has three rows, without rows yet."""
    connection.execute(f"""
        CREATE TABLE {name} (person {of}, sex text, smoker text);
        SELECT sanitize.declare_domain('{name}', 'sex', '{{f,m}}');
        SELECT sanitize.declare_domain('{name}', 'smoker', '{{yes,no}}');
        SELECT sanitize.protect('{name}', 'person', 1e6, 0.1, 1, row_count_public => true);
    """)


def fill(connection, name, of, spellings, other):
    rows = [(spelling, "f", "yes") for spelling in spellings] + [(other, "m", "no")]
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {name} VALUES (%s::text::{of}, %s, %s)", rows)


def charges(connection, name):
    return connection.execute(
        "SELECT count(*) FROM sanitize.ledger WHERE source = %s::regclass", [name]
    ).fetchone()[0]


def one(connection, query, name):
    return int(connection.execute(query.format(name)).fetchone()[0])


def assert_two_people(connection, name):
    for mechanism, query in BOUNDING.items():
        assert one(connection, query, name) == 2, mechanism
    for mechanism, query in BY_ROW.items():
        with pytest.raises(psycopg.errors.InvalidParameterValue) as refused:
            one(connection, query, name)
        assert "more than 1 rows" in str(refused.value), (mechanism, refused.value)


@pytest.mark.parametrize("of", ACCEPTED)
def test_spellings_of_a_unit_are_one_unit(made, of):
    with made.connect() as connection:
        name = "spelt_" + "".join(filter(str.isalnum, of))
        people(connection, name, of)
        fill(connection, name, of, *ACCEPTED[of])
        assert_two_people(connection, name)
        connection.execute(f"DROP TABLE {name}")


@pytest.mark.parametrize("of", ACCEPTED)
def test_the_type_of_a_unit_may_change(made, of):
    """From text, in which spellings are people, to a type in which they are one."""
    with made.connect() as connection:
        name = "changed_" + "".join(filter(str.isalnum, of))
        people(connection, name)
        fill(connection, name, "text", *ACCEPTED[of])
        connection.execute(f"ALTER TABLE {name} ALTER person TYPE {of} USING person::{of}")
        assert_two_people(connection, name)
        connection.execute(f"DROP TABLE {name}")


def test_padded_units_of_a_view_are_one_unit(made):
    with made.connect() as connection:
        connection.execute("""
            CREATE TABLE short (person char(5), sex text, smoker text);
            CREATE TABLE long (person char(10), sex text, smoker text);
            INSERT INTO short VALUES ('ann', 'f', 'yes'), ('bob', 'm', 'no');
            INSERT INTO long VALUES ('ann', 'f', 'no'), ('ann', 'f', 'no');
            CREATE VIEW padded AS TABLE short UNION ALL TABLE long;
            SELECT sanitize.declare_domain('padded', 'sex', '{f,m}');
            SELECT sanitize.declare_domain('padded', 'smoker', '{yes,no}');
            SELECT sanitize.protect('padded', 'person', 1e6, 0.1, 1, row_count_public => true);
        """)
        assert_two_people(connection, "padded")


def test_zone_names_do_not_make_one_unit_of_two(made):
    """Two instants have one text where a zone calls summer and winter by one name."""
    with made.connect() as connection:
        people(connection, "instants", "timestamptz")
        connection.execute("""
            INSERT INTO instants SELECT timestamptz '2020-10-25 00:30+00' + i * interval '1 hour', 'f', 'yes'
              FROM generate_series(0, 3) i;
            SET DateStyle = 'SQL'; SET TimeZone = 'ABC-1ABC,M3.5.0,M10.5.0/3';
        """)
        texts = connection.execute("SELECT count(DISTINCT person::text) FROM instants").fetchone()
        assert texts == (3,)
        for mechanism, query in BOUNDING.items():
            assert one(connection, query, "instants") == 4, mechanism


@pytest.mark.parametrize("of", REFUSED_TYPES)
def test_a_type_that_cannot_tell_units_apart_is_refused_with_every_call(made, of):
    with made.connect() as connection:
        name = "refused_" + str(REFUSED_TYPES.index(of))
        people(connection, name)
        fill(connection, name, "text", ["1"] * 3, "2")
        connection.execute(f"ALTER TABLE {name} ALTER person TYPE {of} USING NULL::{of}")
        assert_refused(connection, name, "cannot tell units apart")
        with pytest.raises(psycopg.errors.InvalidParameterValue, match="cannot tell units apart"):
            connection.execute(f"SELECT sanitize.protect('{name}', 'person', 1, 0, 1)")
        connection.execute(f"DROP TABLE {name}")


def assert_refused(connection, name, why):
    for mechanism, query in ALL.items():
        with pytest.raises(psycopg.errors.InvalidParameterValue) as refused:
            connection.execute(query.format(name))
        assert why in str(refused.value), (mechanism, refused.value)
    assert charges(connection, name) == 0


def test_a_loose_collation_is_refused_with_every_call(made):
    with made.connect() as connection:
        people(connection, "loosely")
        fill(connection, "loosely", "text", ["ann", "Ann", "ANN"], "bob")
        try:
            connection.execute("""CREATE COLLATION IF NOT EXISTS loose
                (provider = icu, locale = 'und-u-ks-level2', deterministic = false)""")
        except psycopg.errors.FeatureNotSupported as error:
            pytest.skip(f"no nondeterministic collation: {error}")
        connection.execute("ALTER TABLE loosely ALTER person TYPE text COLLATE loose")
        assert_refused(connection, "loosely", "nondeterministic")
        connection.execute('ALTER TABLE loosely ALTER person TYPE text COLLATE "C"')
        for mechanism, query in BOUNDING.items():
            assert one(connection, query, "loosely") == 4, mechanism


def test_of_all_types_exactly_these_can_be_units(made):
    """Every type that a column can have, those of extensions and strangers too."""
    with made.connect() as connection:
        for statement in [
            "CREATE TYPE floats AS RANGE (subtype = float8)",
            "CREATE TYPE strange",
            "CREATE FUNCTION strange_in(cstring) RETURNS strange LANGUAGE internal IMMUTABLE STRICT AS 'int4in'",
            "CREATE FUNCTION strange_out(strange) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'int4out'",
            "CREATE TYPE strange (INPUT = strange_in, OUTPUT = strange_out, LIKE = int4)",
            "CREATE DOMAIN stranger AS strange",
        ]:
            connection.execute(statement)
        for extension in ["citext", "hstore", "ltree"]:
            found = connection.execute(
                "SELECT FROM pg_available_extensions WHERE name = %s", [extension]
            ).fetchone()
            if found is not None:
                connection.execute(f"CREATE EXTENSION {extension}")
        types = [
            name
            for (name,) in connection.execute("""
                SELECT format_type(oid, NULL) FROM pg_type
                 WHERE typtype <> 'p' AND typisdefined AND typname !~ '^_?pg_|^_' AND typrelid = 0
                   AND typnamespace IN ('pg_catalog'::regnamespace, 'public'::regnamespace)
                UNION VALUES ('integer[]'), ('pair'), ('pg_class'), ('pg_lsn'), ('pg_snapshot')""")
        ]
        people(connection, "typed")
        accepted = set()
        for of in types:
            connection.execute(f"ALTER TABLE typed ALTER person TYPE {of} USING NULL::{of}")
            try:
                connection.execute(FURTHER["dp_cost"].format("typed"))
                accepted.add(of)
            except psycopg.errors.InvalidParameterValue as error:
                assert "cannot tell units apart" in str(error), of
        assert accepted == {
            "smallint",
            "integer",
            "bigint",
            "text",
            "character varying",
            "character",
            "name",
            "boolean",
            "date",
            "time without time zone",
            "timestamp without time zone",
            "timestamp with time zone",
            "uuid",
            "oid",
            "mood",
            "code",
        }
        assert len(types) > 60
