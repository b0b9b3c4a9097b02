//! New classes of free rows.

use super::Band;
use super::assignment::Assignment;
use crate::k_anonymize::group::{Lists, Meeting, meetings};
use crate::k_anonymize::prepare::mix;
use crate::k_anonymize::rule::{self, Rule, Tally};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use table::{Stop, Watch};

/// Opens classes of free rows in the forms of one band; returns the score of each form.
///
/// The groups of at least k rows compete, because a row can be in a group of each form. Groups that lose clearly less
/// go first (losses are compared in steps of the band's grain), then those with most need. The need of a row is one
/// divided by the number of its groups, so that rows without alternatives get a class before those with a choice.
pub(crate) fn open(
    assignment: &mut Assignment<'_>,
    band: &Band<'_>,
    rule: &Rule,
    watch: &Watch,
) -> Result<Vec<u64>, Stop> {
    let left = |row: u32| assignment.left(row);
    let meetings = meetings(assignment.people, &assignment.free, left, band.forms, rule.k, watch)?;
    Contest::new(assignment, band, &meetings).run(assignment, band.lean, rule, watch)?;
    assignment.sweep();
    Ok(meetings.iter().map(|meeting| meeting.score).collect())
}

/// The groups of all forms of a band, and their remaining free rows.
#[derive(Default)]
struct Contest {
    cost: Vec<u64>,
    key: Vec<u64>,
    shake: Vec<f64>,
    /// Free rows of each group.
    rows: Vec<u64>,
    /// The need of each group: its free rows, each divided by the number of its groups.
    need: Vec<f64>,
    /// The members of each group, as places among the free rows.
    members: Lists,
    /// The groups of each place.
    groups: Lists,
}

impl Contest {
    fn new(assignment: &Assignment<'_>, band: &Band<'_>, meetings: &[Meeting]) -> Self {
        let mut contest = Contest::default();
        for (form, meeting) in meetings.iter().enumerate() {
            let offset = contest.members.items.len() as u32;
            contest.members.items.extend_from_slice(&meeting.members.items);
            contest.members.ends.extend(meeting.members.ends.iter().map(|end| end + offset));
            contest.key.extend_from_slice(&meeting.keys);
            for group in 0..meeting.keys.len() {
                let first = assignment.free[meeting.members.list(group)[0] as usize];
                contest.cost.push(band.loss(assignment.people, first, form) / band.grain);
            }
        }
        let members = &contest.members;
        contest.groups = Lists::gather(assignment.free.len(), || {
            (0..members.ends.len())
                .flat_map(|group| members.list(group).iter().map(move |&p| (p, group as u32)))
        });
        for group in 0..contest.key.len() {
            let places = contest.members.list(group);
            contest
                .rows
                .push(places.iter().map(|&p| assignment.left(assignment.free[p as usize])).sum());
            contest.need.push(places.iter().map(|&p| contest.urgency(assignment, p)).sum());
            // Between 3/4 and 5/4.
            let stir = |key| mix(key ^ band.shake) as f64 / u64::MAX as f64 / 2.0 + 0.75;
            contest.shake.push(if band.shake == 0 { 1.0 } else { stir(contest.key[group]) });
        }
        contest
    }

    fn urgency(&self, assignment: &Assignment<'_>, place: u32) -> f64 {
        let weight = assignment.left(assignment.free[place as usize]);
        weight as f64 / self.groups.list(place as usize).len() as f64
    }

    /// The current rank of a group; the greatest goes first.
    fn standing(&self, group: usize) -> (Reverse<u64>, u64, u64, u32) {
        // For floats that are not negative, the bits have the same order as the numbers.
        let need = (self.need[group] * self.shake[group]).max(0.0).to_bits();
        (Reverse(self.cost[group]), need, self.key[group], group as u32)
    }

    fn run(
        mut self,
        assignment: &mut Assignment<'_>,
        lean: bool,
        rule: &Rule,
        watch: &Watch,
    ) -> Result<(), Stop> {
        let mut heap: BinaryHeap<_> = (0..self.key.len()).map(|g| self.standing(g)).collect();
        let mut steps = 0;
        while let Some(top) = heap.pop() {
            steps += 1;
            watch.poll_every(1024, steps)?;
            let group = top.3 as usize;
            if self.rows[group] < rule.k {
                continue;
            }
            // Rows were taken since it was put on the heap, so it is put back.
            let now = self.standing(group);
            if now != top {
                heap.push(now);
                continue;
            }
            let taken = self.take(assignment, group, rule);
            if taken.is_empty() {
                continue;
            }
            let rows: Vec<u32> =
                taken.iter().map(|&(place, _)| assignment.free[place as usize]).collect();
            let loss = if lean { self.cost[group] } else { assignment.least_loss(&rows) };
            let class = assignment.class(loss);
            for (&(place, weight), row) in taken.iter().zip(rows) {
                self.withdraw(place, weight);
                assignment.settle(row, weight, class);
            }
        }
        Ok(())
    }

    /// The free rows of a group that can be a class, as places and copies.
    fn take(&self, assignment: &Assignment<'_>, group: usize, rule: &Rule) -> Vec<(u32, u64)> {
        let left = |place: u32| assignment.left(assignment.free[place as usize]);
        let places = self.members.list(group).iter().map(|&place| (place, left(place)));
        let mut taken: Vec<(u32, u64)> = places.filter(|&(_, left)| left > 0).collect();
        if rule.is_plain() {
            return taken;
        }
        let value =
            |place: u32| assignment.people.sensitive[assignment.free[place as usize] as usize];
        let mut tally = Tally::new();
        taken.iter().for_each(|&(place, left)| rule::add(&mut tally, value(place), left));
        if !rule.trim(&mut tally) {
            return Vec::new();
        }
        for (place, weight) in &mut taken {
            let allowed = tally.iter_mut().find(|entry| entry.0 == value(*place));
            *weight = allowed.map_or(0, |entry| {
                let weight = (*weight).min(entry.1);
                entry.1 -= weight;
                weight
            });
        }
        taken.retain(|&(_, weight)| weight > 0);
        taken
    }

    /// Removes copies of a row from all its groups.
    fn withdraw(&mut self, place: u32, weight: u64) {
        let urgency = weight as f64 / self.groups.list(place as usize).len() as f64;
        for &group in self.groups.list(place as usize) {
            self.rows[group as usize] -= weight;
            self.need[group as usize] -= urgency;
        }
    }
}
