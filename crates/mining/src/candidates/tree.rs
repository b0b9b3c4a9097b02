//! A prefix tree of itemsets with supports.

use table::{Item, Stop};

/// The parent of a node of depth 1.
pub(crate) const NO_NODE: u32 = u32::MAX;

/// An itemset: that of the parent and one more item.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Link {
    pub parent: u32,
    pub item: u32,
}

/// Support and length as one number: larger ones come first in candidate order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Keys {
    length_bits: u32,
}

impl Keys {
    /// For itemsets over this many columns.
    pub(crate) fn new(width: usize) -> Self {
        Keys { length_bits: usize::BITS - width.leading_zeros() }
    }

    #[inline]
    pub(crate) fn key(self, support: u64, length: usize) -> u64 {
        support.min(u64::MAX >> self.length_bits) << self.length_bits | length as u64
    }

    pub(crate) fn support(self, key: u64) -> u64 {
        key >> self.length_bits
    }

    pub(crate) fn length(self, key: u64) -> usize {
        (key & ((1 << self.length_bits) - 1)) as usize
    }
}

/// Itemsets in depth-first order, which is item order: an itemset comes after its prefixes and before its successors.
#[derive(Default)]
pub(crate) struct Tree {
    pub items: Vec<Item>,
    pub links: Vec<Link>,
    /// See [`Keys`].
    pub keys: Vec<u64>,
}

impl Tree {
    pub(crate) const LINK_BYTES: u64 = size_of::<Link>() as u64;
    pub(crate) const KEY_BYTES: u64 = 8;
    pub(crate) const NODE_BYTES: u64 = Tree::LINK_BYTES + Tree::KEY_BYTES;

    /// Fails if there are more nodes than numbers for them.
    pub(crate) fn check(nodes: usize) -> Result<(), Stop> {
        let limit = u64::from(NO_NODE);
        if nodes as u64 > limit { Err(Stop::Itemsets { limit }) } else { Ok(()) }
    }
}
