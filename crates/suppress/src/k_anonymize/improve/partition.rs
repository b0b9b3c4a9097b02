//! Classes between which rows move.

use crate::k_anonymize::prepare::People;
use crate::k_anonymize::rule::{self, Rule, Tally};
use crate::k_anonymize::search::{Assignment, Share};
use table::{Stop, Watch};

/// Rows that are shown alike. A class without rows is gone.
#[derive(Default)]
pub(crate) struct Class {
    pub size: u64,
    /// The loss of a row of it that has no NULL.
    pub loss: u64,
    /// The numbers of its shares.
    pub members: Vec<u32>,
    /// Rows by sensitive value, if there is one.
    pub tally: Tally,
}

/// The classes of a future release.
pub(crate) struct Partition<'a> {
    pub people: &'a People,
    pub rule: &'a Rule,
    pub classes: Vec<Class>,
    levels: Vec<u8>,
    /// All shares; those without copies are no longer used.
    pub shares: Vec<Share>,
    /// Rows without a class, with their numbers of copies.
    pub waiting: Vec<(u32, u64)>,
}

impl<'a> Partition<'a> {
    pub fn new(assignment: Assignment<'a>, rule: &'a Rule, watch: &Watch) -> Result<Self, Stop> {
        let waiting = assignment.free.iter().map(|&row| (row, assignment.left(row))).collect();
        let mut partition = Partition {
            people: assignment.people,
            rule,
            classes: Vec::new(),
            levels: Vec::new(),
            shares: Vec::with_capacity(assignment.shares.len()),
            waiting,
        };
        partition.classes.resize_with(assignment.sizes.len(), Class::default);
        partition.levels.resize(assignment.sizes.len() * partition.people.width(), 0);
        for share in assignment.shares.iter().filter(|share| share.weight > 0) {
            partition.enter(share.row, share.weight, share.class);
        }
        for class in 0..partition.classes.len() as u32 {
            watch.poll_every(1024, class as usize)?;
            partition.tighten(class);
        }
        Ok(partition)
    }

    /// Classes of the given rows, each row as often as it has copies there; the other copies have no class.
    pub fn of_classes(
        people: &'a People,
        rule: &'a Rule,
        classes: Vec<Vec<u32>>,
        watch: &Watch,
    ) -> Result<Self, Stop> {
        let mut assignment = Assignment::new(people);
        for mut rows in classes {
            rows.sort_unstable();
            let class = assignment.class(0);
            for same in rows.chunk_by(|a, b| a == b) {
                assignment.settle(same[0], same.len() as u64, class);
            }
        }
        assignment.sweep();
        Partition::new(assignment, rule, watch)
    }

    /// The levels at which a class is shown.
    pub fn levels(&self, class: u32) -> &[u8] {
        let width = self.people.width();
        &self.levels[class as usize * width..][..width]
    }

    /// A row of a class other than its member number `place`.
    pub fn another(&self, class: u32, place: usize) -> Option<u32> {
        let share = self.classes[class as usize].members.get(usize::from(place == 0))?;
        Some(self.shares[*share as usize].row)
    }

    /// Some row of a class.
    pub fn first(&self, class: u32) -> Option<u32> {
        self.another(class, usize::MAX)
    }

    /// Sets the levels of a class to the lowest at which its rows are alike.
    pub fn tighten(&mut self, number: u32) {
        let width = self.people.width();
        let Some(first) = self.first(number) else { return };
        let class = &mut self.classes[number as usize];
        let levels = &mut self.levels[number as usize * width..][..width];
        levels.fill(0);
        for &share in &class.members[1..] {
            self.people.raise(levels, first, self.shares[share as usize].row);
        }
        class.loss = self.people.loss(first, levels);
    }

    /// An empty class.
    pub fn open(&mut self) -> u32 {
        self.classes.push(Class::default());
        self.levels.resize(self.classes.len() * self.people.width(), 0);
        self.classes.len() as u32 - 1
    }

    /// Puts copies of a row without a class into one; the class must be tightened afterwards.
    pub fn enter(&mut self, row: u32, weight: u64, class: u32) {
        let share = self.shares.len() as u32;
        self.shares.push(Share { row, class, weight });
        self.count(share, class);
    }

    #[inline]
    fn count(&mut self, share: u32, to: u32) {
        let Share { row, weight, .. } = self.shares[share as usize];
        let class = &mut self.classes[to as usize];
        class.size += weight;
        class.members.push(share);
        if let Some(&value) = self.people.sensitive.get(row as usize) {
            rule::add(&mut class.tally, value, weight);
        }
    }

    /// Moves a share to another class; both must be tightened afterwards.
    pub fn shift(&mut self, number: u32, to: u32) {
        let share = &mut self.shares[number as usize];
        let Share { row, weight, class: from } = *share;
        share.class = to;
        let class = &mut self.classes[from as usize];
        class.size -= weight;
        class.members.retain(|&member| member != number);
        if let Some(&value) = self.people.sensitive.get(row as usize) {
            rule::take(&mut class.tally, value, weight);
        }
        self.count(number, to);
    }

    /// Moves some copies of a share to another class as a share of their own, and returns its number; both classes must
    /// be tightened afterwards.
    pub fn part(&mut self, number: u32, weight: u64, to: u32) -> u32 {
        let row = self.withdraw(number, weight);
        self.enter(row, weight, to);
        self.shares.len() as u32 - 1
    }

    /// Takes some copies of a share out of its class, which must be tightened afterwards; returns their row.
    pub fn withdraw(&mut self, number: u32, weight: u64) -> u32 {
        let share = &mut self.shares[number as usize];
        share.weight -= weight;
        let Share { row, class, weight: left } = *share;
        let class = &mut self.classes[class as usize];
        class.size -= weight;
        if left == 0 {
            class.members.retain(|&member| member != number);
        }
        if let Some(&value) = self.people.sensitive.get(row as usize) {
            rule::take(&mut class.tally, value, weight);
        }
        row
    }

    /// Raises the levels of a class so far that it shows a row alike with these cells.
    pub fn admit(&mut self, number: u32, cell: impl Fn(usize) -> u32) {
        let width = self.people.width();
        let Some(first) = self.first(number) else { return };
        let levels = &mut self.levels[number as usize * width..][..width];
        let columns = self.people.columns.iter().zip(&self.people.cells).enumerate();
        for ((place, (column, cells)), level) in columns.zip(levels) {
            *level = (*level).max(column.meet(cells[first as usize], cell(place)));
        }
    }

    /// The total loss of the rows of a class.
    pub fn loss(&self, class: u32) -> u64 {
        let members = self.classes[class as usize].members.iter();
        let shares = members.map(|&share| &self.shares[share as usize]);
        let levels = self.levels(class);
        shares.map(|share| share.weight * self.people.loss(share.row, levels)).sum()
    }

    /// The loss of all rows.
    pub fn total(&self) -> u64 {
        (0..self.classes.len() as u32).map(|class| self.loss(class)).sum()
    }

    /// Puts all rows of `from` into `to`.
    pub fn merge(&mut self, from: u32, to: u32) {
        for share in std::mem::take(&mut self.classes[from as usize].members) {
            self.shares[share as usize].class = to;
            self.count(share, to);
        }
        self.classes[from as usize] = Class::default();
        self.tighten(to);
    }
}
