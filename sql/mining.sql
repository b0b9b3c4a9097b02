-- Mining. Each function takes a relation, a bag, or a relation's name as text: without the last
-- form a quoted name would fit the first two equally well, and Postgres would refuse to choose.

CREATE FUNCTION sanitize.mine_miis(source pg_catalog.regclass, theta pg_catalog.int4, columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, levels pg_catalog.jsonb DEFAULT NULL)
    RETURNS TABLE(items pg_catalog.jsonb, length pg_catalog.int4, support pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_mine_miis';
COMMENT ON FUNCTION sanitize.mine_miis(pg_catalog.regclass, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.jsonb) IS
    'every minimal infrequent itemset: the smallest value combinations that at least one and at most theta rows share; ordered by length, support, items';

CREATE FUNCTION sanitize.mine_miis(source sanitize.bag, theta pg_catalog.int4, columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, levels pg_catalog.jsonb DEFAULT NULL)
    RETURNS TABLE(items pg_catalog.jsonb, length pg_catalog.int4, support pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_mine_miis';
COMMENT ON FUNCTION sanitize.mine_miis(sanitize.bag, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.jsonb) IS
    'every minimal infrequent itemset: the smallest value combinations that at least one and at most theta rows share; ordered by length, support, items (of a bag)';

CREATE FUNCTION sanitize.mine_miis(source pg_catalog.text, theta pg_catalog.int4, columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, levels pg_catalog.jsonb DEFAULT NULL)
    RETURNS TABLE(items pg_catalog.jsonb, length pg_catalog.int4, support pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_mine_miis';
COMMENT ON FUNCTION sanitize.mine_miis(pg_catalog.text, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.jsonb) IS
    'every minimal infrequent itemset: the smallest value combinations that at least one and at most theta rows share; ordered by length, support, items (of a relation by its name)';

CREATE FUNCTION sanitize.mii_risk(source pg_catalog.regclass, theta pg_catalog.int4, columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, levels pg_catalog.jsonb DEFAULT NULL)
    RETURNS TABLE(column_name pg_catalog.text, value pg_catalog.text, miis pg_catalog.int8, rows pg_catalog.int8, cells pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 100 AS 'MODULE_PATHNAME', 'sanitize_mii_risk';
COMMENT ON FUNCTION sanitize.mii_risk(pg_catalog.regclass, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.jsonb) IS
    'what each column (value NULL) and each value contributes to minimal infrequent itemsets: how many contain it, how many rows with it stand out, how many of its cells suppression would blank';

CREATE FUNCTION sanitize.mii_risk(source sanitize.bag, theta pg_catalog.int4, columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, levels pg_catalog.jsonb DEFAULT NULL)
    RETURNS TABLE(column_name pg_catalog.text, value pg_catalog.text, miis pg_catalog.int8, rows pg_catalog.int8, cells pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 100 AS 'MODULE_PATHNAME', 'sanitize_mii_risk';
COMMENT ON FUNCTION sanitize.mii_risk(sanitize.bag, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.jsonb) IS
    'what each column (value NULL) and each value contributes to minimal infrequent itemsets: how many contain it, how many rows with it stand out, how many of its cells suppression would blank (of a bag)';

CREATE FUNCTION sanitize.mii_risk(source pg_catalog.text, theta pg_catalog.int4, columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, levels pg_catalog.jsonb DEFAULT NULL)
    RETURNS TABLE(column_name pg_catalog.text, value pg_catalog.text, miis pg_catalog.int8, rows pg_catalog.int8, cells pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 100 AS 'MODULE_PATHNAME', 'sanitize_mii_risk';
COMMENT ON FUNCTION sanitize.mii_risk(pg_catalog.text, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.jsonb) IS
    'what each column (value NULL) and each value contributes to minimal infrequent itemsets: how many contain it, how many rows with it stand out, how many of its cells suppression would blank (of a relation by its name)';

CREATE FUNCTION sanitize.frequent_itemsets(source pg_catalog.regclass, min_support pg_catalog.int8, columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, closed pg_catalog.bool DEFAULT false)
    RETURNS TABLE(items pg_catalog.jsonb, length pg_catalog.int4, support pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_frequent_itemsets';
COMMENT ON FUNCTION sanitize.frequent_itemsets(pg_catalog.regclass, pg_catalog.int8, pg_catalog.text[], pg_catalog.int4, pg_catalog.bool) IS
    'every value combination that at least min_support rows share; closed: only those that no larger combination shares the rows of; ordered by length, support, items';

CREATE FUNCTION sanitize.frequent_itemsets(source sanitize.bag, min_support pg_catalog.int8, columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, closed pg_catalog.bool DEFAULT false)
    RETURNS TABLE(items pg_catalog.jsonb, length pg_catalog.int4, support pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_frequent_itemsets';
COMMENT ON FUNCTION sanitize.frequent_itemsets(sanitize.bag, pg_catalog.int8, pg_catalog.text[], pg_catalog.int4, pg_catalog.bool) IS
    'every value combination that at least min_support rows share; closed: only those that no larger combination shares the rows of; ordered by length, support, items (of a bag)';

CREATE FUNCTION sanitize.frequent_itemsets(source pg_catalog.text, min_support pg_catalog.int8, columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, closed pg_catalog.bool DEFAULT false)
    RETURNS TABLE(items pg_catalog.jsonb, length pg_catalog.int4, support pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_frequent_itemsets';
COMMENT ON FUNCTION sanitize.frequent_itemsets(pg_catalog.text, pg_catalog.int8, pg_catalog.text[], pg_catalog.int4, pg_catalog.bool) IS
    'every value combination that at least min_support rows share; closed: only those that no larger combination shares the rows of; ordered by length, support, items (of a relation by its name)';

CREATE FUNCTION sanitize.mii_bound(row_count pg_catalog.int8, column_count pg_catalog.int4)
    RETURNS pg_catalog.numeric
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_mii_bound';
COMMENT ON FUNCTION sanitize.mii_bound(pg_catalog.int8, pg_catalog.int4) IS
    'the most minimal infrequent itemsets that a table of that size can have: row_count * C(column_count, column_count / 2), exact';

CREATE FUNCTION sanitize.orthogonal_array(columns pg_catalog.int4, levels pg_catalog.int4, strength pg_catalog.int4)
    RETURNS SETOF pg_catalog.int4[]
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_orthogonal_array';
COMMENT ON FUNCTION sanitize.orthogonal_array(pg_catalog.int4, pg_catalog.int4, pg_catalog.int4) IS
    'the rows of an orthogonal array of index 1 (Bush): a table with as many minimal infrequent itemsets as can be; for stress tests';
