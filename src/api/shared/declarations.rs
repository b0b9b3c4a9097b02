//! The SQL that declares the methods: CREATE FUNCTION and COMMENT for each. `scripts/declarations` writes it to
//! `sql/functions.sql`, and a test compares the two.

use super::registry::exported;
use crate::api::prelude::*;
use crate::method::{Parallel, Volatility, symbols};
use crate::pg::write::target::identifier;

const HEADER: &str = "-- The functions of the library. scripts/declarations writes this file from the methods in src/api; a test \
compares them.\n";

const DECLARATIONS: Method = Method::new("declarations", &[], Returns::One(Type::Text), |_| {
    Ok(text::datum(&from_utf8(&all()?)))
});

fn all() -> Result<String> {
    let mut all = HEADER.to_string();
    for (symbol, method) in exported() {
        let forms = method.arguments.iter().map(|argument| argument.of().names().len()).max();
        for form in 0..forms.unwrap_or(1) {
            all.push('\n');
            all.push_str(&declaration(symbol, method, form)?);
        }
    }
    Ok(all)
}

/// The declaration of a method with the types of its arguments in that form: a method has several forms if an argument
/// takes several types.
fn declaration(symbol: &str, method: &Method, form: usize) -> Result<String> {
    let Method { name, arguments, behaviour, .. } = method;
    let schema = if method.is_internal { "sanitize_internal" } else { "sanitize" };
    let typed = arguments.iter().map(|argument| {
        let names = argument.of().names();
        (*argument, sql_name(names.get(form).or(names.first()).unwrap_or(&"")))
    });
    let typed: Vec<(&dyn Declared, String)> = typed.collect();
    let listed: Result<Vec<String>> = typed
        .iter()
        .map(|(argument, of)| match (argument.of(), method.is_called_by_name()) {
            (Type::Columns, _) => Ok(format!("VARIADIC {of}")),
            (_, false) => Ok(of.clone()),
            (_, true) => {
                let name = identifier(argument.name())?;
                let default = argument.default().map(|value| default(argument.of(), value));
                Ok(format!("{name} {of}{}", default.transpose()?.unwrap_or_default()))
            }
        })
        .collect();
    let volatility = match behaviour.volatility {
        Volatility::Immutable => "IMMUTABLE",
        Volatility::Stable => "STABLE",
        Volatility::Volatile => "VOLATILE",
    };
    let strict = if behaviour.is_strict { " STRICT" } else { "" };
    let parallel = match behaviour.parallel {
        Parallel::Safe => "SAFE",
        Parallel::Restricted => "RESTRICTED",
        Parallel::Unsafe => "UNSAFE",
    };
    let cost = behaviour.cost.map(|cost| format!(" COST {cost}")).unwrap_or_default();
    let rows = behaviour.rows.map(|rows| format!(" ROWS {rows}")).unwrap_or_default();
    let types: Vec<&str> = typed.iter().map(|(_, of)| of.as_str()).collect();
    let source = arguments.iter().any(|argument| argument.of() == Type::Source);
    let about = method.about.replace('\'', "''");
    let which = match form {
        1 if source => " (of a bag)",
        2 if source => " (of a relation by its name)",
        _ => "",
    };
    Ok(format!(
        "CREATE FUNCTION {schema}.{name}({})\n    RETURNS {}\n    \
         LANGUAGE c {volatility}{strict} PARALLEL {parallel}{cost}{rows} AS 'MODULE_PATHNAME', '{symbol}';\n\
         COMMENT ON FUNCTION {schema}.{name}({}) IS\n    '{about}{which}';\n",
        listed?.join(", "),
        returned(&method.returns)?,
        types.join(", "),
    ))
}

fn returned(returns: &Returns) -> Result<String> {
    let name = |of: &Type| sql_name(of.names().first().unwrap_or(&""));
    Ok(match returns {
        Returns::One(of) => name(of),
        Returns::Set(of) => format!("SETOF {}", name(of)),
        Returns::Table(columns) => {
            let column = |(column, of): &(&str, Type)| -> Result<String> {
                Ok(format!("{} {}", identifier(column)?, name(of)))
            };
            let columns: Result<Vec<String>> = columns.iter().map(column).collect();
            format!("TABLE({})", columns?.join(", "))
        }
    })
}

/// A type's name with its schema, so that no search path finds another.
fn sql_name(name: &str) -> String {
    let (element, array) = name.strip_suffix("[]").map_or((name, ""), |element| (element, "[]"));
    let internal = match element {
        "boolean" => "bool",
        "integer" => "int4",
        "bigint" => "int8",
        "double precision" => "float8",
        "timestamp with time zone" => "timestamptz",
        other => other,
    };
    let schema = if element.contains('.') { "" } else { "pg_catalog." };
    format!("{schema}{internal}{array}")
}

/// A default, which arguments have as JSON.
fn default(of: Type, value: &str) -> Result<String> {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let literal = match serde_json::from_str(value).map_err(Error::fault)? {
        Json::Null => "NULL".into(),
        Json::Bool(_) | Json::Number(_) => value.into(),
        Json::String(text) => quoted(&text),
        Json::Array(_) if of != Type::Json => {
            quoted(&value.replace('[', "{").replace(']', "}").replace(' ', ""))
        }
        Json::Array(_) | Json::Object(_) => quoted(value),
    };
    Ok(format!(" DEFAULT {literal}"))
}

symbols! {
    sanitize_declarations => DECLARATIONS;
}
