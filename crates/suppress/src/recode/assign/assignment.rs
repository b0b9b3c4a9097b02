//! The classes chosen so far and who is in them.

use crate::recode::prepare::People;
use table::{Bag, Release, Stop, Watch};

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
    /// The levels of the classes, one after the other.
    levels: Vec<u8>,
    pub shares: Vec<Share>,
    /// Rows with copies in no class, ascending, and those that have found one since the last sweep.
    pub free: Vec<u32>,
    /// How many copies of each row are in no class.
    left: Vec<u64>,
}

impl<'a> Assignment<'a> {
    pub fn new(people: &'a People) -> Self {
        Assignment {
            people,
            sizes: Vec::new(),
            levels: Vec::new(),
            shares: Vec::with_capacity(people.len()),
            free: (0..people.len() as u32).collect(),
            left: people.weights.clone(),
        }
    }

    /// The classes of a release; the rows that it drops are free.
    pub fn of_release(
        people: &'a People,
        release: &Release,
        bag: &Bag,
        watch: &Watch,
    ) -> Result<Self, Stop> {
        let classes = release.classes(bag, watch)?;
        let mut number = vec![0; people.len()];
        people.rows.iter().zip(0u32..).for_each(|(&row, own)| number[row as usize] = own);
        // In an order of their own: the release has them in that of the bag.
        let mut members: Vec<Vec<(u32, u64)>> = vec![Vec::new(); classes.sizes().len()];
        for (place, piece) in release.pieces().iter().enumerate() {
            watch.poll(place)?;
            members[classes.of(place) as usize].push((number[piece.row as usize], piece.weight));
        }
        members.iter_mut().for_each(|rows| rows.sort_unstable());
        members.sort_unstable();
        let mut assignment = Assignment::new(people);
        for (place, rows) in members.iter().enumerate() {
            watch.poll(place)?;
            let class = assignment.class(rows.iter().map(|&(row, _)| row));
            rows.iter().for_each(|&(row, weight)| assignment.settle(row, weight, class));
        }
        assignment.sweep();
        Ok(assignment)
    }

    /// The levels at which a class is shown.
    pub fn levels(&self, class: u32) -> &[u8] {
        let width = self.people.width();
        &self.levels[class as usize * width..][..width]
    }

    /// A new class of the given rows: it is shown at the lowest levels at which they are alike.
    pub fn class(&mut self, rows: impl IntoIterator<Item = u32>) -> u32 {
        let class = self.sizes.len() as u32;
        self.sizes.push(0);
        let begin = self.levels.len();
        self.levels.resize(begin + self.people.width(), 0);
        let mut first = None;
        for row in rows {
            let first = *first.get_or_insert(row);
            self.people.raise(&mut self.levels[begin..], first, row);
        }
        class
    }

    /// What a row of a class loses.
    pub fn loss(&self, row: u32, class: u32) -> u64 {
        self.people.loss(row, self.levels(class))
    }

    /// The copies of a row that are in no class.
    pub fn left(&self, row: u32) -> u64 {
        self.left[row as usize]
    }

    /// Puts free copies of a row into a class.
    pub fn settle(&mut self, row: u32, weight: u64, class: u32) {
        self.left[row as usize] -= weight;
        self.sizes[class as usize] += weight;
        self.shares.push(Share { row, class, weight });
    }

    /// How many rows of a share its class can spare.
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

    /// Forgets the settled rows among the free ones.
    pub fn sweep(&mut self) {
        let left = &self.left;
        self.free.retain(|&row| left[row as usize] > 0);
    }
}
