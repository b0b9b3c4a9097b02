//! The search for MIIs in a projection of few groups, where a set of groups is a few machine words.

use crate::mii::search_task::Finder;
use crate::mii::visitor::Sink;
use crate::project::group_sets::{units_up_to, weight_up_to};
use crate::project::unit_rows::UnitSum;
use table::{BitSet, Stop};

/// The state of the search.
pub(crate) struct Narrow<const W: usize> {
    depth: usize,
    theta: u64,
    weights: Vec<u64>,
    /// As [`RowGroups::units`](crate::project::groups::RowGroups::units).
    units: Vec<u32>,
    /// The groups that contain each item.
    sets: Vec<BitSet<W>>,
    heavy: BitSet<W>,
    light: BitSet<W>,
    /// The items chosen after the prefix, and for each the groups that contain the items before it.
    chosen: Vec<(u32, BitSet<W>)>,
    /// Items that may extend the chosen ones, with the groups that contain both; then the same for one more chosen
    /// item, and so on.
    tails: Vec<(u32, BitSet<W>)>,
}

impl<const W: usize> Default for Narrow<W> {
    fn default() -> Self {
        Narrow {
            depth: 0,
            theta: 0,
            weights: Vec::new(),
            units: Vec::new(),
            sets: Vec::new(),
            heavy: BitSet::ALL,
            light: BitSet::ALL,
            chosen: Vec::new(),
            tails: Vec::new(),
        }
    }
}

impl<const W: usize> Narrow<W> {
    /// Finds the MIIs that extend the prefix of `depth` items by at least two more.
    pub(crate) fn search<S: Sink>(
        &mut self,
        depth: usize,
        finder: &mut Finder<'_, S>,
    ) -> Result<(), Stop> {
        let node = finder.path.node(depth);
        let items = node.projection.items() as u32;
        self.depth = depth;
        self.theta = finder.path.shared.theta;
        self.weights.clear();
        self.weights.extend_from_slice(node.projection.groups.weights());
        self.units.clear();
        self.units.extend_from_slice(node.projection.groups.units());
        self.sets.clear();
        let of_item = |item: u32| BitSet::from_words(node.sets.of_items.set(item as usize));
        self.sets.extend((0..items).map(of_item));
        self.heavy = BitSet::from_words(&node.sets.heavy);
        self.light = BitSet::from_words(&node.sets.light);
        self.chosen.clear();
        self.tails.clear();
        self.tails.extend((0..items).map(|item| (item, self.sets[item as usize])));
        if self.units.is_empty() {
            self.extend::<S, false>(0, items as usize, BitSet::ALL, finder)
        } else {
            self.extend::<S, true>(0, items as usize, BitSet::ALL, finder)
        }
    }

    /// Extends the chosen items, which the groups `before` contain, by each of the tails from `begin` to `end` and by
    /// further ones.
    fn extend<S: Sink, const UNITS: bool>(
        &mut self,
        begin: usize,
        end: usize,
        before: BitSet<W>,
        finder: &mut Finder<'_, S>,
    ) -> Result<(), Stop> {
        finder.watch.check()?;
        for i in begin..end {
            let (item, set) = self.tails[i];
            self.chosen.push((item, before));
            for j in i + 1..end {
                let later = self.tails[j].0;
                let both = set & self.sets[later as usize];
                if !both.meets(&self.light) || both == set {
                    continue;
                }
                match self.infrequent::<UNITS>(both) {
                    None => self.tails.push((later, both)),
                    Some(support) => self.judge::<S, UNITS>(later, both, support, finder)?,
                }
            }
            let length = self.depth + self.chosen.len();
            if self.tails.len() > end + 1 && length + 2 <= finder.path.shared.max_length {
                self.extend::<S, UNITS>(end, self.tails.len(), set, finder)?;
            }
            self.tails.truncate(end);
            self.chosen.pop();
        }
        Ok(())
    }

    /// The support of a set of groups, if at most theta.
    #[inline]
    fn infrequent<const UNITS: bool>(&self, set: BitSet<W>) -> Option<u64> {
        if set.meets(&self.heavy) {
            return None;
        }
        let enough = self.theta.saturating_add(1);
        let support = if UNITS {
            units_up_to(set, enough, UnitSum::new(&self.weights, &self.units))
        } else {
            weight_up_to(set, enough, &self.weights)
        };
        Some(support).filter(|&support| support <= self.theta)
    }

    /// Hands on the prefix, the chosen items and `item`, in the groups `set`, if they are an MII.
    fn judge<S: Sink, const UNITS: bool>(
        &mut self,
        item: u32,
        set: BitSet<W>,
        support: u64,
        finder: &mut Finder<'_, S>,
    ) -> Result<(), Stop> {
        let numbers = || self.chosen.iter().map(|&(chosen, _)| chosen).chain([item]);
        if !self.minimal::<UNITS>(item) || !finder.minimal(self.depth, numbers()) {
            return Ok(());
        }
        finder.found(self.depth, numbers(), support, |path, rows| {
            set.iter().for_each(|group| path.rows(self.depth, group as u32, rows));
        })
    }

    /// Whether the chosen items and `item` stay frequent when any of the chosen ones but the last is left out; for
    /// the last one that is known.
    fn minimal<const UNITS: bool>(&self, item: u32) -> bool {
        let mut later = self.sets[item as usize];
        self.chosen.iter().enumerate().rev().all(|(i, &(chosen, before))| {
            let frequent =
                i + 1 == self.chosen.len() || self.infrequent::<UNITS>(before & later).is_none();
            later = later & self.sets[chosen as usize];
            frequent
        })
    }
}
