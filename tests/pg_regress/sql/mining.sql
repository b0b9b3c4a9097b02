-- What mine_miis, mii_risk and frequent_itemsets return.
CREATE TABLE stays (sex text, age int, ward text);
INSERT INTO stays VALUES
    ('m', 30, 'N'), ('m', 30, 'N'), ('m', 30, 'S'), ('f', 30, 'N'), ('f', 40, 'S'),
    ('f', 40, 'S'), ('m', 40, 'N'), ('f', 40, 'N'), ('m', 50, 'N'), ('f', 30, 'N');

SELECT * FROM sanitize.mine_miis('stays', theta => 1);
SELECT * FROM sanitize.mine_miis('stays', theta => 2);
-- The three forms of the source agree.
SELECT * FROM sanitize.mine_miis('stays'::regclass, 1)
EXCEPT SELECT * FROM sanitize.mine_miis((SELECT sanitize.row_bag(s) FROM stays s), 1);
SELECT * FROM sanitize.mine_miis('stays'::text, 1, NULL, 2)
EXCEPT SELECT * FROM sanitize.mine_miis('stays'::regclass, 1) WHERE length <= 2;
-- A quoted name finds its form with every mix of arguments.
SELECT count(*) FROM sanitize.mine_miis('stays', 1, ARRAY['sex', 'age'], max_length => 2);
SELECT count(*) FROM sanitize.mine_miis('public.stays', 1, '{sex,age}');
-- Columns come in the relation's order, however they are named.
SELECT * FROM sanitize.mine_miis('stays', 1, ARRAY['ward', 'sex']);
-- theta 0: nothing that occurs is rarer. theta = rows: every value stands out.
SELECT count(*) FROM sanitize.mine_miis('stays', 0);
SELECT * FROM sanitize.mine_miis('stays', 10);
-- Lengths.
SELECT length, count(*) FROM sanitize.mine_miis('stays', 1, max_length => 1) GROUP BY 1;
SELECT length, count(*) FROM sanitize.mine_miis('stays', 1, max_length => 2) GROUP BY 1 ORDER BY 1;
SELECT length, count(*) FROM sanitize.mine_miis('stays', 1, max_length => 2000) GROUP BY 1 ORDER BY 1;

-- NULL is no item: nobody stands out by an unknown value.
CREATE TABLE gaps (a text, b text, c text);
INSERT INTO gaps VALUES ('x', NULL, '1'), ('x', NULL, '1'), ('x', 'y', '1'), ('x', 'y', '2'), (NULL, NULL, NULL);
SELECT * FROM sanitize.mine_miis('gaps', 1);
SELECT * FROM sanitize.mine_miis('gaps', 2);

-- What each column and value contributes.
SELECT * FROM sanitize.mii_risk('stays', 1);
SELECT * FROM sanitize.mii_risk((SELECT sanitize.row_bag(s) FROM stays s), 1, ARRAY['sex', 'age'], 2);

SELECT * FROM sanitize.frequent_itemsets('stays', 4);
SELECT * FROM sanitize.frequent_itemsets('stays', 4, closed => true);
SELECT * FROM sanitize.frequent_itemsets('stays', 4, max_length => 1);
SELECT * FROM sanitize.frequent_itemsets('stays', 11);
SELECT * FROM sanitize.frequent_itemsets('gaps', 2, ARRAY['a', 'c']);
SELECT count(*) FROM sanitize.frequent_itemsets((SELECT sanitize.row_bag(s) FROM stays s), 1, closed => true);

-- In views, in a join, as a scheduled job would use it.
CREATE VIEW outstanding AS SELECT * FROM sanitize.mine_miis('stays'::regclass, 1);
SELECT count(*) FROM outstanding WHERE items ? 'age';
CREATE TABLE report AS SELECT now() AS at, * FROM sanitize.mine_miis('stays', 1);
SELECT count(*) FROM report;
SELECT s.* FROM stays s JOIN outstanding o ON to_jsonb(s) ->> 'age' = o.items ->> 'age' AND o.length = 1;
SELECT (sanitize.mine_miis('stays', 1, ARRAY['age'])).*;

-- The number of threads changes nothing.
SET pg_sanitize.threads = 1;
CREATE TEMP TABLE one AS SELECT row_number() OVER () AS n, * FROM sanitize.mine_miis('stays', 2);
SET pg_sanitize.threads = 4;
CREATE TEMP TABLE four AS SELECT row_number() OVER () AS n, * FROM sanitize.mine_miis('stays', 2);
RESET pg_sanitize.threads;
SELECT count(*) FROM one FULL JOIN four USING (n, items, length, support) WHERE one IS NULL OR four IS NULL;
DROP TABLE one, four, report, gaps;
DROP VIEW outstanding;
DROP TABLE stays;
