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
