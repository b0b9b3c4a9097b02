//! The arguments that several functions share.

use crate::pg::call::argument::{Argument, Given, Source, Type};
use crate::pg::call::error::Error;
use pgrx::pg_sys::Oid;
use random::Coins;
use serde_json::Value as Json;
use table::Choice;

/// A relation, its name or a bag.
pub const SOURCE: Argument<Source> = Argument {
    name: "source",
    of: Type::Source,
    default: None,
    about: "The relation to read, or a bag.",
    read: |given| given.source(),
};

/// A relation that is read.
pub const RELATION: Argument<Oid> = Argument {
    name: "source",
    of: Type::Relation,
    default: None,
    about: "The relation to read.",
    read: relation,
};

/// A relation by its row type, which is the type of the result too.
pub const ROWS_OF: Argument<Oid> = Argument {
    name: "source",
    of: Type::Any,
    default: None,
    about: "The relation to read, as a NULL of its row type: NULL::patients.",
    read: |given| Ok(given.type_oid()),
};

pub const COLUMNS: Argument<Option<Vec<String>>> = Argument {
    name: "columns",
    of: Type::Texts,
    default: Some("null"),
    about: "The columns that take part; all if it is left out.",
    read: names,
};

pub const KEEP: Argument<Option<Vec<String>>> = Argument {
    name: "keep",
    of: Type::Texts,
    default: Some("null"),
    about: "Columns that come back as they are, unprotected.",
    read: names,
};

pub const THETA: Argument<u64> = Argument {
    name: "theta",
    of: Type::Int4,
    default: None,
    about: "How many rows may share a combination that still counts as standing out.",
    read: |given| {
        let theta = given.needed(given.int4()?)?;
        u64::try_from(theta).map_err(|_| {
            given.refuse(theta, "theta is a number of rows: 0 or more. Combinations that at most theta rows share are found.")
        })
    },
};

pub const K: Argument<u64> = Argument {
    name: "k",
    of: Type::Int4,
    default: None,
    about: "How many rows must look alike.",
    read: |given| match given.needed(given.int4()?)? {
        k if k >= 2 => Ok(k as u64),
        k => Err(given.refuse(k, "k is the number of rows that must look alike: 2 or more.")),
    },
};

pub const MIN_SUPPORT: Argument<u64> = Argument {
    name: "min_support",
    of: Type::Int8,
    default: None,
    about: "How many rows must share what counts as frequent.",
    read: |given| match given.needed(given.int8()?)? {
        rows if rows >= 1 => Ok(rows as u64),
        rows => Err(given.refuse(rows, "min_support is a number of rows: 1 or more.")),
    },
};

pub const MAX_LENGTH: Argument<Option<usize>> = Argument {
    name: "max_length",
    of: Type::Int4,
    default: Some("null"),
    about: "The longest combinations that are looked at, in columns; no limit if it is left out.",
    read: |given| match given.int4()? {
        None => Ok(None),
        Some(length) if length >= 1 => Ok(Some(length as usize)),
        Some(length) => Err(given.refuse(
            length,
            "max_length is a number of columns: 1 or more. Leave it out for no limit.",
        )),
    },
};

pub const N: Argument<u64> = Argument {
    name: "n",
    of: Type::Int8,
    default: None,
    about: "How many rows are wanted.",
    read: |given| {
        let n = given.needed(given.int8()?)?;
        u64::try_from(n).map_err(|_| given.refuse(n, "n is a number of rows: 0 or more."))
    },
};

pub const CLASS: Argument<Option<String>> = Argument {
    name: "class",
    of: Type::Text,
    default: Some("null"),
    about: "A column by whose values rows are modelled and drawn apart.",
    read: |given| given.text(),
};

pub const SEED: Argument<Option<i64>> = Argument {
    name: "seed",
    of: Type::Int8,
    default: Some("null"),
    about: "Makes the draw repeatable; without it coins come from the operating system.",
    read: |given| given.int8(),
};

pub const RELEASED: Argument<Oid> = Argument {
    name: "released",
    of: Type::Relation,
    default: None,
    about: "The table that is published.",
    read: relation,
};

pub const ORIGINAL: Argument<Oid> = Argument {
    name: "original",
    of: Type::Relation,
    default: None,
    about: "The table that it was made from.",
    read: relation,
};

pub const SAMPLES: Argument<u64> = Argument {
    name: "samples",
    of: Type::Int4,
    default: Some("10000"),
    about: "How many itemsets to try.",
    read: |given| {
        let samples = given.needed(given.int4()?)?;
        u64::try_from(samples).ok().filter(|&samples| samples > 0).ok_or_else(|| {
            given.refuse(samples, "samples is the number of itemsets to try: 1 or more.")
        })
    },
};

pub const EPSILON: Argument<f64> = Argument {
    name: "epsilon",
    of: Type::Float8,
    default: None,
    about: "How much the answer may tell about one unit: the smaller, the less.",
    read: number,
};

pub const DELTA: Argument<f64> = Argument {
    name: "delta",
    of: Type::Float8,
    default: None,
    about: "The chance with which epsilon may be passed.",
    read: number,
};

/// The coins that a seed asks for.
pub fn coins(seed: Option<i64>) -> Result<Coins, Error> {
    Ok(Coins::new(seed)?)
}

/// Where the coins come from that a seed asks for, as labels have it.
pub fn coins_of(seed: Option<i64>) -> random::Source {
    if seed.is_some() { random::Source::Seeded } else { random::Source::Os }
}

pub fn relation(given: &Given<'_>) -> Result<Oid, Error> {
    given.needed(given.relation()?)
}

pub fn number(given: &Given<'_>) -> Result<f64, Error> {
    given.needed(given.float8()?)
}

pub fn yes_or_no(given: &Given<'_>) -> Result<bool, Error> {
    given.needed(given.bool()?)
}

pub fn text(given: &Given<'_>) -> Result<String, Error> {
    given.needed(given.text()?)
}

/// A list of column names.
pub fn names(given: &Given<'_>) -> Result<Option<Vec<String>>, Error> {
    let Some(names) = given.texts()? else { return Ok(None) };
    let argument = given.name();
    if names.is_empty() {
        return Err(Error::argument(
            format!("{argument} is an empty list"),
            format!("Leave {argument} out or name at least one column."),
        ));
    }
    let names: Option<Vec<String>> = names.into_iter().collect();
    names.map(Some).ok_or_else(|| {
        Error::argument(format!("{argument} contains NULL"), "Give every column by its name.")
    })
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

/// One of several names.
pub fn choice<C: Choice>(given: &Given<'_>) -> Result<C, Error> {
    let name = text(given)?;
    C::named(&name).ok_or_else(|| {
        given.refuse(format_args!("\"{name}\""), format!("{} is {}.", given.name(), C::list()))
    })
}
