//! Releases by suppression: cells of a table are blanked, and rows that still stand out are dropped.
//!
//! Everything here works on a [`table::Bag`] and returns a [`table::Release`]: which cells of which
//! distinct rows are blanked and how many copies of each are kept. In a release a suppressed
//! cell and a cell that never had a value are both NULL; classes are counted as the reader of
//! the release sees them, so the two are equal.
//!
//! Thresholds count rows, or units, say people, that may have several rows each. Rows without a unit count for nobody.
//! If the copies of a row are released in several forms, a release with units says whose copies have which form.
//!
//! * `mii` holds [`mii_suppress`], which blanks the cells that minimal infrequent itemsets lie in as
//!   the crate `mining` finds them.
//! * `sampled` does that with the itemsets of a sample; [`k_mii`] then drops small classes.
//! * `k_anonymize` holds [`k_anonymize`], which looks for classes of k rows that lose little, where cells are
//!   blanked or shown less exactly. Its phases are listed there.
//! * `hierarchy` holds [`Hierarchy`]: the general values that a column's values can be shown as.
//! * `levels` builds hierarchies level by level: trees of names, units of a calendar, losses of ranges.
//! * `generalize` shows whole columns at a level of their hierarchies.
//! * `loss` computes the loss of a released column from the two columns alone.
//! * `checked` is the last check of every k-anonymous release: classes below k are dropped.
//! * `counted` counts rows, or the units that have them.
//! * `impute` does the opposite: NULL cells of a released table get values again.
//! * `hide` holds [`hide_itemsets`], which blanks cells until named itemsets are no longer frequent.
//! * `shuffle` blanks nothing: groups of columns are put into random orders of their own.
#![forbid(unsafe_code)]

mod checked;
mod counted;
mod error;
mod generalize;
mod hide;
mod hierarchy;
mod impute;
mod k_anonymize;
pub mod levels;
mod loss;
mod mii;
mod sampled;
mod shuffle;
mod written;

pub use error::Error;
pub use generalize::{generalize, generalized_bag};
pub use hide::hide_itemsets;
pub use hierarchy::{Fault, General, Hierarchy, Node};
pub use impute::{Method, impute};
pub use k_anonymize::{Diversity, DiversityKind, KAnonymity, KAnonymized, k_anonymize};
pub use loss::{Loss, column_loss};
pub use mii::mii_suppress;
pub use sampled::{k_mii, mii_suppress_sampled};
pub use shuffle::{Shuffled, shuffle_groups};
pub use written::Written;

use checked::checked;
use counted::counted;
