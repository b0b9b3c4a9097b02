//! A hierarchy while it is built: level upon level, each from the nodes of the one below. So values that
//! share a node share everything above it.

use crate::pg::error::Error;
use std::collections::HashMap;
use std::hash::Hash;
use suppress::{General, Hierarchy};
use table::Domain;

/// The levels so far.
#[derive(Default)]
pub struct Growing {
    /// By level above 0 and code: the node.
    levels: Vec<Vec<Option<u32>>>,
    /// By level and node.
    general: Vec<Vec<General>>,
}

impl Growing {
    /// Adds a level: the first one by the nodes of the values, others by the parents of the nodes below.
    pub fn add(&mut self, nodes: Vec<Option<u32>>, general: Vec<General>) {
        let of_values = match self.levels.last() {
            None => nodes,
            Some(below) => below.iter().map(|node| nodes[(*node)? as usize]).collect(),
        };
        self.levels.push(of_values);
        self.general.push(general);
    }

    /// How many values of the domain each node of the last level has.
    pub fn leaves(&self) -> Vec<u64> {
        let nodes = self.general.last().map_or(0, Vec::len);
        let mut leaves = vec![0; nodes];
        for node in self.levels.last().into_iter().flatten().flatten() {
            leaves[*node as usize] += 1;
        }
        leaves
    }

    /// Says what the nodes of the last level lose.
    pub fn lose(&mut self, loss: impl Fn(usize, &General) -> f64) {
        for (node, general) in self.general.last_mut().into_iter().flatten().enumerate() {
            general.loss = loss(node, general);
        }
    }

    /// The hierarchy of the domain whose values these are.
    pub fn finish(self, domain: &Domain) -> Result<Hierarchy, Error> {
        let Growing { levels, general } = self;
        Hierarchy::new(domain, &levels, |below, node: u32| general[below][node as usize].clone())
            .map_err(|fault| Error::Broken { what: format!("levels are not nested: {fault:?}") })
    }
}

/// Keys by number, in the order of their first occurrence.
pub struct Numbered<K> {
    numbers: HashMap<K, u32>,
    pub keys: Vec<K>,
}

impl<K: Hash + Eq + Clone> Numbered<K> {
    pub fn new() -> Self {
        Numbered { numbers: HashMap::new(), keys: Vec::new() }
    }

    pub fn number(&mut self, key: K) -> u32 {
        let keys = &mut self.keys;
        *self.numbers.entry(key).or_insert_with_key(|key| {
            keys.push(key.clone());
            keys.len() as u32 - 1
        })
    }
}
