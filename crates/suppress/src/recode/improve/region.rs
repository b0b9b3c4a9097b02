//! A few classes that are near each other.

use super::alike::Alike;
use super::anneal::Annealing;
use super::near::Near;
use super::partition::Partition;
use crate::k_anonymize::prepare::mix;
use hashbrown::HashSet;
use table::bits::BitSet;
use table::{Keyed, Stop, Watch};

/// Classes in a region, at most, if they are small.
const CLASSES: usize = 12;

/// Attempts to find better classes for a region, divided by the words of a set; and for each of its rows at
/// most, so that the work is linear in the rows however small regions are.
const ATTEMPTS: u64 = 1200;
const ROW_ATTEMPTS: u64 = 32;

/// The region that is worked on. Its rows are numbered below `64 * N`.
pub(crate) struct Regions<'p, 'a, const N: usize> {
    partition: &'p mut Partition<'a>,
    near: &'p Near,
    /// Levels that classes are shown at.
    forms: Vec<Box<[u8]>>,
    /// The shares of each row.
    of_row: Vec<Vec<u32>>,
    classes: Vec<u32>,
    /// The rows, copy by copy.
    rows: Vec<u32>,
    levels: Vec<u8>,
}

impl<'p, 'a, const N: usize> Regions<'p, 'a, N> {
    pub fn new(partition: &'p mut Partition<'a>, near: &'p Near) -> Self {
        let mut of_row = vec![Vec::new(); partition.people.len()];
        let shares = partition.shares.iter().zip(0u32..).filter(|(share, _)| share.weight > 0);
        shares.for_each(|(share, number)| of_row[share.row as usize].push(number));
        let classes = (0..partition.classes.len() as u32)
            .filter(|&class| partition.classes[class as usize].size > 0);
        let forms: HashSet<Box<[u8]>, Keyed> =
            classes.map(|class| partition.levels(class).into()).collect();
        let mut forms: Vec<Box<[u8]>> = forms.into_iter().collect();
        forms.sort_unstable();
        let levels = vec![0; partition.people.width()];
        Regions { partition, near, forms, of_row, classes: Vec::new(), rows: Vec::new(), levels }
    }

    /// Works on regions until each class that loses something has been in one; `round` decides where they
    /// begin.
    pub fn pass(&mut self, round: u64, watch: &Watch) -> Result<(), Stop> {
        let count = self.partition.classes.len() as u32;
        let mut order: Vec<u32> = (0..count).collect();
        order.sort_unstable_by_key(|&class| mix(u64::from(class) ^ (round << 40)));
        let mut done = vec![false; count as usize];
        for class in order {
            if done[class as usize] || self.partition.classes[class as usize].loss == 0 {
                continue;
            }
            watch.check()?;
            self.gather(class);
            let inside = self.classes.iter().filter(|&&class| class < count);
            inside.for_each(|&class| done[class as usize] = true);
            if self.classes.len() > 1 {
                self.rebuild(mix(round << 32 | u64::from(class)));
            }
        }
        Ok(())
    }

    /// Chooses the classes of a region: one, those near it, and those near these.
    fn gather(&mut self, first: u32) {
        self.classes.clear();
        self.rows.clear();
        let mut queue = vec![first];
        let mut next = 0;
        while next < queue.len() && self.classes.len() < CLASSES {
            let number = queue[next];
            next += 1;
            let class = &self.partition.classes[number as usize];
            if self.rows.len() as u64 + class.size > (64 * N) as u64 {
                continue;
            }
            self.classes.push(number);
            let mut nearest: Vec<u32> = Vec::new();
            for &share in &class.members {
                let share = &self.partition.shares[share as usize];
                self.rows.extend((0..share.weight).map(|_| share.row));
                for &row in self.near.of(share.row) {
                    let shares = self.of_row[row as usize].iter();
                    nearest.extend(shares.map(|&s| self.partition.shares[s as usize].class));
                }
            }
            nearest.sort_unstable();
            let mut counted: Vec<(usize, u32)> =
                nearest.chunk_by(|a, b| a == b).map(|same| (same.len(), same[0])).collect();
            counted.sort_unstable_by(|a, b| b.cmp(a));
            for (_, near) in counted.into_iter().take(CLASSES / 2) {
                let class = &self.partition.classes[near as usize];
                if class.size > 0 && class.loss > 0 && !queue.contains(&near) {
                    queue.push(near);
                }
            }
        }
    }

    /// Looks for classes that lose less than those of the region.
    fn rebuild(&mut self, seed: u64) {
        let alike: Alike<N> = Alike::new(self.partition.people, &self.rows);
        let mut begin = 0;
        let classes = self.classes.iter().map(|&class| {
            let from = begin;
            begin += self.partition.classes[class as usize].size as usize;
            (from..begin).collect()
        });
        let classes: Vec<BitSet<N>> = classes.collect();
        let k = self.partition.rule.k;
        let groups = alike.groups(&self.forms, k);
        let attempts = (ATTEMPTS / N as u64).min(ROW_ATTEMPTS * alike.rows as u64);
        let found = Annealing::new(k, &alike, &groups, &classes, seed).run(attempts);
        let before: u64 = self.classes.iter().map(|&class| self.partition.loss(class)).sum();
        // Rows with NULLs lose less than was reckoned.
        if let Some(found) = found
            && found.iter().map(|set| self.loss(set)).sum::<u64>() < before
        {
            self.apply(&found);
        }
    }

    /// What the rows of a set lose in a class of their own.
    fn loss(&mut self, set: &BitSet<N>) -> u64 {
        let people = self.partition.people;
        let rows = set.iter().map(|place| self.rows[place]);
        let Some(first) = rows.clone().next() else { return 0 };
        self.levels.fill(0);
        rows.clone().for_each(|row| people.raise(&mut self.levels, first, row));
        rows.map(|row| people.loss(row, &self.levels)).sum()
    }

    fn apply(&mut self, classes: &[BitSet<N>]) {
        for &class in &self.classes {
            let members = &self.partition.classes[class as usize].members;
            for &share in members {
                let row = self.partition.shares[share as usize].row;
                self.of_row[row as usize].retain(|&other| other != share);
            }
            self.partition.dissolve(class);
        }
        for set in classes {
            let class = self.partition.open();
            let mut rows: Vec<u32> = set.iter().map(|place| self.rows[place]).collect();
            rows.sort_unstable();
            for same in rows.chunk_by(|a, b| a == b) {
                self.of_row[same[0] as usize].push(self.partition.shares.len() as u32);
                self.partition.enter(same[0], same.len() as u64, class);
            }
            self.partition.tighten(class);
        }
    }
}
