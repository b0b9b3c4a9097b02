"""What the tests named by threat share: hostile texts and names, and a wire that tells whether one of them ran.

The wire is a sequence: a value that is drawn from it stays drawn, whatever is rolled back afterwards."""

import json

import psycopg
from helpers import fresh_name
from psycopg import sql

# Pulls the wire if it runs as SQL, whatever quoting it breaks out of.
PULL = "SELECT pg_catalog.nextval('public.wire')"
HOSTILE = [
    f"'; {PULL}; --",
    f'"); {PULL}; DROP TABLE public.canary; --',
    f"\\'; {PULL}; --",
    f"$$ || ({PULL}) || $$",
    f"x') OR ({PULL}) > 0 OR ('' = '",
    f"*/ {PULL} /*",
    f"(x int)) AS t, LATERAL ({PULL}) AS u --",
    f"%s%n$1{{}} E'\\047' ({PULL})\n;{PULL};",
    "☃\u202e'\"`\\ü",
]
LONG = "'\"" + "x" * 20000


def names():
    """Hostile names, short enough for the catalog to keep them whole."""
    for name in ["""a"'; DROP TABLE canary; --$$.\n\\""", "'); SELECT nextval('wire'); --"]:
        yield fresh_name(name)


# What may be left out, but makes the call a sensible one.
NEEDED = {
    ("publish", "options"),
    ("sanitize_in_place", "options"),
    ("sanitize_in_place", "confirm"),
}


class Wire:
    """A sequence that everybody may draw from, a table that everybody may drop rows of, and whether both are
    as they were."""

    def __init__(self, admin):
        self.admin = admin
        admin.execute("""
            CREATE SEQUENCE wire;
            GRANT ALL ON SEQUENCE wire TO PUBLIC;
            CREATE TABLE canary AS SELECT 1 AS alive;
            GRANT ALL ON canary TO PUBLIC""")

    def is_whole(self):
        pulled = self.admin.execute("SELECT is_called FROM wire").fetchone()[0]
        rows = self.admin.execute("SELECT alive FROM canary").fetchall()
        return not pulled and rows == [(1,)]

    def mend(self):
        self.admin.execute("SELECT setval('wire', 1, false)")


def outcome(connection, statement):
    """The SQLSTATE with which a statement ends; it is rolled back."""
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(statement)
        return "00000"
    except psycopg.Error as error:
        return error.sqlstate


def trap(connection, wire, allowed, schema="public"):
    """A function that pulls the wire if it runs with the rights of anybody but `allowed`; returns its name."""
    name = f"{schema}.{fresh_name('trap')}"
    connection.execute(f"""
        CREATE FUNCTION {name}(anyelement) RETURNS anyelement LANGUAGE plpgsql IMMUTABLE AS $$
        BEGIN
            IF current_user <> '{allowed}' THEN
                PERFORM pg_catalog.nextval('public.wire');
            END IF;
            RETURN $1;
        END $$""")
    return name


FUNCTIONS = """
    SELECT p.proname, p.proretset OR p.proargmodes IS NOT NULL,
           array(SELECT json_build_array(p.proargnames[i], format_type(t, NULL),
                                         i > p.pronargs - p.pronargdefaults)
                   FROM unnest(p.proargtypes) WITH ORDINALITY AS a(t, i) ORDER BY i)
      FROM pg_proc AS p JOIN pg_language AS l ON l.oid = p.prolang
     WHERE p.pronamespace::regnamespace::text ~ '^sanitize' AND l.lanname = 'c' AND p.prokind = 'f'
       AND p.proargnames IS NOT NULL
     ORDER BY p.proname, p.oid"""


class World:
    """A table, its values for every argument of every function, and calls made of them."""

    def __init__(self, owner, name=None, columns=("ward", "day", "id")):
        """`name` is qualified and quoted, the columns are not."""
        self.owner = owner
        self.table = name or f"public.{fresh_name('world')}"
        self.columns = columns
        quoted = [sql.Identifier(column).as_string(owner) for column in columns]
        owner.execute(f"""
            CREATE TABLE {self.table} AS SELECT 'w' || i % 3 AS {quoted[0]}, i % 5 AS {quoted[1]}, i AS {quoted[2]}
                FROM generate_series(1, 60) AS i""")
        source = self.literal(self.table)
        owner.execute(
            f"SELECT sanitize.protect({source}, {self.literal(columns[2])}, 1e5, 0.1, max_rows_per_unit => 1, row_count_public => true)"
        )
        for column, values in zip(columns, (["w0", "w1", "w2"], range(5), range(1, 61))):
            given = f"{self.literal(column)}, {self.literal([str(value) for value in values])}"
            owner.execute(f"SELECT sanitize.declare_domain({source}, {given})")
        owner.execute(
            f"SELECT sanitize.declare_hierarchy({source}, {self.literal(columns[1])}, %s)",
            ['{"ranges": [2, 4]}'],
        )
        two = f"ARRAY[{self.literal(columns[0])}, {self.literal(columns[1])}]"
        self.model = owner.execute(f"SELECT sanitize.krimp_model({source}, 5, {two})").fetchone()[0]
        self.synthesizer = owner.execute(
            f"SELECT sanitize.dp_synthesizer({source}, 1, columns => {two})"
        ).fetchone()[0]
        self.target = f"public.{fresh_name('kept')}"

    def literal(self, text):
        return sql.Literal(text).as_string(self.owner)

    def json(self, value):
        return self.literal(json.dumps(value)) + "::pg_catalog.jsonb"

    def value(self, function, argument, of):
        """A value that the function takes, as SQL."""
        ward, day, unit = self.columns
        two = self.literal([ward, day]) + "::pg_catalog.text[]"
        special = {
            ("dp_synthesize", "model"): self.json(self.synthesizer),
            ("krimp_classify", "models"): self.json([self.model, self.model]),
            ("shuffle_groups", "groups"): self.json([[ward], [day]]),
            ("publish", "method"): "'k_mii'",
            ("publish", "options"): self.json({"k": 2, "columns": [ward]}),
            ("publish", "target"): self.literal(self.target),
            ("sanitize_in_place", "method"): "'k_mii'",
            ("sanitize_in_place", "options"): self.json({"k": 2, "columns": [ward]}),
            ("sanitize_in_place", "confirm"): self.literal(self.table),
            ("guarantee", "method"): "'k_mii'",
            ("guarantee", "options"): self.json({"k": 2}),
            ("generalize", "levels"): self.json({day: 1}),
            ("declare_hierarchy", "levels"): self.json({"ranges": [2, 4]}),
            ("declare_hierarchy", "column_name"): self.literal(day),
            ("declare_bounds", "column_name"): self.literal(day),
            ("entropy_loss_of", "column_name"): self.literal(day),
            ("declare_domain", "domain_values"): "'{w0,w1,w2}'::pg_catalog.text[]",
            ("refresh", "target"): self.literal(self.target),
            ("retire", "target"): self.literal(self.target),
            ("drop_leftovers", "target"): self.literal(self.target),
        }
        if (function, argument) in special:
            return special[function, argument]
        by_name = {
            "measures": self.json({"n": "count", "s": {"sum": day, "low": 0, "high": 9}}),
            "group_by": self.literal([ward]) + "::pg_catalog.text[]",
            "filter": self.json({ward: "w1"}),
            "groups": self.json([]),
            "unit": self.literal(unit),
            "column_name": self.literal(ward),
            "row_column": self.literal(ward),
            "column_column": self.literal(day),
            "sensitive": self.literal(day),
            "columns": two,
            "keep": self.literal([unit]) + "::pg_catalog.text[]",
            "model": self.json(self.model),
            "itemsets": self.json([{ward: "w1", day: "1"}]),
            "items": self.json({ward: "w1"}),
            "forbidden": self.json([]),
            "weights": self.json({ward: 2}),
            "queries": self.json(
                {"unit": unit, "low": 0, "high": 9, "answers": [{"sum": day, "filter": {}}]}
            ),
            "cells": self.json([]),
            "workload": self.json([[ward]]),
            "low": "'0'",
            "high": "'9'",
            "class": self.literal(ward),
            "grantee": "current_user::pg_catalog.regrole",
            "mechanism": "'laplace'",
            "what": "'test'",
        }
        if of in ("text", "text[]", "jsonb", "regrole") and argument in by_name:
            return by_name[argument]
        return {
            "regclass": f"{self.literal(self.table)}::pg_catalog.regclass",
            "anyelement": f"NULL::{self.table}",
            "integer": "2",
            "bigint": "5",
            "double precision": "0.5",
            "text": self.literal(self.table),
            "jsonb": "'{}'::pg_catalog.jsonb",
            "sanitize.bag": f"(SELECT sanitize.row_bag(t) FROM {self.table} AS t)",
            "boolean": "false",
            "interval": "'1 s'::pg_catalog.interval",
        }.get(of) or "NULL::" + (f"pg_catalog.{of}" if of.startswith("bytea") else of)

    def call(self, function, arguments, changed=None, value=None):
        """A call with what must be given, and with one argument changed."""
        given = [
            f"{name} => {value if name == changed else self.value(function, name, of)}"
            for name, of, optional in arguments
            if not optional or name == changed or (function, name) in NEEDED
        ]
        return f"SELECT * FROM sanitize.{function}({', '.join(given)}) LIMIT 3"
