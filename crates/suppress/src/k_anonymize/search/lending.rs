//! Groups that are too small to be classes borrow rows from classes with more than k rows.

use super::Band;
use super::assignment::{Assignment, Share};
use super::frontier::Form;
use crate::k_anonymize::group::{Crowd, Lists, Meeting, Scratch};
use crate::k_anonymize::prepare::Selected;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use table::{NONE, Stop, Watch};

/// Shares of classes with rows to spare, those that lose most first.
struct Lenders<'a> {
    shares: Vec<u32>,
    losses: Vec<u64>,
    spare: Vec<u64>,
    cells: Selected<'a>,
}

impl<'a> Lenders<'a> {
    fn new(assignment: &Assignment<'a>, k: u64) -> Self {
        let Assignment { sizes, losses, .. } = assignment;
        let rich = (0..sizes.len()).filter(|&class| sizes[class] > k);
        // Inverting the bits of numbers reverses their order.
        let mut classes: Vec<(u64, u64, u32)> =
            rich.map(|class| (!losses[class], !sizes[class], class as u32)).collect();
        classes.sort_unstable();
        let mut place = vec![NONE; sizes.len()];
        classes.iter().zip(0..).for_each(|(class, number)| place[class.2 as usize] = number);
        let spare =
            |share: &Share| if share.weight > 0 { place[share.class as usize] } else { NONE };
        let shares = Lists::gather(classes.len(), || {
            assignment.shares.iter().zip(0..).map(|(share, number)| (spare(share), number))
        })
        .items;
        let loss = |&share: &u32| losses[assignment.shares[share as usize].class as usize];
        Lenders {
            losses: shares.iter().map(loss).collect(),
            spare: shares.iter().map(|&share| assignment.spare(share, k)).collect(),
            cells: assignment
                .people
                .select(shares.iter().map(|&share| assignment.shares[share as usize].row)),
            shares,
        }
    }
}

/// Opens classes in the forms of one band that borrow the rows they lack.
///
/// A group of `own` free rows takes `k - own` rows of other classes, and these lose more than before. Groups with the
/// least such loss per free row go first, equal ones in the order of their keys. Groups that cost more than `most` per
/// free row are not opened, because the free rows may do better in a form of the next band. In a lean search the loss
/// of a class is that of its form.
pub(crate) fn borrow(
    assignment: &mut Assignment<'_>,
    band: &Band<'_>,
    k: u64,
    most: u64,
    watch: &Watch,
) -> Result<(), Stop> {
    let lenders = Lenders::new(assignment, k);
    let weights: Vec<u64> = assignment.free.iter().map(|&row| assignment.left(row)).collect();
    let crowd = Crowd {
        seekers: &assignment.people.select(assignment.free.iter().copied()),
        weights: &weights,
        others: &lenders.cells,
        gifts: &lenders.spare,
        k,
        choice: k.saturating_mul(4).max(32),
    };
    let meet = |scratch: &mut Scratch, (form, &cost): (&Form, &u64)| {
        // Classes below this loss cannot lend: borrowing even one of their rows would cost too much.
        let least = cost.saturating_sub(most.saturating_mul(k - 1));
        let end = lenders.losses.partition_point(|&loss| loss >= least);
        crowd.meet(form, end, scratch, watch)
    };
    let meetings: Vec<Meeting> = band
        .forms
        .par_iter()
        .zip(&band.costs)
        .map_init(Scratch::default, meet)
        .collect::<Result<_, Stop>>()?;
    let mut market = Market { lenders: &lenders, k, most, spent: Vec::new() };
    let mut heap = BinaryHeap::new();
    for (meeting, form) in meetings.iter().zip(0u32..) {
        for (&key, group) in meeting.keys.iter().zip(0u32..) {
            if let Some(offer) = market.offer(assignment, (band, form), meeting, group) {
                heap.push((offer.rank(), key, form, group));
            }
        }
    }
    let mut steps = 0;
    while let Some((rank, key, form, group)) = heap.pop() {
        steps += 1;
        watch.poll_every(256, steps)?;
        let meeting = &meetings[form as usize];
        let Some(offer) = market.offer(assignment, (band, form), meeting, group) else { continue };
        // Its rank has changed since it was put on the heap, so it is put back.
        if offer.rank() != rank {
            heap.push((offer.rank(), key, form, group));
            continue;
        }
        let own: Vec<u32> = assignment.free_among(meeting.members.list(group as usize)).collect();
        let lent = offer.taken.iter().map(|&(share, _)| assignment.shares[share as usize].row);
        let rows: Vec<u32> = own.iter().copied().chain(lent).collect();
        let loss = if band.lean { offer.after } else { assignment.least_loss(&rows) };
        let class = assignment.class(loss);
        own.iter().for_each(|&row| assignment.settle(row, assignment.left(row), class));
        offer.taken.iter().for_each(|&(share, weight)| assignment.lend(share, weight, class));
    }
    assignment.sweep();
    Ok(())
}

/// How a group could be filled up.
struct Offer {
    /// Free copies of the group.
    own: u64,
    /// What a row loses in the form.
    after: u64,
    /// What the borrowed rows lose in all.
    loss: i64,
    /// (share, rows borrowed)
    taken: Vec<(u32, u64)>,
}

impl Offer {
    /// The key of the heap, greatest first: least loss per free row, then most free rows.
    fn rank(&self) -> (Reverse<i64>, u64) {
        (Reverse(self.loss / self.own as i64), self.own)
    }
}

struct Market<'a> {
    lenders: &'a Lenders<'a>,
    k: u64,
    most: u64,
    /// Rows of each class that the current offer takes; zeros between offers.
    spent: Vec<u64>,
}

impl Market<'_> {
    /// The cheapest way to fill up a group now; `None` if it has no free rows any more, or if there are too few
    /// lenders, or if these lose too much.
    fn offer(
        &mut self,
        assignment: &Assignment<'_>,
        (band, form): (&Band<'_>, u32),
        meeting: &Meeting,
        group: u32,
    ) -> Option<Offer> {
        let group = group as usize;
        let members = assignment.free_among(meeting.members.list(group));
        let own: u64 = members.clone().map(|row| assignment.left(row)).sum();
        let after = band.loss(assignment.people, members.into_iter().next()?, form as usize);
        let mut offer = Offer { own, after, loss: 0, taken: Vec::new() };
        let mut lacking = self.k.saturating_sub(own);
        self.spent.resize(assignment.sizes.len(), 0);
        for &lender in meeting.guests.list(group) {
            if lacking == 0 {
                break;
            }
            let number = self.lenders.shares[lender as usize];
            let share = &assignment.shares[number as usize];
            let spent = &mut self.spent[share.class as usize];
            let size = assignment.sizes[share.class as usize];
            let weight = (size - *spent).saturating_sub(self.k).min(share.weight).min(lacking);
            if weight > 0 {
                *spent += weight;
                lacking -= weight;
                let before = self.lenders.losses[lender as usize];
                offer.loss += weight as i64 * (after as i64 - before as i64);
                offer.taken.push((number, weight));
            }
        }
        for &(share, _) in &offer.taken {
            self.spent[assignment.shares[share as usize].class as usize] = 0;
        }
        (lacking == 0 && offer.loss <= self.most as i64 * own as i64).then_some(offer)
    }
}
