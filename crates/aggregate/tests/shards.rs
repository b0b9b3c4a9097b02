//! Rows that shards keep and another process adds up follow the same law as if one process had read them all.

use pg_sanitize_aggregate::{Bounded, Measure, MeasureKind, NoisePlan, Query, UnitRows};
use random::Coins;
use random::testing::assert_fits;
use std::collections::BTreeMap;

const GROUPS: usize = 3;

/// Group and value of each row of a unit.
type Rows = Vec<(u32, i64)>;

/// The kept rows, sorted, and the number of units in each group.
type Outcome = (Rows, Vec<i128>);

/// All orders of `0..n`.
fn orders(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for shorter in orders(n - 1) {
        for place in 0..n {
            let mut order = shorter.clone();
            order.insert(place, n - 1);
            all.push(order);
        }
    }
    all
}

/// The exact law of what is kept of one unit: the first `rows` rows in random order, and of these the
/// rows of the first `groups` groups.
fn law(unit: &Rows, rows: usize, groups: usize) -> BTreeMap<Rows, f64> {
    let orders = orders(unit.len());
    let mut law = BTreeMap::new();
    for order in &orders {
        let mut met: Vec<u32> = Vec::new();
        let mut kept = Rows::new();
        for &row in order.iter().take(rows) {
            let (group, value) = unit[row];
            if !met.contains(&group) && met.len() < groups {
                met.push(group);
            }
            if met.contains(&group) {
                kept.push((group, value));
            }
        }
        kept.sort_unstable();
        *law.entry(kept).or_insert(0.0) += 1.0 / orders.len() as f64;
    }
    law
}

/// The law of two units together.
fn joint(units: [&Rows; 2], rows: usize, groups: usize) -> BTreeMap<Outcome, f64> {
    let [one, other] = units.map(|unit| law(unit, rows, groups));
    let mut joint = BTreeMap::new();
    for (a, p) in &one {
        for (b, q) in &other {
            let mut counts = vec![0; GROUPS];
            for kept in [a, b] {
                let mut groups: Vec<u32> = kept.iter().map(|row| row.0).collect();
                groups.dedup();
                groups.iter().for_each(|&group| counts[group as usize] += 1);
            }
            let mut kept: Rows = a.iter().chain(b).copied().collect();
            kept.sort_unstable();
            *joint.entry((kept, counts)).or_insert(0.0) += p * q;
        }
    }
    joint
}

/// The outcome for rows of two units on two shards.
fn draw(units: [&Rows; 2], rows: u64, groups: u64, coins: &mut Coins) -> Outcome {
    let mut whole = Bounded::new(rows, groups, 1);
    for unit in units {
        let mut shard = Bounded::new(rows, groups, 1);
        for (group, value) in unit {
            shard.row_of_number(7, *group, &[*value], coins);
        }
        shard.finish(coins);
        shard.each_kept(|is_first, group, values| whole.kept_row(is_first, group, values));
    }
    let measure =
        Measure { name: "n".into(), kind: MeasureKind::Units, weight: 1.0, per_unit: false };
    let query = Query {
        measures: vec![measure],
        rows_per_unit: rows,
        groups_per_unit: groups,
        private_groups: false,
        min_units: None,
    };
    let plan = NoisePlan::new(query, 1.0, 0.0).unwrap();
    let (mut counts, none) = (Vec::new(), UnitRows::new(0));
    let visit = |_: u32, slots: &[i128], _: &mut Coins| {
        counts.push(slots[0]);
        Ok::<(), ()>(())
    };
    plan.totals(&mut whole, &none, GROUPS, 1 << 20, coins, visit).unwrap();
    let mut kept = Rows::new();
    whole.each_row(|group, values| kept.push((group, values[0])));
    kept.sort_unstable();
    (kept, counts)
}

#[test]
fn shards_keep_what_one_process_keeps() {
    let mut coins = Coins::seeded(11);
    // Both shards identify their unit by the same number; they still count as two units.
    let units: [&Rows; 2] =
        [&vec![(0, 1), (0, 2), (1, 1), (2, 1), (2, 1)], &vec![(0, 1), (1, 5), (1, 6)]];
    for (rows, groups) in [(1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (4, 3), (9, 9)] {
        let law = joint(units, rows, groups);
        let outcomes: Vec<&Outcome> = law.keys().collect();
        let chances: Vec<f64> = law.values().copied().collect();
        assert_fits(&chances, 10_000, || {
            let outcome = draw(units, rows as u64, groups as u64, &mut coins);
            outcomes.iter().position(|known| **known == outcome).unwrap() as i64
        });
    }
}

#[test]
fn what_a_shard_tells_of_a_unit_is_bounded() {
    let mut coins = Coins::seeded(12);
    for (rows, groups) in [(1, 1), (3, 2), (5, 7)] {
        let mut shard = Bounded::new(rows, groups, 0);
        for row in 0..100 {
            shard.row_of_bytes(b"u", row % 10, &[], &mut coins);
            shard.row_of_new_unit(row % 10, &[], &mut coins);
        }
        shard.finish(&mut coins);
        let (mut told, mut marks) = (0, 0);
        shard.each_kept(|is_first, _, _| {
            told += 1;
            marks += u64::from(is_first);
        });
        assert!(told <= 100 + rows && marks <= 100 + rows.min(groups), "{told} {marks}");
        // Reporting again changes nothing.
        let mut again = 0;
        shard.finish(&mut coins);
        shard.each_kept(|_, _, _| again += 1);
        assert_eq!(told, again);
    }
}
