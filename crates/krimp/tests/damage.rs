//! Any JSON as a model gives an error, or a model that everything else can work with.

use chacha20::ChaCha20Rng;
use pg_sanitize_krimp::{
    Correction, DomainOrder, Generator, Model, Nulls, Options, Progress, encode, fit_model,
};
use proptest::prelude::*;
use rand::SeedableRng;
use serde_json::{Value, json};
use table::{Bag, Watch};

fn bag() -> Bag {
    let rows = (0..40usize).map(|i| {
        let cells = [Some(i % 2), Some(i % 2 + i % 3 / 2), (i % 7 > 0).then_some(i % 3)];
        cells.map(|cell| cell.map(|n| n.to_string()))
    });
    Bag::from_text(3, rows)
}

fn json_values() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(|b| json!(b)),
        any::<i64>().prop_map(|n| json!(n)),
        any::<u64>().prop_map(|n| json!(n)),
        (-3i64..50).prop_map(|n| json!(n)),
        any::<f64>().prop_map(|n| json!(n)),
        "[a-c0-2]{0,2}".prop_map(|s| json!(s)),
        Just(json!([])),
        Just(json!({})),
        prop::collection::vec(0u32..4, 0..4).prop_map(|list| json!(list)),
    ]
}

/// Replaces, removes or repeats the value at the end of a path of choices.
fn damage(value: &mut Value, path: &[prop::sample::Index], new: &Value, how: u8) {
    let Some((choice, rest)) = path.split_first() else {
        *value = new.clone();
        return;
    };
    match value {
        Value::Array(list) if !list.is_empty() => {
            let i = choice.index(list.len());
            match (how, rest.is_empty()) {
                (1, true) => drop(list.remove(i)),
                (2, true) => list.push(list[i].clone()),
                _ => damage(&mut list[i], rest, new, how),
            }
        }
        Value::Object(fields) if !fields.is_empty() => {
            let name = fields.keys().nth(choice.index(fields.len())).cloned().unwrap();
            match (how, rest.is_empty()) {
                (1, true) => drop(fields.remove(&name)),
                _ => damage(fields.get_mut(&name).unwrap(), rest, new, how),
            }
        }
        _ => *value = new.clone(),
    }
}

proptest! {
    #[test]
    fn nothing_panics(
        nulls in prop_oneof![Just(Nulls::Missing), Just(Nulls::Value)],
        path in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        new in json_values(),
        how in 0u8..3,
    ) {
        let bag = bag();
        let watch = Watch::unlimited();
        let options = Options { nulls, ..Options::new(1) };
        let mut value = fit_model(&bag, &options, &watch, &Progress::new()).unwrap().to_json();
        damage(&mut value, &path, &new, how);
        if let Ok(model) = Model::from_json(&value) {
            prop_assert_eq!(&Model::from_json(&model.to_json()).unwrap(), &model);
            model.sizes();
            if model.columns().len() == 3 {
                let _ = encode(&model, &bag, &watch);
            }
            let laplace = Correction::new(0.001).unwrap();
            if let Ok(generator) = Generator::new(&model, &laplace, DomainOrder::Random) {
                let rows = generator.rows(0, 20, ChaCha20Rng::seed_from_u64, &watch).unwrap();
                prop_assert_eq!(rows.cells.len(), 20 * model.columns().len());
            }
        }
    }
}
