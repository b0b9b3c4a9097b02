-- Columns shuffled in groups.
SET client_min_messages = warning;
CREATE DOMAIN grade AS int CHECK (VALUE BETWEEN 1 AND 5);
CREATE TABLE people (id int, sex text, gone int, age int, zip varchar(4), born date, grade grade);
ALTER TABLE people DROP COLUMN gone;
INSERT INTO people SELECT i, CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END, 20 + i % 2 * 10, CASE WHEN i % 5 > 0 THEN '10' || i % 5 END,
       DATE '2000-01-01' + i % 3, 1 + i % 5 FROM generate_series(1, 60) AS i;
CREATE TABLE shuffled AS SELECT * FROM sanitize.shuffle_groups(NULL::people, '[["age", "sex"], ["zip"]]', keep => '{born,grade}', seed => 1);
-- Each group has its rows, kept columns too; what is in no group is NULL.
SELECT count(*), count(id) AS ids FROM shuffled;
SELECT count(*) FROM (SELECT sex, age FROM people EXCEPT ALL SELECT sex, age FROM shuffled) AS d;
SELECT count(*) FROM (SELECT zip FROM people EXCEPT ALL SELECT zip FROM shuffled) AS d;
SELECT count(*) FROM (SELECT born, grade FROM people EXCEPT ALL SELECT born, grade FROM shuffled) AS d;
-- Groups and kept columns do not belong together any more, and the order is not that of the heap.
SELECT count(*) > 20 AS apart FROM (SELECT zip, grade FROM people EXCEPT ALL SELECT zip, grade FROM shuffled) AS d;
SELECT array_agg(id ORDER BY ordinality) = array_agg(id ORDER BY id) AS sorted
  FROM sanitize.shuffle_groups(NULL::people, '[["sex"]]', keep => '{id}') WITH ORDINALITY;
-- A seed repeats it, wherever the rows lie; threads do not matter; without a seed it is another draw.
CREATE TABLE moved (LIKE people);
INSERT INTO moved SELECT * FROM people ORDER BY md5(id::text);
SET pg_sanitize.threads = 3;
SELECT count(*) FROM (SELECT born, grade, zip, age, sex FROM shuffled EXCEPT ALL SELECT born, grade, zip, age, sex FROM sanitize.shuffle_groups(NULL::moved, '[["age", "sex"], ["zip"]]', keep => '{born,grade}', seed => 1)) AS d;
RESET pg_sanitize.threads;
SELECT count(*) > 0 AS other FROM (SELECT * FROM shuffled EXCEPT ALL SELECT * FROM sanitize.shuffle_groups(NULL::people, '[["age", "sex"], ["zip"]]', keep => '{born,grade}')) AS d;
-- One group is the table, in another order.
SELECT count(*) FROM (SELECT * FROM people EXCEPT ALL SELECT * FROM sanitize.shuffle_groups(NULL::people, '[["id", "sex", "age", "zip", "born", "grade"]]')) AS d;
-- No rows.
CREATE TABLE nobody (LIKE people);
SELECT count(*) FROM sanitize.shuffle_groups(NULL::nobody, '[["sex"], ["age"]]');
-- Bad input.
SELECT * FROM sanitize.shuffle_groups(NULL::people, NULL);
SELECT * FROM sanitize.shuffle_groups(NULL::people, '[]');
SELECT * FROM sanitize.shuffle_groups(NULL::people, '["sex"]');
SELECT * FROM sanitize.shuffle_groups(NULL::people, '[["sex"], []]');
SELECT * FROM sanitize.shuffle_groups(NULL::people, '[["sex", 1]]');
SELECT * FROM sanitize.shuffle_groups(NULL::people, '{"sex": "zip"}');
SELECT * FROM sanitize.shuffle_groups(NULL::people, '[["sex", "nope"]]');
SELECT * FROM sanitize.shuffle_groups(NULL::people, '[["gone"]]');
SELECT * FROM sanitize.shuffle_groups(NULL::people, '[["sex", "sex"]]');
SELECT * FROM sanitize.shuffle_groups(NULL::people, '[["sex"], ["age", "sex"]]');
SELECT * FROM sanitize.shuffle_groups(NULL::people, '[["sex"]]', keep => '{id,sex}');
SELECT * FROM sanitize.shuffle_groups(NULL::people, '[["sex"]]', keep => '{}');
SELECT * FROM sanitize.shuffle_groups(NULL::people, '[["sex"]]', keep => '{nope}');
SELECT * FROM sanitize.shuffle_groups(NULL::int, '[["sex"]]');
-- Those who may read may shuffle.
CREATE ROLE sanitize_reader;
GRANT SELECT (sex) ON people TO sanitize_reader;
SET ROLE sanitize_reader;
SELECT count(*) FROM sanitize.shuffle_groups(NULL::people, '[["sex"], ["age"]]');
SELECT count(sex) FROM sanitize.shuffle_groups(NULL::people, '[["sex"]]');
RESET ROLE;
-- A hostile column name is a name.
CREATE TABLE "odd ""t" ("a"";drop table people;--" int, b text);
INSERT INTO "odd ""t" VALUES (1, 'x'), (2, 'y');
SELECT count(*) FROM sanitize.shuffle_groups(NULL::"odd ""t", '[["a\";drop table people;--"], ["b"]]');
-- What is promised: nothing.
SELECT l ->> 'kind' AS kind, l ->> 'rng' AS rng, l -> 'not_covered' AS not_covered, l ->> 'sentence' AS sentence
  FROM sanitize.guarantee('shuffle_groups', '{"groups": [["sex"]], "keep": ["id"], "seed": 1}') AS l;
DROP TABLE people, shuffled, moved, nobody, "odd ""t";
DROP DOMAIN grade;
DROP ROLE sanitize_reader;
