//! The cover of every row by the code table, and the effect of a change of the table on it.
//!
//! `item_rows` holds the rows as item numbers. `elements` has the itemsets in cover order, and finds those that fit
//! the rest of a row. `uncovered` finds the rows that can use a candidate. `size` turns usages into bits. `change`
//! has the observer of changes. `columns` is a set of columns, with as many words as the table needs.

pub(crate) mod columns;
pub(crate) mod elements;
pub(crate) mod item_rows;
mod observer;
pub(crate) mod size;
mod uncovered;

pub(crate) use observer::{Observer, Scratch};

use crate::cover::columns::Columns;
use crate::cover::elements::{Element, Elements};
use crate::cover::item_rows::ItemRows;
use crate::cover::size::{Terms, Totals};
use crate::cover::uncovered::Uncovered;
use table::{NONE, Reservation, Stop, Watch};

/// The number of rows that are covered again between two polls of the watch.
const STEP: usize = 1 << 14;

/// A code table with the cover of each row by it.
///
/// An id is the number of an item, for its singleton, or the number of items plus the slot of an
/// element.
pub(crate) struct Cover<'a, const W: usize> {
    pub ground: &'a ItemRows<'a>,
    pub elements: Elements<W>,
    /// By id.
    pub usages: Vec<u64>,
    pub totals: Totals,
    terms: Terms,
    uncovered: Uncovered<'a>,
    /// Slots in cover order, row after row, with room for `most` each.
    covers: Vec<u32>,
    most: usize,
    counts: Vec<u16>,
    /// The columns that singletons cover, by row.
    free: Vec<Columns<W>>,
    _held: Reservation<'a>,
    scratch: Scratch,
}

/// A row whose cover changes, the number of its elements that stay, and the columns that they leave uncovered.
type Affected<const W: usize> = (u32, u16, Columns<W>);

impl<'a, const W: usize> Cover<'a, W> {
    /// The cover by singletons, prepared for elements of a length up to `longest`.
    pub(crate) fn new(
        ground: &'a ItemRows<'a>,
        longest: usize,
        watch: &'a Watch,
    ) -> Result<Self, Stop> {
        let most = (ground.width / 2).max(1);
        let rows = ground.rows();
        let held = watch.hold((rows * (most * 4 + 2 + size_of::<Columns<W>>())) as u64)?;
        let free = (0..rows)
            .map(|row| {
                let cells = ground.row(row).iter().enumerate();
                cells.filter(|&(_, &item)| item != NONE).map(|(column, _)| column).collect()
            })
            .collect();
        let usages = ground.supports.clone();
        let totals = Totals {
            usage: usages.iter().sum(),
            used: usages.iter().filter(|&&u| u > 0).count() as u64,
        };
        Ok(Cover {
            ground,
            elements: Elements::new(ground.width, &ground.columns),
            usages,
            totals,
            terms: Terms::new(ground.weights.iter().sum()),
            uncovered: Uncovered::new(ground, longest, watch)?,
            covers: vec![NONE; rows * most],
            most,
            counts: vec![0; rows],
            free,
            _held: held,
            scratch: Scratch::default(),
        })
    }

    #[inline]
    fn id(&self, slot: u32) -> u32 {
        self.ground.items() as u32 + slot
    }

    /// The usage of the element in a slot.
    #[inline]
    pub(crate) fn usage(&self, slot: u32) -> u64 {
        self.usages[self.id(slot) as usize]
    }

    /// Usage and standard code length of every element, singletons first.
    pub(crate) fn codes(&self) -> impl Iterator<Item = (u64, f64)> + Clone + '_ {
        let singletons =
            (0..self.ground.items()).map(|i| (self.usages[i], self.ground.standard[i]));
        let order = self.elements.order().iter();
        singletons.chain(order.map(|&s| (self.usage(s), self.elements.get(s).standard)))
    }

    /// The columns of items.
    #[inline]
    fn columns(&self, items: &[u32]) -> Columns<W> {
        items.iter().map(|&item| self.ground.columns[item as usize] as usize).collect()
    }

    /// The length in bits of items in the standard code.
    #[inline]
    fn standard(&self, items: &[u32]) -> f64 {
        items.iter().map(|&item| self.ground.standard[item as usize]).sum()
    }

    /// The length in bits of the element of an id in the standard code.
    fn standard_of(&self, id: u32) -> f64 {
        match id.checked_sub(self.ground.items() as u32) {
            Some(slot) => self.elements.get(slot).standard,
            None => self.ground.standard[id as usize],
        }
    }

    /// The element of these items, which are in item order.
    pub(crate) fn element(&self, items: &[u32], support: u64) -> Element<W> {
        let (columns, standard) = (self.columns(items), self.standard(items));
        Element { items: items.to_vec(), columns, support, standard }
    }

    /// The slots that cover a row, in cover order.
    #[inline]
    pub(crate) fn cover(&self, row: usize) -> &[u32] {
        &self.covers[row * self.most..][..self.counts[row] as usize]
    }

    /// The number of elements of a row's cover before `rank`, and the columns that they leave uncovered.
    #[inline]
    fn tail(&self, row: usize, rank: u32) -> (usize, Columns<W>) {
        let cover = self.cover(row);
        let mut rest = self.free[row];
        let mut kept = cover.len();
        while kept > 0 && self.elements.rank(cover[kept - 1]) >= rank {
            kept -= 1;
            rest = rest.union(&self.elements.get(cover[kept]).columns);
        }
        (kept, rest)
    }

    /// The bits by which the total size would grow if an itemset entered at a rank; `None` if no row would use it.
    /// All elements of at least `level` items must come before that rank.
    #[inline]
    pub(crate) fn try_insert(
        &self,
        items: &[u32],
        rank: u32,
        level: usize,
        watch: &Watch,
        scratch: &mut Scratch,
    ) -> Result<Option<f64>, Stop> {
        let mut rows = std::mem::take(&mut scratch.rows);
        rows.clear();
        self.uncovered.rows(self.ground, items, level, |row| rows.push(row as u32));
        let mut used = 0;
        if !rows.is_empty() {
            scratch.deltas.by_id.resize(self.usages.len(), 0);
            let columns = self.columns(items);
            for part in rows.chunks(STEP) {
                for &row in part {
                    let row = row as usize;
                    let (kept, rest) = self.tail(row, rank);
                    if rest.contains(&columns) {
                        used += self.ground.weights[row];
                        self.recover(row, kept, rest.minus(&columns), rank, scratch);
                    }
                }
                if part.len() == STEP && watch.check().is_err() {
                    // The changes collected so far must not reach the next evaluation.
                    scratch.deltas.drain().for_each(drop);
                    return Err(Stop::Cancelled);
                }
            }
        }
        scratch.rows = rows;
        Ok((used > 0).then(|| self.grown(used, self.standard(items), scratch)))
    }

    /// Adds up the changes if `row` keeps the first `kept` elements of its cover and has `rest` covered by elements
    /// from rank `from` on.
    #[inline]
    fn recover(&self, row: usize, kept: usize, rest: Columns<W>, from: u32, scratch: &mut Scratch) {
        let weight = self.ground.weights[row] as i64;
        let cells = self.ground.row(row);
        let Scratch { deltas, offsets, .. } = scratch;
        for &slot in &self.cover(row)[kept..] {
            deltas.add(self.id(slot), -weight);
        }
        let left = self.elements.cover(cells, rest, from, offsets, |slot| {
            deltas.add(self.id(slot), weight);
        });
        for column in self.free[row].minus(&left).iter() {
            deltas.add(cells[column], -weight);
        }
        for column in left.minus(&self.free[row]).iter() {
            deltas.add(cells[column], weight);
        }
    }

    /// The bits by which the total size grows with the collected changes and a new element that is used `used` times.
    fn grown(&self, used: u64, standard: f64, scratch: &mut Scratch) -> f64 {
        let mut totals = self.totals;
        let mut bits = 0.0;
        if used > 0 {
            totals.usage += used;
            totals.used += 1;
            bits = standard - self.terms.of(used);
        }
        for (id, delta) in scratch.deltas.drain() {
            let old = self.usages[id as usize];
            let new = old.wrapping_add_signed(delta);
            totals.usage = totals.usage.wrapping_add_signed(delta);
            bits += self.terms.of(old) - self.terms.of(new);
            if old == 0 || new == 0 {
                if old == 0 {
                    totals.used += 1;
                    bits += self.standard_of(id);
                } else {
                    totals.used -= 1;
                    bits -= self.standard_of(id);
                }
            }
        }
        bits + self.totals.change(totals)
    }

    /// The bits by which the total size would grow if the rows that have both of two elements, of ids `a` and `b`, in
    /// their cover had the union instead, and nothing else changed.
    pub(crate) fn estimate(&self, a: u32, b: u32, together: u64) -> f64 {
        let mut totals = Totals { usage: self.totals.usage - together, used: self.totals.used + 1 };
        let mut bits = -self.terms.of(together);
        for id in [a, b] {
            let usage = self.usages[id as usize];
            bits += self.terms.of(usage) - self.terms.of(usage - together);
            if usage == together {
                totals.used -= 1;
            } else {
                bits += self.standard_of(id);
            }
        }
        bits + self.totals.change(totals)
    }

    /// Inserts an element; returns the slots whose usage fell, in cover order. `level` is as for
    /// [`Cover::try_insert`].
    pub(crate) fn insert(
        &mut self,
        element: Element<W>,
        level: usize,
        observer: &mut impl Observer,
    ) -> Vec<u32> {
        let rank = self.elements.place(&element);
        let mut rows: Vec<Affected<W>> = Vec::new();
        self.uncovered.rows(self.ground, &element.items, level, |row| {
            let (kept, rest) = self.tail(row, rank);
            if rest.contains(&element.columns) {
                rows.push((row as u32, kept as u16, rest));
            }
        });
        let slot = self.elements.insert(element);
        let ids = self.usages.len().max(self.id(slot) as usize + 1);
        self.usages.resize(ids, 0);
        observer.enters(slot);
        self.apply(&rows, rank, observer)
    }

    /// The number of rows that contain an itemset.
    pub(crate) fn support(&self, items: &[u32]) -> u64 {
        let mut support = 0;
        self.uncovered.rows(self.ground, items, usize::MAX, |row| {
            support += self.ground.weights[row];
        });
        support
    }

    /// The rows that contain an item, as bits, if there is a bitmap of them.
    pub(crate) fn rows_of(&self, item: u32) -> Option<&[u64]> {
        self.uncovered.bitmap(item)
    }

    /// Calls back with the rows whose cover has the element.
    fn users(&self, slot: u32, mut tell: impl FnMut(Affected<W>)) {
        let element = self.elements.get(slot);
        let rank = self.elements.rank(slot);
        self.uncovered.rows(self.ground, &element.items, element.items.len() + 1, |row| {
            let (kept, rest) = self.tail(row, rank);
            if self.cover(row).get(kept) == Some(&slot) {
                tell((row as u32, kept as u16, rest));
            }
        });
    }

    /// The bits by which the total size would grow if an element left.
    pub(crate) fn try_remove(&self, slot: u32, scratch: &mut Scratch) -> f64 {
        scratch.deltas.by_id.resize(self.usages.len(), 0);
        let next = self.elements.rank(slot) + 1;
        self.users(slot, |(row, kept, rest)| {
            self.recover(row as usize, kept as usize, rest, next, scratch);
        });
        self.grown(0, 0.0, scratch)
    }

    /// Removes an element; returns the slots whose usage fell, in cover order.
    pub(crate) fn remove(&mut self, slot: u32, observer: &mut impl Observer) -> Vec<u32> {
        let rank = self.elements.rank(slot);
        let mut rows = Vec::new();
        self.users(slot, |row| rows.push(row));
        self.elements.remove(slot);
        let mut fell = self.apply(&rows, rank, observer);
        fell.retain(|&other| other != slot);
        observer.leaves(slot);
        fell
    }

    /// Covers rows again from `rank` on; returns the slots whose usage fell, in cover order.
    fn apply<O: Observer>(
        &mut self,
        rows: &[Affected<W>],
        rank: u32,
        observer: &mut O,
    ) -> Vec<u32> {
        let items = self.ground.items() as u32;
        let Scratch { deltas, offsets, rows: taken } = &mut self.scratch;
        deltas.by_id.resize(self.usages.len(), 0);
        // By column: the length of the element that covers it, before and after.
        let mut lengths = vec![(1, 1); self.ground.width];
        let (mut before, mut after) = (Vec::new(), Vec::new());
        observer.begins(rows.len());
        let ids = |ids: &mut Vec<u32>, cells: &[u32], cover: &[u32], free: Columns<W>| {
            ids.clear();
            ids.extend(cover.iter().map(|slot| items + slot));
            ids.extend(free.iter().map(|column| cells[column]));
        };
        for &(row, kept, rest) in rows {
            let (row, kept) = (row as usize, kept as usize);
            let weight = self.ground.weights[row] as i64;
            let cells = self.ground.row(row);
            if O::SEES_ROWS {
                let cover = &self.covers[row * self.most..][..self.counts[row] as usize];
                ids(&mut before, cells, cover, self.free[row]);
            }
            rest.iter().for_each(|column| lengths[column] = (1, 1));
            for &slot in &self.covers[row * self.most..][kept..self.counts[row] as usize] {
                deltas.add(items + slot, -weight);
                let element = self.elements.get(slot);
                element.columns.iter().for_each(|c| lengths[c].0 = element.items.len());
            }
            taken.clear();
            let left = self.elements.cover(cells, rest, rank, offsets, |slot| taken.push(slot));
            for (i, &slot) in taken.iter().enumerate() {
                deltas.add(items + slot, weight);
                self.covers[row * self.most + kept + i] = slot;
                let element = self.elements.get(slot);
                element.columns.iter().for_each(|c| lengths[c].1 = element.items.len());
            }
            self.free[row].minus(&left).iter().for_each(|c| deltas.add(cells[c], -weight));
            left.minus(&self.free[row]).iter().for_each(|c| deltas.add(cells[c], weight));
            self.counts[row] = (kept + taken.len()) as u16;
            self.free[row] = left;
            if O::SEES_ROWS {
                let cover = &self.covers[row * self.most..][..self.counts[row] as usize];
                ids(&mut after, cells, cover, left);
                observer.row(weight as u64, &before, &after);
            }
            for column in rest.iter() {
                let (old, new) = lengths[column];
                self.uncovered.change(row, cells[column], old, new);
            }
        }
        observer.ends();
        let mut fell = Vec::new();
        for (id, delta) in deltas.drain() {
            let old = self.usages[id as usize];
            let new = old.wrapping_add_signed(delta);
            self.usages[id as usize] = new;
            self.totals.usage = self.totals.usage.wrapping_add_signed(delta);
            self.totals.used += u64::from(new > 0);
            self.totals.used -= u64::from(old > 0);
            if delta < 0 && id >= items {
                fell.push(id - items);
            }
        }
        fell.sort_by_key(|&slot| self.elements.rank(slot));
        fell
    }
}
