//! The section on the sizes of classes: how many rows look alike.

use super::{Section, heading, legend, line, series, table};
use crate::chart::{Bar, Words, bars};
use crate::data::{ClassSize, ClassSizes, Release, Report};
use crate::markup::Markup;
use crate::number::{count, names, of_all, share};

pub const SECTION: Section = Section { id: "classes", title: "How many rows look alike", write };

fn write(markup: &mut Markup, report: &Report) {
    let same = report.releases.windows(2).all(|two| two[0].class_columns == two[1].class_columns);
    let first = report.releases.first().map_or(&[] as &[String], |release| &release.class_columns);
    let inside = match same && !first.is_empty() {
        true => format!("in the columns by which rows were to look alike ({})", names(first)),
        false => String::from("in the columns by which rows of a release were to look alike"),
    };
    markup.paragraph(format_args!(
            "A class is the rows that are equal {inside}. The bars show how many of a table's rows are in classes \
             of each size: rows in small classes are found easily."
        ),
    );
    legend(markup, report, true);
    if same {
        let releases: Vec<&Release> = report.releases.iter().collect();
        return drawn(markup, report, "classes", &releases);
    }
    for (i, release) in report.releases.iter().enumerate() {
        markup.leaf("h3", &[], heading(report, i));
        markup.paragraph(format_args!("Rows alike in {}.", names(&release.class_columns)));
        drawn(markup, report, &format!("classes-{i}"), &[release]);
    }
}

/// The classes of some releases with the same columns, and those of the original in these columns.
fn drawn(markup: &mut Markup, report: &Report, id: &str, releases: &[&Release]) {
    let original = releases.first().map(|first| (&first.classes_before, report.original.rows));
    let tables: Vec<(&ClassSizes, u64)> =
        original.into_iter().chain(releases.iter().map(|one| (&one.classes, one.rows))).collect();
    let sizes = tables.first().map_or(&[] as &[ClassSize], |(classes, _)| &classes.sizes);
    let of = |classes: &ClassSizes, i: usize| classes.sizes.get(i).cloned().unwrap_or_default();
    // A release that is drawn alone keeps its colour of the other charts.
    let is_second =
        |release: &Release| report.releases.get(1).is_some_and(|two| std::ptr::eq(two, release));
    let apart = releases.len() == 1 && is_second(releases[0]);
    let drawn: Vec<Bar> = sizes
        .iter()
        .enumerate()
        .map(|(i, size)| {
            let shares = tables.iter().map(|(classes, rows)| of_all(of(classes, i).rows, *rows));
            let mut numbers: Vec<Option<f64>> = shares.map(Some).collect();
            if apart {
                numbers.insert(1, None);
            }
            Bar { name: name(size), numbers }
        })
        .collect();
    markup.element("div", &[("class", &"sides")], |sides| {
        sides.element("figure", &[], |figure| {
            let title = "Rows by the size of their class";
            figure.leaf("figcaption", &[], title);
            let alone: Vec<String> =
                tables.iter().map(|(classes, rows)| share(of_all(classes.alone, *rows))).collect();
            let description = format!(
                "A group of bars for each size. Rows that stand alone: {}.",
                alone.join(" before, after ")
            );
            bars(figure, &Words { id: id.into(), title, description }, &drawn, 0);
        });
        sides.element("div", &[], |side| {
            let lines = sizes.iter().enumerate().map(|(i, size)| {
                let classes = tables.iter().map(|(classes, _)| count(of(classes, i).classes));
                let rows = tables.iter().map(|(classes, _)| count(of(classes, i).rows));
                line(&name(size), classes.chain(rows))
            });
            let all = series(report, true);
            let shown: Vec<String> = match releases.len() == report.releases.len() {
                true => all,
                false => vec![all[0].clone(), all[if apart { 2 } else { 1 }].clone()],
            };
            let named =
                |what: &'static str| shown.iter().map(move |name| format!("{what}, {name}"));
            let names = line("rows alike", named("classes").chain(named("rows")));
            table(side, "Classes and rows by size", names, lines);
        });
    });
}

fn name(size: &ClassSize) -> String {
    match size.to {
        Some(to) if to == size.from => match to {
            1 => String::from("alone"),
            rows => count(rows),
        },
        Some(to) => format!("{}–{}", count(size.from), count(to)),
        None => format!("{} or more", count(size.from)),
    }
}
