-- Cells that are randomised, and what can be learned from them.
CREATE FUNCTION sanitize.randomize_cells(source anyelement, epsilon pg_catalog.float8, weights pg_catalog.jsonb DEFAULT NULL,
        columns pg_catalog.text[] DEFAULT NULL, keep pg_catalog.text[] DEFAULT NULL, seed pg_catalog.int8 DEFAULT NULL)
    RETURNS SETOF anyelement
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_randomize_cells';
COMMENT ON FUNCTION sanitize.randomize_cells(anyelement, pg_catalog.float8, pg_catalog.jsonb, pg_catalog.text[], pg_catalog.text[], pg_catalog.int8) IS
    'the rows of the relation with every cell randomised: kept or replaced by another value of its public domain, so that a row is hidden with epsilon (local differential privacy), which its columns share equally or by weights. Rows come in random order; with keep or seed nothing is guaranteed';
