"""A proxy between a client and a PostgreSQL server that counts the bytes that pass."""

import os
import shutil
import socket
import tempfile
import threading


class Proxy:
    """Listens on a Unix socket in a folder of its own, at the server's port, and counts what comes from the server."""

    def __init__(self, server):
        self.folder, self.received = tempfile.mkdtemp(prefix="proxy", dir="/tmp"), 0
        self._to = os.path.join(server.folder, f".s.PGSQL.{server.port}")
        os.chmod(self.folder, 0o755)
        path = os.path.join(self.folder, f".s.PGSQL.{server.port}")
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(path)
        os.chmod(path, 0o777)
        self._listening.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._to)
            threading.Thread(target=self._pass, args=[client, server, 0], daemon=True).start()
            threading.Thread(target=self._pass, args=[server, client, 1], daemon=True).start()

    def _pass(self, source, target, counted):
        """Passes on all that comes from the source."""
        while data := source.recv(1 << 16):
            self.received += len(data) * counted
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)

    def close(self):
        self._listening.close()
        shutil.rmtree(self.folder)
