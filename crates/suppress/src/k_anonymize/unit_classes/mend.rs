//! Classes that have rows of too few units get copies of other units, or are given up.

use super::UnitClasses;
use crate::k_anonymize::group::{KeyTable, Lists};
use crate::k_anonymize::improve::DROP;
use crate::k_anonymize::prepare::People;
use table::{NONE, Stop, Watch};

/// The most shares and classes that are looked at to mend all classes; if there are more, each class looks at a part of
/// them. Half a second.
const LOOKS: usize = 1 << 25;

/// A way to mend a class.
enum Way {
    /// Copies of the units of a share move here.
    Fetch(u32),
    /// The rows move to the classes where they lose least, by share; [`NONE`] for those that are dropped.
    Dissolve(Vec<(u32, u32)>),
    /// The class becomes one with another.
    Merge(u32),
}

impl UnitClasses<'_> {
    /// Mends all classes with fewer than k units. If `drops`, rows are dropped that would cost more than twice their
    /// cells.
    pub fn mend(&mut self, drops: bool, watch: &Watch) -> Result<(), Stop> {
        let mut short = self.short();
        if short.is_empty() {
            return Ok(());
        }
        self.merge_alike(&short);
        short.retain(|&class| self.is_short(class));
        self.fetch_alike(&short, watch)?;
        short.retain(|&class| self.is_short(class));
        let all = self.partition.shares.len() + self.partition.classes.len();
        let step = (short.len().saturating_mul(all) / LOOKS).max(1);
        let alike = Alike::new(self);
        for class in short {
            while self.is_short(class) {
                watch.check()?;
                let Some(way) = self.best_way(class, &alike, drops, step) else {
                    self.take_dropped(class);
                    break;
                };
                self.go(class, way);
            }
        }
        Ok(())
    }

    fn k(&self) -> u64 {
        self.partition.rule.k
    }

    fn is_short(&self, class: u32) -> bool {
        self.partition.classes[class as usize].size > 0 && self.counts[class as usize] < self.k()
    }

    /// The classes with too few units, those that lose least first.
    fn short(&self) -> Vec<u32> {
        let mut short: Vec<u32> = self.open().filter(|&class| self.is_short(class)).collect();
        short.sort_unstable_by_key(|&class| (self.partition.classes[class as usize].loss, class));
        short
    }

    /// The key of what a class shows.
    fn key_of(&self, class: u32) -> u64 {
        let first = self.partition.first(class);
        first.map_or(0, |first| key(self.partition.people, first, self.partition.levels(class)))
    }

    /// Merges classes with too few units with those that look alike, which costs nothing.
    fn merge_alike(&mut self, short: &[u32]) {
        let mut others = KeyTable::default();
        others.reset(self.partition.classes.len());
        // Classes that are large enough come first.
        let (large, small): (Vec<u32>, Vec<u32>) =
            self.open().partition(|&class| !self.is_short(class));
        for &class in large.iter().chain(&small) {
            others.insert(self.key_of(class), class);
        }
        let into: Vec<Option<u32>> =
            short.iter().map(|&class| others.find(self.key_of(class))).collect();
        for (&class, into) in short.iter().zip(into) {
            if let Some(into) = into.filter(|&into| into != class) {
                self.merge(class, into);
            }
        }
    }

    /// Classes get copies of units that are shown alike there, from classes that can spare them and lose most.
    fn fetch_alike(&mut self, short: &[u32], watch: &Watch) -> Result<(), Stop> {
        let people = self.partition.people;
        let rows = people.select(0..people.len() as u32);
        let of_row = self.shares_of_rows();
        let mut short = short.to_vec();
        short.sort_by(|&a, &b| self.partition.levels(a).cmp(self.partition.levels(b)));
        let forms: Vec<Vec<u16>> = short
            .iter()
            .map(|&class| self.partition.levels(class).iter().map(|&level| level.into()).collect())
            .collect();
        let mut keys = Vec::new();
        let mut begin = 0;
        for same in forms.chunk_by(|a, b| a == b) {
            watch.check()?;
            rows.keys(&same[0], 0, people.len(), &mut keys);
            let classes = &short[begin..begin + same.len()];
            begin += same.len();
            let found = self.alike(classes, &keys, &of_row);
            for (&class, mut offers) in classes.iter().zip(found) {
                offers.sort_unstable();
                for (_, share) in offers {
                    if !self.is_short(class) {
                        break;
                    }
                    self.fetch(class, share);
                }
            }
        }
        Ok(())
    }

    /// For each of some classes of a form the shares that are shown alike in it, with what a copy loses by moving.
    fn alike(&self, classes: &[u32], keys: &[u64], of_row: &Lists) -> Vec<Vec<(i64, u32)>> {
        let partition = &self.partition;
        let mut found = vec![Vec::new(); classes.len()];
        let mut numbers = KeyTable::default();
        numbers.reset(classes.len());
        for (&class, number) in classes.iter().zip(0..) {
            if let Some(first) = partition.first(class) {
                numbers.insert(keys[first as usize], number);
            }
        }
        for (&key, row) in keys.iter().zip(0u32..) {
            let Some(number) = numbers.find(key) else { continue };
            let levels = partition.levels(classes[number as usize]);
            let loss = partition.people.loss(row, levels) as i64;
            for &share in of_row.list(row as usize) {
                let from = partition.shares[share as usize].class;
                if self.counts[from as usize] > self.k() {
                    let before = partition.people.loss(row, partition.levels(from)) as i64;
                    found[number as usize].push((loss - before, share));
                }
            }
        }
        found
    }

    /// Moves copies of a share to a class that lacks units: of as many units as the class needs, and as the share's
    /// class can spare; false if of none.
    fn fetch(&mut self, class: u32, share: u32) -> bool {
        let (k, from) = (self.k(), self.partition.shares[share as usize].class);
        let lacking = k.saturating_sub(self.counts[class as usize]);
        let most = self.counts[from as usize].saturating_sub(k).min(lacking);
        if from == class || most == 0 {
            return false;
        }
        self.counter.begin();
        let members = &self.partition.classes[class as usize].members;
        let known: Vec<u32> = members.iter().flat_map(|&share| self.units_of(share)).collect();
        for unit in known {
            self.counter.see(unit);
        }
        let row = self.row_of(share);
        let owned: Vec<u32> = self.units_of(share).collect();
        let new = owned.into_iter().filter(|&unit| self.counter.see(unit));
        let mut new: Vec<u32> = new.collect();
        // Units with fewer rows lose less.
        new.sort_unstable_by_key(|&unit| (self.rows_of(row, unit), unit));
        new.truncate(most as usize);
        if new.is_empty() {
            return false;
        }
        self.give(share, new, class);
        self.partition.tighten(class);
        self.partition.tighten(from);
        true
    }

    /// The cheapest way to mend a class; `None` if there is no other class.
    fn best_way(&self, class: u32, alike: &Alike, drops: bool, step: usize) -> Option<Way> {
        let alike = self.homes(class, drops, |row| alike.classes_of(self, row));
        let most = alike.as_ref().map_or(i64::MAX, |found| found.0);
        if most <= self.least_growth(class) {
            return alike.map(|found| found.1);
        }
        let near = self.nearest_share(class, step, most).or(alike).or_else(|| {
            let all = 0..self.partition.classes.len() as u32;
            self.homes(class, drops, |row| {
                all.clone().skip(row as usize % step).step_by(step).collect()
            })
        });
        near.map(|found| found.1).or_else(|| self.nearest_class(class).map(Way::Merge))
    }

    /// What a class loses at least if a column is shown a level higher.
    fn least_growth(&self, class: u32) -> i64 {
        let partition = &self.partition;
        let Some(first) = partition.first(class) else { return 0 };
        let columns = partition.people.columns.iter().zip(&partition.people.cells);
        let growths =
            columns.zip(partition.levels(class)).filter_map(|((column, cells), &level)| {
                let loss = |level: usize| column.losses(level)[cells[first as usize] as usize];
                let higher = usize::from(level) + 1;
                (higher < column.levels()).then(|| loss(higher) - loss(higher - 1))
            });
        let size = partition.classes[class as usize].size as i64;
        growths.filter(|&growth| growth > 0).min().map_or(0, |growth| size * i64::from(growth))
    }

    /// The share from which units come at the least loss, if that is less than `most`.
    fn nearest_share(&self, class: u32, step: usize, most: i64) -> Option<(i64, Way)> {
        let partition = &self.partition;
        let people = partition.people;
        let own = &partition.classes[class as usize];
        let lacking = (self.k() - self.counts[class as usize]) as i64;
        let known: Vec<u32> = {
            let mut known: Vec<u32> =
                own.members.iter().flat_map(|&share| self.units_of(share)).collect();
            known.sort_unstable();
            known
        };
        let (mut best, limit): (Option<(i64, u32)>, i64) = (None, most);
        let shares = (class as usize % step..partition.shares.len()).step_by(step);
        for share in shares.map(|share| share as u32) {
            let of = partition.shares[share as usize];
            let spare = self.counts[of.class as usize].saturating_sub(self.k());
            if of.weight == 0 || of.class == class || spare == 0 {
                continue;
            }
            // Growth counts what the copies lose here; what they lose now is saved.
            let moved = (spare.min(of.weight) as i64).min(lacking);
            let before = people.loss(of.row, partition.levels(of.class)) as i64 * moved;
            let most = best.map_or(most, |best| best.0).saturating_add(before).max(0);
            let Some(growth) = partition.growth(class, of.row, moved as u64, most as u64) else {
                continue;
            };
            // Too few copies are not better because they cost less.
            let cost = (growth as i64 - before) * lacking / moved;
            let is_new = |unit: u32| known.binary_search(&unit).is_err();
            let is_less = cost < best.map_or(i64::MAX, |best| best.0).min(limit);
            if is_less && self.units_of(share).any(is_new) {
                best = Some((cost, share));
            }
        }
        best.map(|(cost, share)| (cost, Way::Fetch(share)))
    }

    /// Where the rows of a class would go if it were given up, of the classes that are given for each row; `None` if
    /// there is no class for one of them.
    fn homes(
        &self,
        class: u32,
        drops: bool,
        classes: impl Fn(u32) -> Vec<u32>,
    ) -> Option<(i64, Way)> {
        let partition = &self.partition;
        let mut cost = -(partition.loss(class) as i64);
        let mut homes = Vec::new();
        for &share in &partition.classes[class as usize].members {
            let of = partition.shares[share as usize];
            let worth = DROP * of.weight * partition.people.worth(of.row) + 1;
            let mut most = if drops { worth } else { u64::MAX };
            let mut home = NONE;
            for to in classes(of.row) {
                if to == class || self.counts[to as usize] < self.k() {
                    continue;
                }
                if let Some(growth) = partition.growth(to, of.row, of.weight, most) {
                    (most, home) = (growth, to);
                }
            }
            if home == NONE && !drops {
                return None;
            }
            cost = cost.saturating_add(most.min(i64::MAX as u64) as i64);
            homes.push((share, home));
        }
        // Everything dropped is no way to mend the last class.
        let stays = self.open().any(|other| other != class);
        stays.then_some((cost, Way::Dissolve(homes)))
    }

    /// The class that costs least to become one with.
    pub(super) fn nearest_class(&self, class: u32) -> Option<u32> {
        let partition = &self.partition;
        let row = partition.first(class)?;
        let size = partition.classes[class as usize].size;
        let others = self.open().filter(|&other| other != class);
        others.min_by_key(|&other| (partition.growth(other, row, size, u64::MAX), other))
    }

    fn go(&mut self, class: u32, way: Way) {
        match way {
            Way::Fetch(share) => {
                self.fetch(class, share);
            }
            Way::Merge(other) => self.merge(other, class),
            Way::Dissolve(homes) => {
                for (share, home) in homes {
                    if home == NONE {
                        let mut all: Vec<u32> = self.units_of(share).collect();
                        all.sort_unstable();
                        self.drop_units(share, &all);
                    } else {
                        self.partition.shift(share, home);
                        self.partition.tighten(home);
                    }
                }
                self.counts[class as usize] = 0;
            }
        }
    }

    /// Puts the dropped rows into the only class, which then has all units.
    fn take_dropped(&mut self, class: u32) {
        for (row, unit) in std::mem::take(&mut self.dropped) {
            self.partition.enter(row, 1, class);
            self.owners.push(Some(vec![unit]));
        }
        self.partition.tighten(class);
        self.count(class);
    }
}

/// The key of what some levels show of a row.
fn key(people: &People, row: u32, levels: &[u8]) -> u64 {
    let columns = people.columns.iter().zip(&people.cells).zip(levels);
    let keys = columns
        .map(|((column, cells), &level)| column.keys(level.into())[cells[row as usize] as usize]);
    keys.fold(0, u64::wrapping_add)
}

/// The classes by what they show, to find those that a row could join as they are.
struct Alike {
    forms: Vec<Vec<u8>>,
    classes: KeyTable,
}

impl Alike {
    fn new(of: &UnitClasses<'_>) -> Self {
        let mut forms: Vec<Vec<u8>> =
            of.open().map(|class| of.partition.levels(class).to_vec()).collect();
        forms.sort_unstable();
        forms.dedup();
        let mut classes = KeyTable::default();
        classes.reset(of.partition.classes.len());
        for class in of.open().filter(|&class| !of.is_short(class)) {
            classes.insert(of.key_of(class), class);
        }
        Alike { forms, classes }
    }

    /// The classes that show a row alike, unless they have changed.
    fn classes_of(&self, of: &UnitClasses<'_>, row: u32) -> Vec<u32> {
        let people = of.partition.people;
        let found = self.forms.iter().map(|form| self.classes.find(key(people, row, form)));
        found.flatten().collect()
    }
}
