-- A share of a budget: without a delta of its own it has the part of delta that its epsilon is of all.
CREATE ROLE regress_half;
CREATE ROLE regress_own;
CREATE ROLE regress_all;
CREATE TABLE shared AS SELECT i AS id FROM generate_series(1, 100) AS i;
SELECT sanitize.protect('shared', 'id', 2, 1e-4, max_rows_per_unit => 1);
SELECT sanitize.allow('shared', 'regress_half', 1);
SELECT sanitize.allow('shared', 'regress_own', 1, 1e-5);
SELECT sanitize.allow('shared', 'regress_all');
SELECT grantee, epsilon, delta FROM sanitize.budget ORDER BY grantee::text NULLS FIRST;

-- Half of a delta is for charges that add up as they are.
SET ROLE regress_half;
SELECT sanitize.charge('shared', 'more than its part', 0.1, 2.6e-5);
SELECT sanitize.charge('shared', 'its part', 0.1, 2.5e-5);
SELECT sanitize.charge('shared', 'without delta', 0.1);
SET ROLE regress_own;
SELECT sanitize.charge('shared', 'more than its own', 0.1, 6e-6);
SELECT sanitize.charge('shared', 'its own', 0.1, 5e-6);
SET ROLE regress_all;
SELECT sanitize.charge('shared', 'more than is left', 0.1, 2.1e-5);
SELECT sanitize.charge('shared', 'all that is left', 0.1, 2e-5);
RESET ROLE;
SELECT grantee, epsilon_spent, delta_spent, delta FROM sanitize.budget ORDER BY grantee::text NULLS FIRST;

-- A share above the budget has no more than all.
SELECT sanitize.allow('shared', 'regress_half', 20);
SELECT delta FROM sanitize.budget WHERE grantee = 'regress_half'::regrole;
SELECT sanitize_internal.delta_share(1, NULL, 2, 1e-4), sanitize_internal.delta_share(1, 1e-5, 2, 1e-4), sanitize_internal.delta_share(NULL, NULL, 2, 1e-4);

SELECT sanitize.unprotect('shared');
DROP TABLE shared;
DROP ROLE regress_half, regress_own, regress_all;
