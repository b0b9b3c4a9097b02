-- The sampling theorem: exact delta, Li's bound, the rate that a budget allows.
CREATE FUNCTION digits(x float8) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT to_char(x, '9.99999999EEEE')$$;
-- k, beta, epsilon; then what was computed with many digits
SELECT k, beta, eps, digits(s.delta) AS delta, digits(s.delta_li) AS delta_li,
       abs(s.delta_li / li - 1) < 1e-9 AND s.delta_li >= li * (1 - 1e-11) AS li_right,
       exact IS NULL OR abs(s.delta / exact - 1) < 1e-9 AS exact_right
  FROM (VALUES (5, 0.093, 0.1, 0.10028585886749, 0.00374436870915071),
               (5, 0.017, 0.1, 0.000985014569526446, 1.20431772257309e-05),
               (10, 0.068, 0.1, 0.00973434194186112, 0.000146876341504887),
               (20, 0.1, 0.5, 1.60625293618261e-09, 2.63178346622506e-11),
               (50, 0.3, 1, 6.5552002783911e-14, 1.58840929420419e-15),
               (100, 0.1, 0.25, 4.30393537938395e-24, 1.16522740474409e-26),
               (200, 0.05, 0.1, 1.33598276252206e-38, 8.21203650549919e-42),
               (3, 0.4424843912, 1, 0.12382340393284362, NULL),
               (50, 0.6052653017, 2, 3.2887208664688116e-09, NULL)) AS v(k, beta, eps, li, exact),
       LATERAL sanitize.sampling_delta(k, beta, eps) AS s;
-- Table 4.6 of the paper: beta, theta1; and what the exact delta allows instead.
SELECT eps, target, k, r, round(p.beta::numeric, 4) AS beta, p.theta1, p.delta_li <= target AS within,
       round(e.beta::numeric, 4) AS exact_beta, e.delta <= target AS exact_within
  FROM (VALUES (0.1, 0.1, 5, 0.1), (0.1, 0.01, 5, 0.1), (0.1, 0.001, 5, 0.1), (0.1, 0.1, 10, 0.1), (0.1, 0.01, 10, 0.1),
               (0.1, 0.001, 10, 0.1), (0.5, 0.001, 10, 0.2), (0.2, 0.0001, 25, 0.15)) AS v(eps, target, k, r),
       LATERAL sanitize.dp_mii_parameters(eps, target, k, r, 'li') AS p,
       LATERAL sanitize.dp_mii_parameters(eps, target, k, r) AS e;
-- Bad input.
SELECT * FROM sanitize.sampling_delta(0, 0.1, 1);
SELECT * FROM sanitize.sampling_delta(5, 0, 1);
SELECT * FROM sanitize.sampling_delta(5, 1.5, 1);
SELECT * FROM sanitize.sampling_delta(5, 0.9, 0.1);
SELECT * FROM sanitize.sampling_delta(1000, 1e-16, 1e-17);
SELECT * FROM sanitize.sampling_delta(5, 'NaN', 0.1);
SELECT * FROM sanitize.sampling_delta(5, 0.1, 0);
SELECT * FROM sanitize.sampling_delta(5, 0.1, 'Infinity');
SELECT * FROM sanitize.sampling_delta(NULL, 0.1, 1);
SELECT * FROM sanitize.dp_mii_parameters(0, 0.1, 5);
SELECT * FROM sanitize.dp_mii_parameters(1, 1, 5);
SELECT * FROM sanitize.dp_mii_parameters(1, -0.1, 5);
SELECT * FROM sanitize.dp_mii_parameters(1, 0.1, 1);
SELECT * FROM sanitize.dp_mii_parameters(1, 0.1, 5, split => 1);
SELECT * FROM sanitize.dp_mii_parameters(1, 0.1, 5, method => 'guess');
SELECT * FROM sanitize.dp_mii_parameters(1, 0, 5);
DROP FUNCTION digits;
