//! Bounds the rows of units that own several: keeps a limited number of each unit's rows, and then fits.

use crate::{SynthesisModel, SynthesisRequest, fit};
use rand::Rng;
use random::{Coins, Error, Reservoirs};
use std::sync::Arc;
use table::{Bag, Domain, NONE, Recoding, Stop, Watch};

/// A bag whose last column is the unit, and the maps of its other columns to public codes.
pub struct UnitBag<'b> {
    pub bag: &'b Bag,
    pub recoding: &'b Recoding,
    pub domains: &'b [Arc<Domain>],
}

impl UnitBag<'_> {
    /// [`fit()`] to at most `request.rows_per_unit` rows of each unit. Costs `request.rho`, where neighbours differ
    /// in all rows of one unit, however many it has: the rows kept of other units do not depend on it.
    pub fn fit(
        &self,
        sizes: &[u32],
        request: &SynthesisRequest,
        coins: &mut Coins,
        watch: &Watch,
    ) -> Result<SynthesisModel, Error> {
        fit(&self.kept(request.rows_per_unit, coins, watch)?, sizes, request, coins, watch)
    }

    /// At most `most` rows of each unit, in public codes.
    fn kept<R: Rng + ?Sized>(&self, most: u64, rng: &mut R, watch: &Watch) -> Result<Bag, Stop> {
        let kept = keep_of_units(self.bag, most, rng, watch)?;
        self.bag.with_weights(&kept).recoded(self.recoding, self.domains.to_vec(), watch)
    }
}

/// The number of copies of each distinct row that are kept so that no unit has more than `most` rows. Of a unit all
/// rows are kept, or `most` of them with all choices equally likely. The unit is the bag's last column; rows without
/// a unit are not kept.
///
/// The choice for a unit depends on no other unit.
pub(crate) fn keep_of_units<R: Rng + ?Sized>(
    bag: &Bag,
    most: u64,
    rng: &mut R,
    watch: &Watch,
) -> Result<Vec<u64>, Stop> {
    let Some(last) = bag.width().checked_sub(1) else {
        return Ok(vec![0; bag.distinct()]);
    };
    let units = bag.domain(last).len();
    // The reservoirs, where each kept row comes from, and how many of it are kept.
    let places = bag.row_count().min(most.saturating_mul(units as u64));
    let _held = watch.hold(8 * (units + bag.distinct()) as u64 + 16 * places)?;
    let mut reservoirs = Reservoirs::of_units(units);
    let limit = u32::try_from(most).unwrap_or(u32::MAX);
    let mut rows: Vec<u32> = Vec::new();
    for i in 0..bag.distinct() {
        let unit = bag.row(i)[last];
        watch.poll(i)?;
        for copy in 0..if unit == NONE { 0 } else { bag.weight(i) } {
            watch.poll(copy as usize)?;
            match reservoirs.place(unit, limit, rng) {
                Some(place) if place == rows.len() => rows.push(i as u32),
                Some(place) => rows[place] = i as u32,
                None => {}
            }
        }
    }
    let mut kept = vec![0; bag.distinct()];
    rows.into_iter().for_each(|i| kept[i as usize] += 1);
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{Branches, Owned, OwnedRows};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const SIZES: [u32; 2] = [2, 3];

    type Law = BTreeMap<Vec<Owned>, f64>;

    /// Rows of three units, and rows without a unit: few enough to follow every choice.
    fn any_rows() -> impl Strategy<Value = Vec<Owned>> {
        let unit = prop::sample::select(vec![Some(0), Some(0), Some(1), Some(2), None]);
        let row = (0u32..2, 0u32..3, unit).prop_map(|(a, b, unit)| (vec![a, b], unit));
        let few = |rows: &Vec<Owned>| rows.iter().filter(|row| row.1 == Some(0)).count() <= 4;
        prop::collection::vec(row, 0..6).prop_filter("more choices than are followed", few)
    }

    /// The exact law of the rows that are kept.
    fn law(rows: &[Owned], most: u64) -> Law {
        let (table, watch, mut law) =
            (OwnedRows::new(&SIZES, rows), Watch::unlimited(), Law::new());
        let mut branches = Branches::default();
        while branches.next() {
            let kept = keep_of_units(&table.bag, most, &mut branches, &watch).unwrap();
            let copies = |(i, &copies): (usize, &u64)| vec![table.row(i); copies as usize];
            let mut found: Vec<Owned> = kept.iter().enumerate().flat_map(copies).collect();
            found.sort();
            *law.entry(found).or_default() += branches.chance();
        }
        law
    }

    /// The same law by its definition: for each unit, independently, a uniform choice of as many rows as may be kept.
    fn uniform(rows: &[Owned], most: u64) -> Law {
        let mut law = Law::from([(Vec::new(), 1.0)]);
        for unit in 0..3 {
            let own: Vec<&Owned> = rows.iter().filter(|row| row.1 == Some(unit)).collect();
            let size = own.len().min(most as usize) as u32;
            let choices: Vec<u32> =
                (0..1 << own.len()).filter(|set: &u32| set.count_ones() == size).collect();
            let mut next = Law::new();
            for (kept, chance) in &law {
                for choice in &choices {
                    let mut kept = kept.clone();
                    let chosen = own.iter().enumerate().filter(|(i, _)| choice >> i & 1 == 1);
                    kept.extend(chosen.map(|(_, &row)| row.clone()));
                    kept.sort();
                    *next.entry(kept).or_default() += chance / choices.len() as f64;
                }
            }
            law = next;
        }
        law
    }

    fn close(a: &Law, b: &Law) -> bool {
        a.keys().eq(b.keys()) && a.values().zip(b.values()).all(|(a, b)| (a - b).abs() < 1e-12)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        /// All choices of as many rows of a unit as may be kept are equally likely, and units are independent.
        #[test]
        fn what_is_kept_has_the_law_of_a_uniform_choice(rows in any_rows(), most in 0u64..4) {
            prop_assert!(close(&law(&rows, most), &uniform(&rows, most)));
        }

        /// A unit does not change what is kept of the others, however many rows it has.
        #[test]
        fn the_others_do_not_feel_a_unit(rows in any_rows(), most in 0u64..4) {
            let others: Vec<Owned> = rows.iter().filter(|row| row.1 != Some(0)).cloned().collect();
            let mut without = Law::new();
            for (mut kept, chance) in law(&rows, most) {
                let before = kept.len();
                kept.retain(|row| row.1 != Some(0));
                prop_assert!((before - kept.len()) as u64 <= most);
                *without.entry(kept).or_default() += chance;
            }
            prop_assert!(close(&without, &law(&others, most)));
        }
    }
}
