//! The texts of each error: its SQLSTATE, message, detail and hint.

use super::{Error, Undeclared};
use crate::method::Method;
use pgrx::PgSqlErrorCode as Code;
use table::WireError;

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

    /// Why its foreign key does not give its domain.
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

impl Error {
    /// For results that exceed a limit, a hint that names only arguments of this function.
    pub(super) fn fitting_hint(&self, method: &Method) -> Option<String> {
        let has = |name: &str| method.arguments.iter().any(|argument| argument.name() == name);
        // Each part with the argument that it is about, if any.
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
                ("min_share", "raise min_share"),
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

    /// Its SQLSTATE, message, detail and hint.
    pub(super) fn parts(&self) -> (Code, String, Option<String>, String) {
        match self {
            Error::Null { argument } => plain(
                Code::ERRCODE_INVALID_PARAMETER_VALUE,
                format!("{argument} must not be NULL"),
                format!("Give a value for {argument}."),
            ),
            Error::Argument { message, hint } => {
                (Code::ERRCODE_INVALID_PARAMETER_VALUE, message.clone(), None, hint.clone())
            }
            Error::NoSuchColumn { column, relation, columns } => plain(
                Code::ERRCODE_UNDEFINED_COLUMN,
                format!("column \"{column}\" of {relation} does not exist"),
                format!("Its columns are: {columns}."),
            ),
            Error::NoSuchRelation { relation } => plain(
                Code::ERRCODE_UNDEFINED_TABLE,
                format!("relation {relation} does not exist"),
                "Name a table, view, materialized view, partitioned or foreign table.",
            ),
            Error::NotReadable { relation } => plain(
                Code::ERRCODE_WRONG_OBJECT_TYPE,
                format!("{relation} has no rows to read"),
                "Name a table, view, materialized view, partitioned or foreign table.",
            ),
            Error::Forbidden { relation } => plain(
                Code::ERRCODE_INSUFFICIENT_PRIVILEGE,
                format!("permission denied for table {relation}"),
                "Its owner can grant SELECT on it.",
            ),
            Error::NotPublic { argument, relation, reason } => (
                Code::ERRCODE_INVALID_PARAMETER_VALUE,
                format!("{argument} is {relation}, which is not public"),
                Some(format!("What it shows would be released whatever epsilon is: {reason}.")),
                "Name a table that was published already and is not about the same people.".into(),
            ),
            Error::Empty { relation, of } => plain(
                Code::ERRCODE_INVALID_PARAMETER_VALUE,
                format!("{relation} has no {of}"),
                match *of {
                    "rows" => "Only rows that you may see count: check row security and filters.",
                    _ => "Name a relation with at least one column.",
                },
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
            Error::Cancelled => plain(
                Code::ERRCODE_QUERY_CANCELED,
                "canceling statement due to user request",
                "Call again to start anew.",
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
            Error::BagEncoding { of, here } => plain(
                Code::ERRCODE_CHARACTER_NOT_IN_REPERTOIRE,
                match of {
                    Some(of) => format!("the bag holds text in encoding {of}, the database's is {here}"),
                    None => "the bag holds text that is not valid in this database's encoding".into(),
                },
                "Bags travel between databases of the same encoding.",
            ),
            Error::TooLarge { what, bytes } => plain(
                Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
                format!("the {what} has {bytes} bytes; a value of Postgres holds 1 GB at most"),
                "Aggregate fewer columns or fewer rows at a time.",
            ),
            Error::NotARow { found } => plain(
                Code::ERRCODE_DATATYPE_MISMATCH,
                format!("source is of type {found}, which is no relation's row type"),
                "Name the relation by a typed NULL: NULL::patients.",
            ),
            Error::Broken { what } => plain(
                Code::ERRCODE_INTERNAL_ERROR,
                format!("the release was withheld: {what}"),
                "This is a fault of pg_sanitize: please report it.",
            ),
            Error::Fault { .. } => plain(
                Code::ERRCODE_INTERNAL_ERROR,
                "pg_sanitize has a fault, and the call was given up",
                "Please report the call; the server's log says where it ended.",
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
            Error::NotOwner { relation } => plain(
                Code::ERRCODE_INSUFFICIENT_PRIVILEGE,
                format!("must be owner of {relation}"),
                "Ask the owner of the relation, or a superuser.",
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
            Error::Query { what } => plain(
                Code::ERRCODE_INTERNAL_ERROR,
                format!("a query of pg_sanitize failed: {what}"),
                "This is a fault of pg_sanitize: please report it.",
            ),
            Error::NoEntropy { what } => plain(
                Code::ERRCODE_SYSTEM_ERROR,
                what.clone(),
                "Without them nothing private can be released.",
            ),
            Error::Context => plain(
                Code::ERRCODE_FEATURE_NOT_SUPPORTED,
                "the function returns rows, which cannot be used here",
                "Call it in FROM: SELECT * FROM sanitize.function(…).",
            ),
            Error::NoAggregate => plain(
                Code::ERRCODE_FEATURE_NOT_SUPPORTED,
                "the function is part of an aggregate and cannot be called by itself",
                "Call the aggregate.",
            ),
            Error::Merging { limit } => (
                Code::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
                "the bags do not fit together into the memory that pg_sanitize may use".into(),
                Some(format!("pg_sanitize.max_memory is {} MB.", limit >> 20)),
                "Raise pg_sanitize.max_memory, give fewer columns, or make a bag of a sample of the rows; max_length bounds what mining needs beside the bag.".into(),
            ),
            Error::NotSuperuser => plain(
                Code::ERRCODE_INSUFFICIENT_PRIVILEGE,
                "must be superuser to confirm the ledger",
                "Ask the administrator of this server.",
            ),
            Error::NotProtected { relation } => plain(
                Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("{relation} is not protected"),
                "Its owner calls sanitize.protect first, and commits.",
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
            Error::Exchanged { original, released, method } => (
                Code::ERRCODE_INVALID_PARAMETER_VALUE,
                "original and released are swapped".into(),
                Some(format!("{original}, which is given as original, is recorded as a release of {released}.")),
                format!("Give the table first that the release was made from: sanitize.{method}('{released}', '{original}', …)."),
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
            Error::OneBudget { message, reason, hint } => (
                Code::ERRCODE_INVALID_PARAMETER_VALUE,
                message.clone(),
                Some(reason.clone()),
                hint.clone(),
            ),
            Error::TwoBudgets { relation, other, how } => (
                Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("{relation} and {other} are about the same people and have two budgets"),
                Some(format!("{how} Nothing was charged.")),
                "Their owner puts both into one population: sanitize.population('…', epsilon), and sanitize.protect(…, population => '…'). Or unprotects one and protects it again without epsilon: it then shares the other's budget.".into(),
            ),
            Error::NotPopulationOwner { name, owner } => plain(
                Code::ERRCODE_INSUFFICIENT_PRIVILEGE,
                format!("must be owner of population {name}"),
                format!("It belongs to role \"{owner}\": be a member of that role, or choose another name."),
            ),
            Error::NotAllowed { relation } => plain(
                Code::ERRCODE_INSUFFICIENT_PRIVILEGE,
                format!("you may not ask about {relation}"),
                "Its owner can let you with sanitize.allow.",
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
            Error::Standby => plain(
                Code::ERRCODE_READ_ONLY_SQL_TRANSACTION,
                "a standby server cannot charge a budget",
                "Ask the primary server.",
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
                // Replaced by the reported SQLSTATE when it is raised.
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
            Error::UnitForbidden { relation, unit } => plain(
                Code::ERRCODE_INSUFFICIENT_PRIVILEGE,
                format!("permission denied for column \"{unit}\" of {relation}, by which people are counted"),
                "Its owner can grant SELECT on it. To count rows instead: unit => ''.",
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
            Error::Unreadable => plain(
                Code::ERRCODE_DATA_EXCEPTION,
                "the protected relation could not be read",
                "The reason may tell about the data, so it is not shown; the charge stands. The owner finds it in the server's log.",
            ),
        }
    }
}

/// The parts of an error without a detail.
fn plain(
    code: Code,
    message: impl Into<String>,
    hint: impl Into<String>,
) -> (Code, String, Option<String>, String) {
    (code, message.into(), None, hint.into())
}

/// A text as SQL literal, for hints.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
