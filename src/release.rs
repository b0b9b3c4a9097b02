//! A method that makes releases: one function from arguments and source to rows. Its SQL function returns these rows;
//! `publish`, `refresh`, `sanitize_in_place` and sharded releases hold them and write them to tables.

use crate::api::shared::arguments::{RELATION, ROWS_OF};
use crate::method::Method;
use crate::pg::call::argument::{Argument, Arguments};
use crate::pg::call::error::Error;
use crate::pg::call::serve::Call;
use crate::pg::call::signature::Returns;
use crate::pg::catalog::relation::Relation;
use crate::pg::write::rowset::ResultRows;
use crate::pg::write::typed;
use pgrx::pg_sys::Datum;

/// How a method makes releases of its source.
pub struct Release {
    /// Makes the rows.
    pub rows: fn(&ReleaseCall<'_>, &mut ResultRows) -> Result<(), Error>,
    pub origin: Origin,
    pub filled: Filled,
    /// Cells of the columns that take part may be NULL in a release: publishing counts them.
    pub blanks: bool,
    /// The option that asks for coarser values. Such a release can show them in range types.
    pub coarser: Option<&'static str>,
}

/// What a released row is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// No particular row: it was drawn or computed.
    All,
    /// The kept columns of one row of the source; each row of the source is used at most once.
    KeptColumns,
    /// One row of the source, so that it can stay on its shard.
    Row,
}

/// Which columns of a release have values. All others are NULL.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Filled {
    /// The columns that the options list, or all if they list none.
    Listed,
    /// The columns that any option names.
    Named,
    /// All columns, whether they take part or not.
    All,
}

impl Release {
    /// A method whose rows are not made of particular source rows, with values in the columns that the options list.
    pub const fn new(rows: fn(&ReleaseCall<'_>, &mut ResultRows) -> Result<(), Error>) -> Self {
        let (origin, filled) = (Origin::All, Filled::Listed);
        Release { rows, origin, filled, blanks: false, coarser: None }
    }

    pub const fn made_of(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    pub const fn filling(mut self, filled: Filled) -> Self {
        self.filled = filled;
        self
    }

    pub const fn blanking(mut self) -> Self {
        self.blanks = true;
        self
    }

    pub const fn coarser_by(mut self, option: &'static str) -> Self {
        self.coarser = Some(option);
        self
    }
}

/// A call of a releasing method: from SQL, or by a function that publishes.
pub struct ReleaseCall<'a> {
    pub method: &'static Method,
    pub arguments: &'a Arguments<'a>,
    /// The source of a publication; a call from SQL names its own.
    published: Option<&'a Relation>,
}

impl<'a> ReleaseCall<'a> {
    /// A call from SQL.
    pub fn of_sql(call: &'a Call) -> Self {
        ReleaseCall { method: call.method, arguments: &call.arguments, published: None }
    }

    /// A call by a function that publishes the source. `columns` are those of the wanted rows.
    pub fn publishing(
        method: &'static Method,
        arguments: &'a Arguments<'a>,
        source: &'a Relation,
    ) -> Self {
        ReleaseCall { method, arguments, published: Some(source) }
    }

    /// The value of an argument.
    pub fn get<T>(&self, argument: &Argument<T>) -> Result<T, Error> {
        self.arguments.get(argument)
    }

    /// The relation to read.
    pub fn source(&self) -> Result<Relation, Error> {
        match (self.published, self.method.returns) {
            (Some(source), _) => Ok(source.clone()),
            (None, Returns::Set(_)) => typed::relation(self.get(&ROWS_OF)?),
            (None, _) => Relation::open(self.get(&RELATION)?),
        }
    }
}

/// The SQL function of a releasing method: returns the rows.
pub fn returned(call: &Call) -> Result<Datum, Error> {
    let release = call.method.release.as_ref().ok_or_else(|| Error::fault("no release"))?;
    let mut rows = ResultRows::begin(call)?;
    (release.rows)(&ReleaseCall::of_sql(call), &mut rows)?;
    Ok(rows.finish(call))
}
