-- CREATE EXTENSION takes over a schema called sanitize if there is one. If somebody else owns it,
-- they could put objects of their own beside ours: refuse.
DO LANGUAGE plpgsql $$
BEGIN
    IF EXISTS (
        SELECT 1 FROM pg_catalog.pg_namespace AS n, pg_catalog.pg_roles AS r
         WHERE n.nspname OPERATOR(pg_catalog.=) '@extschema@'
           AND r.rolname OPERATOR(pg_catalog.=) current_user
           AND n.nspowner OPERATOR(pg_catalog.<>) r.oid)
    THEN
        RAISE EXCEPTION 'schema "sanitize" belongs to another role'
            USING ERRCODE = 'insufficient_privilege',
                  HINT = 'Drop or rename that schema; CREATE EXTENSION makes its own.';
    END IF;
END
$$;

COMMENT ON SCHEMA sanitize IS
    'pg_sanitize: finds what makes rows stand out and releases tables about people safely';
GRANT USAGE ON SCHEMA sanitize TO PUBLIC;

-- What only the extension itself calls: parts of types and aggregates, and what its views and tables are made of. Whoever
-- reads a view, or sends work to a shard, reaches it by name.
CREATE SCHEMA sanitize_internal;
COMMENT ON SCHEMA sanitize_internal IS 'pg_sanitize: what only the extension itself calls';
GRANT USAGE ON SCHEMA sanitize_internal TO PUBLIC;

-- Functions name this type before it is made of some of them: see bag.sql.
CREATE TYPE sanitize.bag;

-- What our tables say of a relation or a role is found by its number, and numbers come back after a drop. So each
-- row also remembers the relation's row type, or the role's name, when it is written, and counts only while both
-- still belong together. Columns can only remember what an IMMUTABLE function tells: these look into the catalog,
-- and are called where a row is written or compared, never in an index or a constraint.
CREATE FUNCTION sanitize_internal.row_type(relation pg_catalog.regclass) RETURNS pg_catalog.regtype
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
    'SELECT c.reltype::pg_catalog.regtype FROM pg_catalog.pg_class AS c WHERE c.oid OPERATOR(pg_catalog.=) $1';
COMMENT ON FUNCTION sanitize_internal.row_type(pg_catalog.regclass) IS
    'the row type of a relation, NULL if there is none of that number: what tells it from an earlier one that had its number';

CREATE FUNCTION sanitize_internal.relation_owner(relation pg_catalog.regclass) RETURNS pg_catalog.regrole
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
    'SELECT c.relowner::pg_catalog.regrole FROM pg_catalog.pg_class AS c WHERE c.oid OPERATOR(pg_catalog.=) $1';
COMMENT ON FUNCTION sanitize_internal.relation_owner(pg_catalog.regclass) IS
    'the owner of a relation, NULL if there is none of that number';

CREATE FUNCTION sanitize_internal.role_name(role pg_catalog.regrole) RETURNS pg_catalog.name
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
    'SELECT r.rolname FROM pg_catalog.pg_roles AS r WHERE r.oid OPERATOR(pg_catalog.=) $1';
COMMENT ON FUNCTION sanitize_internal.role_name(pg_catalog.regrole) IS
    'the name of a role, NULL if there is none of that number: what tells it from an earlier one that had its number';
