//! The groups of rows that classes are chosen from.

use super::partition::Partition;
use crate::k_anonymize::group::{KeyTable, Lists};
use crate::k_anonymize::prepare::People;
use crate::k_anonymize::prepare::mix;
use crate::k_anonymize::search::Form;
use hashbrown::{HashMap, HashSet};
use table::{Keyed, NONE, Stop, Watch};

/// Limit of rows times forms: a fifth of a second of work, and as much memory as [`CandidateGroups::bytes`] says.
const MOST: usize = 9 << 21;

/// The widest table whose rows' losses are numbers of 31 bits.
const WIDEST: usize = 127;

/// All groups of at least k rows that some forms make. `prices` and `chain` choose classes from them.
#[derive(Default)]
pub(crate) struct CandidateGroups {
    /// The row of each copy: groups consist of copies.
    pub rows: Vec<u32>,
    /// What a copy loses in each group.
    pub losses: Vec<i64>,
    /// The copies of each group.
    pub copies: Lists,
    /// Where the copies of each row begin.
    pub begins: Vec<u32>,
    /// The forms that make them.
    forms: HashSet<Form, Keyed>,
    /// The forms in which classes were shown.
    merged: Vec<Merged>,
    /// Groups by a key of their rows, because different forms may make the same group.
    known: HashMap<u64, u32, Keyed>,
}

/// The partition that a form makes of all rows: parts of equal rows, large and small.
struct Merged {
    form: Form,
    /// The part of each row.
    parts: Vec<u32>,
    /// A row of each part.
    firsts: Vec<u32>,
    /// Parts that are large enough and their groups, ascending.
    groups: Vec<(u32, u32)>,
}

impl CandidateGroups {
    /// The groups of the forms that classes are shown in, and of up to `most` near these: see
    /// [`CandidateGroups::extend`]. `None` if there are too many of the former.
    pub fn new(
        partition: &Partition<'_>,
        most: usize,
        watch: &Watch,
    ) -> Result<Option<Self>, Stop> {
        let people = partition.people;
        let copies = usize::try_from(people.total()).unwrap_or(usize::MAX);
        if copies > MOST || people.width() > WIDEST {
            return Ok(None);
        }
        let mut begins = vec![0];
        begins.extend(people.weights.iter().scan(0, |sum, &weight| {
            *sum += weight as u32;
            Some(*sum)
        }));
        let rows = people.weights.iter().zip(0u32..);
        let rows = rows.flat_map(|(&weight, row)| (0..weight).map(move |_| row)).collect();
        let mut groups = CandidateGroups { rows, begins, ..CandidateGroups::default() };
        Ok(groups.extend(partition, most, watch)?.then_some(groups))
    }

    /// Adds the groups of the forms that classes are shown in now, then of up to `most` forms near these, as long as
    /// there is room; false if there is not enough room even for the former.
    ///
    /// A form is near another if they differ by one level in one column; forms that are near many come first. At k = 25
    /// Adult loses .0003 less with such groups for chains, and .0002 less with some for prices too.
    pub fn extend(
        &mut self,
        partition: &Partition<'_>,
        most: usize,
        watch: &Watch,
    ) -> Result<bool, Stop> {
        let (people, k) = (partition.people, partition.rule.k);
        let used = used(partition);
        let room = MOST / self.rows.len().max(1);
        let new = used.iter().filter(|&form| !self.forms.contains(form)).count();
        if self.forms.len() + new > room {
            return Ok(false);
        }
        for form in &used {
            if self.merged.iter().all(|merged| merged.form != *form) {
                let merged = self.add(people, k, form, watch)?;
                self.merged.push(merged);
            }
        }
        let mut near: HashMap<Form, u32, Keyed> = HashMap::default();
        for form in &used {
            for column in 0..people.width() {
                let level = form[column];
                let levels = [level.checked_sub(1), Some(level + 1)].into_iter().flatten();
                for level in levels.filter(|&l| usize::from(l) < people.columns[column].levels()) {
                    let mut other = form.clone();
                    other[column] = level;
                    *near.entry(other).or_default() += 1;
                }
            }
        }
        let mut near: Vec<(Form, u32)> = near.into_iter().collect();
        near.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        for (form, _) in near.into_iter().take(most) {
            if self.forms.len() < room && !self.forms.contains(&form) {
                self.add(people, k, &form, watch)?;
            }
        }
        Ok(true)
    }

    /// Adds the groups of a form.
    fn add(&mut self, people: &People, k: u64, form: &Form, watch: &Watch) -> Result<Merged, Stop> {
        watch.check()?;
        let _held = watch.hold(Self::growth(self.rows.len(), self.copies.items.len()))?;
        let mut merged = self.merge(people, form.clone());
        // The copies of each part, and a key of its rows.
        let mut sizes = vec![(0, 0u64); merged.firsts.len()];
        for ((row, &part), weight) in (0u64..).zip(&merged.parts).zip(&people.weights) {
            let (size, key) = &mut sizes[part as usize];
            *size += weight;
            *key = key.wrapping_add(mix(row));
        }
        // Where the copies of a part that is a new group go next.
        let mut next = vec![NONE; merged.firsts.len()];
        let mut end = self.copies.items.len();
        for (part, (&row, &(size, key))) in merged.firsts.iter().zip(&sizes).enumerate() {
            if size < k {
                continue;
            }
            let loss = people.loss(row, form) as i64;
            let number = self.losses.len() as u32;
            let known = *self.known.entry(key).or_insert(number);
            merged.groups.push((part as u32, known));
            if known < number {
                let known = &mut self.losses[known as usize];
                *known = loss.min(*known);
                continue;
            }
            next[part] = end as u32;
            end += size as usize;
            self.losses.push(loss);
            self.copies.ends.push(end as u32);
        }
        self.copies.items.resize(end, 0);
        for (row, &part) in merged.parts.iter().enumerate() {
            let next = &mut next[part as usize];
            if *next == NONE {
                continue;
            }
            for copy in self.begins[row]..self.begins[row + 1] {
                self.copies.items[*next as usize] = copy;
                *next += 1;
            }
        }
        self.forms.insert(form.clone());
        Ok(merged)
    }

    /// The group of a row in a form, if it is large enough and the form is known.
    pub fn of(&self, row: u32, form: &[u8]) -> Option<u32> {
        let same = |known: &&Merged| known.form.iter().zip(form).all(|(&a, &b)| a == b.into());
        let merged = self.merged.iter().find(same)?;
        let part = merged.parts[row as usize];
        let place = merged.groups.binary_search_by_key(&part, |group| group.0).ok()?;
        Some(merged.groups[place].1)
    }

    /// The partition of all rows by a form. It is made by merging parts of a known form that is nowhere coarser, the
    /// one with the fewest parts. Grouping all rows for each form took more than twice as long.
    fn merge(&self, people: &People, form: Form) -> Merged {
        let finer = |known: &&Merged| known.form.iter().zip(&form).all(|(a, b)| a <= b);
        let base = self.merged.iter().filter(finer).min_by_key(|known| known.firsts.len());
        let rows = || (0..people.len() as u32).collect();
        let from: Vec<u32> = base.map_or_else(rows, |base| base.firsts.clone());
        let mut keys = Vec::new();
        people.select(from.iter().copied()).keys(&form, 0, from.len(), &mut keys);
        let mut numbers = KeyTable::default();
        numbers.reset(from.len());
        let mut firsts = Vec::new();
        let mut parts = Vec::with_capacity(from.len());
        for (&key, &row) in keys.iter().zip(&from) {
            let number = numbers.insert(key, firsts.len() as u32);
            if number as usize == firsts.len() {
                firsts.push(row);
            }
            parts.push(number);
        }
        if let Some(base) = base {
            parts = base.parts.iter().map(|&part| parts[part as usize]).collect();
        }
        Merged { form, parts, firsts, groups: Vec::new() }
    }

    /// The groups of each row with at most `most` copies, those that lose least first.
    pub fn of_rows(&self, most: usize, watch: &Watch) -> Result<Lists, Stop> {
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        order.retain(|&group| self.copies.range(group as usize).len() <= most);
        order.sort_unstable_by_key(|&group| (self.losses[group as usize], group));
        // The row of its first copy.
        let mut first = vec![NONE; self.rows.len()];
        let begins = self.begins.iter().zip(0..self.begins.len() as u32 - 1);
        begins.for_each(|(&copy, row)| first[copy as usize] = row);
        let rows = |group: u32| {
            let copies = self.copies.list(group as usize).iter();
            copies.map(|&copy| first[copy as usize] as usize).filter(|&row| row != NONE as usize)
        };
        // As `Lists::gather`, but with polls of the watch, because there are many.
        let mut ends = vec![0; self.begins.len()];
        for (place, &group) in order.iter().enumerate() {
            watch.poll_every(1 << 8, place)?;
            rows(group).for_each(|row| ends[row + 1] += 1);
        }
        for row in 1..ends.len() {
            ends[row] += ends[row - 1];
        }
        let mut items = vec![0; ends[ends.len() - 1] as usize];
        for (place, &group) in order.iter().enumerate() {
            watch.poll_every(1 << 8, place)?;
            rows(group).for_each(|row| {
                items[ends[row] as usize] = group;
                ends[row] += 1;
            });
        }
        ends.pop();
        Ok(Lists { items, ends })
    }

    /// Groups with given losses and copies, of rows that have one copy each.
    #[cfg(test)]
    pub fn given(copies: u32, groups: &[(i64, Vec<u32>)]) -> Self {
        let mut lists = Lists::default();
        for (_, own) in groups {
            lists.items.extend(own);
            lists.ends.push(lists.items.len() as u32);
        }
        CandidateGroups {
            rows: (0..copies).collect(),
            losses: groups.iter().map(|group| group.0).collect(),
            copies: lists,
            begins: (0..=copies).collect(),
            ..CandidateGroups::default()
        }
    }

    /// The bytes that one more form takes, while vectors grow.
    fn growth(copies: usize, items: usize) -> u64 {
        copies as u64 * 64 + items as u64 * 12
    }

    /// The bytes of all groups.
    pub fn bytes(&self) -> u64 {
        let items = self.copies.items.capacity() as u64 * 4;
        let parts: usize = self
            .merged
            .iter()
            .map(|m| (m.parts.len() + m.firsts.len() + m.groups.len() * 2) * 4)
            .sum();
        items + parts as u64 + self.rows.len() as u64 * 8 + self.len() as u64 * 48
    }

    pub fn len(&self) -> usize {
        self.losses.len()
    }
}

/// The forms that classes are shown in.
fn used(partition: &Partition<'_>) -> Vec<Form> {
    let classes = 0..partition.classes.len() as u32;
    let classes = classes.filter(|&class| partition.classes[class as usize].size > 0);
    let form = |class: u32| partition.levels(class).iter().map(|&level| level.into()).collect();
    let forms: HashSet<Form, Keyed> = classes.map(form).collect();
    let mut forms: Vec<Form> = forms.into_iter().collect();
    forms.sort_unstable();
    forms
}
