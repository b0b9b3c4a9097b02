//! The section on frequent itemsets and the measures of usefulness.

use super::{Section, columns_of, heading, series, table};
use crate::chart::{SERIES, Words, stack};
use crate::data::Report;
use crate::markup::Markup;
use crate::number::{count, of, plain, share, share_or_dash};

pub const SECTION: Section =
    Section { id: "itemsets", title: "Frequent itemsets and usefulness", write };

/// The measures of `utility` in words, and whether they are shares.
const MEASURES: [(&str, &str, bool); 10] = [
    ("tv_one_mean", "Columns off by, on average", true),
    ("tv_one_max", "Columns off by, at most", true),
    ("tv_two_mean", "Pairs off by, on average", true),
    ("tv_two_max", "Pairs off by, at most", true),
    ("cramers_v_mean", "Association (Cramér’s V) off by, on average", false),
    ("cramers_v_max", "Association (Cramér’s V) off by, at most", false),
    ("pmse", "Distinguished by a model: propensity score (pMSE)", false),
    ("pmse_expected", "pMSE of two tables that differ by chance alone", false),
    ("pmse_ratio", "pMSE, how many times that of chance alone", false),
    ("pmse_standardised", "pMSE above that, in standard deviations", false),
];

fn write(markup: &mut Markup, report: &Report) {
    if let Some(itemsets) = report.releases.first().map(|release| &release.itemsets) {
        markup.leaf(
            "p",
            &[],
            format_args!(
                "Itemsets are combinations of at most {}; frequent are those that at least {} of a table’s rows \
                 contain.",
                of(itemsets.max_length as u64, "value", "values"),
                share(itemsets.min_share)
            ),
        );
    }
    markup.element("div", &[("class", &"sides")], |sides| {
        for (i, release) in report.releases.iter().enumerate() {
            sides.element("figure", &[], |figure| {
                figure.leaf(
                    "figcaption",
                    &[],
                    format_args!("Frequent itemsets of {}", heading(report, i)),
                );
                let itemsets = &release.itemsets;
                let parts = [
                    (SERIES[i + 1], "frequent in both", itemsets.common),
                    ("before", "in the original only", itemsets.missing),
                    ("added", "in the release only", itemsets.added),
                ];
                let parts =
                    parts.map(|(class, name, number)| (class, name, number as f64, count(number)));
                let description = format!(
                    "{} in both, {} in the original only, {} in the release only.",
                    count(itemsets.common),
                    count(itemsets.missing),
                    count(itemsets.added)
                );
                let words =
                    Words { id: format!("itemsets-{i}"), title: "Frequent itemsets", description };
                stack(figure, &words, &parts);
                if let Some(apart) = itemsets.support_difference {
                    figure.leaf(
                        "p",
                        &[("class", &"muted")],
                        format_args!(
                            "Supports of those in both are {} apart on average.",
                            share(apart)
                        ),
                    );
                }
            });
        }
    });
    let lines: Vec<Vec<String>> = MEASURES
        .iter()
        .map(|&(measure, name, is_share)| {
            let number = |number: Option<f64>| match is_share {
                true => share_or_dash(number),
                false => number.map_or_else(|| String::from("–"), plain),
            };
            let values = report
                .releases
                .iter()
                .map(|release| number(release.utility.get(measure).copied().flatten()));
            std::iter::once(String::from(name)).chain(values).collect()
        })
        .collect();
    table(markup, "Usefulness", &columns_of("measure", series(report, false)), &lines);
    markup.leaf(
        "p",
        &[("class", &"muted")],
        "pMSE: how well a logistic model distinguishes the rows of the two tables, 0 if not at all. Two tables that \
         differ by chance alone have about as much as chance brings about: 1 times that. The more rows there \
         are, the smaller the differences that are found, so that large tables have large numbers here whether the \
         differences matter or not. The top of the page shows how far the model gets, from 0 to 100 %.",
    );
}
