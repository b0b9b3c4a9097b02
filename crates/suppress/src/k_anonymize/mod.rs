//! k-anonymity with as few blanked cells as can be found. The proof is in `proof.md`.
//!
//! A table of a few rows is solved by trying everything (`exact`). Others go through these phases:
//!
//! 1. `prepare`: rows become sums of keys of their cells, columns' weights become whole numbers.
//! 2. `assign` gives each row a class, band by band of cost. `forms` says which sets of columns to
//!    blank next, `group` which rows each of them makes equal. Groups of k rows get a class
//!    (`assign/open`), those that lack some borrow them (`assign/borrow`), the last rows are settled
//!    one by one (`assign/last`).
//! 3. `outcome`: each class shows every column in which its rows agree. Of several tries of a small
//!    table the cheapest outcome becomes the release.
//! 4. The classes of the release are counted, as its reader sees them, and small ones dropped
//!    (`crate::checked`).

mod assign;
mod exact;
mod forms;
pub(crate) mod group;
mod outcome;
pub(crate) mod prepare;

use crate::{Error, checked};
use assign::{Effort, search};
use outcome::Outcome;
use prepare::Keyed;
use rayon::prelude::*;
use table::{Bag, Release, Watch};

/// A release in which every class has at least `k` rows, with as few blanked cells and dropped
/// rows as can be found.
///
/// The cost is the sum of the weights of blanked cells (`weights`: what a cell of each column is
/// worth, 1 if not given) plus twice the cells of dropped rows. Equal rows need not be released
/// alike: copies that a class can spare may fill another one up.
///
/// Tables of up to 13 rows get the best release there is. Others are searched form by form, a
/// form being a set of columns to blank: all forms as long as they are not too many, then those
/// that bring most rows together. `max_length` bounds the search, never the promise: forms that
/// blank more columns are tried only a few at a time.
///
/// The work is linear in the rows, but for sorting them: 30,000 rows of 9 columns take a tenth of
/// a second. The result depends on the rows only, not on their order or the number of threads.
pub fn k_anonymize(
    bag: &Bag,
    k: u64,
    weights: Option<&[f64]>,
    max_length: Option<usize>,
    watch: &Watch,
) -> Result<Release, Error> {
    let weights = prepare::checked(weights, bag.width())?;
    if bag.row_count() > 0 && k > bag.row_count() {
        return Err(Error::NothingLeft { class: k, rows: bag.row_count() });
    }
    if bag.row_count() <= exact::ROWS {
        return checked(exact::exact(bag, k, &weights), bag, k, watch);
    }
    let tries = tries(bag.distinct(), bag.width());
    // The keys, and what each try comes to, which is no more than they; a try itself as long as it runs.
    let held = watch.hold(Keyed::bytes(bag.distinct(), bag.width()) * (1 + tries))?;
    let units = prepare::units(&weights);
    let keyed = Keyed::new(bag, watch)?;
    let outcomes: Vec<Outcome> = (0..tries)
        .into_par_iter()
        .map(|shake| {
            let _held = watch.hold(assign::bytes(bag.distinct(), bag.width()))?;
            let max_length = max_length.unwrap_or(usize::MAX);
            let effort = Effort { k: k.max(1), max_length, shake };
            Ok(Outcome::new(search(&keyed, &units, effort, watch)?))
        })
        .collect::<Result<_, Error>>()?;
    let best = outcomes.into_iter().min_by_key(|outcome| outcome.cost);
    let release = best.map_or(Release::new(bag.width()), |outcome| outcome.release(&keyed));
    drop((keyed, held));
    checked(release, bag, k, watch)
}

/// Small tables are searched several times in slightly different ways: the larger the fewer.
fn tries(rows: usize, width: usize) -> u64 {
    let size = rows.max(1).saturating_mul(1 + width * width / 36);
    ((1 << 14) / size).clamp(1, 16) as u64
}
