//! A heat map of the combinations of two columns' values.

use super::{WIDTH, Words, label, rectangle, svg};
use crate::markup::Markup;
use crate::number::cut;
use crate::palette::FULLEST;

const NAMES: f64 = 92.0;
const TOP: f64 = 58.0;
const LINE: f64 = 24.0;
/// The width of the last name, which is rotated, beyond its cell.
const TAIL: f64 = 30.0;

/// A table of shares, in which the opacity of a cell is its share relative to `largest`.
pub fn heat(
    markup: &mut Markup,
    words: &Words<'_>,
    class: &'static str,
    lines: &[String],
    columns: &[String],
    shares: &[Vec<f64>],
    largest: f64,
) {
    let cell = ((WIDTH - NAMES - TAIL) / columns.len().max(1) as f64).min(60.0);
    svg(markup, words, TOP + LINE * lines.len() as f64, |svg| {
        for (i, name) in columns.iter().enumerate() {
            let x = NAMES + (i as f64 + 0.5) * cell;
            let turned = format!("translate({x:.1} {}) rotate(-40)", TOP - 5.0);
            svg.leaf("text", &[("class", &"name"), ("transform", &turned)], cut(name, 11));
        }
        for (i, (name, shares)) in lines.iter().zip(shares).enumerate() {
            let y = TOP + i as f64 * LINE;
            label(svg, "end", NAMES - 6.0, y + 16.0, &cut(name, 12));
            for (j, &share) in shares.iter().enumerate().take(columns.len()) {
                let place = [NAMES + j as f64 * cell, y, cell - 1.0, LINE - 1.0];
                rectangle(svg, "cell", place);
                let full = format!("{:.2}", (share / largest.max(1e-12)).min(1.0) * FULLEST);
                svg.element("g", &[("fill-opacity", &full)], |svg| rectangle(svg, class, place));
                let middle = NAMES + (j as f64 + 0.5) * cell;
                label(svg, "middle", middle, y + 16.0, &percent(share));
            }
        }
    });
}

/// A share in few characters; empty for 0.
fn percent(share: f64) -> String {
    match share * 100.0 {
        0.0 => String::new(),
        p if p < 0.05 => String::from("0+"),
        p if p < 9.95 => format!("{p:.1}"),
        p => format!("{p:.0}"),
    }
}
