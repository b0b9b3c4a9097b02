//! A logistic model of which table a row is from, fitted by Newton's method.

use super::joint::{Joint, Side};
use super::levels::Levels;
use rayon::prelude::*;
use table::{Stop, Watch};

/// Parts of each table that are added up apart: the sums do not depend on the number of threads.
const PARTS: usize = 8;

/// Steps at most. Where a variable tells the tables apart for sure, its coefficient grows without end and
/// what it predicts comes nearer by a factor of e with each step.
const STEPS: usize = 30;

/// The model's rows, and the share of them that is released.
pub(super) struct Model<'a> {
    pub(super) joint: &'a Joint<'a>,
    pub(super) levels: &'a [Levels; 2],
    pub(super) variables: usize,
    pub(super) released_share: f64,
    pub(super) rows: f64,
}

/// What a fit found.
pub(super) struct Fit {
    /// The mean of (p - c)^2 over all rows, for the predicted p and the released share c.
    pub(super) pmse: f64,
    /// Coefficients that the rows determine, without the intercept.
    pub(super) rank: usize,
}

/// Sums over rows for some coefficients.
struct Sums {
    likelihood: f64,
    squares: f64,
    gradient: Vec<f64>,
    /// The upper half, row by row.
    information: Vec<f64>,
}

impl Sums {
    fn new(variables: usize) -> Self {
        Sums {
            likelihood: 0.0,
            squares: 0.0,
            gradient: vec![0.0; variables],
            information: vec![0.0; variables * variables],
        }
    }

    fn add(mut self, other: Sums) -> Self {
        let add = |to: &mut [f64], from: &[f64]| to.iter_mut().zip(from).for_each(|(x, y)| *x += y);
        self.likelihood += other.likelihood;
        self.squares += other.squares;
        add(&mut self.gradient, &other.gradient);
        add(&mut self.information, &other.information);
        self
    }

    /// Takes away what coefficients cost: enough that the fit is unique where variables repeat each
    /// other, too little to be seen in it.
    fn penalise(&mut self, coefficients: &[f64], penalty: f64) {
        for (i, &coefficient) in coefficients.iter().enumerate().skip(1) {
            self.likelihood -= penalty * coefficient * coefficient / 2.0;
            self.gradient[i] -= penalty * coefficient;
            self.information[i * coefficients.len() + i] += penalty;
        }
    }
}

impl Model<'_> {
    /// Bytes that a fit takes.
    pub(super) fn memory(variables: usize) -> u64 {
        (2 * PARTS + 1) as u64 * 8 * (variables as u64 + 1).pow(2)
    }

    pub(super) fn fit(&self, watch: &Watch) -> Result<Fit, Stop> {
        let c = self.released_share;
        let penalty = (1e-6 + 1e-12 * self.rows) * c * (1.0 - c);
        let evaluate = |coefficients: &[f64]| {
            let mut sums = self.sums(coefficients, watch)?;
            sums.penalise(coefficients, penalty);
            Ok::<_, Stop>(sums)
        };
        let mut coefficients = vec![0.0; self.variables];
        coefficients[0] = (c / (1.0 - c)).ln();
        let mut sums = evaluate(&coefficients)?;
        // Every row has the same weight now, so that it is the rank of the variables themselves.
        let mut rank = None;
        let mut pmse = 0.0;
        watch.begin(STEPS as u64);
        for _ in 0..STEPS {
            let mut step = std::mem::take(&mut sums.gradient);
            let found = solve(&mut sums.information, &mut step, 4.0 * penalty);
            let rank = *rank.get_or_insert(found - 1);
            let before = sums.likelihood;
            // A step may be too long: then half of it is not.
            for _ in 0..STEPS {
                let next: Vec<f64> = coefficients.iter().zip(&step).map(|(x, y)| x + y).collect();
                sums = evaluate(&next)?;
                if sums.likelihood >= before - 1e-9 * before.abs() {
                    coefficients = next;
                    break;
                }
                step.iter_mut().for_each(|x| *x /= 2.0);
            }
            watch.advance(1);
            let expected = rank as f64 * c * (1.0 - c) / self.rows;
            let (last, now) = (pmse, sums.squares / self.rows);
            pmse = now;
            if (now - last).abs() <= 1e-5 * now.max(expected) {
                break;
            }
        }
        Ok(Fit { pmse, rank: rank.unwrap_or(0) })
    }

    /// The sums over all rows of both tables.
    fn sums(&self, coefficients: &[f64], watch: &Watch) -> Result<Sums, Stop> {
        let part = |part: usize| {
            let (side, is_released) = match part < PARTS {
                true => (&self.joint.original, false),
                false => (&self.joint.released, true),
            };
            let (rows, i) = (side.bag.distinct(), part % PARTS);
            let range = rows * i / PARTS..rows * (i + 1) / PARTS;
            self.part(
                side,
                &self.levels[usize::from(is_released)],
                is_released,
                range,
                coefficients,
                watch,
            )
        };
        let parts: Result<Vec<Sums>, Stop> = (0..2 * PARTS).into_par_iter().map(part).collect();
        Ok(parts?.into_iter().fold(Sums::new(self.variables), Sums::add))
    }

    fn part(
        &self,
        side: &Side<'_>,
        levels: &Levels,
        is_released: bool,
        rows: std::ops::Range<usize>,
        coefficients: &[f64],
        watch: &Watch,
    ) -> Result<Sums, Stop> {
        let mut sums = Sums::new(self.variables);
        let mut variables = Vec::with_capacity(side.bag.width());
        // A row costs the square of the number of columns.
        let step = (1 << 20) / (1 + side.bag.width().pow(2)) + 1;
        for i in rows {
            watch.poll_every(step, i)?;
            levels.variables(side.bag.row(i), &mut variables);
            let weight = side.bag.weight(i) as f64;
            let odds =
                coefficients[0] + variables.iter().map(|&v| coefficients[v as usize]).sum::<f64>();
            let p = 1.0 / (1.0 + (-odds).exp());
            let sign = if is_released { odds } else { -odds };
            // ln of the probability of the table that the row is from.
            sums.likelihood -= weight * ((-sign.abs()).exp().ln_1p() + (-sign).max(0.0));
            sums.squares += weight * (p - self.released_share).powi(2);
            let residual = weight * (f64::from(u8::from(is_released)) - p);
            let curvature = weight * p * (1.0 - p);
            sums.gradient[0] += residual;
            sums.information[0] += curvature;
            for (i, &v) in variables.iter().enumerate() {
                let v = v as usize;
                sums.gradient[v] += residual;
                sums.information[v] += curvature;
                let line = &mut sums.information[v * self.variables..(v + 1) * self.variables];
                variables[i..].iter().for_each(|&w| line[w as usize] += curvature);
            }
        }
        Ok(sums)
    }
}

/// Solves the symmetric positive definite system whose upper half is in `matrix` in place, and returns the
/// number of rows that are no combination of those before them: `none` is what may be left of one that is.
fn solve(matrix: &mut [f64], right: &mut [f64], none: f64) -> usize {
    let n = right.len();
    let mut rank = 0;
    // The upper half becomes U with U^T U = matrix.
    for i in 0..n {
        let whole = matrix[i * n + i];
        let mut pivot = whole;
        for k in 0..i {
            pivot -= matrix[k * n + i].powi(2);
        }
        rank += usize::from(pivot > none + 1e-8 * whole);
        // What the penalty left of a repeated variable, at least.
        let pivot = pivot.max(1e-12 * whole).max(f64::MIN_POSITIVE).sqrt();
        matrix[i * n + i] = pivot;
        for k in 0..i {
            let factor = matrix[k * n + i];
            if factor != 0.0 {
                let (above, below) = matrix.split_at_mut(i * n);
                let (above, below) = (&above[k * n + i + 1..(k + 1) * n], &mut below[i + 1..n]);
                below.iter_mut().zip(above).for_each(|(x, y)| *x -= factor * y);
            }
        }
        matrix[i * n + i + 1..(i + 1) * n].iter_mut().for_each(|x| *x /= pivot);
    }
    for i in 0..n {
        right[i] /= matrix[i * n + i];
        let x = right[i];
        for k in i + 1..n {
            right[k] -= x * matrix[i * n + k];
        }
    }
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|k| matrix[i * n + k] * right[k]).sum();
        right[i] = (right[i] - known) / matrix[i * n + i];
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::solve;

    #[test]
    fn a_system_is_solved_and_its_rank_counted() {
        // A = B^T B for B = (2 1 0; 0 3 1; 0 0 1), x = (1, -2, 3).
        let mut matrix = [4.0, 2.0, 0.0, f64::NAN, 10.0, 3.0, f64::NAN, f64::NAN, 2.0];
        let mut right = [0.0, -9.0, 0.0];
        assert_eq!(solve(&mut matrix, &mut right, 0.0), 3);
        for (found, expected) in right.iter().zip([1.0, -2.0, 3.0]) {
            assert!((found - expected).abs() < 1e-12, "{right:?}");
        }
        let mut twice = [4.0, 4.0, 0.0, 4.0 + 1e-9];
        let mut right = [4.0, 4.0];
        assert_eq!(solve(&mut twice, &mut right, 1e-8), 1);
        assert!((right[0] + right[1] - 1.0).abs() < 1e-6);
    }
}
