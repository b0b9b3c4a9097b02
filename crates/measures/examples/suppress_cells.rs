//! Cell suppression of random tables compared with the rule "one more in every row and column": time, the number of
//! suppressed cells and their share of the total, and the number of small cells that each leaves unsafe.
//!
//! cargo run --release -p pg_sanitize_measures --example suppress_cells [ROWS COLUMNS]

use pg_sanitize_measures::cells::{Layout, Protection, Status, audit, suppress};
use std::time::Instant;
use table::Watch;

/// Counts of a table whose rows and columns are of different sizes: about `scale` in the middle.
fn random_table(rows: usize, columns: usize, scale: f64, seed: u64) -> Vec<u64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut draw = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let rows: Vec<f64> = (0..rows).map(|_| (2.0 * draw()).exp()).collect();
    let columns: Vec<f64> = (0..columns).map(|_| (2.0 * draw()).exp()).collect();
    let mut counts = Vec::new();
    for row in &rows {
        for column in &columns {
            // Exponential about the product: many small cells, few large ones.
            counts.push((-draw().ln() * scale * row * column / 10.0) as u64);
        }
    }
    counts
}

/// One more in every row and column that has a single suppressed cell, the smallest, until there is none.
fn naive(rows: usize, columns: usize, inner: &[u64], threshold: u64) -> Vec<bool> {
    let mut gone: Vec<bool> = inner.iter().map(|&count| count > 0 && count < threshold).collect();
    let mut lines: Vec<Vec<usize>> =
        (0..rows).map(|r| (0..columns).map(|c| r * columns + c).collect()).collect();
    lines.extend((0..columns).map(|c| (0..rows).map(|r| r * columns + c).collect()));
    loop {
        let mut changed = false;
        for line in &lines {
            if line.iter().filter(|&&cell| gone[cell]).count() == 1 {
                let others = line.iter().filter(|&&cell| !gone[cell]);
                let Some(&least) = others.min_by_key(|&&cell| (inner[cell] == 0, inner[cell]))
                else {
                    continue;
                };
                gone[least] = true;
                changed = true;
            }
        }
        if !changed {
            return gone;
        }
    }
}

fn main() {
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|size| size.parse().ok()).collect();
    let (rows, columns) =
        (sizes.first().copied().unwrap_or(200), sizes.get(1).copied().unwrap_or(200));
    let (threshold, width) = (5, 5);
    let watch = Watch::unlimited();
    for scale in [1.0, 10.0, 100.0, 1000.0] {
        let inner = random_table(rows, columns, scale, 7);
        let layout = Layout::flat(rows, columns);
        let counts = layout.counts(&inner);
        let total = counts[counts.len() - 1];
        let start = Instant::now();
        let made =
            suppress(&layout, &counts, Protection { threshold, width }, &watch).expect("no limit");
        let seconds = start.elapsed().as_secs_f64();
        let lost = |gone: &dyn Fn(usize) -> bool, cells: usize| {
            let cells: Vec<usize> = (0..cells).filter(|&cell| gone(cell)).collect();
            (cells.len(), cells.iter().map(|&cell| counts[cell]).sum::<u64>())
        };
        let ours = lost(&|cell| made.statuses[cell] != Status::Shown, inner.len());
        let totals =
            (inner.len()..counts.len()).filter(|&cell| made.statuses[cell] != Status::Shown);
        println!(
            "{rows} x {columns}, total {total}: {} primary; {} cells with {} of the total and {} totals suppressed, safe: {}, {seconds:.2} s",
            made.statuses.iter().filter(|&&status| status == Status::Primary).count(),
            ours.0,
            ours.1,
            totals.count(),
            made.is_safe
        );
        let gone = naive(rows, columns, &inner, threshold);
        let theirs = lost(&|cell| gone[cell], inner.len());
        let shown: Vec<Option<u64>> = (counts.iter().enumerate())
            .map(|(cell, &count)| (!gone.get(cell).is_some_and(|&gone| gone)).then_some(count))
            .collect();
        let start = Instant::now();
        let found = audit(&layout, &shown, &watch).expect("no limit").expect("a table");
        let cells = (0..inner.len()).filter(|&cell| gone[cell]);
        let unsafe_cells = cells.zip(&found).filter(|(cell, interval)| {
            (1..threshold).contains(&counts[*cell]) && !interval.reaches(width)
        });
        println!(
            "    one more in every row and column: {} cells with {} of the total suppressed, {} primary cells unsafe; audit {:.2} s",
            theirs.0,
            theirs.1,
            unsafe_cells.count(),
            start.elapsed().as_secs_f64()
        );
    }
}
