//! Rows that move along chains of classes.

use super::classes::Classes;
use std::collections::BinaryHeap;
use table::{NONE, Stop, Watch};

/// The most classes that one search for a chain visits; with three times as many Adult lost the same.
const VISITS: usize = 20;

/// The most copies that are examined in one search, and in all searches and other counted work: more than Adult takes
/// at k = 25. With many rows, or large classes, the limit is reached early.
const LOOKS: u64 = 1 << 14;
pub(crate) const ALL_LOOKS: u64 = 1 << 28;

/// Classes, and the state of the search for chains.
pub(crate) struct Chains<'g> {
    pub classes: Classes<'g>,
    watch: &'g Watch,
    /// Copies that were examined.
    pub looks: u64,
    /// The class that is being given up, and the worth of one of its rows.
    pub closing: (u32, i64),
    /// For each class the number of the last search that reached it, the class from which it was reached, and the copy
    /// that would move between them.
    seen: Vec<u32>,
    search: u32,
    links: Vec<(u32, u32)>,
    /// Classes that are still to be visited.
    heap: BinaryHeap<(i64, u32)>,
}

impl<'g> Chains<'g> {
    pub fn new(classes: Classes<'g>, watch: &'g Watch) -> Self {
        let groups = classes.groups.len();
        Chains {
            classes,
            watch,
            looks: 0,
            closing: (NONE, 0),
            seen: vec![0; groups],
            search: 0,
            links: vec![(NONE, NONE); groups],
            heap: BinaryHeap::new(),
        }
    }

    /// Moves a copy out of a class along a chain to the reachable class that loses least, if that is less than `below`.
    pub fn shed(&mut self, class: u32, below: i64) -> bool {
        let last = self.begin(class);
        let (mut end, mut least) = (NONE, below);
        for _ in 0..VISITS {
            let Some((_, from)) = self.heap.pop().filter(|_| self.looks < last) else { break };
            self.looks += self.classes.size(from) as u64;
            for &copy in &self.classes.members[from as usize] {
                for &to in &self.classes.fits[copy as usize] {
                    if self.seen[to as usize] == self.search {
                        continue;
                    }
                    self.seen[to as usize] = self.search;
                    self.links[to as usize] = (from, copy);
                    let loss = self.classes.loss(to);
                    if loss < least {
                        (end, least) = (to, loss);
                    }
                    self.heap.push((-loss, to));
                }
            }
        }
        if end == NONE {
            return false;
        }
        while end != class {
            let (from, copy) = self.links[end as usize];
            self.classes.shift(copy, end);
            end = from;
        }
        true
    }

    /// Moves a copy into a class along a chain from the class that loses most among those that can spare one, if that
    /// is more than `above`.
    pub fn pull(&mut self, class: u32, above: i64) -> bool {
        let last = self.begin(class);
        let (mut end, mut most) = (NONE, above);
        for _ in 0..VISITS {
            let Some((_, to)) = self.heap.pop().filter(|_| self.looks < last) else { break };
            self.looks += self.classes.groups.copies.range(to as usize).len() as u64;
            for &copy in self.classes.groups.copies.list(to as usize) {
                let from = self.classes.class[copy as usize];
                if self.seen[from as usize] == self.search {
                    continue;
                }
                self.seen[from as usize] = self.search;
                self.links[from as usize] = (to, copy);
                let closing = from == self.closing.0;
                let loss = if closing { self.closing.1 } else { self.classes.loss(from) };
                if loss > most && (closing || self.classes.size(from) > self.classes.k) {
                    (end, most) = (from, loss);
                }
                self.heap.push((loss, from));
            }
        }
        if end == NONE {
            return false;
        }
        while end != class {
            let (to, copy) = self.links[end as usize];
            self.classes.shift(copy, to);
            end = to;
        }
        true
    }

    /// Moves the copies that a class can spare to classes that lose less.
    pub fn shed_spare(&mut self, class: u32) {
        let loss = self.classes.loss(class);
        while self.classes.size(class) > self.classes.k && self.shed(class, loss) {}
    }

    /// The same for all classes, those that lose most first.
    pub fn shed_all(&mut self) -> Result<(), Stop> {
        let mut order = self.classes.open.clone();
        order.sort_unstable_by_key(|&class| (-self.classes.loss(class), class));
        for class in order {
            self.watch.check()?;
            self.shed_spare(class);
        }
        self.classes.keep();
        Ok(())
    }

    /// The same for the classes that copies have moved from and to.
    pub fn shed_moved(&mut self) {
        let moves = 0..self.classes.moves.len();
        for place in moves {
            let (copy, from) = self.classes.moves[place];
            for class in [from, self.classes.class[copy as usize]] {
                if self.classes.is_open(class) {
                    self.shed_spare(class);
                }
            }
        }
    }

    /// Begins a search; returns the number of examined copies at which it ends. A cancelled search finds nothing, and
    /// its caller has to poll the watch.
    fn begin(&mut self, class: u32) -> u64 {
        // Search numbers have 32 bits; a repeated number could at most hide a chain.
        self.search = self.search.wrapping_add(1);
        self.seen[class as usize] = self.search;
        self.heap.clear();
        self.heap.push((0, class));
        if self.watch.check().is_err() { 0 } else { (self.looks + LOOKS).min(ALL_LOOKS) }
    }
}
