-- Tables drawn from dependent code trees, privately or not.
CREATE FUNCTION sanitize.code_tree(source pg_catalog.regclass, min_support pg_catalog.float8,
        tree_threshold pg_catalog.float8 DEFAULT NULL, columns pg_catalog.text[] DEFAULT NULL,
        max_length pg_catalog.int4 DEFAULT NULL, nulls pg_catalog.text DEFAULT 'missing',
        candidates pg_catalog.text DEFAULT 'all')
    RETURNS TABLE(node pg_catalog.int4, parent pg_catalog.int4, item pg_catalog.jsonb, probability pg_catalog.float8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_code_tree';
COMMENT ON FUNCTION sanitize.code_tree(pg_catalog.regclass, pg_catalog.float8, pg_catalog.float8, pg_catalog.text[], pg_catalog.int4, pg_catalog.text, pg_catalog.text) IS
    'the dependent code tree of the relation: a path of items for every combination of Krimp''s patterns that more than tree_threshold of the rows contain, and the share of the rows that contain each path. It shows exact counts of the relation';

CREATE FUNCTION sanitize.code_tree_generate(source anyelement, n pg_catalog.int8,
        min_support pg_catalog.float8 DEFAULT 0.1, tree_threshold pg_catalog.float8 DEFAULT NULL,
        generator pg_catalog.text DEFAULT 'backoff', columns pg_catalog.text[] DEFAULT NULL,
        max_length pg_catalog.int4 DEFAULT NULL, class pg_catalog.text DEFAULT NULL,
        seed pg_catalog.int8 DEFAULT NULL, nulls pg_catalog.text DEFAULT 'value',
        candidates pg_catalog.text DEFAULT 'all')
    RETURNS SETOF anyelement
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_code_tree_generate';
COMMENT ON FUNCTION sanitize.code_tree_generate(anyelement, pg_catalog.int8, pg_catalog.float8, pg_catalog.float8, pg_catalog.text, pg_catalog.text[], pg_catalog.int4, pg_catalog.text, pg_catalog.int8, pg_catalog.text, pg_catalog.text) IS
    'n rows of the relation''s type, drawn from its dependent code tree (class by class if class is given). No privacy is guaranteed: rows can be copies, and every value that occurs can come out';

CREATE FUNCTION sanitize.private_krimp_generate(source anyelement, epsilon pg_catalog.float8, n pg_catalog.int8,
        min_support pg_catalog.float8 DEFAULT 0.1, tree_threshold pg_catalog.float8 DEFAULT NULL,
        generator pg_catalog.text DEFAULT 'backoff', weights pg_catalog.jsonb DEFAULT NULL,
        columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL,
        seed pg_catalog.int8 DEFAULT NULL, class pg_catalog.text DEFAULT NULL)
    RETURNS SETOF anyelement
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_private_krimp_generate';
COMMENT ON FUNCTION sanitize.private_krimp_generate(anyelement, pg_catalog.float8, pg_catalog.int8, pg_catalog.float8, pg_catalog.float8, pg_catalog.text, pg_catalog.jsonb, pg_catalog.text[], pg_catalog.int4, pg_catalog.int8, pg_catalog.text) IS
    'n rows of the relation''s type, drawn from a code tree of its rows after every cell of them was randomised: epsilon-locally differentially private for each row, as sanitize.randomize_cells is; columns need public domains';
