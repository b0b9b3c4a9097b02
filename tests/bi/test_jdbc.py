"""A release through Debian's JDBC driver: what Look.java finds."""

import os
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
from clinic import free_port
from pooler import Pooler

DRIVER = "/usr/share/java/postgresql.jar"
PROGRAM = Path(__file__).with_name("Look.java")


@pytest.fixture(scope="module", params=["direct", "pooled"])
def way(request, clinic):
    """How the driver reaches the server: its address, and after how many uses a statement is prepared there. A
    pooler in transaction mode knows no prepared statements."""
    if request.param == "direct":
        yield f"{clinic.host}:{clinic.port}", 1
        return
    server = f"host={clinic.host} port={clinic.port}"
    users = {clinic.analyst: clinic.password}
    pooler = Pooler(server, users, free_port(), connections=2, listen=clinic.host)
    yield f"{clinic.host}:{pooler.port}", 0
    pooler.drop()


@pytest.fixture(scope="module")
def found(clinic, way):
    """The lines that the program prints, by their first word. The release is made anew when it says so."""
    address, threshold = way
    url = f"jdbc:postgresql://{address}/{clinic.name}?prepareThreshold={threshold}"
    process = subprocess.Popen(
        ["java", "-cp", DRIVER, PROGRAM, url, "patients_public"],
        env={**os.environ, "PGUSER": clinic.analyst, "PGPASSWORD": clinic.password},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    lines = defaultdict(list)
    with process:
        for line in process.stdout:
            word, *fields = line.rstrip("\n").split("\t")
            lines[word].append(fields)
            if word == "refresh":
                clinic.renew()
                process.stdin.write("done\n")
                process.stdin.flush()
    assert process.returncode == 0
    return lines


def test_metadata_shows_types_comments_and_the_label(found):
    ((name, remarks),) = found["table"]
    assert name == "patients_public"
    assert remarks.startswith("Patients of the clinic, for analysts.") and "k-anonymous" in remarks
    assert found["column"] == [
        ["id", "int4", "10", "0", "YES", "null"],
        ["sex", "text", "2147483647", "0", "YES", "null"],
        ["age", "int4", "10", "0", "YES", "The youngest of twenty years"],
        ["ward", "varchar", "40", "0", "YES", "Where the patient lay"],
        ["admitted", "date", "13", "0", "YES", "The first day of the month"],
        ["days", "numeric", "5", "1", "YES", "Length of the stay"],
        ["version", "int4", "10", "0", "YES", "null"],
    ]
    assert found["key"] == [["false"]]
    assert found["privilege"] == [["SELECT"]]


def test_an_empty_result_and_a_plan(found):
    assert found["result"] == [
        ["id", "java.lang.Integer"],
        ["sex", "java.lang.String"],
        ["age", "java.lang.Integer"],
        ["ward", "java.lang.String"],
        ["admitted", "java.sql.Date"],
        ["days", "java.math.BigDecimal"],
        ["version", "java.lang.Integer"],
    ]
    assert found["rows"] == [["false"]]
    assert "Seq Scan on patients_public" in found["plan"][0][0]


def test_prepared_statements_survive_a_refresh(clinic, way, found):
    counts, versions = zip(*found["prepared"])
    assert set(counts) == {str(clinic.rows)}
    before = int(versions[0])
    assert versions == (str(before),) * 8 + (str(before + 1),) * 2
    _, threshold = way
    assert found["statements"] == [[str(threshold)]]


def test_a_cursor_reads_one_release(clinic, found):
    assert found["cursor"] == [[str(clinic.rows), "1"]]


def test_the_source_is_refused(found):
    assert found["refused"] == [["42501"]]
