//! New classes of free rows.

use super::assignment::Assignment;
use crate::k_anonymize::forms::{Form, Frontier};
use crate::k_anonymize::group::{Crowd, Keys, Lists, Meeting, Scratch};
use crate::k_anonymize::prepare::mix;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use table::{Stop, Watch};

/// Opens classes of free rows in the forms of one band; returns the score of each form.
///
/// The groups of at least k rows compete, for a row can be in one of each form. The cheapest go
/// first, then those with most need: a row counts as one divided by the number of its groups, so
/// that rows with nowhere else to go are not left behind by those with a choice.
///
/// `shake` other than 0 stirs the needs a little, differently for each number.
pub(crate) fn open(
    assignment: &mut Assignment<'_>,
    frontier: &Frontier<'_>,
    forms: &[Form],
    k: u64,
    shake: u64,
    watch: &Watch,
) -> Result<Vec<u64>, Stop> {
    if assignment.keyed.nulls {
        join(assignment, forms, watch)?;
    }
    let weights: Vec<u64> = assignment.free.iter().map(|&row| assignment.weight(row)).collect();
    let crowd = Crowd {
        seekers: &assignment.keyed.select(assignment.free.iter().copied()),
        weights: &weights,
        others: &assignment.keyed.select([].into_iter()),
        gifts: &[],
        k,
        choice: 0,
    };
    let meetings: Vec<Meeting> = forms
        .par_iter()
        .map_init(Scratch::default, |scratch, form| crowd.meet(form, 0, scratch, watch))
        .collect::<Result<_, Stop>>()?;
    let costs: Vec<u64> = forms.iter().map(|form| frontier.cost(form)).collect();
    Contest::new(assignment, &costs, &meetings, shake).run(assignment, forms, k, watch)?;
    assignment.sweep();
    Ok(meetings.iter().map(|meeting| meeting.score).collect())
}

/// Free rows that fit a class there is join it. A row with NULLs can: what a form leaves of it
/// may be what an earlier form left of others.
fn join(assignment: &mut Assignment<'_>, forms: &[Form], watch: &Watch) -> Result<(), Stop> {
    let free = assignment.keyed.select(assignment.free.iter().copied());
    let mut keys = Vec::new();
    for form in forms {
        watch.check()?;
        free.keys(form, 0, free.len(), &mut keys);
        for (place, key) in keys.iter().enumerate() {
            let row = assignment.free[place];
            if let Some(&class) = assignment.by_key.get(key)
                && assignment.is_free(row)
            {
                assignment.settle(row, class);
            }
        }
    }
    assignment.sweep();
    Ok(())
}

/// The groups of all forms of a band, and what they still have.
struct Contest {
    form: Vec<u32>,
    cost: Vec<u64>,
    key: Vec<u64>,
    shake: Vec<f64>,
    /// Free rows.
    rows: Vec<u64>,
    /// The same, each divided by the number of groups it is in.
    need: Vec<f64>,
    /// Places among the free rows.
    members: Lists,
    /// The groups of each place.
    groups: Lists,
}

impl Contest {
    fn new(assignment: &Assignment<'_>, costs: &[u64], meetings: &[Meeting], shake: u64) -> Self {
        let mut contest = Contest {
            form: Vec::new(),
            cost: Vec::new(),
            key: Vec::new(),
            shake: Vec::new(),
            rows: Vec::new(),
            need: Vec::new(),
            members: Lists::default(),
            groups: Lists::default(),
        };
        for (form, (meeting, &cost)) in meetings.iter().zip(costs).enumerate() {
            let offset = contest.members.items.len() as u32;
            contest.members.items.extend_from_slice(&meeting.members.items);
            contest.members.ends.extend(meeting.members.ends.iter().map(|end| end + offset));
            contest.key.extend_from_slice(&meeting.keys);
            contest.form.resize(contest.key.len(), form as u32);
            contest.cost.resize(contest.key.len(), cost);
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
                .push(places.iter().map(|&p| assignment.weight(assignment.free[p as usize])).sum());
            contest.need.push(places.iter().map(|&p| contest.urgency(assignment, p)).sum());
            // Between 3/4 and 5/4.
            let stir = mix(contest.key[group] ^ shake) as f64 / u64::MAX as f64 / 2.0 + 0.75;
            contest.shake.push(if shake == 0 { 1.0 } else { stir });
        }
        contest
    }

    fn urgency(&self, assignment: &Assignment<'_>, place: u32) -> f64 {
        let weight = assignment.weight(assignment.free[place as usize]);
        weight as f64 / self.groups.list(place as usize).len() as f64
    }

    /// Where a group stands now: the greatest goes first.
    fn standing(&self, group: usize) -> (Reverse<u64>, u64, u64, u32) {
        // The bits of floats that are not negative are in their order.
        let need = (self.need[group] * self.shake[group]).max(0.0).to_bits();
        (Reverse(self.cost[group]), need, self.key[group], group as u32)
    }

    fn run(
        mut self,
        assignment: &mut Assignment<'_>,
        forms: &[Form],
        k: u64,
        watch: &Watch,
    ) -> Result<(), Stop> {
        let mut heap: BinaryHeap<_> = (0..self.key.len()).map(|g| self.standing(g)).collect();
        let mut steps = 0;
        while let Some(top) = heap.pop() {
            steps += 1;
            watch.poll_every(1024, steps)?;
            let group = top.3 as usize;
            if self.rows[group] < k {
                continue;
            }
            // Rows were taken since it was put here: it has to queue again.
            let now = self.standing(group);
            if now != top {
                heap.push(now);
                continue;
            }
            let mut class = None;
            for i in self.members.range(group) {
                let place = self.members.items[i];
                let row = assignment.free[place as usize];
                if !assignment.is_free(row) {
                    continue;
                }
                let class = *class.get_or_insert_with(|| {
                    let value = assignment.value(&forms[self.form[group] as usize], row);
                    assignment.class(self.key[group], value)
                });
                assignment.settle(row, class);
                self.withdraw(assignment, place);
            }
        }
        Ok(())
    }

    /// Takes a row out of all its groups.
    fn withdraw(&mut self, assignment: &Assignment<'_>, place: u32) {
        let weight = assignment.weight(assignment.free[place as usize]);
        let urgency = self.urgency(assignment, place);
        for &group in self.groups.list(place as usize) {
            self.rows[group as usize] -= weight;
            self.need[group as usize] -= urgency;
        }
    }
}
