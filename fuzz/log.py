"""What the server's log says since a moment: crashes, and faults in any of its processes."""

import re

CRASH = re.compile(r"terminated by signal|PANIC: ")
FAULT = re.compile(r"(?:ERROR|FATAL): +XX\w{3}: ")
# A new entry begins with its time; the other lines of an error repeat it.
ENTRY = re.compile(
    r"^(?=\d{4}-\d\d-\d\d [\d:.]+ \w+ \[\d+\] (?:\S+ )?(?:LOG|ERROR|FATAL|PANIC|WARNING|NOTICE):)",
    re.MULTILINE,
)


class Log:
    def __init__(self, path):
        self.path = path
        self.offset = path.stat().st_size

    def text(self):
        with self.path.open("rb") as file:
            file.seek(self.offset)
            return file.read().decode(errors="replace")

    def noted(self):
        """The entries that tell of a crash or a fault, each with the statement behind it."""
        entries = ENTRY.split(self.text())
        return [entry for entry in entries if CRASH.search(entry) or FAULT.search(entry)]

    def crashed(self, process):
        """True if that process crashed: the server ends all others then as well."""
        return f"(PID {process}) was terminated by signal" in self.text()
