-- What others were granted on a release, and what they built on it, outlives another publish and changes of the source.
SET client_min_messages = warning;
CREATE TABLE stays AS SELECT i AS id, i % 3 AS ward, i % 2 = 0 AS smoker, 20 + i % 4 AS age FROM generate_series(1, 60) AS i;
CREATE ROLE regress_again_reader;
SELECT label -> 'rows' AS rows FROM sanitize.publish('shown', 'stays', 'k_anonymize', '{"k": 5, "columns": ["ward", "smoker"]}') AS label;
GRANT SELECT ON shown TO regress_again_reader;
CREATE VIEW by_ward AS SELECT ward, count(*) AS n FROM shown GROUP BY ward;
-- A column that has nothing to do with the release comes, changes its type, and goes.
ALTER TABLE stays ADD note text DEFAULT 'secret';
SELECT label -> 'rows' AS rows FROM sanitize.refresh('shown') AS label;
ALTER TABLE stays ALTER age TYPE numeric;
SELECT label -> 'rows' AS rows FROM sanitize.refresh('shown') AS label;
ALTER TABLE stays DROP age;
SELECT label -> 'rows' AS rows FROM sanitize.refresh('shown') AS label;
SELECT count(*), count(id) AS ids, count(age) AS ages, count(ward) AS wards FROM shown;
-- One that takes part does stop it: its readers would not expect it.
ALTER TABLE stays ALTER ward TYPE text;
SELECT sanitize.refresh('shown');
ALTER TABLE stays ALTER ward TYPE int USING ward::int;
-- Published again with other columns: grants and views stay.
SELECT label -> 'rows' AS rows FROM sanitize.publish('shown', 'stays', 'k_anonymize', '{"k": 4, "columns": ["ward", "note"]}') AS label;
SELECT has_table_privilege('regress_again_reader', 'shown', 'SELECT') AS granted;
SELECT * FROM by_ward ORDER BY ward;
SELECT count(note) AS notes, count(smoker) AS smokers FROM shown;
-- What depends on a column that would go is named.
SELECT sanitize.publish('shown', 'stays', 'generalize', '{"levels": {"ward": 1}, "ranges": "range"}');
SELECT sanitize.declare_hierarchy('stays', 'ward', '{"ranges": [2], "from": 0}');
SELECT sanitize.publish('shown', 'stays', 'generalize', '{"levels": {"ward": 1}, "columns": ["ward", "smoker"], "ranges": "range"}');
DROP VIEW by_ward;
SELECT label -> 'rows' AS rows FROM sanitize.publish('shown', 'stays', 'generalize', '{"levels": {"ward": 1}, "columns": ["ward", "smoker"], "ranges": "range"}') AS label;
SELECT ward, count(*) FROM shown GROUP BY ward ORDER BY ward;
SELECT has_table_privilege('regress_again_reader', 'shown', 'SELECT') AS granted;
-- A column of another type keeps its grant and its index.
REVOKE SELECT ON shown FROM regress_again_reader;
GRANT SELECT (ward) ON shown TO regress_again_reader;
CREATE INDEX shown_ward ON shown (ward);
SELECT label -> 'rows' AS rows FROM sanitize.publish('shown', 'stays', 'generalize', '{"levels": {"ward": 1}, "columns": ["ward", "smoker"]}') AS label;
SELECT pg_typeof(ward), count(*) FROM shown GROUP BY 1;
SELECT has_column_privilege('regress_again_reader', 'shown', 'ward', 'SELECT') AS granted, to_regclass('shown_ward') AS index;
SELECT label -> 'rows' AS rows FROM sanitize.publish('shown', 'stays', 'generalize', '{"levels": {"ward": 1}, "columns": ["ward", "smoker"], "ranges": "range"}') AS label;
SELECT has_column_privilege('regress_again_reader', 'shown', 'ward', 'SELECT') AS granted, to_regclass('shown_ward') AS index;
GRANT SELECT ON shown TO regress_again_reader;
-- With ranges too, what came later takes no part.
ALTER TABLE stays ADD later int;
SELECT label -> 'rows' AS rows FROM sanitize.refresh('shown') AS label;
SELECT ward, count(*) FROM shown GROUP BY ward ORDER BY ward;
-- From rows to numbers.
ALTER TABLE stays ADD PRIMARY KEY (id);
SELECT sanitize.protect('stays', 'id', 5);
SELECT label ->> 'kind' AS kind FROM sanitize.publish('shown', 'stays', 'dp_aggregate', '{"measures": {"n": "count"}, "epsilon": 1, "group_by": ["smoker"], "groups": {"smoker": ["true", "false"]}}') AS label;
SELECT groups, measure FROM shown ORDER BY groups;
SELECT has_table_privilege('regress_again_reader', 'shown', 'SELECT') AS granted;
-- A table with triggers is nobody's to change.
CREATE FUNCTION regress_again() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER keep_away BEFORE INSERT ON shown FOR EACH ROW EXECUTE FUNCTION regress_again();
SELECT sanitize.publish('shown', 'stays', 'k_anonymize', '{"k": 4, "columns": ["ward", "note"]}');
SELECT sanitize.unprotect('stays');
DROP TABLE stays, shown;
DROP FUNCTION regress_again();
DROP ROLE regress_again_reader;
