//! Options as parameters of a statement: what jsonb says for an argument becomes a value of its type.

use super::argument::{Declared, Given, Type};
use super::error::Error;
use super::jsonb;
use super::text::Text;
use pgrx::IntoDatum;
use pgrx::pg_sys::{self, Datum, Oid};
use serde_json::{Map, Value as Json};

/// A parameter of a statement; `None` is NULL.
pub struct Parameter {
    pub of: Oid,
    pub value: Option<Datum>,
}

/// The value of an option; `None` if it is left out or null, so that the function's own default holds.
pub fn parameter(
    argument: &dyn Declared,
    options: &Map<String, Json>,
) -> Result<Option<Parameter>, Error> {
    if options.get(argument.name()).is_none_or(Json::is_null) {
        return Ok(None);
    }
    let given = Given::by_option(argument, options)?;
    let (of, value) = match argument.of() {
        Type::Bool => (pg_sys::BOOLOID, given.bool()?.into_datum()),
        Type::Int4 => (pg_sys::INT4OID, given.int4()?.into_datum()),
        Type::Int8 => (pg_sys::INT8OID, given.int8()?.into_datum()),
        Type::Float8 => (pg_sys::FLOAT8OID, given.float8()?.into_datum()),
        Type::Numeric => (pg_sys::NUMERICOID, given.numeric()?.into_datum()),
        Type::Text => (pg_sys::TEXTOID, given.text()?.map(Text).into_datum()),
        Type::Texts => {
            let texts = given.texts()?.map(|texts| -> Vec<Option<Text>> {
                texts.into_iter().map(|text| text.map(Text)).collect()
            });
            (pg_sys::TEXTARRAYOID, texts.into_datum())
        }
        Type::Json => {
            let value = given.json()?.map(|value| jsonb::datum(&value)).transpose()?;
            (pg_sys::JSONBOID, value)
        }
        Type::Interval => (pg_sys::INTERVALOID, given.interval()?.into_datum()),
        Type::Relation => (pg_sys::REGCLASSOID, given.relation()?.into_datum()),
        other => {
            let of = other.names().join(" or ");
            return Err(given.refuse(
                format!("of type {of}, which cannot be an option"),
                "Call the function itself.",
            ));
        }
    };
    Ok(Some(Parameter { of, value }))
}
