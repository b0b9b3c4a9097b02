//! Weighted draws from a list in constant time (Walker's alias method).

/// A list of numbers to be drawn with probabilities proportional to their weights (Walker's alias
/// method, built as by Vose).
pub(crate) struct Alias {
    slots: Vec<Slot>,
}

/// One of equally likely slots: its own number below the threshold, another one above.
struct Slot {
    threshold: u64,
    own: u32,
    other: u32,
}

impl Alias {
    /// Bytes of a list of `len` numbers.
    pub(crate) fn bytes(len: usize) -> usize {
        len * size_of::<Slot>()
    }

    /// The list of numbers with weights, of which the sum must be positive and finite.
    pub(crate) fn new(weighted: &[(u32, f64)]) -> Self {
        let sum: f64 = weighted.iter().map(|&(_, weight)| weight).sum();
        let scale = weighted.len() as f64 / sum;
        let mut slots: Vec<Slot> = weighted
            .iter()
            .map(|&(own, _)| Slot { threshold: u64::MAX, own, other: own })
            .collect();
        // A slot below average weight is filled up from one above it.
        let mut shares: Vec<f64> = weighted.iter().map(|&(_, weight)| weight * scale).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..shares.len()).partition(|&i| shares[i] < 1.0);
        while let (Some(&few), Some(&many)) = (small.last(), large.last()) {
            small.pop();
            // Rounding may leave slots over on either side; they are full up to rounding.
            slots[few].threshold = (shares[few] * 2f64.powi(64)) as u64;
            slots[few].other = slots[many].own;
            shares[many] -= 1.0 - shares[few];
            if shares[many] < 1.0 {
                large.pop();
                small.push(many);
            }
        }
        Alias { slots }
    }

    /// The number that a uniformly random word selects.
    ///
    /// The high word of the product with the length is the slot. The low word, which is then uniform up to the length
    /// in 2^64, decides within the slot.
    #[inline]
    pub(crate) fn pick(&self, word: u64) -> u32 {
        let product = u128::from(word) * self.slots.len() as u128;
        let slot = &self.slots[(product >> 64) as usize];
        if (product as u64) < slot.threshold { slot.own } else { slot.other }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share of words that select each number, by trying evenly spaced words.
    fn shares(weights: &[f64]) -> Vec<f64> {
        let weighted: Vec<(u32, f64)> =
            weights.iter().enumerate().map(|(i, &w)| (i as u32, w)).collect();
        let alias = Alias::new(&weighted);
        let words = 1u64 << 16;
        let mut shares = vec![0.0; weights.len()];
        for i in 0..words {
            shares[alias.pick((i << 48) + (1 << 47)) as usize] += 1.0 / words as f64;
        }
        shares
    }

    #[test]
    fn shares_are_the_weights() {
        for weights in [
            vec![1.0],
            vec![1.0, 3.0],
            vec![5.0, 0.001, 2.0, 0.0, 7.0],
            vec![0.1; 10],
            vec![1e-300, 1.0],
        ] {
            let sum: f64 = weights.iter().sum();
            for (share, weight) in shares(&weights).iter().zip(&weights) {
                assert!((share - weight / sum).abs() < 1e-3, "{weights:?}");
            }
        }
    }
}
