//! The rows of a release, in an order that reveals nothing.

use super::Release;
use crate::{Bag, ColumnPart, NONE, Reservation, Stop, Watch};

impl Release {
    /// The released rows of a table, sorted by what they show. Their order reveals neither what was blanked nor their
    /// place in the heap.
    ///
    /// The release was made for the table, or for a part of its columns: then the other columns are returned
    /// unchanged. Where copies of a row of the part differ in these, its pieces take them in the order of the table,
    /// and start again if a row is released more often than it occurs.
    pub fn rows(&self, table: &Bag, part: Option<&ColumnPart>, watch: &Watch) -> Result<Bag, Stop> {
        let mut held = Reservation::new(watch);
        let mut builder = table.builder();
        let mut cells = vec![NONE; table.width()];
        let mut copies = part.map(|part| Copies::new(table, part, watch)).transpose()?;
        for (number, piece) in self.pieces.iter().enumerate() {
            watch.poll_with(number, || held.raise(builder.memory()))?;
            let (Some(part), Some(copies)) = (part, &mut copies) else {
                self.write(table, piece, &mut cells);
                builder.add(&cells, piece.weight);
                continue;
            };
            copies.seek(piece.row);
            let mut wanted = piece.weight;
            while let Some((row, taken)) = copies.take(wanted) {
                cells.copy_from_slice(table.row(row as usize));
                self.write(&part.bag, piece, &mut cells[..part.bag.width()]);
                builder.add(&cells, taken);
                wanted -= taken;
            }
        }
        held.raise(builder.memory())?;
        let mut bag = builder.finish();
        held.lower(bag.own_memory());
        bag.sort(watch)?;
        Ok(bag)
    }
}

/// The copies of the rows of a part, as rows of its table.
struct Copies<'a> {
    table: &'a Bag,
    of: &'a [u32],
    /// The rows of the table by their row of the part.
    order: Vec<u32>,
    next: usize,
    /// The current row of the part, the range of its rows of the table in the order, the next one of them, and the
    /// number of its copies that are left.
    current: Option<u32>,
    places: std::ops::Range<usize>,
    at: usize,
    left: u64,
    _held: Reservation<'a>,
}

impl<'a> Copies<'a> {
    fn new(table: &'a Bag, part: &'a ColumnPart, watch: &'a Watch) -> Result<Self, Stop> {
        // The order, and a copy while it is sorted.
        let held = watch.hold(table.distinct() as u64 * 8)?;
        let of = part.rows();
        let mut order: Vec<u32> = (0..table.distinct() as u32).collect();
        crate::sort_watched(&mut order, watch, |a, b| {
            (of[a as usize], a).cmp(&(of[b as usize], b))
        })?;
        let (current, places, at, left) = (None, 0..0, 0, 0);
        Ok(Copies { table, of, order, next: 0, current, places, at, left, _held: held })
    }

    fn weight(&self, place: usize) -> u64 {
        self.table.weight(self.order[place] as usize)
    }

    /// Goes on to a row of the part; rows must come in ascending order.
    fn seek(&mut self, row: u32) {
        if self.current == Some(row) {
            return;
        }
        let rest = &self.order[self.next..];
        let begin = self.next + rest.partition_point(|&from| self.of[from as usize] < row);
        let end = self.next + rest.partition_point(|&from| self.of[from as usize] <= row);
        self.current = Some(row);
        self.places = begin..end;
        self.next = end;
        self.at = begin;
        self.left = if begin < end { self.weight(begin) } else { 0 };
    }

    /// Takes some copies of the current row, at most `wanted`: the row of the table, and their number. `None` if none
    /// is wanted.
    fn take(&mut self, wanted: u64) -> Option<(u32, u64)> {
        if wanted == 0 || self.places.is_empty() {
            return None;
        }
        if self.places.len() == 1 {
            return Some((self.order[self.at], wanted));
        }
        if self.left == 0 {
            self.at = if self.at + 1 == self.places.end { self.places.start } else { self.at + 1 };
            self.left = self.weight(self.at);
        }
        let taken = wanted.min(self.left);
        self.left -= taken;
        Some((self.order[self.at], taken))
    }
}
