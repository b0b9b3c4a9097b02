//! The published algorithm, kept for comparison. Its release is k-anonymous and nothing more.

use crate::Design;
use random::{Coins, Error, below};
use table::{Bag, BitSets, Item, Itemsets, NONE, Release, Stop, Watch, bits};

/// DP-MII-suppress (ten Tusscher): a random part of the table gives the MIIs, they are suppressed in
/// the rest, small classes are dropped, floor(beta n) rows are drawn with replacement, and small
/// classes are dropped again.
///
/// The printed loop draws one row more than floor(beta n); the text does not.
pub(super) fn draw(
    bag: &Bag,
    design: &Design,
    order: &[u32],
    coins: &mut Coins,
    watch: &Watch,
) -> Result<Release, Error> {
    let request = &design.request;
    let wanted = (request.split * bag.row_count() as f64).floor() as u64;
    let first = partition(bag.weights(), wanted, order, coins, watch)?;

    let mut part = bag.builder();
    for (row, &weight) in first.iter().enumerate().filter(|&(_, &weight)| weight > 0) {
        part.add(bag.row(row), weight);
    }
    let miis = mining::miis(&part.finish(), None, design.theta, request.max_length, watch)?;

    let blanked = suppress(bag, miis, watch)?;
    let mut rest = Release::new(bag.width());
    for (row, (all, counted)) in bag.weights().iter().zip(&first).enumerate() {
        if all > counted {
            rest.push(row as u32, blanked.set(row), all - counted);
        }
    }
    let rest = rest.without_small_classes(bag, request.k, watch)?;
    let drawn = draw_again(&rest, design, order, coins, watch)?;
    Ok(rest.reweigh(|piece| drawn[piece]).without_small_classes(bag, request.k, watch)?)
}

/// A uniformly random choice of exactly `wanted` rows: copies chosen of each distinct row.
fn partition(
    weights: &[u64],
    wanted: u64,
    order: &[u32],
    coins: &mut Coins,
    watch: &Watch,
) -> Result<Vec<u64>, Stop> {
    let mut chosen = vec![0; weights.len()];
    let mut left: u64 = weights.iter().sum();
    let mut wanted = wanted.min(left);
    for &row in order {
        for _ in 0..weights[row as usize] {
            watch.poll(left as usize)?;
            if below(coins, left) < wanted {
                chosen[row as usize] += 1;
                wanted -= 1;
            }
            left -= 1;
        }
    }
    Ok(chosen)
}

/// How often each piece is drawn in floor(beta n) draws with replacement from the n rows, each of which is in one
/// piece. Pieces are numbered in the given order of the table's rows.
fn draw_again(
    rest: &Release,
    design: &Design,
    order: &[u32],
    coins: &mut Coins,
    watch: &Watch,
) -> Result<Vec<u64>, Stop> {
    let pieces = rest.pieces();
    let mut total = 0;
    let mut numbers = Vec::with_capacity(pieces.len());
    let mut ends: Vec<u64> = Vec::with_capacity(pieces.len());
    for row in order {
        if let Ok(number) = pieces.binary_search_by_key(row, |piece| piece.row) {
            total += pieces[number].weight;
            numbers.push(number);
            ends.push(total);
        }
    }
    let mut drawn = vec![0; pieces.len()];
    for number in 0..design.beta.of(total) {
        watch.poll(number as usize)?;
        let row = below(coins, total);
        drawn[numbers[ends.partition_point(|&end| end <= row)]] += 1;
    }
    Ok(drawn)
}

/// For each distinct row the columns, by bit, of its cells that lie in an itemset it contains.
fn suppress(bag: &Bag, itemsets: Itemsets, watch: &Watch) -> Result<BitSets, Stop> {
    let words = bits::words(bag.width());
    // Lists of rows by value, which grow by doubling; masks; the order of the itemsets while it is sorted.
    let values: usize = bag.domains().iter().map(|domain| domain.len()).sum();
    let bytes = bag.distinct() * (bag.width() * 8 + words * 8) + values * 24 + itemsets.len() * 8;
    let _held = watch.hold(bytes as u64 + itemsets.memory())?;
    // The rows of each item; itemsets with a common prefix share the rows of that prefix.
    let mut rows: Vec<Vec<Vec<u32>>> =
        bag.domains().iter().map(|domain| vec![Vec::new(); domain.len()]).collect();
    for row in 0..bag.distinct() {
        for (column, &code) in bag.row(row).iter().enumerate() {
            if code != NONE {
                rows[column][code as usize].push(row as u32);
            }
        }
    }
    let mut order: Vec<u32> = (0..itemsets.len() as u32).collect();
    table::sort_watched(&mut order, watch, |a, b| {
        itemsets.items(a as usize).cmp(itemsets.items(b as usize))
    })?;
    let mut masks = BitSets::new(bag.distinct(), bag.width());
    let mut path: Vec<(Item, Vec<u32>)> = Vec::new();
    for (number, &set) in order.iter().enumerate() {
        watch.poll(number)?;
        let items = itemsets.items(set as usize);
        let shared = path.iter().zip(items).take_while(|((known, _), item)| known == *item).count();
        path.truncate(shared);
        for item in &items[shared..] {
            let own = &rows[item.column as usize][item.code as usize];
            let both = match path.last() {
                None => own.clone(),
                Some((_, rows)) => {
                    let column = item.column as usize;
                    let has = |row: &&u32| bag.row(**row as usize)[column] == item.code;
                    rows.iter().filter(has).copied().collect()
                }
            };
            path.push((*item, both));
        }
        if let Some((_, rows)) = path.last() {
            for &row in rows {
                for item in items {
                    masks.insert(row as usize, item.column as usize);
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
    use random::testing::assert_fits;

    #[test]
    fn a_partition_has_its_size_and_is_uniform() {
        let mut coins = Coins::seeded(3);
        let watch = Watch::unlimited();
        let weights = [1, 2, 0, 1];
        // Of the six ways to choose two of four rows, by how many of the second row are chosen.
        assert_fits(&[1.0 / 6.0, 4.0 / 6.0, 1.0 / 6.0], 10_000, || {
            let chosen = partition(&weights, 2, &[0, 1, 2, 3], &mut coins, &watch).unwrap();
            assert_eq!(chosen.iter().sum::<u64>(), 2);
            assert!(chosen.iter().zip(&weights).all(|(c, w)| c <= w));
            chosen[1] as i64
        });
        assert_eq!(partition(&weights, 9, &[0, 1, 2, 3], &mut coins, &watch).unwrap(), weights);
    }

    proptest! {
        #[test]
        fn suppression_blanks_every_itemset_a_row_contains(
            rows in prop::collection::vec(prop::collection::vec(prop::option::of("[a-c]"), 3), 1..25),
            sets in prop::collection::vec((1u32..8, 0usize..25), 0..12),
        ) {
            let bag = Bag::from_text(3, rows);
            let mut itemsets = Itemsets::new();
            for (columns, row) in sets {
                let row = bag.row(row % bag.distinct());
                let items: Vec<Item> = Bag::row_items(row)
                    .filter(|item| columns >> item.column & 1 == 1)
                    .collect();
                if !items.is_empty() {
                    itemsets.push(&items, 1);
                }
            }
            let masks = suppress(&bag, itemsets.clone(), &Watch::unlimited()).unwrap();
            for (row, &mask) in masks.words().iter().enumerate() {
                let contains = |items: &[Item]| {
                    items.iter().all(|i| bag.row(row)[i.column as usize] == i.code)
                };
                let expected = itemsets
                    .iter()
                    .filter(|(items, _)| contains(items))
                    .flat_map(|(items, _)| items)
                    .fold(0, |mask, item| mask | 1 << item.column);
                prop_assert_eq!(mask, expected);
            }
        }
    }
}
