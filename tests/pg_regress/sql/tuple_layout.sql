-- Rows that are laid out by us and not by Postgres: they must be the same to the byte, for values of any length,
-- alignment and kind, with NULL and without, beside dropped columns and columns that are left out.
CREATE FUNCTION declare_all(laid regclass) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    name text;
    found text[];
BEGIN
    FOR name IN SELECT attname FROM pg_attribute WHERE attrelid = laid AND attnum > 0 AND NOT attisdropped ORDER BY attnum LOOP
        EXECUTE format('SELECT array_agg(DISTINCT %I::text) FROM %s WHERE %I IS NOT NULL', name, laid, name) INTO found;
        PERFORM sanitize.declare_domain(laid, name, found);
    END LOOP;
END $$;
CREATE TABLE laid (
    gone int, flag bool, small int2, tiny "char", large int8, number int4, ratio float8, exact numeric, word text,
    code varchar(40), padded char(5), day date, moment timestamptz, span interval, id uuid, label name, address inet,
    numbers int[], doc jsonb, bits bit varying, raw bytea, place point, short real, lapse time with time zone, last text);
ALTER TABLE laid DROP gone;
INSERT INTO laid
SELECT i % 2 = 0, i % 7, (i % 5)::text::"char", i % 3 * 10000000000, i % 11, i % 4 / 8.0, (i % 6) / 10.0, repeat('w', i % 40),
       repeat('ä', i % 20), i % 9, date '2020-01-01' + i % 10, timestamptz '2020-01-01 00:00+00' + i % 3 * interval '1 hour',
       i % 4 * interval '1 day', md5((i % 8)::text)::uuid, 'n' || i % 3, ('10.0.0.' || i % 5)::inet, array_fill(i % 3, ARRAY[i % 60]),
       jsonb_build_object('a', i % 7), (i % 6)::bit(7)::bit varying, repeat('x', i % 200)::bytea, NULL, i % 3 / 4.0,
       '10:00+01'::timetz + i % 2 * interval '1 hour', repeat('l', 100 * (i % 4))
  FROM generate_series(1, 3000) AS i;
ALTER TABLE laid DROP place;
SELECT declare_all('laid');
CREATE TABLE formed AS SELECT * FROM laid;
CREATE TABLE kept AS SELECT * FROM sanitize.randomize_cells(NULL::laid, 100000);
SELECT count(*) FROM (SELECT * FROM laid EXCEPT ALL SELECT * FROM kept) AS d;
SELECT pg_relation_size('kept') BETWEEN pg_relation_size('formed') * 0.99 AND pg_relation_size('formed') * 1.01 AS size;
SELECT count(*) FROM kept JOIN formed ON kept::text = formed::text WHERE NOT kept *= formed;
SELECT (SELECT sum(pg_column_size(kept)) FROM kept) = (SELECT sum(pg_column_size(formed)) FROM formed) AS columns;
-- NULL in every column once, and in several.
UPDATE laid SET flag = NULL WHERE number = 0;
UPDATE laid SET small = NULL, exact = NULL, word = NULL, last = NULL WHERE number IN (1, 2);
UPDATE laid SET large = NULL, ratio = NULL, day = NULL, id = NULL, label = NULL WHERE number IN (2, 3);
UPDATE laid SET tiny = NULL, code = NULL, padded = NULL, moment = NULL, span = NULL, address = NULL WHERE number = 4;
UPDATE laid SET numbers = NULL, doc = NULL, bits = NULL, raw = NULL, short = NULL, lapse = NULL, number = NULL WHERE number = 5;
DROP TABLE kept;
CREATE TABLE kept AS SELECT * FROM sanitize.randomize_cells(NULL::laid, 100000);
SELECT count(*) FROM (SELECT * FROM laid EXCEPT ALL SELECT * FROM kept) AS d;
SELECT count(*), count(word), count(number), count(span) FROM kept;
-- Columns that are left out, and columns that are kept, in whatever order.
DROP TABLE kept;
CREATE TABLE kept AS SELECT * FROM sanitize.randomize_cells(NULL::laid, 100000, columns => '{word,flag,last,id}', keep => '{exact,small}');
SELECT count(*) FROM (SELECT flag, small, exact, word, id, last FROM laid EXCEPT ALL SELECT flag, small, exact, word, id, last FROM kept) AS d;
SELECT count(*), count(number), count(raw), count(code) FROM kept;
-- All NULL.
UPDATE laid SET flag = NULL;
SELECT count(*), count(flag) FROM sanitize.randomize_cells(NULL::laid, 100000, columns => '{flag}');
-- Values that are too long, left to Postgres, and values that it compresses or keeps elsewhere when it writes them.
CREATE TABLE long_values (a text, b int);
INSERT INTO long_values SELECT repeat(chr(65 + i % 3), 3000 * (i % 4)), i % 5 FROM generate_series(1, 300) AS i;
SELECT declare_all('long_values');
DROP TABLE kept;
CREATE TABLE kept AS SELECT * FROM sanitize.randomize_cells(NULL::long_values, 100000);
SELECT count(*) FROM (SELECT * FROM long_values EXCEPT ALL SELECT * FROM kept) AS d;
TRUNCATE long_values;
INSERT INTO long_values SELECT repeat(chr(65 + i % 3), 2500 * (i % 4)), i % 5 FROM generate_series(1, 300) AS i;
DROP TABLE kept;
SELECT declare_all('long_values');
CREATE TABLE kept AS SELECT * FROM sanitize.randomize_cells(NULL::long_values, 100000);
SELECT count(*) FROM (SELECT * FROM long_values EXCEPT ALL SELECT * FROM kept) AS d;
DROP TABLE laid, formed, kept, long_values;
DROP FUNCTION declare_all;
