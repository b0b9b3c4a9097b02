//! Whole rows of one table that occur in another: the anonymity score and the shares of common rows.

use crate::meaning::{Cell, Meaning, OriginalRows};
use crate::sum::Sum;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use table::{Bag, Index, Reservation, Stop, Watch};

/// The anonymity score of a released table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// 0: no row of the original is in the released table.
    pub score: f64,
    /// The score as a share of the score of the original itself.
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
/// `sum 1/s * P(released has t | t occurs s times in the original)` over the numbers of times s that rows of the
/// original occur. The release has t if one of its rows stands for t and for no other row of the original: a row of
/// exact values stands for its equals, NULL being equal to NULL, and a row with general values for all rows that they
/// cover. So making a release coarser never adds a row, and a class of k rows never reveals a row that fewer than k
/// share.
///
/// Costs one look-up for each distinct row of exact values; with general values, a walk through the rows that have
/// the rarest of them, until two are found.
pub fn anonymity_score(
    released: &Bag,
    original: &Bag,
    meaning: &Meaning<'_>,
    watch: &Watch,
) -> Result<Option<Score>, Stop> {
    let common = Common::new(released, original, meaning, watch)?;
    // By the number of times: different rows, and the number of them that were released.
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
/// Occurrence and cost are as in [`anonymity_score`].
pub fn common_records(
    released: &Bag,
    original: &Bag,
    meaning: &Meaning<'_>,
    watch: &Watch,
) -> Result<CommonRecords, Stop> {
    let common = Common::new(released, original, meaning, watch)?;
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

/// The rows that occur in both tables.
struct Common {
    /// For each distinct row of the original whether it was released.
    original: Vec<bool>,
    /// The released rows that are in the original, repetitions counted.
    released_rows: u64,
}

impl Common {
    fn new(
        released: &Bag,
        original: &Bag,
        meaning: &Meaning<'_>,
        watch: &Watch,
    ) -> Result<Self, Stop> {
        let mut reservation = Reservation::new(watch);
        reservation.add(original.distinct() as u64 * 9)?;
        let mut index = Index::with_capacity(original.distinct());
        for i in 0..original.distinct() {
            watch.poll(i)?;
            // The rows of a bag are distinct, so each gets its own number.
            _ = index.number(original.row(i), |i| original.row(i as usize));
        }
        let mut common = Common { original: vec![false; original.distinct()], released_rows: 0 };
        // Created on demand: many tables have no general values.
        let rows = OnceCell::new();
        let (mut cells, mut row) = (Vec::new(), Vec::new());
        for i in 0..released.distinct() {
            watch.poll(i)?;
            let codes = released.row(i).iter().enumerate();
            cells.clear();
            cells.extend(codes.map(|(column, &code)| meaning.cell(column, code)));
            row.clear();
            row.extend(cells.iter().filter_map(|cell| match cell {
                Cell::Value(code) => Some(*code),
                _ => None,
            }));
            let found = if row.len() == cells.len() {
                index.find(row.as_slice(), |i| original.row(i as usize))
            } else {
                watch.check()?;
                if rows.get().is_none() {
                    _ = rows.set(OriginalRows::new(original, watch)?);
                }
                rows.get().and_then(|rows| the_only(rows, &cells))
            };
            if let Some(found) = found {
                common.original[found as usize] = true;
                common.released_rows += released.weight(i);
            }
        }
        Ok(common)
    }
}

/// The row that cells cover, if there is exactly one.
fn the_only(rows: &OriginalRows<'_>, cells: &[Cell<'_>]) -> Option<u32> {
    let (mut first, mut more) = (None, false);
    rows.covered(cells, |row| {
        more = first.is_some();
        first = first.or(Some(row));
        more
    });
    first.filter(|_| !more)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Row = [Option<String>; 2];

    fn bag(rows: &[Row]) -> Bag {
        Bag::from_text(2, rows.iter().cloned())
    }

    /// Both measures by definition.
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
            let meaning = Meaning::plain(&released, &original, &watch).unwrap();
            prop_assert_eq!(common_records(&released, &original, &meaning, &watch).unwrap(), records);
            let found = anonymity_score(&released, &original, &meaning, &watch).unwrap();
            prop_assert_eq!(found.is_some(), score.is_some());
            if let (Some(found), Some(score)) = (found, score) {
                prop_assert!((found.score - score.score).abs() < 1e-12);
                prop_assert!((found.normalised - score.normalised).abs() < 1e-12);
            }
            drop(meaning);
            prop_assert_eq!(watch.memory(), 0);
        }

        /// Rows of numbers from 0 to 7, shown by the lower edge of a range of 2 or 4 or blank, are read as what they
        /// cover, and a table that shows less never has a higher score.
        #[test]
        fn coarser_tables_score_less(
            cells in prop::collection::vec([(0u8..8, 0u32..4, 0u32..4), (0u8..8, 0u32..4, 0u32..4)], 1..14),
        ) {
            let at = |level: &dyn Fn(&(u8, u32, u32)) -> u32| -> Vec<Row> {
                let show = |cell: &(u8, u32, u32)| match level(cell) {
                    3 => None,
                    level => Some((cell.0 >> level << level).to_string()),
                };
                cells.iter().map(|row| [show(&row[0]), show(&row[1])]).collect()
            };
            let original = at(&|_| 0);
            let mut before = f64::INFINITY;
            for released in [at(&|_| 0), at(&|c| c.1.min(c.2)), at(&|c| c.1.max(c.2)), at(&|_| 3)] {
                let (score, records) = read_as_ranges(&released, &original);
                let watch = Watch::unlimited();
                let (shown, whole) = (bag(&released), bag(&original));
                let general = (0..2).map(|column| ranges(&shown, &whole, column)).collect();
                let meaning = Meaning::new(&shown, &whole, general, &watch).unwrap();
                let found = anonymity_score(&shown, &whole, &meaning, &watch).unwrap().unwrap();
                prop_assert!((found.score - score).abs() < 1e-12, "{} {}", found.score, score);
                prop_assert_eq!(common_records(&shown, &whole, &meaning, &watch).unwrap(), records);
                prop_assert!(found.score <= before + 1e-12, "{} after {}", found.score, before);
                before = found.score;
            }
        }
    }

    /// The numbers that a text may stand for: itself, and those of the ranges that begin with it.
    fn numbers(text: &str) -> std::ops::Range<u8> {
        let low: u8 = text.parse().unwrap();
        let width = [4, 2, 1].into_iter().find(|width| low.is_multiple_of(*width)).unwrap();
        low..low + width
    }

    fn ranges(
        released: &Bag,
        original: &Bag,
        column: usize,
    ) -> std::collections::HashMap<u32, Vec<u32>> {
        let text =
            |code: u32| String::from_utf8(released.domain(column).value(code).into()).unwrap();
        let covered = |code: u32| {
            let domain = original.domain(column);
            numbers(&text(code)).filter_map(|n| domain.find(n.to_string().as_bytes())).collect()
        };
        let codes = 0..released.domain(column).len() as u32;
        codes
            .filter(|&code| text(code).parse::<u8>().unwrap() % 2 == 0)
            .map(|code| (code, covered(code)))
            .collect()
    }

    /// The score and the common records of a table with coarser rows, by definition.
    fn read_as_ranges(released: &[Row], original: &[Row]) -> (f64, CommonRecords) {
        // In a column whose cells did not change, texts stand for themselves.
        let same = [0, 1].map(|column: usize| {
            let sorted = |rows: &[Row]| {
                let mut cells: Vec<Option<String>> =
                    rows.iter().map(|row| row[column].clone()).collect();
                cells.sort();
                cells
            };
            sorted(released) == sorted(original)
        });
        let stands = |shown: &Option<String>, cell: &Option<String>, same: bool| match (shown, cell)
        {
            _ if same => shown == cell,
            (None, _) => true,
            (Some(shown), Some(cell)) => numbers(shown).contains(&cell.parse().unwrap()),
            (Some(_), None) => false,
        };
        let covers = |r: &Row, t: &Row| (0..2).all(|c| stands(&r[c], &t[c], same[c]));
        let mut distinct = original.to_vec();
        distinct.sort();
        distinct.dedup();
        let stands_for = |r: &Row| {
            let covered: Vec<&Row> = distinct.iter().filter(|t| covers(r, t)).collect();
            (covered.len() == 1).then(|| covered[0].clone())
        };
        let found: Vec<Row> = released.iter().filter_map(stands_for).collect();
        let times = |row: &Row| original.iter().filter(|other| *other == row).count();
        let probability = |support: usize| {
            let level: Vec<&Row> = distinct.iter().filter(|r| times(r) == support).collect();
            let hits = level.iter().filter(|row| found.contains(row)).count();
            if level.is_empty() { 0.0 } else { hits as f64 / level.len() as f64 }
        };
        let score = (1..=original.len()).map(|support| probability(support) / support as f64).sum();
        let rows = original.iter().filter(|row| found.contains(row)).count();
        let share = |rows: usize, all: usize| Some(rows as f64 / all as f64);
        let of_released = share(found.len(), released.len());
        (score, CommonRecords { of_released, of_original: share(rows, original.len()) })
    }

    #[test]
    fn a_cancelled_measure_stops() {
        let watch = Watch::unlimited();
        let bag = bag(&[[Some("a".into()), None]]);
        let meaning = Meaning::plain(&bag, &bag, &watch).unwrap();
        watch.cancel();
        assert_eq!(anonymity_score(&bag, &bag, &meaning, &watch), Err(Stop::Cancelled));
    }
}
