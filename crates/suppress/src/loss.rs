//! The loss of a released column, computed from the two columns alone.

use crate::{Hierarchy, Written};
use std::collections::HashMap;
use table::{Bag, NONE, Stop, Watch};

/// How many cells show each value, and how many NULL.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Shown {
    /// The number of cells by shown code of the hierarchy.
    cells: HashMap<u32, u64>,
    /// Cells that are NULL.
    blank: u64,
    /// Cells that show something which no value of the column can be shown as.
    foreign: u64,
}

/// The loss of a column.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Loss {
    /// The cells: those of the original column, or of the released one if that has more.
    pub cells: u64,
    /// The cells that differ from the original's.
    pub changed: u64,
    /// Their total loss; a blank or dropped cell counts 1 (NCP, section 21 of the mechanisms).
    pub lost: f64,
}

impl Loss {
    /// The share of the cells that changed; 0 if there are none.
    pub fn changed_share(&self) -> f64 {
        if self.cells == 0 { 0.0 } else { self.changed as f64 / self.cells as f64 }
    }

    /// The mean loss of a cell; 0 if there are none.
    pub fn mean(&self) -> f64 {
        if self.cells == 0 { 0.0 } else { self.lost / self.cells as f64 }
    }
}

/// The loss of a column that both tables have; `written` says how it writes values of the original. Linear in the rows
/// and the values.
pub fn column_loss(
    released: &Bag,
    original: &Bag,
    column: usize,
    written: &Written,
    watch: &Watch,
) -> Result<Loss, Stop> {
    let (values, shown_values) = (original.domain(column), released.domain(column));
    let _held = watch.hold((values.len() + shown_values.len()) as u64 * 16)?;
    let (counts, nulls) = cells(original, column, watch)?;
    let (shown_counts, blank) = cells(released, column, watch)?;
    let mut shown = Shown { blank, ..Shown::default() };
    for (text, &cells) in shown_values.values().zip(&shown_counts) {
        match written.shown(values, text) {
            Some(code) => *shown.cells.entry(code).or_insert(0) += cells,
            None => shown.foreign += cells,
        }
    }
    Ok(loss(&written.hierarchy, &counts, nulls, &shown))
}

/// The cells of a column by code, and those that are NULL.
fn cells(bag: &Bag, column: usize, watch: &Watch) -> Result<(Vec<u64>, u64), Stop> {
    let (mut counts, mut nulls) = (vec![0; bag.domain(column).len()], 0);
    for row in 0..bag.distinct() {
        watch.poll(row)?;
        match bag.row(row)[column] {
            NONE => nulls += bag.weight(row),
            code => counts[code as usize] += bag.weight(row),
        }
    }
    Ok((counts, nulls))
}

/// The least loss that explains how a column with these values (`counts`: cells by code, and those that
/// are NULL) is shown.
///
/// It is unknown which row of the table a released row was. So shown cells are matched with values from the lowest
/// level up: as many as possible show their own value, of the others as many as possible their ancestor at level 1, and
/// so on; then come blank cells, and the remaining values were dropped. If all general values differ from all values,
/// this is the actual loss; if they look like a value (a range that is shown as its lower edge) it may be less. Linear
/// in values and levels.
fn loss(hierarchy: &Hierarchy, counts: &[u64], nulls: u64, shown: &Shown) -> Loss {
    let originals = counts.iter().sum::<u64>() + nulls;
    let released = shown.cells.values().sum::<u64>() + shown.blank + shown.foreign;
    let mut left = shown.cells.clone();
    let mut take = |code: u32, wanted: u64| {
        let cells = left.get_mut(&code)?;
        let taken = wanted.min(*cells);
        *cells -= taken;
        Some(taken).filter(|&taken| taken > 0)
    };
    let mut unmatched = counts.to_vec();
    let mut own = 0;
    for (code, cells) in unmatched.iter_mut().enumerate() {
        let taken = take(code as u32, *cells).unwrap_or(0);
        own += taken;
        *cells -= taken;
    }
    let mut lost = 0.0;
    for level in 1..=hierarchy.height() {
        let mut of_node = vec![0; hierarchy.nodes().len()];
        for (code, &cells) in unmatched.iter().enumerate() {
            match hierarchy.node(code as u32, level) {
                NONE => {}
                node => of_node[node as usize] += cells,
            }
        }
        for (node, matched) in hierarchy.nodes().iter().zip(&mut of_node) {
            *matched = take(node.shown, *matched).unwrap_or(0);
            lost += *matched as f64 * node.loss;
        }
        // Which of a node's values are matched makes no difference further up.
        for (code, cells) in unmatched.iter_mut().enumerate() {
            let node = hierarchy.node(code as u32, level);
            if node != NONE {
                let matched = &mut of_node[node as usize];
                let taken = (*cells).min(*matched);
                *matched -= taken;
                *cells -= taken;
            }
        }
    }
    let untouched_nulls = nulls.min(shown.blank);
    let values: u64 = unmatched.iter().sum::<u64>() + (nulls - untouched_nulls);
    let strange: u64 = left.values().sum::<u64>() + shown.foreign + (shown.blank - untouched_nulls);
    let cells = originals.max(released);
    Loss {
        cells,
        changed: cells - own - untouched_nulls,
        // Values without a cell were blanked, dropped or replaced; cells without a value were invented.
        lost: lost + values.max(strange) as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::General;
    use proptest::prelude::*;

    /// Ages in ranges of 5 and 10 years, shown by their lower edge or by a name of their own.
    fn hierarchy(names: bool) -> Hierarchy {
        let rows = (20..40).map(|age| [Some(age.to_string())]);
        let bag = Bag::from_text(1, rows);
        let level = |width: u32| (20..40u32).map(|age| Some(age / width * width)).collect();
        let levels: [Vec<Option<u32>>; 2] = [level(5), level(10)];
        let general = |below: usize, key: u32| {
            let (width, loss) = [(5, 0.2), (10, 0.5)][below];
            let text = if names { format!("{key}+{width}") } else { key.to_string() };
            General { text: text.into_bytes(), loss }
        };
        Hierarchy::new(bag.domain(0), &levels, general).unwrap()
    }

    fn shown(hierarchy: &Hierarchy, cells: &[(u32, usize)]) -> Shown {
        let mut shown = Shown::default();
        for &(code, level) in cells {
            match hierarchy.shown(code, level) {
                NONE => shown.blank += 1,
                code => *shown.cells.entry(code).or_insert(0) += 1,
            }
        }
        shown
    }

    fn counts(cells: impl IntoIterator<Item = u32>) -> (Vec<u64>, u64) {
        let (mut counts, mut nulls) = (vec![0; 20], 0);
        for code in cells {
            if code == NONE { nulls += 1 } else { counts[code as usize] += 1 }
        }
        (counts, nulls)
    }

    #[test]
    fn dropped_made_up_and_strange_cells_count_one() {
        let hierarchy = hierarchy(true);
        let (counts, nulls) = counts([0, 1, 2, NONE]);
        let of = |shown: &Shown| loss(&hierarchy, &counts, nulls, shown);
        let whole = shown(&hierarchy, &[(0, 0), (1, 0), (2, 0), (NONE, 0)]);
        assert_eq!(of(&whole), Loss { cells: 4, changed: 0, lost: 0.0 });
        let dropped = shown(&hierarchy, &[(0, 0), (NONE, 0)]);
        assert_eq!(of(&dropped), Loss { cells: 4, changed: 2, lost: 2.0 });
        let more = shown(&hierarchy, &[(0, 0), (1, 0), (2, 0), (2, 0), (NONE, 0)]);
        assert_eq!(of(&more), Loss { cells: 5, changed: 1, lost: 1.0 });
        let foreign = Shown { foreign: 1, ..shown(&hierarchy, &[(0, 0), (1, 0), (NONE, 0)]) };
        assert_eq!(of(&foreign), Loss { cells: 4, changed: 1, lost: 1.0 });
        assert_eq!(of(&Shown::default()), Loss { cells: 4, changed: 4, lost: 4.0 });
        let (share, mean) = (Loss::default().changed_share(), Loss::default().mean());
        assert_eq!((share, mean), (0.0, 0.0));
    }

    #[test]
    fn columns_are_compared_by_what_they_show() {
        let original = Bag::from_text(1, ["20", "21", "22", "26"].map(|value| [Some(value)]));
        let levels = [vec![Some(20), Some(20), Some(20), Some(25)]];
        let general = |_: usize, key: i32| General { text: key.to_string().into(), loss: 0.25 };
        let hierarchy = Hierarchy::new(original.domain(0), &levels, general).unwrap();
        let released = [Some("20"), Some("20"), Some("25"), Some("thirty")].map(|value| [value]);
        let released = Bag::from_text(1, released);
        let watch = Watch::unlimited();
        // 20 shows itself, another 20 is 21 or 22, 25 is 26, and "thirty" is no value.
        let written = Written::as_they_are(hierarchy.clone());
        let found = column_loss(&released, &original, 0, &written, &watch).unwrap();
        assert_eq!(found, Loss { cells: 4, changed: 3, lost: 1.5 });
        // In ranges the 20 and the range that begins with it differ: 22 is shown as its range, 21 as itself.
        let texts =
            ["[20]", "[21]", "[22]", "[26]", "[25-30)"].map(|text| text.as_bytes().to_vec());
        let written = Written::by(hierarchy, texts);
        let released = ["[20]", "[21]", "20", "[25-30)"].map(|value| [Some(value)]);
        let found =
            column_loss(&Bag::from_text(1, released), &original, 0, &written, &watch).unwrap();
        assert_eq!(found, Loss { cells: 4, changed: 2, lost: 1.25 });
        assert_eq!(watch.memory(), 0);
    }

    proptest! {
        /// If general values have names of their own, the loss is that of the cells; where they look like values it is
        /// no more, and never less than what cannot be explained otherwise.
        #[test]
        fn the_loss_is_that_of_the_cells(
            cells in prop::collection::vec((prop::option::of(0u32..20), 0usize..4), 0..60),
            names: bool,
        ) {
            let hierarchy = hierarchy(names);
            let cells: Vec<(u32, usize)> =
                cells.into_iter().map(|(code, level)| (code.unwrap_or(NONE), level)).collect();
            let (counts, nulls) = counts(cells.iter().map(|&(code, _)| code));
            let found = loss(&hierarchy, &counts, nulls, &shown(&hierarchy, &cells));
            let true_loss: f64 = cells.iter().map(|&(code, level)| hierarchy.loss(code, level)).sum();
            let changed = cells
                .iter()
                .filter(|&&(code, level)| hierarchy.shown(code, level) != code)
                .count() as u64;
            prop_assert_eq!(found.cells, cells.len() as u64);
            if names {
                prop_assert!((found.lost - true_loss).abs() < 1e-9, "{} {true_loss}", found.lost);
                prop_assert_eq!(found.changed, changed);
            } else {
                prop_assert!(found.lost <= true_loss + 1e-9, "{} {true_loss}", found.lost);
                prop_assert!(found.changed <= changed);
                let blank = cells.iter().filter(|&&(code, level)| code != NONE && level > 2).count();
                prop_assert!(found.lost >= blank as f64 - 1e-9);
            }
        }
    }
}
