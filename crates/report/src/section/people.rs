//! The section on single people: rows that are still recognisable in the release.

use super::{Section, legend, line, series, table};
use crate::chart::{Bar, Words, bars};
use crate::data::{People, Release, Report};
use crate::markup::Markup;
use crate::number::{count, names, or_dash, plain, share};

pub const SECTION: Section =
    Section { id: "people", title: "Rows that can still be recognised", write };

fn write(markup: &mut Markup, report: &Report) {
    markup.paragraph(
        "These are tests, not guarantees: an attacker may find more. A row of the original got through if some \
         released row stands for it and for no other: a row of exact values stands for equal rows, one with coarse or \
         blank cells for all rows that they cover. The anonymity score counts such rows, with more weight on rare \
         ones: 0 if there are none, 1 if all got through. The sensitive column, if there is one, is left out: it is \
         assumed to be unknown.",
    );
    let test = |name, of: fn(&Release) -> String| line(name, report.releases.iter().map(of));
    let lines = [
        test("Anonymity score", |one| or_dash(one.anonymity_score, plain)),
        test("Released rows that stand for one row of the original", |one| {
            or_dash(one.common_rows.of_released, share)
        }),
        test("Rows of the original that got through", |one| {
            or_dash(one.common_rows.of_original, share)
        }),
    ];
    table(markup, "Rows that got through", line("test", series(report, false)), lines);
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
    markup.paragraph(format_args!(
            "One person can have several rows of a class; {unit} identifies people. A released row does not say \
             which row it was, so there are only lower and upper bounds on the number of people in a class."
        ),
    );
    let number = |name, of: fn(&People) -> u64| {
        line(name, report.releases.iter().map(|one| or_dash(one.people.as_ref().map(of), count)))
    };
    let lines = [
        number("Classes", |people| people.classes),
        number("Fewest people in a class, at least", |people| people.fewest),
        number("Fewest people in a class, at most", |people| people.fewest_at_most),
        number("Classes of fewer than k people, for certain", |people| people.surely_fewer),
        number("Classes of fewer than k people, at worst", |people| people.perhaps_fewer),
    ];
    table(markup, "People in a class", line("number", series(report, false)), lines);
}

/// The share of rows that a few known cells identify.
fn unicity(markup: &mut Markup, report: &Report) {
    markup.leaf("h3", &[], "Rows that a few known values find");
    markup.paragraph(format_args!(
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
                let mut unicity = release.unicity.iter();
                unicity.find(|after| after.known == before.known).map(|after| after.share)
            });
            let numbers = std::iter::once(Some(before.share)).chain(after).collect();
            Bar { name: format!("{} known", before.known), numbers }
        })
        .collect();
    markup.element("figure", &[], |figure| {
        let title = "Rows found, by the number of values known";
        figure.leaf("figcaption", &[], title);
        let description = String::from("A group of bars for each number of known values.");
        bars(figure, &Words { id: "unicity".into(), title, description }, &found, 0);
    });
    let lines = found
        .iter()
        .map(|bar| line(&bar.name, bar.numbers.iter().map(|&number| or_dash(number, share))));
    table(markup, "Rows found", line("values", series(report, true)), lines);
}
