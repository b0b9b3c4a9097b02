//! Whole rows of one table that occur in another.

use crate::sum::Sum;
use crate::translation::Translation;
use std::collections::BTreeMap;
use table::{Bag, Index, Reservation, Stop, Watch};

/// The anonymity score of a released table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// 0: no row of the original is in the released table.
    pub score: f64,
    /// The score as a share of what the original would score if it were released as it is.
    pub normalised: f64,
}

/// The share of the rows of each table that also occur in the other; `None` without rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CommonRecords {
    pub of_released: Option<f64>,
    pub of_original: Option<f64>,
}

/// The anonymity score of Vreeken et al. (Preserving Privacy through Data Generation, definitions
/// 1 and 2); `None` if the original has no rows.
///
/// `sum 1/s * P(released has t | t occurs s times in the original)` over the numbers of times s
/// that rows of the original occur. Rows are equal if every cell is, NULL being equal to NULL. The
/// bags have the same columns in the same order. The cost is one look-up for each distinct row.
pub fn anonymity_score(
    released: &Bag,
    original: &Bag,
    watch: &Watch,
) -> Result<Option<Score>, Stop> {
    let common = Common::new(released, original, watch)?;
    // By the number of times: different rows, and how many of them were released.
    let mut levels: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for (&weight, &released) in original.weights().iter().zip(&common.original) {
        let level = levels.entry(weight).or_default();
        level.0 += 1;
        level.1 += u64::from(released);
    }
    let (mut score, mut worst) = (Sum::default(), Sum::default());
    for (support, (rows, released)) in levels {
        score.add(released as f64 / (rows as f64 * support as f64));
        worst.add(1.0 / support as f64);
    }
    let (score, worst) = (score.get(), worst.get());
    Ok((worst > 0.0).then(|| Score { score, normalised: score / worst }))
}

/// The share of the rows of each table that also occur in the other, repetitions counted.
///
/// Equality and cost are as in [`anonymity_score`].
pub fn common_records(
    released: &Bag,
    original: &Bag,
    watch: &Watch,
) -> Result<CommonRecords, Stop> {
    let common = Common::new(released, original, watch)?;
    let found: u64 = original
        .weights()
        .iter()
        .zip(&common.original)
        .filter_map(|(&weight, &released)| released.then_some(weight))
        .sum();
    let share =
        |rows: u64, bag: &Bag| (bag.row_count() > 0).then(|| rows as f64 / bag.row_count() as f64);
    Ok(CommonRecords {
        of_released: share(common.released_rows, released),
        of_original: share(found, original),
    })
}

/// Which rows occur in both.
struct Common {
    /// For each distinct row of the original whether it was released.
    original: Vec<bool>,
    /// The released rows that are in the original, repetitions counted.
    released_rows: u64,
}

impl Common {
    fn new(released: &Bag, original: &Bag, watch: &Watch) -> Result<Self, Stop> {
        let translation = Translation::new(released, original, watch)?;
        let mut reservation = Reservation::new(watch);
        reservation.add(original.distinct() as u64 * 9)?;
        let mut index = Index::with_capacity(original.distinct());
        for i in 0..original.distinct() {
            watch.poll(i)?;
            // The rows of a bag are distinct, so each gets its own number.
            _ = index.number(original.row(i), |i| original.row(i as usize));
        }
        let mut common = Common { original: vec![false; original.distinct()], released_rows: 0 };
        let mut row = Vec::with_capacity(original.width());
        for i in 0..released.distinct() {
            watch.poll(i)?;
            row.clear();
            let cells = released.row(i).iter().enumerate();
            row.extend(cells.map(|(column, &code)| translation.code(column, code)));
            if let Some(found) = index.find(row.as_slice(), |i| original.row(i as usize)) {
                common.original[found as usize] = true;
                common.released_rows += released.weight(i);
            }
        }
        Ok(common)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Row = [Option<String>; 2];

    fn bag(rows: &[Row]) -> Bag {
        Bag::from_text(2, rows.iter().cloned())
    }

    /// Both measures word by word.
    fn by_definition(released: &[Row], original: &[Row]) -> (Option<Score>, CommonRecords) {
        let times = |row: &Row| original.iter().filter(|other| *other == row).count();
        let mut distinct = original.to_vec();
        distinct.sort();
        distinct.dedup();
        let score = |released: &[Row]| -> f64 {
            let probability = |support: usize| {
                let level: Vec<&Row> = distinct.iter().filter(|r| times(r) == support).collect();
                let found = level.iter().filter(|row| released.contains(row)).count();
                if level.is_empty() { 0.0 } else { found as f64 / level.len() as f64 }
            };
            (1..=original.len()).map(|support| probability(support) / support as f64).sum()
        };
        let share = |of: &[Row], among: &[Row]| {
            let found = of.iter().filter(|row| among.contains(row)).count();
            (!of.is_empty()).then(|| found as f64 / of.len() as f64)
        };
        let normalised = score(released) / score(original);
        (
            (!original.is_empty()).then(|| Score { score: score(released), normalised }),
            CommonRecords {
                of_released: share(released, original),
                of_original: share(original, released),
            },
        )
    }

    fn rows() -> impl Strategy<Value = Vec<Row>> {
        let cell = prop::option::weighted(0.8, "[a-c]");
        prop::collection::vec([cell.clone(), cell], 0..30)
    }

    proptest! {
        #[test]
        fn both_measures_are_their_definitions(released in rows(), original in rows()) {
            let watch = Watch::unlimited();
            let (score, records) = by_definition(&released, &original);
            let (released, original) = (bag(&released), bag(&original));
            prop_assert_eq!(common_records(&released, &original, &watch).unwrap(), records);
            let found = anonymity_score(&released, &original, &watch).unwrap();
            prop_assert_eq!(found.is_some(), score.is_some());
            if let (Some(found), Some(score)) = (found, score) {
                prop_assert!((found.score - score.score).abs() < 1e-12);
                prop_assert!((found.normalised - score.normalised).abs() < 1e-12);
            }
            prop_assert_eq!(watch.memory(), 0);
        }
    }

    #[test]
    fn a_cancelled_measure_stops() {
        let watch = Watch::unlimited();
        watch.cancel();
        let bag = bag(&[[Some("a".into()), None]]);
        assert_eq!(anonymity_score(&bag, &bag, &watch), Err(Stop::Cancelled));
    }
}
