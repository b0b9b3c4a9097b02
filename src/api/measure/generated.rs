//! What a generated table reveals of its original.

use super::compare::Pair;
use crate::api::mining::itemsets::MII_RISK;
use crate::api::prelude::*;
use crate::api::shared::input::original_and_released;
use krimp::{Correction, DomainOrder, Generator, Model};

/// Rows drawn to count how many patterns they consist of.
const DRAWN: usize = 10_000;

/// A line of the report: the measured value, and the advice from a given value on.
struct Line {
    measure: &'static str,
    value: Option<f64>,
    advice: String,
    due: bool,
}

const MODEL: Argument<Option<Model>> =
    Argument::optional("model", Type::Json, |given| match given.json()? {
        Some(model) => Ok(Some(Model::from_json(&model)?)),
        None => Ok(None),
    })
    .about("The model that the table was drawn from, if it is there.");

const KRIMP_REPORT: Method = Method::new(
    "krimp_report",
    &[&ORIGINAL, &RELEASED, &MODEL, &COLUMNS, &SAMPLES, &SEED],
    columns![measure: Text, value: Float8, advice: Text],
    krimp_report,
)
.rows(4)
.about(
    "what a generated table shows of its original: patterns per row (from the model), \
         anonymity score, copied rows, leaked rare itemsets, and what to do about it. Computed \
         from the original, so for its owner and not for publication",
);

fn krimp_report(call: &Call) -> Result<Datum> {
    let model = call.get(&MODEL)?;
    let names = match (call.get(&COLUMNS)?, &model) {
        (None, Some(model)) => Some(model.columns().iter().map(|c| c.name.clone()).collect()),
        (names, _) => names,
    };
    let samples = call.get(&SAMPLES)?;
    let mut coins = coins(call.get(&SEED)?)?;
    let mut pair = Pair::read(original_and_released(call)?, names.as_deref())?;
    let general = pair.general()?;
    let patterns = match &model {
        Some(model) => {
            let key = coins.key();
            let generator = Generator::new(model, &Correction::new(0.001)?, DomainOrder::Random)?;
            let drawing = |_: &Watch| String::from("rows are drawn");
            let drawn = pool::run_telling("drawing rows", 0, drawing, |watch| {
                generator.rows(0, DRAWN, |chunk| key.stream(chunk), watch)
            })?;
            Some(drawn.elements as f64 / DRAWN as f64)
        }
        None => None,
    };
    let (score, common, leaks) = pair.run("comparing", |released, original, watch| {
        let below = |n| random::below(&mut coins, n);
        let meaning = general.meaning(released, original, watch)?;
        Ok((
            measures::anonymity_score(released, original, &meaning, watch)?,
            measures::common_records(released, original, &meaning, watch)?,
            measures::rare_itemset_leak(released, original, None, samples, below, watch)?,
        ))
    })?;
    let score = score.map(|score| score.normalised);
    let tried: u64 = leaks.iter().map(|leak| leak.tried).sum();
    let leaked: u64 = leaks.iter().map(|leak| leak.leaked).sum();
    let leaked = (tried > 0).then(|| leaked as f64 / tried as f64);
    let above = |value: Option<f64>, bound: f64| value.is_some_and(|value| value > bound);
    // The arguments of krimp_generate that the advice names.
    let (support, length, columns) = (MIN_SUPPORT.name, MAX_LENGTH.name, COLUMNS.name);
    let lines = [
        Line {
            measure: "patterns_per_row",
            value: patterns,
            advice: format!("rows are nearly copies: raise {support} or set a lower {length}"),
            due: patterns.is_some_and(|each| each < 2.0),
        },
        Line {
            measure: "anonymity_score",
            value: score,
            advice: format!(
                "rare rows come out: raise {support}, set a lower {length} or leave out {columns}"
            ),
            due: above(score, 0.1),
        },
        Line {
            measure: "copied_rows",
            value: common.of_released,
            advice: format!("most rows are in the original too: set a lower {length}"),
            due: above(common.of_released, 0.5),
        },
        Line {
            measure: "leaked_itemsets",
            value: leaked,
            advice: format!(
                "rare combinations come out: leave out or coarsen the {columns} that {} names",
                MII_RISK.name
            ),
            due: above(leaked, 0.1),
        },
    ];
    let mut rows = ResultRows::begin(call)?;
    for line in lines.iter().skip(usize::from(model.is_none())) {
        rows.push([
            Value::Text(line.measure.as_bytes()),
            line.value.map_or(Value::Null, Value::Float),
            if line.due { Value::Text(line.advice.as_bytes()) } else { Value::Null },
        ]);
    }
    Ok(rows.finish(call))
}

methods! {
    sanitize_krimp_report => KRIMP_REPORT;
}
