//! Better classes for the rows of a region, found by annealing.
//!
//! A row chooses a class in which it loses less. Others come along; classes that lose too many rows are
//! dissolved, and their rows look for new ones. What loses more is accepted too, less and less of it: with
//! that Adult loses .0634 at k = 6, without it .0639 (without the classes of `price`).

use super::alike::{Alike, Group};
use crate::k_anonymize::prepare::mix;
use table::bits::BitSet;

/// What an attempt may lose more at first, of what a class loses on average: parts of 1024. With half of it
/// and with twice as much .0001 to .0003 more is lost of Adult at k = 6 or 25.
const HEAT: u64 = 600;

#[derive(Clone, Copy)]
struct Class<const N: usize> {
    set: BitSet<N>,
    size: u64,
    /// What all its rows lose.
    loss: i64,
}

impl<const N: usize> Class<N> {
    fn new(alike: &Alike<N>, set: BitSet<N>) -> Self {
        let size = set.len() as u64;
        Class { set, size, loss: (size * alike.loss(&set)) as i64 }
    }
}

/// The classes of a region while they change.
pub(crate) struct Annealing<'r, const N: usize> {
    k: u64,
    alike: &'r Alike<N>,
    /// The groups that classes are chosen from, those that lose least first.
    groups: &'r [Group<N>],
    /// The groups of each row, in the same order.
    choices: Vec<Vec<u32>>,
    classes: Vec<Class<N>>,
    /// What each row loses.
    losses: Vec<u64>,
    /// What an attempt makes of the classes, and what they lose more then.
    next: Vec<Class<N>>,
    more: i64,
    /// Working memory: what rows lose more in another class.
    costs: Vec<(i64, usize)>,
    number: u64,
}

impl<'r, const N: usize> Annealing<'r, N> {
    pub fn new(
        k: u64,
        alike: &'r Alike<N>,
        groups: &'r [Group<N>],
        classes: &[BitSet<N>],
        seed: u64,
    ) -> Self {
        let mut choices = vec![Vec::new(); alike.rows];
        for (group, number) in groups.iter().zip(0u32..) {
            group.set.iter().for_each(|place| choices[place].push(number));
        }
        let mut annealing = Annealing {
            k,
            alike,
            groups,
            choices,
            classes: classes.iter().map(|&set| Class::new(alike, set)).collect(),
            losses: vec![0; alike.rows],
            next: Vec::new(),
            more: 0,
            costs: Vec::new(),
            number: seed,
        };
        annealing.note();
        annealing
    }

    /// The classes that lose least of all that are found, if they lose less than the first ones.
    pub fn run(&mut self, attempts: u64) -> Option<Vec<BitSet<N>>> {
        let first: i64 = self.classes.iter().map(|class| class.loss).sum();
        let warm = first as u64 / self.classes.len() as u64 * HEAT / 1024;
        let (mut now, mut least, mut best) = (first, first, None);
        for attempt in 0..attempts {
            let heat = warm * (attempts - attempt) / attempts;
            let part = self.random() >> 56;
            if !self.attempt(((heat * part * part) >> 16) as i64) {
                continue;
            }
            now += self.more;
            std::mem::swap(&mut self.classes, &mut self.next);
            self.note();
            if now < least {
                least = now;
                best = Some(self.classes.iter().map(|class| class.set).collect());
            }
        }
        best
    }

    fn random(&mut self) -> u64 {
        self.number = self.number.wrapping_add(1);
        mix(self.number)
    }

    fn note(&mut self) {
        for class in &self.classes {
            let each = class.loss as u64 / class.size;
            class.set.iter().for_each(|place| self.losses[place] = each);
        }
    }

    /// Opens a class in which some row loses less; true if all rows together lose at most `limit` more.
    fn attempt(&mut self, limit: i64) -> bool {
        let (choice, number) = (self.random(), self.random());
        let place = below(choice >> 32, self.alike.rows);
        let choices = &self.choices[place];
        let groups = self.groups;
        let better = choices.partition_point(|&g| groups[g as usize].loss < self.losses[place]);
        if better == 0 {
            return false;
        }
        let group = &groups[choices[below(choice & 0xffff_ffff, better)] as usize];
        let own = match number & 3 {
            0 | 1 => self.neediest(group, place, number & 1 == 1),
            _ => self.together(group, place, (number >> 32) as usize, number & 1 == 1),
        };
        self.next.clear();
        self.more = 0;
        let mut left = BitSet::EMPTY;
        for i in 0..self.classes.len() {
            let class = self.classes[i];
            let rest = class.set.minus(&own);
            if rest == class.set {
                self.next.push(class);
                continue;
            }
            self.more -= class.loss;
            if rest.len() as u64 >= self.k { self.open(rest) } else { left = left.union(&rest) }
        }
        self.open(own);
        self.more <= limit && self.settle(left, limit)
    }

    /// A row and those of its group that lose most now: k, or all that lose no more in the group.
    fn neediest(&mut self, group: &Group<N>, place: usize, all: bool) -> BitSet<N> {
        let k = self.k as usize;
        self.costs.clear();
        let others = group.set.iter().filter(|&other| other != place);
        self.costs.extend(others.map(|o| (group.loss as i64 - self.losses[o] as i64, o)));
        if self.costs.len() >= k {
            self.costs.select_nth_unstable(k - 1);
        }
        let costs = self.costs.iter().enumerate();
        let comes = costs.filter(|(i, cost)| i + 1 < k || all && cost.0 <= 0);
        comes.map(|(_, cost)| cost.1).chain([place]).collect()
    }

    /// A row and those of its group in its class, then in others until there are k: few classes are broken
    /// up by that. If `some`, classes that are left with k give no more than is needed.
    fn together(&self, group: &Group<N>, place: usize, begin: usize, some: bool) -> BitSet<N> {
        let count = self.classes.len();
        let first = self.classes.iter().position(|class| class.set.has(place)).unwrap_or(0);
        let mut own = self.classes[first].set & group.set;
        for i in 0..count {
            let lacking = self.k.saturating_sub(own.len() as u64);
            if lacking == 0 {
                break;
            }
            let class = &self.classes[(begin + i) % count];
            let comes = class.set & group.set;
            let enough = some && class.size >= self.k + lacking;
            own = own.union(&if enough { at_most(comes, lacking) } else { comes });
        }
        own
    }

    fn open(&mut self, set: BitSet<N>) {
        let class = Class::new(self.alike, set);
        self.more += class.loss;
        self.next.push(class);
    }

    fn change(&mut self, number: usize, set: BitSet<N>) {
        let class = Class::new(self.alike, set);
        self.more += class.loss - self.next[number].loss;
        self.next[number] = class;
    }

    /// Finds classes for rows that are left: new ones, then new ones that borrow rows of others, at last any
    /// that is there. False as soon as more than `limit` is lost.
    fn settle(&mut self, mut left: BitSet<N>, limit: i64) -> bool {
        let least =
            |place: usize| self.choices[place].first().map(|&g| self.groups[g as usize].loss);
        let least: u64 = left.iter().filter_map(least).sum();
        // Few rows find a class that loses less than this.
        if self.more + least as i64 > limit {
            return false;
        }
        let mut groups = self.groups.iter();
        while self.more <= limit && left.len() as u64 >= self.k {
            let whole = |group: &&Group<N>| (group.set & left).len() as u64 >= self.k;
            let Some(group) = groups.find(whole) else { break };
            let own = group.set & left;
            self.open(own);
            left = left.minus(&own);
        }
        if left.is_empty() || self.more > limit {
            return self.more <= limit;
        }
        let mut lenders = self.lenders();
        for group in self.groups {
            if self.more > limit || left.is_empty() {
                break;
            }
            let own = group.set & left;
            if own.is_empty() || ((group.set & lenders.union(&own)).len() as u64) < self.k {
                continue;
            }
            if self.borrow(own, group) {
                left = left.minus(&own);
                lenders = self.lenders();
            }
        }
        for place in left.iter() {
            if self.more > limit {
                break;
            }
            self.join(place);
        }
        self.more <= limit
    }

    /// The rows of classes that can spare some.
    fn lenders(&self) -> BitSet<N> {
        let rich = self.next.iter().filter(|class| class.size > self.k);
        rich.fold(BitSet::EMPTY, |all, class| all.union(&class.set))
    }

    /// Opens a class of rows of a group and others of it that their classes can spare, if these are enough.
    fn borrow(&mut self, mut own: BitSet<N>, group: &Group<N>) -> bool {
        let k = self.k;
        let mut lacking = k.saturating_sub(own.len() as u64);
        let spare = |class: &Class<N>| ((class.set & group.set).len() as u64).min(class.size - k);
        if self.next.iter().map(spare).sum::<u64>() < lacking {
            return false;
        }
        for number in 0..self.next.len() {
            let class = self.next[number];
            let lent = spare(&class).min(lacking);
            if lent > 0 {
                lacking -= lent;
                let lent = at_most(class.set & group.set, lent);
                own = own.union(&lent);
                self.change(number, class.set.minus(&lent));
            }
        }
        self.open(own);
        true
    }

    /// Puts a row into the class that loses least more then.
    fn join(&mut self, place: usize) {
        let grown = |(number, class): (usize, &Class<N>)| {
            let mut set = class.set;
            set.insert(place);
            let grown = (class.size + 1) * self.alike.loss(&set);
            (grown as i64 - class.loss, number, set)
        };
        let classes = self.next.iter().enumerate().map(grown);
        if let Some((_, number, set)) = classes.min_by_key(|&(loss, number, _)| (loss, number)) {
            self.change(number, set);
        }
    }
}

/// A number below `most` from one of 32 bits.
fn below(random: u64, most: usize) -> usize {
    ((random * most as u64) >> 32) as usize
}

/// The first numbers of a set, at most so many.
fn at_most<const N: usize>(set: BitSet<N>, most: u64) -> BitSet<N> {
    set.iter().take(most as usize).collect()
}
