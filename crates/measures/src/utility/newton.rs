//! A logistic model that predicts from which table a row is, fitted by Newton's method.

use super::joint::Joint;
use super::levels::Levels;
use super::propensity::Propensity;
use rayon::prelude::*;
use table::{Stop, Watch};

/// The number of parts of each table that are added up separately: the sums do not depend on the number of threads.
const PARTS: usize = 8;

/// The largest number of steps. If a variable separates the tables completely, its coefficient grows without end and
/// the predictions improve by a factor of e with each step.
const STEPS: usize = 30;

/// The model's rows, and the share of them that is released.
pub(super) struct PropensityModel<'a> {
    pub(super) joint: &'a Joint<'a>,
    pub(super) levels: &'a [Levels; 2],
    pub(super) variables: usize,
    pub(super) released_share: f64,
    pub(super) rows: f64,
}

/// Sums over rows for some coefficients.
struct Sums {
    likelihood: f64,
    squares: f64,
    gradient: Vec<f64>,
    /// The upper half, row by row, or nothing.
    information: Vec<f64>,
}

impl Sums {
    fn new(variables: usize, informed: bool) -> Self {
        Sums {
            likelihood: 0.0,
            squares: 0.0,
            gradient: vec![0.0; variables],
            information: vec![0.0; if informed { variables * variables } else { 0 }],
        }
    }

    /// Adds a row to the information.
    #[inline]
    fn inform(&mut self, variables: &[u32], curvature: f64) {
        self.information[0] += curvature;
        let n = self.gradient.len();
        for (i, &v) in variables.iter().enumerate() {
            let v = v as usize;
            self.information[v] += curvature;
            let line = &mut self.information[v * n..(v + 1) * n];
            variables[i..].iter().for_each(|&w| line[w as usize] += curvature);
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

    /// Subtracts a penalty for coefficients: large enough to make the fit unique where variables repeat each other,
    /// too small to be visible in it.
    fn penalise(&mut self, coefficients: &[f64], penalty: f64) {
        for (i, &coefficient) in coefficients.iter().enumerate().skip(1) {
            self.likelihood -= penalty * coefficient * coefficient / 2.0;
            self.gradient[i] -= penalty * coefficient;
            if let Some(diagonal) = self.information.get_mut(i * coefficients.len() + i) {
                *diagonal += penalty;
            }
        }
    }
}

impl PropensityModel<'_> {
    /// The number of bytes that a fit takes.
    pub(super) fn memory(variables: usize) -> u64 {
        (2 * PARTS + 2) as u64 * 8 * (variables as u64 + 1).pow(2)
    }

    /// Newton's method, where the information is reused as long as that converges quickly: between similar tables it
    /// hardly changes, and it is the expensive part.
    pub(super) fn fit(&self, watch: &Watch) -> Result<Propensity, Stop> {
        let c = self.released_share;
        let penalty = (1e-6 + 1e-12 * self.rows) * c * (1.0 - c);
        let evaluate = |coefficients: &[f64], informed| {
            let mut sums = self.sums(coefficients, informed, watch)?;
            sums.penalise(coefficients, penalty);
            Ok::<_, Stop>(sums)
        };
        let mut coefficients = vec![0.0; self.variables];
        coefficients[0] = (c / (1.0 - c)).ln();
        let mut sums = evaluate(&coefficients, true)?;
        let mut factor = std::mem::take(&mut sums.information);
        // Every row has the same weight now, so this is the rank of the variables themselves, without the intercept.
        let rank = factorise(&mut factor, self.variables, 4.0 * penalty) - 1;
        let expected = rank as f64 * c * (1.0 - c) / self.rows;
        let mut fit = Propensity { pmse: 0.0, expected, coefficients: rank };
        let mut gain = f64::INFINITY;
        watch.begin(STEPS as u64);
        let mut informed = false;
        for _ in 0..STEPS {
            let mut step = solved(&factor, &sums.gradient);
            let mut expected_gain = product(&step, &sums.gradient);
            if expected_gain > gain / 20.0 {
                if !informed {
                    informed = true;
                    sums = evaluate(&coefficients, informed)?;
                }
                factor = std::mem::take(&mut sums.information);
                factorise(&mut factor, self.variables, 0.0);
                step = solved(&factor, &sums.gradient);
                expected_gain = product(&step, &sums.gradient);
            }
            gain = expected_gain;
            let before = sums.likelihood;
            // A step that is too long is halved.
            for _ in 0..STEPS {
                let next: Vec<f64> = coefficients.iter().zip(&step).map(|(x, y)| x + y).collect();
                sums = evaluate(&next, informed)?;
                if sums.likelihood >= before - 1e-9 * before.abs() {
                    coefficients = next;
                    break;
                }
                step.iter_mut().for_each(|x| *x /= 2.0);
            }
            watch.advance(1);
            let pmse = sums.squares / self.rows;
            let change = (pmse - fit.pmse).abs();
            fit.pmse = pmse;
            // For very different tables four digits are enough.
            let precise = if pmse > 10.0 * expected { 1e-4 } else { 1e-5 };
            if change <= precise * pmse.max(expected) {
                break;
            }
        }
        Ok(fit)
    }

    /// The sums over all rows of both tables.
    fn sums(&self, coefficients: &[f64], informed: bool, watch: &Watch) -> Result<Sums, Stop> {
        let part = |part: usize| {
            let (rows, i) = (self.joint.sides()[part / PARTS].bag.distinct(), part % PARTS);
            let range = rows * i / PARTS..rows * (i + 1) / PARTS;
            self.part(part / PARTS, range, coefficients, informed, watch)
        };
        let parts: Result<Vec<Sums>, Stop> = (0..2 * PARTS).into_par_iter().map(part).collect();
        Ok(parts?.into_iter().fold(Sums::new(self.variables, informed), Sums::add))
    }

    /// The sums over some rows of the original (0) or the released table (1), with the information or
    /// without it.
    fn part(
        &self,
        table: usize,
        rows: std::ops::Range<usize>,
        coefficients: &[f64],
        informed: bool,
        watch: &Watch,
    ) -> Result<Sums, Stop> {
        let (side, levels) = (self.joint.sides()[table], &self.levels[table]);
        let mut sums = Sums::new(self.variables, informed);
        let mut variables = Vec::with_capacity(side.bag.width());
        // A row costs the square of the number of columns.
        let step = (1 << 20) / (1 + side.bag.width().pow(2)) + 1;
        for i in rows {
            watch.poll_every(step, i)?;
            levels.variables(side.bag.row(i), &mut variables);
            let weight = side.bag.weight(i) as f64;
            let odds =
                coefficients[0] + variables.iter().map(|&v| coefficients[v as usize]).sum::<f64>();
            // The probability of the table that the row is from: p or 1 - p.
            let own = 1.0 / (1.0 + if table == 1 { -odds } else { odds }.exp());
            let p = if table == 1 { own } else { 1.0 - own };
            sums.likelihood += weight * own.max(f64::MIN_POSITIVE).ln();
            sums.squares += weight * (p - self.released_share).powi(2);
            let residual = weight * (table as f64 - p);
            sums.gradient[0] += residual;
            variables.iter().for_each(|&v| sums.gradient[v as usize] += residual);
            let curvature = p * (1.0 - p);
            // Rows that the model predicts with certainty say nothing about the next step.
            if informed && curvature > 1e-9 * self.released_share {
                sums.inform(&variables, weight * curvature);
            }
        }
        Ok(sums)
    }
}

fn product(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// Turns the upper half of a symmetric positive definite matrix into U with U^T U = matrix, and returns the number of
/// rows that are not a combination of those before them: a row counts as a combination if at most `none` is left of
/// it.
fn factorise(matrix: &mut [f64], n: usize, none: f64) -> usize {
    let mut rank = 0;
    for i in 0..n {
        let whole = matrix[i * n + i];
        let pivot = whole - (0..i).map(|k| matrix[k * n + i].powi(2)).sum::<f64>();
        rank += usize::from(pivot > none + 1e-8 * whole);
        // At least what the penalty left of a repeated variable.
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
    rank
}

/// The solution of U^T U x = right.
fn solved(factor: &[f64], right: &[f64]) -> Vec<f64> {
    let n = right.len();
    let mut x = right.to_vec();
    for i in 0..n {
        x[i] /= factor[i * n + i];
        let known = x[i];
        x[i + 1..].iter_mut().zip(&factor[i * n + i + 1..]).for_each(|(x, u)| *x -= known * u);
    }
    for i in (0..n).rev() {
        let known = product(&factor[i * n + i + 1..(i + 1) * n], &x[i + 1..]);
        x[i] = (x[i] - known) / factor[i * n + i];
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_solved_and_its_rank_counted() {
        // A = B^T B for B = (2 1 0; 0 3 1; 0 0 1), x = (1, -2, 3).
        let mut matrix = [4.0, 2.0, 0.0, f64::NAN, 10.0, 3.0, f64::NAN, f64::NAN, 2.0];
        assert_eq!(factorise(&mut matrix, 3, 0.0), 3);
        let found = solved(&matrix, &[0.0, -9.0, 0.0]);
        for (found, expected) in found.iter().zip([1.0, -2.0, 3.0]) {
            assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
        }
        let mut twice = [4.0, 4.0, f64::NAN, 4.0 + 1e-9];
        assert_eq!(factorise(&mut twice, 2, 1e-8), 1);
        assert!((solved(&twice, &[4.0, 4.0]).iter().sum::<f64>() - 1.0).abs() < 1e-6);
    }
}
