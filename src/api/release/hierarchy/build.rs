//! Builds the hierarchy of a column from its declared or proposed levels.

use super::spec::Levels;
use super::{dates, prefix, ranges, suggest, tree};
use crate::api::prelude::*;
use crate::catalog::hierarchies;
use std::sync::Arc;
use suppress::Hierarchy;

/// The hierarchy of a column over the values of a domain (its dictionary, texts in the database's encoding):
/// the declared one; else a proposed one if `propose`; else a flat one.
pub fn of_column(
    relation: &Relation,
    column: &Column,
    domain: &Domain,
    propose: bool,
) -> Result<Hierarchy> {
    if let Some(stored) = hierarchies::declared(relation, column)? {
        let levels = Levels::read(&jsonb::parse(&stored.levels, "levels")?, column)?;
        return build(relation, column, domain, &levels, stored.lookup);
    }
    let proposed = if propose { suggest::levels(column, domain)? } else { None };
    match proposed {
        Some(levels) => build(relation, column, domain, &Levels::read(&levels, column)?, None),
        None => Ok(Hierarchy::flat(domain.len())),
    }
}

/// The hierarchies of some columns over the given domains: the declared ones, or proposed ones where nothing is
/// declared.
pub fn of_columns<'a>(
    relation: &Relation,
    columns: &[usize],
    domains: impl IntoIterator<Item = &'a Arc<Domain>>,
) -> Result<Vec<Hierarchy>> {
    let columns = columns.iter().map(|&position| &relation.columns[position]);
    columns.zip(domains).map(|(column, domain)| of_column(relation, column, domain, true)).collect()
}

/// Memory estimates while a hierarchy is built, for values that share no general value: bytes per value, bytes per
/// level, and copies of a text.
const OF_VALUE: u64 = 300;
const OF_LEVEL: u64 = 16;
const COPIES: u64 = 7;

/// The hierarchy of a domain by levels; `lookup` is the relation of those that are a table.
pub fn build(
    relation: &Relation,
    column: &Column,
    domain: &Domain,
    levels: &Levels,
    lookup: Option<Oid>,
) -> Result<Hierarchy> {
    let watch = settings::watch();
    let hold = |height: usize| {
        let texts: u64 = domain.values().map(|value| value.len() as u64).sum();
        let of_values = domain.len() as u64 * (OF_VALUE + OF_LEVEL * height as u64);
        watch.hold(of_values + COPIES * texts)
    };
    let (_held, growing) = match levels {
        Levels::Ranges(ranges) => {
            (hold(ranges.widths.len())?, ranges::grow(relation, column, domain, ranges)?)
        }
        Levels::Dates(units) => (hold(units.len())?, dates::grow(relation, column, domain, units)?),
        Levels::Prefix(prefix) => {
            (hold(prefix.lengths.len())?, prefix::grow(column, domain, prefix)?)
        }
        Levels::Tree(written) => {
            (hold(written.len())?, tree::written(column, written)?.grow(domain))
        }
        Levels::Table(_) => {
            let tree = tree::kept(column, lookup.ok_or_else(hierarchies::unreadable)?)?;
            (hold(tree.height())?, tree.grow(domain))
        }
    };
    let broken = |fault| Error::Broken { what: format!("levels are not nested: {fault:?}") };
    let hierarchy = growing.finish(domain).map_err(broken)?;
    if hierarchy.height() > Hierarchy::MOST_LEVELS {
        return Err(Error::argument(
            format!("column \"{}\" has {} levels", column.name, hierarchy.height()),
            format!("A hierarchy has at most {} levels.", Hierarchy::MOST_LEVELS),
        ));
    }
    Ok(hierarchy)
}
