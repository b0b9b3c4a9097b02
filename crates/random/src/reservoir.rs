//! The law of bounding: at most a given number of rows per unit is kept, chosen at random.

use crate::below;
use rand::Rng;

/// No further row.
const END: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Unit {
    /// Rows seen.
    seen: u32,
    /// The place of the first row kept.
    first: u32,
}

/// The places of the rows that are kept while the rows of many units stream past: of each unit a uniformly
/// random set of at most `limit` rows.
///
/// Reservoir sampling (Vitter, Random Sampling with a Reservoir): row number j of a unit takes a random place
/// among the `limit` with probability `limit`/j. Which rows of a unit are kept depends on no other unit and not
/// on the order in which they come.
#[derive(Default)]
pub struct Reservoirs {
    units: Vec<Unit>,
    next: Vec<u32>,
}

impl Reservoirs {
    /// For this number of units, which have no rows yet.
    pub fn of_units(units: usize) -> Self {
        Reservoirs { units: vec![Unit { seen: 0, first: END }; units], next: Vec::new() }
    }

    /// Where the next row of a unit is kept: at a new place, the number of places so far, or at that of a row
    /// which is no longer kept; `None` if it is not kept. The unit after the last one is new.
    #[inline]
    pub fn place<R: Rng + ?Sized>(&mut self, unit: u32, limit: u32, rng: &mut R) -> Option<usize> {
        if unit as usize == self.units.len() {
            self.units.push(Unit { seen: 0, first: END });
        }
        let unit = &mut self.units[unit as usize];
        unit.seen = unit.seen.saturating_add(1);
        if unit.seen <= limit {
            let place = self.next.len();
            self.next.push(unit.first);
            unit.first = place as u32;
            return Some(place);
        }
        if limit == 0 {
            return None;
        }
        let earlier = below(rng, u64::from(unit.seen)) as u32;
        if earlier >= limit {
            return None;
        }
        let mut place = unit.first;
        for _ in 0..earlier {
            place = self.next[place as usize];
        }
        Some(place as usize)
    }

    /// Keeps a row at a new place that was chosen elsewhere: the only one of a new unit, or of no unit.
    pub fn keep(&mut self, is_of_unit: bool) {
        if is_of_unit {
            self.units.push(Unit { seen: 1, first: self.next.len() as u32 });
        }
        self.next.push(END);
    }

    /// How many units there are.
    pub fn units(&self) -> usize {
        self.units.len()
    }

    /// The places of the rows that are kept of each unit.
    pub fn each_unit(&self) -> impl Iterator<Item = impl Iterator<Item = usize>> {
        self.units.iter().map(move |unit| {
            let mut place = unit.first;
            std::iter::from_fn(move || {
                let this = place;
                (this != END).then(|| {
                    place = self.next[this as usize];
                    this as usize
                })
            })
        })
    }

    /// Bytes held.
    pub fn memory(&self) -> u64 {
        (self.units.capacity() * size_of::<Unit>() + self.next.capacity() * size_of::<u32>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Coins;
    use crate::testing::{assert_fits, uniform};

    /// The rows of two units that are kept if their rows come in turn, `rows` of each.
    fn kept(rows: usize, limit: u32, coins: &mut Coins) -> [Vec<usize>; 2] {
        let (mut reservoirs, mut kept) = (Reservoirs::default(), Vec::new());
        for row in 0..2 * rows {
            match reservoirs.place((row % 2) as u32, limit, coins) {
                Some(place) if place == kept.len() => kept.push(row / 2),
                Some(place) => kept[place] = row / 2,
                None => {}
            }
        }
        let mut units = reservoirs.each_unit().map(|places| {
            let mut rows: Vec<usize> = places.map(|place| kept[place]).collect();
            rows.sort_unstable();
            rows
        });
        [units.next().unwrap(), units.next().unwrap()]
    }

    #[test]
    fn every_pair_of_sets_of_rows_is_equally_likely() {
        let mut coins = Coins::seeded(1);
        let pairs: Vec<Vec<usize>> =
            (0..4).flat_map(|a| (a + 1..4).map(move |b| vec![a, b])).collect();
        assert_fits(&uniform(36), 40_000, || {
            let found = kept(4, 2, &mut coins)
                .map(|rows| pairs.iter().position(|pair| *pair == rows).unwrap());
            (6 * found[0] + found[1]) as i64
        });
    }

    #[test]
    fn few_rows_are_all_kept_and_none_where_none_may_be() {
        let mut coins = Coins::seeded(2);
        assert_eq!(kept(3, 3, &mut coins), [vec![0, 1, 2], vec![0, 1, 2]]);
        assert_eq!(kept(3, 0, &mut coins), [vec![], vec![]]);
    }
}
