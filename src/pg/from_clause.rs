//! FROM and WHERE of a view's query: what is joined, and which columns are equal then.

use super::error::Error;
use super::tree::{self, FIRST_USER_OID, Place};
use pgrx::pg_sys::{self, NodeTag};
use pgrx::{PgList, is_a};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CStr;

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
    /// Only in rows in which `from` is not NULL: otherwise an outer join may have found nothing, and then
    /// the condition did not keep the row of `to` away.
    needs_value: bool,
    /// And `to` is not NULL if `from` is not.
    gives_value: bool,
}

impl Sources {
    /// Adds what is below a node of FROM; returns the entries there.
    ///
    /// # Safety
    /// The node is a valid one of the query's.
    pub unsafe fn add(
        &mut self,
        query: &pg_sys::Query,
        node: *mut pg_sys::Node,
    ) -> Result<BTreeSet<usize>, Error> {
        // SAFETY: every cast follows a check of the node's tag.
        unsafe {
            pg_sys::check_stack_depth();
            if is_a(node, NodeTag::T_RangeTblRef) {
                let index = (*node.cast::<pg_sys::RangeTblRef>()).rtindex as usize;
                self.entries.insert(index);
                return Ok(BTreeSet::from([index]));
            }
            if is_a(node, NodeTag::T_FromExpr) {
                let from = &*node.cast::<pg_sys::FromExpr>();
                let mut below = BTreeSet::new();
                for item in PgList::<pg_sys::Node>::from_pg(from.fromlist).iter_ptr() {
                    below.extend(self.add(query, item)?);
                }
                for (a, b) in equalities(query, from.quals)? {
                    self.link(a, b, false, true);
                    self.link(b, a, false, true);
                }
                return Ok(below);
            }
            if !is_a(node, NodeTag::T_JoinExpr) {
                return Err(Error::query("a view has an unknown kind of FROM"));
            }
            let join = &*node.cast::<pg_sys::JoinExpr>();
            let left = self.add(query, join.larg)?;
            let right = self.add(query, join.rarg)?;
            for (a, b) in equalities(query, join.quals)? {
                self.condition(join.jointype, &left, &right, a, b);
                self.condition(join.jointype, &left, &right, b, a);
            }
            self.has_outer_join |= join.jointype != pg_sys::JoinType::JOIN_INNER;
            Ok(left.into_iter().chain(right).collect())
        }
    }

    fn link(&mut self, from: Place, to: Place, needs_value: bool, gives_value: bool) {
        self.links.push(Link { from, to, needs_value, gives_value });
    }

    /// A condition of a join, read in one direction.
    fn condition(
        &mut self,
        kind: pg_sys::JoinType::Type,
        left: &BTreeSet<usize>,
        right: &BTreeSet<usize>,
        from: Place,
        to: Place,
    ) {
        use pg_sys::JoinType::{JOIN_INNER, JOIN_LEFT, JOIN_RIGHT};
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
            // Nothing on the side that is kept depends on a condition among its own columns.
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

/// The conditions `column = column` among those that must all hold.
unsafe fn equalities(
    query: &pg_sys::Query,
    node: *mut pg_sys::Node,
) -> Result<Vec<(Place, Place)>, Error> {
    // SAFETY: every cast follows a check of the node's tag.
    unsafe {
        if node.is_null() {
            return Ok(Vec::new());
        }
        if is_a(node, NodeTag::T_BoolExpr) {
            let all = &*node.cast::<pg_sys::BoolExpr>();
            let mut found = Vec::new();
            if all.boolop == pg_sys::BoolExprType::AND_EXPR {
                for part in PgList::<pg_sys::Node>::from_pg(all.args).iter_ptr() {
                    found.extend(equalities(query, part)?);
                }
            }
            return Ok(found);
        }
        if !is_a(node, NodeTag::T_OpExpr) {
            return Ok(Vec::new());
        }
        let operation = &*node.cast::<pg_sys::OpExpr>();
        let name = pg_sys::get_opname(operation.opno);
        let is_equality = !name.is_null()
            && CStr::from_ptr(name) == c"="
            && operation.opno.to_u32() < FIRST_USER_OID
            && (operation.inputcollid == pg_sys::InvalidOid
                || pg_sys::get_collation_isdeterministic(operation.inputcollid));
        let sides = PgList::<pg_sys::Node>::from_pg(operation.args);
        let (Some(a), Some(b), true) = (sides.get_ptr(0), sides.get_ptr(1), is_equality) else {
            return Ok(Vec::new());
        };
        Ok(column(query, a)?.zip(column(query, b)?).into_iter().collect())
    }
}

/// The column that an expression is, if it is nothing else.
unsafe fn column(query: &pg_sys::Query, node: *mut pg_sys::Node) -> Result<Option<Place>, Error> {
    // SAFETY: the cast follows a check of the node's tag.
    unsafe {
        let node = tree::resolved(query, node)?;
        if !is_a(node, NodeTag::T_Var) {
            return Ok(None);
        }
        let var = &*node.cast::<pg_sys::Var>();
        Ok((var.varlevelsup == 0).then_some((var.varno as usize, var.varattno)))
    }
}
