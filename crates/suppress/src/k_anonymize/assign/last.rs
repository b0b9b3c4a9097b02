//! The last free rows, each with the rows that are most like it.

use super::assignment::Assignment;
use crate::k_anonymize::prepare::{DROP, Differences};
use hashbrown::HashMap;
use table::{Stop, Watch, bits};

/// A row that could share a class with a free one.
struct Candidate {
    row: u32,
    /// The share it comes from; `None` if it is free itself.
    share: Option<u32>,
    /// What its class shows of it.
    worth: u64,
}

/// Cells compared before the last free rows are given up: about a second.
const WORK: usize = 1 << 30;

/// Opens classes around the free rows one by one; those for which that costs more than dropping
/// them stay free.
///
/// What makes most rows equal to the free one at the least cost is blanked, cell after cell,
/// until there are k. Linear in the rows for each free row.
pub(crate) fn last(assignment: &mut Assignment<'_>, k: u64, watch: &Watch) -> Result<(), Stop> {
    let cells = assignment.shares.len() * assignment.keyed.width();
    let rows = WORK / cells.max(1) + 16;
    for place in 0..assignment.free.len().min(rows) {
        watch.check()?;
        let row = assignment.free[place];
        if assignment.is_free(row)
            && let Some(class) = Around::new(assignment, row, k).grow(watch)?
        {
            class.open(assignment);
        }
    }
    assignment.sweep();
    Ok(())
}

/// A class that grows around a free row.
struct Around<'p, 'a> {
    assignment: &'p Assignment<'a>,
    k: u64,
    row: u32,
    candidates: Vec<Candidate>,
    differences: Differences,
    blanked: Vec<u64>,
    value: u64,
}

/// A class to open.
struct Found {
    key: u64,
    value: u64,
    rows: Vec<u32>,
    /// (share, rows borrowed)
    borrowed: Vec<(u32, u64)>,
}

impl Found {
    fn open(self, assignment: &mut Assignment<'_>) {
        let class = assignment.class(self.key, self.value);
        self.rows.into_iter().for_each(|row| assignment.settle(row, class));
        self.borrowed.into_iter().for_each(|(share, rows)| assignment.lend(share, rows, class));
    }
}

impl<'p, 'a> Around<'p, 'a> {
    fn new(assignment: &'p Assignment<'a>, row: u32, k: u64) -> Self {
        let lender = |share: u32| {
            let from = &assignment.shares[share as usize];
            let worth = assignment.classes[from.class as usize].value;
            Candidate { row: from.row, share: Some(share), worth }
        };
        let lenders =
            (0..assignment.shares.len() as u32).filter(|&share| assignment.spare(share, k) > 0);
        let others =
            assignment.free.iter().filter(|&&other| other != row && assignment.is_free(other));
        let others = others.map(|&row| Candidate { row, share: None, worth: 0 });
        let mut candidates: Vec<Candidate> = others.chain(lenders.map(lender)).collect();
        // Free rows first, then those that lose least.
        candidates.sort_by_key(|candidate| candidate.worth);
        Around {
            differences: Differences::new(assignment.keyed, row, candidates.iter().map(|c| c.row)),
            blanked: vec![0; bits::words(assignment.keyed.width())],
            value: assignment.value(&[], row),
            assignment,
            k,
            row,
            candidates,
        }
    }

    /// The class, if one of k rows costs less than dropping its free rows.
    fn grow(mut self, watch: &Watch) -> Result<Option<Found>, Stop> {
        loop {
            watch.check()?;
            if let Some(found) = self.gather() {
                return Ok(self.pays(&found).then_some(found));
            }
            let more = (0..self.candidates.len())
                .map(|i| (self.differences.cost(i, &self.blanked, self.assignment.units), i))
                .filter(|&(cost, _)| cost > 0)
                .min();
            let Some((cost, nearest)) = more else { return Ok(None) };
            self.value -= cost;
            self.differences.add(nearest, &mut self.blanked);
        }
    }

    /// The class that what is not blanked gives, if there are k rows for it.
    fn gather(&self) -> Option<Found> {
        let assignment = self.assignment;
        let mut found = Found {
            key: assignment.keyed.key(self.row, &self.blanked),
            value: self.value,
            rows: vec![self.row],
            borrowed: Vec::new(),
        };
        let mut lacking = self.k.saturating_sub(assignment.weight(self.row));
        let mut spent: HashMap<u32, u64, table::Keyed> = HashMap::default();
        let fits = |i: &usize| self.differences.fits(*i, &self.blanked);
        for i in (0..self.candidates.len()).filter(fits) {
            let candidate = &self.candidates[i];
            let Some(number) = candidate.share else {
                // Free rows come even if there are enough: they have no class.
                found.rows.push(candidate.row);
                lacking = lacking.saturating_sub(assignment.weight(candidate.row));
                continue;
            };
            if lacking == 0 {
                break;
            }
            let share = &assignment.shares[number as usize];
            let spent = spent.entry(share.class).or_default();
            let room =
                (assignment.classes[share.class as usize].size - *spent).saturating_sub(self.k);
            let rows = room.min(share.weight).min(lacking);
            if rows > 0 {
                *spent += rows;
                lacking -= rows;
                found.borrowed.push((number, rows));
            }
        }
        (lacking == 0).then_some(found)
    }

    /// True if the class costs less than dropping its free rows.
    fn pays(&self, found: &Found) -> bool {
        let assignment = self.assignment;
        let kept = |row: u32| {
            let whole = assignment.value(&[], row) as f64;
            (DROP as f64 * whole - (whole - found.value as f64)) * assignment.weight(row) as f64
        };
        let lost = |&(share, rows): &(u32, u64)| {
            let class = assignment.shares[share as usize].class;
            (assignment.classes[class as usize].value as f64 - found.value as f64) * rows as f64
        };
        let kept: f64 = found.rows.iter().map(|&row| kept(row)).sum();
        kept >= found.borrowed.iter().map(lost).sum()
    }
}
