-- Differentially private samples.
CREATE FUNCTION sanitize.dp_mii_parameters(epsilon pg_catalog.float8, delta pg_catalog.float8, k pg_catalog.int4,
        split pg_catalog.float8 DEFAULT 0.1, method pg_catalog.text DEFAULT 'exact')
    RETURNS TABLE(beta pg_catalog.float8, theta1 pg_catalog.int4, delta pg_catalog.float8, delta_li pg_catalog.float8)
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_dp_mii_parameters';
COMMENT ON FUNCTION sanitize.dp_mii_parameters(pg_catalog.float8, pg_catalog.float8, pg_catalog.int4, pg_catalog.float8, pg_catalog.text) IS
    'the largest sampling rate beta that epsilon and delta allow with classes of at least k sampled rows, the threshold theta1 that goes with it, and the delta reached: the smallest that holds, and the bound of Li, Qardaji and Su';

CREATE FUNCTION sanitize.sampling_delta(k pg_catalog.int4, beta pg_catalog.float8, epsilon pg_catalog.float8)
    RETURNS TABLE(delta pg_catalog.float8, delta_li pg_catalog.float8)
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_sampling_delta';
COMMENT ON FUNCTION sanitize.sampling_delta(pg_catalog.int4, pg_catalog.float8, pg_catalog.float8) IS
    'delta of sampling rows with probability beta and showing only what at least k sampled rows share: the smallest that holds, and the bound of Li, Qardaji and Su';

CREATE FUNCTION sanitize.dp_mii_sample(source anyelement, epsilon pg_catalog.float8, delta pg_catalog.float8,
        k pg_catalog.int4, scheme pg_catalog.text DEFAULT NULL, public_source pg_catalog.regclass DEFAULT NULL,
        split pg_catalog.float8 DEFAULT 0.1, max_length pg_catalog.int4 DEFAULT NULL,
        columns pg_catalog.text[] DEFAULT NULL, keep pg_catalog.text[] DEFAULT NULL, seed pg_catalog.int8 DEFAULT NULL,
        theta1 pg_catalog.int4 DEFAULT NULL, rules pg_catalog.jsonb DEFAULT NULL)
    RETURNS SETOF anyelement
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_dp_mii_sample';
COMMENT ON FUNCTION sanitize.dp_mii_sample(anyelement, pg_catalog.float8, pg_catalog.float8, pg_catalog.int4, pg_catalog.text, pg_catalog.regclass, pg_catalog.float8, pg_catalog.int4, pg_catalog.text[], pg_catalog.text[], pg_catalog.int8, pg_catalog.int4, pg_catalog.jsonb) IS
    'an (epsilon, delta)-differentially private sample of the relation: rows are sampled with fresh coins, cells in rare combinations or of columns that were chosen privately are blanked, and only what at least k sampled rows share is shown. With keep or seed, and in scheme ''paper'', which is as published, it is not differentially private';

CREATE FUNCTION sanitize.guarantee(method pg_catalog.text, options pg_catalog.jsonb DEFAULT '{}')
    RETURNS pg_catalog.jsonb
    LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_guarantee';
COMMENT ON FUNCTION sanitize.guarantee(pg_catalog.text, pg_catalog.jsonb) IS
    'what a release by this method with these options protects, under which assumptions, and what not; with a sentence for a data-sharing agreement';
