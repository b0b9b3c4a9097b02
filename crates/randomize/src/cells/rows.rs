//! All rows of a bag, randomised.

use super::Responses;
use random::{Key, below};
use rayon::prelude::*;
use table::{Bag, Recoding, Reservation, Stop, Watch};

/// The rows of a bag, each randomised by itself, in an order that has nothing to do with the bag's. Drawn
/// part by part; what comes out depends on the key alone, not on the parts or the number of threads.
pub struct RandomisedRows<'a> {
    bag: &'a Bag,
    recoding: &'a Recoding,
    responses: &'a Responses,
    key: Key,
    /// The bag's distinct rows in the order in which they come out, each as often as it occurs.
    order: Vec<u32>,
    _held: Reservation<'a>,
}

impl<'a> RandomisedRows<'a> {
    /// Rows that share a stream of random numbers.
    pub const CHUNK: usize = 1024;

    /// Puts the rows into their order. The first columns of the bag are recoded and randomised; those after
    /// them come out as they are.
    pub fn new(
        bag: &'a Bag,
        recoding: &'a Recoding,
        responses: &'a Responses,
        key: Key,
        watch: &'a Watch,
    ) -> Result<Self, Stop> {
        let count = usize::try_from(bag.row_count()).unwrap_or(usize::MAX);
        let held = watch.hold(bag.row_count().saturating_mul(size_of::<u32>() as u64))?;
        let mut order = Vec::with_capacity(count);
        for (row, &weight) in bag.weights().iter().enumerate() {
            for _ in 0..weight {
                watch.poll(order.len())?;
                order.push(row as u32);
            }
        }
        // Fisher and Yates, as `random::shuffle`, but it can be stopped.
        let mut rng = key.step(0).stream(0);
        for i in (1..order.len()).rev() {
            watch.poll(i)?;
            let j = below(&mut rng, i as u64 + 1) as usize;
            order.swap(i, j);
        }
        Ok(RandomisedRows { bag, recoding, responses, key: key.step(1), order, _held: held })
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The cells of `count` rows from row `start` on, a multiple of [`RandomisedRows::CHUNK`]; fewer at the
    /// end.
    pub fn rows(&self, start: usize, count: usize, watch: &Watch) -> Result<Vec<u32>, Stop> {
        let width = self.bag.width();
        let end = self.len().min(start.saturating_add(count));
        let order = self.order.get(start..end).unwrap_or_default();
        let mut cells = vec![0; order.len() * width];
        let chunks = cells.par_chunks_mut((Self::CHUNK * width).max(1));
        let first = (start / Self::CHUNK) as u64;
        chunks.zip(order.par_chunks(Self::CHUNK)).enumerate().try_for_each(
            |(i, (cells, order))| {
                watch.check()?;
                self.chunk(cells, order, first + i as u64);
                Ok(())
            },
        )?;
        Ok(cells)
    }

    /// Draws the rows of one chunk.
    fn chunk(&self, cells: &mut [u32], order: &[u32], number: u64) {
        let (width, randomised) = (self.bag.width(), self.responses.width());
        let mut rng = self.key.stream(number);
        for (to, &row) in cells.chunks_exact_mut(width.max(1)).zip(order) {
            let from = self.bag.row(row as usize);
            for (column, (to, &code)) in to.iter_mut().zip(from).enumerate() {
                *to = if column < randomised { self.recoding.cell(column, code) } else { code };
            }
            self.responses.randomise_row(&mut to[..randomised], &mut rng);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Column;
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
        Responses::new(epsilon, &[Column { values: 2, nullable: true, weight: 1.0 }]).unwrap()
    }

    fn draw(copies: usize, epsilon: f64, parts: &[usize], threads: usize) -> Vec<u32> {
        let (bag, recoding) = bag(copies);
        let (responses, watch) = (responses(epsilon), Watch::unlimited());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let key = Coins::seeded(4).key();
            let rows = RandomisedRows::new(&bag, &recoding, &responses, key, &watch).unwrap();
            let (mut all, mut start) = (Vec::new(), 0);
            for &part in parts.iter().cycle() {
                if start >= rows.len() {
                    break;
                }
                all.extend(rows.rows(start, part, &watch).unwrap());
                start += part;
            }
            all
        })
    }

    #[test]
    fn rows_depend_on_the_key_alone() {
        const CHUNK: usize = RandomisedRows::CHUNK;
        let once = draw(2000, 1.0, &[usize::MAX / 2], 1);
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
            let rows =
                RandomisedRows::new(&bag, &recoding, &responses, coins.key(), &watch).unwrap();
            i64::from(rows.rows(0, 4, &watch).unwrap()[5])
        });
    }

    /// The first cell of the first row is drawn for every key as its law says, whatever row came first.
    #[test]
    fn cells_of_a_bag_follow_their_law() {
        let recoding = Recoding { codes: vec![vec![1]], nulls: vec![NONE] };
        let bag = Bag::from_text(1, [[Some("a")]]);
        let (responses, watch) = (responses(1.0), Watch::unlimited());
        let mut coins = Coins::seeded(10);
        let e = 1f64.exp();
        assert_fits(&[1.0 / (e + 2.0), e / (e + 2.0), 1.0 / (e + 2.0)], 10_000, || {
            let rows =
                RandomisedRows::new(&bag, &recoding, &responses, coins.key(), &watch).unwrap();
            i64::from(rows.rows(0, 1, &watch).unwrap()[0].min(2))
        });
    }

    #[test]
    fn limits_are_obeyed() {
        let (bag, recoding) = bag(100);
        let responses = responses(1.0);
        let new = |watch: Watch| {
            let key = Coins::seeded(4).key();
            RandomisedRows::new(&bag, &recoding, &responses, key, &watch).map(|rows| rows.len())
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
        let rows = RandomisedRows::new(&bag, &recoding, &responses, key, &watch).unwrap();
        assert!(rows.is_empty() && rows.rows(0, 10, &watch).unwrap().is_empty());
    }
}
