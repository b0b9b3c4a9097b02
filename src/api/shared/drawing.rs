//! Rows that are drawn on the pool's threads and passed on while the next ones are drawn.

use crate::api::prelude::*;
use crate::pg::process::pool::Sender;

/// Cells that are drawn at a time: 16 MB of codes.
const CELLS: u64 = 4 << 20;

/// Rows that are drawn at a time.
const ROWS: u64 = 1 << 16;

/// How many rows of this width to draw at a time, if `chunk` rows share a stream of random numbers.
pub fn step(width: usize, chunk: u64) -> u64 {
    (CELLS / width.max(1) as u64 / chunk * chunk).clamp(chunk, ROWS.max(chunk))
}

/// Draws `n` rows of `width` cells, `step` at a time: `part` draws a number of rows from a position on, on the pool's
/// threads; `emit` takes them one by one on the backend's own thread. The call already holds `held` bytes.
pub fn draw_rows<E: From<Stop> + Into<Error> + Send>(
    held: u64,
    width: usize,
    n: u64,
    step: u64,
    mut part: impl FnMut(u64, usize, &Watch) -> Result<Vec<u32>, E> + Send,
    mut emit: impl FnMut(&[u32]),
) -> Result<()> {
    // One part is being drawn, one waits, one is being passed on.
    let held = held + 4 * step.min(n) * width as u64 * size_of::<u32>() as u64;
    let draw = move |watch: &Watch, sender: &Sender<Vec<u32>>| {
        let mut start = 0;
        watch.begin(n);
        while start < n {
            let rows = step.min(n - start);
            sender.send(part(start, rows as usize, watch)?)?;
            start += rows;
            watch.advance(rows);
        }
        Ok::<_, E>(())
    };
    let drawing = |_: &Watch| String::from("rows are drawn");
    pool::run_sending("generating", held, drawing, draw, |cells: Vec<u32>| {
        cells.chunks_exact(width.max(1)).for_each(&mut emit);
    })
}
