//! Classes for the whole table at once, found by prices.
//!
//! A row has a price: what it is ready to lose. A group of rows that a form makes alike is worth a class if
//! the k of them that pay most pay what k rows lose in it. As long as no k rows of any group pay more, the
//! sum of all prices is at most what any release from these groups loses: it is the dual of the linear
//! program that chooses classes. So prices rise together and fall where k rows pay too much, until little
//! is to be had (`prices`); then groups whose rows pay for them become classes, and the other rows' prices
//! go on.
//!
//! Regions see a dozen classes; prices know of all. Adult loses .0634 at k = 6 with regions alone, .0636
//! with prices alone and .0625 with both, without chains.

mod prices;

use super::groups::Groups;
use super::partition::Partition;
use prices::Prices;
use table::{Stop, Watch};

/// Classes found by prices, if less is lost with them.
pub(crate) fn repriced<'a>(
    partition: &Partition<'a>,
    groups: &mut Groups,
    watch: &Watch,
) -> Result<Option<Partition<'a>>, Stop> {
    let _held = watch.hold(Prices::bytes(groups))?;
    let classes = Prices::new(partition, groups).classes(watch)?;
    let mut found = Partition::of_classes(partition.people, partition.rule, classes, watch)?;
    found.join(watch)?;
    Ok((found.total() < partition.total()).then_some(found))
}
