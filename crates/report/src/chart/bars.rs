//! A chart of bars, with one group of bars for each name.

use super::{SERIES, WIDTH, Words, label, rectangle, svg};
use crate::markup::Markup;
use crate::number::{cut, share};

/// A name with a share for each series; a series may have none.
pub struct Bar {
    pub name: String,
    pub numbers: Vec<Option<f64>>,
}

const NAMES: f64 = 104.0;
const NUMBERS: f64 = 52.0;
const THICK: f64 = 9.0;
const GAP: f64 = 9.0;

/// The smallest end of the scale: a share close to 0 then looks small.
const LEAST: f64 = 0.05;

/// One group of bars per name, on a scale from 0 to the largest number. The CSS classes of the series begin with the
/// `first` of [`SERIES`].
pub fn bars(markup: &mut Markup, words: &Words<'_>, bars: &[Bar], first: usize) {
    let series = bars.iter().map(|bar| bar.numbers.len()).max().unwrap_or(1).max(1);
    let thick = if series == 1 { THICK + 3.0 } else { THICK };
    let group = series as f64 * (thick + 2.0) + GAP;
    let numbers = bars.iter().flat_map(|bar| bar.numbers.iter().flatten());
    let largest = numbers.fold(0.0, |largest: f64, &number| largest.max(number)).max(LEAST);
    let room = WIDTH - NAMES - NUMBERS;
    svg(markup, words, bars.len() as f64 * group, |svg| {
        for (i, bar) in bars.iter().enumerate() {
            let top = i as f64 * group + GAP / 2.0;
            let middle = top + (group - GAP) / 2.0 + 3.0;
            label(svg, "end", NAMES - 8.0, middle, &cut(&bar.name, 13));
            for (j, number) in bar.numbers.iter().enumerate() {
                let Some(number) = *number else { continue };
                let y = top + j as f64 * (thick + 2.0);
                let long = (number / largest * room).max(if number > 0.0 { 1.5 } else { 0.0 });
                rectangle(svg, SERIES[(first + j).min(2)], [NAMES, y, long, thick]);
                label(svg, "number", NAMES + long + 4.0, y + thick - 1.0, &share(number));
            }
        }
        rectangle(svg, "axis", [NAMES - 0.5, 0.0, 1.0, bars.len() as f64 * group]);
    });
}
