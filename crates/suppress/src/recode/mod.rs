//! k-anonymity by generalisation: cells are shown as what they have in common with those of other rows,
//! at the least loss that can be found. The proof is in `proof.md`.
//!
//! 1. `prepare`: cells at each level of their hierarchy as keys and losses in whole numbers, rows in an
//!    order of their own. `rule` says what a class must have.
//! 2. `assign` gives rows classes, band by band of loss. `assign/frontier` says which forms, levels of all
//!    columns, to try next; groups of rows that a form makes alike get a class (`assign/open`), those that
//!    lack some borrow them (`assign/borrow`).
//! 3. `improve` works on all classes: rows that are left join one (`improve/join`), classes are chosen anew
//!    by what rows would pay for them (`improve/price`), rows change places with those that are like them
//!    (`improve/near`, `improve/swap`), or a few classes near each other (`improve/region`,
//!    `improve/alike`) are opened and dissolved by annealing (`improve/anneal`); at last rows make room for
//!    each other along chains of classes (`improve/chain`). `improve/groups` has what classes are chosen from.
//! 4. `outcome`: each class is shown at the lowest levels at which its rows are alike, and what that loses.
//! 5. `check`: the classes of the release, as its reader sees them, are looked at once more.

mod assign;
mod check;
mod improve;
mod outcome;
mod prepare;
mod rule;

use crate::k_anonymize::prepare::checked as checked_weights;
use crate::{Error, Hierarchy, k_anonymize};
use assign::{Assignment, Form, search};
use improve::Partition;
use prepare::{Column, People};
use rule::Rule;
use table::{Bag, NONE, Release, Stop, Watch};

/// What is asked of a generalised release.
///
/// The first `hierarchies.len()` columns of the bag are generalised; if there is a `sensitive` part the
/// bag has one more column, the sensitive one, which is returned as it is and is no part of the classes.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The least size of a class.
    pub k: u64,
    pub hierarchies: &'a [Hierarchy],
    /// What a cell of each generalised column is worth; 1 each if not given.
    pub weights: Option<&'a [f64]>,
    pub sensitive: Option<Diversity>,
}

/// What every class has in its sensitive column. A NULL there is a value of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Diversity {
    /// The least diversity of a class.
    pub l: Option<f64>,
    pub kind: DiversityKind,
    /// The largest distance of a class from all released rows: half the sum of the differences of shares.
    pub t: Option<f64>,
}

/// What counts as diverse, as `measures::Diversity` has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiversityKind {
    /// The number of different values.
    Distinct,
    /// exp of the entropy of the values.
    Entropy,
}

/// A generalised release.
#[derive(Debug, Clone, PartialEq)]
pub struct Recoded {
    /// Cells have shown codes: see [`Hierarchy`].
    pub release: Release,
    /// What a cell loses on average over all generalised cells of all rows, columns weighted; a cell of
    /// a dropped row loses 1.
    pub loss: f64,
    /// Rows that are not released.
    pub dropped: u64,
}

/// A release in which every class has at least `k` rows and the diversity that is asked for, at the least
/// loss that can be found.
///
/// No row is dropped if the whole table could be one class, and that is so unless more diversity by
/// entropy is asked for than the table has; then as many rows of the frequent values are dropped as it
/// takes. Equal rows need not be shown alike.
///
/// The result depends on the rows only, not on their order or the number of threads.
pub fn generalize(bag: &Bag, request: &Request, watch: &Watch) -> Result<Recoded, Error> {
    let width = request.hierarchies.len();
    let weights = checked_weights(request.weights, width)?;
    let all = bag.row_count();
    if all > 0 && request.k > all {
        return Err(Error::NothingLeft { class: request.k, rows: all });
    }
    let rule = Rule::of_table(request.k, request.sensitive, totals(bag, width))?;
    let (release, losses) = best(bag, request, &weights, &rule, watch)?;
    check::check(&release, bag, request, watch)?;
    outcome::recoded(release, &losses, bag, &weights)
}

/// The best release that is found, not yet looked at, and what its cells lose by column.
fn best(
    bag: &Bag,
    request: &Request,
    weights: &[f64],
    rule: &Rule,
    watch: &Watch,
) -> Result<(Release, Vec<f64>), Error> {
    let width = request.hierarchies.len();
    let columns = request.hierarchies.iter();
    let columns = columns.map(|h| Column::bytes(h.values(), h.height())).sum::<u64>();
    let _held = watch.hold(columns + People::bytes(bag.distinct(), width))?;
    let most = weights.iter().copied().fold(0.0, f64::max);
    let columns = request.hierarchies.iter().zip(weights).enumerate();
    let columns = columns.map(|(number, (h, weight))| Column::new(number, h, weight / most));
    let people = People::new(bag, columns.collect(), watch)?;
    let found = {
        let _held = watch.hold(assign::bytes(people.len(), width))?;
        search(&people, &rule.with_room(), watch)?
    };
    let _held = watch.hold(2 * improve::bytes(people.len(), width))?;
    let mut partition = finish(found.assignment, rule, &found.forms, watch)?;
    // Without general values lean suppression does the same, sometimes better.
    if rule.is_plain() && request.hierarchies.iter().all(|hierarchy| hierarchy.height() == 0) {
        let release = k_anonymize(bag, request.k, request.weights, None, watch)?;
        let lean = Assignment::of_release(&people, &release, bag, watch)?;
        let lean = finish(lean, rule, &found.forms, watch)?;
        if lean.total() < partition.total() {
            partition = lean;
        }
    }
    Ok(outcome::release(&partition, bag, request.hierarchies, watch)?)
}

/// Classes for all rows that can have one, improved.
fn finish<'a>(
    assignment: Assignment<'a>,
    rule: &'a Rule,
    forms: &[Vec<Form>],
    watch: &Watch,
) -> Result<Partition<'a>, Stop> {
    let mut partition = Partition::new(assignment, rule, watch)?;
    partition.join(watch)?;
    improve::improve(&mut partition, forms, watch)?;
    partition.secure();
    Ok(partition)
}

/// Rows by sensitive value, those with NULL last; empty if there is no such column.
fn totals(bag: &Bag, column: usize) -> Vec<u64> {
    totals_of(bag, column, (0..bag.distinct()).map(|row| (row, bag.weight(row))))
}

/// The same of some rows, each given with its copies.
fn totals_of(bag: &Bag, column: usize, rows: impl Iterator<Item = (usize, u64)>) -> Vec<u64> {
    if column >= bag.width() {
        return Vec::new();
    }
    let values = bag.domain(column).len();
    let mut totals = vec![0; values + 1];
    for (row, weight) in rows {
        let value = match bag.row(row)[column] {
            NONE => values,
            code => code as usize,
        };
        totals[value] += weight;
    }
    totals
}
