//! The classes chosen so far and their rows.

use crate::k_anonymize::prepare::People;

/// Copies of a row in a class.
#[derive(Clone, Copy)]
pub(crate) struct Share {
    pub row: u32,
    pub class: u32,
    pub weight: u64,
}

/// Rows, some in classes, some still free. Row numbers are those of [`People`].
pub(crate) struct Assignment<'a> {
    pub people: &'a People,
    /// The rows of each class.
    pub sizes: Vec<u64>,
    /// The loss of a row of each class; rows with NULLs lose less.
    pub losses: Vec<u64>,
    pub shares: Vec<Share>,
    /// Rows with copies in no class, ascending, and those that got one since the last sweep.
    pub free: Vec<u32>,
    /// How many copies of each row are in no class.
    left: Vec<u64>,
    /// Working memory: the levels of a class.
    levels: Vec<u8>,
}

impl<'a> Assignment<'a> {
    pub fn new(people: &'a People) -> Self {
        Assignment {
            people,
            sizes: Vec::new(),
            losses: Vec::new(),
            levels: vec![0; people.width()],
            shares: Vec::with_capacity(people.len()),
            free: (0..people.len() as u32).collect(),
            left: people.weights.clone(),
        }
    }

    /// Adds a class whose rows lose `loss` each.
    pub fn class(&mut self, loss: u64) -> u32 {
        self.sizes.push(0);
        self.losses.push(loss);
        self.sizes.len() as u32 - 1
    }

    /// The loss of the first of some rows in a class of them, at the lowest levels at which they are alike.
    pub fn least_loss(&mut self, rows: &[u32]) -> u64 {
        self.levels.fill(0);
        rows.iter().for_each(|&row| self.people.raise(&mut self.levels, rows[0], row));
        rows.first().map_or(0, |&row| self.people.loss(row, &self.levels))
    }

    /// The copies of a row that are in no class.
    #[inline]
    pub fn left(&self, row: u32) -> u64 {
        self.left[row as usize]
    }

    /// The rows with copies in no class among those at the given places of [`Assignment::free`].
    pub fn free_among(&self, places: &[u32]) -> impl Iterator<Item = u32> + Clone {
        let rows = places.iter().map(|&place| self.free[place as usize]);
        rows.filter(|&row| self.left(row) > 0)
    }

    /// Puts free copies of a row into a class.
    #[inline]
    pub fn settle(&mut self, row: u32, weight: u64, class: u32) {
        self.left[row as usize] -= weight;
        self.sizes[class as usize] += weight;
        self.shares.push(Share { row, class, weight });
    }

    /// How many rows of a share its class can spare.
    #[inline]
    pub fn spare(&self, share: u32, k: u64) -> u64 {
        let share = &self.shares[share as usize];
        self.sizes[share.class as usize].saturating_sub(k).min(share.weight)
    }

    /// Moves copies of a row to another class.
    pub fn lend(&mut self, share: u32, weight: u64, class: u32) {
        let from = &mut self.shares[share as usize];
        from.weight -= weight;
        let row = from.row;
        self.sizes[from.class as usize] -= weight;
        self.sizes[class as usize] += weight;
        self.shares.push(Share { row, class, weight });
    }

    /// Removes the settled rows from the free ones.
    pub fn sweep(&mut self) {
        let left = &self.left;
        self.free.retain(|&row| left[row as usize] > 0);
    }
}
