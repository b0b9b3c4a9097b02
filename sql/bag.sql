-- The bag: distinct rows of a relation with their counts.
CREATE TYPE sanitize.bag;

CREATE FUNCTION sanitize.bag_in(pg_catalog.cstring) RETURNS sanitize.bag
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_bag_in';
CREATE FUNCTION sanitize.bag_out(sanitize.bag) RETURNS pg_catalog.cstring
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_bag_out';
CREATE FUNCTION sanitize.bag_recv(pg_catalog.internal) RETURNS sanitize.bag
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_bag_recv';
CREATE FUNCTION sanitize.bag_send(sanitize.bag) RETURNS pg_catalog.bytea
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_bag_send';

CREATE TYPE sanitize.bag (
    INPUT = sanitize.bag_in,
    OUTPUT = sanitize.bag_out,
    RECEIVE = sanitize.bag_recv,
    SEND = sanitize.bag_send,
    INTERNALLENGTH = VARIABLE,
    STORAGE = extended
);
COMMENT ON TYPE sanitize.bag IS
    'the distinct rows of a relation with their counts; made by sanitize.row_bag, taken by the mining functions and measures. It holds the data itself: protect it as you protect the table';
COMMENT ON FUNCTION sanitize.bag_in(pg_catalog.cstring) IS 'text form of a bag (as bytea), checked';
COMMENT ON FUNCTION sanitize.bag_out(sanitize.bag) IS 'text form of a bag (as bytea)';
COMMENT ON FUNCTION sanitize.bag_recv(pg_catalog.internal) IS 'binary form of a bag, checked';
COMMENT ON FUNCTION sanitize.bag_send(sanitize.bag) IS 'binary form of a bag';

CREATE FUNCTION sanitize.row_bag_trans(pg_catalog.internal, pg_catalog.record)
    RETURNS pg_catalog.internal
    LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_row_bag_trans';
CREATE FUNCTION sanitize.row_bag_combine(pg_catalog.internal, pg_catalog.internal)
    RETURNS pg_catalog.internal
    LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_row_bag_combine';
CREATE FUNCTION sanitize.row_bag_serial(pg_catalog.internal) RETURNS pg_catalog.bytea
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_row_bag_serial';
CREATE FUNCTION sanitize.row_bag_deserial(pg_catalog.bytea, pg_catalog.internal)
    RETURNS pg_catalog.internal
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_row_bag_deserial';
CREATE FUNCTION sanitize.row_bag_final(pg_catalog.internal) RETURNS sanitize.bag
    LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_row_bag_final';
COMMENT ON FUNCTION sanitize.row_bag_trans(pg_catalog.internal, pg_catalog.record) IS 'part of the aggregate row_bag';
COMMENT ON FUNCTION sanitize.row_bag_combine(pg_catalog.internal, pg_catalog.internal) IS 'part of the aggregate row_bag';
COMMENT ON FUNCTION sanitize.row_bag_serial(pg_catalog.internal) IS 'part of the aggregate row_bag';
COMMENT ON FUNCTION sanitize.row_bag_deserial(pg_catalog.bytea, pg_catalog.internal) IS 'part of the aggregate row_bag';
COMMENT ON FUNCTION sanitize.row_bag_final(pg_catalog.internal) IS 'part of the aggregate row_bag';

CREATE AGGREGATE sanitize.row_bag(pg_catalog.record) (
    SFUNC = sanitize.row_bag_trans,
    STYPE = pg_catalog.internal,
    SSPACE = 1048576,
    FINALFUNC = sanitize.row_bag_final,
    FINALFUNC_MODIFY = read_write,
    COMBINEFUNC = sanitize.row_bag_combine,
    SERIALFUNC = sanitize.row_bag_serial,
    DESERIALFUNC = sanitize.row_bag_deserial,
    PARALLEL = safe
);
COMMENT ON AGGREGATE sanitize.row_bag(pg_catalog.record) IS
    'the rows as a bag: SELECT sanitize.row_bag(t) FROM patients t. NULL if there are no rows';
