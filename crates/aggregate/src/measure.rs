//! The measures of a query (counts, sums, quantiles, ...) and the bounds of the values that they look at.

use crate::quantile;
use random::Error;

/// A positive decimal number, `mantissa / 10^scale`: the distance of two neighbouring values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    pub mantissa: u64,
    pub scale: u32,
}

impl Step {
    /// Whole numbers.
    pub const ONE: Step = Step { mantissa: 1, scale: 0 };

    /// The number as a float.
    pub fn to_f64(self) -> f64 {
        self.mantissa as f64 / 10f64.powi(self.scale as i32)
    }

    /// `n` steps as an exact decimal number.
    pub fn times(self, n: i128) -> String {
        let product = n.saturating_mul(i128::from(self.mantissa));
        let digits =
            format!("{:0>width$}", product.unsigned_abs(), width = self.scale as usize + 1);
        let (whole, fraction) = digits.split_at(digits.len() - self.scale as usize);
        let sign = if product < 0 { "-" } else { "" };
        match fraction.trim_end_matches('0') {
            "" => format!("{sign}{whole}"),
            fraction => format!("{sign}{whole}.{fraction}"),
        }
    }
}

/// The public bounds of a column, in steps. Values outside are moved to the nearer bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    pub low: i64,
    pub high: i64,
    pub step: Step,
}

impl Range {
    /// The largest bound, in steps: sums of squares over any table then fit into 128 bits.
    pub const LIMIT: i64 = 1 << 40;

    /// A range that is not empty and within the limit.
    pub fn new(low: i64, high: i64, step: Step) -> Result<Self, Error> {
        Error::require(low < high, "high", high, "it must be above low")?;
        if low < -Self::LIMIT || high > Self::LIMIT {
            let widest = low.unsigned_abs().max(high.unsigned_abs());
            return Err(Error::argument("step", widest, "the bounds must be within 2^40 steps"));
        }
        Ok(Range { low, high, step })
    }

    pub(crate) fn span(&self) -> i128 {
        i128::from(self.high) - i128::from(self.low)
    }

    pub(crate) fn largest(&self) -> i128 {
        i128::from(self.low).abs().max(i128::from(self.high).abs())
    }

    /// Twice the distance of a value from the middle of the range.
    pub(crate) fn centred(&self, value: i64) -> i128 {
        2 * i128::from(value.clamp(self.low, self.high))
            - i128::from(self.low)
            - i128::from(self.high)
    }

    /// The bin of a value, of `bins` equally wide ones; the last holds the upper bound too.
    pub(crate) fn bin(&self, value: i64, bins: u32) -> usize {
        let offset = i128::from(value.clamp(self.low, self.high)) - i128::from(self.low);
        (offset * i128::from(bins) / self.span()).min(i128::from(bins) - 1) as usize
    }

    /// The lower edge of a bin, of `bins` equally wide ones, as a decimal number; that of bin `bins` is the upper
    /// bound. It has at most three digits more than a step, so that the edges of up to 1000 bins differ.
    pub(crate) fn edge(&self, bin: u32, bins: u32) -> String {
        let bins = i128::from(bins);
        // At most 2^41 steps, 1000 bins, a mantissa of 64 bits, and three digits: below 2^127.
        let parts = i128::from(self.low) * bins + self.span() * i128::from(bin);
        let parts = parts * i128::from(self.step.mantissa) * 1000;
        let rounded = (2 * parts + bins).div_euclid(2 * bins);
        Step { mantissa: 1, scale: self.step.scale + 3 }.times(rounded)
    }

    /// The value as a float.
    pub(crate) fn at(&self, steps: f64) -> f64 {
        steps * self.step.to_f64()
    }
}

/// The statistic that a measure computes.
#[derive(Debug, Clone, PartialEq)]
pub enum MeasureKind {
    /// Rows.
    Count,
    /// Rows with a value.
    CountOf,
    /// Distinct units.
    Units,
    /// Distinct values, given as codes.
    Distinct,
    Sum(Range),
    Mean(Range),
    /// The population variance.
    Variance(Range),
    /// The values below which these shares of all values lie.
    Quantiles(Range, Vec<f64>),
    /// Counts of values in equally wide bins.
    Histogram(Range, u32),
}

impl MeasureKind {
    /// True if it looks at the values of a column.
    pub fn has_value(&self) -> bool {
        !matches!(self, MeasureKind::Count | MeasureKind::Units)
    }

    /// The bounds of the values, if the statistic needs them.
    pub fn range(&self) -> Option<Range> {
        match self {
            Self::Count | Self::CountOf | Self::Units | Self::Distinct => None,
            Self::Sum(range) | Self::Mean(range) | Self::Variance(range) => Some(*range),
            Self::Quantiles(range, _) | Self::Histogram(range, _) => Some(*range),
        }
    }

    /// The same statistic with these bounds, if it needs bounds.
    pub fn within(mut self, bounds: Range) -> Self {
        match &mut self {
            Self::Count | Self::CountOf | Self::Units | Self::Distinct => {}
            Self::Sum(range) | Self::Mean(range) | Self::Variance(range) => *range = bounds,
            Self::Quantiles(range, _) | Self::Histogram(range, _) => *range = bounds,
        }
        self
    }

    /// The number of integers kept for it in each group.
    pub(crate) fn slots(&self) -> usize {
        match self {
            Self::Count | Self::CountOf | Self::Units | Self::Distinct | Self::Sum(_) => 1,
            Self::Mean(_) => 2,
            Self::Variance(_) => 3,
            Self::Quantiles(range, _) => quantile::leaves(range),
            Self::Histogram(_, bins) => *bins as usize,
        }
    }
}

/// A measure of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    pub name: String,
    pub kind: MeasureKind,
    /// Its share of epsilon, relative to the other measures.
    pub weight: f64,
    /// It looks at one value per unit and group (the unit's own total, say), not at rows.
    pub per_unit: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_exact_decimals() {
        assert_eq!(Step::ONE.times(-42), "-42");
        assert_eq!(Step { mantissa: 1, scale: 2 }.times(5), "0.05");
        assert_eq!(Step { mantissa: 25, scale: 2 }.times(-3), "-0.75");
        assert_eq!(Step { mantissa: 5, scale: 1 }.times(4), "2");
        assert_eq!(Step { mantissa: 100, scale: 0 }.times(7), "700");
    }

    #[test]
    fn edges_are_exact_decimals() {
        let edges = |low, high, step, bins| {
            let range = Range::new(low, high, step).unwrap();
            (0..=bins).map(|bin| range.edge(bin, bins)).collect::<Vec<_>>()
        };
        let tenths = Step { mantissa: 1, scale: 1 };
        assert_eq!(edges(0, 60, tenths, 10)[1..5], ["0.6", "1.2", "1.8", "2.4"]);
        assert_eq!(edges(0, 999, tenths, 9)[4], "44.4");
        assert_eq!(edges(1, 7, tenths, 6), ["0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7"]);
        assert_eq!(edges(-1, 1, Step::ONE, 3), ["-1", "-0.333", "0.333", "1"]);
    }

    #[test]
    fn edges_differ() {
        let steps = [(1, 0), (1, 6), (25, 2), (u64::MAX, 15)];
        let ranges = [
            (0, 1),
            (-1, 1),
            (0, 999),
            (Range::LIMIT - 1, Range::LIMIT),
            (-Range::LIMIT, Range::LIMIT),
        ];
        for (mantissa, scale) in steps {
            let step = Step { mantissa, scale };
            for (low, high) in ranges {
                let range = Range::new(low, high, step).unwrap();
                for bins in (1..=1000).step_by(37).chain([1000]) {
                    let edges: Vec<String> = (0..=bins).map(|bin| range.edge(bin, bins)).collect();
                    assert!(edges.windows(2).all(|pair| pair[0] != pair[1]), "{range:?} {bins}");
                    assert_eq!(edges[0], step.times(low.into()));
                    assert_eq!(edges[bins as usize], step.times(high.into()));
                }
            }
        }
    }

    #[test]
    fn ranges_have_limits() {
        assert!(Range::new(0, 0, Step::ONE).is_err());
        assert!(Range::new(5, -5, Step::ONE).is_err());
        assert!(Range::new(0, Range::LIMIT + 1, Step::ONE).is_err());
        assert!(Range::new(i64::MIN, 0, Step::ONE).is_err());
        assert_eq!(Range::new(-3, 9, Step::ONE).unwrap().span(), 12);
    }
}
