//! The query behind a question whose rows lie on other servers, by the unit that they belong to: each of them bounds
//! the rows of each of its units, and returns no unit.
//!
//! A foreign partition may hold rows of units that belong to another partition; Postgres does not check that. So the
//! query does: rows of a unit count only in the partition that the unit belongs to. Otherwise a unit could count twice
//! as many rows as it may, and the answers would reveal twice as much about it.
//!
//! Conditions are sent as values, never in WHERE: an array of truth values is one more argument of the aggregate. So
//! the shard reads all its rows and calls the aggregate for each of them, and its counters, plans and logs are the same
//! for every filter: no index is used, no partition is left out, and every element of the array is computed, so that no
//! long value is left unread. If something cannot be shipped, the rows are sent here and the same aggregate runs here.
//! A partition that has no room for all its rows reports that, whichever of them match; then the rows of all partitions
//! are fetched and [`HELD`].
//!
//! [`HELD`]: crate::api::private::question::query::HELD

use crate::api::prelude::*;
use crate::api::private::question::Posed;
use crate::api::private::question::query::{ValueColumn, ValueColumns, condition};
use crate::pg::read::bounded_rows::{ENUM, Terms, encoding, is_known, kind, probe};
use crate::pg::shards::partitions::{self, Leaf};
use aggregate::{MeasureKind, NO_VALUE};

/// More columns than a call can have.
const MOST_COLUMNS: usize = 90;
/// Values that one statement converts.
const AT_A_TIME: usize = 4096;
/// The most memory that a bag needs here, as a multiple of its bytes: packed, as a bag (one at a time), and as rows
/// with a number for each value.
const BYTES_HERE: u64 = 10;

impl Posed {
    /// The query whose rows are the packed bags of all partitions, if they can be asked: the mark, group and
    /// columns of the values of each kept row, NULL where a server could not. With the owner's rights.
    pub fn shards_query(&self, values: &ValueColumns) -> Result<Option<String>> {
        // Any part of a query that Citus answers may be sent to other nodes.
        if self.by_citus {
            return Ok(None);
        }
        let unit = self.unit_column();
        let groups = self.group_columns();
        let identities = [unit].into_iter().chain(groups.iter().copied());
        let kinds: Option<Vec<u32>> = identities.map(|column| kind(column.type_oid)).collect();
        let (Some(types), Some(leaves)) = (kinds, partitions::by_unit(&self.relation, unit)?)
        else {
            return Ok(None);
        };
        let mut columns: Vec<String> = [unit].iter().chain(&groups).map(|c| c.quoted()).collect();
        columns.extend(values.rows.iter().map(|value| self.shipped(value)));
        // Enums are hashed by OIDs, which differ between servers.
        if types[0] == ENUM || columns.len() > MOST_COLUMNS || !is_known()? {
            return Ok(None);
        }
        let terms = Terms {
            rows_per_unit: self.question.rows_per_unit,
            groups_per_unit: self.question.groups_per_unit,
            types,
            encoding: encoding(),
            probe: probe(),
            hash: None,
            groups: self.question.public.clone(),
            flagged: true,
            // So that the bags of all partitions fit into memory here.
            most_bytes: Some(settings::max_memory() / BYTES_HERE / leaves.len().max(1) as u64),
        };
        let query = |leaf: &Leaf| {
            let terms = Terms { hash: leaf.hash, ..terms.clone() };
            let terms = serde_json::to_string(&terms).map_err(Error::query)?;
            Ok(format!(
                "SELECT sanitize_internal.bag_packed(sanitize_internal.bounded_rows({}::pg_catalog.jsonb, ARRAY[{}], {})) FROM ONLY {}",
                types::text_literal(&terms),
                self.leaf_conditions(leaf).join(", "),
                columns.join(", "),
                leaf.from
            ))
        };
        let queries = leaves.iter().map(query).collect::<Result<Vec<String>>>()?;
        Ok(Some(queries.join(" UNION ALL ")))
    }

    /// The conditions under which rows of a partition count.
    fn leaf_conditions(&self, leaf: &Leaf) -> Vec<String> {
        let mut all = vec![format!("{} IS NOT NULL", self.unit_column().quoted())];
        all.extend(leaf.condition.iter().map(|condition| format!("({condition})")));
        all.extend(self.question.conditions.iter().map(|part| condition(&self.relation, part)));
        all
    }

    /// True if the measure only asks whether there is a value.
    fn asks_presence(&self, value: &ValueColumn) -> bool {
        let asked = &self.question.asked[value.measure];
        asked.range.is_none() && asked.measure(None).kind != MeasureKind::Distinct
    }

    /// What is requested from a shard in place of a value that it cannot compute.
    fn shipped(&self, value: &ValueColumn) -> String {
        let name = self.relation.columns[value.column].quoted();
        if self.asks_presence(value) { format!("({name} IS NOT NULL)") } else { name }
    }

    /// The values of a measure for texts of its column.
    pub fn values_of(&self, value: &ValueColumn, texts: &[String]) -> Result<Vec<i64>> {
        if self.asks_presence(value) {
            let of = |text: &String| if text == "t" { 0 } else { NO_VALUE };
            return Ok(texts.iter().map(of).collect());
        }
        let column = &self.relation.columns[value.column];
        let mut found = Vec::with_capacity(texts.len());
        for texts in texts.chunks(AT_A_TIME) {
            // Literals, which the type itself reads: a cast from text may be a function of its owner's.
            let literal = |(i, text): (usize, &String)| {
                format!("({i}, {})", types::literal(column.base_type, text))
            };
            let literals: Vec<String> = texts.iter().enumerate().map(literal).collect();
            let query = format!(
                "SELECT ({})::pg_catalog.text FROM (VALUES {}) AS typed(place, {}) ORDER BY place",
                value.expression,
                literals.join(", "),
                column.quoted()
            );
            let number = |text: Option<String>| match text {
                // As where rows are read, the smallest number means NULL.
                Some(text) => text.parse().map(|n: i64| n.max(NO_VALUE + 1)).map_err(Error::query),
                None => Ok(NO_VALUE),
            };
            for text in sql::texts(&query, &[])? {
                found.push(number(text)?);
            }
        }
        Ok(found)
    }
}
