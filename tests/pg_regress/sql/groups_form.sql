-- Groups are written in one form, whoever asks: the function, its label, a release.
SET client_min_messages = warning;
CREATE TABLE stays AS SELECT i AS id, 'W' || i % 3 AS ward, i % 2 = 0 AS smoker FROM generate_series(1, 90) AS i;
ALTER TABLE stays ADD PRIMARY KEY (id);
SELECT sanitize.protect('stays', 'id', 100, 1e-4);
CREATE TEMP TABLE form (form jsonb, by text[]);
INSERT INTO form VALUES ('["W0", "W1"]', '{ward}'), ('[{"ward": "W0"}]', '{ward}'), ('{"ward": ["W0", "W1"], "smoker": [true, false]}', '{ward,smoker}');
SELECT form, (SELECT count(*) FROM sanitize.dp_aggregate('stays', '{"n": "count"}', 1, group_by => by, groups => form)) AS asked,
       sanitize.guarantee('dp_aggregate', jsonb_build_object('epsilon', 1, 'measures', '{"n": "count"}'::jsonb, 'group_by', by, 'groups', form)) ->> 'kind' AS labelled,
       sanitize.publish('shown', 'stays', 'dp_aggregate', jsonb_build_object('epsilon', 1, 'measures', '{"n": "count"}'::jsonb, 'group_by', by, 'groups', form)) -> 'rows' AS published
  FROM form ORDER BY form;
SELECT sanitize.guarantee('dp_aggregate', '{"epsilon": 1, "measures": {"n": "count"}, "group_by": ["ward"], "groups": "W0"}');
SELECT sanitize.unprotect('stays');
DROP TABLE stays, shown;
