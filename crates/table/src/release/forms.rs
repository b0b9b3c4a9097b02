//! What is done to a row: which cells are blanked, or filled and with what.

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// Forms, each kept once and known by its number, which follow the order of arrival.
#[derive(Debug, Clone)]
pub(super) struct Forms {
    words: usize,
    /// The cells that a form changes: bit `c % 64` of word `c / 64` for column `c`.
    masks: Vec<u64>,
    /// The codes that the changed cells get, in order of the columns; none if they are blanked.
    fills: Vec<u32>,
    /// Where the fills of each form end.
    ends: Vec<usize>,
    index: HashTable<u32>,
    hasher: RandomState,
}

impl Forms {
    pub fn new(width: usize) -> Self {
        Forms {
            words: width.div_ceil(64),
            masks: Vec::new(),
            fills: Vec::new(),
            ends: Vec::new(),
            index: HashTable::new(),
            hasher: RandomState::default(),
        }
    }

    pub fn words(&self) -> usize {
        self.words
    }

    /// The changed cells of a form.
    #[inline]
    pub fn mask(&self, form: u32) -> &[u64] {
        mask(&self.masks, self.words, form)
    }

    /// The codes that the changed cells of a form get; empty if they are blanked.
    #[inline]
    pub fn fills(&self, form: u32) -> &[u32] {
        fills(&self.fills, &self.ends, form)
    }

    /// True if any form fills cells.
    pub fn fill(&self) -> bool {
        !self.fills.is_empty()
    }

    /// The number of a form, which is added if it is new.
    pub fn intern(&mut self, new_mask: &[u64], new_fills: &[u32]) -> u32 {
        let Forms { words, masks, fills: all, ends, index, hasher } = self;
        let hash = |mask: &[u64], fills: &[u32]| hasher.hash_one((mask, fills));
        let own = |form: u32| (mask(masks, *words, form), fills(all, ends, form));
        let found =
            index.find(hash(new_mask, new_fills), |&form| own(form) == (new_mask, new_fills));
        if let Some(&form) = found {
            return form;
        }
        let form = ends.len() as u32;
        index.insert_unique(hash(new_mask, new_fills), form, |&form| {
            let (mask, fills) = own(form);
            hash(mask, fills)
        });
        masks.extend_from_slice(new_mask);
        all.extend_from_slice(new_fills);
        ends.push(all.len());
        form
    }

    pub fn memory(&self) -> usize {
        (self.masks.capacity() + self.ends.capacity()) * 8
            + self.fills.capacity() * 4
            + self.index.allocation_size()
    }
}

/// Equal if they have the same forms under the same numbers.
impl PartialEq for Forms {
    fn eq(&self, other: &Self) -> bool {
        (self.words, &self.masks, &self.fills, &self.ends)
            == (other.words, &other.masks, &other.fills, &other.ends)
    }
}

impl Eq for Forms {}

#[inline]
fn mask(masks: &[u64], words: usize, form: u32) -> &[u64] {
    &masks[form as usize * words..][..words]
}

#[inline]
fn fills<'a>(all: &'a [u32], ends: &[usize], form: u32) -> &'a [u32] {
    let begin = if form == 0 { 0 } else { ends[form as usize - 1] };
    &all[begin..ends[form as usize]]
}
