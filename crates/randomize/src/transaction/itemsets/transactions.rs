//! Transactions as bitmaps, in blocks that fit into a processor's cache.

use crate::seed::{Code, LANES, Scratch, Slices};
use crate::transaction::MAX_UNIVERSE;
use random::Error;
use table::{Stop, Watch, bits};

/// The number of transactions of a block.
pub const BLOCK: usize = 8192;

/// The number of words of a bitmap of a block.
pub const WORDS: usize = bits::words(BLOCK);

/// Randomised transactions that can be mined.
pub trait Transactions: Sync {
    /// The number of transactions.
    fn count(&self) -> u64;

    /// The items that may occur, ascending.
    fn items(&self) -> Vec<u32>;

    /// Prepares to read the bitmaps of these items.
    fn reader<'a>(&'a self, items: &[u32], watch: &'a Watch) -> Result<Reader<'a>, Stop>;
}

/// Reads the bitmaps of a block, given by its number, for the items that it was made for, one item after the other.
pub type Reader<'a> = Box<dyn Fn(usize, &mut [u64]) + Sync + 'a>;

/// Transactions given as lists of items, filled while they are read.
#[derive(Debug)]
pub struct Listed {
    count: u64,
    /// The largest number of bytes that it may hold.
    limit: u64,
    /// By item: its position among the items seen, counted from 1.
    places: Vec<u32>,
    seen: Vec<u32>,
    /// By block: a bitmap for each item seen so far.
    blocks: Vec<Vec<u64>>,
    words: usize,
}

impl Listed {
    /// An empty list that may hold this number of bytes.
    pub fn new(limit: u64) -> Self {
        Listed { count: 0, limit, places: vec![], seen: vec![], blocks: vec![], words: 0 }
    }

    /// Adds a transaction. Refuses numbers that are not items, and a transaction that exceeds the limit.
    pub fn push(&mut self, items: impl IntoIterator<Item = i32>) -> Result<(), Error> {
        let place = (self.count % BLOCK as u64) as usize;
        if place == 0 {
            self.make_room(self.seen.len() * WORDS)?;
            self.blocks.push(vec![0; self.seen.len() * WORDS]);
        }
        self.count += 1;
        let (word, bit) = bits::place(place);
        for item in items {
            let known = usize::try_from(item).ok().and_then(|item| self.places.get(item));
            let code = match known {
                Some(&known) if known > 0 => known as usize - 1,
                _ => add(&mut self.places, &mut self.seen, item)?,
            };
            let first = code * WORDS;
            let length = self.blocks.last().map_or(0, Vec::len);
            if length < first + WORDS {
                self.make_room(first + WORDS - length)?;
            }
            if let Some(block) = self.blocks.last_mut() {
                block.resize(length.max(first + WORDS), 0);
                block[first + word] |= bit;
            }
        }
        Ok(())
    }

    /// Reserves words before they are allocated.
    fn make_room(&mut self, words: usize) -> Result<(), Error> {
        self.words += words;
        let is_over = self.memory() > self.limit;
        if is_over { Err(Stop::Memory { limit: self.limit }.into()) } else { Ok(()) }
    }

    /// The bytes held.
    pub fn memory(&self) -> u64 {
        // A block that grows may hold twice what it needs.
        let growing = self.blocks.last().map_or(0, Vec::capacity);
        8 * (self.words + growing) as u64 + 4 * (self.places.len() + self.seen.len()) as u64
    }
}

/// Gives an item its position.
fn add(places: &mut Vec<u32>, seen: &mut Vec<u32>, item: i32) -> Result<usize, Error> {
    let number = u32::try_from(item).ok().filter(|item| (1..=MAX_UNIVERSE).contains(item));
    let number = number
        .ok_or_else(|| Error::argument("an item", item, "items are numbers from 1 to 1048575"))?;
    if places.len() <= number as usize {
        places.resize(number as usize + 1, 0);
    }
    seen.push(number);
    places[number as usize] = seen.len() as u32;
    Ok(seen.len() - 1)
}

impl Transactions for Listed {
    fn count(&self) -> u64 {
        self.count
    }

    fn items(&self) -> Vec<u32> {
        let mut items = self.seen.clone();
        items.sort_unstable();
        items
    }

    fn reader<'a>(&'a self, items: &[u32], _: &'a Watch) -> Result<Reader<'a>, Stop> {
        let place = |&item: &u32| self.places.get(item as usize).map_or(0, |&place| place as usize);
        let places: Vec<usize> = items.iter().map(place).collect();
        Ok(Box::new(move |block, bitmaps| {
            for (bitmap, &place) in bitmaps.chunks_mut(WORDS).zip(&places) {
                // An item that the block does not have was first seen after it.
                match self.blocks[block].get(place.wrapping_sub(1).wrapping_mul(WORDS)..) {
                    Some(found) if place > 0 && found.len() >= WORDS => {
                        bitmap.copy_from_slice(&found[..WORDS]);
                    }
                    _ => bitmap.fill(0),
                }
            }
        }))
    }
}

/// Transactions given as seeds, filled while they are read.
#[derive(Debug)]
pub struct Seeded {
    code: Code,
    /// The words of one seed after the other.
    words: Vec<u64>,
    words_each: usize,
}

impl Seeded {
    pub fn new(code: Code) -> Self {
        let words_each = bits::words(code.bits());
        Seeded { code, words: Vec::new(), words_each }
    }

    /// Adds a transaction. Refuses bytes that are not a seed of the code.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.words.extend(self.code.read(bytes)?.words());
        Ok(())
    }

    /// The bytes held.
    pub fn memory(&self) -> u64 {
        8 * self.words.capacity() as u64
    }
}

impl Transactions for Seeded {
    fn count(&self) -> u64 {
        (self.words.len() / self.words_each) as u64
    }

    fn items(&self) -> Vec<u32> {
        (1..=self.code.shape().universe).collect()
    }

    fn reader<'a>(&'a self, items: &[u32], watch: &'a Watch) -> Result<Reader<'a>, Stop> {
        let held = watch.hold(Slices::memory(&self.code, items.len()))?;
        let slices = Slices::new(&self.code, items);
        Ok(Box::new(move |block, bitmaps| {
            // The memory of the slices is held as long as the reader is.
            let _ = &held;
            bitmaps.fill(0);
            let size = BLOCK * self.words_each;
            let words = &self.words[block * size..];
            let words = &words[..words.len().min(size)];
            let mut scratch = Scratch::default();
            for (word, seeds) in words.chunks(LANES * self.words_each).enumerate() {
                slices.each(seeds, &mut scratch, |item, lanes| {
                    bitmaps[item * WORDS + word] = lanes;
                });
            }
        }))
    }
}
