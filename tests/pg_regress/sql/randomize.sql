-- Randomised cells, what can be estimated from them, and the arithmetic of dependence. What is random is
-- counted or seeded here; the laws are tested in crates/randomize and by the client tests.
CREATE TYPE sex AS ENUM ('f', 'm');
CREATE DOMAIN grade AS int NOT NULL CHECK (VALUE IN (1, 2, 3));
CREATE TABLE wards (ward text PRIMARY KEY);
INSERT INTO wards VALUES ('N'), ('S'), ('W');
CREATE TABLE stays (id int, sex sex NOT NULL, smoker bool, ward text REFERENCES wards, grade int NOT NULL CHECK (grade IN (1, 2, 3)), age int CHECK (age BETWEEN 0 AND 99), note text);
INSERT INTO stays SELECT i, (CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END)::sex, CASE WHEN i % 5 > 0 THEN i % 3 = 0 END, CASE WHEN i % 50 = 0 THEN 'W' ELSE 'N' END, 1 + i % 3, i % 100, 'note'
  FROM generate_series(1, 4000) AS i;
-- At a huge epsilon rows stay as they are, but for their order; columns that were not named are NULL.
CREATE TABLE kept AS SELECT * FROM sanitize.randomize_cells(NULL::stays, 1000, columns => '{sex,smoker,ward,grade}', keep => '{id}');
SELECT count(*) FROM (SELECT id, sex, smoker, ward, grade FROM stays EXCEPT SELECT id, sex, smoker, ward, grade FROM kept) AS d;
SELECT count(*), count(age), count(note) FROM kept;
SELECT (SELECT array_agg(id) FROM kept) = (SELECT array_agg(id ORDER BY id) FROM kept) AS ordered;
DROP TABLE kept;
-- Columns are of their own types, and a column without NULL gets none.
CREATE TABLE released AS SELECT * FROM sanitize.randomize_cells(NULL::stays, 1, columns => '{sex,smoker,ward,grade,age}');
SELECT count(*), count(sex) AS sexes, count(grade) AS grades, count(smoker) BETWEEN 2000 AND 3000 AS smokers, count(ward) BETWEEN 2500 AND 3500 AS wards, count(id) AS ids, bool_and(age BETWEEN 0 AND 99) AS ages, count(DISTINCT age) AS age_values FROM released;
SELECT pg_typeof(sex), pg_typeof(age) FROM released LIMIT 1;
-- A domain type that forbids NULL: its column cannot be left out, with or without rows.
CREATE TABLE graded (grade grade, sex sex);
SELECT sanitize.declare_domain('graded', 'grade', ARRAY['1', '2', '3']);
SELECT * FROM sanitize.randomize_cells(NULL::graded, 1, columns => '{sex}');
INSERT INTO graded SELECT 2, 'f' FROM generate_series(1, 300);
SELECT * FROM sanitize.randomize_cells(NULL::graded, 1, columns => '{sex}');
SELECT count(grade), count(DISTINCT grade), count(sex) < 300 AS nulls FROM sanitize.randomize_cells(NULL::graded, 1);
-- A seed repeats the rows, whatever the threads and the order of the rows; without it coins are fresh.
CREATE TABLE one AS SELECT * FROM sanitize.randomize_cells(NULL::stays, 2, columns => '{sex,ward,age}', seed => 7);
SET pg_sanitize.threads = 4;
CREATE TABLE two AS SELECT * FROM sanitize.randomize_cells(NULL::stays, 2, columns => '{sex,ward,age}', seed => 7);
RESET pg_sanitize.threads;
CREATE TABLE shuffled (LIKE stays INCLUDING ALL);
INSERT INTO shuffled SELECT * FROM stays ORDER BY md5(id::text);
ALTER TABLE shuffled ADD FOREIGN KEY (ward) REFERENCES wards;
CREATE TABLE three AS SELECT * FROM sanitize.randomize_cells(NULL::shuffled, 2, columns => '{sex,ward,age}', seed => 7);
SELECT (SELECT array_agg(one::text) FROM one) = (SELECT array_agg(two::text) FROM two) AS threads, (SELECT array_agg(one::text) FROM one) = (SELECT array_agg(three::text) FROM three) AS order_of_rows;
SELECT count(*) > 100 AS fresh FROM (SELECT * FROM sanitize.randomize_cells(NULL::stays, 2, columns => '{sex,ward,age}') EXCEPT ALL SELECT * FROM one) AS d;
DROP TABLE one, two, three, shuffled;
-- A column with one value stays as it is, at any epsilon.
CREATE TABLE single (a int NOT NULL, b bool NOT NULL);
SELECT sanitize.declare_domain('single', 'a', ARRAY['5']);
INSERT INTO single SELECT 5, i % 2 = 0 FROM generate_series(1, 100) AS i;
SELECT DISTINCT a FROM sanitize.randomize_cells(NULL::single, 0.001);
-- Values outside the public domain: NULL, or a value that is drawn.
CREATE TABLE outside (a text, b text NOT NULL);
INSERT INTO outside SELECT 'strange', 'strange' FROM generate_series(1, 50);
SELECT sanitize.declare_domain('outside', 'a', ARRAY['x', 'y']), sanitize.declare_domain('outside', 'b', ARRAY['x', 'y']);
SELECT DISTINCT a, b IN ('x', 'y') AS b FROM sanitize.randomize_cells(NULL::outside, 1000) ORDER BY 1;
-- Weights: nearly all of epsilon for one column.
SELECT count(*) FILTER (WHERE sex = 'f') > 1900 AS kept, count(DISTINCT ward) AS wards FROM sanitize.randomize_cells(NULL::stays, 30, '{"sex": 1000000}', columns => '{sex,ward}') AS r;
-- Views, materialized views and tables without rows.
CREATE VIEW adults AS SELECT sex, smoker FROM stays WHERE age >= 18;
SELECT sanitize.declare_domain('adults', 'sex', ARRAY['f', 'm']);
SELECT count(*) FROM sanitize.randomize_cells(NULL::adults, 1);
CREATE TABLE nobody (LIKE stays INCLUDING ALL);
SELECT count(*) FROM sanitize.randomize_cells(NULL::nobody, 1, columns => '{sex,age}');
-- What cannot be.
SELECT * FROM sanitize.randomize_cells(NULL::stays, 1);
SELECT * FROM sanitize.randomize_cells(NULL::stays, 1, columns => '{note}');
SELECT * FROM sanitize.randomize_cells(NULL::stays, 0, columns => '{sex}');
SELECT * FROM sanitize.randomize_cells(NULL::stays, -1, columns => '{sex}');
SELECT * FROM sanitize.randomize_cells(NULL::stays, 'NaN', columns => '{sex}');
SELECT * FROM sanitize.randomize_cells(NULL::stays, 'Infinity', columns => '{sex}');
SELECT * FROM sanitize.randomize_cells(NULL::stays, NULL, columns => '{sex}');
SELECT * FROM sanitize.randomize_cells(NULL::int, 1);
SELECT * FROM sanitize.randomize_cells(NULL::stays, 1, columns => '{sex,nothing}');
SELECT * FROM sanitize.randomize_cells(NULL::stays, 1, columns => '{sex}', keep => '{sex}');
SELECT * FROM sanitize.randomize_cells(NULL::stays, 1, '{"ward": 2}', columns => '{sex}');
SELECT * FROM sanitize.randomize_cells(NULL::stays, 1, '{"sex": 0}', columns => '{sex}');
SELECT * FROM sanitize.randomize_cells(NULL::stays, 1, '{"sex": "much"}', columns => '{sex}');
SELECT * FROM sanitize.randomize_cells(NULL::stays, 1, '[2]', columns => '{sex}');
-- A protected relation: the charge stands before anything is read, and nothing without protection is released.
SELECT sanitize.protect('stays', 'id', 3, max_rows_per_unit => 1, row_count_public => true);
SELECT count(*) FROM sanitize.randomize_cells(NULL::stays, 1, columns => '{sex,age}');
SELECT * FROM sanitize.randomize_cells(NULL::stays, 1, columns => '{sex}', keep => '{id}');
SELECT * FROM sanitize.randomize_cells(NULL::stays, 1, columns => '{sex}', seed => 1);
SELECT * FROM sanitize.randomize_cells(NULL::stays, 5, columns => '{sex}');
SELECT what, epsilon, delta FROM sanitize.ledger WHERE what = 'randomize_cells';
SELECT epsilon_spent FROM sanitize.budget WHERE source = 'stays'::regclass;
SELECT sanitize.unprotect('stays');
-- Labels.
SELECT key, value FROM jsonb_each(sanitize.guarantee('randomize_cells', '{"epsilon": 1.5}')) ORDER BY key COLLATE "C";
SELECT g ->> 'kind' AS kind, g -> 'proved' AS proved FROM sanitize.guarantee('randomize_cells', '{"epsilon": 1.5, "keep": ["id"]}') AS g;
SELECT g ->> 'kind' AS kind, g -> 'proved' AS proved FROM sanitize.guarantee('randomize_cells', '{"epsilon": 1.5, "seed": 3}') AS g;
SELECT sanitize.guarantee('randomize_cells', '{"epsilon": 0}');

-- Keep probabilities: vectors 000-rr-4, 000-krr-2 and 000-krr-4.
SELECT round(sanitize.rr_keep_probability(1.0986122886681098, 2)::numeric, 12), round(sanitize.rr_keep_probability(1, 4)::numeric, 12), round(sanitize.rr_keep_probability(0.1, 97)::numeric, 12), sanitize.rr_keep_probability(0, 4), sanitize.rr_keep_probability(2, 1);
SELECT sanitize.rr_keep_probability(1, 0);
SELECT sanitize.rr_keep_probability(-1, 2);
-- Supports: vectors 000-prodest-0 and 000-prodest-2.
CREATE TABLE observed (a int CHECK (a IN (0, 1)), b int CHECK (b IN (0, 1, 2)), c int CHECK (c IN (0, 1, 2)));
INSERT INTO observed VALUES (0, 1, 2), (0, 1, 0), (1, 1, 2), (0, 0, 1), (1, 2, 2), (0, 1, 2), (1, 0, 0), (0, 2, 1);
SELECT round(estimate::numeric, 12) AS estimate, round(stddev::numeric, 9) AS stddev, rows FROM sanitize.rr_support('observed', '{"a": "0"}', 3);
SELECT round(estimate::numeric, 12) AS estimate, round(stddev::numeric, 9) AS stddev, rows FROM sanitize.rr_support('observed', '{"a": "0", "b": "1", "c": "2"}', 6);
-- The same shares by weights and columns, and domains of another relation.
SELECT round(estimate::numeric, 12) AS estimate FROM sanitize.rr_support('observed', '{"a": "0"}', 1, columns => '{a}');
SELECT round(estimate::numeric, 12) AS estimate FROM sanitize.rr_support('observed', '{"a": "0"}', 2, '{"a": 2}');
CREATE TABLE copied AS SELECT * FROM observed;
SELECT round(estimate::numeric, 12) AS estimate FROM sanitize.rr_support('copied', '{"a": "0"}', 3, domains_of => 'observed');
-- NULL is a value of a column if rows show it; or if it is asked for.
CREATE TABLE showing AS SELECT * FROM observed UNION ALL SELECT NULL, 0, 0;
SELECT round(estimate::numeric, 9) AS estimate, rows FROM sanitize.rr_support('showing', '{"a": "0"}', 3, domains_of => 'observed');
SELECT round(estimate::numeric, 9) AS estimate, rows FROM sanitize.rr_support('showing', '{"a": null}', 3, domains_of => 'observed');
SELECT round(estimate::numeric, 9) AS estimate, rows FROM sanitize.rr_support('observed', '{"a": null}', 3);
-- A value that no row shows, no rows, one row.
SELECT round(estimate::numeric, 9) AS estimate FROM sanitize.rr_support('copied', '{"c": "1", "a": "1"}', 3, domains_of => 'observed');
TRUNCATE copied;
SELECT * FROM sanitize.rr_support('copied', '{"a": "0"}', 3, domains_of => 'observed');
INSERT INTO copied VALUES (0, 0, 0);
SELECT round(estimate::numeric, 9) AS estimate, stddev, rows FROM sanitize.rr_support('copied', '{"a": "0"}', 3, domains_of => 'observed');
-- From a released table: six standard deviations.
SELECT abs(estimate - 0.5) < 6 * stddev AS near, stddev < 0.1 AS narrow FROM sanitize.rr_support('released', '{"sex": "f"}', 1, columns => '{sex,smoker,ward,grade,age}', domains_of => 'stays');
-- What cannot be.
SELECT * FROM sanitize.rr_support('observed', '{"a": "7"}', 3);
SELECT * FROM sanitize.rr_support('observed', '{"z": "7"}', 3);
SELECT * FROM sanitize.rr_support('observed', '{"c": "1"}', 3, columns => '{a,b}');
SELECT * FROM sanitize.rr_support('observed', '{"a": 0}', 3);
SELECT * FROM sanitize.rr_support('observed', '{}', 3);
SELECT * FROM sanitize.rr_support('observed', '[]', 3);
SELECT * FROM sanitize.rr_support('observed', NULL, 3);
SELECT * FROM sanitize.rr_support('observed', '{"a": "0"}', 0);
SELECT * FROM sanitize.rr_support('observed', '{"a": "0"}', 3, '{"b": -1}');
SELECT * FROM sanitize.rr_support('copied', '{"a": "0"}', 3);
SELECT * FROM sanitize.rr_support('released', '{"age": "30"}', 1, columns => '{sex,age}', domains_of => 'stays');

-- Dependence: 000-mi-2 is the bound at epsilon 2; randomised response of a fair bit stays below it.
SELECT round(epsilon::numeric, 9) AS epsilon, round(mutual::numeric, 9) AS mutual, round(mutual_bound::numeric, 9) AS mutual_bound, round(min_entropy_leakage::numeric, 9) AS leakage, round(guess::numeric, 9) AS guess, guess_bound FROM sanitize.dependence(ARRAY[[0.75, 0.25], [0.25, 0.75]], ARRAY[0.5, 0.5]);
SELECT * FROM sanitize.dependence('{{1,0},{0,1}}', '{0.5,0.5}');
SELECT * FROM sanitize.dependence('{{0.3,0.7},{0.3,0.7}}', '{0.5,0.5}');
SELECT * FROM sanitize.dependence('{0.3,0.7}', '{1}');
SELECT * FROM sanitize.dependence('{}', '{}');
SELECT * FROM sanitize.dependence('{{{1}}}', '{1}');
SELECT * FROM sanitize.dependence('{{0.3,0.6}}', '{1}');
SELECT * FROM sanitize.dependence('{{0.3,NULL}}', '{1}');
SELECT * FROM sanitize.dependence('{{1.5,-0.5}}', '{1}');
SELECT * FROM sanitize.dependence('{{NaN,1}}', '{1}');
SELECT * FROM sanitize.dependence('{{1},{1}}', '{1}');
SELECT * FROM sanitize.dependence('{{1},{1}}', '{0.5,0.6}');
SELECT * FROM sanitize.dependence('{{1},{1}}', '{{0.5,0.5}}');
SELECT * FROM sanitize.dependence(NULL, '{1}');
-- Exact counts: vectors 000-avg-0 and 000-avg-2.
SELECT round(sanitize.exact_count_epsilon(100, 0.5, 55)::numeric, 12), round(sanitize.exact_count_epsilon(1000, 0.1, 120)::numeric, 12), sanitize.exact_count_epsilon(10, 0.5, 0), sanitize.exact_count_epsilon(1000000000, 0.5, 500000000);
SELECT round(epsilon::numeric, 9) AS epsilon, round(refuse_epsilon::numeric, 9) AS refuse_epsilon, round(release_probability::numeric, 9) AS release_probability FROM sanitize.exact_count_epsilon(100, 0.5, 40, 60);
SELECT round(epsilon::numeric, 9) AS epsilon, round(refuse_epsilon::numeric, 9) AS refuse_epsilon, round(release_probability::numeric, 9) AS release_probability FROM sanitize.exact_count_epsilon(1000000000, 0.3, 299900000, 300050000);
SELECT * FROM sanitize.exact_count_epsilon(10, 0.5, 0, 10);
SELECT round(sanitize.exact_counts_epsilon(100, ARRAY[0.2, 0.3, 0.5], ARRAY[25, 25, 50])::numeric, 12), sanitize.exact_counts_epsilon(100, ARRAY[0.5, 0.5], ARRAY[100, 0]);
SELECT sanitize.exact_count_epsilon(0, 0.5, 0);
SELECT sanitize.exact_count_epsilon(10, 1, 3);
SELECT sanitize.exact_count_epsilon(10, 0.5, 11);
SELECT sanitize.exact_count_epsilon(-1, 0.5, 0);
SELECT * FROM sanitize.exact_count_epsilon(10, 0.5, 7, 3);
SELECT * FROM sanitize.exact_count_epsilon(10, 0.5, 3, 11);
SELECT * FROM sanitize.exact_count_epsilon(9000000000000000000, 0.5, 3, 11);
SELECT sanitize.exact_counts_epsilon(100, ARRAY[0.5, 0.5], ARRAY[25, 25]);
SELECT sanitize.exact_counts_epsilon(100, ARRAY[0.5, 0.6], ARRAY[50, 50]);
SELECT sanitize.exact_counts_epsilon(100, ARRAY[0.5, 0.5], ARRAY[100]);
SELECT sanitize.exact_counts_epsilon(100, ARRAY[0.5, 0.5], ARRAY[101, -1]);
SELECT sanitize.exact_counts_epsilon(100, ARRAY[0.5, 0.5], ARRAY[50, NULL]);
SELECT key, value FROM jsonb_each(sanitize.guarantee('exact_count_epsilon', '{"n": 100, "p": 0.5, "low": 40, "high": 60}')) ORDER BY key COLLATE "C";
SELECT g ->> 'kind' AS kind, g ->> 'sentence' AS sentence FROM sanitize.guarantee('exact_counts_epsilon', '{"n": 100, "probabilities": [0.5, 0.5], "counts": [40, 60]}') AS g;
SELECT g ->> 'kind' AS kind FROM sanitize.guarantee('exact_counts_epsilon', '{"n": 100, "probabilities": [0.5, 0.5], "counts": [100, 0]}') AS g;
DROP VIEW adults;
DROP TABLE stays, wards, released, graded, single, outside, nobody, observed, copied, showing;
DROP TYPE sex;
DROP DOMAIN grade;
