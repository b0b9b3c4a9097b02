//! Randomises all rows of a bag, in a random order and on several threads.

use super::Responses;
use super::response::BLOCK;
use rand::Rng;
use random::{Key, below};
use rayon::prelude::*;
use table::{Bag, Recoding, Reservation, Stop, Watch};

/// The rows of a bag, each randomised by itself, in an order that is independent of the bag's. Rows are drawn part by
/// part; the result depends on the key alone, not on the parts or the number of threads.
pub struct RandomisedRows<'a> {
    bag: &'a Bag,
    recoding: &'a Recoding,
    responses: &'a Responses,
    watch: &'a Watch,
    /// The key of the cells' streams.
    key: Key,
    /// The bag's rows, each as often as it occurs: first the rows that were already drawn, in their order.
    order: Vec<u32>,
    drawn: usize,
    /// The coins of the order.
    coins: Box<dyn Rng + Send>,
    _held: Reservation<'a>,
}

impl<'a> RandomisedRows<'a> {
    /// The number of rows that share a stream of random numbers.
    pub const CHUNK: usize = 512;

    /// The first columns of the bag will be recoded and randomised; the other columns are returned unchanged.
    pub fn new(
        bag: &'a Bag,
        recoding: &'a Recoding,
        responses: &'a Responses,
        key: Key,
        watch: &'a Watch,
    ) -> Result<Self, Stop> {
        let held = watch.hold(bag.row_count().saturating_mul(size_of::<u32>() as u64))?;
        let mut order = Vec::with_capacity(usize::try_from(bag.row_count()).unwrap_or(usize::MAX));
        for (row, &weight) in bag.weights().iter().enumerate() {
            for _ in 0..weight {
                watch.poll(order.len())?;
                order.push(row as u32);
            }
        }
        let coins = Box::new(key.step(0).stream(0));
        let key = key.step(1);
        Ok(RandomisedRows {
            bag,
            recoding,
            responses,
            watch,
            key,
            order,
            drawn: 0,
            coins,
            _held: held,
        })
    }

    /// Draws the next `count` rows, a multiple of [`RandomisedRows::CHUNK`], or the remaining ones; `None` at the
    /// end. Returns what `made` makes of the cells of each chunk, on the thread that drew them.
    pub fn next<T: Send>(
        &mut self,
        count: usize,
        made: impl Fn(&[u32]) -> T + Sync,
    ) -> Result<Option<Vec<T>>, Stop> {
        let (start, width) = (self.drawn, self.bag.width());
        let end = self.order.len().min(start.saturating_add(count));
        if start == end {
            return Ok(None);
        }
        self.shuffle_to(end)?;
        self.drawn = end;
        let order = &self.order[start..end];
        let first = (start / Self::CHUNK) as u64;
        let RandomisedRows { bag, recoding, responses, watch, ref key, .. } = *self;
        let chunks = order.par_chunks(Self::CHUNK).enumerate().map_init(
            || vec![0; Self::CHUNK * width],
            |cells, (i, order)| {
                watch.check()?;
                let cells = &mut cells[..order.len() * width];
                draw(bag, recoding, responses, cells, order, &mut key.stream(first + i as u64));
                Ok(made(cells))
            },
        );
        chunks.collect::<Result<Vec<T>, Stop>>().map(Some)
    }

    /// Fixes the order up to `end`: Fisher and Yates from the front, so that the order need not be fixed for all rows
    /// before the first is drawn.
    fn shuffle_to(&mut self, end: usize) -> Result<(), Stop> {
        for i in self.drawn..end {
            self.watch.poll(i)?;
            let left = (self.order.len() - i) as u64;
            self.order.swap(i, i + below(&mut self.coins, left) as usize);
        }
        Ok(())
    }
}

/// Draws the rows with these numbers, some at a time. All rows are fetched before the first is drawn, so that their
/// memory accesses overlap, and then drawn column by column.
fn draw<R: Rng>(
    bag: &Bag,
    recoding: &Recoding,
    responses: &Responses,
    cells: &mut [u32],
    order: &[u32],
    rng: &mut R,
) {
    let width = bag.width().max(1);
    for (rows, order) in cells.chunks_mut(BLOCK * width).zip(order.chunks(BLOCK)) {
        for (to, &row) in rows.chunks_exact_mut(width).zip(order) {
            to.copy_from_slice(bag.row(row as usize));
        }
        for column in 0..responses.width() {
            let recode = |code| recoding.cell(column, code);
            responses.randomise_column(column, rows, width, recode, rng);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::RandomisedColumn;
    use super::*;
    use random::Coins;
    use random::testing::{assert_fits, uniform};
    use table::NONE;

    /// `copies` rows of every pair of two columns; the second column is kept, the first has codes 0, 1 and
    /// NULL. The recoding swaps 0 and 1.
    fn bag(copies: usize) -> (Bag, Recoding) {
        let rows = (0..copies)
            .flat_map(|_| [["a", "x"], ["b", "y"], ["b", "z"], ["", "w"]])
            .map(|[a, b]| [Some(a).filter(|a| !a.is_empty()), Some(b)]);
        let recoding = Recoding { codes: vec![vec![1, 0]], nulls: vec![NONE] };
        (Bag::from_text(2, rows), recoding)
    }

    fn responses(epsilon: f64) -> Responses {
        Responses::new(epsilon, &[RandomisedColumn { values: 2, nullable: true, weight: 1.0 }])
            .unwrap()
    }

    fn draw(copies: usize, epsilon: f64, parts: &[usize], threads: usize) -> Vec<u32> {
        let (bag, recoding) = bag(copies);
        let (responses, watch) = (responses(epsilon), Watch::unlimited());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let key = Coins::seeded(4).key();
            let mut rows = RandomisedRows::new(&bag, &recoding, &responses, key, &watch).unwrap();
            let mut all = Vec::new();
            for &part in parts.iter().cycle() {
                match rows.next(part, <[u32]>::to_vec).unwrap() {
                    Some(cells) => all.extend(cells.concat()),
                    None => break,
                }
            }
            all
        })
    }

    #[test]
    fn rows_depend_on_the_key_alone() {
        const CHUNK: usize = RandomisedRows::CHUNK;
        let once = draw(2000, 1.0, &[usize::MAX], 1);
        assert_eq!(once.len(), 16_000);
        assert_eq!(once, draw(2000, 1.0, &[CHUNK, 2 * CHUNK], 4));
    }

    #[test]
    fn nearly_everything_is_kept_at_a_large_epsilon() {
        let cells = draw(50, 200.0, &[usize::MAX], 2);
        for row in cells.chunks(2) {
            // w, x, y and z by the code of the kept column.
            assert_eq!(row[0], [NONE, 1, 0, 0][row[1] as usize]);
        }
    }

    #[test]
    fn the_order_has_nothing_to_do_with_the_bags() {
        let (bag, recoding) = bag(1);
        let (responses, watch) = (responses(1.0), Watch::unlimited());
        let mut coins = Coins::seeded(9);
        assert_fits(&uniform(4), 4000, || {
            let mut rows =
                RandomisedRows::new(&bag, &recoding, &responses, coins.key(), &watch).unwrap();
            i64::from(rows.next(4, |cells| cells[5]).unwrap().unwrap()[0])
        });
    }

    /// For every key the first cell of the first row follows its law, a value or NULL.
    #[test]
    fn cells_of_a_bag_follow_their_law() {
        let e = 1f64.exp();
        for (value, code) in [(Some("a"), 1), (None, 2)] {
            let known = value.iter().map(|_| 1).collect();
            let recoding = Recoding { codes: vec![known], nulls: vec![NONE] };
            let bag = Bag::from_text(1, [[value]]);
            let (responses, watch) = (responses(1.0), Watch::unlimited());
            let mut coins = Coins::seeded(10);
            let mut law = [1.0 / (e + 2.0); 3];
            law[code] = e / (e + 2.0);
            assert_fits(&law, 10_000, || {
                let mut rows =
                    RandomisedRows::new(&bag, &recoding, &responses, coins.key(), &watch).unwrap();
                i64::from(rows.next(1, |cells| cells[0].min(2)).unwrap().unwrap()[0])
            });
        }
    }

    #[test]
    fn limits_are_obeyed() {
        let (bag, recoding) = bag(100);
        let responses = responses(1.0);
        let new = |watch: Watch| {
            let key = Coins::seeded(4).key();
            RandomisedRows::new(&bag, &recoding, &responses, key, &watch)
                .map(|rows| rows.order.len())
        };
        assert_eq!(new(Watch::new(1000, 0)), Err(Stop::Memory { limit: 1000 }));
        let cancelled = Watch::unlimited();
        cancelled.cancel();
        assert_eq!(new(cancelled), Err(Stop::Cancelled));
        assert_eq!(new(Watch::unlimited()), Ok(400));
    }

    #[test]
    fn an_empty_bag_gives_no_rows() {
        let bag = Bag::from_text(1, [[None::<&str>; 1]; 0]);
        let (responses, watch) = (responses(1.0), Watch::unlimited());
        let recoding = Recoding { codes: vec![vec![]], nulls: vec![NONE] };
        let key = Coins::seeded(4).key();
        let mut rows = RandomisedRows::new(&bag, &recoding, &responses, key, &watch).unwrap();
        assert_eq!(rows.next(10, <[u32]>::to_vec), Ok(None));
    }
}
