//! The search for classes, form by form.

mod assignment;
mod borrow;
mod last;
mod open;

pub(crate) use assignment::{Assignment, Share};

use super::forms::{Frontier, suggest};
use super::prepare::{Keyed, UNIT};
use borrow::borrow;
use last::last;
use open::open;
use table::{Stop, Watch};

/// What limits the search, never the promise.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    pub k: u64,
    /// Forms that blank more columns than this are tried only a few at a time.
    pub max_length: usize,
    /// Tries of the same table differ in this number; 0 is the plain one.
    pub shake: u64,
}

/// The most forms of a band beyond the length that the caller set.
const FEW_FORMS: usize = 16;

/// Cells compared at most to suggest forms. Tables of up to 10 columns need no suggestions, all
/// their forms can be tried; with some more a few help; the forms of wide tables are so many that
/// hardly any is tried otherwise.
fn compared(width: usize) -> usize {
    match width {
        0..=10 => 0,
        11..=16 => 1 << 22,
        _ => 1 << 26,
    }
}

/// What may be lost per free row to fill a class up, by try. Half a cell is best for most tables:
/// a whole one is what the next band costs.
const LOSSES: [u64; 4] = [UNIT / 2, UNIT / 4, UNIT, 4 * UNIT];

/// Rows grouped in one band, so that the work is linear in the rows whatever the columns.
fn entries(rows: usize) -> usize {
    (32 * rows + (1 << 20)).min(1 << 31)
}

/// The most forms of a band: each is extended by every column, which must not take longer than
/// to try it on a small table.
fn forms(rows: usize, width: usize) -> usize {
    ((64 * rows).clamp(1 << 10, 1 << 13) / width.max(1)).max(FEW_FORMS)
}

/// The bytes that a search takes: keys of all rows, of the free ones and of those to borrow, and
/// the groups of a band.
pub(crate) fn bytes(rows: usize, width: usize) -> u64 {
    3 * Keyed::bytes(rows, width) + entries(rows) as u64 * 12
}

/// Chooses a class for every row, or as many as it pays to keep.
///
/// Band by band of cost: rows that meet at least k - 1 others in a form of the band get a class
/// (`open`); groups that lack a few rows borrow them (`borrow`); the others wait for the next band. Rows that
/// no band has served are settled one by one (`last`).
pub(crate) fn search<'a>(
    keyed: &'a Keyed,
    units: &'a [u64],
    effort: Effort,
    watch: &Watch,
) -> Result<Assignment<'a>, Stop> {
    let k = effort.k;
    let mut assignment = Assignment::new(keyed, units);
    let mut frontier = Frontier::new(units);
    let mut long = false;
    watch.begin(keyed.len() as u64);
    let mut suggested = false;
    while !assignment.free.is_empty() {
        let cells = assignment.free.len().saturating_mul(keyed.len()).saturating_mul(units.len());
        if !suggested && cells <= compared(units.len()) {
            frontier.suggest(suggest(keyed, units, &assignment.free, k, watch)?);
            suggested = true;
        }
        let most = if long { FEW_FORMS } else { forms(keyed.len(), units.len()) };
        let Some(forms) = frontier.next(most.min(entries(keyed.len()) / assignment.free.len()))
        else {
            break;
        };
        let before = assignment.free.len();
        let scores = open(&mut assignment, &frontier, &forms, k, effort.shake, watch)?;
        if !assignment.free.is_empty() && forms.iter().any(|form| !form.is_empty()) {
            let most = 2 * entries(keyed.len()) / assignment.shares.len().max(1);
            let forms = &forms[..most.clamp(1, forms.len())];
            let loss = LOSSES[(effort.shake % LOSSES.len() as u64) as usize];
            borrow(&mut assignment, forms, k, loss, watch)?;
        }
        for (form, score) in forms.iter().zip(scores) {
            frontier.extend(form, score);
        }
        long = forms.iter().any(|form| form.len() >= effort.max_length);
        watch.advance((before - assignment.free.len()) as u64);
    }
    last(&mut assignment, k, watch)?;
    Ok(assignment)
}
