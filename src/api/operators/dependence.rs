//! How much an output reveals of its input: randomisations as matrices, and exact counts.

use crate::api::prelude::*;
use randomize::dependence::{Channel, ExactCount, exact_count_epsilon, exact_counts_epsilon};

/// A matrix row by row, and the length of its rows.
const OPERATOR: Argument<(Vec<f64>, usize)> = Argument::new("operator", Type::Floats, |given| {
    let hint = "operator is a matrix whose rows add up to 1: ARRAY[[0.75, 0.25], [0.25, 0.75]].";
    given.needed(given.floats()?)?.matrix().map_err(|what| given.refuse(what, hint))
})
.about("A matrix: operator[x][y] is the probability that x becomes y.");

const PRIOR: Argument<Vec<f64>> = Argument::new("prior", Type::Floats, |given| {
    number_list(given, given.floats()?, "prior is an array of probabilities: ARRAY[0.5, 0.5].")
})
.about("How likely each x is.");

const DEPENDENCE: Method = Method::new(
    "dependence",
    &[&OPERATOR, &PRIOR],
    columns![
        epsilon: Float8, mutual: Float8, mutual_bound: Float8, min_entropy_leakage: Float8,
        guess: Float8, guess_bound: Float8
    ],
    |call| {
        let (operator, outputs) = call.get(&OPERATOR)?;
        let found = Channel::new(outputs, operator, call.get(&PRIOR)?)?.dependence();
        call.one_row([
            Value::Float(found.epsilon),
            Value::Float(found.mutual),
            Value::Float(found.mutual_bound),
            Value::Float(found.min_entropy_leakage),
            Value::Float(found.guess),
            Value::Float(found.guess_bound),
        ])
    },
)
.pure()
.rows(1)
.about(
    "how far input and output of a randomisation depend on each other for a prior: the \
         least epsilon of epsilon-dependence, mutual information and its bound in bits, \
         min-entropy leakage, the success of the best guess and Fano's bound on it",
);

const N: Argument<u64> = Argument::new("n", Type::Int8, count).about("How many rows there are.");

const P: Argument<f64> = Argument::of("p").about("The probability that a row counts.");

const Y: Argument<u64> = Argument::new("y", Type::Int8, count).about("How many rows count.");

const LOW: Argument<u64> =
    Argument::new("low", Type::Int8, count).about("The least count that is released.");

const HIGH: Argument<u64> =
    Argument::new("high", Type::Int8, count).about("The largest count that is released.");

fn count(given: &Given<'_>) -> Result<u64> {
    given.at_least(0, format!("{} is a number of rows: 0 or more.", given.name()))
}

const EXACT_COUNT_EPSILON: Method =
    Method::new("exact_count_epsilon", &[&N, &P, &Y], Returns::One(Type::Float8), |call| {
        let epsilon = exact_count_epsilon(call.get(&N)?, call.get(&P)?, call.get(&Y)?)?;
        call.value(epsilon)
    })
    .pure()
    .about(
        "how much the exact count y tells of one of n independent rows that count with \
         probability p, to somebody who knows no other row",
    );

fn exact_count(arguments: &Arguments<'_>) -> Result<ExactCount> {
    let (n, p) = (arguments.get(&N)?, arguments.get(&P)?);
    Ok(ExactCount::new(n, p, arguments.get(&LOW)?, arguments.get(&HIGH)?)?)
}

const EXACT_COUNT_EPSILON_RANGE: Method = Method::new(
    "exact_count_epsilon",
    &[&N, &P, &LOW, &HIGH],
    columns![epsilon: Float8, refuse_epsilon: Float8, release_probability: Float8],
    |call| {
        let found = exact_count(&call.arguments)?;
        call.one_row([
            Value::Float(found.epsilon),
            Value::Float(found.refuse_epsilon),
            Value::Float(found.release_probability),
        ])
    },
)
.pure()
.rows(1)
.about(
    "how much a count that is released from low to high, and refused otherwise, tells of one \
         row at most; how much the refusal tells; how likely a release is",
)
.labelled(&[], |options| Ok(Guarantee::exact_count(exact_count(options)?.epsilon)));

const PROBABILITIES: Argument<Vec<f64>> = Argument::new("probabilities", Type::Floats, |given| {
    number_list(
        given,
        given.floats()?,
        "probabilities is an array that adds up to 1: ARRAY[0.2, 0.8].",
    )
})
.about("The probability of each value.");

const COUNTS: Argument<Vec<u64>> = Argument::new("counts", Type::BigInts, |given| {
    let hint = "counts is an array of numbers of rows: ARRAY[25, 75].";
    let counts = number_list(given, given.big_ints()?, hint)?;
    let count = |&count: &i64| {
        u64::try_from(count)
            .map_err(|_| given.refuse(format_args!("of numbers like {count}"), hint))
    };
    counts.iter().map(count).collect()
})
.about("How many rows have each value.");

fn exact_counts(arguments: &Arguments<'_>) -> Result<f64> {
    let (probabilities, counts) = (arguments.get(&PROBABILITIES)?, arguments.get(&COUNTS)?);
    Ok(exact_counts_epsilon(arguments.get(&N)?, &probabilities, &counts)?)
}

const EXACT_COUNTS_EPSILON: Method = Method::new(
    "exact_counts_epsilon",
    &[&N, &PROBABILITIES, &COUNTS],
    Returns::One(Type::Float8),
    |call| call.value(exact_counts(&call.arguments)?),
)
.pure()
.about(
    "how much the exact counts of all values tell of one of n independent rows that have \
         them with these probabilities",
)
.labelled(&[], |options| Ok(Guarantee::exact_counts(exact_counts(options)?)));

methods! {
    sanitize_dependence => DEPENDENCE;
    sanitize_exact_count_epsilon => EXACT_COUNT_EPSILON;
    sanitize_exact_count_epsilon_range => EXACT_COUNT_EPSILON_RANGE;
    sanitize_exact_counts_epsilon => EXACT_COUNTS_EPSILON;
}
