//! Itemsets that are drawn privately.

use crate::api::prelude::*;
use crate::rules::public_source::PublicColumn;
use guarantee::Neighbours;
use question::Terms;
use randomize::itemset::{Constants, ItemsetDraws, SamplerPurpose, TopItemsets, check_space};
use table::Recoding;

const EPSILON_OF_DRAW: Argument<f64> = Argument::of("epsilon")
    .about("What one draw may tell about one row: the call costs draws times as much.");

const THETA: Argument<u64> = Argument::new("theta", Type::Int8, |given| {
    given.at_least(0, "theta is a number of rows, 0 or more, that does not depend on the table.")
})
.about("Supports count up to this one: larger ones make an itemset no likelier.");

const DRAWS: Argument<u64> = Argument::new("draws", Type::Int4, |given| {
    given.at_least(1, "draws is a number of itemsets: 1 or more.")
})
.or("1")
.about("How many itemsets are drawn, independently of each other; each costs epsilon.");

const MAX_LENGTH: Argument<usize> = Argument::new("max_length", Type::Int4, |given| {
    let hint = "max_length is a number of columns: 1 or more.";
    Ok(given.if_given(|given| given.at_least(1, hint))?.unwrap_or(usize::MAX))
})
.or("4")
.about("The longest itemsets, in columns; NULL: no limit.");

const NEIGHBOURS: Argument<Neighbours> = Argument::choice("neighbours")
    .or("\"replace\"")
    .about("Which tables are hardly told apart: 'replace', one row changed, or 'add_remove', one row more or less.");

const CONSTANTS: Argument<Constants> = Argument::choice("constants")
    .or("\"tight\"")
    .about("How much of epsilon is used: 'tight', all of it, or 'paper', as published.");

fn draws(arguments: &Arguments<'_>) -> Result<ItemsetDraws> {
    let draws = ItemsetDraws {
        epsilon: arguments.get(&EPSILON_OF_DRAW)?,
        draws: arguments.get(&DRAWS)?,
        theta: arguments.get(&THETA)?,
        max_length: arguments.get(&MAX_LENGTH)?,
        neighbours: arguments.get(&NEIGHBOURS)?,
        constants: arguments.get(&CONSTANTS)?,
    };
    draws.check()?;
    Ok(draws)
}

const DP_ITEMSETS: Method = Method::release(
    "dp_itemsets",
    &[
        &RELATION,
        &EPSILON_OF_DRAW,
        &THETA,
        &DRAWS,
        &MAX_LENGTH,
        &NEIGHBOURS,
        &SEED,
        &COLUMNS,
        &CONSTANTS,
    ],
    Release::new(dp_itemsets),
)
.returning(columns![draw: Int4, items: Json])
.rows(10)
.about(
    "itemsets of the public domains, drawn with probabilities that grow with their supports \
         up to theta; each draw is epsilon-differentially private, so the call costs draws \
         times epsilon. With seed it is not differentially private",
)
.labelled(TERMS, |options| Ok(draws(options)?.label(coins_of(options.get(&SEED)?))))
.priced(Protects::Rows, |arguments, _| Ok(Some(draws(arguments)?.charge())));

fn dp_itemsets(call: &ReleaseCall<'_>, rows: &mut ResultRows) -> Result<()> {
    let draws = draws(call.arguments)?;
    let source = Source::open(call, draws.max_length, SamplerPurpose::Draws(draws.draws))?;
    let bag = source.read(call)?;
    let mut coins = coins(call.get(&SEED)?)?;
    let drawn =
        pool::run("drawing itemsets", bag.memory(), |watch| draws.draw(&bag, &mut coins, watch))?;
    let json = ItemsetJson::new(&bag);
    for (draw, items) in (1..).zip(&drawn) {
        rows.push([Value::Int(draw), Value::Made(&|| json.datum(items))]);
    }
    Ok(())
}

const TOP: Argument<u64> = Argument::new("top", Type::Int4, |given| {
    given.at_least(1, "top is a number of itemsets: 1 or more.")
})
.about("How many itemsets are found.");

const DELTA: Argument<f64> = Argument::of("delta").or("0").about(
    "The chance with which epsilon may be passed; above 0 it makes less noise where top is large.",
);

fn top(arguments: &Arguments<'_>) -> Result<TopItemsets> {
    let (epsilon, delta) = (arguments.get(&EPSILON)?, arguments.get(&DELTA)?);
    Ok(TopItemsets::new(arguments.get(&TOP)?, epsilon, delta, arguments.get(&MAX_LENGTH)?)?)
}

const DP_FREQUENT_ITEMSETS: Method = Method::release(
    "dp_frequent_itemsets",
    &[&RELATION, &TOP, &EPSILON, &DELTA, &MAX_LENGTH, &COLUMNS, &SEED],
    Release::new(dp_frequent_itemsets),
)
.returning(columns![items: Json, length: Int4, support: Float8, stddev: Float8])
.rows(20)
.about(
    "the itemsets of the largest supports, chosen privately, with noisy supports and the \
         standard deviation of the noise, the largest first; (epsilon, delta)-differentially \
         private in all. With seed it is not",
)
.labelled(TERMS, |options| Ok(top(options)?.label(coins_of(options.get(&SEED)?))))
.priced(Protects::Rows, |arguments, _| Ok(Some(top(arguments)?.charge())));

fn dp_frequent_itemsets(call: &ReleaseCall<'_>, rows: &mut ResultRows) -> Result<()> {
    let top = top(call.arguments)?;
    let wanted = SamplerPurpose::Distinct(call.get(&TOP)?);
    let source = Source::open(call, call.get(&MAX_LENGTH)?, wanted)?;
    let bag = source.read(call)?;
    let mut coins = coins(call.get(&SEED)?)?;
    let found =
        pool::run("choosing itemsets", bag.memory(), |watch| top.find(&bag, &mut coins, watch))?;
    let json = ItemsetJson::new(&bag);
    for one in &found {
        rows.push([
            Value::Made(&|| json.datum(&one.items)),
            Value::Int(one.items.len() as i32),
            Value::Float(one.support as f64),
            Value::Float(top.stddev()),
        ]);
    }
    Ok(())
}

/// A relation whose columns have public values, no row of which has been read yet, and the terms of its protection.
struct Source(PublicSource, Option<Terms>);

impl Source {
    /// Refuses everything that can be refused without reading a row.
    fn open(call: &ReleaseCall<'_>, max_length: usize, wanted: SamplerPurpose) -> Result<Self> {
        let relation = call.source()?;
        let terms = ledger::check_protecting(call, &relation, None)?;
        let positions = relation.positions("columns", call.get(&COLUMNS)?.as_deref())?;
        let source = match PublicSource::open(relation, positions) {
            // Columns with bounds have no list of values, which itemsets need.
            Err(Error::NoDomain { mut columns, relation }) => {
                columns.iter_mut().for_each(|column| column.has_range = false);
                return Err(Error::NoDomain { columns, relation });
            }
            opened => opened?,
        };
        let in_bins = |column: &&PublicColumn| matches!(column.public, Public::Range { .. });
        let quoted = |column: &PublicColumn| format!("\"{}\"", column.name);
        let in_bins: Vec<String> = source.columns.iter().filter(in_bins).map(quoted).collect();
        if !in_bins.is_empty() {
            let (which, have) =
                if in_bins.len() == 1 { ("column", "has") } else { ("columns", "have") };
            return Err(Error::argument(
                format!(
                    "{which} {} {have} public bounds, but no public values",
                    in_bins.join(", ")
                ),
                "Itemsets are made of values: declare them with sanitize.declare_domain, or leave them out of columns.",
            ));
        }
        let sizes = source.columns.iter().map(|column| column.values() as u32).collect();
        pool::run("counting itemsets", 0, |watch| check_space(sizes, max_length, wanted, watch))?;
        Ok(Source(source, terms))
    }

    /// Charges where the relation is protected, then reads. A value that is not in its domain counts as NULL, which is
    /// not an item.
    fn read(&self, call: &ReleaseCall<'_>) -> Result<Bag> {
        let (relation, columns) = (&self.0.relation, &self.0.positions);
        let bound = ledger::charge_call(call, relation, self.1.as_ref(), columns)?;
        let table = self.0.read_charged(bound.as_ref())?;
        let domains = self.0.domains();
        let codes = table.bag.domains().iter().zip(domains).map(|(read, public)| {
            read.values().map(|value| public.find(value).unwrap_or(NONE)).collect()
        });
        let recoding = Recoding { codes: codes.collect(), nulls: vec![NONE; domains.len()] };
        pool::run("mapping values", table.memory(), |watch| {
            let mut bag = table.bag.recoded(&recoding, domains.to_vec(), watch)?;
            // The result of a seed must not depend on the physical order of rows.
            bag.sort(watch)?;
            Ok::<_, Stop>(bag)
        })
    }
}

methods! {
    sanitize_dp_itemsets => DP_ITEMSETS;
    sanitize_dp_frequent_itemsets => DP_FREQUENT_ITEMSETS;
}
