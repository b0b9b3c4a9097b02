//! The last check of a release that promises classes of k rows, or of rows of k units.

use crate::Error;
use crate::counted::CountedClasses;
use table::{Bag, Release, Units, Watch};

/// Drops the rows whose class has fewer than `k` rows, or rows of fewer than `k` units, and checks the remaining
/// classes once more: so the guarantee does not depend on how the release was made. Rows that are shown alike in the
/// first `width` columns are in one class.
pub(crate) fn checked(
    release: Release,
    bag: &Bag,
    units: Option<&Units>,
    width: usize,
    k: u64,
    watch: &Watch,
) -> Result<Release, Error> {
    let _held = watch.hold(release.memory())?;
    let classes = CountedClasses::new(&release, bag, units, width, watch)?;
    let weights: Vec<u64> = release.pieces().iter().map(|piece| piece.weight).collect();
    let release = release.reweigh(|piece| if classes.size(piece) < k { 0 } else { weights[piece] });
    match CountedClasses::new(&release, bag, units, width, watch)?.sizes().iter().min() {
        Some(&smallest) if smallest < k => Err(Error::Broken { k, smallest }),
        _ => Ok(release),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use table::Whose;

    /// Two rows of one person and one of another, shown alike in two forms.
    fn table() -> (Bag, Units) {
        let rows = [["a", "u"], ["a", "u"], ["a", "v"], ["b", "v"]];
        let bag = Bag::from_text(2, rows.map(|row| row.map(Some)));
        bag.split_units(&Watch::unlimited()).unwrap()
    }

    fn kept(release: Release, k: u64) -> Vec<(u32, u64)> {
        let (bag, units) = table();
        let release = checked(release, &bag, Some(&units), 1, k, &Watch::unlimited()).unwrap();
        release.pieces().iter().map(|piece| (piece.row, piece.weight)).collect()
    }

    #[test]
    fn the_units_of_a_class_are_counted_and_not_its_rows() {
        let (bag, _) = table();
        let whole = || Release::from_masks(&bag, &[0, 0], &Watch::unlimited()).unwrap();
        assert_eq!(kept(whole(), 2), [(0, 3)]);
        assert_eq!(kept(whole(), 3), []);
        let blank = Release::from_masks(&bag, &[1, 1], &Watch::unlimited()).unwrap();
        assert_eq!(kept(blank, 3), []);
    }

    #[test]
    fn copies_of_which_nobody_says_whose_they_are_count_for_nobody() {
        let mut release = Release::new(1);
        release.push(0, &[0], 2);
        assert_eq!(kept(release, 1), []);
        let mut release = Release::new(1);
        release.push_of(0, &[0], &[], Whose::Unit(0), 2);
        release.push_of(0, &[1], &[], Whose::Unit(1), 1);
        release.push_of(0, &[1], &[], Whose::Nobody, 1);
        release.push(1, &[1], 1);
        assert_eq!(kept(release.clone(), 1).len(), 4);
        assert_eq!(kept(release, 2), []);
    }
}
