-- Everything that has to be declared is told at once, and the owner is told what a declared domain misses.
CREATE TABLE stays (id int PRIMARY KEY, ward text, diagnosis text, age int, day date, smoker bool);
INSERT INTO stays SELECT i, 'W' || i % 3, 'D' || i % 25, 20 + i % 50, DATE '2026-01-01' + i % 30, i % 2 = 0 FROM generate_series(1, 500) AS i;
SELECT sanitize.dp_synthesizer('stays', 1, columns => '{ward,diagnosis,age,day,smoker}');
SELECT count(*) FROM sanitize.randomize_cells(NULL::stays, 1, columns => '{ward,age,smoker}');
SELECT count(*) FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, columns => '{ward,diagnosis,smoker}');
SELECT count(*) FROM sanitize.dp_mii_sample(NULL::stays, 1, 1e-6, 20, columns => '{ward,smoker}');
SELECT sanitize.protect('stays', 'id', 10);
SELECT * FROM sanitize.dp_aggregate('stays', '{"n": "count", "old": {"avg": "age"}, "older": {"quantile": 0.9, "of": "age"}, "all": {"sum": "age", "low": 0, "high": 100}}', 1);
SELECT * FROM sanitize.dp_aggregate('stays', '{"old": {"avg": "age"}}', 1);
SELECT sanitize.unprotect('stays');
-- Three of 25 values are missing.
SELECT sanitize.declare_domain('stays', 'diagnosis', (SELECT array_agg('D' || i) FROM generate_series(0, 21) AS i));
SELECT sanitize.declare_domain('stays', 'diagnosis', (SELECT array_agg('D' || i) FROM generate_series(0, 23) AS i));
SELECT sanitize.declare_domain('stays', 'diagnosis', (SELECT array_agg('D' || i) FROM generate_series(0, 30) AS i));
UPDATE stays SET ward = NULL WHERE id <= 100;
SELECT sanitize.declare_domain('stays', 'ward', '{W0,W1,W2}');
SELECT sanitize.declare_domain('stays', 'age', '{020,21}');
-- The same for bounds, and for all columns when the table is protected.
SELECT sanitize.declare_bounds('stays', 'age', '20', '44');
SELECT sanitize.declare_bounds('stays', 'age', '20', '69');
SELECT sanitize.protect('stays', 'id', 10);
SELECT sanitize.unprotect('stays');
-- Rows that cannot be read stop nothing.
CREATE MATERIALIZED VIEW empty_stays AS SELECT ward FROM stays WITH NO DATA;
SELECT sanitize.declare_domain('empty_stays', 'ward', '{W0}');
CREATE VIEW broken_stays AS SELECT 1 / (id - id) AS n, age / (id - id) AS m FROM stays;
SELECT sanitize.declare_domain('broken_stays', 'n', '{1}');
SELECT sanitize.declare_bounds('broken_stays', 'm', '1', '2');
SET pg_sanitize.max_memory = '1MB';
CREATE TABLE many AS SELECT 'text number ' || i AS t FROM generate_series(1, 20000) AS i;
SELECT sanitize.declare_domain('many', 't', '{text number 1}');
RESET pg_sanitize.max_memory;
-- A domain is what was meant, whatever another session writes.
CREATE TABLE days AS SELECT DATE '2026-01-01' + i % 3 AS d, (i % 3) * interval '1 day 02:00' AS i, TIMESTAMPTZ '2026-01-01 12:00+00' AS z, 'x'::char(3) AS c, i % 2 = 0 AS b FROM generate_series(1, 30) AS i;
SET datestyle = 'SQL, DMY';
SET intervalstyle = 'iso_8601';
SET timezone = 'Asia/Tokyo';
SELECT sanitize.declare_domain('days', 'd', '{01/01/2026,02/01/2026,03/01/2026}');
SELECT sanitize.declare_domain('days', 'i', '{PT0S,P1DT2H,P2DT4H}');
SELECT sanitize.declare_domain('days', 'z', '{01/01/2026 21:00:00 JST}');
SELECT sanitize.declare_domain('days', 'c', '{x}');
SELECT sanitize.declare_domain('days', 'b', '{true,false}');
SELECT domain_values FROM sanitize.column_domain('days', 'd') UNION ALL SELECT domain_values FROM sanitize.column_domain('days', 'i') UNION ALL SELECT domain_values FROM sanitize.column_domain('days', 'z');
RESET datestyle;
RESET intervalstyle;
SET timezone = 'UTC';
SELECT domain_values FROM sanitize.column_domain('days', 'd') UNION ALL SELECT domain_values FROM sanitize.column_domain('days', 'i') UNION ALL SELECT domain_values FROM sanitize.column_domain('days', 'z');
RESET timezone;
SELECT count(d) > 0 AS d, count(i) > 0 AS i, count(z) > 0 AS z FROM sanitize.dp_synthesize(NULL::days, 100, columns => '{d,i,z}');
-- Nobody but the owner hears of it.
CREATE ROLE regress_domain_stranger;
GRANT SELECT ON stays TO regress_domain_stranger;
SET ROLE regress_domain_stranger;
SELECT sanitize.declare_domain('stays', 'ward', '{W0}');
RESET ROLE;
-- A superuser who declares for somebody else lends no rights to what that one wrote.
CREATE SCHEMA regress_domain AUTHORIZATION regress_domain_stranger;
SET ROLE regress_domain_stranger;
CREATE FUNCTION regress_domain.who(i int) RETURNS int LANGUAGE plpgsql AS $$BEGIN IF current_user <> 'regress_domain_stranger' THEN RAISE 'I am %', current_user; END IF; RETURN i; END$$;
CREATE VIEW regress_domain.trap AS SELECT regress_domain.who(i) AS i FROM generate_series(1, 4) AS i;
RESET ROLE;
SELECT sanitize.declare_domain('regress_domain.trap', 'i', '{1}');
SET client_min_messages = warning;
DROP SCHEMA regress_domain CASCADE;
DROP TABLE stays, many, days CASCADE;
DROP ROLE regress_domain_stranger;
