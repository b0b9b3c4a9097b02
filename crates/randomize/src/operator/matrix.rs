//! Operators and priors as matrices and vectors whose numbers were checked.

use super::amplification::check_probability;
use random::Error;

/// The tolerance for the sum of a row's, or of a prior's, probabilities.
const TOLERANCE: f64 = 1e-9;

/// The largest number of probabilities that an operator may have: 128 MB of them.
pub const MAX_CELLS: usize = 1 << 24;

/// The probabilities p\[x -> y\] of an operator: a row for each input, a column for each output.
#[derive(Debug, Clone, PartialEq)]
pub struct Operator {
    cells: Vec<f64>,
    outputs: usize,
}

impl Operator {
    /// An operator of its rows one after the other, with `outputs` numbers each.
    pub fn new(cells: Vec<f64>, outputs: usize) -> Result<Self, Error> {
        const NAME: &str = "operator";
        Error::require(
            (1..=MAX_CELLS).contains(&cells.len()),
            NAME,
            format_args!("a matrix of {} numbers", cells.len()),
            "it must have from 1 to 16777216 probabilities",
        )?;
        Error::require(
            outputs > 0 && cells.len().is_multiple_of(outputs),
            NAME,
            format_args!("{} numbers in rows of {outputs}", cells.len()),
            "every row must have as many numbers as there are outputs",
        )?;
        for (x, row) in cells.chunks_exact(outputs).enumerate() {
            check_probabilities(NAME, row, |y| format!("[{}][{}]", x + 1, y + 1))?;
            let total = sum(row.iter().copied());
            Error::require(
                (total - 1.0).abs() <= TOLERANCE,
                NAME,
                format_args!("a matrix whose row {} adds up to {total}", x + 1),
                "each row must add up to 1",
            )?;
        }
        Ok(Operator { cells, outputs })
    }

    /// Randomised response on `size` values: the value is kept with probability `keep`, else it is replaced by one of
    /// the other values, all equally likely. With one value there is nothing to choose.
    pub fn randomised_response(size: usize, keep: f64) -> Result<Self, Error> {
        check_probability("keep", keep)?;
        Error::require(size > 0, "domain_size", size, "there must be at least one value")?;
        check_values("domain_size", size, size as u64)?;
        let other = (1.0 - keep) / (size as f64 - 1.0);
        let mut cells = vec![if size == 1 { 1.0 } else { other }; size * size];
        if size > 1 {
            cells.iter_mut().step_by(size + 1).for_each(|cell| *cell = keep);
        }
        Ok(Operator { cells, outputs: size })
    }

    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        self.cells.len() / self.outputs
    }

    /// The number of outputs.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// The probabilities of all outputs of input `x`.
    pub fn row(&self, x: usize) -> &[f64] {
        &self.cells[x * self.outputs..(x + 1) * self.outputs]
    }

    /// [`Operator::row`] of every input.
    pub fn rows(&self) -> impl Iterator<Item = &[f64]> + Clone {
        self.cells.chunks_exact(self.outputs)
    }

    /// The probabilities of output `y` from all inputs.
    pub fn column(&self, y: usize) -> impl Iterator<Item = f64> + '_ {
        self.cells.iter().skip(y).step_by(self.outputs).copied()
    }

    /// All probabilities, row after row.
    pub fn cells(&self) -> &[f64] {
        &self.cells
    }

    /// The number of bytes that it holds.
    pub fn memory(&self) -> u64 {
        size_of_val(self.cells.as_slice()) as u64
    }

    /// The probability of each output if inputs have these probabilities.
    pub fn output_law(&self, inputs: &[f64]) -> Vec<f64> {
        let mut law = vec![0.0; self.outputs];
        for (&input, row) in inputs.iter().zip(self.rows()) {
            law.iter_mut().zip(row).for_each(|(sum, p)| *sum += input * p);
        }
        law
    }
}

/// The belief about inputs before an output is seen: a probability for each.
#[derive(Debug, Clone, PartialEq)]
pub struct Prior(Vec<f64>);

impl Prior {
    /// A prior for the inputs of `operator`.
    pub fn new(probabilities: Vec<f64>, operator: &Operator) -> Result<Self, Error> {
        const NAME: &str = "prior";
        Error::require(
            probabilities.len() == operator.inputs(),
            NAME,
            format_args!("an array of length {}", probabilities.len()),
            "the operator must have a row for each of its numbers",
        )?;
        check_probabilities(NAME, &probabilities, |x| format!("[{}]", x + 1))?;
        let total = sum(probabilities.iter().copied());
        Error::require(
            (total - 1.0).abs() <= TOLERANCE,
            NAME,
            format_args!("numbers that add up to {total}"),
            "they must add up to 1",
        )?;
        Ok(Prior(probabilities))
    }

    /// The probability of each input.
    pub fn probabilities(&self) -> &[f64] {
        &self.0
    }
}

/// Refuses more values than the matrix of an operator on them can have.
pub(super) fn check_values(
    name: &'static str,
    given: impl std::fmt::Display,
    size: u64,
) -> Result<(), Error> {
    const RANGE: &str = "a matrix of probabilities can have at most 4096 values";
    Error::require(u128::from(size).pow(2) <= MAX_CELLS as u128, name, given, RANGE)
}

/// Refuses numbers that are not probabilities; `place` names their position.
fn check_probabilities(
    name: &'static str,
    numbers: &[f64],
    place: impl Fn(usize) -> String,
) -> Result<(), Error> {
    let bad = |p: &f64| !(0.0..=1.0 + TOLERANCE).contains(p);
    match numbers.iter().position(bad) {
        None => Ok(()),
        Some(i) => Err(Error::argument(
            name,
            format_args!("an array with {} at {}", numbers[i], place(i)),
            "every number must be a probability: from 0 to 1",
        )),
    }
}

/// A sum that compensates for rounding (Neumaier).
pub(super) fn sum(numbers: impl Iterator<Item = f64>) -> f64 {
    let (sum, lost) = numbers.fold((0.0f64, 0.0), |(sum, lost), x| {
        let next = sum + x;
        let (larger, smaller) = if sum.abs() >= x.abs() { (sum, x) } else { (x, sum) };
        (next, lost + ((larger - next) + smaller))
    });
    sum + lost
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(error: Result<impl Sized, Error>) -> String {
        error.err().unwrap().to_string()
    }

    #[test]
    fn what_is_no_operator_is_refused_with_the_number() {
        let of = |cells: &[f64], outputs| message(Operator::new(cells.to_vec(), outputs));
        assert!(of(&[0.5, 0.5, 0.5, 0.4], 2).contains("row 2 adds up to 0.9"));
        assert!(of(&[0.5, 0.5, 0.5, 0.5 + 2e-9], 2).contains("row 2 adds up to 1.000000002"));
        assert!(of(&[1.5, -0.5], 2).contains("1.5 at [1][1]"));
        assert!(of(&[1.0, 0.0, f64::NAN, 1.0], 2).contains("NaN at [2][1]"));
        assert!(of(&[f64::INFINITY], 1).contains("inf at [1][1]"));
        assert!(of(&[], 0).contains("0 numbers"));
        assert!(of(&[1.0], 0).contains("rows of 0"));
        assert!(of(&[0.5, 0.5, 1.0], 2).contains("3 numbers in rows of 2"));
        assert!(of(&vec![0.0; MAX_CELLS + 1], 1).contains("16777217"));
        assert!(Operator::new(vec![0.5, 0.5 + 0.9e-9], 2).is_ok());
    }

    #[test]
    fn what_is_no_prior_is_refused_with_the_number() {
        let operator = Operator::new(vec![1.0, 1.0], 1).unwrap();
        let of = |prior: &[f64]| message(Prior::new(prior.to_vec(), &operator));
        assert!(of(&[1.0]).contains("prior is an array of length 1"));
        assert!(of(&[0.5, 0.6]).contains("add up to 1.1"));
        assert!(of(&[f64::NAN, 0.6]).contains("NaN at [1]"));
        assert!(of(&[-0.5, 1.5]).contains("-0.5 at [1]"));
        assert!(Prior::new(vec![1.0, 0.0], &operator).is_ok());
    }

    #[test]
    fn rows_and_columns() {
        let operator = Operator::new(vec![0.2, 0.8, 0.0, 0.5, 0.25, 0.25], 3).unwrap();
        assert_eq!((operator.inputs(), operator.outputs()), (2, 3));
        assert_eq!(operator.row(1), [0.5, 0.25, 0.25]);
        assert!(operator.column(2).eq([0.0, 0.25]));
        assert_eq!(operator.output_law(&[0.5, 0.5]), [0.35, 0.525, 0.125]);
    }

    #[test]
    fn randomised_response_keeps_or_moves() {
        let operator = Operator::randomised_response(3, 0.5).unwrap();
        assert_eq!(operator.cells(), [0.5, 0.25, 0.25, 0.25, 0.5, 0.25, 0.25, 0.25, 0.5]);
        assert_eq!(Operator::randomised_response(1, 0.3).unwrap().cells(), [1.0]);
        assert_eq!(Operator::randomised_response(2, 0.0).unwrap().cells(), [0.0, 1.0, 1.0, 0.0]);
        for (size, keep) in [(0, 0.5), (2, -0.1), (2, 1.1), (2, f64::NAN), (4097, 0.5)] {
            assert!(Operator::randomised_response(size, keep).is_err(), "{size} {keep}");
        }
        for size in [2, 7, 1001, 4096] {
            let made = Operator::randomised_response(size, 0.2).unwrap();
            assert!(Operator::new(made.cells, size).is_ok());
        }
    }
}
