//! Mines a file of rows and prints how long that takes: for benchmarks.
//!
//! Usage: mine FILE miis|visit|mark|frequent|closed|candidates THRESHOLD [THREADS] [RUNS] [MAX_LENGTH|all] [units]
//!
//! A line is a row, its cells separated by white space, `?` for NULL; the rows of the most common length are used,
//! and the position is the column. With `units` the last column is the unit, and supports count units. Prints the
//! number of itemsets by length and the shortest time of the runs, without reading and coding. `visit` marks the cells
//! that lie in MIIs without listing them, `mark` also skips marked cells; `candidates` lists the same itemsets as
//! `frequent`, except single items, in the form that Krimp takes.

use pg_sanitize_mining::{
    CandidateKind, Subtree, Visitor, candidates, closed, frequent, miis, visit_miis,
};
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use table::{Bag, Item, Itemsets, Marks, NONE, Stop, Units, Watch};

/// Marks the cells that lie in MIIs, as suppression does; skips where all are marked, if `SKIPS`.
struct Blanked<const SKIPS: bool> {
    found: AtomicU64,
    cells: Marks,
}

impl<const SKIPS: bool> Blanked<SKIPS> {
    fn new(bag: &Bag) -> Self {
        let cells = Marks::new(bag.distinct(), bag.width());
        for (i, row) in (0..bag.distinct()).map(|i| bag.row(i)).enumerate() {
            (0..row.len()).filter(|&c| row[c] == NONE).for_each(|c| cells.insert(i, c));
        }
        Blanked { found: AtomicU64::new(0), cells }
    }
}

impl<const S: bool> Visitor for Blanked<S> {
    const SKIPS: bool = S;

    fn mii(&self, items: &[Item], rows: &[u32], _support: u64) -> Result<(), Stop> {
        self.found.fetch_add(1, Relaxed);
        for &row in rows {
            items.iter().for_each(|item| self.cells.insert(row as usize, item.column as usize));
        }
        Ok(())
    }

    fn skip(&self, subtree: &Subtree<'_>) -> bool {
        subtree.all_rows(|row| self.cells.contains(row as usize, subtree.columns))
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

fn mark<const SKIPS: bool>(
    bag: &Bag,
    units: Option<&Units>,
    theta: u64,
    max_length: Option<usize>,
    watch: &Watch,
    found: &mut u64,
) -> Result<Itemsets, Stop> {
    let marks = Blanked::<SKIPS>::new(bag);
    visit_miis(bag, units, theta, max_length, watch, &marks)?;
    *found = marks.found.into_inner();
    Ok(Itemsets::new())
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [path, what, threshold, rest @ ..] = args.as_slice() else {
        return Err(
            "usage: mine FILE miis|visit|mark|frequent|closed|candidates THRESHOLD [THREADS] [RUNS] [MAX_LENGTH|all] [units]"
                .into(),
        );
    };
    let threshold: u64 = threshold.parse()?;
    let number = |i: usize, default: usize| rest.get(i).map_or(Ok(default), |s| s.parse::<usize>());
    let (threads, runs) = (number(0, 1)?, number(1, 1)?);
    let max_length = rest.get(2).filter(|s| s.as_str() != "all");
    let max_length = max_length.map(|s| s.parse::<usize>()).transpose()?;
    let (mut bag, mut units) = (read(path)?, None);
    if rest.get(3).is_some_and(|s| s == "units") {
        let (rest, of_rows) = bag.split_units(&Watch::unlimited())?;
        (bag, units) = (rest, Some(of_rows));
    }
    let units = units.as_ref();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let mut best = Duration::MAX;
    let mut found = BTreeMap::new();
    let mut bytes = 0;
    let mut marked = 0;
    for _ in 0..runs.max(1) {
        let watch = Watch::unlimited();
        let begin = Instant::now();
        let list = pool.install(|| match what.as_str() {
            "miis" => miis(&bag, units, threshold, max_length, &watch),
            "frequent" => frequent(&bag, units, threshold, max_length, &watch),
            "closed" => closed(&bag, units, threshold, max_length, &watch),
            "candidates" => {
                candidates(&bag, CandidateKind::All, threshold, max_length, |_| true, &watch).map(
                    |list| {
                        marked = list.len() as u64;
                        Itemsets::new()
                    },
                )
            }
            "visit" => mark::<false>(&bag, units, threshold, max_length, &watch, &mut marked),
            _ => mark::<true>(&bag, units, threshold, max_length, &watch, &mut marked),
        })?;
        best = best.min(begin.elapsed());
        found = lengths(&list);
        bytes = list.memory();
    }
    println!(
        "{path} {what} {threshold} threads={threads}: {} rows ({} distinct) x {}: {} itemsets {:?} in {:.1} ms, list {} bytes",
        bag.row_count(),
        bag.distinct(),
        bag.width(),
        found.values().sum::<u64>() + marked,
        found.values().collect::<Vec<_>>(),
        best.as_secs_f64() * 1000.0,
        bytes
    );
    Ok(())
}
