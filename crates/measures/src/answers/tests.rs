//! Audits compared with an elimination of all other unknowns (Fourier and Motzkin), unit by unit.

use super::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn rational(n: i64) -> Rational {
    Rational::from(n)
}

/// Units with their values, the answers that each is in.
type Units = Vec<(i64, Vec<bool>)>;

fn classes(units: &Units) -> (Vec<UnitClass>, Vec<usize>) {
    let mut numbers = BTreeMap::new();
    let mut classes: Vec<UnitClass> = Vec::new();
    let mut class_of = Vec::new();
    for (value, is_in) in units {
        let class = *numbers.entry(is_in.clone()).or_insert(classes.len());
        if class == classes.len() {
            classes.push(UnitClass { is_in: is_in.clone(), members: 0, total: Rational::zero() });
        }
        classes[class].members += 1;
        classes[class].total = &classes[class].total + &rational(*value);
        class_of.push(class);
    }
    (classes, class_of)
}

fn audited(units: &Units, bounds: &Bounds) -> Vec<Known> {
    let (classes, class_of) = classes(units);
    let known = audit(&classes, bounds, &Watch::unlimited()).unwrap();
    class_of.into_iter().map(|class| known[class].clone()).collect()
}

/// The bounds of unknown `kept` under constraints Σ a x <= b, by eliminating all others one after the other.
fn eliminated(mut constraints: BTreeSet<(Vec<Rational>, Rational)>, kept: usize) -> Known {
    let unknowns = constraints.first().map_or(0, |first| first.0.len());
    for out in (0..unknowns).filter(|&out| out != kept) {
        let (mut above, mut below, mut next) = (Vec::new(), Vec::new(), BTreeSet::new());
        for (row, end) in constraints {
            match row[out].sign() {
                std::cmp::Ordering::Equal => {
                    next.insert((row, end));
                }
                sign => {
                    // Scaled so that the unknown has 1 or -1.
                    let size = if sign.is_lt() { -row[out].clone() } else { row[out].clone() };
                    let scaled = |x: &Rational| x.divide(&size).unwrap();
                    let one = (row.iter().map(scaled).collect::<Vec<_>>(), scaled(&end));
                    if sign.is_gt() { above.push(one) } else { below.push(one) }
                }
            }
        }
        for (a, a_end) in &above {
            for (b, b_end) in &below {
                let row: Vec<Rational> = a.iter().zip(b).map(|(a, b)| a + b).collect();
                next.insert((row, a_end + b_end));
            }
        }
        constraints = next;
    }
    let mut known = Known { low: None, high: None };
    for (row, end) in constraints {
        if let Some(at) = end.divide(&row[kept]) {
            if row[kept].sign().is_gt() {
                known.high = known.high.into_iter().chain([at]).min();
            } else {
                known.low = known.low.into_iter().chain([at]).max();
            }
        }
    }
    known
}

fn constraints(units: &Units, bounds: &Bounds) -> BTreeSet<(Vec<Rational>, Rational)> {
    let negated = |row: &[Rational]| row.iter().map(|x| -x.clone()).collect::<Vec<_>>();
    let mut constraints = BTreeSet::new();
    for answer in 0..units[0].1.len() {
        let row: Vec<Rational> =
            units.iter().map(|unit| rational(i64::from(unit.1[answer]))).collect();
        let sum = rational(units.iter().filter(|unit| unit.1[answer]).map(|unit| unit.0).sum());
        constraints.insert((negated(&row), -sum.clone()));
        constraints.insert((row, sum));
    }
    for i in 0..units.len() {
        let row: Vec<Rational> = (0..units.len()).map(|j| rational(i64::from(i == j))).collect();
        if let Some(low) = &bounds.low {
            constraints.insert((negated(&row), -low.clone()));
        }
        if let Some(high) = &bounds.high {
            constraints.insert((row, high.clone()));
        }
    }
    constraints
}

fn cases() -> impl Strategy<Value = (Units, Bounds)> {
    let units = (1..5usize, 1..4usize).prop_flat_map(|(units, answers)| {
        prop::collection::vec((0..4i64, prop::collection::vec(any::<bool>(), answers)), units)
    });
    (units, any::<bool>(), any::<bool>()).prop_map(|(units, low, high)| {
        let bounds = Bounds {
            low: low.then(|| rational(0)),
            high: high.then(|| rational(3)),
            is_whole: false,
        };
        (units, bounds)
    })
}

proptest! {
    #[test]
    fn what_follows_is_what_elimination_leaves((units, bounds) in cases()) {
        let found = audited(&units, &bounds);
        for (i, known) in found.iter().enumerate() {
            let expected = eliminated(constraints(&units, &bounds), i);
            prop_assert_eq!(known, &expected, "unit {}", i);
            let value = rational(units[i].0);
            prop_assert!(known.low.as_ref().is_none_or(|low| *low <= value));
            prop_assert!(known.high.as_ref().is_none_or(|high| *high >= value));
        }
    }
}

fn unit(value: i64, is_in: &str) -> (i64, Vec<bool>) {
    (value, is_in.chars().map(|c| c == '1').collect())
}

#[test]
fn a_tracker_finds_one_value() {
    // All units, and all units but one.
    let units = vec![unit(50, "11"), unit(60, "11"), unit(70, "10")];
    let found = audited(&units, &Bounds::default());
    assert!(found[2].is_determined() && found[2].low == Some(rational(70)));
    assert!(!found[0].is_determined() && found[0].low.is_none());
}

#[test]
fn bounds_tell_more() {
    let bounds = Bounds { low: Some(rational(0)), high: Some(rational(100)), is_whole: false };
    let near_the_end = audited(&vec![unit(99, "1"), unit(100, "1")], &bounds);
    assert_eq!(near_the_end[0].low, Some(rational(99)));
    let at_the_end = audited(&vec![unit(0, "1"), unit(0, "1"), unit(7, "0")], &bounds);
    assert!(at_the_end[0].is_determined() && at_the_end[1].is_determined());
    assert_eq!(at_the_end[2], Known { low: bounds.low.clone(), high: bounds.high.clone() });
}

#[test]
fn whole_values_are_rounded_inwards() {
    // Each pair sums up to 1 over half: reals leave 0..1, a third of three leaves no whole number between.
    let bounds = Bounds { low: Some(rational(0)), high: None, is_whole: true };
    let units = vec![unit(0, "1"), unit(1, "1")];
    let found = audited(&units, &bounds);
    assert_eq!(found[0], Known { low: Some(rational(0)), high: Some(rational(1)) });
}

#[test]
fn only_an_upper_bound() {
    let bounds = Bounds { low: None, high: Some(rational(10)), is_whole: false };
    let found = audited(&vec![unit(4, "1"), unit(9, "1")], &bounds);
    assert_eq!(found[0], Known { low: Some(rational(3)), high: Some(rational(10)) });
}

#[test]
fn without_units_nothing_follows() {
    assert_eq!(audit(&[], &Bounds::default(), &Watch::unlimited()), Ok(Vec::new()));
}
