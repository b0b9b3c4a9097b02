//! What a statistic of a real column reveals of its records.

use super::{FINITE, LOSS, MOST_VALUES, STATISTIC, rational_of_text, rows_of_loss};
use crate::api::prelude::*;
use crate::rules::public;
use measures::Rational;
use measures::entropy::{Prior, Release, Statistic, Window};
use std::collections::BTreeMap;

const COLUMN_NAME: Argument<String> =
    Argument::of("column_name").about("The column that the statistic is of: numbers or boolean.");

const PRIOR: Argument<Option<BTreeMap<Rational, f64>>> = Argument::optional("prior", Type::Json, |given| {
    given.json()?.map(|prior| given_prior(&prior)).transpose()
})
.about("What is known of each value beforehand: {\"value\": probability, …}, or a list of equally likely values; all values of the public domain if it is left out.");

const DIGITS: Argument<Option<i32>> = Argument::optional("digits", Type::Int4, |given| {
    let hint = "digits is a number of digits after the point: from -50 to 50.";
    given.if_fitting(|digits: i32| (-50..=50).contains(&digits), hint)
})
.about("To how many digits after the point the statistic is rounded; exact if it is left out.");

pub const ENTROPY_LOSS_OF: Method = Method::new(
    "entropy_loss_of",
    &[&RELATION, &COLUMN_NAME, &STATISTIC, &PRIOR, &DIGITS],
    LOSS,
    entropy_loss_of,
)
.reading()
.rows(1)
.about(
    "what the statistic of a column tells of each of its rows if it is published, in bits; \
         the prior is uniform over the public domain unless it is given",
);

fn entropy_loss_of(call: &Call) -> Result<Datum> {
    let relation = Relation::open(call.get(&RELATION)?)?;
    let position = relation.position(&call.get(&COLUMN_NAME)?)?;
    let column = &relation.columns[position];
    let (statistic, digits) = (call.get(&STATISTIC)?, call.get(&DIGITS)?);
    if !types::is_number(column.base_type) && !types::is_boolean(column.base_type) {
        return Err(Error::argument(
            format!("column \"{}\" is neither a number nor boolean", column.name),
            "The statistic is one of numbers; of a boolean column true counts 1 and false 0.",
        ));
    }
    let prior = match call.get(&PRIOR)? {
        Some(prior) => prior,
        None => uniform(public_values(&relation, column)?),
    };
    let records = read_numbers(&relation, position)?;
    for value in records.keys() {
        if prior.get(value).is_none_or(|&p| p == 0.0) {
            return Err(Error::argument(
                format!(
                    "column \"{}\" has the value {}, which the prior rules out",
                    column.name,
                    value.decimal_below(20)
                ),
                "Give every value that the column has a probability above 0.",
            ));
        }
    }
    let (domain, probabilities): (Vec<Rational>, Vec<f64>) = prior.into_iter().unzip();
    let n = records.values().sum();
    let prior = Prior::new(probabilities, n).map_err(|what| {
        Error::argument(
            format!("prior: {what}"),
            "Probabilities are between 0 and 1 and add up to 1, within 1e-9.",
        )
    })?;
    let value = computed(&records, statistic);
    let window = match digits {
        Some(digits) => Window::rounded(&value, digits),
        None => Window::closed(value.clone(), value),
    };
    rows_of_loss(call, &domain, &[prior], &Release { statistic, window })
}

fn uniform(values: Vec<Rational>) -> BTreeMap<Rational, f64> {
    let share = 1.0 / values.len() as f64;
    values.into_iter().map(|value| (value, share)).collect()
}

/// The numbers of a column, each with how many rows have it. NULL does not count.
fn read_numbers(relation: &Relation, position: usize) -> Result<BTreeMap<Rational, u64>> {
    let column = &relation.columns[position];
    let asked = relation.asked_with(&[position], |_, quoted| match column.base_type {
        base if types::is_boolean(base) => Some(format!("({quoted})::pg_catalog.int4")),
        base if types::is_integer(base) => None,
        _ => Some(format!("({quoted})::pg_catalog.numeric")),
    });
    let bag: Bag = reader::read_asked(relation, &asked, 0)?.bag;
    let mut records = BTreeMap::new();
    for i in 0..bag.distinct() {
        let code = bag.row(i)[0];
        if code == NONE {
            continue;
        }
        let value = to_utf8(bag.domain(0).value(code));
        let Some(number) = rational_of_text(&value) else {
            return Err(Error::argument(
                format!("column \"{}\" has the value {value}", column.name),
                "A statistic is one of finite numbers of at most 60 digits.",
            ));
        };
        *records.entry(number).or_insert(0) += bag.weight(i);
    }
    Ok(records)
}

/// The statistic of the records; 0 without records, where it is not used.
fn computed(records: &BTreeMap<Rational, u64>, statistic: Statistic) -> Rational {
    let whole = |n: u64| Rational::from(i64::try_from(n).unwrap_or(i64::MAX));
    let sum = || {
        let terms = records.iter().map(|(value, &n)| value * &whole(n));
        terms.fold(Rational::zero(), |sum, term| &sum + &term)
    };
    let found = match statistic {
        Statistic::Sum => Some(sum()),
        Statistic::Mean => sum().divide(&whole(records.values().sum())),
        Statistic::Count => {
            let counted = records.iter().filter(|(value, _)| !value.is_zero());
            Some(whole(counted.map(|(_, n)| n).sum()))
        }
        Statistic::Min => records.keys().next().cloned(),
        Statistic::Max => records.keys().next_back().cloned(),
    };
    found.unwrap_or_else(Rational::zero)
}

/// The values of the public domain: those declared or known, or the integers of a range.
fn public_values(relation: &Relation, column: &Column) -> Result<Vec<Rational>> {
    let hint = "Declare its values with sanitize.declare_domain, or give a prior.";
    let texts = match public::find(relation, column)? {
        Public::Values(values) => values,
        Public::Range { low, high, .. } => {
            let ends = types::is_integer(column.base_type)
                .then(|| low.parse::<i64>().ok().zip(high.parse::<i64>().ok()))
                .flatten();
            let Some((first, last)) = ends else {
                return Err(Error::argument(
                    format!(
                        "the values of column \"{}\" between {low} and {high} cannot be listed",
                        column.name
                    ),
                    hint,
                ));
            };
            if last.abs_diff(first) >= MOST_VALUES as u64 {
                return Err(Error::argument(
                    format!(
                        "column \"{}\" has more than {MOST_VALUES} values between {low} and {high}",
                        column.name
                    ),
                    hint,
                ));
            }
            return Ok((first..=last).map(Rational::from).collect());
        }
    };
    if texts.len() > MOST_VALUES {
        return Err(Error::argument(
            format!("column \"{}\" has {} values", column.name, texts.len()),
            format!("A record can have {MOST_VALUES} different values at the most. {hint}"),
        ));
    }
    texts.iter().map(|text| value_of_text(text)).collect()
}

/// A number, or a truth value as 1 or 0.
fn value_of_text(text: &str) -> Result<Rational> {
    match text {
        "t" | "true" => Ok(Rational::from(1)),
        "f" | "false" => Ok(Rational::from(0)),
        text => rational_of_text(text)
            .ok_or_else(|| Error::argument(format!("\"{text}\" is no value of a prior"), FINITE)),
    }
}

/// A prior as jsonb.
fn given_prior(prior: &Json) -> Result<BTreeMap<Rational, f64>> {
    const HINT: &str = "A prior is {\"0\": 0.9, \"1\": 0.1}, or a list of values that are equally likely: [0, 1, 2].";
    let refuse = |what: String| Error::argument(format!("prior {what}"), HINT);
    let mut found = BTreeMap::new();
    match prior {
        Json::Object(object) => {
            for (value, probability) in object {
                let probability = probability
                    .as_f64()
                    .ok_or_else(|| refuse(format!("has {probability} for {value}")))?;
                if found.insert(value_of_text(value)?, probability).is_some() {
                    return Err(refuse(format!("has {value} twice")));
                }
            }
        }
        Json::Array(values) => {
            for value in values {
                let text = match value {
                    Json::String(text) => text.clone(),
                    Json::Number(_) | Json::Bool(_) => value.to_string(),
                    _ => return Err(refuse(format!("has the value {value}"))),
                };
                let share = 1.0 / values.len() as f64;
                if found.insert(value_of_text(&text)?, share).is_some() {
                    return Err(refuse(format!("has {text} twice")));
                }
            }
        }
        other => return Err(refuse(format!("is {other}"))),
    }
    match found.len() {
        0 => Err(refuse("is empty".into())),
        n if n > MOST_VALUES => Err(refuse(format!("has {n} values, more than {MOST_VALUES}"))),
        _ => Ok(found),
    }
}
