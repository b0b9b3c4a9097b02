//! Mined itemsets grouped by support, from which single ones can be removed.

use table::{Item, Itemsets, Stop, Watch, sort_watched};

/// All itemsets from a support on, in groups of equal support, the largest first. Supports above theta count as
/// theta.
pub(super) struct SupportLevels {
    itemsets: Itemsets,
    /// Itemset numbers, level by level; removed ones are at the end of their level.
    order: Vec<u32>,
    levels: Vec<SupportLevel>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SupportLevel {
    pub(super) support: u64,
    /// The position of its first itemset.
    start: usize,
    /// The number of itemsets that are left.
    pub(super) left: usize,
}

impl SupportLevels {
    /// Groups itemsets; the memory stays reserved.
    pub(super) fn new(itemsets: Itemsets, theta: u64, watch: &Watch) -> Result<Self, Stop> {
        watch.reserve(itemsets.memory() + itemsets.len() as u64 * 12)?;
        let support = |number: u32| itemsets.support(number as usize).min(theta);
        let mut order: Vec<u32> = (0..itemsets.len() as u32).collect();
        sort_watched(&mut order, watch, |a, b| support(b).cmp(&support(a)).then(a.cmp(&b)))?;
        let mut levels: Vec<SupportLevel> = Vec::new();
        for (start, &number) in order.iter().enumerate() {
            watch.poll(start)?;
            match levels.last_mut() {
                Some(level) if level.support == support(number) => level.left += 1,
                _ => levels.push(SupportLevel { support: support(number), start, left: 1 }),
            }
        }
        Ok(SupportLevels { itemsets, order, levels })
    }

    pub(super) fn all(&self) -> &[SupportLevel] {
        &self.levels
    }

    /// Itemset number `number` among those that are left in a level.
    pub(super) fn itemset(&self, level: usize, number: usize) -> &[Item] {
        self.itemsets.items(self.order[self.levels[level].start + number] as usize)
    }

    /// Removes an itemset of this support. Returns its level; `None` if it is not in any level.
    pub(super) fn remove(&mut self, items: &[Item], support: u64) -> Option<usize> {
        let at = self.levels.binary_search_by(|level| support.cmp(&level.support)).ok()?;
        let SupportLevel { start, left, .. } = self.levels[at];
        let place = (0..left).find(|&number| self.itemset(at, number) == items)?;
        self.order.swap(start + place, start + left - 1);
        self.levels[at].left -= 1;
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn itemsets_are_grouped_and_taken_out() {
        let item = |code| [Item { column: 0, code }];
        let mut itemsets = Itemsets::new();
        for (code, support) in [(0, 3), (1, 9), (2, 3), (3, 7), (4, 3)] {
            itemsets.push(&item(code), support);
        }
        let mut levels = SupportLevels::new(itemsets, 7, &Watch::unlimited()).unwrap();
        let left = |levels: &SupportLevels| {
            levels.all().iter().map(|level| (level.support, level.left)).collect::<Vec<_>>()
        };
        assert_eq!(left(&levels), [(7, 2), (3, 3)]);
        assert_eq!(levels.itemset(0, 1), item(3));
        assert_eq!(levels.remove(&item(0), 3), Some(1));
        assert_eq!(levels.remove(&item(0), 3), None);
        assert_eq!(levels.remove(&item(1), 5), None);
        assert_eq!(left(&levels), [(7, 2), (3, 2)]);
        let rest = [levels.itemset(1, 0), levels.itemset(1, 1)];
        assert!(rest.contains(&&item(2)[..]) && rest.contains(&&item(4)[..]));
    }
}
