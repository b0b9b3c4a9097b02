-- Public ranges: declared, and found in constraints and domains.
CREATE DOMAIN share AS numeric CHECK (VALUE >= 0 AND VALUE <= 100);
CREATE FUNCTION five() RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 5';
CREATE TABLE codes (code int PRIMARY KEY);
INSERT INTO codes VALUES (3), (9), (5);
CREATE TABLE facts (
    between_both int CHECK (between_both BETWEEN 0 AND 120),
    whole int CHECK (whole > 0 AND 10.5 > whole),
    fine numeric CHECK (fine >= -5 AND fine < 10),
    day date CHECK (day >= '2020-01-01' AND day <= '2024-12-31'),
    list int CHECK (list IN (3, 1, 2)),
    narrowed int CHECK (narrowed IN (3, 1, 2) AND narrowed >= 2),
    refers int REFERENCES codes,
    of_domain share,
    endless float8 CHECK (endless >= 0 AND endless <= 'Infinity'),
    one_sided int CHECK (one_sided >= 0),
    called int CHECK (called >= five() AND called <= 10),
    local_time timestamp CHECK (local_time > '2020-01-01' AND local_time < '2021-01-01'),
    world_time timestamptz CHECK (world_time >= '2020-01-01 00:00+02' AND world_time < '2021-01-01 00:00+00'),
    first int, second int,
    either int CHECK (either >= 0 OR either <= 10),
    single int CHECK (single = 5),
    empty int CHECK (empty > 1 AND empty < 3),
    word text CHECK (word IN ('1', '2')),
    free float8,
    CHECK (first >= 2 AND second <= 7), CHECK (first <= 9 AND second >= first)
);
SET datestyle = 'German';
SET timezone = 'Asia/Tokyo';
SELECT attname, low, high FROM pg_attribute LEFT JOIN LATERAL sanitize.column_bounds('facts', attname::text) ON true
    WHERE attrelid = 'facts'::regclass AND attnum > 0 ORDER BY attnum;
SELECT sanitize.declare_bounds('facts', 'free', '0.1', '1e3');
SELECT sanitize.declare_bounds('facts', 'day', '31.12.2001', '01.02.2003', bins => 12);
SELECT sanitize.declare_bounds('facts', 'world_time', '31.12.2001 09:00', '01.02.2003');
SELECT sanitize.declare_bounds('facts', 'list', '0', '9');
SELECT column_name, domain_values, origin FROM sanitize.domains WHERE source = 'facts'::regclass;
SELECT attname, low, high FROM pg_attribute JOIN LATERAL sanitize.column_bounds('facts', attname::text) ON true
    WHERE attname IN ('free', 'day', 'world_time', 'list') AND attrelid = 'facts'::regclass ORDER BY attnum;
SELECT column_name, low, high, bins FROM sanitize.declared_bounds WHERE source = 'facts'::regclass ORDER BY 1;
SELECT sanitize.declare_bounds('facts', 'list', NULL, NULL);
SELECT * FROM sanitize.column_bounds('facts', 'list');
-- A view has what is declared for it.
CREATE VIEW seen AS SELECT between_both FROM facts;
SELECT * FROM sanitize.column_bounds('seen', 'between_both');
SELECT sanitize.declare_bounds('seen', 'between_both', '1', '99');
SELECT * FROM sanitize.column_bounds('seen', 'between_both');
-- Bad input.
SELECT sanitize.declare_bounds('facts', 'list', '5', '5');
SELECT sanitize.declare_bounds('facts', 'free', '0', 'infinity');
SELECT sanitize.declare_bounds('facts', 'free', 'NaN', '1');
SELECT sanitize.declare_bounds('facts', 'list', '5', NULL);
SELECT sanitize.declare_bounds('facts', 'list', NULL, '5');
SELECT sanitize.declare_bounds('facts', 'word', '1', '2');
SELECT sanitize.declare_bounds('facts', 'list', '1', '2', 0);
SELECT sanitize.declare_bounds('facts', 'list', 'a', '2');
SELECT sanitize.declare_bounds('facts', 'nope', '1', '2');
SELECT sanitize.column_bounds('facts', NULL);
-- Only the owner declares; the facts are public.
CREATE ROLE regress_other;
SET ROLE regress_other;
SELECT sanitize.declare_bounds('facts', 'list', '1', '2');
INSERT INTO sanitize.declared_bounds VALUES ('facts', 'list', '1', '2', 3);
UPDATE sanitize.declared_bounds SET high = '0';
DELETE FROM sanitize.declared_bounds;
SELECT * FROM sanitize.column_bounds('facts', 'day');
SELECT * FROM sanitize.column_bounds('facts', 'between_both');
-- Who may not read the table that a foreign key refers to does not learn its values.
SELECT * FROM sanitize.column_bounds('facts', 'refers');
RESET ROLE;
SELECT count(*) FROM sanitize.declared_bounds WHERE source = 'facts'::regclass;
SET client_min_messages = warning;
DROP VIEW seen;
DROP TABLE facts, codes;
DROP DOMAIN share;
DROP FUNCTION five;
DROP ROLE regress_other;
DELETE FROM sanitize.declared_bounds;
