//! Left inverses of an operator, which turn the law of outputs into the law of inputs.

use super::Operator;
use rayon::prelude::*;
use table::{Stop, Watch};

/// The largest condition number (in the norm of column sums) at which an inverse is trusted.
const CONDITION: f64 = 1e10;

/// The number of rows from which threads share the elimination.
const SHARED: usize = 128;

/// A matrix Q with a row for each input and a column for each output, such that Q times the law of outputs
/// is the law of inputs, for every law of inputs.
pub(super) struct LeftInverse {
    cells: Vec<f64>,
    outputs: usize,
}

impl LeftInverse {
    /// The largest number of matrices of the operator's size that are held while one is made; one of them stays.
    pub(super) const MATRICES: u64 = 6;

    /// The inverse of a square operator; with more outputs than inputs, the weighted least-squares inverse. `None` if
    /// the outputs do not distinguish the inputs well enough. O(|X|^2 |Y|).
    pub(super) fn new(
        operator: &Operator,
        weights: impl Fn(usize) -> f64,
        watch: &Watch,
    ) -> Result<Option<Self>, Stop> {
        let (inputs, outputs) = (operator.inputs(), operator.outputs());
        if inputs > outputs {
            return Ok(None);
        }
        if inputs == outputs {
            // Columns of the operator are the rows of the system.
            let mut transposed = vec![0.0; inputs * outputs];
            for (x, row) in operator.rows().enumerate() {
                row.iter().enumerate().for_each(|(y, &p)| transposed[y * inputs + x] = p);
            }
            let cells = inverse(transposed, inputs, watch)?;
            return Ok(cells.map(|cells| LeftInverse { cells, outputs }));
        }
        let weights: Vec<f64> = (0..outputs).map(weights).collect();
        let weighted: Vec<f64> = operator
            .rows()
            .flat_map(|row| row.iter().zip(&weights).map(|(p, weight)| p * weight))
            .collect();
        let products = |rows: &[f64], x: usize| -> Result<Vec<f64>, Stop> {
            watch.check()?;
            Ok(rows.chunks_exact(outputs).map(|row| dot(row, operator.row(x))).collect())
        };
        let normal: Result<Vec<Vec<f64>>, Stop> =
            (0..inputs).into_par_iter().map(|x| products(&weighted, x)).collect();
        let Some(covariance) = inverse(normal?.concat(), inputs, watch)? else { return Ok(None) };
        let row = |x: usize| -> Result<Vec<f64>, Stop> {
            watch.check()?;
            let mut row = vec![0.0; outputs];
            let factors = &covariance[x * inputs..(x + 1) * inputs];
            for (&factor, from) in factors.iter().zip(weighted.chunks_exact(outputs)) {
                row.iter_mut().zip(from).for_each(|(sum, cell)| *sum += factor * cell);
            }
            Ok(row)
        };
        let cells: Result<Vec<Vec<f64>>, Stop> = (0..inputs).into_par_iter().map(row).collect();
        Ok(Some(LeftInverse { cells: cells?.concat(), outputs }))
    }

    /// Its rows, one for each input.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.cells.chunks_exact(self.outputs)
    }
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    // Four sums at a time: the processor computes them in parallel.
    let mut sums = [0.0; 4];
    let (chunks, others) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = chunks.remainder().iter().zip(others.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in chunks.zip(others) {
        for i in 0..4 {
            sums[i] += a[i] * b[i];
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// The inverse of a square matrix, by elimination with the largest pivot of each column; `None` if it is too badly
/// conditioned.
fn inverse(mut matrix: Vec<f64>, size: usize, watch: &Watch) -> Result<Option<Vec<f64>>, Stop> {
    let norm = column_norm(&matrix, size);
    let mut inverse = vec![0.0; size * size];
    inverse.iter_mut().step_by(size + 1).for_each(|cell| *cell = 1.0);
    watch.begin(size as u64);
    for i in 0..size {
        watch.check()?;
        watch.advance(1);
        let at = |row: usize| matrix[row * size + i].abs();
        let best = (i..size).fold(i, |best, row| if at(row) > at(best) { row } else { best });
        let pivot = matrix[best * size + i];
        if pivot == 0.0 || !pivot.is_finite() {
            return Ok(None);
        }
        let mut taken = [Vec::new(), Vec::new()];
        for (half, taken) in [&mut matrix, &mut inverse].into_iter().zip(&mut taken) {
            (0..size).for_each(|column| half.swap(i * size + column, best * size + column));
            let row = &mut half[i * size..(i + 1) * size];
            row.iter_mut().for_each(|cell| *cell /= pivot);
            *taken = row.to_vec();
        }
        let [left, right] = &taken;
        let eliminate = |(row, (cells, inverse)): (usize, (&mut [f64], &mut [f64]))| {
            let factor = cells[i];
            if row != i && factor != 0.0 {
                // Columns before this one are those of the identity.
                cells[i..].iter_mut().zip(&left[i..]).for_each(|(cell, p)| *cell -= factor * p);
                inverse.iter_mut().zip(right).for_each(|(cell, p)| *cell -= factor * p);
            }
        };
        if size < SHARED {
            let rows = matrix.chunks_exact_mut(size).zip(inverse.chunks_exact_mut(size));
            rows.enumerate().for_each(eliminate);
        } else {
            let rows = matrix.par_chunks_exact_mut(size).zip(inverse.par_chunks_exact_mut(size));
            rows.enumerate().for_each(eliminate);
        }
    }
    let condition = norm * column_norm(&inverse, size);
    Ok((condition <= CONDITION).then_some(inverse))
}

/// The largest sum of absolute values in a column.
fn column_norm(matrix: &[f64], size: usize) -> f64 {
    let mut sums = vec![0.0; size];
    for row in matrix.chunks_exact(size) {
        sums.iter_mut().zip(row).for_each(|(sum, cell)| *sum += cell.abs());
    }
    // A norm that is not a number must not pass for a small one.
    sums.into_iter().fold(0.0, |most, sum| if sum > most || f64::is_nan(sum) { sum } else { most })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Q times the transposed operator.
    fn product(left: &LeftInverse, operator: &Operator) -> Vec<f64> {
        left.rows().flat_map(|q| operator.rows().map(|row| dot(q, row))).collect()
    }

    fn is_identity(cells: &[f64], size: usize) -> bool {
        let expected = |i: usize| f64::from(u8::from(i.is_multiple_of(size + 1)));
        cells.iter().enumerate().all(|(i, cell)| (cell - expected(i)).abs() < 1e-6)
    }

    #[test]
    fn what_cannot_be_told_apart_has_no_inverse() {
        let of = |cells: &[f64], outputs| {
            let operator = Operator::new(cells.to_vec(), outputs).unwrap();
            LeftInverse::new(&operator, |_| 1.0, &Watch::unlimited()).unwrap().is_some()
        };
        assert!(!of(&[0.5, 0.5, 0.5, 0.5], 2));
        assert!(!of(&[0.5, 0.5, 0.5 + 1e-11, 0.5 - 1e-11], 2));
        assert!(!of(&[1.0, 1.0], 1));
        assert!(!of(&[0.25, 0.25, 0.5, 0.25, 0.25, 0.5], 3));
        assert!(of(&[0.0, 1.0, 1.0, 0.0], 2));
    }

    proptest! {
        #[test]
        fn a_left_inverse_undoes_the_operator(
            (inputs, more, weights) in (1usize..9, 0usize..4).prop_flat_map(|(inputs, more)| (
                Just(inputs), Just(more), prop::collection::vec(0.0f64..1.0, inputs * (inputs + more)),
            )),
        ) {
            let outputs = inputs + more;
            let cells = weights.chunks(outputs).enumerate().flat_map(|(x, row)| {
                // Some weight on the diagonal, so that most of them have an inverse.
                let weight = |y: usize| row[y] + if x == y { 1.0 } else { 0.0 };
                let total: f64 = (0..outputs).map(weight).sum();
                (0..outputs).map(|y| weight(y) / total).collect::<Vec<_>>()
            }).collect();
            let operator = Operator::new(cells, outputs).unwrap();
            let left = LeftInverse::new(&operator, |y| 1.0 + y as f64, &Watch::unlimited()).unwrap();
            if let Some(left) = left {
                prop_assert!(is_identity(&product(&left, &operator), inputs));
            }
        }
    }

    #[test]
    fn threads_do_not_change_a_digit() {
        let operator = Operator::randomised_response(SHARED + 5, 0.4).unwrap();
        let of = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let left = pool.install(|| LeftInverse::new(&operator, |_| 1.0, &Watch::unlimited()));
            left.unwrap().unwrap().cells
        };
        assert_eq!(of(1), of(3));
    }
}
