//! Which rows become equal in a form.

use super::tables::{Filter, KeyTable, Parts};
use crate::k_anonymize::prepare::{People, Selected};
use crate::k_anonymize::search::Form;
use rayon::prelude::*;
use std::ops::Range;
use table::{Stop, Watch};

/// Rows handled between two polls of the watch.
const STRIDE: usize = 1 << 14;

/// Several lists in one vector.
#[derive(Default)]
pub(crate) struct Lists {
    pub items: Vec<u32>,
    pub ends: Vec<u32>,
}

impl Lists {
    /// Gathers (list, item) pairs into `lists` lists, in the order they come; pairs of list
    /// `u32::MAX` are left out.
    pub fn gather<I: Iterator<Item = (u32, u32)>>(lists: usize, pairs: impl Fn() -> I) -> Self {
        let mut ends = vec![0; lists + 1];
        for (list, _) in pairs().filter(|pair| pair.0 != u32::MAX) {
            ends[list as usize + 1] += 1;
        }
        for list in 0..lists {
            ends[list + 1] += ends[list];
        }
        let (len, mut lists) = (ends[lists], Lists { items: Vec::new(), ends });
        lists.ends.pop();
        lists.fill(len, pairs());
        lists
    }

    /// Puts `len` items into lists whose begins are known; afterwards `ends` has their ends.
    fn fill(&mut self, len: u32, pairs: impl Iterator<Item = (u32, u32)>) {
        self.items.resize(len as usize, 0);
        for (list, item) in pairs {
            if let Some(next) = self.ends.get_mut(list as usize) {
                self.items[*next as usize] = item;
                *next += 1;
            }
        }
    }

    #[inline]
    pub fn range(&self, list: usize) -> Range<usize> {
        let begin = if list == 0 { 0 } else { self.ends[list - 1] };
        begin as usize..self.ends[list] as usize
    }

    #[inline]
    pub fn list(&self, list: usize) -> &[u32] {
        &self.items[self.range(list)]
    }
}

/// Rows that look for a class, and rows that could join them.
pub(crate) struct Crowd<'a> {
    /// Keys and weights of the rows that look for a class.
    pub seekers: &'a Selected<'a>,
    pub weights: &'a [u64],
    /// Keys of the others, the preferred ones first, and how many rows each can give.
    pub others: &'a Selected<'a>,
    pub gifts: &'a [u64],
    /// Groups that seekers and others make must have this many rows.
    pub k: u64,
    /// The most rows of others that a group gets to choose from.
    pub choice: u64,
}

/// The groups of at least k rows that one form makes.
#[derive(Default)]
pub(crate) struct Meeting {
    pub keys: Vec<u64>,
    /// The seekers of each group, as places among the seekers.
    pub members: Lists,
    /// The others that fit in each group, as places among the others.
    pub guests: Lists,
    /// How close the form brings the seekers to groups of k rows.
    pub score: u64,
}

/// Working memory of a thread.
#[derive(Default)]
pub(crate) struct Scratch {
    keys: Vec<u64>,
    pairs: Vec<(u64, u32)>,
    filter: Filter,
    seekers: Parts,
    others: Parts,
    table: KeyTable,
    group_of: Vec<u32>,
    group_keys: Vec<u64>,
    own: Vec<u64>,
    counts: Vec<[u32; 2]>,
    given: Vec<u64>,
    hits: Vec<(u32, u32)>,
    numbers: Vec<u32>,
}

/// The groups of at least `k` of some rows that each form makes, and how close it brings them to such groups. `weight`
/// returns the number of copies of a row.
pub(crate) fn meetings(
    people: &People,
    rows: &[u32],
    weight: impl Fn(u32) -> u64,
    forms: &[Form],
    k: u64,
    watch: &Watch,
) -> Result<Vec<Meeting>, Stop> {
    let crowd = Crowd {
        seekers: &people.select(rows.iter().copied()),
        weights: &rows.iter().map(|&row| weight(row)).collect::<Vec<u64>>(),
        others: &people.select([].into_iter()),
        gifts: &[],
        k,
        choice: 0,
    };
    let meet = |scratch: &mut Scratch, form: &Form| crowd.meet(form, 0, scratch, watch);
    forms.par_iter().map_init(Scratch::default, meet).collect()
}

impl Crowd<'_> {
    /// Groups the seekers by what `form` shows of them, and finds the others (up to place `end`) that would be equal to
    /// them.
    pub fn meet(
        &self,
        form: &[u16],
        end: usize,
        scratch: &mut Scratch,
        watch: &Watch,
    ) -> Result<Meeting, Stop> {
        self.pair(form, end, scratch, watch)?;
        self.group(scratch, watch)?;
        Ok(self.gather(scratch))
    }

    /// Pairs keys with places, for the seekers and for those others that may equal one of them.
    fn pair(
        &self,
        form: &[u16],
        end: usize,
        scratch: &mut Scratch,
        watch: &Watch,
    ) -> Result<(), Stop> {
        let Scratch { keys, pairs, filter, seekers, others, .. } = scratch;
        let bits = Parts::bits(self.seekers.len());
        filter.reset(self.seekers.len());
        pairs.clear();
        for from in (0..self.seekers.len()).step_by(STRIDE) {
            watch.check()?;
            self.seekers.keys(form, from, self.seekers.len().min(from + STRIDE), keys);
            keys.iter().for_each(|&key| filter.add(key));
            pairs.extend(keys.iter().zip(from as u32..).map(|(&key, place)| (key, place)));
        }
        seekers.sort(pairs, bits);
        pairs.clear();
        for from in (0..end).step_by(STRIDE) {
            watch.check()?;
            self.others.keys(form, from, end.min(from + STRIDE), keys);
            let known = keys.iter().zip(from as u32..).filter(|(key, _)| filter.may_have(**key));
            pairs.extend(known.map(|(&key, place)| (key, place)));
        }
        others.sort(pairs, bits);
        Ok(())
    }

    /// Numbers the groups of equal keys.
    fn group(&self, scratch: &mut Scratch, watch: &Watch) -> Result<(), Stop> {
        let Scratch {
            seekers, others, table, group_of, group_keys, own, counts, given, hits, ..
        } = scratch;
        group_of.clear();
        group_of.resize(self.seekers.len(), 0);
        group_keys.clear();
        own.clear();
        counts.clear();
        given.clear();
        hits.clear();
        for part in 0..1 << Parts::bits(self.seekers.len()) {
            watch.check()?;
            let pairs = seekers.part(part);
            table.reset(pairs.len());
            for &(key, place) in pairs {
                let group = table.insert(key, own.len() as u32);
                if group as usize == own.len() {
                    own.push(0);
                    counts.push([0; 2]);
                    group_keys.push(key);
                }
                own[group as usize] += self.weights[place as usize];
                counts[group as usize][0] += 1;
                group_of[place as usize] = group;
            }
            given.resize(own.len(), 0);
            for &(key, place) in others.part(part) {
                let Some(group) = table.find(key) else { continue };
                let given = &mut given[group as usize];
                if *given < self.choice {
                    *given += self.gifts[place as usize];
                    counts[group as usize][1] += 1;
                    hits.push((group, place));
                }
            }
        }
        Ok(())
    }

    /// The groups that are large enough.
    fn gather(&self, scratch: &mut Scratch) -> Meeting {
        let Scratch { group_of, group_keys, own, counts, given, hits, numbers, .. } = scratch;
        let mut meeting = Meeting::default();
        numbers.clear();
        let mut ends = [0; 2];
        for group in 0..own.len() {
            let large = own[group].saturating_add(given[group]) >= self.k;
            numbers.push(if large { meeting.keys.len() as u32 } else { u32::MAX });
            if large {
                meeting.keys.push(group_keys[group]);
                meeting.members.ends.push(ends[0]);
                meeting.guests.ends.push(ends[1]);
                ends = [ends[0] + counts[group][0], ends[1] + counts[group][1]];
            }
        }
        let number = |group: u32| numbers[group as usize];
        meeting
            .members
            .fill(ends[0], group_of.iter().zip(0..).map(|(&g, place)| (number(g), place)));
        meeting.guests.fill(ends[1], hits.iter().map(|&(g, place)| (number(g), place)));
        // Every pair of rows that meet counts until there are k rows.
        meeting.score = own
            .iter()
            .map(|&rows| rows.saturating_mul(rows.min(self.k)))
            .fold(0, u64::saturating_add);
        meeting
    }
}
