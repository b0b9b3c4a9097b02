//! Draws rows from the code tree of a file of transactions and prints how fast: for benchmarks.
//!
//! Usage: tree FILE MIN_SUPPORT THRESHOLD backoff|literal ROWS [THREADS]
//!
//! The support is a number of rows, the threshold a share. Prints the seconds of each step and the rows
//! per second of two runs.

#[path = "../tests/common/transactions.rs"]
mod transactions;

use chacha20::ChaCha20Rng;
use pg_sanitize_krimp::{Nulls, Options, Progress, TreeGenerator, Walk, code_tree, fit};
use rand::SeedableRng;
use std::error::Error;
use std::time::Instant;
use table::{Choice, Watch};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [path, min_support, threshold, walk, rows, rest @ ..] = args.as_slice() else {
        return Err("usage: tree FILE MIN_SUPPORT THRESHOLD backoff|literal ROWS [THREADS]".into());
    };
    let bag = transactions::read(&std::fs::read_to_string(path)?);
    let rows: usize = rows.parse()?;
    let threads = rest.first().map_or(Ok(1), |threads| threads.parse())?;
    let walk = Walk::named(walk).ok_or("no such walk")?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let watch = Watch::unlimited();
    let begin = Instant::now();
    let options = Options::new(min_support.parse()?);
    let table = pool.install(|| fit(&bag, &options, &watch, &Progress::new()))?;
    let fitted = begin.elapsed();
    let tree = code_tree(&bag, &table, Nulls::Missing, threshold.parse()?, &watch)?;
    let grown = begin.elapsed() - fitted;
    println!(
        "{path}: {} patterns in {fitted:.2?}, {} nodes in {grown:.2?}",
        table.patterns().len(),
        tree.nodes().len()
    );
    let generator = TreeGenerator::new(&tree, walk, &watch)?;
    let stream = |chunk: u64| {
        let mut rng = ChaCha20Rng::from_seed([7; 32]);
        rng.set_stream(chunk);
        rng
    };
    for run in ["first", "second"] {
        let begin = Instant::now();
        let made = pool.install(|| generator.rows(0, rows, stream, &watch))?;
        let speed = rows as f64 / begin.elapsed().as_secs_f64();
        println!("{run} run: {} cells, {speed:.0} rows/s", made.len());
    }
    Ok(())
}
