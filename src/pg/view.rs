//! Views as protected relations: whether each of their rows depends on its own unit alone.

use super::error::Error;
use super::relation::Relation;

/// Why a row of the relation may depend on other units than its own; `None` if none can, as in every
/// table.
pub fn unstable(_relation: &Relation, _unit: &str) -> Result<Option<String>, Error> {
    Ok(None)
}
