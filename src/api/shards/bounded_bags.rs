//! Rows that shards have bounded and returned, see [`super::question`].

use crate::api::prelude::*;
use crate::api::private::answer::reading::{Gathered, Reading};
use crate::api::private::question::query::ValueColumns;
use crate::pg::read::unit_rows::{self, guarded};
use aggregate::NO_VALUE;

/// Rows between two checks for interrupts.
const BATCH: usize = 4096;

impl Reading<'_> {
    /// Adds up the rows that the partitions of the relation keep of their units; false if they cannot be asked, or if
    /// one of them has no room for all its rows. Rows that have arrived always fit in here: a check of the memory could
    /// lead to a second request, which would show how many rows matched.
    pub fn gather_kept(&self, columns: &ValueColumns, gathered: &mut Gathered) -> Result<bool> {
        let query = || self.posed.shards_query(columns);
        let Some(text) = rights::with_rights_of(self.owner, query)? else { return Ok(false) };
        let Some(packed) = unit_rows::bags(self.owner, &text)? else { return Ok(false) };
        for packed in packed {
            let bag = packed.unpacked()?;
            // A bag without rows may have no columns.
            if bag.row_count() > 0 {
                self.take(columns, &bag, gathered)?;
            }
        }
        Ok(true)
    }

    /// Counts the rows of a bag: a mark, the columns of the group, and one for each value.
    fn take(&self, columns: &ValueColumns, bag: &Bag, to: &mut Gathered) -> Result<()> {
        let first = 1 + self.posed.question.group_by.len();
        if bag.width() != first + columns.rows.len() {
            return Err(Error::Unreadable);
        }
        let texts: Vec<Vec<String>> = (0..bag.width())
            .map(|i| bag.domain(i).values().map(text::to_utf8_always).collect())
            .collect();
        let mut values = Vec::with_capacity(columns.rows.len());
        for (value, texts) in columns.rows.iter().zip(&texts[first..]) {
            let values_of = || self.posed.values_of(value, texts);
            values.push(guarded(|| rights::with_rights_of(self.owner, values_of))??);
        }
        let mut row = vec![NO_VALUE; columns.rows.len()];
        for i in 0..bag.distinct() {
            if i % BATCH == 0 {
                pgrx::check_for_interrupts!();
            }
            let codes = bag.row(i);
            let text = |(texts, &code): (&Vec<String>, &u32)| {
                (code != NONE).then(|| texts[code as usize].clone())
            };
            let key = texts[1..first].iter().zip(&codes[1..first]).map(text).collect();
            let Some(group) = to.groups.of_key(key) else { continue };
            for ((place, values), &code) in row.iter_mut().zip(&values).zip(&codes[first..]) {
                *place = if code == NONE { NO_VALUE } else { values[code as usize] };
            }
            let is_first = text((&texts[0], &codes[0])).as_deref() == Some("t");
            for _ in 0..bag.weight(i) {
                to.rows.kept_row(is_first, group, &row);
            }
        }
        Ok(())
    }
}
