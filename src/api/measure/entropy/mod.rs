//! What released statistics reveal, in bits: of records with given priors, and of a real column.
//!
//! `column` is about the records of a real column, `closed` has the measures that need no records.

mod closed;
mod column;

use crate::api::prelude::*;
use crate::pg::call::array::Numbers;
use measures::Rational;
use measures::entropy::{self, Loss, Prior, Refused, Release, Statistic, Window};

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

const DOMAIN_VALUES: Argument<Vec<Rational>> =
    Argument::new("domain_values", Type::Numerics, |given| {
        let values = number_list(given, given.numerics()?, "Give a list of numbers.")?;
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
    })
    .about("The values that a record can have, each once.");

fn check_size(given: &Given<'_>, values: usize) -> Result<()> {
    match values {
        0 => Err(given.refuse("empty", "A record has at least one value.")),
        n if n > MOST_VALUES => Err(given.refuse(
            format!("a list of {n} values"),
            format!("A record can have {MOST_VALUES} different values at the most."),
        )),
        _ => Ok(()),
    }
}

const PROBABILITIES: Argument<Numbers<f64>> =
    Argument::new("probabilities", Type::Floats, |given| given.needed(given.floats()?))
        .about("How likely each value is, for all records or, as [record][value], for each.");

const N: Argument<u64> = Argument::new("n", Type::Int4, |given| {
    given.at_least(0, "n is a number of records: 0 or more.")
})
.about("How many records there are.");

fn end(given: &Given<'_>) -> Result<Option<Rational>> {
    let Some(end) = given.numeric()? else { return Ok(None) };
    rational(&end).map(Some).ok_or_else(|| given.refuse(&end, FINITE))
}

const RELEASED_LOW: Argument<Rational> =
    Argument::new("released_low", Type::Numeric, |given| given.needed(end(given)?))
        .about("The released value, or the least that it can have been.");

const RELEASED_HIGH: Argument<Option<Rational>> =
    Argument::optional("released_high", Type::Numeric, end).about(
        "The largest that the released value can have been; as released_low if it is left out.",
    );

const STATISTIC: Argument<Statistic> = Argument::choice("statistic")
    .or("\"sum\"")
    .about("What is released: 'sum', 'mean', 'count' (of values other than 0), 'min' or 'max'.");

const LOSS: Returns = columns![
    entropy_before: Float8, entropy_after: Float8, loss: Float8, share: Float8, kl: Float8,
    max_log_ratio: Float8
];

const ENTROPY_LOSS: Method = Method::new(
    "entropy_loss",
    &[&DOMAIN_VALUES, &PROBABILITIES, &N, &RELEASED_LOW, &RELEASED_HIGH, &STATISTIC],
    LOSS,
    entropy_loss,
)
.immutable()
.parallel_restricted()
.rows(1)
.about(
    "what a released sum, mean, count, min or max tells of a record, in bits, at the most \
         over n records: the loss of entropy, the KL divergence of posterior and prior, and the \
         largest log ratio of the two",
);

fn entropy_loss(call: &Call) -> Result<Datum> {
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
fn priors(given: Numbers<f64>, values: usize, n: u64) -> Result<Vec<Prior>> {
    let wrong =
        |what: String, hint: String| Err(Error::argument(format!("probabilities is {what}"), hint));
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
        return wrong(
            format!("{lists} lists for {n} records"),
            "Give a list for each record.".into(),
        );
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
) -> Result<Datum> {
    let loss =
        pool::run("measuring", 0, |watch| entropy::entropy_loss(domain, priors, release, watch))?;
    let loss = loss.map_err(|refused| refusal(refused, priors, release))?;
    let value =
        |of: fn(&Loss) -> Option<f64>| loss.as_ref().and_then(of).map_or(Value::Null, Value::Float);
    call.one_row([
        value(|loss| Some(loss.entropy_before)),
        value(|loss| Some(loss.entropy_after)),
        value(|loss| Some(loss.loss)),
        value(Loss::share),
        value(|loss| Some(loss.kl)),
        value(|loss| Some(loss.max_log_ratio)),
    ])
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

methods! {
    sanitize_entropy_loss => ENTROPY_LOSS;
    sanitize_entropy_loss_of => column::ENTROPY_LOSS_OF;
    sanitize_binary_entropy_loss => closed::BINARY_ENTROPY_LOSS;
    sanitize_expected_binary_entropy_loss => closed::EXPECTED_BINARY_ENTROPY_LOSS;
    sanitize_interval_privacy => closed::INTERVAL_PRIVACY;
}
