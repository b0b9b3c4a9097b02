//! Rows that change places with rows of other classes, or move to them.

use super::near::Near;
use super::partition::Partition;
use crate::k_anonymize::rule;
use crate::k_anonymize::search::Share;
use table::{Stop, Watch};

/// Rows move in and out of larger classes, but do not change places with their rows: a single row hardly ever
/// determines what these classes show.
const LARGE: usize = 256;

/// A change that may reduce the loss.
#[derive(Clone, Copy)]
struct Change {
    /// The additional loss.
    loss: i64,
    /// The class that the row goes to.
    class: u32,
    /// The share that moves back in exchange.
    back: Option<u32>,
}

/// Data about the classes, valid while they do not change.
pub(crate) struct Swaps<'p, 'a> {
    partition: &'p mut Partition<'a>,
    /// By class: the levels without each member, one after the other; empty if not computed.
    without: Vec<Vec<u8>>,
    /// By class and member: how much less the class would lose without it, at its current size.
    gains: Vec<Vec<i64>>,
    /// The shares of each row.
    of_row: Vec<Vec<u32>>,
    /// Working memory: two classes' levels.
    own: Vec<u8>,
    other: Vec<u8>,
}

impl<'p, 'a> Swaps<'p, 'a> {
    pub fn new(partition: &'p mut Partition<'a>) -> Self {
        let mut of_row = vec![Vec::new(); partition.people.len()];
        for (share, number) in partition.shares.iter().zip(0u32..) {
            of_row[share.row as usize].push(number);
        }
        let (classes, width) = (partition.classes.len(), partition.people.width());
        Swaps {
            partition,
            without: vec![Vec::new(); classes],
            gains: vec![Vec::new(); classes],
            of_row,
            own: vec![0; width],
            other: vec![0; width],
        }
    }

    /// Tries each row once; returns how many have changed their class.
    pub fn pass(&mut self, near: &Near, watch: &Watch) -> Result<usize, Stop> {
        let mut changed = 0;
        let mut classes = Vec::new();
        for number in 0..self.partition.shares.len() as u32 {
            watch.poll_every(64, number as usize)?;
            let share = self.partition.shares[number as usize];
            if self.partition.classes[share.class as usize].loss == 0 {
                continue;
            }
            classes.clear();
            for &row in near.of(share.row) {
                let others = self.of_row[row as usize].iter();
                classes.extend(others.map(|&other| self.partition.shares[other as usize].class));
            }
            classes.sort_unstable();
            classes.dedup();
            if let Some(change) = self.best(number, &classes) {
                changed += usize::from(self.apply(number, change));
            }
        }
        Ok(changed)
    }

    /// The best change of a share with one of the classes.
    fn best(&mut self, number: u32, classes: &[u32]) -> Option<Change> {
        let share = self.partition.shares[number as usize];
        self.know(share.class);
        let members = &self.partition.classes[share.class as usize].members;
        let place = members.iter().position(|&member| member == number)?;
        let mut best: Option<Change> = None;
        for &class in classes.iter().filter(|&&class| class != share.class) {
            self.know(class);
            self.try_move(share, place, class, &mut best);
            self.try_swaps(share, place, class, &mut best);
        }
        best
    }

    fn try_move(&mut self, share: Share, place: usize, class: u32, best: &mut Option<Change>) {
        let Share { row, weight, class: from } = share;
        let partition = &*self.partition;
        let (source, target) =
            (&partition.classes[from as usize], &partition.classes[class as usize]);
        if source.size < weight + partition.rule.k {
            return;
        }
        let Some(first) = partition.first(class) else { return };
        self.own.copy_from_slice(partition.levels(class));
        partition.people.raise(&mut self.own, first, row);
        let after = partition.people.loss(row, &self.own) as i64;
        let size = source.size as i64;
        let gain = self.gains[from as usize][place] / size * (size - weight as i64);
        let loss = target.size as i64 * (after - target.loss as i64)
            + weight as i64 * (after - source.loss as i64)
            - gain;
        if loss < best.map_or(0, |best| best.loss) && self.may(share, class, None) {
            *best = Some(Change { loss, class, back: None });
        }
    }

    fn try_swaps(&mut self, share: Share, place: usize, class: u32, best: &mut Option<Change>) {
        let partition = &*self.partition;
        let (source, target) =
            (&partition.classes[share.class as usize], &partition.classes[class as usize]);
        let sizes = [source.members.len(), target.members.len()];
        if share.weight > 1 || sizes.iter().any(|&members| !(2..=LARGE).contains(&members)) {
            return;
        }
        let people = partition.people;
        let width = people.width();
        let Some(own) = partition.another(share.class, place) else { return };
        let left = self.gains[share.class as usize][place];
        for (i, &back) in target.members.iter().enumerate() {
            let least = best.map_or(0, |best| best.loss);
            let other_gain = self.gains[class as usize][i];
            let other = partition.shares[back as usize];
            if other.weight > 1 || -(left + other_gain) >= least {
                continue;
            }
            let of = &self.without[share.class as usize];
            self.own.copy_from_slice(&of[place * width..][..width]);
            people.raise(&mut self.own, own, other.row);
            let after = people.loss(other.row, &self.own) as i64;
            let here = source.size as i64 * (after - source.loss as i64);
            if here - other_gain >= least {
                continue;
            }
            let Some(rest) = partition.another(class, i) else { continue };
            self.other.copy_from_slice(&self.without[class as usize][i * width..][..width]);
            people.raise(&mut self.other, rest, share.row);
            let after = people.loss(share.row, &self.other) as i64;
            let loss = here + target.size as i64 * (after - target.loss as i64);
            if loss < least && self.may(share, class, Some(other)) {
                *best = Some(Change { loss, class, back: Some(back) });
            }
        }
    }

    /// True if the rule holds after a change.
    fn may(&self, share: Share, class: u32, back: Option<Share>) -> bool {
        let partition = &*self.partition;
        if partition.rule.is_plain() {
            return true;
        }
        let value = |share: Share| partition.people.sensitive[share.row as usize];
        let tally = |class: u32| partition.classes[class as usize].tally.clone();
        let (mut from, mut to) = (tally(share.class), tally(class));
        rule::take(&mut from, value(share), share.weight);
        rule::add(&mut to, value(share), share.weight);
        if let Some(back) = back {
            rule::take(&mut to, value(back), back.weight);
            rule::add(&mut from, value(back), back.weight);
        }
        partition.rule.holds(&from) && partition.rule.holds(&to)
    }

    /// Makes a change, unless it turns out to increase the loss: rows with NULLs lose less than was estimated.
    fn apply(&mut self, number: u32, change: Change) -> bool {
        let from = self.partition.shares[number as usize].class;
        let lost = |partition: &Partition<'_>| partition.loss(from) + partition.loss(change.class);
        let before = lost(self.partition);
        self.exchange(number, change.class, change.back, from);
        let better = lost(self.partition) < before;
        if !better {
            self.exchange(number, from, change.back, change.class);
        }
        for class in [from, change.class] {
            self.without[class as usize].clear();
            self.gains[class as usize].clear();
        }
        better
    }

    fn exchange(&mut self, number: u32, to: u32, back: Option<u32>, from: u32) {
        self.partition.shift(number, to);
        if let Some(back) = back {
            self.partition.shift(back, from);
        }
        self.partition.tighten(to);
        self.partition.tighten(from);
    }

    /// Computes what a class shows without each of its members. Without some of the copies of a row it shows the same.
    fn know(&mut self, number: u32) {
        if !self.without[number as usize].is_empty() {
            return;
        }
        let partition = &*self.partition;
        let (people, width) = (partition.people, partition.people.width());
        let class = &partition.classes[number as usize];
        let share = |place: usize| &partition.shares[class.members[place] as usize];
        let count = class.members.len();
        let mut without = partition.levels(number).repeat(count);
        let mut gains = vec![0; count];
        if (2..=LARGE).contains(&count) {
            // Each member meets the first; without it the others meet the second.
            let mut meets = vec![0; count * width];
            for place in 1..count {
                people.raise(&mut meets[place * width..][..width], share(0).row, share(place).row);
            }
            without.fill(0);
            for place in 2..count {
                people.raise(&mut without[..width], share(1).row, share(place).row);
            }
            merge_others(&mut without, &meets, width, 1..count);
            merge_others(&mut without, &meets, width, (1..count).rev());
            for (place, gain) in gains.iter_mut().enumerate() {
                let levels = &without[place * width..][..width];
                let left = people.loss(share(usize::from(place == 0)).row, levels);
                *gain = class.size as i64 * (class.loss as i64 - left as i64);
            }
        }
        self.without[number as usize] = without;
        self.gains[number as usize] = gains;
    }
}

/// Raises the levels of each member to where those before it meet the first one.
fn merge_others(
    levels: &mut [u8],
    meets: &[u8],
    width: usize,
    places: impl Iterator<Item = usize>,
) {
    let mut others = vec![0; width];
    for place in places {
        let cells = place * width..(place + 1) * width;
        let own = levels[cells.clone()].iter_mut().zip(&meets[cells]);
        for ((level, &meet), other) in own.zip(&mut others) {
            *level = (*level).max(*other);
            *other = meet.max(*other);
        }
    }
}
