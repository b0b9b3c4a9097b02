-- Transactions randomised by select-a-size operators, and seeds of them.
CREATE FUNCTION sanitize.select_a_size_design(size pg_catalog.int4, rho1 pg_catalog.float8,
        rho2 pg_catalog.float8 DEFAULT 0.5, transactions pg_catalog.int8 DEFAULT 5000000,
        max_itemset pg_catalog.int4 DEFAULT 3, convention pg_catalog.text DEFAULT 'allornothing',
        bits pg_catalog.int4 DEFAULT NULL)
    RETURNS TABLE(rho pg_catalog.float8, cut pg_catalog.int4, keep pg_catalog.float8[], gamma pg_catalog.float8,
        lds pg_catalog.float8[])
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_select_a_size_design';
COMMENT ON FUNCTION sanitize.select_a_size_design(pg_catalog.int4, pg_catalog.float8, pg_catalog.float8, pg_catalog.int8, pg_catalog.int4, pg_catalog.text, pg_catalog.int4) IS
    'the select-a-size operator that lets the lowest supports be discovered while nothing less likely than rho1 becomes more likely than rho2: its parameters, its amplification gamma, and the lowest discoverable supports of itemsets of 1, 2, … items';

CREATE FUNCTION sanitize.select_a_size_keep(size pg_catalog.int4, rho pg_catalog.float8, gamma pg_catalog.float8,
        cut pg_catalog.int4)
    RETURNS pg_catalog.float8[]
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_select_a_size_keep';
COMMENT ON FUNCTION sanitize.select_a_size_keep(pg_catalog.int4, pg_catalog.float8, pg_catalog.float8, pg_catalog.int4) IS
    'the chances to keep 0, 1, …, size items that amplify by at most gamma and favour keeping more than cut items';

CREATE FUNCTION sanitize.select_a_size(items pg_catalog.int4[], universe pg_catalog.int4, rho pg_catalog.float8,
        keep pg_catalog.float8[], seed pg_catalog.int8 DEFAULT NULL, size_public pg_catalog.bool DEFAULT false)
    RETURNS pg_catalog.int4[]
    LANGUAGE c VOLATILE PARALLEL RESTRICTED COST 100 AS 'MODULE_PATHNAME', 'sanitize_select_a_size';
COMMENT ON FUNCTION sanitize.select_a_size(pg_catalog.int4[], pg_catalog.int4, pg_catalog.float8, pg_catalog.float8[], pg_catalog.int8, pg_catalog.bool) IS
    'the transaction randomised: some of its items are kept, as keep says, and every other item comes in with probability rho';

CREATE FUNCTION sanitize.select_a_size_matrix(size pg_catalog.int4, itemset pg_catalog.int4, rho pg_catalog.float8,
        keep pg_catalog.float8[])
    RETURNS pg_catalog.float8[]
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_select_a_size_matrix';
COMMENT ON FUNCTION sanitize.select_a_size_matrix(pg_catalog.int4, pg_catalog.int4, pg_catalog.float8, pg_catalog.float8[]) IS
    'in row i and column j the probability that a transaction which shares j - 1 items with an itemset shares i - 1 after it was randomised';

CREATE FUNCTION sanitize.estimate_support(observed pg_catalog.int8[], size pg_catalog.int4, rho pg_catalog.float8,
        keep pg_catalog.float8[])
    RETURNS TABLE(support pg_catalog.float8, stddev pg_catalog.float8)
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'sanitize_estimate_support';
COMMENT ON FUNCTION sanitize.estimate_support(pg_catalog.int8[], pg_catalog.int4, pg_catalog.float8, pg_catalog.float8[]) IS
    'the share of transactions that contained an itemset before they were randomised, and its standard deviation';

CREATE FUNCTION sanitize.randomized_itemsets(source pg_catalog.regclass, column_name pg_catalog.text,
        size pg_catalog.int4, rho pg_catalog.float8, keep pg_catalog.float8[], min_support pg_catalog.float8,
        max_itemset pg_catalog.int4 DEFAULT 3, margin pg_catalog.float8 DEFAULT 2, universe pg_catalog.int4 DEFAULT NULL,
        itemset pg_catalog.int4 DEFAULT NULL, bits pg_catalog.int4 DEFAULT NULL)
    RETURNS TABLE(items pg_catalog.int4[], support pg_catalog.float8, stddev pg_catalog.float8)
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 100 AS 'MODULE_PATHNAME', 'sanitize_randomized_itemsets';
COMMENT ON FUNCTION sanitize.randomized_itemsets(pg_catalog.regclass, pg_catalog.text, pg_catalog.int4, pg_catalog.float8, pg_catalog.float8[], pg_catalog.float8, pg_catalog.int4, pg_catalog.float8, pg_catalog.int4, pg_catalog.int4, pg_catalog.int4) IS
    'itemsets that at least a share min_support of the transactions contained before they were randomised, with estimated supports and standard deviations';

CREATE FUNCTION sanitize.seed_bits(universe pg_catalog.int4, size pg_catalog.int4, itemset pg_catalog.int4,
        a pg_catalog.int4, b pg_catalog.int4)
    RETURNS pg_catalog.int4
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_seed_bits';
COMMENT ON FUNCTION sanitize.seed_bits(pg_catalog.int4, pg_catalog.int4, pg_catalog.int4, pg_catalog.int4, pg_catalog.int4) IS
    'the bits of a seed for transactions of that size and itemsets of that many items, with rho = a / 2^b';

CREATE FUNCTION sanitize.randomize_to_seed(items pg_catalog.int4[], universe pg_catalog.int4, itemset pg_catalog.int4,
        a pg_catalog.int4, b pg_catalog.int4, keep pg_catalog.float8[], seed pg_catalog.int8 DEFAULT NULL,
        size_public pg_catalog.bool DEFAULT false)
    RETURNS pg_catalog.bytea
    LANGUAGE c VOLATILE PARALLEL RESTRICTED COST 100 AS 'MODULE_PATHNAME', 'sanitize_randomize_to_seed';
COMMENT ON FUNCTION sanitize.randomize_to_seed(pg_catalog.int4[], pg_catalog.int4, pg_catalog.int4, pg_catalog.int4, pg_catalog.int4, pg_catalog.float8[], pg_catalog.int8, pg_catalog.bool) IS
    'the transaction randomised as by select_a_size, as a short seed from which its items follow';

CREATE FUNCTION sanitize.seed_contains(seed_value pg_catalog.bytea, item pg_catalog.int4, universe pg_catalog.int4,
        size pg_catalog.int4, itemset pg_catalog.int4, a pg_catalog.int4, b pg_catalog.int4)
    RETURNS pg_catalog.bool
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'sanitize_seed_contains';
COMMENT ON FUNCTION sanitize.seed_contains(pg_catalog.bytea, pg_catalog.int4, pg_catalog.int4, pg_catalog.int4, pg_catalog.int4, pg_catalog.int4, pg_catalog.int4) IS
    'whether an item is in the randomised transaction that a seed stands for';

CREATE FUNCTION sanitize.seed_items(seed_value pg_catalog.bytea, universe pg_catalog.int4, size pg_catalog.int4,
        itemset pg_catalog.int4, a pg_catalog.int4, b pg_catalog.int4)
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
