-- The privacy report. Both functions read the tables with the caller's rights.

CREATE FUNCTION sanitize.privacy_report(original pg_catalog.regclass, released pg_catalog.regclass, options pg_catalog.jsonb DEFAULT '{}')
    RETURNS pg_catalog.jsonb
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_privacy_report';
COMMENT ON FUNCTION sanitize.privacy_report(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.jsonb) IS
    'what a release protects and what it is good for: its guarantee, the original''s risk, what was blanked and changed, classes, distributions, itemsets, budget, and a verdict. It shows values of the original: for the privacy officer, not for publishing';

CREATE FUNCTION sanitize.privacy_report_html(original pg_catalog.regclass, released pg_catalog.regclass, options pg_catalog.jsonb DEFAULT '{}')
    RETURNS pg_catalog.text
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_privacy_report_html';
COMMENT ON FUNCTION sanitize.privacy_report_html(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.jsonb) IS
    'the privacy report as a page of HTML that stands by itself, with charts. It shows values of the original: for the privacy officer, not for publishing';
