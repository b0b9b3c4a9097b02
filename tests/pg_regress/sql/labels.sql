-- Labels promise what is proved, and sums are of what adds up.
SET client_min_messages = warning;
-- Filling blanks makes other rows: nothing that was said of how they look is said any more.
SELECT of, l ->> 'kind' AS kind, l -> 'k' AS k, l -> 'metrics' AS metrics, l -> 'sensitive' AS sensitive, l -> 'paper_claim' AS claim, l -> 'epsilon' AS epsilon
  FROM (VALUES ('mii_suppress', '{"theta": 4}'::jsonb), ('k_mii', '{"k": 5}'), ('hide_itemsets', '{"itemsets": [{"sex": "f"}], "min_support": 3}'),
               ('k_anonymize', '{"k": 5, "sensitive": "ward", "l": 3, "t": 0.2}'), ('dp_mii_sample', '{"epsilon": 1, "delta": 1e-6, "k": 20}')) AS m(of, options)
 CROSS JOIN LATERAL sanitize.guarantee('impute', jsonb_build_object('of', of, 'of_options', options)) AS l;
SELECT unnest(ARRAY(SELECT jsonb_array_elements_text(sanitize.guarantee('impute', '{"of": "k_anonymize", "of_options": {"k": 5, "sensitive": "ward", "l": 3}}') -> 'not_covered'))) AS not_covered;
-- k counts rows, and the sentence says so; where the source is protected, it counts people.
SELECT sanitize.guarantee(m, '{"k": 5}') ->> 'sentence' ~ 'Rows are counted, not people' AS counted
  FROM unnest('{k_mii,k_anonymize}'::text[]) AS m;
SELECT sanitize.guarantee('k_mii', '{"k": 5, "keep": ["id"]}') ->> 'sentence' ~ 'Rows are counted, not people' AS counted;
SELECT sanitize.guarantee('k_anonymize', '{"k": 5, "sensitive": "ward", "l": 3}') ->> 'sentence' ~ 'Rows are counted, not people' AS counted;
CREATE TABLE stays (id int NOT NULL, ward text NOT NULL CHECK (ward IN ('A', 'B')), sex text NOT NULL CHECK (sex IN ('f', 'm')));
INSERT INTO stays SELECT i, chr(65 + i % 2), CASE i % 4 WHEN 0 THEN 'f' ELSE 'm' END FROM generate_series(1, 200) AS i;
CREATE TABLE patients (LIKE stays INCLUDING ALL, PRIMARY KEY (id));
INSERT INTO patients SELECT * FROM stays;
SELECT sanitize.protect('stays', 'id', 1000, 0.5, max_rows_per_unit => 1), sanitize.protect('patients', 'id', 1000, 0.5);
SELECT l ->> 'kind' AS kind, l ->> 'sentence' ~ 'Rows are counted, not people' AS rows, l ->> 'sentence' ~ 'People are counted, not rows' AS people
  FROM (VALUES (sanitize.publish('stays_k', 'stays', 'k_mii', '{"k": 5, "columns": ["ward", "sex"]}')),
               (sanitize.publish('patients_k', 'patients', 'k_mii', '{"k": 5, "columns": ["ward", "sex"]}'))) AS made(l);
-- A row that 39 others name as their boss is alone, whatever it looks like.
CREATE TABLE staff (id int PRIMARY KEY, boss int REFERENCES staff, grade text);
INSERT INTO staff SELECT i, CASE WHEN i > 1 THEN 1 END, 'x' FROM generate_series(1, 40) AS i;
SELECT l ->> 'kind' AS kind, l -> 'k' AS k, l -> 'proved' AS proved, l ->> 'sentence' ~ 'rows linked by keys: values of id, boss' AS says_so,
       l ->> 'sentence' ~ 'old row versions' AS sentence_has_all
  FROM sanitize.sanitize_in_place('staff', 'k_mii', '{"k": 5}', confirm => 'staff') AS l;
SELECT count(*) AS named_by_39 FROM staff AS s WHERE (SELECT count(*) FROM staff AS o WHERE o.boss = s.id) = 39;
-- So are rows that share a part of their key; a key that is alone links nothing.
CREATE TABLE parts (whole int, part int, grade text, PRIMARY KEY (whole, part));
INSERT INTO parts SELECT i / 10, i % 10, 'x' FROM generate_series(0, 42) AS i;
CREATE TABLE alone (id int PRIMARY KEY, grade text);
INSERT INTO alone SELECT i, 'x' FROM generate_series(1, 40) AS i;
SELECT l ->> 'kind' AS kind, l -> 'proved' ->> 'covers' AS covers FROM sanitize.sanitize_in_place('parts', 'k_mii', '{"k": 5}', confirm => 'parts') AS l;
SELECT l ->> 'kind' AS kind, l -> 'proved' ->> 'covers' AS covers FROM sanitize.sanitize_in_place('alone', 'k_mii', '{"k": 5}', confirm => 'alone') AS l;
-- An index that could not be made is no key: its column takes part, and the one row of 2 is dropped.
CREATE TABLE doubled (id int NOT NULL, grade text);
INSERT INTO doubled SELECT CASE WHEN i < 40 THEN 1 ELSE 2 END, 'x' FROM generate_series(1, 40) AS i;
\set VERBOSITY terse
CREATE UNIQUE INDEX CONCURRENTLY doubled_id ON doubled (id);
\set VERBOSITY default
SELECT l ->> 'kind' AS kind, l -> 'rows' AS rows, l -> 'keys_replaced' AS keys FROM sanitize.sanitize_in_place('doubled', 'k_mii', '{"k": 5}', confirm => 'doubled') AS l;
DROP INDEX doubled_id;
-- Nor is one that compares in its own way.
CREATE FUNCTION never_equal(a int, b int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT CASE WHEN a < b THEN -1 ELSE 1 END';
CREATE OPERATOR CLASS never_equal_ops FOR TYPE int USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 never_equal(int, int);
CREATE UNIQUE INDEX doubled_id ON doubled (id never_equal_ops);
SELECT l ->> 'kind' AS kind, l -> 'proved' ->> 'covers' AS covers FROM sanitize.sanitize_in_place('doubled', 'k_mii', '{"k": 5}', confirm => 'doubled') AS l;
-- New keys are none of the old ones: whoever sees them knows of keys that were not there. What is private is private without them.
CREATE TABLE few (id smallint PRIMARY KEY, ward text NOT NULL CHECK (ward IN ('A', 'B')));
INSERT INTO few SELECT i, chr(65 + i % 2) FROM generate_series(1, 200) AS i;
CREATE TABLE others (LIKE few INCLUDING ALL); INSERT INTO others SELECT * FROM few;
SELECT l ->> 'kind' AS kind, l -> 'epsilon' AS epsilon, l -> 'proved' AS proved, l ->> 'sentence' ~ 'keys: new values of id are none of the old ones' AS says_so
  FROM (VALUES (sanitize.sanitize_in_place('few', 'dp_synthesize', '{"epsilon": 1, "columns": ["ward"]}', confirm => 'few')),
               (sanitize.sanitize_in_place('others', 'randomize_cells', '{"epsilon": 1, "columns": ["ward"]}', confirm => 'others'))) AS made(l);
-- Epsilons of one relation add up, with their deltas. Every step has a source of its own.
CREATE VIEW totals AS SELECT target, method, epsilon_total, delta_total FROM sanitize.releases WHERE source <> 'stays'::regclass ORDER BY published_at;
CREATE TABLE a (LIKE stays INCLUDING ALL); INSERT INTO a SELECT * FROM stays;
CREATE TABLE b (LIKE stays INCLUDING ALL); INSERT INTO b SELECT * FROM stays;
CREATE TABLE c (LIKE stays INCLUDING ALL); INSERT INTO c SELECT * FROM stays;
CREATE TABLE d (LIKE stays INCLUDING ALL); INSERT INTO d SELECT * FROM stays;
SELECT sanitize.retire('patients_k'), sanitize.retire('stays_k');
SELECT 1 FROM sanitize.publish('a1', 'a', 'dp_synthesize', '{"epsilon": 1, "columns": ["ward", "sex"]}');
SELECT 1 FROM sanitize.publish('a2', 'a', 'dp_itemsets', '{"epsilon": 0.5, "theta": 5, "columns": ["ward"], "neighbours": "add_remove"}');
SELECT 1 FROM sanitize.publish('b1', 'b', 'randomize_cells', '{"epsilon": 1, "columns": ["ward"]}');
SELECT 1 FROM sanitize.publish('b2', 'b', 'dp_itemsets', '{"epsilon": 0.5, "theta": 5, "columns": ["ward"]}');
SELECT 1 FROM sanitize.publish('c1', 'c', 'dp_synthesize', '{"epsilon": 1, "columns": ["ward", "sex"]}');
SELECT 1 FROM sanitize.publish('d1', 'd', 'dp_synthesize', '{"epsilon": 1, "columns": ["ward", "sex"]}');
SELECT * FROM totals;
-- Another relation: rows that are added, and rows that change. A seed, which protects nobody. A unit that came later.
SELECT 1 FROM sanitize.publish('a3', 'a', 'randomize_cells', '{"epsilon": 1, "columns": ["ward"]}');
SELECT 1 FROM sanitize.publish('c2', 'c', 'dp_synthesize', '{"epsilon": 1, "seed": 1, "columns": ["ward", "sex"]}');
SELECT sanitize.protect('d', 'id', 10, 0.1, max_rows_per_unit => 2);
SELECT 1 FROM sanitize.publish('d2', 'd', 'dp_synthesize', '{"epsilon": 1, "columns": ["ward", "sex"]}');
SELECT * FROM totals;
-- People told apart by another column are other people; those of one column add up.
CREATE TABLE e (person int NOT NULL, doctor int NOT NULL, sex text NOT NULL CHECK (sex IN ('f', 'm')));
INSERT INTO e SELECT i, i / 2, CASE i % 4 WHEN 0 THEN 'f' ELSE 'm' END FROM generate_series(1, 200) AS i;
SELECT sanitize.protect('e', 'person', 10, 0.1, max_rows_per_unit => 2);
SELECT 1 FROM sanitize.publish('e1', 'e', 'dp_synthesize', '{"epsilon": 1, "columns": ["sex"]}');
SELECT 1 FROM sanitize.refresh('e1');
SELECT * FROM totals WHERE target::text = 'e1';
SELECT sanitize.protect('e', 'doctor', 10, 0.1, max_rows_per_unit => 2);
SELECT 1 FROM sanitize.publish('e2', 'e', 'dp_synthesize', '{"epsilon": 1, "columns": ["sex"]}');
SELECT * FROM totals WHERE target::text IN ('e1', 'e2');
SELECT unit, unit_column FROM sanitize.release_entry WHERE target LIKE 'public.e_' ORDER BY id;
-- What is gone still counts, and an entry that does not say whom it is about adds up with nothing.
SELECT sanitize.retire('c2');
UPDATE sanitize.release_entry SET neighbours = NULL WHERE target = 'public.b1';
SELECT * FROM totals WHERE target::text IN ('b1', 'b2', 'c1');
-- Other cases count all charges.
DELETE FROM sanitize.ledger_entry WHERE source IN ('d'::regclass, 'e'::regclass);
SELECT sanitize.unprotect(s) FROM unnest('{stays,patients,d,e}'::regclass[]) AS s;
DROP VIEW totals;
DROP TABLE a, b, c, d, e, a1, a2, a3, b1, b2, c1, d1, d2, e1, e2, doubled, few, others, staff, parts, alone, stays, patients;
DROP OPERATOR FAMILY never_equal_ops USING btree;
DROP FUNCTION never_equal;
