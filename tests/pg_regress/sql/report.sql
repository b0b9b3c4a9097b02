-- The privacy report, as JSON and as a page.
CREATE TABLE reported (ward text, age int, drug text);
INSERT INTO reported SELECT 'ward ' || i % 3, 20 + i % 40, CASE WHEN i % 17 = 0 THEN '<script>alert(1)</script>' ELSE 'none' END FROM generate_series(1, 200) AS i;
INSERT INTO reported VALUES ('"><img src=x onerror=alert(1)>', 99, '</style><b>');
CREATE TABLE reported_k AS SELECT * FROM sanitize.k_anonymize(NULL::reported, 5);
CREATE TABLE reported_half AS SELECT * FROM reported WHERE age < 40;
CREATE TABLE reports AS SELECT sanitize.privacy_report('reported', 'reported_k', '{"method": "k_anonymize", "options": {"k": 5}}') AS r;
SELECT key FROM reports, jsonb_object_keys(r) AS key ORDER BY key;
SELECT key FROM reports, jsonb_object_keys(r #> '{releases,0}') AS key ORDER BY key;
-- The label is that of the method, and the numbers are those of the functions.
SELECT r #> '{releases,0,guarantee}' = sanitize.guarantee('k_anonymize', '{"k": 5}') AS label,
       (r #> '{releases,0,classes,smallest}')::bigint = sanitize.k_anonymity('reported_k') AS k,
       (r #> '{releases,0,anonymity_score}')::float8 = (SELECT normalised FROM sanitize.anonymity_score('reported', 'reported_k')) AS score,
       (r #> '{releases,0,itemsets,common}')::bigint = (SELECT common FROM sanitize.compare_itemsets('reported', 'reported_k', 0.1)) AS itemsets,
       (r #> '{releases,0,utility}') = (SELECT jsonb_object_agg(measure, value) FROM sanitize.utility('reported', 'reported_k')) AS utility,
       (SELECT bool_and((x -> 'rows')::bigint = cells) FROM jsonb_array_elements(r #> '{original,risk}') AS x
          JOIN sanitize.mii_risk('reported', 4, max_length => 3) AS m ON column_name = x ->> 'column' WHERE m.value IS NULL) AS risk,
       (SELECT bool_and((x -> 'released_nulls')::float8 = share) FROM jsonb_array_elements(r #> '{releases,0,columns}') AS x
          JOIN sanitize.suppression('reported_k') ON column_name = x ->> 'column') AS suppression
  FROM reports;
SELECT (SELECT jsonb_agg(c -> 'loss') FROM jsonb_array_elements(r #> '{releases,0,columns}') AS c)
       = (SELECT jsonb_agg(loss) FROM sanitize.information_loss('reported', 'reported_k') WHERE column_name IS NOT NULL) AS loss,
       (r #> '{original,unicity,1,share}')::float8 = (SELECT share FROM sanitize.unicity('reported', 2)) AS before,
       (r #> '{releases,0,unicity,1,share}')::float8 = (SELECT share FROM sanitize.unicity('reported_k', 2)) AS after
  FROM sanitize.privacy_report('reported', 'reported_k') AS r;
SELECT x ->> 'about' AS about, x ->> 'tone' AS tone, x ->> 'sentence' AS sentence FROM reports, jsonb_array_elements(r #> '{releases,0,verdict}') AS x;
-- Without a method no guarantee is stated; a label that the table does not keep is told.
SELECT x ->> 'tone' AS tone, x ->> 'sentence' AS sentence FROM jsonb_array_elements(sanitize.privacy_report('reported', 'reported_half') #> '{releases,0,verdict}') AS x;
SELECT x ->> 'tone' AS tone, x ->> 'sentence' AS sentence FROM jsonb_array_elements(sanitize.privacy_report('reported', 'reported_half', '{"method": "k_mii", "options": {"k": 5}}') #> '{releases,0,verdict}') AS x LIMIT 1;
-- Two candidates side by side; columns, title and min_share.
SELECT r ->> 'title' AS title, r -> 'columns' AS columns, r #> '{releases,0,itemsets,min_share}' AS min_share, jsonb_path_query_array(r, '$.releases[*].name') AS names, jsonb_path_query_array(r, '$.releases[*].method') AS methods
  FROM sanitize.privacy_report('reported', 'reported_k', '{"compare": "reported_half", "compare_method": "mii_suppress", "compare_options": {"theta": 3}, "title": "Two & more", "min_share": 0.3, "columns": ["drug", "ward"]}') AS r;
-- The page: one document, values are text, nothing is loaded, nothing runs.
SELECT page LIKE '<!DOCTYPE html>%<html lang="en">%</html>' AS document, page ~ '<script|<img|onerror=[^a]|<b>' AS hostile, page LIKE '%&lt;script&gt;alert(1)&lt;/script&gt;%' AS escaped,
       page ~ 'https?://|<[^>]*(src|href)="[^#]|url\(' AS loads, page ~ '^[ -~\n]*$' AS ascii, length(page) < 500000 AS small
  FROM sanitize.privacy_report_html('reported', 'reported_k') AS page;
-- Tables without rows.
CREATE TABLE reported_empty (LIKE reported);
SELECT x ->> 'sentence' AS sentence FROM jsonb_array_elements(sanitize.privacy_report('reported', 'reported_empty') #> '{releases,0,verdict}') AS x;
SELECT length(sanitize.privacy_report_html('reported_empty', 'reported')) > 1000 AS drawn;
-- A budget is shown to those who may see it.
SELECT sanitize.protect('reported_half', 'ward', 2, max_rows_per_unit => 1);
SELECT sanitize.charge('reported_half', 'a test', 0.5);
SELECT sanitize.privacy_report('reported_half', 'reported_k') -> 'budget' AS budget;
SELECT sanitize.unprotect('reported_half');
-- Bad input.
SELECT sanitize.privacy_report('reported', 'reported_k', '{"methods": "k_anonymize"}');
SELECT sanitize.privacy_report('reported', 'reported_k', '[]');
SELECT sanitize.privacy_report('reported', 'reported_k', NULL);
SELECT sanitize.privacy_report('reported', 'reported_k', '{"method": "magic"}');
SELECT sanitize.privacy_report('reported', 'reported_k', '{"method": "k_anonymize", "options": {"q": 5}}');
SELECT sanitize.privacy_report('reported', 'reported_k', '{"method": "k_anonymize"}');
SELECT sanitize.privacy_report('reported', 'reported_k', '{"options": {"k": 5}}');
SELECT sanitize.privacy_report('reported', 'reported_k', '{"compare_method": "k_mii"}');
SELECT sanitize.privacy_report('reported', 'reported_k', '{"compare": "no_such; DROP TABLE reported"}');
SELECT sanitize.privacy_report('reported', 'reported_k', '{"compare": 7}');
SELECT sanitize.privacy_report('reported', 'reported_k', '{"min_share": 0}');
SELECT sanitize.privacy_report('reported', 'reported_k', '{"columns": ["wards"]}');
SELECT sanitize.privacy_report('reported', 'reported_k', '{"columns": "ward"}');
SELECT sanitize.privacy_report('reported', 'reported_k', jsonb_build_object('title', repeat('x', 201)));
SELECT sanitize.privacy_report_html('reported', NULL);
-- The caller's rights: both tables are read as the caller, the second candidate as well.
CREATE ROLE regress_report_reader;
GRANT SELECT ON reported_k TO regress_report_reader;
SET ROLE regress_report_reader;
SELECT sanitize.privacy_report('reported', 'reported_k');
SELECT sanitize.privacy_report('reported_k', 'reported');
SELECT sanitize.privacy_report('reported_k', 'reported_k', '{"compare": "reported"}');
SELECT length(sanitize.privacy_report_html('reported_k', 'reported_k')) > 1000 AS drawn;
RESET ROLE;
-- Somebody who may ask a protected table cannot read it, and has no report.
SELECT sanitize.protect('reported', 'ward', 2, max_rows_per_unit => 1);
SELECT sanitize.allow('reported', 'regress_report_reader');
SET ROLE regress_report_reader;
SELECT sanitize.privacy_report('reported', 'reported_k');
RESET ROLE;
-- Row security applies.
SELECT sanitize.unprotect('reported');
ALTER TABLE reported ENABLE ROW LEVEL SECURITY;
CREATE POLICY reported_some ON reported TO regress_report_reader USING (ward = 'ward 1');
GRANT SELECT ON reported TO regress_report_reader;
SET ROLE regress_report_reader;
SELECT sanitize.privacy_report('reported', 'reported_k') #> '{original,rows}' AS rows;
RESET ROLE;
-- A release that was published has its own label, unless another is given.
SELECT sanitize.publish('reported_public', 'reported', 'k_anonymize', '{"k": 7}') -> 'k' AS k;
SELECT r #> '{releases,0,guarantee,k}' AS k, r #>> '{releases,0,method}' AS method, r #>> '{releases,1,method}' AS second
  FROM sanitize.privacy_report('reported', 'reported_public', '{"compare": "reported_k"}') AS r;
SELECT sanitize.privacy_report('reported', 'reported_public', '{"method": "k_mii", "options": {"k": 3}}') #> '{releases,0,guarantee,k}' AS k;
DROP TABLE reported_public, reported, reported_k, reported_half, reported_empty, reports;
DROP ROLE regress_report_reader;
