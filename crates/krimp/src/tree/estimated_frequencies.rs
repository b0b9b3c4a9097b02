//! Joint frequencies estimated from rows whose cells were randomised each by itself.
//!
//! The factor of a cell for a value of its column has the mean 1 where the cell had the value before it was
//! randomised, and 0 elsewhere. So the mean over rows of the product over an itemset's columns is an unbiased
//! estimate of the itemset's frequency before.

use crate::tree::frequencies::{Frequencies, Shares};
use std::collections::HashMap;
use table::{Bag, Item, Keyed, Reservation, Stop, Watch};

/// The factor of a randomised cell for a value of its column: its mean over the coins is 1 where the cell had the
/// value, and 0 elsewhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Channel {
    /// The factor if the randomised cell has the value.
    pub shown: f64,
    /// The factor if it has another value; at most 0.
    pub not_shown: f64,
}

impl Channel {
    /// The variance of the factor of a cell that did not have the value: one of two numbers, with mean 0.
    pub(crate) fn variance(self) -> f64 {
        -self.shown * self.not_shown
    }
}

/// The conditions under which an itemset counts as frequent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// The least estimate.
    pub least: f64,
    /// The largest standard deviation of an estimate that is used.
    pub noise: f64,
}

/// The itemsets that are frequent by their estimates, and the shares of all values.
pub(crate) struct Estimates<'w> {
    pub shares: Vec<Shares>,
    /// By itemset: its estimate, at most 1 and at most that of each subset.
    sets: HashMap<Box<[Item]>, f64, Keyed>,
    held: Reservation<'w>,
}

impl<'w> Estimates<'w> {
    /// Finds the itemsets whose estimate and whose subsets' estimates are within the bounds. `nulls` are
    /// the codes of NULL.
    ///
    /// An itemset is grown column by column, and the sets that begin with a later item come first: so all its subsets
    /// are known when its turn comes. One pass over the rows estimates all itemsets that have one more item than a
    /// given one.
    pub(crate) fn new(
        bag: &Bag,
        channels: &[Channel],
        nulls: &[Option<u32>],
        bounds: Bounds,
        watch: &'w Watch,
    ) -> Result<Self, Stop> {
        let mut search = Search {
            bag,
            channels,
            bounds,
            estimates: Estimates {
                shares: Vec::new(),
                sets: HashMap::default(),
                held: Reservation::new(watch),
            },
            watch,
        };
        let all: Vec<f64> = bag.weights().iter().map(|&weight| weight as f64).collect();
        let items = bag.domains().iter().enumerate().flat_map(|(column, domain)| {
            (0..domain.len() as u32).map(move |code| Item { column: column as u32, code })
        });
        let items: Vec<Item> = items.collect();
        let singles = search.estimate(&all, &items)?;
        let mut shares: Vec<Shares> =
            nulls.iter().map(|&null| Shares { values: Vec::new(), null, missing: 0.0 }).collect();
        for (item, single) in items.iter().zip(&singles) {
            shares[item.column as usize].values.push(single.share.clamp(0.0, 1.0));
        }
        search.estimates.shares = shares;
        let frequent = search.keep(&[], &items, &singles)?;
        search.grow(&mut Vec::new(), &all, &frequent)?;
        Ok(search.estimates)
    }

    /// The itemsets of two or more items with an estimate of at least `least`.
    pub(crate) fn itemsets(&self, least: f64) -> impl Iterator<Item = &[Item]> {
        let frequent = self.sets.iter().filter(move |&(_, &share)| share >= least);
        frequent.map(|(items, _)| &**items).filter(|items| items.len() > 1)
    }
}

impl Frequencies for Estimates<'_> {
    type Rows = Vec<Item>;

    fn bytes(&self) -> u64 {
        (self.shares.len() * size_of::<Item>()) as u64
    }

    fn all(&self) -> Vec<Item> {
        Vec::new()
    }

    fn with(&self, rows: &Vec<Item>, added: &[Item]) -> Vec<Item> {
        let mut items = [rows.as_slice(), added].concat();
        items.sort_unstable();
        items
    }

    /// An itemset that is not frequent counts as one that does not occur.
    fn share(&self, rows: &Vec<Item>, added: &[Item]) -> f64 {
        self.sets.get(self.with(rows, added).as_slice()).copied().unwrap_or(0.0)
    }
}

/// An estimate.
#[derive(Clone, Copy)]
struct Estimate {
    share: f64,
    stddev: f64,
}

struct Search<'a, 'w> {
    bag: &'a Bag,
    channels: &'a [Channel],
    bounds: Bounds,
    estimates: Estimates<'w>,
    watch: &'w Watch,
}

impl Search<'_, '_> {
    /// Extends an itemset. `products` has for each distinct row its contribution to the itemset's estimate, `next`
    /// the items of later columns that are frequent together with it.
    fn grow(
        &mut self,
        itemset: &mut Vec<Item>,
        products: &[f64],
        next: &[Item],
    ) -> Result<(), Stop> {
        let _held = self.watch.hold(products.len() as u64 * 8)?;
        let mut with = vec![0.0; products.len()];
        for (place, &item) in next.iter().enumerate().rev() {
            let later = next[place + 1..].iter().copied();
            let later: Vec<Item> = later.filter(|next| next.column > item.column).collect();
            if later.is_empty() {
                continue;
            }
            let Channel { shown, not_shown } = self.channels[item.column as usize];
            for (row, (to, product)) in with.iter_mut().zip(products).enumerate() {
                self.watch.poll(row)?;
                let cell = self.bag.row(row)[item.column as usize];
                *to = product * if cell == item.code { shown } else { not_shown };
            }
            let estimates = self.estimate(&with, &later)?;
            itemset.push(item);
            let frequent = self.keep(itemset, &later, &estimates)?;
            self.grow(itemset, &with, &frequent)?;
            itemset.pop();
        }
        Ok(())
    }

    /// The estimates of an itemset together with each of several items.
    fn estimate(&self, products: &[f64], items: &[Item]) -> Result<Vec<Estimate>, Stop> {
        let mut columns: Vec<usize> = items.iter().map(|item| item.column as usize).collect();
        columns.dedup();
        // By column and code: sums of the rows that have the value, and of their squares.
        let mut sums: Vec<Vec<(f64, f64)>> = vec![Vec::new(); self.bag.width()];
        for &column in &columns {
            sums[column] = vec![(0.0, 0.0); self.bag.domain(column).len()];
        }
        let (mut sum, mut squares) = (0.0, 0.0);
        for (row, &product) in products.iter().enumerate() {
            self.watch.poll(row)?;
            let square = product * product / self.bag.weight(row) as f64;
            sum += product;
            squares += square;
            let cells = self.bag.row(row);
            for &column in &columns {
                let of_value = &mut sums[column][cells[column] as usize];
                of_value.0 += product;
                of_value.1 += square;
            }
        }
        let rows = self.bag.row_count().max(1) as f64;
        let estimate = |item: &Item| {
            let Channel { shown, not_shown } = self.channels[item.column as usize];
            let (with, with_squares) = sums[item.column as usize][item.code as usize];
            let share = (with * shown + (sum - with) * not_shown) / rows;
            let square = (with_squares * shown * shown
                + (squares - with_squares) * not_shown * not_shown)
                / rows;
            // By the randomisation alone: the mean of a row's product is 1 if it had the itemset, else 0.
            let variance = (square - share).max(0.0) / rows;
            Estimate { share, stddev: variance.sqrt() }
        };
        Ok(items.iter().map(estimate).collect())
    }

    /// Keeps the frequent ones among an itemset together with each of several items; returns those items.
    fn keep(
        &mut self,
        itemset: &[Item],
        items: &[Item],
        estimates: &[Estimate],
    ) -> Result<Vec<Item>, Stop> {
        let mut frequent = Vec::new();
        for (&item, estimate) in items.iter().zip(estimates) {
            if estimate.share < self.bounds.least || estimate.stddev > self.bounds.noise {
                continue;
            }
            let set: Box<[Item]> = [itemset, &[item]].concat().into();
            let Some(most) = self.least_of_subsets(&set) else { continue };
            self.watch.found(1)?;
            let bytes = size_of_val(&*set) + 4 * size_of::<(Box<[Item]>, f64)>();
            self.estimates.held.add(bytes as u64)?;
            self.estimates.sets.insert(set, estimate.share.min(most));
            frequent.push(item);
        }
        Ok(frequent)
    }

    /// The least estimate of the subsets with one item less; `None` if one of them is not frequent.
    fn least_of_subsets(&self, set: &[Item]) -> Option<f64> {
        let mut least = 1.0f64;
        for left_out in (0..set.len()).filter(|_| set.len() > 1) {
            let subset = [&set[..left_out], &set[left_out + 1..]].concat();
            least = least.min(*self.estimates.sets.get(subset.as_slice())?);
        }
        Some(least)
    }
}
