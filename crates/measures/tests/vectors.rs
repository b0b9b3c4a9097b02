//! Exact numbers that other implementations agree on.

use pg_sanitize_measures::{Diversity, k_anonymity, l_diversity};
use serde_json::Value;
use table::{Bag, Watch};

#[test]
fn entropy_diversity_is_that_of_the_vectors() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/suppress_vectors.json");
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut seen = 0;
    for vector in file["vectors"].as_array().unwrap() {
        let Some(counts) = vector["input"]["class_counts"].as_array() else { continue };
        let counts: Vec<u64> = counts.iter().map(|c| c.as_u64().unwrap()).collect();
        let rows = counts.iter().enumerate().flat_map(|(value, &n)| {
            (0..n).map(move |_| [Some("class".to_string()), Some(value.to_string())])
        });
        let bag = Bag::from_text(2, rows);
        let l = l_diversity(&bag, 1, Diversity::Entropy, &Watch::unlimited()).unwrap().unwrap();
        let expected = vector["expected"]["max_l"].as_f64().unwrap();
        assert!((l / expected - 1.0).abs() < 1e-9, "{}: {l} is not {expected}", vector["id"]);
        assert_eq!(k_anonymity(&bag), counts.iter().copied().min());
        seen += 1;
    }
    assert!(seen >= 3);
}
