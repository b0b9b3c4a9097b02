-- The functions of the library. scripts/declarations writes this file from the methods in src/api; a test compares them.

CREATE FUNCTION sanitize.krimp_codetable(source pg_catalog.regclass, min_support pg_catalog.int8, columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, candidates pg_catalog.text DEFAULT 'all', forbidden pg_catalog.jsonb DEFAULT NULL, prune pg_catalog.bool DEFAULT false, max_time pg_catalog.interval DEFAULT NULL)
    RETURNS TABLE(rank pg_catalog.int4, items pg_catalog.jsonb, length pg_catalog.int4, support pg_catalog.int8, usage pg_catalog.int8, code_length pg_catalog.float8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_krimp_codetable';
COMMENT ON FUNCTION sanitize.krimp_codetable(pg_catalog.regclass, pg_catalog.int8, pg_catalog.text[], pg_catalog.int4, pg_catalog.text, pg_catalog.jsonb, pg_catalog.bool, pg_catalog.interval) IS
    'the code table that Krimp fits to the relation: the patterns that together describe it in the fewest bits, in the order in which they cover rows; code_length in bits, NULL where a pattern is not used';

CREATE FUNCTION sanitize.krimp_model(source pg_catalog.regclass, min_support pg_catalog.int8, columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, candidates pg_catalog.text DEFAULT 'all', forbidden pg_catalog.jsonb DEFAULT NULL, prune pg_catalog.bool DEFAULT false, max_time pg_catalog.interval DEFAULT NULL, nulls pg_catalog.text DEFAULT 'missing')
    RETURNS pg_catalog.jsonb
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_krimp_model';
COMMENT ON FUNCTION sanitize.krimp_model(pg_catalog.regclass, pg_catalog.int8, pg_catalog.text[], pg_catalog.int4, pg_catalog.text, pg_catalog.jsonb, pg_catalog.bool, pg_catalog.interval, pg_catalog.text) IS
    'the code table with the values it is about: all that generating rows and encoding other tables need, without the relation. It shows exact counts of the relation';

CREATE FUNCTION sanitize.krimp_size(model pg_catalog.jsonb, source pg_catalog.regclass)
    RETURNS TABLE(data_bits pg_catalog.float8, model_bits pg_catalog.float8, total_bits pg_catalog.float8, standard_bits pg_catalog.float8, ratio pg_catalog.float8)
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

CREATE FUNCTION sanitize.krimp_dissimilarity(a pg_catalog.regclass, b pg_catalog.regclass, min_support pg_catalog.int8, columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, candidates pg_catalog.text DEFAULT 'all', max_time pg_catalog.interval DEFAULT NULL)
    RETURNS pg_catalog.float8
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_krimp_dissimilarity';
COMMENT ON FUNCTION sanitize.krimp_dissimilarity(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.int8, pg_catalog.text[], pg_catalog.int4, pg_catalog.text, pg_catalog.interval) IS
    'how unlike two relations are: the extra bits, as a share, that one needs with the code table of the other; 0 for equal relations';

CREATE FUNCTION sanitize.krimp_generate(source pg_catalog.anyelement, n pg_catalog.int8, min_support pg_catalog.int8, laplace pg_catalog.float8 DEFAULT 0.001, laplace_by pg_catalog.jsonb DEFAULT NULL, class pg_catalog.text DEFAULT NULL, columns pg_catalog.text[] DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, candidates pg_catalog.text DEFAULT 'all', forbidden pg_catalog.jsonb DEFAULT NULL, seed pg_catalog.int8 DEFAULT NULL, max_time pg_catalog.interval DEFAULT NULL, reject pg_catalog.jsonb DEFAULT NULL)
    RETURNS SETOF pg_catalog.anyelement
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_krimp_generate';
COMMENT ON FUNCTION sanitize.krimp_generate(pg_catalog.anyelement, pg_catalog.int8, pg_catalog.int8, pg_catalog.float8, pg_catalog.jsonb, pg_catalog.text, pg_catalog.text[], pg_catalog.int4, pg_catalog.text, pg_catalog.jsonb, pg_catalog.int8, pg_catalog.interval, pg_catalog.jsonb) IS
    'n rows of the relation''s type, drawn from the patterns that Krimp finds in it (class by class if class is given). No privacy is guaranteed: rows can be copies, and every value that occurs can come out';

CREATE FUNCTION sanitize.krimp_generate(source pg_catalog.anyelement, model pg_catalog.jsonb, n pg_catalog.int8, laplace pg_catalog.float8 DEFAULT 0.001, laplace_by pg_catalog.jsonb DEFAULT NULL, seed pg_catalog.int8 DEFAULT NULL, reject pg_catalog.jsonb DEFAULT NULL)
    RETURNS SETOF pg_catalog.anyelement
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_krimp_generate_model';
COMMENT ON FUNCTION sanitize.krimp_generate(pg_catalog.anyelement, pg_catalog.jsonb, pg_catalog.int8, pg_catalog.float8, pg_catalog.jsonb, pg_catalog.int8, pg_catalog.jsonb) IS
    'n rows of a relation''s or composite type, drawn from a model of sanitize.krimp_model; the source of the model is not needed. No privacy is guaranteed';

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

CREATE FUNCTION sanitize.audit_answers(source pg_catalog.regclass, queries pg_catalog.jsonb)
    RETURNS TABLE(unit pg_catalog.text, determined pg_catalog.bool, low pg_catalog.numeric, high pg_catalog.numeric)
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_audit_answers';
COMMENT ON FUNCTION sanitize.audit_answers(pg_catalog.regclass, pg_catalog.jsonb) IS
    'what exact sums and counts that were given out tell of each unit: whether its value follows from them, and between which bounds it lies';

CREATE FUNCTION sanitize.suppress_cells(source pg_catalog.regclass, row_column pg_catalog.text, column_column pg_catalog.text, threshold pg_catalog.int8 DEFAULT 5, protection pg_catalog.int8 DEFAULT NULL, group_column pg_catalog.text DEFAULT NULL, unit pg_catalog.text DEFAULT NULL)
    RETURNS TABLE(row_value pg_catalog.text, column_value pg_catalog.text, cell pg_catalog.int8, status pg_catalog.text, group_value pg_catalog.text)
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_suppress_cells';
COMMENT ON FUNCTION sanitize.suppress_cells(pg_catalog.regclass, pg_catalog.text, pg_catalog.text, pg_catalog.int8, pg_catalog.int8, pg_catalog.text, pg_catalog.text) IS
    'counts of two columns with totals, without the small ones and without those from which these could be computed back. Cells count rows, or people each of whom is in one cell';

CREATE FUNCTION sanitize.audit_cells(cells pg_catalog.jsonb)
    RETURNS TABLE(row_value pg_catalog.text, column_value pg_catalog.text, low pg_catalog.int8, high pg_catalog.int8, group_value pg_catalog.text)
    LANGUAGE c IMMUTABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_audit_cells';
COMMENT ON FUNCTION sanitize.audit_cells(pg_catalog.jsonb) IS
    'what the shown cells of a table of counts tell of each suppressed one: the least and the largest count that it can have';

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

CREATE FUNCTION sanitize.entropy_loss(domain_values pg_catalog.numeric[], probabilities pg_catalog.float8[], n pg_catalog.int4, released_low pg_catalog.numeric, released_high pg_catalog.numeric DEFAULT NULL, statistic pg_catalog.text DEFAULT 'sum')
    RETURNS TABLE(entropy_before pg_catalog.float8, entropy_after pg_catalog.float8, loss pg_catalog.float8, share pg_catalog.float8, kl pg_catalog.float8, max_log_ratio pg_catalog.float8)
    LANGUAGE c IMMUTABLE PARALLEL RESTRICTED ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_entropy_loss';
COMMENT ON FUNCTION sanitize.entropy_loss(pg_catalog.numeric[], pg_catalog.float8[], pg_catalog.int4, pg_catalog.numeric, pg_catalog.numeric, pg_catalog.text) IS
    'what a released sum, mean, count, min or max tells of a record, in bits, at the most over n records: the loss of entropy, the KL divergence of posterior and prior, and the largest log ratio of the two';

CREATE FUNCTION sanitize.entropy_loss_of(source pg_catalog.regclass, column_name pg_catalog.text, statistic pg_catalog.text DEFAULT 'sum', prior pg_catalog.jsonb DEFAULT NULL, digits pg_catalog.int4 DEFAULT NULL)
    RETURNS TABLE(entropy_before pg_catalog.float8, entropy_after pg_catalog.float8, loss pg_catalog.float8, share pg_catalog.float8, kl pg_catalog.float8, max_log_ratio pg_catalog.float8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_entropy_loss_of';
COMMENT ON FUNCTION sanitize.entropy_loss_of(pg_catalog.regclass, pg_catalog.text, pg_catalog.text, pg_catalog.jsonb, pg_catalog.int4) IS
    'what the statistic of a column tells of each of its rows if it is published, in bits; the prior is uniform over the public domain unless it is given';

CREATE FUNCTION sanitize.binary_entropy_loss(n pg_catalog.int4, k pg_catalog.int4)
    RETURNS pg_catalog.float8
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_binary_entropy_loss';
COMMENT ON FUNCTION sanitize.binary_entropy_loss(pg_catalog.int4, pg_catalog.int4) IS
    'the entropy that each of n fair bits loses if it is known that k of them are 1';

CREATE FUNCTION sanitize.expected_binary_entropy_loss(n pg_catalog.int4)
    RETURNS pg_catalog.float8
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_expected_binary_entropy_loss';
COMMENT ON FUNCTION sanitize.expected_binary_entropy_loss(pg_catalog.int4) IS
    'the entropy that each of n fair bits can be expected to lose if their sum is published';

CREATE FUNCTION sanitize.interval_privacy(noise pg_catalog.float8[], confidence pg_catalog.float8)
    RETURNS pg_catalog.float8
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_interval_privacy';
COMMENT ON FUNCTION sanitize.interval_privacy(pg_catalog.float8[], pg_catalog.float8) IS
    'the width of the shortest interval that holds a share of the noise: how closely a value is known, with that confidence, to which such noise was added';

CREATE FUNCTION sanitize.krimp_report(original pg_catalog.regclass, released pg_catalog.regclass, model pg_catalog.jsonb DEFAULT NULL, columns pg_catalog.text[] DEFAULT NULL, samples pg_catalog.int4 DEFAULT 10000, seed pg_catalog.int8 DEFAULT NULL)
    RETURNS TABLE(measure pg_catalog.text, value pg_catalog.float8, advice pg_catalog.text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 4 AS 'MODULE_PATHNAME', 'sanitize_krimp_report';
COMMENT ON FUNCTION sanitize.krimp_report(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.jsonb, pg_catalog.text[], pg_catalog.int4, pg_catalog.int8) IS
    'what a generated table shows of its original: patterns per row (from the model), anonymity score, copied rows, leaked rare itemsets, and what to do about it. Computed from the original, so for its owner and not for publication';

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

CREATE FUNCTION sanitize.utility(original pg_catalog.regclass, released pg_catalog.regclass, columns pg_catalog.text[] DEFAULT NULL)
    RETURNS TABLE(measure pg_catalog.text, value pg_catalog.float8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 10 AS 'MODULE_PATHNAME', 'sanitize_utility';
COMMENT ON FUNCTION sanitize.utility(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.text[]) IS
    'how well a released table serves in place of its original: how far the shares of values and of pairs of values are apart, how far associations are, and how well a model tells the rows of the two apart';

CREATE FUNCTION sanitize_internal.bag_in(pg_catalog.cstring)
    RETURNS sanitize.bag
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_bag_in';
COMMENT ON FUNCTION sanitize_internal.bag_in(pg_catalog.cstring) IS
    'text form of a bag (as bytea), checked';

CREATE FUNCTION sanitize_internal.bag_out(sanitize.bag)
    RETURNS pg_catalog.cstring
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_bag_out';
COMMENT ON FUNCTION sanitize_internal.bag_out(sanitize.bag) IS
    'text form of a bag (as bytea)';

CREATE FUNCTION sanitize_internal.bag_recv(pg_catalog.internal)
    RETURNS sanitize.bag
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_bag_recv';
COMMENT ON FUNCTION sanitize_internal.bag_recv(pg_catalog.internal) IS
    'binary form of a bag, checked';

CREATE FUNCTION sanitize_internal.bag_send(sanitize.bag)
    RETURNS pg_catalog.bytea
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_bag_send';
COMMENT ON FUNCTION sanitize_internal.bag_send(sanitize.bag) IS
    'binary form of a bag';

CREATE FUNCTION sanitize_internal.bag_packed(sanitize.bag)
    RETURNS pg_catalog.text
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_bag_packed';
COMMENT ON FUNCTION sanitize_internal.bag_packed(sanitize.bag) IS
    'a bag as text of seven bits a character, as a shard sends it: see the page on shards';

CREATE FUNCTION sanitize_internal.row_bag_trans(sanitize.bag, pg_catalog.record)
    RETURNS sanitize.bag
    LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_row_bag_trans';
COMMENT ON FUNCTION sanitize_internal.row_bag_trans(sanitize.bag, pg_catalog.record) IS
    'part of the aggregate row_bag';

CREATE FUNCTION sanitize_internal.row_bag_columns_trans(sanitize.bag, pg_catalog.text[], VARIADIC pg_catalog."any")
    RETURNS sanitize.bag
    LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_row_bag_columns_trans';
COMMENT ON FUNCTION sanitize_internal.row_bag_columns_trans(sanitize.bag, pg_catalog.text[], pg_catalog."any") IS
    'part of the aggregate row_bag';

CREATE FUNCTION sanitize_internal.row_bag_columns_trans(sanitize.bag, pg_catalog.cstring[], VARIADIC pg_catalog."any")
    RETURNS sanitize.bag
    LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_row_bag_columns_trans';
COMMENT ON FUNCTION sanitize_internal.row_bag_columns_trans(sanitize.bag, pg_catalog.cstring[], pg_catalog."any") IS
    'part of the aggregate row_bag';

CREATE FUNCTION sanitize_internal.cell_bag_trans(sanitize.bag, pg_catalog.text[], pg_catalog.text[])
    RETURNS sanitize.bag
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_cell_bag_trans';
COMMENT ON FUNCTION sanitize_internal.cell_bag_trans(sanitize.bag, pg_catalog.text[], pg_catalog.text[]) IS
    'part of the aggregate cell_bag';

CREATE FUNCTION sanitize_internal.row_bag_combine(sanitize.bag, sanitize.bag)
    RETURNS sanitize.bag
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_row_bag_combine';
COMMENT ON FUNCTION sanitize_internal.row_bag_combine(sanitize.bag, sanitize.bag) IS
    'part of the aggregates row_bag and cell_bag';

CREATE FUNCTION sanitize_internal.row_bag_final(sanitize.bag)
    RETURNS sanitize.bag
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_row_bag_final';
COMMENT ON FUNCTION sanitize_internal.row_bag_final(sanitize.bag) IS
    'part of the aggregates row_bag and cell_bag';

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

CREATE FUNCTION sanitize.mii_bound(row_count pg_catalog.int8, column_count pg_catalog.int4)
    RETURNS pg_catalog.numeric
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_mii_bound';
COMMENT ON FUNCTION sanitize.mii_bound(pg_catalog.int8, pg_catalog.int4) IS
    'the most minimal infrequent itemsets that a table of that size can have: row_count * C(column_count, column_count / 2), exact';

CREATE FUNCTION sanitize.orthogonal_array(columns pg_catalog.int4, levels pg_catalog.int4, strength pg_catalog.int4)
    RETURNS SETOF pg_catalog.int4[]
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_orthogonal_array';
COMMENT ON FUNCTION sanitize.orthogonal_array(pg_catalog.int4, pg_catalog.int4, pg_catalog.int4) IS
    'the rows of an orthogonal array of index 1 (Bush): a table with as many minimal infrequent itemsets as can be; for stress tests';

CREATE FUNCTION sanitize.dependence(operator pg_catalog.float8[], prior pg_catalog.float8[])
    RETURNS TABLE(epsilon pg_catalog.float8, mutual pg_catalog.float8, mutual_bound pg_catalog.float8, min_entropy_leakage pg_catalog.float8, guess pg_catalog.float8, guess_bound pg_catalog.float8)
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_dependence';
COMMENT ON FUNCTION sanitize.dependence(pg_catalog.float8[], pg_catalog.float8[]) IS
    'how far input and output of a randomisation depend on each other for a prior: the least epsilon of epsilon-dependence, mutual information and its bound in bits, min-entropy leakage, the success of the best guess and Fano''s bound on it';

CREATE FUNCTION sanitize.exact_count_epsilon(n pg_catalog.int8, p pg_catalog.float8, y pg_catalog.int8)
    RETURNS pg_catalog.float8
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_exact_count_epsilon';
COMMENT ON FUNCTION sanitize.exact_count_epsilon(pg_catalog.int8, pg_catalog.float8, pg_catalog.int8) IS
    'how much the exact count y tells of one of n independent rows that count with probability p, to somebody who knows no other row';

CREATE FUNCTION sanitize.exact_count_epsilon(n pg_catalog.int8, p pg_catalog.float8, low pg_catalog.int8, high pg_catalog.int8)
    RETURNS TABLE(epsilon pg_catalog.float8, refuse_epsilon pg_catalog.float8, release_probability pg_catalog.float8)
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_exact_count_epsilon_range';
COMMENT ON FUNCTION sanitize.exact_count_epsilon(pg_catalog.int8, pg_catalog.float8, pg_catalog.int8, pg_catalog.int8) IS
    'how much a count that is released from low to high, and refused otherwise, tells of one row at most; how much the refusal tells; how likely a release is';

CREATE FUNCTION sanitize.exact_counts_epsilon(n pg_catalog.int8, probabilities pg_catalog.float8[], counts pg_catalog.int8[])
    RETURNS pg_catalog.float8
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_exact_counts_epsilon';
COMMENT ON FUNCTION sanitize.exact_counts_epsilon(pg_catalog.int8, pg_catalog.float8[], pg_catalog.int8[]) IS
    'how much the exact counts of all values tell of one of n independent rows that have them with these probabilities';

CREATE FUNCTION sanitize.breach_gamma(rho1 pg_catalog.float8, rho2 pg_catalog.float8)
    RETURNS pg_catalog.float8
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_breach_gamma';
COMMENT ON FUNCTION sanitize.breach_gamma(pg_catalog.float8, pg_catalog.float8) IS
    'the gamma below which an operator causes no breach from rho1 to rho2, and none down from rho2 to rho1, whatever the prior';

CREATE FUNCTION sanitize.breach_posterior(gamma pg_catalog.float8, prior pg_catalog.float8)
    RETURNS TABLE(low pg_catalog.float8, high pg_catalog.float8)
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_breach_posterior';
COMMENT ON FUNCTION sanitize.breach_posterior(pg_catalog.float8, pg_catalog.float8) IS
    'between which bounds an operator that amplifies by at most gamma leaves the probability of a property with this prior';

CREATE FUNCTION sanitize.amplification(operator pg_catalog.float8[])
    RETURNS pg_catalog.float8
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_amplification';
COMMENT ON FUNCTION sanitize.amplification(pg_catalog.float8[]) IS
    'gamma: the largest ratio of the probabilities of one output from two inputs; infinite if an output rules an input out. operator[x][y] is the probability of output y from input x';

CREATE FUNCTION sanitize.information(operator pg_catalog.float8[], prior pg_catalog.float8[])
    RETURNS TABLE(mutual pg_catalog.float8, worst_case pg_catalog.float8, inverse_worst_case pg_catalog.float8)
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_information';
COMMENT ON FUNCTION sanitize.information(pg_catalog.float8[], pg_catalog.float8[]) IS
    'what outputs tell of inputs, in bits: on average, at the worst output, and the inverse measure, which bounds downward breaches';

CREATE FUNCTION sanitize.breach_check(operator pg_catalog.float8[], prior pg_catalog.float8[], rho1 pg_catalog.float8, rho2 pg_catalog.float8)
    RETURNS TABLE(y pg_catalog.int4, direction pg_catalog.text, posterior_low pg_catalog.float8, posterior_high pg_catalog.float8, breach pg_catalog.bool)
    LANGUAGE c IMMUTABLE PARALLEL RESTRICTED ROWS 100 AS 'MODULE_PATHNAME', 'sanitize_breach_check';
COMMENT ON FUNCTION sanitize.breach_check(pg_catalog.float8[], pg_catalog.float8[], pg_catalog.float8, pg_catalog.float8) IS
    'for each output that can occur and each direction, bounds on the extreme posterior of a property, and whether it is a breach from rho1 to rho2 (upward) or from rho2 to rho1 (downward)';

CREATE FUNCTION sanitize.posterior(operator pg_catalog.float8[], prior pg_catalog.float8[], y pg_catalog.int4)
    RETURNS pg_catalog.float8[]
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_posterior';
COMMENT ON FUNCTION sanitize.posterior(pg_catalog.float8[], pg_catalog.float8[], pg_catalog.int4) IS
    'how likely each input is once output y was seen, which is counted from 1; NULL if that output cannot occur';

CREATE FUNCTION sanitize.breach_information(rho1 pg_catalog.float8, rho2 pg_catalog.float8)
    RETURNS pg_catalog.float8
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_breach_information';
COMMENT ON FUNCTION sanitize.breach_information(pg_catalog.float8, pg_catalog.float8) IS
    'the worst-case information, in bits, below which no breach from rho1 to rho2 can occur, and the inverse one below which none down from rho2 to rho1 can';

CREATE FUNCTION sanitize.information_breach_bound(worst_case pg_catalog.float8, inverse_worst_case pg_catalog.float8, prior pg_catalog.float8)
    RETURNS TABLE(low pg_catalog.float8, high pg_catalog.float8, tight_low pg_catalog.float8, tight_high pg_catalog.float8)
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_information_breach_bound';
COMMENT ON FUNCTION sanitize.information_breach_bound(pg_catalog.float8, pg_catalog.float8, pg_catalog.float8) IS
    'between which bounds so much information leaves the probability of a property with this prior; tight: by both measures, for the property and its complement';

CREATE FUNCTION sanitize.reconstruct_distribution(operator pg_catalog.float8[], observed pg_catalog.int8[], method pg_catalog.text DEFAULT 'em')
    RETURNS TABLE(x pg_catalog.int4, probability pg_catalog.float8, stddev pg_catalog.float8, stddev_of_share pg_catalog.float8)
    LANGUAGE c IMMUTABLE PARALLEL RESTRICTED ROWS 100 AS 'MODULE_PATHNAME', 'sanitize_reconstruct_distribution';
COMMENT ON FUNCTION sanitize.reconstruct_distribution(pg_catalog.float8[], pg_catalog.int8[], pg_catalog.text) IS
    'the probability of each input, from how often each output was observed, with standard deviations: em, the likeliest law, or inverse, unbiased but perhaps negative';

CREATE FUNCTION sanitize.randomize_number(value pg_catalog.int8, low pg_catalog.int8, high pg_catalog.int8, window_size pg_catalog.int8, mix pg_catalog.float8, seed pg_catalog.int8 DEFAULT NULL)
    RETURNS pg_catalog.int8
    LANGUAGE c VOLATILE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_randomize_number';
COMMENT ON FUNCTION sanitize.randomize_number(pg_catalog.int8, pg_catalog.int8, pg_catalog.int8, pg_catalog.int8, pg_catalog.float8, pg_catalog.int8) IS
    'with probability mix any number of low..high, else the value plus a number of -window_size..window_size, wrapping around; drawn exactly by the law of number_operator';

CREATE FUNCTION sanitize.rr_operator(domain_size pg_catalog.int4, keep pg_catalog.float8)
    RETURNS pg_catalog.float8[]
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_rr_operator';
COMMENT ON FUNCTION sanitize.rr_operator(pg_catalog.int4, pg_catalog.float8) IS
    'the operator that keeps a value with that probability and otherwise returns one of the others, each as likely as the next';

CREATE FUNCTION sanitize.number_operator(low pg_catalog.int8, high pg_catalog.int8, window_size pg_catalog.int8, mix pg_catalog.float8)
    RETURNS pg_catalog.float8[]
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_number_operator';
COMMENT ON FUNCTION sanitize.number_operator(pg_catalog.int8, pg_catalog.int8, pg_catalog.int8, pg_catalog.float8) IS
    'the operator by which sanitize.randomize_number draws, as a matrix';

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

CREATE FUNCTION sanitize_internal.bounded_rows_trans(sanitize.bag, pg_catalog.jsonb, VARIADIC pg_catalog."any")
    RETURNS sanitize.bag
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_bounded_rows_trans';
COMMENT ON FUNCTION sanitize_internal.bounded_rows_trans(sanitize.bag, pg_catalog.jsonb, pg_catalog."any") IS
    'part of the aggregate bounded_rows';

CREATE FUNCTION sanitize_internal.bounded_rows_final(sanitize.bag)
    RETURNS sanitize.bag
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_bounded_rows_final';
COMMENT ON FUNCTION sanitize_internal.bounded_rows_final(sanitize.bag) IS
    'part of the aggregate bounded_rows';

CREATE FUNCTION sanitize.charge(source pg_catalog.regclass, what pg_catalog.text, epsilon pg_catalog.float8, delta pg_catalog.float8 DEFAULT 0, rho pg_catalog.float8 DEFAULT NULL)
    RETURNS pg_catalog.void
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_charge';
COMMENT ON FUNCTION sanitize.charge(pg_catalog.regclass, pg_catalog.text, pg_catalog.float8, pg_catalog.float8, pg_catalog.float8) IS
    'charges the budget of a protected relation, for mechanisms written in SQL: call it before noise is drawn. The caller vouches for the numbers; rho is that of Gaussian noise. Committed at once; ROLLBACK does not undo it';

CREATE FUNCTION sanitize_internal.spent(epsilon pg_catalog.numeric, delta pg_catalog.numeric, rho pg_catalog.numeric, rest_epsilon pg_catalog.numeric, rest_delta pg_catalog.numeric, budget_delta pg_catalog.numeric)
    RETURNS TABLE(epsilon_spent pg_catalog.float8, delta_spent pg_catalog.float8)
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_spent';
COMMENT ON FUNCTION sanitize_internal.spent(pg_catalog.numeric, pg_catalog.numeric, pg_catalog.numeric, pg_catalog.numeric, pg_catalog.numeric, pg_catalog.numeric) IS
    'what charges with these sums take of a budget with that delta: the smaller epsilon of the two ways to add up';

CREATE FUNCTION sanitize.zcdp_epsilon(rho pg_catalog.float8, delta pg_catalog.float8)
    RETURNS pg_catalog.float8
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_zcdp_epsilon';
COMMENT ON FUNCTION sanitize.zcdp_epsilon(pg_catalog.float8, pg_catalog.float8) IS
    'the smallest epsilon found for which a mechanism of this rho is (epsilon, delta)-differentially private; rounded up';

CREATE FUNCTION sanitize.zcdp_rho(epsilon pg_catalog.float8, delta pg_catalog.float8)
    RETURNS pg_catalog.float8
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_zcdp_rho';
COMMENT ON FUNCTION sanitize.zcdp_rho(pg_catalog.float8, pg_catalog.float8) IS
    'the largest rho found for which a mechanism is (epsilon, delta)-differentially private; rounded down';

CREATE FUNCTION sanitize.confirm_ledger()
    RETURNS pg_catalog.text
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_confirm_ledger';
COMMENT ON FUNCTION sanitize.confirm_ledger() IS
    'for superusers, after a restore or a failover: says that the ledger here holds every charge there was. Until then nothing is released';

CREATE FUNCTION sanitize_internal.clamped_sum_trans(pg_catalog.int8[], pg_catalog.int8, pg_catalog.int8, pg_catalog.int8)
    RETURNS pg_catalog.int8[]
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_clamped_sum_trans';
COMMENT ON FUNCTION sanitize_internal.clamped_sum_trans(pg_catalog.int8[], pg_catalog.int8, pg_catalog.int8, pg_catalog.int8) IS
    'part of the aggregate clamped_sum';

CREATE FUNCTION sanitize_internal.clamped_squares_trans(pg_catalog.int8[], pg_catalog.int8, pg_catalog.int8, pg_catalog.int8)
    RETURNS pg_catalog.int8[]
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_clamped_squares_trans';
COMMENT ON FUNCTION sanitize_internal.clamped_squares_trans(pg_catalog.int8[], pg_catalog.int8, pg_catalog.int8, pg_catalog.int8) IS
    'part of the aggregate clamped_sum_squares';

CREATE FUNCTION sanitize_internal.clamped_combine(pg_catalog.int8[], pg_catalog.int8[])
    RETURNS pg_catalog.int8[]
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_clamped_combine';
COMMENT ON FUNCTION sanitize_internal.clamped_combine(pg_catalog.int8[], pg_catalog.int8[]) IS
    'part of the clamped aggregates';

CREATE FUNCTION sanitize_internal.clamped_final(pg_catalog.int8[])
    RETURNS pg_catalog.int8
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_clamped_final';
COMMENT ON FUNCTION sanitize_internal.clamped_final(pg_catalog.int8[]) IS
    'part of the clamped aggregates';

CREATE FUNCTION sanitize.declare_domain(source pg_catalog.regclass, column_name pg_catalog.text, domain_values pg_catalog.text[])
    RETURNS pg_catalog.void
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_declare_domain';
COMMENT ON FUNCTION sanitize.declare_domain(pg_catalog.regclass, pg_catalog.text, pg_catalog.text[]) IS
    'the owner says which values a column may have; private mechanisms use them in place of what the rows show';

CREATE FUNCTION sanitize.drop_domain(source pg_catalog.regclass, column_name pg_catalog.text)
    RETURNS pg_catalog.void
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_drop_domain';
COMMENT ON FUNCTION sanitize.drop_domain(pg_catalog.regclass, pg_catalog.text) IS
    'the owner takes back the declared domain of a column';

CREATE FUNCTION sanitize.declare_bounds(source pg_catalog.regclass, column_name pg_catalog.text, low pg_catalog.text, high pg_catalog.text, bins pg_catalog.int4 DEFAULT 32)
    RETURNS pg_catalog.void
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_declare_bounds';
COMMENT ON FUNCTION sanitize.declare_bounds(pg_catalog.regclass, pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.int4) IS
    'the owner says between which values a column of numbers, dates or timestamps lies, and into how many bins it is cut';

CREATE FUNCTION sanitize.drop_bounds(source pg_catalog.regclass, column_name pg_catalog.text)
    RETURNS pg_catalog.void
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_drop_bounds';
COMMENT ON FUNCTION sanitize.drop_bounds(pg_catalog.regclass, pg_catalog.text) IS
    'the owner takes back the declared range of a column';

CREATE FUNCTION sanitize.column_bounds(source pg_catalog.regclass, column_name pg_catalog.text)
    RETURNS TABLE(low pg_catalog.text, high pg_catalog.text)
    LANGUAGE c STABLE PARALLEL UNSAFE ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_column_bounds';
COMMENT ON FUNCTION sanitize.column_bounds(pg_catalog.regclass, pg_catalog.text) IS
    'the public range of a column of numbers, dates or timestamps: declared, or from its CHECK constraints, or from its public domain; no row if it is not known on both sides';

CREATE FUNCTION sanitize.column_domain(source pg_catalog.regclass, column_name pg_catalog.text)
    RETURNS TABLE(domain_values pg_catalog.text[], origin pg_catalog.text)
    LANGUAGE c STABLE PARALLEL UNSAFE ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_column_domain';
COMMENT ON FUNCTION sanitize.column_domain(pg_catalog.regclass, pg_catalog.text) IS
    'the public domain of a column and where it is known from: declared, enum, boolean, check, foreign key; and its declared range: bounds. No row if nothing is known';

CREATE FUNCTION sanitize.dp_itemsets(source pg_catalog.regclass, epsilon pg_catalog.float8, theta pg_catalog.int8, draws pg_catalog.int4 DEFAULT 1, max_length pg_catalog.int4 DEFAULT 4, neighbours pg_catalog.text DEFAULT 'replace', seed pg_catalog.int8 DEFAULT NULL, columns pg_catalog.text[] DEFAULT NULL, constants pg_catalog.text DEFAULT 'tight')
    RETURNS TABLE(draw pg_catalog.int4, items pg_catalog.jsonb)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 10 AS 'MODULE_PATHNAME', 'sanitize_dp_itemsets';
COMMENT ON FUNCTION sanitize.dp_itemsets(pg_catalog.regclass, pg_catalog.float8, pg_catalog.int8, pg_catalog.int4, pg_catalog.int4, pg_catalog.text, pg_catalog.int8, pg_catalog.text[], pg_catalog.text) IS
    'itemsets of the public domains, drawn with probabilities that grow with their supports up to theta; each draw is epsilon-differentially private, so the call costs draws times epsilon. With seed it is not differentially private';

CREATE FUNCTION sanitize.dp_frequent_itemsets(source pg_catalog.regclass, top pg_catalog.int4, epsilon pg_catalog.float8, delta pg_catalog.float8 DEFAULT 0, max_length pg_catalog.int4 DEFAULT 4, columns pg_catalog.text[] DEFAULT NULL, seed pg_catalog.int8 DEFAULT NULL)
    RETURNS TABLE(items pg_catalog.jsonb, length pg_catalog.int4, support pg_catalog.float8, stddev pg_catalog.float8)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 20 AS 'MODULE_PATHNAME', 'sanitize_dp_frequent_itemsets';
COMMENT ON FUNCTION sanitize.dp_frequent_itemsets(pg_catalog.regclass, pg_catalog.int4, pg_catalog.float8, pg_catalog.float8, pg_catalog.int4, pg_catalog.text[], pg_catalog.int8) IS
    'the itemsets of the largest supports, chosen privately, with noisy supports and the standard deviation of the noise, the largest first; (epsilon, delta)-differentially private in all. With seed it is not';

CREATE FUNCTION sanitize_internal.grid_time(moment pg_catalog.timestamptz)
    RETURNS pg_catalog.timestamptz
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_grid_time';
COMMENT ON FUNCTION sanitize_internal.grid_time(pg_catalog.timestamptz) IS
    'the moment as the views tell it: moved back to a multiple of pg_sanitize.answer_grid';

CREATE FUNCTION sanitize.dp_noise(value pg_catalog.int8, sensitivity pg_catalog.int8, epsilon pg_catalog.float8, mechanism pg_catalog.text DEFAULT 'laplace', delta pg_catalog.float8 DEFAULT NULL)
    RETURNS pg_catalog.int8
    LANGUAGE c VOLATILE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'sanitize_dp_noise';
COMMENT ON FUNCTION sanitize.dp_noise(pg_catalog.int8, pg_catalog.int8, pg_catalog.float8, pg_catalog.text, pg_catalog.float8) IS
    'the value plus exact discrete noise for that sensitivity: laplace, or gaussian (with delta, or without one epsilon^2/2-zCDP). No ledger: for one''s own aggregates';

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

CREATE FUNCTION sanitize.protect(source pg_catalog.regclass, unit pg_catalog.text, epsilon pg_catalog.float8 DEFAULT NULL, delta pg_catalog.float8 DEFAULT NULL, max_rows_per_unit pg_catalog.int4 DEFAULT NULL, window_length pg_catalog.interval DEFAULT NULL, max_groups_per_unit pg_catalog.int4 DEFAULT NULL, min_epsilon pg_catalog.float8 DEFAULT NULL, min_query_set pg_catalog.int4 DEFAULT NULL, assume_stable pg_catalog.bool DEFAULT false, row_count_public pg_catalog.bool DEFAULT false, population pg_catalog.text DEFAULT NULL)
    RETURNS pg_catalog.void
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_protect';
COMMENT ON FUNCTION sanitize.protect(pg_catalog.regclass, pg_catalog.text, pg_catalog.float8, pg_catalog.float8, pg_catalog.int4, pg_catalog.interval, pg_catalog.int4, pg_catalog.float8, pg_catalog.int4, pg_catalog.bool, pg_catalog.bool, pg_catalog.text) IS
    'registers a relation of the caller''s: who is protected (the unit column), and how much may be learnt in total or in each window, from this relation or from all of a population. Again: changes that, and what is spent is taken from the ledger';

CREATE FUNCTION sanitize.unprotect(source pg_catalog.regclass)
    RETURNS pg_catalog.void
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_unprotect';
COMMENT ON FUNCTION sanitize.unprotect(pg_catalog.regclass) IS
    'ends the protection and all allowances of a relation: nobody can ask any more. The ledger stays, and what was spent of a population';

CREATE FUNCTION sanitize.allow(source pg_catalog.regclass, grantee pg_catalog.regrole, epsilon pg_catalog.float8 DEFAULT NULL, delta pg_catalog.float8 DEFAULT NULL)
    RETURNS pg_catalog.void
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_allow';
COMMENT ON FUNCTION sanitize.allow(pg_catalog.regclass, pg_catalog.regrole, pg_catalog.float8, pg_catalog.float8) IS
    'lets a role and its members ask about a protected relation, with an optional share of the budget; the role needs no right to read it';

CREATE FUNCTION sanitize.disallow(source pg_catalog.regclass, grantee pg_catalog.regrole)
    RETURNS pg_catalog.void
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_disallow';
COMMENT ON FUNCTION sanitize.disallow(pg_catalog.regclass, pg_catalog.regrole) IS
    'takes back what sanitize.allow gave';

CREATE FUNCTION sanitize.dp_mii_sample(source pg_catalog.anyelement, epsilon pg_catalog.float8, delta pg_catalog.float8, k pg_catalog.int4, scheme pg_catalog.text DEFAULT NULL, public_source pg_catalog.regclass DEFAULT NULL, split pg_catalog.float8 DEFAULT 0.1, max_length pg_catalog.int4 DEFAULT NULL, columns pg_catalog.text[] DEFAULT NULL, keep pg_catalog.text[] DEFAULT NULL, seed pg_catalog.int8 DEFAULT NULL, theta1 pg_catalog.int4 DEFAULT NULL, rules pg_catalog.jsonb DEFAULT NULL)
    RETURNS SETOF pg_catalog.anyelement
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_dp_mii_sample';
COMMENT ON FUNCTION sanitize.dp_mii_sample(pg_catalog.anyelement, pg_catalog.float8, pg_catalog.float8, pg_catalog.int4, pg_catalog.text, pg_catalog.regclass, pg_catalog.float8, pg_catalog.int4, pg_catalog.text[], pg_catalog.text[], pg_catalog.int8, pg_catalog.int4, pg_catalog.jsonb) IS
    'an (epsilon, delta)-differentially private sample of the relation: rows are sampled with fresh coins, cells in rare combinations or of columns that were chosen privately are blanked, and only what at least k sampled rows share is shown. With keep or seed, and in scheme ''paper'', which is as published, it is not differentially private';

CREATE FUNCTION sanitize.dp_mii_parameters(epsilon pg_catalog.float8, delta pg_catalog.float8, k pg_catalog.int4, split pg_catalog.float8 DEFAULT 0.1, method pg_catalog.text DEFAULT 'exact')
    RETURNS TABLE(beta pg_catalog.float8, theta1 pg_catalog.int4, delta pg_catalog.float8, delta_li pg_catalog.float8)
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_dp_mii_parameters';
COMMENT ON FUNCTION sanitize.dp_mii_parameters(pg_catalog.float8, pg_catalog.float8, pg_catalog.int4, pg_catalog.float8, pg_catalog.text) IS
    'the largest sampling rate beta that epsilon and delta allow with classes of at least k sampled rows, the threshold theta1 that goes with it, and the delta reached: the smallest that holds, and the bound of Li, Qardaji and Su';

CREATE FUNCTION sanitize.sampling_delta(k pg_catalog.int4, beta pg_catalog.float8, epsilon pg_catalog.float8)
    RETURNS TABLE(delta pg_catalog.float8, delta_li pg_catalog.float8)
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_sampling_delta';
COMMENT ON FUNCTION sanitize.sampling_delta(pg_catalog.int4, pg_catalog.float8, pg_catalog.float8) IS
    'delta of sampling rows with probability beta and showing only what at least k sampled rows share: the smallest that holds, and the bound of Li, Qardaji and Su';

CREATE FUNCTION sanitize.dp_synthesizer(source pg_catalog.regclass, epsilon pg_catalog.float8, delta pg_catalog.float8 DEFAULT 1e-9, columns pg_catalog.text[] DEFAULT NULL, workload pg_catalog.jsonb DEFAULT NULL, seed pg_catalog.int8 DEFAULT NULL)
    RETURNS pg_catalog.jsonb
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_dp_synthesizer';
COMMENT ON FUNCTION sanitize.dp_synthesizer(pg_catalog.regclass, pg_catalog.float8, pg_catalog.float8, pg_catalog.text[], pg_catalog.jsonb, pg_catalog.int8) IS
    'the private model that dp_synthesize draws from, with its label: (epsilon, delta) is spent once, and any number of rows can be drawn from it';

CREATE FUNCTION sanitize.dp_synthesize(source pg_catalog.anyelement, epsilon pg_catalog.float8, delta pg_catalog.float8 DEFAULT 1e-9, n pg_catalog.int8 DEFAULT NULL, columns pg_catalog.text[] DEFAULT NULL, workload pg_catalog.jsonb DEFAULT NULL, seed pg_catalog.int8 DEFAULT NULL)
    RETURNS SETOF pg_catalog.anyelement
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_dp_synthesize';
COMMENT ON FUNCTION sanitize.dp_synthesize(pg_catalog.anyelement, pg_catalog.float8, pg_catalog.float8, pg_catalog.int8, pg_catalog.text[], pg_catalog.jsonb, pg_catalog.int8) IS
    'an (epsilon, delta)-differentially private synthetic table: rows drawn from a model of noisy marginals of the relation, whose columns need public domains or bounds. With seed it is not private';

CREATE FUNCTION sanitize.dp_synthesize(source pg_catalog.anyelement, model pg_catalog.jsonb, n pg_catalog.int8, seed pg_catalog.int8 DEFAULT NULL)
    RETURNS SETOF pg_catalog.anyelement
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_dp_synthesize_model';
COMMENT ON FUNCTION sanitize.dp_synthesize(pg_catalog.anyelement, pg_catalog.jsonb, pg_catalog.int8, pg_catalog.int8) IS
    'n rows of a relation''s or composite type, drawn from a model of sanitize.dp_synthesizer; the source of the model is not needed, and nothing more is spent';

CREATE FUNCTION sanitize.sanitize_in_place(target pg_catalog.regclass, method pg_catalog.text, options pg_catalog.jsonb DEFAULT '{}', confirm pg_catalog.text DEFAULT NULL)
    RETURNS pg_catalog.jsonb
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_sanitize_in_place';
COMMENT ON FUNCTION sanitize.sanitize_in_place(pg_catalog.regclass, pg_catalog.text, pg_catalog.jsonb, pg_catalog.text) IS
    'replaces the rows of a table of the caller''s by a release of it, and its keys, with what refers to them, by random values; returns the label, and what stays as it was';

CREATE FUNCTION sanitize_internal.publishing()
    RETURNS TABLE(pid pg_catalog.int4, target pg_catalog.text, source pg_catalog.regclass, method pg_catalog.text, phase pg_catalog.text, share pg_catalog.float8, rows pg_catalog.int8, seconds pg_catalog.float8)
    LANGUAGE c VOLATILE PARALLEL RESTRICTED ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_publishing';
COMMENT ON FUNCTION sanitize_internal.publishing() IS
    'how far the publishes and refreshes are that run at the moment: those of your own role and of roles that you are a member of';

CREATE FUNCTION sanitize.publish(target pg_catalog.text, source pg_catalog.regclass, method pg_catalog.text, options pg_catalog.jsonb DEFAULT '{}', comment pg_catalog.text DEFAULT NULL)
    RETURNS pg_catalog.jsonb
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_publish';
COMMENT ON FUNCTION sanitize.publish(pg_catalog.text, pg_catalog.regclass, pg_catalog.text, pg_catalog.jsonb, pg_catalog.text) IS
    'makes a release of the source by a method and keeps it as a table of the caller''s, or replaces the rows of a release that is there; returns its label';

CREATE FUNCTION sanitize.refresh(target pg_catalog.regclass)
    RETURNS pg_catalog.jsonb
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_refresh';
COMMENT ON FUNCTION sanitize.refresh(pg_catalog.regclass) IS
    'makes a release anew, as it was published, with the rights of its owner; readers see the old rows until the transaction commits';

CREATE FUNCTION sanitize.approve(target pg_catalog.regclass)
    RETURNS pg_catalog.jsonb
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_approve';
COMMENT ON FUNCTION sanitize.approve(pg_catalog.regclass) IS
    'makes a release of a draft, as it is: from now on it counts as an earlier release of its source, and others may be granted it; returns its label';

CREATE FUNCTION sanitize.retire(target pg_catalog.regclass)
    RETURNS pg_catalog.void
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_retire';
COMMENT ON FUNCTION sanitize.retire(pg_catalog.regclass) IS
    'drops the table of a release, unless something depends on it, and forgets how it was made; that it was there is still counted';

CREATE FUNCTION sanitize.drop_leftovers(target pg_catalog.regclass)
    RETURNS pg_catalog.void
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_drop_leftovers';
COMMENT ON FUNCTION sanitize.drop_leftovers(pg_catalog.regclass) IS
    'drops, on the shards of a sharded release, what earlier publishes and refreshes left behind, those that crashed too; what readers see stays';

CREATE FUNCTION sanitize.select_a_size_design(size pg_catalog.int4, rho1 pg_catalog.float8, rho2 pg_catalog.float8 DEFAULT 0.5, transactions pg_catalog.int8 DEFAULT 5000000, max_itemset pg_catalog.int4 DEFAULT 3, convention pg_catalog.text DEFAULT 'allornothing', bits pg_catalog.int4 DEFAULT NULL)
    RETURNS TABLE(rho pg_catalog.float8, cut pg_catalog.int4, keep pg_catalog.float8[], gamma pg_catalog.float8, lds pg_catalog.float8[])
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_select_a_size_design';
COMMENT ON FUNCTION sanitize.select_a_size_design(pg_catalog.int4, pg_catalog.float8, pg_catalog.float8, pg_catalog.int8, pg_catalog.int4, pg_catalog.text, pg_catalog.int4) IS
    'the select-a-size operator that lets the lowest supports be discovered while nothing less likely than rho1 becomes more likely than rho2: its parameters, its amplification gamma, and the lowest discoverable supports of itemsets of 1, 2, … items';

CREATE FUNCTION sanitize.select_a_size_keep(size pg_catalog.int4, rho pg_catalog.float8, gamma pg_catalog.float8, cut pg_catalog.int4)
    RETURNS pg_catalog.float8[]
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_select_a_size_keep';
COMMENT ON FUNCTION sanitize.select_a_size_keep(pg_catalog.int4, pg_catalog.float8, pg_catalog.float8, pg_catalog.int4) IS
    'the chances to keep 0, 1, …, size items that amplify by at most gamma and favour keeping more than cut items';

CREATE FUNCTION sanitize.select_a_size(items pg_catalog.int4[], universe pg_catalog.int4, rho pg_catalog.float8, keep pg_catalog.float8[], seed pg_catalog.int8 DEFAULT NULL, size_public pg_catalog.bool DEFAULT false)
    RETURNS pg_catalog.int4[]
    LANGUAGE c VOLATILE PARALLEL RESTRICTED COST 100 AS 'MODULE_PATHNAME', 'sanitize_select_a_size';
COMMENT ON FUNCTION sanitize.select_a_size(pg_catalog.int4[], pg_catalog.int4, pg_catalog.float8, pg_catalog.float8[], pg_catalog.int8, pg_catalog.bool) IS
    'the transaction randomised: some of its items are kept, as keep says, and every other item comes in with probability rho';

CREATE FUNCTION sanitize.select_a_size_matrix(size pg_catalog.int4, itemset pg_catalog.int4, rho pg_catalog.float8, keep pg_catalog.float8[])
    RETURNS pg_catalog.float8[]
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_select_a_size_matrix';
COMMENT ON FUNCTION sanitize.select_a_size_matrix(pg_catalog.int4, pg_catalog.int4, pg_catalog.float8, pg_catalog.float8[]) IS
    'in row i and column j the probability that a transaction which shares j - 1 items with an itemset shares i - 1 after it was randomised';

CREATE FUNCTION sanitize.estimate_support(observed pg_catalog.int8[], size pg_catalog.int4, rho pg_catalog.float8, keep pg_catalog.float8[])
    RETURNS TABLE(support pg_catalog.float8, stddev pg_catalog.float8)
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_estimate_support';
COMMENT ON FUNCTION sanitize.estimate_support(pg_catalog.int8[], pg_catalog.int4, pg_catalog.float8, pg_catalog.float8[]) IS
    'the share of transactions that contained an itemset before they were randomised, and its standard deviation';

CREATE FUNCTION sanitize.randomized_itemsets(source pg_catalog.regclass, column_name pg_catalog.text, size pg_catalog.int4, rho pg_catalog.float8, keep pg_catalog.float8[], min_share pg_catalog.float8, max_itemset pg_catalog.int4 DEFAULT 3, margin pg_catalog.float8 DEFAULT 2, universe pg_catalog.int4 DEFAULT NULL, itemset pg_catalog.int4 DEFAULT NULL, bits pg_catalog.int4 DEFAULT NULL)
    RETURNS TABLE(items pg_catalog.int4[], support pg_catalog.float8, stddev pg_catalog.float8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 100 AS 'MODULE_PATHNAME', 'sanitize_randomized_itemsets';
COMMENT ON FUNCTION sanitize.randomized_itemsets(pg_catalog.regclass, pg_catalog.text, pg_catalog.int4, pg_catalog.float8, pg_catalog.float8[], pg_catalog.float8, pg_catalog.int4, pg_catalog.float8, pg_catalog.int4, pg_catalog.int4, pg_catalog.int4) IS
    'itemsets that at least a share min_share of the transactions contained before they were randomised, with estimated supports and standard deviations';

CREATE FUNCTION sanitize.seed_bits(universe pg_catalog.int4, size pg_catalog.int4, itemset pg_catalog.int4, a pg_catalog.int4, b pg_catalog.int4)
    RETURNS pg_catalog.int4
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_seed_bits';
COMMENT ON FUNCTION sanitize.seed_bits(pg_catalog.int4, pg_catalog.int4, pg_catalog.int4, pg_catalog.int4, pg_catalog.int4) IS
    'the bits of a seed for transactions of that size and itemsets of that many items, with rho = a / 2^b';

CREATE FUNCTION sanitize.randomize_to_seed(items pg_catalog.int4[], universe pg_catalog.int4, itemset pg_catalog.int4, a pg_catalog.int4, b pg_catalog.int4, keep pg_catalog.float8[], seed pg_catalog.int8 DEFAULT NULL, size_public pg_catalog.bool DEFAULT false)
    RETURNS pg_catalog.bytea
    LANGUAGE c VOLATILE PARALLEL RESTRICTED COST 100 AS 'MODULE_PATHNAME', 'sanitize_randomize_to_seed';
COMMENT ON FUNCTION sanitize.randomize_to_seed(pg_catalog.int4[], pg_catalog.int4, pg_catalog.int4, pg_catalog.int4, pg_catalog.int4, pg_catalog.float8[], pg_catalog.int8, pg_catalog.bool) IS
    'the transaction randomised as by select_a_size, as a short seed from which its items follow';

CREATE FUNCTION sanitize.seed_contains(seed_value pg_catalog.bytea, item pg_catalog.int4, universe pg_catalog.int4, size pg_catalog.int4, itemset pg_catalog.int4, a pg_catalog.int4, b pg_catalog.int4)
    RETURNS pg_catalog.bool
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_seed_contains';
COMMENT ON FUNCTION sanitize.seed_contains(pg_catalog.bytea, pg_catalog.int4, pg_catalog.int4, pg_catalog.int4, pg_catalog.int4, pg_catalog.int4, pg_catalog.int4) IS
    'whether an item is in the randomised transaction that a seed stands for';

CREATE FUNCTION sanitize.seed_items(seed_value pg_catalog.bytea, universe pg_catalog.int4, size pg_catalog.int4, itemset pg_catalog.int4, a pg_catalog.int4, b pg_catalog.int4)
    RETURNS pg_catalog.int4[]
    LANGUAGE c IMMUTABLE PARALLEL SAFE COST 100 AS 'MODULE_PATHNAME', 'sanitize_seed_items';
COMMENT ON FUNCTION sanitize.seed_items(pg_catalog.bytea, pg_catalog.int4, pg_catalog.int4, pg_catalog.int4, pg_catalog.int4, pg_catalog.int4) IS
    'the items of the randomised transaction that a seed stands for';

CREATE FUNCTION sanitize.transactions(source pg_catalog.regclass, columns pg_catalog.text[] DEFAULT NULL)
    RETURNS TABLE(items pg_catalog.int4[])
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_transactions';
COMMENT ON FUNCTION sanitize.transactions(pg_catalog.regclass, pg_catalog.text[]) IS
    'the rows of a relation as transactions, one item for each cell: nothing is protected yet';

CREATE FUNCTION sanitize.transaction_items(source pg_catalog.regclass, columns pg_catalog.text[] DEFAULT NULL)
    RETURNS TABLE(item pg_catalog.int4, column_name pg_catalog.text, value pg_catalog.text)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 100 AS 'MODULE_PATHNAME', 'sanitize_transaction_items';
COMMENT ON FUNCTION sanitize.transaction_items(pg_catalog.regclass, pg_catalog.text[]) IS
    'which value of which column each item of sanitize.transactions stands for, by the public domains';

CREATE FUNCTION sanitize.randomize_cells(source pg_catalog.anyelement, epsilon pg_catalog.float8, weights pg_catalog.jsonb DEFAULT NULL, columns pg_catalog.text[] DEFAULT NULL, keep pg_catalog.text[] DEFAULT NULL, seed pg_catalog.int8 DEFAULT NULL)
    RETURNS SETOF pg_catalog.anyelement
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_randomize_cells';
COMMENT ON FUNCTION sanitize.randomize_cells(pg_catalog.anyelement, pg_catalog.float8, pg_catalog.jsonb, pg_catalog.text[], pg_catalog.text[], pg_catalog.int8) IS
    'the rows of the relation with every cell randomised: kept or replaced by another value of its public domain, so that a row is hidden with epsilon (local differential privacy), which its columns share equally or by weights. Rows come in random order; with keep or seed nothing is guaranteed';

CREATE FUNCTION sanitize.rr_keep_probability(epsilon pg_catalog.float8, domain_size pg_catalog.int4)
    RETURNS pg_catalog.float8
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_rr_keep_probability';
COMMENT ON FUNCTION sanitize.rr_keep_probability(pg_catalog.float8, pg_catalog.int4) IS
    'the probability that randomised response with this epsilon keeps the value of a cell that can have so many';

CREATE FUNCTION sanitize.rr_support(source pg_catalog.regclass, items pg_catalog.jsonb, epsilon pg_catalog.float8, weights pg_catalog.jsonb DEFAULT NULL, columns pg_catalog.text[] DEFAULT NULL, domains_of pg_catalog.regclass DEFAULT NULL)
    RETURNS TABLE(estimate pg_catalog.float8, stddev pg_catalog.float8, rows pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_rr_support';
COMMENT ON FUNCTION sanitize.rr_support(pg_catalog.regclass, pg_catalog.jsonb, pg_catalog.float8, pg_catalog.jsonb, pg_catalog.text[], pg_catalog.regclass) IS
    'the share of the true rows that have an itemset, estimated without bias from rows that randomize_cells made with the same epsilon, weights and columns';

CREATE FUNCTION sanitize.loss_curve(source pg_catalog.regclass, ks pg_catalog.int4[] DEFAULT '{2,3,5,10,20,50,100}', columns pg_catalog.text[] DEFAULT NULL, generalize pg_catalog.bool DEFAULT true, unit pg_catalog.text DEFAULT NULL)
    RETURNS TABLE(k pg_catalog.int4, loss pg_catalog.float8, dropped pg_catalog.int8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 10 AS 'MODULE_PATHNAME', 'sanitize_loss_curve';
COMMENT ON FUNCTION sanitize.loss_curve(pg_catalog.regclass, pg_catalog.int4[], pg_catalog.text[], pg_catalog.bool, pg_catalog.text) IS
    'what k_anonymize would lose of a relation for each k: the mean loss of a cell, from 0 (nothing) to 1 (blanked), and the rows that would be dropped';

CREATE FUNCTION sanitize.generalize(source pg_catalog.anyelement, levels pg_catalog.jsonb, columns pg_catalog.text[] DEFAULT NULL, keep pg_catalog.text[] DEFAULT NULL)
    RETURNS SETOF pg_catalog.anyelement
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_generalize';
COMMENT ON FUNCTION sanitize.generalize(pg_catalog.anyelement, pg_catalog.jsonb, pg_catalog.text[], pg_catalog.text[]) IS
    'the relation with whole columns shown at a level of their hierarchies. No promise about the release: see k_anonymize';

CREATE FUNCTION sanitize.information_loss(original pg_catalog.regclass, released pg_catalog.regclass, columns pg_catalog.text[] DEFAULT NULL)
    RETURNS TABLE(column_name pg_catalog.text, changed pg_catalog.float8, loss pg_catalog.float8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 10 AS 'MODULE_PATHNAME', 'sanitize_information_loss';
COMMENT ON FUNCTION sanitize.information_loss(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.text[]) IS
    'by column, and over all (column_name NULL): the share of the cells that a release changed, and what a cell lost on average, from 0 (nothing) to 1 (blanked or dropped)';

CREATE FUNCTION sanitize.hide_itemsets(source pg_catalog.anyelement, itemsets pg_catalog.jsonb, min_support pg_catalog.int8, keep pg_catalog.text[] DEFAULT NULL, unit pg_catalog.text DEFAULT NULL)
    RETURNS SETOF pg_catalog.anyelement
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_hide_itemsets';
COMMENT ON FUNCTION sanitize.hide_itemsets(pg_catalog.anyelement, pg_catalog.jsonb, pg_catalog.int8, pg_catalog.text[], pg_catalog.text) IS
    'the rows of the relation with as few cells blanked as can be found so that fewer than min_support rows, or rows of fewer people, contain each of the listed itemsets; cells of kept columns are never blanked. No privacy is guaranteed: all else comes out as it is';

CREATE FUNCTION sanitize.declare_hierarchy(source pg_catalog.regclass, column_name pg_catalog.text, levels pg_catalog.jsonb)
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

CREATE FUNCTION sanitize.k_anonymize(source pg_catalog.anyelement, k pg_catalog.int4, columns pg_catalog.text[] DEFAULT NULL, keep pg_catalog.text[] DEFAULT NULL, weights pg_catalog.jsonb DEFAULT NULL, max_length pg_catalog.int4 DEFAULT NULL, generalize pg_catalog.bool DEFAULT false, sensitive pg_catalog.text DEFAULT NULL, l pg_catalog.float8 DEFAULT NULL, l_kind pg_catalog.text DEFAULT 'distinct', t pg_catalog.float8 DEFAULT NULL, unit pg_catalog.text DEFAULT NULL)
    RETURNS SETOF pg_catalog.anyelement
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_k_anonymize';
COMMENT ON FUNCTION sanitize.k_anonymize(pg_catalog.anyelement, pg_catalog.int4, pg_catalog.text[], pg_catalog.text[], pg_catalog.jsonb, pg_catalog.int4, pg_catalog.bool, pg_catalog.text, pg_catalog.float8, pg_catalog.text, pg_catalog.float8, pg_catalog.text) IS
    'a k-anonymous release with as little loss as can be found: every row of it equals at least k - 1 others, or rows of k people, in the columns that take part. Cells are blanked or, with generalize, shown at a level of their column''s hierarchy; with sensitive every class is also diverse (l) or close to all rows (t) in that column';

CREATE FUNCTION sanitize.shuffle_groups(source pg_catalog.anyelement, groups pg_catalog.jsonb, keep pg_catalog.text[] DEFAULT NULL, seed pg_catalog.int8 DEFAULT NULL)
    RETURNS SETOF pg_catalog.anyelement
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_shuffle_groups';
COMMENT ON FUNCTION sanitize.shuffle_groups(pg_catalog.anyelement, pg_catalog.jsonb, pg_catalog.text[], pg_catalog.int8) IS
    'the rows of the relation with each group of columns in a random order of its own, so that groups no longer belong together. No privacy is guaranteed: within a group rows come out as they are';

CREATE FUNCTION sanitize.impute(source pg_catalog.anyelement, columns pg_catalog.text[] DEFAULT NULL, method pg_catalog.text DEFAULT 'conditional', seed pg_catalog.int8 DEFAULT NULL)
    RETURNS SETOF pg_catalog.anyelement
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 1000 AS 'MODULE_PATHNAME', 'sanitize_impute';
COMMENT ON FUNCTION sanitize.impute(pg_catalog.anyelement, pg_catalog.text[], pg_catalog.text, pg_catalog.int8) IS
    'a released table with its NULL cells filled by values drawn from the same table: from all values of the column, or from those of rows that share as much as possible. Guesses, for tools that cannot take NULL';

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

CREATE FUNCTION sanitize_internal.do_shard_work()
    RETURNS pg_catalog.trigger
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_do_shard_work';
COMMENT ON FUNCTION sanitize_internal.do_shard_work() IS
    'part of sanitize_internal.shard_work: makes, fills or drops a table of a sharded release';

CREATE FUNCTION sanitize.guarantee(method pg_catalog.text, options pg_catalog.jsonb DEFAULT '{}')
    RETURNS pg_catalog.jsonb
    LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sanitize_guarantee';
COMMENT ON FUNCTION sanitize.guarantee(pg_catalog.text, pg_catalog.jsonb) IS
    'what a release by this method with these options protects, under which assumptions, and what not; with a sentence for a data-sharing agreement';

CREATE FUNCTION sanitize.methods()
    RETURNS TABLE(method pg_catalog.text, "position" pg_catalog.int4, argument pg_catalog.text, types pg_catalog.text, default_value pg_catalog.text, about pg_catalog.text, family pg_catalog.text)
    LANGUAGE c STABLE PARALLEL SAFE ROWS 200 AS 'MODULE_PATHNAME', 'sanitize_methods';
COMMENT ON FUNCTION sanitize.methods() IS
    'every argument of every function: its types, its default as JSON (NULL: it has to be given), what it means, and the family that the function belongs to';
