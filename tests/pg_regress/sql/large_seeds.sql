-- Seeds for many items: fields of up to 2^26 elements.
SELECT sanitize.seed_bits(5000000, 10, 5, 1, 1) AS one, sanitize.seed_bits(1000000, 10, 5, 1, 5) AS five, sanitize.seed_bits(67108863, 10, 5, 1, 1) AS largest, sanitize.seed_bits(4194303, 10, 5, 1, 16) AS sixteen;
WITH drawn AS MATERIALIZED (SELECT sanitize.randomize_to_seed('{1,500000,1000000}', 1000000, 2, 1, 5, '{0.00001,0.00001,0.00001,0.99997}', seed => 1) AS seed_value),
items AS MATERIALIZED (SELECT seed_value, sanitize.seed_items(seed_value, 1000000, 3, 2, 1, 5) AS items FROM drawn)
SELECT octet_length(seed_value) AS bytes, items @> '{1,500000,1000000}' AS kept, cardinality(items) BETWEEN 30000 AND 32500 AS by_chance,
       (SELECT bool_and(sanitize.seed_contains(seed_value, item, 1000000, 3, 2, 1, 5)) FROM unnest(items[1:20]) AS item) AS agree,
       (SELECT count(*) FROM generate_series(2, 500) AS item WHERE sanitize.seed_contains(seed_value, item, 1000000, 3, 2, 1, 5)) = (SELECT count(*) FROM unnest(items) AS item WHERE item BETWEEN 2 AND 500) AS same
  FROM items;
SELECT sanitize.seed_bits(5000000, 10, 5, 1, 14);
SELECT sanitize.seed_bits(67108864, 10, 5, 1, 1);
