//! The rows to be released, in an order that depends on their content only.

use super::columns::Column;
use crate::k_anonymize::group::Keys;
use crate::k_anonymize::prepare::mix;
use table::{Bag, NONE, Stop, Watch, sort_watched};

/// The distinct rows of a bag: cells of the generalised columns, column by column, and the sensitive
/// value of each. Everything is decided in the order of these rows, which is that of their content.
pub(crate) struct People {
    pub columns: Vec<Column>,
    /// By column, then by row.
    pub cells: Vec<Vec<u32>>,
    pub weights: Vec<u64>,
    /// The sensitive value of each row, from 0, NULL being the last one; empty if there is none.
    pub sensitive: Vec<u32>,
    /// The number of each row in the bag.
    pub rows: Vec<u32>,
}

impl People {
    pub fn new(bag: &Bag, columns: Vec<Column>, watch: &Watch) -> Result<Self, Stop> {
        let mut sums = Vec::with_capacity(bag.distinct());
        for i in 0..bag.distinct() {
            watch.poll(i)?;
            let cells = bag.row(i).iter().enumerate();
            sums.push(cells.fold(0u64, |sum, (column, &code)| {
                sum.wrapping_add(mix(((column as u64 + 1) << 32) | u64::from(code)))
            }));
        }
        let mut rows: Vec<u32> = (0..bag.distinct() as u32).collect();
        sort_watched(&mut rows, watch, |a, b| {
            let (a, b) = (a as usize, b as usize);
            sums[a].cmp(&sums[b]).then_with(|| bag.row(a).cmp(bag.row(b)))
        })?;
        drop(sums);
        let mut cells = vec![Vec::with_capacity(rows.len()); columns.len()];
        let mut sensitive = Vec::new();
        for (i, &row) in rows.iter().enumerate() {
            watch.poll(i)?;
            let row = bag.row(row as usize);
            for ((cells, column), &code) in cells.iter_mut().zip(&columns).zip(row) {
                cells.push(if code == NONE { column.null() } else { code });
            }
            if let Some(&value) = row.get(columns.len()) {
                let null = bag.domain(columns.len()).len() as u32;
                sensitive.push(if value == NONE { null } else { value });
            }
        }
        let weights = rows.iter().map(|&row| bag.weight(row as usize)).collect();
        Ok(People { columns, cells, weights, sensitive, rows })
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// The number of copies of all rows.
    pub fn total(&self) -> u64 {
        self.weights.iter().sum()
    }

    /// What a row loses if its columns are shown at the given levels.
    #[inline]
    pub fn loss<L: Copy + Into<u64>>(&self, row: u32, levels: &[L]) -> u64 {
        let columns = self.columns.iter().zip(&self.cells).zip(levels);
        columns
            .map(|((column, cells), &level)| {
                u64::from(column.losses(level.into() as usize)[cells[row as usize] as usize])
            })
            .sum()
    }

    /// Raises the levels of a class that `of` belongs to until it shows `row` as well.
    #[inline]
    pub fn raise(&self, levels: &mut [u8], of: u32, row: u32) {
        for ((column, cells), level) in self.columns.iter().zip(&self.cells).zip(levels) {
            *level = (*level).max(column.meet(cells[of as usize], cells[row as usize]));
        }
    }

    /// Some of the rows, side by side.
    pub fn select(&self, rows: impl ExactSizeIterator<Item = u32> + Clone) -> Selected<'_> {
        let pick = |cells: &Vec<u32>| rows.clone().map(|row| cells[row as usize]).collect();
        let cells = self.cells.iter().map(pick).collect();
        Selected { columns: &self.columns, cells, len: rows.len() }
    }

    /// The bytes held for `rows` rows of `width` cells, here or in [`Selected`].
    pub fn bytes(rows: usize, width: usize) -> u64 {
        (rows as u64).saturating_mul(width as u64 * 4 + 24)
    }
}

/// The cells of some rows.
pub(crate) struct Selected<'a> {
    columns: &'a [Column],
    cells: Vec<Vec<u32>>,
    len: usize,
}

/// Here a form is the level of each column.
impl Keys for Selected<'_> {
    fn len(&self) -> usize {
        self.len
    }

    fn keys(&self, form: &[u16], from: usize, to: usize, keys: &mut Vec<u64>) {
        keys.clear();
        keys.resize(to - from, 0);
        for ((column, cells), &level) in self.columns.iter().zip(&self.cells).zip(form) {
            if usize::from(level) + 1 == column.levels() {
                continue;
            }
            let of = column.keys(level.into());
            for (key, &cell) in keys.iter_mut().zip(&cells[from..to]) {
                *key = key.wrapping_add(of[cell as usize]);
            }
        }
    }
}
