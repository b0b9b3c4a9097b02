"""Releases as BI tools read them: reflection by SQLAlchemy, prepared statements, cursors, plans."""

import psycopg
import pytest
import sqlalchemy
from helpers import fresh_name
from psycopg import sql
from publishing import publish, refresh
from sqlalchemy.dialects import postgresql

# Each column with what SQLAlchemy says of its type.
COLUMNS = {
    "id": ("int PRIMARY KEY", "INTEGER"),
    "sex": ("char(1) NOT NULL", "CHAR(1)"),
    "age": ("smallint CHECK (age > 0)", "SMALLINT"),
    "ward": ("varchar(20) DEFAULT 'none'", "VARCHAR(20)"),
    "weight": ("numeric(5,2)", "NUMERIC(5, 2)"),
    "born": ("date", "DATE"),
    "seen": ("timestamptz", "TIMESTAMP"),
    "insured": ("boolean", "BOOLEAN"),
    "state": ("state", "VARCHAR(4)"),
    "findings": ("jsonb", "JSONB"),
    "codes": ("text[]", "ARRAY"),
    "version": ("int", "INTEGER"),
}
OPTIONS = '{"k": 5, "columns": ["sex", "age", "ward", "insured", "version"]}'
ROWS = 3000


@pytest.fixture(scope="module")
def clinic(database):
    """A table with columns of many types, its release, and a role that may read the release alone."""
    with database.connect() as admin:
        admin.execute("CREATE TYPE state AS ENUM ('home', 'ill')")
        defined = ", ".join(f"{name} {definition}" for name, (definition, _) in COLUMNS.items())
        admin.execute(f"CREATE TABLE patients ({defined})")
        for name in COLUMNS:
            comment = sql.SQL("COMMENT ON COLUMN patients.{} IS {}")
            admin.execute(comment.format(sql.Identifier(name), f"what {name} means"))
        admin.execute(f"""INSERT INTO patients
            SELECT i, 'f', 30 + i % 3, 'W' || i % 4, 70.25, '1970-01-01', now(), true, 'ill', '{{}}', '{{A,B}}', 0
              FROM generate_series(1, {ROWS}) AS i""")
        release(admin, "patients_public")
    reader = database.regular_user("SELECT ON patients_public")
    return database, reader


def release(connection, target):
    return connection.execute(
        "SELECT sanitize.publish(%s, 'patients', 'k_anonymize', %s, 'Patients of the clinic.')",
        [target, OPTIONS],
    )


@pytest.fixture
def engine(clinic):
    """SQLAlchemy as that role."""
    database, reader = clinic
    made = sqlalchemy.create_engine(
        "postgresql+psycopg://",
        creator=lambda: psycopg.connect(dbname=database.name, user=reader),
    )
    yield made
    made.dispose()


@pytest.fixture
def renew(clinic):
    """The function that makes the release anew, of rows of a later version."""
    database, _ = clinic

    def run():
        with database.connect() as admin:
            admin.execute("UPDATE patients SET version = version + 1")
            refresh(admin, "patients_public")

    return run


def test_reflection_shows_types_and_comments(engine):
    inspector = sqlalchemy.inspect(engine)
    found = {column["name"]: column for column in inspector.get_columns("patients_public")}
    assert list(found) == list(COLUMNS)
    for name, (_, type_) in COLUMNS.items():
        assert str(found[name]["type"]) == type_, name
        assert found[name]["comment"] == f"what {name} means"
        # What blanked cells would break is not promised.
        assert found[name]["nullable"] and found[name]["default"] is None
    assert found["seen"]["type"].timezone
    assert isinstance(found["state"]["type"], postgresql.ENUM)
    label = inspector.get_table_comment("patients_public")["text"]
    assert label.startswith("Patients of the clinic.") and "k-anonymous" in label
    assert not inspector.get_pk_constraint("patients_public")["constrained_columns"]
    for constraints in (inspector.get_foreign_keys, inspector.get_check_constraints):
        assert constraints("patients_public") == []
    assert "patients_public" in inspector.get_table_names()


def test_a_reflected_table_can_be_queried(engine):
    table = sqlalchemy.Table("patients_public", sqlalchemy.MetaData(), autoload_with=engine)
    with engine.connect() as connection:
        # LIMIT 0 is how many tools ask for columns.
        empty = connection.execute(sqlalchemy.select(table).limit(0))
        assert list(empty.keys()) == list(COLUMNS) and empty.fetchall() == []
        wards = connection.execute(
            sqlalchemy.select(table.c.ward, sqlalchemy.func.count())
            .where(table.c.age >= 30)
            .group_by(table.c.ward)
            .order_by(table.c.ward)
        ).fetchall()
        assert wards == [(f"W{i}", ROWS // 4) for i in range(4)]
        plan = connection.execute(
            sqlalchemy.text("EXPLAIN (ANALYZE, FORMAT JSON) SELECT * FROM patients_public")
        ).scalar()
        assert plan[0]["Plan"]["Actual Rows"] == ROWS
        with pytest.raises(sqlalchemy.exc.ProgrammingError, match="permission denied"):
            connection.execute(sqlalchemy.text("SELECT * FROM patients LIMIT 0"))


def test_prepared_statements_survive_a_refresh(clinic, renew):
    database, reader = clinic
    query = "SELECT * FROM patients_public WHERE age = %s"
    with database.connect(reader, prepare_threshold=0) as connection:
        before = [connection.execute(query, [30]).fetchall() for _ in range(8)][-1]
        plans = "SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement LIKE '%age = $1'"
        renew()
        after = connection.execute(query, [30]).fetchall()
        assert len(before) == len(after) == ROWS // 3
        assert {row[-1] for row in after} == {row[-1] + 1 for row in before}
        # The same statement, with a plan that was there before or not: never an error.
        assert sum(connection.execute(plans).fetchone()) == 9


@pytest.mark.parametrize("hold", [False, True])
def test_a_cursor_reads_the_release_that_it_began_with(clinic, renew, hold):
    database, reader = clinic
    with database.connect(reader, autocommit=False) as connection:
        cursor = connection.cursor("export", withhold=hold)
        cursor.execute("SELECT version FROM patients_public")
        first = cursor.fetchmany(10)
        if hold:
            connection.commit()
        renew()
        rest = cursor.fetchall()
        assert len(first + rest) == ROWS and len(set(first + rest)) == 1
        cursor.close()
        connection.rollback()
        now = connection.execute("SELECT DISTINCT version FROM patients_public").fetchall()
        assert now == [(first[0][0] + 1,)]


def test_streamed_rows_are_of_one_release(engine, renew):
    with engine.connect() as connection:
        query = sqlalchemy.text("SELECT version FROM patients_public")
        rows = connection.execution_options(yield_per=100).execute(query)
        seen = {row.version for row in rows.fetchmany(100)}
        renew()
        seen |= {row.version for row in rows}
        assert len(seen) == 1


def test_a_new_release_of_another_shape_is_reported(clinic):
    """A release that is retired and published anew with other columns is another table: a statement that was
    prepared on the old one fails once and is prepared again."""
    database, _ = clinic
    target = fresh_name("shape")
    with database.connect() as admin, database.connect(prepare_threshold=0) as reader:
        publish(admin, target, "patients", "k_anonymize", OPTIONS)
        query = f"SELECT * FROM {target} LIMIT 1"
        assert len(reader.execute(query).description) == len(COLUMNS)
        admin.execute(f"SELECT sanitize.retire('{target}')")
        admin.execute("ALTER TABLE patients ADD COLUMN more int")
        try:
            publish(admin, target, "patients", "k_anonymize", OPTIONS)
            with pytest.raises(psycopg.errors.FeatureNotSupported, match="cached plan"):
                reader.execute(query)
            reader.execute("DEALLOCATE ALL")
            with database.connect() as other:
                assert len(other.execute(query).description) == len(COLUMNS) + 1
        finally:
            admin.execute("ALTER TABLE patients DROP COLUMN more")
