//! The sections of the page, in order, and helpers that several of them use.

mod budget;
mod classes;
mod columns;
mod guarantee;
mod header;
mod itemsets;
mod loss;
mod pairs;
mod people;
mod risk;

pub use header::{head, verdicts};

use crate::data::Report;
use crate::markup::Markup;
use std::fmt::Display;

/// A section: its anchor, its title, and the function that writes it.
pub struct Section {
    pub id: &'static str,
    pub title: &'static str,
    pub write: fn(&mut Markup, &Report),
}

/// All sections for which the report has data.
pub fn sections(report: &Report) -> Vec<Section> {
    let mut sections = vec![guarantee::PROMISE, guarantee::NOT_COVERED];
    if !report.columns.is_empty() {
        sections.extend([
            risk::SECTION,
            loss::SECTION,
            classes::SECTION,
            columns::SECTION,
            pairs::SECTION,
            itemsets::SECTION,
            people::SECTION,
        ]);
    }
    if !report.budget.is_empty() {
        sections.push(budget::SECTION);
    }
    sections
}

/// The meaning of the colours: the original, if it is drawn, and the releases.
fn legend(markup: &mut Markup, report: &Report, with_original: bool) {
    let original = with_original.then_some(("before", "Original: ", report.original.name.as_str()));
    let kinds = if report.releases.len() == 1 { ["Release: ", ""] } else { ["A: ", "B: "] };
    let releases = report.releases.iter().zip(["after", "other"]).zip(kinds);
    let releases = releases.map(|((release, class), kind)| (class, kind, release.name.as_str()));
    markup.element("ul", &[("class", &"legend")], |list| {
        for (class, kind, name) in original.into_iter().chain(releases) {
            list.element("li", &[], |item| {
                let class = format!("swatch {class}");
                item.element("span", &[("class", &class), ("aria-hidden", &"true")], |_| ());
                item.text(kind);
                item.text(name);
            });
        }
    });
}

/// A table with a name, the names of its columns, and lines that begin with their name.
fn table(
    markup: &mut Markup,
    caption: &str,
    columns: impl IntoIterator<Item = impl Display>,
    lines: impl IntoIterator<Item = Vec<String>>,
) {
    let scroll: [(&'static str, &dyn Display); 4] =
        [("class", &"scroll"), ("role", &"region"), ("aria-label", &caption), ("tabindex", &"0")];
    markup.element("div", &scroll, |scroll| {
        scroll.element("table", &[], |table| {
            table.leaf("caption", &[], caption);
            table.element("thead", &[], |head| {
                head.element("tr", &[], |line| {
                    columns
                        .into_iter()
                        .for_each(|name| line.leaf("th", &[("scope", &"col")], name));
                });
            });
            table.element("tbody", &[], |body| {
                for cells in lines {
                    body.element("tr", &[], |line| {
                        for (i, cell) in cells.into_iter().enumerate() {
                            match i {
                                0 => line.leaf("th", &[("scope", &"row")], cell),
                                _ => line.leaf("td", &[], cell),
                            }
                        }
                    });
                }
            });
        });
    });
}

/// A table in a collapsed element, for readers who do not need it beside the chart.
fn closed_table(
    markup: &mut Markup,
    caption: &str,
    columns: impl IntoIterator<Item = impl Display>,
    lines: impl IntoIterator<Item = Vec<String>>,
) {
    markup.element("details", &[], |details| {
        details.leaf("summary", &[], "The numbers as a table");
        table(details, caption, columns, lines);
    });
}

/// A name for each series: the original, and the releases, with letters if there are two.
fn series(report: &Report, with_original: bool) -> Vec<String> {
    let original = with_original.then(|| String::from("before"));
    let names: &[&str] = if report.releases.len() == 1 { &["after"] } else { &["A", "B"] };
    let releases = report.releases.iter().zip(names).map(|(_, name)| String::from(*name));
    original.into_iter().chain(releases).collect()
}

/// A line of a table: its first cell, then the others.
fn line(first: &str, others: impl IntoIterator<Item = String>) -> Vec<String> {
    std::iter::once(String::from(first)).chain(others).collect()
}

/// The name of a release in a heading: with its letter if there are two.
fn heading(report: &Report, i: usize) -> String {
    let name = report.releases.get(i).map_or("", |release| release.name.as_str());
    match report.releases.len() {
        1 => name.into(),
        _ => format!("{}: {name}", if i == 0 { "A" } else { "B" }),
    }
}
