-- A copy to give away: nobody in it stands out.
\pset linestyle unicode
\echo
\echo '=== Release a copy: k-anonymity by hiding what singles people out ==='
\echo 'What takes part is hidden where it has to be, what is kept stays, all else comes back empty.'
\timing on
CREATE TABLE released AS
SELECT * FROM sanitize.k_mii(NULL::stays, k => 5,
    columns => '{sex,postcode,profession,insurance,ward}', keep => '{diagnosis,los_days}');
\timing off
SELECT sex, postcode, profession, insurance, ward, diagnosis, los_days, patient_id
FROM released ORDER BY profession NULLS FIRST, postcode, sex, ward, diagnosis, los_days LIMIT 6;

\echo
\echo '=== The smallest group of rows that look alike, before and after ==='
\timing on
SELECT sanitize.k_anonymity('stays', '{sex,postcode,profession,insurance,ward}') AS before,
       sanitize.k_anonymity('released', '{sex,postcode,profession,insurance,ward}') AS after;
\timing off

\echo
\echo '=== What it cost ==='
\timing on
SELECT column_name, cells, suppressed, round((100 * share)::numeric, 1) AS percent
FROM sanitize.suppression('released', '{sex,postcode,profession,insurance,ward}');
\timing off

\echo
\echo '=== People instead of rows, at a lower price: k_anonymize hides as few cells as it can ==='
\echo 'A patient has several stays. With unit => patient_id every row looks like those of four other patients.'
\timing on
CREATE TABLE shared AS
SELECT * FROM sanitize.k_anonymize(NULL::stays, k => 5,
    columns => '{sex,postcode,profession,insurance,ward}', keep => '{diagnosis,los_days}',
    unit => 'patient_id');
SELECT column_name, cells, suppressed, round((100 * share)::numeric, 1) AS percent
FROM sanitize.suppression('shared', '{sex,postcode,profession,insurance,ward}');
SELECT min(patients) AS fewest_patients_who_look_alike FROM (
    SELECT count(DISTINCT patient_id) AS patients
    FROM sanitize.k_anonymize(NULL::stays, k => 5,
        columns => '{sex,postcode,profession,insurance,ward}', keep => '{patient_id}', unit => 'patient_id')
    GROUP BY sex, postcode, profession, insurance, ward) AS classes;
\timing off

\echo
\echo '=== A differentially private sample: no row matters much, whatever an attacker knows ==='
\echo 'The values a column may have are declared: taken from the rows they would tell who is there.'
\timing on
SELECT sanitize.declare_domain('stays', 'sex', ARRAY['F', 'M']),
       sanitize.declare_domain('stays', 'ward', ARRAY['cardiology', 'internal medicine', 'obstetrics',
           'oncology', 'paediatrics', 'psychiatry', 'surgery']),
       sanitize.declare_domain('stays', 'insurance', ARRAY['abroad', 'private', 'public', 'self-paid']);
SELECT sex, ward, insurance, count(*)
FROM sanitize.dp_mii_sample(NULL::stays, epsilon => 1, delta => 1e-6, k => 20,
    columns => '{sex,ward,insurance}')
GROUP BY 1, 2, 3 ORDER BY 4 DESC LIMIT 6;
\timing off
\pset format wrapped
\pset columns 100
SELECT sanitize.guarantee('dp_mii_sample',
    '{"epsilon": 1, "delta": 1e-6, "k": 20, "columns": ["sex", "ward", "insurance"]}') ->> 'sentence' AS label;
