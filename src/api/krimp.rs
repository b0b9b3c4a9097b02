//! Krimp: the patterns that describe a table in few bits.

use super::compare::Pair;
use super::fit::{Places, fit, forbidden, nulls, options, run};
use super::input::{Input, source};
use crate::pg::call::{Call, sql_function};
use crate::pg::error::Error;
use crate::pg::jsonb::{self, ItemsetJson};
use crate::pg::relation::Relation;
use crate::pg::rowset::{ResultRows, Value};
use crate::pg::{reader, text};
use krimp::{CodeTable, Model, Options};
use pgrx::IntoDatum;
use pgrx::pg_sys::{self, Datum};
use table::Bag;

/// Where `krimp_codetable` and `krimp_model` have their arguments.
const PLACES: Places =
    Places { min_support: 1, max_length: 3, candidates: 4, prune: Some(6), max_time: 7 };

/// The source of argument 0 and the code table that the arguments after it ask for.
fn fitted(call: &Call, mut options: Options) -> Result<(Input, Options, CodeTable), Error> {
    let input = source(call, 2)?.with_rows()?;
    options.forbidden = forbidden(call, 5, &input.name, &input.bag)?;
    let table = fit(&input.bag, input.bag.memory(), &options)?;
    Ok((input, options, table))
}

fn krimp_codetable(call: &Call) -> Result<Datum, Error> {
    let (input, _, table) = fitted(call, options(call, &PLACES)?)?;
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

fn krimp_model(call: &Call) -> Result<Datum, Error> {
    let options = Options { nulls: nulls(call, 8)?, ..options(call, &PLACES)? };
    let (input, options, table) = fitted(call, options)?;
    jsonb::datum(&Model::new(&table, &input.bag, &options, text::decode)?.to_json())
}

/// Argument `i`, a model.
pub fn model(call: &Call, i: usize) -> Result<Model, Error> {
    let model = jsonb::argument(call, i, "model")?.ok_or(Error::Null { argument: "model" })?;
    Ok(Model::from_json(&model)?)
}

/// The columns of a model in the relation of argument `i`.
pub fn modelled(call: &Call, i: usize, model: &Model) -> Result<Bag, Error> {
    let relation = Relation::open(call.value::<pg_sys::Oid>(i, "source")?)?;
    let names: Vec<String> = model.columns().iter().map(|column| column.name.clone()).collect();
    let columns = relation.positions("model", Some(&names))?;
    Ok(reader::read(&relation, &columns)?.bag)
}

/// What progress notices say meanwhile.
fn encoding() -> String {
    "rows are covered".into()
}

fn krimp_size(call: &Call) -> Result<Datum, Error> {
    let model = model(call, 0)?;
    let bag = modelled(call, 1, &model)?;
    let encoded =
        run("encoding", bag.memory(), encoding, |watch| krimp::encode(&model, &bag, watch))??;
    let sizes = encoded.sizes;
    let mut rows = ResultRows::begin(call)?;
    rows.push([
        Value::Float(sizes.data_bits),
        Value::Float(sizes.model_bits),
        Value::Float(sizes.total_bits),
        Value::Float(sizes.standard_bits),
        Value::Float(sizes.ratio),
    ]);
    Ok(rows.finish(call))
}

fn krimp_dissimilarity(call: &Call) -> Result<Datum, Error> {
    const PLACES: Places =
        Places { min_support: 2, max_length: 4, candidates: 5, prune: None, max_time: 6 };
    let options = options(call, &PLACES)?;
    let names = call.names(3, "columns")?;
    let pair = Pair::read(call.value(1, "b")?, call.value(0, "a")?, names.as_deref())?;
    let (a, b) = (&pair.original.bag, &pair.released.bag);
    let held = a.memory() + b.memory();
    let model =
        |bag| Ok::<_, Error>(Model::new(&fit(bag, held, &options)?, bag, &options, text::decode)?);
    let (model_a, model_b) = (model(a)?, model(b)?);
    let found = run("encoding", held, encoding, |watch| {
        krimp::dissimilarity((&model_a, a), (&model_b, b), watch)
    })??;
    Ok(found.value.and_then(IntoDatum::into_datum).unwrap_or_else(|| call.null()))
}

sql_function!(sanitize_krimp_codetable, krimp_codetable);
sql_function!(sanitize_krimp_model, krimp_model);
sql_function!(sanitize_krimp_size, krimp_size);
sql_function!(sanitize_krimp_dissimilarity, krimp_dissimilarity);
