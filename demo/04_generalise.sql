-- Coarser instead of empty: birth dates that survive.
\pset linestyle unicode
\echo
\echo '=== Birth dates: blanking takes them all away ==='
CREATE TABLE people AS
SELECT patient_id, make_date(birth_year, 1, 1) + floor(365 * draw(patient_id, 'birthday'))::int AS birth_date,
       postcode, sex, insurance
FROM patients;
\timing on
SELECT column_name, round((100 * share)::numeric, 1) AS percent_blank
FROM sanitize.suppression((SELECT sanitize.row_bag(r) FROM (SELECT birth_date, postcode, sex
    FROM sanitize.k_anonymize(NULL::people, k => 5, columns => '{birth_date,postcode,sex}')) AS r));
\timing off

\echo
\echo '=== What values may be shown as: months, quarters, years; the first digits ==='
SELECT sanitize.declare_hierarchy('people', 'birth_date',
           '{"dates": ["month", "quarter", "year", "5 years", "20 years"]}'),
       sanitize.declare_hierarchy('people', 'postcode', '{"prefix": [3, 2]}');
\timing on
CREATE TABLE coarse AS
SELECT birth_date, postcode, sex, insurance
FROM sanitize.k_anonymize(NULL::people, k => 5, columns => '{birth_date,postcode,sex}', generalize => true,
    sensitive => 'insurance', l => 2);
\timing off
SELECT birth_date, postcode, sex, count(*), count(DISTINCT insurance) AS insurances
FROM coarse WHERE birth_date IS NOT NULL GROUP BY 1, 2, 3 ORDER BY birth_date DESC, postcode, sex LIMIT 6;

\echo
\echo '=== What it lost (0: nothing, 1: everything), and what every k would ==='
SELECT column_name, round(changed::numeric, 3) AS changed, round(loss::numeric, 3) AS loss
FROM sanitize.information_loss('people', 'coarse', '{birth_date,postcode,sex}');
\timing on
SELECT k, round(loss::numeric, 3) AS loss
FROM sanitize.loss_curve('people', '{2,5,10,50}', '{birth_date,postcode,sex}');
\timing off
