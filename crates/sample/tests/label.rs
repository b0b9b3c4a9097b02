//! The labels of private samples, alone, with kept columns and after imputation.

use guarantee::{Guarantee, GuaranteeKind};
use pg_sanitize_sample::{Design, SampleRequest, Scheme};
use random::Source;
use serde_json::{Value, json};

fn design(scheme: Scheme) -> Design {
    Design::new(SampleRequest {
        scheme,
        epsilon: 1.0,
        delta: 1e-6,
        k: 10,
        split: 0.1,
        max_length: scheme.usual_length(),
        columns: 5,
        theta1: None,
    })
    .unwrap()
}

fn value(guarantee: &Guarantee) -> Value {
    serde_json::to_value(guarantee.label()).unwrap()
}

#[test]
fn private_samples_say_epsilon_and_delta() {
    for scheme in [Scheme::Public, Scheme::DpCounts, Scheme::DpSplit, Scheme::DpSelect] {
        let label = value(&Guarantee::dp_mii_sample(&design(scheme), Source::Os));
        assert_eq!(label["kind"], "dp");
        assert_eq!(label["neighbours"], "add_remove");
        assert_eq!(label["unit"], "row");
        assert_eq!(label["rng"], "os");
        assert_eq!(label["numeric"], "exact");
        assert_eq!(label["mode"], "default");
        assert_eq!(label["delta_method"], "exact");
        assert_eq!(label["k"], 10);
        assert!(label["epsilon"].as_f64().unwrap() <= 1.0);
        assert!(label["delta"].as_f64().unwrap() <= 1e-6);
        assert_eq!(label.get("gamma"), None);
        let sentence = label["sentence"].as_str().unwrap();
        assert!(sentence.contains("differentially private"), "{sentence}");
    }
}

#[test]
fn a_seed_voids_the_guarantee() {
    let label = value(&Guarantee::dp_mii_sample(&design(Scheme::DpCounts), Source::Seeded));
    assert_eq!(label["kind"], "none");
    assert_eq!(label["rng"], "seeded");
    assert_eq!(label.get("epsilon"), None);
    assert_eq!(label["proved"]["kind"], "dp");
    assert_eq!(label["proved"]["epsilon"], 1.0);
    assert!(label["proved"]["covers"].as_str().unwrap().ends_with("without a seed"));
    // Equal rows are equal whatever the coins.
    assert_eq!(label["k"], 10);
    assert!(label["sentence"].as_str().unwrap().contains("no privacy guarantee"));
}

#[test]
fn kept_columns_void_the_guarantee() {
    let keep = |label: Guarantee| value(&label.keeping(&["name", "town"]));
    let dp = keep(Guarantee::dp_mii_sample(&design(Scheme::Public), Source::Os));
    assert_eq!((&dp["kind"], dp.get("epsilon"), dp.get("k")), (&json!("none"), None, None));
    assert_eq!((&dp["proved"]["kind"], &dp["proved"]["k"]), (&json!("dp"), &json!(10)));
    let covers = dp["proved"]["covers"].as_str().unwrap();
    assert_eq!(covers, "the released table, without the columns name, town");
    let sentence = dp["sentence"].as_str().unwrap();
    assert!(sentence.contains("no privacy guarantee"), "{sentence}");
    assert!(sentence.contains("columns returned unchanged: name, town"), "{sentence}");

    let seeded = keep(Guarantee::dp_mii_sample(&design(Scheme::Public), Source::Seeded));
    let covers = seeded["proved"]["covers"].as_str().unwrap();
    assert!(covers.ends_with("without a seed, without the columns name, town"), "{covers}");

    for label in [
        Guarantee::k_mii(5, None),
        Guarantee::k_anonymize(5, None, &guarantee::ClassTerms::default()),
    ] {
        let label = keep(label);
        assert_eq!((&label["kind"], label.get("k")), (&json!("none"), None));
        assert_eq!(label.get("paper_claim_holds"), None);
        assert_eq!(label["proved"]["kind"], "k-anonymity");
        assert_eq!(label["proved"]["k"], 5);
    }
    let paper = keep(Guarantee::dp_mii_sample(&design(Scheme::Paper), Source::Os));
    assert_eq!((paper.get("k"), &paper["proved"]["k"]), (None, &json!(10)));
    assert_eq!(paper["paper_claim_holds"], false);
    let source = keep(Guarantee::mii_suppress(4, None));
    assert_eq!((&source["kind"], source.get("metrics")), (&json!("none"), None));
    assert_eq!(source["proved"]["metrics"]["min_support_in_source"], 5.0);
    assert_eq!(Guarantee::k_mii(2, None).keeping(&[]), Guarantee::k_mii(2, None));
}

#[test]
fn the_paper_keeps_its_claim_and_gets_no_kind() {
    let label = value(&Guarantee::dp_mii_sample(&design(Scheme::Paper), Source::Os));
    assert_eq!(label["kind"], "none");
    assert_eq!(label["mode"], "paper");
    assert_eq!(label["paper_claim_holds"], false);
    assert_eq!(label["proved"]["kind"], "k-anonymity");
    assert_eq!(label["proved"]["covers"], "the released table");
    assert!(label["mechanism"].as_str().unwrap().contains("scheme rows unprotected; sample"));
    assert_eq!(label["paper_claim"], "(1, 0.000001)-differential privacy");
    assert_eq!(label.get("epsilon"), None);
}

#[test]
fn imputation_inherits_what_survives_it() {
    let private = Guarantee::dp_mii_sample(&design(Scheme::Public), Source::Os);
    let filled = Guarantee::impute(Some(&private));
    assert_eq!((filled.kind, filled.epsilon, filled.k), (GuaranteeKind::Dp, private.epsilon, None));
    assert_eq!(Guarantee::impute(Some(&Guarantee::k_mii(5, None))).kind, GuaranteeKind::None);
    assert_eq!(Guarantee::impute(None).kind, GuaranteeKind::None);
}
