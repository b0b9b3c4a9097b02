//! The model: a code table with the names and values of its items.
//!
//! `json` writes it as JSON and reads it back. `data` has the values of a bag as texts, and `covering` prepares the
//! model for the rows of that bag: `encode` computes how many bits they take together, `row_bits` how many each
//! takes, and `classify` which of several models describes each in the fewest.

mod classify;
mod covering;
mod data;
mod encode;
pub(crate) mod json;
mod row_bits;

pub use classify::{Classified, classify, comparable};
pub use data::Data;
pub use encode::{Dissimilarity, Encoded, dissimilarity, encode};
pub use row_bits::{RowCode, row_bits, shortest_first};

use crate::cover::item_rows::{standard_bits, standard_code};
use crate::cover::size::{Sizes, encoded};
use crate::model::covering::element_usages;
use crate::{CodeTable, Error, Options, Progress, fit};
use serde::{Deserialize, Serialize};
use table::{Bag, Item, Watch};

/// A self-contained code table: it suffices to generate rows and to encode other data, without the data it was fitted
/// to. [`Model::to_json`] describes how it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    pub(crate) rows: u64,
    pub(crate) options: Options,
    pub(crate) columns: Vec<ModelColumn>,
    pub(crate) patterns: Vec<Pattern>,
}

/// A column: its values as singletons of the code table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelColumn {
    pub name: String,
    /// Texts in ascending order; a `None` at the end is NULL as an item.
    pub values: Vec<Option<String>>,
    /// By value.
    pub supports: Vec<u64>,
    /// By value.
    pub usages: Vec<u64>,
    /// Cells that are NULL where NULL is no item.
    pub nulls: u64,
}

/// An itemset of two or more items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pattern {
    /// In item order; the code of an item is a position in the column's values.
    #[serde(with = "json::pairs")]
    pub items: Vec<Item>,
    pub support: u64,
    pub usage: u64,
}

impl Model {
    /// The model of a code table that was fitted to `bag` with `options`. `text` decodes a value; it must keep the
    /// order of the values of a column.
    pub fn new(
        table: &CodeTable,
        bag: &Bag,
        options: &Options,
        text: impl Fn(&[u8]) -> Option<String>,
    ) -> Result<Self, Error> {
        let mut columns = Vec::with_capacity(bag.width());
        for (domain, (null_code, &nulls)) in
            bag.domains().iter().zip(table.null_codes.iter().zip(&table.nulls))
        {
            let mut values: Vec<Option<String>> = domain.values().map(&text).collect();
            if values.iter().any(Option::is_none) || !values.is_sorted_by(|a, b| a < b) {
                return Err(Error::Encoding { column: domain.name().to_string() });
            }
            values.extend(null_code.map(|_| None));
            columns.push(ModelColumn {
                name: domain.name().to_string(),
                supports: vec![0; values.len()],
                usages: vec![0; values.len()],
                values,
                nulls,
            });
        }
        let mut patterns = Vec::new();
        for element in &table.elements {
            if let [item] = element.items.as_slice() {
                let column = &mut columns[item.column as usize];
                column.supports[item.code as usize] = element.support;
                column.usages[item.code as usize] = element.usage;
            } else {
                patterns.push(Pattern {
                    items: element.items.clone(),
                    support: element.support,
                    usage: element.usage,
                });
            }
        }
        Ok(Model {
            rows: table.rows,
            options: Options { time: None, ..options.clone() },
            columns,
            patterns,
        })
    }

    /// Rows of the data it was fitted to.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The parameters of the fit.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The columns, in the order that items refer to.
    pub fn columns(&self) -> &[ModelColumn] {
        &self.columns
    }

    /// The itemsets of two or more items, in cover order.
    pub fn patterns(&self) -> &[Pattern] {
        &self.patterns
    }

    /// The position of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The sizes of the data it was fitted to.
    pub fn sizes(&self) -> Sizes {
        let supports = self.columns.iter().flat_map(|column| &column.supports).copied();
        let supports: Vec<u64> = supports.collect();
        let usages = element_usages(self, 0).into_iter();
        let (data_bits, model_bits) = encoded(usages.zip(self.standard(&supports)));
        Sizes::new(data_bits, model_bits, standard_bits(&supports))
    }

    /// The number of each column's first item, if items are numbered column by column.
    pub(crate) fn starts(&self) -> Vec<u32> {
        let mut next = 0;
        let mut starts = Vec::with_capacity(self.columns.len());
        for column in &self.columns {
            starts.push(next);
            next += column.values.len() as u32;
        }
        starts
    }

    /// The lengths of the elements in the standard code of items with these supports: first of single items, then of
    /// patterns.
    fn standard(&self, supports: &[u64]) -> Vec<f64> {
        let mut standard = standard_code(supports);
        let starts = self.starts();
        let patterns = self.patterns.iter().map(|pattern| {
            let numbers = pattern.items.iter().map(|i| starts[i.column as usize] + i.code);
            numbers.map(|number| standard[number as usize]).sum::<f64>()
        });
        let patterns: Vec<f64> = patterns.collect();
        standard.extend(patterns);
        standard
    }
}

impl ModelColumn {
    /// The code of a value, `None` for NULL as an item.
    pub fn code(&self, value: Option<&str>) -> Option<u32> {
        match value {
            Some(text) => {
                // NULL, if it is there, is the last.
                let texts = self.texts();
                let found = self.values[..texts]
                    .binary_search_by(|known| known.as_deref().unwrap_or_default().cmp(text));
                found.ok().map(|code| code as u32)
            }
            None => self.null_code(),
        }
    }

    /// The code of NULL where it is an item.
    pub fn null_code(&self) -> Option<u32> {
        (self.texts() < self.values.len()).then(|| self.texts() as u32)
    }

    /// Values that are not NULL.
    pub(crate) fn texts(&self) -> usize {
        self.values.len() - usize::from(self.values.last().is_some_and(Option::is_none))
    }
}

/// The model of a code table fitted to a bag whose values are UTF-8.
pub fn fit_model(
    bag: &Bag,
    options: &Options,
    watch: &Watch,
    progress: &Progress,
) -> Result<Model, Error> {
    let text = |value: &[u8]| std::str::from_utf8(value).ok().map(String::from);
    Model::new(&fit(bag, options, watch, progress)?, bag, options, text)
}
