//! Compares our bit sets with the crate bitvec in the operations that the searches do most: for benchmarks.
//!
//! Usage: bits [RUNS]
//!
//! Prints for each task the nanoseconds of one operation with ours and with bitvec, the shortest of the runs. Both
//! must return the same result.

use bitvec::prelude::{BitArray, BitVec, Lsb0};
use pg_sanitize_table::bits::{self, BitSet, BitSets};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Rows of the bitmaps of the cover.
const ROWS: usize = 8192;

/// A fixed sequence of numbers without a pattern.
struct Sequence(u64);

impl Sequence {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        self.0 ^ self.0 >> 29
    }

    /// A word with about half of its bits set, or a quarter, an eighth and so on.
    fn word(&mut self, halvings: usize) -> u64 {
        (0..halvings).fold(u64::MAX, |word, _| word & self.next())
    }
}

/// The shortest time of the runs for one of `operations`, and the result.
fn time(runs: usize, operations: usize, mut task: impl FnMut() -> u64) -> (f64, u64) {
    let mut best = Duration::MAX;
    let mut result = 0;
    for _ in 0..runs {
        let begin = Instant::now();
        result = black_box(task());
        best = best.min(begin.elapsed());
    }
    (best.as_secs_f64() * 1e9 / operations as f64, result)
}

fn show(task: &str, ours: (f64, u64), theirs: (f64, u64)) {
    assert_eq!(ours.1, theirs.1, "{task}: different results");
    println!("{task}|{:.2}|{:.2}", ours.0, theirs.0);
}

/// A step of the search for MIIs: two sets of groups are intersected. The result is dropped if it has no light group
/// or is the first one, else its groups are weighed up to a threshold.
fn narrow<const W: usize>(runs: usize) {
    let mut sequence = Sequence(7);
    let words: Vec<[u64; W]> =
        (0..256).map(|_| std::array::from_fn(|_| sequence.word(2))).collect();
    let weights: Vec<u64> = (0..W as u64 * 64).map(|i| i % 3 + 1).collect();
    let light: [u64; W] = std::array::from_fn(|_| sequence.word(3));
    let enough = 6;

    let sets: Vec<BitSet<W>> = words.iter().map(|words| BitSet::from_words(words)).collect();
    let light_set = BitSet::from_words(&light);
    let ours = time(runs, sets.len() * sets.len(), || {
        let mut total = 0;
        for a in &sets {
            for b in &sets {
                let both = *a & *b;
                if !both.meets(&light_set) || both == *a {
                    continue;
                }
                let mut sum = 0;
                for group in both.iter() {
                    sum += weights[group];
                    if sum >= enough {
                        break;
                    }
                }
                total += sum;
            }
        }
        total
    });

    let arrays: Vec<BitArray<[u64; W], Lsb0>> = words.iter().copied().map(BitArray::new).collect();
    let light_array: BitArray<[u64; W], Lsb0> = BitArray::new(light);
    let theirs = time(runs, arrays.len() * arrays.len(), || {
        let mut total = 0;
        for a in &arrays {
            for b in &arrays {
                let both = *a & *b;
                if !(both & light_array).any() || both == *a {
                    continue;
                }
                let mut sum = 0;
                for group in both.iter_ones() {
                    sum += weights[group];
                    if sum >= enough {
                        break;
                    }
                }
                total += sum;
            }
        }
        total
    });
    show(&format!("intersect and weigh, {} groups", W * 64), ours, theirs);
}

/// A step of the cover: lists the rows that several bitmaps share.
fn cover(runs: usize, halvings: usize) {
    const ITEMS: usize = 5;
    let mut sequence = Sequence(11);
    let mut sets = BitSets::new(64, ROWS);
    for set in 0..sets.len() {
        sets.set_mut(set).iter_mut().for_each(|word| *word = sequence.word(halvings));
    }
    let choices: Vec<[usize; ITEMS]> =
        (0..500).map(|_| std::array::from_fn(|_| sequence.next() as usize % 64)).collect();
    let ours = time(runs, choices.len(), || {
        let mut total = 0;
        for items in &choices {
            for word in 0..sets.stride() {
                let rows = items.iter().fold(u64::MAX, |rows, &i| rows & sets.word(i, word));
                bits::ones(rows).for_each(|bit| total += (word * 64 + bit) as u64);
            }
        }
        total
    });

    let vectors: Vec<BitVec<u64, Lsb0>> =
        (0..sets.len()).map(|set| BitVec::from_slice(sets.set(set))).collect();
    let mut common: BitVec<u64, Lsb0> = BitVec::repeat(false, ROWS);
    let theirs = time(runs, choices.len(), || {
        let mut total = 0;
        for items in &choices {
            common.copy_from_bitslice(&vectors[items[0]]);
            for &item in &items[1..] {
                common &= &vectors[item];
            }
            total += common.iter_ones().map(|row| row as u64).sum::<u64>();
        }
        total
    });
    show(&format!("rows that five bitmaps share, 1/{} set", 1 << halvings), ours, theirs);
}

/// Looking up and setting single bits.
fn single(runs: usize) {
    let mut sequence = Sequence(13);
    let numbers: Vec<usize> = (0..10_000).map(|_| sequence.next() as usize % ROWS).collect();
    let mut set = vec![0u64; bits::words(ROWS)];
    let ours = time(runs, numbers.len(), || {
        set.fill(0);
        let mut twice = 0;
        for &number in &numbers {
            twice += u64::from(bits::has(&set, number));
            bits::insert(&mut set, number);
        }
        twice
    });
    let mut vector: BitVec<u64, Lsb0> = BitVec::repeat(false, ROWS);
    let theirs = time(runs, numbers.len(), || {
        vector.fill(false);
        let mut twice = 0;
        for &number in &numbers {
            twice += u64::from(vector[number]);
            vector.set(number, true);
        }
        twice
    });
    show("look up and set a bit", ours, theirs);
}

fn main() {
    let runs = std::env::args().nth(1).and_then(|runs| runs.parse().ok()).unwrap_or(20);
    println!("task|ours, ns|bitvec, ns");
    narrow::<1>(runs);
    narrow::<4>(runs);
    cover(runs, 1);
    cover(runs, 4);
    single(runs);
}
