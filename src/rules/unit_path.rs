//! Paths from a relation to the unit of each of its rows, along foreign keys: `stay_id.patient_id` is the patient of
//! the stay that a row refers to.
//!
//! Each step is a validated foreign key of one column to a key, so that each row of the relation stays one row and has
//! at most one unit. A row that refers to nothing, or to a row that row security hides, has none.

use crate::pg::call::sql::{number, oid};
use crate::pg::catalog::relation::Joined;
use crate::pg::catalog::view_tree::FIRST_USER_OID;
use crate::pg::prelude::*;
use crate::rules::{below, unit};

/// The longest path, in parts.
const MOST_PARTS: usize = 8;

const FORM: &str = "unit is a column, or a path along foreign keys: stay_id.patient_id. Names are quoted as SQL identifiers are: \"Stay\".patient_id.";

/// The parts of a path, which is written as SQL writes qualified names.
pub fn parts(path: &str) -> Result<Vec<String>, Error> {
    let refused = || Error::argument(format!("unit is \"{path}\""), FORM);
    let (mut parts, mut rest) = (Vec::new(), path.trim());
    loop {
        let (part, after) = identifier(rest).ok_or_else(refused)?;
        parts.push(part);
        rest = after.trim_start();
        if rest.is_empty() {
            break;
        }
        rest = rest.strip_prefix('.').ok_or_else(refused)?.trim_start();
    }
    match parts.len() <= MOST_PARTS {
        true => Ok(parts),
        false => Err(Error::argument(
            format!("unit is a path of {} parts", parts.len()),
            format!("A path has {MOST_PARTS} parts at most: read a view that joins the tables."),
        )),
    }
}

/// The identifier at the beginning of a text, and what follows it. Without quotes capital letters of ASCII become
/// small ones, as in SQL.
fn identifier(text: &str) -> Option<(String, &str)> {
    let Some(mut rest) = text.strip_prefix('"') else {
        let inner = |c: char| c == '_' || c == '$' || c.is_ascii_alphanumeric() || !c.is_ascii();
        let end = text.find(|c| !inner(c)).unwrap_or(text.len());
        let starts = text.starts_with(|c: char| inner(c) && c != '$' && !c.is_ascii_digit());
        return starts.then(|| (text[..end].to_ascii_lowercase(), &text[end..]));
    };
    let mut name = String::new();
    loop {
        let end = rest.find('"')?;
        name.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        // A quote within a name is written twice.
        let Some(after) = rest.strip_prefix('"') else { break };
        name.push('"');
        rest = after;
    }
    (!name.is_empty()).then_some((name, rest))
}

/// The joins of a path of two parts or more. The caller must be able to read what is joined; the rows are read with the
/// caller's rights.
pub fn follow(relation: &Relation, path: &str, parts: &[String]) -> Result<Joined, Error> {
    let (last, links) = parts.split_last().ok_or_else(|| Error::argument("unit is empty", FORM))?;
    let mut names = Names::of(relation);
    let mut from = format!("{} AS {}", relation.from(), names.table());
    let mut here = relation.clone();
    let mut value = String::new();
    for (i, link) in links.iter().enumerate() {
        let column = here.columns[here.position(link)?].clone();
        let next = links.get(i + 1).unwrap_or(last);
        let (parent, key) = parent(relation, &here, &column, next)?;
        let left = if i == 0 { column.quoted() } else { value };
        let key_column = &parent.columns[key];
        let wanted = match i + 1 == links.len() {
            true => unit::identity(&parent.columns[unit::check(&parent, last)?]),
            false => parent.columns[parent.position(next)?].quoted(),
        };
        let right = names.column();
        value = names.column();
        // Texts that a deterministic collation takes for equal have the same bytes.
        let collated = match types::is_text(column.base_type) {
            true => " COLLATE pg_catalog.\"C\"",
            false => "",
        };
        from += &format!(
            " LEFT JOIN (SELECT {key} AS {right}, {wanted} AS {value} FROM {parent}) AS {table}\
             \n ON ({left}{collated} OPERATOR(pg_catalog.=) {right}{collated})",
            key = key_column.quoted(),
            parent = parent.from(),
            table = names.table(),
        );
        here = parent;
    }
    let column = here.columns[here.position(last)?].clone();
    match relation.leaf.is_some() {
        true => Err(Error::argument(
            format!("unit is \"{path}\", but rows of {} are on other servers", relation.name),
            ADVICE,
        )),
        false => Ok(Joined { from, column, value }),
    }
}

const ADVICE: &str = "A path follows validated foreign keys of one column each to a primary key, or to a unique column that is NOT NULL. Name a column of the relation itself, or read a view that joins the tables and has the unit as a column.";

/// The table that a foreign key of the column refers to and that has the column `next`, and the position of its key.
fn parent(
    source: &Relation,
    here: &Relation,
    column: &Column,
    next: &str,
) -> Result<(Relation, usize), Error> {
    let refused = |what: String| {
        Error::argument(format!("column \"{}\" of {} {what}", column.name, here.name), ADVICE)
    };
    let found = references(here, column)?;
    let mut fitting = Vec::new();
    for &(table, key) in &found {
        let parent = opened(source, table)?;
        let key = parent.columns.iter().position(|column| column.number == key);
        if parent.columns.iter().any(|column| column.name == next) {
            fitting.push((parent, key.ok_or(Error::Swapped)?));
        } else if found.len() == 1 {
            // Says which columns there are.
            parent.position(next)?;
        }
    }
    let several = fitting.len() > 1;
    let Some((parent, key)) = fitting.pop().filter(|_| !several) else {
        return Err(match (several, found.is_empty()) {
            (true, _) => refused(format!("refers to several tables with a column \"{next}\"")),
            (_, true) => refused("has no foreign key to follow".into()),
            _ => refused(format!("refers to no table with a column \"{next}\"")),
        });
    };
    let to = &parent.columns[key];
    if here.compares_loosely(column) || parent.compares_loosely(to) || !alike(column, to) {
        return Err(refused(format!(
            "compares with its key in {} by rules of its own",
            parent.name
        )));
    }
    if !parent.is_key(to)? {
        return Err(refused(format!(
            "refers to \"{}\" of {}, which is no key now",
            to.name, parent.name
        )));
    }
    Ok((parent, key))
}

/// True if `=` of Postgres itself compares the columns as their foreign key does.
fn alike(column: &Column, key: &Column) -> bool {
    let (a, b) = (column.base_type, key.base_type);
    let texts = |base: Oid| base == pg_sys::TEXTOID || base == pg_sys::VARCHAROID;
    a == b || (types::is_integer(a) && types::is_integer(b)) || (texts(a) && texts(b))
}

/// The table of a step, locked for reading. Reading it runs what its owner wrote (in policies, conditions of indexes),
/// and the caller has not named it: so its owner is the caller, a superuser or that of the relation that was named.
fn opened(source: &Relation, table: Oid) -> Result<Relation, Error> {
    let named = Relation::row_type(table)?;
    if !rights::may_read_some(table) {
        return Err(Error::Forbidden { relation: named.name });
    }
    let parent = Relation::open(table)?;
    let trusted = |owner: Oid| {
        owner == rights::current_user()
            || rights::owner_of(source.oid).is_some_and(|own| rights::is_trusted(owner, own))
    };
    match below::owner_if_alone(&parent)?.is_some_and(trusted) {
        true => Ok(parent),
        false => Err(Error::argument(
            format!(
                "unit leads through {}, which belongs to another role than {}",
                parent.name, source.name
            ),
            "Reading it would run functions in its policies and indexes. Give both one owner, or read a view that joins them.",
        )),
    }
}

/// The tables, each with the number of its column, that validated foreign keys of this column alone refer to and that
/// Postgres compares by operators of its own. A foreign key that is not enforced is not validated either. Those to the
/// partitions of a table are left out, because the one to the table is listed.
fn references(relation: &Relation, column: &Column) -> Result<Vec<(Oid, i16)>, Error> {
    let found = sql::latest_rows(
        &format!(
            "SELECT DISTINCT c.confrelid::pg_catalog.text, c.confkey[1]::pg_catalog.text
               FROM pg_catalog.pg_constraint AS c
              WHERE c.contype OPERATOR(pg_catalog.=) 'f' AND c.convalidated
                AND c.conrelid OPERATOR(pg_catalog.=) $1 AND c.conkey OPERATOR(pg_catalog.=) ARRAY[$2]
                AND c.conpfeqop[1] OPERATOR(pg_catalog.<) {FIRST_USER_OID}
                AND NOT EXISTS (
                    SELECT FROM pg_catalog.pg_constraint AS whole
                     WHERE whole.oid OPERATOR(pg_catalog.=) c.conparentid
                       AND whole.conrelid OPERATOR(pg_catalog.=) c.conrelid)"
        ),
        &[relation.oid.into(), column.number.into()],
    )?;
    found.iter().map(|[relation, column]| Ok((oid(relation)?, number(column)?))).collect()
}

/// Names for what is joined that no column of the relation has.
struct Names<'a> {
    taken: &'a Relation,
    last: usize,
}

impl<'a> Names<'a> {
    fn of(taken: &'a Relation) -> Self {
        Names { taken, last: 0 }
    }

    fn table(&mut self) -> String {
        self.column()
    }

    fn column(&mut self) -> String {
        loop {
            self.last += 1;
            let name = format!("joined_{}", self.last);
            if self.taken.columns.iter().all(|column| column.name != name) {
                return name;
            }
        }
    }
}
