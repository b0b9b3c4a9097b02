"""Writes the tables of arguments in the reference from the functions' own declarations.

A page says where a table goes: between <!-- arguments of NAME --> and <!-- end of arguments -->. A
function that the registry does not have keeps an empty place. scripts/docs runs this.
"""

import json
import re
import sys
from pathlib import Path

import psycopg

PAGES = Path(__file__).resolve().parent / "reference"
PLACE = re.compile(
    r"^<!-- arguments of (\w+) -->\n(.*?)^<!-- end of arguments -->\n", re.MULTILINE | re.DOTALL
)


def declarations(connection):
    """{name: [rows of sanitize.methods()]}, a list for each function of that name."""
    found = {}
    for name, position, *argument in connection.execute("SELECT * FROM sanitize.methods()"):
        functions = found.setdefault(name, [])
        if position == 1:
            functions.append([])
        functions[-1].append(argument)
    return found


def as_sql(default):
    """A default, which the registry has as JSON, as one would write it in a call."""
    value = json.loads(default)
    if isinstance(value, str):
        return f"`'{value}'`"
    if isinstance(value, dict | list):
        return f"`'{default}'`"
    return "`NULL`" if value is None else f"`{default}`"


def table(name, arguments):
    lines = [f"| argument of `{name}` | type | default | meaning |", "|---|---|---|---|"]
    for argument, types, default, about in arguments:
        types = " or ".join(f"`{one}`" for one in types.split(", "))
        default = "" if default is None else as_sql(default)
        about = about.replace("|", r"\|")
        lines.append(f"| `{argument}` | {types} | {default} | {about} |")
    return "\n".join(lines) + "\n"


def rewritten(page, functions):
    """The text of a page with the tables as they should be."""

    def fill(place):
        name = place[1]
        tables = "\n".join(table(name, arguments) for arguments in functions.get(name, []))
        return f"<!-- arguments of {name} -->\n{tables}<!-- end of arguments -->\n"

    return PLACE.sub(fill, page.read_text())


def places():
    """The names of the functions that have a table, once for each."""
    return [
        name for page in sorted(PAGES.glob("*.md")) for name, _ in PLACE.findall(page.read_text())
    ]


def main():
    with psycopg.connect(autocommit=True) as connection:
        functions = declarations(connection)
    missing = sorted(functions.keys() - set(places()))
    if missing:
        sys.exit(f"no page has a place for the arguments of: {', '.join(missing)}")
    for page in sorted(PAGES.glob("*.md")):
        text = rewritten(page, functions)
        if text != page.read_text():
            page.write_text(text)
            print(f"{page.name} is written anew")


if __name__ == "__main__":
    main()
