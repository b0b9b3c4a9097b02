//! The itemsets of a code table in cover order, and the search for those that fit the uncovered rest of a row.

use crate::cover::columns::Columns;
use std::cmp::{Ordering, Reverse};
use table::{BitSets, NONE};

/// The number of words of bit sets that are intersected together.
const LANES: usize = 4;

/// An itemset of two or more items.
#[derive(Debug, Clone)]
pub(crate) struct Element<const W: usize> {
    /// Item numbers, ascending.
    pub items: Vec<u32>,
    pub columns: Columns<W>,
    pub support: u64,
    /// The length in bits of its items in the standard code.
    pub standard: f64,
}

impl<const W: usize> Element<W> {
    /// Cover order: longer ones first, then higher support, then item order.
    pub(crate) fn cover_order(&self, other: &Self) -> Ordering {
        let key = |e: &Self| (Reverse(e.items.len()), Reverse(e.support));
        key(self).cmp(&key(other)).then_with(|| self.items.cmp(&other.items))
    }
}

/// The non-singletons of a code table.
///
/// An element keeps its slot; its rank in cover order changes as others enter and leave. For each column there is a
/// bit set over the ranks of the elements that do not use it, and for each item one of the elements that do not
/// contradict it. The elements that fit a set of items are the intersection, over all columns, of the item's set
/// where there is an item and of the column's set where there is none: some ten words per column instead of a walk
/// over all elements.
pub(crate) struct Elements<const W: usize> {
    width: usize,
    slots: Vec<Element<W>>,
    unused: Vec<u32>,
    /// Slots by rank.
    order: Vec<u32>,
    /// Ranks by slot.
    ranks: Vec<u32>,
    /// By length: the first rank whose element is not longer, up to the length of the widest row.
    first: Vec<u32>,
    /// Sets of ranks: first one per column, then one per item that has its own.
    sets: BitSets,
    /// The bit set of each item: its column's until an element contains the item.
    set_of: Vec<u32>,
    column_of: Vec<u32>,
}

impl<const W: usize> Elements<W> {
    pub(crate) fn new(width: usize, column_of: &[u32]) -> Self {
        Elements {
            width,
            slots: Vec::new(),
            unused: Vec::new(),
            order: Vec::new(),
            ranks: Vec::new(),
            first: vec![0; width + 2],
            sets: BitSets::new(width, LANES * 64),
            set_of: column_of.to_vec(),
            column_of: column_of.to_vec(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    #[inline]
    pub(crate) fn get(&self, slot: u32) -> &Element<W> {
        &self.slots[slot as usize]
    }

    #[inline]
    pub(crate) fn rank(&self, slot: u32) -> u32 {
        self.ranks[slot as usize]
    }

    /// Slots in cover order.
    pub(crate) fn order(&self) -> &[u32] {
        &self.order
    }

    /// The rank that an element would get.
    pub(crate) fn place(&self, element: &Element<W>) -> u32 {
        self.order.partition_point(|&slot| self.get(slot).cover_order(element).is_lt()) as u32
    }

    /// True if the element at a rank has the same items.
    pub(crate) fn is_at(&self, element: &Element<W>, rank: u32) -> bool {
        self.order.get(rank as usize).is_some_and(|&slot| self.get(slot).items == element.items)
    }

    /// The first rank after the elements that have at least this length.
    #[inline]
    pub(crate) fn after_length(&self, length: usize) -> u32 {
        self.first[length - 1]
    }

    /// Adds an element and returns its slot.
    pub(crate) fn insert(&mut self, element: Element<W>) -> u32 {
        let rank = self.place(&element) as usize;
        if self.len() + 1 > self.sets.stride() * 64 {
            self.sets.double();
        }
        for &item in &element.items {
            if self.set_of[item as usize] == self.column_of[item as usize] {
                let column = self.column_of[item as usize] as usize;
                self.set_of[item as usize] = self.sets.push_copy(column) as u32;
            }
        }
        self.sets.open(rank);
        for column in (0..self.width).filter(|&c| !element.columns.has(c)) {
            self.sets.insert(column, rank);
        }
        for item in 0..self.set_of.len() {
            let (set, column) = (self.set_of[item], self.column_of[item]);
            if set != column && !element.columns.has(column as usize) {
                self.sets.insert(set as usize, rank);
            }
        }
        for &item in &element.items {
            self.sets.insert(self.set_of[item as usize] as usize, rank);
        }
        self.first.iter_mut().take(element.items.len()).for_each(|first| *first += 1);
        let slot = match self.unused.pop() {
            Some(slot) => {
                self.slots[slot as usize] = element;
                slot
            }
            None => {
                self.slots.push(element);
                self.ranks.push(NONE);
                self.slots.len() as u32 - 1
            }
        };
        self.order.insert(rank, slot);
        self.renumber(rank);
        slot
    }

    /// Removes an element. Its slot will be used again.
    pub(crate) fn remove(&mut self, slot: u32) {
        let rank = self.ranks[slot as usize] as usize;
        self.sets.close(rank);
        let length = self.slots[slot as usize].items.len();
        self.first.iter_mut().take(length).for_each(|first| *first -= 1);
        self.order.remove(rank);
        self.ranks[slot as usize] = NONE;
        self.renumber(rank);
        self.unused.push(slot);
    }

    fn renumber(&mut self, from: usize) {
        for (rank, &slot) in self.order.iter().enumerate().skip(from) {
            self.ranks[slot as usize] = rank as u32;
        }
    }

    /// Covers `rest`, columns of the row of items `cells`, with the elements from rank `from` on: calls back with
    /// each slot that is taken, in cover order, and returns the uncovered columns.
    #[inline]
    pub(crate) fn cover(
        &self,
        cells: &[u32],
        rest: Columns<W>,
        from: u32,
        offsets: &mut Vec<usize>,
        mut take: impl FnMut(u32),
    ) -> Columns<W> {
        let mut rest = rest;
        let mut from = (from as usize).max(self.first[rest.len()] as usize);
        if rest.len() < 2 || from >= self.len() {
            return rest;
        }
        let (words, stride) = (self.sets.words(), self.sets.stride());
        offsets.clear();
        offsets.extend(cells.iter().enumerate().map(|(column, &item)| {
            let set = if rest.has(column) { self.set_of[item as usize] as usize } else { column };
            set * stride
        }));
        let end = self.len();
        let mut group = from / (64 * LANES) * LANES;
        while group * 64 < end {
            let mut fit = [u64::MAX; LANES];
            for &offset in offsets.iter() {
                let here = &words[offset + group..offset + group + LANES];
                for (fit, word) in fit.iter_mut().zip(here) {
                    *fit &= word;
                }
            }
            for lane in 0..LANES {
                let base = (group + lane) * 64;
                loop {
                    if base + 64 <= from {
                        break;
                    }
                    let mut word = fit[lane];
                    if from > base {
                        word &= u64::MAX << (from - base);
                    }
                    if word == 0 {
                        break;
                    }
                    let rank = base + word.trailing_zeros() as usize;
                    let slot = self.order[rank];
                    take(slot);
                    let taken = self.slots[slot as usize].columns;
                    rest = rest.minus(&taken);
                    if rest.len() < 2 {
                        return rest;
                    }
                    for column in taken.iter() {
                        let offset = column * stride;
                        offsets[column] = offset;
                        for (fit, word) in fit.iter_mut().zip(&words[offset + group..][..LANES]) {
                            *fit &= word;
                        }
                    }
                    from = (rank + 1).max(self.first[rest.len()] as usize);
                }
            }
            group += LANES;
            let skip = from / (64 * LANES) * LANES;
            group = group.max(skip);
        }
        rest
    }
}
