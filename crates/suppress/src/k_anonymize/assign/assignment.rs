//! The classes chosen so far and who is in them.

use crate::k_anonymize::prepare::Keyed;
use hashbrown::HashMap;

/// Copies of a row in a class.
#[derive(Clone, Copy)]
pub(crate) struct Share {
    pub row: u32,
    pub class: u32,
    pub weight: u64,
}

/// A class: what the items that its rows show are worth, and how many rows there are.
pub(crate) struct Class {
    pub value: u64,
    pub size: u64,
}

/// Rows, some in classes, some still free. Row numbers are those of [`Keyed`].
pub(crate) struct Assignment<'a> {
    pub keyed: &'a Keyed,
    pub units: &'a [u64],
    pub classes: Vec<Class>,
    /// Classes by key. Only rows with NULLs can meet a class that is older than the form they
    /// are tried in, so without NULLs it stays empty.
    pub by_key: HashMap<u64, u32, table::Keyed>,
    pub shares: Vec<Share>,
    /// Rows in no class, ascending, and those that have found one since the last sweep.
    pub free: Vec<u32>,
    settled: Vec<bool>,
}

impl<'a> Assignment<'a> {
    pub fn new(keyed: &'a Keyed, units: &'a [u64]) -> Self {
        Assignment {
            keyed,
            units,
            classes: Vec::new(),
            by_key: HashMap::default(),
            shares: Vec::with_capacity(keyed.len()),
            free: (0..keyed.len() as u32).collect(),
            settled: vec![false; keyed.len()],
        }
    }

    /// What the items that `form` leaves of `row` are worth.
    pub fn value(&self, form: &[u16], row: u32) -> u64 {
        let columns = self.keyed.cells.iter().zip(self.units);
        let all: u64 =
            columns.filter(|(cells, _)| cells[row as usize] != 0).map(|(_, unit)| unit).sum();
        let blanked = form.iter().map(|&c| usize::from(c));
        let blanked = blanked.filter(|&c| self.keyed.cells[c][row as usize] != 0);
        all - blanked.map(|c| self.units[c]).sum::<u64>()
    }

    /// The class whose items have this key and value; an empty one if it is new.
    pub fn class(&mut self, key: u64, value: u64) -> u32 {
        if let Some(&class) = self.by_key.get(&key) {
            return class;
        }
        let class = self.classes.len() as u32;
        self.classes.push(Class { value, size: 0 });
        if self.keyed.nulls {
            self.by_key.insert(key, class);
        }
        class
    }

    pub fn weight(&self, row: u32) -> u64 {
        self.keyed.weights[row as usize]
    }

    pub fn is_free(&self, row: u32) -> bool {
        !self.settled[row as usize]
    }

    /// Puts all copies of a free row into a class.
    pub fn settle(&mut self, row: u32, class: u32) {
        let weight = self.weight(row);
        self.settled[row as usize] = true;
        self.classes[class as usize].size += weight;
        self.shares.push(Share { row, class, weight });
    }

    /// How many rows of a share its class can spare.
    pub fn spare(&self, share: u32, k: u64) -> u64 {
        let share = &self.shares[share as usize];
        self.classes[share.class as usize].size.saturating_sub(k).min(share.weight)
    }

    /// Moves copies of a row to another class.
    pub fn lend(&mut self, share: u32, weight: u64, class: u32) {
        let from = &mut self.shares[share as usize];
        from.weight -= weight;
        let row = from.row;
        self.classes[from.class as usize].size -= weight;
        self.classes[class as usize].size += weight;
        self.shares.push(Share { row, class, weight });
    }

    /// Forgets the settled rows among the free ones.
    pub fn sweep(&mut self) {
        let settled = &self.settled;
        self.free.retain(|&row| !settled[row as usize]);
    }
}
