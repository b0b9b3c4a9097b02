-- Krimp: the patterns that describe a table in few bits.
CREATE FUNCTION sanitize.krimp_codetable(source pg_catalog.regclass, min_support pg_catalog.int8,
        columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL,
        candidates pg_catalog.text DEFAULT 'all', forbidden pg_catalog.jsonb DEFAULT NULL,
        prune pg_catalog.bool DEFAULT false)
    RETURNS TABLE(rank pg_catalog.int4, items pg_catalog.jsonb, length pg_catalog.int4, support pg_catalog.int8,
        usage pg_catalog.int8, code_length pg_catalog.float8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_krimp_codetable';
COMMENT ON FUNCTION sanitize.krimp_codetable(pg_catalog.regclass, pg_catalog.int8, pg_catalog.text[], pg_catalog.int4, pg_catalog.text, pg_catalog.jsonb, pg_catalog.bool) IS
    'the code table that Krimp fits to the relation: the patterns that together describe it in the fewest bits, in the order in which they cover rows; code_length in bits, NULL where a pattern is not used';
