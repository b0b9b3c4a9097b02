//! The section on frequent itemsets and the measures of usefulness.

use super::{Section, heading, line, series, table};
use crate::chart::{SERIES, Words, stack};
use crate::data::Report;
use crate::markup::Markup;
use crate::number::{count, of, or_dash, plain, share};

pub const SECTION: Section =
    Section { id: "itemsets", title: "Frequent itemsets and usefulness", write };

/// A measure of `utility`, its name in words, and how it is written.
type Measure = (&'static str, &'static str, fn(f64) -> String);

const MEASURES: [Measure; 10] = [
    ("tv_one_mean", "Columns off by, on average", share),
    ("tv_one_max", "Columns off by, at most", share),
    ("tv_two_mean", "Pairs off by, on average", share),
    ("tv_two_max", "Pairs off by, at most", share),
    ("cramers_v_mean", "Association (Cramér’s V) off by, on average", plain),
    ("cramers_v_max", "Association (Cramér’s V) off by, at most", plain),
    ("pmse", "Distinguished by a model: propensity score (pMSE)", plain),
    ("pmse_expected", "pMSE of two tables that differ by chance alone", plain),
    ("pmse_ratio", "pMSE, how many times that of chance alone", plain),
    ("pmse_standardised", "pMSE above that, in standard deviations", plain),
];

fn write(markup: &mut Markup, report: &Report) {
    if let Some(itemsets) = report.releases.first().map(|release| &release.itemsets) {
        markup.paragraph(format_args!(
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
                    figure.remark(format_args!(
                        "Supports of those in both are {} apart on average.",
                        share(apart)
                    ));
                }
            });
        }
    });
    let lines = MEASURES.iter().map(|&(measure, name, write)| {
        line(name, report.releases.iter().map(|release| or_dash(release.measure(measure), write)))
    });
    table(markup, "Usefulness", line("measure", series(report, false)), lines);
    markup.remark(
        "pMSE: how well a logistic model distinguishes the rows of the two tables, 0 if not at all. Two tables that \
         differ by chance alone have about as much as chance brings about: 1 times that. The more rows there \
         are, the smaller the differences that are found, so that large tables have large numbers here whether the \
         differences matter or not. The top of the page shows how far the model gets, from 0 to 100 %.",
    );
}
