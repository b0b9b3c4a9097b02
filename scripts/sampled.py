"""Picks mutants of cargo-mutants for scripts/mutants: reads its list (JSON) and prints an expression for each.

usage: sampled.py NUMBER SEED <LIST

Which ones depends on the seed and on the code of each alone, not on files, lines or other code: a change brings
mutants of what it changes into the sample, and no others.
"""

import hashlib
import json
import re
import sys
from collections import Counter


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


def main(number, seed):
    for mutant in drawn(json.load(sys.stdin), seed)[: int(number)]:
        print(f"^{re.escape(mutant['name'])}$")


if __name__ == "__main__":
    main(*sys.argv[1:])
