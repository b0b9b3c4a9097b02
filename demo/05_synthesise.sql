-- A table of people who do not exist.
\pset linestyle unicode
\echo
\echo '=== Krimp: the table in a few hundred patterns ==='
\timing on
CREATE TABLE model AS
SELECT sanitize.krimp_model('stays', min_support => 20, prune => true,
    columns => '{sex,profession,insurance,ward,diagnosis}') AS model;
SELECT jsonb_array_length(model -> 'patterns') AS patterns, round(100 * ratio::numeric, 1) AS percent_of_the_size
FROM model, sanitize.krimp_size(model, 'stays');
\timing off
SELECT items, support
FROM sanitize.krimp_codetable('stays', min_support => 20, prune => true,
    columns => '{sex,profession,insurance,ward,diagnosis}')
WHERE length > 2 ORDER BY usage DESC LIMIT 6;

\echo
\echo '=== 50,000 stays that never were ==='
\timing on
CREATE TABLE synthetic AS SELECT g.* FROM model, sanitize.krimp_generate(NULL::stays, model, n => 50000, seed => 7) AS g;
\timing off
SELECT sex, profession, insurance, ward, diagnosis FROM synthetic LIMIT 5;

\echo
\echo '=== Women by ward, in truth and in the synthetic table (percent) ==='
SELECT ward, o.percent AS original, s.percent AS synthetic
FROM (SELECT ward, round(100.0 * count(*) FILTER (WHERE sex = 'F') / count(*), 1) AS percent FROM stays GROUP BY ward) AS o
JOIN (SELECT ward, round(100.0 * count(*) FILTER (WHERE sex = 'F') / count(*), 1) AS percent FROM synthetic GROUP BY ward) AS s USING (ward)
ORDER BY ward;

\echo
\echo '=== How private is that? Not at all by promise; so look ==='
\timing on
SELECT measure, round(value::numeric, 3) AS value, advice
FROM model, sanitize.krimp_report('stays', 'synthetic', model, samples => 2000, seed => 7);
\timing off

\echo
\echo '=== Following the advice: shorter patterns, and shared by more people ==='
\timing on
CREATE TABLE synthetic2 AS
SELECT * FROM sanitize.krimp_generate(NULL::stays, n => 50000, min_support => 200, max_length => 2, seed => 7,
    columns => '{sex,profession,insurance,ward,diagnosis}');
SELECT measure, round(value::numeric, 3) AS value, advice
FROM sanitize.krimp_report('stays', 'synthetic2', columns => '{sex,profession,insurance,ward,diagnosis}',
    samples => 2000, seed => 7);
\timing off
