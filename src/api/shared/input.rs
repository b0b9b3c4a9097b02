//! Rows to work on, and the two tables that a measure compares.

use crate::api::prelude::*;
use crate::api::release::levels::{LEVELS, Levels};
use crate::catalog::releases;
use crate::pg::call::argument::Source;

/// The `original` and the `released` table of a call. Refuses a call whose original is recorded as a release of the
/// table that it takes for released: the two are swapped, and everything that is measured would be about the wrong one.
pub fn original_and_released(call: &Call) -> Result<(Oid, Oid)> {
    let original = Relation::open(call.get(&ORIGINAL)?)?;
    let released = Relation::open(call.get(&RELEASED)?)?;
    // A caller who may not read both tables learns nothing about the record of releases.
    let may_read = rights::may_read_some(original.oid) && rights::may_read_some(released.oid);
    if may_read && releases::is_release_of(original.oid, released.oid)? {
        let (original, released) = (original.name, released.name);
        return Err(Error::Exchanged { original, released, method: call.method.name });
    }
    Ok((original.oid, released.oid))
}

/// Rows to work on, and their name in messages.
pub struct Input {
    pub name: String,
    pub bag: Bag,
}

impl Input {
    /// The rows of an argument, cut to the columns that the call names.
    pub fn read(call: &Call, source: &Argument<Source>) -> Result<Self> {
        let names = call.get(&COLUMNS)?;
        Input::read_columns(call, source, names.as_deref())
    }

    /// As [`Input::read`], with the columns at the levels that the call names.
    pub fn read_at_levels(call: &Call, source: &Argument<Source>) -> Result<Self> {
        let Some(named) = call.get(&LEVELS)? else { return Input::read(call, source) };
        let Source::Relation(oid) = call.get(source)? else {
            return Err(Error::argument(
                "levels are given for a bag",
                "Hierarchies belong to the columns of a relation: give that as the source.",
            ));
        };
        let relation = Relation::open(oid)?;
        let columns = relation.positions("columns", call.get(&COLUMNS)?.as_deref())?;
        let bag = reader::read(&relation, &columns)?.bag;
        let levels = Levels::new(&named, &relation, &columns, &bag)?;
        let mut input = Input { name: relation.name, bag };
        input.bag = input.run("generalising", |bag, watch| {
            let _held = watch.hold(levels.memory())?;
            suppress::generalized_bag(bag, &levels.hierarchies, &levels.levels, watch)
        })?;
        Ok(input)
    }

    /// The rows of an argument, cut to the named columns (all if `None`).
    pub fn read_columns(
        call: &Call,
        source: &Argument<Source>,
        names: Option<&[String]>,
    ) -> Result<Self> {
        match call.get(source)? {
            Source::Relation(oid) => Input::of(oid, names),
            Source::Bag(bag) => Input::from_bag(bag, names),
        }
    }

    /// The rows of a relation, cut to the named columns (all if `None`).
    pub fn of(relation: Oid, names: Option<&[String]>) -> Result<Self> {
        let relation = Relation::open(relation)?;
        let columns = relation.positions("columns", names)?;
        let bag = reader::read(&relation, &columns)?.bag;
        Ok(Input { name: relation.name, bag })
    }

    fn from_bag(bag: Bag, names: Option<&[String]>) -> Result<Self> {
        let name = "the bag".to_string();
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

    /// Runs work on the rows in the pool; their memory counts against the call's budget.
    pub fn run<T: Send, E: Into<Error> + Send>(
        &self,
        phase: &'static str,
        job: impl FnOnce(&Bag, &Watch) -> Result<T, E> + Send,
    ) -> Result<T> {
        let bag = &self.bag;
        pool::run(phase, bag.memory(), |watch| job(bag, watch))
    }

    /// Refuses a source without rows.
    pub fn with_rows(self) -> Result<Self> {
        if self.bag.row_count() == 0 {
            return Err(Error::Empty { relation: self.name, of: "rows" });
        }
        Ok(self)
    }

    /// Refuses a theta that every combination is below.
    pub fn with_more_rows_than(self, theta: u64) -> Result<Self> {
        let rows = self.bag.row_count();
        if theta <= rows {
            return Ok(self);
        }
        Err(Error::argument(
            format!("theta is {theta}, but {} has {rows} rows", self.name),
            "Every value would stand out and nothing would be left. Give a theta below the number of rows.",
        ))
    }
}
