//! Noisy aggregates of relations that the caller may not read.

use super::budget::{self, Terms};
use super::ledger::{self, Asker};
use super::question::{self, Asked};
use crate::pg::call::{Call, sql_function};
use crate::pg::error::Error;
use crate::pg::jsonb;
use crate::pg::relation::Relation;
use crate::pg::rights;
use crate::pg::rowset::{ResultRows, Value};
use crate::pg::unit_rows::{Groups, Key, Query};
use dp::aggregate::{Bounded, Kind, NO_VALUE, Plan};
use dp::{Charge, Coins};
use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::{AnyNumeric, IntoDatum};
use serde_json::json;

/// A question that is understood and has a price, but is not yet asked.
struct Question {
    relation: Relation,
    asked: Vec<Asked>,
    plan: Plan,
    group_by: Vec<usize>,
    public: Option<Vec<Key>>,
    conditions: Vec<String>,
    unit: usize,
    /// The schema says that a unit has one row at most.
    one_row_each: bool,
    rows_per_unit: u64,
    what: String,
    remaining: ledger::Remaining,
}

impl Question {
    /// Reads the arguments. Only they and the catalog decide what happens here.
    fn new(call: &Call) -> Result<Self, Error> {
        let relation = Relation::open(call.value::<Oid>(0, "source")?)?;
        let measures =
            jsonb::argument(call, 1, "measures")?.ok_or(Error::Null { argument: "measures" })?;
        let epsilon = budget::epsilon(call.value(2, "epsilon")?)?;
        let delta = call.optional(3).map(budget::delta).transpose()?;
        let names = call.names(4, "group_by")?.unwrap_or_default();
        let filter = jsonb::argument(call, 5, "filter")?;
        let groups = jsonb::argument(call, 6, "groups")?;

        let remaining = ledger::remaining(&relation, &Asker::caller())?;
        let Some(protection) = budget::terms(relation.oid)? else {
            return Err(Error::NotProtected { relation: relation.name });
        };
        let unit = relation.position(&protection.unit)?;
        let one_row_each = relation.is_key(&relation.columns[unit]);
        let asked = question::measures(&relation, &measures)?;
        let conditions = question::condition(&relation, filter.as_ref())?;
        let group_by = question::group_columns(&relation, &names)?;
        let public = match &groups {
            Some(_) if group_by.is_empty() => {
                return Err(Error::argument(
                    "groups is given, but group_by is not",
                    "Name the columns of the groups in group_by.",
                ));
            }
            Some(list) => {
                let columns: Vec<_> = group_by.iter().map(|&i| &relation.columns[i]).collect();
                Some(question::public_groups(&columns, list)?)
            }
            None => None,
        };
        let private_groups = !group_by.is_empty() && public.is_none();
        let delta = delta_or_default(delta, private_groups, &protection)?;
        let rows_per_unit = if one_row_each { 1 } else { protection.max_rows_per_unit };
        let query = dp::aggregate::Query {
            measures: asked.iter().map(|asked| asked.measure.clone()).collect(),
            rows_per_unit,
            grouped: !group_by.is_empty(),
            private_groups,
        };
        let plan = Plan::new(query, epsilon, delta)?;
        let mut what = String::from("dp_aggregate: ");
        what += &asked.iter().map(|a| a.measure.name.as_str()).collect::<Vec<_>>().join(", ");
        if !names.is_empty() {
            what += &format!(" by {}", names.join(", "));
        }
        Ok(Question {
            relation,
            asked,
            plan,
            group_by,
            public,
            conditions,
            unit,
            one_row_each,
            rows_per_unit,
            what,
            remaining,
        })
    }

    /// Charges for the answers, then reads and draws them.
    fn ask(self) -> Result<Vec<(Key, Vec<dp::aggregate::Answer>)>, Error> {
        let cost = self.plan.cost();
        let charge = Charge::plain(cost);
        ledger::charge(&self.relation, Asker::caller(), &self.what, &charge, None)?;
        // From here on nothing but the answers may tell about the data, and no error gives a refund.
        let mut coins = Coins::os()?;
        let mut groups = match &self.public {
            Some(keys) => Groups::public(keys.clone()),
            None if self.group_by.is_empty() => Groups::public(vec![Vec::new()]),
            None => Groups::default(),
        };
        let totals = match self.totals_in_sql() {
            Some((text, width)) => self.read_totals(&text, width, &mut groups, &mut coins)?,
            None => self.read_rows(&mut groups, &mut coins)?,
        };
        let mut answers = Vec::with_capacity(totals.len());
        for (group, slots) in totals {
            let key = std::mem::take(&mut groups.keys[group as usize]);
            answers.push((key, self.plan.answers(&slots, &mut coins)));
            pgrx::check_for_interrupts!();
        }
        if self.public.is_none() {
            answers.sort_by(|a, b| a.0.cmp(&b.0));
        }
        Ok(answers)
    }

    fn query<'a>(&self, text: &'a str, width: usize) -> Result<Query<'a>, Error> {
        let owner = rights::owner_of(self.relation.oid)
            .ok_or_else(|| Error::NoSuchRelation { relation: self.relation.name.clone() })?;
        Ok(Query { owner, text, group_columns: self.group_by.len(), width })
    }

    fn group_expressions(&self) -> Vec<String> {
        let expression = |&i: &usize| {
            let column = &self.relation.columns[i];
            match column.base_type {
                // Without the blanks that pad it.
                pg_sys::BPCHAROID => format!("({})::pg_catalog.text", column.quoted()),
                _ => column.quoted(),
            }
        };
        self.group_by.iter().map(expression).collect()
    }

    /// `FROM … WHERE …`. A row without a unit belongs to nobody knows whom: it cannot be protected,
    /// so it does not count.
    fn from(&self) -> String {
        let unit = self.relation.columns[self.unit].quoted();
        let mut from = format!(" FROM {} WHERE {unit} IS NOT NULL", self.relation.from());
        for condition in &self.conditions {
            from += &format!(" AND {condition}");
        }
        from
    }

    /// The query that lets Postgres add up, if every unit has one row and no sum can overflow.
    fn totals_in_sql(&self) -> Option<(String, usize)> {
        if !self.one_row_each {
            return None;
        }
        let mut numbers = vec!["pg_catalog.count(*)".to_string()];
        for asked in &self.asked {
            numbers.extend(question::total_expressions(asked, &self.relation)?);
        }
        let width = numbers.len();
        let groups = self.group_expressions();
        let places: Vec<String> = (1..=groups.len()).map(|i| i.to_string()).collect();
        let columns: Vec<String> = groups.into_iter().chain(numbers).collect();
        let mut text = format!("SELECT {}{}", columns.join(", "), self.from());
        if !places.is_empty() {
            text += &format!(" GROUP BY {}", places.join(", "));
        }
        Some((text, width))
    }

    fn read_totals(
        &self,
        text: &str,
        width: usize,
        groups: &mut Groups,
        coins: &mut Coins,
    ) -> Result<Vec<(u32, Vec<i128>)>, Error> {
        let rows = self.query(text, width)?.totals(groups)?;
        let private = !self.group_by.is_empty() && self.public.is_none();
        let shown = if private { 0 } else { groups.keys.len() as u32 };
        let mut totals: Vec<(u32, Vec<i128>)> =
            (0..shown).map(|group| (group, vec![0; self.plan.slots()])).collect();
        for (group, numbers) in rows {
            // The sum of no values is NULL.
            let mut numbers =
                numbers.into_iter().map(|n| if n == NO_VALUE { 0 } else { i128::from(n) });
            let units = numbers.next().unwrap_or(0);
            if private {
                if !self.plan.shows(units, coins) {
                    continue;
                }
                totals.push((group, vec![0; self.plan.slots()]));
            }
            let place = if private { totals.len() - 1 } else { group as usize };
            for (measure, slot) in self.plan.measures() {
                let slots = &mut totals[place].1[slot..];
                slots[0] = numbers.next().unwrap_or(0);
                if let Kind::Mean(range) = &measure.kind {
                    let middle = i128::from(range.low) + i128::from(range.high);
                    slots[1] = 2 * numbers.next().unwrap_or(0) - middle * slots[0];
                }
            }
        }
        Ok(totals)
    }

    fn read_rows(
        &self,
        groups: &mut Groups,
        coins: &mut Coins,
    ) -> Result<Vec<(u32, Vec<i128>)>, Error> {
        let mut columns = self.group_expressions();
        if !self.one_row_each {
            columns.push(self.relation.columns[self.unit].quoted());
        }
        let values: Vec<String> = self
            .asked
            .iter()
            .filter_map(|asked| question::value_expression(asked, &self.relation))
            .collect();
        let width = values.len();
        columns.extend(values);
        let text = format!("SELECT {}{}", columns.join(", "), self.from());
        let query = self.query(&text, width)?;
        let mut bounded = Bounded::new(self.rows_per_unit, width);
        match self.one_row_each {
            true => query.one_each(groups, &mut bounded, coins)?,
            false => query.by_unit(groups, &mut bounded, coins)?,
        }
        Ok(self.plan.totals(&mut bounded, groups.keys.len(), coins))
    }
}

/// Without a delta of the caller's: what choosing groups needs, a hundredth of the relation's.
fn delta_or_default(
    delta: Option<f64>,
    private_groups: bool,
    protection: &Terms,
) -> Result<f64, Error> {
    match delta {
        Some(delta) if delta > 0.0 || !private_groups => Ok(delta),
        None if !private_groups => Ok(0.0),
        None if protection.delta > 0.0 => {
            // As the ledger will have it: a short decimal number.
            Ok(format!("{:.3e}", protection.delta / 100.0).parse().unwrap_or(0.0))
        }
        _ => Err(Error::argument(
            "groups that the data chooses need a delta above 0",
            "List the groups in the argument groups, or protect the relation with a delta and leave delta out.",
        )),
    }
}

fn dp_aggregate(call: &Call) -> Result<Datum, Error> {
    let question = Question::new(call)?;
    let group_names: Vec<String> =
        question.group_by.iter().map(|&i| question.relation.columns[i].name.clone()).collect();
    let mut rows = ResultRows::begin(call)?;
    for (key, answers) in question.ask()? {
        let groups: serde_json::Map<String, serde_json::Value> = group_names
            .iter()
            .cloned()
            .zip(key.into_iter().map(|text| text.map_or(serde_json::Value::Null, Into::into)))
            .collect();
        let groups = jsonb::datum(&groups.into())?;
        for answer in answers {
            let number = answer.value.as_deref().and_then(|text| AnyNumeric::try_from(text).ok());
            let value = || number.clone().and_then(IntoDatum::into_datum).unwrap_or(Datum::null());
            rows.push([
                Value::Made(&|| groups),
                Value::Text(&crate::pg::text::from_utf8(&answer.measure)),
                if number.is_some() { Value::Made(&value) } else { Value::Null },
                Value::Float(answer.stddev),
                Value::Float(answer.low),
                Value::Float(answer.high),
            ]);
        }
    }
    Ok(rows.finish(call))
}

fn dp_cost(call: &Call) -> Result<Datum, Error> {
    let question = Question::new(call)?;
    let cost = question.plan.cost();
    let mut stddevs = serde_json::Map::new();
    for (name, parts) in question.plan.stddevs() {
        let stddev = match parts.as_slice() {
            [("value", stddev)] => json!(stddev),
            parts => parts
                .iter()
                .map(|(part, stddev)| (part.to_string(), json!(stddev)))
                .collect::<serde_json::Map<_, _>>()
                .into(),
        };
        stddevs.insert(name.to_string(), stddev);
    }
    let stddevs = jsonb::datum(&stddevs.into())?;
    let mut rows = ResultRows::begin(call)?;
    rows.push([
        Value::Float(cost.epsilon),
        Value::Float(cost.delta),
        Value::Float(question.remaining.epsilon),
        Value::Float(question.remaining.delta),
        Value::Made(&|| stddevs),
    ]);
    Ok(rows.finish(call))
}

sql_function!(sanitize_dp_aggregate, dp_aggregate);
sql_function!(sanitize_dp_cost, dp_cost);
