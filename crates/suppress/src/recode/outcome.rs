//! What the classes come to.

use super::Recoded;
use super::improve::Partition;
use crate::{Error, Hierarchy};
use table::{Bag, NONE, Release, Stop, Watch, bits};

/// The release in which each class is shown at its levels, and what its cells lose, by column.
pub(super) fn release(
    partition: &Partition<'_>,
    bag: &Bag,
    hierarchies: &[Hierarchy],
    watch: &Watch,
) -> Result<(Release, Vec<f64>), Stop> {
    let people = partition.people;
    let mut held = watch.hold(partition.shares.len() as u64 * 16)?;
    let mut shares: Vec<(u32, u32, u64)> = partition
        .shares
        .iter()
        .filter(|share| share.weight > 0)
        .map(|share| (people.rows[share.row as usize], share.class, share.weight))
        .collect();
    shares.sort_unstable();
    let mut release = Release::new(bag.width());
    let mut losses = vec![0.0; hierarchies.len()];
    let mut mask = vec![0; bits::words(bag.width())];
    let mut fills = Vec::new();
    for (number, same) in shares.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).enumerate() {
        watch.poll_with(number, || held.raise(release.memory()))?;
        let (row, class, _) = same[0];
        let weight: u64 = same.iter().map(|share| share.2).sum();
        mask.fill(0);
        fills.clear();
        let levels = partition.levels(class).iter().map(|&level| usize::from(level));
        let cells = bag.row(row as usize).iter().zip(hierarchies).zip(levels);
        for (column, ((&code, hierarchy), level)) in cells.enumerate() {
            losses[column] += hierarchy.loss(code, level) * weight as f64;
            let shown = hierarchy.shown(code, level);
            if shown != code {
                bits::insert(&mut mask, column);
                fills.push(shown);
            }
        }
        if fills.iter().all(|&shown| shown == NONE) {
            release.push(row, &mask, weight);
        } else {
            release.push_filled(row, &mask, &fills, weight);
        }
    }
    Ok((release, losses))
}

/// The release with what it loses.
pub(super) fn recoded(
    release: Release,
    losses: &[f64],
    bag: &Bag,
    weights: &[f64],
) -> Result<Recoded, Error> {
    let kept: u64 = release.pieces().iter().map(|piece| piece.weight).sum();
    let dropped = bag.row_count() - kept;
    let lost: f64 = losses.iter().zip(weights).map(|(l, w)| (l + dropped as f64) * w).sum();
    let worth = weights.iter().sum::<f64>() * bag.row_count() as f64;
    let loss = if worth > 0.0 { (lost / worth).clamp(0.0, 1.0) } else { 0.0 };
    Ok(Recoded { release, loss, dropped })
}
