//! Options as values of a call: the JSON of an argument is converted into a datum of its type.

use super::argument::{Declared, Given, Type};
use super::jsonb;
use crate::pg::prelude::*;
use pgrx::IntoDatum;
use serde_json::{Map, Value as Json};

/// The value of an option, or the argument's default if it is left out or null; `None` is NULL.
pub fn value(argument: &dyn Declared, options: &Map<String, Json>) -> Result<Option<Datum>, Error> {
    let given = Given::by_option(argument, options)?;
    if given.is_null() {
        return Ok(None);
    }
    Ok(match argument.of() {
        Type::Bool => given.bool()?.into_datum(),
        Type::Int4 => given.int4()?.into_datum(),
        Type::Int8 => given.int8()?.into_datum(),
        Type::Float8 => given.float8()?.into_datum(),
        Type::Numeric => given.numeric()?.into_datum(),
        Type::Text => given.text()?.map(Text).into_datum(),
        Type::Texts => {
            let texts = given.texts()?.map(|texts| -> Vec<Option<Text>> {
                texts.into_iter().map(|text| text.map(Text)).collect()
            });
            texts.into_datum()
        }
        Type::Json => given.json()?.map(|value| jsonb::datum(&value)).transpose()?,
        Type::Interval => given.interval()?.into_datum(),
        Type::Relation => given.relation()?.into_datum(),
        other => {
            let of = other.names().join(" or ");
            return Err(given.refuse(
                format!("of type {of}, which cannot be an option"),
                "Call the function itself.",
            ));
        }
    })
}
