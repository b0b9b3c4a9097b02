//! The law of pairs of columns, wherever the columns are in the junction tree.

use crate::network::Network;
use crate::schema::{cells, projection, union};
use crate::summation::SummationTree;
use table::{Reservation, Stop, Watch};

/// Pairs of columns, with positions for the cells of each in one long list. Used for the candidates of a request, and
/// for all pairs with which drawn rows shall agree.
pub struct Pairs {
    /// Ascending columns of each pair.
    pub columns: Vec<[usize; 2]>,
    /// Where each pair's cells begin, and the end of the last.
    starts: Vec<usize>,
    /// The number of each pair plus one, by its two columns; 0 for a pair that is not listed.
    numbers: Vec<u32>,
    /// Whether a column is in any pair.
    asked: Vec<bool>,
}

impl Pairs {
    /// The given pairs of ascending columns.
    pub fn new(sizes: &[u32], columns: Vec<[usize; 2]>) -> Self {
        let width = sizes.len();
        let (mut starts, mut numbers) = (vec![0], vec![0; width * width]);
        let mut asked = vec![false; width];
        for (number, &[a, b]) in columns.iter().enumerate() {
            starts.push(starts[number] + sizes[a] as usize * sizes[b] as usize);
            numbers[a * width + b] = number as u32 + 1;
            asked[a] = true;
            asked[b] = true;
        }
        Pairs { columns, starts, numbers, asked }
    }

    /// Cells of all pairs.
    pub fn cells(&self) -> usize {
        self.starts[self.columns.len()]
    }

    /// The number of a pair, whatever the order of its columns.
    pub fn number(&self, a: usize, b: usize) -> Option<usize> {
        let place = a.min(b) * self.asked.len() + a.max(b);
        (self.numbers[place] as usize).checked_sub(1)
    }

    /// The positions of a pair's cells.
    pub fn range(&self, pair: usize) -> std::ops::Range<usize> {
        self.starts[pair]..self.starts[pair + 1]
    }
}

/// What a clique knows about the columns below one of its children.
struct Below {
    separator: Vec<usize>,
    /// Columns, and the position of their first value among the values of all of them.
    columns: Vec<(usize, usize)>,
    values: usize,
    /// For each cell of the separator the probability of each value given that cell.
    laws: Vec<f64>,
}

/// Writes the law of every pair into `laws`.
///
/// Walks from the leaves to the root. The law of two columns is computed at the first clique that has both of them in
/// it or below it. A column below is given by its law given the separator on the path to it. The cost is the number
/// of cells of the separators times the number of values of the columns below them.
pub fn predict(
    network: &Network,
    pairs: &Pairs,
    laws: &mut [f64],
    watch: &Watch,
) -> Result<(), Stop> {
    let cliques = &network.junction.cliques;
    let mut held = Reservation::new(watch);
    let mut waiting: Vec<Vec<Below>> = cliques.iter().map(|_| vec![]).collect();
    for clique in (0..cliques.len()).rev() {
        let below = std::mem::take(&mut waiting[clique]);
        let asked = cliques[clique].iter().copied().filter(|&column| pairs.asked[column]).collect();
        let mut place = CliqueVisit { network, pairs, clique, asked, laws, watch };
        place.inside();
        for (number, one) in below.iter().enumerate() {
            place.with_below(one)?;
            for other in &below[number + 1..] {
                place.between(one, other)?;
            }
        }
        let kept: usize = below.iter().map(|one| one.laws.len()).sum();
        if clique > 0 {
            let above = place.above(&below, &mut held)?;
            waiting[network.junction.parents[clique]].push(above);
        }
        held.lower(held.bytes().saturating_sub(kept as u64 * 8));
    }
    Ok(())
}

/// The visit of one clique during the walk.
struct CliqueVisit<'n> {
    network: &'n Network,
    pairs: &'n Pairs,
    clique: usize,
    /// Its columns that are in any pair.
    asked: Vec<usize>,
    laws: &'n mut [f64],
    watch: &'n Watch,
}

impl CliqueVisit<'_> {
    /// The law of some ascending columns of the clique.
    fn marginal(&self, columns: &[usize]) -> Vec<f64> {
        let clique = &self.network.junction.cliques[self.clique];
        let mut plan = SummationTree::new(&self.network.sizes, clique, &[columns.to_vec()]);
        let belief = &self.network.beliefs[self.clique];
        plan.gather(belief);
        plan.marginal(belief, 0).to_vec()
    }

    /// Writes the law of a pair; `law` returns the probability of a value of `a` and a value of `b`.
    fn write(&mut self, a: usize, b: usize, law: impl Fn(usize, usize) -> f64) {
        let Some(pair) = self.pairs.number(a, b) else {
            return;
        };
        let inner = self.network.sizes[a.max(b)] as usize;
        for (cell, p) in self.laws[self.pairs.range(pair)].iter_mut().enumerate() {
            let (x, y) = (cell / inner, cell % inner);
            *p = if a < b { law(x, y) } else { law(y, x) };
        }
    }

    /// Pairs of the clique's own columns; the pairs of its separator belong to the parent.
    fn inside(&mut self) {
        let separator = &self.network.junction.separators[self.clique];
        for place in 0..self.asked.len() {
            for other in place + 1..self.asked.len() {
                let (a, b) = (self.asked[place], self.asked[other]);
                if !(separator.contains(&a) && separator.contains(&b)) {
                    let (law, inner) = (self.marginal(&[a, b]), self.network.sizes[b] as usize);
                    self.write(a, b, |x, y| law[x * inner + y]);
                }
            }
        }
    }

    /// Adds, for each cell of `columns`, the joint law of that cell and of each value below. The result goes to the
    /// `values` numbers that begin at the cell's position in `sums`, from `offset` on.
    fn carry(
        &self,
        below: &Below,
        columns: &[usize],
        sums: &mut [f64],
        values: usize,
        offset: usize,
    ) -> Result<(), Stop> {
        let sizes = &self.network.sizes;
        let both = union(&below.separator, columns);
        let (from, to) =
            (projection(sizes, &both, &below.separator), projection(sizes, &both, columns));
        let law = self.marginal(&both);
        for (cell, ((p, &from), &to)) in law.iter().zip(&from).zip(&to).enumerate() {
            self.watch.poll_every(256, cell)?;
            let known = &below.laws[from as usize * below.values..][..below.values];
            let sums = &mut sums[to as usize * values + offset..][..below.values];
            sums.iter_mut().zip(known).for_each(|(sum, known)| *sum += p * known);
        }
        Ok(())
    }

    /// Pairs of a column of the clique and one below.
    fn with_below(&mut self, below: &Below) -> Result<(), Stop> {
        for b in self.asked.clone() {
            if below.separator.contains(&b) {
                continue;
            }
            let values = below.values;
            let mut sums = vec![0.0; self.network.sizes[b] as usize * values];
            self.carry(below, &[b], &mut sums, values, 0)?;
            for &(a, start) in &below.columns {
                self.write(a, b, |x, y| sums[y * values + start + x]);
            }
        }
        Ok(())
    }

    /// Pairs of columns below two children.
    fn between(&mut self, one: &Below, other: &Below) -> Result<(), Stop> {
        let sizes = &self.network.sizes;
        let cells = cells(sizes, &other.separator) as usize;
        let mut sums = vec![0.0; cells * one.values];
        self.carry(one, &other.separator, &mut sums, one.values, 0)?;
        for &(a, start) in &one.columns {
            for &(b, other_start) in &other.columns {
                if self.pairs.number(a, b).is_none() {
                    continue;
                }
                self.watch.check()?;
                let (high, wide) = (sizes[a] as usize, sizes[b] as usize);
                let mut law = vec![0.0; high * wide];
                for cell in 0..cells {
                    let left = &sums[cell * one.values + start..][..high];
                    let right = &other.laws[cell * other.values + other_start..][..wide];
                    for (law, p) in law.chunks_exact_mut(wide).zip(left) {
                        law.iter_mut().zip(right).for_each(|(law, right)| *law += p * right);
                    }
                }
                self.write(a, b, |x, y| law[x * wide + y]);
            }
        }
        Ok(())
    }

    /// What the parent needs to know about this clique's columns and those below it.
    fn above(&self, below: &[Below], held: &mut Reservation) -> Result<Below, Stop> {
        let sizes = &self.network.sizes;
        let separator = self.network.junction.separators[self.clique].clone();
        let own = self.asked.iter().copied().filter(|column| !separator.contains(column));
        let (mut columns, mut values) = (vec![], 0);
        for column in own.clone() {
            columns.push((column, values));
            values += sizes[column] as usize;
        }
        let mut offsets = vec![];
        for one in below {
            columns.extend(one.columns.iter().map(|&(column, start)| (column, values + start)));
            offsets.push(values);
            values += one.values;
        }
        let known = &self.network.separators[self.clique];
        held.add((known.len() * values * 8) as u64)?;
        let mut laws = vec![0.0; known.len() * values];
        for (column, &(_, start)) in own.zip(&columns) {
            let both = union(&separator, &[column]);
            let cells = projection(sizes, &both, &separator);
            let codes = projection(sizes, &both, &[column]);
            for ((p, cell), code) in self.marginal(&both).iter().zip(cells).zip(codes) {
                laws[cell as usize * values + start + code as usize] = *p;
            }
        }
        for (one, offset) in below.iter().zip(offsets) {
            self.carry(one, &separator, &mut laws, values, offset)?;
        }
        for (laws, &p) in laws.chunks_exact_mut(values.max(1)).zip(known) {
            let scale = if p > 0.0 { 1.0 / p } else { 0.0 };
            laws.iter_mut().for_each(|law| *law *= scale);
        }
        Ok(Below { separator, columns, values, laws })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{assert_close, factors, joint, marginal, network};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pairs_are_marginals_of_the_law_of_rows((sizes, factors) in factors(3.0)) {
            let watch = Watch::unlimited();
            let all: Vec<usize> = (0..sizes.len()).collect();
            let columns: Vec<[usize; 2]> =
                all.iter().flat_map(|&b| (0..b).map(move |a| [a, b])).collect();
            let pairs = Pairs::new(&sizes, columns);
            let mut laws = vec![0.0; pairs.cells()];
            predict(&network(&sizes, &factors), &pairs, &mut laws, &watch).unwrap();
            let law = joint(&sizes, &factors);
            for (pair, columns) in pairs.columns.iter().enumerate() {
                assert_close(&laws[pairs.range(pair)], &marginal(&sizes, &law, &all, columns));
            }
            prop_assert_eq!(watch.memory(), 0);
        }
    }
}
