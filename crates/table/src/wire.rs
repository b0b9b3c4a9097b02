//! The binary format of bags: on disk, between parallel workers, between servers.
//!
//! Layout of version 2, integers as LEB128: magic, version; the encoding of the values; the number of columns; per
//! column its name, the number of values, the values in the order of their bytes; the number of distinct rows; the
//! rows in ascending order as bits; a CRC-32 of all that. A row is the number of cells that it shares with the row
//! before, the other cells (0 for NULL, else code + 1) and its weight. Each number has the bits that the largest one
//! in its position needs, the weight as many as it needs itself. Equal bags give equal bytes: values that no row has
//! are left out, and so is the encoding if all values are ASCII, which is the same in every encoding.
//!
//! Version 1 had no encoding, no checksum, and a row's weight and cells as LEB128. It is still read.

use crate::arena::Texts;
use crate::bitstream::{BitReader, BitWriter, bits_for};
use crate::rows::RowSet;
use crate::{Bag, CodeRows, Domain, NONE, Reservation, Stop, Watch};
use std::fmt;
use std::sync::Arc;

const MAGIC: &[u8] = b"pgsb";
const VERSION: u8 = 2;
/// Bytes of the checksum.
const CHECKSUM: usize = 4;

/// The reasons why bytes are not a bag.
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
            WireError::Version(v) => {
                write!(f, "format version {v} is not known, the newest known one is {VERSION}")
            }
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

fn put_bytes(bytes: &mut Vec<u8>, value: &[u8]) {
    put(bytes, value.len() as u64);
    bytes.extend_from_slice(value);
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn number(&mut self) -> Result<u64, WireError> {
        let (number, rest) = postcard::take_from_bytes(self.0)
            .map_err(|_| WireError::Damaged("a number is cut off or too large"))?;
        self.0 = rest;
        Ok(number)
    }

    /// Reads a count of things of which `per_byte` need at least one byte: so it cannot exceed the bytes left.
    fn count_of(&mut self, per_byte: u64) -> Result<usize, WireError> {
        let number = self.number()?;
        if number / per_byte > self.0.len() as u64 {
            return Err(WireError::Damaged("a count exceeds the bytes that follow"));
        }
        Ok(number as usize)
    }

    fn count(&mut self) -> Result<usize, WireError> {
        self.count_of(1)
    }

    fn bytes(&mut self) -> Result<&'a [u8], WireError> {
        let length = self.count()?;
        let (bytes, rest) = self.0.split_at(length);
        self.0 = rest;
        Ok(bytes)
    }

    fn text(&mut self) -> Result<&'a str, WireError> {
        std::str::from_utf8(self.bytes()?).map_err(|_| WireError::Damaged("a name is not UTF-8"))
    }

    /// The columns with their values.
    fn domains(&mut self, watch: &Watch) -> Result<Vec<Arc<Domain>>, WireError> {
        let width = self.count()?;
        let mut held = Reservation::new(watch);
        let mut domains: Vec<Arc<Domain>> = Vec::new();
        for _ in 0..width {
            let name = self.text()?.to_string();
            if domains.iter().any(|d| d.name() == name) {
                return Err(WireError::Damaged("two columns have the same name"));
            }
            let mut texts = Texts::default();
            let mut last = None;
            let before = held.bytes();
            for i in 0..self.count()? {
                watch.poll_with(i, || held.raise(before + texts.memory() as u64))?;
                let value = self.bytes()?;
                if last.is_some_and(|last| last >= value) {
                    return Err(WireError::Damaged("a domain is not in order"));
                }
                last = Some(value);
                texts.push(value);
            }
            held.raise(before + texts.memory() as u64)?;
            domains.push(Arc::new(Domain::from_sorted(name, texts)));
        }
        Ok(domains)
    }

    /// The rows of version 1, at the end of the bytes.
    fn rows_of_1(
        &mut self,
        domains: &[Arc<Domain>],
        watch: &Watch,
    ) -> Result<(CodeRows, Vec<u64>), WireError> {
        let mut set = RowSet::new(domains.len());
        let mut row = vec![NONE; domains.len()];
        let mut total = 0;
        for i in 0..self.count()? {
            watch.poll_with(i, || watch.room_for(set.memory() as u64))?;
            let weight = self.number()?;
            total = added(total, weight)?;
            for (cell, domain) in row.iter_mut().zip(domains) {
                *cell = cell_of(self.number()?, domain)?;
            }
            set.add(&row, weight);
        }
        match self.0.is_empty() {
            true => Ok(set.finish()),
            false => Err(WireError::Damaged("bytes are left over")),
        }
    }

    /// The rows, at the end of the bytes.
    fn rows(
        &mut self,
        domains: &[Arc<Domain>],
        watch: &Watch,
    ) -> Result<(CodeRows, Vec<u64>), WireError> {
        const CUT: WireError = WireError::Damaged("a row is cut off");
        let count = self.count_of(8)?;
        let mut bits = BitReader::new(self.0);
        let (shared_bits, cell_bits) = widths(domains);
        let mut rows = CodeRows::new(domains.len());
        let mut weights = Vec::new();
        let mut row = vec![NONE; domains.len()];
        let mut total = 0;
        for i in 0..count {
            let memory = || (rows.memory() + weights.capacity() * 8) as u64;
            watch.poll_with(i, || watch.room_for(memory()))?;
            let shared = bits.take(shared_bits).ok_or(CUT)? as usize;
            let rest = row.get_mut(shared..).ok_or(WireError::Damaged("a row is too long"))?;
            let first = rest.first().copied();
            for ((cell, domain), &bits_of) in
                rest.iter_mut().zip(&domains[shared..]).zip(&cell_bits[shared..])
            {
                *cell = cell_of(bits.take(bits_of).ok_or(CUT)?.into(), domain)?;
            }
            // The first cell that differs decides the order.
            if i > 0 && first >= row.get(shared).copied() || i == 0 && shared > 0 {
                return Err(WireError::Damaged("the rows are not in order"));
            }
            let weight = bits.take_count().ok_or(CUT)?;
            total = added(total, weight)?;
            rows.push(&row);
            weights.push(weight);
        }
        match bits.is_at_end() {
            true => Ok((rows, weights)),
            false => Err(WireError::Damaged("bytes are left over")),
        }
    }
}

/// The bits of a number of shared cells, and of a cell of each column.
fn widths(domains: &[Arc<Domain>]) -> (u32, Vec<u32>) {
    // Two rows never share all cells: they would be equal.
    let shared = bits_for(domains.len().saturating_sub(1) as u64);
    (shared, domains.iter().map(|domain| bits_for(domain.len() as u64)).collect())
}

fn cell_of(number: u64, domain: &Domain) -> Result<u32, WireError> {
    match number > domain.len() as u64 {
        true => Err(WireError::Damaged("a code is outside its domain")),
        false => Ok((number as u32).wrapping_sub(1)),
    }
}

/// The number of rows so far plus another weight.
fn added(total: u64, weight: u64) -> Result<u64, WireError> {
    total
        .checked_add(weight)
        .filter(|&total| weight > 0 && total <= i64::MAX as u64)
        .ok_or(WireError::Damaged("a weight is zero or too large"))
}

impl Bag {
    /// The same rows without values that no row has, in ascending order, with equal ones merged: equal bags become
    /// identical.
    fn normalize(&mut self, watch: &Watch) -> Result<(), Stop> {
        let supports = self.supports();
        if supports.iter().flatten().any(|&support| support == 0) {
            let _held = watch.hold(self.memory())?;
            let mut codes = Vec::with_capacity(self.width());
            for (domain, supports) in self.domains.iter_mut().zip(&supports) {
                let used = |code: &u32| supports[*code as usize] > 0;
                let mut next = 0..;
                codes.push(
                    supports
                        .iter()
                        .map(|&s| if s > 0 { next.next() } else { None })
                        .map(|code: Option<u32>| code.unwrap_or(NONE))
                        .collect::<Vec<_>>(),
                );
                let texts = (0..domain.len() as u32).filter(used).map(|code| domain.value(code));
                let texts = texts.collect::<Texts>();
                *domain = Arc::new(Domain::from_sorted(domain.name().to_string(), texts));
            }
            self.rows.recode(&codes, watch)?;
        }
        self.sort(watch)
    }

    /// The bag as bytes; `encoding` names the encoding of its values. Sorts the rows first.
    pub fn encode(&mut self, encoding: &str, watch: &Watch) -> Result<Vec<u8>, Stop> {
        self.normalize(watch)?;
        let mut bytes = Vec::new();
        bytes.extend_from_slice(MAGIC);
        bytes.push(VERSION);
        let is_ascii = |domain: &Arc<Domain>| domain.values().all(<[u8]>::is_ascii);
        let encoding = if self.domains.iter().all(is_ascii) { "" } else { encoding };
        put_bytes(&mut bytes, encoding.as_bytes());
        put(&mut bytes, self.width() as u64);
        for domain in &self.domains {
            put_bytes(&mut bytes, domain.name().as_bytes());
            put(&mut bytes, domain.len() as u64);
            domain.values().for_each(|value| put_bytes(&mut bytes, value));
        }
        let differs = |i: &usize| *i == 0 || self.row(*i) != self.row(*i - 1);
        put(&mut bytes, (0..self.distinct()).filter(differs).count() as u64);
        let (shared_bits, cell_bits) = widths(&self.domains);
        let mut bits = BitWriter::new(&mut bytes);
        let mut i = 0;
        while i < self.distinct() {
            watch.poll(i)?;
            let row = self.row(i);
            let shared = match i {
                0 => 0,
                _ => row.iter().zip(self.row(i - 1)).take_while(|(a, b)| a == b).count(),
            };
            bits.put(shared as u32, shared_bits);
            for (&code, &bits_of) in row[shared..].iter().zip(&cell_bits[shared..]) {
                bits.put(code.wrapping_add(1), bits_of);
            }
            let equal = (i..self.distinct()).take_while(|&j| self.row(j) == row).count();
            bits.put_count(self.weights[i..i + equal].iter().sum());
            i += equal;
        }
        bits.finish();
        let checksum = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        Ok(bytes)
    }

    /// Reads the result of [`Bag::encode`], and returns the name of the encoding too. The name is empty if the values
    /// are ASCII, or for a bag of version 1, which does not have it. Any other bytes give an error, never a panic,
    /// and never take more memory than the watch allows.
    pub fn decode<'a>(bytes: &'a [u8], watch: &Watch) -> Result<(Bag, &'a str), WireError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(WireError::NotABag)?;
        let (&version, rest) = rest.split_first().ok_or(WireError::NotABag)?;
        let mut reader = Reader(rest);
        let mut encoding = "";
        let domains;
        let (rows, weights) = match version {
            1 => {
                domains = reader.domains(watch)?;
                reader.rows_of_1(&domains, watch)?
            }
            VERSION => {
                const SUM: WireError = WireError::Damaged("the checksum is not that of the bytes");
                let (checked, sum) = bytes.split_last_chunk::<CHECKSUM>().ok_or(SUM)?;
                if crc32fast::hash(checked) != u32::from_le_bytes(*sum) {
                    return Err(SUM);
                }
                reader.0 = rest.get(..rest.len().saturating_sub(CHECKSUM)).unwrap_or(&[]);
                encoding = reader.text()?;
                domains = reader.domains(watch)?;
                reader.rows(&domains, watch)?
            }
            other => return Err(WireError::Version(other)),
        };
        Ok((Bag::new(domains, rows, weights), encoding))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encode(mut bag: Bag) -> Vec<u8> {
        bag.encode("UTF8", &Watch::unlimited()).unwrap()
    }

    fn decode(bytes: &[u8]) -> Result<Bag, WireError> {
        Bag::decode(bytes, &Watch::unlimited()).map(|(bag, _)| bag)
    }

    /// The rows as text, each as often as it occurs.
    fn texts(bag: &Bag) -> Vec<Vec<Option<Vec<u8>>>> {
        let text = |i: usize| {
            let cell = |(c, &code): (usize, &u32)| {
                (code != NONE).then(|| bag.domain(c).value(code).to_vec())
            };
            bag.row(i).iter().enumerate().map(cell).collect()
        };
        let rows = (0..bag.distinct()).flat_map(|i| vec![text(i); bag.weight(i) as usize]);
        let mut rows: Vec<Vec<_>> = rows.collect();
        rows.sort();
        rows
    }

    fn cells() -> impl Strategy<Value = Vec<Vec<Option<String>>>> {
        prop::collection::vec(prop::collection::vec(prop::option::of("[a-cä]{0,2}"), 3), 0..20)
    }

    proptest! {
        #[test]
        fn decoding_gives_the_bag_back(rows in cells()) {
            let bag = Bag::from_text(3, rows);
            let bytes = encode(bag.clone());
            let back = decode(&bytes).unwrap();
            prop_assert_eq!(back.row_count(), bag.row_count());
            prop_assert_eq!(texts(&back), texts(&bag));
            prop_assert_eq!(encode(back), bytes);
        }

        #[test]
        fn the_order_of_reading_does_not_matter(mut rows in cells()) {
            let bytes = encode(Bag::from_text(3, rows.clone()));
            rows.reverse();
            prop_assert_eq!(encode(Bag::from_text(3, rows)), bytes);
        }

        #[test]
        fn values_that_no_row_has_do_not_matter(rows in cells(), more in cells()) {
            let bytes = encode(Bag::from_text(3, rows.clone()));
            let wanted = Bag::from_text(3, rows.clone());
            let all = Bag::from_text(3, rows.into_iter().chain(more));
            let weights: Vec<u64> = (0..all.distinct()).map(|i| {
                let same = |j: &usize| (0..3).all(|c| {
                    let value = |bag: &Bag, code: u32| (code != NONE).then(|| bag.domain(c).value(code).to_vec());
                    value(&all, all.row(i)[c]) == value(&wanted, wanted.row(*j)[c])
                });
                (0..wanted.distinct()).find(same).map_or(0, |j| wanted.weight(j))
            }).collect();
            prop_assert_eq!(encode(all.with_weights(&weights)), bytes);
        }

        #[test]
        fn every_flipped_bit_is_told(rows in cells(), at in any::<prop::sample::Index>()) {
            let mut bytes = encode(Bag::from_text(3, rows));
            let bit = at.index(bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(decode(&bytes).is_err());
        }

        #[test]
        fn cut_bytes_are_told(rows in cells(), at in any::<prop::sample::Index>()) {
            let mut bytes = encode(Bag::from_text(3, rows));
            bytes.truncate(at.index(bytes.len()));
            prop_assert!(decode(&bytes).is_err());
        }

        /// Someone who damages a bag may also correct its checksum.
        #[test]
        fn forged_bytes_never_panic(rows in cells(), at in any::<prop::sample::Index>(), byte: u8, cut: bool) {
            let mut bytes = encode(Bag::from_text(3, rows));
            bytes.truncate(bytes.len() - CHECKSUM);
            let i = at.index(bytes.len());
            if cut { bytes.truncate(i) } else { bytes[i] = byte }
            let sum = crc32fast::hash(&bytes).to_le_bytes();
            bytes.extend(sum);
            if let Ok(bag) = decode(&bytes) {
                let total: u64 = bag.weights().iter().sum();
                prop_assert_eq!(total, bag.row_count());
                encode(bag);
            }
        }

        #[test]
        fn random_bytes_never_panic(version in 0u8..4, tail in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut bytes = [MAGIC, &[version]].concat();
            bytes.extend(tail);
            let _ = decode(&bytes);
            let sum = crc32fast::hash(&bytes).to_le_bytes();
            bytes.extend(sum);
            let _ = decode(&bytes);
        }
    }

    #[test]
    fn a_bag_of_version_1_is_read() {
        // Written by 0.1.0: columns "a" and "b"; rows (x, NULL) twice and (y, ä) once.
        let bytes =
            b"pgsb\x01\x02\x01a\x02\x01x\x01y\x01b\x01\x02\xc3\xa4\x02\x02\x01\x00\x01\x02\x01";
        let bag = decode(bytes).unwrap();
        let now = Bag::from_text(2, [[Some("x"), None], [Some("x"), None], [Some("y"), Some("ä")]]);
        assert_eq!(texts(&bag), texts(&now));
        assert_eq!(bag.domain(0).name(), "a");
    }

    #[test]
    fn the_bytes_of_a_bag_are_fixed() {
        let bytes = encode(Bag::from_text(
            2,
            [[Some("x"), None], [Some("x"), None], [Some("y"), Some("ä")]],
        ));
        let expected = b"pgsb\x02\x04UTF8\x02\x02c1\x02\x01x\x01y\x02c2\x01\x02\xc3\xa4\x02";
        assert_eq!(bytes[..expected.len()], expected[..]);
        // Row 1: shares 0 cells, 1, 0, weight 2 (0 1 0); row 2: shares 0, 2, 1, weight 1.
        assert_eq!(bytes[expected.len()..bytes.len() - CHECKSUM], [0b0010_0010, 0b0000_1110]);
    }

    #[test]
    fn a_forged_bag_has_no_row_twice() {
        // One column, "a", with the value "x"; the row (x) once, and once more.
        let mut bytes = b"pgsb\x02\x00\x01\x01a\x01\x01x\x02\x0f".to_vec();
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        assert_eq!(decode(&bytes).unwrap_err(), WireError::Damaged("the rows are not in order"));
    }

    #[test]
    fn an_unknown_version_is_told() {
        assert_eq!(decode(b"pgsb\x03").unwrap_err(), WireError::Version(3));
        assert_eq!(decode(b"pgsb").unwrap_err(), WireError::NotABag);
        assert_eq!(decode(b"other").unwrap_err(), WireError::NotABag);
    }

    #[test]
    fn the_encoding_is_named_where_it_matters() {
        let named = |value: &str| {
            let bytes = encode(Bag::from_text(1, [[Some(value)]]));
            Bag::decode(&bytes, &Watch::unlimited()).unwrap().1.to_string()
        };
        assert_eq!((named("a"), named("ä")), (String::new(), "UTF8".into()));
    }

    #[test]
    fn equal_rows_that_were_listed_apart_become_one() {
        let mut rows = CodeRows::new(1);
        [0, 0, 0].iter().for_each(|code| rows.push(&[*code]));
        let one = Bag::from_text(1, [[Some("a")]]);
        let apart = Bag::new(one.domains.clone(), rows, vec![1, 2, 3]);
        let bag = decode(&encode(apart)).unwrap();
        assert_eq!((bag.distinct(), bag.weight(0)), (1, 6));
    }
}
