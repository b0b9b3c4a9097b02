-- Itemsets that are drawn privately.
CREATE FUNCTION sanitize.dp_itemsets(source pg_catalog.regclass, epsilon pg_catalog.float8, theta pg_catalog.int8,
        draws pg_catalog.int4 DEFAULT 1, max_length pg_catalog.int4 DEFAULT 4,
        neighbours pg_catalog.text DEFAULT 'replace', seed pg_catalog.int8 DEFAULT NULL,
        columns pg_catalog.text[] DEFAULT NULL, constants pg_catalog.text DEFAULT 'tight')
    RETURNS TABLE(draw pg_catalog.int4, items pg_catalog.jsonb)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 10 AS 'MODULE_PATHNAME', 'sanitize_dp_itemsets';
COMMENT ON FUNCTION sanitize.dp_itemsets(pg_catalog.regclass, pg_catalog.float8, pg_catalog.int8, pg_catalog.int4, pg_catalog.int4, pg_catalog.text, pg_catalog.int8, pg_catalog.text[], pg_catalog.text) IS
    'itemsets of the public domains, drawn with probabilities that grow with their supports up to theta; each draw is epsilon-differentially private, so the call costs draws times epsilon. With seed it is not differentially private';

CREATE FUNCTION sanitize.dp_frequent_itemsets(source pg_catalog.regclass, top pg_catalog.int4, epsilon pg_catalog.float8,
        delta pg_catalog.float8 DEFAULT 0, max_length pg_catalog.int4 DEFAULT 4,
        columns pg_catalog.text[] DEFAULT NULL, seed pg_catalog.int8 DEFAULT NULL)
    RETURNS TABLE(items pg_catalog.jsonb, length pg_catalog.int4, support pg_catalog.float8, stddev pg_catalog.float8)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 20 AS 'MODULE_PATHNAME', 'sanitize_dp_frequent_itemsets';
COMMENT ON FUNCTION sanitize.dp_frequent_itemsets(pg_catalog.regclass, pg_catalog.int4, pg_catalog.float8, pg_catalog.float8, pg_catalog.int4, pg_catalog.text[], pg_catalog.int8) IS
    'the itemsets of the largest supports, chosen privately, with noisy supports and the standard deviation of the noise, the largest first; (epsilon, delta)-differentially private in all. With seed it is not';
