//! Itemsets that no generated row may contain.

use crate::api::prelude::*;
use krimp::{Model, Reject};

pub const REJECT: Argument<Vec<NamedItemset>> = Argument::optional("reject", Type::Json, |given| {
    Ok(itemsets(given)?.unwrap_or_default())
})
.about("Itemsets that no row may contain; such rows are drawn again: [{\"sex\": \"m\", \"ward\": \"obstetrics\"}].");

/// Itemsets that no row may contain, whose columns are among those that are generated.
pub struct Rejected(Vec<NamedItemset>);

impl Rejected {
    pub fn of_call(call: &Arguments<'_>, relation: &Relation, generated: &[&str]) -> Result<Self> {
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
        let itemset = |itemset: &NamedItemset| {
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
