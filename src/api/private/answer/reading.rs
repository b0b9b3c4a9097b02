//! The read of a question that is charged: rows to totals, totals to noisy answers.
//!
//! There are three ways. Arguments and schema alone decide whether the first is taken: if every unit has one row,
//! Postgres itself adds up. Otherwise rows are gathered in memory, and sorted by Postgres where they do not fit; both
//! have the same distribution, because the number of rows must not show. Rows of other servers are requested once and
//! held, so that only this server can see whether they fit.

use super::Sending;
use super::sorted::Sorted;
use crate::api::prelude::*;
use crate::api::private::question::Posed;
use crate::api::private::question::query::{HELD, ValueColumns};
use crate::pg::read::unit_rows::{self, Fit, Groups, Query, Visit, guarded};
use crate::pg::write::held_rows::Held;
use crate::rules::below;
use aggregate::{Answer, Bounded, MeasureKind, NO_VALUE, NoisePlan, Range, Scales, UnitRows};
use question::Key;
use std::rc::Rc;

/// The read of a question that is charged.
pub struct Reading<'a> {
    pub posed: &'a Posed,
    pub owner: Oid,
    coins: Coins,
    /// The rows of other servers, once they have arrived.
    held: Option<Rc<Held>>,
}

/// The owner of the relation, with whose rights it is read. Refuses before a row is read if the relation could not be
/// read after the charge, or if reading it would run another role's code. The server's log has the reason.
pub fn readable_as(posed: &Posed) -> Result<Oid> {
    let relation = &posed.relation;
    let owner = below::owner(relation)?;
    let read = || relation.check_readable(posed.columns());
    match guarded(|| rights::with_rights_of(owner, read)) {
        Err(Error::Unreadable) => Err(Error::OwnerCannotRead {
            relation: relation.name.clone(),
            why: "a query for none of its rows fails".into(),
            hint: "The owner of a view needs rights on what it reads, and for a table on another server a user mapping that this server lets in. The log of this server tells what failed.".into(),
        }),
        read => read?.map(|()| owner),
    }
}

impl<'a> Reading<'a> {
    /// Reads with the rights of `owner`, which [`readable_as`] returned.
    pub fn new(posed: &'a Posed, owner: Oid) -> Result<Self> {
        Ok(Reading { posed, owner, coins: Coins::os()?, held: None })
    }

    /// A query on the rows. If the rows are to be held, the first call fetches them.
    fn query<'b>(&mut self, text: &'b str, width: usize) -> Result<Query<'b>> {
        let held = match self.held.take() {
            Some(held) => held,
            None => self.hold()?,
        };
        self.held = Some(held.clone());
        let group_columns = self.posed.question.group_by.len();
        Ok(Query { owner: self.owner, held, text, group_columns, width })
    }

    fn hold(&self) -> Result<Rc<Held>> {
        let mut held = Held::new();
        if self.posed.is_held {
            unit_rows::hold(&mut held, HELD, self.owner, &self.posed.held_query())?;
        }
        Ok(Rc::new(held))
    }

    /// The groups as they are known before the rows are read.
    fn groups(&self) -> Groups {
        match &self.posed.question.public {
            Some(keys) => Groups::public(keys.clone()),
            None if self.posed.question.has_private_groups() => Groups::default(),
            None => Groups::public(vec![Vec::new()]),
        }
    }

    /// Sends the noisy answers of every group that is shown.
    pub fn answer(mut self, sending: &mut Sending<'_>) -> Result<()> {
        let found = match self.posed.question.scales()? {
            Some(scales) => self.bounds(&scales)?,
            None => Vec::new(),
        };
        let plan = self.posed.question.plan(&found)?;
        self.posed.check_price(&plan)?;
        if let Some((text, width)) = self.posed.totals_query() {
            return self.answer_totals(&plan, &text, width, sending);
        }
        let columns =
            ValueColumns::new(&self.posed.relation, self.posed.question.asked.iter().enumerate());
        match self.gather(&columns, plan.reads_rows())? {
            Some(gathered) => self.answer_gathered(&plan, gathered, sending),
            None => self.answer_sorted(&plan, &columns, sending),
        }
    }

    /// Reads totals that Postgres has added up, one row for each group.
    fn answer_totals(
        &mut self,
        plan: &NoisePlan,
        text: &str,
        width: usize,
        sending: &mut Sending<'_>,
    ) -> Result<()> {
        let groups = self.groups();
        let mut listed = vec![vec![0; plan.slots()]; groups.keys.len()];
        let is_private = self.posed.question.has_private_groups();
        let mut slots = vec![0; plan.slots()];
        let query = self.query(text, width)?;
        let coins = &mut self.coins;
        query.each(false, &mut |Visit { key, values, .. }| {
            // Every row is a group; without group_by the only one.
            let key = key.unwrap_or_default();
            // The sum of no values is NULL.
            let mut numbers = values.iter().map(|&n| if n == NO_VALUE { 0 } else { i128::from(n) });
            let units = numbers.next().unwrap_or(0);
            let slots = match groups.listed(&key) {
                Some(code) => &mut listed[code],
                None if !is_private || !plan.shows(units, coins) => return Ok(()),
                None => {
                    slots.fill(0);
                    &mut slots
                }
            };
            for (i, measure) in plan.measures() {
                let mut number = || numbers.next().unwrap_or(0);
                let (count, sum) = match measure.kind {
                    MeasureKind::Units => (units, 0),
                    MeasureKind::Sum(_) => (0, number()),
                    MeasureKind::Mean(_) => (number(), number()),
                    _ => (number(), 0),
                };
                plan.add_many(slots, i, count, sum);
            }
            if is_private { sending.group(&key, plan.answers(slots, coins)) } else { Ok(()) }
        })?;
        for (key, slots) in groups.keys.iter().zip(&listed) {
            sending.group(key, plan.answers(slots, coins))?;
        }
        Ok(())
    }

    /// Reads what the columns hold into memory; `None` if there is no room.
    fn gather(&mut self, columns: &ValueColumns, reads_rows: bool) -> Result<Option<Gathered>> {
        let (posed, question) = (self.posed, &self.posed.question);
        let (rows, groups) = (question.rows_per_unit, question.groups_per_unit);
        let mut gathered = Gathered {
            groups: self.groups(),
            rows: Bounded::new(rows, groups, columns.rows.len()),
            units: UnitRows::new(columns.units.len()),
        };
        if reads_rows {
            // Rows that are held already are not requested again.
            let is_asked = !question.one_row_each && self.held.is_none();
            let is_kept = is_asked && self.gather_kept(columns, &mut gathered)?;
            if !is_kept && self.gather_rows(columns, &mut gathered)? == Fit::TooMany {
                return Ok(None);
            }
        }
        if !columns.units.is_empty() {
            let text = posed.units_query(columns);
            let query = self.query(&text, columns.units.len())?;
            if query.units(&mut gathered.groups, &mut gathered.units)? == Fit::TooMany {
                return Ok(None);
            }
        }
        Ok(Some(gathered))
    }

    /// Reads all rows and bounds the rows of each unit here.
    fn gather_rows(&mut self, columns: &ValueColumns, gathered: &mut Gathered) -> Result<Fit> {
        let text = self.posed.rows_query(columns);
        let query = self.query(&text, columns.rows.len())?;
        let (groups, rows) = (&mut gathered.groups, &mut gathered.rows);
        match self.posed.question.one_row_each {
            true => query.one_each(groups, rows, &mut self.coins),
            false => query.by_unit(groups, rows, &mut self.coins),
        }
    }

    fn answer_gathered(
        &mut self,
        plan: &NoisePlan,
        mut gathered: Gathered,
        sending: &mut Sending<'_>,
    ) -> Result<()> {
        let keys = &gathered.groups.keys;
        // Groups that were found in the rows are sent in an order that does not depend on the order of rows.
        let mut shown: Vec<(&Key, Vec<Answer>)> = Vec::new();
        let is_private = self.posed.question.has_private_groups();
        plan.totals(
            &mut gathered.rows,
            &gathered.units,
            keys.len(),
            settings::max_memory() / 4,
            &mut self.coins,
            |group, slots, coins| {
                pgrx::check_for_interrupts!();
                let (key, answers) = (&keys[group as usize], plan.answers(slots, coins));
                if is_private {
                    shown.push((key, answers));
                    return Ok(());
                }
                sending.group(key, answers)
            },
        )?;
        shown.sort_by(|a, b| a.0.cmp(b.0));
        shown.into_iter().try_for_each(|(key, answers)| sending.group(key, answers))
    }

    /// Reads rows in the order of their groups, and holds only the integers of one group, or of all public groups.
    fn answer_sorted(
        &mut self,
        plan: &NoisePlan,
        columns: &ValueColumns,
        sending: &mut Sending<'_>,
    ) -> Result<()> {
        let groups = self.groups();
        let mut listed = vec![vec![0; plan.slots()]; groups.keys.len()];
        let mut sorted = Sorted::new(plan);
        let text = self.posed.sorted_query(columns, plan.reads_rows());
        let query = self.query(&text, 2)?;
        let coins = &mut self.coins;
        let mut end = |group: Option<(Key, Vec<i128>)>, coins: &mut Coins| -> Result<()> {
            let Some((key, slots)) = group else { return Ok(()) };
            match groups.listed(&key) {
                // Added, not assigned: keys of different bytes may have the same text.
                Some(code) => listed[code].iter_mut().zip(slots).for_each(|(sum, n)| *sum += n),
                None => sending.group(&key, plan.answers(&slots, coins))?,
            }
            Ok(())
        };
        query.each(true, &mut |visit| {
            if visit.key.is_some() {
                end(sorted.take(coins), coins)?;
            }
            sorted.row(visit, coins);
            Ok(())
        })?;
        end(sorted.take(coins), coins)?;
        for (key, slots) in groups.keys.iter().zip(&listed) {
            sending.group(key, plan.answers(slots, coins))?;
        }
        Ok(())
    }

    /// Finds the bounds of the measures that lack them.
    fn bounds(&mut self, scales: &Scales) -> Result<Vec<(usize, Range)>> {
        let searched: Vec<(usize, Range)> = self
            .posed
            .question
            .searched()
            .filter_map(|(i, asked)| Some((i, asked.range?)))
            .collect();
        let columns = ValueColumns::new(&self.posed.relation, self.posed.question.searched());
        let mut counts = vec![vec![0i128; Scales::BINS]; searched.len()];
        let place = |measure: usize| searched.iter().position(|(i, _)| *i == measure);
        let mut count = |measure: usize, value: i64| {
            if value != NO_VALUE
                && let Some(place) = place(measure)
            {
                counts[place][Scales::bin(value)] += 1;
            }
        };
        let reads_rows = !columns.rows.is_empty();
        match self.gather(&columns, reads_rows)? {
            Some(mut gathered) => {
                gathered.rows.finish(&mut self.coins);
                gathered.rows.each_row(|_, values| {
                    columns.rows.iter().zip(values).for_each(|(c, &v)| count(c.measure, v));
                });
                for (_, values) in gathered.units.each() {
                    columns.units.iter().zip(values).for_each(|(c, &v)| count(c.measure, v));
                }
            }
            None => {
                let text = self.posed.sorted_query(&columns, reads_rows);
                self.query(&text, 2)?.each(true, &mut |visit| {
                    match *visit.values {
                        [measure, value] if measure > 0 => count(measure as usize - 1, value),
                        _ => {}
                    }
                    Ok(())
                })?;
            }
        }
        let mut found = Vec::with_capacity(searched.len());
        for (place, (measure, range)) in searched.into_iter().enumerate() {
            let (low, high) = scales.bounds(place, &counts[place], &mut self.coins);
            found.push((measure, Range::new(low, high, range.step)?));
        }
        Ok(found)
    }
}

/// The bounded rows of a question, before they are added up.
pub struct Gathered {
    pub groups: Groups,
    pub rows: Bounded,
    units: UnitRows,
}
