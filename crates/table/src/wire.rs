//! Bags as bytes: on disk, between parallel workers, between servers.
//!
//! Layout, integers as LEB128: magic, version, number of columns; per column its name, the number
//! of values, the values; then the number of distinct rows and per row its weight and one number
//! per cell (0 for NULL, else code + 1). Equal bags give equal bytes.

use crate::arena::Texts;
use crate::rows::RowSet;
use crate::{Bag, Domain, NONE, Reservation, Stop, Watch};
use std::fmt;
use std::sync::Arc;

const MAGIC: &[u8] = b"pgsb";
const VERSION: u8 = 1;

/// Why bytes are no bag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WireError {
    /// The bytes do not begin as a bag does.
    NotABag,
    /// Written by another version of the format.
    Version(u8),
    /// The bytes end too early or contradict themselves.
    Damaged(&'static str),
    /// Reading was stopped.
    Stopped(Stop),
}

impl From<Stop> for WireError {
    fn from(stop: Stop) -> Self {
        WireError::Stopped(stop)
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireError::NotABag => write!(f, "the bytes do not begin with a bag's header"),
            WireError::Version(v) => write!(f, "format version {v} is not known"),
            WireError::Damaged(what) => write!(f, "{what}"),
            WireError::Stopped(stop) => stop.fmt(f),
        }
    }
}

impl std::error::Error for WireError {}

fn put(bytes: &mut Vec<u8>, number: u64) {
    let mut buffer = [0; 10];
    // Ten bytes hold any u64, so this cannot fail; an empty slice would only be detected on reading.
    let written = postcard::to_slice(&number, &mut buffer).map_or(&[][..], |w| &*w);
    bytes.extend_from_slice(written);
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn number(&mut self) -> Result<u64, WireError> {
        let (number, rest) = postcard::take_from_bytes(self.0)
            .map_err(|_| WireError::Damaged("a number is cut off or too large"))?;
        self.0 = rest;
        Ok(number)
    }

    /// A count of things that take at least one byte each: so it cannot exceed what is left.
    fn count(&mut self) -> Result<usize, WireError> {
        let number = self.number()?;
        if number > self.0.len() as u64 {
            return Err(WireError::Damaged("a count exceeds the bytes that follow"));
        }
        Ok(number as usize)
    }

    fn bytes(&mut self) -> Result<&'a [u8], WireError> {
        let length = self.count()?;
        let (bytes, rest) = self.0.split_at(length);
        self.0 = rest;
        Ok(bytes)
    }
}

impl Bag {
    /// The bag as bytes; sorts the rows first.
    pub fn encode(&mut self, watch: &Watch) -> Result<Vec<u8>, Stop> {
        self.sort(watch)?;
        let mut bytes = Vec::new();
        bytes.extend_from_slice(MAGIC);
        bytes.push(VERSION);
        put(&mut bytes, self.width() as u64);
        for domain in &self.domains {
            put(&mut bytes, domain.name().len() as u64);
            bytes.extend_from_slice(domain.name().as_bytes());
            put(&mut bytes, domain.len() as u64);
            for value in domain.values() {
                put(&mut bytes, value.len() as u64);
                bytes.extend_from_slice(value);
            }
        }
        put(&mut bytes, self.distinct() as u64);
        for (i, (row, &weight)) in self.rows.iter().zip(&self.weights).enumerate() {
            watch.poll(i)?;
            put(&mut bytes, weight);
            for &code in row {
                put(&mut bytes, if code == NONE { 0 } else { u64::from(code) + 1 });
            }
        }
        Ok(bytes)
    }

    /// Reads what [`Bag::encode`] wrote. Any other bytes give an error, never a panic, and never
    /// take more memory than a small multiple of their length.
    pub fn decode(bytes: &[u8], watch: &Watch) -> Result<Bag, WireError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(WireError::NotABag)?;
        let (&version, rest) = rest.split_first().ok_or(WireError::NotABag)?;
        if version != VERSION {
            return Err(WireError::Version(version));
        }
        let mut reader = Reader(rest);
        let width = reader.count()?;
        let mut held = Reservation::new(watch);
        let mut domains: Vec<Arc<Domain>> = Vec::new();
        for _ in 0..width {
            let name = std::str::from_utf8(reader.bytes()?)
                .map_err(|_| WireError::Damaged("a column name is not UTF-8"))?
                .to_string();
            if domains.iter().any(|d| d.name() == name) {
                return Err(WireError::Damaged("two columns have the same name"));
            }
            let mut texts = Texts::default();
            let mut last = None;
            let before = held.bytes();
            for i in 0..reader.count()? {
                watch.poll_with(i, || held.raise(before + texts.memory() as u64))?;
                let value = reader.bytes()?;
                if last.is_some_and(|last| last >= value) {
                    return Err(WireError::Damaged("a domain is not in order"));
                }
                last = Some(value);
                texts.push(value);
            }
            held.raise(before + texts.memory() as u64)?;
            domains.push(Arc::new(Domain::from_sorted(name, texts)));
        }
        let mut set = RowSet::new(width);
        let mut row = vec![NONE; width];
        let mut total = 0u64;
        for i in 0..reader.count()? {
            watch.poll_with(i, || watch.room_for(set.memory() as u64))?;
            let weight = reader.number()?;
            total = total
                .checked_add(weight)
                .filter(|&t| weight > 0 && t <= i64::MAX as u64)
                .ok_or(WireError::Damaged("a weight is zero or too large"))?;
            for (cell, domain) in row.iter_mut().zip(&domains) {
                let number = reader.number()?;
                if number > domain.len() as u64 {
                    return Err(WireError::Damaged("a code is outside its domain"));
                }
                *cell = (number as u32).wrapping_sub(1);
            }
            set.add(&row, weight);
        }
        if !reader.0.is_empty() {
            return Err(WireError::Damaged("bytes are left over"));
        }
        let (rows, weights) = set.finish();
        Ok(Bag::new(domains, rows, weights))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encode(mut bag: Bag) -> Vec<u8> {
        bag.encode(&Watch::unlimited()).unwrap()
    }

    fn cells() -> impl Strategy<Value = Vec<Vec<Option<String>>>> {
        prop::collection::vec(prop::collection::vec(prop::option::of("[a-c]{0,2}"), 3), 0..20)
    }

    proptest! {
        #[test]
        fn decoding_gives_the_bag_back(rows in cells()) {
            let bag = Bag::from_text(3, rows);
            let bytes = encode(bag.clone());
            let back = Bag::decode(&bytes, &Watch::unlimited()).unwrap();
            prop_assert_eq!(back.row_count(), bag.row_count());
            prop_assert_eq!(encode(back), bytes);
        }

        #[test]
        fn the_order_of_reading_does_not_matter(mut rows in cells()) {
            let bytes = encode(Bag::from_text(3, rows.clone()));
            rows.reverse();
            prop_assert_eq!(encode(Bag::from_text(3, rows)), bytes);
        }

        #[test]
        fn damaged_bytes_never_panic(rows in cells(), at in any::<prop::sample::Index>(), byte: u8, cut: bool) {
            let mut bytes = encode(Bag::from_text(3, rows));
            let i = at.index(bytes.len());
            if cut { bytes.truncate(i) } else { bytes[i] = byte }
            if let Ok(bag) = Bag::decode(&bytes, &Watch::unlimited()) {
                let total: u64 = bag.weights().iter().sum();
                prop_assert_eq!(total, bag.row_count());
                encode(bag);
            }
        }

        #[test]
        fn random_bytes_never_panic(tail in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut bytes = MAGIC.to_vec();
            bytes.push(VERSION);
            bytes.extend(tail);
            let _ = Bag::decode(&bytes, &Watch::unlimited());
        }
    }
}
