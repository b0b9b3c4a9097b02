//! The section on the columns and values that made rows stand out.

use super::{Section, closed_table, table};
use crate::chart::{Bar, Words, bars};
use crate::data::Report;
use crate::markup::Markup;
use crate::number::{count, of, of_all};

pub const SECTION: Section =
    Section { id: "risk", title: "Which columns and values carried the risk", write };

/// The number of columns that are drawn.
const DRAWN: usize = 20;

fn write(markup: &mut Markup, report: &Report) {
    let original = &report.original;
    markup.paragraph(format_args!(
            "In the original, a combination of at most {} that at most {} share makes those rows stand out \
             (a minimal infrequent itemset). The chart shows for each column the rows that stand out through \
             it; the table, the values that are part of the most.{}",
            of(original.max_length as u64, "value", "values"),
            of(original.theta, "row", "rows"),
            match report.known_columns.len() < report.columns.len() && !report.known_columns.is_empty() {
                true => " Only the columns by which rows were to look alike are looked at.",
                false => "",
            }
        ),
    );
    let mut columns: Vec<_> = original.risk.iter().collect();
    columns.sort_by_key(|risk| std::cmp::Reverse(risk.rows));
    columns.truncate(DRAWN);
    let drawn: Vec<Bar> = columns
        .iter()
        .map(|risk| Bar {
            name: risk.column.clone(),
            numbers: vec![Some(of_all(risk.rows, original.rows))],
        })
        .collect();
    let most = columns.first().map_or_else(String::new, |risk| {
        format!(" Most: {}, {}.", risk.column, of(risk.rows, "row", "rows"))
    });
    markup.element("div", &[("class", &"sides")], |sides| {
        sides.element("figure", &[], |figure| {
            let title = "Rows that stand out, by column";
            figure.leaf("figcaption", &[], title);
            let description = format!("A bar for each column, the largest first.{most}");
            bars(figure, &Words { id: "risk".into(), title, description }, &drawn, 0);
            let lines = columns
                .iter()
                .map(|risk| vec![risk.column.clone(), count(risk.rows), count(risk.combinations)]);
            closed_table(figure, title, ["column", "rows", "combinations"], lines);
        });
        sides.element("div", &[], |side| {
            let lines = original.risky_values.iter().map(|risk| {
                let name = format!("{} = {}", risk.column, risk.value);
                vec![name, count(risk.rows), count(risk.combinations)]
            });
            let names = ["value", "rows", "combinations"];
            table(side, "Values that make the most rows stand out", names, lines);
        });
    });
}
