-- Synthetic tables from noisy marginals: the SQL side. Laws and accuracy are tested in crates/synth and by the
-- client tests; what is random is counted or seeded here.
CREATE TYPE sex AS ENUM ('m', 'f');
CREATE TABLE stays (id int, sex sex NOT NULL, smoker bool, ward text NOT NULL, age int NOT NULL, cost numeric(8,2), seen timestamptz, born date);
INSERT INTO stays SELECT i, (CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END)::sex, CASE WHEN i % 7 > 0 THEN i % 2 = 0 END, CASE WHEN i % 5 = 0 THEN 'N' ELSE 'S' END, i % 100, i % 1000, '2024-01-01 00:00:00Z'::timestamptz + i * interval '1 hour', '1950-01-01'::date + i
  FROM generate_series(1, 6000) AS i;

-- A missing domain is an error that shows how to declare it, before a row is read.
SELECT count(*) FROM sanitize.dp_synthesize(NULL::stays, 1);
SELECT count(*) FROM sanitize.dp_synthesize(NULL::stays, 1, columns => '{sex,ward}');
SELECT sanitize.declare_domain('stays', 'ward', '{N,S,W}');
SELECT sanitize.declare_bounds('stays', 'age', '0', '99', 20);
SELECT sanitize.declare_bounds('stays', 'cost', '0', '1000', 10);
SELECT sanitize.declare_bounds('stays', 'seen', '2024-01-01 00:00:00+00', '2024-12-31 00:00:00+00', 12);
SELECT sanitize.declare_bounds('stays', 'born', '1950-01-01', '1969-12-31');

-- Rows of the table's own type, columns that are not named NULL, values in their domains.
SELECT count(*) BETWEEN 5900 AND 6100 AS noisy, count(id) AS ids, count(sex) = count(*) AS sexes, count(DISTINCT ward) AS wards, min(age) >= 0 AND max(age) <= 99 AS ages
  FROM sanitize.dp_synthesize(NULL::stays, 5, columns => '{sex,ward,age}', seed => 1);
SELECT count(*) AS n, min(cost) >= 0 AND max(cost) <= 1000 AS costs, min(scale(cost)) AS scale, min(seen) >= '2024-01-01 00:00:00Z' AND max(seen) <= '2024-12-31 00:00:00Z' AS times, min(born) >= '1950-01-01' AND max(born) <= '1969-12-31' AS days
  FROM sanitize.dp_synthesize(NULL::stays, 5, n => 1000, columns => '{cost,seen,born}', seed => 1);
-- A seed repeats, whatever the threads.
CREATE TABLE one AS SELECT * FROM sanitize.dp_synthesize(NULL::stays, 1, n => 3000, columns => '{sex,smoker,ward,age}', seed => 7);
SET pg_sanitize.threads = 4;
CREATE TABLE two AS SELECT * FROM sanitize.dp_synthesize(NULL::stays, 1, n => 3000, columns => '{sex,smoker,ward,age}', seed => 7);
RESET pg_sanitize.threads;
SELECT count(*) FROM (SELECT * FROM one EXCEPT ALL SELECT * FROM two) AS d;
SELECT count(*) > 0 AS fresh FROM (SELECT * FROM one EXCEPT ALL SELECT * FROM sanitize.dp_synthesize(NULL::stays, 1, n => 3000, columns => '{sex,smoker,ward,age}', seed => 8)) AS d;

-- A model is drawn from for free, and does not need the relation.
CREATE TABLE models AS SELECT sanitize.dp_synthesizer('stays', 5, columns => '{sex,smoker,ward,age,seen}', workload => '{"columns": [["sex", "ward"]], "weights": [3]}') AS model;
SELECT model->>'format' AS format, model->'version' AS version, jsonb_array_length(model->'columns') AS columns, model->'label'->>'kind' AS kind, model->'label'->>'unit' AS unit, model->'label'->'epsilon' AS epsilon FROM models;
CREATE TYPE drawn AS (ward text, age int, sex sex, smoker bool, seen timestamptz, other int);
SELECT count(*) AS n, count(other) AS other, count(smoker) BETWEEN 100 AND 999 AS some_null, count(DISTINCT sex) AS sexes FROM sanitize.dp_synthesize(NULL::drawn, (SELECT model FROM models), 1000);
SELECT count(*) FROM sanitize.dp_synthesize(NULL::stays, (SELECT model FROM models), 0);
-- Whatever else it may be, it is refused.
SELECT count(*) FROM sanitize.dp_synthesize(NULL::drawn, '{}'::jsonb, 10);
SELECT count(*) FROM sanitize.dp_synthesize(NULL::drawn, (SELECT model || '{"version": 9}' FROM models), 10);
SELECT count(*) FROM sanitize.dp_synthesize(NULL::drawn, (SELECT model || '{"format": "x"}' FROM models), 10);
SELECT count(*) FROM sanitize.dp_synthesize(NULL::drawn, (SELECT model || '{"more": 1}' FROM models), 10);
SELECT count(*) FROM sanitize.dp_synthesize(NULL::drawn, (SELECT jsonb_set(model, '{columns,0,values}', '["m"]') FROM models), 10);
SELECT count(*) FROM sanitize.dp_synthesize(NULL::drawn, (SELECT jsonb_set(model, '{columns,0,name}', '"nothing"') FROM models), 10);
SELECT count(*) FROM sanitize.dp_synthesize(NULL::drawn, (SELECT jsonb_set(model, '{columns,0,name}', '"ward"') FROM models), 10);
SELECT count(*) FROM sanitize.dp_synthesize(NULL::drawn, (SELECT jsonb_set(model, '{columns,0,values,0}', '"nobody"') FROM models), 10);
SELECT count(*) FROM sanitize.dp_synthesize(NULL::drawn, (SELECT jsonb_set(model, '{columns,4,range,bins}', '5') FROM models), 10);
SELECT count(*) FROM sanitize.dp_synthesize(NULL::drawn, (SELECT model FROM models), -1);

-- Arguments that make no sense.
SELECT count(*) FROM sanitize.dp_synthesize(NULL::stays, 0, columns => '{sex}');
SELECT count(*) FROM sanitize.dp_synthesize(NULL::stays, 'NaN', columns => '{sex}');
SELECT count(*) FROM sanitize.dp_synthesize(NULL::stays, 1, 0, columns => '{sex}');
SELECT count(*) FROM sanitize.dp_synthesize(NULL::stays, 1, 1, columns => '{sex}');
SELECT count(*) FROM sanitize.dp_synthesize(NULL::stays, 1, n => -5, columns => '{sex}');
SELECT count(*) FROM sanitize.dp_synthesize(NULL::stays, 1, columns => '{sex,nothing}');
SELECT count(*) FROM sanitize.dp_synthesize(NULL::stays, 1, columns => '{}');
SELECT count(*) FROM sanitize.dp_synthesize(NULL::int, 1);
SELECT count(*) FROM sanitize.dp_synthesize(NULL::stays, 1, columns => '{sex,ward}', workload => '[]');
SELECT count(*) FROM sanitize.dp_synthesize(NULL::stays, 1, columns => '{sex,ward}', workload => '{"columns": [["sex", "age"]]}');
SELECT count(*) FROM sanitize.dp_synthesize(NULL::stays, 1, columns => '{sex,ward}', workload => '{"columns": [["sex", "ward"]], "weights": [0]}');
SELECT count(*) FROM sanitize.dp_synthesize(NULL::stays, 1, columns => '{sex,ward}', workload => '{"columns": [["sex", "ward"]], "weights": [1, 2]}');
SELECT count(*) FROM sanitize.dp_synthesize(NULL::stays, 1, columns => '{sex,ward}', workload => '{"pairs": []}');

-- Values that the domain does not have, NULL and the ends of every scale raise nothing.
CREATE TABLE odd (a text NOT NULL, b text, f float8, n numeric, d date, t timestamp, i int8);
INSERT INTO odd VALUES ('x', 'x', 'NaN', 'NaN', 'infinity', 'infinity', 9223372036854775807),
  ('y', 'z', 'Infinity', 1e300, '-infinity', '-infinity', -9223372036854775808),
  ('a', NULL, 1e-320, 1e-300, '2001-01-01', '2001-01-01', 0), ('a', 'a', NULL, NULL, NULL, NULL, NULL);
SELECT sanitize.declare_domain('odd', 'a', '{a,b}'), sanitize.declare_domain('odd', 'b', '{a,b}'), sanitize.declare_bounds('odd', 'f', '0', '1e10'), sanitize.declare_bounds('odd', 'n', '0', '1'), sanitize.declare_bounds('odd', 'd', '2000-01-01', '2010-01-01'), sanitize.declare_bounds('odd', 't', '2000-01-01', '2010-01-01'), sanitize.declare_bounds('odd', 'i', '-9223372036854775808', '9223372036854775807');
SELECT count(*) AS n, count(a) AS a, min(a) >= 'a' AND max(a) <= 'b' AS known, bool_and(f BETWEEN 0 AND 1e10) AS f, bool_and(n BETWEEN 0 AND 1) AS n_, bool_and(isfinite(d)) AS d, bool_and(isfinite(t)) AS t
  FROM sanitize.dp_synthesize(NULL::odd, 1000, n => 500, seed => 1);
-- A table without rows, a table of one column, one value.
CREATE TABLE nobody (sex sex NOT NULL, one text NOT NULL CHECK (one IN ('1')));
SELECT count(*) AS n, count(DISTINCT one) AS ones FROM sanitize.dp_synthesize(NULL::nobody, 1, n => 100);
SELECT count(*) AS n FROM sanitize.dp_synthesize(NULL::nobody, 1, n => 100, columns => '{one}');
-- A domain that the constraints tell; a domain type that forbids NULL.
CREATE DOMAIN grade AS int NOT NULL CHECK (VALUE BETWEEN 1 AND 5);
CREATE TABLE marks (grade grade, points int CHECK (points >= 0 AND points < 10));
INSERT INTO marks SELECT 1 + i % 5, i % 10 FROM generate_series(1, 500) AS i;
SELECT count(*) AS n, count(grade) AS grades, min(points) >= 0 AND max(points) <= 9 AS points FROM sanitize.dp_synthesize(NULL::marks, 10, n => 300);

-- The label says rows where nobody said who has them, and nothing with a seed.
SELECT l->>'kind' AS kind, l->>'unit' AS unit, l->>'neighbours' AS neighbours, l->'epsilon' AS epsilon, l->'delta' AS delta FROM sanitize.guarantee('dp_synthesize', '{"epsilon": 2}') AS l;
SELECT l->>'kind' AS kind, l->'proved'->'epsilon' AS epsilon FROM sanitize.guarantee('dp_synthesizer', '{"epsilon": 2, "seed": 1}') AS l;

-- A protected relation: people are protected, the unit is no column, and the ledger has the charge with its rho.
CREATE TABLE visits (patient int NOT NULL, sex sex NOT NULL, ward text NOT NULL CHECK (ward IN ('N', 'S')));
INSERT INTO visits SELECT i % 500, (CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END)::sex, CASE WHEN i % 3 = 0 THEN 'N' ELSE 'S' END FROM generate_series(1, 5000) AS i;
SELECT sanitize.protect('visits', 'patient', 3, 1e-6, max_rows_per_unit => 4);
SELECT count(*) BETWEEN 1500 AND 2500 AS bounded, count(patient) AS patients FROM sanitize.dp_synthesize(NULL::visits, 1);
SELECT what, epsilon, delta, rho > 0.014 AND rho < 0.0151 AS rho FROM sanitize.ledger WHERE source = 'visits'::regclass;
SELECT model->'label'->>'unit' AS unit, model->'label'->>'mechanism' LIKE '%at most 4 rows%' AS bounded FROM (SELECT sanitize.dp_synthesizer('visits', 1) AS model) AS m;
SELECT count(*) FROM sanitize.dp_synthesize(NULL::visits, 1, seed => 1);
SELECT count(*) FROM sanitize.dp_synthesize(NULL::visits, 1, columns => '{patient,sex}');
SELECT count(*) FROM sanitize.dp_synthesize(NULL::visits, 5);
SELECT count(*) AS charges FROM sanitize.ledger WHERE source = 'visits'::regclass;
