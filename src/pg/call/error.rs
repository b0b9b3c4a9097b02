//! Every error the extension raises itself: one variant, one SQLSTATE, one hint.

use crate::method::Method;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::{CaughtError, ErrorReport};
use pgrx::{PgLogLevel, PgSqlErrorCode as Code};
use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, Ordering};
use table::{Stop, WireError};

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
    /// A relation is given as public that is not.
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
    /// An argument that stands for a relation by its row type is of another type.
    NotARow { found: String },
    /// A promise did not hold on the last look: a fault of ours, and nothing is released.
    Broken { what: String },
    /// A fault of ours; `what` is for the server's log only.
    Fault { what: String },
    /// The library and the SQL declarations in the database are of different versions.
    Version { function: String, what: String, sql: Option<String>, library: &'static str },
    /// Only the owner of a relation may say this about it.
    NotOwner { relation: String },
    /// A table is no release of sanitize.publish.
    NotARelease { relation: String },
    /// A table cannot hold a release, or not any more.
    Unsuitable { relation: String, reason: String },
    /// A table cannot be sanitized in place.
    NotInPlace { relation: String, reason: String },
    /// A cell is blank in a column that must not be NULL.
    Blanked { what: String },
    /// A relation is not what it was when the call began.
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
    /// Nobody has set a budget for the relation.
    NotProtected { relation: String },
    /// Nobody has said how many rows of a unit count; `kept` is what each bound would keep.
    NoRowBound { unit: String, relation: String, kept: String },
    /// The relation has another owner than the one that protected it.
    OtherOwner { relation: String },
    /// The caller may not ask about the relation.
    NotAllowed { relation: String },
    /// The method shows how many rows there are, and nobody has said that everybody may know.
    RowCount { relation: String, method: &'static str },
    /// The terms of the protection are not those any more that the call began with.
    TermsChanged { relation: String, charged: bool },
    /// The budget does not suffice.
    Exhausted(Box<Exhausted>),
    /// The charge could not be made, or (not `certain`) perhaps was made.
    Ledger { certain: bool, why: &'static str },
    /// The ledger came from elsewhere and nobody has confirmed that it is whole.
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
    /// No background worker could be had to read.
    NoReader { slots: bool },
    /// The background worker that read ended before its time.
    ReaderGone,
    /// Reading took longer than the administrator lets it.
    Late,
    /// Somebody holds a lock that reading needs.
    Locked,
    /// What a background worker, or another server, said went wrong.
    Told(Box<Message>),
    /// A view whose rows may depend on more than their own units.
    Unstable { relation: String, reason: String },
    /// A column cannot tell the units of a relation apart, or not any more.
    NoUnit { column: String, relation: String, why: String, hint: &'static str },
    /// More rows of a unit were read than were paid for, or rows of nobody knows whom.
    UnitRows { relation: String, most: u64 },
    /// The transaction sees the ledger as it was, not as it is.
    FixedSnapshot { function: &'static str, why: &'static str },
    /// Reading a protected relation failed. Says nothing more: why may depend on the data.
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

impl Undeclared {
    /// How to declare it.
    fn declaration(&self, relation: &str) -> String {
        let (relation, column) = (literal(relation), literal(&self.column));
        let domain =
            format!("SELECT sanitize.declare_domain({relation}, {column}, ARRAY['…', '…']);");
        match self.has_range {
            true => format!(
                "{domain} or SELECT sanitize.declare_bounds({relation}, {column}, '…', '…');"
            ),
            false => domain,
        }
    }

    /// Why its foreign key does not tell its values.
    fn detail(&self, several: bool) -> Option<String> {
        let (table, why) = self.reference.as_ref()?;
        let whose = if several {
            format!("The foreign key of \"{}\"", self.column)
        } else {
            "Its foreign key".into()
        };
        Some(format!("{whose} refers to {table}, whose values are not public: {why}."))
    }
}

/// What a refused charge says, in the words of the ledger.
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

/// The SQLSTATE of an exhausted budget: a class of our own, PS.
const BUDGET_EXHAUSTED: [u8; 5] = *b"PS001";

impl Error {
    pub fn argument(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Error::Argument { message: message.into(), hint: hint.into() }
    }

    /// What went wrong while bags were merged.
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

    /// The error as the function that is served raises it.
    pub fn raised(self) -> Self {
        let Some(hint) = SERVED.get().and_then(|method| self.fitting_hint(method)) else {
            return self;
        };
        let (code, message, detail, _) = self.parts();
        Error::told(code, message, detail, hint)
    }

    /// Where something does not fit, a hint that names only arguments which the function has.
    fn fitting_hint(&self, method: &Method) -> Option<String> {
        let has = |name: &str| method.arguments.iter().any(|argument| argument.name() == name);
        // Each with the argument that it is about, if it is about one.
        let columns = match has("columns") {
            true => ("columns", "name fewer columns"),
            false => ("", "read a view of fewer columns"),
        };
        let length = ("max_length", "set max_length");
        let advice = match self {
            Error::Memory { .. } => vec![("", "raise pg_sanitize.max_memory"), length, columns],
            Error::Itemsets { .. } => vec![("", "raise pg_sanitize.max_itemsets"), length, columns],
            Error::Candidates { .. } => vec![
                ("min_support", "raise min_support"),
                length,
                ("candidates", "use candidates => 'pairs', which needs no list of candidates"),
            ],
            Error::Merging { .. } => {
                vec![
                    ("", "raise pg_sanitize.max_memory"),
                    columns,
                    ("", "make a bag of a sample of the rows"),
                    length,
                ]
            }
            _ => return None,
        };
        let fits = advice.into_iter().filter(|(name, _)| name.is_empty() || has(name));
        let fits: Vec<&str> = fits.map(|(_, one)| one).collect();
        let listed = match fits.as_slice() {
            [one, other] => format!("{one} or {other}"),
            [first @ .., last] if !first.is_empty() => format!("{}, or {last}", first.join(", ")),
            few => few.concat(),
        };
        let hint = match self {
            Error::Candidates { setting, .. } if listed.is_empty() => format!("raise {setting}"),
            Error::Candidates { setting, .. } => format!("{listed}; or raise {setting}"),
            _ => listed,
        };
        Some(format!("{}{}.", hint[..1].to_uppercase(), &hint[1..]))
    }

    /// An error of another server, as it was told.
    pub fn told(code: Code, message: String, detail: Option<String>, hint: String) -> Self {
        Error::Told(Box::new(Message { code: code as i32, message, detail, hint }))
    }

    fn parts(&self) -> (Code, String, Option<String>, String) {
        match self {
            Error::Null { argument } => (
                Code::ERRCODE_INVALID_PARAMETER_VALUE,
                format!("{argument} must not be NULL"),
                None,
                format!("Give a value for {argument}."),
            ),
            Error::Argument { message, hint } => {
                (Code::ERRCODE_INVALID_PARAMETER_VALUE, message.clone(), None, hint.clone())
            }
            Error::NoSuchColumn { column, relation, columns } => (
                Code::ERRCODE_UNDEFINED_COLUMN,
                format!("column \"{column}\" of {relation} does not exist"),
                None,
                format!("Its columns are: {columns}."),
            ),
            Error::NoSuchRelation { relation } => (
                Code::ERRCODE_UNDEFINED_TABLE,
                format!("relation {relation} does not exist"),
                None,
                "Name a table, view, materialized view, partitioned or foreign table.".into(),
            ),
            Error::NotReadable { relation } => (
                Code::ERRCODE_WRONG_OBJECT_TYPE,
                format!("{relation} has no rows to read"),
                None,
                "Name a table, view, materialized view, partitioned or foreign table.".into(),
            ),
            Error::Forbidden { relation } => (
                Code::ERRCODE_INSUFFICIENT_PRIVILEGE,
                format!("permission denied for table {relation}"),
                None,
                "Its owner can grant SELECT on it.".into(),
            ),
            Error::NotPublic { argument, relation, reason } => (
                Code::ERRCODE_INVALID_PARAMETER_VALUE,
                format!("{argument} is {relation}, which is not public"),
                Some(format!("What it shows would be released whatever epsilon is: {reason}.")),
                "Name a table that was published already and is not about the same people.".into(),
            ),
            Error::Empty { relation, of } => (
                Code::ERRCODE_INVALID_PARAMETER_VALUE,
                format!("{relation} has no {of}"),
                None,
                match *of {
                    "rows" => "Only rows that you may see count: check row security and filters.",
                    _ => "Name a relation with at least one column.",
                }
                .into(),
            ),
            Error::Memory { limit } => (
                Code::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
                "the result does not fit into the memory that pg_sanitize may use".into(),
                Some(format!("pg_sanitize.max_memory is {} MB.", limit >> 20)),
                "Raise pg_sanitize.max_memory, set max_length, or name fewer columns.".into(),
            ),
            Error::Itemsets { limit } => (
                Code::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
                format!("there are more than {limit} itemsets"),
                Some(format!("pg_sanitize.max_itemsets is {limit}.")),
                "Raise pg_sanitize.max_itemsets, set max_length, or name fewer columns.".into(),
            ),
            Error::Candidates { setting, limit } => (
                Code::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
                "there are too many candidates for patterns".into(),
                Some(format!("{setting} is {limit}.")),
                format!(
                    "Raise min_support, set max_length, or use candidates => 'pairs', which needs no list of candidates; or raise {setting}."
                ),
            ),
            Error::Cancelled => (
                Code::ERRCODE_QUERY_CANCELED,
                "canceling statement due to user request".into(),
                None,
                "Call again to start anew.".into(),
            ),
            Error::Bag(error) => (
                Code::ERRCODE_INVALID_BINARY_REPRESENTATION,
                "the value is not a bag".into(),
                Some(format!("{error}.")),
                match error {
                    WireError::Version(_) => "It was written by another version of pg_sanitize: install the newest one here.",
                    _ => "Make bags with sanitize.row_bag and store them unchanged.",
                }
                .into(),
            ),
            Error::BagEncoding { of, here } => (
                Code::ERRCODE_CHARACTER_NOT_IN_REPERTOIRE,
                match of {
                    Some(of) => format!("the bag holds text in encoding {of}, the database's is {here}"),
                    None => "the bag holds text that is not valid in this database's encoding".into(),
                },
                None,
                "Bags travel between databases of the same encoding.".into(),
            ),
            Error::TooLarge { what, bytes } => (
                Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
                format!("the {what} has {bytes} bytes; a value of Postgres holds 1 GB at most"),
                None,
                "Aggregate fewer columns or fewer rows at a time.".into(),
            ),
            Error::NotARow { found } => (
                Code::ERRCODE_DATATYPE_MISMATCH,
                format!("source is of type {found}, which is no relation's row type"),
                None,
                "Name the relation by a typed NULL: NULL::patients.".into(),
            ),
            Error::Broken { what } => (
                Code::ERRCODE_INTERNAL_ERROR,
                format!("the release was withheld: {what}"),
                None,
                "This is a fault of pg_sanitize: please report it.".into(),
            ),
            Error::Fault { .. } => (
                Code::ERRCODE_INTERNAL_ERROR,
                "pg_sanitize has a fault, and the call was given up".into(),
                None,
                "Please report the call; the server's log says where it ended.".into(),
            ),
            Error::Version { function, what, sql, library } => (
                Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("function {function} does not fit the library: {what}"),
                Some(match sql {
                    Some(sql) => format!(
                        "The extension in this database is of version {sql}, the library of version {library}."
                    ),
                    None => format!(
                        "The function belongs to no extension; the library is of version {library}."
                    ),
                }),
                "Run ALTER EXTENSION pg_sanitize UPDATE. If the library is the older one, install the one that the extension was made for and connect anew.".into(),
            ),
            Error::NotOwner { relation } => (
                Code::ERRCODE_INSUFFICIENT_PRIVILEGE,
                format!("must be owner of {relation}"),
                None,
                "Ask the owner of the relation, or a superuser.".into(),
            ),
            Error::NotARelease { relation } => (
                Code::ERRCODE_WRONG_OBJECT_TYPE,
                format!("{relation} is no release"),
                Some("Only what sanitize.publish made can be replaced, refreshed or retired.".into()),
                "Publish under another name; sanitize.releases lists the releases.".into(),
            ),
            Error::Unsuitable { relation, reason } => (
                Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("{relation} cannot take the release: {reason}"),
                Some("The release that is there stays as it is.".into()),
                "Undo that, publish it again if its columns are to change, or retire it and publish it anew.".into(),
            ),
            Error::NotInPlace { relation, reason } => (
                Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("{relation} cannot be sanitized in place: {reason}"),
                Some("Nothing was changed.".into()),
                "Undo that, or publish a release beside the table with sanitize.publish.".into(),
            ),
            Error::Blanked { what } => (
                Code::ERRCODE_NOT_NULL_VIOLATION,
                what.clone(),
                Some("The method blanks cells of the column. Nothing was changed.".into()),
                "Drop its NOT NULL, or name it in keep to leave it as it is, unprotected.".into(),
            ),
            Error::Swapped => (
                Code::ERRCODE_OBJECT_IN_USE,
                "a relation was renamed or replaced while the call ran".into(),
                Some("Nothing was changed.".into()),
                "Call again.".into(),
            ),
            Error::NoDomain { columns, relation } => {
                let quoted = |one: &Undeclared| format!("\"{}\"", one.column);
                let names: Vec<String> = columns.iter().map(quoted).collect();
                let (names, several) = (names.join(", "), columns.len() > 1);
                let declare: Vec<String> = columns.iter().map(|one| one.declaration(relation)).collect();
                let mut details: Vec<String> =
                    columns.iter().filter_map(|one| one.detail(several)).collect();
                if details.len() < columns.len() {
                    details.push("Values taken from the rows themselves would tell who is there, whatever epsilon is.".into());
                }
                (
                    Code::ERRCODE_INVALID_PARAMETER_VALUE,
                    match several {
                        true => format!("the public domains of columns {names} of {relation} are not known"),
                        false => format!("the public domain of column {names} of {relation} is not known"),
                    },
                    Some(details.join(" ")),
                    match several {
                        true => format!("Declare them: {} Or leave columns out.", declare.join(" ")),
                        false => format!("Declare it: {} or leave the column out.", declare.join(" ")),
                    },
                )
            }
            Error::NoHierarchy { column, relation } => {
                let (relation_name, column_name) = (literal(relation), literal(column));
                (
                    Code::ERRCODE_INVALID_PARAMETER_VALUE,
                    format!("column \"{column}\" of {relation} has no hierarchy"),
                    None,
                    format!(
                        "Declare one: SELECT sanitize.declare_hierarchy({relation_name}, {column_name}, sanitize.suggest_hierarchy({relation_name}, {column_name}));"
                    ),
                )
            }
            Error::Query { what } => (
                Code::ERRCODE_INTERNAL_ERROR,
                format!("a query of pg_sanitize failed: {what}"),
                None,
                "This is a fault of pg_sanitize: please report it.".into(),
            ),
            Error::NoEntropy { what } => (
                Code::ERRCODE_SYSTEM_ERROR,
                what.clone(),
                None,
                "Without them nothing private can be released.".into(),
            ),
            Error::Context => (
                Code::ERRCODE_FEATURE_NOT_SUPPORTED,
                "the function returns rows, which cannot be used here".into(),
                None,
                "Call it in FROM: SELECT * FROM sanitize.function(…).".into(),
            ),
            Error::NoAggregate => (
                Code::ERRCODE_FEATURE_NOT_SUPPORTED,
                "the function is part of an aggregate and cannot be called by itself".into(),
                None,
                "Call the aggregate.".into(),
            ),
            Error::Merging { limit } => (
                Code::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
                "the bags do not fit together into the memory that pg_sanitize may use".into(),
                Some(format!("pg_sanitize.max_memory is {} MB.", limit >> 20)),
                "Raise pg_sanitize.max_memory, give fewer columns, or make a bag of a sample of the rows; max_length bounds what mining needs beside the bag.".into(),
            ),
            Error::NotSuperuser => (
                Code::ERRCODE_INSUFFICIENT_PRIVILEGE,
                "must be superuser to confirm the ledger".into(),
                None,
                "Ask the administrator of this server.".into(),
            ),
            Error::NotProtected { relation } => (
                Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("{relation} is not protected"),
                None,
                "Its owner calls sanitize.protect first, and commits.".into(),
            ),
            Error::NoRowBound { unit, relation, kept } => (
                Code::ERRCODE_INVALID_PARAMETER_VALUE,
                format!("max_rows_per_unit is not given, and \"{unit}\" is no key of {relation}"),
                Some(kept.clone()),
                "Name it, as in max_rows_per_unit => 5: rows of a unit beyond it do not count, and the larger it is the more noise answers have.".into(),
            ),
            Error::RowCount { relation, method } => (
                Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("{method} would show the number of rows of {relation}, which is protected"),
                Some("What is charged covers what is in the rows of a unit, not that they are there.".into()),
                "Use dp_synthesize; or, if everybody may know how many rows there are, its owner says so with sanitize.protect(…, row_count_public => true).".into(),
            ),
            Error::TermsChanged { relation, charged } => (
                Code::ERRCODE_OBJECT_IN_USE,
                format!("what protects {relation} was changed while the call ran"),
                Some(match charged {
                    true => "Nothing was released; what was charged stands.".into(),
                    false => "Nothing was released or charged.".into(),
                }),
                "Call again.".into(),
            ),
            Error::OtherOwner { relation } => (
                Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("{relation} has another owner than when it was protected"),
                Some("What the earlier owner allowed does not hold for the new one. Nothing was charged.".into()),
                "Its owner calls sanitize.protect again, or sanitize.unprotect: what is spent stays, and so do allowances.".into(),
            ),
            Error::NotAllowed { relation } => (
                Code::ERRCODE_INSUFFICIENT_PRIVILEGE,
                format!("you may not ask about {relation}"),
                None,
                "Its owner can let you with sanitize.allow.".into(),
            ),
            Error::Exhausted(budget) => (
                // Replaced by the SQLSTATE of our own when it is raised.
                Code::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
                format!("the privacy budget of {} is exhausted", budget.whose),
                Some(format!(
                    "Left: epsilon {}, delta {}. Asked: epsilon {}, delta {}. {}",
                    budget.epsilon_left,
                    budget.delta_left,
                    budget.epsilon_asked,
                    budget.delta_asked,
                    match &budget.renews {
                        Some(time) => format!("The budget renews at {time}."),
                        None => "The budget does not renew.".into(),
                    }
                )),
                "Ask for less, wait for the renewal, or let the owner raise the budget. sanitize.dp_cost tells the cost beforehand.".into(),
            ),
            Error::Ledger { certain, why } => (
                Code::ERRCODE_INSUFFICIENT_RESOURCES,
                "the ledger could not be charged, so nothing is released".into(),
                Some(match certain {
                    true => format!("{}{}. Nothing was charged.", why[..1].to_uppercase(), &why[1..]),
                    false => format!("{}{}. The charge may stand: see sanitize.ledger.", why[..1].to_uppercase(), &why[1..]),
                }),
                "Try again later.".into(),
            ),
            Error::Unconfirmed { home, here } => (
                Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "the ledger was restored or moved and nobody has confirmed that it is whole".into(),
                Some(format!("It was last whole in {home}; this is {here}.")),
                "A superuser makes sure that no charge is missing and calls sanitize.confirm_ledger().".into(),
            ),
            Error::Damaged { table, column } => (
                Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("what sanitize.{table} holds cannot be read: {column}"),
                Some("Nothing was charged, and nothing is released.".into()),
                "A superuser mends or deletes the row. What sanitize.protect, declare_domain and declare_bounds wrote, they can write anew.".into(),
            ),
            Error::Standby => (
                Code::ERRCODE_READ_ONLY_SQL_TRANSACTION,
                "a standby server cannot charge a budget".into(),
                None,
                "Ask the primary server.".into(),
            ),
            Error::NotKeeper { what, why } => (
                Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("{what}: no budget is kept for that"),
                Some(why.clone()),
                "Ask about the table as a whole, on the coordinator.".into(),
            ),
            Error::OwnerCannotRead { relation, why, hint } => (
                Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("{relation} cannot be read with its owner's rights: {why}"),
                Some("Nothing was charged.".into()),
                hint.clone(),
            ),
            Error::Authors { of } => (
                Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("no value of type {of} is read: domains of several roles are in it"),
                Some("Functions in the constraints of each would run with the rights of another.".into()),
                "Give the domains one owner: ALTER DOMAIN … OWNER TO.".into(),
            ),
            Error::NoReader { slots } => (
                Code::ERRCODE_INSUFFICIENT_RESOURCES,
                "no background worker could be started to read the relation".into(),
                Some(match slots {
                    true => "None started within 10 seconds. Nothing was charged.".into(),
                    false => "All of max_worker_processes are in use. Nothing was charged.".into(),
                }),
                "Try again later, or raise max_worker_processes.".into(),
            ),
            Error::ReaderGone => (
                Code::ERRCODE_INSUFFICIENT_RESOURCES,
                "the background worker that read the relation ended too early".into(),
                Some("The charge may stand: see sanitize.ledger.".into()),
                "Try again later.".into(),
            ),
            Error::Late => (
                Code::ERRCODE_QUERY_CANCELED,
                "reading the relation took longer than pg_sanitize.reader_timeout".into(),
                Some("The charge stands, if there was one: see sanitize.ledger.".into()),
                "Ask for less at a time, protect a table instead of a view that takes long, or have the administrator raise the limit.".into(),
            ),
            Error::Locked => (
                Code::ERRCODE_LOCK_NOT_AVAILABLE,
                "the relation is locked by somebody else".into(),
                Some("A lock that excludes readers was held for longer than a second.".into()),
                "Try again later. A transaction that holds such a lock itself commits first.".into(),
            ),
            Error::Told(told) => {
                // Replaced by the SQLSTATE told when it is raised.
                let code = Code::ERRCODE_DATA_EXCEPTION;
                (code, told.message.clone(), told.detail.clone(), told.hint.clone())
            }
            Error::Unstable { relation, reason } => (
                Code::ERRCODE_INVALID_PARAMETER_VALUE,
                format!("a row of {relation} may depend on other units than its own"),
                Some(format!("The view has {reason}.")),
                "Then a bound on the rows of a unit bounds nothing. Protect a simpler view, or the table; or, if every row depends on its own unit all the same, its owner says so with sanitize.protect(…, assume_stable => true).".into(),
            ),
            Error::NoUnit { column, relation, why, hint } => (
                Code::ERRCODE_INVALID_PARAMETER_VALUE,
                format!("column \"{column}\" of {relation} cannot tell units apart"),
                Some(why.clone()),
                (*hint).into(),
            ),
            Error::UnitRows { relation, most } => (
                Code::ERRCODE_INVALID_PARAMETER_VALUE,
                format!("{relation} has a unit with more than {most} rows, or rows without a unit"),
                Some("The charge stands: it was made before a row was read.".into()),
                "Rows are released here, and max_rows_per_unit must hold for them: release from a view that keeps to it, or protect with a larger one.".into(),
            ),
            Error::FixedSnapshot { function, why } => (
                Code::ERRCODE_ACTIVE_SQL_TRANSACTION,
                format!("{function} cannot be called in a REPEATABLE READ or SERIALIZABLE transaction"),
                Some((*why).into()),
                "Call it in a READ COMMITTED transaction.".into(),
            ),
            Error::Unreadable => (
                Code::ERRCODE_DATA_EXCEPTION,
                "the protected relation could not be read".into(),
                None,
                "The reason may tell about the data, so it is not shown; the charge stands. The owner finds it in the server's log.".into(),
            ),
        }
    }

    /// The error for another process.
    pub fn message(&self) -> Message {
        let (code, message, detail, hint) = self.parts();
        let code = match self {
            // Six bits for each character, as MAKE_SQLSTATE has it.
            Error::Exhausted(_) => BUDGET_EXHAUSTED
                .iter()
                .rev()
                .fold(0, |code, &c| code << 6 | ((i32::from(c) - 48) & 63)),
            Error::Told(told) => told.code,
            _ => code as i32,
        };
        Message { code, message, detail, hint }
    }

    /// Leaves a function called from SQL with the error: [`raise_pending`] raises it once nothing is
    /// left to drop.
    pub fn leave(self) -> pg_sys::Datum {
        let own = self.message();
        let known = Code::from(own.code) as i32;
        if known != own.code
            && let Ok(mut last) = STRANGE.lock()
        {
            *last = Some(own.clone());
        }
        let Message { code, message, detail, hint } = own;
        let data = report(PgLogLevel::ERROR, code, &message, detail.as_deref(), Some(&hint));
        if let Error::Fault { what } = &self {
            // SAFETY: `report` made it.
            unsafe { (*data).detail_log = super::text::c_string(what) };
        }
        PENDING.store(data, Ordering::Relaxed);
        pg_sys::Datum::null()
    }

    /// Raises the error in Postgres; does not return.
    #[track_caller]
    pub fn raise(self) -> ! {
        let (code, message, detail, hint) = self.parts();
        let fitting = SERVED.get().and_then(|method| self.fitting_hint(method));
        let hint = fitting.unwrap_or(hint);
        let mut report = ErrorReport::new(code, message, "pg_sanitize").set_hint(hint);
        if let Some(detail) = detail {
            report = report.set_detail(detail);
        }
        report.report(PgLogLevel::ERROR);
        unreachable!("an ERROR does not return")
    }
}

thread_local! {
    /// The method whose call is served: hints name its arguments.
    static SERVED: Cell<Option<&'static Method>> = const { Cell::new(None) };
}

/// Notes which method is served from now on; returns the one before.
pub fn serving(method: Option<&'static Method>) -> Option<&'static Method> {
    SERVED.replace(method)
}

/// True while a call from SQL is served.
pub fn is_serving() -> bool {
    SERVED.get().is_some()
}

/// The last error that was raised with a SQLSTATE of our own. If the function that raised it was called by
/// another one of ours, the error comes back through the guard of pgrx, which does not know that SQLSTATE
/// and takes it for an internal error.
static STRANGE: Mutex<Option<Message>> = Mutex::new(None);

/// The error as it was raised, if it is one that the guard has changed.
pub fn restored(caught: &CaughtError) -> Option<Error> {
    let CaughtError::PostgresError(report) = caught else { return None };
    if report.sql_error_code() != Code::ERRCODE_INTERNAL_ERROR {
        return None;
    }
    let raised = STRANGE.lock().ok()?.take_if(|last| last.message == report.message())?;
    Some(Error::Told(Box::new(raised)))
}

/// The error that the function on its way out will raise.
static PENDING: AtomicPtr<pg_sys::ErrorData> = AtomicPtr::new(std::ptr::null_mut());

/// A message for Postgres to raise, in the database's encoding and the current memory context.
pub(in crate::pg) fn report(
    level: PgLogLevel,
    code: i32,
    message: &str,
    detail: Option<&str>,
    hint: Option<&str>,
) -> *mut pg_sys::ErrorData {
    let text = |text: Option<&str>| text.map_or(std::ptr::null_mut(), super::text::c_string);
    // SAFETY: all fields of the struct may be zero.
    unsafe {
        let data = pg_sys::palloc0(size_of::<pg_sys::ErrorData>()).cast::<pg_sys::ErrorData>();
        (*data).elevel = level as i32;
        (*data).sqlerrcode = code;
        (*data).message = text(Some(message));
        (*data).detail = text(detail);
        (*data).hint = text(hint);
        data
    }
}

// Declared here without the guard of pgrx, which replaces SQLSTATEs that are not Postgres' own and
// takes every text for UTF-8.
unsafe extern "C-unwind" {
    pub(in crate::pg) fn ThrowErrorData(data: *mut pg_sys::ErrorData);
}

/// Raises what [`Error::leave`] left behind, if anything.
///
/// # Safety
/// Called by a function that holds nothing to drop, as the error jumps over it into Postgres.
pub unsafe fn raise_pending() {
    let data = PENDING.swap(std::ptr::null_mut(), Ordering::Relaxed);
    if !data.is_null() {
        // SAFETY: made by `leave` in this call; Postgres copies it.
        unsafe { ThrowErrorData(data) };
    }
}

/// A text as SQL literal, for hints.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

impl From<Stop> for Error {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Cancelled => Error::Cancelled,
            Stop::Memory { limit } => Error::Memory { limit },
            Stop::Itemsets { limit } => Error::Itemsets { limit },
        }
    }
}

impl From<WireError> for Error {
    fn from(error: WireError) -> Self {
        match error {
            WireError::Stopped(stop) => stop.into(),
            error => Error::Bag(error),
        }
    }
}
