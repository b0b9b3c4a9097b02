"""pg_sanitize.max_memory holds for what a call really takes: the peak memory of the process that
works, beyond what it had before, stays within the limit for every family of functions."""

import re
from pathlib import Path

import psycopg
import pytest
from helpers import array_table
from readers import readers

MB = 1 << 20

# What is no part of the limit: stacks and arenas of threads, caches of catalogs, rows of the result
# up to work_mem, values of the result that are kept to be used again, and what the allocator keeps
# for later. A call that hardly needs memory takes up to 8 MB; arenas that grow and shrink leave holes.
ALLOWANCE = 16 * MB
SLACK = 0.1

# Calls of each family: the limits, of which the first is too small and the last is not, and the call.
CASES = {
    "mine_miis": (
        (32, 128),
        "SELECT count(*) FROM sanitize.mine_miis('worst', 1)",
    ),
    "mine_miis of values": ((40, 160), "SELECT count(*) FROM sanitize.mine_miis('values_', 1)"),
    "mine_miis of a bag": (
        (40, 160),
        "SELECT count(*) FROM sanitize.mine_miis((SELECT b FROM bags), 1)",
    ),
    "mii_risk": ((40, 160), "SELECT count(*) FROM sanitize.mii_risk('visits', 1)"),
    "frequent_itemsets": (
        (24, 96),
        "SELECT count(*) FROM sanitize.frequent_itemsets('people', 10)",
    ),
    "closed itemsets": (
        (24, 96),
        "SELECT count(*) FROM sanitize.frequent_itemsets('people', 10, closed => true)",
    ),
    "mii_suppress": ((40, 160), "SELECT count(*) FROM sanitize.mii_suppress(NULL::visits, 1)"),
    "mii_suppress with keep": (
        (40, 160),
        "SELECT count(*) FROM sanitize.mii_suppress(NULL::visits, 1, keep => '{id}')",
    ),
    "k_mii": ((40, 160), "SELECT count(*) FROM sanitize.k_mii(NULL::visits, 3)"),
    "publish": (
        (40, 160),
        """SELECT sanitize.publish('kept', 'visits', 'k_mii', '{"k": 3}')""",
    ),
    "sanitize_in_place": (
        (40, 160),
        """SELECT sanitize.sanitize_in_place('copied', 'k_mii', '{"k": 3}', 'copied')""",
    ),
    "k_anonymize": ((64, 320), "SELECT count(*) FROM sanitize.k_anonymize(NULL::visits, 3)"),
    "k_anonymize with keep": (
        (40, 160),
        "SELECT count(*) FROM sanitize.k_anonymize(NULL::visits, 3, keep => '{id}')",
    ),
    "hide_itemsets": (
        (48, 240),
        "SELECT count(*) FROM sanitize.hide_itemsets(NULL::visits,"
        """ '[{"a": "1", "b": "2"}, {"b": "2", "c": "3"}, {"d": "5"}]', 10)""",
    ),
    "hide_itemsets, many": (
        (16, 28, 320),
        "SELECT count(*) FROM sanitize.hide_itemsets(NULL::people, (SELECT jsonb_agg(DISTINCT"
        " jsonb_build_object('a', a::text, 'b', b::text, 'c', c::text)) FROM people)"
        " || (SELECT jsonb_agg(DISTINCT jsonb_build_object('f', f::text, 'h', h::text))"
        " FROM people), 2)",
    ),
    "impute": (
        (40, 160),
        "SELECT count(*) FROM sanitize.impute(NULL::holes, method => 'marginal')",
    ),
    "dp_mii_sample public": (
        (32, 48, 160),
        "SELECT count(*) FROM sanitize.dp_mii_sample(NULL::visits, 1, 1e-6, 20,"
        " public_source => 'census', columns => '{a,b,c,d,e}', keep => '{id}')",
    ),
    "dp_mii_sample rules": (
        (32, 48, 160),
        "SELECT count(*) FROM sanitize.dp_mii_sample(NULL::visits, 1, 1e-6, 20,"
        """ rules => '[["id"]]')""",
    ),
    "dp_mii_sample dp_counts": (
        (32, 48, 160),
        "SELECT count(*) FROM sanitize.dp_mii_sample(NULL::visits, 1, 1e-6, 20, 'dp_counts',"
        " columns => '{a,b,c,d,e}', keep => '{id}')",
    ),
    "dp_mii_sample dp_split": (
        (32, 48, 160),
        "SELECT count(*) FROM sanitize.dp_mii_sample(NULL::visits, 1, 1e-6, 20, 'dp_split',"
        " columns => '{a,b,c,d,e}', keep => '{id}')",
    ),
    "dp_mii_sample dp_select": (
        (32, 48, 160),
        "SELECT count(*) FROM sanitize.dp_mii_sample(NULL::visits, 1, 1e-6, 20, 'dp_select')",
    ),
    "dp_mii_sample paper": (
        (32, 48, 240),
        "SELECT count(*) FROM sanitize.dp_mii_sample(NULL::visits, 1, 1e-6, 20, 'paper')",
    ),
    "krimp_codetable": ((8, 128), "SELECT count(*) FROM sanitize.krimp_codetable('people', 40)"),
    "krimp_codetable closed": (
        (8, 128),
        "SELECT count(*) FROM sanitize.krimp_codetable('people', 100, candidates => 'closed')",
    ),
    "krimp_codetable pairs": (
        (4, 128),
        "SELECT count(*) FROM sanitize.krimp_codetable('people', 2000, candidates => 'pairs',"
        " max_time => '1 s')",
    ),
    "krimp_size": ((2, 64), "SELECT * FROM models, sanitize.krimp_size(m, 'people')"),
    "krimp_generate": (
        (8, 128),
        "SELECT count(*) FROM sanitize.krimp_generate(NULL::people, 100000, 2000)",
    ),
    "krimp_generate by class": (
        (2, 128),
        "SELECT count(*) FROM sanitize.krimp_generate(NULL::people, 100000, 2000, class => 'a')",
    ),
    "krimp_generate from a model": (
        (4, 64),
        "SELECT count(*) FROM sanitize.krimp_generate(NULL::people, (SELECT m FROM models), 400000)",
    ),
    "krimp_row_bits": (
        (2, 64),
        "SELECT count(*) FROM sanitize.krimp_row_bits((SELECT m FROM models), 'people')",
    ),
    "krimp_classify": (
        (2, 64),
        "SELECT count(*) FROM sanitize.krimp_classify((SELECT jsonb_build_object('x', m) FROM models),"
        " 'people')",
    ),
    "code_tree": ((8, 128), "SELECT count(*) FROM sanitize.code_tree('people', 0.05)"),
    "code_tree_generate": (
        (8, 128),
        "SELECT count(*) FROM sanitize.code_tree_generate(NULL::people, 100000, 0.05)",
    ),
    "private_krimp_generate": (
        (8, 128),
        "SELECT count(*) FROM sanitize.private_krimp_generate(NULL::people, 20, 100000)",
    ),
    "randomize_cells": (
        (8, 64),
        "SELECT count(*) FROM sanitize.randomize_cells(NULL::people, 8)",
    ),
    "randomize_cells with keep": (
        (24, 160),
        "SELECT count(*) FROM sanitize.randomize_cells(NULL::visits, 8, keep => '{id}')",
    ),
    "dp_itemsets": (
        (4, 128),
        "SELECT count(*) FROM sanitize.dp_itemsets('people', 1, 5000, max_length => 3)",
    ),
    "dp_frequent_itemsets": (
        (4, 128),
        "SELECT count(*) FROM sanitize.dp_frequent_itemsets('people', 10, 1, max_length => 3)",
    ),
    "dp_synthesize": (
        (8, 128),
        "SELECT count(*) FROM sanitize.dp_synthesize(NULL::people, 1)",
    ),
    "dp_synthesize of people": (
        (24, 160),
        "SELECT count(*) FROM sanitize.dp_synthesize(NULL::patients, 1)",
    ),
    "shuffle_groups": (
        (16, 160),
        """SELECT count(*) FROM sanitize.shuffle_groups(NULL::visits, '[["id"], ["a", "b"]]')""",
    ),
    "hierarchy": ((40, 200), "SELECT count(*) FROM sanitize.hierarchy('values_', 'a')"),
    "suggest_hierarchy": ((16, 120), "SELECT sanitize.suggest_hierarchy('values_', 'a')"),
    "k_anonymity": ((32, 96), "SELECT sanitize.k_anonymity('values_')"),
    "l_diversity": ((32, 128), "SELECT sanitize.l_diversity('visits', 'a')"),
    "t_closeness": ((32, 128), "SELECT sanitize.t_closeness('visits', 'a')"),
    "suppression": ((32, 128), "SELECT count(*) FROM sanitize.suppression('visits')"),
    "anonymity_score": ((48, 256), "SELECT * FROM sanitize.anonymity_score('visits', 'visits')"),
    "common_records": ((48, 160), "SELECT * FROM sanitize.common_records('values_', 'values_')"),
    "rare_itemset_leak": (
        (48, 300),
        "SELECT * FROM sanitize.rare_itemset_leak('visits', 'visits', 100)",
    ),
    "class_risk": ((32, 48, 160), "SELECT count(*) FROM sanitize.class_risk('visits', 'e')"),
    "class_risk of rows": ((28, 160), "SELECT count(*) FROM sanitize.class_risk('visits')"),
    "unicity, counted": (
        (32, 48, 240),
        "SELECT * FROM sanitize.unicity('visits', 3, samples => 100000)",
    ),
    "unicity, sampled": ((32, 160), "SELECT * FROM sanitize.unicity('visits', 3, samples => 100)"),
    "compare_itemsets": (
        (24, 160),
        "SELECT * FROM sanitize.compare_itemsets('people', 'people', 0.0002)",
    ),
    "utility": ((48, 300), "SELECT count(*) FROM sanitize.utility('visits', 'holes')"),
    "privacy_report": (
        (48, 400),
        "SELECT sanitize.privacy_report('visits', 'holes') IS NULL",
    ),
    "privacy_report_html of two": (
        (64, 500),
        """SELECT sanitize.privacy_report_html('visits', 'holes', '{"compare": "visits"}') IS NULL""",
    ),
    "row_bag": ((32, 160), "SELECT sanitize.row_bag(v) IS NULL FROM values_ AS v"),
    "row_bag of columns": (
        (32, 160),
        "SELECT sanitize.row_bag(ARRAY['a', 'b'], a, b) IS NULL FROM values_",
    ),
    "cell_bag": (
        (32, 160),
        "SELECT sanitize.cell_bag(ARRAY['a', 'b'], ARRAY[a, b]) IS NULL FROM values_",
    ),
    "bag_packed": ((16, 160), "SELECT sanitize_internal.bag_packed(b) IS NULL FROM bags"),
}


@pytest.fixture(scope="module")
def tables(database):
    """Tables of up to some 60 MB of coded rows."""
    with database.admin() as admin:
        admin.execute("SET client_min_messages = warning")
        # Most of a cell's values follow from the row's kind, so that there is something to find.
        columns = list(zip("abcdefgh", [9, 5, 7, 12, 4, 20, 6, 40]))
        cells = ", ".join(
            f"(CASE WHEN h{c} % 10 < 7 THEN kind * {c % 4 + 1} % 11 ELSE h{c} / 10 % {m} END)::int"
            f" AS {name}"
            for c, (name, m) in enumerate(columns)
        )
        hashes = ", ".join(f"abs(hashint8(i * 8 + {c})::bigint) AS h{c}" for c in range(8))
        rows = "(SELECT i, i % 13 AS kind, {} FROM generate_series(1, {}) AS i) AS s"
        admin.execute(f"CREATE TABLE people AS SELECT {cells} FROM {rows.format(hashes, 100000)}")
        admin.execute(
            f"CREATE TABLE visits AS SELECT md5(i::text) AS id, {','.join(cells.split(',')[:5])}"
            f" FROM {rows.format(hashes, 300000)}"
        )
        admin.execute("CREATE TABLE census AS SELECT a, b, c, d, e FROM visits")
        admin.execute(
            "CREATE TABLE holes AS SELECT id, nullif(a, 3) AS a, b, nullif(c, 1) AS c, d,"
            " nullif(e, 2) AS e FROM visits"
        )
        admin.execute(
            "CREATE TABLE values_ AS SELECT md5(i::text) AS a, md5((-i)::text) AS b"
            " FROM generate_series(1, 300000) AS i"
        )
        array_table(admin, "worst", 8, 7, 5)
        admin.execute(
            """SELECT sanitize.declare_hierarchy('values_', 'a', '{"prefix": [30, 5, 2]}')"""
        )
        admin.execute("CREATE TABLE bags AS SELECT sanitize.row_bag(v) AS b FROM values_ AS v")
        admin.execute("CREATE TABLE models AS SELECT sanitize.krimp_model('people', 5000) AS m")
        admin.execute("CREATE TABLE patients AS SELECT * FROM visits")
        admin.execute("CREATE TABLE copied AS SELECT * FROM visits")
        admin.execute("ALTER TABLE copied ADD PRIMARY KEY (id)")
        domains = {"visits": columns[:5], "patients": columns[:5], "people": columns}
        for table, names in domains.items():
            for name, _ in names:
                admin.execute(
                    "SELECT sanitize.declare_domain(%s, %s,"
                    " ARRAY(SELECT i::text FROM generate_series(0, 40) AS i))",
                    [table, name],
                )
        admin.execute("SELECT sanitize.protect('patients', 'id', 1e6, 0.1, 2)")
        admin.execute("ANALYZE")
    return database


def resident(pid):
    """The most memory that a process has had for itself. Pages of shared buffers and of files are not its own, though
    they count as resident."""
    status = Path(f"/proc/{pid}/status").read_text()
    sizes = {name: int(kb) * 1024 for name, kb in re.findall(r"(\w+):\s+(\d+) kB", status)}
    return sizes["VmHWM"] - sizes["RssShmem"] - sizes["RssFile"]


def call(database, query, limit, settings=""):
    """Whether the call was refused for its memory, and its peak beyond what the backend had."""
    with database.connect() as connection:
        connection.execute("SET client_min_messages = warning")
        # The library and the catalogs' caches are no news then.
        connection.execute("SELECT sanitize.k_anonymity('holes', '{a}')")
        connection.execute("SET max_parallel_workers_per_gather = 0")
        if settings:
            connection.execute(settings)
        connection.execute(f"SET pg_sanitize.max_memory = '{limit}MB'")
        before = resident(connection.info.backend_pid)
        try:
            connection.execute(query)
            refused = False
        except psycopg.errors.ConfigurationLimitExceeded:
            refused = True
        return refused, resident(connection.info.backend_pid) - before


def check(name, seen):
    """All peaks are within their limits; the figures are shown if not, or with pytest -rA."""
    peaks = {
        limit: f"{'refused' if refused else 'done'} {round(peak / MB)} MB"
        for limit, (refused, peak) in seen.items()
    }
    print(f"{name}: {peaks}")
    for limit, (_, peak) in seen.items():
        assert peak <= limit * MB * (1 + SLACK) + ALLOWANCE, f"{limit} MB: {peaks}"


@pytest.mark.parametrize("case", CASES)
def test_the_peak_stays_within_the_limit(tables, case):
    limits, query = CASES[case]
    seen = {limit: call(tables, query, limit) for limit in limits}
    check(case, seen)
    assert seen[limits[0]][0] and not seen[limits[-1]][0], (
        "the limits are not around what is needed"
    )


def test_the_leader_of_a_parallel_row_bag_counts_the_states_of_its_workers(tables):
    settings = """SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0;
        SET parallel_tuple_cost = 0"""
    query = CASES["row_bag"][1]
    seen = {limit: call(tables, query, limit, settings) for limit in [32, 160]}
    check("row_bag of workers", seen)
    assert seen[32][0] and not seen[160][0]


def test_bags_that_do_not_fit_together_are_refused_with_advice(tables):
    with tables.connect() as connection:
        connection.execute(
            "CREATE AGGREGATE merged(sanitize.bag) (SFUNC = sanitize_internal.row_bag_combine,"
            " STYPE = sanitize.bag, FINALFUNC = sanitize_internal.row_bag_final)"
        )
        try:
            connection.execute(
                "CREATE TEMP TABLE parts AS SELECT sanitize.row_bag(v) AS b FROM values_ AS v"
                " GROUP BY left(a, 1)"
            )
            connection.execute("SET pg_sanitize.max_memory = '32MB'")
            with pytest.raises(psycopg.errors.ConfigurationLimitExceeded) as error:
                connection.execute("SELECT length(merged(b)::text) FROM parts")
            assert "do not fit together" in error.value.diag.message_primary
            hint = error.value.diag.message_hint
            assert "fewer columns" in hint and "sample of the rows" in hint
            # An argument that no bag has.
            assert "max_length" not in hint
        finally:
            connection.execute("DROP AGGREGATE merged(sanitize.bag)")


def test_the_groups_of_a_row_bag_share_the_limit(tables):
    """Where they are hashed, each has a state of its own at the same time."""
    query = """SELECT count(b) FROM (SELECT sanitize.row_bag(v) AS b FROM values_ AS v
        GROUP BY left(md5(v::text), 1)) AS s"""
    settings = "SET enable_sort = off; SET work_mem = '1GB'"
    seen = {limit: call(tables, query, limit, settings) for limit in [32, 320]}
    check("row_bag of groups", seen)
    assert seen[32][0] and not seen[320][0]


def test_what_a_shard_keeps_stays_within_the_limit(tables):
    """It gives up, and the rows are read by who asks."""
    query = """SELECT sanitize_internal.bounded_rows(jsonb_build_object('rows_per_unit', 2, 'groups_per_unit', 1,
            'types', '[25]'::jsonb, 'hash', NULL, 'encoding', pg_char_to_encoding(getdatabaseencoding()),
            'probe', hashtextextended('pg_sanitize', 0), 'groups', NULL), a, b) IS NULL FROM values_"""
    check("bounded_rows", {limit: call(tables, query, limit) for limit in [16, 48, 400]})
    with tables.connect() as connection:
        for limit, gives_up in ((16, True), (400, False)):
            connection.execute(f"SET pg_sanitize.max_memory = '{limit}MB'")
            assert connection.execute(query).fetchone() == (gives_up,)


QUESTION = """SELECT count(*) FROM sanitize.dp_aggregate('{}', '{{"n": "count", "s": {{"sum": "b",
    "low": 0, "high": 12}}, "m": {{"quantile": 0.5, "of": "b", "low": 0, "high": 12}}}}', 10, 1e-3,
    group_by => '{{a}}', groups => '["1", "2", "3"]')"""


@pytest.mark.parametrize("limit", [8, 128])
def test_the_reader_of_protected_rows_stays_within_the_limit(tables, limit):
    """What does not fit is sorted on disk: no question is refused."""
    analyst = tables.regular_user()
    with tables.admin() as admin:
        admin.execute("DROP TABLE IF EXISTS stays, few")
        admin.execute(
            "CREATE TABLE stays AS SELECT id, a, b FROM visits UNION ALL SELECT id, b, a FROM visits"
        )
        admin.execute("CREATE TABLE few AS SELECT * FROM stays LIMIT 1000")
        for source in ["stays", "few"]:
            admin.execute(f"SELECT sanitize.protect('{source}', 'id', 1e6, 0.1, 2)")
            admin.execute("SELECT sanitize.allow(%s, %s::regrole)", [source, analyst])
        admin.execute(f"ALTER DATABASE {tables.name} SET pg_sanitize.max_memory = '{limit}MB'")
        try:
            with tables.connect(analyst) as connection:
                connection.execute(QUESTION.format("few"))
                before = min(resident(pid) for pid in readers(admin))
                connection.execute(QUESTION.format("stays"))
                # On a busy machine a reader that is slow to wake is joined by another one.
                peak = max(resident(pid) for pid in readers(admin)) - before
                check("dp_aggregate", {limit: (False, peak)})
        finally:
            admin.execute(f"ALTER DATABASE {tables.name} RESET pg_sanitize.max_memory")
            for pid in readers(admin):
                admin.execute("SELECT pg_terminate_backend(%s)", [pid])
