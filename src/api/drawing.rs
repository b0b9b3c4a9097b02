//! Rows that are drawn on the pool's threads and handed on while the next are drawn.

use crate::pg::error::Error;
use crate::pg::pool::{self, Sender};
use table::{Stop, Watch};

/// Draws `n` rows of `width` cells in parts of `step` rows, which share their coins; `part` draws so many
/// rows from a place on, `emit` takes them one by one on the backend's own thread.
pub fn draw_rows(
    phase: &'static str,
    width: usize,
    n: u64,
    step: u64,
    part: impl Fn(u64, usize, &Watch) -> Result<Vec<u32>, Stop> + Send,
    mut emit: impl FnMut(&[u32]),
) -> Result<(), Error> {
    // One part is drawn, one waits, one is handed on.
    let held = 4 * step.min(n) * width as u64 * size_of::<u32>() as u64;
    let draw = move |watch: &Watch, sender: &Sender<(), Vec<u32>>| {
        let mut start = 0;
        watch.begin(n);
        while start < n {
            let rows = step.min(n - start);
            sender.send(part(start, rows as usize, watch)?)?;
            start += rows;
            watch.advance(rows);
        }
        Ok(())
    };
    let drawing = |_: &Watch| String::from("rows are drawn");
    pool::run_sending(phase, held, drawing, draw, |cells: Vec<u32>| {
        cells.chunks_exact(width.max(1)).for_each(&mut emit);
    })
}
