//! The arguments that several functions share.

use crate::pg::call::argument::{Argument, Arguments, Given, Source, Type};
use crate::pg::call::array::Numbers;
use crate::pg::call::error::Error;
use crate::pg::call::text::from_utf8;
use crate::pg::catalog::relation::{Relation, positions};
use crate::rules::counted::{self, Unit};
use pgrx::pg_sys::Oid;
use random::Coins;
use serde_json::{Map, Value as Json};
use std::borrow::Cow;
use table::{Bag, Item};

/// A relation, its name or a bag.
pub const SOURCE: Argument<Source> = Argument::new("source", Type::Source, |given| given.source())
    .about("The relation to read, or a bag.");

/// A relation that is read.
pub const RELATION: Argument<Oid> = Argument::of("source").about("The relation to read.");

/// A relation by its row type, which is the type of the result too.
pub const ROWS_OF: Argument<Oid> = Argument::new("source", Type::Any, |given| Ok(given.type_oid()))
    .about("The relation to read, as a NULL of its row type: NULL::patients.");

pub const COLUMNS: Argument<Option<Vec<String>>> =
    Argument::of("columns").about("The columns that take part; all if it is left out.");

pub const KEEP: Argument<Option<Vec<String>>> =
    Argument::of("keep").about("Columns that come back as they are, unprotected.");

/// Whose rows these are, of methods that can count people.
pub const UNIT: Argument<Option<String>> = Argument::of("unit").about(
    "The people whose rows these are: a column, or a path along foreign keys (stay_id.patient_id). Left out: the unit of the relation's protection, if it is protected. '': rows count.",
);

/// The unit of the rows of a relation that a call counts; `None`: rows. A method without such an argument counts rows.
pub fn counted_unit(arguments: &Arguments<'_>, relation: &Relation) -> Result<Option<Unit>, Error> {
    match arguments.declares(&UNIT) {
        true => counted::unit(relation, arguments.get(&UNIT)?.as_deref()),
        false => Ok(None),
    }
}

pub const THETA: Argument<u64> = Argument::new("theta", Type::Int4, |given| {
    given.at_least(0, "theta is a number of rows: 0 or more. Combinations that at most theta rows share are found.")
})
.about("How many rows may share a combination that still counts as standing out.");

pub const K: Argument<u64> = Argument::new("k", Type::Int4, |given| {
    given.at_least(2, "k is the number of rows that must look alike: 2 or more.")
})
.about("How many rows must look alike.");

pub const MIN_SUPPORT: Argument<u64> = Argument::new("min_support", Type::Int8, |given| {
    given.at_least(1, "min_support is a number of rows: 1 or more.")
})
.about("How many rows must share what counts as frequent.");

pub const MAX_LENGTH: Argument<Option<usize>> =
    Argument::optional("max_length", Type::Int4, |given| {
        given.if_given(|given| {
            given.at_least(
                1,
                "max_length is a number of columns: 1 or more. Leave it out for no limit.",
            )
        })
    })
    .about("The longest combinations that are looked at, in columns; no limit if it is left out.");

pub const N: Argument<u64> =
    Argument::new("n", Type::Int8, |given| given.at_least(0, "n is a number of rows: 0 or more."))
        .about("How many rows are wanted.");

pub const CLASS: Argument<Option<String>> =
    Argument::of("class").about("A column by whose values rows are modelled and drawn apart.");

pub const SEED: Argument<Option<i64>> = Argument::of("seed")
    .about("Makes the draw repeatable; without it coins come from the operating system.");

/// A share of the rows that has to be given.
pub const MIN_SHARE: Argument<f64> = Argument::new("min_share", Type::Float8, |given| {
    given.fitting(
        |share: f64| share > 0.0 && share <= 1.0,
        "min_share is a share of the rows: more than 0 and at most 1.",
    )
})
.about("The share of the rows that must have what counts as frequent.");

/// The same with a default of a tenth.
pub const MIN_SHARE_OR_TENTH: Argument<f64> = MIN_SHARE.or("0.1");

pub const RELEASED: Argument<Oid> = Argument::of("released").about("The table that is published.");

pub const ORIGINAL: Argument<Oid> =
    Argument::of("original").about("The table that it was made from.");

pub const SAMPLES: Argument<u64> = Argument::new("samples", Type::Int4, |given| {
    given.at_least(1, "samples is the number of itemsets to try: 1 or more.")
})
.or("10000")
.about("How many itemsets to try.");

pub const EPSILON: Argument<f64> = Argument::of("epsilon")
    .about("How much the answer may tell about one unit: the smaller, the less.");

pub const DELTA: Argument<f64> =
    Argument::of("delta").about("The chance with which epsilon may be passed.");

/// The random generator for a seed.
pub fn coins(seed: Option<i64>) -> Result<Coins, Error> {
    Ok(Coins::new(seed)?)
}

/// The source of randomness for a seed, as labels state it.
pub fn coins_of(seed: Option<i64>) -> random::Source {
    if seed.is_some() { random::Source::Seeded } else { random::Source::Os }
}

/// The place of a column among these of a relation.
pub fn place(relation: &str, columns: &[&str], name: &str) -> Result<usize, Error> {
    Ok(positions(relation, columns, "columns", Some(&[name.to_string()]))?[0])
}

/// A list of numbers that has to be given.
pub fn number_list<T>(
    given: &Given<'_>,
    numbers: Option<Numbers<T>>,
    hint: &str,
) -> Result<Vec<T>, Error> {
    given.needed(numbers)?.vector().map_err(|what| given.refuse(what, hint))
}

/// An object of something by column name, which may be left out.
pub fn by_column_name(given: &Given<'_>, hint: &str) -> Result<Option<Map<String, Json>>, Error> {
    match given.json()?.map(Cow::into_owned) {
        None => Ok(None),
        Some(Json::Object(named)) => Ok(Some(named)),
        Some(_) => Err(Error::argument(format!("{} is no object", given.name()), hint)),
    }
}

/// The columns of an itemset and the text of its value in each.
pub type NamedItemset = Vec<(String, String)>;

/// A list of itemsets.
pub fn itemsets(given: &Given<'_>) -> Result<Option<Vec<NamedItemset>>, Error> {
    let refuse = |what: &Json| {
        let name = given.name();
        Error::argument(
            format!("{name} has {what}"),
            format!(
                "{name} is an array of itemsets: [{{\"sex\": \"m\", \"ward\": \"obstetrics\"}}]; values are texts as Postgres shows them."
            ),
        )
    };
    let Some(itemsets) = given.json()? else { return Ok(None) };
    let itemset = |itemset: &Json| {
        let items = itemset.as_object().filter(|items| !items.is_empty());
        let item =
            |(column, value): (&String, &Json)| Some((column.clone(), value.as_str()?.to_string()));
        let items = items.and_then(|items| items.iter().map(item).collect());
        items.ok_or_else(|| refuse(itemset))
    };
    let itemsets = itemsets.as_array().ok_or_else(|| refuse(&itemsets))?.iter();
    itemsets.map(itemset).collect::<Result<_, _>>().map(Some)
}

/// A combination that an argument names: columns by their places, or an itemset by the places and the texts.
pub enum Combination {
    Columns(Vec<u32>),
    Items(Vec<(u32, String)>),
}

/// A list of combinations of these columns of a relation.
pub fn combinations(
    argument: &str,
    list: &Json,
    hint: &str,
    (relation, names): (&str, &[&str]),
) -> Result<Vec<Combination>, Error> {
    let refuse = |what: &Json| Error::argument(format!("{argument} has {what}"), hint);
    let column = |name: &str| Ok::<_, Error>(place(relation, names, name)? as u32);
    let combination = |one: &Json| match one {
        Json::Array(columns) if !columns.is_empty() => {
            let columns =
                columns.iter().map(|name| column(name.as_str().ok_or_else(|| refuse(one))?));
            Ok(Combination::Columns(columns.collect::<Result<_, _>>()?))
        }
        Json::Object(itemset) if !itemset.is_empty() => {
            let item = |(name, value): (&String, &Json)| {
                let value = value.as_str().ok_or_else(|| refuse(one))?;
                Ok((column(name)?, value.to_string()))
            };
            Ok(Combination::Items(itemset.iter().map(item).collect::<Result<_, Error>>()?))
        }
        other => Err(refuse(other)),
    };
    list.as_array().ok_or_else(|| refuse(list))?.iter().map(combination).collect()
}

/// Combinations in the codes of a bag, without those that have a value which does not occur, because no row contains
/// them.
pub fn coded<T>(
    combinations: Vec<Combination>,
    bag: &Bag,
    columns: fn(Vec<u32>) -> T,
    items: fn(Vec<Item>) -> T,
) -> impl Iterator<Item = T> {
    let item = |(column, value): (u32, String)| {
        let code = bag.domain(column as usize).find(&from_utf8(&value))?;
        Some(Item { column, code })
    };
    combinations.into_iter().filter_map(move |one| match one {
        Combination::Columns(of) => Some(columns(of)),
        Combination::Items(of) => of.into_iter().map(item).collect::<Option<_>>().map(items),
    })
}
