-- Releases whose coarser numbers and dates are stored in range types.
\set VERBOSITY default
CREATE SCHEMA pubr;
SET search_path = pubr;
SET datestyle = 'SQL, DMY';
CREATE TABLE people (gone int, id int PRIMARY KEY, birth date, seen timestamptz, age int, score float8, zip text,
    grade int, income numeric(10, 2), ill text);
ALTER TABLE people DROP COLUMN gone;
INSERT INTO people
SELECT i, date '1950-03-01' + 97 * i, timestamptz '2024-02-03 04:05:06+00' + i * interval '7 hours', 18 + i % 60,
       i / 4.0, (1000 + i % 40)::text, i % 4, 1000 + i, CASE WHEN i % 3 = 0 THEN 'flu' ELSE 'cold' END
  FROM generate_series(1, 200) AS i;
SELECT sanitize.declare_hierarchy('people', 'birth', '{"dates": ["year", "decade", "100 years"]}');
SELECT sanitize.declare_hierarchy('people', 'age', '{"ranges": [5, 20, 80], "show": "middle"}');
SELECT sanitize.declare_hierarchy('people', 'grade', '{"tree": [{"0": "10", "1": "10", "2": "20", "3": "20"}]}');
SELECT label -> 'k' AS k, label -> 'rows' AS rows
  FROM sanitize.publish('ranged', 'people', 'k_anonymize',
         '{"k": 5, "columns": ["birth", "age", "grade"], "sensitive": "ill", "l": 2, "generalize": true, "ranges": "range"}') AS label;
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
 WHERE attrelid = 'ranged'::regclass AND attnum > 0 ORDER BY attnum;
-- Every person is where they were, and no class is too small.
SELECT min(n), sum(n) FROM (SELECT count(*) AS n FROM ranged GROUP BY birth, age, grade) AS c;
SELECT sanitize.k_anonymity('ranged', '{birth,age,grade}') >= 5 AS kept, sanitize.l_diversity('ranged', 'ill', '{birth,age,grade}') >= 2 AS diverse;
SELECT count(*) AS misplaced FROM people AS p
 WHERE NOT EXISTS (SELECT FROM ranged AS r WHERE (r.birth IS NULL OR r.birth @> p.birth) AND (r.age IS NULL OR r.age @> p.age)
                      AND (r.grade IS NULL OR r.grade = p.grade OR r.grade = CASE WHEN p.grade < 2 THEN 10 ELSE 20 END));
SELECT bool_and(upper(age) - lower(age) IN (1, 5, 20, 80)) AS ages, count(*) FILTER (WHERE birth IS NOT NULL) > 0 AS births FROM ranged;
-- The same again, and as it was asked for.
SELECT label -> 'rows' AS rows FROM sanitize.refresh('ranged') AS label;
SELECT options ->> 'ranges' AS ranges FROM sanitize.releases WHERE target = 'ranged'::regclass;
-- Whole columns; all types, values that are not finite, and ends that the type does not have.
INSERT INTO people (id, birth, seen, age, score, income) VALUES
    (1001, 'infinity', '-infinity', 2147483647, 'Infinity', 0.5),
    (1002, '-infinity', 'infinity', -2147483648, 'NaN', -0.5),
    (1003, NULL, NULL, NULL, NULL, NULL);
SELECT sanitize.declare_hierarchy('people', 'seen', '{"dates": ["day", "week"]}');
SELECT sanitize.declare_hierarchy('people', 'score', '{"ranges": [0.5, 10]}');
SELECT sanitize.declare_hierarchy('people', 'income', '{"ranges": [100]}');
SET timezone = 'UTC';
SELECT sanitize.publish('whole', 'people', 'generalize',
         '{"levels": {"birth": 1, "seen": 2, "age": 2, "score": 2, "income": 1}, "ranges": "range", "keep": ["id"]}') ->> 'rows' AS rows;
SELECT birth, seen, age, score, grade, income FROM whole WHERE id IN (1, 200, 1001, 1002, 1003) ORDER BY id;
SELECT sanitize.publish('exact', 'people', 'generalize', '{"levels": {"age": 0}, "ranges": "range", "keep": ["id"]}') ->> 'rows' AS rows;
SELECT id, age FROM exact WHERE id IN (1, 1001, 1002, 1003) ORDER BY id;
-- What makes no sense.
SELECT sanitize.publish('no', 'people', 'k_mii', '{"k": 5, "ranges": "range"}');
SELECT sanitize.publish('no', 'people', 'k_anonymize', '{"k": 5, "ranges": "range"}');
SELECT sanitize.publish('no', 'people', 'k_anonymize', '{"k": 5, "generalize": true, "ranges": "text"}');
SELECT sanitize.publish('ranged', 'people', 'k_anonymize', '{"k": 5, "columns": ["birth", "age", "grade"], "generalize": true}');
SELECT * FROM sanitize.k_anonymize(NULL::ranged, 5) LIMIT 0;
RESET search_path;
RESET datestyle;
RESET timezone;
SET client_min_messages = warning;
DROP SCHEMA pubr CASCADE;
