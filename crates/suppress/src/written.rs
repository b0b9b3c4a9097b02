//! How a released column writes the values of its original: which text means which values.

use crate::Hierarchy;
use std::collections::HashMap;
use table::Domain;

/// A column's hierarchy, and the texts by which a release writes values and general values.
#[derive(Debug, Clone)]
pub struct Written {
    pub hierarchy: Hierarchy,
    /// Shown codes by their texts: those of general values, and if `all` those of values too.
    codes: HashMap<Vec<u8>, u32>,
    /// False if values are written as in the original.
    all: bool,
}

impl Written {
    /// Values are written as they are, and general values as the hierarchy has them.
    pub fn as_they_are(hierarchy: Hierarchy) -> Self {
        let general = hierarchy.texts().iter().zip(hierarchy.values() as u32..);
        let codes = general.map(|(text, code)| (text.clone(), code)).collect();
        Written { hierarchy, codes, all: false }
    }

    /// Values and general values are written as the given texts, in the order of shown codes: for example an exact
    /// number as a range of one.
    pub fn by(hierarchy: Hierarchy, texts: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let codes = texts.into_iter().zip(0..).collect();
        Written { hierarchy, codes, all: true }
    }

    /// The shown code of a text of the release; `None` if no value of the original is shown so.
    pub fn shown(&self, original: &Domain, text: &[u8]) -> Option<u32> {
        let own = if self.all { None } else { original.find(text) };
        own.or_else(|| self.codes.get(text).copied())
    }

    /// For each text of a released column that may be a general value, the values of the original that it covers: all
    /// leaves below general values with this text, and the value with this text. As codes of the released column and,
    /// ascending, codes of the original one.
    pub fn general(&self, original: &Domain, released: &Domain) -> HashMap<u32, Vec<u32>> {
        let leaves = self.hierarchy.leaves();
        let mut found = HashMap::new();
        for (text, code) in released.values().zip(0..) {
            let Some(shown) = self.shown(original, text) else { continue };
            let mut covered = leaves.get(&shown).cloned().unwrap_or_default();
            let is_value = (shown as usize) < self.hierarchy.values();
            if covered.is_empty() && !self.all {
                continue;
            }
            if is_value {
                covered.push(shown);
            }
            covered.sort_unstable();
            covered.dedup();
            found.insert(code, covered);
        }
        found
    }

    /// The bytes held.
    pub fn memory(&self) -> u64 {
        let texts: usize = self.codes.keys().map(|text| text.capacity() + 48).sum();
        self.hierarchy.memory() + texts as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::General;
    use table::Bag;

    fn ages(name: impl Fn(u32) -> String) -> (Bag, Hierarchy) {
        let bag = Bag::from_text(1, ["20", "21", "25", "33"].map(|value| [Some(value)]));
        let level =
            |width: u32| [20, 21, 25, 33].map(|age: u32| Some(age / width * width)).to_vec();
        let general = |_: usize, key: u32| General { text: name(key).into_bytes(), loss: 0.5 };
        let hierarchy = Hierarchy::new(bag.domain(0), &[level(5), level(20)], general).unwrap();
        (bag, hierarchy)
    }

    #[test]
    fn a_text_covers_whatever_may_be_shown_so() {
        let (bag, hierarchy) = ages(|key| key.to_string());
        let released = Bag::from_text(1, ["20", "21", "30", "99"].map(|value| [Some(value)]));
        let written = Written::as_they_are(hierarchy);
        let general = written.general(bag.domain(0), released.domain(0));
        // 20 is a value, the range from 20 to 24, and the one to 39; 30 the range from 30 to 34.
        assert_eq!(general[&0], [0, 1, 2, 3]);
        assert_eq!(general[&2], [3]);
        assert_eq!(general.len(), 2);
    }

    #[test]
    fn names_of_their_own_leave_no_doubt() {
        let (bag, hierarchy) = ages(|key| format!("{key}+"));
        // 20 to 24, 25 to 29 and 30 to 34, and above them 20 to 39, which looks like the first of them here.
        assert_eq!(hierarchy.texts().len(), 3);
        let texts = ["[20]", "[21]", "[25]", "[33]", "a", "b", "c"].map(|text| text.into());
        let written = Written::by(hierarchy, texts);
        let released = Bag::from_text(1, ["[21]", "b", "21"].map(|value| [Some(value)]));
        let general = written.general(bag.domain(0), released.domain(0));
        let of = |text: &str| general.get(&released.domain(0).find(text.as_bytes()).unwrap());
        assert_eq!((of("[21]"), of("b"), of("21")), (Some(&vec![1]), Some(&vec![2]), None));
    }
}
