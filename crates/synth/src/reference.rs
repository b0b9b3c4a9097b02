//! Direct definitions for tests: the law of whole rows, and sums over it.

use crate::junction::{Junction, cliques};
use crate::network::{Network, Potential};
use crate::pairs::Pairs;
use crate::schema::{Limits, projection};
use proptest::prelude::*;
use rand::TryRng;
use std::sync::Arc;
use table::{Bag, Domain, NONE, Recoding};

/// No limit.
pub const FREE: Limits = Limits { cells: u64::MAX, clique: u64::MAX };

/// A set of columns and the logarithms of its factor.
pub type Factor = (Vec<usize>, Vec<f64>);

/// A few columns and factors on sets of them, whose logarithms are at most `reach` in absolute value.
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

/// A row and the unit that it belongs to, if any.
pub type Owned = (Vec<u32>, Option<u32>);

/// A bag whose last column is the unit, and how the others become public codes.
pub struct OwnedRows {
    pub bag: Bag,
    pub recoding: Recoding,
    pub domains: Vec<Arc<Domain>>,
}

impl OwnedRows {
    pub fn new(sizes: &[u32], rows: &[Owned]) -> Self {
        let text = |number: &u32| Some(format!("{number:03}"));
        let row = |(row, unit): &Owned| {
            row.iter().map(text).chain([unit.as_ref().and_then(text)]).collect::<Vec<_>>()
        };
        let bag = Bag::from_text(sizes.len() + 1, rows.iter().map(row));
        let codes = |domain: &Domain| domain.values().map(number).collect();
        let recoding = Recoding {
            codes: bag.domains()[..sizes.len()].iter().map(|domain| codes(domain)).collect(),
            nulls: vec![NONE; sizes.len()],
        };
        let domain = |&size: &u32| {
            let values = (0..size).map(|code| format!("{code:03}").into_bytes()).collect();
            Arc::new(Domain::from_values("x".into(), values))
        };
        OwnedRows { bag, recoding, domains: sizes.iter().map(domain).collect() }
    }

    /// A distinct row of the bag, in public codes.
    pub fn row(&self, i: usize) -> Owned {
        let value = |(column, &code): (usize, &u32)| {
            (code != NONE).then(|| number(self.bag.domain(column).value(code)))
        };
        let mut cells: Vec<Option<u32>> = self.bag.row(i).iter().enumerate().map(value).collect();
        let unit = cells.pop().flatten();
        (cells.into_iter().flatten().collect(), unit)
    }
}

fn number(text: &[u8]) -> u32 {
    std::str::from_utf8(text).unwrap().parse().unwrap()
}

/// Enumerates all outcomes of a computation that draws numbers below 2, 3, 4 or 6, one after the other: a generator
/// that returns one word of each twelfth of all words in turn.
#[derive(Default)]
pub struct Branches {
    /// The twelfths so far, in order; `None` before the first.
    path: Option<Vec<u64>>,
    at: usize,
}

impl Branches {
    /// Goes to the next path; false if there is none.
    pub fn next(&mut self) -> bool {
        self.at = 0;
        let Some(path) = &mut self.path else {
            self.path = Some(Vec::new());
            return true;
        };
        while let Some(last) = path.pop() {
            if last < 11 {
                path.push(last + 1);
                return true;
            }
        }
        false
    }

    /// The probability of the path that was taken.
    pub fn chance(&self) -> f64 {
        12f64.powi(-(self.at as i32))
    }
}

impl TryRng for Branches {
    type Error = std::convert::Infallible;

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        let path = self.path.get_or_insert_default();
        if self.at == path.len() {
            path.push(0);
        }
        self.at += 1;
        // The middle of the twelfth.
        Ok((u64::MAX / 24) * (2 * path[self.at - 1] + 1))
    }

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        self.try_next_u64().map(|word| (word >> 32) as u32)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        for part in bytes.chunks_mut(8) {
            let word = self.try_next_u64()?.to_le_bytes();
            part.copy_from_slice(&word[..part.len()]);
        }
        Ok(())
    }
}
