-- Noisy aggregates of protected relations. Answers are kept for whoever asks the same again. They are noisy and paid for.
CREATE TABLE sanitize.answer (
    source pg_catalog.regclass NOT NULL,
    question_hash pg_catalog.bytea NOT NULL,
    question pg_catalog.jsonb NOT NULL,
    answered_at pg_catalog.timestamptz NOT NULL,
    entry pg_catalog.int8 NOT NULL,
    answer pg_catalog.jsonb NOT NULL,
    row_type pg_catalog.regtype GENERATED ALWAYS AS (sanitize_internal.row_type(source)) STORED,
    PRIMARY KEY (source, question_hash)
);
COMMENT ON TABLE sanitize.answer IS 'the last answer to each question, by the question without the order of its parts';
SELECT pg_catalog.pg_extension_config_dump('sanitize.answer',
    'WHERE sanitize_internal.row_type(source) = row_type');

CREATE VIEW sanitize.answers WITH (security_barrier) AS
    SELECT a.source, sanitize_internal.grid_time(a.answered_at) AS "when", a.question, r.groups, r.measure, r.value, r.stddev, r.low, r.high, a.entry
      FROM sanitize.answer AS a
      JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) a.source AND c.reltype OPERATOR(pg_catalog.=) a.row_type
     CROSS JOIN LATERAL pg_catalog.jsonb_to_recordset(a.answer)
           AS r(groups pg_catalog.jsonb, measure pg_catalog.text, value pg_catalog.numeric, stddev pg_catalog.float8, low pg_catalog.float8, high pg_catalog.float8)
     WHERE pg_catalog.pg_has_role(c.relowner, 'USAGE')
        OR EXISTS (SELECT FROM sanitize.allowance AS w
                    WHERE w.source OPERATOR(pg_catalog.=) a.source AND w.row_type OPERATOR(pg_catalog.=) a.row_type
                      AND w.grantee_name OPERATOR(pg_catalog.=) sanitize_internal.role_name(w.grantee)
                      AND pg_catalog.pg_has_role(w.grantee, 'USAGE'));
COMMENT ON VIEW sanitize.answers IS
    'the last answer to each question about the relations that you own or may ask about, with the entry of the ledger that paid for it';
GRANT SELECT ON sanitize.answers TO PUBLIC;

-- The curator's tools: they know no budget and ask nobody. The state is the sum in 128 bits: the high half and the
-- low one.
CREATE AGGREGATE sanitize.clamped_sum(x pg_catalog.int8, low pg_catalog.int8, high pg_catalog.int8) (
    SFUNC = sanitize_internal.clamped_sum_trans,
    STYPE = pg_catalog.int8[],
    INITCOND = '{0,0}',
    FINALFUNC = sanitize_internal.clamped_final,
    COMBINEFUNC = sanitize_internal.clamped_combine,
    PARALLEL = safe
);
COMMENT ON AGGREGATE sanitize.clamped_sum(pg_catalog.int8, pg_catalog.int8, pg_catalog.int8) IS
    'the sum of values moved into low..high; NULL counts nothing. One row moves it by at most greatest(abs(low), abs(high)), and it cannot overflow: it stops at the ends of bigint';

CREATE AGGREGATE sanitize.clamped_sum_squares(x pg_catalog.int8, low pg_catalog.int8, high pg_catalog.int8) (
    SFUNC = sanitize_internal.clamped_squares_trans,
    STYPE = pg_catalog.int8[],
    INITCOND = '{0,0}',
    FINALFUNC = sanitize_internal.clamped_final,
    COMBINEFUNC = sanitize_internal.clamped_combine,
    PARALLEL = safe
);
COMMENT ON AGGREGATE sanitize.clamped_sum_squares(pg_catalog.int8, pg_catalog.int8, pg_catalog.int8) IS
    'the sum of the squares of values moved into low..high; NULL counts nothing. It stops at the ends of bigint';

CREATE AGGREGATE sanitize_internal.bounded_rows(terms pg_catalog.jsonb, VARIADIC columns "any") (
    SFUNC = sanitize_internal.bounded_rows_trans,
    STYPE = sanitize.bag,
    SSPACE = 1048576,
    FINALFUNC = sanitize_internal.bounded_rows_final,
    FINALFUNC_MODIFY = read_write,
    PARALLEL = unsafe
);
COMMENT ON AGGREGATE sanitize_internal.bounded_rows(pg_catalog.jsonb, "any") IS
    'what dp_aggregate asks of a shard: at most so many random rows of each unit, without the unit, as a bag. It holds the data itself and adds no noise';
