//! The arguments that most functions share: a source, its columns, a length.

use crate::pg::bag;
use crate::pg::call::Call;
use crate::pg::error::Error;
use crate::pg::pool;
use crate::pg::reader;
use crate::pg::relation::{Relation, positions};
use pgrx::{direct_function_call, pg_sys};
use table::{Bag, Stop, Watch};

/// Rows to work on, and what to call them in messages.
pub struct Input {
    pub name: String,
    pub bag: Bag,
}

impl Input {
    /// Runs work on the rows in the pool; their memory counts against the call's budget.
    pub fn run<T: Send>(
        &self,
        phase: &'static str,
        job: impl FnOnce(&Bag, &Watch) -> Result<T, Stop> + Send,
    ) -> Result<T, Error> {
        let bag = &self.bag;
        pool::run(phase, bag.memory(), |watch| job(bag, watch))
    }

    /// Refuses a source without rows.
    pub fn with_rows(self) -> Result<Self, Error> {
        if self.bag.row_count() == 0 {
            return Err(Error::Empty { relation: self.name, of: "rows" });
        }
        Ok(self)
    }
}

/// The source in argument 0 (a relation, its name as text, or a bag), cut to the columns named in
/// argument `columns`.
pub fn source(call: &Call, columns: usize) -> Result<Input, Error> {
    source_columns(call, call.names(columns, "columns")?)
}

/// The source in argument 0, cut to the named columns (all if `None`).
pub fn source_columns(call: &Call, names: Option<Vec<String>>) -> Result<Input, Error> {
    let oid = match call.argument_type(0) {
        pg_sys::TEXTOID => {
            let name = call.datum(0).ok_or(Error::Null { argument: "source" })?;
            // SAFETY: text_regclass takes one text.
            unsafe { direct_function_call(pg_sys::text_regclass, &[Some(name)]) }
        }
        pg_sys::REGCLASSOID => call.optional::<pg_sys::Oid>(0),
        _ => return from_bag(call, names.as_deref()),
    };
    let relation = Relation::open(oid.ok_or(Error::Null { argument: "source" })?)?;
    let columns = relation.positions("columns", names.as_deref())?;
    let bag = reader::read(&relation, &columns)?.bag;
    Ok(Input { name: relation.name, bag })
}

fn from_bag(call: &Call, names: Option<&[String]>) -> Result<Input, Error> {
    let name = "the bag".to_string();
    let bag = bag::argument(call, 0)?;
    if bag.width() == 0 {
        return Err(Error::Empty { relation: name, of: "columns" });
    }
    let existing: Vec<&str> = bag.domains().iter().map(|d| d.name()).collect();
    let columns = positions(&name, &existing, "columns", names)?;
    let mut input = Input { name, bag };
    if names.is_some() {
        input.bag = input.run("choosing columns", |bag, watch| bag.project(&columns, watch))?;
    }
    Ok(input)
}

/// The argument theta: how many rows may share what still counts as standing out.
pub fn theta(call: &Call, i: usize) -> Result<u64, Error> {
    let theta = call.value::<i32>(i, "theta")?;
    u64::try_from(theta).map_err(|_| {
        Error::argument(
            format!("theta is {theta}"),
            "theta is a number of rows: 0 or more. Combinations that at most theta rows share are found.",
        )
    })
}

/// Refuses a theta that every combination is below.
pub fn theta_fits(theta: u64, input: &Input) -> Result<(), Error> {
    let rows = input.bag.row_count();
    if theta <= rows {
        return Ok(());
    }
    Err(Error::argument(
        format!("theta is {theta}, but {} has {rows} rows", input.name),
        "Every value would stand out and nothing would be left. Give a theta below the number of rows.",
    ))
}

/// The argument k: how many rows must look alike.
pub fn k(call: &Call, i: usize) -> Result<u64, Error> {
    match call.value::<i32>(i, "k")? {
        k if k >= 2 => Ok(k as u64),
        k => Err(Error::argument(
            format!("k is {k}"),
            "k is the number of rows that must look alike: 2 or more.",
        )),
    }
}

/// The argument min_support: how many rows must share what counts as frequent.
pub fn min_support(call: &Call, i: usize) -> Result<u64, Error> {
    match call.value::<i64>(i, "min_support")? {
        rows if rows >= 1 => Ok(rows as u64),
        rows => Err(Error::argument(
            format!("min_support is {rows}"),
            "min_support is a number of rows: 1 or more.",
        )),
    }
}

/// The argument max_length: the longest itemset looked for.
pub fn max_length(call: &Call, i: usize) -> Result<Option<usize>, Error> {
    match call.optional::<i32>(i) {
        None => Ok(None),
        Some(length) if length >= 1 => Ok(Some(length as usize)),
        Some(length) => Err(Error::argument(
            format!("max_length is {length}"),
            "max_length is a number of columns: 1 or more. Leave it out for no limit.",
        )),
    }
}
