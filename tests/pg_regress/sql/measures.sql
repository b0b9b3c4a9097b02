-- k-anonymity, l-diversity, t-closeness, suppression.
CREATE TABLE t (zip text, age int, disease text);
INSERT INTO t VALUES
    ('1', 20, 'flu'), ('1', 20, 'flu'), ('1', 20, 'cold'), ('1', 20, 'burn'),
    ('2', 30, 'flu'), ('2', 30, 'flu'), (NULL, 30, 'cold'), (NULL, 30, NULL);
SELECT sanitize.k_anonymity('t'), sanitize.k_anonymity('t', '{zip,age}'), sanitize.k_anonymity('t', '{age}');
SELECT sanitize.k_anonymity((SELECT sanitize.row_bag(t) FROM t), '{zip}');
-- Distinct: the class (2, 30) has one value. Entropy: exp of it.
SELECT sanitize.l_diversity('t', 'disease'), sanitize.l_diversity('t', 'disease', '{age}'), sanitize.l_diversity('t', 'disease', '{zip,age}', 'distinct');
SELECT round(sanitize.l_diversity('t', 'disease', '{age}', 'entropy')::numeric, 12) AS age_classes;
-- counts (2, 1, 1), (9, 1), (7): 2.82842712474619, 1.38414548846169, 1
CREATE TABLE counts (c text, v text);
INSERT INTO counts SELECT '211', v FROM unnest('{a,a,b,c}'::text[]) AS v;
SELECT sanitize.l_diversity('counts', 'v', '{c}', 'entropy');
TRUNCATE counts;
INSERT INTO counts SELECT '91', CASE WHEN i = 1 THEN 'a' ELSE 'b' END FROM generate_series(1, 10) AS i;
SELECT sanitize.l_diversity('counts', 'v', '{c}', 'entropy');
TRUNCATE counts;
INSERT INTO counts SELECT '7', 'a' FROM generate_series(1, 7) AS i;
SELECT sanitize.l_diversity('counts', 'v', '{c}', 'entropy');
-- t-closeness: total variation, or earth mover's distance over the order of the numbers.
CREATE TABLE pay (class text, salary int);
INSERT INTO pay VALUES ('a', 3), ('a', 4), ('a', 5), ('b', 6), ('b', 11), ('b', 8), ('c', 7), ('c', 9), ('c', 10);
SELECT round(sanitize.t_closeness('pay', 'salary', '{class}')::numeric, 12), round(sanitize.t_closeness('pay', 'salary', '{class}', ordered => true)::numeric, 12);
SELECT * FROM sanitize.suppression('t');
SELECT * FROM sanitize.suppression('t', '{zip}');
SELECT * FROM sanitize.suppression((SELECT sanitize.row_bag(t) FROM t), '{disease}');
-- Nothing to measure.
CREATE TABLE empty (a int, b int);
SELECT sanitize.k_anonymity('empty'), sanitize.l_diversity('empty', 'a'), sanitize.t_closeness('empty', 'a');
SELECT * FROM sanitize.suppression('empty');
-- Bad input.
SELECT sanitize.k_anonymity(NULL::regclass);
SELECT sanitize.k_anonymity('t', '{}');
SELECT sanitize.k_anonymity('t', '{nope}');
SELECT sanitize.l_diversity('t', NULL);
SELECT sanitize.l_diversity('t', 'nope');
SELECT sanitize.l_diversity('t', 'disease', '{disease}');
SELECT sanitize.l_diversity('t', 'disease', kind => 'recursive');
SELECT sanitize.l_diversity('t', 'disease', kind => NULL);
SELECT sanitize.t_closeness('t', 'disease', ordered => NULL);
SELECT sanitize.t_closeness('t', 'nope', '{zip}');
SELECT * FROM sanitize.suppression('nowhere');
DROP TABLE t, counts, pay, empty;
