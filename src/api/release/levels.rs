//! Levels of hierarchies by column name, as several functions take them.

use super::hierarchy::of_column;
use crate::api::prelude::*;
use crate::catalog::hierarchies;

const HINT: &str = "Levels are whole numbers by column name, 0 for the value itself: {\"zip\": 2, \"birth_date\": 1}.";

/// Levels by name, as they were given.
pub type Named = Map<String, Json>;

/// Levels at which columns are examined.
pub const LEVELS: Argument<Option<Named>> = Argument::optional("levels", Type::Json, read)
    .about("Levels of their hierarchies at which columns are looked at, by name.");

/// Reads an argument that has levels by name.
pub fn read(given: &Given<'_>) -> Result<Option<Named>> {
    by_column_name(given, HINT)
}

/// The hierarchies of a bag's columns and the level of each, 0 where nothing is said. Column `c` of the bag
/// is column `columns[c]` of the relation.
pub struct Levels {
    pub hierarchies: Vec<Hierarchy>,
    pub levels: Vec<usize>,
}

impl Levels {
    pub fn new(named: &Named, relation: &Relation, columns: &[usize], bag: &Bag) -> Result<Self> {
        let names: Vec<&str> = bag.domains().iter().map(|domain| domain.name()).collect();
        let mut levels = vec![0; names.len()];
        for (name, level) in named {
            levels[place(&relation.name, &names, name)?] =
                level.as_u64().and_then(|level| usize::try_from(level).ok()).ok_or_else(|| {
                    Error::argument(format!("the level of column \"{name}\" is {level}"), HINT)
                })?;
        }
        let mut hierarchies = Vec::with_capacity(names.len());
        for (domain, (&position, &level)) in bag.domains().iter().zip(columns.iter().zip(&levels)) {
            hierarchies.push(if level == 0 {
                Hierarchy::flat(domain.len())
            } else {
                let column = &relation.columns[position];
                at_level(of_declared(relation, column, domain)?, column, level)?
            });
        }
        Ok(Levels { hierarchies, levels })
    }

    /// The bytes held.
    pub fn memory(&self) -> u64 {
        self.hierarchies.iter().map(Hierarchy::memory).sum()
    }
}

/// The hierarchy that is declared for a column.
fn of_declared(relation: &Relation, column: &Column, domain: &Domain) -> Result<Hierarchy> {
    if hierarchies::declared(relation, column)?.is_none() {
        return Err(Error::NoHierarchy {
            column: column.name.clone(),
            relation: relation.name.clone(),
        });
    }
    of_column(relation, column, domain, false)
}

/// The hierarchy, if it has the level; the one after its last blanks the column.
fn at_level(hierarchy: Hierarchy, column: &Column, level: usize) -> Result<Hierarchy> {
    let highest = hierarchy.height() + 1;
    if level <= highest {
        return Ok(hierarchy);
    }
    Err(Error::argument(
        format!("the level of column \"{}\" is {level}", column.name),
        format!("Its hierarchy has levels 0 to {highest}, at which the column is blank."),
    ))
}
