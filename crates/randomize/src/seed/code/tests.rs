use super::*;
use proptest::prelude::*;

fn code(universe: u32, size: usize, itemset: usize, a: u32, b: u32) -> Code {
    Code::new(Shape { universe, size, itemset, a, b }).unwrap()
}

pub fn all_items(code: &Code, seed: &Seed) -> Vec<u32> {
    code.items(seed, || Ok::<_, std::convert::Infallible>(())).unwrap()
}

fn columns(code: &Code, count: usize) -> Vec<u64> {
    let column = |c| {
        let mut column = [0];
        code.column(c, &mut column);
        column[0]
    };
    (0..count).map(column).collect()
}

/// 002-bch-size-0, -2, -4, and the paper's two examples.
#[test]
fn public_sizes() {
    for (universe, size, itemset, b, powers, degree, bits) in [
        (100_000, 10, 5, 1, 8, 17, 136),
        (100_000, 10, 5, 4, 30, 19, 570),
        (1000, 5, 3, 6, 24, 13, 312),
        (20_000, 5, 3, 3, 12, 16, 192),
    ] {
        let code = code(universe, size, itemset, 1, b);
        assert_eq!((code.powers, code.field.degree, code.bits()), (powers, degree, bits));
    }
}

/// 002-bch-cols
#[test]
fn public_columns() {
    let code = code(15, 3, 1, 1, 1);
    let expected = [17, 130, 196, 168, 243, 22, 140, 203, 165, 250, 23, 142, 207, 173, 249];
    assert_eq!(columns(&code, 15), expected);
}

/// 002-bch-tau-*
#[test]
fn public_seeds() {
    let all: Vec<u32> = (1..=15).collect();
    for (shape, seed, items) in [
        ((15, 3, 1, 1, 1), 0u16, &all[..]),
        ((15, 3, 1, 1, 1), 90, &[6, 9, 10, 11, 12]),
        ((15, 3, 1, 1, 1), 147, &[1, 2, 5, 6, 9, 12, 14]),
        ((7, 1, 1, 1, 2), 1, &[2]),
        ((7, 1, 1, 1, 2), 255, &[1, 5, 6]),
        ((10, 1, 1, 5, 3), 0, &all[..10]),
        ((10, 1, 1, 5, 3), 4660, &[2, 3, 4, 5, 6, 7, 9, 10]),
    ] {
        let (universe, size, itemset, a, b) = shape;
        let code = code(universe, size, itemset, a, b);
        let bytes = &seed.to_le_bytes()[..code.bytes()];
        let seed = code.read(bytes).unwrap();
        assert_eq!(all_items(&code, &seed), items, "{shape:?}");
        assert_eq!(code.write(&seed), bytes);
    }
}

/// 002-bch-count: over all seeds, items and pairs of items are as frequent as their probabilities.
#[test]
fn all_seeds_together_are_independent() {
    let code = code(7, 1, 1, 1, 2);
    let sets: Vec<Vec<u32>> =
        (0..=255).map(|seed| all_items(&code, &code.read(&[seed]).unwrap())).collect();
    let count = |has: &[u32], has_not: &[u32]| {
        let fits = |set: &&Vec<u32>| {
            has.iter().all(|item| set.contains(item))
                && !has_not.iter().any(|item| set.contains(item))
        };
        sets.iter().filter(fits).count()
    };
    assert_eq!(count(&[1], &[2]), 48);
    for i in 1..=7 {
        assert_eq!(count(&[i], &[]), 64);
        for j in i + 1..=7 {
            assert_eq!(count(&[i, j], &[]), 16);
        }
    }
}

/// Any 2l columns are independent: no sum of up to 2l of them is 0.
#[test]
fn few_columns_are_independent() {
    for (universe, q) in [(7, 2), (7, 4), (15, 4), (15, 6), (31, 4)] {
        let code = code(universe, q - 1, 1, 1, 1);
        assert_eq!(code.powers, q / 2);
        let columns = columns(&code, universe as usize);
        // Every set of at most q columns, by depth.
        fn no_sum_is_zero(columns: &[u64], sum: u64, left: usize) -> bool {
            left == 0
                || columns.iter().enumerate().all(|(i, column)| {
                    sum ^ column != 0 && no_sum_is_zero(&columns[i + 1..], sum ^ column, left - 1)
                })
        }
        assert!(no_sum_is_zero(&columns, 0, q), "{universe} {q}");
    }
}

/// A seed that keeps all items of the transaction, except with a probability that these coins do not hit.
fn drawn(code: &Code, transaction: &[u32]) -> Seed {
    let mut keep = vec![1e-9; code.shape.size];
    keep.push(1.0 - 1e-9 * code.shape.size as f64);
    code.draw(&code.operator(&keep).unwrap(), transaction, &mut random::Coins::seeded(1))
}

/// Fields whose powers are not listed: all items, single items and kept items agree.
#[test]
fn large_universes() {
    for (universe, b, degree) in [(5_000_000, 1, 23), (300_000, 4, 21)] {
        let code = code(universe, 3, 2, 1, b);
        assert_eq!(code.field.degree, degree);
        let seed = drawn(&code, &[1, universe / 2, universe]);
        let items = all_items(&code, &seed);
        for item in [1, 2, 3, universe / 2 - 1, universe / 2, universe - 1, universe] {
            assert_eq!(code.contains(&seed, item).unwrap(), items.contains(&item), "{item}");
        }
        assert!([1, universe / 2, universe].iter().all(|item| items.contains(item)));
        let (expected, found) = (f64::from(universe) / f64::from(1 << b), items.len() as f64);
        assert!((found - expected).abs() < 10.0 * expected.sqrt(), "{found} {expected}");
    }
    let largest = code(MAX_UNIVERSE, 64, 64, 1, 1);
    assert_eq!((largest.field.degree, largest.bits()), (26, 26 * 64));
    let stop =
        largest.items(&drawn(&largest, &(1..=64).collect::<Vec<u32>>()), || Err("cancelled"));
    assert_eq!(stop, Err("cancelled"));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let usual = Shape { universe: 1000, size: 5, itemset: 3, a: 1, b: 1 };
    for bad in [
        Shape { universe: 0, ..usual },
        Shape { universe: MAX_UNIVERSE + 1, ..usual },
        Shape { size: 0, ..usual },
        Shape { size: 65, ..usual },
        Shape { itemset: 0, ..usual },
        Shape { itemset: 65, ..usual },
        Shape { a: 0, ..usual },
        Shape { a: 2, ..usual },
        Shape { b: 0, ..usual },
        Shape { b: 17, ..usual },
        Shape { universe: MAX_UNIVERSE, b: 2, ..usual },
    ] {
        assert!(Code::new(bad).is_err(), "{bad:?}");
    }
    let code = Code::new(usual).unwrap();
    assert_eq!(code.bits(), 40);
    assert!(code.read(&[0; 4]).is_err() && code.read(&[0; 6]).is_err());
    let seed = code.read(&[0; 5]).unwrap();
    assert!(code.contains(&seed, 0).is_err() && code.contains(&seed, 1001).is_err());
    // Of 15 bits the sixteenth must be 0.
    let code = Code::new(Shape { universe: 10, size: 1, itemset: 1, a: 5, b: 3 }).unwrap();
    assert!(code.read(&[0xff, 0x7f]).is_ok() && code.read(&[0xff, 0x80]).is_err());
}

proptest! {
    #[test]
    fn one_item_and_all_items_agree(
        universe in 1u32..200,
        size in 1usize..8,
        itemset in 1usize..5,
        b in 1u32..7,
        part in 0.0f64..1.0,
        bytes in proptest::collection::vec(any::<u8>(), 400),
    ) {
        let a = 1 + (part * f64::from((1u32 << b) - 1)) as u32;
        let code = code(universe, size, itemset, a.min((1 << b) - 1), b);
        let mut bytes = bytes[..code.bytes()].to_vec();
        let excess = code.bytes() * 8 - code.bits();
        *bytes.last_mut().unwrap() &= 0xff >> excess;
        let seed = code.read(&bytes).unwrap();
        prop_assert_eq!(code.write(&seed), bytes);
        let items = all_items(&code, &seed);
        for item in 1..=universe {
            prop_assert_eq!(code.contains(&seed, item).unwrap(), items.contains(&item));
        }
    }
}
