//! A directed graph whose arcs are cells.

/// Arcs by number, each from one node to another.
#[derive(Debug, Clone, Default)]
pub(super) struct Network {
    pub nodes: usize,
    pub arcs: Vec<(u32, u32)>,
}

impl Network {
    /// The nodes of an arc: the origin and the target of its flow.
    pub fn ends(&self, arc: usize) -> (usize, usize) {
        let (tail, head) = self.arcs[arc];
        (tail as usize, head as usize)
    }

    /// The arcs at each node.
    pub fn around(&self, is_in: impl Fn(usize) -> bool) -> Vec<Vec<Turn>> {
        let mut around = vec![Vec::new(); self.nodes];
        for arc in (0..self.arcs.len()).filter(|&arc| is_in(arc)) {
            for (node, turn) in self.turns(arc) {
                around[node].push(turn);
            }
        }
        around
    }

    /// Both directions of an arc, each with the node that it starts from.
    pub fn turns(&self, arc: usize) -> [(usize, Turn); 2] {
        let ((tail, head), arc) = (self.arcs[arc], arc as u32);
        [
            (tail as usize, Turn { arc, to: head, up: true }),
            (head as usize, Turn { arc, to: tail, up: false }),
        ]
    }
}

/// An arc as seen from a node: its target, and whether its count grows if it is taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn {
    pub arc: u32,
    pub to: u32,
    pub up: bool,
}
