//! Classes for the whole table, improved by rows that make room for each other.
//!
//! A row loses what its class loses, whoever it is. So if a row of one class moves to a second, a row of the
//! second to a third and so on, all that counts is where the chain begins, a class with more than k rows, and
//! where it ends. That makes it cheap to know, for all classes, what it saves to take a row out of one
//! (`row_values`: a row of the class that loses most takes its place, through others) and what it costs to put one
//! in (it pushes others on to the class that loses least). Then
//!
//! * rows of classes that can spare them go to where least is lost (`flow`),
//! * groups whose rows are worth more than they lose there become classes (`new_classes`),
//! * a class is given up for a group that holds many of its rows (`replace`), which is what neither prices
//!   nor single rows that move do: they cannot see where the other rows would end.
//!
//! `classes` has the classes while they change, and takes back what was no improvement.

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

/// Passes before which groups are opened: later hardly any is.
const OPENED: u32 = 3;

/// Classes that are better for chains, if there are some; `passes` times each is asked whether it should be
/// replaced. `groups` must have those of all classes.
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
