//! What the shown cells of a table reveal about each suppressed one: the least and the largest count that it has in
//! any table of non-negative counts that agrees with them.

use super::flow::{Direction, Flows};
use super::layout::Layout;
use super::network::Network;
use rayon::prelude::*;
use table::{Stop, Watch};

/// The possible counts of a suppressed cell: all between the ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    pub low: u64,
    /// `None` if there is no limit.
    pub high: Option<u64>,
}

impl Interval {
    /// True if every count from 0 to `count` is possible.
    pub fn reaches(&self, count: u64) -> bool {
        self.low == 0 && self.high.is_none_or(|high| high >= count)
    }
}

/// For each suppressed cell (`None`) its interval, in order; `None` instead of the list if no table agrees with the
/// shown cells. Costs two maximum flows for each suppressed cell, on all threads.
pub fn audit(
    layout: &Layout,
    shown: &[Option<u64>],
    watch: &Watch,
) -> Result<Option<Vec<Interval>>, Stop> {
    let network = layout.network();
    let Some(counts) = agreeing(&network, shown, watch)? else { return Ok(None) };
    let cells: Vec<usize> = (0..shown.len()).filter(|&cell| shown[cell].is_none()).collect();
    let suppressed: Vec<bool> = shown.iter().map(Option::is_none).collect();
    intervals(&network, &counts, &cells, &suppressed, u64::MAX, watch).map(Some)
}

/// The intervals of some of the suppressed cells, given any table that agrees with the shown ones. Counts above
/// `limit` are not examined.
pub(super) fn intervals(
    network: &Network,
    counts: &[u64],
    cells: &[usize],
    suppressed: &[bool],
    limit: u64,
    watch: &Watch,
) -> Result<Vec<Interval>, Stop> {
    let bytes = (counts.len() * 9 + network.nodes * 40) as u64;
    let _held = watch.hold(bytes * rayon::current_num_threads() as u64)?;
    watch.begin(cells.len() as u64);
    let parts = cells.par_chunks(cells.len().div_ceil(64).max(1)).map(|part| {
        let mut flows = Flows::new(network, counts.to_vec(), suppressed.to_vec());
        let mut found = Vec::with_capacity(part.len());
        for &cell in part {
            let mut moved = |direction, most| -> Result<Option<u64>, Stop> {
                let moved = flows.move_cell(cell, direction, most, watch)?;
                flows.restore();
                Ok(moved)
            };
            let up = moved(Direction::Up, limit.saturating_sub(counts[cell]))?;
            let down = moved(Direction::Down, counts[cell])?;
            let low = counts[cell] - down.unwrap_or(counts[cell]);
            found.push(Interval { low, high: up.map(|up| counts[cell] + up) });
            watch.advance(1);
        }
        Ok(found)
    });
    let parts: Result<Vec<Vec<Interval>>, Stop> = parts.collect();
    Ok(parts?.concat())
}

/// Counts of all cells that agree with the shown ones; `None` if there are none.
///
/// Suppressed cells begin at 0. A node with a larger shown inflow than outflow passes the difference on, through
/// suppressed cells, to nodes with a smaller one.
fn agreeing(
    network: &Network,
    shown: &[Option<u64>],
    watch: &Watch,
) -> Result<Option<Vec<u64>>, Stop> {
    let mut excess = vec![0i128; network.nodes];
    for (arc, count) in shown.iter().enumerate() {
        let (tail, head) = network.ends(arc);
        let count = i128::from(count.unwrap_or(0));
        excess[head] += count;
        excess[tail] -= count;
    }
    // Two more nodes: `giver` supplies the excess of nodes, `taker` receives what others lack. Both are cells that
    // can shrink by that amount.
    let (giver, taker) = (network.nodes, network.nodes + 1);
    let mut wider = Network { nodes: network.nodes + 2, arcs: network.arcs.clone() };
    let mut counts: Vec<u64> = shown.iter().map(|count| count.unwrap_or(0)).collect();
    let mut movable: Vec<bool> = shown.iter().map(Option::is_none).collect();
    let mut given = 0u64;
    for (node, &excess) in excess.iter().enumerate().filter(|(_, excess)| **excess != 0) {
        let amount = u64::try_from(excess.unsigned_abs()).unwrap_or(u64::MAX / 8);
        let arc = if excess > 0 { (node, giver) } else { (taker, node) };
        wider.arcs.push((arc.0 as u32, arc.1 as u32));
        counts.push(amount);
        movable.push(true);
        given += if excess > 0 { amount } else { 0 };
    }
    let mut flows = Flows::new(&wider, counts, movable);
    let pushed = flows.push(giver, taker, given, watch)?;
    Ok((pushed == Some(given)).then(|| (0..shown.len()).map(|arc| flows.count(arc)).collect()))
}
