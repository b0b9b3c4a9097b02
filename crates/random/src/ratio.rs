//! Exact non-negative rationals, the parameters of every sampler.

use crate::Error;
use dashu_int::{
    UBig,
    ops::{BitTest, Gcd},
};

/// A non-negative rational in lowest terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ratio {
    numer: UBig,
    denom: UBig,
}

impl Ratio {
    /// `numer / denom`; `None` if the denominator is 0.
    pub fn new(numer: impl Into<UBig>, denom: impl Into<UBig>) -> Option<Self> {
        let (numer, denom) = (numer.into(), denom.into());
        if denom.is_zero() {
            return None;
        }
        let common = (&numer).gcd(&denom);
        Some(Ratio { numer: numer / &common, denom: denom / common })
    }

    /// 0.
    pub fn zero() -> Self {
        Ratio { numer: UBig::ZERO, denom: UBig::ONE }
    }

    /// The exact value of a float: every finite float is an integer times a power of two.
    ///
    /// `name` is the argument that the error names if the value is negative, infinite or not a number.
    pub fn exact(name: &'static str, value: f64) -> Result<Self, Error> {
        let range = "it must be a finite number of at least 0";
        Error::require(value.is_finite() && value >= 0.0, name, value, range)?;
        let bits = value.abs().to_bits(); // -0.0 is 0
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, exponent) = match (bits >> 52) as i32 {
            0 => (fraction, -1074),
            biased => (fraction | 1 << 52, biased - 1075),
        };
        // Odd mantissas give lowest terms without a gcd.
        let zeros = mantissa.trailing_zeros().min(52) as i32;
        let (mantissa, exponent) = (UBig::from(mantissa >> zeros), exponent + zeros);
        let shift = exponent.unsigned_abs() as usize;
        Ok(if mantissa.is_zero() {
            Ratio { numer: UBig::ZERO, denom: UBig::ONE }
        } else if exponent >= 0 {
            Ratio { numer: mantissa << shift, denom: UBig::ONE }
        } else {
            Ratio { numer: mantissa, denom: UBig::ONE << shift }
        })
    }

    /// The decimal number that people see for a float, exactly: 1/10 for 0.1. `name` as for [`Ratio::exact`].
    pub fn decimal(name: &'static str, value: f64) -> Result<Self, Error> {
        let exact = Ratio::exact(name, value)?;
        let shown = format!("{}", value.abs());
        let (whole, fraction) = shown.split_once('.').unwrap_or((&shown, ""));
        let digits = UBig::from_str_radix(&format!("{whole}{fraction}"), 10);
        let scale = UBig::from(10u8).pow(fraction.len());
        Ok(digits.ok().and_then(|digits| Ratio::new(digits, scale)).unwrap_or(exact))
    }

    /// True if it is above the other one.
    pub fn exceeds(&self, other: &Ratio) -> bool {
        &self.numer * &other.denom > &other.numer * &self.denom
    }

    /// A value of at most 30 significant bits that is at least `value` and exceeds it by less than
    /// one part in 2^29: short terms keep the samplers within two machine words.
    pub fn short_above(name: &'static str, value: f64) -> Result<Self, Error> {
        let low = (1u64 << 23) - 1;
        let bits = value.to_bits();
        let rounded = if bits & low == 0 { bits } else { (bits | low).saturating_add(1) };
        Ratio::exact(name, f64::from_bits(rounded))
    }

    /// The numerator.
    pub fn numer(&self) -> &UBig {
        &self.numer
    }

    /// The denominator, never 0.
    pub fn denom(&self) -> &UBig {
        &self.denom
    }

    /// True for 0.
    pub fn is_zero(&self) -> bool {
        self.numer.is_zero()
    }

    /// `self * factor`.
    pub fn times(&self, factor: impl Into<UBig>) -> Self {
        let numer = &self.numer * factor.into();
        let common = (&numer).gcd(&self.denom);
        Ratio { numer: numer / &common, denom: &self.denom / common }
    }

    /// `self / divisor`; `None` if the divisor is 0.
    pub fn over(&self, divisor: impl Into<UBig>) -> Option<Self> {
        Ratio::new(self.numer.clone(), &self.denom * divisor.into())
    }

    /// `factor / self`; `None` for 0.
    pub fn divide(&self, factor: &UBig) -> Option<Self> {
        Ratio::new(&self.denom * factor, self.numer.clone())
    }

    /// The value as a float, within two units in the last place; infinite or 0 out of range.
    pub fn to_f64(&self) -> f64 {
        // Sixty-four bits of the quotient, scaled back.
        let scale = self.denom.bit_len() as i64 - self.numer.bit_len() as i64 + 64;
        let quotient = if scale >= 0 {
            (&self.numer << scale as usize) / &self.denom
        } else {
            &self.numer / (&self.denom << scale.unsigned_abs() as usize)
        };
        let half = (-scale / 2) as i32;
        quotient.to_f64().value() * 2f64.powi(half) * 2f64.powi(-scale as i32 - half)
    }
}

/// The largest float that is not above the decimal number that people see for `value`. The float 0.1 is above a
/// tenth, so it becomes the float below. Budgets add decimals, so noise is drawn for these. `name` as for
/// [`Ratio::exact`].
pub fn within_decimal(name: &'static str, value: f64) -> Result<f64, Error> {
    match Ratio::exact(name, value)?.exceeds(&Ratio::decimal(name, value)?) {
        true => Ok(value.next_down()),
        false => Ok(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn exact(value: f64) -> Ratio {
        Ratio::exact("x", value).unwrap()
    }

    #[test]
    fn known_values() {
        let ratio = |n: u64, d: u64| Ratio::new(n, d).unwrap();
        assert_eq!(exact(0.0), ratio(0, 1));
        assert_eq!(exact(-0.0), ratio(0, 5));
        assert_eq!(exact(0.1), ratio(3_602_879_701_896_397, 1 << 55));
        assert_eq!(exact(6.0), ratio(12, 2));
        assert_eq!(exact(1e300).numer().bit_len(), 997);
        assert_eq!(exact(5e-324), Ratio::new(1u8, UBig::ONE << 1074).unwrap());
        assert_eq!(Ratio::new(1u8, 0u8), None);
        assert_eq!(exact(0.25).divide(&UBig::from(3u8)), Some(ratio(12, 1)));
        assert_eq!(exact(0.0).divide(&UBig::from(3u8)), None);
    }

    #[test]
    fn no_value_outside_the_range() {
        for bad in [f64::NAN, f64::INFINITY, -1.0, f64::NEG_INFINITY] {
            assert!(Ratio::exact("x", bad).is_err());
            assert!(Ratio::short_above("x", bad).is_err());
        }
        assert!(Ratio::short_above("x", f64::MAX).is_err());
    }

    #[test]
    fn a_tenth_is_below_its_float() {
        let within = |value| within_decimal("x", value).unwrap();
        assert_eq!(within(0.1), 0.1f64.next_down());
        assert_eq!(within(0.3), 0.3); // 0.299999999999999988898
        assert_eq!(within(1e23), 1e23); // 99999999999999991611392
        for exact in [0.0, 0.25, 1.0, 20.0, 1e15] {
            assert_eq!(within(exact), exact);
        }
        assert!(within_decimal("x", f64::NAN).is_err() && within_decimal("x", -1.0).is_err());
        let ten: UBig = UBig::from(10u8);
        assert_eq!(Ratio::decimal("x", 0.1).unwrap(), Ratio::new(1u8, ten).unwrap());
    }

    proptest! {
        #[test]
        fn no_larger_float_is_within_the_decimal(bits in 1u64..0x7ff0_0000_0000_0000) {
            let value = f64::from_bits(bits);
            let (within, decimal) = (within_decimal("x", value).unwrap(), Ratio::decimal("x", value).unwrap());
            prop_assert!(!exact(within).exceeds(&decimal));
            prop_assert!(within.next_up().is_infinite() || exact(within.next_up()).exceeds(&decimal));
        }

        #[test]
        fn the_float_comes_back(bits in 0u64..0x7ff0_0000_0000_0000) {
            let value = f64::from_bits(bits);
            let ratio = exact(value);
            prop_assert_eq!(ratio.to_f64(), value);
            prop_assert!(Ratio::new(ratio.numer().clone(), ratio.denom().clone()) == Some(ratio));
        }

        #[test]
        fn short_values_are_above_and_close(value in 1e-300f64..1e300) {
            let short = Ratio::short_above("x", value).unwrap();
            prop_assert!(short.to_f64() >= value);
            prop_assert!(short.to_f64() <= value * (1.0 + 2f64.powi(-29)));
            let odd = short.numer() >> short.numer().trailing_zeros().unwrap();
            prop_assert!(odd.bit_len() <= 30);
        }
    }
}
