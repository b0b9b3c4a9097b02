-- What released statistics give away, in bits (paper 004).

CREATE FUNCTION sanitize.entropy_loss(domain_values pg_catalog.numeric[], probabilities pg_catalog.float8[], n pg_catalog.int4, released_low pg_catalog.numeric, released_high pg_catalog.numeric DEFAULT NULL, statistic pg_catalog.text DEFAULT 'sum')
    RETURNS TABLE(entropy_before pg_catalog.float8, entropy_after pg_catalog.float8, loss pg_catalog.float8, share pg_catalog.float8, kl pg_catalog.float8, max_log_ratio pg_catalog.float8)
    LANGUAGE c IMMUTABLE PARALLEL RESTRICTED ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_entropy_loss';
COMMENT ON FUNCTION sanitize.entropy_loss(pg_catalog.numeric[], pg_catalog.float8[], pg_catalog.int4, pg_catalog.numeric, pg_catalog.numeric, pg_catalog.text) IS
    'what a released sum, mean, count, min or max tells of a record, in bits, at the most over n records: the loss of entropy, the KL divergence of posterior and prior, and the largest log ratio of the two';

CREATE FUNCTION sanitize.entropy_loss_of(source pg_catalog.regclass, column_name pg_catalog.text, statistic pg_catalog.text DEFAULT 'sum', prior pg_catalog.jsonb DEFAULT NULL, digits pg_catalog.int4 DEFAULT NULL)
    RETURNS TABLE(entropy_before pg_catalog.float8, entropy_after pg_catalog.float8, loss pg_catalog.float8, share pg_catalog.float8, kl pg_catalog.float8, max_log_ratio pg_catalog.float8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_entropy_loss_of';
COMMENT ON FUNCTION sanitize.entropy_loss_of(pg_catalog.regclass, pg_catalog.text, pg_catalog.text, pg_catalog.jsonb, pg_catalog.int4) IS
    'what the statistic of a column tells of each of its rows if it is published, in bits; the prior is uniform over the public domain unless it is given';

CREATE FUNCTION sanitize.binary_entropy_loss(n pg_catalog.int4, k pg_catalog.int4)
    RETURNS pg_catalog.float8
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_binary_entropy_loss';
COMMENT ON FUNCTION sanitize.binary_entropy_loss(pg_catalog.int4, pg_catalog.int4) IS
    'the entropy that each of n fair bits loses if it is known that k of them are 1';

CREATE FUNCTION sanitize.expected_binary_entropy_loss(n pg_catalog.int4)
    RETURNS pg_catalog.float8
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_expected_binary_entropy_loss';
COMMENT ON FUNCTION sanitize.expected_binary_entropy_loss(pg_catalog.int4) IS
    'the entropy that each of n fair bits can be expected to lose if their sum is published';

CREATE FUNCTION sanitize.interval_privacy(noise pg_catalog.float8[], confidence pg_catalog.float8)
    RETURNS pg_catalog.float8
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_interval_privacy';
COMMENT ON FUNCTION sanitize.interval_privacy(pg_catalog.float8[], pg_catalog.float8) IS
    'the width of the shortest interval that holds a share of the noise: how closely a value is known, with that confidence, to which such noise was added';
