-- A sensitive column comes back as it is: what names a person by itself is refused, unless it is kept on purpose.
SET client_min_messages = warning;
CREATE TABLE stays (id int PRIMARY KEY, ssn text UNIQUE, ward text, diagnosis text, salary numeric, chart jsonb, note json);
INSERT INTO stays SELECT i, CASE WHEN i > 10 THEN 'S-' || i END, 'W' || i % 3, 'D' || i % 5, CASE WHEN i > 195 THEN 1000 ELSE 2000 + i END, '{}', '{}' FROM generate_series(1, 200) AS i;
SELECT count(*) FROM sanitize.k_anonymize(NULL::stays, 5, columns => '{ward}', sensitive => 'id', l => 2);
SELECT count(*) FROM sanitize.k_anonymize(NULL::stays, 5, columns => '{ward}', sensitive => 'ssn', l => 2);
SELECT count(*) FROM sanitize.k_anonymize(NULL::stays, 5, columns => '{ward}', sensitive => 'salary', t => 0.5);
SELECT count(*) FROM sanitize.k_anonymize(NULL::stays, 5, columns => '{ward}', sensitive => 'chart', l => 2);
SELECT count(*) FROM sanitize.k_anonymize(NULL::stays, 5, columns => '{ward}', sensitive => 'note', l => 2);
ALTER TABLE stays ADD charts jsonb[] DEFAULT '{}', ADD page xml DEFAULT '<a/>', ADD pair int;
UPDATE stays SET pair = id / 2;
SELECT count(*) FROM sanitize.k_anonymize(NULL::stays, 5, columns => '{ward}', sensitive => 'charts', l => 2);
SELECT count(*) FROM sanitize.k_anonymize(NULL::stays, 5, columns => '{ward}', sensitive => 'page', l => 2);
SELECT count(*) FROM sanitize.k_anonymize(NULL::stays, 5, columns => '{ward}', sensitive => 'pair', l => 2);
SELECT count(*), count(diagnosis) FROM sanitize.k_anonymize(NULL::stays, 5, columns => '{ward}', sensitive => 'diagnosis', l => 2);
SELECT count(*), count(salary) FROM sanitize.k_anonymize(NULL::stays, 5, columns => '{ward}', keep => '{salary}', sensitive => 'salary', l => 2);
SELECT sanitize.publish('shown', 'stays', 'k_anonymize', '{"k": 5, "columns": ["ward"], "sensitive": "ssn", "l": 2}');
DROP TABLE stays;
