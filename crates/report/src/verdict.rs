//! The verdict on a release in two lines: what the release protects, and how useful it is.

use crate::data::{Original, Release};
use crate::number::{count, names, of, of_all, plain, share};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The tone of a line.
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
    /// The subject of the line: privacy or usefulness.
    pub about: String,
    pub tone: Tone,
    pub sentence: String,
}

/// The largest epsilons of a strong promise, and of any promise.
const STRONG_EPSILON: f64 = 1.0;
const WEAK_EPSILON: f64 = 8.0;

/// The largest mean distances of pairs of columns of a table that is close to its original, and of one that resembles
/// it.
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
        let privacy = line("Privacy", self.privacy(original));
        match self.is_compared() {
            true => vec![privacy, line("Usefulness", self.usefulness())],
            false => vec![privacy],
        }
    }

    /// False if it shares no column with the original.
    fn is_compared(&self) -> bool {
        !self.classes.sizes.is_empty()
    }

    fn privacy(&self, original: &Original) -> (Tone, String) {
        let Some(label) = &self.guarantee else {
            let seen = self.what_is_seen(original);
            return (Tone::Poor, format!("No guarantee was stated for this release. {seen}"));
        };
        match label["kind"].as_str().unwrap_or("none") {
            "k-anonymity" => self.k_anonymity(label),
            kind @ ("dp" | "ldp") => differential(label, kind == "ldp"),
            "none" | "syntactic" => {
                let seen = match label.get("proved").filter(|proved| proved.get("k").is_some()) {
                    Some(proved) => match self.k_anonymity(proved) {
                        (Tone::Poor, broken) => return (Tone::Poor, broken),
                        (_, kept) => kept,
                    },
                    None => self.what_is_seen(original),
                };
                let (tone, nothing) = match label["proved"]["covers"].as_str() {
                    Some(part) => (Tone::Fair, format!("about the whole table, only about {part}")),
                    None => (Tone::Poor, "against an attacker".into()),
                };
                (tone, format!("The label promises nothing {nothing}. {seen}"))
            }
            _ => {
                let sentence = label["sentence"].as_str().unwrap_or_default();
                let first = sentence.split_inclusive(". ").next().unwrap_or_default();
                (Tone::Fair, first.trim().into())
            }
        }
    }

    fn k_anonymity(&self, label: &Value) -> (Tone, String) {
        let k = label["k"].as_u64().unwrap_or(1);
        let others = match self.counts_people() {
            true => format!("rows of at least {}", of(k, "person", "people")),
            false => format!("at least {}", of(k.saturating_sub(1), "other", "others")),
        };
        let not_checked = || {
            let all = [self.class_columns.as_slice(), &self.not_compared].concat();
            let sentence = format!(
                "Not checked: that every row looks like {others} in {}. Not compared: {}.",
                names(&all),
                names(&self.not_compared)
            );
            (Tone::Fair, sentence)
        };
        let Some(smallest) = self.classes.smallest else {
            return match self.not_compared.is_empty() {
                true => (Tone::Good, "The release has no rows.".into()),
                false => not_checked(),
            };
        };
        let columns = names(&self.class_columns);
        let broken = match smallest < k {
            true => Some(format!(
                "The label promises that {k} rows look alike in {columns}, but the smallest class has {}",
                of(smallest, "row", "rows")
            )),
            // Classes by more columns are smaller, but not less diverse.
            false if !self.not_compared.is_empty() => return not_checked(),
            false => self.broken_for_people(k).or_else(|| self.broken_in_classes(label)),
        };
        if let Some(broken) = broken {
            let sentence = format!(
                "{broken}: this table is not as the label says. Rows may have been changed or added since."
            );
            return (Tone::Poor, sentence);
        }
        let alike = match self.counts_people() {
            true => format!("The label promises that every row looks like {others} in {columns}."),
            false => format!(
                "Every row looks like {others} in {columns}, as promised (smallest class: {}).",
                of(smallest, "row", "rows")
            ),
        };
        let (tone, people) = match self.counts_people() {
            true => self.people_as_promised(k),
            false => self.people_in_classes(k),
        };
        match label["sensitive"]["column"].as_str() {
            Some(column) if self.sensitive.is_none() => {
                let sentence = format!(
                    "{alike}{people} Not checked: what is promised of {column}, which is not compared."
                );
                (Tone::Fair, sentence)
            }
            _ => (tone, format!("{alike}{people}{}", self.kept_in_classes(label))),
        }
    }

    /// True if the label's k counts people.
    pub fn counts_people(&self) -> bool {
        self.guarantee.as_ref().is_some_and(|label| label["unit"] == "person")
    }

    /// That some class surely holds fewer people than are promised.
    fn broken_for_people(&self, k: u64) -> Option<String> {
        let people = self.people.as_ref().filter(|_| self.counts_people())?;
        (people.surely_fewer > 0).then(|| {
            format!(
                "The label promises at least {} ({}) in every class, but {} of {} has fewer for certain",
                of(k, "person", "people"),
                people.unit,
                count(people.surely_fewer),
                count(people.classes)
            )
        })
    }

    /// What is known about the people in classes, where k people are promised.
    fn people_as_promised(&self, k: u64) -> (Tone, String) {
        let Some(people) = &self.people else {
            return (
                Tone::Fair,
                " Not checked: the original does not say whose rows these are.".into(),
            );
        };
        let (unit, wanted) = (&people.unit, of(k, "person", "people"));
        let sentence = match people.perhaps_fewer {
            0 => format!(" Every class holds at least {wanted} ({unit}), as promised."),
            // The release does not say which rows of the original it has.
            _ => format!(
                " By {unit}, every class can hold {wanted}; which people the rows of {} belong to does not follow from the release.",
                of(people.perhaps_fewer, "class", "classes")
            ),
        };
        (Tone::Good, sentence)
    }

    /// The promise about the sensitive column that does not hold, if any.
    fn broken_in_classes(&self, label: &Value) -> Option<String> {
        let seen = self.sensitive.as_ref()?;
        // What is promised and what is seen, as texts, if the second is less. Sums of shares are not exact.
        let less = |name: &str, seen: Option<f64>| {
            let (promised, seen) = (promised(label, name)?, seen?);
            (seen < promised - 1e-9).then(|| (plain(promised), plain(seen)))
        };
        let column = &seen.column;
        if let Some((l, found)) = less("distinct_l", seen.distinct_l) {
            return Some(format!(
                "The label promises {l} values of {column} in every class, but one has {found}"
            ));
        }
        if self.counts_people() {
            // The shares are those of people, of whom the release says nothing.
            return None;
        }
        if let Some((l, found)) = less("entropy_l", seen.entropy_l) {
            return Some(format!(
                "The label promises that {column} is as diverse in every class as {l} equally frequent values, but in one it is as {found}"
            ));
        }
        let (t, found) = (promised(label, "t")?, seen.t?);
        (t < found - 1e-9).then(|| format!(
            "The label promises that {column} is at most {} away from all rows in every class, but one is {} away",
            plain(t),
            plain(found)
        ))
    }

    /// The promise about the sensitive column that holds, or that there is none.
    fn kept_in_classes(&self, label: &Value) -> String {
        let Some(seen) = &self.sensitive else {
            return " Values that a whole class shares are not hidden.".into();
        };
        let both = |name: &str, seen: Option<f64>, write: fn(f64) -> String| {
            Some((write(promised(label, name)?), write(seen?)))
        };
        let distinct = both("distinct_l", seen.distinct_l, plain)
            .map(|(l, found)| format!("has at least {l} different values (l; fewest: {found})"));
        let entropy = both("entropy_l", seen.entropy_l, plain).map(|(l, found)| {
            format!("is as diverse as at least {l} equally frequent values (l; least: {found})")
        });
        let close = both("t", seen.t, share).map(|(t, found)| {
            format!(
                "has shares that differ from those of all rows by at most {t} (t; most: {found})"
            )
        });
        let counted = !self.counts_people();
        let shares = [entropy, close].into_iter().filter(|_| counted);
        let parts: Vec<String> = [distinct].into_iter().chain(shares).flatten().collect();
        let of_people = promised(label, "entropy_l").or(promised(label, "t"));
        let not_checked = match of_people.is_some() && !counted {
            true => format!(
                " Not checked: what is promised of the shares of {}, which are those of people.",
                seen.column
            ),
            false => String::new(),
        };
        match parts.is_empty() {
            true => not_checked,
            false => format!(
                " In every class {} {}, as promised.{not_checked}",
                seen.column,
                parts.join(" and ")
            ),
        }
    }

    /// What is known about the people in classes of k rows.
    fn people_in_classes(&self, k: u64) -> (Tone, String) {
        let Some(people) = &self.people else {
            let sentence =
                " That counts rows: where one person has several, fewer people are behind them.";
            return (Tone::Good, sentence.into());
        };
        let (unit, all) = (&people.unit, of(people.classes, "class", "classes"));
        let wanted = of(k, "person", "people");
        let (surely, perhaps) = (people.surely_fewer, people.perhaps_fewer);
        if (surely, perhaps) == (0, 0) {
            return (Tone::Good, format!(" Every class holds at least {wanted} ({unit}) as well."));
        }
        let fewer = match surely {
            0 => format!("{} of {all} may hold fewer than {wanted}", count(perhaps)),
            1 => format!("1 of {all} holds fewer than {wanted}, and up to {} may", count(perhaps)),
            _ => format!(
                "{} of {all} hold fewer than {wanted}, and up to {} may",
                count(surely),
                count(perhaps)
            ),
        };
        (Tone::Fair, format!(" That counts rows: by {unit}, {fewer}."))
    }

    /// The measurements, where nothing is promised.
    fn what_is_seen(&self, original: &Original) -> String {
        if !self.is_compared() {
            return String::from("Nothing of it was compared with the original.");
        }
        let copied = self.common_rows.of_released.map_or_else(String::new, |copied| {
            format!(", and {} of the released rows are rows of the original", share(copied))
        });
        format!(
            "In {}, {} of its rows are one of a kind ({} before){copied}.",
            names(&self.class_columns),
            share(of_all(self.classes.alone, self.rows)),
            share(of_all(self.classes_before.alone, original.rows))
        )
    }

    fn usefulness(&self) -> (Tone, String) {
        let Some(one) = self.measure("tv_one_mean") else {
            return (Tone::Poor, "There are no rows to compare.".into());
        };
        let two = self.measure("tv_two_mean");
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
                let kept = share(of_all(itemsets.common, all));
                format!("; {kept} of the frequent combinations are still frequent")
            }
        };
        let coarser = loss.map_or_else(String::new, |loss| {
            let loss = share(loss);
            format!("its cells lost {loss} of their information. Counted by exact values, ")
        });
        let one = share(one);
        (tone, format!("{how}: {coarser}columns are off by {one} on average{pairs}{kept}."))
    }

    /// A measure of `utility`; none where there was nothing to measure.
    pub fn measure(&self, name: &str) -> Option<f64> {
        self.utility.get(name).copied().flatten()
    }

    /// How well a model distinguishes released rows from original ones: 0 not at all, 1 always. The propensity
    /// score's mean squared error as a share of its largest possible value.
    pub fn told_apart(&self, original_rows: u64) -> Option<f64> {
        let pmse = self.measure("pmse")?;
        let released = self.rows as f64 / (self.rows + original_rows) as f64;
        let largest = released * (1.0 - released);
        (largest > 0.0).then(|| (pmse / largest).clamp(0.0, 1.0))
    }

    /// The mean loss of the cells of a table whose values were made coarser or blanked, not drawn: there a missing
    /// exact value is not lost, but shown as its range.
    fn coarsening(&self) -> Option<f64> {
        let losses: Vec<f64> = self.columns.iter().filter_map(|column| column.loss).collect();
        let applies = self.coarser && losses.len() == self.columns.len();
        applies.then(|| losses.iter().sum::<f64>() / losses.len() as f64)
    }
}

/// What a label promises of the sensitive column.
pub fn promised(label: &Value, name: &str) -> Option<f64> {
    label["sensitive"][name].as_f64()
}

fn differential(label: &Value, local: bool) -> (Tone, String) {
    let epsilon = label["epsilon"].as_f64().unwrap_or(f64::INFINITY);
    let delta = label["delta"].as_f64().unwrap_or(0.0);
    let tone = match epsilon {
        e if e <= STRONG_EPSILON => Tone::Good,
        e if e <= WEAK_EPSILON => Tone::Fair,
        _ => Tone::Poor,
    };
    let who = match label["unit"].as_str() {
        Some("person") => "one person's rows",
        Some("cell") => "one cell",
        _ => "one row",
    };
    let what = if local { "what is in" } else { "whether the original had" };
    let but = match delta > 0.0 {
        true => format!(", except with probability {} (delta)", plain(delta)),
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
            "Differentially private with epsilon = {}: {what} {who} makes anything that is seen in it at most {} \
             times as likely{but}.{strength}",
            plain(epsilon),
            plain((epsilon.exp() * 100.0).ceil() / 100.0)
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{ClassSize, ColumnChange, People, Sensitive};
    use serde_json::json;

    fn privacy(guarantee: Option<Value>, smallest: u64) -> Verdict {
        let class_columns = vec!["age".into(), "sex".into()];
        let mut release = Release { rows: 10, guarantee, class_columns, ..Release::default() };
        release.classes.sizes = vec![ClassSize::default()];
        release.classes.smallest = Some(smallest);
        release.classes.alone = 5;
        release.sensitive = Some(Sensitive {
            column: "diagnosis".into(),
            distinct_l: Some(2.0),
            entropy_l: Some(1.5),
            t: Some(0.4),
        });
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
            assert!(none.sentence.contains("In age and sex, 50.0 % of its rows are one of a kind"));
        }
        let part = json!({"kind": "none", "proved": {"covers": "the released table, without the columns id"}});
        let part = privacy(Some(part), 1);
        assert_eq!(part.tone, Tone::Fair);
        assert!(part.sentence.contains("only about the released table, without the columns id."));
        let part = |smallest| {
            let proved = json!({"kind": "k-anonymity", "k": 5, "covers": "the released table, without the columns id"});
            privacy(Some(json!({"kind": "none", "proved": proved})), smallest)
        };
        assert!(part(5).sentence.contains("Every row looks like at least 4 others in age and sex"));
        assert_eq!((part(5).tone, part(4).tone), (Tone::Fair, Tone::Poor));
    }

    #[test]
    fn diverse_and_close_classes_are_checked() {
        let label =
            |sensitive: Value| Some(json!({"kind": "k-anonymity", "k": 5, "sensitive": sensitive}));
        for (kept, says) in [
            (
                json!({"distinct_l": 2}),
                "diagnosis has at least 2 different values (l; fewest: 2), as promised.",
            ),
            (
                json!({"distinct_l": 2, "t": 0.4}),
                "and has shares that differ from those of all rows by at most 40.0 % (t; most: 40.0 %)",
            ),
            (json!({"entropy_l": 1.5}), "is as diverse as at least 1.5 equally frequent values"),
        ] {
            let kept = privacy(label(kept), 5);
            assert_eq!(kept.tone, Tone::Good);
            assert!(kept.sentence.contains(says), "{}", kept.sentence);
        }
        for broken in [
            json!({"distinct_l": 3}),
            json!({"entropy_l": 1.6}),
            json!({"distinct_l": 2, "t": 0.39}),
        ] {
            let broken = privacy(label(broken), 5);
            assert_eq!(broken.tone, Tone::Poor);
            assert!(
                broken.sentence.contains("this table is not as the label says"),
                "{}",
                broken.sentence
            );
        }
    }

    #[test]
    fn what_is_not_compared_is_not_checked() {
        let judged = |class: &[&str], not_compared: &[&str], smallest| {
            let names = |names: &[&str]| names.iter().map(|&name| name.into()).collect();
            let sensitive = json!({"column": "diagnosis", "distinct_l": 2});
            let mut release = Release {
                guarantee: Some(json!({"kind": "k-anonymity", "k": 5, "sensitive": sensitive})),
                class_columns: names(class),
                not_compared: names(not_compared),
                ..Release::default()
            };
            release.classes.smallest = smallest;
            release.judge(&Original::default()).remove(0)
        };
        let said = "Not checked: that every row looks like at least 4 others in age and sex. Not compared: the column sex.";
        for smallest in [None, Some(7)] {
            let Verdict { tone, sentence, .. } = judged(&["age"], &["sex"], smallest);
            assert_eq!((tone, sentence.as_str()), (Tone::Fair, said));
        }
        assert_eq!(judged(&["age"], &["sex"], Some(4)).tone, Tone::Poor);
        let Verdict { tone, sentence, .. } = judged(&["age", "sex"], &[], Some(7));
        assert_eq!(tone, Tone::Fair);
        assert!(
            sentence
                .ends_with("Not checked: what is promised of diagnosis, which is not compared.")
        );
    }

    #[test]
    fn people_are_told_from_rows() {
        let sentence = |surely_fewer, perhaps_fewer| {
            let people = People {
                unit: "patient".into(),
                classes: 1955,
                surely_fewer,
                perhaps_fewer,
                ..People::default()
            };
            let guarantee = Some(json!({"kind": "k-anonymity", "k": 5}));
            let mut release = Release { guarantee, people: Some(people), ..Release::default() };
            release.classes.smallest = Some(5);
            release.judge(&Original::default()).remove(0)
        };
        assert_eq!(sentence(0, 0).tone, Tone::Good);
        let Verdict { tone, sentence, .. } = sentence(148, 160);
        assert_eq!(tone, Tone::Fair);
        assert!(
            sentence.contains(
                "by patient, 148 of 1,955 classes hold fewer than 5 people, and up to 160 may."
            ),
            "{sentence}"
        );
    }

    #[test]
    fn a_promise_about_people_is_checked_with_people() {
        let verdict = |people: Option<(u64, u64)>, label: Value, seen: Option<Sensitive>| {
            let people = people.map(|(surely_fewer, perhaps_fewer)| People {
                unit: "patient".into(),
                classes: 9,
                surely_fewer,
                perhaps_fewer,
                ..People::default()
            });
            let mut release =
                Release { guarantee: Some(label), people, sensitive: seen, ..Release::default() };
            release.classes.smallest = Some(6);
            release.judge(&Original::default()).remove(0)
        };
        let label = || json!({"kind": "k-anonymity", "k": 5, "unit": "person"});
        let is = |people, tone, part: &str| {
            let found = verdict(people, label(), None);
            assert_eq!(found.tone, tone);
            assert!(found.sentence.contains(part), "{}", found.sentence);
        };
        is(Some((0, 0)), Tone::Good, "Every class holds at least 5 people (patient), as promised.");
        is(Some((0, 2)), Tone::Good, "the rows of 2 classes belong to");
        is(Some((1, 2)), Tone::Poor, "but 1 of 9 has fewer for certain");
        is(None, Tone::Fair, "Not checked: the original does not say whose rows these are.");
        // Shares of rows say nothing about shares of people.
        let mut close = label();
        close["sensitive"] = json!({"column": "ward", "distinct_l": 2.0, "t": 0.1});
        let seen = Sensitive {
            column: "ward".into(),
            distinct_l: Some(2.0),
            t: Some(0.3),
            ..Sensitive::default()
        };
        let found = verdict(Some((0, 0)), close.clone(), Some(seen.clone()));
        assert_eq!(found.tone, Tone::Good);
        assert!(found.sentence.contains("Not checked: what is promised of the shares of ward"));
        let fewer = Sensitive { distinct_l: Some(1.0), ..seen };
        assert_eq!(verdict(Some((0, 0)), close, Some(fewer)).tone, Tone::Poor);
    }

    #[test]
    fn coarser_values_are_judged_by_what_they_lost() {
        let usefulness = |coarser: bool, loss: f64| {
            let columns =
                vec![ColumnChange { changed: 0.9, loss: Some(loss), ..ColumnChange::default() }];
            let utility = [("tv_one_mean".into(), Some(0.9))].into();
            let mut release = Release { columns, utility, coarser, ..Release::default() };
            release.classes.sizes = vec![ClassSize::default()];
            release.judge(&Original::default()).remove(1)
        };
        let Verdict { tone, sentence, .. } = usefulness(true, 0.04);
        assert_eq!(tone, Tone::Good);
        assert!(sentence.contains("lost 4.0 % of their information"), "{sentence}");
        assert_eq!(usefulness(true, 0.9).tone, Tone::Poor);
        let Verdict { tone, sentence, .. } = usefulness(false, 0.04);
        assert_eq!(tone, Tone::Poor);
        assert!(!sentence.contains("lost"), "{sentence}");
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
            sentence
                .contains("epsilon = 1: whether the original had one person's rows makes anything")
        );
        assert!(
            sentence
                .ends_with("at most 2.72 times as likely, except with probability 1.0e-9 (delta)."),
            "{sentence}"
        );
    }
}
