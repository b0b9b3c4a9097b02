//! The graphical model while it is fitted: beliefs about the cliques of a junction tree.
//!
//! The probability of a row is proportional to the product of one factor per set of columns. Beliefs are computed
//! from factors ([`Network::new`]) in logarithms, since products of many factors leave the range of floats. Small
//! changes of factors ([`Network::multiply`]) are applied to the beliefs themselves, where each pass costs a
//! multiplication instead of an exponential.

use crate::junction::Junction;
use crate::schema::projection;
use crate::summation::SummationTree;

/// An input of a network: a set of ascending columns with the logarithm of its factor.
pub struct Potential<'p> {
    pub columns: &'p [usize],
    pub logs: &'p [f64],
}

/// Consistent beliefs: every clique's table is its marginal of one law of rows.
pub struct Network {
    pub sizes: Vec<u32>,
    pub junction: Junction,
    /// A probability per cell of each clique.
    pub beliefs: Vec<Vec<f64>>,
    plans: Vec<SummationTree>,
    /// The law of each clique's separator.
    pub separators: Vec<Vec<f64>>,
    /// The factor of each separator that is to be applied.
    ratios: Vec<Vec<f64>>,
    children: Vec<Vec<usize>>,
    /// The position of each clique's separator among the sets that its parent sums to.
    in_parent: Vec<usize>,
    /// The potentials of each clique: number, and position among the sets.
    hosted: Vec<Vec<(usize, usize)>>,
    /// The clique of each potential and the position there.
    hosts: Vec<(usize, usize)>,
}

impl Network {
    /// The network of some potentials, each contained in a clique.
    pub fn new(sizes: &[u32], junction: Junction, potentials: &[Potential]) -> Self {
        let count = junction.cliques.len();
        let mut wanted: Vec<Vec<Vec<usize>>> =
            junction.separators.iter().map(|separator| vec![separator.clone()]).collect();
        let (mut children, mut in_parent) = (vec![vec![]; count], vec![0; count]);
        for (clique, &parent) in junction.parents.iter().enumerate().skip(1) {
            children[parent].push(clique);
            in_parent[clique] = wanted[parent].len();
            wanted[parent].push(junction.separators[clique].clone());
        }
        let (mut hosted, mut hosts) = (vec![vec![]; count], vec![]);
        for (number, potential) in potentials.iter().enumerate() {
            let host = junction.host(sizes, potential.columns).unwrap_or(0);
            hosted[host].push((number, wanted[host].len()));
            hosts.push((host, wanted[host].len()));
            wanted[host].push(potential.columns.to_vec());
        }
        let plans = (0..count).map(|c| SummationTree::new(sizes, &junction.cliques[c], &wanted[c]));
        let mut network = Network {
            sizes: sizes.to_vec(),
            plans: plans.collect(),
            beliefs: vec![],
            separators: vec![vec![]; count],
            ratios: vec![vec![]; count],
            junction,
            children,
            in_parent,
            hosted,
            hosts,
        };
        network.calibrate(potentials);
        network
    }

    /// Beliefs from potentials: sums from the leaves to the root, then laws from the root to the leaves.
    fn calibrate(&mut self, potentials: &[Potential]) {
        let Junction { cliques, parents, separators } = &self.junction;
        let cells = |columns: &[usize]| columns.iter().map(|&c| self.sizes[c] as usize).product();
        self.beliefs = cliques.iter().map(|clique| vec![0.0; cells(clique)]).collect();
        let mut sums: Vec<Vec<f64>> = vec![vec![]; cliques.len()];
        for clique in (0..cliques.len()).rev() {
            let logs = &mut self.beliefs[clique];
            let own = self.hosted[clique].iter().map(|&(n, place)| (place, potentials[n].logs));
            let below = self.children[clique].iter().map(|&c| (self.in_parent[c], &sums[c][..]));
            self.plans[clique].spread(logs, own.chain(below), |a, b| *a += b);
            let places = projection(&self.sizes, &cliques[clique], &separators[clique]);
            let mut peaks = vec![f64::MIN; cells(&separators[clique])];
            for (&place, &log) in places.iter().zip(&*logs) {
                peaks[place as usize] = peaks[place as usize].max(log);
            }
            let mut totals = vec![0.0; peaks.len()];
            for (&place, log) in places.iter().zip(logs) {
                *log = (*log - peaks[place as usize]).exp();
                totals[place as usize] += *log;
            }
            // The rest is the law of the clique's other columns, given its separator.
            for (&place, belief) in places.iter().zip(&mut self.beliefs[clique]) {
                *belief /= totals[place as usize];
            }
            sums[clique] =
                peaks.iter().zip(&totals).map(|(peak, total)| peak + total.ln()).collect();
        }
        for (clique, &parent) in parents.iter().enumerate() {
            if clique > 0 {
                let above = &self.plans[parent];
                let law = above.marginal(&self.beliefs[parent], self.in_parent[clique]);
                self.separators[clique] = law.to_vec();
                let law = [(0, &self.separators[clique][..])];
                self.plans[clique]
                    .spread(&mut self.beliefs[clique], law.into_iter(), |a, b| *a *= b);
            }
            self.plans[clique].gather(&self.beliefs[clique]);
            self.ratios[clique] = vec![1.0; self.separators[clique].len()];
        }
    }

    /// Multiplies the law by a factor per potential, numbered as they were given.
    pub fn multiply(&mut self, factors: &[Vec<f64>]) {
        let count = self.beliefs.len();
        for clique in (0..count).rev() {
            let belief = &mut self.beliefs[clique];
            let own = self.hosted[clique].iter().map(|&(n, place)| (place, &factors[n][..]));
            let below =
                self.children[clique].iter().map(|&c| (self.in_parent[c], &self.ratios[c][..]));
            self.plans[clique].spread(belief, own.chain(below), |a, b| *a *= b);
            if clique > 0 {
                self.plans[clique].gather_one(belief, 0);
                let law = self.plans[clique].marginal(belief, 0);
                renew(&mut self.separators[clique], law, &mut self.ratios[clique]);
            }
        }
        for clique in 0..count {
            if clique == 0 {
                let scale = 1.0 / self.beliefs[0].iter().sum::<f64>();
                self.beliefs[0].iter_mut().for_each(|belief| *belief *= scale);
            } else {
                let parent = self.junction.parents[clique];
                let law =
                    self.plans[parent].marginal(&self.beliefs[parent], self.in_parent[clique]);
                renew(&mut self.separators[clique], law, &mut self.ratios[clique]);
                let above = [(0, &self.ratios[clique][..])];
                self.plans[clique]
                    .spread(&mut self.beliefs[clique], above.into_iter(), |a, b| *a *= b);
            }
            self.plans[clique].gather(&self.beliefs[clique]);
        }
    }

    /// The law of a potential's columns.
    pub fn marginal(&self, potential: usize) -> &[f64] {
        let (clique, place) = self.hosts[potential];
        self.plans[clique].marginal(&self.beliefs[clique], place)
    }
}

/// Replaces the law of a separator by `new`; `ratios` become the factors that do so.
fn renew(law: &mut [f64], new: &[f64], ratios: &mut [f64]) {
    for ((ratio, &new), old) in ratios.iter_mut().zip(new).zip(law) {
        *ratio = if *old > 0.0 { new / *old } else { 0.0 };
        *old = new;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{assert_close, factors, joint, marginal, network};
    use proptest::prelude::*;

    fn assert_is_law(network: &Network, law: &[f64], sets: &[Vec<usize>]) {
        let sizes = &network.sizes;
        let all: Vec<usize> = (0..sizes.len()).collect();
        for (belief, clique) in network.beliefs.iter().zip(&network.junction.cliques) {
            assert_close(belief, &marginal(sizes, law, &all, clique));
        }
        for (number, set) in sets.iter().enumerate() {
            assert_close(network.marginal(number), &marginal(sizes, law, &all, set));
        }
        for clique in 1..network.beliefs.len() {
            let separator = &network.junction.separators[clique];
            assert_close(&network.separators[clique], &marginal(sizes, law, &all, separator));
        }
    }

    proptest! {
        #[test]
        fn beliefs_are_marginals_of_the_law_of_rows((sizes, factors) in factors(5.0)) {
            let sets: Vec<Vec<usize>> = factors.iter().map(|(set, _)| set.clone()).collect();
            let mut network = network(&sizes, &factors);
            assert_is_law(&network, &joint(&sizes, &factors), &sets);
            // The same factors once more, as in small steps.
            let linear: Vec<Vec<f64>> =
                factors.iter().map(|(_, logs)| logs.iter().map(|log| log.exp()).collect()).collect();
            network.multiply(&linear);
            let twice: Vec<_> = factors
                .iter()
                .map(|(set, logs)| (set.clone(), logs.iter().map(|log| 2.0 * log).collect()))
                .collect();
            assert_is_law(&network, &joint(&sizes, &twice), &sets);
        }

        #[test]
        fn factors_beyond_the_floats_still_give_a_law((sizes, factors) in factors(900.0)) {
            let sets: Vec<Vec<usize>> = factors.iter().map(|(set, _)| set.clone()).collect();
            assert_is_law(&network(&sizes, &factors), &joint(&sizes, &factors), &sets);
        }
    }
}
