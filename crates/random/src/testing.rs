//! Chi-square tests against an exact law. Seeds are fixed, so a test either always passes or always fails.

/// The uniform law on `0..n`.
pub fn uniform(n: usize) -> Vec<f64> {
    vec![1.0 / n as f64; n]
}

/// The binomial law: the probabilities of 0 … n successes.
pub fn binomial(n: usize, p: f64) -> Vec<f64> {
    let mut law = vec![1.0];
    for _ in 0..n {
        let mut next = vec![0.0; law.len() + 1];
        for (j, x) in law.iter().enumerate() {
            next[j] += x * (1.0 - p);
            next[j + 1] += x * p;
        }
        law = next;
    }
    law
}

/// Fails if draws on `0..law.len()` do not follow `law`.
pub fn assert_fits(law: &[f64], draws: usize, mut draw: impl FnMut() -> i64) {
    let mut seen = vec![0.0; law.len()];
    for _ in 0..draws {
        let x = draw();
        let cell = usize::try_from(x).ok().filter(|&x| x < law.len());
        seen[cell.unwrap_or_else(|| panic!("{x} is outside the law"))] += 1.0;
    }
    check(law, &seen, draws);
}

/// Fails if draws do not follow the law of an integer with the given probabilities. Rare values at both ends are
/// pooled.
pub fn assert_fits_integers(law: impl Fn(i64) -> f64, draws: usize, mut draw: impl FnMut() -> i64) {
    let reach = (0..).find(|&x| law(x) * (draws as f64) < 10.0).unwrap_or(0);
    let inner: Vec<f64> = (-reach..=reach).map(&law).collect();
    let tail = (1.0 - inner.iter().sum::<f64>()).max(0.0) / 2.0;
    let mut pooled = inner;
    pooled[0] += tail;
    pooled[2 * reach as usize] += tail;
    assert_fits(&pooled, draws, || draw().clamp(-reach, reach) + reach);
}

fn check(law: &[f64], seen: &[f64], draws: usize) {
    let possible = law.iter().filter(|&&p| p > 0.0).count();
    let mut statistic = 0.0;
    for (&p, &count) in law.iter().zip(seen) {
        let expected = p * draws as f64;
        if expected > 0.0 {
            statistic += (count - expected).powi(2) / expected;
        } else {
            assert_eq!(count, 0.0, "an impossible value was drawn");
        }
    }
    // Wilson and Hilferty: the cube root of a chi-square over its degrees of freedom is nearly normal.
    let freedom = possible as f64 - 1.0;
    if freedom > 0.0 {
        let spread = 2.0 / (9.0 * freedom);
        let z = ((statistic / freedom).cbrt() - (1.0 - spread)) / spread.sqrt();
        assert!(z < 4.0, "chi-square {statistic} at {freedom} degrees of freedom (z = {z})");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "chi-square")]
    fn a_bias_of_five_per_cent_is_found() {
        let mut x = 0;
        assert_fits(&[0.5, 0.5], 20_000, || {
            x += 1;
            i64::from(x % 20 < 9)
        });
    }
}
