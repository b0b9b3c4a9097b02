-- What is public: a foreign key gives a domain only if it refers to a relation that tells nothing of the same units
-- and nothing of anybody who is protected, and public_source is such a relation too.
SET client_min_messages = warning;
CREATE SCHEMA known;
SET search_path = known;
CREATE TABLE wards (ward text PRIMARY KEY);
INSERT INTO wards VALUES ('a'), ('b');
CREATE TABLE employees (id int PRIMARY KEY, boss int REFERENCES employees, ward text REFERENCES wards);
INSERT INTO employees SELECT i, nullif(i / 2, 0), 'a' FROM generate_series(1, 20) AS i;

-- A key to the table itself is no domain; one to a public list is.
SELECT column_name, domain_values, origin FROM sanitize.domains WHERE source = 'employees'::regclass;
SELECT * FROM sanitize.column_bounds('employees', 'boss');
SELECT sanitize.dp_synthesizer('employees', 0.01, columns => '{boss}');
SELECT count(*) FROM sanitize.randomize_cells(NULL::employees, 1, columns => '{boss}');
SELECT count(*) FROM sanitize.dp_mii_sample(NULL::employees, 1, 0.1, 2, columns => '{boss}', scheme => 'dp_counts');
SELECT sanitize.dp_synthesizer('employees', 1, columns => '{ward}', seed => 1) -> 'columns' AS columns;

-- Two keys of one column: the public one counts.
CREATE TABLE numbers (n int PRIMARY KEY);
INSERT INTO numbers SELECT generate_series(0, 3);
CREATE TABLE twice (id int PRIMARY KEY, n int CONSTRAINT a_own REFERENCES twice CONSTRAINT b_list REFERENCES numbers);
SELECT * FROM sanitize.column_domain('twice', 'n');

-- Patients and stays: the unit of stays, what it refers to, and what else refers there.
CREATE TABLE patients (id int PRIMARY KEY, name text);
CREATE TABLE cards (card int PRIMARY KEY, owner int REFERENCES patients);
CREATE TABLE swipes (swipe int PRIMARY KEY, card int REFERENCES cards);
CREATE TABLE stays (stay int PRIMARY KEY, patient int REFERENCES patients, ward text REFERENCES wards,
    card int REFERENCES cards, swipe int REFERENCES swipes);
INSERT INTO patients SELECT i, 'p' || i FROM generate_series(1, 9) AS i;
INSERT INTO cards SELECT i, i FROM generate_series(1, 9) AS i;
INSERT INTO swipes SELECT i, i FROM generate_series(1, 9) AS i;
CREATE VIEW known AS SELECT column_name, domain_values FROM sanitize.domains WHERE source = 'stays'::regclass;
SELECT * FROM known;
SELECT sanitize.protect('stays', 'patient', 5, max_rows_per_unit => 3);
SELECT * FROM known;
-- What the units of a protected relation are is public for nobody.
CREATE TABLE letters (letter int PRIMARY KEY, patient int REFERENCES patients, ward text REFERENCES wards);
SELECT column_name, domain_values FROM sanitize.domains WHERE source = 'letters'::regclass;
SELECT sanitize.unprotect('stays');
-- Nor if a view of them is what is protected: its lists stay public.
CREATE VIEW lying AS SELECT s.patient, w.ward FROM stays AS s JOIN wards AS w USING (ward);
SELECT sanitize.protect('lying', 'patient', 5, max_rows_per_unit => 3);
SELECT column_name, domain_values FROM sanitize.domains WHERE source = 'letters'::regclass;
SELECT * FROM known;
SELECT sanitize.unprotect('lying');
-- A view that cannot be followed makes all that it reads private.
CREATE VIEW first AS SELECT s.patient, w.ward FROM stays AS s JOIN wards AS w USING (ward) LIMIT 5;
SELECT sanitize.protect('first', 'patient', 5, max_rows_per_unit => 1, assume_stable => true);
SELECT * FROM known;
SELECT sanitize.unprotect('first');

-- Partitions and children, from either side.
CREATE TABLE events (id int, parent int, at int, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
CREATE TABLE events_1 PARTITION OF events (UNIQUE (id)) FOR VALUES FROM (0) TO (10);
CREATE TABLE events_2 PARTITION OF events (FOREIGN KEY (parent) REFERENCES events_1 (id)) FOR VALUES FROM (10) TO (20);
INSERT INTO events VALUES (1, NULL, 1), (2, NULL, 2), (3, 1, 11);
SELECT * FROM sanitize.column_domain('events_2', 'parent');

-- Row security.
CREATE TABLE hidden (h int PRIMARY KEY);
INSERT INTO hidden VALUES (1), (2);
CREATE TABLE pointing (id int PRIMARY KEY, h int REFERENCES hidden);
SELECT * FROM sanitize.column_domain('pointing', 'h');
ALTER TABLE hidden ENABLE ROW LEVEL SECURITY;
SELECT * FROM sanitize.column_domain('pointing', 'h');
SELECT sanitize.dp_synthesizer('pointing', 1, columns => '{h}');

-- A table that says what is rare: not the rows themselves, however they are named.
CREATE TABLE people (id int PRIMARY KEY, zip text, job text);
INSERT INTO people SELECT i, 'z' || i % 3, 'j' || i % 2 FROM generate_series(1, 60) AS i;
CREATE TABLE census AS SELECT zip, job FROM people WHERE false;
CREATE VIEW same_people AS SELECT zip, job FROM people;
CREATE VIEW same_again AS SELECT upper(zip) AS zip, job FROM same_people WHERE zip <> 'z9';
CREATE MATERIALIZED VIEW kept_people AS SELECT zip, job FROM people;
CREATE TABLE heirs () INHERITS (people);
CREATE TABLE about_people (person int REFERENCES people, zip text, job text);
CREATE FUNCTION reading() RETURNS TABLE (zip text, job text) LANGUAGE sql IMMUTABLE AS 'SELECT zip, job FROM people';
CREATE VIEW by_function AS SELECT zip, job FROM reading();
CREATE VIEW by_query AS SELECT word AS zip, word AS job FROM ts_stat('SELECT to_tsvector(zip) FROM people');
CREATE TABLE policed AS SELECT zip, job FROM census;
ALTER TABLE policed ENABLE ROW LEVEL SECURITY;
CREATE TABLE others (id int PRIMARY KEY, zip text, job text);
SELECT sanitize.protect('others', 'id', 5);
CREATE VIEW of_others AS SELECT zip, job FROM others;
CREATE VIEW of_census AS SELECT zip, job FROM census;
CREATE VIEW of_census_counted AS SELECT upper(zip) AS zip, count(*)::text AS job FROM census GROUP BY zip;
CREATE TYPE kind AS ENUM ('j0', 'j1');
CREATE VIEW of_census_by_kind AS SELECT zip, 'j0'::kind::text AS job FROM census;
-- Nor what was made of them without a proof, but what is differentially private.
SELECT sanitize.publish('released', 'people', 'impute', '{"columns": ["zip", "job"]}') IS NOT NULL AS released;
SELECT sanitize.publish('released_again', 'same_people', 'k_anonymize', '{"k": 2}') IS NOT NULL AS released;
CREATE VIEW of_released AS SELECT zip, job FROM released_again;
CREATE TABLE above_released (zip text, job text);
ALTER TABLE released INHERIT above_released;
SELECT sanitize.declare_domain('people', 'zip', '{z0,z1,z2}'), sanitize.declare_domain('people', 'job', '{j0,j1}');
SELECT sanitize.publish('synthetic', 'people', 'dp_synthesize', '{"epsilon": 1, "columns": ["zip", "job"]}') IS NOT NULL AS released;
-- Nor what only looks like something else.
CREATE FOREIGN DATA WRAPPER unknown;
CREATE SERVER away FOREIGN DATA WRAPPER unknown;
CREATE FOREIGN TABLE far (zip text, job text) SERVER away;
CREATE TABLE above_far (zip text, job text);
ALTER FOREIGN TABLE far INHERIT above_far;
CREATE VIEW of_far AS SELECT zip, job FROM far;
CREATE FUNCTION concatenated(text, int) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT max(zip) || $1 FROM people LIMIT $2';
CREATE OPERATOR |+| (LEFTARG = text, RIGHTARG = int, FUNCTION = concatenated);
CREATE VIEW by_operator AS SELECT zip |+| 1 AS zip, job FROM census;
CREATE FUNCTION is_there(text) RETURNS bool LANGUAGE sql AS 'SELECT EXISTS (SELECT FROM people WHERE zip = $1)';
CREATE DOMAIN there AS text CHECK (is_there(VALUE));
CREATE VIEW by_domain AS SELECT zip::there::text AS zip, job FROM census;
CREATE VIEW by_input AS SELECT zip, job::there[]::text AS job FROM census;
CREATE VIEW by_catalog AS SELECT reltuples::text AS zip, relname::text AS job FROM pg_class WHERE relname = 'people';
CREATE VIEW by_statistics AS SELECT most_common_vals::text AS zip, attname::text AS job FROM pg_stats WHERE tablename = 'people';
CREATE VIEW by_size AS SELECT pg_relation_size(to_regclass('people'))::text AS zip, 'j0' AS job;
CREATE SEQUENCE counting;
CREATE VIEW by_sequence AS SELECT last_value::text AS zip, 'j0' AS job FROM counting;
CREATE VIEW by_records AS SELECT rows::text AS zip, method AS job FROM sanitize.published;
CREATE FUNCTION ask(public_source regclass) RETURNS text LANGUAGE plpgsql AS $$
DECLARE told text; why text;
BEGIN
    PERFORM FROM sanitize.dp_mii_sample(NULL::people, 1, 0.1, 2, columns => '{zip,job}', public_source => $1, theta1 => 1);
    RETURN 'taken';
EXCEPTION WHEN invalid_parameter_value THEN
    GET STACKED DIAGNOSTICS told = MESSAGE_TEXT, why = PG_EXCEPTION_DETAIL;
    RETURN told || ': ' || substring(why FROM ': (.*)');
END $$;
SELECT relation, ask(relation) FROM unnest('{people,same_people,same_again,kept_people,heirs,about_people,by_function,
    by_query,policed,others,of_others,released,released_again,of_released,above_released,far,above_far,of_far,by_operator,by_domain,by_input,
    by_catalog,pg_stats,by_statistics,by_size,by_sequence,by_records,
    census,of_census,of_census_counted,of_census_by_kind,synthetic}'::regclass[]) AS relation;
-- From the other side: what a release was made of.
SELECT count(*) FROM sanitize.dp_mii_sample(NULL::released, 1, 0.1, 2, columns => '{zip,job}', public_source => 'people', theta1 => 1);
SELECT count(*) FROM sanitize.dp_mii_sample(NULL::people, 1, 0.1, 2, public_source => 'people');

-- The condition of a unique index: it holds for some rows only, so the column is no key.
CREATE TABLE rows_of (id int NOT NULL, x int);
INSERT INTO rows_of SELECT 1, i % 10 FROM generate_series(1, 100) AS i;
SELECT sanitize.declare_bounds('rows_of', 'x', '0', '9');
CREATE UNIQUE INDEX ON rows_of (id) WHERE x < 0;
SELECT sanitize.protect('rows_of', 'id', 1e5, max_rows_per_unit => 1);
-- One unit: one row of it counts, not a hundred.
SELECT value < 50 AS one_row FROM sanitize.dp_aggregate('rows_of', '{"n": "count"}', 100);
TRUNCATE rows_of;
INSERT INTO rows_of SELECT i, i % 10 FROM generate_series(1, 100) AS i;
CREATE UNIQUE INDEX ON rows_of (id);
SELECT value > 50 AS all_rows FROM sanitize.dp_aggregate('rows_of', '{"n": "count"}', 100);
SELECT sanitize.unprotect('rows_of'), sanitize.unprotect('others');
DROP SCHEMA known CASCADE;
DROP FOREIGN DATA WRAPPER unknown CASCADE;
