//! The paper's numbers, and the statements on random operators.

use super::*;
use proptest::prelude::*;
use randomize::operator::{NumberOperator, Operator, Prior, posterior};
use table::Watch;

fn of(operator: &Operator, prior: Vec<f64>) -> Information {
    let prior = Prior::new(prior, operator).unwrap();
    information(operator, &prior, &Watch::unlimited()).unwrap()
}

fn assert_close(found: f64, expected: f64) {
    let equal = found == expected || (found / expected - 1.0).abs() < 1e-12;
    assert!(equal, "{found} {expected}");
}

#[test]
fn table_2_of_the_paper() {
    let prior = || (0..=1000).map(|x| if x == 0 { 0.01 } else { 0.00099 }).collect();
    let number = |mix| NumberOperator::new(0, 1000, 100, mix).unwrap().matrix().unwrap();
    let r1 = of(&Operator::randomised_response(1001, 0.2).unwrap(), prior());
    assert_close(r1.mutual, 1.2711153516195144); // 002-table2-R1
    assert_close(r1.worst_case, 3.902922164612413);
    assert_close(r1.inverse_worst_case, 1.7235691935883066);
    let r2 = of(&number(0.0), prior());
    assert_close(r2.mutual, 2.3159435430735598); // 002-table2-R2
    assert_close(r2.worst_case, 2.3292321631782733);
    assert_eq!(r2.inverse_worst_case, f64::INFINITY);
    // The third column is printed with two digits only.
    let r3 = of(&number(0.5), prior());
    let printed =
        [r3.mutual, r3.worst_case, r3.inverse_worst_case].map(|bits| format!("{bits:.2}"));
    assert_eq!(printed, ["0.55", "0.55", "0.49"]);
}

#[test]
fn example_2_of_the_paper() {
    // 002-example2
    let r1 = Operator::new(vec![0.6, 0.4, 0.4, 0.6], 2).unwrap();
    let r2 = Operator::new(vec![9.9e-05, 1e-06, 0.9999, 1e-06, 9.9e-05, 0.9999], 3).unwrap();
    let (first, second) = (of(&r1, vec![0.5; 2]), of(&r2, vec![0.5; 2]));
    assert_close(first.mutual, 0.02904940554533136);
    assert_close(first.inverse_worst_case, 0.02944684452678426);
    assert!((second.mutual / 9.192068641040889e-05 - 1.0).abs() < 1e-9);
    assert_close(second.worst_case, 0.9192068641040888);
    assert_close(second.inverse_worst_case, 2.32917787973492);
}

#[test]
fn vectors_of_statement_6() {
    assert_close(breach_information(0.01, 0.5).unwrap(), 2.32917787973492); // 002-stmt6-0
    assert_close(breach_information(0.05, 0.6).unwrap(), 1.6518064950552593); // 002-stmt6-2
    assert!(breach_information(0.5, 0.5).is_err());
}

#[test]
fn certain_inputs_and_impossible_outputs_count_for_nothing() {
    let operator = Operator::new(vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0], 3).unwrap();
    let certain = of(&operator, vec![1.0, 0.0]);
    assert_eq!(certain, Information { mutual: 0.0, worst_case: 0.0, inverse_worst_case: 0.0 });
    let open = of(&operator, vec![0.25, 0.75]);
    assert_close(open.mutual, 0.25 * 2.0 + 0.75 * (4.0f64 / 3.0).log2());
    assert_eq!((open.worst_case, open.inverse_worst_case), (2.0, f64::INFINITY));
}

#[test]
fn bounds_by_hand() {
    let of = |worst, inverse, prior| information_breach_bound(worst, inverse, prior).unwrap();
    let bound = of(breach_information(0.01, 0.5).unwrap(), f64::INFINITY, 0.01);
    assert!((bound.high - 0.5).abs() < 1e-9 && bound.low == 0.0);
    // Down from 0.5 to 0.01 reveals as much of the prior as up from 0.01 to 0.5 of the posterior.
    let bound = of(f64::INFINITY, breach_information(0.01, 0.5).unwrap(), 0.5);
    assert!((bound.low - 0.01).abs() < 1e-9 && bound.high == 1.0);
    assert!((bound.tight_high - 0.99).abs() < 1e-9);
    for (prior, bits) in [(0.0, 1.0), (1.0, 1.0), (0.3, 0.0)] {
        let bound = of(bits, bits, prior);
        for end in [bound.low, bound.high, bound.tight_low, bound.tight_high] {
            assert!((end - prior).abs() < 1e-6, "{prior} {bits}: {end}");
        }
    }
    for (worst, inverse, prior) in
        [(-1.0, 1.0, 0.5), (1.0, f64::NAN, 0.5), (1.0, 1.0, 1.5), (1.0, 1.0, f64::NAN)]
    {
        assert!(information_breach_bound(worst, inverse, prior).is_err());
    }
}

proptest! {
    /// On any operator and prior: the measures by their definitions, and no property beyond the bounds.
    #[test]
    fn no_property_passes_the_bounds(
        (inputs, weights, prior) in (2usize..6).prop_flat_map(|inputs| (
            Just(inputs),
            prop::collection::vec(0u32..9, inputs * 3),
            prop::collection::vec(0u32..9, inputs),
        )),
    ) {
        let total = |weights: &[u32]| f64::from(weights.iter().sum::<u32>());
        prop_assume!(total(&prior) > 0.0 && weights.chunks(3).all(|row| total(row) > 0.0));
        let share = |weights: &[u32]| weights.iter().map(|&w| f64::from(w) / total(weights)).collect::<Vec<_>>();
        let operator = Operator::new(weights.chunks(3).flat_map(share).collect(), 3).unwrap();
        let before = share(&prior);
        let found = of(&operator, before.clone());
        let known = Prior::new(before.clone(), &operator).unwrap();
        let (mut mutual, mut worst, mut inverse) = (0.0, 0.0f64, 0.0f64);
        for y in 0..3 {
            let Some(after) = posterior(&operator, &known, y) else { continue };
            let output: f64 = operator.column(y).zip(&before).map(|(p, prior)| p * prior).sum();
            let distance = |a: &[f64], b: &[f64]| -> f64 {
                a.iter().zip(b).filter(|one| *one.0 > 0.0).map(|(a, b)| a * (a / b).log2()).sum()
            };
            mutual += output * distance(&after, &before);
            worst = worst.max(distance(&after, &before));
            inverse = inverse.max(distance(&before, &after));
            for property in 0u32..1 << inputs {
                let of = |law: &[f64]| -> f64 {
                    (0..inputs).filter(|x| property >> x & 1 == 1).map(|x| law[x]).sum::<f64>().min(1.0)
                };
                let bound =
                    information_breach_bound(found.worst_case, found.inverse_worst_case, of(&before)).unwrap();
                let seen = of(&after);
                prop_assert!(bound.tight_low - 1e-6 <= seen && seen <= bound.tight_high + 1e-6);
                prop_assert!(bound.low <= bound.tight_low && bound.tight_high <= bound.high);
            }
        }
        for (found, expected) in
            [(found.mutual, mutual), (found.worst_case, worst), (found.inverse_worst_case, inverse)]
        {
            prop_assert!(found == expected || (found - expected).abs() < 1e-12);
        }
    }
}
