//! The last look at a generalised release.

use super::rule::{self, Rule, Tally};
use super::{Request, totals_of};
use crate::Error;
use table::{Bag, NONE, Release, Watch};

/// Fails if what the reader of the release sees as a class has fewer than k rows, or not the diversity or
/// closeness that was asked for: what is promised does not depend on how the release was made.
pub(super) fn check(
    release: &Release,
    bag: &Bag,
    request: &Request,
    watch: &Watch,
) -> Result<(), Error> {
    let width = request.hierarchies.len();
    let _held = watch.hold(release.memory())?;
    let classes = release.classes_on(bag, width, watch)?;
    if let Some(&smallest) = classes.sizes().iter().filter(|&&size| size < request.k).min() {
        return Err(Error::Broken { k: request.k, smallest });
    }
    if request.sensitive.is_none() {
        return Ok(());
    }
    let pieces = release.pieces().iter();
    let counts = pieces.clone().map(|piece| (piece.row as usize, piece.weight));
    let rule = Rule::new(request.k, request.sensitive, totals_of(bag, width, counts));
    let null = bag.domain(width).len() as u32;
    let _held =
        watch.hold(release.pieces().len() as u64 * 16 + classes.sizes().len() as u64 * 24)?;
    let mut tallies = vec![Tally::new(); classes.sizes().len()];
    for (number, piece) in pieces.enumerate() {
        watch.poll(number)?;
        let value = match bag.row(piece.row as usize)[width] {
            NONE => null,
            code => code,
        };
        rule::add(&mut tallies[classes.of(number) as usize], value, piece.weight);
    }
    match tallies.iter().find(|tally| !rule.holds(tally)) {
        Some(tally) => Err(Error::NotKept { rows: rule::rows(tally) }),
        None => Ok(()),
    }
}
