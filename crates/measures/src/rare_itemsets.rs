//! Rare itemsets, which exactly one row contains, or rows of exactly one unit: drawn at random or listed by length.
//!
//! Such an itemset is in one row only, a row that occurs once. So a draw of such a row and of columns gives each with
//! the same probability, if draws that are not rare are discarded. If few itemsets are rare, nearly all draws would
//! be discarded; but every rare itemset contains a minimal one, an MII for theta = 1, and can be drawn from those of
//! its length or less.
//!
//! With units a rare itemset is in distinct rows that only one unit has, and may be in several of them. A draw counts
//! from the first of these rows in the order of their codes, so that each rare itemset still counts from one draw.
//! Distinct rows without a unit do not matter.

use crate::combinations::{advance, combinations};
use mining::Visitor;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use table::{Bag, Item, Itemsets, NONE, Reservation, Stop, Units, Watch, sort_watched};

/// The largest number of MIIs that are kept. If there are more, rare itemsets are not hard to find.
const MIIS: usize = 1 << 20;

/// The largest number of pairs of a row and columns that the search for MIIs may visit.
const SEARCH: u64 = 1 << 30;

/// The rows and MIIs from which rare itemsets are drawn.
pub(crate) struct Rare<'a> {
    bag: &'a Bag,
    units: Option<&'a Units>,
    /// The distinct rows that can have rare itemsets, in the order of their codes.
    rows: Vec<u32>,
    /// MIIs by row and items; those that several of the rows contain are there for each of these.
    miis: Itemsets,
    /// For each MII its row, and the first MII of that row.
    mii_rows: Vec<(u32, u32)>,
    /// The MIIs of each length that was searched.
    by_length: Vec<Vec<u32>>,
    reservation: Reservation<'a>,
}

impl<'a> Rare<'a> {
    /// Only rows, without a search for MIIs.
    pub(crate) fn new(
        bag: &'a Bag,
        units: Option<&'a Units>,
        watch: &'a Watch,
    ) -> Result<Self, Stop> {
        let mut reservation = Reservation::new(watch);
        reservation.add(bag.distinct() as u64 * 4)?;
        let mut rows: Vec<u32> =
            (0..bag.distinct() as u32).filter(|&row| is_alone(bag, units, row)).collect();
        // The result for a seed must not depend on the order of reading.
        let codes = |row: u32| bag.row(row as usize);
        sort_watched(&mut rows, watch, |a, b| codes(a).cmp(codes(b)))?;
        let (miis, mii_rows, by_length) = (Itemsets::new(), Vec::new(), Vec::new());
        Ok(Rare { bag, units, rows, miis, mii_rows, by_length, reservation })
    }

    /// Searches the MIIs of a length up to `longest`, or of fewer lengths if that would take too long or there are
    /// too many.
    pub(crate) fn search(&mut self, longest: usize) -> Result<(), Stop> {
        let (bag, units, watch) = (self.bag, self.units, self.reservation.watch());
        let mut complete = searchable(bag).min(longest);
        let found = loop {
            let collector = Collector::new(bag, units, watch);
            match mining::visit_miis(bag, units, 1, Some(complete), watch, &collector) {
                Err(_) if collector.full.load(Relaxed) => complete /= 2,
                outcome => {
                    outcome?;
                    break collector.found.into_inner().unwrap_or_else(|e| e.into_inner());
                }
            }
        };
        let mut order: Vec<u32> = (0..found.rows.len() as u32).collect();
        let key = |i: u32| (bag.row(found.rows[i as usize] as usize), found.miis.items(i as usize));
        sort_watched(&mut order, watch, |a, b| key(a).cmp(&key(b)))?;
        self.by_length = vec![Vec::new(); complete];
        for (number, &i) in (0u32..).zip(&order) {
            let (row, items) = (found.rows[i as usize], found.miis.items(i as usize));
            let first = match self.mii_rows.last() {
                Some(&(before, first)) if before == row => first,
                _ => number,
            };
            self.mii_rows.push((row, first));
            self.by_length[items.len() - 1].push(number);
            self.miis.push(items, 1);
        }
        self.reservation.add(self.miis.memory() + 12 * self.mii_rows.len() as u64)
    }

    /// The starts of draws of that length (1 or more): rows, or MIIs if their lengths were searched and fewer draws
    /// would be discarded.
    pub(crate) fn starts(&self, length: usize) -> Starts<'_> {
        let rows = self.row_starts(length);
        self.mii_starts(length).filter(|miis| miis.total() <= rows.total()).unwrap_or(rows)
    }

    pub(crate) fn row_starts(&self, length: usize) -> Starts<'_> {
        Starts { rare: self, length, classes: vec![self.class(&self.rows, 0, length)] }
    }

    pub(crate) fn mii_starts(&self, length: usize) -> Option<Starts<'_>> {
        let by_length = self.by_length.get(..length)?;
        let classes = by_length.iter().zip(1..).map(|(miis, size)| self.class(miis, size, length));
        Some(Starts { rare: self, length, classes: classes.collect() })
    }

    fn class<'s>(&self, members: &'s [u32], size: usize, length: usize) -> StartClass<'s> {
        StartClass {
            members,
            size,
            extensions: combinations(self.bag.width() - size, length - size),
        }
    }

    /// For a draw from an MII: whether no earlier MII of its row is in those columns. Each rare
    /// itemset can be drawn from every MII that it contains and must count from one of them only.
    pub(crate) fn is_first_mii(&self, mii: u32, columns: &[u32]) -> bool {
        let (_, first) = self.mii_rows[mii as usize];
        let within = |mii: u32| {
            self.miis.items(mii as usize).iter().all(|item| columns.contains(&item.column))
        };
        !(first..mii).any(within)
    }
}

/// Whether a distinct row occurs once, or only one unit has it: itemsets of other rows are not rare.
fn is_alone(bag: &Bag, units: Option<&Units>, row: u32) -> bool {
    match units {
        None => bag.weight(row as usize) == 1,
        Some(units) => units.of(row as usize).len() == 1,
    }
}

/// The largest length of MIIs for which the search stays short: the largest with at most [`SEARCH`] pairs of a row
/// and columns up to that number.
fn searchable(bag: &Bag) -> usize {
    let (mut pairs, mut length) = (0u64, 0);
    while length < bag.width() {
        let more = combinations(bag.width(), length + 1).saturating_mul(bag.distinct() as u64);
        pairs = pairs.saturating_add(more);
        if pairs > SEARCH {
            break;
        }
        length += 1;
    }
    length
}

/// Collects the MIIs and the rows of each that are alone.
struct Collector<'w> {
    bag: &'w Bag,
    units: Option<&'w Units>,
    found: Mutex<Found<'w>>,
    /// There are more than [`MIIS`].
    full: AtomicBool,
}

struct Found<'w> {
    miis: Itemsets,
    rows: Vec<u32>,
    reservation: Reservation<'w>,
}

impl<'w> Collector<'w> {
    fn new(bag: &'w Bag, units: Option<&'w Units>, watch: &'w Watch) -> Self {
        let reservation = Reservation::new(watch);
        let found = Found { miis: Itemsets::new(), rows: Vec::new(), reservation };
        Collector { bag, units, found: Mutex::new(found), full: AtomicBool::new(false) }
    }
}

impl Visitor for Collector<'_> {
    fn mii(&self, items: &[Item], rows: &[u32], _support: u64) -> Result<(), Stop> {
        let mut found = self.found.lock().unwrap_or_else(|e| e.into_inner());
        for &row in rows.iter().filter(|&&row| is_alone(self.bag, self.units, row)) {
            if found.rows.len() >= MIIS {
                self.full.store(true, Relaxed);
                return Err(Stop::Itemsets { limit: MIIS as u64 });
            }
            found.rows.push(row);
            found.miis.push(items, 1);
        }
        // Twice: sorting needs a copy later.
        let bytes = found.miis.memory() + found.rows.capacity() as u64 * 8;
        found.reservation.raise(bytes)
    }
}

/// The starts of draws of the rare itemsets of one length.
pub(crate) struct Starts<'a> {
    rare: &'a Rare<'a>,
    length: usize,
    classes: Vec<StartClass<'a>>,
}

/// Starts that are extended by the same number of columns.
struct StartClass<'a> {
    /// MIIs, or rows if `size` is 0.
    members: &'a [u32],
    size: usize,
    /// The number of ways to extend each.
    extensions: u64,
}

/// Draws to be tested: each a row, columns, and the MII that it was drawn from.
#[derive(Default)]
pub(crate) struct Draws {
    length: usize,
    starts: Vec<(u32, u32)>,
    columns: Vec<u32>,
}

impl Draws {
    pub(crate) fn len(&self) -> usize {
        self.starts.len()
    }

    /// The row of draw number `i`, its columns, and its MII or [`NONE`].
    pub(crate) fn get(&self, i: usize) -> (u32, &[u32], u32) {
        let (row, mii) = self.starts[i];
        (row, &self.columns[i * self.length..][..self.length], mii)
    }

    pub(crate) fn clear(&mut self) {
        self.starts.clear();
        self.columns.clear();
    }
}

impl Starts<'_> {
    /// The number of possible draws, or the largest integer if there are more.
    pub(crate) fn total(&self) -> u64 {
        self.classes.iter().fold(0, |total, class| total.saturating_add(class.total()))
    }

    /// The row of a member, with its columns at the front of `columns` and all others behind them.
    fn begin(&self, class: &StartClass, member: u32, columns: &mut Vec<u32>) -> (u32, u32) {
        columns.clear();
        if class.size == 0 {
            columns.extend(0..self.rare.bag.width() as u32);
            return (member, NONE);
        }
        let items = self.rare.miis.items(member as usize);
        columns.extend(items.iter().map(|item| item.column));
        let others =
            (0..self.rare.bag.width() as u32).filter(|c| items.iter().all(|i| i.column != *c));
        columns.extend(others);
        (self.rare.mii_rows[member as usize].0, member)
    }

    /// Adds `count` draws, each uniform among all; `below(n)` draws from `0..n`.
    pub(crate) fn draw(&self, count: usize, draws: &mut Draws, below: &mut impl FnMut(u64) -> u64) {
        draws.length = self.length;
        let mut columns = Vec::with_capacity(self.rare.bag.width());
        for _ in 0..count {
            let Some(class) = self.class(below) else { return };
            let member = class.members[below(class.members.len() as u64) as usize];
            draws.starts.push(self.begin(class, member, &mut columns));
            for i in class.size..self.length {
                let j = i + below((columns.len() - i) as u64) as usize;
                columns.swap(i, j);
            }
            draws.columns.extend_from_slice(&columns[..self.length]);
        }
    }

    /// A class with the probability of its share of all draws. (MIIs are searched only for lengths that
    /// [`searchable`] allows, so that their draws can be counted; rows form a single class.)
    fn class(&self, below: &mut impl FnMut(u64) -> u64) -> Option<&StartClass<'_>> {
        if let [only] = self.classes.as_slice() {
            return Some(only);
        }
        let mut number = below(self.total());
        self.classes.iter().find(|class| {
            let found = number < class.total();
            number = number.wrapping_sub(class.total());
            found
        })
    }

    /// Calls `test` with all draws, at most `batch` at a time.
    pub(crate) fn all(
        &self,
        batch: usize,
        mut test: impl FnMut(&Draws) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let mut draws = Draws { length: self.length, ..Draws::default() };
        let mut columns = Vec::with_capacity(self.rare.bag.width());
        for class in &self.classes {
            for &member in class.members {
                let start = self.begin(class, member, &mut columns);
                let (own, others) = columns.split_at(class.size);
                let mut chosen: Vec<usize> = (0..self.length - class.size).collect();
                loop {
                    draws.starts.push(start);
                    draws.columns.extend_from_slice(own);
                    draws.columns.extend(chosen.iter().map(|&i| others[i]));
                    if draws.len() >= batch {
                        test(&draws)?;
                        draws.clear();
                    }
                    if !advance(&mut chosen, others.len()) {
                        break;
                    }
                }
            }
        }
        test(&draws)
    }
}

impl StartClass<'_> {
    fn total(&self) -> u64 {
        self.extensions.saturating_mul(self.members.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_stay_short() {
        let bag = |width| Bag::from_text(width, [vec![Some("x"); width]]);
        assert_eq!(searchable(&bag(15)), 15);
        assert_eq!(searchable(&bag(1600)), 3);
    }
}
