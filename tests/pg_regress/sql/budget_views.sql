-- Views as protected relations: each row must depend on its own unit alone.
CREATE TABLE stays (id int PRIMARY KEY, patient int, ward text, days int, email text, tags int[]);
CREATE TABLE wards (code text PRIMARY KEY, name text);
CREATE TABLE other (patient int, drug text, doctor int);
CREATE TABLE third (patient int);
CREATE TABLE parts (patient int, x int) PARTITION BY RANGE (x);
CREATE TABLE parts1 PARTITION OF parts FOR VALUES FROM (0) TO (10);
CREATE SEQUENCE counter;
SELECT sanitize.population('views', 1);
SELECT sanitize.protect('other', 'patient', max_rows_per_unit => 1, population => 'views');
CREATE FUNCTION reads() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT count(*) FROM stays';
CREATE FUNCTION adds(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 + 1';
CREATE FUNCTION marks(int) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN '#' || $1; END $$;
CREATE VIEW nested AS SELECT patient AS p, ward, days FROM stays WHERE days > 1;
CREATE MATERIALIZED VIEW stored AS SELECT patient, ward FROM stays LIMIT 5;
CREATE VIEW grouped AS SELECT patient, ward, sum(days) AS d FROM stays GROUP BY patient, ward;
CREATE FUNCTION pg_temp.verdict(definition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE verdict text := 'stable';
BEGIN
    EXECUTE 'CREATE VIEW tried AS ' || definition;
    BEGIN
        PERFORM sanitize.protect('tried', 'patient', max_rows_per_unit => 1, population => 'views');
        PERFORM sanitize.unprotect('tried');
    EXCEPTION WHEN invalid_parameter_value THEN
        GET STACKED DIAGNOSTICS verdict = PG_EXCEPTION_DETAIL;
    END;
    DROP VIEW tried;
    RETURN verdict;
END $$;
\pset format unaligned
\pset tuples_only on
SELECT name, pg_temp.verdict(definition) FROM (VALUES
    ('plain','SELECT * FROM stays'),
    ('filter','SELECT patient, days*2 AS d FROM stays WHERE ward IN (''A'',''B'') AND days>3'),
    ('nested','SELECT p AS patient, days FROM nested'),
    ('nested twice','SELECT patient FROM (SELECT p AS patient FROM nested) s'),
    ('cast unit','SELECT patient::text AS patient FROM stays'),
    ('unit expr','SELECT lower(email) AS patient, days FROM stays'),
    ('unit of two columns','SELECT email||ward AS patient, days FROM stays'),
    ('group by unit','SELECT patient, sum(days) FROM stays GROUP BY patient'),
    ('group by unit, ward','SELECT patient, ward, sum(days) FROM stays GROUP BY 1,2 HAVING sum(days)>3'),
    ('nested agg','SELECT patient, d FROM grouped'),
    ('DISTINCT','SELECT DISTINCT patient, ward FROM stays'),
    ('UNION ALL','SELECT patient, ward FROM stays UNION ALL SELECT patient, drug FROM other'),
    ('UNION','SELECT patient, ward FROM stays UNION SELECT patient, drug FROM other'),
    ('lookup','SELECT s.patient, w.name FROM stays s JOIN wards w ON w.code=s.ward'),
    ('left lookup','SELECT s.patient, w.name FROM stays s LEFT JOIN wards w ON w.code=s.ward'),
    ('lookup where','SELECT s.patient, w.name FROM stays s, wards w WHERE w.code=s.ward'),
    ('join on unit','SELECT s.patient, o.drug FROM stays s JOIN other o ON o.patient=s.patient'),
    ('join using','SELECT patient, o.drug FROM stays s JOIN other o USING (patient)'),
    ('left join using','SELECT patient, o.drug FROM stays s LEFT JOIN other o USING (patient)'),
    ('self join on unit','SELECT s.patient, o.days FROM stays s, stays o WHERE o.patient=s.patient AND o.id<s.id'),
    ('join with agg by unit','SELECT s.patient, o.d FROM stays s JOIN (SELECT patient, avg(days) AS d FROM stays GROUP BY patient) o USING (patient)'),
    ('transitive','SELECT s.patient, o.drug FROM stays s JOIN stays t ON s.patient=t.patient JOIN other o ON o.patient=t.patient'),
    ('CTE once','WITH c AS (SELECT patient, days FROM stays) SELECT * FROM c'),
    ('lookup of agg of lookup','SELECT s.patient, w.n FROM stays s CROSS JOIN (SELECT count(*) AS n FROM wards) w'),
    ('SRF column','SELECT patient, unnest(tags) AS t FROM stays'),
    ('lateral unnest','SELECT patient, t FROM stays, unnest(tags) t'),
    ('immutable user fn','SELECT patient, adds(days) FROM stays'),
    ('partition on unit','SELECT p.patient, q.x FROM parts p JOIN parts1 q ON q.patient=p.patient'),
    ('volatile','SELECT patient FROM stays WHERE pg_sleep(0) IS NOT NULL'),
    ('random','SELECT patient, random() FROM stays'),
    ('volatile user fn','SELECT patient, marks(days) FROM stays'),
    ('now()','SELECT patient, now() AS t FROM stays'),
    ('other LEFT stays, unit nullable','SELECT s.patient, w.name FROM wards w LEFT JOIN stays s ON w.code=s.ward'),
    ('through a third relation','SELECT d.patient, b.drug FROM stays d LEFT JOIN third a ON a.patient=d.patient LEFT JOIN other b ON b.patient=a.patient'),
    ('named join','SELECT j.patient, j.drug FROM (stays s JOIN other o USING (patient)) AS j'),
    ('full join, one unit','SELECT s.patient, o.drug FROM stays s FULL JOIN other o ON o.patient=s.patient'),
    ('window over what is public','SELECT s.patient, w.n FROM stays s JOIN (SELECT code, row_number() OVER (ORDER BY code) AS n FROM wards) w ON w.code=s.ward')
) AS v(name, definition);
SELECT name, pg_temp.verdict(definition) FROM (VALUES
    ('window','SELECT patient, row_number() OVER () FROM stays'),
    ('limit','SELECT patient FROM stays LIMIT 3'),
    ('offset','SELECT patient FROM stays OFFSET 3'),
    ('nested limit','SELECT * FROM (SELECT patient FROM stays LIMIT 3) s'),
    ('matview nested limit','SELECT * FROM stored'),
    ('distinct on','SELECT DISTINCT ON (ward) patient FROM stays'),
    ('except','SELECT patient FROM stays EXCEPT SELECT patient FROM other'),
    ('intersect nested','SELECT * FROM (SELECT patient FROM stays UNION ALL (SELECT patient FROM other INTERSECT SELECT 1)) s'),
    ('sublink','SELECT patient, (SELECT count(*) FROM stays) FROM stays'),
    ('exists','SELECT patient FROM stays s WHERE EXISTS (SELECT FROM other o WHERE o.patient=s.patient)'),
    ('in nested view','SELECT * FROM (SELECT patient FROM stays WHERE ward IN (SELECT code FROM wards)) q'),
    ('agg by ward','SELECT max(patient) AS patient, ward FROM stays GROUP BY ward'),
    ('agg whole','SELECT max(patient) AS patient FROM stays'),
    ('grouping sets','SELECT patient, ward, count(*) FROM stays GROUP BY ROLLUP(patient, ward)'),
    ('having only','SELECT 1 AS patient FROM stays HAVING count(*)>5'),
    ('group numeric unit','SELECT patient::numeric::text AS patient FROM (SELECT patient::numeric AS patient FROM stays GROUP BY 1) s'),
    ('join on ward','SELECT s.patient, o.drug FROM stays s JOIN other o ON o.drug=s.ward'),
    ('cross','SELECT s.patient, o.drug FROM stays s, other o'),
    ('self join on ward','SELECT s.patient, o.days FROM stays s JOIN stays o USING (ward)'),
    ('self via view','SELECT s.patient, o.days FROM stays s JOIN nested o ON o.ward=s.ward'),
    ('avg of ward joined','SELECT s.patient, o.d FROM stays s JOIN (SELECT ward, avg(days) AS d FROM stays GROUP BY ward) o USING (ward)'),
    ('join on not their unit','SELECT s.patient, o.drug FROM stays s JOIN other o ON o.doctor=s.patient'),
    ('left join false link','SELECT s.patient, o.drug FROM stays s CROSS JOIN other o LEFT JOIN wards w ON o.patient=s.patient'),
    ('full join false link','SELECT s.patient, o.drug FROM (stays s CROSS JOIN other o) FULL JOIN wards w ON o.patient=s.patient AND w.code=s.ward'),
    ('or link','SELECT s.patient, o.drug FROM stays s JOIN other o ON o.patient=s.patient OR o.drug=s.ward'),
    ('full join using','SELECT patient, o.drug FROM stays s FULL JOIN other o USING (patient)'),
    ('coalesce unit','SELECT coalesce(s.patient,0) AS patient, w.name FROM wards w LEFT JOIN stays s ON w.code=s.ward'),
    ('CTE twice','WITH c AS (SELECT patient, ward FROM stays) SELECT a.patient FROM c a JOIN c b USING (ward)'),
    ('recursive','WITH RECURSIVE c(patient) AS (SELECT patient FROM stays UNION SELECT patient FROM c) SELECT * FROM c'),
    ('lateral agg','SELECT s.patient, o.n FROM stays s, LATERAL (SELECT count(*) AS n FROM stays t WHERE t.ward=s.ward) o'),
    ('unit of srf','SELECT unnest(tags) AS patient FROM stays'),
    ('unit of lateral','SELECT t AS patient FROM stays, unnest(tags) t'),
    ('const unit','SELECT 1 AS patient, days FROM stays'),
    ('generate_series unit','SELECT g AS patient, s.days FROM generate_series(1,3) g, stays s'),
    ('two relations unit','SELECT s.ward||w.name AS patient FROM stays s, wards w'),
    ('sample','SELECT patient FROM stays TABLESAMPLE BERNOULLI (10)'),
    ('nextval','SELECT patient, nextval(''counter'') FROM stays'),
    ('stable user fn','SELECT patient, reads() FROM stays'),
    ('xml of a table','SELECT patient, table_to_xml(''wards'', true, true, '''')::text FROM stays'),
    ('fn in from','SELECT patient, f FROM stays, reads() f'),
    ('partition of itself','SELECT p.patient, q.x FROM parts p JOIN parts1 q ON q.x=p.x'),
    ('ctid unit','SELECT ctid::text AS patient FROM stays'),
    ('whole row unit','SELECT s::text AS patient FROM stays s'),
    ('lateral exposes unit','SELECT q.patient FROM stays s, LATERAL (SELECT s.patient) q'),
    ('outer joins link nothing','SELECT d.patient, b.drug FROM (stays d CROSS JOIN other b) LEFT JOIN third a ON a.patient=b.patient AND a.patient=d.patient'),
    ('full joins link nothing','SELECT d.patient, b.drug FROM (stays d LEFT JOIN third a ON a.patient=d.patient) JOIN other b ON b.drug=d.ward FULL JOIN wards w ON a.patient=b.patient AND w.code=d.ward'),
    ('limit in what is joined','SELECT s.patient, o.drug FROM stays s JOIN (SELECT patient, drug FROM other LIMIT 5) o USING (patient)')
) AS v(name, definition);
\pset tuples_only off
\x on
\pset format aligned
CREATE VIEW first_ones AS SELECT patient, ward FROM stays ORDER BY id LIMIT 5;
\set VERBOSITY verbose
\set SHOW_CONTEXT never
SELECT sanitize.protect('first_ones', 'patient', 1, max_rows_per_unit => 1);
SELECT sanitize.protect('stored', 'patient', 1, max_rows_per_unit => 1);
\set VERBOSITY default
SELECT sanitize.protect('first_ones', 'patient', 1, assume_stable => true, max_rows_per_unit => 1);
SELECT unit, assume_stable FROM sanitize.protection WHERE source = 'first_ones'::regclass;
SELECT sanitize.unprotect('first_ones');
-- A view may change after it was protected: it is looked at with each question.
CREATE VIEW changing AS SELECT patient, ward FROM stays;
SELECT sanitize.declare_domain('changing', 'ward', '{A,B,C}');
SELECT sanitize.protect('changing', 'patient', 10, 0.001, max_rows_per_unit => 1);
INSERT INTO stays SELECT i, i, chr(65 + i % 3), i FROM generate_series(1, 300) i;
SELECT count(*) > 0 AS drawn FROM sanitize.dp_mii_sample(NULL::changing, 1, 1e-6, 20, columns => '{ward}', scheme => 'dp_split', max_length => 1);
CREATE OR REPLACE VIEW changing AS SELECT patient, ward FROM stays LIMIT 100;
SELECT * FROM sanitize.dp_mii_sample(NULL::changing, 1, 1e-6, 20, columns => '{ward}', scheme => 'dp_split', max_length => 1);
SELECT what, epsilon FROM sanitize.ledger WHERE source = 'changing'::regclass;
SET client_min_messages = warning;
DELETE FROM sanitize.declared_domain;
SELECT sanitize.unprotect(source) FROM sanitize.budget;
SELECT sanitize.drop_population('views');
DROP TABLE stays, wards, other, third, parts CASCADE;
DROP FUNCTION reads, adds, marks;
DROP SEQUENCE counter;
