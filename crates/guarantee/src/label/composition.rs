//! How earlier releases of the same source weaken a label.

use super::sentence::not_covered;
use super::{Guarantee, GuaranteeKind};
use crate::Cost;

const COMPOSITION: &str = "composition";

/// Adds to the lines that are not covered how many earlier releases of the source do not compose.
fn count_earlier(lines: &mut Vec<String>, earlier: u64) {
    if earlier == 0 {
        return;
    }
    let releases = if earlier == 1 { "release" } else { "releases" };
    let line = format!(
        "{COMPOSITION}: {earlier} earlier {releases} of this source may be combined with this one"
    );
    match lines.iter_mut().find(|line| line.starts_with(COMPOSITION)) {
        Some(general) => *general = line,
        None => lines.push(line),
    }
}

/// [`Guarantee::after`] for the lines and the sentence of a label that was made earlier; returns the new sentence.
pub fn told_after(lines: &mut Vec<String>, sentence: &str, earlier: u64) -> String {
    let before = not_covered(lines);
    count_earlier(lines, earlier);
    format!("{}{}", sentence.strip_suffix(&before).unwrap_or(sentence), not_covered(lines))
}

impl Guarantee {
    /// True for a promise that holds whatever else is released, because its epsilons add up. All other promises are
    /// about a single table.
    pub fn composes(&self) -> bool {
        matches!(self.kind, GuaranteeKind::Dp | GuaranteeKind::Ldp)
    }

    /// The cost of the release, also where the promise covers only a part of the output.
    pub fn spent(&self) -> Option<Cost> {
        let own = self.epsilon.zip(self.delta);
        let proved = || self.proved.as_ref().and_then(|proved| proved.epsilon.zip(proved.delta));
        own.or_else(proved).map(|(epsilon, delta)| Cost { epsilon, delta })
    }

    /// Adds a line to what is not covered.
    pub fn not_covering(mut self, line: impl Into<String>) -> Self {
        self.not_covered.push(line.into());
        self
    }

    /// Records that `earlier` releases of the source that do not compose were made before this one. Someone who has
    /// them too may combine them.
    pub fn after(mut self, earlier: u64) -> Self {
        if !self.composes() {
            count_earlier(&mut self.not_covered, earlier);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::{Answers, ClassTerms};

    fn lines(label: &Guarantee) -> Vec<&String> {
        label.not_covered.iter().filter(|line| line.starts_with(COMPOSITION)).collect()
    }

    #[test]
    fn the_second_syntactic_release_says_so() {
        for label in [
            Guarantee::k_mii(5, None),
            Guarantee::k_anonymize(5, None, &ClassTerms::default()),
            Guarantee::mii_suppress(4, None),
            Guarantee::generalize(),
            Guarantee::impute(None),
        ] {
            assert_eq!(label.clone().after(0), label);
            let once = label.clone().after(1);
            assert_eq!(
                lines(&once),
                ["composition: 1 earlier release of this source may be combined with this one"]
            );
            let label = label.after(2);
            assert!(lines(&label)[0].starts_with("composition: 2 earlier releases "));
            assert!(label.sentence().contains("2 earlier releases of this source"));
            // Whether it is counted at once or later.
            let mut lines = once.not_covered.clone();
            assert_eq!(told_after(&mut lines, &once.sentence(), 2), label.sentence());
            assert_eq!(lines, label.not_covered);
        }
    }

    #[test]
    fn private_releases_add_up_instead() {
        let cost = Cost { epsilon: 0.5, delta: 0.0 };
        let label = Guarantee::dp_aggregate(&Answers { cost, ..Answers::default() });
        assert_eq!(label.spent(), Some(cost));
        assert_eq!(label.clone().after(3), label);
        let kept = label.keeping(&["zip"]);
        assert_eq!((kept.composes(), kept.spent()), (false, Some(cost)));
        assert_eq!(Guarantee::k_mii(5, None).spent(), None);
    }
}
