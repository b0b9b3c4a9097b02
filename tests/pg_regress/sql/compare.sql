-- A released table beside its original: whole rows, rare itemsets, frequent itemsets.
-- The vectors 001-AS and 001-AS3: a word's letters are the columns.
CREATE TABLE o (a text, b text, c text);
CREATE TABLE r (a text, b text, c text);
INSERT INTO o SELECT left(w, 1), substr(w, 2, 1), right(w, 1) FROM unnest('{abc,abc,abc,abd,abd,xyz,xyz,pqr,stu,vwx}'::text[]) AS w;
INSERT INTO r SELECT left(w, 1), substr(w, 2, 1), right(w, 1) FROM unnest('{abc,abd,abd,pqr,zzz}'::text[]) AS w;
SELECT *, score = 11 / 12::float8 AND normalised = 1 / 2::float8 AS exact FROM sanitize.anonymity_score('o', 'r');
SELECT *, score = 11 / 6::float8 AS exact FROM sanitize.anonymity_score('o', 'o');
CREATE TABLE o3 AS SELECT w FROM unnest('{a,a,a,a,a,b,b,b,b,b,c,c,d,d,e,f,g}'::text[]) AS w;
CREATE TABLE r3 AS SELECT w FROM unnest('{a,c,d,e,zz}'::text[]) AS w;
SELECT *, score = 14 / 15::float8 AND normalised = 28 / 51::float8 AS exact FROM sanitize.anonymity_score('o3', 'r3');
SELECT *, score = 17 / 10::float8 AS exact FROM sanitize.anonymity_score('o3', 'o3');
-- Shares of rows: 4 of 5, and 6 of 10.
SELECT * FROM sanitize.common_records('o', 'r');
SELECT * FROM sanitize.common_records(released => 'r', original => 'o', columns => '{c}');
SELECT * FROM sanitize.common_records('o', 'o');
-- Few rare itemsets are all tried, whatever the seed: all of pqr, stu and vwx, and pqr was released.
SELECT * FROM sanitize.rare_itemset_leak('o', 'r');
SELECT * FROM sanitize.rare_itemset_leak('o', 'o', seed => 1);
-- Frequent itemsets, 30 %: a, b, ab, c, ac, bc, abc of 10 rows against a, b, ab, d, ad, bd, abd of 5.
\x on
SELECT * FROM sanitize.compare_itemsets('o', 'r', 0.3);
SELECT * FROM sanitize.compare_itemsets('o', 'r', 0.3, max_length => 1);
SELECT * FROM sanitize.compare_itemsets('o', 'r', 0.3, '{c}');
SELECT * FROM sanitize.compare_itemsets('o', 'o', 1);
\x off
-- The threshold is the least number of rows that is the share: 3 of 30 are 10 %.
CREATE TABLE thirty AS SELECT CASE WHEN i <= 3 THEN 'three' WHEN i <= 5 THEN 'two' ELSE i::text END AS v FROM generate_series(1, 30) AS i;
SELECT original_count FROM sanitize.compare_itemsets('thirty', 'thirty', 0.1);
SELECT original_count FROM sanitize.compare_itemsets('thirty', 'thirty', 0.100001);
SELECT original_count FROM sanitize.compare_itemsets('thirty', 'thirty', 1e-300);
-- A sample: the same for a seed, and never more than asked for.
CREATE TABLE many AS SELECT i % 7 AS a, i % 11 AS b, i % 13 AS c, i % 17 AS d FROM generate_series(1, 2000) AS i;
CREATE TABLE other AS SELECT i % 7 AS a, i % 11 AS b, i % 13 AS c, i * i % 17 AS d FROM generate_series(1, 2000) AS i;
SELECT * FROM sanitize.rare_itemset_leak('many', 'many', 401, 7);
SELECT count(DISTINCT l) AS equal FROM (SELECT array_agg(leaked ORDER BY length)::text AS l FROM generate_series(1, 3) AS i, sanitize.rare_itemset_leak('many', 'other', 400, i * 0 + 7) GROUP BY i) AS s;
SELECT count(DISTINCT l) > 1 AS different FROM (SELECT array_agg(leaked ORDER BY length)::text AS l FROM generate_series(1, 9) AS i, sanitize.rare_itemset_leak('many', 'other', 400, NULLIF(i, i)) GROUP BY i) AS s;
-- Columns are matched by name, values by their text, NULL with NULL; what else was released plays no part.
CREATE DOMAIN yes AS bool;
CREATE TABLE typed (n int, "Odd ""name" varchar(9), flag bool);
CREATE TABLE mixed (extra int DEFAULT 5, flag yes, "Odd ""name" text COLLATE "C", n bigint);
INSERT INTO typed VALUES (1, 'x', true), (2, NULL, false), (NULL, NULL, NULL), (NULL, NULL, NULL);
INSERT INTO mixed (n, "Odd ""name", flag) VALUES (1, 'x', true), (2, 'y', false), (NULL, NULL, NULL);
SELECT * FROM sanitize.anonymity_score('typed', 'mixed');
SELECT * FROM sanitize.common_records('typed', 'mixed');
SELECT * FROM sanitize.rare_itemset_leak('typed', 'mixed');
SELECT * FROM sanitize.common_records('typed', 'mixed', ARRAY['Odd "name']);
SELECT original_count, released_count, common, missing, added, nfd_common FROM sanitize.compare_itemsets('typed', 'mixed', 0.25);
CREATE TABLE "Odd ""table" AS SELECT * FROM typed;
SELECT * FROM sanitize.common_records('"Odd ""table"', 'mixed');
ALTER TABLE typed DROP COLUMN flag;
SELECT * FROM sanitize.common_records('typed', 'mixed');
-- Tables without rows.
CREATE TABLE nothing (a text, b text, c text);
SELECT * FROM sanitize.anonymity_score('nothing', 'r');
SELECT * FROM sanitize.anonymity_score('o', 'nothing');
SELECT * FROM sanitize.common_records('nothing', 'r');
SELECT * FROM sanitize.common_records('o', 'nothing');
SELECT * FROM sanitize.common_records('nothing', 'nothing');
SELECT * FROM sanitize.rare_itemset_leak('nothing', 'r');
SELECT * FROM sanitize.rare_itemset_leak('o', 'nothing');
\x on
SELECT * FROM sanitize.compare_itemsets('nothing', 'r', 0.3);
SELECT * FROM sanitize.compare_itemsets('o', 'nothing', 0.3);
SELECT * FROM sanitize.compare_itemsets('nothing', 'nothing', 0.3);
-- Bad input.
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
CREATE TABLE no_columns ();
SELECT * FROM said($$SELECT * FROM sanitize.anonymity_score('o', NULL)$$);
SELECT * FROM said($$SELECT * FROM sanitize.anonymity_score(NULL, 'o')$$);
SELECT * FROM said($$SELECT * FROM sanitize.anonymity_score('o', 'nowhere')$$);
SELECT * FROM said($$SELECT * FROM sanitize.anonymity_score(0, 'o')$$);
SELECT * FROM said($$SELECT * FROM sanitize.anonymity_score('o', 'r3')$$);
SELECT * FROM said($$SELECT * FROM sanitize.anonymity_score('typed', 'mixed', '{extra}')$$);
SELECT * FROM said($$SELECT * FROM sanitize.anonymity_score('o', 'r', '{}')$$);
SELECT * FROM said($$SELECT * FROM sanitize.anonymity_score('no_columns', 'r')$$);
SELECT * FROM said($$SELECT * FROM sanitize.common_records('o', 'r', '{a,a}')$$);
SELECT * FROM said($$SELECT * FROM sanitize.common_records('o', 'r', '{a,NULL}')$$);
SELECT * FROM said($$SELECT * FROM sanitize.common_records('o', 'r', '{A}')$$);
SELECT * FROM said($$SELECT * FROM sanitize.rare_itemset_leak('o', 'r', 0)$$);
SELECT * FROM said($$SELECT * FROM sanitize.rare_itemset_leak('o', 'r', -1)$$);
SELECT * FROM said($$SELECT * FROM sanitize.rare_itemset_leak('o', 'r', NULL)$$);
SELECT * FROM said($$SELECT * FROM sanitize.compare_itemsets('o', 'r', 0)$$);
SELECT * FROM said($$SELECT * FROM sanitize.compare_itemsets('o', 'r', -0.5)$$);
SELECT * FROM said($$SELECT * FROM sanitize.compare_itemsets('o', 'r', 1.5)$$);
SELECT * FROM said($$SELECT * FROM sanitize.compare_itemsets('o', 'r', 'NaN')$$);
SELECT * FROM said($$SELECT * FROM sanitize.compare_itemsets('o', 'r', NULL)$$);
SELECT * FROM said($$SELECT * FROM sanitize.compare_itemsets('o', 'r', 0.5, max_length => 0)$$);
SELECT * FROM said($$SELECT * FROM sanitize.compare_itemsets('o', 'r3', 0.5)$$);
-- Whoever asks needs SELECT on both; row security and views are as in any query.
CREATE ROLE regress_reader;
GRANT SELECT ON r TO regress_reader;
GRANT SELECT (a, b) ON o TO regress_reader;
SET ROLE regress_reader;
SELECT * FROM said($$SELECT * FROM sanitize.anonymity_score('o', 'r')$$);
SELECT * FROM said($$SELECT * FROM sanitize.common_records('r', 'o')$$);
SELECT * FROM said($$SELECT * FROM sanitize.rare_itemset_leak('o', 'r')$$);
SELECT * FROM said($$SELECT * FROM sanitize.compare_itemsets('r', 'o', 0.5)$$);
\x off
SELECT * FROM sanitize.common_records('o', 'r', '{a,b}');
RESET ROLE;
CREATE VIEW o_view AS SELECT c, b, a FROM o;
GRANT SELECT ON o_view, o TO regress_reader;
ALTER TABLE o ENABLE ROW LEVEL SECURITY;
CREATE POLICY only_ab ON o USING (a = 'a');
SET ROLE regress_reader;
SELECT * FROM sanitize.common_records('o', 'r');
SELECT * FROM sanitize.common_records('o_view', 'r');
RESET ROLE;
SELECT * FROM sanitize.common_records('o', 'r');
SELECT proname, provolatile, proparallel FROM pg_proc
 WHERE pronamespace = 'sanitize'::regnamespace AND proname IN ('anonymity_score', 'common_records', 'rare_itemset_leak', 'compare_itemsets') ORDER BY 1;
DROP VIEW o_view;
DROP TABLE o, r, o3, r3, thirty, many, other, typed, mixed, "Odd ""table", nothing, no_columns;
DROP DOMAIN yes;
DROP FUNCTION said;
DROP ROLE regress_reader;
