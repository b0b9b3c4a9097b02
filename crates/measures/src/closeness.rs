//! t-closeness: how far a class's sensitive values are from those of the whole table.

use crate::classes::{Tally, position};
use table::{Bag, Domain, Stop, Units, Watch};

/// The largest distance of a class's distribution of the sensitive column from the table's
/// (Li et al., t-Closeness); `None` if the bag has no rows or no such column.
///
/// Unordered: every two values are at distance 1, so the distance of distributions is
/// `1/2 sum |p - q|`. Ordered: neighbours among the d values that occur are at distance
/// `1/(d-1)`, which gives `1/(d-1) sum |cumulative p - cumulative q|`, and 0 if d is 1. The order
/// is that of numbers if every value is one, else the C collation; NULL is a value of its own
/// and comes last.
///
/// With units each of them weighs the same: spread over its rows in the class for the distribution of a class, over all
/// of its rows for that of the table. A value occurs if a unit has it. A class of rows without units reveals nobody's
/// value, so that its distance is 0.
pub fn t_closeness(
    bag: &Bag,
    units: Option<&Units>,
    sensitive: usize,
    ordered: bool,
    watch: &Watch,
) -> Result<Option<f64>, Stop> {
    let Some(tally) = Tally::new(bag, units, sensitive, watch)? else { return Ok(None) };
    let domain = bag.domain(sensitive);
    // For each value its share in the table, its place in the order, and what is computed from both.
    let _held = watch.hold(domain.len() as u64 * 48)?;
    let totals = tally.shares(domain.len())?;
    // Positions of the values that occur, in order; the others do not count.
    let mut order: Vec<usize> = (0..totals.len()).filter(|&v| totals[v] > 0.0).collect();
    if ordered && let Some(numbers) = numbers(domain, &order) {
        order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
    }
    let mut place = vec![0; totals.len()];
    order.iter().enumerate().for_each(|(i, &v)| place[v] = i);
    let shares: Vec<f64> = order.iter().map(|&v| totals[v]).collect();

    let table = Shares::new(&shares);
    let mut largest: f64 = 0.0;
    let mut values: Vec<(usize, f64)> = Vec::new();
    let mut counter = tally.counter()?;
    for class in tally.classes() {
        watch.check()?;
        values.clear();
        let placed = |&(v, share): &(u32, f64)| (place[position(v, domain.len())], share);
        values.extend(counter.shares(class)?.iter().map(placed));
        if values.is_empty() {
            continue;
        }
        values.sort_unstable_by_key(|v| v.0);
        let distance = if ordered {
            table.ordered_distance(&values)
        } else {
            total_variation(&shares, &values)
        };
        largest = largest.max(distance);
    }
    Ok(Some(largest))
}

/// `1/2 sum |p - q|` of a class's shares p and the table's q, which is the sum of the positive `p - q`.
pub(crate) fn total_variation(table: &[f64], class: &[(usize, f64)]) -> f64 {
    class.iter().map(|&(v, p)| (p - table[v]).max(0.0)).sum()
}

/// The table's distribution, prepared for comparisons with many classes at the cost of each class's own values (a
/// column may have as many values as there are classes).
struct Shares<'a> {
    shares: &'a [f64],
    /// Cumulative shares: entry `v` is the share of the values up to `v`.
    cumulative: Vec<f64>,
    /// Sums of `cumulative`: entry `v` is the sum of the entries before `v`.
    sums: Vec<f64>,
}

impl<'a> Shares<'a> {
    fn new(shares: &'a [f64]) -> Self {
        let mut cumulative = Vec::with_capacity(shares.len());
        let mut sums = vec![0.0];
        let (mut share, mut sum) = (0.0, 0.0);
        for s in shares {
            share += s;
            sum += share;
            cumulative.push(share);
            sums.push(sum);
        }
        Shares { shares, cumulative, sums }
    }

    /// `1/(d-1) sum |cumulative p - cumulative q|`. Cumulative p is constant between two values of the class, so each
    /// stretch only needs the position where cumulative q crosses it.
    fn ordered_distance(&self, class: &[(usize, f64)]) -> f64 {
        let last = self.shares.len() - 1;
        let (mut sum, mut p, mut from) = (0.0, 0.0, 0);
        for &(to, share) in class.iter().chain([&(last, 0.0)]) {
            let to = to.min(last);
            let passes = from + self.cumulative[from..to].partition_point(|&q| q < p);
            sum += p * (passes - from) as f64 - (self.sums[passes] - self.sums[from]);
            sum += self.sums[to] - self.sums[passes] - p * (to - passes) as f64;
            p += share;
            from = to;
        }
        sum / (last as f64).max(1.0)
    }
}

/// The values that occur as numbers, by position (NULL's is last); `None` if one is not a number.
fn numbers(domain: &Domain, occurring: &[usize]) -> Option<Vec<f64>> {
    let mut numbers = vec![f64::INFINITY; domain.len() + 1];
    for &v in occurring.iter().filter(|&&v| v < domain.len()) {
        let text = std::str::from_utf8(domain.value(v as u32)).ok()?;
        numbers[v] = text.trim().parse().ok().filter(|n: &f64| n.is_finite())?;
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closeness(rows: &[(&str, &str)], ordered: bool) -> f64 {
        let bag =
            Bag::from_text(2, rows.iter().map(|&(a, b)| [Some(a), (b != "NULL").then_some(b)]));
        t_closeness(&bag, None, 1, ordered, &Watch::unlimited()).unwrap().unwrap()
    }

    /// Li et al.'s example: nine salaries, and classes {3, 4, 5} and {6, 8, 11} thousand.
    #[test]
    fn the_paper_of_closeness_gives_0_375_and_0_167() {
        let rows = |first: [&'static str; 3]| {
            (3..12).map(|v| v.to_string()).map(move |v| {
                let class = if first.contains(&v.as_str()) { "1" } else { "2" };
                [Some(class.to_string()), Some(v)]
            })
        };
        let distance = |first| {
            let bag = Bag::from_text(2, rows(first));
            t_closeness(&bag, None, 1, true, &Watch::unlimited()).unwrap().unwrap()
        };
        assert!((distance(["3", "4", "5"]) - 0.375).abs() < 1e-12);
        assert!((distance(["6", "8", "11"]) - 1.0 / 6.0).abs() < 1e-12);
    }

    #[test]
    fn unordered_distance_is_total_variation() {
        // Classes {x, x} and {x, y}; table: x 3/4.
        let rows = [("a", "x"), ("a", "x"), ("b", "x"), ("b", "y")];
        assert!((closeness(&rows, false) - 0.25).abs() < 1e-12);
        let one = [("a", "x"), ("b", "x")];
        assert_eq!((closeness(&one, false), closeness(&one, true)), (0.0, 0.0));
    }

    #[test]
    fn numbers_are_ordered_as_numbers_and_null_comes_last() {
        // As texts 10 < 9; as numbers the class {9} is next to the class {10}.
        let rows = [("a", "9"), ("b", "10"), ("c", "NULL")];
        // Order 9, 10, NULL: class a: |1 - 1/3| + |1 - 2/3| = 1, over 2.
        assert!((closeness(&rows, true) - 0.5).abs() < 1e-12);
        // With a value that is no number the order is 10, 9, x, NULL: the ends are farthest,
        // |1 - 1/4| + |1 - 2/4| + |1 - 3/4| = 1.5, over 3.
        let rows = [("a", "9"), ("b", "10"), ("c", "x"), ("d", "NULL")];
        assert!((closeness(&rows, true) - 0.5).abs() < 1e-12);
        let classes = [("a", "10"), ("a", "x"), ("b", "9"), ("b", "NULL")];
        // Class a: |1/2 - 1/4| + |1/2 - 2/4| + |1 - 3/4| = 1/2, over 3.
        assert!((closeness(&classes, true) - 0.5 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn distances_by_stretches_are_distances_by_values() {
        let shares = [0.1, 0.05, 0.2, 0.15, 0.3, 0.2];
        let table = Shares::new(&shares);
        for class in [&[(0, 1.0)][..], &[(5, 1.0)], &[(1, 0.25), (3, 0.5), (5, 0.25)]] {
            let dense = |v| class.iter().find(|c| c.0 == v).map_or(0.0, |c| c.1);
            let (mut sum, mut p, mut q) = (0.0, 0.0, 0.0);
            for (v, share) in shares.iter().enumerate().take(5) {
                p += dense(v);
                q += share;
                sum += f64::abs(p - q);
            }
            assert!((table.ordered_distance(class) - sum / 5.0).abs() < 1e-12);
        }
    }
}
