//! Trees and their generators by definition, for tests on small tables.

use crate::tree::code_tree::CodeTree;
use std::collections::{BTreeMap, BTreeSet};
use table::{Bag, Item, NONE};

/// Nodes by their paths; the root is the empty one.
pub(crate) type Paths = BTreeMap<Vec<Item>, f64>;

/// The paths of a tree.
pub(crate) fn paths(tree: &CodeTree) -> Paths {
    let mut paths: Vec<(Vec<Item>, f64)> = Vec::new();
    for node in tree.nodes() {
        let mut path = node.parent.map_or(Vec::new(), |parent| paths[parent as usize].0.clone());
        path.extend(node.item);
        paths.push((path, node.probability));
    }
    paths.into_iter().collect()
}

/// The joint frequency of items.
pub(crate) fn share(bag: &Bag, items: &[Item]) -> f64 {
    let contains = |row: &[u32]| items.iter().all(|item| row[item.column as usize] == item.code);
    let rows = (0..bag.distinct()).filter(|&i| contains(bag.row(i)));
    rows.map(|i| bag.weight(i)).sum::<u64>() as f64 / bag.row_count() as f64
}

/// The tree by definition: all subsets of the elements, their unions, and all values.
pub(crate) fn tree(bag: &Bag, elements: &[Vec<Item>], threshold: f64) -> Paths {
    let mut found: BTreeSet<Vec<Item>> = BTreeSet::from([Vec::new()]);
    for subset in 1u32..1 << elements.len() {
        let chosen = elements.iter().enumerate().filter(|(i, _)| subset >> i & 1 == 1);
        let union: BTreeSet<Item> = chosen.flat_map(|(_, items)| items).copied().collect();
        let union: Vec<Item> = union.into_iter().collect();
        let consistent = union.windows(2).all(|pair| pair[0].column != pair[1].column);
        if consistent && share(bag, &union) > threshold {
            (1..=union.len()).for_each(|end| _ = found.insert(union[..end].to_vec()));
        }
    }
    for column in 0..bag.width() as u32 {
        for code in 0..bag.domain(column as usize).len() as u32 {
            found.insert(vec![Item { column, code }]);
        }
    }
    found.into_iter().map(|path| (path.clone(), share(bag, &path))).collect()
}

/// The probability of each row; a cell is a code, or [`NONE`].
pub(crate) type Rows = BTreeMap<Vec<u32>, f64>;

/// The law of the back-off generator. `domains` has the values of each column, `missing` the share of
/// NULL where it is no item.
pub(crate) fn backoff(paths: &Paths, domains: &[usize], missing: &[f64]) -> Rows {
    let mut rows: Rows = BTreeMap::from([(Vec::new(), 1.0)]);
    for (column, &values) in domains.iter().enumerate() {
        let mut next = Rows::new();
        for (row, p) in rows {
            let agrees = |path: &[Item]| {
                path.iter().all(|item| row.get(item.column as usize) == Some(&item.code))
            };
            let mut active: Vec<(&Vec<Item>, f64)> = paths
                .iter()
                .filter(|(path, _)| agrees(path))
                .map(|(path, &probability)| (path, probability))
                .collect();
            active.sort_by(|(a, p), (b, q)| {
                b.len().cmp(&a.len()).then(q.total_cmp(p)).then(a.cmp(b))
            });
            let mut open: BTreeSet<u32> = (0..values as u32).collect();
            if missing[column] > 0.0 {
                open.insert(NONE);
            }
            let draw = Draw { paths, column: column as u32, missing: missing[column] };
            for (value, q) in draw.law(&active, &open) {
                let mut row = row.clone();
                row.push(value);
                *next.entry(row).or_default() += p * q;
            }
        }
        rows = next;
    }
    rows.retain(|_, p| *p > 0.0);
    rows
}

struct Draw<'a> {
    paths: &'a Paths,
    column: u32,
    missing: f64,
}

impl Draw<'_> {
    fn law(&self, active: &[(&Vec<Item>, f64)], open: &BTreeSet<u32>) -> Vec<(u32, f64)> {
        let (path, probability) = active[0];
        let child = |code: u32| {
            let mut path = path.clone();
            path.push(Item { column: self.column, code });
            self.paths.get(&path).copied()
        };
        if path.is_empty() {
            let weight = |&value: &u32| {
                (value, if value == NONE { self.missing } else { child(value).unwrap_or(0.0) })
            };
            return normal(open.iter().map(weight).collect());
        }
        let named: Vec<(u32, f64)> =
            open.iter().filter_map(|&value| Some((value, child(value)?))).collect();
        if named.is_empty() {
            return self.law(&active[1..], open);
        }
        let further = |(path, probability): (&Vec<Item>, &f64)| {
            let is_child = path.len() == active[0].0.len() + 1
                && path.starts_with(active[0].0)
                && path[path.len() - 1].column == self.column;
            is_child.then_some(*probability)
        };
        let of_all: f64 = self.paths.iter().filter_map(further).sum();
        let rest = probability - of_all;
        let others: BTreeSet<u32> =
            open.iter().copied().filter(|&value| child(value).is_none()).collect();
        if others.is_empty() || rest < 1e-12 {
            return normal(named);
        }
        let sum = named.iter().map(|&(_, p)| p).sum::<f64>() + rest;
        let mut law: Vec<(u32, f64)> = named.into_iter().map(|(v, p)| (v, p / sum)).collect();
        let below = self.law(&active[1..], &others);
        law.extend(below.into_iter().map(|(v, p)| (v, p * rest / sum)));
        law
    }
}

fn normal(mut weights: Vec<(u32, f64)>) -> Vec<(u32, f64)> {
    let sum: f64 = weights.iter().map(|&(_, weight)| weight).sum();
    let count = weights.len() as f64;
    weights
        .iter_mut()
        .for_each(|(_, weight)| *weight = if sum > 0.0 { *weight / sum } else { 1.0 / count });
    weights
}

/// The law of the published generator.
pub(crate) fn literal(paths: &Paths, domains: &[usize], missing: &[f64]) -> Rows {
    let mut rows = Rows::new();
    let pools = vec![vec![Vec::new()]; domains.len()];
    literal_from(paths, missing, Vec::new(), pools, 1.0, &mut rows);
    rows.retain(|_, p| *p > 0.0);
    rows
}

type Pools = Vec<Vec<Vec<Item>>>;

fn literal_from(
    paths: &Paths,
    missing: &[f64],
    row: Vec<u32>,
    pools: Pools,
    p: f64,
    rows: &mut Rows,
) {
    let column = row.len();
    if column == pools.len() {
        *rows.entry(row).or_default() += p;
        return;
    }
    let below = |path: &[Item], only: Option<usize>| -> Vec<(Vec<Item>, f64)> {
        let children = paths.iter().filter(|(child, _)| {
            child.len() == path.len() + 1
                && child.starts_with(path)
                && only.is_none_or(|column| child[path.len()].column as usize == column)
        });
        children.map(|(child, &p)| (child.clone(), p)).collect()
    };
    for node in &pools[column] {
        let p = p / pools[column].len() as f64;
        // The node that gives the value, or none for NULL.
        let mut drawn: Vec<(Option<Vec<Item>>, f64)> = if node.is_empty() {
            let values = below(node, Some(column)).into_iter();
            let values = values.map(|(path, p)| (Some(path), p));
            values.chain((missing[column] > 0.0).then_some((None, missing[column]))).collect()
        } else {
            vec![(Some(node.clone()), 1.0)]
        };
        let sum: f64 = drawn.iter().map(|(_, p)| p).sum();
        drawn.iter_mut().for_each(|(_, p)| *p /= sum);
        for (node, q) in drawn {
            let mut row = row.clone();
            row.push(node.as_ref().map_or(NONE, |path| path[path.len() - 1].code));
            let children = node.map_or(Vec::new(), |path| below(&path, None));
            let sum: f64 = children.iter().map(|(_, p)| p).sum();
            if children.is_empty() {
                literal_from(paths, missing, row, pools.clone(), p * q, rows);
                continue;
            }
            for (child, r) in children {
                let mut pools = pools.clone();
                pools[child[child.len() - 1].column as usize].push(child);
                literal_from(paths, missing, row.clone(), pools, p * q * r / sum, rows);
            }
        }
    }
}
