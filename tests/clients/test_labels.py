"""Label, charge and neighbours of every method: what a label says of a source is what the ledger
counts for it, whether the method is called, asked about or published, on protected relations and on
others."""

import json
import math
import re

import psycopg
import pytest
from helpers import fresh_name
from publishing import WAITS, Background, WithIsolation, wait_for

DOMAINS = ["city", "sex"]
# An example of every method that has a label. A new one has to be added here.
EXAMPLES = {
    "code_tree_generate": {"min_share": 0.1, "n": 5},
    "dp_aggregate": {"measures": {"n": "count"}, "epsilon": 0.5, "delta": 0},
    "dp_frequent_itemsets": {"top": 2, "epsilon": 1, "delta": 1e-9, "columns": DOMAINS},
    "dp_itemsets": {"epsilon": 0.5, "theta": 5, "draws": 3, "columns": DOMAINS},
    "dp_mii_sample": {"epsilon": 1, "delta": 1e-6, "k": 20, "columns": DOMAINS},
    "dp_synthesize": {"epsilon": 1, "n": 5, "columns": DOMAINS},
    "dp_synthesizer": {"epsilon": 1, "columns": DOMAINS},
    "exact_count_epsilon": None,
    "exact_counts_epsilon": None,
    "generalize": {"levels": {}},
    "hide_itemsets": {"itemsets": [{"city": "a"}], "min_support": 5},
    "impute": {},
    "k_anonymize": {"k": 2},
    "k_mii": {"k": 2},
    "krimp_generate": {"n": 5, "min_support": 5},
    "mii_suppress": {"theta": 2},
    "private_krimp_generate": {"epsilon": 2, "n": 5, "columns": DOMAINS},
    "randomize_cells": {"epsilon": 2, "columns": DOMAINS},
    "randomize_number": None,
    "randomize_to_seed": None,
    "select_a_size": None,
    "shuffle_groups": {"groups": [["city"], ["sex"]]},
}
# Which of a method's calls hide what is in a row but not that it is there.
CONTENTS = {"private_krimp_generate", "randomize_cells"}
# Which bound the rows of a unit themselves, so that it costs once.
OF_UNITS = {"dp_aggregate", "dp_synthesize", "dp_synthesizer"}
PRIVATE = sorted(
    [(name, options) for name, options in EXAMPLES.items() if options and "epsilon" in options],
    key=lambda one: one[0],
) + [
    # The number of columns matters to delta, and is found in the catalog.
    ("dp_mii_sample", {"epsilon": 1, "delta": 1e-6, "k": 20, "scheme": "dp_select"}),
    ("dp_itemsets", EXAMPLES["dp_itemsets"] | {"neighbours": "add_remove"}),
]
FIELDS = ["kind", "unit", "neighbours", "epsilon", "delta"]


@pytest.fixture(scope="module")
def tables(database):
    """Rows of people with up to three each, and with one each."""
    with database.connect() as connection:
        connection.execute("""
            CREATE TABLE visits (person int NOT NULL, city text NOT NULL CHECK (city IN ('a', 'b', 'c')),
                                 sex text NOT NULL CHECK (sex IN ('f', 'm')));
            INSERT INTO visits SELECT i / 3, chr(97 + i % 3), CASE i % 2 WHEN 0 THEN 'f' ELSE 'm' END
                FROM generate_series(0, 299) AS i;
            CREATE TABLE people (LIKE visits INCLUDING ALL, PRIMARY KEY (person));
            INSERT INTO people SELECT DISTINCT ON (person) * FROM visits;
            CREATE TABLE plain (LIKE visits INCLUDING ALL);
            INSERT INTO plain SELECT * FROM visits;
            SELECT sanitize.protect('visits', 'person', 1e6, 0.9, 3, row_count_public => true);
            SELECT sanitize.protect('people', 'person', 1e6, 0.9, 3, row_count_public => true)""")


def literal(value):
    if isinstance(value, dict) or (isinstance(value, list) and isinstance(value[0], (dict, list))):
        return "'" + json.dumps(value) + "'::jsonb"
    if isinstance(value, list):
        return "'{" + ",".join(value) + "}'::text[]"
    return f"'{value}'" if isinstance(value, str) else repr(value)


def call(connection, method, source, options):
    """Runs the method; what dp_synthesizer returns holds its label."""
    (of,) = connection.execute(
        "SELECT types FROM sanitize.methods() WHERE method = %s AND argument = 'source' LIMIT 1",
        [method],
    ).fetchone()
    first = f"'{source}'" if "regclass" in of else f"NULL::{source}"
    rest = "".join(f", {name} => {literal(value)}" for name, value in options.items())
    rows = connection.execute(f"SELECT * FROM sanitize.{method}({first}{rest})").fetchall()
    return rows[0][0]["label"] if method == "dp_synthesizer" else None


def asked(connection, method, options):
    query = "SELECT sanitize.guarantee(%s, %s)"
    return connection.execute(query, [method, json.dumps(options)]).fetchone()[0]


def charged(connection, source):
    """(how many charges there are, the last one)"""
    return connection.execute(
        """SELECT count(*), (array_agg(ARRAY[epsilon, delta] ORDER BY id DESC))[1:1]
             FROM sanitize.ledger WHERE source = %s::regclass""",
        [source],
    ).fetchone()


def said(label):
    return [label.get(field) for field in FIELDS]


def published(connection, method, source, options):
    """The label of a release and what is recorded of it; None if the method makes none."""
    target = fresh_name("released")
    try:
        (label,) = connection.execute(
            "SELECT sanitize.publish(%s, %s, %s, %s)", [target, source, method, json.dumps(options)]
        ).fetchone()
    except psycopg.errors.InvalidParameterValue as error:
        assert "makes no release" in str(error)
        return None
    record = connection.execute(
        """SELECT kind, unit, neighbours, epsilon::float8, delta::float8 FROM sanitize.release_entry
            WHERE target = 'public.' || %s""",
        [target],
    ).fetchone()
    stored = connection.execute(
        "SELECT guarantee FROM sanitize.published WHERE target = %s::regclass", [target]
    ).fetchone()
    assert stored[0] == label
    return label, list(record)


def test_every_labelled_method_has_an_example(connection):
    with pytest.raises(psycopg.errors.InvalidParameterValue) as refused:
        connection.execute("SELECT sanitize.guarantee('nothing')")
    labelled = set(re.findall("'(\\w+)'", refused.value.diag.message_hint))
    assert labelled == EXAMPLES.keys(), "add an example of the new method to EXAMPLES"


def test_private_methods_are_those_whose_labels_promise_privacy(connection):
    private = {name for name, _ in PRIVATE}
    for method, options in EXAMPLES.items():
        if options is None:
            continue
        takes_rows = "source" in {
            row[0]
            for row in connection.execute(
                "SELECT argument FROM sanitize.methods() WHERE method = %s", [method]
            ).fetchall()
        }
        kind = asked(connection, method, options)["kind"]
        assert (kind in ("dp", "ldp") and takes_rows) == (method in private), method


@pytest.mark.parametrize("method, options", PRIVATE)
@pytest.mark.parametrize("source, rows", [("visits", 3), ("people", 1)])
def test_a_label_says_what_the_ledger_counts(connection, tables, method, options, source, rows):
    label = asked(connection, method, options | {"source": source})
    before, _ = charged(connection, source)
    own = call(connection, method, source, options)
    count, (cost,) = charged(connection, source)
    assert count == before + 1
    contents = method in CONTENTS
    whom = ["ldp" if contents else "dp", "person", "replace" if contents else "add_remove"]
    assert said(label) == whom + cost
    if own is not None:
        assert own == label
    assert any("number of rows is public" in line for line in label["assumptions"]) == contents
    # What is counted is what all rows of a person cost.
    factor = 1 if method in OF_UNITS else rows
    plain = asked(connection, method, options | {"source": "plain"})
    assert math.isclose(cost[0], factor * plain["epsilon"], rel_tol=1e-9)
    assert cost[1] >= factor * plain["delta"]
    if factor == 1:
        assert cost[1] == plain["delta"]
    made = published(connection, method, source, options)
    if made is not None:
        label, record = made
        after, (cost,) = charged(connection, source)
        assert after == count + 1
        assert said(label) == record == whom + cost
        (comment,) = connection.execute(
            "SELECT obj_description(target) FROM sanitize.published ORDER BY published_at DESC LIMIT 1"
        ).fetchone()
        assert "person's rows" in comment


@pytest.mark.parametrize("method, options", PRIVATE)
def test_without_units_a_row_is_protected_and_nothing_is_charged(
    connection, tables, method, options
):
    if method == "dp_aggregate":
        pytest.skip("answers about protected relations only")
    label = asked(connection, method, options | {"source": "plain"})
    own = call(connection, method, "plain", options)
    if own is not None:
        assert own == label
    assert label["unit"] == "row"
    assert label["neighbours"] == (
        "replace" if method in CONTENTS else options.get("neighbours", label["neighbours"])
    )
    assert any(line.startswith("several rows of one person") for line in label["not_covered"])
    made = published(connection, method, "plain", options)
    if made is not None:
        assert said(made[0]) == made[1] == said(label)
    assert charged(connection, "plain")[0] == 0


@pytest.mark.parametrize("method", sorted(CONTENTS))
def test_rows_are_counted_only_where_their_number_is_public(connection, tables, method):
    source = fresh_name("counted")
    connection.execute(f"""
        CREATE TABLE {source} (LIKE people INCLUDING ALL);
        INSERT INTO {source} SELECT * FROM people;
        SELECT sanitize.protect('{source}', 'person', 100)""")
    for attempt in [call, published]:
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="number of rows"):
            attempt(connection, method, source, EXAMPLES[method])
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="number of rows"):
        asked(connection, method, EXAMPLES[method] | {"source": source})
    assert charged(connection, source)[0] == 0
    connection.execute(
        f"SELECT sanitize.protect('{source}', 'person', 100, row_count_public => true)"
    )
    call(connection, method, source, EXAMPLES[method])
    label, _ = published(connection, method, source, EXAMPLES[method])
    assert "the number of rows is public: the owner has said so" in label["assumptions"]
    # Taken back.
    connection.execute(f"SELECT sanitize.protect('{source}', 'person', 100)")
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
        call(connection, method, source, EXAMPLES[method])


@pytest.mark.parametrize("method, options", PRIVATE)
def test_nothing_is_read_before_it_is_charged(connection, tables, method, options):
    """A view counts how often its rows are read, in a sequence, which no rollback takes back."""
    view, touched = fresh_name("watched"), fresh_name("touched")
    connection.execute(f"""
        CREATE SEQUENCE {touched};
        CREATE FUNCTION {touched}(person int) RETURNS int LANGUAGE sql VOLATILE
            AS $$ SELECT nextval('public.{touched}'); SELECT person $$;
        CREATE TABLE {view}_rows AS TABLE visits;
        CREATE VIEW {view} AS SELECT {touched}(person) AS person, city, sex FROM {view}_rows;
        SELECT sanitize.declare_domain('{view}', 'city', '{{a,b,c}}');
        SELECT sanitize.declare_domain('{view}', 'sex', '{{f,m}}');
        SELECT sanitize.protect('{view}', 'person', 100, 0.9, 3, assume_stable => true, row_count_public => true)""")
    reads = f"SELECT is_called FROM {touched}"
    connection.execute(f"SELECT sanitize.charge('{view}', 'all of it', 100, 0.45)")
    # What the owner declares may be compared with the rows.
    connection.execute(f"SELECT setval('{touched}', 1, false)")
    for attempt in [call, published]:
        if attempt is published and method == "dp_synthesizer":
            continue
        with pytest.raises(psycopg.Error) as refused:
            attempt(connection, method, view, options)
        assert refused.value.sqlstate == "PS001", refused.value
    assert connection.execute(reads).fetchone() == (False,)
    # The watch sees something: with a budget the rows are read.
    connection.execute(
        f"SELECT sanitize.protect('{view}', 'person', 1e6, 0.99, 3, assume_stable => true, row_count_public => true)"
    )
    call(connection, method, view, options)
    assert connection.execute(reads).fetchone() == (True,)


@pytest.mark.parametrize("method", ["dp_mii_sample", "dp_synthesize"])
@pytest.mark.parametrize("source", ["plain", "visits"])
def test_who_is_a_unit_is_said_by_the_source_alone(connection, tables, method, source):
    for told in [{"unit": "person"}, {"max_rows_per_unit": 1}, {"assume_stable": True}]:
        assert asked(connection, method, EXAMPLES[method] | told)
        with pytest.raises(psycopg.errors.InvalidParameterValue, match="beside a source"):
            asked(connection, method, EXAMPLES[method] | told | {"source": source})


BY_ROW = '{"epsilon": 1, "theta": 5, "columns": ["city"]}'


def make_protected(connection):
    """A table whose people have one row each at most."""
    name = fresh_name("protected")
    connection.execute(f"""
        CREATE TABLE {name} AS TABLE people;
        SELECT sanitize.declare_domain('{name}', 'city', '{{a,b,c}}');
        SELECT sanitize.protect('{name}', 'person', 100, max_rows_per_unit => 1)""")
    return name


@pytest.mark.parametrize("isolation", ["read committed", "repeatable read"])
def test_terms_that_change_before_the_charge_charge_nothing(
    database, connection, tables, isolation
):
    """The owner's protect holds the lock that a charge needs, and commits while the charge waits."""
    source, target = make_protected(connection), fresh_name("released")
    with database.connect() as owner:
        with owner.transaction():
            owner.execute(
                f"SELECT sanitize.protect('{source}', 'person', 100, max_rows_per_unit => 3)"
            )
            publishing = Background(
                WithIsolation(database, isolation),
                f"SELECT sanitize.publish('{target}', '{source}', 'dp_itemsets', '{BY_ROW}')",
            )
            waits = WAITS.replace("'Lock'", "'Extension'")
            wait_for(connection, waits, [publishing.connection.info.backend_pid])
        publishing.join()
    assert isinstance(publishing.error, psycopg.errors.ObjectInUse), publishing.error
    assert charged(connection, source)[0] == 0
    label, _ = published(connection, "dp_itemsets", source, json.loads(BY_ROW))
    assert label["epsilon"] >= 3 and charged(connection, source) == (1, [[label["epsilon"], 0]])


def test_terms_that_change_after_the_label_release_nothing(database, connection, tables):
    """A refresh that has read the terms waits for a row of the release that somebody holds."""
    source, target = make_protected(connection), fresh_name("released")
    publish = "SELECT sanitize.publish(%s, %s, 'dp_itemsets', %s)"
    connection.execute(publish, [target, source, BY_ROW])
    stored = connection.execute(f"SELECT * FROM {target}").fetchall()
    with database.connect() as reader:
        with reader.transaction():
            reader.execute(f"SELECT FROM {target} FOR UPDATE")
            refreshing = Background(database, f"SELECT sanitize.refresh('{target}')")
            wait_for(connection, WAITS, [refreshing.connection.info.backend_pid])
            connection.execute(
                f"SELECT sanitize.protect('{source}', 'person', 100, max_rows_per_unit => 3)"
            )
        refreshing.join()
    assert isinstance(refreshing.error, psycopg.errors.ObjectInUse), refreshing.error
    # The charge was made under the new terms, and stands; nothing of it is shown under the old ones.
    count, ((epsilon, _),) = charged(connection, source)
    assert count == 2 and epsilon >= 3
    assert connection.execute(f"SELECT * FROM {target}").fetchall() == stored
    (label,) = connection.execute(f"SELECT sanitize.refresh('{target}')").fetchone()
    assert label["epsilon"] == epsilon
