-- Noisy aggregates. With a very large epsilon there is next to no noise, and the numbers are exact.
CREATE FUNCTION pg_temp.said(statement text) RETURNS TABLE(state text, message text, hint text)
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    state := '00000';
    RETURN NEXT;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
    RETURN NEXT;
END $$;
CREATE TYPE mood AS ENUM ('fine', 'poor');
CREATE TABLE visits (person int, ward text, days int, cost numeric(8,2), mood mood, code char(4), seen date, ok bool, notes jsonb);
INSERT INTO visits SELECT i % 100, chr(65 + i % 3), i % 10, (i % 8) / 4.0, CASE i % 2 WHEN 0 THEN 'fine' ELSE 'poor' END::mood,
    'c' || i % 2, date '2024-01-01' + i % 5, i % 2 = 0, '{}' FROM generate_series(0, 199) i;
INSERT INTO visits (person, ward) VALUES (NULL, 'A'), (NULL, 'Z'), (1000, NULL);
SELECT sanitize.protect('visits', 'person', 1e6, 0.5, 2);
SELECT groups, measure, round(value, 2) AS value FROM sanitize.dp_aggregate('visits', '{
    "rows": "count", "units": "units", "with days": {"count": "days"},
    "sum": {"sum": "days", "low": 0, "high": 5}, "avg": {"avg": "days", "low": 0, "high": 9},
    "cost": {"sum": "cost", "low": 0, "high": 2, "step": 0.25},
    "variance": {"variance": "days", "low": 0, "high": 9},
    "histogram": {"histogram": "days", "low": 0, "high": 10, "bins": 2}}', 50000);
-- quantiles have the resolution of their bins
SELECT measure, value BETWEEN 4 AND 5 AS near FROM sanitize.dp_aggregate('visits', '{"p50": {"quantile": 0.5, "of": "days", "low": 0, "high": 9}}', 10000);
SELECT measure FROM sanitize.dp_aggregate('visits', '{"p": {"quantile": [0.25, 0.75], "of": "cost", "low": 0, "high": 2}}', 1000);
-- groups: public ones are all shown, others never; private ones by threshold; NULL is a group
SELECT groups, measure, value FROM sanitize.dp_aggregate('visits', '{"n": "count"}', 10000, group_by => '{ward}', groups => '["A", "B", "nowhere", null]');
SELECT groups, measure, value FROM sanitize.dp_aggregate('visits', '{"n": "count"}', 10000, group_by => '{ward,ok}', groups => '{"ward": ["A", "B"], "ok": [true, false]}');
SELECT groups, measure, value FROM sanitize.dp_aggregate('visits', '{"n": "count"}', 10000, group_by => '{mood,code}', groups => '[{"mood": "fine", "code": "c0"}, {"mood": "fine", "code": "c1"}]');
SELECT groups, measure, value FROM sanitize.dp_aggregate('visits', '{"n": "count"}', 10000, 1e-9, group_by => '{ward}');
SELECT groups, measure, value FROM sanitize.dp_aggregate('visits', '{"n": "count"}', 10000, 1e-9, group_by => '{seen}');
-- filters
SELECT value FROM sanitize.dp_aggregate('visits', '{"n": "count"}', 10000, filter => '{"ward": "A", "days": {">=": 2, "<": 8}, "mood": ["fine", "poor"], "ok": true, "cost": {"<>": 0.5}, "seen": {">": "2023-12-31"}}');
SELECT count(*) FROM visits WHERE person IS NOT NULL AND ward = 'A' AND days >= 2 AND days < 8 AND ok AND cost <> 0.5;
SELECT value FROM sanitize.dp_aggregate('visits', '{"n": "count"}', 10000, filter => '{"ward": null}');
SELECT value FROM sanitize.dp_aggregate('visits', '{"n": "count"}', 10000, filter => '{"ward": []}');
-- a unique, not null unit column: Postgres adds up
CREATE TABLE people (id int PRIMARY KEY, ward text, age smallint, height float8);
INSERT INTO people SELECT i, chr(65 + i % 2), CASE WHEN i % 10 > 0 THEN i % 90 END, 150 + i % 50 FROM generate_series(1, 1000) i;
SELECT sanitize.protect('people', 'id', 1e6, 0.5, 7);
SELECT groups, measure, round(value, 2) AS value FROM sanitize.dp_aggregate('people', '{"n": "count", "u": "units", "with age": {"count": "age"}, "sum": {"sum": "age", "low": 10, "high": 50}, "avg": {"avg": "age", "low": 0, "high": 90}}', 50000, group_by => '{ward}', groups => '["A", "B", "C"]');
SELECT groups, measure, round(value, 2) AS value FROM sanitize.dp_aggregate('people', '{"n": "count", "sum": {"sum": "age", "low": 10, "high": 50}}', 50000, 1e-9, group_by => '{ward}');
SELECT ward, count(*), count(age), sum(least(greatest(age, 10), 50)) FILTER (WHERE age IS NOT NULL), round(avg(age), 2) FROM people GROUP BY ward ORDER BY ward;
SELECT groups, measure, round(value, 1) AS value FROM sanitize.dp_aggregate('people', '{"n": "count", "h": {"avg": "height", "low": 100, "high": 250}}', 100000);
-- distinct values, values per unit, bounds that are known or found
SELECT measure, value FROM sanitize.dp_aggregate('visits', '{"wards": {"distinct": "ward"}, "costs": {"distinct": "cost"}, "seen": {"distinct": "seen"}, "days": {"distinct": "days"}}', 50000);
SELECT count(DISTINCT ward), count(DISTINCT cost), count(DISTINCT seen), count(DISTINCT days) FROM visits WHERE person IS NOT NULL;
SELECT measure, round(value, 2) AS value FROM sanitize.dp_aggregate('visits', '{
    "all": {"sum": "days", "per": "unit", "low": 0, "high": 1000}, "at most 10": {"sum": "days", "per": "unit", "low": 0, "high": 10},
    "visits": {"count": "days", "per": "unit", "low": 0, "high": 9}, "mean": {"avg": "days", "per": "unit", "low": 0, "high": 100},
    "cost": {"sum": "cost", "per": "unit", "low": 0, "high": 3, "step": 0.25}}', 50000);
SELECT sum(days), sum(least(days, 10)), sum(n), round(avg(days), 2) AS mean, sum(least(cost, 3)) AS cost FROM (SELECT sum(days) AS days, count(days) AS n, sum(cost) AS cost FROM visits WHERE person < 1000 GROUP BY person) u;
SELECT groups, measure, value FROM sanitize.dp_aggregate('visits', '{"each": {"sum": "days", "per": "unit", "low": 0, "high": 20}}', 50000, 1e-9, group_by => '{mood}');
SELECT measure, round(value, 1) AS value FROM sanitize.dp_aggregate('visits', '{"found": {"sum": "days", "bounds": "private"}, "each": {"sum": "days", "per": "unit", "bounds": "private"}, "cost": {"avg": "cost", "bounds": "private", "step": 0.25}}', 100000);
CREATE TABLE checked (person int PRIMARY KEY, age int CHECK (age >= 0 AND age <= 120), x int, y int);
INSERT INTO checked SELECT i, i % 80, i, i FROM generate_series(1, 100) i;
SELECT sanitize.protect('checked', 'person', 1e6, 0.5, max_rows_per_unit => 1);
SELECT sanitize.declare_bounds('checked', 'x', '0', '50');
SELECT measure, value FROM sanitize.dp_aggregate('checked', '{"age": {"sum": "age"}, "x": {"sum": "x"}, "tighter": {"sum": "x", "high": 20}}', 100000);
SELECT sum(age), sum(least(x, 50)), sum(least(x, 20)) FROM checked;
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('checked', '{"y": {"sum": "y"}}', 1)$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('checked', '{"x": {"sum": "x", "per": "unit"}}', 1)$$);
-- nothing for groups of few
SELECT sanitize.protect('checked', 'person', 1e6, 0.5, min_query_set => 50, max_rows_per_unit => 1);
SELECT groups, value FROM sanitize.dp_aggregate('checked', '{"n": "count"}', 100000, group_by => '{age}', groups => '[1, 2]');
SELECT value FROM sanitize.dp_aggregate('checked', '{"n": "count"}', 100000);
-- the same question again, in another order
SELECT sanitize.protect('checked', 'person', 1e6, 0.5, max_rows_per_unit => 1);
SELECT count(*) AS rows FROM sanitize.dp_aggregate('checked', '{"n": "count"}', 100, filter => '{"age": [3, 1, 2]}', reuse => '1 day');
SELECT count(*) AS charges FROM sanitize.ledger WHERE source = 'checked'::regclass;
SELECT count(*) AS rows FROM sanitize.dp_aggregate('checked', '{"n": "count"}', 100.0, filter => '{"age": [2, 1, 3, 3]}', reuse => '1 day');
SELECT count(*) AS charges FROM sanitize.ledger WHERE source = 'checked'::regclass;
SELECT source, question->'measures' AS measures, question->'filter' AS filter, measure, value IS NOT NULL AS answered FROM sanitize.answers WHERE source = 'checked'::regclass AND question->'filter' <> 'null';
-- the cost
SELECT epsilon, delta, remaining_delta, jsonb_object_keys(stddev) FROM sanitize.dp_cost('people', '{"n": "count", "h": {"avg": "height", "low": 100, "high": 250}}', 1, 1e-6);
SELECT round((stddev->>'n')::numeric, 3) AS n, round((stddev->'h'->>'sum')::numeric, 0) AS h FROM sanitize.dp_cost('people', '{"n": "count", "h": {"avg": "height", "low": 100, "high": 250}}', 1);
SELECT epsilon, delta FROM sanitize.dp_cost('people', '{"n": "count"}', 1, group_by => '{ward}');
-- bad questions
\x on
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', '[]', 1)$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', '{}', 1)$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', NULL, 1)$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', '{"n": "median"}', 1)$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', '{"n": {"sum": "days"}}', 1)$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', '{"n": {"sum": "nothing", "low": 0, "high": 1}}', 1)$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', '{"n": {"sum": "ward", "low": 0, "high": 1}}', 1)$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', '{"n": {"sum": "days", "low": 1, "high": 1}}', 1)$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', '{"n": {"sum": "days", "low": 0, "high": 1e30}}', 1)$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', '{"n": {"sum": "days", "low": 0, "high": 1, "step": 0}}', 1)$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', '{"n": {"sum": "days", "low": 0, "high": 1, "hihg": 2}}', 1)$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', '{"n": {"sum": "days", "avg": "days", "low": 0, "high": 1}}', 1)$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', '{"n": {"quantile": 1.5, "of": "days", "low": 0, "high": 1}}', 1)$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', '{"n": {"quantile": 0.5, "low": 0, "high": 1}}', 1)$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', '{"n": {"histogram": "days", "low": 0, "high": 1, "bins": 0}}', 1)$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', '{"n": {"count": "days", "weight": -1}}', 1)$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', '{"n": "count"}', -1)$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', '{"n": "count"}', 1, 2)$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', '{"n": "count"}', 1, 0, '{ward}')$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', '{"n": "count"}', 1, group_by => '{notes}')$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', '{"n": "count"}', 1, group_by => '{ward,ward}')$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', '{"n": "count"}', 1, group_by => '{}')$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', '{"n": "count"}', 1, groups => '["A"]')$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', '{"n": "count"}', 1, group_by => '{ward}', groups => '["A", "A"]')$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', '{"n": "count"}', 1, group_by => '{ward}', groups => '[]')$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', '{"n": "count"}', 1, group_by => '{ward,ok}', groups => '["A"]')$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', '{"n": "count"}', 1, group_by => '{days}', groups => '["many"]')$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', '{"n": "count"}', 1, filter => '[]')$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', '{"n": "count"}', 1, filter => '{"x": 1}')$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', '{"n": "count"}', 1, filter => '{"notes": "{}"}')$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', '{"n": "count"}', 1, filter => '{"days": {"~": 1}}')$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', '{"n": "count"}', 1, filter => '{"days": "few"}')$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('visits', '{"n": "count"}', 1, filter => '{"days": [[1]]}')$$);
\x off
-- none of these was charged
SELECT what, epsilon, delta FROM sanitize.ledger WHERE source = 'visits'::regclass AND epsilon < 100;
-- the curator's tools
SELECT sanitize.clamped_sum(x, 0, 5), sanitize.clamped_sum_squares(x, 0, 5) FROM (VALUES (1), (9), (NULL), (-3)) v(x);
SELECT sanitize.clamped_sum(x, -9223372036854775808, 9223372036854775807) FROM (VALUES (9223372036854775807), (9223372036854775807)) v(x);
SELECT sanitize.clamped_sum(x, 0, 5) FROM generate_series(1, 0) x;
SELECT sanitize.dp_noise(100, 1, 1e6), sanitize.dp_noise(100, 1, 1e6, 'gaussian'), sanitize.dp_noise(100, 1, 1e6, 'gaussian', 1e-6), sanitize.dp_noise(100, 1, 1e6, 'laplace', 0);
SELECT state, message FROM pg_temp.said($$SELECT sanitize.dp_noise(NULL, 1, 1)$$);
SELECT state, message FROM pg_temp.said($$SELECT sanitize.dp_noise(1, 1, 1, 'gaussian', 0)$$);
SELECT state, message FROM pg_temp.said($$SELECT sanitize.dp_noise(1, 1, 1, 'laplace', 1e-6)$$);
SELECT count(DISTINCT sanitize.dp_noise(0, 1, 0.01)) > 50 AS fresh FROM generate_series(1, 100);
SELECT state, message FROM pg_temp.said($$SELECT sanitize.clamped_sum(1, 5, 0)$$);
SELECT state, message FROM pg_temp.said($$SELECT sanitize.dp_noise(1, 0, 1)$$);
SELECT state, message FROM pg_temp.said($$SELECT sanitize.dp_noise(1, 1, 1, 'uniform')$$);
SELECT state, message FROM pg_temp.said($$SELECT sanitize.dp_noise(1, 1, NULL)$$);
DROP TABLE visits, people, checked;
DROP TYPE mood;
