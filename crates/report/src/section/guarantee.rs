//! The section on the guarantee of each release, and on what the guarantee does not cover.

use super::{Section, heading};
use crate::data::{Release, Report};
use crate::markup::Markup;
use crate::number::of;
use serde_json::Value;

pub const PROMISE: Section = Section {
    id: "promise",
    title: "What was released, and what is promised",
    write: |markup, report| each(markup, report, promise),
};

pub const NOT_COVERED: Section = Section {
    id: "not-covered",
    title: "What is not covered",
    write: |markup, report| each(markup, report, not_covered),
};

/// Writes a part about each release, side by side.
fn each(markup: &mut Markup, report: &Report, write: fn(&mut Markup, &Release)) {
    markup.element("div", &[("class", &"sides")], |sides| {
        for (i, release) in report.releases.iter().enumerate() {
            sides.element("div", &[("class", &"card")], |side| {
                side.leaf("h3", &[], heading(report, i));
                write(side, release);
            });
        }
    });
}

fn promise(markup: &mut Markup, release: &Release) {
    let made = match &release.method {
        Some(method) => format!(", made by {method}"),
        None => String::new(),
    };
    markup.paragraph(format_args!("{}{made}.", of(release.rows, "row", "rows")));
    let Some(label) = &release.guarantee else {
        markup.element("p", &[], |text| {
            text.leaf("strong", &[], "No guarantee was stated. ");
            text.text("The request for this report did not say how the table was made, so no guarantee can be stated: the rest of the page shows measurements.");
        });
        return;
    };
    // The rest of the sentence is the list in the next section.
    let sentence = label["sentence"].as_str().unwrap_or_default();
    markup.paragraph(sentence.split(" Not covered: ").next().unwrap_or_default());
    if let Some(mechanism) = label["mechanism"].as_str() {
        markup.remark(format_args!("Mechanism: {mechanism}."));
    }
    let assumptions = texts(label, "assumptions");
    if !assumptions.is_empty() {
        markup.paragraph("It holds if:");
        list(markup, &assumptions);
    }
}

fn not_covered(markup: &mut Markup, release: &Release) {
    let missing = release.guarantee.as_ref().map(|label| texts(label, "not_covered"));
    match missing {
        Some(missing) if !missing.is_empty() => list(markup, &missing),
        Some(_) => markup.paragraph("The label names nothing."),
        None => markup.paragraph("Anything: no guarantee was stated."),
    }
}

fn texts<'a>(label: &'a Value, key: &str) -> Vec<&'a str> {
    label[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn list(markup: &mut Markup, texts: &[&str]) {
    markup.element("ul", &[], |list| texts.iter().for_each(|text| list.leaf("li", &[], text)));
}
