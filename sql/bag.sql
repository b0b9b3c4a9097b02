-- The bag: distinct rows of a relation with their counts.
CREATE TYPE sanitize.bag (
    INPUT = sanitize_internal.bag_in,
    OUTPUT = sanitize_internal.bag_out,
    RECEIVE = sanitize_internal.bag_recv,
    SEND = sanitize_internal.bag_send,
    INTERNALLENGTH = VARIABLE,
    STORAGE = extended
);
COMMENT ON TYPE sanitize.bag IS
    'the distinct rows of a relation with their counts; made by sanitize.row_bag, taken by the mining functions and measures. It holds the data itself: protect it as you protect the table';

-- The aggregates' state is a bag that is worked on in place and written only when it travels, between the
-- processes of a parallel query or between servers.
CREATE AGGREGATE sanitize.row_bag(pg_catalog.record) (
    SFUNC = sanitize_internal.row_bag_trans,
    STYPE = sanitize.bag,
    SSPACE = 1048576,
    FINALFUNC = sanitize_internal.row_bag_final,
    FINALFUNC_MODIFY = read_write,
    COMBINEFUNC = sanitize_internal.row_bag_combine,
    PARALLEL = safe
);
COMMENT ON AGGREGATE sanitize.row_bag(pg_catalog.record) IS
    'the rows as a bag: SELECT sanitize.row_bag(t) FROM patients t. NULL if there are no rows';

CREATE AGGREGATE sanitize.row_bag(names pg_catalog.text[], VARIADIC columns pg_catalog."any") (
    SFUNC = sanitize_internal.row_bag_columns_trans,
    STYPE = sanitize.bag,
    SSPACE = 1048576,
    FINALFUNC = sanitize_internal.row_bag_final,
    FINALFUNC_MODIFY = read_write,
    COMBINEFUNC = sanitize_internal.row_bag_combine,
    PARALLEL = safe
);
COMMENT ON AGGREGATE sanitize.row_bag(pg_catalog.text[], pg_catalog."any") IS
    'columns under the given names as a bag: SELECT sanitize.row_bag(ARRAY[''age'', ''sex''], age, sex) FROM patients. NULL if there are no rows';

-- The same with names in a type without a collation. postgres_fdw ships an aggregate only if the collation of
-- its arguments comes from a column of the foreign table; text[] has one, and a table of numbers has none.
CREATE AGGREGATE sanitize.row_bag(names pg_catalog.cstring[], VARIADIC columns pg_catalog."any") (
    SFUNC = sanitize_internal.row_bag_columns_trans,
    STYPE = sanitize.bag,
    SSPACE = 1048576,
    FINALFUNC = sanitize_internal.row_bag_final,
    FINALFUNC_MODIFY = read_write,
    COMBINEFUNC = sanitize_internal.row_bag_combine,
    PARALLEL = safe
);
COMMENT ON AGGREGATE sanitize.row_bag(pg_catalog.cstring[], pg_catalog."any") IS
    'columns under the given names as a bag, for remote servers: as row_bag(text[], …), but postgres_fdw ships it for any columns';

-- Citus runs an aggregate on its workers only if the arguments are of exactly the types that are declared: neither
-- a record nor "any" is ever the type of a value.
CREATE AGGREGATE sanitize.cell_bag(names pg_catalog.text[], cells pg_catalog.text[]) (
    SFUNC = sanitize_internal.cell_bag_trans,
    STYPE = sanitize.bag,
    SSPACE = 1048576,
    FINALFUNC = sanitize_internal.row_bag_final,
    FINALFUNC_MODIFY = read_write,
    COMBINEFUNC = sanitize_internal.row_bag_combine,
    PARALLEL = safe
);
COMMENT ON AGGREGATE sanitize.cell_bag(pg_catalog.text[], pg_catalog.text[]) IS
    'rows given as the texts of their cells as a bag: SELECT sanitize.cell_bag(ARRAY[''age'', ''sex''], ARRAY[age::text, sex]) FROM patients. NULL if there are no rows';
