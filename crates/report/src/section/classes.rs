//! How many rows look alike.

use super::{Section, columns_of, legend, series, table};
use crate::chart::{Bar, Words, bars};
use crate::data::{ClassSize, Classes, Report};
use crate::markup::Markup;
use crate::number::{count, share};

pub const SECTION: Section = Section { id: "classes", title: "How many rows look alike", write };

fn write(markup: &mut Markup, report: &Report) {
    markup.leaf(
        "p",
        &[],
        "A class is the rows that are equal in all columns of this report. The bars show how many of a \
         table's rows are in classes of each size: rows in small classes are found easily.",
    );
    legend(markup, report, true);
    let tables = || {
        let releases = report.releases.iter().map(|release| (&release.classes, release.rows));
        std::iter::once((&report.original.classes, report.original.rows)).chain(releases)
    };
    let sizes = &report.original.classes.sizes;
    let of = |classes: &Classes, i: usize| classes.sizes.get(i).cloned().unwrap_or_default();
    let drawn: Vec<Bar> = sizes
        .iter()
        .enumerate()
        .map(|(i, size)| {
            let shares = tables()
                .map(|(classes, rows)| Some(of(classes, i).rows as f64 / rows.max(1) as f64));
            Bar { name: name(size), numbers: shares.collect() }
        })
        .collect();
    markup.element("div", &[("class", &"sides")], |sides| {
        sides.element("figure", &[], |figure| {
            figure.leaf("figcaption", &[], "Rows by the size of their class");
            let alone: Vec<String> = tables()
                .map(|(classes, rows)| share(classes.alone as f64 / rows.max(1) as f64))
                .collect();
            let description = format!(
                "A group of bars for each size. Rows that stand alone: {}.",
                alone.join(" before, after ")
            );
            let words = Words {
                id: "classes".into(),
                title: "Rows by the size of their class",
                description,
            };
            bars(figure, &words, &drawn, 0, share);
        });
        sides.element("div", &[], |side| {
            let lines: Vec<Vec<String>> = sizes
                .iter()
                .enumerate()
                .map(|(i, size)| {
                    let mut line = vec![name(size)];
                    line.extend(tables().map(|(classes, _)| count(of(classes, i).classes)));
                    line.extend(tables().map(|(classes, _)| count(of(classes, i).rows)));
                    line
                })
                .collect();
            let named = |what: &'static str| {
                series(report, true).into_iter().map(move |name| format!("{what}, {name}"))
            };
            let names = named("classes").chain(named("rows")).collect();
            table(side, "Classes and rows by size", &columns_of("rows alike", names), &lines);
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
