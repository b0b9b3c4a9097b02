//! Counts all pairs of a row and a choice of known cells, by grouping rows.
//!
//! Sets of columns are visited depth first: those that begin with a column, those that begin with that and another
//! one, and so on. Rows are grouped by the columns of a set by splitting the groups of the set with one column less.
//! A group of at most theta rows has no more with every further column: the number of choices that begin with it
//! follows from the number of cells that each of its rows has left, and the group is done. In a table of many
//! different rows most groups are done early.
//!
//! With units a group of at most theta units is done: with every further column it has no more of them.

use crate::combinations::combinations;
use crate::unit_counters::UnitCounters;
use crate::unit_rows::{UnitRows, WHOLE};
use rayon::prelude::*;
use std::cmp::Reverse;
use table::{Bag, NONE, Reservation, Stop, UnitCounter, Units, Watch};

/// The number of rows from which several threads visit the next columns.
const PARALLEL: usize = 1 << 12;

/// By number of cells of a row: the number of choices that identify such rows, times what each row weighs.
type Given = Vec<u128>;

pub(super) struct Count<'a> {
    bag: &'a Bag,
    known: usize,
    theta: u64,
    /// The codes by column; the columns with most values come first, because they split groups most.
    columns: Vec<Vec<u32>>,
    /// True if any cell is NULL.
    nulls: bool,
    /// `None` if rows count.
    units: Option<CountedUnits<'a>>,
    watch: &'a Watch,
    _held: Reservation<'a>,
}

/// What a count of units needs.
struct CountedUnits<'a> {
    counters: UnitCounters<'a>,
    /// By distinct row what it weighs, in parts of [`WHOLE`].
    weights: Vec<u128>,
    /// The number of units that have a row.
    all: u64,
}

/// Rows in groups of equal values in the columns of a set.
struct RowGroups<'a> {
    /// The number of columns of the set, and the first column that may be added.
    size: usize,
    next: usize,
    rows: Vec<u32>,
    /// The end of each group.
    ends: Vec<u32>,
    held: Reservation<'a>,
}

impl<'a> Count<'a> {
    pub fn new(
        bag: &'a Bag,
        units: Option<&'a Units>,
        known: usize,
        theta: u64,
        watch: &'a Watch,
    ) -> Result<Self, Stop> {
        let mut held = watch.hold((bag.distinct() * bag.width() * 4) as u64)?;
        let mut order: Vec<usize> = (0..bag.width()).collect();
        order.sort_by_key(|&column| Reverse(bag.domain(column).len()));
        let mut columns: Vec<Vec<u32>> = Vec::with_capacity(bag.width());
        for column in order {
            watch.check()?;
            columns.push((0..bag.distinct()).map(|row| bag.row(row)[column]).collect());
        }
        let nulls = columns.iter().any(|column| column.contains(&NONE));
        let units = match units {
            None => None,
            Some(units) => {
                held.add(bag.distinct() as u64 * 16)?;
                Some(CountedUnits::new(bag, units, watch)?)
            }
        };
        Ok(Count { bag, known, theta, columns, nulls, units, watch, _held: held })
    }

    /// The share of rows, or of units, that are identified.
    pub fn share(&self) -> Result<f64, Stop> {
        let mut given = self.nothing();
        let held = self.watch.hold(self.bag.distinct() as u64 * 4)?;
        let mut all = RowGroups { size: 0, next: 0, rows: Vec::new(), ends: Vec::new(), held };
        let rows = 0..self.bag.distinct() as u32;
        self.with_counter(|counter| self.enter(&mut all, rows, counter, &mut given))?;
        self.watch.begin(combinations(self.columns.len(), self.known));
        add(&mut given, self.deeper(&all)?);
        let choices = |cells: usize| combinations(cells, self.known.min(cells)) as f64;
        let given = given.iter().enumerate();
        let identified: f64 = given.map(|(cells, &given)| given as f64 / choices(cells)).sum();
        let all = match &self.units {
            None => self.bag.row_count() as f64,
            Some(units) => (u128::from(units.all) * WHOLE) as f64,
        };
        Ok((identified / all).min(1.0))
    }

    /// Runs work with a counter of units, if units count.
    fn with_counter<T>(&self, work: impl FnOnce(Option<&mut UnitCounter>) -> T) -> Result<T, Stop> {
        match &self.units {
            None => Ok(work(None)),
            Some(units) => units.counters.with(|counter| work(Some(counter))),
        }
    }

    fn nothing(&self) -> Given {
        vec![0; self.columns.len() + 1]
    }

    /// The choices that identify rows, for sets that begin with that of the groups and have more columns.
    fn deeper(&self, groups: &RowGroups<'a>) -> Result<Given, Stop> {
        if groups.size >= self.known || groups.rows.is_empty() {
            return Ok(self.nothing());
        }
        let mut columns = groups.next..self.columns.len();
        if !self.nulls {
            // The last columns are too few for a complete choice.
            let missing = self.known.min(self.columns.len()) - groups.size;
            columns.end = (self.columns.len() + 1).saturating_sub(missing);
        }
        let with = |column: usize| {
            let mut given = self.nothing();
            let split =
                self.with_counter(|counter| self.split(groups, column, counter, &mut given))??;
            add(&mut given, self.deeper(&split)?);
            if groups.size == 0 {
                let later = self.columns.len() - column - 1;
                self.watch.advance(combinations(later, self.known - 1));
            }
            Ok(given)
        };
        let both = |mut one: Given, other: Given| {
            add(&mut one, other);
            Ok(one)
        };
        if groups.rows.len() < PARALLEL {
            return columns.map(with).try_fold(self.nothing(), |one, other| both(one, other?));
        }
        columns.into_par_iter().map(with).try_reduce(|| self.nothing(), both)
    }

    /// The groups with one more column; groups that are done are counted.
    fn split(
        &self,
        groups: &RowGroups<'a>,
        column: usize,
        mut counter: Option<&mut UnitCounter>,
        given: &mut Given,
    ) -> Result<RowGroups<'a>, Stop> {
        // The rows and the ends, two lists that grow by doubling, and the keys of a group.
        let held = self.watch.hold(groups.rows.len() as u64 * 24)?;
        let (size, next) = (groups.size + 1, column + 1);
        let mut split = RowGroups { size, next, rows: Vec::new(), ends: Vec::new(), held };
        let codes = &self.columns[column];
        let mut keys: Vec<u64> = Vec::new();
        let mut begin = 0;
        for &end in &groups.ends {
            self.watch.check()?;
            keys.clear();
            let rows = &groups.rows[begin..end as usize];
            let filled = rows.iter().filter(|&&row| codes[row as usize] != NONE);
            keys.extend(filled.map(|&row| u64::from(codes[row as usize]) << 32 | u64::from(row)));
            keys.sort_unstable();
            for group in keys.chunk_by(|a, b| a >> 32 == b >> 32) {
                let rows = group.iter().map(|&key| key as u32);
                self.enter(&mut split, rows, counter.as_deref_mut(), given);
            }
            begin = end as usize;
        }
        split.rows.shrink_to_fit();
        split.ends.shrink_to_fit();
        split.held.lower((split.rows.len() + split.ends.len()) as u64 * 4);
        Ok(split)
    }

    /// Adds a group, or counts it if it is done. A row without others in its group stays alone, and groups of which
    /// no choice with more columns can be made are not needed.
    fn enter(
        &self,
        groups: &mut RowGroups,
        rows: impl ExactSizeIterator<Item = u32> + Clone,
        counter: Option<&mut UnitCounter>,
        given: &mut Given,
    ) {
        let (size, next) = (groups.size, groups.next);
        if self.is_large(rows.clone(), counter) {
            if rows.len() > 1 && rows.clone().any(|row| self.choices(row, size, next).1 > 0) {
                groups.rows.extend(rows);
                groups.ends.push(groups.rows.len() as u32);
            }
            return;
        }
        for row in rows {
            let (cells, choices) = self.choices(row, size, next);
            let weight = match &self.units {
                None => u128::from(self.bag.weight(row as usize)),
                Some(units) => units.weights[row as usize],
            };
            given[cells] += weight * u128::from(choices);
        }
    }

    /// Whether a group has more than theta rows or units.
    fn is_large(&self, rows: impl Iterator<Item = u32>, counter: Option<&mut UnitCounter>) -> bool {
        let (Some(counter), Some(units)) = (counter, &self.units) else {
            return rows.map(|row| self.bag.weight(row as usize)).sum::<u64>() > self.theta;
        };
        let units = rows.flat_map(|row| units.counters.units().of(row as usize));
        let most = self.theta.saturating_add(1);
        counter.count(units.map(|of| of.unit), most) > self.theta
    }

    /// The number of cells of a row, and the number of choices among them that begin with a set of `size` columns and
    /// continue with columns from `next` on.
    fn choices(&self, row: u32, size: usize, next: usize) -> (usize, u64) {
        let filled = |columns: &[Vec<u32>]| match self.nulls {
            true => columns.iter().filter(|codes| codes[row as usize] != NONE).count(),
            false => columns.len(),
        };
        let (cells, left) = (filled(&self.columns), filled(&self.columns[next..]));
        (cells, combinations(left, self.known.min(cells) - size))
    }
}

impl<'a> CountedUnits<'a> {
    /// The caller reserves the weights.
    fn new(bag: &Bag, units: &'a Units, watch: &'a Watch) -> Result<Self, Stop> {
        let _held = watch.hold(UnitRows::bytes(units.domain()))?;
        let rows = UnitRows::of_table(bag, units, watch)?;
        let mut weights = Vec::with_capacity(bag.distinct());
        for row in 0..bag.distinct() {
            watch.poll(row)?;
            weights.push(rows.weight(units.of(row)));
        }
        let counters = UnitCounters::new(units, watch);
        Ok(CountedUnits { counters, weights, all: rows.units().len() as u64 })
    }
}

fn add(to: &mut Given, given: Given) {
    to.iter_mut().zip(given).for_each(|(to, given)| *to += given);
}
