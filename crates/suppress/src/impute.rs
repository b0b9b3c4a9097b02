//! Imputation: NULL cells of a released table get values again, from that table alone.
//!
//! Only the released table is used, so its guarantees still hold. The values are guesses: the filled table is for tools
//! that cannot handle NULL, not for statements about single people.

use std::collections::BTreeMap;
use table::{Bag, NONE, Release, Reservation, Stop, Watch, bits};

/// Rows that a context must have for its values to be drawn from.
const CONTEXT: u64 = 10;

/// Where the value of a NULL cell is drawn from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// From all values of its column.
    Marginal,
    /// From the values of its column in rows that share as much as possible with its row.
    Conditional,
}

impl table::Choice for Method {
    const NAMES: &'static [(&'static str, Self)] =
        &[("conditional", Method::Conditional), ("marginal", Method::Marginal)];
}

/// Fills the NULL cells of `columns`, which ascend; `below(n)` draws uniformly from `0..n`. All copies are kept.
///
/// Values are drawn for every copy of a row separately, each cell given the row's known cells. Conditional: of the
/// known cells, the rarest value first, as many are taken into the context as leave at least ten rows with a value in
/// the column; none if not even one does. A column without any value stays NULL. Rows draw in the order of their codes,
/// so equal tables and equal draws give equal results. The work per incomplete row is at most that of reading the rows
/// of its rarest value.
pub fn impute(
    bag: &Bag,
    columns: &[usize],
    method: Method,
    mut below: impl FnMut(u64) -> u64,
    watch: &Watch,
) -> Result<Release, Stop> {
    let contexts = Contexts::new(bag, watch)?;
    // The order, twice while it is sorted.
    let _order = watch.hold(bag.distinct() as u64 * 8)?;
    let mut order: Vec<u32> = (0..bag.distinct() as u32).collect();
    table::sort_watched(&mut order, watch, |a, b| bag.row(a as usize).cmp(bag.row(b as usize)))?;
    let mut release = Release::new(bag.width());
    let mut held = Reservation::new(watch);
    watch.begin(bag.row_count());
    for row in order {
        watch.check()?;
        held.raise(release.memory())?;
        let codes = bag.row(row as usize);
        let weight = bag.weight(row as usize);
        let missing = columns.iter().copied().filter(|&column| codes[column] == NONE);
        let draws: Vec<(usize, Draw)> = missing
            .map(|column| (column, contexts.draw(codes, column, method)))
            .filter(|(_, draw)| draw.total() > 0)
            .collect();
        let mut mask = vec![0; bits::words(bag.width())];
        draws.iter().for_each(|(column, _)| bits::insert(&mut mask, *column));
        if draws.is_empty() {
            release.push(row, &mask, weight);
            continue;
        }
        let mut copies: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
        for copy in 0..weight {
            watch.poll(copy as usize)?;
            let values = draws.iter().map(|(_, draw)| draw.value(below(draw.total())));
            *copies.entry(values.collect()).or_default() += 1;
        }
        for (values, weight) in copies {
            release.push_filled(row, &mask, &values, weight);
        }
        watch.advance(weight);
    }
    release.sort();
    Ok(release)
}

/// The values that a cell is drawn from: codes with the running sum of their rows.
struct Draw(Vec<(u32, u64)>);

impl Draw {
    fn total(&self) -> u64 {
        self.0.last().map_or(0, |&(_, sum)| sum)
    }

    /// The value for a number below the total.
    fn value(&self, number: u64) -> u32 {
        self.0[self.0.partition_point(|&(_, sum)| sum <= number)].0
    }
}

/// The rows of each value.
struct Contexts<'a> {
    bag: &'a Bag,
    supports: Vec<Vec<u64>>,
    rows: Vec<Vec<Vec<u32>>>,
    _held: Reservation<'a>,
}

impl<'a> Contexts<'a> {
    fn new(bag: &'a Bag, watch: &'a Watch) -> Result<Self, Stop> {
        // For each value its support and a list, which grows by doubling.
        let values: usize = bag.domains().iter().map(|domain| domain.len()).sum();
        let held = watch.hold((bag.distinct() * bag.width() * 8 + values * 48) as u64)?;
        let mut rows: Vec<Vec<Vec<u32>>> =
            bag.domains().iter().map(|domain| vec![Vec::new(); domain.len()]).collect();
        for row in 0..bag.distinct() {
            watch.poll(row)?;
            for (column, &code) in bag.row(row).iter().enumerate() {
                if code != NONE {
                    rows[column][code as usize].push(row as u32);
                }
            }
        }
        Ok(Contexts { bag, supports: bag.supports(), rows, _held: held })
    }

    fn draw(&self, codes: &[u32], column: usize, method: Method) -> Draw {
        let context = match method {
            Method::Marginal => None,
            Method::Conditional => self.context(codes, column),
        };
        let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
        match context {
            Some(rows) => rows.iter().for_each(|&row| {
                let code = self.bag.row(row as usize)[column];
                *counts.entry(code).or_default() += self.bag.weight(row as usize);
            }),
            None => counts.extend((0..).zip(self.supports[column].iter().copied())),
        }
        let mut sum = 0;
        let draw = counts.into_iter().filter(|&(_, rows)| rows > 0).map(|(code, rows)| {
            sum += rows;
            (code, sum)
        });
        Draw(draw.collect())
    }

    /// The rows with a value in `column` that share a maximal context with `codes`.
    fn context(&self, codes: &[u32], column: usize) -> Option<Vec<u32>> {
        let mut known: Vec<(u64, usize, u32)> = codes
            .iter()
            .enumerate()
            .filter(|&(c, &code)| c != column && code != NONE)
            .map(|(c, &code)| (self.supports[c][code as usize], c, code))
            .filter(|&(support, ..)| support >= CONTEXT)
            .collect();
        known.sort_unstable();
        let mut context: Option<Vec<u32>> = None;
        for (_, c, code) in known {
            let fits = |&row: &u32| {
                let codes = self.bag.row(row as usize);
                codes[c] == code && codes[column] != NONE
            };
            let from = context.as_deref().unwrap_or(&self.rows[c][code as usize]);
            let narrower: Vec<u32> = from.iter().copied().filter(fits).collect();
            let support: u64 = narrower.iter().map(|&row| self.bag.weight(row as usize)).sum();
            if support >= CONTEXT {
                context = Some(narrower);
            }
        }
        context
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Numbers that look random enough, the same every time.
    fn draws() -> impl FnMut(u64) -> u64 {
        let mut state = 1u64;
        move |n| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((u128::from(state >> 11) * u128::from(n)) >> 53) as u64
        }
    }

    fn fill(bag: &Bag, method: Method) -> Bag {
        let columns: Vec<usize> = (0..bag.width()).collect();
        let filled = impute(bag, &columns, method, draws(), &Watch::unlimited()).unwrap();
        filled.to_bag(bag, &Watch::unlimited()).unwrap()
    }

    #[test]
    fn what_the_context_determines_is_restored() {
        let complete = (0..100).map(|i| [Some(["a", "b"][i % 2]), Some(["x", "y"][i % 2])]);
        let holes = (0..20).map(|i| [Some(["a", "b"][i % 2]), None]);
        let filled = fill(&Bag::from_text(2, complete.chain(holes)), Method::Conditional);
        assert_eq!((filled.distinct(), filled.weights()), (2, &[60, 60][..]));
    }

    #[test]
    fn rare_contexts_are_left_for_wider_ones() {
        // Nine rows with the value "rare" are too few, so the value is drawn from all rows.
        let rare = (0..9).map(|_| [Some("rare"), Some("x")]);
        let others = (0..991).map(|_| [Some("common"), Some("y")]);
        let hole = [[Some("rare"), None]];
        let filled = fill(&Bag::from_text(2, rare.chain(others).chain(hole)), Method::Conditional);
        assert_eq!(filled.row_count(), 1001);
        assert_eq!(filled.distinct(), 3);
    }

    #[test]
    fn marginal_draws_follow_the_column() {
        let values = (0..400).map(|i| [Some(if i % 4 == 0 { "a" } else { "b" })]);
        let holes = (0..10_000).map(|_| [None]);
        let filled = fill(&Bag::from_text(1, values.chain(holes)), Method::Marginal);
        let a = filled.supports()[0][0] as f64 - 100.0;
        // 2500 expected, standard deviation 43.3.
        assert!((a - 2500.0).abs() < 5.0 * 43.3, "{a}");
    }

    #[test]
    fn a_column_without_values_stays_null() {
        let bag = Bag::from_text(2, [[Some("a"), None], [None, None]]);
        let filled = fill(&bag, Method::Conditional);
        assert_eq!((filled.distinct(), filled.row(0)), (1, &[0, NONE][..]));
    }

    proptest! {
        #[test]
        fn known_cells_and_rows_stay(
            rows in prop::collection::vec(prop::collection::vec(prop::option::of("[a-c]"), 3), 1..60),
            conditional: bool,
        ) {
            let bag = Bag::from_text(3, rows);
            let method = if conditional { Method::Conditional } else { Method::Marginal };
            let watch = Watch::unlimited();
            let filled = impute(&bag, &[0, 2], method, draws(), &watch).unwrap();
            prop_assert_eq!(watch.memory(), 0);
            let again = impute(&bag, &[0, 2], method, draws(), &Watch::unlimited()).unwrap();
            prop_assert_eq!(&filled, &again);
            let mut copies = vec![0; bag.distinct()];
            let mut cells = [NONE; 3];
            prop_assert!(filled.pieces().is_sorted_by_key(|piece| piece.row));
            for piece in filled.pieces() {
                copies[piece.row as usize] += piece.weight;
                filled.write(&bag, piece, &mut cells);
                for (column, (&now, &before)) in
                    cells.iter().zip(bag.row(piece.row as usize)).enumerate()
                {
                    if before != NONE || column == 1 {
                        prop_assert_eq!(now, before);
                    } else {
                        prop_assert_eq!(now == NONE, bag.domain(column).is_empty());
                    }
                }
            }
            prop_assert_eq!(copies.as_slice(), bag.weights());
        }
    }
}
