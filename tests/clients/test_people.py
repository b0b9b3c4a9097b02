"""The argument `unit`: methods and measures count people. Every one is compared with what the definition says on small
random tables, and every one keeps to the one rule of whom it counts."""

import random
from collections import Counter, defaultdict
from itertools import combinations

import psycopg
import pytest
from helpers import fresh_name

COLUMNS = ("a", "b", "c")

# What each function returns for a source and a unit; %(s)s is the source, %(u)s the unit as SQL.
LISTED = "columns => '{a,b,c}'"
CALLS = {
    "mine_miis": f"SELECT * FROM sanitize.mine_miis('%(s)s', 2, {LISTED}, unit => %(u)s)",
    "mii_risk": f"SELECT * FROM sanitize.mii_risk('%(s)s', 2, {LISTED}, unit => %(u)s)",
    "frequent_itemsets": f"SELECT * FROM sanitize.frequent_itemsets('%(s)s', 3, {LISTED}, unit => %(u)s)",
    "mii_suppress": f"SELECT * FROM sanitize.mii_suppress(NULL::%(s)s, 2, {LISTED}, unit => %(u)s)",
    "k_mii": f"SELECT * FROM sanitize.k_mii(NULL::%(s)s, 3, {LISTED}, unit => %(u)s)",
    "k_anonymize": f"SELECT * FROM sanitize.k_anonymize(NULL::%(s)s, 3, {LISTED}, unit => %(u)s)",
    "hide_itemsets": """SELECT a, b, c FROM sanitize.hide_itemsets(NULL::%(s)s, '[{"a": "1", "b": "1"}]', 2,
        unit => %(u)s)""",
    "loss_curve": f"SELECT * FROM sanitize.loss_curve('%(s)s', '{{2,3}}', {LISTED}, unit => %(u)s)",
    "suppress_cells": "SELECT * FROM sanitize.suppress_cells('%(s)s', 'x', 'y', 3, unit => %(u)s)",
    "k_anonymity": f"SELECT sanitize.k_anonymity('%(s)s', {LISTED}, unit => %(u)s)",
    "l_diversity": f"SELECT sanitize.l_diversity('%(s)s', 's', {LISTED}, unit => %(u)s)",
    "t_closeness": f"SELECT sanitize.t_closeness('%(s)s', 's', {LISTED}, unit => %(u)s)",
    "class_risk": f"SELECT * FROM sanitize.class_risk('%(s)s', 's', {LISTED}, unit => %(u)s)",
    "unicity": f"SELECT * FROM sanitize.unicity('%(s)s', 3, {LISTED}, theta => 2, unit => %(u)s)",
    "rare_itemset_leak": """SELECT * FROM sanitize.rare_itemset_leak('%(s)s', 'shown', seed => 1,
        unit => %(u)s)""",
}
# Their results do not depend on the unit's column being there or not.
WITH_COLUMNS = [name for name in CALLS if LISTED in CALLS[name]]


def rows(connection, call, source, unit):
    quoted = "NULL" if unit is None else "'" + unit.replace("'", "''") + "'"
    return connection.execute(CALLS[call] % {"s": source, "u": quoted}).fetchall()


def same(found, expected):
    assert Counter(map(repr, found)) == Counter(map(repr, expected))


def refused(connection, state, call, source, unit, match=None):
    with pytest.raises(psycopg.Error, match=match) as error:
        rows(connection, call, source, unit)
    assert error.value.sqlstate == state, (call, unit, error.value)


def people(rng, count, persons, domain=3):
    """Rows (a, b, c, s, person): duplicates, NULLs, persons in several classes, rows of nobody."""

    def cell(of, nulls=0.15):
        return None if rng.random() < nulls else rng.randint(1, of)

    made = [
        (cell(domain), cell(domain), cell(2), cell(3, 0.05), cell(persons, 0.1))
        for _ in range(count)
    ]
    return made + [rng.choice(made) for _ in range(count // 4)]


def fill(connection, table, data):
    # Each person has one value of x and of y.
    connection.execute(f"""CREATE TABLE {table} (a int, b int, c int, s int, person int,
        x int GENERATED ALWAYS AS (coalesce(person, 0) % 3) STORED, y int GENERATED ALWAYS AS (coalesce(person, 0) % 2) STORED)""")
    with connection.cursor().copy(f"COPY {table} (a, b, c, s, person) FROM STDIN") as copy:
        for row in data:
            copy.write_row(row)


@pytest.fixture(scope="module")
def tables(database):
    """Random tables, by name."""
    rng = random.Random(24)
    made = {}
    with database.connect() as connection:
        for number in range(12):
            data = people(rng, rng.randint(5, 60), rng.randint(2, 15))
            made[f"t{number}"] = data
            fill(connection, f"t{number}", data)
        # What rare_itemset_leak compares with.
        connection.execute("CREATE TABLE shown AS SELECT * FROM t0")
    return made


def items(row):
    return [(column, value) for column, value in zip(COLUMNS, row) if value is not None]


def supports(data):
    """The people who have one row with all of the itemset, for every itemset of some row."""
    found = defaultdict(set)
    for row in data:
        own = items(row)
        for length in range(1, len(own) + 1):
            for itemset in combinations(own, length):
                found[itemset] |= {row[4]} - {None}
    return {itemset: len(of) for itemset, of in found.items()}


def shown(itemset):
    return {column: str(value) for column, value in itemset}


def frequent(data, least):
    return [(shown(x), len(x), n) for x, n in supports(data).items() if n >= least]


def test_frequent_itemsets_count_people(connection, tables):
    for name, data in tables.items():
        same(rows(connection, "frequent_itemsets", name, "person"), frequent(data, 3))


def test_infrequent_itemsets_count_people(connection, tables):
    for name, data in tables.items():
        if len({row[4] for row in data} - {None}) < 2:
            continue
        counts = supports(data)
        is_minimal = lambda x: all(  # noqa: E731
            counts[part] > 2 for part in combinations(x, len(x) - 1) if part
        )
        expected = [(shown(x), len(x), n) for x, n in counts.items() if n <= 2 and is_minimal(x)]
        found = rows(connection, "mine_miis", name, "person")
        # With support 0: those that only rows of nobody have.
        same(found, expected)


def released(connection, call, name, arguments, kept=", keep => '{person}'"):
    return connection.execute(
        f"SELECT a, b, c, s, person FROM sanitize.{call}(NULL::{name}, {arguments}, unit => 'person'{kept})"
    ).fetchall()


def classes(data, width=3):
    found = defaultdict(list)
    for row in data:
        found[row[:width]].append(row)
    return found


def smallest(data):
    sizes = [len({row[4] for row in rows} - {None}) for rows in classes(data).values()]
    return min(sizes, default=None)


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("call", ["k_anonymize", "k_mii"])
def test_every_class_of_a_release_has_k_people(connection, tables, call, k):
    for name, data in tables.items():
        if len({row[4] for row in data} - {None}) <= k:
            continue
        found = released(connection, call, name, f"{k}, {LISTED}")
        assert smallest(found) is None or smallest(found) >= k
        # No row is made up, and none comes twice.
        assert Counter(row[4] for row in found) <= Counter(row[4] for row in data)
        # The unit comes back only if it is kept; the rest is the same.
        bare = released(connection, call, name, f"{k}, {LISTED}", "")
        assert {row[4] for row in bare} <= {None}
        same([row[:3] for row in bare], [row[:3] for row in found])
        # A release that counts rows is another one, somewhere.


def test_releases_by_people_lose_more_than_by_rows(connection, tables):
    def blanks(unit):
        return sum(
            sum(cell is None for cell in row[:3])
            for name in tables
            if len({row[4] for row in tables[name]} - {None}) > 3
            for row in rows(connection, "k_anonymize", name, unit)
        )

    assert blanks("person") > blanks("")


def test_diverse_and_close_classes_count_people(connection, tables):
    for name, data in tables.items():
        if len({row[4] for row in data} - {None}) <= 2:
            continue
        found = connection.execute(
            f"""SELECT a, b, c, s, person FROM sanitize.k_anonymize(NULL::{name}, 2, columns => '{{a,b,c}}',
                keep => '{{person}}', sensitive => 's', l => 2, unit => 'person')"""
        ).fetchall()
        for of_class in classes(found).values():
            assert len({row[4] for row in of_class} - {None}) >= 2
            assert matched(of_class) >= 2


def matched(of_class):
    """How many values can be matched to different people who have them."""
    people_of = defaultdict(set)
    for row in of_class:
        if row[4] is not None:
            people_of[row[3]].add(row[4])
    match = {}

    def find(value, seen):
        for person in people_of[value]:
            if person not in seen:
                seen.add(person)
                if person not in match or find(match[person], seen):
                    match[person] = value
                    return True
        return False

    return sum(find(value, set()) for value in people_of)


def test_what_is_left_of_a_row_many_people_share(connection, tables):
    for name, data in tables.items():
        if len({row[4] for row in data} - {None}) <= 2:
            continue
        counts = supports(data)
        found = released(connection, "mii_suppress", name, f"2, {LISTED}")
        assert len(found) == len(data)
        for row in found:
            left = tuple(items(row))
            assert not left or counts[left] > 2


def test_hidden_itemsets_are_those_of_few_people(connection, tables):
    for name, data in tables.items():
        for hidden in ['[{"a": "1", "b": "1"}]', '[{"a": "2"}, {"b": "1", "c": "1"}]']:
            found = released(connection, "hide_itemsets", name, f"'{hidden}', 2")
            counts = supports(found)
            itemsets = {'[{"a": "1", "b": "1"}]': [(("a", 1), ("b", 1))]}.get(
                hidden, [(("a", 2),), (("b", 1), ("c", 1))]
            )
            assert all(counts.get(itemset, 0) < 2 for itemset in itemsets)
            assert Counter(row[3:] for row in found) == Counter(row[3:] for row in data)


def test_classes_count_people(connection, tables):
    for name, data in tables.items():
        ((k,),) = rows(connection, "k_anonymity", name, "person")
        assert k == smallest(data)
        counted = connection.execute(
            f"""SELECT min(n) FROM (SELECT count(DISTINCT person) AS n FROM {name} GROUP BY a, b, c) AS classes"""
        ).fetchone()
        assert (k,) == counted
        ((diversity,),) = rows(connection, "l_diversity", name, "person")
        assert diversity == min(matched(of_class) for of_class in classes(data).values())
        risk = connection.execute(
            f"SELECT class, rows, people, distinct_values FROM sanitize.class_risk('{name}', 's', {LISTED}, unit => 'person')"
        ).fetchall()
        expected = [
            (
                shown(items(own)),
                len(of_class),
                len({row[4] for row in of_class} - {None}),
                matched(of_class),
            )
            for own, of_class in classes(data).items()
        ]
        same(risk, expected)
        assert [one[2] for one in risk] == sorted(one[2] for one in risk)
    plain = connection.execute(f"SELECT DISTINCT people FROM sanitize.class_risk('t0', {LISTED})")
    assert plain.fetchall() == [(None,)]


def test_cells_count_people(connection, tables):
    for name, data in tables.items():
        found = connection.execute(
            f"""SELECT row_value, column_value, cell, status FROM
                sanitize.suppress_cells('{name}', 'x', 'y', 3, unit => 'person')"""
        ).fetchall()
        counts = defaultdict(set)
        for row in data:
            person = row[4] or 0
            counts[str(person % 3), str(person % 2)] |= {row[4]} - {None}
        values = {at: len(of) for at, of in counts.items()}
        for row_value, column_value, cell, status in found:
            if row_value is None or column_value is None:
                fits = [
                    n
                    for (r, c), n in values.items()
                    if row_value in (None, r) and column_value in (None, c)
                ]
                assert status != "shown" or cell == sum(fits)
                continue
            count = values.get((row_value, column_value), 0)
            assert status != "shown" or (cell == count and not 0 < count < 3)
            assert (status == "primary") == (0 < count < 3)


def test_cells_are_refused_where_people_are_in_several(connection, tables):
    with pytest.raises(psycopg.Error, match="rows in several cells") as error:
        connection.execute("SELECT sanitize.suppress_cells('t1', 'a', 'b', unit => 'person')")
    assert error.value.sqlstate == "22023"
    connection.execute("SELECT sanitize.suppress_cells('t1', 'a', 'b', unit => '')")


def test_rare_itemsets_are_those_of_one_person(connection, tables):
    ours = "SELECT sum(tried), sum(leaked) FROM sanitize.rare_itemset_leak('{0}', '{0}', seed => 1, unit => '{1}')"
    for name in tables:
        tried, leaked = connection.execute(ours.format(name, "person")).fetchone()
        assert tried == leaked
    # One person with two equal rows: no row has anything alone, but the person has.
    fill(connection, "twice", [(1, 1, 1, 1, 7), (1, 1, 1, 1, 7), (2, 1, 1, 1, 8), (2, 1, 1, 1, 9)])
    assert connection.execute(ours.format("twice", "person")).fetchone()[0] > 0
    connection.execute("CREATE VIEW bare AS SELECT a, b, c, s FROM twice")
    assert connection.execute(ours.format("bare", "")).fetchone() == (0, 0)
    connection.execute("DROP TABLE twice CASCADE")


# The rule of whom a call counts.


@pytest.fixture(scope="module")
def ruled(database, tables):
    """protected: people count unless told otherwise; plain: the same rows; odd: columns of other types."""
    rng = random.Random(25)
    data = people(rng, 80, 12)
    with database.connect() as connection:
        fill(connection, "protected", data)
        fill(connection, "plain", data)
        connection.execute(
            "SELECT sanitize.protect('protected', 'person', 1, max_rows_per_unit => 9)"
        )
        connection.execute(
            "CREATE TABLE odd AS SELECT *, person::numeric AS n, '{}'::jsonb AS j FROM plain"
        )
        connection.execute("CREATE TABLE alone AS SELECT person FROM plain")
    return data


def test_every_function_with_a_unit_is_tested_here(connection):
    declared = connection.execute(
        """SELECT DISTINCT proname FROM pg_proc WHERE pronamespace = 'sanitize'::regnamespace
            AND 'unit' = ANY (proargnames[:pronargs]) AND proname <> 'protect'"""
    ).fetchall()
    assert {name for (name,) in declared} - set(CALLS) <= {"attack", "population_risk"}
    assert set(CALLS) <= {name for (name,) in declared}


@pytest.mark.parametrize("call", CALLS)
def test_one_rule_says_whom_a_call_counts(connection, ruled, call):
    by_people = rows(connection, call, "plain", "person")
    by_rows = rows(connection, call, "plain", None)
    # The definition of a column is exact, then that of an identifier.
    for spelling in ["person", '"person"', " PERSON "]:
        same(rows(connection, call, "plain", spelling), by_people)
    same(rows(connection, call, "protected", None), by_people)
    same(rows(connection, call, "protected", "person"), by_people)
    same(rows(connection, call, "protected", ""), by_rows)
    same(rows(connection, call, "plain", ""), by_rows)
    if call != "rare_itemset_leak":
        assert Counter(map(repr, by_people)) != Counter(map(repr, by_rows))
    refused(connection, "42703", call, "plain", "nobody", "nobody")
    refused(connection, "42703", call, "plain", "Person x".split()[0] + "s")
    refused(connection, "22023", call, "odd", "n", "cannot tell units apart")
    refused(connection, "22023", call, "odd", "j", "cannot tell units apart")
    refused(connection, "22023", call, "plain", "person.id", "no foreign key")
    for wrong in [
        ".",
        "person.",
        "a..b",
        '"person',
        "person; DROP TABLE plain",
        "person--",
        "(SELECT 1)",
    ]:
        refused(connection, "22023", call, "plain", wrong)
    refused(connection, "22023", call, "plain", ".".join("abcdefghi"), "9 parts")


@pytest.mark.parametrize("call", WITH_COLUMNS)
def test_the_unit_takes_no_part(connection, ruled, call):
    named = CALLS[call].replace("{a,b,c}", "{a,b,person}")
    for source, unit in [("plain", "'person'"), ("protected", "NULL")]:
        with pytest.raises(psycopg.Error, match="it is the unit") as error:
            connection.execute(named % {"s": source, "u": unit})
        assert error.value.sqlstate == "22023"
    connection.execute(named % {"s": "protected", "u": "''"})
    # All columns are all but the unit.
    every = CALLS[call].replace(LISTED + ", ", "")
    listed = CALLS[call].replace(
        "{a,b,c}",
        "{a,b,c,x,y}" if "'s', '" in CALLS[call] or "', 's'" in CALLS[call] else "{a,b,c,s,x,y}",
    )
    same(
        connection.execute(every % {"s": "plain", "u": "'person'"}).fetchall(),
        connection.execute(listed % {"s": "plain", "u": "'person'"}).fetchall(),
    )


@pytest.mark.parametrize(
    "query",
    [
        "sanitize.l_diversity('plain', 'person', unit => 'person')",
        "sanitize.l_diversity('plain', 'person', '{a}', unit => 'person')",
        "sanitize.k_anonymize(NULL::plain, 2, sensitive => 'person', l => 2, unit => 'person')",
        "sanitize.suppress_cells('plain', 'a', 'person', unit => 'person')",
        "sanitize.suppress_cells('plain', 'x', 'y', group_column => 'person', unit => 'person')",
        """sanitize.hide_itemsets(NULL::plain, '[{"a": "1", "person": "1"}]', 2, unit => 'person')""",
        "sanitize.k_anonymity('alone', unit => 'person')",
        "sanitize.k_anonymity((SELECT sanitize.row_bag(p) FROM plain AS p), '{a,person}', unit => 'person')",
        "sanitize.k_anonymity((SELECT sanitize.row_bag(p) FROM alone AS p), unit => 'person')",
    ],
)
def test_the_unit_is_no_other_argument(connection, ruled, query):
    with pytest.raises(psycopg.Error, match="unit") as error:
        connection.execute(f"SELECT * FROM {query}")
    assert error.value.sqlstate == "22023"


OF_BAGS = [
    name
    for name in CALLS
    if "NULL::" not in CALLS[name]
    and name not in ("loss_curve", "suppress_cells", "rare_itemset_leak")
]


@pytest.mark.parametrize("call", OF_BAGS)
def test_bags_have_a_unit_among_their_columns(connection, ruled, call):
    bag = "(SELECT sanitize.row_bag(p) FROM protected AS p)"
    of_bag = CALLS[call].replace("'%(s)s'", bag)
    same(
        connection.execute(of_bag % {"u": "'person'"}).fetchall(),
        rows(connection, call, "plain", "person"),
    )
    # A bag does not know that its rows come from a protected relation.
    for unit in ["NULL", "''"]:
        same(
            connection.execute(of_bag % {"u": unit}).fetchall(), rows(connection, call, "plain", "")
        )
    with pytest.raises(psycopg.errors.UndefinedColumn):
        connection.execute(of_bag % {"u": "'nobody'"})


def test_people_are_one_however_they_are_written(connection):
    connection.execute("CREATE TABLE padded (x int, bp char(9), v varchar, at timestamptz)")
    connection.execute("""INSERT INTO padded VALUES (1, 'ann', 'ann', '2020-01-01 12:00+00'),
        (1, 'ann  ', 'ann ', '2020-01-01 13:00+01')""")
    for unit, expected in [("bp", 1), ("v", 2), ("at", 1)]:
        found = connection.execute(
            f"SELECT sanitize.k_anonymity('padded', '{{x}}', unit => '{unit}')"
        )
        assert found.fetchone() == (expected,), unit
    connection.execute("DROP TABLE padded")


def test_levels_do_not_touch_the_unit(connection, ruled):
    connection.execute("""SELECT sanitize.declare_hierarchy('plain', 'a', '{"ranges": [2, 4]}')""")
    call = "SELECT * FROM sanitize.mine_miis('{}', 2, '{{a,b,c}}', levels => '{{\"a\": 1}}', unit => 'person')"
    connection.execute("CREATE TABLE coarse AS SELECT * FROM plain")
    connection.execute("UPDATE coarse SET a = a / 2")
    found = connection.execute(call.format("plain")).fetchall()
    expected = connection.execute(
        "SELECT * FROM sanitize.mine_miis('coarse', 2, '{a,b,c}', unit => 'person')"
    ).fetchall()
    assert Counter((length, n) for _, length, n in found) == Counter(
        (length, n) for _, length, n in expected
    )
    connection.execute("SELECT sanitize.drop_hierarchy('plain', 'a')")


# Rights.


def test_people_are_counted_only_by_who_may_read_the_unit(database, ruled):
    some = database.regular_user("SELECT (a, b, c, s) ON protected", "SELECT ON shown")
    none = database.regular_user()
    with database.connect(some) as connection:
        for call in WITH_COLUMNS:
            if "NULL::" in CALLS[call]:
                continue
            refused(connection, "42501", call, "protected", None, "by which people are counted")
            refused(connection, "42501", call, "protected", "person")
            rows(connection, call, "protected", "")
    with database.connect(none) as connection:
        for call in CALLS:
            for unit in [None, "person", ""]:
                with pytest.raises(psycopg.errors.InsufficientPrivilege) as error:
                    rows(connection, call, "protected", unit)
                assert "people" not in str(error.value) and "person" not in str(error.value)


# Paths.


@pytest.fixture(scope="module")
def linked(database, ruled):
    """notes.stay_id -> stays.patient_id -> patients.mother, and the same rows with these as columns in joined."""
    rng = random.Random(26)
    with database.connect() as connection:
        connection.execute("""
            CREATE TABLE patients (id int PRIMARY KEY, mother text, born date);
            CREATE TABLE stays (id bigint PRIMARY KEY, code text NOT NULL UNIQUE, patient_id int REFERENCES patients);
            CREATE TABLE notes (a int, b int, c int, s int, stay_id int REFERENCES stays, code varchar REFERENCES stays (code))""")
        for i in range(8):
            mother = rng.choice(
                ["NULL", *(f"'{name}'" for name in ["Eva", "Ann", "Ida", "Liv", "Zoe"])]
            )
            connection.execute(
                f"INSERT INTO patients VALUES ({i}, {mother}, '2000-01-0{i % 5 + 1}')"
            )
        for i in range(15):
            patient = rng.choice(["NULL", *map(str, range(8))])
            connection.execute(f"INSERT INTO stays VALUES ({i}, 'c{i}', {patient})")
        for a, b, c, s, stay in people(rng, 90, 15):
            stay = None if stay is None else stay - 1
            code = None if stay is None else f"c{stay}"
            connection.execute(
                "INSERT INTO notes VALUES (%s, %s, %s, %s, %s, %s)", [a, b, c, s, stay, code]
            )
        connection.execute("""CREATE TABLE joined AS
            SELECT n.a, n.b, n.c, n.s, s.patient_id, p.mother, p.born FROM notes AS n
              LEFT JOIN stays AS s ON s.id = n.stay_id LEFT JOIN patients AS p ON p.id = s.patient_id""")


PATHS = {
    "stay_id.patient_id": "patient_id",
    'code."patient_id"': "patient_id",
    "Stay_ID . patient_id . MOTHER": "mother",
    "code.patient_id.born": "born",
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "call", [name for name in CALLS if name not in ("rare_itemset_leak", "suppress_cells")]
)
def test_a_path_counts_as_a_column_of_the_joined_rows_would(connection, linked, call, path):
    only = "a, b, c, s" if "SELECT *" in CALLS[call] and "NULL::" in CALLS[call] else None
    text = CALLS[call].replace("SELECT *", f"SELECT {only}") if only else CALLS[call]
    found = connection.execute(text % {"s": "notes", "u": f"'{path}'"}).fetchall()
    expected = connection.execute(text % {"s": "joined", "u": f"'{PATHS[path]}'"}).fetchall()
    same(found, expected)


@pytest.mark.parametrize(
    "path, state, match",
    [
        ("a.id", "22023", "no foreign key"),
        ("stay_id.nothing", "42703", "nothing"),
        ("nothing.id", "42703", "nothing"),
        ("stay_id.patient_id.nothing", "42703", "nothing"),
        ("stay_id.code.id", "22023", "no foreign key"),
        ("stay_id.ctid", "42703", "ctid"),
        ("stay_id.patient_id.born.x", "22023", "no foreign key"),
    ],
)
def test_paths_that_lead_nowhere(connection, linked, path, state, match):
    refused(connection, state, "k_anonymity", "notes", path, match)


def test_only_validated_foreign_keys_of_one_column_are_followed(connection, linked):
    connection.execute("""
        CREATE TABLE two (x int, y int, person int, PRIMARY KEY (x, y));
        CREATE TABLE loose (x int UNIQUE, person int);
        CREATE TABLE child (a int, b int, c int, s int, x int, y int, z int, w int,
            FOREIGN KEY (x, y) REFERENCES two, FOREIGN KEY (z) REFERENCES loose (x));
        CREATE TABLE once (id int PRIMARY KEY, person int);
        CREATE TABLE other (id int PRIMARY KEY, person int, name text);
        ALTER TABLE child ADD CONSTRAINT unchecked FOREIGN KEY (w) REFERENCES once NOT VALID""")
    refused(connection, "22023", "k_anonymity", "child", "x.person", "no foreign key")
    refused(connection, "22023", "k_anonymity", "child", "z.person", "no key now")
    refused(connection, "22023", "k_anonymity", "child", "w.person", "no foreign key")
    connection.execute("ALTER TABLE child VALIDATE CONSTRAINT unchecked")
    assert rows(connection, "k_anonymity", "child", "w.person") == [(None,)]
    # Two tables have the column that is asked for; one of them has the other.
    connection.execute("ALTER TABLE child ADD FOREIGN KEY (w) REFERENCES other")
    refused(connection, "22023", "k_anonymity", "child", "w.person", "several tables")
    assert rows(connection, "k_anonymity", "child", "w.name") == [(None,)]
    refused(connection, "22023", "k_anonymity", "child", "w.nothing", "refers to no table")
    connection.execute("CREATE VIEW seen AS SELECT * FROM child")
    refused(connection, "22023", "k_anonymity", "seen", "w.name", "no foreign key")
    connection.execute("DROP VIEW seen; DROP TABLE child, two, loose, once, other")


def test_names_are_names_and_no_sql(connection, linked):
    connection.execute(
        """
        CREATE SCHEMA "S x";
        CREATE TABLE "S x"."we.ird"""
        + '""'
        + """" (joined_1 int PRIMARY KEY, "Pa""t ient" int, "x.y" int);
        CREATE TABLE joined_1 (a int, b int, c int, s int, joined_1 int REFERENCES "S x"."we.ird"""
        + '""'
        + """",
            joined_2 int, "joined_1.joined_1" int);
        INSERT INTO "S x"."we.ird"""
        + '""'
        + """" VALUES (1, 7, 8), (2, 7, 9);
        INSERT INTO joined_1 VALUES (1, 1, 1, 1, 1, 1, 1), (1, 1, 1, 1, 2, 1, 1)"""
    )
    for unit, expected in {
        'joined_1."Pa""t ient"': 1,
        'joined_1."x.y"': 2,
        "joined_1": 2,
        # A column of exactly this name, and then a path.
        "joined_1.joined_1": 1,
        '"joined_1"."joined_1"': 2,
        "joined_2": 1,
    }.items():
        assert rows(connection, "k_anonymity", "joined_1", unit) == [(expected,)], unit
    connection.execute('DROP TABLE joined_1; DROP SCHEMA "S x" CASCADE')


def test_rows_that_row_security_hides_have_no_people(database, linked):
    reader = database.regular_user("SELECT ON notes", "SELECT ON stays")
    with database.connect() as admin:
        with database.connect(reader) as connection:
            before = rows(connection, "frequent_itemsets", "notes", "stay_id.patient_id")
            admin.execute("ALTER TABLE stays ENABLE ROW LEVEL SECURITY")
            admin.execute("CREATE POLICY few ON stays USING (id < 5)")
            after = rows(connection, "frequent_itemsets", "notes", "stay_id.patient_id")
            assert len(after) < len(before)
            same(after, rows(admin, "frequent_itemsets", "notes", "stay_id.patient_id") and after)
            admin.execute("DROP POLICY few ON stays")
            admin.execute("ALTER TABLE stays DISABLE ROW LEVEL SECURITY")
        # Without the right to read a column of the path.
        admin.execute(f'REVOKE SELECT ON stays FROM "{reader}"')
        with database.connect(reader) as connection:
            refused(connection, "42501", "k_anonymity", "notes", "stay_id.patient_id")
            admin.execute(f'GRANT SELECT (id) ON stays TO "{reader}"')
            refused(connection, "42501", "k_anonymity", "notes", "stay_id.patient_id")
            admin.execute(f'GRANT SELECT (id, patient_id) ON stays TO "{reader}"')
            rows(connection, "k_anonymity", "notes", "stay_id.patient_id")
            refused(connection, "42501", "k_anonymity", "notes", "stay_id.patient_id.born")
            rows(connection, "k_anonymity", "notes", "")


def test_no_strangers_table_is_on_the_path(database, linked):
    stranger = database.regular_user("CREATE ON SCHEMA public")
    with database.connect(stranger) as theirs:
        theirs.execute("CREATE TABLE lures (id int PRIMARY KEY, person int)")
        theirs.execute("GRANT ALL ON lures TO PUBLIC")
    with database.connect() as connection:
        connection.execute(
            "CREATE TABLE lured (a int, b int, c int, s int, lure int REFERENCES lures)"
        )
        refused(connection, "22023", "k_anonymity", "lured", "lure.person", "another role")
        connection.execute("DROP TABLE lured, lures")


def test_partitioned_tables_on_both_ends(connection, linked):
    connection.execute("""
        CREATE TABLE whole (id int PRIMARY KEY, person int) PARTITION BY RANGE (id);
        CREATE TABLE whole_low PARTITION OF whole FOR VALUES FROM (0) TO (7);
        CREATE TABLE whole_high PARTITION OF whole FOR VALUES FROM (7) TO (100);
        CREATE TABLE parts (a int, b int, c int, s int, stay int REFERENCES whole) PARTITION BY LIST (c);
        CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
        CREATE TABLE parts_rest PARTITION OF parts DEFAULT;
        INSERT INTO whole SELECT id, patient_id FROM stays;
        INSERT INTO parts SELECT a, b, c, s, stay_id FROM notes""")
    for call in ["k_anonymity", "frequent_itemsets", "class_risk", "k_anonymize"]:
        text = CALLS[call].replace(
            "SELECT *", "SELECT a, b, c" if "NULL::" in CALLS[call] else "SELECT *"
        )
        found = connection.execute(text % {"s": "parts", "u": "'stay.person'"}).fetchall()
        same(found, connection.execute(text % {"s": "joined", "u": "'patient_id'"}).fetchall())
        # A partition has the foreign key of the whole.
        rows(connection, call, "parts_1", "stay.person")
    connection.execute("DROP TABLE parts, whole")


# Labels, publications and reports.


def label(connection, options, method="k_anonymize"):
    import json

    return connection.execute(
        "SELECT sanitize.guarantee(%s, %s)", [method, json.dumps(options)]
    ).fetchone()[0]


LABELLED = {
    "k_anonymize": {"k": 3},
    "k_mii": {"k": 3},
    "mii_suppress": {"theta": 2},
    "hide_itemsets": {"itemsets": [{"a": "1"}], "min_support": 2},
}


@pytest.mark.parametrize("method", LABELLED)
def test_labels_say_whom_they_count(connection, ruled, method):
    options = LABELLED[method]
    for more, unit, column in [
        ({}, "row", None),
        ({"unit": ""}, "row", None),
        ({"unit": "person"}, "person", "person"),
        ({"source": "protected"}, "person", "person"),
        ({"source": "protected", "unit": ""}, "row", None),
        ({"source": "plain"}, "row", None),
        ({"source": "plain", "unit": '"person"'}, "person", "person"),
        ({"source": "plain", "unit": "PERSON"}, "person", "person"),
    ]:
        made = label(connection, {**options, **more}, method)
        assert (made["unit"], made.get("unit_column")) == (unit, column), more
    kept = label(connection, {**options, "unit": "person", "keep": ["person"]}, method)
    assert (kept["kind"], kept["unit"]) == ("none", "person")


def test_a_publication_counts_the_units_of_the_protection_and_says_so(connection, ruled):
    def publish(name, source, options):
        return connection.execute(
            "SELECT sanitize.publish(%s, %s, 'k_anonymize', %s)", [name, source, options]
        ).fetchone()[0]

    connection.execute("SET client_min_messages = warning")
    made = publish("by_people", "protected", '{"k": 3, "columns": ["a", "b", "c"]}')
    assert (made["unit"], made["unit_column"]) == ("person", "person")
    same(
        connection.execute("SELECT a, b, c FROM by_people").fetchall(),
        [row[:3] for row in rows(connection, "k_anonymize", "plain", "person")],
    )
    (recorded,) = connection.execute(
        "SELECT options FROM sanitize.releases WHERE target = 'by_people'::regclass"
    ).fetchone()
    assert "unit" not in recorded
    by_rows = publish("by_rows", "protected", '{"k": 3, "columns": ["a", "b", "c"], "unit": ""}')
    assert (by_rows["unit"], "unit_column" in by_rows) == ("row", False)
    same(
        connection.execute("SELECT a, b, c FROM by_rows").fetchall(),
        [row[:3] for row in rows(connection, "k_anonymize", "plain", "")],
    )
    # Without columns all take part but the unit, which stays empty and does not count as suppressed.
    whole = publish("by_all", "plain", '{"k": 2, "unit": "\\"person\\""}')
    assert (whole["unit"], whole["unit_column"]) == ("person", "person")
    (blank,) = connection.execute("SELECT count(person) FROM by_all").fetchone()
    assert blank == 0
    (share,) = connection.execute(
        """SELECT (6.0 * count(*) - count(a) - count(b) - count(c) - count(s) - count(x) - count(y)) / (6 * count(*))
             FROM by_all"""
    ).fetchone()
    assert whole["suppressed_share"] == pytest.approx(float(share))
    # A path; the label has it as it was written.
    # A refresh follows the protection, and its label says what was done.
    connection.execute("CREATE TABLE turned AS SELECT * FROM plain")
    assert publish("turning", "turned", '{"k": 3, "columns": ["a", "b", "c"]}')["unit"] == "row"
    connection.execute("SELECT sanitize.protect('turned', 'person', 1, max_rows_per_unit => 9)")
    (refreshed,) = connection.execute("SELECT sanitize.refresh('turning')").fetchone()
    assert (refreshed["unit"], refreshed["unit_column"]) == ("person", "person")
    connection.execute("SELECT sanitize.unprotect('turned')")
    (refreshed,) = connection.execute("SELECT sanitize.refresh('turning')").fetchone()
    assert refreshed["unit"] == "row"
    report = connection.execute(
        "SELECT sanitize.privacy_report('protected', 'by_people')"
    ).fetchone()[0]
    (release,) = report["releases"]
    assert release["people"]["unit"] == "person" and release["people"]["surely_fewer"] == 0
    assert "people" in release["verdict"][0]["sentence"]
    (release,) = connection.execute(
        "SELECT sanitize.privacy_report('protected', 'by_rows')"
    ).fetchone()[0]["releases"]
    assert "counts rows" in release["verdict"][0]["sentence"]
    off = connection.execute(
        """SELECT sanitize.privacy_report('protected', 'by_people', '{"unit": ""}')"""
    ).fetchone()[0]["releases"][0]
    assert "people" not in off
    for name in ["by_people", "by_rows", "by_all", "turning"]:
        connection.execute(f"SELECT sanitize.retire('{name}')")


def test_a_release_by_a_path_is_recorded_and_judged_by_it(connection, linked):
    connection.execute("SET client_min_messages = warning")
    made = connection.execute("""SELECT sanitize.publish('by_path', 'notes', 'k_anonymize',
        '{"k": 2, "columns": ["a", "b", "c"], "unit": "stay_id.patient_id"}')""").fetchone()[0]
    assert (made["unit"], made["unit_column"]) == ("person", "stay_id.patient_id")
    assert "a person has one value of stay_id.patient_id" in made["assumptions"][-1]
    same(
        connection.execute("SELECT a, b, c FROM by_path").fetchall(),
        [row[:3] for row in rows(connection, "k_anonymize", "notes", "stay_id.patient_id")]
        and connection.execute("""SELECT a, b, c FROM sanitize.k_anonymize(NULL::joined, 2, '{a,b,c}',
            unit => 'patient_id')""").fetchall(),
    )
    (release,) = connection.execute(
        "SELECT sanitize.privacy_report('notes', 'by_path')"
    ).fetchone()[0]["releases"]
    assert release["people"]["unit"] == "stay_id.patient_id"
    assert release["people"]["surely_fewer"] == 0
    connection.execute("SELECT sanitize.retire('by_path')")


def test_a_table_is_sanitized_in_place_by_people(connection, ruled):
    connection.execute("SET client_min_messages = error")
    name = fresh_name("written")
    connection.execute(f"CREATE TABLE {name} AS SELECT a, b, c, s, person FROM plain")
    options = '{"k": 3, "columns": ["a", "b", "c"], "unit": "person"}'
    (made,) = connection.execute(
        "SELECT sanitize.sanitize_in_place(%s, 'k_anonymize', %s, %s)", [name, options, name]
    ).fetchone()
    assert (made["unit"], made["unit_column"]) == ("person", "person")
    same(
        connection.execute(f"SELECT a, b, c FROM {name}").fetchall(),
        [row[:3] for row in rows(connection, "k_anonymize", "plain", "person")],
    )
    # A unit that must not be NULL cannot be blanked.
    connection.execute(f"DROP TABLE {name}")
    connection.execute(
        f"CREATE TABLE {name} AS SELECT a, b, c, coalesce(person, 0) AS person FROM plain"
    )
    connection.execute(f"ALTER TABLE {name} ALTER person SET NOT NULL")
    with pytest.raises(psycopg.Error, match="takes no part, and must not be NULL"):
        connection.execute(
            'SELECT sanitize.sanitize_in_place(%s, \'k_anonymize\', \'{"k": 3, "unit": "person"}\', %s)',
            [name, name],
        )
    connection.execute(f"DROP TABLE {name}")
