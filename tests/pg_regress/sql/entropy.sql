-- Entropy loss of released statistics: numbers of the paper, and bad input.
CREATE SCHEMA entropy_case;
SET search_path = entropy_case;
SET extra_float_digits = 0;
CREATE FUNCTION said(statement text) RETURNS TABLE(state text, message text, hint text)
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    state := '00000';
    RETURN NEXT;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
    RETURN NEXT;
END $$;
-- Three salaries and their mean: 100, 200 and 300 were equally likely.
SELECT m, round(entropy_before::numeric, 9) AS before, round(entropy_after::numeric, 9) AS after, round(loss::numeric, 9) AS loss,
       round(share::numeric, 9) AS share, round(kl::numeric, 9) AS kl, max_log_ratio
  FROM (VALUES (100), (200), (300)) AS mean (m), sanitize.entropy_loss('{100,200,300}', ARRAY[1/3.0, 1/3.0, 1/3.0], 3, m, statistic => 'mean');
-- Different priors.
SELECT s, round(loss::numeric, 9) AS loss, round(kl::numeric, 9) AS kl, max_log_ratio
  FROM generate_series(0, 3) AS s, sanitize.entropy_loss('{0,1}', '{{0.99,0.01},{0.5,0.5},{0.99,0.01}}', 3, s);
-- A mean that was rounded to 2: sums from 6 to 9.
SELECT round(loss::numeric, 9) AS loss, round(max_log_ratio::numeric, 9) AS max_log_ratio
  FROM sanitize.entropy_loss('{0,1,2,3,4}', '{0.2,0.2,0.2,0.2,0.2}', 4, 1.5, 2.25, 'mean');
-- The other statistics, and values that are no integers.
SELECT statistic, round(loss::numeric, 9) AS loss, round(kl::numeric, 9) AS kl, max_log_ratio
  FROM (VALUES ('count'), ('min'), ('max')) AS s (statistic), sanitize.entropy_loss('{0,0.1,2.5}', '{0.5,0.25,0.25}', 4, 0, 1, statistic);
SELECT round(loss::numeric, 9) AS loss FROM sanitize.entropy_loss('{-0.25,0.5}', '{0.5,0.5}', 3, 0.75);
-- Nobody is told about, and certain values.
SELECT * FROM sanitize.entropy_loss('{0,1}', '{0.5,0.5}', 0, 0);
SELECT * FROM sanitize.entropy_loss('{7}', '{1}', 3, 21);
-- Theorems 1 and 2.
SELECT n, k, round(sanitize.binary_entropy_loss(n, k)::numeric, 12) AS loss FROM (VALUES (3, 1), (5, 1), (10, 4), (20, 0), (20, 10)) AS v (n, k);
SELECT n, round(sanitize.expected_binary_entropy_loss(n)::numeric, 12) AS loss FROM unnest(ARRAY[1, 2, 3, 19, 2147483647]) AS n;
SELECT sanitize.binary_entropy_loss(0, 0), sanitize.expected_binary_entropy_loss(0);
SELECT sanitize.interval_privacy('{5,0,0.1,0.2,-9,3,0.3,8,8.5,9}', c) FROM unnest(ARRAY[0.1, 0.4, 1]) AS c;
-- A real column.
CREATE TABLE people (id int, age int, smokes boolean, score numeric(4,1), name text);
INSERT INTO people SELECT i, i % 5, i % 4 = 0, i % 3 + 0.5, 'n' || i FROM generate_series(1, 12) AS i;
INSERT INTO people VALUES (13);
SELECT sanitize.declare_bounds('people', 'age', '0', '4');
SELECT statistic, digits, round(loss::numeric, 9) AS loss, round(kl::numeric, 9) AS kl, max_log_ratio
  FROM (VALUES ('sum', NULL), ('mean', NULL), ('mean', 0), ('sum', -1), ('count', NULL), ('min', NULL), ('max', 0)) AS s (statistic, digits),
       sanitize.entropy_loss_of('people', 'age', statistic, digits => digits);
-- The same by the other function: 12 records, and their sum.
SELECT round(a.kl::numeric, 9) = round(b.kl::numeric, 9) AS same FROM (SELECT sum(age) AS s FROM people) AS p,
       sanitize.entropy_loss_of('people', 'age') AS a, sanitize.entropy_loss('{0,1,2,3,4}', '{0.2,0.2,0.2,0.2,0.2}', 12, s) AS b;
SELECT round(kl::numeric, 9) AS kl FROM sanitize.entropy_loss_of('people', 'smokes', 'count');
SELECT round(kl::numeric, 9) AS kl FROM sanitize.entropy_loss_of('people', 'smokes', 'count', '{"true": 0.1, "f": 0.9}');
SELECT round(kl::numeric, 9) AS kl FROM sanitize.entropy_loss_of('people', 'score', 'sum', '[0.5, 1.5, 2.5]');
SELECT * FROM sanitize.entropy_loss_of('people', 'age') WHERE false;
CREATE VIEW nobody AS SELECT * FROM people WHERE false;
SELECT * FROM sanitize.entropy_loss_of('nobody', 'age', prior => '[0, 1]');
\x on
-- Bad input.
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss('{}', '{}', 3, 0)$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss('{0,1,1.0}', '{0.5,0.25,0.25}', 3, 0)$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss('{0,NaN}', '{0.5,0.5}', 3, 0)$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss('{0,NULL}', '{0.5,0.5}', 3, 0)$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss('{{0,1}}', '{0.5,0.5}', 3, 0)$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss('{0,1}', '{0.5,0.5,0}', 3, 0)$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss('{0,1}', '{0.5,0.4}', 3, 0)$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss('{0,1}', '{0.5,0.500000002}', 3, 0)$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss('{0,1}', '{1.5,-0.5}', 3, 0)$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss('{0,1}', '{NaN,1}', 3, 0)$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss('{0,1}', '{Infinity,1}', 3, 0)$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss('{0,1}', '{NULL,1}', 3, 0)$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss('{0,1}', '{{0.5,0.5},{0.5,0.5}}', 3, 0)$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss('{0,1}', '{{0.5,0.5},{0.5,0.6}}', 2, 0)$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss('{0,1}', '{{{0.5,0.5}}}', 1, 0)$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss('{0,1}', '{0.5,0.5}', -3, 0)$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss('{0,1}', '{0.5,0.5}', 3, 4)$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss('{0,1}', '{0.5,0.5}', 3, 2, 1)$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss('{0,1}', '{0.5,0.5}', 3, 'NaN')$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss('{0,1}', '{0.5,0.5}', 3, NULL)$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss('{0,1}', '{0.5,0.5}', 3, 1, statistic => 'median')$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss('{0,1,1000000007}', '{0.4,0.3,0.3}', 1000000, 1000000)$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss((SELECT array_agg(i) FROM generate_series(1, 10001) i), (SELECT array_agg(1) FROM generate_series(1, 10001)), 3, 1)$$);
SELECT * FROM said($$SELECT sanitize.binary_entropy_loss(3, 4)$$);
SELECT * FROM said($$SELECT sanitize.binary_entropy_loss(3, -1)$$);
SELECT * FROM said($$SELECT sanitize.expected_binary_entropy_loss(-1)$$);
SELECT * FROM said($$SELECT sanitize.expected_binary_entropy_loss(NULL)$$);
SELECT * FROM said($$SELECT sanitize.interval_privacy('{}', 0.5)$$);
SELECT * FROM said($$SELECT sanitize.interval_privacy('{1,NaN}', 0.5)$$);
SELECT * FROM said($$SELECT sanitize.interval_privacy('{1,NULL}', 0.5)$$);
SELECT * FROM said($$SELECT sanitize.interval_privacy('{1}', 0)$$);
SELECT * FROM said($$SELECT sanitize.interval_privacy('{1}', 'NaN')$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss_of('people', 'nothing')$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss_of('people', 'name')$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss_of('people', 'id')$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss_of('people', 'age', prior => '[0, 1, 2]')$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss_of('people', 'age', prior => '{"0": 1, "1": 0, "2": 0, "3": 0, "4": 0}')$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss_of('people', 'age', prior => '{"0": "much"}')$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss_of('people', 'age', prior => '{"0": 0.5, "0.0": 0.5}')$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss_of('people', 'age', prior => '{"zero": 1}')$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss_of('people', 'age', prior => '[]')$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss_of('people', 'age', prior => '5')$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss_of('people', 'age', digits => 51)$$);
SELECT * FROM said($$SELECT * FROM sanitize.entropy_loss_of('people', 'score', prior => NULL)$$);
SET client_min_messages = warning;
DROP SCHEMA entropy_case CASCADE;
