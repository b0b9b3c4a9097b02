//! Fitting and generating class by class.

use table::{Bag, NONE, Stop, Watch};

/// The rows of each class without the class column: by code of that column, [`NONE`] for NULL,
/// classes without rows left out. Domains stay those of the whole bag.
pub fn split(bag: &Bag, column: usize, watch: &Watch) -> Result<Vec<(u32, Bag)>, Stop> {
    let others: Vec<usize> = (0..bag.width()).filter(|&c| c != column).collect();
    let mut classes = Vec::new();
    for code in (0..bag.domain(column).len() as u32).chain([NONE]) {
        watch.check()?;
        let class = bag.filter(|row| row[column] == code);
        if class.row_count() > 0 {
            classes.push((code, class.project(&others, watch)?));
        }
    }
    Ok(classes)
}

/// Splits `n` in proportion to the sizes, by the largest remainders; the first of equal ones.
pub fn apportion(n: u64, sizes: &[u64]) -> Vec<u64> {
    let total: u128 = sizes.iter().map(|&size| u128::from(size)).sum();
    if total == 0 {
        return vec![0; sizes.len()];
    }
    let exact = |size: u64| u128::from(n) * u128::from(size);
    let mut shares: Vec<u64> = sizes.iter().map(|&size| (exact(size) / total) as u64).collect();
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(exact(sizes[i]) % total));
    let missing = n - shares.iter().sum::<u64>();
    order.into_iter().take(missing as usize).for_each(|i| shares[i] += 1);
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_the_rows_without_the_class() {
        let rows = [
            [Some("a"), Some("1")],
            [Some("b"), Some("1")],
            [Some("a"), None],
            [Some("a"), Some("1")],
        ];
        let bag = Bag::from_text(2, rows);
        let classes = split(&bag, 1, &Watch::unlimited()).unwrap();
        let size = |(code, bag): &(u32, Bag)| (*code, bag.width(), bag.distinct(), bag.row_count());
        let sizes: Vec<_> = classes.iter().map(size).collect();
        assert_eq!(sizes, [(0, 1, 2, 3), (NONE, 1, 1, 1)]);
    }

    #[test]
    fn shares_add_up() {
        assert_eq!(apportion(10, &[1, 1, 1]), [4, 3, 3]);
        assert_eq!(apportion(3, &[10, 0, 1]), [3, 0, 0]);
        assert!(apportion(7, &[]).is_empty());
        assert_eq!(apportion(7, &[0, 0]), [0, 0]);
        assert_eq!(apportion(u64::MAX, &[u64::MAX, u64::MAX]).iter().sum::<u64>(), u64::MAX);
    }
}
