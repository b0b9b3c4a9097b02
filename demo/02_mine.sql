-- Names are not in the table. Who can be found all the same?
\pset linestyle unicode
\echo
\echo '=== What singles people out: minimal infrequent itemsets ==='
\echo 'A combination of values that at most 3 rows share, while every part of it is shared by more.'
\echo 'Whoever knows these values of somebody knows nearly which rows are theirs.'
\timing on
SELECT length, count(*) AS combinations, min(support) AS fewest_rows
FROM sanitize.mine_miis('stays', theta => 3,
    columns => '{sex,birth_year,postcode,profession,insurance,ward}', max_length => 4)
GROUP BY length ORDER BY length;
\timing off

\echo
\echo '=== The shortest of them, among people with a profession ==='
\timing on
SELECT items, support
FROM sanitize.mine_miis('stays', theta => 3,
    columns => '{sex,postcode,profession,insurance}', max_length => 2)
WHERE items ? 'profession'
LIMIT 8;
\timing off

\echo
\echo '=== Such a combination is an attack: one neighbour, one query, one diagnosis ==='
\timing on
SELECT items AS the_neighbour_knows, admission AS and_learns_when, diagnosis AS and_what
FROM sanitize.mine_miis('stays', theta => 1, columns => '{postcode,profession}')
JOIN stays ON postcode = items ->> 'postcode' AND profession = items ->> 'profession'
ORDER BY items LIMIT 4;
\timing off

\echo
\echo '=== Which columns are the dangerous ones ==='
\echo 'cells: how many values of the column would have to be hidden to leave no such combination.'
\timing on
SELECT column_name, miis, cells, round(100.0 * cells / 20000, 1) AS percent_of_cells
FROM sanitize.mii_risk('stays', theta => 3,
    columns => '{sex,birth_year,postcode,profession,insurance,ward}', max_length => 3)
WHERE value IS NULL ORDER BY cells DESC;
\timing off

\echo
\echo '=== And which values ==='
\echo 'miis: combinations with that value; rows: stays that have the value and stand out.'
\timing on
SELECT column_name, value, miis, rows
FROM sanitize.mii_risk('stays', theta => 3,
    columns => '{sex,profession,insurance,ward}', max_length => 3)
WHERE value IS NOT NULL ORDER BY miis DESC, value LIMIT 8;
\timing off

\echo
\echo '=== The other side: what is common and can be told without harm ==='
\timing on
SELECT items, support
FROM sanitize.frequent_itemsets('stays', min_support => 1500,
    columns => '{sex,profession,insurance,ward}', closed => true)
WHERE length >= 2 ORDER BY support DESC LIMIT 8;
\timing off

\echo
\echo '=== Any query can be mined: row_bag is an aggregate, here one bag per ward ==='
\timing on
SELECT ward, stays, (SELECT count(*) FROM sanitize.mine_miis(bag, theta => 3)) AS combinations
FROM (SELECT ward, count(*) AS stays, sanitize.row_bag(t) AS bag
      FROM stays CROSS JOIN LATERAL (SELECT sex, birth_year / 10 * 10 AS decade, postcode, insurance) AS t
      GROUP BY ward) AS by_ward
ORDER BY ward;
\timing off
