//! How much of single people got through.

use super::{Section, columns_of, legend, series, table};
use crate::chart::{Bar, Words, bars};
use crate::data::Report;
use crate::markup::Markup;
use crate::number::{plain, share, share_or_dash};

pub const SECTION: Section =
    Section { id: "people", title: "How much of single people got through", write };

fn write(markup: &mut Markup, report: &Report) {
    markup.leaf(
        "p",
        &[],
        "Tests, not guarantees: they find nothing where there is nothing to find, and bound nothing that an \
         attacker can do. The anonymity score counts the rows of the original that occur in the release, rare \
         ones for more: 0 if none does, 1 if all do.",
    );
    let line = |name: &str, of: &dyn Fn(usize) -> String| {
        std::iter::once(String::from(name)).chain((0..report.releases.len()).map(of)).collect()
    };
    let lines: Vec<Vec<String>> = vec![
        line("Anonymity score", &|i| {
            report.releases[i].anonymity_score.map_or_else(|| String::from("–"), plain)
        }),
        line("Released rows that occur in the original", &|i| {
            share_or_dash(report.releases[i].common_rows.of_released)
        }),
        line("Rows of the original that occur in the release", &|i| {
            share_or_dash(report.releases[i].common_rows.of_original)
        }),
    ];
    table(markup, "Rows that got through", &columns_of("test", series(report, false)), &lines);
    if !report.original.unicity.is_empty() {
        unicity(markup, report);
    }
}

/// The share of rows that few known cells find.
fn unicity(markup: &mut Markup, report: &Report) {
    markup.leaf("h3", &[], "Rows that a few known values find");
    markup.leaf(
        "p",
        &[],
        "Unicity: the share of rows that somebody narrows down to one who knows so many random values of a row.",
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
