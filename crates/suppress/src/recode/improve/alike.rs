//! What the rows of a region have in common.

use crate::k_anonymize::prepare::mix;
use crate::recode::prepare::People;
use hashbrown::HashSet;
use table::Keyed;
use table::bits::BitSet;

/// Rows that are shown alike, and what one of them loses then that has no NULL.
#[derive(Clone, Copy)]
pub(crate) struct Group<const N: usize> {
    pub set: BitSet<N>,
    pub loss: u64,
}

/// The rows of a region by what each column shows of them at each level. The rows of a set are compared all
/// at once, so that what a class loses is known in a few steps whatever its size.
pub(crate) struct Alike<const N: usize> {
    pub rows: usize,
    /// Rows of which a column shows the same at some level.
    groups: Vec<Group<N>>,
    /// For each row the groups that it is in, column by column, lowest level first.
    paths: Vec<u32>,
    /// The columns in which not all rows are alike, where the groups of each begin in a path, and how many
    /// there are: up to the level at which all are alike.
    columns: Vec<(usize, usize, usize)>,
    /// The length of a path.
    length: usize,
}

impl<const N: usize> Alike<N> {
    pub fn new(people: &People, rows: &[u32]) -> Self {
        let mut top = vec![0; people.width()];
        rows.iter().for_each(|&row| people.raise(&mut top, rows[0], row));
        let mut columns = Vec::new();
        let mut length = 0;
        for (column, &top) in top.iter().enumerate().filter(|(_, top)| **top > 0) {
            columns.push((column, length, usize::from(top) + 1));
            length += usize::from(top) + 1;
        }
        let mut alike = Alike {
            rows: rows.len(),
            groups: Vec::new(),
            paths: vec![0; rows.len() * length],
            columns,
            length,
        };
        let mut keys: Vec<(u64, usize)> = Vec::with_capacity(rows.len());
        for number in 0..alike.columns.len() {
            let (column, begin, levels) = alike.columns[number];
            let (cells, column) = (&people.cells[column], &people.columns[column]);
            for level in 0..levels {
                let cell = |place: usize| cells[rows[place] as usize] as usize;
                keys.clear();
                keys.extend((0..rows.len()).map(|place| (column.keys(level)[cell(place)], place)));
                keys.sort_unstable();
                for same in keys.chunk_by(|a, b| a.0 == b.0) {
                    for &(_, place) in same {
                        alike.paths[place * length + begin + level] = alike.groups.len() as u32;
                    }
                    let losses = same.iter().map(|entry| column.losses(level)[cell(entry.1)]);
                    alike.groups.push(Group {
                        set: same.iter().map(|entry| entry.1).collect(),
                        loss: losses.max().unwrap_or(0).into(),
                    });
                }
            }
        }
        alike
    }

    fn path(&self, place: usize) -> impl Iterator<Item = (usize, &[u32])> {
        let path = &self.paths[place * self.length..][..self.length];
        self.columns.iter().map(|&(column, begin, levels)| (column, &path[begin..][..levels]))
    }

    /// What a row loses in a class of the given ones.
    #[inline]
    pub fn loss(&self, set: &BitSet<N>) -> u64 {
        let Some(first) = set.iter().next() else { return 0 };
        let lowest = |path: &[u32]| {
            let mut groups = path.iter().map(|&group| &self.groups[group as usize]);
            groups.find(|group| group.set.contains(set)).map_or(0, |group| group.loss)
        };
        self.path(first).map(|(_, path)| lowest(path)).sum()
    }

    /// The groups of at least `k` rows that some form makes alike, those that lose least first.
    pub fn groups(&self, forms: &[Box<[u8]>], k: u64) -> Vec<Group<N>> {
        let mut tried: HashSet<u64, Keyed> = HashSet::default();
        let mut sets: HashSet<BitSet<N>, Keyed> = HashSet::default();
        let mut found = Vec::new();
        for form in forms {
            // Above the levels at which all are alike forms do not differ.
            let level = |column: usize, levels: usize| usize::from(form[column]).min(levels - 1);
            let levels = self.columns.iter().map(|&(column, _, levels)| level(column, levels));
            if !tried.insert(levels.fold(0, |packed, level| mix(packed ^ level as u64))) {
                continue;
            }
            let mut left: BitSet<N> = (0..self.rows).collect();
            while left.len() as u64 >= k
                && let Some(first) = left.iter().next()
            {
                let group = |(column, path): (usize, &[u32])| path[level(column, path.len())];
                let same = self.path(first).map(group);
                let set = same.fold(left, |set, g| set & self.groups[g as usize].set);
                left = left.minus(&set);
                if set.len() as u64 >= k && sets.insert(set) {
                    found.push(Group { set, loss: self.loss(&set) });
                }
            }
        }
        found.sort_unstable_by_key(|group| (group.loss, *group.set.words()));
        found
    }
}
