//! Rows that move along chains of classes.

use super::classes::Classes;
use std::collections::BinaryHeap;
use table::{NONE, Stop, Watch};

/// Classes that a chain is looked for in: with three times as many Adult lost the same.
const VISITS: usize = 20;

/// Copies that are looked at in one search, and in all searches and whatever else is counted: more than Adult
/// takes at k = 25. Where there are many rows, or many in a class, this is soon over.
const LOOKS: u64 = 1 << 14;
pub(crate) const ALL_LOOKS: u64 = 1 << 28;

/// Classes, and what is known of them while a chain is looked for.
pub(crate) struct Chains<'g> {
    pub classes: Classes<'g>,
    watch: &'g Watch,
    /// Copies that were looked at.
    pub looks: u64,
    /// A class that is given up, and what one of its rows is worth.
    pub closing: (u32, i64),
    /// The number of the search that has seen a class, the class that it was seen from, and the copy that
    /// would move between them.
    seen: Vec<u32>,
    search: u32,
    links: Vec<(u32, u32)>,
    /// Classes to look at.
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

    /// Sends a copy of a class to the one that loses least of those that chains lead to, if that is less than
    /// `below`.
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

    /// Fetches a copy for a class from the one that loses most of those that can spare one and that chains
    /// come from, if that is more than `above`.
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

    /// Sends copies that a class can spare to where less is lost.
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

    /// Begins a search; returns when to end it. One that is cancelled finds nothing: its caller has to ask why.
    fn begin(&mut self, class: u32) -> u64 {
        // Searches are counted by 32 bits; a number that comes again could only make a chain be missed.
        self.search = self.search.wrapping_add(1);
        self.seen[class as usize] = self.search;
        self.heap.clear();
        self.heap.push((0, class));
        if self.watch.check().is_err() { 0 } else { (self.looks + LOOKS).min(ALL_LOOKS) }
    }
}
