//! Counts the MIIs of each column and value, to report which of them make rows stand out.

use crate::mii::visit_miis;
use crate::mii::visitor::Visitor;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use table::{Bag, Item, Marks, NONE, Stop, Units, Watch, bits};

/// How a value, or a column as a whole, takes part in MIIs. Rows and cells are those of the table, also where units
/// decide what is infrequent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RiskCounts {
    /// The MIIs that contain the value (for a column: a value of it).
    pub miis: u64,
    /// The rows with the value (for a column: any value, not NULL) that contain at least one
    /// MII, whether or not the value is part of it: rows that stand out.
    pub rows: u64,
    /// The cells with the value that lie in an MII their row contains: what suppression blanks.
    pub cells: u64,
}

/// The risk of a column and of each of its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnRisk {
    /// The column as a whole: the sums over its values.
    pub total: RiskCounts,
    /// By code of the column's domain.
    pub values: Vec<RiskCounts>,
}

/// The risk of each column and value: MIIs of length at most `max_length` are counted as they are found, without
/// keeping them. With `units`, MIIs are those of [`miis`](crate::miis) with units.
pub fn risk(
    bag: &Bag,
    units: Option<&Units>,
    theta: u64,
    max_length: Option<usize>,
    watch: &Watch,
) -> Result<Vec<ColumnRisk>, Stop> {
    let items: usize = bag.domains().iter().map(|d| d.len()).sum();
    let bytes = Marks::bytes(bag.distinct(), bag.width()) + items as u64 * 32;
    watch.reserve(bytes)?;
    let census = Census::new(bag);
    visit_miis(bag, units, theta, max_length, watch, &census)?;
    let risk = census.risk(bag);
    watch.release(bytes);
    Ok(risk)
}

/// The number of MIIs by item, and the cells that lie in one.
struct Census {
    /// MIIs of each item: `miis[column][code]`.
    miis: Vec<Vec<AtomicU64>>,
    /// By distinct row, the columns of the cells that lie in an MII.
    marks: Marks,
}

impl Census {
    fn new(bag: &Bag) -> Self {
        let zeros = |n: usize| (0..n).map(|_| AtomicU64::new(0)).collect();
        Census {
            miis: bag.domains().iter().map(|d| zeros(d.len())).collect(),
            marks: Marks::new(bag.distinct(), bag.width()),
        }
    }

    fn risk(self, bag: &Bag) -> Vec<ColumnRisk> {
        let mut risk: Vec<ColumnRisk> = self
            .miis
            .iter()
            .map(|miis| ColumnRisk {
                total: RiskCounts::default(),
                values: miis
                    .iter()
                    .map(|m| RiskCounts { miis: m.load(Relaxed), ..RiskCounts::default() })
                    .collect(),
            })
            .collect();
        let marks = self.marks.into_sets();
        for i in 0..bag.distinct() {
            let marks = marks.set(i);
            if marks.iter().all(|&word| word == 0) {
                continue;
            }
            for (column, &code) in bag.row(i).iter().enumerate().filter(|&(_, &c)| c != NONE) {
                let counts = &mut risk[column].values[code as usize];
                counts.rows += bag.weight(i);
                if bits::has(marks, column) {
                    counts.cells += bag.weight(i);
                }
            }
        }
        for column in &mut risk {
            for value in &column.values {
                column.total.miis += value.miis;
                column.total.rows += value.rows;
                column.total.cells += value.cells;
            }
        }
        risk
    }
}

impl Visitor for Census {
    fn mii(&self, items: &[Item], rows: &[u32], _support: u64) -> Result<(), Stop> {
        for item in items {
            let (column, code) = (item.column as usize, item.code as usize);
            self.miis[column][code].fetch_add(1, Relaxed);
            rows.iter().for_each(|&row| self.marks.insert(row as usize, column));
        }
        Ok(())
    }
}
