//! The law of a column's value in the back-off generator.

use crate::tree::code_tree::CodeTree;
use crate::tree::frequencies::Shares;

/// Values up to which a column's law has each of them by itself.
const FEW: usize = 64;

/// Shares of a node that are left by rounding, in parts of its probability.
const ROUNDING: f64 = 1e-12;

/// A tree, its nodes by parent.
pub(crate) struct Children {
    /// By node: where its children begin in `numbers`; one more than there are nodes.
    starts: Vec<u32>,
    /// The children of each node, in item order.
    numbers: Vec<u32>,
    /// By node, but for the root: its item's column and code, and its probability.
    columns: Vec<u32>,
    codes: Vec<u32>,
    probabilities: Vec<f64>,
}

impl Children {
    pub(crate) fn new(tree: &CodeTree) -> Self {
        let nodes = tree.nodes();
        let mut starts = vec![0; nodes.len() + 1];
        for parent in nodes.iter().filter_map(|node| node.parent) {
            starts[parent as usize + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next = starts.clone();
        let mut numbers = vec![0; nodes.len() - 1];
        for (number, node) in (0..).zip(nodes) {
            if let Some(parent) = node.parent {
                let place = &mut next[parent as usize];
                numbers[*place as usize] = number;
                *place += 1;
            }
        }
        Children {
            starts,
            numbers,
            columns: nodes.iter().map(|node| node.item.map_or(0, |item| item.column)).collect(),
            codes: nodes.iter().map(|node| node.item.map_or(0, |item| item.code)).collect(),
            probabilities: nodes.iter().map(|node| node.probability).collect(),
        }
    }

    /// Number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.columns.len()
    }

    /// The children of a node, in item order.
    pub(crate) fn of(&self, node: u32) -> &[u32] {
        let (start, end) = (self.starts[node as usize], self.starts[node as usize + 1]);
        &self.numbers[start as usize..end as usize]
    }

    /// The children of a node that have a value of the column.
    pub(crate) fn in_column(&self, node: u32, column: u32) -> &[u32] {
        let all = self.of(node);
        let start = all.partition_point(|&child| self.column(child) < column);
        let len = all[start..].partition_point(|&child| self.column(child) == column);
        &all[start..start + len]
    }

    /// The child of a node with this item.
    pub(crate) fn find(&self, node: u32, column: u32, code: u32) -> Option<u32> {
        let children = self.in_column(node, column);
        let place = children.binary_search_by_key(&code, |&child| self.code(child)).ok()?;
        Some(children[place])
    }

    /// Whether a node has children in this column or a later one.
    pub(crate) fn reaches(&self, node: u32, column: u32) -> bool {
        self.of(node).last().is_some_and(|&child| self.column(child) >= column)
    }

    pub(crate) fn column(&self, node: u32) -> u32 {
        self.columns[node as usize]
    }

    pub(crate) fn code(&self, node: u32) -> u32 {
        self.codes[node as usize]
    }

    pub(crate) fn probability(&self, node: u32) -> f64 {
        self.probabilities[node as usize]
    }
}

/// The values of a column as the root has them.
pub(crate) struct Values {
    shares: Shares,
    /// By code: the sum of the shares before it; one more than there are values.
    sums: Vec<f64>,
    /// The values at which a path begins, in code order; all, if there are few.
    named: Vec<u32>,
}

/// The probabilities of a column's values, given what the columns before it have.
pub(crate) struct Law {
    /// The values that have a probability of their own, in code order.
    pub codes: Vec<u32>,
    /// Their probabilities, that of NULL where it is no value, and that of all other values together.
    pub named: Vec<f64>,
    pub missing: f64,
    pub others: f64,
}

impl Values {
    pub(crate) fn new(children: &Children, column: u32, shares: &Shares) -> Self {
        let values = &shares.values;
        let named: Vec<u32> = if values.len() <= FEW {
            (0..values.len() as u32).collect()
        } else {
            let roots = children.in_column(0, column).iter();
            let inner = roots.filter(|&&child| !children.of(child).is_empty());
            inner.map(|&child| children.code(child)).collect()
        };
        let mut sums = Vec::with_capacity(values.len() + 1);
        let mut sum = 0.0;
        sums.push(sum);
        sums.extend(values.iter().map(|share| {
            sum += share;
            sum
        }));
        Values { shares: shares.clone(), sums, named }
    }

    /// The code of NULL, where NULL is an item.
    pub(crate) fn null(&self) -> Option<u32> {
        self.shares.null
    }

    /// The law of this column, given the nodes other than the root that have children in it and whose
    /// paths the columns before it contain; those that come first decide.
    ///
    /// A node u gives its children's values v the weights P(v), and what its probability has beyond all
    /// its children in the column to the nodes after it, for the values that it says nothing about. What
    /// the last of them leaves goes by the values' own shares.
    pub(crate) fn law(&self, children: &Children, column: u32, nodes: &[u32]) -> Law {
        let codes = self.codes(children, column, nodes);
        let place = |code: u32| codes.binary_search(&code).unwrap_or(0);
        let mut named = vec![0.0; codes.len()];
        let mut taken = vec![false; codes.len()];
        let mut open = self.shares.values.len() + usize::from(self.shares.missing > 0.0);
        let mut left = 1.0;
        for &node in nodes {
            let all = children.in_column(node, column);
            let of_all: f64 = all.iter().map(|&child| children.probability(child)).sum();
            let new: Vec<(usize, f64)> = all
                .iter()
                .map(|&child| (place(children.code(child)), children.probability(child)))
                .filter(|&(place, _)| !taken[place])
                .collect();
            let sum: f64 = new.iter().map(|&(_, probability)| probability).sum();
            let mut rest = children.probability(node) - of_all;
            if open == new.len() || rest < ROUNDING * children.probability(node) {
                rest = 0.0;
            }
            if sum + rest <= 0.0 || new.is_empty() {
                continue;
            }
            open -= new.len();
            for (place, probability) in new {
                named[place] = left * probability / (sum + rest);
                taken[place] = true;
            }
            left *= rest / (sum + rest);
        }
        let mut law = Law { codes, named, missing: 0.0, others: 0.0 };
        if left > 0.0 {
            self.share_out(left, &taken, &mut law);
        }
        law
    }

    /// Shares a probability out among the values that are not taken, by their own shares; where none has
    /// a share, all values are equally likely.
    fn share_out(&self, left: f64, taken: &[bool], law: &mut Law) {
        let free: Vec<usize> = (0..law.codes.len()).filter(|&place| !taken[place]).collect();
        let shares: Vec<f64> =
            free.iter().map(|&place| self.shares.values[law.codes[place] as usize]).collect();
        let others = self.others(&law.codes);
        let sum = shares.iter().sum::<f64>() + self.shares.missing + others;
        if sum > 0.0 {
            for (&place, share) in free.iter().zip(&shares) {
                law.named[place] = left * share / sum;
            }
            law.missing = left * self.shares.missing / sum;
            law.others = left * others / sum;
        } else {
            let unnamed = self.shares.values.len() - law.codes.len();
            let each = left / (free.len() + unnamed) as f64;
            free.iter().for_each(|&place| law.named[place] = each);
            law.others = each * unnamed as f64;
        }
    }

    /// The values that have probabilities of their own when these nodes decide.
    fn codes(&self, children: &Children, column: u32, nodes: &[u32]) -> Vec<u32> {
        let mut codes = self.named.clone();
        if self.shares.values.len() > FEW {
            let below = nodes.iter().flat_map(|&node| children.in_column(node, column));
            codes.extend(below.map(|&child| children.code(child)));
            codes.sort_unstable();
            codes.dedup();
        }
        codes
    }

    /// The shares of the values between the named ones, from each to the next.
    fn gaps<'a>(&'a self, codes: &'a [u32]) -> impl Iterator<Item = (u32, u32)> + 'a {
        let starts = std::iter::once(0).chain(codes.iter().map(|&code| code + 1));
        let ends = codes.iter().copied().chain(std::iter::once(self.shares.values.len() as u32));
        starts.zip(ends).filter(|(start, end)| start < end)
    }

    fn between(&self, (start, end): (u32, u32)) -> f64 {
        self.sums[end as usize] - self.sums[start as usize]
    }

    fn others(&self, codes: &[u32]) -> f64 {
        self.gaps(codes).map(|gap| self.between(gap)).sum()
    }

    /// The value, other than the named ones, that a number of 0..1 selects.
    pub(crate) fn other(&self, codes: &[u32], number: f64) -> u32 {
        let mass = self.others(codes);
        if mass <= 0.0 {
            let count = self.gaps(codes).map(|(start, end)| end - start).sum::<u32>();
            let mut skip = (number * f64::from(count)) as u32;
            for (start, end) in self.gaps(codes) {
                if skip < end - start {
                    return start + skip;
                }
                skip -= end - start;
            }
        }
        let mut left = number * mass;
        let mut last = 0;
        for gap in self.gaps(codes) {
            let mass = self.between(gap);
            let (start, end) = gap;
            if left < mass {
                let target = self.sums[start as usize] + left;
                let sums = &self.sums[start as usize + 1..end as usize];
                return start + sums.partition_point(|&sum| sum <= target) as u32;
            }
            left -= mass;
            last = end - 1;
        }
        // Rounding may lead past the last one.
        last
    }
}
