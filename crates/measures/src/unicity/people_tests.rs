//! Unicity of people by definition: every person, every row or set of rows, every choice, everybody who fits.

use super::known_rows::People;
use super::*;
use proptest::prelude::*;
use random::Coins;
use std::collections::{BTreeMap, BTreeSet};
use table::Stop;

type Cell = Option<String>;
type Row = ([Cell; 4], Option<u32>);

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let cell = || prop::option::weighted(0.7, "[a-c]");
    let row = ([cell(), cell(), cell(), cell()], prop::option::weighted(0.9, 0u32..8));
    prop::collection::vec(row, 0..25)
}

fn split<const W: usize>(rows: &[([Cell; W], Option<u32>)]) -> (Bag, Units) {
    let cells = rows.iter().map(|(cells, unit)| {
        cells.iter().cloned().chain([unit.map(|unit| format!("{unit:05}"))]).collect::<Vec<_>>()
    });
    Bag::from_text(W + 1, cells).split_units(&Watch::unlimited()).unwrap()
}

/// The rows of each person.
fn people(rows: &[Row]) -> BTreeMap<u32, Vec<&[Cell; 4]>> {
    let mut people: BTreeMap<u32, Vec<_>> = BTreeMap::new();
    for (cells, unit) in rows {
        if let Some(unit) = unit {
            people.entry(*unit).or_default().push(cells);
        }
    }
    people
}

/// Some of the columns that are not NULL, every choice of `known` of them.
fn choices(cells: &[Cell; 4], known: usize) -> Vec<u32> {
    let filled = (0..4).filter(|&c| cells[c].is_some());
    let filled: u32 = filled.map(|c| 1 << c).sum();
    let size = known.min(filled.count_ones() as usize);
    (0..16).filter(|choice| choice & !filled == 0 && choice.count_ones() as usize == size).collect()
}

fn cells_by_definition(rows: &[Row], known: usize, theta: usize) -> Option<f64> {
    let people = people(rows);
    let given = |cells: &[Cell; 4], choice: u32| {
        let fits = |row: &&[Cell; 4]| (0..4).all(|c| choice >> c & 1 == 0 || row[c] == cells[c]);
        people.values().filter(|rows| rows.iter().any(&fits)).count() <= theta
    };
    let of_row = |cells: &&[Cell; 4]| {
        let choices = choices(cells, known);
        choices.iter().filter(|&&choice| given(cells, choice)).count() as f64 / choices.len() as f64
    };
    let of_person =
        |rows: &Vec<&[Cell; 4]>| rows.iter().map(of_row).sum::<f64>() / rows.len() as f64;
    let all = people.len() as f64;
    (all > 0.0).then(|| people.values().map(of_person).sum::<f64>() / all)
}

fn rows_by_definition(rows: &[Row], known: usize, theta: usize) -> Option<f64> {
    let forms: Vec<BTreeSet<&[Cell; 4]>> =
        people(rows).into_values().map(|rows| rows.into_iter().collect()).collect();
    let of_person = |own: &BTreeSet<&[Cell; 4]>| {
        let own: Vec<_> = own.iter().collect();
        let sets = (0u32..1 << own.len()).filter(|set| set.count_ones() as usize == known);
        let given = |set: &u32| {
            let has = |other: &&BTreeSet<&[Cell; 4]>| {
                (0..own.len()).all(|i| set >> i & 1 == 0 || other.contains(*own[i]))
            };
            forms.iter().filter(has).count() <= theta
        };
        sets.clone().filter(given).count() as f64 / sets.count() as f64
    };
    let counted: Vec<f64> = forms.iter().filter(|own| own.len() >= known).map(of_person).collect();
    (!counted.is_empty()).then(|| counted.iter().sum::<f64>() / counted.len() as f64)
}

fn is_exactly(found: Option<Unicity>, expected: Option<f64>) -> bool {
    match (found, expected) {
        (None, None) => true,
        (Some(found), Some(expected)) => {
            (found.share - expected).abs() < 1e-12
                && (found.low, found.high) == (found.share, found.share)
        }
        _ => false,
    }
}

proptest! {
    #[test]
    fn known_cells_of_people(rows in rows(), known in 1usize..7, theta in 0usize..5) {
        let (bag, units) = split(&rows);
        let watch = Watch::unlimited();
        let none = |_| unreachable!("nothing is drawn");
        let found = unicity(&bag, Some(&units), known, theta as u64, 100, none, &watch).unwrap();
        let expected = cells_by_definition(&rows, known, theta);
        prop_assert!(is_exactly(found, expected), "{found:?} {expected:?}");
        prop_assert_eq!(watch.memory(), 0);
    }

    #[test]
    fn known_rows_of_people(rows in rows(), known in 1usize..5, theta in 0usize..5) {
        // Few different rows, so that people share sets of them.
        let few = |(cells, unit): &Row| ([cells[0].clone(), cells[1].clone(), None, None], *unit);
        for rows in [rows.iter().map(few).collect(), rows] {
            let (bag, units) = split(&rows);
            let watch = Watch::unlimited();
            let none = |_| unreachable!("nothing is drawn");
            let found = unicity_of_rows(&bag, &units, known, theta as u64, 100, none, &watch).unwrap();
            let expected = rows_by_definition(&rows, known, theta);
            prop_assert!(is_exactly(found, expected), "{found:?} {expected:?}");
            prop_assert_eq!(watch.memory(), 0);
        }
    }
}

/// People with 1 to 8 rows of few different ones.
fn many(rows: usize, seed: i64) -> Vec<Row> {
    let mut coins = Coins::seeded(seed);
    let mut cell =
        |n| Some(random::below(&mut coins, n)).filter(|v| v % 5 < 4).map(|v| v.to_string());
    let cells: Vec<_> = (0..rows).map(|_| [3, 4, 5, 9].map(&mut cell)).collect();
    let mut coins = Coins::seeded(seed + 1);
    let mut unit = || {
        let first = random::below(&mut coins, rows as u64 / 2);
        random::below(&mut coins, first + 1) as u32
    };
    cells.into_iter().map(|cells| (cells, Some(unit()).filter(|unit| unit % 17 > 0))).collect()
}

/// The mean of 200 times 300 draws is off by more than four standard deviations once in 15,000 times.
fn is_mean_of(exact: f64, sample: impl Fn(i64) -> Unicity) {
    let (mut sum, mut missed) = (0.0, 0);
    for seed in 0..200 {
        let found = sample(seed);
        sum += found.share;
        missed += u32::from(!(found.low..=found.high).contains(&exact));
    }
    let far = (sum / 200.0 - exact) / (exact * (1.0 - exact) / 60_000.0).sqrt();
    assert!(far.abs() < 4.0, "{far} standard deviations from {exact}");
    assert!(missed <= 21, "{missed} of 200 intervals miss {exact}");
    assert!((0.02..0.98).contains(&exact), "{exact}");
}

/// The least theta with which more than a fifth of the people are identified, and their share.
fn telling(share: impl Fn(u64) -> f64) -> (u64, f64) {
    (1..).map(|theta| (theta, share(theta))).find(|(_, share)| *share > 0.2).unwrap()
}

#[test]
fn draws_of_people_have_the_exact_share() {
    let (bag, units) = split(&many(1500, 1));
    let (units, watch) = (Some(&units), Watch::unlimited());
    for known in 1..4 {
        let exact = |theta| Count::new(&bag, units, known, theta, &watch).unwrap().share().unwrap();
        let (theta, exact) = telling(exact);
        is_mean_of(exact, |seed| {
            let mut coins = Coins::seeded(seed);
            let draw = |n| random::below(&mut coins, n);
            sampled_cells(&bag, units, known, theta, 300, draw, &watch).unwrap()
        });
    }
}

#[test]
fn draws_of_known_rows_have_the_exact_share() {
    let few = |(mut cells, unit): Row| {
        (cells[2], cells[3]) = (None, None);
        (cells, unit)
    };
    let (bag, units) = split(&many(1500, 2).into_iter().map(few).collect::<Vec<_>>());
    let watch = Watch::unlimited();
    for known in 1..4 {
        let people = |theta| People::new(&bag, &units, known, theta, &watch).unwrap();
        let (theta, exact) = telling(|theta| people(theta).counted(&watch).unwrap());
        is_mean_of(exact, |seed| {
            let mut coins = Coins::seeded(seed);
            people(theta).sampled(300, |n| random::below(&mut coins, n), &watch).unwrap()
        });
    }
}

#[test]
fn neither_the_order_of_rows_nor_threads_change_anything_about_people() {
    let mut rows = many(2000, 3);
    let found = |rows: &[Row], threads: usize| {
        let (bag, units) = split(rows);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let watch = Watch::unlimited();
        pool.install(|| {
            [1, 1000].map(|samples| {
                let mut coins = Coins::seeded(7);
                let below = |n| random::below(&mut coins, n);
                let cells = unicity(&bag, Some(&units), 3, 20, samples, below, &watch).unwrap();
                let mut coins = Coins::seeded(7);
                let below = |n| random::below(&mut coins, n);
                let rows = unicity_of_rows(&bag, &units, 2, 2, samples, below, &watch).unwrap();
                [cells.unwrap(), rows.unwrap()]
            })
        })
    };
    let first = found(&rows, 1);
    for (drawn, counted) in first[0].iter().zip(first[1]) {
        assert!(drawn.low < drawn.high && counted.low == counted.high, "{first:?}");
        assert!((0.01..0.999_9).contains(&counted.share), "{first:?}");
    }
    rows.reverse();
    assert_eq!(found(&rows, 3), first);
}

/// Two people who have the same three hundred rows, and one who has all but one of them.
#[test]
fn long_sets_are_counted_and_refused_within_the_budget() {
    let row = |i: u32, unit| ([Some(i.to_string()), None, None, None], Some(unit));
    let rows: Vec<Row> =
        (0..3).flat_map(|unit| (0..300 - unit / 2).map(move |i| row(i, unit))).collect();
    let (bag, units) = split(&rows);
    let none = |_| unreachable!("nothing is drawn");
    let measure = |known, theta, watch: &Watch| {
        let found = unicity_of_rows(&bag, &units, known, theta, 100, none, watch);
        found.map(|found| found.map(|found| found.share))
    };
    let watch = Watch::unlimited();
    assert_eq!(measure(300, 1, &watch), Ok(Some(0.0)));
    assert_eq!(measure(300, 2, &watch), Ok(Some(1.0)));
    // 299 of the 300 sets of the first two have the row that the third does not have.
    let share = measure(299, 2, &watch).unwrap().unwrap();
    assert!((share - 2.0 * 299.0 / 300.0 / 3.0).abs() < 1e-12, "{share}");
    assert_eq!(measure(301, 2, &watch), Ok(None));
    assert_eq!(watch.memory(), 0);
    let mut refused = 0;
    for limit in (0..200_000).step_by(4999) {
        match measure(299, 2, &Watch::new(limit, u64::MAX)) {
            Ok(found) => assert_eq!(found, Some(share)),
            Err(stop) => {
                assert_eq!(stop, Stop::Memory { limit });
                refused += 1;
            }
        }
    }
    assert!(refused > 0);
}
