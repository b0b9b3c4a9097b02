//! Differentially private releases, and the arithmetic behind them.

use super::input::{k, max_length};
use super::typed_source::TypedSource;
use super::{budget, ledger};
use crate::pg::call::{Call, sql_function};
use crate::pg::error::Error;
use crate::pg::relation::{Relation, positions};
use crate::pg::rowset::{ResultRows, Value};
use crate::pg::{jsonb, text, typed};
use dp::{Coins, Method, Plan, Public, Request, Rule, Rules, Scheme};
use pgrx::pg_sys::{self, Datum};
use serde_json::Value as Json;
use table::{Bag, Item};

impl From<dp::Error> for Error {
    fn from(error: dp::Error) -> Self {
        let message = error.to_string();
        match error {
            dp::Error::Stop(stop) => stop.into(),
            dp::Error::Argument { name, .. } => {
                Error::argument(message, format!("Give another value for {name}."))
            }
            dp::Error::Infeasible { .. } => Error::argument(message, "Raise epsilon, delta or k."),
            dp::Error::Entropy(_) => Error::NoEntropy { what: message },
        }
    }
}

fn dp_mii_parameters(call: &Call) -> Result<Datum, Error> {
    let epsilon = call.value::<f64>(0, "epsilon")?;
    let delta = call.value::<f64>(1, "delta")?;
    let k = k(call, 2)?;
    let split = call.value::<f64>(3, "split")?;
    let method = match call.text(4, "method")?.as_str() {
        "exact" => Method::Exact,
        "li" => Method::Li,
        method => {
            return Err(Error::argument(
                format!("method is \"{method}\""),
                "method is 'exact' or 'li'.",
            ));
        }
    };
    let found = dp::parameters(epsilon, delta, k, split, method)?;
    let mut rows = ResultRows::begin(call)?;
    rows.push([
        Value::Float(found.beta.get()),
        Value::Int(i32::try_from(found.theta1).unwrap_or(i32::MAX)),
        Value::Float(found.delta),
        Value::Float(found.delta_li),
    ]);
    Ok(rows.finish(call))
}

fn sampling_delta(call: &Call) -> Result<Datum, Error> {
    let k = call.value::<i32>(0, "k")?;
    let k = u64::try_from(k).ok().filter(|&k| k >= 1).ok_or_else(|| {
        Error::argument(format!("k is {k}"), "k is a number of sampled rows: 1 or more.")
    })?;
    let beta = call.value::<f64>(1, "beta")?;
    let epsilon = call.value::<f64>(2, "epsilon")?;
    let found = dp::sampling_delta(k, beta, epsilon)?;
    let mut rows = ResultRows::begin(call)?;
    rows.push([Value::Float(found.delta), Value::Float(found.delta_li)]);
    Ok(rows.finish(call))
}

/// The scheme of a name; without one, what is public decides.
pub fn scheme(name: Option<&str>, is_public: bool) -> Result<Scheme, Error> {
    match name {
        None if is_public => Ok(Scheme::Public),
        None => Ok(Scheme::DpCounts),
        Some(name) => Scheme::parse(name).ok_or_else(|| {
            Error::argument(
                format!("scheme is \"{name}\""),
                "scheme is 'public', 'dp_counts', 'dp_split', 'dp_select' or 'paper'.",
            )
        }),
    }
}

/// The numbers of the arguments of dp_mii_sample.
mod place {
    pub const EPSILON: usize = 1;
    pub const DELTA: usize = 2;
    pub const K: usize = 3;
    pub const SCHEME: usize = 4;
    pub const PUBLIC_SOURCE: usize = 5;
    pub const SPLIT: usize = 6;
    pub const MAX_LENGTH: usize = 7;
    pub const COLUMNS: usize = 8;
    pub const KEEP: usize = 9;
    pub const SEED: usize = 10;
    pub const THETA1: usize = 11;
    pub const RULES: usize = 12;
}

/// What is asked for, of one column.
fn request(call: &Call, scheme: Scheme) -> Result<Request, Error> {
    let theta1 = call.optional::<i32>(place::THETA1).map(|theta1| {
        u64::try_from(theta1).map_err(|_| {
            Error::argument(
                format!("theta1 is {theta1}"),
                "theta1 is a number of rows: 0 or more. Combinations that at most theta1 rows share are rare.",
            )
        })
    });
    Ok(Request {
        scheme,
        epsilon: call.value(place::EPSILON, "epsilon")?,
        delta: call.value(place::DELTA, "delta")?,
        k: k(call, place::K)?,
        split: call.value(place::SPLIT, "split")?,
        max_length: max_length(call, place::MAX_LENGTH)?.or(scheme.usual_length()),
        columns: 1,
        theta1: theta1.transpose()?,
    })
}

/// Refuses public knowledge that the scheme does not use, and a threshold for a table that is not there.
fn check_public(request: &Request, table: bool, rules: bool) -> Result<(), Error> {
    let is_public = request.scheme == Scheme::Public;
    if is_public != (table || rules) {
        return Err(Error::argument(
            format!(
                "scheme is '{}' and {}",
                request.scheme.name(),
                match (table, rules) {
                    (true, _) => "public_source is given",
                    (_, true) => "rules are given",
                    _ => "neither public_source nor rules are given",
                }
            ),
            "Scheme 'public' takes its rare combinations from public_source, from rules or from both; the others take neither.",
        ));
    }
    if is_public && !table && request.theta1.is_some() {
        return Err(Error::argument(
            "theta1 is given, but public_source is not",
            "theta1 says up to how many rows of public_source are rare; rules need none.",
        ));
    }
    Ok(())
}

/// Refuses to release rows of a protected relation in a way that guarantees nothing: the ledger would
/// be told a cost that is not the cost.
fn check_protected(call: &Call, relation: &Relation, scheme: Scheme) -> Result<(), Error> {
    let unprotected = if scheme == Scheme::Paper {
        "scheme 'paper'"
    } else if call.datum(place::KEEP).is_some() {
        "keep"
    } else if call.datum(place::SEED).is_some() {
        "seed"
    } else {
        return Ok(());
    };
    if budget::terms(relation.oid)?.is_none() {
        return Ok(());
    }
    Err(Error::argument(
        format!("{} is protected, and a sample with {unprotected} protects nobody", relation.name),
        "Leave out keep and seed, and take another scheme than 'paper'.",
    ))
}

const RULES: &str = "rules is an array of itemsets and column lists: [{\"zip\": \"1017\", \"sex\": \"F\"}, [\"zip\", \"job\"]]; values are texts as Postgres shows them.";

/// Rules in the codes of the bag; a value that it does not have makes a rule that nothing meets.
fn rules(list: &Json, relation: &str, bag: &Bag) -> Result<Rules, Error> {
    let refuse = |what: &Json| Error::argument(format!("rules has {what}"), RULES);
    let names: Vec<&str> = bag.domains().iter().map(|domain| domain.name()).collect();
    let column = |name: &str| -> Result<u32, Error> {
        Ok(positions(relation, &names, "rules", Some(&[name.to_string()]))?[0] as u32)
    };
    let mut found = Vec::new();
    for rule in list.as_array().ok_or_else(|| refuse(list))? {
        match rule {
            Json::Array(columns) if !columns.is_empty() => {
                let columns =
                    columns.iter().map(|name| column(name.as_str().ok_or_else(|| refuse(rule))?));
                found.push(Rule::Columns(columns.collect::<Result<_, _>>()?));
            }
            Json::Object(itemset) if !itemset.is_empty() => {
                let mut items = Some(Vec::with_capacity(itemset.len()));
                for (name, value) in itemset {
                    let column = column(name)?;
                    let value = value.as_str().ok_or_else(|| refuse(rule))?;
                    let code = bag.domain(column as usize).find(&text::from_utf8(value));
                    if let (Some(items), Some(code)) = (&mut items, code) {
                        items.push(Item { column, code });
                    } else {
                        items = None;
                    }
                }
                found.extend(items.map(Rule::Items));
            }
            other => return Err(refuse(other)),
        }
    }
    Ok(Rules::new(found))
}

fn dp_mii_sample(call: &Call) -> Result<Datum, Error> {
    let public_source = call.optional::<pg_sys::Oid>(place::PUBLIC_SOURCE);
    let listed = jsonb::argument(call, place::RULES, "rules")?;
    let name = call.optional_text(place::SCHEME);
    let scheme = scheme(name.as_deref(), public_source.is_some() || listed.is_some())?;
    let mut request = request(call, scheme)?;
    // All that can be refused without the data is refused before it is read.
    Plan::new(request)?;
    check_public(&request, public_source.is_some(), listed.is_some())?;
    let relation = typed::relation(call, 0)?;
    check_protected(call, &relation, scheme)?;

    let mut source = TypedSource::read(call, place::COLUMNS, Some(place::KEEP))?;
    request.columns = source.bag().width();
    let plan = Plan::new(request)?;
    if matches!(scheme, Scheme::DpCounts | Scheme::DpSplit) {
        source = source.within_public_domains()?;
    }
    let table = public_source.map(|oid| source.same_columns(oid)).transpose()?;
    let bag = source.bag();
    let rules = listed.map(|list| rules(&list, &relation.name, bag)).transpose()?;
    if let Some(charge) = plan.charge() {
        ledger::charge_for_rows(&relation, "dp_mii_sample", &charge)?;
    }
    let mut coins = Coins::new(call.optional::<i64>(place::SEED))?;
    let public = Public { table: table.as_ref(), rules: rules.as_ref() };
    let released = source.run("sampling", |bag, watch| {
        match dp::sample(bag, &plan, public, &mut coins, watch) {
            Err(dp::Error::Stop(stop)) => Err(stop),
            drawn => Ok(drawn),
        }
    })??;
    source.release(call, released)
}

sql_function!(sanitize_dp_mii_sample, dp_mii_sample);
sql_function!(sanitize_dp_mii_parameters, dp_mii_parameters);
sql_function!(sanitize_sampling_delta, sampling_delta);
