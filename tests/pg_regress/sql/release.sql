-- MII suppression and k-MII: rows of the source's own type.
CREATE TABLE stays (sex text, age int, ward text);
INSERT INTO stays VALUES
    ('m', 30, 'N'), ('m', 30, 'N'), ('m', 30, 'S'), ('f', 30, 'N'), ('f', 40, 'S'),
    ('f', 40, 'S'), ('m', 40, 'N'), ('f', 40, 'N'), ('m', 50, 'N'), ('f', 30, 'N');
SELECT * FROM sanitize.mii_suppress(NULL::stays, theta => 1);
SELECT * FROM sanitize.k_mii(NULL::stays, k => 2);
CREATE TABLE letters (a text, b text, c text);
INSERT INTO letters VALUES ('a','x','p'), ('a','x','p'), ('a','x','q'), ('a','y','p'), ('b','x','p'), ('b','y','q'), ('b','y','q'), ('b','y','p');
SELECT * FROM sanitize.mii_suppress(NULL::letters, 1);
SELECT * FROM sanitize.k_mii(NULL::letters, 2);
CREATE TABLE pairs (a text, b text);
INSERT INTO pairs VALUES ('a','x'), ('a','x'), ('a','x'), ('a','y'), ('b','x'), ('b','x'), ('c','z');
SELECT * FROM sanitize.mii_suppress(NULL::pairs, 1);
-- A row that is only contained in others is not one of k equal ones.
SELECT * FROM sanitize.k_mii(NULL::pairs, 2);
-- theta 0 changes nothing but the order.
SELECT count(*) FROM (SELECT * FROM sanitize.mii_suppress(NULL::stays, 0) EXCEPT ALL SELECT * FROM stays) AS changed;

-- columns and keep: what is in neither list comes back NULL.
SELECT * FROM sanitize.k_mii(NULL::stays, 2, columns => '{sex,ward}');
SELECT * FROM sanitize.k_mii(NULL::stays, 2, columns => '{sex,ward}', keep => '{age}');
SELECT * FROM sanitize.k_mii(NULL::stays, 2, keep => '{age}');
SELECT * FROM sanitize.mii_suppress(NULL::stays, 1, max_length => 1);

-- What is suppressed is what mii_risk announced.
SELECT sum(num_nulls(sex, age, ward)) FROM sanitize.mii_suppress(NULL::stays, 1);
SELECT sum(cells) FROM sanitize.mii_risk('stays', 1) WHERE value IS NULL;

-- Every type comes back as it was, also where columns were dropped.
CREATE TYPE mood AS ENUM ('ok', 'bad');
CREATE TYPE place AS (street text, number int);
CREATE TABLE kinds (i int, gone int, n numeric, t text, d date, ts timestamptz, b bool, m mood, a text[], j jsonb, iv interval, u uuid, nm name, f float8, c char(4), r int4range, p place, by bytea, q "char", s smallint, l bigint);
ALTER TABLE kinds DROP COLUMN gone;
INSERT INTO kinds SELECT 1, 1.50, E'a\n"b', '2024-02-29', '2024-02-29 12:00+00', true, 'bad', '{x,NULL,"y z"}', '{"a": [1, null]}', '1 mon', '00000000-0000-0000-0000-000000000001', 'name', 1::float8 / 3, 'x', '[1,5)', ROW('Main', NULL)::place, '\x00ff', 'z', 2, 9223372036854775807 FROM generate_series(1, 3);
INSERT INTO kinds SELECT 2, 0.1, repeat('long ', 1000), 'infinity', '-infinity', false, 'ok', '{}', '[]', '-1 day', 'ffffffff-ffff-ffff-ffff-ffffffffffff', 'other', 'NaN', 'abcd', 'empty', NULL, '', 'y', -2, -1 FROM generate_series(1, 3);
SELECT count(*) FROM (SELECT * FROM sanitize.k_mii(NULL::kinds, 3) EXCEPT ALL SELECT * FROM kinds) AS changed;
SELECT count(*), pg_typeof(k) FROM sanitize.k_mii(NULL::kinds, 3) AS k GROUP BY 2;

-- In a view, CREATE TABLE AS, INSERT … SELECT, a join, a subquery.
CREATE VIEW safe_stays AS SELECT * FROM sanitize.k_mii(NULL::stays, 2);
SELECT count(*), count(age) FROM safe_stays;
CREATE TABLE copy AS SELECT * FROM safe_stays WHERE sex = 'f';
SELECT * FROM copy ORDER BY age;
INSERT INTO copy SELECT * FROM sanitize.k_mii(NULL::stays, 2);
SELECT count(*) FROM copy;
CREATE VIEW old_stays AS SELECT sex, ward FROM stays WHERE age >= 30;
SELECT sex, ward, count(*) FROM sanitize.k_mii(NULL::old_stays, 2) GROUP BY 1, 2 ORDER BY 1, 2;

-- Columns that cannot be NULL: a release may hold NULL in them; storing it there fails as it should.
CREATE TABLE strict (a int NOT NULL, b text, c int GENERATED ALWAYS AS (7) STORED, d int GENERATED ALWAYS AS IDENTITY);
INSERT INTO strict (a, b) VALUES (1, 'x'), (1, 'x'), (2, 'y');
SELECT * FROM sanitize.mii_suppress(NULL::strict, 1, '{a,b}', '{c}');
INSERT INTO strict (a, b) SELECT a, b FROM sanitize.mii_suppress(NULL::strict, 1, '{a,b}');
INSERT INTO strict SELECT * FROM sanitize.mii_suppress(NULL::strict, 1, '{a,b}', '{c}');
CREATE DOMAIN present AS text NOT NULL;
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE TABLE domains (a present, b positive);
INSERT INTO domains VALUES ('x', 1), ('x', 1), ('y', 2);
SELECT * FROM sanitize.mii_suppress(NULL::domains, 1);
SELECT * FROM sanitize.mii_suppress(NULL::domains, 1, '{b}');
SELECT * FROM sanitize.mii_suppress(NULL::domains, 1, '{b}', '{a}');

-- The order tells nothing of what was blanked: equal released rows stand together.
CREATE TABLE ordered AS SELECT CASE WHEN i = 50 THEN 'rare' ELSE 'c' || i % 2 END AS a, i % 5 AS b FROM generate_series(1, 100) AS i;
SELECT n FROM (SELECT row_number() OVER () AS n, a FROM sanitize.mii_suppress(NULL::ordered, 1)) AS r WHERE a IS NULL;

-- Bad input.
SELECT * FROM sanitize.k_mii(NULL::int, 2);
SELECT * FROM sanitize.k_mii(NULL::mood, 2);
SELECT * FROM sanitize.k_mii(NULL, 2);
SELECT * FROM sanitize.k_mii(NULL::place, 2);
SELECT * FROM sanitize.k_mii(NULL::stays, 1);
SELECT * FROM sanitize.k_mii(NULL::stays, NULL);
SELECT * FROM sanitize.k_mii(NULL::stays, 11);
SELECT * FROM sanitize.mii_suppress(NULL::stays, -1);
SELECT * FROM sanitize.mii_suppress(NULL::stays, NULL);
SELECT * FROM sanitize.mii_suppress(NULL::stays, 10);
SELECT * FROM sanitize.mii_suppress(NULL::stays, 1, max_length => 0);
SELECT * FROM sanitize.mii_suppress(NULL::stays, 1, '{}');
SELECT * FROM sanitize.mii_suppress(NULL::stays, 1, '{nope}');
SELECT * FROM sanitize.mii_suppress(NULL::stays, 1, keep => '{nope}');
SELECT * FROM sanitize.mii_suppress(NULL::stays, 1, '{sex,sex}');
SELECT * FROM sanitize.mii_suppress(NULL::stays, 1, '{sex}', '{sex}');
SELECT * FROM sanitize.mii_suppress(NULL::stays, 1, keep => '{sex,age,ward}');
CREATE TABLE empty (a int);
SELECT * FROM sanitize.k_mii(NULL::empty, 2);
-- A table in which everybody is alone: everything is blanked, and the blank rows are alike.
CREATE TABLE lonely AS SELECT i AS a, i AS b FROM generate_series(1, 4) AS i;
SELECT * FROM sanitize.k_mii(NULL::lonely, 2);

-- k_anonymize: the same promise with fewer blanks.
SELECT * FROM sanitize.k_anonymize(NULL::stays, 2);
SELECT sex, age, ward, count(*) FROM sanitize.k_anonymize(NULL::stays, 3) GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
SELECT min(count) AS k FROM (SELECT count(*) FROM sanitize.k_anonymize(NULL::stays, 5) GROUP BY sex, age, ward) AS classes;
-- What a column is worth decides what goes.
SELECT count(*), count(sex) AS sex, count(age) AS age, count(ward) AS ward FROM sanitize.k_anonymize(NULL::stays, 3, weights => '{"age": 10}');
SELECT count(*), count(sex) AS sex, count(age) AS age, count(ward) AS ward FROM sanitize.k_anonymize(NULL::stays, 3, weights => '{"age": 0.1}');
SELECT count(*), count(sex) AS sex, count(age) AS age, count(ward) AS ward FROM sanitize.k_anonymize(NULL::stays, 2, columns => '{sex,ward}', keep => '{age}');
CREATE TABLE many AS SELECT i % 7 AS a, i % 11 AS b, i % 13 AS c, md5((i / 10)::text) AS d FROM generate_series(1, 3000) AS i;
SELECT sanitize.k_anonymity((SELECT sanitize.row_bag(m) FROM sanitize.k_anonymize(NULL::many, 5) AS m)) >= 5 AS k;
SET pg_sanitize.threads = 1;
CREATE TABLE one AS SELECT * FROM sanitize.k_anonymize(NULL::many, 5);
SET pg_sanitize.threads = 4;
SELECT count(*) FROM (SELECT * FROM one EXCEPT ALL SELECT * FROM sanitize.k_anonymize(NULL::many, 5)) AS d;
RESET pg_sanitize.threads;
SELECT * FROM sanitize.k_anonymize(NULL::lonely, 2);
SELECT * FROM sanitize.k_anonymize(NULL::stays, 1);
SELECT * FROM sanitize.k_anonymize(NULL::stays, 11);
SELECT * FROM sanitize.k_anonymize(NULL::empty, 2);
SELECT * FROM sanitize.k_anonymize(NULL::stays, 2, weights => '[1]');
SELECT * FROM sanitize.k_anonymize(NULL::stays, 2, weights => '{"age": 0}');
SELECT * FROM sanitize.k_anonymize(NULL::stays, 2, weights => '{"age": "much"}');
SELECT * FROM sanitize.k_anonymize(NULL::stays, 2, weights => '{"nope": 1}');
SELECT * FROM sanitize.k_anonymize(NULL::stays, 2, max_length => 0);

-- Rights are the caller's, also behind a view of somebody else.
CREATE ROLE regress_analyst;
GRANT SELECT ON safe_stays TO regress_analyst;
SET ROLE regress_analyst;
SELECT count(*) FROM safe_stays;
SELECT count(*) FROM sanitize.k_mii(NULL::stays, 2);
RESET ROLE;
DROP OWNED BY regress_analyst;
DROP ROLE regress_analyst;

DROP VIEW safe_stays, old_stays;
DROP TABLE stays, letters, pairs, kinds, copy, strict, domains, ordered, empty, lonely, many, one;
DROP TYPE mood, place;
DROP DOMAIN present, positive;

-- A sample: combinations are searched for in some of the rows and blanked in all; classes are counted over all rows.
CREATE TABLE sampled AS
    SELECT 'a' || i % 3 AS a, 'b' || i % 5 AS b, CASE WHEN i % 97 = 0 THEN 'rare' || i ELSE 'c' END AS c
      FROM generate_series(1, 1000) AS i;
SELECT c, count(*) FROM sanitize.k_mii(NULL::sampled, 5, sample_share => 0.1) GROUP BY c ORDER BY c;
SELECT min(n) >= 5 AS k_holds
  FROM (SELECT count(*) AS n FROM sanitize.k_mii(NULL::sampled, 5, sample_share => 0.1) GROUP BY a, b, c) AS classes;
SELECT count(*) FROM (SELECT * FROM sanitize.mii_suppress(NULL::sampled, 4, sample_share => 0.2)
    EXCEPT ALL SELECT * FROM sanitize.mii_suppress(NULL::sampled, 4, sample_share => 0.2)) AS differ;
SELECT sanitize.guarantee('mii_suppress', '{"theta": 4, "sample_share": 0.2}') - 'sentence' AS label;
SELECT sanitize.publish('sampled_release', 'sampled', 'k_mii', '{"k": 5, "sample_share": 0.1}') -> 'rows' AS rows;
SELECT guarantee ->> 'incomplete' AS incomplete FROM sanitize.releases WHERE target = 'sampled_release'::regclass;
DROP TABLE sampled_release;
SELECT sanitize.k_mii(NULL::sampled, 5, sample_share => 0);
SELECT sanitize.k_mii(NULL::sampled, 5, sample_share => 'NaN');
SELECT sanitize.k_mii(NULL::sampled, 5, sample_share => 0.0001);
