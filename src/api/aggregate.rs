//! Noisy aggregates of relations that the caller may not read: the caller's side. What may depend on
//! the data is done by a reader process, see [`super::answer`].

use super::ledger::{self, Asker};
use super::question::{Posed, Request};
use crate::catalog::answers::{self, ResultRow};
use crate::pg::call::{Call, sql_function};
use crate::pg::error::Error;
use crate::pg::jsonb;
use crate::pg::relation::Relation;
use crate::pg::rowset::{ResultRows, Value};
use crate::pg::worker::{self, isolated};
use pgrx::datum::Interval;
use pgrx::pg_sys::{Datum, Oid};
use pgrx::{AnyNumeric, IntoDatum};
use serde_json::json;

/// Older than any answer, in microseconds: a thousand years, which a timestamp can go back.
const OLDEST: i128 = 1000 * 365 * 86_400_000_000;

/// The arguments of `dp_aggregate` and `dp_cost`.
fn request(call: &Call) -> Result<Request, Error> {
    let reuse = call.optional::<Interval>(7).map(|age| age.as_micros().clamp(-1, OLDEST) as i64);
    if reuse.is_some_and(|age| age < 0) {
        return Err(Error::argument(
            "reuse is below 0",
            "It is how old an answer may be that is returned again: '1 day'.",
        ));
    }
    Ok(Request {
        source: call.value::<Oid>(0, "source")?.to_u32(),
        asker: Asker::caller(),
        measures: jsonb::text_argument(call, 1)?.ok_or(Error::Null { argument: "measures" })?,
        epsilon: call.value(2, "epsilon")?,
        delta: call.optional(3),
        group_by: call.names(4, "group_by")?.unwrap_or_default(),
        filter: jsonb::text_argument(call, 5)?,
        groups: jsonb::text_argument(call, 6)?,
        reuse,
    })
}

fn dp_aggregate(call: &Call) -> Result<Datum, Error> {
    let request = request(call)?;
    // Whoever may not ask is told nothing more; the charge decides it again.
    ledger::remaining(&Relation::open(request.source.into())?, &request.asker)?;
    // What makes no sense is refused here, with words that only arguments and catalog choose.
    let question = Posed::new(&request)?.question;
    // Whoever asks the same while it is being answered waits for that answer.
    let turn = request.reuse.map(|_| worker::one_at_a_time(answers::hash(&question.normal)));
    let bytes = serde_json::to_vec(&request).map_err(Error::query)?;
    let mut rows = ResultRows::begin(call)?;
    isolated::ask(c"sanitize_reader_worker", &bytes, |part| {
        let part: Vec<ResultRow> = serde_json::from_slice(part).map_err(Error::query)?;
        part.into_iter().try_for_each(|row| push(&mut rows, row))
    })?;
    if let Some(turn) = turn {
        turn.end();
    }
    Ok(rows.finish(call))
}

fn push(rows: &mut ResultRows, row: ResultRow) -> Result<(), Error> {
    let groups = jsonb::datum(&row.groups.into())?;
    let number =
        row.value.as_deref().map(AnyNumeric::try_from).transpose().map_err(Error::query)?;
    let value = || number.clone().and_then(IntoDatum::into_datum).unwrap_or(Datum::null());
    let float = |x: Option<f64>| x.map_or(Value::Null, Value::Float);
    rows.push([
        Value::Made(&|| groups),
        Value::Text(&crate::pg::text::from_utf8(&row.measure)),
        if number.is_some() { Value::Made(&value) } else { Value::Null },
        float(row.stddev),
        float(row.low),
        float(row.high),
    ]);
    Ok(())
}

fn dp_cost(call: &Call) -> Result<Datum, Error> {
    let request = request(call)?;
    let remaining = ledger::remaining(&Relation::open(request.source.into())?, &request.asker)?;
    let question = Posed::new(&request)?.question;
    let is_free = match request.reuse {
        Some(age) => answers::find(Oid::from(request.source), &question.normal, age)?.is_some(),
        None => false,
    };
    let cost = if is_free { dp::Cost::default() } else { question.charge.whole };
    let mut stddevs = serde_json::Map::new();
    for ((name, parts), asked) in question.plan(&[])?.stddevs().into_iter().zip(&question.asked) {
        let stddev = match parts.as_slice() {
            // Known when the bounds are.
            _ if asked.private_bounds => serde_json::Value::Null,
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
        Value::Float(remaining.epsilon),
        Value::Float(remaining.delta),
        Value::Made(&|| stddevs),
    ]);
    Ok(rows.finish(call))
}

sql_function!(sanitize_dp_aggregate, dp_aggregate);
sql_function!(sanitize_dp_cost, dp_cost);
