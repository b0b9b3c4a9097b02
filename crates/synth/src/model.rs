//! The result of a fit: noisy numbers, and the factors computed from them.

use crate::junction::{Junction, cliques};
use crate::network::{Network, Potential};
use crate::schema::{cells, limits};
use crate::spending::FitCharge;
use serde::{Deserialize, Serialize};

/// A measured marginal and its factor of the law of rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Marginal {
    /// Its columns, in ascending order of their sizes; among equals in ascending order.
    pub columns: Vec<usize>,
    /// The standard deviation of the noise of its counts, all measurements of it together.
    pub deviation: f64,
    /// The logarithm of its factor, for each cell in row-major order.
    pub logs: Vec<f64>,
}

/// A law of rows: the probability of a row is proportional to the product of the factors of all marginals.
/// [`fit`](crate::fit()) makes it, a [`RowDrawer`](crate::RowDrawer) draws from it. It holds a number per measured
/// count, in practice at most some ten thousand, and is stored as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SynthesisModel {
    pub(crate) sizes: Vec<u32>,
    pub(crate) total: u64,
    pub(crate) marginals: Vec<Marginal>,
    pub(crate) charges: Vec<FitCharge>,
}

/// The columns in ascending order of their sizes. Tables have their columns in this order, so that inner loops are
/// long. Everything but a model's own fields numbers columns by their position in it.
pub(crate) fn order(sizes: &[u32]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&column| sizes[column]);
    order
}

impl SynthesisModel {
    /// The noisy number of rows of the source.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The number of values of each column, NULL included where it may occur.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// The measured marginals, with the factors fitted to them.
    pub fn marginals(&self) -> &[Marginal] {
        &self.marginals
    }

    /// The releases of the fit in order, with their prices.
    pub fn charges(&self) -> &[FitCharge] {
        &self.charges
    }

    /// Reports what is wrong with a model that came from elsewhere. Drawing from a model that passes takes no more
    /// memory than a fit does.
    pub fn check(&self) -> Result<(), String> {
        if self.sizes.is_empty() || self.sizes.contains(&0) {
            return Err("every model has columns, and every column values".to_owned());
        }
        if self.total > i64::MAX as u64 {
            return Err(format!("the number of rows, {}, is too large", self.total));
        }
        let ranks = self.ranks();
        let mut known = vec![false; self.sizes.len()];
        for (number, marginal) in self.marginals.iter().enumerate() {
            let wrong = |what: &str| Err(format!("marginal {} {what}", number + 1));
            if marginal.columns.iter().any(|&column| column >= self.sizes.len()) {
                return wrong("has a column that the model has not");
            }
            if marginal.columns.is_empty()
                || !marginal.columns.is_sorted_by(|&a, &b| ranks[a] < ranks[b])
            {
                return wrong("needs different columns, in ascending order of their sizes");
            }
            if cells(&self.sizes, &marginal.columns) != marginal.logs.len() as u64 {
                return wrong("has another number of cells than its columns say");
            }
            if marginal.logs.iter().any(|log| log.is_nan() || log.abs() > Self::LOG) {
                return wrong("has a factor that is no number or out of range");
            }
            if !(marginal.deviation >= 0.0 && marginal.deviation.is_finite()) {
                return wrong("has a deviation that is no number");
            }
            marginal.columns.iter().for_each(|&column| known[column] = true);
        }
        if let Some(column) = known.iter().position(|known| !known) {
            return Err(format!("no marginal has column {}", column + 1));
        }
        let sets = self.sets();
        match cliques(&self.ranked(), sets.iter().map(Vec::as_slice), limits(&self.sizes)) {
            Some(_) => Ok(()),
            None => Err("its marginals need too large a junction tree".to_owned()),
        }
    }

    /// The largest absolute value of a factor's logarithm.
    pub(crate) const LOG: f64 = 1e6;

    /// The position of each column in [`order`].
    fn ranks(&self) -> Vec<usize> {
        let mut ranks = vec![0; self.sizes.len()];
        for (rank, &column) in order(&self.sizes).iter().enumerate() {
            ranks[column] = rank;
        }
        ranks
    }

    /// The sizes in ascending order.
    pub(crate) fn ranked(&self) -> Vec<u32> {
        order(&self.sizes).iter().map(|&column| self.sizes[column]).collect()
    }

    /// The columns of each marginal as positions in [`order`].
    fn sets(&self) -> Vec<Vec<usize>> {
        let ranks = self.ranks();
        let ranked = |m: &Marginal| m.columns.iter().map(|&column| ranks[column]).collect();
        self.marginals.iter().map(ranked).collect()
    }

    /// The number of bytes that the law takes while a drawer is made.
    pub(crate) fn memory(&self) -> u64 {
        let values: u64 = self.sizes.iter().map(|&size| u64::from(size)).sum();
        // Beliefs, the tables to which they are summed, and their sums.
        40 * limits(&self.sizes).cells.min(values + self.tree_cells())
    }

    /// Cells of the junction tree.
    fn tree_cells(&self) -> u64 {
        let (sizes, sets) = (self.ranked(), self.sets());
        let found = cliques(&sizes, sets.iter().map(Vec::as_slice), limits(&self.sizes));
        found.unwrap_or_default().iter().map(|clique| cells(&sizes, clique)).sum()
    }

    /// The law as beliefs about the cliques of a junction tree.
    pub(crate) fn network(&self) -> Network {
        let (sizes, sets) = (self.ranked(), self.sets());
        let found = cliques(&sizes, sets.iter().map(Vec::as_slice), limits(&self.sizes));
        let junction = Junction::new(&sizes, found.unwrap_or_default());
        let potential = |(columns, marginal)| {
            let (columns, marginal): (&Vec<usize>, &Marginal) = (columns, marginal);
            Potential { columns, logs: &marginal.logs }
        };
        let potentials: Vec<Potential> = sets.iter().zip(&self.marginals).map(potential).collect();
        Network::new(&sizes, junction, &potentials)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> SynthesisModel {
        let marginal = |columns: &[usize], logs: Vec<f64>| Marginal {
            columns: columns.to_vec(),
            deviation: 1.5,
            logs,
        };
        let marginals = vec![
            marginal(&[0], vec![0.5, 0.0, -2.0]),
            marginal(&[1], vec![0.25, 0.0]),
            // In the order of sizes: column 1 has two values, column 0 three.
            marginal(&[1, 0], vec![0.0, 1.0, 2.0, 3.0, 4.0, 0.1]),
        ];
        SynthesisModel {
            sizes: vec![3, 2],
            total: 10,
            marginals,
            charges: vec![FitCharge::Choice { rho: 0.1 }],
        }
    }

    #[test]
    fn a_model_comes_back_from_json() {
        let text = serde_json::to_string(&model()).unwrap();
        let back: SynthesisModel = serde_json::from_str(&text).unwrap();
        assert_eq!(back, model());
        assert_eq!(back.check(), Ok(()));
    }

    #[test]
    fn what_could_not_be_drawn_from_is_refused() {
        let wrong = |change: fn(&mut SynthesisModel)| {
            let mut model = model();
            change(&mut model);
            model.check().unwrap_err()
        };
        assert!(wrong(|m| m.sizes.clear()).contains("columns"));
        assert!(wrong(|m| m.sizes[0] = 0).contains("values"));
        assert!(wrong(|m| m.total = u64::MAX).contains("too large"));
        assert!(wrong(|m| m.sizes[1] = 3).starts_with("marginal"));
        assert!(wrong(|m| m.marginals[2].columns = vec![0, 1]).contains("ascending"));
        assert!(wrong(|m| m.marginals[2].columns = vec![1, 1]).contains("different"));
        assert!(wrong(|m| m.marginals[1].columns = vec![]).contains("different"));
        assert!(wrong(|m| m.marginals[0].columns = vec![2]).contains("has not"));
        assert!(wrong(|m| m.marginals[0].logs.truncate(2)).contains("cells"));
        assert!(wrong(|m| m.marginals[0].logs[1] = f64::NAN).contains("no number"));
        assert!(wrong(|m| m.marginals[0].logs[1] = 1e300).contains("out of range"));
        assert!(wrong(|m| m.marginals[0].deviation = f64::INFINITY).contains("deviation"));
        assert!(wrong(|m| m.marginals.clear()).contains("no marginal has column 1"));
        // Small marginals with a large tree.
        let ring = |m: &mut SynthesisModel| {
            m.sizes = vec![200; 4];
            let pairs = [[0, 1], [1, 2], [2, 3], [0, 3]].map(|pair| pair.to_vec());
            let logs = vec![0.0; 40_000];
            let marginal = |columns| Marginal { columns, deviation: 0.0, logs: logs.clone() };
            m.marginals = pairs.map(marginal).to_vec();
        };
        assert!(wrong(ring).contains("junction tree"));
    }
}
