-- Answers for those who may not read the table, under a budget that nobody can roll back.
\pset linestyle unicode
\echo
\echo '=== Noisy aggregates: the owner protects the patients and lets an analyst ask ==='
SET client_min_messages = warning;
DROP ROLE IF EXISTS demo_analyst;
RESET client_min_messages;
CREATE ROLE demo_analyst;
SELECT sanitize.protect('stays', unit => 'patient_id', epsilon => 2, delta => 1e-5, max_rows_per_unit => 5) \g /dev/null
SELECT sanitize.allow('stays', 'demo_analyst') \g /dev/null

SET ROLE demo_analyst;
\echo
\echo '=== The analyst cannot read a row, but can ask ==='
\timing on
SELECT groups ->> 'ward' AS ward, value AS stays, round(low) AS at_least, round(high) AS at_most
FROM sanitize.dp_aggregate('stays', '{"n": "count"}', epsilon => 1.5, delta => 1e-6, group_by => '{ward}',
    groups => '["cardiology", "obstetrics", "oncology", "surgery"]');
\timing off

\echo
\echo '=== What is spent is spent, also by a transaction that is rolled back ==='
BEGIN;
SELECT value AS days FROM sanitize.dp_aggregate('stays', '{"days": {"avg": "los_days", "low": 1, "high": 30}}', epsilon => 0.4);
ROLLBACK;
RESET ROLE;
SELECT source, coalesce(grantee::text, 'everybody') AS who, epsilon, epsilon_spent FROM sanitize.budget;
\set ON_ERROR_STOP off
SET ROLE demo_analyst;
\echo
\echo '=== Then there is no more, but for what was answered already: the same question again is free ==='
SELECT groups ->> 'ward' AS ward, value AS stays
FROM sanitize.dp_aggregate('stays', '{"n": "count"}', epsilon => 1.5, delta => 1e-6, group_by => '{ward}',
    groups => '["surgery", "oncology", "obstetrics", "cardiology"]', reuse => '1 day');
SELECT value FROM sanitize.dp_aggregate('stays', '{"n": "count"}', epsilon => 1);
RESET ROLE;
\set ON_ERROR_STOP on
