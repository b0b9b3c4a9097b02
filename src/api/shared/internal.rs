//! What the functions share that Postgres calls for a type or an aggregate.

use crate::method::Method;
use crate::pg::call::argument::{Argument, Declared, Type};
use crate::pg::call::error::Error;
use crate::pg::call::serve::Call;
use crate::pg::call::signature::Returns;
use pgrx::pg_sys::Datum;

/// An argument that Postgres passes.
pub const fn passed(name: &'static str, of: Type) -> Argument<()> {
    Argument::new(name, of, |_| Ok(())).about("What Postgres passes.")
}

/// Such a function.
pub const fn part(
    name: &'static str,
    arguments: &'static [&'static dyn Declared],
    returns: Type,
    run: fn(&Call) -> Result<Datum, Error>,
) -> Method {
    Method::new(name, arguments, Returns::One(returns), run).internal()
}
