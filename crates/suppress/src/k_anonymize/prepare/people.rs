//! The rows to be released, in an order that depends on their content only.

use super::columns::Column;
use super::mix;
use table::{Bag, NONE, Stop, Units, Watch, sort_watched};

/// The distinct rows of a bag: cells of the generalised columns, column by column, and the sensitive
/// value of each. Everything is decided in the order of these rows, which is that of their content.
pub(crate) struct People {
    pub columns: Vec<Column>,
    /// By column, then by row.
    pub cells: Vec<Vec<u32>>,
    /// How much each row counts: its copies, or the units that have it. A unit with different rows counts for each.
    pub weights: Vec<u64>,
    /// The sensitive value of each row, from 0, NULL being the last one; empty if there is none.
    pub sensitive: Vec<u32>,
    /// The number of each row in the bag.
    pub rows: Vec<u32>,
}

impl People {
    /// The rows of a bag; if units count, those that a unit has.
    pub fn new(
        bag: &Bag,
        units: Option<&Units>,
        columns: Vec<Column>,
        watch: &Watch,
    ) -> Result<Self, Stop> {
        let mut sums = Vec::with_capacity(bag.distinct());
        for i in 0..bag.distinct() {
            watch.poll(i)?;
            let cells = bag.row(i).iter().enumerate();
            sums.push(cells.fold(0u64, |sum, (column, &code)| {
                sum.wrapping_add(mix(((column as u64 + 1) << 32) | u64::from(code)))
            }));
        }
        let mut rows: Vec<u32> = (0..bag.distinct() as u32).collect();
        if let Some(units) = units {
            rows.retain(|&row| !units.of(row as usize).is_empty());
        }
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
        let weight = |row: usize| match units {
            None => bag.weight(row),
            Some(units) => units.of(row).len() as u64,
        };
        let weights = rows.iter().map(|&row| weight(row as usize)).collect();
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

    /// The loss of a row if its columns are shown at the given levels.
    #[inline]
    pub fn loss<L: Copy + Into<u64>>(&self, row: u32, levels: &[L]) -> u64 {
        let columns = self.columns.iter().zip(&self.cells).zip(levels);
        columns
            .map(|((column, cells), &level)| {
                u64::from(column.losses(level.into() as usize)[cells[row as usize] as usize])
            })
            .sum()
    }

    /// Raises the levels of a class that contains `of` until it shows `row` alike.
    #[inline]
    pub fn raise(&self, levels: &mut [u8], of: u32, row: u32) {
        for ((column, cells), level) in self.columns.iter().zip(&self.cells).zip(levels) {
            *level = (*level).max(column.meet(cells[of as usize], cells[row as usize]));
        }
    }

    /// The loss of a row if all its cells are blank.
    pub fn worth(&self, row: u32) -> u64 {
        let columns = self.columns.iter().zip(&self.cells);
        columns.map(|(column, cells)| column.worth(cells[row as usize])).sum()
    }

    /// Some of the rows, side by side.
    pub fn select(&self, rows: impl ExactSizeIterator<Item = u32> + Clone) -> Selected<'_> {
        let mut whole = vec![0u64; rows.len()];
        let mut columns = Vec::with_capacity(self.width());
        for (column, all) in self.columns.iter().zip(&self.cells) {
            let keys = column.keys(0);
            let add = |(row, sum): (u32, &mut u64)| {
                let key = keys[all[row as usize] as usize];
                *sum = sum.wrapping_add(key);
                key
            };
            let own = rows.clone().zip(&mut whole).map(add).collect();
            let cells = rows.clone().map(|row| all[row as usize]);
            let cells = if column.levels() > 2 { cells.collect() } else { Vec::new() };
            columns.push((column, own, cells));
        }
        Selected { columns, whole }
    }

    /// The bytes held for `rows` rows of `width` cells, here or in [`Selected`].
    pub fn bytes(rows: usize, width: usize) -> u64 {
        (rows as u64).saturating_mul(width as u64 * 12 + 24)
    }
}

/// Some rows as sums of the keys of their cells: the key of what a form shows of a row is computed from the key of the
/// whole row and one or two keys of each column that the form raises.
///
/// Two different sets of shown values may have the same sum (by chance, 2^-64 a pair); then a class is shown at higher
/// levels than planned, because its levels are computed from the cells.
pub(crate) struct Selected<'a> {
    /// Columns with the keys of the values themselves and, if there are general ones, the cells.
    columns: Vec<(&'a Column, Vec<u64>, Vec<u32>)>,
    whole: Vec<u64>,
}

impl Selected<'_> {
    pub fn len(&self) -> usize {
        self.whole.len()
    }

    /// The keys of what `form`, a level for each column, shows of rows `from..to`.
    pub fn keys(&self, form: &[u16], from: usize, to: usize, keys: &mut Vec<u64>) {
        keys.clear();
        keys.extend_from_slice(&self.whole[from..to]);
        for ((column, own, cells), &level) in self.columns.iter().zip(form) {
            if level == 0 {
                continue;
            }
            let own = &own[from..to];
            keys.iter_mut().zip(own).for_each(|(key, own)| *key = key.wrapping_sub(*own));
            if usize::from(level) + 1 < column.levels() {
                let of = column.keys(level.into());
                for (key, &cell) in keys.iter_mut().zip(&cells[from..to]) {
                    *key = key.wrapping_add(of[cell as usize]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Hierarchy;

    fn people(bag: &Bag) -> People {
        let columns = bag.domains().iter().enumerate();
        let columns = columns.map(|(c, d)| Column::new(c, &Hierarchy::flat(d.len()), 1.0));
        People::new(bag, None, columns.collect(), &Watch::unlimited()).unwrap()
    }

    #[test]
    fn equal_leftovers_have_equal_keys() {
        let rows = [["a", "x", "1"], ["a", "y", "1"], ["b", "x", "2"]];
        let bag = Bag::from_text(3, rows.map(|row| row.map(Some)));
        let people = people(&bag);
        let selected = people.select(0..3);
        let mut keys = Vec::new();
        selected.keys(&[0, 1, 0], 0, 3, &mut keys);
        let of = |row: u32| keys[people.rows.iter().position(|&r| r == row).unwrap()];
        assert_eq!(of(0), of(1));
        assert_ne!(of(0), of(2));
        selected.keys(&[1, 1, 1], 0, 3, &mut keys);
        assert_eq!(keys, [0; 3]);
    }

    #[test]
    fn the_order_of_rows_is_that_of_their_content() {
        let rows = |n: u32| [Some(n.to_string()), Some((n % 7).to_string())];
        let order = |numbers: Vec<u32>| {
            let bag = Bag::from_text(2, numbers.iter().map(|&n| rows(n)));
            let rows = people(&bag).rows;
            rows.iter().map(|&r| bag.row(r as usize).to_vec()).collect::<Vec<_>>()
        };
        assert_eq!(order((0..500).collect()), order((0..500).rev().collect()));
    }
}
