//! Rows as sums of cell keys: what a form leaves of a row is one subtraction per blanked cell.

use crate::k_anonymize::group::Keys;
use table::{Bag, NONE, Stop, Watch, bits, sort_watched};

/// Rows handled between two looks at the watch.
pub(crate) const STRIDE: usize = 1 << 14;

/// Splitmix64's mixer, a bijection: neighbouring numbers get unrelated keys, different numbers
/// different ones.
pub(crate) fn mix(number: u64) -> u64 {
    let mut x = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The key of a cell; a NULL adds nothing, as if it were blanked.
fn cell_key(column: usize, code: u32) -> u64 {
    if code == NONE { 0 } else { mix(((column as u64 + 1) << 32) | u64::from(code)) }
}

/// The distinct rows of a bag with keys, in an order that depends on their content only: so does
/// everything that is decided in this order.
///
/// The key of a set of items is the sum of theirs. Two different sets may share a key (by
/// chance, 2^-64 a pair); then a class comes out smaller than planned and is dropped at the end.
pub(crate) struct Keyed {
    /// Keys by column, then by row.
    pub cells: Vec<Vec<u64>>,
    pub weights: Vec<u64>,
    /// The number of each row in the bag.
    pub rows: Vec<u32>,
    /// Whether any cell is NULL.
    pub nulls: bool,
}

impl Keyed {
    pub fn new(bag: &Bag, watch: &Watch) -> Result<Self, Stop> {
        let whole = |i: usize| {
            let cells = bag.row(i).iter().enumerate();
            cells.fold(0u64, |sum, (c, &code)| sum.wrapping_add(cell_key(c, code)))
        };
        let mut sums = Vec::with_capacity(bag.distinct());
        for i in 0..bag.distinct() {
            watch.poll(i)?;
            sums.push(whole(i));
        }
        let mut rows: Vec<u32> = (0..bag.distinct() as u32).collect();
        sort_watched(&mut rows, watch, |a, b| {
            let (a, b) = (a as usize, b as usize);
            sums[a].cmp(&sums[b]).then_with(|| bag.row(a).cmp(bag.row(b)))
        })?;
        let mut cells = vec![Vec::with_capacity(rows.len()); bag.width()];
        for (i, &row) in rows.iter().enumerate() {
            watch.poll(i)?;
            for (column, &code) in bag.row(row as usize).iter().enumerate() {
                cells[column].push(cell_key(column, code));
            }
        }
        Ok(Keyed {
            nulls: cells.iter().any(|column| column.contains(&0)),
            cells,
            weights: rows.iter().map(|&row| bag.weight(row as usize)).collect(),
            rows,
        })
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn width(&self) -> usize {
        self.cells.len()
    }

    /// The keys of some of the rows, side by side.
    pub fn select(&self, rows: impl ExactSizeIterator<Item = u32> + Clone) -> Selected {
        let pick = |column: &Vec<u64>| rows.clone().map(|row| column[row as usize]).collect();
        let cells: Vec<Vec<u64>> = self.cells.iter().map(pick).collect();
        let mut whole = vec![0u64; rows.len()];
        for column in &cells {
            whole.iter_mut().zip(column).for_each(|(sum, cell)| *sum = sum.wrapping_add(*cell));
        }
        Selected { cells, whole }
    }

    /// The key of what is left of a row if the columns of a mask are blanked.
    pub fn key(&self, row: u32, blanked: &[u64]) -> u64 {
        let left = self.cells.iter().enumerate().filter(|&(c, _)| !bits::has(blanked, c));
        left.fold(0, |key, (_, cells)| key.wrapping_add(cells[row as usize]))
    }

    /// The bytes held for `rows` rows of `width` cells, here or in [`Selected`].
    pub fn bytes(rows: usize, width: usize) -> u64 {
        (rows as u64).saturating_mul(width as u64 * 8 + 16)
    }
}

/// The keys of some rows.
pub(crate) struct Selected {
    cells: Vec<Vec<u64>>,
    whole: Vec<u64>,
}

impl Keys for Selected {
    fn len(&self) -> usize {
        self.whole.len()
    }

    /// The keys of rows `from..to` with the columns of `form` blanked.
    fn keys(&self, form: &[u16], from: usize, to: usize, keys: &mut Vec<u64>) {
        keys.clear();
        keys.extend_from_slice(&self.whole[from..to]);
        for &column in form {
            let cells = &self.cells[usize::from(column)][from..to];
            keys.iter_mut().zip(cells).for_each(|(key, cell)| *key = key.wrapping_sub(*cell));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_leftovers_have_equal_keys() {
        let rows = [["a", "x", "1"], ["a", "y", "1"], ["b", "x", "2"]];
        let bag = Bag::from_text(3, rows.map(|row| row.map(Some)));
        let keyed = Keyed::new(&bag, &Watch::unlimited()).unwrap();
        let selected = keyed.select(0..3);
        let mut keys = Vec::new();
        selected.keys(&[1], 0, 3, &mut keys);
        let of = |row: u32| keys[keyed.rows.iter().position(|&r| r == row).unwrap()];
        assert_eq!(of(0), of(1));
        assert_ne!(of(0), of(2));
        selected.keys(&[0, 1, 2], 0, 3, &mut keys);
        assert_eq!(keys, [0; 3]);
    }

    #[test]
    fn the_order_of_rows_is_that_of_their_content() {
        let rows = |n: u32| [Some(n.to_string()), Some((n % 7).to_string())];
        let order = |numbers: Vec<u32>| {
            let bag = Bag::from_text(2, numbers.iter().map(|&n| rows(n)));
            let keyed = Keyed::new(&bag, &Watch::unlimited()).unwrap();
            keyed.rows.iter().map(|&r| bag.row(r as usize).to_vec()).collect::<Vec<_>>()
        };
        assert_eq!(order((0..500).collect()), order((0..500).rev().collect()));
    }
}
