//! The section on the part of the original's budget that is spent.

use super::{Section, table};
use crate::data::Report;
use crate::markup::Markup;
use crate::number::plain;

pub const SECTION: Section = Section { id: "budget", title: "Budget spent", write };

fn write(markup: &mut Markup, report: &Report) {
    markup.paragraph(
        "The original is protected: every private answer and release from it is charged. Epsilons and deltas \
         add up, whoever reads the releases.",
    );
    let of = |spent: f64, all: Option<f64>| match all {
        Some(all) => format!("{} of {}", plain(spent), plain(all)),
        None => plain(spent),
    };
    let lines = report.budget.iter().map(|account| {
        vec![
            account.grantee.clone().unwrap_or_else(|| String::from("everybody together")),
            of(account.epsilon_spent, account.epsilon),
            of(account.delta_spent, account.delta),
        ]
    });
    table(markup, "Spent so far", ["who", "epsilon", "delta"], lines);
}
