//! Inverts small matrices.

/// The inverse of a square matrix, by Gauss and Jordan with pivots of largest size; `None` if a pivot is 0.
pub fn inverse(matrix: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let n = matrix.len();
    let mut left: Vec<Vec<f64>> = matrix.to_vec();
    let mut right: Vec<Vec<f64>> =
        (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for column in 0..n {
        let pivot =
            (column..n).max_by(|&a, &b| left[a][column].abs().total_cmp(&left[b][column].abs()))?;
        if !left[pivot][column].is_normal() {
            return None;
        }
        left.swap(column, pivot);
        right.swap(column, pivot);
        let divisor = left[column][column];
        for x in left[column].iter_mut().chain(right[column].iter_mut()) {
            *x /= divisor;
        }
        let (pivot_left, pivot_right) = (left[column].clone(), right[column].clone());
        for row in (0..n).filter(|&row| row != column) {
            let factor = left[row][column];
            for (x, y) in left[row].iter_mut().zip(&pivot_left) {
                *x -= factor * y;
            }
            for (x, y) in right[row].iter_mut().zip(&pivot_right) {
                *x -= factor * y;
            }
        }
    }
    Some(right)
}

/// The largest sum of a column's absolute values, a norm of the matrix.
pub fn norm(matrix: &[Vec<f64>]) -> f64 {
    let width = matrix.first().map_or(0, Vec::len);
    let sum = |column: usize| matrix.iter().map(|row| row[column].abs()).sum::<f64>();
    (0..width).map(sum).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn singular_matrices_have_no_inverse() {
        assert_eq!(inverse(&[vec![1.0, 2.0], vec![2.0, 4.0]]), None);
        assert_eq!(inverse(&[vec![0.0]]), None);
        assert_eq!(norm(&[vec![1.0, -3.0], vec![-1.5, 1.0]]), 4.0);
    }

    proptest! {
        #[test]
        fn the_inverse_inverts(cells in proptest::collection::vec(-1f64..1.0, 16)) {
            let matrix: Vec<Vec<f64>> = cells.chunks(4).map(<[f64]>::to_vec).collect();
            let Some(inverse) = inverse(&matrix) else { return Ok(()) };
            let tolerance = 1e-13 * norm(&matrix) * norm(&inverse);
            for (i, row) in inverse.iter().enumerate() {
                let cell = |j: usize| row.iter().zip(&matrix).map(|(x, other)| x * other[j]).sum::<f64>();
                for j in 0..4 {
                    prop_assert!((cell(j) - f64::from(u8::from(i == j))).abs() <= tolerance.max(1e-12));
                }
            }
        }
    }
}
