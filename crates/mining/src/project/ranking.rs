//! The order in which items are added to prefixes.

use table::Item;

/// The items whose support `keep` accepts, by ascending support: rare items first keeps the rows
/// that contain a prefix few.
pub(crate) fn ranked(supports: &[Vec<u64>], keep: impl Fn(u64) -> bool) -> Vec<Item> {
    let mut items: Vec<(u64, Item)> = Vec::new();
    for (column, supports) in supports.iter().enumerate() {
        for (code, &support) in supports.iter().enumerate() {
            if support > 0 && keep(support) {
                items.push((support, Item { column: column as u32, code: code as u32 }));
            }
        }
    }
    items.sort_unstable();
    items.into_iter().map(|(_, item)| item).collect()
}
