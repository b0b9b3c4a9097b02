//! Combinations of k out of n: their number, and an enumeration.

/// `n` choose `k`, or the largest integer if that is larger.
pub(crate) fn combinations(n: usize, k: usize) -> u64 {
    if k > n {
        return 0;
    }
    let mut result = 1u128;
    for i in 0..k.min(n - k) as u128 {
        result = result * (n as u128 - i) / (i + 1);
        if result > u128::from(u64::MAX) {
            return u64::MAX;
        }
    }
    result as u64
}

/// The next combination of the same size in lexicographic order; false after the last.
pub(crate) fn advance(chosen: &mut [usize], n: usize) -> bool {
    let k = chosen.len();
    let Some(i) = (0..k).rev().find(|&i| chosen[i] < n - k + i) else { return false };
    chosen[i] += 1;
    for j in i + 1..k {
        chosen[j] = chosen[j - 1] + 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_are_counted_and_listed() {
        for n in 0..10usize {
            for k in 0..=n {
                let mut chosen: Vec<usize> = (0..k).collect();
                let mut listed = vec![chosen.clone()];
                while advance(&mut chosen, n) {
                    listed.push(chosen.clone());
                }
                assert_eq!(listed.len() as u64, combinations(n, k));
                assert!(listed.is_sorted_by(|a, b| a < b));
            }
        }
        assert_eq!(combinations(3, 4), 0);
        assert_eq!(combinations(64, 32), 1_832_624_140_942_590_534);
        assert_eq!(combinations(1600, 800), u64::MAX);
    }
}
