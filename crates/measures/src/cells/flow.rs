//! Maximum flows through the suppressed cells (Dinic), which show how far a cell can change.
//!
//! A suppressed cell can grow without limit and shrink to 0. A shown one cannot move.

use super::network::{Network, Turn};
use table::{Stop, Watch};

/// The capacity of a cell that can grow.
const UNBOUNDED: u64 = u64::MAX / 4;
const FAR: u32 = u32::MAX;

/// Whether a cell grows or shrinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Up,
    Down,
}

/// Flows through the cells that may move.
pub(super) struct Flows<'a> {
    network: &'a Network,
    /// The current counts.
    counts: Vec<u64>,
    /// The movable cells at each node.
    around: Vec<Vec<Turn>>,
    movable: Vec<bool>,
    /// Cells that have moved, with their counts before.
    moved: Vec<(u32, u64)>,
    level: Vec<u32>,
    next: Vec<u32>,
    queue: Vec<u32>,
    /// A cell that must not move at the moment: the one in question.
    fixed: u32,
}

impl<'a> Flows<'a> {
    pub fn new(network: &'a Network, counts: Vec<u64>, movable: Vec<bool>) -> Self {
        Flows {
            around: network.around(|arc| movable[arc]),
            level: vec![FAR; network.nodes],
            next: vec![0; network.nodes],
            queue: Vec::with_capacity(network.nodes),
            moved: Vec::new(),
            fixed: u32::MAX,
            network,
            counts,
            movable,
        }
    }

    pub fn network(&self) -> &'a Network {
        self.network
    }

    pub fn count(&self, arc: usize) -> u64 {
        self.counts[arc]
    }

    pub fn is_movable(&self, arc: usize) -> bool {
        self.movable[arc]
    }

    pub fn set_movable(&mut self, arc: usize, movable: bool) {
        if self.movable[arc] == movable {
            return;
        }
        self.movable[arc] = movable;
        for (node, turn) in self.network.turns(arc) {
            match movable {
                true => self.around[node].push(turn),
                false => self.around[node].retain(|other| other.arc != turn.arc),
            }
        }
    }

    /// How far the cell can move while the other movable cells compensate, at most `most`; `None` if there is no
    /// limit. The others stay moved until [`Flows::restore`].
    pub fn move_cell(
        &mut self,
        cell: usize,
        direction: Direction,
        most: u64,
        watch: &Watch,
    ) -> Result<Option<u64>, Stop> {
        let (tail, head) = self.network.ends(cell);
        self.fixed = cell as u32;
        let moved = match direction {
            Direction::Up => self.push(head, tail, most, watch),
            Direction::Down => self.push(tail, head, most.min(self.counts[cell]), watch),
        };
        self.fixed = u32::MAX;
        moved
    }

    /// Pushes at most `most` from one node to another; `None` if there is no limit.
    pub fn push(
        &mut self,
        from: usize,
        to: usize,
        most: u64,
        watch: &Watch,
    ) -> Result<Option<u64>, Stop> {
        let mut pushed = 0;
        while pushed < most {
            watch.check()?;
            if !self.set_levels(from, to) {
                break;
            }
            self.next.fill(0);
            while pushed < most {
                let Some(path) = self.path(from, to) else { break };
                let room = path.iter().map(|&turn| self.room(turn)).min().unwrap_or(0);
                if room >= UNBOUNDED && most >= UNBOUNDED {
                    return Ok(None);
                }
                let amount = room.min(most - pushed);
                path.iter().for_each(|&turn| self.shift(turn, amount));
                pushed += amount;
            }
        }
        Ok(Some(pushed))
    }

    /// Moves one cell.
    pub fn shift(&mut self, turn: Turn, amount: u64) {
        let count = &mut self.counts[turn.arc as usize];
        self.moved.push((turn.arc, *count));
        *count = if turn.up { *count + amount } else { *count - amount };
    }

    /// Restores all cells that have moved, and returns them.
    pub fn restore(&mut self) -> Vec<u32> {
        let mut cells: Vec<u32> = self.moved.iter().map(|&(arc, _)| arc).collect();
        for (arc, count) in self.moved.drain(..).rev() {
            self.counts[arc as usize] = count;
        }
        cells.sort_unstable();
        cells.dedup();
        cells
    }

    fn room(&self, turn: Turn) -> u64 {
        if turn.up { UNBOUNDED } else { self.counts[turn.arc as usize] }
    }

    /// True if an arc can be taken.
    fn is_open(&self, turn: Turn) -> bool {
        turn.arc != self.fixed && (turn.up || self.counts[turn.arc as usize] > 0)
    }

    /// Distances from `from` up to that of `to`; false if it cannot be reached.
    fn set_levels(&mut self, from: usize, to: usize) -> bool {
        self.level.fill(FAR);
        self.level[from] = 0;
        let mut queue = std::mem::take(&mut self.queue);
        queue.clear();
        queue.push(from as u32);
        let mut first = 0;
        while first < queue.len() && self.level[to] == FAR {
            let node = queue[first] as usize;
            first += 1;
            for &turn in &self.around[node] {
                let other = turn.to as usize;
                if self.level[other] == FAR && self.is_open(turn) {
                    self.level[other] = self.level[node] + 1;
                    queue.push(turn.to);
                }
            }
        }
        self.queue = queue;
        self.level[to] != FAR
    }

    /// A path that goes one level further with every step.
    fn path(&mut self, from: usize, to: usize) -> Option<Vec<Turn>> {
        let mut path: Vec<Turn> = Vec::new();
        let mut node = from;
        while node != to {
            let level = self.level[node] + 1;
            let Some(&turn) = self.around[node].get(self.next[node] as usize) else {
                // Nothing leads on from here.
                path.pop()?;
                node = path.last().map_or(from, |turn| turn.to as usize);
                self.next[node] += 1;
                continue;
            };
            let other = turn.to as usize;
            if self.level[other] == level
                && (level < self.level[to] || other == to)
                && self.is_open(turn)
            {
                path.push(turn);
                node = other;
            } else {
                self.next[node] += 1;
            }
        }
        Some(path)
    }
}
