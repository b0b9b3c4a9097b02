//! Tails of the binomial law on both sides, as logarithms, so that tiny probabilities do not vanish.

use random::binomial::ln_pmf;

/// A binomial law: the number of 1s among `n` independent rows.
#[derive(Debug, Clone, Copy)]
pub struct Binomial {
    pub n: f64,
    pub p: f64,
    /// 1 - p.
    pub q: f64,
}

/// A probability, and two tails that differ by it, as logarithms.
#[derive(Debug, Clone, Copy)]
pub struct Tails {
    /// ln P(B = k).
    pub at: f64,
    /// ln P(B >= k), or ln P(B <= k).
    pub from: f64,
    /// The same without k.
    pub beyond: f64,
}

impl Binomial {
    pub fn new(n: f64, p: f64) -> Self {
        Binomial { n, p, q: 1.0 - p }
    }

    /// The law of the rows that are 0.
    fn mirrored(self) -> Self {
        Binomial { p: self.q, q: self.p, ..self }
    }

    /// The tails from `k` upwards.
    pub fn upper(self, k: f64) -> Tails {
        const NONE: f64 = f64::NEG_INFINITY;
        if k > self.n {
            return Tails { at: NONE, from: NONE, beyond: NONE };
        }
        if k < 0.0 {
            return Tails { at: NONE, from: 0.0, beyond: 0.0 };
        }
        if k < self.n * self.p {
            // The sum below is the smaller side.
            let below = self.mirrored().upper_series(self.n - k);
            let rest = |tail: f64| (-tail.exp()).ln_1p();
            return Tails { at: below.at, from: rest(below.beyond), beyond: rest(below.from) };
        }
        self.upper_series(k)
    }

    /// The tails from `k` downwards.
    pub fn lower(self, k: f64) -> Tails {
        self.mirrored().upper(self.n - k)
    }

    /// [`Binomial::upper`] from the mean on, where terms fall.
    fn upper_series(self, k: f64) -> Tails {
        let at = self.ln_pmf(k);
        let rest = self.terms_above(k, self.n);
        Tails { at, from: at + rest.ln_1p(), beyond: at + rest.ln() }
    }

    /// The sum over j of P(B = j) / P(B = k), k < j <= last, for k about the mean or above it.
    fn terms_above(self, k: f64, last: f64) -> f64 {
        let odds = self.p / self.q;
        let (mut j, mut term, mut sum) = (k, 1.0, 0.0);
        while j < last {
            let ratio = (self.n - j) / (j + 1.0) * odds;
            term *= ratio;
            sum += term;
            j += 1.0;
            // The ratios fall, so what follows is below a geometric series.
            if ratio < 1.0 && term * ratio / (1.0 - ratio) <= 1e-17 * sum {
                break;
            }
        }
        sum
    }

    /// P(low <= B <= high): terms on both sides of the likeliest one.
    pub fn between(self, low: f64, high: f64) -> f64 {
        let mode = ((self.n + 1.0) * self.p).floor().clamp(low, high);
        let above = self.terms_above(mode, high);
        let below = self.mirrored().terms_above(self.n - mode, self.n - low);
        (self.ln_pmf(mode) + (above + below).ln_1p()).exp().min(1.0)
    }

    fn ln_pmf(self, k: f64) -> f64 {
        ln_pmf(self.n, k, self.p, self.q)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use random::testing::binomial;

    fn close(a: f64, b: f64) -> bool {
        a == b || (a - b).abs() <= 1e-11 * b.abs().max(1.0)
    }

    #[test]
    fn tails_are_sums_of_the_law() {
        for n in [1, 2, 7, 40] {
            for p in [0.01, 0.3, 0.5, 0.9] {
                let (law, binomial) = (binomial(n as usize, p), Binomial::new(f64::from(n), p));
                for k in 0..=n as usize {
                    let sum = |range: &[f64]| range.iter().sum::<f64>().ln();
                    let (upper, lower) = (binomial.upper(k as f64), binomial.lower(k as f64));
                    assert!(close(upper.at, law[k].ln()) && close(lower.at, law[k].ln()));
                    assert!(close(upper.from, sum(&law[k..])), "{n} {p} {k} {upper:?}");
                    assert!(close(upper.beyond, sum(&law[k + 1..])), "{n} {p} {k} {upper:?}");
                    assert!(close(lower.from, sum(&law[..=k])), "{n} {p} {k} {lower:?}");
                    assert!(close(lower.beyond, sum(&law[..k])), "{n} {p} {k} {lower:?}");
                    let between = binomial.between((k / 2) as f64, k as f64);
                    assert!(close(between.ln(), sum(&law[k / 2..=k])), "{n} {p} {k}");
                }
            }
        }
        let outside = Binomial::new(5.0, 0.5);
        assert_eq!((outside.upper(6.0).from, outside.upper(-1.0).beyond), (f64::NEG_INFINITY, 0.0));
        assert_eq!(outside.lower(-1.0).from, f64::NEG_INFINITY);
    }

    #[test]
    fn far_tails_of_large_counts_are_numbers() {
        let binomial = Binomial::new(1e9, 0.5);
        let far = binomial.upper(6e8);
        // The deviance of 0.6 from 0.5, times n.
        let deviance = 1e9 * (0.6 * 1.2f64.ln() + 0.4 * 0.8f64.ln());
        assert!((far.from + deviance).abs() < 20.0, "{far:?} {deviance}");
        // Terms fall by about 2/3 each.
        assert!((far.from - far.at - 3f64.ln()).abs() < 1e-6);
        let middle = binomial.upper(5e8);
        assert!(close(middle.from.exp() + middle.beyond.exp(), 1.0), "{middle:?}");
    }
}
