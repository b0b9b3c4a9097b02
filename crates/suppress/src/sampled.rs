//! Suppression by a sample (ten Tusscher, section 2.3): infrequent itemsets are searched for in some of the rows and
//! blanked in all of them. For tables that are too large to be searched as a whole.

use crate::{Error, checked, counted, mii_suppress};
use table::{Bag, BitSets, Item, Itemsets, Release, Stop, UnitCounter, Units, Watch, sort_watched};

/// As [`mii_suppress`](crate::mii_suppress), but minimal infrequent itemsets are those of a share of the rows, for
/// theta times that share, rounded up: rather more is blanked than too little. Values that no row of the sample has are
/// blanked too. With units the sample is a share of the units, with all their rows. The result has no guarantee: infrequent itemsets that the sample does not show remain.
pub fn mii_suppress_sampled(
    bag: &Bag,
    units: Option<&Units>,
    theta: u64,
    max_length: Option<usize>,
    share: f64,
    watch: &Watch,
) -> Result<Release, Error> {
    if share >= 1.0 || theta == 0 {
        return mii_suppress(bag, units, theta, max_length, watch);
    }
    let (sample, of_sample) = match units {
        None => (sample(bag, share, watch)?, None),
        Some(units) => {
            let (sample, of_sample) = sample_units(bag, units, share, watch)?;
            (sample, Some(of_sample))
        }
    };
    let scaled = (theta as f64 * share).ceil() as u64;
    let held = of_sample.as_ref().map_or(0, Units::memory);
    let _held = watch.hold(held + sample.own_memory() + bag.distinct() as u64 * 8)?;
    let all = counted(&sample, of_sample.as_ref(), watch)?;
    if scaled >= all {
        return Err(Error::NothingLeft { class: scaled + 1, rows: all });
    }
    let miis = mining::miis(&sample, of_sample.as_ref(), scaled, max_length, watch)?;
    let supports = sample.supports();
    drop(sample);
    let masks = blanked(bag, &miis, &supports, watch);
    // The memory of a list of itemsets stays reserved until its owner releases it.
    watch.release(miis.memory());
    let masks = masks?;
    Ok(Release::from_masks(bag, masks.words(), watch)?)
}

/// k-MII: [`mii_suppress_sampled`] with theta = k - 1, then rows whose class on the output has fewer than `k` rows are
/// dropped. Every class of the release has at least `k` rows, as all rows are counted. With units, the rows of a class
/// are of at least `k` different ones.
pub fn k_mii(
    bag: &Bag,
    units: Option<&Units>,
    k: u64,
    max_length: Option<usize>,
    share: f64,
    watch: &Watch,
) -> Result<Release, Error> {
    let release = mii_suppress_sampled(bag, units, k.saturating_sub(1), max_length, share, watch)?;
    checked(release, bag, units, bag.width(), k, watch)
}

/// A share of the rows, at equal distances in the order of their values: independent of the order of reading, and
/// closer to the whole table than a random sample.
fn sample(bag: &Bag, share: f64, watch: &Watch) -> Result<Bag, Stop> {
    let _held = watch.hold(bag.distinct() as u64 * 16)?;
    let mut order: Vec<u32> = (0..bag.distinct() as u32).collect();
    sort_watched(&mut order, watch, |a, b| bag.row(a as usize).cmp(bag.row(b as usize)))?;
    let mut weights = vec![0; bag.distinct()];
    let (mut before, mut taken) = (0u64, 0u64);
    for &row in &order {
        let weight = bag.weight(row as usize);
        before += weight;
        let now = ((before as f64 * share) as u64).clamp(taken, taken + weight);
        weights[row as usize] = now - taken;
        taken = now;
    }
    Ok(bag.with_weights(&weights))
}

/// The rows of a share of the units, which are taken at equal distances in the order of their values.
fn sample_units(bag: &Bag, units: &Units, share: f64, watch: &Watch) -> Result<(Bag, Units), Stop> {
    let _held = watch.hold(UnitCounter::bytes(units.domain()) + units.domain() as u64)?;
    let mut counter = UnitCounter::new(units.domain());
    counter.begin();
    for row in 0..bag.distinct() {
        watch.poll(row)?;
        for of in units.of(row) {
            counter.see(of.unit);
        }
    }
    let (mut before, mut taken) = (0u64, 0u64);
    let mut drawn = vec![false; units.domain()];
    for (unit, drawn) in (0..).zip(&mut drawn) {
        // Units without rows were not seen.
        if counter.see(unit) {
            continue;
        }
        before += 1;
        *drawn = (before as f64 * share) as u64 > taken;
        taken += u64::from(*drawn);
    }
    bag.of_units(units, |unit| drawn[unit as usize], watch)
}

/// The cells of each row that lie in an itemset which the row contains, or that the sample does not have.
fn blanked(
    bag: &Bag,
    miis: &Itemsets,
    supports: &[Vec<u64>],
    watch: &Watch,
) -> Result<BitSets, Stop> {
    let values: usize = supports.iter().map(Vec::len).sum();
    let _held = watch.hold(24 * values as u64 + 8 * miis.len() as u64)?;
    let support = |item: &Item| supports[item.column as usize][item.code as usize];
    // By the rarest of its items, so that it is compared with the fewest rows.
    let mut by_item: Vec<Vec<Vec<u32>>> =
        supports.iter().map(|column| vec![Vec::new(); column.len()]).collect();
    for (i, (items, _)) in miis.iter().enumerate() {
        watch.poll(i)?;
        if let Some(rarest) = items.iter().min_by_key(|&item| support(item)) {
            by_item[rarest.column as usize][rarest.code as usize].push(i as u32);
        }
    }
    let mut masks = BitSets::new(bag.distinct(), bag.width());
    for i in 0..bag.distinct() {
        watch.poll(i)?;
        let row = bag.row(i);
        let has = |item: &Item| row[item.column as usize] == item.code;
        for item in Bag::row_items(row) {
            if support(&item) == 0 {
                masks.insert(i, item.column as usize);
            }
            for &mii in &by_item[item.column as usize][item.code as usize] {
                let items = miis.items(mii as usize);
                if items.iter().all(has) {
                    items.iter().for_each(|item| masks.insert(i, item.column as usize));
                }
            }
        }
    }
    Ok(masks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use table::NONE;

    fn rows() -> impl Strategy<Value = Vec<Vec<Option<&'static str>>>> {
        let cell = prop::sample::select(vec![None, Some("a"), Some("b"), Some("c")]);
        prop::collection::vec(prop::collection::vec(cell, 3), 1..40)
    }

    fn shown(release: &Release, bag: &Bag) -> Vec<Vec<u32>> {
        let row = |piece| {
            let mut row = vec![NONE; bag.width()];
            release.write(bag, piece, &mut row);
            row
        };
        release.pieces().iter().map(row).collect()
    }

    proptest! {
        #[test]
        fn itemsets_of_the_sample_are_blanked_in_all_rows(rows in rows(), theta in 1u64..4, tenths in 1u32..10) {
            let (share, watch) = (f64::from(tenths) / 10.0, Watch::unlimited());
            let bag = Bag::from_text(3, rows);
            let part = sample(&bag, share, &watch).unwrap();
            prop_assert_eq!(part.row_count(), (bag.row_count() as f64 * share) as u64);
            let scaled = (theta as f64 * share).ceil() as u64;
            let release = mii_suppress_sampled(&bag, None, theta, None, share, &watch);
            if scaled >= part.row_count() {
                prop_assert!(release.is_err());
                return Ok(());
            }
            let miis = mining::reference::miis(&part, scaled, None);
            let supports = part.supports();
            let expected: Vec<Vec<u32>> = (0..bag.distinct()).map(|i| {
                let row = bag.row(i);
                let mut left = row.to_vec();
                for (column, &code) in row.iter().enumerate() {
                    if code != NONE && supports[column][code as usize] == 0 {
                        left[column] = NONE;
                    }
                }
                for items in miis.keys() {
                    if items.iter().all(|item| row[item.column as usize] == item.code) {
                        items.iter().for_each(|item| left[item.column as usize] = NONE);
                    }
                }
                left
            }).collect();
            prop_assert_eq!(shown(&release.unwrap(), &bag), expected);
        }

        #[test]
        fn classes_are_counted_over_all_rows(rows in rows(), k in 1u64..6, tenths in 1u32..11) {
            let (share, watch) = (f64::from(tenths) / 10.0, Watch::unlimited());
            let bag = Bag::from_text(3, rows);
            if let Ok(release) = k_mii(&bag, None, k, None, share, &watch) {
                prop_assert!(release.k(&bag, &watch).unwrap().is_none_or(|least| least >= k));
            }
        }

        #[test]
        fn the_order_of_rows_does_not_matter(mut rows in rows(), tenths in 1u32..10) {
            let share = f64::from(tenths) / 10.0;
            let drawn = |rows: &[Vec<Option<&str>>]| {
                let mut part = sample(&Bag::from_text(3, rows.to_vec()), share, &Watch::unlimited()).unwrap();
                part.sort(&Watch::unlimited()).unwrap();
                (0..part.distinct()).map(|i| (part.row(i).to_vec(), part.weight(i))).collect::<Vec<_>>()
            };
            let first = drawn(&rows);
            rows.reverse();
            prop_assert_eq!(first, drawn(&rows));
        }
    }

    #[test]
    fn all_rows_are_no_sample() {
        let bag = Bag::from_text(1, [["a"], ["a"], ["b"]].map(|row| row.map(Some)));
        let watch = Watch::unlimited();
        let (whole, part) = (
            mii_suppress(&bag, None, 1, None, &watch),
            mii_suppress_sampled(&bag, None, 1, None, 1.0, &watch),
        );
        assert_eq!(shown(&whole.unwrap(), &bag), shown(&part.unwrap(), &bag));
    }
}
