//! Exact counts of independent rows: how much they reveal about one row.

use super::binomial::Binomial;
use super::channel::check_sum;
use random::Error;

/// The largest number of rows of a range of counts: the sums have about as many terms as the square root of it.
const MOST: u64 = 1_000_000_000_000;

/// How much the count `y` of 1s reveals about one of `n` independent rows that are 1 with probability `p` each: the
/// largest of |ln P(row | y) - ln P(row)|. Infinite if all rows are equal: then each is known.
pub fn exact_count_epsilon(n: u64, p: f64, y: u64) -> Result<f64, Error> {
    check(n, p)?;
    Error::require(y <= n, "y", y, "it must be at most n")?;
    Ok(pointwise(n as f64, p, y as f64))
}

/// max(|ln(y / (n p))|, |ln((n - y) / (n (1 - p)))|).
fn pointwise(n: f64, p: f64, y: f64) -> f64 {
    // The mean is n p; both ratios are 1 plus the relative distance of the count from it.
    let excess = (-n).mul_add(p, y);
    let ones = (excess / (n * p)).ln_1p();
    let zeros = (-excess / (n * (1.0 - p))).ln_1p();
    let far = ones.abs().max(zeros.abs());
    if y == 0.0 || y == n { f64::INFINITY } else { far }
}

/// A count that is released if it lies between two ends and refused otherwise: how much that reveals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExactCount {
    /// How much any outcome, a released count or the refusal, reveals about one row.
    pub epsilon: f64,
    /// How much the refusal reveals.
    pub refuse_epsilon: f64,
    /// The probability that the count is released.
    pub release_probability: f64,
}

impl ExactCount {
    /// The count of `n` independent rows that are 1 with probability `p`, released if it is from `low` to
    /// `high`.
    pub fn new(n: u64, p: f64, low: u64, high: u64) -> Result<Self, Error> {
        check(n, p)?;
        Error::require(n <= MOST, "n", n, "it must be at most 10^12 for a range of counts")?;
        Error::require(low <= high, "low", low, "it must be at most high")?;
        Error::require(high <= n, "high", high, "it must be at most n")?;
        let (n, low, high) = (n as f64, low as f64, high as f64);
        // Both logarithms are monotone in the count, so the ends reveal most.
        let released = pointwise(n, p, low).max(pointwise(n, p, high));
        let refuse_epsilon = refuse_epsilon(n, p, low, high);
        Ok(ExactCount {
            epsilon: released.max(refuse_epsilon),
            refuse_epsilon,
            release_probability: Binomial::new(n, p).between(low, high),
        })
    }
}

/// The largest of |ln P(refuse | row) - ln P(refuse)|; 0 if nothing is ever refused.
fn refuse_epsilon(n: f64, p: f64, low: f64, high: f64) -> f64 {
    // The other rows decide: with a row that is 1 they need one 1 less.
    let others = Binomial::new(n - 1.0, p);
    let (below, above) = (others.lower(low - 1.0), others.upper(high));
    // Scaled by the largest, so that small probabilities do not vanish.
    let scale = [below.from, below.beyond, above.from, above.beyond]
        .into_iter()
        .fold(f64::NEG_INFINITY, f64::max);
    if scale == f64::NEG_INFINITY {
        return 0.0;
    }
    let scaled = |ln: f64| (ln - scale).exp();
    let if_one = scaled(below.beyond) + scaled(above.from);
    let if_zero = scaled(below.from) + scaled(above.beyond);
    let all = p * if_one + (1.0 - p) * if_zero;
    // P(refuse | 0) - P(refuse | 1) without the sums that both have.
    let difference = scaled(below.at) - scaled(above.at);
    let tells = |given: f64, excess: f64| {
        let ratio = excess / all;
        if ratio.abs() < 0.5 { ratio.ln_1p().abs() } else { (given / all).ln().abs() }
    };
    tells(if_one, -(1.0 - p) * difference).max(tells(if_zero, p * difference))
}

/// How much the exact counts of all values reveal about one of `n` independent rows, each of which has value x with
/// probability `probabilities[x]`: the largest of |ln(y_x / (n pi_x))|; infinite if a possible value does not occur.
pub fn exact_counts_epsilon(n: u64, probabilities: &[f64], counts: &[u64]) -> Result<f64, Error> {
    Error::require(n > 0, "n", n, "it must be at least 1")?;
    if let Some(bad) = probabilities.iter().find(|p| !(0.0..=1.0).contains(*p)) {
        return Err(Error::argument(
            "probabilities",
            format!("of numbers like {bad}"),
            "they are from 0 to 1",
        ));
    }
    check_sum("probabilities", probabilities, "they must add up to 1")?;
    let (length, range) = (counts.len(), "there must be one for each probability");
    let is_complete = length == probabilities.len();
    Error::require(is_complete, "counts", format_args!("of {length} numbers"), range)?;
    let total: u128 = counts.iter().map(|&count| u128::from(count)).sum();
    let value = format_args!("of numbers that add up to {total}");
    Error::require(total == u128::from(n), "counts", value, "they must add up to n")?;
    let mut epsilon = 0.0f64;
    for (&p, &count) in probabilities.iter().zip(counts) {
        if p == 0.0 && count > 0 {
            let count = format!("of {count} rows with a value of probability 0");
            return Err(Error::argument("counts", count, "what is impossible does not occur"));
        }
        if p > 0.0 {
            let mean = n as f64 * p;
            let excess = (-(n as f64)).mul_add(p, count as f64);
            let tells = (excess / mean).ln_1p().abs();
            epsilon = epsilon.max(if count == 0 { f64::INFINITY } else { tells });
        }
    }
    Ok(epsilon)
}

fn check(n: u64, p: f64) -> Result<(), Error> {
    Error::require(n > 0, "n", n, "it must be at least 1")?;
    Error::require(p > 0.0 && p < 1.0, "p", p, "it must be above 0 and below 1")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(a: f64, b: f64) -> bool {
        a == b || (a - b).abs() <= 1e-9 * b.abs().max(1e-3)
    }

    #[test]
    fn counts_of_the_vectors() {
        // 000-avg-0 and 000-avg-2.
        assert!(close(exact_count_epsilon(100, 0.5, 55).unwrap(), 0.105360515657826));
        assert!(close(exact_count_epsilon(1000, 0.1, 120).unwrap(), 0.182321556793955));
        assert_eq!(exact_count_epsilon(10, 0.5, 5), Ok(0.0));
        for y in [0, 10] {
            assert_eq!(exact_count_epsilon(10, 0.5, y), Ok(f64::INFINITY));
        }
        // A count of two values is the count of one of them.
        let both = exact_counts_epsilon(1000, &[0.1, 0.9], &[120, 880]).unwrap();
        assert!(close(both, 0.182321556793955));
        assert_eq!(exact_counts_epsilon(10, &[0.5, 0.5, 0.0], &[5, 5, 0]), Ok(0.0));
        assert_eq!(exact_counts_epsilon(10, &[0.5, 0.5], &[10, 0]), Ok(f64::INFINITY));
    }

    /// How much every outcome reveals about the first row, by enumerating all tables of `n` rows.
    fn by_tables(n: u32, p: f64, low: u32, high: u32) -> ExactCount {
        // By outcome, the refusal first: probability with a first row of 0 and of 1.
        let mut outcomes = vec![[0.0; 2]; n as usize + 2];
        for table in 0..1u32 << n {
            let ones = table.count_ones();
            let mass = p.powi(ones as i32) * (1.0 - p).powi((n - ones) as i32);
            let released = (low..=high).contains(&ones);
            let outcome = if released { ones as usize + 1 } else { 0 };
            outcomes[outcome][(table & 1) as usize] += mass;
        }
        let tells = |[zero, one]: &[f64; 2]| {
            let all = zero + one;
            match all > 0.0 {
                true => (one / p / all).ln().abs().max((zero / (1.0 - p) / all).ln().abs()),
                false => 0.0,
            }
        };
        ExactCount {
            epsilon: outcomes.iter().map(tells).fold(0.0, f64::max),
            refuse_epsilon: tells(&outcomes[0]),
            release_probability: outcomes[1..].iter().flatten().sum(),
        }
    }

    #[test]
    fn ranges_agree_with_all_tables() {
        for n in [1, 2, 5, 9] {
            for p in [0.07, 0.5, 0.8] {
                for low in 0..=n {
                    for high in low..=n {
                        let found = ExactCount::new(n.into(), p, low.into(), high.into()).unwrap();
                        let expected = by_tables(n, p, low, high);
                        let all = [
                            (found.epsilon, expected.epsilon),
                            (found.refuse_epsilon, expected.refuse_epsilon),
                            (found.release_probability, expected.release_probability),
                        ];
                        assert!(
                            all.iter().all(|&(a, b)| close(a, b)),
                            "{n} {p} {low} {high}: {found:?} {expected:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn large_tables() {
        // Four deviations of a billion fair rows on each side.
        let spread = 4.0 * (1e9f64 * 0.25).sqrt();
        let high = (5e8 + spread) as u64;
        let low = 1_000_000_000 - high;
        let found = ExactCount::new(1_000_000_000, 0.5, low, high).unwrap();
        assert!((1.0 - found.release_probability - 6.334e-5).abs() < 1e-7, "{found:?}");
        assert!(close(found.epsilon, exact_count_epsilon(1_000_000_000, 0.5, low).unwrap()));
        // Both sides refuse, so the refusal reveals little about a row.
        assert!(found.refuse_epsilon < 1e-8, "{found:?}");
        // One side refuses, so far out that its probability is below every float.
        let far = ExactCount::new(1_000_000_000, 0.5, 1, 700_000_000).unwrap();
        assert!(far.release_probability > 1.0 - 1e-11);
        // Rows of such a table are 1 with probability 0.7, and a little more.
        assert!((far.refuse_epsilon - (0.3f64 / 0.5).ln().abs()).abs() < 1e-6, "{far:?}");
        assert!(far.epsilon.is_finite() && far.epsilon > 19.0);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        assert!(exact_count_epsilon(0, 0.5, 0).is_err());
        assert!(exact_count_epsilon(5, 0.5, 6).is_err());
        for p in [0.0, 1.0, -0.1, f64::NAN] {
            assert!(exact_count_epsilon(5, p, 3).is_err());
        }
        for (n, low, high) in [(5, 4, 3), (5, 0, 6), (MOST + 1, 1, 2)] {
            assert!(ExactCount::new(n, 0.5, low, high).is_err());
        }
        assert!(exact_counts_epsilon(0, &[1.0], &[0]).is_err());
        assert!(exact_counts_epsilon(3, &[0.5, 0.6], &[1, 2]).is_err());
        assert!(exact_counts_epsilon(3, &[0.5, f64::NAN], &[1, 2]).is_err());
        assert!(exact_counts_epsilon(3, &[0.5, 0.5], &[1, 1]).is_err());
        assert!(exact_counts_epsilon(3, &[0.5, 0.5], &[1, 1, 1]).is_err());
        assert!(exact_counts_epsilon(3, &[1.0, 0.0], &[1, 2]).is_err());
    }

    proptest! {
        /// The row of a table with a given count: y of n rows are 1, all equally likely.
        #[test]
        fn a_count_tells_what_bayes_says(n in 1u32..40, share in 0.0f64..=1.0, p in 0.01f64..0.99) {
            let y = (f64::from(n) * share).round();
            let posterior = y / f64::from(n);
            let expected =
                (posterior / p).ln().abs().max(((1.0 - posterior) / (1.0 - p)).ln().abs());
            let found = exact_count_epsilon(n.into(), p, y as u64).unwrap();
            prop_assert!(found == expected || (found - expected).abs() < 1e-12);
        }
    }
}
