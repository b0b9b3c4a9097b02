-- Bad input: what it says, with SQLSTATE, detail and hint.
CREATE FUNCTION said(statement text) RETURNS TABLE(state text, message text, detail text, hint text)
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    state := '00000';
    RETURN NEXT;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
                            detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN NEXT;
END $$;
CREATE TABLE t (a text, b text);
INSERT INTO t VALUES ('1', '2'), ('1', '3'), ('2', '3');
CREATE TABLE no_columns ();
CREATE TABLE no_rows (a int);
CREATE SEQUENCE counter;
CREATE INDEX t_a ON t (a);
CREATE TYPE pair AS (x int, y int);
\x on
-- columns
SELECT * FROM said($$SELECT * FROM sanitize.mine_miis('t', 1, ARRAY['c'])$$);
SELECT * FROM said($$SELECT * FROM sanitize.mine_miis('t', 1, ARRAY['A'])$$);
SELECT * FROM said($$SELECT * FROM sanitize.mine_miis('t', 1, ARRAY['ctid'])$$);
SELECT * FROM said($$SELECT * FROM sanitize.mine_miis('t', 1, ARRAY['a', 'a'])$$);
SELECT * FROM said($$SELECT * FROM sanitize.mine_miis('t', 1, '{}')$$);
SELECT * FROM said($$SELECT * FROM sanitize.mine_miis('t', 1, ARRAY['a', NULL])$$);
SELECT * FROM said($$SELECT * FROM sanitize.mine_miis('t', 1, ARRAY[''])$$);
SELECT * FROM said($$SELECT * FROM sanitize.mine_miis((SELECT sanitize.row_bag(t) FROM t), 1, ARRAY['c'])$$);
-- theta
SELECT * FROM said($$SELECT * FROM sanitize.mine_miis('t', NULL)$$);
SELECT * FROM said($$SELECT * FROM sanitize.mine_miis('t', -1)$$);
SELECT * FROM said($$SELECT * FROM sanitize.mine_miis('t', 4)$$);
SELECT * FROM said($$SELECT * FROM sanitize.mine_miis('t', 2147483647)$$);
SELECT * FROM said($$SELECT * FROM sanitize.mine_miis('t', 3000000000)$$);
SELECT * FROM said($$SELECT * FROM sanitize.mii_risk('t', 4)$$);
SELECT * FROM said($$SELECT * FROM sanitize.mii_risk('t', NULL)$$);
-- other numbers
SELECT * FROM said($$SELECT * FROM sanitize.mine_miis('t', 1, max_length => 0)$$);
SELECT * FROM said($$SELECT * FROM sanitize.frequent_itemsets('t', 0)$$);
SELECT * FROM said($$SELECT * FROM sanitize.frequent_itemsets('t', NULL)$$);
SELECT * FROM said($$SELECT * FROM sanitize.frequent_itemsets('t', 1, closed => NULL)$$);
SELECT * FROM said($$SELECT * FROM sanitize.frequent_itemsets('t', 1, max_length => -5)$$);
SELECT * FROM said($$SELECT sanitize.mii_bound(-1, 3)$$);
SELECT * FROM said($$SELECT sanitize.mii_bound(1, NULL)$$);
SELECT * FROM said($$SELECT sanitize.mii_bound(1, 2147483647)$$);
SELECT * FROM said($$SELECT * FROM sanitize.orthogonal_array(3, 6, 2)$$);
SELECT * FROM said($$SELECT * FROM sanitize.orthogonal_array(7, 5, 2)$$);
SELECT * FROM said($$SELECT * FROM sanitize.orthogonal_array(4, 5, 0)$$);
SELECT * FROM said($$SELECT * FROM sanitize.orthogonal_array(-4, 5, 2)$$);
SELECT * FROM said($$SELECT * FROM sanitize.orthogonal_array(4, NULL, 2)$$);
SELECT * FROM said($$SELECT * FROM sanitize.orthogonal_array(30, 31, 30)$$);
-- relations
SELECT * FROM said($$SELECT * FROM sanitize.mine_miis(NULL::regclass, 1)$$);
SELECT * FROM said($$SELECT * FROM sanitize.mine_miis(NULL, 1)$$);
SELECT * FROM said($$SELECT * FROM sanitize.mine_miis(NULL::int, 1)$$);
SELECT * FROM said($$SELECT * FROM sanitize.mine_miis('nowhere', 1)$$);
SELECT * FROM said($$SELECT * FROM sanitize.mine_miis('a.b.c.d', 1)$$);
SELECT * FROM said($$SELECT * FROM sanitize.mine_miis('', 1)$$);
SELECT * FROM said($$SELECT * FROM sanitize.mine_miis(4294967295::regclass, 1)$$);
SELECT * FROM said($$SELECT * FROM sanitize.mine_miis(0::regclass, 1)$$);
SELECT * FROM said($$SELECT * FROM sanitize.mine_miis('no_columns', 1)$$);
SELECT * FROM said($$SELECT * FROM sanitize.mine_miis('no_rows', 1)$$);
SELECT * FROM said($$SELECT * FROM sanitize.frequent_itemsets('no_rows', 1)$$);
SELECT * FROM said($$SELECT * FROM sanitize.mine_miis('counter', 1)$$);
SELECT * FROM said($$SELECT * FROM sanitize.mine_miis('t_a', 1)$$);
SELECT * FROM said($$SELECT * FROM sanitize.mine_miis('pair', 1)$$);
CREATE TABLE gone (a int);
SELECT 'gone'::regclass::oid AS gone_oid \gset
DROP TABLE gone;
SELECT state, replace(message, :'gone_oid', 'N') FROM said(format($$SELECT * FROM sanitize.mine_miis(%s::regclass, 1)$$, :gone_oid));
-- limits
SET pg_sanitize.max_memory = '1MB';
SELECT * FROM said($$SELECT count(*) FROM sanitize.mine_miis((SELECT sanitize.row_bag(r) FROM (SELECT i AS a, i AS b FROM generate_series(1, 100000) i) r), 1)$$);
RESET pg_sanitize.max_memory;
SET pg_sanitize.max_itemsets = 2;
SELECT * FROM said($$SELECT count(*) FROM sanitize.mine_miis('t', 1)$$);
SELECT * FROM said($$SELECT count(*) FROM sanitize.frequent_itemsets('t', 1)$$);
RESET pg_sanitize.max_itemsets;
-- a row where no rows are taken
SELECT * FROM said($$SELECT CASE WHEN true THEN sanitize.mine_miis('t', 1) END$$);
\x off
DROP FUNCTION said;
DROP TABLE t, no_columns, no_rows;
DROP SEQUENCE counter;
DROP TYPE pair;
