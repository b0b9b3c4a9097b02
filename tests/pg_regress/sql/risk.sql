-- The smallest classes, and rows that a few known cells give away.
SET client_min_messages = warning;
CREATE TABLE risky (zip text, gone int, age int, disease text);
ALTER TABLE risky DROP COLUMN gone;
INSERT INTO risky VALUES
    ('1', 20, 'flu'), ('1', 20, 'flu'), ('1', 20, 'cold'), ('1', 20, 'burn'),
    ('2', 30, 'flu'), ('2', 30, 'flu'), (NULL, 30, 'cold'), (NULL, 30, NULL), (NULL, NULL, 'cold');
-- A key that is missing is NULL; smallest first, then by what the classes show, NULL last.
SELECT * FROM sanitize.class_risk('risky', 'disease');
SELECT * FROM sanitize.class_risk('risky', 'disease', '{age}');
SELECT * FROM sanitize.class_risk('risky', 'disease', smallest => 2);
-- Without a sensitive column rows are counted alone.
SELECT * FROM sanitize.class_risk('risky', columns => '{zip,age}');
SELECT * FROM sanitize.class_risk('risky', smallest => 3);
-- One class, if nothing else is known.
SELECT * FROM sanitize.class_risk((SELECT sanitize.row_bag(r) FROM (SELECT disease FROM risky) AS r), 'disease');
-- The extremes are what the measures of the whole table say; k too.
SELECT min(rows) = sanitize.k_anonymity('risky', '{zip,age}') AS k, min(distinct_values) = sanitize.l_diversity('risky', 'disease') AS l,
       min(entropy_l) = sanitize.l_diversity('risky', 'disease', kind => 'entropy') AS entropy_l, max(closeness) = sanitize.t_closeness('risky', 'disease') AS t
  FROM sanitize.class_risk('risky', 'disease');
-- A bag, a name, a view: the same classes.
CREATE VIEW risky_view AS SELECT disease, age, zip FROM risky;
SELECT count(*) FROM (SELECT * FROM sanitize.class_risk('risky'::regclass, 'disease') EXCEPT SELECT * FROM sanitize.class_risk('risky_view', 'disease')) AS d;
SELECT count(*) FROM (SELECT * FROM sanitize.class_risk('risky'::text, 'disease', '{age}')
    EXCEPT SELECT * FROM sanitize.class_risk((SELECT sanitize.row_bag(r) FROM risky AS r), 'disease', '{age}')) AS d;
-- Unicity by hand: of single values only burn is in one row, and a third of what may be known of that row is it.
SELECT round((share * 9)::numeric, 12) AS rows, low = share AND high = share AS counted FROM sanitize.unicity('risky', 1);
-- Two values: burn with zip 1 or age 20 (2/3), cold with either (2/3), cold and 30 (1), and none of the rows with less.
SELECT round((share * 9)::numeric, 12) AS rows FROM sanitize.unicity('risky', 2);
SELECT round((share * 9)::numeric, 12) AS rows FROM sanitize.unicity('risky', 2, theta => 2);
SELECT share, low, high FROM sanitize.unicity('risky', 3, theta => 9);
SELECT share FROM sanitize.unicity('risky', 3, theta => 0);
-- As many known as there are: rows with few cells are known whole.
SELECT (SELECT share FROM sanitize.unicity('risky', 3)) = (SELECT share FROM sanitize.unicity('risky', 1000)) AS whole;
SELECT share FROM sanitize.unicity((SELECT sanitize.row_bag(r) FROM risky AS r), 1, '{zip,age}', theta => 2);
-- Sampled: an interval around the exact share, and a seed repeats it whatever the order of rows and the threads.
CREATE TABLE crowd AS SELECT i, i % 2 AS a, i % 7 AS b, i * i % 11 AS c, i % 13 AS d, i * 7 % 17 AS e FROM generate_series(1, 3000) AS i;
CREATE TABLE crowd_moved AS SELECT * FROM crowd ORDER BY md5(i::text);
SET pg_sanitize.threads = 1;
CREATE TABLE drawn AS SELECT * FROM sanitize.unicity('crowd', 3, '{a,b,c,d,e}', theta => 5, samples => 20, seed => 3);
SET pg_sanitize.threads = 3;
SELECT * FROM drawn EXCEPT SELECT * FROM sanitize.unicity('crowd_moved', 3, '{a,b,c,d,e}', theta => 5, samples => 20, seed => 3);
RESET pg_sanitize.threads;
SELECT low < share AND share < high AS sampled FROM drawn;
SELECT s.low <= c.share AND c.share <= s.high AS holds, c.low = c.high AS counted
  FROM drawn AS s, sanitize.unicity('crowd', 3, '{a,b,c,d,e}', theta => 5) AS c;
-- The same by SQL: three of five columns, and how many rows share them.
SELECT round(avg((n = 1)::int), 12) = round(max(u.share)::numeric, 12) AS same
  FROM sanitize.unicity('crowd', 3, '{a,b,c,d,e}') AS u, LATERAL (
      SELECT count(*) OVER (PARTITION BY s.i, CASE WHEN s.i & 1 > 0 THEN a END, CASE WHEN s.i & 2 > 0 THEN b END,
             CASE WHEN s.i & 4 > 0 THEN c END, CASE WHEN s.i & 8 > 0 THEN d END, CASE WHEN s.i & 16 > 0 THEN e END) AS n
        FROM crowd, generate_series(0, 31) AS s(i) WHERE bit_count(s.i::bit(5)) = 3) AS g;
-- Nothing to measure.
CREATE TABLE nobody (LIKE risky);
SELECT * FROM sanitize.class_risk('nobody', 'disease');
SELECT * FROM sanitize.class_risk('nobody');
SELECT * FROM sanitize.unicity('nobody', 1);
-- Bad input.
SELECT * FROM sanitize.class_risk(NULL::regclass);
SELECT * FROM sanitize.class_risk('nowhere');
SELECT * FROM sanitize.class_risk('risky', 'nope');
SELECT * FROM sanitize.class_risk('risky', 'gone');
SELECT * FROM sanitize.class_risk('risky', 'disease', '{age,disease}');
SELECT * FROM sanitize.class_risk('risky', 'disease', '{nope}');
SELECT * FROM sanitize.class_risk('risky', 'disease', '{}');
SELECT * FROM sanitize.class_risk('risky', smallest => 0);
SELECT * FROM sanitize.class_risk('risky', smallest => NULL);
SELECT * FROM sanitize.unicity(NULL::regclass, 1);
SELECT * FROM sanitize.unicity('risky', NULL);
SELECT * FROM sanitize.unicity('risky', 0);
SELECT * FROM sanitize.unicity('risky', 1, '{nope}');
SELECT * FROM sanitize.unicity('risky', 1, '{}');
SELECT * FROM sanitize.unicity('risky', 1, theta => -1);
SELECT * FROM sanitize.unicity('risky', 1, theta => NULL);
SELECT * FROM sanitize.unicity('risky', 1, samples => 0);
SELECT * FROM sanitize.unicity('risky', 1, samples => NULL);
-- Those who may read may measure.
CREATE ROLE sanitize_reader;
GRANT SELECT (zip, age) ON risky TO sanitize_reader;
SET ROLE sanitize_reader;
SELECT count(*) FROM sanitize.class_risk('risky', 'age', '{zip}');
SELECT count(*) FROM sanitize.class_risk('risky', 'disease', '{zip}');
SELECT count(share) FROM sanitize.unicity('risky', 1, '{zip,age}');
SELECT count(share) FROM sanitize.unicity('risky', 1);
RESET ROLE;
-- A hostile column name is a name.
CREATE TABLE "odd ""t" ("a"";drop table risky;--" int, b text);
INSERT INTO "odd ""t" VALUES (1, 'x"}'), (2, 'y');
SELECT class, rows FROM sanitize.class_risk('"odd ""t"');
SELECT share FROM sanitize.unicity('"odd ""t"', 1, ARRAY['a";drop table risky;--']);
DROP TABLE risky, crowd, crowd_moved, drawn, nobody, "odd ""t" CASCADE;
DROP ROLE sanitize_reader;
