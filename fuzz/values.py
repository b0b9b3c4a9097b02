"""Random arguments, as SQL text: what a function expects, what it should refuse, and what is damaged."""

import copy
import json
import re

HOSTILE = [
    "",
    " ",
    "'",
    '"',
    '""',
    ".",
    "a.b",
    "a.b.c.d",
    "public.people",
    '"people"',
    "people; DROP TABLE people",
    "people--",
    "$$",
    "\\",
    "ü",
    "😀",
    "\u202e",
    "a" * 63,
    "a" * 64,
    "ä" * 40,
    "x" * 10000,
    "\t\n",
    "\x01",
    "%s%n",
    "NULL",
    "ctid",
    "tableoid",
    "xmin",
    "*",
    "1",
    "-1",
    "1e400",
    "NaN",
    "infinity",
    "people.*",
    "{}",
    "{a,b}",
    "[]",
    "{",
    "2026-02-30",
    "(SELECT 1)",
    "pg_sleep(1)",
]
INTS = [0, 1, 2, 3, 5, 10, -1, 100, 1000, 2**31 - 1, -(2**31), 65536, 32767]
BIGS = [*INTS, 2**63 - 1, -(2**63), 2**32, 2**53 + 1, 10**6]
FLOATS = [
    *["0.001", "0.1", "0.5", "1", "2", "10", "1e-6", "1e-9", "1e6"],
    *["0", "-0", "-1", "NaN", "Infinity", "-Infinity", "5e-324", "1.7976931348623157e308"],
    *["-1.7976931348623157e308", "1e-300", "1e300", "0.9999999999999999", "1.0000000000000002"],
]
NUMERICS = [
    *["0", "1", "0.1", "10", "-1", "NaN", "Infinity", "-Infinity", "1e-16383", "1e131071"],
    *["123456789012345678901234567890.123", "0.001", "1e-9"],
]
INTERVALS = [
    *["1 second", "1 day", "1 hour", "0", "-1 day", "1 microsecond", "178000000 years"],
    *["-178000000 years", "2147483647 months 2147483647 days", "1 month -30 days", "100 years"],
]
TIMES = [
    "2024-02-29 12:00:00.5+02",
    "infinity",
    "-infinity",
    "4714-11-24 BC",
    "294276-12-31",
    "epoch",
]
ROLES = ["postgres", "sanitize_fuzzer", "pg_read_all_data", "0", "4294967295", "-"]
MEASURES = ["sum", "avg", "variance", "quantile", "histogram", "count", "distinct"]


def literal(text):
    quoted = text.replace("'", "''")
    return "E'" + quoted.replace("\\", "\\\\") + "'" if "\\" in text else f"'{quoted}'"


class Values:
    """Values for one call: all are drawn from its own random numbers."""

    def __init__(self, world, rng, subject, careful):
        self.world = world
        self.rng = rng
        self.subject = subject
        # Careful calls seldom give what is refused at the door, and so get further.
        self.careful = careful

    def sometimes(self, chance):
        return self.rng.random() < chance

    def wrongly(self, chance):
        """True where something is to be given that makes no sense."""
        return self.rng.random() < chance * (0.1 if self.careful else 1)

    def argument(self, function, name, of):
        """A value of an argument as SQL, with its type."""
        if self.wrongly(0.025):
            return f"NULL::{self.typed_null(of)}"
        about = self.world.registry.get(function, {}).get(name, "")
        return {
            '"any"': self.several,
            "anyelement": self.row,
            "bigint": lambda: f"({self.integer(BIGS)})::bigint",
            "boolean": lambda: self.rng.choice(["true", "false"]),
            "bytea": lambda: f"'\\x{self.bag().hex()}'::bytea",
            "cstring": lambda: literal(f"\\x{self.bag().hex()}") + "::cstring",
            "cstring[]": lambda: self.names().removesuffix("text[]") + "cstring[]",
            "double precision": lambda: f"'{self.float(name)}'::float8",
            "double precision[]": lambda: self.numbers("float8", lambda: self.float(name)),
            "bigint[]": lambda: self.numbers("int8", lambda: self.integer(INTS)),
            "integer": lambda: f"({self.integer(INTS)})::int",
            "integer[]": lambda: self.numbers("int4", lambda: self.integer(INTS)),
            "interval": lambda: (
                f"'{self.rng.choice(INTERVALS[: 3 if self.careful else None])}'::interval"
            ),
            "jsonb": lambda: literal(json.dumps(self.json(name), ensure_ascii=False)) + "::jsonb",
            "numeric": lambda: f"'{self.rng.choice(NUMERICS)}'::numeric",
            "numeric[]": lambda: self.numbers("numeric", lambda: self.rng.choice(NUMERICS)),
            "record": lambda: self.rng.choice(["t", "ROW(1, 'a')", "ROW()", "NULL::record"]),
            "regclass": self.relation,
            "regrole": lambda: literal(self.rng.choice(ROLES)) + "::regrole",
            "sanitize.bag": self.bag_value,
            "text": lambda: literal(self.text(name, about)) + "::text",
            "timestamp with time zone": lambda: f"'{self.rng.choice(TIMES)}'::timestamptz",
            "text[]": self.names,
        }[of]()

    def several(self):
        """One to three values of any types, as arguments."""
        values = ["1", "'a'::text", "NULL::date", "1.5::numeric", "ARRAY[1]", "ROW(1, 'a')"]
        return ", ".join(self.rng.choices(values, k=self.rng.randint(1, 3)))

    def numbers(self, of, number):
        """A list of numbers; now and then it is empty, has NULL or has two dimensions."""
        elements = [str(number()) for _ in range(self.rng.randint(0, 5))]
        if self.wrongly(0.1):
            elements.append("NULL")
        text = "{" + ",".join(elements) + "}"
        return f"'{{{text}}}'::{of}[]" if elements and self.wrongly(0.05) else f"'{text}'::{of}[]"

    def typed_null(self, of):
        return {"anyelement": self.subject.name, '"any"': "int"}.get(of, of)

    def integer(self, extremes):
        return self.rng.choice(extremes) if self.wrongly(0.2) else self.rng.randint(1, 8)

    def float(self, name):
        if self.wrongly(0.2):
            return self.rng.choice(FLOATS)
        if name in ("delta", "split", "beta", "min_share"):
            return self.rng.choice(["1e-9", "1e-6", "0.001", "0.01", "0.05", "0.1", "0.3", "0.9"])
        return repr(round(10 ** self.rng.uniform(-4, 1.5), 4))

    def column(self):
        if self.subject.columns and not self.wrongly(0.06):
            return self.rng.choice(self.subject.columns)
        return self.rng.choice(HOSTILE)

    def numeric_column(self):
        if self.subject.numeric and not self.wrongly(0.3):
            return self.rng.choice(self.subject.numeric)
        return self.column()

    def columns(self):
        most = min(6, max(1, len(self.subject.columns)))
        found = [
            self.column() for _ in range(self.rng.randint(0 if self.wrongly(0.1) else 1, most))
        ]
        return found if self.wrongly(0.1) else list(dict.fromkeys(found))

    def names(self):
        items = [literal(column) for column in self.columns()]
        if self.wrongly(0.04):
            items.append("NULL")
        if self.wrongly(0.02):
            return "'{{a,b},{c,d}}'::text[]"
        return f"ARRAY[{', '.join(items)}]::text[]"

    def other_relation(self):
        if self.sometimes(0.9 if self.careful else 0.5):
            return self.subject
        alike = [r for r in self.world.relations if r.columns == self.subject.columns]
        return self.rng.choice(alike if self.sometimes(0.7) else self.world.relations)

    def relation(self):
        if self.wrongly(0.03):
            return self.rng.choice(["0", "1", "4294967295", "2147483648", "1259"]) + "::regclass"
        return literal(self.other_relation().name) + "::regclass"

    def row(self):
        kind = self.rng.random()
        name = self.subject.name
        if kind < 0.85 or self.careful:
            return f"NULL::{name}"
        if kind < 0.9:
            return f"(SELECT r FROM {name} AS r LIMIT 1)"
        types = [
            "int",
            "text",
            "pair",
            "mood",
            "positive",
            "people[]",
            "int4range",
            "jsonb",
            "regclass",
        ]
        return f"NULL::{self.rng.choice(types)}" if kind < 0.98 else "ROW(1, 2)"

    def text(self, name, about):
        """A text that the argument's name and sentence suggest, or any."""
        chance = self.rng.random()
        choices = re.findall(r"'(\w+)'", about)
        if self.wrongly(0.1):
            return self.rng.choice(HOSTILE)
        if name == "method" and not choices:
            return self.rng.choice(list(self.world.registry))
        if choices and chance < 0.9:
            return self.rng.choice(choices)
        if name in ("source", "released"):
            return self.other_relation().name
        if name in ("low", "high"):
            return self.rng.choice(["0", "1", "60", "-5", "2026-01-01", "1e3", "0.5", "infinity"])
        if name == "unit" and not self.sometimes(0.6):
            return self.rng.choice(["", f"{self.column()}.{self.column()}", f'"{self.column()}"'])
        if name == "mechanism":
            return self.rng.choice(["laplace", "gaussian"])
        return self.column()

    def by_subject(self, made):
        """What was made from the subject, if anything was, or from another relation."""
        if self.subject.name in made and not self.sometimes(0.1):
            return made[self.subject.name]
        return self.rng.choice(list(made.values()))

    def bag(self):
        """The bytes of a bag, whole or damaged."""
        found = bytearray(self.by_subject(self.world.bags))
        if self.sometimes(0.3):
            return bytes(found)
        for _ in range(self.rng.randint(1, 3)):
            place = self.rng.randrange(len(found) + 1)
            kind = self.rng.random()
            if kind < 0.5 and place < len(found):
                found[place] = self.rng.choice([0, 1, 127, 128, 255, self.rng.randrange(256)])
            elif kind < 0.65:
                del found[place:]
            elif kind < 0.8:
                del found[place : place + self.rng.randint(1, 4)]
            else:
                found[place:place] = self.rng.randbytes(self.rng.randint(1, 9))
        return bytes(found)

    def bag_value(self):
        if self.sometimes(0.3) and self.subject.columns:
            return f"(SELECT sanitize.row_bag(r) FROM {self.subject.name} AS r)"
        return literal(f"\\x{self.bag().hex()}") + "::sanitize.bag"

    # jsonb, by the name of the argument.

    def json(self, name):
        if self.wrongly(0.08):
            return self.any_json(3)
        shaped = {
            "filter": self.filter,
            "forbidden": self.itemsets,
            "groups": self.groups,
            "laplace_by": self.laplace_by,
            "measures": self.measures,
            "model": self.model,
            "options": self.options,
            "rules": self.itemsets,
            "weights": lambda: {
                self.column(): self.number() for _ in range(self.rng.randint(0, 3))
            },
        }.get(name, lambda: self.any_json(3))()
        return self.damaged(shaped) if self.sometimes(0.1 if self.careful else 0.4) else shaped

    def number(self):
        if self.wrongly(0.3):
            return self.rng.choice([0, -1, 1e308, -1e308, 5e-324, 2**63, 10**40, 0.1, 1e-9])
        return self.rng.choice([self.rng.randint(0, 100), round(self.rng.uniform(0, 10), 2)])

    def scalar(self):
        return self.rng.choice(
            [None, True, False, self.number(), self.rng.choice(HOSTILE), "A", "f", "m", "1", "ok"]
        )

    def any_json(self, depth):
        kind = self.rng.random()
        if depth == 0 or kind < 0.4:
            return self.scalar()
        if kind < 0.7:
            return [self.any_json(depth - 1) for _ in range(self.rng.randint(0, 3))]
        return {self.column(): self.any_json(depth - 1) for _ in range(self.rng.randint(0, 3))}

    def measure(self):
        kind = self.rng.choice(MEASURES)
        if self.sometimes(0.3):
            return self.rng.choice(["count", "units"])
        if kind in ("count", "distinct"):
            made = {kind: self.column()}
        elif kind == "quantile":
            shares = [2, -1, []] if self.wrongly(0.3) else [0.5, 0, 1, [0.25, 0.5]]
            made = {"quantile": self.rng.choice(shares), "of": self.numeric_column()}
        else:
            made = {kind: self.numeric_column()}
        if kind not in ("count", "distinct") or self.wrongly(0.05):
            low = self.number()
            bounds = self.rng.random()
            if bounds < 0.8:
                made |= {"low": low, "high": low + self.rng.choice([1, 10, 60, 1000])}
            elif bounds < 0.9:
                made["bounds"] = "x" if self.wrongly(0.2) else "private"
            elif self.wrongly(0.5):
                made |= {"low": low, "high": low - self.rng.choice([0, 1])}
            if self.sometimes(0.15):
                made["per"] = "row" if self.wrongly(0.3) else "unit"
        if self.sometimes(0.1):
            made["weight"] = self.number()
        if self.wrongly(0.1):
            made["step"] = self.number()
        if kind == "histogram" or self.wrongly(0.05):
            made["bins"] = self.rng.choice(
                [0, -1, 10**9, 1.5] if self.wrongly(0.3) else [1, 5, 100]
            )
        return made

    def measures(self):
        return {f"m{i}": self.measure() for i in range(self.rng.randint(1, 3))}

    def filter(self):
        def condition():
            kind = self.rng.random()
            if kind < 0.4:
                return self.scalar()
            if kind < 0.6:
                return [self.scalar() for _ in range(self.rng.randint(0, 3))]
            operators = ["<", "<=", ">", ">=", "=", "<>", "~~", "@>"]
            return {
                self.rng.choice(operators): self.scalar() for _ in range(self.rng.randint(1, 2))
            }

        return {self.column(): condition() for _ in range(self.rng.randint(0, 3))}

    def groups(self):
        kind = self.rng.random()
        if kind < 0.4:
            return [self.scalar() for _ in range(self.rng.randint(0, 4))]
        if kind < 0.7:
            return {
                self.column(): [self.scalar(), self.scalar()] for _ in range(self.rng.randint(1, 2))
            }
        return [{self.column(): self.scalar()} for _ in range(self.rng.randint(0, 3))]

    def itemsets(self):
        return [
            self.columns() if self.sometimes(0.5) else {self.column(): self.scalar()}
            for _ in range(self.rng.randint(0, 3))
        ]

    def laplace_by(self):
        return {
            self.column(): self.number()
            if self.sometimes(0.5)
            else {self.rng.choice(["A", "f", "1"]): self.number()}
            for _ in range(self.rng.randint(0, 2))
        }

    def model(self):
        return self.rng.choice(self.by_subject(self.world.models))

    def options(self):
        method = self.rng.choice(list(self.world.registry))
        names = [*self.world.registry[method], "unit", "max_rows_per_unit", "x"]
        made = {}
        for name in self.rng.sample(names, self.rng.randint(0, min(4, len(names)))):
            made[name] = self.rng.choice([self.scalar(), self.number(), self.columns()])
        return made

    def damaged(self, value):
        """A copy in which one to three places were changed."""
        value = {"root": copy.deepcopy(value)}
        for _ in range(self.rng.randint(1, 3)):
            places = []

            def walk(node):
                keys = node if isinstance(node, dict) else range(len(node))
                for key in keys:
                    places.append((node, key))
                    if isinstance(node[key], dict | list):
                        walk(node[key])

            walk(value)
            if not places:
                break
            node, key = self.rng.choice(places)
            kind = self.rng.random()
            if kind < 0.2 and node is not value:
                del node[key]
            elif kind < 0.35 and isinstance(node[key], list) and node[key]:
                node[key].append(copy.deepcopy(self.rng.choice(node[key])))
            elif kind < 0.45 and isinstance(node[key], list):
                self.rng.shuffle(node[key])
            elif kind < 0.6 and isinstance(node[key], int | float):
                node[key] += self.rng.choice([1, -1, 2**53, -(2**53), 0.5])
            else:
                node[key] = self.any_json(2)
        return value["root"]
