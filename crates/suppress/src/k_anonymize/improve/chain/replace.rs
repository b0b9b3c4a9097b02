//! Classes that are given up for a group that holds many of their rows.

use super::classes::Classes;
use super::flow::{ALL_LOOKS, Chains};
use super::row_values::RowValues;
use crate::k_anonymize::group::Lists;
use crate::k_anonymize::improve::candidates::CandidateGroups;
use crate::k_anonymize::prepare::mix;
use table::{NONE, Stop, Watch};

/// A replacement must contain at least k/`SHARED` of a class's rows, and may lose at most `LOSS` tenths of what the
/// class loses: this holds for nine of ten replacements that are found.
const SHARED: usize = 4;
const LOSS: i64 = 12;

/// The most copies of such a group: few have more, and these take the most time.
const LARGE: usize = 1 << 13;

/// The most groups that are tried for a class, the most promising ones.
const TRIES: usize = 4;

/// Replacements after which the worths of rows are computed again.
const STALE: u32 = 8;

/// How much worse a replacement may be in the first pass: at most the mean loss of a class divided by this. Half of
/// that in the next pass, and so on; nothing in the last.
const COOL: i64 = 8;

/// The state while classes are replaced.
pub(crate) struct Replacing {
    /// For each row the groups that may replace classes, those that lose least first.
    of_row: Lists,
    worth: RowValues,
    stale: u32,
    /// The worth of each copy, see [`RowValues`]; for copies of a class that may be given up, their loss afterwards.
    worths: Vec<i32>,
    /// Copies whose worth was changed, with the previous worth.
    changed: Vec<(u32, i32)>,
    /// For each row of the class its loss after the move, and the class that it moves to.
    goals: Vec<(i64, u32)>,
    /// How many rows of the class each group contains, and the groups that contain some.
    counts: Vec<u32>,
    candidates: Vec<u32>,
    /// Promising groups, with the promised gain.
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

    /// Tries to replace every class that loses something; `pass` is the number of the pass.
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

    /// Replaces a class if the total loss then falls, or rises by at most `heat`.
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
        // Giving the class up may be enough.
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

    /// The additional loss if all rows of a class move to where they lose least; `None` if a row fits nowhere.
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

    /// Finds groups that promise to save more than `cost`, the most promising ones first; returns how many copies it
    /// examined.
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

    /// Changes the worths of copies to those after a class is given up: for its own rows their loss at their goals, for
    /// rows of classes reached from there at least as much; no class gets rows from it any more.
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

    /// Raises the worth of the rows of a class other than `without` to at least `worth`.
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

    /// The bytes of this state.
    pub fn bytes(groups: &CandidateGroups) -> u64 {
        let items = groups.copies.items.len() as u64;
        items * 4 + groups.len() as u64 * 80 + groups.rows.len() as u64 * 32
    }
}

/// The gain if a group becomes a class: it gets its k copies with the highest worth, and all others that are worth more
/// than they lose in it. `None` if that is not more than `cost`.
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
    // Copies that are needed to reach k only reduce the gain, so it can stop here.
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

/// Gives up a class, with the worth of one of its rows, for a group; false if that is impossible.
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

/// Closes a class: its rows move to where they lose least. False if a row fits nowhere.
fn give_up(chains: &mut Chains<'_>, class: u32) -> bool {
    while chains.classes.size(class) > 0 {
        if !chains.shed(class, i64::MAX) {
            return false;
        }
    }
    chains.classes.toggle(class);
    true
}
