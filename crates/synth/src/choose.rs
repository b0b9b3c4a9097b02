//! The exponential mechanism on integer scores, by exact sampling. The proof is in `proof.md`.

use dashu_int::UBig;
use rand::Rng;
use random::{Error, Ratio, below, bernoulli_exp};
use table::Watch;

/// How strongly scores decide: a candidate's weight is exp(rate * score).
///
/// `rate` is an exact fraction, so that the law is exactly the one that is charged.
#[derive(Debug, Clone)]
pub struct Rate {
    rate: Ratio,
}

impl Rate {
    /// The largest rate of few bits at which a choice among scores of this sensitivity costs at most
    /// `rho`: with weights exp(rate * score) a choice has the range 2 * rate * sensitivity, hence costs
    /// (2 * rate * sensitivity)^2 / 8.
    pub fn new(sensitivity: u64, rho: f64) -> Result<Self, Error> {
        let rate = (2.0 * rho).sqrt() / sensitivity as f64 * (1.0 - 1e-12);
        // Few bits keep the sampler within machine words; dropping them makes the rate smaller.
        let short = f64::from_bits(rate.to_bits() & !((1 << 32) - 1));
        Ok(Rate { rate: Ratio::exact("rho", short)? })
    }

    /// What a choice costs, rounded up.
    pub fn rho(&self, sensitivity: u64) -> f64 {
        let product = self.rate.to_f64() * sensitivity as f64;
        product * product / 2.0 * (1.0 + 1e-14)
    }

    /// One of the candidates that `fits` accepts, by the exponential mechanism among those; `None` if
    /// there are none.
    ///
    /// A candidate is drawn uniformly and accepted with probability exp(-rate * (highest - its score));
    /// if it does not fit, it is taken out and everything starts anew. So each that fits is drawn with
    /// a probability proportional to exp(rate * score), as if the others had never been there. `fits`
    /// must not look at private data; it takes time, and is asked only of candidates that were drawn.
    pub fn choose<R: Rng + ?Sized>(
        &self,
        rng: &mut R,
        scores: &[(usize, i128)],
        mut fits: impl FnMut(usize) -> bool,
        watch: &Watch,
    ) -> Result<Option<usize>, Error> {
        let mut left = scores.to_vec();
        while let Some(highest) = left.iter().map(|&(_, score)| score).max() {
            let mut tries = 0;
            let place = loop {
                watch.poll(tries)?;
                tries += 1;
                let place = below(rng, left.len() as u64) as usize;
                let behind = UBig::from(highest.abs_diff(left[place].1));
                let exponent = Ratio::new(behind * self.rate.numer(), self.rate.denom().clone());
                if exponent.is_some_and(|exponent| bernoulli_exp(rng, &exponent)) {
                    break place;
                }
            };
            let candidate = left[place].0;
            if fits(candidate) {
                return Ok(Some(candidate));
            }
            left.swap_remove(place);
        }
        Ok(None)
    }
}
