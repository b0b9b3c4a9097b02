//! The first characters of a text, the others masked or cut.

use super::spec::Prefix;
use crate::api::prelude::*;
use suppress::General;
use suppress::levels::{Growing, Numbered};

/// The characters of a value, without those that pad a `char(n)`.
pub fn characters(column: &Column, value: &[u8]) -> String {
    let mut text = to_utf8(value);
    if column.base_type == pg_sys::BPCHAROID {
        text.truncate(text.trim_end_matches(' ').len());
    }
    text
}

/// The first characters, and the mask for each of the others.
fn cut(text: &str, length: usize, mask: Option<char>) -> String {
    let mut shown: String = text.chars().take(length).collect();
    if let Some(mask) = mask {
        shown.extend(text.chars().skip(length).map(|_| mask));
    }
    shown
}

/// The levels of a column by prefixes. Each level is computed from the texts of the level below.
pub fn grow(column: &Column, domain: &Domain, prefix: &Prefix) -> Result<Growing> {
    let mut growing = Growing::default();
    let mut below: Option<Vec<String>> = None;
    for &length in &prefix.lengths {
        let mut nodes = Numbered::default();
        let mut node = |text: &str| Some(nodes.number(cut(text, length, prefix.mask)));
        let parents = match &below {
            None => domain.values().map(|value| node(&characters(column, value))).collect(),
            Some(texts) => texts.iter().map(|text| node(text)).collect(),
        };
        let mut general = Vec::with_capacity(nodes.keys.len());
        for (i, shown) in nodes.keys.iter().enumerate() {
            if i % 4096 == 0 {
                pgrx::check_for_interrupts!();
            }
            let text = from_utf8(&types::accepted(column, shown)?);
            general.push(General { text, loss: 0.0 });
        }
        growing.add(parents, general);
        growing.lose_values(domain);
        below = Some(nodes.keys);
    }
    Ok(growing)
}
