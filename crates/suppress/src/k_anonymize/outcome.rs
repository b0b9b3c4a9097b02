//! The release and its loss, made of the classes.

use super::KAnonymized;
use super::group::Lists;
use super::improve::Partition;
use crate::Hierarchy;
use table::{Bag, NONE, Release, Stop, Watch, bits};

/// The release in which each class is shown at its levels, and the losses of its cells by column.
pub(super) fn release(
    partition: &Partition<'_>,
    bag: &Bag,
    hierarchies: &[Hierarchy],
    watch: &Watch,
) -> Result<(Release, Vec<f64>), Stop> {
    let people = partition.people;
    let mut held = watch.hold(partition.shares.len() as u64 * 16)?;
    // The shares of each row, in the order of the bag.
    let of_row = Lists::gather(bag.distinct(), || {
        let shares = partition.shares.iter().zip(0..).filter(|(share, _)| share.weight > 0);
        shares.map(|(share, number)| (people.rows[share.row as usize], number))
    });
    let mut shares: Vec<(u32, u64)> = Vec::new();
    let mut release = Release::new(bag.width());
    let mut losses = vec![0.0; hierarchies.len()];
    let mut mask = vec![0; bits::words(bag.width())];
    let mut fills = Vec::new();
    for row in 0..bag.distinct() {
        watch.poll_with(row, || held.raise(release.memory()))?;
        let own = of_row.list(row).iter().map(|&share| &partition.shares[share as usize]);
        shares.clear();
        shares.extend(own.map(|share| (share.class, share.weight)));
        shares.sort_unstable();
        for same in shares.chunk_by(|a, b| a.0 == b.0) {
            let weight: u64 = same.iter().map(|share| share.1).sum();
            mask.fill(0);
            fills.clear();
            let levels = partition.levels(same[0].0).iter().map(|&level| usize::from(level));
            let cells = bag.row(row).iter().zip(hierarchies).zip(levels);
            let changed = cells.enumerate().filter(|(_, (_, level))| *level > 0);
            for (column, ((&code, hierarchy), level)) in changed {
                losses[column] += hierarchy.loss(code, level) * weight as f64;
                let shown = hierarchy.shown(code, level);
                if shown != code {
                    bits::insert(&mut mask, column);
                    fills.push(shown);
                }
            }
            if fills.iter().all(|&shown| shown == NONE) {
                release.push(row as u32, &mask, weight);
            } else {
                release.push_filled(row as u32, &mask, &fills, weight);
            }
        }
    }
    Ok((release, losses))
}

/// The release with its loss.
pub(super) fn k_anonymized(
    release: Release,
    losses: &[f64],
    bag: &Bag,
    weights: &[f64],
) -> KAnonymized {
    let kept: u64 = release.pieces().iter().map(|piece| piece.weight).sum();
    let dropped = bag.row_count() - kept;
    let lost: f64 = losses.iter().zip(weights).map(|(l, w)| (l + dropped as f64) * w).sum();
    let worth = weights.iter().sum::<f64>() * bag.row_count() as f64;
    let loss = if worth > 0.0 { (lost / worth).clamp(0.0, 1.0) } else { 0.0 };
    KAnonymized { release, loss, dropped }
}
