//! Noisy counts of marginals: how many of them a row is in, which noise they get, and the cost of that noise.

use super::SampleRequest;
use guarantee::zcdp_rho;
use random::{Error, Noise, Ratio};

/// The number of standard deviations of noise by which a noisy count must exceed the threshold. About one rare
/// combination in 40 then passes for a frequent one.
const MARGIN: f64 = 2.0;

/// The number of marginal cells that one row is in must be exact as a float.
const MAX_MARGINALS: u64 = 1 << 53;

/// The narrower of the two noises that make counts (epsilon, delta)-DP if a row adds 1 to each of `counts` of them,
/// with the delta that it needs. The choice depends on nothing else.
pub(crate) fn count_noise(counts: u64, epsilon: f64, delta: f64) -> Result<(Noise, f64), Error> {
    let laplace = Noise::laplace(counts, epsilon)?;
    if delta > 0.0 {
        let rho = zcdp_rho(epsilon, delta);
        if let Ok(gaussian) = rho.and_then(|rho| Noise::gaussian(counts as f64, rho))
            && gaussian.stddev() < laplace.stddev()
        {
            return Ok((gaussian, delta));
        }
    }
    Ok((laplace, 0.0))
}

/// The threshold on noisy counts, for a threshold on true ones.
pub(crate) fn with_margin(theta: u64, noise: &Noise) -> u64 {
    (theta as f64 + (MARGIN * noise.stddev()).ceil()) as u64
}

/// The zCDP of Gaussian noise on counts, if a row adds 1 to each of `counts` of them; rounded up.
pub(crate) fn count_rho(counts: u64, sigma2: &Ratio) -> f64 {
    // The variance as a float is within two units in its last place.
    counts as f64 / (2.0 * sigma2.to_f64()) * (1.0 + 4.0 * f64::EPSILON)
}

/// The number of marginals of at most the longest length: a row adds 1 to one count of each.
pub(crate) fn marginals(request: &SampleRequest) -> Result<u64, Error> {
    let columns = request.columns as u128;
    let longest = request.max_length.unwrap_or(usize::MAX).min(request.columns);
    let (mut choose, mut sum) = (1u128, 0u128);
    for length in 1..=longest as u128 {
        choose = choose * (columns - length + 1) / length;
        sum += choose;
        if sum > u128::from(MAX_MARGINALS) {
            let value = format!("{longest} of {columns} columns");
            return Err(Error::argument(
                "max_length",
                value,
                "that is more marginals than can be counted",
            ));
        }
    }
    Ok(sum as u64)
}

#[cfg(test)]
mod tests {
    use super::super::Scheme;
    use super::*;
    use guarantee::zcdp_delta;

    #[test]
    fn the_better_noise_is_chosen() {
        let chosen = |counts| count_noise(counts, 0.1, 1e-6).unwrap();
        assert!(matches!(chosen(1), (Noise::Laplace { .. }, 0.0)));
        assert!(matches!(chosen(120), (Noise::Gaussian { .. }, 1e-6)));
        assert!(matches!(count_noise(120, 0.1, 0.0), Ok((Noise::Laplace { .. }, 0.0))));
        assert!(count_noise(120, 0.0, 0.1).is_err());
    }

    #[test]
    fn calibrated_noise_meets_the_budget() {
        let (noise, delta) = count_noise(120, 1.0, 1e-6).unwrap();
        let Noise::Gaussian { sigma2 } = &noise else { panic!("{noise:?}") };
        let rho = 120.0 / (2.0 * sigma2.to_f64());
        assert!(zcdp_delta(rho, 1.0) <= delta);
        assert!(zcdp_delta(rho * 1.0001, 1.0) > delta, "the noise is wider than it must be");
    }

    #[test]
    fn marginals_are_counted_exactly() {
        let request = SampleRequest {
            scheme: Scheme::DpCounts,
            epsilon: 1.0,
            delta: 1e-6,
            k: 10,
            split: 0.1,
            max_length: None,
            columns: 15,
            theta1: None,
        };
        let count =
            |columns, max_length| marginals(&SampleRequest { columns, max_length, ..request });
        assert_eq!(count(15, Some(2)), Ok(120));
        assert_eq!(count(3, None), Ok(7));
        assert_eq!(count(2, Some(9)), Ok(3));
        assert!(count(200, None).is_err());
        assert!(count(usize::MAX, Some(2)).is_err());
    }
}
