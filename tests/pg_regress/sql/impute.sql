-- Filling the NULL cells of a release from the release alone.
CREATE TABLE released (id int, city text, zip text, age int, note text);
INSERT INTO released SELECT i, 'c' || i % 3, 'z' || i % 3, 20 + 10 * (i % 2), NULL FROM generate_series(1, 300) AS i;
UPDATE released SET zip = NULL WHERE id % 10 = 0;
UPDATE released SET age = NULL WHERE id % 7 = 0;
-- What the context determines comes back; a column without values stays NULL; the rest is untouched.
SELECT count(*), count(zip) AS zip, count(age) AS age, count(note) AS note, bool_and(right(zip, 1) = right(city, 1)) AS right_zip,
       sum(id) = (SELECT sum(id) FROM released) AS ids
  FROM sanitize.impute(NULL::released);
SELECT count(zip) AS zip, count(age) AS age FROM sanitize.impute(NULL::released, columns => '{age}');
SELECT count(zip) AS zip, bool_and(right(zip, 1) = right(city, 1)) AS right_zip FROM sanitize.impute(NULL::released, method => 'marginal');
-- A seed repeats the draw, whatever the order of the rows.
CREATE TABLE shuffled AS SELECT * FROM released ORDER BY md5(id::text);
SELECT count(*) FROM (SELECT id, zip, age FROM sanitize.impute(NULL::released, seed => 1) EXCEPT SELECT id, zip, age FROM sanitize.impute(NULL::shuffled, seed => 1)) AS d;
SELECT pg_typeof(age) FROM sanitize.impute(NULL::released) LIMIT 1;
CREATE TABLE empty (a int);
SELECT count(*) FROM sanitize.impute(NULL::empty);
-- Bad input.
SELECT * FROM sanitize.impute(NULL::released, method => 'guess');
SELECT * FROM sanitize.impute(NULL::released, method => NULL);
SELECT * FROM sanitize.impute(NULL::released, columns => '{nope}');
SELECT * FROM sanitize.impute(NULL::released, columns => '{}');
SELECT * FROM sanitize.impute(NULL::int);
DROP TABLE released, shuffled, empty;
