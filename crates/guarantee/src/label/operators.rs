//! The label of a number that a randomisation operator returns.

use super::{Guarantee, GuaranteeKind, PrivacyUnit};
use random::Source;

impl Guarantee {
    /// A whole number that is replaced by a number near it, or by any number of the range. The operator is at most
    /// `gamma`-amplifying; `gamma` is infinite if an output rules a value out. Between the two probabilities of
    /// `breach`, rho1 and rho2, there is no breach, upward or downward.
    pub fn randomize_number(gamma: f64, breach: Option<(f64, f64)>, source: Source) -> Self {
        let mut label = Guarantee {
            rng: Some(source),
            ..Guarantee::none("a number near the value, or any of the range")
        };
        if !gamma.is_finite() {
            label.not_covered.push(
                "an output rules out every value that is further away than the window: gamma is infinite".into(),
            );
            return label;
        }
        label.assumptions = vec!["low, high, window_size and mix are public".into()];
        label.not_covered = vec![
            "that there is a value".into(),
            "a second output for the same value: gamma multiplies".into(),
            "dependent values: gamma multiplies with each one that is released".into(),
        ];
        // No breach means gamma-amplification, which is local differential privacy with ln(gamma), rounded up.
        let epsilon = if gamma > 1.0 { gamma.ln().next_up().next_up() } else { 0.0 };
        let mut label = label.ldp(epsilon, source);
        label.unit = Some(PrivacyUnit::Cell);
        if label.kind == GuaranteeKind::Ldp {
            label.kind = GuaranteeKind::BreachBound;
            label.gamma = Some(gamma);
            (label.rho1, label.rho2) = breach.unzip();
        }
        label
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn value(gamma: f64, breach: Option<(f64, f64)>, source: Source) -> Value {
        let label = Guarantee::randomize_number(gamma, breach, source);
        serde_json::to_value(label.label()).unwrap()
    }

    #[test]
    fn a_finite_gamma_bounds_breaches() {
        let label = value(5.980099502487563, Some((0.1, 0.4)), Source::Os);
        assert_eq!((&label["kind"], &label["unit"]), (&json!("breach-bound"), &json!("cell")));
        assert_eq!((&label["rho1"], &label["rho2"]), (&json!(0.1), &json!(0.4)));
        assert_eq!(label["gamma"], json!(5.980099502487563));
        let epsilon = label["epsilon"].as_f64().unwrap();
        assert!(epsilon.exp() >= 5.980099502487563 && epsilon < 1.788438);
        let sentence = label["sentence"].as_str().unwrap();
        assert!(sentence.contains("by at most a factor of 5.99"), "{sentence}");
        assert!(sentence.contains("stays below 0.4"), "{sentence}");
        let even = value(1.0, None, Source::Os);
        assert_eq!((&even["epsilon"], even.get("rho1")), (&json!(0.0), None));
    }

    #[test]
    fn nothing_is_promised_by_a_seed_or_a_bare_window() {
        let bare = value(f64::INFINITY, None, Source::Os);
        assert_eq!((&bare["kind"], bare.get("gamma")), (&json!("none"), None));
        let seeded = value(2.0, Some((0.1, 0.4)), Source::Seeded);
        assert_eq!((&seeded["kind"], seeded.get("gamma")), (&json!("none"), None));
        assert_eq!((seeded.get("rho1"), &seeded["proved"]["kind"]), (None, &json!("ldp")));
    }
}
