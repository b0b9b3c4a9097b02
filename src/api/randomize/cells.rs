//! Cells that are randomised, and supports estimated from them.

use crate::api::prelude::*;
use crate::api::release::suppression::keeping;
use crate::api::shared::typed_source::chosen;
use crate::api::shared::weights;
use crate::pg::process::pool::Sender;
use crate::pg::write::layout::Tuples;
use crate::pg::write::typed::Values;
use crate::rules::public_source::PublicValues;
use random::{Key, Ratio};
use randomize::cells::{self, Factor, Factors, RandomisedColumn, RandomisedRows, Responses};
use table::{CodedTable, Recoding};

/// Bytes of rows that are drawn at a time.
const PART: usize = 2 << 20;

/// How much of a row's epsilon each column gets.
pub const WEIGHTS: Argument<Option<weights::Named>> =
    Argument::optional("weights", Type::Json, weights::read)
        .about("How a row's epsilon is shared, by column name; 1 where it says nothing.");

const RANDOMIZE_CELLS: Method = Method::release(
    "randomize_cells",
    &[&ROWS_OF, &EPSILON, &WEIGHTS, &COLUMNS, &KEEP, &SEED],
    Release::new(randomize_cells).made_of(Origin::KeptColumns).blanking(),
)
.about(
    "the rows of the relation with every cell randomised: kept or replaced by another value \
         of its public domain, so that a row is hidden with epsilon (local differential \
         privacy), which its columns share equally or by weights. Rows come in random order; \
         with keep or seed nothing is guaranteed",
)
.labelled(TERMS, |options| {
    let epsilon = options.get(&EPSILON)?;
    Responses::new(epsilon, &[])?;
    let coins = coins_of(options.get(&SEED)?);
    keeping(Guarantee::randomize_cells(epsilon, coins), options)
})
.priced(Protects::Contents, |arguments, _| Ok(Some(Charge::pure(arguments.get(&EPSILON)?))));

/// The probabilities with which cells of a source are randomised.
pub fn responses(
    source: &PublicSource,
    epsilon: f64,
    named: Option<&weights::Named>,
) -> Result<Responses> {
    let names: Vec<&str> = source.columns.iter().map(|column| column.name.as_str()).collect();
    let weights = weights::of_columns(named, &source.relation.name, &names)?;
    let mut columns = Vec::with_capacity(names.len());
    for (column, weight) in source.columns.iter().zip(weights) {
        if column.size() == 0 {
            return Err(Error::argument(
                format!("the domain of column \"{}\" has no values", column.name),
                "A cell is replaced by values of its domain: declare some, or leave the column out.",
            ));
        }
        columns.push(RandomisedColumn {
            values: column.values() as u32,
            nullable: column.nullable,
            weight,
        });
    }
    Ok(Responses::new(epsilon, &columns)?)
}

/// Values of columns that were randomised, and after them those of columns that are kept.
struct RandomisedValues<'a> {
    public: PublicValues<'a>,
    width: usize,
    kept: ReadValues<'a>,
}

impl Values for RandomisedValues<'_> {
    fn count(&self, column: usize) -> usize {
        if column < self.width { self.public.count(column) } else { self.kept.count(column) }
    }

    fn datum(&mut self, column: usize, code: u32) -> Datum {
        if column < self.width {
            self.public.datum(column, code)
        } else {
            self.kept.datum(column, code)
        }
    }
}

/// Refuses to leave out a column whose type forbids NULL: before the charge, and also if there are no rows.
fn check_left_out(relation: &Relation, positions: &[usize]) -> Result<()> {
    for (position, column) in relation.columns.iter().enumerate() {
        let is_domain = column.type_oid != column.base_type;
        if is_domain && !positions.contains(&position) && types::forbids_null(column.type_oid)? {
            return Err(Error::argument(
                format!("column \"{}\" is left out, and its type allows no NULL", column.name),
                "Columns that are left out come back NULL: name this one in columns.",
            ));
        }
    }
    Ok(())
}

fn randomize_cells(call: &ReleaseCall<'_>, rows: &mut ResultRows) -> Result<()> {
    let (epsilon, named) = (call.get(&EPSILON)?, call.get(&WEIGHTS)?);
    let mut coins = coins(call.get(&SEED)?)?;
    let relation = call.source()?;
    let (columns, keep) = chosen(call, &relation, None)?;
    check_left_out(&relation, &[&columns[..], &keep[..]].concat())?;
    let source = PublicSource::open(relation, columns)?;
    let responses = responses(&source, epsilon, named.as_ref())?;
    let terms = ledger::check_protecting(call, &source.relation, None)?;
    let bound = ledger::charge_call(call, &source.relation, terms.as_ref(), &source.positions)?;

    let mut table = match &bound {
        // No column of a protected relation is kept as it is.
        Some(bound) => source.read_charged(Some(bound))?,
        None => source.read_listed(&keep)?,
    };
    if call.arguments.has(&SEED)? {
        // The result must not depend on the order in which rows were read.
        let held = table.memory();
        pool::run("sorting", held, |watch| table.bag.sort(watch))?;
    }
    let recoding = source.recoding(&table.bag, &mut coins);
    let key = coins.key();
    let positions: Vec<usize> = source.positions.iter().chain(&keep).copied().collect();
    let values = RandomisedValues {
        width: responses.width(),
        kept: ReadValues::new(&table, &source.relation, &positions),
        public: source.made_values(&mut coins),
    };
    let mut rows = TypedRows::begin(rows, &source.relation, &positions, values)?;
    // A value that the type of a column refuses is an error even if it is not drawn.
    rows.make_values();

    let width = positions.len();
    let draw = Draw { table: &table, recoding, responses, key };
    let Some(layout) = rows.layout() else {
        let cells = |cells: &[u32], _| cells.to_vec();
        return draw.each(0, width * size_of::<u32>(), cells, |cells| {
            cells.chunks_exact(width).for_each(|row| rows.push(row, 1));
        });
    };
    // Tuples are laid out by the thread that has less to do.
    let made = |cells: &[u32], is_awaited| match is_awaited {
        true => Chunk::Cells(cells.to_vec()),
        false => Chunk::Tuples(layout.tuples(cells)),
    };
    draw.each(layout.memory(), layout.room().max(width * size_of::<u32>()), made, |chunk| {
        rows.push_tuples(&match chunk {
            Chunk::Cells(cells) => layout.tuples(&cells),
            Chunk::Tuples(tuples) => tuples,
        });
    })
}

/// Some rows that were drawn.
enum Chunk {
    Cells(Vec<u32>),
    Tuples(Tuples),
}

/// The table and the probabilities from which rows are drawn.
struct Draw<'a> {
    table: &'a CodedTable,
    recoding: Recoding,
    responses: Responses,
    key: Key,
}

impl Draw<'_> {
    /// Draws all rows. On the pool's threads, `made` converts the cells of a chunk into at most `size` bytes per row;
    /// it is told whether the backend's thread is idle, where `take` takes the result. The call holds `held` bytes in
    /// addition to the table.
    fn each<T: Send>(
        &self,
        held: u64,
        size: usize,
        made: impl Fn(&[u32], bool) -> T + Send + Sync,
        mut take: impl FnMut(T),
    ) -> Result<()> {
        const CHUNK: usize = RandomisedRows::CHUNK;
        let step = (PART / size / CHUNK * CHUNK).max(CHUNK);
        // One part is being drawn, one waits, one is being passed on.
        let held = self.table.memory() + held + 3 * (step * size) as u64;
        let job = |watch: &Watch, sender: &Sender<Vec<T>>| {
            let Draw { table, recoding, responses, key } = self;
            let mut rows =
                RandomisedRows::new(&table.bag, recoding, responses, key.clone(), watch)?;
            while let Some(part) = rows.next(step, |cells| made(cells, sender.is_awaited()))? {
                sender.send(part)?;
            }
            Ok::<_, Stop>(())
        };
        let drawing = |_: &Watch| String::from("rows are drawn");
        pool::run_sending("randomising", held, drawing, job, |part| {
            part.into_iter().for_each(&mut take);
        })
    }
}

const DOMAIN_SIZE: Argument<u32> = Argument::new("domain_size", Type::Int4, |given| {
    given.at_least(1, "domain_size is a number of values: 1 or more.")
})
.about("How many values a cell can have, NULL included.");

const RR_KEEP_PROBABILITY: Method = Method::new(
    "rr_keep_probability",
    &[&EPSILON, &DOMAIN_SIZE],
    Returns::One(Type::Float8),
    |call| {
        let (epsilon, size) = (call.get(&EPSILON)?, call.get(&DOMAIN_SIZE)?);
        Ratio::exact("epsilon", epsilon)?;
        call.value(cells::keep_probability(epsilon, size))
    },
)
.pure()
.about(
    "the probability that randomised response with this epsilon keeps the value of a cell \
         that can have so many",
);

const ITEMS_HINT: &str =
    "items has values by column name, as Postgres shows them: {\"sex\": \"F\", \"zip\": null}.";

/// An itemset by names of columns.
const ITEMS: Argument<Vec<(String, Option<String>)>> =
    Argument::new("items", Type::Json, |given| {
        let items = given.needed(given.json()?)?;
        let refuse = |what: &Json| Error::argument(format!("items has {what}"), ITEMS_HINT);
        let Json::Object(items) = items.as_ref() else { return Err(refuse(&items)) };
        if items.is_empty() {
            return Err(Error::argument("items is empty", ITEMS_HINT));
        }
        let item = |(name, value): (&String, &Json)| match value {
            Json::String(value) => Ok((name.clone(), Some(value.clone()))),
            Json::Null => Ok((name.clone(), None)),
            other => Err(refuse(other)),
        };
        items.iter().map(item).collect()
    })
    .about("The itemset: {\"sex\": \"F\", \"smoker\": \"t\"}; null is NULL.");

const DOMAINS_OF: Argument<Option<Oid>> = Argument::of("domains_of")
    .about("The relation whose public domains the cells were randomised in; the source itself if it is left out.");

const RR_SUPPORT: Method = Method::new(
    "rr_support",
    &[&RELATION, &ITEMS, &EPSILON, &WEIGHTS, &COLUMNS, &DOMAINS_OF],
    columns![estimate: Float8, stddev: Float8, rows: Int8],
    |call| {
        let items = call.get(&ITEMS)?;
        let columns = ItemColumns::of_call(call, &items)?;
        let table = reader::read(&columns.relation, &columns.positions)?;
        let (coded, factors) = columns.items(&items, &table.bag)?;
        let found = pool::run("estimating", table.memory(), |watch| {
            factors.estimate(&table.bag, &coded, watch)
        })?;
        let known = |value: f64| if value.is_nan() { Value::Null } else { Value::Float(value) };
        call.one_row([known(found.support), known(found.stddev), Value::count(found.rows)])
    },
)
.reading()
.rows(1)
.about(
    "the share of the true rows that have an itemset, estimated without bias from rows that \
         randomize_cells made with the same epsilon, weights and columns",
);

/// The columns of an itemset: their positions in the source of randomised rows, their public domains, and their shares
/// of epsilon.
struct ItemColumns {
    relation: Relation,
    positions: Vec<usize>,
    domains: PublicSource,
    epsilons: Vec<f64>,
}

impl ItemColumns {
    fn of_call(call: &Call, items: &[(String, Option<String>)]) -> Result<Self> {
        let relation = Relation::open(call.get(&RELATION)?)?;
        let randomised = relation.positions("columns", call.get(&COLUMNS)?.as_deref())?;
        let names: Vec<&str> =
            randomised.iter().map(|&position| relation.columns[position].name.as_str()).collect();
        let weights = weights::of_columns(call.get(&WEIGHTS)?.as_ref(), &relation.name, &names)?;
        let shares = cells::split(call.get(&EPSILON)?, &weights)?;
        let other =
            call.get(&DOMAINS_OF)?.map_or_else(|| Relation::open(relation.oid), Relation::open)?;
        let (mut places, mut public, mut epsilons) = (Vec::new(), Vec::new(), Vec::new());
        for (name, _) in items {
            let place = place(&relation.name, &names, name)?;
            places.push(randomised[place]);
            epsilons.push(shares[place].to_f64());
            public.push(other.position(name)?);
        }
        let domains = PublicSource::open(other, public)?;
        Ok(ItemColumns { relation, positions: places, domains, epsilons })
    }

    /// The items in the codes of the rows that were read, and the factors with which cells count for them.
    fn items(&self, items: &[(String, Option<String>)], bag: &Bag) -> Result<(Vec<Item>, Factors)> {
        let (mut coded, mut factors) = (Vec::new(), Vec::new());
        for (c, ((name, value), column)) in items.iter().zip(&self.domains.columns).enumerate() {
            let Public::Values(values) = &column.public else {
                return Err(Error::argument(
                    format!("column \"{name}\" has bins, and items name values"),
                    "Support can be estimated of columns with a list of values: declare it before the rows are randomised.",
                ));
            };
            if let Some(value) = value.as_ref().filter(|value| !values.contains(value)) {
                return Err(Error::argument(
                    format!("the domain of column \"{name}\" has no value \"{value}\""),
                    ITEMS_HINT,
                ));
            }
            // A value of the domain that no row shows has no code.
            let code = match value {
                Some(value) => bag.domain(c).find(&from_utf8(value)).unwrap_or(NONE - 1),
                None => NONE,
            };
            // CREATE TABLE AS does not copy NOT NULL, so a column counts as nullable only if rows have NULL.
            let nullable = value.is_none() || (0..bag.distinct()).any(|i| bag.row(i)[c] == NONE);
            let size = values.len() as u32 + u32::from(nullable);
            coded.push(Item { column: c as u32, code });
            factors.push(Factor::new(size, self.epsilons[c]));
        }
        Ok((coded, Factors::new(factors)))
    }
}

methods! {
    sanitize_randomize_cells => RANDOMIZE_CELLS;
    sanitize_rr_keep_probability => RR_KEEP_PROBABILITY;
    sanitize_rr_support => RR_SUPPORT;
}
