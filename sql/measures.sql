-- Measures of a table, of a bag, or of a table by its name (see mining.sql for the last form).

CREATE FUNCTION sanitize.k_anonymity(source pg_catalog.regclass, columns pg_catalog.text[] DEFAULT NULL)
    RETURNS pg_catalog.int8
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_k_anonymity';
COMMENT ON FUNCTION sanitize.k_anonymity(pg_catalog.regclass, pg_catalog.text[]) IS
    'the rows of the smallest class of rows that are equal in these columns, NULL being equal to NULL; NULL without rows';

CREATE FUNCTION sanitize.k_anonymity(source sanitize.bag, columns pg_catalog.text[] DEFAULT NULL)
    RETURNS pg_catalog.int8
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_k_anonymity';
COMMENT ON FUNCTION sanitize.k_anonymity(sanitize.bag, pg_catalog.text[]) IS
    'the rows of the smallest class of rows that are equal in these columns, NULL being equal to NULL; NULL without rows (of a bag)';

CREATE FUNCTION sanitize.k_anonymity(source pg_catalog.text, columns pg_catalog.text[] DEFAULT NULL)
    RETURNS pg_catalog.int8
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_k_anonymity';
COMMENT ON FUNCTION sanitize.k_anonymity(pg_catalog.text, pg_catalog.text[]) IS
    'the rows of the smallest class of rows that are equal in these columns, NULL being equal to NULL; NULL without rows (of a relation by its name)';

CREATE FUNCTION sanitize.l_diversity(source pg_catalog.regclass, sensitive pg_catalog.text, columns pg_catalog.text[] DEFAULT NULL, kind pg_catalog.text DEFAULT 'distinct')
    RETURNS pg_catalog.float8
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_l_diversity';
COMMENT ON FUNCTION sanitize.l_diversity(pg_catalog.regclass, pg_catalog.text, pg_catalog.text[], pg_catalog.text) IS
    'how many values of the sensitive column the least diverse class leaves open: their number (distinct) or exp of their entropy (entropy); columns NULL: all but the sensitive one';

CREATE FUNCTION sanitize.l_diversity(source sanitize.bag, sensitive pg_catalog.text, columns pg_catalog.text[] DEFAULT NULL, kind pg_catalog.text DEFAULT 'distinct')
    RETURNS pg_catalog.float8
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_l_diversity';
COMMENT ON FUNCTION sanitize.l_diversity(sanitize.bag, pg_catalog.text, pg_catalog.text[], pg_catalog.text) IS
    'how many values of the sensitive column the least diverse class leaves open: their number (distinct) or exp of their entropy (entropy); columns NULL: all but the sensitive one (of a bag)';

CREATE FUNCTION sanitize.l_diversity(source pg_catalog.text, sensitive pg_catalog.text, columns pg_catalog.text[] DEFAULT NULL, kind pg_catalog.text DEFAULT 'distinct')
    RETURNS pg_catalog.float8
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_l_diversity';
COMMENT ON FUNCTION sanitize.l_diversity(pg_catalog.text, pg_catalog.text, pg_catalog.text[], pg_catalog.text) IS
    'how many values of the sensitive column the least diverse class leaves open: their number (distinct) or exp of their entropy (entropy); columns NULL: all but the sensitive one (of a relation by its name)';

CREATE FUNCTION sanitize.t_closeness(source pg_catalog.regclass, sensitive pg_catalog.text, columns pg_catalog.text[] DEFAULT NULL, ordered pg_catalog.bool DEFAULT false)
    RETURNS pg_catalog.float8
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_t_closeness';
COMMENT ON FUNCTION sanitize.t_closeness(pg_catalog.regclass, pg_catalog.text, pg_catalog.text[], pg_catalog.bool) IS
    'how far the values of the sensitive column in a class are from those in the whole table, at the most: total variation, or earth mover''s distance if ordered; columns NULL: all but the sensitive one';

CREATE FUNCTION sanitize.t_closeness(source sanitize.bag, sensitive pg_catalog.text, columns pg_catalog.text[] DEFAULT NULL, ordered pg_catalog.bool DEFAULT false)
    RETURNS pg_catalog.float8
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_t_closeness';
COMMENT ON FUNCTION sanitize.t_closeness(sanitize.bag, pg_catalog.text, pg_catalog.text[], pg_catalog.bool) IS
    'how far the values of the sensitive column in a class are from those in the whole table, at the most: total variation, or earth mover''s distance if ordered; columns NULL: all but the sensitive one (of a bag)';

CREATE FUNCTION sanitize.t_closeness(source pg_catalog.text, sensitive pg_catalog.text, columns pg_catalog.text[] DEFAULT NULL, ordered pg_catalog.bool DEFAULT false)
    RETURNS pg_catalog.float8
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_t_closeness';
COMMENT ON FUNCTION sanitize.t_closeness(pg_catalog.text, pg_catalog.text, pg_catalog.text[], pg_catalog.bool) IS
    'how far the values of the sensitive column in a class are from those in the whole table, at the most: total variation, or earth mover''s distance if ordered; columns NULL: all but the sensitive one (of a relation by its name)';

CREATE FUNCTION sanitize.suppression(released pg_catalog.regclass, columns pg_catalog.text[] DEFAULT NULL)
    RETURNS TABLE(column_name pg_catalog.text, cells pg_catalog.int8, suppressed pg_catalog.int8, share pg_catalog.float8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 20 AS 'MODULE_PATHNAME', 'sanitize_suppression';
COMMENT ON FUNCTION sanitize.suppression(pg_catalog.regclass, pg_catalog.text[]) IS
    'how many cells of each column are NULL';

CREATE FUNCTION sanitize.suppression(released sanitize.bag, columns pg_catalog.text[] DEFAULT NULL)
    RETURNS TABLE(column_name pg_catalog.text, cells pg_catalog.int8, suppressed pg_catalog.int8, share pg_catalog.float8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 20 AS 'MODULE_PATHNAME', 'sanitize_suppression';
COMMENT ON FUNCTION sanitize.suppression(sanitize.bag, pg_catalog.text[]) IS
    'how many cells of each column are NULL (of a bag)';

CREATE FUNCTION sanitize.suppression(released pg_catalog.text, columns pg_catalog.text[] DEFAULT NULL)
    RETURNS TABLE(column_name pg_catalog.text, cells pg_catalog.int8, suppressed pg_catalog.int8, share pg_catalog.float8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 20 AS 'MODULE_PATHNAME', 'sanitize_suppression';
COMMENT ON FUNCTION sanitize.suppression(pg_catalog.text, pg_catalog.text[]) IS
    'how many cells of each column are NULL (of a relation by its name)';

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

-- A released table beside the original that it was made from. With one form each, a quoted name is a
-- regclass.

CREATE FUNCTION sanitize.anonymity_score(released pg_catalog.regclass, original pg_catalog.regclass, columns pg_catalog.text[] DEFAULT NULL)
    RETURNS TABLE(score pg_catalog.float8, normalised pg_catalog.float8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_anonymity_score';
COMMENT ON FUNCTION sanitize.anonymity_score(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.text[]) IS
    'how many rows of the original were released, rare rows counting more; normalised: as a share of the score of releasing the original itself; NULL if the original has no rows';

CREATE FUNCTION sanitize.information_loss(released pg_catalog.regclass, original pg_catalog.regclass, columns pg_catalog.text[] DEFAULT NULL)
    RETURNS TABLE(column_name pg_catalog.text, changed pg_catalog.float8, loss pg_catalog.float8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 10 AS 'MODULE_PATHNAME', 'sanitize_information_loss';
COMMENT ON FUNCTION sanitize.information_loss(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.text[]) IS
    'by column, and over all (column_name NULL): the share of the cells that a release changed, and what a cell lost on average, from 0 (nothing) to 1 (blanked or dropped)';

CREATE FUNCTION sanitize.common_records(released pg_catalog.regclass, original pg_catalog.regclass, columns pg_catalog.text[] DEFAULT NULL)
    RETURNS TABLE(share_of_released pg_catalog.float8, share_of_original pg_catalog.float8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_common_records';
COMMENT ON FUNCTION sanitize.common_records(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.text[]) IS
    'the share of the rows of each table that also occur in the other; NULL for a table without rows';

CREATE FUNCTION sanitize.rare_itemset_leak(released pg_catalog.regclass, original pg_catalog.regclass, samples pg_catalog.int4 DEFAULT 10000, seed pg_catalog.int8 DEFAULT NULL)
    RETURNS TABLE(length pg_catalog.int4, tried pg_catalog.int8, leaked pg_catalog.int8)
    LANGUAGE c VOLATILE PARALLEL RESTRICTED ROWS 10 AS 'MODULE_PATHNAME', 'sanitize_rare_itemset_leak';
COMMENT ON FUNCTION sanitize.rare_itemset_leak(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.int4, pg_catalog.int8) IS
    'random itemsets that exactly one row of the original contains, and how many of them the released table contains too, by length';

CREATE FUNCTION sanitize.compare_itemsets(original pg_catalog.regclass, released pg_catalog.regclass, min_support pg_catalog.float8, columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL)
    RETURNS TABLE(original_count pg_catalog.int8, released_count pg_catalog.int8, common pg_catalog.int8, missing pg_catalog.int8, added pg_catalog.int8, nfd_common pg_catalog.float8, nfd_missing pg_catalog.float8, nfd_added pg_catalog.float8, equal_share pg_catalog.float8, support_difference pg_catalog.float8, added_support pg_catalog.float8, added_absent pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_compare_itemsets';
COMMENT ON FUNCTION sanitize.compare_itemsets(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.float8, pg_catalog.text[], pg_catalog.int4) IS
    'how the itemsets that at least a share min_support of the rows contain differ between two tables: how many are frequent in both or in one only, and how far their supports are apart';

CREATE FUNCTION sanitize.utility(original pg_catalog.regclass, released pg_catalog.regclass, columns pg_catalog.text[] DEFAULT NULL)
    RETURNS TABLE(measure pg_catalog.text, value pg_catalog.float8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 10 AS 'MODULE_PATHNAME', 'sanitize_utility';
COMMENT ON FUNCTION sanitize.utility(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.text[]) IS
    'how well a released table serves in place of its original: how far the shares of values and of pairs of values are apart, how far associations are, and how well a model tells the rows of the two apart';
