//! What k-anonymity costs for several k, before one is chosen.

use super::hierarchy::of_columns;
use crate::api::prelude::*;
use suppress::KAnonymity;

const KS: Argument<Vec<u64>> = Argument::new("ks", Type::Ints, ks)
    .or("[2, 3, 5, 10, 20, 50, 100]")
    .about("The numbers of rows that must look alike, each of which is tried.");

fn ks(given: &Given<'_>) -> Result<Vec<u64>> {
    let hint = "ks is a list of numbers of rows that must look alike: {2, 5, 10}.";
    let ks = number_list(given, given.ints()?, hint)?;
    if ks.is_empty() {
        return Err(Error::argument("ks is an empty list", hint));
    }
    let k = |&k: &i32| match k {
        k if k >= 2 => Ok(k as u64),
        k => Err(given.refuse(k, "k is the number of rows that must look alike: 2 or more.")),
    };
    ks.iter().map(k).collect()
}

const GENERALIZE: Argument<bool> = Argument::of("generalize").or("true").about(
    "Whether cells may be shown at a level of their column's hierarchy before they are blanked.",
);

const LOSS_CURVE: Method = Method::new(
    "loss_curve",
    &[&RELATION, &KS, &COLUMNS, &GENERALIZE, &UNIT],
    columns![k: Int4, loss: Float8, dropped: Int8],
    loss_curve,
)
.reading()
.rows(10)
.about(
    "what k_anonymize would lose of a relation for each k: the mean loss of a cell, from 0 \
         (nothing) to 1 (blanked), and the rows that would be dropped",
);

fn loss_curve(call: &Call) -> Result<Datum> {
    let (ks, generalize) = (call.get(&KS)?, call.get(&GENERALIZE)?);
    let relation = Relation::open(call.get(&RELATION)?)?;
    let unit = counted_unit(&call.arguments, &relation)?;
    let columns = counted::columns(&relation, unit.as_ref(), call.get(&COLUMNS)?.as_deref())?;
    let bag = counted::read(&relation, &columns, unit.as_ref())?.bag;
    let input = Input::counting(relation.name.clone(), bag, unit.is_some())?.with_rows()?;
    // The same search as that of k_anonymize, so that the losses are the same.
    let hierarchies =
        generalize.then(|| of_columns(&relation, &columns, input.bag.domains())).transpose()?;
    let mut rows = ResultRows::begin(call)?;
    for k in ks {
        let (loss, dropped) = lost(&input, k, hierarchies.as_deref())?;
        rows.push([Value::Int(k as i32), Value::Float(loss), Value::count(dropped)]);
    }
    Ok(rows.finish(call))
}

/// The loss, with general values if there are hierarchies, and the number of dropped rows.
fn lost(input: &Input, k: u64, hierarchies: Option<&[Hierarchy]>) -> Result<(f64, u64)> {
    let asked = KAnonymity { k, hierarchies, ..KAnonymity::default() };
    let phase = if hierarchies.is_some() { "generalising" } else { "suppressing" };
    let found = input.run(phase, |bag, units, watch| {
        let hierarchies = hierarchies.unwrap_or_default().iter();
        let _held = watch.hold(hierarchies.map(Hierarchy::memory).sum())?;
        suppress::k_anonymize(bag, units, &asked, watch)
    })?;
    Ok((found.loss, found.dropped))
}

methods! {
    sanitize_loss_curve => LOSS_CURVE;
}
