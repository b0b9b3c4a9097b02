//! Counts the transactions that contain each itemset of a level.

use super::candidates::CandidateLevel;
use super::transactions::{BLOCK, Transactions, WORDS};
use rayon::prelude::*;
use table::{Stop, Watch};

/// The number of single items whose bitmaps are held at the same time.
const ITEMS: usize = 1024;

/// The number of transactions that contain each itemset, in the level's order. Threads share the blocks.
pub fn count(
    transactions: &(impl Transactions + ?Sized),
    level: &CandidateLevel<'_>,
    watch: &Watch,
) -> Result<Vec<u64>, Stop> {
    let items = level.all_items();
    if level.len() == items.len() && level.itemsets().all(|itemset| itemset.len() == 1) {
        let mut counts = Vec::with_capacity(items.len());
        for items in items.chunks(ITEMS) {
            counts.extend(add_up(transactions, items, items.len(), watch, |bitmaps, counts| {
                for (count, bitmap) in counts.iter_mut().zip(bitmaps.chunks(WORDS)) {
                    *count += ones(bitmap);
                }
                Ok(())
            })?);
        }
        return Ok(counts);
    }
    // The position of the level's items among the bitmaps.
    let place = |item: &u32| items.binary_search(item).unwrap_or(0);
    let itemsets: Vec<Vec<usize>> =
        level.itemsets().map(|itemset| itemset.iter().map(place).collect()).collect();
    let _held = watch.hold(itemsets.iter().map(|itemset| 8 * itemset.len() as u64 + 24).sum())?;
    add_up(transactions, &items, itemsets.len(), watch, |bitmaps, counts| {
        let bitmap = |place: usize| &bitmaps[place * WORDS..][..WORDS];
        let (mut shared, mut prefix): (_, &[usize]) = ([0; WORDS], &[]);
        for (i, (itemset, count)) in itemsets.iter().zip(counts).enumerate() {
            watch.poll(i)?;
            let (&last, first) = itemset.split_last().unwrap_or((&0, &[]));
            if first != prefix {
                prefix = first;
                shared.fill(u64::MAX);
                for &place in first {
                    shared.iter_mut().zip(bitmap(place)).for_each(|(word, other)| *word &= other);
                }
            }
            let both =
                shared.iter().zip(bitmap(last)).map(|(a, b)| u64::from((a & b).count_ones()));
            *count += both.sum::<u64>();
        }
        Ok(())
    })
}

fn ones(words: &[u64]) -> u64 {
    words.iter().map(|word| u64::from(word.count_ones())).sum()
}

/// Adds up the counts by `visit` in the bitmaps of these items, over all blocks.
fn add_up(
    transactions: &(impl Transactions + ?Sized),
    items: &[u32],
    counters: usize,
    watch: &Watch,
    visit: impl Fn(&[u64], &mut [u64]) -> Result<(), Stop> + Sync,
) -> Result<Vec<u64>, Stop> {
    let read = transactions.reader(items, watch)?;
    let blocks = transactions.count().div_ceil(BLOCK as u64) as usize;
    let threads = rayon::current_num_threads();
    let share = blocks.div_ceil(threads);
    let _held = watch.hold(8 * (threads * (counters + items.len() * WORDS)) as u64)?;
    watch.begin(blocks as u64);
    let of_thread = |thread: usize| {
        let mut counts = vec![0; counters];
        let mut bitmaps = vec![0; items.len() * WORDS];
        for block in (thread * share..blocks).take(share) {
            watch.check()?;
            read(block, &mut bitmaps);
            visit(&bitmaps, &mut counts)?;
            watch.advance(1);
        }
        Ok(counts)
    };
    let parts: Vec<Vec<u64>> =
        (0..threads).into_par_iter().map(of_thread).collect::<Result<_, Stop>>()?;
    let mut parts = parts.into_iter();
    let mut counts = parts.next().unwrap_or_default();
    for part in parts {
        counts.iter_mut().zip(part).for_each(|(count, more)| *count += more);
    }
    Ok(counts)
}
