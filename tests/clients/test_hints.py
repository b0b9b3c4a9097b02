"""A hint names only arguments that the function has: whoever reads it can follow it."""

import re

import psycopg

# What a call gives for an argument of a type where nothing is wrong with it, and what may be wrong.
GOOD = {
    "regclass": "'notes'",
    "anyelement": "NULL::notes",
    "sanitize.bag": "(SELECT sanitize.row_bag(n) FROM notes AS n)",
    "text[]": "'{a,b}'",
    "text": "'a'",
    "jsonb": "'{}'",
    "boolean": "true",
    "double precision": "0.5",
    "integer": "2",
    "bigint": "2",
}
BAD = {
    "regclass": ["NULL"],
    "text[]": ["'{nobody}'", "'{a,a}'", "'{}'"],
    "text": ["'nobody'", "''", "NULL"],
    "jsonb": ["'[]'", "'{\"nobody\": 1}'", "'1'"],
    "double precision": ["-1", "'NaN'", "1e300", "NULL"],
    "integer": ["-1", "0", "2000000000", "NULL"],
    "bigint": ["-1", "0", "NULL"],
}
LIMITS = [{}, {"max_itemsets": "1"}, {"max_memory": "'1MB'"}]


def functions(connection):
    """Functions of the registry: name, whether they return rows, and their arguments with types."""
    query = """SELECT p.proname, p.proretset, p.proargnames[1:p.pronargs],
                      ARRAY(SELECT format_type(t, NULL) FROM unnest(p.proargtypes) WITH ORDINALITY AS u(t, i) ORDER BY i),
                      p.pronargs - p.pronargdefaults
                 FROM pg_proc AS p
                WHERE p.pronamespace = 'sanitize'::regnamespace AND p.prokind = 'f'
                  AND p.proname IN (SELECT method FROM sanitize.methods())"""
    return connection.execute(query).fetchall()


def misnamed(hint, name, arguments, known):
    """The arguments of other functions that the hint of a function names as if they were its own."""
    # Calls of other functions, settings and options of releases are named as such.
    hint = re.sub(r"sanitize\.\w+\([^()]*(\([^()]*\))*[^()]*\)", "", hint)
    hint = re.sub(r"pg_sanitize\.\w+|sanitize\.\w+", "", hint)
    given = set(re.findall(r"\b([a-z_]+) =>", hint))
    # A word with an underscore is no English one.
    spoken = {word for word in re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", hint) if word in known}
    own = set(arguments)
    if {"options", "question", "levels", "release"} & own:
        return given - own - known
    return (given | spoken) - own


def test_hints_name_arguments_that_the_function_has(database):
    connection = database.connect()
    connection.execute(
        "CREATE TABLE notes AS SELECT i % 97 AS a, i % 89 AS b, i AS c, md5(i::text) AS d FROM generate_series(1, 5000) AS i"
    )
    known = {
        argument for (argument,) in connection.execute("SELECT argument FROM sanitize.methods()")
    }
    known -= {None}
    wrong, seen = set(), 0
    for name, _, names, types, needed in functions(connection):
        names = names or []
        if not all(of in GOOD for of in types[:needed]):
            continue
        base = [GOOD[of] for of in types[:needed]]
        trials = [(base, limits) for limits in LIMITS]
        for place, of in enumerate(types):
            for bad in BAD.get(of, []):
                given = list(base)
                if place < needed:
                    given[place] = bad
                    trials.append((given, {}))
                else:
                    trials.append(([*given, f"{names[place]} => {bad}"], {}))
        for given, limits in trials:
            with connection.transaction(force_rollback=True):
                for setting, value in limits.items():
                    connection.execute(f"SET LOCAL pg_sanitize.{setting} = {value}")
                # Of the call alone: a busy server may need longer to roll back, without an error to look at.
                connection.execute("SET LOCAL statement_timeout = '150ms'")
                try:
                    connection.execute(f"SELECT count(*) FROM sanitize.{name}({', '.join(given)})")
                    connection.execute("SET LOCAL statement_timeout = 0")
                except psycopg.Error as error:
                    hint = error.diag.message_hint or ""
                    seen += bool(hint)
                    for argument in misnamed(hint, name, names, known):
                        wrong.add((name, argument, hint))
    assert seen > 200
    assert not wrong, "\n".join(
        sorted(f"{name}: {argument}: {hint}" for name, argument, hint in wrong)
    )
