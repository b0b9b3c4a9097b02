//! How useful a released table is instead of its original: compares statistics of the two.
//!
//! * [`Joint`] puts both tables into common codes, column by column. Everything else works on it.
//! * [`marginal`] compares the shares of the values of each column.
//! * [`pairs`] compares the shares of the combinations of each two columns, and how strongly the two are associated
//!   (Cramér's V).
//! * [`propensity`] measures how well a logistic model distinguishes the rows of the two tables (pMSE), with
//!   [`levels`] for its variables and [`newton`] for its fit.
//! * [`common_values`] selects the values and combinations that a page can show, [`bins`] puts numbers into ranges.
//!
//! NULL is a value of its own everywhere: a blanked cell differs from every value.

mod bins;
mod common_values;
mod joint;
mod levels;
mod marginal;
mod newton;
mod pairs;
mod propensity;
#[cfg(test)]
mod reference;

pub use common_values::{Crossed, Seen, Shown, shown};
pub use joint::Joint;
pub use marginal::ColumnDifference;
pub use pairs::PairDifference;
pub use propensity::Propensity;

use crate::sum::Sum;
use table::{Bag, Stop, Watch};

/// The differences between a released table and its original. Everything is empty if one of them has no rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Utility {
    /// In the order of the columns.
    pub columns: Vec<ColumnDifference>,
    /// For columns a < b, in the order of a and then b.
    pub pairs: Vec<PairDifference>,
    pub propensity: Option<Propensity>,
}

/// Measures how much a released table differs from its original. The bags have the same columns in the
/// same order.
///
/// The cost is that of a pass over both tables for each pair of columns, and of a pass with the square of the number
/// of columns for each step of the propensity model, of which there are 5 to 20.
pub fn utility(original: &Bag, released: &Bag, watch: &Watch) -> Result<Utility, Stop> {
    Utility::of(&Joint::new(original, released, watch)?, watch)
}

impl Utility {
    /// [`utility`] of tables that are in common codes already.
    pub fn of(joint: &Joint<'_>, watch: &Watch) -> Result<Self, Stop> {
        if joint.has_no_rows() {
            return Ok(Utility { columns: Vec::new(), pairs: Vec::new(), propensity: None });
        }
        Ok(Utility {
            columns: marginal::columns(joint),
            pairs: pairs::pairs(joint, watch)?,
            propensity: Some(propensity::propensity(joint, watch)?),
        })
    }

    /// The measures by name; `None` where there is nothing to measure.
    pub fn measures(&self) -> [(&'static str, Option<f64>); 10] {
        let [one_mean, one_max] = mean_and_largest(self.columns.iter().map(|column| column.tv));
        let [two_mean, two_max] = mean_and_largest(self.pairs.iter().map(|pair| pair.tv));
        let [v_mean, v_max] =
            mean_and_largest(self.pairs.iter().map(PairDifference::association_difference));
        let propensity = |of: fn(&Propensity) -> Option<f64>| self.propensity.as_ref().and_then(of);
        [
            ("tv_one_mean", one_mean),
            ("tv_one_max", one_max),
            ("tv_two_mean", two_mean),
            ("tv_two_max", two_max),
            ("cramers_v_mean", v_mean),
            ("cramers_v_max", v_max),
            ("pmse", propensity(|p| Some(p.pmse))),
            ("pmse_expected", propensity(|p| Some(p.expected))),
            ("pmse_ratio", propensity(Propensity::ratio)),
            ("pmse_standardised", propensity(Propensity::standardised)),
        ]
    }
}

fn mean_and_largest(numbers: impl Iterator<Item = f64>) -> [Option<f64>; 2] {
    let (mut sum, mut largest) = (Sum::default(), None);
    for number in numbers {
        sum.add(number);
        largest = Some(number.max(largest.unwrap_or(number)));
    }
    [sum.mean(), largest]
}

#[cfg(test)]
mod tests {
    use super::reference::{self, Row, rows};
    use super::*;
    use proptest::prelude::*;
    use rayon::ThreadPoolBuilder;

    fn measured(original: &[Row], released: &[Row]) -> (Utility, u64) {
        let watch = Watch::unlimited();
        let bag = |rows: &[Row]| Bag::from_text(4, rows.iter().cloned());
        let found = utility(&bag(original), &bag(released), &watch).unwrap();
        (found, watch.memory())
    }

    proptest! {
        #[test]
        fn differences_are_their_definitions(original in rows(), released in rows()) {
            let (found, held) = measured(&original, &released);
            prop_assert_eq!(held, 0);
            if original.is_empty() || released.is_empty() {
                prop_assert!(found.measures().iter().all(|(_, value)| value.is_none()));
                return Ok(());
            }
            for (i, column) in found.columns.iter().enumerate() {
                let tv = reference::total_variation(&original, &released, &[i]);
                prop_assert!((column.tv - tv).abs() < 1e-12);
            }
            let each = (0..4).flat_map(|a| (a + 1..4).map(move |b| (a, b)));
            prop_assert_eq!(found.pairs.len(), 6);
            for (pair, (a, b)) in found.pairs.iter().zip(each) {
                prop_assert_eq!((pair.a, pair.b), (a, b));
                let tv = reference::total_variation(&original, &released, &[a, b]);
                prop_assert!((pair.tv - tv).abs() < 1e-12);
                prop_assert!((pair.original_v - reference::cramers_v(&original, a, b)).abs() < 1e-7);
                prop_assert!((pair.released_v - reference::cramers_v(&released, a, b)).abs() < 1e-7);
            }
        }

        #[test]
        fn a_table_beside_itself_differs_in_nothing(original in rows()) {
            prop_assume!(!original.is_empty());
            let (found, _) = measured(&original, &original);
            let [.., (_, expected), _, _] = found.measures();
            for (name, value) in found.measures() {
                let zero = match name {
                    "pmse_expected" => value == expected,
                    // Below the value by chance.
                    "pmse_standardised" => value.is_none_or(|value| value < 0.0),
                    _ => value.is_none_or(|value| value.abs() < 1e-12),
                };
                prop_assert!(zero, "{} is {:?}", name, value);
            }
        }
    }

    /// Tables in which columns depend on each other, and on the table.
    fn tables() -> (Bag, Bag) {
        let row = |i: u32, shift: u32| {
            (0..6).map(move |c| {
                let x = i.wrapping_mul(2_654_435_761).rotate_left(7 * c) >> 9;
                (x % 13 > shift).then(|| ((x / 13 % 5 + i % 3 * (c % 2)) % 7).to_string())
            })
        };
        let table = |n, shift| Bag::from_text(6, (0..n).map(|i| row(i, shift)));
        (table(5000, 0), table(4000, 2))
    }

    #[test]
    fn any_number_of_threads_gives_the_same() {
        let (original, released) = tables();
        let with = |threads| {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| utility(&original, &released, &Watch::unlimited()).unwrap())
        };
        let one = with(1);
        assert_eq!(one, with(3));
        assert_eq!(one, with(4));
    }

    #[test]
    fn any_budget_gives_the_result_or_an_error() {
        let (original, released) = tables();
        let whole = utility(&original, &released, &Watch::unlimited()).unwrap();
        let mut refused = 0;
        for limit in (0..3_000_000).step_by(99_991) {
            let watch = Watch::new(limit, u64::MAX);
            match utility(&original, &released, &watch) {
                Ok(found) => assert_eq!(found, whole),
                Err(stop) => {
                    assert_eq!(stop, Stop::Memory { limit });
                    refused += 1;
                }
            }
            assert_eq!(watch.memory(), 0);
        }
        assert!(refused > 0);
        let watch = Watch::unlimited();
        watch.cancel();
        assert_eq!(utility(&original, &released, &watch), Err(Stop::Cancelled));
    }
}
