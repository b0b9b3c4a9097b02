//! Chooses the cells that are suppressed in addition to the small ones, so that these cannot be computed.
//!
//! A small cell is safe if it may be anything from 0 to a limit: it can shrink to 0 and grow to the limit while other
//! suppressed cells compensate. Where they cannot, the cheapest set of shown cells that would allow it is found as a
//! shortest path, and suppressed. In the end each of them is shown again if all small cells stay safe without it. The
//! choice is not optimal, which would be NP-hard; the audit checks that it is safe.

use super::audit::intervals;
use super::flow::{Direction, Flows};
use super::layout::Layout;
use super::network::{Network, Turn};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use table::{Stop, Watch};

/// Which cells are small, and how wide their intervals have to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Protection {
    /// Counts from 1 to one below it are small.
    pub threshold: u64,
    /// The least width of the interval of a small cell.
    pub width: u64,
}

impl Protection {
    fn is_small(self, count: u64) -> bool {
        count > 0 && count < self.threshold
    }

    /// The count up to which everything must be possible for a small cell.
    fn limit(self) -> u64 {
        self.width.max(self.threshold.saturating_sub(1))
    }
}

/// The decision on a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Shown,
    /// Suppressed because it is small.
    Primary,
    /// Suppressed so that a small one cannot be computed.
    Complementary,
}

/// The cells of a table, each with its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suppressed {
    pub statuses: Vec<Status>,
    /// True if every primary cell is safe by the audit, as it must be.
    pub is_safe: bool,
}

/// Chooses the cells of a table that are suppressed; `counts` are those of all cells of the layout.
pub fn suppress(
    layout: &Layout,
    counts: &[u64],
    protection: Protection,
    watch: &Watch,
) -> Result<Suppressed, Stop> {
    let network = layout.network();
    let _held = watch.hold((counts.len() * 64 + network.nodes * 64) as u64)?;
    let small: Vec<bool> = counts.iter().map(|&count| protection.is_small(count)).collect();
    let mut primary: Vec<usize> = (0..counts.len()).filter(|&cell| small[cell]).collect();
    // Cells that need the most come first: what helps them often helps the others.
    primary.sort_by_key(|&cell| (Reverse(counts[cell]), cell));
    let mut chosen = CellChoice::new(&network, counts, &small, protection.limit());
    watch.begin(primary.len() as u64);
    for &cell in &primary {
        chosen.make_safe(cell, watch)?;
        watch.advance(1);
    }
    chosen.show_again(&small, watch)?;
    let suppressed: Vec<bool> =
        (0..counts.len()).map(|cell| chosen.flows.is_movable(cell)).collect();
    primary.sort_unstable();
    let limit = protection.limit();
    let intervals = intervals(&network, counts, &primary, &suppressed, limit, watch)?;
    let status = |cell: usize| match (small[cell], suppressed[cell]) {
        (true, _) => Status::Primary,
        (false, true) => Status::Complementary,
        (false, false) => Status::Shown,
    };
    Ok(Suppressed {
        statuses: (0..counts.len()).map(status).collect(),
        is_safe: intervals.iter().all(|interval| interval.reaches(limit)),
    })
}

/// A direction in which a small cell has to be able to move.
struct Need {
    cell: u32,
    direction: Direction,
    amount: u64,
    /// The cells that compensate for it.
    moving: Vec<u32>,
}

struct CellChoice<'a> {
    flows: Flows<'a>,
    /// All cells at each node.
    around: Vec<Vec<Turn>>,
    limit: u64,
    needs: Vec<Need>,
}

impl<'a> CellChoice<'a> {
    fn new(network: &'a Network, counts: &[u64], small: &[bool], limit: u64) -> Self {
        let flows = Flows::new(network, counts.to_vec(), small.to_vec());
        CellChoice { flows, around: network.around(|_| true), limit, needs: Vec::new() }
    }

    /// Suppresses the cells that are needed for a cell to move as far as it must.
    fn make_safe(&mut self, cell: usize, watch: &Watch) -> Result<(), Stop> {
        let count = self.flows.count(cell);
        for (direction, amount) in
            [(Direction::Up, self.limit - count.min(self.limit)), (Direction::Down, count)]
        {
            let moved = self.flows.move_cell(cell, direction, amount, watch)?.unwrap_or(amount);
            let mut missing = amount - moved;
            while missing > 0 {
                watch.check()?;
                // One path that is wide enough, or, if there is none, several narrower ones.
                let way = self.cheapest(cell, direction, missing);
                let Some(way) = way.or_else(|| self.cheapest(cell, direction, 1)) else { break };
                let room = |turn: &Turn| match turn.up {
                    true => missing,
                    false => self.flows.count(turn.arc as usize),
                };
                let amount = way.iter().map(room).min().unwrap_or(missing).min(missing);
                for turn in way {
                    self.flows.set_movable(turn.arc as usize, true);
                    self.flows.shift(turn, amount);
                }
                missing -= amount;
            }
            let moving = self.flows.restore();
            self.needs.push(Need { cell: cell as u32, direction, amount, moving });
        }
        Ok(())
    }

    /// The path of least count along which a cell can move by at least `room`, through cells that are suppressed
    /// already, which are free, and others.
    fn cheapest(&self, cell: usize, direction: Direction, room: u64) -> Option<Vec<Turn>> {
        let network = self.flows.network();
        let (tail, head) = network.ends(cell);
        let (from, to) = if direction == Direction::Up { (head, tail) } else { (tail, head) };
        let mut costs = vec![(u64::MAX, u32::MAX); network.nodes];
        let mut came: Vec<Option<(Turn, usize)>> = vec![None; network.nodes];
        let mut heap = BinaryHeap::from([Reverse((0u64, 0u32, from as u32))]);
        costs[from] = (0, 0);
        while let Some(Reverse((cost, steps, node))) = heap.pop() {
            let node = node as usize;
            if (cost, steps) > costs[node] {
                continue;
            }
            if node == to {
                break;
            }
            for &turn in &self.around[node] {
                let (arc, other) = (turn.arc as usize, turn.to as usize);
                if arc == cell || (!turn.up && self.flows.count(arc) < room) {
                    continue;
                }
                let price = match self.flows.is_movable(arc) {
                    true => 0,
                    false => self.flows.count(arc) + 1,
                };
                // Among paths of equal cost the shortest one, which disturbs the least.
                let reached = (cost + price, steps + 1);
                if reached < costs[other] {
                    costs[other] = reached;
                    came[other] = Some((turn, node));
                    heap.push(Reverse((reached.0, reached.1, turn.to)));
                }
            }
        }
        let mut way = Vec::new();
        let mut node = to;
        while node != from {
            let (turn, before) = came[node]?;
            way.push(turn);
            node = before;
        }
        Some(way)
    }

    /// Shows each cell again, the largest first, that no small cell needs.
    fn show_again(&mut self, small: &[bool], watch: &Watch) -> Result<(), Stop> {
        let mut users: Vec<Vec<u32>> = vec![Vec::new(); small.len()];
        for (i, need) in self.needs.iter().enumerate() {
            need.moving.iter().for_each(|&arc| users[arc as usize].push(i as u32));
        }
        let mut cells: Vec<usize> =
            (0..small.len()).filter(|&cell| !small[cell] && self.flows.is_movable(cell)).collect();
        cells.sort_by_key(|&cell| (Reverse(self.flows.count(cell)), cell));
        for cell in cells {
            watch.check()?;
            self.flows.set_movable(cell, false);
            let mut others = Vec::new();
            for &i in &users[cell] {
                let need = &self.needs[i as usize];
                if !need.moving.contains(&(cell as u32)) {
                    continue;
                }
                let (moving, amount) = (need.cell as usize, need.amount);
                let moved = self.flows.move_cell(moving, need.direction, amount, watch)?;
                let moving = self.flows.restore();
                if moved.is_some_and(|moved| moved < amount) {
                    self.flows.set_movable(cell, true);
                    break;
                }
                others.push((i, moving));
            }
            if !self.flows.is_movable(cell) {
                for (i, moving) in others {
                    moving.iter().for_each(|&arc| users[arc as usize].push(i));
                    self.needs[i as usize].moving = moving;
                }
            }
        }
        Ok(())
    }
}
