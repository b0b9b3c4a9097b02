//! Assembles the page from its sections.

use crate::data::Report;
use crate::markup::Markup;
use crate::section::{head, sections, verdicts};
use crate::style;

/// Allows nothing but the page itself: no scripts, images, fonts or forms, and only its own style sheet.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// The report as a self-contained document.
pub fn html(report: &Report) -> String {
    let mut page = Markup::document();
    page.element("html", &[("lang", &"en")], |html| {
        html.element("head", &[], |meta| {
            meta.open("meta", &[("charset", &"utf-8")]);
            meta.open("meta", &[("name", &"viewport"), ("content", &"width=device-width, initial-scale=1")]);
            meta.open("meta", &[("http-equiv", &"Content-Security-Policy"), ("content", &POLICY)]);
            meta.open("meta", &[("name", &"robots"), ("content", &"noindex")]);
            meta.leaf("title", &[], &report.title);
            meta.style(&style::sheet());
        });
        html.element("body", &[], |body| {
            let sections = sections(report);
            body.leaf("a", &[("class", &"skip"), ("href", &"#verdict")], "To the verdict");
            head(body, report);
            body.element("main", &[], |main| {
                verdicts(main, report, &sections);
                for section in &sections {
                    main.element("section", &[("aria-labelledby", &section.id)], |part| {
                        part.leaf("h2", &[("id", &section.id)], section.title);
                        (section.write)(part, report);
                    });
                }
            });
            body.leaf(
                "footer",
                &[],
                "Made by pg_sanitize. Measures describe tables; what is promised is in the label alone.",
            );
        });
    });
    page.finish()
}

#[cfg(test)]
mod tests {
    use super::html;
    use crate::data::Report;
    use crate::testing::hostile;

    /// The elements of a page in order, each as its name and its attributes; the name of an end tag begins with a
    /// slash. Panics if the page is malformed: every `<` must begin one of our elements.
    fn elements(page: &str) -> Vec<(String, Vec<(String, String)>)> {
        let mut found = Vec::new();
        let (mut rest, mut in_style) = (page, false);
        while let Some(at) = rest.find('<') {
            rest = &rest[at + 1..];
            let end = rest.find('>').unwrap();
            let (tag, after) = (&rest[..end], &rest[end + 1..]);
            assert!(!in_style || tag == "/style");
            let (name, mut attributes) = tag.split_once(' ').unwrap_or((tag, ""));
            in_style = name == "style";
            let mut named = Vec::new();
            while let Some((name, value)) = attributes.split_once("=\"") {
                let (value, next) = value.split_once('"').unwrap();
                named.push((name.trim().to_string(), value.to_string()));
                attributes = next;
            }
            found.push((name.to_string(), named));
            rest = after;
        }
        found
    }

    const OURS: &[&str] = &[
        "!DOCTYPE",
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "header",
        "main",
        "footer",
        "nav",
        "section",
        "h1",
        "h2",
        "h3",
        "p",
        "a",
        "ul",
        "li",
        "dl",
        "dt",
        "dd",
        "div",
        "span",
        "strong",
        "small",
        "figure",
        "figcaption",
        "svg",
        "desc",
        "g",
        "rect",
        "text",
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "details",
        "summary",
    ];

    #[test]
    fn whatever_a_table_holds_is_text() {
        for releases in [1, 2] {
            let page = html(&hostile(releases, 7));
            assert!(page.is_ascii());
            for (name, attributes) in elements(&page) {
                assert!(OURS.contains(&name.trim_start_matches('/')), "{name}");
                for (attribute, value) in attributes {
                    assert!(!attribute.starts_with("on") && attribute != "src", "{attribute}");
                    assert!(attribute != "href" || value.starts_with('#'), "{value}");
                }
            }
            assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
            assert!(!page.contains("url(") && !page.contains("@import") && !page.contains("://"));
        }
    }

    #[test]
    fn elements_are_closed_headings_are_in_order_and_ids_are_unique() {
        let page = html(&hostile(2, 7));
        let (mut open, mut level, mut ids) = (Vec::new(), 0, Vec::new());
        for (name, attributes) in elements(&page) {
            if let Some(name) = name.strip_prefix('/') {
                assert_eq!(open.pop().as_deref(), Some(name));
            } else if !["meta", "!DOCTYPE"].contains(&name.as_str()) {
                open.push(name.clone());
            }
            if let Some(next) = name.strip_prefix('h').and_then(|level| level.parse::<u32>().ok()) {
                assert!(next <= level + 1 && (next == 1) == (level == 0), "h{next} after h{level}");
                level = next;
            }
            ids.extend(attributes.into_iter().filter(|(name, _)| name == "id").map(|(_, id)| id));
        }
        assert!(open.is_empty());
        let all = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), all);
    }

    #[test]
    fn every_chart_says_what_it_shows_and_has_a_table() {
        let page = html(&hostile(2, 7));
        let charts: Vec<&str> = page.split("<svg ").skip(1).collect();
        assert!(charts.len() > 15);
        for chart in charts {
            assert!(chart.contains("role=\"img\" aria-labelledby=\""));
            let inside = chart.split("</svg>").next().unwrap();
            assert!(inside.contains("<title id=") && inside.contains("<desc id="));
        }
        assert!(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"));
    }

    #[test]
    fn the_largest_page_is_small() {
        let page = html(&hostile(2, 1600));
        assert!(page.len() < 500_000, "{}", page.len());
        assert!(html(&Report::default()).contains("Verdict"));
    }

    #[test]
    fn a_report_is_json_and_back() {
        let report = hostile(2, 3);
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
    }
}
