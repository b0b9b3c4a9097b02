//! Which columns are replaced: those of keys, and all columns that refer to them, through any number of foreign keys,
//! so that references still match.

use crate::api::prelude::*;
use crate::api::publish::maker::Maker;
use crate::pg::catalog::keys::{self, Place, Range, Reference, Unique};

/// A column of a key whose values are replaced.
#[derive(Debug, PartialEq, Eq)]
pub struct Replaced {
    pub root: Place,
    /// The columns that refer to it, directly or through others. Each value is replaced by the same new value
    /// everywhere.
    pub referring: Vec<Place>,
    pub range: Range,
}

impl Replaced {
    pub fn places(&self) -> impl Iterator<Item = Place> {
        std::iter::once(self.root).chain(self.referring.iter().copied())
    }

    /// The columns in the table itself: this one, and those that refer to it.
    pub fn own_columns(&self) -> impl Iterator<Item = i16> {
        let own = self.places().filter(|place| place.table == self.root.table);
        own.map(|place| place.column)
    }
}

/// How the keys of a table are treated.
#[derive(Debug, PartialEq, Eq)]
pub struct Plan {
    pub replaced: Vec<Replaced>,
    /// Columns of keys that stay as they are, and why.
    pub kept: Vec<(i16, &'static str)>,
    /// Other tables that refer to the table, directly or through other tables.
    pub referring: Vec<Oid>,
    /// True if any table refers to it, perhaps the table itself.
    pub is_referred_to: bool,
    /// The columns of the primary key.
    pub primary: Vec<i16>,
    /// The columns that are keys by themselves: each value occurs in one row.
    alone: Vec<i16>,
}

const NO_VALUES: &str = "part of a key, of a type without random values";
const REFERS: &str = "part of a key, and refers to another table";
const BOUND: &str = "part of a key, and what refers to it refers to another table too";

impl Plan {
    pub fn of(target: &Relation, maker: &Maker<'_>) -> Result<Self> {
        let references = keys::references()?;
        let unique = keys::unique_columns(target.oid)?;
        let mut plan = Plan {
            replaced: Vec::new(),
            kept: Vec::new(),
            referring: Vec::new(),
            is_referred_to: unique.iter().any(|one| one.is_referred_to),
            primary: unique.iter().filter(|one| one.is_primary).map(|one| one.column).collect(),
            alone: unique.iter().filter(|one| one.tells_apart).map(|one| one.column).collect(),
        };
        let columns = key_columns(target, &unique, maker);
        for column in &columns {
            let root = Place { table: target.oid, column: column.number };
            if references.iter().any(|reference| reference.from == root) {
                continue;
            }
            let referring = referring(root, &references);
            let all: Vec<Place> = std::iter::once(root).chain(referring.iter().copied()).collect();
            let leaves = |reference: &Reference| {
                all.contains(&reference.from) && !all.contains(&reference.to)
            };
            if references.iter().any(leaves) {
                plan.kept.push((column.number, BOUND));
                continue;
            }
            match range(&all)? {
                Some(range) => plan.replaced.push(Replaced { root, referring, range }),
                None => plan.kept.push((column.number, NO_VALUES)),
            }
        }
        for column in &columns {
            let is_settled = plan.kept.iter().any(|&(kept, _)| kept == column.number)
                || plan.replaced_at(target.oid, column.number).is_some();
            if !is_settled {
                plan.kept.push((column.number, REFERS));
            }
        }
        let direct = references.iter().filter(|reference| reference.to.table == target.oid);
        let direct = direct.map(|reference| reference.from.table);
        let written = plan.replaced.iter().flat_map(Replaced::places).map(|place| place.table);
        plan.referring = direct.chain(written).filter(|&table| table != target.oid).collect();
        plan.referring.sort_unstable_by_key(|table| table.to_u32());
        plan.referring.dedup();
        Ok(plan)
    }

    /// The replaced column that this one is or refers to.
    pub fn replaced_at(&self, table: Oid, column: i16) -> Option<usize> {
        let place = Place { table, column };
        self.replaced.iter().position(|one| one.places().any(|other| other == place))
    }

    /// The replaced columns of the table that still link rows: rows that refer to a row, in this table or another one,
    /// or that share a part of its key, still do after the replacement.
    pub fn linking(&self) -> Vec<i16> {
        let is_linking =
            |one: &&Replaced| !one.referring.is_empty() || !self.alone.contains(&one.root.column);
        self.replaced.iter().filter(is_linking).flat_map(Replaced::own_columns).collect()
    }

    /// True for a column of the table that the method leaves alone.
    pub fn spares(&self, table: Oid, column: i16) -> bool {
        self.replaced_at(table, column).is_some()
            || self.kept.iter().any(|&(kept, _)| kept == column)
    }
}

/// The columns of primary keys and of keys that others refer to; and unique ones that cannot be NULL, unless the
/// options name them.
fn key_columns<'a>(target: &'a Relation, unique: &[Unique], maker: &Maker<'_>) -> Vec<&'a Column> {
    let is_key = |column: &&Column| {
        unique.iter().filter(|one| one.column == column.number).any(|one| {
            one.is_primary
                || one.is_referred_to
                || (one.is_alone && column.not_null && !maker.names(&column.name))
        })
    };
    target.columns.iter().filter(is_key).collect()
}

/// All columns that refer to this one, directly or through others.
fn referring(root: Place, references: &[Reference]) -> Vec<Place> {
    let mut found = vec![root];
    let mut next = 0;
    while let Some(&place) = found.get(next) {
        for reference in references.iter().filter(|reference| reference.to == place) {
            if !found.contains(&reference.from) {
                found.push(reference.from);
            }
        }
        next += 1;
    }
    found.split_off(1)
}

/// The values that can be drawn and that all these columns can hold.
fn range(places: &[Place]) -> Result<Option<Range>> {
    let mut common: Option<Range> = None;
    for place in places {
        let relation = Relation::row_type(place.table)?;
        let column = relation.columns.iter().find(|column| column.number == place.column);
        let Some(own) = column.and_then(|column| Range::of(&relation, column)) else {
            return Ok(None);
        };
        common = match common {
            None => Some(own),
            Some(others) => others.and(own),
        };
        if common.is_none() {
            return Ok(None);
        }
    }
    Ok(common)
}
