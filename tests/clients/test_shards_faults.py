"""Shards that are down, slow, killed in the middle, of another version or without the extension: an error that names
the shard, nothing half-written, and a coordinator that goes on."""

import threading
import time
from contextlib import contextmanager

import psycopg
import pytest
from helpers import cancel_after, patience
from shards import ShardedDatabase

ASK = "SELECT sanitize.k_anonymity('people', '{sex,age,work}')"
ASK_SLOW = "SELECT sanitize.k_anonymity('slow', '{a}')"


@pytest.fixture(scope="module")
def sharded(cluster):
    made = ShardedDatabase(cluster)
    made.make_people(rows=60_000)
    # A row takes as long as the shard's table says.
    for number in range(3):
        with made.shard(number) as shard:
            shard.execute("CREATE TABLE pause (seconds float8)")
            shard.execute("INSERT INTO pause VALUES (0)")
            shard.execute(
                f"""CREATE VIEW slow AS SELECT {number} AS part, i % 3 AS a FROM generate_series(1, 300) AS i
                    WHERE (SELECT seconds FROM pause) = 0 OR pg_sleep((SELECT seconds FROM pause)) IS NOT NULL"""
            )
    with made.connect() as admin:
        admin.execute("CREATE TABLE slow (part int, a int) PARTITION BY LIST (part)")
        for number in range(3):
            admin.execute(
                f"""CREATE FOREIGN TABLE slow_{number} PARTITION OF slow FOR VALUES IN ({number})
                    SERVER s{number} OPTIONS (table_name 'slow')"""
            )
    yield made
    made.drop()


@contextmanager
def pausing(sharded, **seconds):
    """Meanwhile each row of these shards takes so long."""
    for name, pause in seconds.items():
        with sharded.shard(int(name[1:])) as shard:
            shard.execute("UPDATE pause SET seconds = %s", [pause])
    try:
        yield
    finally:
        for name in seconds:
            with sharded.shard(int(name[1:])) as shard:
                shard.execute("UPDATE pause SET seconds = 0")


def at_work(shard):
    """The processes of a shard that work for the coordinator."""
    query = """SELECT pid FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid()
        AND datname = current_database() AND application_name = 'postgres_fdw'"""
    return [pid for (pid,) in shard.execute(query)]


def wait_until(true, seconds=10):
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def fails(connection, query, shard, error=psycopg.Error):
    """The query's error, which names the shard and says what helps."""
    with pytest.raises(error) as caught:
        connection.execute(query)
    diag = caught.value.diag
    assert diag.message_primary.startswith(f'shard "{shard}": '), diag.message_primary
    assert diag.message_hint
    return caught.value


def test_a_shard_that_is_down(sharded, coordinator):
    before = coordinator.execute(ASK).fetchone()
    server = sharded.cluster.shards[1]
    server.stop("fast")
    try:
        for _ in range(2):
            with sharded.connect() as fresh:
                error = fails(fresh, ASK, "s1.people_1", psycopg.errors.OperationalError)
            assert "The server is down" in error.diag.message_hint
            # In a session that was connected, too.
            fails(coordinator, ASK, "s1.people_1")
            assert coordinator.execute("SELECT count(*) FROM people_here").fetchone() == (60_000,)
    finally:
        server.start()
    assert coordinator.execute(ASK).fetchone() == before


@pytest.mark.parametrize("how", ["cancel", "timeout", "terminate"])
def test_cancel_reaches_the_shards(sharded, how):
    with pausing(sharded, s0=0.2, s1=0.2, s2=0.2), sharded.connect() as asker:
        asker.execute("SET statement_timeout = '700ms'" if how == "timeout" else "SELECT 1")
        if how == "terminate":
            with sharded.connect() as other, pytest.raises(psycopg.OperationalError):
                pid = asker.info.backend_pid
                kill = lambda: other.execute("SELECT pg_terminate_backend(%s)", [pid])  # noqa: E731
                threading.Timer(0.7, kill).start()
                asker.execute(ASK_SLOW)
        else:
            started = time.monotonic()
            stopped = pytest.raises(psycopg.errors.QueryCanceled)
            with cancel_after(asker, 0.7 if how == "cancel" else 60), stopped:
                asker.execute(ASK_SLOW)
            assert time.monotonic() - started < patience(1.7)
            assert asker.execute("SELECT 1").fetchone() == (1,)
        for number in range(3):
            with sharded.shard(number) as shard:
                wait_until(lambda shard=shard: not at_work(shard), 1)


def kill_backend(sharded, number):
    with sharded.shard(number) as shard:
        wait_until(lambda: at_work(shard))
        for pid in at_work(shard):
            shard.execute("SELECT pg_terminate_backend(%s)", [pid])


def stop_server(sharded, number):
    with sharded.shard(number) as shard:
        wait_until(lambda: at_work(shard))
    sharded.cluster.shards[number].stop("immediate")


KILLS = [("connecting", number) for number in range(3)]
KILLS += [("reading", number) for number in range(3)]
KILLS += [("reading, server", 1)]
KILLS += [("merging", number) for number in range(3)]


@pytest.mark.parametrize(("phase", "number"), KILLS)
def test_a_shard_that_is_killed(sharded, coordinator, phase, number):
    """Ten times: the connection of an earlier query, the process that reads, the whole server, or the connection of
    a shard whose bag has come already, while others are still at work."""
    expected = coordinator.execute(ASK_SLOW).fetchone()
    publish = (
        "SELECT sanitize.publish('half', 'slow', 'k_anonymize', '{\"k\": 2, \"columns\": [\"a\"]}')"
    )
    kill = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'postgres_fdw'"""
    if phase == "connecting":
        with sharded.shard(number) as shard:
            shard.execute(kill)
        # postgres_fdw connects anew.
        assert coordinator.execute(ASK_SLOW).fetchone() == expected
        return
    slow = {f"s{i}": 0.01 for i in range(3) if phase != "merging" or i != number}
    with pausing(sharded, **slow):
        if phase == "merging":

            def end():
                time.sleep(1)
                with sharded.shard(number) as shard:
                    shard.execute(kill)

            killer = threading.Thread(target=end)
        else:
            work = kill_backend if phase == "reading" else stop_server
            killer = threading.Thread(target=work, args=[sharded, number])
        killer.start()
        try:
            if phase == "merging":
                with pytest.raises(psycopg.Error) as caught:
                    coordinator.execute(publish)
                assert f'"s{number}.slow_{number}"' in caught.value.diag.message_primary
            else:
                fails(coordinator, publish, f"s{number}.slow_{number}")
        finally:
            killer.join()
            if phase == "reading, server":
                sharded.cluster.shards[number].start()
    # Nothing is left of it, and everything works.
    assert coordinator.execute("SELECT to_regclass('half')").fetchone() == (None,)
    assert coordinator.execute("SELECT count(*) FROM sanitize.releases").fetchone() == (0,)
    assert coordinator.execute(ASK_SLOW).fetchone() == expected
    for other in range(3):
        with sharded.shard(other) as shard:
            wait_until(lambda shard=shard: not at_work(shard), 1)


def test_a_shard_that_stops_the_query_itself(sharded, coordinator):
    with sharded.shard(2) as shard:
        shard.execute(f'ALTER DATABASE "{sharded.name}" SET statement_timeout = 300')
    try:
        with pausing(sharded, s2=0.2), sharded.connect() as fresh:
            error = fails(fresh, ASK_SLOW, "s2.slow_2", psycopg.errors.QueryCanceled)
        assert "statement_timeout" in error.diag.message_hint
    finally:
        with sharded.shard(2) as shard:
            shard.execute(f'ALTER DATABASE "{sharded.name}" RESET statement_timeout')


def test_a_shard_without_memory(sharded):
    with sharded.shard(1) as shard:
        shard.execute(
            "CREATE TABLE long AS SELECT 1 AS part, repeat(md5(i::text), 9) AS a FROM generate_series(1, 50000) AS i"
        )
        shard.execute(f"ALTER DATABASE \"{sharded.name}\" SET pg_sanitize.max_memory = '4MB'")
    with sharded.connect() as fresh:
        fresh.execute("CREATE FOREIGN TABLE long (part int, a text) SERVER s1")
        error = fails(fresh, "SELECT sanitize.k_anonymity('long')", "s1.long")
        assert (
            error.sqlstate == "53400" and "Raise pg_sanitize.max_memory" in error.diag.message_hint
        )
    with sharded.shard(1) as shard:
        shard.execute(f'ALTER DATABASE "{sharded.name}" RESET pg_sanitize.max_memory')


def test_a_shard_without_the_extension(cluster):
    made = ShardedDatabase(cluster, absent=(1,))
    try:
        made.make_people(rows=1000)
        with made.connect() as asker:
            error = fails(asker, ASK, "s1.people_1", psycopg.errors.InvalidSchemaName)
            assert "CREATE EXTENSION" in error.diag.message_hint
            # Without the option its rows are read, beside the bags of the others.
            asker.execute("ALTER SERVER s1 OPTIONS (DROP extensions)")
            here = ASK.replace("people", "people_here")
            assert asker.execute(ASK).fetchone() == asker.execute(here).fetchone()
    finally:
        made.drop()


def packed(data):
    """The bytes as a shard sends them: seven bits a character."""
    bits = int.from_bytes(data, "little")
    sevens = [bits >> 7 * i & 127 for i in range((len(data) * 8 + 6) // 7)]
    rare = min(range(64), key=lambda pair: sum(seven // 2 == pair for seven in sevens))
    text = [rare + 1]
    for seven in sevens:
        seven ^= rare * 2
        text += [1, seven + 1] if seven < 2 else [seven]
    return bytes(text).decode("ascii")


@contextmanager
def lying(sharded, number, text):
    """Meanwhile a shard sends this text for every bag."""
    with sharded.shard(number) as shard:
        name = "sanitize_internal.bag_packed(sanitize.bag)"
        honest = shard.execute("SELECT pg_get_functiondef(%s::regprocedure)", [name]).fetchone()[0]
        literal = psycopg.sql.Literal(text).as_string(shard)
        shard.execute(
            f"""CREATE OR REPLACE FUNCTION sanitize_internal.bag_packed(sanitize.bag) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
                AS $body$ SELECT {literal}::text $body$"""
        )
        try:
            yield
        finally:
            shard.execute(honest)


def real_bag(sharded):
    with sharded.shard(0) as shard:
        query = """SELECT sanitize_internal.bag_send(sanitize.row_bag('{f1,f2,f3}'::cstring[], sex, age, work)),
            sanitize_internal.bag_packed(sanitize.row_bag('{f1,f2,f3}'::cstring[], sex, age, work)) FROM people_part"""
        return shard.execute(query).fetchone()


def test_a_bag_of_another_version(sharded, coordinator):
    data, text = real_bag(sharded)
    assert packed(data) == text
    with lying(sharded, 1, text):
        coordinator.execute(ASK)
    with lying(sharded, 1, packed(data[:4] + b"\x63" + data[5:])):
        error = fails(coordinator, ASK, "s1.people_1", psycopg.errors.InvalidBinaryRepresentation)
    assert "version 99" in error.diag.message_detail
    assert "same version" in error.diag.message_hint


def test_what_is_no_bag(sharded, coordinator):
    """Whoever can change a shard, or owns a foreign server, can make it send anything: an error, never a crash."""
    data, text = real_bag(sharded)
    strange = ["", "x", "\x01\x01", "é", text[:-1], text[:40] + "?" + text[41:], text + "x"]
    strange += [packed(b""), packed(b"pgsb"), packed(data[: len(data) // 2]), packed(data + b"\0")]
    for lie in strange:
        with lying(sharded, 1, lie):
            fails(coordinator, ASK, "s1.people_1", psycopg.errors.DataError)
    # A bag, but of other columns.
    with sharded.shard(0) as shard:
        two = "SELECT sanitize_internal.bag_packed(sanitize.row_bag('{a,b}'::cstring[], 1, 2))"
        two = shard.execute(two).fetchone()[0]
        words = "SELECT sanitize_internal.bag_packed(sanitize.row_bag('{a,b,c}'::cstring[], 'f', 'old', 'w'))"
        words = shard.execute(words).fetchone()[0]
    with lying(sharded, 1, two):
        error = fails(coordinator, ASK, "s1.people_1", psycopg.errors.InvalidBinaryRepresentation)
        assert "another number of columns" in error.diag.message_detail
    with lying(sharded, 1, words):
        error = fails(coordinator, ASK, "s1.people_1", psycopg.errors.InvalidTextRepresentation)
        assert '"old"' in error.diag.message_primary
    assert coordinator.execute(ASK).fetchone()


def leb(number):
    """A number of the format: seven bits a byte, the lowest first."""
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + leb(number >> 7)


def test_more_rows_than_can_be_counted(sharded, coordinator):
    """A bag can claim any number of rows; what does not fit into a bigint is refused."""
    data = b"pgsb\x01" + leb(3)
    for name, value in ((b"f1", b"f"), (b"f2", b"20"), (b"f3", b"w")):
        data += leb(len(name)) + name + leb(1) + leb(len(value)) + value
    for weight, fits in ((2**62, True), (2**63 - 1, False)):
        with lying(sharded, 1, packed(data + leb(1) + leb(weight) + b"\1\1\1")):
            if fits:
                coordinator.execute(ASK)
            else:
                with pytest.raises(
                    psycopg.errors.InvalidBinaryRepresentation, match='^shard "s'
                ) as e:
                    coordinator.execute(ASK)
                assert "too many rows" in e.value.diag.message_detail


def test_a_shard_of_another_encoding(cluster):
    made = ShardedDatabase(cluster, encodings=("UTF8", "UTF8", "LATIN1", "UTF8"))
    try:
        made.make_table(
            "words", "a text", [f"SELECT {i}, 'é' FROM generate_series(1, 3)" for i in range(3)]
        )
        ask = "SELECT * FROM sanitize.frequent_itemsets('words', 1, '{a}')"
        with made.connect() as asker:
            error = fails(asker, ask, "s1.words_1", psycopg.errors.CharacterNotInRepertoire)
            assert "same encoding" in error.diag.message_hint
            asker.execute("ALTER SERVER s1 OPTIONS (DROP extensions)")
            assert asker.execute(ask).fetchall() == [({"a": "é"}, 1, 9)]
    finally:
        made.drop()
