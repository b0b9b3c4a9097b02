-- What becomes of tables that 0.1.0 made. Rows of relations that are gone remember no row type and count for nothing.
CREATE FUNCTION sanitize.row_type(relation pg_catalog.regclass) RETURNS pg_catalog.regtype
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
    'SELECT c.reltype::pg_catalog.regtype FROM pg_catalog.pg_class AS c WHERE c.oid OPERATOR(pg_catalog.=) $1';
CREATE FUNCTION sanitize.relation_owner(relation pg_catalog.regclass) RETURNS pg_catalog.regrole
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
    'SELECT c.relowner::pg_catalog.regrole FROM pg_catalog.pg_class AS c WHERE c.oid OPERATOR(pg_catalog.=) $1';
CREATE FUNCTION sanitize.role_name(role pg_catalog.regrole) RETURNS pg_catalog.name
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
    'SELECT r.rolname FROM pg_catalog.pg_roles AS r WHERE r.oid OPERATOR(pg_catalog.=) $1';
ALTER TABLE sanitize.declared_domain
    ADD COLUMN row_type pg_catalog.regtype GENERATED ALWAYS AS (sanitize.row_type(source)) STORED;
ALTER TABLE sanitize.declared_bounds
    ADD COLUMN row_type pg_catalog.regtype GENERATED ALWAYS AS (sanitize.row_type(source)) STORED;
ALTER TABLE sanitize.protection
    ADD COLUMN row_count_public pg_catalog.bool NOT NULL DEFAULT false,
    ADD COLUMN row_type pg_catalog.regtype GENERATED ALWAYS AS (sanitize.row_type(source)) STORED,
    ADD COLUMN owner pg_catalog.regrole GENERATED ALWAYS AS (sanitize.relation_owner(source)) STORED;
ALTER TABLE sanitize.allowance
    ADD COLUMN row_type pg_catalog.regtype GENERATED ALWAYS AS (sanitize.row_type(source)) STORED,
    ADD COLUMN grantee_name pg_catalog.name GENERATED ALWAYS AS (sanitize.role_name(grantee)) STORED;
ALTER TABLE sanitize.ledger_entry
    ADD COLUMN row_type pg_catalog.regtype GENERATED ALWAYS AS (sanitize.row_type(source)) STORED;
ALTER TABLE sanitize.answer
    ADD COLUMN row_type pg_catalog.regtype GENERATED ALWAYS AS (sanitize.row_type(source)) STORED;
-- Only our functions write declarations: whoever may write a table may also lock it.
DROP POLICY everybody_reads ON sanitize.declared_domain;
DROP POLICY owners_write ON sanitize.declared_domain;
ALTER TABLE sanitize.declared_domain DISABLE ROW LEVEL SECURITY;
REVOKE INSERT, UPDATE, DELETE ON sanitize.declared_domain FROM PUBLIC;
DROP POLICY everybody_reads ON sanitize.declared_bounds;
DROP POLICY owners_write ON sanitize.declared_bounds;
ALTER TABLE sanitize.declared_bounds DISABLE ROW LEVEL SECURITY;
REVOKE INSERT, UPDATE, DELETE ON sanitize.declared_bounds FROM PUBLIC;
