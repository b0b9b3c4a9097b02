//! The worth of a row of each class, and where an additional row could go.

use super::classes::Classes;
use table::NONE;

/// The effect of chains on all classes, at one point in time.
///
/// `from`: the two classes with the highest loss among those that have rows to spare and from which a chain leads here.
/// Their loss is what is saved if a row is taken out. `to`: the class with the lowest loss to which a chain leads from
/// here. Its loss is the cost of putting a row in.
pub(crate) struct RowValues {
    pub from: Vec<[(i64, u32); 2]>,
    pub to: Vec<(i64, u32)>,
    /// Pairs (first class that a class gets rows from, the class), sorted.
    pub fed: Vec<(u32, u32)>,
    /// The classes that were reached, and working memory.
    known: Vec<u32>,
    stack: Vec<u32>,
}

/// No class.
const NOWHERE: (i64, u32) = (-1, NONE);

impl RowValues {
    pub fn new(groups: usize) -> Self {
        RowValues {
            from: vec![[NOWHERE; 2]; groups],
            to: vec![NOWHERE; groups],
            fed: Vec::new(),
            known: Vec::new(),
            stack: Vec::new(),
        }
    }

    /// Computes all values again. Each class is reached from two sides at most, so a thousand classes take half a
    /// millisecond.
    pub fn refresh(&mut self, classes: &Classes<'_>) {
        for &class in self.known.iter().chain(&classes.open) {
            self.from[class as usize] = [NOWHERE; 2];
            self.to[class as usize] = NOWHERE;
        }
        self.known.clone_from(&classes.open);
        let mut order = classes.open.clone();
        order.sort_unstable_by_key(|&class| (classes.loss(class), class));
        for &class in &order {
            if self.to[class as usize] == NOWHERE {
                self.lead_to(class, classes);
            }
        }
        for &class in order.iter().rev() {
            if classes.size(class) > classes.k {
                self.come_from(class, classes);
            }
        }
        self.fed.clear();
        self.fed.extend(order.iter().map(|&class| (self.from[class as usize][0].1, class)));
        self.fed.sort_unstable();
    }

    /// The worth of a row of a class if `without` has no rows to spare; -1 if no row could replace it.
    pub fn without(&self, class: u32, without: u32) -> i64 {
        let [first, second] = self.from[class as usize];
        if first.1 == without { second.0 } else { first.0 }
    }

    /// The classes that get rows from this class first.
    pub fn fed_by(&self, class: u32) -> &[(u32, u32)] {
        let begin = self.fed.partition_point(|fed| fed.0 < class);
        let count = self.fed[begin..].partition_point(|fed| fed.0 == class);
        &self.fed[begin..begin + count]
    }

    fn lead_to(&mut self, end: u32, classes: &Classes<'_>) {
        let found = (classes.loss(end), end);
        self.to[end as usize] = found;
        self.stack.push(end);
        while let Some(class) = self.stack.pop() {
            for &copy in classes.groups.copies.list(class as usize) {
                let from = classes.class[copy as usize];
                if self.to[from as usize] == NOWHERE {
                    self.to[from as usize] = found;
                    self.stack.push(from);
                }
            }
        }
    }

    fn come_from(&mut self, begin: u32, classes: &Classes<'_>) {
        let found = (classes.loss(begin), begin);
        if self.note(begin, found) {
            self.stack.push(begin);
        }
        while let Some(class) = self.stack.pop() {
            for &copy in &classes.members[class as usize] {
                for &to in &classes.fits[copy as usize] {
                    if self.note(to, found) {
                        self.stack.push(to);
                    }
                }
            }
        }
    }

    /// Records a class that rows come from; false if two such classes are known already, or this one is.
    fn note(&mut self, class: u32, found: (i64, u32)) -> bool {
        let from = &mut self.from[class as usize];
        let place = usize::from(from[0] != NOWHERE);
        let new = from[place] == NOWHERE && from[0].1 != found.1;
        if new {
            from[place] = found;
        }
        new
    }
}
