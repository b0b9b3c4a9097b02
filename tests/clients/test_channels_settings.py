"""Settings as a channel: whatever the caller sets, nothing tells how many rows match.

Each test has a twin in which somebody who may read does the same with the table itself.
"""

import threading

import pytest
from channels import (
    MANY,
    NONE,
    PAIRS,
    SOMEBODY,
    TABLES,
    Asker,
    Reader,
    World,
    differences_by_table,
    explain,
    messages,
    numbers_in,
    outcome,
    question,
    wait_until,
)

ALL = {(table, name) for table in TABLES for name in PAIRS}


@pytest.fixture(scope="module")
def world(database):
    made = World(database)
    # Long enough to be caught at it, whatever the filter.
    made.admin.execute("""
        CREATE VIEW slow AS
            SELECT person, age, CASE WHEN pg_sleep(0.01) IS NULL THEN days ELSE days + 1 END AS days
            FROM several
    """)
    made.protect("slow", rows=4)
    return made


@pytest.fixture
def asker(world):
    with world.analyst() as connection:
        yield Asker(connection)


@pytest.fixture
def reader(world):
    with world.reader() as connection:
        yield Reader(connection)


def settings_of(connection, condition):
    """Names, kinds and least values of settings that everybody may set."""
    return connection.execute(
        f"""SELECT name, vartype, min_val, reset_val FROM pg_settings
            WHERE context = 'user' AND ({condition}) ORDER BY name"""
    ).fetchall()


def numeric_settings(connection):
    # Loads the extension, and so its settings.
    connection.execute("SELECT * FROM sanitize.budget")
    connection.execute("SELECT sanitize.dp_noise(1, 1, 1)")
    found = settings_of(connection, "vartype IN ('integer', 'real')")
    assert "pg_sanitize.max_memory" in [name for name, *_ in found]
    return [(name, least) for name, _, least, _ in found]


# Plans and buffers with the caller's settings.
SWITCHES = {
    "work_mem": lambda _: {"work_mem": "64kB", "hash_mem_multiplier": "1"},
    "max_memory": lambda _: {"pg_sanitize.max_memory": "1MB"},
    # Plans without an alternative look so dear that each of them would be compiled.
    "enable_off": lambda connection: (
        dict.fromkeys(planner_switches(connection), "off") | {"jit": "off"}
    ),
    "enable_on": lambda connection: dict.fromkeys(planner_switches(connection), "on"),
    "jit": lambda _: {"jit": "on", "jit_above_cost": "0"},
    "parallel": lambda _: {
        "max_parallel_workers_per_gather": "4",
        "min_parallel_table_scan_size": "0",
        "min_parallel_index_scan_size": "0",
        "parallel_setup_cost": "0",
        "parallel_tuple_cost": "0",
    },
    "costs": lambda _: {"random_page_cost": "0", "seq_page_cost": "1e9", "cpu_tuple_cost": "0"},
}


def planner_switches(connection):
    return [name for name, *_ in settings_of(connection, "name LIKE 'enable%'")]


def with_settings(asker, switch):
    for name, value in SWITCHES[switch](asker.connection).items():
        asker.connection.execute(f"SET {name} = '{value}'")


@pytest.mark.parametrize("switch", SWITCHES)
def test_plan_with(switch, asker):
    with_settings(asker, switch)
    assert differences_by_table(explain("ANALYZE, BUFFERS"), asker) == {}


@pytest.mark.parametrize("switch", SWITCHES)
def test_plan_with_sees_a_direct_read(switch, reader):
    with_settings(reader, switch)
    found = differences_by_table(explain("ANALYZE, BUFFERS"), reader)
    assert set(found) == ALL


# Many groups, many rows, long sorts: questions that need memory if they match anything.
HUNGRY = [
    question("several"),
    question("several", measures='{"q": {"quantile": 0.5, "of": "days", "low": 0, "high": 30}}'),
    question("single", more=", delta => 1e-9, group_by => '{person}'"),
    question("single", more=", delta => 1e-9, group_by => '{days,person}'"),
    question("several", more=", delta => 1e-9, group_by => '{days,person}'"),
]


def unequal_outcomes(connection, texts):
    """The statements that end differently with many rows and with none."""
    found = []
    for text in texts:
        many, none = (outcome(connection, text, chosen.json) for chosen in (MANY, NONE))
        if many != none:
            found.append((text, many, none))
    return found


def test_each_numeric_setting_at_its_least(asker):
    """Also one by one no setting makes a question fail or succeed by what it matches."""
    connection = asker.connection
    found = []
    for name, least in numeric_settings(connection):
        connection.execute(f"SET {name} = {least}")
        found += [(name, *unequal) for unequal in unequal_outcomes(connection, HUNGRY[1:3])]
        connection.execute(f"RESET {name}")
    assert found == []


def test_all_numeric_settings_at_their_least(asker):
    for name, least in numeric_settings(asker.connection):
        asker.connection.execute(f"SET {name} = {least}")
    assert unequal_outcomes(asker.connection, HUNGRY) == []


def test_max_memory(asker):
    asker.connection.execute("SET pg_sanitize.max_memory = '1MB'")
    assert unequal_outcomes(asker.connection, HUNGRY) == []


def test_max_memory_sees_a_direct_read(reader):
    """The setting does limit those who read themselves."""
    reader.connection.execute("SET pg_sanitize.max_memory = '1MB'")
    text = "SELECT count(*) FROM sanitize.mine_miis('{}', 1)"
    reader.connection.execute(
        f"CREATE TEMP VIEW many AS SELECT * FROM single WHERE {MANY.sql};"
        f"CREATE TEMP VIEW one AS SELECT * FROM single WHERE {SOMEBODY.sql}"
    )
    assert outcome(reader.connection, text.format("many"))[0] == "53400"
    assert outcome(reader.connection, text.format("one")) is None


# Only a superuser can set this limit; here it is set for the analyst.
NO_FILES = {"temp_file_limit": "0", "work_mem": "64kB", "hash_mem_multiplier": "1"}


def test_temp_file_limit(world):
    assert unequal_outcomes(world.analyst(settings=NO_FILES), HUNGRY) == []


def test_temp_file_limit_sees_a_direct_read(world):
    reader = Reader(world.reader(settings=NO_FILES))
    found = [outcome(reader.connection, reader.literal("single", f)) for f in (MANY, NONE)]
    assert found[0][0] == "53400"
    assert found[1] is None


# Messages to the client.
def listening(asker):
    """Every setting that makes the server talk, of those that everybody may set."""
    connection = asker.connection
    for name, *_ in settings_of(connection, "vartype = 'bool' AND name ~ '^(debug|trace|log)_'"):
        connection.execute(f"SET {name} = on")
    connection.execute("SET debug_pretty_print = off")
    connection.execute("SET client_min_messages = debug5")


def talk(asker, table, chosen):
    with messages(asker.connection) as said:
        asker(table, chosen)
    return numbers_in("\n".join(said))


def test_client_min_messages(asker):
    listening(asker)
    assert differences_by_table(talk, asker) == {}


def test_client_min_messages_sees_a_direct_read(reader):
    listening(reader)
    found = differences_by_table(talk, reader)
    assert set(found) >= {(table, "many people") for table in TABLES}


def test_notices_of_a_view(world):
    """What the functions of a protected view say is not for the caller."""
    world.admin.execute("""
        CREATE FUNCTION gossip(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS
            $$ BEGIN RAISE WARNING 'row %', i; RAISE INFO 'row %', i; RETURN i; END $$;
        CREATE VIEW gossips AS SELECT person, age, gossip(days) AS days FROM several WHERE person >= 4950;
    """)
    world.protect("gossips", rows=4)
    with world.analyst() as connection, messages(connection) as said:
        connection.execute(question("gossips"), [MANY.json])
    assert said == []
    with world.reader() as connection, messages(connection) as said:
        connection.execute(f"SELECT days FROM gossips WHERE {MANY.sql}")
    assert said != []


# Time. How long a question takes is not hidden; what is done for it ends with it.
BUSY = """
    SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
        AND pid <> pg_backend_pid()
        AND (wait_event = 'PgSleep' OR backend_type = 'pg_sanitize reader' AND state = 'active')
"""


def is_busy(world):
    return world.admin.execute(BUSY).fetchone() != (0,)


def spent(world, relation):
    text = "SELECT epsilon_spent FROM sanitize_internal.account WHERE source = %s::regclass"
    return float(world.admin.execute(text, [relation]).fetchone()[0])


@pytest.mark.parametrize("how", ["statement_timeout", "cancel", "terminate"])
def test_ended_early(how, world, asker):
    """The charge stands, the error is the same for all, and nobody goes on reading."""
    before = spent(world, "slow")
    asker.connection.execute("SELECT sanitize.dp_noise(1, 1, 1)")
    if how == "statement_timeout":
        asker.connection.execute("SET statement_timeout = '1s'")
    said = []

    def ask():
        said.append(outcome(asker.connection, question("slow"), MANY.json))

    call = threading.Thread(target=ask)
    call.start()
    # The twin: it is seen at work.
    wait_until(lambda: is_busy(world))
    if how == "cancel":
        asker.connection.cancel_safe()
    if how == "terminate":
        pid = asker.connection.info.backend_pid
        world.admin.execute("SELECT pg_terminate_backend(%s)", [pid])
    call.join(10)
    assert said[0][0] == ("57P01" if how == "terminate" else "57014")
    assert "days" not in str(said)
    assert wait_until(lambda: not is_busy(world)) < 1
    assert spent(world, "slow") == pytest.approx(before + 0.01)


def test_statement_timeout(world, asker):
    """However short the time: an answer or the one error, and the charge is there or is not."""
    ends = set()
    for milliseconds in (1, 2, 3, 5, 8, 13, 1000):
        asker.connection.execute(f"SET statement_timeout = {milliseconds}")
        for chosen in (MANY, NONE):
            ends.add(outcome(asker.connection, question("several"), chosen.json))
    assert None in ends
    assert {(end[0], end[2], end[4]) for end in ends - {None}} <= {("57014", None, None)}
    asker.connection.execute("SET statement_timeout = 0")
    wait_until(lambda: not is_busy(world), 1)
    asker("several", MANY)


def test_statement_timeout_sees_a_direct_read(reader):
    reader.connection.execute("SET statement_timeout = '300ms'")
    text = "SELECT count(days) FROM slow WHERE " + MANY.sql
    assert outcome(reader.connection, text)[0] == "57014"
