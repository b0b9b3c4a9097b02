//! Fits models to a LUCS file, draws rows and measures how far they are from the file.
//!
//! Usage: adult FILE RUNS EPSILON... [--three]
//!
//! For each epsilon (delta 1e-9, one row added or removed): the mean over the runs of the mean total
//! variation of all two-way marginals, the mean of its largest pair, with --three that of all
//! three-way marginals, and the processor time of the slowest fit and draw. At the end, the peak of
//! memory, the file and its rows included.

use pg_sanitize_synth::{RowDrawer, SynthesisRequest, fit};
use random::Coins;
use std::collections::HashMap;
use std::error::Error;
use table::{Bag, Watch};

/// A row as text, NULL where it has no item of a column.
type Cells = Vec<Option<String>>;

/// The columns and rows of the file: the rows of the most common length decide which column an item belongs to.
fn read(path: &str) -> Result<(usize, Vec<Cells>), Box<dyn Error>> {
    let text = std::fs::read_to_string(path)?;
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    let mut lengths: HashMap<usize, usize> = HashMap::new();
    rows.iter().for_each(|row| *lengths.entry(row.len()).or_default() += 1);
    let width = lengths.iter().max_by_key(|&(_, &count)| count).map_or(0, |(&length, _)| length);
    let mut column: HashMap<&str, usize> = HashMap::new();
    for row in rows.iter().filter(|row| row.len() == width) {
        row.iter().enumerate().for_each(|(place, &item)| {
            column.insert(item, place);
        });
    }
    let spread = |row: &Vec<&str>| {
        let mut cells = vec![None; width];
        for &item in row {
            if let Some(&place) = column.get(item) {
                cells[place] = Some(item.to_owned());
            }
        }
        cells
    };
    Ok((width, rows.iter().map(spread).collect()))
}

/// Shares of the cells of a marginal.
fn marginal(rows: &[u32], width: usize, sizes: &[u32], columns: &[usize]) -> Vec<f64> {
    let cells = columns.iter().map(|&c| sizes[c] as usize).product();
    let mut counts = vec![0.0; cells];
    for row in rows.chunks_exact(width) {
        let cell = columns.iter().fold(0, |cell, &c| cell * sizes[c] as usize + row[c] as usize);
        counts[cell] += 1.0;
    }
    let count = rows.len() as f64 / width as f64;
    counts.iter_mut().for_each(|c| *c /= count);
    counts
}

/// Mean and largest total variation of the marginals of some sets of columns.
fn distance(a: &[u32], b: &[u32], sizes: &[u32], sets: &[Vec<usize>]) -> (f64, f64) {
    let (mut sum, mut most) = (0.0, 0.0f64);
    for set in sets {
        let of = |rows| marginal(rows, sizes.len(), sizes, set);
        let tv = of(a).iter().zip(&of(b)).map(|(p, q)| (p - q).abs()).sum::<f64>() / 2.0;
        sum += tv;
        most = most.max(tv);
    }
    (sum / sets.len() as f64, most)
}

/// Seconds of processor time so far.
fn processor() -> Result<f64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/self/schedstat")?;
    let nanoseconds: f64 = text.split_whitespace().next().unwrap_or("0").parse()?;
    Ok(nanoseconds * 1e-9)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let three = args.iter().any(|arg| arg == "--three");
    args.retain(|arg| arg != "--three");
    let [path, runs, epsilons @ ..] = args.as_slice() else {
        return Err("usage: adult FILE RUNS EPSILON... [--three]".into());
    };
    let (width, cells) = read(path)?;
    let bag = Bag::from_text(width, cells.iter().map(|row| row.iter().cloned()));
    let nulls = |column: usize| cells.iter().any(|row| row[column].is_none());
    let sizes: Vec<u32> =
        (0..width).map(|c| bag.domain(c).len() as u32 + u32::from(nulls(c))).collect();
    let mut original = vec![];
    for i in 0..bag.distinct() {
        let row = bag.row(i).iter().zip(&sizes).map(|(&code, &size)| code.min(size - 1));
        let row: Vec<u32> = row.collect();
        (0..bag.weight(i)).for_each(|_| original.extend(&row));
    }
    let mut pairs = vec![];
    let mut triples = vec![];
    for a in 0..width {
        for b in a + 1..width {
            pairs.push(vec![a, b]);
            triples.extend((b + 1..width).map(|c| vec![a, b, c]));
        }
    }
    let (runs, watch): (i64, _) = (runs.parse()?, Watch::unlimited());
    for epsilon in epsilons {
        let epsilon: f64 = epsilon.parse()?;
        let rho = guarantee::zcdp_rho(epsilon, 1e-9)?;
        let request = SynthesisRequest { rho, rows_per_unit: 1, workload: vec![] };
        let (mut two, mut most, mut third) = (0.0, 0.0f64, 0.0);
        let (mut fitting, mut drawing) = (0.0f64, 0.0f64);
        for run in 0..runs {
            let mut coins = Coins::seeded(run);
            let begin = processor()?;
            let model = fit(&bag, &sizes, &request, &mut coins, &watch)?;
            fitting = fitting.max(processor()? - begin);
            let begin = processor()?;
            let drawer = RowDrawer::new(&model, &watch)?;
            let rows = drawer.rows(0, bag.row_count() as usize, &coins.key(), &watch)?;
            drawing = drawing.max(processor()? - begin);
            let (mean, largest) = distance(&original, &rows, &sizes, &pairs);
            two += mean / runs as f64;
            most += largest / runs as f64;
            if three {
                third += distance(&original, &rows, &sizes, &triples).0 / runs as f64;
            }
        }
        println!(
            "epsilon {epsilon} (rho {rho:.5}): two-way {two:.5}, largest {most:.4}, three-way \
             {third:.4}, fit {fitting:.2} s, draw {drawing:.2} s"
        );
    }
    let status = std::fs::read_to_string("/proc/self/status")?;
    println!("{}", status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default());
    Ok(())
}
