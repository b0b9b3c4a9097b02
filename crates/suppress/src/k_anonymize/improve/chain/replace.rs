//! Classes that are given up for a group that holds many of their rows.

use super::classes::Classes;
use super::flow::{ALL_LOOKS, Chains};
use super::row_values::RowValues;
use crate::k_anonymize::group::Lists;
use crate::k_anonymize::improve::candidates::CandidateGroups;
use crate::k_anonymize::prepare::mix;
use table::{NONE, Stop, Watch};

/// A group must hold this part of k of a class's rows, and lose at most so much more than the class, in
/// parts of 10: nine of ten replacements that are found are such.
const SHARED: usize = 4;
const LOSS: i64 = 12;

/// Copies of such a group, at most: few have more, and these take the most time.
const LARGE: usize = 1 << 13;

/// CandidateGroups that are tried for a class, those that promise most.
const TRIES: usize = 4;

/// Replacements after which it is looked anew what rows are worth.
const STALE: u32 = 8;

/// What a replacement may lose more in the first pass, of what a class loses on average: one part of this
/// many at most. Half of it in the next, and so on; nothing in the last.
const COOL: i64 = 8;

/// What is known while classes are replaced.
pub(crate) struct Replacing {
    /// The groups of each row that classes are replaced by, those that lose least first.
    of_row: Lists,
    worth: RowValues,
    stale: u32,
    /// What copies are worth: see [`RowValues`]; those of a class that may be given up, what they lose then.
    worths: Vec<i32>,
    /// Copies whose worth was changed, and what it was.
    changed: Vec<(u32, i32)>,
    /// What the rows of the class lose where they would go, and to which class.
    goals: Vec<(i64, u32)>,
    /// The rows of the class in each group, and the groups with some.
    counts: Vec<u32>,
    candidates: Vec<u32>,
    /// CandidateGroups that promise something, and what.
    promises: Vec<(i64, u32)>,
    buffer: Vec<i32>,
    stack: Vec<u32>,
}

impl Replacing {
    pub fn new(groups: &CandidateGroups, watch: &Watch) -> Result<Self, Stop> {
        Ok(Replacing {
            of_row: groups.of_rows(LARGE, watch)?,
            worth: RowValues::new(groups.len()),
            stale: 0,
            worths: Vec::new(),
            changed: Vec::new(),
            goals: Vec::new(),
            counts: vec![0; groups.len()],
            candidates: Vec::new(),
            promises: Vec::new(),
            buffer: Vec::new(),
            stack: Vec::new(),
        })
    }

    /// Asks every class that loses something whether it should be replaced; `pass` of several.
    pub fn pass(
        &mut self,
        chains: &mut Chains<'_>,
        (pass, passes): (u32, u32),
        watch: &Watch,
    ) -> Result<(), Stop> {
        self.refresh(chains);
        let classes = &chains.classes;
        let mean = classes.total / classes.open.len().max(1) as i64;
        let heat = if pass + 1 < passes { (mean / COOL) >> pass } else { 0 };
        let mut order = classes.open.clone();
        order.sort_unstable_by_key(|&class| mix(u64::from(class) ^ (u64::from(pass) << 40)));
        for class in order {
            watch.check()?;
            if chains.looks >= ALL_LOOKS {
                break;
            }
            if !chains.classes.is_open(class) || chains.classes.loss(class) == 0 {
                continue;
            }
            let part = (mix(u64::from(class) << 32 | u64::from(pass)) >> 54) as i64;
            if self.replace(chains, class, ((heat >> 10) * part * part) >> 10) {
                self.stale += 1;
            }
            if self.stale >= STALE {
                self.refresh(chains);
            }
        }
        Ok(())
    }

    fn refresh(&mut self, chains: &mut Chains<'_>) {
        let classes = &chains.classes;
        chains.looks += 3 * classes.reach;
        self.stale = 0;
        self.worth.refresh(classes);
        let of_class = |&class: &u32| self.worth.from[class as usize][0].0 as i32;
        self.worths.clear();
        self.worths.extend(classes.class.iter().map(of_class));
    }

    /// Replaces a class if all rows together lose less then, or at most `heat` more.
    fn replace(&mut self, chains: &mut Chains<'_>, class: u32, heat: i64) -> bool {
        let Some(cost) = self.cost(&chains.classes, class) else { return false };
        chains.looks += self.find(&chains.classes, class, cost - heat);
        let goals = self.goals.iter().map(|goal| goal.0).sum::<i64>() / self.goals.len() as i64;
        let before = chains.classes.total;
        for place in 0..self.promises.len().min(TRIES) {
            if exchange(chains, (class, goals), self.promises[place].1) {
                if chains.classes.total >= before {
                    chains.shed_moved();
                }
                if chains.classes.total < before + heat {
                    return self.keep(chains);
                }
            }
            chains.classes.undo();
        }
        // It may do to give the class up.
        if cost < 0 && give_up(chains, class) && chains.classes.total < before {
            return self.keep(chains);
        }
        chains.classes.undo();
        false
    }

    fn keep(&mut self, chains: &mut Chains<'_>) -> bool {
        chains.shed_moved();
        let classes = &mut chains.classes;
        for &(copy, _) in &classes.moves {
            let class = classes.class[copy as usize];
            self.worths[copy as usize] = self.worth.from[class as usize][0].0 as i32;
        }
        classes.keep();
        true
    }

    /// What is lost more if all rows of a class go where they lose least; `None` if one can go nowhere.
    fn cost(&mut self, classes: &Classes<'_>, class: u32) -> Option<i64> {
        let loss = classes.loss(class);
        self.goals.clear();
        for &copy in &classes.members[class as usize] {
            let fits = classes.fits[copy as usize].iter().filter(|&&to| to != class);
            let goal = fits.map(|&to| match self.worth.to[to as usize] {
                (_, end) if end == class || end == NONE || !classes.is_open(end) => {
                    (classes.loss(to), to)
                }
                goal => goal,
            });
            self.goals.push(goal.min()?);
        }
        Some(self.goals.iter().map(|goal| goal.0 - loss).sum())
    }

    /// Finds groups that promise to save more than `cost`, those that promise most first; returns how many
    /// copies it looked at.
    fn find(&mut self, classes: &Classes<'_>, class: u32, cost: i64) -> u64 {
        self.promise(classes, class);
        let most = classes.loss(class) * LOSS / 10;
        self.candidates.clear();
        for &copy in &classes.members[class as usize] {
            let row = classes.groups.rows[copy as usize];
            for &group in self.of_row.list(row as usize) {
                if classes.loss(group) > most {
                    break;
                }
                if self.counts[group as usize] == 0 {
                    self.candidates.push(group);
                }
                self.counts[group as usize] += 1;
            }
        }
        self.promises.clear();
        let mut looks = self.changed.len() as u64;
        for &group in &self.candidates {
            let count = std::mem::take(&mut self.counts[group as usize]) as usize;
            looks += count as u64;
            if count * SHARED < classes.k || classes.is_open(group) {
                continue;
            }
            looks += classes.groups.copies.range(group as usize).len() as u64;
            if let Some(gain) = gain(classes, group, &self.worths, cost, &mut self.buffer) {
                self.promises.push((gain, group));
            }
        }
        self.promises.sort_unstable_by(|a, b| b.cmp(a));
        for (copy, worth) in self.changed.drain(..).rev() {
            self.worths[copy as usize] = worth;
        }
        looks
    }

    /// Changes what copies are worth to what it is if a class is given up: its own rows what they lose at
    /// their goals, rows of classes that these lead to at least as much; nobody gets rows from it.
    fn promise(&mut self, classes: &Classes<'_>, class: u32) {
        let members = &classes.members[class as usize];
        for place in 0..self.worth.fed_by(class).len() {
            let fed = self.worth.fed_by(class)[place].1;
            self.set(classes, fed, self.worth.without(fed, class) as i32);
        }
        let mut goals = self.goals.clone();
        goals.sort_unstable_by(|a, b| b.cmp(a));
        goals.dedup();
        for (loss, goal) in goals {
            let loss = loss as i32;
            self.raise(classes, class, goal, loss);
            while let Some(from) = self.stack.pop() {
                for &copy in &classes.members[from as usize] {
                    for &to in &classes.fits[copy as usize] {
                        self.raise(classes, class, to, loss);
                    }
                }
            }
        }
        for (&copy, goal) in members.iter().zip(&self.goals) {
            self.changed.push((copy, self.worths[copy as usize]));
            self.worths[copy as usize] = goal.0 as i32;
        }
    }

    /// Lets rows of a class other than `without` be worth at least `worth`.
    fn raise(&mut self, classes: &Classes<'_>, without: u32, class: u32, worth: i32) {
        let Some(&first) = classes.members[class as usize].first() else { return };
        if class != without && self.worths[first as usize] < worth {
            self.set(classes, class, worth);
            self.stack.push(class);
        }
    }

    fn set(&mut self, classes: &Classes<'_>, class: u32, worth: i32) {
        for &copy in &classes.members[class as usize] {
            self.changed.push((copy, self.worths[copy as usize]));
            self.worths[copy as usize] = worth;
        }
    }

    /// The bytes of what is known.
    pub fn bytes(groups: &CandidateGroups) -> u64 {
        let items = groups.copies.items.len() as u64;
        items * 4 + groups.len() as u64 * 80 + groups.rows.len() as u64 * 32
    }
}

/// What is saved if a group becomes a class: the k copies of it that are worth most come, and others that are
/// worth more than they lose in it. `None` if that is not more than `cost`.
pub(crate) fn gain(
    classes: &Classes<'_>,
    group: u32,
    worths: &[i32],
    cost: i64,
    buffer: &mut Vec<i32>,
) -> Option<i64> {
    let loss = classes.loss(group) as i32;
    let copies = classes.groups.copies.list(group as usize);
    let (mut gain, mut count) = (0i64, 0);
    for &copy in copies {
        let more = worths[copy as usize] - loss;
        gain += i64::from(more.max(0));
        count += usize::from(more > 0);
    }
    // Those that have to come although they are worth less make it no better.
    if gain <= cost {
        return None;
    }
    if count < classes.k {
        let less = copies.iter().map(|&copy| worths[copy as usize]);
        buffer.clear();
        buffer.extend(less.filter(|&worth| worth <= loss));
        let lacking = classes.k - count;
        if buffer.len() > lacking {
            buffer.select_nth_unstable_by(lacking - 1, |a, b| b.cmp(a));
        }
        let lacking = buffer.iter().take(lacking);
        gain += lacking.map(|&worth| i64::from(worth - loss)).sum::<i64>();
    }
    (gain > cost).then_some(gain)
}

/// Gives up a class, a row of which is worth so much, for a group; false if that cannot be done.
fn exchange(chains: &mut Chains<'_>, (class, worth): (u32, i64), group: u32) -> bool {
    chains.classes.toggle(group);
    let members = chains.classes.members[class as usize].clone();
    for copy in members {
        if chains.classes.fits[copy as usize].contains(&group) {
            chains.classes.shift(copy, group);
        }
    }
    chains.closing = (class, worth);
    let mut full = true;
    while full && chains.classes.size(group) < chains.classes.k {
        full = chains.pull(group, -1);
    }
    chains.closing = (NONE, 0);
    if !full || !give_up(chains, class) {
        return false;
    }
    let loss = chains.classes.loss(group);
    while chains.pull(group, loss) {}
    true
}

/// Closes a class: its rows go to where least is lost. False if one can go nowhere.
fn give_up(chains: &mut Chains<'_>, class: u32) -> bool {
    while chains.classes.size(class) > 0 {
        if !chains.shed(class, i64::MAX) {
            return false;
        }
    }
    chains.classes.toggle(class);
    true
}
