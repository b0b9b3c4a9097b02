//! How little any k-anonymous release could cost, and what one costs. The proof is in
//! `src/k_anonymize/proof.md`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use table::{Bag, NONE, Release, Units};

/// The forms that are tried: all forms of the shortest lengths, at most this number in total.
const FORMS: usize = 4096;

/// What a release lacks: the weights of all suppressed cells, and of all cells of dropped rows.
/// Every cell counts 1 without weights; cells that were NULL before count nothing.
pub fn cost(release: &Release, bag: &Bag, weights: Option<&[f64]>) -> f64 {
    let weights = weights.map_or(vec![1.0; bag.width()], <[f64]>::to_vec);
    let worth = |row: u32, shown: &dyn Fn(usize) -> bool| -> f64 {
        let cells = bag.row(row as usize).iter().enumerate();
        cells.filter(|&(c, &code)| code != NONE && shown(c)).map(|(c, _)| weights[c]).sum()
    };
    let all =
        (0..bag.distinct() as u32).map(|i| bag.weight(i as usize) as f64 * worth(i, &|_| true));
    let released = release.pieces().iter().map(|piece| {
        let shown = |c: usize| !release.suppresses(piece.form, c);
        piece.weight as f64 * worth(piece.row, &shown)
    });
    all.sum::<f64>() - released.sum::<f64>()
}

/// A cost that no release of the bag with classes of at least `k` rows, or of rows of `k` units, can be below.
///
/// Each row is given a price, and no class of k rows may be worth less than the prices of its rows;
/// then the sum of all prices is a bound (the dual of the linear programme that chooses classes).
/// Prices rise together from zero, and a row's stops at the first class that is paid for. Rows with
/// NULLs are priced by themselves, as if all other rows came for nothing. Prices that still rise when
/// all forms are tried stop at the cost of the cheapest form left: the bound is within a few per cent
/// of the best for narrow tables and weak for wide ones.
///
/// With units a class needs rows of k units: those that pay more than they lose, and of each further unit one row. That
/// the same unit may have several distinct rows is left out, which only lowers the bound.
pub fn lower_bound(bag: &Bag, units: Option<&Units>, k: u64, weights: Option<&[f64]>) -> f64 {
    let counts = (0..bag.distinct()).map(|row| match units {
        None => bag.weight(row),
        Some(units) => units.of(row).len() as u64,
    });
    let counts: Vec<u64> = counts.collect();
    if k > counts.iter().sum() {
        // Every row is dropped.
        return cost(&Release::new(bag.width()), bag, weights);
    }
    let weights = weights.map_or(vec![1.0; bag.width()], <[f64]>::to_vec);
    let mut sets: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    for row in 0..bag.distinct() {
        let full = (0..bag.width()).filter(|&column| bag.row(row)[column] != NONE);
        sets.entry(full.collect()).or_default().push(row);
    }
    let sets = sets.into_iter();
    let bound: f64 = sets
        .map(|(columns, rows)| Ascent::new(bag, &counts, &weights, columns, rows, k.max(1)).run())
        .sum();
    // Sums of prices are rounded; a bound must not be.
    bound * (1.0 - 1e-9)
}

/// The prices of the rows that have values in the same columns.
struct Ascent<'a> {
    bag: &'a Bag,
    /// How much each distinct row counts towards k.
    counts: &'a [u64],
    weights: &'a [f64],
    k: u64,
    columns: Vec<usize>,
    rows: Vec<usize>,
    /// The prices at which rows stopped; infinite for rows that come for nothing.
    prices: Vec<Option<f64>>,
    now: f64,
}

/// Rows that a form makes equal: those whose prices rise, and of the others those of the highest
/// prices, as many as can matter.
struct Group {
    cost: f64,
    rising: Vec<usize>,
    stopped: Vec<usize>,
}

impl<'a> Ascent<'a> {
    fn new(
        bag: &'a Bag,
        counts: &'a [u64],
        weights: &'a [f64],
        columns: Vec<usize>,
        rows: Vec<usize>,
        k: u64,
    ) -> Self {
        let mut prices = vec![Some(f64::INFINITY); bag.distinct()];
        rows.iter().for_each(|&row| prices[row] = None);
        Ascent { bag, counts, weights, k, columns, rows, prices, now: 0.0 }
    }

    /// The sum of all prices.
    fn run(mut self) -> f64 {
        let (forms, left) = self.forms();
        let mut groups: Vec<Group> = Vec::new();
        let mut heap = BinaryHeap::new();
        let costs = forms.chunk_by(|a, b| a.0 == b.0);
        let mut costs = costs.take_while(|forms| forms[0].0 < left).peekable();
        while let Some(forms) = costs.next() {
            let first = groups.len();
            for (cost, shown) in forms {
                self.group(*cost, shown, &mut groups);
            }
            for (number, group) in groups.iter().enumerate().skip(first) {
                heap.extend(self.time(group).map(|time| (Reverse(time), number)));
            }
            self.rise(&groups, &mut heap, costs.peek().map_or(left, |forms| forms[0].0));
        }
        // What still rises has no class below the cost of the forms that were not tried.
        let price = |&row: &usize| self.prices[row].unwrap_or(left) * self.bag.weight(row) as f64;
        self.rows.iter().map(price).sum()
    }

    /// Forms as (cost, columns shown), cheapest first; and the least cost of the others, which is
    /// that of dropping a row at most.
    fn forms(&self) -> (Vec<(f64, Vec<usize>)>, f64) {
        let worth = |columns: &[usize]| columns.iter().map(|&c| self.weights[c]).sum::<f64>();
        let mut blanked: Vec<Vec<usize>> = vec![Vec::new()];
        let mut all = blanked.clone();
        let mut length = 0;
        while length < self.columns.len() {
            let longer = blanked.iter().flat_map(|form| {
                let after = form.last().map_or(0, |last| last + 1);
                (after..self.columns.len()).map(|next| [&form[..], &[next]].concat())
            });
            blanked = longer.take(FORMS).collect();
            if all.len() + blanked.len() > FORMS {
                break;
            }
            all.extend_from_slice(&blanked);
            length += 1;
        }
        let mut cheapest: Vec<f64> = self.columns.iter().map(|&c| self.weights[c]).collect();
        cheapest.sort_by(f64::total_cmp);
        let left = cheapest.iter().take(length + 1).sum();
        let mut forms: Vec<(f64, Vec<usize>)> = all
            .into_iter()
            .map(|form| {
                let (gone, shown): (Vec<usize>, Vec<usize>) =
                    (0..self.columns.len()).partition(|place| form.contains(place));
                let names = |places: Vec<usize>| -> Vec<usize> {
                    places.into_iter().map(|place| self.columns[place]).collect()
                };
                (worth(&names(gone)), names(shown))
            })
            .collect();
        forms.sort_by(|a, b| a.0.total_cmp(&b.0));
        (forms, left)
    }

    /// Adds the groups of at least k rows that a form makes.
    fn group(&self, cost: f64, shown: &[usize], groups: &mut Vec<Group>) {
        let (bag, prices) = (self.bag, &self.prices);
        let mut numbers: HashMap<Vec<u32>, usize> = HashMap::new();
        let mut found: Vec<(Group, u64, u64)> = Vec::new();
        let key =
            |row: usize| -> Vec<u32> { shown.iter().map(|&column| bag.row(row)[column]).collect() };
        for &row in self.rows.iter().filter(|&&row| prices[row].is_none()) {
            let number = *numbers.entry(key(row)).or_insert_with(|| {
                found.push((Group { cost, rising: Vec::new(), stopped: Vec::new() }, 0, 0));
                found.len() - 1
            });
            found[number].0.rising.push(row);
            found[number].1 += self.counts[row];
        }
        if found.is_empty() {
            return;
        }
        let mut stopped: Vec<usize> =
            (0..bag.distinct()).filter(|&row| prices[row].is_some()).collect();
        stopped.sort_by(|&a, &b| f64::total_cmp(&prices[b].unwrap(), &prices[a].unwrap()));
        for row in stopped {
            let Some(&number) = numbers.get(&key(row)) else { continue };
            // No price is above the cost of a form to come: only the k dearest rows count.
            let (group, _, others) = &mut found[number];
            if *others < self.k {
                group.stopped.push(row);
                *others += self.counts[row];
            }
        }
        let large = found.into_iter().filter(|(_, own, others)| own + others >= self.k);
        groups.extend(large.map(|(group, ..)| group));
    }

    /// When a group is paid for, as the bits of a price: the sum of (price - cost) over its best k
    /// rows, and over all whose price is above the cost, is zero then.
    fn time(&self, group: &Group) -> Option<u64> {
        let (mut rising, mut count) = (0, 0);
        // The price above the cost, the rows, and how much they count.
        let mut stopped: Vec<(f64, u64, u64)> = Vec::new();
        for &row in group.rising.iter().chain(&group.stopped) {
            let (weight, own) = (self.bag.weight(row), self.counts[row]);
            match self.prices[row] {
                None => (rising, count) = (rising + weight, count + own),
                Some(f64::INFINITY) => stopped.push((0.0, weight, own)),
                Some(price) => stopped.push((price - group.cost, weight, own)),
            }
        }
        if rising == 0 {
            return None;
        }
        stopped.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut lacking = self.k.saturating_sub(count);
        let mut sum = 0.0;
        for (difference, weight, own) in stopped {
            let counted = if difference > 0.0 { own } else { own.min(lacking) };
            let taken = if difference > 0.0 { weight } else { counted };
            sum += difference * taken as f64;
            lacking = lacking.saturating_sub(counted);
        }
        Some((group.cost - sum / rising as f64).max(self.now).to_bits())
    }

    /// Lets prices rise to `end`: the rows of each group stop when it is paid for.
    fn rise(&mut self, groups: &[Group], heap: &mut BinaryHeap<(Reverse<u64>, usize)>, end: f64) {
        while let Some(&(Reverse(bits), number)) = heap.peek() {
            if f64::from_bits(bits) >= end {
                break;
            }
            heap.pop();
            match self.time(&groups[number]) {
                None => {}
                Some(now) if now != bits => heap.push((Reverse(now), number)),
                Some(_) => {
                    self.now = f64::from_bits(bits);
                    for &row in &groups[number].rising {
                        self.prices[row].get_or_insert(self.now);
                    }
                }
            }
        }
        self.now = self.now.max(end);
    }
}
