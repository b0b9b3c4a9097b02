//! The code table, which is the result of a fit.

use crate::cover::Cover;
use crate::cover::columns::MAX_COLUMNS;
use crate::cover::size::{self, Sizes};
use std::cmp::Reverse;
use table::{Bag, Item};

/// An itemset of a code table.
#[derive(Debug, Clone, PartialEq)]
pub struct Element {
    /// In item order.
    pub items: Vec<Item>,
    /// Rows that contain it.
    pub support: u64,
    /// Rows whose cover has it.
    pub usage: u64,
    /// Bits of its code, -lg(usage / sum of usages); `None` if it is not used.
    pub code_length: Option<f64>,
}

/// The reasons why a fit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// There was no candidate left to try.
    Complete,
    /// The time was over.
    Time,
    /// The memory was used up.
    Memory,
}

/// A code table: itemsets in cover order, with the codes by their usages.
///
/// Cover order is length descending, support descending, item order; every value of every column is in it as a
/// singleton.
#[derive(Debug, Clone, PartialEq)]
pub struct CodeTable {
    /// In cover order; the rank is the position.
    pub elements: Vec<Element>,
    pub sizes: Sizes,
    /// Rows of the data.
    pub rows: u64,
    /// Cells that are NULL, by column; 0 where NULL is an item.
    pub nulls: Vec<u64>,
    /// By column, the code of NULL where NULL is an item: one more than those of the bag's domain.
    pub null_codes: Vec<Option<u32>>,
    /// Candidates tried, and how many of them entered.
    pub seen: u64,
    pub accepted: u64,
    /// Always complete unless candidates are made from pairs.
    pub ended: Ended,
}

impl CodeTable {
    /// The largest number of columns of a table: more than a relation of PostgreSQL has.
    pub const MAX_COLUMNS: usize = MAX_COLUMNS;

    /// The itemsets of two or more items, in cover order.
    pub fn patterns(&self) -> &[Element] {
        &self.elements[..self.elements.partition_point(|e| e.items.len() > 1)]
    }

    /// The average number of elements in the cover of a row.
    pub fn elements_per_row(&self) -> f64 {
        let usage: u64 = self.elements.iter().map(|e| e.usage).sum();
        if self.rows == 0 { 0.0 } else { usage as f64 / self.rows as f64 }
    }

    pub(crate) fn new<const W: usize>(
        cover: &Cover<'_, W>,
        bag: &Bag,
        null_codes: Vec<Option<u32>>,
        (ended, seen, accepted): (Ended, u64, u64),
    ) -> Self {
        let ground = cover.ground;
        let element = |items: &[u32], support: u64, usage: u64| Element {
            items: items.iter().map(|&item| ground.item(item)).collect(),
            support,
            usage,
            code_length: (usage > 0).then(|| (cover.totals.usage as f64 / usage as f64).log2()),
        };
        let mut elements: Vec<Element> = Vec::with_capacity(cover.elements.len() + ground.items());
        elements.extend(cover.elements.order().iter().map(|&slot| {
            let known = cover.elements.get(slot);
            element(&known.items, known.support, cover.usage(slot))
        }));
        let mut singletons: Vec<u32> = (0..ground.items() as u32).collect();
        singletons.sort_by_key(|&item| (Reverse(ground.supports[item as usize]), item));
        elements.extend(singletons.into_iter().map(|item| {
            element(&[item], ground.supports[item as usize], cover.usages[item as usize])
        }));
        let (data_bits, model_bits) = size::encoded(cover.codes());
        let filled: u64 = ground.supports.iter().sum();
        debug_assert!(filled <= bag.row_count() * ground.width as u64);
        let nulls = (0..ground.width)
            .map(|c| {
                let (start, end) = (ground.starts[c] as usize, ground.starts[c + 1] as usize);
                bag.row_count() - ground.supports[start..end].iter().sum::<u64>()
            })
            .collect();
        CodeTable {
            elements,
            sizes: Sizes::new(data_bits, model_bits, ground.standard_bits()),
            rows: bag.row_count(),
            nulls,
            null_codes,
            seen,
            accepted,
            ended,
        }
    }
}
