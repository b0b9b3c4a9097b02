//! Synthetic tables from noisy marginals.

use super::synthesizer::Synthesizer;
use crate::api::prelude::*;
use crate::api::shared::drawing::draw_rows;
use crate::pg::write::typed;
use crate::rules::public_source::{PublicColumn, PublicValues};
use crate::rules::terms;
use crate::rules::unit;
use question::Terms;
use random::within_decimal;
use synth::{RowDrawer, SynthesisRequest, UnitBag};

const DELTA: Argument<f64> = Argument::of("delta")
    .or("1e-9")
    .about("The chance with which epsilon may be passed: above 0, as the noise is Gaussian.");

/// `None`: a noisy number of rows.
const ROWS: Argument<Option<u64>> = Argument::optional("n", Type::Int8, |given| {
    given.if_given(|given| given.at_least(0, "n is a number of rows: 0 or more."))
})
.about("How many rows are wanted; a noisy number of those that there are if it is left out.");

/// The column sets that matter more; they are resolved once the columns are known.
const WORKLOAD: Argument<Option<Json>> = Argument::of("workload")
    .about("Column sets that matter more: {\"columns\": [[\"age\", \"sex\"]], \"weights\": [5]}.");

const MODEL: Argument<Json> = Argument::of("model").about("A model of dp_synthesizer.");

const WORKLOAD_HINT: &str = "workload is {\"columns\": [[\"age\", \"sex\"], …], \"weights\": [2, …]}: sets of columns, and a number above 0 for each (1 if weights are left out).";

/// The column sets of a workload, by their places among the columns that take part.
fn workload(
    given: Option<&Json>,
    relation: &str,
    columns: &[PublicColumn],
) -> Result<Vec<(Vec<usize>, f64)>> {
    let Some(given) = given else { return Ok(Vec::new()) };
    let refuse = |what: &Json| Error::argument(format!("workload has {what}"), WORKLOAD_HINT);
    let object = given.as_object().ok_or_else(|| refuse(given))?;
    if let Some(unknown) = object.keys().find(|key| !["columns", "weights"].contains(&&***key)) {
        return Err(refuse(&Json::from(unknown.as_str())));
    }
    let sets = object.get("columns").and_then(Json::as_array).ok_or_else(|| refuse(given))?;
    let weights = match object.get("weights") {
        None | Some(Json::Null) => vec![Json::from(1.0); sets.len()],
        Some(Json::Array(weights)) if weights.len() == sets.len() => weights.clone(),
        Some(other) => return Err(refuse(other)),
    };
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let mut workload = Vec::with_capacity(sets.len());
    for (set, weight) in sets.iter().zip(&weights) {
        let list = set.as_array().filter(|list| !list.is_empty()).ok_or_else(|| refuse(set))?;
        let list: Option<Vec<String>> =
            list.iter().map(|name| name.as_str().map(String::from)).collect();
        let list = list.ok_or_else(|| refuse(set))?;
        let places = positions(relation, &names, "workload", Some(&list))?;
        let number = weight.as_f64().filter(|&number| number > 0.0 && number.is_finite());
        workload.push((places, number.ok_or_else(|| refuse(weight))?));
    }
    Ok(workload)
}

/// The charge: (epsilon, delta), and the rho of the noise that it pays for.
fn charge(arguments: &Arguments<'_>) -> Result<Charge> {
    let (epsilon, delta) = (arguments.get(&EPSILON)?, arguments.get(&DELTA)?);
    guarantee::check_epsilon(epsilon)?;
    // Drawn for the decimal numbers that are charged.
    let drawn = within_decimal("epsilon", epsilon)?;
    let rho = guarantee::zcdp_rho(drawn, within_decimal("delta", delta)?)?;
    Ok(Charge { whole: Cost { epsilon, delta }, rho: Some(rho), rest: Cost::default() })
}

/// Refuses the unit of a protected relation as a column.
fn check_columns(call: &ReleaseCall<'_>, relation: &Relation, terms: &Terms) -> Result<()> {
    let names = call.get(&COLUMNS)?.unwrap_or_default();
    if names.contains(&terms.unit) {
        return Err(Error::argument(
            format!("column \"{}\" tells the units of {} apart", terms.unit, relation.name),
            "Its values are people: leave it out.",
        ));
    }
    Ok(())
}

/// The private model that a call asks for, and its label.
fn fit(
    call: &ReleaseCall<'_>,
    relation: Relation,
    coins: &mut Coins,
) -> Result<(Synthesizer, Guarantee)> {
    let charge = charge(call.arguments)?;
    let names = call.get(&COLUMNS)?;
    let asked = call.get(&WORKLOAD)?;
    let mut positions = relation.positions("columns", names.as_deref())?;
    let terms = ledger::check_protecting(call, &relation, None)?;
    if let Some(terms) = &terms {
        check_columns(call, &relation, terms)?;
        let unit = unit::check(&relation, &terms.unit)?;
        positions.retain(|&position| position != unit);
    }
    if positions.is_empty() {
        return Err(Error::argument("no column is left beside the unit", "Name other columns."));
    }
    let source = PublicSource::open(relation, positions)?;
    let sizes = source.sizes();
    let workload = workload(asked.as_ref(), &source.relation.name, &source.columns)?;
    // Charged under the terms that the rows are then bounded by.
    let (relation, columns) = (&source.relation, &source.positions);
    ledger::charge_call(call, relation, terms.as_ref(), columns)?;
    let unit = match &terms {
        Some(terms) => unit_of_several(&source.relation, terms)?,
        None => None,
    };
    let (table, rows_per_unit) = match unit {
        Some((unit, most)) => (source.read_with_unit(unit)?, most),
        None => (source.read_charged(None)?, 1),
    };
    let recoding = source.recoding(&table.bag, coins);
    let request = SynthesisRequest { rho: charge.rho.unwrap_or(0.0), rows_per_unit, workload };
    let model = pool::run_telling(
        "fitting",
        table.memory(),
        |_| String::from("marginals are measured"),
        |watch| {
            let (bag, domains) = (&table.bag, source.domains());
            match unit {
                Some(_) => UnitBag { bag, recoding: &recoding, domains }
                    .fit(&sizes, &request, coins, watch),
                None => {
                    let bag = bag.recoded(&recoding, domains.to_vec(), watch)?;
                    synth::fit(&bag, &sizes, &request, coins, watch)
                }
            }
        },
    )?;
    let mut label = label(call.arguments)?;
    if let Some(terms) = &terms {
        let (unit, assumed_stable) = (terms.unit.as_str(), terms.assume_stable);
        let told = terms::Told { unit, rows_per_unit, assumed_stable };
        label = terms::of_units(label, call.method, &told, charge);
    }
    Ok((Synthesizer { columns: source.columns, model }, label))
}

/// The position of a protected relation's unit column, and how many rows of a unit count; `None` if the schema allows
/// one row per unit at most.
fn unit_of_several(relation: &Relation, terms: &Terms) -> Result<Option<(usize, u64)>> {
    let unit = unit::check(relation, &terms.unit)?;
    let is_key = relation.is_key(&relation.columns[unit])?;
    Ok((!is_key).then_some((unit, terms.max_rows_per_unit)))
}

const DP_SYNTHESIZER: Method = Method::new(
    "dp_synthesizer",
    &[&RELATION, &EPSILON, &DELTA, &COLUMNS, &WORKLOAD, &SEED],
    Returns::One(Type::Json),
    |call| {
        let mut coins = coins(call.get(&SEED)?)?;
        let call = ReleaseCall::of_sql(call);
        let (fitted, label) = fit(&call, call.source()?, &mut coins)?;
        let label = serde_json::to_value(label.label()).map_err(Error::query)?;
        jsonb::datum(&fitted.to_json(label)?)
    },
)
.about(
    "the private model that dp_synthesize draws from, with its label: (epsilon, delta) is \
         spent once, and any number of rows can be drawn from it",
)
.labelled(TERMS, label)
.priced(Protects::Units, |arguments, _| charge(arguments).map(Some));

const DP_SYNTHESIZE: Method = Method::release(
    "dp_synthesize",
    &[&ROWS_OF, &EPSILON, &DELTA, &ROWS, &COLUMNS, &WORKLOAD, &SEED],
    Release::new(|call, rows| {
        let n = call.get(&ROWS)?;
        let mut coins = coins(call.get(&SEED)?)?;
        let relation = call.source()?;
        let (fitted, _) = fit(call, relation.clone(), &mut coins)?;
        draw(rows, &fitted, &relation, n.unwrap_or(fitted.model.total()), coins)
    }),
)
.about(
    "an (epsilon, delta)-differentially private synthetic table: rows drawn from a model of \
         noisy marginals of the relation, whose columns need public domains or bounds. With \
         seed it is not private",
)
.labelled(TERMS, label)
.priced(Protects::Units, |arguments, _| charge(arguments).map(Some));

const DP_SYNTHESIZE_MODEL: Method =
    Method::new("dp_synthesize", &[&ROWS_OF, &MODEL, &N, &SEED], Returns::Set(Type::Any), |call| {
        let (n, coins) = (call.get(&N)?, coins(call.get(&SEED)?)?);
        let relation = typed::row_type(call.get(&ROWS_OF)?)?;
        let fitted = Synthesizer::from_json(&call.get(&MODEL)?, &relation)?;
        let mut rows = ResultRows::begin(call)?;
        draw(&mut rows, &fitted, &relation, n, coins)?;
        Ok(rows.finish(call))
    })
    .rows(1000)
    .about(
        "n rows of a relation's or composite type, drawn from a model of \
         sanitize.dp_synthesizer; the source of the model is not needed, and nothing more is \
         spent",
    );

fn label(options: &Arguments<'_>) -> Result<Guarantee> {
    Ok(Guarantee::dp_synthesize(charge(options)?.whole, coins_of(options.get(&SEED)?)))
}

/// Draws rows of the relation's type from a model.
fn draw(
    rows: &mut ResultRows,
    fitted: &Synthesizer,
    relation: &Relation,
    n: u64,
    mut coins: Coins,
) -> Result<()> {
    let columns = &fitted.columns;
    let mut places = Vec::with_capacity(columns.len());
    for column in columns {
        places.push(relation.position(&column.name)?);
    }
    let key = coins.key();
    let drawer = pool::run("preparing", 0, |watch| RowDrawer::new(&fitted.model, watch))?;
    // The last code of a column that may be NULL is NULL.
    let nulls: Vec<u32> =
        columns.iter().map(|c| if c.nullable { c.values() as u32 } else { NONE }).collect();
    let values = PublicValues::new(columns, relation, &places, &mut coins);
    let mut rows = TypedRows::begin(rows, relation, &places, values)?;
    rows.make_values();
    let width = columns.len();
    let mut row = vec![NONE; width];
    let part = |start: u64, count: usize, watch: &Watch| {
        drawer.rows(start / RowDrawer::BLOCK, count, &key, watch)
    };
    draw_rows(0, width, n, RowDrawer::BLOCK, part, |cells| {
        for ((cell, &code), &null) in row.iter_mut().zip(cells).zip(&nulls) {
            *cell = if code == null { NONE } else { code };
        }
        rows.push(&row, 1);
    })
}

methods! {
    sanitize_dp_synthesizer => DP_SYNTHESIZER;
    sanitize_dp_synthesize => DP_SYNTHESIZE;
    sanitize_dp_synthesize_model => DP_SYNTHESIZE_MODEL;
}
