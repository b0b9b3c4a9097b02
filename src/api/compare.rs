//! A released table beside the original that it was made from.

use super::input::{Input, max_length};
use crate::pg::call::{Call, sql_function};
use crate::pg::error::Error;
use crate::pg::pool;
use crate::pg::reader;
use crate::pg::relation::Relation;
use crate::pg::rowset::{ResultRows, Value};
use dp::Coins;
use pgrx::pg_sys::{Datum, Oid};
use table::{Bag, Stop, Watch};

/// Two tables with the same columns in the same order, each with its own domains.
pub struct Pair {
    pub released: Input,
    pub original: Input,
}

impl Pair {
    /// Reads the named columns (`None`: all of the original) of both; the released table may have
    /// more, in any order and of any types.
    pub fn read(released: Oid, original: Oid, columns: Option<&[String]>) -> Result<Self, Error> {
        let released = Relation::open(released)?;
        let original = Relation::open(original)?;
        let columns = original.positions("columns", columns)?;
        let names = columns.iter().map(|&column| original.columns[column].name.as_str());
        let same = names.map(|name| released.position(name)).collect::<Result<Vec<_>, _>>()?;
        let original_bag = reader::read(&original, &columns)?.bag;
        let released_bag = reader::read_beside(&released, &same, original_bag.memory())?.bag;
        Ok(Pair {
            released: Input { name: released.name, bag: released_bag },
            original: Input { name: original.name, bag: original_bag },
        })
    }

    /// The tables of arguments `released` and `original`, cut to the columns of `columns`.
    fn arguments(
        call: &Call,
        released: usize,
        original: usize,
        columns: Option<usize>,
    ) -> Result<Self, Error> {
        let names = columns.map(|i| call.names(i, "columns")).transpose()?.flatten();
        Pair::read(
            call.value(released, "released")?,
            call.value(original, "original")?,
            names.as_deref(),
        )
    }

    /// Runs work on the released and the original rows in the pool.
    pub fn run<T: Send>(
        &self,
        phase: &'static str,
        job: impl FnOnce(&Bag, &Bag, &Watch) -> Result<T, Stop> + Send,
    ) -> Result<T, Error> {
        let (released, original) = (&self.released.bag, &self.original.bag);
        pool::run(phase, released.memory() + original.memory(), |watch| {
            job(released, original, watch)
        })
    }
}

fn float(x: Option<f64>) -> Value<'static> {
    x.map_or(Value::Null, Value::Float)
}

fn anonymity_score(call: &Call) -> Result<Datum, Error> {
    let pair = Pair::arguments(call, 0, 1, Some(2))?;
    let mut rows = ResultRows::begin(call)?;
    let score = pair.run("measuring", measures::anonymity_score)?;
    rows.push([float(score.map(|s| s.score)), float(score.map(|s| s.normalised))]);
    Ok(rows.finish(call))
}

fn common_records(call: &Call) -> Result<Datum, Error> {
    let pair = Pair::arguments(call, 0, 1, Some(2))?;
    let mut rows = ResultRows::begin(call)?;
    let common = pair.run("measuring", measures::common_records)?;
    rows.push([float(common.of_released), float(common.of_original)]);
    Ok(rows.finish(call))
}

/// The argument samples: how many itemsets to try.
pub fn samples(call: &Call, i: usize) -> Result<u64, Error> {
    let samples = call.value::<i32>(i, "samples")?;
    u64::try_from(samples).ok().filter(|&samples| samples > 0).ok_or_else(|| {
        Error::argument(
            format!("samples is {samples}"),
            "samples is the number of itemsets to try: 1 or more.",
        )
    })
}

fn rare_itemset_leak(call: &Call) -> Result<Datum, Error> {
    let samples = samples(call, 2)?;
    let mut coins = Coins::new(call.optional::<i64>(3))?;
    let pair = Pair::arguments(call, 0, 1, None)?;
    let mut rows = ResultRows::begin(call)?;
    let leaks = pair.run("sampling", |released, original, watch| {
        let below = |n| dp::below(&mut coins, n);
        measures::rare_itemset_leak(released, original, samples, below, watch)
    })?;
    for leak in leaks {
        rows.push([
            Value::Int(leak.length as i32),
            Value::count(leak.tried),
            Value::count(leak.leaked),
        ]);
    }
    Ok(rows.finish(call))
}

fn compare_itemsets(call: &Call) -> Result<Datum, Error> {
    let min_support = call.value::<f64>(2, "min_support")?;
    if !(min_support > 0.0 && min_support <= 1.0) {
        return Err(Error::argument(
            format!("min_support is {min_support}"),
            "min_support is a share of the rows: more than 0 and at most 1.",
        ));
    }
    let max_length = max_length(call, 4)?;
    let pair = Pair::arguments(call, 1, 0, Some(3))?;
    let mut rows = ResultRows::begin(call)?;
    let found = pair.run("comparing", |released, original, watch| {
        measures::compare_itemsets(original, released, min_support, max_length, watch)
    })?;
    rows.push([
        Value::count(found.original),
        Value::count(found.released),
        Value::count(found.common),
        Value::count(found.missing),
        Value::count(found.added),
        float(found.nfd_common),
        float(found.nfd_missing),
        float(found.nfd_added),
        float(found.equal_share()),
        float(found.common_difference),
        float(found.added_share),
        Value::count(found.added_absent),
    ]);
    Ok(rows.finish(call))
}

sql_function!(sanitize_anonymity_score, anonymity_score);
sql_function!(sanitize_common_records, common_records);
sql_function!(sanitize_rare_itemset_leak, rare_itemset_leak);
sql_function!(sanitize_compare_itemsets, compare_itemsets);
