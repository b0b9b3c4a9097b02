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

/// Limits of the search; they do not affect the guarantee.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    /// A quick search, for cells that can only be blanked and without later improvement: with narrow bands, and with
    /// forms suggested by rows.
    lean: bool,
    /// Of forms that raise more columns than this only a few are tried per band.
    max_length: usize,
    /// A number that varies lean searches of the same table; 0 is the search without variation.
    shake: u64,
    /// The most rows grouped in one band, lending rows included, so that the work is linear in the rows for any number
    /// of columns.
    entries: usize,
    lenders: usize,
    /// The most forms of a band: each is extended by every column, which on a small table must not take longer than
    /// trying it.
    forms: usize,
}

/// The most cells compared to find forms for the last rows: about a second.
const LAST_CELLS: usize = 1 << 28;

/// The most forms of a band beyond the length that the caller set.
const FEW_FORMS: usize = 16;

/// How much may be lost per free row to fill up a class, in hundredths of a cell: about a seventh, because the next
/// bands cost more. In a lean search, by try: half a cell is best for most tables, and a whole one is the cost of the
/// next band.
const LOSS: u64 = 15;
const LEAN_LOSSES: [u64; 4] = [50, 25, 100, 400];

/// Losses of groups that differ by less than this part of the band's width count as equal.
const GRAINS: u64 = 20;

/// Forms suggested for a row.
const NEAREST: usize = 4;

/// The most cells compared to suggest forms. Tables of up to 10 columns need no suggestions, because all their forms
/// can be tried; with some more columns a few suggestions help; wide tables have too many forms for the search to find
/// good ones without suggestions.
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

    /// A search whose classes are improved later. If only the size of a class counts, few rows remain for most forms;
    /// otherwise many may remain, and fewer forms are tried.
    pub fn thorough(people: &People, max_length: Option<usize>, rule: &Rule) -> Self {
        let (rows, width) = (people.len(), people.width());
        let entries = (12 * rows + (3 << 17)).min(1 << 31) * 9 / width.max(9);
        let entries = if rule.is_plain() { entries } else { entries / 3 };
        let forms = ((64 * rows).clamp(1 << 10, 1 << 16) / width.max(1)).max(FEW_FORMS);
        let max_length = max_length.unwrap_or(usize::MAX);
        Effort { lean: false, max_length, shake: 0, entries, lenders: entries, forms }
    }

    /// How much may be lost per free row to fill up a class, if a blank cell of the cheapest column loses `cell`.
    fn loss(&self, cell: u64) -> u64 {
        match self.lean {
            true => cell * LEAN_LOSSES[(self.shake % LEAN_LOSSES.len() as u64) as usize] / 100,
            false => UNIT as u64 * LOSS / 100,
        }
    }

    /// The bytes that a search takes: cells of all rows, of free rows and of rows to borrow, and the groups of a band.
    pub fn bytes(&self, rows: usize, width: usize) -> u64 {
        3 * People::bytes(rows, width) + self.entries as u64 * if self.lean { 12 } else { 24 }
    }
}

/// Forms that are tried together.
pub(crate) struct Band<'b> {
    forms: &'b [Form],
    /// The mean loss of a row in each form.
    costs: Vec<u64>,
    /// Whether that is taken as the loss of every row.
    lean: bool,
    /// Losses that differ by less count as equal.
    grain: u64,
    /// If not 0, it varies the needs of groups a little, differently for each number.
    shake: u64,
}

impl<'b> Band<'b> {
    fn new(forms: &'b [Form], frontier: &Frontier, effort: &Effort) -> Self {
        let costs = forms.iter().map(|form| frontier.cost(form)).collect();
        let Effort { lean, shake, .. } = *effort;
        let grain = if lean { 1 } else { (frontier.band / GRAINS).max(1) };
        Band { forms, costs, lean, grain, shake }
    }

    /// The loss of a row in a form.
    fn loss(&self, people: &People, row: u32, form: usize) -> u64 {
        if self.lean { self.costs[form] } else { people.loss(row, &self.forms[form]) }
    }
}

/// The result of a search.
pub(crate) struct Found<'a> {
    /// Classes; some rows may be free.
    pub assignment: Assignment<'a>,
    /// The forms that were tried, band by band.
    pub forms: Vec<Vec<Form>>,
}

/// Chooses classes for as many rows as possible.
///
/// Band by band of loss: rows that are equal in a form of the band become a class if the rule holds for them
/// (`new_classes`); groups that lack a few rows borrow them (`lending`); other rows remain for the next band. The last
/// form is blank, so few rows remain.
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
        // The last rows borrow in the forms nearest to them, at any cost below that of dropping them.
        let few =
            &assignment.free[..assignment.free.len().min(LAST_CELLS / (rows * width).max(1) + 16)];
        let forms = suggest(people, few, rule.k, 1, watch)?;
        let most = assignment.free.iter().map(|&row| people.worth(row)).min().unwrap_or(0);
        let band = Band::new(&forms, &frontier, effort);
        borrow(&mut assignment, &band, rule.k, most, watch)?;
    }
    Ok(Found { assignment, forms: tried })
}
