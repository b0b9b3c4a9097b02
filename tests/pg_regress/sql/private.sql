-- Differentially private samples and their labels. What is random is counted or seeded here; the
-- laws are tested in crates/sample and by the client tests.
CREATE TYPE sex AS ENUM ('f', 'm');
CREATE TABLE wards (ward text PRIMARY KEY);
INSERT INTO wards VALUES ('N'), ('S'), ('W');
CREATE TABLE stays (id int, sex sex, smoker bool, ward text REFERENCES wards, age int CHECK (age IN (20, 40, 60)), note text);
INSERT INTO stays SELECT i, (CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END)::sex, i % 3 = 0, CASE WHEN i % 50 = 0 THEN 'W' ELSE 'N' END, 20 + 20 * (i % 2), 'note ' || i % 2
  FROM generate_series(1, 20000) AS i;

-- A seed repeats a sample, whatever the threads and the order of the rows.
CREATE TABLE one AS SELECT * FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, columns => '{sex,smoker,ward,age}', seed => 7);
SET pg_sanitize.threads = 4;
CREATE TABLE two AS SELECT * FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, columns => '{sex,smoker,ward,age}', seed => 7);
RESET pg_sanitize.threads;
CREATE TABLE shuffled (LIKE stays INCLUDING ALL);
INSERT INTO shuffled SELECT * FROM stays ORDER BY md5(id::text);
ALTER TABLE shuffled ADD FOREIGN KEY (ward) REFERENCES wards;
CREATE TABLE three AS SELECT * FROM sanitize.dp_mii_sample(NULL::shuffled, 1, 1e-6, 20, columns => '{sex,smoker,ward,age}', seed => 7);
SELECT count(*) FROM (SELECT * FROM one EXCEPT ALL SELECT * FROM two) AS d;
SELECT count(*) FROM (SELECT * FROM one EXCEPT ALL SELECT * FROM three) AS d;
SELECT count(*) > 5000 AS many, count(id) AS ids, count(note) AS notes, bool_and(sex IS NOT NULL) AS sex FROM one;
SELECT sanitize.k_anonymity('one', '{sex,smoker,ward,age}') >= 20 AS k;
-- Another seed, another sample; no seed, fresh coins.
SELECT (SELECT count(*) FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, columns => '{sex,age}', seed => 8)) <> (SELECT count(*) FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, columns => '{sex,age}', seed => 9)) AS differ;
SELECT count(DISTINCT n) > 1 AS fresh FROM (SELECT (SELECT count(*) FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, columns => CASE WHEN i > 0 THEN '{sex,age}'::text[] END)) AS n FROM generate_series(1, 6) AS i) AS runs;
-- The other schemes.
SELECT count(*) > 3000 AS many FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, 'dp_split', columns => '{sex,smoker,ward,age}');
CREATE TABLE census AS SELECT sex, smoker, ward, age FROM stays;
SELECT count(*) > 5000 AS many, count(ward) > 5000 AS wards FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, 'public', public_source => 'census', columns => '{sex,smoker,ward,age}');
SELECT count(*) > 3000 AS many FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, 'paper', columns => '{sex,smoker,ward,age}');
-- What is public says the scheme.
SELECT count(*) > 5000 AS many, count(ward) > 5000 AS wards FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, public_source => 'census', columns => '{sex,smoker,ward,age}');
-- Rules alone blank what they name and nothing else; NULL is no value of a pair.
SELECT count(*) > 5000 AS many, count(sex) AS sexes, count(age) = count(*) AS ages FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, columns => '{sex,age}', rules => '[["sex"]]');
SELECT DISTINCT sex, ward FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, columns => '{sex,ward}', rules => '[{"sex": "f", "ward": "N"}, {"ward": "nowhere"}]') ORDER BY 1, 2;
-- Rules and a table: in the table all wards but N are rare.
CREATE TABLE north AS SELECT sex, 'N'::text AS ward FROM stays;
SELECT DISTINCT sex, ward FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, columns => '{sex,ward}', public_source => 'north', rules => '[{"sex": "m"}]') ORDER BY 1, 2;
-- A threshold by hand: everything is rare, or nothing that the table has.
SELECT count(sex) AS sexes, count(*) > 5000 AS many FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, columns => '{sex,age}', public_source => 'census', theta1 => 20000);
SELECT count(sex) = count(*) AS sexes, count(*) > 5000 AS many FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, columns => '{sex,age}', public_source => 'census', theta1 => 0);
SELECT count(sex) AS sexes, count(*) > 5000 AS many FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, columns => '{sex,age}', theta1 => 20000);
SELECT count(sex) AS sexes, count(*) > 3000 AS many FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, 'paper', columns => '{sex,age}', theta1 => 20000);
-- Whole columns are shown or not; what is all but a key is not. No domain is needed.
SELECT count(*) > 5000 AS many, count(id) AS ids, count(sex) = count(*) AS sexes, count(age) = count(*) AS ages FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, 'dp_select', columns => '{id,sex,age}');
SELECT count(*) > 5000 AS many FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, 'dp_select', columns => '{sex,age}', theta1 => 19);
-- More columns than all sets of them can be tried of.
CREATE TABLE wide AS SELECT i % 2 AS a, i % 3 AS b, i AS c, i AS d, i AS e, i AS f, i AS g, i AS h, i AS i, i AS j, i AS k, i AS l, i AS m, i AS n, i AS o, i AS p, i AS q, i AS r FROM generate_series(1, 2000) AS i;
SELECT count(c) + count(r) AS keys FROM sanitize.dp_mii_sample(NULL::wide, 1, 1e-6, 20, 'dp_select');
DROP TABLE wide, north;
-- That scheme draws with replacement: a row can be released more often than it occurs.
CREATE TABLE few AS SELECT i / 5 AS a, i AS id FROM generate_series(0, 999) AS i;
SELECT count(*) > count(DISTINCT id) AS again FROM sanitize.dp_mii_sample(NULL::few, 5, 0.5, 2, 'paper', columns => '{a}', keep => '{id}');
DROP TABLE few;
-- Kept columns come along unprotected.
SELECT count(id) = count(*) AS kept FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, columns => '{sex,age}', keep => '{id}');
-- Values outside the public domain are not shown, however frequent.
SELECT sanitize.declare_domain('stays', 'note', ARRAY['note 0']);
SELECT DISTINCT note FROM sanitize.dp_mii_sample(NULL::stays, 2, 1e-3, 20, columns => '{note}') ORDER BY 1;
-- An empty table is no error: that would tell that it is empty.
CREATE TABLE empty (a bool, b bool);
SELECT count(*) FROM sanitize.dp_mii_sample(NULL::empty, 1, 1e-6, 5);

-- Bad input.
SELECT * FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20);
SELECT * FROM sanitize.dp_mii_sample(NULL::stays, 0, 1e-6, 20);
SELECT * FROM sanitize.dp_mii_sample(NULL::stays, 'NaN', 1e-6, 20);
SELECT * FROM sanitize.dp_mii_sample(NULL::stays, 1, 1, 20);
SELECT * FROM sanitize.dp_mii_sample(NULL::stays, 1, -1, 20);
SELECT * FROM sanitize.dp_mii_sample(NULL::stays, 1, 0, 20);
SELECT * FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 1);
SELECT * FROM sanitize.dp_mii_sample(NULL::stays, NULL, 1e-6, 5);
SELECT * FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, 'best');
SELECT * FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, 'public');
SELECT * FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, 'dp_counts', public_source => 'census');
SELECT * FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, 'public', public_source => 'wards', columns => '{sex}');
SELECT * FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, split => 0);
SELECT * FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, max_length => 0);
SELECT * FROM sanitize.dp_mii_sample(NULL::int, 1, 1e-6, 20);
SELECT * FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, 'dp_counts', rules => '[]', columns => '{sex}');
SELECT * FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, rules => '{}', columns => '{sex}');
SELECT * FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, rules => '["sex"]', columns => '{sex}');
SELECT * FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, rules => '[{}]', columns => '{sex}');
SELECT * FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, rules => '[[1]]', columns => '{sex}');
SELECT * FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, rules => '[{"age": 40}]', columns => '{age}');
SELECT * FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, rules => '[["sex", "agee"]]', columns => '{sex,age}');
SELECT * FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, rules => '[{"age": "40"}]', columns => '{sex}');
SELECT * FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, theta1 => -1);
SELECT * FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, rules => '[["sex"]]', theta1 => 5);
SELECT * FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, 'dp_select', max_length => 2);

-- From a protected relation nothing is released that protects nobody; nothing is charged for it.
SELECT sanitize.protect('stays', 'id', 10, 0.01, max_rows_per_unit => 1);
SELECT * FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, columns => '{sex}', keep => '{id}');
SELECT * FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, columns => '{sex}', seed => 1);
SELECT * FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, 'paper', columns => '{sex}');
SELECT epsilon_spent FROM sanitize.budget WHERE source = 'stays'::regclass;
SELECT sanitize.unprotect('stays');
-- It is refused before anything is read: reading this view fails.
CREATE VIEW broken AS SELECT id, 1 / (id - id) AS a FROM stays;
SELECT sanitize.protect('broken', 'id', 10, 0.01, max_rows_per_unit => 1);
SELECT * FROM sanitize.dp_mii_sample(NULL::broken, 1, 1e-6, 20, 'dp_select', columns => '{a}', seed => 1);
SELECT sanitize.unprotect('broken');
SELECT * FROM sanitize.dp_mii_sample(NULL::broken, 1, 1e-6, 20, 'dp_select', columns => '{a}', seed => 1);
DROP VIEW broken;

-- Labels.
\pset format unaligned
SELECT jsonb_pretty(sanitize.guarantee('dp_mii_sample', '{"epsilon": 1, "delta": 1e-6, "k": 20, "columns": ["sex", "age"]}'));
SELECT l ->> 'kind' AS kind, l ->> 'rng' AS rng, l -> 'epsilon' AS epsilon, l -> 'proved' AS proved FROM sanitize.guarantee('dp_mii_sample', '{"epsilon": 1, "delta": 1e-6, "k": 20, "seed": 1}') AS l;
SELECT l ->> 'kind' AS kind, l -> 'k' AS k, l -> 'proved' AS proved FROM sanitize.guarantee('dp_mii_sample', '{"epsilon": 1, "delta": 1e-6, "k": 20, "keep": ["id", "note"]}') AS l;
SELECT l ->> 'kind' AS kind, l -> 'proved' AS proved FROM sanitize.guarantee('dp_mii_sample', '{"epsilon": 1, "delta": 1e-6, "k": 20, "keep": ["id"], "seed": 1}') AS l;
SELECT l ->> 'mechanism' AS mechanism, l ->> 'kind' AS kind FROM sanitize.guarantee('dp_mii_sample', '{"epsilon": 1, "delta": 1e-6, "k": 20, "rules": [["sex"]]}') AS l;
SELECT l ->> 'mechanism' AS mechanism, l ->> 'kind' AS kind FROM sanitize.guarantee('dp_mii_sample', '{"epsilon": 1, "delta": 1e-6, "k": 20, "scheme": "dp_select", "theta1": 19}') AS l;
SELECT l ->> 'kind' AS kind, l -> 'proved' AS proved, l ->> 'paper_claim_holds' AS holds, l ->> 'mode' AS mode FROM sanitize.guarantee('dp_mii_sample', '{"epsilon": 1, "delta": 1e-6, "k": 20, "scheme": "paper"}') AS l;
SELECT jsonb_pretty(sanitize.guarantee('k_mii', '{"k": 5, "keep": ["id"]}'));
SELECT jsonb_pretty(sanitize.guarantee('mii_suppress', '{"theta": 4, "max_length": 3}'));
SELECT l ->> 'kind' AS kind, l -> 'metrics' AS metrics, l -> 'proved' AS proved FROM sanitize.guarantee('mii_suppress', '{"theta": 4, "keep": ["id"]}') AS l;
SELECT jsonb_pretty(sanitize.guarantee('dp_aggregate', '{"measures": {"n": "count"}, "epsilon": 0.5, "unit": "id", "max_rows_per_unit": 3}'));
SELECT l ->> 'kind' AS kind, l -> 'delta' AS delta, l ->> 'mechanism' AS mechanism, l ->> 'assumptions' AS assumptions FROM sanitize.guarantee('dp_aggregate', '{"epsilon": 1, "delta": 1e-6, "group_by": ["ward"], "max_groups_per_unit": 2, "assume_stable": true, "filter": {"sex": "f"}, "reuse": "1 day"}') AS l;
SELECT l ->> 'assumptions' AS assumptions FROM sanitize.guarantee('dp_aggregate', '{"epsilon": 1, "group_by": ["ward"], "groups": [["N"], ["S"]]}') AS l;
SELECT sanitize.guarantee('k_anonymize', '{"k": 5}') ->> 'sentence' AS sentence;
SELECT l ->> 'kind' AS kind FROM sanitize.guarantee('impute', '{"of": "dp_mii_sample", "of_options": {"epsilon": 1, "delta": 1e-6, "k": 20}}') AS l;
SELECT l ->> 'kind' AS kind FROM sanitize.guarantee('impute', '{"of": "k_mii", "of_options": {"k": 20}}') AS l;
SELECT l ->> 'kind' AS kind FROM sanitize.guarantee('impute') AS l;
SELECT sanitize.guarantee('magic');
SELECT sanitize.guarantee(NULL);
SELECT sanitize.guarantee('k_mii');
SELECT sanitize.guarantee('k_mii', '[]');
SELECT sanitize.guarantee('k_mii', '{"k": 1}');
SELECT sanitize.guarantee('k_mii', '{"k": 5, "q": 1}');
SELECT sanitize.guarantee('k_mii', '{"k": 5, "keep": [1]}');
SELECT sanitize.guarantee('dp_aggregate', '{"epsilon": 0.5, "seed": 1}');
SELECT sanitize.guarantee('dp_aggregate', '{"epsilon": 0}');
SELECT sanitize.guarantee('dp_aggregate', '{"measures": {}, "epsilon": 1}');
SELECT sanitize.guarantee('dp_aggregate', '{"epsilon": 1, "group_by": ["ward"]}');
SELECT sanitize.guarantee('dp_aggregate', '{"epsilon": 1, "groups": [["N"]]}');
SELECT sanitize.guarantee('dp_mii_sample', '{"epsilon": -1, "delta": 1e-6, "k": 20}');

\pset format aligned
DELETE FROM sanitize.declared_domain;
DROP TABLE stays, wards, one, two, three, shuffled, census, empty;
DROP TYPE sex;
