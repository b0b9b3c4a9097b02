//! Coded tables: one dictionary per column, distinct rows with weights, and releases of them.
//!
//! Every algorithm of the project works on a [`Bag`]: the distinct rows of a relation as
//! dictionary codes, each with the number of times it occurs. NULL is no item. A relation goes
//! through these types:
//!
//! * [`Coder`] takes cells while they are read and returns a [`CodedTable`]: the bag, and the bytes from which its
//!   values were read. Bags also come from bytes ([`Bag::decode`]), from projections and filters of other bags, and
//!   from a [`BagBuilder`].
//! * [`pack`] turns a bag's bytes into text, for servers that send every value as text.
//! * [`ColumnPart`] is some of the columns as a bag of their own, while the other columns are kept unchanged.
//! * [`Recoding`] turns a bag into one of other domains: public ones, known without its rows.
//! * [`Units`] are the units of each distinct row, say the people whose row it is, for supports that count people.
//! * [`Itemsets`] are the results of miners.
//! * [`Release`] is a release of a bag: crates that suppress, fill or sample make it, and [`Release::rows`] turns it
//!   into the released rows.
//! * [`Watch`] is the handle between a computation and its caller: cancelling, progress, and memory, which is held as
//!   [`Reservation`]s of its limit.
#![forbid(unsafe_code)]

mod arena;
mod bag;
pub mod bits;
mod bitstream;
mod builder;
mod choice;
mod coder;
mod column_part;
mod counter;
mod index;
mod itemsets;
mod null_items;
mod packed;
mod recoding;
mod release;
mod reservation;
mod rows;
mod sort;
mod units;
mod watch;
mod wire;
mod word_cache;

pub use bag::{Bag, Domain};
pub use bits::{BitSet, BitSets, Marks};
pub use builder::BagBuilder;
pub use choice::Choice;
pub use coder::{CodedTable, Coder, Encoding};
pub use column_part::ColumnPart;
pub use counter::RowCounter;
pub use index::{Codes, Index, Keyed, Slots};
pub use itemsets::{Item, Itemsets};
pub use packed::{pack, unpack};
pub use recoding::Recoding;
pub use release::{Piece, Release, ReleaseClasses, Whose};
pub use reservation::Reservation;
pub use rows::CodeRows;
pub use sort::sort_watched;
pub use units::{RowsOfUnit, UnitCounter, Units};
pub use watch::{Stop, Watch};
pub use wire::WireError;

/// The code of a NULL cell: no item.
pub const NONE: u32 = u32::MAX;
