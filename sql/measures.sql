-- Measures of a table, of a bag, or of a table by its name (see mining.sql for the last form).

CREATE FUNCTION sanitize.k_anonymity(source pg_catalog.regclass, columns pg_catalog.text[] DEFAULT NULL)
    RETURNS pg_catalog.int8
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_k_anonymity';
COMMENT ON FUNCTION sanitize.k_anonymity(pg_catalog.regclass, pg_catalog.text[]) IS
    'the rows of the smallest class of rows that are equal in these columns, NULL being equal to NULL; NULL without rows';

CREATE FUNCTION sanitize.k_anonymity(source sanitize.bag, columns pg_catalog.text[] DEFAULT NULL)
    RETURNS pg_catalog.int8
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_k_anonymity';
COMMENT ON FUNCTION sanitize.k_anonymity(sanitize.bag, pg_catalog.text[]) IS
    'the rows of the smallest class of rows that are equal in these columns, NULL being equal to NULL; NULL without rows (of a bag)';

CREATE FUNCTION sanitize.k_anonymity(source pg_catalog.text, columns pg_catalog.text[] DEFAULT NULL)
    RETURNS pg_catalog.int8
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_k_anonymity';
COMMENT ON FUNCTION sanitize.k_anonymity(pg_catalog.text, pg_catalog.text[]) IS
    'the rows of the smallest class of rows that are equal in these columns, NULL being equal to NULL; NULL without rows (of a relation by its name)';

CREATE FUNCTION sanitize.l_diversity(source pg_catalog.regclass, sensitive pg_catalog.text, columns pg_catalog.text[] DEFAULT NULL, kind pg_catalog.text DEFAULT 'distinct')
    RETURNS pg_catalog.float8
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_l_diversity';
COMMENT ON FUNCTION sanitize.l_diversity(pg_catalog.regclass, pg_catalog.text, pg_catalog.text[], pg_catalog.text) IS
    'how many values of the sensitive column the least diverse class leaves open: their number (distinct) or exp of their entropy (entropy); columns NULL: all but the sensitive one';

CREATE FUNCTION sanitize.l_diversity(source sanitize.bag, sensitive pg_catalog.text, columns pg_catalog.text[] DEFAULT NULL, kind pg_catalog.text DEFAULT 'distinct')
    RETURNS pg_catalog.float8
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_l_diversity';
COMMENT ON FUNCTION sanitize.l_diversity(sanitize.bag, pg_catalog.text, pg_catalog.text[], pg_catalog.text) IS
    'how many values of the sensitive column the least diverse class leaves open: their number (distinct) or exp of their entropy (entropy); columns NULL: all but the sensitive one (of a bag)';

CREATE FUNCTION sanitize.l_diversity(source pg_catalog.text, sensitive pg_catalog.text, columns pg_catalog.text[] DEFAULT NULL, kind pg_catalog.text DEFAULT 'distinct')
    RETURNS pg_catalog.float8
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_l_diversity';
COMMENT ON FUNCTION sanitize.l_diversity(pg_catalog.text, pg_catalog.text, pg_catalog.text[], pg_catalog.text) IS
    'how many values of the sensitive column the least diverse class leaves open: their number (distinct) or exp of their entropy (entropy); columns NULL: all but the sensitive one (of a relation by its name)';

CREATE FUNCTION sanitize.t_closeness(source pg_catalog.regclass, sensitive pg_catalog.text, columns pg_catalog.text[] DEFAULT NULL, ordered pg_catalog.bool DEFAULT false)
    RETURNS pg_catalog.float8
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_t_closeness';
COMMENT ON FUNCTION sanitize.t_closeness(pg_catalog.regclass, pg_catalog.text, pg_catalog.text[], pg_catalog.bool) IS
    'how far the values of the sensitive column in a class are from those in the whole table, at the most: total variation, or earth mover''s distance if ordered; columns NULL: all but the sensitive one';

CREATE FUNCTION sanitize.t_closeness(source sanitize.bag, sensitive pg_catalog.text, columns pg_catalog.text[] DEFAULT NULL, ordered pg_catalog.bool DEFAULT false)
    RETURNS pg_catalog.float8
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_t_closeness';
COMMENT ON FUNCTION sanitize.t_closeness(sanitize.bag, pg_catalog.text, pg_catalog.text[], pg_catalog.bool) IS
    'how far the values of the sensitive column in a class are from those in the whole table, at the most: total variation, or earth mover''s distance if ordered; columns NULL: all but the sensitive one (of a bag)';

CREATE FUNCTION sanitize.t_closeness(source pg_catalog.text, sensitive pg_catalog.text, columns pg_catalog.text[] DEFAULT NULL, ordered pg_catalog.bool DEFAULT false)
    RETURNS pg_catalog.float8
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_t_closeness';
COMMENT ON FUNCTION sanitize.t_closeness(pg_catalog.text, pg_catalog.text, pg_catalog.text[], pg_catalog.bool) IS
    'how far the values of the sensitive column in a class are from those in the whole table, at the most: total variation, or earth mover''s distance if ordered; columns NULL: all but the sensitive one (of a relation by its name)';

CREATE FUNCTION sanitize.suppression(released pg_catalog.regclass, columns pg_catalog.text[] DEFAULT NULL)
    RETURNS TABLE(column_name pg_catalog.text, cells pg_catalog.int8, suppressed pg_catalog.int8, share pg_catalog.float8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 20 AS 'MODULE_PATHNAME', 'sanitize_suppression';
COMMENT ON FUNCTION sanitize.suppression(pg_catalog.regclass, pg_catalog.text[]) IS
    'how many cells of each column are NULL';

CREATE FUNCTION sanitize.suppression(released sanitize.bag, columns pg_catalog.text[] DEFAULT NULL)
    RETURNS TABLE(column_name pg_catalog.text, cells pg_catalog.int8, suppressed pg_catalog.int8, share pg_catalog.float8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 20 AS 'MODULE_PATHNAME', 'sanitize_suppression';
COMMENT ON FUNCTION sanitize.suppression(sanitize.bag, pg_catalog.text[]) IS
    'how many cells of each column are NULL (of a bag)';

CREATE FUNCTION sanitize.suppression(released pg_catalog.text, columns pg_catalog.text[] DEFAULT NULL)
    RETURNS TABLE(column_name pg_catalog.text, cells pg_catalog.int8, suppressed pg_catalog.int8, share pg_catalog.float8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 20 AS 'MODULE_PATHNAME', 'sanitize_suppression';
COMMENT ON FUNCTION sanitize.suppression(pg_catalog.text, pg_catalog.text[]) IS
    'how many cells of each column are NULL (of a relation by its name)';
