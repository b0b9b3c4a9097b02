//! Compares the frequent itemsets of two tables.

use crate::row_counts::RowCounts;
use crate::sum::Sum;
use crate::supports::supports;
use crate::translation::Translation;
use table::{Bag, Index, Reservation, Stop, Watch};

/// How the frequent itemsets of a released table differ from those of the original.
///
/// The share of an itemset is its support as a share of its table's rows (0 in an empty table).
/// Means are `None` over nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Comparison {
    /// Frequent in the original.
    pub original: u64,
    /// Frequent in the released table.
    pub released: u64,
    /// Frequent in both.
    pub common: u64,
    /// Frequent in the original only.
    pub missing: u64,
    /// Frequent in the released table only.
    pub added: u64,
    /// The part of `added` that no row of the original contains.
    pub added_absent: u64,
    /// The normalised frequency difference: the mean of `|o - r| / o` for shares o and r.
    pub nfd_common: Option<f64>,
    pub nfd_missing: Option<f64>,
    /// Without those of `added_absent`, for which there is none.
    pub nfd_added: Option<f64>,
    /// The mean of `|o - r|` over the itemsets frequent in both.
    pub common_difference: Option<f64>,
    /// The mean released share of the itemsets frequent in the released table only.
    pub added_share: Option<f64>,
}

impl Comparison {
    /// The share of the original's frequent itemsets that are frequent in the released table too.
    pub fn equal_share(&self) -> Option<f64> {
        (self.original > 0).then(|| self.common as f64 / self.original as f64)
    }
}

/// Compares the itemsets, single items included, that at least a share `min_share` of the rows
/// contain, each table by its own rows, with at most `max_length` items.
///
/// The normalised frequency difference is that of Dorrestijn (Provable Privacy for Database Generation), the other
/// means are those of Vreeken et al. (Preserving Privacy through Data Generation, table 2). An itemset that is
/// frequent in one table is counted in the other, whatever its support there. The bags have the same columns in the
/// same order.
pub fn compare_itemsets(
    original: &Bag,
    released: &Bag,
    min_share: f64,
    max_length: Option<usize>,
    watch: &Watch,
) -> Result<Comparison, Stop> {
    let frequent = |bag: &Bag| {
        let min_support = least_support(min_share, bag.row_count());
        mining::frequent(bag, None, min_support, max_length, watch)
    };
    let (ours, theirs) = (frequent(original)?, frequent(released)?);
    let to_original = Translation::new(released, original, watch)?;
    let to_released = Translation::new(original, released, watch)?;

    let mut reservation = Reservation::new(watch);
    reservation.add(10 * ours.len() as u64 + 4 * theirs.len() as u64)?;
    let mut index = Index::with_capacity(ours.len());
    for i in 0..ours.len() {
        watch.poll(i)?;
        // An itemset is listed once, so each gets its own number.
        _ = index.number(ours.items(i), |i| ours.items(i as usize));
    }
    let mut missing = vec![true; ours.len()];
    let mut added = Vec::new();
    let rows = RowCounts::new(original, released);
    let (mut nfd, mut difference) = (Sum::default(), Sum::default());
    let mut items = Vec::new();
    for (i, (theirs, support)) in theirs.iter().enumerate() {
        watch.poll(i)?;
        items.clear();
        items.extend(theirs.iter().map(|&item| to_original.item(item)));
        let Some(found) = index.find(items.as_slice(), |i| ours.items(i as usize)) else {
            added.push(i as u32);
            continue;
        };
        let found = found as usize;
        missing[found] = false;
        nfd.add(relative(rows, ours.support(found), support));
        difference.add(rows.share(rows.apart(ours.support(found), support)));
    }
    let mut comparison = Comparison {
        original: ours.len() as u64,
        released: theirs.len() as u64,
        common: nfd.count(),
        added: added.len() as u64,
        nfd_common: nfd.mean(),
        common_difference: difference.mean(),
        ..Comparison::default()
    };
    drop(index);

    let missing: Vec<u32> = (0..).zip(missing).filter_map(|(i, m)| m.then_some(i)).collect();
    let counted = supports(released, &ours, &missing, &to_released, watch)?;
    let mut nfd = Sum::default();
    for (i, support) in counted {
        nfd.add(relative(rows, ours.support(i as usize), support));
    }
    comparison.missing = nfd.count();
    comparison.nfd_missing = nfd.mean();

    let counted = supports(original, &theirs, &added, &to_original, watch)?;
    let (mut nfd, mut shares) = (Sum::default(), Sum::default());
    for (i, support) in counted {
        let theirs = theirs.support(i as usize);
        shares.add(theirs as f64 / rows.released as f64);
        if support > 0 {
            nfd.add(relative(rows, support, theirs));
        }
    }
    comparison.added_absent = shares.count() - nfd.count();
    comparison.nfd_added = nfd.mean();
    comparison.added_share = shares.mean();
    watch.release(ours.memory() + theirs.memory());
    Ok(comparison)
}

/// The least number of rows, at least 1, that is at least the share `min_share` of `rows`.
///
/// Decided by the quotient and not by a product, because 3 of 30 rows are a share of 0.1 and
/// `0.1 * 30` is more than 3.
pub fn least_support(min_share: f64, rows: u64) -> u64 {
    let enough = |support: u64| support as f64 / rows.max(1) as f64 >= min_share;
    let near = (min_share * rows as f64).ceil() as u64;
    let likely = [near.saturating_sub(1).max(1), near.max(1)];
    likely.into_iter().find(|&support| enough(support)).unwrap_or(near.saturating_add(1))
}

/// `|o - r| / o` for the shares o and r of these supports; infinite if `original` is 0.
fn relative(rows: RowCounts, original: u64, released: u64) -> f64 {
    rows.apart(original, released) as f64 / (u128::from(original) * rows.released) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use mining::reference::{Found, frequent, occurring};
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use table::Item;

    /// Itemsets by their texts, so that those of two bags can be compared.
    type Named = BTreeMap<Vec<(u32, Vec<u8>)>, u64>;

    fn named(bag: &Bag, found: Found) -> Named {
        let text =
            |item: &Item| (item.column, bag.domain(item.column as usize).value(item.code).to_vec());
        found.into_iter().map(|(items, n)| (items.iter().map(text).collect(), n)).collect()
    }

    /// Every number by definition.
    fn by_definition(o: &Bag, r: &Bag, min_share: f64, max: Option<usize>) -> Comparison {
        let frequent_of = |bag: &Bag| {
            let least = (1..).find(|&n| n as f64 / bag.row_count().max(1) as f64 >= min_share);
            named(bag, frequent(bag, least.unwrap(), max))
        };
        let (ours, theirs) = (frequent_of(o), frequent_of(r));
        let (in_o, in_r) = (named(o, occurring(o)), named(r, occurring(r)));
        let share = |all: &Named, bag: &Bag, items: &Vec<_>| {
            *all.get(items).unwrap_or(&0) as f64 / bag.row_count().max(1) as f64
        };
        let pairs = |of: &Named, keep: &dyn Fn(&Vec<_>) -> bool| -> Vec<(f64, f64)> {
            let kept = of.keys().filter(|items| keep(items));
            kept.map(|items| (share(&in_o, o, items), share(&in_r, r, items))).collect()
        };
        let mean =
            |xs: Vec<f64>| (!xs.is_empty()).then(|| xs.iter().sum::<f64>() / xs.len() as f64);
        let nfd = |pairs: &[(f64, f64)]| {
            let counted = pairs.iter().filter(|(o, _)| *o > 0.0);
            mean(counted.map(|(o, r)| (o - r).abs() / o).collect())
        };
        let common = pairs(&ours, &|items| theirs.contains_key(items));
        let missing = pairs(&ours, &|items| !theirs.contains_key(items));
        let added = pairs(&theirs, &|items| !ours.contains_key(items));
        Comparison {
            original: ours.len() as u64,
            released: theirs.len() as u64,
            common: common.len() as u64,
            missing: missing.len() as u64,
            added: added.len() as u64,
            added_absent: added.iter().filter(|(o, _)| *o == 0.0).count() as u64,
            nfd_common: nfd(&common),
            nfd_missing: nfd(&missing),
            nfd_added: nfd(&added),
            common_difference: mean(common.iter().map(|(o, r)| (o - r).abs()).collect()),
            added_share: mean(added.iter().map(|(_, r)| *r).collect()),
        }
    }

    fn means(c: &Comparison) -> [Option<f64>; 5] {
        [c.nfd_common, c.nfd_missing, c.nfd_added, c.common_difference, c.added_share]
    }

    fn counts(c: &Comparison) -> [u64; 6] {
        [c.original, c.released, c.common, c.missing, c.added, c.added_absent]
    }

    fn rows() -> impl Strategy<Value = Vec<[Option<String>; 4]>> {
        let cell = || prop::option::weighted(0.9, "[a-c]");
        prop::collection::vec([cell(), cell(), cell(), cell()], 0..25)
    }

    proptest! {
        #[test]
        fn a_comparison_is_its_definition(
            original in rows(),
            released in rows(),
            percent in 1u32..=100,
            max in prop::option::of(1usize..4),
        ) {
            let (o, r) = (Bag::from_text(4, original), Bag::from_text(4, released));
            let min_share = f64::from(percent) / 100.0;
            let watch = Watch::unlimited();
            let found = compare_itemsets(&o, &r, min_share, max, &watch).unwrap();
            let expected = by_definition(&o, &r, min_share, max);
            prop_assert_eq!(counts(&found), counts(&expected));
            for (found, expected) in means(&found).into_iter().zip(means(&expected)) {
                prop_assert_eq!(found.is_some(), expected.is_some());
                let difference = found.unwrap_or(0.0) - expected.unwrap_or(0.0);
                prop_assert!(difference.abs() < 1e-12);
            }
            prop_assert_eq!(watch.memory(), 0);
        }
    }

    #[test]
    fn shares_that_are_exact_in_decimal_are_exact() {
        for rows in 1..2000u64 {
            for hundredths in 1..=100u64 {
                let least = least_support(hundredths as f64 / 100.0, rows);
                assert_eq!(least, (hundredths * rows).div_ceil(100), "{hundredths} % of {rows}");
            }
        }
        assert_eq!(least_support(f64::MIN_POSITIVE, 10), 1);
        assert_eq!(least_support(1.0, u64::MAX >> 12), u64::MAX >> 12);
        assert_eq!(least_support(0.5, 0), 1);
        assert_eq!(least_support(f64::INFINITY, 3), u64::MAX);
    }

    #[test]
    fn any_budget_gives_the_result_or_an_error() {
        let row =
            |i: u32| (0..6).map(move |c| Some(((i * i + c * i + i / (c + 2)) % 4).to_string()));
        let (o, r) = (Bag::from_text(6, (0..90).map(row)), Bag::from_text(6, (20..120).map(row)));
        let compare = |watch: &Watch| compare_itemsets(&o, &r, 0.02, None, watch);
        let whole = compare(&Watch::unlimited()).unwrap();
        assert!(whole.missing > 0 && whole.added > 0 && whole.common > 0);
        let mut refused = 0;
        for limit in (0..2_000_000).step_by(9973) {
            let watch = Watch::new(limit, u64::MAX);
            match compare(&watch) {
                Ok(found) => assert_eq!(found, whole),
                Err(stop) => {
                    assert_eq!(stop, Stop::Memory { limit });
                    refused += 1;
                }
            }
        }
        assert!(refused > 0);
        let watch = Watch::unlimited();
        watch.cancel();
        assert_eq!(compare(&watch), Err(Stop::Cancelled));
    }
}
