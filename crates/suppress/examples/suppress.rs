//! Suppresses cells of a file of rows and says how long that takes: for benchmarks.
//!
//! Usage: suppress FILE mii_suppress|k_mii|k_anonymize THRESHOLD [THREADS] [RUNS] [rows|units]
//!
//! The first line names the columns; cells are separated by semicolons. With `rows` or `units` the last column is the
//! unit of the row, which is what counts with `units`. Prints what is kept and the shortest time of the runs, without
//! reading and coding.

use pg_sanitize_suppress::{KAnonymity, k_anonymize, k_mii, mii_suppress};
use std::error::Error;
use std::time::{Duration, Instant};
use table::{Bag, Piece, Watch};

fn read(path: &str) -> Result<Bag, Box<dyn Error>> {
    let text = std::fs::read_to_string(path)?;
    let mut lines = text.lines();
    let width = lines.next().map_or(0, |header| header.split(';').count());
    Ok(Bag::from_text(width, lines.map(|line| line.split(';').map(Some))))
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [path, what, threshold, rest @ ..] = args.as_slice() else {
        return Err(
            "usage: suppress FILE mii_suppress|k_mii|k_anonymize THRESHOLD [THREADS] [RUNS] [rows|units]"
                .into(),
        );
    };
    let threshold: u64 = threshold.parse()?;
    let number = |i: usize| rest.get(i).map_or(Ok(1), |s| s.parse::<usize>());
    let (threads, runs) = (number(0)?, number(1)?);
    let mut bag = read(path)?;
    let mut units = None;
    if let Some(counted) = rest.get(2) {
        let (rows, own) = bag.split_units(&Watch::unlimited())?;
        bag = rows;
        units = Some(own).filter(|_| counted == "units");
    }
    let units = units.as_ref();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let mut best = Duration::MAX;
    let (mut kept, mut suppressed) = (0, 0);
    for _ in 0..runs.max(1) {
        let watch = Watch::unlimited();
        let begin = Instant::now();
        let release = pool.install(|| match what.as_str() {
            "mii_suppress" => mii_suppress(&bag, units, threshold, None, &watch),
            "k_mii" => k_mii(&bag, units, threshold, None, 1.0, &watch),
            _ => {
                let asked = KAnonymity { k: threshold, ..KAnonymity::default() };
                k_anonymize(&bag, units, &asked, &watch).map(|found| found.release)
            }
        })?;
        best = best.min(begin.elapsed());
        let pieces = release.pieces().iter();
        kept = pieces.clone().map(|piece| piece.weight).sum::<u64>();
        let blanked =
            |p: &Piece| (0..bag.width()).filter(|&c| release.suppresses(p.form, c)).count();
        suppressed = pieces.map(|piece| blanked(piece) as u64 * piece.weight).sum::<u64>();
    }
    println!(
        "{what} {threshold}: {kept} rows, {suppressed} cells blanked in {:.1} ms",
        best.as_secs_f64() * 1000.0
    );
    Ok(())
}
