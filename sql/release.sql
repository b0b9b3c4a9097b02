-- Releases: rows of the source's own type.
CREATE FUNCTION sanitize.mii_suppress(source anyelement, theta pg_catalog.int4,
        columns pg_catalog.text[] DEFAULT NULL, keep pg_catalog.text[] DEFAULT NULL,
        max_length pg_catalog.int4 DEFAULT NULL, sample_share pg_catalog.float8 DEFAULT NULL)
    RETURNS SETOF anyelement
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_mii_suppress';
COMMENT ON FUNCTION sanitize.mii_suppress(anyelement, pg_catalog.int4, pg_catalog.text[], pg_catalog.text[], pg_catalog.int4, pg_catalog.float8) IS
    'the relation with every cell blanked that lies in a minimal infrequent itemset: what is left of a row is shared by more than theta rows of the source. No promise about the release itself: see k_mii and k_anonymize';

CREATE FUNCTION sanitize.k_mii(source anyelement, k pg_catalog.int4,
        columns pg_catalog.text[] DEFAULT NULL, keep pg_catalog.text[] DEFAULT NULL,
        max_length pg_catalog.int4 DEFAULT NULL, sample_share pg_catalog.float8 DEFAULT NULL)
    RETURNS SETOF anyelement
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_k_mii';
COMMENT ON FUNCTION sanitize.k_mii(anyelement, pg_catalog.int4, pg_catalog.text[], pg_catalog.text[], pg_catalog.int4, pg_catalog.float8) IS
    'a k-anonymous release by suppression of minimal infrequent itemsets: every row of it equals at least k - 1 others in the columns that take part';

CREATE FUNCTION sanitize.k_anonymize(source anyelement, k pg_catalog.int4,
        columns pg_catalog.text[] DEFAULT NULL, keep pg_catalog.text[] DEFAULT NULL,
        weights pg_catalog.jsonb DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL,
        generalize pg_catalog.bool DEFAULT false, sensitive pg_catalog.text DEFAULT NULL,
        l pg_catalog.float8 DEFAULT NULL, l_kind pg_catalog.text DEFAULT 'distinct',
        t pg_catalog.float8 DEFAULT NULL)
    RETURNS SETOF anyelement
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_k_anonymize';
COMMENT ON FUNCTION sanitize.k_anonymize(anyelement, pg_catalog.int4, pg_catalog.text[], pg_catalog.text[], pg_catalog.jsonb, pg_catalog.int4, pg_catalog.bool, pg_catalog.text, pg_catalog.float8, pg_catalog.text, pg_catalog.float8) IS
    'a k-anonymous release with as little loss as can be found: every row of it equals at least k - 1 others in the columns that take part. Cells are blanked or, with generalize, shown at a level of their column''s hierarchy; with sensitive every class is also diverse (l) or close to all rows (t) in that column';

CREATE FUNCTION sanitize.generalize(source anyelement, levels pg_catalog.jsonb,
        columns pg_catalog.text[] DEFAULT NULL, keep pg_catalog.text[] DEFAULT NULL)
    RETURNS SETOF anyelement
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_generalize';
COMMENT ON FUNCTION sanitize.generalize(anyelement, pg_catalog.jsonb, pg_catalog.text[], pg_catalog.text[]) IS
    'the relation with whole columns shown at a level of their hierarchies. No promise about the release: see k_anonymize';

CREATE FUNCTION sanitize.impute(source anyelement, columns pg_catalog.text[] DEFAULT NULL,
        method pg_catalog.text DEFAULT 'conditional', seed pg_catalog.int8 DEFAULT NULL)
    RETURNS SETOF anyelement
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_impute';
COMMENT ON FUNCTION sanitize.impute(anyelement, pg_catalog.text[], pg_catalog.text, pg_catalog.int8) IS
    'a released table with its NULL cells filled by values drawn from the same table: from all values of the column, or from those of rows that share as much as possible. Guesses, for tools that cannot take NULL';

CREATE FUNCTION sanitize.loss_curve(source pg_catalog.regclass, ks pg_catalog.int4[] DEFAULT '{2,3,5,10,20,50,100}',
        columns pg_catalog.text[] DEFAULT NULL, generalize pg_catalog.bool DEFAULT true)
    RETURNS TABLE(k pg_catalog.int4, loss pg_catalog.float8, dropped pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 10 AS 'MODULE_PATHNAME', 'sanitize_loss_curve';
COMMENT ON FUNCTION sanitize.loss_curve(pg_catalog.regclass, pg_catalog.int4[], pg_catalog.text[], pg_catalog.bool) IS
    'what k_anonymize would lose of a relation for each k: the mean loss of a cell, from 0 (nothing) to 1 (blanked), and the rows that would be dropped';

CREATE FUNCTION sanitize.hide_itemsets(source anyelement, itemsets pg_catalog.jsonb, min_support pg_catalog.int8,
        keep pg_catalog.text[] DEFAULT NULL)
    RETURNS SETOF anyelement
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_hide_itemsets';
COMMENT ON FUNCTION sanitize.hide_itemsets(anyelement, pg_catalog.jsonb, pg_catalog.int8, pg_catalog.text[]) IS
    'the rows of the relation with as few cells blanked as can be found so that fewer than min_support rows contain each of the listed itemsets; cells of kept columns are never blanked. No privacy is guaranteed: all else comes out as it is';
