//! Rejected itemsets compared with a check of every row.

use chacha20::ChaCha20Rng;
use pg_sanitize_krimp::{
    Correction, DomainOrder, Error, Generator, Options, Progress, Reject, fit_model,
};
use proptest::prelude::*;
use rand::SeedableRng;
use table::{Bag, Item, Watch};

const WIDTH: usize = 4;

fn items() -> impl Strategy<Value = Vec<Item>> {
    let columns = prop::sample::subsequence(vec![0u32, 1, 2, 3], 1..=3);
    (columns, prop::array::uniform4(0..3u32)).prop_map(|(columns, codes)| {
        columns.iter().map(|&column| Item { column, code: codes[column as usize] }).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// The stream of a chunk gives the same rows as without rejection, except the rejected ones.
    #[test]
    fn rows_are_those_without_the_rejected(
        itemsets in prop::collection::vec(items(), 0..8), seed in any::<u64>(),
    ) {
        let rows = (0..60usize).map(|i| [i % 3, i / 3 % 3, (i * 7 / 5) % 3, (i / 2) % 3]);
        let bag = Bag::from_text(WIDTH, rows.map(|row| row.map(|n| Some(n.to_string()))));
        let watch = Watch::unlimited();
        let model = fit_model(&bag, &Options::new(2), &watch, &Progress::new()).unwrap();
        let of = |reject| {
            let correction = Correction::new(1.0).unwrap();
            let generator = Generator::new(&model, &correction, DomainOrder::Random).unwrap();
            generator.rejecting(reject)
        };
        let stream = |chunk| ChaCha20Rng::seed_from_u64(seed ^ chunk);
        let all = of(Reject::default()).rows(0, 1000, stream, &watch).unwrap().cells;
        let contains = |row: &[u32], set: &Vec<Item>| {
            set.iter().all(|item| row[item.column as usize] == item.code)
        };
        let left: Vec<u32> = all
            .chunks(WIDTH)
            .filter(|row| !itemsets.iter().any(|set| contains(row, set)))
            .flatten()
            .copied()
            .collect();
        let made = of(Reject::new(&model, itemsets)).rows(0, left.len() / WIDTH, stream, &watch);
        match made {
            Ok(made) => prop_assert_eq!(made.cells, left),
            Err(error) => prop_assert_eq!(error, Error::Rejected { tries: 10_000 }),
        }
    }
}
