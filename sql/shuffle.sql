-- Columns shuffled in groups.
CREATE FUNCTION sanitize.shuffle_groups(source anyelement, groups pg_catalog.jsonb, keep pg_catalog.text[] DEFAULT NULL,
        seed pg_catalog.int8 DEFAULT NULL)
    RETURNS SETOF anyelement
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_shuffle_groups';
COMMENT ON FUNCTION sanitize.shuffle_groups(anyelement, pg_catalog.jsonb, pg_catalog.text[], pg_catalog.int8) IS
    'the rows of the relation with each group of columns in a random order of its own, so that groups no longer belong together. No privacy is guaranteed: within a group rows come out as they are';
