-- Synthetic tables from noisy marginals.
CREATE FUNCTION sanitize.dp_synthesize(source anyelement, epsilon pg_catalog.float8,
        delta pg_catalog.float8 DEFAULT 1e-9, n pg_catalog.int8 DEFAULT NULL,
        columns pg_catalog.text[] DEFAULT NULL, workload pg_catalog.jsonb DEFAULT NULL,
        seed pg_catalog.int8 DEFAULT NULL)
    RETURNS SETOF anyelement
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_dp_synthesize';
COMMENT ON FUNCTION sanitize.dp_synthesize(anyelement, pg_catalog.float8, pg_catalog.float8, pg_catalog.int8, pg_catalog.text[], pg_catalog.jsonb, pg_catalog.int8) IS
    'an (epsilon, delta)-differentially private synthetic table: rows drawn from a model of noisy marginals of the relation, whose columns need public domains or bounds. With seed it is not private';

CREATE FUNCTION sanitize.dp_synthesizer(source pg_catalog.regclass, epsilon pg_catalog.float8,
        delta pg_catalog.float8 DEFAULT 1e-9, columns pg_catalog.text[] DEFAULT NULL,
        workload pg_catalog.jsonb DEFAULT NULL, seed pg_catalog.int8 DEFAULT NULL)
    RETURNS pg_catalog.jsonb
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_dp_synthesizer';
COMMENT ON FUNCTION sanitize.dp_synthesizer(pg_catalog.regclass, pg_catalog.float8, pg_catalog.float8, pg_catalog.text[], pg_catalog.jsonb, pg_catalog.int8) IS
    'the private model that dp_synthesize draws from, with its label: (epsilon, delta) is spent once, and any number of rows can be drawn from it';

CREATE FUNCTION sanitize.dp_synthesize(source anyelement, model pg_catalog.jsonb, n pg_catalog.int8,
        seed pg_catalog.int8 DEFAULT NULL)
    RETURNS SETOF anyelement
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_dp_synthesize_model';
COMMENT ON FUNCTION sanitize.dp_synthesize(anyelement, pg_catalog.jsonb, pg_catalog.int8, pg_catalog.int8) IS
    'n rows of a relation''s or composite type, drawn from a model of sanitize.dp_synthesizer; the source of the model is not needed, and nothing more is spent';
