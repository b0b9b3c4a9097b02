"""A library beside SQL of another version: every function is declared again with each kind of changed
signature and called. Each call ends with an error that says which versions meet.

Each changed declaration is called as somebody's own function, with NULLs and with plain values, and
as a part of the extension, as the SQL of another version would be. SQL cannot write a value of type
internal, not even NULL. A declaration that still takes one is called by an aggregate whose final
function it is; what CREATE AGGREGATE does not take as that is out of everybody's reach.
"""

import re
from pathlib import Path

import psycopg
import pytest
from helpers import ROOT, OwnServer
from psycopg import sql

SYMBOLS = sorted(
    {
        symbol
        for file in (ROOT / "sql").glob("*.sql")
        for symbol in re.findall(r"'MODULE_PATHNAME', '(\w+)'", file.read_text())
    }
)

# A plain value of each type, as SQL.
VALUES = {
    '"any"': "1::int",
    "anyelement": "NULL::people",
    "bigint": "1::bigint",
    "bigint[]": "'{1,2}'::bigint[]",
    "boolean": "true",
    "bytea": r"'\x0102'::bytea",
    "cstring": r"'\x0102'::cstring",
    "cstring[]": "'{a}'::cstring[]",
    "double precision": "1::float8",
    "double precision[]": "'{{0.5,0.5},{0.25,0.75}}'::float8[]",
    "integer": "1::int",
    "integer[]": "'{1,2}'::int[]",
    "internal": "",
    "interval": "'1 day'::interval",
    "jsonb": "'{}'::jsonb",
    "numeric": "1::numeric",
    "numeric[]": "'{1,2}'::numeric[]",
    "record": "ROW(1, 'a')",
    "regclass": "'people'::regclass",
    "regrole": "'postgres'::regrole",
    "sanitize.bag": "(SELECT sanitize.row_bag(p) FROM people AS p)",
    "text": "'people'::text",
    "text[]": "'{a}'::text[]",
    "timestamp with time zone": "'2024-02-01'::timestamptz",
}


class Declaration:
    """A function as SQL declares it: what CREATE FUNCTION needs, and how to call it."""

    def __init__(self, arguments, columns, result, is_set):
        self.arguments = arguments
        self.columns = columns
        self.result = result
        self.is_set = is_set

    def but(self, **changes):
        return Declaration(**{**vars(self), **changes})

    def create(self, name, symbol):
        arguments = [(name, of, "IN") for name, of in self.arguments]
        arguments += [(name, of, "OUT") for name, of in self.columns]
        listed = ", ".join(
            f"{mode} {sql.Identifier(name).as_string() if name else ''} {of}"
            for name, of, mode in arguments
        )
        # A single OUT column is what is returned, and these types only if there is such an argument.
        result = self.columns[0][1] if len(self.columns) == 1 else self.result
        if result in ("internal", "anyelement") and result not in [of for _, of in self.arguments]:
            result = "integer"
        returns = f"RETURNS {'SETOF ' if self.is_set else ''}{result}"
        return f"CREATE FUNCTION {name}({listed}) {returns} LANGUAGE c AS {symbol}"

    def calls(self, name):
        """(statements before, call): how SQL reaches the function."""
        types = [of for _, of in self.arguments]
        if self.result == "trigger":
            if not types:
                trigger = f"CREATE TRIGGER t BEFORE INSERT ON people EXECUTE FUNCTION {name}()"
                yield [trigger], "INSERT INTO people VALUES (1, 'x') RETURNING 1"
        elif "internal" not in types:
            for values in (self.nulls(), self.plain()):
                yield [], f"SELECT * FROM {name}({', '.join(values)})"
        elif self.is_set or self.columns or "internal" in types[1:] or types[0] != "internal":
            return
        elif len(types) == 1 and self.result != "internal":
            state = "SFUNC = int8_avg_accum, STYPE = internal"
            aggregate = f"CREATE AGGREGATE a(bigint) ({state}, FINALFUNC = {name})"
            yield [aggregate], "SELECT a(1::bigint)"

    def nulls(self):
        # The type of a NULL tells anyelement what it stands for.
        typed = {"anyelement": "NULL::people", "record": "NULL::people", "internal": ""}
        typed['"any"'] = "NULL::int"
        return [typed.get(of, f"NULL::{of}") for _, of in self.arguments]

    def plain(self):
        return [VALUES[of] for _, of in self.arguments]


def other(of):
    """A type that differs, and how its values are kept in memory as well."""
    return "text" if of in ("integer", "bigint", "double precision", "boolean") else "integer"


def changed(original):
    """(what was changed, the changed declaration): the harmless ones first."""
    arguments, columns = original.arguments, original.columns
    yield "one more argument", original.but(arguments=[*arguments, (None, "integer")])
    if arguments:
        yield "no arguments", original.but(arguments=[])
        yield "without the last argument", original.but(arguments=arguments[:-1])
        yield "without the first argument", original.but(arguments=arguments[1:])
    names = [name for name, _ in arguments]
    if len(arguments) > 1 and all(names):
        types = [of for _, of in arguments]
        yield (
            "the first two names swapped",
            original.but(arguments=list(zip([names[1], names[0], *names[2:]], types))),
        )
        if types[0] != types[1]:
            yield (
                "the first two arguments swapped",
                original.but(arguments=[arguments[1], arguments[0], *arguments[2:]]),
            )
    for i, (name, of) in enumerate(arguments):
        new = [*arguments[:i], (name, other(of)), *arguments[i + 1 :]]
        yield f"argument {i + 1} of another type", original.but(arguments=new)
    if arguments:
        new = [(name, other(of)) for name, of in arguments]
        yield "all arguments of another type", original.but(arguments=new)
    yield "a set or not", original.but(is_set=not original.is_set)
    if original.result != "trigger":
        yield "a trigger", original.but(result="trigger", columns=[], is_set=False)
    if columns:
        yield "another column", original.but(columns=[*columns, ("extra", "text")], result="record")
        yield (
            "another name of a column",
            original.but(columns=[("other", columns[0][1]), *columns[1:]]),
        )
        new = [(name, other(of)) for name, of in columns]
        yield "all columns of another type", original.but(columns=new)
        yield (
            "every column an integer that was none",
            original.but(
                columns=[(n, "bigint" if of == "integer" else "integer") for n, of in columns],
                result="record",
            ),
        )
        for i, (name, of) in enumerate(columns):
            new = [*columns[:i], (name, other(of)), *columns[i + 1 :]]
            yield f"column {i + 1} of another type", original.but(columns=new)
        if len(columns) > 1:
            yield "without the last column", original.but(columns=columns[:-1])
            yield "without the first column", original.but(columns=columns[1:])
            yield "one column", original.but(columns=[("only", "integer")])
            yield "a composite type's rows", original.but(columns=[], result="people")
    else:
        yield "another result", original.but(result=other(original.result))
        yield (
            "rows with columns",
            original.but(columns=[("a", "text"), ("b", "bigint")], result="record", is_set=True),
        )


def declarations(connection, symbol):
    """The declarations over a symbol in the extension: one, or several where it is overloaded."""
    query = """
        SELECT proretset, prorettype::regtype::text, coalesce(proargnames, '{}'),
               coalesce(proargmodes::text[], '{}'),
               array(SELECT format_type(t, NULL) FROM unnest(coalesce(proallargtypes, proargtypes::oid[])) AS t)
          FROM pg_proc JOIN pg_language AS l ON l.oid = prolang
         WHERE l.lanname = 'c' AND prosrc = %s AND probin LIKE '%%pg_sanitize' AND pronamespace::regnamespace::text ~ '^sanitize'
         ORDER BY pg_proc.oid"""
    for is_set, result, names, modes, types in connection.execute(query, [symbol]).fetchall():
        names = [*names, *[None] * (len(types) - len(names))]
        modes = modes or ["i"] * len(types)
        inputs = [(n or None, of) for n, of, mode in zip(names, types, modes) if mode in "iv"]
        columns = [(n, of) for n, of, mode in zip(names, types, modes) if mode in "ot"]
        yield Declaration(inputs, columns, result, is_set)


@pytest.fixture(scope="module")
def other_schema(database):
    """A schema for changed declarations, and what they are called on."""
    with database.connect() as connection:
        connection.execute("CREATE SCHEMA other")
        connection.execute("CREATE TABLE people (a int, b text)")
        connection.execute("INSERT INTO people VALUES (1, 'x'), (1, 'x'), (2, 'y')")


def started(connection):
    return connection.execute("SELECT pg_postmaster_start_time()").fetchone()


def assert_refused(connection, query, what, library, versions):
    """The call ends with the error of versions that do not fit, which names them: the library's, and
    the extension's if the function is its."""
    try:
        rows = connection.execute(query).fetchall()
    except psycopg.Error as error:
        diag = error.diag
        assert error.sqlstate == "55000", f"{what}: {query}\n{error.sqlstate} {error}"
        assert "does not fit the library" in diag.message_primary
        assert diag.message_detail.count(library) == versions, diag.message_detail
        assert "ALTER EXTENSION pg_sanitize UPDATE" in diag.message_hint
    else:
        raise AssertionError(f"{what}: {query} returned {rows}")


def library_of(connection):
    """The path of the library, and its version: in the tests both versions are the same."""
    path = "SELECT DISTINCT probin FROM pg_proc WHERE probin LIKE '%pg_sanitize'"
    version = "SELECT extversion FROM pg_extension WHERE extname = 'pg_sanitize'"
    return connection.execute(path).fetchone()[0], connection.execute(version).fetchone()[0]


def each_symbol(test):
    return pytest.mark.parametrize("symbol", SYMBOLS)(test)


@each_symbol
def test_a_changed_signature_is_refused(database, other_schema, symbol):
    # Without prepared statements: their plans would remember the result of the last declaration.
    with database.connect(prepare_threshold=None) as connection:
        before = started(connection)
        path, version = library_of(connection)
        body = sql.SQL("{}, {}").format(path, symbol).as_string(connection)
        refused = 0
        for original in declarations(connection, symbol):
            for what, declaration in changed(original):
                connection.execute("BEGIN")
                connection.execute(declaration.create("other.f", body))
                arguments = ", ".join(of for _, of in declaration.arguments)
                join = f"ALTER EXTENSION pg_sanitize ADD FUNCTION other.f({arguments})"
                for statements, query in declaration.calls("other.f"):
                    for versions, further in ((1, []), (2, [join])):
                        connection.execute("SAVEPOINT s")
                        for statement in statements + further:
                            connection.execute(statement)
                        assert_refused(connection, query, what, version, versions)
                        connection.execute("ROLLBACK TO s")
                        refused += 1
                connection.execute("ROLLBACK")
        assert refused >= 10
        assert started(connection) == before


def test_every_symbol_is_declared(database):
    with database.connect() as connection:
        query = "SELECT DISTINCT prosrc FROM pg_proc WHERE probin LIKE '%pg_sanitize'"
        assert sorted(symbol for (symbol,) in connection.execute(query)) == SYMBOLS


@pytest.fixture
def talkative_server():
    """A server whose environment asks Rust for backtraces."""
    server = OwnServer(port=55998)
    server.run(
        "initdb", f"--pgdata={server.data}", "--username=postgres", "--auth=trust", "--no-sync"
    )
    server.start(RUST_BACKTRACE="full", RUST_LIB_BACKTRACE="1")
    yield server
    server.drop()


def assert_bare(diag):
    """An error of ours, without words of Rust."""
    told = "\n".join(filter(None, [diag.message_primary, diag.message_detail, diag.context]))
    assert diag.sqlstate and not diag.sqlstate.startswith("XX"), told
    assert not re.search(r"backtrace|^ *\d+: |\.rs:\d", told, re.MULTILINE), told


def test_no_error_carries_a_backtrace(talkative_server):
    options = {"dbname": "postgres", "user": "postgres", "prepare_threshold": None}
    with talkative_server.connect(**options) as connection:
        connection.execute("CREATE EXTENSION pg_sanitize")
        connection.execute("CREATE TABLE people (a int, b text)")
        postmaster = Path(talkative_server.data, "postmaster.pid").read_text().split()[0]
        assert b"RUST_BACKTRACE=full" in Path(f"/proc/{postmaster}/environ").read_bytes()
        path, _ = library_of(connection)
        errors = 0
        for symbol in SYMBOLS:
            body = sql.SQL("{}, {}").format(path, symbol).as_string(connection)
            for original in declarations(connection, symbol):
                # As it is, but not STRICT; and with an argument less, where Rust would panic.
                for declaration in (original, original.but(arguments=original.arguments[:-1])):
                    connection.execute("BEGIN")
                    connection.execute(declaration.create("f", body))
                    for statements, query in declaration.calls("f"):
                        # A state of another aggregate is none of theirs.
                        if declaration is original and statements:
                            continue
                        connection.execute("SAVEPOINT s")
                        for statement in statements:
                            connection.execute(statement)
                        try:
                            connection.execute(query)
                        except psycopg.Error as error:
                            assert_bare(error.diag)
                            errors += 1
                        connection.execute("ROLLBACK TO s")
                    connection.execute("ROLLBACK")
        assert errors > len(SYMBOLS)
