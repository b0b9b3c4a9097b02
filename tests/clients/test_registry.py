"""The registry of methods beside the catalog and the documentation: no argument is described twice
in different words."""

import importlib.util
import json
import re

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
        WITH part AS (
            SELECT unnest(ARRAY[aggtransfn, aggcombinefn, aggserialfn, aggdeserialfn, aggfinalfn]::oid[]) AS oid FROM pg_aggregate
            UNION SELECT unnest(ARRAY[typinput, typoutput, typreceive, typsend]::oid[]) FROM pg_type)
        SELECT DISTINCT p.proname, obj_description(p.oid, 'pg_proc'), p.oid IN (SELECT oid FROM part)
          FROM pg_proc AS p WHERE p.pronamespace = 'sanitize'::regnamespace"""
    pages = "".join(page.read_text() for page in (ROOT / "docs" / "reference").glob("*.md"))
    headings = set(re.findall(r"\w+", " ".join(re.findall(r"^#.*", pages, re.MULTILINE))))
    # Only the extension itself calls these.
    own = {"ledger_place", "row_type", "relation_owner", "role_name", "delta_share"}
    with database.connect() as connection:
        functions = connection.execute(query).fetchall()
    for name, comment, is_part in functions:
        assert comment, name
        if not is_part and name not in own:
            assert f"`{name}" in pages or f"`sanitize.{name}" in pages or name in headings, name


def test_synopses_and_tables_of_the_reference_are_up_to_date(registry, connection):
    returned = docs.results(connection)
    places = docs.places()
    assert len(places) == len(set(places))
    assert registry.keys() == set(places)
    for page in sorted(docs.PAGES.glob("*.md")):
        assert page.read_text() == docs.rewritten(page, registry, returned), f"{page.name}: run scripts/docs"


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
