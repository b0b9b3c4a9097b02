-- Randomisation operators: what they tell, which breaches they allow, and numbers that are randomised.

CREATE FUNCTION sanitize.breach_gamma(rho1 pg_catalog.float8, rho2 pg_catalog.float8)
    RETURNS pg_catalog.float8
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_breach_gamma';
COMMENT ON FUNCTION sanitize.breach_gamma(pg_catalog.float8, pg_catalog.float8) IS
    'the gamma below which an operator causes no breach from rho1 to rho2, and none down from rho2 to rho1, whatever the prior';

CREATE FUNCTION sanitize.breach_posterior(gamma pg_catalog.float8, prior pg_catalog.float8)
    RETURNS TABLE(low pg_catalog.float8, high pg_catalog.float8)
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_breach_posterior';
COMMENT ON FUNCTION sanitize.breach_posterior(pg_catalog.float8, pg_catalog.float8) IS
    'between which bounds an operator that amplifies by at most gamma leaves the probability of a property with this prior';

CREATE FUNCTION sanitize.amplification(operator pg_catalog.float8[])
    RETURNS pg_catalog.float8
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_amplification';
COMMENT ON FUNCTION sanitize.amplification(pg_catalog.float8[]) IS
    'gamma: the largest ratio of the probabilities of one output from two inputs; infinite if an output rules an input out. operator[x][y] is the probability of output y from input x';

CREATE FUNCTION sanitize.information(operator pg_catalog.float8[], prior pg_catalog.float8[])
    RETURNS TABLE(mutual pg_catalog.float8, worst_case pg_catalog.float8, inverse_worst_case pg_catalog.float8)
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_information';
COMMENT ON FUNCTION sanitize.information(pg_catalog.float8[], pg_catalog.float8[]) IS
    'what outputs tell of inputs, in bits: on average, at the worst output, and the inverse measure, which bounds downward breaches';

CREATE FUNCTION sanitize.breach_check(operator pg_catalog.float8[], prior pg_catalog.float8[], rho1 pg_catalog.float8, rho2 pg_catalog.float8)
    RETURNS TABLE(y pg_catalog.int4, direction pg_catalog.text, posterior_low pg_catalog.float8, posterior_high pg_catalog.float8, breach pg_catalog.bool)
    LANGUAGE c IMMUTABLE PARALLEL RESTRICTED ROWS 100 AS 'MODULE_PATHNAME', 'sanitize_breach_check';
COMMENT ON FUNCTION sanitize.breach_check(pg_catalog.float8[], pg_catalog.float8[], pg_catalog.float8, pg_catalog.float8) IS
    'for each output that can occur and each direction, bounds on the extreme posterior of a property, and whether it is a breach from rho1 to rho2 (upward) or from rho2 to rho1 (downward)';

CREATE FUNCTION sanitize.posterior(operator pg_catalog.float8[], prior pg_catalog.float8[], y pg_catalog.int4)
    RETURNS pg_catalog.float8[]
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_posterior';
COMMENT ON FUNCTION sanitize.posterior(pg_catalog.float8[], pg_catalog.float8[], pg_catalog.int4) IS
    'how likely each input is once output y was seen, which is counted from 1; NULL if that output cannot occur';

CREATE FUNCTION sanitize.breach_information(rho1 pg_catalog.float8, rho2 pg_catalog.float8)
    RETURNS pg_catalog.float8
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_breach_information';
COMMENT ON FUNCTION sanitize.breach_information(pg_catalog.float8, pg_catalog.float8) IS
    'the worst-case information, in bits, below which no breach from rho1 to rho2 can occur, and the inverse one below which none down from rho2 to rho1 can';

CREATE FUNCTION sanitize.information_breach_bound(worst_case pg_catalog.float8, inverse_worst_case pg_catalog.float8, prior pg_catalog.float8)
    RETURNS TABLE(low pg_catalog.float8, high pg_catalog.float8, tight_low pg_catalog.float8, tight_high pg_catalog.float8)
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_information_breach_bound';
COMMENT ON FUNCTION sanitize.information_breach_bound(pg_catalog.float8, pg_catalog.float8, pg_catalog.float8) IS
    'between which bounds so much information leaves the probability of a property with this prior; tight: by both measures, for the property and its complement';

CREATE FUNCTION sanitize.reconstruct_distribution(operator pg_catalog.float8[], observed pg_catalog.int8[], method pg_catalog.text DEFAULT 'em')
    RETURNS TABLE(x pg_catalog.int4, probability pg_catalog.float8, stddev pg_catalog.float8, stddev_of_share pg_catalog.float8)
    LANGUAGE c IMMUTABLE PARALLEL RESTRICTED ROWS 100 AS 'MODULE_PATHNAME', 'sanitize_reconstruct_distribution';
COMMENT ON FUNCTION sanitize.reconstruct_distribution(pg_catalog.float8[], pg_catalog.int8[], pg_catalog.text) IS
    'the probability of each input, from how often each output was observed, with standard deviations: em, the likeliest law, or inverse, unbiased but perhaps negative';

CREATE FUNCTION sanitize.randomize_number(value pg_catalog.int8, low pg_catalog.int8, high pg_catalog.int8, window_size pg_catalog.int8, mix pg_catalog.float8, seed pg_catalog.int8 DEFAULT NULL)
    RETURNS pg_catalog.int8
    LANGUAGE c VOLATILE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_randomize_number';
COMMENT ON FUNCTION sanitize.randomize_number(pg_catalog.int8, pg_catalog.int8, pg_catalog.int8, pg_catalog.int8, pg_catalog.float8, pg_catalog.int8) IS
    'with probability mix any number of low..high, else the value plus a number of -window_size..window_size, wrapping around; drawn exactly by the law of number_operator';

CREATE FUNCTION sanitize.rr_operator(domain_size pg_catalog.int4, keep pg_catalog.float8)
    RETURNS pg_catalog.float8[]
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_rr_operator';
COMMENT ON FUNCTION sanitize.rr_operator(pg_catalog.int4, pg_catalog.float8) IS
    'the operator that keeps a value with that probability and otherwise returns one of the others, each as likely as the next';

CREATE FUNCTION sanitize.number_operator(low pg_catalog.int8, high pg_catalog.int8, window_size pg_catalog.int8, mix pg_catalog.float8)
    RETURNS pg_catalog.float8[]
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_number_operator';
COMMENT ON FUNCTION sanitize.number_operator(pg_catalog.int8, pg_catalog.int8, pg_catalog.int8, pg_catalog.float8) IS
    'the operator by which sanitize.randomize_number draws, as a matrix';
