//! The registry of methods, and the functions that read it: `guarantee`, and `methods()`.

use crate::api::prelude::*;
use crate::catalog::ledger::Asker;
use crate::method::{Exported, Label};
use crate::rules::terms;
use std::collections::BTreeSet;

/// All methods with their symbols, by family.
pub fn exported() -> impl Iterator<Item = Exported> {
    crate::api::FAMILIES
        .iter()
        .flat_map(|(_, files)| files.iter())
        .flat_map(|file| file.iter().copied())
}

/// All methods, by family.
pub fn all() -> impl Iterator<Item = &'static Method> {
    exported().map(|(_, method)| method)
}

/// The label of a release by that method with these options.
pub fn label(method: &str, options: Json) -> Result<Guarantee> {
    let found =
        all().filter(|one| one.name == method).find_map(|one| Some((one, one.label.as_ref()?)));
    let Some((method, label)) = found else {
        return Err(Error::argument(
            format!("method is \"{method}\""),
            format!("method is {}.", one_of(labelled().map(|method| method.name))),
        ));
    };
    let mut options = object(options)?;
    let known: Vec<&str> =
        method.arguments.iter().chain(label.further).map(|argument| argument.name()).collect();
    if let Some(name) = options.keys().find(|name| !known.contains(&name.as_str())) {
        return Err(no_option(name, &known));
    }
    if let Some(source) = named_source(&options)? {
        options.extend(terms::of_source(&options, method, label, &source)?);
    }
    label_of(method, label, &options)
}

/// The label of a release by a method with options that it has.
pub fn label_of(
    method: &'static Method,
    label: &Label,
    options: &Map<String, Json>,
) -> Result<Guarantee> {
    let arguments = Arguments::of_options(method.arguments, options);
    terms::under_options((label.of)(&arguments)?, method, label, &arguments)
}

/// The relation that the options name as the source, if they do. A caller who may not ask about a protected relation
/// does not learn its terms.
fn named_source(options: &Map<String, Json>) -> Result<Option<Relation>> {
    if !options.get(RELATION.name).is_some_and(Json::is_string) {
        return Ok(None);
    }
    const NAMED: &[&dyn Declared] = &[&RELATION];
    let source = Relation::row_type(Arguments::of_options(NAMED, options).get(&RELATION)?)?;
    if protection::terms(source.oid)?.is_some() {
        ledger::remaining(&source, &Asker::caller())?;
    }
    Ok(Some(source))
}

/// Options by name.
pub fn object(options: Json) -> Result<Map<String, Json>> {
    match options {
        Json::Object(options) => Ok(options),
        _ => Err(Error::argument(
            "options is no object",
            "Give the method's arguments by name: {\"k\": 5}.",
        )),
    }
}

/// The refusal of an option that the method does not have.
pub fn no_option(name: &str, known: &[&str]) -> Error {
    Error::argument(
        format!("there is no option \"{name}\""),
        format!("The options of this method are: {}.", known.join(", ")),
    )
}

fn labelled() -> impl Iterator<Item = &'static Method> {
    all().filter(|method| method.label.is_some())
}

/// Names in alphabetical order as a sentence has them.
pub fn one_of(names: impl Iterator<Item = &'static str>) -> String {
    let names: BTreeSet<String> = names.map(|name| format!("'{name}'")).collect();
    let names: Vec<String> = names.into_iter().collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

pub const METHOD: Argument<String> =
    Argument::of("method").about("The function that makes the release.");

pub const OPTIONS: Argument<Json> =
    Argument::of("options").or("{}").about("Its arguments by name: {\"k\": 5}.");

const GUARANTEE: Method =
    Method::new("guarantee", &[&METHOD, &OPTIONS], Returns::One(Type::Json), |call| {
        let label = label(&call.get(&METHOD)?, call.get(&OPTIONS)?)?;
        jsonb::datum(&serde_json::to_value(label.label()).map_err(Error::fault)?)
    })
    .stable()
    .about(
        "what a release by this method with these options protects, under which assumptions, \
         and what not; with a sentence for a data-sharing agreement",
    );

const LIST: Method = Method::new(
    "methods",
    &[],
    columns![
        method: Text, position: Int4, argument: Text, types: Text, default_value: Text, about: Text,
        family: Text
    ],
    list,
)
.stable()
.parallel_safe()
.rows(200)
.about(
    "every argument of every function: its types, its default as JSON (NULL: it has to be \
         given), what it means, and the family that the function belongs to",
);

fn list(call: &Call) -> Result<Datum> {
    let mut rows = ResultRows::begin(call)?;
    let methods = crate::api::FAMILIES.iter().flat_map(|(family, files)| {
        files.iter().copied().flatten().map(move |(_, method)| (family, method))
    });
    for (family, method) in methods.filter(|(_, method)| !method.is_internal) {
        for (position, argument) in (1..).zip(method.arguments) {
            rows.push([
                Value::Text(method.name.as_bytes()),
                Value::Int(position),
                Value::Text(argument.name().as_bytes()),
                Value::Text(argument.of().names().join(", ").as_bytes()),
                argument.default().map_or(Value::Null, |value| Value::Text(value.as_bytes())),
                Value::Text(argument.about().as_bytes()),
                Value::Text(family.as_bytes()),
            ]);
        }
    }
    Ok(rows.finish(call))
}

methods! {
    sanitize_guarantee => GUARANTEE;
    sanitize_methods => LIST;
}
