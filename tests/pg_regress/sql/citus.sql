-- What Citus asks of an aggregate that its workers are to run, tried without Citus. A worker runs the transition
-- function and sends the state as text, the output of its type; the coordinator reads the text by the type's input
-- function, combines the states, and calls the final function. Neither NULL states nor their order matter.
SELECT aggfnoid::regprocedure, aggtranstype::regtype, typtype <> 'p' AS travels, aggcombinefn <> 0 AS combines
  FROM pg_aggregate JOIN pg_proc AS p ON p.oid = aggfnoid JOIN pg_type AS t ON t.oid = aggtranstype
 WHERE pronamespace::regnamespace::text ~ '^sanitize' ORDER BY aggfnoid::regprocedure::text;

-- Workers: the aggregates without their final functions, whose result is the state. Coordinator: the combining ones.
CREATE AGGREGATE worker_rows(record) (SFUNC = sanitize_internal.row_bag_trans, STYPE = sanitize.bag);
CREATE AGGREGATE worker_cells(text[], text[]) (SFUNC = sanitize_internal.cell_bag_trans, STYPE = sanitize.bag);
CREATE AGGREGATE coordinator_bag(sanitize.bag)
    (SFUNC = sanitize_internal.row_bag_combine, STYPE = sanitize.bag, FINALFUNC = sanitize_internal.row_bag_final);
CREATE AGGREGATE worker_sum(bigint, bigint, bigint)
    (SFUNC = sanitize_internal.clamped_sum_trans, STYPE = bigint[], INITCOND = '{0,0}');
CREATE AGGREGATE worker_squares(bigint, bigint, bigint)
    (SFUNC = sanitize_internal.clamped_squares_trans, STYPE = bigint[], INITCOND = '{0,0}');
CREATE AGGREGATE coordinator_sum(bigint[])
    (SFUNC = sanitize_internal.clamped_combine, STYPE = bigint[], FINALFUNC = sanitize_internal.clamped_final);

CREATE TABLE visits (shard int, ward text, age int, since date);
INSERT INTO visits SELECT i % 5, 'w' || i % 3, nullif(i % 7, 3), DATE '2024-01-01' + i % 2 FROM generate_series(1, 700) AS i;
INSERT INTO visits VALUES (5, NULL, NULL, NULL);
CREATE VIEW states AS
    SELECT shard, worker_rows(v)::text AS of_rows,
           worker_cells(ARRAY['ward', 'age'], ARRAY[ward, age::text])::text AS of_cells,
           worker_sum(age, 1, 5)::text AS of_sum, worker_squares(age, -2, 5)::text AS of_squares
      FROM (SELECT shard, ward, age, since FROM visits) AS v GROUP BY shard
     UNION ALL SELECT NULL, NULL, NULL, NULL, NULL;
SELECT coordinator_bag(of_rows::sanitize.bag ORDER BY shard)::text
     = (SELECT sanitize.row_bag(v)::text FROM visits AS v) AS rows,
       coordinator_bag(of_rows::sanitize.bag ORDER BY shard DESC)::text
     = (SELECT sanitize.row_bag(v)::text FROM visits AS v) AS other_order,
       coordinator_bag(of_cells::sanitize.bag)::text
     = (SELECT sanitize.row_bag(ARRAY['ward', 'age'], ward, age)::text FROM visits) AS cells,
       coordinator_sum(of_sum::bigint[]) = (SELECT sanitize.clamped_sum(age, 1, 5) FROM visits) AS sum,
       coordinator_sum(of_squares::bigint[]) = (SELECT sanitize.clamped_sum_squares(age, -2, 5) FROM visits) AS squares
  FROM states;
-- Of no state, and of NULL states only.
SELECT coordinator_bag(of_rows::sanitize.bag) IS NULL AS bag, coordinator_sum(of_sum::bigint[]) FROM states WHERE shard = -1;
SELECT coordinator_bag(of_rows::sanitize.bag) IS NULL AS bag, coordinator_sum(of_sum::bigint[]) FROM states WHERE shard IS NULL;
-- A state that has been written goes on as well: as a bag that more rows are added to.
SELECT count(*), count(DISTINCT length(b::text)) > 1 AS grows, (array_agg(b::text ORDER BY shard DESC, n DESC))[1]
     = (SELECT sanitize.row_bag(v)::text FROM visits AS v) AS same
  FROM (SELECT shard, row_number() OVER () AS n, worker_rows(v) OVER (ORDER BY shard ROWS UNBOUNDED PRECEDING) AS b
          FROM visits AS v) AS s;
-- Sums beyond 64 bits travel whole.
SELECT worker_squares(x, low, high) AS state, coordinator_sum(ARRAY[7, 0]::bigint[]) AS stops
  FROM (VALUES (9223372036854775807, -9223372036854775807, 9223372036854775807)) AS v(x, low, high);
SELECT coordinator_sum(s) FROM (VALUES ('{1,5}'::bigint[]), ('{-1,-7}'), ('{-1,-1}')) AS v(s);
-- The names of ROW(…).
SELECT items FROM sanitize.frequent_itemsets((SELECT sanitize.row_bag(ROW(ward, age)) FROM visits), 160);
-- cell_bag counts a row of NULLs; a NULL array is no row.
SELECT sum(support) FROM sanitize.frequent_itemsets((SELECT sanitize.cell_bag(ARRAY['a'], c) FROM (VALUES ('{x}'::text[]), ('{NULL}'), (NULL), ('{x}')) AS v(c)), 1);
SELECT sanitize.k_anonymity(sanitize.cell_bag(ARRAY['a'], c)) FROM (VALUES ('{NULL}'::text[]), (NULL)) AS v(c);
SELECT sanitize.cell_bag(ARRAY['a', 'b'], ARRAY['x']);
SELECT sanitize.cell_bag(NULL, ARRAY['x']);
SELECT sanitize.cell_bag(ARRAY['a', 'b'], ARRAY[['x'], ['y']]);

-- What is wrong with a state is told.
SELECT coordinator_bag(b) FROM (SELECT sanitize.row_bag(ARRAY['a'], 1) AS b UNION ALL SELECT sanitize.row_bag(ARRAY['b'], 1)) AS s;
SELECT coordinator_sum(s) FROM (VALUES ('{0,0,0}'::bigint[])) AS v(s);
SELECT coordinator_sum(s) FROM (VALUES ('{0,NULL}'::bigint[])) AS v(s);
SELECT coordinator_sum(s) FROM (VALUES ('{{0},{0}}'::bigint[])) AS v(s);
-- Parts of an aggregate are nothing by themselves.
SELECT sanitize_internal.row_bag_combine(NULL, NULL);
SELECT sanitize_internal.row_bag_combine(b, b) FROM (SELECT sanitize.row_bag(v) AS b FROM visits AS v) AS s;
SELECT sanitize_internal.row_bag_trans(NULL, ROW(1));
SELECT sanitize_internal.row_bag_trans(b, ROW(1)) FROM (SELECT sanitize.row_bag(v) AS b FROM visits AS v) AS s;
SELECT sanitize_internal.row_bag_columns_trans(NULL, ARRAY['a'], 1);
SELECT sanitize_internal.cell_bag_trans(NULL, ARRAY['a'], ARRAY['x']);
SELECT sanitize_internal.row_bag_final(b) FROM (SELECT sanitize.row_bag(v) AS b FROM visits AS v) AS s;
SELECT sanitize_internal.clamped_sum_trans('{0,0}', 1, 2, 3);
SELECT sanitize_internal.clamped_combine('{0,0}', '{0,0}');
SELECT sanitize_internal.clamped_final('{0,0}');
DROP VIEW states;
DROP TABLE visits;
DROP AGGREGATE worker_rows(record), worker_cells(text[], text[]), coordinator_bag(sanitize.bag),
    worker_sum(bigint, bigint, bigint), worker_squares(bigint, bigint, bigint), coordinator_sum(bigint[]);
