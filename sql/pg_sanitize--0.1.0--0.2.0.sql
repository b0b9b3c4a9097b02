\echo Use "ALTER EXTENSION pg_sanitize UPDATE" to load this file. \quit

DROP FUNCTION sanitize.mine_miis(pg_catalog.regclass, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4);
DROP FUNCTION sanitize.mine_miis(sanitize.bag, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4);
DROP FUNCTION sanitize.mine_miis(pg_catalog.text, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4);
DROP FUNCTION sanitize.mii_risk(pg_catalog.regclass, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4);
DROP FUNCTION sanitize.mii_risk(sanitize.bag, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4);
DROP FUNCTION sanitize.mii_risk(pg_catalog.text, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4);
DROP FUNCTION sanitize.mii_suppress(anyelement, pg_catalog.int4, pg_catalog.text[], pg_catalog.text[], pg_catalog.int4);
DROP FUNCTION sanitize.k_mii(anyelement, pg_catalog.int4, pg_catalog.text[], pg_catalog.text[], pg_catalog.int4);
DROP FUNCTION sanitize.k_anonymize(anyelement, pg_catalog.int4, pg_catalog.text[], pg_catalog.text[], pg_catalog.jsonb, pg_catalog.int4);
DROP FUNCTION sanitize.protect(pg_catalog.regclass, pg_catalog.text, pg_catalog.float8, pg_catalog.float8, pg_catalog.int4, pg_catalog.interval, pg_catalog.int4, pg_catalog.float8, pg_catalog.int4, pg_catalog.bool);

-- What becomes of tables that 0.1.0 made. Rows of relations that are gone remember no row type and count for nothing.
CREATE FUNCTION sanitize.row_type(relation pg_catalog.regclass) RETURNS pg_catalog.regtype
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
    'SELECT c.reltype::pg_catalog.regtype FROM pg_catalog.pg_class AS c WHERE c.oid OPERATOR(pg_catalog.=) $1';
CREATE FUNCTION sanitize.relation_owner(relation pg_catalog.regclass) RETURNS pg_catalog.regrole
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
    'SELECT c.relowner::pg_catalog.regrole FROM pg_catalog.pg_class AS c WHERE c.oid OPERATOR(pg_catalog.=) $1';
CREATE FUNCTION sanitize.role_name(role pg_catalog.regrole) RETURNS pg_catalog.name
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
    'SELECT r.rolname FROM pg_catalog.pg_roles AS r WHERE r.oid OPERATOR(pg_catalog.=) $1';
ALTER TABLE sanitize.declared_domain
    ADD COLUMN row_type pg_catalog.regtype GENERATED ALWAYS AS (sanitize.row_type(source)) STORED;
ALTER TABLE sanitize.declared_bounds
    ADD COLUMN row_type pg_catalog.regtype GENERATED ALWAYS AS (sanitize.row_type(source)) STORED;
ALTER TABLE sanitize.protection
    ADD COLUMN row_count_public pg_catalog.bool NOT NULL DEFAULT false,
    ADD COLUMN row_type pg_catalog.regtype GENERATED ALWAYS AS (sanitize.row_type(source)) STORED,
    ADD COLUMN owner pg_catalog.regrole GENERATED ALWAYS AS (sanitize.relation_owner(source)) STORED;
ALTER TABLE sanitize.allowance
    ADD COLUMN row_type pg_catalog.regtype GENERATED ALWAYS AS (sanitize.row_type(source)) STORED,
    ADD COLUMN grantee_name pg_catalog.name GENERATED ALWAYS AS (sanitize.role_name(grantee)) STORED;
ALTER TABLE sanitize.ledger_entry
    ADD COLUMN row_type pg_catalog.regtype GENERATED ALWAYS AS (sanitize.row_type(source)) STORED;
ALTER TABLE sanitize.answer
    ADD COLUMN row_type pg_catalog.regtype GENERATED ALWAYS AS (sanitize.row_type(source)) STORED;
-- Only our functions write declarations: whoever may write a table may also lock it.
DROP POLICY everybody_reads ON sanitize.declared_domain;
DROP POLICY owners_write ON sanitize.declared_domain;
ALTER TABLE sanitize.declared_domain DISABLE ROW LEVEL SECURITY;
REVOKE INSERT, UPDATE, DELETE ON sanitize.declared_domain FROM PUBLIC;
DROP POLICY everybody_reads ON sanitize.declared_bounds;
DROP POLICY owners_write ON sanitize.declared_bounds;
ALTER TABLE sanitize.declared_bounds DISABLE ROW LEVEL SECURITY;
REVOKE INSERT, UPDATE, DELETE ON sanitize.declared_bounds FROM PUBLIC;

COMMENT ON FUNCTION sanitize.row_type(pg_catalog.regclass) IS
    'the row type of a relation, NULL if there is none of that number: what tells it from an earlier one that had its number';

COMMENT ON FUNCTION sanitize.relation_owner(pg_catalog.regclass) IS
    'the owner of a relation, NULL if there is none of that number';

COMMENT ON FUNCTION sanitize.role_name(pg_catalog.regrole) IS
    'the name of a role, NULL if there is none of that number: what tells it from an earlier one that had its number';

CREATE FUNCTION sanitize.bag_packed(sanitize.bag) RETURNS pg_catalog.text
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_bag_packed';

COMMENT ON FUNCTION sanitize.bag_packed(sanitize.bag) IS
    'a bag as text of seven bits a character, as a shard sends it: see the page on shards';

CREATE FUNCTION sanitize.row_bag_trans(sanitize.bag, pg_catalog.record)
    RETURNS sanitize.bag
    LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_row_bag_trans';

CREATE FUNCTION sanitize.row_bag_columns_trans(sanitize.bag, pg_catalog.text[], VARIADIC pg_catalog."any")
    RETURNS sanitize.bag
    LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_row_bag_columns_trans';

CREATE FUNCTION sanitize.row_bag_columns_trans(sanitize.bag, pg_catalog.cstring[], VARIADIC pg_catalog."any")
    RETURNS sanitize.bag
    LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_row_bag_columns_trans';

CREATE FUNCTION sanitize.cell_bag_trans(sanitize.bag, pg_catalog.text[], pg_catalog.text[])
    RETURNS sanitize.bag
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_cell_bag_trans';

CREATE FUNCTION sanitize.row_bag_combine(sanitize.bag, sanitize.bag)
    RETURNS sanitize.bag
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_row_bag_combine';

CREATE FUNCTION sanitize.row_bag_final(sanitize.bag) RETURNS sanitize.bag
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_row_bag_final';

COMMENT ON FUNCTION sanitize.row_bag_trans(sanitize.bag, pg_catalog.record) IS 'part of the aggregate row_bag';

COMMENT ON FUNCTION sanitize.row_bag_columns_trans(sanitize.bag, pg_catalog.text[], pg_catalog."any") IS 'part of the aggregate row_bag';

COMMENT ON FUNCTION sanitize.row_bag_columns_trans(sanitize.bag, pg_catalog.cstring[], pg_catalog."any") IS 'part of the aggregate row_bag';

COMMENT ON FUNCTION sanitize.cell_bag_trans(sanitize.bag, pg_catalog.text[], pg_catalog.text[]) IS 'part of the aggregate cell_bag';

COMMENT ON FUNCTION sanitize.row_bag_combine(sanitize.bag, sanitize.bag) IS 'part of the aggregates row_bag and cell_bag';

COMMENT ON FUNCTION sanitize.row_bag_final(sanitize.bag) IS 'part of the aggregates row_bag and cell_bag';

CREATE OR REPLACE AGGREGATE sanitize.row_bag(pg_catalog.record) (
    SFUNC = sanitize.row_bag_trans,
    STYPE = sanitize.bag,
    SSPACE = 1048576,
    FINALFUNC = sanitize.row_bag_final,
    FINALFUNC_MODIFY = read_write,
    COMBINEFUNC = sanitize.row_bag_combine,
    PARALLEL = safe
);

CREATE AGGREGATE sanitize.row_bag(names pg_catalog.text[], VARIADIC columns pg_catalog."any") (
    SFUNC = sanitize.row_bag_columns_trans,
    STYPE = sanitize.bag,
    SSPACE = 1048576,
    FINALFUNC = sanitize.row_bag_final,
    FINALFUNC_MODIFY = read_write,
    COMBINEFUNC = sanitize.row_bag_combine,
    PARALLEL = safe
);

COMMENT ON AGGREGATE sanitize.row_bag(pg_catalog.text[], pg_catalog."any") IS
    'columns under the given names as a bag: SELECT sanitize.row_bag(ARRAY[''age'', ''sex''], age, sex) FROM patients. NULL if there are no rows';

CREATE AGGREGATE sanitize.row_bag(names pg_catalog.cstring[], VARIADIC columns pg_catalog."any") (
    SFUNC = sanitize.row_bag_columns_trans,
    STYPE = sanitize.bag,
    SSPACE = 1048576,
    FINALFUNC = sanitize.row_bag_final,
    FINALFUNC_MODIFY = read_write,
    COMBINEFUNC = sanitize.row_bag_combine,
    PARALLEL = safe
);

COMMENT ON AGGREGATE sanitize.row_bag(pg_catalog.cstring[], pg_catalog."any") IS
    'columns under the given names as a bag, for remote servers: as row_bag(text[], …), but postgres_fdw ships it for any columns';

CREATE AGGREGATE sanitize.cell_bag(names pg_catalog.text[], cells pg_catalog.text[]) (
    SFUNC = sanitize.cell_bag_trans,
    STYPE = sanitize.bag,
    SSPACE = 1048576,
    FINALFUNC = sanitize.row_bag_final,
    FINALFUNC_MODIFY = read_write,
    COMBINEFUNC = sanitize.row_bag_combine,
    PARALLEL = safe
);

COMMENT ON AGGREGATE sanitize.cell_bag(pg_catalog.text[], pg_catalog.text[]) IS
    'rows given as the texts of their cells as a bag: SELECT sanitize.cell_bag(ARRAY[''age'', ''sex''], ARRAY[age::text, sex]) FROM patients. NULL if there are no rows';

CREATE FUNCTION sanitize.mine_miis(source pg_catalog.regclass, theta pg_catalog.int4, columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, levels pg_catalog.jsonb DEFAULT NULL)
    RETURNS TABLE(items pg_catalog.jsonb, length pg_catalog.int4, support pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_mine_miis';

COMMENT ON FUNCTION sanitize.mine_miis(pg_catalog.regclass, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.jsonb) IS
    'every minimal infrequent itemset: the smallest value combinations that at least one and at most theta rows share; ordered by length, support, items';

CREATE FUNCTION sanitize.mine_miis(source sanitize.bag, theta pg_catalog.int4, columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, levels pg_catalog.jsonb DEFAULT NULL)
    RETURNS TABLE(items pg_catalog.jsonb, length pg_catalog.int4, support pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_mine_miis';

COMMENT ON FUNCTION sanitize.mine_miis(sanitize.bag, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.jsonb) IS
    'every minimal infrequent itemset: the smallest value combinations that at least one and at most theta rows share; ordered by length, support, items (of a bag)';

CREATE FUNCTION sanitize.mine_miis(source pg_catalog.text, theta pg_catalog.int4, columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, levels pg_catalog.jsonb DEFAULT NULL)
    RETURNS TABLE(items pg_catalog.jsonb, length pg_catalog.int4, support pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_mine_miis';

COMMENT ON FUNCTION sanitize.mine_miis(pg_catalog.text, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.jsonb) IS
    'every minimal infrequent itemset: the smallest value combinations that at least one and at most theta rows share; ordered by length, support, items (of a relation by its name)';

CREATE FUNCTION sanitize.mii_risk(source pg_catalog.regclass, theta pg_catalog.int4, columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, levels pg_catalog.jsonb DEFAULT NULL)
    RETURNS TABLE(column_name pg_catalog.text, value pg_catalog.text, miis pg_catalog.int8, rows pg_catalog.int8, cells pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 100 AS 'MODULE_PATHNAME', 'sanitize_mii_risk';

COMMENT ON FUNCTION sanitize.mii_risk(pg_catalog.regclass, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.jsonb) IS
    'what each column (value NULL) and each value contributes to minimal infrequent itemsets: how many contain it, how many rows with it stand out, how many of its cells suppression would blank';

CREATE FUNCTION sanitize.mii_risk(source sanitize.bag, theta pg_catalog.int4, columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, levels pg_catalog.jsonb DEFAULT NULL)
    RETURNS TABLE(column_name pg_catalog.text, value pg_catalog.text, miis pg_catalog.int8, rows pg_catalog.int8, cells pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 100 AS 'MODULE_PATHNAME', 'sanitize_mii_risk';

COMMENT ON FUNCTION sanitize.mii_risk(sanitize.bag, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.jsonb) IS
    'what each column (value NULL) and each value contributes to minimal infrequent itemsets: how many contain it, how many rows with it stand out, how many of its cells suppression would blank (of a bag)';

CREATE FUNCTION sanitize.mii_risk(source pg_catalog.text, theta pg_catalog.int4, columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, levels pg_catalog.jsonb DEFAULT NULL)
    RETURNS TABLE(column_name pg_catalog.text, value pg_catalog.text, miis pg_catalog.int8, rows pg_catalog.int8, cells pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 100 AS 'MODULE_PATHNAME', 'sanitize_mii_risk';

COMMENT ON FUNCTION sanitize.mii_risk(pg_catalog.text, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.jsonb) IS
    'what each column (value NULL) and each value contributes to minimal infrequent itemsets: how many contain it, how many rows with it stand out, how many of its cells suppression would blank (of a relation by its name)';

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

CREATE FUNCTION sanitize.class_risk(source pg_catalog.regclass, sensitive pg_catalog.text DEFAULT NULL, columns pg_catalog.text[] DEFAULT NULL, smallest pg_catalog.int4 DEFAULT 100)
    RETURNS TABLE(class pg_catalog.jsonb, rows pg_catalog.int8, distinct_values pg_catalog.int8, entropy_l pg_catalog.float8, closeness pg_catalog.float8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 100 AS 'MODULE_PATHNAME', 'sanitize_class_risk';

COMMENT ON FUNCTION sanitize.class_risk(pg_catalog.regclass, pg_catalog.text, pg_catalog.text[], pg_catalog.int4) IS
    'the smallest classes of rows that are equal in these columns, NULL being equal to NULL: what they show (a key that is missing is NULL), their rows, and of the sensitive column how many values they have, exp of their entropy and their distance from the whole table; columns NULL: all but the sensitive one';

CREATE FUNCTION sanitize.class_risk(source sanitize.bag, sensitive pg_catalog.text DEFAULT NULL, columns pg_catalog.text[] DEFAULT NULL, smallest pg_catalog.int4 DEFAULT 100)
    RETURNS TABLE(class pg_catalog.jsonb, rows pg_catalog.int8, distinct_values pg_catalog.int8, entropy_l pg_catalog.float8, closeness pg_catalog.float8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 100 AS 'MODULE_PATHNAME', 'sanitize_class_risk';

COMMENT ON FUNCTION sanitize.class_risk(sanitize.bag, pg_catalog.text, pg_catalog.text[], pg_catalog.int4) IS
    'the smallest classes of rows that are equal in these columns, NULL being equal to NULL: what they show (a key that is missing is NULL), their rows, and of the sensitive column how many values they have, exp of their entropy and their distance from the whole table; columns NULL: all but the sensitive one (of a bag)';

CREATE FUNCTION sanitize.class_risk(source pg_catalog.text, sensitive pg_catalog.text DEFAULT NULL, columns pg_catalog.text[] DEFAULT NULL, smallest pg_catalog.int4 DEFAULT 100)
    RETURNS TABLE(class pg_catalog.jsonb, rows pg_catalog.int8, distinct_values pg_catalog.int8, entropy_l pg_catalog.float8, closeness pg_catalog.float8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 100 AS 'MODULE_PATHNAME', 'sanitize_class_risk';

COMMENT ON FUNCTION sanitize.class_risk(pg_catalog.text, pg_catalog.text, pg_catalog.text[], pg_catalog.int4) IS
    'the smallest classes of rows that are equal in these columns, NULL being equal to NULL: what they show (a key that is missing is NULL), their rows, and of the sensitive column how many values they have, exp of their entropy and their distance from the whole table; columns NULL: all but the sensitive one (of a relation by its name)';

CREATE FUNCTION sanitize.unicity(source pg_catalog.regclass, known pg_catalog.int4, columns pg_catalog.text[] DEFAULT NULL, theta pg_catalog.int4 DEFAULT 1, samples pg_catalog.int4 DEFAULT 10000, seed pg_catalog.int8 DEFAULT NULL)
    RETURNS TABLE(share pg_catalog.float8, low pg_catalog.float8, high pg_catalog.float8)
    LANGUAGE c VOLATILE PARALLEL RESTRICTED ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_unicity';

COMMENT ON FUNCTION sanitize.unicity(pg_catalog.regclass, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.int4, pg_catalog.int8) IS
    'the share of rows that somebody who knows so many random cells of a row narrows down to at most theta rows, and where it lies with a confidence of 95 %: low and high are equal to it where it was counted and not sampled; NULL without rows';

CREATE FUNCTION sanitize.unicity(source sanitize.bag, known pg_catalog.int4, columns pg_catalog.text[] DEFAULT NULL, theta pg_catalog.int4 DEFAULT 1, samples pg_catalog.int4 DEFAULT 10000, seed pg_catalog.int8 DEFAULT NULL)
    RETURNS TABLE(share pg_catalog.float8, low pg_catalog.float8, high pg_catalog.float8)
    LANGUAGE c VOLATILE PARALLEL RESTRICTED ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_unicity';

COMMENT ON FUNCTION sanitize.unicity(sanitize.bag, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.int4, pg_catalog.int8) IS
    'the share of rows that somebody who knows so many random cells of a row narrows down to at most theta rows, and where it lies with a confidence of 95 %: low and high are equal to it where it was counted and not sampled; NULL without rows (of a bag)';

CREATE FUNCTION sanitize.unicity(source pg_catalog.text, known pg_catalog.int4, columns pg_catalog.text[] DEFAULT NULL, theta pg_catalog.int4 DEFAULT 1, samples pg_catalog.int4 DEFAULT 10000, seed pg_catalog.int8 DEFAULT NULL)
    RETURNS TABLE(share pg_catalog.float8, low pg_catalog.float8, high pg_catalog.float8)
    LANGUAGE c VOLATILE PARALLEL RESTRICTED ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_unicity';

COMMENT ON FUNCTION sanitize.unicity(pg_catalog.text, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.int4, pg_catalog.int8) IS
    'the share of rows that somebody who knows so many random cells of a row narrows down to at most theta rows, and where it lies with a confidence of 95 %: low and high are equal to it where it was counted and not sampled; NULL without rows (of a relation by its name)';

CREATE FUNCTION sanitize.information_loss(released pg_catalog.regclass, original pg_catalog.regclass, columns pg_catalog.text[] DEFAULT NULL)
    RETURNS TABLE(column_name pg_catalog.text, changed pg_catalog.float8, loss pg_catalog.float8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 10 AS 'MODULE_PATHNAME', 'sanitize_information_loss';

COMMENT ON FUNCTION sanitize.information_loss(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.text[]) IS
    'by column, and over all (column_name NULL): the share of the cells that a release changed, and what a cell lost on average, from 0 (nothing) to 1 (blanked or dropped)';

CREATE FUNCTION sanitize.utility(original pg_catalog.regclass, released pg_catalog.regclass, columns pg_catalog.text[] DEFAULT NULL)
    RETURNS TABLE(measure pg_catalog.text, value pg_catalog.float8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 10 AS 'MODULE_PATHNAME', 'sanitize_utility';

COMMENT ON FUNCTION sanitize.utility(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.text[]) IS
    'how well a released table serves in place of its original: how far the shares of values and of pairs of values are apart, how far associations are, and how well a model tells the rows of the two apart';

COMMENT ON COLUMN sanitize.declared_domain.domain_values IS 'the values, as the column''s type writes them under fixed settings: dates in the ISO style, times in UTC';

COMMENT ON COLUMN sanitize.declared_domain.row_type IS 'the relation''s row type, which another relation that gets its number does not have';

SELECT pg_catalog.pg_extension_config_dump('sanitize.declared_domain', 'WHERE sanitize.row_type(source) = row_type');

GRANT SELECT ON sanitize.declared_domain TO PUBLIC;

COMMENT ON COLUMN sanitize.declared_bounds.row_type IS 'the relation''s row type, which another relation that gets its number does not have';

SELECT pg_catalog.pg_extension_config_dump('sanitize.declared_bounds', 'WHERE sanitize.row_type(source) = row_type');

GRANT SELECT ON sanitize.declared_bounds TO PUBLIC;

CREATE TABLE sanitize.declared_hierarchy (
    source pg_catalog.regclass NOT NULL,
    column_name pg_catalog.text NOT NULL,
    levels pg_catalog.jsonb NOT NULL CHECK (pg_catalog.jsonb_typeof(levels) OPERATOR(pg_catalog.=) 'object'),
    lookup pg_catalog.regclass,
    row_type pg_catalog.regtype GENERATED ALWAYS AS (sanitize.row_type(source)) STORED,
    lookup_row_type pg_catalog.regtype GENERATED ALWAYS AS (sanitize.row_type(lookup)) STORED,
    PRIMARY KEY (source, column_name)
);

COMMENT ON TABLE sanitize.declared_hierarchy IS
    'hierarchies declared by the owners of relations (sanitize.declare_hierarchy)';

COMMENT ON COLUMN sanitize.declared_hierarchy.source IS 'the relation';

COMMENT ON COLUMN sanitize.declared_hierarchy.column_name IS 'its column';

COMMENT ON COLUMN sanitize.declared_hierarchy.levels IS 'the levels, as they were declared';

COMMENT ON COLUMN sanitize.declared_hierarchy.lookup IS 'the table that has the levels, if one has';

COMMENT ON COLUMN sanitize.declared_hierarchy.row_type IS 'the relation''s row type, which another relation that gets its number does not have';

COMMENT ON COLUMN sanitize.declared_hierarchy.lookup_row_type IS 'that table''s row type';

SELECT pg_catalog.pg_extension_config_dump('sanitize.declared_hierarchy',
    'WHERE sanitize.row_type(source) = row_type AND (lookup IS NULL OR sanitize.row_type(lookup) = lookup_row_type)');

GRANT SELECT ON sanitize.declared_hierarchy TO PUBLIC;

CREATE FUNCTION sanitize.declare_hierarchy(source pg_catalog.regclass, column_name pg_catalog.text,
        levels pg_catalog.jsonb)
    RETURNS pg_catalog.void
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_declare_hierarchy';

COMMENT ON FUNCTION sanitize.declare_hierarchy(pg_catalog.regclass, pg_catalog.text, pg_catalog.jsonb) IS
    'the owner says what the values of a column can be shown as, level by level, before they are blanked: ranges, dates, prefix, tree or table';

CREATE FUNCTION sanitize.drop_hierarchy(source pg_catalog.regclass, column_name pg_catalog.text)
    RETURNS pg_catalog.void
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_drop_hierarchy';

COMMENT ON FUNCTION sanitize.drop_hierarchy(pg_catalog.regclass, pg_catalog.text) IS
    'the owner takes back the hierarchy of a column';

CREATE FUNCTION sanitize.hierarchy(source pg_catalog.regclass, column_name pg_catalog.text)
    RETURNS TABLE(value pg_catalog.text, level pg_catalog.int4, general pg_catalog.text)
    LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_hierarchy';

COMMENT ON FUNCTION sanitize.hierarchy(pg_catalog.regclass, pg_catalog.text) IS
    'every value that a column has, and what it is shown as at each level of the declared hierarchy; NULL where it is blanked';

CREATE FUNCTION sanitize.suggest_hierarchy(source pg_catalog.regclass, column_name pg_catalog.text)
    RETURNS pg_catalog.jsonb
    LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_suggest_hierarchy';

COMMENT ON FUNCTION sanitize.suggest_hierarchy(pg_catalog.regclass, pg_catalog.text) IS
    'levels that suit the values of a column, as declare_hierarchy takes them: decimal ranges, calendar units, prefixes of codes; NULL if none do';

CREATE VIEW sanitize.hierarchies AS
SELECT h.source, h.column_name,
       CASE WHEN h.lookup IS NULL THEN h.levels
            ELSE pg_catalog.jsonb_build_object('table', h.lookup::pg_catalog.text) END AS levels,
       CASE WHEN h.lookup IS NULL THEN
           (SELECT pg_catalog.max(pg_catalog.jsonb_array_length(l.value)) FROM pg_catalog.jsonb_each(h.levels) AS l
             WHERE pg_catalog.jsonb_typeof(l.value) OPERATOR(pg_catalog.=) 'array')
       ELSE
           (SELECT pg_catalog.count(*)::pg_catalog.int4 FROM pg_catalog.pg_attribute AS t
             WHERE t.attrelid OPERATOR(pg_catalog.=) h.lookup AND NOT t.attisdropped
               AND t.attname::pg_catalog.text OPERATOR(pg_catalog.~) '^level[1-9][0-9]*$')
       END AS height
  FROM sanitize.declared_hierarchy AS h
  JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) h.source
   AND a.attname::pg_catalog.text OPERATOR(pg_catalog.=) h.column_name
 WHERE NOT a.attisdropped
   AND h.row_type OPERATOR(pg_catalog.=) sanitize.row_type(h.source)
   AND (h.lookup IS NULL OR h.lookup_row_type OPERATOR(pg_catalog.=) sanitize.row_type(h.lookup))
   AND pg_catalog.has_column_privilege(h.source, a.attnum, 'SELECT');

COMMENT ON VIEW sanitize.hierarchies IS 'the declared hierarchies of all columns that you may read';

GRANT SELECT ON sanitize.hierarchies TO PUBLIC;

CREATE OR REPLACE FUNCTION sanitize.guarantee(method pg_catalog.text, options pg_catalog.jsonb DEFAULT '{}')
    RETURNS pg_catalog.jsonb
    LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_guarantee';

SELECT pg_catalog.pg_extension_config_dump('sanitize.protection',
    'WHERE sanitize.row_type(source) = row_type');

SELECT pg_catalog.pg_extension_config_dump('sanitize.allowance',
    'WHERE sanitize.row_type(source) = row_type AND sanitize.role_name(grantee) = grantee_name');

SELECT pg_catalog.pg_extension_config_dump('sanitize.ledger_entry',
    'WHERE sanitize.row_type(source) = row_type');

CREATE FUNCTION sanitize.protect(source pg_catalog.regclass, unit pg_catalog.text, epsilon pg_catalog.float8, delta pg_catalog.float8 DEFAULT 0, max_rows_per_unit pg_catalog.int4 DEFAULT NULL, window_length pg_catalog.interval DEFAULT NULL,
        max_groups_per_unit pg_catalog.int4 DEFAULT NULL, min_epsilon pg_catalog.float8 DEFAULT 0.001, min_query_set pg_catalog.int4 DEFAULT NULL, assume_stable pg_catalog.bool DEFAULT false,
        row_count_public pg_catalog.bool DEFAULT false)
    RETURNS pg_catalog.void
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_protect';

COMMENT ON FUNCTION sanitize.protect(pg_catalog.regclass, pg_catalog.text, pg_catalog.float8, pg_catalog.float8, pg_catalog.int4, pg_catalog.interval, pg_catalog.int4, pg_catalog.float8, pg_catalog.int4, pg_catalog.bool, pg_catalog.bool) IS
    'registers a relation of the caller''s: who is protected (the unit column), and how much may be learnt in total or in each window. Again: changes that, and what is spent is taken from the ledger';

CREATE FUNCTION sanitize.delta_share(share_epsilon pg_catalog.numeric, share_delta pg_catalog.numeric, epsilon pg_catalog.numeric, delta pg_catalog.numeric) RETURNS pg_catalog.numeric
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
    'SELECT coalesce($2, CASE WHEN $1 IS NOT NULL THEN $4 OPERATOR(pg_catalog.*) least($1 OPERATOR(pg_catalog./) $3, 1) END)';

COMMENT ON FUNCTION sanitize.delta_share(pg_catalog.numeric, pg_catalog.numeric, pg_catalog.numeric, pg_catalog.numeric) IS
    'the delta of a share of a budget: its own, or else the part of the budget''s delta that its epsilon is of the budget''s; NULL for no share';

CREATE OR REPLACE VIEW sanitize.budget WITH (security_barrier) AS
    SELECT b.source, b.grantee,
           b.epsilon::pg_catalog.float8 AS epsilon,
           CASE WHEN w.over THEN 0 ELSE s.epsilon_spent END AS epsilon_spent,
           b.delta::pg_catalog.float8 AS delta,
           CASE WHEN w.over THEN 0 ELSE s.delta_spent END AS delta_spent,
           p.window_start,
           p.window_start OPERATOR(pg_catalog.+) p.window_length AS window_end,
           (CASE WHEN w.over THEN 0 ELSE b.rho_spent END)::pg_catalog.float8 AS rho_spent
      FROM sanitize.protection AS p
      JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) p.source AND c.reltype OPERATOR(pg_catalog.=) p.row_type
     CROSS JOIN LATERAL (
           SELECT p.source, NULL::pg_catalog.regrole AS grantee, p.epsilon, p.epsilon_spent, p.delta, p.delta_spent,
                  p.rho_spent, p.rest_epsilon, p.rest_delta
           UNION ALL
           SELECT a.source, a.grantee, a.epsilon, a.epsilon_spent, sanitize.delta_share(a.epsilon, a.delta, p.epsilon, p.delta), a.delta_spent,
                  a.rho_spent, a.rest_epsilon, a.rest_delta
             FROM sanitize.allowance AS a
            WHERE a.source OPERATOR(pg_catalog.=) p.source AND a.row_type OPERATOR(pg_catalog.=) p.row_type
              AND a.grantee_name OPERATOR(pg_catalog.=) sanitize.role_name(a.grantee)) AS b
     CROSS JOIN LATERAL (
           SELECT coalesce(p.window_start OPERATOR(pg_catalog.+) p.window_length OPERATOR(pg_catalog.<=) pg_catalog.clock_timestamp(), false) AS over) AS w
     CROSS JOIN LATERAL sanitize.spent(b.epsilon_spent, b.delta_spent, b.rho_spent,
           coalesce(b.rest_epsilon, b.epsilon_spent), coalesce(b.rest_delta, b.delta_spent),
           coalesce(b.delta, p.delta)) AS s
     WHERE pg_catalog.pg_has_role(c.relowner, 'USAGE')
        OR b.grantee IS NOT NULL AND pg_catalog.pg_has_role(b.grantee, 'USAGE');

CREATE FUNCTION sanitize.grid_time(moment pg_catalog.timestamptz) RETURNS pg_catalog.timestamptz
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_grid_time';

COMMENT ON FUNCTION sanitize.grid_time(pg_catalog.timestamptz) IS
    'the moment as the views tell it: moved back to a multiple of pg_sanitize.answer_grid';

CREATE OR REPLACE VIEW sanitize.ledger WITH (security_barrier) AS
    SELECT sanitize.grid_time(e.charged_at) AS "when", e.who, e.what,
           e.epsilon::pg_catalog.float8 AS epsilon, e.delta::pg_catalog.float8 AS delta,
           -- The number of a relation that is gone, but not the name of another that has its number now.
           CASE WHEN c.oid IS NOT NULL OR sanitize.row_type(e.source) IS NULL THEN e.source END AS source,
           e.login, e.id, e.rho::pg_catalog.float8 AS rho
      FROM sanitize.ledger_entry AS e
      LEFT JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) e.source AND c.reltype OPERATOR(pg_catalog.=) e.row_type
     WHERE pg_catalog.pg_has_role(coalesce(c.relowner, 10::pg_catalog.oid), 'USAGE')
        OR e.who OPERATOR(pg_catalog.=) current_user::pg_catalog.text
        OR e.login OPERATOR(pg_catalog.=) current_user::pg_catalog.text;

SELECT pg_catalog.pg_extension_config_dump('sanitize.answer',
    'WHERE sanitize.row_type(source) = row_type');

CREATE OR REPLACE VIEW sanitize.answers WITH (security_barrier) AS
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

CREATE OR REPLACE AGGREGATE sanitize.clamped_sum(x pg_catalog.int8, low pg_catalog.int8, high pg_catalog.int8) (
    SFUNC = sanitize.clamped_sum_trans,
    STYPE = pg_catalog.int8[],
    INITCOND = '{0,0}',
    FINALFUNC = sanitize.clamped_final,
    COMBINEFUNC = sanitize.clamped_combine,
    PARALLEL = safe
);

CREATE OR REPLACE AGGREGATE sanitize.clamped_sum_squares(x pg_catalog.int8, low pg_catalog.int8, high pg_catalog.int8) (
    SFUNC = sanitize.clamped_squares_trans,
    STYPE = pg_catalog.int8[],
    INITCOND = '{0,0}',
    FINALFUNC = sanitize.clamped_final,
    COMBINEFUNC = sanitize.clamped_combine,
    PARALLEL = safe
);

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

CREATE TABLE sanitize.published (
    target pg_catalog.regclass PRIMARY KEY,
    row_type pg_catalog.regtype NOT NULL,
    source pg_catalog.regclass NOT NULL,
    method pg_catalog.text NOT NULL,
    options pg_catalog.jsonb NOT NULL,
    comment pg_catalog.text,
    guarantee pg_catalog.jsonb NOT NULL,
    rows pg_catalog.int8 NOT NULL CHECK (rows >= 0),
    suppressed_share pg_catalog.float8,
    published_at pg_catalog.timestamptz NOT NULL,
    published_by pg_catalog.text NOT NULL,
    entry pg_catalog.int8,
    source_row_type pg_catalog.regtype GENERATED ALWAYS AS (sanitize.row_type(source)) STORED
);

COMMENT ON COLUMN sanitize.published.entry IS 'the release_entry of what the table holds now';

COMMENT ON TABLE sanitize.published IS 'the releases that sanitize.publish made and that are not retired';

COMMENT ON COLUMN sanitize.published.row_type IS
    'the row type of the target: another table that gets its number one day has another one';

CREATE TABLE sanitize.release_entry (
    id pg_catalog.int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    published_at pg_catalog.timestamptz NOT NULL,
    source pg_catalog.regclass NOT NULL,
    target pg_catalog.text NOT NULL,
    method pg_catalog.text NOT NULL,
    kind pg_catalog.text NOT NULL,
    epsilon pg_catalog.numeric CHECK (epsilon >= 0),
    published_by pg_catalog.text NOT NULL,
    draft pg_catalog.bool NOT NULL DEFAULT false,
    delta pg_catalog.numeric CHECK (delta >= 0),
    unit pg_catalog.text,
    neighbours pg_catalog.text,
    unit_column pg_catalog.text,
    row_type pg_catalog.regtype GENERATED ALWAYS AS (sanitize.row_type(source)) STORED
);

COMMENT ON COLUMN sanitize.release_entry.draft IS 'nobody but the owner could read it: it does not count';

CREATE INDEX release_entry_source ON sanitize.release_entry (source);

COMMENT ON TABLE sanitize.release_entry IS
    'every publish and every refresh there was, of retired releases too: what composition has to count';

COMMENT ON COLUMN sanitize.release_entry.neighbours IS
    'with the unit: whom epsilon and delta are about; NULL, as in entries of versions that did not write it down, adds up with nothing';

COMMENT ON COLUMN sanitize.release_entry.unit_column IS 'the column that tells people apart, where the unit is a person';

COMMENT ON SEQUENCE sanitize.release_entry_id_seq IS 'numbers the entries';

CREATE TABLE sanitize.sharded_release (
    target pg_catalog.regclass PRIMARY KEY,
    row_type pg_catalog.regtype NOT NULL,
    mark pg_catalog.text NOT NULL,
    generation pg_catalog.int8 CHECK (generation > 0),
    written_in pg_catalog.xid8
);

COMMENT ON COLUMN sanitize.sharded_release.written_in IS
    'the transaction that made the generation: until it has committed, the one before is what readers see';

COMMENT ON TABLE sanitize.sharded_release IS
    'the releases whose rows lie on shards: the mark in the comments of their tables there, and the generation that readers see';

SELECT pg_catalog.pg_extension_config_dump('sanitize.published',
    'WHERE sanitize.row_type(source) = source_row_type AND sanitize.row_type(target) = row_type');

SELECT pg_catalog.pg_extension_config_dump('sanitize.sharded_release',
    'WHERE sanitize.row_type(target) = row_type');

SELECT pg_catalog.pg_extension_config_dump('sanitize.release_entry',
    'WHERE sanitize.row_type(source) = row_type');

SELECT pg_catalog.pg_extension_config_dump('sanitize.release_entry_id_seq', '');

CREATE FUNCTION sanitize.publish(target pg_catalog.text, source pg_catalog.regclass, method pg_catalog.text,
        options pg_catalog.jsonb DEFAULT '{}', comment pg_catalog.text DEFAULT NULL)
    RETURNS pg_catalog.jsonb
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_publish';

COMMENT ON FUNCTION sanitize.publish(pg_catalog.text, pg_catalog.regclass, pg_catalog.text, pg_catalog.jsonb, pg_catalog.text) IS
    'makes a release of the source by a method and keeps it as a table of the caller''s, or replaces the rows of a release that is there; returns its label';

CREATE FUNCTION sanitize.refresh(target pg_catalog.regclass) RETURNS pg_catalog.jsonb
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_refresh';

COMMENT ON FUNCTION sanitize.refresh(pg_catalog.regclass) IS
    'makes a release anew, as it was published, with the rights of its owner; readers see the old rows until the transaction commits';

CREATE FUNCTION sanitize.approve(target pg_catalog.regclass) RETURNS pg_catalog.jsonb
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_approve';

COMMENT ON FUNCTION sanitize.approve(pg_catalog.regclass) IS
    'makes a release of a draft, as it is: from now on it counts as an earlier release of its source, and others may be granted it; returns its label';

CREATE FUNCTION sanitize.retire(target pg_catalog.regclass) RETURNS pg_catalog.void
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_retire';

COMMENT ON FUNCTION sanitize.retire(pg_catalog.regclass) IS
    'drops the table of a release, unless something depends on it, and forgets how it was made; that it was there is still counted';

CREATE FUNCTION sanitize.drop_leftovers(target pg_catalog.regclass) RETURNS pg_catalog.void
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_drop_leftovers';

COMMENT ON FUNCTION sanitize.drop_leftovers(pg_catalog.regclass) IS
    'drops, on the shards of a sharded release, what earlier publishes and refreshes left behind, those that crashed too; what readers see stays';

CREATE FUNCTION sanitize.sanitize_in_place(target pg_catalog.regclass, method pg_catalog.text,
        options pg_catalog.jsonb DEFAULT '{}', confirm pg_catalog.text DEFAULT NULL)
    RETURNS pg_catalog.jsonb
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_sanitize_in_place';

COMMENT ON FUNCTION sanitize.sanitize_in_place(pg_catalog.regclass, pg_catalog.text, pg_catalog.jsonb, pg_catalog.text) IS
    'replaces the rows of a table of the caller''s by a release of it, and its keys, with what refers to them, by random values; returns the label, and what stays as it was';

CREATE VIEW sanitize.releases WITH (security_barrier) AS
    SELECT p.target, CASE WHEN s.oid IS NOT NULL OR sanitize.row_type(p.source) IS NULL THEN p.source END AS source, p.method,
           CASE WHEN seen.owner THEN p.options END AS options,
           CASE WHEN seen.owner OR seen.target THEN p.guarantee
                ELSE p.guarantee OPERATOR(pg_catalog.-) '{rows,suppressed_share}'::pg_catalog.text[] END AS guarantee,
           CASE WHEN seen.owner OR seen.target THEN p.rows END AS rows,
           CASE WHEN seen.owner OR seen.target THEN p.suppressed_share END AS suppressed_share,
           p.published_at, p.published_by,
           CASE WHEN total.covered THEN total.epsilon END AS epsilon_total,
           CASE WHEN total.covered THEN total.delta END AS delta_total
      FROM sanitize.published AS p
      JOIN pg_catalog.pg_class AS t ON t.oid OPERATOR(pg_catalog.=) p.target
       AND t.reltype OPERATOR(pg_catalog.=) p.row_type
      LEFT JOIN pg_catalog.pg_class AS s ON s.oid OPERATOR(pg_catalog.=) p.source
       AND s.reltype OPERATOR(pg_catalog.=) p.source_row_type
     CROSS JOIN LATERAL (
           SELECT pg_catalog.pg_has_role(t.relowner, 'USAGE')
               OR coalesce(pg_catalog.pg_has_role(s.relowner, 'USAGE'), false) AS owner,
                  coalesce(pg_catalog.has_table_privilege(t.oid, 'SELECT'), false) AS target,
                  coalesce(pg_catalog.has_table_privilege(s.oid, 'SELECT'), false) AS source) AS seen
     -- What protects one row and what protects a person, patients and their doctors, or what hides that a row is there
     -- and what hides what is in it, does not add up; and beside a release that protects nobody no sum means anything.
     CROSS JOIN LATERAL (
           SELECT pg_catalog.sum(e.epsilon)::pg_catalog.float8 AS epsilon, pg_catalog.sum(e.delta)::pg_catalog.float8 AS delta,
                  pg_catalog.bool_and(e.kind OPERATOR(pg_catalog.=) ANY ('{dp,ldp}'::pg_catalog.text[])
                      AND e.epsilon IS NOT NULL AND e.delta IS NOT NULL AND e.unit IS NOT NULL AND e.neighbours IS NOT NULL
                      AND (e.unit OPERATOR(pg_catalog.=) 'person') OPERATOR(pg_catalog.=) (e.unit_column IS NOT NULL))
                  AND pg_catalog.min(e.unit) OPERATOR(pg_catalog.=) pg_catalog.max(e.unit)
                  AND pg_catalog.min(e.unit_column) IS NOT DISTINCT FROM pg_catalog.max(e.unit_column)
                  AND pg_catalog.min(e.neighbours) OPERATOR(pg_catalog.=) pg_catalog.max(e.neighbours) AS covered
             FROM sanitize.release_entry AS e
            WHERE e.source OPERATOR(pg_catalog.=) p.source AND e.row_type OPERATOR(pg_catalog.=) p.source_row_type
              AND NOT (e.draft AND e.kind OPERATOR(pg_catalog.<>) ALL ('{dp,ldp}'::pg_catalog.text[]))) AS total
     WHERE seen.owner OR seen.target OR seen.source;

COMMENT ON VIEW sanitize.releases IS
    'the releases that you may read, or whose source you may read: how each was made and what it guarantees; owners see the options, and epsilon_total and delta_total add up all releases of the source, if all of them protect the same: NULL if not';

GRANT SELECT ON sanitize.releases TO PUBLIC;

CREATE FUNCTION sanitize.publishing()
    RETURNS TABLE(pid pg_catalog.int4, target pg_catalog.text, source pg_catalog.regclass, method pg_catalog.text, phase pg_catalog.text,
        share pg_catalog.float8, rows pg_catalog.int8, seconds pg_catalog.float8)
    LANGUAGE c VOLATILE PARALLEL RESTRICTED ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_publishing';

COMMENT ON FUNCTION sanitize.publishing() IS
    'how far the publishes and refreshes are that run at the moment: those of your own role and of roles that you are a member of';

CREATE VIEW sanitize.progress AS SELECT * FROM sanitize.publishing();

COMMENT ON VIEW sanitize.progress IS
    'publishes and refreshes that run at the moment in any connection: phase, share of its work where that is known, rows so far, seconds since the start';

GRANT SELECT ON sanitize.progress TO PUBLIC;

CREATE TABLE sanitize.shard_work (
    task pg_catalog.jsonb NOT NULL,
    rows sanitize.bag,
    CONSTRAINT shard_work_is_done CHECK (false)
);

COMMENT ON TABLE sanitize.shard_work IS
    'work for this server as a shard of a sharded release: what sanitize.publish on the coordinator inserts is done at once, with the rights of the role that inserts, and not kept';

CREATE FUNCTION sanitize.do_shard_work() RETURNS pg_catalog.trigger
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_do_shard_work';

COMMENT ON FUNCTION sanitize.do_shard_work() IS
    'part of sanitize.shard_work: makes, fills or drops a table of a sharded release';

REVOKE EXECUTE ON FUNCTION sanitize.do_shard_work() FROM PUBLIC;

CREATE TRIGGER do_shard_work BEFORE INSERT ON sanitize.shard_work
    FOR EACH ROW EXECUTE FUNCTION sanitize.do_shard_work();

COMMENT ON TRIGGER do_shard_work ON sanitize.shard_work IS 'does the work';

ALTER TABLE sanitize.shard_work ENABLE ALWAYS TRIGGER do_shard_work;

GRANT INSERT ON sanitize.shard_work TO PUBLIC;

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

DROP FUNCTION sanitize.row_bag_trans(pg_catalog.internal, pg_catalog.record);
DROP FUNCTION sanitize.row_bag_combine(pg_catalog.internal, pg_catalog.internal);
DROP FUNCTION sanitize.row_bag_serial(pg_catalog.internal);
DROP FUNCTION sanitize.row_bag_deserial(pg_catalog.bytea, pg_catalog.internal);
DROP FUNCTION sanitize.row_bag_final(pg_catalog.internal);
DROP FUNCTION sanitize.clamped_sum_trans(pg_catalog.internal, pg_catalog.int8, pg_catalog.int8, pg_catalog.int8);
DROP FUNCTION sanitize.clamped_squares_trans(pg_catalog.internal, pg_catalog.int8, pg_catalog.int8, pg_catalog.int8);
DROP FUNCTION sanitize.clamped_combine(pg_catalog.internal, pg_catalog.internal);
DROP FUNCTION sanitize.clamped_serial(pg_catalog.internal);
DROP FUNCTION sanitize.clamped_deserial(pg_catalog.bytea, pg_catalog.internal);
DROP FUNCTION sanitize.clamped_final(pg_catalog.internal);

