//! Orthogonal arrays of index 1 by Bush's construction: the tables with the most MIIs.
//!
//! In an orthogonal array with s levels, strength t and index 1, every choice of t columns shows
//! each of the s^t combinations of levels exactly once. A combination of l ≤ t values then has
//! support s^(t-l), so for s^i ≤ theta < s^(i+1) with i < t all MIIs have length t-i.

mod field;

use field::Field;
use std::fmt;

pub use field::MAX_ORDER as MAX_LEVELS;

/// The most rows an array may have.
pub const MAX_ROWS: u64 = i32::MAX as u64;

/// The reasons why there is no array with the given parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrthogonalError {
    /// The number of levels must be a power of a prime, at most [`MAX_LEVELS`].
    Levels(u32),
    /// The strength must be at least 1 and at most the columns and the levels.
    Strength { strength: u32, limit: u32 },
    /// The columns must be at most the levels + 1.
    Columns { columns: u32, limit: u32 },
    /// The array would have more than [`MAX_ROWS`] rows.
    Rows { levels: u32, strength: u32 },
}

impl fmt::Display for OrthogonalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OrthogonalError::Levels(levels) => {
                write!(f, "{levels} levels: not a power of a prime up to {MAX_LEVELS}")
            }
            OrthogonalError::Strength { strength, limit } => {
                write!(f, "strength {strength} is not between 1 and {limit}")
            }
            OrthogonalError::Columns { columns, limit } => {
                write!(f, "{columns} columns: more than levels + 1 = {limit}")
            }
            OrthogonalError::Rows { levels, strength } => {
                write!(f, "{levels}^{strength} rows: more than {MAX_ROWS}")
            }
        }
    }
}

impl std::error::Error for OrthogonalError {}

/// An orthogonal array, row by row in ascending order; only one row is held in memory.
///
/// Bush: the rows are the polynomials f of degree < t over GF(s), the columns f(0), …, f(s-1) and
/// then the coefficient of x^(t-1). A polynomial is determined by its values at 0, …, t-1, so
/// counting these t values up gives the rows in order, and every other column is a fixed linear
/// combination of them (Lagrange's interpolation).
pub struct OrthogonalArray {
    field: Field,
    levels: u32,
    /// The values at 0, …, t-1 of the next row's polynomial; `None` after the last row.
    next: Option<Vec<u32>>,
    /// For each column after the first t, the factors of the t values.
    factors: Vec<Vec<u32>>,
    rows: u64,
}

impl OrthogonalArray {
    /// The array OA(s^t, n, s, t) of index 1 with n columns, s levels and strength t.
    pub fn new(columns: u32, levels: u32, strength: u32) -> Result<Self, OrthogonalError> {
        let field = Field::new(levels).ok_or(OrthogonalError::Levels(levels))?;
        if columns > levels + 1 {
            return Err(OrthogonalError::Columns { columns, limit: levels + 1 });
        }
        let limit = columns.min(levels);
        if strength < 1 || strength > limit {
            return Err(OrthogonalError::Strength { strength, limit });
        }
        let rows = u64::from(levels)
            .checked_pow(strength)
            .filter(|&rows| rows <= MAX_ROWS)
            .ok_or(OrthogonalError::Rows { levels, strength })?;
        let factors = (strength..columns)
            .map(|column| {
                (0..strength).map(|j| factor(&field, levels, strength, column, j)).collect()
            })
            .collect();
        Ok(OrthogonalArray { field, levels, next: Some(vec![0; strength as usize]), factors, rows })
    }

    /// The number of rows of the whole array: levels to the power of strength.
    pub fn rows(&self) -> u64 {
        self.rows
    }
}

/// The factor of f(j) in `column`: Π (x - i) / (j - i) over i < t other than j for the column of
/// f(x), and Π 1 / (j - i) for the last column, which holds the leading coefficient.
fn factor(field: &Field, levels: u32, strength: u32, column: u32, j: u32) -> u32 {
    (0..strength).filter(|&i| i != j).fold(1, |product, i| {
        let above = if column == levels { 1 } else { field.subtract(column, i) };
        let below = field.subtract(j, i);
        field.multiply(product, field.multiply(above, field.invert(below)))
    })
}

impl Iterator for OrthogonalArray {
    type Item = Vec<u32>;

    fn next(&mut self) -> Option<Vec<u32>> {
        let values = self.next.as_mut()?;
        let mut row = values.clone();
        row.extend(self.factors.iter().map(|factors| {
            factors.iter().zip(&*values).fold(0, |sum, (&factor, &value)| {
                self.field.add(sum, self.field.multiply(factor, value))
            })
        }));
        match values.iter().rposition(|&value| value + 1 < self.levels) {
            Some(last) => {
                values[last] += 1;
                values[last + 1..].fill(0);
            }
            None => self.next = None,
        }
        Some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Every choice of t columns must show every combination once.
    fn assert_orthogonal(columns: u32, levels: u32, strength: u32) {
        let array = OrthogonalArray::new(columns, levels, strength).unwrap();
        let size = array.rows();
        let rows: Vec<Vec<u32>> = array.collect();
        assert_eq!(rows.len() as u64, size);
        assert!(rows.is_sorted());
        for mask in (0u32..1 << columns).filter(|m| m.count_ones() == strength) {
            let seen: HashSet<Vec<u32>> = rows
                .iter()
                .map(|r| {
                    (0..columns).filter(|c| mask >> c & 1 == 1).map(|c| r[c as usize]).collect()
                })
                .collect();
            assert_eq!(seen.len() as u64, size, "{columns} {levels} {strength} {mask:b}");
        }
    }

    #[test]
    fn arrays_are_orthogonal() {
        for levels in [2, 3, 4, 5, 7, 8, 9] {
            for columns in 1..=levels + 1 {
                for strength in 1..=columns.min(levels).min(3) {
                    assert_orthogonal(columns, levels, strength);
                }
            }
        }
    }

    #[test]
    fn bad_parameters_are_named() {
        let error = |c, l, s| OrthogonalArray::new(c, l, s).err();
        assert_eq!(error(3, 6, 2), Some(OrthogonalError::Levels(6)));
        assert_eq!(error(3, 0, 2), Some(OrthogonalError::Levels(0)));
        assert_eq!(error(3, 1, 2), Some(OrthogonalError::Levels(1)));
        assert_eq!(error(7, 5, 2), Some(OrthogonalError::Columns { columns: 7, limit: 6 }));
        assert_eq!(error(4, 5, 0), Some(OrthogonalError::Strength { strength: 0, limit: 4 }));
        assert_eq!(error(4, 5, 5), Some(OrthogonalError::Strength { strength: 5, limit: 4 }));
        assert_eq!(error(0, 5, 1), Some(OrthogonalError::Strength { strength: 1, limit: 0 }));
        assert_eq!(error(32, 31, 31), Some(OrthogonalError::Rows { levels: 31, strength: 31 }));
    }
}
