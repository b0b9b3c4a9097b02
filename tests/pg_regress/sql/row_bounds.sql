-- How many rows of a unit count is said by the schema or by the owner: nobody's rows are dropped unseen.
\set VERBOSITY default
SET client_min_messages = warning;
CREATE TABLE stays (stay int PRIMARY KEY, patient int, ward text);
INSERT INTO stays SELECT row_number() OVER (), patient, 'A' FROM generate_series(1, 100) AS patient, generate_series(1, CASE WHEN patient = 1 THEN 41 WHEN patient <= 20 THEN 3 ELSE 1 END);
INSERT INTO stays SELECT 1000 + i, NULL, 'B' FROM generate_series(1, 7) AS i;
SELECT sanitize.protect('stays', 'patient', 1);
SELECT sanitize.protect('stays', 'patient', 1, max_rows_per_unit => NULL);
SELECT count(*) FROM sanitize.budget WHERE source = 'stays'::regclass;
-- Said by the schema, or by the owner.
SELECT sanitize.protect('stays', 'stay', 1);
SELECT sanitize.protect('stays', 'patient', 1, max_rows_per_unit => 3);
SELECT sanitize.unprotect('stays');
-- No key: it may be NULL, holds for some rows only, or is checked later; and no view has one.
CREATE TABLE loose (a int UNIQUE, b int NOT NULL, c int NOT NULL UNIQUE DEFERRABLE);
CREATE UNIQUE INDEX ON loose (b) WHERE b > 0;
SELECT sanitize.protect('loose', 'a', 1);
SELECT sanitize.protect('loose', 'b', 1);
SELECT sanitize.protect('loose', 'c', 1);
CREATE VIEW shown AS SELECT stay, patient FROM stays WHERE stay <= 1000;
SELECT sanitize.protect('shown', 'stay', 1);
-- What each bound keeps is told to owners alone, and after everything that can be refused without a look.
CREATE ROLE regress_rows_stranger;
GRANT SELECT ON stays TO regress_rows_stranger;
SET ROLE regress_rows_stranger;
SELECT sanitize.protect('stays', 'patient', 1);
-- The table's own rows are read as its owner reads them, whoever asks: no code of its owner gets a superuser's rights.
RESET ROLE;
CREATE SCHEMA regress_rows AUTHORIZATION regress_rows_stranger;
SET ROLE regress_rows_stranger;
CREATE FUNCTION regress_rows.who(i int) RETURNS int LANGUAGE plpgsql AS $$BEGIN IF current_user <> 'regress_rows_stranger' THEN RAISE 'I am %', current_user; END IF; RETURN i; END$$;
CREATE VIEW regress_rows.trap AS SELECT regress_rows.who(i) AS i FROM generate_series(1, 3) AS i;
RESET ROLE;
SELECT sanitize.protect('regress_rows.trap', 'i', 1, assume_stable => true);
DROP SCHEMA regress_rows CASCADE;
DROP VIEW shown;
DROP TABLE stays, loose;
DROP ROLE regress_rows_stranger;
