//! The search for closed itemsets in a table of few groups, where a set of groups is a few machine words.

use crate::frequent::set_table::SetTable;
use crate::frequent::set_task::Shared;
use crate::itemset_list::ItemsetList;
use crate::project::group_sets::{units_up_to, weight_up_to};
use crate::project::unit_rows::UnitSum;
use table::{BitSet, Item, Stop};

const WORDS: usize = 4;

/// The state of the search.
#[derive(Default)]
pub(crate) struct ClosedNarrow {
    min_support: u64,
    max_length: usize,
    weights: Vec<u64>,
    /// As [`RowGroups::units`](crate::project::groups::RowGroups::units).
    units: Vec<u32>,
    /// By item: its name, the groups that contain it, whether it is in the current closed set.
    names: Vec<Item>,
    sets: Vec<BitSet<WORDS>>,
    inside: Vec<bool>,
    /// The ranks below that occur, and the groups that have each of them.
    ranks: Vec<u32>,
    below: Vec<BitSet<WORDS>>,
    /// Items that may extend the current set, with the groups that contain both; then the same for the next set, and
    /// so on.
    tails: Vec<(u32, BitSet<WORDS>)>,
}

impl ClosedNarrow {
    /// The largest number of groups of a table.
    pub(crate) const GROUPS: usize = WORDS * 64;

    /// Lists the closed sets that extend `set`, whose table is `table`.
    pub(crate) fn search(
        &mut self,
        table: &SetTable,
        shared: &Shared<'_, '_>,
        set: &mut Vec<Item>,
        list: &mut ItemsetList<'_>,
    ) -> Result<(), Stop> {
        let groups = &table.projection.groups;
        let ranks = &table.projection.ranks;
        self.min_support = shared.asked.min_support;
        self.max_length = shared.asked.max_length;
        self.weights.clear();
        self.weights.extend_from_slice(groups.weights());
        self.units.clear();
        self.units.extend_from_slice(groups.units());
        self.names.clear();
        self.names.extend(ranks.iter().map(|&rank| shared.items[rank as usize]));
        self.inside.clear();
        self.inside.resize(ranks.len(), false);
        self.sets.clear();
        self.sets.resize(ranks.len(), BitSet::EMPTY);
        self.ranks.clear();
        for group in 0..groups.len() as u32 {
            groups
                .row(group)
                .iter()
                .for_each(|&item| self.sets[item as usize].insert(group as usize));
            self.ranks.extend_from_slice(table.below(group));
        }
        self.ranks.sort_unstable();
        self.ranks.dedup();
        self.below.clear();
        self.below.resize(self.ranks.len(), BitSet::EMPTY);
        for group in 0..groups.len() as u32 {
            for rank in table.below(group) {
                if let Ok(i) = self.ranks.binary_search(rank) {
                    self.below[i].insert(group as usize);
                }
            }
        }
        self.tails.clear();
        self.tails.extend(self.sets.iter().enumerate().map(|(item, &set)| (item as u32, set)));
        let tails = self.tails.len();
        if self.units.is_empty() {
            self.extend::<false>(table, shared, (0, tails), set, list)
        } else {
            self.extend::<true>(table, shared, (0, tails), set, list)
        }
    }

    /// The support of a set of groups, or a part of it that is at least `enough`.
    #[inline]
    fn support<const UNITS: bool>(&self, groups: BitSet<WORDS>, enough: u64) -> u64 {
        if UNITS {
            units_up_to(groups, enough, UnitSum::new(&self.weights, &self.units))
        } else {
            weight_up_to(groups, enough, &self.weights)
        }
    }

    /// Whether all `groups` have an item below `item` that is not in the current set.
    fn implies_below(&self, table: &SetTable, item: u32, groups: BitSet<WORDS>) -> bool {
        // Such an item would be in each of the groups, so one group is enough to look for it.
        let Some(one) = groups.iter().next() else { return false };
        let one = one as u32;
        let earlier = table.projection.groups.row(one).iter().take_while(|&&other| other < item);
        table.below(one).iter().any(|rank| {
            self.ranks.binary_search(rank).is_ok_and(|i| self.below[i].contains(&groups))
        }) || earlier.into_iter().any(|&other| {
            !self.inside[other as usize] && self.sets[other as usize].contains(&groups)
        })
    }

    /// Extends the current set by each of the tails from `begin` to `end` and by further ones.
    fn extend<const UNITS: bool>(
        &mut self,
        table: &SetTable,
        shared: &Shared<'_, '_>,
        (begin, end): (usize, usize),
        set: &mut Vec<Item>,
        list: &mut ItemsetList<'_>,
    ) -> Result<(), Stop> {
        let length = set.len();
        for i in begin..end {
            let (item, groups) = self.tails[i];
            if self.implies_below(table, item, groups) {
                continue;
            }
            set.push(self.names[item as usize]);
            self.inside[item as usize] = true;
            for j in i + 1..end {
                let later = self.tails[j].0;
                let both = groups & self.sets[later as usize];
                if both == groups {
                    set.push(self.names[later as usize]);
                    self.inside[later as usize] = true;
                } else if self.support::<UNITS>(both, self.min_support) >= self.min_support {
                    self.tails.push((later, both));
                }
            }
            if set.len() <= self.max_length {
                let closure = shared.closure.as_ref().filter(|_| UNITS);
                if closure.map_or(Ok(true), |closure| closure.is_closed(set, shared.watch))? {
                    list.push(set, self.support::<UNITS>(groups, u64::MAX))?;
                }
                let tails = self.tails.len();
                if tails > end && set.len() < self.max_length {
                    self.extend::<UNITS>(table, shared, (end, tails), set, list)?;
                }
            }
            self.tails.truncate(end);
            for j in i..end {
                self.inside[self.tails[j].0 as usize] = false;
            }
            set.truncate(length);
        }
        Ok(())
    }
}
