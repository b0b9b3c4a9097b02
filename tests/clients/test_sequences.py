"""Random sequences of publish, refresh and retire, ended by cancel or kill -9 or not, with changes of sources and
targets at the same time, and dumps that are restored: the record of releases, their labels, comments and the ledger
always agree with the tables. What must be there says the model in sequences.py.

Each seed is a sequence. PG_SANITIZE_SEQUENCES is their number, PG_SANITIZE_SEED the first one:
PG_SANITIZE_SEED=17 PG_SANITIZE_SEQUENCES=1 repeats one.
"""

import json
import os
import signal
import threading
import time

import psycopg
import pytest
from killed import Server
from sequences import BUDGET, OWN, PRICE, Draws, Model, outcome_of, states_after

FIRST = int(os.environ.get("PG_SANITIZE_SEED", 0))
COUNT = int(os.environ.get("PG_SANITIZE_SEQUENCES", 200))
STEPS = 7
# Which of the seeds have these: every so many, and which of so many.
POSTMASTER_KILLED = (40, 3)
BACKEND_KILLED = (20, 7)
RESTORED = (20, 11)


@pytest.fixture(scope="module")
def server():
    made = Server()
    yield made
    made.close()
    made.drop()


WORLD = """
CREATE SCHEMA {schema};
GRANT ALL ON SCHEMA {schema} TO PUBLIC;
SET search_path = {schema};
CREATE TABLE a AS SELECT i % 3 AS ward, i % 4 AS day, 0 AS version FROM generate_series(1, 60) AS i;
CREATE TABLE people AS SELECT ward, day, version, row_number() OVER ()::int AS id FROM a;
CREATE TABLE kept AS SELECT * FROM a;
CREATE TABLE pace AS SELECT 0::float8 AS seconds;
CREATE VIEW paced AS SELECT * FROM kept
    WHERE pg_sleep((SELECT seconds FROM pace) + 0 * ward) IS NOT NULL;
GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO PUBLIC;
SELECT sanitize.protect('people', 'id', {budget}, max_rows_per_unit => 1);
SELECT sanitize.allow('people', 'ann');
SELECT sanitize.allow('people', 'bob')
"""

# Everything of a schema that the model knows too.
OBSERVED = """
SELECT jsonb_build_object(
    'schema', n.nspname,
    'tables', (SELECT coalesce(jsonb_agg(jsonb_build_array(relname, nullif(pg_get_userbyid(relowner), 'postgres'),
                    (SELECT jsonb_agg(jsonb_build_array(attname, format_type(atttypid, NULL)) ORDER BY attname COLLATE "C")
                       FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped))
                    ORDER BY relname COLLATE "C"), '[]')
                 FROM pg_class AS c
                WHERE relnamespace = n.oid AND relkind = 'r' AND relname NOT IN ('kept', 'pace')),
    'releases', (SELECT coalesce(jsonb_object_agg(t.relname,
                        jsonb_build_array(s.relname, r.method, r.options, p.comment, r.rows)), '{}')
                   FROM sanitize.releases AS r JOIN sanitize.published AS p USING (target)
                   JOIN pg_class AS t ON t.oid = r.target JOIN pg_class AS s ON s.oid = r.source
                  WHERE t.relnamespace = n.oid),
    'orphans', (SELECT coalesce(jsonb_agg(t.relname ORDER BY relname COLLATE "C"), '[]')
                  FROM sanitize.releases AS r JOIN pg_class AS t ON t.oid = r.target
                 WHERE t.relnamespace = n.oid AND NOT EXISTS (SELECT FROM pg_class AS s WHERE s.oid = r.source)),
    'entries', (SELECT coalesce(jsonb_object_agg(relname,
                       (SELECT count(*) FROM sanitize.release_entry AS e WHERE e.source = c.oid)), '{}')
                  FROM pg_class AS c
                 WHERE relnamespace = n.oid AND relkind IN ('r', 'v') AND relname NOT IN ('kept', 'pace')
                   AND NOT EXISTS (SELECT FROM sanitize.published WHERE target = c.oid)))
  FROM pg_namespace AS n WHERE nspname = %s OR nspname LIKE %s
"""

# What the extension's tables must agree on among themselves. Each column is true.
AGREED = """
SELECT (SELECT bool_and(p.rows = (p.guarantee->>'rows')::int8
                    AND p.suppressed_share IS NOT DISTINCT FROM (p.guarantee->>'suppressed_share')::float8)
          FROM sanitize.published AS p) IS NOT false AS "label of the record",
       (SELECT bool_and(obj_description(r.target)
                    = coalesce(p.comment || E'\\n', '') || (r.guarantee->>'sentence'))
          FROM sanitize.releases AS r JOIN sanitize.published AS p USING (target)) IS NOT false AS "comments",
       NOT EXISTS (SELECT FROM sanitize.progress) AS "nothing runs",
       NOT EXISTS (SELECT FROM pg_depend AS d JOIN sanitize.published AS p ON p.target = d.objid
                    WHERE d.refclassid = 'pg_extension'::regclass) AS "releases outlive the extension",
       (SELECT bool_and(p.epsilon_spent = (SELECT coalesce(sum(e.epsilon), 0) FROM sanitize.ledger_entry AS e
                                            WHERE e.source = p.source))
          FROM sanitize.protection AS p) IS NOT false AS "the ledger's sums",
       (SELECT bool_and(r.epsilon_total IS NOT DISTINCT FROM
                        (SELECT CASE WHEN count(*) = count(*) FILTER (WHERE e.kind IN ('dp', 'ldp'))
                                      AND count(DISTINCT (e.unit, e.neighbours)) = 1 THEN sum(e.epsilon)::float8 END
                           FROM sanitize.release_entry AS e WHERE e.source = r.source))
          FROM sanitize.releases AS r) IS NOT false AS "epsilon of releases",
       NOT EXISTS (SELECT FROM sanitize.protection AS p
                    WHERE (SELECT sum(epsilon) FROM sanitize.release_entry AS e WHERE e.source = p.source)
                        > p.epsilon_spent) AS "every release is paid for"
"""


class Running(threading.Thread):
    """An operation on a connection of its role."""

    def __init__(self, connection, operation, statement):
        super().__init__()
        self.connection, self.operation, self.statement = connection, operation, statement
        self.error = None

    def run(self):
        try:
            with self.connection.transaction():
                self.connection.execute(self.statement)
        except psycopg.Error as error:
            self.error = error


class Sequence:
    def __init__(self, server, seed):
        self.server, self.seed = server, seed
        self.draws = Draws(seed)
        self.pick = self.draws.pick
        base = f"q{seed}"
        # The name of its schema, and the pattern of names that it may get.
        self.names = [base, f"{base}\\_of\\_%"]
        self.model = Model(base)
        self.said = []
        # Charges of operations that did not end well, and that may come yet.
        self.on_the_way = 0
        self.admin().execute(WORLD.format(schema=base, budget=BUDGET))

    def admin(self):
        """A superuser's connection that nothing is done to."""
        return self.server.connection("postgres")

    def has(self, kind):
        every, which = kind
        return self.seed % every == which

    def prepare(self, operation, role):
        """Connection and statement. A schema that is renamed meanwhile is found by both names."""
        schemas = [self.model.schema]
        schemas += [o.given[0] for o in self.step if o.what == "rename_schema"]
        connection = self.server.connection(role)
        connection.execute(f"SET search_path = {', '.join(schemas)}")
        return Running(connection, operation, operation.sql(self.model))

    def run(self, last):
        """One step: an operation, alone or beside another, stopped or not."""
        draw = self.draws.random.random
        kind, stop, slow = draw(), None, False
        if last and self.has(POSTMASTER_KILLED):
            stop = "postmaster"
        elif last and self.has(BACKEND_KILLED):
            stop = "backend"
        elif kind < 0.12:
            stop = "cancel"
        elif kind < 0.18:
            stop = "terminate"
        if stop is not None:
            slow = draw() < 0.5
            self.step = [self.draws.of_release(self.model, "paced" if slow else None)]
        else:
            self.step = [self.draws.operation(self.model)]
        if stop is None and kind < 0.24 and self.step[0].what in OWN:
            return self.rolled_back()
        if stop is None and kind < 0.55:
            changes = [self.draws.of_source, self.draws.of_target, self.draws.of_rows]
            # Writers of rows do not wait for each other: there would be more orders than two.
            writes = self.step[0].what in ("update", "add_rows")
            self.step.append(self.pick(*changes[: 2 if writes else 3])(self.model))
        self.said.append((stop, self.step))
        roles = [self.step[0].by, "other superuser"]
        running = [self.prepare(*of) for of in zip(self.step, roles)]
        if slow:
            self.admin().execute(f"UPDATE {self.model.schema}.pace SET seconds = 0.01")
        for one in running:
            one.start()
        if stop is not None:
            self.stop(running[0], stop, draw() * (0.1 if slow else 0.02))
        for one in running:
            one.join()
        if stop == "postmaster":
            self.server.restart()
        if stop in ("postmaster", "backend"):
            self.server.close()
        # A signal that came too late is not for the next statement.
        elif stop is not None:
            running[0].connection.close()
        self.settle([(one.operation, self.outcome(one)) for one in running])
        if slow:
            self.admin().execute(f"UPDATE {self.model.schema}.pace SET seconds = 0")

    def outcome(self, running):
        outcome = outcome_of(running.error)
        # No lock keeps a schema's name, and a target may be dropped while its lock is waited for: what was
        # meant is gone then, and the operation ends without a change.
        beside = [o.what for o in self.step[1:]]
        gone = beside == ["drop"] and isinstance(running.error, psycopg.errors.UndefinedTable)
        if outcome == "failed" and (gone or beside == ["rename_schema"]):
            return "stopped"
        if outcome != "done":
            self.said.append(str(running.error))
        return outcome

    def stop(self, running, how, seconds):
        pid = running.connection.info.backend_pid
        postmaster = self.server.postmaster()
        time.sleep(seconds)
        if how == "postmaster":
            os.kill(postmaster, signal.SIGKILL)
        elif how == "backend":
            os.kill(pid, signal.SIGKILL)
            self.wait_for_crash()
        else:
            self.admin().execute(f"SELECT pg_{how}_backend(%s)", [pid])

    def wait_for_crash(self):
        """Until the server has ended all connections: one made before that would be ended too."""
        try:
            while True:
                self.admin().execute("SELECT 1")
                time.sleep(0.005)
        except psycopg.OperationalError:
            pass

    def rolled_back(self):
        """What is charged stays charged; everything else is as it was."""
        (operation,) = self.step
        self.said.append(("rollback", self.step))
        running = self.prepare(operation, operation.by)
        ok, after = operation.apply(self.model)
        with running.connection.transaction() as outer:
            try:
                with running.connection.transaction():
                    running.connection.execute(running.statement)
                assert ok
            except psycopg.Error as error:
                assert not ok, error
            raise psycopg.Rollback(outer)
        self.model.spent = after.spent
        self.settle([])

    def settle(self, ended):
        """Compares the database with the model: they agree for one order of what ran at the same time."""
        self.said.append([outcome for _, outcome in ended])
        states = states_after(self.model, ended)
        observed = self.observe()
        for state in states:
            expected = json.loads(json.dumps(state.state()))
            if self.agrees(expected, observed) and self.holds(state):
                self.model = state
                break
        else:
            expected = [json.dumps(s.state()) for s in states]
            pytest.fail(
                f"there is {json.dumps(observed)}\nand not one of {expected}\nafter {self.said}"
            )
        found = self.admin().execute(AGREED)
        agreed = dict(zip((column.name for column in found.description), found.fetchone()))
        assert all(agreed.values()), (agreed, self.said)
        outcomes = [outcome for _, outcome in ended]
        # What failed beside another one may have been charged before.
        beside = len(outcomes) > 1 and "failed" in outcomes
        self.count_spent(beside or "stopped" in outcomes or "unknown" in outcomes)

    def observe(self):
        rows = self.admin().execute(OBSERVED, self.names).fetchall()
        assert len(rows) == 1, rows
        return rows[0][0]

    def agrees(self, expected, observed):
        releases = {name: of[:5] for name, of in expected["releases"].items()}
        return {**expected, "releases": releases} == observed

    def holds(self, state):
        """Whether the tables of releases hold the rows of the source as it was then."""
        for release in state.releases.values():
            shown = ", min(version)::int8, max(version)::int8" if release.shows_version else ""
            found = self.admin().execute(
                f"SELECT count(*){shown} FROM {state.schema}.{release.name}"
            )
            versions = (release.version,) * 2 if release.shows_version else ()
            if found.fetchone() != (release.rows, *versions):
                return False
        return True

    def count_spent(self, open_end):
        """A charge stands, whatever becomes of what it was for. The ledger commits it by itself, so that of an
        operation that was stopped may come later."""
        self.on_the_way += open_end
        (spent,) = (
            self.admin()
            .execute(
                "SELECT epsilon_spent FROM sanitize.protection WHERE source = to_regclass(%s)",
                [f"{self.model.schema}.people"],
            )
            .fetchone()
        )
        charges = round((float(spent) - self.model.spent) / PRICE, 6)
        assert charges in range(self.on_the_way + 1), (spent, self.model.spent, self.said)
        self.on_the_way -= int(charges)
        self.model.spent = float(spent)

    def end(self):
        for (schema,) in self.admin().execute(
            "SELECT nspname FROM pg_namespace WHERE nspname = %s OR nspname LIKE %s", self.names
        ):
            self.admin().execute(f"DROP SCHEMA {schema} CASCADE")
        left = self.admin().execute("SELECT count(*) FROM sanitize.releases").fetchone()
        assert left == (0,)


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_the_record_and_the_tables_agree(server, seed):
    sequence = Sequence(server, seed)
    try:
        for step in range(STEPS):
            sequence.run(last=step == STEPS - 2)
            if step == STEPS // 2 and sequence.has(RESTORED):
                sequence.said.append(("restore", []))
                server.restore()
                sequence.model.restore()
                sequence.settle([])
    finally:
        sequence.end()
