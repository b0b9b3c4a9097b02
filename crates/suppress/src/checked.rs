//! The last look at a release that promises classes of k rows.

use crate::Error;
use table::{Bag, Release, Watch};

/// The release without the rows whose class has fewer than `k`, after one more look at what is left:
/// what is promised does not depend on how the release was made.
pub(crate) fn checked(
    release: Release,
    bag: &Bag,
    k: u64,
    watch: &Watch,
) -> Result<Release, Error> {
    let _held = watch.hold(release.memory())?;
    let release = release.without_small_classes(bag, k, watch)?;
    match release.k(bag, watch)? {
        Some(smallest) if smallest < k => Err(Error::Broken { k, smallest }),
        _ => Ok(release),
    }
}
