-- Whatever can be read with SELECT can be mined, with the same rights.
CREATE TABLE people (id int, dropped text, city text, sex text, job text);
INSERT INTO people SELECT i, 'x', 'c' || i % 2, CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END, 'j' || i % 4 FROM generate_series(1, 12) AS i;
ALTER TABLE people DROP COLUMN dropped;
SELECT count(*) FROM sanitize.mine_miis('people', 2, ARRAY['city', 'sex', 'job']);

CREATE VIEW people_view AS SELECT city, sex, job FROM people;
CREATE MATERIALIZED VIEW people_mat AS SELECT city, sex, job FROM people;
CREATE TABLE people_parts (city text, sex text, job text) PARTITION BY LIST (city);
CREATE TABLE people_c0 PARTITION OF people_parts FOR VALUES IN ('c0');
CREATE TABLE people_c1 (job text, extra int, sex text, city text);
ALTER TABLE people_c1 DROP COLUMN extra;
ALTER TABLE people_parts ATTACH PARTITION people_c1 FOR VALUES IN ('c1');
INSERT INTO people_parts SELECT city, sex, job FROM people;
CREATE TEMP TABLE people_temp AS SELECT city, sex, job FROM people;
CREATE TABLE parent (city text, sex text, job text);
CREATE TABLE child () INHERITS (parent);
INSERT INTO child SELECT city, sex, job FROM people;
SELECT r, count(*), md5(string_agg(items::text || support, ',' ORDER BY items)) = (
           SELECT md5(string_agg(items::text || support, ',' ORDER BY items)) FROM sanitize.mine_miis('people', 2, ARRAY['city', 'sex', 'job'])) AS same
  FROM unnest(ARRAY['people_view', 'people_mat', 'people_parts', 'people_temp', 'parent']::regclass[]) AS r,
       sanitize.mine_miis(r, 2)
 GROUP BY r ORDER BY r::text;
SELECT count(*) > 0 AS catalogs_too FROM sanitize.mine_miis('pg_catalog.pg_am', 1);

-- Generated and system-named columns, a column of every name.
CREATE TABLE names ("a b" text, "select" text, "UPPER" text, "ä" text, "a""b" text GENERATED ALWAYS AS ("a b" || '!') STORED);
INSERT INTO names VALUES ('1', '2', '3', '4'), ('1', '2', '3', '4');
SELECT items FROM sanitize.frequent_itemsets('names', 2, ARRAY['a b', 'select', 'UPPER', 'ä', 'a"b'], 1);

-- The snapshot is the caller's: its own changes are seen, and nothing is committed by looking.
BEGIN;
INSERT INTO people VALUES (99, 'c9', 'x', 'j9');
SELECT items FROM sanitize.mine_miis('people', 1, ARRAY['city', 'job'], 1);
ROLLBACK;
SELECT count(*) FROM sanitize.mine_miis('people', 1, ARRAY['city', 'job'], 1);

-- Privileges are the caller's, down to the column.
CREATE ROLE regress_reader;
GRANT SELECT (city) ON people TO regress_reader;
GRANT SELECT ON people_view TO regress_reader;
SET ROLE regress_reader;
SELECT count(*) FROM sanitize.frequent_itemsets('people', 1, ARRAY['city']);
SELECT count(*) FROM sanitize.frequent_itemsets('people', 1, ARRAY['city', 'sex']);
SELECT count(*) FROM sanitize.mine_miis('people', 1);
SELECT count(*) FROM sanitize.mine_miis('people_mat', 1);
SELECT count(*) FROM sanitize.mine_miis('people_view', 2);
SELECT sanitize.row_bag(p) FROM people p;
RESET ROLE;

-- Row security applies.
GRANT SELECT ON people TO regress_reader;
ALTER TABLE people ENABLE ROW LEVEL SECURITY;
CREATE POLICY only_c0 ON people USING (city = 'c0');
SELECT support FROM sanitize.frequent_itemsets('people', 1, ARRAY['city']);
SET ROLE regress_reader;
SELECT * FROM sanitize.frequent_itemsets('people', 1, ARRAY['city']);
SET row_security = off;
SELECT * FROM sanitize.frequent_itemsets('people', 1, ARRAY['city']);
RESET row_security;
RESET ROLE;
DROP POLICY only_c0 ON people;
SET ROLE regress_reader;
SELECT * FROM sanitize.frequent_itemsets('people', 1, ARRAY['city']);
RESET ROLE;

DROP VIEW people_view;
DROP MATERIALIZED VIEW people_mat;
DROP TABLE people, people_parts, names, parent, child;
DROP ROLE regress_reader;
