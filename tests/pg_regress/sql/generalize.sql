-- Generalised releases: whole columns, local recoding, diverse classes, what is lost.
CREATE TABLE gen_people (id int, birth date, zip char(4), sex text, income numeric, disease text);
INSERT INTO gen_people
SELECT i, date '1950-01-01' + (i * 997) % 18000, lpad((1000 + (i * 7) % 90)::text, 4, '0'),
       CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END, 1000 + (i * 37) % 400, 'd' || (i * i) % 5
  FROM generate_series(1, 400) AS i;
SELECT sanitize.declare_hierarchy('gen_people', 'birth', '{"dates": ["year", "10 years"]}');
SELECT sanitize.declare_hierarchy('gen_people', 'zip', '{"prefix": [3, 2]}');
SELECT sanitize.declare_hierarchy('gen_people', 'income', '{"ranges": [50, 100, 200], "from": 0}');

-- Whole columns: one level for all cells.
SELECT birth, zip, count(*)
  FROM sanitize.generalize(NULL::gen_people, '{"birth": 2, "zip": 3}', columns => '{birth,zip}')
 GROUP BY 1, 2 ORDER BY 1, 2;
SELECT birth, zip, sex, income FROM sanitize.generalize(NULL::gen_people, '{"birth": 1, "zip": 2, "income": 3}',
    columns => '{birth,zip,sex,income}', keep => '{id}') WHERE id <= 3 ORDER BY id;
-- The level after the last blanks the column; level 0 shows it.
SELECT count(birth), count(zip), count(sex) FROM sanitize.generalize(NULL::gen_people, '{"birth": 3, "zip": 0}',
    columns => '{birth,zip,sex}');
SELECT sanitize.generalize(NULL::gen_people, '{"birth": 4}');
SELECT sanitize.generalize(NULL::gen_people, '{"sex": 1}');
SELECT sanitize.generalize(NULL::gen_people, '{"nobody": 1}');
SELECT sanitize.generalize(NULL::gen_people, '{"birth": -1}');
SELECT sanitize.generalize(NULL::gen_people, '{"birth": "year"}');
SELECT sanitize.generalize(NULL::gen_people, '[1]');
SELECT sanitize.generalize(NULL::gen_people, NULL);
SELECT sanitize.generalize(NULL::gen_people, '{"birth": 1}', columns => '{zip}');
SELECT sanitize.guarantee('generalize', '{"levels": {"birth": 1}}') -> 'kind';

-- What coarsening buys, before it is chosen.
SELECT count(*) FROM sanitize.mine_miis('gen_people', 4, '{birth,zip,sex}');
SELECT count(*) < 200 AS fewer FROM sanitize.mine_miis('gen_people', 4, '{birth,zip,sex}', levels => '{"birth": 2, "zip": 2}');
SELECT column_name, miis, cells FROM sanitize.mii_risk('gen_people', 4, '{birth,zip,sex}', levels => '{"birth": 2, "zip": 3}')
 WHERE value IS NULL;
SELECT items, support FROM sanitize.mine_miis('gen_people', 80, '{birth,zip}', levels => '{"birth": 2, "zip": 2}') LIMIT 3;
SELECT count(*) FROM sanitize.mine_miis((SELECT sanitize.row_bag(t) FROM gen_people t), 4, levels => '{"birth": 1}');
SELECT count(*) FROM sanitize.mine_miis('gen_people', 4, levels => '{"birth": 9}');

-- Local recoding: classes of k, no row lost, cells blanked last.
CREATE TABLE gen_released AS
SELECT * FROM sanitize.k_anonymize(NULL::gen_people, 5, columns => '{birth,zip,sex,income}', generalize => true);
SELECT count(*), sanitize.k_anonymity('gen_released', '{birth,zip,sex,income}') >= 5 AS has_k, count(id), count(disease)
  FROM gen_released;
CREATE TABLE gen_blanked AS
SELECT * FROM sanitize.k_anonymize(NULL::gen_people, 5, columns => '{birth,zip,sex,income}');
SELECT r.column_name, r.loss < b.loss AS is_less, r.loss <= r.changed AS is_part, r.loss BETWEEN 0 AND 1 AS is_share
  FROM sanitize.information_loss('gen_people', 'gen_released', '{birth,zip,sex,income}') AS r
  JOIN sanitize.information_loss('gen_people', 'gen_blanked', '{birth,zip,sex,income}') AS b
    ON b.column_name IS NOT DISTINCT FROM r.column_name
 WHERE r.column_name IS NULL;
-- Every value that is shown is one of its column's hierarchy.
SELECT count(*) FROM gen_released AS r
 WHERE birth IS NOT NULL AND NOT EXISTS (SELECT FROM sanitize.hierarchy('gen_people', 'birth') AS h WHERE h.general = r.birth::text);

-- Diverse and close classes; the sensitive column comes back as it is.
CREATE TABLE gen_diverse AS
SELECT * FROM sanitize.k_anonymize(NULL::gen_people, 4, columns => '{birth,zip,sex}', generalize => true,
    sensitive => 'disease', l => 2, t => 0.5);
SELECT count(*), count(disease), sanitize.k_anonymity('gen_diverse', '{birth,zip,sex}') >= 4 AS has_k,
       sanitize.l_diversity('gen_diverse', 'disease', '{birth,zip,sex}') >= 2 AS has_l,
       sanitize.t_closeness('gen_diverse', 'disease', '{birth,zip,sex}') <= 0.5 AS has_t
  FROM gen_diverse;
SELECT (SELECT array_agg(disease ORDER BY disease) FROM gen_people)
     = (SELECT array_agg(disease ORDER BY disease) FROM gen_diverse) AS same_diseases;
-- Without general values, by entropy.
CREATE TABLE gen_entropy AS
SELECT * FROM sanitize.k_anonymize(NULL::gen_people, 2, columns => '{sex,zip}', sensitive => 'disease', l => 2.5, l_kind => 'entropy');
SELECT count(*), sanitize.l_diversity('gen_entropy', 'disease', '{sex,zip}', 'entropy') >= 2.5 AS has_l FROM gen_entropy;
SELECT sanitize.k_anonymize(NULL::gen_people, 4, sensitive => 'disease');
SELECT sanitize.k_anonymize(NULL::gen_people, 4, l => 2);
SELECT sanitize.k_anonymize(NULL::gen_people, 4, sensitive => 'disease', l => 0.5);
SELECT sanitize.k_anonymize(NULL::gen_people, 4, sensitive => 'disease', l => 'NaN');
SELECT sanitize.k_anonymize(NULL::gen_people, 4, sensitive => 'disease', l => 6);
SELECT sanitize.k_anonymize(NULL::gen_people, 4, sensitive => 'disease', t => 1.5);
SELECT sanitize.k_anonymize(NULL::gen_people, 4, sensitive => 'disease', l => 2, l_kind => 'recursive');
SELECT sanitize.k_anonymize(NULL::gen_people, 4, sensitive => 'nobody', l => 2);
SELECT sanitize.k_anonymize(NULL::gen_people, 4, columns => '{disease,sex}', sensitive => 'disease', l => 2);
SELECT sanitize.k_anonymize(NULL::gen_people, 4, max_length => 2, generalize => true);
SELECT sanitize.k_anonymize(NULL::gen_people, 500, columns => '{sex}', generalize => true);
SELECT label ->> 'kind' AS kind, label -> 'sensitive' AS sensitive, label ->> 'mechanism' AS mechanism
  FROM sanitize.guarantee('k_anonymize', '{"k": 4, "generalize": true, "sensitive": "disease", "l": 2}') AS label;

-- k against loss.
SELECT k, loss >= lag(loss, 1, 0::float8) OVER (ORDER BY k) AS grows, dropped
  FROM sanitize.loss_curve('gen_people', '{2,5,20}', '{birth,zip,sex,income}');
SELECT sanitize.loss_curve('gen_people', '{}');
SELECT sanitize.loss_curve('gen_people', '{1}');
SELECT sanitize.loss_curve('gen_people', '{NULL}');

-- Loss of what it is not: the table itself, rows that are missing, values that nobody had.
SELECT * FROM sanitize.information_loss('gen_people', 'gen_people', '{birth,sex}');
CREATE TABLE gen_other (birth date, sex text);
INSERT INTO gen_other SELECT birth, 'x' FROM gen_people WHERE id <= 100;
SELECT * FROM sanitize.information_loss('gen_people', 'gen_other', '{birth,sex}');
SELECT sanitize.information_loss('gen_people', 'gen_other', '{zip}');

-- In a transaction that writes, the leader of a parallel query reads declarations without a command of its own.
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
CREATE TABLE gen_parallel AS
SELECT p.id, f.column_name
  FROM gen_people AS p, sanitize.information_loss('gen_people', 'gen_released', '{birth,zip,sex}') AS f;
SELECT count(DISTINCT id) > 1 AS has_rows, count(DISTINCT column_name) AS columns FROM gen_parallel;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
DROP TABLE gen_people, gen_released, gen_blanked, gen_diverse, gen_entropy, gen_other, gen_parallel;
