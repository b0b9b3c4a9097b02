//! Who stands out in a table: small classes, and rows that a few known cells identify.

use super::classes::with_sensitive;
use crate::api::prelude::*;

const SENSITIVE: Argument<Option<String>> = Argument::of("sensitive")
    .about("The column that an attacker wants to know; without it only rows are counted.");

const SMALLEST: Argument<usize> = Argument::new("smallest", Type::Int4, |given| {
    given.at_least(1, "smallest is a number of classes: 1 or more.")
})
.or("100")
.about("How many classes are shown, those of the fewest rows or people first.");

const CLASS_RISK: Method = Method::new(
    "class_risk",
    &[&SOURCE, &SENSITIVE, &COLUMNS, &SMALLEST, &UNIT],
    columns![
        class: Json, rows: Int8, distinct_values: Int8, entropy_l: Float8, closeness: Float8,
        people: Int8
    ],
    class_risk,
)
.reading()
.rows(100)
.about(
    "the smallest classes of rows that are equal in these columns, NULL being equal to \
         NULL: what they show (a key that is missing is NULL), their rows, and of the sensitive \
         column how many values they have, exp of their entropy and their distance from the \
         whole table; in the last column their people (NULL: rows count); columns NULL: all but the \
         sensitive one",
);

fn class_risk(call: &Call) -> Result<Datum> {
    let smallest = call.get(&SMALLEST)?;
    let (input, sensitive) = match call.get(&SENSITIVE)? {
        Some(sensitive) => {
            let (input, position) = with_sensitive(call, sensitive)?;
            (input, Some(position))
        }
        None => (Input::read(call, &SOURCE)?, None),
    };
    let mut rows = ResultRows::begin(call)?;
    let classes = input.run("measuring", |bag, units, watch| {
        measures::class_risk(bag, units, sensitive, smallest, watch)
    })?;
    let json = ItemsetJson::new(&input.bag);
    for class in classes {
        let items = Bag::row_items(input.bag.row(class.row as usize));
        let shown: Vec<_> = items.filter(|item| Some(item.column as usize) != sensitive).collect();
        let risk = class.sensitive;
        rows.push([
            Value::Made(&|| json.datum(&shown)),
            Value::count(class.rows),
            risk.map_or(Value::Null, |risk| Value::count(risk.distinct_values)),
            risk.map_or(Value::Null, |risk| Value::Float(risk.entropy_l)),
            risk.map_or(Value::Null, |risk| Value::Float(risk.closeness)),
            class.units.map_or(Value::Null, Value::count),
        ]);
    }
    Ok(rows.finish(call))
}

const KNOWN: Argument<usize> = Argument::new("known", Type::Int4, |given| {
    given.at_least(1, "known is a number of cells: 1 or more.")
})
.about("How many cells of a row somebody knows, all of them in rows that have fewer; or how many rows of a person.");

const THETA: Argument<u64> = Argument::new("theta", Type::Int4, |given| {
    given.at_least(0, "theta is a number of rows: 0 or more.")
})
.or("1")
.about("How many rows may be left for a row to count as given away.");

/// What somebody knows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Cells,
    Rows,
}

impl table::Choice for Known {
    const NAMES: &'static [(&'static str, Self)] =
        &[("cells", Known::Cells), ("rows", Known::Rows)];
}

const WHAT: Argument<Known> = Argument::choice("what").or("\"cells\"").about(
    "What is known: 'cells' of a row, or, where people count, different 'rows' of a person.",
);

const UNICITY: Method = Method::new(
    "unicity",
    &[&SOURCE, &KNOWN, &COLUMNS, &THETA, &SAMPLES, &SEED, &UNIT, &WHAT],
    columns![share: Float8, low: Float8, high: Float8],
    |call| {
        let (known, theta, samples) = (call.get(&KNOWN)?, call.get(&THETA)?, call.get(&SAMPLES)?);
        let mut coins = coins(call.get(&SEED)?)?;
        let what = call.get(&WHAT)?;
        let input = Input::read(call, &SOURCE)?;
        if what == Known::Rows && input.people.is_none() {
            return Err(Error::argument(
                "what is 'rows', but rows count by themselves",
                "Somebody who knows rows of a person: say by unit whose rows these are.",
            ));
        }
        let found = input.run("measuring", |bag, units, watch| {
            let below = |n| random::below(&mut coins, n);
            match units.filter(|_| what == Known::Rows) {
                Some(units) => {
                    measures::unicity_of_rows(bag, units, known, theta, samples, below, watch)
                }
                None => measures::unicity(bag, units, known, theta, samples, below, watch),
            }
        })?;
        let float = |x: Option<f64>| x.map_or(Value::Null, Value::Float);
        call.one_row([
            float(found.map(|found| found.share)),
            float(found.map(|found| found.low)),
            float(found.map(|found| found.high)),
        ])
    },
)
.parallel_restricted()
.rows(1)
.about(
    "the share of rows, or people, that somebody who knows so many random cells of a row, or \
         rows of a person, narrows down to at most theta of them, and where it lies with a \
         confidence of 95 %: low and high are equal to it where it was counted and not sampled; \
         NULL without rows",
);

methods! {
    sanitize_class_risk => CLASS_RISK;
    sanitize_unicity => UNICITY;
}
