//! Krimp by definition, for tests on small tables: every cover and every size from scratch.

use pg_sanitize_krimp::{Candidates, Element, Forbidden, Options, Sizes};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use table::{Bag, Item};

/// The difference in bits from which a total size counts as smaller than another.
const TOLERANCE: f64 = 1e-9;

/// The result of a fit by definition.
#[derive(Debug)]
pub struct Fitted {
    /// In cover order.
    pub elements: Vec<Element>,
    pub sizes: Sizes,
    /// Each candidate in order, the total size with it, and whether it entered.
    pub trace: Vec<(Vec<Item>, f64, bool)>,
}

type Set = Vec<Item>;

struct Data {
    rows: Vec<(Set, u64)>,
    supports: BTreeMap<Set, u64>,
}

impl Data {
    fn cover_order(&self, table: &mut [Set]) {
        table.sort_by_key(|s| (Reverse(s.len()), Reverse(self.support(s)), s.clone()));
    }

    fn support(&self, set: &Set) -> u64 {
        self.supports.get(set).copied().unwrap_or(0)
    }

    fn usages(&self, table: &[Set]) -> Vec<u64> {
        let mut usages = vec![0; table.len()];
        for (row, weight) in &self.rows {
            let mut rest = row.clone();
            for (set, usage) in table.iter().zip(&mut usages) {
                if set.iter().all(|item| rest.contains(item)) {
                    rest.retain(|item| !set.contains(item));
                    *usage += weight;
                }
            }
        }
        usages
    }

    /// Bits of data and table.
    fn sizes(&self, table: &[Set], usages: &[u64]) -> (f64, f64) {
        let cells: u64 = self.rows.iter().map(|(row, weight)| row.len() as u64 * weight).sum();
        let standard = |item: &Item| -(self.support(&vec![*item]) as f64 / cells as f64).log2();
        let total: u64 = usages.iter().sum();
        let (mut data, mut model) = (0.0, 0.0);
        for (set, &usage) in table.iter().zip(usages).filter(|&(_, &usage)| usage > 0) {
            let code = -(usage as f64 / total as f64).log2();
            data += usage as f64 * code;
            model += code + set.iter().map(standard).sum::<f64>();
        }
        (data, model)
    }

    fn total(&self, table: &[Set], usages: &[u64]) -> f64 {
        let (data, model) = self.sizes(table, usages);
        data + model
    }
}

/// The sets of `table` other than singletons whose usage fell, in cover order.
fn fell(table: &[Set], usages: &[u64], before: &BTreeMap<Set, u64>) -> Vec<Set> {
    let now = table.iter().zip(usages).filter(|(set, _)| set.len() > 1);
    let fallen = now.filter(|&(set, &usage)| before.get(set).is_some_and(|&old| usage < old));
    fallen.map(|(set, _)| set.clone()).collect()
}

fn data(bag: &Bag) -> Data {
    let rows = (0..bag.distinct()).map(|i| (Bag::row_items(bag.row(i)).collect(), bag.weight(i)));
    Data { rows: rows.collect(), supports: mining::reference::occurring(bag) }
}

fn singletons(bag: &Bag) -> Vec<Set> {
    let columns = bag.domains().iter().zip(0..);
    let codes = columns
        .flat_map(|(domain, column)| (0..domain.len() as u32).map(move |code| (column, code)));
    codes.map(|(column, code)| vec![Item { column, code }]).collect()
}

/// The code table of the singletons and these patterns, and its sizes. NULL is no item.
pub fn cover(bag: &Bag, patterns: &[Vec<Item>]) -> (Vec<Element>, Sizes) {
    let data = data(bag);
    let mut table = singletons(bag);
    data.cover_order(&mut table);
    let standard = data.total(&table, &data.usages(&table));
    table.extend_from_slice(patterns);
    data.cover_order(&mut table);
    let usages = data.usages(&table);
    let (data_bits, model_bits) = data.sizes(&table, &usages);
    let sum: u64 = usages.iter().sum();
    let elements = table.into_iter().zip(usages).map(|(items, usage)| Element {
        support: data.support(&items),
        items,
        usage,
        code_length: (usage > 0).then(|| (sum as f64 / usage as f64).log2()),
    });
    let total_bits = data_bits + model_bits;
    let ratio = if standard > 0.0 { total_bits / standard } else { 1.0 };
    let standard_bits = standard;
    (elements.collect(), Sizes { data_bits, model_bits, total_bits, standard_bits, ratio })
}

/// True if an itemset contains a combination that no pattern may contain.
fn is_forbidden(set: &Set, options: &Options) -> bool {
    options.forbidden.iter().any(|forbidden| match forbidden {
        Forbidden::Columns(columns) => {
            columns.iter().all(|column| set.iter().any(|item| item.column == *column))
        }
        Forbidden::Items(items) => items.iter().all(|item| set.contains(item)),
    })
}

/// [`pg_sanitize_krimp::fit`] by definition, for frequent or closed candidates. NULL is no item.
pub fn fit(bag: &Bag, options: &Options) -> Fitted {
    let data = data(bag);
    let (min_support, max_length) = (options.min_support.max(1), options.max_length);
    let sets = match options.candidates {
        Candidates::Closed => mining::reference::closed(bag, min_support, max_length),
        _ => mining::reference::frequent(bag, min_support, max_length),
    };
    let mut candidates: Vec<Set> =
        sets.into_keys().filter(|set| set.len() > 1 && !is_forbidden(set, options)).collect();
    candidates.sort_by_key(|s| (Reverse(data.support(s)), Reverse(s.len()), s.clone()));
    let mut table = singletons(bag);
    data.cover_order(&mut table);
    let mut usages = data.usages(&table);
    let mut size = data.total(&table, &usages);
    let mut trace = Vec::new();
    for candidate in candidates {
        let mut longer = table.clone();
        longer.push(candidate.clone());
        data.cover_order(&mut longer);
        let new = data.usages(&longer);
        let total = data.total(&longer, &new);
        let enters = total < size - TOLERANCE;
        trace.push((candidate, total, enters));
        if enters {
            let before = table.iter().cloned().zip(usages).collect();
            (table, usages, size) = (longer, new, total);
            if options.prune {
                let fallen = fell(&table, &usages, &before);
                prune(&data, fallen, &mut table, &mut usages, &mut size);
            }
        }
    }
    table.retain(|set| set.len() > 1);
    let (elements, sizes) = cover(bag, &table);
    Fitted { elements, sizes, trace }
}

fn prune(
    data: &Data,
    mut queue: Vec<Set>,
    table: &mut Vec<Set>,
    usages: &mut Vec<u64>,
    size: &mut f64,
) {
    while !queue.is_empty() {
        let set = queue.remove(0);
        let mut shorter = table.clone();
        shorter.retain(|other| *other != set);
        let new = data.usages(&shorter);
        let total = data.total(&shorter, &new);
        let before: BTreeMap<Set, u64> =
            table.iter().cloned().zip(usages.iter().copied()).collect();
        let unused = before[&set] == 0;
        if unused || total < *size - TOLERANCE {
            (*table, *usages, *size) = (shorter, new, total);
            if unused {
                continue;
            }
            let now: BTreeMap<Set, u64> =
                table.iter().cloned().zip(usages.iter().copied()).collect();
            queue.sort_by_key(|set| now[set]);
            for set in fell(table, usages, &before) {
                if !queue.contains(&set) {
                    let place = queue.partition_point(|other| now[other] <= now[&set]);
                    queue.insert(place, set);
                }
            }
        }
    }
}
