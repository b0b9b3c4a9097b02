//! Whole columns at a level of their hierarchies.

use crate::Hierarchy;
use std::sync::Arc;
use table::{Bag, Domain, NONE, Recoding, Release, Stop, Watch, bits};

/// A release of all rows that shows every cell of a column at one level. `hierarchies` and `levels` are
/// by column. Linear in the cells.
pub fn generalize(
    bag: &Bag,
    hierarchies: &[Hierarchy],
    levels: &[usize],
    watch: &Watch,
) -> Result<Release, Stop> {
    let mut release = Release::new(bag.width());
    let mut held = watch.hold(0)?;
    let changed: Vec<usize> = (0..bag.width()).filter(|&column| levels[column] > 0).collect();
    let mut mask = vec![0; bits::words(bag.width())];
    changed.iter().for_each(|&column| bits::insert(&mut mask, column));
    let mut fills = vec![NONE; changed.len()];
    for row in 0..bag.distinct() {
        watch.poll_with(row, || held.raise(release.memory()))?;
        let cells = bag.row(row);
        for (fill, &column) in fills.iter_mut().zip(&changed) {
            *fill = hierarchies[column].shown(cells[column], levels[column]);
        }
        release.push_filled(row as u32, &mask, &fills, bag.weight(row));
    }
    held.raise(release.memory())?;
    Ok(release)
}

/// The bag with every cell of a column at one level: its domains are those of the general values. Equal
/// rows are merged.
pub fn generalized_bag(
    bag: &Bag,
    hierarchies: &[Hierarchy],
    levels: &[usize],
    watch: &Watch,
) -> Result<Bag, Stop> {
    let mut recoding = Recoding { codes: Vec::new(), nulls: vec![NONE; bag.width()] };
    let mut domains = Vec::with_capacity(bag.width());
    for (column, domain) in bag.domains().iter().enumerate() {
        let values = domain.len();
        let _held = watch.hold(values as u64 * 4)?;
        if levels[column] == 0 {
            recoding.codes.push((0..values as u32).collect());
            domains.push(domain.clone());
            continue;
        }
        let hierarchy = &hierarchies[column];
        let shown = |code: u32| match hierarchy.shown(code, levels[column]) {
            NONE => None,
            code if (code as usize) < values => Some(domain.value(code)),
            code => Some(hierarchy.texts()[code as usize - values].as_slice()),
        };
        let texts = (0..values as u32).filter_map(shown).map(<[u8]>::to_vec).collect();
        let general = Domain::from_values(domain.name().into(), texts);
        let code = |code: u32| shown(code).and_then(|text| general.find(text)).unwrap_or(NONE);
        recoding.codes.push((0..values as u32).map(code).collect());
        domains.push(Arc::new(general));
    }
    bag.recoded(&recoding, domains, watch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::General;

    /// Two columns, the first of which can be shown as its first letter.
    fn table() -> (Bag, Vec<Hierarchy>) {
        let rows = [["aa", "1"], ["ab", "1"], ["b", "2"], ["b", "2"]].map(|row| row.map(Some));
        let bag = Bag::from_text(2, rows.into_iter().chain([[None, Some("1")]]));
        let first = |text: &[u8]| Some(text[0]).filter(|&letter| letter != b'b');
        let level: Vec<Option<u8>> = bag.domain(0).values().map(first).collect();
        let general = |_: usize, letter: u8| General { text: vec![letter], loss: 0.5 };
        let letters = Hierarchy::new(bag.domain(0), &[level], general).unwrap();
        let numbers = Hierarchy::flat(bag.domain(1).len());
        (bag, vec![letters, numbers])
    }

    #[test]
    fn every_cell_is_shown_at_its_level() {
        let (bag, hierarchies) = table();
        let watch = Watch::unlimited();
        for (levels, expected) in [
            ([0, 0], vec![("aa 1", 1), ("ab 1", 1), ("b 2", 2), ("- 1", 1)]),
            ([1, 0], vec![("a 1", 2), ("- 2", 2), ("- 1", 1)]),
            ([2, 0], vec![("- 1", 3), ("- 2", 2)]),
            ([1, 1], vec![("a -", 2), ("- -", 3)]),
        ] {
            let shown = generalized_bag(&bag, &hierarchies, &levels, &watch).unwrap();
            let mut found: Vec<(String, u64)> = (0..shown.distinct())
                .map(|row| {
                    let cells = shown.row(row).iter().enumerate().map(|(column, &code)| {
                        let text = Some(code).filter(|&code| code != NONE);
                        text.map_or("-".into(), |code| {
                            String::from_utf8_lossy(shown.domain(column).value(code)).into_owned()
                        })
                    });
                    (cells.collect::<Vec<_>>().join(" "), shown.weight(row))
                })
                .collect();
            let mut expected: Vec<(String, u64)> =
                expected.into_iter().map(|(row, weight)| (row.to_string(), weight)).collect();
            found.sort();
            expected.sort();
            assert_eq!(found, expected);
            // A release shows the same rows: the same number of each class size.
            let release = generalize(&bag, &hierarchies, &levels, &watch).unwrap();
            let mut sizes = release.classes(&bag, &watch).unwrap().sizes().to_vec();
            let mut weights = shown.weights().to_vec();
            sizes.sort_unstable();
            weights.sort_unstable();
            assert_eq!(sizes, weights);
        }
        assert_eq!(watch.memory(), 0);
    }
}
