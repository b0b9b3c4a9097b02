-- People, not rows: the argument unit.
SET client_min_messages = warning;
CREATE TABLE patients (id int PRIMARY KEY, born int);
INSERT INTO patients SELECT i, 1950 + i FROM generate_series(1, 8) AS i;
CREATE TABLE stays (id int PRIMARY KEY, patient int REFERENCES patients, ward text);
INSERT INTO stays SELECT i, nullif(i % 8, 0), chr(65 + i % 2) FROM generate_series(1, 24) AS i;
CREATE TABLE notes (stay int REFERENCES stays, sex text, age int, drug text, patient int);
-- Patient 1 has five of the six rows of young women.
INSERT INTO notes SELECT s, sex, age, drug, (SELECT patient FROM stays WHERE id = s)
  FROM (VALUES (1, 'f', 20, 'x'), (1, 'f', 20, 'x'), (9, 'f', 20, 'y'), (9, 'f', 20, 'y'), (17, 'f', 20, 'z'), (2, 'f', 20, 'x'),
               (3, 'm', 30, 'x'), (4, 'm', 30, 'y'), (5, 'm', 30, 'y'), (8, 'm', 30, 'z'), (NULL, 'm', 30, 'z')) AS n(s, sex, age, drug);
SELECT sanitize.k_anonymity('notes', '{sex,age}') AS rows, sanitize.k_anonymity('notes', '{sex,age}', unit => 'patient') AS people,
       sanitize.k_anonymity('notes', '{sex,age}', unit => 'stay') AS stays, sanitize.k_anonymity('notes', '{sex,age}', unit => 'stay.patient') AS by_path,
       sanitize.k_anonymity('notes', '{sex,age}', unit => 'Stay . "patient" . born') AS by_two;
SELECT * FROM sanitize.class_risk('notes', columns => '{sex,age}', unit => 'patient');
SELECT * FROM sanitize.class_risk('notes', 'drug', '{sex,age}', unit => 'patient');
SELECT * FROM sanitize.class_risk('notes', 'drug', '{sex,age}');
SELECT sanitize.l_diversity('notes', 'drug', '{sex,age}') AS rows, sanitize.l_diversity('notes', 'drug', '{sex,age}', unit => 'patient') AS people;
SELECT * FROM sanitize.frequent_itemsets('notes', 3, '{sex,age}', unit => 'patient');
SELECT * FROM sanitize.frequent_itemsets('notes', 3, '{sex,age}');
SELECT * FROM sanitize.mine_miis('notes', 2, '{sex,age}', unit => 'patient');
SELECT * FROM sanitize.mine_miis('notes', 2, '{sex,age}');
SELECT * FROM sanitize.mii_risk('notes', 2, '{sex,age}', unit => 'patient');
SELECT * FROM sanitize.suppress_cells('notes', 'sex', 'drug', 3, unit => 'patient');
SELECT * FROM sanitize.k_anonymize(NULL::notes, 3, '{sex,age}', unit => 'patient') ORDER BY 2;
SELECT * FROM sanitize.k_anonymize(NULL::notes, 3, '{sex,age}') ORDER BY 2;
SELECT * FROM sanitize.k_mii(NULL::notes, 3, '{sex,age}', unit => 'patient') ORDER BY 2;
SELECT * FROM sanitize.mii_suppress(NULL::notes, 2, '{sex,age}', unit => 'patient') ORDER BY 2;
-- The unit comes back only if it is kept.
SELECT count(patient) AS patients, count(sex) AS sexes FROM sanitize.hide_itemsets(NULL::notes, '[{"sex": "f"}]', 2, unit => 'patient');
SELECT count(patient) AS patients, count(sex) AS sexes FROM sanitize.hide_itemsets(NULL::notes, '[{"sex": "f"}]', 2, keep => '{patient}', unit => 'patient');
SELECT count(patient) AS patients, count(sex) AS sexes FROM sanitize.hide_itemsets(NULL::notes, '[{"sex": "f"}]', 2);
-- The rule: NULL is the unit of the protection, '' is rows.
SELECT sanitize.protect('notes', 'patient', 1, max_rows_per_unit => 5);
SELECT sanitize.k_anonymity('notes', '{sex,age}') AS people, sanitize.k_anonymity('notes', '{sex,age}', unit => '') AS rows;
SELECT l -> 'unit' AS unit, l -> 'unit_column' AS unit_column, l ->> 'sentence' AS sentence
  FROM (VALUES (sanitize.guarantee('k_anonymize', '{"k": 3, "source": "notes"}')), (sanitize.guarantee('k_anonymize', '{"k": 3, "source": "notes", "unit": ""}')),
               (sanitize.guarantee('k_mii', '{"k": 3, "unit": "stay.patient", "keep": ["stay"]}')), (sanitize.guarantee('mii_suppress', '{"theta": 2, "unit": "patient"}'))) AS made(l);
SELECT l -> 'unit' AS unit, l -> 'unit_column' AS unit_column, l -> 'rows' AS rows, l -> 'suppressed_share' AS suppressed
  FROM sanitize.publish('notes_k', 'notes', 'k_anonymize', '{"k": 3, "keep": ["drug"]}') AS l;
SELECT r #>> '{releases,0,verdict,0,sentence}' AS verdict, r #> '{releases,0,people}' AS people FROM sanitize.privacy_report('notes', 'notes_k') AS r;
SELECT sanitize.unprotect('notes');
SELECT l -> 'unit' AS unit FROM sanitize.refresh('notes_k') AS l;
-- What it refuses.
\set VERBOSITY default
SELECT sanitize.k_anonymity('notes', unit => 'nobody');
SELECT sanitize.k_anonymity('notes', '{sex,patient}', unit => 'patient');
SELECT sanitize.k_anonymity('notes', unit => 'stay.');
SELECT sanitize.k_anonymity('notes', unit => 'stay.nobody');
SELECT sanitize.k_anonymity('notes', unit => 'age.id');
SELECT sanitize.k_anonymity('notes', unit => 'a.b.c.d.e.f.g.h.i');
SELECT sanitize.k_anonymity((SELECT sanitize.row_bag(n) FROM notes AS n), unit => 'nobody');
SELECT sanitize.l_diversity('notes', 'patient', '{sex}', unit => 'patient');
SELECT * FROM sanitize.mine_miis('notes', 6, unit => 'patient');
SELECT * FROM sanitize.k_anonymize(NULL::notes, 6, '{sex}', unit => 'patient');
CREATE TABLE odd AS SELECT sex, patient::numeric AS patient FROM notes;
SELECT sanitize.k_anonymity('odd', unit => 'patient');
SELECT sanitize.retire('notes_k');
DROP TABLE odd, notes, stays, patients;
