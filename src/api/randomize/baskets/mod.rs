//! Transactions that are randomised by select-a-size operators, as lists of items or as seeds, and what can
//! be learned from them.
//!
//! `operators`: one transaction and the design of its operator. `mining`: itemsets of many. `seeds`: transactions as
//! short seeds. `rows`: rows of a relation as transactions. This file has what they share.

mod mining;
mod operators;
mod rows;
mod seeds;

use crate::api::prelude::*;
use crate::pg::write::rowset::int_array;
use guarantee::RandomisedTransaction;
use randomize::transaction::{MAX_SIZE, MAX_UNIVERSE, SizeOperator, transaction_of};

/// A number of items from 1 to a largest.
fn items_up_to(given: &Given<'_>, most: u32) -> Result<u32> {
    let number = given.needed(given.int4()?)?;
    u32::try_from(number).ok().filter(|number| (1..=most).contains(number)).ok_or_else(|| {
        given.refuse(number, format!("{} is a number of items: 1 to {most}.", given.name()))
    })
}

/// A list of probabilities.
fn probabilities(given: &Given<'_>) -> Result<Vec<f64>> {
    let hint =
        "keep is a list of probabilities, one for each number of kept items from 0 to the size.";
    let numbers = number_list(given, given.floats()?, hint)?;
    if numbers.is_empty() { Err(given.refuse("empty", hint)) } else { Ok(numbers) }
}

const ITEMS: Argument<Vec<i32>> = Argument::new("items", Type::Ints, |given| {
    number_list(given, given.ints()?, "items is a list of numbers from 1 to universe.")
})
.about("The items of the transaction, numbers from 1 to universe.");

const UNIVERSE: Argument<u32> =
    Argument::new("universe", Type::Int4, |given| items_up_to(given, MAX_UNIVERSE))
        .about("How many items there are.");

const SIZE: Argument<usize> =
    Argument::new("size", Type::Int4, |given| Ok(items_up_to(given, MAX_SIZE as u32)? as usize))
        .about("The size that transactions are cut or filled up to.");

const ITEMSET: Argument<usize> =
    Argument::new("itemset", Type::Int4, |given| Ok(items_up_to(given, MAX_SIZE as u32)? as usize))
        .about(
            "The items of the itemset; of seeds, of the largest itemset whose support is wanted.",
        );

const RHO: Argument<f64> = Argument::of("rho").about("The chance of every other item to come in.");

const KEEP_LAW: Argument<Vec<f64>> = Argument::new("keep", Type::Floats, probabilities)
    .about("The chances to keep 0, 1, …, size items.");

const SIZE_PUBLIC: Argument<bool> = Argument::of("size_public")
    .or("false")
    .about("Transactions of another size are refused instead of cut or filled up; sizes are not protected.");

/// The distribution of the number of kept items, for a given size.
fn keep_of_size(arguments: &Arguments<'_>) -> Result<Vec<f64>> {
    let (size, keep) = (arguments.get(&SIZE)?, arguments.get(&KEEP_LAW)?);
    if keep.len() == size + 1 {
        return Ok(keep);
    }
    Err(Error::argument(
        format!("keep has {} probabilities, but size is {size}", keep.len()),
        "keep has one probability for each number of kept items: 0, 1, …, size.",
    ))
}

/// The items of a transaction, for an operator of the given size.
fn checked(call: &Call, universe: u32, size: usize) -> Result<Vec<u32>> {
    let items = transaction_of(&call.get(&ITEMS)?, universe)?;
    if call.get(&SIZE_PUBLIC)? && items.len() != size {
        return Err(Error::argument(
            format!("items has {} items, but keep is for transactions of {size}", items.len()),
            "With size_public transactions are grouped by their size: give the keep of this size.",
        ));
    }
    Ok(items)
}

fn randomised(operator: &SizeOperator, size_public: bool) -> RandomisedTransaction {
    RandomisedTransaction {
        gamma: operator.gamma(),
        epsilon: operator.epsilon(),
        size: operator.size(),
        size_public,
    }
}

const MAX_ITEMSET: Argument<usize> =
    Argument::new("max_itemset", Type::Int4, |given| Ok(items_up_to(given, 16)? as usize))
        .or("3")
        .about("The items of the largest itemsets whose supports are wanted.");

/// Binary digits of rho.
const BITS: Argument<Option<u32>> = Argument::optional("bits", Type::Int4, |given| {
    let most = randomize::seed::MAX_BITS;
    let read = |bits: i32| {
        u32::try_from(bits).ok().filter(|bits| (1..=most).contains(bits)).ok_or_else(|| {
            given.refuse(bits, format!("bits is a number of binary digits: 1 to {most}."))
        })
    };
    given.int4()?.map(read).transpose()
})
.about("The binary digits of rho, for seeds; 53 for a design if it is left out.");

/// Items as an array.
fn array_of(items: &[u32]) -> Datum {
    let items: Vec<i32> = items.iter().map(|&item| item as i32).collect();
    int_array(&items)
}

methods! {
    sanitize_select_a_size_design => operators::SELECT_A_SIZE_DESIGN;
    sanitize_select_a_size_keep => operators::SELECT_A_SIZE_KEEP;
    sanitize_select_a_size => operators::SELECT_A_SIZE;
    sanitize_select_a_size_matrix => operators::SELECT_A_SIZE_MATRIX;
    sanitize_estimate_support => operators::ESTIMATE_SUPPORT;
    sanitize_randomized_itemsets => mining::RANDOMIZED_ITEMSETS;
    sanitize_seed_bits => seeds::SEED_BITS;
    sanitize_randomize_to_seed => seeds::RANDOMIZE_TO_SEED;
    sanitize_seed_contains => seeds::SEED_CONTAINS;
    sanitize_seed_items => seeds::SEED_ITEMS;
    sanitize_transactions => rows::CELLS_AS_ITEMS;
    sanitize_transaction_items => rows::TRANSACTION_ITEMS;
}
