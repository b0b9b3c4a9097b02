//! Hierarchies while they are built: level upon level, each from the nodes of the one below, so that values
//! that share a node share everything above it.
//!
//! [`Growing`] builds up levels, [`Tree`] is a tree of names, [`Unit`] a unit of the calendar; [`covered`] is the loss
//! of a range.

mod tree;
mod unit;

pub use tree::{Tree, TreeFault};
pub use unit::{Length, Unit};

use crate::{Fault, General, Hierarchy};
use std::collections::HashMap;
use std::hash::Hash;
use table::Domain;

/// The loss of showing a range in place of a value: the share of the domain that it covers. Only the part of the range
/// within the domain counts; for a domain of one value the loss is 0.
pub fn covered(range: (f64, f64), domain: (f64, f64)) -> f64 {
    let width = domain.1 - domain.0;
    let covered = range.1.min(domain.1) - range.0.max(domain.0);
    if width > 0.0 { (covered / width).clamp(0.0, 1.0) } else { 0.0 }
}

/// The levels so far.
#[derive(Debug, Default)]
pub struct Growing {
    /// By level above 0 and code: the node.
    levels: Vec<Vec<Option<u32>>>,
    /// By level and node.
    general: Vec<Vec<General>>,
}

impl Growing {
    /// Adds a level: the first one by the nodes of the values, others by the parents of the nodes below.
    pub fn add(&mut self, nodes: Vec<Option<u32>>, general: Vec<General>) {
        let of_values = match self.levels.last() {
            None => nodes,
            Some(below) => below.iter().map(|node| nodes[(*node)? as usize]).collect(),
        };
        self.levels.push(of_values);
        self.general.push(general);
    }

    /// Sets the loss of each node of the last level to the share of the domain's values below it, or to 0 if it shows
    /// its only value.
    pub fn lose_values(&mut self, domain: &Domain) {
        let Some((of_values, general)) = self.levels.last().zip(self.general.last_mut()) else {
            return;
        };
        let mut found: Vec<(u64, u32)> = vec![(0, 0); general.len()];
        for (code, node) in of_values.iter().enumerate() {
            if let Some(node) = node {
                let (count, last) = &mut found[*node as usize];
                (*count, *last) = (*count + 1, code as u32);
            }
        }
        for (general, (count, last)) in general.iter_mut().zip(found) {
            let is_the_value = count == 1 && domain.value(last) == general.text;
            general.loss = if is_the_value { 0.0 } else { count as f64 / domain.len() as f64 };
        }
    }

    /// The hierarchy of the domain whose values these are.
    pub fn finish(self, domain: &Domain) -> Result<Hierarchy, Fault> {
        let Growing { levels, general } = self;
        Hierarchy::new(domain, &levels, |below, node: u32| general[below][node as usize].clone())
    }
}

/// Keys by number, in the order of their first occurrence.
#[derive(Debug)]
pub struct Numbered<K> {
    numbers: HashMap<K, u32>,
    pub keys: Vec<K>,
}

impl<K> Default for Numbered<K> {
    fn default() -> Self {
        Numbered { numbers: HashMap::new(), keys: Vec::new() }
    }
}

impl<K: Hash + Eq + Clone> Numbered<K> {
    pub fn number(&mut self, key: K) -> u32 {
        let keys = &mut self.keys;
        *self.numbers.entry(key).or_insert_with_key(|key| {
            keys.push(key.clone());
            keys.len() as u32 - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use table::Bag;

    #[test]
    fn a_range_loses_what_it_covers_of_the_domain() {
        // Ages 17 to 90: 35..39 covers 4 of 73 years, 15..19 only the part from 17 on.
        assert_eq!(covered((35.0, 39.0), (17.0, 90.0)), 4.0 / 73.0);
        assert_eq!(covered((15.0, 19.0), (17.0, 90.0)), 2.0 / 73.0);
        assert_eq!(covered((80.0, 99.0), (17.0, 90.0)), 10.0 / 73.0);
        assert_eq!(covered((0.0, 99.0), (17.0, 90.0)), 1.0);
        assert_eq!(covered((0.0, 9.0), (17.0, 90.0)), 0.0);
        assert_eq!(covered((0.0, 9.0), (5.0, 5.0)), 0.0);
    }

    #[test]
    fn levels_are_put_upon_levels() {
        let bag = Bag::from_text(1, ["1", "1017", "1018", "2000"].map(|value| [Some(value)]));
        let domain = bag.domain(0);
        let general = |text: &str| General { text: text.into(), loss: 0.0 };
        let mut growing = Growing::default();
        let texts = ["1", "101*", "200*"];
        growing.add(vec![Some(0), Some(1), Some(1), Some(2)], texts.map(general).to_vec());
        growing.lose_values(domain);
        growing.add(vec![None, Some(0), Some(0)], vec![general("****")]);
        growing.lose_values(domain);
        let hierarchy = growing.finish(domain).unwrap();
        let losses = |level| (0..4).map(|code| hierarchy.loss(code, level)).collect::<Vec<_>>();
        assert_eq!(losses(1), [0.0, 0.5, 0.5, 0.25]);
        assert_eq!(losses(2), [1.0, 0.75, 0.75, 0.75]);
    }
}
