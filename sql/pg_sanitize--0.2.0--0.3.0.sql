\echo Use "ALTER EXTENSION pg_sanitize UPDATE" to load this file. \quit

-- Functions whose arguments or columns change are dropped and made again. What users have built on them would go with
-- them: the update lists it and changes nothing.

DO LANGUAGE plpgsql $$
DECLARE
    dropped CONSTANT pg_catalog.regprocedure[] := ARRAY[
        'sanitize.methods()',
        'sanitize.protect(pg_catalog.regclass, pg_catalog.text, pg_catalog.float8, pg_catalog.float8, pg_catalog.int4, pg_catalog.interval, pg_catalog.int4, pg_catalog.float8, pg_catalog.int4, pg_catalog.bool, pg_catalog.bool)',
        'sanitize.anonymity_score(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.text[])',
        'sanitize.common_records(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.text[])',
        'sanitize.rare_itemset_leak(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.int4, pg_catalog.int8)',
        'sanitize.compare_itemsets(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.float8, pg_catalog.text[], pg_catalog.int4)',
        'sanitize.krimp_report(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.jsonb, pg_catalog.text[], pg_catalog.int4, pg_catalog.int8)',
        'sanitize.information_loss(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.text[])',
        'sanitize.code_tree(pg_catalog.regclass, pg_catalog.float8, pg_catalog.float8, pg_catalog.text[], pg_catalog.int4, pg_catalog.text, pg_catalog.text)',
        'sanitize.code_tree_generate(pg_catalog.anyelement, pg_catalog.int8, pg_catalog.float8, pg_catalog.float8, pg_catalog.text, pg_catalog.text[], pg_catalog.int4, pg_catalog.text, pg_catalog.int8, pg_catalog.text, pg_catalog.text)',
        'sanitize.private_krimp_generate(pg_catalog.anyelement, pg_catalog.float8, pg_catalog.int8, pg_catalog.float8, pg_catalog.float8, pg_catalog.text, pg_catalog.jsonb, pg_catalog.text[], pg_catalog.int4, pg_catalog.int8, pg_catalog.text)',
        'sanitize.randomized_itemsets(pg_catalog.regclass, pg_catalog.text, pg_catalog.int4, pg_catalog.float8, pg_catalog.float8[], pg_catalog.float8, pg_catalog.int4, pg_catalog.float8, pg_catalog.int4, pg_catalog.int4, pg_catalog.int4)',
        'sanitize.exact_count_epsilon(pg_catalog.int8, pg_catalog.float8, pg_catalog.int8, pg_catalog.int8)',
        'sanitize.suppress_cells(pg_catalog.regclass, pg_catalog.text, pg_catalog.text, pg_catalog.int8, pg_catalog.int8, pg_catalog.text)',
        'sanitize.k_anonymity(pg_catalog.regclass, pg_catalog.text[])',
        'sanitize.k_anonymity(sanitize.bag, pg_catalog.text[])',
        'sanitize.k_anonymity(pg_catalog.text, pg_catalog.text[])',
        'sanitize.l_diversity(pg_catalog.regclass, pg_catalog.text, pg_catalog.text[], pg_catalog.text)',
        'sanitize.l_diversity(sanitize.bag, pg_catalog.text, pg_catalog.text[], pg_catalog.text)',
        'sanitize.l_diversity(pg_catalog.text, pg_catalog.text, pg_catalog.text[], pg_catalog.text)',
        'sanitize.t_closeness(pg_catalog.regclass, pg_catalog.text, pg_catalog.text[], pg_catalog.bool)',
        'sanitize.t_closeness(sanitize.bag, pg_catalog.text, pg_catalog.text[], pg_catalog.bool)',
        'sanitize.t_closeness(pg_catalog.text, pg_catalog.text, pg_catalog.text[], pg_catalog.bool)',
        'sanitize.class_risk(pg_catalog.regclass, pg_catalog.text, pg_catalog.text[], pg_catalog.int4)',
        'sanitize.class_risk(sanitize.bag, pg_catalog.text, pg_catalog.text[], pg_catalog.int4)',
        'sanitize.class_risk(pg_catalog.text, pg_catalog.text, pg_catalog.text[], pg_catalog.int4)',
        'sanitize.unicity(pg_catalog.regclass, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.int4, pg_catalog.int8)',
        'sanitize.unicity(sanitize.bag, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.int4, pg_catalog.int8)',
        'sanitize.unicity(pg_catalog.text, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.int4, pg_catalog.int8)',
        'sanitize.mine_miis(pg_catalog.regclass, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.jsonb)',
        'sanitize.mine_miis(sanitize.bag, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.jsonb)',
        'sanitize.mine_miis(pg_catalog.text, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.jsonb)',
        'sanitize.mii_risk(pg_catalog.regclass, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.jsonb)',
        'sanitize.mii_risk(sanitize.bag, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.jsonb)',
        'sanitize.mii_risk(pg_catalog.text, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.jsonb)',
        'sanitize.frequent_itemsets(pg_catalog.regclass, pg_catalog.int8, pg_catalog.text[], pg_catalog.int4, pg_catalog.bool)',
        'sanitize.frequent_itemsets(sanitize.bag, pg_catalog.int8, pg_catalog.text[], pg_catalog.int4, pg_catalog.bool)',
        'sanitize.frequent_itemsets(pg_catalog.text, pg_catalog.int8, pg_catalog.text[], pg_catalog.int4, pg_catalog.bool)',
        'sanitize.loss_curve(pg_catalog.regclass, pg_catalog.int4[], pg_catalog.text[], pg_catalog.bool)',
        'sanitize.hide_itemsets(pg_catalog.anyelement, pg_catalog.jsonb, pg_catalog.int8, pg_catalog.text[])',
        'sanitize.k_anonymize(pg_catalog.anyelement, pg_catalog.int4, pg_catalog.text[], pg_catalog.text[], pg_catalog.jsonb, pg_catalog.int4, pg_catalog.bool, pg_catalog.text, pg_catalog.float8, pg_catalog.text, pg_catalog.float8)',
        'sanitize.mii_suppress(pg_catalog.anyelement, pg_catalog.int4, pg_catalog.text[], pg_catalog.text[], pg_catalog.int4, pg_catalog.float8)',
        'sanitize.k_mii(pg_catalog.anyelement, pg_catalog.int4, pg_catalog.text[], pg_catalog.text[], pg_catalog.int4, pg_catalog.float8)'];
    built pg_catalog.text;
BEGIN
    SELECT pg_catalog.string_agg(DISTINCT
               pg_catalog.format('%s depends on function %s',
                   CASE WHEN r.ev_class IS NULL THEN pg_catalog.pg_describe_object(d.classid, d.objid, d.objsubid)
                        ELSE pg_catalog.pg_describe_object('pg_catalog.pg_class'::pg_catalog.regclass, r.ev_class, 0) END,
                   d.refobjid::pg_catalog.regprocedure), E'\n')
      INTO built
      FROM pg_catalog.pg_depend AS d
      LEFT JOIN pg_catalog.pg_rewrite AS r
        ON d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND r.oid OPERATOR(pg_catalog.=) d.objid
     WHERE d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass
       AND d.refobjid OPERATOR(pg_catalog.=) ANY (dropped::pg_catalog.oid[]);
    IF built IS NOT NULL THEN
        RAISE EXCEPTION 'objects depend on functions whose arguments or columns change'
            USING ERRCODE = 'dependent_objects_still_exist', DETAIL = built,
                  HINT = 'Keep their definitions (pg_get_viewdef), drop them, update, and create them again with the new arguments.';
    END IF;
    -- While the script of an update runs, Postgres keeps notices back.
    PERFORM pg_catalog.set_config('client_min_messages', 'notice', true);
    RAISE NOTICE 'pg_sanitize 0.3.0: arguments or columns of functions change, calls must be changed'
        USING DETAIL = pg_catalog.concat_ws(E'\n',

            'sanitize.methods: a new column, family',
            'sanitize.protect: a new argument at the end, population; epsilon may be left out',
            'sanitize.anonymity_score: (original, released, …)',
            'sanitize.common_records: (original, released, …)',
            'sanitize.rare_itemset_leak: (original, released, …)',
            'sanitize.compare_itemsets: min_share in place of min_support',
            'sanitize.krimp_report: (original, released, …)',
            'sanitize.information_loss: (original, released, …)',
            'sanitize.code_tree: min_share in place of min_support',
            'sanitize.code_tree_generate: min_share in place of min_support',
            'sanitize.private_krimp_generate: min_share in place of min_support',
            'sanitize.randomized_itemsets: min_share in place of min_support',
            'sanitize.exact_count_epsilon: low and high in place of lo and hi',
            'sanitize.suppress_cells: unit as a last argument',
            'sanitize.k_anonymity: unit as a last argument',
            'sanitize.l_diversity: unit as a last argument',
            'sanitize.t_closeness: unit as a last argument',
            'sanitize.class_risk: unit as a last argument, and a last column, people',
            'sanitize.unicity: unit and what as last arguments',
            'sanitize.mine_miis: unit as a last argument',
            'sanitize.mii_risk: unit as a last argument',
            'sanitize.frequent_itemsets: unit as a last argument',
            'sanitize.loss_curve: unit as a last argument',
            'sanitize.hide_itemsets: unit as a last argument',
            'sanitize.k_anonymize: unit as a last argument',
            'sanitize.mii_suppress: unit as a last argument',
            'sanitize.k_mii: unit as a last argument',
            'without unit, they count the people of a protected relation');
END
$$;

DROP FUNCTION sanitize.methods();
DROP FUNCTION sanitize.protect(pg_catalog.regclass, pg_catalog.text, pg_catalog.float8, pg_catalog.float8, pg_catalog.int4, pg_catalog.interval, pg_catalog.int4, pg_catalog.float8, pg_catalog.int4, pg_catalog.bool, pg_catalog.bool);
DROP FUNCTION sanitize.anonymity_score(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.text[]);
DROP FUNCTION sanitize.common_records(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.text[]);
DROP FUNCTION sanitize.rare_itemset_leak(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.int4, pg_catalog.int8);
DROP FUNCTION sanitize.compare_itemsets(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.float8, pg_catalog.text[], pg_catalog.int4);
DROP FUNCTION sanitize.krimp_report(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.jsonb, pg_catalog.text[], pg_catalog.int4, pg_catalog.int8);
DROP FUNCTION sanitize.information_loss(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.text[]);
DROP FUNCTION sanitize.code_tree(pg_catalog.regclass, pg_catalog.float8, pg_catalog.float8, pg_catalog.text[], pg_catalog.int4, pg_catalog.text, pg_catalog.text);
DROP FUNCTION sanitize.code_tree_generate(pg_catalog.anyelement, pg_catalog.int8, pg_catalog.float8, pg_catalog.float8, pg_catalog.text, pg_catalog.text[], pg_catalog.int4, pg_catalog.text, pg_catalog.int8, pg_catalog.text, pg_catalog.text);
DROP FUNCTION sanitize.private_krimp_generate(pg_catalog.anyelement, pg_catalog.float8, pg_catalog.int8, pg_catalog.float8, pg_catalog.float8, pg_catalog.text, pg_catalog.jsonb, pg_catalog.text[], pg_catalog.int4, pg_catalog.int8, pg_catalog.text);
DROP FUNCTION sanitize.randomized_itemsets(pg_catalog.regclass, pg_catalog.text, pg_catalog.int4, pg_catalog.float8, pg_catalog.float8[], pg_catalog.float8, pg_catalog.int4, pg_catalog.float8, pg_catalog.int4, pg_catalog.int4, pg_catalog.int4);
DROP FUNCTION sanitize.exact_count_epsilon(pg_catalog.int8, pg_catalog.float8, pg_catalog.int8, pg_catalog.int8);
DROP FUNCTION sanitize.suppress_cells(pg_catalog.regclass, pg_catalog.text, pg_catalog.text, pg_catalog.int8, pg_catalog.int8, pg_catalog.text);
DROP FUNCTION sanitize.k_anonymity(pg_catalog.regclass, pg_catalog.text[]);
DROP FUNCTION sanitize.k_anonymity(sanitize.bag, pg_catalog.text[]);
DROP FUNCTION sanitize.k_anonymity(pg_catalog.text, pg_catalog.text[]);
DROP FUNCTION sanitize.l_diversity(pg_catalog.regclass, pg_catalog.text, pg_catalog.text[], pg_catalog.text);
DROP FUNCTION sanitize.l_diversity(sanitize.bag, pg_catalog.text, pg_catalog.text[], pg_catalog.text);
DROP FUNCTION sanitize.l_diversity(pg_catalog.text, pg_catalog.text, pg_catalog.text[], pg_catalog.text);
DROP FUNCTION sanitize.t_closeness(pg_catalog.regclass, pg_catalog.text, pg_catalog.text[], pg_catalog.bool);
DROP FUNCTION sanitize.t_closeness(sanitize.bag, pg_catalog.text, pg_catalog.text[], pg_catalog.bool);
DROP FUNCTION sanitize.t_closeness(pg_catalog.text, pg_catalog.text, pg_catalog.text[], pg_catalog.bool);
DROP FUNCTION sanitize.class_risk(pg_catalog.regclass, pg_catalog.text, pg_catalog.text[], pg_catalog.int4);
DROP FUNCTION sanitize.class_risk(sanitize.bag, pg_catalog.text, pg_catalog.text[], pg_catalog.int4);
DROP FUNCTION sanitize.class_risk(pg_catalog.text, pg_catalog.text, pg_catalog.text[], pg_catalog.int4);
DROP FUNCTION sanitize.unicity(pg_catalog.regclass, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.int4, pg_catalog.int8);
DROP FUNCTION sanitize.unicity(sanitize.bag, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.int4, pg_catalog.int8);
DROP FUNCTION sanitize.unicity(pg_catalog.text, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.int4, pg_catalog.int8);
DROP FUNCTION sanitize.mine_miis(pg_catalog.regclass, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.jsonb);
DROP FUNCTION sanitize.mine_miis(sanitize.bag, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.jsonb);
DROP FUNCTION sanitize.mine_miis(pg_catalog.text, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.jsonb);
DROP FUNCTION sanitize.mii_risk(pg_catalog.regclass, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.jsonb);
DROP FUNCTION sanitize.mii_risk(sanitize.bag, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.jsonb);
DROP FUNCTION sanitize.mii_risk(pg_catalog.text, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.jsonb);
DROP FUNCTION sanitize.frequent_itemsets(pg_catalog.regclass, pg_catalog.int8, pg_catalog.text[], pg_catalog.int4, pg_catalog.bool);
DROP FUNCTION sanitize.frequent_itemsets(sanitize.bag, pg_catalog.int8, pg_catalog.text[], pg_catalog.int4, pg_catalog.bool);
DROP FUNCTION sanitize.frequent_itemsets(pg_catalog.text, pg_catalog.int8, pg_catalog.text[], pg_catalog.int4, pg_catalog.bool);
DROP FUNCTION sanitize.loss_curve(pg_catalog.regclass, pg_catalog.int4[], pg_catalog.text[], pg_catalog.bool);
DROP FUNCTION sanitize.hide_itemsets(pg_catalog.anyelement, pg_catalog.jsonb, pg_catalog.int8, pg_catalog.text[]);
DROP FUNCTION sanitize.k_anonymize(pg_catalog.anyelement, pg_catalog.int4, pg_catalog.text[], pg_catalog.text[], pg_catalog.jsonb, pg_catalog.int4, pg_catalog.bool, pg_catalog.text, pg_catalog.float8, pg_catalog.text, pg_catalog.float8);
DROP FUNCTION sanitize.mii_suppress(pg_catalog.anyelement, pg_catalog.int4, pg_catalog.text[], pg_catalog.text[], pg_catalog.int4, pg_catalog.float8);
DROP FUNCTION sanitize.k_mii(pg_catalog.anyelement, pg_catalog.int4, pg_catalog.text[], pg_catalog.text[], pg_catalog.int4, pg_catalog.float8);

-- What only the extension itself calls moves; views, aggregates, types and columns that use it follow.
CREATE SCHEMA sanitize_internal;
COMMENT ON SCHEMA sanitize_internal IS 'pg_sanitize: what only the extension itself calls';
GRANT USAGE ON SCHEMA sanitize_internal TO PUBLIC;
ALTER FUNCTION sanitize.bag_in(pg_catalog.cstring) SET SCHEMA sanitize_internal;
ALTER FUNCTION sanitize.bag_out(sanitize.bag) SET SCHEMA sanitize_internal;
ALTER FUNCTION sanitize.bag_recv(pg_catalog.internal) SET SCHEMA sanitize_internal;
ALTER FUNCTION sanitize.bag_send(sanitize.bag) SET SCHEMA sanitize_internal;
ALTER FUNCTION sanitize.bag_packed(sanitize.bag) SET SCHEMA sanitize_internal;
ALTER FUNCTION sanitize.row_bag_trans(sanitize.bag, pg_catalog.record) SET SCHEMA sanitize_internal;
ALTER FUNCTION sanitize.row_bag_columns_trans(sanitize.bag, pg_catalog.text[], pg_catalog."any") SET SCHEMA sanitize_internal;
ALTER FUNCTION sanitize.row_bag_columns_trans(sanitize.bag, pg_catalog.cstring[], pg_catalog."any") SET SCHEMA sanitize_internal;
ALTER FUNCTION sanitize.cell_bag_trans(sanitize.bag, pg_catalog.text[], pg_catalog.text[]) SET SCHEMA sanitize_internal;
ALTER FUNCTION sanitize.row_bag_combine(sanitize.bag, sanitize.bag) SET SCHEMA sanitize_internal;
ALTER FUNCTION sanitize.row_bag_final(sanitize.bag) SET SCHEMA sanitize_internal;
ALTER FUNCTION sanitize.bounded_rows_trans(sanitize.bag, pg_catalog.jsonb, pg_catalog."any") SET SCHEMA sanitize_internal;
ALTER FUNCTION sanitize.bounded_rows_final(sanitize.bag) SET SCHEMA sanitize_internal;
ALTER FUNCTION sanitize.spent(pg_catalog.numeric, pg_catalog.numeric, pg_catalog.numeric, pg_catalog.numeric, pg_catalog.numeric, pg_catalog.numeric) SET SCHEMA sanitize_internal;
ALTER FUNCTION sanitize.clamped_sum_trans(pg_catalog.int8[], pg_catalog.int8, pg_catalog.int8, pg_catalog.int8) SET SCHEMA sanitize_internal;
ALTER FUNCTION sanitize.clamped_squares_trans(pg_catalog.int8[], pg_catalog.int8, pg_catalog.int8, pg_catalog.int8) SET SCHEMA sanitize_internal;
ALTER FUNCTION sanitize.clamped_combine(pg_catalog.int8[], pg_catalog.int8[]) SET SCHEMA sanitize_internal;
ALTER FUNCTION sanitize.clamped_final(pg_catalog.int8[]) SET SCHEMA sanitize_internal;
ALTER FUNCTION sanitize.grid_time(pg_catalog.timestamptz) SET SCHEMA sanitize_internal;
ALTER FUNCTION sanitize.publishing() SET SCHEMA sanitize_internal;
ALTER FUNCTION sanitize.do_shard_work() SET SCHEMA sanitize_internal;
ALTER FUNCTION sanitize.row_type(pg_catalog.regclass) SET SCHEMA sanitize_internal;
ALTER FUNCTION sanitize.relation_owner(pg_catalog.regclass) SET SCHEMA sanitize_internal;
ALTER FUNCTION sanitize.role_name(pg_catalog.regrole) SET SCHEMA sanitize_internal;
ALTER FUNCTION sanitize.ledger_place() SET SCHEMA sanitize_internal;
ALTER FUNCTION sanitize.delta_share(pg_catalog.numeric, pg_catalog.numeric, pg_catalog.numeric, pg_catalog.numeric) SET SCHEMA sanitize_internal;
ALTER AGGREGATE sanitize.bounded_rows(pg_catalog.jsonb, "any") SET SCHEMA sanitize_internal;
ALTER TABLE sanitize.shard_work SET SCHEMA sanitize_internal;

CREATE OR REPLACE FUNCTION sanitize_internal.spent(epsilon pg_catalog.numeric, delta pg_catalog.numeric, rho pg_catalog.numeric, rest_epsilon pg_catalog.numeric, rest_delta pg_catalog.numeric, budget_delta pg_catalog.numeric)
    RETURNS TABLE(epsilon_spent pg_catalog.float8, delta_spent pg_catalog.float8)
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_spent';
COMMENT ON FUNCTION sanitize_internal.spent(pg_catalog.numeric, pg_catalog.numeric, pg_catalog.numeric, pg_catalog.numeric, pg_catalog.numeric, pg_catalog.numeric) IS
    'what charges with these sums take of a budget with that delta: the smaller epsilon of the two ways to add up';

COMMENT ON FUNCTION sanitize_internal.do_shard_work() IS
    'part of sanitize_internal.shard_work: makes, fills or drops a table of a sharded release';

COMMENT ON FUNCTION sanitize.declare_bounds(pg_catalog.regclass, pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.int4) IS
    'the owner says between which values a column of numbers, dates or timestamps lies, and into how many bins it is cut';

CREATE FUNCTION sanitize.methods()
    RETURNS TABLE(method pg_catalog.text, "position" pg_catalog.int4, argument pg_catalog.text, types pg_catalog.text, default_value pg_catalog.text, about pg_catalog.text, family pg_catalog.text)
    LANGUAGE c STABLE PARALLEL SAFE ROWS 200 AS 'MODULE_PATHNAME', 'sanitize_methods';
COMMENT ON FUNCTION sanitize.methods() IS
    'every argument of every function: its types, its default as JSON (NULL: it has to be given), what it means, and the family that the function belongs to';

CREATE FUNCTION sanitize.anonymity_score(original pg_catalog.regclass, released pg_catalog.regclass, columns pg_catalog.text[] DEFAULT NULL)
    RETURNS TABLE(score pg_catalog.float8, normalised pg_catalog.float8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_anonymity_score';
COMMENT ON FUNCTION sanitize.anonymity_score(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.text[]) IS
    'how many rows of the original were released, rare rows counting more; normalised: as a share of the score of releasing the original itself; NULL if the original has no rows';

CREATE FUNCTION sanitize.common_records(original pg_catalog.regclass, released pg_catalog.regclass, columns pg_catalog.text[] DEFAULT NULL)
    RETURNS TABLE(share_of_released pg_catalog.float8, share_of_original pg_catalog.float8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_common_records';
COMMENT ON FUNCTION sanitize.common_records(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.text[]) IS
    'the share of the rows of each table that also occur in the other; NULL for a table without rows';

CREATE FUNCTION sanitize.rare_itemset_leak(original pg_catalog.regclass, released pg_catalog.regclass, samples pg_catalog.int4 DEFAULT 10000, seed pg_catalog.int8 DEFAULT NULL, unit pg_catalog.text DEFAULT NULL)
    RETURNS TABLE(length pg_catalog.int4, tried pg_catalog.int8, leaked pg_catalog.int8)
    LANGUAGE c VOLATILE PARALLEL RESTRICTED ROWS 10 AS 'MODULE_PATHNAME', 'sanitize_rare_itemset_leak';
COMMENT ON FUNCTION sanitize.rare_itemset_leak(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.int4, pg_catalog.int8, pg_catalog.text) IS
    'random itemsets that exactly one row of the original contains, or the rows of one person, and how many of them the released table contains too, by length';

CREATE FUNCTION sanitize.compare_itemsets(original pg_catalog.regclass, released pg_catalog.regclass, min_share pg_catalog.float8, columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL)
    RETURNS TABLE(original_count pg_catalog.int8, released_count pg_catalog.int8, common pg_catalog.int8, missing pg_catalog.int8, added pg_catalog.int8, nfd_common pg_catalog.float8, nfd_missing pg_catalog.float8, nfd_added pg_catalog.float8, equal_share pg_catalog.float8, support_difference pg_catalog.float8, added_support pg_catalog.float8, added_absent pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_compare_itemsets';
COMMENT ON FUNCTION sanitize.compare_itemsets(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.float8, pg_catalog.text[], pg_catalog.int4) IS
    'how the itemsets that at least a share min_share of the rows contain differ between two tables: how many are frequent in both or in one only, and how far their supports are apart';

CREATE FUNCTION sanitize.krimp_report(original pg_catalog.regclass, released pg_catalog.regclass, model pg_catalog.jsonb DEFAULT NULL, columns pg_catalog.text[] DEFAULT NULL, samples pg_catalog.int4 DEFAULT 10000, seed pg_catalog.int8 DEFAULT NULL)
    RETURNS TABLE(measure pg_catalog.text, value pg_catalog.float8, advice pg_catalog.text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 4 AS 'MODULE_PATHNAME', 'sanitize_krimp_report';
COMMENT ON FUNCTION sanitize.krimp_report(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.jsonb, pg_catalog.text[], pg_catalog.int4, pg_catalog.int8) IS
    'what a generated table shows of its original: patterns per row (from the model), anonymity score, copied rows, leaked rare itemsets, and what to do about it. Computed from the original, so for its owner and not for publication';

CREATE FUNCTION sanitize.information_loss(original pg_catalog.regclass, released pg_catalog.regclass, columns pg_catalog.text[] DEFAULT NULL)
    RETURNS TABLE(column_name pg_catalog.text, changed pg_catalog.float8, loss pg_catalog.float8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 10 AS 'MODULE_PATHNAME', 'sanitize_information_loss';
COMMENT ON FUNCTION sanitize.information_loss(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.text[]) IS
    'by column, and over all (column_name NULL): the share of the cells that a release changed, and what a cell lost on average, from 0 (nothing) to 1 (blanked or dropped)';

CREATE FUNCTION sanitize.code_tree(source pg_catalog.regclass, min_share pg_catalog.float8, tree_threshold pg_catalog.float8 DEFAULT NULL, columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, nulls pg_catalog.text DEFAULT 'missing', candidates pg_catalog.text DEFAULT 'all')
    RETURNS TABLE(node pg_catalog.int4, parent pg_catalog.int4, item pg_catalog.jsonb, probability pg_catalog.float8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_code_tree';
COMMENT ON FUNCTION sanitize.code_tree(pg_catalog.regclass, pg_catalog.float8, pg_catalog.float8, pg_catalog.text[], pg_catalog.int4, pg_catalog.text, pg_catalog.text) IS
    'the dependent code tree of the relation: a path of items for every combination of Krimp''s patterns that more than tree_threshold of the rows contain, and the share of the rows that contain each path. It shows exact counts of the relation';

CREATE FUNCTION sanitize.code_tree_generate(source pg_catalog.anyelement, n pg_catalog.int8, min_share pg_catalog.float8 DEFAULT 0.1, tree_threshold pg_catalog.float8 DEFAULT NULL, generator pg_catalog.text DEFAULT 'backoff', columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, class pg_catalog.text DEFAULT NULL, seed pg_catalog.int8 DEFAULT NULL, nulls pg_catalog.text DEFAULT 'value', candidates pg_catalog.text DEFAULT 'all')
    RETURNS SETOF pg_catalog.anyelement
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_code_tree_generate';
COMMENT ON FUNCTION sanitize.code_tree_generate(pg_catalog.anyelement, pg_catalog.int8, pg_catalog.float8, pg_catalog.float8, pg_catalog.text, pg_catalog.text[], pg_catalog.int4, pg_catalog.text, pg_catalog.int8, pg_catalog.text, pg_catalog.text) IS
    'n rows of the relation''s type, drawn from its dependent code tree (class by class if class is given). No privacy is guaranteed: rows can be copies, and every value that occurs can come out';

CREATE FUNCTION sanitize.private_krimp_generate(source pg_catalog.anyelement, epsilon pg_catalog.float8, n pg_catalog.int8, min_share pg_catalog.float8 DEFAULT 0.1, tree_threshold pg_catalog.float8 DEFAULT NULL, generator pg_catalog.text DEFAULT 'backoff', weights pg_catalog.jsonb DEFAULT NULL, columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, seed pg_catalog.int8 DEFAULT NULL, class pg_catalog.text DEFAULT NULL)
    RETURNS SETOF pg_catalog.anyelement
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_private_krimp_generate';
COMMENT ON FUNCTION sanitize.private_krimp_generate(pg_catalog.anyelement, pg_catalog.float8, pg_catalog.int8, pg_catalog.float8, pg_catalog.float8, pg_catalog.text, pg_catalog.jsonb, pg_catalog.text[], pg_catalog.int4, pg_catalog.int8, pg_catalog.text) IS
    'n rows of the relation''s type, drawn from a code tree of its rows after every cell of them was randomised: epsilon-locally differentially private for each row, as sanitize.randomize_cells is; columns need public domains';

CREATE FUNCTION sanitize.randomized_itemsets(source pg_catalog.regclass, column_name pg_catalog.text, size pg_catalog.int4, rho pg_catalog.float8, keep pg_catalog.float8[], min_share pg_catalog.float8, max_itemset pg_catalog.int4 DEFAULT 3, margin pg_catalog.float8 DEFAULT 2, universe pg_catalog.int4 DEFAULT NULL, itemset pg_catalog.int4 DEFAULT NULL, bits pg_catalog.int4 DEFAULT NULL)
    RETURNS TABLE(items pg_catalog.int4[], support pg_catalog.float8, stddev pg_catalog.float8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 100 AS 'MODULE_PATHNAME', 'sanitize_randomized_itemsets';
COMMENT ON FUNCTION sanitize.randomized_itemsets(pg_catalog.regclass, pg_catalog.text, pg_catalog.int4, pg_catalog.float8, pg_catalog.float8[], pg_catalog.float8, pg_catalog.int4, pg_catalog.float8, pg_catalog.int4, pg_catalog.int4, pg_catalog.int4) IS
    'itemsets that at least a share min_share of the transactions contained before they were randomised, with estimated supports and standard deviations';

CREATE FUNCTION sanitize.exact_count_epsilon(n pg_catalog.int8, p pg_catalog.float8, low pg_catalog.int8, high pg_catalog.int8)
    RETURNS TABLE(epsilon pg_catalog.float8, refuse_epsilon pg_catalog.float8, release_probability pg_catalog.float8)
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_exact_count_epsilon_range';
COMMENT ON FUNCTION sanitize.exact_count_epsilon(pg_catalog.int8, pg_catalog.float8, pg_catalog.int8, pg_catalog.int8) IS
    'how much a count that is released from low to high, and refused otherwise, tells of one row at most; how much the refusal tells; how likely a release is';

CREATE FUNCTION sanitize.suppress_cells(source pg_catalog.regclass, row_column pg_catalog.text, column_column pg_catalog.text, threshold pg_catalog.int8 DEFAULT 5, protection pg_catalog.int8 DEFAULT NULL, group_column pg_catalog.text DEFAULT NULL, unit pg_catalog.text DEFAULT NULL)
    RETURNS TABLE(row_value pg_catalog.text, column_value pg_catalog.text, cell pg_catalog.int8, status pg_catalog.text, group_value pg_catalog.text)
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_suppress_cells';
COMMENT ON FUNCTION sanitize.suppress_cells(pg_catalog.regclass, pg_catalog.text, pg_catalog.text, pg_catalog.int8, pg_catalog.int8, pg_catalog.text, pg_catalog.text) IS
    'counts of two columns with totals, without the small ones and without those from which these could be computed back. Cells count rows, or people each of whom is in one cell';

CREATE FUNCTION sanitize.k_anonymity(source pg_catalog.regclass, columns pg_catalog.text[] DEFAULT NULL, unit pg_catalog.text DEFAULT NULL)
    RETURNS pg_catalog.int8
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_k_anonymity';
COMMENT ON FUNCTION sanitize.k_anonymity(pg_catalog.regclass, pg_catalog.text[], pg_catalog.text) IS
    'the rows, or people, of the smallest class of rows that are equal in these columns, NULL being equal to NULL; NULL without rows';

CREATE FUNCTION sanitize.k_anonymity(source sanitize.bag, columns pg_catalog.text[] DEFAULT NULL, unit pg_catalog.text DEFAULT NULL)
    RETURNS pg_catalog.int8
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_k_anonymity';
COMMENT ON FUNCTION sanitize.k_anonymity(sanitize.bag, pg_catalog.text[], pg_catalog.text) IS
    'the rows, or people, of the smallest class of rows that are equal in these columns, NULL being equal to NULL; NULL without rows (of a bag)';

CREATE FUNCTION sanitize.k_anonymity(source pg_catalog.text, columns pg_catalog.text[] DEFAULT NULL, unit pg_catalog.text DEFAULT NULL)
    RETURNS pg_catalog.int8
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_k_anonymity';
COMMENT ON FUNCTION sanitize.k_anonymity(pg_catalog.text, pg_catalog.text[], pg_catalog.text) IS
    'the rows, or people, of the smallest class of rows that are equal in these columns, NULL being equal to NULL; NULL without rows (of a relation by its name)';

CREATE FUNCTION sanitize.l_diversity(source pg_catalog.regclass, sensitive pg_catalog.text, columns pg_catalog.text[] DEFAULT NULL, kind pg_catalog.text DEFAULT 'distinct', unit pg_catalog.text DEFAULT NULL)
    RETURNS pg_catalog.float8
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_l_diversity';
COMMENT ON FUNCTION sanitize.l_diversity(pg_catalog.regclass, pg_catalog.text, pg_catalog.text[], pg_catalog.text, pg_catalog.text) IS
    'how many values of the sensitive column the least diverse class leaves open: their number (distinct) or exp of their entropy (entropy), where each of its people counts once if people count; columns NULL: all but the sensitive one';

CREATE FUNCTION sanitize.l_diversity(source sanitize.bag, sensitive pg_catalog.text, columns pg_catalog.text[] DEFAULT NULL, kind pg_catalog.text DEFAULT 'distinct', unit pg_catalog.text DEFAULT NULL)
    RETURNS pg_catalog.float8
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_l_diversity';
COMMENT ON FUNCTION sanitize.l_diversity(sanitize.bag, pg_catalog.text, pg_catalog.text[], pg_catalog.text, pg_catalog.text) IS
    'how many values of the sensitive column the least diverse class leaves open: their number (distinct) or exp of their entropy (entropy), where each of its people counts once if people count; columns NULL: all but the sensitive one (of a bag)';

CREATE FUNCTION sanitize.l_diversity(source pg_catalog.text, sensitive pg_catalog.text, columns pg_catalog.text[] DEFAULT NULL, kind pg_catalog.text DEFAULT 'distinct', unit pg_catalog.text DEFAULT NULL)
    RETURNS pg_catalog.float8
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_l_diversity';
COMMENT ON FUNCTION sanitize.l_diversity(pg_catalog.text, pg_catalog.text, pg_catalog.text[], pg_catalog.text, pg_catalog.text) IS
    'how many values of the sensitive column the least diverse class leaves open: their number (distinct) or exp of their entropy (entropy), where each of its people counts once if people count; columns NULL: all but the sensitive one (of a relation by its name)';

CREATE FUNCTION sanitize.t_closeness(source pg_catalog.regclass, sensitive pg_catalog.text, columns pg_catalog.text[] DEFAULT NULL, ordered pg_catalog.bool DEFAULT false, unit pg_catalog.text DEFAULT NULL)
    RETURNS pg_catalog.float8
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_t_closeness';
COMMENT ON FUNCTION sanitize.t_closeness(pg_catalog.regclass, pg_catalog.text, pg_catalog.text[], pg_catalog.bool, pg_catalog.text) IS
    'how far the values of the sensitive column in a class are from those in the whole table, at the most: total variation, or earth mover''s distance if ordered; columns NULL: all but the sensitive one';

CREATE FUNCTION sanitize.t_closeness(source sanitize.bag, sensitive pg_catalog.text, columns pg_catalog.text[] DEFAULT NULL, ordered pg_catalog.bool DEFAULT false, unit pg_catalog.text DEFAULT NULL)
    RETURNS pg_catalog.float8
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_t_closeness';
COMMENT ON FUNCTION sanitize.t_closeness(sanitize.bag, pg_catalog.text, pg_catalog.text[], pg_catalog.bool, pg_catalog.text) IS
    'how far the values of the sensitive column in a class are from those in the whole table, at the most: total variation, or earth mover''s distance if ordered; columns NULL: all but the sensitive one (of a bag)';

CREATE FUNCTION sanitize.t_closeness(source pg_catalog.text, sensitive pg_catalog.text, columns pg_catalog.text[] DEFAULT NULL, ordered pg_catalog.bool DEFAULT false, unit pg_catalog.text DEFAULT NULL)
    RETURNS pg_catalog.float8
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_t_closeness';
COMMENT ON FUNCTION sanitize.t_closeness(pg_catalog.text, pg_catalog.text, pg_catalog.text[], pg_catalog.bool, pg_catalog.text) IS
    'how far the values of the sensitive column in a class are from those in the whole table, at the most: total variation, or earth mover''s distance if ordered; columns NULL: all but the sensitive one (of a relation by its name)';

CREATE FUNCTION sanitize.class_risk(source pg_catalog.regclass, sensitive pg_catalog.text DEFAULT NULL, columns pg_catalog.text[] DEFAULT NULL, smallest pg_catalog.int4 DEFAULT 100, unit pg_catalog.text DEFAULT NULL)
    RETURNS TABLE(class pg_catalog.jsonb, rows pg_catalog.int8, distinct_values pg_catalog.int8, entropy_l pg_catalog.float8, closeness pg_catalog.float8, people pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 100 AS 'MODULE_PATHNAME', 'sanitize_class_risk';
COMMENT ON FUNCTION sanitize.class_risk(pg_catalog.regclass, pg_catalog.text, pg_catalog.text[], pg_catalog.int4, pg_catalog.text) IS
    'the smallest classes of rows that are equal in these columns, NULL being equal to NULL: what they show (a key that is missing is NULL), their rows, and of the sensitive column how many values they have, exp of their entropy and their distance from the whole table; in the last column their people (NULL: rows count); columns NULL: all but the sensitive one';

CREATE FUNCTION sanitize.class_risk(source sanitize.bag, sensitive pg_catalog.text DEFAULT NULL, columns pg_catalog.text[] DEFAULT NULL, smallest pg_catalog.int4 DEFAULT 100, unit pg_catalog.text DEFAULT NULL)
    RETURNS TABLE(class pg_catalog.jsonb, rows pg_catalog.int8, distinct_values pg_catalog.int8, entropy_l pg_catalog.float8, closeness pg_catalog.float8, people pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 100 AS 'MODULE_PATHNAME', 'sanitize_class_risk';
COMMENT ON FUNCTION sanitize.class_risk(sanitize.bag, pg_catalog.text, pg_catalog.text[], pg_catalog.int4, pg_catalog.text) IS
    'the smallest classes of rows that are equal in these columns, NULL being equal to NULL: what they show (a key that is missing is NULL), their rows, and of the sensitive column how many values they have, exp of their entropy and their distance from the whole table; in the last column their people (NULL: rows count); columns NULL: all but the sensitive one (of a bag)';

CREATE FUNCTION sanitize.class_risk(source pg_catalog.text, sensitive pg_catalog.text DEFAULT NULL, columns pg_catalog.text[] DEFAULT NULL, smallest pg_catalog.int4 DEFAULT 100, unit pg_catalog.text DEFAULT NULL)
    RETURNS TABLE(class pg_catalog.jsonb, rows pg_catalog.int8, distinct_values pg_catalog.int8, entropy_l pg_catalog.float8, closeness pg_catalog.float8, people pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 100 AS 'MODULE_PATHNAME', 'sanitize_class_risk';
COMMENT ON FUNCTION sanitize.class_risk(pg_catalog.text, pg_catalog.text, pg_catalog.text[], pg_catalog.int4, pg_catalog.text) IS
    'the smallest classes of rows that are equal in these columns, NULL being equal to NULL: what they show (a key that is missing is NULL), their rows, and of the sensitive column how many values they have, exp of their entropy and their distance from the whole table; in the last column their people (NULL: rows count); columns NULL: all but the sensitive one (of a relation by its name)';

CREATE FUNCTION sanitize.unicity(source pg_catalog.regclass, known pg_catalog.int4, columns pg_catalog.text[] DEFAULT NULL, theta pg_catalog.int4 DEFAULT 1, samples pg_catalog.int4 DEFAULT 10000, seed pg_catalog.int8 DEFAULT NULL, unit pg_catalog.text DEFAULT NULL, what pg_catalog.text DEFAULT 'cells')
    RETURNS TABLE(share pg_catalog.float8, low pg_catalog.float8, high pg_catalog.float8)
    LANGUAGE c VOLATILE PARALLEL RESTRICTED ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_unicity';
COMMENT ON FUNCTION sanitize.unicity(pg_catalog.regclass, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.int4, pg_catalog.int8, pg_catalog.text, pg_catalog.text) IS
    'the share of rows, or people, that somebody who knows so many random cells of a row, or rows of a person, narrows down to at most theta of them, and where it lies with a confidence of 95 %: low and high are equal to it where it was counted and not sampled; NULL without rows';

CREATE FUNCTION sanitize.unicity(source sanitize.bag, known pg_catalog.int4, columns pg_catalog.text[] DEFAULT NULL, theta pg_catalog.int4 DEFAULT 1, samples pg_catalog.int4 DEFAULT 10000, seed pg_catalog.int8 DEFAULT NULL, unit pg_catalog.text DEFAULT NULL, what pg_catalog.text DEFAULT 'cells')
    RETURNS TABLE(share pg_catalog.float8, low pg_catalog.float8, high pg_catalog.float8)
    LANGUAGE c VOLATILE PARALLEL RESTRICTED ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_unicity';
COMMENT ON FUNCTION sanitize.unicity(sanitize.bag, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.int4, pg_catalog.int8, pg_catalog.text, pg_catalog.text) IS
    'the share of rows, or people, that somebody who knows so many random cells of a row, or rows of a person, narrows down to at most theta of them, and where it lies with a confidence of 95 %: low and high are equal to it where it was counted and not sampled; NULL without rows (of a bag)';

CREATE FUNCTION sanitize.unicity(source pg_catalog.text, known pg_catalog.int4, columns pg_catalog.text[] DEFAULT NULL, theta pg_catalog.int4 DEFAULT 1, samples pg_catalog.int4 DEFAULT 10000, seed pg_catalog.int8 DEFAULT NULL, unit pg_catalog.text DEFAULT NULL, what pg_catalog.text DEFAULT 'cells')
    RETURNS TABLE(share pg_catalog.float8, low pg_catalog.float8, high pg_catalog.float8)
    LANGUAGE c VOLATILE PARALLEL RESTRICTED ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_unicity';
COMMENT ON FUNCTION sanitize.unicity(pg_catalog.text, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.int4, pg_catalog.int8, pg_catalog.text, pg_catalog.text) IS
    'the share of rows, or people, that somebody who knows so many random cells of a row, or rows of a person, narrows down to at most theta of them, and where it lies with a confidence of 95 %: low and high are equal to it where it was counted and not sampled; NULL without rows (of a relation by its name)';

CREATE FUNCTION sanitize.mine_miis(source pg_catalog.regclass, theta pg_catalog.int4, columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, levels pg_catalog.jsonb DEFAULT NULL, unit pg_catalog.text DEFAULT NULL)
    RETURNS TABLE(items pg_catalog.jsonb, length pg_catalog.int4, support pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_mine_miis';
COMMENT ON FUNCTION sanitize.mine_miis(pg_catalog.regclass, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.jsonb, pg_catalog.text) IS
    'every minimal infrequent itemset: the smallest value combinations that at least one and at most theta rows share, or the rows of as many people; ordered by length, support, items';

CREATE FUNCTION sanitize.mine_miis(source sanitize.bag, theta pg_catalog.int4, columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, levels pg_catalog.jsonb DEFAULT NULL, unit pg_catalog.text DEFAULT NULL)
    RETURNS TABLE(items pg_catalog.jsonb, length pg_catalog.int4, support pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_mine_miis';
COMMENT ON FUNCTION sanitize.mine_miis(sanitize.bag, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.jsonb, pg_catalog.text) IS
    'every minimal infrequent itemset: the smallest value combinations that at least one and at most theta rows share, or the rows of as many people; ordered by length, support, items (of a bag)';

CREATE FUNCTION sanitize.mine_miis(source pg_catalog.text, theta pg_catalog.int4, columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, levels pg_catalog.jsonb DEFAULT NULL, unit pg_catalog.text DEFAULT NULL)
    RETURNS TABLE(items pg_catalog.jsonb, length pg_catalog.int4, support pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_mine_miis';
COMMENT ON FUNCTION sanitize.mine_miis(pg_catalog.text, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.jsonb, pg_catalog.text) IS
    'every minimal infrequent itemset: the smallest value combinations that at least one and at most theta rows share, or the rows of as many people; ordered by length, support, items (of a relation by its name)';

CREATE FUNCTION sanitize.mii_risk(source pg_catalog.regclass, theta pg_catalog.int4, columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, levels pg_catalog.jsonb DEFAULT NULL, unit pg_catalog.text DEFAULT NULL)
    RETURNS TABLE(column_name pg_catalog.text, value pg_catalog.text, miis pg_catalog.int8, rows pg_catalog.int8, cells pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 100 AS 'MODULE_PATHNAME', 'sanitize_mii_risk';
COMMENT ON FUNCTION sanitize.mii_risk(pg_catalog.regclass, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.jsonb, pg_catalog.text) IS
    'what each column (value NULL) and each value contributes to minimal infrequent itemsets: how many contain it, how many rows with it stand out, how many of its cells suppression would blank';

CREATE FUNCTION sanitize.mii_risk(source sanitize.bag, theta pg_catalog.int4, columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, levels pg_catalog.jsonb DEFAULT NULL, unit pg_catalog.text DEFAULT NULL)
    RETURNS TABLE(column_name pg_catalog.text, value pg_catalog.text, miis pg_catalog.int8, rows pg_catalog.int8, cells pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 100 AS 'MODULE_PATHNAME', 'sanitize_mii_risk';
COMMENT ON FUNCTION sanitize.mii_risk(sanitize.bag, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.jsonb, pg_catalog.text) IS
    'what each column (value NULL) and each value contributes to minimal infrequent itemsets: how many contain it, how many rows with it stand out, how many of its cells suppression would blank (of a bag)';

CREATE FUNCTION sanitize.mii_risk(source pg_catalog.text, theta pg_catalog.int4, columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, levels pg_catalog.jsonb DEFAULT NULL, unit pg_catalog.text DEFAULT NULL)
    RETURNS TABLE(column_name pg_catalog.text, value pg_catalog.text, miis pg_catalog.int8, rows pg_catalog.int8, cells pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 100 AS 'MODULE_PATHNAME', 'sanitize_mii_risk';
COMMENT ON FUNCTION sanitize.mii_risk(pg_catalog.text, pg_catalog.int4, pg_catalog.text[], pg_catalog.int4, pg_catalog.jsonb, pg_catalog.text) IS
    'what each column (value NULL) and each value contributes to minimal infrequent itemsets: how many contain it, how many rows with it stand out, how many of its cells suppression would blank (of a relation by its name)';

CREATE FUNCTION sanitize.frequent_itemsets(source pg_catalog.regclass, min_support pg_catalog.int8, columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, closed pg_catalog.bool DEFAULT false, unit pg_catalog.text DEFAULT NULL)
    RETURNS TABLE(items pg_catalog.jsonb, length pg_catalog.int4, support pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_frequent_itemsets';
COMMENT ON FUNCTION sanitize.frequent_itemsets(pg_catalog.regclass, pg_catalog.int8, pg_catalog.text[], pg_catalog.int4, pg_catalog.bool, pg_catalog.text) IS
    'every value combination that at least min_support rows share, or the rows of as many people; closed: only those that no larger combination shares the rows of; ordered by length, support, items';

CREATE FUNCTION sanitize.frequent_itemsets(source sanitize.bag, min_support pg_catalog.int8, columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, closed pg_catalog.bool DEFAULT false, unit pg_catalog.text DEFAULT NULL)
    RETURNS TABLE(items pg_catalog.jsonb, length pg_catalog.int4, support pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_frequent_itemsets';
COMMENT ON FUNCTION sanitize.frequent_itemsets(sanitize.bag, pg_catalog.int8, pg_catalog.text[], pg_catalog.int4, pg_catalog.bool, pg_catalog.text) IS
    'every value combination that at least min_support rows share, or the rows of as many people; closed: only those that no larger combination shares the rows of; ordered by length, support, items (of a bag)';

CREATE FUNCTION sanitize.frequent_itemsets(source pg_catalog.text, min_support pg_catalog.int8, columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, closed pg_catalog.bool DEFAULT false, unit pg_catalog.text DEFAULT NULL)
    RETURNS TABLE(items pg_catalog.jsonb, length pg_catalog.int4, support pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_frequent_itemsets';
COMMENT ON FUNCTION sanitize.frequent_itemsets(pg_catalog.text, pg_catalog.int8, pg_catalog.text[], pg_catalog.int4, pg_catalog.bool, pg_catalog.text) IS
    'every value combination that at least min_support rows share, or the rows of as many people; closed: only those that no larger combination shares the rows of; ordered by length, support, items (of a relation by its name)';

CREATE FUNCTION sanitize.loss_curve(source pg_catalog.regclass, ks pg_catalog.int4[] DEFAULT '{2,3,5,10,20,50,100}', columns pg_catalog.text[] DEFAULT NULL, generalize pg_catalog.bool DEFAULT true, unit pg_catalog.text DEFAULT NULL)
    RETURNS TABLE(k pg_catalog.int4, loss pg_catalog.float8, dropped pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 10 AS 'MODULE_PATHNAME', 'sanitize_loss_curve';
COMMENT ON FUNCTION sanitize.loss_curve(pg_catalog.regclass, pg_catalog.int4[], pg_catalog.text[], pg_catalog.bool, pg_catalog.text) IS
    'what k_anonymize would lose of a relation for each k: the mean loss of a cell, from 0 (nothing) to 1 (blanked), and the rows that would be dropped';

CREATE FUNCTION sanitize.hide_itemsets(source pg_catalog.anyelement, itemsets pg_catalog.jsonb, min_support pg_catalog.int8, keep pg_catalog.text[] DEFAULT NULL, unit pg_catalog.text DEFAULT NULL)
    RETURNS SETOF pg_catalog.anyelement
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_hide_itemsets';
COMMENT ON FUNCTION sanitize.hide_itemsets(pg_catalog.anyelement, pg_catalog.jsonb, pg_catalog.int8, pg_catalog.text[], pg_catalog.text) IS
    'the rows of the relation with as few cells blanked as can be found so that fewer than min_support rows, or rows of fewer people, contain each of the listed itemsets; cells of kept columns are never blanked. No privacy is guaranteed: all else comes out as it is';

CREATE FUNCTION sanitize.k_anonymize(source pg_catalog.anyelement, k pg_catalog.int4, columns pg_catalog.text[] DEFAULT NULL, keep pg_catalog.text[] DEFAULT NULL, weights pg_catalog.jsonb DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, generalize pg_catalog.bool DEFAULT false, sensitive pg_catalog.text DEFAULT NULL, l pg_catalog.float8 DEFAULT NULL, l_kind pg_catalog.text DEFAULT 'distinct', t pg_catalog.float8 DEFAULT NULL, unit pg_catalog.text DEFAULT NULL)
    RETURNS SETOF pg_catalog.anyelement
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_k_anonymize';
COMMENT ON FUNCTION sanitize.k_anonymize(pg_catalog.anyelement, pg_catalog.int4, pg_catalog.text[], pg_catalog.text[], pg_catalog.jsonb, pg_catalog.int4, pg_catalog.bool, pg_catalog.text, pg_catalog.float8, pg_catalog.text, pg_catalog.float8, pg_catalog.text) IS
    'a k-anonymous release with as little loss as can be found: every row of it equals at least k - 1 others, or rows of k people, in the columns that take part. Cells are blanked or, with generalize, shown at a level of their column''s hierarchy; with sensitive every class is also diverse (l) or close to all rows (t) in that column';

CREATE FUNCTION sanitize.mii_suppress(source pg_catalog.anyelement, theta pg_catalog.int4, columns pg_catalog.text[] DEFAULT NULL, keep pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, sample_share pg_catalog.float8 DEFAULT NULL, unit pg_catalog.text DEFAULT NULL)
    RETURNS SETOF pg_catalog.anyelement
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_mii_suppress';
COMMENT ON FUNCTION sanitize.mii_suppress(pg_catalog.anyelement, pg_catalog.int4, pg_catalog.text[], pg_catalog.text[], pg_catalog.int4, pg_catalog.float8, pg_catalog.text) IS
    'the relation with every cell blanked that lies in a minimal infrequent itemset: what is left of a row is shared by more than theta rows of the source, or rows of more than theta people. No promise about the release itself: see k_mii and k_anonymize';

CREATE FUNCTION sanitize.k_mii(source pg_catalog.anyelement, k pg_catalog.int4, columns pg_catalog.text[] DEFAULT NULL, keep pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, sample_share pg_catalog.float8 DEFAULT NULL, unit pg_catalog.text DEFAULT NULL)
    RETURNS SETOF pg_catalog.anyelement
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_k_mii';
COMMENT ON FUNCTION sanitize.k_mii(pg_catalog.anyelement, pg_catalog.int4, pg_catalog.text[], pg_catalog.text[], pg_catalog.int4, pg_catalog.float8, pg_catalog.text) IS
    'a k-anonymous release by suppression of minimal infrequent itemsets: every row of it equals at least k - 1 others, or rows of k people, in the columns that take part';

CREATE FUNCTION sanitize.drop_domain(source pg_catalog.regclass, column_name pg_catalog.text)
    RETURNS pg_catalog.void
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_drop_domain';
COMMENT ON FUNCTION sanitize.drop_domain(pg_catalog.regclass, pg_catalog.text) IS
    'the owner takes back the declared domain of a column';

CREATE FUNCTION sanitize.drop_bounds(source pg_catalog.regclass, column_name pg_catalog.text)
    RETURNS pg_catalog.void
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_drop_bounds';
COMMENT ON FUNCTION sanitize.drop_bounds(pg_catalog.regclass, pg_catalog.text) IS
    'the owner takes back the declared range of a column';

CREATE OR REPLACE VIEW sanitize.domains AS
SELECT c.oid::pg_catalog.regclass AS source, a.attname::pg_catalog.text AS column_name, d.domain_values, d.origin
  FROM pg_catalog.pg_class AS c
  JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
  JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) c.oid
 CROSS JOIN LATERAL sanitize.column_domain(c.oid, a.attname::pg_catalog.text) AS d
 WHERE c.relkind OPERATOR(pg_catalog.=) ANY (ARRAY['r', 'v', 'm', 'p', 'f']::pg_catalog."char"[])
   AND n.nspname OPERATOR(pg_catalog.!~) '^pg_|^information_schema$|^sanitize(_internal)?$'
   AND a.attnum OPERATOR(pg_catalog.>) 0
   AND NOT a.attisdropped
   AND pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT');

-- What is dumped of the tables is said by conditions, which name functions that moved.
SELECT pg_catalog.pg_extension_config_dump('sanitize.declared_domain', 'WHERE sanitize_internal.row_type(source) = row_type');
SELECT pg_catalog.pg_extension_config_dump('sanitize.declared_bounds', 'WHERE sanitize_internal.row_type(source) = row_type');
SELECT pg_catalog.pg_extension_config_dump('sanitize.declared_hierarchy',
    'WHERE sanitize_internal.row_type(source) = row_type AND (lookup IS NULL OR sanitize_internal.row_type(lookup) = lookup_row_type)');
SELECT pg_catalog.pg_extension_config_dump('sanitize.protection',
    'WHERE sanitize_internal.row_type(source) = row_type');
SELECT pg_catalog.pg_extension_config_dump('sanitize.allowance',
    'WHERE sanitize_internal.row_type(source) = row_type AND sanitize_internal.role_name(grantee) = grantee_name');
SELECT pg_catalog.pg_extension_config_dump('sanitize.ledger_entry',
    'WHERE sanitize_internal.row_type(source) = row_type');
SELECT pg_catalog.pg_extension_config_dump('sanitize.answer',
    'WHERE sanitize_internal.row_type(source) = row_type');
SELECT pg_catalog.pg_extension_config_dump('sanitize.published',
    'WHERE sanitize_internal.row_type(source) = source_row_type AND sanitize_internal.row_type(target) = row_type');
SELECT pg_catalog.pg_extension_config_dump('sanitize.sharded_release',
    'WHERE sanitize_internal.row_type(target) = row_type');
SELECT pg_catalog.pg_extension_config_dump('sanitize.release_entry',
    'WHERE sanitize_internal.row_type(source) = row_type');

-- Releases are refreshed with the options that they were published with.
UPDATE sanitize.published
   SET options = options OPERATOR(pg_catalog.-) 'min_support'
       OPERATOR(pg_catalog.||) pg_catalog.jsonb_build_object('min_share', options OPERATOR(pg_catalog.->) 'min_support')
 WHERE method OPERATOR(pg_catalog.=) ANY ('{private_krimp_generate,code_tree_generate}'::pg_catalog.text[])
   AND options OPERATOR(pg_catalog.?) 'min_support';

-- Populations: budgets that several relations share. Every protection keeps the account that it has, which is its own.
ALTER TABLE sanitize.protection
    ALTER COLUMN epsilon DROP NOT NULL,
    ALTER COLUMN epsilon_spent DROP NOT NULL,
    ALTER COLUMN delta DROP NOT NULL,
    ALTER COLUMN delta_spent DROP NOT NULL,
    ALTER COLUMN window_start DROP NOT NULL,
    ALTER COLUMN rho_spent DROP NOT NULL,
    ALTER COLUMN min_epsilon DROP NOT NULL;
-- One budget for all relations about the same people. Those without a name were made for relations that have to share,
-- because one reads the other. A population that was dropped keeps its row: it is what is known of what was told.
CREATE TABLE sanitize.population (
    id pg_catalog.int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name pg_catalog.text,
    -- Who may put relations into it. Not computed from each other: a dump shows a role that is gone as a bare number,
    -- which is another role where it is restored, under another name.
    owner pg_catalog.regrole NOT NULL,
    owner_name pg_catalog.name NOT NULL,
    is_dropped pg_catalog.bool NOT NULL DEFAULT false,
    epsilon pg_catalog.numeric NOT NULL CHECK (epsilon > 0),
    epsilon_spent pg_catalog.numeric NOT NULL CHECK (epsilon_spent >= 0),
    delta pg_catalog.numeric NOT NULL CHECK (delta >= 0 AND delta < 1),
    delta_spent pg_catalog.numeric NOT NULL CHECK (delta_spent >= 0),
    window_length pg_catalog.interval,
    window_start pg_catalog.timestamptz NOT NULL,
    rho_spent pg_catalog.numeric NOT NULL CHECK (rho_spent >= 0),
    rest_epsilon pg_catalog.numeric NOT NULL CHECK (rest_epsilon >= 0),
    rest_delta pg_catalog.numeric NOT NULL CHECK (rest_delta >= 0),
    min_epsilon pg_catalog.numeric NOT NULL CHECK (min_epsilon >= 0)
);
CREATE UNIQUE INDEX population_name ON sanitize.population (name) WHERE NOT is_dropped;
COMMENT ON TABLE sanitize.population IS
    'the budgets that several relations share: how much may be learnt about the people in them, and what is spent of it in this window';
COMMENT ON SEQUENCE sanitize.population_id_seq IS 'numbers the populations';

-- A row stays when the protection of its relation ends: what was told about the people in it is not forgotten.
CREATE TABLE sanitize.member (
    source pg_catalog.regclass PRIMARY KEY,
    population pg_catalog.int8 NOT NULL,
    is_head pg_catalog.bool NOT NULL,
    row_type pg_catalog.regtype GENERATED ALWAYS AS (sanitize_internal.row_type(source)) STORED
);
CREATE INDEX member_population ON sanitize.member (population);
COMMENT ON TABLE sanitize.member IS 'the relations that are, or were last, in a population';
COMMENT ON COLUMN sanitize.member.is_head IS
    'the population has no name and was made of the budget of this relation, whose owner sets it with sanitize.protect';

COMMENT ON TABLE sanitize.allowance IS
    'who may ask about a protected relation; epsilon and delta: a share of their own, NULL: the whole budget. A share of a population is the same for all its relations';

ALTER TABLE sanitize.ledger_entry ADD COLUMN population pg_catalog.int8;
CREATE INDEX ledger_entry_population ON sanitize.ledger_entry (population, charged_at);
COMMENT ON COLUMN sanitize.ledger_entry.population IS 'whose account it was added to; NULL: the relation''s own';

SELECT pg_catalog.pg_extension_config_dump('sanitize.population', '');
SELECT pg_catalog.pg_extension_config_dump('sanitize.population_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('sanitize.member',
    'WHERE sanitize_internal.row_type(source) = row_type');

CREATE FUNCTION sanitize.protect(source pg_catalog.regclass, unit pg_catalog.text, epsilon pg_catalog.float8 DEFAULT NULL, delta pg_catalog.float8 DEFAULT NULL, max_rows_per_unit pg_catalog.int4 DEFAULT NULL, window_length pg_catalog.interval DEFAULT NULL, max_groups_per_unit pg_catalog.int4 DEFAULT NULL, min_epsilon pg_catalog.float8 DEFAULT NULL, min_query_set pg_catalog.int4 DEFAULT NULL, assume_stable pg_catalog.bool DEFAULT false, row_count_public pg_catalog.bool DEFAULT false, population pg_catalog.text DEFAULT NULL)
    RETURNS pg_catalog.void
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_protect';
COMMENT ON FUNCTION sanitize.protect(pg_catalog.regclass, pg_catalog.text, pg_catalog.float8, pg_catalog.float8, pg_catalog.int4, pg_catalog.interval, pg_catalog.int4, pg_catalog.float8, pg_catalog.int4, pg_catalog.bool, pg_catalog.bool, pg_catalog.text) IS
    'registers a relation of the caller''s: who is protected (the unit column), and how much may be learnt in total or in each window, from this relation or from all of a population. Again: changes that, and what is spent is taken from the ledger';

COMMENT ON FUNCTION sanitize.unprotect(pg_catalog.regclass) IS
    'ends the protection and all allowances of a relation: nobody can ask any more. The ledger stays, and what was spent of a population';

COMMENT ON FUNCTION sanitize.allow(pg_catalog.regclass, pg_catalog.regrole, pg_catalog.float8, pg_catalog.float8) IS
    'lets a role and its members ask about a protected relation, with an optional share of the budget; the role needs no right to read it';

CREATE FUNCTION sanitize.population(name pg_catalog.text, epsilon pg_catalog.float8, delta pg_catalog.float8 DEFAULT 0, window_length pg_catalog.interval DEFAULT NULL, min_epsilon pg_catalog.float8 DEFAULT 0.001)
    RETURNS pg_catalog.void
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_population';
COMMENT ON FUNCTION sanitize.population(pg_catalog.text, pg_catalog.float8, pg_catalog.float8, pg_catalog.interval, pg_catalog.float8) IS
    'makes a population of the caller''s: one budget for all relations about the same people, which sanitize.protect puts into it. Again: changes its limits, and what is spent stays spent';

CREATE FUNCTION sanitize.drop_population(name pg_catalog.text)
    RETURNS pg_catalog.void
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_drop_population';
COMMENT ON FUNCTION sanitize.drop_population(pg_catalog.text) IS
    'drops a population that no relation is in any more. What was told about its people is not forgotten: it counts where its relations are protected next, and in the next population of the caller''s with this name';

-- The one rule that says which account the charges of a protected relation go to: that of its population, or else its
-- own. Whatever reads or writes an account finds it here.
CREATE VIEW sanitize_internal.account AS
    SELECT p.source, p.row_type, m.population,
           CASE WHEN NOT q.is_dropped THEN q.name END AS name,
           coalesce(m.is_head, false) AS is_head,
           a.epsilon, a.epsilon_spent, a.delta, a.delta_spent, a.window_length, a.window_start,
           a.rho_spent, a.rest_epsilon, a.rest_delta, a.min_epsilon
      FROM sanitize.protection AS p
      LEFT JOIN sanitize.member AS m ON m.source OPERATOR(pg_catalog.=) p.source AND m.row_type OPERATOR(pg_catalog.=) p.row_type
      LEFT JOIN sanitize.population AS q ON q.id OPERATOR(pg_catalog.=) m.population
     CROSS JOIN LATERAL (
           SELECT p.epsilon, p.epsilon_spent, p.delta, p.delta_spent, p.window_length, p.window_start,
                  p.rho_spent, p.rest_epsilon, p.rest_delta, p.min_epsilon
            WHERE m.population IS NULL
           UNION ALL
           SELECT q.epsilon, q.epsilon_spent, q.delta, q.delta_spent, q.window_length, q.window_start,
                  q.rho_spent, q.rest_epsilon, q.rest_delta, q.min_epsilon
            WHERE m.population IS NOT NULL) AS a
     WHERE p.row_type OPERATOR(pg_catalog.=) sanitize_internal.row_type(p.source);
COMMENT ON VIEW sanitize_internal.account IS
    'for each protected relation the account that its charges go to: that of its population, or its own';

CREATE OR REPLACE VIEW sanitize.budget WITH (security_barrier) AS
    SELECT b.source, b.grantee,
           b.epsilon::pg_catalog.float8 AS epsilon,
           CASE WHEN w.over THEN 0 ELSE s.epsilon_spent END AS epsilon_spent,
           b.delta::pg_catalog.float8 AS delta,
           CASE WHEN w.over THEN 0 ELSE s.delta_spent END AS delta_spent,
           p.window_start,
           p.window_start OPERATOR(pg_catalog.+) p.window_length AS window_end,
           (CASE WHEN w.over THEN 0 ELSE b.rho_spent END)::pg_catalog.float8 AS rho_spent
      FROM sanitize_internal.account AS p
      JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) p.source AND c.reltype OPERATOR(pg_catalog.=) p.row_type
     CROSS JOIN LATERAL (
           SELECT p.source, NULL::pg_catalog.regrole AS grantee, p.epsilon, p.epsilon_spent, p.delta, p.delta_spent,
                  p.rho_spent, p.rest_epsilon, p.rest_delta
           UNION ALL
           SELECT a.source, a.grantee, a.epsilon, a.epsilon_spent, sanitize_internal.delta_share(a.epsilon, a.delta, p.epsilon, p.delta), a.delta_spent,
                  a.rho_spent, a.rest_epsilon, a.rest_delta
             FROM sanitize.allowance AS a
            WHERE a.source OPERATOR(pg_catalog.=) p.source AND a.row_type OPERATOR(pg_catalog.=) p.row_type
              AND a.grantee_name OPERATOR(pg_catalog.=) sanitize_internal.role_name(a.grantee)) AS b
     CROSS JOIN LATERAL (
           SELECT coalesce(p.window_start OPERATOR(pg_catalog.+) p.window_length OPERATOR(pg_catalog.<=) pg_catalog.clock_timestamp(), false) AS over) AS w
     CROSS JOIN LATERAL sanitize_internal.spent(b.epsilon_spent, b.delta_spent, b.rho_spent,
           coalesce(b.rest_epsilon, b.epsilon_spent), coalesce(b.rest_delta, b.delta_spent),
           coalesce(b.delta, p.delta)) AS s
     WHERE pg_catalog.pg_has_role(c.relowner, 'USAGE')
        OR b.grantee IS NOT NULL AND pg_catalog.pg_has_role(b.grantee, 'USAGE');
COMMENT ON VIEW sanitize.budget IS
    'what may be spent and what is, for each protected relation (grantee NULL) and each allowance; relations of a population show what it has, and shares are shares of that. Owners see theirs, grantees their own';

CREATE VIEW sanitize.populations WITH (security_barrier) AS
    SELECT q.name, q.relations,
           q.epsilon::pg_catalog.float8 AS epsilon,
           CASE WHEN w.over THEN 0 ELSE s.epsilon_spent END AS epsilon_spent,
           q.delta::pg_catalog.float8 AS delta,
           CASE WHEN w.over THEN 0 ELSE s.delta_spent END AS delta_spent,
           (CASE WHEN w.over THEN 0 ELSE q.rho_spent END)::pg_catalog.float8 AS rho_spent,
           q.window_start,
           q.window_start OPERATOR(pg_catalog.+) q.window_length AS window_end
      FROM (SELECT CASE WHEN NOT n.is_dropped THEN n.name END AS name, coalesce(r.relations, '{}') AS relations, coalesce(r.owned, false) AS owned, n.owner, n.owner_name,
                   n.epsilon, n.epsilon_spent, n.delta, n.delta_spent, n.rho_spent, n.rest_epsilon, n.rest_delta,
                   n.window_start, n.window_length
              FROM sanitize.population AS n
             CROSS JOIN LATERAL (
                   SELECT pg_catalog.array_agg(a.source ORDER BY a.source::pg_catalog.text) AS relations,
                          pg_catalog.bool_or(pg_catalog.pg_has_role(c.relowner, 'USAGE')) AS owned
                     FROM sanitize_internal.account AS a
                     JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) a.source
                    WHERE a.population OPERATOR(pg_catalog.=) n.id) AS r
             WHERE n.name IS NOT NULL AND NOT n.is_dropped OR r.relations IS NOT NULL
            UNION ALL
            SELECT NULL, ARRAY[a.source], pg_catalog.pg_has_role(c.relowner, 'USAGE'), NULL, NULL,
                   a.epsilon, a.epsilon_spent, a.delta, a.delta_spent, a.rho_spent,
                   coalesce(a.rest_epsilon, a.epsilon_spent), coalesce(a.rest_delta, a.delta_spent),
                   a.window_start, a.window_length
              FROM sanitize_internal.account AS a
              JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) a.source
             WHERE a.population IS NULL) AS q
     CROSS JOIN LATERAL (
           SELECT coalesce(q.window_start OPERATOR(pg_catalog.+) q.window_length OPERATOR(pg_catalog.<=) pg_catalog.clock_timestamp(), false) AS over) AS w
     CROSS JOIN LATERAL sanitize_internal.spent(q.epsilon_spent, q.delta_spent, q.rho_spent, q.rest_epsilon, q.rest_delta, q.delta) AS s
     WHERE q.owned
        OR q.owner_name OPERATOR(pg_catalog.=) sanitize_internal.role_name(q.owner) AND pg_catalog.pg_has_role(q.owner, 'USAGE');
COMMENT ON VIEW sanitize.populations IS
    'the budgets, each with the relations whose charges add up in it, and what is spent; name NULL: relations, or one, whose budget has no name. You see those that you own, and those of relations that you own';

CREATE OR REPLACE VIEW sanitize.ledger WITH (security_barrier) AS
    SELECT sanitize_internal.grid_time(e.charged_at) AS "when", e.who, e.what,
           e.epsilon::pg_catalog.float8 AS epsilon, e.delta::pg_catalog.float8 AS delta,
           -- The number of a relation that is gone, but not the name of another that has its number now.
           CASE WHEN c.oid IS NOT NULL OR sanitize_internal.row_type(e.source) IS NULL THEN e.source END AS source,
           e.login, e.id, e.rho::pg_catalog.float8 AS rho, q.name AS population
      FROM sanitize.ledger_entry AS e
      LEFT JOIN sanitize.population AS q ON q.id OPERATOR(pg_catalog.=) e.population
      LEFT JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) e.source AND c.reltype OPERATOR(pg_catalog.=) e.row_type
     WHERE pg_catalog.pg_has_role(coalesce(c.relowner, 10::pg_catalog.oid), 'USAGE')
        OR e.who OPERATOR(pg_catalog.=) current_user::pg_catalog.text
        OR e.login OPERATOR(pg_catalog.=) current_user::pg_catalog.text;
COMMENT ON VIEW sanitize.ledger IS
    'every charge: when, who (and who had logged in), what for, how much; owners see those of their relations, everybody their own';
GRANT SELECT ON sanitize.populations TO PUBLIC;

CREATE OR REPLACE VIEW sanitize.releases WITH (security_barrier) AS
    SELECT p.target, CASE WHEN s.oid IS NOT NULL OR sanitize_internal.row_type(p.source) IS NULL THEN p.source END AS source, p.method,
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
                  AND pg_catalog.min(w.who) IS NOT DISTINCT FROM pg_catalog.max(w.who)
                  AND (pg_catalog.min(e.unit) OPERATOR(pg_catalog.=) 'person'
                       OR pg_catalog.min(e.source::pg_catalog.oid) OPERATOR(pg_catalog.=) pg_catalog.max(e.source::pg_catalog.oid))
                  AND pg_catalog.min(e.neighbours) OPERATOR(pg_catalog.=) pg_catalog.max(e.neighbours) AS covered
             FROM sanitize.release_entry AS e
             LEFT JOIN sanitize.member AS m ON m.source OPERATOR(pg_catalog.=) e.source AND m.row_type OPERATOR(pg_catalog.=) e.row_type
             LEFT JOIN sanitize.protection AS o ON o.source OPERATOR(pg_catalog.=) e.source AND o.row_type OPERATOR(pg_catalog.=) e.row_type
            -- The units of all relations of a population are the same people, whatever their columns are called.
            CROSS JOIN LATERAL (SELECT CASE WHEN m.population IS NOT NULL AND o.unit OPERATOR(pg_catalog.=) e.unit_column
                                            THEN '' ELSE e.unit_column END AS who) AS w
            WHERE (e.source OPERATOR(pg_catalog.=) p.source AND e.row_type OPERATOR(pg_catalog.=) p.source_row_type
                   OR m.population OPERATOR(pg_catalog.=) (
                      SELECT n.population FROM sanitize.member AS n
                       WHERE n.source OPERATOR(pg_catalog.=) p.source AND n.row_type OPERATOR(pg_catalog.=) p.source_row_type))
              AND NOT (e.draft AND e.kind OPERATOR(pg_catalog.<>) ALL ('{dp,ldp}'::pg_catalog.text[]))) AS total
     WHERE seen.owner OR seen.target OR seen.source;
COMMENT ON VIEW sanitize.releases IS
    'the releases that you may read, or whose source you may read: how each was made and what it guarantees; owners see the options, and epsilon_total and delta_total add up all releases of the source and of its population, if all of them protect the same: NULL if not';
