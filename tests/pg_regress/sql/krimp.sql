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
DROP TABLE d1, d2;
