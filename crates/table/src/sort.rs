//! Sorting that can be cancelled: std's sorts cannot, and sorting millions of texts takes seconds.

use crate::{Stop, Watch};
use std::cmp::Ordering;

/// The number of elements sorted or merged between two polls of the watch: a few milliseconds.
const RUN: usize = 1 << 15;

/// Sorts numbers by `compare`, which must be a strict order.
pub fn sort_watched(
    numbers: &mut Vec<u32>,
    watch: &Watch,
    compare: impl Fn(u32, u32) -> Ordering,
) -> Result<(), Stop> {
    for run in numbers.chunks_mut(RUN) {
        watch.check()?;
        run.sort_unstable_by(|&a, &b| compare(a, b));
    }
    let mut width = RUN;
    while width < numbers.len() {
        let mut merged = Vec::with_capacity(numbers.len());
        for pair in numbers.chunks(2 * width) {
            let (mut left, mut right) = pair.split_at(width.min(pair.len()));
            while let (Some(&a), Some(&b)) = (left.first(), right.first()) {
                watch.poll(merged.len())?;
                if compare(b, a) == Ordering::Less {
                    merged.push(b);
                    right = &right[1..];
                } else {
                    merged.push(a);
                    left = &left[1..];
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        *numbers = merged;
        width *= 2;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_like_std_across_runs() {
        for len in [0, 1, 2, RUN - 1, RUN, RUN + 1, 5 * RUN + 77] {
            let mut numbers: Vec<u32> =
                (0..len as u32).map(|i| i.wrapping_mul(2_654_435_761) ^ 0x5bd1).collect();
            let mut expected = numbers.clone();
            expected.sort_unstable();
            sort_watched(&mut numbers, &Watch::unlimited(), |a, b| a.cmp(&b)).unwrap();
            assert_eq!(numbers, expected);
        }
    }

    #[test]
    fn stops_when_cancelled() {
        let watch = Watch::unlimited();
        watch.cancel();
        assert_eq!(sort_watched(&mut vec![2, 1], &watch, |a, b| a.cmp(&b)), Err(Stop::Cancelled));
    }
}
