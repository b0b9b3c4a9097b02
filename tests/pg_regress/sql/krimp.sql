-- Code tables.
CREATE TABLE d1 (x text, y text, z text);
INSERT INTO d1 SELECT substr(r, 1, 1), substr(r, 2, 1), substr(r, 3, 1)
  FROM unnest('{ace,ace,ace,ace,ace,acf,acf,acf,bde,bde,bde,bde,bdf,bdf,ade,bcf}'::text[]) AS r;
SELECT rank, items, length, support, usage, round(code_length::numeric, 9) AS code_length FROM sanitize.krimp_codetable('d1', 2);
CREATE TABLE d2 (x text, y text, z text);
INSERT INTO d2 VALUES ('a', 'c', 'e'), ('a', 'c', 'e'), ('b', 'd', 'f'), ('b', 'd', 'f');
SELECT rank, items, support, usage, code_length FROM sanitize.krimp_codetable('d2', 1, prune => true);
-- What is forbidden is in no pattern.
SELECT items FROM sanitize.krimp_codetable('d1', 2, forbidden => '[["x", "y"]]') WHERE length > 1;
SELECT items FROM sanitize.krimp_codetable('d1', 2, forbidden => '[{"x": "a", "y": "c"}, {"x": "no such value"}]') WHERE length > 1;
SELECT items FROM sanitize.krimp_codetable('d1', 2, max_length => 1) WHERE length > 1;
SELECT count(*) FROM sanitize.krimp_codetable('d1', 2, columns => '{x,y}', candidates => 'closed');
-- Rows may have different lengths: a NULL is no item.
CREATE TABLE d3 (a text, b text, c text, d text);
INSERT INTO d3 SELECT substring(r, 'a'), substring(r, 'b'), substring(r, 'c'), substring(r, 'd')
  FROM unnest('{abc,abc,abc,abc,abc,abc,ab,ab,ab,bc,bc,c,c,c,c,abcd}'::text[]) AS r;
SELECT rank, items, support, usage, round(code_length::numeric, 9) AS code_length FROM sanitize.krimp_codetable('d3', 1, prune => true);
CREATE TABLE d4 (x text, y text, z text);
INSERT INTO d4 SELECT substr(r, 1, 1), substr(r, 2, 1), substr(r, 3, 1)
  FROM unnest('{ace,ace,ace,ace,acf,acf,acf,acf,bde,bde,bde,bde,bdf,bdf,bdf,bce,bce}'::text[]) AS r;
CREATE TABLE d5 (a text, b text, c text, d text);
INSERT INTO d5 SELECT substring(r, 'a'), substring(r, 'b'), substring(r, 'c'), substring(r, 'd')
  FROM (VALUES ('abcd', 9), ('ab', 6), ('cd', 5), ('abc', 4), ('bd', 3), ('acd', 2), ('d', 1)) AS v (r, n), generate_series(1, n);
-- Sizes in bits. A model encodes the table it was fitted to as the fit did.
SELECT t, prune, round(data_bits::numeric, 9) AS data_bits, round(model_bits::numeric, 9) AS model_bits,
       round(total_bits::numeric, 9) AS total_bits, round(standard_bits::numeric, 9) AS standard_bits, round(ratio::numeric, 9) AS ratio
  FROM (VALUES ('d1', 2, false), ('d2', 1, false), ('d2', 1, true), ('d3', 1, true), ('d4', 1, false), ('d5', 1, false), ('d5', 1, true)) AS v (t, minsup, prune),
       sanitize.krimp_size(sanitize.krimp_model(t::regclass, minsup, prune => prune), t::regclass);
-- Another table, with values that the model does not know.
SELECT round(total_bits::numeric, 6) AS total_bits, round(ratio::numeric, 6) AS ratio FROM sanitize.krimp_size(sanitize.krimp_model('d2', 1), 'd4');
-- The bits of rows, shortest first; they add up to the bits of the data, also where the model is completed.
SELECT items, rows, round(bits::numeric, 9) AS bits, patterns FROM sanitize.krimp_row_bits(sanitize.krimp_model('d1', 2), 'd1');
SELECT items, rows, round(bits::numeric, 9) AS bits, patterns FROM sanitize.krimp_row_bits(sanitize.krimp_model('d3', 1, prune => true), 'd3');
SELECT a, b, abs(sum(r.rows * r.bits) - min(s.data_bits)) < 1e-9 AS adds_up, count(*)
  FROM (VALUES ('d1', 'd1'), ('d1', 'd4'), ('d4', 'd1'), ('d2', 'd4'), ('d3', 'd5'), ('d5', 'd3')) AS v (a, b),
       sanitize.krimp_row_bits(sanitize.krimp_model(a::regclass, 1), b::regclass) AS r, sanitize.krimp_size(sanitize.krimp_model(a::regclass, 1), b::regclass) AS s GROUP BY a, b ORDER BY a, b;
-- A NULL is shown in no way; where it is a value, it takes bits.
CREATE TABLE holes (x text, y text);
INSERT INTO holes VALUES ('a', NULL), ('a', NULL), ('b', 'c'), (NULL, NULL);
SELECT * FROM sanitize.krimp_row_bits(sanitize.krimp_model('holes', 5), 'holes');
SELECT * FROM sanitize.krimp_row_bits(sanitize.krimp_model('holes', 5, nulls => 'value'), 'holes');
-- Classes by the shortest code, each model completed with the values of the other.
CREATE TABLE yes AS SELECT * FROM d1 WHERE x = 'a';
CREATE TABLE no AS SELECT * FROM d1 WHERE x = 'b';
SELECT items, rows, class, round(bits::numeric, 9) AS bits
  FROM sanitize.krimp_classify(jsonb_build_object('yes', sanitize.krimp_model('yes', 2), 'no', sanitize.krimp_model('no', 2)), 'd1');
-- Other columns are not looked at, and values that no model knows cost the same everywhere.
CREATE TABLE wide AS SELECT 'p' AS p, y, z, x AS class FROM d1;
INSERT INTO wide VALUES ('q', 'new', NULL, 'b');
SELECT items, rows, class FROM sanitize.krimp_classify(jsonb_build_object('yes', sanitize.krimp_model('yes', 2, columns => '{y,z}'), 'no', sanitize.krimp_model('no', 2, columns => '{z,y}')), 'wide');
-- A tie: the model of more rows, then the first name.
SELECT class, bits FROM sanitize.krimp_classify(jsonb_build_object('b', sanitize.krimp_model('d2', 1), 'a', sanitize.krimp_model('d2', 1)), 'd2');
DROP TABLE holes, wide;
-- Without rows there is nothing to encode.
CREATE TABLE nobody (z text, y text, x text);
SELECT data_bits, standard_bits, ratio FROM sanitize.krimp_size(sanitize.krimp_model('d2', 1), 'nobody');
SELECT * FROM sanitize.krimp_row_bits(sanitize.krimp_model('d2', 1), 'nobody');
SELECT * FROM sanitize.krimp_classify(jsonb_build_object('yes', sanitize.krimp_model('yes', 2)), 'nobody');
-- Bad models.
SELECT * FROM sanitize.krimp_row_bits(NULL, 'd1');
SELECT * FROM sanitize.krimp_row_bits('{}', 'd1');
SELECT * FROM sanitize.krimp_row_bits(sanitize.krimp_model('d3', 1), 'd1');
SELECT * FROM sanitize.krimp_classify(NULL, 'd1');
SELECT * FROM sanitize.krimp_classify('{}', 'd1');
SELECT * FROM sanitize.krimp_classify('[1]', 'd1');
SELECT * FROM sanitize.krimp_classify('{"yes": {"format": "other"}}', 'd1');
SELECT * FROM sanitize.krimp_classify(jsonb_build_object('yes', sanitize.krimp_model('yes', 2)), NULL);
SELECT * FROM sanitize.krimp_classify(jsonb_build_object('yes', sanitize.krimp_model('yes', 2)), 'd3');
SELECT * FROM sanitize.krimp_classify(jsonb_build_object('yes', sanitize.krimp_model('yes', 2), 'no', sanitize.krimp_model('no', 2, columns => '{y,z}')), 'd1');
SELECT * FROM sanitize.krimp_classify(jsonb_build_object('yes', sanitize.krimp_model('yes', 2), 'no', sanitize.krimp_model('no', 2, nulls => 'value')), 'd1');
-- Dissimilarity.
SELECT sanitize.krimp_dissimilarity('d1', 'd1', 2) AS same, round(sanitize.krimp_dissimilarity('d2', 'd4', 1)::numeric, 9) AS d2_d4,
       sanitize.krimp_dissimilarity('d2', 'd4', 1) = sanitize.krimp_dissimilarity('d4', 'd2', 1) AS symmetric;
SELECT sanitize.krimp_dissimilarity('d1', 'nobody', 1) AS nobody, sanitize.krimp_dissimilarity('nobody', 'nobody', 1) AS both,
       sanitize.krimp_dissimilarity('d1', 'd4', 1, columns => '{x}') > 0 AS columns;
SELECT sanitize.krimp_dissimilarity('d1', 'd3', 1);
SELECT sanitize.krimp_dissimilarity(NULL, 'd3', 1);
-- Candidates from pairs can be ended at any time; here there is time enough.
SELECT rank, items, usage FROM sanitize.krimp_codetable('d4', 1, candidates => 'pairs', prune => true, max_time => '1 hour') WHERE length > 1;
-- The model: a schema with a version.
SELECT m - 'columns' - 'patterns' AS head, m -> 'columns' -> 0 AS first_column, m -> 'patterns' AS patterns
  FROM sanitize.krimp_model('d1', 2, max_length => 2, forbidden => '[["x", "z"], {"y": "c", "z": "f"}]') AS m;
SELECT m -> 'columns' -> 0 AS first_column FROM sanitize.krimp_model('d3', 1, nulls => 'value') AS m;
-- Bad input.
SELECT * FROM sanitize.krimp_codetable('d1', 0);
SELECT * FROM sanitize.krimp_codetable('d1', NULL);
SELECT * FROM sanitize.krimp_codetable('d1', 2, candidates => 'some');
SELECT * FROM sanitize.krimp_codetable('d1', 2, prune => NULL);
SELECT * FROM sanitize.krimp_codetable('d1', 2, forbidden => '{}');
SELECT * FROM sanitize.krimp_codetable('d1', 2, forbidden => '[1]');
SELECT * FROM sanitize.krimp_codetable('d1', 2, forbidden => '[["nope"]]');
SELECT * FROM sanitize.krimp_codetable('d1', 2, forbidden => '[{"x": 1}]');
SELECT * FROM sanitize.krimp_codetable('nowhere', 2);
SELECT * FROM sanitize.krimp_codetable(NULL, 2);
SELECT * FROM sanitize.krimp_codetable('nobody', 2);
SELECT * FROM sanitize.krimp_codetable('d1', 2, max_length => 0);
SELECT * FROM sanitize.krimp_codetable('d1', 2, max_time => '1 s');
SELECT * FROM sanitize.krimp_codetable('d1', 2, candidates => 'pairs', max_time => '-1 s');
SELECT * FROM sanitize.krimp_codetable('d1', 2, forbidden => (repeat('[', 200) || repeat(']', 200))::jsonb);
SELECT sanitize.krimp_model('d1', 2, nulls => 'none');
SELECT * FROM sanitize.krimp_size(NULL, 'd1');
SELECT * FROM sanitize.krimp_size('{}', 'd1');
SELECT * FROM sanitize.krimp_size(sanitize.krimp_model('d1', 2), NULL);
SELECT * FROM sanitize.krimp_size(sanitize.krimp_model('d1', 2), 'd3');
SELECT * FROM sanitize.krimp_size(jsonb_set(sanitize.krimp_model('d1', 2), '{version}', '2'), 'd1');
SELECT * FROM sanitize.krimp_size(jsonb_set(sanitize.krimp_model('d1', 2), '{patterns,0,items}', '[[0, 0], [7, 0]]'), 'd1');
SELECT * FROM sanitize.krimp_size(jsonb_set(sanitize.krimp_model('d1', 2), '{columns}', '[]'), 'd1');
SELECT * FROM sanitize.krimp_size(jsonb_set(sanitize.krimp_model('d1', 2), '{rows}', '1e300'), 'd1');
-- Too many candidates.
SET pg_sanitize.max_itemsets = 3;
SELECT count(*) FROM sanitize.krimp_codetable('d5', 1);
SELECT count(*) FROM sanitize.krimp_codetable('d5', 1, candidates => 'pairs');
RESET pg_sanitize.max_itemsets;
DROP TABLE d1, d2, d3, d4, d5, yes, no, nobody;
