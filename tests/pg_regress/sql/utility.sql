-- How well a released table serves in place of its original.
CREATE TABLE useful (a text, b int);
CREATE TABLE useful_released (b int, extra bool, a text);
INSERT INTO useful VALUES ('x', 1), ('x', 1), ('y', 2), ('y', 2);
INSERT INTO useful_released VALUES (1, true, 'x'), (2, true, 'x'), (1, true, 'y'), (2, true, NULL);
-- a: x and y against x, y and NULL: a quarter. a and b: x1, y2 against x1, x2, y1 and NULL 2: three quarters.
-- V is 1 before and 1/sqrt(2) after.
SELECT measure, round(value::numeric, 4) AS value FROM sanitize.utility('useful', 'useful_released');
SELECT measure, round(value::numeric, 4) AS value FROM sanitize.utility('useful', 'useful_released', '{a}');
-- By hand: of the rows with x, one in four is released, of those with y three: pMSE 1/16, 1/32 expected.
CREATE TABLE useful_hand AS SELECT unnest('{x,x,x,y}'::text[]) AS a;
CREATE TABLE useful_dealt AS SELECT unnest('{x,y,y,y}'::text[]) AS a;
SELECT measure, round(value::numeric, 4) AS value FROM sanitize.utility('useful_hand', 'useful_dealt') WHERE measure LIKE 'pmse%';
-- A table beside itself differs in nothing, and less than chance would have it.
SELECT measure, round(value::numeric, 4) AS value FROM sanitize.utility('useful', 'useful');
-- Without rows there is nothing to compare.
CREATE TABLE useful_empty (LIKE useful);
SELECT * FROM sanitize.utility('useful', 'useful_empty');
SELECT count(value) FROM sanitize.utility('useful_empty', 'useful');
-- Bad input.
SELECT * FROM sanitize.utility('useful', 'useful_hand');
SELECT * FROM sanitize.utility('useful', 'useful_released', '{}');
SELECT * FROM sanitize.utility('useful', 'useful_released', '{c}');
SELECT * FROM sanitize.utility('useful', NULL);
SELECT * FROM sanitize.utility('useful', 'no_such_table');
DROP TABLE useful, useful_released, useful_hand, useful_dealt, useful_empty;
