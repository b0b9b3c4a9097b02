//! The section on single people: rows that are still recognisable in the release.

use super::{Section, columns_of, legend, series, table};
use crate::chart::{Bar, Words, bars};
use crate::data::{People, Report};
use crate::markup::Markup;
use crate::number::{count, names, plain, share, share_or_dash};

pub const SECTION: Section =
    Section { id: "people", title: "Rows that can still be recognised", write };

fn write(markup: &mut Markup, report: &Report) {
    markup.leaf(
        "p",
        &[],
        "These are tests, not guarantees: an attacker may find more. A row of the original got through if some \
         released row stands for it and for no other: a row of exact values stands for equal rows, one with coarse or \
         blank cells for all rows that they cover. The anonymity score counts such rows, with more weight on rare \
         ones: 0 if there are none, 1 if all got through. The sensitive column, if there is one, is left out: it is \
         assumed to be unknown.",
    );
    let line = |name: &str, of: &dyn Fn(usize) -> String| {
        std::iter::once(String::from(name)).chain((0..report.releases.len()).map(of)).collect()
    };
    let lines: Vec<Vec<String>> = vec![
        line("Anonymity score", &|i| {
            report.releases[i].anonymity_score.map_or_else(|| String::from("–"), plain)
        }),
        line("Released rows that stand for one row of the original", &|i| {
            share_or_dash(report.releases[i].common_rows.of_released)
        }),
        line("Rows of the original that got through", &|i| {
            share_or_dash(report.releases[i].common_rows.of_original)
        }),
    ];
    table(markup, "Rows that got through", &columns_of("test", series(report, false)), &lines);
    in_classes(markup, report);
    if !report.original.unicity.is_empty() {
        unicity(markup, report);
    }
}

/// The people in the classes of releases, where that is known.
fn in_classes(markup: &mut Markup, report: &Report) {
    let Some(unit) =
        report.releases.iter().find_map(|one| one.people.as_ref()).map(|people| &people.unit)
    else {
        return;
    };
    markup.leaf("h3", &[], "People in a class");
    markup.leaf(
        "p",
        &[],
        format_args!(
            "One person can have several rows of a class; {unit} identifies people. A released row does not say \
             which row it was, so there are only lower and upper bounds on the number of people in a class."
        ),
    );
    let line = |name: &str, of: fn(&People) -> String| {
        let people = report
            .releases
            .iter()
            .map(|one| one.people.as_ref().map_or_else(|| String::from("–"), of));
        std::iter::once(String::from(name)).chain(people).collect()
    };
    let lines: Vec<Vec<String>> = vec![
        line("Classes", |people| count(people.classes)),
        line("Fewest people in a class, at least", |people| count(people.fewest)),
        line("Fewest people in a class, at most", |people| count(people.fewest_at_most)),
        line("Classes of fewer than k people, for certain", |people| count(people.surely_fewer)),
        line("Classes of fewer than k people, at worst", |people| count(people.perhaps_fewer)),
    ];
    table(markup, "People in a class", &columns_of("number", series(report, false)), &lines);
}

/// The share of rows that a few known cells identify.
fn unicity(markup: &mut Markup, report: &Report) {
    markup.leaf("h3", &[], "Rows that a few known values find");
    markup.leaf(
        "p",
        &[],
        format_args!(
            "Unicity: the share of rows that someone who knows this number of random values of a row{} narrows down to one.",
            match report.known_columns.len() == report.columns.len() || report.known_columns.is_empty() {
                true => String::new(),
                false => format!(", of {}", names(&report.known_columns)),
            }
        ),
    );
    legend(markup, report, true);
    let found: Vec<Bar> = report
        .original
        .unicity
        .iter()
        .map(|before| {
            let after = report.releases.iter().map(|release| {
                release
                    .unicity
                    .iter()
                    .find(|after| after.known == before.known)
                    .map(|after| after.share)
            });
            let numbers = std::iter::once(Some(before.share)).chain(after).collect();
            Bar { name: format!("{} known", before.known), numbers }
        })
        .collect();
    markup.element("figure", &[], |figure| {
        let title = "Rows found, by the number of values known";
        figure.leaf("figcaption", &[], title);
        let description = String::from("A group of bars for each number of known values.");
        bars(figure, &Words { id: "unicity".into(), title, description }, &found, 0, share);
    });
    let lines: Vec<Vec<String>> = found
        .iter()
        .map(|bar| {
            let shares = bar.numbers.iter().map(|&number| share_or_dash(number));
            std::iter::once(bar.name.clone()).chain(shares).collect()
        })
        .collect();
    table(markup, "Rows found", &columns_of("values", series(report, true)), &lines);
}
