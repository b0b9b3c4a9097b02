//! The section on blanked and changed cells, by column.

use super::{Section, heading, legend, line, series, table};
use crate::chart::{Bar, Words, bars};
use crate::data::{ColumnChange, Report};
use crate::markup::Markup;
use crate::number::{count, or_dash, share};

pub const SECTION: Section = Section { id: "loss", title: "Suppression and loss by column", write };

/// The number of columns that are drawn, and of lines of the table.
const DRAWN: usize = 20;
const LINES: usize = 60;

fn write(markup: &mut Markup, report: &Report) {
    markup.paragraph(
        "Blank cells (NULL) before and after, and how far the values of a column have moved: at least that \
         share of its cells is not what it was (total variation distance). The loss tells how much of what a cell \
         said is gone, on average: nothing of an exact value, all of a blank cell, and of a coarse value as much \
         as it covers of the column.",
    );
    legend(markup, report, true);
    let first = report.releases.first().map_or(&[] as &[ColumnChange], |release| &release.columns);
    let (mut blanks, mut changes) = (Vec::new(), Vec::new());
    for (column, before) in first.iter().enumerate().take(DRAWN) {
        let mut numbers = vec![Some(before.original_nulls)];
        numbers.extend(of_each(report, column, |change| change.released_nulls));
        blanks.push(Bar { name: report.columns[column].clone(), numbers });
        let numbers = of_each(report, column, |change| change.changed).collect();
        changes.push(Bar { name: report.columns[column].clone(), numbers });
    }
    markup.element("div", &[("class", &"sides")], |sides| {
        for (id, title, drawn, from) in [
            ("blank", "Blank cells", &blanks, 0),
            ("changed", "Values that moved, at least", &changes, 1),
        ] {
            sides.element("figure", &[], |figure| {
                figure.leaf("figcaption", &[], title);
                let description =
                    String::from("Bars for each column; the table below has the numbers.");
                bars(figure, &Words { id: id.into(), title, description }, drawn, from);
            });
        }
    });
    let has_loss = report
        .releases
        .iter()
        .flat_map(|release| &release.columns)
        .any(|change| change.loss.is_some());
    let lines = first.iter().enumerate().take(LINES).map(|(column, before)| {
        let shares = |of: fn(&ColumnChange) -> f64| {
            of_each(report, column, of).map(|number| or_dash(number, share))
        };
        let mut line = vec![report.columns[column].clone(), share(before.original_nulls)];
        line.extend(shares(|change| change.released_nulls));
        line.extend(shares(|change| change.changed));
        line.push(count(before.original_values));
        let values = of_each(report, column, |change| change.released_values);
        line.extend(values.map(|values| count(values.unwrap_or(0))));
        if has_loss {
            let losses = of_each(report, column, |change| change.loss);
            line.extend(losses.map(|loss| or_dash(loss.flatten(), share)));
        }
        line
    });
    let named = |what: &'static str, with_original| {
        series(report, with_original).into_iter().map(move |name| format!("{what}, {name}"))
    };
    let mut names: Vec<String> = named("blank", true).chain(named("moved", false)).collect();
    names.extend(named("values", true));
    if has_loss {
        names.extend(named("loss", false));
    }
    table(markup, "By column", line("column", names), lines);
    coarse(markup, report);
    if first.len() > LINES {
        markup.remark(format_args!("The first {LINES} of {} columns.", first.len()));
    }
}

/// What coarse values stand for.
fn coarse(markup: &mut Markup, report: &Report) {
    for (i, release) in report.releases.iter().enumerate().filter(|(_, one)| !one.coarse.is_empty())
    {
        markup.leaf("h3", &[], format_args!("What coarse values mean in {}", heading(report, i)));
        markup.paragraph(
            "Some cells show a coarse value in place of their own: it stands for any of the values from the first \
             to the last, and nobody can tell from the table which of them it was. If a coarse value looks like \
             an exact one, a 20 for the twenties say, those who get the table must be told.",
        );
        let lines = release.coarse.iter().map(|one| {
            let stands_for = format!("{} to {}", one.first, one.last);
            let name = format!("{} = {}", one.column, one.value);
            vec![name, stands_for, count(one.values), share(one.rows)]
        });
        let names = ["coarse value", "stands for", "different values", "shown in rows"];
        table(markup, "The most common coarse values of each column", names, lines);
    }
}

/// A number of a column in each release.
fn of_each<T>(
    report: &Report,
    column: usize,
    of: impl Fn(&ColumnChange) -> T,
) -> impl Iterator<Item = Option<T>> {
    report.releases.iter().map(move |release| release.columns.get(column).map(&of))
}
