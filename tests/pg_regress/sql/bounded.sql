-- What dp_aggregate asks of a shard: so many rows of each unit, a mark in place of the unit.
CREATE TABLE bounded_visits (person int, ward text, age int);
INSERT INTO bounded_visits SELECT u, chr(65 + r % 3), 10 * r FROM generate_series(1, 100) AS u, generate_series(1, 4) AS r;
INSERT INTO bounded_visits VALUES (NULL, 'A', 1);
CREATE FUNCTION bounded_terms(further jsonb DEFAULT '{}') RETURNS jsonb IMMUTABLE LANGUAGE sql AS $$
    SELECT jsonb_build_object('rows_per_unit', 4, 'groups_per_unit', 4, 'types', '[20, 25]'::jsonb, 'hash', NULL,
        'encoding', pg_char_to_encoding(getdatabaseencoding()), 'probe', hashtextextended('pg_sanitize', 0),
        'groups', NULL) || further $$;
-- The marks: one for each unit in each of its groups. Nothing tells the unit.
SELECT items, support FROM sanitize.frequent_itemsets(
    (SELECT sanitize_internal.bounded_rows(bounded_terms(), person, ward, age) FROM bounded_visits), 1)
 WHERE items ? 'c0' ORDER BY 1;
SELECT items, support FROM sanitize.frequent_itemsets(
    (SELECT sanitize_internal.bounded_rows(bounded_terms('{"groups_per_unit": 1, "groups": [["A"]]}'), person, ward) FROM bounded_visits), 1)
 ORDER BY 1;
SELECT sum(support) FROM sanitize.frequent_itemsets(
    (SELECT sanitize_internal.bounded_rows(bounded_terms('{"rows_per_unit": 2}'), person, ward) FROM bounded_visits), 1)
 WHERE items ? 'c0' AND length = 1;
-- Units are found in the partition that Postgres finds them in.
CREATE TABLE bounded_parts (person int) PARTITION BY HASH (person);
SELECT r, coalesce((SELECT sum(support) FROM sanitize.frequent_itemsets(
           (SELECT sanitize_internal.bounded_rows(bounded_terms(jsonb_build_object('hash', jsonb_build_array(7, r))), person, ward)
              FROM bounded_visits), 1) WHERE items ? 'c0' AND length = 1), 0)
       = (SELECT count(*) FROM bounded_visits WHERE person IS NOT NULL
             AND satisfies_hash_partition('bounded_parts'::regclass, 7, r, person)) AS same
  FROM generate_series(0, 6) AS r;
-- No rows are a bag without rows; a shard that cannot do what is asked says NULL.
SELECT sanitize_internal.bounded_rows(bounded_terms(), person, ward) IS NOT NULL FROM bounded_visits WHERE false;
SELECT sanitize_internal.bounded_rows(bounded_terms(), person, ward) FILTER (WHERE false) IS NOT NULL FROM bounded_visits;
SELECT sanitize_internal.bounded_rows(bounded_terms(), person, age) IS NULL AS types,
       sanitize_internal.bounded_rows(bounded_terms(), person) IS NULL AS fewer,
       sanitize_internal.bounded_rows(bounded_terms(), person::bpchar, ward) IS NULL AS blanks,
       sanitize_internal.bounded_rows(bounded_terms('{"encoding": 1}'), person, ward) IS NULL AS encoding,
       sanitize_internal.bounded_rows(bounded_terms('{"probe": 1}'), person, ward) IS NULL AS hashes,
       sanitize_internal.bounded_rows(bounded_terms('{"hash": [0, 0]}'), person, ward) IS NULL AS modulus,
       sanitize_internal.bounded_rows(bounded_terms('{"types": []}'), person, ward) IS NULL AS no_unit,
       sanitize_internal.bounded_rows(bounded_terms(), VARIADIC ARRAY[person, age]) IS NULL AS array,
       sanitize_internal.bounded_rows(bounded_terms(), person::bigint, ward::varchar) IS NULL AS alike
  FROM bounded_visits;
-- Whether there is room depends on all rows, whichever of them count.
SELECT most, asked.age,
       sanitize_internal.bounded_rows(bounded_terms(jsonb_build_object('flagged', true, 'most_bytes', most)),
           ARRAY[v.age = asked.age], person, ward) IS NULL AS no_room
  FROM bounded_visits AS v, (VALUES (31000, 10), (31000, 99), (90000, 10), (90000, 99)) AS asked(most, age)
 GROUP BY 1, 2 ORDER BY 1, 2;
-- Units are told apart by all of a long text.
SELECT sum(support) FROM sanitize.frequent_itemsets(
    (SELECT sanitize_internal.bounded_rows(bounded_terms('{"rows_per_unit": 1, "types": [25, 25]}'),
        repeat('long ', 100) || person, ward) FROM bounded_visits), 1)
 WHERE items ? 'c0' AND length = 1;
\set VERBOSITY terse
SELECT sanitize_internal.bounded_rows('{}', person, ward) FROM bounded_visits;
SELECT sanitize_internal.bounded_rows(bounded_terms('{"seed": 7}'), person, ward) FROM bounded_visits;
SELECT sanitize_internal.bounded_rows(bounded_terms('{"rows_per_unit": -1}'), person, ward) FROM bounded_visits;
SELECT sanitize_internal.bounded_rows(NULL, person, ward) FROM bounded_visits;
SELECT sanitize_internal.bounded_rows(bounded_terms()) FROM bounded_visits;
\set VERBOSITY default
DROP TABLE bounded_visits, bounded_parts;
DROP FUNCTION bounded_terms;
