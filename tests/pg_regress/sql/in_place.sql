-- Tables sanitized in place: rows replaced, keys with what refers to them, everything else refused or listed.
SET client_min_messages = warning;
CREATE SCHEMA inplace;
SET search_path = inplace, public;
CREATE TABLE wards (code text PRIMARY KEY, name text);
CREATE TABLE patients (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, mother int REFERENCES patients ON DELETE SET NULL,
    ward text REFERENCES wards, sex text NOT NULL, age int CHECK (age > 0), gone text, double int GENERATED ALWAYS AS (age * 2) STORED,
    ssn varchar(12) UNIQUE NOT NULL);
ALTER TABLE patients DROP COLUMN gone;
CREATE TABLE visits (patient int NOT NULL REFERENCES patients ON DELETE CASCADE, n smallint, seen date, note text, PRIMARY KEY (patient, n, seen));
CREATE TABLE drugs (patient int, n smallint, seen date, drug text,
    FOREIGN KEY (patient, n, seen) REFERENCES visits ON UPDATE RESTRICT ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED);
INSERT INTO wards SELECT 'W' || i, 'Ward ' || i FROM generate_series(0, 9) AS i;
INSERT INTO patients (mother, ward, sex, age, ssn)
SELECT nullif(i / 7, 0), 'W' || i % 4, CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END, 20 + i % 3 * 10, 'S' || i FROM generate_series(1, 600) AS i;
INSERT INTO patients (ward, sex, age, ssn) VALUES ('W9', 'f', 104, 'S601');
INSERT INTO visits SELECT 1 + i % 601, i / 601, DATE '2000-01-01' + i, 'note ' || i FROM generate_series(0, 1500) AS i;
INSERT INTO drugs SELECT patient, n, seen, 'drug ' || patient FROM visits WHERE patient % 3 = 0;
INSERT INTO drugs VALUES (5, NULL, NULL, 'nobody''s');
CREATE STATISTICS several (mcv) ON sex, age FROM patients;
CREATE INDEX ON patients (upper(ssn));
ANALYZE;
CREATE TABLE before AS SELECT p.id, p.mother, p.sex, p.age, p.ward, p.ssn, v.n, v.seen, v.note FROM patients AS p JOIN visits AS v ON v.patient = p.id;
-- What is refused: no name, another one, methods and options, keys as columns, columns that would be NULL.
SELECT sanitize.sanitize_in_place('patients', 'k_mii', '{"k": 5}');
SELECT sanitize.sanitize_in_place('patients', 'k_mii', '{"k": 5}', 'visits');
SELECT sanitize.sanitize_in_place('patients', 'k_mii', '{"k": 5}', 'Patients');
SELECT sanitize.sanitize_in_place('patients', 'dp_aggregate', '{"epsilon": 1}', 'patients');
SELECT sanitize.sanitize_in_place('patients', 'k_mii', '{"k": 5, "kk": 1}', 'patients');
SELECT sanitize.sanitize_in_place('patients', 'k_mii', '{"k": 5, "columns": ["id", "sex"]}', 'patients');
SELECT sanitize.sanitize_in_place('patients', 'k_mii', '{"k": 5, "keep": ["mother"]}', 'patients');
SELECT sanitize.sanitize_in_place('patients', 'k_mii', '{"k": 5, "columns": ["age"]}', 'patients');
SELECT sanitize.sanitize_in_place('patients', 'mii_suppress', '{"theta": 300}', 'patients');
SELECT sanitize.sanitize_in_place('pg_catalog.pg_class', 'k_mii', '{"k": 5}', 'pg_class');
SELECT sanitize.sanitize_in_place('sanitize.published', 'k_mii', '{"k": 5}', 'published');
CREATE VIEW seen AS SELECT * FROM patients;
SELECT sanitize.sanitize_in_place('seen', 'k_mii', '{"k": 5}', 'seen');
SELECT count(sanitize.sanitize_in_place('patients', 'k_mii', '{"k": 5}', 'patients')) FROM patients;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT sanitize.sanitize_in_place('patients', 'k_mii', '{"k": 5}', 'patients');
ROLLBACK;
BEGIN;
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'ran'; END $$;
CREATE TRIGGER told AFTER UPDATE ON drugs EXECUTE FUNCTION tell();
SELECT sanitize.sanitize_in_place('patients', 'k_mii', '{"k": 5}', 'patients');
ROLLBACK;
BEGIN;
SELECT sanitize.protect('patients', 'id', 1);
SELECT sanitize.sanitize_in_place('patients', 'k_mii', '{"k": 5}', 'patients');
ROLLBACK;
BEGIN;
SELECT count(sanitize.publish('released', 'patients', 'k_mii', '{"k": 5}'));
SELECT sanitize.sanitize_in_place('released', 'k_mii', '{"k": 5}', 'released');
ROLLBACK;
-- Referring to nobody, which a constraint that was never validated allows.
BEGIN;
CREATE TABLE late (patient int NOT NULL);
INSERT INTO late VALUES (-7);
ALTER TABLE late ADD FOREIGN KEY (patient) REFERENCES patients NOT VALID;
SELECT sanitize.sanitize_in_place('patients', 'k_mii', '{"k": 5}', 'patients');
ROLLBACK;
BEGIN;
CREATE TABLE late (patient int);
INSERT INTO late VALUES (-7);
ALTER TABLE late ADD FOREIGN KEY (patient) REFERENCES patients NOT VALID;
SELECT sanitize.sanitize_in_place('patients', 'k_mii', '{"k": 5}', 'patients') -> 'rows' AS rows;
SELECT patient FROM late;
ROLLBACK;
SELECT count(*) AS as_before FROM patients AS p JOIN before AS b USING (id, ssn, sex, age);
-- Done. The row that stands alone is dropped, with its visits; nothing else goes.
SET client_min_messages = notice;
SELECT jsonb_pretty(sanitize.sanitize_in_place('patients', 'k_mii', '{"k": 5, "keep": ["ward"]}', 'patients') - 'sentence');
SET client_min_messages = warning;
SELECT count(*), count(mother) AS mothers, count(ward) AS wards, min(length(ssn)) AS ssn, max(length(ssn)), count(*) FILTER (WHERE double = age * 2) AS doubled,
       sanitize.k_anonymity('patients', columns => '{sex,age,ward}') FROM patients;
SELECT count(*) AS visits, count(p.id) AS with_patient, count(DISTINCT patient) AS patients FROM visits LEFT JOIN patients AS p ON p.id = patient;
SELECT count(*) AS drugs, count(v.note) AS with_visit FROM drugs LEFT JOIN visits AS v USING (patient, n, seen);
-- The same visits meet the same rows; every key is new. The key of the row that was dropped may be drawn again.
SELECT count(*) AS same FROM patients AS p JOIN visits AS v ON v.patient = p.id JOIN before AS b USING (note)
 WHERE (p.sex, p.age, p.ward) = (b.sex, b.age, b.ward) AND (p.mother IS NULL) = (b.mother IS NULL);
SELECT count(*) AS kept_keys FROM patients AS p JOIN before AS b ON p.id = b.id OR p.ssn = b.ssn OR p.mother = b.mother
 WHERE b.ssn <> 'S601';
-- Neither the planner nor a sequence knows the old ones; later rows get in.
SELECT count(*) FROM pg_stats WHERE schemaname = 'inplace' AND tablename = 'patients' OR tablename = 'patients_upper_idx'
    OR (tablename IN ('visits', 'drugs') AND schemaname = 'inplace' AND attname = 'patient');
SELECT count(*) FROM pg_stats_ext WHERE statistics_name = 'several' AND most_common_vals IS NOT NULL;
INSERT INTO patients (sex, ssn) VALUES ('f', 'later') RETURNING id > (SELECT max(patient) FROM visits) AS behind;
INSERT INTO visits VALUES (1, 1, '2000-01-01');
DELETE FROM patients WHERE ssn = 'later';
-- A table in the middle: part of its key refers to another table, part is of a type without random values.
SELECT l -> 'keys_replaced' AS keys_replaced, l -> 'left_alone' AS left_alone, l -> 'kept' AS kept
  FROM sanitize.sanitize_in_place('visits', 'k_mii', '{"k": 5, "columns": ["note"]}', 'inplace.visits') AS l;
SELECT count(*) AS drugs, count(v.patient) AS with_visit FROM drugs LEFT JOIN visits AS v USING (patient, n, seen);
-- Rows of nobody: more than before, then fewer, whose visits go with them.
SELECT l -> 'rows' AS rows, l ->> 'kind' AS kind FROM sanitize.sanitize_in_place('patients', 'krimp_generate', '{"n": 700, "min_support": 20, "columns": ["sex", "age", "ward"]}', 'patients') AS l;
SELECT count(*), count(DISTINCT id) AS ids, count(DISTINCT ssn) AS ssns, count(mother) AS mothers FROM patients;
SELECT count(*) AS visits, count(p.id) AS with_patient FROM visits LEFT JOIN patients AS p ON p.id = patient;
SELECT l -> 'rows' AS rows FROM sanitize.sanitize_in_place('patients', 'krimp_generate', '{"n": 300, "min_support": 20, "columns": ["sex", "age", "ward"]}', 'patients') AS l;
SELECT count(*), count(DISTINCT id) AS ids FROM patients;
SELECT count(*) = count(p.id) AS whole, count(*) < 1500 AS fewer FROM visits LEFT JOIN patients AS p ON p.id = patient;
-- A table without a key, one of one's own that is temporary, and a text key that little room is left for.
CREATE TABLE plain AS SELECT i % 2 AS a, i % 3 AS b FROM generate_series(1, 60) AS i;
SELECT l -> 'rows' AS rows, l -> 'keys_replaced' AS keys, l -> 'left_alone' AS left_alone
  FROM sanitize.sanitize_in_place('plain', 'shuffle_groups', '{"groups": [["a"], ["b"]]}', 'plain') AS l;
SELECT a, count(*), sum(b) > 0 AS b FROM plain GROUP BY a ORDER BY a;
CREATE TEMP TABLE own AS SELECT i::numeric(6, 2) AS id, gen_random_uuid() AS u, i % 2 AS a FROM generate_series(1, 60) AS i;
ALTER TABLE own ADD PRIMARY KEY (id, u);
CREATE TEMP TABLE own_before AS TABLE own;
SELECT l -> 'rows' AS rows, l -> 'keys_replaced' AS keys FROM sanitize.sanitize_in_place('own', 'mii_suppress', '{"theta": 2}', 'own') AS l;
SELECT count(*), count(b.id) AS kept FROM own AS o LEFT JOIN own_before AS b ON b.id = o.id OR b.u = o.u;
CREATE TABLE narrow AS SELECT (i % 8)::text::char(1) AS id, 1 AS a FROM generate_series(0, 7) AS i;
ALTER TABLE narrow ADD PRIMARY KEY (id);
SELECT sanitize.sanitize_in_place('narrow', 'mii_suppress', '{"theta": 1}', 'narrow');
DROP SCHEMA inplace CASCADE;
