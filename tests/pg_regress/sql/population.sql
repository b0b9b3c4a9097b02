-- One budget for relations about the same people: by name, or because one reads the other. With SQLSTATE, detail and hint.
CREATE FUNCTION pg_temp.said(statement text) RETURNS TABLE(state text, message text, detail text, hint text)
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    state := '00000';
    RETURN NEXT;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
                            detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN NEXT;
END $$;
CREATE TABLE patients (id int PRIMARY KEY, age int);
CREATE TABLE stays (patient_id int, ward text);
CREATE TABLE wards (ward text PRIMARY KEY, name text);
INSERT INTO patients SELECT i, 20 + i % 60 FROM generate_series(1, 500) AS i;
INSERT INTO stays SELECT i % 500 + 1, chr(65 + i % 3) FROM generate_series(1, 1500) AS i;
CREATE ROLE regress_officer;
CREATE ROLE regress_other;

-- What cannot be.
\x on
SELECT * FROM pg_temp.said($$SELECT sanitize.population('', 1)$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.population(NULL, 1)$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.population(repeat('x', 1001), 1)$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.population('p', 0)$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.population('p', 1, 1)$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.population('p', 1, window_length => '-1 day')$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.population('p', 1, min_epsilon => -1)$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.drop_population('p')$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.protect('patients', 'id', population => 'p')$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.protect('patients', 'id')$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.protect('patients', 'id', delta => 0.1)$$);
\x off

-- By name: the charges of both tables add up.
SELECT sanitize.population('people; DROP TABLE patients', 2, 1e-4);
SELECT sanitize.protect('patients', 'id', population => 'people; DROP TABLE patients');
SELECT sanitize.protect('stays', 'patient_id', max_rows_per_unit => 3, population => 'people; DROP TABLE patients');
SELECT sanitize.charge('patients', 'ages', 0.5);
SELECT sanitize.charge('stays', 'wards', 1);
SELECT * FROM pg_temp.said($$SELECT sanitize.charge('patients', 'too much', 0.75)$$) \gx
SELECT name, relations, epsilon, epsilon_spent, delta, delta_spent, rho_spent, window_end FROM sanitize.populations;
SELECT source, grantee, epsilon, epsilon_spent, delta FROM sanitize.budget ORDER BY source::text;
SELECT source, what, epsilon, population FROM sanitize.ledger WHERE population IS NOT NULL ORDER BY id;
SELECT remaining_epsilon FROM sanitize.dp_cost('stays', '{"n": "count"}', 0.1);

-- The population has the budget.
\x on
SELECT * FROM pg_temp.said($$SELECT sanitize.protect('patients', 'id', 5, population => 'people; DROP TABLE patients')$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.protect('patients', 'id', min_epsilon => 0.1, population => 'people; DROP TABLE patients')$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.protect('patients', 'id', 5)$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.drop_population('people; DROP TABLE patients')$$);
\x off
-- Terms that are the relation's own can change.
SELECT sanitize.protect('stays', 'patient_id', max_rows_per_unit => 2);
SELECT sanitize.population('people; DROP TABLE patients', 3, 1e-4, min_epsilon => 0.1);
SELECT epsilon, epsilon_spent FROM sanitize.populations;
SELECT * FROM pg_temp.said($$SELECT sanitize.charge('stays', 'too little', 0.01)$$) \gx

-- Whose it is.
GRANT regress_officer TO regress_other;
ALTER TABLE wards OWNER TO regress_other;
SET ROLE regress_other;
\x on
SELECT * FROM pg_temp.said($$SELECT sanitize.population('people; DROP TABLE patients', 100)$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.drop_population('people; DROP TABLE patients')$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.protect('wards', 'ward', population => 'people; DROP TABLE patients')$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.protect('patients', 'id', population => 'people; DROP TABLE patients')$$);
\x off
SELECT * FROM sanitize.populations;
SET ROLE regress_officer;
SELECT sanitize.population('officers', 1);
-- A member may put its relation there.
SET ROLE regress_other;
SELECT sanitize.protect('wards', 'ward', population => 'officers');
SELECT name, relations, epsilon FROM sanitize.populations;
SELECT sanitize.unprotect('wards');
SELECT sanitize.drop_population('officers');
RESET ROLE;
ALTER TABLE wards OWNER TO CURRENT_USER;

-- A share is one of the population.
SELECT sanitize.allow('patients', 'regress_other', 1);
SELECT sanitize.allow('stays', 'regress_other', 0.4);
SELECT source, grantee, epsilon, epsilon_spent FROM sanitize.budget WHERE grantee IS NOT NULL ORDER BY source::text;
SET ROLE regress_other;
SELECT sanitize.charge('patients', 'some of the share', 0.3);
SELECT * FROM pg_temp.said($$SELECT sanitize.charge('stays', 'more than the share', 0.2)$$) \gx
SELECT sanitize.charge('stays', 'the rest of it', 0.1);
RESET ROLE;
SELECT source, grantee, epsilon, epsilon_spent FROM sanitize.budget WHERE grantee IS NOT NULL ORDER BY source::text;
-- Who may ask about one relation may not ask about all.
SELECT sanitize.disallow('stays', 'regress_other');
SET ROLE regress_other;
SELECT * FROM pg_temp.said($$SELECT sanitize.charge('stays', 'not any more', 0.1)$$) \gx
RESET ROLE;

-- Nothing is given back: by unprotecting, by dropping the population, by dropping a relation of it.
SELECT sanitize.unprotect('stays');
SELECT name, relations, epsilon_spent FROM sanitize.populations;
SELECT sanitize.unprotect('patients');
SELECT name, relations, epsilon_spent FROM sanitize.populations;
SELECT sanitize.drop_population('people; DROP TABLE patients');
SELECT * FROM sanitize.populations;
SELECT sanitize.protect('stays', 'patient_id', 3, max_rows_per_unit => 3);
SELECT name, relations, epsilon, epsilon_spent FROM sanitize.populations;
SELECT sanitize.unprotect('stays');
SELECT sanitize.population('people; DROP TABLE patients', 3);
SELECT name, relations, epsilon, epsilon_spent FROM sanitize.populations;
SELECT sanitize.population('next', 4);
SELECT sanitize.protect('patients', 'id', population => 'people; DROP TABLE patients');
\x on
SELECT * FROM pg_temp.said($$SELECT sanitize.protect('patients', 'id', population => 'next')$$);
\x off
SELECT sanitize.unprotect('patients');
SELECT sanitize.drop_population('people; DROP TABLE patients');
SELECT sanitize.protect('patients', 'id', population => 'next');
SELECT name, relations, epsilon, epsilon_spent FROM sanitize.populations;
SELECT sanitize.unprotect('patients');
SELECT sanitize.drop_population('next');
DROP TABLE patients, stays;

-- A view, a partition or a child of a protected relation shares its budget, and three views of one table do.
CREATE TABLE visits (person int, ward text, day date) PARTITION BY RANGE (day);
CREATE TABLE visits_1 PARTITION OF visits FOR VALUES FROM ('2026-01-01') TO ('2026-02-01');
CREATE TABLE visits_2 PARTITION OF visits FOR VALUES FROM ('2026-02-01') TO ('2026-03-01');
CREATE VIEW first_view AS SELECT person, ward FROM visits;
CREATE VIEW second_view AS SELECT person, day FROM visits;
CREATE VIEW third_view AS SELECT v.person, w.name FROM first_view AS v JOIN wards AS w USING (ward);
CREATE MATERIALIZED VIEW copied AS SELECT person, ward FROM visits;
CREATE TABLE parent (person int);
CREATE TABLE child () INHERITS (parent);
CREATE VIEW of_wards AS SELECT c.person, w.name FROM child AS c JOIN wards AS w ON w.ward = 'A';
SELECT sanitize.protect('visits', 'person', 1, max_rows_per_unit => 2);
SELECT sanitize.protect('first_view', 'person', max_rows_per_unit => 2);
SELECT sanitize.protect('second_view', 'person', max_rows_per_unit => 2);
\x on
SELECT * FROM pg_temp.said($$SELECT sanitize.protect('third_view', 'person', 1, max_rows_per_unit => 2)$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.protect('visits_1', 'person', 1, max_rows_per_unit => 2)$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.protect('copied', 'person', 1, max_rows_per_unit => 2)$$);
\x off
SELECT sanitize.protect('third_view', 'person', max_rows_per_unit => 2);
SELECT sanitize.protect('visits_1', 'person', max_rows_per_unit => 2);
SELECT sanitize.protect('copied', 'person', max_rows_per_unit => 2);
-- Which joins the same list of wards and is about others.
SELECT sanitize.protect('of_wards', 'person', 1, max_rows_per_unit => 2);
SELECT name, relations, epsilon FROM sanitize.populations ORDER BY relations::text;
SELECT sanitize.charge('third_view', 'a third', 0.4);
SELECT sanitize.charge('visits_1', 'another', 0.4);
SELECT * FROM pg_temp.said($$SELECT sanitize.charge('copied', 'more', 0.4)$$) \gx
SELECT source, epsilon, epsilon_spent FROM sanitize.budget ORDER BY source::text;
-- Its owner changes the budget where it was set; a name can be given to it.
\x on
SELECT * FROM pg_temp.said($$SELECT sanitize.protect('copied', 'person', 2, max_rows_per_unit => 2)$$);
\x off
SELECT sanitize.protect('visits', 'person', 2, max_rows_per_unit => 2);
SELECT sanitize.population('visitors', 3);
SELECT sanitize.protect('copied', 'person', max_rows_per_unit => 2, population => 'visitors');
SELECT name, relations, epsilon, epsilon_spent FROM sanitize.populations ORDER BY relations::text;

-- The other way round, and between two.
SELECT sanitize.protect('child', 'person', max_rows_per_unit => 1);
SELECT sanitize.protect('parent', 'person', max_rows_per_unit => 1);
CREATE VIEW of_both AS SELECT v.person FROM visits AS v JOIN parent AS p ON p.person = v.person;
\x on
SELECT * FROM pg_temp.said($$SELECT sanitize.protect('of_both', 'person', max_rows_per_unit => 1)$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.protect('of_both', 'person', 1, max_rows_per_unit => 1)$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.protect('of_both', 'person', max_rows_per_unit => 1, population => 'visitors')$$);
\x off
-- Those without a name move along.
SELECT sanitize.protect('parent', 'person', max_rows_per_unit => 1, population => 'visitors');
SELECT sanitize.protect('of_both', 'person', max_rows_per_unit => 1);
SELECT name, relations FROM sanitize.populations;

-- Replaced, attached, inherited after it was protected: each charge looks again.
CREATE TABLE elsewhere (person int, ward text, day date);
CREATE VIEW moving AS SELECT person FROM elsewhere;
SELECT sanitize.protect('moving', 'person', 1, max_rows_per_unit => 1);
SELECT sanitize.charge('moving', 'still alone', 0.1);
CREATE OR REPLACE VIEW moving AS SELECT person FROM visits;
\x on
SELECT * FROM pg_temp.said($$SELECT sanitize.charge('moving', 'the visitors', 0.1)$$);
SELECT * FROM pg_temp.said($$SELECT * FROM sanitize.dp_aggregate('moving', '{"n": "count"}', 0.1)$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.charge('second_view', 'which has another budget', 0.1)$$);
\x off
SELECT sanitize.protect('moving', 'person', max_rows_per_unit => 1);
SELECT name, relations, epsilon_spent FROM sanitize.populations;
SELECT sanitize.protect('elsewhere', 'person', 1, max_rows_per_unit => 1);
ALTER TABLE visits ATTACH PARTITION elsewhere FOR VALUES FROM ('2026-03-01') TO ('2026-04-01');
\x on
SELECT * FROM pg_temp.said($$SELECT sanitize.charge('elsewhere', 'attached', 0.1)$$);
SELECT * FROM pg_temp.said($$SELECT sanitize.charge('first_view', 'attached', 0.1)$$);
\x off
SELECT sanitize.protect('elsewhere', 'person', max_rows_per_unit => 1);
SELECT sanitize.charge('first_view', 'of one budget', 0.1);

-- Dropped and made again, a view finds what was spent.
DROP VIEW second_view;
CREATE VIEW second_view AS SELECT person, day FROM visits;
\x on
SELECT * FROM pg_temp.said($$SELECT sanitize.protect('second_view', 'person', 1, max_rows_per_unit => 2)$$);
\x off
SELECT sanitize.protect('second_view', 'person', max_rows_per_unit => 2);
SELECT epsilon, epsilon_spent FROM sanitize.budget WHERE source = 'second_view'::regclass;
-- Renamed, it is the same.
ALTER VIEW second_view RENAME TO renamed;
SELECT sanitize.charge('renamed', 'renamed', 0.1);
SELECT epsilon_spent, relations FROM sanitize.populations WHERE name = 'visitors';
SET client_min_messages = warning;
SELECT sanitize.unprotect(source) FROM sanitize.budget;
DROP TABLE visits, parent, wards CASCADE;
SELECT sanitize.drop_population('visitors');
-- Other cases count all charges.
DELETE FROM sanitize.ledger_entry;
DELETE FROM sanitize.member;
DELETE FROM sanitize.population;
DROP ROLE regress_officer, regress_other;
