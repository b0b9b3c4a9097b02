-- Dependent code trees, and tables drawn from them.
SET client_min_messages = warning;
-- The table of the vector 000-dct_acbd: its tree at a threshold of 1/20.
CREATE TABLE letters (x text, y text, z text);
INSERT INTO letters SELECT substr(w, 1, 1), substr(w, 2, 1), substr(w, 3, 1)
FROM unnest('{ace,ace,ace,ace,ace,acf,acf,acf,bde,bde,bde,bde,bdf,bdf,ade,bcf}'::text[]) AS w;
SELECT rank, items, support FROM sanitize.krimp_codetable('letters', 1) WHERE length > 1;
SELECT * FROM sanitize.code_tree('letters', 0.05, 0.05);
SELECT * FROM sanitize.code_tree('letters', 0.3, columns => '{x,y}', max_length => 2);
-- The threshold is min_share if it is left out, and more than it is asked for.
SELECT count(*) FROM sanitize.code_tree('letters', 0.5, 0.49);
SELECT count(*) FROM sanitize.code_tree('letters', 0.5);
-- NULL is no item, or one like any other.
CREATE TABLE gaps (a int, b text);
INSERT INTO gaps SELECT i % 2, CASE WHEN i % 2 = 1 THEN 'x' END FROM generate_series(1, 100) AS i;
SELECT * FROM sanitize.code_tree('gaps', 0.1);
SELECT * FROM sanitize.code_tree('gaps', 0.1, nulls => 'value');
SELECT a, b, count(*) BETWEEN 400 AND 600 AS half FROM sanitize.code_tree_generate(NULL::gaps, 1000, nulls => 'missing', seed => 1) GROUP BY a, b ORDER BY a, b;
SELECT a, b, count(*) BETWEEN 400 AND 600 AS half FROM sanitize.code_tree_generate(NULL::gaps, 1000, seed => 1) GROUP BY a, b ORDER BY a, b;
-- Rows have the types of the source, a seed repeats them with any number of threads, other columns are NULL.
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE TABLE people (id int, born date, paid numeric(8,2), mood mood, smoker bool, gone int, ward varchar(3));
ALTER TABLE people DROP COLUMN gone;
INSERT INTO people SELECT i, DATE '2000-01-01' + i % 4, (i % 5) / 4.0, CASE WHEN i % 4 < 2 THEN 'sad' ELSE 'happy' END::mood,
       i % 3 = 0, chr(65 + i % 2) || 'x' FROM generate_series(1, 420) AS i;
CREATE VIEW adults AS SELECT born, mood, ward FROM people WHERE id > 10;
CREATE TABLE made AS SELECT * FROM sanitize.code_tree_generate(NULL::people, 9000, 0.05, columns => '{born,paid,mood,smoker,ward}', seed => 1);
SELECT count(*), count(id) AS ids, count(born) AS borns, count(DISTINCT (born, paid, mood, smoker, ward)) > 20 AS many FROM made;
SELECT count(*) FROM (SELECT born, mood FROM made EXCEPT SELECT born, mood FROM people) AS d;
SET pg_sanitize.threads = 3;
SELECT count(*) FROM (SELECT * FROM made EXCEPT ALL SELECT * FROM sanitize.code_tree_generate(NULL::people, 9000, 0.05, columns => '{born,paid,mood,smoker,ward}', seed => 1)) AS d;
RESET pg_sanitize.threads;
SELECT count(*) > 0 AS other_rows FROM (SELECT * FROM made EXCEPT ALL SELECT * FROM sanitize.code_tree_generate(NULL::people, 9000, 0.05, columns => '{born,paid,mood,smoker,ward}')) AS d;
SELECT count(*) FROM (SELECT born, mood, ward FROM sanitize.code_tree_generate(NULL::adults, 500, 0.05) EXCEPT SELECT born, mood, ward FROM people) AS d;
SELECT mood, count(*) FROM sanitize.code_tree_generate(NULL::people, 11, class => 'mood', columns => '{born,ward}', seed => 1) GROUP BY mood ORDER BY mood;
SELECT count(*) FILTER (WHERE mood = 'sad') BETWEEN 400 AND 600 AS half FROM sanitize.code_tree_generate(NULL::people, 1000, columns => '{born,mood}', generator => 'literal', seed => 1);
SELECT count(*) FROM sanitize.code_tree_generate(NULL::people, 0);
-- Half of the links are lost by the published generator.
SELECT generator, count(*) FILTER (WHERE a.x = 'a' AND a.y = 'd') * 100 / count(*) BETWEEN low AND high AS as_expected
FROM (VALUES ('backoff', 5, 8), ('literal', 12, 20)) AS v (generator, low, high),
     LATERAL sanitize.code_tree_generate(NULL::letters, 20000, 0.05, generator => v.generator, seed => 1) AS a GROUP BY generator, low, high ORDER BY generator;

-- From randomised cells: rows of the public domains, NULL where it is one of them.
CREATE TABLE stays (ward text NOT NULL CHECK (ward IN ('A', 'B', 'C')), smoker bool, age int NOT NULL);
INSERT INTO stays SELECT chr(65 + i % 3), CASE WHEN i % 9 > 0 THEN i % 3 = 0 END, 20 + i % 50 FROM generate_series(1, 3000) AS i;
SELECT * FROM sanitize.private_krimp_generate(NULL::stays, 1, 10);
SELECT sanitize.declare_bounds('stays', 'age', '20', '70', 5);
CREATE TABLE private AS SELECT * FROM sanitize.private_krimp_generate(NULL::stays, 30, 3000, seed => 1);
SELECT count(*), bool_and(ward IN ('A', 'B', 'C')) AS wards, bool_and(age BETWEEN 20 AND 70) AS ages, count(*) FILTER (WHERE smoker IS NULL) BETWEEN 250 AND 420 AS nulls,
       count(*) FILTER (WHERE (ward = 'A') <> smoker) < 150 AS patterns FROM private;
SELECT count(*) FROM (SELECT * FROM private EXCEPT ALL SELECT * FROM sanitize.private_krimp_generate(NULL::stays, 30, 3000, seed => 1)) AS d;
SELECT count(*) > 0 AS other_rows FROM (SELECT * FROM private EXCEPT ALL SELECT * FROM sanitize.private_krimp_generate(NULL::stays, 30, 3000)) AS d;
-- A very small epsilon leaves rows of the domains, and says from public numbers what they are worth.
SET client_min_messages = notice;
SELECT count(*), bool_and(ward IN ('A', 'B', 'C')) AS wards, bool_and(age BETWEEN 20 AND 70) AS ages FROM sanitize.private_krimp_generate(NULL::stays, 0.001, 500, seed => 1);
SELECT count(*) FROM sanitize.private_krimp_generate(NULL::stays, 30, 10, columns => '{ward}', seed => 1);
SET client_min_messages = warning;
-- Class by class: the class is randomised too, and its shares are estimated.
SELECT ward, count(*) BETWEEN 900 AND 1100 AS third FROM sanitize.private_krimp_generate(NULL::stays, 20, 3000, class => 'ward', columns => '{smoker,ward}', seed => 1) GROUP BY ward ORDER BY ward;
SELECT smoker, count(*) > 0 AS some FROM sanitize.private_krimp_generate(NULL::stays, 20, 3000, class => 'smoker', weights => '{"smoker": 3}', generator => 'literal', seed => 1) GROUP BY smoker ORDER BY smoker;
-- No rows: values of the domains, all equally likely.
CREATE TABLE nobody (LIKE stays INCLUDING CONSTRAINTS);
SELECT sanitize.declare_bounds('nobody', 'age', '20', '70', 5);
SELECT ward, count(*) BETWEEN 250 AND 420 AS third FROM sanitize.private_krimp_generate(NULL::nobody, 1, 1000, class => 'smoker', seed => 1) GROUP BY ward ORDER BY ward;
SELECT count(*) FROM sanitize.code_tree_generate(NULL::nobody, 1);
SELECT count(*) FROM sanitize.code_tree('nobody', 0.1);

-- What is promised.
SELECT l ->> 'kind' AS kind, l ->> 'epsilon' AS epsilon, l ->> 'unit' AS unit, l ->> 'neighbours' AS neighbours, l ->> 'rng' AS rng, l ->> 'sentence' AS sentence
FROM sanitize.guarantee('private_krimp_generate', '{"epsilon": 1.5, "class": "ward"}') AS l;
SELECT l ->> 'kind' AS kind, l -> 'proved' ->> 'kind' AS proved FROM sanitize.guarantee('private_krimp_generate', '{"epsilon": 1.5, "seed": 1}') AS l;
SELECT l ->> 'kind' AS kind, l ->> 'sentence' AS sentence FROM sanitize.guarantee('code_tree_generate', '{"class": "ward"}') AS l;
-- A protected relation is charged, and a seed refused.
ALTER TABLE stays ADD id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY;
SELECT sanitize.protect('stays', 'id', 5, row_count_public => true);
SELECT count(*) FROM sanitize.private_krimp_generate(NULL::stays, 2, 10, columns => '{ward,smoker}');
SELECT count(*) FROM sanitize.private_krimp_generate(NULL::stays, 2, 10, columns => '{ward,smoker}', seed => 1);
SELECT epsilon_spent FROM sanitize.budget WHERE source = 'stays'::regclass;
SELECT count(*) FROM sanitize.private_krimp_generate(NULL::stays, 4, 10, columns => '{ward,smoker}');
SELECT sanitize.unprotect('stays');

-- Bad input.
SELECT * FROM sanitize.code_tree('letters', 0);
SELECT * FROM sanitize.code_tree('letters', 1.5);
SELECT * FROM sanitize.code_tree('letters', 'NaN');
SELECT * FROM sanitize.code_tree('letters', NULL);
SELECT * FROM sanitize.code_tree('letters', 0.1, 1);
SELECT * FROM sanitize.code_tree('letters', 0.1, -0.1);
SELECT * FROM sanitize.code_tree('letters', 0.1, columns => '{nope}');
SELECT * FROM sanitize.code_tree('letters', 0.1, max_length => 0);
SELECT * FROM sanitize.code_tree('letters', 0.1, nulls => 'both');
SELECT * FROM sanitize.code_tree(NULL, 0.1);
SELECT * FROM sanitize.code_tree_generate(NULL::letters, -1);
SELECT * FROM sanitize.code_tree_generate(NULL::letters, 1, generator => 'other');
SELECT * FROM sanitize.code_tree_generate(NULL::letters, 1, class => 'x', columns => '{x}');
SELECT * FROM sanitize.code_tree_generate(NULL::letters, 1, class => 'nope');
SELECT * FROM sanitize.code_tree_generate(NULL::int, 1);
SELECT * FROM sanitize.private_krimp_generate(NULL::stays, 0, 10, columns => '{ward,smoker}');
SELECT * FROM sanitize.private_krimp_generate(NULL::stays, -1, 10, columns => '{ward,smoker}');
SELECT * FROM sanitize.private_krimp_generate(NULL::stays, 'Infinity', 10, columns => '{ward,smoker}');
SELECT * FROM sanitize.private_krimp_generate(NULL::stays, NULL, 10);
SELECT * FROM sanitize.private_krimp_generate(NULL::stays, 1, NULL);
SELECT * FROM sanitize.private_krimp_generate(NULL::stays, 1, 10, weights => '{"nope": 1}', columns => '{ward,smoker}');
SELECT * FROM sanitize.private_krimp_generate(NULL::stays, 1, 10, weights => '{"ward": 0}', columns => '{ward,smoker}');
SELECT * FROM sanitize.private_krimp_generate(NULL::stays, 1, 10, class => 'ward', columns => '{ward}');
SELECT * FROM sanitize.private_krimp_generate(NULL::letters, 1, 10);
-- The limit of itemsets is one of nodes too.
SET pg_sanitize.max_itemsets = 10;
SELECT * FROM sanitize.code_tree('letters', 0.05);
SELECT * FROM sanitize.code_tree('letters', 0.05, candidates => 'pairs');
RESET pg_sanitize.max_itemsets;
-- Who may read may draw.
CREATE ROLE sanitize_reader;
SET ROLE sanitize_reader;
SELECT count(*) FROM sanitize.code_tree('letters', 0.1);
SELECT count(*) FROM sanitize.code_tree_generate(NULL::letters, 1);
SELECT count(*) FROM sanitize.private_krimp_generate(NULL::stays, 1, 10, columns => '{ward}');
RESET ROLE;
-- A hostile column name is a name.
CREATE TABLE "odd ""t" ("a"";drop table letters;--" text, b text);
INSERT INTO "odd ""t" VALUES ('{"x": 1}', 'y'), ('{"x": 1}', 'y'), (NULL, 'z');
SELECT * FROM sanitize.code_tree('"odd ""t"', 0.1, nulls => 'value');
DROP ROLE sanitize_reader;
DROP VIEW adults;
DROP TABLE letters, gaps, people, made, stays, nobody, private, "odd ""t";
DROP TYPE mood;
