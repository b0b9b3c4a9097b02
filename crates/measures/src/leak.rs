//! The leak test: rare itemsets of a table that a released table contains too.

use crate::postings::Postings;
use crate::rare_itemsets::{Draws, Rare};
use crate::translation::Translation;
use rayon::prelude::*;
use table::{Bag, Item, NONE, Stop, Units, Watch};

/// The number of draws tested at a time.
const BATCH: u64 = 4096;

/// The number of draws from rows for each wanted itemset before minimal ones are searched: on many rows the search
/// takes longer than these draws.
const FIRST_DRAWS: u64 = 200;

/// The largest number of draws for each wanted itemset: if fewer than one in this number is rare, fewer itemsets are
/// tried.
const DRAWS: u64 = 1000;

/// The number of rare itemsets of a length that were tried, and of those that the released table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leak {
    pub length: usize,
    pub tried: u64,
    pub leaked: u64,
}

/// The leak test of Dorrestijn (Provable Privacy for Database Generation, table 6 and figure 2):
/// random itemsets that exactly one row of the original contains, and how many of them a row of
/// the released table contains too, by length.
///
/// With units, those of the original, an itemset is rare if rows of exactly one unit contain it. Rows of the released
/// table have no units: one row that contains the itemset shows it, whoever it was made of.
///
/// Every length from 1 to the number of columns gets an equal part of the `samples`. The itemsets of a length are
/// drawn uniformly among all rare ones of that length, with replacement; if there are at most as many possible draws
/// as wanted, each rare itemset is tried once instead. Fewer are tried where rare ones are too hard to find.
/// `below(n)` draws uniformly from `0..n`; equal tables and equal draws give equal results. The bags have the same
/// columns in the same order.
pub fn rare_itemset_leak(
    released: &Bag,
    original: &Bag,
    units: Option<&Units>,
    samples: u64,
    mut below: impl FnMut(u64) -> u64,
    watch: &Watch,
) -> Result<Vec<Leak>, Stop> {
    let mut test = Test::new(released, original, units, watch)?;
    let width = original.width();
    let wanted = |length: usize| {
        let (each, more) = (samples / width as u64, samples % width as u64);
        each + u64::from(length as u64 <= more)
    };
    watch.begin(samples);
    let (mut leaks, mut hard) = (Vec::with_capacity(width), Vec::new());
    for length in 1..=width {
        let (leak, done) = test.leak(length, wanted(length), FIRST_DRAWS, &mut below)?;
        leaks.push(leak);
        if !done {
            hard.push(length);
        }
    }
    if let Some(&longest) = hard.last() {
        test.rare.search(longest)?;
        watch.begin(hard.iter().map(|&length| wanted(length)).sum());
        for length in hard {
            leaks[length - 1] = test.leak(length, wanted(length), DRAWS, &mut below)?.0;
        }
    }
    Ok(leaks)
}

struct Test<'a> {
    original: &'a Bag,
    units: Option<&'a Units>,
    rare: Rare<'a>,
    translation: Translation<'a>,
    originals: Postings<'a>,
    released: Postings<'a>,
    watch: &'a Watch,
}

impl<'a> Test<'a> {
    fn new(
        released: &'a Bag,
        original: &'a Bag,
        units: Option<&'a Units>,
        watch: &'a Watch,
    ) -> Result<Self, Stop> {
        Ok(Test {
            original,
            units,
            rare: Rare::new(original, units, watch)?,
            translation: Translation::new(original, released, watch)?,
            originals: Postings::new(original, watch)?,
            released: Postings::new(released, watch)?,
            watch,
        })
    }

    /// Tries `wanted` itemsets of a length with at most `draws` draws for each, or all itemsets; also returns whether
    /// that was enough.
    fn leak(
        &self,
        length: usize,
        wanted: u64,
        draws: u64,
        below: &mut impl FnMut(u64) -> u64,
    ) -> Result<(Leak, bool), Stop> {
        let mut leak = Leak { length, tried: 0, leaked: 0 };
        let starts = self.rare.starts(length);
        if starts.total() <= wanted {
            starts.all(BATCH as usize, |draws| self.run(draws, wanted, &mut leak))?;
            self.watch.advance(wanted - leak.tried);
            return Ok((leak, true));
        }
        let mut left = wanted.saturating_mul(draws);
        let mut draws = Draws::default();
        while leak.tried < wanted && left > 0 {
            let count = (2 * (wanted - leak.tried)).clamp(64, BATCH).min(left);
            left -= count;
            draws.clear();
            starts.draw(count as usize, &mut draws, below);
            self.run(&draws, wanted, &mut leak)?;
        }
        self.watch.advance(wanted - leak.tried);
        Ok((leak, leak.tried == wanted))
    }

    /// Counts the rare ones among the draws, in their order, until `wanted` are tried.
    fn run(&self, draws: &Draws, wanted: u64, leak: &mut Leak) -> Result<(), Stop> {
        let outcomes: Result<Vec<Option<bool>>, Stop> =
            (0..draws.len()).into_par_iter().map(|i| self.outcome(draws.get(i))).collect();
        let before = leak.tried;
        for leaked in outcomes?.into_iter().flatten().take((wanted - leak.tried) as usize) {
            leak.tried += 1;
            leak.leaked += u64::from(leaked);
        }
        self.watch.advance(leak.tried - before);
        self.watch.found(leak.tried - before)
    }

    /// Whether the released table has the itemset; `None` if the draw is not an itemset, is not rare, or counts for
    /// another draw.
    fn outcome(&self, (row, columns, mii): (u32, &[u32], u32)) -> Result<Option<bool>, Stop> {
        self.watch.check()?;
        let codes = self.original.row(row as usize);
        let item = |&column: &u32| Item { column, code: codes[column as usize] };
        let mut items: Vec<Item> = columns.iter().map(item).collect();
        let counts = items.iter().all(|item| item.code != NONE)
            && match mii {
                NONE => self.is_rare(&items, row),
                // Itemsets that contain an MII are rare; with units they may be in several rows.
                mii => {
                    self.rare.is_first_mii(mii, columns)
                        && (self.units.is_none() || self.is_rare(&items, row))
                }
            };
        if !counts {
            return Ok(None);
        }
        for item in &mut items {
            *item = self.translation.item(*item);
        }
        Ok(Some(self.released.any(&items, None)))
    }

    /// Whether the itemset, of a row that is alone, is in no other row. With units: whether no row of another unit has
    /// it, and no row before this one in the order of codes.
    fn is_rare(&self, items: &[Item], row: u32) -> bool {
        let Some(units) = self.units else { return !self.originals.any(items, Some(row)) };
        let code_row = |row: u32| self.original.row(row as usize);
        let unit = |row: u32| units.of(row as usize).first().map(|of| of.unit);
        !self.originals.find(items, |other| match units.of(other as usize).len() {
            0 => false,
            1 => unit(other) != unit(row) || code_row(other) < code_row(row),
            _ => true,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mining::reference::{occurring, occurring_in_units};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    type Cell = Option<String>;

    /// Uniform on `0..n` up to 2^-32 (splitmix64).
    fn coins(mut state: u64) -> impl FnMut(u64) -> u64 {
        move |n| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut x = state;
            x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((u128::from(x ^ (x >> 31)) * u128::from(n)) >> 64) as u64
        }
    }

    /// All rare itemsets, and whether the released table has each.
    fn by_definition(
        released: &Bag,
        original: &Bag,
        units: Option<&Units>,
    ) -> Vec<(Vec<Item>, bool)> {
        let text = |bag: &Bag, item: &Item| {
            (item.column, bag.domain(item.column as usize).value(item.code).to_vec())
        };
        let named = |bag: &Bag, items: &[Item]| -> Vec<(u32, Vec<u8>)> {
            items.iter().map(|item| text(bag, item)).collect()
        };
        let theirs: Vec<_> =
            occurring(released).keys().map(|items| named(released, items)).collect();
        let occurring = match units {
            None => occurring(original),
            Some(units) => occurring_in_units(original, units),
        };
        let rare = occurring.into_iter().filter(|(_, support)| *support == 1);
        rare.map(|(items, _)| {
            let leaked = theirs.contains(&named(original, &items));
            (items, leaked)
        })
        .collect()
    }

    /// The rows with a unit each (0 is none), and the units.
    fn of_people<const W: usize>(rows: Vec<[Cell; W]>, units: &[u32]) -> (Bag, Units) {
        let rows = rows.into_iter().zip(units.iter().cycle()).map(|(cells, &unit)| {
            let unit = Some(unit).filter(|&unit| unit > 0).map(|unit| format!("{unit:03}"));
            cells.into_iter().chain([unit])
        });
        Bag::from_text(W + 1, rows).split_units(&Watch::unlimited()).unwrap()
    }

    fn rows() -> impl Strategy<Value = Vec<[Cell; 4]>> {
        let cell = || prop::option::weighted(0.9, "[a-c]");
        prop::collection::vec([cell(), cell(), cell(), cell()], 0..20)
    }

    proptest! {
        #[test]
        fn few_itemsets_are_all_tried(
            original in rows(),
            released in rows(),
            people in prop::option::of(prop::collection::vec(0u32..7, 1..20)),
        ) {
            let released = Bag::from_text(4, released);
            let (original, units) = of_people(original, people.as_deref().unwrap_or(&[0]));
            let units = people.map(|_| units);
            let units = units.as_ref();
            let watch = Watch::unlimited();
            let none = |_| unreachable!("nothing is drawn");
            let found = rare_itemset_leak(&released, &original, units, 100_000, none, &watch).unwrap();
            let rare = by_definition(&released, &original, units);
            let expected: Vec<Leak> = (1..=4)
                .map(|length| {
                    let of_length = || rare.iter().filter(|(items, _)| items.len() == length);
                    let leaked = of_length().filter(|(_, leaked)| *leaked).count() as u64;
                    Leak { length, tried: of_length().count() as u64, leaked }
                })
                .collect();
            prop_assert_eq!(found, expected);
            prop_assert_eq!(watch.memory(), 0);
        }

        #[test]
        fn a_table_leaks_itself_and_nothing_of_another(rows in rows(), seed: u64) {
            let other = rows.iter().map(|row| row.clone().map(|c| c.map(|c| c + "x")));
            let (bag, other) = (Bag::from_text(4, rows.clone()), Bag::from_text(4, other));
            let watch = Watch::unlimited();
            for leak in rare_itemset_leak(&bag, &bag, None, 30, coins(seed), &watch).unwrap() {
                prop_assert_eq!(leak.leaked, leak.tried);
            }
            for leak in rare_itemset_leak(&other, &bag, None, 30, coins(seed), &watch).unwrap() {
                prop_assert_eq!(leak.leaked, 0);
            }
        }
    }

    fn table(seed: u64, rows: usize) -> Vec<[Cell; 6]> {
        let mut below = coins(seed);
        let mut cell = |n| Some(below(n)).filter(|&v| v + 1 < n || n < 4).map(|v| v.to_string());
        (0..rows).map(|_| [2, 2, 3, 3, 4, 6].map(&mut cell)).collect()
    }

    /// From rows and from MIIs, each rare itemset is drawn equally often.
    #[test]
    fn draws_are_uniform() {
        are_uniform(&Bag::from_text(6, table(1, 120)), None);
        // People with several rows, that have what is rare several times.
        let people: Vec<u32> = (0..360).map(|i| i * i % 31).collect();
        let mut rows = table(1, 120);
        rows.extend(rows.clone());
        let (original, units) = of_people(rows, &people[..120]);
        are_uniform(&original, Some(&units));
        let (original, units) = of_people(table(1, 360), &people);
        are_uniform(&original, Some(&units));
    }

    fn are_uniform(original: &Bag, units: Option<&Units>) {
        let watch = Watch::unlimited();
        let mut test = Test::new(original, original, units, &watch).unwrap();
        test.rare.search(6).unwrap();
        let rare = &test.rare;
        let expected = by_definition(original, original, units);
        let (mut below, mut lengths) = (coins(2), 0);
        for length in 2..=5 {
            let count = expected.iter().filter(|(items, _)| items.len() == length).count();
            if count < 2 {
                continue;
            }
            lengths += 1;
            for starts in [rare.row_starts(length), rare.mii_starts(length).unwrap()] {
                let mut times: BTreeMap<Vec<Item>, f64> = BTreeMap::new();
                let mut draws = Draws::default();
                let mut total = 0.0;
                for _ in 0..1000 {
                    if total >= 40.0 * count as f64 {
                        break;
                    }
                    draws.clear();
                    starts.draw(1000, &mut draws, &mut below);
                    for draw in (0..draws.len()).map(|i| draws.get(i)) {
                        if test.outcome(draw).unwrap().is_none() {
                            continue;
                        }
                        let codes = original.row(draw.0 as usize);
                        let item = |&column: &u32| Item { column, code: codes[column as usize] };
                        let mut items: Vec<Item> = draw.1.iter().map(item).collect();
                        items.sort_unstable();
                        *times.entry(items).or_default() += 1.0;
                        total += 1.0;
                    }
                }
                assert_eq!(times.len(), count, "length {length}");
                let mean = total / count as f64;
                let chi: f64 = times.values().map(|n| (n - mean).powi(2) / mean).sum();
                let freedom = count as f64 - 1.0;
                let far = (chi - freedom) / (2.0 * freedom).sqrt();
                assert!(far.abs() < 4.0, "length {length}: {far} standard deviations");
            }
        }
        assert!(lengths >= 3, "{lengths}");
    }

    #[test]
    fn many_itemsets_are_sampled_and_the_order_of_rows_does_not_matter() {
        let (mut rows, released) = (table(1, 300), Bag::from_text(6, table(3, 300)));
        let leaks = |rows: &[[Cell; 6]], seed| {
            let original = Bag::from_text(6, rows.iter().cloned());
            let watch = Watch::unlimited();
            rare_itemset_leak(&released, &original, None, 601, coins(seed), &watch).unwrap()
        };
        let found = leaks(&rows, 5);
        assert_ne!(found, leaks(&rows, 6));
        rows.reverse();
        assert_eq!(found, leaks(&rows, 5));
        // 601 = 101 + 5 * 100.
        let all = by_definition(&released, &Bag::from_text(6, rows), None);
        for leak in &found {
            let rare = || all.iter().filter(|(items, _)| items.len() == leak.length);
            assert!(leak.tried <= if leak.length == 1 { 101 } else { 100 });
            if leak.length < 4 {
                continue;
            }
            assert_eq!(leak.tried, 100);
            let share = rare().filter(|(_, leaked)| *leaked).count() as f64 / rare().count() as f64;
            let far = (leak.leaked as f64 - share * 100.0) / (share * (1.0 - share) * 100.0).sqrt();
            assert!(far.abs() < 4.0, "length {}: {far} standard deviations", leak.length);
        }
    }

    #[test]
    fn any_budget_gives_the_result_or_an_error() {
        let (released, original) =
            (Bag::from_text(6, table(3, 100)), Bag::from_text(6, table(1, 100)));
        let leaks =
            |watch: &Watch| rare_itemset_leak(&released, &original, None, 600, coins(1), watch);
        let whole = leaks(&Watch::unlimited()).unwrap();
        let mut refused = 0;
        for limit in (0..200_000).step_by(4999) {
            match leaks(&Watch::new(limit, u64::MAX)) {
                Ok(found) => assert_eq!(found, whole),
                Err(stop) => {
                    assert_eq!(stop, Stop::Memory { limit });
                    refused += 1;
                }
            }
        }
        assert!((1..200_000 / 4999).contains(&refused));
        let watch = Watch::unlimited();
        watch.cancel();
        assert_eq!(leaks(&watch), Err(Stop::Cancelled));
    }
}
