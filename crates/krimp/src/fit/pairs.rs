//! How often two elements cover a row together.

use crate::cover::{Cover, Observer};
use std::collections::HashMap;
use table::{Keyed, Stop, Watch};

/// Up to this many items, pairs of them are counted in a matrix.
const MATRIX: usize = 2000;

/// Bytes of a pair in the map, at its usual load.
const PAIR_BYTES: usize = 48;

/// What is known of two elements.
#[derive(Default)]
pub(crate) struct Pair {
    /// Rows whose cover has both.
    pub together: u64,
    /// That number when their union was last refused.
    pub refused_at: Option<u64>,
}

/// How often elements cover a row together.
///
/// Elements are known by serial numbers here: slots are used again, serials are not. Those of
/// singletons are their item numbers.
pub(crate) struct Pairs {
    pub items: u32,
    pub by_serials: HashMap<(u32, u32), Pair, Keyed>,
    /// By slot.
    serials: Vec<u32>,
    /// By serial less the number of items; `None` if the element has left.
    slots: Vec<Option<u32>>,
    /// Bytes reserved of the watch.
    pub reserved: u64,
    /// Pairs that became more frequent.
    pub grown: Vec<(u32, u32)>,
    stays: Vec<u32>,
    goes: Vec<u32>,
    comes: Vec<u32>,
    /// By id; false between rows.
    marks: Vec<bool>,
}

impl Pairs {
    pub(crate) fn new(items: usize) -> Self {
        Pairs {
            items: items as u32,
            by_serials: HashMap::default(),
            serials: Vec::new(),
            slots: Vec::new(),
            reserved: 0,
            grown: Vec::new(),
            stays: Vec::new(),
            goes: Vec::new(),
            comes: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// Counts the pairs of items in rows that only singletons cover.
    pub(crate) fn count<const W: usize>(
        &mut self,
        cover: &Cover<'_, W>,
        watch: &Watch,
    ) -> Result<(), Stop> {
        let ground = cover.ground;
        let cells = ground.items() * ground.items();
        let bytes = cells as u64 * 8;
        let small = ground.items() <= MATRIX && watch.reserve(bytes).is_ok();
        let mut matrix = vec![0u64; if small { cells } else { 0 }];
        for row in 0..ground.rows() {
            watch.check()?;
            self.account(0, watch)?;
            let weight = ground.weights[row];
            let items = || ground.row(row).iter().copied().filter(|&item| item != table::NONE);
            for (i, a) in items().enumerate() {
                for b in items().skip(i + 1) {
                    if small {
                        matrix[a as usize * ground.items() + b as usize] += weight;
                    } else {
                        self.by_serials.entry((a, b)).or_default().together += weight;
                    }
                }
            }
        }
        for (i, &together) in matrix.iter().enumerate().filter(|&(_, &n)| n > 0) {
            let key = ((i / ground.items()) as u32, (i % ground.items()) as u32);
            self.by_serials.insert(key, Pair { together, refused_at: None });
        }
        if small {
            watch.release(bytes);
        }
        self.account(0, watch)
    }

    /// Reserves what the pairs have come to take, and `more` bytes.
    pub(crate) fn account(&mut self, more: usize, watch: &Watch) -> Result<(), Stop> {
        let bytes = (self.by_serials.capacity() * PAIR_BYTES + more) as u64;
        if bytes > self.reserved {
            watch.reserve(bytes - self.reserved)?;
            self.reserved = bytes;
        }
        Ok(())
    }

    fn serial(&self, id: u32) -> u32 {
        match id.checked_sub(self.items) {
            Some(slot) => self.serials[slot as usize],
            None => id,
        }
    }

    /// The serial of the element in a slot.
    pub(crate) fn serial_of(&self, slot: u32) -> u32 {
        self.serials[slot as usize]
    }

    /// The slot of the element with a serial, if it is still there and no singleton.
    pub(crate) fn slot(&self, serial: u32) -> Option<u32> {
        self.slots[serial.checked_sub(self.items)? as usize]
    }

    /// The serial of the last element that entered.
    pub(crate) fn newest(&self) -> Option<u32> {
        (!self.slots.is_empty()).then(|| self.items + self.slots.len() as u32 - 1)
    }

    /// The id of the element with a serial, if it is still there.
    pub(crate) fn id(&self, serial: u32) -> Option<u32> {
        match serial.checked_sub(self.items) {
            Some(number) => self.slots[number as usize].map(|slot| self.items + slot),
            None => Some(serial),
        }
    }

    fn add(&mut self, a: u32, b: u32, weight: u64) {
        let key = (a.min(b), a.max(b));
        self.by_serials.entry(key).or_default().together += weight;
        self.grown.push(key);
    }

    fn take(&mut self, a: u32, b: u32, weight: u64) {
        let key = (a.min(b), a.max(b));
        if let Some(pair) = self.by_serials.get_mut(&key) {
            pair.together -= weight;
            if pair.together == 0 {
                self.by_serials.remove(&key);
            }
        }
    }
}

impl Observer for Pairs {
    fn enters(&mut self, slot: u32) {
        let slot = slot as usize;
        if self.serials.len() <= slot {
            self.serials.resize(slot + 1, 0);
        }
        self.serials[slot] = self.items + self.slots.len() as u32;
        self.slots.push(Some(slot as u32));
    }

    fn leaves(&mut self, slot: u32) {
        let number = self.serials[slot as usize] - self.items;
        self.slots[number as usize] = None;
    }

    fn row(&mut self, weight: u64, before: &[u32], after: &[u32]) {
        let mut lists = [&mut self.stays, &mut self.goes, &mut self.comes].map(std::mem::take);
        let [stays, goes, comes] = &mut lists;
        lists_of(before, after, &mut self.marks, [stays, goes, comes]);
        for ids in [&mut *stays, goes, comes] {
            ids.iter_mut().for_each(|id| *id = self.serial(*id));
        }
        for (i, &a) in goes.iter().enumerate() {
            goes[i + 1..].iter().chain(stays.iter()).for_each(|&b| self.take(a, b, weight));
        }
        for (i, &a) in comes.iter().enumerate() {
            comes[i + 1..].iter().chain(stays.iter()).for_each(|&b| self.add(a, b, weight));
        }
        [self.stays, self.goes, self.comes] = lists;
    }
}

/// The ids that two lists share, that only the first has, and that only the second has.
fn lists_of(before: &[u32], after: &[u32], marks: &mut Vec<bool>, lists: [&mut Vec<u32>; 3]) {
    let [stays, goes, comes] = lists;
    [&mut *stays, goes, comes].into_iter().for_each(Vec::clear);
    let most = before.iter().chain(after).max().map_or(0, |&id| id as usize + 1);
    marks.resize(marks.len().max(most), false);
    after.iter().for_each(|&id| marks[id as usize] = true);
    for &id in before {
        // A mark that is left belongs to an id that comes.
        if std::mem::take(&mut marks[id as usize]) { stays.push(id) } else { goes.push(id) }
    }
    comes.extend(after.iter().filter(|&&id| std::mem::take(&mut marks[id as usize])));
}
