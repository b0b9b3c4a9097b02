-- The bag and its parallel aggregate.
CREATE TABLE rows (a text, b int, c date);
INSERT INTO rows SELECT 'v' || i % 7, i % 5, DATE '2024-01-01' + i % 3 FROM generate_series(1, 20000) AS i;
ANALYZE rows;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT sanitize.row_bag(r) FROM rows r;
CREATE TEMP TABLE bags AS SELECT 'parallel' AS how, sanitize.row_bag(r) AS bag FROM rows r;
SET max_parallel_workers_per_gather = 0;
EXPLAIN (COSTS OFF) SELECT sanitize.row_bag(r) FROM rows r;
INSERT INTO bags SELECT 'serial', sanitize.row_bag(r) FROM rows r;
INSERT INTO bags SELECT 'sorted', sanitize.row_bag(r) FROM (SELECT * FROM rows ORDER BY a DESC, b) r;
SELECT count(DISTINCT bag::text) FROM bags;
SELECT how, count(*), sum(support) FROM bags, sanitize.mine_miis(bag, 200) GROUP BY how ORDER BY how;
SELECT count(*), sum(support) FROM sanitize.mine_miis('rows', 200);
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;

-- A bag is a value: it can be stored, cast to text and back, grouped.
SELECT bag::text::sanitize.bag::text = bag::text AS round_trip FROM bags LIMIT 1;
SELECT a, (SELECT support FROM sanitize.frequent_itemsets(bag, 1, ARRAY['b'], 1) LIMIT 1)
  FROM (SELECT a, sanitize.row_bag(r) AS bag FROM rows r GROUP BY a) g ORDER BY a LIMIT 2;
SELECT items FROM sanitize.frequent_itemsets((SELECT sanitize.row_bag(ROW(a, b)) FROM rows), 2800);
SELECT items FROM sanitize.frequent_itemsets((SELECT sanitize.row_bag(r) FROM (SELECT a AS city, c FROM rows) r), 2857);
-- No rows: no bag. Rows that do not exist (the empty side of an outer join) do not count.
SELECT sanitize.row_bag(r) IS NULL FROM rows r WHERE false;
SELECT sum(support) FROM sanitize.frequent_itemsets((SELECT sanitize.row_bag(r) FROM generate_series(1, 3) AS i LEFT JOIN rows r ON r.b = i + 3 AND r.a = 'v0' AND r.c = '2024-01-01'), 1, ARRAY['b']);
-- Dropped columns are no columns.
ALTER TABLE rows DROP COLUMN b;
SELECT DISTINCT jsonb_object_keys(items) FROM sanitize.frequent_itemsets((SELECT sanitize.row_bag(r) FROM rows r), 1) ORDER BY 1;

-- Columns under names of their own: the same bag, whatever the bounds of the array of names are. A row of NULLs is a row.
INSERT INTO rows VALUES (NULL, NULL);
SELECT sanitize.row_bag(ARRAY['a', 'c'], a, c)::text = sanitize.row_bag(r)::text AS same,
       sanitize.row_bag('[7:8]={a,c}'::text[], a, c)::text = sanitize.row_bag(r)::text AS bounds,
       sanitize.row_bag('{a,c}'::cstring[], a, c)::text = sanitize.row_bag(r)::text AS names FROM rows r;
SELECT items FROM sanitize.frequent_itemsets((SELECT sanitize.row_bag(ARRAY['the city', 'ä'], a, left(a, 1)) FROM rows), 2858);
SELECT sanitize.row_bag(ARRAY['a'], a) IS NULL FROM rows WHERE false;
SELECT sanitize.row_bag(ARRAY['a'], a, c) FROM rows;
SELECT sanitize.row_bag(ARRAY['a', 'a'], a, c) FROM rows;
SELECT sanitize.row_bag(ARRAY['a', NULL], a, c) FROM rows;
SELECT sanitize.row_bag(NULL::text[], a, c) FROM rows;
SELECT sanitize.row_bag(ARRAY[['a'], ['b']], a, c) FROM rows;
SELECT sanitize.row_bag('{}'::text[], a) FROM rows;
SELECT sanitize.row_bag(ARRAY['a', 'b'], VARIADIC ARRAY[a, a]) FROM rows;
SELECT sanitize.row_bag(ARRAY['a', a], a, c) FROM rows WHERE a IS NOT NULL;
-- 98 columns are what a call holds; PostgreSQL 14 leaves the state out of the count and takes 99.
CREATE FUNCTION columns_in_a_bag(many int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE found bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM sanitize.mine_miis((SELECT sanitize.row_bag(%L::text[], %s) FROM rows), 1)',
        ARRAY(SELECT 'c' || i FROM generate_series(1, many) AS i), array_to_string(array_fill('c'::text, ARRAY[many]), ', ')) INTO found;
    RETURN found;
EXCEPTION WHEN too_many_arguments THEN
    RETURN SQLERRM;
END $$;
INSERT INTO rows VALUES ('once', '2020-02-02');
SELECT columns_in_a_bag(98);
SELECT columns_in_a_bag(99) = CASE WHEN current_setting('server_version_num')::int < 150000 THEN '99'
    ELSE 'aggregates cannot have more than 99 arguments' END AS as_the_version_has_it;
DROP FUNCTION columns_in_a_bag;

-- A bag is not what is not a bag.
SELECT sanitize.row_bag(r) FROM (SELECT 1 AS a, 2 AS a) r;
SELECT sanitize.row_bag(r) OVER () FROM rows r;
SELECT count(*) FROM sanitize.mine_miis((SELECT sanitize.row_bag(ROW()) FROM rows), 1);
SELECT count(*) FROM sanitize.mine_miis(NULL::sanitize.bag, 1);
SELECT ''::sanitize.bag;
SELECT 'rows'::sanitize.bag;
SELECT '\x7067736203'::sanitize.bag;
SELECT '\x7067736202'::sanitize.bag;
SELECT '\x7067736201'::sanitize.bag;
SELECT '\x7067736201ffffffffffffffffff01'::sanitize.bag;
-- one column "a", one value "x", one row of weight 1 and code 1; then damaged in each part
SELECT items, support FROM sanitize.mine_miis('\x7067736201010161010178010101'::sanitize.bag, 1);
SELECT '\x7067736201010161010178010001'::sanitize.bag;
SELECT '\x7067736201010161010178010102'::sanitize.bag;
SELECT '\x706773620101016101017801010101'::sanitize.bag;
SELECT '\x70677362010101610201790178010101'::sanitize.bag;
SELECT '\x70677362010101610101ff010101'::sanitize.bag;
SELECT '\x7067736201010161010100010101'::sanitize.bag;
-- The same in version 2, which has a checksum: whole, with a bit flipped, cut.
SELECT items, support FROM sanitize.mine_miis('\x7067736202000101610101780103577a94e1'::sanitize.bag, 1);
SELECT sanitize.row_bag(ARRAY['a'], 'x'::text) AS bag;
SELECT '\x7067736202000101610101790103577a94e1'::sanitize.bag;
SELECT '\x7067736202000101610101780103577a94'::sanitize.bag;
-- Text in another encoding; text in no known one is taken if it can be text here.
SELECT '\x7067736202064c4154494e310101610101e401035ea48ee2'::sanitize.bag;
SELECT '\x70677362020953514c5f41534349490101610101e40103c8acec9e'::sanitize.bag;
SELECT items FROM sanitize.mine_miis('\x70677362020953514c5f41534349490101610102c3a401034708ea49'::sanitize.bag, 1);
DROP TABLE rows, bags;
