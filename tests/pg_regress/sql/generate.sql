-- Tables drawn from Krimp models.
SET client_min_messages = warning;
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE DOMAIN grade AS int CHECK (VALUE BETWEEN 1 AND 5);
CREATE TABLE people (id int, "Full Name" text, born date, paid numeric(8,2), mood mood, grade grade, smoker bool, gone int, ward varchar(3));
ALTER TABLE people DROP COLUMN gone;
INSERT INTO people SELECT i, CASE WHEN i % 7 > 0 THEN E'O\'Neil "' || i % 3 END, DATE '2000-01-01' + i % 4, (i % 5) / 4.0,
       CASE WHEN i % 4 < 2 THEN 'sad' ELSE 'happy' END::mood, 1 + i % 5, i % 3 = 0, chr(65 + i % 2) || 'x' FROM generate_series(1, 420) AS i;
-- The rows have the types of the source, a seed repeats them, and columns that do not take part are NULL.
CREATE TABLE made AS SELECT * FROM sanitize.krimp_generate(NULL::people, 1000, 5, columns => '{"Full Name",born,paid,mood,grade,smoker,ward}', seed => 1);
SELECT count(*), count(id) AS ids, count(born) AS borns, count(DISTINCT "Full Name") AS names, count("Full Name") BETWEEN 800 AND 900 AS named,
       bool_and(grade BETWEEN 1 AND 5) AS grades, count(DISTINCT (born, paid, mood, smoker, ward)) > 20 AS many FROM made;
SELECT attname, atttypid::regtype FROM pg_attribute WHERE attrelid = 'made'::regclass AND attnum > 0 ORDER BY attnum;
SELECT count(*) FROM (SELECT * FROM made EXCEPT ALL SELECT * FROM sanitize.krimp_generate(NULL::people, 1000, 5, columns => '{"Full Name",born,paid,mood,grade,smoker,ward}', seed => 1)) AS d;
SELECT count(*) > 0 AS other_rows FROM (SELECT * FROM made EXCEPT ALL SELECT * FROM sanitize.krimp_generate(NULL::people, 1000, 5, columns => '{"Full Name",born,paid,mood,grade,smoker,ward}')) AS d;
-- Every value that comes out is one of the source's.
SELECT count(*) FROM (SELECT "Full Name", mood FROM made EXCEPT SELECT "Full Name", mood FROM people) AS d;
-- Threads do not change the rows.
SET pg_sanitize.threads = 3;
SELECT count(*) FROM (SELECT * FROM made EXCEPT ALL SELECT * FROM sanitize.krimp_generate(NULL::people, 1000, 5, columns => '{"Full Name",born,paid,mood,grade,smoker,ward}', seed => 1)) AS d;
RESET pg_sanitize.threads;
-- Class by class: the classes keep their shares.
SELECT mood, count(*) FROM sanitize.krimp_generate(NULL::people, 10, 5, class => 'mood', columns => '{born,ward}', seed => 1) GROUP BY mood ORDER BY mood;
SELECT "Full Name", count(*) FROM sanitize.krimp_generate(NULL::people, 420, 5, class => 'Full Name', columns => '{born,"Full Name"}', seed => 1) GROUP BY 1 ORDER BY 1;
-- What is forbidden is not kept together.
CREATE TABLE pair (a int, b int);
INSERT INTO pair SELECT i % 2, i % 2 FROM generate_series(1, 100) AS i;
SELECT count(*) FILTER (WHERE a <> b) FROM sanitize.krimp_generate(NULL::pair, 1000, 1, seed => 1);
SELECT count(*) FILTER (WHERE a <> b) BETWEEN 400 AND 600 AS independent FROM sanitize.krimp_generate(NULL::pair, 1000, 1, forbidden => '[["a", "b"]]', seed => 1);
SELECT count(*) FILTER (WHERE a <> b) BETWEEN 400 AND 600 AS independent FROM sanitize.krimp_generate(NULL::pair, 1000, 1, max_length => 1, seed => 1);
-- The correction, by table, column and value.
SELECT count(*) FILTER (WHERE a <> b) BETWEEN 150 AND 350 AS dampened FROM sanitize.krimp_generate(NULL::pair, 1000, 1, laplace => 1000, seed => 1);
SELECT count(*) FILTER (WHERE a <> b) BETWEEN 150 AND 350 AS dampened FROM sanitize.krimp_generate(NULL::pair, 1000, 1, laplace_by => '{"b": 1000}', seed => 1);
SELECT a, count(*) > 700 AS most FROM sanitize.krimp_generate(NULL::pair, 1000, 1, laplace_by => '{"a": {"1": 1000}}', seed => 1) GROUP BY a ORDER BY a;
SELECT count(*) FROM sanitize.krimp_generate(NULL::pair, 10, 1, laplace_by => '{"a": {"7": 1000}}', seed => 1);
-- What is rejected is in no row, and the others keep their shares: of a = b = 0 and a = b = 1 with correction, the second.
SELECT a, b, count(*) FROM sanitize.krimp_generate(NULL::pair, 1000, 1, reject => '[{"a": "0", "b": "0"}]', laplace => 0.001, seed => 1) GROUP BY a, b ORDER BY a, b;
SELECT count(*) FILTER (WHERE a = b), count(*) FILTER (WHERE a < b) BETWEEN 400 AND 600 AS half
  FROM sanitize.krimp_generate(NULL::pair, 1000, 1, max_length => 1, reject => '[{"a": "0", "b": "0"}, {"a": "1", "b": "1"}, {"a": "7"}]', seed => 1);
SELECT count(*) FILTER (WHERE a = b) FROM sanitize.krimp_generate(NULL::pair, sanitize.krimp_model('pair', 1, max_length => 1), 1000, reject => '[{"a": "0", "b": "0"}, {"b": "1", "a": "1"}]', seed => 1);
-- The class counts as a column of the row.
SELECT a, b, count(*) FROM sanitize.krimp_generate(NULL::pair, 100, 1, class => 'a', laplace => 50, reject => '[{"a": "0", "b": "0"}]', seed => 1) GROUP BY a, b HAVING a = 0 ORDER BY a, b;
SELECT count(*) FROM sanitize.krimp_generate(NULL::pair, 100, 1, class => 'a', reject => '[{"a": "0"}]', seed => 1);
-- Threads and a list of nothing do not change the rows.
CREATE TABLE rest AS SELECT * FROM sanitize.krimp_generate(NULL::people, 9000, 5, columns => '{mood,grade,ward}', laplace => 1, reject => '[{"mood": "sad", "grade": "1"}, {"ward": "Ax"}]', seed => 1);
SET pg_sanitize.threads = 3;
SELECT count(*) FROM (SELECT * FROM rest EXCEPT ALL SELECT * FROM sanitize.krimp_generate(NULL::people, 9000, 5, columns => '{mood,grade,ward}', laplace => 1, reject => '[{"ward": "Ax"}, {"mood": "sad", "grade": "1"}]', seed => 1)) AS d;
RESET pg_sanitize.threads;
SELECT count(*) FROM (SELECT * FROM sanitize.krimp_generate(NULL::pair, 1000, 1, seed => 1) EXCEPT ALL SELECT * FROM sanitize.krimp_generate(NULL::pair, 1000, 1, seed => 1, reject => '[]')) AS d;
DROP TABLE rest;
-- Any number of rows.
SELECT count(*) FROM sanitize.krimp_generate(NULL::pair, 0, 1);
SELECT count(*), count(*) FILTER (WHERE a = 1) BETWEEN 148000 AND 152000 AS half FROM sanitize.krimp_generate(NULL::pair, 300000, 1);

-- A model is stored, shipped, and used without its source.
CREATE TABLE model AS SELECT sanitize.krimp_model('people', 5, columns => '{"Full Name",born,paid,mood,grade,smoker,ward}', nulls => 'value') AS model;
CREATE TYPE person AS (ward varchar(3), grade grade, mood mood, smoker bool, paid numeric(8,2), born date, "Full Name" text, remark text);
CREATE TABLE drawn AS SELECT g.* FROM model, sanitize.krimp_generate(NULL::person, model, 1000, seed => 1) AS g;
SELECT count(*), count(remark) AS remarks, count("Full Name") BETWEEN 800 AND 900 AS named FROM drawn;
-- The same model, seed and columns give the same rows as the relation does.
SELECT count(*) FROM (SELECT ward, grade, mood, smoker, paid, born, "Full Name" FROM drawn EXCEPT ALL SELECT ward, grade, mood, smoker, paid, born, "Full Name" FROM made) AS d;
-- Where NULL is missing in the model, it comes out as often as it was in the source.
SELECT count(*) FILTER (WHERE "Full Name" IS NULL) BETWEEN 100 AND 190 AS nulls FROM sanitize.krimp_generate(NULL::people, sanitize.krimp_model('people', 5, columns => '{"Full Name",ward}'), 1000, seed => 1);
-- A domain checks what a model holds, and a type what it can read, whether it is drawn or not.
CREATE TABLE strict (mood mood, grade grade NOT NULL, ward varchar(3));
SELECT count(*) FROM sanitize.krimp_generate(NULL::strict, jsonb_set(sanitize.krimp_model('people', 5, columns => '{mood,grade}'), '{columns,1,values,4}', '"9"'), 0);
SELECT count(*) FROM sanitize.krimp_generate(NULL::strict, jsonb_set(sanitize.krimp_model('people', 5, columns => '{mood,grade}'), '{columns,0,values,1}', '"sick"'), 0);
SELECT count(*) FROM sanitize.krimp_generate(NULL::strict, jsonb_set(sanitize.krimp_model('people', 5, columns => '{ward}'), '{columns,0,values,1}', '"toolong"'), 0);
SELECT count(*) FROM sanitize.krimp_generate(NULL::strict, sanitize.krimp_model('people', 5, columns => '{born}'), 0);

-- Who may draw: from a relation those who may read it, from a model everyone who has it.
CREATE ROLE sanitize_reader;
GRANT SELECT ON model TO sanitize_reader;
SET ROLE sanitize_reader;
SELECT count(*) FROM sanitize.krimp_generate(NULL::people, 10, 5);
SELECT count(*) FROM model, sanitize.krimp_generate(NULL::people, model, 10);
SELECT count(*) FROM model, sanitize.krimp_size(model, 'people');
RESET ROLE;
-- Row security decides what a model can be made of.
ALTER TABLE pair ENABLE ROW LEVEL SECURITY;
CREATE POLICY ones ON pair TO sanitize_reader USING (a = 1);
GRANT SELECT ON pair TO sanitize_reader;
SET ROLE sanitize_reader;
SELECT DISTINCT a, b FROM sanitize.krimp_generate(NULL::pair, 1000, 1);
RESET ROLE;

-- Bad input.
SELECT * FROM sanitize.krimp_generate(NULL::pair, -1, 1);
SELECT * FROM sanitize.krimp_generate(NULL::pair, NULL::bigint, 1);
SELECT * FROM sanitize.krimp_generate(NULL::pair, 1, 0);
SELECT * FROM sanitize.krimp_generate(NULL::pair, 1, 1, laplace => -1);
SELECT * FROM sanitize.krimp_generate(NULL::pair, 1, 1, laplace => 'NaN');
SELECT * FROM sanitize.krimp_generate(NULL::pair, 1, 1, laplace => 'Infinity');
SELECT * FROM sanitize.krimp_generate(NULL::pair, 1, 1, laplace => 0);
SELECT * FROM sanitize.krimp_generate(NULL::pair, 1, 1, laplace => NULL);
SELECT * FROM sanitize.krimp_generate(NULL::pair, 1, 1, laplace_by => '[1]');
SELECT * FROM sanitize.krimp_generate(NULL::pair, 1, 1, laplace_by => '{"a": "x"}');
SELECT * FROM sanitize.krimp_generate(NULL::pair, 1, 1, laplace_by => '{"nope": 1}');
SELECT * FROM sanitize.krimp_generate(NULL::pair, 1, 1, laplace_by => '{"a": {"1": -1}}');
SELECT * FROM sanitize.krimp_generate(NULL::pair, 1, 1, reject => '{"a": "1"}');
SELECT * FROM sanitize.krimp_generate(NULL::pair, 1, 1, reject => '[["a", "b"]]');
SELECT * FROM sanitize.krimp_generate(NULL::pair, 1, 1, reject => '[{}]');
SELECT * FROM sanitize.krimp_generate(NULL::pair, 1, 1, reject => '[{"a": 1}]');
SELECT * FROM sanitize.krimp_generate(NULL::pair, 1, 1, reject => '[{"a": null}]');
SELECT * FROM sanitize.krimp_generate(NULL::pair, 1, 1, reject => '[{"nope": "1"}]');
SELECT * FROM sanitize.krimp_generate(NULL::pair, 1, 1, columns => '{a}', reject => '[{"b": "1"}]');
SELECT * FROM sanitize.krimp_generate(NULL::pair, sanitize.krimp_model('pair', 1), 1, reject => '[{"nope": "1"}]');
SELECT * FROM sanitize.krimp_generate(NULL::pair, 1, 1, reject => '[{"a": "0"}, {"a": "1"}]');
SELECT * FROM sanitize.krimp_generate(NULL::pair, 1, 1, class => 'nope');
SELECT * FROM sanitize.krimp_generate(NULL::pair, 1, 1, class => 'a', columns => '{a}');
SELECT * FROM sanitize.krimp_generate(NULL::pair, 1, 1, class => 'a', forbidden => '[["a", "b"]]');
SELECT * FROM sanitize.krimp_generate(NULL::pair, 1, 1, class => 'a', laplace_by => '{"a": 1}');
SELECT * FROM sanitize.krimp_generate(NULL::pair, 1, 1, max_time => '1 s');
SELECT * FROM sanitize.krimp_generate(NULL::int, 1, 1);
SELECT * FROM sanitize.krimp_generate(NULL::person, 1, 1);
SELECT * FROM sanitize.krimp_generate(NULL::strict, 1, 1);
SELECT * FROM sanitize.krimp_generate(NULL::pair, NULL::jsonb, 1);
SELECT * FROM sanitize.krimp_generate(NULL::pair, '{"format": "other"}'::jsonb, 1);
SELECT * FROM sanitize.krimp_generate(NULL::pair, '[]'::jsonb, 1);
SELECT * FROM sanitize.krimp_generate(NULL::int, sanitize.krimp_model('pair', 1), 1);
SELECT g.* FROM model, sanitize.krimp_generate(NULL::pair, model, 1) AS g;
-- A hostile column name is a name.
CREATE TABLE "odd ""t" ("a"";drop table pair;--" int, b text);
INSERT INTO "odd ""t" VALUES (1, 'x'), (2, 'y');
SELECT count(*) FROM sanitize.krimp_generate(NULL::"odd ""t", 5, 1, class => 'a";drop table pair;--');
SELECT count(*) FROM sanitize.krimp_generate(NULL::"odd ""t", sanitize.krimp_model('"odd ""t"', 1), 5);
-- What is promised, which is nothing, and what a row is put together from.
SELECT l ->> 'kind' AS kind, l ->> 'mode' AS mode, l ->> 'rng' AS rng, l ->> 'paper_claim_holds' AS holds, l ->> 'sentence' AS sentence
  FROM sanitize.guarantee('krimp_generate', '{"min_support": 5, "class": "ward", "seed": 1}') AS l;
SELECT sanitize.guarantee('krimp_generate', '{"k": 5}');
SET client_min_messages = notice;
SELECT count(*) FROM sanitize.krimp_generate(NULL::pair, 10, 1, seed => 1);
-- What a generated table shows of its original.
SET client_min_messages = warning;
CREATE TABLE copy AS TABLE pair;
CREATE TABLE other AS SELECT 1 - a AS a, b FROM pair;
SELECT * FROM sanitize.krimp_report('pair', 'copy', sanitize.krimp_model('pair', 1), seed => 1);
SELECT * FROM sanitize.krimp_report('pair', 'other', seed => 1);
SELECT measure, round(value::numeric, 3) AS value FROM sanitize.krimp_report('people', 'made', (SELECT model FROM model), samples => 1, seed => 1);
SELECT measure, value FROM sanitize.krimp_report('strict', 'strict');
SELECT measure, value FROM sanitize.krimp_report('pair', 'other', columns => '{a}', seed => 1);
SELECT * FROM sanitize.krimp_report('pair', 'copy', samples => -1);
SELECT * FROM sanitize.krimp_report('pair', 'copy', '{}');
SELECT * FROM sanitize.krimp_report(NULL, 'copy');
SELECT * FROM sanitize.krimp_report('people', 'copy');
SET ROLE sanitize_reader;
SELECT * FROM sanitize.krimp_report('pair', 'copy');
RESET ROLE;
DROP TABLE copy, other;
DROP TABLE people, made, drawn, model, pair, strict, "odd ""t";
DROP TYPE person, mood;
DROP DOMAIN grade;
DROP ROLE sanitize_reader;
