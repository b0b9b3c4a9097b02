//! Unicity of whole rows: how many people someone identifies who knows some of a person's rows.
//!
//! A person is the set of their different rows. Sets of known rows are counted depth first: the people who have a row,
//! those who also have another one, and so on. If at most theta people have some of the rows, every larger set that
//! any of them has identifies them too: how many there are follows from the number of rows that they have left, and
//! these people are done. If there are too many sets, some are drawn.

use super::rows_of_units::RowsOfUnits;
use super::sampling::{choose, sampled};
use super::{COUNTED, Unicity};
use crate::combinations::combinations;
use crate::sum::Sum;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use table::{Bag, Reservation, RowsOfUnit, Stop, Units, Watch, sort_watched};

/// The share of people that someone identifies who knows `known` different rows of theirs (at least 1), among the
/// people who have so many; `None` if nobody has.
///
/// Each person counts the same, and so does each set of `known` of their different rows. A set identifies a person if
/// at most theta people have all rows of it. Rows without a unit are nobody's.
///
/// Exact if there are at most a thousand times `samples` pairs of a person and a set; otherwise sampled, as in
/// [`super::unicity`].
pub fn unicity_of_rows(
    bag: &Bag,
    units: &Units,
    known: usize,
    theta: u64,
    samples: u64,
    below: impl FnMut(u64) -> u64,
    watch: &Watch,
) -> Result<Option<Unicity>, Stop> {
    let people = People::new(bag, units, known.max(1), theta, watch)?;
    if people.people.is_empty() {
        return Ok(None);
    }
    if people.sets() > samples.saturating_mul(COUNTED) {
        return people.sampled(samples, below, watch).map(Some);
    }
    Ok(Some(Unicity::exact(people.counted(watch)?)))
}

/// The people who have at least `known` different rows.
pub(super) struct People<'a> {
    units: &'a Units,
    rows: RowsOfUnits<'a>,
    people: Vec<u32>,
    known: usize,
    theta: u64,
    _held: Reservation<'a>,
}

/// A person who has all rows of a set, and the place of the first of their rows that may be added.
#[derive(Clone, Copy)]
struct Member {
    unit: u32,
    next: u32,
}

/// Sets of rows that more than theta people have, and to which rows are to be added.
struct Open<'w> {
    /// The size of each set, and the number of its members.
    sets: Vec<(usize, usize)>,
    /// The members, set by set.
    members: Vec<Member>,
    /// Members with one more row, and the number of that row.
    longer: Vec<(u32, Member)>,
    /// Their places, ascending by the number of the row.
    order: Vec<u32>,
    held: Reservation<'w>,
}

impl<'a> People<'a> {
    pub(super) fn new(
        bag: &Bag,
        units: &'a Units,
        known: usize,
        theta: u64,
        watch: &'a Watch,
    ) -> Result<Self, Stop> {
        let rows = RowsOfUnits::new(bag, units, watch)?;
        let held = watch.hold(rows.units().len() as u64 * 8)?;
        let people =
            rows.units().iter().copied().filter(|&unit| rows.of(unit).len() >= known).collect();
        Ok(People { units, rows, people, known, theta, _held: held })
    }

    /// The number of sets of known rows of a person.
    fn sets_of(&self, unit: u32) -> u64 {
        combinations(self.rows.of(unit).len(), self.known)
    }

    /// The number of pairs of a person and a set of known rows.
    pub(super) fn sets(&self) -> u64 {
        self.people.iter().fold(0, |sum, &unit| sum.saturating_add(self.sets_of(unit)))
    }

    /// The share of people that are identified, by counting all sets.
    pub(super) fn counted(&self, watch: &Watch) -> Result<f64, Stop> {
        let _held = watch.hold(self.units.domain() as u64 * 8)?;
        let hits: Vec<AtomicU64> = (0..self.units.domain()).map(|_| AtomicU64::new(0)).collect();
        watch.begin(self.rows.len().into());
        (0..self.rows.len()).into_par_iter().try_for_each(|first| {
            let held = Reservation::new(watch);
            let (sets, members) = (Vec::new(), Vec::new());
            let mut open = Open { sets, members, longer: Vec::new(), order: Vec::new(), held };
            self.begin(first, &mut open)?;
            self.enter(1, &mut open, &hits);
            while let Some((size, count)) = open.sets.pop() {
                self.add_row(size, count, &mut open)?;
                self.enter(size + 1, &mut open, &hits);
            }
            watch.advance(1);
            Ok(())
        })?;
        let share =
            |&unit: &u32| hits[unit as usize].load(Relaxed) as f64 / self.sets_of(unit) as f64;
        let identified = Sum::of(self.people.iter().map(share));
        Ok((identified / self.people.len() as f64).min(1.0))
    }

    /// The people who have a row, and enough later ones.
    fn begin(&self, first: u32, open: &mut Open<'_>) -> Result<(), Stop> {
        let units = self.units.of(self.rows.distinct(first));
        // A member with its row and place, and once more as an open one; lists grow by doubling.
        open.held.raise(units.len() as u64 * 56)?;
        for (i, of) in units.iter().enumerate() {
            open.held.watch().poll(i)?;
            let next = self.rows.of(of.unit).partition_point(|&number| number <= first);
            if self.rows.of(of.unit).len() - next >= self.known - 1 {
                open.longer.push((first, Member { unit: of.unit, next: next as u32 }));
            }
        }
        open.order.extend(0..open.longer.len() as u32);
        Ok(())
    }

    /// Adds to the last open set, of `size` rows and `count` members, each further row of each member.
    fn add_row(&self, size: usize, count: usize, open: &mut Open<'_>) -> Result<(), Stop> {
        let watch = open.held.watch();
        watch.check()?;
        let members = open.members.split_off(open.members.len() - count);
        // Rows after these leave too few for a complete set.
        let places = |member: &Member| {
            member.next as usize..self.rows.of(member.unit).len() + size + 1 - self.known
        };
        let longer: usize = members.iter().map(|member| places(member).len()).sum();
        // The members so far, longer sets with an order and a copy of it, and these once more as open ones.
        let open_bytes = (open.members.capacity() * 8 + open.sets.capacity() * 16) as u64;
        open.held.raise(open_bytes * 2 + (longer * 56 + count * 8) as u64)?;
        open.longer.reserve(longer);
        for (i, member) in members.iter().enumerate() {
            watch.poll(i)?;
            let rows = self.rows.of(member.unit);
            open.longer.extend(
                places(member).map(|place| {
                    (rows[place], Member { unit: member.unit, next: place as u32 + 1 })
                }),
            );
        }
        open.order.extend(0..open.longer.len() as u32);
        let key = |place: u32| (open.longer[place as usize].0, place);
        sort_watched(&mut open.order, watch, |a, b| key(a).cmp(&key(b)))
    }

    /// Counts the sets of `size` rows, and all larger ones, that identify their members; keeps the others open.
    fn enter(&self, size: usize, open: &mut Open<'_>, hits: &[AtomicU64]) {
        let longer = &open.longer;
        for set in open.order.chunk_by(|&a, &b| longer[a as usize].0 == longer[b as usize].0) {
            let members = set.iter().map(|&place| longer[place as usize].1);
            if set.len() as u64 <= self.theta {
                for Member { unit, next } in members {
                    let left = self.rows.of(unit).len() - next as usize;
                    let sets = combinations(left, self.known - size);
                    hits[unit as usize].fetch_add(sets, Relaxed);
                }
            } else if size < self.known {
                open.members.extend(members);
                open.sets.push((size, set.len()));
            }
        }
        open.longer.clear();
        open.order.clear();
    }

    /// The share of draws, of a person and of rows of theirs, that identify the person.
    pub(super) fn sampled(
        &self,
        samples: u64,
        mut below: impl FnMut(u64) -> u64,
        watch: &Watch,
    ) -> Result<Unicity, Stop> {
        let longest = self.people.iter().map(|&unit| self.rows.of(unit).len()).max().unwrap_or(0);
        let _held = watch.hold(longest as u64 * 8)?;
        let draw = |numbers: &mut Vec<u32>| {
            let unit = self.people[below(self.people.len() as u64) as usize];
            choose(self.rows.of(unit).iter().copied(), self.known, numbers, &mut below);
        };
        sampled(samples, self.known, draw, |numbers| Ok(self.identify(numbers)), watch)
    }

    /// Whether at most theta people have all of these rows. Costs the units of the rarest row, and a search in those of
    /// the others.
    fn identify(&self, numbers: &[u32]) -> bool {
        let mut units: Vec<&[RowsOfUnit]> =
            numbers.iter().map(|&number| self.units.of(self.rows.distinct(number))).collect();
        units.sort_unstable_by_key(|units| units.len());
        let Some((rarest, others)) = units.split_first() else { return false };
        let has = |units: &&[RowsOfUnit], unit: u32| {
            units.binary_search_by_key(&unit, |of| of.unit).is_ok()
        };
        let all = |of: &&RowsOfUnit| others.iter().all(|units| has(units, of.unit));
        let most = usize::try_from(self.theta).unwrap_or(usize::MAX);
        rarest.iter().filter(all).nth(most).is_none()
    }
}
