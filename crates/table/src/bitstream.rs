//! Streams of numbers with a given number of bits each, the lowest bit first.

/// The number of bits that numbers up to `most` need.
pub(crate) fn bits_for(most: u64) -> u32 {
    u64::BITS - most.leading_zeros()
}

/// Appends bits to bytes.
pub(crate) struct BitWriter<'a> {
    bytes: &'a mut Vec<u8>,
    /// Bits without a byte yet: fewer than eight between two calls.
    pending: u64,
    count: u32,
}

impl<'a> BitWriter<'a> {
    pub(crate) fn new(bytes: &'a mut Vec<u8>) -> Self {
        BitWriter { bytes, pending: 0, count: 0 }
    }

    /// Writes a number of at most 32 bits.
    #[inline]
    pub(crate) fn put(&mut self, number: u32, bits: u32) {
        self.pending |= u64::from(number) << self.count;
        self.count += bits;
        while self.count >= 8 {
            self.bytes.push(self.pending as u8);
            self.pending >>= 8;
            self.count -= 8;
        }
    }

    /// Writes a number from 1 on: as many zeros as it has bits after its first, a one, and those bits.
    #[inline]
    pub(crate) fn put_count(&mut self, number: u64) {
        let more = bits_for(number).saturating_sub(1);
        self.zeros(more);
        self.put(1, 1);
        let rest = number & !(1 << more);
        self.put(rest as u32 & low(more.min(32)), more.min(32));
        if more > 32 {
            self.put((rest >> 32) as u32, more - 32);
        }
    }

    fn zeros(&mut self, count: u32) {
        self.put(0, count.min(32));
        self.put(0, count.saturating_sub(32));
    }

    /// Fills the last byte with zeros.
    pub(crate) fn finish(mut self) {
        let fill = (8 - self.count) % 8;
        self.put(0, fill);
    }
}

fn low(bits: u32) -> u32 {
    ((1u64 << bits) - 1) as u32
}

/// Reads what a [`BitWriter`] wrote; `None` where the bits end.
pub(crate) struct BitReader<'a> {
    bytes: &'a [u8],
    pending: u64,
    count: u32,
}

impl<'a> BitReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        BitReader { bytes, pending: 0, count: 0 }
    }

    /// Reads a number of at most 32 bits.
    #[inline]
    pub(crate) fn take(&mut self, bits: u32) -> Option<u32> {
        while self.count < bits {
            let (&next, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            self.pending |= u64::from(next) << self.count;
            self.count += 8;
        }
        let number = self.pending as u32 & low(bits);
        self.pending >>= bits;
        self.count -= bits;
        Some(number)
    }

    /// Reads a number that [`BitWriter::put_count`] wrote.
    #[inline]
    pub(crate) fn take_count(&mut self) -> Option<u64> {
        let mut more = 0;
        while self.take(1)? == 0 {
            more += 1;
            if more >= u64::BITS {
                return None;
            }
        }
        let first = u64::from(self.take(more.min(32))?);
        let second = if more > 32 { u64::from(self.take(more - 32)?) } else { 0 };
        Some(1 << more | second << 32 | first)
    }

    /// True if only the zeros of the last byte are left.
    pub(crate) fn is_at_end(&self) -> bool {
        self.bytes.is_empty() && self.count < 8 && self.pending == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back(numbers in prop::collection::vec((any::<u32>(), 0u32..=32, 1u64..), 0..40)) {
            let mut bytes = vec![7];
            let mut writer = BitWriter::new(&mut bytes);
            for &(number, bits, count) in &numbers {
                writer.put(number & low(bits), bits);
                writer.put_count(count);
                writer.put_count(count % 5 + 1);
            }
            writer.finish();
            prop_assert_eq!(bytes[0], 7);
            let mut reader = BitReader::new(&bytes[1..]);
            for &(number, bits, count) in &numbers {
                prop_assert_eq!(reader.take(bits), Some(number & low(bits)));
                prop_assert_eq!(reader.take_count(), Some(count));
                prop_assert_eq!(reader.take_count(), Some(count % 5 + 1));
            }
            prop_assert!(reader.is_at_end());
            prop_assert_eq!(reader.take(8), None);
        }
    }

    #[test]
    fn bits_for_numbers() {
        assert_eq!([0, 1, 2, 3, 4, 255, 256].map(bits_for), [0, 1, 2, 2, 3, 8, 9]);
        assert_eq!(bits_for(u64::MAX), 64);
    }
}
