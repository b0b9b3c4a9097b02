"""A stored answer is given again for the same question only: values are compared as the column's type
compares them, in the question and in the rows."""

import itertools
import json
import random

import psycopg
import pytest
from helpers import fresh_name

REUSE = "SELECT value FROM sanitize.dp_aggregate(%s, '{\"n\": \"count\"}', 10, filter => %s, reuse => '1 day')"
ROWS = 300

# By type: spellings of values, those in one list of one value.
SPELLINGS = {
    "text": [[1, "1"], [1.5, "1.5"], ["1.0"], ["01"], ["a"], ["a "], ["A"], [True, "true"], ["t"], ["é"], ["e\u0301"]],
    "varchar(9)": [[1, "1"], ["1.0"], ["a"], ["a "], [" a"]],
    "char(5)": [[1, "1", "1  "], ["1.0", "1.0 "], ["a", "a    "], [" a"], ["abc", "abc "]],
    "int2": [[1, "1", "01", " 1 ", "+1"], [0, "0", "-0"], [-7, "-7", "-07"], [12, "12"]],
    "int4": [[1, "1", "01", " 1 ", "+1"], [0, "0", "-0"], [-7, "-7", "-07"], [12, "12"]],
    "int8": [[1, "1", "01"], [2**53 + 1, str(2**53 + 1)], [2**53, str(2**53)], [2**62, f"0{2**62}"]],
    "numeric": [
        [1, "1", "1.0", "01.000", "1e0", "10e-1"],
        [0.1, "0.1", "0.10", ".1", "1e-1"],
        ["0.10000000000000001"],
        [0, "0", "-0", "0.00"],
        ["100", 100, "1e2"],
        ["NaN"],
        ["-1.50", "-1.5"],
    ],
    "float8": [[1, "1", "1.0", "1e0"], [0.1, "0.1", "0.1000"], [0, "0", "-0", "-0.0"], ["NaN"], ["Infinity", "inf"]],
    "bool": [[True, "t", "true", "yes", "on", "1", "TRUE"], [False, "f", "no", "off", "0"]],
    "date": [["2024-01-02", "2024-1-2", "20240102", "January 2, 2024", "2024-01-02 "], ["2024-02-01"], ["infinity"]],
    "timestamp": [["2024-01-02", "2024-01-02 00:00", "2024-01-02T00:00:00.000"], ["2024-01-02 00:00:00.1"]],
    "timestamptz": [["2024-01-02 00:00+00", "2024-01-02 01:00+01", "2024-01-01 19:00-05"], ["2024-01-02 01:00+00"]],
    "time": [["01:02", "01:02:00", "1:02 AM"], ["13:02", "1:02 PM"]],
    "uuid": [
        ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "{A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11}"],
        ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12"],
    ],
    "mood": [["sad"], ["Sad"]],
    "code": [[1, "1", "1  "], ["1.0", "1.0 "], ["a", "a    "], [" a"], ["abc", "abc "]],
}  # fmt: skip


def value_of(of, row):
    """Which of the type's values a row has: 10 rows the first, 20 the second, and the last one the rest."""
    value, most = 0, 10
    while row >= most and value < len(SPELLINGS[of]) - 1:
        row, value, most = row - most, value + 1, most + 10
    return value


def count_of(of, value):
    return sum(value_of(of, row) == value for row in range(ROWS))


@pytest.fixture(scope="module")
def source(database):
    with database.connect() as connection:
        columns = ", ".join(f"c{i} {of}" for i, of in enumerate(SPELLINGS))
        connection.execute(f"""
            CREATE TYPE mood AS ENUM ('sad', 'Sad');
            CREATE DOMAIN code AS char(5);
            CREATE TABLE asked (id int PRIMARY KEY, {columns});
            SELECT sanitize.protect('asked', 'id', 1e6)""")
        with connection.cursor().copy("COPY asked FROM STDIN") as copy:
            for row in range(ROWS):
                spelt = [SPELLINGS[of][value_of(of, row)][-1] for of in SPELLINGS]
                copy.write_row([row, *map(str, spelt)])
    return "asked"


def answer(connection, source, wanted):
    """The answer, and whether it was charged."""
    count = "SELECT count(*) FROM sanitize.ledger_entry"
    before = connection.execute(count).fetchone()[0]
    (value,) = connection.execute(REUSE, [source, json.dumps(wanted)]).fetchone()
    return value, connection.execute(count).fetchone()[0] > before


@pytest.mark.parametrize("i, of", list(enumerate(SPELLINGS)))
def test_spellings_of_a_value_share_its_answer_and_nothing_else_does(connection, source, i, of):
    name = f"c{i}"
    coins = random.Random(i)
    asked = {}
    spelt = [(value, text) for value, texts in enumerate(SPELLINGS[of]) for text in texts]
    coins.shuffle(spelt)
    for value, text in spelt:
        for form, wanted in [
            ("is", {name: text}),
            ("is", {name: {"=": text}}),
            ("is", {name: [text, text]}),
            ("is not", {name: {"<>": text}}),
            ("is not", {name: {"!=": text}}),
        ]:
            found, charged = answer(connection, source, wanted)
            assert charged == ((form, value) not in asked), (form, text)
            assert asked.setdefault((form, value), found) == found
            rows = count_of(of, value)
            assert abs(found - (rows if form == "is" else ROWS - rows)) < 5, (form, text)
    # Lists, in any order and spelling.
    for one, other in itertools.islice(itertools.combinations(range(len(SPELLINGS[of])), 2), 3):
        lists = itertools.product(SPELLINGS[of][one], SPELLINGS[of][other])
        first = None
        for pair in itertools.islice(lists, 4):
            found, charged = answer(connection, source, {name: coins.sample(pair, 2) + [None]})
            assert charged == (first is None)
            first = first or (found,)
            assert first == (found,)
            assert abs(found - count_of(of, one) - count_of(of, other)) < 5, pair


def test_a_number_is_no_text_of_another_one(connection):
    """On a text column 1 and 1.0 are two values, and each has its own count."""
    source = fresh_name("codes")
    connection.execute(f"""
        CREATE TABLE {source} (id int PRIMARY KEY, code text);
        INSERT INTO {source} SELECT i, CASE WHEN i <= 5000 THEN '1' ELSE '1.0' END FROM generate_series(1, 6000) AS i;
        SELECT sanitize.protect('{source}', 'id', 1000)""")
    ask = f"SELECT value FROM sanitize.dp_aggregate('{source}', '{{\"n\": \"count\"}}', 10, filter => %s, reuse => '1 day')"
    assert abs(connection.execute(ask, ['{"code": 1}']).fetchone()[0] - 5000) < 20
    assert abs(connection.execute(ask, ['{"code": 1.0}']).fetchone()[0] - 1000) < 20
    grouped = ask.replace("reuse", "group_by => '{code}', groups => %s, reuse")
    for groups in ["[1]", "[1.0]", '[{"code": "1"}]', '{"code": ["1.0"]}']:
        (value,) = connection.execute(grouped, [None, groups]).fetchone()
        assert abs(value - (1000 if "1.0" in groups else 5000)) < 20, groups


def test_groups_are_compared_by_their_values(connection, source):
    ask = """SELECT value FROM sanitize.dp_aggregate(%s, '{"n": "count"}', 0.1, group_by => '{c3}',
             groups => %s, reuse => '1 day')"""
    answers = {
        connection.execute(ask, [source, groups]).fetchall()[0][0]
        for groups in ["[1]", '["01"]', '[{"c3": " 1"}]']
    }
    assert len(answers) == 1
    # Blanks that pad a char(n) belong to no group's name.
    padded = ask.replace("c3", "c2")
    answers = [
        connection.execute(padded, [source, groups]).fetchall()[0][0]
        for groups in ['["a"]', '["a   "]']
    ]
    assert answers[0] == answers[1]


def test_today_is_another_question_tomorrow(connection, source):
    """Words for a moment are taken at that moment."""
    with pytest.raises(psycopg.Error):
        answer(connection, source, {"c3": "today"})
    day = f"c{list(SPELLINGS).index('date')}"
    answer(connection, source, {day: "today"})
    (stored,) = connection.execute(
        "SELECT question -> 'filter' ->> %s FROM sanitize.answers ORDER BY \"when\" DESC LIMIT 1",
        [day],
    ).fetchone()
    assert stored != "today" and stored[:2] == "20"
