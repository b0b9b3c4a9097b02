//! Enumerates the unions of patterns that occur often enough, each once.

use crate::tree::frequencies::Frequencies;
use table::{Bag, Item, NONE, Stop, Watch};

/// Enumerates all itemsets that are the union of some of the elements and have a frequency above a threshold, which
/// is at least 0, and calls back with each once, its items in column order.
///
/// Different sets of elements may have the same union. The largest of these sets stands for all, and a union is
/// extended only by elements that add no earlier one. So the work is the number of unions found times the elements
/// that may be added to each, and no union need be remembered. Adding an item never raises a frequency: elements that
/// cannot be added to a union are not tried beyond it.
pub(crate) fn visit_unions<F: Frequencies>(
    elements: &[&[Item]],
    width: usize,
    frequencies: &F,
    threshold: f64,
    watch: &Watch,
    found: &mut dyn FnMut(&[Item]) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let cells = vec![NONE; width];
    let mut search = Search { elements, frequencies, threshold, watch, cells, found };
    let all: Vec<u32> = (0..elements.len() as u32).collect();
    search.extend(&frequencies.all(), &all, 0)
}

struct Search<'a, F> {
    elements: &'a [&'a [Item]],
    frequencies: &'a F,
    threshold: f64,
    watch: &'a Watch,
    /// The current union: by column a code, or [`NONE`].
    cells: Vec<u32>,
    found: &'a mut dyn FnMut(&[Item]) -> Result<(), Stop>,
}

impl<F: Frequencies> Search<'_, F> {
    /// Extends the current union with elements from number `next` on. `open` are the elements that it does not
    /// contain, except some that cannot be added to it, in ascending order.
    fn extend(&mut self, rows: &F::Rows, open: &[u32], next: u32) -> Result<(), Stop> {
        let _held = self.watch.hold(self.frequencies.bytes() + open.len() as u64 * 8)?;
        let mut fitting = Vec::with_capacity(open.len());
        let mut added = Vec::new();
        for &element in open {
            self.watch.check()?;
            // Earlier ones are kept for the check below.
            if element < next || self.fits(rows, element, &mut added) {
                fitting.push(element);
            }
        }
        let first = fitting.partition_point(|&element| element < next);
        for place in first..fitting.len() {
            self.new_items(fitting[place], &mut added);
            self.put(&added, true);
            if !fitting[..place].iter().any(|&earlier| self.contains(earlier)) {
                let union: Vec<Item> = Bag::row_items(&self.cells).collect();
                (self.found)(&union)?;
                let open: Vec<u32> =
                    fitting.iter().copied().filter(|&element| !self.contains(element)).collect();
                let rows = self.frequencies.with(rows, &added);
                self.extend(&rows, &open, fitting[place] + 1)?;
            }
            self.put(&added, false);
        }
        Ok(())
    }

    /// Whether the current union and an element occur together often enough.
    fn fits(&self, rows: &F::Rows, element: u32, added: &mut Vec<Item>) -> bool {
        self.new_items(element, added) && self.frequencies.share(rows, added) > self.threshold
    }

    /// Writes the items of an element that the current union does not have; false if it has another value in one of
    /// its columns.
    fn new_items(&self, element: u32, added: &mut Vec<Item>) -> bool {
        added.clear();
        for &item in self.elements[element as usize] {
            match self.cells[item.column as usize] {
                NONE => added.push(item),
                code if code != item.code => return false,
                _ => {}
            }
        }
        true
    }

    fn put(&mut self, items: &[Item], there: bool) {
        for item in items {
            self.cells[item.column as usize] = if there { item.code } else { NONE };
        }
    }

    /// Whether the current union contains an element.
    fn contains(&self, element: u32) -> bool {
        let items = self.elements[element as usize];
        items.iter().all(|item| self.cells[item.column as usize] == item.code)
    }
}
