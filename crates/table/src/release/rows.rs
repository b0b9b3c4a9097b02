//! The rows of a release, in an order that reveals nothing.

use super::{Release, Whose};
use crate::{Bag, ColumnPart, NONE, Reservation, Stop, Watch};
use std::cmp::Ordering;

impl Release {
    /// The released rows of a table, sorted by what they show. Their order reveals neither what was blanked nor their
    /// place in the heap.
    ///
    /// The release was made for the table, or for a part of its columns: then the other columns are returned
    /// unchanged. Where copies of a row of the part differ in these, its pieces take them in the order of the table,
    /// and start again if a row is released more often than it occurs. A piece of one unit takes that unit's copies;
    /// the part must then be [`ColumnPart::with_units`].
    pub fn rows(&self, table: &Bag, part: Option<&ColumnPart>, watch: &Watch) -> Result<Bag, Stop> {
        let mut held = Reservation::new(watch);
        let mut builder = table.builder();
        let mut cells = vec![NONE; table.width()];
        let units = self.names_units();
        debug_assert!(!units || part.is_none_or(|part| part.units.is_some()));
        let mut copies = part.map(|part| Copies::new(table, part, units, watch)).transpose()?;
        for (number, piece) in self.pieces.iter().enumerate() {
            watch.poll_with(number, || held.raise(builder.memory()))?;
            let (Some(part), Some(copies)) = (part, &mut copies) else {
                self.write(table, piece, &mut cells);
                builder.add(&cells, piece.weight);
                continue;
            };
            copies.seek(piece.row, self.whose(number));
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
    /// The rows of the table by their row of the part, then by unit if pieces name units.
    order: Vec<u32>,
    next: usize,
    /// The current row of the part and whose copies of it, the range of their rows of the table in the order, the next
    /// one of them, and the number of its copies that are left.
    current: Option<(u32, Whose)>,
    /// The range of all copies of the current row.
    whole: std::ops::Range<usize>,
    places: std::ops::Range<usize>,
    at: usize,
    left: u64,
    _held: Reservation<'a>,
}

impl<'a> Copies<'a> {
    fn new(
        table: &'a Bag,
        part: &'a ColumnPart,
        units: bool,
        watch: &'a Watch,
    ) -> Result<Self, Stop> {
        // The order, and a copy while it is sorted.
        let held = watch.hold(table.distinct() as u64 * 8)?;
        let of = part.rows();
        let mut order: Vec<u32> = (0..table.distinct() as u32).collect();
        crate::sort_watched(&mut order, watch, |a, b| {
            let by_unit = || unit(table, a).cmp(&unit(table, b));
            let same = if units { by_unit() } else { Ordering::Equal };
            of[a as usize].cmp(&of[b as usize]).then(same).then(a.cmp(&b))
        })?;
        let (current, whole, places, at, left) = (None, 0..0, 0..0, 0, 0);
        Ok(Copies { table, of, order, next: 0, current, whole, places, at, left, _held: held })
    }

    fn weight(&self, place: usize) -> u64 {
        self.table.weight(self.order[place] as usize)
    }

    /// Goes on to copies of a row of the part; rows must come in ascending order.
    fn seek(&mut self, row: u32, whose: Whose) {
        if self.current == Some((row, whose)) {
            return;
        }
        if self.current.is_none_or(|current| current.0 != row) {
            let rest = &self.order[self.next..];
            let begin = self.next + rest.partition_point(|&from| self.of[from as usize] < row);
            let end = self.next + rest.partition_point(|&from| self.of[from as usize] <= row);
            self.whole = begin..end;
            self.next = end;
        }
        self.current = Some((row, whose));
        let own = |wanted: u32| {
            let all = &self.order[self.whole.clone()];
            let begin = all.partition_point(|&from| unit(self.table, from) < wanted);
            let count = all[begin..].partition_point(|&from| unit(self.table, from) == wanted);
            self.whole.start + begin..self.whole.start + begin + count
        };
        self.places = match whose {
            Whose::All => self.whole.clone(),
            Whose::Unit(unit) => own(unit),
            Whose::Nobody => own(NONE),
        };
        self.at = self.places.start;
        self.left = if self.places.is_empty() { 0 } else { self.weight(self.at) };
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

/// The unit of a row of a table: its last column. NULL comes last.
fn unit(table: &Bag, row: u32) -> u32 {
    table.row(row as usize).last().copied().unwrap_or(NONE)
}
