//! Bitmaps of the rows in which an item is not covered by long elements, to find the rows that can use a candidate.

use crate::cover::item_rows::ItemRows;
use table::bits::{self, BitSets};
use table::{NONE, Reservation, Stop, Watch};

/// Tables with fewer words of rows than this have bitmaps for all items.
const SMALL: usize = 1 << 10;

/// The largest number of bytes of the bitmaps of all levels; above it, levels share bitmaps.
const MOST_BYTES: u64 = 1 << 29;

/// By item and level, the rows in which the item is not covered by an element of at least that many items. The rows
/// that can use a candidate are an intersection of these.
///
/// A candidate of length l comes after all longer elements and, in candidate order, after those of equal length; so
/// its rows are the intersection of its items' rows of level l. Each bitmap has a summary, a bit per word, by which
/// most words are skipped. Items with few rows, for which a list is smaller, have a list of all their rows instead. A
/// level without bitmaps of its own uses those of a higher one: the result then has too many rows, never too few.
pub(crate) struct Uncovered<'w> {
    /// The bitmap number of each item, or [`NONE`].
    bitmap_of: Vec<u32>,
    bitmaps: usize,
    /// The rows of the items that have no bitmaps.
    lists: Vec<Vec<u32>>,
    /// The set of bitmaps that each level uses; levels 0 and 1 are not used.
    set_of: Vec<usize>,
    rows: BitSets,
    /// For each bitmap of `rows`, which of its words are not zero.
    summary: BitSets,
    _held: Reservation<'w>,
}

impl<'w> Uncovered<'w> {
    /// All items uncovered, for elements of a length up to `longest`.
    pub(crate) fn new(
        ground: &ItemRows<'_>,
        longest: usize,
        watch: &'w Watch,
    ) -> Result<Self, Stop> {
        let free = watch.memory_limit().saturating_sub(watch.memory());
        Uncovered::within(ground, longest, SMALL, MOST_BYTES.min(free / 2) as usize, watch)
    }

    /// Makes bitmaps of at most `most` bytes, if one level fits, for items that have on average a row in each word of
    /// rows, or for all items if there are fewer than `small` words.
    fn within(
        ground: &ItemRows<'_>,
        longest: usize,
        small: usize,
        most: usize,
        watch: &'w Watch,
    ) -> Result<Self, Stop> {
        let words = bits::words(ground.rows());
        let summary_words = bits::words(words);
        let mut rows = vec![0usize; ground.items()];
        for row in 0..ground.rows() {
            ground.row(row).iter().filter(|&&i| i != NONE).for_each(|&i| rows[i as usize] += 1);
        }
        let dense = |&rows: &usize| rows > 0 && (words < small || rows >= words);
        let bitmaps = rows.iter().filter(|rows| dense(rows)).count();
        let set_bytes = (bitmaps * (words + summary_words) * 8).max(1);
        // Levels 2 to longest + 1, at which nothing is covered; neighbours share a set of bitmaps.
        let levels = longest.max(1);
        let shared = levels.div_ceil((most / set_bytes).clamp(1, levels));
        let sets = levels.div_ceil(shared);
        let set_of = (0..levels + 2).map(|level| level.saturating_sub(2) / shared).collect();
        let listed: usize = rows.iter().filter(|rows| !dense(rows)).sum();
        let held = watch.hold((sets * set_bytes + listed * 4) as u64)?;
        let mut next = 0..;
        let bitmap_of: Vec<u32> = rows
            .iter()
            .map(|r| if dense(r) { next.next().unwrap_or(NONE) } else { NONE })
            .collect();
        let mut all = Uncovered {
            bitmap_of,
            bitmaps,
            lists: vec![Vec::new(); ground.items()],
            set_of,
            rows: BitSets::new(bitmaps, ground.rows()),
            summary: BitSets::new(bitmaps, words),
            _held: held,
        };
        for row in 0..ground.rows() {
            for &item in ground.row(row).iter().filter(|&&item| item != NONE) {
                match all.bitmap_of[item as usize] {
                    NONE => all.lists[item as usize].push(row as u32),
                    bitmap => all.set(0, bitmap, row),
                }
            }
        }
        all.rows.repeat(sets);
        all.summary.repeat(sets);
        Ok(all)
    }

    fn set(&mut self, set: usize, bitmap: u32, row: usize) {
        let map = set * self.bitmaps + bitmap as usize;
        self.rows.insert(map, row);
        self.summary.insert(map, row / 64);
    }

    fn clear(&mut self, set: usize, bitmap: u32, row: usize) {
        let map = set * self.bitmaps + bitmap as usize;
        if self.rows.remove(map, row) == 0 {
            self.summary.remove(map, row / 64);
        }
    }

    /// The first set in which an item is uncovered that an element of this length covers.
    fn first_with(&self, length: usize) -> usize {
        self.set_of[(length + 1).min(self.set_of.len() - 1)]
    }

    /// Records that in `row` the element that covers `item` now has length `new` instead of `old`.
    pub(crate) fn change(&mut self, row: usize, item: u32, old: usize, new: usize) {
        let bitmap = self.bitmap_of[item as usize];
        if old == new || bitmap == NONE {
            return;
        }
        let (old, new) = (self.first_with(old), self.first_with(new));
        for set in old..new {
            self.clear(set, bitmap, row);
        }
        for set in new..old {
            self.set(set, bitmap, row);
        }
    }

    /// The rows that contain an item, if it has bitmaps: at the highest level nothing is covered.
    pub(crate) fn bitmap(&self, item: u32) -> Option<&[u64]> {
        let bitmap = self.bitmap_of[item as usize];
        let set = self.set_of[self.set_of.len() - 1] * self.bitmaps;
        (bitmap != NONE).then(|| self.rows.set(set + bitmap as usize))
    }

    /// Calls back with all rows in which `items` are uncovered at `level`, in ascending order.
    #[inline]
    pub(crate) fn rows(
        &self,
        ground: &ItemRows<'_>,
        items: &[u32],
        level: usize,
        mut tell: impl FnMut(usize),
    ) {
        if let Some(list) = self.shortest_list(items) {
            for &row in list {
                let cells = ground.row(row as usize);
                if items.iter().all(|&i| cells[ground.columns[i as usize] as usize] == i) {
                    tell(row as usize);
                }
            }
            return;
        }
        let set = self.set_of[level.min(self.set_of.len() - 1)] * self.bitmaps;
        let map = |item: u32| set + self.bitmap_of[item as usize] as usize;
        let shared = |sets: &BitSets, word: usize| {
            items.iter().fold(u64::MAX, |shared, &item| shared & sets.word(map(item), word))
        };
        for at in 0..self.summary.stride() {
            for block in bits::ones(shared(&self.summary, at)) {
                let word = at * 64 + block;
                bits::ones(shared(&self.rows, word)).for_each(|bit| tell(word * 64 + bit));
            }
        }
    }

    /// The shortest of the lists of items that have no bitmaps.
    #[inline]
    fn shortest_list(&self, items: &[u32]) -> Option<&[u32]> {
        let listed = items.iter().filter(|&&item| self.bitmap_of[item as usize] == NONE);
        listed.map(|&item| self.lists[item as usize].as_slice()).min_by_key(|list| list.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use table::Bag;

    const WIDTH: usize = 4;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Every row that has the items uncovered is reported, in order, and no row without the items; with bitmaps
        /// for all items and levels, exactly the rows that have them uncovered.
        #[test]
        fn rows_are_those_that_leave_the_items(
            rows in prop::collection::vec(prop::collection::vec(prop::option::weighted(0.9, 0u32..20), WIDTH), 1..200),
            changes in prop::collection::vec((any::<prop::sample::Index>(), 0..WIDTH, 1usize..=WIDTH), 0..100),
            (items, level) in (prop::collection::vec(any::<prop::sample::Index>(), 1..WIDTH), 2usize..WIDTH + 3),
            (small, most) in (prop_oneof![Just(0usize), Just(SMALL)], prop_oneof![Just(0usize), Just(2000), Just(1 << 20)]),
        ) {
            // Squares make some values rare and some common.
            let text = |cell: &Option<u32>| cell.map(|n| (n * n / 20).to_string());
            let bag = Bag::from_text(WIDTH, rows.iter().map(|row| row.iter().map(text)));
            let watch = Watch::unlimited();
            let ground = ItemRows::new(&bag, &watch).unwrap();
            let mut uncovered = Uncovered::within(&ground, WIDTH, small, most, &watch).unwrap();
            let mut lengths = vec![[1usize; WIDTH]; ground.rows()];
            for (row, column, length) in changes {
                let row = row.index(ground.rows());
                let item = ground.row(row)[column];
                if item != NONE {
                    uncovered.change(row, item, lengths[row][column], length);
                    lengths[row][column] = length;
                }
            }
            let mut set: Vec<u32> = Vec::new();
            for item in items {
                let item = item.index(ground.items().max(1)) as u32;
                let taken = |&i: &u32| ground.columns[i as usize] == ground.columns[item as usize];
                if (item as usize) < ground.items() && !set.iter().any(taken) {
                    set.push(item);
                }
            }
            prop_assume!(!set.is_empty());
            let column = |item: u32| ground.columns[item as usize] as usize;
            let contains = |row: &usize| set.iter().all(|&i| ground.row(*row)[column(i)] == i);
            let leaves = |row: &usize| contains(row) && set.iter().all(|&i| lengths[*row][column(i)] < level);
            let mut told = Vec::new();
            uncovered.rows(&ground, &set, level, |row| told.push(row));
            prop_assert!(told.is_sorted() && told.iter().all(contains));
            let expected: Vec<usize> = (0..ground.rows()).filter(leaves).collect();
            if small == SMALL && most == 1 << 20 {
                prop_assert_eq!(told, expected);
            } else {
                prop_assert!(expected.iter().all(|row| told.contains(row)));
            }
        }
    }
}
