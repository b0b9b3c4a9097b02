-- Cell suppression and audits of what is published.
CREATE SCHEMA cells_case;
SET search_path = cells_case;
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
CREATE TABLE stays (region text, ward text, diagnosis text);
INSERT INTO stays SELECT r, w, d FROM (VALUES
    ('north', 'A', 'flu', 20), ('north', 'A', 'asthma', 12), ('north', 'A', 'burn', 3),
    ('north', 'B', 'flu', 31), ('north', 'B', 'asthma', 9), ('north', 'B', 'burn', 14),
    ('south', 'C', 'flu', 25), ('south', 'C', 'asthma', 17)) AS t (r, w, d, n), generate_series(1, n);
CREATE VIEW shown AS SELECT * FROM sanitize.suppress_cells('stays', 'ward', 'diagnosis');
SELECT * FROM shown;
SELECT * FROM sanitize.audit_cells((SELECT jsonb_agg(s) FROM shown AS s));
-- Nothing is small; everything is.
SELECT count(*) FILTER (WHERE status <> 'shown') AS suppressed FROM sanitize.suppress_cells('stays', 'ward', 'diagnosis', 2);
SELECT status, count(*) FROM sanitize.suppress_cells('stays', 'ward', 'diagnosis', 1000) GROUP BY 1;
-- An interval wider than the totals allow takes totals with it.
SELECT protection, string_agg(coalesce(row_value, 'total') || '/' || coalesce(column_value, 'total'), ' ') AS complementary
  FROM unnest(ARRAY[0, 5, 12, 100, 1000]) AS protection, sanitize.suppress_cells('stays', 'ward', 'diagnosis', 5, protection)
 WHERE status = 'complementary' GROUP BY 1 ORDER BY 1;
-- Groups have totals of their own.
SELECT * FROM sanitize.suppress_cells('stays', 'ward', 'diagnosis', group_column => 'region');
SELECT * FROM sanitize.audit_cells((SELECT jsonb_agg(s) FROM sanitize.suppress_cells('stays', 'ward', 'diagnosis', group_column => 'region') AS s));
-- Rows with NULL, and none at all.
INSERT INTO stays VALUES ('north', 'A', NULL), ('north', NULL, 'flu');
SELECT cell FROM sanitize.suppress_cells('stays', 'ward', 'diagnosis') WHERE row_value IS NULL AND column_value IS NULL;
CREATE VIEW nobody AS SELECT * FROM stays WHERE false;
SELECT * FROM sanitize.suppress_cells('nobody', 'ward', 'diagnosis');
-- What can be computed back, and what nobody listed.
SELECT * FROM sanitize.audit_cells('[{"row_value": "a", "column_value": "x", "cell": null}, {"row_value": "a", "column_value": "y", "cell": 7},
    {"row_value": "a", "column_value": null, "cell": 10}]');
SELECT * FROM sanitize.audit_cells('[{"row_value": 1, "column_value": true, "cell": null}, {"row_value": 1, "column_value": false, "cell": null}, {"row_value": 1, "cell": 10}]');
SELECT * FROM sanitize.audit_cells('[{"row_value": "a", "column_value": "x", "cell": null}]');
SELECT * FROM sanitize.audit_cells('[]');
-- Exact answers.
CREATE TABLE staff (name text PRIMARY KEY, ward text, sex text, salary int, bonus numeric, ill boolean, born date);
INSERT INTO staff VALUES ('Ann', 'A', 'F', 4100, 0.5, true, '1970-01-01'), ('Bea', 'A', 'F', 3900, 1, false, '1980-01-01'),
    ('Cid', 'A', 'M', 5200, 2, false, '1990-01-01'), ('Dan', 'B', 'M', 3000, NULL, false, '1985-01-01'), ('Eva', 'B', 'F', 6100, 0, true, '1975-01-01');
SELECT * FROM sanitize.audit_answers('staff', '{"unit": "name", "low": 0, "answers": [{"avg": "salary", "filter": {"ward": "A"}}, {"sum": "salary", "filter": {"ward": "A", "sex": "F"}}]}');
SELECT * FROM sanitize.audit_answers('staff', '{"unit": "name", "answers": [{"sum": "salary", "filter": {"born": {"<": "1982-06-01"}}}, {"sum": "salary"}]}');
SELECT * FROM sanitize.audit_answers('staff', '{"unit": "name", "low": 0, "high": 10, "answers": [{"sum": "bonus", "filter": {"sex": "F"}}]}');
SELECT * FROM sanitize.audit_answers('staff', '{"unit": "name", "answers": [{"count": {"ill": true}, "filter": {"ward": "A", "sex": "F"}}, {"count": {"ill": true}, "filter": {"sex": "M"}}]}');
SELECT * FROM sanitize.audit_answers('staff', '{"unit": "name", "answers": [{"sum": "ill", "filter": {"ward": ["B"]}}]}');
SELECT sanitize.declare_bounds('staff', 'salary', '1000', '6200');
SELECT * FROM sanitize.audit_answers('staff', '{"unit": "name", "answers": [{"sum": "salary", "filter": {"ward": "B"}}]}') WHERE low > 1000;
\x on
-- Bad input.
SELECT * FROM said($$SELECT * FROM sanitize.suppress_cells('stays', 'nothing', 'diagnosis')$$);
SELECT * FROM said($$SELECT * FROM sanitize.suppress_cells('stays', 'ward', 'ward')$$);
SELECT * FROM said($$SELECT * FROM sanitize.suppress_cells('stays', 'ward', 'diagnosis', group_column => 'ward')$$);
SELECT * FROM said($$SELECT * FROM sanitize.suppress_cells('stays', NULL, 'diagnosis')$$);
SELECT * FROM said($$SELECT * FROM sanitize.suppress_cells('stays', 'ward', 'diagnosis', 0)$$);
SELECT * FROM said($$SELECT * FROM sanitize.suppress_cells('stays', 'ward', 'diagnosis', NULL)$$);
SELECT * FROM said($$SELECT * FROM sanitize.suppress_cells('stays', 'ward', 'diagnosis', 5, -1)$$);
SET pg_sanitize.progress = 0;
CREATE VIEW wide AS SELECT a, b FROM generate_series(1, 1000) AS a, generate_series(1, 1000) AS b;
SELECT * FROM said($$SELECT * FROM sanitize.suppress_cells('wide', 'a', 'b')$$);
SELECT * FROM said($$SELECT * FROM sanitize.audit_cells(NULL)$$);
SELECT * FROM said($$SELECT * FROM sanitize.audit_cells('{"cell": 1}')$$);
SELECT * FROM said($$SELECT * FROM sanitize.audit_cells('[1]')$$);
SELECT * FROM said($$SELECT * FROM sanitize.audit_cells('[{"row_value": "a", "column_value": "x"}]')$$);
SELECT * FROM said($$SELECT * FROM sanitize.audit_cells('[{"row_value": "a", "column_value": "x", "cell": -1}]')$$);
SELECT * FROM said($$SELECT * FROM sanitize.audit_cells('[{"row_value": "a", "column_value": "x", "cell": 1.5}]')$$);
SELECT * FROM said($$SELECT * FROM sanitize.audit_cells('[{"row_value": ["a"], "column_value": "x", "cell": 1}]')$$);
SELECT * FROM said($$SELECT * FROM sanitize.audit_cells('[{"row_value": "a", "column_value": "x", "cell": 1}, {"row_value": "a", "column_value": "x", "cell": 1}]')$$);
SELECT * FROM said($$SELECT * FROM sanitize.audit_cells('[{"row_value": "a", "column_value": "x", "cell": 1}, {"row_value": "b", "column_value": "y", "cell": 1}]')$$);
SELECT * FROM said($$SELECT * FROM sanitize.audit_cells('[{"row_value": "a", "column_value": "x", "cell": 5}, {"row_value": "a", "cell": 4}]')$$);
SELECT * FROM said($$SELECT * FROM sanitize.audit_cells('[{"row_value": "a", "column_value": "x", "cell": 5, "group_value": "g"}, {"row_value": "b", "column_value": "x", "cell": 4}]')$$);
SELECT * FROM said($$SELECT * FROM sanitize.audit_answers('staff', NULL)$$);
SELECT * FROM said($$SELECT * FROM sanitize.audit_answers('staff', '[]')$$);
SELECT * FROM said($$SELECT * FROM sanitize.audit_answers('staff', '{"answers": [{"sum": "salary"}]}')$$);
SELECT * FROM said($$SELECT * FROM sanitize.audit_answers('staff', '{"unit": "nobody", "answers": [{"sum": "salary"}]}')$$);
SELECT * FROM said($$SELECT * FROM sanitize.audit_answers('staff', '{"unit": "name", "answers": []}')$$);
SELECT * FROM said($$SELECT * FROM sanitize.audit_answers('staff', '{"unit": "name", "answers": [{"sum": "ward"}]}')$$);
SELECT * FROM said($$SELECT * FROM sanitize.audit_answers('staff', '{"unit": "name", "answers": [{"max": "salary"}]}')$$);
SELECT * FROM said($$SELECT * FROM sanitize.audit_answers('staff', '{"unit": "name", "answers": [{"sum": "salary"}, {"sum": "bonus"}]}')$$);
SELECT * FROM said($$SELECT * FROM sanitize.audit_answers('staff', '{"unit": "name", "answers": [{"sum": "salary", "filter": {"salary": 3000}}]}')$$);
SELECT * FROM said($$SELECT * FROM sanitize.audit_answers('staff', '{"unit": "name", "answers": [{"count": {}}]}')$$);
SELECT * FROM said($$SELECT * FROM sanitize.audit_answers('staff', '{"unit": "name", "low": 4000, "answers": [{"sum": "salary"}]}')$$);
SELECT * FROM said($$SELECT * FROM sanitize.audit_answers('staff', '{"unit": "name", "low": 5, "high": 4, "answers": [{"sum": "salary"}]}')$$);
SELECT * FROM said($$SELECT * FROM sanitize.audit_answers('staff', '{"unit": "ward", "answers": [{"sum": "salary"}]}')$$);
SELECT * FROM said($$SELECT * FROM sanitize.audit_answers('staff', '{"unit": "name", "answers": [{"sum": "salary", "filter": {"ward": {"like": "A"}}}]}')$$);
SET client_min_messages = warning;
DROP SCHEMA cells_case CASCADE;
