-- What stays: tables that others read, with their promise, kept fresh by jobs, and a report on one of them.
\pset linestyle unicode
\pset format wrapped
\pset columns 110
\echo
\echo '=== Published: a k-anonymous table, a synthetic one, and one of noisy answers ==='
\timing on
SELECT label ->> 'kind' AS kind, label ->> 'rows' AS rows
FROM sanitize.publish('people_public', 'people', 'k_anonymize',
    '{"k": 5, "columns": ["birth_date", "postcode", "sex"], "generalize": true, "sensitive": "insurance", "l": 2}',
    'Patients, for research on where they live.') AS label;
SELECT label ->> 'kind' AS kind, label ->> 'rows' AS rows
FROM sanitize.publish('stays_synthetic', 'stays', 'dp_synthesize',
    '{"epsilon": 1, "delta": 1e-7, "n": 20000, "columns": ["sex", "birth_year", "insurance", "ward", "admission", "los_days"]}',
    'Stays that never were, for whoever writes software.') AS label;
SELECT label ->> 'kind' AS kind, label ->> 'rows' AS rows
FROM sanitize.publish('stays_by_ward', 'stays', 'dp_aggregate',
    '{"measures": {"stays": "count", "days": {"avg": "los_days", "low": 1, "high": 30}}, "epsilon": 0.5, "delta": 1e-6,
      "group_by": ["ward"]}',
    'Stays by ward, for the annual report.') AS label;
\timing off

\echo
\echo '=== The record, and what a BI tool shows beside each table ==='
SELECT target, method, rows, round(epsilon_total::numeric, 2) AS epsilon_of_source FROM sanitize.releases ORDER BY target;
SELECT obj_description('stays_by_ward'::regclass) AS comment;
SELECT groups ->> 'ward' AS ward, max(value) FILTER (WHERE measure = 'stays')::int AS stays,
       round(max(value) FILTER (WHERE measure = 'days')::numeric, 1) AS days
FROM stays_by_ward GROUP BY groups ORDER BY 1;

\echo
\echo '=== A job keeps a release fresh: SELECT sanitize.refresh(...). Readers never wait, views and grants stay ==='
DELETE FROM people WHERE patient_id % 100 = 0;
\timing on
SELECT label ->> 'rows' AS rows, label -> 'not_covered' ->> -1 AS not_covered FROM sanitize.refresh('people_public') AS label \gx
\timing off

\echo
\echo '=== A report for the privacy officer ==='
\timing on
SELECT line ->> 'about' AS about, line ->> 'tone' AS tone, line ->> 'sentence' AS verdict
FROM sanitize.privacy_report('people', 'people_public', '{"columns": ["birth_date", "postcode", "sex"]}') AS report,
     jsonb_array_elements(report -> 'releases' -> 0 -> 'verdict') AS line;
\timing off
\pset format unaligned
\pset tuples_only on
\o :report
SELECT sanitize.privacy_report_html('people', 'people_public', '{"columns": ["birth_date", "postcode", "sex"]}');
\o
