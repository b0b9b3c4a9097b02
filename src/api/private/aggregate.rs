//! Noisy aggregates of relations that the caller may not read: the caller's side. Work that depends on the data is done
//! by a reader process, see [`super::answer`].

use super::budget;
use super::question::{Posed, Request};
use crate::api::prelude::*;
use crate::catalog::answers::{self, ResultRow};
use crate::catalog::ledger::Asker;
use crate::pg::process::worker::{self, isolated};
use crate::rules::terms::{ASSUME_STABLE, MAX_ROWS_PER_UNIT, UNIT, at_least_one};
use guarantee::{AnswerGroups, Answers};

/// Older than any answer, in microseconds: a thousand years, which a timestamp can go back.
const OLDEST: i128 = 1000 * 365 * 86_400_000_000;

/// The measures as text, which the reader parses again.
const MEASURES: Argument<String> = Argument::new("measures", Type::Json, |given| {
    given.needed(given.json_text()?)
})
.about("What to compute, by name: {\"n\": \"count\", \"pay\": {\"avg\": \"salary\", \"low\": 0, \"high\": 200000}}.");

const DELTA: Argument<Option<f64>> = Argument::of("delta")
    .about("The chance with which epsilon may be passed: needed for groups that rows show, and for Gaussian noise.");

const GROUP_BY: Argument<Option<Vec<String>>> =
    Argument::of("group_by").about("The columns whose values tell groups apart.");

const FILTER: Argument<Option<String>> =
    Argument::optional("filter", Type::Json, |given| given.json_text())
        .about("Which rows count: conditions by column, all of which must hold.");

const GROUPS: Argument<Option<String>> = Argument::optional("groups", Type::Json, |given| {
    given.json_text()
})
.about("The groups to answer for, if they are public: a list of values or of objects by column, or lists by column for all combinations.");

/// In microseconds.
const REUSE: Argument<Option<i64>> = Argument::optional("reuse", Type::Interval, |given| {
    let age = given.interval()?.map(|age| age.as_micros().clamp(-1, OLDEST) as i64);
    match age {
        Some(age) if age < 0 => Err(Error::argument(
            "reuse is below 0",
            "It is how old an answer may be that is returned again: '1 day'.",
        )),
        age => Ok(age),
    }
})
.about("How old an answer to the same question may be that is returned again for free.");

const ASKED: &[&dyn Declared] =
    &[&RELATION, &MEASURES, &EPSILON, &DELTA, &GROUP_BY, &FILTER, &GROUPS, &REUSE];

/// The question that a call of `dp_aggregate` or `dp_cost` asks.
fn request(arguments: &Arguments<'_>) -> Result<Request> {
    let reuse = arguments.get(&REUSE)?;
    Ok(Request {
        source: arguments.get(&RELATION)?.to_u32(),
        asker: Asker::caller(),
        measures: arguments.get(&MEASURES)?,
        epsilon: arguments.get(&EPSILON)?,
        delta: arguments.get(&DELTA)?,
        group_by: arguments.get(&GROUP_BY)?.unwrap_or_default(),
        filter: arguments.get(&FILTER)?,
        groups: arguments.get(&GROUPS)?,
        reuse,
    })
}

const MAX_GROUPS_PER_UNIT: Argument<Option<u64>> =
    Argument::optional("max_groups_per_unit", Type::Int8, at_least_one)
        .about("In how many groups a unit counts at most.");

fn label(options: &Arguments<'_>) -> Result<Guarantee> {
    if let Some(measures) = options.json(&MEASURES)?
        && measures.as_object().is_none_or(Map::is_empty)
    {
        return Err(Error::argument(
            format!("option measures is {measures}"),
            "measures is an object with at least one measure.",
        ));
    }
    if let Some(groups) = options.json(&GROUPS)?
        && !(groups.is_array() || groups.is_object())
    {
        return Err(Error::argument(format!("option groups is {groups}"), question::GROUPS));
    }
    let groups = match (options.get(&GROUP_BY)?.is_some(), options.has(&GROUPS)?) {
        (false, true) => {
            return Err(Error::argument(
                "option groups is given, but group_by is not",
                "Name the columns of the groups in group_by.",
            ));
        }
        (false, false) => AnswerGroups::None,
        (true, true) => AnswerGroups::Public,
        (true, false) => AnswerGroups::Private,
    };
    let delta = options.get(&DELTA)?.map(budget::delta).transpose()?.unwrap_or(0.0);
    if groups == AnswerGroups::Private && delta == 0.0 {
        return Err(Error::argument(
            "option delta is missing",
            "Give every option that the label depends on.",
        ));
    }
    let epsilon = budget::epsilon(options.get(&EPSILON)?)?;
    Ok(Guarantee::dp_aggregate(&Answers {
        cost: Cost { epsilon, delta },
        groups,
        unit: options.get(&UNIT)?.as_deref(),
        rows_per_unit: options.get(&MAX_ROWS_PER_UNIT)?,
        groups_per_unit: options.get(&MAX_GROUPS_PER_UNIT)?,
        assumed_stable: options.get(&ASSUME_STABLE)?,
    }))
}

const DP_AGGREGATE: Method = Method::release("dp_aggregate", ASKED, Release::new(dp_aggregate))
    .returning(columns![
        groups: Json, measure: Text, value: Numeric, stddev: Float8, low: Float8, high: Float8
    ])
    .rows(100)
    .about(
        "noisy counts, sums, means, variances, quantiles and histograms of a protected \
         relation, with 95 % intervals; charged to the budget first, unless an answer to the \
         same question is at most as old as reuse. The caller needs sanitize.allow and no right \
         to read",
    )
    .labelled(&[&UNIT, &MAX_ROWS_PER_UNIT, &MAX_GROUPS_PER_UNIT, &ASSUME_STABLE], label)
    .priced(Protects::Units, |arguments, _| {
        Ok(Some(Posed::new(&request(arguments)?)?.question.charge))
    });

fn dp_aggregate(call: &ReleaseCall<'_>, rows: &mut ResultRows) -> Result<()> {
    let request = request(call.arguments)?;
    // A caller who may not ask learns nothing else; the charge checks this again.
    ledger::remaining(&call.source()?, &request.asker)?;
    // Questions that make no sense are refused here; the texts of these errors depend on arguments and catalog only.
    let question = Posed::new(&request)?.question;
    // If the same question is being answered, wait for that answer.
    let turn = request
        .reuse
        .map(|_| worker::one_at_a_time(request.source.into(), answers::hash(&question.normal)));
    let bytes = serde_json::to_vec(&request).map_err(Error::query)?;
    isolated::ask(c"sanitize_reader_worker", &bytes, |part| {
        let part: Vec<ResultRow> = serde_json::from_slice(part).map_err(Error::query)?;
        part.into_iter().try_for_each(|row| push(rows, row))
    })?;
    if let Some(turn) = turn {
        turn.end();
    }
    Ok(())
}

fn push(rows: &mut ResultRows, row: ResultRow) -> Result<()> {
    let groups = jsonb::datum(&row.groups.into())?;
    let number =
        row.value.as_deref().map(AnyNumeric::try_from).transpose().map_err(Error::query)?;
    let value = || number.clone().and_then(IntoDatum::into_datum).unwrap_or(Datum::null());
    let float = |x: Option<f64>| x.map_or(Value::Null, Value::Float);
    rows.push([
        Value::Made(&|| groups),
        Value::Text(&from_utf8(&row.measure)),
        if number.is_some() { Value::Made(&value) } else { Value::Null },
        float(row.stddev),
        float(row.low),
        float(row.high),
    ]);
    Ok(())
}

const DP_COST: Method = Method::new(
    "dp_cost",
    ASKED,
    columns![
        epsilon: Float8, delta: Float8, remaining_epsilon: Float8, remaining_delta: Float8,
        stddev: Json
    ],
    dp_cost,
)
.rows(1)
.about(
    "what sanitize.dp_aggregate with these arguments will charge, what is left now, and how \
         wide the noise will be; charges nothing and looks at no row",
);

fn dp_cost(call: &Call) -> Result<Datum> {
    let request = request(&call.arguments)?;
    let remaining = ledger::remaining(&Relation::open(request.source.into())?, &request.asker)?;
    let question = Posed::new(&request)?.question;
    let is_free = match request.reuse {
        Some(age) => answers::find(request.source.into(), &question.normal, age)?.is_some(),
        None => false,
    };
    let charge = DP_AGGREGATE.charge(&call.arguments, 0)?.filter(|_| !is_free);
    let cost = charge.map_or(Cost::default(), |charge| charge.whole);
    let mut stddevs = Map::new();
    for ((name, parts), asked) in question.plan(&[])?.stddevs().into_iter().zip(&question.asked) {
        let stddev = match parts.as_slice() {
            // Known when the bounds are.
            _ if asked.private_bounds => serde_json::Value::Null,
            [("value", stddev)] => json!(stddev),
            parts => parts
                .iter()
                .map(|(part, stddev)| (part.to_string(), json!(stddev)))
                .collect::<Map<_, _>>()
                .into(),
        };
        stddevs.insert(name.to_string(), stddev);
    }
    let stddevs = jsonb::datum(&stddevs.into())?;
    call.one_row([
        Value::Float(cost.epsilon),
        Value::Float(cost.delta),
        Value::Float(remaining.epsilon),
        Value::Float(remaining.delta),
        Value::Made(&|| stddevs),
    ])
}

methods! {
    sanitize_dp_aggregate => DP_AGGREGATE;
    sanitize_dp_cost => DP_COST;
}
