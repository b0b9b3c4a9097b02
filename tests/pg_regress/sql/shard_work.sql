-- Work for a shard of a sharded release: what its trigger does, and for whom.
SET client_min_messages = warning;
CREATE SCHEMA shard;
SET search_path = shard, public;
CREATE DOMAIN grade AS int CHECK (VALUE < 9);
CREATE TABLE source (a int, "B ""c" text COLLATE "C", d date, n numeric(5, 2), g grade);
INSERT INTO source SELECT i % 3, CASE WHEN i % 2 = 0 THEN 'x''"\y' END, date '2020-01-31' + i % 5, 1.1, i % 4 FROM generate_series(1, 100) AS i;
CREATE FUNCTION columns(relation regclass) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_agg(jsonb_build_object('name', attname, 'type', format_type(atttypid, NULL), 'typmod', atttypmod,
           'collation', nullif(nullif(attcollation, 0), 100)::regcollation::text) ORDER BY attnum)
      FROM pg_attribute WHERE attrelid = relation AND attnum > 0 $$;
CREATE FUNCTION made(name text, generation int, current int, columns jsonb) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('create', jsonb_build_object('release', '0123456789abcdef', 'schema', 'shard', 'table', name,
           'generation', generation, 'current', current, 'columns', columns)) $$;
CREATE VIEW parts AS SELECT c.relname, c.relowner::regrole, c.relacl, obj_description(c.oid, 'pg_class') FROM pg_class AS c
    WHERE c.relname LIKE 'part%' AND c.relnamespace = 'shard'::regnamespace AND c.relkind = 'r' ORDER BY 1;
-- A generation is made and filled in one transaction; nothing stays in the table of work.
BEGIN;
SET LOCAL DateStyle = 'German';
INSERT INTO sanitize_internal.shard_work (task) SELECT made('part_g1', 1, NULL, jsonb_set(columns('source'), '{4,type}', '"shard.grade"'));
INSERT INTO sanitize_internal.shard_work (task, rows)
    SELECT '{"rows": {"schema": "shard", "table": "part_g1"}}', sanitize.row_bag(s) FROM (SELECT a, "B ""c", to_char(d, 'YYYY-MM-DD') AS d, n, g FROM source) AS s;
COMMIT;
SELECT attname, format_type(atttypid, atttypmod), attcollation::regcollation FROM pg_attribute WHERE attrelid = 'part_g1'::regclass AND attnum > 0;
SELECT count(*), (SELECT count(*) FROM (SELECT * FROM source EXCEPT ALL SELECT * FROM part_g1) AS d) AS missing FROM part_g1;
SELECT count(*) FROM sanitize_internal.shard_work;
-- Only what this transaction has made is written, and only what fits.
INSERT INTO sanitize_internal.shard_work (task, rows) SELECT '{"rows": {"schema": "shard", "table": "part_g1"}}', sanitize.row_bag(s) FROM source AS s;
INSERT INTO sanitize_internal.shard_work (task, rows) SELECT '{"rows": {"schema": "shard", "table": "source"}}', sanitize.row_bag(s) FROM source AS s;
BEGIN;
INSERT INTO sanitize_internal.shard_work (task) SELECT made('part_g2', 2, 1, '[{"name": "a", "type": "integer", "typmod": -1, "collation": null}]');
SAVEPOINT s;
INSERT INTO sanitize_internal.shard_work (task, rows) SELECT '{"rows": {"schema": "shard", "table": "part_g2"}}', sanitize.row_bag(s) FROM source AS s;
ROLLBACK;
BEGIN;
INSERT INTO sanitize_internal.shard_work (task) SELECT made('part_g2', 2, 1, '[{"name": "a", "type": "integer", "typmod": -1, "collation": null}]');
INSERT INTO sanitize_internal.shard_work (task, rows) SELECT '{"rows": {"schema": "shard", "table": "part_g2"}}', sanitize.row_bag(s) FROM source AS s;
ROLLBACK;
BEGIN;
INSERT INTO sanitize_internal.shard_work (task) SELECT made('part_g2', 2, 1, '[{"name": "a", "type": "integer", "typmod": -1, "collation": null}]');
INSERT INTO sanitize_internal.shard_work (task, rows) SELECT '{"rows": {"schema": "shard", "table": "part_g2"}}', sanitize.row_bag(s) FROM (SELECT 'no number' AS a) AS s;
ROLLBACK;
BEGIN;
INSERT INTO sanitize_internal.shard_work (task) SELECT made('part_g2', 2, 1, '[{"name": "a", "type": "shard.grade", "typmod": -1, "collation": null}]');
INSERT INTO sanitize_internal.shard_work (task, rows) SELECT '{"rows": {"schema": "shard", "table": "part_g2"}}', sanitize.row_bag(s) FROM (SELECT 9 AS a) AS s;
ROLLBACK;
INSERT INTO sanitize_internal.shard_work (task) VALUES ('{"rows": {"schema": "shard", "table": "part_g1"}}');
INSERT INTO sanitize_internal.shard_work (task, rows) SELECT '{"rows": {"schema": "shard", "table": "nowhere"}}', sanitize.row_bag(s) FROM source AS s;
-- Names are names.
-- (Versions word it differently.)
DO $$ BEGIN
    INSERT INTO sanitize_internal.shard_work (task) SELECT made('part_g2', 2, 1, '[{"name": "a", "type": "integer); DROP TABLE source; --", "typmod": -1, "collation": null}]');
EXCEPTION WHEN syntax_error OR invalid_parameter_value THEN RAISE WARNING 'refused';
END $$;
INSERT INTO sanitize_internal.shard_work (task) SELECT made('part_g2', 2, 1, '[{"name": "a", "type": "nothing", "typmod": -1, "collation": null}]');
INSERT INTO sanitize_internal.shard_work (task) SELECT made('part_g2', 2, 1, '[{"name": "a", "type": "text", "typmod": -1, "collation": "\"no; such\""}]');
INSERT INTO sanitize_internal.shard_work (task) SELECT made('part"; DROP TABLE source; --', 2, 1, '[{"name": "a\"b'';", "type": "text", "typmod": -1, "collation": null}]');
INSERT INTO sanitize_internal.shard_work (task) SELECT made(repeat('x', 64), 2, 1, '[]');
INSERT INTO sanitize_internal.shard_work (task) SELECT made('', 2, 1, '[]');
INSERT INTO sanitize_internal.shard_work (task) SELECT jsonb_set(made('part_g2', 2, 1, '[]'), '{create,schema}', '"nowhere"');
INSERT INTO sanitize_internal.shard_work (task) SELECT jsonb_set(made('part_g2', 2, 1, '[]'), '{create,schema}', '"sanitize"');
INSERT INTO sanitize_internal.shard_work (task) SELECT jsonb_set(made('part_g2', 2, 1, '[]'), '{create,schema}', '"pg_catalog"');
INSERT INTO sanitize_internal.shard_work (task) SELECT jsonb_set(made('part_g2', 2, 1, '[]'), '{create,release}', '"% or so of everything"');
INSERT INTO sanitize_internal.shard_work (task) VALUES ('{"run": "DROP TABLE source"}');
INSERT INTO sanitize_internal.shard_work (task) VALUES ('{"drop": {"release": "0123456789abcdef", "current": null, "more": 1}}');
INSERT INTO sanitize_internal.shard_work (task) VALUES (NULL);
INSERT INTO sanitize_internal.shard_work (task) SELECT made('source', 2, 1, columns('source') #- '{4}');
SELECT relname, obj_description FROM parts;
-- Generations that nothing points at are dropped, and rights are carried over.
DROP TABLE "part""; DROP TABLE source; --";
INSERT INTO sanitize_internal.shard_work (task) SELECT made('part_g1', 1, NULL, '[{"name": "a", "type": "integer", "typmod": -1, "collation": null}]');
GRANT SELECT ON part_g1 TO PUBLIC;
GRANT SELECT, INSERT ON part_g1 TO pg_monitor WITH GRANT OPTION;
INSERT INTO sanitize_internal.shard_work (task) SELECT made('part_g2', 2, 1, '[{"name": "a", "type": "integer", "typmod": -1, "collation": null}]');
INSERT INTO sanitize_internal.shard_work (task) SELECT made('part_g3', 3, 2, '[{"name": "a", "type": "integer", "typmod": -1, "collation": null}]');
SELECT relname, obj_description, (SELECT string_agg(format('%s %s %s', coalesce(grantee::regrole::text, 'all'), privilege_type, is_grantable), ', ' ORDER BY grantee::regrole::text, privilege_type)
    FROM aclexplode(relacl) AS a WHERE a.grantee <> relowner) AS granted FROM parts;
-- Others can do what they could do anyway: no table where they may not make one, and none that is not theirs is dropped.
CREATE ROLE shard_other;
GRANT USAGE ON SCHEMA shard TO shard_other;
SET ROLE shard_other;
INSERT INTO sanitize_internal.shard_work (task) SELECT shard.made('part_g4', 4, 3, '[{"name": "a", "type": "integer", "typmod": -1, "collation": null}]');
INSERT INTO sanitize_internal.shard_work (task) VALUES ('{"drop": {"release": "0123456789abcdef", "current": null}}');
SELECT count(*) FROM sanitize_internal.shard_work;
CREATE TEMP TABLE mine (task jsonb, rows sanitize.bag);
CREATE TRIGGER t BEFORE INSERT ON mine FOR EACH ROW EXECUTE FUNCTION sanitize_internal.do_shard_work();
RESET ROLE;
-- A table that only says that it is a generation is not dropped either.
GRANT CREATE ON SCHEMA shard TO shard_other;
SET ROLE shard_other;
CREATE TABLE shard.part_g0 (a int);
COMMENT ON TABLE shard.part_g0 IS 'generation 0 of the sharded release 0123456789abcdef';
RESET ROLE;
INSERT INTO sanitize_internal.shard_work (task) VALUES ('{"drop": {"release": "0123456789abcdef", "current": 3}}');
SELECT relname FROM parts;
INSERT INTO sanitize_internal.shard_work (task) VALUES ('{"drop": {"release": "0123456789abcdef", "current": null}}');
SELECT relname FROM parts;
-- The trigger serves no other table, and without it nothing is taken.
CREATE TABLE other (task jsonb, rows sanitize.bag);
CREATE TRIGGER t BEFORE INSERT ON other FOR EACH ROW EXECUTE FUNCTION sanitize_internal.do_shard_work();
INSERT INTO other VALUES ('{"drop": {"release": "0123456789abcdef", "current": null}}');
SELECT sanitize_internal.do_shard_work();
BEGIN;
SET LOCAL session_replication_role = replica;
INSERT INTO sanitize_internal.shard_work (task) SELECT made('part_g5', 5, NULL, '[{"name": "a", "type": "integer", "typmod": -1, "collation": null}]');
SELECT relname FROM parts;
ALTER TABLE sanitize_internal.shard_work DISABLE TRIGGER do_shard_work;
INSERT INTO sanitize_internal.shard_work (task) VALUES ('{"drop": {"release": "0123456789abcdef", "current": null}}');
ROLLBACK;
DROP OWNED BY shard_other;
DROP ROLE shard_other;
DROP SCHEMA shard CASCADE;
