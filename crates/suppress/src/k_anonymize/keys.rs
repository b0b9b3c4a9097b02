//! Rows as sums of cell keys: what a form leaves of a row is one subtraction per blanked cell.

use table::{Bag, NONE, Stop, Watch, sort_watched};

/// Rows handled between two looks at the watch.
pub(super) const STRIDE: usize = 1 << 14;

/// Splitmix64's mixer, a bijection: neighbouring numbers get unrelated keys, different numbers
/// different ones.
pub(super) fn mix(number: u64) -> u64 {
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
pub(super) struct Keyed {
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
            if i % STRIDE == 0 {
                watch.check()?;
            }
            sums.push(whole(i));
        }
        let mut rows: Vec<u32> = (0..bag.distinct() as u32).collect();
        sort_watched(&mut rows, watch, |a, b| {
            let (a, b) = (a as usize, b as usize);
            sums[a].cmp(&sums[b]).then_with(|| bag.row(a).cmp(bag.row(b)))
        })?;
        let mut cells = vec![Vec::with_capacity(rows.len()); bag.width()];
        for (i, &row) in rows.iter().enumerate() {
            if i % STRIDE == 0 {
                watch.check()?;
            }
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
        self.select_columns(self.cells.iter(), rows)
    }

    /// The keys of some of the rows in some of the columns (given as their cells), which become
    /// columns 0, 1, ….
    pub fn select_columns<'a>(
        &self,
        columns: impl Iterator<Item = &'a Vec<u64>>,
        rows: impl ExactSizeIterator<Item = u32> + Clone,
    ) -> Selected {
        let pick = |column: &Vec<u64>| rows.clone().map(|row| column[row as usize]).collect();
        let cells: Vec<Vec<u64>> = columns.map(pick).collect();
        let mut whole = vec![0u64; rows.len()];
        for column in &cells {
            whole.iter_mut().zip(column).for_each(|(sum, cell)| *sum = sum.wrapping_add(*cell));
        }
        Selected { cells, whole }
    }

    /// The key of what is left of a row if the columns of a mask are blanked.
    pub fn key(&self, row: u32, blanked: &[u64]) -> u64 {
        let left =
            self.cells.iter().enumerate().filter(|(c, _)| blanked[c / 64] >> (c % 64) & 1 == 0);
        left.fold(0, |key, (_, cells)| key.wrapping_add(cells[row as usize]))
    }

    /// The bytes held for `rows` rows of `width` cells, here or in [`Selected`].
    pub fn bytes(rows: usize, width: usize) -> u64 {
        (rows as u64).saturating_mul(width as u64 * 8 + 16)
    }
}

/// The keys of some rows.
pub(super) struct Selected {
    cells: Vec<Vec<u64>>,
    whole: Vec<u64>,
}

impl Selected {
    pub fn len(&self) -> usize {
        self.whole.len()
    }

    /// The keys of rows `from..to` with the columns of `form` blanked.
    pub fn keys(&self, form: &[u16], from: usize, to: usize, keys: &mut Vec<u64>) {
        keys.clear();
        keys.extend_from_slice(&self.whole[from..to]);
        for &column in form {
            let cells = &self.cells[usize::from(column)][from..to];
            keys.iter_mut().zip(cells).for_each(|(key, cell)| *key = key.wrapping_sub(*cell));
        }
    }
}

/// Numbers by key. Keys are as good as random, so their bits tell where to look.
#[derive(Default)]
pub(super) struct KeyTable {
    /// (key, number + 1); 0 marks an empty place.
    places: Vec<(u64, u32)>,
}

impl KeyTable {
    /// Empties the table and makes room for `len` keys.
    pub fn reset(&mut self, len: usize) {
        self.places.clear();
        self.places.resize((len * 2).next_power_of_two().max(2), (0, 0));
    }

    /// Where a key is, or where it belongs.
    #[inline]
    fn place(&self, key: u64) -> usize {
        // The low bits: tables are made of keys that share the high ones.
        let mut place = key as usize & (self.places.len() - 1);
        while self.places[place].1 != 0 && self.places[place].0 != key {
            place = (place + 1) & (self.places.len() - 1);
        }
        place
    }

    /// The number of `key`, which becomes `next` if the key is new.
    #[inline]
    pub fn insert(&mut self, key: u64, next: u32) -> u32 {
        let place = self.place(key);
        if self.places[place].1 == 0 {
            self.places[place] = (key, next + 1);
        }
        self.places[place].1 - 1
    }

    /// The number of `key` if it is known.
    #[inline]
    pub fn find(&self, key: u64) -> Option<u32> {
        self.places[self.place(key)].1.checked_sub(1)
    }
}

/// Keys that may be known: a bit each, so that most others are told apart in a table that is
/// small enough for the processor's cache.
#[derive(Default)]
pub(super) struct Filter {
    words: Vec<u64>,
}

impl Filter {
    /// Forgets all keys and makes room for `len`.
    pub fn reset(&mut self, len: usize) {
        self.words.clear();
        self.words.resize((len / 4).next_power_of_two(), 0);
    }

    #[inline]
    pub fn add(&mut self, key: u64) {
        let word = (key >> 6) as usize & (self.words.len() - 1);
        self.words[word] |= 1 << (key & 63);
    }

    #[inline]
    pub fn may_have(&self, key: u64) -> bool {
        self.words[(key >> 6) as usize & (self.words.len() - 1)] >> (key & 63) & 1 == 1
    }
}

/// Keys with their places, in parts that share the high bits: a part fits the processor's cache,
/// which a large table does not.
#[derive(Default)]
pub(super) struct Parts {
    pairs: Vec<(u64, u32)>,
    ends: Vec<u32>,
}

impl Parts {
    /// The number of parts for `len` keys, as a power of two.
    pub fn bits(len: usize) -> u32 {
        (len >> 13).next_power_of_two().trailing_zeros()
    }

    /// Sorts pairs into `2^bits` parts, each in the order given.
    pub fn sort(&mut self, pairs: &[(u64, u32)], bits: u32) {
        let part = |key: u64| if bits == 0 { 0 } else { (key >> (64 - bits)) as usize };
        self.ends.clear();
        self.ends.resize((1 << bits) + 1, 0);
        for &(key, _) in pairs {
            self.ends[part(key) + 1] += 1;
        }
        for part in 0..1 << bits {
            self.ends[part + 1] += self.ends[part];
        }
        self.pairs.clear();
        self.pairs.resize(pairs.len(), (0, 0));
        for &(key, place) in pairs {
            let next = &mut self.ends[part(key)];
            self.pairs[*next as usize] = (key, place);
            *next += 1;
        }
    }

    pub fn part(&self, part: usize) -> &[(u64, u32)] {
        let begin = if part == 0 { 0 } else { self.ends[part - 1] };
        &self.pairs[begin as usize..self.ends[part] as usize]
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

    #[test]
    fn a_table_finds_what_was_put_in_and_nothing_else() {
        let (mut table, mut filter) = (KeyTable::default(), Filter::default());
        for len in [0, 1, 1000] {
            table.reset(len);
            filter.reset(len);
            for n in 0..len as u64 {
                assert_eq!(table.insert(mix(n), n as u32), n as u32);
                assert_eq!(table.insert(mix(n), u32::MAX - 1), n as u32);
                filter.add(mix(n));
            }
            for n in 0..2000 {
                assert_eq!(table.find(mix(n)), (n < len as u64).then_some(n as u32));
                assert!(n >= len as u64 || filter.may_have(mix(n)));
            }
        }
    }

    #[test]
    fn parts_hold_all_pairs_in_order() {
        let pairs: Vec<(u64, u32)> = (0..1000).map(|n| (mix(n % 300), n as u32)).collect();
        let mut parts = Parts::default();
        for bits in [0, 3] {
            parts.sort(&pairs, bits);
            let all: Vec<(u64, u32)> =
                (0..1 << bits).flat_map(|p| parts.part(p).to_vec()).collect();
            let mut sorted = pairs.clone();
            sorted.sort_by_key(|&(key, _)| if bits == 0 { 0 } else { key >> (64 - bits) });
            assert_eq!(all, sorted);
        }
    }
}
