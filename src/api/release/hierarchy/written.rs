//! The texts by which a released column shows the values of its original.

use super::build::of_column;
use crate::api::prelude::*;
use crate::pg::read::text_chunks;
use crate::pg::write::range;
use std::collections::HashMap;
use std::sync::Arc;

/// The columns of an original, and how those of a release write them.
pub struct Sides {
    pub original: Relation,
    /// The columns of the original that take part.
    pub columns: Vec<usize>,
    /// For each of them the type of the released column.
    pub shown_as: Vec<Oid>,
}

/// The types of some columns of a release.
pub fn shown_as(released: &Relation, columns: &[usize]) -> Vec<Oid> {
    columns.iter().map(|&column| released.columns[column].base_type).collect()
}

impl Sides {
    /// How each column is written, the domains being those of the original. For columns that are not `wanted`, general
    /// values are not included.
    pub fn written(
        &mut self,
        domains: &[Arc<Domain>],
        wanted: impl Fn(usize) -> bool,
    ) -> Result<Vec<Written>> {
        let mut found = Vec::with_capacity(domains.len());
        for (place, domain) in domains.iter().enumerate() {
            found.push(match wanted(place) {
                true => self.column(place, domain)?,
                false => Written::as_they_are(Hierarchy::flat(domain.len())),
            });
        }
        Ok(found)
    }

    fn column(&mut self, place: usize, domain: &Domain) -> Result<Written> {
        let position = self.columns[place];
        let base = self.original.columns[position].base_type;
        let range = range::over(base).filter(|&range| range == self.shown_as[place]);
        self.original.columns[position].range = range;
        let column = &self.original.columns[position];
        let hierarchy = of_column(&self.original, column, domain, true);
        let hierarchy = hierarchy?;
        let Some(range) = range else { return Ok(Written::as_they_are(hierarchy)) };
        let singles = domain.values().map(|value| range::single(range, &to_utf8(value)));
        let general = hierarchy.texts().iter().map(|text| to_utf8(text));
        let texts: Vec<Option<String>> = singles.chain(general).map(Some).collect();
        let texts = text_chunks::map(texts.into_iter(), &canonical(range), |text| text)?;
        let texts = texts.into_iter().map(|text| from_utf8(&text.unwrap_or_default()));
        Ok(Written::by(hierarchy, texts.collect::<Vec<_>>()))
    }
}

/// The query that writes the ranges `$1` as a table shows them.
fn canonical(range: Oid) -> String {
    let name = match range {
        pg_sys::INT4RANGEOID => "int4range",
        pg_sys::INT8RANGEOID => "int8range",
        pg_sys::NUMRANGEOID => "numrange",
        pg_sys::DATERANGEOID => "daterange",
        pg_sys::TSRANGEOID => "tsrange",
        _ => "tstzrange",
    };
    format!(
        "SELECT (t::pg_catalog.{name})::pg_catalog.text
           FROM pg_catalog.unnest($1) WITH ORDINALITY AS u(t, i) ORDER BY i"
    )
}

/// The general values that texts of released columns may mean other than themselves, by column and code.
pub fn general(
    written: &[Written],
    original: &[Arc<Domain>],
    released: &[Arc<Domain>],
) -> Vec<HashMap<u32, Vec<u32>>> {
    let columns = written.iter().zip(original.iter().zip(released));
    columns.map(|(written, (original, released))| written.general(original, released)).collect()
}
