//! Charts as inline SVG. Each is 320 units wide, so that its text can be read on a phone, and says in
//! `title` and `desc` what it shows; the numbers are in a table beside it.

mod bars;
mod heat_map;
mod matrix;
mod stacked_bar;

pub use bars::{Bar, bars};
pub use heat_map::heat;
pub use matrix::matrix;
pub use stacked_bar::stack;

use crate::markup::Markup;

pub const WIDTH: f64 = 320.0;

/// The CSS classes of the original, the release and the second candidate.
pub const SERIES: [&str; 3] = ["before", "after", "other"];

/// The title and the description of a chart. `id` is unique on the page.
pub struct Words<'a> {
    pub id: String,
    pub title: &'a str,
    pub description: String,
}

/// A drawing of this height.
fn svg(markup: &mut Markup, words: &Words<'_>, height: f64, draw: impl FnOnce(&mut Markup)) {
    let (title, description) = (format!("{}-title", words.id), format!("{}-desc", words.id));
    let named = format!("{title} {description}");
    let view = format!("0 0 {WIDTH} {}", coordinate(height));
    markup.element(
        "svg",
        &[("viewBox", &view), ("role", &"img"), ("aria-labelledby", &named)],
        |svg| {
            svg.leaf("title", &[("id", &title)], words.title);
            svg.leaf("desc", &[("id", &description)], &words.description);
            draw(svg);
        },
    );
}

/// A number of units, to a tenth.
fn coordinate(units: f64) -> String {
    let text = format!("{units:.1}");
    text.strip_suffix(".0").map_or_else(|| text.clone(), String::from)
}

/// A rectangle with a CSS class.
fn rectangle(markup: &mut Markup, class: &str, [x, y, width, height]: [f64; 4]) {
    let [x, y, width, height] = [x, y, width, height].map(coordinate);
    let place: [(&'static str, &dyn std::fmt::Display); 5] =
        [("class", &class), ("x", &x), ("y", &y), ("width", &width), ("height", &height)];
    markup.element("rect", &place, |_| ());
}

/// Text with a CSS class that begins, ends or is centred at a position.
fn label(markup: &mut Markup, class: &'static str, x: f64, y: f64, text: &str) {
    let (x, y) = (coordinate(x), coordinate(y));
    markup.leaf("text", &[("class", &class), ("x", &x), ("y", &y)], text);
}
