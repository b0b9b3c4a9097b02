//! The label as plain sentences.

use super::{Counts, Guarantee, GuaranteeKind, Neighbours, PrivacyUnit, Proved};

impl Guarantee {
    /// One or two plain sentences for a data-sharing agreement.
    pub fn sentence(&self) -> String {
        let mut text = match self.kind {
            GuaranteeKind::Dp | GuaranteeKind::Ldp => self.dp_sentence(),
            GuaranteeKind::Bayesian => self.bayesian_sentence(),
            GuaranteeKind::BreachBound => self.breach_sentence(),
            GuaranteeKind::KAnonymity => String::from("The released table is k-anonymous."),
            _ => format!(
                "The released table ({}) comes with no privacy guarantee against an attacker.",
                self.mechanism
            ),
        };
        text += &match (self.k, &self.sensitive) {
            (Some(k), Some(sensitive)) => sensitive.sentence(k, self.counts),
            (Some(k), None) => format!(" Every row of it {}.", others(k, self.counts)),
            (None, _) => String::new(),
        };
        if self.k.is_some() {
            text += rows_or_people(self.counts);
        }
        if let Some(support) = self.metrics.get("min_support_in_source") {
            text += &format!(" The values left in a row {}.", together(*support, self.counts));
        }
        if let Some(proved) = &self.proved {
            text += &proved.sentence();
        }
        text + &not_covered(&self.not_covered)
    }

    fn dp_sentence(&self) -> String {
        let (epsilon, delta) = (self.epsilon.unwrap_or(0.0), self.delta.unwrap_or(0.0));
        let (subject, unit, verb) = match self.unit {
            Some(PrivacyUnit::Person) if self.answers => ("The answer", "person's rows", "are"),
            Some(PrivacyUnit::Person) => ("The released table", "person's rows", "are"),
            Some(PrivacyUnit::Cell) => ("The released table", "cell", "is"),
            _ => ("The released table", "row", "is"),
        };
        let change = match self.neighbours {
            Some(Neighbours::Replace) => format!("what is in any one {unit}"),
            _ => format!("whether any one {unit} {verb} in the original table or not"),
        };
        let except = if delta > 0.0 {
            format!(", but for a probability of at most {}", up(delta))
        } else {
            String::new()
        };
        format!(
            "{subject} is {}: {change} changes the probability of \
             anything that can be seen in it by at most a factor of {}{except}, whatever else is known.",
            private(self.kind, epsilon, delta),
            up(epsilon.exp())
        )
    }

    fn breach_sentence(&self) -> String {
        let mut text = format!(
            "Whatever the prior belief about a value, its release changes the odds of any property by at most a \
             factor of {}.",
            up(self.gamma.unwrap_or(f64::INFINITY))
        );
        if let Some((rho1, rho2)) = self.rho1.zip(self.rho2.map(up)) {
            text += &format!(
                " A property with a probability of at most {rho1} stays below {rho2}, and one of at least {rho2} \
                 stays above {rho1}."
            );
        }
        text
    }

    fn bayesian_sentence(&self) -> String {
        format!(
            "The belief about any one row, of someone who knows the law of the rows but no other row, changes by \
             at most a factor of {}.",
            up(self.epsilon.unwrap_or(0.0).exp())
        )
    }
}

/// The end of a sentence: what is not covered.
pub(super) fn not_covered(lines: &[String]) -> String {
    match lines.is_empty() {
        true => String::new(),
        false => format!(" Not covered: {}.", lines.join("; ")),
    }
}

/// The guarantee in the words of its kind.
fn private(kind: GuaranteeKind, epsilon: f64, delta: f64) -> String {
    match kind {
        GuaranteeKind::Ldp => format!("{epsilon}-locally differentially private"),
        _ => format!("({epsilon}, {})-differentially private", up(delta)),
    }
}

impl Proved {
    fn sentence(&self) -> String {
        let mut text = format!(" Only this is proved, for {}: ", self.covers);
        let mut parts = Vec::new();
        if matches!(self.kind, GuaranteeKind::Dp | GuaranteeKind::Ldp) {
            let (epsilon, delta) = (self.epsilon.unwrap_or(0.0), self.delta.unwrap_or(0.0));
            parts.push(format!("it is {}", private(self.kind, epsilon, delta)));
        }
        match (self.k, &self.sensitive) {
            (Some(k), Some(sensitive)) => parts.push(sensitive.clause(k, self.counts)),
            (Some(k), None) => parts.push(format!("every row of it {}", others(k, self.counts))),
            (None, _) => {}
        }
        if let Some(support) = self.metrics.get("min_support_in_source") {
            parts.push(format!("the values left in a row {}", together(*support, self.counts)));
        }
        text += &parts.join(", and ");
        text.push('.');
        if self.k.is_some() {
            text += rows_or_people(self.counts);
        }
        text
    }
}

/// The limit of k-anonymity that matters most: rows are counted, or people.
fn rows_or_people(counts: Counts) -> &'static str {
    match counts {
        Counts::People => " People are counted, not rows: several rows of one person count once.",
        Counts::OneRowEach => " Every person has one row, so these are rows of other people.",
        Counts::Rows => {
            " Rows are counted, not people: all of them may belong to one person with several rows."
        }
    }
}

pub(super) fn others(k: u64, counts: Counts) -> String {
    match counts {
        Counts::People => format!("looks like rows of at least {k} people"),
        Counts::Rows | Counts::OneRowEach => {
            format!("looks like at least {} others", k.saturating_sub(1))
        }
    }
}

fn together(support: f64, counts: Counts) -> String {
    let rows = match counts {
        Counts::People => format!("rows of at least {support} people"),
        Counts::Rows | Counts::OneRowEach => format!("at least {support} rows"),
    };
    format!("occur together in {rows} of the original table")
}

/// A number to three digits, rounded up: a promise must not state less than holds.
pub(super) fn up(x: f64) -> f64 {
    if x <= 0.0 || !x.is_finite() {
        return x;
    }
    let text = format!("{x:.2e}");
    let rounded: f64 = text.parse().unwrap_or(x);
    if rounded >= x {
        return rounded;
    }
    let unit = 10f64.powf(x.log10().floor() - 2.0);
    format!("{:.2e}", rounded + unit).parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promised_numbers_are_rounded_up() {
        for (x, expected) in [
            (0.0, 0.0),
            (1.0, 1.0),
            (0.0012341, 0.00124),
            (9.999e-7, 1e-6),
            (2.7123, 2.72),
            (99.91, 100.0),
        ] {
            assert_eq!(up(x), expected);
        }
        assert_eq!(up(f64::INFINITY), f64::INFINITY);
    }
}
