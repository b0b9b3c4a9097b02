//! The section on blanked and changed cells, by column.

use super::{Section, columns_of, heading, legend, series, table};
use crate::chart::{Bar, Words, bars};
use crate::data::{ColumnChange, Report};
use crate::markup::Markup;
use crate::number::{count, share, share_or_dash};

pub const SECTION: Section = Section { id: "loss", title: "Suppression and loss by column", write };

/// The number of columns that are drawn, and of lines of the table.
const DRAWN: usize = 20;
const LINES: usize = 60;

fn write(markup: &mut Markup, report: &Report) {
    markup.leaf(
        "p",
        &[],
        "Blank cells (NULL) before and after, and how far the values of a column have moved: at least that \
         share of its cells is not what it was (total variation distance). The loss tells how much of what a cell \
         said is gone, on average: nothing of an exact value, all of a blank cell, and of a coarse value as much \
         as it covers of the column.",
    );
    legend(markup, report, true);
    let blank = |release: usize, column: usize| {
        report.releases[release].columns.get(column).map(|change| change.released_nulls)
    };
    let changed = |release: usize, column: usize| {
        report.releases[release].columns.get(column).map(|change| change.changed)
    };
    let first = report.releases.first().map_or(&[] as &[ColumnChange], |release| &release.columns);
    let releases = 0..report.releases.len();
    let bar = |column: usize, numbers: Vec<Option<f64>>| Bar {
        name: report.columns[column].clone(),
        numbers,
    };
    let drawn = 0..first.len().min(DRAWN);
    let blanks: Vec<Bar> = drawn
        .clone()
        .map(|column| {
            let before = Some(first[column].original_nulls);
            bar(
                column,
                [before].into_iter().chain(releases.clone().map(|r| blank(r, column))).collect(),
            )
        })
        .collect();
    let changes: Vec<Bar> = drawn
        .map(|column| bar(column, releases.clone().map(|r| changed(r, column)).collect()))
        .collect();
    markup.element("div", &[("class", &"sides")], |sides| {
        for (id, title, drawn, from) in [
            ("blank", "Blank cells", &blanks, 0),
            ("changed", "Values that moved, at least", &changes, 1),
        ] {
            sides.element("figure", &[], |figure| {
                figure.leaf("figcaption", &[], title);
                let description =
                    String::from("Bars for each column; the table below has the numbers.");
                bars(figure, &Words { id: id.into(), title, description }, drawn, from, share);
            });
        }
    });
    let lines = (0..first.len().min(LINES)).map(|column| {
        let mut line = vec![report.columns[column].clone(), share(first[column].original_nulls)];
        line.extend(releases.clone().map(|r| share_or_dash(blank(r, column))));
        line.extend(releases.clone().map(|r| share_or_dash(changed(r, column))));
        line.push(count(first[column].original_values));
        let values =
            |r: usize| report.releases[r].columns.get(column).map_or(0, |c| c.released_values);
        line.extend(releases.clone().map(|r| count(values(r))));
        if has_loss(report) {
            let loss =
                |r: usize| report.releases[r].columns.get(column).and_then(|change| change.loss);
            line.extend(releases.clone().map(|r| share_or_dash(loss(r))));
        }
        line
    });
    let named = |what: &'static str, with_original| {
        series(report, with_original).into_iter().map(move |name| format!("{what}, {name}"))
    };
    let mut names: Vec<String> = named("blank", true).chain(named("moved", false)).collect();
    names.extend(named("values", true));
    if has_loss(report) {
        names.extend(named("loss", false));
    }
    table(markup, "By column", &columns_of("column", names), &lines.collect::<Vec<_>>());
    coarse(markup, report);
    if first.len() > LINES {
        markup.leaf(
            "p",
            &[("class", &"muted")],
            format_args!("The first {LINES} of {} columns.", first.len()),
        );
    }
}

/// What coarse values stand for.
fn coarse(markup: &mut Markup, report: &Report) {
    for (i, release) in report.releases.iter().enumerate().filter(|(_, one)| !one.coarse.is_empty())
    {
        markup.leaf("h3", &[], format_args!("What coarse values mean in {}", heading(report, i)));
        markup.leaf(
            "p",
            &[],
            "Some cells show a coarse value in place of their own: it stands for any of the values from the first \
             to the last, and nobody can tell from the table which of them it was. If a coarse value looks like \
             an exact one, a 20 for the twenties say, those who get the table must be told.",
        );
        let lines: Vec<Vec<String>> = release
            .coarse
            .iter()
            .map(|one| {
                let stands_for = format!("{} to {}", one.first, one.last);
                let name = format!("{} = {}", one.column, one.value);
                vec![name, stands_for, count(one.values), share(one.rows)]
            })
            .collect();
        let names =
            ["coarse value", "stands for", "different values", "shown in rows"].map(String::from);
        table(markup, "The most common coarse values of each column", &names, &lines);
    }
}

fn has_loss(report: &Report) -> bool {
    report.releases.iter().flat_map(|release| &release.columns).any(|change| change.loss.is_some())
}
