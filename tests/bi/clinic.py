"""Releases to look at, on a server of their own on the loopback, where drivers without sockets reach it."""

import secrets
import socket

from helpers import OwnServer
from psycopg import sql

# Invented patients; a row follows from its number, so that everybody sees the same.
PATIENTS = """
    CREATE FUNCTION draw(id int, subject text) RETURNS float8 IMMUTABLE LANGUAGE sql
        RETURN (hashint8extended(id, hashtextextended(subject, 0)) & 1048575) / 1048576.0;
    CREATE TABLE patients AS
    SELECT id,
           CASE WHEN draw(id, 'sex') < 0.53 THEN 'f' ELSE 'm' END AS sex,
           (20 + 20 * floor(4 * draw(id, 'age')))::int AS age,
           (ARRAY['Cardiology', 'Maternity', 'Oncology', 'Orthopaedics', 'Surgery'])
               [1 + floor(5 * power(draw(id, 'ward'), 1.4))::int]::varchar(40) AS ward,
           (date '2026-01-01' + floor(draw(id, 'month') * 3) * interval '1 month')::date AS admitted,
           (ARRAY[1.5, 4, 12])[1 + floor(3 * power(draw(id, 'days'), 2))::int]::numeric(5, 1) AS days,
           0 AS version
      FROM generate_series(1, 5000) AS id;
    ALTER TABLE patients ADD PRIMARY KEY (id);
    COMMENT ON COLUMN patients.ward IS 'Where the patient lay';
    COMMENT ON COLUMN patients.age IS 'The youngest of twenty years';
    COMMENT ON COLUMN patients.admitted IS 'The first day of the month';
    COMMENT ON COLUMN patients.days IS 'Length of the stay';
"""
RELEASE = """SELECT sanitize.publish('patients_public', 'patients', 'k_anonymize',
    '{"k": 6, "columns": ["sex", "age", "ward", "admitted", "days", "version"]}',
    'Patients of the clinic, for analysts.')"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


class Clinic:
    """The database with the release, and how an analyst logs in who may read nothing else."""

    host, name, analyst = "127.0.0.1", "clinic", "analyst"

    def __init__(self):
        self.password = secrets.token_hex(16)
        self.server = OwnServer(free_port(), listen=self.host)
        self.server.initialise()
        self.server.start()
        with self.server.connect(dbname="postgres", user="postgres") as admin:
            admin.execute(f"CREATE DATABASE {self.name}")
            password = sql.Literal(self.password)
            admin.execute(sql.SQL("CREATE ROLE analyst LOGIN PASSWORD {}").format(password))
            admin.execute("ALTER ROLE analyst SET default_transaction_read_only = on")
        with self.admin() as admin:
            admin.execute("CREATE EXTENSION pg_sanitize")
            admin.execute(PATIENTS)
            admin.execute(RELEASE)
            admin.execute("GRANT SELECT ON patients_public TO analyst")
        ((self.rows,),) = self.released("SELECT count(*) FROM patients_public")

    @property
    def port(self):
        return self.server.port

    def admin(self):
        return self.server.connect(dbname=self.name, user="postgres")

    def renew(self):
        """Makes the release anew, of rows of a later version."""
        with self.admin() as admin:
            admin.execute("UPDATE patients SET version = version + 1")
            admin.execute("SELECT sanitize.refresh('patients_public')")

    def released(self, query):
        with self.admin() as admin:
            return admin.execute(query).fetchall()
