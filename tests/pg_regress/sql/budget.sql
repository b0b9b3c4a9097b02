-- Protecting relations, allowing roles, and what is refused; with SQLSTATE, detail and hint.
CREATE FUNCTION pg_temp.said(statement text) RETURNS TABLE(state text, message text, detail text, hint text)
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    state := '00000';
    RETURN NEXT;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
                            detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN NEXT;
END $$;
CREATE TABLE visits (person int, ward text, days int, notes jsonb, gone int);
ALTER TABLE visits DROP COLUMN gone;
CREATE ROLE regress_analyst;
\x on
SELECT * FROM pg_temp.said($$SELECT sanitize.protect('visits', 'nobody', 1)$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.protect('visits', 'notes', 1)$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.protect('visits', 'person', 0)$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.protect('visits', 'person', 'NaN')$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.protect('visits', 'person', NULL)$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.protect('visits', 'person', 1, 1)$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.protect('visits', 'person', 1, 0, 0)$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.protect('visits', 'person', 1, window_length => '-1 day')$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.protect(NULL, 'person', 1)$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.protect('visits', 'person', 1, max_groups_per_unit => 0)$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.protect('visits', 'person', 1, min_epsilon => -1)$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.protect('visits', 'person', 1, min_query_set => 0)$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.protect('visits', 'person', 1, assume_stable => NULL)$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.unprotect('visits')$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.allow('visits', 'regress_analyst')$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.charge('visits', 'x', 0.1)$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', '{"n": "count"}', 0.1)$$);
\x off
SELECT sanitize.protect('visits', 'person', 1, 0.001, 3);
SELECT sanitize.allow('visits', 'regress_analyst', 0.5);
SELECT source, grantee, epsilon, epsilon_spent, delta, delta_spent, window_end FROM sanitize.budget ORDER BY grantee NULLS FIRST;
SELECT sanitize.charge('visits', 'by hand', 0.25, 1e-6);
SELECT source, grantee, epsilon, epsilon_spent, delta, delta_spent FROM sanitize.budget ORDER BY grantee NULLS FIRST;
SELECT who = current_user AS me, what, epsilon, delta, source, rho FROM sanitize.ledger;
-- Gaussian noise has a rho, and what is pure has one too.
SELECT sanitize.charge('visits', 'noise', 0.01, 1e-9, rho => 2e-6);
SELECT sanitize.charge('visits', 'pure', 0.01);
SELECT what, epsilon, delta, round(rho::numeric, 9) AS rho FROM sanitize.ledger ORDER BY id;
SELECT round(epsilon_spent::numeric, 6) AS epsilon_spent, round(rho_spent::numeric, 9) AS rho_spent FROM sanitize.budget WHERE grantee IS NULL;
SELECT round(sanitize.zcdp_epsilon(0.01, 1e-6)::numeric, 6) AS epsilon, round(sanitize.zcdp_rho(0.5, 1e-6)::numeric, 6) AS rho, sanitize.zcdp_rho(NULL, 0.1);
SELECT round(epsilon_spent::numeric, 6) AS epsilon_spent, delta_spent FROM sanitize_internal.spent(10, 1e-6, 0.016, 0, 0, 1e-6);
SELECT * FROM sanitize_internal.spent(10, 0, 0.016, 10, 0, 0);
-- The grantee sees and spends its own share.
SET ROLE regress_analyst;
SELECT sanitize.charge('visits', 'by the analyst', 0.23);
SELECT source, grantee, epsilon, epsilon_spent, delta, delta_spent FROM sanitize.budget;
SELECT who, what, epsilon, delta, source FROM sanitize.ledger;
\x on
SELECT * FROM pg_temp.said($$SELECT sanitize.charge('visits', 'too much', 0.3)$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.protect('visits', 'person', 100)$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.allow('visits', 'regress_analyst', 100)$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.confirm_ledger()$$);
RESET ROLE;
SELECT * FROM pg_temp.said($$SELECT sanitize.charge('visits', 'too much', 0.6, 0.002)$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.charge('visits', 'nothing', 0)$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.charge('visits', 'too little', 1e-4)$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.charge('visits', 'no rho', 0.1, 1e-6, 0)$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.zcdp_epsilon(1, 0)$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.zcdp_rho(0, 0.1)$$);
\x off
-- Released rows are charged to the same ledger, by what a unit's rows cost together.
CREATE TABLE smokers (person int, sex bool, smoker bool);
INSERT INTO smokers SELECT i / 2, i % 2 = 0, i % 3 = 0 FROM generate_series(2, 2001) i;
SELECT sanitize.protect('smokers', 'person', 5, 0.01, 2);
SELECT count(*) > 0 AS drawn FROM sanitize.dp_mii_sample(NULL::smokers, 1, 1e-6, 20, columns => '{sex,smoker}');
SELECT what, round(epsilon::numeric, 6) AS epsilon, delta > 1e-6 AS more_delta FROM sanitize.ledger WHERE source = 'smokers'::regclass;
SELECT state, message FROM pg_temp.said($$SELECT * FROM sanitize.dp_mii_sample(NULL::smokers, 2, 1e-6, 20, columns => '{sex,smoker}')$$);
INSERT INTO smokers VALUES (1, true, true);
SELECT state, message FROM pg_temp.said($$SELECT * FROM sanitize.dp_mii_sample(NULL::smokers, 1, 1e-6, 20, columns => '{sex,smoker}')$$);
SELECT sanitize.unprotect('smokers');
DROP TABLE smokers;
SELECT sanitize.disallow('visits', 'regress_analyst');
SET ROLE regress_analyst;
SELECT state, message FROM pg_temp.said($$SELECT sanitize.charge('visits', 'no more', 0.1)$$);
RESET ROLE;
SELECT sanitize.unprotect('visits');
SELECT count(*) FROM sanitize.budget;
DROP TABLE visits;
SELECT what, epsilon FROM sanitize.ledger ORDER BY id;
DROP ROLE regress_analyst;
