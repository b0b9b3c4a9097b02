//! Cells that are randomised, and what can be learned from them.

use super::arguments::{COLUMNS, EPSILON, KEEP, ROWS_OF, SEED, coins, coins_of};
use super::ledger;
use super::public_source::{PublicSource, PublicValues};
use super::release::keeping;
use super::typed_source::chosen;
use super::weights;
use crate::method::{Label, Method, methods};
use crate::pg::argument::{Argument, Type};
use crate::pg::call::Call;
use crate::pg::error::Error;
use crate::pg::pool::{self, Sender};
use crate::pg::signature::Returns;
use crate::pg::typed::{self, ReadValues, TypedRows, Values};
use guarantee::{Charge, Guarantee};
use pgrx::pg_sys::Datum;
use randomize::cells::{Column, RandomisedRows, Responses};
use table::Watch;

/// Cells that are drawn at a time: 4 MB of codes.
const CELLS: usize = 1 << 20;

/// How much of a row's epsilon each column gets.
const WEIGHTS: Argument<Option<weights::Named>> = Argument {
    name: "weights",
    of: Type::Json,
    default: Some("null"),
    about: "How a row's epsilon is shared, by column name; 1 where it says nothing.",
    read: weights::read,
};

const RANDOMIZE_CELLS: Method = Method {
    name: "randomize_cells",
    arguments: &[&ROWS_OF, &EPSILON, &WEIGHTS, &COLUMNS, &KEEP, &SEED],
    returns: Returns::Set(Type::Any),
    run: randomize_cells,
    label: Some(Label {
        further: &[],
        of: |options| {
            let epsilon = options.get(&EPSILON)?;
            Responses::new(epsilon, &[])?;
            let coins = coins_of(options.get(&SEED)?);
            keeping(Guarantee::randomize_cells(epsilon, coins), options)
        },
    }),
    price: Some(|arguments, _| Ok(Some(Charge::pure(arguments.get(&EPSILON)?)))),
};

/// The law by which rows of a source are randomised.
fn responses(
    source: &PublicSource,
    epsilon: f64,
    named: Option<&weights::Named>,
) -> Result<Responses, Error> {
    let names: Vec<&str> = source.columns.iter().map(|column| column.name.as_str()).collect();
    let weights = match named {
        Some(named) => weights::of_columns(named, &source.relation.name, &names)?,
        None => vec![1.0; names.len()],
    };
    let mut columns = Vec::with_capacity(names.len());
    for (column, weight) in source.columns.iter().zip(weights) {
        if column.size() == 0 {
            return Err(Error::argument(
                format!("the domain of column \"{}\" has no values", column.name),
                "A cell is replaced by values of its domain: declare some, or leave the column out.",
            ));
        }
        columns.push(Column {
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

fn randomize_cells(call: &Call) -> Result<Datum, Error> {
    let (epsilon, named) = (call.get(&EPSILON)?, call.get(&WEIGHTS)?);
    let mut coins = coins(call.get(&SEED)?)?;
    let relation = typed::relation(call.get(&ROWS_OF)?)?;
    let (columns, keep) = chosen(call, &relation)?;
    let source = PublicSource::open(relation, columns)?;
    let responses = responses(&source, epsilon, named.as_ref())?;
    ledger::check_protecting(call, &source.relation, None)?;
    if let Some(charge) = call.price(responses.width())? {
        ledger::charge_for_rows(&source.relation, call.method.name, &charge)?;
    }

    let table = source.read_coded(&keep)?;
    let recoding = source.recoding(&table.bag, &mut coins);
    let key = coins.key();
    let positions: Vec<usize> = source.positions.iter().chain(&keep).copied().collect();
    let values = RandomisedValues {
        width: responses.width(),
        kept: ReadValues::new(&table, &source.relation, &positions),
        public: source.made_values(&mut coins),
    };
    let mut rows = TypedRows::begin(call, &source.relation, &positions, values)?;
    // What the type of a column refuses is an error whether it is drawn or not.
    rows.make_values();

    let width = positions.len();
    const CHUNK: usize = RandomisedRows::CHUNK;
    let step = (CELLS / width / CHUNK * CHUNK).max(CHUNK);
    // One part is drawn, one waits, one is handed on.
    let parts = 3 * (step * width * size_of::<u32>()) as u64;
    let draw = |watch: &Watch, sender: &Sender<(), Vec<u32>>| {
        let rows = RandomisedRows::new(&table.bag, &recoding, &responses, key, watch)?;
        for start in (0..rows.len()).step_by(step) {
            sender.send(rows.rows(start, step, watch)?)?;
        }
        Ok(())
    };
    let drawing = |_: &Watch| String::from("rows are drawn");
    pool::run_sending("randomising", table.memory() + parts, drawing, draw, |cells| {
        for row in cells.chunks_exact(width) {
            rows.push(row, 1);
        }
    })?;
    Ok(rows.finish(call))
}

methods! {
    sanitize_randomize_cells => RANDOMIZE_CELLS;
}
