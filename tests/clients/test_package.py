"""The Debian package: made of what was built for the tests, installed beside Debian's PostgreSQL 15 into a
folder of its own, used by a server there, and removed."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import psycopg
import pytest
from helpers import ROOT, OwnServer, program

MAJOR = 15
NAME = f"postgresql-{MAJOR}-pg-sanitize"
LIBRARIES = f"usr/lib/postgresql/{MAJOR}/lib"
EXTENSIONS = f"usr/share/postgresql/{MAJOR}/extension"


def output(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    with psycopg.connect(dbname="postgres") as server:
        if server.info.server_version // 10000 != MAJOR:
            pytest.skip(f"the package is tried with Debian's PostgreSQL {MAJOR}")
    folder = tmp_path_factory.mktemp("deb")
    built = ROOT / ".local" / "package" / str(MAJOR)
    return Path(output(ROOT / "scripts" / "deb", "--of", MAJOR, built, folder).strip())


@pytest.fixture(scope="module")
def version():
    with psycopg.connect(dbname="postgres") as server:
        query = "SELECT default_version FROM pg_available_extensions WHERE name = 'pg_sanitize'"
        return server.execute(query).fetchone()[0]


def test_the_package_says_what_it_is(package, version):
    def field(name):
        return output("dpkg-deb", "--field", package, name).strip()

    assert field("Package") == NAME
    assert field("Version") == f"{version}-1"
    assert field("Architecture") == output("dpkg", "--print-architecture").strip()
    depends = [one.split()[0] for one in field("Depends").split(", ")]
    assert depends[0] == f"postgresql-{MAJOR}" and "libc6" in depends
    assert field("Maintainer") and field("Description")


def test_the_package_holds_files_of_root_in_debians_folders(package, version):
    lines = [line.split() for line in output("dpkg-deb", "--contents", package).splitlines()]
    assert {owner for _, owner, *_ in lines} == {"root/root"}
    files = {line[-1].removeprefix("./"): line[0] for line in lines if line[0].startswith("-")}
    assert set(files.values()) == {"-rw-r--r--"}
    doc = f"usr/share/doc/{NAME}"
    updates = [file.name for file in (ROOT / "sql").glob("pg_sanitize--*--*.sql")]
    assert updates
    assert {name for name in files if not name.startswith(doc)} == {
        f"{LIBRARIES}/pg_sanitize.so",
        f"{EXTENSIONS}/pg_sanitize.control",
        f"{EXTENSIONS}/pg_sanitize--{version}.sql",
        *(f"{EXTENSIONS}/{update}" for update in updates),
    }
    assert f"{doc}/copyright" in files and f"{doc}/changelog.Debian.gz" in files


@pytest.fixture
def root():
    """A root folder with Debian's PostgreSQL, as far as the tests' own copy of it goes, but without us;
    the servers' user must be able to enter it."""
    tree = Path(program("postgres")).parents[5]
    folder = Path(tempfile.mkdtemp(dir="/tmp", prefix="package"))
    folder.chmod(0o755)
    for name in (f"usr/lib/postgresql/{MAJOR}", f"usr/share/postgresql/{MAJOR}"):
        ignore = shutil.ignore_patterns("pg_sanitize*")
        shutil.copytree(tree / name, folder / name, symlinks=True, ignore=ignore)
    for name in ("info", "updates"):
        (folder / "var/lib/dpkg" / name).mkdir(parents=True)
    (folder / "var/lib/dpkg/status").touch()
    yield folder
    shutil.rmtree(folder)


def dpkg(root, *arguments):
    # What it depends on was copied, not installed.
    output("dpkg", f"--root={root}", f"--log={root}/log", "--force-depends", *arguments)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root installs packages")
def test_the_package_is_installed_used_and_removed(package, root, version):
    dpkg(root, "--install", package)
    assert f"ii  {NAME}" in output("dpkg", f"--root={root}", "--list", NAME)
    server = OwnServer(port=55997, programs=root / f"usr/lib/postgresql/{MAJOR}/bin")
    server.run(
        "initdb", f"--pgdata={server.data}", "--username=postgres", "--auth=trust", "--no-sync"
    )
    server.start()
    try:
        with server.connect(dbname="postgres", user="postgres") as connection:
            connection.execute("CREATE EXTENSION pg_sanitize")
            assert connection.execute("SELECT extversion FROM pg_extension").fetchall()[-1] == (
                version,
            )
            connection.execute(
                "CREATE TABLE t AS SELECT i % 3 AS a FROM generate_series(1, 99) AS i"
            )
            label = connection.execute(
                "SELECT sanitize.publish('r', 't', 'k_mii', '{\"k\": 5}')"
            ).fetchone()[0]
            assert (label["k"], label["rows"]) == (5, 99)
            maps = Path(f"/proc/{connection.info.backend_pid}/maps").read_text()
            assert str(root / LIBRARIES / "pg_sanitize.so") in maps
    finally:
        server.drop()
    dpkg(root, "--remove", NAME)
    assert not list(root.rglob("pg_sanitize*"))
