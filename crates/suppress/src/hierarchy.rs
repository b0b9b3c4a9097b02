//! Hierarchies: the general values that a column's values can be shown as.

use std::collections::HashMap;
use std::hash::Hash;
use table::{Domain, NONE};

/// A general value of a column, as given to build a [`Hierarchy`].
#[derive(Debug, Clone, PartialEq)]
pub struct General {
    /// The text that is shown for a cell. Different general values may look alike: the year 1987 and its first month
    /// are both shown as 1987-01-01.
    pub text: Vec<u8>,
    /// The loss of a cell that is shown so, from 0 (none) to 1 (that of a blank cell).
    pub loss: f64,
}

/// Why levels are not a hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Two values share a general value, but not the one above it: the codes of both values, and the level above.
    Crossing { values: [u32; 2], level: usize },
    /// A value has a general value above a level at which it has none.
    Gap { value: u32, level: usize },
}

/// The hierarchy of a column over the values that a bag has: a tree whose leaves are the values and whose
/// root is the blank cell. Level 0 shows a value itself, level `i` its ancestor, and the level after the
/// last nothing.
///
/// `src/api/release/hierarchy` builds one from what is declared; local recoding, whole columns at a level and
/// information loss use it. What is shown is a *shown code*: a code of the column's domain, or the number
/// of values plus the place in [`Hierarchy::texts`]. Two nodes that look alike have one shown code, so that
/// equality of shown codes is equality for the reader of a release.
#[derive(Debug, Clone, PartialEq)]
pub struct Hierarchy {
    values: usize,
    /// By level above 0 and code: the node, or [`NONE`] where the value is blanked.
    levels: Vec<Vec<u32>>,
    nodes: Vec<Node>,
    /// The texts of shown codes that are not values of the domain.
    texts: Vec<Vec<u8>>,
}

/// A general value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Node {
    /// The loss of a cell that is shown as this.
    pub loss: f64,
    /// What is shown.
    pub shown: u32,
    /// The level of the node, counted from 1.
    pub level: u32,
}

impl Hierarchy {
    /// The most levels between a value and the blank cell: searches keep a level, these two included, in a byte.
    pub const MOST_LEVELS: usize = 254;

    /// A column with this number of values, whose cells can only be shown or blanked.
    pub fn flat(values: usize) -> Self {
        Hierarchy { values, levels: Vec::new(), nodes: Vec::new(), texts: Vec::new() }
    }

    /// The hierarchy of a domain. `levels[i][code]` is the general value of a value at level `i + 1`, identified by a
    /// key that no other general value of that level has; `None` from the level on at which the value is blanked.
    /// `general` returns the text and the loss of each; a level never loses less than the one below it.
    pub fn new<K: Hash + Eq + Copy>(
        domain: &Domain,
        levels: &[Vec<Option<K>>],
        general: impl Fn(usize, K) -> General,
    ) -> Result<Self, Fault> {
        let mut hierarchy = Hierarchy::flat(domain.len());
        let mut shown: HashMap<Vec<u8>, u32> = HashMap::new();
        for (below, keys) in levels.iter().enumerate() {
            let mut numbers: HashMap<K, u32> = HashMap::new();
            let mut of_value = vec![NONE; domain.len()];
            for (code, key) in keys.iter().enumerate() {
                let Some(key) = *key else { continue };
                of_value[code] = *numbers.entry(key).or_insert_with(|| {
                    let General { text, loss } = general(below, key);
                    let texts = &mut hierarchy.texts;
                    let shown = domain.find(&text).unwrap_or_else(|| {
                        *shown.entry(text).or_insert_with_key(|text| {
                            texts.push(text.clone());
                            (domain.len() + texts.len() - 1) as u32
                        })
                    });
                    let level = below as u32 + 1;
                    hierarchy.nodes.push(Node { loss: loss.clamp(0.0, 1.0), shown, level });
                    hierarchy.nodes.len() as u32 - 1
                });
            }
            hierarchy.check_nested(below, &of_value)?;
            hierarchy.levels.push(of_value);
        }
        hierarchy.let_losses_grow();
        hierarchy.sort_texts();
        Ok(hierarchy)
    }

    /// Checks that values that share a node also share the node above it.
    fn check_nested(&self, below: usize, above: &[u32]) -> Result<(), Fault> {
        let Some(lower) = below.checked_sub(1).map(|below| &self.levels[below]) else {
            return Ok(());
        };
        let mut first_of: HashMap<u32, u32> = HashMap::new();
        for (value, &node) in lower.iter().enumerate() {
            let value = value as u32;
            if node == NONE {
                if above[value as usize] != NONE {
                    return Err(Fault::Gap { value, level: below });
                }
                continue;
            }
            let first = *first_of.entry(node).or_insert(value);
            if above[first as usize] != above[value as usize] {
                return Err(Fault::Crossing { values: [first, value], level: below + 1 });
            }
        }
        Ok(())
    }

    /// Corrects rounding: a node loses at least as much as the nodes below it.
    fn let_losses_grow(&mut self) {
        for above in 1..self.levels.len() {
            for code in 0..self.values {
                let (low, high) = (self.levels[above - 1][code], self.levels[above][code]);
                if high != NONE {
                    let loss = self.nodes[low as usize].loss;
                    let high = &mut self.nodes[high as usize];
                    high.loss = high.loss.max(loss);
                }
            }
        }
    }

    /// Numbers the texts in their order: releases are sorted by shown codes.
    fn sort_texts(&mut self) {
        let mut order: Vec<usize> = (0..self.texts.len()).collect();
        order.sort_unstable_by(|&a, &b| self.texts[a].cmp(&self.texts[b]));
        let mut numbers = vec![0; order.len()];
        for (number, &text) in order.iter().enumerate() {
            numbers[text] = (self.values + number) as u32;
        }
        for node in &mut self.nodes {
            if let Some(text) = (node.shown as usize).checked_sub(self.values) {
                node.shown = numbers[text];
            }
        }
        self.texts.sort_unstable();
    }

    /// The number of values of the domain.
    pub fn values(&self) -> usize {
        self.values
    }

    /// The number of levels between the value itself and the blank cell.
    pub fn height(&self) -> usize {
        self.levels.len()
    }

    /// All general values; a node is known by its place here.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The node that shows a value at a level from 1 to the height; [`NONE`] if it is blanked there.
    #[inline]
    pub fn node(&self, code: u32, level: usize) -> u32 {
        self.levels[level - 1][code as usize]
    }

    /// The texts of the shown codes from [`Hierarchy::values`] on.
    pub fn texts(&self) -> &[Vec<u8>] {
        &self.texts
    }

    /// What is shown of a cell at a level; [`NONE`] if nothing, as of a NULL cell and above the height.
    #[inline]
    pub fn shown(&self, code: u32, level: usize) -> u32 {
        match level {
            _ if code == NONE => NONE,
            0 => code,
            level if level > self.height() => NONE,
            level => match self.node(code, level) {
                NONE => NONE,
                node => self.nodes[node as usize].shown,
            },
        }
    }

    /// What a cell loses at a level (NCP, section 21 of the mechanisms): 0 for the value itself and for
    /// a NULL cell, which had nothing to lose, 1 where it is blanked.
    #[inline]
    pub fn loss(&self, code: u32, level: usize) -> f64 {
        match level {
            0 => 0.0,
            _ if code == NONE => 0.0,
            level if level > self.height() => 1.0,
            level => match self.node(code, level) {
                NONE => 1.0,
                node => self.nodes[node as usize].loss,
            },
        }
    }

    /// By shown code, the values below all general values that are shown so.
    pub fn leaves(&self) -> HashMap<u32, Vec<u32>> {
        let mut leaves: HashMap<u32, Vec<u32>> = HashMap::new();
        for level in &self.levels {
            for (&node, code) in level.iter().zip(0..) {
                if node != NONE {
                    leaves.entry(self.nodes[node as usize].shown).or_default().push(code);
                }
            }
        }
        leaves
    }

    /// The bytes held.
    pub fn memory(&self) -> u64 {
        let texts: usize = self.texts.iter().map(|text| text.capacity() + 24).sum();
        let levels: usize = self.levels.iter().map(|level| level.capacity() * 4).sum();
        (texts + levels + self.nodes.capacity() * size_of::<Node>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use table::Bag;

    fn ages() -> Bag {
        Bag::from_text(1, ["20", "21", "25", "33", "x"].map(|value| [Some(value)]))
    }

    fn by_width(bag: &Bag, widths: &[u32]) -> Result<Hierarchy, Fault> {
        let number = |text: &[u8]| std::str::from_utf8(text).unwrap().parse::<u32>().ok();
        let levels: Vec<Vec<Option<u32>>> = widths
            .iter()
            .map(|width| bag.domain(0).values().map(|v| Some(number(v)? / width * width)).collect())
            .collect();
        let general = |below: usize, key: u32| General {
            text: key.to_string().into_bytes(),
            loss: f64::from(widths[below]) / 100.0,
        };
        Hierarchy::new(bag.domain(0), &levels, general)
    }

    #[test]
    fn values_are_shown_at_each_level() {
        let bag = ages();
        let hierarchy = by_width(&bag, &[5, 10, 20]).unwrap();
        let shown =
            |code: u32| (0..5).map(|level| hierarchy.shown(code, level)).collect::<Vec<_>>();
        // 30 is shown although no row has it; 20 is a value and looks like the ranges that begin there.
        assert_eq!(hierarchy.texts(), [b"30".to_vec()]);
        assert_eq!(shown(1), [1, 0, 0, 0, NONE]);
        assert_eq!(shown(2), [2, 2, 0, 0, NONE]);
        assert_eq!(shown(3), [3, 5, 5, 0, NONE]);
        assert_eq!(shown(4), [4, NONE, NONE, NONE, NONE]);
        assert_eq!(shown(NONE), [NONE; 5]);
        let loss = |code: u32| (0..5).map(|level| hierarchy.loss(code, level)).collect::<Vec<_>>();
        assert_eq!(loss(1), [0.0, 0.05, 0.1, 0.2, 1.0]);
        assert_eq!(loss(4), [0.0, 1.0, 1.0, 1.0, 1.0]);
        assert_eq!(loss(NONE), [0.0; 5]);
        assert_eq!((hierarchy.height(), hierarchy.nodes().len()), (3, 6));
        // Shown codes are in the order of the texts, independent of their levels.
        let rows = ["31", "42", "47"].map(|value| [Some(value)]);
        let hierarchy = by_width(&Bag::from_text(1, rows), &[5, 30]).unwrap();
        assert_eq!(hierarchy.texts(), [b"30".to_vec(), b"40".to_vec(), b"45".to_vec()]);
        assert_eq!([0, 1, 2].map(|code| hierarchy.shown(code, 1)), [3, 4, 5]);
        assert_eq!([0, 1, 2].map(|code| hierarchy.shown(code, 2)), [3, 3, 3]);
    }

    #[test]
    fn levels_are_nested() {
        let bag = ages();
        // 20 and 24 share 20..24, but 14..20 ends between them.
        let rows = ["20", "24", "31"].map(|value| [Some(value)]);
        let found = by_width(&Bag::from_text(1, rows), &[5, 7]);
        assert_eq!(found, Err(Fault::Crossing { values: [0, 1], level: 2 }));
        let levels = [vec![None; 5], vec![None, Some(1), None, None, None]];
        let general = |_: usize, _: i32| General { text: b"g".to_vec(), loss: 0.5 };
        let found = Hierarchy::new(bag.domain(0), &levels, general);
        assert_eq!(found, Err(Fault::Gap { value: 1, level: 1 }));
    }

    #[test]
    fn losses_grow() {
        let bag = ages();
        let levels = [vec![Some(1); 5], vec![Some(2); 5]];
        let general = |below: usize, _: i32| General { text: vec![], loss: [0.7, 0.4][below] };
        let hierarchy = Hierarchy::new(bag.domain(0), &levels, general).unwrap();
        assert_eq!((hierarchy.loss(0, 1), hierarchy.loss(0, 2)), (0.7, 0.7));
    }
}
