"""A server beside the one under test that is killed, started again, and left for a copy of its database."""

import os
import subprocess
import time

import psycopg
from helpers import OwnServer, program

SETTINGS = """
fsync = off
shared_buffers = 16MB
max_wal_size = 64MB
deadlock_timeout = 20ms
autovacuum = off
jit = off
restart_after_crash = on
"""


class Server(OwnServer):
    """A server of its own: it is killed and started again."""

    def __init__(self):
        super().__init__(port=55998)
        self.run(
            "initdb",
            f"--pgdata={self.data}",
            "--username=postgres",
            "--auth=trust",
            "--encoding=UTF8",
            "--locale=C.UTF-8",
            "--no-sync",
        )
        with open(os.path.join(self.data, "postgresql.conf"), "a") as file:
            file.write(SETTINGS)
        self.start()
        self.database = "first"
        self.databases = 1
        self.connections = {}
        with self.connect(dbname="postgres", user="postgres") as server:
            server.execute("CREATE DATABASE first")
            server.execute("CREATE ROLE ann LOGIN")
            server.execute("CREATE ROLE bob LOGIN")
        self.connection("postgres").execute("CREATE EXTENSION pg_sanitize")

    def connection(self, role):
        """The connection of a role, a new one if the last is gone; a superuser's for every other name."""
        deadline = time.monotonic() + 30
        while role not in self.connections or self.connections[role].closed:
            try:
                user = role if role in ("ann", "bob") else "postgres"
                self.connections[role] = self.connect(dbname=self.database, user=user)
            except psycopg.OperationalError:
                assert time.monotonic() < deadline, "the server did not come back"
                time.sleep(0.02)
        return self.connections[role]

    def close(self):
        for connection in self.connections.values():
            connection.close()
        self.connections = {}

    def postmaster(self):
        with open(os.path.join(self.data, "postmaster.pid")) as file:
            return int(file.readline())

    def restart(self):
        """Starts it after its postmaster was killed, as soon as the last of its processes is gone."""
        deadline = time.monotonic() + 30
        while True:
            try:
                self.start()
                return
            except AssertionError:
                assert time.monotonic() < deadline
                time.sleep(0.1)

    def restore(self):
        """Goes on in a copy of the database that was made by a dump."""
        self.close()
        self.databases += 1
        copy = f"copy{self.databases}"
        where = [f"--host={self.folder}", f"--port={self.port}", "--username=postgres"]
        with self.connect(dbname="postgres", user="postgres") as server:
            server.execute(f"CREATE DATABASE {copy} TEMPLATE template0")
            dump = subprocess.run(
                [program("pg_dump"), *where, "--dbname", self.database],
                capture_output=True,
                check=True,
            ).stdout
            subprocess.run(
                [program("psql"), *where, "-qX", "--set=ON_ERROR_STOP=1", "--dbname", copy],
                input=dump,
                check=True,
                stdout=subprocess.DEVNULL,
            )
            server.execute(f"DROP DATABASE {self.database} WITH (FORCE)")
        self.database = copy
        self.connection("postgres").execute("SELECT sanitize.confirm_ledger()")
