//! The forms of released rows: which cells are blanked, or filled and with what.

use crate::{BitSets, Index};

/// Forms, each kept once and identified by its number, in the order of arrival.
#[derive(Debug, Clone)]
pub(super) struct Forms {
    /// The columns of the cells that a form changes.
    masks: BitSets,
    /// The codes that the changed cells get, in order of the columns; none if the form blanks them.
    fills: Vec<u32>,
    /// The end of the fills of each form.
    ends: Vec<usize>,
    index: Index,
}

impl Forms {
    pub fn new(width: usize) -> Self {
        Forms {
            masks: BitSets::new(0, width),
            fills: Vec::new(),
            ends: Vec::new(),
            index: Index::new(),
        }
    }

    pub fn words(&self) -> usize {
        self.masks.stride()
    }

    /// The changed cells of a form.
    #[inline]
    pub fn mask(&self, form: u32) -> &[u64] {
        self.masks.set(form as usize)
    }

    /// The codes that the changed cells of a form get; empty if the form blanks them.
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
        let Forms { masks, fills: all, ends, index } = self;
        let own = |form: u32| (masks.set(form as usize), fills(all, ends, form));
        index.number((new_mask, new_fills), own).unwrap_or_else(|new| {
            masks.push(new_mask);
            all.extend_from_slice(new_fills);
            ends.push(all.len());
            new
        })
    }

    pub fn memory(&self) -> usize {
        self.masks.memory()
            + self.ends.capacity() * 8
            + self.fills.capacity() * 4
            + self.index.memory()
    }
}

/// Equal if they have the same forms under the same numbers.
impl PartialEq for Forms {
    fn eq(&self, other: &Self) -> bool {
        (&self.masks, &self.fills, &self.ends) == (&other.masks, &other.fills, &other.ends)
    }
}

impl Eq for Forms {}

#[inline]
fn fills<'a>(all: &'a [u32], ends: &[usize], form: u32) -> &'a [u32] {
    let begin = if form == 0 { 0 } else { ends[form as usize - 1] };
    &all[begin..ends[form as usize]]
}
