"""Writes synopses and tables of arguments in the reference from the functions' own declarations, and the page of
all functions.

A page says where they go: between <!-- arguments of NAME --> and <!-- end of arguments -->. A
function that the registry does not have keeps an empty place. scripts/docs runs this.
"""

import json
import re
import sys
import textwrap
from pathlib import Path

import psycopg

PAGES = Path(__file__).resolve().parent / "reference"
PLACE = re.compile(
    r"^<!-- arguments of (\w+) -->\n(.*?)^<!-- end of arguments -->\n", re.MULTILINE | re.DOTALL
)

# Names of types as people write them.
SHORT = {"double precision": "float8", "integer": "int", "boolean": "bool"}
SHORT["timestamp with time zone"] = "timestamptz"


def declarations(connection):
    """{name: [rows of sanitize.methods()]}, a list for each function of that name."""
    found = {}
    for name, position, *argument, _ in connection.execute("SELECT * FROM sanitize.methods()"):
        functions = found.setdefault(name, [])
        if position == 1:
            functions.append([])
        functions[-1].append(argument)
    return found


def results(connection):
    """{(name, names of the arguments): what the function returns}."""
    query = """
        SELECT proname, coalesce(proargnames[:pronargs], '{}'), pg_get_function_result(oid)
          FROM pg_proc WHERE pronamespace = 'sanitize'::regnamespace AND prokind = 'f'"""
    return {
        (name, tuple(arguments)): result for name, arguments, result in connection.execute(query)
    }


def as_sql(default):
    """A default, which the registry has as JSON, as one would write it in a call."""
    value = json.loads(default)
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, dict | list):
        return f"'{default}'"
    return "NULL" if value is None else default


def synopsis(name, arguments, returned):
    """How the function is called and what it returns, in lines that can be read."""
    listed = [
        f"{argument} {types.replace(', ', ' | ')}" + (f" = {as_sql(default)}" if default else "")
        for argument, types, default, _ in arguments
    ]
    result = returned[name, tuple(argument for argument, *_ in arguments)]
    text = f"{name}({', '.join(listed)})"
    for old, new in SHORT.items():
        text, result = text.replace(old, new), result.replace(old, new)
    lines = textwrap.wrap(text, 116, subsequent_indent="    ", break_on_hyphens=False)
    lines += textwrap.wrap(
        f"-> {result}",
        116,
        initial_indent="    ",
        subsequent_indent="       ",
        break_on_hyphens=False,
    )
    return "\n".join(["```", *lines, "```", ""])


def table(name, arguments):
    lines = [f"| argument of `{name}` | type | default | meaning |", "|---|---|---|---|"]
    for argument, types, default, about in arguments:
        types = " or ".join(f"`{one}`" for one in types.split(", "))
        default = "" if default is None else f"`{as_sql(default)}`"
        about = about.replace("|", r"\|")
        lines.append(f"| `{argument}` | {types} | {default} | {about} |")
    return "\n".join(lines) + "\n"


def rewritten(page, functions, returned):
    """The text of a page with synopses and tables as they should be."""

    def fill(place):
        name = place[1]
        tables = "\n".join(
            synopsis(name, arguments, returned) + table(name, arguments)
            for arguments in functions.get(name, [])
        )
        return f"<!-- arguments of {name} -->\n{tables}<!-- end of arguments -->\n"

    return PLACE.sub(fill, page.read_text())


# What the families of sanitize.methods() are called, in the order of the page of all functions.
FAMILIES = {
    "mining": "Mining",
    "release": "Releases of a table's own rows",
    "private": "Differential privacy and budgets",
    "krimp": "Krimp: patterns and generated tables",
    "randomize": "Randomised cells and transactions",
    "operators": "Randomisation operators",
    "measure": "Measures of privacy and utility",
    "publish": "Publishing",
    "shared": "Labels and the list of functions",
}


def overview(connection):
    """The page of all functions: the names by family, with their comments and links to their places."""
    rows = connection.execute("""
        SELECT p.proname, m.family, min(d.description)
          FROM pg_proc AS p
          JOIN (SELECT DISTINCT method, family FROM sanitize.methods()) AS m ON m.method = p.proname
          JOIN pg_description AS d ON d.objoid = p.oid AND d.classoid = 'pg_proc'::regclass
         WHERE p.pronamespace = 'sanitize'::regnamespace AND d.description !~ '[(]of a (bag|relation by its name)[)]$'
         GROUP BY p.proname, m.family ORDER BY p.proname""")
    listed = {}
    for name, family, about in rows:
        listed.setdefault(family, []).append((name, about))
    pages = {
        name: page
        for page in sorted(PAGES.glob("*.md"))
        for name, _ in PLACE.findall(page.read_text())
    }
    lines = [
        "# All functions",
        "",
        "By family, each with a link to its page. `scripts/docs` writes this page.",
    ]
    for family, title in FAMILIES.items():
        lines += ["", f"## {title}", "", "| function | what it does |", "|---|---|"]
        for name, about in listed.pop(family, []):
            headed = re.search(rf"^## {name}$", pages[name].read_text(), re.MULTILINE)
            place = pages[name].name + (f"#{name}" if headed else "")
            lines.append(f"| [`{name}`]({place}) | {about.replace('|', chr(92) + '|')} |")
    assert not listed, f"families without a title: {', '.join(listed)}"
    return "\n".join(lines) + "\n"


def places():
    """The names of the functions that have a table, once for each."""
    return [
        name for page in sorted(PAGES.glob("*.md")) for name, _ in PLACE.findall(page.read_text())
    ]


def main():
    with psycopg.connect(autocommit=True) as connection:
        functions, returned = declarations(connection), results(connection)
        (PAGES / "functions.md").write_text(overview(connection))
    missing = sorted(functions.keys() - set(places()))
    if missing:
        sys.exit(f"no page has a place for the arguments of: {', '.join(missing)}")
    for page in sorted(PAGES.glob("*.md")):
        text = rewritten(page, functions, returned)
        if text != page.read_text():
            page.write_text(text)
            print(f"{page.name} is written anew")


if __name__ == "__main__":
    main()
