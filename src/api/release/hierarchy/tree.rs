//! Trees of names: written down as jsonb, or kept in a table.

use crate::api::prelude::*;
use crate::pg::catalog::lookup;
use suppress::levels::{Tree, TreeFault};

/// A name as the column's type writes it, in the database's encoding.
fn name(column: &Column, text: &str) -> Result<Vec<u8>> {
    Ok(from_utf8(&types::accepted(column, text)?))
}

/// A tree that was written down.
pub fn written(column: &Column, levels: &[Vec<(String, String)>]) -> Result<Tree> {
    let mut tree = Tree::new(levels.len());
    for (level, names) in levels.iter().enumerate() {
        for (below, above) in names {
            let above = name(column, above)?;
            tree.put(level, &name(column, below)?, Some(&above)).map_err(no_tree)?;
        }
    }
    tree.check().map_err(no_tree)?;
    Ok(tree)
}

/// The levels that [`written`] reads, with texts that do not depend on settings.
pub fn write_down(column: &Column, tree: &Tree) -> Result<Vec<Json>> {
    let text = |name: &[u8]| types::canonical_iso(column, &to_utf8(name));
    let mut levels = Vec::new();
    for level in 0..tree.height() {
        let mut names = Map::new();
        for (below, above) in tree.above(level) {
            if let Some(above) = above {
                names.insert(text(below)?, text(above)?.into());
            }
        }
        levels.push(names.into());
    }
    Ok(levels)
}

/// A tree whose paths are the rows of a table. The caller of a release did not name the table, so code of its owner
/// must not run with the caller's rights.
pub fn kept(column: &Column, table: Oid) -> Result<Tree> {
    let relation = Relation::open(table)?;
    let mut positions = Vec::new();
    while let Ok(position) = relation.position(&format!("level{}", positions.len())) {
        positions.push(position);
    }
    if positions.len() < 2 {
        return Err(Error::argument(
            format!("{} has no column level{}", relation.name, positions.len()),
            "A hierarchy table has the values in level0 and what is above them in level1, level2, …",
        ));
    }
    let Some(read) = lookup::read(&relation, &positions)? else {
        return Err(match lookup::may_read(&relation, &positions) {
            true => Error::argument(
                format!(
                    "{} is no table, has row security, or has parts of other owners",
                    relation.name
                ),
                "A hierarchy is kept in a table or a materialized view: nothing runs when it is read.",
            ),
            false => Error::Forbidden { relation: relation.name },
        });
    };
    let bag = read.bag;
    // Each text is converted once, however many rows have it.
    let mut names: Vec<Vec<Vec<u8>>> = Vec::new();
    for domain in bag.domains() {
        let accepted = domain.values().map(|value| name(column, &to_utf8(value)));
        names.push(accepted.collect::<Result<_, _>>()?);
    }
    let mut tree = Tree::new(positions.len() - 1);
    for row in 0..bag.distinct() {
        let name = |level: usize| match bag.row(row)[level] {
            NONE => None,
            code => Some(names[level][code as usize].as_slice()),
        };
        for level in 1..positions.len() {
            match (name(level - 1), name(level)) {
                (Some(below), above) => tree.put(level - 1, below, above).map_err(no_tree)?,
                (None, Some(above)) => {
                    return Err(Error::argument(
                        format!(
                            "{} has \"{}\" in level{level} above nothing",
                            relation.name,
                            to_utf8(above)
                        ),
                        "A row that is NULL at one level is NULL at all levels above.",
                    ));
                }
                (None, None) => {}
            }
        }
    }
    tree.check().map_err(no_tree)?;
    Ok(tree)
}

fn no_tree(fault: TreeFault) -> Error {
    match fault {
        TreeFault::TwoAbove { name, level, above } => {
            let [one, other] = above.map(|above| match above {
                Some(above) => format!("\"{}\"", to_utf8(&above)),
                None => "nothing".into(),
            });
            Error::argument(
                format!("\"{}\" of level {level} is below {one} and {other}", to_utf8(&name)),
                "Every name has one name above it.",
            )
        }
        TreeFault::Blank { level } => Error::argument(
            format!("level {level} shows nothing"),
            "Leave it out: above the last level everything is blanked.",
        ),
        TreeFault::Equal { level } => Error::argument(
            format!("level {level} equals the one below"),
            "Every level is coarser than the one below.",
        ),
        TreeFault::Unreached { name, level } => Error::argument(
            format!(
                "level {level} says what is above \"{}\", which level {} does not have",
                to_utf8(&name),
                level - 1
            ),
            "Each level but the first maps names of the level below.",
        ),
    }
}

/// The relation of this name, resolved for the role that declares it.
pub fn named(name: &str) -> Result<Relation> {
    let query = "SELECT pg_catalog.to_regclass($1)::pg_catalog.oid::pg_catalog.text";
    let found = sql::texts(query, &[Text(name.into()).into()])?;
    let oid = found.into_iter().next().flatten().and_then(|oid| oid.parse().ok());
    let oid = oid.ok_or_else(|| Error::NoSuchRelation { relation: format!("\"{name}\"") })?;
    Relation::open(Oid::from_u32(oid))
}
