//! The distribution of records before anything is released.

use crate::sum::Sum;

/// The tolerance for a sum of probabilities.
const TOLERANCE: f64 = 1e-9;

/// The common distribution of some records.
#[derive(Debug, Clone, PartialEq)]
pub struct Prior {
    /// The probability of each value of the domain; they add up to 1.
    pub probabilities: Vec<f64>,
    pub records: u64,
}

impl Prior {
    /// Checks probabilities, and scales their sum to 1; an error says what is wrong.
    pub fn new(mut probabilities: Vec<f64>, records: u64) -> Result<Self, String> {
        if probabilities.is_empty() {
            return Err("there are no probabilities".into());
        }
        if let Some(wrong) = probabilities.iter().find(|p| !(0.0..=1.0 + TOLERANCE).contains(*p)) {
            return Err(format!("{wrong} is no probability"));
        }
        let sum = Sum::of(probabilities.iter().copied());
        if (sum - 1.0).abs() > TOLERANCE {
            return Err(format!("the probabilities add up to {sum}"));
        }
        probabilities.iter_mut().for_each(|p| *p /= sum);
        Ok(Prior { probabilities, records })
    }

    /// Every value is equally likely.
    pub fn uniform(values: usize, records: u64) -> Self {
        Prior { probabilities: vec![1.0 / values as f64; values], records }
    }
}

/// Merges equal priors, and drops those without records.
pub(super) fn grouped(priors: &[Prior]) -> Vec<Prior> {
    let mut groups: Vec<Prior> = priors.iter().filter(|prior| prior.records > 0).cloned().collect();
    let order = |a: &Prior, b: &Prior| {
        let pairs = a.probabilities.iter().zip(&b.probabilities);
        pairs
            .map(|(a, b)| a.total_cmp(b))
            .find(|order| order.is_ne())
            .unwrap_or(a.probabilities.len().cmp(&b.probabilities.len()))
    };
    groups.sort_by(order);
    groups.dedup_by(|next, group| {
        let equal = next.probabilities == group.probabilities;
        if equal {
            group.records += next.records;
        }
        equal
    });
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_distribution_is_refused() {
        let refused = |probabilities: &[f64]| Prior::new(probabilities.to_vec(), 1).unwrap_err();
        assert_eq!(refused(&[]), "there are no probabilities");
        assert_eq!(refused(&[0.5, f64::NAN]), "NaN is no probability");
        assert_eq!(refused(&[f64::INFINITY]), "inf is no probability");
        assert_eq!(refused(&[1.5, -0.5]), "1.5 is no probability");
        assert_eq!(refused(&[0.5, 0.25]), "the probabilities add up to 0.75");
        assert!(Prior::new(vec![0.5, 0.5 + 2e-9], 1).is_err());
        let near = Prior::new(vec![0.5, 0.5 + 5e-10], 1).unwrap();
        assert_eq!(near.probabilities.iter().sum::<f64>(), 1.0);
    }

    #[test]
    fn equal_priors_are_one_group() {
        let prior = |p: f64, records| Prior { probabilities: vec![1.0 - p, p], records };
        let groups = grouped(&[prior(0.5, 2), prior(0.1, 1), prior(0.5, 3), prior(0.2, 0)]);
        assert_eq!(groups, [prior(0.5, 5), prior(0.1, 1)]);
    }
}
