//! Exact numbers that other implementations agree on.

use pg_sanitize_measures::{Diversity, Meaning, anonymity_score, k_anonymity, l_diversity};
use serde_json::Value;
use table::{Bag, Watch};

fn vectors(file: &str) -> Vec<Value> {
    let path = format!("{}/../../tests/data/{file}", env!("CARGO_MANIFEST_DIR"));
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    file["vectors"].as_array().unwrap().clone()
}

#[test]
fn entropy_diversity_is_that_of_the_vectors() {
    let mut seen = 0;
    for vector in vectors("suppress_vectors.json") {
        let Some(counts) = vector["input"]["class_counts"].as_array() else { continue };
        let counts: Vec<u64> = counts.iter().map(|c| c.as_u64().unwrap()).collect();
        let rows = counts.iter().enumerate().flat_map(|(value, &n)| {
            (0..n).map(move |_| [Some("class".to_string()), Some(value.to_string())])
        });
        let bag = Bag::from_text(2, rows);
        let watch = Watch::unlimited();
        let l = l_diversity(&bag, None, 1, Diversity::Entropy, &watch).unwrap().unwrap();
        let expected = vector["expected"]["max_l"].as_f64().unwrap();
        assert!((l / expected - 1.0).abs() < 1e-9, "{}: {l} is not {expected}", vector["id"]);
        assert_eq!(k_anonymity(&bag, None, &watch).unwrap(), counts.iter().copied().min());
        seen += 1;
    }
    assert!(seen >= 3);
}

#[test]
fn anonymity_scores_are_those_of_the_vectors() {
    let vectors = vectors("measures_vectors.json");
    for vector in &vectors {
        // A row is a word, padded to the longest: letters are columns.
        let bag = |name: &str| {
            let rows = vector["input"][name].as_array().unwrap();
            let letters = rows.iter().map(|row| row.as_str().unwrap().as_bytes());
            Bag::from_text(3, letters.map(|row| (0..3).map(|i| row.get(i..=i))))
        };
        let ratio = |name: &str| {
            let (a, b) = vector["expected"][name].as_str().unwrap().split_once('/').unwrap();
            a.parse::<f64>().unwrap() / b.parse::<f64>().unwrap()
        };
        let (released, original) = (bag("published"), bag("original"));
        let watch = Watch::unlimited();
        let score = |released| {
            let meaning = Meaning::new(released, &original, Vec::new(), &watch).unwrap();
            anonymity_score(released, &original, &meaning, &watch).unwrap().unwrap()
        };
        let (found, worst) = (score(&released), score(&original));
        assert!((found.score - ratio("AS")).abs() < 1e-15, "{}", vector["id"]);
        assert!((found.normalised - ratio("NAS")).abs() < 1e-15, "{}", vector["id"]);
        assert!((worst.score - ratio("ASmax")).abs() < 1e-15, "{}", vector["id"]);
        assert_eq!(worst.normalised, 1.0);
    }
    assert_eq!(vectors.len(), 2);
}
