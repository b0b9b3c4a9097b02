//! The privacy loss of a record in bits: its posterior compared with its prior.

use crate::sum::Sum;
use std::f64::consts::LN_2;

/// What a release reveals about a record: the paper's loss, and two measures that are never negative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Loss {
    /// The entropy of the record's value before and after the release.
    pub entropy_before: f64,
    pub entropy_after: f64,
    /// Entropy before minus entropy after. Negative if the release makes the value less certain.
    pub loss: f64,
    /// The Kullback-Leibler divergence of the posterior from the prior.
    pub kl: f64,
    /// The largest |lg (posterior / prior)| of a value that was possible before; infinite if the release
    /// rules one out.
    pub max_log_ratio: f64,
}

impl Loss {
    /// The loss as a share of the entropy before; `None` if that is 0.
    pub fn share(&self) -> Option<f64> {
        (self.entropy_before > 0.0).then(|| self.loss / self.entropy_before)
    }

    /// Computes the loss from the prior of a record and, for each value, the log-likelihood of the release if the
    /// record has it, up to a common constant. `None` if the release is impossible.
    ///
    /// With r = posterior / prior, KL = Σ p (r ln r - r + 1), as Σ p r = 1: no term is negative, so nothing cancels
    /// where the release reveals little. The loss is KL + Σ p (r - 1) lg p.
    pub(super) fn of(prior: &[f64], log_likelihoods: &[f64]) -> Option<Self> {
        let possible = || prior.iter().zip(log_likelihoods).filter(|(p, _)| **p > 0.0);
        let largest = possible().map(|(_, &l)| l).fold(f64::NEG_INFINITY, f64::max);
        if largest == f64::NEG_INFINITY {
            return None;
        }
        let total = Sum::of(possible().map(|(p, l)| p * (l - largest).exp()));
        let norm = largest + total.ln();
        let before = -Sum::of(possible().map(|(p, _)| p * p.ln()));
        let kl = Sum::of(possible().map(|(p, l)| p * excess(l - norm)));
        // Σ p (r - 1) is 0, so the mean of the logarithms can be subtracted from each.
        let shift = Sum::of(possible().map(|(p, l)| p * (l - norm).exp_m1() * (p.ln() + before)));
        let ratio = possible().map(|(_, l)| (l - norm).abs()).fold(0.0, f64::max);
        let loss = (kl + shift) / LN_2;
        let entropy_before = before / LN_2;
        let after = -Sum::of(possible().map(|(p, l)| {
            let log = p.ln() + l - norm;
            if log == f64::NEG_INFINITY { 0.0 } else { log.exp() * log }
        }));
        Some(Loss {
            entropy_before: entropy_before.max(0.0),
            entropy_after: (after / LN_2).max(0.0),
            loss,
            kl: kl / LN_2,
            max_log_ratio: ratio / LN_2,
        })
    }

    /// The maximum of each measure; the entropies are those of the larger loss.
    pub(super) fn worst(self, other: Loss) -> Loss {
        let larger = if other.loss > self.loss { other } else { self };
        Loss {
            kl: self.kl.max(other.kl),
            max_log_ratio: self.max_log_ratio.max(other.max_log_ratio),
            ..larger
        }
    }
}

/// `r ln r - r + 1` for r = exp(log): never negative, and correct to the last digits near r = 1.
pub(super) fn excess(log: f64) -> f64 {
    if log == f64::NEG_INFINITY {
        return 1.0;
    }
    if log.abs() < 0.05 {
        // e^x (x - 1) + 1 = Σ (j - 1) x^j / j!
        let (mut term, mut sum) = (log, 0.0);
        for j in 2..14 {
            term *= log / f64::from(j);
            sum += term * f64::from(j - 1);
        }
        return sum;
    }
    log.exp() * (log - 1.0) + 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_excess_is_continuous() {
        for log in [-0.05, 0.05, -0.0499999999, 0.0499999999] {
            let plain = f64::exp(log) * (log - 1.0) + 1.0;
            assert!((excess(log) / plain - 1.0).abs() < 1e-12, "{log}");
        }
        assert_eq!((excess(0.0), excess(f64::NEG_INFINITY)), (0.0, 1.0));
    }

    #[test]
    fn a_breach_may_have_a_negative_loss() {
        // Two records, each 1 with probability 0.01; one of them is.
        let loss = Loss::of(&[0.99, 0.01], &[0.01f64.ln(), 0.99f64.ln()]).unwrap();
        assert!((loss.loss - (0.080793135895911 - 1.0)).abs() < 1e-12);
        assert!((loss.entropy_after - 1.0).abs() < 1e-12);
        assert!((loss.kl - (0.5 * (0.5f64 / 0.99).log2() + 0.5 * 50f64.log2())).abs() < 1e-12);
        assert!((loss.max_log_ratio - 50f64.log2()).abs() < 1e-12);
    }

    #[test]
    fn what_is_impossible_has_no_loss() {
        assert_eq!(Loss::of(&[1.0, 0.0], &[f64::NEG_INFINITY, 0.0]), None);
        let certain = Loss::of(&[1.0, 0.0], &[-3.0, 0.0]).unwrap();
        assert_eq!((certain.loss, certain.share()), (0.0, None));
    }
}
