//! Generates rows from the model of a file of transactions and prints how fast: for benchmarks.
//!
//! Usage: generate FILE all|closed|pairs MIN_SUPPORT prune|keep ROWS [THREADS] [RUNS]
//!
//! Prints the rows per second of the fastest run, fitting not counted, and the elements per row.

#[path = "../tests/common/transactions.rs"]
mod transactions;

use chacha20::ChaCha20Rng;
use pg_sanitize_krimp::{
    Candidates, Correction, DomainOrder, Generator, Options, Progress, fit_model,
};
use rand::SeedableRng;
use std::error::Error;
use std::time::{Duration, Instant};
use table::Watch;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [path, kind, min_support, prune, rows, rest @ ..] = args.as_slice() else {
        return Err(
            "usage: generate FILE all|closed|pairs MIN_SUPPORT prune|keep ROWS [THREADS] [RUNS]"
                .into(),
        );
    };
    let bag = transactions::read(&std::fs::read_to_string(path)?);
    let candidates = match kind.as_str() {
        "closed" => Candidates::Closed,
        "pairs" => Candidates::Pairs,
        _ => Candidates::All,
    };
    let options =
        Options { candidates, prune: prune == "prune", ..Options::new(min_support.parse()?) };
    let model = fit_model(&bag, &options, &Watch::unlimited(), &Progress::new())?;
    let rows: usize = rows.parse()?;
    let number = |i: usize| rest.get(i).map_or(Ok(1), |s: &String| s.parse::<usize>());
    let (threads, runs) = (number(0)?, number(1)?);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let mut best = Duration::MAX;
    let mut elements = 0;
    for _ in 0..runs.max(1) {
        let generator = Generator::new(&model, &Correction::new(0.001)?, DomainOrder::Random)?;
        let stream = |chunk: u64| {
            let mut rng = ChaCha20Rng::from_seed([7; 32]);
            rng.set_stream(chunk);
            rng
        };
        let begin = Instant::now();
        let made = pool.install(|| generator.rows(0, rows, stream, &Watch::unlimited()))?;
        best = best.min(begin.elapsed());
        elements = made.elements;
    }
    println!(
        "{path} {kind} {min_support} {prune} threads={threads}: {rows} rows of {} columns, {:.2} elements each, \
         {:.0} rows/s",
        model.columns().len(),
        elements as f64 / rows as f64,
        rows as f64 / best.as_secs_f64()
    );
    Ok(())
}
