//! How many rows of a unit count: the owner's choice, wherever the schema does not make it.

use crate::pg::error::Error;
use crate::pg::relation::{Column, Relation};
use crate::pg::unit::identity;
use crate::pg::{rights, sql};
use pgrx::pg_sys::Oid;

/// The bound that protects a relation: what was given, or 1 where the schema says that a unit has one row.
/// Anything else would drop rows that nobody knows of, so the owner is told what each bound keeps.
/// The relation may be read with the rights of `owner`.
pub fn bound(
    relation: &Relation,
    owner: Oid,
    unit: &Column,
    given: Option<i32>,
) -> Result<i32, Error> {
    match given {
        Some(rows) => Ok(rows),
        None if relation.is_key(unit)? => Ok(1),
        None => Err(Error::NoRowBound {
            unit: unit.name.clone(),
            relation: relation.name.clone(),
            kept: kept(relation, owner, unit)?,
        }),
    }
}

/// What each bound keeps, in words. Read with the rights of the relation's owner: the caller may be a
/// superuser, and a view may hold code.
fn kept(relation: &Relation, owner: Oid, unit: &Column) -> Result<String, Error> {
    let query = format!(
        "SELECT rows::pg_catalog.text, pg_catalog.count(*)::pg_catalog.text
           FROM (SELECT pg_catalog.count(*) AS rows FROM {} AS r WHERE r.{name} IS NOT NULL GROUP BY {identity}) AS units
          GROUP BY rows",
        relation.from(),
        name = unit.quoted(),
        identity = identity(unit),
    );
    let found = rights::with_rights_of(owner, || sql::rows(&query, &[]))?;
    let number = |text: &Option<String>| text.as_deref().and_then(|text| text.parse().ok());
    let units: Option<Vec<(u64, u64)>> =
        found.iter().map(|row| Some((number(row.first()?)?, number(row.get(1)?)?))).collect();
    let units = units.ok_or_else(|| Error::query("a count of rows is no number"))?;
    Ok(told(&units))
}

/// `units`: so many rows, and how many units have so many.
fn told(units: &[(u64, u64)]) -> String {
    let kept = |bound: u64| units.iter().map(|&(rows, n)| u128::from(rows.min(bound) * n)).sum();
    let most = units.iter().map(|&(rows, _)| rows).max().unwrap_or(0);
    let all: u128 = kept(most);
    if all == 0 {
        return "It has no rows yet that such a bound could keep or drop.".into();
    }
    let share = |bound| {
        // Rounded down: 100 % is all of them.
        let thousandths = kept(bound) * 1000 / all;
        format!("{bound} keeps {}.{} %", thousandths / 10, thousandths % 10)
    };
    let mut bounds: Vec<String> = bounds().take_while(|&bound| bound < most).map(share).collect();
    bounds.push(format!("{most} keeps all"));
    format!("Of {all} rows, a bound of {}.", bounds.join(", "))
}

/// 1, 2, 5, 10, 20, 50, …
fn bounds() -> impl Iterator<Item = u64> {
    (0..18).flat_map(|power| [1, 2, 5].map(|digit| digit * 10u64.pow(power)))
}
