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

CREATE FUNCTION sanitize.methods()
    RETURNS TABLE(method pg_catalog.text, "position" pg_catalog.int4, argument pg_catalog.text, types pg_catalog.text, default_value pg_catalog.text, about pg_catalog.text)
    LANGUAGE c STABLE PARALLEL SAFE ROWS 200 AS 'MODULE_PATHNAME', 'sanitize_methods';
COMMENT ON FUNCTION sanitize.methods() IS
    'every argument of every function: its types, its default as JSON (NULL: it has to be given) and what it means';
