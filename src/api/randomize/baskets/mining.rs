//! Itemsets mined from randomised transactions.

use super::{BITS, KEEP_LAW, MAX_ITEMSET, RHO, SIZE, items_up_to, keep_of_size};
use crate::api::prelude::*;
use crate::pg::read::baskets as reading;
use randomize::seed::{Code, Shape};
use randomize::transaction::itemsets::{Mining, Transactions};
use randomize::transaction::{MAX_SIZE, MAX_UNIVERSE};

const COLUMN_NAME: Argument<String> = Argument::of("column_name")
    .about("The column with randomised transactions: integer[], or bytea for seeds.");

const MIN_SHARE: Argument<f64> = Argument::of("min_share")
    .about("The share of transactions that must contain what counts as frequent.");

const MARGIN: Argument<f64> = Argument::of("margin")
    .or("2")
    .about("How many standard deviations below min_share an itemset may be and still grow.");

const SEED_UNIVERSE: Argument<Option<u32>> = Argument::optional("universe", Type::Int4, |given| {
    given.if_given(|given| items_up_to(given, MAX_UNIVERSE))
})
.about("Of seeds: how many items there are.");

const SEED_ITEMSET: Argument<Option<usize>> = Argument::optional("itemset", Type::Int4, |given| {
    given.if_given(|given| Ok(items_up_to(given, MAX_SIZE as u32)? as usize))
})
.about("Of seeds: the itemset that they were made for; max_itemset if it is left out.");

const SEED_BITS_OF_RHO: Argument<Option<u32>> = BITS
    .about("Of seeds: the binary digits b of rho = a / 2^b; as few as rho has if it is left out.");

pub const RANDOMIZED_ITEMSETS: Method = Method::new(
    "randomized_itemsets",
    &[
        &RELATION,
        &COLUMN_NAME,
        &SIZE,
        &RHO,
        &KEEP_LAW,
        &MIN_SHARE,
        &MAX_ITEMSET,
        &MARGIN,
        &SEED_UNIVERSE,
        &SEED_ITEMSET,
        &SEED_BITS_OF_RHO,
    ],
    columns![items: Ints, support: Float8, stddev: Float8],
    randomized_itemsets,
)
.reading()
.rows(100)
.about(
    "itemsets that at least a share min_share of the transactions contained before they \
         were randomised, with estimated supports and standard deviations",
);

fn randomized_itemsets(call: &Call) -> Result<Datum> {
    let (keep, rho) = (keep_of_size(&call.arguments)?, call.get(&RHO)?);
    let max_itemset = call.get(&MAX_ITEMSET)?;
    let (min_share, margin) = (call.get(&MIN_SHARE)?, call.get(&MARGIN)?);
    let mining = Mining::new(rho, &keep, min_share, max_itemset, margin)?;
    let relation = Relation::open(call.get(&RELATION)?)?;
    let position = relation.positions("column_name", Some(&[call.get(&COLUMN_NAME)?]))?[0];
    let mine = |transactions: &dyn Transactions, memory: u64| {
        pool::run("mining", memory, |watch| mining.run(transactions, watch))
    };
    let found = if reading::has_lists(&relation, position)? {
        let lists = reading::lists(&relation, position)?;
        mine(&lists, lists.memory())?
    } else {
        let code = code_of_seeds(call, rho, max_itemset)?;
        let seeds = reading::seeds(&relation, position, code)?;
        mine(&seeds, seeds.memory())?
    };
    let mut rows = ResultRows::begin(call)?;
    for one in found {
        let items: Vec<i32> = one.items.iter().map(|&item| item as i32).collect();
        rows.push([
            Value::IntArray(&items),
            Value::Float(one.estimate.support),
            Value::Float(one.estimate.stddev),
        ]);
    }
    Ok(rows.finish(call))
}

/// The layout of the seeds that are mined.
fn code_of_seeds(call: &Call, rho: f64, max_itemset: usize) -> Result<Code> {
    let universe = call.get(&SEED_UNIVERSE)?.ok_or_else(|| {
        Error::argument("universe is not given", "Seeds do not tell how many items there are.")
    })?;
    let itemset = call.get(&SEED_ITEMSET)?.unwrap_or(max_itemset);
    if max_itemset > itemset {
        return Err(Error::argument(
            format!("max_itemset is {max_itemset}, but the seeds are for itemsets of {itemset}"),
            "In larger itemsets the items of a seed are not independent: make seeds for a larger itemset.",
        ));
    }
    let most = randomize::seed::MAX_BITS;
    let whole = |bits: &u32| (rho * f64::from(1u32 << bits)).fract() == 0.0;
    let fewest = (1..=most).find(whole);
    let bits = match call.get(&SEED_BITS_OF_RHO)? {
        Some(bits) => Some(bits).filter(whole),
        None => fewest,
    };
    let b = bits.ok_or_else(|| {
        Error::argument(
            format!("rho is {rho}, which is no a / 2^b of the seeds"),
            "Seeds have a rho of at most 16 binary digits, and as many as bits says.",
        )
    })?;
    let a = (rho * f64::from(1u32 << b)) as u32;
    Ok(Code::new(Shape { universe, size: call.get(&SIZE)?, itemset, a, b })?)
}
