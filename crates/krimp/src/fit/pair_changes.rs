//! Adds up how the counts of pairs change while one element enters or leaves.
//!
//! An element that enters a wide table takes two others out of the covers of many rows, and each of these pairs with
//! everything else that covers the row. The ids that move are few and the rows many, so a count for each id that
//! moves and each other one is a small table; looking up every pair of every row took most of the time.

use table::NONE;

/// The largest number of counts in a table of changes before it is emptied.
const ROOM: usize = 1 << 20;

/// The change of the count of a pair of ids.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PairChange {
    /// The number of rows that now have both, less the number of rows that no longer have both.
    pub net: i64,
    /// The least value of that number on the way: a pair whose count reaches zero is forgotten.
    pub least: i64,
    /// Whether any row has got both.
    pub grown: bool,
    touched: bool,
}

/// Changes of pairs by ids.
#[derive(Default)]
pub(super) struct PairChanges {
    /// By id: its number among those that moved, or [`NONE`].
    numbers: Vec<u32>,
    /// The ids that moved.
    moved: Vec<u32>,
    /// By number and id. A pair of which both moved belongs to the one that moved first.
    table: Vec<PairChange>,
    touched: Vec<(u32, u32)>,
}

impl PairChanges {
    /// For ids below `ids`; all earlier changes must have been taken.
    pub(super) fn begin(&mut self, ids: usize) {
        self.numbers.resize(ids.max(self.numbers.len()), NONE);
    }

    /// Whether the recorded changes should be taken before more are recorded.
    pub(super) fn is_full(&self) -> bool {
        self.moved.len() * self.numbers.len() > ROOM
    }

    /// Records that an id enters or leaves the cover of a row.
    pub(super) fn moves(&mut self, id: u32) {
        if self.numbers[id as usize] == NONE {
            self.numbers[id as usize] = self.moved.len() as u32;
            self.moved.push(id);
            let room = self.moved.len() * self.numbers.len();
            if self.table.len() < room {
                self.table.resize(room, PairChange::default());
            }
        }
    }

    /// Records that rows of this weight have got both of two ids, or, below 0, lost them; `a` is one that moves.
    #[inline]
    pub(super) fn add(&mut self, a: u32, b: u32, weight: i64) {
        let [first, second] = [a, b].map(|id| self.numbers[id as usize]);
        let (number, other) = if second < first { (second, a) } else { (first, b) };
        let change = &mut self.table[number as usize * self.numbers.len() + other as usize];
        if !change.touched {
            change.touched = true;
            self.touched.push((number, other));
        }
        change.net += weight;
        change.least = change.least.min(change.net);
        change.grown |= weight > 0;
    }

    /// Calls back with all pairs that changed, and forgets them.
    pub(super) fn take(&mut self, mut tell: impl FnMut(u32, u32, PairChange)) {
        for (number, other) in self.touched.drain(..) {
            let change = &mut self.table[number as usize * self.numbers.len() + other as usize];
            tell(self.moved[number as usize], other, std::mem::take(change));
        }
        for id in self.moved.drain(..) {
            self.numbers[id as usize] = NONE;
        }
    }

    pub(super) fn memory(&self) -> usize {
        self.table.capacity() * size_of::<PairChange>()
            + self.numbers.capacity() * 4
            + self.touched.capacity() * 8
    }
}
