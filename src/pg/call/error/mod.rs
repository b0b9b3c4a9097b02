//! Every error the extension raises itself: one variant, one SQLSTATE, one hint.
//!
//! * `texts`: the SQLSTATE, message, detail and hint of each. `report`: how it reaches Postgres or another process.
//! * `of_crates`: conversions from the errors of our crates.

mod of_crates;
mod report;
mod texts;

pub(in crate::pg) use report::{ThrowErrorData, report};
pub use report::{is_serving, raise_pending, serving, while_serving};

use pgrx::PgSqlErrorCode as Code;
use table::WireError;

#[derive(Debug)]
pub enum Error {
    /// A value is needed, but the argument is NULL.
    Null { argument: &'static str },
    /// An argument's value makes no sense.
    Argument { message: String, hint: String },
    /// A list argument names a column that the relation does not have.
    NoSuchColumn { column: String, relation: String, columns: String },
    /// The relation does not exist (any more).
    NoSuchRelation { relation: String },
    /// A sequence, an index, …: nothing with rows to read.
    NotReadable { relation: String },
    /// The caller may not read what is to be looked up.
    Forbidden { relation: String },
    /// A relation that is not public was given as public.
    NotPublic { argument: &'static str, relation: String, reason: &'static str },
    /// The relation has no columns or no rows to work on.
    Empty { relation: String, of: &'static str },
    /// The memory budget does not suffice.
    Memory { limit: u64 },
    /// More itemsets than the cap.
    Itemsets { limit: u64 },
    /// A limit was reached by candidates for patterns.
    Candidates { setting: &'static str, limit: String },
    /// Stopped at the user's request.
    Cancelled,
    /// The bytes of a bag are damaged.
    Bag(WireError),
    /// A bag holds text in another encoding than this database's, or (`None`) text that is not valid in it.
    BagEncoding { of: Option<String>, here: String },
    /// A value would exceed what Postgres can hold in one datum.
    TooLarge { what: &'static str, bytes: usize },
    /// An argument that should have a relation's row type has another type.
    NotARow { found: String },
    /// The last check found that a guarantee does not hold: a fault of ours, and nothing is released.
    Broken { what: String },
    /// A fault of ours; `what` is for the server's log only.
    Fault { what: String },
    /// The library and the SQL declarations in the database are of different versions.
    Version { function: String, what: String, sql: Option<String>, library: &'static str },
    /// Only the owner of a relation may say this about it.
    NotOwner { relation: String },
    /// A table is no release of sanitize.publish.
    NotARelease { relation: String },
    /// A table cannot hold a release, or can no longer hold it.
    Unsuitable { relation: String, reason: String },
    /// A table cannot be sanitized in place.
    NotInPlace { relation: String, reason: String },
    /// A cell is blank in a column that must not be NULL.
    Blanked { what: String },
    /// A relation was replaced or changed during the call.
    Swapped,
    /// A private mechanism needs domains that are known without looking at the data.
    NoDomain { columns: Vec<Undeclared>, relation: String },
    /// Levels are wanted of a column without a hierarchy.
    NoHierarchy { column: String, relation: String },
    /// A query of ours failed to run at all.
    Query { what: String },
    /// The operating system gives no random bytes.
    NoEntropy { what: String },
    /// A set was returned where the caller takes none.
    Context,
    /// A part of an aggregate was called otherwise.
    NoAggregate,
    /// Bags do not fit into memory together.
    Merging { limit: u64 },
    /// Only superusers may do this.
    NotSuperuser,
    /// The relation has no budget: it is not protected.
    NotProtected { relation: String },
    /// It was not said how many rows of a unit count; `kept` says what each bound would keep.
    NoRowBound { unit: String, relation: String, kept: String },
    /// The owner of the relation is not the one who protected it.
    OtherOwner { relation: String },
    /// A relation cannot get the budget that was asked for, because of others about the same people.
    OneBudget { message: String, reason: String, hint: String },
    /// Two protected relations about the same people have two budgets.
    TwoBudgets { relation: String, other: String, how: String },
    /// A population belongs to another role.
    NotPopulationOwner { name: String, owner: String },
    /// The caller may not ask about the relation.
    NotAllowed { relation: String },
    /// The method shows the number of rows, which has not been declared public.
    RowCount { relation: String, method: &'static str },
    /// The table that is named as the original is a release of the one that is named as released.
    Exchanged { original: String, released: String, method: &'static str },
    /// The terms of the protection changed during the call.
    TermsChanged { relation: String, charged: bool },
    /// The budget does not suffice.
    Exhausted(Box<Exhausted>),
    /// The charge could not be made, or (not `certain`) perhaps was made.
    Ledger { certain: bool, why: &'static str },
    /// The ledger was restored or moved, and it has not been confirmed that it is whole.
    Unconfirmed { home: String, here: String },
    /// A value in a table of the extension's own cannot be read: nothing is charged or released.
    Damaged { table: String, column: String },
    /// A standby cannot write the ledger.
    Standby,
    /// Budgets are kept elsewhere.
    NotKeeper { what: String, why: String },
    /// The owner of a relation cannot read it from another process.
    OwnerCannotRead { relation: String, why: String, hint: String },
    /// Reading a value of a type would run functions of several roles.
    Authors { of: String },
    /// No background worker was available to read.
    NoReader { slots: bool },
    /// The background worker that was reading ended early.
    ReaderGone,
    /// Reading took longer than the administrator allows.
    Late,
    /// Another transaction holds a lock that reading needs.
    Locked,
    /// An error that a background worker or another server reported.
    Told(Box<Message>),
    /// A view whose rows may depend on more than their own units.
    Unstable { relation: String, reason: String },
    /// A column cannot identify the units of a relation, or can no longer.
    NoUnit { column: String, relation: String, why: String, hint: &'static str },
    /// The caller may not read the column by which people are counted.
    UnitForbidden { relation: String, unit: String },
    /// More rows of a unit were read than were charged for, or rows whose unit is NULL.
    UnitRows { relation: String, most: u64 },
    /// The transaction's snapshot is too old to see the current ledger.
    FixedSnapshot { function: &'static str, why: &'static str },
    /// Reading a protected relation failed. The reason is not given, because it may depend on the data.
    Unreadable,
}

/// A column whose public domain is not known.
#[derive(Debug)]
pub struct Undeclared {
    pub column: String,
    /// It can have bounds instead of values.
    pub has_range: bool,
    /// The relation that a foreign key of the column refers to, and why it does not count as public.
    pub reference: Option<(String, &'static str)>,
}

/// Why a charge was refused, in the words of the ledger.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct Exhausted {
    /// Whose budget: the relation's, or a role's share of it.
    pub whose: String,
    pub epsilon_left: String,
    pub delta_left: String,
    pub epsilon_asked: String,
    pub delta_asked: String,
    /// When the window ends, if there is one.
    pub renews: Option<String>,
}

/// An error as it travels between processes.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct Message {
    code: i32,
    message: String,
    detail: Option<String>,
    hint: String,
}

impl Error {
    pub fn argument(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Error::Argument { message: message.into(), hint: hint.into() }
    }

    /// The error, if it occurred while bags were merged.
    pub fn of_merging(self) -> Self {
        match self {
            Error::Memory { limit } => Error::Merging { limit },
            other => other,
        }
    }

    pub fn fault(what: impl std::fmt::Display) -> Self {
        Error::Fault { what: what.to_string() }
    }

    pub fn query(error: impl std::fmt::Display) -> Self {
        Error::Query { what: error.to_string() }
    }

    /// An error as another server reported it.
    pub fn told(code: Code, message: String, detail: Option<String>, hint: String) -> Self {
        Error::Told(Box::new(Message { code: code as i32, message, detail, hint }))
    }
}
