//! The belief about an input after its output is seen.

use super::matrix::sum;
use super::{Operator, Prior};

/// P(X = x | Y = `y`) for every input x, by Bayes; `None` if the output cannot occur. O(|X|).
pub fn posterior(operator: &Operator, prior: &Prior, y: usize) -> Option<Vec<f64>> {
    let joint = operator.column(y).zip(prior.probabilities()).map(|(p, prior)| p * prior);
    let mut law: Vec<f64> = joint.collect();
    let total = sum(law.iter().copied());
    if total <= 0.0 {
        return None;
    }
    law.iter_mut().for_each(|p| *p /= total);
    Some(law)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::NumberOperator;

    /// The prior of the paper's example: 0 has 1 %, each of 1..1000 the same of the rest.
    fn example(operator: &Operator) -> Prior {
        let prior = (0..=1000).map(|x| if x == 0 { 0.01 } else { 0.00099 });
        Prior::new(prior.collect(), operator).unwrap()
    }

    #[test]
    fn table_1_of_the_paper() {
        let r1 = Operator::randomised_response(1001, 0.2).unwrap();
        let number = |mix| NumberOperator::new(0, 1000, 100, mix).unwrap().matrix().unwrap();
        for (operator, zero, outside) in [
            (r1, 0.7163323782234957, 0.8295157593123209), // 002-table1-R1
            (number(0.0), 0.04807692307692308, 1.0),
            (number(0.5), 0.029373814783679692, 0.7077452298097789), // 002-table1-R3
        ] {
            let law = posterior(&operator, &example(&operator), 0).unwrap();
            let far = sum(law.iter().enumerate().filter(|x| x.0 < 200 || x.0 > 800).map(|x| *x.1));
            assert!((law[0] / zero - 1.0).abs() < 1e-12, "{} {zero}", law[0]);
            assert!((far / outside - 1.0).abs() < 1e-12, "{far} {outside}");
        }
    }

    #[test]
    fn an_output_that_cannot_occur_tells_nothing() {
        let operator = Operator::new(vec![1.0, 0.0, 0.0, 1.0], 2).unwrap();
        let prior = Prior::new(vec![1.0, 0.0], &operator).unwrap();
        assert_eq!(posterior(&operator, &prior, 0), Some(vec![1.0, 0.0]));
        assert_eq!(posterior(&operator, &prior, 1), None);
    }
}
