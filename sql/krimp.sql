-- Krimp: the patterns that describe a table in few bits, and tables drawn from them.
CREATE FUNCTION sanitize.krimp_codetable(source pg_catalog.regclass, min_support pg_catalog.int8,
        columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL,
        candidates pg_catalog.text DEFAULT 'all', forbidden pg_catalog.jsonb DEFAULT NULL,
        prune pg_catalog.bool DEFAULT false, max_time pg_catalog.interval DEFAULT NULL)
    RETURNS TABLE(rank pg_catalog.int4, items pg_catalog.jsonb, length pg_catalog.int4, support pg_catalog.int8,
        usage pg_catalog.int8, code_length pg_catalog.float8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_krimp_codetable';
COMMENT ON FUNCTION sanitize.krimp_codetable(pg_catalog.regclass, pg_catalog.int8, pg_catalog.text[], pg_catalog.int4, pg_catalog.text, pg_catalog.jsonb, pg_catalog.bool, pg_catalog.interval) IS
    'the code table that Krimp fits to the relation: the patterns that together describe it in the fewest bits, in the order in which they cover rows; code_length in bits, NULL where a pattern is not used';

CREATE FUNCTION sanitize.krimp_model(source pg_catalog.regclass, min_support pg_catalog.int8,
        columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL,
        candidates pg_catalog.text DEFAULT 'all', forbidden pg_catalog.jsonb DEFAULT NULL,
        prune pg_catalog.bool DEFAULT false, max_time pg_catalog.interval DEFAULT NULL,
        nulls pg_catalog.text DEFAULT 'missing')
    RETURNS pg_catalog.jsonb
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_krimp_model';
COMMENT ON FUNCTION sanitize.krimp_model(pg_catalog.regclass, pg_catalog.int8, pg_catalog.text[], pg_catalog.int4, pg_catalog.text, pg_catalog.jsonb, pg_catalog.bool, pg_catalog.interval, pg_catalog.text) IS
    'the code table with the values it is about: all that generating rows and encoding other tables need, without the relation. It shows exact counts of the relation';

CREATE FUNCTION sanitize.krimp_size(model pg_catalog.jsonb, source pg_catalog.regclass)
    RETURNS TABLE(data_bits pg_catalog.float8, model_bits pg_catalog.float8, total_bits pg_catalog.float8,
        standard_bits pg_catalog.float8, ratio pg_catalog.float8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_krimp_size';
COMMENT ON FUNCTION sanitize.krimp_size(pg_catalog.jsonb, pg_catalog.regclass) IS
    'the size of the relation encoded with the model, and with single values only (standard_bits); ratio is the one by the other';

CREATE FUNCTION sanitize.krimp_row_bits(model pg_catalog.jsonb, source pg_catalog.regclass)
    RETURNS TABLE(items pg_catalog.jsonb, rows pg_catalog.int8, bits pg_catalog.float8, patterns pg_catalog.int4)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_krimp_row_bits';
COMMENT ON FUNCTION sanitize.krimp_row_bits(pg_catalog.jsonb, pg_catalog.regclass) IS
    'the bits that each distinct row of the relation takes encoded with the model, and the number of patterns and single values that it is put together from, shortest code first: what the model does not expect comes last';

CREATE FUNCTION sanitize.krimp_classify(models pg_catalog.jsonb, source pg_catalog.regclass)
    RETURNS TABLE(items pg_catalog.jsonb, rows pg_catalog.int8, class pg_catalog.text, bits pg_catalog.float8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_krimp_classify';
COMMENT ON FUNCTION sanitize.krimp_classify(pg_catalog.jsonb, pg_catalog.regclass) IS
    'the class of each distinct row of the relation: of several models, {"class": model, …}, the one that encodes it in the fewest bits';

CREATE FUNCTION sanitize.krimp_generate(source anyelement, n pg_catalog.int8, min_support pg_catalog.int8,
        laplace pg_catalog.float8 DEFAULT 0.001, laplace_by pg_catalog.jsonb DEFAULT NULL,
        class pg_catalog.text DEFAULT NULL, columns pg_catalog.text[] DEFAULT NULL,
        max_length pg_catalog.int4 DEFAULT NULL, candidates pg_catalog.text DEFAULT 'all',
        forbidden pg_catalog.jsonb DEFAULT NULL, seed pg_catalog.int8 DEFAULT NULL,
        max_time pg_catalog.interval DEFAULT NULL, reject pg_catalog.jsonb DEFAULT NULL)
    RETURNS SETOF anyelement
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_krimp_generate';
COMMENT ON FUNCTION sanitize.krimp_generate(anyelement, pg_catalog.int8, pg_catalog.int8, pg_catalog.float8, pg_catalog.jsonb, pg_catalog.text, pg_catalog.text[], pg_catalog.int4, pg_catalog.text, pg_catalog.jsonb, pg_catalog.int8, pg_catalog.interval, pg_catalog.jsonb) IS
    'n rows of the relation''s type, drawn from the patterns that Krimp finds in it (class by class if class is given). No privacy is guaranteed: rows can be copies, and every value that occurs can come out';

CREATE FUNCTION sanitize.krimp_generate(source anyelement, model pg_catalog.jsonb, n pg_catalog.int8,
        laplace pg_catalog.float8 DEFAULT 0.001, laplace_by pg_catalog.jsonb DEFAULT NULL,
        seed pg_catalog.int8 DEFAULT NULL, reject pg_catalog.jsonb DEFAULT NULL)
    RETURNS SETOF anyelement
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_krimp_generate_model';
COMMENT ON FUNCTION sanitize.krimp_generate(anyelement, pg_catalog.jsonb, pg_catalog.int8, pg_catalog.float8, pg_catalog.jsonb, pg_catalog.int8, pg_catalog.jsonb) IS
    'n rows of a relation''s or composite type, drawn from a model of sanitize.krimp_model; the source of the model is not needed. No privacy is guaranteed';

CREATE FUNCTION sanitize.krimp_dissimilarity(a pg_catalog.regclass, b pg_catalog.regclass, min_support pg_catalog.int8,
        columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL,
        candidates pg_catalog.text DEFAULT 'all', max_time pg_catalog.interval DEFAULT NULL)
    RETURNS pg_catalog.float8
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_krimp_dissimilarity';
COMMENT ON FUNCTION sanitize.krimp_dissimilarity(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.int8, pg_catalog.text[], pg_catalog.int4, pg_catalog.text, pg_catalog.interval) IS
    'how unlike two relations are: the extra bits, as a share, that one needs with the code table of the other; 0 for equal relations';

CREATE FUNCTION sanitize.krimp_report(released pg_catalog.regclass, original pg_catalog.regclass,
        model pg_catalog.jsonb DEFAULT NULL, columns pg_catalog.text[] DEFAULT NULL,
        samples pg_catalog.int4 DEFAULT 10000, seed pg_catalog.int8 DEFAULT NULL)
    RETURNS TABLE(measure pg_catalog.text, value pg_catalog.float8, advice pg_catalog.text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 4 AS 'MODULE_PATHNAME', 'sanitize_krimp_report';
COMMENT ON FUNCTION sanitize.krimp_report(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.jsonb, pg_catalog.text[], pg_catalog.int4, pg_catalog.int8) IS
    'what a generated table shows of its original: patterns per row (from the model), anonymity score, copied rows, leaked rare itemsets, and what to do about it. Computed from the original, so for its owner and not for publication';
