//! Imputation: NULL cells of a released table get values again, from that table alone.
//!
//! Nothing but the released table is looked at, so whatever was guaranteed of it still is. The
//! values are guesses: the filled table is for tools that cannot take NULL, not for looking up people.

use std::collections::BTreeMap;
use table::{Bag, NONE, Stop, Watch};

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

/// A filled table: for each distinct row the copies that got the same values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filled {
    width: usize,
    pieces: Vec<(u32, u64)>,
    cells: Vec<u32>,
}

impl Filled {
    /// (distinct row, copies), ascending by row. No copy is lost.
    pub fn pieces(&self) -> &[(u32, u64)] {
        &self.pieces
    }

    /// The codes of piece number `piece`.
    pub fn row(&self, piece: usize) -> &[u32] {
        &self.cells[piece * self.width..][..self.width]
    }
}

/// Fills the NULL cells of `columns`; `below(n)` draws uniformly from `0..n`.
///
/// Every copy of a row draws for itself, each cell given the row's known cells. Conditional: of the
/// known cells, the rarest value first, as many are taken into the context as leave at least ten
/// rows with a value in the column; none if not even one does. A column without any value stays
/// NULL. Rows draw in the order of their codes, so equal tables and equal draws give equal results.
/// The work per incomplete row is at most that of reading the rows of its rarest value.
pub fn impute(
    bag: &Bag,
    columns: &[usize],
    method: Method,
    mut below: impl FnMut(u64) -> u64,
    watch: &Watch,
) -> Result<Filled, Stop> {
    let contexts = Contexts::new(bag, watch)?;
    let mut order: Vec<u32> = (0..bag.distinct() as u32).collect();
    table::sort_watched(&mut order, watch, |a, b| bag.row(a as usize).cmp(bag.row(b as usize)))?;
    let mut by_row: Vec<BTreeMap<Vec<u32>, u64>> = vec![BTreeMap::new(); bag.distinct()];
    watch.begin(bag.row_count());
    for row in order {
        watch.check()?;
        let codes = bag.row(row as usize);
        let missing = columns.iter().copied().filter(|&column| codes[column] == NONE);
        let draws: Vec<(usize, Draw)> = missing
            .map(|column| (column, contexts.draw(codes, column, method)))
            .filter(|(_, draw)| draw.total() > 0)
            .collect();
        let copies = &mut by_row[row as usize];
        if draws.is_empty() {
            copies.insert(codes.to_vec(), bag.weight(row as usize));
            continue;
        }
        for copy in 0..bag.weight(row as usize) {
            if copy % 4096 == 0 {
                watch.check()?;
            }
            let mut filled = codes.to_vec();
            for (column, draw) in &draws {
                filled[*column] = draw.value(below(draw.total()));
            }
            *copies.entry(filled).or_default() += 1;
        }
        watch.advance(bag.weight(row as usize));
    }
    let mut filled = Filled { width: bag.width(), ..Filled::default() };
    for (row, copies) in by_row.into_iter().enumerate() {
        for (codes, weight) in copies {
            filled.pieces.push((row as u32, weight));
            filled.cells.extend(codes);
        }
    }
    Ok(filled)
}

/// The values that a cell is drawn from: codes with the running sum of their rows.
struct Draw(Vec<(u32, u64)>);

impl Draw {
    fn total(&self) -> u64 {
        self.0.last().map_or(0, |&(_, sum)| sum)
    }

    /// The value of a number below the total.
    fn value(&self, number: u64) -> u32 {
        self.0[self.0.partition_point(|&(_, sum)| sum <= number)].0
    }
}

/// The rows of each value.
struct Contexts<'a> {
    bag: &'a Bag,
    supports: Vec<Vec<u64>>,
    rows: Vec<Vec<Vec<u32>>>,
}

impl<'a> Contexts<'a> {
    fn new(bag: &'a Bag, watch: &Watch) -> Result<Self, Stop> {
        watch.reserve((bag.distinct() * bag.width() * 8) as u64)?;
        let mut rows: Vec<Vec<Vec<u32>>> =
            bag.domains().iter().map(|domain| vec![Vec::new(); domain.len()]).collect();
        for row in 0..bag.distinct() {
            if row % 4096 == 0 {
                watch.check()?;
            }
            for (column, &code) in bag.row(row).iter().enumerate() {
                if code != NONE {
                    rows[column][code as usize].push(row as u32);
                }
            }
        }
        Ok(Contexts { bag, supports: bag.supports(), rows })
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
        let mut builder = bag.builder();
        for (piece, &(_, weight)) in filled.pieces().iter().enumerate() {
            builder.add(filled.row(piece), weight);
        }
        builder.finish()
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
        // Nine rows with the value "rare" are too few, so all rows decide.
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
            let filled = impute(&bag, &[0, 2], method, draws(), &Watch::unlimited()).unwrap();
            let again = impute(&bag, &[0, 2], method, draws(), &Watch::unlimited()).unwrap();
            prop_assert_eq!(&filled, &again);
            let mut copies = vec![0; bag.distinct()];
            for (piece, &(row, weight)) in filled.pieces().iter().enumerate() {
                copies[row as usize] += weight;
                for (column, (&now, &before)) in
                    filled.row(piece).iter().zip(bag.row(row as usize)).enumerate()
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
