//! The search for classes, form by form.

mod assignment;
mod differences;
mod frontier;
mod lending;
mod new_classes;
mod suggest;

pub(crate) use assignment::{Assignment, Share};
pub(crate) use frontier::Form;

use super::prepare::{People, UNIT};
use super::rule::Rule;
use frontier::Frontier;
use lending::borrow;
use new_classes::open;
use suggest::suggest;
use table::{Stop, Watch};

/// What limits the search, never the promise.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    /// Whether there are only values and blanks, and nothing is improved later: a quick search, with narrow
    /// bands and forms that are suggested by rows.
    lean: bool,
    /// Forms that raise more columns than this are tried only a few at a time.
    max_length: usize,
    /// Lean searches of the same table differ in this number; 0 is the plain one.
    shake: u64,
    /// Rows grouped in one band, so that the work is linear in the rows whatever the columns; and those that
    /// rows are borrowed from.
    entries: usize,
    lenders: usize,
    /// The most forms of a band: each is extended by every column, which must not take longer than to try it
    /// on a small table.
    forms: usize,
}

/// Cells compared at most to find forms for the last rows: about a second.
const LAST_CELLS: usize = 1 << 28;

/// The most forms of a band beyond the length that the caller set.
const FEW_FORMS: usize = 16;

/// What may be lost per free row to fill a class up, in hundredths of a cell: a seventh; more is what the
/// next bands cost. In a lean search, by try: half a cell is best for most tables, and a whole one is what
/// the next band costs.
const LOSS: u64 = 15;
const LEAN_LOSSES: [u64; 4] = [50, 25, 100, 400];

/// Losses of groups of a band that differ by less than a part of its width are taken as equal.
const GRAINS: u64 = 20;

/// Forms suggested for a row.
const NEAREST: usize = 4;

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

impl Effort {
    /// A quick search for what to blank.
    pub fn lean(people: &People, max_length: Option<usize>, shake: u64) -> Self {
        let (rows, width) = (people.len(), people.width());
        let entries = (32 * rows + (1 << 20)).min(1 << 31);
        let forms = ((64 * rows).clamp(1 << 10, 1 << 13) / width.max(1)).max(FEW_FORMS);
        let max_length = max_length.unwrap_or(usize::MAX);
        Effort { lean: true, max_length, shake, entries, lenders: 2 * entries, forms }
    }

    /// A search whose classes are improved later. If only the size of a class counts few rows are left for
    /// most forms; otherwise many may be, and fewer forms do.
    pub fn thorough(people: &People, max_length: Option<usize>, rule: &Rule) -> Self {
        let (rows, width) = (people.len(), people.width());
        let entries = (12 * rows + (3 << 17)).min(1 << 31) * 9 / width.max(9);
        let entries = if rule.is_plain() { entries } else { entries / 3 };
        let forms = ((64 * rows).clamp(1 << 10, 1 << 16) / width.max(1)).max(FEW_FORMS);
        let max_length = max_length.unwrap_or(usize::MAX);
        Effort { lean: false, max_length, shake: 0, entries, lenders: entries, forms }
    }

    /// What may be lost per free row to fill a class up, where a cell of the cheapest column is worth `cell`.
    fn loss(&self, cell: u64) -> u64 {
        match self.lean {
            true => cell * LEAN_LOSSES[(self.shake % LEAN_LOSSES.len() as u64) as usize] / 100,
            false => UNIT as u64 * LOSS / 100,
        }
    }

    /// The bytes that a search takes: cells of all rows, of the free ones and of those to borrow, and the
    /// groups of a band.
    pub fn bytes(&self, rows: usize, width: usize) -> u64 {
        3 * People::bytes(rows, width) + self.entries as u64 * if self.lean { 12 } else { 24 }
    }
}

/// Forms that are tried together.
pub(crate) struct Band<'b> {
    forms: &'b [Form],
    /// What a row loses on average in each.
    costs: Vec<u64>,
    /// Whether all rows are taken to lose that.
    lean: bool,
    /// Losses that differ by less are taken as equal.
    grain: u64,
    /// Other than 0 it stirs the needs of groups a little, differently for each number.
    shake: u64,
}

impl<'b> Band<'b> {
    fn new(forms: &'b [Form], frontier: &Frontier, effort: &Effort) -> Self {
        let costs = forms.iter().map(|form| frontier.cost(form)).collect();
        let Effort { lean, shake, .. } = *effort;
        let grain = if lean { 1 } else { (frontier.band / GRAINS).max(1) };
        Band { forms, costs, lean, grain, shake }
    }

    /// What a row loses in a form.
    fn loss(&self, people: &People, row: u32, form: usize) -> u64 {
        if self.lean { self.costs[form] } else { people.loss(row, &self.forms[form]) }
    }
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
/// (`new_classes`); groups that lack a few rows borrow them (`lending`); the others wait for the next band.
/// The last form is blank, so that few rows are left.
pub(crate) fn search<'a>(
    people: &'a People,
    rule: &Rule,
    effort: &Effort,
    watch: &Watch,
) -> Result<Found<'a>, Stop> {
    let (rows, width) = (people.len(), people.width());
    let mut assignment = Assignment::new(people);
    let mut frontier = Frontier::new(people, effort.lean, watch)?;
    let mut tried: Vec<Vec<Form>> = Vec::new();
    let mut suggested = !effort.lean;
    while !assignment.free.is_empty() {
        let cells = assignment.free.len().saturating_mul(rows).saturating_mul(width);
        if !suggested && cells <= compared(width) {
            frontier.suggest(suggest(people, &assignment.free, rule.k, NEAREST, watch)?);
            suggested = true;
        }
        let raised = |form: &Form| form.iter().filter(|&&level| level > 0).count();
        let last = tried.last().is_some_and(|t| t.iter().any(|f| raised(f) >= effort.max_length));
        let most = if last { FEW_FORMS } else { effort.forms };
        let most = most.min(effort.entries / assignment.free.len());
        let Some(forms) = frontier.next(most) else { break };
        let before = assignment.free.len();
        let scores = open(&mut assignment, &Band::new(&forms, &frontier, effort), rule, watch)?;
        if !assignment.free.is_empty() && rule.is_plain() && !tried.is_empty() {
            let most = effort.lenders / assignment.shares.len().max(1);
            let band = Band::new(&forms[..most.clamp(1, forms.len())], &frontier, effort);
            borrow(&mut assignment, &band, rule.k, effort.loss(frontier.cell), watch)?;
        }
        for (form, score) in forms.iter().zip(scores) {
            frontier.extend(form, score);
        }
        tried.push(forms);
        watch.advance((before - assignment.free.len()) as u64);
    }
    watch.advance(assignment.free.len() as u64);
    if effort.lean && !assignment.free.is_empty() {
        // The last rows lend in the forms that are nearest to them, at any price below that of dropping them.
        let few =
            &assignment.free[..assignment.free.len().min(LAST_CELLS / (rows * width).max(1) + 16)];
        let forms = suggest(people, few, rule.k, 1, watch)?;
        let most = assignment.free.iter().map(|&row| people.worth(row)).min().unwrap_or(0);
        let band = Band::new(&forms, &frontier, effort);
        borrow(&mut assignment, &band, rule.k, most, watch)?;
    }
    Ok(Found { assignment, forms: tried })
}
