//! The last check of a release that promises classes of k rows.

use crate::Error;
use table::{Bag, Release, Watch};

/// Drops the rows whose class has fewer than `k` rows, and checks the remaining classes once more: so the guarantee
/// does not depend on how the release was made. Rows that are shown alike in the first `width` columns are in one
/// class.
pub(crate) fn checked(
    release: Release,
    bag: &Bag,
    width: usize,
    k: u64,
    watch: &Watch,
) -> Result<Release, Error> {
    let _held = watch.hold(release.memory())?;
    let classes = release.classes_on(bag, width, watch)?;
    let weights: Vec<u64> = release.pieces().iter().map(|piece| piece.weight).collect();
    let size = |piece: usize| classes.sizes()[classes.of(piece) as usize];
    let release = release.reweigh(|piece| if size(piece) < k { 0 } else { weights[piece] });
    match release.classes_on(bag, width, watch)?.sizes().iter().min() {
        Some(&smallest) if smallest < k => Err(Error::Broken { k, smallest }),
        _ => Ok(release),
    }
}
