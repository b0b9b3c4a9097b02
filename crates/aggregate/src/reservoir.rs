//! Bounds the contribution of each unit: keeps a limited number of its rows and groups, chosen by fresh coins.

use hashbrown::{HashMap, HashSet, hash_map::EntryRef};
use rand::Rng;
use random::{Reservoirs, shuffle};
use std::hash::BuildHasher;
use table::Keyed;

/// The group of a row that does not count because its unit has rows in too many groups.
const DROPPED: u32 = u32::MAX;

/// Parts that units are spread over. A part with its hash table stays in the processor's cache while a
/// batch of rows is counted, where one table for all units would miss it with every row.
const PARTS: usize = 256;
/// The least number of rows that wait before a partition is visited; a partition with many units has more.
const PENDING: usize = 2048;
const MOST_PENDING: usize = 8 * PENDING;

/// Keeps a uniformly random set of at most `k` rows of every unit while rows stream past, and of these the rows of at
/// most `groups` groups.
///
/// [`Reservoirs`] has the law of the rows. At the end the kept rows of a unit are taken in random order, and
/// those of the first `groups` groups met count. Which rows of a unit count depends on no other unit, so
/// adding or removing a unit changes its own `k` rows and nothing else.
///
/// The reader of a relation fills it; [`crate::NoisePlan::totals`] adds it up.
pub struct Bounded {
    limit: u32,
    groups: u32,
    width: usize,
    hasher: Keyed,
    parts: Vec<UnitPartition>,
    /// The partition of the next unit that has only one row.
    next_part: usize,
}

#[derive(Default)]
struct UnitPartition {
    short: HashMap<u64, u32, Keyed>,
    long: HashMap<Box<[u8]>, u32, Keyed>,
    long_bytes: u64,
    kept: Reservoirs,
    /// Group and values of the rows that are kept, by their places.
    groups: Vec<u32>,
    values: Vec<i64>,
    /// Unit, group and values of the rows that wait, and how many may.
    pending: Vec<i64>,
    patience: usize,
}

impl Bounded {
    /// Keeps up to these numbers of rows and groups of a unit, with `width` values in each row.
    pub fn new(rows_per_unit: u64, groups_per_unit: u64, width: usize) -> Self {
        let limit = |limit: u64| u32::try_from(limit).unwrap_or(u32::MAX).max(1);
        Bounded {
            limit: limit(rows_per_unit),
            groups: limit(groups_per_unit),
            width,
            hasher: Keyed::default(),
            parts: (0..PARTS)
                .map(|_| UnitPartition { patience: PENDING, ..UnitPartition::default() })
                .collect(),
            next_part: 0,
        }
    }

    /// The partition of a unit, by bits of the hash that the partition's own table does not use.
    fn part(&self, hash: u64) -> usize {
        (hash >> 32) as usize % PARTS
    }

    /// Adds a row whose unit fits into eight bytes.
    #[inline]
    pub fn row_of_number<R: Rng + ?Sized>(
        &mut self,
        unit: u64,
        group: u32,
        values: &[i64],
        rng: &mut R,
    ) {
        let place = self.part(self.hasher.hash_one(unit));
        let part = &mut self.parts[place];
        part.pending.push(unit as i64);
        part.pending.push(group.into());
        part.pending.extend_from_slice(&values[..self.width]);
        if part.pending.len() >= part.patience * (2 + self.width) {
            part.drain(self.limit, self.width, rng);
        }
    }

    /// Adds a row whose unit is a byte string.
    pub fn row_of_bytes<R: Rng + ?Sized>(
        &mut self,
        unit: &[u8],
        group: u32,
        values: &[i64],
        rng: &mut R,
    ) {
        let place = self.part(self.hasher.hash_one(unit));
        let part = &mut self.parts[place];
        let fresh = part.kept.units() as u32;
        let unit = match part.long.entry_ref(unit) {
            EntryRef::Occupied(entry) => *entry.get(),
            EntryRef::Vacant(entry) => {
                part.long_bytes += unit.len() as u64 + 16;
                *entry.insert(fresh)
            }
        };
        part.row(unit, group, &values[..self.width], self.limit, rng);
    }

    /// Adds the only row of a unit.
    pub fn row_of_new_unit<R: Rng + ?Sized>(&mut self, group: u32, values: &[i64], rng: &mut R) {
        self.next_part = (self.next_part + 1) % PARTS;
        let part = &mut self.parts[self.next_part];
        part.row(part.kept.units() as u32, group, &values[..self.width], self.limit, rng);
    }

    /// Counts the rows that wait, then drops the rows in too many groups. A second call changes nothing.
    pub fn finish<R: Rng + ?Sized>(&mut self, rng: &mut R) {
        self.settle(rng);
        if self.groups < self.limit {
            let groups = self.groups as usize;
            self.parts.iter_mut().for_each(|part| part.choose_groups(groups, rng));
        }
    }

    /// Counts the rows that wait, and frees their memory.
    pub fn settle<R: Rng + ?Sized>(&mut self, rng: &mut R) {
        for part in &mut self.parts {
            part.drain(self.limit, self.width, rng);
            part.pending = Vec::new();
        }
    }

    /// The number of rows that are kept, rows in too many groups included. Rows that wait are not counted.
    pub fn rows(&self) -> usize {
        self.parts.iter().map(|part| part.groups.len()).sum()
    }

    /// Bytes held.
    pub fn memory(&self) -> u64 {
        self.parts.iter().map(UnitPartition::memory).sum()
    }

    /// True if row numbers are about to run out.
    pub fn is_full(&self) -> bool {
        let limit = u32::MAX as usize - 2 * MOST_PENDING;
        self.parts.iter().any(|part| part.groups.len() >= limit || part.kept.units() >= limit)
    }

    /// Calls `visit` with the groups of each unit, sorted, each group once.
    pub(crate) fn each_unit(&self, mut visit: impl FnMut(&[u32])) {
        let mut groups = Vec::new();
        for part in &self.parts {
            for rows in part.kept.each_unit() {
                groups.clear();
                let counted = rows.map(|row| part.groups[row]);
                groups.extend(counted.filter(|&group| group != DROPPED));
                groups.sort_unstable();
                groups.dedup();
                visit(&groups);
            }
        }
    }

    /// Calls `visit` with each row that counts, for another process that adds up: whether the row is the first of its
    /// unit in its group, its group and its values. Nothing in it identifies the unit. See `reservoir.md`.
    pub fn each_kept(&self, mut visit: impl FnMut(bool, u32, &[i64])) {
        let mut rows = Vec::new();
        for part in &self.parts {
            for kept in part.kept.each_unit() {
                rows.clear();
                let counted = kept.map(|row| (part.groups[row], row));
                rows.extend(counted.filter(|&(group, _)| group != DROPPED));
                rows.sort_unstable();
                let mut last = DROPPED;
                for &(group, row) in &rows {
                    visit(group != last, group, &part.values[row * self.width..][..self.width]);
                    last = group;
                }
            }
        }
    }

    /// Adds a row that [`Bounded::each_kept`] of another process reported. All rows of the unit went to that process.
    pub fn kept_row(&mut self, is_first: bool, group: u32, values: &[i64]) {
        self.next_part = (self.next_part + 1) % PARTS;
        let part = &mut self.parts[self.next_part];
        part.kept.keep(is_first);
        part.groups.push(group);
        part.values.extend_from_slice(&values[..self.width]);
    }

    /// Calls `visit` with group and values of each row that counts.
    pub fn each_row(&self, mut visit: impl FnMut(u32, &[i64])) {
        for part in &self.parts {
            for (row, &group) in part.groups.iter().enumerate() {
                if group != DROPPED {
                    visit(group, &part.values[row * self.width..][..self.width]);
                }
            }
        }
    }
}

impl UnitPartition {
    fn drain<R: Rng + ?Sized>(&mut self, limit: u32, width: usize, rng: &mut R) {
        let mut pending = std::mem::take(&mut self.pending);
        for row in pending.chunks_exact(2 + width) {
            let fresh = self.kept.units() as u32;
            let unit = *self.short.entry(row[0] as u64).or_insert(fresh);
            self.row(unit, row[1] as u32, &row[2..], limit, rng);
        }
        pending.clear();
        self.pending = pending;
        self.patience = (4 * self.kept.units()).clamp(PENDING, MOST_PENDING);
    }

    /// Drops the rows of each unit that are not in its first `limit` groups in random order.
    fn choose_groups<R: Rng + ?Sized>(&mut self, limit: usize, rng: &mut R) {
        let (mut rows, mut met) = (Vec::new(), HashSet::with_hasher(Keyed::default()));
        for kept in self.kept.each_unit() {
            rows.clear();
            rows.extend(kept.filter(|&row| self.groups[row] != DROPPED));
            let first = rows.first().map(|&row| self.groups[row]);
            if rows.len() <= limit || rows.iter().all(|&row| Some(self.groups[row]) == first) {
                continue;
            }
            shuffle(rng, &mut rows);
            met.clear();
            for &row in &rows {
                let group = &mut self.groups[row];
                if !met.contains(group) {
                    match met.len() < limit {
                        true => drop(met.insert(*group)),
                        false => *group = DROPPED,
                    }
                }
            }
        }
    }

    #[inline]
    fn row<R: Rng + ?Sized>(
        &mut self,
        unit: u32,
        group: u32,
        values: &[i64],
        limit: u32,
        rng: &mut R,
    ) {
        match self.kept.place(unit, limit, rng) {
            None => {}
            Some(row) if row == self.groups.len() => {
                self.groups.push(group);
                self.values.extend_from_slice(values);
            }
            Some(row) => {
                self.groups[row] = group;
                self.values[row * values.len()..][..values.len()].copy_from_slice(values);
            }
        }
    }

    fn memory(&self) -> u64 {
        let map = |capacity: usize, entry: u64| capacity as u64 * (entry + 1) * 8 / 7;
        let rows = self.groups.capacity() * 4 + self.values.capacity() * 8;
        map(self.short.capacity(), 16)
            + map(self.long.capacity(), 24)
            + self.long_bytes
            + self.kept.memory()
            + self.pending.capacity() as u64 * 8
            + rows as u64
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use random::Coins;
    use random::testing::{assert_fits, uniform};

    /// The first value of each row that counts, sorted.
    pub(crate) fn kept(bounded: &Bounded) -> Vec<i64> {
        let mut kept = Vec::new();
        bounded.each_row(|_, values| kept.push(values[0]));
        kept.sort_unstable();
        kept
    }

    #[test]
    fn small_units_are_kept_whole() {
        let mut coins = Coins::seeded(1);
        let mut bounded = Bounded::new(3, 3, 1);
        for i in 0..3 {
            bounded.row_of_number(7, 0, &[i], &mut coins);
            bounded.row_of_bytes(b"a name", 1, &[10 + i], &mut coins);
        }
        bounded.row_of_new_unit(2, &[20], &mut coins);
        bounded.finish(&mut coins);
        assert_eq!(kept(&bounded), [0, 1, 2, 10, 11, 12, 20]);
        let mut units = Vec::new();
        bounded.each_unit(|groups| units.push(groups.to_vec()));
        units.sort();
        assert_eq!(units, [vec![0], vec![1], vec![2]]);
    }

    #[test]
    fn every_set_of_rows_is_equally_likely() {
        let mut coins = Coins::seeded(2);
        // The ten pairs of five rows.
        let pairs: Vec<Vec<i64>> =
            (0..5).flat_map(|a| (a + 1..5).map(move |b| vec![a, b])).collect();
        assert_fits(&uniform(10), 20_000, || {
            let mut bounded = Bounded::new(2, 2, 1);
            for i in 0..5 {
                bounded.row_of_bytes(b"u", 0, &[i], &mut coins);
            }
            pairs.iter().position(|pair| *pair == kept(&bounded)).unwrap() as i64
        });
    }

    #[test]
    fn more_rows_than_wait_are_all_counted() {
        let mut coins = Coins::seeded(4);
        let mut bounded = Bounded::new(2, 2, 1);
        let rows = 3 * (PARTS * PENDING) as u64;
        for row in 0..rows {
            bounded.row_of_number(row % 1000, 0, &[row as i64], &mut coins);
        }
        let before = bounded.memory();
        bounded.finish(&mut coins);
        assert_eq!((kept(&bounded).len(), bounded.rows()), (2000, 2000));
        assert!(bounded.memory() < before / 10);
    }

    #[test]
    fn a_unit_counts_each_of_its_groups_once() {
        let mut coins = Coins::seeded(3);
        let mut bounded = Bounded::new(4, 4, 0);
        for group in [5, 3, 5, 3] {
            bounded.row_of_number(1, group, &[], &mut coins);
        }
        bounded.finish(&mut coins);
        let mut units = Vec::new();
        bounded.each_unit(|groups| units.push(groups.to_vec()));
        assert_eq!(units, [vec![3, 5]]);
        assert!(!bounded.is_full() && bounded.memory() > 0);
    }

    /// The groups that count, and how many rows.
    fn counted(bounded: &mut Bounded, coins: &mut Coins) -> (Vec<u32>, usize) {
        bounded.finish(coins);
        let (mut groups, mut rows) = (Vec::new(), 0);
        bounded.each_unit(|found| groups = found.to_vec());
        bounded.each_row(|group, _| {
            rows += 1;
            assert!(groups.contains(&group));
        });
        (groups, rows)
    }

    #[test]
    fn groups_are_chosen_in_the_order_of_random_rows() {
        let mut coins = Coins::seeded(5);
        // Rows of groups 0, 0, 1: the first row in random order is of group 0 in two of three cases, and the other
        // row of group 0 then counts too.
        assert_fits(&[2.0 / 3.0, 1.0 / 3.0], 20_000, || {
            let mut bounded = Bounded::new(3, 1, 0);
            for group in [0, 0, 1] {
                bounded.row_of_number(1, group, &[], &mut coins);
            }
            let (groups, rows) = counted(&mut bounded, &mut coins);
            assert_eq!(rows, if groups == [0] { 2 } else { 1 });
            groups[0].into()
        });
        // Two of three groups, all pairs equally likely; the rows that are not kept are dropped first.
        let pairs = [[0, 1], [0, 2], [1, 2]];
        assert_fits(&uniform(3), 20_000, || {
            let mut bounded = Bounded::new(6, 2, 0);
            for row in 0..9 {
                bounded.row_of_bytes(b"u", row % 3, &[], &mut coins);
            }
            let (groups, rows) = counted(&mut bounded, &mut coins);
            assert!(rows <= 6);
            pairs.iter().position(|pair| *pair == groups[..]).unwrap() as i64
        });
    }

    #[test]
    fn choosing_groups_again_changes_nothing() {
        let mut coins = Coins::seeded(6);
        let mut bounded = Bounded::new(10, 2, 0);
        for group in 0..8 {
            bounded.row_of_number(1, group, &[], &mut coins);
        }
        let first = counted(&mut bounded, &mut coins);
        assert_eq!((first.0.len(), first.1), (2, 2));
        assert_eq!(counted(&mut bounded, &mut coins), first);
    }
}
