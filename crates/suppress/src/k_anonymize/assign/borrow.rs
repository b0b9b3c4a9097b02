//! Classes too small by themselves that borrow rows from classes with more than k.

use super::assignment::Assignment;
use crate::k_anonymize::forms::Form;
use crate::k_anonymize::group::{Crowd, Meeting, Scratch, auction};
use crate::k_anonymize::prepare::Selected;
use rayon::prelude::*;
use std::cmp::Reverse;
use table::{Stop, Watch};

/// Shares of classes with rows to spare, those of the least worth first.
struct Lenders {
    shares: Vec<u32>,
    values: Vec<u64>,
    spare: Vec<u64>,
    keys: Selected,
}

impl Lenders {
    fn new(assignment: &Assignment<'_>, k: u64) -> Self {
        let class =
            |share: u32| &assignment.classes[assignment.shares[share as usize].class as usize];
        let shares = 0..assignment.shares.len() as u32;
        let mut shares: Vec<u32> = shares.filter(|&share| assignment.spare(share, k) > 0).collect();
        shares.sort_by_key(|&share| (class(share).value, Reverse(class(share).size)));
        Lenders {
            values: shares.iter().map(|&share| class(share).value).collect(),
            spare: shares.iter().map(|&share| assignment.spare(share, k)).collect(),
            keys: assignment
                .keyed
                .select(shares.iter().map(|&share| assignment.shares[share as usize].row)),
            shares,
        }
    }
}

/// Opens classes in the forms of one band that borrow what they lack.
///
/// A group of `own` free rows takes `k - own` rows of other classes, and these lose what their
/// items were worth more. Groups with the least such loss per free row go first; more than
/// `most` per free row is not paid, for the free rows may do better in a form of the next band.
pub(crate) fn borrow(
    assignment: &mut Assignment<'_>,
    forms: &[Form],
    k: u64,
    most: u64,
    watch: &Watch,
) -> Result<(), Stop> {
    let lenders = Lenders::new(assignment, k);
    let weights: Vec<u64> = assignment.free.iter().map(|&row| assignment.weight(row)).collect();
    let crowd = Crowd {
        seekers: &assignment.keyed.select(assignment.free.iter().copied()),
        weights: &weights,
        others: &lenders.keys,
        gifts: &lenders.spare,
        k,
        choice: k.saturating_mul(4).max(32),
    };
    let all: u64 = assignment.units.iter().sum();
    let meet = |scratch: &mut Scratch, form: &Form| {
        // Of classes worth so much more not even one row can be paid for.
        let blanked: u64 = form.iter().map(|&c| assignment.units[usize::from(c)]).sum();
        let dearest = (all - blanked).saturating_add(most.saturating_mul(k - 1));
        let end = lenders.values.partition_point(|&value| value <= dearest);
        crowd.meet(form, end, scratch, watch)
    };
    let meetings: Vec<Meeting> =
        forms.par_iter().map_init(Scratch::default, meet).collect::<Result<_, Stop>>()?;
    let mut market = Market { lenders: &lenders, k, most, spent: Vec::new() };
    let offer = |assignment: &Assignment<'_>, form: usize, group: usize| {
        let offer = market.offer(assignment, &forms[form], &meetings[form], group)?;
        Some((offer.rank(), offer))
    };
    let accept = |assignment: &mut Assignment<'_>, form: usize, group: usize, offer: Offer| {
        let meeting = &meetings[form];
        let class = assignment.class(meeting.keys[group], offer.value);
        for &place in meeting.members.list(group) {
            let row = assignment.free[place as usize];
            if assignment.is_free(row) {
                assignment.settle(row, class);
            }
        }
        offer.taken.iter().for_each(|&(share, weight)| assignment.lend(share, weight, class));
    };
    auction(assignment, &meetings, offer, accept, watch)?;
    assignment.sweep();
    Ok(())
}

/// How a group could be filled up.
struct Offer {
    value: u64,
    /// Free rows of the group.
    own: u64,
    /// What the borrowed rows lose in all.
    loss: f64,
    /// (share, rows borrowed)
    taken: Vec<(u32, u64)>,
}

impl Offer {
    /// The greatest goes first: least loss per free row, then most free rows.
    fn rank(&self) -> (Reverse<u64>, u64) {
        (Reverse((self.loss / self.own as f64).max(0.0).to_bits()), self.own)
    }
}

struct Market<'a> {
    lenders: &'a Lenders,
    k: u64,
    most: u64,
    /// Rows of each class that the offer under way takes; zeros between offers.
    spent: Vec<u64>,
}

impl Market<'_> {
    /// The cheapest way to fill a group up now; `None` if no free row is left in it, or there
    /// are too few lenders, or they lose too much.
    fn offer(
        &mut self,
        assignment: &Assignment<'_>,
        form: &[u16],
        meeting: &Meeting,
        group: usize,
    ) -> Option<Offer> {
        let members =
            meeting.members.list(group).iter().map(|&place| assignment.free[place as usize]);
        let members = members.filter(|&row| assignment.is_free(row));
        let own: u64 = members.clone().map(|row| assignment.weight(row)).sum();
        let value = assignment.value(form, members.into_iter().next()?);
        let mut offer = Offer { value, own, loss: 0.0, taken: Vec::new() };
        let mut lacking = self.k.saturating_sub(own);
        self.spent.resize(assignment.classes.len(), 0);
        for &lender in meeting.guests.list(group) {
            if lacking == 0 {
                break;
            }
            let number = self.lenders.shares[lender as usize];
            let share = &assignment.shares[number as usize];
            let class = &assignment.classes[share.class as usize];
            let spent = &mut self.spent[share.class as usize];
            let weight =
                (class.size - *spent).saturating_sub(self.k).min(share.weight).min(lacking);
            if weight > 0 {
                *spent += weight;
                lacking -= weight;
                offer.loss += weight as f64 * (class.value as f64 - value as f64);
                offer.taken.push((number, weight));
            }
        }
        for &(share, _) in &offer.taken {
            self.spent[assignment.shares[share as usize].class as usize] = 0;
        }
        (lacking == 0 && offer.loss <= self.most as f64 * own as f64).then_some(offer)
    }
}
