//! A released table compared with its original.

use super::privacy_report::Candidate;
use crate::api::prelude::*;
use crate::api::release::hierarchy::{Sides, general, shown_as};
use crate::api::shared::input::original_and_released;
use measures::{Made, Meaning};
use std::collections::HashMap;

/// Two tables with the same columns in the same order, each with its own domains.
pub struct Pair {
    pub released: Input,
    pub original: Input,
    sides: Sides,
    /// The released table.
    relation: Oid,
}

/// The general values in a released table.
pub struct General {
    /// The texts that may be general values, by column and code, with the values that they cover.
    texts: Vec<HashMap<u32, Vec<u32>>>,
    /// How each column was made, if the table is a release that was published.
    made: Vec<Made>,
}

impl General {
    /// The meaning of the cells.
    pub fn meaning<'w>(
        self,
        released: &Bag,
        original: &Bag,
        watch: &'w Watch,
    ) -> Result<Meaning<'w>, Stop> {
        Meaning::of(released, original, self.texts, |column| self.made[column], watch)
    }
}

impl Pair {
    /// Reads the named columns (`None`: all of the original) of both; the released table may have
    /// more, in any order and of any types. Rows count.
    pub fn read(tables: (Oid, Oid), columns: Option<&[String]>) -> Result<Self> {
        Pair::read_counting(tables, columns, |_| Ok(None))
    }

    /// As [`Pair::read`], with the unit of the original's rows, if there is one.
    fn read_counting(
        (original, released): (Oid, Oid),
        columns: Option<&[String]>,
        unit: impl FnOnce(&Relation) -> Result<Option<Unit>>,
    ) -> Result<Self> {
        let (original, released) = (Relation::open(original)?, Relation::open(released)?);
        let unit = unit(&original)?;
        let columns = counted::columns(&original, unit.as_ref(), columns)?;
        let names = columns.iter().map(|&column| original.columns[column].name.as_str());
        let same = names.map(|name| released.position(name)).collect::<Result<Vec<_>, _>>()?;
        let original_bag = counted::read(&original, &columns, unit.as_ref())?.bag;
        let read = Input::counting(original.name.clone(), original_bag, unit.is_some())?;
        let released_bag = reader::read_beside(&released, &same, read.memory())?.bag;
        Ok(Pair {
            relation: released.oid,
            released: Input::of_rows(released.name.clone(), released_bag),
            original: read,
            sides: Sides { original, columns, shown_as: shown_as(&released, &same) },
        })
    }

    /// How the released columns write the original's values.
    pub fn written(&mut self) -> Result<Vec<Written>> {
        self.sides.written(self.original.bag.domains(), |_| true)
    }

    /// The general values that released texts may mean other than themselves.
    pub fn general(&mut self) -> Result<General> {
        let gaining = self.run("measuring", Meaning::gaining)?;
        let (released, original) = (self.released.bag.domains(), self.original.bag.domains());
        let written = self.sides.written(original, |column| gaining[column])?;
        let texts = general(&written, original, released);
        let recorded = Candidate::recorded(self.relation)?;
        let made = released.iter().map(|domain| recorded.made(domain.name())).collect();
        Ok(General { texts, made })
    }

    /// Runs `measure` on the released and the original rows, with the meaning of the released cells.
    fn measured<T: Send>(
        mut self,
        measure: fn(&Bag, &Bag, &Meaning<'_>, &Watch) -> Result<T, Stop>,
    ) -> Result<T> {
        let general = self.general()?;
        self.run("measuring", |released, original, watch| {
            measure(released, original, &general.meaning(released, original, watch)?, watch)
        })
    }

    /// The two tables of a call, cut to the columns that it names, and the people that it counts.
    pub fn of(call: &Call) -> Result<Self> {
        let names = call.arguments.get_if_declared(&COLUMNS)?;
        Pair::read_counting(original_and_released(call)?, names.as_deref(), |original| {
            counted_unit(&call.arguments, original)
        })
    }

    /// Runs work on the released and the original rows in the pool.
    pub fn run<T: Send>(
        &self,
        phase: &'static str,
        job: impl FnOnce(&Bag, &Bag, &Watch) -> Result<T, Stop> + Send,
    ) -> Result<T> {
        let held = self.released.memory() + self.original.memory();
        pool::run(phase, held, |watch| job(&self.released.bag, &self.original.bag, watch))
    }
}

fn float(x: Option<f64>) -> Value<'static> {
    x.map_or(Value::Null, Value::Float)
}

const ANONYMITY_SCORE: Method = Method::new(
    "anonymity_score",
    &[&ORIGINAL, &RELEASED, &COLUMNS],
    columns![score: Float8, normalised: Float8],
    |call| {
        let score = Pair::of(call)?.measured(measures::anonymity_score)?;
        call.one_row([float(score.map(|s| s.score)), float(score.map(|s| s.normalised))])
    },
)
.reading()
.rows(1)
.about(
    "how many rows of the original were released, rare rows counting more; normalised: as a \
         share of the score of releasing the original itself; NULL if the original has no rows",
);

const COMMON_RECORDS: Method = Method::new(
    "common_records",
    &[&ORIGINAL, &RELEASED, &COLUMNS],
    columns![share_of_released: Float8, share_of_original: Float8],
    |call| {
        let common = Pair::of(call)?.measured(measures::common_records)?;
        call.one_row([float(common.of_released), float(common.of_original)])
    },
)
.reading()
.rows(1)
.about(
    "the share of the rows of each table that also occur in the other; NULL for a table \
         without rows",
);

const RARE_ITEMSET_LEAK: Method = Method::new(
    "rare_itemset_leak",
    &[&ORIGINAL, &RELEASED, &SAMPLES, &SEED, &UNIT],
    columns![length: Int4, tried: Int8, leaked: Int8],
    rare_itemset_leak,
)
.parallel_restricted()
.rows(10)
.about(
    "random itemsets that exactly one row of the original contains, or the rows of one \
         person, and how many of them the released table contains too, by length",
);

fn rare_itemset_leak(call: &Call) -> Result<Datum> {
    let samples = call.get(&SAMPLES)?;
    let mut coins = coins(call.get(&SEED)?)?;
    let pair = Pair::of(call)?;
    let mut rows = ResultRows::begin(call)?;
    let units = pair.original.units();
    let leaks = pair.run("sampling", |released, original, watch| {
        let below = |n| random::below(&mut coins, n);
        measures::rare_itemset_leak(released, original, units, samples, below, watch)
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

const COMPARE_ITEMSETS: Method = Method::new(
    "compare_itemsets",
    &[&ORIGINAL, &RELEASED, &MIN_SHARE, &COLUMNS, &MAX_LENGTH],
    columns![
        original_count: Int8, released_count: Int8, common: Int8, missing: Int8, added: Int8,
        nfd_common: Float8, nfd_missing: Float8, nfd_added: Float8, equal_share: Float8,
        support_difference: Float8, added_support: Float8, added_absent: Int8
    ],
    compare_itemsets,
)
.reading()
.rows(1)
.about(
    "how the itemsets that at least a share min_share of the rows contain differ between \
         two tables: how many are frequent in both or in one only, and how far their supports \
         are apart",
);

fn compare_itemsets(call: &Call) -> Result<Datum> {
    let (min_share, max_length) = (call.get(&MIN_SHARE)?, call.get(&MAX_LENGTH)?);
    let pair = Pair::of(call)?;
    let found = pair.run("comparing", |released, original, watch| {
        measures::compare_itemsets(original, released, min_share, max_length, watch)
    })?;
    call.one_row([
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
    ])
}

methods! {
    sanitize_anonymity_score => ANONYMITY_SCORE;
    sanitize_common_records => COMMON_RECORDS;
    sanitize_rare_itemset_leak => RARE_ITEMSET_LEAK;
    sanitize_compare_itemsets => COMPARE_ITEMSETS;
}
