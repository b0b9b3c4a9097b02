//! The FROM and WHERE clauses of a view's query: which relations are joined, and which columns the conditions equate.

use crate::pg::catalog::view_tree::{From, Place};
use pgrx::pg_sys::JoinType;
use std::collections::{BTreeMap, BTreeSet};

/// What a query has in FROM.
#[derive(Default)]
pub struct Sources {
    pub entries: BTreeSet<usize>,
    pub has_outer_join: bool,
    links: Vec<Link>,
}

/// A condition `from = to`, read in one direction: in rows to which the relation of `to` contributes, it
/// equals `from`.
struct Link {
    from: Place,
    to: Place,
    /// It holds only in rows in which `from` is not NULL: otherwise an outer join may have found no partner, and the
    /// condition did not exclude the row of `to`.
    needs_value: bool,
    /// And `to` is not NULL if `from` is not.
    gives_value: bool,
}

impl Sources {
    pub fn new(from: &From) -> Self {
        let mut sources = Sources::default();
        sources.add(from);
        sources
    }

    /// Adds what is below an item of FROM; returns the entries there.
    fn add(&mut self, from: &From) -> BTreeSet<usize> {
        match from {
            From::Entry(index) => {
                self.entries.insert(*index);
                BTreeSet::from([*index])
            }
            From::List { items, equal } => {
                let below = items.iter().flat_map(|item| self.add(item)).collect();
                for &(a, b) in equal {
                    self.link(a, b, false, true);
                    self.link(b, a, false, true);
                }
                below
            }
            From::Join { kind, left, right, equal } => {
                let (left, right) = (self.add(left), self.add(right));
                for &(a, b) in equal {
                    self.condition(*kind, &left, &right, a, b);
                    self.condition(*kind, &left, &right, b, a);
                }
                self.has_outer_join |= *kind != JoinType::JOIN_INNER;
                left.into_iter().chain(right).collect()
            }
        }
    }

    fn link(&mut self, from: Place, to: Place, needs_value: bool, gives_value: bool) {
        self.links.push(Link { from, to, needs_value, gives_value });
    }

    /// A condition of a join, read in one direction.
    fn condition(
        &mut self,
        kind: JoinType::Type,
        left: &BTreeSet<usize>,
        right: &BTreeSet<usize>,
        from: Place,
        to: Place,
    ) {
        use JoinType::{JOIN_INNER, JOIN_LEFT, JOIN_RIGHT};
        let kept = match kind {
            JOIN_INNER => return self.link(from, to, false, true),
            JOIN_LEFT => left,
            JOIN_RIGHT => right,
            _ => {
                if left.contains(&from.0) != left.contains(&to.0) {
                    self.link(from, to, true, true);
                }
                return;
            }
        };
        match (kept.contains(&from.0), kept.contains(&to.0)) {
            // An outer join keeps this side's rows even if a condition on its own columns is false.
            (true, true) => {}
            (false, true) => self.link(from, to, true, true),
            (is_kept, false) => self.link(from, to, false, !is_kept),
        }
    }

    /// The columns whose relations contribute to a row only where they equal this one, which is not NULL.
    pub fn equal_to(&self, place: Place) -> BTreeSet<Place> {
        // And whether they are then not NULL themselves.
        let mut known = BTreeMap::from([(place, true)]);
        loop {
            let before = known.clone();
            for link in &self.links {
                let Some(&has_value) = known.get(&link.from) else { continue };
                if has_value || !link.needs_value {
                    *known.entry(link.to).or_default() |= has_value && link.gives_value;
                }
            }
            if known == before {
                return known.into_keys().collect();
            }
        }
    }
}
