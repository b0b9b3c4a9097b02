//! Draws rows from a model.
//!
//! Rows are drawn in blocks. Within a block the cliques are drawn one after the other, from the root. Among the rows
//! that agree on a clique's separator, each value of the new columns gets the whole number of rows below or above its
//! expected number, with the right probability. As in a stratified sample, that leaves less to chance than drawing
//! each row by itself. Then single cells are moved until pairs of columns are about as frequent as the law says
//! (`refinement`). Up to these moves, the expected share of every value is that of the law. Rows of different blocks
//! are independent.

use crate::model::{SynthesisModel, order};
use crate::network::Network;
use crate::pairs::{Pairs, predict};
use crate::refinement::Targets;
use crate::schema::{cells, projection};
use rand::Rng;
use random::{Key, shuffle};
use std::marker::PhantomData;
use table::{Reservation, Stop, Watch};

/// Draws rows from a model: holds the law of each clique's new columns given its separator, and the target
/// frequencies of pairs of columns.
pub struct RowDrawer<'m> {
    order: Vec<usize>,
    sizes: Vec<u32>,
    steps: Vec<Step>,
    targets: Targets,
    model: PhantomData<&'m SynthesisModel>,
}

/// A clique that adds new columns.
struct Step {
    separator: Vec<usize>,
    fresh: Vec<usize>,
    /// The cells of the new columns.
    inner: usize,
    /// For each cell of the separator the sums of the law up to each cell of the new columns.
    sums: Vec<f64>,
}

impl<'m> RowDrawer<'m> {
    /// The number of rows drawn together: block i starts with row i times `BLOCK`.
    pub const BLOCK: u64 = 1 << 16;

    /// Prepares to draw from a model that [`SynthesisModel::check`] accepts.
    pub fn new(model: &'m SynthesisModel, watch: &Watch) -> Result<Self, Stop> {
        let sizes = model.ranked();
        let _held = watch.hold(model.memory())?;
        let network = model.network();
        let targets = targets(&network, watch)?;
        let steps = (0..network.junction.cliques.len()).map(|clique| Step::new(&network, clique));
        let steps = steps.filter(|step| !step.fresh.is_empty()).collect();
        Ok(RowDrawer { order: order(&model.sizes), sizes, steps, targets, model: PhantomData })
    }

    /// The first `count` rows of a block, at most [`RowDrawer::BLOCK`], in random order: a code for each column, row
    /// after row. They depend only on the model, the number of the block, the count and the key.
    pub fn rows(
        &self,
        block: u64,
        count: usize,
        key: &Key,
        watch: &Watch,
    ) -> Result<Vec<u32>, Stop> {
        let width = self.sizes.len();
        // Rows while cells are moved and while they are returned, groups of rows, and the table of the moves.
        let bytes = 8 * width as u64 * count as u64 + 16 * count as u64 + self.targets.memory();
        let _held = watch.hold(bytes)?;
        let mut rng = key.stream(block);
        let mut rows = vec![0; count * width];
        let mut groups = SeparatorGroups::new(count);
        for step in &self.steps {
            watch.check()?;
            step.draw(&self.sizes, &mut rows, &mut groups, &mut rng);
        }
        self.targets.refine(&mut rows, width, watch)?;
        let mut places: Vec<u32> = (0..count as u32).collect();
        shuffle(&mut rng, &mut places);
        let mut named = vec![0; rows.len()];
        for (named, &place) in named.chunks_exact_mut(width).zip(&places) {
            let row = &rows[place as usize * width..][..width];
            self.order.iter().zip(row).for_each(|(&column, &code)| named[column] = code);
        }
        Ok(named)
    }
}

/// The laws of all pairs of the smaller columns.
fn targets(network: &Network, watch: &Watch) -> Result<Targets, Stop> {
    let columns = Targets::columns(&network.sizes);
    let all = (0..columns).flat_map(|b| (0..b).map(move |a| [a, b]));
    let pairs = Pairs::new(&network.sizes, all.collect());
    let mut held = Reservation::new(watch);
    held.add(pairs.cells() as u64 * 8)?;
    let mut laws = vec![0.0; pairs.cells()];
    predict(network, &pairs, &mut laws, watch)?;
    Ok(Targets::new(&network.sizes[..columns], &pairs, &laws))
}

/// Rows grouped by a cell of a separator.
struct SeparatorGroups {
    cells: Vec<u32>,
    /// Rows, group by group.
    rows: Vec<u32>,
    /// Where each group begins, and the end of the last.
    starts: Vec<u32>,
}

impl SeparatorGroups {
    fn new(count: usize) -> Self {
        SeparatorGroups { cells: vec![0; count], rows: vec![0; count], starts: vec![] }
    }

    /// Groups rows by the values of some columns: `groups` is the number of their cells.
    fn group(&mut self, sizes: &[u32], rows: &[u32], columns: &[usize], groups: usize) {
        for (cell, row) in self.cells.iter_mut().zip(rows.chunks_exact(sizes.len())) {
            *cell = columns.iter().fold(0, |cell, &column| cell * sizes[column] + row[column]);
        }
        self.starts.clear();
        self.starts.resize(groups + 1, 0);
        self.cells.iter().for_each(|&cell| self.starts[cell as usize + 1] += 1);
        for group in 0..groups {
            self.starts[group + 1] += self.starts[group];
        }
        // While rows are added, each start moves to the end of its group, which is the start of the next one.
        for (row, &cell) in self.cells.iter().enumerate() {
            let place = &mut self.starts[cell as usize];
            self.rows[*place as usize] = row as u32;
            *place += 1;
        }
        self.starts.rotate_right(1);
        self.starts[0] = 0;
    }

    fn rows(&mut self, group: usize) -> &mut [u32] {
        &mut self.rows[self.starts[group] as usize..self.starts[group + 1] as usize]
    }
}

impl Step {
    fn new(network: &Network, clique: usize) -> Self {
        let (sizes, columns) = (&network.sizes, &network.junction.cliques[clique]);
        let separator = network.junction.separators[clique].clone();
        let fresh: Vec<usize> =
            columns.iter().copied().filter(|c| !separator.contains(c)).collect();
        let ordered: Vec<usize> = separator.iter().chain(&fresh).copied().collect();
        let places = projection(sizes, columns, &ordered);
        let mut sums = vec![0.0; places.len()];
        for (&place, &p) in places.iter().zip(&network.beliefs[clique]) {
            sums[place as usize] = p;
        }
        let inner = cells(sizes, &fresh) as usize;
        for law in sums.chunks_exact_mut(inner) {
            let mut sum = 0.0;
            for p in &mut *law {
                sum += *p;
                *p = sum;
            }
            if sum <= 0.0 {
                // The probability is too small for floats to hold the law. Only moves bring rows here.
                law.iter_mut().enumerate().for_each(|(cell, p)| *p = (cell + 1) as f64);
            }
        }
        Step { separator, fresh, inner, sums }
    }

    /// Gives each row values of the new columns.
    fn draw<R: Rng>(
        &self,
        sizes: &[u32],
        rows: &mut [u32],
        groups: &mut SeparatorGroups,
        rng: &mut R,
    ) {
        let count = self.sums.len() / self.inner;
        groups.group(sizes, rows, &self.separator, count);
        for (group, sums) in self.sums.chunks_exact(self.inner).enumerate() {
            let members = groups.rows(group);
            if members.is_empty() {
                continue;
            }
            shuffle(rng, members);
            // Equally spaced points of the law with a random start: systematic sampling.
            let start = (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
            let space = sums[self.inner - 1] / members.len() as f64;
            let mut cell = 0;
            for (number, &row) in members.iter().enumerate() {
                let point = (number as f64 + start) * space;
                cell += sums[cell..self.inner - 1].partition_point(|&sum| sum <= point);
                let row = &mut rows[row as usize * sizes.len()..][..sizes.len()];
                let mut rest = cell as u32;
                for &column in self.fresh.iter().rev() {
                    row[column] = rest % sizes[column];
                    rest /= sizes[column];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Marginal;
    use crate::reference::{joint, marginal};
    use random::Coins;
    use random::testing::assert_fits;

    const SIZES: [u32; 4] = [2, 3, 3, 4];

    /// A chain of pairs with arbitrary factors.
    fn model(reach: f64) -> (SynthesisModel, Vec<f64>) {
        let mut factors = vec![];
        for pair in [[0, 1], [1, 2], [2, 3]] {
            let logs = (0..cells(&SIZES, &pair))
                .map(|i| ((i * 7 + pair[0] as u64 * 3) % 5) as f64 * reach);
            factors.push((pair.to_vec(), logs.collect::<Vec<f64>>()));
        }
        let kept = |(columns, logs): &(Vec<usize>, Vec<f64>)| Marginal {
            columns: columns.clone(),
            deviation: 1.0,
            logs: logs.clone(),
        };
        let marginals = factors.iter().map(kept).collect();
        let model =
            SynthesisModel { sizes: SIZES.to_vec(), total: 1000, marginals, charges: vec![] };
        (model, joint(&SIZES, &factors))
    }

    #[test]
    fn single_rows_follow_the_law() {
        let (model, law) = model(0.3);
        let watch = Watch::unlimited();
        let drawer = RowDrawer::new(&model, &watch).unwrap();
        let mut coins = Coins::seeded(1);
        assert_fits(&law, 20_000, || {
            let row = drawer.rows(0, 1, &coins.key(), &watch).unwrap();
            row.iter()
                .zip(SIZES)
                .fold(0, |cell, (&code, size)| cell * i64::from(size) + i64::from(code))
        });
    }

    #[test]
    fn many_rows_have_the_pairs_of_the_law() {
        let (model, law) = model(0.7);
        let watch = Watch::unlimited();
        let drawer = RowDrawer::new(&model, &watch).unwrap();
        let count = 20_000;
        let rows = drawer.rows(7, count, &Coins::seeded(1).key(), &watch).unwrap();
        for b in 0..4 {
            for a in 0..b {
                let expected = marginal(&SIZES, &law, &[0, 1, 2, 3], &[a, b]);
                let mut counts = vec![0.0; expected.len()];
                for row in rows.chunks_exact(4) {
                    counts[(row[a] * SIZES[b] + row[b]) as usize] += 1.0;
                }
                for (count_of, p) in counts.iter().zip(&expected) {
                    // Independent draws would be off by up to 150.
                    assert!(
                        (count_of - p * count as f64).abs() < 8.0,
                        "{count_of} {}",
                        p * count as f64
                    );
                }
            }
        }
    }

    #[test]
    fn rare_values_come_as_often_as_they_should() {
        // The last value of the last column has one row in five thousand.
        let logs = vec![0.0, 0.0, 0.0, (3.0f64 / 4999.0).ln()];
        let one = |columns: Vec<usize>, logs: Vec<f64>| Marginal { columns, deviation: 1.0, logs };
        let (mut model, _) = model(0.2);
        model.marginals.truncate(2);
        model.marginals.push(one(vec![3], logs));
        let watch = Watch::unlimited();
        let drawer = RowDrawer::new(&model, &watch).unwrap();
        let key = Coins::seeded(5).key();
        let seen: usize = (0..200)
            .map(|block| {
                let rows = drawer.rows(block, 1000, &key, &watch).unwrap();
                rows.chunks_exact(4).filter(|row| row[3] == 3).count()
            })
            .sum();
        // 40 are expected.
        assert!((25..=55).contains(&seen), "{seen}");
    }

    #[test]
    fn blocks_replay_and_differ() {
        let (model, _) = model(0.5);
        let (watch, key) = (Watch::unlimited(), Coins::seeded(1).key());
        let drawer = RowDrawer::new(&model, &watch).unwrap();
        let rows = |block| drawer.rows(block, 500, &key, &watch).unwrap();
        assert_eq!(
            rows(1),
            RowDrawer::new(&model, &watch).unwrap().rows(1, 500, &key, &watch).unwrap()
        );
        assert_ne!(rows(1), rows(2));
        assert_eq!(watch.memory(), 0);
        watch.cancel();
        assert_eq!(drawer.rows(1, 500, &key, &watch), Err(Stop::Cancelled));
    }
}
