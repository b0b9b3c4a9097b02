//! Joint frequencies that are counted in a bag.

use crate::tree::frequencies::{Frequencies, Shares};
use std::cmp::Reverse;
use std::collections::HashMap;
use table::bits::{ones, words};
use table::{Bag, BitSets, Item, Keyed, Reservation, Stop, Watch};

/// The rows of a bag by item, for the items of a list.
pub(crate) struct CountedFrequencies<'w> {
    numbers: HashMap<Item, u32, Keyed>,
    /// By number: the distinct rows that have the item, the most frequent rows first.
    sets: BitSets,
    /// The weights of the first rows; all others occur once.
    weights: Vec<u64>,
    rows: u64,
    _held: Reservation<'w>,
}

impl<'w> CountedFrequencies<'w> {
    pub(crate) fn new<'a>(
        bag: &Bag,
        items: impl IntoIterator<Item = &'a Item>,
        watch: &'w Watch,
    ) -> Result<Self, Stop> {
        let mut numbers: HashMap<Item, u32, Keyed> = HashMap::default();
        for &item in items {
            let next = numbers.len() as u32;
            numbers.entry(item).or_insert(next);
        }
        let bytes = (numbers.len() * words(bag.distinct()) * 8 + bag.distinct() * 4) as u64;
        let held = watch.hold(bytes)?;
        let mut order: Vec<u32> = (0..bag.distinct() as u32).collect();
        order.sort_by_key(|&row| Reverse(bag.weight(row as usize)));
        let mut sets = BitSets::new(numbers.len(), bag.distinct());
        let by_column = by_column(&numbers, bag.width());
        for (place, &row) in order.iter().enumerate() {
            watch.poll(place)?;
            let row = bag.row(row as usize);
            for (column, known) in &by_column {
                if let Some(&number) = known.get(&row[*column]) {
                    sets.insert(number as usize, place);
                }
            }
        }
        let weight = |&row: &u32| bag.weight(row as usize);
        let repeated = order.partition_point(|row| weight(row) > 1);
        let whole_words = order.len().min(words(repeated) * 64);
        let weights = order[..whole_words].iter().map(weight).collect();
        Ok(CountedFrequencies { numbers, sets, weights, rows: bag.row_count(), _held: held })
    }

    /// The number of rows that contain an itemset and further items.
    pub(crate) fn count(&self, rows: &[u64], added: &[Item]) -> u64 {
        let sets: Vec<&[u64]> = added.iter().map(|item| self.set(item)).collect();
        let both = |i: usize| sets.iter().fold(rows[i], |word, set| word & set[i]);
        let weighted = words(self.weights.len());
        let mut count = 0;
        for i in 0..weighted {
            count += ones(both(i)).map(|bit| self.weights[i * 64 + bit]).sum::<u64>();
        }
        for i in weighted..rows.len() {
            count += u64::from(both(i).count_ones());
        }
        count
    }

    fn set(&self, item: &Item) -> &[u64] {
        self.numbers.get(item).map_or(&[], |&number| self.sets.set(number as usize))
    }
}

/// The numbers of items by column and code.
fn by_column(
    numbers: &HashMap<Item, u32, Keyed>,
    width: usize,
) -> Vec<(usize, HashMap<u32, u32, Keyed>)> {
    let mut columns: Vec<HashMap<u32, u32, Keyed>> = vec![HashMap::default(); width];
    for (item, &number) in numbers {
        columns[item.column as usize].insert(item.code, number);
    }
    columns.into_iter().enumerate().filter(|(_, known)| !known.is_empty()).collect()
}

impl Frequencies for CountedFrequencies<'_> {
    type Rows = Vec<u64>;

    fn bytes(&self) -> u64 {
        self.sets.stride() as u64 * 8
    }

    fn all(&self) -> Vec<u64> {
        vec![u64::MAX; self.sets.stride()]
    }

    fn with(&self, rows: &Vec<u64>, added: &[Item]) -> Vec<u64> {
        let mut rows = rows.clone();
        for item in added {
            rows.iter_mut().zip(self.set(item)).for_each(|(word, set)| *word &= set);
        }
        rows
    }

    fn share(&self, rows: &Vec<u64>, added: &[Item]) -> f64 {
        self.count(rows, added) as f64 / self.rows.max(1) as f64
    }
}

/// The shares of all values of a bag. `nulls` has the code of NULL by column, where NULL is an item.
pub(crate) fn shares(bag: &Bag, nulls: &[Option<u32>]) -> Vec<Shares> {
    let rows = bag.row_count().max(1) as f64;
    let shares = bag.supports().into_iter().zip(nulls).map(|(supports, &null)| Shares {
        values: supports.iter().map(|&support| support as f64 / rows).collect(),
        null,
        missing: (bag.row_count() - supports.iter().sum::<u64>()) as f64 / rows,
    });
    shares.collect()
}
