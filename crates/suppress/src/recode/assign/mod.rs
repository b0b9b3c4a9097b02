//! Which rows share a class.

mod assignment;
mod borrow;
mod frontier;
mod open;

pub(crate) use assignment::{Assignment, Share};
pub(crate) use frontier::Form;

use crate::recode::prepare::{People, UNIT};
use crate::recode::rule::Rule;
use borrow::borrow;
use frontier::Frontier;
use open::open;
use table::{Stop, Watch};

/// What may be lost per free row to fill a class up: a seventh of a cell. More is what the next bands
/// cost.
const LOSS: f64 = 0.15 * UNIT;

/// Losses of groups of a band that differ by less than a part of its width are taken as equal.
const GRAINS: u64 = 20;

/// Rows grouped in one band, so that the work is linear in the rows whatever the columns. If only the
/// size of a class counts few rows are left for most forms; otherwise many may be, and fewer forms do.
fn entries(rows: usize, width: usize, rule: &Rule) -> usize {
    let entries = (12 * rows + (3 << 17)).min(1 << 31) * 9 / width.max(9);
    if rule.is_plain() { entries } else { entries / 3 }
}

/// The most forms of a band: each is extended by every column, which must not take longer than
/// to try it on a small table.
fn forms(rows: usize, width: usize) -> usize {
    ((64 * rows).clamp(1 << 10, 1 << 16) / width.max(1)).max(16)
}

/// The bytes that a search takes: cells of all rows, of the free ones and of those to borrow, and the
/// groups of a band.
pub(crate) fn bytes(rows: usize, width: usize) -> u64 {
    3 * People::bytes(rows, width) + (12 * rows as u64 + (3 << 17)) * 24
}

/// What a search has found.
pub(crate) struct Found<'a> {
    /// Classes; some rows may be free.
    pub assignment: Assignment<'a>,
    /// The forms that were tried, band by band.
    pub forms: Vec<Vec<Form>>,
}

/// Chooses a class for as many rows as it can.
///
/// Band by band of loss: rows that are alike in a form of the band get a class if the rule holds for them
/// (`open`); groups that lack a few rows borrow them (`borrow`); the others wait for the next band. The
/// last form is blank, so that few rows are left.
pub(crate) fn search<'a>(
    people: &'a People,
    rule: &Rule,
    watch: &Watch,
) -> Result<Found<'a>, Stop> {
    let mut assignment = Assignment::new(people);
    let mut frontier = Frontier::new(people, watch)?;
    let entries = entries(people.len(), people.width(), rule);
    let mut tried = Vec::new();
    watch.begin(people.len() as u64);
    while !assignment.free.is_empty() {
        let most = forms(people.len(), people.width());
        let most = most.min(entries / assignment.free.len());
        let Some(forms) = frontier.next(most) else { break };
        let before = assignment.free.len();
        let grain = (frontier.band() / GRAINS).max(1);
        let scores = open(&mut assignment, &forms, rule, grain, watch)?;
        if !assignment.free.is_empty() && rule.is_plain() && !tried.is_empty() {
            let most = entries / assignment.shares.len().max(1);
            let forms = &forms[..most.clamp(1, forms.len())];
            let costs: Vec<u64> = forms.iter().map(|form| frontier.cost(form)).collect();
            borrow(&mut assignment, forms, &costs, rule.k, LOSS as u64, watch)?;
        }
        for (form, score) in forms.iter().zip(scores) {
            frontier.extend(form, score);
        }
        tried.push(forms);
        watch.advance((before - assignment.free.len()) as u64);
    }
    Ok(Found { assignment, forms: tried })
}
