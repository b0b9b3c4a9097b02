"""Functions that read a table whose rows lie on other servers: the answers are those of one server, and only bags
travel."""

import re
from collections import Counter

import psycopg
import pytest
from shards import ShardedDatabase

MINED = "{sex,age,zip,work,since,height,paid,smokes}"


@pytest.fixture(scope="module")
def sharded(cluster):
    made = ShardedDatabase(cluster)
    made.make_people()
    made.make_table(
        "small",
        "sex text, age int",
        [f"SELECT {i}, 'f', 20 + i % 3 FROM generate_series(1, 100) AS i" for i in range(3)],
    )
    yield made
    made.drop()


def asked_for(connection, query):
    """What the progress lines say that shards are asked for, and the rows of the query."""
    told = set()

    def hear(notice):
        found = re.fullmatch(
            r"pg_sanitize: reading (bags|rows) of [0-9]+ shards?", notice.message_primary
        )
        told.update(found.groups() if found else ())

    connection.add_notice_handler(hear)
    connection.execute("SET pg_sanitize.progress = 1000")
    rows = connection.execute(query).fetchall()
    connection.execute("RESET pg_sanitize.progress")
    connection.remove_notice_handler(hear)
    return told, rows


def same(connection, query, table, other):
    """The rows of the query are the same of both tables, and those of the first came as bags."""
    told, rows = asked_for(connection, query % table)
    assert told == {"bags"}
    there = connection.execute(query % other).fetchall()
    assert Counter(map(repr, rows)) == Counter(map(repr, there))
    return rows


QUERIES = {
    "mine_miis": f"SELECT * FROM sanitize.mine_miis('%s', 50, '{MINED}')",
    "mii_risk": f"SELECT * FROM sanitize.mii_risk('%s', 50, '{MINED}')",
    "frequent_itemsets": f"SELECT * FROM sanitize.frequent_itemsets('%s', 100000, '{MINED}')",
    "krimp_codetable": "SELECT * FROM sanitize.krimp_codetable('%s', 100000, '{sex,age,zip,work}')",
    "k_anonymity": f"SELECT sanitize.k_anonymity('%s', '{MINED}')",
    "k_anonymize": """SELECT sex, age, zip, work, since, height, paid, smokes, count(*)
        FROM sanitize.k_anonymize(NULL::%s, 100, '{sex,age,zip,work,since,height,paid,smokes}')
        GROUP BY 1, 2, 3, 4, 5, 6, 7, 8""",
    # The unit is a column of the bag like any other.
    "k_anonymity by people": "SELECT sanitize.k_anonymity('%s', '{sex,age}', unit => 'zip')",
    "class_risk by people": "SELECT * FROM sanitize.class_risk('%s', 'work', '{sex,age}', unit => 'since')",
    "k_anonymize by people": """SELECT sex, age, work, count(*)
        FROM sanitize.k_anonymize(NULL::%s, 5, '{sex,age,work}', unit => 'zip') GROUP BY 1, 2, 3""",
}


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_answers_are_those_of_one_server(coordinator, query):
    assert same(coordinator, query, "people", "people_here")


def test_private_models_are_those_of_one_server(coordinator):
    for table in ("people", "people_here"):
        for column, values in {"sex": "{f,m}", "work": "{job 0,job 1,job 2,job 3,miner}"}.items():
            coordinator.execute(
                "SELECT sanitize.declare_domain(%s, %s, %s)", [table, column, values]
            )
        coordinator.execute("SELECT sanitize.declare_bounds(%s, 'age', '0', '100')", [table])
    # The bin of a value is asked for by CASE, which postgres_fdw sends since PostgreSQL 15.
    columns = "sex,age,work" if coordinator.info.server_version >= 150000 else "sex,work"
    query = f"SELECT sanitize.dp_synthesizer('%s', 1, columns => '{{{columns}}}', seed => 7)"
    assert same(coordinator, query, "people", "people_here")


def test_a_bag_is_made_on_the_shard(coordinator):
    plan = coordinator.execute(
        "EXPLAIN (VERBOSE) SELECT sanitize.row_bag(ARRAY['sex', 'age'], sex, age) FROM people_1"
    ).fetchall()
    plan = "\n".join(line for (line,) in plan)
    assert "Relations: Aggregate on" in plan
    assert "Remote SQL: SELECT sanitize.row_bag('{sex,age}'::text[], sex, age) FROM" in plan


def test_shards_work_at_the_same_time(coordinator):
    """What the functions ask, as they write it."""
    asked = """SELECT {0} , sanitize_internal.bag_packed(sanitize.row_bag('{{f1,f2}}'::pg_catalog.cstring[], sex, age))
        FROM ONLY public.people_{0}"""
    query = " UNION ALL ".join(asked.format(number) for number in range(3))
    plan = coordinator.execute(f"EXPLAIN (VERBOSE) {query}").fetchall()
    plan = "\n".join(line for (line,) in plan)
    assert plan.count("Relations: Aggregate on") == 3
    if coordinator.info.server_version >= 150000:
        assert plan.count("Async Foreign Scan") == 3


def test_shards_without_the_option_are_asked_for_rows(sharded, coordinator):
    query = "SELECT sanitize.k_anonymity('small', '{sex,age}')"
    told, bags = asked_for(coordinator, query)
    assert told == {"bags"}
    with sharded.pulling_rows():
        told, rows = asked_for(coordinator, query)
    assert told == {"rows"} and rows == bags


def test_a_release_tells_how_its_source_was_read(sharded, coordinator):
    publish = """SELECT sanitize.publish('told', 'small', 'k_anonymize',
        '{"k": 5, "columns": ["sex", "age"]}')"""
    read = "SELECT guarantee ->> 'read' FROM sanitize.releases WHERE target = 'told'::regclass"
    assert coordinator.execute(publish).fetchone()[0]["read"] == "bags of 3 shards"
    assert coordinator.execute(read).fetchone() == ("bags of 3 shards",)
    assert coordinator.execute("SELECT count(*) FROM told").fetchone() == (300,)
    with sharded.pulling_rows():
        coordinator.execute("SELECT sanitize.refresh('told')")
    assert coordinator.execute(read).fetchone() == ("rows of 3 shards",)
    coordinator.execute("SELECT sanitize.retire('told')")


COPY = "CREATE TABLE {0}_here AS SELECT * FROM {0}"
ROWS_OF = "SELECT t::text FROM sanitize.k_anonymize(NULL::%s, 2) AS t"
ITEMS_OF = "SELECT * FROM sanitize.frequent_itemsets('%s', 1, max_length => 2)"


def test_types_are_read_as_rows_are(sharded, coordinator):
    sharded.make_table(
        "kinds",
        """moment timestamptz, span interval, real_number float8, short real, bytes bytea, number numeric,
           letters char(5), word varchar(9), day date, hours time, zone timetz, truth boolean, big bigint,
           address inet, id uuid, tree jsonb, list integer[], name name, bits bit(3)""",
        [
            f"""SELECT {part}, TIMESTAMPTZ '2024-06-01 12:00+02' + i * INTERVAL '1 hour', INTERVAL '-1 day 02:03' * i,
                CASE i % 3 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' ELSE 0.1::float8 + 0.2 END, 1.1, decode('00ff5c27', 'hex'),
                CASE i % 2 WHEN 0 THEN 1.0 ELSE 1.00 END, 'ab', 'é"''\\ ', DATE '0044-03-15 BC', TIME '24:00', TIMETZ '10:00+05:30',
                i % 2 = 0, 2 ^ 62 + i, INET '10.0.0.1/8', md5(i::text)::uuid, JSONB '{{"b": 1, "a": [null]}}',
                ARRAY[1, NULL, i], 'n', B'101'
              FROM generate_series(1, 4) AS i, generate_series(1, 2)
              UNION ALL SELECT {part}{", NULL" * 19} FROM generate_series(1, 2)"""
            for part in range(3)
        ],
    )
    coordinator.execute(COPY.format("kinds"))
    for setting in (
        "TimeZone = 'Asia/Kolkata'",
        "DateStyle = 'SQL, DMY'",
        "IntervalStyle = 'sql_standard'",
        "extra_float_digits = -15",
        "bytea_output = 'escape'",
    ):
        coordinator.execute(f"SET {setting}")
        assert len(same(coordinator, ROWS_OF, "kinds", "kinds_here")) == 30
        assert same(coordinator, ITEMS_OF, "kinds", "kinds_here")


def test_types_that_do_not_travel_come_as_rows(sharded, coordinator):
    """postgres_fdw sends nothing that has a type of the user's."""
    for number in range(3):
        with sharded.shard(number) as shard:
            shard.execute("CREATE TYPE mood AS ENUM ('sad', 'glad')")
            shard.execute("CREATE DOMAIN tiny AS integer CHECK (VALUE < 10)")
    coordinator.execute("CREATE TYPE mood AS ENUM ('glad', 'sad')")
    coordinator.execute("CREATE DOMAIN tiny AS integer CHECK (VALUE < 10)")
    rows = [
        f"SELECT {i}, 'glad'::mood, 3 UNION ALL SELECT {i}, 'sad', {i} FROM generate_series(1, 5)"
        for i in range(3)
    ]
    sharded.make_table("feelings", "feels mood, size tiny", rows)
    coordinator.execute(COPY.format("feelings"))
    told, rows = asked_for(coordinator, ROWS_OF % "feelings")
    assert told == {"rows"}
    assert Counter(rows) == Counter(coordinator.execute(ROWS_OF % "feelings_here"))
    told, _ = asked_for(coordinator, "SELECT sanitize.k_anonymity('feelings', '{part}')")
    assert told == {"bags"}


def test_transactions(sharded, coordinator):
    """Columns of lists, which are no items to other functions."""
    rows = "SELECT {}, ARRAY[1 + i % 3, 4 + i % 2, 7] FROM generate_series(1, 300) AS i"
    rows += " UNION ALL SELECT {}, NULL"
    sharded.make_table("baskets", "items int[]", [rows.replace("{}", str(i)) for i in range(3)])
    coordinator.execute(COPY.format("baskets"))
    query = """SELECT * FROM sanitize.randomized_itemsets('%s', 'items', 3, 0.125,
        sanitize.select_a_size_keep(3, 0.125, 9, 1), 0.1)"""
    assert same(coordinator, query, "baskets", "baskets_here")


def test_names_and_orders_of_columns(sharded, coordinator):
    """Quotes and capitals in names, other names, orders and dropped columns on the shards."""
    for number in range(2):
        with sharded.shard(number) as shard:
            shard.execute(
                """CREATE TABLE "O'Hara ""x"" y" (gone int, "It's" text, "a""b" int, "Größe, m" text)"""
            )
            shard.execute("""ALTER TABLE "O'Hara ""x"" y" DROP gone""")
            shard.execute("""INSERT INTO "O'Hara ""x"" y" SELECT 'v' || i % 3, i % 2, 'ü'
                FROM generate_series(1, 10) AS i""")
    coordinator.execute("""CREATE TABLE "Named ""t"" s" (k int, "a""b" int, "Größe, m" text, "{It's}" text)
        PARTITION BY LIST (k)""")
    coordinator.execute("""CREATE FOREIGN TABLE odd_0 (was int, "{It's}" text OPTIONS (column_name 'It''s'), k int
            OPTIONS (column_name 'a"b'), "Größe, m" text, "a""b" int)
        SERVER s0 OPTIONS (table_name 'O''Hara "x" y')""")
    coordinator.execute("ALTER FOREIGN TABLE odd_0 DROP was")
    coordinator.execute(
        """ALTER TABLE "Named ""t"" s" ATTACH PARTITION odd_0 FOR VALUES IN (0, 1)"""
    )
    coordinator.execute("""CREATE FOREIGN TABLE odd_1 PARTITION OF "Named ""t"" s"
        FOR VALUES IN (2, 3) SERVER s1 OPTIONS (table_name 'O''Hara "x" y')""")
    for column, name in {"k": 'a"b', "{It's}": "It''s"}.items():
        coordinator.execute(
            f"""ALTER FOREIGN TABLE odd_1 ALTER "{column}" OPTIONS (column_name '{name}')"""
        )
    coordinator.execute("""CREATE TABLE named_here AS SELECT * FROM "Named ""t"" s" """)
    for query in (ROWS_OF, ITEMS_OF):
        assert same(coordinator, query, '"Named ""t"" s"', "named_here")


def test_partitions_of_all_kinds(sharded, coordinator):
    """Partitions of partitions, on this server too, and on a server without the option."""
    for number in range(3):
        with sharded.shard(number) as shard:
            shard.execute("CREATE TABLE mixed (a int, b text)")
            shard.execute(
                f"INSERT INTO mixed SELECT {number}, 'b' || i % 4 FROM generate_series(1, 9) AS i"
            )
    sharded.add_server(coordinator, "plain", 2)
    coordinator.execute("CREATE TABLE mixed (a int, b text) PARTITION BY LIST (a)")
    coordinator.execute(
        "CREATE TABLE mixed_sub PARTITION OF mixed FOR VALUES IN (0, 1) PARTITION BY LIST (a)"
    )
    for number, (parent, server) in enumerate(
        [("mixed_sub", "s0"), ("mixed_sub", "s1"), ("mixed", "plain")]
    ):
        coordinator.execute(
            f"""CREATE FOREIGN TABLE mixed_{number} PARTITION OF {parent} FOR VALUES IN ({number})
                SERVER {server} OPTIONS (table_name 'mixed')"""
        )
    coordinator.execute("CREATE TABLE mixed_3 PARTITION OF mixed FOR VALUES IN (3)")
    coordinator.execute(
        "INSERT INTO mixed_3 SELECT 3, 'b' || i % 5 FROM generate_series(1, 9) AS i"
    )
    coordinator.execute(COPY.format("mixed"))
    for query in (ROWS_OF, ITEMS_OF):
        assert Counter(map(repr, coordinator.execute(query % "mixed"))) == Counter(
            map(repr, coordinator.execute(query % "mixed_here"))
        )
    told, _ = asked_for(coordinator, ITEMS_OF % "mixed")
    assert told == {"bags"}
    # A table that others inherit from, and a foreign table by itself.
    coordinator.execute("CREATE TABLE heirs (a int, b text)")
    coordinator.execute("INSERT INTO heirs VALUES (7, 'own')")
    coordinator.execute(
        "CREATE FOREIGN TABLE heir () INHERITS (heirs) SERVER s0 OPTIONS (table_name 'mixed')"
    )
    assert coordinator.execute(
        "SELECT sum(support) FROM sanitize.frequent_itemsets('heirs', 1, '{a}')"
    ).fetchone() == (10,)
    told, rows = asked_for(coordinator, "SELECT sanitize.k_anonymity('heir', '{a}')")
    assert (told, rows) == ({"bags"}, [(9,)])
    assert coordinator.execute("SELECT sanitize.k_anonymity('mixed', '{a}')").fetchone() == (9,)


def test_empty_shards_and_empty_tables(sharded, coordinator):
    sharded.make_table(
        "few", "a text", ["SELECT 0, 'x' WHERE false", "SELECT 1, 'y'", "SELECT 2, 'x' WHERE false"]
    )
    assert coordinator.execute("SELECT sanitize.k_anonymity('few', '{a}')").fetchone() == (1,)
    sharded.make_table("none", "a text", ["SELECT 0, 'x' WHERE false"] * 3)
    assert coordinator.execute("SELECT sanitize.k_anonymity('none', '{a}')").fetchone() == (None,)


def test_more_columns_than_an_aggregate_takes(sharded, coordinator):
    columns = ", ".join(f"c{i} int" for i in range(1, 121))
    values = ", ".join(f"i % {i % 5 + 1}" for i in range(1, 121))
    sharded.make_table(
        "wide",
        columns,
        [f"SELECT {i}, {values} FROM generate_series(1, 20) AS i" for i in range(3)],
    )
    coordinator.execute(COPY.format("wide"))
    count = "SELECT count(*), sum(support) FROM sanitize.frequent_itemsets('{}', 1, {}, 1)"
    for most, told_of in ((97, {"bags"}), (98, {"rows"})):
        names = "'{part," + ",".join(f"c{i}" for i in range(1, most + 1)) + "}'"
        told, rows = asked_for(coordinator, count.format("wide", names))
        assert told == told_of
        assert rows == coordinator.execute(count.format("wide_here", names)).fetchall()


def test_views_are_read_as_rows(coordinator):
    coordinator.execute("CREATE VIEW young AS SELECT sex, zip FROM people WHERE age < 30")
    told, rows = asked_for(coordinator, "SELECT sanitize.k_anonymity('young')")
    assert told == set()
    coordinator.execute("CREATE VIEW young_here AS SELECT sex, zip FROM people_here WHERE age < 30")
    assert rows == coordinator.execute("SELECT sanitize.k_anonymity('young_here')").fetchall()


def test_rights_on_the_table_suffice(sharded, coordinator):
    """Who may read the table but not its partitions gets the same answers, from rows."""
    coordinator.execute("CREATE ROLE only_parent LOGIN")
    coordinator.execute("CREATE ROLE only_parts LOGIN")
    coordinator.execute("GRANT SELECT ON small TO only_parent")
    coordinator.execute("GRANT SELECT ON small_0, small_1, small_2 TO only_parts")
    query = "SELECT sanitize.k_anonymity('small', '{sex,age}')"
    with sharded.connect(user="only_parent") as reader:
        told, rows = asked_for(reader, query)
        assert told == {"rows"} and rows == coordinator.execute(query).fetchall()
        coordinator.execute("GRANT SELECT (sex, age) ON small_0, small_1, small_2 TO only_parent")
        told, rows = asked_for(reader, query)
        assert told == {"bags"} and rows == coordinator.execute(query).fetchall()
    denied = pytest.raises(psycopg.errors.InsufficientPrivilege, match="table small")
    with sharded.connect(user="only_parts") as reader, denied:
        reader.execute(query)


def test_row_security_holds(sharded, coordinator):
    coordinator.execute("CREATE ROLE secured LOGIN")
    coordinator.execute("GRANT SELECT ON small, small_0, small_1, small_2 TO secured")
    coordinator.execute("ALTER TABLE small ENABLE ROW LEVEL SECURITY")
    coordinator.execute("CREATE POLICY young ON small USING (age = 20)")
    try:
        with sharded.connect(user="secured") as reader:
            query = "SELECT * FROM sanitize.frequent_itemsets('small', 1, '{age}')"
            told, rows = asked_for(reader, query)
            assert told == {"rows"} and [items for items, *_ in rows] == [{"age": "20"}]
            reader.execute("SET row_security = off")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                reader.execute(query)
    finally:
        coordinator.execute("DROP POLICY young ON small")
        coordinator.execute("ALTER TABLE small DISABLE ROW LEVEL SECURITY")
