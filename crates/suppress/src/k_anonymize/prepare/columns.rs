//! Keys of a column's cells at each level, and their losses as integers.

use super::mix;
use crate::Hierarchy;
use table::NONE;

/// The loss of a blank cell of the column with the greatest weight.
pub(crate) const UNIT: f64 = (1 << 24) as f64;

/// Columns with at most this number of values have a table of the levels at which pairs of values meet.
const PAIRS: usize = 256;

/// A column with its hierarchy. Cells are codes of the domain; [`Column::null`] stands for NULL, so that
/// every table here has an entry for it.
pub(crate) struct Column {
    values: usize,
    /// By level, the last one blank, and by cell: a key of the shown value, 0 if blank.
    keys: Vec<Vec<u64>>,
    /// The losses, by level and cell.
    losses: Vec<Vec<u32>>,
    /// The levels at which two cells meet, if there are few cells.
    pairs: Vec<u8>,
}

impl Column {
    /// The column with this number, and with a weight from 0 to 1.
    pub fn new(number: usize, hierarchy: &Hierarchy, weight: f64) -> Self {
        let values = hierarchy.values();
        let key = |code: u32, level: usize| {
            let shown = match level {
                0 => code,
                level if level > hierarchy.height() => return 0,
                level => match hierarchy.node(code, level) {
                    NONE => return 0,
                    node => values as u32 + node,
                },
            };
            mix(((number as u64 + 1) << 32) | u64::from(shown))
        };
        // A small weight still gives a loss of at least 1: otherwise cells would be blanked needlessly.
        let loss = |code: u32, level: usize| {
            let loss = hierarchy.loss(code, level);
            if loss > 0.0 { ((loss * weight * UNIT).round() as u32).max(1) } else { 0 }
        };
        let levels = 0..hierarchy.height() + 2;
        let codes = 0..values as u32;
        let mut column = Column {
            values,
            keys: levels
                .clone()
                .map(|level| codes.clone().map(|code| key(code, level)).chain([0]).collect())
                .collect(),
            losses: levels
                .map(|level| codes.clone().map(|code| loss(code, level)).chain([0]).collect())
                .collect(),
            pairs: Vec::new(),
        };
        if values <= PAIRS {
            let cells = 0..=values as u32;
            let pairs = cells.clone().flat_map(|a| cells.clone().map(move |b| (a, b)));
            column.pairs = pairs.map(|(a, b)| column.climb(a, b)).collect();
        }
        column
    }

    /// The cell that stands for NULL.
    pub fn null(&self) -> u32 {
        self.values as u32
    }

    /// The number of levels, the value itself and the blank cell included.
    pub fn levels(&self) -> usize {
        self.keys.len()
    }

    /// The keys of what cells are shown as at a level.
    #[inline]
    pub fn keys(&self, level: usize) -> &[u64] {
        &self.keys[level]
    }

    /// The losses of cells at a level.
    #[inline]
    pub fn losses(&self, level: usize) -> &[u32] {
        &self.losses[level]
    }

    /// The loss of a cell if it is blanked.
    #[inline]
    pub fn worth(&self, cell: u32) -> u64 {
        self.losses[self.losses.len() - 1][cell as usize].into()
    }

    /// The lowest level at which two cells are shown alike.
    #[inline]
    pub fn meet(&self, a: u32, b: u32) -> u8 {
        match self.pairs.get(a as usize * (self.values + 1) + b as usize) {
            Some(&level) if !self.pairs.is_empty() => level,
            _ => self.climb(a, b),
        }
    }

    fn climb(&self, a: u32, b: u32) -> u8 {
        let (a, b) = (a as usize, b as usize);
        let level = self.keys.iter().position(|keys| keys[a] == keys[b]);
        // At the last level both are blank.
        level.unwrap_or(self.keys.len() - 1) as u8
    }

    /// The bytes that a column with `values` values and a hierarchy of `height` takes.
    pub fn bytes(values: usize, height: usize) -> u64 {
        let values = values as u64 + 1;
        let pairs = if values <= PAIRS as u64 + 1 { values * values } else { 0 };
        values * (height as u64 + 2) * 12 + pairs
    }
}
