//! Finds the cells of a row that lie in a minimal rare combination, for combinations up to a length.
//!
//! A combination is minimal rare if its verdict is "rare" although all its parts are frequent. Combinations are not
//! listed: only those that a wanted row contains are ever judged, level by level, one set of columns at a time, with
//! one bit per row.

use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use table::{Codes, Index, NONE, Reservation, Stop, Watch, bits};

/// Decides whether a combination is frequent.
pub(super) trait Verdict: Sync {
    /// State that is computed once for a set of columns.
    type Columns;

    fn columns(&self, columns: &[u32]) -> Self::Columns;

    fn frequent(&self, columns: &Self::Columns, codes: &[u32], count: u64) -> bool;
}

/// Judges a combination by its exact count.
pub(super) struct Above(pub(super) u64);

impl Verdict for Above {
    type Columns = ();

    fn columns(&self, _columns: &[u32]) {}

    fn frequent(&self, _columns: &(), _codes: &[u32], count: u64) -> bool {
        count > self.0
    }
}

/// Rows by column: some are counted, some are wanted, some are both.
pub(super) struct Cells {
    /// The codes of each column; [`NONE`] stands for no item.
    pub(super) codes: Vec<Vec<u32>>,
    /// A number above every code of each column.
    pub(super) sizes: Vec<usize>,
    /// The number of times that each row counts.
    pub(super) counted: Vec<u64>,
    /// The rows whose cells are judged, by bit.
    pub(super) wanted: Vec<u64>,
}

/// Bits by row.
type Bits = Vec<u64>;

impl Cells {
    fn rows(&self) -> usize {
        self.counted.len()
    }

    /// For each column the rows, by bit, whose cell lies in a minimal rare combination of at most
    /// `max_length` items. Holds for wanted rows; the bits of other rows mean nothing.
    pub(super) fn blanked<V: Verdict>(
        &self,
        verdict: &V,
        max_length: usize,
        watch: &Watch,
    ) -> Result<Vec<Bits>, Stop> {
        let words = bits::words(self.rows());
        let width = self.codes.len();
        // The marks are held twice while they are returned.
        let _marks = watch.hold((2 * width * words * 8) as u64)?;
        let blanked: Vec<AtomicU64> = (0..width * words).map(|_| AtomicU64::new(0)).collect();
        // The sets of columns of the last level with the rows whose combination there is frequent.
        let mut level: BTreeMap<Vec<u32>, Bits> = BTreeMap::new();
        let mut held = Reservation::new(watch);
        for length in 1..=max_length.min(width) {
            let sets = match length {
                1 => (0..width as u32).map(|column| vec![column]).collect(),
                _ => extend(&level, width as u32),
            };
            if sets.is_empty() {
                break;
            }
            let judging = watch.hold((sets.len() * words * 8) as u64)?;
            watch.begin(sets.len() as u64);
            let judged: Vec<Option<(Vec<u32>, Bits)>> = sets
                .into_par_iter()
                .map(|set| {
                    let candidates = self.candidates(&set, &level);
                    let frequent = self.judge(&set, &candidates, verdict, watch)?;
                    for &column in &set {
                        let marks = &blanked[column as usize * words..][..words];
                        for ((mark, &c), &f) in marks.iter().zip(&candidates).zip(&frequent) {
                            if c & !f != 0 {
                                mark.fetch_or(c & !f, Relaxed);
                            }
                        }
                    }
                    watch.advance(1);
                    Ok(frequent.iter().any(|&f| f != 0).then_some((set, frequent)))
                })
                .collect::<Result<_, Stop>>()?;
            level = judged.into_iter().flatten().collect();
            held = judging;
        }
        drop((level, held));
        let bits: Vec<u64> = blanked.into_iter().map(AtomicU64::into_inner).collect();
        Ok(bits.chunks(words.max(1)).map(<[u64]>::to_vec).collect())
    }

    /// The rows whose combination at `set` has only frequent parts.
    fn candidates(&self, set: &[u32], level: &BTreeMap<Vec<u32>, Bits>) -> Bits {
        if let [column] = set {
            let mut set = vec![0; bits::words(self.rows())];
            for (row, &code) in self.codes[*column as usize].iter().enumerate() {
                if code != NONE {
                    bits::insert(&mut set, row);
                }
            }
            return set;
        }
        let mut rows = vec![u64::MAX; bits::words(self.rows())];
        for part in parts(set) {
            match level.get(&part) {
                Some(frequent) => rows.iter_mut().zip(frequent).for_each(|(r, &f)| *r &= f),
                None => rows.fill(0),
            }
        }
        rows
    }

    /// The candidates whose combination at `set` is frequent.
    fn judge<V: Verdict>(
        &self,
        set: &[u32],
        candidates: &[u64],
        verdict: &V,
        watch: &Watch,
    ) -> Result<Bits, Stop> {
        let rows: Vec<u32> = bits::numbers(candidates).map(|row| row as u32).collect();
        // The rows and the group of each, as if each row were a group: a place in an index that grows by doubling,
        // its count, a row and a verdict. Also the candidates' bits, given and returned.
        let bytes = rows.capacity() * 4 + rows.len() * (4 + 20 + 13) + candidates.len() * 16;
        let _held = watch.hold(bytes as u64)?;
        let columns: Vec<&[u32]> = set.iter().map(|&c| self.codes[c as usize].as_slice()).collect();
        let sizes: Vec<usize> = set.iter().map(|&c| self.sizes[c as usize]).collect();
        let grouped = group(&rows, &columns, &sizes, watch)?;

        let mut counts = vec![0; grouped.cells];
        // A row of each cell that a wanted row is in; other cells need no verdict.
        let mut shown = vec![NONE; grouped.cells];
        for (&row, &cell) in rows.iter().zip(&grouped.of) {
            counts[cell as usize] += self.counted[row as usize];
            if bits::has(&self.wanted, row as usize) {
                shown[cell as usize] = row;
            }
        }
        let key = verdict.columns(set);
        let mut codes = vec![0; set.len()];
        let mut frequent = vec![false; grouped.cells];
        for (cell, &row) in shown.iter().enumerate() {
            watch.poll(cell)?;
            if row != NONE {
                codes.iter_mut().zip(&columns).for_each(|(code, c)| *code = c[row as usize]);
                frequent[cell] = verdict.frequent(&key, &codes, counts[cell]);
            }
        }
        let mut set = vec![0; candidates.len()];
        for (&row, &cell) in rows.iter().zip(&grouped.of) {
            if frequent[cell as usize] {
                bits::insert(&mut set, row as usize);
            }
        }
        Ok(set)
    }
}

/// The sets of one more column all of whose parts are in `level`.
fn extend(level: &BTreeMap<Vec<u32>, Bits>, width: u32) -> Vec<Vec<u32>> {
    let mut sets = Vec::new();
    for set in level.keys() {
        for column in set.last().map_or(0, |last| last + 1)..width {
            let mut longer = set.clone();
            longer.push(column);
            if parts(&longer).all(|part| level.contains_key(&part)) {
                sets.push(longer);
            }
        }
    }
    sets
}

/// The subsets of one column less.
fn parts(set: &[u32]) -> impl Iterator<Item = Vec<u32>> + '_ {
    (0..set.len()).map(|left_out| {
        let kept = set.iter().enumerate().filter(|&(i, _)| i != left_out);
        kept.map(|(_, &column)| column).collect()
    })
}

/// Rows by their cell of a marginal.
struct Grouped {
    /// The cell of each row.
    of: Vec<u32>,
    /// A number above every cell.
    cells: usize,
}

fn group(
    rows: &[u32],
    columns: &[&[u32]],
    sizes: &[usize],
    watch: &Watch,
) -> Result<Grouped, Stop> {
    // A small marginal is an array; in a large one only the cells that occur are numbered.
    let cells = sizes.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
    match cells {
        Some(cells) if cells <= (2 * rows.len()).min(u32::MAX as usize) => {
            let mut of = vec![0u32; rows.len()];
            for (codes, &size) in columns.iter().zip(sizes) {
                watch.check()?;
                for (cell, &row) in of.iter_mut().zip(rows) {
                    *cell = *cell * size as u32 + codes[row as usize];
                }
            }
            Ok(Grouped { of, cells })
        }
        _ => hashed(rows, columns, watch),
    }
}

fn hashed(rows: &[u32], columns: &[&[u32]], watch: &Watch) -> Result<Grouped, Stop> {
    let key = |row: u32| Codes(columns.iter().map(move |codes| codes[row as usize]));
    let mut index = Index::new();
    // A row of each cell.
    let mut firsts = Vec::new();
    let mut of = Vec::with_capacity(rows.len());
    for (i, &row) in rows.iter().enumerate() {
        watch.poll(i)?;
        let cell = index.number(key(row), |cell| key(firsts[cell as usize]));
        of.push(cell.unwrap_or_else(|new| {
            firsts.push(row);
            new
        }));
    }
    Ok(Grouped { of, cells: index.len() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Rows of codes below 4 with NULLs, weights, and which rows are wanted.
    fn tables() -> impl Strategy<Value = Vec<(Vec<u32>, u64, bool)>> {
        let cell = prop_oneof![4 => 0u32..4, 1 => Just(NONE)];
        let row = (prop::collection::vec(cell, 4), 0u64..4, any::<bool>());
        prop::collection::vec(row, 0..40)
    }

    fn cells(rows: &[(Vec<u32>, u64, bool)], size: usize) -> Cells {
        let mut wanted = vec![0; bits::words(rows.len())];
        for (i, _) in rows.iter().enumerate().filter(|(_, row)| row.2) {
            bits::insert(&mut wanted, i);
        }
        Cells {
            codes: (0..4).map(|c| rows.iter().map(|r| r.0[c]).collect()).collect(),
            sizes: vec![size; 4],
            counted: rows.iter().map(|r| r.1).collect(),
            wanted,
        }
    }

    /// The definition, by listing every subset of every row.
    fn by_definition(rows: &[(Vec<u32>, u64, bool)], row: &[u32], theta: u64, longest: u32) -> u32 {
        let support = |mask: u32| -> u64 {
            let contains = |other: &[u32]| (0..4).all(|c| mask >> c & 1 == 0 || other[c] == row[c]);
            rows.iter().filter(|r| contains(&r.0)).map(|r| r.1).sum()
        };
        let items: u32 = (0..4).filter(|&c| row[c] != NONE).map(|c| 1 << c).sum();
        let inside = |mask: u32| mask & !items == 0 && mask.count_ones() <= longest;
        (1..16u32)
            .filter(|&mask| inside(mask) && support(mask) <= theta)
            .filter(|&mask| (1..mask).filter(|part| part & !mask == 0).all(|p| support(p) > theta))
            .fold(0, |all, mask| all | mask)
    }

    proptest! {
        #[test]
        fn blanked_cells_are_those_of_the_definition(
            rows in tables(), theta in 0u64..12, longest in 1usize..5, sparse: bool
        ) {
            // A large domain takes the hashed path.
            let cells = cells(&rows, if sparse { 1 << 40 } else { 4 });
            let found = cells.blanked(&Above(theta), longest, &Watch::unlimited()).unwrap();
            for (i, row) in rows.iter().enumerate().filter(|(_, row)| row.2) {
                let expected = by_definition(&rows, &row.0, theta, longest as u32);
                let blanked = (0..4).fold(0, |all, c| all | (found[c][i / 64] >> (i % 64) & 1) << c);
                prop_assert_eq!(blanked as u32, expected, "row {}", i);
            }
        }
    }

    #[test]
    fn a_cancelled_search_stops() {
        let watch = Watch::unlimited();
        watch.cancel();
        let rows = vec![(vec![0, 1, 2, 3], 1, true); 3];
        assert_eq!(cells(&rows, 4).blanked(&Above(1), 2, &watch), Err(Stop::Cancelled));
    }

    #[test]
    fn an_empty_table_has_no_cells() {
        let found = cells(&[], 4).blanked(&Above(1), 2, &Watch::unlimited()).unwrap();
        assert!(found.iter().all(Vec::is_empty));
    }
}
