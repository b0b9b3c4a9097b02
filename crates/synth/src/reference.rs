//! Definitions word by word, for tests: the law of whole rows, and sums over it.

use crate::junction::{Junction, cliques};
use crate::network::{Network, Potential};
use crate::pairs::Pairs;
use crate::schema::{Limits, projection};
use proptest::prelude::*;
use table::{Bag, NONE};

/// No limit.
pub const FREE: Limits = Limits { cells: u64::MAX, clique: u64::MAX };

/// A set of columns and the logarithms of its factor.
pub type Factor = (Vec<usize>, Vec<f64>);

/// A few columns and factors on sets of them, whose logarithms reach so far.
pub fn factors(reach: f64) -> impl Strategy<Value = (Vec<u32>, Vec<Factor>)> {
    prop::collection::vec(1u32..4, 1..7).prop_flat_map(move |mut sizes| {
        sizes.sort_unstable();
        let width = sizes.len();
        let set = prop::collection::btree_set(0..width, 1..=width.min(3));
        let factor = (set, prop::collection::vec(-reach..reach, 27));
        let cut =
            move |sizes: &[u32], (set, logs): (std::collections::BTreeSet<usize>, Vec<f64>)| {
                let set: Vec<usize> = set.into_iter().collect();
                let cells = crate::schema::cells(sizes, &set) as usize;
                (set, logs[..cells].to_vec())
            };
        prop::collection::vec(factor, 0..7).prop_map(move |factors| {
            (sizes.clone(), factors.into_iter().map(|factor| cut(&sizes, factor)).collect())
        })
    })
}

/// The law of whole rows: products of factors, divided by their sum.
pub fn joint(sizes: &[u32], factors: &[Factor]) -> Vec<f64> {
    let all: Vec<usize> = (0..sizes.len()).collect();
    let mut logs = vec![0.0f64; projection(sizes, &all, &[]).len()];
    for (set, factor) in factors {
        for (log, place) in logs.iter_mut().zip(projection(sizes, &all, set)) {
            *log += factor[place as usize];
        }
    }
    let peak = logs.iter().copied().fold(f64::MIN, f64::max);
    let weights: Vec<f64> = logs.iter().map(|log| (log - peak).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// Sums of a table with columns `from` to its columns `to`.
pub fn marginal(sizes: &[u32], table: &[f64], from: &[usize], to: &[usize]) -> Vec<f64> {
    let mut sums = vec![0.0; projection(sizes, to, &[]).len()];
    for (value, place) in table.iter().zip(projection(sizes, from, to)) {
        sums[place as usize] += value;
    }
    sums
}

/// A network of the factors.
pub fn network(sizes: &[u32], factors: &[Factor]) -> Network {
    let sets = factors.iter().map(|(set, _)| set.as_slice());
    let junction = Junction::new(sizes, cliques(sizes, sets, FREE).unwrap());
    let potentials: Vec<Potential> =
        factors.iter().map(|(columns, logs)| Potential { columns, logs }).collect();
    Network::new(sizes, junction, &potentials)
}

/// Fails unless two tables agree.
pub fn assert_close(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() < 1e-9 * (1.0 + a.abs()), "{a} {b}");
    }
}

/// A bag of rows of codes; a code beyond a column's size is NULL.
pub fn bag(sizes: &[u32], rows: &[Vec<u32>]) -> Bag {
    let values = sizes.iter().copied().max().unwrap_or(0);
    let known = (0..values).map(|code| sizes.iter().map(move |_| Some(format!("{code:09}"))));
    let mut builder = Bag::from_text(sizes.len(), known).builder();
    for row in rows {
        let cells =
            row.iter().zip(sizes).map(|(&code, &size)| if code < size { code } else { NONE });
        builder.add(&cells.collect::<Vec<u32>>(), 1);
    }
    builder.finish()
}

/// All pairs of columns.
pub fn all_pairs(sizes: &[u32]) -> Pairs {
    Pairs::new(sizes, (0..sizes.len()).flat_map(|b| (0..b).map(move |a| [a, b])).collect())
}
