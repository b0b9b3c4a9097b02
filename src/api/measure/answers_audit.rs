//! Audits of exact answers: what published sums and counts reveal of each unit.

use crate::api::prelude::*;
use crate::api::private::question::Described;
use crate::api::private::question::query::{condition, group_value};
use measures::Rational;
use measures::answers::{self, Bounds, Known, MOST_ANSWERS, MOST_TERMS, UnitClass};
use question::Condition;
use std::collections::HashMap;
use std::ffi::CString;

const QUERIES: Argument<Json> = Argument::of("queries")
    .about("The unit column, what everybody knows of a value, and the exact answers that were given: {\"unit\": …, \"low\": …, \"high\": …, \"answers\": […]}.");

const AUDIT_ANSWERS: Method = Method::new(
    "audit_answers",
    &[&RELATION, &QUERIES],
    columns![unit: Text, determined: Bool, low: Numeric, high: Numeric],
    audit_answers,
)
.reading()
.about(
    "what exact sums and counts that were given out tell of each unit: whether its value \
         follows from them, and between which bounds it lies",
);

const HINT: &str = "queries is {\"unit\": \"name\", \"low\": 0, \"high\": 100, \"answers\": [{\"sum\": \"salary\", \"filter\": {\"ward\": \"A\"}}, …]}; answers have one of \"sum\" or \"avg\" (of a column) and \"count\" (of a condition).";

fn refuse(what: impl std::fmt::Display) -> Error {
    Error::argument(what.to_string(), HINT)
}

fn audit_answers(call: &Call) -> Result<Datum> {
    let given = call.get(&QUERIES)?;
    let relation = Relation::open(call.get(&RELATION)?)?;
    // Dates and times are read and compared independently of the settings.
    let (asked, bag) = rights::with_fixed_formats(|| {
        let asked = Asked::read(&relation, &given)?;
        let bag = reader::read_query(&relation, &asked.query(&relation)?, 0)?.bag;
        Ok((asked, bag))
    })?;
    let units = Units::new(&bag, &asked)?;
    let known = pool::run("auditing", bag.memory(), |watch| {
        answers::audit(&units.classes, &asked.bounds, watch)
    })?;
    let mut rows = ResultRows::begin(call)?;
    for (code, &class) in units.class_of.iter().enumerate() {
        let Some(known): Option<&Known> = known.get(class) else { continue };
        let numeric = |text: Option<String>| {
            move || {
                let number = text.as_deref().and_then(|text| AnyNumeric::try_from(text).ok());
                number.and_then(IntoDatum::into_datum).unwrap_or(Datum::null())
            }
        };
        // If a bound has no finite decimal expansion, it is rounded outwards.
        let low = numeric(known.low.as_ref().map(|low| low.decimal_below(20)));
        let high = numeric(known.high.as_ref().map(|high| high.decimal_above(20)));
        rows.push([
            Value::Text(bag.domain(0).value(code as u32)),
            Value::Bool(known.is_determined()),
            if known.low.is_some() { Value::Made(&low) } else { Value::Null },
            if known.high.is_some() { Value::Made(&high) } else { Value::Null },
        ]);
    }
    Ok(rows.finish(call))
}

/// What the answers are about: a column of numbers, or a condition that holds or not.
enum Secret {
    Column(usize),
    Condition(Vec<Condition>),
}

/// The answers that were given.
struct Asked {
    unit: usize,
    secret: Secret,
    /// The set of each answer.
    sets: Vec<Vec<Condition>>,
    bounds: Bounds,
}

impl Asked {
    fn read(relation: &Relation, given: &Json) -> Result<Self> {
        let Json::Object(object) = given else { return Err(refuse("queries is no object")) };
        for key in object.keys() {
            if !["unit", "low", "high", "answers"].contains(&key.as_str()) {
                return Err(refuse(format_args!("queries has \"{key}\"")));
            }
        }
        let Some(Json::String(unit)) = object.get("unit") else {
            return Err(refuse("queries names no unit"));
        };
        let unit = relation.position(unit)?;
        let Some(Json::Array(list)) = object.get("answers") else {
            return Err(refuse("queries has no list of answers"));
        };
        if list.is_empty() || list.len() > MOST_ANSWERS {
            return Err(Error::argument(
                format!("queries has {} answers", list.len()),
                format!("Give from 1 to {MOST_ANSWERS} answers."),
            ));
        }
        let mut about: Option<(&Json, Secret)> = None;
        let mut sets = Vec::with_capacity(list.len());
        for answer in list {
            let Json::Object(answer) = answer else {
                return Err(refuse(format_args!("an answer is {answer}")));
            };
            let (asked, is_count) = what(answer)?;
            match &about {
                None => about = Some((asked, secret(relation, asked, is_count)?)),
                Some((first, _)) if *first == asked => (),
                Some((first, _)) => {
                    return Err(Error::argument(
                        format!("answers are about {first} and about {asked}"),
                        "Audit one secret at a time: answers about another one tell nothing of it here.",
                    ));
                }
            }
            sets.push(question::conditions(&Described::new(relation), answer.get("filter"))?);
        }
        let Some((_, secret)) = about else { return Err(refuse("queries has no answers")) };
        let secrets = match &secret {
            Secret::Column(column) => vec![*column],
            Secret::Condition(conditions) => {
                conditions.iter().flat_map(Condition::columns).collect()
            }
        };
        if let Some(column) =
            sets.iter().flatten().flat_map(Condition::columns).find(|c| secrets.contains(c))
        {
            return Err(Error::argument(
                format!("column \"{}\" is in a filter and secret", relation.columns[column].name),
                "Filters are about what everybody knows of the units.",
            ));
        }
        let bounds = read_bounds(relation, object, &secret)?;
        Ok(Asked { unit, secret, sets, bounds })
    }

    /// Unit, value and membership in each set, of every unit whose value is known.
    fn query(&self, relation: &Relation) -> Result<CString> {
        let all = |parts: &[Condition]| {
            let parts: Vec<String> = parts.iter().map(|part| condition(relation, part)).collect();
            if parts.is_empty() { "true".into() } else { parts.join(" AND ") }
        };
        let unit = &relation.columns[self.unit];
        let (value, known) = match &self.secret {
            Secret::Column(column) => {
                let name = relation.columns[*column].quoted();
                let of = match types::is_boolean(relation.columns[*column].base_type) {
                    true => format!("({name})::pg_catalog.int4"),
                    false => format!("({name})::pg_catalog.numeric"),
                };
                (of, format!("{name} IS NOT NULL"))
            }
            Secret::Condition(parts) => {
                (format!("CASE WHEN {} THEN 1 ELSE 0 END", all(parts)), "true".into())
            }
        };
        // If Citus answers, a worker would write the text under its own settings; so the text is made here, by the
        // reader.
        let mut query = format!("SELECT {} AS unit, {value} AS value", group_value(unit));
        for (i, set) in self.sets.iter().enumerate() {
            query += &format!(", CASE WHEN {} THEN 1 ELSE 0 END AS a{i}", all(set));
        }
        query +=
            &format!(" FROM {} WHERE {} IS NOT NULL AND {known}", relation.from(), unit.quoted());
        CString::new(from_utf8(&query)).map_err(Error::fault)
    }
}

/// What an answer is about, and whether it is a count.
fn what(answer: &Map<String, Json>) -> Result<(&Json, bool)> {
    let mut found = None;
    for (key, value) in answer {
        match key.as_str() {
            "filter" => (),
            "sum" | "avg" | "count" if found.is_none() => found = Some((value, key == "count")),
            _ => return Err(refuse(format_args!("an answer has \"{key}\": {value}"))),
        }
    }
    found.ok_or_else(|| refuse("an answer is of nothing"))
}

fn secret(relation: &Relation, asked: &Json, is_count: bool) -> Result<Secret> {
    if is_count {
        return match asked {
            Json::Object(object) if !object.is_empty() => {
                Ok(Secret::Condition(question::conditions(&Described::new(relation), Some(asked))?))
            }
            other => Err(refuse(format_args!("a count is of {other}, which is no condition"))),
        };
    }
    let Json::String(name) = asked else {
        return Err(refuse(format_args!("a sum is of {asked}, which is no column")));
    };
    let position = relation.position(name)?;
    let column = &relation.columns[position];
    match types::is_number(column.base_type) || types::is_boolean(column.base_type) {
        true => Ok(Secret::Column(position)),
        false => Err(Error::argument(
            format!("column \"{name}\" is neither a number nor boolean"),
            "A sum is one of numbers. For how many units have a value, use \"count\".",
        )),
    }
}

/// The public bounds of a value: as given, or else as declared; for a condition 0 and 1.
fn read_bounds(relation: &Relation, object: &Map<String, Json>, secret: &Secret) -> Result<Bounds> {
    let end = |key: &str| match object.get(key) {
        None | Some(Json::Null) => Ok(None),
        Some(value) => {
            let number = value.as_number().and_then(|number| decimal(&number.to_string()));
            number.map(Some).ok_or_else(|| refuse(format_args!("{key} is {value}")))
        }
    };
    let (low, high) = (end("low")?, end("high")?);
    if let Some((low, high)) = low.as_ref().zip(high.as_ref()).filter(|(low, high)| low > high) {
        let [low, high] = [low, high].map(|end| end.decimal_below(20));
        return Err(refuse(format_args!("low is {low} and high is {high}")));
    }
    let (found, is_whole) = match secret {
        Secret::Condition(_) => (Some(("0".into(), "1".into())), true),
        Secret::Column(column) => {
            let column = &relation.columns[*column];
            match types::is_boolean(column.base_type) {
                true => (Some(("0".into(), "1".into())), true),
                false => (bounds::find(relation, column)?, types::is_integer(column.base_type)),
            }
        }
    };
    let (known_low, known_high) = match found {
        Some((low, high)) => (decimal(&low), decimal(&high)),
        None => (None, None),
    };
    Ok(Bounds { low: low.or(known_low), high: high.or(known_high), is_whole })
}

fn decimal(text: &str) -> Option<Rational> {
    Rational::decimal(&AnyNumeric::try_from(text).ok()?.to_string())
}

/// The units of a bag by the sets that they are in.
struct Units {
    classes: Vec<UnitClass>,
    /// The class of each unit, by its code.
    class_of: Vec<usize>,
}

impl Units {
    fn new(bag: &Bag, asked: &Asked) -> Result<Self> {
        let units = bag.domain(0).len();
        let (mut classes, mut numbers) =
            (Vec::<UnitClass>::new(), HashMap::<Vec<u32>, usize>::new());
        let mut class_of = vec![usize::MAX; units];
        let values: Vec<String> = bag.domain(1).values().map(to_utf8).collect();
        for i in 0..bag.distinct() {
            let (unit, value) = (bag.row(i)[0] as usize, &values[bag.row(i)[1] as usize]);
            if bag.weight(i) > 1 || class_of[unit] != usize::MAX {
                let unit = to_utf8(bag.domain(0).value(unit as u32));
                return Err(Error::argument(
                    format!("unit \"{unit}\" has several rows"),
                    "Audit a view with one row for each unit.",
                ));
            }
            let number = decimal(value).filter(|number| {
                let Bounds { low, high, .. } = &asked.bounds;
                low.as_ref().is_none_or(|low| low <= number)
                    && high.as_ref().is_none_or(|high| high >= number)
            });
            let Some(number) = number else {
                return Err(Error::argument(
                    format!("a value is {value}, which is no number between low and high"),
                    "low and high are what everybody knows of every value.",
                ));
            };
            let sets = &bag.row(i)[2..];
            let class = *numbers.entry(sets.to_vec()).or_insert(classes.len());
            if class == classes.len() {
                let is_in = |(c, &code): (usize, &u32)| bag.domain(c + 2).value(code) == b"1";
                classes.push(UnitClass {
                    is_in: sets.iter().enumerate().map(is_in).collect(),
                    members: 0,
                    total: Rational::zero(),
                });
                if classes.len() * asked.sets.len() > MOST_TERMS {
                    return Err(Error::argument(
                        format!(
                            "{} answers tell more than {class} kinds of units apart",
                            asked.sets.len()
                        ),
                        format!(
                            "Answers times kinds of units are {MOST_TERMS} at the most: audit fewer answers at a time."
                        ),
                    ));
                }
            }
            classes[class].members += 1;
            classes[class].total = &classes[class].total + &number;
            class_of[unit] = class;
        }
        Ok(Units { classes, class_of })
    }
}

methods! {
    sanitize_audit_answers => AUDIT_ANSWERS;
}
