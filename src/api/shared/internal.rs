//! Declarations shared by functions that Postgres calls on behalf of a type or an aggregate.

use crate::api::prelude::*;

/// An argument that Postgres passes.
pub const fn passed(name: &'static str, of: Type) -> Argument<()> {
    Argument::new(name, of, |_| Ok(())).about("What Postgres passes.")
}

/// A function that Postgres calls on behalf of a type or an aggregate.
pub const fn part(
    name: &'static str,
    arguments: &'static [&'static dyn Declared],
    returns: Type,
    run: fn(&Call) -> Result<Datum>,
) -> Method {
    Method::new(name, arguments, Returns::One(returns), run).internal()
}
