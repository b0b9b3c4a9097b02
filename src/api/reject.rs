//! Itemsets that no generated row may contain.

use crate::pg::argument::{Argument, Type};
use crate::pg::call::Call;
use crate::pg::error::Error;
use crate::pg::relation::Relation;
use krimp::{Model, Reject};
use serde_json::Value as Json;
use table::Item;

pub const REJECT: Argument<Vec<Vec<(String, String)>>> = Argument {
    name: "reject",
    of: Type::Json,
    default: Some("null"),
    about: "Itemsets that no row may contain; such rows are drawn again: [{\"sex\": \"m\", \"ward\": \"obstetrics\"}].",
    read: |given| {
        let refuse = |what: &Json| {
            Error::argument(
                format!("reject has {what}"),
                "reject is an array of itemsets: [{\"sex\": \"m\", \"ward\": \"obstetrics\"}]; values are texts as Postgres shows them.",
            )
        };
        let Some(itemsets) = given.json()? else { return Ok(Vec::new()) };
        let itemset = |itemset: &Json| {
            let items = itemset.as_object().filter(|items| !items.is_empty());
            let item = |(column, value): (&String, &Json)| {
                Some((column.clone(), value.as_str()?.to_string()))
            };
            let items = items.and_then(|items| items.iter().map(item).collect());
            items.ok_or_else(|| refuse(itemset))
        };
        let itemsets = itemsets.as_array().ok_or_else(|| refuse(&itemsets))?.iter();
        itemsets.map(itemset).collect()
    },
};

/// Itemsets that no row may contain, whose columns are among those that are generated.
pub struct Rejected(Vec<Vec<(String, String)>>);

impl Rejected {
    pub fn of_call(call: &Call, relation: &Relation, generated: &[&str]) -> Result<Self, Error> {
        let itemsets = call.get(&REJECT)?;
        for (column, _) in itemsets.iter().flatten() {
            relation.position(column)?;
            if !generated.contains(&column.as_str()) {
                return Err(Error::argument(
                    format!("reject names column \"{column}\", which is not generated"),
                    format!("The columns are: {}.", generated.join(", ")),
                ));
            }
        }
        Ok(Rejected(itemsets))
    }

    /// The itemsets in the codes of a model; `class` is the column that it does not have, and its
    /// value in all rows. An itemset with a value that does not occur is in no row.
    pub fn of(&self, model: &Model, class: Option<(&str, Option<String>)>) -> Reject {
        let item = |name: &str, text: &str| {
            let column = model.column(name)?;
            let code = model.columns()[column].code(Some(text))?;
            Some(Item { column: column as u32, code })
        };
        let itemset = |itemset: &Vec<(String, String)>| {
            let mut items = Vec::with_capacity(itemset.len());
            for (name, text) in itemset {
                match &class {
                    Some((column, value)) if column == name => {
                        value.as_ref().filter(|value| *value == text)?;
                    }
                    _ => items.push(item(name, text)?),
                }
            }
            Some(items)
        };
        Reject::new(model, self.0.iter().filter_map(itemset))
    }
}
