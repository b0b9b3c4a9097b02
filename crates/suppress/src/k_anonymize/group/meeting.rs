//! Which rows become equal in a form.

use super::tables::{Filter, KeyTable, Parts};
use crate::k_anonymize::prepare::STRIDE;
use std::ops::Range;
use table::{Stop, Watch};

/// Lists, one after the other.
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
        let mut items = vec![0; ends[lists] as usize];
        for (list, item) in pairs().filter(|pair| pair.0 != u32::MAX) {
            let next = &mut ends[list as usize];
            items[*next as usize] = item;
            *next += 1;
        }
        ends.pop();
        Lists { items, ends }
    }

    pub fn range(&self, list: usize) -> Range<usize> {
        let begin = if list == 0 { 0 } else { self.ends[list - 1] };
        begin as usize..self.ends[list] as usize
    }

    pub fn list(&self, list: usize) -> &[u32] {
        &self.items[self.range(list)]
    }
}

/// Rows of which a form leaves something, known by its key. What a form is, they say.
pub(crate) trait Keys {
    fn len(&self) -> usize;

    /// The keys of what `form` leaves of rows `from..to`.
    fn keys(&self, form: &[u16], from: usize, to: usize, keys: &mut Vec<u64>);
}

/// Rows that look for a class, and rows that could join them.
pub(crate) struct Crowd<'a, K> {
    /// Keys and weights of the rows that look for a class.
    pub seekers: &'a K,
    pub weights: &'a [u64],
    /// Keys of the others, the most welcome ones first, and how many rows each can give.
    pub others: &'a K,
    pub gifts: &'a [u64],
    /// Groups that seekers and others make must have this many rows.
    pub k: u64,
    /// A group needs no more than this many rows of others to choose from.
    pub choice: u64,
}

/// The groups of at least k rows that one form makes.
#[derive(Default)]
pub(crate) struct Meeting {
    pub keys: Vec<u64>,
    /// The seekers of each group, as places among the seekers.
    pub members: Lists,
    /// The others that fit, as places among them.
    pub guests: Lists,
    /// How near the form brings the seekers to groups of k.
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
    given: Vec<u64>,
    hits: Vec<(u32, u32)>,
    numbers: Vec<u32>,
}

impl<K: Keys> Crowd<'_, K> {
    /// Groups the seekers by what `form` leaves of them, and finds the others (up to place
    /// `end`) that would be equal to them.
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

    /// Keys and places of the seekers, and of the others that may be like one of them.
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
        let Scratch { seekers, others, table, group_of, group_keys, own, given, hits, .. } =
            scratch;
        group_of.clear();
        group_of.resize(self.seekers.len(), 0);
        group_keys.clear();
        own.clear();
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
                    group_keys.push(key);
                }
                own[group as usize] += self.weights[place as usize];
                group_of[place as usize] = group;
            }
            given.resize(own.len(), 0);
            for &(key, place) in others.part(part) {
                let Some(group) = table.find(key) else { continue };
                let given = &mut given[group as usize];
                if *given < self.choice {
                    *given += self.gifts[place as usize];
                    hits.push((group, place));
                }
            }
        }
        Ok(())
    }

    /// The groups that are large enough.
    fn gather(&self, scratch: &mut Scratch) -> Meeting {
        let Scratch { group_of, group_keys, own, given, hits, numbers, .. } = scratch;
        let mut meeting = Meeting::default();
        numbers.clear();
        for group in 0..own.len() {
            let large = own[group].saturating_add(given[group]) >= self.k;
            numbers.push(if large { meeting.keys.len() as u32 } else { u32::MAX });
            if large {
                meeting.keys.push(group_keys[group]);
            }
        }
        let groups = meeting.keys.len();
        let number = |group: u32| numbers[group as usize];
        meeting.members = Lists::gather(groups, || {
            group_of.iter().zip(0..).map(|(&group, place)| (number(group), place))
        });
        meeting.guests =
            Lists::gather(groups, || hits.iter().map(|&(group, place)| (number(group), place)));
        // A pair of rows that meet is a step forward until there are k.
        meeting.score = own
            .iter()
            .map(|&rows| rows.saturating_mul(rows.min(self.k)))
            .fold(0, u64::saturating_add);
        meeting
    }
}
