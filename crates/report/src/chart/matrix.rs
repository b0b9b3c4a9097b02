//! A triangular matrix with a number for each pair of names.

use super::{WIDTH, Words, coordinate, label, rectangle, svg};
use crate::markup::Markup;
use crate::number::cut;

const NAMES: f64 = 112.0;

/// The lower half of a square: names down the side, their numbers along the top. The opacity of a cell is its number
/// relative to `largest`. `of` returns the number of the names i > j.
pub fn matrix(
    markup: &mut Markup,
    words: &Words<'_>,
    class: &'static str,
    names: &[&str],
    largest: f64,
    of: impl Fn(usize, usize) -> Option<f64>,
) {
    let cell = ((WIDTH - NAMES) / names.len().max(1) as f64).min(22.0);
    let line = cell.max(12.0);
    svg(markup, words, 16.0 + line * names.len() as f64, |svg| {
        for (i, name) in names.iter().enumerate() {
            let y = 16.0 + i as f64 * line;
            let middle = NAMES + (i as f64 + 0.5) * cell;
            label(
                svg,
                "end",
                NAMES - 6.0,
                y + line / 2.0 + 4.0,
                &format!("{} {}", cut(name, 14), i + 1),
            );
            label(svg, "middle number", middle, 11.0, &(i + 1).to_string());
            for j in 0..i {
                let place = [NAMES + j as f64 * cell, y, cell - 1.0, line - 1.0];
                rectangle(svg, "cell", place);
                let Some(number) = of(i, j) else { continue };
                let full = fullness(number / largest.max(1e-12));
                svg.element("g", &[("fill-opacity", &full)], |svg| rectangle(svg, class, place));
            }
        }
    });
}

/// The opacity of a cell, in visible steps.
fn fullness(share: f64) -> String {
    coordinate((share.clamp(0.0, 1.0) * 10.0).round() / 10.0)
}
