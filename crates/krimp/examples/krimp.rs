//! Compresses a file of transactions and prints how well and how fast: for benchmarks.
//!
//! Usage: krimp FILE all|closed|pairs MIN_SUPPORT [prune|keep] [THREADS] [RUNS] [MEGABYTES] [SECONDS]
//!
//! A line is a row of item numbers separated by white space. Prints the sizes, the number of
//! itemsets of two or more items, and the shortest time of the runs, mining included.

#[path = "../tests/common/transactions.rs"]
mod transactions;

use pg_sanitize_krimp::{Candidates, Options, Progress, fit};
use std::error::Error;
use std::time::{Duration, Instant};
use table::Watch;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [path, kind, min_support, rest @ ..] = args.as_slice() else {
        return Err(
            "usage: krimp FILE all|closed|pairs MIN_SUPPORT [prune|keep] [THREADS] [RUNS] [MEGABYTES] [SECONDS]".into()
        );
    };
    let bag = transactions::read(&std::fs::read_to_string(path)?);
    let options = Options {
        candidates: match kind.as_str() {
            "closed" => Candidates::Closed,
            "pairs" => Candidates::Pairs,
            _ => Candidates::All,
        },
        prune: rest.first().is_some_and(|word| word == "prune"),
        time: rest.get(4).map(|s| s.parse().map(Duration::from_secs_f64)).transpose()?,
        ..Options::new(min_support.parse()?)
    };
    let number = |i: usize| rest.get(i).map_or(Ok(1), |s| s.parse::<usize>());
    let (threads, runs) = (number(1)?, number(2)?);
    let memory = rest.get(3).map_or(Ok(u64::MAX), |s| s.parse::<u64>().map(|mb| mb << 20))?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let mut best = Duration::MAX;
    let mut table = None;
    for _ in 0..runs.max(1) {
        let begin = Instant::now();
        let watch = Watch::new(memory, u64::MAX);
        let fitted = pool.install(|| fit(&bag, &options, &watch, &Progress::new()))?;
        best = best.min(begin.elapsed());
        table = Some(fitted);
    }
    if let Some(table) = table {
        println!(
            "{path} {kind} {min_support} threads={threads}: {} rows ({} distinct), {} candidates, {} accepted, \
             {} sets, {:.0} of {:.0} bits ({:.0} of them the table), {:.2} %, {:.2} s",
            bag.row_count(),
            bag.distinct(),
            table.seen,
            table.accepted,
            table.patterns().len(),
            table.sizes.total_bits,
            table.sizes.standard_bits,
            table.sizes.model_bits,
            100.0 * table.sizes.ratio,
            best.as_secs_f64()
        );
    }
    Ok(())
}
