//! Draws values of a column by their own shares.

use crate::tree::frequencies::Shares;
use table::NONE;

/// Draws values of a column by their shares, from all values or from those that are left.
pub(crate) struct Values {
    shares: Shares,
    /// By code: the sum of the shares before it; one more entry than there are values.
    sums: Vec<f64>,
}

impl Values {
    pub(crate) fn new(shares: &Shares) -> Self {
        let mut sum = 0.0;
        let up_to = shares.values.iter().map(|share| {
            sum += share;
            sum
        });
        Values { sums: std::iter::once(0.0).chain(up_to).collect(), shares: shares.clone() }
    }

    /// The number of values, NULL included if it occurs.
    pub(crate) fn len(&self) -> usize {
        self.shares.values.len() + usize::from(self.shares.missing > 0.0)
    }

    /// The code of NULL, where NULL is an item.
    pub(crate) fn null(&self) -> Option<u32> {
        self.shares.null
    }

    /// The value that a number of 0..1 selects, except the taken ones, which are in ascending order; [`NONE`] for
    /// NULL where it is no item. If no remaining value has a share, all are equally likely.
    pub(crate) fn pick(&self, taken: &[u32], number: f64) -> u32 {
        let mass: f64 = self.gaps(taken).map(|gap| self.share(gap)).sum();
        let mut left = number * (self.shares.missing + mass) - self.shares.missing;
        if left < 0.0 || self.shares.values.is_empty() {
            return NONE;
        }
        if mass <= 0.0 {
            let count: usize = self.gaps(taken).map(|(start, end)| end - start).sum();
            let place = ((number * count as f64) as usize).min(count.saturating_sub(1));
            return self.gaps(taken).flat_map(|(start, end)| start..end).nth(place).unwrap_or(0)
                as u32;
        }
        let mut last = 0;
        for (start, end) in self.gaps(taken) {
            let share = self.share((start, end));
            if left < share {
                let target = self.sums[start] + left;
                let among = &self.sums[start + 1..end];
                return (start + among.partition_point(|&sum| sum <= target)) as u32;
            }
            left -= share;
            last = end - 1;
        }
        // Rounding may lead past the last one.
        last as u32
    }

    /// The runs of values between the taken ones.
    fn gaps<'a>(&'a self, taken: &'a [u32]) -> impl Iterator<Item = (usize, usize)> + 'a {
        let starts = std::iter::once(0).chain(taken.iter().map(|&code| code as usize + 1));
        let ends = taken.iter().map(|&code| code as usize);
        let ends = ends.chain(std::iter::once(self.shares.values.len()));
        starts.zip(ends).filter(|(start, end)| start < end)
    }

    fn share(&self, (start, end): (usize, usize)) -> f64 {
        self.sums[end] - self.sums[start]
    }

    /// The shares of the values except the taken ones, NULL last, for tests.
    #[cfg(test)]
    pub(crate) fn law(&self, taken: &[u32]) -> Vec<(u32, f64)> {
        let free = self.gaps(taken).flat_map(|(start, end)| start..end);
        let values = free.map(|code| (code as u32, self.shares.values[code]));
        let missing = (self.shares.missing > 0.0).then_some((NONE, self.shares.missing));
        let mut law: Vec<(u32, f64)> = values.chain(missing).collect();
        let sum: f64 = law.iter().map(|&(_, share)| share).sum();
        let each = 1.0 / law.len() as f64;
        law.iter_mut().for_each(|(_, p)| *p = if sum > 0.0 { *p / sum } else { each });
        law
    }
}
