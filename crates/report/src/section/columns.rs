//! The section on the values of each column before and after.

use super::{Section, closed_table, legend, line, series};
use crate::chart::{Bar, Words, bars};
use crate::data::{Report, ValueShare};
use crate::markup::Markup;
use crate::number::{share, value};

pub const SECTION: Section = Section { id: "columns", title: "Columns before and after", write };

/// The number of columns that are drawn, in descending order of their difference.
const DRAWN: usize = 24;

fn write(markup: &mut Markup, report: &Report) {
    let moved = |column: usize| {
        let changes = report.releases.iter().filter_map(|release| release.columns.get(column));
        changes.map(|change| change.changed).fold(0.0, f64::max)
    };
    let has_values = |column: &usize| {
        report.releases.iter().any(|r| r.columns.get(*column).is_some_and(|c| !c.values.is_empty()))
    };
    let mut columns: Vec<usize> = (0..report.columns.len()).filter(has_values).collect();
    columns.sort_by(|&a, &b| moved(b).total_cmp(&moved(a)).then(a.cmp(&b)));
    columns.truncate(DRAWN);
    let cut = match report.columns.len() > columns.len() {
        true => format!(" The {} columns that differ most are shown.", columns.len()),
        false => String::new(),
    };
    markup.paragraph(format_args!(
            "The most common values of each column, or ranges of its numbers and dates, as a share of each \
             table's rows. A coarse number or date is counted where its range begins. The column that differs \
             most comes first.{cut}"
        ),
    );
    legend(markup, report, true);
    markup.element("div", &[("class", &"grid")], |grid| {
        for column in columns {
            grid.element("figure", &[], |figure| one(figure, report, column, moved(column)));
        }
    });
}

fn one(figure: &mut Markup, report: &Report, column: usize, moved: f64) {
    let name = &report.columns[column];
    figure.element("figcaption", &[], |caption| {
        caption.text(name);
        caption.leaf("span", &[], format_args!(" · moved {}", share(moved)));
    });
    let drawn = bars_of(report, column);
    let first = drawn.first().map_or_else(String::new, |bar| {
        let shares: Vec<String> =
            bar.numbers.iter().flatten().map(|&number| share(number)).collect();
        format!(" {}: {}.", bar.name, shares.join(", then "))
    });
    let title = format!("Values of {name}, before and after");
    let description = format!("A group of bars for each value.{first}");
    let words = Words { id: format!("column-{column}"), title: &title, description };
    bars(figure, &words, &drawn, 0);
    let lines = drawn.iter().map(|bar| {
        let shares = bar.numbers.iter().map(|number| number.map_or_else(String::new, share));
        line(&bar.name, shares)
    });
    closed_table(figure, &title, line("value", series(report, true)), lines);
}

/// A bar of each table for each value; all releases have the same list of values.
fn bars_of(report: &Report, column: usize) -> Vec<Bar> {
    let values = |release: usize| {
        let change = report.releases.get(release).and_then(|release| release.columns.get(column));
        change.map_or(&[] as &[ValueShare], |change| &change.values)
    };
    let bar = |(i, shown): (usize, &ValueShare)| {
        let releases =
            (0..report.releases.len()).map(|r| values(r).get(i).map(|shown| shown.released));
        let numbers = std::iter::once(Some(shown.original)).chain(releases).collect();
        Bar { name: value(shown.value.as_deref()).into(), numbers }
    };
    values(0).iter().enumerate().map(bar).collect()
}
