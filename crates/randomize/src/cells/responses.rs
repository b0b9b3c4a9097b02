//! Randomised response on rows of codes, each cell with a share of the row's epsilon.

use super::response::BLOCK;
use super::{Response, split};
use rand::Rng;
use random::Error;
use table::NONE;

/// A column of a randomised row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomisedColumn {
    /// The number of values without NULL; their codes are below it.
    pub values: u32,
    /// NULL is one more value.
    pub nullable: bool,
    /// The weight of the column in the split of the row's epsilon.
    pub weight: f64,
}

impl RandomisedColumn {
    /// The number of values, NULL included.
    pub fn size(&self) -> u32 {
        self.values + u32::from(self.nullable)
    }
}

/// The law of a randomised row: each cell by itself, with a share of the row's epsilon.
#[derive(Debug, Clone)]
pub struct Responses {
    columns: Vec<(Response, Null)>,
}

/// The code of NULL after the values; [`NONE`] where there is no NULL.
type Null = u32;

impl Responses {
    /// Splits a row's epsilon over the columns by their weights.
    pub fn new(epsilon: f64, columns: &[RandomisedColumn]) -> Result<Self, Error> {
        let weights: Vec<f64> = columns.iter().map(|column| column.weight).collect();
        let responses = columns.iter().zip(split(epsilon, &weights)?).map(|(column, epsilon)| {
            let null = if column.nullable { column.values } else { NONE };
            (Response::new(column.size(), epsilon), null)
        });
        Ok(Responses { columns: responses.collect() })
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// The law of one column.
    pub fn response(&self, column: usize) -> &Response {
        &self.columns[column].0
    }

    /// Randomises one column of at most [`BLOCK`] rows of `width` cells, each cell after `recode`; [`NONE`] stands for
    /// NULL. A column without NULL must have none after `recode`, which replaces it by a value as a
    /// [`table::Recoding`] does.
    #[inline]
    pub(super) fn randomise_column<R: Rng + ?Sized>(
        &self,
        column: usize,
        rows: &mut [u32],
        width: usize,
        recode: impl Fn(u32) -> u32,
        rng: &mut R,
    ) {
        let (response, null) = &self.columns[column];
        let mut codes = [0; BLOCK];
        let codes = &mut codes[..rows.len() / width];
        for (code, row) in codes.iter_mut().zip(rows.chunks_exact(width)) {
            let recoded = recode(row[column]);
            *code = if recoded == NONE { *null } else { recoded };
            debug_assert!(*code < response.size());
        }
        response.randomise_all(codes, rng);
        for (&mut code, row) in codes.iter_mut().zip(rows.chunks_exact_mut(width)) {
            row[column] = if code == *null { NONE } else { code };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::response::Change;
    use super::*;
    use dashu_int::UBig;
    use random::enclosure::{ExpNeg, Real};
    use random::testing::assert_fits;
    use random::{Coins, Ratio};

    /// Values, whether NULL is one more, weight.
    type Size = (u32, bool, f64);

    fn columns(sizes: &[Size]) -> Vec<RandomisedColumn> {
        let column = |&(values, nullable, weight)| RandomisedColumn { values, nullable, weight };
        sizes.iter().map(column).collect()
    }

    /// All rows of the domains, NULL as NONE.
    fn all_rows(columns: &[RandomisedColumn]) -> Vec<Vec<u32>> {
        columns.iter().fold(vec![Vec::new()], |rows, column| {
            let codes = (0..column.values).chain(column.nullable.then_some(NONE));
            let codes: Vec<u32> = codes.collect();
            let longer = |row: &Vec<u32>| {
                let row = row.clone();
                codes.clone().into_iter().map(move |code| [row.clone(), vec![code]].concat())
            };
            rows.iter().flat_map(longer).collect()
        })
    }

    /// The number of bits of a cell's law: the probabilities to be kept and to become one certain other value.
    const BITS: usize = 300;

    fn cell(change: &Change, same: bool) -> (UBig, UBig) {
        let (low, high) = change.enclose(BITS);
        match same {
            true => ((UBig::ONE << BITS) - high, (UBig::ONE << BITS) - low),
            false => (low / change.others, high / change.others + 1u8),
        }
    }

    /// For every two inputs and every output the probabilities differ by at most e^epsilon, computed from the
    /// thresholds that the sampler compares with. The worst pair comes close to it, so no epsilon is wasted.
    #[test]
    fn no_output_tells_two_rows_apart_by_more_than_epsilon() {
        let cases: [(f64, &[Size]); 4] = [
            (1.0, &[(2, false, 1.0), (3, false, 1.0), (2, true, 1.0)]),
            (0.1, &[(2, true, 2.0), (4, false, 0.3)]),
            (3.0, &[(3, false, 1.0), (1, false, 1.0)]),
            (0.7, &[(5, false, 1.0)]),
        ];
        for (epsilon, sizes) in cases {
            let columns = columns(sizes);
            let responses = Responses::new(epsilon, &columns).unwrap();
            let probability = |from: &[u32], to: &[u32]| {
                let cells = from.iter().zip(to).zip(&responses.columns);
                cells.filter(|(_, (response, _))| response.size() > 1).fold(
                    (UBig::ONE << BITS, UBig::ONE << BITS),
                    |(low, high), ((a, b), (response, _))| {
                        let (cell_low, cell_high) = cell(response.change(), a == b);
                        ((low * cell_low) >> BITS, ((high * cell_high) >> BITS) + 1u8)
                    },
                )
            };
            let (bound, _) = ExpNeg(Ratio::exact("epsilon", epsilon).unwrap()).enclose(BITS);
            let rows = all_rows(&columns);
            let mut worst = false;
            for to in &rows {
                for (a, b) in rows.iter().flat_map(|a| rows.iter().map(move |b| (a, b))) {
                    let ((_, most), (least, _)) = (probability(a, to), probability(b, to));
                    // least >= e^-epsilon most, up to the width of the enclosures.
                    let slack = UBig::ONE << 20;
                    assert!(&least + slack >= (&most * &bound) >> BITS, "{a:?} {b:?} {to:?}");
                    worst |= least < (most * &bound * 1001u32 / 1000u32) >> BITS;
                }
            }
            assert_eq!(worst, sizes.iter().all(|size| size.0 > 1 || size.1), "{epsilon}");
        }
    }

    #[test]
    fn rows_follow_the_product_of_their_cells() {
        let columns = columns(&[(2, true, 1.0), (3, false, 2.0), (1, false, 1.0)]);
        let responses = Responses::new(2.0, &columns).unwrap();
        let rows = all_rows(&columns);
        let from = [NONE, 1, 0];
        let law: Vec<f64> = rows
            .iter()
            .map(|to| {
                let first = if to[0] == NONE { 1f64.exp().sqrt() } else { 1.0 };
                let second = if to[1] == 1 { 1f64.exp() } else { 1.0 };
                first / (2.0 + 1f64.exp().sqrt()) * second / (2.0 + 1f64.exp())
            })
            .collect();
        let mut coins = Coins::seeded(11);
        assert_fits(&law, 30_000, || {
            let mut row = from;
            for column in 0..row.len() {
                responses.randomise_column(column, &mut row, 3, |code| code, &mut coins);
            }
            rows.iter().position(|other| *other == row).unwrap() as i64
        });
    }
}
