-- Itemsets that are drawn privately. What is random is seeded here, or follows from a large epsilon; the
-- laws are tested in crates/randomize and by the client tests.
CREATE TYPE sex AS ENUM ('f', 'm');
CREATE TABLE stays (id int PRIMARY KEY, sex sex NOT NULL, smoker bool, age int CHECK (age IN (20, 40, 60)), note text);
INSERT INTO stays SELECT i, (CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END)::sex, CASE WHEN i % 5 > 0 THEN i % 4 = 0 END, 20 + 20 * (i % 2), 'note ' || i % 2
  FROM generate_series(1, 1000) AS i;

-- A seed repeats the draws, whatever the threads and the order of the rows.
CREATE TABLE one AS SELECT * FROM sanitize.dp_itemsets('stays', 0.1, 100, 50, columns => '{sex,smoker,age}', seed => 7);
SET pg_sanitize.threads = 4;
CREATE TABLE two AS SELECT * FROM sanitize.dp_itemsets('stays', 0.1, 100, 50, columns => '{sex,smoker,age}', seed => 7);
RESET pg_sanitize.threads;
CREATE TABLE shuffled (LIKE stays INCLUDING ALL);
INSERT INTO shuffled SELECT * FROM stays ORDER BY md5(id::text);
CREATE TABLE three AS SELECT * FROM sanitize.dp_itemsets('shuffled', 0.1, 100, 50, columns => '{sex,smoker,age}', seed => 7);
SELECT count(*) FROM ((TABLE one EXCEPT ALL TABLE two) UNION ALL (TABLE one EXCEPT ALL TABLE three)) AS d;
SELECT count(*), min(draw), max(draw), count(DISTINCT items) > 5 AS several FROM one;
SELECT draw, items FROM one WHERE draw <= 5 ORDER BY draw;
-- With a large epsilon the largest supports alone come out, and those from theta on alike.
SELECT DISTINCT items FROM sanitize.dp_itemsets('stays', 1000, 2000, 20, columns => '{sex,smoker,age}');
SELECT items FROM sanitize.dp_itemsets('stays', 1000, 400, 200, columns => '{sex,smoker,age}') GROUP BY items ORDER BY items;
SELECT items, support FROM sanitize.frequent_itemsets('stays', 400, '{sex,smoker,age}') ORDER BY items;
-- The values that no row has can come out: theta 0 makes all itemsets equally likely.
SELECT count(DISTINCT items) AS itemsets, max(items ->> 'age') AS age FROM sanitize.dp_itemsets('stays', 1, 0, 2000, columns => '{sex,age}');
SELECT max((SELECT count(*) FROM jsonb_object_keys(items))) AS longest FROM sanitize.dp_itemsets('stays', 0.01, 10, 300, max_length => 1, columns => '{sex,smoker,age}');
SELECT max((SELECT count(*) FROM jsonb_object_keys(items))) AS longest FROM sanitize.dp_itemsets('stays', 0.01, 10, 300, max_length => NULL, columns => '{sex,smoker,age}');
-- Values outside the declared domain are no items, and an empty table is no error.
SELECT sanitize.declare_domain('stays', 'note', ARRAY['note 0', 'other']);
SELECT DISTINCT items FROM sanitize.dp_itemsets('stays', 1000, 2000, 20, columns => '{note}');
CREATE TABLE nobody (LIKE stays INCLUDING ALL);
SELECT count(*) FROM sanitize.dp_itemsets('nobody', 1, 10, 5, columns => '{sex,smoker,age}');
SELECT count(*), min(stddev) > 0 AS noisy FROM sanitize.dp_frequent_itemsets('nobody', 5, 1, columns => '{sex,smoker,age}');

-- The most frequent, with noise.
SELECT items, length, support, round(stddev::numeric, 9) AS stddev FROM sanitize.dp_frequent_itemsets('stays', 4, 2000, columns => '{sex,smoker,age}', max_length => 2);
SELECT items, length, support, round(stddev::numeric, 2) AS stddev FROM sanitize.dp_frequent_itemsets('stays', 4, 0.5, columns => '{sex,smoker,age}', seed => 3);
SELECT count(*), count(DISTINCT items) AS different FROM sanitize.dp_frequent_itemsets('stays', 35, 0.1, columns => '{sex,smoker,age}');
-- With delta there is less noise in many supports, and the same in few.
SELECT round((SELECT max(stddev) FROM sanitize.dp_frequent_itemsets('stays', 30, 1, columns => '{sex,smoker,age}'))::numeric, 1) AS without,
       round((SELECT max(stddev) FROM sanitize.dp_frequent_itemsets('stays', 30, 1, 1e-6, columns => '{sex,smoker,age}'))::numeric, 1) AS with;
SELECT (SELECT max(stddev) FROM sanitize.dp_frequent_itemsets('stays', 1, 1, columns => '{sex}')) = (SELECT max(stddev) FROM sanitize.dp_frequent_itemsets('stays', 1, 1, 1e-6, columns => '{sex}')) AS same;

-- What makes no sense is refused before a row is read.
SELECT * FROM sanitize.dp_itemsets('stays', 0, 10);
SELECT * FROM sanitize.dp_itemsets('stays', 'NaN', 10, columns => '{sex}');
SELECT * FROM sanitize.dp_itemsets('stays', 'infinity', 10, columns => '{sex}');
SELECT * FROM sanitize.dp_itemsets('stays', NULL, 10);
SELECT * FROM sanitize.dp_itemsets('stays', 1, -1);
SELECT * FROM sanitize.dp_itemsets('stays', 1, 10, 0);
SELECT * FROM sanitize.dp_itemsets('stays', 1, 10, max_length => 0);
SELECT * FROM sanitize.dp_itemsets('stays', 1, 10, neighbours => 'swap');
SELECT * FROM sanitize.dp_itemsets('stays', 1, 10, constants => 'loose');
SELECT * FROM sanitize.dp_itemsets('stays', 1, 10, columns => '{nothing}');
SELECT * FROM sanitize.dp_itemsets('stays', 1, 10, columns => '{}');
SELECT * FROM sanitize.dp_itemsets('stays', 1, 10, columns => '{sex,id}');
SELECT sanitize.declare_bounds('stays', 'id', '1', '1000', 10);
-- All such columns are named.
ALTER TABLE stays ADD later int;
SELECT sanitize.declare_bounds('stays', 'later', '1', '9');
SELECT * FROM sanitize.dp_itemsets('stays', 1, 2, columns => '{id,later}');
ALTER TABLE stays DROP later;
SELECT * FROM sanitize.dp_itemsets('stays', 1, 10, columns => '{sex,id}');
SELECT * FROM sanitize.dp_frequent_itemsets('stays', 0, 1);
SELECT * FROM sanitize.dp_frequent_itemsets('stays', 9, 1, columns => '{sex}');
SELECT * FROM sanitize.dp_frequent_itemsets('stays', 2, -1, columns => '{sex}');
SELECT * FROM sanitize.dp_frequent_itemsets('stays', 2, 1, 1, columns => '{sex}');
SELECT * FROM sanitize.dp_frequent_itemsets('stays', 2, 1, -0.1, columns => '{sex}');

-- Labels: all draws together, and what the published constant really gives.
SELECT l ->> 'kind' AS kind, l -> 'epsilon' AS epsilon, l ->> 'neighbours' AS neighbours, l ->> 'unit' AS unit, l ->> 'numeric' AS numeric, l ->> 'mechanism' AS mechanism
  FROM sanitize.guarantee('dp_itemsets', '{"epsilon": 0.5, "theta": 10, "draws": 4}') AS l;
SELECT n, l -> 'epsilon' AS epsilon, l ->> 'mode' AS mode, l ->> 'paper_claim' AS claim, l -> 'paper_claim_holds' AS holds
  FROM unnest('{replace,add_remove}'::text[]) AS n, sanitize.guarantee('dp_itemsets', jsonb_build_object('epsilon', 1, 'theta', 10, 'neighbours', n, 'constants', 'paper')) AS l;
SELECT l ->> 'kind' AS kind, l -> 'proved' ->> 'epsilon' AS epsilon FROM sanitize.guarantee('dp_itemsets', '{"epsilon": 0.5, "theta": 10, "seed": 1}') AS l;
SELECT l ->> 'kind' AS kind, l -> 'epsilon' AS epsilon, l -> 'delta' AS delta, l ->> 'neighbours' AS neighbours, l ->> 'mechanism' AS mechanism
  FROM sanitize.guarantee('dp_frequent_itemsets', '{"top": 30, "epsilon": 1, "delta": 1e-6}') AS l;

-- A protected relation is charged before it is read; a seed is refused.
SELECT sanitize.protect('stays', 'id', 3);
SELECT * FROM sanitize.dp_itemsets('stays', 1, 10, columns => '{sex}', seed => 1);
SELECT * FROM sanitize.dp_frequent_itemsets('stays', 1, 1, columns => '{sex}', seed => 1);
SELECT count(*) FROM sanitize.ledger;
SELECT count(*) FROM sanitize.dp_itemsets('stays', 0.25, 10, 4, columns => '{sex}');
SELECT count(*) FROM sanitize.dp_frequent_itemsets('stays', 1, 1.5, columns => '{sex}');
SELECT what, epsilon, round(rho::numeric, 6) AS rho FROM sanitize.ledger ORDER BY id;
SELECT count(*) FROM sanitize.dp_itemsets('stays', 0.25, 10, 3, columns => '{sex}');
SELECT sanitize.unprotect('stays');
DROP TABLE stays, shuffled, nobody, one, two, three;
DROP TYPE sex;
