//! The release and its loss, made of the classes.

use super::KAnonymized;
use super::group::Lists;
use super::improve::Partition;
use super::unit_classes::UnitClasses;
use crate::Hierarchy;
use table::{Bag, NONE, Release, Stop, Watch, Whose, bits};

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
    let mut shown = Shown::new(partition, bag, hierarchies);
    for row in 0..bag.distinct() {
        watch.poll_with(row, || held.raise(shown.release.memory()))?;
        let own = of_row.list(row).iter().map(|&share| &partition.shares[share as usize]);
        shares.clear();
        shares.extend(own.map(|share| (share.class, share.weight)));
        shares.sort_unstable();
        for same in shares.chunk_by(|a, b| a.0 == b.0) {
            let weight: u64 = same.iter().map(|share| share.1).sum();
            shown.set(row, same[0].0, weight);
            shown.push(row, Whose::All, weight);
        }
    }
    Ok((shown.release, shown.losses))
}

/// The same for classes of units; `nobody` has the class of the copies of each row that have no unit.
pub(super) fn release_of_units(
    classes: &UnitClasses<'_>,
    nobody: &[u32],
    hierarchies: &[Hierarchy],
    watch: &Watch,
) -> Result<(Release, Vec<f64>), Stop> {
    let (bag, partition) = (classes.bag, &classes.partition);
    let mut held = watch.hold(partition.shares.len() as u64 * 16)?;
    let of_row = Lists::gather(bag.distinct(), || {
        let shares = partition.shares.iter().zip(0..).filter(|(share, _)| share.weight > 0);
        shares.map(|(share, number)| (partition.people.rows[share.row as usize], number))
    });
    // The class of each unit that has a row, and of its copies without a unit.
    let mut owned: Vec<(u32, Whose)> = Vec::new();
    let mut shown = Shown::new(partition, bag, hierarchies);
    for (row, &class) in nobody.iter().enumerate() {
        watch.poll_with(row, || held.raise(shown.release.memory()))?;
        let shares = of_row.list(row);
        let copies = classes.copies(row);
        let homes = shares.iter().map(|&share| partition.shares[share as usize]);
        let mut homes = homes.map(|share| share.class).chain((copies > 0).then_some(class));
        let first = homes.next().unwrap_or(NONE);
        let weights = shares.iter().map(|&share| partition.shares[share as usize].weight);
        if first == NONE && shares.is_empty() {
            continue;
        }
        let are_all_in = weights.sum::<u64>() == classes.units.of(row).len() as u64;
        if are_all_in && homes.all(|home| home == first) {
            shown.set(row, first, bag.weight(row));
            shown.push(row, Whose::All, bag.weight(row));
            continue;
        }
        owned.clear();
        for &share in shares {
            let class = partition.shares[share as usize].class;
            owned.extend(classes.units_of(share).map(|unit| (class, Whose::Unit(unit))));
        }
        owned.extend((copies > 0 && class != NONE).then_some((class, Whose::Nobody)));
        owned.sort_by_key(|of| of.0);
        let weight = |whose: Whose| match whose {
            Whose::Unit(unit) => classes.rows_of(row, unit),
            Whose::Nobody | Whose::All => copies,
        };
        for same in owned.chunk_by(|a, b| a.0 == b.0) {
            shown.set(row, same[0].0, same.iter().map(|of| weight(of.1)).sum());
            same.iter().for_each(|of| shown.push(row, of.1, weight(of.1)));
        }
    }
    Ok((shown.release, shown.losses))
}

/// A release while it is made.
struct Shown<'a> {
    partition: &'a Partition<'a>,
    bag: &'a Bag,
    hierarchies: &'a [Hierarchy],
    release: Release,
    /// By column.
    losses: Vec<f64>,
    /// The current form.
    mask: Vec<u64>,
    fills: Vec<u32>,
}

impl<'a> Shown<'a> {
    fn new(partition: &'a Partition<'a>, bag: &'a Bag, hierarchies: &'a [Hierarchy]) -> Self {
        Shown {
            partition,
            bag,
            hierarchies,
            release: Release::new(bag.width()),
            losses: vec![0.0; hierarchies.len()],
            mask: vec![0; bits::words(bag.width())],
            fills: Vec::new(),
        }
    }

    /// Makes the form that of a row in a class, and adds the losses of so many copies.
    fn set(&mut self, row: usize, class: u32, weight: u64) {
        self.mask.fill(0);
        self.fills.clear();
        let levels = self.partition.levels(class).iter().map(|&level| usize::from(level));
        let cells = self.bag.row(row).iter().zip(self.hierarchies).zip(levels);
        let changed = cells.enumerate().filter(|(_, (_, level))| *level > 0);
        for (column, ((&code, hierarchy), level)) in changed {
            self.losses[column] += hierarchy.loss(code, level) * weight as f64;
            let shown = hierarchy.shown(code, level);
            if shown != code {
                bits::insert(&mut self.mask, column);
                self.fills.push(shown);
            }
        }
        if self.fills.iter().all(|&shown| shown == NONE) {
            self.fills.clear();
        }
    }

    /// Releases copies of a row in the current form.
    fn push(&mut self, row: usize, whose: Whose, weight: u64) {
        let Shown { release, mask, fills, .. } = self;
        match whose {
            Whose::All => release.push_filled(row as u32, mask, fills, weight),
            _ => release.push_of(row as u32, mask, fills, whose, weight),
        }
    }
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
