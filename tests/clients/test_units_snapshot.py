"""What is said of the rows of a unit is said of the rows that are used: one query, or one snapshot."""

import threading
import time

import psycopg
import pytest
from test_units import BOUNDING, BY_ROW, charges, one, people

# Waits for a lock after the statement's snapshot is taken, and before the function is called.
WAIT = "CASE WHEN pg_advisory_xact_lock(21)::text = '' THEN {} END"


def crowd(connection, name, rows):
    people(connection, name, "integer")
    connection.execute(f"""
        INSERT INTO {name} SELECT 1, 'f', 'yes' FROM generate_series(1, {rows});
        INSERT INTO {name} VALUES (2, 'm', 'no');
    """)


def snapshot(database):
    """A transaction that goes on seeing the database as it is now."""
    early = database.connect(autocommit=False)
    early.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    early.execute("SELECT 1 FROM pg_class LIMIT 1")
    return early


def meanwhile(database, query, change):
    """What the query returns, or its error, if `change` is committed between its snapshot and its call."""
    outcome = []

    def ask():
        with database.connect() as asking:
            try:
                outcome.append(asking.execute(query).fetchone()[0])
            except psycopg.Error as error:
                outcome.append(error)

    with database.connect() as other:
        other.execute("SELECT pg_advisory_lock(21)")
        asker = threading.Thread(target=ask)
        asker.start()
        for _ in range(600):
            waiting = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
            if other.execute(waiting).fetchone() is not None:
                break
            time.sleep(0.05)
        other.execute(change)
        other.execute("SELECT pg_advisory_unlock(21)")
        asker.join()
    return outcome[0]


def waiting(query, name):
    """The query with a wait in its epsilon, which is the first number there."""
    head, _, rest = query.format(name).partition(", ")
    epsilon, _, rest = rest.partition(", ")
    return f"{head}, {WAIT.format(epsilon)}, {rest}"


@pytest.mark.parametrize("mechanism", BY_ROW)
def test_rows_that_are_deleted_meanwhile_count_if_they_are_read(database, connection, mechanism):
    name = f"deleted_{mechanism}"
    crowd(connection, name, 41)
    change = f"DELETE FROM {name} WHERE ctid <> ALL (ARRAY(SELECT min(ctid) FROM {name} GROUP BY person))"
    outcome = meanwhile(database, waiting(BY_ROW[mechanism], name), change)
    assert isinstance(outcome, psycopg.errors.InvalidParameterValue), outcome
    assert "more than 1 rows" in str(outcome)
    # Of the rows as they are now nobody has two.
    one(connection, BY_ROW[mechanism], name)


@pytest.mark.parametrize("mechanism", BY_ROW)
def test_rows_that_are_inserted_meanwhile_do_not_count(database, connection, mechanism):
    name = f"inserted_{mechanism}"
    crowd(connection, name, 1)
    change = f"INSERT INTO {name} SELECT 1, 'f', 'yes' FROM generate_series(1, 40)"
    outcome = meanwhile(database, waiting(BY_ROW[mechanism], name), change)
    assert not isinstance(outcome, psycopg.Error), outcome
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="more than 1 rows"):
        one(connection, BY_ROW[mechanism], name)


MAKE_KEY = """DELETE FROM {0} WHERE ctid <> ALL (ARRAY(SELECT min(ctid) FROM {0} GROUP BY person));
    ALTER TABLE {0} ADD PRIMARY KEY (person)"""


@pytest.mark.parametrize("mechanism", [m for m in BOUNDING if "aggregate" not in m])
def test_a_key_says_nothing_of_rows_before_it(database, connection, mechanism):
    """A transaction that began before the key was made sees 41 rows of one unit, and a key."""
    name = f"keyed_{mechanism}"
    crowd(connection, name, 41)
    with snapshot(database) as early:
        connection.execute(MAKE_KEY.format(name))
        assert early.execute(f"SELECT count(*) FROM {name}").fetchone() == (42,)
        assert one(early, BOUNDING[mechanism], name) == 2
    assert one(connection, BOUNDING[mechanism], name) == 2


@pytest.mark.parametrize("mechanism", BY_ROW)
def test_rows_before_a_key_are_counted(database, connection, mechanism):
    name = f"counted_{mechanism}"
    crowd(connection, name, 41)
    with snapshot(database) as early:
        connection.execute(MAKE_KEY.format(name))
        with pytest.raises(psycopg.errors.InvalidParameterValue, match="more than 1 rows"):
            one(early, BY_ROW[mechanism], name)
    one(connection, BY_ROW[mechanism], name)


def test_a_partition_that_came_later_is_under_no_key(database, connection):
    connection.execute("""
        CREATE TABLE parted (person int PRIMARY KEY, sex text, smoker text) PARTITION BY RANGE (person);
        CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (10);
        INSERT INTO parted VALUES (2, 'm', 'no');
        CREATE TABLE parted_2 (person int NOT NULL, sex text, smoker text);
        INSERT INTO parted_2 SELECT 11, 'f', 'yes' FROM generate_series(1, 41);
        SELECT sanitize.declare_domain('parted', 'sex', '{f,m}');
        SELECT sanitize.declare_domain('parted', 'smoker', '{yes,no}');
        SELECT sanitize.protect('parted', 'person', 1e6, 0.1);
    """)
    with snapshot(database) as early:
        connection.execute("""
            DELETE FROM parted_2 WHERE ctid <> (SELECT min(ctid) FROM parted_2);
            ALTER TABLE parted ATTACH PARTITION parted_2 FOR VALUES FROM (10) TO (20);
        """)
        assert one(early, BOUNDING["dp_synthesize"], "parted") == 2
    assert one(connection, BOUNDING["dp_synthesize"], "parted") == 2


def assert_two_units(early, name, rows):
    """Two units have all the rows, and no mechanism takes a row for a unit."""
    assert early.execute(f"SELECT count(*) FROM {name}").fetchone() == (rows,)
    for mechanism, query in BOUNDING.items():
        if "aggregate" not in mechanism:
            assert one(early, query, name) == 2, mechanism
    for mechanism, query in BY_ROW.items():
        with pytest.raises(psycopg.errors.InvalidParameterValue) as refused, early.transaction():
            one(early, query, name)
        assert "more than 1 rows" in str(refused.value), (mechanism, refused.value)


def keyed(connection, name, of="integer"):
    people(connection, name, of)
    connection.execute(f"ALTER TABLE {name} ADD PRIMARY KEY (person)")


def test_a_key_that_is_gone_says_nothing_of_own_rows(database, connection):
    keyed(connection, "unkeyed")
    connection.execute("INSERT INTO unkeyed VALUES (2, 'm', 'no')")
    with snapshot(database) as early:
        connection.execute("ALTER TABLE unkeyed DROP CONSTRAINT unkeyed_pkey")
        early.execute("INSERT INTO unkeyed SELECT 1, 'f', 'yes' FROM generate_series(1, 41)")
        assert_two_units(early, "unkeyed", 42)


def test_a_key_that_is_gone_says_nothing_of_frozen_rows(database, connection):
    keyed(connection, "frozen")
    with snapshot(database) as early:
        with connection.transaction(), connection.cursor() as cursor:
            cursor.execute("ALTER TABLE frozen DROP CONSTRAINT frozen_pkey; TRUNCATE frozen")
            with cursor.copy("COPY frozen FROM STDIN (FREEZE)") as copy:
                for row in [(2, "m", "no")] + [(1, "f", "yes")] * 41:
                    copy.write_row(row)
        assert_two_units(early, "frozen", 42)


def test_a_key_says_nothing_of_another_type(database, connection):
    """Spellings that were people are one person in the type that the column has now."""
    keyed(connection, "spelt", "text")
    connection.execute("""
        INSERT INTO spelt SELECT rpad('ann', 3 + i), 'f', 'yes' FROM generate_series(0, 40) i;
        INSERT INTO spelt VALUES ('bob', 'm', 'no');
    """)
    with snapshot(database) as early:
        connection.execute("""
            DELETE FROM spelt WHERE person LIKE 'ann %';
            ALTER TABLE spelt ALTER person TYPE bpchar;
        """)
        assert_two_units(early, "spelt", 42)


def test_a_key_says_nothing_of_own_rows_in_the_place_of_deleted_ones(database, connection):
    """The snapshot shows a row that is deleted, so nothing keeps its key from being inserted again."""
    keyed(connection, "again")
    connection.execute("INSERT INTO again VALUES (1, 'f', 'yes'), (2, 'm', 'no')")
    with snapshot(database) as early:
        connection.execute("DELETE FROM again WHERE person = 1")
        early.execute("INSERT INTO again VALUES (1, 'f', 'yes')")
        assert_two_units(early, "again", 3)


def test_not_null_that_is_not_valid_makes_no_key(connection):
    """Rows of nobody do not count, whatever is said of rows to come."""
    people(connection, "unsure")
    connection.execute("""
        CREATE UNIQUE INDEX ON unsure (person);
        INSERT INTO unsure SELECT NULL, 'f', 'yes' FROM generate_series(1, 41);
        INSERT INTO unsure VALUES ('bob', 'm', 'no');
    """)
    assert one(connection, BOUNDING["dp_synthesize"], "unsure") == 1
    if connection.info.server_version >= 180000:
        connection.execute("ALTER TABLE unsure ADD CONSTRAINT told NOT NULL person NOT VALID")
        assert one(connection, BOUNDING["dp_synthesize"], "unsure") == 1


def test_a_partition_that_was_elsewhere_is_under_no_key(database, connection):
    for name in ["here", "there"]:
        connection.execute(f"""
            CREATE TABLE {name} (person int PRIMARY KEY, sex text, smoker text) PARTITION BY RANGE (person);
            CREATE TABLE {name}_1 PARTITION OF {name} FOR VALUES FROM (0) TO (10);
            INSERT INTO {name} VALUES (1, 'f', 'yes'), (2, 'm', 'no');
        """)
    connection.execute("""
        SELECT sanitize.declare_domain('here', 'sex', '{f,m}');
        SELECT sanitize.declare_domain('here', 'smoker', '{yes,no}');
        SELECT sanitize.protect('here', 'person', 1e6, 0.1, 1, row_count_public => true);
    """)
    with snapshot(database) as early:
        connection.execute("""
            ALTER TABLE there DETACH PARTITION there_1;
            DELETE FROM there_1;
            ALTER TABLE here ATTACH PARTITION there_1 FOR VALUES FROM (10) TO (20);
        """)
        assert_two_units(early, "here", 4)


def test_units_that_differ_from_read_to_read_are_counted_as_they_are_read(connection):
    """The owner vouches for a view whose rows differ with each read: there is one read only."""
    connection.execute("""
        CREATE SEQUENCE reads;
        CREATE TABLE moving (person int, sex text, smoker text);
        INSERT INTO moving SELECT i, 'f', 'yes' FROM generate_series(1, 9) i;
        CREATE VIEW moved AS
            SELECT CASE WHEN nextval('reads') <= 9 THEN person ELSE 1 END AS person, sex, smoker FROM moving;
        SELECT sanitize.declare_domain('moved', 'sex', '{f,m}');
        SELECT sanitize.declare_domain('moved', 'smoker', '{yes,no}');
        SELECT sanitize.protect('moved', 'person', 1e6, 0.1, 1, assume_stable => true);
        ALTER SEQUENCE reads RESTART;
    """)
    one(connection, BY_ROW["dp_itemsets"], "moved")
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="more than 1 rows"):
        one(connection, BY_ROW["dp_itemsets"], "moved")


@pytest.mark.parametrize("mechanism", ["dp_synthesize", *BY_ROW])
def test_who_cannot_read_is_refused_before_the_charge(
    database, connection, regular_user, mechanism
):
    name = f"unread_{mechanism}"
    crowd(connection, name, 1)
    role = regular_user(f"SELECT (person, sex) ON {name}")
    connection.execute(f"SELECT sanitize.allow('{name}', '{role}')")
    asking = database.connect(user=role)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        asking.execute({**BOUNDING, **BY_ROW}[mechanism].format(name))
    assert charges(connection, name) == 0
