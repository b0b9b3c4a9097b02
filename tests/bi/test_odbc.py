"""A release through Debian's ODBC driver."""

import datetime
from decimal import Decimal

import pyodbc
import pytest


@pytest.fixture(params=[0, 1], ids=["whole results", "cursors"])
def analyst(clinic, request):
    """A connection that fetches results at once, or in parts by a cursor."""
    connection = pyodbc.connect(
        f"DRIVER={{PostgreSQL Unicode}};SERVER={clinic.host};PORT={clinic.port};DATABASE={clinic.name};"
        f"UID={clinic.analyst};PWD={clinic.password};UseDeclareFetch={request.param};Fetch=100;"
        "UseServerSidePrepare=1"
    )
    yield connection
    connection.close()


def test_the_catalog_shows_types(analyst):
    cursor = analyst.cursor()
    (table,) = cursor.tables(table="patients_public", schema="public").fetchall()
    assert table.table_type == "TABLE"
    # The driver does not ask for comments; SQL does.
    query = "SELECT obj_description('patients_public'::regclass)"
    assert cursor.execute(query).fetchval().startswith("Patients of the clinic, for analysts.")
    columns = {
        row.column_name: (row.type_name, row.nullable)
        for row in cursor.columns(table="patients_public", schema="public")
    }
    assert columns == {
        "id": ("int4", 1),
        "sex": ("text", 1),
        "age": ("int4", 1),
        "ward": ("varchar", 1),
        "admitted": ("date", 1),
        "days": ("numeric", 1),
        "version": ("int4", 1),
    }
    assert cursor.primaryKeys(table="patients_public").fetchall() == []


def test_an_empty_result_and_a_plan(analyst):
    cursor = analyst.cursor()
    types = [
        (name, type_)
        for name, type_, *_ in cursor.execute("SELECT * FROM patients_public LIMIT 0").description
    ]
    assert types == [
        ("id", int),
        ("sex", str),
        ("age", int),
        ("ward", str),
        ("admitted", datetime.date),
        ("days", Decimal),
        ("version", int),
    ]
    assert cursor.fetchall() == []
    plan = cursor.execute("EXPLAIN SELECT * FROM patients_public").fetchall()
    assert "Seq Scan on patients_public" in plan[0][0]


def test_a_prepared_statement_survives_a_refresh(clinic, analyst):
    cursor = analyst.cursor()
    seen = []
    for i in range(10):
        if i == 8:
            analyst.commit()
            clinic.renew()
        query = "SELECT count(*), max(version) FROM patients_public WHERE version >= ?"
        seen.append(tuple(cursor.execute(query, 0).fetchone()))
    version = seen[0][1]
    assert seen == [(clinic.rows, version)] * 8 + [(clinic.rows, version + 1)] * 2


def test_rows_are_of_one_release(clinic, analyst):
    cursor = analyst.cursor().execute("SELECT version FROM patients_public")
    rows = cursor.fetchmany(150)
    clinic.renew()
    rows += cursor.fetchall()
    assert len(rows) == clinic.rows and len({version for (version,) in rows}) == 1


def test_the_source_is_refused(analyst):
    with pytest.raises(pyodbc.ProgrammingError, match="permission denied"):
        analyst.execute("SELECT * FROM patients LIMIT 0")
