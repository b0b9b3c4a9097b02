//! Unicity by definition: every row, every choice of known cells, every row that contains them.

use super::sampling::ByWeight;
use super::*;
use proptest::prelude::*;
use random::Coins;

type Cell = Option<String>;

fn table() -> impl Strategy<Value = Vec<[Cell; 4]>> {
    let cell = || prop::option::weighted(0.7, "[a-c]");
    prop::collection::vec([cell(), cell(), cell(), cell()], 1..25)
}

/// Every row, every choice of its known cells, every row that it fits.
fn by_definition(rows: &[[Cell; 4]], known: usize, theta: u64) -> f64 {
    let mut sum = 0.0;
    for row in rows {
        let cells: Vec<usize> = (0..4).filter(|&c| row[c].is_some()).collect();
        let size = known.min(cells.len());
        let choices = (0u32..16).filter(|choice| {
            choice.count_ones() as usize == size
                && (0..4).all(|c| choice >> c & 1 == 0 || cells.contains(&c))
        });
        let given = |choice: &u32| {
            let fits =
                |other: &&[Cell; 4]| (0..4).all(|c| choice >> c & 1 == 0 || other[c] == row[c]);
            rows.iter().filter(fits).count() as u64 <= theta
        };
        let all = choices.clone().count() as f64;
        sum += choices.filter(given).count() as f64 / all;
    }
    sum / rows.len() as f64
}

proptest! {
    #[test]
    fn few_pairs_are_all_counted(rows in table(), known in 1usize..7, theta in 0u64..5) {
        let bag = Bag::from_text(4, rows.clone());
        let watch = Watch::unlimited();
        let none = |_| unreachable!("nothing is drawn");
        let found = unicity(&bag, None, known, theta, 100, none, &watch).unwrap().unwrap();
        let expected = by_definition(&rows, known, theta);
        prop_assert!((found.share - expected).abs() < 1e-12, "{} {expected}", found.share);
        prop_assert_eq!((found.low, found.high), (found.share, found.share));
        prop_assert_eq!(watch.memory(), 0);
    }

    /// Each draw agrees with the definition, given its row and its cells.
    #[test]
    fn each_draw_is_judged_as_defined(rows in table(), known in 1usize..7, theta in 0u64..5, seed: i64) {
        let bag = Bag::from_text(4, rows.clone());
        let watch = Watch::unlimited();
        let mut coins = Coins::seeded(seed);
        let draw_one = |n| random::below(&mut coins, n);
        let hits = sampled_cells(&bag, None, known, theta, 1, draw_one, &watch).unwrap().share as u64;
        let mut coins = Coins::seeded(seed);
        let rows_of = ByWeight::new(&bag, &watch).unwrap();
        let row = rows_of.row(random::below(&mut coins, bag.row_count()));
        let mut items = Vec::new();
        choose(Bag::row_items(bag.row(row)), known, &mut items, &mut |n| random::below(&mut coins, n));
        let cells = Bag::row_items(bag.row(row)).count();
        prop_assert_eq!(items.len(), known.min(cells));
        items.sort_unstable();
        items.dedup();
        prop_assert_eq!(items.len(), known.min(cells));
        let fits = |row: &usize| {
            items.iter().all(|item| bag.row(*row)[item.column as usize] == item.code)
        };
        prop_assert!(fits(&row));
        let support: u64 =
            (0..bag.distinct()).filter(fits).map(|row| bag.weight(row)).sum();
        prop_assert_eq!(hits, u64::from(support <= theta));
    }
}

/// Few choices of many columns are counted without visiting all sets of columns.
#[test]
fn wide_rows_are_counted_by_what_they_lack() {
    let mut coins = Coins::seeded(4);
    let mut cell = |i: usize, column: usize| {
        let value = random::below(&mut coins, 2);
        (i % 40 != column).then_some(value.to_string())
    };
    let mut rows: Vec<Vec<Cell>> =
        (0..150).map(|i| (0..40).map(|column| cell(i, column)).collect()).collect();
    rows.extend_from_within(..50);
    let bag = Bag::from_text(40, rows.clone());
    let found = Count::new(&bag, None, 38, 1, &Watch::unlimited()).unwrap().share().unwrap();
    let mut sum = 0.0;
    for row in &rows {
        let cells: Vec<usize> = (0..40).filter(|&column| row[column].is_some()).collect();
        let given = |lacks: &&usize| {
            let known = || cells.iter().filter(|column| column != lacks);
            rows.iter().filter(|other| known().all(|&c| other[c] == row[c])).count() <= 1
        };
        sum += cells.iter().filter(given).count() as f64 / cells.len() as f64;
    }
    assert!((found - sum / 200.0).abs() < 1e-12, "{found}");
}

/// A table of which every known set of two cells must be drawn equally often, rows by their weight.
#[test]
fn draws_follow_weights_and_choices() {
    let rows = [["a", "b", "c"], ["a", "b", "c"], ["a", "b", "c"], ["x", "y", "z"]];
    let bag = Bag::from_text(3, rows.map(|row| row.map(Some)));
    let watch = Watch::unlimited();
    let by_weight = ByWeight::new(&bag, &watch).unwrap();
    let mut coins = Coins::seeded(1);
    // Three choices of each of two rows, of probability 1/4 and 1/12.
    let draws = 60_000;
    let mut times = [[0.0f64; 3]; 2];
    for _ in 0..draws {
        let row = by_weight.row(random::below(&mut coins, 4));
        let mut items = Vec::new();
        choose(Bag::row_items(bag.row(row)), 2, &mut items, &mut |n| random::below(&mut coins, n));
        let absent = 3 - items[0].column - items[1].column;
        times[usize::from(bag.weight(row) == 1)][absent as usize] += 1.0;
    }
    let chi: f64 = times
        .iter()
        .zip([0.25, 1.0 / 12.0])
        .flat_map(|(row, p)| row.iter().map(move |n| (n, p * f64::from(draws))))
        .map(|(n, mean)| (n - mean).powi(2) / mean)
        .sum();
    // Five degrees of freedom: above 20.5 once in a thousand.
    assert!(chi < 20.5, "{chi}");
}

fn large(rows: usize, seed: i64) -> Vec<[Cell; 6]> {
    let mut coins = Coins::seeded(seed);
    let mut cell = |n| {
        let value = random::below(&mut coins, n);
        Some(value).filter(|&v| v + 1 < n || n < 4).map(|v| v.to_string())
    };
    (0..rows).map(|_| [2, 2, 3, 4, 9, 40].map(&mut cell)).collect()
}

#[test]
fn intervals_of_samples_hold_the_exact_share() {
    let bag = Bag::from_text(6, large(400, 1));
    let watch = Watch::unlimited();
    for (known, theta) in [(1, 3), (2, 1), (3, 2), (4, 1)] {
        let exact = Count::new(&bag, None, known, theta, &watch).unwrap().share().unwrap();
        let mut missed = 0;
        for seed in 0..200 {
            let mut coins = Coins::seeded(seed);
            let draw = |n| random::below(&mut coins, n);
            let found = sampled_cells(&bag, None, known, theta, 300, draw, &watch).unwrap();
            assert!((found.low..=found.high).contains(&found.share));
            missed += u32::from(!(found.low..=found.high).contains(&exact));
        }
        // At most 10 of 200 are expected to miss, more than 21 less than once in a thousand times.
        assert!(missed <= 21, "{known} known: {missed} of 200 intervals miss {exact}");
    }
}

/// At either end of the interval, what was seen or more beyond it has a probability of 2.5 %.
#[test]
fn intervals_miss_equally_rarely_on_both_sides() {
    let bag = Bag::from_text(6, large(400, 1));
    let mut coins = Coins::seeded(1);
    let draw = |n| random::below(&mut coins, n);
    let found = sampled_cells(&bag, None, 3, 2, 40, draw, &Watch::unlimited()).unwrap();
    let hits = (found.share * 40.0).round() as i32;
    assert!((5..35).contains(&hits));
    let probability =
        |x: i32, p: f64| combinations(40, x as usize) as f64 * p.powi(x) * (1.0 - p).powi(40 - x);
    let above: f64 = (hits..=40).map(|x| probability(x, found.low)).sum();
    let below: f64 = (0..=hits).map(|x| probability(x, found.high)).sum();
    assert!((above - 0.025).abs() < 1e-9 && (below - 0.025).abs() < 1e-9, "{above} {below}");
}

#[test]
fn neither_the_order_of_rows_nor_threads_change_anything() {
    let mut rows = large(3000, 2);
    let found = |rows: &[[Cell; 6]], threads: usize| {
        let bag = Bag::from_text(6, rows.iter().cloned());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut coins = Coins::seeded(7);
        let draw = |n| random::below(&mut coins, n);
        let watch = Watch::unlimited();
        pool.install(|| {
            let drawn = unicity(&bag, None, 3, 1, 20, draw, &watch).unwrap();
            let counted = unicity(&bag, None, 3, 1, 1000, |_| 0, &watch).unwrap();
            (drawn, counted)
        })
    };
    let first = found(&rows, 1);
    assert!(first.0.unwrap().low < first.1.unwrap().low);
    assert_eq!(first.1.unwrap().low, first.1.unwrap().high);
    rows.reverse();
    assert_eq!(found(&rows, 3), first);
}

#[test]
fn no_rows_have_no_unicity_and_rows_without_cells_are_all_alike() {
    let watch = Watch::unlimited();
    let none = |_| unreachable!("nothing is drawn");
    let empty = Bag::from_text(2, [[Some("a"); 2]; 0]);
    assert_eq!(unicity(&empty, None, 1, 1, 10, none, &watch).unwrap(), None);
    let blank = Bag::from_text(2, [[None::<&str>; 2]; 3]);
    for (theta, share) in [(2, 0.0), (3, 1.0)] {
        let found = unicity(&blank, None, 1, theta, 10, none, &watch).unwrap().unwrap();
        assert_eq!(found.share, share);
        assert_eq!(sampled_cells(&blank, None, 1, theta, 5, |_| 0, &watch).unwrap().share, share);
    }
}

#[test]
fn any_budget_gives_the_result_or_an_error() {
    let bag = Bag::from_text(6, large(300, 3));
    for samples in [2, 1000] {
        let measure = |watch: &Watch| {
            let mut coins = Coins::seeded(1);
            unicity(&bag, None, 3, 1, samples, |n| random::below(&mut coins, n), watch)
        };
        let whole = measure(&Watch::unlimited()).unwrap();
        let mut refused = 0;
        for limit in (0..400_000).step_by(3989) {
            match measure(&Watch::new(limit, u64::MAX)) {
                Ok(found) => assert_eq!(found, whole),
                Err(stop) => {
                    assert_eq!(stop, Stop::Memory { limit });
                    refused += 1;
                }
            }
        }
        assert!((1..100).contains(&refused), "{refused}");
        let watch = Watch::unlimited();
        watch.cancel();
        assert_eq!(measure(&watch), Err(Stop::Cancelled));
    }
}
