//! The rows of each unit among some distinct rows of a bag, and what these rows weigh if each unit weighs the same.

use table::{Bag, RowsOfUnit, Stop, Units, Watch};

/// The weight of a unit, spread over its rows. Weights are integers, because sums of integers do not depend on the
/// order of the rows. Sums over all units, multiplied by numbers up to 2^41, fit into 128 bits.
pub(crate) const WHOLE: u128 = 1 << 55;

/// The number of rows that each unit has among the distinct rows that were added.
pub(crate) struct UnitRows {
    rows: Vec<u64>,
    /// The units that have any.
    seen: Vec<u32>,
}

impl UnitRows {
    /// For units below `domain`.
    pub(crate) fn new(domain: usize) -> Self {
        UnitRows { rows: vec![0; domain], seen: Vec::new() }
    }

    /// Those of a whole table.
    pub(crate) fn of_table(bag: &Bag, units: &Units, watch: &Watch) -> Result<Self, Stop> {
        let mut rows = UnitRows::new(units.domain());
        for row in 0..bag.distinct() {
            watch.poll(row)?;
            rows.add(units.of(row));
        }
        Ok(rows)
    }

    /// Adds the units of a distinct row.
    pub(crate) fn add(&mut self, row: &[RowsOfUnit]) {
        for of in row {
            let rows = &mut self.rows[of.unit as usize];
            if *rows == 0 {
                self.seen.push(of.unit);
            }
            *rows += of.rows;
        }
    }

    /// Empties it again; costs the units that were added.
    pub(crate) fn clear(&mut self) {
        self.seen.drain(..).for_each(|unit| self.rows[unit as usize] = 0);
    }

    /// The units that have rows, in the order in which they were added.
    pub(crate) fn units(&self) -> &[u32] {
        &self.seen
    }

    /// The number of rows of a unit.
    pub(crate) fn of(&self, unit: u32) -> u64 {
        self.rows[unit as usize]
    }

    /// What a distinct row weighs that was added: the shares of its units that are in it, in parts of [`WHOLE`].
    pub(crate) fn weight(&self, row: &[RowsOfUnit]) -> u128 {
        row.iter().map(|of| u128::from(of.rows) * WHOLE / u128::from(self.of(of.unit))).sum()
    }

    /// The bytes held.
    pub(crate) fn bytes(domain: usize) -> u64 {
        // The list of units grows by doubling.
        domain as u64 * 16
    }
}

/// The number of units of a table that have a row.
pub(crate) fn unit_count(bag: &Bag, units: &Units, watch: &Watch) -> Result<u64, Stop> {
    let _held = watch.hold(UnitRows::bytes(units.domain()))?;
    Ok(UnitRows::of_table(bag, units, watch)?.units().len() as u64)
}
