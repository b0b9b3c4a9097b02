//! Bags that other servers have packed.

use super::{guarded, run};
use crate::pg::prelude::*;
use crate::pg::read::cell::Form;
use crate::pg::read::rows::RowSink;
use crate::pg::shards::ask::unpacked;
use pgrx::PgMemoryContexts;
use table::Bag;

/// The packed bags in the only column of a query's rows, with the owner's rights; `None` if one of them is NULL.
pub fn bags(owner: Oid, query: &str) -> Result<Option<Vec<Packed>>, Error> {
    let mut bags =
        Bags { bags: Some(Vec::new()), context: PgMemoryContexts::new("pg_sanitize bag") };
    run(owner, query, &mut bags)?;
    Ok(bags.bags)
}

/// A bag that another server has sent, still packed.
pub struct Packed(Vec<u8>);

impl Packed {
    pub fn unpacked(self) -> Result<Bag, Error> {
        guarded(|| unpacked(&self.0, 0).unwrap_or_else(|error| error.raise()))
    }
}

/// Collects bags, packed as text, until one of them is NULL.
struct Bags {
    bags: Option<Vec<Packed>>,
    context: PgMemoryContexts,
}

impl RowSink for Bags {
    unsafe fn row(&mut self, values: *const Datum, nulls: *const bool) -> Result<bool, Error> {
        // SAFETY: the query's rows have one column, a text.
        let packed = unsafe {
            let copy = |packed: &[u8]| Packed(packed.to_vec());
            (!*nulls).then(|| Form::Text.bytes(*values, self.context.value(), copy))
        };
        self.bags = self.bags.take().zip(packed).map(|(mut bags, packed)| {
            bags.push(packed);
            bags
        });
        Ok(self.bags.is_some())
    }
}
