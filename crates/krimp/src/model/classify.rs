//! Classifying rows by the model that describes them in the fewest bits (van Leeuwen, Vreeken and
//! Siebes, Compression picks item sets that matter).

use crate::Error;
use crate::cover::columns::with_width;
use crate::cover::size::TOLERANCE;
use crate::model::covering::{Covering, element_usages};
use crate::model::row_bits::in_order;
use crate::model::{Data, Model};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use table::{NONE, Watch};

/// The class of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Classified {
    /// The position of its model.
    pub class: u32,
    /// The length of the row's code with the model of that class.
    pub bits: f64,
}

/// The class of each distinct row of a bag: the one whose model gives it the shortest code.
///
/// So that every model can encode every row, each is completed with the singletons of all models and of the row, and
/// every element gets one more usage: an element of usage u has the code length lg((U + E) / (u + 1)), where U is the
/// sum of the model's usages and E the number of its elements, completed. A row is classified by itself, whatever
/// other rows the bag has. Among equally short codes (up to 1e-9 bits) the model of more rows wins, then the one
/// whose name comes first.
///
/// The bag must have the models' columns, in any order. Costs a cover of the bag for each model.
pub fn classify<'a>(
    models: &[(String, Model)],
    data: impl Into<Data<'a>>,
    watch: &Watch,
) -> Result<Vec<Classified>, Error> {
    comparable(models)?;
    let data = data.into();
    let bag = data.bag();
    let universe = Universe::new(models);
    let unknown = universe.unknown(data, models);
    let mut order: Vec<usize> = (0..models.len()).collect();
    order.sort_by_key(|&class| (Reverse(models[class].1.rows), &models[class].0));
    let _held = watch.hold((bag.distinct() * size_of::<Classified>()) as u64)?;
    let nobody = Classified { class: NONE, bits: f64::INFINITY };
    let mut found = vec![nobody; bag.distinct()];
    for class in order {
        let model = &models[class].1;
        with_width!(model.columns.len(), W => {
            let covering = Covering::<W>::new(model, data)?;
            let usages = element_usages(model, covering.translation.unseen.len());
            let elements = universe.items + model.patterns.len() as u64;
            let total = usages.iter().sum::<u64>() + elements;
            Ok::<_, Error>(covering.each_row(&mut found, watch, |row, best, taken| {
                let total = (total + unknown.cells(bag.row(row))) as f64;
                let lengths = taken.iter().map(|&e| (total / (usages[e] + 1) as f64).log2());
                let bits = in_order(lengths);
                if best.class == NONE || bits < best.bits - TOLERANCE {
                    *best = Classified { class: class as u32, bits };
                }
            })?)
        })?;
    }
    Ok(found)
}

/// Refuses models whose codes cannot be compared: they must have the same columns, and NULL must be an item in all of
/// them or in none.
pub fn comparable(models: &[(String, Model)]) -> Result<(), Error> {
    let Some((first_name, first)) = models.first() else {
        return Err(Error::Classes("there is none".into()));
    };
    for (name, model) in models {
        for (of, other, in_name) in [(first, model, name), (model, first, first_name)] {
            let missing = of.columns.iter().find(|column| other.column(&column.name).is_none());
            if let Some(column) = missing {
                return Err(Error::Classes(format!(
                    "the one of \"{in_name}\" has no column \"{}\"",
                    column.name
                )));
            }
        }
        if model.options.nulls != first.options.nulls {
            return Err(Error::Classes(format!(
                "NULL is a value in the one of \"{first_name}\" or of \"{name}\", but not in both"
            )));
        }
    }
    Ok(())
}

/// The items of all models: by column name the values, `None` for NULL as an item.
struct Universe<'a> {
    values: BTreeMap<&'a str, BTreeSet<Option<&'a str>>>,
    items: u64,
}

impl<'a> Universe<'a> {
    fn new(models: &'a [(String, Model)]) -> Self {
        let mut values = BTreeMap::<&str, BTreeSet<Option<&str>>>::new();
        for column in models.iter().flat_map(|(_, model)| &model.columns) {
            let known = values.entry(column.name.as_str()).or_default();
            known.extend(column.values.iter().map(Option::as_deref));
        }
        let items = values.values().map(|values| values.len() as u64).sum();
        Universe { values, items }
    }

    /// The values of a bag that are in no model.
    fn unknown(&self, data: Data<'_>, models: &[(String, Model)]) -> Unknown {
        let null_is_item =
            models.first().is_some_and(|(_, model)| model.options.nulls == crate::Nulls::Value);
        let mut unknown = Unknown { values: Vec::new(), nulls: Vec::new() };
        for (column, domain) in data.bag().domains().iter().enumerate() {
            let known = self.values.get(domain.name());
            let has = |value: Option<&str>| known.is_some_and(|known| known.contains(&value));
            let of = |code| !data.text(column, code).is_some_and(|text| has(Some(text)));
            unknown.values.push((0..domain.len()).map(of).collect());
            unknown.nulls.push(null_is_item && !has(None));
        }
        unknown
    }
}

/// By column of a bag: which of its values, and whether NULL as an item, are in no model.
struct Unknown {
    values: Vec<Vec<bool>>,
    nulls: Vec<bool>,
}

impl Unknown {
    /// The number of cells of a row that are in no model.
    fn cells(&self, row: &[u32]) -> u64 {
        let cells = row.iter().enumerate().filter(|&(column, &code)| match code {
            NONE => self.nulls[column],
            code => self.values[column][code as usize],
        });
        cells.count() as u64
    }
}
