//! Weights by column, as several functions take them.

use crate::api::prelude::*;

const HINT: &str = "Weights are positive numbers by column name: {\"zip\": 2, \"age\": 0.5}.";

/// Weights by name, as they were given.
pub type Named = Map<String, Json>;

/// Reads an argument that has weights by name.
pub fn read(given: &Given<'_>) -> Result<Option<Named>> {
    by_column_name(given, HINT)
}

/// The weight of each of the named columns; 1 if none is given.
pub fn of_columns(weights: Option<&Named>, relation: &str, names: &[&str]) -> Result<Vec<f64>> {
    let mut values = vec![1.0; names.len()];
    for (name, weight) in weights.into_iter().flatten() {
        values[place(relation, names, name)?] =
            weight.as_f64().filter(|&w| w > 0.0 && w.is_finite()).ok_or_else(|| {
                Error::argument(format!("the weight of column \"{name}\" is {weight}"), HINT)
            })?;
    }
    Ok(values)
}
