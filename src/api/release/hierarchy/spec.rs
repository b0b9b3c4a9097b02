//! The declared levels of a column, as jsonb, and the errors that can be found in them without any value.

use crate::api::prelude::*;
use suppress::levels::Unit;

/// The levels of a column, one of five kinds.
pub enum Levels {
    Ranges(Ranges),
    /// Calendar units, ever coarser.
    Dates(Vec<Unit>),
    Prefix(Prefix),
    /// By level: the name above each name.
    Tree(Vec<Vec<(String, String)>>),
    /// A relation that has them in its columns `level0`, `level1`, …
    Table(String),
}

/// Ranges of numbers.
pub struct Ranges {
    /// Ascending, each a multiple of the previous one.
    pub widths: Vec<AnyNumeric>,
    /// The lower end of one of the ranges.
    pub from: AnyNumeric,
    /// True if the middle of a range is shown, not its lower end.
    pub shows_middle: bool,
}

/// The first characters of a text.
pub struct Prefix {
    /// Descending.
    pub lengths: Vec<usize>,
    /// The character that replaces each of the others; `None`: they are cut off.
    pub mask: Option<char>,
}

const KINDS: &str = "One of: {\"ranges\": [5, 10, 20]}, {\"dates\": [\"month\", \"year\"]}, \
    {\"prefix\": [3, 2]}, {\"tree\": [{\"Paris\": \"France\"}]}, {\"table\": \"geo\"}.";

const RANGES: &str =
    "ranges are widths, ever wider, each a multiple of the one before: [5, 10, 20].";

const LENGTHS: &str = "prefix has the numbers of characters that stay, ever fewer: [4, 3, 2].";

impl Levels {
    /// Reads the levels of a column.
    pub fn read(levels: &Json, column: &Column) -> Result<Self> {
        let Json::Object(keys) = levels else {
            return Err(Error::argument("levels is no object", KINDS));
        };
        let (kind, others): (&str, &[&str]) = match keys {
            _ if keys.contains_key("ranges") => ("ranges", &["from", "show"]),
            _ if keys.contains_key("prefix") => ("prefix", &["mask"]),
            _ if keys.contains_key("dates") => ("dates", &[]),
            _ if keys.contains_key("tree") => ("tree", &[]),
            _ if keys.contains_key("table") => ("table", &[]),
            _ => {
                let found: Vec<String> = keys.keys().map(|key| format!("\"{key}\"")).collect();
                let found = if found.is_empty() { "nothing".into() } else { found.join(", ") };
                return Err(Error::argument(format!("levels has no kind, but {found}"), KINDS));
            }
        };
        let unknown: Vec<String> = keys
            .keys()
            .filter(|key| *key != kind && !others.contains(&key.as_str()))
            .map(|key| format!("\"{key}\""))
            .collect();
        if !unknown.is_empty() {
            return Err(Error::argument(
                format!("levels of kind {kind} have no {}", unknown.join(", ")),
                KINDS,
            ));
        }
        Ok(match kind {
            "ranges" => Levels::Ranges(ranges(keys, column)?),
            "dates" => Levels::Dates(dates(&keys["dates"], column)?),
            "prefix" => Levels::Prefix(prefix(keys, column)?),
            "tree" => Levels::Tree(tree(&keys["tree"])?),
            _ => match &keys["table"] {
                Json::String(name) => Levels::Table(name.clone()),
                other => {
                    return Err(Error::argument(
                        format!("table is {other}"),
                        "table is the name of a relation with columns level0, level1, …",
                    ));
                }
            },
        })
    }
}

/// Refuses a column whose type does not fit the kind.
fn misfit(column: &Column, kind: &str, of: &str) -> Error {
    Error::argument(
        format!("column \"{}\" cannot have {kind}", column.name),
        format!("{kind} are for {of}. A tree or a table fits every type."),
    )
}

/// The entries of a list that is not empty.
fn list<'a>(value: &'a Json, name: &str, hint: &str) -> Result<&'a [Json]> {
    match value {
        Json::Array(entries) if !entries.is_empty() => Ok(entries),
        Json::Array(_) => Err(Error::argument(format!("{name} is an empty list"), hint)),
        other => Err(Error::argument(format!("{name} is {other}"), hint)),
    }
}

fn number(value: &Json) -> Option<AnyNumeric> {
    AnyNumeric::try_from(value.as_number()?.to_string().as_str()).ok()
}

fn ranges(keys: &Map<String, Json>, column: &Column) -> Result<Ranges> {
    if !types::is_number(column.base_type) {
        return Err(misfit(column, "ranges", "numbers"));
    }
    let is_integer = types::is_integer(column.base_type);
    let is_whole = |number: &AnyNumeric| number.floor() == *number;
    let mut widths: Vec<AnyNumeric> = Vec::new();
    for value in list(&keys["ranges"], "ranges", RANGES)? {
        let wrong = |what: &str| Error::argument(format!("the width {value} {what}"), RANGES);
        let width = number(value).ok_or_else(|| wrong("is no number"))?;
        if width <= AnyNumeric::from(0) {
            return Err(wrong("is not positive"));
        }
        if is_integer && !(is_whole(&width) && width > AnyNumeric::from(1)) {
            return Err(wrong("is no whole number of 2 or more, as the column has whole numbers"));
        }
        if let Some(below) = widths.last() {
            if width <= *below {
                return Err(wrong(&format!("is not above {below}")));
            }
            if width.clone() % below.clone() != AnyNumeric::from(0) {
                return Err(wrong(&format!("is no multiple of {below}")));
            }
        }
        widths.push(width);
    }
    let from = match keys.get("from") {
        None => AnyNumeric::from(0),
        Some(value) => {
            let fits = |from: &AnyNumeric| !is_integer || is_whole(from);
            number(value).filter(fits).ok_or_else(|| {
                Error::argument(
                    format!("from is {value}"),
                    "from is where a range begins: a number, and a whole one if the column has such.",
                )
            })?
        }
    };
    let shows_middle = match keys.get("show") {
        None => false,
        Some(Json::String(end)) if end == "low" => false,
        Some(Json::String(end)) if end == "middle" => true,
        Some(other) => {
            return Err(Error::argument(
                format!("show is {other}"),
                "show is \"low\" (the lower end of a range) or \"middle\".",
            ));
        }
    };
    Ok(Ranges { widths, from, shows_middle })
}

fn dates(value: &Json, column: &Column) -> Result<Vec<Unit>> {
    const HINT: &str = "dates are calendar units, ever longer, each made of whole ones before it: [\"month\", \
        \"quarter\", \"year\", \"5 years\", \"decade\"]; also hour, day, week, century, and so many of them.";
    let times = [pg_sys::DATEOID, pg_sys::TIMESTAMPOID, pg_sys::TIMESTAMPTZOID];
    if !times.contains(&column.base_type) {
        return Err(misfit(column, "dates", "dates and timestamps"));
    }
    let mut units: Vec<Unit> = Vec::new();
    for value in list(value, "dates", HINT)? {
        let unit = value.as_str().and_then(Unit::read);
        let unit =
            unit.ok_or_else(|| Error::argument(format!("{value} is no calendar unit"), HINT))?;
        if column.base_type == pg_sys::DATEOID && !unit.joins_days() {
            return Err(Error::argument(
                format!(
                    "\"{}\" is not made of several whole days, and column \"{}\" has dates",
                    unit.name, column.name
                ),
                HINT,
            ));
        }
        if let Some(below) = units.last()
            && !below.nests_in(&unit)
        {
            return Err(Error::argument(
                format!("\"{}\" does not nest in \"{}\"", below.name, unit.name),
                HINT,
            ));
        }
        units.push(unit);
    }
    Ok(units)
}

fn prefix(keys: &Map<String, Json>, column: &Column) -> Result<Prefix> {
    if !types::is_text(column.base_type) {
        return Err(misfit(column, "prefixes", "text"));
    }
    let mut lengths: Vec<usize> = Vec::new();
    for value in list(&keys["prefix"], "prefix", LENGTHS)? {
        let wrong = |what: &str| Error::argument(format!("the length {value} {what}"), LENGTHS);
        let length = value.as_u64().filter(|&length| length > 0 && length <= 1 << 20);
        let length = length.ok_or_else(|| wrong("is no number of characters"))? as usize;
        if let Some(below) = lengths.last().filter(|&&below| length >= below) {
            return Err(wrong(&format!("is not below {below}")));
        }
        lengths.push(length);
    }
    let mask = match keys.get("mask") {
        None => Some('*'),
        Some(Json::String(mask)) if mask.chars().count() <= 1 => mask.chars().next(),
        Some(other) => {
            return Err(Error::argument(
                format!("mask is {other}"),
                "mask is one character, or \"\" to cut what it would stand for.",
            ));
        }
    };
    Ok(Prefix { lengths, mask })
}

fn tree(value: &Json) -> Result<Vec<Vec<(String, String)>>> {
    const HINT: &str = "tree has an object for each level, from names to what is above them: \
        [{\"Paris\": \"France\"}, {\"France\": \"Europe\"}].";
    let mut levels = Vec::new();
    for (i, level) in list(value, "tree", HINT)?.iter().enumerate() {
        let level = match level {
            Json::Object(level) if !level.is_empty() => level,
            other => {
                return Err(Error::argument(
                    format!("level {} of the tree is {other}", i + 1),
                    HINT,
                ));
            }
        };
        let mut names = Vec::with_capacity(level.len());
        for (name, above) in level {
            let Json::String(above) = above else {
                return Err(Error::argument(
                    format!("level {} of the tree shows \"{name}\" as {above}", i + 1),
                    HINT,
                ));
            };
            names.push((name.clone(), above.clone()));
        }
        levels.push(names);
    }
    Ok(levels)
}
