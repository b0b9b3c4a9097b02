//! The distinct rows of each unit, in the order of their codes.

use table::{Bag, Reservation, Stop, Units, Watch, sort_watched};

/// The distinct rows of each unit. They are numbered in the order of their codes, so that the result for a seed does
/// not depend on the order of reading.
pub(super) struct RowsOfUnits<'a> {
    /// The distinct rows by number.
    order: Vec<u32>,
    /// The units that have rows, ascending.
    units: Vec<u32>,
    /// Where the rows of each unit begin, and in the end where the last ones end.
    starts: Vec<usize>,
    /// By unit: the numbers of its distinct rows, ascending.
    numbers: Vec<u32>,
    /// By unit: how many rows it has up to each distinct one.
    sums: Vec<u64>,
    _held: Reservation<'a>,
}

impl<'a> RowsOfUnits<'a> {
    pub(super) fn new(bag: &Bag, units: &Units, watch: &'a Watch) -> Result<Self, Stop> {
        let pairs = units.pairs();
        let bytes = bag.distinct() * 8 + units.domain() * 20 + pairs * 12;
        let held = watch.hold(bytes as u64)?;
        let order = by_codes(bag, watch)?;
        let mut starts = vec![0; units.domain() + 1];
        for row in 0..bag.distinct() {
            watch.poll(row)?;
            units.of(row).iter().for_each(|of| starts[of.unit as usize + 1] += 1);
        }
        for unit in 0..units.domain() {
            starts[unit + 1] += starts[unit];
        }
        let (mut next, mut numbers, mut sums) = (starts.clone(), vec![0; pairs], vec![0; pairs]);
        for (number, &row) in (0..).zip(&order) {
            watch.poll(number as usize)?;
            for of in units.of(row as usize) {
                let unit = of.unit as usize;
                let place = next[unit];
                let before = if place == starts[unit] { 0 } else { sums[place - 1] };
                (numbers[place], sums[place]) = (number, before + of.rows);
                next[unit] += 1;
            }
        }
        let has_rows = |unit: &u32| starts[*unit as usize] < starts[*unit as usize + 1];
        let units = (0..units.domain() as u32).filter(has_rows).collect();
        Ok(RowsOfUnits { order, units, starts, numbers, sums, _held: held })
    }

    /// The units that have rows, ascending.
    pub(super) fn units(&self) -> &[u32] {
        &self.units
    }

    fn range(&self, unit: u32) -> std::ops::Range<usize> {
        self.starts[unit as usize]..self.starts[unit as usize + 1]
    }

    /// The numbers of the distinct rows of a unit, ascending.
    pub(super) fn of(&self, unit: u32) -> &[u32] {
        &self.numbers[self.range(unit)]
    }

    /// The number of rows of a unit.
    pub(super) fn row_count(&self, unit: u32) -> u64 {
        self.sums[self.range(unit)].last().copied().unwrap_or(0)
    }

    /// The distinct row of row number `number` of a unit.
    pub(super) fn row(&self, unit: u32, number: u64) -> usize {
        let place = self.sums[self.range(unit)].partition_point(|&sum| sum <= number);
        self.distinct(self.of(unit)[place])
    }

    /// The distinct row that has a number.
    pub(super) fn distinct(&self, number: u32) -> usize {
        self.order[number as usize] as usize
    }

    /// How many distinct rows are numbered.
    pub(super) fn len(&self) -> u32 {
        self.order.len() as u32
    }
}

/// The distinct rows in the order of their codes. The caller reserves 8 bytes for each, half of them for the sort.
pub(super) fn by_codes(bag: &Bag, watch: &Watch) -> Result<Vec<u32>, Stop> {
    let mut order: Vec<u32> = (0..bag.distinct() as u32).collect();
    sort_watched(&mut order, watch, |a, b| bag.row(a as usize).cmp(bag.row(b as usize)))?;
    Ok(order)
}
