//! The bound on the rows of a unit that count. The owner chooses it, unless the schema implies 1.

use crate::pg::call::attempt::attempt;
use crate::pg::call::notice::{notice_hint, percent};
use crate::pg::call::sql::{self, number};
use crate::pg::prelude::*;
use crate::rules::unit::identity;

/// The bound that protects a relation: what was given, or 1 where the schema says that a unit has one row.
/// Otherwise rows would be dropped unnoticed: the error lists what share of the rows each bound keeps.
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
            kept: told(&units(relation, owner, unit)?),
        }),
    }
}

/// Sends a NOTICE, which is not logged, if the bound drops rows; nothing if the rows cannot be read.
pub fn tell_dropped(
    relation: &Relation,
    owner: Oid,
    unit: &Column,
    bound: i32,
) -> Result<(), Error> {
    if relation.is_key(unit)? {
        return Ok(());
    }
    let Some(units) = attempt(|| units(relation, owner, unit))? else { return Ok(()) };
    let Some(bound) = u64::try_from(bound).ok().filter(|&bound| bound < most(&units)) else {
        return Ok(());
    };
    let message = format!(
        "a bound of {} of the rows of {}; of a \"{}\" with more rows the others do not count",
        share(&units, bound),
        relation.name,
        unit.name
    );
    notice_hint(&message, &told(&units));
    Ok(())
}

/// Pairs (rows, number of units with that many rows). Read with the rights of the relation's owner, because the caller
/// may be a superuser and a view may call functions.
fn units(relation: &Relation, owner: Oid, unit: &Column) -> Result<Vec<(u64, u64)>, Error> {
    let query = format!(
        "SELECT rows::pg_catalog.text, pg_catalog.count(*)::pg_catalog.text
           FROM (SELECT pg_catalog.count(*) AS rows FROM {} AS r WHERE r.{name} IS NOT NULL GROUP BY {identity}) AS units
          GROUP BY rows",
        relation.from(),
        name = unit.quoted(),
        identity = identity(unit),
    );
    let found = rights::with_rights_of(owner, || sql::rows(&query, &[]))?;
    found.iter().map(|[rows, units]| Ok((number(rows)?, number(units)?))).collect()
}

/// The rows that a bound keeps.
fn kept(units: &[(u64, u64)], bound: u64) -> u128 {
    units.iter().map(|&(rows, n)| u128::from(rows.min(bound) * n)).sum()
}

/// The rows of the unit that has the most.
fn most(units: &[(u64, u64)]) -> u64 {
    units.iter().map(|&(rows, _)| rows).max().unwrap_or(0)
}

/// The share of the rows that a bound keeps, in words.
fn share(units: &[(u64, u64)], bound: u64) -> String {
    format!("{bound} keeps {}", percent(kept(units, bound), kept(units, most(units))))
}

/// What each bound keeps, in words.
fn told(units: &[(u64, u64)]) -> String {
    let most = most(units);
    let all = kept(units, most);
    if all == 0 {
        return "It has no rows yet that such a bound could keep or drop.".into();
    }
    let below = bounds().take_while(|&bound| bound < most);
    let mut bounds: Vec<String> = below.map(|bound| share(units, bound)).collect();
    bounds.push(format!("{most} keeps all"));
    format!("Of {all} rows, a bound of {}.", bounds.join(", "))
}

/// 1, 2, 5, 10, 20, 50, …
fn bounds() -> impl Iterator<Item = u64> {
    (0..18).flat_map(|power| [1, 2, 5].map(|digit| digit * 10u64.pow(power)))
}
