//! Trees of names.

use super::{Growing, Numbered};
use crate::General;
use std::collections::{HashMap, HashSet};
use table::Domain;

/// The name above each name, level by level; `None`: only the blank cell is above it. Names are texts as the column
/// writes them, in the encoding of its domain.
#[derive(Debug, Clone)]
pub struct Tree {
    levels: Vec<HashMap<Vec<u8>, Option<Vec<u8>>>>,
}

/// Why names are not a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeFault {
    /// A name of a level (0: a value) is below two others.
    TwoAbove { name: Vec<u8>, level: usize, above: [Option<Vec<u8>>; 2] },
    /// A level blanks all values.
    Blank { level: usize },
    /// A level shows the same as the one below.
    Equal { level: usize },
    /// A level has a parent for a name that the level below does not have.
    Unreached { name: Vec<u8>, level: usize },
}

impl Tree {
    /// A tree with this number of levels, without names.
    pub fn new(height: usize) -> Self {
        Tree { levels: vec![HashMap::new(); height] }
    }

    /// The number of levels.
    pub fn height(&self) -> usize {
        self.levels.len()
    }

    /// The parents of the names of a level; level 0 has the values.
    pub fn above(&self, level: usize) -> &HashMap<Vec<u8>, Option<Vec<u8>>> {
        &self.levels[level]
    }

    /// Puts a name of a level below another.
    pub fn put(
        &mut self,
        level: usize,
        name: &[u8],
        above: Option<&[u8]>,
    ) -> Result<(), TreeFault> {
        match self.levels[level].get(name) {
            None => {
                self.levels[level].insert(name.to_vec(), above.map(<[u8]>::to_vec));
                Ok(())
            }
            Some(before) if before.as_deref() == above => Ok(()),
            Some(before) => Err(TreeFault::TwoAbove {
                name: name.to_vec(),
                level,
                above: [before.clone(), above.map(<[u8]>::to_vec)],
            }),
        }
    }

    /// Every level shows something else than the one below, and every name is above some value.
    pub fn check(&self) -> Result<(), TreeFault> {
        for (below, names) in self.levels.iter().enumerate() {
            let level = below + 1;
            if names.values().all(Option::is_none) {
                return Err(TreeFault::Blank { level });
            }
            if names.iter().all(|(name, above)| above.as_ref() == Some(name)) {
                return Err(TreeFault::Equal { level });
            }
            if below > 0 {
                let reached: HashSet<&Vec<u8>> =
                    self.levels[below - 1].values().flatten().collect();
                let unreached = names.keys().filter(|name| !reached.contains(name)).min();
                if let Some(name) = unreached {
                    return Err(TreeFault::Unreached { name: name.clone(), level });
                }
            }
        }
        Ok(())
    }

    /// The levels over the values of a domain. The loss of a node is the share of the values below it among all values
    /// of the tree or the domain, or 0 if it shows its only value.
    pub fn grow(&self, domain: &Domain) -> Growing {
        let mut growing = Growing::default();
        let Some(first) = self.levels.first() else { return growing };
        let strangers = domain.values().filter(|value| !first.contains_key(*value)).count();
        let total = (first.len() + strangers) as f64;
        // The name above each value of the tree, level by level, and above each of the domain.
        let mut paths: Vec<(&[u8], &[u8])> =
            first.keys().map(|value| (value.as_slice(), value.as_slice())).collect();
        let mut below: Vec<&[u8]> = domain.values().collect();
        for names in &self.levels {
            let above = |name: &[u8]| names.get(name)?.as_deref();
            let mut leaves: HashMap<&[u8], (u64, &[u8])> = HashMap::new();
            paths.retain_mut(|(value, name)| match above(name) {
                Some(parent) => {
                    *name = parent;
                    let (count, last) = leaves.entry(parent).or_insert((0, value));
                    (*count, *last) = (*count + 1, *value);
                    true
                }
                None => false,
            });
            let mut nodes = Numbered::default();
            let parents = below.iter().map(|name| Some(nodes.number(above(name)?))).collect();
            let general = |name: &&[u8]| {
                let (count, leaf) = leaves.get(name).copied().unwrap_or((1, name));
                let is_the_value = count == 1 && leaf == *name;
                let loss = if is_the_value { 0.0 } else { count as f64 / total };
                General { text: name.to_vec(), loss }
            };
            growing.add(parents, nodes.keys.iter().map(general).collect());
            below = nodes.keys;
        }
        growing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use table::{Bag, NONE};

    fn tree(levels: &[&[(&str, Option<&str>)]]) -> Result<Tree, TreeFault> {
        let mut tree = Tree::new(levels.len());
        for (level, names) in levels.iter().enumerate() {
            for (name, above) in *names {
                tree.put(level, name.as_bytes(), above.map(str::as_bytes))?;
            }
        }
        tree.check().map(|()| tree)
    }

    #[test]
    fn what_is_no_tree_is_told() {
        let france = Some("France");
        let found =
            tree(&[&[("Paris", france), ("Rome", Some("Italy")), ("Paris", Some("Texas"))]]);
        let above = [Some(b"France".to_vec()), Some(b"Texas".to_vec())];
        assert_eq!(
            found.err(),
            Some(TreeFault::TwoAbove { name: b"Paris".to_vec(), level: 0, above })
        );
        let found = tree(&[&[("Paris", france)], &[("France", Some("France"))]]);
        assert_eq!(found.err(), Some(TreeFault::Equal { level: 2 }));
        let found = tree(&[&[("Paris", france)], &[("France", None)]]);
        assert_eq!(found.err(), Some(TreeFault::Blank { level: 2 }));
        let found = tree(&[&[("Paris", france)], &[("Frnace", Some("Europe"))]]);
        assert_eq!(found.err(), Some(TreeFault::Unreached { name: b"Frnace".to_vec(), level: 2 }));
    }

    #[test]
    fn leaves_are_counted_whether_or_not_somebody_has_them() {
        let names = [("a", Some("x")), ("b", Some("x")), ("c", Some("x")), ("d", Some("d"))];
        let tree = tree(&[&names, &[("x", Some("top"))]]).unwrap();
        let bag = Bag::from_text(1, ["a", "d", "stranger"].map(|value| [Some(value)]));
        let hierarchy = tree.grow(bag.domain(0)).finish(bag.domain(0)).unwrap();
        let losses = |code| (0..4).map(|level| hierarchy.loss(code, level)).collect::<Vec<_>>();
        // a, b, c and d are in the tree, the value that is not in the tree is a leaf of its own.
        assert_eq!(losses(0), [0.0, 0.6, 0.6, 1.0]);
        assert_eq!(losses(1), [0.0, 0.0, 1.0, 1.0]);
        assert_eq!(losses(2), [0.0, 1.0, 1.0, 1.0]);
    }

    proptest! {
        /// Walking up name by name gives what the hierarchy shows, and counting gives its losses.
        #[test]
        fn growing_is_walking_up(
            maps in prop::collection::vec(prop::collection::vec(prop::option::of(0u8..5), 9), 1..4),
            values in prop::collection::btree_set(0u8..12, 1..12),
        ) {
            let name = |level: usize, i: u8| format!("{}{i}", ["v", "p", "q", "r"][level]).into_bytes();
            let width = |level: usize| if level == 0 { 9 } else { 5 };
            let mut tree = Tree::new(maps.len());
            for (level, map) in maps.iter().enumerate() {
                for i in 0..width(level) {
                    let above = map[i as usize].map(|above| name(level + 1, above));
                    tree.put(level, &name(level, i), above.as_deref()).unwrap();
                }
            }
            let rows = values.iter().map(|&i| [Some(name(0, i))]);
            let bag = Bag::from_text(1, rows);
            let domain = bag.domain(0);
            let hierarchy = tree.grow(domain).finish(domain).unwrap();
            let walk = |value: u8, to: usize| (0..to).try_fold(value, |at, level| {
                maps[level].get(at as usize).copied().flatten()
            });
            let total = 9 + values.iter().filter(|&&value| value > 8).count();
            for &value in &values {
                let code = domain.find(&name(0, value)).unwrap();
                for level in 1..=maps.len() {
                    let expected = if value < 9 { walk(value, level) } else { None };
                    let shown = hierarchy.shown(code, level);
                    let text = (shown != NONE).then(|| hierarchy.texts()[shown as usize - domain.len()].clone());
                    prop_assert_eq!(&text, &expected.map(|i| name(level, i)));
                    let leaves = (0..9).filter(|&leaf| walk(leaf, level) == expected).count();
                    let loss = expected.map_or(1.0, |_| leaves as f64 / total as f64);
                    prop_assert_eq!(hierarchy.loss(code, level), loss);
                }
            }
        }
    }
}
