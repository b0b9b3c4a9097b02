-- Noisy aggregates of protected relations.

CREATE FUNCTION sanitize.dp_aggregate(source pg_catalog.regclass, measures pg_catalog.jsonb, epsilon pg_catalog.float8, delta pg_catalog.float8 DEFAULT NULL, group_by pg_catalog.text[] DEFAULT NULL, filter pg_catalog.jsonb DEFAULT NULL, groups pg_catalog.jsonb DEFAULT NULL, reuse pg_catalog.interval DEFAULT NULL)
    RETURNS TABLE(groups pg_catalog.jsonb, measure pg_catalog.text, value pg_catalog.numeric, stddev pg_catalog.float8, low pg_catalog.float8, high pg_catalog.float8)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 100 AS 'MODULE_PATHNAME', 'sanitize_dp_aggregate';
COMMENT ON FUNCTION sanitize.dp_aggregate(pg_catalog.regclass, pg_catalog.jsonb, pg_catalog.float8, pg_catalog.float8, pg_catalog.text[], pg_catalog.jsonb, pg_catalog.jsonb, pg_catalog.interval) IS
    'noisy counts, sums, means, variances, quantiles and histograms of a protected relation, with 95 % intervals; charged to the budget first, unless an answer to the same question is at most as old as reuse. The caller needs sanitize.allow and no right to read';

CREATE FUNCTION sanitize.dp_cost(source pg_catalog.regclass, measures pg_catalog.jsonb, epsilon pg_catalog.float8, delta pg_catalog.float8 DEFAULT NULL, group_by pg_catalog.text[] DEFAULT NULL, filter pg_catalog.jsonb DEFAULT NULL, groups pg_catalog.jsonb DEFAULT NULL, reuse pg_catalog.interval DEFAULT NULL)
    RETURNS TABLE(epsilon pg_catalog.float8, delta pg_catalog.float8, remaining_epsilon pg_catalog.float8, remaining_delta pg_catalog.float8, stddev pg_catalog.jsonb)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_dp_cost';
COMMENT ON FUNCTION sanitize.dp_cost(pg_catalog.regclass, pg_catalog.jsonb, pg_catalog.float8, pg_catalog.float8, pg_catalog.text[], pg_catalog.jsonb, pg_catalog.jsonb, pg_catalog.interval) IS
    'what sanitize.dp_aggregate with these arguments will charge, what is left now, and how wide the noise will be; charges nothing and looks at no row';

-- Answers are kept for whoever asks the same again. They are noisy and paid for.
CREATE TABLE sanitize.answer (
    source pg_catalog.regclass NOT NULL,
    question_hash pg_catalog.bytea NOT NULL,
    question pg_catalog.jsonb NOT NULL,
    answered_at pg_catalog.timestamptz NOT NULL,
    entry pg_catalog.int8 NOT NULL,
    answer pg_catalog.jsonb NOT NULL,
    row_type pg_catalog.regtype GENERATED ALWAYS AS (sanitize.row_type(source)) STORED,
    PRIMARY KEY (source, question_hash)
);
COMMENT ON TABLE sanitize.answer IS 'the last answer to each question, by the question without the order of its parts';
SELECT pg_catalog.pg_extension_config_dump('sanitize.answer',
    'WHERE sanitize.row_type(source) = row_type');

CREATE VIEW sanitize.answers WITH (security_barrier) AS
    SELECT a.source, sanitize.grid_time(a.answered_at) AS "when", a.question, r.groups, r.measure, r.value, r.stddev, r.low, r.high, a.entry
      FROM sanitize.answer AS a
      JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) a.source AND c.reltype OPERATOR(pg_catalog.=) a.row_type
     CROSS JOIN LATERAL pg_catalog.jsonb_to_recordset(a.answer)
           AS r(groups pg_catalog.jsonb, measure pg_catalog.text, value pg_catalog.numeric, stddev pg_catalog.float8, low pg_catalog.float8, high pg_catalog.float8)
     WHERE pg_catalog.pg_has_role(c.relowner, 'USAGE')
        OR EXISTS (SELECT FROM sanitize.allowance AS w
                    WHERE w.source OPERATOR(pg_catalog.=) a.source AND w.row_type OPERATOR(pg_catalog.=) a.row_type
                      AND w.grantee_name OPERATOR(pg_catalog.=) sanitize.role_name(w.grantee)
                      AND pg_catalog.pg_has_role(w.grantee, 'USAGE'));
COMMENT ON VIEW sanitize.answers IS
    'the last answer to each question about the relations that you own or may ask about, with the entry of the ledger that paid for it';
GRANT SELECT ON sanitize.answers TO PUBLIC;

-- The curator's tools: they know no budget and ask nobody.

CREATE FUNCTION sanitize.dp_noise(value pg_catalog.int8, sensitivity pg_catalog.int8, epsilon pg_catalog.float8, mechanism pg_catalog.text DEFAULT 'laplace', delta pg_catalog.float8 DEFAULT NULL)
    RETURNS pg_catalog.int8
    LANGUAGE c VOLATILE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_dp_noise';
COMMENT ON FUNCTION sanitize.dp_noise(pg_catalog.int8, pg_catalog.int8, pg_catalog.float8, pg_catalog.text, pg_catalog.float8) IS
    'the value plus exact discrete noise for that sensitivity: laplace, or gaussian (with delta, or without one epsilon^2/2-zCDP). No ledger: for one''s own aggregates';

-- The state is the sum in 128 bits: the high half and the low one.
CREATE FUNCTION sanitize.clamped_sum_trans(pg_catalog.int8[], pg_catalog.int8, pg_catalog.int8, pg_catalog.int8)
    RETURNS pg_catalog.int8[]
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_clamped_sum_trans';
CREATE FUNCTION sanitize.clamped_squares_trans(pg_catalog.int8[], pg_catalog.int8, pg_catalog.int8, pg_catalog.int8)
    RETURNS pg_catalog.int8[]
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_clamped_squares_trans';
CREATE FUNCTION sanitize.clamped_combine(pg_catalog.int8[], pg_catalog.int8[])
    RETURNS pg_catalog.int8[]
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_clamped_combine';
CREATE FUNCTION sanitize.clamped_final(pg_catalog.int8[]) RETURNS pg_catalog.int8
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_clamped_final';
COMMENT ON FUNCTION sanitize.clamped_sum_trans(pg_catalog.int8[], pg_catalog.int8, pg_catalog.int8, pg_catalog.int8) IS 'part of the aggregate clamped_sum';
COMMENT ON FUNCTION sanitize.clamped_squares_trans(pg_catalog.int8[], pg_catalog.int8, pg_catalog.int8, pg_catalog.int8) IS 'part of the aggregate clamped_sum_squares';
COMMENT ON FUNCTION sanitize.clamped_combine(pg_catalog.int8[], pg_catalog.int8[]) IS 'part of the clamped aggregates';
COMMENT ON FUNCTION sanitize.clamped_final(pg_catalog.int8[]) IS 'part of the clamped aggregates';

CREATE AGGREGATE sanitize.clamped_sum(x pg_catalog.int8, low pg_catalog.int8, high pg_catalog.int8) (
    SFUNC = sanitize.clamped_sum_trans,
    STYPE = pg_catalog.int8[],
    INITCOND = '{0,0}',
    FINALFUNC = sanitize.clamped_final,
    COMBINEFUNC = sanitize.clamped_combine,
    PARALLEL = safe
);
COMMENT ON AGGREGATE sanitize.clamped_sum(pg_catalog.int8, pg_catalog.int8, pg_catalog.int8) IS
    'the sum of values moved into low..high; NULL counts nothing. One row moves it by at most greatest(abs(low), abs(high)), and it cannot overflow: it stops at the ends of bigint';

CREATE AGGREGATE sanitize.clamped_sum_squares(x pg_catalog.int8, low pg_catalog.int8, high pg_catalog.int8) (
    SFUNC = sanitize.clamped_squares_trans,
    STYPE = pg_catalog.int8[],
    INITCOND = '{0,0}',
    FINALFUNC = sanitize.clamped_final,
    COMBINEFUNC = sanitize.clamped_combine,
    PARALLEL = safe
);
COMMENT ON AGGREGATE sanitize.clamped_sum_squares(pg_catalog.int8, pg_catalog.int8, pg_catalog.int8) IS
    'the sum of the squares of values moved into low..high; NULL counts nothing. It stops at the ends of bigint';

CREATE FUNCTION sanitize.bounded_rows_trans(sanitize.bag, pg_catalog.jsonb, VARIADIC "any")
    RETURNS sanitize.bag
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_bounded_rows_trans';
CREATE FUNCTION sanitize.bounded_rows_final(sanitize.bag) RETURNS sanitize.bag
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_bounded_rows_final';
COMMENT ON FUNCTION sanitize.bounded_rows_trans(sanitize.bag, pg_catalog.jsonb, "any") IS 'part of the aggregate bounded_rows';
COMMENT ON FUNCTION sanitize.bounded_rows_final(sanitize.bag) IS 'part of the aggregate bounded_rows';

CREATE AGGREGATE sanitize.bounded_rows(terms pg_catalog.jsonb, VARIADIC columns "any") (
    SFUNC = sanitize.bounded_rows_trans,
    STYPE = sanitize.bag,
    SSPACE = 1048576,
    FINALFUNC = sanitize.bounded_rows_final,
    FINALFUNC_MODIFY = read_write,
    PARALLEL = unsafe
);
COMMENT ON AGGREGATE sanitize.bounded_rows(pg_catalog.jsonb, "any") IS
    'what dp_aggregate asks of a shard: at most so many random rows of each unit, without the unit, as a bag. It holds the data itself and adds no noise';
