//! MIIs of at most three items by a bitmap for each item: for tables of many columns with few values each.
//!
//! Projections are worth it where they reduce the data from step to step. In a table of a hundred columns nearly
//! every pair is frequent, and each would be projected to almost the whole table. Here nothing is projected: the rows
//! that have an itemset are an intersection of bitmaps, which is counted only until it has more than theta rows, or
//! rows of more than theta units.
//! 100,000 rows of 100 columns with 2 to 10 values: pairs in 0.03 s instead of 10, triples in 2.8 s (theta 1) and 4.9
//! s (theta 50, 4.3 million itemsets) instead of a minute and more.

use crate::bitmaps::{each_pair, memory};
use crate::mii::Sink;
use rayon::prelude::*;
use table::bits::{self, BitSets};
use table::{Bag, Item, Reservation, Stop, UnitCounter, Units, Watch};

/// The length of the longest itemsets that are searched here. Longer ones would need to know which of their subsets
/// are frequent.
const LONGEST: usize = 3;

/// The number of words that are counted between two comparisons with theta.
const BLOCK: usize = 16;

/// Whether the search uses bitmaps for these items: whether all pairs of bitmaps have fewer words than the rows have
/// pairs of cells, which projections visit. Rare items have bitmaps that are mostly empty.
pub(super) fn pay(
    bag: &Bag,
    supports: &[Vec<u64>],
    items: &[Item],
    max_length: usize,
    watch: &Watch,
) -> bool {
    let support = |item: &Item| supports[item.column as usize][item.code as usize] as f64;
    let cells: f64 = items.iter().map(support).sum();
    let words = (items.len() as f64).powi(2) / 2.0 * bits::words(bag.distinct()) as f64;
    let free = watch.memory_limit().saturating_sub(watch.memory());
    max_length <= LONGEST
        && words <= cells * cells / bag.row_count() as f64
        // Counts are of distinct rows, which says little where each stands for many rows.
        && bag.row_count() <= 2 * bag.distinct() as u64
        && memory(bag.distinct(), items.len()) <= free / 4
}

/// Finds the MIIs of two and, if `max_length` allows, three items.
pub(super) fn search<S: Sink>(
    bag: &Bag,
    units: Option<&Units>,
    theta: u64,
    max_length: usize,
    items: &[Item],
    watch: &Watch,
    sink: &(impl Fn() -> S + Sync),
) -> Result<S, Stop> {
    let mut budget = Reservation::new(watch);
    let matrix = items.len() * bits::words(items.len()) * size_of::<u64>();
    budget.add(memory(bag.distinct(), items.len()) + matrix as u64)?;
    let counters = rayon::current_num_threads() as u64;
    budget.add(units.map_or(0, |units| counters * UnitCounter::bytes(units.domain())))?;
    let mut bitmaps = Bitmaps::new(bag, units, theta, items);
    let mut rows =
        BitmapRows { numbers: (0..bag.distinct() as u32).collect(), ..BitmapRows::default() };
    bitmaps.fill(&mut rows);
    watch.begin(items.len() as u64 * (max_length as u64 - 1));
    match units {
        None => bitmaps.short::<S, false>(&rows, max_length, watch, sink),
        Some(_) => bitmaps.short::<S, true>(&rows, max_length, watch, sink),
    }
}

struct Bitmaps<'a> {
    bag: &'a Bag,
    /// The units to count; none if rows count.
    units: Option<&'a Units>,
    theta: u64,
    items: &'a [Item],
    /// The rank of each value of each column; for rare values, one more than the last rank.
    ranks: Vec<Vec<u32>>,
    /// The later items that are frequent with an item.
    frequent: BitSets,
}

/// Some distinct rows, and a bitmap of them for each item, by its rank.
#[derive(Default)]
struct BitmapRows {
    numbers: Vec<u32>,
    having: BitSets,
}

/// The rows of an intersection, and their support.
#[derive(Default)]
struct Common {
    rows: Vec<u32>,
    support: u64,
    /// Counts units, once there are some to count.
    counter: Option<UnitCounter>,
}

impl<'a> Bitmaps<'a> {
    fn new(bag: &'a Bag, units: Option<&'a Units>, theta: u64, items: &'a [Item]) -> Self {
        let rare = |column| vec![items.len() as u32; bag.domain(column).len()];
        let mut ranks: Vec<Vec<u32>> = (0..bag.width()).map(rare).collect();
        for (rank, item) in items.iter().enumerate() {
            ranks[item.column as usize][item.code as usize] = rank as u32;
        }
        Bitmaps { bag, units, theta, items, ranks, frequent: BitSets::new(0, items.len()) }
    }

    /// Makes the bitmaps of the listed rows. Rare items share one bitmap, so that no branch depends on a value.
    fn fill(&self, rows: &mut BitmapRows) {
        let BitmapRows { numbers, having } = rows;
        having.reset(self.items.len() + 1, numbers.len());
        for (place, &number) in numbers.iter().enumerate() {
            for (ranks, &code) in self.ranks.iter().zip(self.bag.row(number as usize)) {
                if let Some(&rank) = ranks.get(code as usize) {
                    having.insert(rank as usize, place);
                }
            }
        }
    }

    /// The MIIs of two and, if `max_length` allows, three items, given all rows.
    fn short<S: Sink, const UNITS: bool>(
        &mut self,
        rows: &BitmapRows,
        max_length: usize,
        watch: &Watch,
        sink: &(impl Fn() -> S + Sync),
    ) -> Result<S, Stop> {
        let pairs = self.pairs::<S, UNITS>(rows, watch, sink)?;
        if max_length == 2 {
            return Ok(pairs);
        }
        // The larger part first, because the second is copied.
        self.triples::<S, UNITS>(rows, watch, sink)?.then(pairs)
    }

    /// The MIIs of two items, given all rows; also records which pairs are frequent.
    fn pairs<S: Sink, const UNITS: bool>(
        &mut self,
        rows: &BitmapRows,
        watch: &Watch,
        sink: &(impl Fn() -> S + Sync),
    ) -> Result<S, Stop> {
        let visit = |[a, b]: [usize; 2], found: &mut S, common: &mut Common| {
            let is_frequent = self.is_frequent::<UNITS>(rows, a, b, common);
            if !is_frequent && !common.rows.is_empty() {
                let items = [a, b].map(|item| self.items[item]);
                found.mii(&items, &common.rows, common.support)?;
            }
            Ok(is_frequent)
        };
        let (found, frequent) = each_pair(self.items, watch, sink, visit)?;
        self.frequent = frequent;
        Ok(found)
    }

    /// The MIIs of three items: pairs among the rows that have a third one, the rarest.
    fn triples<S: Sink, const UNITS: bool>(
        &self,
        rows: &BitmapRows,
        watch: &Watch,
        sink: &(impl Fn() -> S + Sync),
    ) -> Result<S, Stop> {
        (0..self.items.len())
            .into_par_iter()
            .try_fold(
                || (sink(), BitmapRows::default(), Reservation::new(watch)),
                |(mut found, mut own, mut budget), a| {
                    own.numbers.clear();
                    own.numbers.extend(bits::numbers(rows.having.set(a)).map(|row| row as u32));
                    budget.raise(self.memory(own.numbers.len()))?;
                    self.fill(&mut own);
                    let mut common = Common::default();
                    let with_a = self.frequent.set(a);
                    for b in bits::numbers(with_a) {
                        watch.check()?;
                        for c in bits::common(with_a, self.frequent.set(b)) {
                            let is_frequent = self.is_frequent::<UNITS>(&own, b, c, &mut common);
                            if !is_frequent && !common.rows.is_empty() {
                                let items = [a, b, c].map(|item| self.items[item]);
                                found.mii(&items, &common.rows, common.support)?;
                            }
                        }
                    }
                    watch.advance(1);
                    Ok((found, own, budget))
                },
            )
            .map(|part| part.map(|(found, ..)| found))
            .try_reduce(sink, S::then)
    }

    /// Whether more than theta of the rows, or of their units, have both items; if not, finds the rows that have them.
    #[inline]
    fn is_frequent<const UNITS: bool>(
        &self,
        rows: &BitmapRows,
        a: usize,
        b: usize,
        common: &mut Common,
    ) -> bool {
        let [a, b] = [a, b].map(|item| rows.having.set(item));
        if let Some(units) = self.units.filter(|_| UNITS) {
            return self.is_frequent_by_unit(rows, [a, b], units, common);
        }
        let mut count = 0;
        let mut blocks = a.chunks(BLOCK).zip(b.chunks(BLOCK));
        let exceeds = blocks.any(|(a, b)| {
            count += a.iter().zip(b).map(|(a, b)| u64::from((a & b).count_ones())).sum::<u64>();
            count > self.theta
        });
        exceeds || self.is_frequent_by_weight(rows, a, b, common)
    }

    fn is_frequent_by_weight(
        &self,
        rows: &BitmapRows,
        a: &[u64],
        b: &[u64],
        common: &mut Common,
    ) -> bool {
        common.rows.clear();
        common.support = 0;
        for place in bits::common(a, b) {
            let row = rows.numbers[place];
            common.rows.push(row);
            common.support += self.bag.weight(row as usize);
            if common.support > self.theta {
                return true;
            }
        }
        false
    }

    /// As [`Bitmaps::is_frequent_by_weight`] where units are counted, which many rows may share.
    fn is_frequent_by_unit(
        &self,
        rows: &BitmapRows,
        [a, b]: [&[u64]; 2],
        units: &Units,
        common: &mut Common,
    ) -> bool {
        let counter = common.counter.get_or_insert_with(|| UnitCounter::new(units.domain()));
        counter.begin();
        common.rows.clear();
        common.support = 0;
        for place in bits::common(a, b) {
            let row = rows.numbers[place];
            common.rows.push(row);
            for of in units.of(row as usize) {
                common.support += u64::from(counter.see(of.unit));
                if common.support > self.theta {
                    return true;
                }
            }
        }
        false
    }

    /// The number of bytes of this number of rows.
    fn memory(&self, rows: usize) -> u64 {
        memory(rows, self.items.len())
    }
}
