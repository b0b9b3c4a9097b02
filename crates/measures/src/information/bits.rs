//! Mutual and worst-case information of an operator.

use crate::sum::Sum;
use randomize::operator::{Operator, Prior};
use table::{Stop, Watch};

/// What an output Y reveals about its input X, in bits. KL is the Kullback-Leibler distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Information {
    /// I(X;Y): the mean over y of KL(p_{X|y} || p_X).
    pub mutual: f64,
    /// I_w(X;Y): the largest KL(p_{X|y} || p_X), which bounds upward breaches.
    pub worst_case: f64,
    /// J_w(X;Y): the largest KL(p_X || p_{X|y}), which bounds downward ones. Infinite if an output rules a
    /// possible input out.
    pub inverse_worst_case: f64,
}

/// Sums over the inputs for one output.
#[derive(Clone, Copy, Default)]
struct Output {
    probability: Sum,
    straight: Sum,
    inverse: Sum,
    /// True if the output excludes a possible input.
    excludes: bool,
}

/// The information in the outputs of an operator. Outputs that cannot occur and inputs that the prior rules
/// out do not count. O(|X| |Y|).
pub fn information(operator: &Operator, prior: &Prior, watch: &Watch) -> Result<Information, Stop> {
    let _held = watch.hold((operator.outputs() * size_of::<Output>()) as u64)?;
    let mut outputs = vec![Output::default(); operator.outputs()];
    let possible = prior.probabilities().iter().copied().zip(operator.rows());
    let possible = possible.filter(|&(prior, _)| prior > 0.0);
    for (prior, row) in possible.clone() {
        watch.check()?;
        outputs.iter_mut().zip(row).for_each(|(output, p)| output.probability.add(prior * p));
    }
    for (prior, row) in possible {
        watch.check()?;
        for (output, &p) in outputs.iter_mut().zip(row) {
            let total = output.probability.get();
            if p > 0.0 {
                // The posterior over the prior.
                let ratio = p / total;
                let bits = ratio.log2();
                output.straight.add(prior * ratio * bits);
                output.inverse.add(-prior * bits);
            } else {
                output.excludes = true;
            }
        }
    }
    let mut mutual = Sum::default();
    let mut found = Information { mutual: 0.0, worst_case: 0.0, inverse_worst_case: 0.0 };
    for output in outputs.iter().filter(|output| output.probability.get() > 0.0) {
        let straight = output.straight.get();
        let inverse = if output.excludes { f64::INFINITY } else { output.inverse.get() };
        mutual.add(output.probability.get() * straight);
        found.worst_case = found.worst_case.max(straight);
        found.inverse_worst_case = found.inverse_worst_case.max(inverse);
    }
    // Rounding must not make it negative.
    found.mutual = mutual.get().max(0.0);
    Ok(found)
}
