//! Audit of exact answers (query monitoring, section 1.2 of Chirayath, Longpré, Kreinovich): what released sums over
//! sets of units reveal about the value of each unit.
//!
//! Units that are in the same sets cannot be distinguished, so they form a [`UnitClass`]. The unknowns are the totals
//! of the classes, each answer is a sum of some of them, and bounds of values bound them. The least and the largest
//! total are linear programs, which [`simplex`](simplex::Vertex) solves exactly, in rationals; from them follow the
//! bounds of a single unit. Values count as real numbers. For whole ones the ends are rounded inwards; an attacker
//! who knows that they are whole might find more.

mod simplex;
#[cfg(test)]
mod tests;

use crate::Rational;
use rayon::prelude::*;
use simplex::Vertex;
use table::{Stop, Watch};

/// The largest number of answers, and of unknowns in all of them together.
pub const MOST_ANSWERS: usize = 200;
pub const MOST_TERMS: usize = 50_000;

/// Units that are in the same answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitClass {
    /// For each answer, whether they are in it.
    pub is_in: Vec<bool>,
    pub members: u64,
    /// The sum of their values.
    pub total: Rational,
}

/// The public bounds of a value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bounds {
    pub low: Option<Rational>,
    pub high: Option<Rational>,
    pub is_whole: bool,
}

/// The bounds that follow for the value of a unit; `None` where there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    pub low: Option<Rational>,
    pub high: Option<Rational>,
}

impl Known {
    /// True if the value follows from the answers.
    pub fn is_determined(&self) -> bool {
        self.low.is_some() && self.low == self.high
    }
}

/// What the answers reveal about each unit of each class. Costs two linear programs for each class, on all threads.
pub fn audit(classes: &[UnitClass], bounds: &Bounds, watch: &Watch) -> Result<Vec<Known>, Stop> {
    let totals = match (&bounds.low, &bounds.high) {
        (None, None) => unbounded(classes, watch)?,
        _ => bounded(classes, bounds, watch)?,
    };
    Ok(classes.iter().zip(totals).map(|(class, total)| of_unit(class, total, bounds)).collect())
}

fn count(members: u64) -> Rational {
    Rational::from(dashu_int::IBig::from(members))
}

/// The matrix of the answers over the classes.
fn matrix(classes: &[UnitClass]) -> Vec<Vec<Rational>> {
    let answers = classes.first().map_or(0, |class| class.is_in.len());
    let row = |answer: usize| {
        classes.iter().map(|class| Rational::from(i64::from(class.is_in[answer]))).collect()
    };
    (0..answers).map(row).collect()
}

/// The totals that linear algebra alone determines: those in which no free unknown takes part.
fn unbounded(classes: &[UnitClass], watch: &Watch) -> Result<Vec<Known>, Stop> {
    let values = classes.iter().map(|class| class.total.clone()).collect();
    let solved = Vertex::reduced(matrix(classes), values, vec![None; classes.len()], watch)?;
    let known = |(c, class): (usize, &UnitClass)| {
        let end = solved.is_determined(c).then(|| class.total.clone());
        Known { low: end.clone(), high: end }
    };
    Ok(classes.iter().enumerate().map(known).collect())
}

/// The least and the largest total of each class. Totals are counted from the known bound, upwards from the low one
/// or downwards from the high one, so that 0 is the least.
fn bounded(classes: &[UnitClass], bounds: &Bounds, watch: &Watch) -> Result<Vec<Known>, Stop> {
    let from_low = bounds.low.is_some();
    let base = bounds.low.as_ref().or(bounds.high.as_ref()).cloned().unwrap_or_else(Rational::zero);
    let start = |class: &UnitClass| &count(class.members) * &base;
    let above = |class: &UnitClass| match from_low {
        true => &class.total - &start(class),
        false => &start(class) - &class.total,
    };
    let values: Vec<Rational> = classes.iter().map(above).collect();
    let room = bounds.low.as_ref().zip(bounds.high.as_ref()).map(|(low, high)| high - low);
    let limit = |class: &UnitClass| room.as_ref().map(|room| &count(class.members) * room);
    let limits: Vec<Option<Rational>> = classes.iter().map(limit).collect();
    let mut vertex = Vertex::reduced(matrix(classes), values, limits, watch)?;
    vertex.settle(watch)?;
    watch.begin(classes.len() as u64);
    let found = (0..classes.len()).into_par_iter().map(|c| {
        let most = vertex.clone().extreme(c, true, watch)?;
        // No value is below 0, so there is a least total.
        let least = vertex.clone().extreme(c, false, watch)?.unwrap_or_else(Rational::zero);
        watch.advance(1);
        let start = start(&classes[c]);
        Ok(match from_low {
            true => Known { low: Some(&start + &least), high: most.map(|most| &start + &most) },
            false => Known { low: most.map(|most| &start - &most), high: Some(&start - &least) },
        })
    });
    found.collect()
}

/// The bounds of one of the units of a total, if the others may be anything within their bounds.
fn of_unit(class: &UnitClass, total: Known, bounds: &Bounds) -> Known {
    let (low, high) = if class.members == 1 {
        (total.low, total.high)
    } else {
        let others = count(class.members - 1);
        let rest = |end: Option<Rational>, bound: &Option<Rational>| {
            end.zip(bound.as_ref()).map(|(end, bound)| &end - &(&others * bound))
        };
        let low = rest(total.low, &bounds.high).into_iter().chain(bounds.low.clone()).max();
        let high = rest(total.high, &bounds.low).into_iter().chain(bounds.high.clone()).min();
        (low, high)
    };
    match bounds.is_whole {
        true => Known {
            low: low.map(|low| Rational::from(low.ceil())),
            high: high.map(|high| Rational::from(high.floor())),
        },
        false => Known { low, high },
    }
}
