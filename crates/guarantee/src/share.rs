//! Confidence limits of a share that was counted.

use random::binomial::tail_above;

/// A number of hits among a number of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    pub hits: u64,
    pub runs: u64,
}

impl Share {
    /// A lower confidence limit on the probability of a hit (Clopper and Pearson): wrong with
    /// probability at most `alpha`.
    pub fn lower(self, alpha: f64) -> f64 {
        if self.hits == 0 {
            return 0.0;
        }
        let (runs, hits) = (self.runs as f64, self.hits as f64);
        // The largest p that makes this many hits no likelier than alpha.
        let (mut low, mut high) = (0.0, hits / runs);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if middle > 0.0 && tail_above(runs, hits, middle) > alpha {
                high = middle
            } else {
                low = middle
            }
        }
        low
    }

    /// An upper confidence limit, as [`Share::lower`].
    pub fn upper(self, alpha: f64) -> f64 {
        1.0 - Share { hits: self.runs - self.hits, runs: self.runs }.lower(alpha)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidence_limits_are_those_of_the_tables() {
        let close = |found: f64, expected: f64| {
            assert!((found - expected).abs() < 1e-5, "{found} {expected}")
        };
        // 10 of 20 at 2.5 % each side, and the rule of three.
        let half = Share { hits: 10, runs: 20 };
        close(half.lower(0.025), 0.27196);
        close(half.upper(0.025), 0.72804);
        close(Share { hits: 0, runs: 1000 }.upper(0.05), 1.0 - 0.05f64.powf(0.001));
        assert_eq!(Share { hits: 0, runs: 5 }.lower(0.01), 0.0);
        assert_eq!(Share { hits: 5, runs: 5 }.upper(0.01), 1.0);
    }
}
