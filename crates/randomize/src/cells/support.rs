//! Estimates supports of itemsets from randomised rows.

use super::Responses;
use table::{Bag, Item, Stop, Watch};

/// The contribution of a cell of a randomised row to the estimate for an item: its expectation over the coins is 1 if
/// the true cell has the item's value and 0 otherwise.
///
/// With p the probability to keep a value and q that of each other one, it is (1 - q) / (p - q) if the cell shows the
/// value and -q / (p - q) if it does not. Both are written so that nothing cancels at a small epsilon.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Factor {
    pub shown: f64,
    pub not_shown: f64,
    /// The expectation of its square, if the true cell has the value and if it has not.
    squares: [f64; 2],
}

impl Factor {
    /// The factor of a column with this number of values and this share of epsilon.
    pub fn new(size: u32, epsilon: f64) -> Self {
        if size <= 1 {
            return Factor { shown: 1.0, not_shown: 0.0, squares: [1.0, 0.0] };
        }
        let others = f64::from(size) - 1.0;
        let growth = epsilon.exp_m1();
        let (shown, not_shown) = (1.0 + others / growth, -1.0 / growth);
        // e^epsilon / (e^epsilon + d - 1), and 1 / (e^epsilon + d - 1).
        let keep = 1.0 / (1.0 + others * (-epsilon).exp());
        let other = 1.0 / (epsilon.exp() + others);
        let square = |p: f64| p * shown * shown + (1.0 - p) * not_shown * not_shown;
        Factor { shown, not_shown, squares: [square(keep), square(other)] }
    }

    #[inline]
    fn of(&self, is_shown: bool) -> f64 {
        if is_shown { self.shown } else { self.not_shown }
    }
}

/// The share of rows that contain an itemset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Unbiased, so it may be below 0 or above 1.
    pub support: f64,
    /// The standard deviation: from the spread of the rows, or exact for given true rows.
    pub stddev: f64,
    pub rows: u64,
}

/// The factors of all columns, for the law by which rows were randomised. In bags of such rows NULL is the item with
/// code [`table::NONE`].
#[derive(Debug, Clone)]
pub struct Factors {
    columns: Vec<Factor>,
}

impl From<&Responses> for Factors {
    fn from(responses: &Responses) -> Self {
        let factor = |column| {
            let response = responses.response(column);
            Factor::new(response.size(), response.epsilon())
        };
        Factors { columns: (0..responses.width()).map(factor).collect() }
    }
}

impl Factors {
    /// The factors of columns, in their order.
    pub fn new(columns: Vec<Factor>) -> Self {
        Factors { columns }
    }

    /// The factor of a column.
    pub fn column(&self, column: usize) -> &Factor {
        &self.columns[column]
    }

    /// The contribution of a randomised row to the estimate for an itemset: expectation 1 if the true row contains
    /// it, else 0.
    #[inline]
    pub fn product(&self, row: &[u32], items: &[Item]) -> f64 {
        let factor = |item: &Item| {
            let column = item.column as usize;
            self.columns[column].of(row[column] == item.code)
        };
        items.iter().map(factor).product()
    }

    /// The support of an itemset among the true rows, estimated from these randomised ones: the mean of their
    /// products, with the deviation by the sample variance of the products. NaN if there are no rows. Looks once at
    /// each distinct row.
    pub fn estimate(&self, bag: &Bag, items: &[Item], watch: &Watch) -> Result<Estimate, Stop> {
        let n = bag.row_count() as f64;
        let mut sum = 0.0;
        for (i, &weight) in bag.weights().iter().enumerate() {
            watch.poll(i)?;
            sum += weight as f64 * self.product(bag.row(i), items);
        }
        let mean = sum / n;
        let mut squares = 0.0;
        for (i, &weight) in bag.weights().iter().enumerate() {
            watch.poll(i)?;
            squares += weight as f64 * (self.product(bag.row(i), items) - mean).powi(2);
        }
        let stddev = (squares / (n - 1.0) / n).sqrt();
        Ok(Estimate { support: mean, stddev, rows: bag.row_count() })
    }

    /// The precision of [`Factors::estimate`] if these are the true rows: the true support, and the exact standard
    /// deviation over the coins, (1/n^2) (sum over rows of the products of E f^2, less 1 where the row contains the
    /// itemset).
    pub fn exact(&self, bag: &Bag, items: &[Item], watch: &Watch) -> Result<Estimate, Stop> {
        let n = bag.row_count() as f64;
        let (mut having, mut variance) = (0u64, 0.0);
        for (i, &weight) in bag.weights().iter().enumerate() {
            watch.poll(i)?;
            let row = bag.row(i);
            let has = |item: &Item| row[item.column as usize] == item.code;
            let square =
                |item: &Item| self.columns[item.column as usize].squares[usize::from(!has(item))];
            let all = items.iter().all(has);
            having += if all { weight } else { 0 };
            let squares: f64 = items.iter().map(square).product();
            variance += weight as f64 * (squares - f64::from(u8::from(all)));
        }
        let stddev = variance.max(0.0).sqrt() / n;
        Ok(Estimate { support: having as f64 / n, stddev, rows: bag.row_count() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::RandomisedColumn;
    use super::*;
    use table::NONE;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * b.abs().max(1e-3)
    }

    fn factors(epsilon_per_cell: f64, sizes: &[(u32, bool)]) -> (Responses, Factors) {
        let columns: Vec<RandomisedColumn> = sizes
            .iter()
            .map(|&(values, nullable)| RandomisedColumn { values, nullable, weight: 1.0 })
            .collect();
        let responses = Responses::new(epsilon_per_cell * sizes.len() as f64, &columns).unwrap();
        let factors = Factors::from(&responses);
        (responses, factors)
    }

    /// A bag whose codes are the numbers given; texts are their digits.
    fn coded(rows: &[[u32; 3]]) -> Bag {
        let all = [[0, 0, 0], [1, 1, 1], [0, 2, 2]];
        let text = |row: &[u32; 3]| row.map(|code| Some(code.to_string()));
        let bag = Bag::from_text(3, rows.iter().chain(&all).map(text));
        // The codes of all values are there; the rows that made them are removed.
        let mut builder = bag.builder();
        for row in rows {
            builder.add(row, 1);
        }
        builder.finish()
    }

    #[test]
    fn estimates_of_the_vectors() {
        // 000-prodest-0 and 000-prodest-2.
        let observed = [
            [0, 1, 2],
            [0, 1, 0],
            [1, 1, 2],
            [0, 0, 1],
            [1, 2, 2],
            [0, 1, 2],
            [1, 0, 0],
            [0, 2, 1],
        ];
        let bag = coded(&observed);
        let item = |column, code| Item { column, code };
        for (epsilon, items, estimate, variance) in [
            (1.0, vec![item(0, 0)], 0.770494176717332, 0.115084199275974),
            (2.0, vec![item(0, 0), item(1, 1), item(2, 2)], 0.445660759989441, 0.0500990122083496),
        ] {
            let (_, factors) = factors(epsilon, &[(2, false), (3, false), (3, false)]);
            let watch = Watch::unlimited();
            let found = factors.estimate(&bag, &items, &watch).unwrap();
            assert!(close(found.support, estimate), "{found:?}");
            assert_eq!(found.rows, 8);
            let exact = factors.exact(&bag, &items, &watch).unwrap();
            assert!(close(exact.stddev.powi(2), variance), "{exact:?}");
        }
    }

    #[test]
    fn binary_response_of_the_vectors() {
        // 000-rrest-0, 000-rrest-2, 000-rrest-4: z = (s + p - 1) / (2p - 1), variance p (1-p) / (n (2p-1)^2).
        for (epsilon, mean, n, z, variance) in [
            (0.1, 0.49, 1000.0, 0.299833361104499, 0.0999167083168047),
            (1.0, 0.35, 3200.0, 0.175406987939202, 0.000287710498189935),
            (0.1, 0.48, 3200.0, 0.099666722208998, 0.0312239713490015),
        ] {
            let factor = Factor::new(2, epsilon);
            assert!(close(mean * factor.shown + (1.0 - mean) * factor.not_shown, z));
            assert!(close((factor.squares[0] - 1.0) / n, variance));
            assert!(close(factor.squares[1] / n, variance));
        }
    }

    /// All outputs of three rows with two cells each, with their probabilities: the mean of the estimates is the true
    /// support, their variance is the exact one, and the mean of the estimated variances is that of an estimate whose
    /// rows are drawn again.
    #[test]
    fn estimates_are_unbiased_and_their_variance_is_known() {
        let sizes = [(2, false), (2, true), (1, false)];
        let (responses, factors) = factors(0.8, &sizes);
        let domain = [vec![0, 1], vec![0, 1, NONE], vec![0]];
        let truth = [[0, NONE, 0], [0, 1, 0], [1, NONE, 0]];
        let probability = |from: u32, to: u32, column: usize| {
            let response = responses.response(column);
            let keep = super::super::keep_probability(response.epsilon(), response.size());
            if from == to { keep } else { (1.0 - keep) / f64::from(response.size() - 1) }
        };
        let item = |column, code| Item { column, code };
        for items in [
            vec![item(0, 0)],
            vec![item(1, NONE)],
            vec![item(0, 0), item(1, NONE)],
            vec![item(0, 1), item(1, 0), item(2, 0)],
        ] {
            // One row: mean and square of its product.
            let moments: Vec<(f64, f64)> = truth
                .iter()
                .map(|row| {
                    let (mut mean, mut square) = (0.0, 0.0);
                    for &a in &domain[0] {
                        for &b in &domain[1] {
                            let p = probability(row[0], a, 0) * probability(row[1], b, 1);
                            let product = factors.product(&[a, b, 0], &items);
                            mean += p * product;
                            square += p * product * product;
                        }
                    }
                    (mean, square)
                })
                .collect();
            let has = |row: &[u32; 3]| items.iter().all(|i| row[i.column as usize] == i.code);
            for (row, (mean, _)) in truth.iter().zip(&moments) {
                assert!((mean - f64::from(u8::from(has(row)))).abs() < 1e-12);
            }
            let variance: f64 = moments.iter().map(|(mean, square)| square - mean * mean).sum();
            let text =
                |row: &[u32; 3]| row.map(|code| Some(code.to_string()).filter(|_| code != NONE));
            // Two rows beside the true ones give the domains all their codes.
            let bag = Bag::from_text(
                3,
                truth.iter().map(text).chain([[1, 0, 0], [0, 1, 0]].iter().map(text)),
            );
            let mut builder = bag.builder();
            for row in &truth {
                builder.add(row, 1);
            }
            let exact = factors.exact(&builder.finish(), &items, &Watch::unlimited()).unwrap();
            let having = truth.iter().filter(|row| has(row)).count() as f64;
            assert!(close(exact.support, having / 3.0));
            assert!(close(exact.stddev.powi(2), variance / 9.0), "{exact:?} {variance}");
        }
    }

    #[test]
    fn many_rows_give_the_spread_that_the_coins_make() {
        let (_, factors) = factors(0.5, &[(2, false), (2, false), (2, false)]);
        let rows: Vec<[u32; 3]> = (0..64).map(|i| [i & 1, i >> 1 & 1, i >> 2 & 1]).collect();
        let items = [Item { column: 0, code: 1 }];
        let found = factors.estimate(&coded(&rows), &items, &Watch::unlimited()).unwrap();
        // Half of the products are `shown`, half `not_shown`.
        let half = (factors.column(0).shown - factors.column(0).not_shown) / 2.0;
        assert!(close(found.support, 0.5));
        assert!(close(found.stddev, half / 63f64.sqrt()));
    }

    #[test]
    fn ends_of_epsilon() {
        assert_eq!(Factor::new(1, 0.1), Factor { shown: 1.0, not_shown: 0.0, squares: [1.0, 0.0] });
        let certain = Factor::new(5, 800.0);
        assert_eq!((certain.shown, certain.not_shown.abs()), (1.0, 0.0));
        let tiny = Factor::new(2, 1e-12);
        assert!(close(tiny.shown * 1e-12, 1.0) && close(tiny.not_shown * 1e-12, -1.0));
        let (_, factors) = factors(1.0, &[(2, false)]);
        let none = Bag::from_text(1, [[None::<&str>; 1]; 0]);
        let found = factors.estimate(&none, &[], &Watch::unlimited()).unwrap();
        assert!(found.support.is_nan() && found.stddev.is_nan());
    }
}
