"""Databases that are not in UTF-8: names and values keep their letters."""

import json

import psycopg
import pytest
from helpers import Database, fresh_name


@pytest.fixture(scope="module")
def latin1():
    made = Database(fresh_name("latin1"), encoding="LATIN1")
    with made.admin() as admin:
        admin.execute(
            "CREATE TABLE people AS SELECT i AS id, CASE WHEN i % 2 = 0 THEN 'é' ELSE 'ß' END AS größe,"
            " chr(65 + i % 2) AS b FROM generate_series(1, 8) AS i"
        )
    yield made
    made.drop()


@pytest.fixture
def people(latin1):
    with latin1.connect(client_encoding="UTF8") as connection:
        yield connection


def test_mining_and_releases(people):
    found = people.execute(
        "SELECT items FROM sanitize.mine_miis('people', 4, '{größe}')"
    ).fetchall()
    assert found == [({"größe": "ß"},), ({"größe": "é"},)]
    rows = "SELECT DISTINCT größe FROM sanitize.k_anonymize(NULL::people, 2, '{größe}') ORDER BY 1"
    assert people.execute(rows).fetchall() == [("ß",), ("é",)]


def test_models(people):
    model = people.execute("SELECT sanitize.krimp_model('people', 2, '{größe,b}')").fetchone()[0]
    assert model["columns"][0]["values"] == ["ß", "é"]
    drawn = "SELECT DISTINCT größe, b FROM sanitize.krimp_generate(NULL::people, %s::jsonb, 99, seed => 1) ORDER BY 1"
    model = json.dumps(model, ensure_ascii=False)
    assert people.execute(drawn, [model]).fetchall() == [("ß", "B"), ("é", "A")]
    bits = "SELECT data_bits FROM sanitize.krimp_size(%s::jsonb, 'people')"
    assert people.execute(bits, [model]).fetchone() == (8,)
    codes = "SELECT items ->> 'größe', rows, bits FROM sanitize.krimp_row_bits(%s::jsonb, 'people')"
    assert people.execute(codes, [model]).fetchall() == [("ß", 4, 1), ("é", 4, 1)]
    told = "SELECT class FROM sanitize.krimp_classify(jsonb_build_object('ü', %s::jsonb), 'people')"
    assert people.execute(told, [model]).fetchall() == [("ü",), ("ü",)]
    unlike = "SELECT sanitize.krimp_dissimilarity('people', 'people', 2, '{größe,b}')"
    assert people.execute(unlike).fetchone() == (0,)
    rejected = 'SELECT DISTINCT größe FROM sanitize.krimp_generate(NULL::people, %s::jsonb, 99, reject => \'[{"größe": "é"}]\')'
    assert people.execute(rejected, [model]).fetchall() == [("ß",)]
    classes = "SELECT größe, count(*) FROM sanitize.krimp_generate(NULL::people, 8, 2, class => 'größe') GROUP BY 1 ORDER BY 1"
    assert people.execute(classes).fetchall() == [("ß", 4), ("é", 4)]


def test_domains_and_aggregates(people):
    people.execute("SELECT sanitize.declare_domain('people', 'größe', '{é,ß,ü}')")
    domain = "SELECT domain_values FROM sanitize.column_domain('people', 'größe')"
    assert sorted(people.execute(domain).fetchone()[0]) == ["ß", "é", "ü"]
    people.execute("SELECT sanitize.protect('people', 'id', 50, max_rows_per_unit => 1)")
    query = """SELECT groups, measure FROM sanitize.dp_aggregate('people', '{"zähler": "count"}', 20,
               group_by => '{größe}', groups => '["é"]', filter => '{"größe": ["é", "ß"]}')"""
    assert people.execute(query).fetchall() == [({"größe": "é"}, "zähler")]
    ledger = "SELECT what FROM sanitize.ledger"
    assert "zähler" in people.execute(ledger).fetchone()[0]


def test_messages(people):
    told = []
    people.add_notice_handler(lambda notice: told.append(notice.message_primary))
    people.execute(
        'SELECT * FROM sanitize.krimp_generate(NULL::people, 1, 1, laplace_by => \'{"größe": {"ü": 1}}\')'
    )
    assert told[0] == 'laplace_by: column "größe" has no value "ü"'
    with pytest.raises(psycopg.errors.UndefinedColumn) as error:
        people.execute("SELECT * FROM sanitize.mine_miis('people', 1, '{grösse}')")
    assert error.value.diag.message_primary == 'column "grösse" of people does not exist'
    assert error.value.diag.message_hint == "Its columns are: id, größe, b."


def test_an_encoding_in_another_order_is_refused_a_model():
    """LATIN2 has ą before é and UTF-8 after it: codes in a model would mean other values."""
    made = Database(fresh_name("latin2"), encoding="LATIN2")
    try:
        with made.connect(client_encoding="UTF8") as connection:
            connection.execute("CREATE TABLE t AS SELECT unnest('{é,ą}'::text[]) AS a")
            with pytest.raises(psycopg.errors.InvalidParameterValue, match='column "a"'):
                connection.execute("SELECT sanitize.krimp_model('t', 1)")
    finally:
        made.drop()
