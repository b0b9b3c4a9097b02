//! Bytes as text of seven bits a character, for bags that travel between servers that write every value as text.
//!
//! Text has no zero byte, so two of the 128 characters need an escape: the pair that would be least frequent. The
//! first character says which pair that is. `n` bytes become at most `n * 8 / 7 * 65 / 64` characters and a few more:
//! 1.161 times the number of bytes.

use crate::{Stop, Watch};

/// Stands before a character 1 or 2, which means 0 or 1.
const ESCAPE: u8 = 1;

/// Hands each seven bits of the bytes over, the lowest first.
fn each_seven(bytes: &[u8], mut take: impl FnMut(u8)) {
    let (mut word, mut bits) = (0u32, 0);
    for &byte in bytes {
        word |= u32::from(byte) << bits;
        bits += 8;
        while bits >= 7 {
            take((word & 127) as u8);
            word >>= 7;
            bits -= 7;
        }
    }
    if bits > 0 {
        take(word as u8);
    }
}

/// The number of bytes between two polls of the watch: a multiple of seven.
const CHUNK: usize = 7 << 16;

/// The bytes as ASCII text without a zero byte.
pub fn pack(bytes: &[u8], watch: &Watch) -> Result<Vec<u8>, Stop> {
    let _held = watch.hold(bytes.len() as u64 * 5 / 4 + 16)?;
    let mut counts = [0u64; 64];
    for chunk in bytes.chunks(CHUNK) {
        watch.check()?;
        each_seven(chunk, |seven| counts[usize::from(seven / 2)] += 1);
    }
    let rarest = (0..64u8).min_by_key(|&pair| counts[usize::from(pair)]).unwrap_or(0);
    let room = bytes.len() * 8 / 7 + counts[usize::from(rarest)] as usize + 3;
    let mut packed = Vec::with_capacity(room);
    packed.push(rarest + 1);
    // All chunks but the last end where seven bits end.
    for chunk in bytes.chunks(CHUNK) {
        watch.check()?;
        each_seven(chunk, |seven| match seven ^ (rarest * 2) {
            rare @ 0..=1 => packed.extend([ESCAPE, rare + 1]),
            other => packed.push(other),
        });
    }
    Ok(packed)
}

/// The bytes that [`pack`] packed; `None` if the text is not its result.
pub fn unpack(packed: &[u8], watch: &Watch) -> Result<Option<Vec<u8>>, Stop> {
    let Some((&first @ 1..=64, rest)) = packed.split_first() else { return Ok(None) };
    let key = (first - 1) * 2;
    let _held = watch.hold(rest.len() as u64 * 7 / 8 + 1)?;
    let mut bytes = Vec::with_capacity(rest.len() * 7 / 8 + 1);
    let (mut word, mut bits, mut escaped) = (0u32, 0, false);
    for (i, &character) in rest.iter().enumerate() {
        watch.poll(i)?;
        let seven = match (escaped, character) {
            (false, ESCAPE) => {
                escaped = true;
                continue;
            }
            (false, 2..=127) => character,
            (true, 1..=2) => character - 1,
            _ => return Ok(None),
        };
        escaped = false;
        word |= u32::from(seven ^ key) << bits;
        bits += 7;
        if bits >= 8 {
            bytes.push(word as u8);
            word >>= 8;
            bits -= 8;
        }
    }
    // The remaining bits are the padding of the last character.
    Ok((!escaped && bits < 7 && word == 0).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        pack(bytes, &Watch::unlimited()).unwrap()
    }

    fn unpacked(packed: &[u8]) -> Option<Vec<u8>> {
        unpack(packed, &Watch::unlimited()).unwrap()
    }

    proptest! {
        #[test]
        fn unpacking_gives_the_bytes_back(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let packed = packed(&bytes);
            prop_assert!(packed.iter().all(|c| (1..128).contains(c)));
            prop_assert!(packed.len() as f64 <= bytes.len() as f64 * 8.0 / 7.0 * 65.0 / 64.0 + 3.0);
            prop_assert_eq!(unpacked(&packed), Some(bytes));
        }

        #[test]
        fn other_text_never_panics(text in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Some(bytes) = unpacked(&text) {
                prop_assert!(bytes.len() <= text.len());
            }
        }
    }

    #[test]
    fn long_and_uniform_bytes() {
        for byte in [0, 1, 127, 255] {
            let bytes = vec![byte; 2 * CHUNK + 5];
            let packed = packed(&bytes);
            assert!(packed.len() <= bytes.len() * 8 / 7 + 4);
            assert_eq!(unpacked(&packed), Some(bytes));
        }
    }

    #[test]
    fn what_is_cut_off_or_changed_is_noticed_or_shorter() {
        assert_eq!(unpacked(b""), None);
        assert_eq!(unpacked(&[65, 5]), None);
        assert_eq!(unpacked(&[1, 1]), None);
        assert_eq!(unpacked(&[1, 1, 3]), None);
        assert_eq!(unpacked(&[1, 0]), None);
        assert_eq!(unpacked(&[1, 200]), None);
    }
}
