"""What the tests of upgrades, dumps and packages share: a database with everything in it that the
extension keeps, what its tables hold, what the catalog says of it, and dumps of it."""

import subprocess

from helpers import Database, fresh_name, program


def run(connection, statements):
    """Each statement in a transaction of its own: a charge wants a protection that is committed."""
    for statement in statements.split(";\n"):
        connection.execute(statement)


def fill(connection, analyst):
    """What an owner and an analyst leave behind with version 0.1.0."""
    make(connection)
    run(
        connection,
        f"""
        SELECT sanitize.protect('people', 'id', 10, 1e-4, window_length => '30 days', min_query_set => 3, max_rows_per_unit => 1);
        SELECT sanitize.allow('people', '{analyst}', 4, 1e-5);
        SELECT sanitize.charge('people', 'a mechanism of our own', 0.5, 1e-6, 0.01);
        SELECT sanitize.declare_domain('people', 'sex', '{{f,m,"it''s"}}');
        SELECT sanitize.declare_bounds('people', 'age', '0', '120', 24)""",
    )
    ask(connection)


def make(connection):
    """Their own tables, with a model, a bag and a view that reads anew."""
    run(
        connection,
        """
        CREATE TABLE people AS
            SELECT i AS id, 20 + i % 50 AS age, CASE i % 2 WHEN 0 THEN 'f' ELSE 'm' END AS sex,
                   'town ' || i % 7 AS home, date '1950-01-01' + i % 9000 AS born
              FROM generate_series(1, 2000) AS i;
        CREATE TABLE models AS
            SELECT sanitize.krimp_model('people', columns => '{sex,home}', min_support => 50) AS model;
        CREATE TABLE bags (bag sanitize.bag);
        -- As 0.1.0 wrote it: one column, "a", with one value, "x", in one row.
        INSERT INTO bags VALUES ('\\x7067736201010161010178010101');
        CREATE VIEW shared AS
            SELECT column_name, cells FROM sanitize.suppression('people', columns => '{age,sex,home}')""",
    )


def fill_earlier(connection, later):
    """The same in a database of version 0.1.0, whose tables this library does not write: what was said is copied from
    a database of this version."""
    make(connection)
    columns = """SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
        WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum"""
    for table in KEPT:
        table = f"sanitize.{table}"
        names, types = zip(*connection.execute(columns, [table]).fetchall(), strict=True)
        shown = ", ".join(f"{name}::text" for name in names)
        given = ", ".join(f"%s::{of}" for of in types)
        for row in later.execute(f"SELECT {shown} FROM {table} ORDER BY 1").fetchall():
            connection.execute(
                f"INSERT INTO {table} ({', '.join(names)}) OVERRIDING SYSTEM VALUE VALUES ({given})",
                row,
            )
    connection.execute("UPDATE sanitize.ledger_home SET place = sanitize.ledger_place()")
    connection.execute(
        "SELECT setval('sanitize.ledger_entry_id_seq', max(id)) FROM sanitize.ledger_entry"
    )


# The tables that 0.1.0 keeps something in.
KEPT = (
    "protection",
    "allowance",
    "ledger_entry",
    "ledger_home",
    "declared_domain",
    "declared_bounds",
    "answer",
)


def ask(connection):
    """The same question each time: only the first answer is paid for."""
    return connection.execute("""
        SELECT value, low, high FROM sanitize.dp_aggregate('people', '{"n": "count"}', 0.25,
            group_by => '{sex}', groups => '["f", "m"]', reuse => '1 day')""").fetchall()


def fill_more(connection):
    """What came with version 0.2.0: hierarchies and releases."""
    run(
        connection,
        """
        CREATE TABLE homes AS SELECT 'town ' || i AS level0, 'county ' || i % 2 AS level1
            FROM generate_series(0, 6) AS i;
        SELECT sanitize.declare_hierarchy('people', 'age', '{"ranges": [5, 10, 20]}');
        SELECT sanitize.declare_hierarchy('people', 'home', '{"table": "homes"}');
        SELECT sanitize.publish('people_general', 'people', 'k_anonymize',
            '{"k": 5, "columns": ["age", "sex", "home"], "generalize": true}', 'For the town.');
        SELECT sanitize.publish('people_counts', 'people', 'dp_aggregate',
            '{"measures": {"n": "count"}, "epsilon": 0.25, "group_by": ["sex"], "groups": ["f", "m"]}');
        SELECT sanitize.publish('people_gone', 'people', 'k_mii', '{"k": 5, "columns": ["sex"]}');
        SELECT sanitize.retire('people_gone');
        -- What publish records of a release on shards; there are none here.
        INSERT INTO sanitize.sharded_release
            SELECT target, row_type, repeat('0', 32), 3 FROM sanitize.published WHERE method = 'k_anonymize';
        SELECT sanitize.population('townspeople', 20, 1e-4, '30 days');
        SELECT sanitize.protect('people', 'id', max_rows_per_unit => 1, min_query_set => 3, population => 'townspeople');
        CREATE INDEX ON people_general (home);
        CREATE VIEW homes_shown AS SELECT home, count(*) FROM people_general GROUP BY home""",
    )


def contents(connection):
    """The rows of every table whose rows a dump carries, and where its sequences are. Relations, types
    and roles are shown by their names. What Postgres itself computes is made again where it is restored."""
    named = connection.execute("""
        SELECT t::regclass::text, c.relkind = 'S', (
               SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
                WHERE attrelid = t AND attnum > 0 AND attgenerated = '' AND NOT attisdropped)
          FROM pg_extension, unnest(extconfig) AS t
          JOIN pg_class AS c ON c.oid = t WHERE extname = 'pg_sanitize'""").fetchall()
    return {
        name: connection.execute(
            f"SELECT last_value::text FROM {name}"
            if sequence
            else f"SELECT ROW({columns})::text FROM {name} ORDER BY 1"
        ).fetchall()
        for name, sequence, columns in named
    }


def dumped(database, *options):
    """The SQL of pg_dump."""
    command = [program("pg_dump"), *options, "--dbname", database.name]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def restored(dump):
    """A new database in which a dump was restored; any error ends that."""
    copy = Database(fresh_name("restored"), extension=False)
    command = [program("psql"), "-q", "-X", "--set=ON_ERROR_STOP=1", "--dbname", copy.name]
    done = subprocess.run(command, input=dump, capture_output=True, text=True)
    if done.returncode:
        copy.drop()
    assert done.returncode == 0, done.stderr
    return copy


# What the catalog says of the extension, by subject. Nothing of it may depend on the order in which
# objects were made: numbers are replaced by names.
CATALOG = {
    "the extension": """
        SELECT extversion, extrelocatable, extowner::regrole::text, extnamespace::regnamespace::text,
               obj_description(oid, 'pg_extension')
          FROM pg_extension WHERE extname = 'pg_sanitize'""",
    "tables that are dumped": """
        SELECT t::regclass::text, condition
          FROM pg_extension, unnest(extconfig, extcondition) AS c(t, condition)
         WHERE extname = 'pg_sanitize'""",
    "members": """
        SELECT i.type, i.identity, obj_description(d.objid, d.classid::regclass::name)
          FROM pg_depend AS d JOIN pg_extension AS e ON e.oid = d.refobjid,
               pg_identify_object(d.classid, d.objid, d.objsubid) AS i
         WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND e.extname = 'pg_sanitize'""",
    "the schema": """
        SELECT nspowner::regrole::text, nspacl::text, obj_description(oid, 'pg_namespace')
          FROM pg_namespace WHERE nspname IN ('sanitize', 'sanitize_internal')""",
    "functions": """
        SELECT oid::regprocedure::text, pg_get_function_arguments(oid), pg_get_function_result(oid),
               CASE WHEN prokind <> 'a' THEN pg_get_functiondef(oid) END, prokind::text, proowner::regrole::text,
               proacl::text, obj_description(oid, 'pg_proc')
          FROM pg_proc WHERE pronamespace::regnamespace::text ~ '^sanitize'""",
    "aggregates": """
        SELECT p.oid::regprocedure::text, (to_jsonb(a) - 'aggfnoid' - 'aggtranstype')::text,
               aggtranstype::regtype::text
          FROM pg_aggregate AS a JOIN pg_proc AS p ON p.oid = a.aggfnoid
         WHERE p.pronamespace::regnamespace::text ~ '^sanitize'""",
    "types": """
        SELECT oid::regtype::text, typtype::text, typlen, typinput::text, typoutput::text, typreceive::text,
               typsend::text, typstorage::text, typcategory::text, typowner::regrole::text, typacl::text,
               obj_description(oid, 'pg_type')
          FROM pg_type WHERE typnamespace::regnamespace::text ~ '^sanitize'""",
    "relations": """
        SELECT oid::regclass::text, relkind::text, relowner::regrole::text, relacl::text, reloptions::text,
               relrowsecurity, relforcerowsecurity, relpersistence::text, relreplident::text,
               CASE WHEN relkind = 'v' THEN pg_get_viewdef(oid) END,
               CASE WHEN relkind = 'i' THEN pg_get_indexdef(oid) END, obj_description(oid, 'pg_class')
          FROM pg_class WHERE relnamespace::regnamespace::text ~ '^sanitize'""",
    "columns": """
        SELECT a.attrelid::regclass::text,
               row_number() OVER (PARTITION BY a.attrelid ORDER BY a.attnum), a.attname,
               format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity::text, a.attgenerated::text,
               a.attstorage::text, a.attcollation::regcollation::text, a.attacl::text,
               pg_get_expr(d.adbin, d.adrelid), col_description(a.attrelid, a.attnum)
          FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
          LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
         WHERE c.relnamespace::regnamespace::text ~ '^sanitize' AND a.attnum > 0 AND NOT a.attisdropped""",
    "constraints": """
        SELECT conname, conrelid::regclass::text, pg_get_constraintdef(oid), convalidated
          FROM pg_constraint WHERE connamespace::regnamespace::text ~ '^sanitize'""",
    "policies": """
        SELECT polname, polrelid::regclass::text, polcmd::text, polpermissive, polroles::regrole[]::text,
               pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)
          FROM pg_policy AS p JOIN pg_class AS c ON c.oid = p.polrelid
         WHERE c.relnamespace::regnamespace::text ~ '^sanitize'""",
    "triggers": """
        SELECT pg_get_triggerdef(t.oid) FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid
         WHERE c.relnamespace::regnamespace::text ~ '^sanitize'""",
    "sequences": """
        SELECT seqrelid::regclass::text, seqtypid::regtype::text, seqstart, seqincrement, seqmin, seqmax,
               seqcache, seqcycle
          FROM pg_sequence AS s JOIN pg_class AS c ON c.oid = s.seqrelid
         WHERE c.relnamespace::regnamespace::text ~ '^sanitize'""",
    "rights at the start": """
        SELECT i.type, i.identity, p.privtype::text, p.initprivs::text
          FROM pg_init_privs AS p, pg_identify_object(p.classoid, p.objoid, p.objsubid) AS i
         WHERE i.identity ~ 'sanitize'""",
    "dependencies": r"""
        SELECT i.type, regexp_replace(i.identity, 'pg_toast_\d+', 'toast'), d.deptype::text, r.type,
               regexp_replace(r.identity, 'pg_toast_\d+', 'toast')
          FROM pg_depend AS d, pg_identify_object(d.classid, d.objid, d.objsubid) AS i,
               pg_identify_object(d.refclassid, d.refobjid, d.refobjsubid) AS r
         WHERE i.identity ~ 'sanitize'""",
}


def catalog(connection):
    """What the catalog says of the extension, as sorted rows by subject."""
    return {
        subject: sorted(connection.execute(query).fetchall(), key=repr)
        for subject, query in CATALOG.items()
    }


def assert_same_catalog(one, other):
    """Names the first differences; the dictionaries would be too long to read."""
    for subject in CATALOG:
        only_one = [row for row in one[subject] if row not in other[subject]]
        only_other = [row for row in other[subject] if row not in one[subject]]
        assert (only_one[:3], only_other[:3]) == ([], []), subject
