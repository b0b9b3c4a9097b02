//! How well a model distinguishes the rows of the two tables (propensity score).

use super::joint::Joint;
use super::levels::Levels;
use super::newton::PropensityModel;
use table::{Stop, Watch};

/// The propensity score mean squared error of a logistic model (Woo et al., *Global Measures of Data
/// Utility for Microdata Masked for Disclosure Limitation*; Snoke et al., *General and specific utility
/// measures for synthetic data*).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Propensity {
    /// The mean over all N rows of (p - c)^2, where p is the probability by the model that a row is released and c
    /// the share of released rows: 0 if the model cannot distinguish them, c (1 - c) if it always can.
    pub pmse: f64,
    /// Its mean if both tables were drawn from the same law: m c (1 - c) / N for m coefficients besides
    /// the intercept.
    pub expected: f64,
    /// m.
    pub coefficients: usize,
}

impl Propensity {
    /// The ratio to the value by chance; `None` if there are no variables.
    pub fn ratio(&self) -> Option<f64> {
        (self.coefficients > 0).then(|| self.pmse / self.expected)
    }

    /// The number of standard deviations above the value by chance: N pMSE / (c (1 - c)) would have the chi-squared
    /// law with m degrees of freedom.
    pub fn standardised(&self) -> Option<f64> {
        let spread = self.expected * (2.0 / self.coefficients as f64).sqrt();
        (self.coefficients > 0).then(|| (self.pmse - self.expected) / spread)
    }
}

/// Fits main effects of the common values of each column. Neither table is empty.
pub(super) fn propensity(joint: &Joint<'_>, watch: &Watch) -> Result<Propensity, Stop> {
    let codes: usize = joint.sizes.iter().sum();
    let widest = joint.sizes.iter().max().copied().unwrap_or(0);
    let _levels = watch.hold(8 * (codes + widest) as u64)?;
    let (levels, variables) = Levels::new(joint, watch)?;
    let _sums = watch.hold(PropensityModel::memory(variables))?;
    let [original, released] = joint.sides().map(|side| side.bag.row_count());
    let rows = original as f64 + released as f64;
    let released_share = released as f64 / rows;
    PropensityModel { joint, levels: &levels, variables, released_share, rows }.fit(watch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sum::Sum;
    use table::Bag;

    fn of(original: &Bag, released: &Bag) -> Propensity {
        let watch = Watch::unlimited();
        let joint = Joint::new(original, released, &watch).unwrap();
        propensity(&joint, &watch).unwrap()
    }

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-5 * expected.max(1e-3), "{found} is not {expected}");
    }

    #[test]
    fn a_small_case_by_hand() {
        // Of the rows with a, one in four is released, of those with b three: (1/4)^2 everywhere.
        let (original, released) = (["a", "a", "a", "b"], ["a", "b", "b", "b"]);
        let bag = |rows: [&str; 4]| Bag::from_text(1, rows.map(|value| [Some(value)]));
        let found = of(&bag(original), &bag(released));
        near(found.pmse, 1.0 / 16.0);
        near(found.expected, 1.0 / 32.0);
        near(found.ratio().unwrap(), 2.0);
        near(found.standardised().unwrap(), 1.0 / 2f64.sqrt());
        // A second column with the same values adds nothing.
        let bag = |rows: [&str; 4]| Bag::from_text(2, rows.map(|value| [Some(value); 2]));
        let found = of(&bag(original), &bag(released));
        near(found.pmse, 1.0 / 16.0);
        assert_eq!(found.coefficients, 1);
    }

    #[test]
    fn tables_of_other_sizes_and_tables_that_nothing_connects() {
        // c = 1/4; 3 of 10 rows with a are released, 2 of 10 with b: (1/20)^2.
        let rows = |value: &'static str, times| vec![[Some(value)]; times];
        let original = Bag::from_text(1, [rows("a", 7), rows("b", 8)].concat());
        let released = Bag::from_text(1, [rows("a", 3), rows("b", 2)].concat());
        near(of(&original, &released).pmse, 1.0 / 400.0);
        let blank = Bag::from_text(1, vec![[None::<&str>]; 5]);
        let found = of(&original, &blank).pmse;
        assert!((found - 3.0 / 16.0).abs() < 1e-4, "{found}");
        // Without variables there is nothing to distinguish rows by.
        let found = of(&blank, &blank);
        assert_eq!((found.pmse, found.ratio(), found.standardised()), (0.0, None, None));
    }

    #[test]
    fn rows_dealt_at_random_give_what_is_expected() {
        let rows: Vec<[Option<String>; 3]> = (0..600u32)
            .map(|i| [i % 4, i / 4 % 3, (i * i + i / 7) % 5].map(|cell| Some(cell.to_string())))
            .collect();
        let mut state = 7u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize
        };
        let (mut ratios, mut squares) = (Sum::default(), Sum::default());
        for _ in 0..300 {
            let mut dealt = rows.clone();
            (1..dealt.len()).for_each(|i| dealt.swap(i, random() % (i + 1)));
            let (original, released) = dealt.split_at(400);
            let bag = |rows: &[[Option<String>; 3]]| Bag::from_text(3, rows.iter().cloned());
            let found = of(&bag(original), &bag(released));
            assert_eq!(found.coefficients, 9);
            ratios.add(found.ratio().unwrap());
            squares.add(found.standardised().unwrap().powi(2));
        }
        // Standard errors: sqrt(2 / 9 / 300) = 0.027, and about 0.1.
        assert!((ratios.mean().unwrap() - 1.0).abs() < 0.1, "{:?}", ratios.mean());
        assert!((squares.mean().unwrap() - 1.0).abs() < 0.35, "{:?}", squares.mean());
    }
}
