//! A privacy report as one page of HTML: numbers in, text, tables and charts out.
//!
//! * [`Report`] (`data`) has the measurements of an original and of one or two releases. The extension makes it; it
//!   is JSON as well.
//! * `verdict` summarises it in two lines.
//! * [`html`] (`page`) draws it, section by section (`section`), with charts as inline SVG (`chart`).
//! * `markup` writes elements and escapes everything inside them: nothing else writes to the page.
//! * `palette` has the colours of light and dark mode, `style` the style sheet, `number` the format of numbers.
//!
//! The page is self-contained: it has no scripts, loads nothing, and can be printed.
#![forbid(unsafe_code)]

mod chart;
mod data;
mod markup;
mod number;
mod page;
mod palette;
mod section;
mod style;
#[cfg(test)]
mod testing;
mod verdict;

pub use data::{
    Account, ClassSize, ClassSizes, CoarseValue, ColumnChange, ColumnRisk, CommonRows, Crossed,
    ItemsetChange, Original, PairChange, People, Release, Report, Sensitive, Unicity, ValueRisk,
    ValueShare,
};
pub use page::html;
pub use verdict::Verdict;
