"""Releases: what they keep, what can be learned from them, what they cost.

Writes docs/figures/releases.md. The printed values are those of ten Tusscher's thesis (2024), which
defines MII-suppress, k-MII and the scheme 'paper'. It averages 100 runs, and so does this;
PG_SANITIZE_RUNS names another number. With 100 this takes hours.
"""

import datetime
import os

import _samples
import _speed
from _bench import connect
from _page import Page
from _published import Sets, table_4_4, table_4_5

runs = int(os.environ.get("PG_SANITIZE_RUNS") or 100)
connection = connect(_speed.DATABASE)
connection.execute("SET pg_sanitize.threads = 1")
version = connection.execute("SHOW server_version").fetchone()[0].split()[0]
page = Page(
    "Releases in figures",
    f"""
Made by `scripts/bench releases`, which writes this page, in {datetime.date.today():%B %Y}, PostgreSQL {version}, on a
machine with {os.cpu_count()} cores and a load of {os.getloadavg()[0]:.1f} before it began. The sets are the LUCS-KDD
versions of UCI sets (rows of the most common length), ARX's Adult table, and the hospital stays of the UCI set Diabetes
130-US. Times are seconds of processor time, with one thread: waiting for other work is not counted. Run the script for
figures of your own machine.
""",
)
sets = Sets(connection)
table_4_4(page, sets)
unprotected = table_4_5(page, sets, runs)
sampler = _samples.Sampler(sets)
_samples.table_4_6(page, sampler, runs, unprotected)
_samples.smaller_deltas(page, sampler, runs)
_speed.k_anonymize_beside_k_mii(page, connection)
_speed.k_anonymize_beside_others(page, connection)
_speed.growth(page, connection)
_speed.k_mii_beside_its_parts(page, connection)
page.write("releases.md")
