-- Orthogonal arrays, their MII counts, and the bound.
CREATE FUNCTION counts(array_columns int, array_levels int, array_strength int, threshold int)
RETURNS TABLE(length int, count bigint) LANGUAGE plpgsql AS $$
BEGIN
    DROP TABLE IF EXISTS array_rows;
    EXECUTE format('CREATE TEMP TABLE array_rows AS SELECT %s FROM sanitize.orthogonal_array($1, $2, $3) AS r',
        (SELECT string_agg(format('r[%s] AS c%s', i, i), ', ') FROM generate_series(1, array_columns) AS i))
        USING array_columns, array_levels, array_strength;
    RETURN QUERY SELECT m.length, count(*) FROM sanitize.mine_miis('array_rows', threshold) AS m GROUP BY 1;
END $$;
SET client_min_messages = warning;

SELECT * FROM sanitize.orthogonal_array(6, 5, 2) LIMIT 4;
SELECT r FROM sanitize.orthogonal_array(6, 5, 2) WITH ORDINALITY AS a(r, n) ORDER BY n DESC LIMIT 1;
SELECT * FROM sanitize.orthogonal_array(6, 5, 3) LIMIT 4;
SELECT * FROM sanitize.orthogonal_array(5, 4, 3) LIMIT 4;
SELECT * FROM sanitize.orthogonal_array(4, 9, 2) LIMIT 4;
SELECT * FROM sanitize.orthogonal_array(4, 3, 2);

-- s^l C(n, l) MIIs of length l = t - i for s^i <= theta < s^(i+1), singletons from s^(t-1) on.
SELECT n, s, t, theta, c.*
  FROM (VALUES (6, 5, 2, 1), (6, 5, 2, 3), (6, 5, 2, 4), (6, 5, 2, 5), (6, 5, 2, 25),
               (6, 5, 3, 4), (6, 5, 3, 24), (4, 3, 2, 1), (4, 3, 2, 3), (5, 4, 2, 3), (5, 4, 2, 16),
               (5, 4, 3, 1), (5, 4, 3, 4), (4, 7, 2, 6), (4, 9, 2, 1), (4, 9, 2, 9),
               (8, 8, 3, 1), (5, 16, 2, 1), (5, 27, 2, 1)) AS v(n, s, t, theta),
       LATERAL counts(n, s, t, theta) AS c;

-- The bound is reached by small arrays and never passed.
SELECT sanitize.mii_bound(25, 6), sanitize.mii_bound(6, 4), sanitize.mii_bound(18, 6), sanitize.mii_bound(45222, 15);
SELECT sanitize.mii_bound(0, 5), sanitize.mii_bound(7, 0), sanitize.mii_bound(7, 1);
SELECT sanitize.mii_bound(9223372036854775807, 100);
SELECT length(sanitize.mii_bound(1, 1600)::text);

CREATE TEMP TABLE six (a int, b int, c int, d int);
INSERT INTO six VALUES (0,0,0,0), (0,1,1,1), (0,2,2,2), (1,0,1,2), (1,1,2,0), (1,2,0,1);
SELECT count(*), min(length), max(length) FROM sanitize.mine_miis('six', 1);
SELECT count(*), min(length), max(length) FROM sanitize.mine_miis('six', 3);

CREATE TEMP TABLE eighteen (a int, b int, c int, d int, e int, f int);
INSERT INTO eighteen VALUES
    (0,0,0,0,0,0), (0,0,2,2,2,1), (0,1,0,1,1,1), (0,1,1,2,0,2), (0,2,1,1,2,0), (0,2,2,0,1,2),
    (1,0,1,0,2,2), (1,0,2,1,1,0), (1,1,0,2,2,0), (1,1,2,0,0,1), (1,2,0,1,0,2), (1,2,1,2,1,1),
    (2,0,0,2,1,2), (2,0,1,1,0,1), (2,1,1,0,1,0), (2,1,2,1,2,2), (2,2,0,0,2,1), (2,2,2,2,0,0);
SELECT theta, count(*), min(length), max(length)
  FROM unnest(ARRAY[1, 2, 3, 6]) AS theta, sanitize.mine_miis('eighteen', theta) GROUP BY 1 ORDER BY 1;
DROP FUNCTION counts;
