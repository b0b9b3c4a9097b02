-- Tables of counts without small cells, and audits of what is published (paper 004).

CREATE FUNCTION sanitize.suppress_cells(source pg_catalog.regclass, row_column pg_catalog.text, column_column pg_catalog.text, threshold pg_catalog.int8 DEFAULT 5, protection pg_catalog.int8 DEFAULT NULL, group_column pg_catalog.text DEFAULT NULL)
    RETURNS TABLE(row_value pg_catalog.text, column_value pg_catalog.text, cell pg_catalog.int8, status pg_catalog.text, group_value pg_catalog.text)
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_suppress_cells';
COMMENT ON FUNCTION sanitize.suppress_cells(pg_catalog.regclass, pg_catalog.text, pg_catalog.text, pg_catalog.int8, pg_catalog.int8, pg_catalog.text) IS
    'counts of two columns with totals, without the small ones and without those from which these could be computed back';

CREATE FUNCTION sanitize.audit_cells(cells pg_catalog.jsonb)
    RETURNS TABLE(row_value pg_catalog.text, column_value pg_catalog.text, low pg_catalog.int8, high pg_catalog.int8, group_value pg_catalog.text)
    LANGUAGE c IMMUTABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_audit_cells';
COMMENT ON FUNCTION sanitize.audit_cells(pg_catalog.jsonb) IS
    'what the shown cells of a table of counts tell of each suppressed one: the least and the largest count that it can have';

CREATE FUNCTION sanitize.audit_answers(source pg_catalog.regclass, queries pg_catalog.jsonb)
    RETURNS TABLE(unit pg_catalog.text, determined pg_catalog.bool, low pg_catalog.numeric, high pg_catalog.numeric)
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_audit_answers';
COMMENT ON FUNCTION sanitize.audit_answers(pg_catalog.regclass, pg_catalog.jsonb) IS
    'what exact sums and counts that were given out tell of each unit: whether its value follows from them, and between which bounds it lies';
