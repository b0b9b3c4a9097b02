"""An Apache Superset of our own: a new store in SQLite, on the loopback, and calls of its REST API."""

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import requests

PROGRAM = Path(sys.executable).with_name("superset")
SETTINGS = """
SECRET_KEY = "{key}"
SQLALCHEMY_DATABASE_URI = "sqlite:///{folder}/superset.db"
TALISMAN_ENABLED = False
"""


class Superset:
    """A running Superset with one administrator."""

    user = "admin"

    def __init__(self, port):
        self.url = f"http://127.0.0.1:{port}"
        self.password = secrets.token_hex(16)
        self.folder = tempfile.mkdtemp(prefix="superset")
        settings = os.path.join(self.folder, "superset_config.py")
        with open(settings, "w") as file:
            file.write(SETTINGS.format(key=secrets.token_hex(32), folder=self.folder))
        self.environment = {
            **os.environ,
            "SUPERSET_CONFIG_PATH": settings,
            "SUPERSET_HOME": self.folder,
            "FLASK_APP": "superset",
        }
        self.log = open(os.path.join(self.folder, "log"), "w")  # noqa: SIM115
        self.run("db", "upgrade")
        names = ["--username", self.user, "--firstname", "Superset", "--lastname", "Admin"]
        rest = ["--email", "admin@example.org", "--password", self.password]
        self.run("fab", "create-admin", *names, *rest)
        self.run("init")
        arguments = ["run", "--host", "127.0.0.1", "--port", str(port), "--with-threads"]
        self.process = subprocess.Popen([PROGRAM, *arguments], **self.output())
        self.wait()
        self.session = requests.Session()
        self.login()

    def output(self):
        return {"env": self.environment, "stdout": self.log, "stderr": self.log}

    def run(self, *arguments):
        done = subprocess.run([PROGRAM, *arguments], **self.output())
        assert done.returncode == 0, self.told()

    def told(self):
        """The end of what Superset has written."""
        with open(self.log.name) as file:
            return file.read()[-3000:]

    def wait(self):
        deadline = time.monotonic() + 180
        while True:
            try:
                requests.get(f"{self.url}/health", timeout=10).raise_for_status()
                return
            except requests.RequestException:
                assert time.monotonic() < deadline and self.process.poll() is None, self.told()
                time.sleep(0.5)

    def login(self):
        body = {"username": self.user, "password": self.password, "provider": "db"}
        answer = self.call("POST", "security/login", body)
        self.session.headers["Authorization"] = f"Bearer {answer['access_token']}"
        token = self.call("GET", "security/csrf_token/")["result"]
        self.session.headers.update({"X-CSRFToken": token, "Referer": self.url})

    def call(self, method, path, body=None, expected=200):
        """Calls the API and returns what it answers."""
        answer = self.session.request(method, f"{self.url}/api/v1/{path}", json=body, timeout=120)
        assert answer.status_code == expected, f"{path}: {answer.status_code} {answer.text[:2000]}"
        return answer.json()

    def drop(self):
        self.process.terminate()
        self.process.wait(timeout=30)
        self.log.close()
        shutil.rmtree(self.folder)
