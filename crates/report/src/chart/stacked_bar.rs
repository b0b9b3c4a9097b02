//! A chart of one stacked bar.

use super::{WIDTH, Words, label, rectangle, svg};
use crate::markup::Markup;

/// A bar whose parts have lengths in proportion to their numbers, each with its CSS class, its name and its number as
/// text below it.
pub fn stack(markup: &mut Markup, words: &Words<'_>, parts: &[(&'static str, &str, f64, String)]) {
    let whole: f64 = parts.iter().map(|(_, _, number, _)| number).sum::<f64>().max(1e-12);
    svg(markup, words, 34.0 + 18.0 * parts.len() as f64, |svg| {
        let mut x = 0.0;
        for (class, _, number, _) in parts {
            let long = number / whole * WIDTH;
            // A gap between parts, which are not distinguished by colours alone.
            rectangle(svg, class, [x, 4.0, (long - 1.5).max(0.0), 22.0]);
            x += long;
        }
        for (i, (class, name, _, number)) in parts.iter().enumerate() {
            let y = 34.0 + 18.0 * i as f64;
            rectangle(svg, class, [0.0, y, 10.0, 10.0]);
            label(svg, "name", 16.0, y + 9.0, name);
            label(svg, "end number", WIDTH, y + 9.0, number);
        }
    });
}
