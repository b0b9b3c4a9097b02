//! Randomised transactions as short seeds.

use super::{
    ITEMS, ITEMSET, KEEP_LAW, SIZE, SIZE_PUBLIC, UNIVERSE, array_of, checked, items_up_to,
    randomised,
};
use crate::api::prelude::*;
use crate::pg::call::aggregate_state::bytea;
use randomize::seed::{Code, MAX_UNIVERSE, Shape};

/// One of the two numbers in rho = a / 2^b.
const fn dyadic(name: &'static str, about: &'static str) -> Argument<u32> {
    Argument::new(name, Type::Int4, |given| {
        given.at_least(0, "rho is a / 2^b with b from 1 to 16 and a above 0 and below 2^b.")
    })
    .about(about)
}

const A: Argument<u32> = dyadic("a", "The chance of every other item to come in is a / 2^b.");
const B: Argument<u32> = dyadic("b", "Its binary digits.");

const SEED_UNIVERSE: Argument<u32> =
    Argument { read: |given| items_up_to(given, MAX_UNIVERSE), ..UNIVERSE };

/// The layout of seeds that a call asks for.
fn code(arguments: &Arguments<'_>, size: usize) -> Result<Code> {
    Ok(Code::new(Shape {
        universe: arguments.get(&SEED_UNIVERSE)?,
        size,
        itemset: arguments.get(&ITEMSET)?,
        a: arguments.get(&A)?,
        b: arguments.get(&B)?,
    })?)
}

pub const SEED_BITS: Method = Method::new(
    "seed_bits",
    &[&SEED_UNIVERSE, &SIZE, &ITEMSET, &A, &B],
    Returns::One(Type::Int4),
    |call| Ok(Datum::from(code(&call.arguments, call.get(&SIZE)?)?.bits() as i32)),
)
.pure()
.about(
    "the bits of a seed for transactions of that size and itemsets of that many items, with \
         rho = a / 2^b",
);

pub const RANDOMIZE_TO_SEED: Method = Method::new(
    "randomize_to_seed",
    &[&ITEMS, &SEED_UNIVERSE, &ITEMSET, &A, &B, &KEEP_LAW, &SEED, &SIZE_PUBLIC],
    Returns::One(Type::Bytea),
    |call| {
        let keep = call.get(&KEEP_LAW)?;
        let code = code(&call.arguments, keep.len().saturating_sub(1))?;
        let operator = code.operator(&keep)?;
        let items = checked(call, code.shape().universe, operator.size())?;
        let seed = code.draw(&operator, &items, &mut coins(call.get(&SEED)?)?);
        Ok(bytea(&code.write(&seed)))
    },
)
.parallel_restricted()
.cost(100)
.about(
    "the transaction randomised as by select_a_size, as a short seed from which its items follow",
)
.labelled(&[], |options| {
    let keep = options.get(&KEEP_LAW)?;
    let operator = code(options, keep.len().saturating_sub(1))?.operator(&keep)?;
    let facts = randomised(&operator, options.get(&SIZE_PUBLIC)?);
    Ok(Guarantee::randomize_to_seed(facts, coins_of(options.get(&SEED)?)))
});

const SEED_VALUE: Argument<Vec<u8>> =
    Argument::new("seed_value", Type::Bytea, |given| given.needed(given.bytea()?))
        .about("A seed that randomize_to_seed made.");

const ITEM: Argument<i32> = Argument::new("item", Type::Int4, |given| {
    given.at_least(1, "item is a number from 1 to universe.")
})
.about("The item to look for.");

pub const SEED_CONTAINS: Method = Method::new(
    "seed_contains",
    &[&SEED_VALUE, &ITEM, &SEED_UNIVERSE, &SIZE, &ITEMSET, &A, &B],
    Returns::One(Type::Bool),
    |call| {
        let code = code(&call.arguments, call.get(&SIZE)?)?;
        let seed = code.read(&call.get(&SEED_VALUE)?)?;
        Ok(Datum::from(code.contains(&seed, call.get(&ITEM)? as u32)?))
    },
)
.pure()
.about("whether an item is in the randomised transaction that a seed stands for");

pub const SEED_ITEMS: Method = Method::new(
    "seed_items",
    &[&SEED_VALUE, &SEED_UNIVERSE, &SIZE, &ITEMSET, &A, &B],
    Returns::One(Type::Ints),
    |call| {
        let code = code(&call.arguments, call.get(&SIZE)?)?;
        let seed = code.read(&call.get(&SEED_VALUE)?)?;
        let check = || {
            pgrx::check_for_interrupts!();
            Ok::<_, Error>(())
        };
        Ok(array_of(&code.items(&seed, check)?))
    },
)
.pure()
.cost(100)
.about("the items of the randomised transaction that a seed stands for");
