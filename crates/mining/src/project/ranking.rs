//! The order in which items are added to prefixes.

use table::Item;

/// The items that `keep` accepts with their supports, by ascending support: rare items first keeps the rows
/// that contain a prefix few.
pub(crate) fn ranked(supports: &[Vec<u64>], keep: impl Fn(Item, u64) -> bool) -> Vec<Item> {
    let mut items: Vec<(u64, Item)> = Vec::new();
    for (column, supports) in supports.iter().enumerate() {
        for (code, &support) in supports.iter().enumerate() {
            let item = Item { column: column as u32, code: code as u32 };
            if support > 0 && keep(item, support) {
                items.push((support, item));
            }
        }
    }
    items.sort_unstable();
    items.into_iter().map(|(_, item)| item).collect()
}
