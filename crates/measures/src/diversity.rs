//! l-diversity: how diverse the values of the sensitive column are in each class.

use crate::classes::Tally;
use table::{Bag, Stop, Units, Watch};

/// The kinds of diversity (Machanavajjhala et al., l-Diversity).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Diversity {
    /// The number of different values.
    Distinct,
    /// exp of the entropy of the values: the number of equally frequent values with the same entropy.
    Entropy,
}

impl table::Choice for Diversity {
    const NAMES: &'static [(&'static str, Self)] =
        &[("distinct", Diversity::Distinct), ("entropy", Diversity::Entropy)];
}

/// The diversity of the least diverse class; `None` if the bag has no rows or no such column.
///
/// Distinct: min over classes of the number of values; with units, of the values that can be matched to different
/// units of the class, since a unit with two values hides one person only. Entropy: min over classes of
/// `exp(-sum p ln p)`, the largest l for which every class has entropy at least `ln l`; with units, p is the share of
/// the weight, where each unit of the class weighs the same, spread over its rows there. A NULL of the sensitive column
/// is a value of its own. A class of rows without units has a diversity of 0.
///
/// The entropy does not say how many units there are: it is that of two values also if one unit has both.
pub fn l_diversity(
    bag: &Bag,
    units: Option<&Units>,
    sensitive: usize,
    kind: Diversity,
    watch: &Watch,
) -> Result<Option<f64>, Stop> {
    let Some(tally) = Tally::new(bag, units, sensitive, watch)? else { return Ok(None) };
    let mut counter = tally.counter()?;
    let mut least = f64::INFINITY;
    for class in tally.classes() {
        let diversity = match kind {
            // More than the least so far makes no difference.
            Diversity::Distinct => counter.distinct(class, least as u64)? as f64,
            Diversity::Entropy => perplexity(counter.shares(class)?),
        };
        least = least.min(diversity);
    }
    Ok(Some(least))
}

/// `exp(-sum p ln p)` of the shares p of some values; 0 without values.
pub(crate) fn perplexity(values: &[(u32, f64)]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    values.iter().map(|&(_, share)| -share * share.ln()).sum::<f64>().exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diversity(rows: &[(&str, Option<&str>)], kind: Diversity) -> Option<f64> {
        let bag = Bag::from_text(2, rows.iter().map(|&(a, b)| [Some(a), b]));
        l_diversity(&bag, None, 1, kind, &Watch::unlimited()).unwrap()
    }

    #[test]
    fn the_least_diverse_class_counts() {
        let rows =
            [("a", Some("x")), ("a", Some("y")), ("a", Some("y")), ("b", Some("x")), ("b", None)];
        assert_eq!(diversity(&rows, Diversity::Distinct), Some(2.0));
        assert_eq!(diversity(&rows[..4], Diversity::Distinct), Some(1.0));
        assert_eq!(diversity(&rows[..4], Diversity::Entropy), Some(1.0));
        // Shares 1/3 and 2/3: 3 / 2^(2/3).
        let l = diversity(&rows[..3], Diversity::Entropy).unwrap();
        assert!((l - 3.0 / 2f64.powf(2.0 / 3.0)).abs() < 1e-12);
    }

    #[test]
    fn no_rows_and_no_column_have_no_diversity() {
        assert_eq!(diversity(&[], Diversity::Distinct), None);
        let bag = Bag::from_text(1, [[Some("a")]]);
        let watch = Watch::unlimited();
        assert_eq!(l_diversity(&bag, None, 1, Diversity::Entropy, &watch).unwrap(), None);
        // Without other columns the whole table is one class.
        assert_eq!(l_diversity(&bag, None, 0, Diversity::Entropy, &watch).unwrap(), Some(1.0));
    }
}
