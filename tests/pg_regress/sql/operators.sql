-- Randomisation operators: amplification, breaches, information, numbers, reconstruction.
CREATE FUNCTION said(statement text) RETURNS TABLE(state text, message text, hint text)
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    state := '00000';
    RETURN NEXT;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
    RETURN NEXT;
END $$;
-- The operators and the prior of example 1 of the paper.
CREATE TABLE example AS SELECT 'R1' AS name, sanitize.rr_operator(1001, 0.2) AS operator
             UNION ALL SELECT 'R2', sanitize.number_operator(0, 1000, 100, 0)
             UNION ALL SELECT 'R3', sanitize.number_operator(0, 1000, 100, 0.5);
CREATE TABLE belief AS SELECT array_agg(CASE x WHEN 0 THEN 0.01 ELSE 0.00099 END::float8 ORDER BY x) AS prior
  FROM generate_series(0, 1000) AS x;
SELECT name, array_dims(operator), operator[1:1][1:3] AS first, operator[1001:1001][999:1001] AS last FROM example ORDER BY name;
-- Table 1: posteriors of X = 0 and of X outside of 200..800, given an output of 0.
SELECT name, round(100 * law[1]::numeric, 1) AS zero,
       round(100 * (SELECT sum(p) FROM unnest(law) WITH ORDINALITY AS u(p, x) WHERE x - 1 NOT BETWEEN 200 AND 800)::numeric, 1) AS outside
  FROM example, belief, sanitize.posterior(operator, prior, 1) AS law ORDER BY name;
-- Table 2: information in bits; and gamma.
SELECT name, round(mutual::numeric, 2) AS mutual, round(worst_case::numeric, 2) AS worst_case,
       CASE WHEN inverse_worst_case < 'Infinity' THEN round(inverse_worst_case::numeric, 2)::text ELSE 'infinite' END AS inverse_worst_case,
       sanitize.amplification(operator)::numeric(10, 2) AS gamma
  FROM example, belief, sanitize.information(operator, prior)
 WHERE name <> 'R2' ORDER BY name;
SELECT round(mutual::numeric, 2), round(worst_case::numeric, 2), inverse_worst_case, sanitize.amplification(operator)
  FROM example, belief, sanitize.information(operator, prior) WHERE name = 'R2';
-- The vectors of both tables with all digits.
SELECT name, abs(mutual / i - 1) < 1e-12 AND abs(worst_case / w - 1) < 1e-12
             AND (inverse_worst_case = j OR abs(inverse_worst_case / j - 1) < 1e-12) AS right
  FROM example, belief, sanitize.information(operator, prior),
       (VALUES ('R1', 1.2711153516195144::float8, 3.902922164612413::float8, 1.7235691935883066::float8),
               ('R2', 2.3159435430735598, 2.3292321631782733, 'Infinity')) AS v(of, i, w, j)
 WHERE of = name ORDER BY name;
-- The breaches that the paper names.
SELECT name, rho1, rho2, direction, count(*) AS outputs, count(*) FILTER (WHERE breach) AS breaches, bool_or(breach) FILTER (WHERE y = 1) AS at_zero
  FROM example JOIN (VALUES ('R1', 0.01, 0.7), ('R2', 0.41, 0.9999), ('R3', 1.0 / 7, 0.5)) AS v(of, rho1, rho2) ON of = name, belief,
       sanitize.breach_check(operator, prior, rho1, rho2)
 GROUP BY 1, 2, 3, 4 ORDER BY 1, 4;
-- Example 2: small mutual information, and a breach.
SELECT round(r1.mutual::numeric, 5) AS mutual_1, round(r2.worst_case::numeric, 5) AS worst_2, r2.mutual < r1.mutual AS less,
       round((sanitize.posterior('{{9.9e-5,1e-6,0.9999},{1e-6,9.9e-5,0.9999}}', '{0.5,0.5}', 2))[2]::numeric, 2) AS posterior
  FROM sanitize.information('{{0.6,0.4},{0.4,0.6}}', '{0.5,0.5}') AS r1,
       sanitize.information('{{9.9e-5,1e-6,0.9999},{1e-6,9.9e-5,0.9999}}', '{0.5,0.5}') AS r2;
-- Limits and bounds.
SELECT rho1, rho2, round(sanitize.breach_gamma(rho1, rho2)::numeric, 9) AS gamma,
       round(sanitize.breach_information(rho1, rho2)::numeric, 9) AS bits
  FROM (VALUES (1.0 / 7, 0.5), (0.01, 0.5), (0.02, 0.3), (0.05, 0.6)) AS v(rho1, rho2);
SELECT round(low::numeric, 12) AS low, round(high::numeric, 12) AS high
  FROM (VALUES (5.980099502487562, 0.14285714285714285), (9, 0.1), ('Infinity', 0.25)) AS v(gamma, prior),
       LATERAL sanitize.breach_posterior(gamma, prior);
SELECT round(low::numeric, 6) AS low, round(high::numeric, 6) AS high, round(tight_low::numeric, 6) AS tight_low, round(tight_high::numeric, 6) AS tight_high
  FROM (VALUES (sanitize.breach_information(0.01, 0.5), 'Infinity'::float8, 0.01), (0.55, 0.49, 0.40501), (0, 0, 0.3)) AS v(i, j, prior),
       LATERAL sanitize.information_breach_bound(i, j, prior);
SELECT * FROM sanitize.breach_check('{{0.6,0.4},{0.1,0.9}}', ARRAY[1/7.0::float8, 6/7.0::float8], 1/7.0::float8, 0.5);
SELECT sanitize.posterior('{{1,0},{0,1}}', '{1,0}', 2) IS NULL AS cannot_occur;
SELECT sanitize.amplification('{{0.5,0.5,0},{0.25,0.75,0}}'), sanitize.amplification('{{1}}'), sanitize.rr_operator(1, 0.5), sanitize.rr_operator(3, 0.5);
-- Numbers: within the range, by seed, clamped, and the two ends of what mix and window can be.
SELECT min(y) >= 0 AND max(y) <= 9 AS within, count(DISTINCT y) AS outputs
  FROM (SELECT sanitize.randomize_number(5, 0, 9, 1, 0.5) AS y FROM generate_series(1, 1000)) AS d;
SELECT sanitize.randomize_number(5, 0, 9, 0, 0), sanitize.randomize_number(50, 0, 9, 0, 0), sanitize.randomize_number(-50, 0, 9, 0, 0),
       sanitize.randomize_number(5, 0, 1000000, 1000, 0.5, seed => 7) = sanitize.randomize_number(5, 0, 1000000, 1000, 0.5, seed => 7) AS replayed;
SELECT sanitize.number_operator(0, 3, 1, 0.2), sanitize.number_operator(0, 1, 1, 0);
-- Reconstruction.
SELECT x, round(probability::numeric, 6) AS probability, round(stddev::numeric, 6) AS stddev, round(stddev_of_share::numeric, 6) AS of_share, method
  FROM (VALUES ('em', '{40,60}'::bigint[]), ('inverse', '{40,60}'), ('inverse', '{20,80}')) AS v(method, observed),
       LATERAL sanitize.reconstruct_distribution(sanitize.rr_operator(2, 0.75), observed, method);
SELECT x, probability < 0.0001 AS none, stddev > 0 AS known FROM sanitize.reconstruct_distribution(sanitize.rr_operator(2, 0.75), '{20,80}');
SELECT * FROM sanitize.reconstruct_distribution('{{0.5,0.5},{0.5,0.5}}', '{1,2}');
-- The label.
SELECT label - 'sentence' - 'assumptions' - 'not_covered' AS label
  FROM sanitize.guarantee('randomize_number', '{"low": 0, "high": 1000, "window_size": 100, "mix": 0.5, "rho1": 0.01}') AS label;
SELECT label->>'sentence' FROM sanitize.guarantee('randomize_number', '{"low": 0, "high": 1000, "window_size": 100, "mix": 0.5, "rho1": 0.125}') AS label;
SELECT label->>'kind', label->>'sentence' FROM sanitize.guarantee('randomize_number', '{"low": 0, "high": 1000, "window_size": 100, "mix": 0}') AS label;
SELECT label->>'kind', label->'proved'->>'kind' FROM sanitize.guarantee('randomize_number', '{"low": 0, "high": 9, "window_size": 1, "mix": 0.5, "seed": 1}') AS label;
-- Bad input.
\x on
SELECT s.* FROM (VALUES
    (1, $$SELECT sanitize.amplification('{{0.5,0.5},{0.5,0.4}}')$$),
    (2, $$SELECT sanitize.amplification('{{0.5,0.500000002}}')$$),
    (3, $$SELECT sanitize.amplification('{{1.5,-0.5}}')$$),
    (4, $$SELECT sanitize.amplification('{{1,0},{NaN,1}}')$$),
    (5, $$SELECT sanitize.amplification('{{1,0},{Infinity,0}}')$$),
    (6, $$SELECT sanitize.amplification('{}')$$),
    (7, $$SELECT sanitize.amplification('{0.5,0.5}')$$),
    (8, $$SELECT sanitize.amplification('{{{0.5,0.5}}}')$$),
    (9, $$SELECT sanitize.amplification('{{0.5,NULL}}')$$),
    (10, $$SELECT sanitize.amplification(NULL)$$),
    (11, $$SELECT sanitize.amplification(ARRAY[[1.0::float8],[0.5,0.5]])$$),
    (20, $$SELECT * FROM sanitize.information('{{1,0},{0,1}}', '{1}')$$),
    (21, $$SELECT * FROM sanitize.information('{{1,0},{0,1}}', '{0.5,0.6}')$$),
    (22, $$SELECT * FROM sanitize.information('{{1,0},{0,1}}', '{}')$$),
    (23, $$SELECT * FROM sanitize.information('{{1,0},{0,1}}', '{{0.5,0.5}}')$$),
    (24, $$SELECT * FROM sanitize.information('{{1,0},{0,1}}', '{NaN,0.5}')$$),
    (25, $$SELECT * FROM sanitize.information('{{1,0},{0,1}}', '{NULL,1}')$$),
    (30, $$SELECT sanitize.posterior('{{1,0},{0,1}}', '{0.5,0.5}', 0)$$),
    (31, $$SELECT sanitize.posterior('{{1,0},{0,1}}', '{0.5,0.5}', 3)$$),
    (32, $$SELECT sanitize.posterior('{{1,0},{0,1}}', '{0.5,0.5}', NULL)$$),
    (40, $$SELECT sanitize.breach_gamma(0.5, 0.5)$$),
    (41, $$SELECT sanitize.breach_gamma(0, 0.5)$$),
    (42, $$SELECT sanitize.breach_gamma(0.1, 1)$$),
    (43, $$SELECT sanitize.breach_gamma('NaN', 0.5)$$),
    (44, $$SELECT sanitize.breach_information(0.6, 0.5)$$),
    (45, $$SELECT * FROM sanitize.breach_check('{{1,0},{0,1}}', '{0.5,0.5}', 0.5, 0.1)$$),
    (46, $$SELECT * FROM sanitize.breach_posterior(0.5, 0.5)$$),
    (47, $$SELECT * FROM sanitize.breach_posterior(2, 1.5)$$),
    (48, $$SELECT * FROM sanitize.information_breach_bound(-1, 1, 0.5)$$),
    (49, $$SELECT * FROM sanitize.information_breach_bound(1, 'NaN', 0.5)$$),
    (60, $$SELECT * FROM sanitize.reconstruct_distribution('{{1,0},{0,1}}', '{1}')$$),
    (61, $$SELECT * FROM sanitize.reconstruct_distribution('{{1,0},{0,1}}', '{1,-1}')$$),
    (62, $$SELECT * FROM sanitize.reconstruct_distribution('{{1,0},{0,1}}', '{0,0}')$$),
    (63, $$SELECT * FROM sanitize.reconstruct_distribution('{{1,0},{0,1}}', '{}')$$),
    (64, $$SELECT * FROM sanitize.reconstruct_distribution('{{1,0},{0,1}}', '{1,NULL}')$$),
    (65, $$SELECT * FROM sanitize.reconstruct_distribution('{{1,0},{1,0}}', '{1,1}')$$),
    (66, $$SELECT * FROM sanitize.reconstruct_distribution('{{0.5,0.5},{0.5,0.5}}', '{1,1}', 'inverse')$$),
    (67, $$SELECT * FROM sanitize.reconstruct_distribution('{{1,0},{0,1}}', '{1,1}', 'guess')$$),
    (80, $$SELECT sanitize.randomize_number(NULL, 0, 9, 1, 0.5)$$),
    (81, $$SELECT sanitize.randomize_number(1, 9, 0, 1, 0.5)$$),
    (82, $$SELECT sanitize.randomize_number(1, 0, 9, -1, 0.5)$$),
    (83, $$SELECT sanitize.randomize_number(1, 0, 9, 1, 1.5)$$),
    (84, $$SELECT sanitize.randomize_number(1, 0, 9, 1, 'NaN')$$),
    (85, $$SELECT sanitize.randomize_number(1, -9223372036854775808, 9223372036854775807, 1, 0.5)$$),
    (86, $$SELECT sanitize.number_operator(0, 4096, 1, 0.5)$$),
    (87, $$SELECT sanitize.rr_operator(4097, 0.5)$$),
    (88, $$SELECT sanitize.rr_operator(0, 0.5)$$),
    (89, $$SELECT sanitize.rr_operator(-1, 0.5)$$),
    (90, $$SELECT sanitize.rr_operator(2, 1.5)$$),
    (91, $$SELECT sanitize.guarantee('randomize_number', '{"low": 0, "high": 9, "window_size": 1, "mix": 0.5, "rho1": 1}')$$)) AS v(i, statement),
    LATERAL said(statement) AS s ORDER BY i;
SET pg_sanitize.max_memory = '1MB';
SELECT state, message FROM said('SELECT sanitize.rr_operator(1000, 0.5)');
