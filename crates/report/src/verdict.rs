//! What a report comes to, in two lines: what the release protects, and what it is good for.

use crate::data::{Original, Release};
use crate::number::{of, plain, share};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a line reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tone {
    Good,
    Fair,
    Poor,
}

/// A line of the verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// What it is about: privacy or usefulness.
    pub about: String,
    pub tone: Tone,
    pub sentence: String,
}

/// Epsilons up to which a promise is strong, and up to which it is one at all.
const STRONG_EPSILON: f64 = 1.0;
const WEAK_EPSILON: f64 = 8.0;

/// Mean distances of pairs of columns up to which a table is close to its original, and still like it.
const CLOSE: f64 = 0.05;
const ALIKE: f64 = 0.15;

impl Release {
    /// The two lines.
    pub fn judge(&self, original: &Original) -> Vec<Verdict> {
        // A verdict is plain ASCII, for databases in any encoding.
        let plain = |sentence: String| sentence.replace('\u{a0}', " ").replace('−', "-");
        let line = |about: &str, (tone, sentence)| Verdict {
            about: about.into(),
            tone,
            sentence: plain(sentence),
        };
        vec![line("Privacy", self.privacy(original)), line("Usefulness", self.usefulness())]
    }

    fn privacy(&self, original: &Original) -> (Tone, String) {
        let Some(label) = &self.guarantee else {
            let seen = self.what_is_seen(original);
            return (Tone::Poor, format!("No guarantee was stated for this release. {seen}"));
        };
        match label.get("kind").and_then(Value::as_str).unwrap_or("none") {
            "k-anonymity" => self.k_anonymity(label),
            kind @ ("dp" | "ldp") => differential(label, kind == "ldp"),
            "none" | "syntactic" => {
                let seen = self.what_is_seen(original);
                match label.pointer("/proved/covers").and_then(Value::as_str) {
                    Some(part) => (
                        Tone::Fair,
                        format!(
                            "The label promises nothing of the whole table, only of {part}. {seen}"
                        ),
                    ),
                    None => (
                        Tone::Poor,
                        format!("The label promises nothing against an attacker. {seen}"),
                    ),
                }
            }
            _ => {
                let sentence = label.get("sentence").and_then(Value::as_str).unwrap_or_default();
                let first = sentence.split_inclusive(". ").next().unwrap_or_default();
                (Tone::Fair, first.trim().into())
            }
        }
    }

    fn k_anonymity(&self, label: &Value) -> (Tone, String) {
        let k = label.get("k").and_then(Value::as_u64).unwrap_or(1);
        match self.classes.smallest {
            Some(smallest) if smallest < k => (
                Tone::Poor,
                format!(
                    "The label promises that {k} rows look alike, but the smallest class has {}: \
                     this table was not made as the label says.",
                    of(smallest, "row", "rows")
                ),
            ),
            Some(smallest) => (
                Tone::Good,
                format!(
                    "Every row looks like at least {} in the columns of this report, as promised \
                     (smallest class: {}). Values that a whole class shares are not hidden.",
                    of(k.saturating_sub(1), "other", "others"),
                    of(smallest, "row", "rows")
                ),
            ),
            None => (Tone::Good, "The release has no rows.".into()),
        }
    }

    /// What was counted, where nothing is promised.
    fn what_is_seen(&self, original: &Original) -> String {
        let alone = self.classes.alone as f64 / self.rows.max(1) as f64;
        let before = original.classes.alone as f64 / original.rows.max(1) as f64;
        let copied = self.common_rows.of_released.map_or_else(String::new, |copied| {
            format!(", and {} of the released rows occur in the original", share(copied))
        });
        format!(
            "{} of its rows are one of a kind ({} before){copied}.",
            share(alone),
            share(before)
        )
    }

    fn usefulness(&self) -> (Tone, String) {
        let measure = |name: &str| self.utility.get(name).copied().flatten();
        let Some(one) = measure("tv_one_mean") else {
            return (Tone::Poor, "There are no rows to compare.".into());
        };
        let two = measure("tv_two_mean");
        let loss = self.coarsening();
        let (tone, how) = match loss.or(two).unwrap_or(one) {
            far if far <= CLOSE => (Tone::Good, "Close to the original"),
            far if far <= ALIKE => (Tone::Fair, "Like the original, with differences that show"),
            _ => (Tone::Poor, "Far from the original"),
        };
        let pairs =
            two.map_or_else(String::new, |two| format!(" and pairs of columns by {}", share(two)));
        let itemsets = &self.itemsets;
        let kept = match itemsets.original {
            0 => String::new(),
            all => {
                let kept = share(itemsets.common as f64 / all as f64);
                format!("; {kept} of the frequent combinations are still frequent")
            }
        };
        let coarser = loss.map_or_else(String::new, |loss| {
            format!("its cells lost {} of what they told. Counted by exact values, ", share(loss))
        });
        (
            tone,
            format!("{how}: {coarser}columns are off by {} on average{pairs}{kept}.", share(one)),
        )
    }

    /// The mean loss of the cells of a table whose values were made coarser, not drawn: there an exact value
    /// that is missing has not gone, it is shown as its range.
    fn coarsening(&self) -> Option<f64> {
        let kind = self.guarantee.as_ref()?.get("kind").and_then(Value::as_str)?;
        let losses: Vec<f64> = self.columns.iter().filter_map(|column| column.loss).collect();
        let coarser = self.columns.iter().any(|c| c.loss.is_some_and(|loss| loss < c.changed));
        let applies = kind == "k-anonymity" && coarser && losses.len() == self.columns.len();
        applies.then(|| losses.iter().sum::<f64>() / losses.len() as f64)
    }
}

fn differential(label: &Value, local: bool) -> (Tone, String) {
    let number = |name: &str| label.get(name).and_then(Value::as_f64);
    let epsilon = number("epsilon").unwrap_or(f64::INFINITY);
    let delta = number("delta").unwrap_or(0.0);
    let tone = match epsilon {
        e if e <= STRONG_EPSILON => Tone::Good,
        e if e <= WEAK_EPSILON => Tone::Fair,
        _ => Tone::Poor,
    };
    let who = match label.get("unit").and_then(Value::as_str) {
        Some("person") => "one person's rows",
        Some("cell") => "one cell",
        _ => "one row",
    };
    let what = if local { "what is in" } else { "whether the original had" };
    let but = match delta > 0.0 {
        true => format!(", but for a chance of {} (delta)", plain(delta)),
        false => String::new(),
    };
    let strength = match tone {
        Tone::Good => "",
        Tone::Fair => " A smaller epsilon would promise more.",
        Tone::Poor => " An epsilon this large promises next to nothing.",
    };
    (
        tone,
        format!(
            "Differentially private with epsilon = {}: {what} {who} changes the odds of anything seen in \
             it by at most a factor of {}{but}.{strength}",
            plain(epsilon),
            plain((epsilon.exp() * 100.0).ceil() / 100.0)
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::ColumnChange;
    use serde_json::json;

    fn privacy(guarantee: Option<Value>, smallest: u64) -> Verdict {
        let mut release = Release { rows: 10, guarantee, ..Release::default() };
        release.classes.smallest = Some(smallest);
        release.classes.alone = 5;
        release.judge(&Original::default()).remove(0)
    }

    #[test]
    fn no_more_is_said_than_the_label_says() {
        let label = |k| Some(json!({"kind": "k-anonymity", "k": k}));
        let kept = privacy(label(6), 6);
        assert_eq!(kept.tone, Tone::Good);
        assert!(kept.sentence.contains("at least 5 others"), "{}", kept.sentence);
        let broken = privacy(label(6), 1);
        assert_eq!(broken.tone, Tone::Poor);
        assert!(broken.sentence.contains("smallest class has 1 row:"), "{}", broken.sentence);
        for label in [None, Some(json!({"kind": "none"}))] {
            let none = privacy(label, 1);
            assert_eq!(none.tone, Tone::Poor);
            assert!(none.sentence.contains("50.0 % of its rows are one of a kind"));
        }
        let part = json!({"kind": "none", "proved": {"covers": "the released table, without the columns id"}});
        let part = privacy(Some(part), 1);
        assert_eq!(part.tone, Tone::Fair);
        assert!(part.sentence.contains("only of the released table, without the columns id."));
    }

    #[test]
    fn coarser_values_are_judged_by_what_they_lost() {
        let usefulness = |kind: &str, loss: f64| {
            let columns =
                vec![ColumnChange { changed: 0.9, loss: Some(loss), ..ColumnChange::default() }];
            let utility = [("tv_one_mean".into(), Some(0.9))].into();
            let guarantee = Some(json!({"kind": kind, "k": 5}));
            let release = Release { columns, utility, guarantee, ..Release::default() };
            release.judge(&Original::default()).remove(1)
        };
        let Verdict { tone, sentence, .. } = usefulness("k-anonymity", 0.04);
        assert_eq!(tone, Tone::Good);
        assert!(sentence.contains("lost 4.0 % of what they told"), "{sentence}");
        for (kind, loss) in [("k-anonymity", 0.9), ("dp", 0.04)] {
            let Verdict { tone, sentence, .. } = usefulness(kind, loss);
            assert_eq!(tone, Tone::Poor);
            assert!(!sentence.contains("lost"), "{sentence}");
        }
    }

    #[test]
    fn epsilon_decides_on_the_tone() {
        let tone = |epsilon| privacy(Some(json!({"kind": "dp", "epsilon": epsilon})), 1).tone;
        assert_eq!(
            [0.1, 1.0, 2.0, 50.0].map(tone),
            [Tone::Good, Tone::Good, Tone::Fair, Tone::Poor]
        );
        let label = json!({"kind": "dp", "epsilon": 1.0, "delta": 1e-9, "unit": "person"});
        let sentence = privacy(Some(label), 1).sentence;
        assert!(
            sentence.contains("epsilon = 1: whether the original had one person's rows changes")
        );
        assert!(
            sentence.ends_with("a factor of 2.72, but for a chance of 1.0e-9 (delta)."),
            "{sentence}"
        );
    }
}
