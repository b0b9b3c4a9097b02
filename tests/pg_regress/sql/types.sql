-- Every type takes part by its text; equal text is equal value.
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE place AS (street text, number int);
CREATE DOMAIN postcode AS text CHECK (VALUE ~ '^[0-9]{4}$');
CREATE DOMAIN percent AS numeric(5, 2) CHECK (VALUE BETWEEN 0 AND 100);
CREATE TABLE kinds (
    t text, v varchar(20), c char(4), n name, q "char",
    i2 smallint, i4 int, i8 bigint, num numeric, f4 real, f8 double precision, m money,
    b bool, e mood, dom postcode, pct percent,
    d date, ts timestamp, tz timestamptz, ti time, iv interval,
    u uuid, ip inet, by bytea, bits bit varying,
    a int[], ta text[], j json, jb jsonb, r int4range, p place, o oid, tid tid, ln line
);
INSERT INTO kinds
SELECT 'same', 'same', 'ab', 'same', 'z', 1, 2, 3, 1.50, 1.5, 2.5, 12.34, true, 'ok', '1017', 12.5,
       '2024-02-29', '2024-02-29 12:00', '2024-02-29 12:00+00', '12:00', '1 day',
       '00000000-0000-0000-0000-000000000001', '10.0.0.1', '\xdeadbeef', '101',
       '{1,2}', '{a,"b c"}', '{"a":1}', '{"a": 1}', '[1,5)', ROW('Main', 1)::place, 1, '(0,1)', '{1,2,3}'
  FROM generate_series(1, 3);
INSERT INTO kinds
SELECT 'rare', 'rare', 'cd', 'rare', 'y', -1, -2, -3, 1.5, -0.0, 'NaN', 0, false, 'happy', '9999', 0,
       'infinity', '-infinity', 'infinity', '24:00', '-1 month',
       'ffffffff-ffff-ffff-ffff-ffffffffffff', '::1', '', '',
       '[0:1]={1,2}', '{NULL}', '{"a": 1}', '{"a": 1.0}', 'empty', ROW(NULL, 2)::place, 2, '(0,2)', '{1,2,4}';
INSERT INTO kinds DEFAULT VALUES;
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';
SELECT jsonb_object_agg(k, v) AS item FROM sanitize.mine_miis('kinds', 1, max_length => 1), jsonb_each_text(items) AS e(k, v)
 GROUP BY k ORDER BY k;
SELECT value, miis FROM sanitize.mii_risk('kinds', 1, ARRAY['num', 'i4', 'b', 'e'], 1);
-- 1.50 and 1.5 are equal numbers with different text: two values.
SELECT count(*) FROM sanitize.frequent_itemsets('kinds', 1, ARRAY['num']);

-- Long values: compressed and out of line in the table, and still compared whole.
CREATE TABLE long_values (v text, w bytea);
ALTER TABLE long_values ALTER v SET STORAGE EXTERNAL;
INSERT INTO long_values SELECT repeat('x', 100000) || (i / 2), decode(repeat('ab', 50000 + i / 2), 'hex') FROM generate_series(1, 5) AS i;
SELECT length(items ->> 'v'), right(items ->> 'v', 2), length(items ->> 'w'), length, support FROM sanitize.mine_miis('long_values', 1);
SELECT count(*) FROM sanitize.frequent_itemsets('long_values', 2);
SELECT support, count(*) FROM sanitize.frequent_itemsets((SELECT sanitize.row_bag(l) FROM long_values l), 1) GROUP BY 1 ORDER BY 1;

-- Text with quotes, newlines, empty strings and characters of every plane.
CREATE TABLE odd_text (v text);
INSERT INTO odd_text VALUES (''), (E'\n'), ('"'), ('\'), ('é'), ('日本'), ('😀'), (' '), (NULL);
SELECT items FROM sanitize.mine_miis('odd_text', 1);
DROP TABLE kinds, long_values, odd_text;
DROP TYPE mood, place;
DROP DOMAIN postcode, percent;
