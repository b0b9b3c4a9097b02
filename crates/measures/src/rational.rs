//! Exact rationals of either sign: decimals as in SQL, and the numbers of linear algebra.

use dashu_int::ops::{DivRemEuclid, Gcd, UnsignedAbs};
use dashu_int::{IBig, Sign, UBig};
use std::cmp::Ordering;
use std::ops::{Add, Mul, Neg, Sub};

/// The largest number of digits of a decimal that is read, before and after the point together.
const DIGITS: usize = 60;

/// A rational in lowest terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rational {
    numer: IBig,
    denom: UBig,
}

impl Rational {
    /// `numer / denom`; `None` if the denominator is 0.
    pub fn new(numer: impl Into<IBig>, denom: impl Into<IBig>) -> Option<Self> {
        let (numer, denom) = (numer.into(), denom.into());
        if denom == IBig::ZERO {
            return None;
        }
        let numer = if denom.sign() == Sign::Negative { -numer } else { numer };
        Some(reduced(numer, denom.unsigned_abs()))
    }

    /// Reads a decimal without exponent, as `numeric` writes it; `None` for anything else and for more than
    /// sixty digits.
    pub fn decimal(text: &str) -> Option<Self> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all = format!("{whole}{fraction}");
        if all.is_empty() || all.len() > DIGITS || !all.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let number: IBig = all.parse().ok()?;
        let scale = IBig::from(10).pow(fraction.len());
        Rational::new(if negative { -number } else { number }, scale)
    }

    /// `10^digits`, or its inverse for negative digits.
    pub fn power_of_ten(digits: i32) -> Self {
        let power = IBig::from(10).pow(digits.unsigned_abs() as usize);
        let numer = if digits >= 0 { power.clone() } else { IBig::ONE };
        let denom = if digits >= 0 { UBig::ONE } else { power.unsigned_abs() };
        Rational { numer, denom }
    }

    pub fn zero() -> Self {
        Rational::from(0)
    }

    pub fn numer(&self) -> &IBig {
        &self.numer
    }

    pub fn denom(&self) -> &UBig {
        &self.denom
    }

    pub fn is_zero(&self) -> bool {
        self.numer == IBig::ZERO
    }

    /// The sign, as the order relative to 0.
    pub fn sign(&self) -> Ordering {
        self.numer.cmp(&IBig::ZERO)
    }

    /// `self / other`; `None` if `other` is 0.
    pub fn divide(&self, other: &Rational) -> Option<Self> {
        let numer = &self.numer * IBig::from(other.denom.clone());
        Rational::new(numer, &other.numer * IBig::from(self.denom.clone()))
    }

    /// The largest integer that is not above it.
    pub fn floor(&self) -> IBig {
        (&self.numer).div_rem_euclid(IBig::from(self.denom.clone())).0
    }

    /// The smallest integer that is not below it.
    pub fn ceil(&self) -> IBig {
        -(-self.clone()).floor()
    }

    /// The nearest integer, halves away from zero, as `numeric` rounds.
    pub fn round(&self) -> IBig {
        let half = Rational { numer: IBig::ONE, denom: UBig::from(2u8) };
        match self.sign() {
            Ordering::Less => (self - &half).ceil(),
            _ => (self + &half).floor(),
        }
    }

    /// The largest decimal of at most `digits` digits after the point that is not above it.
    pub fn decimal_below(&self, digits: i32) -> String {
        let scaled = (self * &Rational::power_of_ten(digits)).floor();
        let text = format!("{:0>1$}", scaled.clone().unsigned_abs(), digits as usize + 1);
        let (whole, fraction) = text.split_at(text.len() - digits as usize);
        let fraction = fraction.trim_end_matches('0');
        let sign = if scaled < IBig::ZERO { "-" } else { "" };
        let point = if fraction.is_empty() { "" } else { "." };
        format!("{sign}{whole}{point}{fraction}")
    }

    /// The smallest decimal of at most `digits` digits after the point that is not below it.
    pub fn decimal_above(&self, digits: i32) -> String {
        let below = (-self.clone()).decimal_below(digits);
        match below.strip_prefix('-') {
            Some(rest) => rest.to_string(),
            None if below == "0" => below,
            None => format!("-{below}"),
        }
    }
}

impl From<i64> for Rational {
    fn from(number: i64) -> Self {
        Rational::from(IBig::from(number))
    }
}

impl From<IBig> for Rational {
    fn from(numer: IBig) -> Self {
        Rational { numer, denom: UBig::ONE }
    }
}

impl PartialOrd for Rational {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rational {
    fn cmp(&self, other: &Self) -> Ordering {
        let left = &self.numer * IBig::from(other.denom.clone());
        left.cmp(&(&other.numer * IBig::from(self.denom.clone())))
    }
}

/// `numer / denom` in lowest terms, for a denominator other than 0.
fn reduced(numer: IBig, denom: UBig) -> Rational {
    let common =
        if numer == IBig::ZERO { denom.clone() } else { (&denom).gcd((&numer).unsigned_abs()) };
    Rational { numer: numer / IBig::from(common.clone()), denom: denom / common }
}

impl Add for &Rational {
    type Output = Rational;

    fn add(self, other: &Rational) -> Rational {
        let left = &self.numer * IBig::from(other.denom.clone());
        let right = &other.numer * IBig::from(self.denom.clone());
        reduced(left + right, &self.denom * &other.denom)
    }
}

impl Sub for &Rational {
    type Output = Rational;

    fn sub(self, other: &Rational) -> Rational {
        let left = &self.numer * IBig::from(other.denom.clone());
        let right = &other.numer * IBig::from(self.denom.clone());
        reduced(left - right, &self.denom * &other.denom)
    }
}

impl Mul for &Rational {
    type Output = Rational;

    fn mul(self, other: &Rational) -> Rational {
        reduced(&self.numer * &other.numer, &self.denom * &other.denom)
    }
}

impl Neg for Rational {
    type Output = Rational;

    fn neg(self) -> Rational {
        Rational { numer: -self.numer, denom: self.denom }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rational(numer: i64, denom: i64) -> Rational {
        Rational::new(numer, denom).unwrap()
    }

    #[test]
    fn decimals_are_read_exactly() {
        assert_eq!(Rational::decimal("12.50"), Some(rational(25, 2)));
        assert_eq!(Rational::decimal("-0.001"), Some(rational(-1, 1000)));
        assert_eq!(Rational::decimal("7"), Some(rational(-7, -1)));
        for none in ["", "-", ".", "NaN", "Infinity", "1e5", "--1", "1.2.3", &"9".repeat(61)] {
            assert_eq!(Rational::decimal(none), None, "{none}");
        }
        assert_eq!(Rational::new(1, 0), None);
        assert_eq!(Rational::power_of_ten(-2), rational(1, 100));
    }

    #[test]
    fn decimals_are_written_towards_either_side() {
        assert_eq!(rational(1, 3).decimal_below(3), "0.333");
        assert_eq!(rational(1, 3).decimal_above(3), "0.334");
        assert_eq!(rational(-1, 3).decimal_below(3), "-0.334");
        assert_eq!(rational(-1, 3).decimal_above(3), "-0.333");
        assert_eq!(rational(25, 2).decimal_below(20), "12.5");
        assert_eq!(rational(25, 2).decimal_above(20), "12.5");
        assert_eq!(rational(0, 2).decimal_above(20), "0");
        assert_eq!(rational(-1, 2000).decimal_above(3), "0");
    }

    #[test]
    fn halves_are_rounded_away_from_zero() {
        let rounded = |n, d| rational(n, d).round();
        assert_eq!(rounded(5, 2), IBig::from(3));
        assert_eq!(rounded(-5, 2), IBig::from(-3));
        assert_eq!(rounded(12, 5), IBig::from(2));
        assert_eq!(rounded(-12, 5), IBig::from(-2));
    }

    proptest! {
        #[test]
        fn the_laws_of_a_field(a in -99i64..99, b in 1i64..99, c in -99i64..99, d in 1i64..99) {
            let (x, y) = (rational(a, b), rational(c, d));
            prop_assert_eq!(&(&x + &y) - &y, x.clone());
            prop_assert_eq!((&x * &y).divide(&y), (c != 0).then(|| x.clone()));
            prop_assert_eq!(x.cmp(&y), (a * d).cmp(&(c * b)));
            prop_assert_eq!(x.floor(), IBig::from(a.div_euclid(b)));
            prop_assert_eq!(-(-x.clone()).floor(), x.ceil());
        }
    }
}
