//! The public domain of a column: the values that it may have, known without looking at its rows. It is declared (the
//! table `declared_domain`) or follows from its type or a constraint.

use crate::catalog::damaged;
use crate::pg::catalog::check_constraints::{self, Comparison, Condition};
use crate::pg::catalog::{lookup, rights, types};
use crate::pg::prelude::*;
use crate::rules::public::{self, Private};

/// The values of a column and where they are known from.
pub struct PublicDomain {
    pub values: Vec<String>,
    pub origin: &'static str,
}

/// The public domain of a column: declared, or known from its type or a constraint.
pub fn find(relation: &Relation, column: &Column) -> Result<Option<PublicDomain>, Error> {
    if let Some(values) = declared(relation, column)? {
        return Ok(Some(PublicDomain { values, origin: "declared" }));
    }
    if types::is_boolean(column.base_type) {
        let values = vec!["f".to_string(), "t".to_string()];
        return Ok(Some(PublicDomain { values, origin: "boolean" }));
    }
    if let Some(values) = types::enum_labels(column.base_type)? {
        return Ok(Some(PublicDomain { values, origin: "enum" }));
    }
    if let Some(values) = checked(relation, column)? {
        return Ok(Some(PublicDomain { values, origin: "check" }));
    }
    let values = referenced(relation, column)?;
    Ok(values.map(|values| PublicDomain { values, origin: "foreign key" }))
}

/// The values of the first constraint `CHECK (column IN (…))`, on the column or on its domain type.
fn checked(relation: &Relation, column: &Column) -> Result<Option<Vec<String>>, Error> {
    for constraint in check_constraints::constraints(relation, column)? {
        let list = match constraint.conditions.as_slice() {
            [Condition::OneOf(list)] => list.as_slice(),
            // A list of one value, as Postgres keeps it.
            [Condition::Compare { operator: Comparison::Equal, literal, literal_type }]
                if *literal_type == column.base_type
                    || types::is_text(*literal_type) && types::is_text(column.base_type) =>
            {
                std::slice::from_ref(literal)
            }
            _ => continue,
        };
        if constraint.is_single {
            let canonical = |value: &String| types::canonical_of_base(column, value);
            let values: Result<Vec<String>, Error> = list.iter().map(canonical).collect();
            let mut values = values?;
            values.sort_unstable();
            values.dedup();
            return Ok(Some(values));
        }
    }
    Ok(None)
}

/// The values of the column that a foreign key of this column alone refers to, if they are public. A caller who may not
/// read them there does not learn them here: for that caller the domain is unknown.
fn referenced(relation: &Relation, column: &Column) -> Result<Option<Vec<String>>, Error> {
    for (oid, number) in relation.refers_to(column)? {
        if !rights::may_read_column(oid, number) || public::refusal(relation.oid, oid)?.is_some() {
            continue;
        }
        let table = Relation::open(oid)?;
        let Some(position) = table.columns.iter().position(|column| column.number == number) else {
            continue;
        };
        if let Some(values) = lookup::read(&table, &[position])? {
            return Ok(Some(values.bag.domain(0).values().map(text::to_utf8).collect()));
        }
    }
    Ok(None)
}

/// A relation that a foreign key of this column alone refers to and that is not public, and why.
pub fn private_reference(
    relation: &Relation,
    column: &Column,
) -> Result<Option<(String, Private)>, Error> {
    for (oid, _) in relation.refers_to(column)? {
        if let Some(why) = public::refusal(relation.oid, oid)? {
            return Ok(Some((Relation::row_type(oid)?.name, why)));
        }
    }
    Ok(None)
}

/// What the owner declared for the column, as the session writes it.
pub fn declared(relation: &Relation, column: &Column) -> Result<Option<Vec<String>>, Error> {
    let table = "declared_domain LEFT JOIN LATERAL pg_catalog.unnest(domain_values) AS v ON true";
    let found: Vec<[Option<String>; 1]> = super::declared(table, "v", relation, column)?;
    if found.is_empty() {
        return Ok(None);
    }
    // A stored array that is empty, or has a NULL in it, is damaged: both give a NULL here.
    let values: Option<Vec<String>> = found.into_iter().flatten().collect();
    let values = values.ok_or_else(|| damaged("declared_domain", "domain_values"))?;
    types::from_iso(column, values).map(Some)
}

/// Declares the values of a column, written in the ISO style, in place of those declared before. The caller has checked
/// who owns the relation.
pub fn declare(relation: &Relation, column: &Column, values: Vec<String>) -> Result<(), Error> {
    super::check_length("domain_values", values.iter().map(String::len).sum())?;
    let values: Vec<Text> = values.into_iter().map(Text).collect();
    super::write(
        "INSERT INTO sanitize.declared_domain (source, column_name, domain_values)
         VALUES ($1, $2, $3) ON CONFLICT (source, column_name)
         DO UPDATE SET source = excluded.source, domain_values = excluded.domain_values",
        &[relation.oid.into(), Text(column.name.clone()).into(), values.into()],
    )
}
