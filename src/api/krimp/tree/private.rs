//! Rows drawn from the code tree of randomised rows.

use super::{GENERATOR, TREE_THRESHOLD, draw};
use crate::api::krimp::fit::{self, columns_and_class};
use crate::api::prelude::*;
use crate::api::randomize::cells::{WEIGHTS, responses};
use crate::rules::charged_rows::Bound;
use krimp::{Channel, Progress, Sanitised, Walk, apportion};
use random::Key;
use randomize::cells::{Factors, RandomisedRows, Responses};
use table::Reservation;

/// Cells that are randomised at a time: 4 MB of codes.
const PART: usize = 1 << 20;

pub const PRIVATE_KRIMP_GENERATE: Method = Method::release(
    "private_krimp_generate",
    &[
        &ROWS_OF,
        &EPSILON,
        &N,
        &MIN_SHARE_OR_TENTH,
        &TREE_THRESHOLD,
        &GENERATOR,
        &WEIGHTS,
        &COLUMNS,
        &MAX_LENGTH,
        &SEED,
        &CLASS,
    ],
    Release::new(private_krimp_generate),
)
.about(
    "n rows of the relation's type, drawn from a code tree of its rows after every cell of \
         them was randomised: epsilon-locally differentially private for each row, as \
         sanitize.randomize_cells is; columns need public domains",
)
.labelled(TERMS, |options| {
    let epsilon = options.get(&EPSILON)?;
    Responses::new(epsilon, &[])?;
    Ok(Guarantee::private_krimp_generate(epsilon, coins_of(options.get(&SEED)?)))
})
.priced(Protects::Contents, |arguments, _| Ok(Some(Charge::pure(arguments.get(&EPSILON)?))));

/// `private_krimp_generate`: rows are read and randomised by [`sanitise`]; everything after that uses only what it
/// returns.
fn private_krimp_generate(call: &ReleaseCall<'_>, rows: &mut ResultRows) -> Result<()> {
    let wanted = Wanted::of_call(call)?;
    let (epsilon, weights) = (call.get(&EPSILON)?, call.get(&WEIGHTS)?);
    let mut coins = coins(call.get(&SEED)?)?;
    let relation = call.source()?;
    let (columns, by_class) = columns_and_class(call, &relation)?;
    let source = PublicSource::open(relation, columns)?;
    let responses = responses(&source, epsilon, weights.as_ref())?;
    let terms = ledger::check_protecting(call, &source.relation, None)?;
    let bound = ledger::charge_call(call, &source.relation, terms.as_ref(), &source.positions)?;

    let sanitised = sanitise(&source, bound.as_ref(), &responses, &mut coins)?;
    wanted.tell_noise(&channels(&responses), sanitised.row_count());
    // Rows are drawn with a separate key, values within bins with the other coins.
    let key = coins.key();
    let values = source.made_values(&mut coins);
    let mut rows = TypedRows::begin(rows, &source.relation, &source.positions, values)?;
    rows.make_values();
    let emit = |row: &[u32]| rows.push(row, 1);
    match by_class {
        true => wanted.generate_by_class(&sanitised, &key, emit),
        false => wanted.generate(&sanitised, &key, wanted.n, emit),
    }
}

/// Reads the rows of a source and randomises each of their cells, once. The original values are freed when this
/// returns.
fn sanitise(
    source: &PublicSource,
    bound: Option<&Bound>,
    responses: &Responses,
    coins: &mut Coins,
) -> Result<Sanitised> {
    let table = source.read_charged(bound)?;
    let recoding = source.recoding(&table.bag, coins);
    let key = coins.key();
    let nullable: Vec<bool> = source.columns.iter().map(|column| column.nullable).collect();
    let (width, domains) = (responses.width(), source.domains().to_vec());
    let step = (PART / width.max(1) / RandomisedRows::CHUNK).max(1) * RandomisedRows::CHUNK;
    pool::run("randomising", table.memory(), |watch| {
        let mut drawn = RandomisedRows::new(&table.bag, &recoding, responses, key, watch)?;
        let no_rows = table.bag.filter(|_| false).recoded(&recoding, domains, watch)?;
        let (mut builder, mut held) = (no_rows.builder(), Reservation::new(watch));
        let _part = watch.hold((step * width * size_of::<u32>()) as u64)?;
        while let Some(chunks) = drawn.next(step, <[u32]>::to_vec)? {
            let rows = chunks.iter().flat_map(|cells| cells.chunks_exact(width.max(1)));
            for (i, row) in rows.enumerate() {
                watch.poll_with(i, || held.raise(builder.memory()))?;
                builder.add(row, 1);
            }
        }
        Sanitised::new(&builder.finish(), &nullable, channels(responses), watch)
    })
}

/// For each column, how randomised cells count for its values.
fn channels(responses: &Responses) -> Vec<Channel> {
    let factors = Factors::from(responses);
    let channel = |column| {
        let factor = factors.column(column);
        Channel { shown: factor.shown, not_shown: factor.not_shown }
    };
    (0..responses.width()).map(channel).collect()
}

/// The arguments for trees of randomised rows. Nothing here can reach the source.
struct Wanted {
    n: u64,
    min_share: f64,
    threshold: f64,
    max_length: Option<usize>,
    walk: Walk,
}

impl Wanted {
    fn of_call(call: &ReleaseCall<'_>) -> Result<Self> {
        let min_share = call.get(&MIN_SHARE_OR_TENTH)?;
        Ok(Wanted {
            n: call.get(&N)?,
            min_share,
            threshold: call.get(&TREE_THRESHOLD)?.unwrap_or(min_share),
            max_length: call.get(&MAX_LENGTH)?,
            walk: call.get(&GENERATOR)?,
        })
    }

    /// A notice if no pattern can be found, decided by epsilon, the domains and the number of rows alone.
    fn tell_noise(&self, channels: &[Channel], rows: u64) {
        if let Some(noise) = Sanitised::pair_noise(channels, rows)
            && noise > self.min_share / 2.0
        {
            notice_hint(
                "private_krimp_generate: columns are drawn independently of each other: with this epsilon and so many rows and columns, shares of pairs of values cannot be told to within half of min_share",
                "Raise epsilon or min_share, or name fewer columns: each takes its part of epsilon.",
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
    ) -> Result<()> {
        let held = sanitised.memory();
        let progress = Progress::new();
        let tell = |_: &Watch| fit::told(progress.snapshot());
        let tree = pool::run_telling("fitting", held, tell, |watch| {
            sanitised.tree(self.min_share, self.threshold, self.max_length, watch, &progress)
        })?;
        draw(&tree, self.walk, n, key, held, emit)
    }

    /// The same by class: the last column is the class, as it was randomised.
    fn generate_by_class(
        &self,
        sanitised: &Sanitised,
        key: &Key,
        mut emit: impl FnMut(&[u32]),
    ) -> Result<()> {
        let held = sanitised.memory();
        let last = sanitised.width() - 1;
        let shares = pool::run("estimating", held, |watch| sanitised.shares(last, watch))?;
        let mut sizes: Vec<u64> =
            shares.iter().map(|share| (share * 2f64.powi(40)) as u64).collect();
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
