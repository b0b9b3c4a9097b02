-- Invented hospital stays: 20,000 of about 11,000 patients. Nothing is drawn by chance: every value
-- comes from a hash of the row's number, so that everybody sees the same table.
\echo
\echo '=== A table about people: 20,000 hospital stays ==='

CREATE EXTENSION pg_sanitize;

-- A number in [0, 1) that depends on a row and on what is asked about it.
CREATE FUNCTION draw(id bigint, subject text) RETURNS float8
    IMMUTABLE PARALLEL SAFE LANGUAGE sql
    RETURN (hashint8extended(id, hashtextextended(subject, 0)) & 1048575) / 1048576.0;

-- A rank from 0 on, each by the same factor rarer than the one before; half have at most 0.7 * scale.
CREATE FUNCTION rank(u float8, scale float8) RETURNS int
    IMMUTABLE PARALLEL SAFE LANGUAGE sql RETURN floor(-ln(1 - u) * scale);

CREATE FUNCTION pick(u float8, scale float8, choices text[]) RETURNS text
    IMMUTABLE PARALLEL SAFE LANGUAGE sql RETURN choices[1 + rank(u, scale) % cardinality(choices)];

-- What belongs to a person.
CREATE TABLE patients AS
SELECT id AS patient_id,
       CASE WHEN draw(id, 'sex') < 0.53 THEN 'F' ELSE 'M' END AS sex,
       birth_year,
       -- Most live near the hospital, few far away.
       (1010 + 10 * (rank(draw(id, 'home'), 11) % 60))::text AS postcode,
       CASE
           WHEN birth_year > 2018 THEN 'none'
           WHEN birth_year > 2005 THEN 'pupil'
           WHEN birth_year > 1999 AND draw(id, 'study') < 0.5 THEN 'student'
           WHEN birth_year < 1958 THEN 'retired'
           ELSE pick(draw(id, 'profession'), 4.5, ARRAY[
               'clerk', 'salesperson', 'teacher', 'nurse', 'builder', 'driver', 'programmer', 'cook',
               'cleaner', 'electrician', 'farmer', 'engineer', 'accountant', 'police officer', 'physician',
               'hairdresser', 'lawyer', 'baker', 'journalist', 'architect', 'musician', 'pilot', 'judge',
               'beekeeper', 'bishop', 'mayor', 'clockmaker', 'lighthouse keeper'])
       END AS profession,
       pick(draw(id, 'insurance'), 0.5, ARRAY['public', 'private', 'self-paid', 'abroad']) AS insurance
FROM (SELECT id, 2024 - floor(96 * power(draw(id, 'age'), 0.7))::int AS birth_year
      FROM generate_series(1, 16000) AS id) AS born;

-- What belongs to a stay. A diagnosis depends on age and sex, the ward on the diagnosis.
CREATE TABLE stays AS
SELECT stay_id, p.patient_id, sex, birth_year, postcode, profession, insurance,
       date '2024-01-01' + floor(366 * draw(stay_id, 'admission'))::int AS admission,
       CASE
           WHEN diagnosis = 'O80 delivery' THEN 'obstetrics'
           WHEN birth_year > 2006 THEN 'paediatrics'
           WHEN left(diagnosis, 1) IN ('S', 'M', 'K') THEN 'surgery'
           WHEN left(diagnosis, 1) = 'C' THEN 'oncology'
           WHEN left(diagnosis, 1) = 'F' THEN 'psychiatry'
           WHEN left(diagnosis, 1) = 'I' THEN 'cardiology'
           ELSE 'internal medicine'
       END AS ward,
       diagnosis,
       1 + floor(30 * power(draw(stay_id, 'days'), CASE WHEN left(diagnosis, 1) IN ('C', 'F') THEN 2 ELSE 5 END))::int
           AS los_days
FROM generate_series(1, 20000) AS stay_id
JOIN patients AS p ON p.patient_id = 1 + floor(16000 * draw(stay_id, 'patient'))::int
CROSS JOIN LATERAL (SELECT CASE
    WHEN sex = 'F' AND birth_year BETWEEN 1981 AND 2004 AND draw(stay_id, 'birth') < 0.4 THEN 'O80 delivery'
    WHEN birth_year > 2008 THEN pick(draw(stay_id, 'diagnosis'), 3, ARRAY[
        'J18 pneumonia', 'J45 asthma', 'S52 forearm fracture', 'A09 gastroenteritis', 'K35 appendicitis',
        'E10 diabetes type 1', 'G40 epilepsy', 'C91 leukaemia', 'E84 cystic fibrosis'])
    WHEN birth_year > 1965 THEN pick(draw(stay_id, 'diagnosis'), 3, ARRAY[
        'K35 appendicitis', 'S82 leg fracture', 'M51 slipped disc', 'F32 depression', 'J18 pneumonia',
        'K80 gallstones', 'I10 hypertension', 'F10 alcohol dependence', 'E10 diabetes type 1',
        CASE sex WHEN 'F' THEN 'C50 breast cancer' ELSE 'C62 testicular cancer' END,
        'G35 multiple sclerosis', 'B20 HIV disease', 'F20 schizophrenia', 'G10 Huntington disease'])
    ELSE pick(draw(stay_id, 'diagnosis'), 3, ARRAY[
        'I50 heart failure', 'I21 heart attack', 'J18 pneumonia', 'I63 stroke', 'S72 hip fracture', 'M16 worn hip',
        'E11 diabetes type 2', 'J44 COPD', 'C34 lung cancer', CASE sex WHEN 'F' THEN 'C50 breast cancer' ELSE 'C61 prostate cancer' END,
        'G30 Alzheimer disease', 'K80 gallstones', 'A15 tuberculosis', 'B20 HIV disease'])
    END AS diagnosis) AS d;

ALTER TABLE stays ADD PRIMARY KEY (stay_id);
ANALYZE stays;

SELECT * FROM stays ORDER BY stay_id LIMIT 6;
