//! The inner counts of a table of two columns, from the rows or the people of a bag.

use super::{Layout, MOST_CELLS};
use table::{Bag, NONE, Stop, Units, Watch};

/// The table of counts of a bag whose columns are rows, columns and, if there is a third one, groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellCounts {
    pub layout: Layout,
    /// The counts of the inner cells.
    pub inner: Vec<u64>,
    /// The codes of each row: its group (0 without groups) and its own.
    pub rows: Vec<(u32, u32)>,
    pub columns: Vec<u32>,
    pub groups: Vec<u32>,
    /// Rows of the bag that are in no cell, because one of the columns is NULL.
    pub left_out: u64,
}

/// The reasons why there is no table of counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoCounts {
    Stop(Stop),
    /// It would have more than [`MOST_CELLS`].
    TooManyCells {
        rows: usize,
        columns: usize,
    },
    /// So many units have rows in several cells.
    ///
    /// They would count in each of these cells, but once in a total. What follows of a suppressed cell from sums would
    /// be unknown: nobody could say that it is safe.
    UnitsInSeveralCells {
        units: u64,
    },
}

impl From<Stop> for NoCounts {
    fn from(stop: Stop) -> Self {
        NoCounts::Stop(stop)
    }
}

impl CellCounts {
    /// Counts the rows of each cell, or its units. A unit must not have rows in several cells; rows that are left out
    /// do not matter for that. Rows without a unit count for nobody.
    pub fn new(bag: &Bag, units: Option<&Units>, watch: &Watch) -> Result<Self, NoCounts> {
        // The rows in the table, and the codes of rows, columns and groups.
        let _held = watch.hold(bag.distinct() as u64 * 32)?;
        let is_grouped = bag.width() == 3;
        let full = |i: &usize| !bag.row(*i).contains(&NONE);
        let row_of = |i: usize| (if is_grouped { bag.row(i)[2] } else { 0 }, bag.row(i)[0]);
        let distinct = |mut codes: Vec<(u32, u32)>| {
            codes.sort_unstable();
            codes.dedup();
            codes
        };
        let kept: Vec<usize> = (0..bag.distinct()).filter(full).collect();
        let rows = distinct(kept.iter().map(|&i| row_of(i)).collect());
        let columns = distinct(kept.iter().map(|&i| (0, bag.row(i)[1])).collect());
        let groups = distinct(rows.iter().map(|row| (0, row.0)).collect());
        let sizes = (rows.len() + groups.len() + 1).saturating_mul(columns.len() + 1);
        if sizes > MOST_CELLS {
            return Err(NoCounts::TooManyCells { rows: rows.len(), columns: columns.len() });
        }
        if let Some(units) = units {
            in_one_cell_each(&kept, units, watch)?;
        }
        let place =
            |codes: &[(u32, u32)], code: (u32, u32)| codes.binary_search(&code).unwrap_or(0);
        let mut inner = vec![0; rows.len() * columns.len()];
        for &i in &kept {
            let cell =
                place(&rows, row_of(i)) * columns.len() + place(&columns, (0, bag.row(i)[1]));
            inner[cell] += units.map_or(bag.weight(i), |units| units.of(i).len() as u64);
        }
        let in_cells: u64 = kept.iter().map(|&i| bag.weight(i)).sum();
        let layout = match is_grouped {
            true => {
                let group = |row: &(u32, u32)| place(&groups, (0, row.0)) as u32;
                Layout::grouped(rows.iter().map(group).collect(), columns.len())
            }
            false => Layout::flat(rows.len(), columns.len()),
        };
        let code = |codes: Vec<(u32, u32)>| codes.into_iter().map(|(_, code)| code).collect();
        Ok(CellCounts {
            layout,
            inner,
            columns: code(columns),
            groups: if is_grouped { code(groups) } else { Vec::new() },
            rows,
            left_out: bag.row_count() - in_cells,
        })
    }
}

/// Refuses units of which several of these distinct rows are: each of them is another cell.
fn in_one_cell_each(rows: &[usize], units: &Units, watch: &Watch) -> Result<(), NoCounts> {
    let _held = watch.hold(units.domain() as u64)?;
    let mut cells = vec![0u8; units.domain()];
    for (done, &row) in rows.iter().enumerate() {
        watch.poll(done)?;
        for of in units.of(row) {
            let cells = &mut cells[of.unit as usize];
            *cells = cells.saturating_add(1);
        }
    }
    match cells.iter().filter(|&&cells| cells > 1).count() as u64 {
        0 => Ok(()),
        units => Err(NoCounts::UnitsInSeveralCells { units }),
    }
}
