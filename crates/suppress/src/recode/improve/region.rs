//! A few classes that are near each other, taken apart and put together again.

use super::near::Near;
use super::partition::Partition;
use crate::k_anonymize::prepare::mix;
use hashbrown::HashSet;
use table::{Keyed, Stop, Watch};

/// Rows of a region, at most: those of a set are bits of a word.
const ROWS: usize = 128;

/// Classes in a region, at most, if they are small.
const CLASSES: usize = 12;

/// Ways in which a region is put together.
const TRIES: u64 = 8;

/// Rows that would be alike in some form, as a set, and what one of them loses then.
struct Candidate {
    set: u128,
    loss: u64,
}

/// The region that is worked on.
pub(crate) struct Regions<'p, 'a> {
    partition: &'p mut Partition<'a>,
    near: &'p Near,
    /// Levels that classes are shown at.
    forms: Vec<Box<[u8]>>,
    /// The shares of each row.
    of_row: Vec<Vec<u32>>,
    classes: Vec<u32>,
    /// The rows, copy by copy.
    rows: Vec<u32>,
    candidates: Vec<Candidate>,
    levels: Vec<u8>,
}

impl<'p, 'a> Regions<'p, 'a> {
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
        Regions {
            partition,
            near,
            forms,
            of_row,
            classes: Vec::new(),
            rows: Vec::new(),
            candidates: Vec::new(),
            levels,
        }
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
                self.find_candidates();
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
            if self.rows.len() as u64 + class.size > ROWS as u64 {
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

    /// All rows of the region.
    fn whole(&self) -> u128 {
        u128::MAX >> (128 - self.rows.len())
    }

    /// The lowest levels at which the rows of a set are alike.
    fn meet(&mut self, set: u128) -> u32 {
        self.levels.fill(0);
        let first = self.rows[set.trailing_zeros() as usize];
        for place in ones(set & (set - 1)) {
            self.partition.people.raise(&mut self.levels, first, self.rows[place]);
        }
        first
    }

    /// What the rows of a set lose in a class of their own.
    fn loss(&mut self, set: u128) -> u64 {
        self.meet(set);
        ones(set).map(|place| self.partition.people.loss(self.rows[place], &self.levels)).sum()
    }

    /// The sets of k rows that a form makes alike.
    fn find_candidates(&mut self) {
        self.candidates.clear();
        self.meet(self.whole());
        let top = self.levels.clone();
        let people = self.partition.people;
        // The columns in which not all are alike: by level up to where they are, the keys of all rows.
        let columns: Vec<(usize, Vec<Vec<u64>>)> = (0..top.len())
            .filter(|&column| top[column] > 0)
            .map(|column| {
                let cells =
                    self.rows.iter().map(|&row| people.cells[column][row as usize] as usize);
                let keys = |level: u8| {
                    let keys = people.columns[column].keys(level.into());
                    cells.clone().map(|cell| keys[cell]).collect()
                };
                (column, (0..=top[column]).map(keys).collect())
            })
            .collect();
        let mut forms: HashSet<u64, Keyed> = HashSet::default();
        let mut sets: HashSet<u128, Keyed> = HashSet::default();
        let mut sums = vec![0u64; self.rows.len()];
        let mut keys: Vec<(u64, u8)> = Vec::with_capacity(self.rows.len());
        for form in 0..self.forms.len() {
            // Above the levels at which all are alike forms do not differ.
            let level = |column: usize| self.forms[form][column].min(top[column]);
            let packed = columns
                .iter()
                .fold(0, |packed, &(column, _)| mix(packed ^ u64::from(level(column))));
            if !forms.insert(packed) {
                continue;
            }
            sums.fill(0);
            for (column, keys) in &columns {
                let keys = &keys[usize::from(level(*column))];
                sums.iter_mut().zip(keys).for_each(|(sum, key)| *sum = sum.wrapping_add(*key));
            }
            keys.clear();
            keys.extend(sums.iter().copied().zip(0u8..));
            keys.sort_unstable();
            for alike in keys.chunk_by(|a, b| a.0 == b.0) {
                if (alike.len() as u64) < self.partition.rule.k {
                    continue;
                }
                let set = alike.iter().fold(0, |set: u128, entry| set | 1 << entry.1);
                if sets.insert(set) {
                    let first = self.meet(set);
                    let loss = people.loss(first, &self.levels);
                    self.candidates.push(Candidate { set, loss });
                }
            }
        }
        self.candidates.sort_unstable_by_key(|candidate| (candidate.loss, candidate.set));
    }

    /// Puts the region together in several ways, and keeps the best if less is lost than before.
    fn rebuild(&mut self, seed: u64) {
        let mut least: u64 = self.classes.iter().map(|&class| self.partition.loss(class)).sum();
        let mut best = None;
        let mut order: Vec<(u64, usize)> = Vec::new();
        for attempt in 0..TRIES {
            order.clear();
            // The first way takes what loses least; others take it for up to 7/8 more than it is.
            for (i, candidate) in self.candidates.iter().enumerate() {
                let noise = mix(seed ^ (attempt << 32) ^ i as u64) >> 56;
                order.push((candidate.loss * (256 + noise * attempt / 8), i));
            }
            order.sort_unstable();
            if let Some((classes, loss)) = self.build(&order)
                && loss < least
            {
                (least, best) = (loss, Some(classes));
            }
        }
        if let Some(classes) = best {
            self.apply(&classes);
        }
    }

    /// Classes of the candidates in the given order, and what they lose; rows that are left borrow others
    /// or join a class.
    fn build(&mut self, order: &[(u64, usize)]) -> Option<(Vec<u128>, u64)> {
        let k = self.partition.rule.k as u32;
        let mut left = self.whole();
        let mut classes: Vec<u128> = Vec::new();
        for &(_, i) in order {
            let set = self.candidates[i].set & left;
            if set.count_ones() >= k {
                classes.push(set);
                left &= !set;
            }
        }
        for &(_, i) in order {
            let set = self.candidates[i].set;
            if set & left == 0 {
                continue;
            }
            let spare = |class: u128| (class & set).count_ones().min(class.count_ones() - k);
            let lacking = k.saturating_sub((set & left).count_ones());
            if classes.iter().map(|&class| spare(class)).sum::<u32>() < lacking {
                continue;
            }
            let mut own = set & left;
            left &= !set;
            for class in &mut classes {
                let lent = spare(*class).min(k.saturating_sub(own.count_ones()));
                for place in ones(*class & set).take(lent as usize) {
                    *class &= !(1 << place);
                    own |= 1 << place;
                }
            }
            classes.push(own);
        }
        let mut losses: Vec<u64> = classes.iter().map(|&class| self.loss(class)).collect();
        for place in ones(left) {
            let bit = 1u128 << place;
            let grown = (0..classes.len()).map(|i| (self.loss(classes[i] | bit), i));
            let (grown, class) = grown.min_by_key(|&(grown, i)| grown - losses[i])?;
            classes[class] |= bit;
            losses[class] = grown;
        }
        Some((classes, losses.iter().sum()))
    }

    fn apply(&mut self, classes: &[u128]) {
        for &class in &self.classes {
            let members = &self.partition.classes[class as usize].members;
            for &share in members {
                let row = self.partition.shares[share as usize].row;
                self.of_row[row as usize].retain(|&other| other != share);
            }
            self.partition.dissolve(class);
        }
        for &set in classes {
            let class = self.partition.open();
            let mut rows: Vec<u32> = ones(set).map(|place| self.rows[place]).collect();
            rows.sort_unstable();
            for same in rows.chunk_by(|a, b| a == b) {
                self.of_row[same[0] as usize].push(self.partition.shares.len() as u32);
                self.partition.enter(same[0], same.len() as u64, class);
            }
            self.partition.tighten(class);
        }
    }
}

/// The members of a set.
fn ones(mut set: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = set.trailing_zeros();
        set &= set.wrapping_sub(1);
        (place < 128).then_some(place as usize)
    })
}
