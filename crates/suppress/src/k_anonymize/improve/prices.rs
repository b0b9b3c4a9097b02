//! Classes for the whole table at once, found by prices.
//!
//! Each row has a price: the loss that it accepts. A group of rows that a form makes equal becomes a class if its k
//! rows with the highest prices together pay the loss of k rows in it. As long as no k rows of any group pay more, the
//! sum of all prices is at most what any release from these groups loses: it is the dual of the linear program that
//! chooses classes. So all prices rise together, and fall where k rows pay too much, until little can be gained
//! (`Prices::adjust`). Then groups whose rows pay for them become classes, and the prices of the other rows are
//! adjusted further.
//!
//! When rows move, only the classes of a few others are considered; prices consider all.

use super::candidates::CandidateGroups;
use super::partition::Partition;
use std::collections::BinaryHeap;
use table::{NONE, Stop, Watch};

/// Passes over all groups before classes are opened, and between two such steps.
const FIRST_PASSES: usize = 15;
const PASSES: usize = 20;

/// The first step of all prices, and the factor by which it falls from pass to pass, in hundredths.
const FIRST_STEP: (i64, i64) = (15, 84);
const STEP: (i64, i64) = (10, 85);

/// The part of the rows that gets a class before prices are adjusted again, and the part below which this ends.
const PART: usize = 4;
const LAST: usize = 1000;

/// How much the payers may fall short of a class's loss, in parts of 10000.
const LACKING: i64 = 50;

/// The price of a copy that has a class, and the highest price of all others.
const TAKEN: u32 = u32::MAX;
const MOST: u32 = 1 << 31;

/// Classes found by prices, if they lose less.
pub(crate) fn repriced<'a>(
    partition: &Partition<'a>,
    groups: &mut CandidateGroups,
    watch: &Watch,
) -> Result<Option<Partition<'a>>, Stop> {
    let _held = watch.hold(Prices::bytes(groups))?;
    let classes = Prices::new(partition, groups).classes(watch)?;
    let mut found = Partition::of_classes(partition.people, partition.rule, classes, watch)?;
    found.join(watch)?;
    Ok((found.total() < partition.total()).then_some(found))
}

/// A price and a copy in one number: the highest price comes first. Two numbers take twice as long to
/// compare and to move.
#[inline]
fn payer(price: u32, copy: u32) -> u64 {
    u64::from(!price) << 32 | u64::from(copy)
}

#[inline]
fn price_of(payer: u64) -> i64 {
    i64::from(!((payer >> 32) as u32))
}

#[inline]
fn copy_of(payer: u64) -> usize {
    payer as u32 as usize
}

/// Prices and classes while they change. Indices are those of copies and groups.
pub(crate) struct Prices<'g> {
    k: usize,
    /// Copies within a group are reordered.
    groups: &'g mut CandidateGroups,
    /// [`TAKEN`] if a copy has a class.
    prices: Vec<u32>,
    /// For each copy the open group in which it loses least, and that loss, which is the limit of its price.
    homes: Vec<u32>,
    limits: Vec<u32>,
    /// The class of each copy, a group.
    classes: Vec<u32>,
    free: usize,
    /// How much prices have risen, and for each group the rise from which its rows may pay too much; until then it is
    /// skipped. At k = 6 this leaves a fifth of the million visits to groups in 30 passes.
    risen: i64,
    due: Vec<i64>,
    /// The number of copies of each group that may be free; they come first in its list.
    counts: Vec<u32>,
    /// Working memory: what copies pay, see [`payer`].
    payers: Vec<u64>,
}

impl<'g> Prices<'g> {
    /// Begins with prices a little below the current losses.
    pub fn new(partition: &Partition<'_>, groups: &'g mut CandidateGroups) -> Self {
        let copies = groups.rows.len();
        let mut losses = vec![0u32; partition.people.len()];
        for share in partition.shares.iter().filter(|share| share.weight > 0) {
            let loss = partition.classes[share.class as usize].loss.min(MOST.into()) as u32;
            losses[share.row as usize] = loss.max(losses[share.row as usize]);
        }
        let prices = groups.rows.iter().map(|&row| losses[row as usize] / 10 * 9).collect();
        let mut own = Prices {
            k: partition.rule.k as usize,
            prices,
            homes: vec![NONE; copies],
            limits: vec![MOST; copies],
            classes: vec![NONE; copies],
            free: copies,
            risen: 0,
            due: vec![0; groups.len()],
            counts: (0..groups.len()).map(|g| groups.copies.range(g).len() as u32).collect(),
            groups,
            payers: Vec::new(),
        };
        // Groups without loss become classes at once.
        for group in 0..own.groups.len() {
            if own.groups.losses[group] == 0 {
                own.gather(group);
                // Rows with NULLs are in several such groups.
                if own.payers.len() >= own.k {
                    own.open(group);
                }
            }
        }
        own
    }

    /// The bytes that prices take, and the classes that are found.
    pub fn bytes(groups: &CandidateGroups) -> u64 {
        groups.rows.len() as u64 * 40 + groups.len() as u64 * 40
    }

    /// The classes that rows pay for, as rows. Rows that could not pay for a class are in none.
    pub fn classes(mut self, watch: &Watch) -> Result<Vec<Vec<u32>>, Stop> {
        self.adjust(FIRST_PASSES, FIRST_STEP, watch)?;
        loop {
            let before = self.free;
            self.choose(watch)?;
            // The last rows cannot improve on their home classes.
            if before - self.free <= self.free / LAST {
                break;
            }
            self.adjust(PASSES, STEP, watch)?;
        }
        let mut classes = vec![Vec::new(); self.groups.len()];
        for (copy, &row) in self.groups.rows.iter().enumerate() {
            let price = self.prices[copy];
            let class = match self.classes[copy] {
                // Copies that pay much less than at home find a better class.
                NONE if self.limits[copy] / 3 > price / 2 => NONE,
                NONE => self.homes[copy],
                class => class,
            };
            if class != NONE {
                classes[class as usize].push(row);
            }
        }
        classes.retain(|rows| !rows.is_empty());
        Ok(classes)
    }

    /// Raises prices by smaller and smaller steps, the first one a part of the mean price.
    fn adjust(
        &mut self,
        passes: usize,
        (part, fall): (i64, i64),
        watch: &Watch,
    ) -> Result<(), Stop> {
        let mut step = self.mean() * part / 100;
        for _ in 0..passes {
            self.pass(step.max(1), watch)?;
            step = step * fall / 100;
        }
        Ok(())
    }

    /// The mean price of free copies.
    fn mean(&self) -> i64 {
        let free = self.prices.iter().filter(|&&price| price != TAKEN);
        free.map(|&price| i64::from(price)).sum::<i64>() / self.free.max(1) as i64
    }

    /// Raises all prices and lowers those that are too high, by half of the excess, because other groups may lower the
    /// prices of the same copies.
    fn pass(&mut self, step: i64, watch: &Watch) -> Result<(), Stop> {
        self.risen += step;
        let rise = step.min(MOST.into()) as u32;
        for (price, &limit) in self.prices.iter_mut().zip(&self.limits) {
            if *price != TAKEN {
                *price = (*price + rise).min(limit);
            }
        }
        for group in 0..self.groups.len() {
            watch.poll_every(1 << 12, group)?;
            if self.due[group] > self.risen {
                continue;
            }
            let (k, loss) = (self.k as i64, self.groups.losses[group]);
            let most = self.gather(group);
            if self.payers.len() < self.k {
                self.due[group] = i64::MAX;
                continue;
            }
            // In most groups even the highest price is at most the loss: then the k highest need not be found.
            let over = if most <= loss { k * (most - loss) } else { self.paid() - k * loss };
            if over <= 0 {
                self.due[group] = self.risen - over / k + 1;
                continue;
            }
            let less = (over / (2 * k) + 1) as u32;
            for &payer in &self.payers[..self.k] {
                let price = &mut self.prices[copy_of(payer)];
                *price = price.saturating_sub(less);
            }
        }
        Ok(())
    }

    /// Makes the free copies of a group the payers; returns the highest price.
    fn gather(&mut self, group: usize) -> i64 {
        let begin = self.groups.copies.range(group).start;
        let copies = &mut self.groups.copies.items[begin..][..self.counts[group] as usize];
        let (mut place, mut count, mut most) = (0, copies.len(), 0);
        self.payers.clear();
        while place < count {
            let copy = copies[place];
            let price = self.prices[copy as usize];
            if price == TAKEN {
                count -= 1;
                copies.swap(place, count);
            } else {
                most = most.max(price);
                self.payers.push(payer(price, copy));
                place += 1;
            }
        }
        self.counts[group] = count as u32;
        most.into()
    }

    /// The sum of the k highest prices; these payers are moved to the front.
    fn paid(&mut self) -> i64 {
        if self.payers.len() > self.k {
            self.payers.select_nth_unstable(self.k - 1);
        }
        self.payers[..self.k].iter().map(|&payer| price_of(payer)).sum()
    }

    /// How much more the copies of a group pay than a class loses, in parts of 10000.
    fn standing(&mut self, group: usize) -> Option<i64> {
        self.gather(group);
        if self.payers.len() < self.k {
            return None;
        }
        let (paid, lost) = (self.paid(), self.k as i64 * self.groups.losses[group]);
        let standing = (paid - lost).saturating_mul(10000) / (lost + 1);
        (standing >= -LACKING).then_some(standing)
    }

    /// Opens groups that are paid for, those with the highest surplus first, until a part of the copies has a class.
    fn choose(&mut self, watch: &Watch) -> Result<(), Stop> {
        let mut heap = BinaryHeap::new();
        // Groups that may fall a little short.
        let near = self.mean() / 10;
        for group in 0..self.groups.len() {
            watch.poll_every(1 << 12, group)?;
            if self.due[group] <= self.risen.saturating_add(near)
                && let Some(standing) = self.standing(group)
            {
                heap.push((standing, group));
            }
        }
        let goal = self.free - self.free / PART;
        while self.free > goal
            && let Some((before, group)) = heap.pop()
        {
            match self.standing(group) {
                Some(standing) if standing == before => self.open(group),
                // Some of its payers got a class meanwhile, or pay less because they have a home class.
                Some(standing) => heap.push((standing, group)),
                None => {}
            }
        }
        Ok(())
    }

    /// Opens a group for its payers: the first k, and all others that pay their loss. For its remaining copies it is a
    /// home class.
    fn open(&mut self, group: usize) {
        let loss = self.groups.losses[group];
        for (place, &payer) in self.payers.iter().enumerate() {
            if place < self.k || loss > 0 && price_of(payer) >= loss {
                self.classes[copy_of(payer)] = group as u32;
                self.prices[copy_of(payer)] = TAKEN;
                self.free -= 1;
            }
        }
        let limit = loss as u32;
        for &payer in &self.payers {
            let copy = copy_of(payer);
            if self.prices[copy] != TAKEN && limit < self.limits[copy] {
                (self.limits[copy], self.homes[copy]) = (limit, group as u32);
                self.prices[copy] = self.prices[copy].min(limit);
            }
        }
        self.due[group] = i64::MAX;
    }
}
