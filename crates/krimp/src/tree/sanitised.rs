//! Rows whose cells were randomised, and the code tree that is made of them alone.

use crate::Error;
use crate::fit::{Progress, fit_candidates};
use crate::tree::code_tree::CodeTree;
use crate::tree::counted_frequencies::CountedFrequencies;
use crate::tree::estimated_frequencies::{Bounds, Channel, Estimates};
use crate::tree::frequencies::Frequencies;
use std::sync::Arc;
use table::{Bag, Domain, Item, Itemsets, NONE, Recoding, Stop, Watch};

/// Rows with randomised cells, and how they were randomised.
///
/// Everything that is made from it depends only on these rows, which are public, and on public numbers: see
/// `sanitised.md`. It does not contain the rows before they were randomised.
pub struct Sanitised {
    /// NULL is an item.
    bag: Bag,
    nulls: Vec<Option<u32>>,
    channels: Vec<Channel>,
}

impl Sanitised {
    /// The rows of a bag, whose domains are the public ones. NULL is one more value, after all others, of the columns
    /// that are `nullable`; others have no NULL.
    pub fn new(
        bag: &Bag,
        nullable: &[bool],
        channels: Vec<Channel>,
        watch: &Watch,
    ) -> Result<Self, Stop> {
        let mut domains = bag.domains().to_vec();
        let mut recoding = Recoding { codes: Vec::new(), nulls: Vec::new() };
        for (domain, &nullable) in domains.iter_mut().zip(nullable) {
            let values = domain.len() as u32;
            recoding.codes.push((0..values).collect());
            recoding.nulls.push(if nullable { values } else { NONE });
            if nullable {
                *domain = Arc::new(with_one_more(domain));
            }
        }
        let _held = watch.hold(bag.own_memory())?;
        let nulls = recoding.nulls.iter().map(|&null| (null != NONE).then_some(null)).collect();
        Ok(Sanitised { bag: bag.recoded(&recoding, domains, watch)?, nulls, channels })
    }

    /// Number of rows.
    pub fn row_count(&self) -> u64 {
        self.bag.row_count()
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.bag.width()
    }

    /// The code of NULL in a column that may have it.
    pub fn null_code(&self, column: usize) -> Option<u32> {
        self.nulls[column]
    }

    /// The bytes held.
    pub fn memory(&self) -> u64 {
        self.bag.memory()
    }

    /// The estimated shares of each value of a column before its cells were randomised, NULL last.
    pub fn shares(&self, column: usize, watch: &Watch) -> Result<Vec<f64>, Stop> {
        let bounds = Bounds { least: f64::INFINITY, noise: 0.0 };
        let mut estimates = Estimates::new(&self.bag, &self.channels, &self.nulls, bounds, watch)?;
        Ok(estimates.shares.swap_remove(column).values)
    }

    /// The rows that have a value of a column, without that column. The last code may be NULL.
    pub fn class(&self, column: usize, code: u32, watch: &Watch) -> Result<Sanitised, Stop> {
        let columns: Vec<usize> = (0..self.bag.width()).filter(|&other| other != column).collect();
        let bag = self.bag.filter(|row| row[column] == code).project(&columns, watch)?;
        let (nulls, channels) =
            columns.iter().map(|&other| (self.nulls[other], self.channels[other])).unzip();
        Ok(Sanitised { bag, nulls, channels })
    }

    /// The least standard deviation of the estimated share of a pair of values with this number of rows, by the
    /// columns' channels alone; `None` with less than two columns.
    pub fn pair_noise(channels: &[Channel], rows: u64) -> Option<f64> {
        let mut variances: Vec<f64> = channels.iter().map(|channel| channel.variance()).collect();
        variances.sort_by(f64::total_cmp);
        let [first, second, ..] = variances[..] else { return None };
        Some((first * second / rows.max(1) as f64).sqrt())
    }

    /// The tree of the code table that Krimp fits to these rows, with estimated frequencies.
    ///
    /// Candidates are the itemsets with an estimated share of at least `min_share`, whose subsets have it too, and
    /// whose estimate has a standard deviation of at most half of that: otherwise noise would be taken for a pattern
    /// too often. Unions whose estimate is above `threshold` get a path.
    pub fn tree(
        &self,
        min_share: f64,
        threshold: f64,
        max_length: Option<usize>,
        watch: &Watch,
        progress: &Progress,
    ) -> Result<CodeTree, Error> {
        let bounds = Bounds { least: min_share.min(threshold), noise: min_share / 2.0 };
        let estimates = Estimates::new(&self.bag, &self.channels, &self.nulls, bounds, watch)?;
        let most = max_length.unwrap_or(usize::MAX);
        let mut candidates = Itemsets::new();
        let frequent = || estimates.itemsets(min_share).filter(|items| items.len() <= most);
        let counted = CountedFrequencies::new(&self.bag, frequent().flatten(), watch)?;
        for (i, items) in frequent().enumerate() {
            watch.poll_every(16, i)?;
            let support = counted.count(&counted.all(), items);
            if support > 0 {
                candidates.push(items, support);
            }
        }
        drop(counted);
        let _held = watch.hold(candidates.memory())?;
        let table = fit_candidates(&self.bag, &candidates, watch, progress)?;
        let elements: Vec<&[Item]> = table.patterns().iter().map(|e| e.items.as_slice()).collect();
        let shares = estimates.shares.clone();
        Ok(CodeTree::new(&elements, shares, &estimates, threshold, watch)?)
    }
}

/// A domain with one more value after all others, whose text has no meaning.
fn with_one_more(domain: &Domain) -> Domain {
    let mut values: Vec<Vec<u8>> = domain.values().map(<[u8]>::to_vec).collect();
    let mut last = values.last().cloned().unwrap_or_default();
    last.push(u8::MAX);
    values.push(last);
    Domain::from_values(domain.name().to_string(), values)
}
