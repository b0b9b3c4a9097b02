-- Drafts: releases that nobody but their owner reads. They do not count as earlier releases until they are approved.
SET client_min_messages = notice;
CREATE TABLE stays AS SELECT i AS id, i % 3 AS ward, i % 2 = 0 AS smoker FROM generate_series(1, 60) AS i;
CREATE ROLE regress_draft_reader;
CREATE FUNCTION pg_temp.composed(label jsonb) RETURNS SETOF text LANGUAGE sql AS
    $$SELECT line FROM jsonb_array_elements_text(label -> 'not_covered') AS line WHERE line LIKE 'composition%'$$;
-- Three tries, of which none counts.
SELECT label -> 'draft' AS draft, pg_temp.composed(label) FROM sanitize.publish('shown', 'stays', 'k_anonymize', '{"k": 5, "columns": ["ward"], "draft": true}') AS label;
SELECT label -> 'draft' AS draft, pg_temp.composed(label) FROM sanitize.publish('shown', 'stays', 'k_anonymize', '{"k": 10, "columns": ["ward", "smoker"], "draft": true}', 'Wards') AS label;
SELECT label -> 'draft' AS draft, pg_temp.composed(label) FROM sanitize.refresh('shown') AS label;
SELECT obj_description('shown'::regclass) ~ '^A draft: .*\nWards\n' AS said;
SELECT options -> 'draft' AS draft, guarantee -> 'draft' AS label FROM sanitize.releases WHERE target = 'shown'::regclass;
-- Approved as it is: the rows stay.
CREATE TEMP TABLE before AS SELECT xmin::text AS written, * FROM shown;
SELECT label ? 'draft' AS draft, label -> 'rows' AS rows, pg_temp.composed(label) FROM sanitize.approve('shown') AS label;
SELECT count(*) FROM (SELECT * FROM before EXCEPT ALL SELECT xmin::text, * FROM shown) AS changed;
SELECT obj_description('shown'::regclass) ~ '^Wards\n' AS said, options, guarantee ? 'draft' AS draft FROM sanitize.releases WHERE target = 'shown'::regclass;
SELECT sanitize.approve('shown');
SELECT sanitize.approve('stays');
-- The next one comes after one release, and a draft of it as well.
SELECT pg_temp.composed(label) FROM sanitize.publish('second', 'stays', 'mii_suppress', '{"theta": 2, "columns": ["ward", "smoker"], "draft": true}') AS label;
SELECT pg_temp.composed(label) FROM sanitize.publish('third', 'stays', 'mii_suppress', '{"theta": 3, "columns": ["ward", "smoker"]}') AS label;
-- What was released meanwhile counts for the draft when it is approved.
SELECT pg_temp.composed(label) FROM sanitize.approve('second') AS label;
SELECT pg_temp.composed(label) FROM sanitize.refresh('second') AS label;
-- A draft that was granted to somebody counts, approved or not, and also after the grant is taken back.
SELECT pg_temp.composed(label) FROM sanitize.publish('lent', 'stays', 'mii_suppress', '{"theta": 4, "columns": ["ward"], "draft": true}') AS label;
GRANT SELECT (ward) ON lent TO regress_draft_reader;
SELECT pg_temp.composed(label) FROM sanitize.publish('fifth', 'stays', 'mii_suppress', '{"theta": 5, "columns": ["ward"], "draft": true}') AS label;
SELECT sanitize.publish('lent', 'stays', 'mii_suppress', '{"theta": 4, "columns": ["ward"], "draft": true}');
REVOKE SELECT (ward) ON lent FROM regress_draft_reader;
SELECT pg_temp.composed(label) FROM sanitize.refresh('fifth') AS label;
-- What was promised for the rows of a draft stays: they were made before anybody said who is a unit.
CREATE TABLE visits (person int NOT NULL, sex text NOT NULL CHECK (sex IN ('f', 'm')));
INSERT INTO visits SELECT i, CASE i % 4 WHEN 0 THEN 'f' ELSE 'm' END FROM generate_series(1, 200) AS i;
SELECT label ->> 'unit' AS unit FROM sanitize.publish('drawn', 'visits', 'dp_synthesize', '{"epsilon": 1, "columns": ["sex"], "draft": true}') AS label;
CREATE TEMP TABLE told AS SELECT guarantee - 'draft' AS label FROM sanitize.releases WHERE target = 'drawn'::regclass;
SELECT sanitize.protect('visits', 'person', 10, 0.1, max_rows_per_unit => 2);
SELECT now = label AS as_it_was, now ->> 'sentence' ~ 'any one row is' AS row FROM told, sanitize.approve('drawn') AS now;
SELECT obj_description('drawn'::regclass) = label ->> 'sentence' AS commented FROM told;
SELECT sanitize.unprotect('visits');
DROP TABLE visits, drawn, told;
-- A draft that others could read counts when it is retired, when it is refreshed meanwhile, and when its owner changes; one
-- whose table is dropped counts as well. The label of a new draft tells how many count.
CREATE TABLE nights AS SELECT * FROM stays;
CREATE FUNCTION pg_temp.draft(target text) RETURNS text LANGUAGE sql AS
    $$SELECT pg_temp.composed(sanitize.publish(target, 'nights', 'mii_suppress', '{"theta": 4, "columns": ["ward"], "draft": true}'))$$;
SET client_min_messages = warning;
SELECT pg_temp.draft('d1');
SELECT sanitize.retire('d1');
SELECT pg_temp.draft('d2');
GRANT SELECT ON d2 TO PUBLIC;
SELECT sanitize.retire('d2');
SELECT pg_temp.draft('d3');
DROP TABLE d3;
SELECT pg_temp.draft('d4');
GRANT SELECT ON d4 TO PUBLIC;
SELECT pg_temp.composed(label) FROM sanitize.refresh('d4') AS label;
REVOKE SELECT ON d4 FROM PUBLIC;
SELECT pg_temp.draft('d5');
ALTER TABLE d5 OWNER TO regress_draft_reader;
SELECT pg_temp.draft('d6');
DROP TABLE nights, d4, d5, d6;
SET client_min_messages = notice;
-- What makes no sense.
SELECT sanitize.publish('sixth', 'stays', 'mii_suppress', '{"theta": 5, "draft": "yes"}');
SELECT sanitize.sanitize_in_place('stays', 'mii_suppress', '{"theta": 5, "draft": true}', confirm => 'stays');
SET ROLE regress_draft_reader;
SELECT sanitize.approve('fifth');
RESET ROLE;
DROP TABLE stays, shown, second, third, lent, fifth;
DROP ROLE regress_draft_reader;
