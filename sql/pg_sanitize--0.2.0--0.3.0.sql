\echo Use "ALTER EXTENSION pg_sanitize UPDATE" to load this file. \quit

-- Functions whose arguments or columns change are dropped and made again. What users have built on them would go with
-- them: the update lists it and changes nothing.

DO LANGUAGE plpgsql $$
DECLARE
    dropped CONSTANT pg_catalog.regprocedure[] := ARRAY[
        'sanitize.methods()',
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
    'the smallest classes of rows that are equal in these columns, NULL being equal to NULL: what they show (a key that is missing is NULL), their rows, and of the sensitive column how many values they have, exp of their entropy and their distance from the whole table; at last their people (NULL: rows count); columns NULL: all but the sensitive one';

CREATE FUNCTION sanitize.class_risk(source sanitize.bag, sensitive pg_catalog.text DEFAULT NULL, columns pg_catalog.text[] DEFAULT NULL, smallest pg_catalog.int4 DEFAULT 100, unit pg_catalog.text DEFAULT NULL)
    RETURNS TABLE(class pg_catalog.jsonb, rows pg_catalog.int8, distinct_values pg_catalog.int8, entropy_l pg_catalog.float8, closeness pg_catalog.float8, people pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 100 AS 'MODULE_PATHNAME', 'sanitize_class_risk';
COMMENT ON FUNCTION sanitize.class_risk(sanitize.bag, pg_catalog.text, pg_catalog.text[], pg_catalog.int4, pg_catalog.text) IS
    'the smallest classes of rows that are equal in these columns, NULL being equal to NULL: what they show (a key that is missing is NULL), their rows, and of the sensitive column how many values they have, exp of their entropy and their distance from the whole table; at last their people (NULL: rows count); columns NULL: all but the sensitive one (of a bag)';

CREATE FUNCTION sanitize.class_risk(source pg_catalog.text, sensitive pg_catalog.text DEFAULT NULL, columns pg_catalog.text[] DEFAULT NULL, smallest pg_catalog.int4 DEFAULT 100, unit pg_catalog.text DEFAULT NULL)
    RETURNS TABLE(class pg_catalog.jsonb, rows pg_catalog.int8, distinct_values pg_catalog.int8, entropy_l pg_catalog.float8, closeness pg_catalog.float8, people pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 100 AS 'MODULE_PATHNAME', 'sanitize_class_risk';
COMMENT ON FUNCTION sanitize.class_risk(pg_catalog.text, pg_catalog.text, pg_catalog.text[], pg_catalog.int4, pg_catalog.text) IS
    'the smallest classes of rows that are equal in these columns, NULL being equal to NULL: what they show (a key that is missing is NULL), their rows, and of the sensitive column how many values they have, exp of their entropy and their distance from the whole table; at last their people (NULL: rows count); columns NULL: all but the sensitive one (of a relation by its name)';

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
