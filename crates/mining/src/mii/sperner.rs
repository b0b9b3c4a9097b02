//! The largest possible number of minimal infrequent itemsets of a table.

use dashu_int::UBig;

/// The largest number of columns for which [`bound`] is computed; its bound has about three thousand digits.
pub const BOUND_COLUMNS: u32 = 10_000;

/// The largest possible number of MIIs of a table with `rows` rows and `columns` columns, in
/// decimal: m · C(n, ⌊n/2⌋). `None` for more than [`BOUND_COLUMNS`] columns.
///
/// The MIIs that one row contains form an antichain of subsets of its n items, so by Sperner's
/// theorem there are at most C(n, ⌊n/2⌋) of them, and every MII occurs in some row.
pub fn bound(rows: u64, columns: u32) -> Option<String> {
    if columns > BOUND_COLUMNS {
        return None;
    }
    let mut product = UBig::from(rows);
    for i in 1..=columns / 2 {
        // After the division this is m * C(n, i), a whole number.
        product *= columns - i + 1;
        product /= i;
    }
    Some(product.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_bounds_are_binomial() {
        for (rows, columns, expected) in [(0, 5, "0"), (7, 0, "7"), (3, 1, "3"), (25, 6, "500")] {
            assert_eq!(bound(rows, columns).as_deref(), Some(expected));
        }
        assert_eq!(bound(u64::MAX, 2), Some((u128::from(u64::MAX) * 2).to_string()));
    }

    #[test]
    fn wide_tables_give_long_numbers() {
        // Pascal's triangle, row 200, in UBig.
        let mut row = vec![UBig::from(1u8)];
        for _ in 0..200 {
            let mut next = vec![UBig::from(1u8)];
            next.extend(row.windows(2).map(|w| &w[0] + &w[1]));
            next.push(UBig::from(1u8));
            row = next;
        }
        assert_eq!(bound(1, 200), Some(row[100].to_string()));
        assert_eq!(bound(1, BOUND_COLUMNS).map(|s| s.len()), Some(3009));
        assert_eq!(bound(1, BOUND_COLUMNS + 1), None);
    }
}
