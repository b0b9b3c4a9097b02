//! Exact samplers: integers in, integers out, no floating point in between.
//!
//! The proof of each is in the `.md` file of the same name.

mod bernoulli;
mod gaussian;
mod laplace;

pub use bernoulli::{bernoulli, bernoulli_exp, bernoulli_word};
pub use gaussian::discrete_gaussian;
pub use laplace::discrete_laplace;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Coins, Ratio};

    /// Parameters at both ends of the range of floats, and a run on coins of the operating system.
    #[test]
    fn any_parameter_gives_a_number() {
        let mut coins = Coins::os().unwrap();
        for value in [5e-324, 1e-300, 1e-9, 0.3, 1.0, 7.5, 1e9, 1e100, f64::MAX] {
            let ratio = Ratio::exact("value", value).unwrap();
            for _ in 0..5 {
                discrete_laplace(&mut coins, &ratio);
                discrete_gaussian(&mut coins, &ratio);
                bernoulli(&mut coins, &ratio);
                bernoulli_exp(&mut coins, &ratio);
            }
        }
    }

    #[test]
    fn tiny_scales_give_zero_and_huge_ones_do_not() {
        let mut coins = Coins::seeded(1);
        let ratio = |x| Ratio::exact("x", x).unwrap();
        assert!(discrete_laplace(&mut coins, &ratio(0.0)).is_zero());
        assert!(discrete_gaussian(&mut coins, &ratio(0.0)).is_zero());
        assert!(discrete_laplace(&mut coins, &ratio(1e-300)).is_zero());
        assert!(discrete_gaussian(&mut coins, &ratio(1e-300)).is_zero());
        assert!(!discrete_laplace(&mut coins, &ratio(1e300)).is_zero());
        assert!(!discrete_gaussian(&mut coins, &ratio(1e300)).is_zero());
    }
}
