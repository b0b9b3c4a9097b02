//! Randomising one transaction, the design of its operator, and the support of one itemset.

use super::{
    BITS, ITEMS, ITEMSET, KEEP_LAW, MAX_ITEMSET, RHO, SIZE, SIZE_PUBLIC, UNIVERSE, array_of,
    checked, keep_of_size, randomised,
};
use crate::api::prelude::*;
use crate::pg::call::array;
use randomize::transaction::{self, Convention, DesignRequest, Estimator, SizeOperator};

pub const SELECT_A_SIZE: Method = Method::new(
    "select_a_size",
    &[&ITEMS, &UNIVERSE, &RHO, &KEEP_LAW, &SEED, &SIZE_PUBLIC],
    Returns::One(Type::Ints),
    |call| {
        let operator = SizeOperator::new(call.get(&RHO)?, &call.get(&KEEP_LAW)?)?;
        let universe = call.get(&UNIVERSE)?;
        let items = checked(call, universe, operator.size())?;
        let items = operator.randomize(&items, universe, &mut coins(call.get(&SEED)?)?);
        Ok(array_of(&items))
    },
)
.parallel_restricted()
.cost(100)
.about(
    "the transaction randomised: some of its items are kept, as keep says, and every other \
         item comes in with probability rho",
)
.labelled(&[], |options| {
    let operator = SizeOperator::new(options.get(&RHO)?, &options.get(&KEEP_LAW)?)?;
    let facts = randomised(&operator, options.get(&SIZE_PUBLIC)?);
    Ok(Guarantee::select_a_size(facts, coins_of(options.get(&SEED)?)))
});

const GAMMA: Argument<f64> = Argument::of("gamma")
    .about("How often as likely an output may be for one transaction as for another.");

const CUT: Argument<usize> = Argument::new("cut", Type::Int4, |given| {
    given.at_least(0, "cut is a number of kept items: 0 to size - 1.")
})
.about("Keeping more items than this is favoured.");

pub const SELECT_A_SIZE_KEEP: Method = Method::new(
    "select_a_size_keep",
    &[&SIZE, &RHO, &GAMMA, &CUT],
    Returns::One(Type::Floats),
    |call| {
        let (size, rho) = (call.get(&SIZE)?, call.get(&RHO)?);
        let keep = transaction::keep(size, rho, call.get(&GAMMA)?, call.get(&CUT)?)?;
        Ok(array::vector(&keep))
    },
)
.pure()
.about(
    "the chances to keep 0, 1, …, size items that amplify by at most gamma and favour \
         keeping more than cut items",
);

const RHO1: Argument<f64> = Argument::of("rho1")
    .about("Properties of a transaction that are less likely than this are protected.");

const RHO2: Argument<f64> = Argument::of("rho2")
    .or("0.5")
    .about("How likely such a property may become at most to whoever sees the output.");

const TRANSACTIONS: Argument<u64> = Argument::new("transactions", Type::Int8, |given| {
    given.at_least(1, "transactions is a number of transactions: 1 or more.")
})
.or("5000000")
.about("How many transactions there will be.");

const CONVENTION: Argument<Convention> = Argument::choice("convention")
    .or("\"allornothing\"")
    .about("What other transactions share with an itemset: 'allornothing', or 'null' for nothing.");

pub const SELECT_A_SIZE_DESIGN: Method = Method::new(
    "select_a_size_design",
    &[&SIZE, &RHO1, &RHO2, &TRANSACTIONS, &MAX_ITEMSET, &CONVENTION, &BITS],
    columns![rho: Float8, cut: Int4, keep: Floats, gamma: Float8, lds: Floats],
    |call| {
        let found = transaction::design(&DesignRequest {
            size: call.get(&SIZE)?,
            rho1: call.get(&RHO1)?,
            rho2: call.get(&RHO2)?,
            transactions: call.get(&TRANSACTIONS)?,
            max_itemset: call.get(&MAX_ITEMSET)?,
            convention: call.get(&CONVENTION)?,
            bits: call.get(&BITS)?,
        })?;
        call.one_row([
            Value::Float(found.rho),
            Value::Int(found.cut as i32),
            Value::Made(&|| array::vector(&found.keep)),
            Value::Float(found.gamma),
            Value::Made(&|| array::vector(&found.lds)),
        ])
    },
)
.pure()
.rows(1)
.about(
    "the select-a-size operator that lets the lowest supports be discovered while nothing \
         less likely than rho1 becomes more likely than rho2: its parameters, its amplification \
         gamma, and the lowest discoverable supports of itemsets of 1, 2, … items",
);

pub const SELECT_A_SIZE_MATRIX: Method = Method::new(
    "select_a_size_matrix",
    &[&SIZE, &ITEMSET, &RHO, &KEEP_LAW],
    Returns::One(Type::Floats),
    |call| {
        let keep = keep_of_size(&call.arguments)?;
        let matrix = transaction::matrix(call.get(&ITEMSET)?, call.get(&RHO)?, &keep)?;
        let width = matrix.first().map_or(0, Vec::len);
        Ok(array::matrix(&matrix.concat(), width))
    },
)
.pure()
.about(
    "in row i and column j the probability that a transaction which shares j - 1 items with \
         an itemset shares i - 1 after it was randomised",
);

/// Transactions by the number of items that they share with an itemset.
const OBSERVED: Argument<Vec<u64>> = Argument::new("observed", Type::BigInts, |given| {
    let hint = "observed has a number of transactions for each number of shared items: 0, 1, …, those of the itemset.";
    let numbers = number_list(given, given.big_ints()?, hint)?;
    if numbers.len() < 2 {
        return Err(given.refuse(format_args!("a list of {}", numbers.len()), hint));
    }
    let count = |n: i64| {
        u64::try_from(n).map_err(|_| given.refuse(format_args!("a list with {n}"), hint))
    };
    let counts = numbers.into_iter().map(count).collect::<Result<Vec<u64>, _>>()?;
    match counts.iter().try_fold(0u64, |sum, &n| sum.checked_add(n)) {
        Some(0) => Err(given.refuse("a list of no transactions", hint)),
        Some(_) => Ok(counts),
        None => Err(given.refuse("a list of more transactions than can be counted", hint)),
    }
})
.about("How many randomised transactions share 0, 1, … items with the itemset.");

pub const ESTIMATE_SUPPORT: Method = Method::new(
    "estimate_support",
    &[&OBSERVED, &SIZE, &RHO, &KEEP_LAW],
    columns![support: Float8, stddev: Float8],
    |call| {
        let (observed, keep) = (call.get(&OBSERVED)?, keep_of_size(&call.arguments)?);
        let estimator = Estimator::new(observed.len() - 1, call.get(&RHO)?, &keep)?;
        let found = estimator.support(&observed);
        call.one_row([Value::Float(found.support), Value::Float(found.stddev)])
    },
)
.pure()
.rows(1)
.about(
    "the share of transactions that contained an itemset before they were randomised, and \
         its standard deviation",
);
