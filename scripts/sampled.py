"""Picks and plants mutants of cargo-mutants for scripts/mutants.

usage: sampled.py list NUMBER SEED LIST  lines of package and name; LIST is what cargo-mutants lists as JSON
       sampled.py plant NAME LIST TREE   changes the copy of the project in TREE, and prints the changed file

Which ones are picked depends on the seed and on the code of each alone, not on files, lines or other code: a change of the
code brings mutants of what it changes into the sample, and no others.

cargo-mutants itself cannot be asked for single mutants: its version 27.1.0 adds all that delete the field of a struct.
"""

import hashlib
import json
import sys
from collections import Counter
from pathlib import Path


def drawn(mutants, seed):
    """The mutants in the order of the seed."""
    times = Counter()

    def place(mutant):
        function = (mutant["function"] or {}).get("function_name")
        key = (mutant["package"], function, mutant["genre"], mutant["replacement"])
        # The same change may be made in several places of a function.
        times[key] += 1
        return hashlib.sha256(repr((seed, key, times[key])).encode()).digest()

    return sorted(mutants, key=place)


def plant(mutant, tree):
    path = tree / mutant["file"]
    lines = path.read_text().splitlines(keepends=True)
    start, end = mutant["span"]["start"], mutant["span"]["end"]
    before = lines[start["line"] - 1][: start["column"] - 1]
    after = lines[end["line"] - 1][end["column"] - 1 :]
    lines[start["line"] - 1 : end["line"]] = [before + mutant["replacement"] + after]
    path.write_text("".join(lines))


def main(command, *arguments):
    path = Path(arguments[2] if command == "list" else arguments[1])
    mutants = [m for m in json.loads(path.read_text()) if m["genre"] != "StructField"]
    if command == "list":
        for mutant in drawn(mutants, arguments[1])[: int(arguments[0])]:
            print(mutant["package"], mutant["name"], sep="\t")
    elif command == "plant":
        (mutant,) = (m for m in mutants if m["name"] == arguments[0])
        plant(mutant, Path(arguments[2]))
        print(mutant["file"])


if __name__ == "__main__":
    main(*sys.argv[1:])
