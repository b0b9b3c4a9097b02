"""What a build returns on every real data set: a line for each query, with a digest of its rows.

Run by scripts/compare, which compares two builds.
"""

import csv
import hashlib
import os
import time
from pathlib import Path

import psycopg
from _items import as_table, lines_of

DATA = Path(os.environ["PG_SANITIZE_DATA"])

# Everything that a seed or its definition makes the same in each run. {t} is the table, {n} its rows,
# {a} and {b} two of its columns.
QUERIES = """
SELECT * FROM sanitize.mine_miis('{t}', 1, max_length => 4)
SELECT * FROM sanitize.mine_miis('{t}', 10, max_length => 3)
SELECT * FROM sanitize.mii_risk('{t}', 5, max_length => 3)
SELECT * FROM sanitize.frequent_itemsets('{t}', {n} / 4)
SELECT * FROM sanitize.frequent_itemsets('{t}', {n} / 5, closed => true)
SELECT * FROM sanitize.mii_suppress(NULL::{t}, 3, max_length => 3)
SELECT * FROM sanitize.k_mii(NULL::{t}, 5, keep => ARRAY['{a}'], max_length => 3)
SELECT * FROM sanitize.k_anonymize(NULL::{t}, 5)
SELECT * FROM sanitize.k_anonymize(NULL::{t}, 11, keep => ARRAY['{b}'], weights => '{{"{a}": 2}}')
SELECT * FROM sanitize.impute(NULL::{t}, seed => 5)
SELECT * FROM sanitize.impute(NULL::{t}, method => 'marginal', seed => 6)
SELECT * FROM sanitize.dp_mii_sample(NULL::{t}, 1, 1e-5, 20, scheme => 'paper', seed => 7, max_length => 2)
SELECT * FROM sanitize.dp_mii_sample(NULL::{t}, 1, 1e-5, 20, seed => 8, rules => '[["{a}", "{b}"]]')
SELECT * FROM sanitize.dp_mii_sample(NULL::{t}, 1, 1e-5, 20, scheme => 'dp_select', seed => 9)
SELECT * FROM sanitize.krimp_codetable('{t}', greatest({n} / 5, 2), max_length => 4)
SELECT sanitize.krimp_model('{t}', greatest({n} / 5, 2), candidates => 'closed', prune => true, nulls => 'value')
SELECT * FROM sanitize.krimp_generate(NULL::{t}, 1000, greatest({n} / 5, 2), max_length => 3, seed => 10)
SELECT * FROM sanitize.krimp_generate(NULL::{t}, 1000, greatest({n} / 5, 2), class => '{a}', max_length => 3, seed => 11)
SELECT sanitize.krimp_dissimilarity('{t}', '{t}', greatest({n} / 5, 2), max_length => 3)
SELECT sanitize.k_anonymity('{t}', ARRAY['{a}', '{b}']), sanitize.l_diversity('{t}', '{a}', kind => 'entropy'), sanitize.t_closeness('{t}', '{a}')
SELECT * FROM sanitize.suppression('{t}')
SELECT * FROM sanitize.anonymity_score('{t}', '{t}')
SELECT * FROM sanitize.common_records('{t}', '{t}')
SELECT * FROM sanitize.rare_itemset_leak('{t}', '{t}', 1000, seed => 12)
SELECT * FROM sanitize.compare_itemsets('{t}', '{t}', 0.4)
SELECT * FROM sanitize.krimp_report('{t}', '{t}', samples => 1000, seed => 13)
SELECT md5(sanitize.row_bag(x)::text) FROM {t} x
""".strip().splitlines()


def tables():
    """Name and rows of each data set."""
    for path in sorted(DATA.glob("lucs/*.num")) + sorted(DATA.glob("fimi/*.dat")):
        name = path.name.split(".")[0].lower()
        yield f"{path.parent.name}_{name}", as_table(lines_of(path))
    for path in sorted(DATA.glob("uci/*.data")):
        yield (
            f"uci_{path.stem}",
            [
                [r"\N" if cell.strip() == "?" else cell.strip() for cell in row]
                for row in csv.reader(path.open())
                if row
            ],
        )
    for path in sorted(DATA.glob("arx-adult/adult.csv")):
        yield "arx_adult", list(csv.reader(path.open(), delimiter=";"))[1:]


def main():
    with psycopg.connect(dbname="postgres", autocommit=True) as connection:
        connection.execute("CREATE EXTENSION pg_sanitize")
        connection.execute("SET client_min_messages = error")
        connection.execute("SET statement_timeout = '5min'")
        for name, rows in tables():
            # Wide files take the minute that narrow ones do not.
            width = min(len(rows[0]), 20)
            columns = ", ".join(f"c{i} text" for i in range(width))
            connection.execute(f"CREATE TABLE {name} ({columns})")
            with connection.cursor().copy(f"COPY {name} FROM STDIN") as copy:
                for row in rows:
                    copy.write("\t".join(row[:width]) + "\n")
            for query in QUERIES:
                query = query.format(t=name, n=len(rows), a="c0", b=f"c{width - 1}")
                begin = time.monotonic()
                try:
                    shown = repr(connection.execute(query).fetchall())
                except psycopg.Error as error:
                    shown = f"{error.sqlstate} {error.diag.message_primary}"
                    if error.sqlstate == "57014":
                        shown = "not within five minutes"
                digest = hashlib.md5(shown.encode()).hexdigest()
                if time.monotonic() - begin > 60:
                    os.write(2, f"{name} {query}: {time.monotonic() - begin:.0f} s\n".encode())
                print(digest, name, query, flush=True)


main()
