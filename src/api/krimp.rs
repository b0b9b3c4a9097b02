//! Krimp: the patterns that describe a table in few bits.

use super::input::{Input, max_length, min_support, source};
use crate::pg::call::{Call, sql_function};
use crate::pg::error::Error;
use crate::pg::jsonb::ItemsetJson;
use crate::pg::pool;
use crate::pg::relation::positions;
use crate::pg::rowset::{ResultRows, Value};
use crate::pg::text;
use krimp::{Candidates, CodeTable, Forbidden, Options, Progress};
use pgrx::JsonB;
use pgrx::pg_sys::Datum;
use serde_json::Value as Json;
use table::Item;

impl From<krimp::Error> for Error {
    fn from(error: krimp::Error) -> Self {
        let message = error.to_string();
        match error {
            krimp::Error::Stop(stop) => stop.into(),
            krimp::Error::TooWide { .. } => Error::argument(message, "Name fewer columns."),
            krimp::Error::Encoding { .. } => {
                Error::argument(message, "Leave the column out, or convert the database to UTF-8.")
            }
            krimp::Error::Model(_) => Error::argument(
                message,
                "Make models with sanitize.krimp_model and keep them unchanged.",
            ),
            krimp::Error::Columns(_) => {
                Error::argument(message, "Use the model on a relation with the same columns.")
            }
            krimp::Error::Laplace { .. } => Error::argument(message, "Give a number above 0."),
        }
    }
}

/// The argument candidates: which frequent itemsets may become patterns.
fn candidates(call: &Call, i: usize) -> Result<Candidates, Error> {
    match call.value::<String>(i, "candidates")?.as_str() {
        "all" => Ok(Candidates::All),
        "closed" => Ok(Candidates::Closed),
        kind => Err(Error::argument(
            format!("candidates is \"{kind}\""),
            "candidates is 'all' or 'closed'.",
        )),
    }
}

/// The argument forbidden: an array of column lists and itemsets that no pattern may contain.
fn forbidden(call: &Call, i: usize, input: &Input) -> Result<Vec<Forbidden>, Error> {
    let Some(JsonB(forbidden)) = call.optional(i) else { return Ok(Vec::new()) };
    let refuse = |what: &Json| {
        Error::argument(
            format!("forbidden has {what}"),
            "forbidden is an array of column lists and itemsets: [[\"zip\", \"age\"], {\"sex\": \"F\"}].",
        )
    };
    let names: Vec<&str> = input.bag.domains().iter().map(|d| d.name()).collect();
    let column = |name: &str| {
        let found = positions(&input.name, &names, "forbidden", Some(&[name.to_string()]))?;
        Ok::<u32, Error>(found[0] as u32)
    };
    let mut found = Vec::new();
    for part in forbidden.as_array().ok_or_else(|| refuse(&forbidden))? {
        match part {
            Json::Array(list) if !list.is_empty() => {
                let mut columns = Vec::with_capacity(list.len());
                for name in list {
                    columns.push(column(name.as_str().ok_or_else(|| refuse(part))?)?);
                }
                found.push(Forbidden::Columns(columns));
            }
            Json::Object(itemset) if !itemset.is_empty() => {
                let mut items = Some(Vec::with_capacity(itemset.len()));
                for (name, value) in itemset {
                    let column = column(name)?;
                    let value = value.as_str().ok_or_else(|| refuse(part))?;
                    // A value that does not occur makes an itemset that no pattern contains.
                    let code = input.bag.domain(column as usize).find(&text::from_utf8(value));
                    items = items.zip(code).map(|(mut items, code)| {
                        items.push(Item { column, code });
                        items
                    });
                }
                found.extend(items.map(Forbidden::Items));
            }
            other => return Err(refuse(other)),
        }
    }
    Ok(found)
}

/// The source of argument 0 and the code table that the arguments after it ask for.
fn fit(call: &Call) -> Result<(Input, Options, CodeTable), Error> {
    let mut options = Options::new(min_support(call, 1)?);
    options.max_length = max_length(call, 3)?;
    options.candidates = candidates(call, 4)?;
    options.prune = call.value(6, "prune")?;
    let input = source(call, 2)?.with_rows()?;
    options.forbidden = forbidden(call, 5, &input)?;
    let progress = Progress::new();
    let tell = |_: &_| {
        let now = progress.snapshot();
        let percent = now.ratio * 100.0;
        format!(
            "{} candidates seen, {} accepted, {percent:.1} % of the size",
            now.seen, now.accepted
        )
    };
    let bag = &input.bag;
    let table = pool::run_telling("fitting", bag.memory(), tell, |watch| {
        match krimp::fit(bag, &options, watch, &progress) {
            Err(krimp::Error::Stop(stop)) => Err(stop),
            fitted => Ok(fitted),
        }
    })??;
    Ok((input, options, table))
}

fn krimp_codetable(call: &Call) -> Result<Datum, Error> {
    let (input, _, table) = fit(call)?;
    let mut rows = ResultRows::begin(call)?;
    let json = ItemsetJson::new(&input.bag);
    for (rank, element) in table.elements.iter().enumerate() {
        rows.push([
            Value::Int(rank as i32 + 1),
            Value::Made(&|| json.datum(&element.items)),
            Value::Int(element.items.len() as i32),
            Value::count(element.support),
            Value::count(element.usage),
            element.code_length.map_or(Value::Null, Value::Float),
        ]);
    }
    Ok(rows.finish(call))
}

sql_function!(sanitize_krimp_codetable, krimp_codetable);
