"""The registry of methods beside the catalog and the documentation: no argument is described twice
in different words."""

import importlib.util
import json
import re

import psycopg
import pytest
from helpers import ROOT

spec = importlib.util.spec_from_file_location("arguments", ROOT / "docs" / "arguments.py")
docs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(docs)


@pytest.fixture(scope="module")
def registry(database):
    """{name: [[(argument, types, default, about), …], …]}"""
    with database.connect() as connection:
        return docs.declarations(connection)


@pytest.fixture(scope="module")
def catalog(database):
    """[(name, [(argument, type, default as JSON or None if it must be given), …])] of all functions in
    C with named arguments."""
    query = """
        SELECT p.oid, p.proname, p.proargnames[i], format_type(t, NULL), i,
               pg_get_function_arg_default(p.oid, i::int), i > p.pronargs - p.pronargdefaults
          FROM pg_proc AS p JOIN pg_language AS l ON l.oid = p.prolang,
               unnest(p.proargtypes) WITH ORDINALITY AS a(t, i)
         WHERE p.pronamespace = 'sanitize'::regnamespace AND l.lanname = 'c'
           AND p.proargnames IS NOT NULL
         ORDER BY p.oid, i"""
    functions = {}
    with database.connect() as connection:
        for oid, name, argument, of, _, default, optional in connection.execute(query).fetchall():
            if optional:
                # to_json keeps the digits and the order that were written.
                (value,) = connection.execute(f"SELECT to_json({default})").fetchone()
                default = (value,)
            functions.setdefault((oid, name), []).append((argument, of, default))
    return [(name, arguments) for (_, name), arguments in functions.items()]


def test_every_function_is_registered(registry, catalog):
    named = {name for name, _ in catalog}
    assert registry.keys() == named


def test_the_registry_has_the_arguments_of_the_catalog(registry, catalog):
    matched = []
    for name, arguments in catalog:
        names = [argument for argument, _, _ in arguments]
        same = [one for one in registry[name] if [argument for argument, *_ in one] == names]
        assert len(same) == 1, name
        matched.append((name, tuple(names)))
        for (argument, of, default), (_, types, registered, _) in zip(arguments, same[0]):
            assert of in types.split(", "), f"{name}: {argument}"
            expected = None if registered is None else (json.loads(registered),)
            assert default == expected, f"{name}: {argument}"
    # Nothing is registered that the catalog does not have.
    registered = {
        (name, tuple(argument for argument, *_ in one))
        for name, functions in registry.items()
        for one in functions
    }
    assert registered == set(matched)


def test_every_type_of_an_argument_has_a_declaration(registry, catalog):
    for name, functions in registry.items():
        for function in functions:
            names = [argument for argument, *_ in function]
            for argument, types, _, _ in function:
                declared = {
                    of
                    for other, arguments in catalog
                    if other == name and [a for a, _, _ in arguments] == names
                    for a, of, _ in arguments
                    if a == argument
                }
                assert declared == set(types.split(", ")), f"{name}: {argument}"


def test_every_argument_has_a_sentence(registry):
    for name, functions in registry.items():
        for function in functions:
            for argument, _, _, about in function:
                assert re.fullmatch(r"[A-Z].+\.", about), f"{name}: {argument}"


def test_every_function_has_a_comment_and_a_place_in_the_reference(database):
    query = """
        SELECT DISTINCT p.proname, obj_description(p.oid, 'pg_proc'), p.pronamespace = 'sanitize'::regnamespace
          FROM pg_proc AS p WHERE p.pronamespace::regnamespace::text ~ '^sanitize'"""
    pages = "".join(page.read_text() for page in (ROOT / "docs" / "reference").glob("*.md"))
    headings = set(re.findall(r"\w+", " ".join(re.findall(r"^#.*", pages, re.MULTILINE))))
    with database.connect() as connection:
        functions = connection.execute(query).fetchall()
    for name, comment, is_for_users in functions:
        assert comment, name
        if is_for_users:
            assert f"`{name}" in pages or f"`sanitize.{name}" in pages or name in headings, name


def test_synopses_and_tables_of_the_reference_are_up_to_date(registry, connection):
    returned = docs.results(connection)
    places = docs.places()
    assert len(places) == len(set(places))
    assert registry.keys() == set(places)
    for page in sorted(docs.PAGES.glob("*.md")):
        assert page.read_text() == docs.rewritten(page, registry, returned), (
            f"{page.name}: run scripts/docs"
        )
    listed = (docs.PAGES / "functions.md").read_text()
    assert listed == docs.overview(connection), "functions.md: run scripts/docs"


DECLARATION = re.compile(
    r"^CREATE FUNCTION (\S+?)\(.*?\)\n    RETURNS .*?\n    LANGUAGE c (\w+)( STRICT)? PARALLEL (\w+).*, '(\w+)';\n"
    r"COMMENT ON FUNCTION (.*) IS\n    '(.*)';\n",
    re.MULTILINE,
)


def test_the_declarations_are_those_of_the_library(connection):
    connection.execute(
        "CREATE FUNCTION pg_temp.declarations() RETURNS text LANGUAGE c AS 'pg_sanitize', 'sanitize_declarations'"
    )
    (library,) = connection.execute("SELECT pg_temp.declarations()").fetchone()
    committed = (ROOT / "sql" / "functions.sql").read_text()
    assert committed == library, "run scripts/declarations"


def test_the_catalog_has_what_is_declared(connection):
    """Volatility, parallel label, strictness, comment and symbol of every function in C, and no other function."""
    declared = {}
    for match in DECLARATION.finditer((ROOT / "sql" / "functions.sql").read_text()):
        name, volatility, strict, parallel, symbol, signature, about = match.groups()
        assert signature.startswith(f"{name}(")
        (oid,) = connection.execute("SELECT %s::regprocedure::oid", [signature]).fetchone()
        behaviour = volatility[0].lower(), parallel[0].lower(), strict is not None
        declared[oid] = (*behaviour, symbol, about.replace("''", "'"))
    catalog = connection.execute("""
        SELECT p.oid, provolatile, proparallel, proisstrict, prosrc, obj_description(p.oid, 'pg_proc')
          FROM pg_proc AS p JOIN pg_language AS l ON l.oid = p.prolang
         WHERE l.lanname = 'c' AND probin LIKE '%pg_sanitize' AND pronamespace::regnamespace::text ~ '^sanitize'""")
    assert declared == {oid: tuple(rest) for oid, *rest in catalog}
    assert len(declared) > 100


def test_every_family_is_a_folder_of_the_source(connection):
    families = connection.execute("SELECT DISTINCT family FROM sanitize.methods()").fetchall()
    folders = {folder.name for folder in (ROOT / "src" / "api").iterdir() if folder.is_dir()}
    assert {family for (family,) in families} <= folders
    assert len(families) > 5


def test_every_declaration_can_be_taken_back(registry):
    declared = {name.removeprefix("declare_") for name in registry if name.startswith("declare_")}
    assert len(declared) >= 3
    assert {f"drop_{what}" for what in declared} <= registry.keys()


def test_words_mean_the_same_everywhere(registry):
    """original comes before released, min_support counts rows, min_share is a share, intervals are low and high."""
    for name, functions in registry.items():
        for function in functions:
            types = {argument: of for argument, of, _, _ in function}
            names = list(types)
            if {"original", "released"} <= types.keys():
                assert names.index("original") < names.index("released"), name
            assert types.get("min_support", "bigint") == "bigint", name
            assert types.get("min_share", "double precision") == "double precision", name
            assert not types.keys() & {"lo", "hi"}, name


def test_swapped_tables_are_noticed_by_every_function_that_compares_two(registry, connection):
    comparing = [
        (name, function)
        for name, functions in registry.items()
        for function in functions
        if {"original", "released"} <= {argument for argument, *_ in function}
    ]
    assert len(comparing) >= 9
    connection.execute("""
        CREATE TABLE taken AS SELECT i % 3 AS a, i % 2 AS b FROM generate_series(1, 60) AS i;
        SELECT sanitize.publish('given', 'taken', 'k_anonymize', '{"k": 5}')""")
    for name, function in comparing:
        required = [argument for argument, _, default, _ in function[2:] if default is None]
        more = "".join(f", {argument} => 0.5" for argument in required)
        connection.execute(f"SELECT * FROM sanitize.{name}('taken', 'given'{more})").fetchall()
        with pytest.raises(psycopg.errors.InvalidParameterValue) as error:
            connection.execute(f"SELECT * FROM sanitize.{name}('given', 'taken'{more})")
        diag = error.value.diag
        assert diag.message_primary == "original and released are swapped"
        assert "given" in diag.message_detail and "a release of taken" in diag.message_detail
        assert f"sanitize.{name}('taken', 'given'" in diag.message_hint
    # Another table that is no release of it may come first, and so may the same table twice.
    connection.execute("CREATE TABLE copied AS TABLE given")
    connection.execute("SELECT * FROM sanitize.common_records('copied', 'taken')")
    connection.execute("SELECT * FROM sanitize.common_records('given', 'given')")


def test_who_may_not_read_both_tables_is_not_told_which_was_made_from_which(database, connection):
    connection.execute("""
        CREATE TABLE hidden AS SELECT i % 3 AS a FROM generate_series(1, 60) AS i;
        SELECT sanitize.publish('shown', 'hidden', 'k_anonymize', '{"k": 5}')""")
    role = database.regular_user()
    connection.execute(f"GRANT SELECT ON shown TO {role}")
    with database.connect(role) as their, pytest.raises(psycopg.errors.InsufficientPrivilege):
        their.execute("SELECT * FROM sanitize.common_records('shown', 'hidden')")
