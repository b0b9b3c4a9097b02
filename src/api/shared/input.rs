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

/// The people whose rows these are.
pub struct People {
    pub units: Units,
    /// How many there are.
    pub number: u64,
}

/// Rows to work on, their name in messages, and whose they are if people count.
pub struct Input {
    pub name: String,
    pub bag: Bag,
    pub people: Option<People>,
}

impl Input {
    /// Rows that count by themselves.
    pub fn of_rows(name: String, bag: Bag) -> Self {
        Input { name, bag, people: None }
    }

    /// Rows of a bag, of which the last column is the unit if people count.
    pub fn counting(name: String, bag: Bag, people: bool) -> Result<Self> {
        if !people {
            return Ok(Input::of_rows(name, bag));
        }
        let (bag, units, number) = pool::run("counting people", bag.memory(), |watch| {
            let number = bag.unit_count(watch)?;
            let (bag, units) = bag.split_units(watch)?;
            Ok::<_, Stop>((bag, units, number))
        })?;
        Ok(Input { name, bag, people: Some(People { units, number }) })
    }

    /// The rows of an argument, cut to the columns that the call names.
    pub fn read(call: &Call, source: &Argument<Source>) -> Result<Self> {
        let names = call.get(&COLUMNS)?;
        Input::read_columns(call, source, names.as_deref(), None)
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
        let unit = counted_unit(&call.arguments, &relation)?;
        let columns = counted::columns(&relation, unit.as_ref(), call.get(&COLUMNS)?.as_deref())?;
        let bag = counted::read(&relation, &columns, unit.as_ref())?.bag;
        let mut levels = Levels::new(&named, &relation, &columns, &bag)?;
        if unit.is_some() {
            // The unit is the last column, and stays as it is.
            levels.hierarchies.push(Hierarchy::flat(bag.domain(columns.len()).len()));
            levels.levels.push(0);
        }
        let bag = pool::run("generalising", bag.memory(), |watch| {
            let _held = watch.hold(levels.memory())?;
            suppress::generalized_bag(&bag, &levels.hierarchies, &levels.levels, watch)
        })?;
        Input::counting(relation.name, bag, unit.is_some())
    }

    /// The rows of an argument, cut to the named columns (all if `None`), one of which may be sensitive.
    pub fn read_columns(
        call: &Call,
        source: &Argument<Source>,
        names: Option<&[String]>,
        sensitive: Option<&str>,
    ) -> Result<Self> {
        match call.get(source)? {
            Source::Relation(oid) => {
                let relation = Relation::open(oid)?;
                let unit = counted_unit(&call.arguments, &relation)?;
                let sensitive = sensitive.map(|name| relation.position(name)).transpose()?;
                if let Some(unit) =
                    unit.as_ref().filter(|one| sensitive.is_some_and(|at| one.is(at)))
                {
                    return Err(counted::takes_no_part("sensitive", &unit.name));
                }
                let columns = counted::columns(&relation, unit.as_ref(), names)?;
                let bag = counted::read(&relation, &columns, unit.as_ref())?.bag;
                Input::counting(relation.name, bag, unit.is_some())
            }
            Source::Bag(bag) => {
                let unit = call.arguments.get_if_declared(&UNIT)?;
                match unit.as_deref().is_some_and(|unit| Some(unit) == sensitive) {
                    true => Err(counted::takes_no_part("sensitive", sensitive.unwrap_or_default())),
                    false => Input::from_bag(bag, names, unit),
                }
            }
        }
    }

    /// The rows of a relation, cut to the named columns (all if `None`). Rows count.
    pub fn of(relation: Oid, names: Option<&[String]>) -> Result<Self> {
        let relation = Relation::open(relation)?;
        let columns = relation.positions("columns", names)?;
        let bag = reader::read(&relation, &columns)?.bag;
        Ok(Input::of_rows(relation.name, bag))
    }

    /// The rows of a bag. It says nothing about protection: without a unit, rows count.
    fn from_bag(bag: Bag, names: Option<&[String]>, unit: Option<String>) -> Result<Self> {
        let name = "the bag".to_string();
        if bag.width() == 0 {
            return Err(Error::Empty { relation: name, of: "columns" });
        }
        let existing: Vec<&str> = bag.domains().iter().map(|d| d.name()).collect();
        let mut columns = positions(&name, &existing, "columns", names)?;
        let unit = unit.filter(|unit| unit != counted::ROWS);
        if let Some(unit) = &unit {
            let unit_place = place(&name, &existing, unit)?;
            if names.is_some() && columns.contains(&unit_place) {
                return Err(counted::takes_no_part("columns", unit));
            }
            columns.retain(|&column| column != unit_place);
            if columns.is_empty() {
                return Err(counted::unit_alone(&name, unit));
            }
            columns.push(unit_place);
        }
        let bag = match names.is_some() || unit.is_some() {
            true => {
                pool::run("choosing columns", bag.memory(), |watch| bag.project(&columns, watch))?
            }
            false => bag,
        };
        Input::counting(name, bag, unit.is_some())
    }

    /// The units of the rows, if people count.
    pub fn units(&self) -> Option<&Units> {
        self.people.as_ref().map(|people| &people.units)
    }

    /// The bytes held.
    pub fn memory(&self) -> u64 {
        self.bag.memory() + self.units().map_or(0, Units::memory)
    }

    /// Runs work on the rows in the pool; their memory counts against the call's budget.
    pub fn run<T: Send, E: Into<Error> + Send>(
        &self,
        phase: &'static str,
        job: impl FnOnce(&Bag, Option<&Units>, &Watch) -> Result<T, E> + Send,
    ) -> Result<T> {
        let (bag, units) = (&self.bag, self.units());
        pool::run(phase, self.memory(), |watch| job(bag, units, watch))
    }

    /// Refuses a source without rows.
    pub fn with_rows(self) -> Result<Self> {
        if self.bag.row_count() == 0 {
            return Err(Error::Empty { relation: self.name, of: "rows" });
        }
        Ok(self)
    }

    /// Refuses a theta that every combination is below.
    pub fn with_more_than(self, theta: u64) -> Result<Self> {
        let (number, of) = match &self.people {
            Some(people) => (people.number, "people"),
            None => (self.bag.row_count(), "rows"),
        };
        if theta <= number {
            return Ok(self);
        }
        Err(Error::argument(
            format!("theta is {theta}, but {} has {number} {of}", self.name),
            format!(
                "Every value would stand out and nothing would be left. Give a theta below the number of {of}."
            ),
        ))
    }
}
