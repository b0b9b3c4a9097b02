//! A privacy report as one page of HTML: numbers in, text, tables and charts out.
//!
//! * [`Report`] (`data`) is what was measured of an original and of one or two releases. Whoever measures
//!   makes it; it is JSON as well.
//! * `verdict` says in two lines what it comes to.
//! * [`html`] (`page`) draws it, section by section (`section`), with charts as inline SVG (`chart`).
//! * `markup` writes elements and escapes whatever is inside them: there is no other way to the page.
//! * `palette` has the colours of light and dark, `style` the style sheet, `number` how numbers read.
//!
//! The page stands by itself: no scripts, nothing is loaded, and it can be printed.
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
    Account, ClassSize, Classes, CoarseValue, ColumnChange, ColumnRisk, CommonRows, Crossed,
    ItemsetChange, Original, PairChange, People, Release, Report, Sensitive, Unicity, ValueRisk,
    ValueShare,
};
pub use page::html;
pub use verdict::Verdict;
