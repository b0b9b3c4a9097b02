//! k-anonymity: cells are blanked, or shown as a general value that they share with those of other rows, at the least
//! loss that can be found. Suppression is the case of hierarchies without general values. The proof is in `proof.md`.
//!
//! 1. `prepare`: keys and integer losses of cells at each level of their hierarchy, and rows in an order that depends
//!    on their content only. `rule` says what a class must have.
//! 2. `search` puts rows into classes, band by band of loss. A form is a choice of levels for all columns;
//!    `search/frontier` chooses the forms to try next, and `group` finds the rows that a form makes equal. Groups of
//!    equal rows become classes (`search/new_classes`), groups that are too small borrow rows (`search/lending`). If
//!    cells can only be blanked, the search is a lean one, repeated on small tables, and its classes are the result; a
//!    table of a few rows is solved by trying everything (`exact`).
//! 3. `improve` works on all classes: remaining rows join one (`improve/join`). With general values, classes are chosen
//!    again by prices of rows (`improve/prices`), rows change places with similar ones (`improve/near`,
//!    `improve/swap`), and rows make room for each other along chains of classes (`improve/chain`).
//!    `improve/candidates` has the groups that classes are chosen from.
//! 4. With units the search counts a unit once for each different row that it has. `unit_classes` then decides whose
//!    copies are in which class, and mends the classes that have too few units.
//! 5. `outcome`: each class is shown at the lowest levels at which its rows are alike, and the loss is computed.
//! 6. `check`: the classes of the release, as its reader sees them, are counted. Small ones are dropped, and the
//!    remaining ones are checked once more.

mod check;
mod exact;
mod group;
mod improve;
mod outcome;
mod prepare;
mod rule;
mod search;
mod unit_classes;

use crate::{Error, Hierarchy, counted};
use improve::Partition;
use prepare::{Column, People, checked_weights};
use rayon::prelude::*;
use rule::Rule;
use search::{Effort, Form, search};
use table::{Bag, NONE, Release, Stop, Units, Watch};
use unit_classes::{OfUnit, Terms, UnitClasses};

/// The requirements for a k-anonymous release.
///
/// If there is a `diversity` the last column of the bag is the sensitive one, which is returned as it is and is not
/// part of the classes. All others are protected.
#[derive(Debug, Clone, Copy, Default)]
pub struct KAnonymity<'a> {
    /// The least size of a class, in rows or in units.
    pub k: u64,
    /// The hierarchies of the protected columns; without them cells are only blanked.
    pub hierarchies: Option<&'a [Hierarchy]>,
    /// The weight of each protected column; 1 each if not given.
    pub weights: Option<&'a [f64]>,
    /// Limits the search, not the guarantee: of forms that change more columns only a few are tried per band.
    pub max_length: Option<usize>,
    pub diversity: Option<Diversity>,
}

/// Requirements for the sensitive column in every class. A NULL there is a value of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Diversity {
    /// The least diversity of a class.
    pub l: Option<f64>,
    pub kind: DiversityKind,
    /// The largest distance of a class from all released rows: half the sum of the differences of shares.
    pub t: Option<f64>,
}

/// The definition of diversity, as in `measures::Diversity`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiversityKind {
    /// The number of different values.
    Distinct,
    /// exp of the entropy of the values.
    Entropy,
}

/// A k-anonymous release.
#[derive(Debug, Clone, PartialEq)]
pub struct KAnonymized {
    /// Cells have shown codes: see [`Hierarchy`].
    pub release: Release,
    /// The mean loss over all protected cells of all rows, weighted by columns; a cell of a dropped row loses 1.
    pub loss: f64,
    /// The number of rows that are not released.
    pub dropped: u64,
}

/// A release in which every class has at least `k` rows and the diversity that is asked for, at the least loss that can
/// be found. Equal rows need not be shown alike: copies that a class can spare may fill up another class.
///
/// Where cells are only blanked and no diversity is asked for, the cost is the sum of the weights of blanked cells plus
/// twice the cells of dropped rows. Tables of up to 13 rows get the best possible release. Others are searched form by
/// form, which is linear in the rows but for sorting them: 30,000 rows of 9 columns take a tenth of a second. Otherwise
/// more work is done for less loss, and no row is dropped if the whole table could be one class. It could not if more
/// diversity by entropy is asked for than the table has: then rows of the frequent values are dropped, as many as
/// necessary.
///
/// With units, every class has rows of at least `k` different ones, and diversity and closeness are those of units as
/// [`Terms`] defines them. All copies of a row that one unit has are shown alike; where the units of a row are in
/// different classes, the release says whose copies are where. Rows without a unit are in classes and count for nobody.
///
/// The result depends on the rows only, not on their order or the number of threads.
pub fn k_anonymize(
    bag: &Bag,
    units: Option<&Units>,
    asked: &KAnonymity,
    watch: &Watch,
) -> Result<KAnonymized, Error> {
    let width = bag.width() - usize::from(asked.diversity.is_some());
    let weights = checked_weights(asked.weights, width)?;
    let all = counted(bag, units, watch)?;
    if bag.row_count() > 0 && asked.k > all {
        return Err(Error::NothingLeft { class: asked.k, rows: all });
    }
    if let (Some(units), Some(asked)) = (units, asked.diversity) {
        unit_classes::diverse_enough(bag, units, width, asked, watch)?;
    }
    let rule = Rule::of_table(asked.k, asked.diversity, totals(bag, units, width))?;
    let flat: Vec<Hierarchy> = match asked.hierarchies {
        Some(_) => Vec::new(),
        None => bag.domains()[..width].iter().map(|d| Hierarchy::flat(d.len())).collect(),
    };
    let hierarchies = asked.hierarchies.unwrap_or(&flat);
    let (release, losses) = best(bag, units, asked, hierarchies, &weights, &rule, watch)?;
    let release = check::checked(release, bag, units, width, asked, watch)?;
    Ok(outcome::k_anonymized(release, &losses, bag, &weights))
}

/// The best release found, not yet checked, and the losses of its cells by column.
fn best(
    bag: &Bag,
    units: Option<&Units>,
    asked: &KAnonymity,
    hierarchies: &[Hierarchy],
    weights: &[f64],
    rule: &Rule,
    watch: &Watch,
) -> Result<(Release, Vec<f64>), Error> {
    let columns = hierarchies.iter();
    let columns = columns.map(|h| Column::bytes(h.values(), h.height())).sum::<u64>();
    let _held = watch.hold(columns + People::bytes(bag.distinct(), hierarchies.len()))?;
    let most = weights.iter().copied().fold(0.0, f64::max);
    let columns = hierarchies.iter().zip(weights).enumerate();
    let columns = columns.map(|(number, (h, weight))| Column::new(number, h, weight / most));
    let people = People::new(bag, units, columns.collect(), watch)?;
    // Progress counts the first search; everything after it is the rest.
    watch.begin(people.len() as u64);
    let is_lean = asked.hierarchies.is_none() && rule.is_plain();
    let partition = if is_lean {
        lean(bag, &people, rule, asked.max_length, watch)?
    } else {
        thorough(bag, &people, rule, asked.max_length, watch)?
    };
    let _held = watch.hold(improve::bytes(people.len(), people.width()))?;
    let Some(units) = units else {
        return Ok(outcome::release(&partition, bag, hierarchies, watch)?);
    };
    let _held = watch.hold(UnitClasses::bytes(bag, units))?;
    let mut classes = UnitClasses::new(partition, bag, units, watch)?;
    match asked.diversity {
        None => classes.mend(is_lean, watch)?,
        Some(asked) => classes.mend_diverse(asked, watch)?,
    }
    let nobody = classes.join_nobody(is_lean, watch)?;
    Ok(outcome::release_of_units(&classes, &nobody, hierarchies, watch)?)
}

/// Classes at low loss, found quickly if cells can only be blanked. Rows that would cost others more than twice their
/// own cells get none.
fn lean<'a>(
    bag: &Bag,
    people: &'a People,
    rule: &'a Rule,
    max_length: Option<usize>,
    watch: &Watch,
) -> Result<Partition<'a>, Stop> {
    if people.total() <= exact::ROWS {
        return Partition::of_classes(people, rule, exact::classes(bag, people, rule.k), watch);
    }
    let tries = (0..tries(people.len(), people.width())).into_par_iter().map(|shake| {
        let effort = Effort::lean(people, max_length, shake);
        let found = {
            let _held = watch.hold(effort.bytes(people.len(), people.width()))?;
            search(people, rule, &effort, watch)?.assignment
        };
        let _held = watch.hold(improve::bytes(people.len(), people.width()))?;
        let mut partition = Partition::new(found, rule, watch)?;
        partition.join_or_drop(watch)?;
        Ok(partition)
    });
    let tries = tries.collect::<Result<Vec<Partition<'a>>, Stop>>()?;
    let best = tries.into_iter().reduce(|a, b| if b.cost() < a.cost() { b } else { a });
    // There is at least one try.
    best.map_or_else(|| Partition::of_classes(people, rule, Vec::new(), watch), Ok)
}

/// Small tables are searched several times in slightly different ways; the larger the table, the fewer times.
fn tries(rows: usize, width: usize) -> u64 {
    let size = rows.max(1).saturating_mul(1 + width * width / 36);
    ((1 << 14) / size).clamp(1, 16) as u64
}

/// Classes at lower loss, for all rows if the rule allows it.
fn thorough<'a>(
    bag: &Bag,
    people: &'a People,
    rule: &'a Rule,
    max_length: Option<usize>,
    watch: &Watch,
) -> Result<Partition<'a>, Stop> {
    let effort = Effort::thorough(people, max_length, rule);
    let found = {
        let _held = watch.hold(effort.bytes(people.len(), people.width()))?;
        search(people, &rule.with_room(), &effort, watch)?
    };
    let _held = watch.hold(improve::bytes(people.len(), people.width()))?;
    let partition = Partition::new(found.assignment, rule, watch)?;
    let partition = finished(partition, &found.forms, watch)?;
    if !rule.is_plain() || people.columns.iter().any(|column| column.levels() > 2) {
        return Ok(partition);
    }
    // Without general values the lean search solves the same task, sometimes better.
    let other = lean(bag, people, rule, max_length, watch)?;
    let _held = watch.hold(improve::bytes(people.len(), people.width()))?;
    let other = finished(other, &found.forms, watch)?;
    Ok(if other.total() < partition.total() { other } else { partition })
}

/// Classes for all rows that can have one, improved.
fn finished<'a>(
    mut partition: Partition<'a>,
    forms: &[Vec<Form>],
    watch: &Watch,
) -> Result<Partition<'a>, Stop> {
    partition.join(watch)?;
    improve::improve(&mut partition, forms, watch)?;
    partition.secure();
    Ok(partition)
}

/// Rows by sensitive value, those with NULL last; empty if there is no such column. With units, rows count as in
/// [`People`].
fn totals(bag: &Bag, units: Option<&Units>, column: usize) -> Vec<u64> {
    if column >= bag.width() {
        return Vec::new();
    }
    let mut totals = vec![0; bag.domain(column).len() + 1];
    let weight = |row: usize| match units {
        None => bag.weight(row),
        Some(units) => units.of(row).len() as u64,
    };
    (0..bag.distinct()).for_each(|row| totals[value(bag, row, column) as usize] += weight(row));
    totals
}

/// The value of a row in a column; one more than the last code if that is NULL.
fn value(bag: &Bag, row: usize, column: usize) -> u32 {
    match bag.row(row)[column] {
        NONE => bag.domain(column).len() as u32,
        code => code,
    }
}
