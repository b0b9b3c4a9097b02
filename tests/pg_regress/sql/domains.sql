-- Public domains: declared, and found in types and constraints.
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN grade AS text CHECK (VALUE IN ('A', 'B'));
CREATE TABLE wards (code text PRIMARY KEY, name text);
INSERT INTO wards VALUES ('N', 'north'), ('S', 'south');
CREATE TABLE stays (
    e mood, b bool, g grade,
    t text CHECK (t IN ('x', 'y', 'x')),
    v varchar(5) CHECK (v IN ('p', 'q')),
    c char(3) CHECK (c IN ('k', 'l')),
    i int CHECK (i IN (1, 2, 3)),
    s smallint CHECK (s = ANY ('{4,5}')),
    n numeric(5, 2) CHECK (n IN (1, 2.5)),
    d date CHECK (d IN ('2024-01-01', '2024-02-01')),
    w text REFERENCES wards,
    free text,
    ranged int CHECK (ranged BETWEEN 1 AND 3),
    other text CHECK (other NOT IN ('a', 'b')),
    called text CHECK (called IN (upper('a'), 'b'))
);
SELECT column_name, domain_values, origin FROM sanitize.domains WHERE source = 'stays'::regclass;
SELECT sanitize.declare_domain('stays', 'free', ARRAY['one', 'two', 'one']);
SELECT sanitize.declare_domain('stays', 'ranged', ARRAY['1', '02', '3']);
SELECT sanitize.declare_domain('stays', 'e', ARRAY['ok', 'sad']);
SELECT sanitize.declare_domain('stays', 'n', ARRAY['1', '7']);
SELECT column_name, domain_values, origin FROM sanitize.domains WHERE source = 'stays'::regclass AND origin = 'declared';
SELECT sanitize.declare_domain('stays', 'free', ARRAY['three']);
SELECT * FROM sanitize.column_domain('stays', 'free');
SELECT * FROM sanitize.column_domain('stays', 'other');
-- Views have declared domains only.
CREATE VIEW stays_view AS SELECT e, t, w FROM stays;
SELECT sanitize.declare_domain('stays_view', 't', ARRAY['x', 'y']);
SELECT column_name, domain_values, origin FROM sanitize.domains WHERE source = 'stays_view'::regclass;

-- A function in a CHECK constraint is not called: it would run with the rights of whoever looks.
CREATE TABLE trap_log (what text);
CREATE FUNCTION trap() RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$BEGIN INSERT INTO trap_log VALUES ('sprung'); RETURN 'a'; END$$;
CREATE TABLE trapped (a text CHECK (a IN (trap(), 'b')));
SELECT count(*) FROM sanitize.column_domain('trapped', 'a');
CREATE FUNCTION fake_eq(text, text) RETURNS bool LANGUAGE plpgsql AS $$BEGIN INSERT INTO trap_log VALUES ('operator'); RETURN true; END$$;
CREATE SCHEMA evil;
CREATE OPERATOR evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = fake_eq);
CREATE TABLE trapped_too (a text CHECK (a OPERATOR(evil.=) ANY (ARRAY['x', 'y'])));
SELECT count(*) FROM sanitize.column_domain('trapped_too', 'a');
SELECT count(*) FROM trap_log;

-- Only the owner declares.
CREATE ROLE regress_owner;
CREATE ROLE regress_other;
GRANT SELECT ON stays TO regress_other;
ALTER TABLE stays OWNER TO regress_owner;
SET ROLE regress_other;
SELECT sanitize.declare_domain('stays', 'free', ARRAY['mine']);
INSERT INTO sanitize.declared_domain VALUES ('stays', 'free2', ARRAY['mine']);
UPDATE sanitize.declared_domain SET domain_values = '{mine}';
DELETE FROM sanitize.declared_domain;
SELECT domain_values FROM sanitize.column_domain('stays', 'free');
-- Who may not read the table that a foreign key refers to does not learn its values.
SELECT count(*) FROM sanitize.column_domain('stays', 'w');
RESET ROLE;
SET ROLE regress_owner;
SELECT sanitize.declare_domain('stays', 'free', ARRAY['owner''s']);
SELECT domain_values FROM sanitize.column_domain('stays', 'free');
RESET ROLE;

-- Bad input.
SELECT sanitize.declare_domain('stays', 'nope', ARRAY['a']);
SELECT sanitize.declare_domain('stays', 'free', '{}');
SELECT sanitize.declare_domain('stays', 'free', ARRAY['a', NULL]);
SELECT sanitize.declare_domain('stays', 'free', NULL);
SELECT sanitize.declare_domain(NULL, 'free', ARRAY['a']);
SELECT sanitize.declare_domain('stays', NULL, ARRAY['a']);
SELECT sanitize.declare_domain('stays', 'i', ARRAY['a']);
SELECT sanitize.declare_domain('stays', 'e', ARRAY['angry']);

SET client_min_messages = warning;
DROP VIEW stays_view;
DROP TABLE stays, wards, trap_log, trapped, trapped_too;
DROP SCHEMA evil CASCADE;
DROP FUNCTION trap, fake_eq;
DROP TYPE mood;
DROP DOMAIN grade;
DROP ROLE regress_owner, regress_other;
DELETE FROM sanitize.declared_domain;
