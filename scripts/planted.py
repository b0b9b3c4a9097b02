"""Reads the planted errors of tests/mutants for scripts/mutants.

usage: planted.py check            every snippet occurs once in the code
       planted.py list [NAME …]    lines of name, kind of test, its arguments, the error in words; without names all
                                   that are not rare, with --all these too
       planted.py plant NAME TREE  changes the copy of the project in TREE, and prints the changed files

A file of tests/mutants has a table per error:
  [name]
  error = what is wrong, in words
  test = arguments of cargo test, for an error in a crate; or, for an error in the extension,
  regress = SQL cases, or
  clients = arguments of pytest
  rare = true, if `make fuzz` tries it and `make test` does not: each error takes a build, and
    another one of the same rule is tried
  find = a piece of the code, which occurs once in src, crates and sql
  replace = what stands there instead
Where one error needs several changes, [[name.edits]] have find and replace. A run of white space in `find` matches any
other, so that an error is not lost when its line moves, is indented or is wrapped.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KINDS = ("test", "regress", "clients")


def sources(tree):
    """The files in which errors are planted."""
    for folder in ("src", "crates", "sql"):
        for path in sorted((tree / folder).rglob("*")):
            # Scripts from one version to the next repeat the declarations of the newer one.
            if path.suffix in (".rs", ".sql") and "--" not in path.name:
                yield path


def squeezed(text):
    return " ".join(text.split())


def planted():
    """All errors by name, each with `kind` and `edits`."""
    found = {}
    for path in sorted((ROOT / "tests/mutants").glob("*.toml")):
        for name, error in tomllib.loads(path.read_text()).items():
            if name in found:
                raise SystemExit(f"{path}: there are two errors called {name}")
            kinds = [kind for kind in KINDS if kind in error]
            if len(kinds) != 1 or "error" not in error:
                raise SystemExit(f"{path}: {name} needs `error` and one of {', '.join(KINDS)}")
            error["kind"] = kinds[0]
            error.setdefault("edits", [error])
            found[name] = error
    return found


def check():
    code = "\n".join(squeezed(path.read_text()) for path in sources(ROOT))
    lost = 0
    for name, error in planted().items():
        for edit in error["edits"]:
            times = code.count(squeezed(edit["find"]))
            if times != 1:
                lost += 1
                print(f"{name}: occurs {times} times, not once: {edit['find']}")
    if lost:
        raise SystemExit("say in tests/mutants where these errors are planted now")


def plant(error, tree):
    for edit in error["edits"]:
        snippet = re.compile(r"\s+".join(map(re.escape, edit["find"].split())))
        for path in sources(tree):
            text, times = snippet.subn(lambda _, edit=edit: edit["replace"], path.read_text())
            if times:
                path.write_text(text)
                print(path.relative_to(tree))


def main(command, *arguments):
    if command == "check":
        check()
    elif command == "list":
        errors = planted()
        if not arguments:
            arguments = [name for name in errors if not errors[name].get("rare")]
        elif arguments == ("--all",):
            arguments = errors
        for name in arguments:
            error = errors.get(name) or sys.exit(f"there is no planted error {name}")
            print(name, error["kind"], error[error["kind"]], error["error"], sep="\t")
    elif command == "plant":
        plant(planted()[arguments[0]], Path(arguments[1]))


if __name__ == "__main__":
    main(*sys.argv[1:])
