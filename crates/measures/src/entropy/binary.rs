//! Theorems 1 and 2: bits that are 0 or 1 with equal probability, whose average is released.

use super::bits::excess;
use crate::sum::Sum;
use std::f64::consts::LN_2;

/// The loss of each of n records of which k are 1: `1 - H(k / n)`. `None` without records.
pub fn binary_entropy_loss(n: u64, k: u64) -> Option<f64> {
    if n == 0 || k > n {
        return None;
    }
    // Posterior over prior of 1 and of 0.
    let ratio = |count: u64| 2.0 * count as f64 / n as f64;
    let log = |count: u64| {
        let difference = count as f64 - (n - count) as f64;
        if ratio(count) > 0.5 { (difference / n as f64).ln_1p() } else { ratio(count).ln() }
    };
    Some((0.5 * excess(log(k)) + 0.5 * excess(log(n - k))) / LN_2)
}

/// The expected loss, `Σ C(n, k) 2^-n (1 - H(k / n))`. The paper prints the second term of H with a minus
/// sign, which makes every sum 1. `None` without records.
///
/// Probabilities are computed relative to the middle, until they are too small to matter: O(√n).
pub fn expected_binary_entropy_loss(n: u64) -> Option<f64> {
    if n == 0 {
        return None;
    }
    let (mut loss, mut all) = (Sum::default(), Sum::default());
    let mut chance = 1.0;
    let mut k = n / 2;
    // From the middle downwards; k and n - k are equally likely and lose the same.
    loop {
        let times = if 2 * k == n { 1.0 } else { 2.0 };
        loss.add(times * chance * binary_entropy_loss(n, k)?);
        all.add(times * chance);
        if k == 0 || chance < 1e-30 {
            return Some(loss.get() / all.get());
        }
        chance *= k as f64 / (n - k + 1) as f64;
        k -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vectors 004-thm1-*.
    #[test]
    fn theorem_1() {
        let vectors = [
            (2, 0, 1.0),
            (3, 1, 0.0817041659455105),
            (4, 0, 1.0),
            (4, 2, 0.0),
            (5, 1, 0.278071905112638),
            (7, 1, 0.408327221417673),
            (7, 3, 0.0147718639657485),
            (10, 0, 1.0),
            (10, 2, 0.278071905112638),
            (10, 4, 0.0290494055453314),
            (13, 1, 0.608756436370744),
            (13, 3, 0.220650162707915),
            (13, 5, 0.0387633952771241),
            (20, 0, 1.0),
            (20, 2, 0.531004406410719),
            (20, 4, 0.278071905112638),
            (20, 6, 0.118709100769307),
            (20, 8, 0.0290494055453314),
            (20, 10, 0.0),
        ];
        for (n, k, expected) in vectors {
            let found = binary_entropy_loss(n, k).unwrap();
            assert!((found - expected).abs() <= 1e-13 * expected, "{n} {k}: {found}");
            assert_eq!(binary_entropy_loss(n, n - k), Some(found));
        }
        assert_eq!((binary_entropy_loss(0, 0), binary_entropy_loss(3, 4)), (None, None));
        // Where 1 - H would cancel: 2 d² / ln 2 for k / n = 1/2 + d.
        let near = binary_entropy_loss(2_000_000_000, 1_000_000_001).unwrap();
        assert!((near / (2.0 * 5e-10f64.powi(2) / LN_2) - 1.0).abs() < 1e-6);
    }

    /// Vectors 004-thm2-*.
    #[test]
    fn theorem_2_with_its_sign_corrected() {
        let vectors = [
            (1, 1.0),
            (2, 0.5),
            (3, 0.311278124459133),
            (5, 0.167553348813531),
            (7, 0.113277716387901),
            (9, 0.0857299966895146),
            (11, 0.0690924379105947),
            (13, 0.0579166572776685),
            (15, 0.0498730437713684),
            (17, 0.0437992011191008),
            (19, 0.0390476826494498),
        ];
        for (n, expected) in vectors {
            let found = expected_binary_entropy_loss(n).unwrap();
            assert!((found / expected - 1.0).abs() < 1e-12, "{n}: {found}");
        }
        // 1 / (2 n ln 2) for large n.
        let many = expected_binary_entropy_loss(i32::MAX as u64).unwrap();
        assert!((many * 2.0 * f64::from(i32::MAX) * LN_2 - 1.0).abs() < 1e-8);
        assert_eq!(expected_binary_entropy_loss(0), None);
    }
}
