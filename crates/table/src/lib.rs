//! Coded tables: one dictionary per column, distinct rows with weights, and what is released of them.
//!
//! Every algorithm of the project works on a [`Bag`]: the distinct rows of a relation as
//! dictionary codes, each with the number of times it occurs. NULL is no item. A relation goes
//! through these types:
//!
//! * [`Coder`] takes cells while they are read and gives a [`CodedTable`]: the bag, and the bytes
//!   that its values were read from. Bags also come from bytes ([`Bag::decode`]), from projections
//!   and filters of other bags, and from a [`BagBuilder`].
//! * [`pack`] makes text of a bag's bytes, for servers that send every value as text.
//! * [`Part`] is some of the columns as a bag of their own, where the others are kept as they are.
//! * [`Recoding`] turns a bag into one of other domains: public ones, known without its rows.
//! * `units`: how many rows of each unit there are, where the last column tells units apart.
//! * [`Itemsets`] is what miners return.
//! * [`Release`] is what of a bag is released: crates that suppress, fill or sample make it, and
//!   [`Release::rows`] turns it into rows to hand out.
//! * [`Watch`] is the handle between a computation and its caller: cancelling, progress, and memory,
//!   which is held as [`Reservation`]s of its limit.
#![forbid(unsafe_code)]

mod arena;
mod bag;
pub mod bits;
mod bitstream;
mod builder;
mod choice;
mod coder;
mod counter;
mod index;
mod itemsets;
mod null_items;
mod packed;
mod part;
mod recode;
mod release;
mod reservation;
mod rows;
mod sort;
mod units;
mod watch;
mod wire;
mod words;

pub use bag::{Bag, Domain};
pub use bits::{BitSet, BitSets, Marks};
pub use builder::BagBuilder;
pub use choice::Choice;
pub use coder::{CodedTable, Coder, Encoding};
pub use counter::RowCounter;
pub use index::{Codes, Index, Keyed, Slots};
pub use itemsets::{Item, Itemsets};
pub use packed::{pack, unpack};
pub use part::Part;
pub use recode::Recoding;
pub use release::{Classes, Counts, Piece, Release};
pub use reservation::Reservation;
pub use rows::Rows;
pub use sort::sort_watched;
pub use watch::{Stop, Watch};
pub use wire::WireError;

/// The code of a NULL cell: no item.
pub const NONE: u32 = u32::MAX;
