-- Select-a-size operators, estimates and seeds: what was computed before, laws, bad input.
CREATE FUNCTION close_to(x float8, y float8) RETURNS bool LANGUAGE sql IMMUTABLE AS $$SELECT abs(x - y) <= 1e-8 * abs(y)$$;
-- Designs: size, rho1, transactions, convention; cut, rho and the largest of the lowest discoverable supports.
SELECT size, rho1, n, how, d.cut = v.cut AS cut_right, abs(d.rho - v.rho) < 1e-4 AS rho_right,
       abs((SELECT max(x) FROM unnest(d.lds) AS x) / worst - 1) < 1e-6 AS lds_right,
       d.gamma < 0.5 * (1 - rho1) / (rho1 * 0.5) AS below_limit,
       abs((SELECT sum(x) FROM unnest(d.keep) AS x) - 1) < 1e-12 AS is_law
  FROM (VALUES (5, 0.01, 5000000, 'allornothing', 3, 0.24905000621898266, 0.002283547320543576),
               (5, 0.01, 5000000, 'null', 3, 0.25, 0.0022763657218525237),
               (5, 0.05, 5000000, 'allornothing', 4, 0.5116078857393116, 0.004955660043708821),
               (5, 0.05, 5000000, 'null', 4, 0.5112998728235687, 0.004957869636994799),
               (3, 0.05, 5000000, 'allornothing', 1, 0.14675995439677014, 0.002316998835631008),
               (3, 0.05, 5000000, 'null', 1, 0.1464466094067261, 0.0022993819928217463),
               (7, 0.05, 5000000, 'allornothing', 6, 0.6317285936620365, 0.009562725056458403),
               (7, 0.05, 5000000, 'null', 6, 0.6314011009326905, 0.00957972231868471),
               (5, 0.05, 1000000, 'allornothing', 4, 0.511988775920788, 0.01107503786705414),
               (5, 0.05, 1000000, 'null', 4, 0.5112998747731816, 0.011086133531902579))
       AS v(size, rho1, n, how, cut, rho, worst),
       LATERAL sanitize.select_a_size_design(size, rho1, transactions => n, convention => how) AS d;
SELECT rho, cut, round(lds[3]::numeric, 5) AS lds FROM sanitize.select_a_size_design(5, 0.05, bits => 1);
SELECT rho * 1024 AS a, cut FROM sanitize.select_a_size_design(5, 0.05, bits => 10);
-- The law of kept items, the transition matrix and estimates.
SELECT bool_and(close_to(x, y)) AS keep_right
  FROM unnest(sanitize.select_a_size_keep(5, 0.5, 19, 4), '{0.02,0.1,0.2,0.2,0.1,0.38}'::float8[]) AS v(x, y);
CREATE TABLE matrices AS
SELECT sanitize.select_a_size_matrix(5, 2, 0.5, '{0.02,0.1,0.2,0.2,0.1,0.38}') AS a,
       sanitize.select_a_size_matrix(3, 1, 0.125, sanitize.select_a_size_keep(3, 0.125, 9, 1)) AS b;
SELECT array_dims(a) AS dims, round(a[1][2]::numeric, 10) AS "0 of 1", round(a[2][3]::numeric, 10) AS "1 of 2", round(a[3][3]::numeric, 10) AS "2 of 2",
       close_to(b[1][2], 0.7325581395348837) AND close_to(b[2][2], 0.2674418604651163) AS b_right FROM matrices;
SELECT array_dims(sanitize.select_a_size_matrix(2, 4, 0.5, '{0.2,0.3,0.5}')) AS "more items than a transaction has";
SELECT round(support::numeric, 10) AS support, close_to(stddev, sqrt(7.686049382716055e-05)) AS stddev_right
  FROM sanitize.estimate_support('{24100,49460,26440}', 5, 0.5, '{0.02,0.1,0.2,0.2,0.1,0.38}');
SELECT round(support::numeric, 8) AS support, close_to(stddev * sqrt(1e8), 0.08167167434717224) AS stddev_right
  FROM sanitize.estimate_support('{83226744186,16773255814}', 3, 0.125, sanitize.select_a_size_keep(3, 0.125, 9, 1));
-- The operator: replayed by a seed, within the universe, ascending; single items by chance.
SELECT sanitize.select_a_size('{3,1,4,1,5}', 12, 0.25, '{0.1,0.1,0.2,0.2,0.4}', seed => 7) AS once,
       sanitize.select_a_size('{3,1,4,1,5}', 12, 0.25, '{0.1,0.1,0.2,0.2,0.4}', seed => 7) AS again;
SELECT sanitize.select_a_size('{}', 5, 0.5, '{0.5,0.5}', seed => 1) AS nothing_kept;
WITH drawn AS (SELECT sanitize.select_a_size('{2,3}', 4, 0.3, '{0.1,0.3,0.6}', seed => i) AS items FROM generate_series(1, 20000) AS i)
SELECT item, round(count(*) / 20000.0, 2) AS share FROM drawn, unnest(items) AS item GROUP BY 1 ORDER BY 1;
SELECT sanitize.select_a_size('{2,3}', 4, 0.3, '{0.1,0.3,0.6}', seed => 3, size_public => true) AS fits;
SELECT sanitize.select_a_size('{2}', 4, 0.3, '{0.1,0.3,0.6}', size_public => true);
SELECT sanitize.select_a_size('{1,2,3}', 4, 0.3, '{0.1,0.3,0.6}', size_public => true);
-- Labels.
SELECT label ->> 'kind' AS kind, close_to((label ->> 'gamma')::float8, 19) AS gamma_right, close_to((label ->> 'epsilon')::float8, ln(19::float8)) AS epsilon_right
  FROM sanitize.guarantee('select_a_size', jsonb_build_object('rho', 0.5, 'keep', sanitize.select_a_size_keep(5, 0.5, 19, 4))) AS label;
SELECT label ->> 'kind' AS kind, label -> 'not_covered' -> 0 AS not_covered, label -> 'proved' ->> 'kind' AS proved
  FROM sanitize.guarantee('select_a_size', '{"rho": 0.5, "keep": [0.2, 0.3, 0.5], "size_public": true}') AS label;
SELECT label ->> 'kind' AS kind, label -> 'proved' ->> 'kind' AS proved
  FROM sanitize.guarantee('randomize_to_seed', '{"universe": 1000, "itemset": 3, "a": 1, "b": 1, "keep": [0.2, 0.3, 0.5], "seed": 1}') AS label;
-- Seeds: sizes (136 and 570 bits are the paper's), what they say, and what is drawn.
SELECT sanitize.seed_bits(100000, 10, 5, 1, 1), sanitize.seed_bits(100000, 10, 5, 1, 4), sanitize.seed_bits(1000, 5, 3, 1, 6), sanitize.seed_bits(20000, 5, 3, 1, 3);
SELECT sanitize.seed_items('\x00', 15, 3, 1, 1, 1), sanitize.seed_items('\x5a', 15, 3, 1, 1, 1), sanitize.seed_items('\x93', 15, 3, 1, 1, 1);
SELECT sanitize.seed_items('\x01', 7, 1, 1, 1, 2), sanitize.seed_items('\xff', 7, 1, 1, 1, 2);
SELECT sanitize.seed_items('\x0000', 10, 1, 1, 5, 3), sanitize.seed_items('\x3412', 10, 1, 1, 5, 3);
SELECT array_agg(i) AS contained FROM generate_series(1, 15) AS i WHERE sanitize.seed_contains('\x5a', i, 15, 3, 1, 1, 1);
WITH bytes AS (SELECT sanitize.seed_items(set_byte('\x00', 0, i), 7, 1, 1, 1, 2) AS items FROM generate_series(0, 255) AS i)
SELECT count(*) FILTER (WHERE 1 = ANY (items) AND 2 <> ALL (items)) AS one_without_two, count(*) FILTER (WHERE 4 = ANY (items)) AS four,
       count(*) FILTER (WHERE items @> '{3,7}') AS pair FROM bytes;
SELECT length(sanitize.randomize_to_seed('{1,500,1000}', 1000, 3, 1, 1, '{0.02,0.1,0.2,0.2,0.1,0.38}')) AS bytes,
       sanitize.randomize_to_seed('{1,500}', 1000, 3, 1, 1, '{0.2,0.3,0.5}', seed => 5) = sanitize.randomize_to_seed('{1,500}', 1000, 3, 1, 1, '{0.2,0.3,0.5}', seed => 5) AS replayed;
WITH drawn AS (SELECT sanitize.seed_items(sanitize.randomize_to_seed('{2,3}', 7, 2, 1, 2, '{0.1,0.3,0.6}', seed => i), 7, 2, 2, 1, 2) AS items FROM generate_series(1, 20000) AS i)
SELECT item, round(count(*) / 20000.0, 2) AS share FROM drawn, unnest(items) AS item GROUP BY 1 ORDER BY 1;
-- Itemsets, from lists and from seeds.
CREATE TABLE baskets AS
SELECT i, CASE WHEN i % 4 = 0 THEN ARRAY[5, 17, 40, 1 + i % 60] WHEN i % 4 = 1 THEN ARRAY[17, 40, 1 + i % 59] ELSE ARRAY[1 + i % 53, 1 + i % 57] END AS items
  FROM generate_series(1, 20000) AS i;
CREATE TABLE randomised AS
SELECT sanitize.select_a_size(items, 60, 0.25, keep, seed => i) AS items, sanitize.randomize_to_seed(items, 60, 3, 1, 2, keep, seed => i) AS seed
  FROM baskets, sanitize.select_a_size_keep(4, 0.25, 99, 2) AS keep;
SELECT items, round(support::numeric, 2) AS support, stddev < 0.05 AS precise
  FROM sanitize.randomized_itemsets('randomised', 'items', 4, 0.25, sanitize.select_a_size_keep(4, 0.25, 99, 2), 0.15);
SELECT items, round(support::numeric, 2) AS support, stddev < 0.05 AS precise
  FROM sanitize.randomized_itemsets('randomised', 'seed', 4, 0.25, sanitize.select_a_size_keep(4, 0.25, 99, 2), 0.15, universe => 60);
SELECT count(*) FROM sanitize.randomized_itemsets('randomised', 'items', 4, 0.25, sanitize.select_a_size_keep(4, 0.25, 99, 2), 0.15, max_itemset => 1, margin => 0);
-- Rows as transactions.
CREATE TYPE colour AS ENUM ('red', 'green');
CREATE TABLE cars (colour colour, electric bool NOT NULL, doors int CHECK (doors IN (3, 5)), plate text);
INSERT INTO cars VALUES ('red', true, 3, 'A'), ('green', false, NULL, 'B'), ('green', false, NULL, 'C');
SELECT * FROM sanitize.transaction_items('cars', '{colour,electric,doors}');
SELECT * FROM sanitize.transactions('cars', '{colour,electric,doors}') ORDER BY 1;
SELECT * FROM sanitize.transactions('cars');
-- Bad input.
SELECT sanitize.select_a_size('{1}', 0, 0.5, '{0.5,0.5}');
SELECT sanitize.select_a_size('{1}', 1048576, 0.5, '{0.5,0.5}');
SELECT sanitize.select_a_size('{0}', 5, 0.5, '{0.5,0.5}');
SELECT sanitize.select_a_size('{6}', 5, 0.5, '{0.5,0.5}');
SELECT sanitize.select_a_size('{1,NULL}', 5, 0.5, '{0.5,0.5}');
SELECT sanitize.select_a_size('{{1,2}}', 5, 0.5, '{0.5,0.5}');
SELECT sanitize.select_a_size(NULL, 5, 0.5, '{0.5,0.5}');
SELECT sanitize.select_a_size('{1}', 5, 0, '{0.5,0.5}');
SELECT sanitize.select_a_size('{1}', 5, 1, '{0.5,0.5}');
SELECT sanitize.select_a_size('{1}', 5, 'NaN', '{0.5,0.5}');
SELECT sanitize.select_a_size('{1}', 5, 'Infinity', '{0.5,0.5}');
SELECT sanitize.select_a_size('{1}', 5, 0.5, '{}');
SELECT sanitize.select_a_size('{1}', 5, 0.5, '{1}');
SELECT sanitize.select_a_size('{1}', 5, 0.5, '{0,1}');
SELECT sanitize.select_a_size('{1}', 5, 0.5, '{0.5,0.4}');
SELECT sanitize.select_a_size('{1}', 5, 0.5, '{0.5,NaN}');
SELECT sanitize.select_a_size('{1}', 5, 0.5, '{0.5,NULL}');
SELECT sanitize.select_a_size('{1}', 5, 0.5, array_fill(1.0 / 66, ARRAY[66]));
SELECT sanitize.select_a_size_keep(0, 0.5, 19, 4);
SELECT sanitize.select_a_size_keep(65, 0.5, 19, 4);
SELECT sanitize.select_a_size_keep(5, 0.5, 1, 4);
SELECT sanitize.select_a_size_keep(5, 0.5, 'Infinity', 4);
SELECT sanitize.select_a_size_keep(5, 0.5, 19, 5);
SELECT sanitize.select_a_size_keep(5, 0.5, 19, -1);
SELECT sanitize.select_a_size_keep(20, 0.001, 19, 4);
SELECT * FROM sanitize.select_a_size_design(5, 0.5, 0.5);
SELECT * FROM sanitize.select_a_size_design(5, 0);
SELECT * FROM sanitize.select_a_size_design(5, 'NaN');
SELECT * FROM sanitize.select_a_size_design(5, 0.05, 1);
SELECT * FROM sanitize.select_a_size_design(5, 0.05, transactions => 0);
SELECT * FROM sanitize.select_a_size_design(5, 0.05, max_itemset => 0);
SELECT * FROM sanitize.select_a_size_design(5, 0.05, bits => 17);
SELECT * FROM sanitize.select_a_size_design(5, 0.05, convention => 'some');
SELECT sanitize.select_a_size_matrix(3, 1, 0.5, '{0.5,0.5}');
SELECT sanitize.select_a_size_matrix(1, 65, 0.5, '{0.5,0.5}');
SELECT * FROM sanitize.estimate_support('{}', 1, 0.5, '{0.2,0.8}');
SELECT * FROM sanitize.estimate_support('{1}', 1, 0.5, '{0.2,0.8}');
SELECT * FROM sanitize.estimate_support('{1,-1}', 1, 0.5, '{0.2,0.8}');
SELECT * FROM sanitize.estimate_support('{0,0}', 1, 0.5, '{0.2,0.8}');
SELECT * FROM sanitize.estimate_support('{1,1,1}', 1, 0.5, '{0.2,0.8}');
SELECT * FROM sanitize.estimate_support('{1,1}', 1, 0.5, '{0.5,0.5}');
SELECT * FROM sanitize.estimate_support('{1,1}', 2, 0.5, '{0.5,0.5}');
SELECT * FROM sanitize.randomized_itemsets('cars', 'colour', 1, 0.5, '{0.2,0.8}', 0.1);
SELECT * FROM sanitize.randomized_itemsets('cars', 'wheels', 1, 0.5, '{0.2,0.8}', 0.1);
SELECT * FROM sanitize.randomized_itemsets('randomised', 'items', 1, 0.5, '{0.2,0.8}', 0);
SELECT * FROM sanitize.randomized_itemsets('randomised', 'items', 1, 0.5, '{0.2,0.8}', 'NaN');
SELECT * FROM sanitize.randomized_itemsets('randomised', 'items', 1, 0.5, '{0.2,0.8}', 0.1, margin => -1);
SELECT * FROM sanitize.randomized_itemsets('randomised', 'items', 1, 0.5, '{0.2,0.8}', 0.1, max_itemset => 17);
SELECT * FROM sanitize.randomized_itemsets('randomised', 'seed', 1, 0.5, '{0.2,0.8}', 0.1);
SELECT * FROM sanitize.randomized_itemsets('randomised', 'seed', 1, 0.5, '{0.2,0.8}', 0.1, universe => 60);
SELECT * FROM sanitize.randomized_itemsets('randomised', 'seed', 4, 0.3, '{0.2,0.2,0.2,0.2,0.2}', 0.1, universe => 60);
SELECT * FROM sanitize.randomized_itemsets('randomised', 'seed', 4, 0.25, '{0.2,0.2,0.2,0.2,0.2}', 0.1, universe => 60, itemset => 2);
CREATE TABLE wrong AS SELECT '{1,NULL}'::int[] AS nulls, '{{1,2}}'::int[] AS square, '{0}'::int[] AS zero, '{1048576}'::int[] AS large, NULL::int[] AS nothing;
SELECT * FROM sanitize.randomized_itemsets('wrong', 'nulls', 1, 0.5, '{0.2,0.8}', 0.1);
SELECT * FROM sanitize.randomized_itemsets('wrong', 'square', 1, 0.5, '{0.2,0.8}', 0.1);
SELECT * FROM sanitize.randomized_itemsets('wrong', 'zero', 1, 0.5, '{0.2,0.8}', 0.1);
SELECT * FROM sanitize.randomized_itemsets('wrong', 'large', 1, 0.5, '{0.2,0.8}', 0.1);
SELECT * FROM sanitize.randomized_itemsets('wrong', 'nothing', 1, 0.5, '{0.2,0.8}', 0.1);
SELECT sanitize.seed_bits(1000, 5, 3, 0, 1);
SELECT sanitize.seed_bits(1000, 5, 3, 2, 1);
SELECT sanitize.seed_bits(1000, 5, 3, 1, 17);
SELECT sanitize.seed_bits(1000, 5, 3, 1, -1);
SELECT sanitize.seed_bits(67108863, 5, 3, 1, 2);
SELECT sanitize.seed_bits(1000, 65, 3, 1, 1);
SELECT sanitize.seed_items('\x00', 1000, 5, 3, 1, 1);
SELECT sanitize.seed_items('\xff80', 10, 1, 1, 5, 3);
SELECT sanitize.seed_contains('\x5a', 0, 15, 3, 1, 1, 1);
SELECT sanitize.seed_contains('\x5a', 16, 15, 3, 1, 1, 1);
SELECT sanitize.randomize_to_seed('{1}', 15, 1, 1, 1, '{1}');
SELECT sanitize.randomize_to_seed('{16}', 15, 1, 1, 1, '{0.5,0.5}');
SELECT sanitize.randomize_to_seed('{1}', 15, 1, 1, 1, '{0.2,0.3,0.5}', size_public => true);
DROP TABLE matrices, baskets, randomised, cars, wrong;
DROP TYPE colour;
DROP FUNCTION close_to;
