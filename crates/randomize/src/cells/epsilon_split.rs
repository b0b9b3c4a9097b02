//! Divides a row's epsilon among its columns by weight.

use dashu_int::{UBig, ops::BitTest};
use random::{Error, Ratio, within_decimal};

/// Significant bits of a share.
const BITS: usize = 53;

/// Divides a row's epsilon among columns in proportion to their weights. Shares are rounded down, so their sum never
/// exceeds epsilon, nor the decimal number that a budget is charged for it.
pub fn split(epsilon: f64, weights: &[f64]) -> Result<Vec<Ratio>, Error> {
    let whole = Ratio::exact("epsilon", within_decimal("epsilon", epsilon)?)?;
    Error::require(!whole.is_zero(), "epsilon", epsilon, "it must be above 0")?;
    let exact = weights.iter().map(|&weight| {
        let ratio = Ratio::exact("weights", weight)?;
        Error::require(!ratio.is_zero(), "weights", weight, "a weight must be above 0")?;
        Ok(ratio)
    });
    let exact: Vec<Ratio> = exact.collect::<Result<_, Error>>()?;
    // The denominators of floats are powers of two: the largest is a common denominator.
    let common = exact.iter().map(|weight| weight.denom().clone()).max().unwrap_or(UBig::ONE);
    let parts: Vec<UBig> =
        exact.iter().map(|weight| weight.numer() * (&common / weight.denom())).collect();
    let sum: UBig = parts.iter().fold(UBig::ZERO, |sum, part| sum + part);
    let denom = whole.denom() * sum;
    Ok(parts.iter().map(|part| round_down(whole.numer() * part, &denom)).collect())
}

/// `numer / denom` to [`BITS`] significant bits, rounded towards 0.
fn round_down(numer: UBig, denom: &UBig) -> Ratio {
    let scale = (denom.bit_len() + BITS).saturating_sub(numer.bit_len());
    let rounded = Ratio::new((numer << scale) / denom, UBig::ONE << scale);
    rounded.unwrap_or_else(Ratio::zero)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The sum of ratios, exactly.
    fn sum(ratios: &[Ratio]) -> (UBig, UBig) {
        ratios.iter().fold((UBig::ZERO, UBig::ONE), |(n, d), ratio| {
            (n * ratio.denom() + ratio.numer() * &d, d * ratio.denom())
        })
    }

    #[test]
    fn equal_and_weighted_shares() {
        let shares = |epsilon, weights: &[f64]| -> Vec<f64> {
            split(epsilon, weights).unwrap().iter().map(Ratio::to_f64).collect()
        };
        assert_eq!(shares(3.0, &[1.0, 1.0, 1.0]), [1.0, 1.0, 1.0]);
        assert_eq!(shares(1.0, &[2.0, 1.0, 0.5, 0.5]), [0.5, 0.25, 0.125, 0.125]);
        assert_eq!(shares(0.3, &[7.0]), [0.3]);
        assert!(shares(1.0, &[]).is_empty());
    }

    #[test]
    fn no_share_without_a_positive_number() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(split(bad, &[1.0]).is_err());
            assert!(split(1.0, &[1.0, bad]).is_err());
        }
    }

    proptest! {
        #[test]
        fn shares_never_exceed_the_whole(
            epsilon in prop_oneof![1e-9f64..20.0, 1e-300f64..1e300],
            weights in proptest::collection::vec(prop_oneof![1e-3f64..1e3, 1e-200f64..1e200], 1..20),
        ) {
            let whole = Ratio::exact("epsilon", within_decimal("epsilon", epsilon).unwrap()).unwrap();
            let shares = split(epsilon, &weights).unwrap();
            let (numer, denom) = sum(&shares);
            prop_assert!(&numer * whole.denom() <= whole.numer() * &denom);
            let charged = Ratio::decimal("epsilon", epsilon).unwrap();
            prop_assert!(&numer * charged.denom() <= charged.numer() * &denom);
            // Rounding loses less than one part in 2^52.
            prop_assert!((numer + 1u8) * whole.denom() * ((1u64 << 52) + 1)
                >= whole.numer() * denom * (1u64 << 52));
            let total: f64 = weights.iter().sum();
            for (share, weight) in shares.iter().zip(&weights) {
                let expected = epsilon * (weight / total);
                prop_assert!((share.to_f64() - expected).abs() <= 1e-12 * expected);
            }
        }
    }
}
