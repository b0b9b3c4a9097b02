//! Compensated sums and means of many numbers.

/// A sum that compensates for rounding (Neumaier).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sum {
    sum: f64,
    lost: f64,
    count: u64,
}

impl Sum {
    pub(crate) fn add(&mut self, x: f64) {
        let sum = self.sum + x;
        let (larger, smaller) =
            if self.sum.abs() >= x.abs() { (self.sum, x) } else { (x, self.sum) };
        self.lost += (larger - sum) + smaller;
        self.sum = sum;
        self.count += 1;
    }

    /// The sum of all of them.
    pub(crate) fn of(numbers: impl Iterator<Item = f64>) -> f64 {
        let mut sum = Sum::default();
        numbers.for_each(|number| sum.add(number));
        sum.get()
    }

    pub(crate) fn get(&self) -> f64 {
        self.sum + self.lost
    }

    /// The number of numbers that were added.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// `None` if nothing was added.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.get() / self.count as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rounding_takes_away_is_kept() {
        let mut sum = Sum::default();
        [1.0, 1e100, 1.0, -1e100].into_iter().for_each(|x| sum.add(x));
        assert_eq!((sum.get(), sum.mean(), sum.count()), (2.0, Some(0.5), 4));
        let mut tenths = Sum::default();
        (0..1000).for_each(|_| tenths.add(0.1));
        assert_eq!(tenths.mean(), Some(0.1));
        assert_eq!(Sum::default().mean(), None);
    }
}
