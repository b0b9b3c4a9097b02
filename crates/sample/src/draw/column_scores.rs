//! Scores of sets of columns, by which the exponential mechanism of `dp_select` chooses the columns to show.
//!
//! The score of a set is the number of cells that a sample with these columns is expected to show. The proof is in
//! `schemes.md`. It only needs that one more row raises each score by an amount between 0 and
//! [`ClassWorth::sensitivity`].

use crate::Rate;
use rand::Rng;
use random::{Error, Ratio, below, shuffle};
use rayon::prelude::*;
use table::{Bag, NONE, Reservation, Stop, Watch};

/// Columns, ascending.
pub(super) type Subset = Vec<u32>;

/// The largest number of columns of which all sets are tried; of more columns [`DRAWN`] sets are.
const ALL_UP_TO: usize = 16;
const DRAWN: usize = 1 << 13;

/// The number of sets that a thread scores one after the other, because they have a common prefix.
const CHUNK: usize = 64;

/// No table has classes of this size; the limit keeps the sums within 128 bits.
const LARGEST: u64 = 1 << 40;

/// The value of a class of equal rows: nothing up to `none` rows, all of its rows from `all` on, and in between a
/// share that grows linearly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClassWorth {
    none: u64,
    all: u64,
}

impl ClassWorth {
    /// Rows count if more than `theta` of them share a form: the published utility, with theta = k - 1.
    pub(crate) fn above(theta: u64) -> Self {
        let none = theta.min(LARGEST - 1);
        ClassWorth { none, all: none + 1 }
    }

    /// The limits lie around the size at which the sample of a class has k rows. At a standard deviation below or
    /// above that size, one in six or five in six of the classes are shown.
    pub(crate) fn of_sampling(k: u64, beta: Rate) -> Self {
        let (k, beta) = (k as f64, beta.get());
        let none = ((k - k.sqrt()) / beta).floor().max(k - 1.0) as u64;
        let all = ((k + k.sqrt()) / beta).ceil() as u64;
        let none = none.min(LARGEST - 1);
        ClassWorth { none, all: all.clamp(none + 1, LARGEST) }
    }

    /// The size up to which a class has no value.
    pub(crate) fn nothing(&self) -> u64 {
        self.none
    }

    /// The value of a class, in units of a row over `all - none`.
    fn of(&self, rows: u64) -> u128 {
        let slope = u128::from(self.all) * u128::from(rows.saturating_sub(self.none));
        slope.min(u128::from(rows) * u128::from(self.all - self.none))
    }

    /// The largest amount by which one more row raises the score of a set: each step of [`ClassWorth::of`] is at most
    /// `all`, and at most all columns are shown.
    fn sensitivity(&self, columns: usize) -> u128 {
        u128::from(self.all) * columns as u128
    }
}

/// The sets of columns to choose from, sorted: all but the empty one, or for many columns a number of sets drawn
/// without looking at the table. Every size is equally likely, and the set of all columns is always included.
pub(super) fn family<R: Rng + ?Sized>(columns: usize, rng: &mut R) -> Vec<Subset> {
    let mut sets: Vec<Subset> = if columns <= ALL_UP_TO {
        (1..1u32 << columns)
            .map(|set| (0..columns as u32).filter(|c| set >> c & 1 == 1).collect())
            .collect()
    } else {
        let all: Subset = (0..columns as u32).collect();
        let mut sets = vec![all.clone()];
        sets.extend((1..DRAWN).map(|_| {
            let mut set = all.clone();
            shuffle(rng, &mut set);
            set.truncate(below(rng, columns as u64) as usize + 1);
            set.sort_unstable();
            set
        }));
        sets
    };
    sets.sort_unstable();
    sets.dedup();
    sets
}

/// The score of each set of the family for this table, in cells over `all - none`.
pub(super) fn scores(
    bag: &Bag,
    family: &[Subset],
    worth: ClassWorth,
    watch: &Watch,
) -> Result<Vec<u128>, Stop> {
    let _held = watch.hold((bag.distinct() * bag.width() * 4) as u64)?;
    let codes: Vec<Vec<u32>> = (0..bag.width())
        .map(|column| (0..bag.distinct()).map(|row| bag.row(row)[column]).collect())
        .collect();
    watch.begin(family.len() as u64);
    let score = |chunk: &[Subset]| {
        let mut refiner = Refiner::new(bag, &codes, worth);
        // The classes of the columns so far; sets with a common prefix share them.
        let mut path: Vec<(u32, RowClasses)> = Vec::new();
        let mut held = Reservation::new(watch);
        let mut scores = Vec::with_capacity(chunk.len());
        for set in chunk {
            watch.check()?;
            let shared = path.iter().zip(set).take_while(|((known, _), column)| known == *column);
            let shared = shared.count();
            path.truncate(shared);
            for &column in &set[shared..] {
                let finer = match path.last() {
                    None => refiner.refine(&refiner.all(), column),
                    Some((_, classes)) => refiner.refine(classes, column),
                };
                path.push((column, finer));
            }
            held.raise(path.iter().map(|(_, classes)| classes.memory()).sum())?;
            scores.push(path.last().map_or(0, |(_, classes)| classes.score(worth)));
            watch.advance(1);
        }
        Ok(scores)
    };
    let scores: Vec<Vec<u128>> =
        family.par_chunks(CHUNK).map(score).collect::<Result<_, Stop>>()?;
    Ok(scores.concat())
}

/// How far each score is below the best, as the exponent of the exponential mechanism:
/// epsilon (best - score) / sensitivity, exactly.
pub(super) fn exponents(
    scores: &[u128],
    worth: ClassWorth,
    columns: usize,
    epsilon: f64,
) -> Result<Vec<Ratio>, Error> {
    let epsilon = Ratio::exact("epsilon", epsilon)?;
    let best = scores.iter().max().copied().unwrap_or(0);
    let unit = epsilon.over(worth.sensitivity(columns));
    let unit = unit.ok_or_else(|| Error::argument("columns", columns, "there must be one"))?;
    Ok(scores.iter().map(|score| unit.times(best - score)).collect())
}

/// Classes of rows that are equal in some columns. Classes without value are left out, because their parts have no
/// value either.
struct RowClasses {
    /// Distinct rows, class by class.
    rows: Vec<u32>,
    classes: Vec<RowClass>,
}

struct RowClass {
    /// The end of its rows.
    end: u32,
    /// The number of copies of its rows.
    weight: u64,
    /// The number of columns in which its rows have a value.
    values: u32,
}

impl RowClasses {
    fn score(&self, worth: ClassWorth) -> u128 {
        self.classes.iter().map(|class| worth.of(class.weight) * u128::from(class.values)).sum()
    }

    fn memory(&self) -> u64 {
        (self.rows.len() * 4 + self.classes.len() * size_of::<RowClass>()) as u64
    }
}

struct Refiner<'a> {
    bag: &'a Bag,
    codes: &'a [Vec<u32>],
    worth: ClassWorth,
    /// For each code of a column, and one more for NULL: copies and rows of the current class.
    slots: Vec<(u64, u32)>,
}

impl<'a> Refiner<'a> {
    fn new(bag: &'a Bag, codes: &'a [Vec<u32>], worth: ClassWorth) -> Self {
        let longest = bag.domains().iter().map(|domain| domain.len()).max().unwrap_or(0);
        Refiner { bag, codes, worth, slots: vec![(0, 0); longest + 1] }
    }

    /// All rows as one class.
    fn all(&self) -> RowClasses {
        let end = self.bag.distinct() as u32;
        let class = RowClass { end, weight: self.bag.row_count(), values: 0 };
        RowClasses { rows: (0..end).collect(), classes: vec![class] }
    }

    /// Splits the classes by one more column.
    fn refine(&mut self, classes: &RowClasses, column: u32) -> RowClasses {
        let codes = &self.codes[column as usize];
        let null = self.bag.domain(column as usize).len();
        let slot = |row: u32| match codes[row as usize] {
            NONE => null,
            code => code as usize,
        };
        let mut finer = RowClasses { rows: Vec::new(), classes: Vec::new() };
        let (mut begin, mut seen) = (0, Vec::new());
        for class in &classes.classes {
            let rows = &classes.rows[begin..class.end as usize];
            begin = class.end as usize;
            for &row in rows {
                let (weight, count) = &mut self.slots[slot(row)];
                if *count == 0 {
                    seen.push(slot(row));
                }
                *weight += self.bag.weight(row as usize);
                *count += 1;
            }
            let mut end = finer.rows.len() as u32;
            for &slot in &seen {
                let (weight, count) = self.slots[slot];
                // From here on a slot holds the position of its next row, or nothing.
                self.slots[slot] = (0, u32::MAX);
                if weight > self.worth.none {
                    self.slots[slot].1 = end;
                    end += count;
                    let values = class.values + u32::from(slot != null);
                    finer.classes.push(RowClass { end, weight, values });
                }
            }
            finer.rows.resize(end as usize, 0);
            for &row in rows {
                let place = &mut self.slots[slot(row)].1;
                if *place != u32::MAX {
                    finer.rows[*place as usize] = row;
                    *place += 1;
                }
            }
            seen.drain(..).for_each(|slot| self.slots[slot] = (0, 0));
        }
        finer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use random::Coins;
    use std::collections::BTreeMap;

    type Row = Vec<Option<String>>;

    fn rows() -> impl Strategy<Value = Vec<Row>> {
        let row = prop::collection::vec(prop::option::weighted(0.85, "[a-c]"), 3);
        prop::collection::vec(row, 0..14)
    }

    fn worths() -> impl Strategy<Value = ClassWorth> {
        (0u64..5, 1u64..4).prop_map(|(none, more)| ClassWorth { none, all: none + more })
    }

    fn scored(rows: &[Row], worth: ClassWorth) -> Vec<u128> {
        let family = family(3, &mut Coins::seeded(1));
        scores(&Bag::from_text(3, rows.iter().cloned()), &family, worth, &Watch::unlimited())
            .unwrap()
    }

    proptest! {
        #[test]
        fn scores_are_those_of_the_definition(rows in rows(), worth in worths()) {
            let found = scored(&rows, worth);
            for (set, found) in family(3, &mut Coins::seeded(1)).iter().zip(found) {
                let mut classes: BTreeMap<Vec<&Option<String>>, u64> = BTreeMap::new();
                for row in &rows {
                    *classes.entry(set.iter().map(|&c| &row[c as usize]).collect()).or_default() += 1;
                }
                let expected: f64 = classes
                    .iter()
                    .map(|(form, &n)| {
                        let share = (n as f64 - worth.none as f64) / (worth.all - worth.none) as f64;
                        let rows = if n >= worth.all { n as f64 } else { share.max(0.0) * worth.all as f64 };
                        rows * form.iter().filter(|cell| cell.is_some()).count() as f64
                    })
                    .sum();
                let unit = (worth.all - worth.none) as f64;
                prop_assert!((found as f64 / unit - expected).abs() < 1e-9, "{:?}", set);
            }
        }

        #[test]
        fn one_more_row_raises_no_score_beyond_the_sensitivity(
            rows in rows(), row in prop::collection::vec(prop::option::weighted(0.85, "[a-c]"), 3),
            worth in worths(),
        ) {
            let mut more = rows.clone();
            more.push(row);
            let pairs = scored(&rows, worth).into_iter().zip(scored(&more, worth));
            for (without, with) in pairs {
                prop_assert!(with >= without && with - without <= worth.sensitivity(3));
            }
        }
    }

    #[test]
    fn the_sensitivity_is_reached() {
        for worth in [ClassWorth::above(4), ClassWorth { none: 3, all: 6 }] {
            let row: Row = vec![Some("a".into()); 3];
            let score = |n| *scored(&vec![row.clone(); n], worth).iter().max().unwrap();
            assert_eq!(score(5) - score(4), worth.sensitivity(3));
        }
        // The published utility: a class that gets its k-th row adds k rows.
        assert_eq!(ClassWorth::above(4), ClassWorth { none: 4, all: 5 });
    }

    #[test]
    fn worth_by_sampling_lies_around_k_over_beta() {
        let rate = |beta| Rate::at_most(beta).unwrap();
        let worth = ClassWorth::of_sampling(25, rate(0.1));
        assert!((199..=201).contains(&worth.none) && (300..=301).contains(&worth.all), "{worth:?}");
        assert!(ClassWorth::of_sampling(2, rate(1.0)).none >= 1);
        let extreme = ClassWorth::of_sampling(u64::from(u32::MAX), Rate::new(1).unwrap());
        assert!(extreme.none < extreme.all && extreme.all <= LARGEST);
    }

    #[test]
    fn families_are_complete_or_drawn() {
        let mut coins = Coins::seeded(1);
        assert_eq!(family(3, &mut coins).len(), 7);
        assert_eq!(family(1, &mut coins), [[0]]);
        assert_eq!(family(16, &mut coins).len(), 65535);
        let drawn = family(70, &mut coins);
        assert!(drawn.len() > 7000 && drawn.len() <= DRAWN);
        assert!(drawn.contains(&(0..70).collect()));
        assert!(drawn.iter().all(|set| set.is_sorted() && !set.is_empty()));
        assert!(drawn.is_sorted());
    }

    #[test]
    fn exponents_are_exact() {
        let found = exponents(&[0, 6, 12], ClassWorth { none: 1, all: 3 }, 2, 0.5).unwrap();
        let ratio = |n: u64, d: u64| Ratio::new(n, d).unwrap();
        assert_eq!(found, [ratio(1, 1), ratio(1, 2), ratio(0, 1)]);
    }

    #[test]
    fn a_cancelled_scoring_stops() {
        let bag = Bag::from_text(1, [[Some("a")]]);
        let watch = Watch::unlimited();
        watch.cancel();
        let family = family(1, &mut Coins::seeded(1));
        assert_eq!(scores(&bag, &family, ClassWorth::above(0), &watch), Err(Stop::Cancelled));
    }
}
