use super::*;
use crate::seed::Shape;
use crate::seed::code::tests::all_items;
use proptest::prelude::*;
use random::Coins;
use random::testing::{assert_fits, uniform};

fn code(universe: u32, size: usize, itemset: usize, a: u32, b: u32) -> Code {
    Code::new(Shape { universe, size, itemset, a, b }).unwrap()
}

/// 002-bch-count: item 1 in, item 2 out has 48 seeds, and each is as likely as any other.
#[test]
fn seeds_are_uniform_among_those_that_fit() {
    // The same layout as for sizes 1 and 1: q is 2 with one of them marked twice over.
    let code = code(7, 1, 1, 1, 2);
    let marked = [Marked { item: 1, is_kept: true }, Marked { item: 2, is_kept: false }];
    let seeds: Vec<u8> = (0..=255)
        .filter(|&byte| {
            let seed = code.read(&[byte]).unwrap();
            code.contains(&seed, 1).unwrap() && !code.contains(&seed, 2).unwrap()
        })
        .collect();
    assert_eq!(seeds.len(), 48);
    let mut coins = Coins::seeded(5);
    assert_fits(&uniform(48), 50_000, || {
        let byte = code.write(&code.draw_marked(&marked, &mut coins))[0];
        seeds.iter().position(|&seed| seed == byte).map_or(-1, |place| place as i64)
    });
}

/// The law of a seed, over all seeds: the probability of what it says about the transaction, spread evenly over the
/// seeds that say the same.
#[test]
fn seeds_of_a_transaction_follow_the_law() {
    let code = code(7, 2, 2, 1, 1);
    assert_eq!(code.bits(), 6);
    let keep = [0.1, 0.3, 0.6];
    let operator = code.operator(&keep).unwrap();
    for (seed, transaction) in [(1, vec![2, 5]), (2, vec![7]), (3, vec![])] {
        // Probabilities by the number of the transaction's items that are kept.
        let by_kept: Vec<f64> = match transaction.len() {
            2 => vec![0.1, 0.15, 0.6],
            1 => vec![0.1 + 0.15, 0.15 + 0.6],
            _ => vec![1.0],
        };
        let law: Vec<f64> = (0..64)
            .map(|byte| {
                let items = all_items(&code, &code.read(&[byte]).unwrap());
                let kept = transaction.iter().filter(|item| items.contains(item)).count();
                by_kept[kept] / f64::from(1 << (6 - transaction.len()))
            })
            .collect();
        let mut coins = Coins::seeded(seed);
        assert_fits(&law, 50_000, || {
            i64::from(code.write(&code.draw(&operator, &transaction, &mut coins))[0])
        });
    }
}

#[test]
fn probabilities_for_another_size_are_refused() {
    let code = code(100, 3, 2, 1, 2);
    assert!(code.operator(&[0.25; 4]).is_ok());
    for keep in [&[0.5, 0.5][..], &[0.2; 5], &[0.0, 0.5, 0.25, 0.25]] {
        assert!(code.operator(keep).is_err());
    }
}

proptest! {
    #[test]
    fn kept_items_are_in_and_others_are_out(
        items in proptest::collection::btree_set(1u32..500, 0..12),
        kept in proptest::collection::vec(any::<bool>(), 12),
        itemset in 1usize..4,
        b in 1u32..6,
        part in 0.0f64..1.0,
        seed in 0i64..1000,
    ) {
        let a = 1 + (part * f64::from((1u32 << b) - 2)) as u32;
        let code = code(500, 12, itemset, a, b);
        let marked: Vec<Marked> =
            items.iter().zip(&kept).map(|(&item, &is_kept)| Marked { item, is_kept }).collect();
        let seed = code.draw_marked(&marked, &mut Coins::seeded(seed));
        for Marked { item, is_kept } in marked {
            prop_assert_eq!(code.contains(&seed, item).unwrap(), is_kept);
        }
        prop_assert!(code.read(&code.write(&seed)).is_ok());
    }
}
