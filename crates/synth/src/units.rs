//! At most so many rows of each unit.

use random::{Coins, below};
use table::{Bag, NONE, Stop, Watch};

/// How many copies of each distinct row are kept so that no unit has more than `most` rows: as many as
/// there are, or `most` of them, all choices equally likely. The unit is the bag's last column; rows without
/// one are not kept.
///
/// What becomes of a unit's rows depends on no other unit.
pub fn keep_of_units(
    bag: &Bag,
    most: u64,
    coins: &mut Coins,
    watch: &Watch,
) -> Result<Vec<u64>, Stop> {
    let Some(last) = bag.width().checked_sub(1) else {
        return Ok(vec![0; bag.distinct()]);
    };
    let units = bag.domain(last).len();
    let _held = watch.hold(16 * units as u64 + 8 * bag.distinct() as u64)?;
    // Rows of each unit that are yet to come, and of these those that are yet to be kept.
    let mut coming = vec![0; units];
    for i in 0..bag.distinct() {
        watch.poll(i)?;
        if let Some(unit) = coming.get_mut(bag.row(i)[last] as usize) {
            *unit += bag.weight(i);
        }
    }
    let mut missing: Vec<u64> = coming.iter().map(|&rows| rows.min(most)).collect();
    let mut kept = vec![0; bag.distinct()];
    for (i, kept) in kept.iter_mut().enumerate() {
        watch.poll(i)?;
        let unit = bag.row(i)[last];
        if unit == NONE {
            continue;
        }
        let (coming, missing) = (&mut coming[unit as usize], &mut missing[unit as usize]);
        for copy in 0..bag.weight(i) {
            watch.poll(copy as usize)?;
            if *missing == 0 {
                break;
            }
            // As many of the rest are to be kept as are missing, whichever.
            if below(coins, *coming) < *missing {
                *kept += 1;
                *missing -= 1;
            }
            *coming -= 1;
        }
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use random::testing::{assert_fits, uniform};

    fn bag() -> Bag {
        let rows = [("x", Some("a")), ("y", Some("a")), ("y", Some("a")), ("z", Some("b"))];
        let rows = rows.into_iter().chain([("x", None), ("z", Some("b"))]);
        Bag::from_text(2, rows.map(|(value, unit)| [Some(value), unit]))
    }

    #[test]
    fn no_unit_has_more_and_none_is_cut_without_need() {
        let (bag, watch) = (bag(), Watch::unlimited());
        for most in 0..4 {
            let kept = keep_of_units(&bag, most, &mut Coins::seeded(1), &watch).unwrap();
            // Of a: x once, y twice; of b: z twice; the row without a unit.
            assert_eq!(kept[0] + kept[1], most.min(3));
            assert_eq!((kept[2], kept[3]), (most.min(2), 0));
        }
    }

    #[test]
    fn every_choice_is_equally_likely() {
        let (bag, watch) = (bag(), Watch::unlimited());
        let mut coins = Coins::seeded(2);
        // Two of x, y, y: x and a y with probability 2/3.
        assert_fits(&[1.0 / 3.0, 2.0 / 3.0], 5000, || {
            keep_of_units(&bag, 2, &mut coins, &watch).unwrap()[0] as i64
        });
        let many = Bag::from_text(2, (0..6).map(|i| [Some(i.to_string()), Some("a".into())]));
        assert_fits(&uniform(6), 6000, || {
            let kept = keep_of_units(&many, 1, &mut coins, &watch).unwrap();
            kept.iter().position(|&copies| copies == 1).unwrap() as i64
        });
    }
}
