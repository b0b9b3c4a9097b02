//! Measures of one table, which every reader of it can compute.

use crate::api::prelude::*;
use crate::pg::call::argument::Source;
use measures::Diversity;

const K_ANONYMITY: Method =
    Method::new("k_anonymity", &[&SOURCE, &COLUMNS, &UNIT], Returns::One(Type::Int8), |call| {
        let input = Input::read(call, &SOURCE)?;
        let k = input.run("measuring", measures::k_anonymity)?;
        call.value(k.map(|k| i64::try_from(k).unwrap_or(i64::MAX)))
    })
    .reading()
    .about(
        "the rows, or people, of the smallest class of rows that are equal in these columns, \
         NULL being equal to NULL; NULL without rows",
    );

const SENSITIVE: Argument<String> =
    Argument::of("sensitive").about("The column that an attacker wants to know.");

fn sensitive(call: &Call) -> Result<(Input, usize)> {
    with_sensitive(call, call.get(&SENSITIVE)?)
}

/// The source cut to the columns that an attacker knows (NULL: all others) and the sensitive one, and
/// the position of the latter.
pub fn with_sensitive(call: &Call, sensitive: String) -> Result<(Input, usize)> {
    let columns = call.get(&COLUMNS)?;
    if columns.as_ref().is_some_and(|columns| columns.contains(&sensitive)) {
        return Err(Error::argument(
            format!("column \"{sensitive}\" is in columns and sensitive"),
            "The columns are what an attacker knows, the sensitive column is what they want to know.",
        ));
    }
    let columns = columns.map(|mut columns| {
        columns.push(sensitive.clone());
        columns
    });
    let input = Input::read_columns(call, &SOURCE, columns.as_deref(), Some(&sensitive))?;
    let names: Vec<&str> = input.bag.domains().iter().map(|d| d.name()).collect();
    let position = place(&input.name, &names, &sensitive)?;
    Ok((input, position))
}

const KIND: Argument<Diversity> = Argument::choice("kind")
    .or("\"distinct\"")
    .about("What is counted in a class: 'distinct' values, or the 'entropy' of their shares.");

const L_DIVERSITY: Method = Method::new(
    "l_diversity",
    &[&SOURCE, &SENSITIVE, &COLUMNS, &KIND, &UNIT],
    Returns::One(Type::Float8),
    |call| {
        let kind = call.get(&KIND)?;
        let (input, position) = sensitive(call)?;
        let l = input.run("measuring", |bag, units, watch| {
            measures::l_diversity(bag, units, position, kind, watch)
        })?;
        call.value(l)
    },
)
.reading()
.about(
    "how many values of the sensitive column the least diverse class leaves open: their \
         number (distinct) or exp of their entropy (entropy), where each of its people counts \
         once if people count; columns NULL: all but the sensitive one",
);

const ORDERED: Argument<bool> =
    Argument::of("ordered").or("false").about("True if values that lie near each other are alike.");

const T_CLOSENESS: Method = Method::new(
    "t_closeness",
    &[&SOURCE, &SENSITIVE, &COLUMNS, &ORDERED, &UNIT],
    Returns::One(Type::Float8),
    |call| {
        let ordered = call.get(&ORDERED)?;
        let (input, position) = sensitive(call)?;
        let t = input.run("measuring", |bag, units, watch| {
            measures::t_closeness(bag, units, position, ordered, watch)
        })?;
        call.value(t)
    },
)
.reading()
.about(
    "how far the values of the sensitive column in a class are from those in the whole \
         table, at the most: total variation, or earth mover's distance if ordered; columns \
         NULL: all but the sensitive one",
);

const RELEASED: Argument<Source> = Argument::new("released", Type::Source, |given| given.source())
    .about("The published relation, or a bag.");

const SUPPRESSION: Method = Method::new(
    "suppression",
    &[&RELEASED, &COLUMNS],
    columns![column_name: Text, cells: Int8, suppressed: Int8, share: Float8],
    |call| {
        let input = Input::read(call, &RELEASED)?;
        let mut rows = ResultRows::begin(call)?;
        for (domain, column) in input.bag.domains().iter().zip(measures::suppression(&input.bag)) {
            rows.push([
                Value::Text(&from_utf8(domain.name())),
                Value::count(column.cells),
                Value::count(column.suppressed),
                column.share().map_or(Value::Null, Value::Float),
            ]);
        }
        Ok(rows.finish(call))
    },
)
.reading()
.rows(20)
.about("how many cells of each column are NULL");

methods! {
    sanitize_k_anonymity => K_ANONYMITY;
    sanitize_l_diversity => L_DIVERSITY;
    sanitize_t_closeness => T_CLOSENESS;
    sanitize_suppression => SUPPRESSION;
}
