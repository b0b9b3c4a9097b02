//! Counts how often two elements cover a row together.

use crate::cover::item_rows::ItemRows;
use crate::cover::{Cover, Observer};
use crate::fit::pair_changes::{PairChange, PairChanges};
use rayon::prelude::*;
use std::collections::HashMap;
use table::{Keyed, Reservation, Stop, Watch, bits};

/// The largest number of items whose pairs are counted in a matrix.
const MATRIX: usize = 2000;

/// Bytes of a pair in the map, at its usual load.
const PAIR_BYTES: usize = 48;

/// The number of rows from which the changes of one step are added up before pairs are looked up.
const MANY_ROWS: usize = 16;

/// The largest number of ids that enter and leave in one row for which the row's changes are added up.
const FEW_MOVES: usize = 32;

/// The counts of two elements.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Pair {
    /// Rows whose cover has both.
    pub together: u64,
    /// The value of `together` when their union was last refused.
    pub refused_at: Option<u64>,
}

/// How often elements cover a row together.
///
/// Elements have serial numbers here: slots are used again, serials are not. Those of singletons are their item
/// numbers.
pub(crate) struct Pairs<'w> {
    pub items: u32,
    pub by_serials: HashMap<(u32, u32), Pair, Keyed>,
    /// By slot.
    serials: Vec<u32>,
    /// By serial less the number of items; `None` if the element has left.
    slots: Vec<Option<u32>>,
    held: Reservation<'w>,
    /// Pairs that became more frequent.
    pub grown: Vec<(u32, u32)>,
    /// Changes that are not counted yet.
    changes: PairChanges,
    /// Whether changes are added up first.
    adds_up: bool,
    stays: Vec<u32>,
    goes: Vec<u32>,
    comes: Vec<u32>,
    /// By id; false between rows.
    marks: Vec<bool>,
}

impl<'w> Pairs<'w> {
    pub(crate) fn new(items: usize, watch: &'w Watch) -> Self {
        Pairs {
            items: items as u32,
            by_serials: HashMap::default(),
            serials: Vec::new(),
            slots: Vec::new(),
            held: Reservation::new(watch),
            grown: Vec::new(),
            changes: PairChanges::default(),
            adds_up: false,
            stays: Vec::new(),
            goes: Vec::new(),
            comes: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// Counts the pairs of items in rows that are covered by singletons only.
    pub(crate) fn count<const W: usize>(&mut self, cover: &Cover<'_, W>) -> Result<(), Stop> {
        let ground = cover.ground;
        if bitmaps_pay(ground)
            && let Some(bitmaps) = (0..ground.items() as u32).map(|i| cover.rows_of(i)).collect()
        {
            return self.count_bitmaps(ground, bitmaps);
        }
        self.count_cells(ground)
    }

    /// Counts them row by row.
    fn count_cells(&mut self, ground: &ItemRows<'_>) -> Result<(), Stop> {
        let (watch, cells) = (self.held.watch(), ground.items() * ground.items());
        let held = if ground.items() <= MATRIX { watch.hold(cells as u64 * 8).ok() } else { None };
        let small = held.is_some();
        let mut matrix = vec![0u64; if small { cells } else { 0 }];
        for row in 0..ground.rows() {
            watch.check()?;
            self.account(0)?;
            let weight = ground.weights[row];
            let items = || ground.row(row).iter().copied().filter(|&item| item != table::NONE);
            for (i, a) in items().enumerate() {
                for b in items().skip(i + 1) {
                    if small {
                        matrix[a as usize * ground.items() + b as usize] += weight;
                    } else {
                        self.by_serials.entry((a, b)).or_default().together += weight;
                    }
                }
            }
        }
        for (i, &together) in matrix.iter().enumerate().filter(|&(_, &n)| n > 0) {
            let key = ((i / ground.items()) as u32, (i % ground.items()) as u32);
            self.by_serials.insert(key, Pair { together, refused_at: None });
        }
        drop(held);
        self.account(0)
    }

    /// Counts them by intersecting the rows of each two items, if no row occurs twice.
    fn count_bitmaps(&mut self, ground: &ItemRows<'_>, bitmaps: Vec<&[u64]>) -> Result<(), Stop> {
        let watch = self.held.watch();
        let with = |a: u32| {
            watch.check()?;
            let end = ground.starts[ground.columns[a as usize] as usize + 1];
            let rows = |b: u32| bits::count_common(bitmaps[a as usize], bitmaps[b as usize]);
            let later = (end..ground.items() as u32).map(|b| (b, rows(b)));
            Ok(later.filter(|&(_, together)| together > 0).collect())
        };
        let found: Vec<Vec<(u32, u64)>> =
            (0..ground.items() as u32).into_par_iter().map(with).collect::<Result<_, Stop>>()?;
        for (a, with) in (0..).zip(found) {
            for (b, together) in with {
                self.by_serials.insert((a, b), Pair { together, refused_at: None });
            }
            self.account(0)?;
        }
        Ok(())
    }

    /// Reserves the memory that the pairs now take, and `more` bytes.
    pub(crate) fn account(&mut self, more: usize) -> Result<(), Stop> {
        let pairs = self.by_serials.capacity() * PAIR_BYTES;
        self.held.raise((pairs + self.changes.memory() + more) as u64)
    }

    fn serial(&self, id: u32) -> u32 {
        match id.checked_sub(self.items) {
            Some(slot) => self.serials[slot as usize],
            None => id,
        }
    }

    /// The serial of the element in a slot.
    pub(crate) fn serial_of(&self, slot: u32) -> u32 {
        self.serials[slot as usize]
    }

    /// The slot of the element with a serial, if it is still there and no singleton.
    pub(crate) fn slot(&self, serial: u32) -> Option<u32> {
        self.slots[serial.checked_sub(self.items)? as usize]
    }

    /// The serial of the last element that entered.
    pub(crate) fn newest(&self) -> Option<u32> {
        (!self.slots.is_empty()).then(|| self.items + self.slots.len() as u32 - 1)
    }

    /// The id of the element with a serial, if it is still there.
    pub(crate) fn id(&self, serial: u32) -> Option<u32> {
        if serial < self.items { Some(serial) } else { Some(self.items + self.slot(serial)?) }
    }

    fn add(&mut self, a: u32, b: u32, weight: u64) {
        let key = (a.min(b), a.max(b));
        self.by_serials.entry(key).or_default().together += weight;
        self.grown.push(key);
    }

    fn take(&mut self, a: u32, b: u32, weight: u64) {
        let key = (a.min(b), a.max(b));
        if let Some(pair) = self.by_serials.get_mut(&key) {
            pair.together -= weight;
            if pair.together == 0 {
                self.by_serials.remove(&key);
            }
        }
    }

    /// Applies the changes that were added up, with the same result as one by one.
    fn settle(&mut self) {
        let mut changes = std::mem::take(&mut self.changes);
        changes.take(|a, b, PairChange { net, least, grown, .. }| {
            let (a, b) = (self.serial(a), self.serial(b));
            let key = (a.min(b), a.max(b));
            if grown {
                self.grown.push(key);
            }
            let pair = self.by_serials.entry(key).or_default();
            let forgotten = least < 0 && pair.together == least.unsigned_abs();
            pair.together = pair.together.wrapping_add_signed(net);
            if forgotten {
                pair.refused_at = None;
            }
            if pair.together == 0 {
                self.by_serials.remove(&key);
            }
        });
        self.changes = changes;
    }
}

/// Whether pairs are counted by bitmaps: whether bitmaps have fewer words than the rows have pairs of cells, and
/// every bit stands for one row.
fn bitmaps_pay(ground: &ItemRows<'_>) -> bool {
    let words = ground.items() * ground.items() * bits::words(ground.rows());
    words <= ground.rows() * ground.width * ground.width && ground.weights.iter().all(|&w| w == 1)
}

impl Observer for Pairs<'_> {
    fn enters(&mut self, slot: u32) {
        let slot = slot as usize;
        if self.serials.len() <= slot {
            self.serials.resize(slot + 1, 0);
        }
        self.serials[slot] = self.items + self.slots.len() as u32;
        self.slots.push(Some(slot as u32));
    }

    fn begins(&mut self, rows: usize) {
        self.adds_up = rows >= MANY_ROWS;
        if self.adds_up {
            self.changes.begin(self.items as usize + self.serials.len());
        }
    }

    fn ends(&mut self) {
        if self.adds_up {
            self.settle();
        }
    }

    fn leaves(&mut self, slot: u32) {
        let number = self.serials[slot as usize] - self.items;
        self.slots[number as usize] = None;
    }

    fn row(&mut self, weight: u64, before: &[u32], after: &[u32]) {
        let mut lists = [&mut self.stays, &mut self.goes, &mut self.comes].map(std::mem::take);
        let [stays, goes, comes] = &mut lists;
        lists_of(before, after, &mut self.marks, [stays, goes, comes]);
        let moves = goes.len() + comes.len();
        if self.adds_up && (moves > FEW_MOVES || self.changes.is_full()) {
            self.settle();
        }
        if self.adds_up && moves <= FEW_MOVES {
            let changes = &mut self.changes;
            goes.iter().chain(&*comes).for_each(|&id| changes.moves(id));
            for (moving, weight) in [(&*goes, -(weight as i64)), (&*comes, weight as i64)] {
                for (i, &a) in moving.iter().enumerate() {
                    let others = moving[i + 1..].iter().chain(&*stays);
                    others.for_each(|&b| changes.add(a, b, weight));
                }
            }
            [self.stays, self.goes, self.comes] = lists;
            return;
        }
        for ids in [&mut *stays, goes, comes] {
            ids.iter_mut().for_each(|id| *id = self.serial(*id));
        }
        for (i, &a) in goes.iter().enumerate() {
            goes[i + 1..].iter().chain(stays.iter()).for_each(|&b| self.take(a, b, weight));
        }
        for (i, &a) in comes.iter().enumerate() {
            comes[i + 1..].iter().chain(stays.iter()).for_each(|&b| self.add(a, b, weight));
        }
        [self.stays, self.goes, self.comes] = lists;
    }
}

/// The ids that two lists share, that only the first has, and that only the second has.
fn lists_of(before: &[u32], after: &[u32], marks: &mut Vec<bool>, lists: [&mut Vec<u32>; 3]) {
    let [stays, goes, comes] = lists;
    [&mut *stays, goes, comes].into_iter().for_each(Vec::clear);
    let most = before.iter().chain(after).max().map_or(0, |&id| id as usize + 1);
    marks.resize(marks.len().max(most), false);
    after.iter().for_each(|&id| marks[id as usize] = true);
    for &id in before {
        // A remaining mark belongs to an id that enters.
        if std::mem::take(&mut marks[id as usize]) { stays.push(id) } else { goes.push(id) }
    }
    comes.extend(after.iter().filter(|&&id| std::mem::take(&mut marks[id as usize])));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const IDS: u32 = 8;

    /// The ids that cover a row.
    fn cover() -> impl Strategy<Value = Vec<u32>> {
        prop::collection::btree_set(0..IDS, 0..5).prop_map(|ids| ids.into_iter().collect())
    }

    fn told(pairs: &mut Pairs<'_>, rows: usize, changes: &[(u64, Vec<u32>, Vec<u32>)]) {
        pairs.begins(rows);
        changes.iter().for_each(|(weight, before, after)| pairs.row(*weight, before, after));
        pairs.ends();
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        /// Changes that are added up first have the same effect as one by one: on counts, on the counts at refusal,
        /// and on the pairs that grew.
        #[test]
        fn adding_up_changes_nothing(
            rows in prop::collection::vec((1u64..4, cover()), 1..6),
            steps in prop::collection::vec(prop::collection::vec((any::<prop::sample::Index>(), cover()), 1..8), 1..6),
            refused in prop::collection::vec(any::<prop::sample::Index>(), 6),
        ) {
            let watch = Watch::unlimited();
            let mut one_by_one = Pairs::new(IDS as usize, &watch);
            let mut added_up = Pairs::new(IDS as usize, &watch);
            let mut rows = rows;
            let first: Vec<_> = rows.iter().map(|(weight, ids)| (*weight, Vec::new(), ids.clone())).collect();
            told(&mut one_by_one, 1, &first);
            told(&mut added_up, MANY_ROWS, &first);
            for (step, refused) in steps.into_iter().zip(refused) {
                let keys: BTreeSet<(u32, u32)> = one_by_one.by_serials.keys().copied().collect();
                if let Some(key) = keys.iter().nth(refused.index(keys.len().max(1))) {
                    for pairs in [&mut one_by_one, &mut added_up] {
                        let pair = pairs.by_serials.get_mut(key).unwrap();
                        pair.refused_at = Some(pair.together);
                    }
                }
                let changes: Vec<_> = step
                    .into_iter()
                    .map(|(row, after)| {
                        let (weight, cover) = row.get_mut(&mut rows);
                        (*weight, std::mem::replace(cover, after.clone()), after)
                    })
                    .collect();
                told(&mut one_by_one, 1, &changes);
                told(&mut added_up, MANY_ROWS, &changes);
                prop_assert_eq!(&added_up.by_serials, &one_by_one.by_serials);
                let [one, all] = [&mut one_by_one, &mut added_up]
                    .map(|pairs| pairs.grown.drain(..).collect::<BTreeSet<_>>());
                prop_assert_eq!(all, one);
            }
        }

        /// Bitmaps give the same counts as comparing every two cells.
        #[test]
        fn bitmaps_count_the_same(
            rows in prop::collection::btree_set(prop::collection::vec(prop::option::weighted(0.9, 0u8..3), 6), 1..80),
        ) {
            let text = |cell: &Option<u8>| cell.map(|value| value.to_string());
            let bag = table::Bag::from_text(6, rows.iter().map(|row| row.iter().map(text)));
            let watch = Watch::unlimited();
            let ground = ItemRows::new(&bag, &watch).unwrap();
            let cover: Cover<'_, 1> = Cover::new(&ground, 6, &watch).unwrap();
            let mut by_bitmaps = Pairs::new(ground.items(), &watch);
            let bitmaps = (0..ground.items() as u32).map(|item| cover.rows_of(item).unwrap()).collect();
            by_bitmaps.count_bitmaps(&ground, bitmaps).unwrap();
            let mut by_cells = Pairs::new(ground.items(), &watch);
            by_cells.count_cells(&ground).unwrap();
            prop_assert_eq!(by_bitmaps.by_serials, by_cells.by_serials);
        }
    }
}
