"""Throws random calls of every function at a server.

A call fails the run if a process of the server crashes, if an error has a code of class XX, or if it
outlives its timeout by more than --late says. Each is printed with what repeats it.
"""

import argparse
import multiprocessing
import os
import queue
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import psycopg
from calls import make
from log import Log
from world import NAME, PLAIN, TEMPORARY, World, build, drop

CONNECTIONS = 2
# Past this the call is taken for one that never ends.
HANGS = 30.0
MOST_FAILURES = 20
# Ends of a call beside SQLSTATEs: the connection went away, with an error that says that another
# process crashed or without one.
LOST, ENDED = "lost", "57P02"
# What is said of the planted errors.
SIGNS = ("the process crashed", "terminated by signal 11", "XX000", "with a timeout of")


class Runner:
    """Two connections, a superuser's and a plain role's, and what came of the calls made on them."""

    def __init__(self, world, given, log, verbose=False):
        self.world = world
        self.seed = given.seed
        self.late = given.late
        self.log = log
        self.verbose = verbose
        self.connections = {}
        self.outcomes = Counter()
        self.again = 0
        self.deadline = None
        threading.Thread(target=self.watch, daemon=True).start()

    def connection(self, plain):
        """The connection of that role; after a crash a new one, as soon as the server is back."""
        found = self.connections.get(plain)
        give_up = time.monotonic() + 60
        while found is None or found.closed:
            try:
                user = PLAIN if plain else "postgres"
                found = psycopg.connect(dbname=NAME, user=user, autocommit=True)
                found.execute(TEMPORARY)
            except psycopg.OperationalError:
                if time.monotonic() > give_up:
                    raise
                found = None
                time.sleep(0.1)
        self.connections[plain] = found
        return found

    def watch(self):
        """Ends the run if a call never ends."""
        while True:
            time.sleep(1)
            if self.deadline and time.monotonic() > self.deadline[0]:
                print(self.deadline[1], flush=True)
                os._exit(3)

    def run(self, number):
        """Makes a call; returns what was wrong with it, or None."""
        call = make(self.world, self.seed, number)
        if self.verbose:
            print(f"-- as {'a plain role' if call.plain_role else 'superuser'}\n{call.text()};")
        problem, code, seconds = self.attempt(number, call)
        for _ in range(2):
            # On a busy machine a process may have waited for its turn: only what is late again is at
            # fault. And if another process crashed, the server has ended this one with it.
            late = problem is None and seconds > call.allowed() + self.late
            if not late and code != ENDED:
                break
            self.again += 1
            problem, code, seconds = self.attempt(number, call)
        if problem is None and seconds > call.allowed() + self.late:
            problem = f"took {seconds:.1f} s with a timeout of {call.timeout} s"
        self.outcomes[call.function, code] += 1
        if self.verbose:
            print(f"-- {code}, {seconds:.3f} s")
        return problem and self.report(number, call, problem)

    def report(self, number, call, problem):
        role = PLAIN if call.plain_role else "postgres"
        return (
            f"\nFAILED: {problem}\n-- as {role}; to repeat: --seed {self.seed} --only {number}\n"
            f"{call.text()};\n"
        )

    def attempt(self, number, call):
        """(problem, SQLSTATE or ok, seconds)"""
        connection = self.connection(call.plain_role)
        process = connection.info.backend_pid
        started = time.monotonic()
        self.deadline = (
            started + call.allowed() + HANGS,
            self.report(number, call, f"has not ended after {HANGS:.0f} s"),
        )
        problem, code = None, "ok"
        try:
            if call.copied is None:
                connection.execute(call.text().encode())
            else:
                connection.execute(call.text().encode())
                with connection.cursor().copy("COPY bags FROM STDIN (FORMAT binary)") as copy:
                    copy.write(call.copied)
        except psycopg.Error as error:
            code = error.sqlstate or LOST
            if code.startswith("XX"):
                problem = f"{code}: {error}"
        seconds = time.monotonic() - started
        self.deadline = None
        if not connection.closed and connection.info.transaction_status:
            try:
                connection.execute("ROLLBACK")
            except psycopg.Error:
                code = LOST
        if code in (LOST, ENDED):
            connection.close()
            # The server writes its log after it has closed the connection.
            time.sleep(0.5)
            if self.log.crashed(process):
                problem = f"the process crashed: {self.log.path}"
            else:
                code = ENDED
        return problem, code, seconds


def work(world, given, log, numbers, results):
    """One process: makes its calls, and tells what it saw."""
    runner = Runner(world, given, log)
    for number in numbers:
        problem = runner.run(number)
        if problem:
            results.put(("problem", problem))
    results.put(("done", (runner.outcomes, runner.again)))


def show(outcomes, again, seconds):
    calls = sum(outcomes.values())
    ended = Counter()
    for (_, code), count in outcomes.items():
        ended[code] += count
    print(f"{calls} calls in {seconds:.1f} s, {calls / seconds:.0f} a second", end="; ")
    print(", ".join(f"{code} {count}" for code, count in ended.most_common()))
    if again:
        print(
            f"{again} calls were repeated: they were late, or ended by the crash of another process"
        )
    # How deep the calls go: each function should get past its checks now and then.
    tried = Counter()
    for (name, _), count in outcomes.items():
        tried[name] += count
    shares = sorted((outcomes[name, "ok"] / count, name) for name, count in tried.items())
    least = ", ".join(f"{name} {share:.0%}" for share, name in shares[:8])
    print(f"least often without an error: {least}")


def main():
    parser = argparse.ArgumentParser(prog="scripts/fuzz MAJOR")
    parser.add_argument("calls", type=int, nargs="?", default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--late", type=float, default=10, help="seconds after its timeout at which a call is late"
    )
    parser.add_argument("--only", type=int, help="make only the call with this number, and show it")
    parser.add_argument("--log", type=Path, required=True, help="the server's log")
    parser.add_argument(
        "--planted", action="store_true", help="plant errors, and expect to find them"
    )
    given = parser.parse_args()
    if given.planted:
        # The delay that is planted is one of two seconds.
        given.late = 1
    print(f"seed {given.seed}", flush=True)
    log = Log(given.log)
    for missing in build(os.environ["PGHOST"], os.environ["PGPORT"], given.planted):
        print(f"not on this server: {missing}")
    with psycopg.connect(dbname=NAME) as connection:
        world = World(connection)
    failures = []
    if given.only is not None:
        runner = Runner(world, given, log, verbose=True)
        failures += filter(None, [runner.run(given.only)])
        print(*failures)
    else:
        failures += throw(world, given, log)
    in_log = log.noted()
    for entry in in_log[:MOST_FAILURES]:
        print(f"in the server's log: {entry}")
    try:
        drop()
    except psycopg.Error as error:
        # A call that never ends holds the database.
        print(error)
    if given.planted:
        seen = "".join(failures + in_log)
        hidden = [sign for sign in SIGNS if sign not in seen]
        sys.exit(f"planted, but not found: {', '.join(hidden)}" if hidden else None)
    sys.exit(bool(failures or in_log))


def throw(world, given, log):
    """Makes the calls on several connections at once; returns what failed."""
    started = time.monotonic()
    results = multiprocessing.Queue()
    workers = [
        multiprocessing.Process(
            target=work,
            args=(world, given, log, range(i, given.calls, CONNECTIONS), results),
            daemon=True,
        )
        for i in range(CONNECTIONS)
    ]
    for worker in workers:
        worker.start()
    failures, outcomes, again, done = [], Counter(), 0, 0
    while done < CONNECTIONS and len(failures) < MOST_FAILURES:
        try:
            kind, what = results.get(timeout=5)
        except queue.Empty:
            if any(worker.exitcode for worker in workers):
                failures.append("a worker ended early")
                break
            continue
        if kind == "problem":
            failures.append(what)
            print(what, flush=True)
        else:
            done += 1
            outcomes += what[0]
            again += what[1]
    for worker in workers:
        worker.terminate()
    if outcomes:
        show(outcomes, again, time.monotonic() - started)
    return failures


if __name__ == "__main__":
    main()
