-- A table of people who do not exist, with a promise to those who do.
\pset linestyle unicode
\echo
\echo '=== What columns may hold is public knowledge: the owner declares it ==='
SELECT sanitize.declare_domain('stays', 'sex', '{F,M}'),
       sanitize.declare_domain('stays', 'insurance', '{public,private,self-paid,abroad}'),
       sanitize.declare_domain('stays', 'ward', '{obstetrics,paediatrics,surgery,oncology,psychiatry,cardiology,internal medicine}'),
       sanitize.declare_bounds('stays', 'birth_year', '1920', '2024', 21),
       sanitize.declare_bounds('stays', 'admission', '2024-01-01', '2024-12-31', 12),
       sanitize.declare_bounds('stays', 'los_days', '1', '30', 10) \g /dev/null
SELECT sanitize.protect('stays', unit => 'patient_id', epsilon => 6, delta => 1e-5, max_rows_per_unit => 5) \g /dev/null

\echo
\echo '=== Synthetic stays: whoever the patient, the table would hardly look different without them ==='
\timing on
CREATE TABLE private_model AS
SELECT sanitize.dp_synthesizer('stays', epsilon => 2, delta => 1e-7,
    columns => '{sex,birth_year,insurance,ward,admission,los_days}',
    workload => '{"columns": [["ward", "los_days"], ["ward", "sex"]], "weights": [20, 10]}') AS model;
CREATE TABLE private_stays AS
SELECT g.* FROM private_model, sanitize.dp_synthesize(NULL::stays, model, n => 20000) AS g;
\timing off
SELECT ward, o.women AS women_in_truth, s.women AS synthetic, o.days AS days_in_truth, s.days AS synthetic_days
FROM (SELECT ward, round(100.0 * count(*) FILTER (WHERE sex = 'F') / count(*), 1) AS women, round(avg(los_days), 1) AS days
      FROM stays GROUP BY ward) AS o
JOIN (SELECT ward, round(100.0 * count(*) FILTER (WHERE sex = 'F') / count(*), 1) AS women, round(avg(los_days), 1) AS days
      FROM private_stays GROUP BY ward) AS s USING (ward)
ORDER BY ward;
SELECT model -> 'label' ->> 'sentence' AS promise FROM private_model \gx
