//! Tables drawn from dependent code trees, privately or not.

use super::arguments::{
    COLUMNS, EPSILON, MAX_LENGTH, RELATION, ROWS_OF, SEED, choice, coins, coins_of, number,
};
use super::fit::{self, CANDIDATES, NULLS};
use super::input::Input;
use super::ledger;
use super::public_source::PublicSource;
use super::randomize::{WEIGHTS, responses};
use crate::method::{Label, Method, methods};
use crate::pg::argument::{Argument, Given, Type};
use crate::pg::call::Call;
use crate::pg::error::Error;
use crate::pg::jsonb::{self, ItemsetJson};
use crate::pg::notice::notice_hint;
use crate::pg::pool::{self, Sender};
use crate::pg::reader;
use crate::pg::relation::Relation;
use crate::pg::rowset::{ResultRows, Value};
use crate::pg::signature::Returns;
use crate::pg::typed::{self, ReadValues, TypedRows};
use guarantee::{Charge, Guarantee};
use krimp::{
    Candidates, Channel, Classes, CodeTree, Nulls, Options, Progress, Sanitised, TreeGenerator, Walk,
    apportion,
};
use pgrx::pg_sys::Datum;
use random::{Coins, Key};
use randomize::cells::{Factors, RandomisedRows, Responses};
use serde_json::json;
use table::{Bag, Item, NONE, Reservation, Watch};

/// Cells that are drawn at a time: 16 MB of codes.
const CELLS: usize = 4 << 20;

/// Rows that are drawn at a time; a multiple of the rows that share a stream of random numbers.
const ROWS: u64 = 1 << 16;

const N: Argument<u64> = Argument {
    name: "n",
    of: Type::Int8,
    default: None,
    about: "How many rows are wanted.",
    read: |given| {
        let n = given.needed(given.int8()?)?;
        u64::try_from(n).map_err(|_| given.refuse(n, "n is a number of rows: 0 or more."))
    },
};

const CLASS: Argument<Option<String>> = Argument {
    name: "class",
    of: Type::Text,
    default: Some("null"),
    about: "A column by whose values rows are modelled and drawn apart.",
    read: |given| given.text(),
};

/// A share of the rows that has to be given.
const MIN_SUPPORT: Argument<f64> = Argument {
    name: "min_support",
    of: Type::Float8,
    default: None,
    about: "The share of the rows that must have what counts as frequent.",
    read: min_support,
};

/// The same, where a tenth will do.
const MIN_SUPPORT_OR_TENTH: Argument<f64> = Argument { default: Some("0.1"), ..MIN_SUPPORT };

fn min_support(given: &Given<'_>) -> Result<f64, Error> {
    let share = number(given)?;
    if share > 0.0 && share <= 1.0 {
        return Ok(share);
    }
    Err(given.refuse(share, "min_support is a share of the rows: above 0, and at most 1."))
}

const TREE_THRESHOLD: Argument<Option<f64>> = Argument {
    name: "tree_threshold",
    of: Type::Float8,
    default: Some("null"),
    about: "The share of the rows that patterns must occur together in more than to be joined in the tree; min_support if it is left out.",
    read: |given| match given.float8()? {
        Some(share) if !(0.0..1.0).contains(&share) => {
            Err(given.refuse(share, "tree_threshold is a share of the rows: 0 or more, and less than 1."))
        }
        share => Ok(share),
    },
};

const GENERATOR: Argument<Walk> = Argument {
    name: "generator",
    of: Type::Text,
    default: Some("\"backoff\""),
    about: "How rows go through the tree: 'backoff', the longest path that fits decides, or 'literal', as published.",
    read: choice,
};

/// What a tree of plain rows is asked for.
struct Asked {
    min_support: f64,
    threshold: f64,
    max_length: Option<usize>,
    nulls: Nulls,
    candidates: Candidates,
}

impl Asked {
    fn of_call(call: &Call, min_support: &Argument<f64>) -> Result<Self, Error> {
        let min_support = call.get(min_support)?;
        Ok(Asked {
            min_support,
            threshold: call.get(&TREE_THRESHOLD)?.unwrap_or(min_support),
            max_length: call.get(&MAX_LENGTH)?,
            nulls: call.get(&NULLS)?,
            candidates: call.get(&CANDIDATES)?,
        })
    }

    /// The tree of a bag with rows; `held` are the bytes that the call holds already.
    fn tree(&self, bag: &Bag, held: u64) -> Result<CodeTree, Error> {
        let least = measures::least_support(self.min_support, bag.row_count());
        let options = Options {
            max_length: self.max_length,
            nulls: self.nulls,
            candidates: self.candidates,
            ..Options::new(least)
        };
        let table = fit::fit(bag, held, &options)?;
        pool::run("building the tree", held, |watch| {
            krimp::code_tree(bag, &table, self.nulls, self.threshold, watch)
        })
    }
}

const CODE_TREE: Method = Method {
    name: "code_tree",
    arguments: &[
        &RELATION,
        &MIN_SUPPORT,
        &TREE_THRESHOLD,
        &COLUMNS,
        &MAX_LENGTH,
        &NULLS,
        &CANDIDATES,
    ],
    returns: Returns::Table(&[
        ("node", Type::Int4),
        ("parent", Type::Int4),
        ("item", Type::Json),
        ("probability", Type::Float8),
    ]),
    run: code_tree,
    label: None,
    price: None,
};

fn code_tree(call: &Call) -> Result<Datum, Error> {
    let asked = Asked::of_call(call, &MIN_SUPPORT)?;
    let names = call.get(&COLUMNS)?;
    let relation = Relation::open(call.get(&RELATION)?)?;
    let columns = relation.positions("columns", names.as_deref())?;
    let bag = reader::read(&relation, &columns)?.bag;
    let input = Input { name: relation.name, bag }.with_rows()?;
    let tree = asked.tree(&input.bag, input.bag.memory())?;
    let nulls = null_items(&tree, &input.bag)?;
    let mut rows = ResultRows::begin(call)?;
    let json = ItemsetJson::new(&input.bag);
    for (number, node) in tree.nodes().iter().enumerate() {
        let item = |item: &Item| match nulls[item.column as usize] {
            Some((code, null)) if code == item.code => null,
            _ => json.datum(&[*item]),
        };
        let parent = node.parent.map_or(Value::Null, |parent| Value::Int(parent as i32));
        let probability = Value::Float(node.probability);
        match &node.item {
            None => rows.push([Value::Int(number as i32), parent, Value::Null, probability]),
            Some(of) => {
                let made = || item(of);
                rows.push([Value::Int(number as i32), parent, Value::Made(&made), probability]);
            }
        }
    }
    Ok(rows.finish(call))
}

/// By column, where NULL is an item: its code, and the item as jsonb.
fn null_items(tree: &CodeTree, bag: &Bag) -> Result<Vec<Option<(u32, Datum)>>, Error> {
    let null = |(column, domain): (u32, &std::sync::Arc<table::Domain>)| {
        let Some(code) = tree.null_code(column) else { return Ok(None) };
        Ok(Some((code, jsonb::datum(&json!({ domain.name(): null }))?)))
    };
    (0..).zip(bag.domains()).map(null).collect()
}

/// Draws rows and hands them on; `held` are the bytes that the call holds already.
fn draw(
    tree: &CodeTree,
    walk: Walk,
    n: u64,
    key: &Key,
    held: u64,
    mut emit: impl FnMut(&[u32]),
) -> Result<(), Error> {
    const CHUNK: u64 = TreeGenerator::CHUNK;
    let width = tree.width();
    let step = (CELLS as u64 / width.max(1) as u64 / CHUNK * CHUNK).clamp(CHUNK, ROWS);
    // One part is drawn, one waits, one is handed on; the generator has the tree in a form of its own.
    let parts = 4 * step.min(n) * width as u64 * size_of::<u32>() as u64;
    let held = held + 2 * tree.memory() + parts;
    let drawing = |_: &Watch| String::from("rows are drawn");
    let job = |watch: &Watch, sender: &Sender<(), Vec<u32>>| {
        let generator = TreeGenerator::new(tree, walk);
        let mut start = 0;
        while start < n {
            let rows = step.min(n - start);
            let stream = |chunk| key.stream(chunk);
            sender.send(generator.rows(start, rows as usize, stream, watch)?)?;
            start += rows;
        }
        Ok(())
    };
    pool::run_sending("generating", held, drawing, job, |cells| {
        cells.chunks_exact(width.max(1)).for_each(&mut emit);
    })
}

/// Where a relation has the columns of a call: those that are drawn, and after them the class, if any.
fn columns_and_class(call: &Call, relation: &Relation) -> Result<(Vec<usize>, bool), Error> {
    let names = call.get(&COLUMNS)?;
    let class = call.get(&CLASS)?.map(|name| relation.position(&name)).transpose()?;
    let mut columns = relation.positions("columns", names.as_deref())?;
    columns.retain(|&position| Some(position) != class);
    if columns.is_empty() {
        return Err(Error::argument(
            "no column is left beside the class",
            "Name further columns, or leave class out.",
        ));
    }
    columns.extend(class);
    Ok((columns, class.is_some()))
}

const CODE_TREE_GENERATE: Method = Method {
    name: "code_tree_generate",
    arguments: &[
        &ROWS_OF,
        &N,
        &MIN_SUPPORT_OR_TENTH,
        &TREE_THRESHOLD,
        &GENERATOR,
        &COLUMNS,
        &MAX_LENGTH,
        &CLASS,
        &SEED,
        &NULLS,
        &CANDIDATES,
    ],
    returns: Returns::Set(Type::Any),
    run: code_tree_generate,
    label: Some(Label {
        further: &[],
        of: |options| {
            let (class, seed) = (options.get(&CLASS)?, options.get(&SEED)?);
            Ok(Guarantee::code_tree_generate(class.as_deref(), coins_of(seed)))
        },
    }),
    price: None,
};

/// `code_tree_generate`: a tree, or one per class, and rows drawn from it.
fn code_tree_generate(call: &Call) -> Result<Datum, Error> {
    let (n, walk) = (call.get(&N)?, call.get(&GENERATOR)?);
    let asked = Asked::of_call(call, &MIN_SUPPORT_OR_TENTH)?;
    let mut coins = coins(call.get(&SEED)?)?;
    let relation = typed::relation(call.get(&ROWS_OF)?)?;
    let (columns, by_class) = columns_and_class(call, &relation)?;
    let table = reader::read(&relation, &columns)?;
    if table.bag.row_count() == 0 {
        return Err(Error::Empty { relation: relation.name, of: "rows" });
    }
    let values = ReadValues::new(&table, &relation, &columns);
    let mut rows = TypedRows::begin(call, &relation, &columns, values)?;
    let held = table.memory();
    if !by_class {
        let tree = asked.tree(&table.bag, held)?;
        draw(&tree, walk, n, &coins.key(), held, |cells| rows.push(cells, 1))?;
        return Ok(rows.finish(call));
    }
    let last = columns.len() - 1;
    let classes = Classes::new(&table.bag, last);
    let mut row = vec![NONE; columns.len()];
    let shares = apportion(n, &classes.sizes());
    for (class, &share) in shares.iter().enumerate().filter(|&(_, &share)| share > 0) {
        let bag = pool::run("choosing rows", held, |watch| classes.bag(class, watch))?;
        let held = held + bag.memory();
        let tree = asked.tree(&bag, held)?;
        row[last] = classes.code(class);
        draw(&tree, walk, share, &coins.key(), held, |cells| {
            row[..last].copy_from_slice(cells);
            rows.push(&row, 1);
        })?;
    }
    Ok(rows.finish(call))
}

const PRIVATE_KRIMP_GENERATE: Method = Method {
    name: "private_krimp_generate",
    arguments: &[
        &ROWS_OF,
        &EPSILON,
        &N,
        &MIN_SUPPORT_OR_TENTH,
        &TREE_THRESHOLD,
        &GENERATOR,
        &WEIGHTS,
        &COLUMNS,
        &MAX_LENGTH,
        &SEED,
        &CLASS,
    ],
    returns: Returns::Set(Type::Any),
    run: private_krimp_generate,
    label: Some(Label {
        further: &[],
        of: |options| {
            let epsilon = options.get(&EPSILON)?;
            Responses::new(epsilon, &[])?;
            Ok(Guarantee::private_krimp_generate(epsilon, coins_of(options.get(&SEED)?)))
        },
    }),
    price: Some(|arguments, _| Ok(Some(Charge::pure(arguments.get(&EPSILON)?)))),
};

/// `private_krimp_generate`: rows are read and randomised by [`sanitise`], the rest sees what it returns.
fn private_krimp_generate(call: &Call) -> Result<Datum, Error> {
    let wanted = Wanted::of_call(call)?;
    let (epsilon, weights) = (call.get(&EPSILON)?, call.get(&WEIGHTS)?);
    let mut coins = coins(call.get(&SEED)?)?;
    let relation = typed::relation(call.get(&ROWS_OF)?)?;
    let (columns, by_class) = columns_and_class(call, &relation)?;
    let source = PublicSource::open(relation, columns)?;
    let responses = responses(&source, epsilon, weights.as_ref())?;
    ledger::check_protecting(call, &source.relation, None)?;
    if let Some(charge) = call.price(responses.width())? {
        ledger::charge_for_rows(&source.relation, call.method.name, &charge)?;
    }

    let sanitised = sanitise(&source, &responses, &mut coins)?;
    wanted.tell_noise(&channels(&responses), sanitised.row_count());
    // A key of its own for rows, and the rest of the coins for values within bins.
    let key = coins.key();
    let values = source.made_values(&mut coins);
    let mut rows = TypedRows::begin(call, &source.relation, &source.positions, values)?;
    let emit = |row: &[u32]| rows.push(row, 1);
    match by_class {
        true => wanted.generate_by_class(&sanitised, &key, emit)?,
        false => wanted.generate(&sanitised, &key, wanted.n, emit)?,
    }
    Ok(rows.finish(call))
}

/// Reads the rows of a source and randomises each of their cells, once. What the source had is gone when
/// this returns.
fn sanitise(
    source: &PublicSource,
    responses: &Responses,
    coins: &mut Coins,
) -> Result<Sanitised, Error> {
    let table = source.read_coded(&[])?;
    let recoding = source.recoding(&table.bag, coins);
    let key = coins.key();
    let nullable: Vec<bool> = source.columns.iter().map(|column| column.nullable).collect();
    let (width, domains) = (responses.width(), source.domains().to_vec());
    let step = ((CELLS >> 4) / width.max(1) / RandomisedRows::CHUNK).max(1) * RandomisedRows::CHUNK;
    pool::run("randomising", table.memory(), |watch| {
        let mut drawn = RandomisedRows::new(&table.bag, &recoding, responses, key, watch)?;
        let no_rows = table.bag.filter(|_| false).recoded(&recoding, domains, watch)?;
        let (mut builder, mut held) = (no_rows.builder(), Reservation::new(watch));
        let _part = watch.hold((step * width * size_of::<u32>()) as u64)?;
        while let Some(cells) = drawn.next(step)? {
            for (i, row) in cells.chunks_exact(width.max(1)).enumerate() {
                watch.poll_with(i, || held.raise(builder.memory()))?;
                builder.add(row, 1);
            }
        }
        Sanitised::new(&builder.finish(), &nullable, channels(responses), watch)
    })
}

/// What randomised cells count for the values of their columns.
fn channels(responses: &Responses) -> Vec<Channel> {
    let factors = Factors::from(responses);
    let channel = |column| {
        let factor = factors.column(column);
        Channel { shown: factor.shown, not_shown: factor.not_shown }
    };
    (0..responses.width()).map(channel).collect()
}

/// What is wanted of randomised rows. Nothing here can reach the source.
struct Wanted {
    n: u64,
    min_support: f64,
    threshold: f64,
    max_length: Option<usize>,
    walk: Walk,
}

impl Wanted {
    fn of_call(call: &Call) -> Result<Self, Error> {
        let min_support = call.get(&MIN_SUPPORT_OR_TENTH)?;
        Ok(Wanted {
            n: call.get(&N)?,
            min_support,
            threshold: call.get(&TREE_THRESHOLD)?.unwrap_or(min_support),
            max_length: call.get(&MAX_LENGTH)?,
            walk: call.get(&GENERATOR)?,
        })
    }

    /// Says if no pattern can be found: from epsilon, the domains and the number of rows alone.
    fn tell_noise(&self, channels: &[Channel], rows: u64) {
        if let Some(noise) = Sanitised::pair_noise(channels, rows)
            && noise > self.min_support / 2.0
        {
            notice_hint(
                &format!(
                    "private_krimp_generate: columns are drawn independently of each other: the share of a pair of values could be estimated to within {noise:.2} at best, too coarse for a min_support of {}",
                    self.min_support
                ),
                "Raise epsilon or min_support, or name fewer columns: each takes its part of epsilon.",
            );
        }
    }

    /// Draws rows from the tree of randomised rows.
    fn generate(
        &self,
        sanitised: &Sanitised,
        key: &Key,
        n: u64,
        emit: impl FnMut(&[u32]),
    ) -> Result<(), Error> {
        let held = sanitised.memory();
        let progress = Progress::new();
        let tell = || fit::told(progress.snapshot());
        let tree = fit::run("fitting", held, tell, |watch| {
            sanitised.tree(self.min_support, self.threshold, self.max_length, watch, &progress)
        })??;
        draw(&tree, self.walk, n, key, held, emit)
    }

    /// The same by class: the last column is the class, as it was randomised.
    fn generate_by_class(
        &self,
        sanitised: &Sanitised,
        key: &Key,
        mut emit: impl FnMut(&[u32]),
    ) -> Result<(), Error> {
        let held = sanitised.memory();
        let last = sanitised.width() - 1;
        let shares = pool::run("estimating", held, |watch| sanitised.shares(last, watch))?;
        let mut sizes: Vec<u64> = shares.iter().map(|share| (share * 2f64.powi(40)) as u64).collect();
        if sizes.iter().all(|&size| size == 0) {
            sizes.fill(1);
        }
        let null = sanitised.null_code(last);
        let mut row = vec![NONE; last + 1];
        for (code, n) in (0..).zip(apportion(self.n, &sizes)).filter(|&(_, n)| n > 0) {
            let class =
                pool::run("choosing rows", held, |watch| sanitised.class(last, code, watch))?;
            row[last] = if Some(code) == null { NONE } else { code };
            self.generate(&class, &key.step(u64::from(code)), n, |cells| {
                row[..last].copy_from_slice(cells);
                emit(&row);
            })?;
        }
        Ok(())
    }
}

methods! {
    sanitize_code_tree => CODE_TREE;
    sanitize_code_tree_generate => CODE_TREE_GENERATE;
    sanitize_private_krimp_generate => PRIVATE_KRIMP_GENERATE;
}
