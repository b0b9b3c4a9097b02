"""Random calls: a function, its arguments, and the statement, transaction and settings around it."""

import random
from dataclasses import dataclass

from values import Values, literal
from world import MODELLED

# What functions with a budget can do something with, and what models and bags were made from.
PROTECTED = ("protected", "visits")


@dataclass
class Call:
    function: str
    plain_role: bool
    timeout: float
    statements: list[str]
    # Bytes for COPY … FROM STDIN (FORMAT binary), instead of statements.
    copied: bytes | None = None

    def text(self):
        return ";\n".join(self.statements)

    def allowed(self):
        """Seconds that the statements may take: each has the timeout for itself."""
        runs = self.text().count(f"sanitize.{self.function}(") + self.text().count("\nEXECUTE")
        return self.timeout * max(1, runs)


def make(world, seed, number):
    """The call with that number: the same for the same seed and world."""
    rng = random.Random(f"{seed}/{number}")
    function = rng.choice(world.functions)
    subject = pick_subject(world, rng, function)
    values = Values(world, rng, subject, careful=rng.random() < 0.5)
    timeout = rng.choices([200, 500, 1000, 2000], [90, 6, 3, 1])[0]
    plain_role = rng.random() < 0.5
    settings = [f"SET {name} = {value}" for name, value in pick_settings(rng, timeout)]
    if rng.random() < 0.004:
        return Call("bag_recv", plain_role, timeout / 1000, settings, binary_row(values.bag()))
    if function.kind == "a":
        query = aggregate(rng, values, function)
    else:
        query = statement(rng, function, call_of(rng, values, function))
    statements = settings + around(rng, function, query)
    return Call(function.name, plain_role, timeout / 1000, statements)


def pick_subject(world, rng, function):
    names = {name for name, _, _ in function.arguments}
    if names & {"measures", "unit", "grantee", "what"} and rng.random() < 0.8:
        return rng.choice([r for r in world.relations if r.name in PROTECTED])
    types = {of for _, of, _ in function.arguments}
    if (types & {"sanitize.bag"} or "model" in names) and rng.random() < 0.8:
        return rng.choice([r for r in world.relations if r.name in MODELLED])
    return rng.choices(world.relations, [r.weight for r in world.relations])[0]


def pick_settings(rng, timeout):
    """Every setting that calls vary, so that none is left from the call before."""

    def mostly(usual, *others, chance=0.1):
        return rng.choice(others) if rng.random() < chance else usual

    yield "statement_timeout", timeout
    yield "pg_sanitize.max_memory", mostly("'256MB'", "'1MB'", "'2MB'", "'8MB'", "'64MB'")
    yield "pg_sanitize.max_itemsets", mostly("100000", "1", "10", "1000")
    yield "pg_sanitize.threads", mostly("1", "2", "3")
    yield "pg_sanitize.progress", mostly("0", "1", chance=0.03)
    yield "work_mem", mostly("'4MB'", "'64kB'")
    # Plans are parallel wherever they can be, or hardly ever.
    free = rng.random() < 0.15
    yield "parallel_setup_cost", "0" if free else "1000"
    yield "parallel_tuple_cost", "0" if free else "0.1"
    yield "min_parallel_table_scan_size", "0" if free else "'8MB'"
    yield "row_security", mostly("on", "off", chance=0.03)
    yield "search_path", mostly("public", "''", "pg_temp, public, pg_catalog", chance=0.03)
    yield "datestyle", mostly("'ISO, MDY'", "'German, DMY'", "'SQL, DMY'", chance=0.03)
    yield "intervalstyle", mostly("postgres", "sql_standard", chance=0.03)
    yield "extra_float_digits", mostly("1", "-15", "3", chance=0.03)
    yield "bytea_output", mostly("hex", "escape", chance=0.03)
    yield "transform_null_equals", mostly("off", "on", chance=0.03)


def call_of(rng, values, function):
    """f(…): positional or named notation, with more or fewer of the arguments that have defaults."""
    arguments = function.arguments
    given = [values.argument(function.name, name, of) for name, of, _ in arguments]
    needed = sum(not optional for _, _, optional in arguments)
    if arguments and arguments[0][0] and rng.random() < 0.4:
        chosen = [
            f"{name} => {value}"
            for (name, _, optional), value in zip(arguments, given)
            if not optional or rng.random() < (0.3 if values.careful else 0.6)
        ]
        rng.shuffle(chosen)
    else:
        most = needed + 2 if values.careful else len(given)
        chosen = given[: rng.randint(needed, min(most, len(given)))]
    return f"sanitize.{function.name}({', '.join(chosen)})"


def statement(rng, function, call):
    kind = rng.random()
    many = function.is_set
    if kind < 0.35:
        return f"SELECT * FROM {call}" + (" LIMIT 50" if many else "")
    if kind < 0.45:
        return f"SELECT * FROM {call} LIMIT 1"
    if kind < 0.55:
        return f"SELECT {call} LIMIT 20"
    if kind < 0.65:
        return f"SELECT count(*) FROM {call}"
    if kind < 0.72:
        return f"EXPLAIN (ANALYZE, VERBOSE, COSTS off, TIMING off) SELECT * FROM {call}"
    if kind < 0.78:
        return f"SELECT i, f FROM generate_series(1, 2) AS i, LATERAL {call} AS f LIMIT 30"
    if kind < 0.81 and function.result != "void":
        return f"CREATE TEMP TABLE sink ON COMMIT DROP AS SELECT * FROM {call} LIMIT 50"
    if kind < 0.83 and function.result != "void":
        rows = f"SELECT p.id AS person, f.* FROM people AS p, {call} AS f LIMIT 50"
        return f"CREATE TEMP TABLE sink ON COMMIT DROP AS {rows}"
    if kind < 0.87:
        return f"DECLARE c SCROLL CURSOR FOR SELECT * FROM {call};\nFETCH 2 FROM c;\nFETCH PRIOR FROM c;\nCLOSE c"
    if kind < 0.91:
        return f"DEALLOCATE ALL;\nPREPARE p AS SELECT * FROM {call} LIMIT 5;\nEXECUTE p;\nEXECUTE p"
    if kind < 0.95:
        body = f"BEGIN PERFORM * FROM {call} LIMIT 5; EXCEPTION WHEN OTHERS THEN IF SQLSTATE LIKE 'XX%' THEN RAISE; END IF; END"
        return f"DO {literal(body)}"
    if many:
        return f"SELECT ({call}) LIMIT 1"
    return f"SELECT 1 WHERE {call} IS NULL"


def aggregate(rng, values, function):
    """An aggregate over the rows of the subject, by groups or not, in parallel or as a window's."""
    given = []
    columns = ['"' + column.replace('"', '""') + '"' for column in values.subject.columns]
    if '"any"' in {of for _, of, _ in function.arguments} and columns and rng.random() < 0.7:
        # Names and as many columns, which a blind choice seldom gives.
        chosen = rng.choices(columns, k=rng.randint(1, 4))
        names = ", ".join(f"'c{i}'" for i in range(len(chosen)))
        of = function.arguments[0][1]
        first = (
            f"ARRAY[{names}]::{of}"
            if of.endswith("[]")
            else values.argument(function.name, "terms", of)
        )
        given = [first, *(f"t.{column}" for column in chosen)]
    for _, of, _ in function.arguments if not given else []:
        if of == "record":
            given.append(rng.choice(["t", "t", "t", "ROW(t, 1)", "ROW()"]))
        elif columns and rng.random() < 0.5:
            given.append(f"t.{rng.choice(columns)}")
        else:
            given.append(values.argument(function.name, None, of))
    call = f"sanitize.{function.name}({', '.join(given)})"
    kind = rng.random()
    source = f"{values.subject.name} AS t"
    if kind < 0.5:
        return f"SELECT {call} FROM {source}"
    if kind < 0.7:
        return f"SELECT {call} FROM {source} GROUP BY t"
    if kind < 0.8:
        return f"SELECT {call} OVER () FROM {source}"
    if kind < 0.9:
        return f"SELECT {call} FILTER (WHERE random() < 2) FROM {source} WHERE false"
    return f"SELECT {call} FROM (SELECT * FROM {source} LIMIT 3) AS t"


def around(rng, function, query):
    """A transaction around the statement. What changes the state of the world is always taken back."""
    kind = rng.random()
    if kind < 0.3 and function.result != "void" and "CURSOR" not in query:
        return [query]
    if kind < 0.5 and "CREATE TEMP" not in query:
        return ["BEGIN READ ONLY", query, "ROLLBACK"]
    if kind < 0.6:
        return ["BEGIN ISOLATION LEVEL REPEATABLE READ", query, "ROLLBACK"]
    if kind < 0.65:
        return ["BEGIN ISOLATION LEVEL SERIALIZABLE", query, "ROLLBACK"]
    if kind < 0.8:
        return ["BEGIN", "SAVEPOINT a", query, "ROLLBACK TO a", "SAVEPOINT b", query, "ROLLBACK"]
    return ["BEGIN", query, "ROLLBACK"]


def binary_row(value):
    """A row with one column in the format of COPY."""
    header = b"PGCOPY\n\xff\r\n\0" + bytes(8)
    return header + b"\0\1" + len(value).to_bytes(4, "big") + value + b"\xff\xff"
