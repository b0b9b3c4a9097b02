//! What released statistics give away, in bits: of records with given priors, and of a real column.

use super::arguments::{RELATION, choice, number, text};
use crate::catalog::public::{self, Public};
use crate::method::{Method, methods};
use crate::pg::argument::{Argument, Given, Type};
use crate::pg::array::Numbers;
use crate::pg::call::Call;
use crate::pg::error::Error;
use crate::pg::relation::{Column, Relation};
use crate::pg::rowset::{ResultRows, Value};
use crate::pg::signature::Returns;
use crate::pg::text::to_utf8;
use crate::pg::{pool, reader, types};
use measures::Rational;
use measures::entropy::{self, Loss, Prior, Refused, Release, Statistic, Window};
use pgrx::pg_sys::Datum;
use pgrx::{AnyNumeric, IntoDatum};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use table::{Bag, NONE};

/// The most values of a record.
const MOST_VALUES: usize = 10_000;

/// A number as an exact rational.
fn rational(number: &AnyNumeric) -> Option<Rational> {
    Rational::decimal(&number.to_string())
}

fn rational_of_text(text: &str) -> Option<Rational> {
    rational(&AnyNumeric::try_from(text).ok()?)
}

const FINITE: &str = "Give finite numbers of at most 60 digits.";

const DOMAIN_VALUES: Argument<Vec<Rational>> = Argument {
    name: "domain_values",
    of: Type::Numerics,
    default: None,
    about: "The values that a record can have, each once.",
    read: |given| {
        let values = given.needed(given.numerics()?)?;
        let values = values.vector().map_err(|what| given.refuse(what, "Give a list of numbers."))?;
        let read = |value: &AnyNumeric| rational(value).ok_or_else(|| given.refuse(value, FINITE));
        let values: Vec<Rational> = values.iter().map(read).collect::<Result<_, _>>()?;
        check_size(given, values.len())?;
        let mut sorted: Vec<&Rational> = values.iter().collect();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => {
                let value = pair[0].decimal_below(20);
                Err(given.refuse(format!("a list that has {value} twice"), "Give each value once."))
            }
            None => Ok(values),
        }
    },
};

fn check_size(given: &Given<'_>, values: usize) -> Result<(), Error> {
    match values {
        0 => Err(given.refuse("empty", "A record has at least one value.")),
        n if n > MOST_VALUES => Err(given.refuse(
            format!("a list of {n} values"),
            format!("A record can have {MOST_VALUES} different values at the most."),
        )),
        _ => Ok(()),
    }
}

const PROBABILITIES: Argument<Numbers<f64>> = Argument {
    name: "probabilities",
    of: Type::Floats,
    default: None,
    about: "How likely each value is, for all records or, as [record][value], for each.",
    read: |given| given.needed(given.floats()?),
};

const N: Argument<u64> = Argument {
    name: "n",
    of: Type::Int4,
    default: None,
    about: "How many records there are.",
    read: |given| count(given, "n is a number of records: 0 or more."),
};

fn count(given: &Given<'_>, hint: &str) -> Result<u64, Error> {
    let n = given.needed(given.int4()?)?;
    u64::try_from(n).map_err(|_| given.refuse(n, hint))
}

fn end(given: &Given<'_>) -> Result<Option<Rational>, Error> {
    let Some(end) = given.numeric()? else { return Ok(None) };
    rational(&end).map(Some).ok_or_else(|| given.refuse(&end, FINITE))
}

const RELEASED_LOW: Argument<Rational> = Argument {
    name: "released_low",
    of: Type::Numeric,
    default: None,
    about: "The released value, or the least that it can have been.",
    read: |given| given.needed(end(given)?),
};

const RELEASED_HIGH: Argument<Option<Rational>> = Argument {
    name: "released_high",
    of: Type::Numeric,
    default: Some("null"),
    about: "The largest that the released value can have been; as released_low if it is left out.",
    read: end,
};

const STATISTIC: Argument<Statistic> = Argument {
    name: "statistic",
    of: Type::Text,
    default: Some("\"sum\""),
    about: "What is released: 'sum', 'mean', 'count' (of values other than 0), 'min' or 'max'.",
    read: choice,
};

const LOSS: Returns = Returns::Table(&[
    ("entropy_before", Type::Float8),
    ("entropy_after", Type::Float8),
    ("loss", Type::Float8),
    ("share", Type::Float8),
    ("kl", Type::Float8),
    ("max_log_ratio", Type::Float8),
]);

const ENTROPY_LOSS: Method = Method {
    name: "entropy_loss",
    arguments: &[&DOMAIN_VALUES, &PROBABILITIES, &N, &RELEASED_LOW, &RELEASED_HIGH, &STATISTIC],
    returns: LOSS,
    run: entropy_loss,
    label: None,
    price: None,
};

fn entropy_loss(call: &Call) -> Result<Datum, Error> {
    let domain = call.get(&DOMAIN_VALUES)?;
    let n = call.get(&N)?;
    let priors = priors(call.get(&PROBABILITIES)?, domain.len(), n)?;
    let low = call.get(&RELEASED_LOW)?;
    let high = call.get(&RELEASED_HIGH)?.unwrap_or_else(|| low.clone());
    if high < low {
        let [low, high] = [low, high].map(|end| end.decimal_below(20));
        return Err(Error::argument(
            format!("released_low is {low} and released_high is {high}"),
            "released_high is released_low or more.",
        ));
    }
    let statistic = call.get(&STATISTIC)?;
    let release = Release { statistic, window: Window::closed(low, high) };
    rows_of_loss(call, &domain, &priors, &release)
}

/// The priors of n records.
fn priors(given: Numbers<f64>, values: usize, n: u64) -> Result<Vec<Prior>, Error> {
    let wrong = |what: String, hint: String| {
        Err(Error::argument(format!("probabilities is {what}"), hint))
    };
    let hint = "Give as many probabilities as there are domain_values: one list for all records, or a list for each.";
    let (probabilities, width) = match given.is_vector() {
        true => match given.vector() {
            Ok(probabilities) => (probabilities, None),
            Err(what) => return wrong(what.into(), hint.into()),
        },
        false => match given.matrix() {
            Ok((probabilities, width)) => (probabilities, Some(width)),
            Err(what) => return wrong(what.into(), hint.into()),
        },
    };
    let found = width.unwrap_or(probabilities.len());
    if found != values {
        return wrong(format!("a list of {found} for {values} domain_values"), hint.into());
    }
    if width.is_some() && probabilities.len() as u64 != n * values as u64 {
        let lists = probabilities.len() / values;
        return wrong(format!("{lists} lists for {n} records"), "Give a list for each record.".into());
    }
    let records = if width.is_some() { 1 } else { n };
    let mut priors = Vec::with_capacity(probabilities.len() / values);
    for (i, list) in probabilities.chunks(values).enumerate() {
        match Prior::new(list.to_vec(), records) {
            Ok(prior) => priors.push(prior),
            Err(what) => {
                let place = width.map_or(String::new(), |_| format!(" of record {}", i + 1));
                return Err(Error::argument(
                    format!("probabilities{place}: {what}"),
                    "Probabilities are between 0 and 1 and add up to 1, within 1e-9.",
                ));
            }
        }
    }
    Ok(priors)
}

/// The one row of a loss: of NULLs if there are no records.
fn rows_of_loss(
    call: &Call,
    domain: &[Rational],
    priors: &[Prior],
    release: &Release,
) -> Result<Datum, Error> {
    let loss = pool::run("measuring", 0, |watch| {
        entropy::entropy_loss(domain, priors, release, watch)
    })?;
    let loss = loss.map_err(|refused| refusal(refused, priors, release))?;
    let mut rows = ResultRows::begin(call)?;
    let value = |of: fn(&Loss) -> Option<f64>| {
        loss.as_ref().and_then(of).map_or(Value::Null, Value::Float)
    };
    rows.push([
        value(|loss| Some(loss.entropy_before)),
        value(|loss| Some(loss.entropy_after)),
        value(|loss| Some(loss.loss)),
        value(Loss::share),
        value(|loss| Some(loss.kl)),
        value(|loss| Some(loss.max_log_ratio)),
    ]);
    Ok(rows.finish(call))
}

fn refusal(refused: Refused, priors: &[Prior], release: &Release) -> Error {
    let window = &release.window;
    let released = match window.low == window.high {
        true => window.low.decimal_below(20),
        false => format!("{} to {}", window.low.decimal_below(20), window.high.decimal_above(20)),
    };
    match refused {
        Refused::Impossible => Error::argument(
            format!("the release, {released}, has probability 0"),
            "No records that the priors allow give such a statistic.",
        ),
        Refused::TooLarge => {
            let n: u64 = priors.iter().map(|prior| prior.records).sum();
            Error::argument(
                format!("{n} records with so many values and steps between them are too much"),
                "Take coarser values: the work grows with the number of values and with the range in steps of their common divisor.",
            )
        }
    }
}

const COLUMN_NAME: Argument<String> = Argument {
    name: "column_name",
    of: Type::Text,
    default: None,
    about: "The column that the statistic is of: numbers or boolean.",
    read: text,
};

const PRIOR: Argument<Option<BTreeMap<Rational, f64>>> = Argument {
    name: "prior",
    of: Type::Json,
    default: Some("null"),
    about: "What is known of each value beforehand: {\"value\": probability, …}, or a list of equally likely values; all values of the public domain if it is left out.",
    read: |given| given.json()?.map(|prior| given_prior(&prior)).transpose(),
};

const DIGITS: Argument<Option<i32>> = Argument {
    name: "digits",
    of: Type::Int4,
    default: Some("null"),
    about: "To how many digits after the point the statistic is rounded; exact if it is left out.",
    read: |given| match given.int4()? {
        Some(digits) if !(-50..=50).contains(&digits) => Err(given.refuse(
            digits,
            "digits is a number of digits after the point: from -50 to 50.",
        )),
        digits => Ok(digits),
    },
};

const ENTROPY_LOSS_OF: Method = Method {
    name: "entropy_loss_of",
    arguments: &[&RELATION, &COLUMN_NAME, &STATISTIC, &PRIOR, &DIGITS],
    returns: LOSS,
    run: entropy_loss_of,
    label: None,
    price: None,
};

fn entropy_loss_of(call: &Call) -> Result<Datum, Error> {
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
                format!("column \"{}\" has the value {}, which the prior rules out", column.name, value.decimal_below(20)),
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

/// The numbers of a column, each with how many rows have it. NULL is no number.
fn read_numbers(relation: &Relation, position: usize) -> Result<BTreeMap<Rational, u64>, Error> {
    let column = &relation.columns[position];
    let query = relation.query_with(&[position], |_, quoted| match column.base_type {
        base if types::is_boolean(base) => Some(format!("({quoted})::pg_catalog.int4")),
        base if types::is_integer(base) => None,
        _ => Some(format!("({quoted})::pg_catalog.numeric")),
    });
    let bag: Bag = reader::read_query(relation, &query, 0)?.bag;
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

/// The statistic of the records; 0 without records, where it is not looked at.
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
fn public_values(relation: &Relation, column: &Column) -> Result<Vec<Rational>, Error> {
    let hint = "Declare its values with sanitize.declare_domain, or give a prior.";
    let texts = match public::find(relation, column)? {
        Public::Values(values) => values,
        Public::Range { low, high, .. } => {
            let ends = types::is_integer(column.base_type)
                .then(|| low.parse::<i64>().ok().zip(high.parse::<i64>().ok()))
                .flatten();
            let Some((first, last)) = ends else {
                return Err(Error::argument(
                    format!("the values of column \"{}\" between {low} and {high} cannot be listed", column.name),
                    hint,
                ));
            };
            if last.abs_diff(first) >= MOST_VALUES as u64 {
                return Err(Error::argument(
                    format!("column \"{}\" has more than {MOST_VALUES} values between {low} and {high}", column.name),
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
fn value_of_text(text: &str) -> Result<Rational, Error> {
    match text {
        "t" | "true" => Ok(Rational::from(1)),
        "f" | "false" => Ok(Rational::from(0)),
        text => rational_of_text(text)
            .ok_or_else(|| Error::argument(format!("\"{text}\" is no value of a prior"), FINITE)),
    }
}

/// A prior as jsonb.
fn given_prior(prior: &Json) -> Result<BTreeMap<Rational, f64>, Error> {
    const HINT: &str = "A prior is {\"0\": 0.9, \"1\": 0.1}, or a list of values that are equally likely: [0, 1, 2].";
    let refuse = |what: String| Error::argument(format!("prior {what}"), HINT);
    let mut found = BTreeMap::new();
    match prior {
        Json::Object(object) => {
            for (value, probability) in object {
                let probability =
                    probability.as_f64().ok_or_else(|| refuse(format!("has {probability} for {value}")))?;
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

const ONES: Argument<u64> = Argument {
    name: "k",
    of: Type::Int4,
    default: None,
    about: "How many of the records are 1.",
    read: |given| count(given, "k is a number of records: from 0 to n."),
};

const BINARY_ENTROPY_LOSS: Method = Method {
    name: "binary_entropy_loss",
    arguments: &[&N, &ONES],
    returns: Returns::One(Type::Float8),
    run: |call| {
        let (n, k) = (call.get(&N)?, call.get(&ONES)?);
        if k > n {
            return Err(Error::argument(
                format!("k is {k}, but n is {n}"),
                "k is a number of records: from 0 to n.",
            ));
        }
        let loss = entropy::binary_entropy_loss(n, k);
        Ok(loss.and_then(IntoDatum::into_datum).unwrap_or_else(|| call.null()))
    },
    label: None,
    price: None,
};

const EXPECTED_BINARY_ENTROPY_LOSS: Method = Method {
    name: "expected_binary_entropy_loss",
    arguments: &[&N],
    returns: Returns::One(Type::Float8),
    run: |call| {
        let loss = entropy::expected_binary_entropy_loss(call.get(&N)?);
        Ok(loss.and_then(IntoDatum::into_datum).unwrap_or_else(|| call.null()))
    },
    label: None,
    price: None,
};

const NOISE: Argument<Vec<f64>> = Argument {
    name: "noise",
    of: Type::Floats,
    default: None,
    about: "Values of the noise, each as likely as the others: a sample, or its quantiles.",
    read: |given| {
        let noise = given.needed(given.floats()?)?;
        let noise = noise.vector().map_err(|what| given.refuse(what, "Give a list of numbers."))?;
        if noise.is_empty() {
            return Err(given.refuse("empty", "Give at least one value of the noise."));
        }
        match noise.iter().find(|value| !value.is_finite()) {
            Some(value) => Err(given.refuse(format!("a list that has {value}"), "Give finite numbers.")),
            None => Ok(noise),
        }
    },
};

const CONFIDENCE: Argument<f64> = Argument {
    name: "confidence",
    of: Type::Float8,
    default: None,
    about: "The share of the noise that the interval holds.",
    read: |given| match number(given)? {
        confidence if confidence > 0.0 && confidence <= 1.0 => Ok(confidence),
        confidence => Err(given.refuse(confidence, "confidence is above 0 and at most 1.")),
    },
};

const INTERVAL_PRIVACY: Method = Method {
    name: "interval_privacy",
    arguments: &[&NOISE, &CONFIDENCE],
    returns: Returns::One(Type::Float8),
    run: |call| {
        let width = entropy::interval_privacy(&call.get(&NOISE)?, call.get(&CONFIDENCE)?);
        Ok(width.and_then(IntoDatum::into_datum).unwrap_or_else(|| call.null()))
    },
    label: None,
    price: None,
};

methods! {
    sanitize_entropy_loss => ENTROPY_LOSS;
    sanitize_entropy_loss_of => ENTROPY_LOSS_OF;
    sanitize_binary_entropy_loss => BINARY_ENTROPY_LOSS;
    sanitize_expected_binary_entropy_loss => EXPECTED_BINARY_ENTROPY_LOSS;
    sanitize_interval_privacy => INTERVAL_PRIVACY;
}
