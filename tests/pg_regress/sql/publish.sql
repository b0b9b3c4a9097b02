-- Releases as tables: published, refreshed, retired.
SET client_min_messages = warning;
CREATE SCHEMA pub;
GRANT USAGE, CREATE ON SCHEMA pub TO PUBLIC;
SET search_path = pub, public;
CREATE DOMAIN grade AS int CHECK (VALUE BETWEEN 1 AND 5);
CREATE TABLE patients (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, gone text, sex text NOT NULL COLLATE "C", age numeric(4, 0) CHECK (age > 0),
    "Zip code" varchar(5) DEFAULT '00000', born date, g grade, double numeric GENERATED ALWAYS AS (age * 2) STORED) WITH (fillfactor = 90);
ALTER TABLE patients DROP COLUMN gone;
COMMENT ON COLUMN patients.age IS 'in years, when admitted';
INSERT INTO patients (sex, age, "Zip code", born, g) SELECT CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END, 20 + i % 3 * 10, '101' || i % 2,
       DATE '2000-01-01' + i % 2, 1 + i % 2 FROM generate_series(1, 120) AS i;
INSERT INTO patients (sex, age, "Zip code", born, g) VALUES ('f', 99, '9999', '1920-01-01', 5);
-- Published: the label, the table, its types and comments.
SELECT jsonb_pretty(sanitize.publish('released', 'patients', 'k_mii', '{"k": 5, "columns": ["sex", "age", "Zip code", "born", "g"]}', 'Patients of the year.'));
SELECT attname, format_type(atttypid, atttypmod), attcollation::regcollation, attnotnull, atthasdef, attidentity, attgenerated,
       col_description(attrelid, attnum)
  FROM pg_attribute WHERE attrelid = 'released'::regclass AND attnum > 0 ORDER BY attnum;
SELECT obj_description('released'::regclass);
SELECT relacl, relowner = current_user::regrole AS own FROM pg_class WHERE oid = 'released'::regclass;
SELECT count(*), count(id) AS ids, count(age), sanitize.k_anonymity('released') FROM released;
SELECT target, source, method, options, guarantee ->> 'kind' AS kind, guarantee ->> 'rows' AS said, rows, round(suppressed_share::numeric, 4) AS share,
       published_by = current_user AS by, epsilon_total FROM sanitize.releases WHERE source = 'patients'::regclass;
-- Refreshed: what depends on the table stays, and the second syntactic release says so.
CREATE VIEW ages AS SELECT age, count(*) FROM released GROUP BY age;
CREATE INDEX released_age ON released (age);
GRANT SELECT ON released TO PUBLIC;
INSERT INTO patients (sex, age, "Zip code", born, g) SELECT 'f', 70, '1010', '2000-01-01', 1 FROM generate_series(1, 10);
SET client_min_messages = notice;
SELECT l ->> 'rows' AS rows, l -> 'not_covered' AS not_covered FROM sanitize.refresh('released') AS l;
SET client_min_messages = warning;
SELECT * FROM ages ORDER BY age;
SELECT obj_description('released'::regclass);
SELECT has_table_privilege('pg_monitor', 'released', 'SELECT') AS granted, count(*) AS indexes FROM pg_index WHERE indrelid = 'released'::regclass;
-- Replaced by another method; rows come in the order of the method.
SELECT l ->> 'kind' AS kind, l ->> 'rows' AS rows FROM sanitize.publish('pub."released"', 'patients', 'shuffle_groups', '{"groups": [["sex", "age"], ["g"]], "seed": 7}') AS l;
SELECT array_agg(r.ctid ORDER BY r.ctid) IS NOT NULL AND count(*) = 131 AS all FROM released AS r;
SELECT count(*) AS moved FROM (SELECT row_number() OVER (ORDER BY ctid), sex, age, g FROM released
    EXCEPT SELECT ordinality, sex, age, g FROM sanitize.shuffle_groups(NULL::patients, '[["sex", "age"], ["g"]]', seed => 7) WITH ORDINALITY) AS d;
SELECT count(*) FROM sanitize.releases WHERE target = 'released'::regclass;
-- Every method that makes rows of the source.
CREATE TABLE census AS SELECT sex FROM patients;
SELECT sanitize.declare_domain('patients', 'sex', '{f,m}'), sanitize.declare_domain('patients', 'g', '{1,2,3,4,5}');
SELECT m, l ->> 'kind' AS kind, (l ->> 'rows')::int >= 0 AS rows, l ? 'suppressed_share' AS share FROM (VALUES
    ('mii_suppress', '{"theta": 4}'), ('k_anonymize', '{"k": 5, "keep": ["g"], "weights": {"age": 2}}'), ('k_mii', '{"k": 5, "max_length": null}'),
    ('dp_mii_sample', '{"epsilon": 3, "delta": 1e-2, "k": 2, "public_source": "census", "columns": ["sex"]}'),
    ('krimp_generate', '{"n": 30, "min_support": 20, "columns": ["sex", "g"]}'), ('code_tree_generate', '{"n": 30, "columns": ["sex", "g"]}'),
    ('private_krimp_generate', '{"epsilon": 2, "n": 30, "columns": ["sex", "g"]}'), ('randomize_cells', '{"epsilon": 2, "columns": ["sex", "g"]}'),
    ('dp_synthesize', '{"epsilon": 2, "n": 30, "columns": ["sex", "g"]}'), ('impute', '{"columns": ["sex"]}')) AS t(m, o),
    sanitize.publish('release_' || m, 'patients', m, o::jsonb) AS l ORDER BY m;
SELECT options FROM sanitize.releases WHERE target = 'release_dp_mii_sample'::regclass;
-- Methods with columns of their own; a protected source is charged by each of them, and refuses when its budget is spent.
CREATE TABLE stays AS SELECT i AS person, 'w' || i % 2 AS ward FROM generate_series(1, 500) AS i;
SELECT sanitize.protect('stays', 'person', 2.5, max_rows_per_unit => 1);
SELECT l -> 'epsilon' AS epsilon, l -> 'unit' AS unit, l ->> 'mechanism' AS mechanism, l ->> 'rows' AS rows, l ? 'left_out' AS left_out FROM sanitize.publish('wards', 'stays', 'dp_aggregate',
    '{"measures": {"n": "count"}, "epsilon": 1, "group_by": ["ward"], "groups": ["w0", "w1"]}') AS l;
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'wards'::regclass AND attnum > 0 ORDER BY attnum;
SELECT groups, measure, abs(value - 250) < 60 AS near FROM wards ORDER BY groups;
SELECT sanitize.refresh('wards') -> 'rows' AS rows;
SELECT epsilon_total, rows, suppressed_share FROM sanitize.releases WHERE target = 'wards'::regclass;
CREATE TABLE before AS TABLE wards;
SELECT sanitize.refresh('wards');
SELECT count(*) AS changed FROM (TABLE wards EXCEPT ALL TABLE before) AS d;
SELECT epsilon_spent FROM sanitize.budget WHERE source = 'stays'::regclass;
-- More columns than a function has arguments.
DO $$ BEGIN EXECUTE (SELECT format('CREATE TABLE wide AS SELECT %s FROM generate_series(1, 20) AS i', string_agg(format('CASE WHEN i > 1 THEN %s END AS c%s', c, c), ', '))
    FROM generate_series(1, 250) AS c); END $$;
SELECT l ->> 'rows' AS rows, round((l ->> 'suppressed_share')::numeric, 4) AS share FROM sanitize.publish('wide_release', 'wide', 'shuffle_groups',
    (SELECT jsonb_build_object('groups', jsonb_agg(jsonb_build_array('c' || c))) FROM generate_series(1, 250) AS c)) AS l;
-- What makes no sense.
\set VERBOSITY default
SELECT sanitize.publish(NULL, 'patients', 'k_mii', '{"k": 5}');
SELECT sanitize.publish('x', NULL, 'k_mii', '{"k": 5}');
SELECT sanitize.publish('x', 'patients', NULL);
SELECT sanitize.publish('x', 'patients', 'k_mii', NULL);
SELECT sanitize.publish('x', 'patients', 'k_mii', '[5]');
SELECT sanitize.publish('x', 'patients', 'k_mii', '{"k": 5, "kk": 1}');
SELECT sanitize.publish('x', 'patients', 'k_mii', '{"k": 5, "source": "patients"}');
SELECT sanitize.publish('x', 'patients', 'k_mii');
SELECT sanitize.publish('x', 'patients', 'krimp_generate', '{"min_support": 5}');
SELECT sanitize.publish('x', 'patients', 'k_mii', '{"k": 1}');
SELECT sanitize.publish('x', 'patients', 'k_mii', '{"k": "5"}');
SELECT sanitize.publish('x', 'patients', 'k_mii', '{"k": 500}');
SELECT sanitize.publish('x', 'patients', 'k_mii', '{"k": 5, "columns": ["sex", "nope"]}');
SELECT sanitize.publish('x', 'patients', 'k_mii', '{"k": 5, "columns": ["sex"], "keep": ["sex"]}');
\set VERBOSITY terse
SELECT sanitize.publish('x', 'patients', 'mine_miis', '{"theta": 5}');
SELECT sanitize.publish('x', 'patients', 'select_a_size', '{}');
SELECT sanitize.publish('x', 'patients', 'nope', '{}');
\set VERBOSITY default
SELECT sanitize.publish('', 'patients', 'k_mii', '{"k": 5}');
SELECT sanitize.publish('nowhere.x', 'patients', 'k_mii', '{"k": 5}');
SELECT sanitize.publish('elsewhere.pub.x', 'patients', 'k_mii', '{"k": 5}');
SELECT sanitize.publish('sanitize.x', 'patients', 'k_mii', '{"k": 5}');
SELECT sanitize.publish('pg_catalog.x', 'patients', 'k_mii', '{"k": 5}');
SELECT sanitize.publish('pg_toast.x', 'patients', 'k_mii', '{"k": 5}');
\set VERBOSITY terse
CREATE TEMP TABLE passing AS SELECT * FROM patients;
SELECT sanitize.publish('pg_temp.x', 'patients', 'k_mii', '{"k": 5}') IS NULL AS never;
SELECT sanitize.publish('x', 'passing', 'k_mii', '{"k": 5}');
SELECT sanitize.publish('x', 'patients_id_seq', 'k_mii', '{"k": 5}');
SELECT sanitize.publish('x', 'patients_pkey', 'k_mii', '{"k": 5}');
SELECT to_regclass('pub.x') AS nothing_made;
-- No release is overwritten that is none.
\set VERBOSITY default
SELECT sanitize.publish('patients', 'released', 'k_mii', '{"k": 5}');
SELECT sanitize.publish('ages', 'patients', 'k_mii', '{"k": 5}');
SELECT sanitize.refresh('patients');
SELECT sanitize.retire('patients');
SELECT sanitize.refresh(NULL);
SELECT sanitize.retire(NULL);
SELECT sanitize.refresh(0);
\set VERBOSITY terse
SELECT sanitize.publish('released', 'released', 'k_mii', '{"k": 5}');
SELECT sanitize.publish('released', 'stays', 'k_mii', '{"k": 5}');
-- A source of other columns, which take no part; a column of the owner's, whose values would go.
ALTER TABLE patients ADD COLUMN new int;
SELECT label -> 'rows' AS rows FROM sanitize.refresh('released') AS label;
ALTER TABLE patients DROP COLUMN new;
ALTER TABLE patients ALTER COLUMN "Zip code" TYPE varchar(6);
SELECT label -> 'rows' AS rows FROM sanitize.refresh('released') AS label;
ALTER TABLE patients ALTER COLUMN "Zip code" TYPE varchar(5);
ALTER TABLE released ADD COLUMN mine int DEFAULT 1;
SELECT sanitize.refresh('released');
ALTER TABLE released DROP COLUMN mine;
-- Nothing runs when a release is written.
CREATE FUNCTION surprise() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'ran'; END $$;
CREATE TRIGGER "My trigger" AFTER INSERT ON released EXECUTE FUNCTION surprise();
SELECT sanitize.refresh('released');
ALTER TABLE released DISABLE TRIGGER "My trigger";
SELECT sanitize.publish('released', 'patients', 'k_mii', '{"k": 5}');
DROP TRIGGER "My trigger" ON released;
CREATE RULE mine AS ON INSERT TO released DO ALSO SELECT 1;
SELECT sanitize.refresh('released');
DROP RULE mine ON released;
ALTER TABLE released ENABLE ROW LEVEL SECURITY;
SELECT sanitize.refresh('released');
ALTER TABLE released DISABLE ROW LEVEL SECURITY;
CREATE TABLE child () INHERITS (released);
SELECT sanitize.refresh('released');
DROP TABLE child;
ANALYZE released;
SELECT sanitize.refresh('released') -> 'rows' AS rows;
-- All or nothing.
BEGIN;
SELECT sanitize.publish('x', 'patients', 'k_mii', '{"k": 5}') -> 'rows' AS rows;
ROLLBACK;
SELECT to_regclass('pub.x'), count(*) FROM sanitize.releases WHERE target::text LIKE '%x';
BEGIN READ ONLY;
SELECT sanitize.publish('x', 'patients', 'k_mii', '{"k": 5}');
ROLLBACK;
-- Retired: only what nothing depends on.
\set VERBOSITY default
SELECT sanitize.retire('released');
\set VERBOSITY terse
DROP VIEW ages;
SELECT sanitize.retire('released');
SELECT to_regclass('released'), count(*) FROM sanitize.releases WHERE target::text = 'released';
-- That it was there still counts.
SELECT l -> 'not_covered' ->> -1 AS not_covered FROM sanitize.publish('released', 'patients', 'k_mii', '{"k": 5}') AS l;
-- Dropped by hand: no ghost, and the record goes with the next publish.
DROP TABLE released;
SELECT count(*) FROM sanitize.releases WHERE target::text LIKE '%released';
SELECT sanitize.refresh('wards') IS NULL AS never;
SELECT count(*) AS stale FROM sanitize.published AS p WHERE NOT EXISTS (SELECT FROM pg_class WHERE oid = target);
SELECT sanitize.publish('released', 'patients', 'k_mii', '{"k": 5}') IS NOT NULL AS published;
SELECT count(*) AS stale FROM sanitize.published AS p WHERE NOT EXISTS (SELECT FROM pg_class WHERE oid = target);
-- Others: who may see which releases, and who may change them.
CREATE ROLE regress_publisher;
CREATE ROLE regress_reader;
CREATE ROLE regress_stranger;
GRANT SELECT ON patients TO regress_publisher;
SET ROLE regress_publisher;
SELECT sanitize.publish('released', 'patients', 'k_mii', '{"k": 5}');
SELECT sanitize.refresh('released');
SELECT sanitize.retire('released');
SELECT sanitize.publish('mine', 'stays', 'k_mii', '{"k": 5}');
SELECT sanitize.publish('mine', 'patients', 'k_mii', '{"k": 5}') ->> 'rows' AS rows;
GRANT SELECT ON mine TO regress_reader;
INSERT INTO sanitize.published (target) SELECT target FROM sanitize.published;
DELETE FROM sanitize.release_entry;
SELECT target, options IS NULL AS hidden, rows, guarantee ? 'rows' AS told, guarantee ? 'k' AS labelled FROM sanitize.releases WHERE target::text IN ('mine', 'released') ORDER BY target::text COLLATE "C";
SET ROLE regress_reader;
SELECT target, options, rows FROM sanitize.releases WHERE target::text IN ('mine', 'released') ORDER BY target::text COLLATE "C";
SELECT sanitize.refresh('mine');
SET ROLE regress_stranger;
SELECT count(*) FROM sanitize.releases;
RESET ROLE;
-- The owner's rights hold, whoever refreshes.
SELECT sanitize.refresh('mine') ->> 'rows' AS rows;
REVOKE SELECT ON patients FROM regress_publisher;
SELECT sanitize.refresh('mine');
SELECT count(*) FROM mine;
SELECT relowner::regrole FROM pg_class WHERE oid = 'mine'::regclass;
SELECT sanitize.retire('mine');
RESET search_path;
DROP SCHEMA pub CASCADE;
DROP ROLE regress_publisher, regress_reader, regress_stranger;
