//! The search in a projection of few groups: a set of groups is a few machine words.

use crate::bits::Set;
use crate::explore::Finder;
use crate::visitor::Sink;
use table::Stop;

/// The state of the search.
pub(crate) struct Narrow<const W: usize> {
    depth: usize,
    theta: u64,
    weights: Vec<u64>,
    /// The groups that contain each item.
    sets: Vec<Set<W>>,
    heavy: Set<W>,
    light: Set<W>,
    /// The items chosen after the prefix, and the groups that contain those before each.
    chosen: Vec<(u32, Set<W>)>,
    /// Items that may extend what is chosen, with the groups that contain both; then the same for
    /// one more item chosen, and so on.
    tails: Vec<(u32, Set<W>)>,
}

impl<const W: usize> Default for Narrow<W> {
    fn default() -> Self {
        Narrow {
            depth: 0,
            theta: 0,
            weights: Vec::new(),
            sets: Vec::new(),
            heavy: Set::ALL,
            light: Set::ALL,
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
        self.theta = finder.path.ground.theta;
        self.weights.clear();
        self.weights.extend_from_slice(node.projection.groups.weights());
        self.sets.clear();
        self.sets.extend((0..items).map(|item| Set::new(node.sets.set(item))));
        self.heavy = Set::new(node.sets.heavy());
        self.light = Set::new(node.sets.light());
        self.chosen.clear();
        self.tails.clear();
        self.tails.extend((0..items).map(|item| (item, self.sets[item as usize])));
        self.extend(0, items as usize, Set::ALL, finder)
    }

    /// Extends what is chosen, which `before` contain, by each of the tails from `begin` to `end`
    /// and by more of them.
    fn extend<S: Sink>(
        &mut self,
        begin: usize,
        end: usize,
        before: Set<W>,
        finder: &mut Finder<'_, S>,
    ) -> Result<(), Stop> {
        finder.watch.check()?;
        for i in begin..end {
            let (item, set) = self.tails[i];
            self.chosen.push((item, before));
            for j in i + 1..end {
                let later = self.tails[j].0;
                let both = set & self.sets[later as usize];
                if !both.meets(self.light) || both == set {
                    continue;
                }
                match self.infrequent(both) {
                    None => self.tails.push((later, both)),
                    Some(support) => self.judge(later, both, support, finder)?,
                }
            }
            let length = self.depth + self.chosen.len();
            if self.tails.len() > end + 1 && length + 2 <= finder.path.ground.max_length {
                self.extend(end, self.tails.len(), set, finder)?;
            }
            self.tails.truncate(end);
            self.chosen.pop();
        }
        Ok(())
    }

    /// The support of a set of groups, if at most theta.
    #[inline]
    fn infrequent(&self, set: Set<W>) -> Option<u64> {
        if set.meets(self.heavy) {
            return None;
        }
        Some(set.weight_up_to(self.theta.saturating_add(1), &self.weights))
            .filter(|&support| support <= self.theta)
    }

    /// Hands on the prefix, what is chosen and `item`, in the groups `set`, if that is an MII.
    fn judge<S: Sink>(
        &mut self,
        item: u32,
        set: Set<W>,
        support: u64,
        finder: &mut Finder<'_, S>,
    ) -> Result<(), Stop> {
        let numbers = || self.chosen.iter().map(|&(chosen, _)| chosen).chain([item]);
        if !self.minimal(item) || !finder.minimal(self.depth, numbers()) {
            return Ok(());
        }
        finder.found(self.depth, numbers(), support, |path, rows| {
            set.groups().for_each(|group| path.rows(self.depth, group, rows));
        })
    }

    /// Whether the chosen items and `item` stay frequent with any but the last of the chosen ones
    /// left out; without the last one that is known.
    fn minimal(&self, item: u32) -> bool {
        let mut later = self.sets[item as usize];
        self.chosen.iter().enumerate().rev().all(|(i, &(chosen, before))| {
            let frequent = i + 1 == self.chosen.len() || self.infrequent(before & later).is_none();
            later = later & self.sets[chosen as usize];
            frequent
        })
    }
}
