//! The candidate itemsets of one level, and how the next level is made from them.

use table::{Reservation, Stop, Watch};

/// Itemsets of one size, ascending: those with the same first items are adjacent.
pub struct CandidateLevel<'w> {
    size: usize,
    items: Vec<u32>,
    _held: Option<Reservation<'w>>,
}

impl<'w> CandidateLevel<'w> {
    /// The itemsets of one item.
    pub fn of_items(items: Vec<u32>) -> Self {
        CandidateLevel { size: 1, items, _held: None }
    }

    /// The itemsets of one more item all whose subsets may grow: pairs of neighbours that differ in their last item.
    pub fn above(
        grown: &[Vec<u32>],
        has_grown: impl Fn(&[u32]) -> bool,
        watch: &'w Watch,
    ) -> Result<Self, Stop> {
        let size = grown.first().map_or(0, Vec::len);
        let mut held = Reservation::new(watch);
        let (mut items, mut part, mut tried) = (Vec::new(), Vec::new(), 0);
        for (i, first) in grown.iter().enumerate() {
            let prefix = &first[..size - 1];
            for second in grown[i + 1..].iter().take_while(|second| &second[..size - 1] == prefix) {
                watch.poll_with(tried, || held.raise(4 * items.capacity() as u64))?;
                tried += 1;
                let candidate = || first.iter().chain(&second[size - 1..]).copied();
                // Without one of the last two items it is one of the pair.
                let is_left = |out: usize| {
                    part.clear();
                    part.extend(
                        candidate().enumerate().filter(|(i, _)| *i != out).map(|(_, item)| item),
                    );
                    has_grown(&part)
                };
                if (0..size - 1).all(is_left) {
                    items.extend(candidate());
                }
            }
        }
        held.raise(4 * items.capacity() as u64)?;
        Ok(CandidateLevel { size: size + 1, items, _held: Some(held) })
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The number of itemsets.
    pub fn len(&self) -> usize {
        self.items.len() / self.size
    }

    pub fn itemsets(&self) -> impl Iterator<Item = &[u32]> {
        self.items.chunks(self.size)
    }

    /// All items that occur in itemsets, ascending.
    pub fn all_items(&self) -> Vec<u32> {
        let mut items = self.items.clone();
        items.sort_unstable();
        items.dedup();
        items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_parts_of_a_candidate_have_grown() {
        let watch = Watch::unlimited();
        let grown = [vec![1, 2], vec![1, 3], vec![1, 4], vec![2, 3], vec![3, 4]];
        let level =
            CandidateLevel::above(&grown, |part| grown.iter().any(|one| one == part), &watch)
                .unwrap();
        assert_eq!(level.itemsets().collect::<Vec<_>>(), [[1, 2, 3], [1, 3, 4]]);
        assert_eq!((level.len(), level.all_items()), (2, vec![1, 2, 3, 4]));
        assert!(CandidateLevel::above(&[vec![7]], |_| true, &watch).unwrap().is_empty());
        assert!(CandidateLevel::above(&[], |_| true, &watch).unwrap().is_empty());
    }

    #[test]
    fn candidates_that_do_not_fit_are_refused() {
        let watch = Watch::new(1 << 20, 0);
        let grown: Vec<Vec<u32>> = (1..2000).map(|item| vec![item]).collect();
        let stop = CandidateLevel::above(&grown, |_| true, &watch).err();
        assert_eq!(stop, Some(Stop::Memory { limit: 1 << 20 }));
        watch.cancel();
        assert_eq!(CandidateLevel::above(&grown, |_| true, &watch).err(), Some(Stop::Cancelled));
    }
}
