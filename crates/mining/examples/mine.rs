//! Mines a file of rows and says how long that takes: for benchmarks.
//!
//! Usage: mine FILE miis|frequent|closed|visit THRESHOLD [THREADS] [RUNS] [MAX_LENGTH]
//!
//! A line is a row, its cells separated by white space, `?` for NULL; the rows of the most common
//! length are used, and the position is the column. Prints the number of itemsets by length and
//! the shortest time of the runs, without reading and coding.

use pg_sanitize_mining::{Visitor, closed, frequent, miis, visit_miis};
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use table::{Bag, Item, Itemsets, Stop, Watch};

/// Counts MIIs by length, and nothing else.
struct Count([AtomicU64; 64]);

impl Visitor for Count {
    fn mii(&self, items: &[Item], _rows: &[u32], _support: u64) -> Result<(), Stop> {
        self.0[items.len().min(63)].fetch_add(1, Relaxed);
        Ok(())
    }
}

fn read(path: &str) -> Result<Bag, Box<dyn Error>> {
    let text = std::fs::read_to_string(path)?;
    let rows: Vec<Vec<&str>> = text.lines().map(|l| l.split_whitespace().collect()).collect();
    let mut lengths: BTreeMap<usize, usize> = BTreeMap::new();
    rows.iter().for_each(|r| *lengths.entry(r.len()).or_default() += 1);
    let width = lengths.into_iter().max_by_key(|&(_, n)| n).map_or(0, |(length, _)| length);
    let rows = rows.into_iter().filter(|r| r.len() == width);
    Ok(Bag::from_text(width, rows.map(|r| r.into_iter().map(|cell| (cell != "?").then_some(cell)))))
}

fn lengths(list: &Itemsets) -> BTreeMap<usize, u64> {
    let mut lengths = BTreeMap::new();
    list.iter().for_each(|(items, _)| *lengths.entry(items.len()).or_default() += 1);
    lengths
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [path, what, threshold, rest @ ..] = args.as_slice() else {
        return Err("usage: mine FILE miis|frequent|closed|visit THRESHOLD [THREADS] [RUNS] [MAX_LENGTH]".into());
    };
    let threshold: u64 = threshold.parse()?;
    let number = |i: usize, default: usize| rest.get(i).map_or(Ok(default), |s| s.parse::<usize>());
    let (threads, runs) = (number(0, 1)?, number(1, 1)?);
    let max_length = rest.get(2).map(|s| s.parse::<usize>()).transpose()?;
    let bag = read(path)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let mut best = Duration::MAX;
    let mut found = BTreeMap::new();
    let mut bytes = 0;
    for _ in 0..runs.max(1) {
        let watch = Watch::unlimited();
        let begin = Instant::now();
        let list = pool.install(|| match what.as_str() {
            "miis" => miis(&bag, threshold, max_length, &watch).map(Some),
            "frequent" => frequent(&bag, threshold, max_length, &watch).map(Some),
            "closed" => closed(&bag, threshold, max_length, &watch).map(Some),
            _ => {
                let count = Count([const { AtomicU64::new(0) }; 64]);
                visit_miis(&bag, threshold, max_length, &watch, &count)?;
                found = (0..64)
                    .map(|l| (l, count.0[l].load(Relaxed)))
                    .filter(|&(_, n)| n > 0)
                    .collect();
                Ok(None)
            }
        })?;
        best = best.min(begin.elapsed());
        if let Some(list) = list {
            found = lengths(&list);
            bytes = list.memory();
        }
    }
    println!(
        "{path} {what} {threshold} threads={threads}: {} rows ({} distinct) x {}: {} itemsets {:?} in {:.1} ms, list {} bytes",
        bag.row_count(),
        bag.distinct(),
        bag.width(),
        found.values().sum::<u64>(),
        found.values().collect::<Vec<_>>(),
        best.as_secs_f64() * 1000.0,
        bytes
    );
    Ok(())
}
