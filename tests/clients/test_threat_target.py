"""Threat: the target is not what it was. It is replaced between publish and refresh, or while a refresh waits for it,
and what the planner knows of it is read by others."""

import psycopg
import pytest
from helpers import fresh_name
from publishing import WAITS, Background, make_source, publish, refresh, wait_for

ROWS = 100


@pytest.fixture(params=["superuser", "plain role"])
def owner(request, database):
    """The connection of whoever publishes."""
    user = None
    if request.param == "plain role":
        user = database.regular_user(
            "CREATE ON SCHEMA public", f"CREATE ON DATABASE {database.name}"
        )
    with database.connect(user) as made:
        yield made


@pytest.fixture
def release(owner):
    """(source, target) of a release."""
    source, target = make_source(owner), fresh_name("release")
    publish(owner, target, source)
    return source, target


def count(connection, table):
    return connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


# What takes the target's place.
OTHERS = {
    "a table": "CREATE TABLE {t} (LIKE {t}_old)",
    "a view": "CREATE VIEW {t} AS SELECT * FROM {t}_old",
    "a view with a rule": "CREATE VIEW {t} AS SELECT * FROM {t}_old;"
    " CREATE RULE r AS ON INSERT TO {t} DO INSTEAD INSERT INTO {t}_old VALUES (NEW.ward, NEW.day)",
    "a materialized view": "CREATE MATERIALIZED VIEW {t} AS SELECT * FROM {t}_old",
    "a partitioned table": "CREATE TABLE {t} (LIKE {t}_old) PARTITION BY LIST (ward)",
    "a sequence": "CREATE SEQUENCE {t}",
    "a type": "CREATE TYPE {t} AS (ward int, day int)",
}


@pytest.mark.parametrize("other", OTHERS)
def test_another_relation_takes_its_name(owner, release, other):
    source, target = release
    make = OTHERS[other].format(t=target)
    owner.execute(f"ALTER TABLE {target} RENAME TO {target}_old; {make}")
    for call in (
        f"refresh('{target}')",
        f"retire('{target}')",
        f"publish('{target}', '{source}', 'k_mii', '{{\"k\": 5}}')",
    ):
        with pytest.raises(psycopg.Error) as error:
            owner.execute(f"SELECT sanitize.{call}")
        assert error.value.sqlstate[:2] in ("42", "55", "22"), error.value
    # The release is where it was, under its new name.
    assert refresh(owner, f"{target}_old")["rows"] == ROWS
    found = owner.execute(
        "SELECT target::text, rows FROM sanitize.releases WHERE target::text LIKE %s",
        [target + "%"],
    ).fetchall()
    assert found == [(f"{target}_old", ROWS)]


# What makes a target unfit, and what is said then.
UNFIT = {
    "a rule": "CREATE RULE r AS ON INSERT TO {t} DO ALSO NOTHING",
    "row security": "ALTER TABLE {t} ENABLE ROW LEVEL SECURITY",
    "the trigger t": "CREATE TRIGGER t BEFORE INSERT ON {t} FOR EACH ROW EXECUTE FUNCTION {f}()",
    "the trigger u": "CREATE TRIGGER u AFTER DELETE ON {t} EXECUTE FUNCTION {f}();"
    " ALTER TABLE {t} DISABLE TRIGGER u",
    "the trigger v": "CREATE CONSTRAINT TRIGGER v AFTER INSERT ON {t} DEFERRABLE INITIALLY DEFERRED"
    " FOR EACH ROW EXECUTE FUNCTION {f}();",
    "a partition": "CREATE TABLE {t}_p (LIKE {t}) PARTITION BY LIST (ward);"
    " ALTER TABLE {t}_p ATTACH PARTITION {t} DEFAULT",
    "inherit from it": "CREATE TABLE {t}_c () INHERITS ({t})",
    "deferrable": "ALTER TABLE {t} ADD COLUMN u int, ADD UNIQUE (u) DEFERRABLE, DROP COLUMN day",
    "of another type": "ALTER TABLE {t} ALTER COLUMN day TYPE text",
    'no column "day"': "ALTER TABLE {t} RENAME COLUMN day TO other",
    "is not in the source": "ALTER TABLE {t} ADD COLUMN other int",
}


@pytest.mark.parametrize("said", UNFIT)
def test_changed_before_or_while_a_refresh_waits(database, owner, release, said):
    """A refresh that waits for the lock sees what was changed meanwhile; nothing that was put there runs."""
    source, target = release
    function = fresh_name("surprise")
    owner.execute(f"""CREATE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'ran'; END $$""")
    user = owner.info.user
    with owner.transaction():
        owner.execute(f"LOCK {target} IN SHARE ROW EXCLUSIVE MODE")
        waiting = Background(database, f"SELECT sanitize.refresh('{target}')", user)
        wait_for(owner, WAITS, [waiting.connection.info.backend_pid])
        owner.execute(UNFIT[said].format(t=target, f=function))
    waiting.join()
    for error in (waiting.error, pytest.raises(psycopg.Error, refresh, owner, target).value):
        assert isinstance(error, psycopg.errors.ObjectNotInPrerequisiteState), error
        assert said in str(error)
    assert count(owner, target) == ROWS


@pytest.mark.parametrize(
    "change, sqlstate",
    [
        ("DROP TABLE {t}", "42P01"),
        ("DROP TABLE {t}; CREATE TABLE {t} (ward int, day int)", "42P01"),
        ("DROP TABLE {t}; CREATE VIEW {t} AS SELECT 1 AS ward, 2 AS day", "42P01"),
        ("SELECT sanitize.retire('{t}')", "42P01"),
        ("ALTER TABLE {t} RENAME TO {t}_moved; CREATE TABLE {t} (ward int, day int)", None),
        ("TRUNCATE {t}", None),
    ],
)
def test_gone_or_moved_while_a_refresh_waits(database, owner, release, change, sqlstate):
    source, target = release
    with owner.transaction():
        owner.execute(f"LOCK {target} IN SHARE ROW EXCLUSIVE MODE")
        waiting = Background(database, f"SELECT sanitize.refresh('{target}')", owner.info.user)
        wait_for(owner, WAITS, [waiting.connection.info.backend_pid])
        owner.execute(change.format(t=target))
    waiting.join()
    if sqlstate:
        assert waiting.error.sqlstate == sqlstate, waiting.error
    else:
        assert waiting.error is None
    moved = "moved" in change
    if moved or "TRUNCATE" in change:
        # What was locked is what is written, and what took its name is left alone.
        assert count(owner, f"{target}_moved" if moved else target) == ROWS
        assert not moved or count(owner, target) == 0
    else:
        assert owner.execute(
            "SELECT count(*) FROM sanitize.releases WHERE target::text LIKE %s", [target + "%"]
        ).fetchone() == (0,)
        assert owner.execute("SELECT to_regclass(%s) IS NULL", [target]).fetchone() == (
            "CREATE" not in change,
        )


@pytest.mark.parametrize("what", ["refresh", "retire", "publish"])
def test_a_source_that_works_on_its_own_release(owner, what):
    """A function in the source is called while the release is written: there is no release within a release."""
    source, target, view = make_source(owner), fresh_name("release"), fresh_name("reflexive")
    call = f"sanitize.{what}('{target}')"
    if what == "publish":
        call = f"sanitize.publish('{target}', '{source}', 'k_mii', '{{\"k\": 5}}')"
    owner.execute(f"""
        CREATE FUNCTION {view}_f(i int) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN i; END';
        CREATE VIEW {view} AS SELECT {view}_f(ward) AS ward, day FROM {source}""")
    publish(owner, target, view)
    owner.execute(f"""CREATE OR REPLACE FUNCTION {view}_f(i int) RETURNS int LANGUAGE plpgsql AS
        $$ BEGIN PERFORM {call}; RETURN i; END $$""")
    with pytest.raises(psycopg.errors.ObjectInUse):
        refresh(owner, target)
    assert count(owner, target) == ROWS
    found = owner.execute(
        "SELECT rows FROM sanitize.releases WHERE target = to_regclass(%s)", [target]
    )
    assert found.fetchone() == (ROWS,)


def test_given_away_while_a_refresh_waits(database, connection):
    """Who waits as the owner is none any more when the turn comes."""
    mallory = database.regular_user("CREATE ON SCHEMA public")
    with database.connect(mallory) as own:
        source, target = make_source(own), fresh_name("release")
        publish(own, target, source)
    with connection.transaction():
        connection.execute(f"LOCK {target} IN SHARE ROW EXCLUSIVE MODE")
        waiting = Background(database, f"SELECT sanitize.refresh('{target}')", mallory)
        wait_for(connection, WAITS, [waiting.connection.info.backend_pid])
        connection.execute(f"ALTER TABLE {target} OWNER TO postgres")
    waiting.join()
    assert isinstance(waiting.error, psycopg.errors.InsufficientPrivilege), waiting.error
    assert connection.execute(
        "SELECT published_by FROM sanitize.releases WHERE target = to_regclass(%s)", [target]
    ).fetchone() == (mallory,)


def test_statistics_hold_released_values_only(database, connection):
    """Of columns, of several columns and of expressions; and only those who may read the release see them."""
    source, target = fresh_name("rare"), fresh_name("release")
    connection.execute(f"""
        CREATE TABLE {source} AS SELECT CASE WHEN i = 1 THEN 'the only one' ELSE 'w' || i % 3 END AS ward, i % 2 AS day
            FROM generate_series(1, 300) AS i""")
    publish(connection, target, source)
    connection.execute(f"""
        CREATE STATISTICS {target}_several (mcv, ndistinct, dependencies) ON ward, day FROM {target};
        CREATE STATISTICS {target}_expression ON (upper(ward)) FROM {target}; ANALYZE {target}""")
    seen = """
        SELECT s::text FROM pg_stats AS s WHERE tablename = %(t)s
        UNION ALL SELECT s::text FROM pg_stats_ext AS s WHERE tablename = %(t)s
        UNION ALL SELECT s::text FROM pg_stats_ext_exprs AS s WHERE tablename = %(t)s"""
    found = "".join(row for (row,) in connection.execute(seen, {"t": target}))
    assert "w1" in found and "W1" in found
    assert "only" not in found.lower()
    stranger, reader = database.regular_user(), database.regular_user(f"SELECT ON {target}")
    with database.connect(stranger) as other:
        assert not [row for (row,) in other.execute(seen, {"t": target}) if "w1" in row.lower()]
    with database.connect(reader) as other:
        rows = "".join(row for (row,) in other.execute(seen, {"t": target}))
        assert "w1" in rows and "only" not in rows
        assert other.execute(seen, {"t": source}).fetchall() == []
