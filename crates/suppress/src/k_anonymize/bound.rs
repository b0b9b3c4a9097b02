//! How little any k-anonymous release could cost.

use super::costs::{checked, units};
use super::frontier::{Form, Frontier, LONG};
use super::keys::{Keyed, Selected};
use super::meet::{Crowd, Meeting, Scratch};
use crate::Error;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use table::{Bag, Stop, Watch};

/// Sets of NULL columns that are looked at one by one: the most frequent ones.
const NULL_SETS: usize = 16;

/// Forms of a band times columns, for each is extended by every column.
const EXTENSIONS: usize = 1 << 18;

/// A cost that no release of the bag with classes of at least `k` rows can be below, as
/// [`crate::Release::cost`] counts it.
///
/// Each row is given a price, and no class of k rows may be worth less than the prices of its
/// rows; then the sum of all prices is a bound (the dual of the linear programme that chooses
/// classes). Prices rise together from zero, and a row's stops at the first class that is paid
/// for. Rows with NULLs are priced by themselves, as if all other rows came for nothing.
///
/// Forms are tried as long as the work stays linear in the rows; the prices that are still
/// rising then stop at the cost of the cheapest form left. So the bound is close for narrow
/// tables (within a few per cent of [`crate::k_anonymize`]) and weak for wide ones.
pub fn lower_bound(
    bag: &Bag,
    k: u64,
    weights: Option<&[f64]>,
    watch: &Watch,
) -> Result<f64, Error> {
    let weights = checked(weights, bag.width())?;
    if k > bag.row_count() {
        // Every row is dropped.
        return crate::Release::new(bag.width()).cost(bag, Some(&weights));
    }
    let bytes = 3 * Keyed::bytes(bag.distinct(), bag.width()) + work(bag.distinct()) as u64 * 16;
    watch.reserve(bytes)?;
    let keyed = Keyed::new(bag, watch)?;
    let mut sets: BTreeMap<Vec<u16>, Vec<u32>> = BTreeMap::new();
    for row in 0..keyed.len() {
        let nulls = keyed.cells.iter().zip(0u16..).filter(|(cells, _)| cells[row] == 0);
        sets.entry(nulls.map(|(_, column)| column).collect()).or_default().push(row as u32);
    }
    let mut sets: Vec<(Vec<u16>, Vec<u32>)> = sets.into_iter().collect();
    sets.sort_by_key(|(_, rows)| Reverse(rows.len()));
    let mut bound = 0.0;
    sets.truncate(NULL_SETS);
    let extensions = EXTENSIONS / sets.len().max(1);
    for (nulls, rows) in &sets {
        bound += Ascent::new(&keyed, &weights, nulls, rows, k.max(1)).run(extensions, watch)?;
    }
    watch.release(bytes);
    // Sums of prices are rounded; a bound must not be.
    Ok(bound * (1.0 - 1e-9))
}

/// Rows grouped in one band at most.
fn work(rows: usize) -> usize {
    (128 * rows + (1 << 22)).min(1 << 31)
}

/// The prices of the rows that are NULL in the same columns.
struct Ascent<'a> {
    keyed: &'a Keyed,
    k: u64,
    /// The other columns: what they are worth, and their cells.
    weights: Vec<f64>,
    columns: Vec<&'a Vec<u64>>,
    /// Rows whose price rises.
    rising: Vec<u32>,
    /// The prices at which rows stopped; infinite for rows that come for nothing.
    prices: Vec<Option<f64>>,
    now: f64,
}

/// The forms of a band, with the rows that it began with.
struct Band {
    forms: Vec<Form>,
    meetings: Vec<Meeting>,
    rising: Vec<u32>,
    stopped: Vec<u32>,
}

impl<'a> Ascent<'a> {
    fn new(keyed: &'a Keyed, weights: &[f64], nulls: &[u16], rows: &[u32], k: u64) -> Self {
        let full = (0..keyed.width()).filter(|&c| nulls.binary_search(&(c as u16)).is_err());
        let mut prices = vec![Some(f64::INFINITY); keyed.len()];
        rows.iter().for_each(|&row| prices[row as usize] = None);
        Ascent {
            keyed,
            k,
            weights: full.clone().map(|c| weights[c]).collect(),
            columns: full.map(|c| &keyed.cells[c]).collect(),
            rising: rows.to_vec(),
            prices,
            now: 0.0,
        }
    }

    /// The sum of all prices. No band has more forms, times columns, than `extensions`.
    fn run(mut self, extensions: usize, watch: &Watch) -> Result<f64, Stop> {
        let rows = self.rising.clone();
        let units = units(&self.weights);
        let mut frontier = Frontier::new(&units);
        let mut bands: Vec<Band> = Vec::new();
        let mut heap = BinaryHeap::new();
        while !self.rising.is_empty() {
            let Some((forms, longest)) = frontier.ahead() else { break };
            let most = work(self.keyed.len()) / self.keyed.len();
            let most = most.min(extensions / self.columns.len().max(1));
            if longest >= LONG || forms > most {
                break;
            }
            let Some(forms) = frontier.next(usize::MAX) else { break };
            forms.iter().for_each(|form| frontier.extend(form, 0));
            bands.push(self.meet(forms, watch)?);
            let number = bands.len() - 1;
            let found = bands[number].meetings.iter().map(|meeting| meeting.keys.len());
            for (form, groups) in found.enumerate() {
                for group in 0..groups {
                    if let Some(time) = self.time(&bands[number], form, group) {
                        heap.push((Reverse(time), number, form, group));
                    }
                }
            }
            self.rise(&bands, &mut heap, self.next_cost(&frontier), watch)?;
        }
        // What still rises has no class below the cost of the next form.
        let last = self.next_cost(&frontier);
        let price = |row: &u32| {
            let price = self.prices[*row as usize].unwrap_or(last);
            price * self.keyed.weights[*row as usize] as f64
        };
        Ok(rows.iter().map(price).sum())
    }

    fn cost(&self, form: &[u16]) -> f64 {
        form.iter().map(|&c| self.weights[usize::from(c)]).sum()
    }

    /// The least cost of a form that was not tried; the cost of dropping a row at most.
    fn next_cost(&self, frontier: &Frontier<'_>) -> f64 {
        let all = self.weights.iter().sum();
        frontier.upcoming().map(|form| self.cost(form)).fold(all, f64::min)
    }

    fn select(&self, rows: &[u32]) -> Selected {
        self.keyed.select_columns(self.columns.iter().copied(), rows.iter().copied())
    }

    fn meet(&self, forms: Vec<Form>, watch: &Watch) -> Result<Band, Stop> {
        let price = |row: u32| self.prices[row as usize];
        let mut stopped: Vec<u32> =
            (0..self.keyed.len() as u32).filter(|&row| price(row).is_some()).collect();
        stopped
            .sort_by(|&a, &b| price(b).partial_cmp(&price(a)).unwrap_or(std::cmp::Ordering::Equal));
        let weight = |row: &u32| self.keyed.weights[*row as usize];
        let crowd = Crowd {
            seekers: &self.select(&self.rising),
            weights: &self.rising.iter().map(weight).collect::<Vec<u64>>(),
            others: &self.select(&stopped),
            gifts: &stopped.iter().map(weight).collect::<Vec<u64>>(),
            k: self.k,
            // No price is above the cost of a form to come: only the k dearest rows count.
            choice: self.k,
        };
        let meetings = forms
            .par_iter()
            .map_init(Scratch::default, |scratch, form| {
                crowd.meet(form, stopped.len(), scratch, watch)
            })
            .collect::<Result<_, Stop>>()?;
        Ok(Band { forms, meetings, rising: self.rising.clone(), stopped })
    }

    /// When a group is paid for, as the bits of a price: the sum of (price - cost) over its best
    /// k rows, and over all whose price is above the cost, is zero then.
    fn time(&self, band: &Band, form: usize, group: usize) -> Option<u64> {
        let cost = self.cost(&band.forms[form]);
        let meeting = &band.meetings[form];
        let members = meeting.members.list(group).iter().map(|&p| band.rising[p as usize]);
        let guests = meeting.guests.list(group).iter().map(|&p| band.stopped[p as usize]);
        let mut rising = 0;
        let mut stopped: Vec<(f64, u64)> = Vec::new();
        for row in members.chain(guests) {
            let weight = self.keyed.weights[row as usize];
            match self.prices[row as usize] {
                None => rising += weight,
                Some(price) if price == f64::INFINITY => stopped.push((0.0, weight)),
                Some(price) => stopped.push((price - cost, weight)),
            }
        }
        if rising == 0 {
            return None;
        }
        stopped.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut lacking = self.k.saturating_sub(rising);
        let mut sum = 0.0;
        for (difference, weight) in stopped {
            let taken = if difference > 0.0 { weight } else { weight.min(lacking) };
            sum += difference * taken as f64;
            lacking = lacking.saturating_sub(taken);
        }
        Some((cost - sum / rising as f64).max(self.now).to_bits())
    }

    /// Lets prices rise to `end`: the rows of each group stop when it is paid for.
    fn rise(
        &mut self,
        bands: &[Band],
        heap: &mut BinaryHeap<(Reverse<u64>, usize, usize, usize)>,
        end: f64,
        watch: &Watch,
    ) -> Result<(), Stop> {
        let mut steps = 0u32;
        while let Some(&(Reverse(bits), number, form, group)) = heap.peek() {
            if f64::from_bits(bits) >= end {
                break;
            }
            steps += 1;
            if steps.is_multiple_of(256) {
                watch.check()?;
            }
            heap.pop();
            let band = &bands[number];
            match self.time(band, form, group) {
                None => {}
                Some(now) if now != bits => heap.push((Reverse(now), number, form, group)),
                Some(_) => {
                    self.now = f64::from_bits(bits);
                    for &place in band.meetings[form].members.list(group) {
                        let price = &mut self.prices[band.rising[place as usize] as usize];
                        price.get_or_insert(self.now);
                    }
                }
            }
        }
        self.now = self.now.max(end);
        let prices = &self.prices;
        self.rising.retain(|&row| prices[row as usize].is_none());
        Ok(())
    }
}
