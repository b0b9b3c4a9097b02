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
