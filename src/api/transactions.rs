//! Transactions that are randomised by select-a-size operators, as lists of items or as seeds, and what can
//! be learned from them.

use super::arguments::{COLUMNS, RELATION, SEED, choice, coins, coins_of, number, text, yes_or_no};
use super::public_source::PublicSource;
use crate::catalog::public::Public;
use crate::method::{Label, Method, methods};
use crate::pg::argument::{Argument, Arguments, Given, Type};
use crate::pg::array;
use crate::pg::call::Call;
use crate::pg::error::Error;
use crate::pg::pool;
use crate::pg::relation::Relation;
use crate::pg::rowset::{ResultRows, Value, int_array};
use crate::pg::signature::Returns;
use crate::pg::state::bytea;
use crate::pg::text::from_utf8;
use crate::pg::transactions as reading;
use guarantee::{Guarantee, RandomisedTransaction};
use pgrx::pg_sys::Datum;
use randomize::seed::{Code, Shape};
use randomize::transaction::itemsets::{Mining, Transactions};
use randomize::transaction::{
    self, Convention, Estimator, MAX_SIZE, MAX_UNIVERSE, Operator, Request, transaction_of,
};
use table::NONE;

/// A number of items from 1 to a largest.
fn items_up_to(given: &Given<'_>, most: u32) -> Result<u32, Error> {
    let number = given.needed(given.int4()?)?;
    u32::try_from(number).ok().filter(|number| (1..=most).contains(number)).ok_or_else(|| {
        given.refuse(number, format!("{} is a number of items: 1 to {most}.", given.name()))
    })
}

/// A list of probabilities.
fn probabilities(given: &Given<'_>) -> Result<Vec<f64>, Error> {
    let numbers = given.needed(given.floats()?)?.vector();
    let hint = "keep is a list of probabilities, one for each number of kept items from 0 to the size.";
    let numbers = numbers.map_err(|what| given.refuse(what, hint))?;
    if numbers.is_empty() { Err(given.refuse("empty", hint)) } else { Ok(numbers) }
}

const ITEMS: Argument<Vec<i32>> = Argument {
    name: "items",
    of: Type::Ints,
    default: None,
    about: "The items of the transaction, numbers from 1 to universe.",
    read: |given| {
        let items = given.needed(given.ints()?)?.vector();
        items.map_err(|what| given.refuse(what, "items is a list of numbers from 1 to universe."))
    },
};

const UNIVERSE: Argument<u32> = Argument {
    name: "universe",
    of: Type::Int4,
    default: None,
    about: "How many items there are.",
    read: |given| items_up_to(given, MAX_UNIVERSE),
};

const SIZE: Argument<usize> = Argument {
    name: "size",
    of: Type::Int4,
    default: None,
    about: "The size that transactions are cut or filled up to.",
    read: |given| Ok(items_up_to(given, MAX_SIZE as u32)? as usize),
};

const ITEMSET: Argument<usize> = Argument {
    name: "itemset",
    of: Type::Int4,
    default: None,
    about: "The items of the itemset; of seeds, of the largest itemset whose support is wanted.",
    read: |given| Ok(items_up_to(given, MAX_SIZE as u32)? as usize),
};

const RHO: Argument<f64> = Argument {
    name: "rho",
    of: Type::Float8,
    default: None,
    about: "The chance of every other item to come in.",
    read: number,
};

const KEEP_LAW: Argument<Vec<f64>> = Argument {
    name: "keep",
    of: Type::Floats,
    default: None,
    about: "The chances to keep 0, 1, …, size items.",
    read: probabilities,
};

const SIZE_PUBLIC: Argument<bool> = Argument {
    name: "size_public",
    of: Type::Bool,
    default: Some("false"),
    about: "Transactions of another size are refused instead of cut or filled up; sizes are not protected.",
    read: yes_or_no,
};

/// The law of kept items for a size that is given beside it.
fn keep_of_size(arguments: &Arguments<'_>) -> Result<Vec<f64>, Error> {
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
fn checked(call: &Call, universe: u32, size: usize) -> Result<Vec<u32>, Error> {
    let items = transaction_of(&call.get(&ITEMS)?, universe)?;
    if call.get(&SIZE_PUBLIC)? && items.len() != size {
        return Err(Error::argument(
            format!("items has {} items, but keep is for transactions of {size}", items.len()),
            "With size_public transactions are grouped by their size: give the keep of this size.",
        ));
    }
    Ok(items)
}

fn randomised(operator: &Operator, size_public: bool) -> RandomisedTransaction {
    RandomisedTransaction {
        gamma: operator.gamma(),
        epsilon: operator.epsilon(),
        size: operator.size(),
        size_public,
    }
}

const SELECT_A_SIZE: Method = Method {
    name: "select_a_size",
    arguments: &[&ITEMS, &UNIVERSE, &RHO, &KEEP_LAW, &SEED, &SIZE_PUBLIC],
    returns: Returns::One(Type::Ints),
    run: |call| {
        let operator = Operator::new(call.get(&RHO)?, &call.get(&KEEP_LAW)?)?;
        let universe = call.get(&UNIVERSE)?;
        let items = checked(call, universe, operator.size())?;
        let items = operator.randomize(&items, universe, &mut coins(call.get(&SEED)?)?);
        Ok(array_of(&items))
    },
    label: Some(Label {
        further: &[],
        of: |options| {
            let operator = Operator::new(options.get(&RHO)?, &options.get(&KEEP_LAW)?)?;
            let facts = randomised(&operator, options.get(&SIZE_PUBLIC)?);
            Ok(Guarantee::select_a_size(facts, coins_of(options.get(&SEED)?)))
        },
    }),
    price: None,
};

/// Items as an array.
fn array_of(items: &[u32]) -> Datum {
    let items: Vec<i32> = items.iter().map(|&item| item as i32).collect();
    int_array(&items)
}

const GAMMA: Argument<f64> = Argument {
    name: "gamma",
    of: Type::Float8,
    default: None,
    about: "How often as likely an output may be for one transaction as for another.",
    read: number,
};

const CUT: Argument<usize> = Argument {
    name: "cut",
    of: Type::Int4,
    default: None,
    about: "Keeping more items than this is favoured.",
    read: |given| {
        let cut = given.needed(given.int4()?)?;
        usize::try_from(cut).map_err(|_| given.refuse(cut, "cut is a number of kept items: 0 to size - 1."))
    },
};

const SELECT_A_SIZE_KEEP: Method = Method {
    name: "select_a_size_keep",
    arguments: &[&SIZE, &RHO, &GAMMA, &CUT],
    returns: Returns::One(Type::Floats),
    run: |call| {
        let (size, rho) = (call.get(&SIZE)?, call.get(&RHO)?);
        let keep = transaction::keep(size, rho, call.get(&GAMMA)?, call.get(&CUT)?)?;
        Ok(array::vector(&keep))
    },
    label: None,
    price: None,
};

const RHO1: Argument<f64> = Argument {
    name: "rho1",
    of: Type::Float8,
    default: None,
    about: "Properties of a transaction that are less likely than this are protected.",
    read: number,
};

const RHO2: Argument<f64> = Argument {
    name: "rho2",
    of: Type::Float8,
    default: Some("0.5"),
    about: "How likely such a property may become at most to whoever sees the output.",
    read: number,
};

const TRANSACTIONS: Argument<u64> = Argument {
    name: "transactions",
    of: Type::Int8,
    default: Some("5000000"),
    about: "How many transactions there will be.",
    read: |given| match given.needed(given.int8()?)? {
        n if n >= 1 => Ok(n as u64),
        n => Err(given.refuse(n, "transactions is a number of transactions: 1 or more.")),
    },
};

const MAX_ITEMSET: Argument<usize> = Argument {
    name: "max_itemset",
    of: Type::Int4,
    default: Some("3"),
    about: "The items of the largest itemsets whose supports are wanted.",
    read: |given| Ok(items_up_to(given, 16)? as usize),
};

const CONVENTION: Argument<Convention> = Argument {
    name: "convention",
    of: Type::Text,
    default: Some("\"allornothing\""),
    about: "What other transactions share with an itemset: 'allornothing', or 'null' for nothing.",
    read: choice,
};

/// Binary digits of rho.
const BITS: Argument<Option<u32>> = Argument {
    name: "bits",
    of: Type::Int4,
    default: Some("null"),
    about: "The binary digits of rho, for seeds; 53 for a design if it is left out.",
    read: |given| {
        let most = randomize::seed::MAX_BITS;
        let read = |bits: i32| {
            u32::try_from(bits).ok().filter(|bits| (1..=most).contains(bits)).ok_or_else(|| {
                given.refuse(bits, format!("bits is a number of binary digits: 1 to {most}."))
            })
        };
        given.int4()?.map(read).transpose()
    },
};

const SELECT_A_SIZE_DESIGN: Method = Method {
    name: "select_a_size_design",
    arguments: &[&SIZE, &RHO1, &RHO2, &TRANSACTIONS, &MAX_ITEMSET, &CONVENTION, &BITS],
    returns: Returns::Table(&[
        ("rho", Type::Float8),
        ("cut", Type::Int4),
        ("keep", Type::Floats),
        ("gamma", Type::Float8),
        ("lds", Type::Floats),
    ]),
    run: |call| {
        let found = transaction::design(&Request {
            size: call.get(&SIZE)?,
            rho1: call.get(&RHO1)?,
            rho2: call.get(&RHO2)?,
            transactions: call.get(&TRANSACTIONS)?,
            max_itemset: call.get(&MAX_ITEMSET)?,
            convention: call.get(&CONVENTION)?,
            bits: call.get(&BITS)?,
        })?;
        let mut rows = ResultRows::begin(call)?;
        rows.push([
            Value::Float(found.rho),
            Value::Int(found.cut as i32),
            Value::Made(&|| array::vector(&found.keep)),
            Value::Float(found.gamma),
            Value::Made(&|| array::vector(&found.lds)),
        ]);
        Ok(rows.finish(call))
    },
    label: None,
    price: None,
};

const SELECT_A_SIZE_MATRIX: Method = Method {
    name: "select_a_size_matrix",
    arguments: &[&SIZE, &ITEMSET, &RHO, &KEEP_LAW],
    returns: Returns::One(Type::Floats),
    run: |call| {
        let keep = keep_of_size(&call.arguments)?;
        let matrix = transaction::matrix(call.get(&ITEMSET)?, call.get(&RHO)?, &keep)?;
        let width = matrix.first().map_or(0, Vec::len);
        Ok(array::matrix(&matrix.concat(), width))
    },
    label: None,
    price: None,
};

/// Transactions by the number of items that they share with an itemset.
const OBSERVED: Argument<Vec<u64>> = Argument {
    name: "observed",
    of: Type::BigInts,
    default: None,
    about: "How many randomised transactions share 0, 1, … items with the itemset.",
    read: |given| {
        let hint = "observed has a number of transactions for each number of shared items: 0, 1, …, those of the itemset.";
        let numbers = given.needed(given.big_ints()?)?.vector();
        let numbers = numbers.map_err(|what| given.refuse(what, hint))?;
        if numbers.len() < 2 {
            return Err(given.refuse(format_args!("a list of {}", numbers.len()), hint));
        }
        let count = |n: i64| u64::try_from(n).map_err(|_| given.refuse(format_args!("a list with {n}"), hint));
        let counts = numbers.into_iter().map(count).collect::<Result<Vec<u64>, _>>()?;
        match counts.iter().try_fold(0u64, |sum, &n| sum.checked_add(n)) {
            Some(0) => Err(given.refuse("a list of no transactions", hint)),
            Some(_) => Ok(counts),
            None => Err(given.refuse("a list of more transactions than can be counted", hint)),
        }
    },
};

const ESTIMATE_SUPPORT: Method = Method {
    name: "estimate_support",
    arguments: &[&OBSERVED, &SIZE, &RHO, &KEEP_LAW],
    returns: Returns::Table(&[("support", Type::Float8), ("stddev", Type::Float8)]),
    run: |call| {
        let (observed, keep) = (call.get(&OBSERVED)?, keep_of_size(&call.arguments)?);
        let estimator = Estimator::new(observed.len() - 1, call.get(&RHO)?, &keep)?;
        let found = estimator.support(&observed);
        let mut rows = ResultRows::begin(call)?;
        rows.push([Value::Float(found.support), Value::Float(found.stddev)]);
        Ok(rows.finish(call))
    },
    label: None,
    price: None,
};

const COLUMN_NAME: Argument<String> = Argument {
    name: "column_name",
    of: Type::Text,
    default: None,
    about: "The column with randomised transactions: integer[], or bytea for seeds.",
    read: text,
};

const MIN_SUPPORT: Argument<f64> = Argument {
    name: "min_support",
    of: Type::Float8,
    default: None,
    about: "The share of transactions that must contain what counts as frequent.",
    read: number,
};

const MARGIN: Argument<f64> = Argument {
    name: "margin",
    of: Type::Float8,
    default: Some("2"),
    about: "How many standard deviations below min_support an itemset may be and still grow.",
    read: number,
};

const SEED_UNIVERSE: Argument<Option<u32>> = Argument {
    name: "universe",
    of: Type::Int4,
    default: Some("null"),
    about: "Of seeds: how many items there are.",
    read: |given| if given.is_null() { Ok(None) } else { items_up_to(given, MAX_UNIVERSE).map(Some) },
};

const SEED_ITEMSET: Argument<Option<usize>> = Argument {
    name: "itemset",
    of: Type::Int4,
    default: Some("null"),
    about: "Of seeds: the itemset that they were made for; max_itemset if it is left out.",
    read: |given| {
        let read = || Ok(items_up_to(given, MAX_SIZE as u32)? as usize);
        if given.is_null() { Ok(None) } else { read().map(Some) }
    },
};

const SEED_BITS_OF_RHO: Argument<Option<u32>> = Argument {
    about: "Of seeds: the binary digits b of rho = a / 2^b; as few as rho has if it is left out.",
    ..BITS
};

const RANDOMIZED_ITEMSETS: Method = Method {
    name: "randomized_itemsets",
    arguments: &[
        &RELATION,
        &COLUMN_NAME,
        &SIZE,
        &RHO,
        &KEEP_LAW,
        &MIN_SUPPORT,
        &MAX_ITEMSET,
        &MARGIN,
        &SEED_UNIVERSE,
        &SEED_ITEMSET,
        &SEED_BITS_OF_RHO,
    ],
    returns: Returns::Table(&[
        ("items", Type::Ints),
        ("support", Type::Float8),
        ("stddev", Type::Float8),
    ]),
    run: randomized_itemsets,
    label: None,
    price: None,
};

fn randomized_itemsets(call: &Call) -> Result<Datum, Error> {
    let (keep, rho) = (keep_of_size(&call.arguments)?, call.get(&RHO)?);
    let max_itemset = call.get(&MAX_ITEMSET)?;
    let (min_support, margin) = (call.get(&MIN_SUPPORT)?, call.get(&MARGIN)?);
    let mining = Mining::new(rho, &keep, min_support, max_itemset, margin)?;
    let relation = Relation::open(call.get(&RELATION)?)?;
    let position = relation.positions("column_name", Some(&[call.get(&COLUMN_NAME)?]))?[0];
    let mine = |transactions: &dyn Transactions, memory: u64| {
        pool::run("mining", memory, |watch| mining.run(transactions, watch))
    };
    let found = if reading::has_lists(&relation, position)? {
        let lists = reading::lists(&relation, position);
        mine(&lists, lists.memory())?
    } else {
        let code = code_of_seeds(call, rho, max_itemset)?;
        let seeds = reading::seeds(&relation, position, code);
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
fn code_of_seeds(call: &Call, rho: f64, max_itemset: usize) -> Result<Code, Error> {
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

/// One of the two numbers that rho = a / 2^b is.
const fn dyadic(name: &'static str, about: &'static str) -> Argument<u32> {
    Argument {
        name,
        of: Type::Int4,
        default: None,
        about,
        read: |given| {
            let number = given.needed(given.int4()?)?;
            u32::try_from(number).map_err(|_| {
                given.refuse(number, "rho is a / 2^b with b from 1 to 16 and a above 0 and below 2^b.")
            })
        },
    }
}

const A: Argument<u32> = dyadic("a", "The chance of every other item to come in is a / 2^b.");
const B: Argument<u32> = dyadic("b", "Its binary digits.");

/// The layout of seeds that a call asks for.
fn code(arguments: &Arguments<'_>, size: usize) -> Result<Code, Error> {
    Ok(Code::new(Shape {
        universe: arguments.get(&UNIVERSE)?,
        size,
        itemset: arguments.get(&ITEMSET)?,
        a: arguments.get(&A)?,
        b: arguments.get(&B)?,
    })?)
}

const SEED_BITS: Method = Method {
    name: "seed_bits",
    arguments: &[&UNIVERSE, &SIZE, &ITEMSET, &A, &B],
    returns: Returns::One(Type::Int4),
    run: |call| Ok(Datum::from(code(&call.arguments, call.get(&SIZE)?)?.bits() as i32)),
    label: None,
    price: None,
};

const RANDOMIZE_TO_SEED: Method = Method {
    name: "randomize_to_seed",
    arguments: &[&ITEMS, &UNIVERSE, &ITEMSET, &A, &B, &KEEP_LAW, &SEED, &SIZE_PUBLIC],
    returns: Returns::One(Type::Bytea),
    run: |call| {
        let keep = call.get(&KEEP_LAW)?;
        let code = code(&call.arguments, keep.len().saturating_sub(1))?;
        let operator = code.operator(&keep)?;
        let items = checked(call, code.shape().universe, operator.size())?;
        let seed = code.draw(&operator, &items, &mut coins(call.get(&SEED)?)?);
        Ok(bytea(&code.write(&seed)))
    },
    label: Some(Label {
        further: &[],
        of: |options| {
            let keep = options.get(&KEEP_LAW)?;
            let operator = code(options, keep.len().saturating_sub(1))?.operator(&keep)?;
            let facts = randomised(&operator, options.get(&SIZE_PUBLIC)?);
            Ok(Guarantee::randomize_to_seed(facts, coins_of(options.get(&SEED)?)))
        },
    }),
    price: None,
};

const SEED_VALUE: Argument<Vec<u8>> = Argument {
    name: "seed_value",
    of: Type::Bytea,
    default: None,
    about: "A seed that randomize_to_seed made.",
    read: |given| given.needed(given.bytea()?),
};

const ITEM: Argument<i32> = Argument {
    name: "item",
    of: Type::Int4,
    default: None,
    about: "The item to look for.",
    read: |given| match given.needed(given.int4()?)? {
        item if item >= 1 => Ok(item),
        item => Err(given.refuse(item, "item is a number from 1 to universe.")),
    },
};

const SEED_CONTAINS: Method = Method {
    name: "seed_contains",
    arguments: &[&SEED_VALUE, &ITEM, &UNIVERSE, &SIZE, &ITEMSET, &A, &B],
    returns: Returns::One(Type::Bool),
    run: |call| {
        let code = code(&call.arguments, call.get(&SIZE)?)?;
        let seed = code.read(&call.get(&SEED_VALUE)?)?;
        Ok(Datum::from(code.contains(&seed, call.get(&ITEM)? as u32)?))
    },
    label: None,
    price: None,
};

const SEED_ITEMS: Method = Method {
    name: "seed_items",
    arguments: &[&SEED_VALUE, &UNIVERSE, &SIZE, &ITEMSET, &A, &B],
    returns: Returns::One(Type::Ints),
    run: |call| {
        let code = code(&call.arguments, call.get(&SIZE)?)?;
        let seed = code.read(&call.get(&SEED_VALUE)?)?;
        Ok(array_of(&code.items(&seed)))
    },
    label: None,
    price: None,
};

/// A relation whose cells are items. What its public domains do not have is no item.
fn items_of_cells(call: &Call) -> Result<PublicSource, Error> {
    let relation = Relation::open(call.get(&RELATION)?)?;
    let positions = relation.positions("columns", call.get(&COLUMNS)?.as_deref())?;
    let mut source = PublicSource::open(relation, positions)?;
    source.columns.iter_mut().for_each(|column| column.nullable = true);
    let items: usize = source.columns.iter().map(|column| column.values()).sum();
    if items > MAX_UNIVERSE as usize {
        return Err(Error::argument(
            format!("the columns have {items} values"),
            format!("There are at most {MAX_UNIVERSE} items: name fewer columns."),
        ));
    }
    Ok(source)
}

const CELLS_AS_ITEMS: Method = Method {
    name: "transactions",
    arguments: &[&RELATION, &COLUMNS],
    returns: Returns::Table(&[("items", Type::Ints)]),
    run: |call| {
        let source = items_of_cells(call)?;
        // Nothing is drawn where NULL is a value.
        let bag = source.read(&mut coins(None)?)?;
        let mut firsts = Vec::with_capacity(source.columns.len());
        let mut first = 1;
        for column in &source.columns {
            firsts.push(first);
            first += column.values() as u32;
        }
        let mut rows = ResultRows::begin(call)?;
        let mut items = Vec::with_capacity(firsts.len());
        for (i, &weight) in bag.weights().iter().enumerate() {
            items.clear();
            let cells = bag.row(i).iter().zip(&firsts).filter(|&(&code, _)| code != NONE);
            items.extend(cells.map(|(code, first)| (first + code) as i32));
            for _ in 0..weight {
                rows.push([Value::IntArray(&items)]);
            }
        }
        Ok(rows.finish(call))
    },
    label: None,
    price: None,
};

const TRANSACTION_ITEMS: Method = Method {
    name: "transaction_items",
    arguments: &[&RELATION, &COLUMNS],
    returns: Returns::Table(&[
        ("item", Type::Int4),
        ("column_name", Type::Text),
        ("value", Type::Text),
    ]),
    run: |call| {
        let source = items_of_cells(call)?;
        let mut rows = ResultRows::begin(call)?;
        let mut item = 0;
        for column in &source.columns {
            let name = from_utf8(&column.name);
            for place in 0..column.values() {
                item += 1;
                let value = match &column.public {
                    Public::Values(values) => values[place].clone(),
                    Public::Range { low, high, bins } => {
                        format!("part {} of {} from {low} to {high}", place + 1, bins.count())
                    }
                };
                rows.push([
                    Value::Int(item),
                    Value::Text(&name),
                    Value::Text(&from_utf8(&value)),
                ]);
            }
        }
        Ok(rows.finish(call))
    },
    label: None,
    price: None,
};

methods! {
    sanitize_select_a_size_design => SELECT_A_SIZE_DESIGN;
    sanitize_select_a_size_keep => SELECT_A_SIZE_KEEP;
    sanitize_select_a_size => SELECT_A_SIZE;
    sanitize_select_a_size_matrix => SELECT_A_SIZE_MATRIX;
    sanitize_estimate_support => ESTIMATE_SUPPORT;
    sanitize_randomized_itemsets => RANDOMIZED_ITEMSETS;
    sanitize_seed_bits => SEED_BITS;
    sanitize_randomize_to_seed => RANDOMIZE_TO_SEED;
    sanitize_seed_contains => SEED_CONTAINS;
    sanitize_seed_items => SEED_ITEMS;
    sanitize_transactions => CELLS_AS_ITEMS;
    sanitize_transaction_items => TRANSACTION_ITEMS;
}
