//! The rows of each value, to find a row that contains an itemset without looking at all rows.

use table::{Bag, Item, NONE, Reservation, Stop, UnitCounter, Units, Watch, bits};

/// A value that at least one in this number of rows has is a bit per row, any other a list of rows; the bits never
/// take more memory than the list would.
const DENSE: usize = 32;

/// Two lists are merged unless one is this many times longer than the other: then it is faster to look at the codes
/// of the rows of the short one.
const MERGE: usize = 8;

/// The distinct rows of each value.
pub(crate) struct Postings<'a> {
    bag: &'a Bag,
    columns: Vec<ColumnPostings>,
    _reservation: Reservation<'a>,
}

#[derive(Default)]
struct ColumnPostings {
    /// The number of rows of each value.
    counts: Vec<u32>,
    /// The rows of values that few rows have, by value: those of `code` are from `starts[code]` up to the next.
    rows: Vec<u32>,
    starts: Vec<u32>,
    /// The rows of values that many have, by code.
    bits: Vec<(u32, Vec<u64>)>,
}

enum ValueRows<'a> {
    List(&'a [u32]),
    Bits(&'a [u64]),
}

impl ColumnPostings {
    fn new(bag: &Bag, column: usize, watch: &Watch) -> Result<Self, Stop> {
        let mut counts = vec![0u32; bag.domain(column).len()];
        let cells = || (0..bag.distinct()).map(|row| (row, bag.row(row)[column]));
        for (row, code) in cells() {
            watch.poll(row)?;
            if code != NONE {
                counts[code as usize] += 1;
            }
        }
        let dense = |count: u32| count as usize * DENSE >= bag.distinct() && count > 0;
        let words = bits::words(bag.distinct());
        let mut column = ColumnPostings { starts: vec![0], ..ColumnPostings::default() };
        let mut length = 0;
        for (code, &count) in (0..).zip(&counts) {
            if dense(count) {
                column.bits.push((code, vec![0; words]));
            } else {
                length += count;
            }
            column.starts.push(length);
        }
        column.rows = vec![0; length as usize];
        let mut next = column.starts.clone();
        for (row, code) in cells() {
            watch.poll(row)?;
            if code == NONE {
                continue;
            }
            if dense(counts[code as usize]) {
                if let Ok(i) = column.bits.binary_search_by_key(&code, |&(code, _)| code) {
                    bits::insert(&mut column.bits[i].1, row);
                }
            } else {
                column.rows[next[code as usize] as usize] = row as u32;
                next[code as usize] += 1;
            }
        }
        column.counts = counts;
        Ok(column)
    }

    /// The rows of a value; none if the column does not have it.
    fn rows(&self, code: u32) -> ValueRows<'_> {
        let i = code as usize;
        if let Ok(i) = self.bits.binary_search_by_key(&code, |&(code, _)| code) {
            ValueRows::Bits(&self.bits[i].1)
        } else if i + 1 < self.starts.len() {
            ValueRows::List(&self.rows[self.starts[i] as usize..self.starts[i + 1] as usize])
        } else {
            ValueRows::List(&[])
        }
    }
}

impl<'a> Postings<'a> {
    pub(crate) fn new(bag: &'a Bag, watch: &'a Watch) -> Result<Self, Stop> {
        let mut reservation = Reservation::new(watch);
        let mut columns = Vec::with_capacity(bag.width());
        for (column, domain) in bag.domains().iter().enumerate() {
            // Counts, starts and the position of the next row: 12 bytes for each value.
            reservation.add(bag.distinct() as u64 * 4 + domain.len() as u64 * 12)?;
            columns.push(ColumnPostings::new(bag, column, watch)?);
        }
        Ok(Postings { bag, columns, _reservation: reservation })
    }

    /// The number of distinct rows that contain the item.
    pub(crate) fn count(&self, item: Item) -> u32 {
        let counts = &self.columns[item.column as usize].counts;
        counts.get(item.code as usize).copied().unwrap_or(0)
    }

    /// Adds the distinct rows that contain the item, ascending.
    pub(crate) fn extend(&self, rows: &mut Vec<u32>, item: Item) {
        match self.columns[item.column as usize].rows(item.code) {
            ValueRows::List(list) => rows.extend_from_slice(list),
            ValueRows::Bits(set) => rows.extend(bits::numbers(set).map(|row| row as u32)),
        }
    }

    /// Whether a row other than `except` contains all of the items (at least one).
    ///
    /// Costs a look at the rows of the rarest item, or at a 64th of all rows for each item if
    /// every one of them is common; less if there is such a row.
    pub(crate) fn any(&self, items: &[Item], except: Option<u32>) -> bool {
        self.find(items, |row| Some(row) != except)
    }

    /// Whether at most `rows` rows contain all of the items (at least one), copies counted. Costs the same as
    /// [`Postings::any`]; less if more rows do.
    pub(crate) fn at_most(&self, items: &[Item], rows: u64) -> bool {
        let mut left = rows;
        !self.find(items, |row| match left.checked_sub(self.bag.weight(row as usize)) {
            Some(fewer) => {
                left = fewer;
                false
            }
            None => true,
        })
    }

    /// Whether at most `most` units have a row that contains all of the items (at least one). Costs the same, and a
    /// look at the units of these rows.
    pub(crate) fn at_most_units(
        &self,
        items: &[Item],
        most: u64,
        units: &Units,
        counter: &mut UnitCounter,
    ) -> bool {
        counter.begin();
        let mut found = 0;
        !self.find(items, |row| {
            units.of(row as usize).iter().any(|of| {
                found += u64::from(counter.see(of.unit));
                found > most
            })
        })
    }

    /// Calls `found` with the distinct rows that contain all of the items (at least one), ascending, until it returns
    /// true; returns whether it did.
    pub(crate) fn find(&self, items: &[Item], mut found: impl FnMut(u32) -> bool) -> bool {
        let mut lists: Vec<&[u32]> = Vec::with_capacity(items.len());
        let mut common: Vec<(u32, &[u64])> = Vec::with_capacity(items.len());
        for &item in items {
            match self.columns[item.column as usize].rows(item.code) {
                ValueRows::List(rows) => lists.push(rows),
                ValueRows::Bits(words) => common.push((self.count(item), words)),
            }
        }
        lists.sort_unstable_by_key(|list| list.len());
        common.sort_unstable_by_key(|&(count, _)| count);
        // Bits before codes, rarest first, because bits are denser in memory.
        let mut fits = |row: u32| {
            let codes = || self.bag.row(row as usize);
            common.iter().all(|(_, set)| bits::has(set, row as usize))
                && items.iter().all(|i| codes()[i.column as usize] == i.code)
                && found(row)
        };
        match (lists.as_slice(), common.as_slice()) {
            ([first, second, ..], _) if second.len() / MERGE <= first.len() => {
                shared(first, second).any(fits)
            }
            ([first, ..], _) => first.iter().any(|&row| fits(row)),
            ([], [(_, first), (_, second), others @ ..]) => {
                let words = first.iter().zip(*second).map(|(a, b)| a & b).enumerate();
                words.filter(|&(_, word)| word != 0).any(|(i, word)| {
                    let word = others.iter().fold(word, |word, (_, words)| word & words[i]);
                    bits::ones(word).any(|bit| found((i * u64::BITS as usize + bit) as u32))
                })
            }
            ([], [(_, only)]) => bits::numbers(only).any(|row| found(row as u32)),
            ([], []) => false,
        }
    }
}

/// The common elements of two ascending lists.
fn shared<'a>(mut one: &'a [u32], mut other: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
    std::iter::from_fn(move || {
        while let (Some(&a), Some(&b)) = (one.first(), other.first()) {
            // Without a branch on which one is smaller, because it would be unpredictable.
            one = &one[usize::from(a <= b)..];
            other = &other[usize::from(b <= a)..];
            if a == b {
                return Some(a);
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_are_found_as_by_looking_at_all(
            rows in prop::collection::vec((0u32..3, 0u32..40, prop::option::of(0u32..200)), 1..200),
            items in prop::collection::btree_map(0u32..3, 0u32..201, 1..=3),
            pick in 0usize..200,
        ) {
            let text = |n: u32| Some(format!("{n:03}"));
            let rows = rows.iter().map(|&(a, b, c)| [text(a), text(b), c.and_then(text)]);
            let bag = Bag::from_text(3, rows);
            let watch = Watch::unlimited();
            let postings = Postings::new(&bag, &watch).unwrap();
            let items: Vec<Item> =
                items.into_iter().map(|(column, code)| Item { column, code }).collect();
            // Items that may occur nowhere, and items of a row.
            let row = bag.row(pick % bag.distinct());
            let of_row: Vec<Item> = items
                .iter()
                .map(|item| Item { code: row[item.column as usize], ..*item })
                .filter(|item| item.code != NONE)
                .collect();
            let sets = [items, of_row];
            for items in sets.iter().filter(|items| !items.is_empty()) {
                for except in [None, Some((pick % bag.distinct()) as u32)] {
                    let has = |&row: &u32| {
                        let codes = bag.row(row as usize);
                        Some(row) != except
                            && items.iter().all(|i| codes[i.column as usize] == i.code)
                    };
                    let expected = (0..bag.distinct() as u32).any(|row| has(&row));
                    prop_assert_eq!(postings.any(items, except), expected);
                }
                let has = |row: &usize| {
                    items.iter().all(|i| bag.row(*row)[i.column as usize] == i.code)
                };
                let support: u64 =
                    (0..bag.distinct()).filter(has).map(|row| bag.weight(row)).sum();
                for rows in support.saturating_sub(2)..support + 2 {
                    prop_assert_eq!(postings.at_most(items, rows), support <= rows);
                }
                let mut found = Vec::new();
                postings.extend(&mut found, items[0]);
                let expected: Vec<u32> = (0..bag.distinct() as u32)
                    .filter(|&row| bag.row(row as usize)[items[0].column as usize] == items[0].code)
                    .collect();
                prop_assert_eq!(postings.count(items[0]) as usize, expected.len());
                prop_assert_eq!(found, expected);
            }
        }
    }
}
