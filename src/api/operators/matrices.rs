//! Randomisation operators: what they reveal, which breaches they allow, and numbers randomised by them.

use crate::api::prelude::*;
use crate::pg::call::array;
use randomize::operator::{self, Direction, NumberOperator, Operator, Prior};

const OPERATOR: Argument<Operator> = Argument::new("operator", Type::Floats, |given| {
    let (cells, outputs) = given.needed(given.floats()?)?.matrix().map_err(|what| {
        given.refuse(what, "It is an array of rows, one for each input: '{{0.6,0.4},{0.4,0.6}}'.")
    })?;
    Ok(Operator::new(cells, outputs)?)
})
.about("The operator as a matrix: operator[x][y] is the probability of output y from input x.");

const PRIOR: Argument<Vec<f64>> =
    Argument::new("prior", Type::Floats, |given| vector(given, given.needed(given.floats()?)?))
        .about("How likely each input is before an output is seen.");

const OBSERVED: Argument<Vec<u64>> = Argument::new("observed", Type::BigInts, |given| {
    let counts = vector(given, given.needed(given.big_ints()?)?)?;
    let count = |n: i64| u64::try_from(n).map_err(|_| given.refuse(n, "Counts are 0 or more."));
    counts.into_iter().map(count).collect()
})
.about("How often each output was observed.");

const Y: Argument<i32> = Argument::of("y").about("The output that was seen, counted from 1.");

const RHO1: Argument<f64> =
    Argument::of("rho1").about("The probability up to which a property counts as unlikely.");
const RHO2: Argument<f64> =
    Argument::of("rho2").about("The probability from which on a property counts as likely.");
const GAMMA: Argument<f64> =
    Argument::of("gamma").about("How far the operator amplifies: 1 or more.");
const PRIOR_OF_PROPERTY: Argument<f64> =
    Argument::of("prior").about("How likely a property is before an output is seen.");
const WORST_CASE: Argument<f64> =
    Argument::of("worst_case").about("The worst-case information, in bits.");
const INVERSE_WORST_CASE: Argument<f64> =
    Argument::of("inverse_worst_case").about("The inverse worst-case information, in bits.");
const KEEP: Argument<f64> =
    Argument::of("keep").about("The probability with which a value is kept.");
const MIX: Argument<f64> = Argument::of("mix")
    .about("The probability with which any number of the range is as likely as the next.");

const METHOD: Argument<operator::Method> = Argument::choice("method")
    .or("\"em\"")
    .about("Which law is found: 'em', the likeliest, or 'inverse', unbiased but perhaps negative.");

/// NULL would show that there was no value.
const VALUE: Argument<i64> = Argument::of("value")
    .about("The number to randomise; outside of low..high the nearer end counts.");
const LOW: Argument<i64> = Argument::of("low").about("The least number there is.");
const HIGH: Argument<i64> = Argument::of("high").about("The largest number there is.");

const WINDOW_SIZE: Argument<u64> = Argument::new("window_size", Type::Int8, |given| {
    given.at_least(0, "It is a distance: 0 or more.")
})
.about("How far from the value a number may lie that is near it.");

const DOMAIN_SIZE: Argument<usize> = Argument::new("domain_size", Type::Int4, |given| {
    given.at_least(0, "It is a number of values: 1 or more.")
})
.about("How many values there are.");

fn vector<T: Copy>(given: &Given<'_>, numbers: array::Numbers<T>) -> Result<Vec<T>> {
    let wrong =
        |what| given.refuse(what, "It is an array of one dimension without NULL: '{1,2,3}'.");
    match numbers.vector() {
        Ok(numbers) if numbers.is_empty() => Err(wrong("empty")),
        numbers => numbers.map_err(wrong),
    }
}

/// The operator of a call, and the prior for it.
fn known(call: &Call) -> Result<(Operator, Prior)> {
    let operator = call.get(&OPERATOR)?;
    let prior = Prior::new(call.get(&PRIOR)?, &operator)?;
    Ok((operator, prior))
}

/// Runs long work on an operator in the pool.
fn run<T: Send>(
    phase: &'static str,
    operator: &Operator,
    job: impl FnOnce(&Watch) -> Result<T, random::Error> + Send,
) -> Result<T> {
    let tell = |_: &Watch| format!("{} inputs", operator.inputs());
    pool::run_telling(phase, operator.memory(), tell, job)
}

const BREACH_GAMMA: Method =
    Method::new("breach_gamma", &[&RHO1, &RHO2], Returns::One(Type::Float8), |call| {
        call.value(operator::breach_gamma(call.get(&RHO1)?, call.get(&RHO2)?)?)
    })
    .pure()
    .about(
        "the gamma below which an operator causes no breach from rho1 to rho2, and none down \
         from rho2 to rho1, whatever the prior",
    );

const BREACH_POSTERIOR: Method = Method::new(
    "breach_posterior",
    &[&GAMMA, &PRIOR_OF_PROPERTY],
    columns![low: Float8, high: Float8],
    |call| {
        let bounds = operator::breach_posterior(call.get(&GAMMA)?, call.get(&PRIOR_OF_PROPERTY)?)?;
        call.one_row([Value::Float(bounds.low), Value::Float(bounds.high)])
    },
)
.pure()
.rows(1)
.about(
    "between which bounds an operator that amplifies by at most gamma leaves the \
         probability of a property with this prior",
);

const AMPLIFICATION: Method =
    Method::new("amplification", &[&OPERATOR], Returns::One(Type::Float8), |call| {
        call.value(operator::amplification(&call.get(&OPERATOR)?))
    })
    .pure()
    .about(
        "gamma: the largest ratio of the probabilities of one output from two inputs; infinite \
         if an output rules an input out. operator[x][y] is the probability of output y from \
         input x",
    );

const INFORMATION: Method = Method::new(
    "information",
    &[&OPERATOR, &PRIOR],
    columns![mutual: Float8, worst_case: Float8, inverse_worst_case: Float8],
    |call| {
        let (operator, prior) = known(call)?;
        let found = measures::information(&operator, &prior, &settings::watch())?;
        let columns = [found.mutual, found.worst_case, found.inverse_worst_case];
        call.one_row(columns.map(Value::Float))
    },
)
.pure()
.rows(1)
.about(
    "what outputs tell of inputs, in bits: on average, at the worst output, and the inverse \
         measure, which bounds downward breaches",
);

const BREACH_CHECK: Method = Method::new(
    "breach_check",
    &[&OPERATOR, &PRIOR, &RHO1, &RHO2],
    columns![y: Int4, direction: Text, posterior_low: Float8, posterior_high: Float8, breach: Bool],
    |call| {
        let ((operator, prior), rho1, rho2) = (known(call)?, call.get(&RHO1)?, call.get(&RHO2)?);
        let found = run("checking outputs", &operator, |watch| {
            operator::breach_check(&operator, &prior, rho1, rho2, watch)
        })?;
        let mut rows = ResultRows::begin(call)?;
        for worst in found {
            let direction = match worst.direction {
                Direction::Upward => "upward",
                Direction::Downward => "downward",
            };
            rows.push([
                Value::Int(counted(worst.y)),
                Value::Text(direction.as_bytes()),
                Value::Float(worst.low),
                Value::Float(worst.high),
                worst.breach.map_or(Value::Null, Value::Bool),
            ]);
        }
        Ok(rows.finish(call))
    },
)
.immutable()
.parallel_restricted()
.rows(100)
.about(
    "for each output that can occur and each direction, bounds on the extreme posterior of \
         a property, and whether it is a breach from rho1 to rho2 (upward) or from rho2 to rho1 \
         (downward)",
);

/// Inputs and outputs are counted from 1, as arrays are.
fn counted(i: usize) -> i32 {
    i32::try_from(i + 1).unwrap_or(i32::MAX)
}

const POSTERIOR: Method =
    Method::new("posterior", &[&OPERATOR, &PRIOR, &Y], Returns::One(Type::Floats), |call| {
        let ((operator, prior), y) = (known(call)?, call.get(&Y)?);
        let place = usize::try_from(y).ok().and_then(|y| y.checked_sub(1));
        let place = place.filter(|&y| y < operator.outputs()).ok_or_else(|| {
            Error::argument(
                format!("y is {y}"),
                format!("The operator has outputs 1 to {}.", operator.outputs()),
            )
        })?;
        Ok(match operator::posterior(&operator, &prior, place) {
            Some(law) => array::vector(&law),
            None => call.null(),
        })
    })
    .pure()
    .about(
        "how likely each input is once output y was seen, which is counted from 1; NULL if that \
         output cannot occur",
    );

const BREACH_INFORMATION: Method =
    Method::new("breach_information", &[&RHO1, &RHO2], Returns::One(Type::Float8), |call| {
        call.value(measures::breach_information(call.get(&RHO1)?, call.get(&RHO2)?)?)
    })
    .pure()
    .about(
        "the worst-case information, in bits, below which no breach from rho1 to rho2 can \
         occur, and the inverse one below which none down from rho2 to rho1 can",
    );

const INFORMATION_BREACH_BOUND: Method = Method::new(
    "information_breach_bound",
    &[&WORST_CASE, &INVERSE_WORST_CASE, &PRIOR_OF_PROPERTY],
    columns![low: Float8, high: Float8, tight_low: Float8, tight_high: Float8],
    |call| {
        let bound = measures::information_breach_bound(
            call.get(&WORST_CASE)?,
            call.get(&INVERSE_WORST_CASE)?,
            call.get(&PRIOR_OF_PROPERTY)?,
        )?;
        let columns = [bound.low, bound.high, bound.tight_low, bound.tight_high];
        call.one_row(columns.map(Value::Float))
    },
)
.pure()
.rows(1)
.about(
    "between which bounds so much information leaves the probability of a property with \
         this prior; tight: by both measures, for the property and its complement",
);

const RECONSTRUCT_DISTRIBUTION: Method = Method::new(
    "reconstruct_distribution",
    &[&OPERATOR, &OBSERVED, &METHOD],
    columns![x: Int4, probability: Float8, stddev: Float8, stddev_of_share: Float8],
    |call| {
        let (operator, observed) = (call.get(&OPERATOR)?, call.get(&OBSERVED)?);
        let method = call.get(&METHOD)?;
        let found = run("reconstructing", &operator, |watch| {
            operator::reconstruct(&operator, &observed, method, watch)
        })?;
        let mut rows = ResultRows::begin(call)?;
        let known = |deviation: Option<f64>| deviation.map_or(Value::Null, Value::Float);
        for (x, estimate) in found.into_iter().enumerate() {
            rows.push([
                Value::Int(counted(x)),
                Value::Float(estimate.probability),
                known(estimate.stddev),
                known(estimate.stddev_of_share),
            ]);
        }
        Ok(rows.finish(call))
    },
)
.immutable()
.parallel_restricted()
.rows(100)
.about(
    "the probability of each input, from how often each output was observed, with standard \
         deviations: em, the likeliest law, or inverse, unbiased but perhaps negative",
);

const RANDOMIZE_NUMBER: Method = Method::new(
    "randomize_number",
    &[&VALUE, &LOW, &HIGH, &WINDOW_SIZE, &MIX, &SEED],
    Returns::One(Type::Int8),
    |call| {
        let (operator, value) = (number_operator(&call.arguments)?, call.get(&VALUE)?);
        Ok(Datum::from(operator.draw(&mut coins(call.get(&SEED)?)?, value)))
    },
)
.parallel_restricted()
.about(
    "with probability mix any number of low..high, else the value plus a number of \
         -window_size..window_size, wrapping around; drawn exactly by the law of \
         number_operator",
)
.labelled(&[&PRIOR_LIMIT], label);

/// Used only for the label.
const PRIOR_LIMIT: Argument<Option<f64>> = Argument::of("rho1").about(
    "A prior probability of a property: the label then says below which posterior it stays.",
);

fn label(options: &Arguments<'_>) -> Result<Guarantee> {
    /// How far above the bound the label's rho2 is: at the bound itself Definition 1 has a breach.
    const STRICTLY: f64 = 1.0 + 1e-9;
    let gamma = number_operator(options)?.gamma_above();
    let breach = match options.get(&PRIOR_LIMIT)? {
        Some(rho1) if rho1 > 0.0 && rho1 < 1.0 => {
            let rho2 = operator::breach_posterior(gamma, rho1)?.high * STRICTLY;
            Some((rho1, rho2)).filter(|_| rho2 < 1.0)
        }
        Some(rho1) => {
            return Err(Error::argument(
                format!("option rho1 is {rho1}"),
                "It is a probability between 0 and 1.",
            ));
        }
        None => None,
    };
    let coins = coins_of(options.get(&SEED)?);
    Ok(Guarantee::randomize_number(gamma, breach, coins))
}

fn number_operator(arguments: &Arguments<'_>) -> Result<NumberOperator> {
    let (low, high) = (arguments.get(&LOW)?, arguments.get(&HIGH)?);
    Ok(NumberOperator::new(low, high, arguments.get(&WINDOW_SIZE)?, arguments.get(&MIX)?)?)
}

const RR_OPERATOR: Method =
    Method::new("rr_operator", &[&DOMAIN_SIZE, &KEEP], Returns::One(Type::Floats), |call| {
        let (size, keep) = (call.get(&DOMAIN_SIZE)?, call.get(&KEEP)?);
        matrix(size as u128, || Operator::randomised_response(size, keep))
    })
    .pure()
    .about(
        "the operator that keeps a value with that probability and otherwise returns one of the \
         others, each as likely as the next",
    );

const NUMBER_OPERATOR: Method = Method::new(
    "number_operator",
    &[&LOW, &HIGH, &WINDOW_SIZE, &MIX],
    Returns::One(Type::Floats),
    |call| {
        let operator = number_operator(&call.arguments)?;
        matrix(operator.size().into(), || operator.matrix())
    },
)
.pure()
.about("the operator by which sanitize.randomize_number draws, as a matrix");

/// The matrix of an operator on `size` values, for which there must be memory.
fn matrix(size: u128, make: impl FnOnce() -> Result<Operator, random::Error>) -> Result<Datum> {
    // Larger matrices are refused when they are made.
    let cells = (size * size).min(operator::MAX_CELLS as u128) as u64;
    let watch = settings::watch();
    let _held = watch.hold(2 * cells * size_of::<f64>() as u64)?;
    let operator = make()?;
    Ok(array::matrix(operator.cells(), operator.outputs()))
}

methods! {
    sanitize_breach_gamma => BREACH_GAMMA;
    sanitize_breach_posterior => BREACH_POSTERIOR;
    sanitize_amplification => AMPLIFICATION;
    sanitize_information => INFORMATION;
    sanitize_breach_check => BREACH_CHECK;
    sanitize_posterior => POSTERIOR;
    sanitize_breach_information => BREACH_INFORMATION;
    sanitize_information_breach_bound => INFORMATION_BREACH_BOUND;
    sanitize_reconstruct_distribution => RECONSTRUCT_DISTRIBUTION;
    sanitize_randomize_number => RANDOMIZE_NUMBER;
    sanitize_rr_operator => RR_OPERATOR;
    sanitize_number_operator => NUMBER_OPERATOR;
}
