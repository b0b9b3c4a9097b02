//! A released statistic of all records, and the window in which it lies.

use crate::Rational;
use std::cmp::Ordering;
use table::Choice;

/// A number computed from all records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    Sum,
    Mean,
    /// The number of records with a value other than 0.
    Count,
    Min,
    Max,
}

impl Choice for Statistic {
    const NAMES: &'static [(&'static str, Self)] = &[
        ("sum", Statistic::Sum),
        ("mean", Statistic::Mean),
        ("count", Statistic::Count),
        ("min", Statistic::Min),
        ("max", Statistic::Max),
    ];
}

/// The possible values of a statistic, given the release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    pub low: Rational,
    pub high: Rational,
    /// Whether the ends themselves belong to it.
    pub has_low: bool,
    pub has_high: bool,
}

impl Window {
    /// From low to high, both included.
    pub fn closed(low: Rational, high: Rational) -> Self {
        Window { low, high, has_low: true, has_high: true }
    }

    /// The numbers that round to `value` with this number of digits after the point; halves are rounded away from
    /// zero.
    pub fn rounded(value: &Rational, digits: i32) -> Self {
        let unit = Rational::power_of_ten(-digits);
        let steps = Rational::from((value * &Rational::power_of_ten(digits)).round());
        let shown = &steps * &unit;
        let half = &unit * &Rational::new(1, 2).unwrap_or_else(Rational::zero);
        let (low, high) = (&shown - &half, &shown + &half);
        Window {
            low,
            high,
            has_low: shown.sign() == Ordering::Greater,
            has_high: shown.sign() == Ordering::Less,
        }
    }

    /// The position of a value: before the window, in it, or after it.
    pub fn place(&self, value: &Rational) -> Ordering {
        match (value.cmp(&self.low), value.cmp(&self.high)) {
            (Ordering::Less, _) => Ordering::Less,
            (Ordering::Equal, _) if !self.has_low => Ordering::Less,
            (_, Ordering::Greater) => Ordering::Greater,
            (_, Ordering::Equal) if !self.has_high => Ordering::Greater,
            _ => Ordering::Equal,
        }
    }
}

/// A statistic whose value is known to lie in a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    pub statistic: Statistic,
    pub window: Window,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rounded_value_leaves_what_rounds_to_it() {
        let decimal = |text: &str| Rational::decimal(text).unwrap();
        let place = |value: &str, digits, other: &str| {
            Window::rounded(&decimal(value), digits).place(&decimal(other))
        };
        assert_eq!(place("2.2", 0, "1.5"), Ordering::Equal);
        assert_eq!(place("2.2", 0, "2.5"), Ordering::Greater);
        assert_eq!(place("2.2", 0, "1.49"), Ordering::Less);
        assert_eq!(place("-2.2", 0, "-2.5"), Ordering::Less);
        assert_eq!(place("-2.2", 0, "-1.5"), Ordering::Equal);
        assert_eq!(place("0.1", 0, "0.5"), Ordering::Greater);
        assert_eq!(place("0.1", 0, "-0.5"), Ordering::Less);
        assert_eq!(place("1249", -2, "1150"), Ordering::Equal);
        assert_eq!(place("1250", -2, "1250"), Ordering::Equal);
        assert_eq!(place("0.125", 2, "0.1251"), Ordering::Equal);
    }

    #[test]
    fn every_statistic_has_a_name() {
        for name in ["sum", "mean", "count", "min", "max"] {
            assert_eq!(Statistic::named(name).map(Choice::name), Some(name));
        }
    }
}
