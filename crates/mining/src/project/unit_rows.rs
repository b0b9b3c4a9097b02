//! The rows of a bag in an order in which their units can be counted.

use table::{Bag, Item, NONE, Stop, Units, Watch};

/// A distinct row, for the units that have no other distinct row or for one of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnitRow {
    /// Its number in the bag.
    pub row: u32,
    /// The unit, if it has other rows too; else [`NONE`].
    pub unit: u32,
    /// The number of units that it is for.
    pub units: u64,
}

/// The rows of units that have only one: an itemset's support in these is a sum, as it is in rows. Then the rows of
/// each other unit, one unit after the other, so that counting a unit once needs only the last unit that was seen.
#[derive(Debug)]
pub(crate) struct UnitRows {
    pub rows: Vec<UnitRow>,
    /// The number of units.
    pub total: u64,
}

impl UnitRows {
    /// All rows with a unit; with `unowned`, also those without, which are for 0 units. Takes [`UnitRows::bytes`].
    pub(crate) fn new(
        bag: &Bag,
        units: &Units,
        unowned: bool,
        watch: &Watch,
    ) -> Result<Self, Stop> {
        if bag.distinct().saturating_add(units.pairs()) >= NONE as usize {
            return Err(Stop::Memory { limit: watch.memory_limit() });
        }
        let _held = watch.hold(4 * units.domain() as u64)?;
        let mut row_counts = vec![0u32; units.domain()];
        for row in 0..bag.distinct() {
            watch.poll(row)?;
            units.of(row).iter().for_each(|of| row_counts[of.unit as usize] += 1);
        }
        let mut rows = Vec::with_capacity(bag.distinct() + units.pairs());
        for row in 0..bag.distinct() {
            watch.poll(row)?;
            let owners = units.of(row);
            let only = owners.iter().filter(|of| row_counts[of.unit as usize] == 1).count() as u64;
            if only > 0 || unowned && owners.is_empty() {
                rows.push(UnitRow { row: row as u32, unit: NONE, units: only });
            }
        }
        let total = row_counts.iter().filter(|&&rows| rows > 0).count() as u64;
        // From here on where the next row of each unit goes, if the unit has several.
        let mut places = row_counts;
        let mut next = rows.len() as u32;
        for place in &mut places {
            let rows = *place;
            *place = if rows > 1 { next } else { NONE };
            next += if rows > 1 { rows } else { 0 };
        }
        rows.resize(next as usize, UnitRow { row: 0, unit: NONE, units: 0 });
        for row in 0..bag.distinct() {
            watch.poll(row)?;
            for of in units.of(row) {
                let place = &mut places[of.unit as usize];
                if *place != NONE {
                    rows[*place as usize] = UnitRow { row: row as u32, unit: of.unit, units: 1 };
                    *place += 1;
                }
            }
        }
        Ok(UnitRows { rows, total })
    }

    /// The largest number of bytes held.
    pub(crate) fn bytes(bag: &Bag, units: &Units) -> u64 {
        (bag.distinct() as u64 + units.pairs() as u64) * size_of::<UnitRow>() as u64
    }

    /// The number of units that have each value of each column: `supports[column][code]`.
    pub(crate) fn supports(&self, bag: &Bag, watch: &Watch) -> Result<Vec<Vec<u64>>, Stop> {
        let values = |column: usize| bag.domain(column).len();
        let mut supports: Vec<Vec<u64>> =
            (0..bag.width()).map(|column| vec![0; values(column)]).collect();
        let mut last: Vec<Vec<u32>> =
            (0..bag.width()).map(|column| vec![NONE; values(column)]).collect();
        for (i, of) in self.rows.iter().enumerate() {
            watch.poll(i)?;
            for item in Bag::row_items(bag.row(of.row as usize)) {
                let (column, code) = (item.column as usize, item.code as usize);
                let last = &mut last[column][code];
                if of.unit == NONE || *last != of.unit {
                    supports[column][code] += of.units;
                }
                if of.unit != NONE {
                    *last = of.unit;
                }
            }
        }
        Ok(supports)
    }

    /// The items that every row has.
    pub(crate) fn items_of_all(&self, bag: &Bag) -> Vec<Item> {
        let mut rows = self.rows.iter().map(|of| bag.row(of.row as usize));
        let mut items: Vec<Item> = rows.next().into_iter().flat_map(Bag::row_items).collect();
        for row in rows {
            items.retain(|item| row[item.column as usize] == item.code);
            if items.is_empty() {
                break;
            }
        }
        items
    }
}

/// Counts the units of groups that come in the order of [`UnitRows`].
pub(crate) struct UnitSum<'a> {
    weights: &'a [u64],
    /// By group, as [`UnitRow::unit`].
    units: &'a [u32],
    last: u32,
}

impl<'a> UnitSum<'a> {
    pub(crate) fn new(weights: &'a [u64], units: &'a [u32]) -> Self {
        UnitSum { weights, units, last: NONE }
    }

    /// The number of units that a group adds to those before it.
    #[inline]
    pub(crate) fn add(&mut self, group: usize) -> u64 {
        let unit = self.units[group];
        if unit == NONE {
            return self.weights[group];
        }
        let is_new = self.last != unit;
        self.last = unit;
        u64::from(is_new)
    }
}
