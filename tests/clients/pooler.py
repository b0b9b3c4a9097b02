"""pgBouncer in transaction mode before a server of the tests."""

import os
import shutil
import subprocess
import time

import psycopg
import pytest
from helpers import ROOT, server_folder, server_owner

PROGRAM = (ROOT / ".local" / "pgbouncer" / "usr" / "sbin" / "pgbouncer").resolve()


class Pooler:
    """A running pgBouncer with few connections for each role. It lets in the roles of `users`, by their
    passwords where it listens on the loopback."""

    def __init__(self, server, users, port, connections, listen=""):
        if not PROGRAM.exists():
            pytest.skip("no pgbouncer: scripts/setup clients unpacks it")
        self.port = port
        self.folder = server_folder()
        settings = os.path.join(self.folder, "pgbouncer.ini")
        with open(settings, "w") as file:
            file.write(f"""
[databases]
* = {server}
[pgbouncer]
listen_addr = {listen}
listen_port = {port}
unix_socket_dir = {self.folder}
auth_type = {"scram-sha-256" if listen else "trust"}
auth_file = {self.folder}/users
pool_mode = transaction
default_pool_size = {connections}
ignore_startup_parameters = extra_float_digits
""")
        with open(os.path.join(self.folder, "users"), "w") as file:
            file.writelines(f'"{user}" "{password}"\n' for user, password in users.items())
        with open(os.path.join(self.folder, "log"), "w") as log:
            # It does not run as root either.
            command = [PROGRAM, "--user", server_owner().pw_name, settings]
            self.process = subprocess.Popen(command, stderr=log)
        self.wait()

    def wait(self):
        socket = os.path.join(self.folder, f".s.PGSQL.{self.port}")
        deadline = time.monotonic() + 30
        while not os.path.exists(socket):
            assert time.monotonic() < deadline and self.process.poll() is None, self.log()
            time.sleep(0.05)

    def log(self):
        with open(os.path.join(self.folder, "log")) as file:
            return file.read()

    def connect(self, dbname, user):
        """A client's connection. What is prepared in one of the server's is not known in the next, so
        psycopg must not prepare."""
        return psycopg.connect(
            host=self.folder,
            port=self.port,
            dbname=dbname,
            user=user,
            autocommit=True,
            prepare_threshold=None,
        )

    def drop(self):
        self.process.terminate()
        self.process.wait(timeout=30)
        shutil.rmtree(self.folder)
