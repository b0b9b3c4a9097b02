//! Texts of a column handed to Postgres in parts, so that a million of them need little memory, and cancel requests are
//! answered between the parts.

use crate::pg::prelude::*;
use pgrx::PgMemoryContexts;

/// How many texts a query gets.
const PART: usize = 1 << 16;

/// Passes the texts to `work`, part by part. No datum that `work` makes outlives its part.
pub fn each(
    texts: impl Iterator<Item = Option<String>>,
    mut work: impl FnMut(Vec<Option<Text>>) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut texts = texts.peekable();
    while texts.peek().is_some() {
        pgrx::check_for_interrupts!();
        let part = texts.by_ref().take(PART).map(|text| text.map(Text)).collect();
        // SAFETY: what is allocated for a part, its arguments first of all, is not used after it.
        unsafe { PgMemoryContexts::new("pg_sanitize texts").switch_to(|_| work(part))? };
    }
    Ok(())
}

/// The results for all texts of a query that returns one text for each of the texts in `$1`, in their order.
pub fn map<T>(
    texts: impl Iterator<Item = Option<String>>,
    query: &str,
    read: impl Fn(Option<String>) -> Option<T>,
) -> Result<Vec<Option<T>>, Error> {
    let mut made = Vec::with_capacity(texts.size_hint().0);
    each(texts, |part| {
        let length = part.len();
        let found = sql::texts(query, &[part.into()])?;
        if found.len() != length {
            return Err(Error::query("a query over texts lost some"));
        }
        made.extend(found.into_iter().map(&read));
        Ok(())
    })?;
    Ok(made)
}
