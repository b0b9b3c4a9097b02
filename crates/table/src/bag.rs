//! The bag: distinct coded rows with weights, and the domains that explain the codes.

use crate::arena::Texts;
use crate::rows::RowSet;
use crate::{CodeRows, NONE, Reservation, Stop, Watch, sort_watched};
use std::sync::Arc;

/// The values of a column, numbered in C collation order of their text.
#[derive(Debug, Clone)]
pub struct Domain {
    name: String,
    texts: Texts,
}

impl Domain {
    /// A domain of the given values, which must be strictly ascending bytes.
    pub(crate) fn from_sorted(name: String, texts: Texts) -> Self {
        Domain { name, texts }
    }

    /// Turns values in arrival order into a domain; also returns the new code of each old one.
    pub(crate) fn from_texts(
        name: String,
        texts: Texts,
        watch: &Watch,
    ) -> Result<(Self, Vec<u32>), Stop> {
        // Their order and the sorted half of it; later the order, the codes and the new positions.
        let _sorting = watch.hold(texts.len() as u64 * 20)?;
        let mut order: Vec<u32> = (0..texts.len() as u32).collect();
        sort_watched(&mut order, watch, |a, b| texts.get(a).cmp(texts.get(b)))?;
        let mut codes = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            codes[old as usize] = new as u32;
        }
        Ok((Domain { name, texts: texts.reordered(&order) }, codes))
    }

    /// The column's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The text of a code, in the encoding it was read in.
    pub fn value(&self, code: u32) -> &[u8] {
        self.texts.get(code)
    }

    /// All values in code order.
    pub fn values(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len() as u32).map(|code| self.value(code))
    }

    /// The code of a value, by binary search.
    pub fn find(&self, value: &[u8]) -> Option<u32> {
        self.texts.search(value)
    }

    fn memory(&self) -> usize {
        self.texts.memory()
    }
}

/// Distinct coded rows with weights. [`NONE`] marks a NULL cell. A domain may hold values that
/// no row uses (after [`Bag::filter`], say). Bags made from each other share their domains.
#[derive(Debug, Clone)]
pub struct Bag {
    pub(crate) domains: Vec<Arc<Domain>>,
    pub(crate) rows: CodeRows,
    pub(crate) weights: Vec<u64>,
    pub(crate) total: u64,
}

impl Bag {
    pub(crate) fn new(domains: Vec<Arc<Domain>>, rows: CodeRows, weights: Vec<u64>) -> Self {
        let total = weights.iter().sum();
        Bag { domains, rows, weights, total }
    }

    /// A bag from rows of text, `None` for NULL; column names are `c1`, `c2`, … For tests and tools.
    pub fn from_text<R, C>(width: usize, rows: impl IntoIterator<Item = R>) -> Self
    where
        R: IntoIterator<Item = Option<C>>,
        C: AsRef<[u8]>,
    {
        let mut coder =
            crate::Coder::new((1..=width).map(|c| (format!("c{c}"), crate::Encoding::Text)));
        for row in rows {
            for (column, cell) in row.into_iter().take(width).enumerate() {
                match cell {
                    Some(value) => coder.text(column, value.as_ref()),
                    None => coder.null(column),
                }
            }
            coder.end_row();
        }
        coder.finish(&Watch::unlimited()).expect("an unlimited watch stops nothing").bag
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.domains.len()
    }

    /// Number of distinct rows.
    pub fn distinct(&self) -> usize {
        self.rows.len()
    }

    /// Number of rows, repetitions counted.
    pub fn row_count(&self) -> u64 {
        self.total
    }

    /// The codes of distinct row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> &[u32] {
        self.rows.get(i)
    }

    /// How often distinct row `i` occurs.
    #[inline]
    pub fn weight(&self, i: usize) -> u64 {
        self.weights[i]
    }

    /// All weights, by distinct row.
    pub fn weights(&self) -> &[u64] {
        &self.weights
    }

    /// The domain of a column.
    pub fn domain(&self, column: usize) -> &Domain {
        &self.domains[column]
    }

    /// All domains, by column.
    pub fn domains(&self) -> &[Arc<Domain>] {
        &self.domains
    }

    /// The support of each value of each column: `supports[column][code]`.
    pub fn supports(&self) -> Vec<Vec<u64>> {
        let mut supports: Vec<Vec<u64>> = self.domains.iter().map(|d| vec![0; d.len()]).collect();
        for (row, &weight) in self.rows.iter().zip(&self.weights) {
            for (column, &code) in row.iter().enumerate() {
                if code != NONE {
                    supports[column][code as usize] += weight;
                }
            }
        }
        supports
    }

    /// The bag of the given columns, in the given order. Equal rows are merged.
    pub fn project(&self, columns: &[usize], watch: &Watch) -> Result<Bag, Stop> {
        self.map(columns, |_, code| code, |_| (), watch)
    }

    /// The bag of the given columns with `cell(column, code)` for each cell, where the columns are renumbered. Equal
    /// rows are merged; `became` is called for each distinct row, in order, with the row that it became.
    pub(crate) fn map(
        &self,
        columns: &[usize],
        cell: impl Fn(usize, u32) -> u32,
        mut became: impl FnMut(usize),
        watch: &Watch,
    ) -> Result<Bag, Stop> {
        let mut held = Reservation::new(watch);
        let mut set = RowSet::new(columns.len());
        let mut cells = vec![NONE; columns.len()];
        for (i, (row, &weight)) in self.rows.iter().zip(&self.weights).enumerate() {
            watch.poll_with(i, || held.raise(set.memory() as u64))?;
            for (column, (to, &from)) in cells.iter_mut().zip(columns).enumerate() {
                *to = cell(column, row[from]);
            }
            became(set.add(&cells, weight));
        }
        let (rows, weights) = set.finish();
        let domains = columns.iter().map(|&c| self.domains[c].clone()).collect();
        Ok(Bag::new(domains, rows, weights))
    }

    /// The bag of the rows that `keep` accepts.
    pub fn filter(&self, mut keep: impl FnMut(&[u32]) -> bool) -> Bag {
        let mut rows = CodeRows::new(self.width());
        let mut weights = Vec::new();
        for (row, &weight) in self.rows.iter().zip(&self.weights) {
            if keep(row) {
                rows.push(row);
                weights.push(weight);
            }
        }
        Bag::new(self.domains.clone(), rows, weights)
    }

    /// The bag with other weights, one per distinct row; rows of weight 0 are left out.
    pub fn with_weights(&self, weights: &[u64]) -> Bag {
        let mut rows = CodeRows::new(self.width());
        let kept = |&(_, &weight): &(&[u32], &u64)| weight > 0;
        let weights = self.rows.iter().zip(weights).filter(kept).map(|(row, &weight)| {
            rows.push(row);
            weight
        });
        let weights = weights.collect();
        Bag::new(self.domains.clone(), rows, weights)
    }

    /// Puts the rows into ascending order of their codes (NULL last), so that equal bags are
    /// equal byte for byte.
    pub fn sort(&mut self, watch: &Watch) -> Result<(), Stop> {
        // The order, a copy while it is sorted, and the sorted rows beside the unsorted ones.
        let _held = watch.hold(self.distinct() as u64 * 8 + self.own_memory())?;
        let mut order: Vec<u32> = (0..self.rows.len() as u32).collect();
        sort_watched(&mut order, watch, |a, b| self.row(a as usize).cmp(self.row(b as usize)))?;
        let mut rows = CodeRows::new(self.width());
        order.iter().for_each(|&i| rows.push(self.row(i as usize)));
        self.weights = order.iter().map(|&i| self.weights[i as usize]).collect();
        self.rows = rows;
        Ok(())
    }

    /// The bytes held, those of domains that it shares included.
    pub fn memory(&self) -> u64 {
        let domains: usize = self.domains.iter().map(|domain| domain.memory()).sum();
        domains as u64 + self.own_memory()
    }

    /// The bytes held without the domains: the memory of a bag that shares them with another one.
    pub fn own_memory(&self) -> u64 {
        (self.rows.memory() + self.weights.capacity() * 8) as u64
    }
}
