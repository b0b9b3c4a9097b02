-- Cells that are randomised, and what can be learned from them.
CREATE FUNCTION sanitize.randomize_cells(source anyelement, epsilon pg_catalog.float8, weights pg_catalog.jsonb DEFAULT NULL,
        columns pg_catalog.text[] DEFAULT NULL, keep pg_catalog.text[] DEFAULT NULL, seed pg_catalog.int8 DEFAULT NULL)
    RETURNS SETOF anyelement
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_randomize_cells';
COMMENT ON FUNCTION sanitize.randomize_cells(anyelement, pg_catalog.float8, pg_catalog.jsonb, pg_catalog.text[], pg_catalog.text[], pg_catalog.int8) IS
    'the rows of the relation with every cell randomised: kept or replaced by another value of its public domain, so that a row is hidden with epsilon (local differential privacy), which its columns share equally or by weights. Rows come in random order; with keep or seed nothing is guaranteed';

CREATE FUNCTION sanitize.rr_keep_probability(epsilon pg_catalog.float8, domain_size pg_catalog.int4)
    RETURNS pg_catalog.float8
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_rr_keep_probability';
COMMENT ON FUNCTION sanitize.rr_keep_probability(pg_catalog.float8, pg_catalog.int4) IS
    'the probability that randomised response with this epsilon keeps the value of a cell that can have so many';

CREATE FUNCTION sanitize.rr_support(source pg_catalog.regclass, items pg_catalog.jsonb, epsilon pg_catalog.float8,
        weights pg_catalog.jsonb DEFAULT NULL, columns pg_catalog.text[] DEFAULT NULL, domains_of pg_catalog.regclass DEFAULT NULL)
    RETURNS TABLE(estimate pg_catalog.float8, stddev pg_catalog.float8, rows pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_rr_support';
COMMENT ON FUNCTION sanitize.rr_support(pg_catalog.regclass, pg_catalog.jsonb, pg_catalog.float8, pg_catalog.jsonb, pg_catalog.text[], pg_catalog.regclass) IS
    'the share of the true rows that have an itemset, estimated without bias from rows that randomize_cells made with the same epsilon, weights and columns';

CREATE FUNCTION sanitize.dependence(operator pg_catalog.float8[], prior pg_catalog.float8[])
    RETURNS TABLE(epsilon pg_catalog.float8, mutual pg_catalog.float8, mutual_bound pg_catalog.float8,
        min_entropy_leakage pg_catalog.float8, guess pg_catalog.float8, guess_bound pg_catalog.float8)
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_dependence';
COMMENT ON FUNCTION sanitize.dependence(pg_catalog.float8[], pg_catalog.float8[]) IS
    'how far input and output of a randomisation depend on each other for a prior: the least epsilon of epsilon-dependence, mutual information and its bound in bits, min-entropy leakage, the success of the best guess and Fano''s bound on it';

CREATE FUNCTION sanitize.exact_count_epsilon(n pg_catalog.int8, p pg_catalog.float8, y pg_catalog.int8)
    RETURNS pg_catalog.float8
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_exact_count_epsilon';
COMMENT ON FUNCTION sanitize.exact_count_epsilon(pg_catalog.int8, pg_catalog.float8, pg_catalog.int8) IS
    'how much the exact count y tells of one of n independent rows that count with probability p, to somebody who knows no other row';

CREATE FUNCTION sanitize.exact_count_epsilon(n pg_catalog.int8, p pg_catalog.float8, lo pg_catalog.int8, hi pg_catalog.int8)
    RETURNS TABLE(epsilon pg_catalog.float8, refuse_epsilon pg_catalog.float8, release_probability pg_catalog.float8)
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_exact_count_epsilon_range';
COMMENT ON FUNCTION sanitize.exact_count_epsilon(pg_catalog.int8, pg_catalog.float8, pg_catalog.int8, pg_catalog.int8) IS
    'how much a count that is released from lo to hi, and refused otherwise, tells of one row at most; how much the refusal tells; how likely a release is';

CREATE FUNCTION sanitize.exact_counts_epsilon(n pg_catalog.int8, probabilities pg_catalog.float8[], counts pg_catalog.int8[])
    RETURNS pg_catalog.float8
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_exact_counts_epsilon';
COMMENT ON FUNCTION sanitize.exact_counts_epsilon(pg_catalog.int8, pg_catalog.float8[], pg_catalog.int8[]) IS
    'how much the exact counts of all values tell of one of n independent rows that have them with these probabilities';
