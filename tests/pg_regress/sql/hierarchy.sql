-- Hierarchies of columns: all kinds, what they refuse, and who may declare them.
SET TimeZone = 'UTC';
CREATE FUNCTION levels_of(source regclass, column_name text) RETURNS TABLE(value text, levels text) LANGUAGE sql AS
$$SELECT value, string_agg(coalesce(general, '-'), ' | ' ORDER BY level) FROM sanitize.hierarchy(source, column_name) GROUP BY value ORDER BY value COLLATE "C"$$;
CREATE DOMAIN adult AS int CHECK (VALUE >= 18);
CREATE DOMAIN town AS varchar(8) CHECK (VALUE <> 'Hell');
CREATE TYPE pain AS ENUM ('none', 'mild', 'bad', 'some', 'any');
CREATE TABLE shy (
    age int, small smallint, weight numeric(6, 2), free numeric, ratio float8, born date, seen timestamp, noted timestamptz,
    zip char(6), code varchar(4), city text, grown adult, home town, hurts pain, flag bool, "o'x; DROP" text
);
INSERT INTO shy VALUES
    (35, 1, 12.5, 0.30, 0.3, '1987-04-12', '2020-02-03 04:05:06.7', '2020-02-03 04:05:06.7+00', '1017', '1017', 'Paris', 21, 'Paris', 'mild', true, '''; DROP TABLE shy; --'),
    (39, -32768, -3.25, 7, 'NaN', '1990-12-31', '2021-11-03 14:05:06', 'infinity', '1018', '10', 'Lyon', 39, 'Lyon', 'bad', false, 'x"y'),
    (-1, 5, 99.99, -7.01, '-Infinity', '0044-03-15 BC', '-infinity', '2020-07-03 04:05:06.7+00', '10', 'é€ß1', 'Rome', 40, 'Rome', 'none', true, 'z'),
    (40, 40, 0, 'NaN', -7, 'infinity', '2020-02-03 23:00:00', '2020-02-03 23:30:00+00', NULL, NULL, 'Atlantis', 60, 'Oz', NULL, NULL, NULL),
    (NULL, NULL, NULL, NULL, 1e-7, '5000000-01-01', NULL, '1999-12-31 23:59:59.999999+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);

-- Ranges.
SELECT sanitize.declare_hierarchy('shy', 'age', '{"ranges": [5, 10, 20]}');
SELECT * FROM levels_of('shy', 'age');
SELECT sanitize.declare_hierarchy('shy', 'age', '{"ranges": [5, 10, 20], "show": "middle", "from": 2}');
SELECT * FROM levels_of('shy', 'age');
SELECT sanitize.declare_hierarchy('shy', 'weight', '{"ranges": [0.5, 10], "show": "middle", "from": 1}');
SELECT * FROM levels_of('shy', 'weight');
SELECT sanitize.declare_hierarchy('shy', 'free', '{"ranges": [0.1, 1], "show": "low"}');
SELECT * FROM levels_of('shy', 'free');
SELECT sanitize.declare_hierarchy('shy', 'ratio', '{"ranges": [0.1, 1]}');
SELECT * FROM levels_of('shy', 'ratio');
SELECT sanitize.declare_hierarchy('shy', 'grown', '{"ranges": [3, 30]}');
SELECT sanitize.declare_hierarchy('shy', 'grown', '{"ranges": [3, 21], "from": 18}');
SELECT * FROM levels_of('shy', 'grown');
-- The type has no room for the lower end.
SELECT sanitize.declare_hierarchy('shy', 'small', '{"ranges": [5]}');
SELECT sanitize.declare_hierarchy('shy', 'small', '{"ranges": [4]}');
SELECT * FROM levels_of('shy', 'small');

-- Dates.
SELECT sanitize.declare_hierarchy('shy', 'born', '{"dates": ["month", "quarter", "year", "5 years", "decade", "century"]}');
SELECT * FROM levels_of('shy', 'born');
SELECT sanitize.declare_hierarchy('shy', 'seen', '{"dates": ["hour", "12 hours", "day", "week", "2 weeks"]}');
SELECT * FROM levels_of('shy', 'seen');
SELECT sanitize.declare_hierarchy('shy', 'noted', '{"dates": ["6 hours", "day", "month", "2 years"]}');
SELECT * FROM levels_of('shy', 'noted');
-- Days are those of the session's time zone, and texts are written in its style.
SET TimeZone = 'America/New_York';
SELECT * FROM levels_of('shy', 'noted');
SET DateStyle = 'German';
SELECT * FROM levels_of('shy', 'noted');
SELECT * FROM levels_of('shy', 'born');
SET DateStyle = 'SQL, DMY';
SELECT * FROM levels_of('shy', 'born');
SELECT sanitize.declare_hierarchy('shy', 'born', '{"tree": [{"12/04/1987": "01/01/1987"}]}');
RESET DateStyle;
SET TimeZone = 'UTC';
SELECT levels FROM sanitize.hierarchies WHERE source = 'shy'::regclass AND column_name = 'born';
SELECT * FROM levels_of('shy', 'born');

-- Prefixes.
SELECT sanitize.declare_hierarchy('shy', 'zip', '{"prefix": [3, 2]}');
SELECT * FROM levels_of('shy', 'zip');
SELECT sanitize.declare_hierarchy('shy', 'code', '{"prefix": [3, 2, 1], "mask": "€"}');
SELECT * FROM levels_of('shy', 'code');
SELECT sanitize.declare_hierarchy('shy', 'code', '{"prefix": [3, 1], "mask": ""}');
SELECT * FROM levels_of('shy', 'code');
SELECT sanitize.declare_hierarchy('shy', 'o''x; DROP', '{"prefix": [2], "mask": "''"}');
SELECT * FROM levels_of('shy', 'o''x; DROP');

-- Trees: a name may be below itself, and names of one level may look like those of another.
SELECT sanitize.declare_hierarchy('shy', 'city', '{"tree": [{"Paris": "France", "Lyon": "France", "Rome": "Rome"}, {"France": "Paris", "Rome": "Europe''; DROP TABLE shy; --"}]}');
SELECT * FROM levels_of('shy', 'city');
SELECT sanitize.declare_hierarchy('shy', 'home', '{"tree": [{"Paris": "France", "Lyon": "France", "Rome": "Italy"}]}');
SELECT * FROM levels_of('shy', 'home');
SELECT sanitize.declare_hierarchy('shy', 'hurts', '{"tree": [{"mild": "some", "bad": "some"}, {"some": "any"}]}');
SELECT * FROM levels_of('shy', 'hurts');
SELECT sanitize.declare_hierarchy('shy', 'age', '{"tree": [{"035": "30", "39": "30"}, {"30": "0"}]}');
SELECT * FROM levels_of('shy', 'age');
SELECT levels FROM sanitize.hierarchies WHERE source = 'shy'::regclass AND column_name = 'age';

-- Tables.
CREATE SCHEMA "Maps & more";
CREATE TABLE "Maps & more"."ge""o" (level0 text, level1 text, remark int, level2 text);
INSERT INTO "Maps & more"."ge""o" VALUES ('Paris', 'France', 1, 'Europe'), ('Lyon', 'France', 2, 'Europe'), ('Rome', 'Italy', 3, NULL), (NULL, NULL, 4, NULL);
SELECT sanitize.declare_hierarchy('shy', 'city', '{"table": "\"Maps & more\".\"ge\"\"o\""}');
SELECT * FROM levels_of('shy', 'city');
ALTER TABLE "Maps & more"."ge""o" RENAME TO geo;
ALTER TABLE "Maps & more".geo SET SCHEMA public;
SELECT column_name, levels, height FROM sanitize.hierarchies WHERE source = 'shy'::regclass ORDER BY column_name;
INSERT INTO geo VALUES ('Oz', 'Dream', 5, NULL);
SELECT count(*) FROM levels_of('shy', 'city');
-- A table that is one no more.
INSERT INTO geo VALUES ('Paris', 'Texas', 6, 'Europe');
SELECT * FROM levels_of('shy', 'city');
DELETE FROM geo WHERE remark = 6;
INSERT INTO geo VALUES ('Nice', 'France', 7, NULL);
SELECT * FROM levels_of('shy', 'city');
DELETE FROM geo WHERE remark = 7;
INSERT INTO geo VALUES ('Nice', NULL, 8, 'Europe');
SELECT * FROM levels_of('shy', 'city');
DELETE FROM geo WHERE remark = 8;
-- Nothing that its owner wrote runs when a table is read.
CREATE VIEW geo_view AS SELECT * FROM geo;
SELECT sanitize.declare_hierarchy('shy', 'city', '{"table": "geo_view"}');
ALTER TABLE geo ENABLE ROW LEVEL SECURITY;
SELECT * FROM levels_of('shy', 'city');
ALTER TABLE geo DISABLE ROW LEVEL SECURITY;
DROP TABLE geo CASCADE;
\set VERBOSITY sqlstate
SELECT * FROM levels_of('shy', 'city');
\set VERBOSITY default
SELECT sanitize.drop_hierarchy('shy', 'city');
CREATE TABLE numbers (level0 int, level2 int);
SELECT sanitize.declare_hierarchy('shy', 'age', '{"table": "numbers"}');
SELECT sanitize.declare_hierarchy('shy', 'age', '{"table": "nothing"}');
SELECT sanitize.declare_hierarchy('shy', 'age', '{"table": 7}');
ALTER TABLE numbers RENAME level2 TO level1;
SELECT sanitize.declare_hierarchy('shy', 'age', '{"table": "numbers"}');
INSERT INTO numbers VALUES (35, 30), (39, 30);
SELECT sanitize.declare_hierarchy('shy', 'age', '{"table": "numbers"}');
SELECT * FROM levels_of('shy', 'age');
SELECT sanitize.declare_hierarchy('shy', 'hurts', '{"table": "numbers"}');

-- What makes no sense.
CREATE FUNCTION refused(column_name text, levels jsonb) RETURNS text LANGUAGE plpgsql AS
$$DECLARE hint text;
BEGIN
    PERFORM sanitize.declare_hierarchy('shy', column_name, levels);
    RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    RETURN SQLSTATE || ': ' || SQLERRM || CASE WHEN hint = '' THEN ' (NO HINT)' ELSE '' END;
END$$;
\pset format unaligned
SELECT column_name, levels, refused(column_name, levels) FROM (VALUES
    ('age', '[]'::jsonb), ('age', '{}'), ('age', '5'), ('age', '{"range": [5]}'), ('age', '{"ranges": [5], "dates": ["day"]}'),
    ('age', '{"ranges": [5], "too": 1, "''; DROP TABLE shy; --": 2}'), ('age', '{"ranges": []}'), ('age', '{"ranges": 5}'),
    ('age', '{"ranges": ["5"]}'), ('age', '{"ranges": [5, 12]}'), ('age', '{"ranges": [10, 5]}'), ('age', '{"ranges": [5, 5]}'),
    ('age', '{"ranges": [0]}'), ('age', '{"ranges": [-5]}'), ('age', '{"ranges": [1, 5]}'), ('age', '{"ranges": [2.5]}'),
    ('age', '{"ranges": [5], "from": 0.5}'), ('age', '{"ranges": [5], "from": "x"}'), ('age', '{"ranges": [5], "show": "high"}'),
    ('weight', '{"ranges": [0.3, 1]}'), ('weight', '{"ranges": [100000]}'), ('age', '{"ranges": [1e20]}'),
    ('city', '{"ranges": [5]}'), ('born', '{"ranges": [5]}'), ('flag', '{"prefix": [1]}'), ('age', '{"prefix": [1]}'), ('age', '{"dates": ["year"]}'),
    ('born', '{"dates": []}'), ('born', '{"dates": ["moon"]}'), ('born', '{"dates": [5]}'), ('born', '{"dates": ["day"]}'), ('born', '{"dates": ["36 hours"]}'),
    ('born', '{"dates": ["week", "month"]}'), ('born', '{"dates": ["year", "month"]}'), ('born', '{"dates": ["month", "month"]}'),
    ('born', '{"dates": ["5 months", "year"]}'), ('born', '{"dates": ["''; DROP TABLE shy; --"]}'), ('seen', '{"dates": ["5 hours", "day"]}'),
    ('born', '{"dates": ["2000 years"]}'), ('born', '{"dates": ["year"], "mask": "*"}'),
    ('zip', '{"prefix": []}'), ('zip', '{"prefix": [0]}'), ('zip', '{"prefix": [2, 3]}'), ('zip', '{"prefix": [2, 2]}'), ('zip', '{"prefix": [1.5]}'),
    ('zip', '{"prefix": [2], "mask": "**"}'), ('zip', '{"prefix": [2], "mask": 7}'),
    ('city', '{"tree": []}'), ('city', '{"tree": [{}]}'), ('city', '{"tree": [{"Paris": 7}]}'), ('city', '{"tree": [["Paris"]]}'), ('city', '{"tree": [{"Paris": null}]}'),
    ('city', '{"tree": [{"Paris": "France"}, {"Frnace": "Europe"}]}'), ('city', '{"tree": [{"Paris": "Paris", "Lyon": "Lyon"}]}'),
    ('city', '{"tree": [{"Paris": "France"}, {"France": "France"}]}'),
    ('age', '{"tree": [{"35": "thirty"}]}'), ('age', '{"tree": [{"35": "30", "035": "0"}]}'), ('hurts', '{"tree": [{"mild": "terrible"}]}'),
    ('home', '{"tree": [{"Paris": "Hell"}]}'), ('home', '{"tree": [{"Paris": "Switzerland"}]}'), ('zip', '{"tree": [{"1017": "1017   ", "1018 ": "1"}, {"1017": "1", "1": "2"}]}'),
    ('nothing', '{"ranges": [5]}')
) AS v(column_name, levels);
\pset format aligned
SELECT sanitize.declare_hierarchy('shy', 'age', NULL);
SELECT sanitize.declare_hierarchy('shy', 'nothing', '{"ranges": [5]}');
SELECT sanitize.drop_hierarchy('shy', 'nothing');
SELECT * FROM sanitize.hierarchy('shy', 'nothing');
SELECT sanitize.suggest_hierarchy('shy', 'nothing');
SELECT sanitize.drop_hierarchy('shy', 'flag');
SELECT * FROM levels_of('shy', 'flag');

-- Every hierarchy is a tree, whatever the widths and where they begin: who shares a node shares what is above.
CREATE TABLE many AS SELECT i AS n, (i / 8.0)::numeric AS q, date '1999-06-05' + i AS d, timestamp '1999-12-01' + i * interval '5 hours' AS t,
    translate(lpad((i * 7919 % 1000)::text, 3, '0'), '0123456789', 'ab0123456c') AS c FROM generate_series(-700, 700) AS i;
SELECT sanitize.declare_hierarchy('many', 'n', '{"ranges": [3, 6, 42], "from": -2, "show": "middle"}');
SELECT sanitize.declare_hierarchy('many', 'q', '{"ranges": [0.25, 1.5, 30], "from": 0.1}');
SELECT sanitize.declare_hierarchy('many', 'd', '{"dates": ["month", "3 months", "6 months", "year", "10 years"]}');
SELECT sanitize.declare_hierarchy('many', 't', '{"dates": ["6 hours", "day", "2 weeks", "26 weeks"]}');
SELECT sanitize.declare_hierarchy('many', 'c', '{"prefix": [2, 1]}');
-- Different nodes of one level are shown differently here, so that what is shown tells them apart.
SELECT c AS column_name, max(h.level) AS height, count(*) FILTER (WHERE h.general IS NULL) AS blanked,
       (SELECT count(*) FROM (SELECT 1 FROM sanitize.hierarchy('many', c) AS a JOIN sanitize.hierarchy('many', c) AS b USING (value)
         WHERE b.level = a.level + 1 AND a.level > 0 GROUP BY a.level, a.general HAVING count(DISTINCT b.general) > 1) AS x) AS crossings
  FROM unnest('{n,q,d,t,c}'::text[]) AS c CROSS JOIN LATERAL sanitize.hierarchy('many', c) AS h GROUP BY c ORDER BY c;
SELECT count(*) FROM sanitize.hierarchy('many', 'n') WHERE level > 0 AND general::int <> (ARRAY[3, 6, 42])[level] * floor((value::int + 2)::numeric / (ARRAY[3, 6, 42])[level]) - 2 + ((ARRAY[3, 6, 42])[level] - 1) / 2;
SELECT count(*) FROM sanitize.hierarchy('many', 'd') WHERE level IN (1, 2, 4) AND general::date <> date_trunc((ARRAY['month', 'quarter', '', 'year'])[level], value::date)::date;
SELECT count(*) FROM sanitize.hierarchy('many', 't') WHERE level = 2 AND general::timestamp <> date_trunc('day', value::timestamp);

-- Proposals.
SELECT c AS column_name, sanitize.suggest_hierarchy('many', c) FROM unnest('{n,q,d,t,c}'::text[]) AS c;
CREATE TABLE proposals AS SELECT i % 80 + 15 AS age, i * 1000 AS pay, (i * 1e-6)::float8 AS tiny, i % 2 AS bit, date '2020-01-01' + i % 40 AS soon,
    lpad(i::text, 5, '0') AS zip, 'AB' || lpad(i::text, 2, '0')::char(2) AS fixed, i::text AS ragged, (i + 20)::adult AS grown, (i - 32768)::smallint AS low, 7 AS same
    FROM generate_series(1, 900) AS i;
SELECT c AS column_name, sanitize.suggest_hierarchy('proposals', c) FROM unnest('{age,pay,tiny,bit,soon,zip,fixed,ragged,grown,low,same}'::text[]) AS c;
CREATE FUNCTION as_proposed(source regclass) RETURNS TABLE(column_name text, height int) LANGUAGE plpgsql AS
$$BEGIN
    FOR column_name IN SELECT attname FROM pg_attribute WHERE attrelid = source AND attnum > 0 LOOP
        IF sanitize.suggest_hierarchy(source, column_name) IS NOT NULL THEN
            PERFORM sanitize.declare_hierarchy(source, column_name, sanitize.suggest_hierarchy(source, column_name));
            SELECT max(level) INTO height FROM sanitize.hierarchy(source, column_name);
            RETURN NEXT;
        END IF;
    END LOOP;
END$$;
SELECT * FROM as_proposed('proposals');
CREATE TABLE nobody (n int, d date, c text);
SELECT c AS column_name, sanitize.suggest_hierarchy('nobody', c) FROM unnest('{n,d,c}'::text[]) AS c;
SELECT sanitize.declare_hierarchy('nobody', 'n', '{"ranges": [5]}');
SELECT * FROM sanitize.hierarchy('nobody', 'n');

-- Renamed and dropped.
ALTER TABLE nobody RENAME TO somebody;
INSERT INTO somebody VALUES (7);
SELECT * FROM levels_of('somebody', 'n');
ALTER TABLE somebody ALTER n TYPE text;
SELECT * FROM levels_of('somebody', 'n');
ALTER TABLE somebody DROP n;
SELECT count(*) FROM sanitize.hierarchies WHERE source = 'somebody'::regclass;
SELECT sanitize.drop_hierarchy('somebody', 'n');
SELECT count(*) FROM sanitize.declared_hierarchy WHERE source = 'somebody'::regclass;
DROP TABLE somebody;

-- Rights.
CREATE ROLE regress_levels_owner;
CREATE ROLE regress_levels_reader;
GRANT CREATE, USAGE ON SCHEMA public TO regress_levels_owner;
ALTER TABLE many OWNER TO regress_levels_owner;
GRANT SELECT (n) ON many TO regress_levels_reader;
SET ROLE regress_levels_reader;
SELECT sanitize.declare_hierarchy('many', 'n', '{"ranges": [5]}');
SELECT sanitize.drop_hierarchy('many', 'n');
INSERT INTO sanitize.declared_hierarchy VALUES ('many', 'x', '{"ranges": [5]}');
UPDATE sanitize.declared_hierarchy SET levels = '{"ranges": [5]}';
DELETE FROM sanitize.declared_hierarchy;
SELECT column_name, height FROM sanitize.hierarchies WHERE source = 'many'::regclass;
SELECT count(*) FROM sanitize.hierarchy('many', 'n');
SELECT count(*) FROM sanitize.hierarchy('many', 'c');
SELECT sanitize.suggest_hierarchy('many', 'c');
SET ROLE regress_levels_owner;
SELECT sanitize.declare_hierarchy('many', 'n', '{"ranges": [5]}');
SELECT count(*) FROM sanitize.hierarchy('many', 'n');
-- A table of names is read with the rights of whoever asks.
CREATE TABLE steps AS SELECT n AS level0, n / 10 * 10 AS level1 FROM many;
SELECT sanitize.declare_hierarchy('many', 'n', '{"table": "steps"}');
SET ROLE regress_levels_reader;
SELECT count(*) FROM sanitize.hierarchy('many', 'n');
-- Without the right to read, only what needs no values is looked at.
SET ROLE regress_levels_owner;
REVOKE SELECT ON many FROM regress_levels_owner;
SELECT sanitize.declare_hierarchy('many', 'n', '{"ranges": [5, 10]}');
SELECT sanitize.declare_hierarchy('many', 'n', '{"ranges": [5, 12]}');
-- What is written past the function is refused when it is used.
RESET ROLE;
UPDATE sanitize.declared_hierarchy SET levels = '{"table": "steps"}' WHERE source = 'many'::regclass AND column_name = 'n';
GRANT SELECT ON many TO regress_levels_owner;
SELECT count(*) FROM sanitize.hierarchy('many', 'n');
UPDATE sanitize.declared_hierarchy SET levels = '"x"' WHERE source = 'many'::regclass AND column_name = 'n';
UPDATE sanitize.declared_hierarchy SET levels = '{"x": "y"}' WHERE source = 'many'::regclass AND column_name = 'n';
SELECT count(*) FROM sanitize.hierarchy('many', 'n');
SELECT column_name, height FROM sanitize.hierarchies WHERE source = 'many'::regclass ORDER BY 1;
DELETE FROM sanitize.declared_hierarchy WHERE source IN ('many'::regclass, 'shy'::regclass, 'proposals'::regclass);
DROP TABLE many, steps, shy, numbers, proposals;
DROP FUNCTION levels_of, refused, as_proposed;
DROP DOMAIN adult, town;
DROP TYPE pain;
DROP SCHEMA "Maps & more";
REVOKE ALL ON SCHEMA public FROM regress_levels_owner;
DROP ROLE regress_levels_owner, regress_levels_reader;
