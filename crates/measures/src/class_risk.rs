//! The smallest classes of a table: the number of rows or units of each, and what it reveals about the sensitive
//! column.

use crate::classes::{ClassValue, Tally, position};
use crate::closeness::total_variation;
use crate::diversity::perplexity;
use std::cmp::Ordering;
use table::{Bag, Stop, Units, Watch, sort_watched};

/// The number of classes between two polls of the watch.
const RUN: usize = 1 << 15;

/// A class of rows that are equal in every column but the sensitive one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClassRisk {
    /// A distinct row of the class: all rows of the class show the same in the other columns.
    pub row: u32,
    pub rows: u64,
    /// `None` if rows count.
    pub units: Option<u64>,
    /// `None` without a sensitive column.
    pub sensitive: Option<SensitiveRisk>,
}

/// What a class reveals about the sensitive column, in which NULL is a value of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SensitiveRisk {
    /// The number of different values in the class; with units, of those that can be matched to different units, as in
    /// [`crate::l_diversity`].
    pub distinct_values: u64,
    /// exp of the entropy of its values, as there.
    pub entropy_l: f64,
    /// The distance of its values from those of the whole table, as in [`crate::t_closeness`] without an
    /// order.
    pub closeness: f64,
}

/// The `smallest` classes on all columns but the sensitive one, by number of rows, or of units if they are given;
/// classes of equal size in the order of their codes, column by column, NULL last. The least diversity and the largest
/// closeness of all classes are the measures of the table.
pub fn class_risk(
    bag: &Bag,
    units: Option<&Units>,
    sensitive: Option<usize>,
    smallest: usize,
    watch: &Watch,
) -> Result<Vec<ClassRisk>, Stop> {
    let Some(sensitive) = sensitive else { return rows(bag, units, smallest, watch) };
    let Some(tally) = Tally::new(bag, units, sensitive, watch)? else { return Ok(Vec::new()) };
    let domain = bag.domain(sensitive).len();
    // The table's counts and shares, the classes, their sizes and their order, with a copy while it is sorted.
    let _held = watch.hold(domain as u64 * 16 + bag.distinct() as u64 * 48)?;
    let shares = tally.shares(domain)?;
    let mut counter = tally.counter()?;
    let classes: Vec<&[ClassValue]> = tally.classes().collect();
    let mut sizes: Vec<(u64, Option<u64>)> = Vec::with_capacity(classes.len());
    for class in &classes {
        sizes.push(counter.size(class)?);
    }
    let shown = |class: u32| {
        let row = bag.row(tally.row(class) as usize);
        (&row[..sensitive], &row[sensitive + 1..])
    };
    let order = first(classes.len(), smallest, watch, |a, b| {
        (size(sizes[a as usize]), shown(a)).cmp(&(size(sizes[b as usize]), shown(b)))
    })?;
    let mut values = Vec::new();
    let mut found = Vec::with_capacity(order.len());
    for class in order {
        watch.check()?;
        let (own, (rows, units)) = (classes[class as usize], sizes[class as usize]);
        let distinct_values = counter.distinct(own, u64::MAX)?;
        let own = counter.shares(own)?;
        values.clear();
        values.extend(own.iter().map(|&(v, share)| (position(v, domain), share)));
        let sensitive = SensitiveRisk {
            distinct_values,
            entropy_l: perplexity(own),
            closeness: total_variation(&shares, &values),
        };
        found.push(ClassRisk { row: tally.row(class), rows, units, sensitive: Some(sensitive) });
    }
    Ok(found)
}

/// What counts of a class of so many rows and units.
fn size((rows, units): (u64, Option<u64>)) -> u64 {
    units.unwrap_or(rows)
}

/// Without a sensitive column the distinct rows are the classes.
fn rows(
    bag: &Bag,
    units: Option<&Units>,
    smallest: usize,
    watch: &Watch,
) -> Result<Vec<ClassRisk>, Stop> {
    let _held = watch.hold(bag.distinct() as u64 * 8)?;
    let sizes = |row: u32| {
        let units = units.map(|units| units.of(row as usize).len() as u64);
        (bag.weight(row as usize), units)
    };
    let key = |row: u32| (size(sizes(row)), bag.row(row as usize));
    let order = first(bag.distinct(), smallest, watch, |a, b| key(a).cmp(&key(b)))?;
    let class = |row: u32| {
        let (rows, units) = sizes(row);
        ClassRisk { row, rows, units, sensitive: None }
    };
    Ok(order.into_iter().map(class).collect())
}

/// The first `wanted` of the numbers below `count`, in the order of `compare`.
fn first(
    count: usize,
    wanted: usize,
    watch: &Watch,
    compare: impl Fn(u32, u32) -> Ordering,
) -> Result<Vec<u32>, Stop> {
    let mut first: Vec<u32> = Vec::new();
    let mut next = 0..count as u32;
    // If few are wanted, most are discarded before they are sorted.
    while wanted < RUN && !next.is_empty() {
        watch.check()?;
        first.extend(next.by_ref().take(RUN));
        if wanted < first.len() {
            first.select_nth_unstable_by(wanted, |&a, &b| compare(a, b));
            first.truncate(wanted);
        }
    }
    first.extend(next);
    sort_watched(&mut first, watch, compare)?;
    first.truncate(wanted);
    Ok(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Diversity, k_anonymity, l_diversity, t_closeness};
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use table::NONE;

    type Cell = Option<String>;

    fn rows() -> impl Strategy<Value = Vec<[Cell; 3]>> {
        let cell = || prop::option::weighted(0.8, "[a-c]");
        prop::collection::vec([cell(), cell(), cell()], 0..30)
    }

    /// NULL comes last.
    fn key(cell: &Cell) -> (bool, Cell) {
        (cell.is_none(), cell.clone())
    }

    /// Rows, values, entropy-l and closeness of each class, by definition.
    fn by_definition(rows: &[[Cell; 3]], sensitive: usize) -> Vec<(u64, Vec<Cell>, SensitiveRisk)> {
        let mut classes: BTreeMap<Vec<(bool, Cell)>, Vec<Cell>> = BTreeMap::new();
        for row in rows {
            let others = (0..3).filter(|&c| c != sensitive).map(|c| key(&row[c]));
            classes.entry(others.collect()).or_default().push(row[sensitive].clone());
        }
        let share = |values: &[Cell], value: &Cell| {
            values.iter().filter(|v| *v == value).count() as f64 / values.len() as f64
        };
        let table: Vec<Cell> = rows.iter().map(|row| row[sensitive].clone()).collect();
        let mut distinct = table.clone();
        distinct.sort();
        distinct.dedup();
        let risk = |values: &[Cell]| {
            let shares = || distinct.iter().map(|v| (share(values, v), share(&table, v)));
            let entropy: f64 =
                shares().filter(|s| s.0 > 0.0).map(|(p, _)| -p * p.ln()).sum::<f64>();
            SensitiveRisk {
                distinct_values: shares().filter(|s| s.0 > 0.0).count() as u64,
                entropy_l: entropy.exp(),
                closeness: shares().map(|(p, q)| (p - q).abs()).sum::<f64>() / 2.0,
            }
        };
        let mut found: Vec<_> = classes
            .into_iter()
            .map(|(others, values)| {
                let others: Vec<Cell> = others.into_iter().map(|(_, cell)| cell).collect();
                (values.len() as u64, others, risk(&values))
            })
            .collect();
        // Stable: classes of equal size keep their order.
        found.sort_by_key(|class| class.0);
        found
    }

    fn shown(bag: &Bag, row: u32, sensitive: Option<usize>) -> Vec<Cell> {
        let text = |c: usize, code: u32| {
            (code != NONE).then(|| String::from_utf8(bag.domain(c).value(code).to_vec()).unwrap())
        };
        let cells = bag.row(row as usize).iter().enumerate();
        cells.filter(|&(c, _)| Some(c) != sensitive).map(|(c, &code)| text(c, code)).collect()
    }

    proptest! {
        #[test]
        fn classes_are_those_of_the_definition(
            rows in rows(),
            sensitive in 0usize..3,
            smallest in 1usize..20,
        ) {
            let bag = Bag::from_text(3, rows.clone());
            let watch = Watch::unlimited();
            let found = class_risk(&bag, None, Some(sensitive), smallest, &watch).unwrap();
            let expected = by_definition(&rows, sensitive);
            prop_assert_eq!(found.len(), expected.len().min(smallest));
            for (class, (rows, others, risk)) in found.iter().zip(&expected) {
                prop_assert_eq!(class.rows, *rows);
                prop_assert_eq!(&shown(&bag, class.row, Some(sensitive)), others);
                let found = class.sensitive.unwrap();
                prop_assert_eq!(found.distinct_values, risk.distinct_values);
                prop_assert!((found.entropy_l - risk.entropy_l).abs() < 1e-12);
                prop_assert!((found.closeness - risk.closeness).abs() < 1e-12);
            }
            prop_assert_eq!(watch.memory(), 0);
        }

        /// The extremes of all classes are the measures of the whole table, to the last bit.
        #[test]
        fn the_measures_are_the_extremes(rows in rows(), sensitive in 0usize..3) {
            let bag = Bag::from_text(3, rows);
            let watch = Watch::unlimited();
            let found = class_risk(&bag, None, Some(sensitive), usize::MAX, &watch).unwrap();
            let of = |get: fn(&SensitiveRisk) -> f64| found.iter().filter_map(move |c| c.sensitive.as_ref().map(get));
            prop_assert_eq!(
                of(|s| s.entropy_l).min_by(f64::total_cmp),
                l_diversity(&bag, None, sensitive, Diversity::Entropy, &watch).unwrap()
            );
            prop_assert_eq!(
                of(|s| s.distinct_values as f64).min_by(f64::total_cmp),
                l_diversity(&bag, None, sensitive, Diversity::Distinct, &watch).unwrap()
            );
            prop_assert_eq!(
                of(|s| s.closeness).max_by(f64::total_cmp),
                t_closeness(&bag, None, sensitive, false, &watch).unwrap()
            );
            let whole = class_risk(&bag, None, None, 1, &watch).unwrap();
            prop_assert_eq!(whole.first().map(|class| class.rows), k_anonymity(&bag, None, &watch).unwrap());
        }

        #[test]
        fn without_a_sensitive_column_rows_are_classes(rows in rows(), smallest in 1usize..20) {
            let bag = Bag::from_text(3, rows.clone());
            let mut expected: BTreeMap<Vec<(bool, Cell)>, u64> = BTreeMap::new();
            for row in &rows {
                *expected.entry(row.iter().map(key).collect()).or_default() += 1;
            }
            let mut expected: Vec<_> = expected.into_iter().collect();
            expected.sort_by_key(|class| class.1);
            expected.truncate(smallest);
            let found = class_risk(&bag, None, None, smallest, &Watch::unlimited()).unwrap();
            let found: Vec<_> = found
                .iter()
                .map(|class| (shown(&bag, class.row, None).iter().map(key).collect(), class.rows))
                .collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_column_alone_is_one_class() {
        let bag = Bag::from_text(1, [[Some("a")], [Some("b")], [None]]);
        let found = class_risk(&bag, None, Some(0), 5, &Watch::unlimited()).unwrap();
        let [ClassRisk { rows: 3, sensitive: Some(risk), .. }] = found[..] else {
            panic!("{found:?}")
        };
        assert_eq!((risk.distinct_values, risk.closeness), (3, 0.0));
        assert!((risk.entropy_l - 3.0).abs() < 1e-12);
    }

    #[test]
    fn any_budget_gives_the_result_or_an_error() {
        let rows = (0..500).map(|i: u32| [Some((i % 90).to_string()), Some((i % 7).to_string())]);
        let bag = Bag::from_text(2, rows);
        for sensitive in [None, Some(1)] {
            let risk = |watch: &Watch| class_risk(&bag, None, sensitive, 10, watch);
            let whole = risk(&Watch::unlimited()).unwrap();
            let mut refused = 0;
            for limit in (0..60_000).step_by(997) {
                match risk(&Watch::new(limit, u64::MAX)) {
                    Ok(found) => assert_eq!(found, whole),
                    Err(stop) => {
                        assert_eq!(stop, Stop::Memory { limit });
                        refused += 1;
                    }
                }
            }
            assert!((1..60).contains(&refused), "{refused}");
            let watch = Watch::unlimited();
            watch.cancel();
            assert_eq!(risk(&watch), Err(Stop::Cancelled));
        }
    }
}
