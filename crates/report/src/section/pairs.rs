//! The section on pairs of columns before and after.

use super::{Section, closed_table, heading, line, table};
use crate::chart::{SERIES, Words, heat, matrix};
use crate::data::{Crossed, Release, Report};
use crate::markup::Markup;
use crate::number::{plain, share, value};

pub const SECTION: Section =
    Section { id: "pairs", title: "Pairs of columns before and after", write };

/// The number of columns of the matrix, and of lines of the table.
const DRAWN: usize = 18;
const LINES: usize = 10;

fn write(markup: &mut Markup, report: &Report) {
    markup.paragraph(
        "How far the combinations of each two columns have moved (total variation distance), and how strongly \
         the two are associated before and after (Cramér’s V: 0 if they are independent, 1 if one follows from \
         the other). Dark cells are pairs that differ much.",
    );
    markup.element("div", &[("class", &"sides")], |sides| {
        for (i, release) in report.releases.iter().enumerate() {
            let write = |part: &mut Markup| {
                part.element("div", &[], |side| drawn(side, report, release, i));
                part.element("div", &[], |side| listed(side, release));
            };
            // The table is beside the chart of one release, and below each of two.
            match report.releases.len() {
                1 => write(sides),
                _ => sides.element("div", &[], write),
            }
        }
    });
    for (i, release) in report.releases.iter().enumerate() {
        for (j, crossed) in release.crossed.iter().enumerate() {
            let name = format!("{} × {}", crossed.a, crossed.b);
            markup.leaf("h3", &[], format_args!("{name} in {}", heading(report, i)));
            combinations(markup, crossed, &name, &format!("crossed-{i}-{j}"), SERIES[i + 1]);
        }
    }
}

fn drawn(side: &mut Markup, report: &Report, release: &Release, i: usize) {
    if report.releases.len() > 1 {
        side.leaf("h3", &[], heading(report, i));
    }
    let names: Vec<&str> = report.columns.iter().take(DRAWN).map(String::as_str).collect();
    let changed = |a: usize, b: usize| {
        let (a, b) = (names[a], names[b]);
        let found = release
            .pairs
            .iter()
            .find(|pair| (pair.a == a && pair.b == b) || (pair.a == b && pair.b == a));
        found.map(|pair| pair.changed)
    };
    let largest = release.pairs.first().map_or(0.0, |pair| pair.changed);
    let most = release.pairs.first().map_or_else(String::new, |pair| {
        format!(" Most: {} and {}, {}.", pair.a, pair.b, share(pair.changed))
    });
    side.element("figure", &[], |figure| {
        figure.element("figcaption", &[], |caption| {
            caption.text("Pairs that moved");
            caption.leaf("span", &[], format_args!(" · darkest: {}", share(largest)));
        });
        let description =
            format!("A cell for each two columns, the fuller the more they differ.{most}");
        let words = Words { id: format!("pairs-{i}"), title: "Pairs that moved", description };
        matrix(figure, &words, SERIES[i + 1], &names, largest, changed);
    });
}

fn listed(side: &mut Markup, release: &Release) {
    let lines = release.pairs.iter().take(LINES).map(|pair| {
        let name = format!("{} × {}", pair.a, pair.b);
        vec![name, share(pair.changed), plain(pair.original_v), plain(pair.released_v)]
    });
    let names = ["columns", "moved", "V before", "V after"];
    table(side, "The pairs that differ most", names, lines);
}

/// Both tables of combinations of a pair, side by side.
fn combinations(markup: &mut Markup, crossed: &Crossed, name: &str, id: &str, class: &'static str) {
    let texts = |values: &[Option<String>], has_others: bool| {
        let texts = values.iter().map(|text| value(text.as_deref()));
        texts.chain(has_others.then_some("all others")).map(String::from).collect::<Vec<_>>()
    };
    let lines_of =
        || crossed.original.iter().zip(&crossed.released).map(|(ours, theirs)| [ours, theirs]);
    let (a, b) = (crossed.a_values.len(), crossed.b_values.len());
    let any = |shares: &[f64]| shares.iter().any(|&share| share > 0.0);
    let more_lines = lines_of().skip(a).flatten().any(|line| any(line));
    let more_columns = lines_of().flatten().any(|line| any(line.get(b..).unwrap_or_default()));
    let lines = texts(&crossed.a_values, more_lines);
    let columns = texts(&crossed.b_values, more_columns);
    let all = crossed.original.iter().chain(&crossed.released).flatten();
    let largest = all.copied().fold(0.0, f64::max);
    markup.element("div", &[("class", &"sides")], |sides| {
        for (when, shares, class) in
            [("before", &crossed.original, "before"), ("after", &crossed.released, class)]
        {
            sides.element("figure", &[], |figure| {
                figure.leaf("figcaption", &[], format_args!("{when}, in per cent of the rows"));
                let title = format!("{name}, {when}");
                let description =
                    format!("Lines are values of {}, columns values of {}.", crossed.a, crossed.b);
                let words = Words { id: format!("{id}-{when}"), title: &title, description };
                heat(figure, &words, class, &lines, &columns, shares, largest);
                let table = lines.iter().zip(shares).map(|(name, shares)| {
                    line(name, shares.iter().take(columns.len()).map(|&x| share(x)))
                });
                closed_table(figure, &title, line(&crossed.a, columns.clone()), table);
            });
        }
    });
}
