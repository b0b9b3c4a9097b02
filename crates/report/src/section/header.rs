//! The top of the page: subject, audience, verdict and the most important numbers.

use super::{Section, heading};
use crate::data::{Release, Report};
use crate::markup::Markup;
use crate::number::{count, of, of_all, or_dash, plain, share};
use crate::verdict::{Tone, promised};

/// The subject of the page, and its audience.
pub fn head(markup: &mut Markup, report: &Report) {
    markup.element("header", &[], |header| {
        header.leaf("h1", &[], &report.title);
        let names: Vec<&str> = report.releases.iter().map(|release| release.name.as_str()).collect();
        let kind = if names.len() == 1 { "The release" } else { "The candidates" };
        let columns = report.columns.len() as u64;
        header.remark(format_args!(
                "{kind} {} beside the original {}, in {}. Made {}.",
                names.join(" and "),
                report.original.name,
                of(columns, "column", "columns"),
                report.made_at
            ),
        );
        for note in &report.notes {
            header.remark(note);
        }
        header.element("p", &[("class", &"notice"), ("role", &"note")], |notice| {
            notice.leaf("strong", &[], "For the privacy officer, not for publishing.");
            notice.text(
                " This page shows values and counts of the original as they are, rare ones among them. \
                 Keep it where the original is kept.",
            );
        });
    });
}

/// The verdict on each release, with links to details.
pub fn verdicts(markup: &mut Markup, report: &Report, sections: &[Section]) {
    markup.element("section", &[("aria-labelledby", &"verdict")], |section| {
        section.leaf("h2", &[("id", &"verdict")], "Verdict");
        section.element("div", &[("class", &"sides")], |sides| {
            for (i, release) in report.releases.iter().enumerate() {
                sides.element("div", &[], |side| {
                    if report.releases.len() > 1 {
                        side.leaf("h3", &[], heading(report, i));
                    }
                    verdict(side, report, release);
                });
            }
        });
    });
    markup.element("nav", &[("aria-label", &"Contents")], |nav| {
        nav.element("ul", &[], |list| {
            for section in sections {
                list.element("li", &[], |item| {
                    item.leaf("a", &[("href", &format_args!("#{}", section.id))], section.title);
                });
            }
        });
    });
}

fn verdict(side: &mut Markup, report: &Report, release: &Release) {
    side.element("div", &[("class", &"verdicts")], |lines| {
        for line in &release.verdict {
            let (class, word) = match line.tone {
                Tone::Good => ("good", "good"),
                Tone::Fair => ("fair", "fair"),
                Tone::Poor => ("poor", "look closely"),
            };
            lines.element("p", &[("class", &format_args!("verdict {class}"))], |text| {
                text.leaf("strong", &[], format_args!("{}: {word}. ", line.about));
                text.text(line.sentence.replace(" %", "\u{a0}%"));
            });
        }
    });
    side.element("dl", &[("class", &"tiles")], |tiles| {
        for (name, number, beside) in numbers(report, release) {
            tiles.element("div", &[], |tile| {
                tile.leaf("dt", &[], name);
                tile.element("dd", &[], |number_| {
                    number_.text(number);
                    number_.leaf("small", &[], beside);
                });
            });
        }
    });
}

/// The contents of the tiles: a name, a number, and a number to compare it with.
fn numbers(report: &Report, release: &Release) -> Vec<(&'static str, String, String)> {
    let original = &report.original;
    let alone = |alone: u64, rows: u64| share(of_all(alone, rows));
    let measure = |name: &str| or_dash(release.measure(name), share);
    let itemsets = &release.itemsets;
    let kept = (itemsets.original > 0).then(|| of_all(itemsets.common, itemsets.original));
    if report.columns.is_empty() {
        return vec![("Rows released", count(release.rows), format!("from {}", original.name))];
    }
    let mut tiles = vec![
        ("Rows released", count(release.rows), format!("of {}", count(original.rows))),
        (
            "Smallest class",
            or_dash(release.classes.smallest, count),
            format!("{} before", or_dash(release.classes_before.smallest, count)),
        ),
        (
            "Rows that stand alone",
            alone(release.classes.alone, release.rows),
            format!("{} before", alone(release.classes_before.alone, original.rows)),
        ),
        (
            "Anonymity score",
            or_dash(release.anonymity_score, plain),
            String::from("0: no row got through, 1: all"),
        ),
        ("Columns off by", measure("tv_one_mean"), format!("{} at most", measure("tv_one_max"))),
        ("Pairs off by", measure("tv_two_mean"), format!("{} at most", measure("tv_two_max"))),
        (
            "Frequent itemsets kept",
            or_dash(kept, share),
            format!("{} of {}", count(itemsets.common), count(itemsets.original)),
        ),
        (
            "Distinguished by a model",
            or_dash(release.told_apart(original.rows), share),
            String::from(
                "0 %: cannot distinguish released rows from original ones, 100 %: always can",
            ),
        ),
    ];
    if let Some(people) = &release.people {
        let counts = match release.counts_people() {
            true => "people",
            false => "rows",
        };
        let most = format!("{} at most; k counts {counts}", count(people.fewest_at_most));
        tiles.insert(2, ("Fewest people in a class", count(people.fewest), most));
    }
    let promised = |name: &str| promised(release.guarantee.as_ref()?, name);
    if let Some(seen) = &release.sensitive {
        let said = |promised: Option<f64>, word: &str| match promised {
            Some(number) => format!("{}; promised: {word} {}", seen.column, plain(number)),
            None => seen.column.clone(),
        };
        let number = |number: Option<f64>| or_dash(number, plain);
        match promised("entropy_l") {
            Some(l) => tiles.push((
                "Diversity of a class (l)",
                number(seen.entropy_l),
                said(Some(l), "at least"),
            )),
            None => {
                let l = said(promised("distinct_l"), "at least");
                tiles.push(("Values in a class (l)", number(seen.distinct_l), l));
            }
        }
        tiles.push(("Distance from all rows (t)", number(seen.t), said(promised("t"), "at most")));
    }
    tiles
}
