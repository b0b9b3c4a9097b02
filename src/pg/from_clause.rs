//! FROM and WHERE of a view's query: what is joined, and which columns are equal then.

use super::error::Error;
use super::tree::{self, FIRST_USER_OID, Place};
use pgrx::pg_sys::{self, NodeTag};
use pgrx::{PgList, is_a};
use std::collections::BTreeSet;
use std::ffi::CStr;

/// What a query has in FROM.
#[derive(Default)]
pub struct Sources {
    pub entries: BTreeSet<usize>,
    /// Columns that are equal in every row in which both are not NULL.
    equal: Vec<(Place, Place)>,
    pub has_outer_join: bool,
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
        use pg_sys::JoinType::{JOIN_FULL, JOIN_INNER, JOIN_LEFT};
        // SAFETY: every cast follows a check of the node's tag.
        unsafe {
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
                self.equal.extend(equalities(query, from.quals)?);
                return Ok(below);
            }
            if !is_a(node, NodeTag::T_JoinExpr) {
                return Err(Error::query("a view has an unknown kind of FROM"));
            }
            let join = &*node.cast::<pg_sys::JoinExpr>();
            let left = self.add(query, join.larg)?;
            let right = self.add(query, join.rarg)?;
            self.has_outer_join |= join.jointype != JOIN_INNER;
            for (a, b) in equalities(query, join.quals)? {
                // The condition of an outer join holds for what is added to a row, not between
                // relations whose rows stay without it.
                let holds = match join.jointype {
                    JOIN_INNER => true,
                    JOIN_LEFT => right.contains(&a.0) || right.contains(&b.0),
                    JOIN_FULL => left.contains(&a.0) != left.contains(&b.0),
                    _ => left.contains(&a.0) || left.contains(&b.0),
                };
                if holds {
                    self.equal.push((a, b));
                }
            }
            Ok(left.into_iter().chain(right).collect())
        }
    }

    /// The columns that equal this one.
    pub fn equal_to(&self, place: Place) -> BTreeSet<Place> {
        let mut all = BTreeSet::from([place]);
        loop {
            let before = all.len();
            for (a, b) in &self.equal {
                if all.contains(a) || all.contains(b) {
                    all.extend([*a, *b]);
                }
            }
            if all.len() == before {
                return all;
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
        if is_a(node, NodeTag::T_List) {
            let mut found = Vec::new();
            for part in PgList::<pg_sys::Node>::from_pg(node.cast()).iter_ptr() {
                found.extend(equalities(query, part)?);
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
