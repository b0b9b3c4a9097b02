-- Names that look like SQL, and objects of others that come first in the search path: inert.
CREATE TABLE victim (a int);
CREATE TABLE "t""; DROP TABLE victim; --" ("a""; DROP TABLE victim; --" text, "'; DROP TABLE victim; --" text, "$$" text, "a, (SELECT 1)" text);
INSERT INTO "t""; DROP TABLE victim; --" VALUES ('1', '2', '3', '4'), ('1', '2', '3', '5');
SELECT * FROM sanitize.mine_miis('"t""; DROP TABLE victim; --"', 1);
SELECT * FROM sanitize.mine_miis('"t""; DROP TABLE victim; --"', 1, ARRAY['a, (SELECT 1)', 'a"; DROP TABLE victim; --']);
SELECT column_name, value FROM sanitize.mii_risk('"t""; DROP TABLE victim; --"', 1);
SELECT * FROM sanitize.mine_miis('"t""; DROP TABLE victim; --"', 1, ARRAY['a"; DROP TABLE victim; --"']);
SELECT * FROM sanitize.mine_miis('victim; DROP TABLE victim', 1);
SELECT count(*) FROM victim;
DROP TABLE "t""; DROP TABLE victim; --";

-- A hostile schema in front: functions, operators, types and tables of ours and of Postgres' names.
CREATE TABLE trap_log (what text);
CREATE SCHEMA evil;
CREATE FUNCTION evil.sprung(text) RETURNS bool LANGUAGE sql AS $$INSERT INTO public.trap_log VALUES ($1); SELECT true$$;
CREATE FUNCTION evil.texteq(text, text) RETURNS bool LANGUAGE sql AS $$SELECT evil.sprung('texteq')$$;
CREATE OPERATOR evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.texteq);
CREATE FUNCTION evil.int4eq(int, int) RETURNS bool LANGUAGE sql AS $$SELECT evil.sprung('int4eq')$$;
CREATE OPERATOR evil.= (LEFTARG = int, RIGHTARG = int, FUNCTION = evil.int4eq);
CREATE FUNCTION evil.quote_ident(text) RETURNS text LANGUAGE sql AS $$SELECT evil.sprung('quote_ident')::text$$;
CREATE FUNCTION evil.jsonb_build_object(text, text) RETURNS jsonb LANGUAGE sql AS $$SELECT to_jsonb(evil.sprung('jsonb'))$$;
CREATE FUNCTION evil.mine_miis(text, int) RETURNS int LANGUAGE sql AS $$SELECT evil.sprung('mine_miis')::int$$;
CREATE DOMAIN evil.text AS pg_catalog.text CHECK (evil.sprung('domain'));
CREATE TABLE evil.pg_class (oid oid);
CREATE TABLE evil.pg_attribute (attname pg_catalog.text);
CREATE TEMP TABLE pg_type (oid oid);
CREATE TABLE quiet (a pg_catalog.text, b int);
INSERT INTO quiet VALUES ('x', 1), ('x', 2);
SET search_path = evil, pg_temp, public, pg_catalog;
SELECT items, support FROM sanitize.mine_miis('quiet', 1);
SELECT items, support FROM sanitize.frequent_itemsets('quiet'::regclass, 2);
SELECT column_name, miis FROM sanitize.mii_risk((SELECT sanitize.row_bag(q) FROM quiet q), 1, '{b}');
SELECT count(*) FROM sanitize.orthogonal_array(3, 3, 2);
RESET search_path;
SELECT * FROM trap_log;

-- A domain's check and a view's functions run as in any SELECT: with the caller's rights.
CREATE ROLE regress_owner;
CREATE ROLE regress_caller;
GRANT CREATE ON SCHEMA public TO regress_owner;
SET ROLE regress_owner;
CREATE FUNCTION whoami() RETURNS pg_catalog.text LANGUAGE sql AS $$SELECT current_user::pg_catalog.text$$;
CREATE VIEW who AS SELECT whoami() AS w, 1 AS n;
GRANT SELECT ON who TO regress_caller;
RESET ROLE;
SET ROLE regress_caller;
SELECT items FROM sanitize.mine_miis('who', 1);
RESET ROLE;

-- Somebody's schema of our name does not become the extension's.
SELECT extversion IS NOT NULL AS installed FROM pg_extension WHERE extname = 'pg_sanitize';
DROP EXTENSION pg_sanitize;
DROP SCHEMA sanitize;
CREATE SCHEMA sanitize AUTHORIZATION regress_owner;
-- From 18 on the context names the script, and the line in it.
\set SHOW_CONTEXT never
CREATE EXTENSION pg_sanitize;
\set SHOW_CONTEXT errors
DROP SCHEMA sanitize;
CREATE EXTENSION pg_sanitize;

DROP VIEW who;
DROP FUNCTION whoami();
DROP OWNED BY regress_owner, regress_caller;
DROP ROLE regress_owner, regress_caller;
SET client_min_messages = warning;
DROP SCHEMA evil CASCADE;
DROP TABLE pg_temp.pg_type;
DROP TABLE victim, trap_log, quiet;
