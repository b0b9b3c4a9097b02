//! Trees of names: written down as jsonb, or kept in a table.

use super::growing::{Growing, Numbered};
use crate::pg::error::Error;
use crate::pg::relation::{Column, Relation};
use crate::pg::text::{Text, from_utf8, to_utf8};
use crate::pg::{reader, sql, types};
use pgrx::pg_sys::Oid;
use std::collections::HashMap;
use suppress::General;
use table::{Domain, NONE};

/// What is above each name, level by level; `None`: nothing but the blank cell. Names are written as the
/// column's type writes them.
pub struct Tree {
    levels: Vec<HashMap<String, Option<String>>>,
}

impl Tree {
    /// A tree that was written down.
    pub fn written(column: &Column, levels: &[Vec<(String, String)>]) -> Result<Self, Error> {
        let mut tree = Tree { levels: vec![HashMap::new(); levels.len()] };
        for (level, names) in levels.iter().enumerate() {
            for (name, above) in names {
                let above = types::accepted(column, above)?;
                tree.put(level, types::accepted(column, name)?, Some(above))?;
            }
        }
        tree.check()?;
        Ok(tree)
    }

    /// A tree whose paths are the rows of a relation, read with the caller's rights.
    pub fn stored(column: &Column, lookup: Oid) -> Result<Self, Error> {
        let relation = Relation::open(lookup)?;
        refuse_code(&relation)?;
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
        let bag = reader::read(&relation, &positions)?.bag;
        // Each text is looked at once, however many rows have it.
        let mut names: Vec<Vec<String>> = Vec::new();
        for domain in bag.domains() {
            let accepted = domain.values().map(|value| types::accepted(column, &to_utf8(value)));
            names.push(accepted.collect::<Result<_, _>>()?);
        }
        let mut tree = Tree { levels: vec![HashMap::new(); positions.len() - 1] };
        for row in 0..bag.distinct() {
            let name = |level: usize| match bag.row(row)[level] {
                NONE => None,
                code => Some(&names[level][code as usize]),
            };
            for level in 1..positions.len() {
                match (name(level - 1), name(level)) {
                    (Some(below), above) => tree.put(level - 1, below.clone(), above.cloned())?,
                    (None, Some(above)) => {
                        return Err(Error::argument(
                            format!("{} has \"{above}\" in level{level} above nothing", relation.name),
                            "A row that is NULL at one level is NULL at all levels above.",
                        ));
                    }
                    (None, None) => {}
                }
            }
        }
        tree.check()?;
        Ok(tree)
    }

    /// Puts a name below another.
    fn put(&mut self, level: usize, name: String, above: Option<String>) -> Result<(), Error> {
        let shown = |above: &Option<String>| match above {
            Some(above) => format!("\"{above}\""),
            None => "nothing".into(),
        };
        match self.levels[level].get(&name) {
            Some(before) if *before != above => Err(Error::argument(
                format!("\"{name}\" of level {level} is below {} and {}", shown(before), shown(&above)),
                "Every name has one name above it.",
            )),
            _ => {
                self.levels[level].insert(name, above);
                Ok(())
            }
        }
    }

    /// Every level shows something else than the one below, and every name can be reached.
    fn check(&self) -> Result<(), Error> {
        for (below, names) in self.levels.iter().enumerate() {
            let level = below + 1;
            if names.values().all(Option::is_none) {
                return Err(Error::argument(
                    format!("level {level} shows nothing"),
                    "Leave it out: above the last level everything is blanked.",
                ));
            }
            if names.iter().all(|(name, above)| above.as_ref() == Some(name)) {
                return Err(Error::argument(
                    format!("level {level} equals the one below"),
                    "Every level is coarser than the one below.",
                ));
            }
            let Some(lower) = below.checked_sub(1).map(|lower| &self.levels[lower]) else {
                continue;
            };
            let reached: std::collections::HashSet<&String> = lower.values().flatten().collect();
            let mut lost: Vec<&String> = names.keys().filter(|name| !reached.contains(name)).collect();
            lost.sort_unstable();
            if let Some(name) = lost.first() {
                return Err(Error::argument(
                    format!("level {level} says what is above \"{name}\", which level {below} does not have"),
                    "Each level but the first maps names of the level below.",
                ));
            }
        }
        Ok(())
    }

    /// The names and what is above them, with texts that do not depend on settings.
    pub fn written_down(&self, column: &Column) -> Result<Vec<serde_json::Value>, Error> {
        let mut levels = Vec::new();
        for names in &self.levels {
            let mut level = serde_json::Map::new();
            for (name, above) in names {
                let Some(above) = above else { continue };
                let above = types::canonical_iso(column, above)?;
                level.insert(types::canonical_iso(column, name)?, above.into());
            }
            levels.push(level.into());
        }
        Ok(levels)
    }

    /// The number of levels.
    pub fn height(&self) -> usize {
        self.levels.len()
    }

    /// How many declared values are below each name of a level, and one of them.
    fn leaves(&self, level: usize) -> HashMap<&str, (u64, &str)> {
        let mut leaves: HashMap<&str, (u64, &str)> = HashMap::new();
        for leaf in self.levels.first().into_iter().flat_map(HashMap::keys) {
            let mut name = Some(leaf);
            for names in &self.levels[..level] {
                name = name.and_then(|name| names.get(name)?.as_ref());
            }
            if let Some(name) = name {
                leaves.entry(name).or_insert((0, leaf)).0 += 1;
            }
        }
        leaves
    }

    /// The levels over the values of a domain.
    pub fn grow(&self, domain: &Domain) -> Growing {
        let values: Vec<String> = domain.values().map(to_utf8).collect();
        let Some(first) = self.levels.first() else { return Growing::default() };
        let strangers = values.iter().filter(|value| !first.contains_key(*value)).count();
        let total = (first.len() + strangers) as f64;
        let mut growing = Growing::default();
        let mut below = values;
        for (level, names) in self.levels.iter().enumerate() {
            let leaves = self.leaves(level + 1);
            let mut nodes = Numbered::new();
            let parents = below
                .iter()
                .map(|name| Some(nodes.number(names.get(name)?.clone()?)))
                .collect();
            let general = |name: &String| {
                let (count, leaf) = leaves.get(name.as_str()).copied().unwrap_or((1, name));
                let is_the_value = count == 1 && leaf == name;
                let loss = if is_the_value { 0.0 } else { count as f64 / total };
                General { text: from_utf8(name), loss }
            };
            growing.add(parents, nodes.keys.iter().map(general).collect());
            below = nodes.keys;
        }
        growing
    }
}

/// A hierarchy is read by whoever asks for a release, not by the one who declared it: nothing that the other
/// one wrote may run then.
fn refuse_code(relation: &Relation) -> Result<(), Error> {
    let found = sql::texts(
        "SELECT relname::pg_catalog.text FROM pg_catalog.pg_class
          WHERE oid OPERATOR(pg_catalog.=) $1 AND NOT relrowsecurity
            AND relkind OPERATOR(pg_catalog.=) ANY (ARRAY['r', 'p', 'm']::pg_catalog.\"char\"[])",
        &[relation.oid.into()],
    )?;
    if found.is_empty() {
        return Err(Error::argument(
            format!("{} is no table, or has row security", relation.name),
            "A hierarchy is kept in a table or a materialized view: nothing runs when it is read.",
        ));
    }
    Ok(())
}

/// The relation that is named, as its declarer sees it.
pub fn named(name: &str) -> Result<Relation, Error> {
    let query = "SELECT pg_catalog.to_regclass($1)::pg_catalog.oid::pg_catalog.text";
    let found = sql::texts(query, &[Text(name.into()).into()])?;
    let oid = found.into_iter().next().flatten().and_then(|oid| oid.parse().ok());
    let oid = oid.ok_or_else(|| Error::NoSuchRelation { relation: format!("\"{name}\"") })?;
    Relation::open(Oid::from_u32(oid))
}
