-- A partitioned table in place: its rows, its keys, and what refers to them, over all partitions.
SET client_min_messages = warning;
CREATE TABLE patients (id int, born date NOT NULL, sex text, ward text, PRIMARY KEY (id, born)) PARTITION BY RANGE (born);
CREATE TABLE patients_old PARTITION OF patients FOR VALUES FROM (MINVALUE) TO ('1970-01-01');
-- Its columns have other numbers.
CREATE TABLE patients_new (ward text, gone int, sex text, born date NOT NULL, id int NOT NULL);
ALTER TABLE patients_new DROP gone;
ALTER TABLE patients ATTACH PARTITION patients_new FOR VALUES FROM ('1970-01-01') TO ('2000-01-01');
CREATE TABLE patients_late PARTITION OF patients DEFAULT PARTITION BY HASH (id);
CREATE TABLE patients_late_0 PARTITION OF patients_late FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE patients_late_1 PARTITION OF patients_late FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO patients SELECT i, DATE '1950-01-01' + 300 * (i % 80), CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END, 'W' || i % 3 FROM generate_series(1, 400) AS i;
CREATE TABLE visits (n int, patient int, born date, day int, FOREIGN KEY (patient, born) REFERENCES patients) PARTITION BY HASH (patient);
CREATE TABLE visits_0 PARTITION OF visits FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE visits_1 PARTITION OF visits FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO visits SELECT i, 1 + i % 400, DATE '1950-01-01' + 300 * ((1 + i % 400) % 80), i FROM generate_series(1, 900) AS i;
CREATE STATISTICS of_patients (mcv) ON sex, ward FROM patients;
ANALYZE patients, visits;
SELECT count(*) FROM pg_stats_ext WHERE tablename LIKE 'patients%' AND most_common_vals IS NOT NULL;
CREATE TEMP TABLE before AS SELECT p.*, v.n FROM patients AS p LEFT JOIN visits AS v ON v.patient = p.id AND v.born = p.born;
SELECT label -> 'rows' AS rows, label -> 'keys_replaced' AS keys, label -> 'left_alone' AS left_alone
  FROM sanitize.sanitize_in_place('patients', 'k_anonymize', '{"k": 5, "columns": ["sex", "ward"]}', confirm => 'patients') AS label;
SELECT count(*), count(DISTINCT id) AS ids FROM patients;
SELECT tableoid::regclass AS part, count(*) > 0 AS has_rows FROM patients GROUP BY 1 ORDER BY 1;
-- Every visit belongs to a row as it did, by another key.
SELECT count(*), count(DISTINCT v.n) FROM visits AS v JOIN patients AS p ON v.patient = p.id AND v.born = p.born JOIN before AS b ON b.n = v.n AND b.born = p.born AND b.id <> p.id;
SELECT count(*) FROM pg_stats WHERE tablename LIKE 'patients%' OR (tablename LIKE 'visits%' AND attname = 'patient');
SELECT count(*) FROM pg_stats_ext WHERE tablename LIKE 'patients%' AND most_common_vals IS NOT NULL;
-- Rows of nobody, and fewer of them: rows go from every partition, and keys stay different.
ALTER TABLE visits DROP CONSTRAINT visits_patient_born_fkey;
SELECT label -> 'rows' AS rows FROM sanitize.sanitize_in_place('patients', 'krimp_generate', '{"n": 150, "min_support": 20, "columns": ["sex", "ward"]}', confirm => 'patients') AS label;
SELECT count(*), count(DISTINCT id) AS ids FROM patients;
-- What stands in the way of a partition is told by its name.
CREATE FUNCTION regress_parts() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER own BEFORE INSERT ON patients_old FOR EACH ROW EXECUTE FUNCTION regress_parts();
SELECT sanitize.sanitize_in_place('patients', 'mii_suppress', '{"theta": 1, "columns": ["sex", "ward"]}', confirm => 'patients');
DROP TRIGGER own ON patients_old;
ALTER TABLE patients_late_0 ENABLE ROW LEVEL SECURITY;
SELECT sanitize.sanitize_in_place('patients', 'mii_suppress', '{"theta": 1, "columns": ["sex", "ward"]}', confirm => 'patients');
ALTER TABLE patients_late_0 DISABLE ROW LEVEL SECURITY;
CREATE TABLE of_old (id int, born date, FOREIGN KEY (id, born) REFERENCES patients_old);
SELECT sanitize.sanitize_in_place('patients', 'mii_suppress', '{"theta": 1, "columns": ["sex", "ward"]}', confirm => 'patients');
DROP TABLE of_old;
SELECT sanitize.protect('patients_new', 'id', 1, max_rows_per_unit => 1);
SELECT sanitize.sanitize_in_place('patients', 'mii_suppress', '{"theta": 1, "columns": ["sex", "ward"]}', confirm => 'patients');
SELECT sanitize.unprotect('patients_new');
SELECT sanitize.sanitize_in_place('patients_new', 'mii_suppress', '{"theta": 1, "columns": ["sex", "ward"]}', confirm => 'patients_new');
-- A released value that no partition takes undoes everything.
CREATE TABLE days (day int, ward text) PARTITION BY RANGE (day);
CREATE TABLE days_1 PARTITION OF days FOR VALUES FROM (0) TO (100);
INSERT INTO days SELECT i % 50, 'W' || i % 2 FROM generate_series(1, 200) AS i;
INSERT INTO days VALUES (77, 'W9');
SELECT sanitize.sanitize_in_place('days', 'mii_suppress', '{"theta": 3}', confirm => 'days');
SELECT count(*), count(*) FILTER (WHERE ward = 'W9') AS original FROM days;
DROP TABLE days, visits, patients;
DROP FUNCTION regress_parts();
