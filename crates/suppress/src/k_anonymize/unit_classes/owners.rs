//! Which units' copies of a row are in which of its shares.

use super::shares_of_rows;
use crate::k_anonymize::group::Lists;
use crate::k_anonymize::improve::{DROP, Partition};
use std::cmp::Reverse;
use table::{NONE, RowsOfUnit, Stop, UnitCounter, Units, Watch};

/// The choice of units for the shares of rows that have several.
///
/// A share gets units that its class does not have yet, as long as it has fewer than k, and those with the fewest
/// copies of the row: the shares that lose most choose first.
pub(crate) struct Owners<'p, 'a> {
    partition: &'p Partition<'a>,
    units: &'p Units,
    of_row: Lists,
    /// Copies of each row that have no class.
    waiting: Vec<u64>,
    /// By class: the units that it is known to have, ascending, if it has fewer than k; else `None`.
    few: Vec<Option<Vec<u32>>>,
}

/// Copies of a row that need owners.
struct Wanted {
    /// What a row loses there.
    loss: u64,
    /// [`NONE`] if they have no class.
    class: u32,
    share: u32,
    weight: u64,
}

/// The owners of each share, or `None` if these are all units of the row; and rows with units that have no class for
/// them.
type Chosen = (Vec<Option<Vec<u32>>>, Vec<(u32, u32)>);

impl<'p, 'a> Owners<'p, 'a> {
    pub fn new(
        partition: &'p Partition<'a>,
        units: &'p Units,
        mut counter: UnitCounter,
        watch: &Watch,
    ) -> Result<Self, Stop> {
        let of_row = shares_of_rows(partition);
        let mut waiting = vec![0; partition.people.len()];
        partition.waiting.iter().for_each(|&(row, copies)| waiting[row as usize] += copies);
        let mut own = Owners { partition, units, of_row, waiting, few: Vec::new() };
        let k = partition.rule.k;
        for (number, class) in partition.classes.iter().enumerate() {
            watch.poll_every(64, number)?;
            let rows = || class.members.iter().map(|&share| partition.shares[share as usize].row);
            if !rows().any(|row| own.is_split(row)) {
                own.few.push(None);
                continue;
            }
            counter.begin();
            let whole = rows().filter(|&row| !own.is_split(row));
            let all = whole.flat_map(|row| own.units_of(row)).map(|of| of.unit);
            let mut found: Vec<u32> =
                all.filter(|&unit| counter.see(unit)).take(k as usize).collect();
            found.sort_unstable();
            own.few.push((found.len() as u64 != k).then_some(found));
        }
        Ok(own)
    }

    fn units_of(&self, row: u32) -> &'p [RowsOfUnit] {
        self.units.of(self.partition.people.rows[row as usize] as usize)
    }

    /// True if copies of a row are in several shares, or some in none.
    fn is_split(&self, row: u32) -> bool {
        self.of_row.range(row as usize).len() != 1 || self.waiting[row as usize] > 0
    }

    pub fn choose(mut self, watch: &Watch) -> Result<Chosen, Stop> {
        let partition = self.partition;
        let mut owners = vec![None; partition.shares.len()];
        let mut dropped = Vec::new();
        for row in 0..partition.people.len() as u32 {
            watch.poll_every(64, row as usize)?;
            if !self.is_split(row) {
                continue;
            }
            let mut wanted = self.wanted(row);
            let last = wanted.pop();
            let units = self.lightest(row, wanted.iter().map(|wanted| wanted.weight).sum());
            let mut rest = Rest { units: &units, passed: Vec::new() };
            let mut gone = Vec::new();
            for Wanted { class, share, weight, .. } in wanted {
                let few = self.few.get(class as usize).and_then(Option::as_ref);
                let has = |unit: u32| few.is_some_and(|few| few.binary_search(&unit).is_ok());
                let mut taken = rest.take(weight as usize, has);
                taken.sort_unstable();
                gone.extend_from_slice(&taken);
                if class == NONE {
                    dropped.extend(taken.into_iter().map(|unit| (row, unit)));
                    continue;
                }
                self.note(class, &taken);
                owners[share as usize] = Some(taken);
            }
            gone.sort_unstable();
            let left = self.units_of(row).iter().map(|of| of.unit);
            let left: Vec<u32> = left.filter(|unit| gone.binary_search(unit).is_err()).collect();
            match last {
                Some(last) if last.class != NONE => {
                    self.note(last.class, &left);
                    owners[last.share as usize] = Some(left);
                }
                _ => dropped.extend(left.into_iter().map(|unit| (row, unit))),
            }
        }
        Ok((owners, dropped))
    }

    /// The units with the fewest copies of a row, ascending: `wanted` and some more, as classes may have some of them.
    fn lightest(&self, row: u32, wanted: u64) -> Vec<RowsOfUnit> {
        let mut units = self.units_of(row).to_vec();
        let key = |of: &RowsOfUnit| (of.rows, of.unit);
        let most = wanted.saturating_add(self.partition.rule.k).saturating_mul(2) as usize;
        if most < units.len() {
            units.select_nth_unstable_by_key(most, key);
            units.truncate(most);
        }
        units.sort_unstable_by_key(key);
        units
    }

    /// The copies of a row that need owners, those that lose most first.
    fn wanted(&self, row: u32) -> Vec<Wanted> {
        let mut wanted = Vec::new();
        if self.waiting[row as usize] > 0 {
            let (loss, weight) =
                (DROP * self.partition.people.worth(row), self.waiting[row as usize]);
            wanted.push(Wanted { loss, class: NONE, share: NONE, weight });
        }
        for &share in self.of_row.list(row as usize) {
            let of = self.partition.shares[share as usize];
            let loss = self.partition.people.loss(row, self.partition.levels(of.class));
            wanted.push(Wanted { loss, class: of.class, share, weight: of.weight });
        }
        wanted.sort_unstable_by_key(|wanted| (Reverse(wanted.loss), wanted.class, wanted.share));
        wanted
    }

    /// Records units that a class has.
    fn note(&mut self, class: u32, taken: &[u32]) {
        let few = &mut self.few[class as usize];
        let Some(known) = few else { return };
        for &unit in taken {
            if let Err(place) = known.binary_search(&unit) {
                known.insert(place, unit);
            }
            if known.len() as u64 >= self.partition.rule.k {
                *few = None;
                return;
            }
        }
    }
}

/// The units of a row that own nothing yet: those not looked at, and those that were passed over.
struct Rest<'u> {
    units: &'u [RowsOfUnit],
    passed: Vec<u32>,
}

impl Rest<'_> {
    /// So many units, if possible none that the class has.
    fn take(&mut self, count: usize, has: impl Fn(u32) -> bool) -> Vec<u32> {
        let mut taken = Vec::with_capacity(count);
        self.passed.retain(|&unit| {
            let stays = taken.len() == count || has(unit);
            if !stays {
                taken.push(unit);
            }
            stays
        });
        while taken.len() < count
            && let Some((of, rest)) = self.units.split_first()
        {
            self.units = rest;
            if has(of.unit) { self.passed.push(of.unit) } else { taken.push(of.unit) }
        }
        let lacking = (count - taken.len()).min(self.passed.len());
        taken.extend(self.passed.drain(..lacking));
        taken
    }
}
