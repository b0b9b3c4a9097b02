//! Classes for the whole table, improved by rows that make room for each other.
//!
//! The loss of a row depends only on its class. So if a row of one class moves to a second, a row of the second to a
//! third and so on, only the ends of the chain count: the first class, which has more than k rows, and the last one. So
//! it is cheap to compute for all classes what it saves to take a row out of one (`row_values`: a row of the class that
//! loses most replaces it, through other classes) and what it costs to put one in (other rows move on to the class that
//! loses least). Then
//!
//! * rows of classes that can spare them move to the classes that lose least (`flow`),
//! * groups whose rows are worth more than they lose there become classes (`new_classes`),
//! * a class is given up for a group that holds many of its rows (`replace`), which neither prices nor moves of single
//!   rows find, because they do not see where the other rows would go.
//!
//! `classes` has the classes while they change, and undoes changes that are not improvements.

mod classes;
mod flow;
mod new_classes;
mod replace;
mod row_values;
#[cfg(test)]
mod tests;

use super::candidates::CandidateGroups;
use super::partition::Partition;
use classes::Classes;
use flow::Chains;
use replace::Replacing;
use table::{Stop, Watch};

/// The passes before which new groups are opened; in later ones hardly any is found.
const OPENED: u32 = 3;

/// Classes improved by chains, if any improvement is found. Each class is tried for replacement `passes` times.
/// `groups` must contain the groups of all classes.
pub(crate) fn chained<'a>(
    partition: &Partition<'a>,
    groups: &CandidateGroups,
    passes: u32,
    watch: &Watch,
) -> Result<Option<Partition<'a>>, Stop> {
    let _held = watch.hold(Classes::bytes(groups) + Replacing::bytes(groups))?;
    let Some(classes) = Classes::new(partition, groups) else { return Ok(None) };
    let mut chains = Chains::new(classes, watch);
    chains.shed_all()?;
    let mut replacing = Replacing::new(groups, watch)?;
    for pass in 0..passes {
        if pass < OPENED {
            new_classes::open(&mut chains, watch)?;
        }
        replacing.pass(&mut chains, (pass, passes), watch)?;
    }
    let classes = chains.classes.rows();
    let found = Partition::of_classes(partition.people, partition.rule, classes, watch)?;
    Ok((found.total() < partition.total()).then_some(found))
}
