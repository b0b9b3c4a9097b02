//! Whole columns at a level of their hierarchies, and what generalisation loses.

use super::levels::{self, Levels};
use super::suppression::keeping;
use crate::api::measure::compare::Pair;
use crate::api::prelude::*;
use suppress::Loss;

const LEVELS: Argument<levels::Named> =
    Argument::new("levels", Type::Json, |given| given.needed(levels::read(given)?)).about(
        "The level of its hierarchy at which a column is shown, by name; 0 where it says nothing.",
    );

const GENERALIZE: Method = Method::release(
    "generalize",
    &[&ROWS_OF, &LEVELS, &COLUMNS, &KEEP],
    Release::new(|call, rows| {
        let named = call.get(&LEVELS)?;
        let source = TypedSource::read(call)?;
        let Levels { hierarchies, levels } = source.levels(&named)?;
        let release = source.run("generalising", |bag, _, watch| {
            let _held = watch.hold(hierarchies.iter().map(Hierarchy::memory).sum())?;
            suppress::generalize(bag, &hierarchies, &levels, watch)
        })?;
        source.release_shown(rows, release, &hierarchies)
    })
    .made_of(Origin::Row)
    .blanking()
    .coarser_by(LEVELS.name),
)
.reading()
.about(
    "the relation with whole columns shown at a level of their hierarchies. No promise \
         about the release: see k_anonymize",
)
.labelled(&[], |options| {
    options.get(&LEVELS)?;
    keeping(Guarantee::generalize(), options)
});

const INFORMATION_LOSS: Method = Method::new(
    "information_loss",
    &[&ORIGINAL, &RELEASED, &COLUMNS],
    columns![column_name: Text, changed: Float8, loss: Float8],
    information_loss,
)
.reading()
.rows(10)
.about(
    "by column, and over all (column_name NULL): the share of the cells that a release \
         changed, and what a cell lost on average, from 0 (nothing) to 1 (blanked or dropped)",
);

fn information_loss(call: &Call) -> Result<Datum> {
    let mut pair = Pair::of(call)?;
    let written = pair.written()?;
    let mut rows = ResultRows::begin(call)?;
    let losses = pair.run("measuring", |released, original, watch| {
        let _held = watch.hold(written.iter().map(Written::memory).sum())?;
        let columns = written.iter().enumerate();
        columns
            .map(|(c, w)| suppress::column_loss(released, original, c, w, watch))
            .collect::<Result<Vec<_>, _>>()
    })?;
    let domains = pair.original.bag.domains();
    for (domain, loss) in domains.iter().zip(&losses) {
        let name = from_utf8(domain.name());
        let (changed, mean) = (loss.changed_share(), loss.mean());
        rows.push([Value::Text(&name), Value::Float(changed), Value::Float(mean)]);
    }
    let columns = losses.len() as f64;
    let changed = losses.iter().map(Loss::changed_share).sum::<f64>() / columns;
    let mean = losses.iter().map(Loss::mean).sum::<f64>() / columns;
    rows.push([Value::Null, Value::Float(changed), Value::Float(mean)]);
    Ok(rows.finish(call))
}

methods! {
    sanitize_generalize => GENERALIZE;
    sanitize_information_loss => INFORMATION_LOSS;
}
