-- Sensitive itemsets that are frequent no longer.
SET client_min_messages = warning;
CREATE TABLE carts (id int, gone int, bread text, wine varchar(5), cheese boolean, paid numeric(6,2) NOT NULL);
ALTER TABLE carts DROP COLUMN gone;
INSERT INTO carts SELECT i, CASE WHEN i % 2 = 0 THEN 'rye' ELSE 'white' END, CASE WHEN i % 3 = 0 THEN 'red' WHEN i % 3 = 1 THEN 'rosé' END, i % 5 < 3, i % 4 + 0.5
  FROM generate_series(1, 60) AS i;
-- Of 10 rows with rye and red 6 lose a cell: fewer than 5 are left. Nothing else changes.
CREATE TABLE hidden AS SELECT * FROM sanitize.hide_itemsets(NULL::carts, '[{"bread": "rye", "wine": "red"}]', 5);
SELECT count(*) AS rows, count(*) FILTER (WHERE bread = 'rye' AND wine = 'red') AS shown FROM hidden;
SELECT count(*) AS changed, count(*) FILTER (WHERE h.bread IS NULL) AS bread, count(*) FILTER (WHERE h.wine IS DISTINCT FROM c.wine) AS wine
  FROM hidden AS h JOIN carts AS c USING (id) WHERE h IS DISTINCT FROM c;
SELECT count(*) AS otherwise FROM hidden AS h JOIN carts AS c USING (id)
 WHERE (h.cheese, h.paid) IS DISTINCT FROM (c.cheese, c.paid) OR h.bread <> c.bread OR h.wine <> c.wine;
-- They are spread over the table.
SELECT array_agg(id ORDER BY id) AS blanked FROM hidden WHERE bread IS NULL;
-- Itemsets that share an item are hidden together: the value that both have goes.
SELECT count(*) - count(bread) AS bread, count(*) - count(wine) - 20 AS wine, count(*) - count(cheese) AS cheese
  FROM sanitize.hide_itemsets(NULL::carts, '[{"bread": "rye", "wine": "red"}, {"wine": "red", "cheese": "t"}]', 1);
-- A kept column is never blanked, but may be part of an itemset.
SELECT count(*) - count(bread) AS bread, count(*) - count(wine) - 20 AS wine, count(*) FILTER (WHERE bread = 'rye' AND wine = 'red') AS shown
  FROM sanitize.hide_itemsets(NULL::carts, '[{"bread": "rye", "wine": "red"}]', 5, keep => '{bread,id}');
-- The measure agrees: nothing that was listed is frequent.
SELECT items, support FROM sanitize.frequent_itemsets('hidden', 4, '{bread,wine}') WHERE items @> '{"bread": "rye", "wine": "red"}';
-- The order of rows and of the list, repetitions and threads change nothing.
CREATE TABLE carts_moved (LIKE carts);
INSERT INTO carts_moved SELECT * FROM carts ORDER BY md5(id::text);
SET pg_sanitize.threads = 3;
SELECT count(*) FROM (SELECT * FROM sanitize.hide_itemsets(NULL::carts, '[{"bread": "rye", "wine": "red"}, {"paid": "0.50", "cheese": "f"}]', 3)
    EXCEPT ALL SELECT * FROM sanitize.hide_itemsets(NULL::carts_moved, '[{"cheese": "f", "paid": "0.50"}, {"wine": "red", "bread": "rye"}, {"paid": "0.50", "cheese": "f"}]', 3)) AS d;
RESET pg_sanitize.threads;
-- What is not frequent, or does not occur, needs no blanks; text beyond ASCII is compared as it is.
SELECT count(*) FROM (SELECT * FROM carts EXCEPT ALL SELECT * FROM sanitize.hide_itemsets(NULL::carts, '[{"bread": "rye", "wine": "red"}, {"wine": "port"}]', 11)) AS d;
SELECT count(*) FILTER (WHERE wine = 'rosé') AS shown, count(wine) AS wine FROM sanitize.hide_itemsets(NULL::carts, '[{"wine": "rosé"}]', 3);
-- min_support 1: the itemset is gone.
SELECT count(*) FILTER (WHERE bread = 'rye') AS shown, count(bread) AS bread FROM sanitize.hide_itemsets(NULL::carts, '[{"bread": "rye"}]', 1);
-- No rows.
CREATE TABLE no_carts (LIKE carts);
SELECT count(*) FROM sanitize.hide_itemsets(NULL::no_carts, '[{"bread": "rye"}]', 1);
-- Bad input.
SELECT * FROM sanitize.hide_itemsets(NULL::carts, NULL, 5);
SELECT * FROM sanitize.hide_itemsets(NULL::carts, '[]', 5);
SELECT * FROM sanitize.hide_itemsets(NULL::carts, '{"bread": "rye"}', 5);
SELECT * FROM sanitize.hide_itemsets(NULL::carts, '[{}]', 5);
SELECT * FROM sanitize.hide_itemsets(NULL::carts, '[["bread"]]', 5);
SELECT * FROM sanitize.hide_itemsets(NULL::carts, '["bread"]', 5);
SELECT * FROM sanitize.hide_itemsets(NULL::carts, '[{"id": 3}]', 5);
SELECT * FROM sanitize.hide_itemsets(NULL::carts, '[{"bread": null}]', 5);
SELECT * FROM sanitize.hide_itemsets(NULL::carts, '[{"nope": "rye"}]', 5);
SELECT * FROM sanitize.hide_itemsets(NULL::carts, '[{"gone": "rye"}]', 5);
SELECT * FROM sanitize.hide_itemsets(NULL::carts, '[{"bread": "rye"}]', 0);
SELECT * FROM sanitize.hide_itemsets(NULL::carts, '[{"bread": "rye"}]', NULL);
SELECT * FROM sanitize.hide_itemsets(NULL::carts, '[{"bread": "rye", "wine": "red"}, {"bread": "rye"}]', 5, keep => '{bread}');
SELECT * FROM sanitize.hide_itemsets(NULL::carts, '[{"bread": "port", "wine": "red"}]', 5, keep => '{wine,bread}');
SELECT * FROM sanitize.hide_itemsets(NULL::carts, '[{"bread": "rye"}]', 5, keep => '{}');
SELECT * FROM sanitize.hide_itemsets(NULL::carts, '[{"bread": "rye"}]', 5, keep => '{nope}');
SELECT * FROM sanitize.hide_itemsets(NULL::int, '[{"bread": "rye"}]', 5);
-- All columns come back, so all must be readable.
CREATE ROLE sanitize_reader;
GRANT SELECT (bread) ON carts TO sanitize_reader;
SET ROLE sanitize_reader;
SELECT count(*) FROM sanitize.hide_itemsets(NULL::carts, '[{"bread": "rye"}]', 5);
RESET ROLE;
-- A hostile column name is a name.
CREATE TABLE "odd ""t" ("a"";drop table carts;--" int, b text);
INSERT INTO "odd ""t" VALUES (1, 'x'), (1, 'x');
SELECT * FROM sanitize.hide_itemsets(NULL::"odd ""t", '[{"a\";drop table carts;--": "1", "b": "x"}]', 2);
-- What is promised: nothing about people.
SELECT l ->> 'kind' AS kind, l -> 'metrics' AS metrics, l -> 'not_covered' AS not_covered, l ->> 'sentence' AS sentence
  FROM sanitize.guarantee('hide_itemsets', '{"itemsets": [{"bread": "rye"}], "min_support": 5, "keep": ["id"]}') AS l;
SELECT sanitize.guarantee('hide_itemsets', '{"min_support": 5}');
SELECT sanitize.guarantee('hide_itemsets', '{"itemsets": [], "min_support": 5}');
DROP TABLE carts, hidden, carts_moved, no_carts, "odd ""t";
DROP ROLE sanitize_reader;
