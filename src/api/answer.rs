//! Answers a question: in a reader process, where the caller's settings and eyes do not reach.
//!
//! The order is: understand, look for a stored answer, charge, read, add noise, send, store. From the
//! charge on nothing but the noisy answers may tell about the data, and no error gives a refund.

use super::ledger::{self, Outcome};
use super::question::query::ValueColumns;
use super::question::{Question, Request};
use crate::pg::error::Error;
use crate::pg::unit_rows::{Fit, Groups, Key, Query, Visit};
use crate::pg::worker::{isolated, worker_function};
use crate::pg::{rights, settings, sql};
use dp::Coins;
use dp::aggregate::{Answer, Bounded, Kind, NO_VALUE, Plan, Range, Scales, UnitRows};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// One row of the result, as it travels and as it is stored.
#[derive(Serialize, Deserialize)]
pub struct ResultRow {
    pub groups: serde_json::Value,
    pub measure: String,
    /// A decimal number.
    pub value: Option<String>,
    pub stddev: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// How often terms may change under a question before it gives up.
const TRIES: usize = 5;
/// The longest answer that is stored, in bytes of JSON.
const STORED: usize = 1 << 20;

/// What a reader does for a question.
fn answer(request: &[u8], send: &mut dyn FnMut(&[u8])) -> Result<(), Error> {
    let request: Request = serde_json::from_slice(request).map_err(Error::query)?;
    for _ in 0..TRIES {
        // With the asker's rights: what is known of the catalog must not differ from what they see.
        let question = rights::with_rights_of(request.asker.user, || Question::new(&request))?;
        if let Some(age) = request.reuse {
            ledger::remaining(&question.relation, &request.asker)?;
            if let Some(stored) = stored(&question, age)? {
                send(stored.as_bytes());
                return Ok(());
            }
        }
        let charged = ledger::charge(
            &question.relation,
            request.asker,
            &question.what,
            &question.charge,
            Some(&question.terms),
        )?;
        if let Outcome::Charged { entry } = charged {
            let began = Instant::now();
            let mut sending = Sending { question: &question, send, kept: Some(String::new()) };
            let outcome = Reading::new(&question)?.answer(&mut sending);
            let kept = sending.kept;
            wait_for_grid(began);
            outcome?;
            if let Some(kept) = kept {
                isolated::counted(|| store(&question, entry, &kept))?;
            }
            return Ok(());
        }
    }
    Err(Error::Ledger { certain: true, why: "the terms of the protection keep changing" })
}

worker_function!(sanitize_reader_worker, isolated::serve, answer);

/// Waits until the time since `began` is a multiple of the grid.
fn wait_for_grid(began: Instant) {
    let Some(grid) = settings::answer_grid() else { return };
    let rounds = began.elapsed().as_nanos() / grid.as_nanos() + 1;
    isolated::wait_until(began + grid * u32::try_from(rounds).unwrap_or(u32::MAX));
}

/// Where answers go: to the caller, and into the store as long as they are short.
struct Sending<'a> {
    question: &'a Question,
    send: &'a mut dyn FnMut(&[u8]),
    /// The parts sent so far; `None` if they are too long to store.
    kept: Option<String>,
}

impl Sending<'_> {
    fn group(&mut self, key: &Key, answers: Vec<Answer>) -> Result<(), Error> {
        pgrx::check_for_interrupts!();
        let names = self.question.group_names();
        let groups: serde_json::Map<String, serde_json::Value> = names
            .into_iter()
            .map(String::from)
            .zip(key.iter().map(|text| text.clone().map_or(serde_json::Value::Null, Into::into)))
            .collect();
        let finite = |x: f64| x.is_finite().then_some(x);
        let row = |answer: Answer| ResultRow {
            groups: groups.clone().into(),
            measure: answer.measure,
            value: answer.value,
            stddev: answer.stddev.and_then(finite),
            low: finite(answer.low),
            high: finite(answer.high),
        };
        let rows: Vec<ResultRow> = answers.into_iter().map(row).collect();
        if rows.is_empty() {
            return Ok(());
        }
        let text = serde_json::to_string(&rows).map_err(Error::query)?;
        (self.send)(text.as_bytes());
        self.kept = self.kept.take().filter(|kept| kept.len() + text.len() < STORED).map(|kept| {
            let inner = &text[1..text.len() - 1];
            if kept.is_empty() { inner.to_string() } else { kept + "," + inner }
        });
        Ok(())
    }
}

/// The read of a question that is charged.
struct Reading<'a> {
    question: &'a Question,
    owner: pgrx::pg_sys::Oid,
    coins: Coins,
}

impl<'a> Reading<'a> {
    fn new(question: &'a Question) -> Result<Self, Error> {
        let relation = &question.relation;
        let owner = rights::owner_of(relation.oid)
            .ok_or_else(|| Error::NoSuchRelation { relation: relation.name.clone() })?;
        Ok(Reading { question, owner, coins: Coins::os()? })
    }

    fn query<'b>(&self, text: &'b str, width: usize) -> Query<'b> {
        let group_columns = self.question.group_columns_count();
        Query { owner: self.owner, text, group_columns, width }
    }

    /// The groups as they are known before the rows are read.
    fn groups(&self) -> Groups {
        match &self.question.public {
            Some(keys) => Groups::public(keys.clone()),
            None if self.question.has_private_groups() => Groups::default(),
            None => Groups::public(vec![Vec::new()]),
        }
    }

    fn answer(mut self, sending: &mut Sending<'_>) -> Result<(), Error> {
        let found = match self.question.scales()? {
            Some(scales) => self.bounds(&scales)?,
            None => Vec::new(),
        };
        let plan = self.question.plan(&found)?;
        if let Some((text, width)) = self.question.totals_query() {
            return self.from_totals(&plan, &text, width, sending);
        }
        let columns =
            ValueColumns::new(&self.question.relation, self.question.asked.iter().enumerate());
        match self.gather(&columns, plan.reads_rows())? {
            Some(gathered) => self.from_memory(&plan, gathered, sending),
            None => self.from_sorted(&plan, &columns, sending),
        }
    }

    /// Totals that Postgres has added up, a row for each group.
    fn from_totals(
        &mut self,
        plan: &Plan,
        text: &str,
        width: usize,
        sending: &mut Sending<'_>,
    ) -> Result<(), Error> {
        let groups = self.groups();
        let mut listed = vec![vec![0; plan.slots()]; groups.keys.len()];
        let is_private = self.question.has_private_groups();
        let mut slots = vec![0; plan.slots()];
        let query = self.query(text, width);
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
                    Kind::Units => (units, 0),
                    Kind::Sum(_) => (0, number()),
                    Kind::Mean(_) => (number(), number()),
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
    fn gather(
        &mut self,
        columns: &ValueColumns,
        reads_rows: bool,
    ) -> Result<Option<Gathered>, Error> {
        let question = self.question;
        let (rows, groups) = (question.rows_per_unit, question.groups_per_unit);
        let mut gathered = Gathered {
            groups: self.groups(),
            rows: Bounded::new(rows, groups, columns.rows.len()),
            units: UnitRows::new(columns.units.len()),
        };
        if reads_rows {
            let text = question.rows_query(columns);
            let query = self.query(&text, columns.rows.len());
            let (groups, rows) = (&mut gathered.groups, &mut gathered.rows);
            let fit = match question.one_row_each {
                true => query.one_each(groups, rows, &mut self.coins)?,
                false => query.by_unit(groups, rows, &mut self.coins)?,
            };
            if fit == Fit::TooMany {
                return Ok(None);
            }
        }
        if !columns.units.is_empty() {
            let text = question.units_query(columns);
            let query = self.query(&text, columns.units.len());
            if query.units(&mut gathered.groups, &mut gathered.units)? == Fit::TooMany {
                return Ok(None);
            }
        }
        Ok(Some(gathered))
    }

    fn from_memory(
        &mut self,
        plan: &Plan,
        mut gathered: Gathered,
        sending: &mut Sending<'_>,
    ) -> Result<(), Error> {
        let keys = &gathered.groups.keys;
        // Groups that the rows show are told in an order that does not follow the rows.
        let mut shown: Vec<(&Key, Vec<Answer>)> = Vec::new();
        let is_private = self.question.has_private_groups();
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

    /// Rows in the order of their groups: nothing is held but the integers of one group, or of all
    /// public ones.
    fn from_sorted(
        &mut self,
        plan: &Plan,
        columns: &ValueColumns,
        sending: &mut Sending<'_>,
    ) -> Result<(), Error> {
        let groups = self.groups();
        let mut listed = vec![vec![0; plan.slots()]; groups.keys.len()];
        let mut sorted = Sorted::new(plan);
        let text = self.question.sorted_query(columns, plan.reads_rows());
        let query = self.query(&text, 2);
        let coins = &mut self.coins;
        let mut end = |group: Option<(Key, Vec<i128>)>, coins: &mut Coins| -> Result<(), Error> {
            let Some((key, slots)) = group else { return Ok(()) };
            match groups.listed(&key) {
                Some(code) => listed[code] = slots,
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
    fn bounds(&mut self, scales: &Scales) -> Result<Vec<(usize, Range)>, Error> {
        let searched: Vec<(usize, Range)> =
            self.question.searched().filter_map(|(i, asked)| Some((i, asked.range?))).collect();
        let columns = ValueColumns::new(&self.question.relation, self.question.searched());
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
                let text = self.question.sorted_query(&columns, reads_rows);
                self.query(&text, 2).each(true, &mut |visit| {
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

/// What the rows of a question came to, before they are added up.
struct Gathered {
    groups: Groups,
    rows: Bounded,
    units: UnitRows,
}

/// Adds up rows that come in the order of their groups, of their measures, and of their values.
struct Sorted<'a> {
    plan: &'a Plan,
    /// The measures that count values once, and those that count units.
    distinct: Vec<usize>,
    unit_counts: Vec<usize>,
    key: Option<Key>,
    slots: Vec<i128>,
    units: i128,
    /// Whether the group is shown, once all its units are known.
    is_shown: Option<bool>,
    last: (i64, i64),
}

impl<'a> Sorted<'a> {
    fn new(plan: &'a Plan) -> Self {
        let of_kind = |kind: Kind| -> Vec<usize> {
            plan.measures().filter(|(_, m)| m.kind == kind).map(|(i, _)| i).collect()
        };
        Sorted {
            plan,
            distinct: of_kind(Kind::Distinct),
            unit_counts: of_kind(Kind::Units),
            key: None,
            slots: vec![0; plan.slots()],
            units: 0,
            is_shown: None,
            last: (0, 0),
        }
    }

    /// Counts a row: the number of a measure from 1 on, and a value; number 0 is the unit.
    fn row(&mut self, visit: Visit<'_>, coins: &mut Coins) {
        if let Some(key) = visit.key {
            self.key = Some(key);
            self.last = (0, 0);
        }
        let &[number, value] = visit.values else { return };
        if number == 0 {
            self.units += i128::from(visit.is_new_text);
            return;
        }
        let is_again = self.last == (number, value);
        self.last = (number, value);
        let measure = number as usize - 1;
        if self.shows(coins) && !(is_again && self.distinct.contains(&measure)) {
            self.plan.add(&mut self.slots, measure, value);
        }
    }

    fn shows(&mut self, coins: &mut Coins) -> bool {
        let (plan, units) = (self.plan, self.units);
        *self.is_shown.get_or_insert_with(|| plan.shows(units, coins))
    }

    /// The group that has ended, if it is shown.
    fn take(&mut self, coins: &mut Coins) -> Option<(Key, Vec<i128>)> {
        let key = self.key.take()?;
        let is_shown = self.shows(coins);
        for &measure in &self.unit_counts {
            self.plan.add_many(&mut self.slots, measure, self.units, 0);
        }
        let slots = std::mem::replace(&mut self.slots, vec![0; self.plan.slots()]);
        (self.units, self.is_shown) = (0, None);
        is_shown.then_some((key, slots))
    }
}

/// The stored answer to the question that is at most so many microseconds old, for whoever may ask.
fn stored(question: &Question, age: i64) -> Result<Option<String>, Error> {
    let source = question.relation.oid.to_u32().to_string();
    let arguments = [Some(source.as_str()), Some(&question.normal), Some(&age.to_string())];
    let rows = rights::with_extension_rights(|| sql::run(STORED_ANSWER, &arguments))?;
    Ok(rows.into_iter().flatten().flatten().next())
}

/// Keeps an answer for whoever asks the same again, in place of an older one.
fn store(question: &Question, entry: i64, rows: &str) -> Result<(), Error> {
    let source = question.relation.oid.to_u32().to_string();
    let rows = format!("[{rows}]");
    let entry = entry.to_string();
    let arguments =
        [Some(source.as_str()), Some(&question.normal), Some(&entry), Some(rows.as_str())];
    rights::with_extension_rights(|| sql::run(STORE, &arguments)).map(|_| ())
}

const STORED_ANSWER: &str = "SELECT answer::text FROM sanitize.answer
    WHERE source = $1::oid::regclass AND question_hash = sha256(convert_to($2, 'UTF8'))
      AND answered_at > clock_timestamp() - make_interval(secs => $3::float8 / 1e6)";

const STORE: &str = "INSERT INTO sanitize.answer
        (source, question_hash, question, answered_at, entry, answer)
    VALUES ($1::oid::regclass, sha256(convert_to($2, 'UTF8')), $2::jsonb, clock_timestamp(), $3::int8, $4::jsonb)
    ON CONFLICT (source, question_hash) DO UPDATE SET
        answered_at = excluded.answered_at, entry = excluded.entry, answer = excluded.answer";

/// The hash by which callers of the same question wait for each other.
pub fn question_hash(question: &Question) -> u32 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    // Without a key: the same in every process of the server.
    let mut hasher = DefaultHasher::new();
    question.normal.hash(&mut hasher);
    hasher.finish() as u32
}

/// True if an answer is stored that may be used again.
pub fn is_stored(question: &Question, age: i64) -> Result<bool, Error> {
    Ok(stored(question, age)?.is_some())
}
